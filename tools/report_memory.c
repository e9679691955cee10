/* Memory and correctness in the text report: peaks with their holders, hazards, the proof. */
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/wrap.h"

#include "sim/units.h"

#include <stdlib.h>
#include <string.h>

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
    return r->count > 1
               ? ovl_arena_printf(arena, "%" PRIu32 " (of %" PRIu32 " alike)", r->rank, r->count)
               : ovl_arena_printf(arena, "%" PRIu32, r->rank);
}

/* What is left of the GPU, or missing. */
static const char *spare_text(const ovl_result *result, const ovl_result_rank *r, ovl_arena *arena)
{
    uint64_t limit = result->memory_limit, peak = r->reserved_peak;
    return peak > limit ? ovl_arena_printf(arena, "-%s", bytes_text(arena, peak - limit))
                        : bytes_text(arena, limit - peak);
}

static void memory_row(ovl_grid *grid, const ovl_result *result, const ovl_result_rank *r,
                       ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const char *cells[] = {
        ranks_text(arena, r),
        bytes_text(arena, r->live_peak),
        ovl_arena_strdup(arena, ovl_print_time(buf, r->live.at)),
        bytes_text(arena, r->allocated_peak),
        r->allocated.raised_by,
        bytes_text(arena, r->reserved_peak),
        result->memory_limit && result->n_ranks > 1 ? spare_text(result, r, arena) : NULL,
    };
    ovl_grid_row(grid, cells);
}

/* --- Peaks --- */

/* "a 10 MiB (parameter) + b 5 MiB (activation) + 3 others 2 MiB = 17 MiB" */
static const char *holders_text(const ovl_peak *peak, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const char *text = "";
    uint64_t sum = 0;
    for (uint32_t i = 0; i < peak->n_holders; i++) {
        const ovl_holder *h = &peak->holders[i];
        text =
            ovl_arena_printf(arena, "%s%s%s %s", text, i ? " + " : "",
                             ovl_cut(arena, h->name, LONGEST_NAME), ovl_print_bytes(buf, h->bytes));
        if (h->category) {
            text = ovl_arena_printf(arena, "%s (%s)", text, h->category);
        }
        sum += h->bytes;
    }
    return ovl_arena_printf(arena, "%s = %s", text, ovl_print_bytes(buf, sum));
}

static const char *gpu_moment(const ovl_peak *p, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const char *at = ovl_print_time(buf, p->at);
    return p->raised_by ? ovl_arena_printf(arena, "at %s, when %s starts", at, p->raised_by)
                        : ovl_arena_printf(arena, "at %s", at);
}

/* Without a host, all is issued at once, which is no moment to tell. */
static const char *host_moment(const ovl_peak *p, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    if (strcmp(p->raised_by, "end") == 0) {
        return "at the end of the program";
    }
    return p->at ? ovl_arena_printf(arena, "before issuing %s, the host at %s", p->raised_by,
                                    ovl_print_time(buf, p->at))
                 : ovl_arena_printf(arena, "before issuing %s", p->raised_by);
}

/* What would have to come earlier. */
static void easing(ovl_out *out, const ovl_peak *p, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const char *text =
        p->eased_by
            ? ovl_arena_printf(arena,
                               "to lower it, the last use of %s, by %s (ends at %s), would have to "
                               "come before %s is needed",
                               p->eased_buffer, p->eased_by, ovl_print_time(buf, p->eased_at),
                               p->raised_buffer)
            : ovl_arena_printf(
                  arena,
                  "no holder could go before %s is needed: each is held for the whole run, was "
                  "just made, or is last used by what waits for it or comes behind it on a stream",
                  p->raised_buffer ? p->raised_buffer : "more");
    ovl_wrap(out, "    ", 4, text, OVL_TERMINAL);
}

static void peak(ovl_out *out, const ovl_result_rank *r, const char *kind, const char *moment,
                 const ovl_peak *p, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    if (p->bytes == 0) {
        return;
    }
    const char *text =
        ovl_arena_printf(arena, "rank %" PRIu32 ", %s peak %s %s: %s", r->rank, kind,
                         ovl_print_bytes(buf, p->bytes), moment, holders_text(p, arena));
    ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
    easing(out, p, arena);
}

static bool same_holders(const ovl_peak *a, const ovl_peak *b)
{
    if (a->bytes != b->bytes || a->n_holders != b->n_holders || !a->bytes) {
        return false;
    }
    for (uint32_t i = 0; i < a->n_holders; i++) {
        if (a->holders[i].bytes != b->holders[i].bytes ||
            strcmp(a->holders[i].name, b->holders[i].name) != 0) {
            return false;
        }
    }
    return true;
}

static const char *add_part(ovl_arena *arena, const char *text, const char *name, uint64_t bytes)
{
    char buf[OVL_UNITS_TEXT];
    return bytes ? ovl_arena_printf(arena, "%s + %s %s", text, name, ovl_print_bytes(buf, bytes))
                 : text;
}

/* What the allocator took beyond what it was asked for. */
static void reserved(ovl_out *out, const ovl_result_rank *r, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT], some[OVL_UNITS_TEXT];
    const ovl_peak *p = &r->reserved;
    uint64_t buffers = p->bytes - p->rounding - p->unused - p->waiting;
    bool same = p->at == r->allocated.at && strcmp(p->raised_by, r->allocated.raised_by) == 0;
    const char *text = ovl_arena_printf(
        arena, "rank %" PRIu32 ", reserved peak %s %s: buffers %s", r->rank,
        ovl_print_bytes(buf, p->bytes), same ? "at the allocated peak" : host_moment(p, arena),
        p->bytes == buffers ? "alone" : ovl_print_bytes(some, buffers));
    text = add_part(arena, text, "freed, but still used by other streams", p->waiting);
    text = add_part(arena, text, "rounding", p->rounding);
    text = add_part(arena, text, "free in pools", p->unused);
    if (p->bytes != buffers) {
        text = ovl_arena_printf(arena, "%s = %s", text, ovl_print_bytes(buf, p->bytes));
    }
    ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
    if (!same) {
        easing(out, p, arena);
    }
}

static void peaks(ovl_out *out, const ovl_result_rank *r, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const char *live = gpu_moment(&r->live, arena), *host = host_moment(&r->allocated, arena);
    if (same_holders(&r->live, &r->allocated)) {
        peak(out, r, "live and allocated", ovl_arena_printf(arena, "%s (%s)", live, host), &r->live,
             arena);
    } else {
        peak(out, r, "live", live, &r->live, arena);
        peak(out, r, "allocated", host, &r->allocated, arena);
    }
    reserved(out, r, arena);
    if (r->active_peak > r->allocated_peak) {
        const char *text = ovl_arena_printf(
            arena,
            "rank %" PRIu32
            " has at most %s active: allocated, or freed while other streams still use it",
            r->rank, ovl_print_bytes(buf, r->active_peak));
        ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
    }
}

/* --- Does it fit? --- */

static const char *failure_text(const ovl_memory_failure *f, ovl_arena *arena)
{
    char bytes[OVL_UNITS_TEXT], at[OVL_UNITS_TEXT], reserved[OVL_UNITS_TEXT];
    return ovl_arena_printf(arena,
                            "the first allocation that fails is %s (%s), before issuing %s, the "
                            "host at %s and %s reserved",
                            f->buffer, ovl_print_bytes(bytes, f->bytes), f->op,
                            ovl_print_time(at, f->at), ovl_print_bytes(reserved, f->reserved));
}

/* Of ranks that differ some may fit. */
static const char *verdict_word(const ovl_result *result, ovl_arena *arena)
{
    uint32_t ranks, over = ovl_result_ranks_over(result, &ranks);
    return over == 0 ? "fits"
           : over == ranks
               ? "does not fit"
               : ovl_arena_printf(arena, "does not fit on %" PRIu32 " of %" PRIu32 " ranks", over,
                                  ranks);
}

/* Said only where the hardware gives its memory. */
static void verdict(ovl_out *out, const ovl_result *result, ovl_arena *arena)
{
    char peak_bytes[OVL_UNITS_TEXT], limit[OVL_UNITS_TEXT], rest[OVL_UNITS_TEXT];
    if (!result->has_memory || !result->memory_limit) {
        return;
    }
    uint64_t over = ovl_result_over_memory(result);
    uint64_t apart = over ? over : result->memory_limit - result->reserved_peak;
    const char *text =
        ovl_arena_printf(arena, "%s: rank %" PRIu32 " reserves %s of the %s of its GPU, %s %s",
                         verdict_word(result, arena), result->fullest_rank,
                         ovl_print_bytes(peak_bytes, result->reserved_peak),
                         ovl_print_bytes(limit, result->memory_limit), ovl_print_bytes(rest, apart),
                         over ? "too much" : "to spare");
    if (result->allocation_retries) {
        text = ovl_arena_printf(arena,
                                "%s; %" PRIu32 " allocation%s met only after free memory of other "
                                "pools went back (retries, whose time is not modelled)",
                                text, result->allocation_retries,
                                result->allocation_retries == 1 ? " is" : "s are");
    }
    if (over && result->failure.buffer) {
        text = ovl_arena_printf(arena, "%s; %s", text, failure_text(&result->failure, arena));
    }
    ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
}

void ovl_report_memory(ovl_out *out, const ovl_result *result)
{
    static const ovl_column columns[] = {
        {"rank", true, false, 0},          {"live", false, false, 0},
        {"at", false, false, 0},           {"allocated", false, false, 0},
        {"before issuing", true, true, 0}, {"reserved", false, false, 0},
        {"spare", false, false, 0},
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
            memory_row(&grid, result, ranks[i], &arena);
        }
        ovl_grid_end(&grid, out, 2);
        if (n > MOST_RANKS) {
            ovl_out_printf(out, "  %d of %" PRIu32 " rows, the highest; all of them: --json\n",
                           MOST_RANKS, n);
        }
        peaks(out, ranks[0], &arena);
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

static void reuses(ovl_out *out, const ovl_result *result)
{
    if (result->reuses_checked) {
        bool one = result->reuses_checked == 1;
        ovl_out_printf(out,
                       "  %" PRIu32 " buffer%s the memory of one freed before, %s after its last "
                       "use\n",
                       result->reuses_checked, one ? " gets" : "s get", one ? "" : "each");
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
        reuses(out, result);
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
