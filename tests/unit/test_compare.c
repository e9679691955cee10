#include "sim/compare.h"
#include "tests/support/check.h"

#define MS OVL_MS

/* One bucket: 217 = 210 compute + 1 latency + 6 transfer. */
static const ovl_result_path whole_path[] = {
    {"backward", "compute", 0, 0, 210 * MS, "start", 0, 0},
    {"bucket_0", "comm", 0, 210 * MS, 217 * MS, "after: backward", 0, 0},
};
static const ovl_result whole = {
    .variant = "base",
    .step = 217 * MS,
    .term = {[OVL_COMPUTE] = 210 * MS, [OVL_COMM_LATENCY] = 1 * MS, [OVL_COMM_TRANSFER] = 6 * MS},
    .mean_busbw = 24e9,
    .startups = 1,
    .path = whole_path,
    .n_path = 2,
    .gradients_proved = 8,
    .gradient_scale = "1/8",
    .gradient_digest = 77,
};

/* Two buckets: 213 = 210 compute + 1 stretch + 1 latency + 1 transfer. */
static const ovl_result_path split_path[] = {
    {"backward", "compute", 0, 0, 211 * MS, "start", 0, 0},
    {"bucket_1", "comm", 0, 211 * MS, 213 * MS, "after: backward", 0, 0},
};
static const ovl_result split = {
    .variant = "split",
    .step = 213 * MS,
    .term = {[OVL_COMPUTE] = 210 * MS,
             [OVL_COMPUTE_STRETCH] = 1 * MS,
             [OVL_COMM_LATENCY] = 1 * MS,
             [OVL_COMM_TRANSFER] = 1 * MS},
    .mean_busbw = 21e9,
    .startups = 2,
    .path = split_path,
    .n_path = 2,
    .gradients_proved = 8,
    .gradient_scale = "1/8",
    .gradient_digest = 77,
};

static void a_better_split(void)
{
    ovl_arena arena = {0};
    ovl_comparison c;
    ovl_compare(&whole, &split, &arena, &c);
    ovl_time sum = 0;
    for (int i = 0; i < OVL_TERM_COUNT; i++) {
        sum += c.delta_term[i];
    }
    CHECK_INT(c.delta, -4 * MS);
    CHECK_INT(sum, c.delta);
    CHECK_INT(c.verdict, OVL_BETTER);
    CHECK_TEXT(ovl_verdict_name(c.verdict), "better");
    CHECK_TEXT(c.sentence, "better: the step is 4 ms (1.8 %) shorter; most of it is "
                           "comm_transfer, -5 ms");
    CHECK_TEXT(c.efficiency, "bandwidth efficiency fell: mean busbw 24 GB/s -> 21 GB/s, startups 1 "
                             "-> 2; the step improved all the same");
    CHECK_TEXT(c.path_change,
               "left the critical path: bucket_0 (7 ms); took over: bucket_1 (2 ms)");
    CHECK_TEXT(c.gradients, "the optimizer receives the same gradients: proved for 8 inputs, each "
                            "once, at 1/8");
    CHECK(c.memory == NULL);
    ovl_arena_free(&arena);
}

static void the_other_way_round_is_worse(void)
{
    ovl_arena arena = {0};
    ovl_comparison c;
    ovl_compare(&split, &whole, &arena, &c);
    CHECK_TEXT(ovl_verdict_name(c.verdict), "worse");
    CHECK_HAS(c.sentence, "worse: the step is 4 ms (1.9 %) longer; most of it is comm_transfer, +");
    CHECK_HAS(c.efficiency, "rose");
    CHECK_HAS(c.efficiency, "the step became longer all the same");
    ovl_arena_free(&arena);
}

/* Nothing changed but a collective with 9 ms of slack. */
static void no_gain_is_explained_by_slack(void)
{
    ovl_arena arena = {0};
    ovl_result_collective before[] = {
        {.name = "tail", .start = 10 * MS, .end = 17 * MS, .slack = 0},
        {.name = "other", .start = 0, .end = 3 * MS, .slack = 14 * MS},
        {.name = "bucket_0", .start = 0, .end = 8 * MS, .slack = 9 * MS},
    };
    ovl_result_collective after[] = {
        {.name = "tail", .start = 10 * MS, .end = 17 * MS, .slack = 0},
        {.name = "other", .start = 0, .end = 3 * MS, .slack = 14 * MS},
        {.name = "bucket_0", .start = 0, .end = 4 * MS, .slack = 13 * MS},
    };
    ovl_result a = whole, b = whole;
    a.collectives = before;
    b.collectives = after;
    a.n_collectives = b.n_collectives = 3;
    ovl_comparison c;
    ovl_compare(&a, &b, &arena, &c);
    CHECK_INT(c.verdict, OVL_NO_GAIN);
    CHECK_TEXT(c.sentence, "no gain: the step is the same; bucket_0 has 9 ms of slack");
    CHECK_TEXT(c.path_change, "the critical path is the same");
    CHECK(c.efficiency == NULL);
    ovl_arena_free(&arena);
}

/* Two runs of the same have no reason but that nothing changed; slack explains nothing there. With
 * more live bytes and the same communication, something did. */
static void nothing_changed_is_said_so(void)
{
    ovl_arena arena = {0};
    ovl_result_collective gather = {.name = "gather", .end = 8 * MS, .slack = 9 * MS};
    ovl_result_rank small = {.live_peak = 1}, large = {.live_peak = 2};
    ovl_result a = whole, b = whole;
    ovl_comparison c;
    a.collectives = b.collectives = &gather;
    a.n_collectives = b.n_collectives = a.n_ranks = b.n_ranks = 1;
    a.ranks = b.ranks = &small;
    ovl_compare(&a, &b, &arena, &c);
    CHECK_HAS(c.sentence, "no gain: nothing changed");
    b.ranks = &large;
    ovl_compare(&a, &b, &arena, &c);
    CHECK_TEXT(c.sentence, "no gain: the step is the same, and so is all communication listed");
    ovl_arena_free(&arena);
}

/* An all-gather with 9 ms of slack that only one of the two has. */
static void slack_of_what_is_gone_or_new(void)
{
    ovl_arena arena = {0};
    ovl_result_collective gather = {.name = "gather", .end = 8 * MS, .slack = 9 * MS};
    ovl_result with = whole;
    ovl_comparison c;
    with.collectives = &gather;
    with.n_collectives = 1;
    ovl_compare(&with, &whole, &arena, &c);
    CHECK_TEXT(c.sentence, "no gain: the step is the same; gather had 9 ms of slack and is gone");
    ovl_compare(&whole, &with, &arena, &c);
    CHECK_TEXT(c.sentence, "no gain: the step is the same; gather has 9 ms of slack and is new");
    ovl_arena_free(&arena);
}

/* 213 ms that do not fit are worse than 217 ms that do; where neither fits, the step decides. */
static void what_does_not_fit_is_worse(void)
{
    ovl_arena arena = {0};
    ovl_result small = whole, large = split;
    ovl_comparison c;
    small.has_memory = large.has_memory = true;
    small.memory_limit = large.memory_limit = 20;
    small.reserved_peak = 20;
    large.reserved_peak = 30;
    ovl_compare(&small, &large, &arena, &c);
    CHECK_INT(c.verdict, OVL_WORSE);
    CHECK_TEXT(c.sentence, "worse: it does not fit the memory of its GPU; the step would be 4 ms "
                           "(1.8 %) shorter");
    ovl_compare(&large, &small, &arena, &c);
    CHECK_INT(c.verdict, OVL_BETTER);
    CHECK_TEXT(c.sentence,
               "better: it fits, as the other does not, the memory of its GPU; the step "
               "would be 4 ms (1.9 %) longer");
    small.reserved_peak = 21;
    ovl_compare(&small, &large, &arena, &c);
    CHECK_INT(c.verdict, OVL_BETTER);
    CHECK_HAS(c.sentence, "; neither fits the memory of its GPU");
    ovl_arena_free(&arena);
}

static void retries_are_not_in_the_step(void)
{
    ovl_arena arena = {0};
    ovl_result b = split;
    ovl_comparison c;
    b.allocation_retries = 2;
    ovl_compare(&whole, &b, &arena, &c);
    CHECK_INT(c.verdict, OVL_BETTER);
    CHECK_HAS(c.sentence, "(retries, whose time is not modelled): 2 instead of 0");
    ovl_arena_free(&arena);
}

static void gradients_that_differ_are_told(void)
{
    ovl_arena arena = {0};
    ovl_result other = split;
    ovl_comparison c;
    other.gradient_digest = 78;
    other.gradient_scale = "1/4";
    ovl_compare(&whole, &other, &arena, &c);
    CHECK_HAS(c.gradients, "does not receive the same gradients");
    CHECK_HAS(c.gradients, "1/8 and 1/4");
    other.gradient_scale = NULL;
    ovl_compare(&whole, &other, &arena, &c);
    CHECK_HAS(c.gradients, "not proved");
    CHECK_HAS(c.gradients, "no proof for b");
    ovl_result none = whole;
    none.gradient_digest = 0;
    none.gradient_scale = NULL;
    ovl_compare(&none, &none, &arena, &c);
    CHECK_HAS(c.gradients, "neither run follows any");
    ovl_arena_free(&arena);
}

/* The largest peak of any rank counts. */
static void peaks_are_compared(void)
{
    ovl_arena arena = {0};
    ovl_result_rank before[] = {
        {.has_memory = true,
         .live_peak = 1 << 20,
         .allocated_peak = 4 << 20,
         .reserved_peak = 6 << 20},
        {.has_memory = true,
         .live_peak = 2 << 20,
         .allocated_peak = 3 << 20,
         .reserved_peak = 6 << 20},
    };
    ovl_result_rank after[] = {
        {.has_memory = true,
         .live_peak = 3 << 20,
         .allocated_peak = 4 << 20,
         .active_peak = 4 << 20,
         .reserved_peak = 4 << 20},
    };
    ovl_result a = whole, b = split;
    ovl_comparison c;
    a.ranks = before;
    a.n_ranks = 2;
    b.ranks = after;
    b.n_ranks = 1;
    ovl_compare(&a, &b, &arena, &c);
    CHECK_TEXT(c.memory, "peaks: live 2 MiB -> 3 MiB (+1 MiB); allocated 4 MiB, unchanged; "
                         "reserved 6 MiB -> 4 MiB (-2 MiB)");
    before[1].active_peak = 5 << 20; /* freed, and still used by the GPU */
    ovl_compare(&a, &b, &arena, &c);
    CHECK_HAS(c.memory, "unchanged; active 5 MiB -> 4 MiB (-1 MiB); reserved");
    ovl_compare(&a, &split, &arena, &c);
    CHECK_HAS(c.memory, "b declares no buffers");
    ovl_arena_free(&arena);
}

/* More than four that left are counted; launches are one thing whatever they launch. */
static void long_changes_are_cut(void)
{
    ovl_arena arena = {0};
    ovl_result_path items[8];
    for (uint32_t i = 0; i < 7; i++) {
        items[i] = (ovl_result_path){ovl_arena_printf(&arena, "k%" PRIu32, i),
                                     "compute",
                                     0,
                                     i * MS,
                                     (i + 1) * MS,
                                     "start",
                                     0,
                                     0};
    }
    items[7] = (ovl_result_path){"issue k0", "host", 0, 7 * MS, 8 * MS, "host", 0, 0};
    ovl_result_path other[] = {{"host issues 3 operations", "host", 0, 0, 8 * MS, "start", 0, 0}};
    ovl_result a = {.path = items, .n_path = 8, .step = 8 * MS};
    ovl_result b = {.path = other, .n_path = 1, .step = 8 * MS};
    ovl_comparison c;
    ovl_compare(&a, &b, &arena, &c);
    CHECK_TEXT(c.path_change, "left the critical path: k0 (1 ms), k1 (1 ms), k2 (1 ms), k3 (1 ms) "
                              "and 3 others");
    ovl_arena_free(&arena);
}

/* "bucket 3" of four buckets is not "bucket 3" of two, nor gone: each run has its own. With the
 * same buckets in both, numbers are names like any other. */
static void numbers_are_names_only_of_the_same_things(void)
{
    ovl_arena arena = {0};
    ovl_result_collective four[4] = {0}, two[2] = {0};
    const ovl_result_path a_items[] = {{"k", "compute", 0, 0, 5 * MS, "start", 0, 0},
                                       {"bucket 2", "comm", 0, 5 * MS, 6 * MS, "after: k", 0, 0},
                                       {"bucket 3", "comm", 0, 6 * MS, 9 * MS, "after: k", 0, 0}};
    const ovl_result_path b_items[] = {{"k", "compute", 0, 0, 5 * MS, "start", 0, 0},
                                       {"bucket 1", "comm", 0, 5 * MS, 7 * MS, "after: k", 0, 0}};
    for (uint32_t i = 0; i < 4; i++) {
        four[i].name = ovl_arena_printf(&arena, "bucket %" PRIu32, i);
        four[i].bytes = 8;
    }
    two[0].name = four[0].name;
    two[1].name = four[1].name;
    two[0].bytes = two[1].bytes = 16;
    ovl_result a = {.path = a_items, .n_path = 3, .step = 9 * MS};
    ovl_result b = {.path = b_items, .n_path = 2, .step = 7 * MS};
    a.collectives = four;
    a.n_collectives = 4;
    b.collectives = two;
    b.n_collectives = 2;
    ovl_comparison c;
    ovl_compare(&a, &b, &arena, &c);
    CHECK_TEXT(c.path_change,
               "numbered by each run for itself: bucket 3 and 1 other (4 ms) on the critical path "
               "of a, bucket 1 (2 ms) on that of b; the rest of the path is the same");
    b.collectives = four;
    b.n_collectives = 4;
    ovl_compare(&a, &b, &arena, &c);
    CHECK_TEXT(c.path_change,
               "left the critical path: bucket 3 (3 ms), bucket 2 (1 ms); took over: "
               "bucket 1 (2 ms)");
    ovl_arena_free(&arena);
}

/* 2 of 4 is half of it; 2 of 5, with 2 and 1 beside, is the largest part. */
static void shares_are_called_what_they_are(void)
{
    ovl_arena arena = {0};
    ovl_result a = {.step = 10 * MS, .term = {10 * MS}};
    ovl_result b = {.step = 14 * MS, .term = {12 * MS, 2 * MS}};
    ovl_comparison c;
    ovl_compare(&a, &b, &arena, &c);
    CHECK_TEXT(c.sentence, "worse: the step is 4 ms (40.0 %) longer; half of it is compute, +2 ms");
    b.step = 15 * MS;
    b.term[OVL_IDLE] = MS;
    ovl_compare(&a, &b, &arena, &c);
    CHECK_HAS(c.sentence, "longer; the largest part is compute, +2 ms");
    ovl_arena_free(&arena);
}

/* 24.62 GiB and 24.6 GiB: both have two decimals. */
static void peaks_have_the_same_decimals(void)
{
    ovl_arena arena = {0};
    ovl_result_rank before = {.has_memory = true, .live_peak = 26435523707};
    ovl_result_rank after = {.has_memory = true, .live_peak = 26414048870};
    ovl_result a = {.ranks = &before, .n_ranks = 1}, b = {.ranks = &after, .n_ranks = 1};
    ovl_comparison c;
    ovl_compare(&a, &b, &arena, &c);
    CHECK_HAS(c.memory, "live 24.62 GiB -> 24.60 GiB (-20.48 MiB)");
    ovl_arena_free(&arena);
}

static void the_same_path_may_take_other_times(void)
{
    ovl_arena arena = {0};
    ovl_result_path a_items[] = {{"k", "compute", 0, 0, 5 * MS, "start", 0, 0}};
    ovl_result_path b_items[] = {{"k", "compute", 0, 0, 7 * MS, "start", 0, 0}};
    ovl_result a = {.path = a_items, .n_path = 1, .step = 5 * MS};
    ovl_result b = {.path = b_items, .n_path = 1, .step = 7 * MS};
    ovl_comparison c;
    ovl_compare(&a, &b, &arena, &c);
    CHECK_TEXT(c.path_change, "the critical path runs through the same operations; k takes 7 ms of "
                              "it instead of 5 ms");
    ovl_arena_free(&arena);
}

/* `a` is exposed for 1 ms in both; `b` on rank 1 for 2 ms instead of 0; `old` and `new` are in one
 * run each, 3 ms and 1 ms. By change: old -3, b +2, new +1. */
static void exposed_time_that_moved_is_listed(void)
{
    const ovl_result_collective before[] = {
        {.name = "a", .rank = 0, .start = 10 * MS, .end = 14 * MS, .exposed = 1 * MS},
        {.name = "old", .rank = 0, .start = 10 * MS, .end = 14 * MS, .exposed = 3 * MS},
        {.name = "b", .rank = 1, .start = 6 * MS, .end = 10 * MS, .exposed = 0},
    };
    const ovl_result_collective after[] = {
        {.name = "a", .rank = 0, .start = 6 * MS, .end = 14 * MS, .exposed = 1 * MS},
        {.name = "b", .rank = 1, .start = 6 * MS, .end = 13 * MS, .exposed = 1 * MS},
        {.name = "b", .rank = 2, .start = 6 * MS, .end = 14 * MS, .exposed = 2 * MS},
        {.name = "b", .rank = 3, .start = 6 * MS, .end = 14 * MS, .exposed = 2 * MS},
        {.name = "new", .rank = 1, .start = 6 * MS, .end = 14 * MS, .exposed = 1 * MS},
    };
    ovl_result x = {.collectives = before, .n_collectives = OVL_COUNT(before)};
    ovl_result y = {.collectives = after, .n_collectives = OVL_COUNT(after)};
    ovl_arena arena = {0};
    uint32_t n;
    const ovl_tail *tails = ovl_tails(&x, &y, &arena, &n);
    CHECK_INT(n, 3);
    CHECK_TEXT(tails[0].name, "old");
    CHECK_INT(tails[0].change, -3 * MS);
    CHECK_INT(tails[0].b.exposed, OVL_NEVER);
    CHECK_TEXT(tails[1].name, "b");
    CHECK_INT(tails[1].change, 2 * MS);
    CHECK_INT(tails[1].b.rank, 2);
    CHECK_INT(tails[1].b.took, 8 * MS);
    CHECK_INT(tails[1].a.rank, 1);
    CHECK_TEXT(tails[2].name, "new");
    ovl_tails(&x, &x, &arena, &n);
    CHECK_INT(n, 0);
    ovl_arena_free(&arena);
}

/* A gradient is the sum of as many microbatches as its scale says; one rank with one microbatch
 * has nothing to divide by. Without gradients those of a pipeline count. */
static void work_is_counted_in_microbatches(void)
{
    const ovl_result two = {.gradient_scale = "1/2", .step = 10}, one = {.gradient_scale = "1"};
    const ovl_result none = {.step = 10}, pipe = {.microbatches = 5, .step = 10};
    CHECK_INT(ovl_result_microbatches(&two), 2);
    CHECK_INT(ovl_result_per_microbatch(&two), 5);
    CHECK_INT(ovl_result_microbatches(&one), 1);
    CHECK_INT(ovl_result_microbatches(&none), 0);
    CHECK(ovl_result_per_microbatch(&none) == OVL_NEVER);
    CHECK_INT(ovl_result_per_microbatch(&pipe), 2);
}

/* 8 ranks, one microbatch each in 217 ms, then two each in 322: 217/8 = 27.125 against 322/16 =
 * 20.125, 7 less (25.8 %). Of 16 ranks with one each nothing is said: other replicas. */
static void more_microbatches_are_not_worse_for_a_longer_step(void)
{
    ovl_arena arena = {0};
    ovl_result one = whole, two = split;
    ovl_comparison c;
    one.rank_microbatches = 1;
    two.rank_microbatches = 2;
    two.gradient_scale = "1/16";
    two.step = 322 * MS;
    CHECK_INT(ovl_unit_of(&one, &two), OVL_UNIT_MICROBATCH);
    ovl_compare(&one, &two, &arena, &c);
    CHECK_INT(c.verdict, OVL_BETTER);
    CHECK_TEXT(
        c.sentence,
        "better: a microbatch takes 20.125 ms instead of 27.125 ms, shorter (25.8 %); b does "
        "other work, 16 microbatches instead of 8, in a step that is 105 ms longer");
    two.rank_microbatches = 1;
    CHECK_INT(ovl_unit_of(&one, &two), OVL_UNIT_STEP);
    ovl_arena_free(&arena);
}

/* Where tokens are known they are the work: 1000 in 217 ms, 2000 in 500 ms are 217 s and 250 s a
 * million. Half as long microbatches, twice as many, are the same work. */
static void tokens_are_the_work_where_they_are_known(void)
{
    ovl_arena arena = {0};
    ovl_result few = whole, many = split;
    ovl_comparison c;
    few.rank_microbatches = many.rank_microbatches = 1;
    few.useful = many.useful = (ovl_useful){.tokens = 1000, .ranks = 8};
    many.useful.tokens = 2000;
    many.step = 500 * MS;
    CHECK_INT(ovl_unit_of(&few, &many), OVL_UNIT_TOKENS);
    ovl_compare(&few, &many, &arena, &c);
    CHECK_INT(c.verdict, OVL_WORSE);
    CHECK_HAS(c.sentence, "worse: a million tokens take 250 s instead of 217 s, longer (15.2 %); b "
                          "does other work, 2000 tokens instead of 1000, in a step that is 283 ms "
                          "longer");
    many.rank_microbatches = 2;
    many.gradient_scale = "1/16"; /* twice the microbatches of as many tokens */
    CHECK_INT(ovl_unit_of(&few, &many), OVL_UNIT_MICROBATCH);
    many.useful.tokens = 1000;
    CHECK_INT(ovl_unit_of(&few, &many), OVL_UNIT_STEP);
    CHECK(!ovl_other_work(&few, &many));
    /* As many tokens of a model that takes twice the FLOPs, 8 x 25 and 8 x 50 TFLOP: 217 ms for 0.2
     * PFLOP are 1.085 s each, 500 ms for 0.4 are 1.25. To 0.1 % they are alike. */
    few.useful.flops = 25e12;
    many.useful.flops = 50e12;
    CHECK_INT(ovl_unit_of(&few, &many), OVL_UNIT_FLOPS);
    ovl_compare(&few, &many, &arena, &c);
    CHECK_INT(c.verdict, OVL_WORSE);
    CHECK_HAS(c.sentence, "worse: a PFLOP takes 1.25 s instead of 1.085 s, longer (15.2 %); b does "
                          "other work, another model, 0.4 PFLOP instead of 0.2, in a step that is "
                          "283 ms longer");
    many.useful.flops = 25.02e12;
    CHECK_INT(ovl_unit_of(&few, &many), OVL_UNIT_STEP);
    few.useful.flops = many.useful.flops = 0;
    many.useful = (ovl_useful){.tokens = 2000, .ranks = 16};
    many.gradient_scale = "1/8";
    many.rank_microbatches = 1;
    CHECK(!ovl_other_work(&few, &many)); /* on twice the ranks */
    ovl_arena_free(&arena);
}

/* As many tokens of one model, 8 x 20 TFLOP besides its attention, which takes 8 x 5 on sequences
 * of 2048 and twice that on those of 4096: the same work, so the step decides, and what differs is
 * said. Where the rest takes more, too, or the attention does not grow with them, the model is
 * another one. */
static void longer_sequences_are_no_other_model(void)
{
    ovl_arena arena = {0};
    ovl_result base = whole, longer = split;
    ovl_comparison c;
    base.useful = (ovl_useful){
        .flops = 25e12, .attention = 5e12, .sequence = 2048, .tokens = 8192, .ranks = 8};
    longer.useful = (ovl_useful){
        .flops = 30e12, .attention = 10e12, .sequence = 4096, .tokens = 8192, .ranks = 8};
    CHECK_INT(ovl_unit_of(&base, &longer), OVL_UNIT_STEP);
    ovl_compare(&base, &longer, &arena, &c);
    CHECK_INT(c.verdict, OVL_BETTER);
    CHECK_HAS(c.sentence, "better: the step is 4 ms (1.8 %) shorter");
    CHECK_HAS(c.sentence, "; b trains on as many tokens in sequences of 4096 instead of 2048, 0.24 "
                          "PFLOP instead of 0.2");
    longer.useful.flops = 31e12;
    CHECK_INT(ovl_unit_of(&base, &longer), OVL_UNIT_FLOPS);
    longer.useful.flops = 40e12;
    longer.useful.attention = 20e12;
    CHECK_INT(ovl_unit_of(&base, &longer), OVL_UNIT_FLOPS);
    ovl_arena_free(&arena);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"longer sequences are no other model", longer_sequences_are_no_other_model},
        {"work is counted in microbatches", work_is_counted_in_microbatches},
        {"a better split: the differences sum to -4 ms", a_better_split},
        {"the other way round is worse", the_other_way_round_is_worse},
        {"no gain is explained by slack", no_gain_is_explained_by_slack},
        {"slack of what is gone, or new", slack_of_what_is_gone_or_new},
        {"nothing changed is said so", nothing_changed_is_said_so},
        {"what does not fit is worse than what does", what_does_not_fit_is_worse},
        {"retries are not in the step", retries_are_not_in_the_step},
        {"gradients that differ are told", gradients_that_differ_are_told},
        {"peaks are compared", peaks_are_compared},
        {"long changes of the path are cut", long_changes_are_cut},
        {"a number is a name only of the same thing", numbers_are_names_only_of_the_same_things},
        {"a half is a half", shares_are_called_what_they_are},
        {"peaks side by side have the same decimals", peaks_have_the_same_decimals},
        {"the same path may take other times", the_same_path_may_take_other_times},
        {"exposed time that moved is listed", exposed_time_that_moved_is_listed},
        {"more microbatches are not worse for a longer step",
         more_microbatches_are_not_worse_for_a_longer_step},
        {"tokens are the work where they are known", tokens_are_the_work_where_they_are_known},
        CU_TEST_INFO_NULL,
    };
    return check_main("compare", tests);
}
