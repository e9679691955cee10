/*
 * Reasons to idle in pipelines whose order is searched for: it is another one where the reason is
 * not.
 */
#include "sim/alter.h"
#include "tests/support/idle.h"

#include <stdio.h>

/* Four stages; F, I and W take 8 us each, twice that on stage 1 if it is slow. */
static const ovl_result *searched(bench *t, const char *kind, int slow, int hop, int launch)
{
    char text[700];
    snprintf(text, sizeof text,
             "hardware: {gpu: {name: example}, host: {launch: %d us}}\n"
             "mesh: {axes: {pp: 4}}\n"
             "workload:\n"
             "  stages:\n"
             "    - {name: a, forward: 8 us, backward_input: 8 us, backward_weight: 8 us}\n"
             "    - {name: slow, forward: %d us, backward_input: %d us, backward_weight: %d us}\n"
             "    - {name: b, repeat: 2, forward: 8 us, backward_input: 8 us, "
             "backward_weight: 8 us}\n"
             "overlap: {pipeline: {schedule: %s, microbatches: 8, alpha: %d us}}\n",
             launch, 8 * slow, 8 * slow, 8 * slow, kind, hop);
    CHECK(lower(t, text, NULL) && analyse(t));
    CHECK_TEXT(mistake(t), "none");
    return &t->result;
}

/* With equal F, I, W of t a rank idles only r t before its first forward and (3 - r) t at the end:
 * 4 * 3 t in all, 96 us of t = 8 and 120 of the mean t = 10. The slow stage works 8 * 48 without a
 * wait behind the first forward of stage 0: the step is 8 + 384 = 392, of which kernels run on the
 * others 192. So idle are 4 * 392 - 384 - 3 * 192 = 608, and 488 are imbalance. The list that was
 * found for the slow stage would leave 480 idle with even stages (zb_2p). */
static void a_slow_stage_is_imbalance_whatever_list_is_found_for_it(void)
{
    static const char *const kinds[] = {"zb_1p", "zb_2p"};
    bench t = {0};
    for (size_t i = 0; i < OVL_COUNT(kinds); i++) {
        check_peeled(searched(&t, kinds[i], 1, 0, 0), 96, 0, 0, 0);
        const ovl_result *r = searched(&t, kinds[i], 2, 0, 0);
        CHECK_INT(micros(r->step), 392);
        check_peeled(r, 120, 488, 0, 0);
        check_only(r, true, false, false);
        CHECK_INT(r->idle.n_blames, 1);
        CHECK_TEXT(r->idle.blames[0].text, "stage 1 on rank 1 takes longer than the mean");
    }
    finish(&t);
}

/* Whatever a hop of 2 and launches of 5 make of the list: what comes first is the same. */
static void planted_with_others_it_is_as_much(void)
{
    static const char *const kinds[] = {"zb_1p", "zb_2p"};
    bench t = {0};
    for (size_t i = 0; i < OVL_COUNT(kinds); i++) {
        const ovl_result *r = searched(&t, kinds[i], 1, 2, 0);
        check_peeled(r, 96, 0, (int)micros(r->idle.time) - 96, 0);
        check_only(r, false, true, false);
        r = searched(&t, kinds[i], 1, 0, 5);
        check_peeled(r, 96, 0, 0, (int)micros(r->idle.time) - 96);
        r = searched(&t, kinds[i], 2, 2, 5);
        CHECK_INT(micros(r->idle.peeled[OVL_PEEL_STRUCTURAL]), 120);
        CHECK_INT(micros(r->idle.peeled[OVL_PEEL_IMBALANCE]), 488);
        ovl_time pieces = 0, peeled = 0;
        for (int k = 0; k < OVL_IDLE_COUNT; k++) {
            pieces += r->idle.piece[k];
        }
        for (int k = 0; k < OVL_PEEL_COUNT; k++) {
            peeled += r->idle.peeled[k];
        }
        CHECK_INT(pieces, r->idle.time);
        CHECK_INT(peeled, r->idle.time);
    }
    finish(&t);
}

static ovl_time idle_of(const ovl_result_rank *r, ovl_idle_kind kind)
{
    return r->idle[kind];
}

/* ZB-1p, 12 microbatches; stage 0 takes 18 ms for each, the others 6. It never waits: the step is
 * 216, and the others idle 216 - 72 = 144. With even stages of 9 each idles 3 * 3 = 9, with free
 * transfers the step is 216, too. A hop of 10 us makes the search find another list, in which other
 * kernels wait, but nobody waits longer: so 9 and 135, and nothing of transfers. */
static void a_list_that_hops_change_is_not_a_late_transfer(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "mesh: {axes: {pp: 4}}\n"
                "workload:\n"
                "  stages:\n"
                "    - {name: slow, forward: 6 ms, backward_input: 6 ms, backward_weight: 6 ms}\n"
                "    - {name: b, repeat: 3, forward: 2 ms, backward_input: 2 ms, "
                "backward_weight: 2 ms}\n"
                "overlap: {pipeline: {schedule: zb_1p, microbatches: 12, alpha: 0.01 ms}}\n",
                NULL) &&
          analyse(&t));
    CHECK_INT(t.result.step, 216 * OVL_MS);
    check_peeled(&t.result, 36000, 396000, 0, 0);
    check_only(&t.result, true, false, false);
    CHECK_INT(t.result.ranks[0].idle_time, 0);
    for (int i = 1; i < 4; i++) {
        const ovl_result_rank *r = &t.result.ranks[i];
        CHECK_INT(idle_of(r, OVL_IDLE_FILL) + idle_of(r, OVL_IDLE_DRAIN), 9 * OVL_MS);
        CHECK_INT(idle_of(r, OVL_IDLE_IMBALANCE), 135 * OVL_MS);
    }
    CHECK_INT(t.result.idle.n_blames, 1);
    CHECK_TEXT(t.result.idle.blames[0].text, "stage 0 on rank 0 takes longer than the mean");
    finish(&t);
}

/* ZB-2p, 5 stages, 11 microbatches; stage 1 takes 18 ms, the others 6, a hop 50 us. Stage 1 waits
 * for one forward and one hop, then never: the step is 2.05 + 198 = 200.05, and the others idle
 * 134.05. The mean is 8.4: (p - 1) 2.8 = 11.2 are structural. With free transfers the step is 200:
 * 122.8 are imbalance, and 0.05 are dependency on each rank, of the slow one the hop itself. */
static void a_list_that_hops_change_costs_what_they_cost(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "mesh: {axes: {pp: 5}}\n"
                "workload:\n"
                "  stages:\n"
                "    - {name: a, forward: 2 ms, backward_input: 2 ms, backward_weight: 2 ms}\n"
                "    - {name: slow, forward: 6 ms, backward_input: 6 ms, backward_weight: 6 ms}\n"
                "    - {name: b, repeat: 3, forward: 2 ms, backward_input: 2 ms, "
                "backward_weight: 2 ms}\n"
                "overlap: {pipeline: {schedule: zb_2p, microbatches: 11, alpha: 0.05 ms}}\n",
                NULL) &&
          analyse(&t));
    CHECK_INT(t.result.step, 200050 * US);
    check_peeled(&t.result, 5 * 11200, 4 * 122800 - 9200, 5 * 50, 0);
    for (int i = 0; i < 5; i++) {
        const ovl_result_rank *r = &t.result.ranks[i];
        CHECK_INT(idle_of(r, OVL_IDLE_FILL) + idle_of(r, OVL_IDLE_DRAIN),
                  (i == 1 ? 2000 : 11200) * US);
        CHECK_INT(idle_of(r, OVL_IDLE_IMBALANCE), (i == 1 ? 0 : 122800) * US);
        CHECK_INT(idle_of(r, OVL_IDLE_DEPENDENCY), 50 * US);
    }
    CHECK_TEXT(blame_of(&t.result, OVL_IDLE_IMBALANCE)->text,
               "stage 1 on rank 1 takes longer than the mean");
    CHECK_HAS(blame_of(&t.result, OVL_IDLE_DEPENDENCY)->text, "transfer ");
    finish(&t);
}

/* ZB-2p, 8 stages, 24 microbatches, F 18.522, I 18.086, W 9.337 ms. Without hops the search finds a
 * list of 1241.08 ms, worse than that of a hop: 7 F + 24 (F + I + W) = 129.654 + 1102.68 = 1232.334
 * ms, of which each rank works 1102.68. Hops of up to 0.5 ms make that 7 hops longer. Behind them
 * the last rank waits 129.654 for forwards and 7 hops, and never again. */
static void what_a_search_misses_without_hops_does_not_hide_them(void)
{
    bench t = {0};
    ovl_time alike = OVL_TIME_MAX, late = 0;
    for (int hop = 100; hop <= 900; hop += 100) {
        char text[500];
        snprintf(
            text, sizeof text,
            "mesh: {axes: {pp: 8}}\n"
            "workload: {stages: [{name: s, repeat: 8, forward: 18522 us, backward_input: 18086 "
            "us, backward_weight: 9337 us, activations: 201216 B, weight_activations: 73728 "
            "B}]}\n"
            "overlap: {pipeline: {schedule: zb_2p, microbatches: 24, alpha: %d us}}\n",
            hop);
        CHECK(lower(&t, text, NULL) && analyse(&t));
        const ovl_result_rank *last = &t.result.ranks[7];
        const ovl_time *piece = t.result.idle.piece;
        int64_t idle = micros(t.result.idle.time);
        check_peeled(&t.result, 8 * 129654, 0, (int)idle - 8 * 129654, 0);
        CHECK(piece[OVL_IDLE_FILL] + piece[OVL_IDLE_DRAIN] <= alike);
        CHECK(piece[OVL_IDLE_DEPENDENCY] > late);
        alike = piece[OVL_IDLE_FILL] + piece[OVL_IDLE_DRAIN];
        late = piece[OVL_IDLE_DEPENDENCY];
        if (hop <= 500) {
            CHECK_INT(micros(t.result.step), 1232334 + 7 * hop);
            CHECK_INT(micros(idle_of(last, OVL_IDLE_FILL)), 129654);
            CHECK_INT(micros(idle_of(last, OVL_IDLE_DEPENDENCY)), 7 * hop);
        }
    }
    finish(&t);
}

/* At the mean of 10 us a step takes 8 * 30 + 3 * 10 = 270, and all that idles is structural; the
 * same with free transfers. */
static void stages_like_their_mean_run_the_list_of_the_mean(void)
{
    bench t = {0};
    for (int hop = 0; hop <= 2; hop += 2) {
        searched(&t, "zb_2p", 2, hop, 0);
        CHECK(t.p->orders != NULL);
        t.lowered.program = ovl_program_altered(
            t.p, &(ovl_alteration){.mean_kernels = true, .free_comm = hop > 0}, &t.arena);
        CHECK(analyse(&t));
        CHECK_INT(micros(t.result.step), 270);
        check_peeled(&t.result, 120, 0, 0, 0);
    }
    finish(&t);
}

/* Data-parallel replicas of the pipeline are folded, and the other order of them too. */
static void replicas_count_as_one_pipeline_does(void)
{
    bench t = {0};
    CHECK(
        lower(&t,
              "mesh: {axes: {pp: 4, dp: 4}}\n"
              "workload:\n"
              "  stages:\n"
              "    - {name: a, forward: 8 us, backward_input: 8 us, backward_weight: 8 us}\n"
              "    - {name: slow, forward: 16 us, backward_input: 16 us, backward_weight: 16 us}\n"
              "    - {name: b, repeat: 2, forward: 8 us, backward_input: 8 us, "
              "backward_weight: 8 us}\n"
              "overlap: {pipeline: {schedule: zb_2p, microbatches: 8}}\n",
              NULL) &&
        analyse_both(&t));
    check_peeled(&t.result, 4 * 120, 4 * 488, 0, 0);
    check_peeled(&t.whole, 4 * 120, 4 * 488, 0, 0);
    finish(&t);
}

/* A search looks at what runs: with F = 2, I = 1 and W = 3 ms, I takes 3 where F runs again. */
static void a_search_knows_of_forwards_that_run_again(void)
{
    static const char *const kinds[] = {"zb_1p", "zb_2p", "v_half"};
    bench t = {0};
    for (size_t i = 0; i < OVL_COUNT(kinds); i++) {
        ovl_time step[2];
        for (int again = 0; again < 2; again++) {
            char text[500];
            snprintf(text, sizeof text,
                     "mesh: {axes: {pp: 4}}\n"
                     "workload: {stages: [{name: s, repeat: %d, forward: 2 ms, backward_input: %d "
                     "ms, backward_weight: 3 ms}]}\n"
                     "overlap: {pipeline: {schedule: %s, microbatches: 4, alpha: 1 ms, recompute: "
                     "%s}}\n",
                     i == 2 ? 8 : 4, again ? 1 : 3, kinds[i], again ? "true" : "false");
            CHECK(lower(&t, text, NULL) && analyse(&t));
            step[again] = t.result.step;
        }
        CHECK_INT(step[0], step[1]);
    }
    finish(&t);
}

/* Four microbatches of a thousand hours on each of four stages: no sum of a search overflows, and
 * the run says what is too long. */
static void times_beyond_counting_are_told_by_the_run(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "mesh: {axes: {pp: 4}}\n"
                "workload: {stages: [{name: s, repeat: 4, forward: 1200 h, backward_input: 1200 h, "
                "backward_weight: 1200 h}]}\n"
                "overlap: {pipeline: {schedule: zb_2p, microbatches: 4, recompute: true}}\n",
                NULL));
    CHECK(!analyse(&t));
    CHECK_HAS(mistake(&t), "later than time can count");
    finish(&t);
}

static CU_TestInfo tests[] = {
    {"a slow stage is imbalance, whatever list is found for it",
     a_slow_stage_is_imbalance_whatever_list_is_found_for_it},
    {"planted with others it is as much", planted_with_others_it_is_as_much},
    {"a list that hops change is not a late transfer",
     a_list_that_hops_change_is_not_a_late_transfer},
    {"a list that hops change costs what they cost", a_list_that_hops_change_costs_what_they_cost},
    {"what a search misses without hops does not hide them",
     what_a_search_misses_without_hops_does_not_hide_them},
    {"stages like their mean run the list of the mean",
     stages_like_their_mean_run_the_list_of_the_mean},
    {"replicas count as one pipeline does", replicas_count_as_one_pipeline_does},
    {"a search knows of forwards that run again", a_search_knows_of_forwards_that_run_again},
    {"times beyond counting are told by the run", times_beyond_counting_are_told_by_the_run},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("idle time and orders that are searched for", tests);
}
