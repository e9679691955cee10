#include "tests/unit/lowering.h"

#include "sim/engine.h"

#define MIB ((uint64_t)1 << 20)
#define U   (1024 * MIB) /* whole parameters of a unit */

/* Twelve equal units of 1 GiB in bf16 over 8 ranks, compute bound: a gather takes 1 ms, a
 * reduce-scatter 2 ms, a forward 4 ms, a backward 8 ms. */
#define EQUAL(forward, fsdp)                                                                       \
    "hardware:\n"                                                                                  \
    "  collectives:\n"                                                                             \
    "    - {op: all_gather, alpha: 1 ms}\n"                                                        \
    "    - {op: reduce_scatter, alpha: 2 ms}\n"                                                    \
    "    - {op: all_reduce, alpha: 3 ms}\n"                                                        \
    "mesh: {axes: {dp: 8}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  dtype: bf16\n"                                                                              \
    "  layers:\n"                                                                                  \
    "    - {name: block, repeat: 12, params: 1 GiB" forward ", backward: 8 ms}\n"                  \
    "overlap:\n"                                                                                   \
    "  fsdp: {communicators: 2" fsdp "}\n"
#define FORWARD ", forward: 4 ms"

/* --- Peaks of what is as large as a unit, over a part of the program --- */

typedef struct peaks {
    uint64_t allocated, reserved, live; /* in U */
} peaks;

static bool counts(const bench *t, const ovl_buffer *b, uint32_t from, uint32_t to)
{
    (void)t;
    return !b->held && b->bytes >= U && b->alloc >= from && b->alloc < to;
}

static uint64_t level(const bench *t, uint32_t from, uint32_t to, uint32_t at, uint32_t stream)
{
    const ovl_code *code = code_of(t, 0);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < code->n_buffers; i++) {
        const ovl_buffer *b = &code->buffers[i];
        bool there = b->alloc <= at && (b->freed == OVL_NONE || b->freed > at);
        if (counts(t, b, from, to) && there && (stream == OVL_NONE || b->stream == stream)) {
            sum += b->bytes;
        }
    }
    return sum;
}

static uint64_t highest(const bench *t, uint32_t from, uint32_t to, uint32_t stream)
{
    uint64_t peak = 0;
    for (uint32_t at = from; at < to; at++) {
        peak = OVL_MAX(peak, level(t, from, to, at, stream));
    }
    return peak / U;
}

/* Bytes that hold data at one moment: from the start of the first access to the end of the last. */
static uint64_t live_at(bench *t, const ovl_timeline *line, uint32_t from, uint32_t to, ovl_time at)
{
    const ovl_code *code = code_of(t, 0);
    ovl_time *first = OVL_NEW_ARRAY(&t->arena, ovl_time, code->n_buffers);
    ovl_time *last = OVL_NEW_ARRAY(&t->arena, ovl_time, code->n_buffers);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < code->n_buffers; i++) {
        first[i] = OVL_NEVER;
    }
    for (uint32_t i = 0; i < code->n_ops; i++) {
        for (uint32_t k = code->access.at[i]; k < code->access.at[i + 1]; k++) {
            ovl_id b = code->access.item[k].buffer;
            first[b] = OVL_MIN(first[b], line->start[i]);
            last[b] = OVL_MAX(last[b], line->end[i]);
        }
    }
    for (uint32_t i = 0; i < code->n_buffers; i++) {
        bool there = first[i] <= at && at < last[i];
        sum += counts(t, &code->buffers[i], from, to) && there ? code->buffers[i].bytes : 0;
    }
    return sum;
}

static peaks find_peaks(bench *t, uint32_t from, uint32_t to)
{
    const ovl_code *code = code_of(t, 0);
    peaks p = {.allocated = highest(t, from, to, OVL_NONE)};
    for (uint32_t s = 0; s < code->n_streams; s++) {
        p.reserved += highest(t, from, to, s);
    }
    ovl_timeline line;
    ovl_run_options options = {.free_name = OVL_NONE};
    CHECK(ovl_run(t->p, &options, &t->arena, &line, &t->errs));
    for (uint32_t i = 0; i < code->n_ops; i++) {
        p.live = OVL_MAX(p.live, live_at(t, &line, from, to, line.start[i]) / U);
    }
    return p;
}

static void check_peaks(peaks p, uint64_t allocated, uint64_t reserved, uint64_t live)
{
    CHECK_INT(p.allocated, allocated);
    CHECK_INT(p.reserved, reserved);
    CHECK_INT(p.live, live);
}

/* The forward alone: up to what the backward gathers first. */
static peaks forward_peaks(const char *set)
{
    bench t = {0};
    CHECK(lower(&t, EQUAL(FORWARD, ""), set));
    uint32_t end = 0;
    while (strncmp(name_at(&t, 0, end), "regather", 8) != 0) {
        end++;
    }
    peaks p = find_peaks(&t, 0, end - 1); /* its copy-in stands before it */
    finish(&t);
    return p;
}

/* The backward alone: layers without a forward. */
static peaks backward_peaks(const char *fsdp, const char *set)
{
    bench t = {0};
    CHECK(lower(&t, fsdp, set));
    peaks p = find_peaks(&t, 0, code_of(&t, 0)->n_ops);
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    finish(&t);
    return p;
}

/* U = A = G = 1, R = 1 in bf16 and 2 in f32; shards do not count.
 *
 * Forward, implicit: the output of the gather before is freed before the copy-out allocates, so
 * A + U, then U is freed and the next A allocated: 2A. Pools: 2A in the copy-in stream's, U in
 * compute's. Running: U_i while A_i+1 is there and A_i+2 comes. Explicit n: U and n + 1 A. */
static void peaks_of_a_forward(void)
{
    check_peaks(forward_peaks(NULL), 2, 3, 3);
    check_peaks(forward_peaks("overlap.fsdp.prefetch.forward=1"), 3, 3, 3);
    check_peaks(forward_peaks("overlap.fsdp.prefetch.forward=2"), 4, 4, 4);
    check_peaks(forward_peaks("overlap.fsdp.prefetch.forward=4"), 6, 6, 6);
    /* A gather that waits for compute: U_i ends when A_i+1 begins. */
    check_peaks(forward_peaks("overlap.fsdp.prefetch.forward=0"), 2, 3, 1);
}

/* At the backward of i: U_i, G_i, R_i+1 (until compute has waited for it), and A of what is
 * prefetched. Without prefetch A is in another stream's pool; a host that runs ahead gathers all
 * the same. */
static void peaks_of_a_backward(void)
{
    static const char *const bf16 = EQUAL("", ""), *const f32 = EQUAL("", ", reduce_dtype: f32");
    check_peaks(backward_peaks(bf16, "overlap.fsdp.prefetch.backward=none"), 3, 4, 4);
    check_peaks(backward_peaks(f32, "overlap.fsdp.prefetch.backward=none"), 4, 5, 5);
    check_peaks(backward_peaks(bf16, "overlap.fsdp.prefetch.backward=0"), 3, 4, 3);
    check_peaks(backward_peaks(f32, "overlap.fsdp.prefetch.backward=0"), 4, 5, 4);
    check_peaks(backward_peaks(bf16, NULL), 4, 4, 4);
    check_peaks(backward_peaks(f32, NULL), 5, 5, 5);
    check_peaks(backward_peaks(bf16, "overlap.fsdp.prefetch.backward=3"), 6, 6, 6);
    check_peaks(backward_peaks(f32, "overlap.fsdp.prefetch.backward=3"), 7, 7, 7);
}

/* --- When gathers run --- */

static ovl_time start_of(bench *t, const char *name)
{
    for (uint32_t i = 0; i < t->result.n_collectives; i++) {
        const ovl_result_collective *c = &t->result.collectives[i];
        if (c->rank == 0 && strcmp(c->name, name) == 0) {
            return c->start;
        }
    }
    CHECK(false);
    return -1;
}

/* Gather 0 at 0..1, forward 0 at 1..5. Gathers 1 and 2 run in it, at 1 and 2; 3 waits for the
 * copy-out of block 1, at 5; 4 for that of block 2, at 9. */
static void two_gathers_in_the_first_forward_then_one(void)
{
    bench t = {0};
    CHECK(lower(&t, EQUAL(FORWARD, ""), NULL));
    CHECK(analyse(&t));
    CHECK_INT(start_of(&t, "gather block[1]"), 1 * OVL_MS);
    CHECK_INT(start_of(&t, "gather block[2]"), 2 * OVL_MS);
    CHECK_INT(start_of(&t, "gather block[3]"), 5 * OVL_MS);
    CHECK_INT(start_of(&t, "gather block[4]"), 9 * OVL_MS);
    CHECK_INT(start_of(&t, "gather block[11]"), 37 * OVL_MS);
    /* 1 + 12 * 4 forward; 12 * 8 backward, whose first gather ran in the last forward; 2 reduce */
    CHECK_INT(t.result.step, (1 + 48 + 96 + 2) * OVL_MS);
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_INT(t.result.gradients_proved, 12 * 8);
    CHECK_TEXT(t.result.gradient_scale, "1/8");
    finish(&t);
}

/* --- Reduce-scatters --- */

#define LOAD(layers)                                                                               \
    "hardware:\n"                                                                                  \
    "  collectives:\n"                                                                             \
    "    - {op: all_gather, alpha: 0 ms}\n"                                                        \
    "    - {op: reduce_scatter, beta: 1 MiB/ms}\n"                                                 \
    "mesh: {axes: {dp: 8}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  layers:\n" layers "overlap: {fsdp: {communicators: 2}}\n"
#define EVEN  "    - {name: a, repeat: 8, params: 6 MiB, backward: 4 ms}\n"
#define A(n)  "    - {name: a" #n ", params: 6 MiB, backward: 4 ms}\n"
#define B(n)  "    - {name: b" #n ", params: 2 MiB, backward: 4 ms}\n"
#define MIXED B(0) A(0) B(1) A(1) B(2) A(2) B(3) A(3)

static ovl_time step_of(const char *text, const char *set)
{
    bench t = {0};
    CHECK(lower(&t, text, set) && analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    ovl_time step = t.result.step;
    finish(&t);
    return step;
}

/* Backwards of 4 ms. Reductions of 6 ms: each backward but the first two is held up until the one
 * before is reduced: 4 + 8 * 6 = 52, with one input or with two. Alternating 6 and 2 ms (a3 first):
 * with one input b waits for a: pairs of 10 ms: a at 0..4 reduces 4..10, b's copy-in waits until
 * 10, reduces 10..12 beside the next a at 10..14, which reduces 14..20: the last b is copied in at
 * 40 and reduced at 42. With two, compute never waits: 8 * 4 = 32, the last reductions at 28..34
 * and 34..36. */
static void two_inputs_absorb_an_alternating_load_only(void)
{
    const char *two = "overlap.fsdp.outstanding_reduces=2";
    CHECK_INT(step_of(LOAD(EVEN), NULL), 52 * OVL_MS);
    CHECK_INT(step_of(LOAD(EVEN), two), 52 * OVL_MS);
    CHECK_INT(step_of(LOAD(MIXED), NULL), 42 * OVL_MS);
    CHECK_INT(step_of(LOAD(MIXED), two), 36 * OVL_MS);
}

static CU_TestInfo tests[] = {
    {"peaks of a forward", peaks_of_a_forward},
    {"peaks of a backward", peaks_of_a_backward},
    {"two gathers in the first forward, then one", two_gathers_in_the_first_forward_then_one},
    {"two inputs absorb an alternating load only", two_inputs_absorb_an_alternating_load_only},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("fsdp plan", tests);
}
