/* Memory and correctness in the text report: peaks with their holders, hazards, the proof. */
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/wrap.h"

#include "sim/units.h"

#include <stdlib.h>

#define MOST_RANKS   10
#define MOST_HAZARDS 20
#define LONGEST_NAME 32 /* of a holder, which stands in a list of eight */

static const char *bytes_text(ovl_arena *arena, uint64_t bytes)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_bytes(buf, bytes));
}

/* --- Memory --- */

static int by_live(const void *a, const void *b)
{
    const ovl_result_rank *x = *(const ovl_result_rank *const *)a;
    const ovl_result_rank *y = *(const ovl_result_rank *const *)b;
    if (x->live_peak != y->live_peak) {
        return x->live_peak > y->live_peak ? -1 : 1;
    }
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static const char *ranks_text(ovl_arena *arena, const ovl_result_rank *r)
{
    return r->count > 1 ? ovl_arena_printf(arena, "%" PRIu32 " (and %" PRIu32 " alike)", r->rank,
                                           r->count - 1)
                        : ovl_arena_printf(arena, "%" PRIu32, r->rank);
}

static void memory_row(ovl_grid *grid, const ovl_result_rank *r, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const char *cells[] = {
        ranks_text(arena, r),
        bytes_text(arena, r->live_peak),
        ovl_arena_strdup(arena, ovl_print_time(buf, r->live_peak_at)),
        bytes_text(arena, r->allocated_peak),
        r->allocated_peak_at,
        bytes_text(arena, r->reserved_peak),
    };
    ovl_grid_row(grid, cells);
}

/* The analysis names the largest and sums the others in a last entry without a category. */
static void holders(ovl_out *out, const ovl_result_rank *r, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const char *text = ovl_arena_printf(arena, "rank %" PRIu32 " holds at its live peak:", r->rank);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n_holders; i++) {
        const ovl_holder *h = &r->holders[i];
        text =
            ovl_arena_printf(arena, "%s%s %s %s", text, i ? " +" : "",
                             ovl_cut(arena, h->name, LONGEST_NAME), ovl_print_bytes(buf, h->bytes));
        if (h->category) {
            text = ovl_arena_printf(arena, "%s (%s)", text, h->category);
        }
        sum += h->bytes;
    }
    text = ovl_arena_printf(arena, "%s = %s", text, ovl_print_bytes(buf, sum));
    ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
}

/* Does the largest reserved peak fit the GPU? Said only where the hardware gives its memory. */
static void verdict(ovl_out *out, const ovl_result *result, ovl_arena *arena)
{
    char peak[OVL_UNITS_TEXT], limit[OVL_UNITS_TEXT], over[OVL_UNITS_TEXT];
    if (!result->has_memory || !result->memory_limit) {
        return;
    }
    uint64_t too_much = ovl_result_over_memory(result);
    const char *text = ovl_arena_printf(
        arena, "%s: rank %" PRIu32 " reserves %s of the %s of its GPU",
        too_much ? "does not fit" : "fits", result->fullest_rank,
        ovl_print_bytes(peak, result->reserved_peak), ovl_print_bytes(limit, result->memory_limit));
    if (too_much) {
        text = ovl_arena_printf(arena, "%s, %s too much", text, ovl_print_bytes(over, too_much));
    }
    ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
}

void ovl_report_memory(ovl_out *out, const ovl_result *result)
{
    static const ovl_column columns[] = {
        {"rank", true, false, 0},          {"live", false, false, 0},
        {"at", false, false, 0},           {"allocated", false, false, 0},
        {"before issuing", true, true, 0}, {"reserved", false, false, 0},
    };
    ovl_arena arena = {0};
    const ovl_result_rank **ranks = OVL_NEW_ARRAY(&arena, const ovl_result_rank *, result->n_ranks);
    uint32_t n = 0;
    for (uint32_t i = 0; i < result->n_ranks; i++) {
        if (result->ranks[i].has_memory) {
            ranks[n++] = &result->ranks[i];
        }
    }
    if (n) {
        qsort(ranks, n, sizeof *ranks, by_live);
        ovl_out_title(out, "\nPeak memory");
        ovl_grid grid;
        ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
        for (uint32_t i = 0; i < OVL_MIN(n, MOST_RANKS); i++) {
            memory_row(&grid, ranks[i], &arena);
        }
        ovl_grid_end(&grid, out, 2);
        if (n > MOST_RANKS) {
            ovl_out_printf(out, "  %d of %" PRIu32 " rows, the highest; all of them: --json\n",
                           MOST_RANKS, n);
        }
        holders(out, ranks[0], &arena);
        verdict(out, result, &arena);
    }
    ovl_arena_free(&arena);
}

/* --- Hazards --- */

static void proof(ovl_out *out, const ovl_result *result)
{
    if (result->gradient_scale) {
        ovl_out_printf(out,
                       "  %" PRIu32 " gradient%s proved: each reaches its optimizer complete, "
                       "once, at scale %s\n",
                       result->gradients_proved, result->gradients_proved == 1 ? "" : "s",
                       result->gradient_scale);
    }
}

void ovl_report_hazards(ovl_out *out, const ovl_result *result)
{
    if (!result->hazards_checked) {
        ovl_out_title(out, "\nHazards not checked: the program declares no buffers");
        return;
    }
    if (result->n_hazards == 0) {
        ovl_out_title(out, "\nHazards: none");
        ovl_out_printf(out, "  %" PRIu32 " pair%s of accesses to buffers, all ordered\n",
                       result->accesses_checked, result->accesses_checked == 1 ? "" : "s");
        proof(out, result);
        return;
    }
    ovl_out_title(out, "\nHazards: %" PRIu32, result->n_hazards);
    ovl_arena arena = {0};
    for (uint32_t i = 0; i < OVL_MIN(result->n_hazards, MOST_HAZARDS); i++) {
        const ovl_result_hazard *h = &result->hazards[i];
        const char *place = h->mark.file && h->mark.line
                                ? ovl_arena_printf(&arena, "%s:%" PRIu32 ":%" PRIu32 ": ",
                                                   h->mark.file, h->mark.line, h->mark.column)
                                : "";
        const char *more = h->count > 1
                               ? ovl_arena_printf(&arena, " (%" PRIu32 " more rank%s alike)",
                                                  h->count - 1, h->count > 2 ? "s" : "")
                               : "";
        ovl_wrap(out, "  - ", 4,
                 ovl_arena_printf(&arena, "%s%s: %s%s", place, h->kind, h->text, more),
                 OVL_TERMINAL);
    }
    if (result->n_hazards > MOST_HAZARDS) {
        ovl_out_printf(out, "  - and %" PRIu32 " more: --json\n", result->n_hazards - MOST_HAZARDS);
    }
    proof(out, result);
    ovl_arena_free(&arena);
}
