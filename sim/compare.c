#include "sim/compare.h"

#include "sim/path_change.h"
#include "sim/units.h"

#include <math.h>

static const char *const verdict_names[] = {"better", "worse", "no gain"};

const char *ovl_verdict_name(ovl_verdict verdict)
{
    return verdict_names[verdict];
}

__extension__ typedef __int128 wide;

static const char *time_text(ovl_arena *arena, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_time(buf, t));
}

static const char *bytes_text(ovl_arena *arena, uint64_t bytes)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_bytes(buf, bytes));
}

static const char *rate_text(ovl_arena *arena, double rate)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_rate(buf, rate));
}

/* --- Verdict --- */

static ovl_time length(const ovl_result_collective *row)
{
    return row->end - row->start;
}

/* The row of the same name, rank and place among its namesakes; NULL if there is none. */
static const ovl_result_collective *counterpart(const ovl_result *of, uint32_t index,
                                                const ovl_result *in)
{
    const ovl_result_collective *row = &of->collectives[index];
    uint32_t place = 0;
    for (uint32_t i = 0; i < index; i++) {
        const ovl_result_collective *other = &of->collectives[i];
        place += other->rank == row->rank && strcmp(other->name, row->name) == 0;
    }
    for (uint32_t i = 0; i < in->n_collectives; i++) {
        const ovl_result_collective *other = &in->collectives[i];
        if (other->rank == row->rank && strcmp(other->name, row->name) == 0 && place-- == 0) {
            return other;
        }
    }
    return NULL;
}

/* Of the deciding rank's communication with slack, the longest that changed; NULL if none did. */
static const ovl_result_collective *slack_witness(const ovl_result *a, const ovl_result *b)
{
    const ovl_result_collective *changed = NULL;
    for (uint32_t i = 0; i < a->n_collectives; i++) {
        const ovl_result_collective *row = &a->collectives[i];
        if (row->rank != a->deciding_rank || row->slack <= 0) {
            continue;
        }
        const ovl_result_collective *other = counterpart(a, i, b);
        bool same = other && length(other) == length(row) && other->end == row->end;
        if (!same && (!changed || length(row) > length(changed))) {
            changed = row;
        }
    }
    return changed;
}

/* Every row is where it was. */
static bool same_communication(const ovl_result *a, const ovl_result *b)
{
    bool same = a->n_collectives == b->n_collectives;
    for (uint32_t i = 0; same && i < a->n_collectives; i++) {
        const ovl_result_collective *x = &a->collectives[i], *y = &b->collectives[i];
        same = x->rank == y->rank && strcmp(x->name, y->name) == 0 && x->bytes == y->bytes &&
               x->ready == y->ready && x->start == y->start && x->end == y->end;
    }
    return same;
}

static bool same_rank(const ovl_result_rank *x, const ovl_result_rank *y)
{
    bool same = x->rank == y->rank && x->end == y->end && x->startups == y->startups &&
                x->hidden_comm == y->hidden_comm && x->live_peak == y->live_peak &&
                x->allocated_peak == y->allocated_peak && x->reserved_peak == y->reserved_peak;
    for (int i = 0; i < OVL_TERM_COUNT; i++) {
        same = same && x->term[i] == y->term[i];
    }
    return same;
}

static bool same_ranks(const ovl_result *a, const ovl_result *b)
{
    bool same = a->n_ranks == b->n_ranks && a->without_interference == b->without_interference;
    for (uint32_t i = 0; same && i < a->n_ranks; i++) {
        same = same_rank(&a->ranks[i], &b->ranks[i]);
    }
    return same;
}

static const char *no_gain_sentence(const ovl_comparison *c, ovl_arena *arena)
{
    const ovl_result_collective *row = slack_witness(c->a, c->b);
    const ovl_result *of = row ? c->a : c->b, *other = row ? c->b : c->a;
    row = row ? row : slack_witness(c->b, c->a);
    if (!row && same_communication(c->a, c->b)) {
        return same_ranks(c->a, c->b)
                   ? "no gain: nothing changed: the terms, the communication and the peaks of "
                     "every rank are the same"
                   : "no gain: the step is the same, and so is all communication listed";
    }
    if (!row) {
        return "no gain: the step is the same";
    }
    bool both = counterpart(of, (uint32_t)(row - of->collectives), other);
    return ovl_arena_printf(arena, "no gain: the step is the same; %s %s %s of slack%s", row->name,
                            both || of == c->b ? "has" : "had", time_text(arena, row->slack),
                            both         ? ""
                            : of == c->a ? " and is gone"
                                         : " and is new");
}

/* The term that moved furthest the way the step moved. */
static ovl_term largest_move(const ovl_comparison *c)
{
    ovl_term best = OVL_COMPUTE;
    for (int i = 0; i < OVL_TERM_COUNT; i++) {
        ovl_time move = c->delta_term[i], most = c->delta_term[best];
        if (c->delta < 0 ? move < most : move > most) {
            best = (ovl_term)i;
        }
    }
    return best;
}

static const char *percent_text(ovl_arena *arena, ovl_time part, ovl_time whole)
{
    if (whole == 0) {
        return "";
    }
    double percent = 100.0 * fabs((double)part) / (double)whole;
    return percent < 0.1 ? ovl_arena_printf(arena, " (%.2g %%)", percent)
                         : ovl_arena_printf(arena, " (%.1f %%)", percent);
}

/* Of each pipeline, or of each rank without one. */
static uint64_t of_replica(const ovl_result *r)
{
    return r->microbatches ? r->microbatches : r->rank_microbatches;
}

static bool other_microbatches(const ovl_result *a, const ovl_result *b)
{
    uint64_t n_a = ovl_result_microbatches(a), n_b = ovl_result_microbatches(b);
    bool same_replicas = n_a * of_replica(b) == n_b * of_replica(a);
    return n_a != n_b && n_a && n_b && of_replica(a) && same_replicas;
}

/* What the model itself needs, on all ranks; 0: not known. */
static double flops_of(const ovl_result *r)
{
    return r->useful.flops * r->useful.ranks;
}

static bool alike(double x, double y)
{
    return fabs(x - y) <= 1e-3 * x;
}

/* Whether two steps of as many tokens are of one model, on sequences of other lengths: with these
 * its attention grows, the rest of it takes as many FLOPs. */
static bool other_sequences(const ovl_result *a, const ovl_result *b)
{
    const ovl_useful *x = &a->useful, *y = &b->useful;
    double of_x = x->attention * x->ranks, of_y = y->attention * y->ranks;
    return x->sequence && y->sequence && x->sequence != y->sequence && x->tokens == y->tokens &&
           alike(flops_of(a) - of_x, flops_of(b) - of_y) &&
           alike(of_x / (double)x->sequence, of_y / (double)y->sequence);
}

static bool other_model(const ovl_result *a, const ovl_result *b)
{
    double x = flops_of(a), y = flops_of(b);
    return x > 0 && y > 0 && !alike(x, y) && !other_sequences(a, b);
}

ovl_unit ovl_unit_of(const ovl_result *a, const ovl_result *b)
{
    const ovl_useful *x = &a->useful, *y = &b->useful;
    bool known = x->tokens && y->tokens && x->ranks == y->ranks;
    bool other = other_microbatches(a, b);
    if (known && x->tokens == y->tokens) {
        return other_model(a, b) ? OVL_UNIT_FLOPS : OVL_UNIT_STEP;
    }
    wide per_a = (wide)x->tokens * (wide)ovl_result_microbatches(b);
    wide per_b = (wide)y->tokens * (wide)ovl_result_microbatches(a);
    bool equal = other && (!known || per_a == per_b);
    return equal ? OVL_UNIT_MICROBATCH : known ? OVL_UNIT_TOKENS : OVL_UNIT_STEP;
}

bool ovl_other_work(const ovl_result *a, const ovl_result *b)
{
    return ovl_unit_of(a, b) != OVL_UNIT_STEP;
}

/* What a unit takes: a step, a microbatch, a million tokens, 10^15 FLOPs. */
static ovl_time per_unit(const ovl_result *r, ovl_unit unit)
{
    if (unit == OVL_UNIT_MICROBATCH) {
        return ovl_result_per_microbatch(r);
    }
    if (unit == OVL_UNIT_FLOPS) {
        return (ovl_time)fmin((double)r->step / flops_of(r) * 1e15, (double)OVL_TIME_MAX);
    }
    wide millions = (wide)r->step * 1000000;
    return unit == OVL_UNIT_STEP
               ? r->step
               : (ovl_time)OVL_MIN(millions / (wide)r->useful.tokens, (wide)OVL_TIME_MAX);
}

/* "8 microbatches instead of 4" */
static const char *work_text(const ovl_comparison *c, ovl_arena *arena)
{
    ovl_unit unit = ovl_unit_of(c->a, c->b);
    bool tokens = unit == OVL_UNIT_TOKENS;
    if (unit == OVL_UNIT_FLOPS) {
        return ovl_arena_printf(arena, "another model, %.4g PFLOP instead of %.4g",
                                flops_of(c->b) / 1e15, flops_of(c->a) / 1e15);
    }
    return ovl_arena_printf(arena, "%" PRIu64 " %s instead of %" PRIu64,
                            tokens ? c->b->useful.tokens : ovl_result_microbatches(c->b),
                            tokens ? "tokens" : "microbatches",
                            tokens ? c->a->useful.tokens : ovl_result_microbatches(c->a));
}

/* What does not fit the memory of its GPU cannot be run: it is worse than whatever does. */
static ovl_verdict verdict_of(const ovl_comparison *c)
{
    bool a_fits = !ovl_result_over_memory(c->a), b_fits = !ovl_result_over_memory(c->b);
    if (a_fits != b_fits) {
        return b_fits ? OVL_BETTER : OVL_WORSE;
    }
    ovl_unit unit = ovl_unit_of(c->a, c->b);
    ovl_time change = per_unit(c->b, unit) - per_unit(c->a, unit);
    return change < 0 ? OVL_BETTER : change > 0 ? OVL_WORSE : OVL_NO_GAIN;
}

static const char *fit_sentence(const ovl_comparison *c, ovl_arena *arena)
{
    bool b_fits = !ovl_result_over_memory(c->b);
    ovl_time whole = c->delta < 0 ? -c->delta : c->delta;
    const char *step = c->delta == 0 ? "the same"
                                     : ovl_arena_printf(arena, "%s%s %s", time_text(arena, whole),
                                                        percent_text(arena, c->delta, c->a->step),
                                                        c->delta < 0 ? "shorter" : "longer");
    return ovl_arena_printf(arena, "%s: it %s the memory of its GPU; the step would be %s",
                            ovl_verdict_name(c->verdict),
                            b_fits ? "fits, as the other does not," : "does not fit", step);
}

/* As many tokens in longer sequences are the same work, of more FLOPs. */
static const char *with_sequences(const ovl_comparison *c, const char *sentence, ovl_arena *arena)
{
    if (!other_sequences(c->a, c->b)) {
        return sentence;
    }
    return ovl_arena_printf(arena,
                            "%s; b trains on as many tokens in sequences of %" PRIu64
                            " instead of %" PRIu64 ", %.4g PFLOP instead of %.4g",
                            sentence, c->b->useful.sequence, c->a->useful.sequence,
                            flops_of(c->b) / 1e15, flops_of(c->a) / 1e15);
}

/* The step does not count what retries of the allocator take. */
static const char *with_retries(const ovl_comparison *c, const char *sentence, ovl_arena *arena)
{
    uint32_t a = c->a->allocation_retries, b = c->b->allocation_retries;
    return a == b ? sentence
                  : ovl_arena_printf(arena,
                                     "%s; allocations met only after free memory went back to the "
                                     "GPU (retries, whose time is not modelled): %" PRIu32
                                     " instead of %" PRIu32,
                                     sentence, b, a);
}

static const char *step_sentence(const ovl_comparison *c, ovl_arena *arena)
{
    if (c->delta == 0) {
        return no_gain_sentence(c, arena);
    }
    ovl_term term = largest_move(c);
    const char *sign = c->delta < 0 ? "-" : "+";
    ovl_time move = c->delta_term[term];
    ovl_time whole = c->delta < 0 ? -c->delta : c->delta;
    move = move < 0 ? -move : move;
    const char *share = move > whole - move    ? "most of it"
                        : move == whole - move ? "half of it"
                                               : "the largest part";
    return ovl_arena_printf(arena, "%s: the step is %s%s %s; %s is %s, %s%s",
                            ovl_verdict_name(c->verdict), time_text(arena, whole),
                            percent_text(arena, c->delta, c->a->step),
                            c->delta < 0 ? "shorter" : "longer", share, ovl_term_name(term), sign,
                            time_text(arena, move));
}

/* A longer step of more work is not worse for that: what a unit of it takes decides. */
static const char *work_sentence(const ovl_comparison *c, ovl_arena *arena)
{
    ovl_unit unit = ovl_unit_of(c->a, c->b);
    ovl_time a = per_unit(c->a, unit), b = per_unit(c->b, unit);
    ovl_time longer = c->delta < 0 ? -c->delta : c->delta;
    const char *takes = unit == OVL_UNIT_TOKENS  ? "a million tokens take"
                        : unit == OVL_UNIT_FLOPS ? "a PFLOP takes"
                                                 : "a microbatch takes";
    const char *times = a == b
                            ? ovl_arena_printf(arena, "%s in both", time_text(arena, a))
                            : ovl_arena_printf(arena, "%s instead of %s, %s%s", time_text(arena, b),
                                               time_text(arena, a), b < a ? "shorter" : "longer",
                                               percent_text(arena, b - a, a));
    return ovl_arena_printf(arena, "%s: %s %s; b does other work, %s, in a step that is %s",
                            ovl_verdict_name(c->verdict), takes, times, work_text(c, arena),
                            longer == 0 ? "as long"
                                        : ovl_arena_printf(arena, "%s %s", time_text(arena, longer),
                                                           c->delta < 0 ? "shorter" : "longer"));
}

static const char *verdict_sentence(const ovl_comparison *c, ovl_arena *arena)
{
    bool a_fits = !ovl_result_over_memory(c->a), b_fits = !ovl_result_over_memory(c->b);
    const char *text = a_fits != b_fits             ? fit_sentence(c, arena)
                       : ovl_other_work(c->a, c->b) ? work_sentence(c, arena)
                                                    : step_sentence(c, arena);
    if (!a_fits && !b_fits) {
        text = ovl_arena_printf(arena, "%s; neither fits the memory of its GPU", text);
    }
    if (a_fits != b_fits && ovl_other_work(c->a, c->b)) {
        text = ovl_arena_printf(arena, "%s, of other work: %s", text, work_text(c, arena));
    }
    return with_retries(c, with_sequences(c, text, arena), arena);
}

/* --- Efficiency --- */

static const char *efficiency_sentence(const ovl_comparison *c, ovl_arena *arena)
{
    double a = c->a->mean_busbw, b = c->b->mean_busbw;
    bool moved = a >= 0 && b >= 0 && fabs(b - a) > 1e-6 * fmax(a, b);
    bool against = (b < a && c->delta < 0) || (b > a && c->delta > 0);
    if (!moved || !against) {
        return NULL;
    }
    return ovl_arena_printf(arena,
                            "bandwidth efficiency %s: mean busbw %s -> %s, startups %" PRIu32
                            " -> %" PRIu32 "; the step %s all the same",
                            b < a ? "fell" : "rose", rate_text(arena, a), rate_text(arena, b),
                            c->a->startups, c->b->startups,
                            c->delta < 0 ? "improved" : "became longer");
}

/* --- Gradients and memory --- */

static const char *inputs_text(const ovl_result *a, const ovl_result *b, ovl_arena *arena)
{
    if (a->gradients_proved == b->gradients_proved) {
        return ovl_arena_printf(arena, "%" PRIu32 " input%s", a->gradients_proved,
                                a->gradients_proved == 1 ? "" : "s");
    }
    return ovl_arena_printf(arena, "%" PRIu32 " and %" PRIu32 " inputs", a->gradients_proved,
                            b->gradients_proved);
}

static const char *gradient_sentence(const ovl_result *a, const ovl_result *b, ovl_arena *arena)
{
    if (a->gradient_digest == 0 && b->gradient_digest == 0) {
        return "not proved that the optimizer receives the same gradients: neither run follows any";
    }
    if (!a->gradient_scale || !b->gradient_scale) {
        const char *which = a->gradient_scale ? "b" : b->gradient_scale ? "a" : "both runs";
        return ovl_arena_printf(arena,
                                "not proved that the optimizer receives the same gradients: there "
                                "is no proof for %s",
                                which);
    }
    if (a->gradient_digest == b->gradient_digest) {
        return ovl_arena_printf(
            arena, "the optimizer receives the same gradients: proved for %s, each once, at %s",
            inputs_text(a, b, arena), b->gradient_scale);
    }
    return ovl_arena_printf(arena,
                            "the optimizer does not receive the same gradients: each run is "
                            "complete in itself (at %s and %s), but they differ",
                            a->gradient_scale, b->gradient_scale);
}

typedef struct peaks {
    bool any;
    uint64_t live, allocated, active, reserved;
} peaks;

/* The largest of any rank. */
static peaks peaks_of(const ovl_result *r)
{
    peaks p = {0};
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        const ovl_result_rank *rank = &r->ranks[i];
        if (rank->has_memory) {
            p.any = true;
            p.live = OVL_MAX(p.live, rank->live_peak);
            p.allocated = OVL_MAX(p.allocated, rank->allocated_peak);
            p.active = OVL_MAX(p.active, rank->active_peak);
            p.reserved = OVL_MAX(p.reserved, rank->reserved_peak);
        }
    }
    return p;
}

static const char *bytes_beside(ovl_arena *arena, uint64_t bytes, uint64_t other)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_bytes_beside(buf, bytes, other));
}

static const char *peak_text(ovl_arena *arena, const char *what, uint64_t a, uint64_t b)
{
    if (a == b) {
        return ovl_arena_printf(arena, "%s %s, unchanged", what, bytes_text(arena, a));
    }
    uint64_t apart = a < b ? b - a : a - b;
    return ovl_arena_printf(arena, "%s %s -> %s (%s%s)", what, bytes_beside(arena, a, b),
                            bytes_beside(arena, b, a), a < b ? "+" : "-", bytes_text(arena, apart));
}

static const char *memory_sentence(const ovl_result *a, const ovl_result *b, ovl_arena *arena)
{
    peaks x = peaks_of(a), y = peaks_of(b);
    if (!x.any && !y.any) {
        return NULL;
    }
    if (!x.any || !y.any) {
        return ovl_arena_printf(arena, "peaks cannot be compared: %s declares no buffers",
                                x.any ? "b" : "a");
    }
    const char *over = "";
    if (ovl_result_over_memory(a) || ovl_result_over_memory(b)) {
        over = !ovl_result_over_memory(b)   ? "; a does not fit its GPU, b does"
               : !ovl_result_over_memory(a) ? "; b does not fit its GPU"
                                            : "; neither fits its GPU";
    }
    /* Freed memory that the GPU still uses, only where there is any. */
    bool waits = x.active > x.allocated || y.active > y.allocated;
    return ovl_arena_printf(
        arena, "peaks: %s; %s; %s%s%s%s", peak_text(arena, "live", x.live, y.live),
        peak_text(arena, "allocated", x.allocated, y.allocated),
        waits ? peak_text(arena, "active", x.active, y.active) : "", waits ? "; " : "",
        peak_text(arena, "reserved", x.reserved, y.reserved), over);
}

static const ovl_result_rank *deciding_rank(const ovl_result *r)
{
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        if (r->ranks[i].rank == r->deciding_rank) {
            return &r->ranks[i];
        }
    }
    return NULL;
}

/* Both or neither. */
static void find_idle(ovl_comparison *c)
{
    const ovl_result_rank *a = deciding_rank(c->a), *b = deciding_rank(c->b);
    if (a && b && (c->a->idle.telling || c->b->idle.telling) && (a->idle_time || b->idle_time)) {
        c->idle[0] = a;
        c->idle[1] = b;
    }
}

void ovl_compare(const ovl_result *a, const ovl_result *b, ovl_arena *arena,
                 ovl_comparison *comparison)
{
    ovl_comparison c = {.a = a, .b = b, .delta = b->step - a->step};
    for (int i = 0; i < OVL_TERM_COUNT; i++) {
        c.delta_term[i] = b->term[i] - a->term[i];
    }
    c.verdict = verdict_of(&c);
    c.sentence = verdict_sentence(&c, arena);
    c.efficiency = efficiency_sentence(&c, arena);
    c.path_change = ovl_path_change(a, b, arena);
    c.gradients = gradient_sentence(a, b, arena);
    c.memory = memory_sentence(a, b, arena);
    find_idle(&c);
    c.tails = ovl_tails(a, b, arena, &c.n_tails);
    *comparison = c;
}
