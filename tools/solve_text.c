/* The answer to an inverse question as text and JSON. */
#include "tools/report.h"
#include "tools/solve.h"
#include "tools/wrap.h"

#include <math.h>

static const char *figure(const ovl_solve *q, int64_t value, ovl_arena *arena)
{
    return ovl_metric_text(q->target.metric, value, arena);
}

/* To six digits: what is measured has no more. */
static const char *shown(const ovl_solve *q, double value, ovl_arena *arena)
{
    return ovl_arena_printf(arena, "%.6g%s", value, q->unit);
}

/* "from 23.1 MiB/ms to 25 MiB/ms", with an end left open that the range does not show. */
static const char *range_text(const ovl_solve *q, const ovl_solution *c, ovl_arena *arena)
{
    if (isnan(c->low) && isnan(c->high)) {
        return "any value looked at";
    }
    if (isnan(c->low)) {
        return ovl_arena_printf(arena, "anything up to %s", shown(q, c->high, arena));
    }
    if (isnan(c->high)) {
        return ovl_arena_printf(arena, "anything from %s on", shown(q, c->low, arena));
    }
    return ovl_arena_printf(arena, "%s to %s", shown(q, c->low, arena), shown(q, c->high, arena));
}

/* Between two values as close as can be the figure goes past what was asked for. */
static bool jumps(const ovl_solve *q, const ovl_solution *c)
{
    int64_t off = c->figure - q->target.value;
    return !q->whole && (off > q->precision || -off > q->precision);
}

static void crossing(ovl_out *out, const ovl_solve *q, const ovl_solution *c, ovl_arena *arena)
{
    const char *name = ovl_metrics[q->target.metric].name;
    ovl_out_printf(out, "  %s = %s gives %s %s%s\n", q->key, ovl_solve_value(q, c->value, arena),
                   name, figure(q, c->figure, arena),
                   q->whole && c->figure != q->target.value ? ", the nearest whole value"
                   : jumps(q, c) ? ", and it jumps to the other side there"
                                 : "");
    if (q->whole || jumps(q, c)) {
        return;
    }
    ovl_out_printf(out, "    %s .. %s: %s\n", figure(q, q->target.value - q->precision, arena),
                   figure(q, q->target.value + q->precision, arena), range_text(q, c, arena));
    if (!isnan(c->slope) && c->slope != 0) {
        int64_t size = (int64_t)fabs(c->slope);
        ovl_out_printf(out, "    1 %% more %s %s\n", c->slope > 0 ? "adds" : "takes away",
                       figure(q, size, arena));
    }
}

static const char *no_answer(const ovl_solve *q, ovl_arena *arena)
{
    const char *name = ovl_metrics[q->target.metric].name;
    if (q->end == OVL_SOLVE_FAILED) {
        return q->error ? ovl_arena_printf(arena, "No answer: %s", q->error)
                        : ovl_arena_printf(arena, "No answer: %s is not known of these runs", name);
    }
    if (q->end == OVL_SOLVE_FLAT) {
        return ovl_arena_printf(arena, "No answer: %s is %s whatever the value, from %s to %s",
                                name, figure(q, q->least, arena), shown(q, q->from, arena),
                                shown(q, q->to, arena));
    }
    return ovl_arena_printf(
        arena, "No answer: from %s to %s, %s is between %s (at %s) and %s (at %s)",
        shown(q, q->from, arena), shown(q, q->to, arena), name, figure(q, q->least, arena),
        shown(q, q->least_at, arena), figure(q, q->most, arena), shown(q, q->most_at, arena));
}

void ovl_solve_text(ovl_out *out, const ovl_solve *q)
{
    ovl_arena arena = {0};
    const char *name = ovl_metrics[q->target.metric].name;
    ovl_out_printf(out, "Which %s gives %s %s?\n", q->key, name,
                   figure(q, q->target.value, &arena));
    if (q->now != OVL_NEVER) {
        ovl_out_printf(out, "  now%s%s gives %s %s\n", isnan(q->present) ? "" : " ",
                       isnan(q->present) ? "" : shown(q, q->present, &arena), name,
                       figure(q, q->now, &arena));
    }
    for (uint32_t i = 0; i < q->n_crossings; i++) {
        crossing(out, q, &q->crossings[i], &arena);
    }
    if (q->end != OVL_SOLVE_MET) {
        ovl_wrap(out, "  ", 4, no_answer(q, &arena), OVL_TERMINAL);
    } else if (!q->monotone) {
        ovl_wrap(out, "  ", 4,
                 ovl_arena_printf(&arena,
                                  "%s rises and falls between %s and %s: there may be other "
                                  "values",
                                  name, shown(q, q->from, &arena), shown(q, q->to, &arena)),
                 OVL_TERMINAL);
    }
    ovl_out_printf(out, "  %" PRIu32 " simulations\n", q->simulations);
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
        const ovl_solution *c = &q->crossings[i];
        ovl_json_object(&json, NULL, OVL_JSON_FLOW);
        value(&json, "value", q, c->value, &arena);
        number(&json, "gives", q, c->figure);
        value(&json, "low", q, c->low, &arena);
        value(&json, "high", q, c->high, &arena);
        if (!isnan(c->slope)) {
            number(&json, "one_percent_more", q, (int64_t)c->slope);
        }
        ovl_json_close(&json);
    }
    ovl_json_close(&json);
    ovl_json_uint(&json, "simulations", q->simulations);
    ovl_json_text_if(&json, "error", q->end == OVL_SOLVE_FAILED ? q->error : NULL);
    ovl_json_close(&json);
    ovl_json_end(&json);
    ovl_arena_free(&arena);
}
