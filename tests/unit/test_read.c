/* Readers: dialects and faults. Each trace is written here. */
#include "tests/unit/looking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

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
    CHECK_HAS(said(&l),
              "NO COMMUNICATION FOUND: of the names of 4 kernels none matches \"nccl|rccl\"");
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
    CHECK_HAS(said(&l), "exact duplicates, counted once: 1 device operation");
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

#define RANKED(events, rank)                                                                       \
    "{\"traceEvents\": [" events "], \"distributedInfo\": {\"rank\": " rank "}}"

/* Two documents of one rank are the usual trace; what is none is counted, and two ranks refused. */
static void what_stands_behind_a_document_is_not_lost_in_silence(void)
{
    look l;
    look_text(&l, TRACE(KERNEL("10", "10")) "\n" TRACE(NCCL("15", "10")) "\n");
    check_usual(&l);
    CHECK_HAS(said(&l), "1 further JSON document stands behind the first");
    done(&l);
    look_text(&l, "[" KERNEL("10", "10") "," NCCL("15", "10") "]{\"a\": 1} x y");
    check_usual(&l);
    CHECK_HAS(said(&l), "11 bytes stand behind the JSON document and were left out");
    done(&l);
    look_text(&l, RANKED(KERNEL("1", "2"), "0") RANKED(KERNEL("1", "2"), "1"));
    CHECK(!l.good);
    CHECK_HAS(said(&l), "the file holds several traces");
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
    CHECK_HAS(said(&l), "NO COMMUNICATION FOUND: of the names of 1 kernel none");
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

/* Two members are one stream; zeros behind them are padding, anything else is said. */
static void what_stands_behind_gzip_is_said(void)
{
    static const char *const behind[] = {"\0\0\0", "abc"};
    for (size_t i = 0; i < OVL_COUNT(behind); i++) {
        char path[] = "/tmp/ovl_read_XXXXXX";
        int fd = mkstemp(path);
        CHECK(fd >= 0);
        close(fd);
        static const char *const halves[] = {"[" KERNEL("10", "10") ",", NCCL("15", "10") "]"};
        for (int h = 0; h < 2; h++) {
            gzFile gz = gzopen(path, "ab");
            CHECK(gzputs(gz, halves[h]) > 0);
            CHECK_INT(gzclose(gz), Z_OK);
        }
        FILE *f = fopen(path, "ab");
        CHECK(f && fwrite(behind[i], 3, 1, f) == 1);
        CHECK_INT(fclose(f), 0);
        look l;
        look_at(&l, "", 0);
        done(&l);
        memset(&l, 0, sizeof l);
        l.errs.arena = &l.arena;
        ovl_comm_pattern_begin(&l.pattern, OVL_COMM_PATTERN, &l.errs);
        ovl_inspect_begin(&l.in, &l.pattern);
        l.good = ovl_inspect_add(&l.in, path, &l.errs);
        check_usual(&l);
        CHECK_INT(strstr(said(&l), "3 bytes behind the compressed data, from byte") != NULL,
                  i == 1);
        CHECK_INT(l.errs.count, i);
        done(&l);
        remove(path);
    }
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
    {"what stands behind a document is not lost in silence",
     what_stands_behind_a_document_is_not_lost_in_silence},
    {"a device that is no number is skipped and counted",
     a_device_that_is_no_number_is_skipped_and_counted},
    {"a long event is read up to a limit", a_long_event_is_read_up_to_a_limit},
    {"what stands behind gzip is said", what_stands_behind_gzip_is_said},
    {"gzip gives what stands before its damage", gzip_gives_what_stands_before_its_damage},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("read", tests);
}
