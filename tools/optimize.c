#include "tools/optimize.h"

#include "models/node_text.h"
#include "tools/pool.h"
#include "tools/progress.h"

#include <string.h>

/* --- Candidates --- */

static ovl_sweep one_of(const ovl_optimize *o, const ovl_candidate *c, ovl_arena *arena)
{
    ovl_sweep one = *o->start;
    ovl_set *sets = OVL_NEW_ARRAY(arena, ovl_set, (size_t)one.n_sets + c->n_sets);
    if (one.n_sets) {
        memcpy(sets, one.sets, one.n_sets * sizeof *sets);
    }
    if (c->n_sets) {
        memcpy(sets + one.n_sets, c->sets, c->n_sets * sizeof *sets);
    }
    one.sets = sets;
    one.n_sets += c->n_sets;
    one.variant = c->variant ? c->variant : one.variant;
    one.axes = (ovl_axes){.n_points = 1};
    return one;
}

void ovl_candidate_point(const ovl_optimize *o, ovl_candidate *c, ovl_arena *errors)
{
    ovl_arena arena = {0};
    const ovl_sweep one = one_of(o, c, &arena);
    ovl_sweep_point(&one, 0, &c->point, errors);
    ovl_arena_free(&arena);
}

bool ovl_candidate_result(const ovl_optimize *o, const ovl_candidate *c, ovl_worth worth,
                          ovl_result *result, ovl_arena *arena, ovl_errs *errs)
{
    const ovl_sweep one = one_of(o, c, arena);
    return ovl_sweep_result(&one, 0, worth, result, arena, errs);
}

bool ovl_candidate_good(const ovl_optimize *o, const ovl_candidate *c)
{
    return ovl_point_sound(&c->point) && ovl_point_fits(&c->point) &&
           ovl_point_allowed(o->start, &c->point) &&
           ovl_has_figure(&c->point.figures, o->start->objective);
}

int64_t ovl_optimize_finest(const ovl_optimize *o)
{
    uint32_t m = o->start->objective;
    bool time = ovl_metrics[m].kind == OVL_METRIC_TIME;
    return time ? OVL_MAX(1, o->first.point.figures.value[m] / 1000000000) : 1;
}

bool ovl_candidate_better(const ovl_optimize *o, const ovl_candidate *a, const ovl_candidate *b)
{
    const uint32_t by[] = {o->start->objective, OVL_M_PEAK, OVL_M_STARTUPS};
    const int64_t unit[] = {ovl_optimize_finest(o), 1, 1};
    for (uint32_t i = 0; i < OVL_COUNT(by); i++) {
        int64_t x = a->point.figures.value[by[i]] / unit[i];
        int64_t y = b->point.figures.value[by[i]] / unit[i];
        if (x != y) {
            return x < y;
        }
    }
    return a->number < b->number;
}

static bool wants_less(const ovl_where *where)
{
    return where->relation == OVL_LESS || where->relation == OVL_AT_MOST;
}

static void note_reached(ovl_optimize *o, const ovl_point *p)
{
    for (uint32_t i = 0; ovl_point_sound(p) && i < o->start->n_where; i++) {
        const ovl_where *where = &o->start->where[i];
        int64_t value = p->figures.value[where->metric];
        bool closer = wants_less(where) ? value < o->reached[i] : value > o->reached[i];
        if (ovl_has_figure(&p->figures, where->metric) && (!o->seen[i] || closer)) {
            o->seen[i] = true;
            o->reached[i] = value;
        }
    }
}

void ovl_optimize_take(ovl_optimize *o, const ovl_candidate *c)
{
    o->simulated++;
    note_reached(o, &c->point);
    if (!ovl_candidate_good(o, c)) {
        o->useless++;
        return;
    }
    uint32_t at = 0;
    while (at < o->n_best && !ovl_candidate_better(o, c, &o->best[at])) {
        at++;
    }
    if (at == OVL_OPT_RIVALS) {
        return;
    }
    uint32_t kept = OVL_MIN(o->n_best, OVL_OPT_RIVALS - 1);
    memmove(&o->best[at + 1], &o->best[at], (kept - at) * sizeof *o->best);
    o->best[at] = *c;
    o->n_best = kept + 1;
}

typedef struct crew {
    ovl_optimize *o;
    ovl_candidate *list;
    ovl_arena *errors; /* one a thread */
    ovl_progress progress;
    uint32_t done;
} crew;

static void work(void *context, uint32_t thread, uint32_t piece)
{
    crew *c = context;
    ovl_candidate_point(c->o, &c->list[piece], &c->errors[thread]);
}

static void done(void *context, uint32_t piece)
{
    (void)piece;
    ((crew *)context)->done++;
}

static void tick(void *context)
{
    crew *c = context;
    ovl_progress_at(&c->progress, c->done);
}

uint32_t ovl_optimize_left(const ovl_optimize *o)
{
    return o->simulated < o->tries ? o->tries - o->simulated : 0;
}

uint32_t ovl_optimize_spare(const ovl_optimize *o)
{
    const uint32_t left = ovl_optimize_left(o), ranges = left / 2 / OVL_RANGE_COST;
    return left - OVL_MIN(ranges, 2) * OVL_RANGE_COST;
}

void ovl_optimize_try(ovl_optimize *o, ovl_candidate *list, uint32_t n)
{
    ovl_arena arena = {0};
    n = OVL_MIN(n, ovl_optimize_left(o));
    uint32_t threads = o->threads ? o->threads : ovl_pool_cores();
    crew c = {.o = o, .list = list, .errors = OVL_NEW_ARRAY(&arena, ovl_arena, threads)};
    ovl_pool pool = {
        .threads = threads, .n = n, .context = &c, .work = work, .done = done, .tick = tick};
    for (uint32_t i = 0; i < n; i++) {
        list[i].number = o->made++;
    }
    if (n && !o->signal) {
        ovl_progress_begin(&c.progress, o->err, "simulations", n);
        ovl_pool_end end = ovl_pool_run(&pool);
        ovl_progress_end(&c.progress);
        o->signal = end.signal;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].point.state != OVL_POINT_OPEN) {
            if (list[i].point.state == OVL_POINT_FAILED) {
                ovl_optimize_failed(o, 1, list[i].point.error);
            }
            list[i].point.error = NULL; /* of a thread's arena */
            ovl_optimize_take(o, &list[i]);
        }
    }
    for (uint32_t t = 0; t < threads; t++) {
        ovl_arena_free(&c.errors[t]);
    }
    ovl_arena_free(&arena);
}

void ovl_optimize_failed(ovl_optimize *o, uint32_t n, const char *error)
{
    o->failed += n;
    if (n && !o->first_error) {
        o->first_error = ovl_arena_strdup(o->arena, error);
    }
}

static void say(ovl_optimize *o, const char *sentence)
{
    assert(o->n_searched < OVL_COUNT(o->searched));
    o->searched[o->n_searched++] = sentence;
}

void ovl_optimize_say(ovl_optimize *o, const char *sentence)
{
    say(o, o->signal ? ovl_arena_printf(o->arena, "%s; interrupted", sentence) : sentence);
}

void ovl_optimize_say_all(ovl_optimize *o, uint32_t before, uint32_t n, const char *whole,
                          const char *what)
{
    uint32_t tried = o->simulated - before;
    if (tried == n) {
        say(o, whole);
    } else if (tried) {
        ovl_optimize_say(o, ovl_arena_printf(o->arena, "%s of %s %s: others may be better",
                                             ovl_grouped(tried, o->arena), ovl_grouped(n, o->arena),
                                             what));
    }
}

/* --- Axes --- */

static ovl_candidate candidate_of(const ovl_optimize *o, uint32_t point)
{
    const ovl_axes *axes = &o->start->axes;
    ovl_set *sets = OVL_NEW_ARRAY(o->arena, ovl_set, axes->n_keys);
    ovl_candidate c = {.sets = sets};
    c.n_sets = ovl_axes_point(axes, point, sets, &c.variant);
    return c;
}

static ovl_candidate *all_points(const ovl_optimize *o)
{
    uint32_t n = o->start->axes.n_points;
    ovl_candidate *list = OVL_NEW_ARRAY(o->arena, ovl_candidate, n);
    for (uint32_t i = 0; i < n; i++) {
        list[i] = candidate_of(o, i);
    }
    return list;
}

static void try_all(ovl_optimize *o)
{
    uint32_t n = o->start->axes.n_points, before = o->simulated;
    bool draws = false;
    for (uint32_t a = 0; a < o->start->axes.n_axes; a++) {
        draws |= o->start->axes.axes[a].kind == OVL_AXIS_SAMPLE;
    }
    ovl_optimize_try(o, all_points(o), n);
    ovl_optimize_say_all(o, before, n,
                         ovl_arena_printf(o->arena, "all combinations of the values%s, %s: exact",
                                          draws ? " and draws" : "", ovl_grouped(n, o->arena)),
                         "combinations of the values");
}

static uint32_t point_of_rows(const ovl_axes *axes, const uint32_t *rows)
{
    uint32_t point = 0;
    for (uint32_t a = 0; a < axes->n_axes; a++) {
        point = point * axes->axes[a].n_rows + rows[a];
    }
    return point;
}

/* All rows of one axis, `most` of them, the others as they are; gives whether one was better than
 * all before. */
static bool try_line(ovl_optimize *o, uint32_t *rows, uint32_t axis, uint32_t most)
{
    const ovl_axes *axes = &o->start->axes;
    uint32_t n = axes->axes[axis].n_rows, base = o->made, before = rows[axis];
    ovl_candidate *list = OVL_NEW_ARRAY(o->arena, ovl_candidate, n);
    for (uint32_t r = 0; r < n; r++) {
        rows[axis] = r;
        list[r] = candidate_of(o, point_of_rows(axes, rows));
    }
    ovl_optimize_try(o, list, OVL_MIN(n, most));
    rows[axis] = before;
    bool better = o->n_best && o->best[0].number >= base;
    if (better) {
        rows[axis] = o->best[0].number - base;
    }
    return better;
}

/* One axis after the other, from the middle of each, until a round brings nothing. */
static void try_lines(ovl_optimize *o)
{
    const ovl_axes *axes = &o->start->axes;
    uint32_t rows[OVL_KEYS_MAX], from = o->simulated, until = from + ovl_optimize_spare(o);
    bool better = true;
    for (uint32_t a = 0; a < axes->n_axes; a++) {
        rows[a] = axes->axes[a].n_rows / 2;
    }
    while (better && !o->signal && o->simulated < until) {
        better = false;
        for (uint32_t a = 0; a < axes->n_axes && o->simulated < until; a++) {
            better = try_line(o, rows, a, until - o->simulated) || better;
        }
    }
    ovl_optimize_say(
        o, ovl_arena_printf(o->arena,
                            "%s of %s combinations, one key after the other until none helped, "
                            "or --tries ended it: others may be better",
                            ovl_grouped(o->simulated - from, o->arena),
                            ovl_grouped(axes->n_points, o->arena)));
}

/* --- The whole --- */

bool ovl_optimize_gains(const ovl_optimize *o)
{
    uint32_t m = o->start->objective;
    int64_t unit = ovl_optimize_finest(o);
    return o->n_best &&
           (!ovl_candidate_good(o, &o->first) ||
            o->best[0].point.figures.value[m] / unit < o->first.point.figures.value[m] / unit);
}

static bool same_figures(const ovl_point *a, const ovl_point *b)
{
    bool same = a->figures.has == b->figures.has;
    for (uint32_t m = 0; same && m < ovl_n_metrics; m++) {
        same = !ovl_has_figure(&a->figures, m) || a->figures.value[m] == b->figures.value[m];
    }
    return same;
}

const ovl_candidate *ovl_optimize_closest(const ovl_optimize *o)
{
    for (uint32_t i = 0; i < o->n_best; i++) {
        if (!same_figures(&o->best[i].point, &o->first.point)) {
            return &o->best[i];
        }
    }
    return &o->best[0];
}

/* Values and the one search beside them together, if all of that may be tried. */
static bool try_joint(ovl_optimize *o)
{
    uint32_t n = o->start->axes.n_points;
    if (n == 0 || n > ovl_optimize_left(o) || o->stages == o->buckets) {
        return false;
    }
    ovl_candidate *bases = all_points(o);
    return o->stages ? ovl_optimize_stages_joint(o, bases, n)
                     : ovl_optimize_buckets_joint(o, bases, n);
}

static void try_parts(ovl_optimize *o, ovl_errs *errs)
{
    const uint32_t points = o->start->axes.n_points;
    if (points > ovl_optimize_left(o)) {
        try_lines(o);
    } else if (points) {
        try_all(o);
    }
    if (o->stages && !o->signal) {
        ovl_optimize_stages(o, errs);
    }
    if (o->buckets && !o->signal) {
        ovl_optimize_buckets(o, errs);
    }
    if ((points > 0) + o->stages + o->buckets > 1) {
        ovl_optimize_say(o, "one part after the other, each from the best so far: others together "
                            "may be better");
    }
}

/* A bound holds where more bytes take no less time; where that is not so and was not seen, what was
 * found shows it. */
static void drop_false_bound(ovl_optimize *o)
{
    int64_t least = INT64_MAX;
    if (o->bound == OVL_NEVER || o->start->objective != OVL_M_STEP) {
        return;
    }
    if (o->n_best) {
        least = o->best[0].point.figures.value[OVL_M_STEP];
    }
    if (ovl_candidate_good(o, &o->first)) {
        least = OVL_MIN(least, o->first.point.figures.value[OVL_M_STEP]);
    }
    if (least < o->bound) {
        o->bound = OVL_NEVER;
        o->bound_text = "none is known: more bytes take less time here";
    }
}

bool ovl_optimize_run(ovl_optimize *o, ovl_errs *errs)
{
    o->bound = OVL_NEVER;
    o->reached = OVL_NEW_ARRAY(o->arena, int64_t, o->start->n_where);
    o->seen = OVL_NEW_ARRAY(o->arena, bool, o->start->n_where);
    ovl_candidate_point(o, &o->first, o->arena);
    if (o->first.point.state != OVL_POINT_DONE) {
        o->error = o->first.point.error;
        o->status = o->first.point.status;
        return false;
    }
    o->first.number = o->made++;
    o->simulated++;
    ovl_stops stops; /* between two pools, too, Ctrl-C leaves what was found */
    ovl_stops_hold(&stops);
    if (!try_joint(o)) {
        try_parts(o, errs);
    }
    drop_false_bound(o);
    if (ovl_optimize_gains(o) && !o->signal) {
        ovl_optimize_range(o);
    }
    ovl_stops_release(&stops);
    return true;
}

typedef OVL_VEC(ovl_setting) settings;

static void add_setting(settings *list, const char *path, const char *value, const ovl_node *node)
{
    ovl_vec_push(list, (ovl_setting){path, value, node});
}

static bool set_again(const ovl_candidate *c, const char *path)
{
    for (uint32_t k = 0; k < c->n_sets; k++) {
        if (strcmp(c->sets[k].path, path) == 0) {
            return true;
        }
    }
    return false;
}

static const char *path_of(const ovl_set *set, ovl_arena *arena)
{
    const char *equals = set->text ? strchr(set->text, '=') : NULL;
    return equals ? ovl_arena_strndup(arena, set->text, (size_t)(equals - set->text)) : NULL;
}

/* By a --set behind number `from`. */
static bool set_behind(const ovl_sweep *s, uint32_t from, const char *path, ovl_arena *arena)
{
    for (uint32_t i = from; i < s->n_sets; i++) {
        const char *other = path_of(&s->sets[i], arena);
        if (other && strcmp(other, path) == 0) {
            return true;
        }
    }
    return false;
}

/* What the variant of the file, then --set, then the candidate change; a path set again later is
 * left out before. */
const ovl_setting *ovl_candidate_settings(const ovl_optimize *o, const ovl_candidate *c,
                                          uint32_t *n, ovl_arena *arena)
{
    const ovl_sweep *s = o->start;
    settings list = {0};
    const char *variant = c->variant ? c->variant : s->variant;
    const ovl_node *map =
        variant ? ovl_node_get(ovl_node_get(s->doc->root, "variants"), variant) : NULL;
    for (uint32_t i = 0; map && map->kind == OVL_NODE_MAP && i < map->count; i++) {
        const ovl_node *value = map->pairs[i].value;
        if (!set_again(c, map->pairs[i].key) && !set_behind(s, 0, map->pairs[i].key, arena)) {
            add_setting(&list, map->pairs[i].key, ovl_node_text(value, arena), value);
        }
    }
    for (uint32_t i = 0; i < s->n_sets; i++) {
        const char *path = path_of(&s->sets[i], arena);
        if (path && !set_again(c, path) && !set_behind(s, i + 1, path, arena)) {
            add_setting(&list, path, s->sets[i].text + strlen(path) + 1, NULL);
        }
    }
    for (uint32_t i = 0; i < c->n_sets; i++) {
        const ovl_node *value = c->sets[i].value;
        add_setting(&list, c->sets[i].path, ovl_node_text(value, arena), value);
    }
    *n = list.len;
    return ovl_vec_freeze(&list, arena);
}

const char *ovl_candidate_yaml(const ovl_optimize *o, const ovl_candidate *c, ovl_arena *arena)
{
    uint32_t n;
    const ovl_setting *list = ovl_candidate_settings(o, c, &n, arena);
    const char *text = "";
    for (uint32_t i = 0; i < n; i++) {
        text = ovl_arena_printf(arena, "%s%s%s: %s", text, i ? ", " : "",
                                ovl_yaml_scalar_text(list[i].path, false, arena), list[i].value);
    }
    return ovl_arena_printf(arena, "{%s}", text);
}
