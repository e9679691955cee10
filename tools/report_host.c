/* The host in the text report: what it does, whether the GPU waits for it, and where that ends. */
#include "tools/equation.h"
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/wrap.h"

#include <stdlib.h>

#define MOST_RANKS 5

static int by_wait(const void *a, const void *b)
{
    const ovl_result_rank *x = *(const ovl_result_rank *const *)a;
    const ovl_result_rank *y = *(const ovl_result_rank *const *)b;
    if (x->host.gpu_waits != y->host.gpu_waits) {
        return x->host.gpu_waits > y->host.gpu_waits ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static const char *ranks_text(ovl_arena *arena, const ovl_result_rank *r)
{
    return r->count > 1
               ? ovl_arena_printf(arena, "%" PRIu32 " (of %" PRIu32 " alike)", r->rank, r->count)
               : ovl_arena_printf(arena, "%" PRIu32, r->rank);
}

static const char *shown(ovl_arena *arena, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return t == OVL_NEVER ? "" : ovl_arena_strdup(arena, ovl_scale_show(buf, scale, t));
}

static void row(ovl_grid *grid, const ovl_result_rank *r, const ovl_scale *scale, ovl_arena *arena)
{
    const ovl_host_load *h = &r->host;
    ovl_time part[] = {h->issuing, h->blocked, h->free};
    ovl_scale_terms(scale, h->issuing + h->blocked + h->free, part, OVL_COUNT(part));
    const char *cells[] = {ranks_text(arena, r),
                           shown(arena, scale, part[0]),
                           shown(arena, scale, part[1]),
                           shown(arena, scale, part[2]),
                           shown(arena, scale, h->gpu_waits),
                           shown(arena, scale, h->ahead_min),
                           shown(arena, scale, h->ahead_mean)};
    ovl_grid_row(grid, cells);
}

/* 1570 -> "1.57" */
static const char *times_text(ovl_arena *arena, uint32_t permille)
{
    return ovl_arena_printf(arena, "%" PRIu32 ".%03" PRIu32, permille / 1000, permille % 1000);
}

static const char *bound_text(const ovl_result *result, const ovl_scale *scale, ovl_arena *arena)
{
    char free_step[OVL_UNITS_TEXT], gain[OVL_UNITS_TEXT], first[OVL_UNITS_TEXT];
    const ovl_result_host *h = &result->host;
    const char *unit = ovl_scale_unit(scale);
    ovl_time rounded = ovl_scale_round(scale, result->step) - ovl_scale_round(scale, h->free_step);
    const char *text = ovl_arena_printf(
        arena, "%s: with a host that issues in no time the step is %s %s, %s %s shorter",
        h->bound ? "host-bound" : "not host-bound", ovl_scale_short(free_step, scale, h->free_step),
        unit, ovl_scale_short(gain, scale, rounded), unit);
    if (h->first_launch && rounded) {
        text = ovl_arena_printf(arena, "%s (%s %s of that is the first launch)", text,
                                ovl_scale_short(first, scale, h->first_launch), unit);
    }
    return text;
}

static void crossover(ovl_out *out, const ovl_result *result, const ovl_scale *scale,
                      ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const ovl_result_host *h = &result->host;
    const char *text = "crossover: not searched in a program of this size";
    if (h->searched && !h->hidden && h->kernels) {
        text = ovl_arena_printf(
            arena,
            "crossover: kernels %s times as long (a larger batch) hide it; the step is then %s "
            "%s",
            times_text(arena, h->kernels), ovl_scale_short(buf, scale, h->kernels_step),
            ovl_scale_unit(scale));
    } else if (h->searched && !h->hidden) {
        text = "crossover: none, kernels 64 times as long would not hide it";
    } else if (h->searched && h->has_cost) {
        text = ovl_arena_printf(arena, "hidden until the host takes %s times as long",
                                times_text(arena, h->cost));
    } else if (h->searched) {
        text = "hidden even if the host took 64 times as long";
    }
    ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
    if (h->searched && !h->hidden) {
        text = ovl_arena_printf(arena, "a host that takes %s of its time is hidden, too",
                                times_text(arena, h->cost));
        ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
    }
}

static ovl_scale scale_of(const ovl_result *result, const ovl_result_rank *const *ranks, uint32_t n)
{
    ovl_scale scale = ovl_scale_for(result->step);
    const ovl_result_host *host = &result->host;
    const ovl_time said[] = {host->free_step, host->first_launch, host->kernels_step};
    for (uint32_t i = 0; i < OVL_COUNT(said); i++) {
        ovl_scale_fit(&scale, result->step, said[i] == OVL_NEVER ? 0 : said[i]);
    }
    for (uint32_t i = 0; i < OVL_MIN(n, MOST_RANKS); i++) {
        const ovl_host_load *h = &ranks[i]->host;
        const ovl_time times[] = {h->issuing, h->blocked, h->free, h->gpu_waits};
        for (uint32_t k = 0; k < OVL_COUNT(times); k++) {
            ovl_scale_fit(&scale, result->step, times[k]);
        }
    }
    return scale;
}

static void table(ovl_out *out, const ovl_result *result, const ovl_result_rank *const *ranks,
                  uint32_t n, const ovl_scale *scale, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"rank", true, false, 0},  {"issuing", false, false, 0},   {"blocked", false, false, 0},
        {"free", false, false, 0}, {"GPU waits", false, false, 0}, {"ahead min", false, false, 0},
        {"mean", false, false, 0},
    };
    char buf[OVL_UNITS_TEXT];
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(n, MOST_RANKS); i++) {
        row(&grid, ranks[i], scale, arena);
    }
    ovl_grid_end(&grid, out, 2);
    if (n > MOST_RANKS) {
        ovl_out_printf(out, "  %d of %" PRIu32 " rows, whose GPU waits longest; all: --json\n",
                       MOST_RANKS, n);
    }
    const char *text = ovl_arena_printf(
        arena,
        "issuing + blocked (calls that wait for the GPU) + free (all is issued) = %s, the step; "
        "GPU "
        "waits: no kernel runs though an operation lacks only its launch; ahead: from launch to "
        "start",
        ovl_scale_short(buf, scale, result->step));
    ovl_wrap(out, "  ", 2, text, OVL_TERMINAL);
}

void ovl_report_host(ovl_out *out, const ovl_result *result)
{
    ovl_arena arena = {0};
    const ovl_result_rank **ranks = OVL_NEW_ARRAY(&arena, const ovl_result_rank *, result->n_ranks);
    uint32_t n = 0;
    for (uint32_t i = 0; i < result->n_ranks; i++) {
        if (result->ranks[i].has_host) {
            ranks[n++] = &result->ranks[i];
        }
    }
    if (n && result->host.present) {
        qsort(ranks, n, sizeof *ranks, by_wait);
        ovl_scale scale = scale_of(result, ranks, n);
        ovl_out_title(out, "\nHost (times in %s)", ovl_scale_unit(&scale));
        table(out, result, ranks, n, &scale, &arena);
        if (result->host.free_step != OVL_NEVER) {
            ovl_wrap(out, "  ", 4, bound_text(result, &scale, &arena), OVL_TERMINAL);
            crossover(out, result, &scale, &arena);
        }
    }
    ovl_arena_free(&arena);
}
