/* The pipeline plan: from stages and a schedule to operations, and what the engine makes of them.
 */
#include "sim/speedup.h"
#include "tests/support/lowering.h"

#include <stdio.h>

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

#define TWO                                                                                        \
    "mesh: {axes: {pp: 2}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  stages:\n"                                                                                  \
    "    - {name: s, repeat: 2, forward: 1 ms, backward_input: 1 ms, backward_weight: 1 ms, "      \
    "activations: 1 GiB, params: 3 GiB, transfer: 16 MiB}\n"                                       \
    "overlap:\n"                                                                                   \
    "  pipeline: {schedule: 1f1b, microbatches: 2, alpha: 0.1 ms}\n"

static ovl_time step_of(bench *t, const char *text, const char *set)
{
    bool ok = lower(t, text, set) && analyse(t);
    CHECK_TEXT(mistake(t), "none");
    return ok ? t->result.step : -1;
}

static const char *stuck(bench *t, const char *text, const char *set)
{
    bool ok = lower(t, text, set) && analyse(t);
    CHECK(!ok);
    return mistake(t);
}

/* --- Operations --- */

/* (2 + 2 - 1) 3 ms + hops: F0 of rank 1 waits one, B0 of rank 0 one more. B1 of rank 1 ends at
 * 1.1 + 6, of rank 0 at 7.1 + 0.1 + 2. */
static void operations_of_1f1b(void)
{
    bench t = {0};
    CHECK_INT(step_of(&t, TWO, NULL), 9200 * OVL_US);
    CHECK_TEXT(sequence(&t, 0),
               "0F0 | 0SEND_F0 | 0F1 | 0SEND_F1 | 0RECV_B0 | 0B0 | 0RECV_B1 | 0B1");
    CHECK_TEXT(sequence(&t, 1),
               "1RECV_F0 | 1F0 | 1B0 | 1SEND_B0 | 1RECV_F1 | 1F1 | 1B1 | 1SEND_B1");
    CHECK_TEXT(waits(&t, 0, "0SEND_F1"), "0F1");
    CHECK_TEXT(waits(&t, 0, "0B0"), "0RECV_B0");
    CHECK_TEXT(waits(&t, 1, "1B0"), "");
    CHECK_INT(cost_named(&t, 0, "0B0")->work, 2 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "0SEND_F0")->latency, 100 * OVL_US);
    CHECK_INT(op_named(&t, 0, "0SEND_F0")->bytes, 16 * MIB);
    CHECK(op_named(&t, 0, "0SEND_F0")->eager);
    CHECK_INT(t.result.n_hazards, 0);
    CHECK(t.result.hazards_checked);
    finish(&t);
}

/* Rank 0: 2 activations and an output of the second, not yet sent: 3 + 2 GiB + 16 MiB; the gradient
 * that comes back is allocated when both outputs are sent. Rank 1: input and one activation. */
static void memory_is_held_from_forward_to_backward(void)
{
    bench t = {0};
    step_of(&t, TWO, NULL);
    CHECK_INT(t.result.ranks[0].allocated_peak, 5 * GIB + 16 * MIB);
    CHECK_INT(t.result.ranks[1].allocated_peak, 4 * GIB + 16 * MIB);
    /* zb_h2, rank 1 of 2: F I F I W W: with all of it kept until W both live, else one; the
     * gradient of the second is allocated beside. */
    step_of(&t, TWO, "overlap.pipeline.schedule=zb_h2");
    CHECK_INT(t.result.ranks[1].allocated_peak, 5 * GIB + 16 * MIB);
    step_of(&t, TWO "  # kept\n", "workload.stages.s.weight_activations=256 MiB");
    CHECK_INT(bytes_in(&t, 1, OVL_ACTIVATION), 2 * GIB);
    CHECK_INT(t.result.n_hazards, 0);
    finish(&t);
}

static void times_follow_from_one_another(void)
{
    bench t = {0};
    const char *head = "overlap: {pipeline: {schedule: zb_h1, microbatches: 2}}\n";
    char text[512];
    snprintf(text, sizeof text,
             "%sworkload: {stages: [{name: a, forward: [1 ms, 3 ms], backward: 5 ms, "
             "backward_weight: [2 ms, 1 ms], repeat: 2}]}\n",
             head);
    step_of(&t, text, NULL);
    CHECK_INT(t.lowered.program.n_ranks, 2); /* as many as stages */
    CHECK_INT(cost_named(&t, 0, "0F1")->work, 3 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "1I0")->work, 3 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "1I1")->work, 4 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "1W1")->work, OVL_MS);
    CHECK(said(&t, "Transfers between stages take no time"));
    step_of(&t, text, "overlap.pipeline.schedule=gpipe");
    CHECK_INT(cost_named(&t, 1, "1B1")->work, 5 * OVL_MS);
    step_of(&t, text, "workload.stages.a[1].forward=7 ms"); /* one stage of them */
    CHECK_INT(cost_named(&t, 0, "0F0")->work, OVL_MS);
    CHECK_INT(cost_named(&t, 1, "1F0")->work, 7 * OVL_MS);
    CHECK(!lower(&t, text, "workload.stages.a.forward=[1 ms, 2 ms, 3 ms]"));
    CHECK_HAS(mistake(&t), "found 3 for 2");
    CHECK(!lower(&t, text, "workload.stages.a.backward_weight=6 ms"));
    CHECK_HAS(mistake(&t), "would be negative");
    CHECK(!lower(&t, text, "workload.stages.a.backward_weight=null"));
    CHECK_HAS(mistake(&t), "give backward_input and backward_weight");
    /* W from B and I: 5 - 4 */
    step_of(&t,
            "workload: {stages: [{name: a, forward: 1 ms, backward: 5 ms, backward_input: 4 ms, "
            "repeat: 2}]}\n"
            "overlap: {pipeline: {schedule: zb_h1, microbatches: 2}}\n",
            NULL);
    CHECK_INT(cost_named(&t, 1, "1W0")->work, OVL_MS);
    CHECK(!lower(&t,
                 "workload: {stages: [{name: a, forward: 1 ms, backward: 5 ms, backward_input: "
                 "6 ms, repeat: 2}]}\n"
                 "overlap: {pipeline: {schedule: zb_h1, microbatches: 2}}\n",
                 NULL));
    CHECK_HAS(mistake(&t),
              "backward_weight of \"a[0]\" would be negative: backward_input is part of");
    finish(&t);
}

/* --- Layers --- */

#define LAYERS                                                                                     \
    "mesh: {axes: {dp: 2, pp: 2}}\n"                                                               \
    "workload:\n"                                                                                  \
    "  layers:\n"                                                                                  \
    "    - {name: embed, params: 2 GiB, forward: 1 ms, backward: 2 ms}\n"                          \
    "    - {name: block, repeat: 5, params: 1 GiB, forward: 2 ms, backward: 4 ms, "                \
    "backward_weight: 2 ms, activations: 1 GiB, transfer: 8 MiB}\n"                                \
    "    - {name: head, params: 3 GiB, forward: 3 ms, backward: 6 ms}\n"                           \
    "  optimizer: {duration: 5 ms, states: 7 GiB}\n"                                               \
    "overlap: {pipeline: {schedule: 1f1b, microbatches: 4, beta: 8 MiB/ms}}\n"

/* 7 layers: 3 and 4. Rank 0 and 1 are the first place of two pipelines. */
/* In one piece a backward may take less than its parts: 3 ms, not 1.5 + 1.8. 1F1B: 2 (1 + 3) + 1
 * + 3. ZB-H1 on 2 ranks with 2 microbatches splits all: nothing takes 3. */
static void a_backward_may_differ_from_its_parts(void)
{
    bench t = {0};
    const char *text = "workload: {stages: [{name: a, forward: 1 ms, backward: 3 ms, "
                       "backward_input: 1.5 ms, backward_weight: 1.8 ms, repeat: 2}]}\n"
                       "overlap: {pipeline: {schedule: 1f1b, microbatches: 2}}\n";
    CHECK_INT(step_of(&t, text, NULL), 12 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "1B0")->work, 3 * OVL_MS);
    step_of(&t, text, "overlap.pipeline.schedule=zb_h1");
    CHECK_INT(cost_named(&t, 1, "1I0")->work, 1500 * OVL_US);
    CHECK_INT(cost_named(&t, 1, "1W0")->work, 1800 * OVL_US);
    step_of(&t, text, "workload.stages.a.backward=3.3 ms"); /* a sum that is right is fine, too */
    finish(&t);
}

/* --- Pairs --- */

#define PAIRS                                                                                      \
    "mesh: {axes: {pp: 2}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  stages:\n"                                                                                  \
    "    - {name: a, forward: 1 ms, backward: 20 ms, backward_weight: 10 ms}\n"                    \
    "    - {name: b, forward: 3 ms, backward: 40 ms, backward_weight: 20 ms}\n"                    \
    "    - {name: c, forward: 7 ms, backward: 80 ms, backward_weight: 40 ms}\n"                    \
    "    - {name: d, forward: 9 ms, backward: 100 ms, backward_weight: 50 ms}\n"                   \
    "overlap: {pipeline: {schedule: dualpipev, microbatches: 4}}\n"

/* Stages 0 and 3 are on rank 0, 1 and 2 on rank 1. F of stage 3 and B of stage 0: 9 + 20; F of 0
 * and B of 3: 1 + 100; 7 + 40 and 3 + 80 on the other rank. With recomputation the forward of the
 * backward's stage is run again: 9 + 20 + 1, 1 + 100 + 9. `overlapped` is that of the forward's
 * stage: 105 given for stage 0, the others stay; 18 + 1 with recomputation. */
static void a_pair_is_a_forward_and_the_backward_of_another_stage(void)
{
    bench t = {0};
    step_of(&t, PAIRS, NULL);
    CHECK_INT(cost_named(&t, 0, "3F2+0B0")->work, 29 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "0F3+3B1")->work, 101 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "2F2+1B0")->work, 47 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "1F3+2B1")->work, 83 * OVL_MS);
    step_of(&t, PAIRS, "overlap.pipeline.recompute=true");
    CHECK_INT(cost_named(&t, 0, "3F2+0B0")->work, 30 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "0F3+3B1")->work, 110 * OVL_MS);
    step_of(&t, PAIRS, "workload.stages.a.overlapped=105 ms");
    CHECK_INT(cost_named(&t, 0, "3F2+0B0")->work, 29 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "0F3+3B1")->work, 105 * OVL_MS);
    step_of(&t,
            "mesh: {axes: {pp: 2}}\n"
            "workload: {stages: [{name: a, repeat: 4, forward: 1 ms, backward: 20 ms, "
            "backward_weight: 10 ms, overlapped: 18 ms}]}\n"
            "overlap: {pipeline: {schedule: dualpipev, microbatches: 4, recompute: true}}\n",
            NULL);
    CHECK_INT(cost_named(&t, 0, "0F3+3B1")->work, 19 * OVL_MS);
    finish(&t);
}

/* DualPipeV on 4 ranks with 8 microbatches; 7 stages of 1 + 1 + 1 ms and a head of 4 + 4 + 4. Rank
 * 0 has stage 0 and the head: 8 (3 + 12) = 120 ms of kernels; the others 8 (3 + 3) = 48. */
static void pairs_conserve_work(void)
{
    bench t = {0};
    step_of(
        &t,
        "mesh: {axes: {pp: 4}}\n"
        "workload:\n"
        "  stages:\n"
        "    - {name: s, repeat: 7, forward: 1 ms, backward_input: 1 ms, backward_weight: 1 ms}\n"
        "    - {name: head, forward: 4 ms, backward_input: 4 ms, backward_weight: 4 ms}\n"
        "overlap: {pipeline: {schedule: dualpipev, microbatches: 8}}\n",
        NULL);
    CHECK_INT(t.result.n_ranks, 4);
    for (uint32_t r = 0; r < t.result.n_ranks; r++) {
        CHECK_INT(t.result.ranks[r].term[OVL_COMPUTE], (r == 0 ? 120 : 48) * OVL_MS);
    }
    finish(&t);
}

/* A list may join two backwards: 2 + 2, for the mean, too. */
static void two_of_a_kind_run_one_after_the_other(void)
{
    bench t = {0};
    step_of(&t,
            "mesh: {axes: {pp: 2}}\n"
            "workload: {stages: [{name: s, repeat: 2, forward: 1 ms, backward: 2 ms, overlapped: "
            "9 ms}]}\n"
            "overlap: {pipeline: {actions: [\"0F0,0F1,(0B0;0B1)OVERLAP_F_B\", "
            "\"1F0,1B0,1F1,1B1\"]}}\n",
            NULL);
    CHECK_INT(cost_named(&t, 0, "0B0+0B1")->work, 4 * OVL_MS);
    CHECK_INT(op_named(&t, 0, "0B0+0B1")->mean, 4 * OVL_MS);
    finish(&t);
}

static void layers_are_cut_into_stages(void)
{
    bench t = {0};
    step_of(&t, LAYERS, NULL);
    CHECK_INT(cost_named(&t, 0, "0F0")->work, 5 * OVL_MS);
    CHECK_INT(cost_named(&t, 2, "1F0")->work, 9 * OVL_MS);
    CHECK_INT(cost_named(&t, 2, "1B0")->work, 18 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "0SEND_F0")->work, OVL_MS);
    CHECK_INT(bytes_in(&t, 0, OVL_PARAMETER), 4 * GIB);
    CHECK_INT(bytes_in(&t, 2, OVL_PARAMETER), 6 * GIB);
    CHECK_INT(bytes_in(&t, 2, OVL_OPTIMIZER), 7 * GIB);
    CHECK(t.p->ranks[0].code == t.p->ranks[1].code && t.p->ranks[0].code != t.p->ranks[2].code);
    CHECK_INT(find_op(&t, 0, "optimizer"), code_of(&t, 0)->n_ops - 1);
    step_of(&t, LAYERS, "overlap.pipeline.layers_per_stage=[6, 1]");
    CHECK_INT(cost_named(&t, 2, "1F0")->work, 3 * OVL_MS);
    step_of(&t, LAYERS, "overlap.pipeline.virtual_stages=1");
    /* Forward and backward take 3, 6 (5 times), 9: 21 each with 4 and 3 layers. */
    step_of(&t, LAYERS, "overlap.pipeline.split=time");
    CHECK_INT(cost_named(&t, 0, "0F0")->work, 7 * OVL_MS);
    CHECK_INT(cost_named(&t, 2, "1F0")->work, 7 * OVL_MS);
    CHECK(!lower(&t, LAYERS, "overlap.pipeline.layers_per_stage=[6, 2]"));
    CHECK_HAS(mistake(&t), "shares out 8 layers among 2 stages; the workload has 7 layers and "
                           "the pipeline 2 stages");
    CHECK(!lower(&t, LAYERS, "overlap.pipeline.layers_per_stage=[7, x]"));
    CHECK_HAS(mistake(&t), "layers_per_stage: \"x\"");
    CHECK(!lower(&t, LAYERS, "overlap.pipeline.schedule=zb_h1"));
    CHECK_HAS(mistake(&t), "the schedule splits the backward of layer \"embed\": give "
                           "backward_weight, the part of backward");
    CHECK(!lower(&t, LAYERS, "overlap.pipeline.schedule=zb_1p"));
    CHECK_HAS(mistake(&t), "the schedule splits the backward of layer \"embed\": give "
                           "backward_weight, the part of backward");
    CHECK(!lower(&t, LAYERS,
                 "overlap.pipeline={schedule: interleaved, virtual_stages: 4, "
                 "microbatches: 4}"));
    CHECK_HAS(mistake(&t), "fewer layers than stages: 7 for 8");
    CHECK(!lower(&t, LAYERS, "workload.layers.block[3].forward=null"));
    CHECK_HAS(mistake(&t), "needs the times, or FLOPs, of its forward and backward");
    CHECK(!lower(&t, LAYERS, "workload.layers.head.transfer=1 MiB") == 0);
    finish(&t);
}

/* --- Communicators and lists --- */

#define FOUR                                                                                       \
    "mesh: {axes: {pp: 4}}\n"                                                                      \
    "workload: {stages: [{name: s, repeat: 8, forward: 2 ms, backward_input: 2 ms, "               \
    "backward_weight: 2 ms}]}\n"                                                                   \
    "overlap: {pipeline: {schedule: interleaved, microbatches: 8, alpha: 1 ms}}\n"

/* PyTorch's places of receives keep the order of each pair of ranks; late ones do not. */
static void orders_of_sends_and_receives_agree(void)
{
    bench t = {0};
    ovl_time ideal = step_of(&t, FOUR, NULL);
    CHECK_INT(ideal, ((16 + 3) * 6 + 14) * OVL_MS);
    CHECK(step_of(&t, FOUR "  # a\n", "overlap.pipeline.receives=early") >= ideal);
    CHECK_HAS(sequence(&t, 0), "0F0 | 0SEND_F0 | 4RECV_F0 | 0F1 | 0SEND_F1 | 4RECV_F1 | 0F2");
    const char *zbv = "overlap.pipeline={schedule: zb_v, microbatches: 8, communicators: ranks}";
    CHECK(!lower(&t, FOUR, zbv));
    CHECK_HAS(mistake(&t), "sends meet receives in order; take receives: early or communicators: "
                           "stages");
    zbv = "overlap.pipeline={schedule: zb_v, microbatches: 8, communicators: ranks, receives: "
          "early}";
    CHECK(step_of(&t, FOUR, zbv) > 0);
    finish(&t);
}

/* Rank 0 sends F1 while rank 1 sends B0: each waits for a receive that stands behind. */
static void rendezvous_on_one_communicator_is_a_deadlock(void)
{
    bench t = {0};
    CHECK_INT(step_of(&t, TWO, "overlap.pipeline.protocol=rendezvous"), 9200 * OVL_US);
    CHECK_HAS(stuck(&t, TWO "  # one\n",
                    "overlap.pipeline={schedule: 1f1b, microbatches: 2, protocol: rendezvous, "
                    "communicators: one}"),
              "deadlock");
    finish(&t);
}

#define LIST(rows)                                                                                 \
    "mesh: {axes: {pp: 2}}\n"                                                                      \
    "workload: {stages: [{name: s, repeat: 2, forward: 1 ms, backward: 2 ms}]}\n"                  \
    "overlap: {pipeline: {actions: [" rows "]}}\n"

static void lists_of_actions(void)
{
    bench t = {0};
    CHECK_INT(step_of(&t, LIST("\"0F0,0F1,,0B0,,0B1\", \",1F0,1B0,1F1,1B1\""), NULL), 9 * OVL_MS);
    CHECK_TEXT(sequence(&t, 1),
               "1RECV_F0 | 1F0 | 1B0 | 1SEND_B0 | 1RECV_F1 | 1F1 | 1B1 | 1SEND_B1");
    CHECK_INT(step_of(&t,
                      LIST("\"0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0\", "
                           "\"1RECV_F0,1F0,1B0,1SEND_B0\""),
                      NULL),
              6 * OVL_MS);
    CHECK(said(&t, "UNSHARD, RESHARD and REDUCE_GRAD of the schedule take no time"));
    /* 0F1 & 0B0 as a pair: 3 ms, as long as its parts. */
    CHECK_INT(step_of(&t, LIST("\"0F0,(0F1;0B0)OVERLAP_F_B,0B1\", \"1F0,1B0,1F1,1B1\""), NULL),
              (1 + 3 + 3 + 3 + 2) * OVL_MS);
    CHECK_HAS(sequence(&t, 0), "0RECV_B0 | 0F1+0B0 | 0SEND_F1");
    CHECK(!lower(&t, LIST("\"0F0,0B0,0Z1\", \"1F0,1B0\""), NULL));
    CHECK_HAS(mistake(&t), "3:41: \"0Z1\" is no action");
    CHECK(!lower(&t, LIST("\"0B0,0F0\", \"1F0,1B0\""), NULL));
    CHECK_HAS(mistake(&t), "3:33: 0B0 comes before the forward of that microbatch");
    CHECK(!lower(&t, LIST("\"0F0,0B0\""), NULL));
    CHECK_HAS(mistake(&t), "the schedule is for 1 rank, the pipeline has 2");
    CHECK(!lower(&t, LIST("\"0F0,0SEND_F0,0RECV_B0,0B0\", \"1F0,1B0,1SEND_B0\""), NULL));
    CHECK_INT(ovl_errs_status(&t.errs), OVL_E_INPUT); /* read, not run */
    CHECK_HAS(mistake(&t), "3:62: 1F0 needs 1RECV_F0 before it");
    CHECK(!lower(&t, LIST("\"0F0,0RECV_B0,0B0\", \"1RECV_F0,1F0,1B0,1SEND_B0\""), NULL));
    CHECK_HAS(mistake(&t), "3:53: 1RECV_F0 has no 0SEND_F0 on rank 0: nobody sends what it "
                           "waits for");
    CHECK(!lower(&t, LIST("\"0F0,0SEND_F0,0B0,0RECV_B0\", \"1RECV_F0,1F0,1B0,1SEND_B0\""), NULL));
    CHECK_HAS(mistake(&t), "3:46: 0B0 needs 0RECV_B0 before it");
    CHECK(!lower(&t, LIST("\"0F0,0B0,0SEND_B0\", \"1F0,1B0\""), NULL));
    CHECK_HAS(mistake_at(&t, 1), "3:41: 0SEND_B0 has no other rank to exchange with");
    /* Rank 0 wants the first gradient before it gave what rank 1 begins with. */
    CHECK_HAS(stuck(&t, LIST("\"0F0,0B0,0F1,0B1\", \"1F1,1B1,1F0,1B0\""), NULL),
              "3:37: the schedule cannot finish: rank 0 waits for what 0B0 needs");
    CHECK_INT(ovl_errs_status(&t.errs), OVL_E_STUCK);
    finish(&t);
}

/* Both forwards are there, and rank 1 takes the second first. Posted when they are sent, receives
 * are in order. Where the list has its own, only the list can change. */
static void advice_is_what_helps(void)
{
    bench t = {0};
    const char *late = LIST("\"0F0,0F1,0B0,0B1\", \"1F1,1F0,1B1,1B0\"");
    CHECK(!lower(&t, late, NULL));
    CHECK_HAS(mistake(&t), "3:41: the next thing sent to where 0RECV_B0 stands is for 0RECV_B1: "
                           "sends meet receives in order; take receives: early");
    CHECK_HAS(mistake_at(&t, 1), "3:52: the next thing sent to where 1RECV_F1 stands is for "
                                 "1RECV_F0: sends meet receives in order; take receives: early");
    CHECK(!strstr(mistake(&t), "communicators"));
    CHECK(step_of(&t, late, "overlap.pipeline.receives=early") > 0);
    CHECK(!lower(&t,
                 LIST("\"0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\", "
                      "\"1RECV_F1,1F1,1RECV_F0,1F0,1B0,1SEND_B0,1B1,1SEND_B1\""),
                 NULL));
    CHECK_HAS(mistake(&t), "both ranks must take them in one order: change the list");
    finish(&t);
}

/* Both stages on one rank: nothing is sent; an order against the model is told. */
static void stages_of_one_rank(void)
{
    bench t = {0};
    const char *text =
        "workload: {ranks: 1, stages: [{name: s, repeat: 2, forward: 1 ms, backward: "
        "2 ms}]}\n"
        "overlap: {pipeline: {schedule: looped_bfs, microbatches: 2}}\n";
    CHECK_INT(step_of(&t, text, NULL), 12 * OVL_MS);
    CHECK_TEXT(sequence(&t, 0), "0F0 | 0F1 | 1F0 | 1F1 | 1B1 | 1B0 | 0B1 | 0B0");
    CHECK(!lower(&t, text, "overlap.pipeline={actions: [\"1F0,0F0,1B0,0B0\"]}"));
    CHECK_HAS(mistake(&t), "the schedule cannot finish: rank 0 waits for what 1F0 needs");
    finish(&t);
}

/* --- Schedules --- */

static void automatic_schedules_look_at_times(void)
{
    bench t = {0};
    const char *text = "mesh: {axes: {pp: 4}}\n"
                       "workload: {stages: [{name: s, repeat: 4, forward: 1 ms, backward_input: 1 "
                       "ms, backward_weight: 1 ms, activations: 1 GiB}]}\n"
                       "overlap: {pipeline: {schedule: zb_2p, microbatches: 12}}\n";
    /* No bubble in any span: 12 * 3, and the ramp of 3 forwards. */
    CHECK_INT(step_of(&t, text, NULL), 39 * OVL_MS);
    CHECK(t.result.ranks[0].allocated_peak <= 8 * GIB);
    CHECK_INT(step_of(&t, text, "overlap.pipeline.schedule=ZB-1p"), 39 * OVL_MS);
    CHECK_INT(t.result.ranks[0].allocated_peak, 4 * GIB);
    CHECK(!lower(&t, text, "workload.stages.s.repeat=8"));
    CHECK_HAS(mistake(&t), "zb_2p has 1 stage on each rank, not 2");
    finish(&t);
}

/* Each at the key that does not fit, all in one go. */
static void mistakes_of_numbers_have_their_place(void)
{
    bench t = {0};
    CHECK(!lower(&t,
                 "mesh: {axes: {pp: 4}}\n"
                 "workload:\n"
                 "  stages: [{name: s, repeat: 4, forward: 1 ms, backward: [2 ms, 2 ms]}]\n"
                 "overlap:\n"
                 "  pipeline:\n"
                 "    alpha: 1 ms\n"
                 "    microbatches: 9\n"
                 "    schedule: dualpipe\n",
                 NULL));
    CHECK_HAS(mistake_at(&t, 0), "7:19: DualPipe feeds both ends");
    CHECK_HAS(mistake_at(&t, 1), "3:12: backward of \"s[0]\": a list has one time for each");
    /* a list of one is a list */
    CHECK(!lower(&t,
                 "mesh: {axes: {pp: 2}}\n"
                 "workload:\n"
                 "  stages: [{name: s, repeat: 2, forward: [1 ms], backward: 2 ms}]\n"
                 "overlap: {pipeline: {schedule: 1f1b, microbatches: 4}}\n",
                 NULL));
    CHECK_HAS(mistake_at(&t, 0),
              "3:12: forward of \"s[0]\": a list has one time for each microbatch; found 1 for 4");
    CHECK_TEXT(mistake_at(&t, 1), "none"); /* once for all repeats */
    const char *text = "mesh: {axes: {pp: 4}}\n"
                       "workload: {stages: [{name: s, repeat: 8, forward: 1 ms, backward: 2 ms}],\n"
                       "  microbatches: 11}\n"
                       "overlap:\n"
                       "  pipeline:\n"
                       "    receives: early\n"
                       "    schedule: ScheduleInterleaved1F1B\n";
    CHECK(!lower(&t, text, NULL));
    CHECK_HAS(mistake(&t), "3:17: 11 microbatches on 4 ranks make 2 rounds");
    CHECK(!lower(&t, text, "overlap.pipeline.schedule=gpipe"));
    CHECK(!lower(&t,
                 "mesh: {axes: {pp: 2}}\n"
                 "workload: {stages: [{name: s, repeat: 4, forward: 1 ms, backward: 2 ms}]}\n"
                 "overlap:\n"
                 "  pipeline:\n"
                 "    microbatches: 4\n"
                 "    microbatch_group: 5\n"
                 "    schedule: interleaved_megatron\n",
                 NULL));
    CHECK_HAS(mistake(&t), "6:23: the group of microbatches is between");
    CHECK(!lower(&t,
                 "mesh: {axes: {pp: 2}}\n"
                 "workload: {stages: [{name: s, repeat: 4, forward: 1 ms, backward: 2 ms}]}\n"
                 "overlap:\n"
                 "  pipeline:\n"
                 "    microbatches: 4\n"
                 "    virtual_stages: 2\n"
                 "    batch: true\n"
                 "    schedule: 1f1b\n",
                 NULL));
    CHECK_HAS(mistake(&t), "7:12: batch needs communicators: one");
    finish(&t);
}

/* An empty stage is said, and passes on what it gets: rank 1 sends as much as rank 0. */
static void a_stage_without_layers_is_said(void)
{
    bench t = {0};
    const char *text = "mesh: {axes: {pp: 3}}\n"
                       "workload: {layers: [{name: l, repeat: 4, forward: 1 ms, backward: 2 ms, "
                       "transfer: 1 MiB}]}\n"
                       "overlap: {pipeline: {schedule: 1f1b, microbatches: 3, beta: 1 MiB/ms, "
                       "layers_per_stage: [2, 0, 2]}}\n";
    CHECK(lower(&t, text, NULL) && analyse(&t));
    CHECK_INT(t.errs.count, 1);
    CHECK(t.errs.count == 1 && t.errs.items[0].warning);
    CHECK_HAS(t.errs.items[0].text, "stage 1 has no layers: it takes no time and passes on");
    uint32_t sent = 0;
    for (uint32_t i = 0; i < t.p->codes[t.p->ranks[1].code].n_ops; i++) {
        const ovl_op *op = ovl_code_op(&t.p->codes[t.p->ranks[1].code], i);
        sent += op->kind == OVL_SEND && op->bytes == 1u << 20;
    }
    CHECK_INT(sent, 6);
    finish(&t);
}

static void what_does_not_fit_is_told(void)
{
    bench t = {0};
    CHECK(!lower(&t, TWO, "overlap.pipeline.schedule=zbh3"));
    CHECK_HAS(mistake(&t), "unknown schedule \"zbh3\"");
    CHECK(!lower(&t, TWO,
                 "overlap.pipeline={schedule: looped_bfs, virtual_stages: 30000, "
                 "microbatches: 1000000}"));
    CHECK_HAS(mistake(&t), "60000 stages with 1000000 microbatches are too many");
    CHECK(!lower(&t, TWO, "overlap.pipeline={actions: [\"0F999998\", \"65000F0\"]}"));
    CHECK_HAS(mistake(&t), "64999 stages from 1 on are on no rank, yet this is of stage 65000");
    CHECK(!lower(&t, TWO, "overlap.pipeline.schedule=null"));
    CHECK_HAS(mistake(&t), "a schedule_file; found none");
    CHECK(!lower(&t, TWO, "overlap.pipeline.group=dp"));
    CHECK_HAS(mistake(&t), "there is no group \"dp\"");
    CHECK(!lower(&t, TWO, "overlap.pipeline.virtual_stages=2"));
    CHECK_HAS(mistake(&t), "1f1b has 1 stage on each rank, not 2");
    CHECK(!lower(&t, TWO, "workload.stages.s.repeat=3"));
    CHECK_HAS(mistake(&t), "the schedule is for 2 stages, the workload has 3");
    CHECK(!lower(&t, TWO, "overlap.pipeline={schedule: dualpipe, microbatches: 3}"));
    CHECK_HAS(mistake(&t), "at least two microbatches for each rank");
    CHECK(!lower(&t, TWO, "workload.stages.s.weight_activations=2 GiB"));
    CHECK_HAS(mistake(&t), "are part of its activations, but larger");
    CHECK(!lower(&t, TWO,
                 "workload={stages: [{name: a, forward: 1 ms, backward: 1 ms}, {name: a, "
                 "forward: 1 ms, backward: 1 ms}]}"));
    CHECK_HAS(mistake(&t), "stage \"a\" is there twice");
    CHECK(!lower(&t, TWO, "overlap={}"));
    CHECK_HAS(mistake(&t), "stages need a schedule");
    CHECK(!lower(&t, TWO, "overlap.ddp={}"));
    CHECK_HAS(mistake(&t), "overlap.ddp in a pipeline arranges layers, not stages");
    CHECK(!lower(&t, TWO, "workload={ranks: 2, ops: [{kernel: a, duration: 1 ms}]}"));
    CHECK_HAS(mistake(&t), "overlap.pipeline arranges stages or layers, not an explicit program");
    CHECK(!lower(&t, TWO, "hardware={collectives: [{op: send_recv, beta: 1 GB/s}]}") == 0);
    const char *no_bytes = "workload.stages.s.transfer=null";
    CHECK(!lower(&t,
                 TWO "hardware: {collectives: [{op: send_recv, beta: 1 GB/s}]}\n"
                     "variants: {x: {overlap.pipeline.alpha: null}}\n",
                 no_bytes) == 0); /* alpha alone needs no bytes */
    CHECK(!lower(&t,
                 "workload: {stages: [{name: s, repeat: 2, forward: 1 ms, backward: 1 ms}]}\n"
                 "hardware: {collectives: [{op: send_recv, beta: 1 GB/s}]}\n"
                 "overlap: {pipeline: {schedule: gpipe}}\n",
                 NULL));
    CHECK_HAS(mistake(&t), "does not say how many bytes it transfers to the next stage");
    finish(&t);
}

/* --- Batches, recomputation, data parallelism --- */

#define SMALL                                                                                      \
    "mesh: {axes: {pp: 2}}\n"                                                                      \
    "workload: {stages: [{name: s, repeat: 2, forward: 1 ms, backward: 2 ms, activations: 1 GiB, " \
    "transfer: 8 MiB}]}\n"

/* The send of a forward and the receive for the next backward are one launch. */
static void neighbouring_transfers_are_a_batch(void)
{
    bench t = {0};
    const char *text =
        SMALL "overlap: {pipeline: {schedule: 1f1b, microbatches: 2, communicators: one, "
              "batch: true, alpha: 1 ms, beta: 8 MiB/ms}}\n";
    step_of(&t, text, NULL);
    CHECK_TEXT(sequence(&t, 0), "0F0 | 0SEND_F0 | 0F1 | 0SEND_F1+0RECV_B0 | 0SEND_F1 | 0RECV_B0 | "
                                "0B0 | 0RECV_B1 | 0B1");
    CHECK_TEXT(waits(&t, 0, "0SEND_F1+0RECV_B0"), "0F1");
    CHECK_TEXT(waits(&t, 0, "0B0"), "0SEND_F1+0RECV_B0");
    CHECK(!lower(&t, text, "overlap.pipeline.communicators=stages"));
    CHECK_HAS(mistake(&t), "batch needs communicators: one");
    finish(&t);
}

/* A backward runs the forward again: 1 + 2. A forward leaves the input of its stage, 8 MiB on stage
 * 1; the activations are there for a backward at a time. */
static void forwards_run_again(void)
{
    bench t = {0};
    ovl_time step = step_of(
        &t, SMALL "overlap: {pipeline: {schedule: 1f1b, microbatches: 4, recompute: true}}\n",
        NULL);
    CHECK_INT(cost_named(&t, 1, "1B0")->work, 3 * OVL_MS);
    CHECK_INT(step, 5 * 4 * OVL_MS);
    CHECK_INT(t.result.ranks[0].allocated_peak / GIB, 1);
    CHECK_INT(bytes_in(&t, 1, OVL_ACTIVATION), 4 * (GIB + GIB / 128));
    CHECK_INT(t.result.n_hazards, 0);
    finish(&t);
}

/* Ranks 0 and 1 have different stages: they have no gradients in common. */
static void data_parallel_ranks_have_the_same_stages(void)
{
    bench t = {0};
    CHECK(!lower(
        &t,
        "mesh: {axes: {dp: 2, pp: 2}}\n"
        "workload: {stages: [{name: s, repeat: 2, forward: 1 ms, backward: 2 ms, params: 1 "
        "GiB}]}\n"
        "overlap: {pipeline: {schedule: 1f1b, microbatches: 2, data_parallel: {group: pp}}}\n",
        NULL));
    CHECK_HAS(mistake(&t), "have different stages of the pipeline");
    finish(&t);
}

/* Layers of 4, 1, 1 and 2 TFLOP forward on 100 TFLOP/s, twice that backward: 120, 30, 30, 60 ms. By
 * number 150 and 90; by time 120 and 120. */
static void layers_are_cut_by_flops(void)
{
    bench t = {0};
    const char *text =
        "hardware: {gpu: {peak: {bf16: 100 TFLOP/s}}}\n"
        "mesh: {axes: {pp: 2}}\n"
        "workload:\n"
        "  dtype: bf16\n"
        "  layers:\n"
        "    - {name: wide, forward_flops: 4 TFLOP, backward_flops: 8 TFLOP}\n"
        "    - {name: narrow, repeat: 2, forward_flops: 1 TFLOP, backward_flops: 2 TFLOP}\n"
        "    - {name: head, forward_flops: 2 TFLOP, backward_flops: 4 TFLOP}\n"
        "overlap: {pipeline: {schedule: gpipe, microbatches: 2}}\n";
    step_of(&t, text, NULL);
    CHECK_INT(cost_named(&t, 0, "0F0")->work, 50 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "1B0")->work, 60 * OVL_MS);
    step_of(&t, text, "overlap.pipeline.split=time");
    CHECK_INT(cost_named(&t, 0, "0F0")->work, 40 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "0B0")->work, 80 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "1F0")->work, 40 * OVL_MS);
    finish(&t);
}

/* The step with all kernels of a class free. */
static ovl_time step_without(bench *t, const char *klass)
{
    static const ovl_faster no_time = {0, 1, false};
    uint32_t n;
    ovl_time step = -1;
    const ovl_lever *levers = ovl_levers_find(t->p, &t->arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (strstr(ovl_lever_text(t->p, &levers[i], &t->arena), klass)) {
            ovl_program p = ovl_program_faster(t->p, &levers[i], &no_time, &t->arena);
            ovl_run_options how = {.interference = OVL_INTERFERENCE_SHARED};
            CHECK(ovl_simulate_step(&p, &how, &step, &t->errs));
        }
    }
    return step;
}

/* Two ranks of DualPipe: 13.2 ms of which each forward is 1.1 and each backward 2.2; what is free
 * is so in pairs, too, as if its time were not there at all. A pair that is stated, 3 ms instead
 * of 3.3, is so much forward as its parts are: of its 3 ms one and two thirds are. */
static void a_pair_is_as_fast_as_its_parts(void)
{
    static const char pair[] =
        "mesh: {axes: {pp: 2}}\n"
        "workload:\n"
        "  stages:\n"
        "    - {name: s, repeat: 2, forward: 1.1 ms, backward_input: 1.1 ms, "
        "backward_weight: 1.1 ms}\n"
        "overlap: {pipeline: {schedule: dualpipe, microbatches: 4}}\n";
    bench t = {0};
    CHECK_INT(step_of(&t, pair, NULL), 13200 * OVL_US);
    CHECK_INT(step_without(&t, "forward"), 8800 * OVL_US);
    CHECK_INT(step_without(&t, "backward"), 4400 * OVL_US);
    ovl_time stated = step_of(&t, pair, "workload.stages.s.overlapped=3 ms");
    ovl_time pairs = (13200 * OVL_US - stated) / (300 * OVL_US); /* on the longest way */
    CHECK(pairs > 0);
    CHECK_INT(step_without(&t, "forward"), 8800 * OVL_US - pairs * 200 * OVL_US);
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"operations of 1F1B", operations_of_1f1b},
    {"memory is held from forward to backward", memory_is_held_from_forward_to_backward},
    {"times follow from one another", times_follow_from_one_another},
    {"a backward may differ from its parts", a_backward_may_differ_from_its_parts},
    {"a pair is a forward and the backward of another stage",
     a_pair_is_a_forward_and_the_backward_of_another_stage},
    {"pairs conserve work", pairs_conserve_work},
    {"a pair is as fast as its parts", a_pair_is_as_fast_as_its_parts},
    {"two of a kind run one after the other", two_of_a_kind_run_one_after_the_other},
    {"layers are cut into stages", layers_are_cut_into_stages},
    {"layers are cut by FLOPs", layers_are_cut_by_flops},
    {"neighbouring transfers are a batch", neighbouring_transfers_are_a_batch},
    {"forwards run again", forwards_run_again},
    {"data parallel ranks have the same stages", data_parallel_ranks_have_the_same_stages},
    {"orders of sends and receives agree", orders_of_sends_and_receives_agree},
    {"rendezvous on one communicator is a deadlock", rendezvous_on_one_communicator_is_a_deadlock},
    {"lists of actions", lists_of_actions},
    {"advice is what helps", advice_is_what_helps},
    {"stages of one rank", stages_of_one_rank},
    {"automatic schedules look at times", automatic_schedules_look_at_times},
    {"what does not fit is told", what_does_not_fit_is_told},
    {"mistakes of numbers have their place", mistakes_of_numbers_have_their_place},
    {"a stage without layers is said", a_stage_without_layers_is_said},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("pipeline plan", tests);
}
