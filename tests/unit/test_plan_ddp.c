#include "tests/support/lowering.h"

#define MIB ((uint64_t)1 << 20)

#define HARDWARE                                                                                   \
    "hardware:\n"                                                                                  \
    "  collectives:\n"                                                                             \
    "    - {op: all_reduce, alpha: 1 ms, beta: 16 MiB/ms}\n"                                       \
    "    - {op: reduce_scatter, alpha: 1 ms, beta: 32 MiB/ms}\n"                                   \
    "mesh: {axes: {dp: 8}}\n"

#define LAST_BUCKET                                                                                \
    HARDWARE "workload:\n"                                                                         \
             "  backward: 210 ms\n"                                                                \
             "  gradients:\n"                                                                      \
             "    - {name: g1, bytes: 16 MiB, ready: 194 ms}\n"                                    \
             "    - {name: g2, bytes: 16 MiB, ready: 196 ms}\n"                                    \
             "    - {name: g3, bytes: 16 MiB, ready: 198 ms}\n"                                    \
             "    - {name: g4, bytes: 16 MiB, ready: 200 ms}\n"                                    \
             "    - {name: g5, bytes: 16 MiB, ready: 202 ms}\n"                                    \
             "    - {name: a, bytes: 12 MiB, ready: 202 ms}\n"                                     \
             "    - {name: late, bytes: 4 MiB, ready: 209 ms, copy_in: 1 ms}\n"                    \
             "overlap:\n"                                                                          \
             "  ddp:\n"                                                                            \
             "    buckets: [[g1, g2, g3, g4, g5], [a, late]]\n"

/* Pieces of 194, 2, 2, 2, 2 and 7 ms, then 1 ms of copy-in: 210. The 80 MiB go out once g5 is
 * there, 1 ms + 5 ms; the rest after the copy, 1 + 1. */
static void the_last_bucket(void)
{
    bench t = {0};
    CHECK(lower(&t, LAST_BUCKET, NULL));
    CHECK_TEXT(sequence(&t, 0),
               "backward g1 | backward g2 | backward g3 | backward g4 | backward g5+a | bucket 0 | "
               "backward late | copy_in late | bucket 1 | optimizer");
    CHECK_INT(t.p->n_codes, 1);
    CHECK_INT(t.p->n_ranks, 8);
    CHECK_INT(cost_named(&t, 0, "backward g1")->work, 194 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "backward g5+a")->work, 2 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "backward late")->work, 7 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "copy_in late")->work, OVL_MS);
    CHECK_INT(cost_named(&t, 0, "bucket 0")->latency, OVL_MS);
    CHECK_INT(cost_named(&t, 0, "bucket 0")->work, 5 * OVL_MS);
    CHECK_INT(op_named(&t, 0, "bucket 1")->bytes, 16 * MIB);
    CHECK_TEXT(waits(&t, 0, "bucket 0"), "backward g5+a");
    CHECK_TEXT(waits(&t, 0, "bucket 1"), "copy_in late");
    CHECK_TEXT(waits(&t, 0, "optimizer"), "bucket 0, bucket 1");
    CHECK_INT(t.lowered.n_buckets, 2);
    CHECK_TEXT(t.lowered.buckets[1].name, "bucket 1");
    CHECK_TEXT(t.lowered.buckets[1].members[1], "late");
    CHECK_INT(t.lowered.buckets[1].bytes, 16 * MIB);
    /* P + 2 G = 3 * 96 MiB */
    CHECK_INT(bytes_in(&t, 0, OVL_PARAMETER), 96 * MIB);
    CHECK_INT(bytes_in(&t, 0, OVL_GRADIENT), 96 * MIB);
    CHECK_INT(bytes_in(&t, 0, OVL_REDUCE_BUFFER), 96 * MIB);
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, 212 * OVL_MS);
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_INT(t.result.gradients_proved, 7 * 8);
    finish(&t);
}

/* The view spares the copy-in: the backward ends at 209. P + G. */
static void a_bucket_view(void)
{
    bench t = {0};
    CHECK(lower(&t, LAST_BUCKET, "overlap.ddp.gradient_as_bucket_view=true"));
    CHECK(find_op(&t, 0, "copy_in late") == OVL_NONE);
    CHECK_INT(bytes_in(&t, 0, OVL_GRADIENT), 0);
    CHECK_INT(bytes_in(&t, 0, OVL_REDUCE_BUFFER), 96 * MIB);
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, 211 * OVL_MS);
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_INT(t.result.ranks[0].allocated_peak, 2 * 96 * MIB);
    finish(&t);
}

/* A second copy-in of 1 ms at 200 ms makes the piece up to 202 one of 1 ms; with 3 ms there is no
 * room. A longer backward gets a last piece. */
static void copies_are_part_of_the_backward(void)
{
    bench t = {0};
    CHECK(lower(&t, LAST_BUCKET, "workload.gradients.g4.copy_in=1ms"));
    CHECK_INT(cost_named(&t, 0, "backward g5+a")->work, OVL_MS);
    CHECK(!lower(&t, LAST_BUCKET, "workload.gradients.g4.copy_in=3ms"));
    CHECK_TEXT(mistake(&t), "13:7: \"g5\" is ready at 202 ms, but copy-in kernels before it run "
                            "until 203 ms");
    CHECK(lower(&t, LAST_BUCKET, "workload.backward=215ms"));
    CHECK_INT(cost_named(&t, 0, "backward end")->work, 5 * OVL_MS);
    CHECK(!lower(&t, LAST_BUCKET, "workload.gradients.late.copy_in=2ms"));
    CHECK_HAS(mistake(&t), "late");
    finish(&t);
}

/* Bucket 0 holds `late`. PyTorch launches bucket 1 behind it; Megatron as soon as it is complete,
 * after g2. */
static void launch_rules(void)
{
    const char *buckets = "overlap.ddp.buckets=[[g1, late, g3, g4, g5, a], [g2]]";
    bench t = {0};
    CHECK(lower(&t, LAST_BUCKET, buckets));
    CHECK_HAS(sequence(&t, 0), "copy_in late | bucket 0 | bucket 1 | optimizer");
    CHECK_TEXT(waits(&t, 0, "bucket 1"), "copy_in late");
    const char *megatron = LAST_BUCKET "    policy: megatron\n";
    CHECK(lower(&t, megatron, buckets));
    CHECK_HAS(sequence(&t, 0), "backward g2 | bucket 1 | backward g3");
    CHECK_TEXT(waits(&t, 0, "bucket 1"), "backward g2");
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    CHECK(lower(&t, LAST_BUCKET "    overlap: false\n", NULL));
    CHECK_HAS(sequence(&t, 0), "copy_in late | bucket 0 | bucket 1 | optimizer");
    finish(&t);
}

static void lists_of_buckets_are_checked(void)
{
    bench t = {0};
    CHECK(!lower(&t, LAST_BUCKET, "overlap.ddp.buckets=[[g1, g2, g3], [g4, g5, a]]"));
    CHECK_HAS(mistake(&t), "no bucket holds \"late\"");
    CHECK(!lower(&t, LAST_BUCKET, "overlap.ddp.buckets=[[g1, g2, g3], [g3, g4, g5, a, late]]"));
    CHECK_HAS(mistake(&t), "\"g3\" is already in bucket 0");
    CHECK(!lower(&t, LAST_BUCKET, "overlap.ddp.buckets=[[g1, g2, g3], [g4, g5, a, lats]]"));
    CHECK_HAS(mistake(&t), "there is no gradient \"lats\"; did you mean \"late\"?");
    CHECK(!lower(&t, LAST_BUCKET "    order: [g1, g2]\n", "overlap.ddp.buckets=null"));
    CHECK_HAS(mistake(&t), "the order leaves out \"g3\", \"g4\", \"g5\" and others");
    finish(&t);
}

#define LAYERS                                                                                     \
    HARDWARE "workload:\n"                                                                         \
             "  microbatches: 2\n"                                                                 \
             "  layers:\n"                                                                         \
             "    - {name: embed, params: 8 MiB, forward: 1 ms, backward: 2 ms}\n"                 \
             "    - {name: block, repeat: 3, params: 4 MiB, forward: 2 ms, backward: 4 ms, "       \
             "activations: 64 MiB}\n"                                                              \
             "    - {name: head, elements: [1000, 10], forward: 1 ms, backward: 2 ms}\n"           \
             "  optimizer: {duration: 3 ms, states: 50 MiB}\n"                                     \
             "overlap:\n"                                                                          \
             "  ddp: {bucket_cap: 8 MiB}\n"

/* Ready: head.1, head.0, block[2], block[1], block[0], embed. Limits 1 MiB, 8 MiB: 4040 bytes +
 * block[2] pass 1 MiB; block[1] + block[0] reach 8; embed is left. Only microbatch 1 reduces. */
static void layers_and_microbatches(void)
{
    bench t = {0};
    CHECK(lower(&t, LAYERS, NULL));
    CHECK_INT(t.lowered.n_buckets, 3);
    CHECK_INT(t.lowered.buckets[0].n_members, 3);
    CHECK_TEXT(t.lowered.buckets[0].members[0], "head.1");
    CHECK_INT(t.lowered.buckets[0].bytes, 4040 + 4 * MIB);
    CHECK_INT(t.lowered.buckets[1].bytes, 8 * MIB);
    CHECK_TEXT(t.lowered.buckets[2].members[0], "embed");
    CHECK_TEXT(sequence(&t, 0),
               "forward embed mb 0 | forward block[0] mb 0 | forward block[1] mb 0 | forward "
               "block[2] mb 0 | forward head mb 0 | backward head mb 0 | backward block[2] mb 0 | "
               "backward block[1] mb 0 | backward block[0] mb 0 | backward embed mb 0 | "
               "forward embed mb 1 | forward block[0] mb 1 | forward block[1] mb 1 | forward "
               "block[2] mb 1 | forward head mb 1 | backward head mb 1 | backward block[2] mb 1 | "
               "bucket 0 | backward block[1] mb 1 | backward block[0] mb 1 | bucket 1 | "
               "backward embed mb 1 | bucket 2 | optimizer");
    CHECK_INT(cost_named(&t, 0, "optimizer")->work, 3 * OVL_MS);
    CHECK_INT(count_effects(&t, 0, OVL_PRODUCE), 6);
    CHECK_INT(count_effects(&t, 0, OVL_ADD), 6);
    CHECK_INT(count_effects(&t, 0, OVL_PACK), 6);
    CHECK_INT(count_effects(&t, 0, OVL_SUM), 3);
    CHECK_INT(count_effects(&t, 0, OVL_CONSUME), 6);
    CHECK_INT(bytes_in(&t, 0, OVL_ACTIVATION), 6 * 64 * MIB);
    CHECK_INT(bytes_in(&t, 0, OVL_OPTIMIZER), 50 * MIB);
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_TEXT(t.result.gradient_scale, "1/16");
    finish(&t);
}

static void every_microbatch_may_reduce(void)
{
    bench t = {0};
    CHECK(lower(&t, LAYERS, "overlap.ddp.no_sync=false"));
    CHECK_TEXT(waits(&t, 0, "wait for buckets mb 0"),
               "bucket 0 mb 0, bucket 1 mb 0, bucket 2 mb 0");
    CHECK_INT(count_effects(&t, 0, OVL_SUM), 6);
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_TEXT(t.result.gradient_scale, "1/16");
    finish(&t);
}

/* 4040 + 4 MiB at 4 MiB/ms out: 1.000 963 2.. ms, rounded up. */
static void copies_and_overheads_take_the_compute_stream(void)
{
    bench t = {0};
    const char *text = LAYERS "interference: none\n";
    CHECK(lower(&t, text, "overlap.ddp.copy_in_rate=4 MiB/ms"));
    CHECK_INT(cost_named(&t, 0, "copy_in embed mb 1")->work, 2 * OVL_MS);
    CHECK(find_op(&t, 0, "copy_in embed mb 0") == OVL_NONE);
    CHECK_INT(cost_named(&t, 0, "copy_out bucket 1")->work, 2 * OVL_MS);
    CHECK_TEXT(waits(&t, 0, "copy_out bucket 1"), "bucket 1");
    CHECK_TEXT(waits(&t, 0, "bucket 2"), "copy_in embed mb 1");
    CHECK_INT(cost_named(&t, 0, "copy_out bucket 0")->work,
              ovl_bytes_time(4040 + 4 * MIB, 4000 * MIB));
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    CHECK(lower(&t, text, "overlap.ddp.bucket_overhead=0.1 ms"));
    CHECK_TEXT(waits(&t, 0, "bucket 2"), "launch bucket 2");
    CHECK_INT(cost_named(&t, 0, "launch bucket 2")->work, 100 * OVL_US);
    CHECK_INT(op_named(&t, 0, "launch bucket 2")->stream, op_named(&t, 0, "optimizer")->stream);
    finish(&t);
}

/* The first iteration: one bucket a dtype; looking for unused parameters, registration order by
 * limits, then the list reversed: [embed] (8 MiB >= 1), [block[0], block[1]], [block[2], head.*] ->
 * turned around. */
static void the_first_iteration(void)
{
    bench t = {0};
    const char *first = LAYERS "  # first\n";
    CHECK(lower(&t, first, "overlap.ddp={iteration: first}"));
    CHECK_INT(t.lowered.n_buckets, 1);
    CHECK_TEXT(waits(&t, 0, "bucket 0"), "backward embed mb 1");
    CHECK(lower(&t, first,
                "overlap.ddp={iteration: first, find_unused_parameters: true, bucket_cap: 8 MiB, "
                "first_bucket_cap: 1 MiB}"));
    CHECK_INT(t.lowered.n_buckets, 3);
    CHECK_TEXT(t.lowered.buckets[0].members[0], "block[2]");
    CHECK_INT(t.lowered.buckets[0].n_members, 3);
    CHECK_TEXT(t.lowered.buckets[1].members[1], "block[1]");
    CHECK_TEXT(t.lowered.buckets[2].members[0], "embed");
    /* With a cap of the user's own and no first cap, the limits are [16 MiB]: embed + block[0] +
     * block[1] reach it, the rest is left over. */
    CHECK(lower(&t, first,
                "overlap.ddp={iteration: first, find_unused_parameters: true, bucket_cap: 16 "
                "MiB}"));
    CHECK_INT(t.lowered.n_buckets, 2);
    CHECK_INT(t.lowered.buckets[1].n_members, 3);
    /* The small bucket last: assigned from the far end, embed alone passes 1 MiB, the blocks reach
     * 12 MiB, the head is left; then the list is turned around. */
    CHECK(lower(&t, first, "overlap.ddp={last_bucket_cap: true, bucket_cap: 12 MiB}"));
    CHECK_INT(t.lowered.n_buckets, 3);
    CHECK_TEXT(t.lowered.buckets[2].members[0], "embed");
    CHECK_INT(t.lowered.buckets[1].n_members, 3);
    CHECK_TEXT(t.lowered.buckets[0].members[0], "head.0");
    finish(&t);
}

/* bucket_size 3e6 elements, reverse registration: head.1 at 0..10, head.0 at 64..1064, block[2] at
 * 1088 (17 * 64), 1048576 elements: ends at 1049664 (16401 * 64), block[1] at 2098240, block[0] at
 * 3146816 >= 3e6: closed, up to lcm(8, 128) = 128: 3146880. embed: 2097152 elements. */
static void megatron_with_a_distributed_optimizer(void)
{
    bench t = {0};
    CHECK(lower(&t, LAYERS,
                "overlap.ddp={policy: megatron, bucket_size: 3e6, distributed_optimizer: true}"));
    CHECK_INT(t.lowered.n_buckets, 2);
    CHECK_INT(t.lowered.buckets[0].n_members, 5);
    CHECK_INT(t.lowered.buckets[0].bytes, 4 * 3146880);
    CHECK_INT(t.lowered.buckets[1].bytes, 8 * MIB);
    CHECK(op_named(&t, 0, "bucket 0")->coll == OVL_REDUCE_SCATTER);
    CHECK(said(&t, "all-gather of the updated parameters is not modelled"));
    CHECK_INT(bytes_in(&t, 0, OVL_GRADIENT), 0); /* gradients live in the buckets */
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    CHECK(!lower(&t, LAYERS, "hardware.collectives=[{op: reduce_scatter, alpha: 1 ms}]"));
    CHECK_HAS(mistake(&t), "\"bucket 0\" has no cost");
    CHECK_HAS(mistake(&t), "the hardware has reduce_scatter in any group");
    finish(&t);
}

static void parameters_are_gathered(void)
{
    bench t = {0};
    const char *text = LAYERS "variants:\n  x: {}\n";
    CHECK(lower(&t, text, "overlap.ddp={policy: megatron, distributed_optimizer: true}"));
    const char *with = "hardware:\n"
                       "  collectives: [{op: reduce_scatter, alpha: 1 ms}, {op: all_gather, alpha: "
                       "2 ms}]\n"
                       "mesh: {axes: {dp: 2}}\n"
                       "workload:\n"
                       "  layers: [{name: a, params: 4 MiB, backward: 1 ms}]\n"
                       "overlap: {ddp: {policy: megatron, distributed_optimizer: true}}\n";
    CHECK(lower(&t, with, NULL));
    CHECK_TEXT(sequence(&t, 0), "backward a | bucket 0 | optimizer | gather bucket 0");
    CHECK_TEXT(waits(&t, 0, "gather bucket 0"), "optimizer");
    CHECK(said(&t, "forward pass is not modelled"));
    finish(&t);
}

/* Two layers of 40e6 elements, one bucket each: forward 3 + 3, backward 5 + 5, reduce-scatter 1,
 * gather 2. */
#define GATHERING                                                                                  \
    "hardware:\n"                                                                                  \
    "  collectives: [{op: reduce_scatter, alpha: 1 ms}, {op: all_gather, alpha: 2 ms}]\n"          \
    "mesh: {axes: {dp: 2}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  steps: 3\n"                                                                                 \
    "  layers:\n"                                                                                  \
    "    - {name: a, params: 160 MB, forward: 3 ms, backward: 5 ms}\n"                             \
    "    - {name: b, params: 160 MB, forward: 3 ms, backward: 5 ms}\n"

/* Without overlap both gathers come before the next forward: 16 + 1 + 4 = 21. With it gather 1 (of
 * a, the first of the forward) is exposed, and gather 0 runs under the forward of a: 16 + 1 + 2. */
static void gathers_overlap_the_next_forward(void)
{
    bench t = {0};
    CHECK(lower(&t, GATHERING,
                "overlap.ddp={policy: megatron, distributed_optimizer: true, bucket_size: 40e6}"));
    CHECK_INT(t.p->n_steps, 3);
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_INT(t.result.step, 21 * OVL_MS);
    CHECK(ovl_result_converged(&t.result));
    CHECK_INT(t.result.step_times[0], 17 * OVL_MS);
    CHECK(lower(&t, GATHERING,
                "overlap.ddp={policy: megatron, distributed_optimizer: true, bucket_size: 40e6, "
                "overlap_param_gather: true}"));
    CHECK_TEXT(waits(&t, 0, "forward b"), "gather bucket 0");
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_INT(t.result.step, 19 * OVL_MS);
    finish(&t);
}

/* Gradients are given back between steps: P + 2 G at most, whatever the number of steps. */
static void steps_reuse_their_memory(void)
{
    bench t = {0};
    CHECK(lower(&t, LAST_BUCKET, "workload.steps=4"));
    CHECK(analyse(&t));
    CHECK_INT(t.result.n_hazards, 0);
    CHECK_INT(t.result.gradients_proved, 4 * 7 * 8);
    CHECK_INT(t.result.ranks[0].allocated_peak, 3 * 96 * MIB);
    CHECK_INT(t.result.step, 212 * OVL_MS);
    finish(&t);
}

static void a_wrong_scale_is_found(void)
{
    bench t = {0};
    for (int view = 0; view < 2; view++) {
        const char *text = view ? LAYERS "  # a view\n" : LAYERS;
        CHECK(lower(&t, text,
                    view ? "overlap.ddp={gradient_scale: 1, gradient_as_bucket_view: true}"
                         : "overlap.ddp.gradient_scale=1"));
        CHECK(analyse(&t));
        CHECK(t.result.n_hazards > 0);
        CHECK(t.result.n_hazards == 0 || strcmp(t.result.hazards[0].kind, "wrong_scale") == 0);
    }
    finish(&t);
}

/* Layers listed from the last to the first; ranges; element tensors by their layer's name; a
 * duration for each rank. */
static void ways_to_state_layers(void)
{
    bench t = {0};
    const char *text = "hardware: {collectives: [{op: all_reduce, alpha: 1 ms}]}\n"
                       "mesh: {axes: {dp: 2}}\n"
                       "workload:\n"
                       "  order: backward\n"
                       "  layers:\n"
                       "    - {name: head, elements: [3, 4], backward: 1 ms}\n"
                       "    - {name: block, repeat: 4, params: 8 B, backward: [2 ms, 3 ms]}\n"
                       "overlap: {ddp: {buckets: [[head, 'block[3..2]'], ['block[0..1]']]}}\n";
    CHECK(lower(&t, text, NULL));
    CHECK_TEXT(sequence(&t, 1), "backward head | backward block[3] | backward block[2] | bucket 0 "
                                "| backward block[1] | backward block[0] | bucket 1 | optimizer");
    CHECK_INT(t.lowered.buckets[0].n_members, 4);
    CHECK_TEXT(t.lowered.buckets[0].members[1], "head.1");
    CHECK_TEXT(t.lowered.buckets[0].members[2], "block[3]");
    CHECK_INT(t.lowered.buckets[0].bytes, 28 + 16);
    CHECK_INT(t.p->n_codes, 1);
    CHECK_INT(cost_named(&t, 0, "backward block[1]")->work, 2 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "backward block[1]")->work, 3 * OVL_MS);
    CHECK(!lower(&t, text, "overlap.ddp.buckets=[[head, 'block[2..4]', 'block[0..1]']]"));
    CHECK_HAS(mistake(&t), "there is no gradient \"block[4]\"");
    CHECK(!lower(&t, text, "workload.layers.block.backward=[2 ms, 3 ms, 4 ms]"));
    CHECK_HAS(mistake(&t), "3 for 2 ranks");
    CHECK(lower(&t, text, "overlap.ddp.buckets=[[block, head]]"));
    CHECK_INT(t.lowered.buckets[0].n_members, 6);
    finish(&t);
}

/* Whatever the policy, a plan waits for what it must and proves its gradients. */
static void all_plans_are_free_of_hazards(void)
{
    bench t = {0};
    uint32_t plans = 0;
    for (uint32_t i = 0; i < 256; i++) {
        const char *set = ovl_arena_printf(
            &t.arena,
            "overlap.ddp={policy: %s, gradient_as_bucket_view: %s, no_sync: %s, overlap: %s, "
            "copy_in_rate: %s, bucket_overhead: %s, iteration: %s%s}",
            i & 1 ? "megatron, bucket_size: 1.5e6" : "pytorch, bucket_cap: 8 MiB",
            i & 2 ? "true" : "false", i & 4 ? "true" : "false", i & 8 ? "true" : "false",
            i & 16 ? "4 GB/s" : "0", i & 32 ? "50 us" : "0", i & 64 ? "first" : "rebuilt",
            i & 128 ? (i & 1 ? ", distributed_optimizer: true" : ", find_unused_parameters: true")
                    : "");
        char *text = strdup(set);
        bool megatron_first = (i & 1) && (i & 64); /* iteration belongs to PyTorch */
        if (!megatron_first) {
            char *end = (i & 1) ? strstr(text, ", iteration: rebuilt") : NULL;
            if (end) {
                memmove(end, end + strlen(", iteration: rebuilt"),
                        strlen(end + strlen(", iteration: rebuilt")) + 1);
            }
            bool ok = lower(&t, LAYERS, text) && analyse(&t);
            CHECK(ok);
            CHECK_INT(t.result.n_hazards, 0);
            CHECK_INT(t.result.gradients_proved, 6 * 8);
            if (!ok || t.result.n_hazards) {
                CHECK_TEXT(ok ? t.result.hazards[0].text : mistake(&t), text);
            }
            plans++;
        }
        free(text);
    }
    CHECK_INT(plans, 192);
    finish(&t);
}

static void groups_of_the_reduction(void)
{
    bench t = {0};
    const char *text = "hardware: {collectives: [{op: all_reduce, alpha: 1 ms}]}\n"
                       "workload:\n"
                       "  ranks: 4\n"
                       "  layers: [{name: a, params: 4 MiB, backward: 1 ms}]\n";
    CHECK(lower(&t, text, NULL)); /* without a mesh all ranks reduce together */
    CHECK_INT(t.p->comms[0].n_members, 4);
    CHECK(!lower(&t, text, "workload.groups={dp: [0, 1]}"));
    CHECK_HAS(mistake(&t), "rank 2 is not in group \"dp\"");
    CHECK(!lower(&t, text, "workload.groups={dp: [[0, 1, 2], [3]]}"));
    CHECK_HAS(mistake(&t), "different sizes, 3 and 1");
    CHECK(!lower(&t, text, "mesh={axes: {tp: 4}}"));
    CHECK_HAS(mistake(&t), "there is no group \"dp\"; did you mean \"tp\"?");
    finish(&t);
}

/* 20,000 layers, 4 tensors each: near linear, so well below a second. */
static void many_layers(void)
{
    bench t = {0};
    const char *text =
        "hardware: {collectives: [{op: all_reduce, alpha: 1 ms, beta: 1 GB/s}]}\n"
        "mesh: {axes: {dp: 8}}\n"
        "workload:\n"
        "  layers: [{name: a, repeat: 20000, elements: [10, 20, 30, 40], forward: 1 ms, backward: "
        "1 ms}]\n"
        "overlap: {ddp: {bucket_cap: 4000 B, first_bucket_cap: 1 B}}\n";
    CHECK(lower(&t, text, NULL));
    CHECK(code_of(&t, 0)->n_ops > 40000);
    CHECK(!lower(&t, text, "workload.microbatches=1000000"));
    CHECK_HAS(mistake(&t), "too many");
    finish(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"the last bucket, piece by piece", the_last_bucket},
        {"a bucket view needs no copies and no memory", a_bucket_view},
        {"copy-in kernels are part of the backward", copies_are_part_of_the_backward},
        {"PyTorch launches in order, Megatron what is ready", launch_rules},
        {"every gradient is in one bucket", lists_of_buckets_are_checked},
        {"layers, buckets by cap, and two microbatches", layers_and_microbatches},
        {"every microbatch may reduce", every_microbatch_may_reduce},
        {"copies and overheads", copies_and_overheads_take_the_compute_stream},
        {"the first iteration and the small bucket last", the_first_iteration},
        {"gathers overlap the next forward", gathers_overlap_the_next_forward},
        {"steps reuse their memory", steps_reuse_their_memory},
        {"Megatron with a distributed optimizer", megatron_with_a_distributed_optimizer},
        {"updated parameters are gathered", parameters_are_gathered},
        {"a wrong scale is found", a_wrong_scale_is_found},
        {"ways to state layers", ways_to_state_layers},
        {"all plans are free of hazards", all_plans_are_free_of_hazards},
        {"groups of the reduction", groups_of_the_reduction},
        {"many layers", many_layers},
        CU_TEST_INFO_NULL,
    };
    return check_main("plan_ddp", tests);
}
