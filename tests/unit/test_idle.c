/*
 * Reasons to idle, planted in a pipeline one at a time and together: each is found, and nothing
 * else.
 */
#include "sim/alter.h"
#include "tests/support/idle.h"

#include <stdio.h>

/* Four stages, 1F1B; a forward takes 1 ms, a backward 2, but on stage 1 `slow` times that. */
typedef struct plant {
    int slow, hop, launch, m; /* hop, launch: microseconds */
} plant;

static const ovl_result *planted(bench *t, plant what)
{
    char text[600];
    snprintf(text, sizeof text,
             "hardware: {gpu: {name: example}, host: {launch: %d us}}\n"
             "mesh: {axes: {pp: 4}}\n"
             "workload:\n"
             "  stages:\n"
             "    - {name: even, forward: 1 ms, backward: 2 ms}\n"
             "    - {name: slow, forward: %d ms, backward: %d ms}\n"
             "    - {name: also, repeat: 2, forward: 1 ms, backward: 2 ms}\n"
             "overlap:\n"
             "  pipeline: {schedule: 1f1b, microbatches: %d, alpha: %d us}\n",
             what.launch, what.slow, 2 * what.slow, what.m, what.hop);
    CHECK(lower(t, text, NULL) && analyse(t));
    CHECK_TEXT(mistake(t), "none");
    return &t->result;
}

/* (p-1)(F+B) = 9 ms on each of 4 ranks; rank r waits r forwards, then r + 1 .. for backwards. */
static void an_even_pipeline_only_fills_and_drains(void)
{
    bench t = {0};
    const ovl_result *r = planted(&t, (plant){1, 0, 0, 8});
    check_peeled(r, 36000, 0, 0, 0);
    check_only(r, false, false, false);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(micros(r->ranks[i].idle_time), 9000);
        CHECK_INT(micros(r->ranks[i].idle[OVL_IDLE_FILL]), 1000 * i);
        CHECK_INT(micros(r->ranks[i].idle[OVL_IDLE_DRAIN]), 9000 - 1000 * i);
    }
    CHECK_INT(r->idle.n_blames, 0);
    finish(&t);
}

/* Stage 1 takes 2 and 4 ms. It works 48 of the step and idles 1 before its first forward, 2 before
 * its first backward (1 + 1 + 2 + 2 through stages 2 and 3, less two forwards of its own) and 2
 * while rank 0 ends: the step is 53, and the others, which work 24, idle 29. The mean stage
 * takes 1.25 and 2.5, so structural is 3 * 3.75 = 11.25 on each rank and imbalance what is beyond:
 * 3 * 29 + 5 - 45 = 47, on the slow rank 5 - 11.25. */
static void a_slow_stage_adds_only_imbalance(void)
{
    bench t = {0};
    const ovl_result *r = planted(&t, (plant){2, 0, 0, 8});
    CHECK_INT(r->step, 53 * OVL_MS);
    check_peeled(r, 45000, 47000, 0, 0);
    check_only(r, true, false, false);
    CHECK_INT(micros(r->ranks[1].peeled[OVL_PEEL_IMBALANCE]), -6250);
    CHECK_INT(micros(r->ranks[0].peeled[OVL_PEEL_IMBALANCE]), 17750);
    CHECK_INT(r->ranks[1].idle[OVL_IDLE_IMBALANCE], 0);
    CHECK_INT(r->idle.n_blames, 1);
    CHECK_TEXT(r->idle.blames[0].text, "stage 1 on rank 1 takes longer than the mean");
    finish(&t);
}

/* A hop of 0.25 ms. 1F1B with m = 2p: C [4p-6 + 2(k-1)(p-1)] = 0.25 * (10 + 6) = 4 ms on each rank.
 */
static void a_late_transfer_adds_only_dependency(void)
{
    bench t = {0};
    const ovl_result *r = planted(&t, (plant){1, 250, 0, 8});
    CHECK_INT(r->step, 37 * OVL_MS);
    check_peeled(r, 36000, 0, 16000, 0);
    check_only(r, false, true, false);
    CHECK_HAS(r->idle.blames[0].text, "transfer ");
    finish(&t);
}

/* Rank 0 waits for the gradients of microbatches 0 and 2 .. 7 from rank 1. That of 1 comes while
 * its fifth forward runs, but was late itself: what ended last when rank 0 went on. So 8 transfers,
 * and those of forwards, or to other ranks, are not like them. They cause the largest part, less
 * than half: rank 1 waits for rank 2, and 3 for 2, as well. */
static void transfers_are_counted_between_two_ranks(void)
{
    bench t = {0};
    const ovl_result *r = planted(&t, (plant){1, 250, 0, 8});
    CHECK_INT(r->idle.n_blames, 1);
    CHECK_TEXT(r->idle.blames[0].text, "transfer 1SEND_B7 from rank 1 to 0; 7 more like it");
    CHECK(2 * r->idle.blames[0].time < r->idle.piece[OVL_IDLE_DEPENDENCY]);
    finish(&t);
}

/* Forwards of 1, 1, 1.35 and 2 ms, backwards of twice that: the mean is 1.3375, which stage 2 is
 * 0.0375 of 4.05 beyond in a microbatch and stage 3 is 1.9875 of 6. Rank 2 is next to what the
 * others wait for, but of 16 microbatches it can cost at most 16 * 0.0375 = 0.6 on each of three
 * ranks, of 124.275 in all. */
static void the_slow_stage_is_named_not_the_nearest(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "mesh: {axes: {pp: 4}}\n"
                "workload:\n"
                "  stages:\n"
                "    - {name: a, repeat: 2, forward: 1 ms, backward: 2 ms}\n"
                "    - {name: c, forward: 1.35 ms, backward: 2.7 ms}\n"
                "    - {name: d, forward: 2 ms, backward: 4 ms}\n"
                "overlap: {pipeline: {schedule: 1f1b, microbatches: 16}}\n",
                NULL) &&
          analyse(&t));
    const ovl_result_blame *b = blame_of(&t.result, OVL_IDLE_IMBALANCE);
    CHECK_INT(micros(t.result.idle.piece[OVL_IDLE_IMBALANCE]), 124275);
    CHECK_TEXT(b->text, "stage 3 on rank 3 takes longer than the mean");
    CHECK(b->time > t.result.idle.piece[OVL_IDLE_IMBALANCE] - 1800 * US);
    for (int i = 0; i < 3; i++) {
        CHECK_TEXT(t.result.ranks[i].blames[0].text,
                   "stage 3 on rank 3 takes longer than the mean");
    }
    finish(&t);
}

/* The backward of stage b is longer than the mean, 1 of 0.336 ms, but both together are not: 1.333
 * of 1.447. All is due to c. */
static void a_stage_below_the_mean_is_never_named(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "mesh: {axes: {pp: 3}}\n"
                "workload:\n"
                "  stages:\n"
                "    - {name: a, forward: 1 us, backward: 7 us}\n"
                "    - {name: b, forward: 333 us, backward: 1 ms}\n"
                "    - {name: c, forward: 3 ms, backward: 1 us}\n"
                "overlap: {pipeline: {schedule: 1f1b, microbatches: 5}}\n",
                NULL) &&
          analyse(&t));
    const ovl_result_blame *b = blame_of(&t.result, OVL_IDLE_IMBALANCE);
    CHECK_TEXT(b->text, "stage 2 on rank 2 takes longer than the mean");
    CHECK_INT(b->time, t.result.idle.piece[OVL_IDLE_IMBALANCE]);
    finish(&t);
}

/* Six ranks on two nodes of three: from rank 2 to 3 and back a hop takes 3 ms, elsewhere nothing to
 * speak of. Whatever a rank waits for, it is one of these two that makes it late. */
static void the_slow_hop_is_named_not_the_nearest(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "hardware:\n"
                "  gpu: {name: x}\n"
                "  node: {gpus: 3}\n"
                "  links: {nvl: {bandwidth: 400 GB/s, scope: gpu}}\n"
                "  collectives:\n"
                "    - {op: send_recv, nodes: one, alpha: 0 ms, beta: 1 TB/s}\n"
                "    - {op: send_recv, nodes: several, alpha: 3 ms, beta: 1 TB/s}\n"
                "mesh: {axes: {pp: 6}}\n"
                "workload:\n"
                "  stages: [{name: s, repeat: 6, forward: 1 ms, backward: 2 ms, transfer: 1 KB}]\n"
                "overlap: {pipeline: {schedule: 1f1b, microbatches: 12}}\n",
                NULL) &&
          analyse(&t));
    for (int i = 0; i < 6; i++) {
        bool back = strstr(t.result.ranks[i].blames[0].text, "from rank 3 to 2") != NULL;
        CHECK(back || strstr(t.result.ranks[i].blames[0].text, "from rank 2 to 3"));
    }
    finish(&t);
}

/* A launch of 0.7 ms for each kernel, send and receive: 2.8 ms of host for 1 + 2 ms of kernels on
 * the inner ranks, and late from the start. What that costs is the same on all ranks. */
static void a_launch_gap_adds_only_host(void)
{
    bench t = {0};
    const ovl_result *r = planted(&t, (plant){1, 0, 700, 8});
    check_peeled(r, 36000, 0, 0, (int)micros(4 * (r->step - 33 * OVL_MS)));
    check_only(r, false, false, true);
    CHECK(r->step > 33 * OVL_MS);
    CHECK_HAS(r->idle.blames[0].text, "launch of ");
    finish(&t);
}

/* Together each is peeled off to what it adds to those before it: with the slow stage the hop costs
 * 0.25 ms in each direction through each of the three gaps of the ramp (1.5 on each rank), since
 * everything else waits for the slow stage anyway; and the launches only delay the first forward.
 */
static void together_they_are_told_apart(void)
{
    bench t = {0};
    const ovl_result *r = planted(&t, (plant){2, 250, 700, 8});
    CHECK_INT(micros(r->step), 55200);
    check_peeled(r, 45000, 47000, 6000, 2800);
    check_only(r, true, true, true);
    r = planted(&t, (plant){2, 250, 0, 8});
    check_peeled(r, 45000, 47000, 6000, 0);
    finish(&t);
}

/* (p-1)(F+B) stays as m grows, so of the idle share it is (p-1)/(m+p-1); what the slow stage costs
 * each further microbatch is 6 - 3 ms on three ranks, less what the mean stage has more, 0.75 on
 * all: nothing in structural, 9 ms a microbatch in imbalance. */
static void microbatches_thin_out_what_is_structural_alone(void)
{
    bench t = {0};
    for (int m = 8; m <= 64; m *= 2) {
        const ovl_result *r = planted(&t, (plant){1, 0, 0, m});
        check_peeled(r, 36000, 0, 0, 0);
        CHECK_NEAR(r->idle.bubble_rate, 3.0 / (m + 3), 1e-12);
        r = planted(&t, (plant){2, 0, 0, m});
        check_peeled(r, 45000, 47000 + 9000 * (m - 8), 0, 0);
    }
    finish(&t);
}

/* A call of 0.5 ms before each forward of rank 0 that the forward of the microbatch before must
 * have ended for: 0.5 for each microbatch, whatever their number. */
static void a_host_gap_stays_for_each_microbatch(void)
{
    bench t = {0};
    for (int m = 4; m <= 16; m *= 2) {
        char yaml[400];
        snprintf(yaml, sizeof yaml,
                 "hardware: {gpu: {name: example}}\n"
                 "workload:\n"
                 "  ops:\n"
                 "    - repeat: %d\n"
                 "      as: k\n"
                 "      ops:\n"
                 "        - {host: \"fetch {k}\", duration: 500 us, after: [\"F {k-1}?\"]}\n"
                 "        - {kernel: \"F {k}\", duration: 1 ms}\n",
                 m);
        CHECK(lower(&t, yaml, NULL) && analyse(&t));
        CHECK_TEXT(mistake(&t), "none");
        check_peeled(&t.result, 0, 0, 0, 500 * m);
        CHECK_INT(micros(t.result.ranks[0].idle[OVL_IDLE_HOST]), 500 * m);
        CHECK_HAS(t.result.idle.blames[0].text, "call fetch ");
    }
    finish(&t);
}

/* --- The mean stage where a part of a backward is in one piece here and in two there --- */

static const char *dual(bool v, int m, const char *more, ovl_arena *arena)
{
    return ovl_arena_printf(arena,
                            "mesh: {axes: {pp: 4}}\n"
                            "workload:\n"
                            "  stages:\n"
                            "    - {name: a, forward: 1 ms, backward_input: 1 ms, "
                            "backward_weight: 1 ms%s}\n"
                            "    - {name: slow, forward: 2 ms, backward_input: 2 ms, "
                            "backward_weight: 2 ms%s}\n"
                            "    - {name: b, repeat: %d, forward: 1 ms, backward_input: 1 ms, "
                            "backward_weight: 1 ms%s}\n"
                            "overlap: {pipeline: {schedule: %s, microbatches: %d}}\n",
                            more, more, v ? 6 : 2, more, v ? "dualpipev" : "dualpipe", m);
}

static void check_dual(bool v, int m, const char *more, int structural, int step)
{
    bench t = {0};
    ovl_arena arena = {0};
    CHECK(lower(&t, dual(v, m, more, &arena), NULL) && analyse(&t));
    CHECK_TEXT(mistake(&t), "none");
    CHECK_INT(micros(t.result.idle.peeled[OVL_PEEL_STRUCTURAL]), structural);
    t.lowered.program =
        ovl_program_altered(&t.lowered.program, &(ovl_alteration){.mean_kernels = true}, &arena);
    CHECK(analyse(&t));
    CHECK_INT(micros(t.result.step), step);
    CHECK_INT(micros(t.result.idle.piece[OVL_IDLE_IMBALANCE]), 0);
    finish(&t);
    ovl_arena_free(&arena);
}

/* DualPipe on 4 ranks; one of 4 stages takes twice as long, so the mean part takes 5/4 ms. The
 * bubble is (p/2 - 1)(F&B + B - 3W) = 3.75 + 2.5 - 3.75 = 2.5 ms on each rank, whatever the
 * microbatches; each rank runs two stages for half of them: 3 * 1.25 m + 2.5 = 32.5 for m = 8.
 * DualPipeV: one of 8, 9/8 ms; (p - 1)(F&B + B - 3W) = 3 * 2.25 = 6.75 on each rank; the step is
 * 2 * 3 * 1.125 m + 6.75. */
static void the_mean_stage_of_dualpipe(void)
{
    check_dual(false, 8, "", 10000, 32500);
    check_dual(false, 16, "", 10000, 62500);
    check_dual(false, 32, "", 10000, 122500);
    check_dual(true, 8, "", 27000, 60750);
    check_dual(true, 16, "", 27000, 114750);
    check_dual(true, 32, "", 27000, 222750);
}

/* Pairs take 1.25 + 2.5 ms on average where none gives `overlapped`; where all give 3 (a gain on
 * the slow stage alone), 3; where only the slow one does, (3 * (1 + 2.5) + 3) / 4 = 3.375. */
static void the_mean_pair(void)
{
    bench t = {0};
    ovl_arena arena = {0};
    static const struct {
        const char *more, *set;
        int mean;
    } want[] = {{"", NULL, 3750},
                {", overlapped: 3 ms", NULL, 3000},
                {"", "workload.stages.slow.overlapped=3 ms", 3375}};
    for (size_t i = 0; i < OVL_COUNT(want); i++) {
        CHECK(lower(&t, dual(false, 8, want[i].more, &arena), want[i].set));
        CHECK_TEXT(mistake(&t), "none");
        for (uint32_t c = 0; c < t.p->n_codes; c++) {
            const ovl_code *code = &t.p->codes[c];
            uint32_t pairs = 0;
            for (uint32_t k = 0; k < code->n_ops; k++) {
                bool pair = ovl_code_op(code, k)->kind == OVL_KERNEL &&
                            ovl_code_op(code, k)->part == OVL_PART_PAIR;
                CHECK(!pair || ovl_code_op(code, k)->mean == want[i].mean * US);
                pairs += pair;
            }
            CHECK(pairs > 0);
        }
    }
    finish(&t);
    ovl_arena_free(&arena);
}

/* a 0 - 5, its stream pauses to 8, b to 10, the all-reduce to 14, its stream pauses to 15, c to 16.
 * Of 8 idle 3 + 1 are pauses and 4 the transfer. */
static void pauses_are_a_cause_of_their_own(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "workload:\n"
                "  ranks: 2\n"
                "  ops:\n"
                "    - {kernel: a, duration: 5 ms}\n"
                "    - {marker: rest, duration: 3 ms}\n"
                "    - {kernel: b, duration: 2 ms}\n"
                "    - {collective: r, op: all_reduce, bytes: 1 MiB, duration: 4 ms, after: b}\n"
                "    - {marker: hold, duration: 1 ms, stream: comm}\n"
                "    - {kernel: c, duration: 1 ms, after: hold}\n",
                NULL) &&
          analyse(&t));
    CHECK_TEXT(mistake(&t), "none");
    CHECK_INT(micros(t.result.step), 16000);
    CHECK_INT(micros(t.result.idle.time), 2 * 8000);
    CHECK_INT(micros(t.result.idle.piece[OVL_IDLE_PAUSE]), 2 * 4000);
    CHECK_INT(micros(t.result.idle.peeled[OVL_PEEL_PAUSE]), 2 * 4000);
    check_only(&t.result, false, true, false);
    check_peeled(&t.result, 0, 0, 2 * 4000, 0);
    const ovl_result_blame *b = blame_of(&t.result, OVL_IDLE_PAUSE);
    CHECK(b && b->time == 2 * 4000 * OVL_US);
    CHECK_HAS(b ? b->text : "", "rest on rank 0");
    finish(&t);
}

/* The backward of stage 0 takes no time. GPipe, 2 microbatches: rank 0 runs from 0 to 0B1, which is
 * there when stage 1 is through, at 1 + 2 + 2 * 2 = 7; of these 7 it idles 5. */
static void a_span_ends_with_what_takes_no_time(void)
{
    bench t = {0};
    CHECK(
        lower(&t,
              "mesh: {axes: {pp: 2}}\n"
              "workload: {stages: [{name: a, forward: 1 ms, backward: 0 ms}, {name: b, forward: 1 "
              "ms, backward: 2 ms}]}\n"
              "overlap: {pipeline: {schedule: gpipe, microbatches: 2}}\n",
              NULL) &&
        analyse(&t));
    CHECK_TEXT(mistake(&t), "none");
    CHECK_INT(t.result.ranks[0].span_start, 0);
    CHECK_INT(t.result.ranks[0].span_end, 7 * OVL_MS);
    CHECK_NEAR(t.result.ranks[0].bubble_rate, 5.0 / 7, 1e-12);
    CHECK_INT(t.result.ranks[1].span_start, OVL_MS);
    CHECK_INT(t.result.ranks[1].span_end, 7 * OVL_MS);
    CHECK_INT(t.result.idle.span, 7 * OVL_MS);
    /* ... and begins with it: forwards of stage 1 that take none, the first ready at 1 */
    CHECK(
        lower(&t,
              "mesh: {axes: {pp: 2}}\n"
              "workload: {stages: [{name: a, forward: 1 ms, backward: 2 ms}, {name: b, forward: 0 "
              "ms, backward: 2 ms}]}\n"
              "overlap: {pipeline: {schedule: gpipe, microbatches: 2}}\n",
              NULL) &&
        analyse(&t));
    CHECK_INT(t.result.ranks[1].span_start, OVL_MS);
    CHECK_INT(t.result.ranks[1].span_end, 6 * OVL_MS);
    finish(&t);
}

/* ZB-V keeps every stage busy from its first kernel to its last; the ramp is 7 of 1393. */
static void spans_and_their_bubbles(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "mesh: {axes: {pp: 4}}\n"
                "workload: {stages: [{name: s, repeat: 8, forward: 1 ms, backward_input: 1 ms, "
                "backward_weight: 1 ms}]}\n"
                "overlap: {pipeline: {schedule: zb_v, microbatches: 8}}\n",
                NULL) &&
          analyse(&t));
    CHECK_INT(t.result.step, 51 * OVL_MS);
    CHECK_INT(t.result.idle.span, 48 * OVL_MS);
    CHECK_NEAR(t.result.idle.span_bubble_rate, 0, 1e-12);
    CHECK_NEAR(t.result.idle.bubble_rate, 3.0 / 51, 1e-12);
    CHECK_INT(t.result.ranks[3].span_end - t.result.ranks[3].span_start, 48 * OVL_MS);
    finish(&t);
}

/* 1F1B on 4 ranks, 8 microbatches of 2 + 4 ms: p (p - 1) S = 4 * 3 * 6 = 72 ms are structural. What
 * is launched together with a send that is not ready waits for it: a batch is an order of
 * communication, with bytes or without. */
static void a_batch_blocks_as_communication_does(void)
{
    static const char *const moved[] = {"", ", transfer: 1 MiB"};
    for (size_t i = 0; i < OVL_COUNT(moved); i++) {
        bench t = {0};
        char text[400];
        snprintf(text, sizeof text,
                 "mesh: {axes: {pp: 4}}\n"
                 "workload: {stages: [{name: s, repeat: 4, forward: 2 ms, backward_input: 2 ms, "
                 "backward_weight: 2 ms%s}]}\n"
                 "overlap: {pipeline: {schedule: 1f1b, microbatches: 8, alpha: 0.25 ms, "
                 "communicators: one, receives: early, batch: true}}\n",
                 moved[i]);
        CHECK(lower(&t, text, NULL) && analyse(&t));
        CHECK_INT(t.result.step, 90500 * OVL_US);
        check_peeled(&t.result, 72000, 0, 98000, 0);
        check_only(&t.result, false, true, false);
        finish(&t);
    }
}

/* The same. Rank 3 runs 3F0 from 6.75 (three forwards and hops) to 8.75, 3B0 to 12.75, 3F1, 3B1 to
 * 18.75: its gradient is on rank 2 at 19. That was received in one batch with 2RECV_F3, which comes
 * 0.25 after 1F3 ended on rank 1: at 17.25 + 4 (1B0) + 2 + 0.25 = 23.5. So 2B1 starts at 23.5, 4.5
 * late, and rank 2 waits for its own batches so in most of its gaps. */
static void a_batch_that_holds_up_a_part_is_named(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "mesh: {axes: {pp: 4}}\n"
                "workload: {stages: [{name: s, repeat: 4, forward: 2 ms, backward_input: 2 ms, "
                "backward_weight: 2 ms, transfer: 1 MiB}]}\n"
                "overlap: {pipeline: {schedule: 1f1b, microbatches: 8, alpha: 0.25 ms, "
                "communicators: one, receives: early, batch: true}}\n",
                NULL));
    ovl_analyse_options options = {.worth = OVL_WORTH_NONE, .gaps = true};
    CHECK(ovl_analyse(t.p, &options, &t.arena, &t.result, NULL, &t.errs));
    const ovl_result_rank *r = &t.result.ranks[2];
    uint32_t found = 0;
    for (uint32_t i = 0; i < r->n_gaps; i++) {
        const ovl_result_gap *g = &r->gaps[i];
        if (g->before && strcmp(g->before, "2B1") == 0) {
            CHECK_INT(g->start, 19 * OVL_MS);
            CHECK_INT(g->end, 23500 * US);
            CHECK_INT(g->piece[OVL_IDLE_DEPENDENCY], 4500 * US);
            CHECK_TEXT(
                g->because,
                "batch 2SEND_F2+2RECV_B1+2RECV_F3 on rank 2 holds up what needs a part of it");
            found++;
        }
    }
    CHECK_INT(found, 1);
    CHECK_HAS(r->blames[0].text, "on rank 2 holds up what needs a part of it; ");
    CHECK_HAS(blame_of(&t.result, OVL_IDLE_DEPENDENCY)->text, "batch ");
    /* without batches the step is 70.5, without the length of transfers 86: where rank 0 waits for
     * what was late already, batches are to blame */
    CHECK_HAS(t.result.ranks[0].blames[0].text, "batch ");
    finish(&t);
}

/* Two ranks, stages 0 and 3 on the first; stage 1 takes 18 ms, the others 6. Stage 2 is the other
 * half of the pairs of stage 1: it is not longer than the mean of 9, and not named. */
static void the_other_half_of_a_pair_is_not_named(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "mesh: {axes: {pp: 2}}\n"
                "workload: {stages: ["
                "{name: a, forward: 2 ms, backward_input: 2 ms, backward_weight: 2 ms}, "
                "{name: b, forward: 6 ms, backward_input: 6 ms, backward_weight: 6 ms}, "
                "{name: c, forward: 2 ms, backward_input: 2 ms, backward_weight: 2 ms}, "
                "{name: d, forward: 2 ms, backward_input: 2 ms, backward_weight: 2 ms}]}\n"
                "overlap: {pipeline: {schedule: dualpipev, microbatches: 8}}\n",
                NULL) &&
          analyse(&t));
    const ovl_result *r = &t.result;
    CHECK(r->idle.piece[OVL_IDLE_IMBALANCE] > 0);
    for (uint32_t i = 0; i < r->idle.n_blames; i++) {
        bool imbalance = r->idle.blames[i].kind == OVL_IDLE_IMBALANCE;
        CHECK(!imbalance || strstr(r->idle.blames[i].text, "stage 1 on rank 1 takes longer"));
    }
    CHECK(r->idle.n_blames > 0);
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"a batch blocks as communication does", a_batch_blocks_as_communication_does},
    {"a batch that holds up a part is named", a_batch_that_holds_up_a_part_is_named},
    {"the other half of a pair is not named", the_other_half_of_a_pair_is_not_named},
    {"an even pipeline only fills and drains", an_even_pipeline_only_fills_and_drains},
    {"a slow stage adds only imbalance", a_slow_stage_adds_only_imbalance},
    {"a late transfer adds only dependency", a_late_transfer_adds_only_dependency},
    {"transfers are counted between two ranks", transfers_are_counted_between_two_ranks},
    {"the slow stage is named, not the nearest", the_slow_stage_is_named_not_the_nearest},
    {"a stage below the mean is never named", a_stage_below_the_mean_is_never_named},
    {"the slow hop is named, not the nearest", the_slow_hop_is_named_not_the_nearest},
    {"a launch gap adds only host", a_launch_gap_adds_only_host},
    {"together they are told apart", together_they_are_told_apart},
    {"microbatches thin out what is structural alone",
     microbatches_thin_out_what_is_structural_alone},
    {"a host gap stays for each microbatch", a_host_gap_stays_for_each_microbatch},
    {"the mean stage of DualPipe", the_mean_stage_of_dualpipe},
    {"the mean pair", the_mean_pair},
    {"pauses are a cause of their own", pauses_are_a_cause_of_their_own},
    {"a span ends with what takes no time", a_span_ends_with_what_takes_no_time},
    {"spans and their bubbles", spans_and_their_bubbles},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("idle time", tests);
}
