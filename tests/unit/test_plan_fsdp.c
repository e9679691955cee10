#include "tests/support/lowering.h"

#include "sim/engine.h"
#include "sim/hazard.h"

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
    ovl_run_options options = {0};
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

/* Pools keep what the forward needed: 2A, and U + G + R. What is asked for at once is as in the
 * backward. */
static void peaks_of_a_whole_step(void)
{
    bench t = {0};
    CHECK(lower(&t, EQUAL(FORWARD, ""), NULL));
    check_peaks(find_peaks(&t, 0, code_of(&t, 0)->n_ops), 4, 5, 4);
    CHECK(lower(&t, EQUAL(FORWARD, ", reduce_dtype: f32"), NULL));
    check_peaks(find_peaks(&t, 0, code_of(&t, 0)->n_ops), 5, 6, 5);
    finish(&t);
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

/* --- Order and sizes --- */

/* Three layers of 10 elements over 4 ranks; f32 shards. */
#define SMALL(more, fsdp)                                                                          \
    "hardware:\n"                                                                                  \
    "  collectives:\n"                                                                             \
    "    - {op: all_gather, alpha: 1 ms}\n"                                                        \
    "    - {op: all_gather, group: shard/2, alpha: 0.5 ms}\n"                                      \
    "    - {op: reduce_scatter, alpha: 2 ms}\n"                                                    \
    "    - {op: all_reduce, alpha: 3 ms}\n"                                                        \
    "mesh: {axes: {shard: 4, replica: 2}}\n"                                                       \
    "workload:\n" more "  layers:\n"                                                               \
    "    - {name: embed, elements: 10, forward: 1 ms, backward: 2 ms}\n"                           \
    "    - {name: block, elements: 10, forward: 4 ms, backward: 8 ms}\n"                           \
    "    - {name: head, elements: 10, forward: 1 ms, backward: 2 ms}\n"                            \
    "  optimizer: {moments: 2, master_weights: true}\n"                                            \
    "overlap:\n"                                                                                   \
    "  fsdp: {shard: shard" fsdp "}\n"
#define HYBRID ", replicate: replica"

static const ovl_buffer *buffer_named(const bench *t, const char *name)
{
    static const ovl_buffer none;
    const ovl_code *code = code_of(t, 0);
    for (uint32_t i = 0; i < code->n_buffers; i++) {
        if (strcmp(OVL_NAME(t->p->names, code->buffers[i].name), name) == 0) {
            return &code->buffers[i];
        }
    }
    CHECK_TEXT(name, "a buffer");
    return &none;
}

static void check_safe(bench *t, const char *scale)
{
    CHECK(analyse(t));
    CHECK_INT(t->result.n_hazards, 0);
    CHECK_TEXT(t->result.gradient_scale, scale);
}

/* A shard has 3 of 10 elements, 12 padded. */
static void types_and_sizes(void)
{
    bench t = {0};
    CHECK(lower(&t, SMALL("", HYBRID ", param_dtype: bf16, reduce_dtype: f32"), NULL));
    CHECK_INT(buffer_named(&t, "shard block")->bytes, 12);
    CHECK_INT(buffer_named(&t, "shard block.grad")->bytes, 12);
    CHECK_INT(buffer_named(&t, "optimizer states block")->bytes, 36);
    CHECK_INT(buffer_named(&t, "cast shard block")->bytes, 6);
    CHECK_INT(buffer_named(&t, "cast shard again block")->bytes, 6);
    CHECK_INT(buffer_named(&t, "gather output block")->bytes, 24);
    CHECK_INT(buffer_named(&t, "regathered block")->bytes, 20);
    CHECK_INT(buffer_named(&t, "block.grad")->bytes, 20);
    CHECK_INT(buffer_named(&t, "reduce input block")->bytes, 48);
    CHECK_INT(buffer_named(&t, "reduce output block")->bytes, 12);
    CHECK_INT(op_named(&t, 0, "gather block")->bytes, 24);
    CHECK_INT(op_named(&t, 0, "gather block")->dtype, OVL_BF16);
    CHECK_INT(op_named(&t, 0, "reduce block")->bytes, 48);
    CHECK_INT(op_named(&t, 0, "all_reduce block")->bytes, 12);
    check_safe(&t, "1/8");
    finish(&t);
}

/* The root is gathered before everything and reduced last; its hook in the backward gathers the
 * block before the head needs anything. */
static void the_root_is_first_and_last(void)
{
    bench t = {0};
    CHECK(lower(&t, SMALL("", ", root: [embed, head]"), "mesh={axes: {shard: 4}}"));
    CHECK_TEXT(
        sequence(&t, 0),
        "gather copy_in root | gather root | copy_out root | forward embed | gather copy_in block "
        "| gather block | copy_out block | forward block | forward head | "
        "regather copy_in block | regather block | backward head | copy_out again block | backward "
        "block | reduce copy_in block | reduce block | accumulate block | backward embed | "
        "reduce copy_in root | reduce root | accumulate root | wait for reductions | optimizer");
    CHECK_INT(buffer_named(&t, "gathered root")->bytes, 80);
    CHECK_TEXT(waits(&t, 0, "copy_out block"), "gather block");
    CHECK_TEXT(waits(&t, 0, "reduce copy_in root"), "reduce block");
    check_safe(&t, "1/4");
    finish(&t);
}

/* Each gradient of the root is there from its layer's backward until the root's are copied in. */
static void gradients_of_the_root_come_with_their_layers(void)
{
    bench t = {0};
    CHECK(lower(&t, SMALL("", ", root: [embed, head]"), "mesh={axes: {shard: 4}}"));
    const ovl_buffer *head = buffer_named(&t, "head.grad"), *embed = buffer_named(&t, "embed.grad");
    CHECK_INT(head->bytes + embed->bytes, 80);
    CHECK_INT(head->alloc, find_op(&t, 0, "backward head"));
    CHECK_INT(embed->alloc, find_op(&t, 0, "backward embed"));
    uint32_t copied = find_op(&t, 0, "reduce copy_in root");
    CHECK(head->freed == copied + 1 && embed->freed == copied + 1);
    const char *late = SMALL("  microbatches: 2\n",
                             HYBRID ", root: [embed, head], param_dtype: bf16, reduce_dtype: f32, "
                                    "accumulate: {gradient_sync: last}");
    CHECK(lower(&t, late, NULL));
    CHECK_INT(buffer_named(&t, "accumulated root.grad")->bytes, 80);
    check_safe(&t, "1/16");
    finish(&t);
}

/* A replica averages over 4 ranks, then over 2: 1/8. */
static void replicas_reduce_behind_the_reduce_scatter(void)
{
    bench t = {0};
    CHECK(lower(&t, SMALL("", HYBRID), NULL));
    CHECK_HAS(sequence(&t, 0), "reduce block | all_reduce block | accumulate block");
    CHECK_TEXT(waits(&t, 0, "all_reduce block"), "reduce block");
    check_safe(&t, "1/8");
    CHECK(lower(&t, SMALL("", ""), NULL) && analyse(&t)); /* nobody reduces across replicas */
    CHECK_INT(t.result.n_hazards, 3);
    CHECK_TEXT(t.result.hazards[0].kind, "missing_gradient");
    CHECK(!lower(&t, SMALL("", ", replicate: shard"), NULL));
    CHECK_HAS(mistake(&t), "ranks 0 and 1 are together in group \"shard\", which shards, and in "
                           "group \"shard\", which replicates");
    finish(&t);
}

/* Resharded over 2 neighbours: 24 / 2 bytes stay, and the gather of the backward is theirs. */
static void reshard_after_forward(void)
{
    bench t = {0};
    CHECK(lower(&t, SMALL("", HYBRID), "overlap.fsdp.reshard_after_forward=false"));
    CHECK(find_op(&t, 0, "regather block") == OVL_NONE);
    check_safe(&t, "1/8");
    CHECK(lower(&t, SMALL("", HYBRID), "overlap.fsdp.keep_after_forward=[head]"));
    CHECK(find_op(&t, 0, "regather head") == OVL_NONE);
    CHECK(find_op(&t, 0, "regather block") != OVL_NONE);
    check_safe(&t, "1/8");
    CHECK(lower(&t, SMALL("", HYBRID), "overlap.fsdp.reshard_after_forward=2"));
    CHECK_INT(buffer_named(&t, "resharded block")->bytes, 24);
    CHECK_INT(cost_named(&t, 0, "gather block")->latency, OVL_MS);
    CHECK_INT(cost_named(&t, 0, "regather block")->latency, OVL_MS / 2);
    /* Only the group's own next gather waits for its reshard; those of the forward go on. */
    CHECK_TEXT(waits(&t, 0, "regather copy_in head"), "copy_out head, reshard head");
    check_safe(&t, "1/8");
    CHECK(!lower(&t, SMALL("", HYBRID), "overlap.fsdp.reshard_after_forward=3"));
    CHECK_HAS(mistake(&t), "reshard_after_forward is 3, which does not divide the 4 ranks of group "
                           "\"shard\"");
    CHECK(!lower(&t, SMALL("", HYBRID), "overlap.fsdp.reshard_after_forward=maybe"));
    CHECK_HAS(mistake(&t), "expected true, false, or a number of ranks");
    finish(&t);
}

/* --- Accumulation --- */

#define TWO SMALL("  microbatches: 2\n", HYBRID)

static uint32_t count_ops(const bench *t, const char *start)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < code_of(t, 0)->n_ops; i++) {
        n += strncmp(name_at(t, 0, i), start, strlen(start)) == 0;
    }
    return n;
}

static void each_control_of_accumulation(void)
{
    bench t = {0};
    CHECK(lower(&t, TWO, NULL));
    CHECK_INT(count_ops(&t, "reduce block mb"), 2);
    CHECK_INT(count_ops(&t, "all_reduce block mb"), 2);
    CHECK_INT(count_ops(&t, "wait for reductions"), 2);
    check_safe(&t, "1/16");
    CHECK(lower(&t, TWO, "overlap.fsdp.accumulate.all_reduce=last"));
    CHECK_INT(count_ops(&t, "reduce block mb"), 2);
    CHECK_INT(count_ops(&t, "all_reduce block mb"), 1);
    CHECK_HAS(sequence(&t, 0), "reduce block mb 0 | keep block mb 0 | ");
    CHECK_HAS(sequence(&t, 0), "reduce block mb 1 | join block mb 1 | all_reduce block mb 1 | "
                               "accumulate block mb 1");
    check_safe(&t, "1/16");
    CHECK(lower(&t, TWO, "overlap.fsdp.accumulate.gradient_sync=last"));
    CHECK_INT(count_ops(&t, "reduce block mb"), 1);
    CHECK_INT(buffer_named(&t, "block.grad")->bytes, 40);
    check_safe(&t, "1/16");
    CHECK(lower(&t, TWO, "overlap.fsdp.accumulate.last_backward=last"));
    CHECK_INT(count_ops(&t, "wait for reductions"), 1);
    check_safe(&t, "1/16");
    CHECK(lower(&t, TWO, "overlap.fsdp.accumulate.reshard_after_backward=false"));
    CHECK_INT(count_ops(&t, "regather block mb"), 2);
    CHECK_INT(count_ops(&t, "gather block mb"), 1);
    check_safe(&t, "1/16");
    CHECK(lower(&t, TWO, "overlap.fsdp.accumulate.skip_unshard_in_backward=[embed]"));
    CHECK_INT(count_ops(&t, "regather embed mb"), 0);
    check_safe(&t, "1/16");
    finish(&t);
}

/* Whole gradients are kept in the type of the reduction; sharded sums need a buffer of their own
 * where the shards have another. */
static void sums_in_another_type(void)
{
    const char *mixed =
        SMALL("  microbatches: 2\n", HYBRID ", param_dtype: bf16, reduce_dtype: f32");
    bench t = {0};
    CHECK(lower(&t, mixed, "overlap.fsdp.accumulate.gradient_sync=last"));
    CHECK_INT(buffer_named(&t, "accumulated block.grad")->bytes, 40);
    CHECK_HAS(sequence(&t, 0), "backward block mb 1 | accumulate block mb 1 | reduce copy_in block "
                               "mb 1");
    check_safe(&t, "1/16");
    const char *half = SMALL("  microbatches: 2\n", HYBRID ", reduce_dtype: bf16");
    CHECK(lower(&t, half, "overlap.fsdp.accumulate.all_reduce=last"));
    CHECK_INT(buffer_named(&t, "partial sums block")->bytes, 6);
    check_safe(&t, "1/16");
    finish(&t);
}

/* --- Mistakes --- */

static void mistakes_are_told(void)
{
    bench t = {0};
    CHECK(!lower(&t, SMALL("", ""), "overlap.fsdp.shard=shrad"));
    CHECK_HAS(mistake(&t), "there is no group \"shrad\"; did you mean \"shard\"?");
    CHECK(!lower(&t, SMALL("", ""), "overlap.fsdp.root=[haed]"));
    CHECK_HAS(mistake(&t), "unknown layer in root: \"haed\"; did you mean \"head\"?");
    CHECK(!lower(&t, SMALL("", ""), "overlap.fsdp.prefetch.forward=many"));
    CHECK_HAS(mistake(&t), "forward is \"many\": expected `implicit` or a number of units");
    CHECK(!lower(&t, SMALL("", ""), "overlap.ddp={}"));
    CHECK_HAS(mistake(&t), "overlap.fsdp does not go together with overlap.ddp");
    finish(&t);
}

/* --- Recomputed and offloaded activations --- */

#define KEPT(policy)                                                                               \
    "hardware:\n"                                                                                  \
    "  gpu: {copy_engines: {d2h: 1, h2d: 1}}\n"                                                    \
    "  collectives:\n"                                                                             \
    "    - {op: all_gather, alpha: 1 ms}\n"                                                        \
    "    - {op: reduce_scatter, alpha: 1 ms}\n"                                                    \
    "mesh: {axes: {dp: 4}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  layers:\n"                                                                                  \
    "    - {name: block, repeat: 4, params: 4 MiB, forward: 3 ms, backward: 6 ms, activations: "   \
    "10 MB}\n"                                                                                     \
    "  offload: {d2h: 5 MB/ms, h2d: 5 MB/ms, in_flight: 1}\n"                                      \
    "overlap: {fsdp: {policy: " policy "}}\n"
#define RECOMPUTE "workload.layers.block.recompute=true"

/* A second forward before each backward: 1 + 4 * (3 + 3 + 6) + 1. The activations of one layer are
 * there, not of four. */
static void recomputing_runs_the_forward_again(void)
{
    bench t = {0};
    CHECK(lower(&t, KEPT("fsdp2"), RECOMPUTE));
    CHECK_HAS(sequence(&t, 0), "copy_out again block[3] | regather copy_in block[2] | "
                               "regather block[2] | recompute block[3] | backward block[3]");
    CHECK_INT(count_ops(&t, "regather block"), 4);
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, 50 * OVL_MS);
    CHECK_INT(t.result.n_hazards, 0);
    uint64_t recomputed = t.result.ranks[0].live_peak;
    CHECK(lower(&t, KEPT("fsdp2"), NULL) && analyse(&t));
    CHECK_INT(t.result.step, 38 * OVL_MS);
    CHECK(t.result.ranks[0].live_peak - recomputed > 20000000);
    finish(&t);
}

/* Checkpoints around units gather a third time. */
static void checkpoints_around_units_gather_again(void)
{
    bench t = {0};
    CHECK(lower(&t, KEPT("fsdp1, regather_for_recompute: true"), RECOMPUTE));
    CHECK_INT(count_ops(&t, "gather block"), 4);
    CHECK_INT(count_ops(&t, "regather block"), 8);
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    finish(&t);
}

/* A copy takes 2 ms. Block 3 is still there when its backward comes; 2, 1 and 0 come back, each
 * beside the backward before its own, so the step is as long as without. */
static void offloaded_activations_come_back(void)
{
    bench t = {0};
    CHECK(lower(&t, KEPT("fsdp2"), "workload.layers.block.offload=true"));
    CHECK_INT(count_ops(&t, "offload block"), 4);
    CHECK_INT(count_ops(&t, "reload block"), 3);
    CHECK_INT(count_ops(&t, "offloaded block"), 4);
    CHECK_TEXT(waits(&t, 0, "offloaded block[0]"), "offload block[0]");
    CHECK_TEXT(waits(&t, 0, "reload block[0]"), "offload block[0], reduce copy_in block[2]");
    CHECK_HAS(waits(&t, 0, "backward block[1]"), "reload block[1]");
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, 38 * OVL_MS);
    CHECK_INT(t.result.n_hazards, 0);
    CHECK(!lower(&t, SMALL("", HYBRID), "workload.layers.block.offload=true"));
    CHECK_HAS(mistake(&t), "workload.offload has to say how fast");
    finish(&t);
}

/* --- FSDP1 --- */

static const char *order_of(bench *t, const char *set)
{
    CHECK(lower(t, SMALL("", HYBRID ", policy: fsdp1, limit_all_gathers: 0"), set));
    check_safe(t, "1/8");
    return sequence(t, 0);
}

/* The gather of the block: before the head's backward, behind it but before its reduce-scatter, or
 * where it is needed. */
static void fsdp1_prefetches_before_or_behind_a_backward(void)
{
    bench t = {0};
    CHECK_HAS(order_of(&t, NULL), "regather head | regather block | backward head | reduce head | "
                                  "all_reduce head | accumulate head | regather embed | "
                                  "backward block");
    CHECK_TEXT(waits(&t, 0, "reduce head"), "backward head");
    CHECK_TEXT(waits(&t, 0, "backward block"), "regather block");
    CHECK_HAS(order_of(&t, "overlap.fsdp.backward_prefetch=post"),
              "regather head | backward head | regather block | reduce head | all_reduce head");
    CHECK_HAS(order_of(&t, "overlap.fsdp.backward_prefetch=none"),
              "accumulate head | regather block | backward block");
    CHECK_HAS(order_of(&t, "overlap.fsdp.forward_prefetch=true"),
              "gather embed | gather block | forward embed | gather head | forward block");
    order_of(&t, "overlap.fsdp.sharding=shard_grad_op");
    CHECK_INT(count_ops(&t, "regather"), 0);
    finish(&t);
}

/* The host waits for the oldest of two freed units before it issues the third gather. */
static void the_limiter_blocks_the_host(void)
{
    bench t = {0};
    CHECK(lower(&t, SMALL("", HYBRID ", policy: fsdp1"), NULL));
    CHECK_TEXT(waits(&t, 0, "wait before gather head"), "forward embed");
    CHECK_HAS(sequence(&t, 0), "forward block | wait before gather head | gather head");
    check_safe(&t, "1/8");
    finish(&t);
}

/* What a step gathers is gathered again from what the optimizer wrote: three steps are alike,
 * without a race, and each proves its 12 gradients on 8 ranks. Steps hand their memory on: no more
 * is taken. */
static void steps_follow_each_other(void)
{
    bench t = {0};
    CHECK(lower(&t, EQUAL(FORWARD, ""), NULL));
    CHECK(analyse(&t));
    uint64_t reserved = t.result.ranks[0].reserved_peak;
    ovl_time one = t.result.step;
    CHECK(lower(&t, EQUAL(FORWARD, ""), "workload.steps=3"));
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_steps, 3);
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_INT(t.result.gradients_proved, 3 * 12 * 8);
    CHECK(ovl_result_converged(&t.result));
    CHECK_INT(t.result.step_times[0], one);
    CHECK_INT(t.result.step, one);
    CHECK_INT(t.result.ranks[0].reserved_peak, reserved);
    finish(&t);
}

/* --- What if a wait were missing? --- */

/* The races of the program with the k-th wait of an operation taken away. */
static uint32_t races_without(bench *t, const ovl_timeline *line, uint32_t op, uint32_t k)
{
    ovl_arena scratch = {0};
    ovl_code kept, *code = take_wait_away(t, code_of(t, 0), op, k, &kept, &scratch);
    ovl_causes causes;
    ovl_causes_init(&causes, t->p, line, &t->arena);
    ovl_hazards hazards = {0};
    ovl_races_checked checked;
    ovl_races_find(&causes, &t->arena, &hazards, &checked);
    *code = kept;
    ovl_arena_free(&scratch);
    uint32_t n = hazards.len;
    ovl_vec_free(&hazards);
    ovl_causes_free(&causes);
    return n;
}

/* Takes away each wait of operations whose names start so, one at a time; gives how many were not
 * missed. */
static uint32_t not_missed(bench *t, const ovl_timeline *line, const char *start, uint32_t *tried)
{
    const ovl_code *code = code_of(t, 0);
    uint32_t silent = 0;
    *tried = 0;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        bool looked_at = strncmp(name_at(t, 0, i), start, strlen(start)) == 0;
        ovl_offsets after = ovl_code_after(code, i);
        for (uint32_t k = 0; looked_at && k < after.n; k++) {
            ++*tried;
            silent += races_without(t, line, i, k) == 0;
        }
    }
    return silent;
}

/* Of four units. Silent are: the first gather's wait, which is for the first operation anyway; the
 * last copy-in's wait for a reduce-scatter whose memory nobody gets any more; and of the end's
 * waits all but the one for the last operation of the reduce-scatter stream. */
static void every_wait_that_is_taken_away_is_missed(void)
{
    static const struct {
        const char *start;
        uint32_t waits, silent;
    } steps[] = {{"gather", 6, 1},
                 {"regather", 8, 0},
                 {"copy_out", 8, 0},
                 {"reduce", 7, 1},
                 {"wait for", 5, 4}};
    bench t = {0};
    ovl_timeline line;
    ovl_run_options options = {0};
    CHECK(lower(&t, EQUAL(FORWARD, ""), "workload.layers.block.repeat=4"));
    CHECK(ovl_run(t.p, &options, &t.arena, &line, &t.errs));
    for (size_t i = 0; i < OVL_COUNT(steps); i++) {
        uint32_t tried;
        CHECK_INT(not_missed(&t, &line, steps[i].start, &tried), steps[i].silent);
        CHECK_INT(tried, steps[i].waits);
    }
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"steps follow each other", steps_follow_each_other},
    {"types and sizes", types_and_sizes},
    {"the root is first and last", the_root_is_first_and_last},
    {"gradients of the root come with their layers", gradients_of_the_root_come_with_their_layers},
    {"replicas reduce behind the reduce-scatter", replicas_reduce_behind_the_reduce_scatter},
    {"reshard after forward", reshard_after_forward},
    {"each control of accumulation", each_control_of_accumulation},
    {"sums in another type", sums_in_another_type},
    {"mistakes are told", mistakes_are_told},
    {"every wait that is taken away is missed", every_wait_that_is_taken_away_is_missed},
    {"recomputing runs the forward again", recomputing_runs_the_forward_again},
    {"checkpoints around units gather again", checkpoints_around_units_gather_again},
    {"offloaded activations come back", offloaded_activations_come_back},
    {"fsdp1 prefetches before or behind a backward", fsdp1_prefetches_before_or_behind_a_backward},
    {"the limiter blocks the host", the_limiter_blocks_the_host},
    {"peaks of a forward", peaks_of_a_forward},
    {"peaks of a backward", peaks_of_a_backward},
    {"peaks of a whole step", peaks_of_a_whole_step},
    {"two gathers in the first forward, then one", two_gathers_in_the_first_forward_then_one},
    {"two inputs absorb an alternating load only", two_inputs_absorb_an_alternating_load_only},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("fsdp plan", tests);
}
