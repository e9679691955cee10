/* What an optimisation found, as text and JSON. */
#include "tools/optimize.h"

#include "models/node_text.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/wrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *objective(const ovl_optimize *o, int64_t value, ovl_arena *a)
{
    return ovl_arena_printf(a, "%s %s", ovl_metrics[o->start->objective].name,
                            ovl_metric_text(o->start->objective, value, a));
}

static int64_t value_of(const ovl_optimize *o, const ovl_candidate *c)
{
    return c->point.figures.value[o->start->objective];
}

static const char *conditions(const ovl_optimize *o, ovl_arena *a)
{
    const char *text = "";
    for (uint32_t i = 0; i < o->start->n_where; i++) {
        text = ovl_arena_printf(a, "%s%s%s", text, i ? ", " : "; where ", o->start->where[i].text);
    }
    return text;
}

static void head(ovl_out *out, const ovl_optimize *o, ovl_arena *a)
{
    const ovl_node *name = ovl_node_get(o->start->doc->root, "name");
    ovl_report_name(out, name && name->kind == OVL_NODE_SCALAR ? name->text : o->start->doc->file);
    ovl_wrap(out, "", 0,
             ovl_arena_printf(a, "least %s%s; interference %s",
                              ovl_metrics[o->start->objective].name, conditions(o, a),
                              ovl_interference_name(o->first.point.interference)),
             OVL_TERMINAL);
    ovl_out_text(out, "\n");
    ovl_out_printf(out, "Start: %s, %s%s\n", o->start->variant ? o->start->variant : "base",
                   objective(o, value_of(o, &o->first), a),
                   ovl_candidate_good(o, &o->first) ? "" : ", which is no answer itself");
    for (uint32_t i = 0; i < o->n_searched; i++) {
        ovl_wrap(out, i ? "       " : "Tried: ", 7, o->searched[i], OVL_TERMINAL);
    }
    if (o->n_searched == 0) {
        ovl_wrap(out, "Tried: ", 7, "nothing but the start", OVL_TERMINAL);
    }
    ovl_wrap(out, "       ", 7,
             ovl_arena_printf(a,
                              "%s simulation%s of at most %s%s, %s of them without an answer "
                              "(errors, hazards, too large, or excluded)",
                              ovl_grouped(o->simulated, a), o->simulated == 1 ? "" : "s",
                              ovl_grouped(o->tries, a), o->signal ? ", then interrupted" : "",
                              ovl_grouped(o->useless, a)),
             OVL_TERMINAL);
    if (o->failed) {
        ovl_wrap(out, "       ", 7,
                 ovl_arena_printf(a, "%s failed%s%s", ovl_grouped(o->failed, a),
                                  o->failed == 1 ? ": " : ", the first with: ", o->first_error),
                 OVL_TERMINAL);
    }
}

/* Of the best, or where nothing is gained of the start. */
static void bound(ovl_out *out, const ovl_optimize *o, ovl_arena *a)
{
    char buf[OVL_UNITS_TEXT];
    if (!o->n_best || !o->bound_text) {
        return;
    }
    if (o->bound == OVL_NEVER) {
        ovl_wrap(out, "Bound: ", 7, o->bound_text, OVL_TERMINAL);
        return;
    }
    int64_t is = value_of(o, ovl_optimize_gains(o) ? &o->best[0] : &o->first);
    ovl_time gap = is - o->bound;
    ovl_wrap(out, "Bound: ", 7,
             ovl_arena_printf(a, "%s is shorter than %s (%s); the gap is %s, %.2g %% of %s",
                              o->bound_of, ovl_print_time(buf, o->bound), o->bound_text,
                              ovl_metric_text(OVL_M_STEP, gap, a),
                              100.0 * (double)gap / (double)OVL_MAX(1, is),
                              ovl_optimize_gains(o) ? "the best" : "the start"),
             OVL_TERMINAL);
}

/* One end of a range, as far as it was looked: "0.5 times or less", "7 ms earlier or more". A shift
 * has no more digits than the search for the edge has. */
static const char *edge_text(const ovl_stays *s, double value, bool open, ovl_arena *a)
{
    char buf[OVL_UNITS_TEXT], digits[32];
    if (s->factor) {
        snprintf(digits, sizeof digits, "%.3g", value);
        return strcmp(digits, "1") == 0 ? "as stated"
                                        : ovl_arena_printf(a, "%s times%s", digits,
                                                           !open       ? ""
                                                           : value < 1 ? " or less"
                                                                       : " or more");
    }
    snprintf(digits, sizeof digits, "%.3g", fabs(value));
    ovl_time shown = (ovl_time)strtod(digits, NULL);
    return shown == 0 ? "as stated"
                      : ovl_arena_printf(a, "%s %s%s", ovl_print_time(buf, shown),
                                         value > 0 ? "later" : "earlier", open ? " or more" : "");
}

/* --- Candidates as variants --- */

#define SHORT 100 /* characters of a variant that still stand on one line */

static bool is_list_of_lists(const ovl_node *node)
{
    return node && node->kind == OVL_NODE_LIST && node->count &&
           node->items[0]->kind == OVL_NODE_LIST;
}

/* On one line if it fits; else a line for each setting, and for each item of a list of lists. */
static void variant(ovl_out *out, const ovl_optimize *o, const char *name, const ovl_candidate *c,
                    ovl_arena *a)
{
    const char *yaml = ovl_candidate_yaml(o, c, a);
    uint32_t n;
    if (strlen(yaml) <= SHORT) {
        ovl_out_printf(out, "  %s: %s\n", name, yaml);
        return;
    }
    const ovl_setting *list = ovl_candidate_settings(o, c, &n, a);
    ovl_out_printf(out, "  %s:\n", name);
    for (uint32_t i = 0; i < n; i++) {
        const ovl_node *node = list[i].node;
        bool items = is_list_of_lists(node) && strlen(list[i].value) > SHORT;
        ovl_out_printf(out, "    %s:%s%s\n", ovl_yaml_scalar_text(list[i].path, false, a),
                       items ? "" : " ", items ? "" : list[i].value);
        for (uint32_t k = 0; items && k < node->count; k++) {
            ovl_out_printf(out, "      - %s\n", ovl_node_text(node->items[k], a));
        }
    }
}

/* The start, the variant itself if it is short, or the name it is printed under. */
static const char *rival_text(const ovl_optimize *o, const ovl_candidate *c, const char *name,
                              ovl_arena *a)
{
    const char *yaml = ovl_candidate_yaml(o, c, a);
    return c->n_sets == 0 && !c->variant ? "the start" : strlen(yaml) <= SHORT ? yaml : name;
}

static void long_rival(ovl_out *out, const ovl_optimize *o, const ovl_candidate *c,
                       const char *name, ovl_arena *a)
{
    if (c && rival_text(o, c, name, a) == name) {
        variant(out, o, name, c, a);
    }
}

/* "below_1", "above_2": of the range of that number. */
static const char *rival_name(const char *side, uint32_t i, ovl_arena *a)
{
    return ovl_arena_printf(a, "%s_%" PRIu32, side, i + 1);
}

static void range(ovl_out *out, const ovl_optimize *o, uint32_t i, ovl_arena *a)
{
    const ovl_stays *s = &o->stays[i];
    const char *below = rival_name("below", i, a), *above = rival_name("above", i, a);
    const char *low = edge_text(s, s->low, s->low_open, a);
    const char *high = edge_text(s, s->high, s->high_open, a);
    const char *text = strcmp(low, high) == 0
                           ? ovl_arena_printf(a, "%s: only %s", s->what, low)
                           : ovl_arena_printf(a, "%s: from %s to %s", s->what, low, high);
    if (s->below) {
        text = ovl_arena_printf(a, "%s; below that %s is better", text,
                                rival_text(o, s->below, below, a));
    }
    if (s->above) {
        text = ovl_arena_printf(a, "%s; above that %s is better", text,
                                rival_text(o, s->above, above, a));
    }
    ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
    long_rival(out, o, s->below, below, a);
    long_rival(out, o, s->above, above, a);
}

static void stays(ovl_out *out, const ovl_optimize *o, ovl_arena *a)
{
    if (o->n_stays || o->n_not_looked) {
        ovl_out_text(out, "\n");
        ovl_out_title(out,
                      o->n_best == 1 ? "How far it stays better than the start"
                                     : "How far it stays the best of the %" PRIu32
                                       " best and the start",
                      o->n_best);
    }
    for (uint32_t i = 0; i < o->n_stays; i++) {
        range(out, o, i, a);
    }
    for (uint32_t i = 0; i < o->n_not_looked; i++) {
        ovl_wrap(out, "  ", 4, o->not_looked[i], OVL_TERMINAL);
    }
}

/* The second of all that were tried, which the best must be chosen over. */
static void runner_up(ovl_out *out, const ovl_optimize *o, ovl_arena *a)
{
    if (o->n_best < 2) {
        return;
    }
    const ovl_candidate *second = &o->best[1];
    int64_t more = value_of(o, second) - value_of(o, &o->best[0]);
    const char *text = ovl_arena_printf(
        a, "%s, %s", objective(o, value_of(o, second), a),
        more ? ovl_arena_printf(a, "%s more", ovl_metric_text(o->start->objective, more, a))
             : "the same");
    bool small = rival_text(o, second, "", a)[0];
    ovl_wrap(out, "Runner-up: ", 7,
             small ? ovl_arena_printf(a, "%s: %s", text, rival_text(o, second, "", a)) : text,
             OVL_TERMINAL);
    if (!small) {
        variant(out, o, "second", second, a);
    }
}

/* A step that does less is shorter: no gain by itself. */
static void other_work(ovl_out *out, const ovl_optimize *o, const ovl_comparison *c, ovl_arena *a)
{
    const char *was = c->a->gradient_scale, *is = c->b->gradient_scale;
    if (was && is && strcmp(was, is) != 0 && ovl_per_of(o->start->objective) == OVL_PER_COUNT) {
        ovl_wrap(
            out, "Beware: ", 8,
            ovl_arena_printf(a,
                             "it does other work: gradients of the start carry %s, of the best "
                             "%s; --objective per_microbatch compares what is done",
                             was, is),
            OVL_TERMINAL);
    }
}

static void answer(ovl_out *out, const ovl_optimize *o, const ovl_comparison *c, ovl_arena *a)
{
    const ovl_candidate *best = &o->best[0];
    int64_t gain = value_of(o, &o->first) - value_of(o, best);
    double percent = 100.0 * (double)gain / (double)OVL_MAX(1, value_of(o, &o->first));
    ovl_wrap(out, "Best:  ", 7,
             ovl_arena_printf(a, "%s, %s less (%.2g %%)", objective(o, value_of(o, best), a),
                              ovl_metric_text(o->start->objective, gain, a), percent),
             OVL_TERMINAL);
    bound(out, o, a);
    if (c) {
        other_work(out, o, c, a);
    }
    ovl_out_text(out, "\nvariants:\n");
    variant(out, o, "optimized", best, a);
    ovl_out_text(out, "\n");
    runner_up(out, o, a);
    stays(out, o, a);
}

/* Of each constraint that nothing satisfies, what comes closest. */
static void constraints(ovl_out *out, const ovl_optimize *o, ovl_arena *a)
{
    for (uint32_t i = 0; i < o->start->n_where; i++) {
        const ovl_where *w = &o->start->where[i];
        ovl_figures figures = {.has = UINT32_C(1) << w->metric};
        figures.value[w->metric] = o->reached[i];
        if (!o->seen[i]) {
            ovl_out_printf(out, "  %s: %s is not known of any of them\n", w->text,
                           ovl_metrics[w->metric].name);
        } else if (!ovl_where_holds(w, &figures)) {
            ovl_out_printf(out, "  %s: the closest is %s\n", w->text,
                           ovl_metric_text(w->metric, o->reached[i], a));
        }
    }
}

static const char *closest(const ovl_optimize *o, ovl_arena *a)
{
    const char *yaml = ovl_candidate_yaml(o, ovl_optimize_closest(o), a);
    return strlen(yaml) <= 4 * SHORT ? yaml : "the variant below";
}

/* The verdict of the comparison is about the step, and about every picosecond of it. */
static const char *why(const ovl_optimize *o, const ovl_comparison *c, ovl_arena *a)
{
    const int64_t is = value_of(o, ovl_optimize_closest(o)), was = value_of(o, &o->first);
    const char *name = ovl_metrics[o->start->objective].name;
    if (is != was && llabs(is - was) < ovl_optimize_finest(o)) {
        return ovl_arena_printf(
            a, "%s of both differs by less than a billionth, which counts as equal", name);
    }
    if (o->start->objective == OVL_M_STEP) {
        return c->sentence;
    }
    return is == was ? ovl_arena_printf(a, "%s is the same", name)
                     : ovl_arena_printf(a, "%s of the closest is %s %s", name,
                                        ovl_metric_text(o->start->objective, llabs(is - was), a),
                                        is > was ? "more" : "less");
}

/* The comparison is of the start with the candidate that comes closest: its verdict says why. */
static void no_gain(ovl_out *out, const ovl_optimize *o, const ovl_comparison *c, ovl_arena *a)
{
    const bool start = ovl_candidate_good(o, &o->first);
    const char *text = o->simulated == 1 ? "No gain: nothing but the start was tried"
                       : start           ? "No gain: of what was tried the start alone is an answer"
                                         : "No gain: nothing that was tried is an answer";
    if (o->n_best) {
        text = ovl_arena_printf(a,
                                "No gain%s: nothing that was tried beats the start; %s comes "
                                "closest with %s",
                                o->signal ? " until it was interrupted" : "", closest(o, a),
                                objective(o, value_of(o, ovl_optimize_closest(o)), a));
    }
    ovl_wrap(out, "", 9, text, OVL_TERMINAL);
    if (!o->n_best && !start) {
        constraints(out, o, a);
    }
    if (o->n_best && strlen(ovl_candidate_yaml(o, ovl_optimize_closest(o), a)) > 4 * SHORT) {
        variant(out, o, "closest", ovl_optimize_closest(o), a);
    }
    bound(out, o, a);
    if (c) {
        ovl_wrap(out, "Why:   ", 7, why(o, c, a), OVL_TERMINAL);
    }
}

void ovl_optimize_text(ovl_out *out, const ovl_optimize *o, const ovl_comparison *comparison)
{
    ovl_arena a = {0};
    head(out, o, &a);
    if (ovl_optimize_gains(o)) {
        answer(out, o, comparison, &a);
    } else {
        no_gain(out, o, comparison, &a);
    }
    if (comparison) {
        ovl_out_text(out, "\n");
        ovl_compare_text(out, comparison);
    }
    ovl_arena_free(&a);
}

/* --- JSON --- */

static void figure(ovl_json *json, const char *key, const ovl_optimize *o, int64_t value)
{
    if (ovl_metrics[o->start->objective].kind == OVL_METRIC_TIME) {
        ovl_json_seconds(json, key, value);
    } else {
        ovl_json_int(json, key, value);
    }
}

static void rival_json(ovl_json *json, const ovl_optimize *o, const char *key,
                       const ovl_candidate *c, ovl_arena *a)
{
    if (c) {
        ovl_json_text(json, key,
                      c->n_sets || c->variant ? ovl_candidate_yaml(o, c, a) : "the start");
    }
}

static void stays_json(ovl_json *json, const ovl_optimize *o, const ovl_stays *s, ovl_arena *a)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "what", s->what);
    if (s->factor) {
        ovl_json_double(json, "low_factor", s->low);
        ovl_json_double(json, "high_factor", s->high);
    } else {
        ovl_json_seconds(json, "low_shift_s", (ovl_time)s->low);
        ovl_json_seconds(json, "high_shift_s", (ovl_time)s->high);
    }
    ovl_json_bool(json, "low_open", s->low_open);
    ovl_json_bool(json, "high_open", s->high_open);
    rival_json(json, o, "below", s->below, a);
    rival_json(json, o, "above", s->above, a);
    ovl_json_close(json);
}

static void lists(ovl_json *json, const ovl_optimize *o, ovl_arena *a)
{
    ovl_json_array(json, "tried", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < o->n_searched; i++) {
        ovl_json_text(json, NULL, o->searched[i]);
    }
    ovl_json_close(json);
    ovl_json_array(json, "best", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < o->n_best; i++) {
        ovl_json_object(json, NULL, OVL_JSON_FLOW);
        ovl_json_text(json, "variant", ovl_candidate_yaml(o, &o->best[i], a));
        figure(json, "value", o, value_of(o, &o->best[i]));
        ovl_json_close(json);
    }
    ovl_json_close(json);
    ovl_json_array(json, "not_looked", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < o->n_not_looked; i++) {
        ovl_json_text(json, NULL, o->not_looked[i]);
    }
    ovl_json_close(json);
    ovl_json_array(json, "stays", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < o->n_stays; i++) {
        stays_json(json, o, &o->stays[i], a);
    }
    ovl_json_close(json);
}

void ovl_optimize_json(ovl_out *out, const ovl_optimize *o, const ovl_comparison *comparison)
{
    ovl_arena a = {0};
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "schema", "overlapsim.optimize/1");
    ovl_json_text(&json, "objective", ovl_metrics[o->start->objective].name);
    figure(&json, "start", o, value_of(o, &o->first));
    ovl_json_bool(&json, "gain", ovl_optimize_gains(o));
    ovl_json_uint(&json, "simulations", o->simulated);
    ovl_json_uint(&json, "no_answers", o->useless);
    ovl_json_uint(&json, "failed", o->failed);
    ovl_json_text_if(&json, "first_error", o->first_error);
    ovl_json_bool(&json, "interrupted", o->signal != 0);
    lists(&json, o, &a);
    ovl_json_seconds_if(&json, "bound_s", o->bound);
    ovl_json_text_if(&json, "bound_why", o->bound_text);
    if (comparison) {
        ovl_json_text(&json, "sentence", comparison->sentence);
        ovl_report_json_member(&json, "a", comparison->a);
        ovl_report_json_member(&json, "b", comparison->b);
    }
    ovl_json_close(&json);
    ovl_json_end(&json);
    ovl_arena_free(&a);
}
