#include "tools/report.h"

#include "tools/equation.h"
#include "tools/grid.h"
#include "tools/wrap.h"

#include <string.h>

static const char *const term_words[OVL_TERM_COUNT][2] = {
    {"compute", "kernels, at isolated speed"},
    {"compute stretch", "kernels, slowed by what runs beside them"},
    {"comm latency", "communication in its latency; no kernel runs"},
    {"comm transfer", "communication moving bytes, at isolated speed; no kernel runs"},
    {"comm stretch", "communication slowed by what runs beside it; no kernel runs"},
    {"copy", "a copy; no kernel, no communication"},
    {"wait late rank", "a collective waits for a rank that has not arrived"},
    {"idle", "nothing runs, or a send or receive waits for its peer"},
};

/* The same where capacity was lost, too. */
static const char *term_word(const ovl_result *result, int term)
{
    if (result->degraded && term == OVL_COMPUTE_STRETCH) {
        return "kernels, slowed by others or by a fault";
    }
    if (result->degraded && term == OVL_COMM_STRETCH) {
        return "communication slowed by others or by a fault; no kernel runs";
    }
    return term_words[term][1];
}

const ovl_result_rank *ovl_deciding(const ovl_result *result)
{
    for (uint32_t i = 0; i < result->n_ranks; i++) {
        if (result->ranks[i].rank == result->deciding_rank) {
            return &result->ranks[i];
        }
    }
    return NULL;
}

static uint64_t count_ranks(const ovl_result *result)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < result->n_ranks; i++) {
        n += result->ranks[i].count;
    }
    return n;
}

void ovl_report_name(ovl_out *out, const char *name)
{
    ovl_out_text(out, out->colour ? "\033[1m" : "");
    ovl_wrap(out, "", 2, name, OVL_TERMINAL);
    ovl_out_text(out, out->colour ? "\033[0m" : "");
}

void ovl_report_description(ovl_out *out, const char *description)
{
    if (description) {
        ovl_wrap(out, "", 0, description, OVL_TERMINAL);
    }
}

/* "8 ranks", "1,024 ranks folded into 4 classes". */
static const char *ranks_text(const ovl_result *result, ovl_arena *arena)
{
    uint64_t ranks = count_ranks(result);
    const char *text = ovl_arena_printf(arena, "%" PRIu64 " rank%s", ranks, ranks == 1 ? "" : "s");
    return result->n_folded ? ovl_arena_printf(arena, "%s folded into %" PRIu32 " class%s", text,
                                               result->n_folded, result->n_folded == 1 ? "" : "es")
                            : text;
}

static void report_head(ovl_out *out, const ovl_result *result)
{
    ovl_arena arena = {0};
    if (result->scenario) {
        ovl_report_name(out, result->scenario);
    }
    ovl_report_description(out, result->description);
    ovl_out_printf(out, "variant %s, %s, interference %s", result->variant,
                   ranks_text(result, &arena), result->interference);
    if (result->in_steps) {
        ovl_out_printf(out, ", collectives of up to %" PRIu32 " in steps", result->in_steps);
    }
    ovl_out_text(out, "\n\n");
    ovl_arena_free(&arena);
}

/* One scale for the whole head of the report, so that its numbers can be compared by eye. */
static ovl_scale head_scale(const ovl_result *result, const ovl_sum *step, const ovl_sum *start)
{
    ovl_scale scale = ovl_scale_for(result->step);
    ovl_sum_fit(&scale, result->step, step);
    ovl_sum_fit(&scale, result->step, start);
    return scale;
}

/* The rank that decides may wait for nothing while others do, such as the sender of the last
 * message. */
static const char *nothing_waits(const ovl_result *result, const ovl_scale *scale, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const ovl_result_collective *most = NULL;
    for (uint32_t i = 0; i < result->n_collectives; i++) {
        const ovl_result_collective *c = &result->collectives[i];
        most = c->exposed > (most ? most->exposed : 0) ? c : most;
    }
    if (!most) {
        return "no work waits for communication";
    }
    return ovl_arena_printf(
        arena,
        "no work of rank %" PRIu32 " waits for communication; on rank %" PRIu32
        " %s does, %s %s for %s",
        result->deciding_rank, most->rank, most->consumer ? most->consumer : "the end of the step",
        ovl_scale_short(buf, scale, most->exposed), ovl_scale_unit(scale), most->name);
}

static const char *start_text(const ovl_result *result, const ovl_form *form, const ovl_sum *start,
                              const ovl_scale *scale, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const char *text = ovl_sum_text(arena, scale, start, OVL_SUM_WORDS);
    if (form->start != OVL_START_DELAY) {
        return text;
    }
    return ovl_arena_printf(
        arena, "%s (if %s were free: %s %s; the delay is what it slowed and what queued behind it)",
        text, result->equation.collective, ovl_scale_short(buf, scale, start->term[0]),
        ovl_scale_unit(scale));
}

static void report_equation(ovl_out *out, const ovl_result *result, ovl_arena *arena)
{
    ovl_form form = ovl_form_of(&result, 1);
    ovl_sum step = ovl_step_sum(result, &form, arena), start = ovl_start_sum(result, &form);
    ovl_scale scale = head_scale(result, &step, &start);
    const char *reason = ovl_step_reason(result, &scale, arena);
    const char *text = ovl_sum_text(arena, &scale, &step, OVL_SUM_WORDS);
    if (reason) {
        text = ovl_arena_printf(arena, "%s (%s)", text, reason);
    } else {
        text = ovl_arena_printf(arena, "%s; %s", text, nothing_waits(result, &scale, arena));
    }
    ovl_wrap(out, "step ", 5, text, OVL_TERMINAL);
    if (start.n) {
        ovl_wrap(out, "     ", 5, start_text(result, &form, &start, &scale, arena), OVL_TERMINAL);
    }
}

/* Which of several steps this is about, and whether it stands for those that would follow. */
static void report_steps(ovl_out *out, const ovl_result *result, ovl_arena *arena)
{
    char first[OVL_UNITS_TEXT], before[OVL_UNITS_TEXT];
    if (result->n_steps < 2) {
        return;
    }
    ovl_time last = result->step_times[result->n_steps - 2];
    ovl_scale scale = ovl_scale_for(result->step);
    ovl_scale_fit(&scale, result->step, result->step_times[0]);
    ovl_scale_fit(&scale, result->step, last);
    const char *unit = ovl_scale_unit(&scale);
    const char *text = ovl_arena_printf(
        arena, "the last of %" PRIu32 " steps; the first took %s %s", result->n_steps,
        ovl_scale_short(first, &scale, result->step_times[0]), unit);
    if (result->n_steps == 2) {
        text =
            ovl_arena_printf(arena, "%s; three or more would show whether they become alike", text);
    } else if (result->step == last) {
        text =
            ovl_arena_printf(arena, "%s, the one before the last as long as it: converged", text);
    } else {
        text = ovl_arena_printf(arena, "%s, the one before the last %s %s: %s", text,
                                ovl_scale_short(before, &scale, last), unit,
                                ovl_result_converged(result) ? "converged, to a thousandth"
                                                             : "not converged; give more steps");
    }
    ovl_wrap(out, "     ", 5, text, OVL_TERMINAL);
}

static const char *percent(ovl_arena *arena, ovl_time part, ovl_time whole)
{
    return whole ? ovl_arena_printf(arena, "%.1f", 100.0 * (double)part / (double)whole) : NULL;
}

static void report_terms(ovl_out *out, const ovl_result *result, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    ovl_sum sum = ovl_terms_sum(result->term);
    ovl_scale scale = ovl_scale_for(result->step);
    ovl_sum_fit(&scale, result->step, &sum);
    ovl_out_title(out, "\nDecomposition of rank %" PRIu32 " (%s)", result->deciding_rank,
                  ovl_scale_unit(&scale));
    ovl_wrap(out, "  ", 4, ovl_sum_text(arena, &scale, &sum, OVL_SUM_PLAIN), OVL_TERMINAL);
    const ovl_column columns[] = {{"", true, false, 0},
                                  {"time", false, false, 0},
                                  {"%", false, false, 0},
                                  {"", true, false, 0}};
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    ovl_time total = ovl_scale_terms(&scale, sum.total, sum.term, sum.n);
    for (int i = 0; i < OVL_TERM_COUNT; i++) {
        if (result->term[i]) {
            const char *shown = ovl_arena_strdup(arena, ovl_scale_show(buf, &scale, sum.term[i]));
            const char *cells[] = {term_words[i][0], shown,
                                   percent(arena, result->term[i], result->step),
                                   term_word(result, i)};
            ovl_grid_row(&grid, cells);
        }
    }
    const char *cells[] = {"= step", ovl_scale_show(buf, &scale, total),
                           percent(arena, result->step, result->step), ""};
    ovl_grid_row(&grid, cells);
    ovl_grid_end(&grid, out, 2);
}

static bool has_communication(const ovl_result *result)
{
    return result->comm_total > 0 || result->n_collectives > 0;
}

static void report_communication(ovl_out *out, const ovl_result *result, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    if (!has_communication(result)) {
        return;
    }
    ovl_sum sum = {.total = result->comm_total, .n = 2, .always = 2};
    sum.term[0] = result->hidden_comm;
    sum.word[0] = "hidden under kernels";
    sum.term[1] = result->comm_uncovered;
    sum.word[1] = "uncovered, with no kernel beside it";
    ovl_scale scale = ovl_scale_for(result->comm_total);
    ovl_sum_fit(&scale, result->comm_total, &sum);
    ovl_out_title(out, "\nCommunication of rank %" PRIu32, result->deciding_rank);
    ovl_wrap(out, "  ", 4,
             sum.total ? ovl_sum_text(arena, &scale, &sum, OVL_SUM_WORDS)
                       : "takes no time: nothing of it is hidden under kernels or uncovered",
             OVL_TERMINAL);
    if (result->hidden_comm_stretch) {
        ovl_scale_fit(&scale, result->comm_total, result->hidden_comm_stretch);
        ovl_out_printf(out, "  of the hidden time, %s %s are stretch: no progress beside kernels\n",
                       ovl_scale_short(buf, &scale, result->hidden_comm_stretch),
                       ovl_scale_unit(&scale));
    }
    ovl_out_printf(out, "  %" PRIu32 " startup%s", result->startups,
                   result->startups == 1 ? "" : "s");
    if (result->mean_busbw >= 0) {
        ovl_out_printf(out, "; mean busbw %s", ovl_print_rate(buf, result->mean_busbw));
    }
    ovl_out_text(out, "\n");
}

/* The price is shown even when it is zero: that kernels ran freely is an answer too. */
static void report_price(ovl_out *out, const ovl_result *result, ovl_arena *arena)
{
    ovl_time without = result->without_interference;
    if (strcmp(result->interference, ovl_interference_name(OVL_INTERFERENCE_NONE)) == 0 ||
        without == OVL_NEVER || !has_communication(result)) {
        return;
    }
    ovl_sum sum = {.total = result->step, .n = 2};
    sum.term[0] = without;
    sum.word[0] = result->degraded ? "without interference and faults" : "without interference";
    sum.term[1] = result->step - without;
    sum.word[1] = result->degraded ? "of both" : "of interference";
    ovl_scale scale = ovl_scale_for(result->step);
    ovl_sum_fit(&scale, result->step, &sum);
    ovl_out_title(out, "\nPrice of interference%s (model %s)",
                  result->degraded ? " and hardware.faults" : "", result->interference);
    if (result->step == without) {
        bool slowed = result->term[OVL_COMPUTE_STRETCH] || result->term[OVL_COMM_STRETCH] ||
                      result->hidden_comm_stretch;
        ovl_out_printf(out, "  0: the step is as long without %s%s\n",
                       result->degraded ? "them" : "it", slowed ? ", though work was slowed" : "");
    } else {
        ovl_wrap(out, "  step ", 4, ovl_sum_text(arena, &scale, &sum, OVL_SUM_WORDS), OVL_TERMINAL);
    }
}

void ovl_report_not_modelled(ovl_out *out, const char *const *items, uint32_t n)
{
    if (n == 0) {
        return;
    }
    ovl_out_title(out, "\nNot modelled");
    for (uint32_t i = 0; i < n; i++) {
        ovl_wrap(out, "  - ", 4, items[i], OVL_TERMINAL);
    }
}

void ovl_report_text(ovl_out *out, const ovl_result *result)
{
    ovl_arena arena = {0};
    report_head(out, result);
    ovl_report_replay(out, result->replay);
    report_equation(out, result, &arena);
    report_steps(out, result, &arena);
    ovl_report_model(out, result);
    report_terms(out, result, &arena);
    report_communication(out, result, &arena);
    report_price(out, result, &arena);
    ovl_report_collectives(out, result);
    ovl_report_together(out, result);
    ovl_report_limits(out, result);
    ovl_report_collisions(out, result);
    ovl_report_chart(out, result);
    ovl_report_idle(out, result);
    ovl_report_what_if(out, result);
    ovl_report_path(out, result);
    ovl_report_host(out, result);
    ovl_report_memory(out, result);
    ovl_report_memory_lines(out, result);
    ovl_report_hazards(out, result);
    ovl_report_not_modelled(out, result->not_modelled, result->n_not_modelled);
    ovl_report_stats(out, result);
    ovl_arena_free(&arena);
}
