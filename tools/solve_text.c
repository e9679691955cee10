/* The answer to an inverse question as text and JSON. */
#include "tools/report.h"
#include "tools/solve.h"
#include "tools/wrap.h"

#include <math.h>
#include <string.h>

static const char *figure(const ovl_solve *q, int64_t value, ovl_arena *arena)
{
    return ovl_metric_text(q->target.metric, value, arena);
}

/* To six digits: what is measured has no more. */
static const char *shown(const ovl_solve *q, double value, ovl_arena *arena)
{
    return ovl_arena_printf(arena, "%.6g%s", value, q->unit);
}

/* An end of a range: as exact as it is known where it is an edge. */
static const char *end_text(const ovl_solve *q, double x, bool level, ovl_arena *arena)
{
    return level ? ovl_arena_printf(arena, "%.8g%s", x, q->unit) : shown(q, x, arena);
}

/* Why the values of an answer end here: there the range does, or what can be simulated. */
static bool at_gap(const ovl_solve *q, double value)
{
    for (uint32_t i = 0; i < q->n_gaps; i++) {
        const ovl_solve_gap *g = &q->gaps[i];
        if ((value == g->low && !g->low_open) || (value == g->high && !g->high_open)) {
            return true;
        }
    }
    return false;
}

static const char *where_it_ends(const ovl_solve *q, double value, bool low)
{
    return at_gap(q, value)
               ? low ? "where what can be simulated begins" : "where what can be simulated ends"
           : low ? "where the range begins"
                 : "where the range ends";
}

/* "16 MiB (where the range begins) to 40 MiB". */
static const char *range_text(const ovl_solve *q, const ovl_solution *c, ovl_arena *arena)
{
    const char *low = c->low_open ? where_it_ends(q, c->low, true) : NULL;
    const char *high = c->high_open ? where_it_ends(q, c->high, false) : NULL;
    const char *from = end_text(q, c->low, c->level, arena);
    const char *to = end_text(q, c->high, c->level, arena);
    if (c->low < c->high && strcmp(from, to) == 0) { /* as many digits as tell them apart */
        from = ovl_solve_value(q, c->low, arena);
        to = ovl_solve_value(q, c->high, arena);
    }
    return ovl_arena_printf(arena, "%s%s%s%s to %s%s%s%s", from, low ? " (" : "", low ? low : "",
                            low ? ")" : "", to, high ? " (" : "", high ? high : "",
                            high ? ")" : "");
}

/* How exact the ends are that were halved; NULL: there are none. */
static const char *tolerance(const ovl_solve *q, const ovl_solution *c)
{
    return (c->low_open && c->high_open) || c->low == c->high ? NULL
           : q->whole                                         ? "the values beside these do not"
                      : "its ends are known to one part in 10^8";
}

static bool is_range(const ovl_solution *c)
{
    return c->level && c->low < c->high;
}

/* "543.5 ms to 544.5 ms count as 544 ms"; NULL: nothing that can be told from it does. */
static const char *window_text(const ovl_solve *q, ovl_arena *arena)
{
    const char *low = figure(q, q->target.value - q->precision, arena);
    const char *high = figure(q, q->target.value + q->precision, arena);
    const char *target = figure(q, q->target.value, arena);
    return strcmp(low, target) != 0 && strcmp(high, target) != 0
               ? ovl_arena_printf(arena, "%s to %s count as %s", low, high, target)
               : NULL;
}

static void level(ovl_out *out, const ovl_solve *q, const ovl_solution *c, ovl_arena *arena)
{
    const char *exact = tolerance(q, c), *window = window_text(q, arena);
    const char *text =
        ovl_arena_printf(arena, "%s from %s: every value looked at gives %s %s%s%s", q->key,
                         range_text(q, c, arena), ovl_metrics[q->target.metric].name,
                         figure(q, c->figure, arena), exact ? "; " : "", exact ? exact : "");
    if (c->figure != q->target.value && window) {
        text = ovl_arena_printf(arena, "%s; %s", text, window);
    }
    ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
}

static void met(ovl_out *out, const ovl_solve *q, const ovl_solution *c, ovl_arena *arena)
{
    if (is_range(c)) {
        level(out, q, c, arena);
        return;
    }
    ovl_out_printf(out, "  %s = %s gives %s %s\n", q->key, ovl_solve_value(q, c->value, arena),
                   ovl_metrics[q->target.metric].name, figure(q, c->figure, arena));
    if (c->low < c->high) {
        ovl_out_printf(out, "    %s .. %s: %s\n", figure(q, q->target.value - q->precision, arena),
                       figure(q, q->target.value + q->precision, arena), range_text(q, c, arena));
    }
    if (!isnan(c->slope) && c->slope != 0) {
        int64_t size = (int64_t)fabs(c->slope);
        ovl_out_printf(out, "    1 %% more %s %s\n", c->slope > 0 ? "adds" : "takes away",
                       figure(q, size, arena));
    }
}

/* From one value to the next the figure goes past what was asked for. */
static void jump(ovl_out *out, const ovl_solve *q, const ovl_solution *c, ovl_arena *arena)
{
    const char *name = ovl_metrics[q->target.metric].name;
    ovl_wrap(out, "  ", 4,
             ovl_arena_printf(arena, "%s = %s gives %s %s%s%s", q->key,
                              ovl_solve_value(q, c->value, arena), name,
                              figure(q, c->figure, arena),
                              q->whole ? ", and the whole value beside it "
                                       : ", and right beside it it jumps to ",
                              figure(q, c->beyond, arena)),
             OVL_TERMINAL);
}

/* "; the nearest is step 211.06 ms, 6.06 ms more, at 1600 MiB/ms, where the range ends". */
static const char *nearest(const ovl_solve *q, ovl_arena *arena)
{
    const ovl_solution *c = &q->nearest;
    int64_t off = c->figure - q->target.value;
    const char *exact = tolerance(q, c), *at = ovl_solve_value(q, c->value, arena);
    if (c->low < c->high) {
        at = ovl_arena_printf(arena, "%s%s%s%s", range_text(q, c, arena), exact ? " (" : "",
                              exact ? exact : "", exact ? ")" : "");
    } else if (c->low_open || c->high_open) {
        at = ovl_arena_printf(arena, "%s, %s", at, where_it_ends(q, c->value, c->low_open));
    }
    return ovl_arena_printf(arena, "the nearest is %s %s, %s %s, %s %s",
                            ovl_metrics[q->target.metric].name, figure(q, c->figure, arena),
                            figure(q, off < 0 ? -off : off, arena), off < 0 ? "less" : "more",
                            c->low < c->high ? "from" : "at", at);
}

static const char *no_answer(const ovl_solve *q, ovl_arena *arena)
{
    const char *name = ovl_metrics[q->target.metric].name;
    const char *from = shown(q, q->first, arena), *to = shown(q, q->last, arena);
    if (q->end == OVL_SOLVE_FLAT) {
        return ovl_arena_printf(arena, "No answer: %s is %s whatever the value, from %s to %s",
                                name, figure(q, q->least, arena), from, to);
    }
    if (q->n_crossings) {
        return ovl_arena_printf(arena,
                                q->whole ? "No answer: from %s to %s no whole value gives it"
                                         : "No answer: from %s to %s %s jumps over it",
                                from, to, name);
    }
    if (q->least < q->target.value && q->most > q->target.value) {
        return ovl_arena_printf(arena,
                                "No answer: from %s to %s %s is less and more than %s, but nothing "
                                "that can be simulated gives it; %s",
                                from, to, name, figure(q, q->target.value, arena),
                                nearest(q, arena));
    }
    return ovl_arena_printf(arena, "No answer: from %s to %s %s stays %s %s; %s", from, to, name,
                            q->nearest.figure > q->target.value ? "above" : "below",
                            figure(q, q->target.value, arena), nearest(q, arena));
}

static void now(ovl_out *out, const ovl_solve *q, ovl_arena *arena)
{
    if (q->now != OVL_NEVER) {
        ovl_out_printf(out, "  now%s%s gives %s %s\n", isnan(q->present) ? "" : " ",
                       isnan(q->present) ? "" : shown(q, q->present, arena),
                       ovl_metrics[q->target.metric].name, figure(q, q->now, arena));
    }
}

/* "not simulated above 12 ms: ..." */
static const char *gap_text(const ovl_solve *q, const ovl_solve_gap *g, ovl_arena *arena)
{
    const char *low = ovl_solve_value(q, g->low, arena), *high = ovl_solve_value(q, g->high, arena);
    const char *where = g->low_open    ? ovl_arena_printf(arena, "below %s", high)
                        : g->high_open ? ovl_arena_printf(arena, "above %s", low)
                                       : ovl_arena_printf(arena, "between %s and %s", low, high);
    return ovl_arena_printf(arena, "not simulated %s: %s", where, g->error);
}

/* What may be missing from the answers. */
static void others(ovl_out *out, const ovl_solve *q, ovl_arena *arena)
{
    if (q->n_more) {
        ovl_out_printf(out, "  and %" PRIu32 " more\n", q->n_more);
    }
    for (uint32_t i = 0; i < q->n_gaps; i++) {
        ovl_wrap(out, "  ", 4, gap_text(q, &q->gaps[i], arena), OVL_TERMINAL);
    }
    if (q->end != OVL_SOLVE_FLAT && !q->monotone) {
        ovl_wrap(out, "  ", 4,
                 ovl_arena_printf(arena,
                                  "%s rises and falls between %s and %s: there may be other "
                                  "values",
                                  ovl_metrics[q->target.metric].name, shown(q, q->first, arena),
                                  shown(q, q->last, arena)),
                 OVL_TERMINAL);
    }
}

void ovl_solve_text(ovl_out *out, const ovl_solve *q)
{
    ovl_arena arena = {0};
    ovl_out_printf(out, "Which %s gives %s %s?\n", q->key, ovl_metrics[q->target.metric].name,
                   figure(q, q->target.value, &arena));
    now(out, q, &arena);
    if (q->end != OVL_SOLVE_MET) {
        const char *window = window_text(q, &arena);
        ovl_wrap(out, "  ", 4, no_answer(q, &arena), OVL_TERMINAL);
        if (window) {
            ovl_out_printf(out, "  %s\n", window);
        }
    }
    for (uint32_t i = 0; i < q->n_crossings; i++) {
        const ovl_solution *c = &q->crossings[i];
        (c->jumps ? jump : met)(out, q, c, &arena);
    }
    others(out, q, &arena);
    ovl_out_printf(out, "  %s\n", ovl_counted(&arena, q->simulations, "simulation"));
    ovl_arena_free(&arena);
}

static void number(ovl_json *json, const char *key, const ovl_solve *q, int64_t value)
{
    if (ovl_metrics[q->target.metric].kind == OVL_METRIC_TIME) {
        ovl_json_seconds(json, key, value);
    } else {
        ovl_json_int(json, key, value);
    }
}

static void value(ovl_json *json, const char *key, const ovl_solve *q, double x, ovl_arena *arena)
{
    if (!isnan(x)) {
        ovl_json_text(json, key, ovl_solve_value(q, x, arena));
    }
}

static void solution(ovl_json *json, const char *key, const ovl_solve *q, const ovl_solution *c,
                     ovl_arena *arena)
{
    ovl_json_object(json, key, OVL_JSON_FLOW);
    value(json, "value", q, c->value, arena);
    number(json, "gives", q, c->figure);
    if (c->jumps) {
        number(json, "jumps_to", q, c->beyond);
    } else {
        value(json, "low", q, c->low, arena);
        value(json, "high", q, c->high, arena);
        ovl_json_bool(json, "low_open", c->low_open);
        ovl_json_bool(json, "high_open", c->high_open);
        ovl_json_bool(json, "level", c->level);
    }
    if (!c->jumps && c != &q->nearest && !isnan(c->slope)) {
        number(json, "one_percent_more", q, (int64_t)c->slope);
    }
    ovl_json_close(json);
}

static void gaps(ovl_json *json, const ovl_solve *q, ovl_arena *arena)
{
    ovl_json_array(json, "not_simulated", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < q->n_gaps; i++) {
        const ovl_solve_gap *g = &q->gaps[i];
        ovl_json_object(json, NULL, OVL_JSON_FLOW);
        value(json, "above", q, g->low_open ? (double)NAN : g->low, arena);
        value(json, "below", q, g->high_open ? (double)NAN : g->high, arena);
        ovl_json_text(json, "error", g->error);
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

void ovl_solve_json(ovl_out *out, const ovl_solve *q)
{
    static const char *const ends[] = {"met", "not met", "flat", "failed"};
    ovl_arena arena = {0};
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "schema", "overlapsim.solve/1");
    ovl_json_text(&json, "key", q->key);
    ovl_json_text(&json, "metric", ovl_metrics[q->target.metric].name);
    number(&json, "target", q, q->target.value);
    number(&json, "precision", q, q->precision);
    value(&json, "present", q, q->present, &arena);
    if (q->now != OVL_NEVER) {
        number(&json, "now", q, q->now);
    }
    value(&json, "from", q, q->from, &arena);
    value(&json, "to", q, q->to, &arena);
    ovl_json_text(&json, "end", ends[q->end]);
    ovl_json_bool(&json, "monotone", q->monotone);
    number(&json, "least", q, q->least);
    number(&json, "most", q, q->most);
    ovl_json_array(&json, "solutions", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < q->n_crossings; i++) {
        solution(&json, NULL, q, &q->crossings[i], &arena);
    }
    ovl_json_close(&json);
    if (q->end == OVL_SOLVE_NOT_MET || q->end == OVL_SOLVE_FLAT) {
        solution(&json, "nearest", q, &q->nearest, &arena);
    }
    gaps(&json, q, &arena);
    ovl_json_uint(&json, "simulations", q->simulations);
    ovl_json_close(&json);
    ovl_json_end(&json);
    ovl_arena_free(&arena);
}
