/* What a sweep is for: the front, the best point, and what each step of an axis costs. */
#include "tools/sweep.h"

#include <string.h>

bool ovl_point_sound(const ovl_point *p)
{
    return p->state == OVL_POINT_DONE && p->figures.value[OVL_M_HAZARDS] == 0;
}

bool ovl_point_fits(const ovl_point *p)
{
    return p->figures.value[OVL_M_OVER] == 0;
}

bool ovl_point_allowed(const ovl_sweep *s, const ovl_point *p)
{
    for (uint32_t i = 0; i < s->n_where; i++) {
        if (!ovl_where_holds(&s->where[i], &p->figures)) {
            return false;
        }
    }
    return true;
}

static bool has_all(const ovl_metric_list *list, const ovl_point *p)
{
    for (uint32_t k = 0; k < list->n; k++) {
        if (!ovl_has_figure(&p->figures, list->item[k])) {
            return false;
        }
    }
    return true;
}

int64_t ovl_sweep_units(const ovl_sweep *s, ovl_time t)
{
    return (t < 0 ? t - s->quantum / 2 : t + s->quantum / 2) / s->quantum;
}

static void find_quantum(ovl_sweep *s)
{
    ovl_time longest = 0;
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
        if (s->points[i].state == OVL_POINT_DONE) {
            longest = OVL_MAX(longest, s->points[i].figures.value[ovl_sweep_gain_of(s)]);
        }
    }
    for (s->quantum = 1; s->quantum <= longest / 1000000;) {
        s->quantum *= 10;
    }
}

/* Smaller is better, but for communication that is hidden. */
static int64_t cost(const ovl_sweep *s, const ovl_point *p, uint32_t metric)
{
    int64_t value = p->figures.value[metric];
    if (ovl_metrics[metric].kind == OVL_METRIC_TIME) {
        value = ovl_sweep_units(s, value);
    }
    return strcmp(ovl_metrics[metric].name, "hidden") == 0 ? -value : value;
}

uint32_t ovl_sweep_gain_of(const ovl_sweep *s)
{
    return ovl_per_of(s->objective) < OVL_PER_COUNT ? s->objective : OVL_M_STEP;
}

/* --- The front --- */

static void find_metrics(ovl_sweep *s)
{
    ovl_metric_list list = s->pareto;
    if (list.n == 0) {
        list.item[list.n++] = s->objective == OVL_M_PEAK ? OVL_M_STEP : s->objective;
        list.item[list.n++] = OVL_M_PEAK;
    }
    s->wanted = list;
    s->front_of.n = 0;
    for (uint32_t k = 0; k < list.n; k++) {
        uint32_t metric = list.item[k];
        for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
            const ovl_point *p = &s->points[i];
            if (p->state == OVL_POINT_DONE && ovl_has_figure(&p->figures, metric)) {
                s->front_of.item[s->front_of.n++] = metric;
                break;
            }
        }
    }
}

static int by_metrics(const ovl_sweep *s, const ovl_point *a, const ovl_point *b)
{
    for (uint32_t k = 0; k < s->front_of.n; k++) {
        int64_t x = cost(s, a, s->front_of.item[k]), y = cost(s, b, s->front_of.item[k]);
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return 0;
}

static bool beats(const ovl_sweep *s, const ovl_point *a, const ovl_point *b)
{
    bool better = false;
    for (uint32_t k = 0; k < s->front_of.n; k++) {
        int64_t x = cost(s, a, s->front_of.item[k]), y = cost(s, b, s->front_of.item[k]);
        if (x > y) {
            return false;
        }
        better |= x < y;
    }
    return better;
}

/* Of points that equal each other in the metrics of the front: by the figures of the table. */
static int by_table(const ovl_sweep *s, const ovl_point *a, const ovl_point *b)
{
    for (uint32_t m = 0; m < OVL_M_TABLE; m++) {
        int64_t x = cost(s, a, m), y = cost(s, b, m);
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return 0;
}

static int compare(const ovl_sweep *s, const ovl_point *a, const ovl_point *b)
{
    int metrics = by_metrics(s, a, b);
    return metrics ? metrics : by_table(s, a, b);
}

/* A merge sort, of equals by number: qsort takes no context. */
static void sort(const ovl_sweep *s, uint32_t *order, uint32_t *spare, uint32_t n)
{
    if (n < 2) {
        return;
    }
    uint32_t half = n / 2, a = 0, b = half;
    sort(s, order, spare, half);
    sort(s, order + half, spare, n - half);
    for (uint32_t k = 0; k < n; k++) {
        bool left =
            b == n || (a < half && compare(s, &s->points[order[a]], &s->points[order[b]]) <= 0);
        spare[k] = left ? order[a++] : order[b++];
    }
    memcpy(order, spare, n * sizeof *order);
}

/* In sorted order only those before can beat a point, and of these the front is enough. */
static void find_front(ovl_sweep *s)
{
    ovl_arena arena = {0};
    uint32_t *order = OVL_NEW_ARRAY(&arena, uint32_t, ovl_sweep_reach(s));
    uint32_t *front = OVL_NEW_ARRAY(&arena, uint32_t, ovl_sweep_reach(s));
    uint32_t n = 0;
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
        if (ovl_point_sound(&s->points[i]) && has_all(&s->front_of, &s->points[i])) {
            order[n++] = i;
        }
    }
    sort(s, order, front, n);
    n = s->front_of.n ? n : 0;
    for (uint32_t i = 0; i < n; i++) {
        ovl_point *p = &s->points[order[i]];
        uint32_t last = s->n_front ? front[s->n_front - 1] : OVL_NONE;
        if (last != OVL_NONE && by_metrics(s, &s->points[last], p) == 0) {
            bool tie = by_table(s, &s->points[last], p) == 0; /* equals stand side by side */
            p->tie = tie ? last : OVL_NONE;
            s->n_ties += tie;
            continue;
        }
        p->front = true;
        for (uint32_t f = s->n_front; f-- > 0 && p->front;) {
            p->front = !beats(s, &s->points[front[f]], p);
        }
        if (p->front) {
            front[s->n_front++] = order[i];
        }
    }
    ovl_arena_free(&arena);
}

/* --- The best --- */

/* Retries come before memory: their time is not modelled, and with any the peak is what the GPU
 * has. */
static bool is_better(const ovl_sweep *s, const ovl_point *a, const ovl_point *b)
{
    const uint32_t first[] = {s->objective, OVL_M_RETRIES};
    for (size_t i = 0; i < OVL_COUNT(first); i++) {
        int64_t x = cost(s, a, first[i]), y = cost(s, b, first[i]);
        if (x != y) {
            return x < y;
        }
    }
    return compare(s, a, b) < 0;
}

static void find_best(ovl_sweep *s)
{
    s->best = OVL_NONE;
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
        const ovl_point *p = &s->points[i];
        if (!ovl_point_sound(p) || !ovl_has_figure(&p->figures, s->objective)) {
            continue;
        }
        if (!ovl_point_fits(p)) {
            s->n_too_large++;
        } else if (!ovl_point_allowed(s, p)) {
            s->n_excluded++;
        } else if (s->best == OVL_NONE || is_better(s, p, &s->points[s->best])) {
            s->best = i;
        }
    }
}

int64_t ovl_where_miss(const ovl_where *w, const ovl_figures *figures)
{
    int64_t over = figures->value[w->metric] - w->value;
    return w->relation == OVL_AT_LEAST || w->relation == OVL_MORE || (over < 0) ? -over : over;
}

/* The largest miss of a point, in parts of the constraint; below 0: a figure is not known. */
static double largest_miss(const ovl_sweep *s, const ovl_point *p)
{
    double most = 0;
    for (uint32_t i = 0; i < s->n_where; i++) {
        const ovl_where *w = &s->where[i];
        if (!ovl_has_figure(&p->figures, w->metric)) {
            return -1;
        }
        if (!ovl_where_holds(w, &p->figures)) {
            double part = (double)ovl_where_miss(w, &p->figures) / (double)OVL_MAX(1, w->value);
            most = part > most ? part : most;
        }
    }
    return most;
}

/* Of the points that constraints alone keep out. */
static void find_closest(ovl_sweep *s)
{
    double least = 0;
    s->closest = OVL_NONE;
    for (uint32_t i = 0; i < ovl_sweep_reach(s) && s->best == OVL_NONE && s->n_where; i++) {
        const ovl_point *p = &s->points[i];
        if (!ovl_point_sound(p) || !ovl_point_fits(p)) {
            continue;
        }
        double miss = largest_miss(s, p);
        if (miss >= 0 && (s->closest == OVL_NONE || miss < least)) {
            s->closest = i;
            least = miss;
        }
    }
}

static void count(ovl_sweep *s)
{
    const ovl_point *first = NULL;
    s->n_done = s->n_failed = s->n_front = s->n_ties = 0;
    s->n_hazards = s->n_too_large = s->n_excluded = 0;
    s->models = false;
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
        ovl_point *p = &s->points[i];
        p->front = false;
        p->tie = OVL_NONE;
        s->n_failed += p->state == OVL_POINT_FAILED;
        if (p->state == OVL_POINT_DONE) {
            first = first ? first : p;
            s->n_done++;
            s->n_hazards += !ovl_point_sound(p);
            s->models |= p->interference != first->interference;
        }
    }
}

/* --- Steps of an ordered axis --- */

static uint32_t stride_of(const ovl_axes *axes, uint32_t axis)
{
    uint32_t stride = 1;
    for (uint32_t a = axis + 1; a < axes->n_axes; a++) {
        stride *= axes->axes[a].n_rows;
    }
    return stride;
}

static void add_step(ovl_sweep *s, uint32_t axis, uint32_t from, uint32_t to)
{
    const ovl_point *a = &s->points[from], *b = &s->points[to];
    uint32_t of = ovl_sweep_gain_of(s);
    if (a->state != OVL_POINT_DONE || b->state != OVL_POINT_DONE ||
        !ovl_has_figure(&a->figures, of) || !ovl_has_figure(&b->figures, of)) {
        return;
    }
    ovl_sweep_step step = {.axis = axis, .from = from, .to = to};
    step.gain = a->figures.value[of] - b->figures.value[of];
    step.has_price =
        ovl_has_figure(&a->figures, OVL_M_PEAK) && ovl_has_figure(&b->figures, OVL_M_PEAK);
    step.live = b->figures.value[OVL_M_LIVE] - a->figures.value[OVL_M_LIVE];
    step.allocated = b->figures.value[OVL_M_ALLOCATED] - a->figures.value[OVL_M_ALLOCATED];
    step.peak = b->figures.value[OVL_M_PEAK] - a->figures.value[OVL_M_PEAK];
    s->steps[s->n_steps++] = step;
}

static bool is_ordered(const ovl_sweep_axis *axis)
{
    return axis->ordered && axis->n_rows > 1;
}

/* Of one axis, for each combination of the others. */
static void find_axis_steps(ovl_sweep *s, uint32_t a)
{
    uint32_t stride = stride_of(&s->axes, a), rows[OVL_KEYS_MAX];
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
        ovl_axes_rows(&s->axes, i, rows);
        for (uint32_t to = i + stride, k = 1;
             rows[a] == 0 && k < s->axes.axes[a].n_rows && to < ovl_sweep_reach(s);
             k++, to += stride) {
            add_step(s, a, to - stride, to);
        }
    }
}

static void find_steps(ovl_sweep *s, ovl_arena *arena)
{
    uint32_t n = 0;
    for (uint32_t a = 0; a < s->axes.n_axes; a++) {
        n += is_ordered(&s->axes.axes[a]);
    }
    s->n_steps = 0;
    s->steps = OVL_NEW_ARRAY(arena, ovl_sweep_step, (size_t)n * ovl_sweep_reach(s));
    for (uint32_t a = 0; a < s->axes.n_axes; a++) {
        if (is_ordered(&s->axes.axes[a])) {
            find_axis_steps(s, a);
        }
    }
}

/* --- Axes without effect --- */

static bool same_figures(const ovl_point *a, const ovl_point *b)
{
    if (a->figures.has != b->figures.has) {
        return false;
    }
    for (uint32_t m = 0; m < ovl_n_metrics; m++) {
        if (ovl_has_figure(&a->figures, m) && a->figures.value[m] != b->figures.value[m]) {
            return false;
        }
    }
    return true;
}

/* Each point against the one with the first row of this axis, all else equal. */
static bool is_idle(const ovl_sweep *s, uint32_t axis)
{
    uint32_t rows[OVL_KEYS_MAX], stride = stride_of(&s->axes, axis);
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
        ovl_axes_rows(&s->axes, i, rows);
        const ovl_point *p = &s->points[i], *first = &s->points[i - rows[axis] * stride];
        if (p->state != OVL_POINT_DONE || first->state != OVL_POINT_DONE ||
            !same_figures(p, first)) {
            return false;
        }
    }
    return s->axes.axes[axis].n_rows > 1 && !s->stopped;
}

static void find_idle_axes(ovl_sweep *s, ovl_arena *arena)
{
    bool *idle = OVL_NEW_ARRAY(arena, bool, s->axes.n_axes);
    for (uint32_t a = 0; a < s->axes.n_axes; a++) {
        idle[a] = is_idle(s, a);
    }
    s->idle_axis = idle;
}

void ovl_sweep_choose(ovl_sweep *sweep, ovl_arena *arena)
{
    count(sweep);
    ovl_sweep_find_work(sweep);
    find_quantum(sweep);
    find_metrics(sweep);
    find_front(sweep);
    find_best(sweep);
    find_closest(sweep);
    find_steps(sweep, arena);
    find_idle_axes(sweep, arena);
}

int ovl_sweep_status(const ovl_sweep *sweep)
{
    int worst = 0;
    for (uint32_t i = 0; i < ovl_sweep_reach(sweep); i++) {
        const ovl_point *p = &sweep->points[i];
        if (p->state == OVL_POINT_FAILED && (!worst || (int)p->status < worst)) {
            worst = (int)p->status;
        }
    }
    bool nothing = sweep->best == OVL_NONE && sweep->n_excluded;
    return worst ? worst : sweep->n_hazards || nothing;
}
