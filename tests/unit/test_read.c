/* Readers: dialects and faults. Each trace is written here. */
#include "tests/support/check.h"
#include "tools/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* One look at bytes in memory. */
typedef struct look {
    ovl_inspection in;
    ovl_comm_pattern pattern;
    ovl_arena arena;
    ovl_errs errs;
    bool good;
} look;

static void look_at(look *l, const void *bytes, size_t count)
{
    memset(l, 0, sizeof *l);
    l->errs.arena = &l->arena;
    ovl_comm_pattern_begin(&l->pattern, OVL_COMM_PATTERN, &l->errs);
    ovl_inspect_begin(&l->in, &l->pattern);
    l->good = ovl_inspect_bytes(&l->in, "t", bytes, count, &l->errs);
}

static void look_text(look *l, const char *text)
{
    look_at(l, text, strlen(text));
}

static void done(look *l)
{
    ovl_inspect_free(&l->in);
    ovl_comm_pattern_free(&l->pattern);
    ovl_arena_free(&l->arena);
}

/* Everything that was said, a line each. */
static const char *said(look *l)
{
    const char *all = "";
    for (uint32_t i = 0; i < l->errs.count; i++) {
        all =
            ovl_arena_printf(&l->arena, "%s%s\n", all, ovl_err_text(&l->arena, &l->errs.items[i]));
    }
    return all;
}

#define KERNEL(ts, dur)                                                                            \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": " ts \
    ", \"dur\": " dur ", \"args\": {\"device\": 0, \"stream\": 7}}"
#define NCCL(ts, dur)                                                                              \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce_Sum_f32_RING_LL\", " \
    "\"pid\": 0, \"tid\": 9, \"ts\": " ts ", \"dur\": " dur ", \"args\": {\"device\": 0, "         \
    "\"stream\": 9}}"
#define TRACE(events) "{\"schemaVersion\": 1, \"traceEvents\": [" events "], \"traceName\": \"x\"}"

/* Compute [10, 20), all-reduce [15, 25) us: overlap 5, exposed 5, span 15. */
static void check_usual(look *l)
{
    CHECK(l->good);
    if (CHECK_INT(l->in.devices.len, 1)) {
        const ovl_measures *m = &l->in.devices.data[0].all;
        CHECK_INT(m->kernels, 2);
        CHECK_INT(m->comm_kernels, 1);
        CHECK_INT(m->span, 15000);
        CHECK_INT(m->compute, 10000);
        CHECK_INT(m->overlap, 5000);
        CHECK_INT(m->exposed, 5000);
        CHECK_INT(m->idle, 0);
    }
}

static void usual(const char *text)
{
    look l;
    look_text(&l, text);
    check_usual(&l);
    CHECK_TEXT(said(&l), "");
    done(&l);
}

static void every_envelope_is_read(void)
{
    usual(TRACE(KERNEL("10", "10") "," NCCL("15", "10")));
    usual("[" KERNEL("10", "10") ",\n" NCCL("15", "10") "]");
    usual("\xEF\xBB\xBF" TRACE(KERNEL("10", "10") "," NCCL("15", "10")));
    usual(
        "{\"traceEvents\":[" KERNEL("10", "10") "," NCCL("15", "10") ",],\"x\":[{\"y\":\"}]\"}]}");
    usual("{\"a\":{\"b\":[1,{\"c\":null}]},\"traceEvents\": [" KERNEL("10.000", "10") "," NCCL(
        "\"15\"", "1.0e1") "]}");
}

static void the_dialect_of_2021_is_read(void)
{
    usual("{\"schemaVersion\": 1, \"computeProperties\": [{\"id\": 0}], \"traceEvents\": ["
          "{\"ph\": \"X\", \"cat\": \"Kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": \"stream "
          "7\","
          "\"ts\": 10, \"dur\": 10, \"args\": {\"external id\": 3}},"
          "{\"ph\": \"X\", \"cat\": \"Operator\", \"name\": \"aten::add\", \"pid\": 5, \"tid\": "
          "\"5\", \"ts\": 1, \"dur\": 100},"
          "{\"ph\": \"X\", \"cat\": \"Kernel\", \"name\": \"ncclKernel\", \"pid\": \"0\", \"tid\": "
          "\"stream 9\", \"ts\": 15, \"dur\": 10}]}");
}

static void annotations_and_synchronisation_are_no_work(void)
{
    usual(TRACE(KERNEL(
        "10",
        "10") ","
              "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"s\",\"pid\":0,\"tid\":7,"
              "\"ts\":1,\"dur\":90},"
              "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream Sync\",\"pid\":0,\"tid\":7,"
              "\"ts\":1,\"dur\":90},"
              "{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"o\",\"pid\":-1,\"tid\":0,\"ts\":1,"
              "\"dur\":90},"
              "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"python\"}}"
              "," NCCL("15", "10")));
}

static void base_and_rank_may_stand_behind_the_events(void)
{
    look l;
    look_text(
        &l,
        "{\"traceEvents\": [" NCCL(
            "1",
            "2") "], \"baseTimeNanoseconds\": "
                 "1711964646000000000, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, "
                 "\"world_size\": 8, \"pg_config\": [{\"ranks\": [0, 1]}]}}");
    CHECK_INT(l.in.files.data[0].rank, 3);
    CHECK_INT(l.in.files.data[0].world, 8);
    CHECK_INT(l.in.parties.data[0].base, 1711964646000000000);
    done(&l);
}

/* Listed behind the events, once as a list and once as a text, as on-demand traces write it. */
static void process_groups_are_listed(void)
{
    look l;
    look_text(
        &l,
        "{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nccl_AllReduce\","
        "\"ts\":1,\"dur\":2,\"args\":{\"device\":0,\"stream\":7,\"Process Group Name\":\"5\"}}"
        "], \"distributedInfo\": {\"rank\": 3, \"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": "
        "\"default_pg\", \"pg_size\": 3, \"ranks\": [0, 1, 7]}, {\"pg_name\": \"5\", \"ranks\": "
        "\"[2, 3]\"}, 7, {}]}}");
    const ovl_inspect_file *f = &l.in.files.data[0];
    if (CHECK_INT(f->n_groups, 3)) {
        CHECK_TEXT(f->groups[0].name, "0");
        CHECK_TEXT(f->groups[0].description, "default_pg");
        CHECK_INT(f->groups[0].size, 3);
        CHECK_INT(f->groups[0].ranks[2], 7);
        CHECK_INT(f->groups[1].size, 2);
        CHECK_INT(f->groups[1].ranks[1], 3);
        CHECK_INT(f->groups[2].size, -1);
    }
    CHECK_INT(l.in.collectives.data[0].group_size, 2); /* not in the arguments */
    done(&l);
}

/* A fault that costs nothing but a warning. */
static void usual_but(const char *text, const char *warning)
{
    look l;
    look_text(&l, text);
    check_usual(&l);
    CHECK_HAS(said(&l), warning);
    done(&l);
}

#define NAMED(name)                                                                                \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"pid\": 0, \"tid\": 7, "        \
    "\"ts\": 10, \"dur\": 10, \"args\": {\"device\": 0}}"

static void names_with_faults_are_repaired(void)
{
    usual_but(TRACE(NAMED("a \"quoted\" name") "," NCCL("15", "10")),
              "1 event has unescaped quotes");
    usual_but(TRACE(NAMED("f(\"x\", y)") "," NCCL("15", "10")), "1 event has unescaped quotes");
    usual_but(TRACE(NAMED("tab\there") "," NCCL("15", "10")), "1 event has unescaped quotes");
    usual_but(TRACE(NAMED("line\nbreak") "," NCCL("15", "10")), "1 event has unescaped quotes");
    usual_but(TRACE(NAMED("bad \\q escape") "," NCCL("15", "10")), "1 event has unescaped quotes");
    usual(TRACE(NAMED("good \\\"escape\\\" \\\\ \\u00e9") "," NCCL("15", "10")));
}

static void events_beyond_repair_are_skipped(void)
{
    static const char *const broken[] = {
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"open, \"pid\": 0, \"ts\": 1, \"dur\": 1}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"lost\\\", \"pid\": 0, \"ts\": 1}",
        "{\"ph\": \"X\", \"cat\": \"kernel\" \"name\": \"no comma\", \"ts\": 1, \"dur\": 1}",
        "{\"ph\": \"X\", \"ts\": , \"dur\": 1}",
        "{\"ph\": \"X\", ts: 1}",
        "{\"ph\": \"X\", \"args\": {\"grid\": [1, 2}, \"ts\": 1}",
        "garbage",
    };
    for (size_t i = 0; i < OVL_COUNT(broken); i++) {
        look l;
        char text[2048];
        snprintf(text, sizeof text, TRACE("%s,%s,%s"), KERNEL("10", "10"), broken[i],
                 NCCL("15", "10"));
        look_text(&l, text);
        check_usual(&l);
        CHECK_HAS(said(&l), "1 event is broken and was skipped; the first at byte 1");
        done(&l);
    }
}

static void what_is_no_number_is_missing(void)
{
    usual_but(TRACE(KERNEL("10", "10") "," KERNEL("NaN", "5") "," NCCL("15", "10")),
              "1 event has no time that can be read");
    usual_but(TRACE(KERNEL("10", "10") "," KERNEL("1e300", "5") "," NCCL("15", "10")),
              "1 event has no time that can be read");
    usual(TRACE("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"g\", \"pid\": 0, \"tid\": 7, "
                "\"ts\": 10, \"dur\": 10, \"args\": {\"memory bandwidth (GB/s)\": inf, \"a\": N/A, "
                "\"b\": -Infinity, \"correlation\": 18446744073709551616}}," NCCL("15", "10")));
}

/* A kernel at 12 us of no length: counted, measures nothing. */
static void zero_and_negative_durations_measure_nothing(void)
{
    look l;
    look_text(&l, TRACE(KERNEL("10", "10") "," KERNEL("12", "0") "," KERNEL("13", "-4") "," KERNEL(
                      "14", "inf")));
    CHECK_INT(l.in.devices.data[0].all.kernels, 4);
    CHECK_INT(l.in.devices.data[0].all.compute, 10000);
    CHECK_INT(l.in.devices.data[0].all.span, 10000);
    CHECK_HAS(said(&l), "1 duration is negative; 0 was taken");
    CHECK_HAS(said(&l), "1 device operation has no duration");
    CHECK_HAS(said(&l), "NO COMMUNICATION FOUND: of 4 kernel names none matches \"nccl|rccl\"");
    done(&l);
}

static void exact_duplicates_count_once(void)
{
    static const char event[] =
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nccl\",\"ts\":1,\"dur\":2,\"pid\":0,\"tid\":7,"
        "\"args\":{\"correlation\":5}}";
    char text[1024];
    look l;
    snprintf(text, sizeof text, TRACE("%s,%s"), event, event);
    look_text(&l, text);
    CHECK_INT(l.in.devices.data[0].all.kernels, 1);
    CHECK_INT(l.in.collectives.data[0].count, 1);
    CHECK_HAS(said(&l), "1 device operations are exact duplicates");
    done(&l);
}

/* Whatever is left of a file is read or refused; nothing in between. What was whole before counts.
 */
static void a_file_cut_anywhere_gives_what_is_whole(void)
{
    static const char text[] = TRACE(KERNEL("10", "10") "," NCCL("15", "10"));
    size_t first = strstr(text, "\"traceEvents\": [") - text + 16;
    size_t second = first + sizeof(KERNEL("10", "10")) - 1;
    size_t end = second + 1 + sizeof(NCCL("15", "10")) - 1;
    for (size_t n = 0; n < sizeof text - 1; n++) {
        look l;
        char *copy = malloc(n ? n : 1); /* of this size, so that reading past it is seen */
        memcpy(copy, text, n);
        look_at(&l, copy, n);
        CHECK_INT(l.good, n >= first);
        if (l.good) {
            uint64_t whole = (n >= second) + (n >= end);
            CHECK_INT(l.in.files.data[0].n_records, whole);
            CHECK_HAS(said(&l), "the file is truncated: it ends at byte");
        } else {
            CHECK_INT(ovl_errs_status(&l.errs), OVL_E_INPUT);
        }
        free(copy);
        done(&l);
    }
}

static void no_gpu_work_is_said(void)
{
    look l;
    look_text(&l, TRACE("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1,\"dur\":2}"));
    CHECK(l.good);
    CHECK_INT(l.in.devices.len, 0);
    CHECK_HAS(said(&l), "no GPU work");
    done(&l);
}

static void what_is_no_trace_is_refused(void)
{
    static const struct {
        const char *text, *looks;
    } files[] = {
        {"", "an empty file"},
        {" \n", "an empty file"},
        {"{}", "JSON without a list of trace events"},
        {"[1, 2]", "JSON without a list of trace events"},
        {"{\"name\": {\"traceEvents\": 3}}", "JSON without a list of trace events"},
        {"name: A scenario\nworkload: {}\n", "text"},
        {"a,b\n1,2\n", "text"},
        {"\x89PNG\r\n", "an image"},
        {"PK\x03\x04", "a zip archive"},
        {"\x01\x02\x03", "binary data"},
        {"<html>", "HTML or XML"},
    };
    for (size_t i = 0; i < OVL_COUNT(files); i++) {
        look l;
        look_text(&l, files[i].text);
        CHECK(!l.good);
        CHECK_INT(ovl_errs_status(&l.errs), OVL_E_INPUT);
        CHECK_HAS(said(&l), "is no trace; it looks like ");
        CHECK_HAS(said(&l), files[i].looks);
        done(&l);
    }
}

#define DEEP ((size_t)100 << 20)

/* 100 MB of brackets: refused, or skipped, in one pass and without memory. */
static void nesting_of_any_depth_is_passed(void)
{
    static const char head[] = "{\"traceEvents\": [{\"ph\": \"X\", \"args\": ";
    char *text = malloc(DEEP);
    look l;
    if (!text) {
        return;
    }
    memset(text, '[', DEEP);
    look_at(&l, text, DEEP);
    CHECK(!l.good);
    done(&l);
    memcpy(text, head, sizeof head - 1);
    look_at(&l, text, DEEP);
    CHECK(l.good);
    CHECK_HAS(said(&l), "event");
    done(&l);
    for (size_t i = 0; i + 6 <= DEEP; i += 6) {
        memcpy(text + i, "{\"ph\":", 6);
    }
    memcpy(text, head, sizeof head - 1);
    look_at(&l, text, DEEP);
    CHECK(l.good);
    done(&l);
    free(text);
}

static void collective_arguments_are_read(void)
{
    look l;
    look_text(&l,
              TRACE("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_Generic\",\"pid\":0,"
                    "\"tid\":1,\"ts\":0,\"dur\":1000,\"args\":{\"Collective name\":\"allreduce\","
                    "\"In msg nelems\":16777216,\"Out msg nelems\":16777216,\"Group size\":8,"
                    "\"dtype\":\"Float\",\"Process Group Name\":\"dp\",\"Process Group Ranks\":"
                    "\"[0, 1, ..., 7]\",\"Comms Id\":10159970886766084423}}"));
    const ovl_inspect_collective *c = l.in.collectives.data;
    if (CHECK_INT(l.in.collectives.len, 1)) {
        CHECK_TEXT(c->op, "all_reduce");
        CHECK_TEXT(c->group, "dp");
        CHECK_INT(c->bytes, 67108864);
        CHECK_INT(c->group_size, 8);
        /* 64 MiB in 1 ms: 67.1 GB/s; busbw x 2 x 7 / 8. */
        CHECK_NEAR(c->algbw, 67108864e3, 1);
        CHECK_NEAR(c->busbw, 67108864e3 * 1.75, 1);
    }
    done(&l);
}

/* Allocated 100, then 40 freed: peak 100. Without totals a running sum. */
static void memory_peaks_are_found(void)
{
#define MEMORY(bytes, more)                                                                        \
    "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"ts\":1,\"args\":{\"Bytes\":" bytes          \
    ",\"Device Type\":1,\"Device Id\":0" more "}}"
    look l;
    look_text(&l, TRACE(MEMORY("100", "") "," MEMORY("-40", "") "," MEMORY("30", "")));
    CHECK_INT(l.in.memory.data[0].allocated, 100);
    CHECK(l.in.memory.data[0].lower_bound);
    done(&l);
    look_text(&l, TRACE(MEMORY("100", ",\"Total Allocated\":700,\"Total Reserved\":900") "," MEMORY(
                      "-40", ",\"Total Allocated\":660,\"Total Reserved\":900")));
    CHECK_INT(l.in.memory.data[0].allocated, 700);
    CHECK_INT(l.in.memory.data[0].reserved, 900);
    CHECK(!l.in.memory.data[0].lower_bound);
    done(&l);
    look_text(&l, "[[-1, 1, 500, 7], [10, 2, 300, 7], [20, 4, -300, 7]]");
    CHECK(l.good);
    CHECK_INT(l.in.memory.data[0].allocated, 800);
    done(&l);
}

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

/* --- Numbers that do not fit, events that do not end, damaged gzip --- */

#define ON_DEVICE(device)                                                                          \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": "    \
    "30, "                                                                                         \
    "\"dur\": 5, \"args\": {\"device\": " device ", \"stream\": 7}}"

/* 2^63 is no device 0. Without the argument the process stands for it, unless it is a name. */
static void a_device_that_is_no_number_is_skipped_and_counted(void)
{
    static const char *const bad[] = {"9223372036854775808", "\"gpu\"", "18446744073709551615"};
    look l;
    for (size_t i = 0; i < OVL_COUNT(bad); i++) {
        ovl_arena arena = {0};
        look_text(&l,
                  ovl_arena_printf(&arena, TRACE(KERNEL("10", "10") ", " ON_DEVICE("%s")), bad[i]));
        CHECK_HAS(said(&l), "1 device operation has a device that is no number below 2^63 and was "
                            "skipped");
        CHECK_INT(l.in.devices.len, 1);
        done(&l);
        ovl_arena_free(&arena);
    }
    look_text(&l, TRACE("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": \"GPU\", "
                        "\"ts\": 1, \"dur\": 1}"));
    CHECK_HAS(said(&l), "NO COMMUNICATION FOUND: of 1 kernel");
    done(&l);
    look_text(&l, "name,start_ns,end_ns,device\na,0,5,0\nb,0,5,9223372036854775808\n");
    CHECK_HAS(said(&l), "1 device operation has a device that is no number below 2^63");
    done(&l);
}

/* A kernel whose name takes `length` bytes, between two others. */
static char *long_trace(size_t length, size_t *count)
{
    static const char begins[] = "{\"traceEvents\": [" KERNEL(
        "10", "10") ", "
                    "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 30, \"dur\": 5, \"pid\": 0, "
                    "\"tid\": 7, \"name\": \"";
    static const char ends[] = "\"}, " KERNEL("40", "10") "]}";
    char *text = malloc(sizeof begins + length + sizeof ends);
    CHECK(text != NULL);
    memcpy(text, begins, sizeof begins - 1);
    memset(text + sizeof begins - 1, 'n', length);
    memcpy(text + sizeof begins - 1 + length, ends, sizeof ends);
    *count = sizeof begins - 1 + length + sizeof ends - 1;
    return text;
}

/* Of 3 MB it is read; of more than 16 MiB skipped, with the limit, and what follows is read. */
static void a_long_event_is_read_up_to_a_limit(void)
{
    static const size_t lengths[] = {3000000, ((size_t)16 << 20) + 100};
    for (size_t i = 0; i < OVL_COUNT(lengths); i++) {
        look l;
        size_t count;
        char *text = long_trace(lengths[i], &count);
        look_at(&l, text, count);
        CHECK_INT(l.in.devices.data[0].all.kernels, i ? 2 : 3);
        bool told = strstr(said(&l), "1 event does not end within 16 MiB") != NULL;
        CHECK_INT(told, i);
        CHECK(!strstr(said(&l), "truncated") && !strstr(said(&l), "broken"));
        done(&l);
        free(text);
    }
}

/* A trace of 2 MB in gzip; `wrong`: a bit of its checksum is; `cut`: only so many bytes are kept.
 */
static void write_gzip(const char *path, bool wrong, long cut)
{
    size_t count;
    char *text = long_trace(2000000, &count);
    gzFile gz = gzopen(path, "wb");
    CHECK_INT(gzwrite(gz, text, (unsigned)count), count);
    CHECK_INT(gzclose(gz), Z_OK);
    free(text);
    if (wrong) {
        FILE *f = fopen(path, "r+b");
        CHECK(f && fseek(f, -8, SEEK_END) == 0);
        int byte = fgetc(f);
        CHECK(fseek(f, -8, SEEK_END) == 0);
        fputc(byte ^ 1, f);
        CHECK_INT(fclose(f), 0);
    }
    CHECK(!cut || truncate(path, cut) == 0);
}

static void look_gzip(look *l, bool wrong, long cut)
{
    char path[] = "/tmp/ovl_read_XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    write_gzip(path, wrong, cut);
    look_at(l, "", 0);
    done(l);
    memset(l, 0, sizeof *l);
    l->errs.arena = &l->arena;
    ovl_comm_pattern_begin(&l->pattern, OVL_COMM_PATTERN, &l->errs);
    ovl_inspect_begin(&l->in, &l->pattern);
    l->good = ovl_inspect_add(&l->in, path, &l->errs);
    remove(path);
}

static void gzip_gives_what_stands_before_its_damage(void)
{
    look l;
    look_gzip(&l, false, 0);
    CHECK(l.good);
    CHECK(!strstr(said(&l), "compressed"));
    CHECK_INT(l.in.devices.data[0].all.kernels, 3);
    done(&l);
    look_gzip(&l, true, 0);
    CHECK(l.good);
    CHECK_HAS(said(&l), "warning: the checksum of the compressed data is wrong");
    CHECK_INT(l.in.devices.data[0].all.kernels, 3);
    done(&l);
    look_gzip(&l, false, 500);
    CHECK(l.good);
    CHECK_HAS(said(&l), "warning: the compressed data ends too early");
    CHECK_INT(l.in.devices.data[0].all.kernels, 1);
    done(&l);
}

static CU_TestInfo tests[] = {
    {"every envelope is read", every_envelope_is_read},
    {"the dialect of 2021 is read", the_dialect_of_2021_is_read},
    {"annotations and synchronisation are no work", annotations_and_synchronisation_are_no_work},
    {"process groups are listed", process_groups_are_listed},
    {"base and rank may stand behind the events", base_and_rank_may_stand_behind_the_events},
    {"names with faults are repaired", names_with_faults_are_repaired},
    {"events beyond repair are skipped", events_beyond_repair_are_skipped},
    {"what is no number is missing", what_is_no_number_is_missing},
    {"zero and negative durations measure nothing", zero_and_negative_durations_measure_nothing},
    {"exact duplicates count once", exact_duplicates_count_once},
    {"a file cut anywhere gives what is whole", a_file_cut_anywhere_gives_what_is_whole},
    {"no GPU work is said", no_gpu_work_is_said},
    {"what is no trace is refused", what_is_no_trace_is_refused},
    {"nesting of any depth is passed", nesting_of_any_depth_is_passed},
    {"collective arguments are read", collective_arguments_are_read},
    {"memory peaks are found", memory_peaks_are_found},
    {"nccl-tests tables are read", nccl_tests_tables_are_read},
    {"runs of one log stay apart", runs_of_one_log_stay_apart},
    {"logs are read as launchers and editors leave them",
     logs_are_read_as_launchers_and_editors_leave_them},
    {"older tables are read", older_tables_are_read},
    {"intervals are read", intervals_are_read},
    {"sizes are read", sizes_are_read},
    {"a device that is no number is skipped and counted",
     a_device_that_is_no_number_is_skipped_and_counted},
    {"a long event is read up to a limit", a_long_event_is_read_up_to_a_limit},
    {"gzip gives what stands before its damage", gzip_gives_what_stands_before_its_damage},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("read", tests);
}
