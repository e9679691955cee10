#include "tools/equation.h"

#include <string.h>

/* --- Forms --- */

static bool delayed(const ovl_result_equation *e)
{
    return e->interference != OVL_NEVER && e->interference != 0;
}

/* The rank did nothing but kernels until its work could start. */
static bool only_kernels(const ovl_result *r)
{
    const ovl_result_equation *e = &r->equation;
    return e->after == 0 && r->term[OVL_COMPUTE] + r->term[OVL_COMPUTE_STRETCH] == e->u_path;
}

ovl_form ovl_form_of(const ovl_result *const *results, uint32_t n)
{
    ovl_form form = {.terms = 1};
    bool kernels = true, stretched = false, known = true, late = false;
    for (uint32_t i = 0; i < n; i++) {
        const ovl_result_equation *e = &results[i]->equation;
        if (!e->present) {
            form.alone = true;
            continue;
        }
        form.terms = OVL_MAX(form.terms, e->after ? 3U : 2U);
        kernels &= only_kernels(results[i]);
        stretched |= results[i]->term[OVL_COMPUTE_STRETCH] != 0;
        known &= e->interference != OVL_NEVER;
        late |= delayed(e);
    }
    form.start = kernels && stretched ? OVL_START_KERNELS
                 : known && late      ? OVL_START_DELAY
                                      : OVL_START_ALONE;
    return form;
}

const char *ovl_form_text(const ovl_form *form, ovl_arena *arena)
{
    if (form->terms == 1) {
        return "step; no work waits for communication";
    }
    return ovl_arena_printf(
        arena, "step = when the last waiting work could start + exposed communication%s%s",
        form->terms > 2 ? " + the rest" : "",
        form->alone ? " (a number alone: no work waits for communication)" : "");
}

/* --- Sums --- */

static void add(ovl_sum *sum, ovl_time term, const char *word)
{
    sum->term[sum->n] = term;
    sum->word[sum->n++] = word;
    sum->total += term;
}

ovl_sum ovl_step_sum(const ovl_result *result, const ovl_form *form, ovl_arena *arena)
{
    const ovl_result_equation *e = &result->equation;
    ovl_sum sum = {.always = form->terms, .moments = true};
    if (!e->present) {
        add(&sum, result->step, "");
        return sum;
    }
    add(&sum, e->u_path, "");
    add(&sum, e->exposed, "exposed");
    add(&sum, e->after,
        e->consumer ? ovl_arena_printf(arena, "from %s on", e->consumer) : "after it");
    return sum;
}

ovl_sum ovl_start_sum(const ovl_result *result, const ovl_form *form)
{
    const ovl_result_equation *e = &result->equation;
    ovl_sum sum = {.always = 2, .moments = true};
    if (e->present && form->start == OVL_START_KERNELS) {
        add(&sum, result->term[OVL_COMPUTE], "of kernels");
        add(&sum, result->term[OVL_COMPUTE_STRETCH],
            result->degraded ? "of stretch by others or by a fault"
                             : "of stretch by what ran beside them");
    } else if (e->present && form->start == OVL_START_DELAY) {
        add(&sum, e->u_variant, "");
        add(&sum, e->interference, "of delay");
    }
    return sum;
}

ovl_sum ovl_terms_sum(const ovl_time term[OVL_TERM_COUNT])
{
    ovl_sum sum = {0};
    for (int i = 0; i < OVL_TERM_COUNT; i++) {
        add(&sum, term[i], ovl_term_name((ovl_term)i));
    }
    return sum;
}

void ovl_sum_fit(ovl_scale *scale, ovl_time largest, const ovl_sum *sum)
{
    for (uint32_t i = 0; i < sum->n; i++) {
        ovl_scale_fit(scale, largest, sum->term[i]);
    }
}

/* --- Text --- */

/* Whether there is anything to add up. */
static bool has_terms(const ovl_sum *sum)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < sum->n; i++) {
        n += sum->term[i] != 0 || i < sum->always;
    }
    return n > 1;
}

/* Rounds the terms to what the scale can show; gives the rounded total, to which they add up. */
static ovl_time round_sum(const ovl_scale *scale, ovl_sum *sum)
{
    if (!sum->moments) {
        return ovl_scale_terms(scale, sum->total, sum->term, sum->n);
    }
    ovl_time moment = 0, before = 0;
    for (uint32_t i = 0; i < sum->n; i++) {
        moment += sum->term[i];
        sum->term[i] = ovl_scale_round(scale, moment) - before;
        before += sum->term[i];
    }
    return before;
}

const char *ovl_sum_text(ovl_arena *arena, const ovl_scale *scale, const ovl_sum *sum,
                         ovl_sum_style style)
{
    char buf[OVL_UNITS_TEXT];
    bool words = style == OVL_SUM_WORDS;
    const char *unit = words ? ovl_arena_printf(arena, " %s", ovl_scale_unit(scale)) : "";
    ovl_sum shown = *sum;
    ovl_time total = round_sum(scale, &shown);
    const char *text = ovl_arena_printf(arena, "%s%s", ovl_scale_short(buf, scale, total), unit);
    const char *plus = " = ", *minus = " = -";
    for (uint32_t i = 0; i < shown.n && has_terms(sum); i++) {
        ovl_time t = shown.term[i];
        if (sum->term[i] == 0 && i >= sum->always) {
            continue;
        }
        const char *word = words ? shown.word[i] : "";
        text = ovl_arena_printf(arena, "%s%s%s%s%s%s", text, t < 0 ? minus : plus,
                                ovl_scale_short(buf, scale, t < 0 ? -t : t), unit, *word ? " " : "",
                                word);
        plus = " + ";
        minus = " - ";
    }
    return text;
}

/* When the communication of the equation ended: at or before the start of the work that needs it,
 * unless it is exposed. OVL_NEVER if the result does not have its row. */
static ovl_time end_of(const ovl_result *result)
{
    const ovl_result_equation *e = &result->equation;
    ovl_time end = OVL_NEVER;
    if (e->exposed > 0) {
        return e->u_path + e->exposed;
    }
    for (uint32_t i = 0; i < result->n_collectives; i++) {
        const ovl_result_collective *c = &result->collectives[i];
        bool same = c->rank == result->deciding_rank && strcmp(c->name, e->collective) == 0 &&
                    c->u_path == e->u_path && c->exposed == 0;
        end = same && (end == OVL_NEVER || c->end > end) ? c->end : end;
    }
    return end;
}

const char *ovl_step_reason(const ovl_result *result, const ovl_scale *scale, ovl_arena *arena)
{
    const ovl_result_equation *e = &result->equation;
    char buf[OVL_UNITS_TEXT], start[OVL_UNITS_TEXT];
    if (!e->present) {
        return NULL;
    }
    const char *unit = ovl_scale_unit(scale);
    ovl_time end = end_of(result);
    const char *first = end == OVL_NEVER
                            ? ovl_arena_printf(arena, "%s exposes nothing", e->collective)
                            : ovl_arena_printf(arena, "%s ends at %s %s", e->collective,
                                               ovl_scale_short(buf, scale, end), unit);
    ovl_scale_short(start, scale, e->u_path);
    return e->consumer ? ovl_arena_printf(arena, "%s; %s could start at %s %s", first, e->consumer,
                                          start, unit)
                       : ovl_arena_printf(arena, "%s; the other work of its rank at %s %s", first,
                                          start, unit);
}
