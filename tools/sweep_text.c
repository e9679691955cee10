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

/* --- The table --- */

typedef struct shown {
    const ovl_sweep *s;
    ovl_arena arena;
    ovl_scale scale;
    ovl_bytes_scale bytes; /* of the largest */
    bool few;              /* only the front is shown */
    uint32_t hidden, hidden_ties;
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
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
        const ovl_point *p = &s->points[i];
        if (p->state == OVL_POINT_DONE) {
            largest = OVL_MAX(largest, p->figures.value[OVL_M_STEP]);
        }
        for (uint32_t m = OVL_M_LIVE; p->state == OVL_POINT_DONE && m <= OVL_M_PEAK; m++) {
            most = OVL_MAX(most, (uint64_t)p->figures.value[m]);
        }
        v->hidden += !is_shown(v, i);
        v->hidden_ties += !is_shown(v, i) && p->tie != OVL_NONE;
    }
    v->bytes = ovl_bytes_scale_for(most);
    v->scale = ovl_scale_for(largest);
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
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
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
        if (s->points[i].state == OVL_POINT_DONE) {
            return &s->points[i];
        }
    }
    return NULL;
}

static bool same_figure(const ovl_sweep *s, const ovl_point *first, uint32_t m)
{
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
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

/* `idle` is what the deciding rank's step has of it; all ranks together may idle much longer. */
static const char *figure_name(uint32_t m)
{
    return m == OVL_M_IDLE ? "idle term" : ovl_metrics[m].name;
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

/* Columns that the width of a terminal has no room for. */
static const char *left_out_text(shown *v, const ovl_grid *grid)
{
    uint32_t columns[OVL_GRID_COLUMNS], n = ovl_grid_left_out(grid, 2, columns);
    const char *text = "";
    for (uint32_t i = 0; i < n; i++) {
        text = ovl_arena_printf(&v->arena, "%s%s%s", text, i ? ", " : "",
                                grid->columns[columns[i]].heading);
    }
    return n ? ovl_arena_printf(&v->arena, "no room for: %s; --csv and --json have them", text)
             : "";
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
        columns[n++] = (ovl_column){figure_name(m), false, false, droppable[m]};
    }
    columns[n++] = (ovl_column){"mark", true, false, 0};
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, n);
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
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
    const char *left = left_out_text(v, &grid);
    ovl_grid_end(&grid, out, 2);
    if (*left) {
        ovl_wrap(out, "  ", 4, left, OVL_TERMINAL);
    }
}

static void told_line(ovl_out *out, shown *v)
{
    const char *text = "";
    const ovl_point *first = first_done(v->s);
    for (uint32_t m = 0; first && m < OVL_M_TABLE; m++) {
        if (v->told[m] && ovl_has_figure(&first->figures, m)) {
            text = ovl_arena_printf(&v->arena, "%s%s%s %s", text, *text ? ", " : "", figure_name(m),
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
    const char *text = ovl_counted(&v->arena, s->axes.n_points, "point");
    for (uint32_t k = 0; k < s->axes.n_keys; k++) {
        text = ovl_arena_printf(&v->arena, "%s%s%s", text, k ? ", " : ": ", s->axes.keys[k].path);
    }
    for (uint32_t i = 0; i < ovl_sweep_reach(s) && !s->models; i++) {
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
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
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
        for (uint32_t j = i + 1; j < ovl_sweep_reach(s); j++) {
            same += s->points[j].error && strcmp(s->points[j].error, text) == 0;
        }
        const char *lead = ovl_sweep_point_text(s, i, &v->arena);
        if (same) {
            lead = ovl_arena_printf(&v->arena, "%s and %s", lead,
                                    ovl_counted(&v->arena, same, "more"));
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
    uint32_t n = s->n_done + s->n_failed;
    const char *text = ovl_arena_printf(
        &v->arena, "%" PRIu32 " of %s%s, by %s", s->n_front, ovl_counted(&v->arena, n, "point"),
        n < s->axes.n_points ? " that are done" : "", metrics_text(&s->front_of, &v->arena));
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
        text = ovl_arena_printf(&v->arena, "%s; %s%" PRIu32 " are shown by --rows all", text,
                                v->hidden_ties ? "these and the other " : "the other ",
                                v->hidden - v->hidden_ties);
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

/* "32768 to 65536 tokens", "0.12 to 0.3 PFLOP". */
static const char *work_text(const ovl_sweep *s, ovl_arena *a)
{
    double unit = s->unit == OVL_PER_TOKENS ? 1e6 : 1;
    if (s->unit == OVL_PER_FLOPS) {
        return ovl_arena_printf(a, "the FLOPs of other models, %.4g to %.4g PFLOP", s->least_work,
                                s->most_work);
    }
    return ovl_arena_printf(a, "different work, %.0f to %.0f %s", s->least_work * unit,
                            s->most_work * unit,
                            s->unit == OVL_PER_TOKENS ? "tokens" : "microbatches");
}

/* Tokens that take other FLOPs, by longer sequences or in other models, are not quite alike. */
static const char *flops_text(const ovl_sweep *s, ovl_arena *a)
{
    bool alike = s->unit == OVL_PER_FLOPS || s->most_flops <= s->least_flops * 1.001;
    return alike ? ""
                 : ovl_arena_printf(a, " of %.4g to %.4g GFLOP each", s->least_flops / 1e9,
                                    s->most_flops / 1e9);
}

/* A step that does less is shorter: no reason to choose it. */
static const char *other_work(const ovl_sweep *s, ovl_arena *a)
{
    static const char *const takes[] = {"what one takes", "what a million takes",
                                        "what one PFLOP takes"};
    bool by_step = s->objective == OVL_M_STEP;
    if (s->unit == OVL_PER_COUNT || !(by_step || !s->objective_given)) {
        return "";
    }
    const char *what = by_step
                           ? ovl_arena_printf(a, "--objective %s compares what is done",
                                              ovl_metrics[ovl_metric_per(s->unit)].name)
                           : ovl_arena_printf(a, "%s is compared, --objective step compares steps",
                                              takes[s->unit]);
    return ovl_arena_printf(a, "; the points do %s%s: %s", work_text(s, a),
                            s->unit == OVL_PER_TOKENS ? flops_text(s, a) : "", what);
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
    bool partly = s->n_done + s->n_failed < s->axes.n_points;
    ovl_wrap(out, partly ? "Best so far: " : "Best: ", 6, text, OVL_TERMINAL);
}

/* "peak 2.016 GiB misses peak<=1GiB by 1.016 GiB", of each constraint that is missed. */
static void closest_line(ovl_out *out, shown *v)
{
    const ovl_sweep *s = v->s;
    ovl_arena *a = &v->arena;
    const char *text = "";
    if (s->closest == OVL_NONE) {
        return;
    }
    const ovl_figures *f = &s->points[s->closest].figures;
    for (uint32_t i = 0; i < s->n_where; i++) {
        const ovl_where *w = &s->where[i];
        if (!ovl_where_holds(w, f) && ovl_where_miss(w, f) == 0) { /* a limit that is excluded */
            text = ovl_arena_printf(a, "%s%s%s %s is just the limit of %s", text, *text ? ", " : "",
                                    ovl_metrics[w->metric].name,
                                    ovl_metric_text(w->metric, f->value[w->metric], a), w->text);
        } else if (!ovl_where_holds(w, f)) {
            text = ovl_arena_printf(a, "%s%s%s %s misses %s by %s", text, *text ? ", " : "",
                                    ovl_metrics[w->metric].name,
                                    ovl_metric_text(w->metric, f->value[w->metric], a), w->text,
                                    ovl_metric_text(w->metric, ovl_where_miss(w, f), a));
        }
    }
    ovl_wrap(out, "Closest: ", 9,
             ovl_arena_printf(a, "%s: %s", ovl_sweep_point_text(s, s->closest, a), text),
             OVL_TERMINAL);
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
    closest_line(out, &v);
    idle_keys(out, &v);
    ovl_sweep_idle_text(out, s);
    ovl_sweep_steps_text(out, s, &v.scale, v.few);
    ovl_arena_free(&v.arena);
}
