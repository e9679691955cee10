/* What traces say, by hand: idle causes, steps, two views, ranks beside each other. */
#include "tests/unit/looking.h"

static void add(look *l, const char *path, const char *csv)
{
    CHECK(ovl_inspect_bytes(&l->in, path, csv, strlen(csv), &l->errs));
}

/* The example of tools/busy.h, plus a copy under the all-reduce. */
static void the_parts_sum_to_the_span(void)
{
    look l;
    begin(&l, OVL_COMM_PATTERN);
    add(&l, "t",
        "kind,name,start_ns,end_ns,stream\n"
        "kernel,gemm,0,10,7\n"
        "kernel,RCCL_AllReduce,6,14,9\n"
        "copy,h2d,12,13,7\n"
        "copy,h2d,18,20,7\n"
        "set,zero,19,20,8\n");
    const ovl_measures *m = &l.in.devices.data[0].all;
    CHECK_INT(m->kernels, 2);
    CHECK_INT(m->comm_kernels, 1);
    CHECK_INT(m->copies, 2);
    CHECK_INT(m->sets, 1);
    CHECK_INT(m->span, 20);
    CHECK_INT(m->compute, 10);
    CHECK_INT(m->comm, 8);
    CHECK_INT(m->overlap, 4);
    CHECK_INT(m->exposed, 4);
    CHECK_INT(m->mem, 3);
    CHECK_INT(m->mem_alone, 2);
    CHECK_INT(m->gpu, 16);
    CHECK_INT(m->idle, 4);
    CHECK_INT(m->compute + m->exposed + m->mem_alone + m->idle, m->span);
    CHECK(!l.in.devices.data[0].causes);
    done(&l);
}

/* Gaps: [10, 30) ends with a kernel launched at 25, the host in a synchronise until 18: sync 8,
 * host 7, queued 5; [40, 50) ends with one launched at 5: queued 10; [60, 61) with one without a
 * launch: unknown 1. */
static void idle_time_has_causes(void)
{
    look l;
    begin(&l, OVL_COMM_PATTERN);
    add(&l, "t",
        "kind,name,start_ns,end_ns,correlation\n"
        "launch,cudaLaunchKernel,0,1,1\n"
        "launch,cudaLaunchKernel,5,6,3\n"
        "launch,cudaDeviceSynchronize,7,18,\n"
        "launch,cudaLaunchKernel,25,26,2\n"
        "kernel,a,5,10,1\n"
        "kernel,b,30,40,2\n"
        "kernel,c,50,60,3\n"
        "kernel,d,61,62,4\n");
    const ovl_inspect_device *d = l.in.devices.data;
    CHECK(d->causes);
    CHECK_INT(d->idle.sync, 8);
    CHECK_INT(d->idle.host, 7);
    CHECK_INT(d->idle.queued, 15);
    CHECK_INT(d->idle.unknown, 1);
    CHECK_INT(d->idle.sync + d->idle.host + d->idle.queued + d->idle.unknown, d->all.idle);
    done(&l);
}

/* Kernel d was launched before the file: without it the span ends at 60. */
/* A kernel [20, 220), and one of no length at 300, launched at 290: the span is 280, and idle for
 * 70 before that launch and 10 after it. */
static void an_operation_without_length_ends_the_span(void)
{
    look l;
    begin(&l, OVL_COMM_PATTERN);
    add(&l, "t",
        "kind,name,start_ns,end_ns,correlation\nlaunch,cudaLaunchKernel,10,15,1\n"
        "kernel,a,20,220,1\nlaunch,cudaLaunchKernel,290,295,2\nkernel,z,300,300,2\n");
    const ovl_inspect_device *d = &l.in.devices.data[0];
    CHECK_INT(d->all.span, 280);
    CHECK_INT(d->all.gpu, 200);
    CHECK_INT(d->all.idle, 80);
    CHECK_INT(d->idle.host, 70);
    CHECK_INT(d->idle.queued, 10);
    CHECK_INT(d->idle.host + d->idle.sync + d->idle.queued + d->idle.unknown, d->all.idle);
    done(&l);
}

static void kernels_without_a_launch_give_a_second_view(void)
{
    look l;
    begin(&l, OVL_COMM_PATTERN);
    add(&l, "t",
        "kind,name,start_ns,end_ns,correlation\n"
        "launch,cudaLaunchKernel,5,6,3\n"
        "kernel,c,50,60,3\n"
        "kernel,d,61,70,4\n");
    const ovl_inspect_device *d = l.in.devices.data;
    CHECK(d->two_views);
    CHECK_INT(d->n_unlinked, 1);
    CHECK_INT(d->all.span, 20);
    CHECK_INT(d->launched.span, 10);
    CHECK_INT(d->launched.kernels, 1);
    done(&l);
}

/* Kernel b runs after step 1 ended but was launched in it. The second writing of step 1, of another
 * process, is no second step. */
static void work_belongs_to_the_step_that_launched_it(void)
{
    look l;
    begin(&l, OVL_COMM_PATTERN);
    add(&l, "t",
        "kind,name,start_ns,end_ns,correlation\n"
        "step,ProfilerStep#2,100,200,\n"
        "step,ProfilerStep#1,0,100,\n"
        "step,ProfilerStep#1,0,100,\n"
        "launch,cudaLaunchKernel,10,11,1\n"
        "launch,cudaLaunchKernel,90,91,2\n"
        "launch,cudaLaunchKernel,150,151,3\n"
        "kernel,a,20,30,1\n"
        "kernel,b,110,130,2\n"
        "kernel,nccl,160,165,3\n"
        "kernel,outside,300,310,9\n");
    if (CHECK_INT(l.in.steps.len, 2)) {
        const ovl_inspect_step *s = l.in.steps.data;
        CHECK_INT(s[0].number, 1);
        CHECK_INT(s[0].wall, 100);
        CHECK_INT(s[0].m.compute, 30);
        CHECK_INT(s[0].m.span, 110);
        CHECK_INT(s[1].number, 2);
        CHECK_INT(s[1].m.comm, 5);
        CHECK_INT(s[1].m.kernels, 1);
    }
    done(&l);
}

static void the_pattern_decides_what_is_communication(void)
{
    look l;
    begin(&l, "deep_?ep|dpsk::ep");
    add(&l, "t",
        "name,start_ns,end_ns\n"
        "void DPSK::EP::dispatch,0,4\n"
        "void dpsk::ep::combine,4,6\n"
        "ncclDevKernel,6,7\n");
    CHECK_INT(l.in.devices.data[0].all.comm_kernels, 2);
    CHECK_INT(l.in.devices.data[0].all.comm, 6);
    CHECK(!was_said(&l, "NO COMMUNICATION"));
    done(&l);
    begin(&l, "(");
    CHECK_INT(ovl_errs_status(&l.errs), OVL_E_USAGE);
    done(&l);
}

/*
 * Rank 1's clock is 1000 ahead. On one clock:
 *     all-reduce 0   rank 0 [10, 50)   rank 1 [30, 50)     transfer 20: rank 1 last, rank 0 waits
 * 20 all-reduce 1   rank 0 [90, 100)  rank 1 [60, 100)    transfer 10: rank 0 last, rank 1 waits 30
 *     all-reduce 2   rank 0 [110, 130) rank 1 [120, 131)   transfer 11: rank 1 last, rank 0 waits 9
 * The middle of two ends is their mean, rounded down: 550, 600, 630 (of 630.5). Rank 0 ends 500
 * before it each time, rank 1 500, 500 and 501 behind.
 */
static void ranks_are_set_beside_each_other(void)
{
    look l;
    begin(&l, OVL_COMM_PATTERN);
    add(&l, "b_rank1.csv",
        "name,start_ns,end_ns,stream\nncclAllReduce,1030,1050,20\nncclAllReduce,1060,1100,20\n"
        "ncclAllReduce,1120,1131,20\n");
    add(&l, "a_rank0.csv",
        "name,start_ns,end_ns,stream\nncclAllReduce,10,50,9\nncclAllReduce,90,100,9\n"
        "ncclAllReduce,110,130,9\n");
    ovl_inspect_ranks(&l.in, &l.errs);
    CHECK_INT(l.errs.count, 0);
    if (CHECK_INT(l.in.matches.len, 3) && CHECK_INT(l.in.parties.len, 2)) {
        const ovl_inspect_party *p = l.in.parties.data;
        const ovl_inspect_match *m = l.in.matches.data;
        CHECK_INT(p[0].rank, 0);
        CHECK_INT(p[1].rank, 1);
        CHECK_INT(p[0].clock, -500);
        CHECK_INT(p[1].clock, 500);
        CHECK_INT(m[0].transfer, 20);
        CHECK_INT(m[0].last, 1);
        CHECK_INT(m[1].transfer, 10);
        CHECK_INT(m[1].last, 0);
        CHECK_INT(m[2].end_skew, 1);
        CHECK_INT(p[0].wait, 29);
        CHECK_INT(p[1].wait, 30);
        CHECK_INT(p[0].last, 1);
        CHECK_INT(p[1].last, 2);
        CHECK_INT(p[0].duration - p[0].wait, p[1].duration - p[1].wait);
    }
    done(&l);
}

#define CALL(group, ts, dur)                                                                       \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel\",\"pid\":0,\"tid\":1,\"ts\":" ts      \
    ",\"dur\":" dur ",\"args\":{\"Collective name\":\"allreduce\",\"Process Group Name\":\"" group \
    "\"}}"

/* Group "a" is of ranks 0 and 1, "b" of 1 and 2, "c" of rank 2 alone: a and b are matched. */
static void each_group_is_matched_over_its_own_ranks(void)
{
    look l;
    begin(&l, OVL_COMM_PATTERN);
    add(&l, "rank0", "[" CALL("a", "0", "9") "]");
    add(&l, "rank1", "[" CALL("a", "4", "5") "," CALL("b", "20", "9") "]");
    add(&l, "rank2", "[" CALL("b", "22", "7") "," CALL("c", "30", "1") "]");
    ovl_inspect_ranks(&l.in, &l.errs);
    CHECK_INT(l.errs.count, 0);
    if (CHECK_INT(l.in.matches.len, 2)) {
        const ovl_inspect_party *p = l.in.parties.data;
        const ovl_inspect_match *m = l.in.matches.data;
        CHECK_TEXT(m[0].group, "a");
        CHECK_INT(m[0].last, 1);
        CHECK_INT(m[0].duration[2], -1);
        CHECK_TEXT(m[1].group, "b");
        CHECK_INT(m[1].last, 2);
        CHECK_INT(p[0].wait, 4000);
        CHECK_INT(p[1].wait, 2000);
        CHECK_INT(p[1].matched, 2);
        CHECK_INT(p[2].duration, 7000);
    }
    done(&l);
}

#define OF_THREE(ts, dur)                                                                          \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel\",\"pid\":0,\"tid\":1,\"ts\":" ts      \
    ",\"dur\":" dur ",\"args\":{\"Collective name\":\"allreduce\",\"Process Group Name\":\"a\","   \
    "\"Group size\":3}}"

/* A group of three, of which 0 and 1 have a file: both may have waited for 2, which has none, so
 * the 5 us of rank 1 are an upper bound. With the file of rank 2, which takes 1 us, nothing is. */
static void transfers_of_a_group_that_lacks_ranks_are_an_upper_bound(void)
{
    look l;
    for (int all = 0; all < 2; all++) {
        begin(&l, OVL_COMM_PATTERN);
        add(&l, "rank0", "[" OF_THREE("0", "9") "]");
        add(&l, "rank1", "[" OF_THREE("4", "5") "]");
        if (all) {
            add(&l, "rank2", "[" OF_THREE("8", "1") "]");
        }
        ovl_inspect_ranks(&l.in, &l.errs);
        if (CHECK_INT(l.in.matches.len, 1)) {
            CHECK_INT(l.in.matches.data[0].ranks, 3);
            CHECK_INT(l.in.matches.data[0].partial, !all);
            CHECK_INT(l.in.matches.data[0].transfer, all ? 1000 : 5000);
        }
        CHECK_INT(ovl_inspect_partial(&l.in), !all);
        CHECK_INT(was_said(&l, "of \"a\" 2 of 3 are here"), !all);
        done(&l);
    }
}

/* Without sizes of groups the job tells: 2 of its 4 ranks are here. */
static void the_size_of_the_job_tells_missing_ranks_too(void)
{
    look l;
    begin(&l, OVL_COMM_PATTERN);
    add(&l, "rank0",
        "{\"traceEvents\":[" CALL("a", "0", "9") "],\"distributedInfo\":{\"rank\":0,"
                                                 "\"world_size\":4}}");
    add(&l, "rank1",
        "{\"traceEvents\":[" CALL("a", "4", "5") "],\"distributedInfo\":{\"rank\":1,"
                                                 "\"world_size\":4}}");
    ovl_inspect_ranks(&l.in, &l.errs);
    CHECK_INT(ovl_inspect_partial(&l.in), 1);
    CHECK(was_said(&l, "of \"a\" 2 of 4 are here"));
    done(&l);
}

/* 10, 20, 30 and 45: between 20 and 30. 10 and 15 of the other operation: 12.5, so 12. */
static void the_median_of_an_even_count_is_the_mean_of_the_middle_two(void)
{
    look l;
    begin(&l, OVL_COMM_PATTERN);
    add(&l, "t",
        "name,start_ns,end_ns\nncclAllReduce,0,30\nncclAllReduce,50,60\nncclAllReduce,70,115\n"
        "ncclAllReduce,120,140\nncclAllGather,150,160\nncclAllGather,170,185\n");
    if (CHECK_INT(l.in.collectives.len, 2)) {
        const ovl_inspect_collective *c = l.in.collectives.data;
        bool reduce = c[0].count == 4;
        CHECK_INT(c[!reduce].median, 25);
        CHECK_INT(c[reduce].median, 12);
    }
    done(&l);
}

static void what_does_not_match_is_said(void)
{
    look l;
    begin(&l, OVL_COMM_PATTERN);
    add(&l, "rank0",
        "name,start_ns,end_ns\nncclAllReduce,0,9\nncclAllGather,10,20\nncclAllReduce,30,40\n");
    add(&l, "rank1", "name,start_ns,end_ns\nncclAllReduce,0,9\nncclBroadcast,10,20\n");
    ovl_inspect_ranks(&l.in, &l.errs);
    CHECK_INT(l.in.matches.len, 1);
    CHECK(was_said(&l, "1 collectives are not on all ranks of their group and 1 are another"));
    done(&l);
}

/* Rank 1's recording begins a step later: its first all-reduce is the second of rank 0. */
static void files_that_begin_with_other_steps_are_not_matched(void)
{
    static const char *const first[] = {"1", "2"};
    for (uint32_t i = 0; i < 2; i++) {
        look l;
        begin(&l, OVL_COMM_PATTERN);
        for (uint32_t rank = 0; rank < 2; rank++) {
            add(&l, rank ? "rank1" : "rank0",
                ovl_arena_printf(&l.in.arena,
                                 "kind,name,start_ns,end_ns\nstep,ProfilerStep#%s,0,10\n"
                                 "kernel,ncclAllReduce,2,9\n",
                                 first[rank * i]));
        }
        ovl_inspect_ranks(&l.in, &l.errs);
        CHECK_INT(l.in.matches.len, i == 0);
        CHECK_INT(was_said(&l, "\"rank0\" begins with step 1 and \"rank1\" with step 2"), i == 1);
        done(&l);
    }
}

static void files_of_one_rank_are_not_matched(void)
{
    look l;
    begin(&l, OVL_COMM_PATTERN);
    add(&l, "x_rank0", "name,start_ns,end_ns\nnccl,0,9\n");
    add(&l, "y_rank0", "name,start_ns,end_ns\nnccl,0,9\n");
    ovl_inspect_ranks(&l.in, &l.errs);
    CHECK_INT(l.in.matches.len, 0);
    CHECK(was_said(&l, "several files say the same rank"));
    done(&l);
}

static void file_names_tell_ranks(void)
{
    CHECK_INT(ovl_rank_of_path("d/trace_rank-3.json"), 3);
    CHECK_INT(ovl_rank_of_path("rank12.pt.trace.json"), 12);
    CHECK_INT(ovl_rank_of_path("worker7_step_12.json"), 7);
    CHECK_INT(ovl_rank_of_path("dlrm_r5of8.json.gz"), 5);
    CHECK_INT(ovl_rank_of_path("rank9/trace.json"), -1);
    CHECK_INT(ovl_rank_of_path("mi250_r62.json"), -1);
}

/* Times at both ends of the range, on two ranks: sums stay within 64 bits. */
static void absurd_times_do_not_overflow(void)
{
    static const char csv[] =
        "kind,name,start_ns,end_ns\nkernel,nccl,-4611686018427387903,4611686018427387903\n"
        "kernel,nccl,4611686018427387902,4611686018427387903\nstep,ProfilerStep#1,"
        "-4611686018427387903,4611686018427387903\n";
    look l;
    ovl_out out;
    FILE *file = tmpfile();
    begin(&l, OVL_COMM_PATTERN);
    add(&l, "rank0", csv);
    add(&l, "rank1", csv);
    ovl_inspect_ranks(&l.in, &l.errs);
    CHECK_INT(l.in.devices.data[0].all.span, INT64_MAX - 1);
    if (file) {
        ovl_out_stream(&out, file);
        ovl_inspect_text(&out, &l.in);
        ovl_inspect_json(&out, &l.in, &l.errs);
        CHECK(ovl_out_close(&out) == NULL);
        fclose(file);
    }
    done(&l);
}

static CU_TestInfo tests[] = {
    {"the parts sum to the span", the_parts_sum_to_the_span},
    {"idle time has causes", idle_time_has_causes},
    {"an operation without length ends the span", an_operation_without_length_ends_the_span},
    {"kernels without a launch give a second view", kernels_without_a_launch_give_a_second_view},
    {"work belongs to the step that launched it", work_belongs_to_the_step_that_launched_it},
    {"the pattern decides what is communication", the_pattern_decides_what_is_communication},
    {"ranks are set beside each other", ranks_are_set_beside_each_other},
    {"each group is matched over its own ranks", each_group_is_matched_over_its_own_ranks},
    {"transfers of a group that lacks ranks are an upper bound",
     transfers_of_a_group_that_lacks_ranks_are_an_upper_bound},
    {"the size of the job tells missing ranks too", the_size_of_the_job_tells_missing_ranks_too},
    {"the median of an even count is the mean of the middle two",
     the_median_of_an_even_count_is_the_mean_of_the_middle_two},
    {"what does not match is said", what_does_not_match_is_said},
    {"files that begin with other steps are not matched",
     files_that_begin_with_other_steps_are_not_matched},
    {"files of one rank are not matched", files_of_one_rank_are_not_matched},
    {"file names tell ranks", file_names_tell_ranks},
    {"absurd times do not overflow", absurd_times_do_not_overflow},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("inspect", tests);
}
