#include "tools/equation.h"

/* Nothing is exposed, so what the communication costs is interference alone. */
static bool by_interference(const ovl_result_equation *e)
{
    return e->exposed == 0 && e->interference != OVL_NEVER && e->interference != 0;
}

static void add(ovl_sum *sum, ovl_time term, const char *word)
{
    sum->term[sum->n] = term;
    sum->word[sum->n++] = word;
    sum->total += term;
}

ovl_sum ovl_step_sum(const ovl_result *result, ovl_arena *arena)
{
    const ovl_result_equation *e = &result->equation;
    ovl_sum sum = {.always = 1};
    if (!e->present) {
        add(&sum, result->step, "");
        return sum;
    }
    if (by_interference(e)) {
        add(&sum, e->u_variant, "");
        add(&sum, e->interference, "of interference");
    } else {
        add(&sum, e->u_path, "");
        add(&sum, e->exposed, "exposed");
    }
    add(&sum, e->after,
        e->consumer ? ovl_arena_printf(arena, "from %s on", e->consumer) : "after it");
    return sum;
}

ovl_sum ovl_start_sum(const ovl_result *result)
{
    const ovl_result_equation *e = &result->equation;
    ovl_time compute = result->term[OVL_COMPUTE], stretch = result->term[OVL_COMPUTE_STRETCH];
    ovl_sum sum = {.always = 1};
    if (!e->present || by_interference(e)) {
        return sum;
    }
    if (e->interference != OVL_NEVER && e->interference != 0) {
        add(&sum, e->u_variant, "");
        add(&sum, e->interference, "of interference");
    } else if (e->after == 0 && stretch && compute + stretch == e->u_path) {
        add(&sum, compute, "of kernels");
        add(&sum, stretch, "of stretch by what ran beside them");
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

/* Whether there is anything to add up. */
static bool has_terms(const ovl_sum *sum)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < sum->n; i++) {
        n += sum->term[i] != 0 || i < sum->always;
    }
    return n > 1;
}

const char *ovl_sum_text(ovl_arena *arena, const ovl_scale *scale, const ovl_sum *sum,
                         ovl_sum_style style)
{
    char buf[OVL_UNITS_TEXT];
    bool words = style == OVL_SUM_WORDS;
    const char *unit = words ? ovl_arena_printf(arena, " %s", ovl_scale_unit(scale)) : "";
    ovl_sum shown = *sum;
    ovl_time total = ovl_scale_terms(scale, shown.total, shown.term, shown.n);
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

const char *ovl_step_reason(const ovl_result *result, const ovl_scale *scale, ovl_arena *arena)
{
    const ovl_result_equation *e = &result->equation;
    char end[OVL_UNITS_TEXT], start[OVL_UNITS_TEXT];
    if (!e->present) {
        return NULL;
    }
    const char *unit = ovl_scale_unit(scale);
    if (by_interference(e)) {
        ovl_scale_short(start, scale, e->u_variant);
        return ovl_arena_printf(
            arena,
            e->consumer ? "%s exposes nothing; were it free, %s could start at %s %s"
                        : "%s exposes nothing; were it free, %s would end at %s %s",
            e->collective, e->consumer ? e->consumer : "the other work of its rank", start, unit);
    }
    ovl_scale_short(end, scale, e->u_path + e->exposed);
    ovl_scale_short(start, scale, e->u_path);
    if (e->consumer) {
        return ovl_arena_printf(arena, "%s ends at %s %s; %s could start at %s %s", e->collective,
                                end, unit, e->consumer, start, unit);
    }
    return ovl_arena_printf(arena, "%s ends at %s %s; the other work of its rank at %s %s",
                            e->collective, end, unit, start, unit);
}
