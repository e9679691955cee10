/* Readers of text: logs of nccl-tests, CSV of intervals and of sizes. */
#include "tests/unit/looking.h"

static const char nccl_tests[] =
    "# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor)\n"
    "# Collective test starting: all_reduce_perf\n"
    "#  Rank  0 Group  0 Pid   1 on  host device  0 [0x07] NVIDIA A100\n"
    "#  Rank  7 Group  0 Pid   1 on  host device  7 [0xbd] NVIDIA A100\n"
    "#\n"
    "#                                                     out-of-place              in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us) "
    "(GB/s)  (GB/s)\n"
    "    33554432       8388608     float     sum      -1   1021.3   32.85   57.49      0   1018.5 "
    "  32.94   57.65    N/A\n"
    "    67108864      16777216     float     sum      -1   1000.0   67.11  117.44      0   1000.0 "
    "  67.11  117.44      0\n"
    "# Out of bounds values : 0 OK\n"
    "# Avg bus bandwidth    : 87.4\n";

static void nccl_tests_tables_are_read(void)
{
    look l;
    look_text(&l, nccl_tests);
    CHECK(l.good);
    CHECK_TEXT(said(&l), "");
    CHECK_TEXT(l.in.files.data[0].operation, "all_reduce");
    CHECK_INT(l.in.files.data[0].n_ranks, 8);
    if (CHECK_INT(l.in.rows.len, 2)) {
        const ovl_inspect_row *r = l.in.rows.data;
        CHECK_INT(r[0].bytes, 33554432);
        CHECK_INT(r[0].time[0], 1021300);
        CHECK_INT(r[0].time[1], 1018500);
        CHECK_INT(r[0].wrong[1], -1);
        CHECK_TEXT(r[0].type, "float");
        CHECK_NEAR(r[1].busbw[1] * 1e-9, 117.44, 0.01);
    }
    done(&l);
}

static void rows_that_moved_wrong_data_are_said(void)
{
    look l;
    look_text(&l, "# size count type redop root time algbw busbw #wrong\n"
                  "  1024 256 float sum -1 10 1.0 1.0 0\n"
                  "  2048 512 float sum -1 11 1.0 1.0 3\n");
    CHECK(l.good);
    CHECK_HAS(said(&l),
              "1 of 2 rows moved wrong data (#wrong is above 0), the first of 2048 bytes");
    done(&l);
}

#define RUN(test, last, time)                                                                      \
    "# nThread 1 nGpus 8\n# Collective test starting: " test "_perf\n"                             \
    "#  Rank  0 Group  0 Pid   1 on  host device  0\n#  Rank  " last                               \
    " Group  0 Pid   1 on  host device  7\n"                                                       \
    "#   size   count   type   redop   root   time   algbw   busbw #wrong\n"                       \
    "#    (B) (elements)                      (us)  (GB/s)  (GB/s)\n"                              \
    "   1024  256  float  sum  -1  " time "  1.0  1.0  0\n"                                        \
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 87.4\n"

/* Three runs in one log: another operation, then another number of ranks. */
static void runs_of_one_log_stay_apart(void)
{
    look l;
    look_text(&l,
              RUN("all_reduce", "7", "10") RUN("alltoall", "7", "20") RUN("alltoall", "3", "30"));
    CHECK_TEXT(said(&l), "");
    CHECK(!l.in.files.data[0].operation);
    CHECK_INT(l.in.files.data[0].n_ranks, -1);
    if (CHECK_INT(l.in.rows.len, 3)) {
        static const char *const operation[] = {"all_reduce", "alltoall", "alltoall"};
        static const int64_t ranks[] = {8, 8, 4};
        for (uint32_t i = 0; i < 3; i++) {
            CHECK_INT(l.in.rows.data[i].run, i);
            CHECK_TEXT(l.in.rows.data[i].operation, operation[i]);
            CHECK_INT(l.in.rows.data[i].n_ranks, ranks[i]);
            CHECK_INT(l.in.rows.data[i].time[0], 10000 * (i + 1));
        }
        /* busbw = algbw x 2 x 7/8 of the all-reduce, x 7/8 and x 3/4 of the others. */
        CHECK_NEAR(l.in.rows.data[0].busbw[0] / l.in.rows.data[0].algbw[0], 1.75, 1e-9);
        CHECK_NEAR(l.in.rows.data[1].busbw[0] / l.in.rows.data[1].algbw[0], 0.875, 1e-9);
        CHECK_NEAR(l.in.rows.data[2].busbw[0] / l.in.rows.data[2].algbw[0], 0.75, 1e-9);
    }
    done(&l);
}

/* The log, each line behind `before`, without its `#` if `bare`. */
static const char *as_launched(ovl_arena *arena, const char *text, const char *before, bool bare)
{
    const char *all = "";
    while (*text) {
        size_t n = strcspn(text, "\n");
        bool mark = bare && *text == '#';
        all = ovl_arena_printf(arena, "%s%s%.*s\n", all, before, (int)(n - mark), text + mark);
        text += n + 1;
    }
    return all;
}

static void logs_are_read_as_launchers_and_editors_leave_them(void)
{
    static const char *const before[] = {"", "[node1] ", "[1,0]<stdout>:", "0: ", "node1: "};
    ovl_arena arena = {0};
    look l;
    for (size_t i = 0; i < OVL_COUNT(before) + 1; i++) {
        bool mark = i == OVL_COUNT(before);
        look_text(&l, mark ? ovl_arena_printf(&arena, "\xEF\xBB\xBF%s", nccl_tests)
                           : as_launched(&arena, nccl_tests, before[i], i == 0));
        CHECK_TEXT(said(&l), "");
        CHECK_INT(l.in.rows.len, 2);
        CHECK_INT(l.in.files.len ? l.in.files.data[0].n_ranks : 0, 8);
        CHECK_TEXT(l.in.files.len ? l.in.files.data[0].operation : "", "all_reduce");
        done(&l);
    }
    look_text(&l, "  1024  256  float  sum  -1  9.5  1.0  1.0  0  9.0  1.0  1.0  0\n");
    CHECK_HAS(said(&l), "no heading names the columns");
    CHECK_INT(l.in.rows.len ? l.in.rows.data[0].time[1] : 0, 9000);
    done(&l);
    look_text(&l, "  1024  256  float  sum  -1  9.5  1.0  1.0  0\n");
    CHECK_INT(l.in.rows.len ? l.in.rows.data[0].time[0] : 0, 9500);
    CHECK_INT(l.in.rows.len ? l.in.rows.data[0].time[1] : 0, -1);
    done(&l);
    look_at(&l, "\xFF\xFE#\0 \0", 6);
    CHECK_HAS(said(&l), "text in UTF-16");
    done(&l);
    look_text(&l, "\xEF\xBB\xBFstart_us,dur_us,name\n10,10,gemm\n15,10,nccl\n");
    check_usual(&l);
    done(&l);
    ovl_arena_free(&arena);
}

/* Tables of years ago have no "redop" and call wrong results "error". */
static void older_tables_are_read(void)
{
    look l;
    look_text(&l,
              "#       size    count    type    time   algbw   busbw   error    time   algbw  busbw"
              "   error\n"
              "#        (B)                     (us)\n"
              "   1048576   262144   float   45.12   23.24   40.67   1e-07   44.9  23.35  40.87 "
              "1e-07\n"
              "   broken\n");
    if (CHECK_INT(l.in.rows.len, 1)) {
        CHECK_INT(l.in.rows.data[0].time[0], 45120);
        CHECK_INT(l.in.rows.data[0].time[1], 44900);
    }
    CHECK_HAS(said(&l), "1 event is broken");
    done(&l);
}

static void intervals_are_read(void)
{
    look l;
    look_text(&l, "kind,name,start_us,dur_us,device,stream,correlation\n"
                  "launch,cudaLaunchKernel,0.5,3,,,7\n"
                  "kernel,\"gemm, large\",10,10,0,7,7\r\n"
                  "kernel,ncclAllReduce,15,10,0,9,\n");
    check_usual(&l);
    CHECK_INT(l.in.devices.data[0].n_unlinked, 1);
    done(&l);
    look_text(&l, "end_ns,start_ns\n20,10\n5,9\nx,1\n");
    CHECK(l.good);
    CHECK_INT(l.in.devices.data[0].all.compute, 10);
    CHECK_HAS(said(&l), "1 duration is negative");
    CHECK_HAS(said(&l), "1 event has no time");
    done(&l);
}

/* Rank 0 waits [0, 5), rank 1 comes last, [1, 5): two devices, one collective that took 4. */
static void rows_of_several_ranks_are_devices_of_their_own(void)
{
    look l;
    look_text(&l, "start_ns,dur_ns,name,rank,bytes\n0,5,ncclAllReduce,0,4096\n"
                  "1,4,ncclAllReduce,1,4096\n");
    ovl_inspect_ranks(&l.in, &l.errs);
    CHECK_TEXT(said(&l), "");
    CHECK_INT(l.in.files.data[0].rank, -1);
    if (CHECK_INT(l.in.devices.len, 2) && CHECK_INT(l.in.matches.len, 1)) {
        CHECK_INT(l.in.devices.data[0].rank, 0);
        CHECK_INT(l.in.devices.data[1].rank, 1);
        CHECK_INT(l.in.parties.data[1].rank, 1);
        CHECK_INT(l.in.matches.data[0].bytes, 4096);
        CHECK_INT(l.in.matches.data[0].transfer, 4);
        CHECK_INT(l.in.parties.data[0].wait, 1);
    }
    done(&l);
    /* Device 0 of rank 3 is device 0; that of rank 4, taken, is the next: 1. */
    look_text(&l, "start_ns,dur_ns,name,rank,device\n0,5,a,3,0\n1,4,b,4,0\n7,1,b,4,0\n");
    if (CHECK_INT(l.in.devices.len, 2)) {
        CHECK_INT(l.in.devices.data[0].device, 0);
        CHECK_INT(l.in.devices.data[0].rank, 3);
        CHECK_INT(l.in.devices.data[1].device, 1);
        CHECK_INT(l.in.devices.data[1].rank, 4);
        CHECK_INT(l.in.devices.data[1].all.compute, 5);
    }
    done(&l);
    look_text(&l, "start_ns,dur_ns,name,rank\n0,5,a,3\n");
    CHECK_INT(l.in.files.data[0].rank, 3);
    done(&l);
}

static void columns_that_contradict_are_refused(void)
{
    look l;
    look_text(&l, "start_us,start_ms,dur_us\n1,2,5\n");
    CHECK(!l.good);
    CHECK_HAS(said(&l), "two columns say the same: start_us and start_ms");
    done(&l);
    look_text(&l, "start_us,end_us,dur_us,name\n0,10,10.001,a\n0,10,20,gemm\n");
    CHECK(!l.good);
    CHECK_HAS(said(&l),
              "line 3: end and duration disagree: from 0 ns to 10000 ns are 10000 ns, and "
              "the duration says 20000 ns");
    done(&l);
}

/* Both columns of nccl-tests are one row; each other column of times is a series of its own. */
static void sizes_are_read(void)
{
    look l;
    look_text(&l, "algbw_GBps,size_bytes,time_us,time_inplace_us,time_torch_ms_derived\n"
                  "1,1024,9.25,9,0.5\n"
                  "# a remark\n"
                  "1,2 KiB,10,,\n"
                  "1,0,10,,\n"
                  "1,4096,NaN,,\n"
                  "1,4096,-3,,\n"
                  "1,4096\n");
    CHECK(l.good);
    CHECK_INT(l.in.files.data[0].format, OVL_READ_SIZES);
    CHECK_INT(l.in.rows.len, 3);
    CHECK_INT(l.in.rows.data[0].time[0], 500000);
    CHECK_TEXT(l.in.rows.data[0].series, "torch");
    CHECK_INT(l.in.rows.data[1].time[0], 9250);
    CHECK_INT(l.in.rows.data[1].time[1], 9000);
    CHECK(!l.in.rows.data[1].series);
    CHECK_INT(l.in.rows.data[2].bytes, 2048);
    CHECK_INT(l.in.rows.data[2].time[1], -1);
    CHECK_HAS(said(&l), "4 events are broken and were skipped");
    done(&l);
    look_text(&l, "collective,gpus,algbw_GBps,latency_us\nAllReduce,8,267,31\n");
    CHECK(!l.good);
    CHECK_HAS(said(&l), "bandwidths without sizes and times");
    done(&l);
    look_text(&l, "a,b\n1,2\n");
    CHECK(!l.good);
    CHECK_HAS(said(&l), "may be a CSV; it needs columns such as");
    done(&l);
}

static CU_TestInfo tests[] = {
    {"nccl-tests tables are read", nccl_tests_tables_are_read},
    {"rows that moved wrong data are said", rows_that_moved_wrong_data_are_said},
    {"runs of one log stay apart", runs_of_one_log_stay_apart},
    {"logs are read as launchers and editors leave them",
     logs_are_read_as_launchers_and_editors_leave_them},
    {"older tables are read", older_tables_are_read},
    {"intervals are read", intervals_are_read},
    {"rows of several ranks are devices of their own",
     rows_of_several_ranks_are_devices_of_their_own},
    {"columns that contradict are refused", columns_that_contradict_are_refused},
    {"sizes are read", sizes_are_read},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("read_text", tests);
}
