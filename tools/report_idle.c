/* Why the ranks of a run idle: both accounts, spans, and gaps where they were asked for. */
#include "tools/equation.h"
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/what_if.h"
#include "tools/wrap.h"

#include <stdlib.h>

#define MOST_RANKS 16
#define MOST_GAPS  20

static const char *shown(ovl_arena *arena, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_scale_show(buf, scale, t));
}

static int by_idle(const void *a, const void *b)
{
    const ovl_result_rank *x = *(const ovl_result_rank *const *)a;
    const ovl_result_rank *y = *(const ovl_result_rank *const *)b;
    if (x->idle_time != y->idle_time) {
        return x->idle_time > y->idle_time ? -1 : 1;
    }
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_rank(const void *a, const void *b)
{
    const ovl_result_rank *x = *(const ovl_result_rank *const *)a;
    const ovl_result_rank *y = *(const ovl_result_rank *const *)b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* --- Ranks --- */

static ovl_scale idle_scale(const ovl_result *result)
{
    ovl_scale scale = ovl_scale_for(result->step);
    for (uint32_t i = 0; i < result->n_ranks; i++) {
        const ovl_result_rank *r = &result->ranks[i];
        ovl_scale_fit(&scale, result->step, r->idle_time);
        if (r->span_start != OVL_NEVER) {
            ovl_scale_fit(&scale, result->step, r->span_end - r->span_start);
        }
        for (int k = 0; k < OVL_IDLE_COUNT; k++) {
            ovl_scale_fit(&scale, result->step, r->idle[k]);
        }
    }
    return scale;
}

static const char *rank_text(const ovl_result_rank *r, ovl_arena *arena)
{
    return r->count > 1
               ? ovl_arena_printf(arena, "%" PRIu32 " (of %" PRIu32 " alike)", r->rank, r->count)
               : ovl_arena_printf(arena, "%" PRIu32, r->rank);
}

static const char *percent(double part, ovl_arena *arena)
{
    return part < 0 ? NULL : ovl_arena_printf(arena, "%.1f", 100 * part);
}

static void rank_row(ovl_grid *grid, const ovl_result *result, const ovl_result_rank *r,
                     const ovl_scale *scale, ovl_arena *arena)
{
    ovl_time piece[OVL_IDLE_COUNT];
    memcpy(piece, r->idle, sizeof piece);
    ovl_time idle = ovl_scale_terms(scale, r->idle_time, piece, OVL_IDLE_COUNT);
    bool span = r->span_start != OVL_NEVER;
    const char *cells[5 + OVL_IDLE_COUNT] = {
        rank_text(r, arena), shown(arena, scale, idle),
        percent(result->step ? (double)r->idle_time / (double)result->step : -1, arena)};
    for (int k = 0; k < OVL_IDLE_COUNT; k++) {
        cells[3 + k] = r->idle[k] ? shown(arena, scale, piece[k]) : NULL;
    }
    cells[3 + OVL_IDLE_COUNT] = span ? shown(arena, scale, r->span_end - r->span_start) : NULL;
    cells[4 + OVL_IDLE_COUNT] = percent(r->bubble_rate, arena);
    ovl_grid_row(grid, cells);
}

/* The decomposition knows time without a kernel by other names. */
static void decomposition(ovl_out *out, const ovl_result *result, const ovl_scale *fitted,
                          ovl_arena *arena)
{
    static const char *const words[OVL_TERM_COUNT] = {[OVL_COMM_LATENCY] = "comm latency",
                                                      [OVL_COMM_TRANSFER] = "comm transfer",
                                                      [OVL_COMM_STRETCH] = "comm stretch",
                                                      [OVL_COPYING] = "copy",
                                                      [OVL_WAIT_LATE_RANK] = "wait late rank"};
    const ovl_time *term = result->term;
    ovl_sum sum = {.n = 1, .always = 1};
    sum.total = result->step - term[OVL_COMPUTE] - term[OVL_COMPUTE_STRETCH];
    sum.term[0] = term[OVL_IDLE];
    sum.word[0] = "idle in its decomposition";
    for (int k = OVL_COMM_LATENCY; k < OVL_IDLE; k++) {
        sum.term[sum.n] = term[k];
        sum.word[sum.n] = words[k];
        sum.n++;
    }
    if (sum.total == term[OVL_IDLE]) {
        return;
    }
    ovl_scale scale = *fitted;
    ovl_sum_fit(&scale, result->step, &sum);
    ovl_wrap(out, "  ", 4,
             ovl_arena_printf(arena, "rank %" PRIu32 ": %s", result->deciding_rank,
                              ovl_sum_text(arena, &scale, &sum, OVL_SUM_WORDS)),
             OVL_TERMINAL);
}

static void ranks_table(ovl_out *out, const ovl_result *result, const ovl_scale *scale,
                        ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"rank", false, false, 0},       {"idle", false, false, 0},
        {"%", false, false, 0},          {"fill", false, false, 0},
        {"drain", false, false, 0},      {"imbalance", false, false, 0},
        {"dependency", false, false, 0}, {"schedule", false, false, 0},
        {"host", false, false, 0},       {"pause", false, false, 0},
        {"span", false, false, 2},       {"bubble %", false, false, 1},
    };
    const ovl_result_rank **ranks = OVL_NEW_ARRAY(arena, const ovl_result_rank *, result->n_ranks);
    uint32_t n = OVL_MIN(result->n_ranks, MOST_RANKS);
    for (uint32_t i = 0; i < result->n_ranks; i++) {
        ranks[i] = &result->ranks[i];
    }
    qsort(ranks, result->n_ranks, sizeof *ranks, by_idle);
    qsort(ranks, n, sizeof *ranks, by_rank);
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < n; i++) {
        rank_row(&grid, result, ranks[i], scale, arena);
    }
    ovl_grid_end(&grid, out, 2);
    if (n < result->n_ranks) {
        ovl_out_printf(out,
                       "  %" PRIu32 " of %" PRIu32 " rows, the most idle; all of them: --json\n", n,
                       result->n_ranks);
    }
}

/* --- All ranks --- */

/* What is blamed is the largest part, which need not be most. */
static const char *share_of(const ovl_result_idle *idle, const ovl_result_blame *b)
{
    ovl_time whole = idle->piece[b->kind];
    return b->time == whole            ? "all of it"
           : b->time > whole - b->time ? "most of it"
                                       : "the largest part";
}

static void blames(ovl_out *out, const ovl_result_idle *idle, ovl_arena *arena)
{
    char part[OVL_UNITS_TEXT], whole[OVL_UNITS_TEXT];
    for (uint32_t i = 0; i < idle->n_blames; i++) {
        const ovl_result_blame *b = &idle->blames[i];
        ovl_print_time(part, b->time);
        ovl_print_time(whole, idle->piece[b->kind]);
        const char *time = idle->time == OVL_NEVER || strcmp(part, whole) == 0
                               ? part
                               : ovl_arena_printf(arena, "%s of %s", part, whole);
        ovl_wrap(out, "  ", 4,
                 ovl_arena_printf(arena, "%s, %s: %s (%s over all ranks)", ovl_idle_name(b->kind),
                                  idle->time == OVL_NEVER ? "the largest part" : share_of(idle, b),
                                  b->text, time),
                 OVL_TERMINAL);
    }
}

static void peeled(ovl_out *out, const ovl_result_idle *idle, ovl_arena *arena)
{
    static const char structural[] =
        "structural (stages like their mean, communication and copies that take no time and keep "
        "no order, free host)";
    static const char *const words[OVL_PEEL_COUNT] = {structural, "with the stages as they are",
                                                      "with communication", "with pauses",
                                                      "with the host"};
    if (idle->time == OVL_NEVER) {
        return;
    }
    ovl_sum sum = {.total = idle->time, .n = OVL_PEEL_COUNT, .always = 1};
    int last = 0, n = 0;
    for (int k = 0; k < OVL_PEEL_COUNT; k++) {
        n += idle->peeled[k] != 0;
        last = idle->peeled[k] ? k : last;
        sum.term[k] = idle->peeled[k];
        sum.word[k] = words[k];
    }
    if (n == 1) {
        char buf[OVL_UNITS_TEXT];
        ovl_wrap(out, "  all ranks: ", 4,
                 ovl_arena_printf(arena, "%s, all of it %s", ovl_print_time(buf, idle->time),
                                  words[last]),
                 OVL_TERMINAL);
        return;
    }
    ovl_scale scale = ovl_scale_for(idle->time);
    ovl_sum_fit(&scale, idle->time, &sum);
    ovl_wrap(out, "  all ranks: ", 4, ovl_sum_text(arena, &scale, &sum, OVL_SUM_WORDS),
             OVL_TERMINAL);
}

static void spans(ovl_out *out, const ovl_result *result, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT], other[OVL_UNITS_TEXT];
    const ovl_result_idle *idle = &result->idle;
    if (idle->bubble_rate < 0 || idle->span_bubble_rate < 0) {
        return;
    }
    ovl_wrap(out, "  ", 4,
             ovl_arena_printf(arena,
                              "bubble rate %.1f %% of the step (%s), %.1f %% of the largest span "
                              "(%s, rank %" PRIu32 ", from its first kernel to its last)",
                              100 * idle->bubble_rate, ovl_print_time(buf, result->step),
                              100 * idle->span_bubble_rate, ovl_print_time(other, idle->span),
                              idle->span_rank),
             OVL_TERMINAL);
}

/* --- Gaps --- */

typedef struct place {
    uint32_t rank;
    const ovl_result_gap *gap;
} place;

static int by_length(const void *a, const void *b)
{
    const place *x = a, *y = b;
    ovl_time of_x = x->gap->end - x->gap->start, of_y = y->gap->end - y->gap->start;
    if (of_x != of_y) {
        return of_x > of_y ? -1 : 1;
    }
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return (x->gap->start > y->gap->start) - (x->gap->start < y->gap->start);
}

static const char *pieces_text(const ovl_result_gap *g, const ovl_scale *scale, ovl_arena *arena)
{
    const char *text = "";
    for (int k = 0; k < OVL_IDLE_COUNT; k++) {
        if (g->piece[k]) {
            text =
                ovl_arena_printf(arena, "%s%s%s %s", text, *text ? " + " : "",
                                 shown(arena, scale, g->piece[k]), ovl_idle_name((ovl_idle_kind)k));
        }
    }
    return text;
}

static ovl_scale gaps_scale(const ovl_result *result, const place *list, uint32_t n)
{
    ovl_scale scale = ovl_scale_for(result->step);
    for (uint32_t i = 0; i < n; i++) {
        ovl_scale_fit(&scale, result->step, list[i].gap->start);
        ovl_scale_fit(&scale, result->step, list[i].gap->end);
        for (int k = 0; k < OVL_IDLE_COUNT; k++) {
            ovl_scale_fit(&scale, result->step, list[i].gap->piece[k]);
        }
    }
    return scale;
}

static void gaps_table(ovl_out *out, const ovl_result *result, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"rank", false, false, 0},      {"start", false, false, 0},
        {"end", false, false, 0},       {"until", true, true, 0},
        {"is", true, OVL_GRID_WRAP, 0}, {"because", true, OVL_GRID_WRAP, 0},
    };
    OVL_VEC(place) list = {0};
    for (uint32_t i = 0; i < result->n_ranks; i++) {
        for (uint32_t k = 0; k < result->ranks[i].n_gaps; k++) {
            ovl_vec_push(&list, (place){result->ranks[i].rank, &result->ranks[i].gaps[k]});
        }
    }
    if (list.len == 0) {
        return;
    }
    qsort(list.data, list.len, sizeof *list.data, by_length);
    ovl_scale scale = gaps_scale(result, list.data, OVL_MIN(list.len, MOST_GAPS));
    ovl_out_title(out, "\nGaps, the longest (times in %s)", ovl_scale_unit(&scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(list.len, MOST_GAPS); i++) {
        const ovl_result_gap *g = list.data[i].gap;
        const char *cells[] = {ovl_arena_printf(arena, "%" PRIu32, list.data[i].rank),
                               shown(arena, &scale, g->start),
                               shown(arena, &scale, g->end),
                               g->before ? g->before : "the end",
                               pieces_text(g, &scale, arena),
                               g->because};
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
    if (list.len > MOST_GAPS) {
        ovl_out_printf(out, "  %d of %" PRIu32 " gaps; all of them: --json\n", MOST_GAPS, list.len);
    }
    ovl_vec_free(&list);
}

void ovl_report_idle(ovl_out *out, const ovl_result *result)
{
    if (result->step == 0 || result->idle.bubble_rate <= 0 ||
        !(result->idle.telling || (result->n_ranks && result->ranks[0].gaps))) {
        return;
    }
    ovl_arena arena = {0};
    ovl_scale scale = idle_scale(result);
    ovl_out_title(out, "\nIdle of the ranks: no kernel runs (times in %s)", ovl_scale_unit(&scale));
    decomposition(out, result, &scale, &arena);
    ranks_table(out, result, &scale, &arena);
    ovl_wrap(
        out, "  ", 2,
        ovl_arena_printf(
            &arena,
            "fill, drain: waits for a forward, or not, that remain with all stages alike; "
            "imbalance: for stages longer than the mean; dependency: for transfers and what blocks "
            "them; schedule: for transfers issued late; host: for the host; %sspan: from the first "
            "kernel to the last, bubble: what of it is idle",
            result->idle.piece[OVL_IDLE_PAUSE]
                ? "pause: its streams pause, as they did where this was measured; "
                : ""),
        OVL_TERMINAL);
    blames(out, &result->idle, &arena);
    peeled(out, &result->idle, &arena);
    spans(out, result, &arena);
    gaps_table(out, result, &arena);
    ovl_arena_free(&arena);
}

/* --- What would help --- */

static ovl_scale what_if_scale(const ovl_result *result)
{
    ovl_scale scale = ovl_scale_for(result->step);
    ovl_scale_fit(&scale, result->step, result->step);
    for (uint32_t i = 0; i < result->n_what_if; i++) {
        ovl_scale_fit(&scale, result->step, result->what_if[i].step);
        ovl_scale_fit(&scale, result->step, result->what_if[i].per_microbatch);
        ovl_scale_fit(&scale, result->step, result->what_if[i].per_microbatch_now);
    }
    return scale;
}

/* A step of other microbatches is compared by what one of them takes. */
static void what_if_row(ovl_grid *grid, const ovl_result *result, const ovl_result_what_if *w,
                        const ovl_scale *scale, ovl_arena *arena)
{
    ovl_time now = ovl_what_if_now(result, w), then = ovl_what_if_then(w);
    const char *cells[] = {
        w->against,
        w->change,
        w->microbatches > 0 ? "a microbatch" : "the step",
        shown(arena, scale, now),
        shown(arena, scale, then),
        ovl_arena_printf(arena, "%.1f", now ? 100.0 * (double)(then - now) / (double)now : 0),
        percent(w->bubble_rate, arena)};
    ovl_grid_row(grid, cells);
}

/* What was tried and does not help: rows from `first` on. */
static void no_help(ovl_out *out, const ovl_result *result, uint32_t first, ovl_arena *arena)
{
    const char *text = "";
    for (uint32_t i = first; i < result->n_what_if; i++) {
        const ovl_result_what_if *w = &result->what_if[i];
        ovl_time now = ovl_what_if_now(result, w), then = ovl_what_if_then(w);
        const char *change =
            then == now
                ? "no change"
                : ovl_arena_printf(arena, "+%.2g %%", 100.0 * (double)(then - now) / (double)now);
        text = ovl_arena_printf(arena, "%s%s%s (%s)", text, *text ? "; " : "", w->change, change);
    }
    if (*text) {
        ovl_wrap(out, "  ", 4, ovl_arena_printf(arena, "Tried, and no help: %s.", text),
                 OVL_TERMINAL);
    }
}

static void what_helps(ovl_out *out, const ovl_result *result, uint32_t n, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"against", true, false, 0}, {"change", true, OVL_GRID_WRAP, 0}, {"takes", true, false, 0},
        {"now", false, false, 0},    {"then", false, false, 0},          {"%", false, false, 0},
        {"idle %", false, false, 1},
    };
    ovl_scale scale = what_if_scale(result);
    ovl_out_title(out, "\nWhat would help, each simulated (times in %s)", ovl_scale_unit(&scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < n; i++) {
        what_if_row(&grid, result, &result->what_if[i], &scale, arena);
    }
    ovl_grid_end(&grid, out, 2);
}

void ovl_report_what_if(ovl_out *out, const ovl_result *result)
{
    ovl_arena arena = {0};
    uint32_t helps = 0;
    while (helps < result->n_what_if && ovl_what_if_then(&result->what_if[helps]) <
                                            ovl_what_if_now(result, &result->what_if[helps])) {
        helps++;
    }
    if (helps) {
        what_helps(out, result, helps, &arena);
    } else if (result->n_what_if || result->what_if_note) {
        ovl_out_title(out, "\nWhat would help");
    }
    no_help(out, result, helps, &arena);
    if (result->what_if_note) {
        ovl_wrap(out, "  ", 2, result->what_if_note, OVL_TERMINAL);
    }
    ovl_arena_free(&arena);
}
