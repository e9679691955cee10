/* A sweep for a terminal: a row a point, the front marked, then what to choose and what it costs.
 */
#include "tools/sweep.h"

#include "tools/grid.h"
#include "tools/report.h"
#include "tools/scale.h"
#include "tools/wrap.h"

#include <string.h>

#define MOST_ROWS   60 /* beyond which only the front is shown, unless all are asked for */
#define MOST_ERRORS 8  /* different sentences */
#define MOST_STEPS  20

/* --- Words for keys and points --- */

/* Whether the last `parts` parts of two paths are the same. */
static bool same_end(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    return n >= m && strcmp(a + n - m, b) == 0 && (n == m || a[n - m - 1] == '.');
}

const char *ovl_sweep_key_text(const ovl_sweep *s, uint32_t key, ovl_arena *arena)
{
    const char *path = s->axes.keys[key].path, *end = path + strlen(path);
    while (end > path) {
        do {
            end--;
        } while (end > path && end[-1] != '.');
        bool alone = true;
        for (uint32_t k = 0; k < s->axes.n_keys; k++) {
            alone &= k == key || !same_end(s->axes.keys[k].path, end);
        }
        if (alone) {
            break;
        }
    }
    return ovl_arena_strdup(arena, end);
}

const char *ovl_sweep_point_text(const ovl_sweep *s, uint32_t i, ovl_arena *arena)
{
    const char *texts[OVL_KEYS_MAX], *text = "";
    ovl_axes_texts(&s->axes, i, texts);
    for (uint32_t k = 0; k < s->axes.n_keys; k++) {
        if (texts[k]) {
            text = ovl_arena_printf(arena, "%s%s%s %s", text, *text ? ", " : "",
                                    ovl_sweep_key_text(s, k, arena), texts[k]);
        }
    }
    return text;
}

static const char *counted(uint32_t n, const char *what, ovl_arena *arena)
{
    return ovl_arena_printf(arena, "%" PRIu32 " %s%s", n, what, n == 1 ? "" : "s");
}

/* --- The table --- */

typedef struct shown {
    const ovl_sweep *s;
    ovl_arena arena;
    ovl_scale scale;
    ovl_bytes_scale bytes; /* of the largest */
    bool few;              /* only the front is shown */
    uint32_t hidden;
    bool told[OVL_M_TABLE]; /* this figure is the same at all points: below the table */
    uint32_t more;          /* the objective, if the table has no column of it; else OVL_NONE */
} shown;

static bool is_shown(const shown *v, uint32_t i)
{
    return !v->few || v->s->points[i].front || v->s->best == i;
}

static void find_scale(shown *v)
{
    ovl_time largest = 0;
    uint64_t most = 0;
    const ovl_sweep *s = v->s;
    for (uint32_t i = 0; i < s->axes.n_points; i++) {
        const ovl_point *p = &s->points[i];
        if (p->state == OVL_POINT_DONE) {
            largest = OVL_MAX(largest, p->figures.value[OVL_M_STEP]);
        }
        for (uint32_t m = OVL_M_LIVE; p->state == OVL_POINT_DONE && m <= OVL_M_PEAK; m++) {
            most = OVL_MAX(most, (uint64_t)p->figures.value[m]);
        }
        v->hidden += !is_shown(v, i);
    }
    v->bytes = ovl_bytes_scale_for(most);
    v->scale = ovl_scale_for(largest);
    for (uint32_t i = 0; i < s->axes.n_points; i++) {
        const ovl_figures *f = &s->points[i].figures;
        for (uint32_t m = 0; s->points[i].state == OVL_POINT_DONE && m < ovl_n_metrics; m++) {
            if ((m < OVL_M_TABLE || m == v->more) && ovl_metrics[m].kind == OVL_METRIC_TIME &&
                is_shown(v, i)) {
                ovl_scale_fit(&v->scale, largest, f->value[m]);
            }
        }
    }
}

static const ovl_point *first_done(const ovl_sweep *s)
{
    for (uint32_t i = 0; i < s->axes.n_points; i++) {
        if (s->points[i].state == OVL_POINT_DONE) {
            return &s->points[i];
        }
    }
    return NULL;
}

static bool same_figure(const ovl_sweep *s, const ovl_point *first, uint32_t m)
{
    for (uint32_t i = 0; i < s->axes.n_points; i++) {
        const ovl_point *p = &s->points[i];
        if (p->state == OVL_POINT_DONE &&
            (ovl_has_figure(&p->figures, m) != ovl_has_figure(&first->figures, m) ||
             p->figures.value[m] != first->figures.value[m])) {
            return false;
        }
    }
    return true;
}

/* What all of several points have in common needs no column; step and memory keep theirs. */
static void find_told(shown *v)
{
    static const uint32_t stay =
        1u << OVL_M_STEP | 1u << OVL_M_LIVE | 1u << OVL_M_ALLOCATED | 1u << OVL_M_PEAK;
    const ovl_point *first = v->s->n_done > 1 ? first_done(v->s) : NULL;
    for (uint32_t m = 0; first && m < OVL_M_TABLE; m++) {
        v->told[m] = !(stay >> m & 1) && same_figure(v->s, first, m);
    }
}

static const char *figure_text(shown *v, const ovl_point *p, uint32_t m)
{
    char buf[OVL_UNITS_TEXT];
    int64_t value = p->figures.value[m];
    if ((m < OVL_M_TABLE && v->told[m]) || p->state != OVL_POINT_DONE ||
        !ovl_has_figure(&p->figures, m)) {
        return NULL;
    }
    if (ovl_metrics[m].kind == OVL_METRIC_TIME) {
        return ovl_arena_strdup(&v->arena, ovl_scale_show(buf, &v->scale, value));
    }
    if (ovl_metrics[m].kind == OVL_METRIC_BYTES) {
        return ovl_arena_strdup(&v->arena, ovl_print_bytes_in(buf, (uint64_t)value, v->bytes));
    }
    return ovl_arena_printf(&v->arena, "%" PRId64, value);
}

static const char *mark_text(shown *v, uint32_t i)
{
    const ovl_sweep *s = v->s;
    const ovl_point *p = &s->points[i];
    if (p->state != OVL_POINT_DONE) {
        return p->state == OVL_POINT_OPEN ? "open" : p->status == OVL_E_STUCK ? "stuck" : "error";
    }
    if (!ovl_point_sound(p)) {
        return "hazards";
    }
    const char *what = !ovl_point_fits(p)         ? "does not fit"
                       : s->best == i             ? "best"
                       : !ovl_point_allowed(s, p) ? "excluded"
                                                  : "";
    const char *place = p->front ? "front" : p->tie != OVL_NONE ? "tie" : "";
    return ovl_arena_printf(&v->arena, "%s%s%s", place, *place && *what ? ", " : "", what);
}

static void table(ovl_out *out, shown *v)
{
    /* A table that is too wide loses the highest of these first. */
    static const unsigned droppable[OVL_M_TABLE] = {[OVL_M_STARTUPS] = 9,
                                                    [OVL_M_IDLE] = 8,
                                                    [OVL_M_PRICE] = 7,
                                                    [OVL_M_HAZARDS] = 3,
                                                    [OVL_M_LIVE] = 2};
    const ovl_sweep *s = v->s;
    ovl_column columns[OVL_GRID_COLUMNS];
    uint32_t n = 0, keys = OVL_MIN(s->axes.n_keys, OVL_GRID_COLUMNS - OVL_M_TABLE - 2);
    bool more = v->more != OVL_NONE;
    for (uint32_t k = 0; k < keys; k++) {
        columns[n++] =
            (ovl_column){ovl_sweep_key_text(s, k, &v->arena), s->axes.n_keys == 1, true, 0};
    }
    if (more) {
        columns[n++] = (ovl_column){ovl_metrics[v->more].name, false, false, 0};
    }
    for (uint32_t m = 0; m < OVL_M_TABLE; m++) {
        columns[n++] = (ovl_column){ovl_metrics[m].name, false, false, droppable[m]};
    }
    columns[n++] = (ovl_column){"mark", true, false, 0};
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, n);
    for (uint32_t i = 0; i < s->axes.n_points; i++) {
        const char *texts[OVL_KEYS_MAX], *cells[OVL_GRID_COLUMNS];
        if (!is_shown(v, i)) {
            continue;
        }
        ovl_axes_texts(&s->axes, i, texts);
        memcpy(cells, texts, keys * sizeof *cells);
        if (more) {
            cells[keys] = figure_text(v, &s->points[i], v->more);
        }
        for (uint32_t m = 0; m < OVL_M_TABLE; m++) {
            cells[keys + more + m] = figure_text(v, &s->points[i], m);
        }
        cells[n - 1] = mark_text(v, i);
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
}

static void told_line(ovl_out *out, shown *v)
{
    const char *text = "";
    const ovl_point *first = first_done(v->s);
    for (uint32_t m = 0; first && m < OVL_M_TABLE; m++) {
        if (v->told[m] && ovl_has_figure(&first->figures, m)) {
            text = ovl_arena_printf(&v->arena, "%s%s%s %s", text, *text ? ", " : "",
                                    ovl_metrics[m].name,
                                    ovl_metric_text(m, first->figures.value[m], &v->arena));
        }
    }
    if (*text) {
        ovl_wrap(out, "  all points: ", 14, text, OVL_TERMINAL);
    }
}

/* --- Head --- */

static const char *name_of(const ovl_sweep *s)
{
    const ovl_node *name = ovl_node_get(s->doc->root, "name");
    return name && name->kind == OVL_NODE_SCALAR ? name->text : s->doc->file;
}

/* The units of the table, behind `text`. */
static const char *units_text(shown *v, const char *text)
{
    const ovl_point *first = first_done(v->s);
    if (!first) {
        return text;
    }
    text = ovl_arena_printf(&v->arena, "%s (times in %s", text, ovl_scale_unit(&v->scale));
    if (ovl_has_figure(&first->figures, OVL_M_PEAK)) {
        text =
            ovl_arena_printf(&v->arena, "%s, memory in %s", text, ovl_bytes_scale_unit(v->bytes));
    }
    return ovl_arena_printf(&v->arena, "%s)", text);
}

static void head(ovl_out *out, shown *v)
{
    const ovl_sweep *s = v->s;
    ovl_report_name(out, name_of(s));
    const char *text = counted(s->axes.n_points, "point", &v->arena);
    for (uint32_t k = 0; k < s->axes.n_keys; k++) {
        text = ovl_arena_printf(&v->arena, "%s%s%s", text, k ? ", " : ": ", s->axes.keys[k].path);
    }
    for (uint32_t i = 0; i < s->axes.n_points && !s->models; i++) {
        if (s->points[i].state == OVL_POINT_DONE) {
            text = ovl_arena_printf(&v->arena, "%s; interference %s", text,
                                    ovl_interference_name(s->points[i].interference));
            break;
        }
    }
    ovl_wrap(out, "", 0, units_text(v, text), OVL_TERMINAL);
    ovl_out_text(out, "\n");
}

/* --- Below the table --- */

static void errors(ovl_out *out, shown *v)
{
    const ovl_sweep *s = v->s;
    const char *told[MOST_ERRORS];
    uint32_t n = 0, left = 0;
    for (uint32_t i = 0; i < s->axes.n_points; i++) {
        const char *text = s->points[i].error;
        uint32_t k = 0, same = 0;
        if (!text) {
            continue;
        }
        while (k < n && strcmp(told[k], text) != 0) {
            k++;
        }
        if (k < n || n == MOST_ERRORS) {
            left += k == n;
            continue;
        }
        told[n++] = text;
        for (uint32_t j = i + 1; j < s->axes.n_points; j++) {
            same += s->points[j].error && strcmp(s->points[j].error, text) == 0;
        }
        const char *lead = ovl_sweep_point_text(s, i, &v->arena);
        if (same) {
            lead = ovl_arena_printf(&v->arena, "%s and %s", lead, counted(same, "more", &v->arena));
            lead = ovl_arena_strndup(&v->arena, lead, strlen(lead) - (same != 1));
        }
        ovl_out_text(out, n == 1 ? "\n" : "");
        ovl_wrap(out, "  ", 4, ovl_arena_printf(&v->arena, "%s: %s", lead, text), OVL_TERMINAL);
    }
    if (left) {
        ovl_out_printf(out, "  and %" PRIu32 " more with other errors: --csv or --json\n", left);
    }
}

/* Keys whose values made no difference to any figure, all else equal. */
static void idle_keys(ovl_out *out, shown *v)
{
    const ovl_axes *axes = &v->s->axes;
    for (uint32_t a = 0; a < axes->n_axes; a++) {
        const char *keys = "";
        for (uint32_t k = 0; k < axes->axes[a].n_keys && v->s->idle_axis[a]; k++) {
            keys = ovl_arena_printf(&v->arena, "%s%s%s", keys, k ? ", " : "",
                                    axes->keys[axes->axes[a].first_key + k].path);
        }
        if (*keys) {
            ovl_wrap(out, "No effect: ", 11,
                     ovl_arena_printf(&v->arena, "%s: whatever the value, every figure is the same",
                                      keys),
                     OVL_TERMINAL);
        }
    }
}

static const char *metrics_text(const ovl_metric_list *list, ovl_arena *arena)
{
    const char *text = "";
    for (uint32_t k = 0; k < list->n; k++) {
        text = ovl_arena_printf(arena, "%s%s%s", text,
                                !k                ? ""
                                : k + 1 < list->n ? ", "
                                                  : " against ",
                                ovl_metrics[list->item[k]].name);
    }
    return text;
}

static void front_line(ovl_out *out, shown *v)
{
    const ovl_sweep *s = v->s;
    if (s->front_of.n == 0) {
        return;
    }
    const char *text = ovl_arena_printf(&v->arena, "%" PRIu32 " of %s, by %s", s->n_front,
                                        counted(s->axes.n_points, "point", &v->arena),
                                        metrics_text(&s->front_of, &v->arena));
    if (s->n_ties) {
        text = ovl_arena_printf(&v->arena, "%s; %" PRIu32 " more %s one of them", text, s->n_ties,
                                s->n_ties == 1 ? "ties with" : "tie with");
    }
    for (uint32_t k = 0; k < s->wanted.n; k++) {
        bool there = false;
        for (uint32_t f = 0; f < s->front_of.n; f++) {
            there |= s->front_of.item[f] == s->wanted.item[k];
        }
        if (!there) {
            text = ovl_arena_printf(&v->arena, "%s; %s is not known of any point", text,
                                    ovl_metrics[s->wanted.item[k]].name);
        }
    }
    if (v->hidden) {
        text = ovl_arena_printf(&v->arena, "%s; the other %" PRIu32 " are shown by --rows all",
                                text, v->hidden);
    }
    ovl_wrap(out, "Front: ", 7, text, OVL_TERMINAL);
}

static void add_reason(const char **text, uint32_t n, const char *what, ovl_arena *arena)
{
    if (n) {
        *text = ovl_arena_printf(arena, "%s%s%" PRIu32 " %s", *text, **text ? ", " : "", n, what);
    }
}

/* Why points are not looked at. */
static const char *left_out(shown *v)
{
    const ovl_sweep *s = v->s;
    const char *text = "";
    add_reason(&text, s->n_too_large, s->n_too_large == 1 ? "does not fit" : "do not fit",
               &v->arena);
    add_reason(&text, s->n_excluded, "excluded by --where", &v->arena);
    add_reason(&text, s->n_hazards, "with hazards", &v->arena);
    add_reason(&text, s->n_failed, "with errors", &v->arena);
    add_reason(&text, s->axes.n_points - s->n_done - s->n_failed, "not simulated", &v->arena);
    return text;
}

/* A step that does less is shorter: no reason to choose it. */
static const char *other_work(const ovl_sweep *s, ovl_arena *a)
{
    bool by_step = s->objective == OVL_M_STEP;
    if (s->least_work == s->most_work || !(by_step || !s->objective_given)) {
        return "";
    }
    return ovl_arena_printf(
        a, "; the points do different work, %" PRId64 " to %" PRId64 " microbatches: %s",
        s->least_work, s->most_work,
        by_step ? "--objective per_microbatch compares what is done"
                : "what one takes is compared, --objective step compares steps");
}

static void best_line(ovl_out *out, shown *v)
{
    const ovl_sweep *s = v->s;
    ovl_arena *a = &v->arena;
    const char *text = "none", *left = left_out(v);
    if (s->best != OVL_NONE) {
        const ovl_point *p = &s->points[s->best];
        text = ovl_arena_printf(a, "%s: %s %s", ovl_sweep_point_text(s, s->best, a),
                                ovl_metrics[s->objective].name,
                                ovl_metric_text(s->objective, p->figures.value[s->objective], a));
        for (uint32_t k = 0; k < s->front_of.n; k++) {
            uint32_t m = s->front_of.item[k];
            if (m != s->objective && ovl_has_figure(&p->figures, m)) {
                text = ovl_arena_printf(a, "%s, %s %s", text, ovl_metrics[m].name,
                                        ovl_metric_text(m, p->figures.value[m], a));
            }
        }
    }
    for (uint32_t i = 0; i < s->n_where; i++) {
        text = ovl_arena_printf(a, "%s%s%s", text, i ? ", " : "; where ", s->where[i].text);
    }
    text = *left ? ovl_arena_printf(a, "%s; left out: %s", text, left) : text;
    if (s->best != OVL_NONE) {
        text = ovl_arena_printf(a, "%s%s", text, other_work(s, a));
    }
    if (s->best != OVL_NONE && s->points[s->best].figures.value[OVL_M_RETRIES] > 0) {
        text = ovl_arena_printf(a, "%s; the time of its retries is not modelled", text);
    }
    if (s->models && s->best != OVL_NONE) {
        text = ovl_arena_printf(
            a, "%s; the points differ in their interference model, so what wins may be a model",
            text);
    }
    ovl_wrap(out, "Best: ", 6, text, OVL_TERMINAL);
}

/* --- What each step costs --- */

/* The keys of the axis, or what they are at a point: "2", "2, 4". */
static const char *axis_text(shown *v, const char *const *texts)
{
    const ovl_sweep_axis *axis = &v->s->axes.axes[v->s->ordered];
    const char *text = "";
    bool same = true;
    for (uint32_t k = 0; k < axis->n_keys; k++) {
        uint32_t key = axis->first_key + k;
        const char *part = texts ? texts[key] : ovl_sweep_key_text(v->s, key, &v->arena);
        same &= texts && strcmp(part, texts[axis->first_key]) == 0;
        text = ovl_arena_printf(&v->arena, "%s%s%s", text, k ? ", " : "", part);
    }
    return same ? texts[axis->first_key] : text;
}

static const char *step_text(shown *v, const ovl_sweep_step *step)
{
    const char *from[OVL_KEYS_MAX], *to[OVL_KEYS_MAX];
    ovl_axes_texts(&v->s->axes, step->from, from);
    ovl_axes_texts(&v->s->axes, step->to, to);
    return ovl_arena_printf(&v->arena, "%s -> %s", axis_text(v, from), axis_text(v, to));
}

/* The keys of the other axes. */
static const char *rest_text(shown *v, uint32_t i)
{
    const ovl_sweep_axis *axis = &v->s->axes.axes[v->s->ordered];
    const char *texts[OVL_KEYS_MAX], *text = "";
    ovl_axes_texts(&v->s->axes, i, texts);
    for (uint32_t k = 0; k < v->s->axes.n_keys; k++) {
        if ((k < axis->first_key || k >= axis->first_key + axis->n_keys) && texts[k]) {
            text = ovl_arena_printf(&v->arena, "%s%s%s %s", text, *text ? ", " : "",
                                    ovl_sweep_key_text(v->s, k, &v->arena), texts[k]);
        }
    }
    return *text ? text : NULL;
}

static const char *price_text(shown *v, const ovl_sweep_step *step, int64_t bytes)
{
    if (!step->has_price) {
        return NULL;
    }
    return ovl_arena_printf(&v->arena, "%s%s", bytes > 0 ? "+" : "",
                            ovl_metric_text(OVL_M_PEAK, bytes, &v->arena));
}

/* What counts is what the GPU must have; where that is the same, what was asked for, or held. */
static int64_t price_of(const ovl_sweep_step *step, const char **of)
{
    *of = step->peak ? "" : step->allocated ? " allocated" : " live";
    return step->peak ? step->peak : step->allocated ? step->allocated : step->live;
}

/* What a millisecond costs, or what else the step is good for. */
static const char *verdict_text(shown *v, const ovl_sweep_step *step)
{
    char buf[OVL_UNITS_TEXT];
    const char *of;
    int64_t price = price_of(step, &of), gain = ovl_sweep_units(v->s, step->gain);
    if (gain == 0) {
        return price > 0 ? "buys nothing" : price < 0 ? "saves memory" : "no change";
    }
    if (gain < 0) {
        return price < 0 ? "saves memory for time" : "costs time";
    }
    if (!step->has_price) {
        return NULL;
    }
    if (price <= 0) {
        return price < 0 ? "saves both" : "free";
    }
    double bytes = (double)price / ((double)step->gain / (double)OVL_MS);
    return ovl_arena_printf(&v->arena, "%s%s for each ms",
                            ovl_print_bytes(buf, (uint64_t)OVL_MIN(bytes, 1e18)), of);
}

/* Whether a step leaves the other axes as they are at the best point. */
static bool beside_best(const ovl_sweep *s, const ovl_sweep_step *step)
{
    uint32_t own[OVL_KEYS_MAX], best[OVL_KEYS_MAX];
    ovl_axes_rows(&s->axes, step->from, own);
    ovl_axes_rows(&s->axes, s->best, best);
    own[s->ordered] = best[s->ordered];
    return memcmp(own, best, s->axes.n_axes * sizeof *own) == 0;
}

/* Where there are many, those that the best point is one of. */
static void steps(ovl_out *out, shown *v)
{
    const ovl_sweep *s = v->s;
    if (s->n_steps == 0 || v->few) {
        return;
    }
    bool all = s->n_steps <= MOST_STEPS || s->best == OVL_NONE;
    uint32_t n = 0, of = ovl_sweep_gain_of(s);
    const char *keys = axis_text(v, NULL);
    const ovl_column columns[] = {
        {keys, true, true, 0},
        {"with", true, OVL_GRID_WRAP, 0},
        {ovl_arena_printf(&v->arena, "gain (%s)", ovl_scale_unit(&v->scale)), false, false, 0},
        {"live", false, false, 9},
        {"allocated", false, false, 8},
        {"peak", false, false, 0},
        {"so it", true, false, 0},
    };
    ovl_grid grid;
    ovl_out_text(out, "\n");
    ovl_out_title(out, "What each step of %s buys%s", keys,
                  of == OVL_M_STEP ? "" : ", in time of a microbatch");
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < s->n_steps && n < MOST_STEPS; i++) {
        char buf[OVL_UNITS_TEXT];
        const ovl_sweep_step *step = &s->steps[i];
        if (!all && !beside_best(s, step)) {
            continue;
        }
        n++;
        ovl_time a = ovl_scale_round(&v->scale, s->points[step->from].figures.value[of]);
        ovl_time b = ovl_scale_round(&v->scale, s->points[step->to].figures.value[of]);
        const char *cells[] = {
            step_text(v, step),
            rest_text(v, step->from),
            ovl_arena_strdup(&v->arena, ovl_scale_show(buf, &v->scale, a - b)),
            price_text(v, step, step->live),
            price_text(v, step, step->allocated),
            price_text(v, step, step->peak),
            verdict_text(v, step),
        };
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
    if (n < s->n_steps) {
        ovl_out_printf(out, "  and %" PRIu32 " more%s: --json\n", s->n_steps - n,
                       all ? "" : " with other values of the other keys");
    }
}

void ovl_sweep_text(ovl_out *out, const ovl_sweep *s)
{
    shown v = {.s = s, .few = !s->all_rows && s->axes.n_points > MOST_ROWS};
    v.more = s->objective < OVL_M_TABLE ? OVL_NONE : s->objective;
    find_scale(&v);
    find_told(&v);
    head(out, &v);
    table(out, &v);
    told_line(out, &v);
    errors(out, &v);
    ovl_out_text(out, "\n");
    front_line(out, &v);
    best_line(out, &v);
    idle_keys(out, &v);
    ovl_sweep_idle_text(out, s);
    steps(out, &v);
    ovl_arena_free(&v.arena);
}
