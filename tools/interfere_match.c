/* Which operations of three runs are the same ones, and when their collectives truly began. */
#include "sim/units.h"
#include "tools/interfere_parts.h"

#include <string.h>

#define MOST_LISTED 12 /* differences named */

static const char *text_of(const ovl_interfere *in, ovl_id id)
{
    return id == OVL_NONE ? "" : ovl_names_text(&in->names, id);
}

/* --- What belongs together --- */

/* An operation by what it is and how many of that came before it on its device. */
typedef struct item {
    const ovl_trial_op *op;
    int64_t device; /* key */
    uint32_t nth;
} item;

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_what(const item *x, const item *y)
{
    const int by[] = {
        order(x->device, y->device),     order(x->op->comm, y->op->comm),
        order(x->op->name, y->op->name), order(x->op->shape, y->op->shape),
        order(x->op->op, y->op->op),     order(x->op->bytes, y->op->bytes),
    };
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        if (by[i]) {
            return by[i];
        }
    }
    return 0;
}

/* Operations of one run lie by device and start, so that of two in one array the first came first.
 */
static int by_what_and_place(const void *a, const void *b)
{
    const item *x = a, *y = b;
    int what = by_what(x, y);
    return what ? what : (x->op > y->op) - (x->op < y->op);
}

typedef struct items {
    item *item;
    uint32_t n;
} items;

static items items_of(const ovl_trial *run, bool comm, ovl_arena *arena)
{
    items list = {OVL_NEW_ARRAY(arena, item, run->ops.len), 0};
    for (uint32_t i = 0; i < run->ops.len; i++) {
        const ovl_trial_op *op = &run->ops.data[i];
        if (op->comm == comm) {
            list.item[list.n++] = (item){op, run->devices.data[op->device].key, 0};
        }
    }
    if (list.n) {
        qsort(list.item, list.n, sizeof *list.item, by_what_and_place);
    }
    return list;
}

const char *ovl_interfere_device(const ovl_interfere *in, int64_t key, ovl_arena *arena)
{
    for (int role = 0; role < OVL_ROLES; role++) {
        const ovl_trial *run = &in->runs[role];
        for (uint32_t d = 0; d < run->devices.len; d++) {
            const ovl_trial_device *device = &run->devices.data[d];
            int64_t rank = run->files.data[device->file].rank;
            if (device->key == key && rank >= 0) {
                return ovl_arena_printf(arena, "rank %" PRId64 " device %" PRId64, rank,
                                        device->id);
            }
        }
    }
    return ovl_arena_printf(arena, "device %" PRId64, key);
}

static const char *what_text(const ovl_interfere *in, const item *i, ovl_arena *arena)
{
    const char *shape = text_of(in, i->op->shape);
    const char *device = ovl_interfere_device(in, i->device, arena);
    if (!i->op->comm) {
        return ovl_arena_printf(arena, "%s: kernel %s%s%s", device, text_of(in, i->op->name),
                                *shape ? ", " : "", shape);
    }
    const char *size =
        i->op->bytes < 0 ? "unknown size" : ovl_arena_printf(arena, "%" PRId64 " B", i->op->bytes);
    return ovl_arena_printf(arena, "%s: %s of %s (%s)", device, text_of(in, i->op->op), size,
                            text_of(in, i->op->name));
}

static uint32_t alike(const items *list, uint32_t from)
{
    uint32_t n = 1;
    while (from + n < list->n && by_what(&list->item[from], &list->item[from + n]) == 0) {
        n++;
    }
    return n;
}

/* The partner in `alone` of each operation of `both`; differences are collected as text. */
static const char *match(const ovl_interfere *in, const items *alone, const items *both,
                         const ovl_trial_op **partner, const ovl_trial_op *base,
                         uint32_t *different)
{
    const char *text = "";
    uint32_t a = 0, b = 0;
    while (a < alone->n || b < both->n) {
        int which = a == alone->n  ? 1
                    : b == both->n ? -1
                                   : by_what(&alone->item[a], &both->item[b]);
        uint32_t na = which <= 0 ? alike(alone, a) : 0, nb = which >= 0 ? alike(both, b) : 0;
        for (uint32_t k = 0; k < OVL_MIN(na, nb); k++) {
            partner[both->item[b + k].op - base] = alone->item[a + k].op;
        }
        if (na != nb && (*different)++ < MOST_LISTED) {
            const item *one = which <= 0 ? &alone->item[a] : &both->item[b];
            ovl_arena *arena = in->names.arena;
            text = ovl_arena_printf(arena, "%s\n  %s: %" PRIu32 " alone, %" PRIu32 " overlapped",
                                    text, what_text(in, one, arena), na, nb);
        }
        a += na;
        b += nb;
    }
    return text;
}

bool ovl_interfere_match(const ovl_interfere *in, ovl_role role, bool comm,
                         const ovl_trial_op **partner, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    uint32_t different = 0;
    const ovl_trial *overlap = &in->runs[OVL_ROLE_OVERLAP];
    items alone = items_of(&in->runs[role], comm, &scratch);
    items both = items_of(overlap, comm, &scratch);
    const char *text = match(in, &alone, &both, partner, overlap->ops.data, &different);
    if (alone.n == 0 || both.n == 0) {
        ovl_error(errs, OVL_E_INPUT, (ovl_mark){(alone.n ? overlap : &in->runs[role])->path, 0, 0},
                  "has no %s", comm ? "communication" : "compute kernels");
    } else if (different) {
        ovl_error(errs, OVL_E_INPUT, (ovl_mark){overlap->path, 0, 0},
                  "does not run the same %s as %s: %" PRIu32 " difference%s%s%s",
                  comm ? "communication" : "kernels", in->runs[role].path, different,
                  different == 1 ? "" : "s", text, different > MOST_LISTED ? "\n  ..." : "");
    }
    ovl_arena_free(&scratch);
    return different == 0 && alone.n && both.n;
}

/* --- Alone, and when it began --- */

/* A run that is meant to be alone must not overlap. */
bool ovl_interfere_is_alone(const ovl_trial *run, ovl_errs *errs)
{
    int64_t overlap = 0;
    for (uint32_t d = 0; d < run->devices.len; d++) {
        ovl_spans compute = {0}, comm = {0};
        ovl_interfere_spans(run, d, false, &compute);
        ovl_interfere_spans(run, d, true, &comm);
        overlap += ovl_spans_common(&compute, &comm);
        ovl_spans_free(&compute);
        ovl_spans_free(&comm);
    }
    if (overlap > 0) {
        char buf[OVL_UNITS_TEXT];
        ovl_error(errs, OVL_E_INPUT, (ovl_mark){run->path, 0, 0},
                  "is no run alone: kernels and communication overlap for %s",
                  ovl_print_time(buf, OVL_MIN(overlap, OVL_TIME_MAX / OVL_NS) * OVL_NS));
    }
    return overlap == 0;
}

/* The same collective on all devices of a run: the k-th of its kind. */
static int by_what_and_nth(const void *a, const void *b)
{
    item x = *(const item *)a, y = *(const item *)b;
    int64_t device = x.device;
    x.device = y.device;
    int what = by_what(&x, &y);
    return what ? what : x.nth != y.nth ? order(x.nth, y.nth) : order(device, y.device);
}

static bool same_call(const item *x, const item *y)
{
    item other = *y;
    other.device = x->device;
    return x->nth == y->nth && by_what(x, &other) == 0;
}

/* --- Clocks --- */

/* The collectives of a run with the number of each among its kind on its device; same calls side by
 * side. */
static items calls_of(const ovl_trial *run, ovl_arena *scratch)
{
    items list = items_of(run, true, scratch);
    for (uint32_t first = 0, n; first < list.n; first += n) {
        n = alike(&list, first);
        for (uint32_t k = 0; k < n; k++) {
            list.item[first + k].nth = k;
        }
    }
    if (list.n) {
        qsort(list.item, list.n, sizeof *list.item, by_what_and_nth);
    }
    return list;
}

static uint32_t same_calls(const items *list, uint32_t first)
{
    uint32_t n = 1;
    while (first + n < list->n && same_call(&list->item[first], &list->item[first + n])) {
        n++;
    }
    return n;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return order(*x, *y);
}

void ovl_interfere_align(ovl_trial *run, int64_t *shift)
{
    ovl_arena scratch = {0};
    items list = run->files.len > 1 ? calls_of(run, &scratch) : (items){0};
    for (uint32_t file = 1; file < run->files.len; file++) {
        int64_t *ahead = OVL_NEW_ARRAY(&scratch, int64_t, list.n);
        uint32_t found = 0;
        for (uint32_t first = 0, n; first < list.n; first += n) {
            n = same_calls(&list, first);
            const ovl_trial_op *base = list.item[first].op;
            for (uint32_t k = 1; k < n && run->devices.data[base->device].file == 0; k++) {
                const ovl_trial_op *op = list.item[first + k].op;
                if (run->devices.data[op->device].file == file) {
                    ahead[found++] = op->end - base->end;
                }
            }
        }
        if (found) {
            qsort(ahead, found, sizeof *ahead, by_value);
            shift[file] = ahead[(found - 1) / 2];
        }
    }
    for (uint32_t i = 0; i < run->ops.len; i++) {
        ovl_trial_op *op = &run->ops.data[i];
        op->start -= shift[run->devices.data[op->device].file];
        op->end -= shift[run->devices.data[op->device].file];
    }
    ovl_arena_free(&scratch);
}

/* The latest start on any device, of those that overlap this one. */
static int64_t latest_start(const item *call, uint32_t n, uint32_t own)
{
    const ovl_trial_op *op = call[own].op;
    int64_t latest = op->start;
    for (uint32_t k = 0; k < n; k++) {
        const ovl_trial_op *other = call[k].op;
        bool meets = other->start < op->end && op->start < other->end;
        latest = meets ? OVL_MAX(latest, other->start) : latest;
    }
    return latest;
}

/* A collective begins once its last member has arrived: where a run has several devices, what came
 * before was waiting. */
void ovl_interfere_starts(ovl_trial *run)
{
    ovl_arena scratch = {0};
    items list = calls_of(run, &scratch);
    int64_t *begin = OVL_NEW_ARRAY(&scratch, int64_t, run->ops.len);
    for (uint32_t first = 0, n; first < list.n; first += n) {
        n = same_calls(&list, first);
        for (uint32_t k = 0; k < n; k++) {
            begin[list.item[first + k].op - run->ops.data] = latest_start(&list.item[first], n, k);
        }
    }
    for (uint32_t i = 0; i < run->ops.len; i++) {
        ovl_trial_op *op = &run->ops.data[i];
        op->start = op->comm ? begin[i] : op->start;
    }
    ovl_arena_free(&scratch);
}

void ovl_interfere_spans(const ovl_trial *run, uint32_t device, bool comm, ovl_spans *spans)
{
    for (uint32_t i = 0; i < run->ops.len; i++) {
        const ovl_trial_op *op = &run->ops.data[i];
        if (op->comm == comm && op->device == device) {
            ovl_spans_add(spans, op->start, op->end);
        }
    }
}
