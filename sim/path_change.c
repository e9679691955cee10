#include "sim/path_change.h"

#include "sim/units.h"
#include "sim/vec.h"

#define NAMES_SHOWN 4

static const char *time_text(ovl_arena *arena, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_time(buf, t));
}

/* --- Numbered names --- */

/* Length of what stands before the number, blank included: "bucket " of "bucket 12"; 0 if the name
 * is not numbered. */
static size_t kind_length(const char *name)
{
    size_t length = strlen(name), at = length;
    while (at && name[at - 1] >= '0' && name[at - 1] <= '9') {
        at--;
    }
    return at > 1 && at < length && name[at - 1] == ' ' ? at : 0;
}

/* A numbered communication of one of the runs. */
typedef struct piece {
    const char *name;
    size_t kind; /* length */
    uint64_t bytes;
    int run;
} piece;

typedef OVL_VEC(piece) pieces;

/* By kind, so that those of one kind lie together. */
static int compare_kinds(const piece *x, const piece *y)
{
    int order = memcmp(x->name, y->name, OVL_MIN(x->kind, y->kind));
    return order ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

static int compare_things(const piece *x, const piece *y)
{
    int order = compare_kinds(x, y);
    order = order ? order : strcmp(x->name, y->name);
    return order ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int compare_pieces(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    int order = compare_things(x, y);
    return order ? order : (x->run > y->run) - (x->run < y->run);
}

static void add_pieces(pieces *list, const ovl_result *result, int run)
{
    for (uint32_t i = 0; i < result->n_collectives; i++) {
        const ovl_result_collective *c = &result->collectives[i];
        size_t kind = kind_length(c->name);
        if (kind) {
            ovl_vec_push(list, (piece){c->name, kind, c->bytes, run});
        }
    }
}

/* Keeps one piece of each kind whose names do not mean the same in both runs. */
static void keep_own_kinds(pieces *list)
{
    uint32_t n = 0;
    if (list->len) {
        qsort(list->data, list->len, sizeof *list->data, compare_pieces);
    }
    for (uint32_t i = 0, end; i < list->len; i = end) {
        const piece *p = &list->data[i];
        for (end = i + 1; end < list->len && compare_things(p, &list->data[end]) == 0;) {
            end++;
        }
        bool in_both = p->run == 0 && list->data[end - 1].run == 1;
        if (!in_both && (n == 0 || compare_kinds(&list->data[n - 1], p) != 0)) {
            list->data[n++] = *p;
        }
    }
    list->len = n;
}

static bool is_own(const pieces *kinds, const char *name)
{
    const piece p = {.name = name, .kind = kind_length(name)};
    for (uint32_t i = 0; p.kind && i < kinds->len; i++) {
        if (compare_kinds(&kinds->data[i], &p) == 0) {
            return true;
        }
    }
    return false;
}

/* --- Time on the paths, by name --- */

typedef struct stay {
    const char *name;
    ovl_time time[2]; /* in a, in b */
} stay;

typedef OVL_VEC(stay) stays;

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const stay *)a)->name, ((const stay *)b)->name);
}

static int compare_left(const void *a, const void *b)
{
    const stay *x = a, *y = b;
    if (x->time[0] != y->time[0]) {
        return x->time[0] > y->time[0] ? -1 : 1;
    }
    return compare_names(a, b);
}

static int compare_came(const void *a, const void *b)
{
    const stay *x = a, *y = b;
    if (x->time[1] != y->time[1]) {
        return x->time[1] > y->time[1] ? -1 : 1;
    }
    return compare_names(a, b);
}

/* Launches carry the names of what they launch; on a path they are one thing. */
static const char *name_on_path(const ovl_result_path *item)
{
    bool launch = strcmp(item->stream, "host") == 0 && (strncmp(item->op, "issue ", 6) == 0 ||
                                                        strncmp(item->op, "host issues ", 12) == 0);
    return launch ? "host launches" : item->op;
}

/* Names that mean the same in both runs go to `common`, others to `own`. */
static void add_path(const ovl_result *result, int run, const pieces *kinds, stays *common,
                     stays *own)
{
    for (uint32_t i = 0; i < result->n_path; i++) {
        stay s = {.name = name_on_path(&result->path[i])};
        s.time[run] = ovl_path_time(&result->path[i]);
        ovl_vec_push(is_own(kinds, s.name) ? own : common, s);
    }
}

static void merge(stays *list)
{
    uint32_t n = 0;
    if (list->len) {
        qsort(list->data, list->len, sizeof *list->data, compare_names);
    }
    for (uint32_t i = 0; i < list->len; i++) {
        if (n && compare_names(&list->data[n - 1], &list->data[i]) == 0) {
            list->data[n - 1].time[0] += list->data[i].time[0];
            list->data[n - 1].time[1] += list->data[i].time[1];
        } else {
            list->data[n++] = list->data[i];
        }
    }
    list->len = n;
}

/* --- Sentences --- */

/* "x (7 ms), y (2 ms) and 3 others": what is on one path and not on the other; NULL if nothing. */
static const char *only_on(stays *list, int run, ovl_arena *arena)
{
    const char *text = NULL;
    uint32_t n = 0;
    if (list->len) {
        qsort(list->data, list->len, sizeof *list->data, run ? compare_came : compare_left);
    }
    for (uint32_t i = 0; i < list->len; i++) {
        const stay *s = &list->data[i];
        if (s->time[!run] > 0) {
            continue;
        }
        if (n++ < NAMES_SHOWN) {
            text = ovl_arena_printf(arena, "%s%s%s (%s)", text ? text : "", text ? ", " : "",
                                    s->name, time_text(arena, s->time[run]));
        }
    }
    return n <= NAMES_SHOWN ? text
                            : ovl_arena_printf(arena, "%s and %" PRIu32 " other%s", text,
                                               n - NAMES_SHOWN, n - NAMES_SHOWN > 1 ? "s" : "");
}

/* `path` is how the sentence calls it. */
static const char *same_path(const stays *list, const char *path, ovl_arena *arena)
{
    const stay *most = NULL;
    ovl_time most_moved = 0;
    for (uint32_t i = 0; i < list->len; i++) {
        ovl_time moved = list->data[i].time[1] - list->data[i].time[0];
        moved = moved < 0 ? -moved : moved;
        if (moved > most_moved) {
            most_moved = moved;
            most = &list->data[i];
        }
    }
    if (!most) {
        return ovl_arena_printf(arena, "the %s is the same", path);
    }
    return ovl_arena_printf(arena,
                            "the %s runs through the same operations; %s takes %s of it instead of "
                            "%s",
                            path, most->name, time_text(arena, most->time[1]),
                            time_text(arena, most->time[0]));
}

static const char *change_of(stays *list, const char *path, ovl_arena *arena)
{
    const char *left = only_on(list, 0, arena), *came = only_on(list, 1, arena);
    if (left && came) {
        return ovl_arena_printf(arena, "left the critical path: %s; took over: %s", left, came);
    }
    if (left || came) {
        return ovl_arena_printf(arena, "%s: %s",
                                left ? "left the critical path" : "came onto the critical path",
                                left ? left : came);
    }
    return same_path(list, path, arena);
}

/* "bucket 3 (2 ms)", "bucket 3 and 35 others (50 ms)", "none": all that is on the path of one run,
 * the longest named. */
static const char *all_on(const stays *list, int run, ovl_arena *arena)
{
    const stay *most = NULL;
    uint32_t n = 0;
    ovl_time sum = 0;
    for (uint32_t i = 0; i < list->len; i++) {
        const stay *s = &list->data[i];
        if (s->time[run] > 0) {
            most = !most || s->time[run] > most->time[run] ? s : most;
            sum += s->time[run];
            n++;
        }
    }
    if (!most) {
        return "none";
    }
    const char *others =
        n > 1 ? ovl_arena_printf(arena, " and %" PRIu32 " other%s", n - 1, n > 2 ? "s" : "") : "";
    return ovl_arena_printf(arena, "%s%s (%s)", most->name, others, time_text(arena, sum));
}

const char *ovl_path_change(const ovl_result *a, const ovl_result *b, ovl_arena *arena)
{
    pieces kinds = {0};
    stays common = {0}, own = {0};
    add_pieces(&kinds, a, 0);
    add_pieces(&kinds, b, 1);
    keep_own_kinds(&kinds);
    add_path(a, 0, &kinds, &common, &own);
    add_path(b, 1, &kinds, &common, &own);
    merge(&common);
    merge(&own);
    const char *text = change_of(&common, own.len ? "rest of the path" : "critical path", arena);
    if (own.len) {
        text = ovl_arena_printf(arena,
                                "numbered by each run for itself: %s on the critical path of a, %s "
                                "on that of b; %s",
                                all_on(&own, 0, arena), all_on(&own, 1, arena), text);
    }
    ovl_vec_free(&kinds);
    ovl_vec_free(&common);
    ovl_vec_free(&own);
    return text;
}
