#include "sim/critical.h"
#include "tests/support/check.h"
#include "tests/support/tiny.h"
#include "tools/trace.h"

#include <stdlib.h>
#include <string.h>

#define RANKS 2

/* A program of both ranks, run and written as a trace. */
typedef struct traced {
    tiny t;
    char *text;
} traced;

static void write_trace(traced *x, const bool *ranks)
{
    size_t size = 0;
    FILE *file = open_memstream(&x->text, &size);
    ovl_out out;
    ovl_out_stream(&out, file);
    ovl_run_options options = {.interference = OVL_INTERFERENCE_SHARED, .segments = true};
    CHECK(tiny_freeze(&x->t));
    CHECK(ovl_run(&x->t.program, &options, &x->t.arena, &x->t.timeline, &x->t.errs));
    ovl_causes causes;
    ovl_path path;
    ovl_causes_init(&causes, &x->t.program, &x->t.timeline, &x->t.arena);
    ovl_critical_path(&causes, NULL, &x->t.arena, &x->t.arena, &path);
    ovl_trace_job job = {.program = &x->t.program,
                         .timeline = &x->t.timeline,
                         .causes = &causes,
                         .ranks = ranks,
                         .critical = path.rank_on,
                         .scenario = "tiny \"trace\""};
    ovl_trace_write(&out, &job);
    CHECK(ovl_out_close(&out) == NULL);
    fclose(file);
    ovl_causes_free(&causes);
}

static void free_traced(traced *x)
{
    free(x->text);
    tiny_free(&x->t);
}

/* The line of the slice of this name on a thread, or NULL; copied into buf. */
static const char *find_slice(const char *text, const char *name, uint32_t thread, char buf[1024])
{
    char wanted[128], on[64];
    snprintf(wanted, sizeof wanted, "\"name\": \"%s\"", name);
    snprintf(on, sizeof on, "\"tid\": %" PRIu32 ",", thread);
    while (*text) {
        size_t length = strcspn(text, "\n");
        snprintf(buf, 1024, "%.*s", (int)length, text);
        if (strstr(buf, "\"ph\": \"X\"") && strstr(buf, wanted) && strstr(buf, on)) {
            return buf;
        }
        text += length + (text[length] == '\n');
    }
    return NULL;
}

/* Rank 0: kernel [0, 5], all-reduce [5, 27] of which it waits 2 for rank 1, whose kernel is [0, 7];
 * the update waits for it on the compute stream: [27, 28]. */
static void make_late_rank(traced *x)
{
    *x = (traced){0};
    tiny_init(&x->t, RANKS);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        if (rank == 1) {
            tiny_use(&x->t, 1, tiny_code(&x->t));
        }
        ovl_id gradient = tiny_buffer(&x->t, "gradient", 1000);
        uint32_t kernel = tiny_kernel(&x->t, "compute", "backward", (rank ? 7 : 5) * OVL_MS);
        tiny_writes(&x->t, gradient);
        uint32_t reduce = tiny_collective(&x->t, "comm", "reduce", 0, 20 * OVL_MS);
        tiny_after(&x->t, kernel);
        tiny_reads(&x->t, gradient);
        tiny_kernel(&x->t, "compute", "update", OVL_MS);
        tiny_after(&x->t, reduce);
    }
}

static void slices_and_waits(void)
{
    static const bool both[] = {true, true};
    char line[1024];
    traced x;
    make_late_rank(&x);
    write_trace(&x, both);
    const char *reduce = find_slice(x.text, "reduce", 1, line);
    CHECK_HAS(reduce, "\"ts\": 7000.000");
    CHECK_HAS(reduce, "\"dur\": 20000.000");
    CHECK_HAS(reduce, "\"start_ps\": 7000000000, \"end_ps\": 27000000000");
    CHECK_HAS(reduce, "\"ready_ps\": 5000000000, \"queue_ps\": 0, \"wait_ps\": 2000000000");
    CHECK_HAS(reduce, "\"cause\": \"after: backward\"");
    CHECK_HAS(reduce, "\"critical_path\": true");
    const char *early = find_slice(x.text, "backward", 0, line);
    CHECK(early && !strstr(early, "critical_path"));
    CHECK_HAS(find_slice(x.text, "reduce (waiting)", 1, line), "\"ts\": 5000.000");
    CHECK(!find_slice(x.text, "reduce (waiting)", 1001, line));
    CHECK_HAS(find_slice(x.text, "backward", 1000, line), "\"critical_path\": true");
    CHECK_HAS(x.text, "\"scenario\": \"tiny \\\"trace\\\"\"");
    CHECK_HAS(x.text, "\"name\": \"process_name\", \"args\": {\"name\": \"rank 1\"}");
    free_traced(&x);
}

/* The arrow leaves the kernel in its last nanosecond and ends where the all-reduce begins to wait.
 */
static void arrows(void)
{
    static const bool both[] = {true, true};
    traced x;
    make_late_rank(&x);
    write_trace(&x, both);
    CHECK_HAS(x.text,
              "{\"ph\": \"s\", \"pid\": 0, \"tid\": 0, \"ts\": 4999.999, \"cat\": \"after\", "
              "\"name\": \"after\", \"id\": 0}");
    CHECK_HAS(x.text,
              "{\"ph\": \"f\", \"pid\": 0, \"tid\": 1, \"ts\": 5000.000, \"cat\": \"after\", "
              "\"name\": \"after\", \"id\": 0, \"bp\": \"e\"}");
    free_traced(&x);
}

/* The gradient is live from 0 to the end of the all-reduce at 27, then nothing is. */
static void counters(void)
{
    static const bool both[] = {true, true};
    traced x;
    make_late_rank(&x);
    write_trace(&x, both);
    CHECK_HAS(x.text, "{\"ph\": \"C\", \"pid\": 0, \"tid\": 0, \"ts\": 0.000, \"name\": \"live "
                      "bytes\", \"args\": {\"");
    CHECK_HAS(x.text, "\": 1000}}");
    CHECK_HAS(x.text, "\"ts\": 27000.000, \"name\": \"live bytes\", \"args\": {\"");
    CHECK_HAS(x.text, "\"name\": \"reserved bytes\", \"args\": {\"allocated\": 1000, "
                      "\"waiting_for_gpu\": 0, \"free_in_pools\": 2096152}}");
    free_traced(&x);
}

/* a [0, 5] uses A (4 MiB, freed behind it), b [5, 9] uses B (8 MiB). A host without launch times
 * does all that at 0; it could give A back and ask for B as late as b starts, and is seen doing so.
 * B gets the 20 MiB segment that A left. With b on a stream of its own it starts at 0, and so does
 * that. */
static void a_host_without_time_is_seen_as_late_as_it_can_be(void)
{
    static const bool one[] = {true, false};
    for (int apart = 0; apart < 2; apart++) {
        traced x = {0};
        tiny_init(&x.t, RANKS);
        ovl_id a = tiny_buffer(&x.t, "A", 4 << 20);
        tiny_kernel(&x.t, "compute", "a", 5 * OVL_MS);
        tiny_writes(&x.t, a);
        ovl_free_buffer(&x.t.b, x.t.code, a);
        ovl_id b = tiny_buffer(&x.t, "B", 8 << 20);
        tiny_kernel(&x.t, apart ? "other" : "compute", "b", 4 * OVL_MS);
        tiny_writes(&x.t, b);
        write_trace(&x, one);
        const char *then = "\"ts\": 5000.000, \"name\": \"reserved bytes\"";
        CHECK((strstr(x.text, then) == NULL) == apart);
        CHECK_HAS(x.text, "\"ts\": 0.000, \"name\": \"reserved bytes\"");
        CHECK_HAS(x.text, "\"reserved bytes\", \"args\": {\"allocated\": 8388608, ");
        free_traced(&x);
    }
}

static void chosen_ranks(void)
{
    static const bool second[] = {false, true};
    traced x;
    make_late_rank(&x);
    write_trace(&x, second);
    CHECK(!strstr(x.text, "\"pid\": 0"));
    CHECK_HAS(x.text, "\"pid\": 1");
    free_traced(&x);
    ovl_arena arena = {0};
    bool ranks[24] = {false};
    CHECK(ovl_ranks_read("0,8,16-18", ranks, 24, &arena) == NULL);
    CHECK(ranks[0] && ranks[8] && ranks[16] && ranks[17] && ranks[18]);
    CHECK(!ranks[1] && !ranks[15] && !ranks[19]);
    static const char *const wrong[] = {"", "a", "3-", "5-3", "24", "1,,2", "1 2", "-1", "1,"};
    for (uint32_t i = 0; i < OVL_COUNT(wrong); i++) {
        CHECK(ovl_ranks_read(wrong[i], ranks, 24, &arena) != NULL);
    }
    ovl_arena_free(&arena);
}

/* Lengths that are no whole nanoseconds: 1.5 ns each, so slices are [0, 1], [1, 3], [3, 4] ns; they
 * touch and never overlap. */
static void rounding_keeps_order(void)
{
    static const bool one[] = {true, false};
    traced x = {0};
    tiny_init(&x.t, RANKS);
    tiny_kernel(&x.t, "compute", "a", 1500);
    tiny_kernel(&x.t, "compute", "b", 1500);
    tiny_kernel(&x.t, "compute", "c", 1500);
    write_trace(&x, one);
    char line[1024];
    CHECK_HAS(find_slice(x.text, "a", 0, line), "\"ts\": 0.000, \"cat\": \"kernel\"");
    CHECK_HAS(find_slice(x.text, "a", 0, line), "\"dur\": 0.001");
    CHECK_HAS(find_slice(x.text, "b", 0, line), "\"ts\": 0.001");
    CHECK_HAS(find_slice(x.text, "b", 0, line), "\"dur\": 0.002");
    CHECK_HAS(find_slice(x.text, "c", 0, line), "\"ts\": 0.003");
    CHECK_HAS(find_slice(x.text, "c", 0, line), "\"start_ps\": 3000, \"end_ps\": 4500");
    free_traced(&x);
}

/* Both ranks of a node load its one NIC of 100 B/s together with 80: 80 in the node's counter, and
 * none in those of the ranks. It is there, whole, if only one of the ranks is written. */
static void a_shared_link_is_counted_once(void)
{
    for (int only = 0; only < 2; only++) {
        const bool ranks[] = {true, !only};
        traced x = {0};
        tiny_init(&x.t, RANKS);
        x.t.hbm_rate = 100;
        x.t.hbm_of_all = true;
        x.t.demands[0] = (ovl_demand){OVL_PORT_HBM, true, 80};
        x.t.n_demands = 1;
        tiny_collective(&x.t, "comm", "reduce", 0, 5 * OVL_MS);
        write_trace(&x, ranks);
        CHECK_HAS(x.text, "\"args\": {\"name\": \"shared links\"}");
        CHECK_HAS(x.text, "{\"ph\": \"C\", \"pid\": 2, \"tid\": 2000, \"ts\": 0.000, \"name\": "
                          "\"hbm 0\", \"args\": {\"bytes/s\": 80}}");
        CHECK_HAS(x.text, "\"ts\": 5000.000, \"name\": \"hbm 0\", \"args\": {\"bytes/s\": 0}}");
        CHECK(!strstr(x.text, "\"name\": \"hbm\""));
        free_traced(&x);
    }
}

static void add_reader(traced *x, const char *stream, const char *name)
{
    x->t.demands[0] = (ovl_demand){OVL_PORT_HBM, false, 80};
    x->t.n_demands = 1;
    tiny_kernel(&x->t, stream, name, 5 * OVL_MS);
}

/* Two kernels of 5 ms want 80 B/s each of an HBM of 100: 50 each, so 8 ms, in which 160 - 100 = 60
 * B/s are missing: 60 x 8 = 480 B ms, 3 ms of 80 for each. Rank 1 runs one alone: nothing is
 * missing, and nobody meets. */
static void what_a_shared_resource_lacks_is_counted(void)
{
    static const bool both[] = {true, true};
    traced x = {0};
    tiny_init(&x.t, RANKS);
    x.t.hbm_rate = 100;
    add_reader(&x, "compute", "a");
    add_reader(&x, "other", "b");
    tiny_use(&x.t, 1, tiny_code(&x.t));
    add_reader(&x, "compute", "c");
    write_trace(&x, both);
    CHECK_HAS(x.text, "\"pid\": 0, \"tid\": 0, \"ts\": 0.000, \"name\": \"hbm\", \"args\": "
                      "{\"bytes/s\": 100, \"missing bytes/s\": 60}}");
    CHECK_HAS(x.text, "\"pid\": 0, \"tid\": 0, \"ts\": 8000.000, \"name\": \"hbm\", \"args\": "
                      "{\"bytes/s\": 0, \"missing bytes/s\": 0}}");
    CHECK_HAS(x.text, "\"pid\": 0, \"tid\": 0, \"ts\": 0.000, \"name\": \"hbm: at once\", "
                      "\"args\": {\"activities\": 2}}");
    CHECK_HAS(x.text, "\"ts\": 8000.000, \"name\": \"hbm: at once\", \"args\": "
                      "{\"activities\": 0}}");
    CHECK_HAS(x.text, "\"pid\": 1, \"tid\": 1000, \"ts\": 0.000, \"name\": \"hbm\", \"args\": "
                      "{\"bytes/s\": 80}}");
    CHECK(!strstr(x.text, "\"pid\": 1, \"tid\": 1000, \"ts\": 0.000, \"name\": \"hbm: at once\""));
    free_traced(&x);
}

/* Two eager sends of 4 ms at 0, one after another on the wire: [0, 4] and [4, 8]; rank 1 takes the
 * second late. Lanes of rank 0: compute, comm, host, wires. */
static void an_eager_transfer_is_on_a_wire(void)
{
    static const bool both[] = {true, true};
    char line[1024];
    traced x = {0};
    tiny_init(&x.t, RANKS);
    tiny_kernel(&x.t, "compute", "k", 1 * OVL_MS);
    tiny_send(&x.t, "comm", "s", 1, 4 * OVL_MS, true);
    tiny_send(&x.t, "comm", "t", 1, 4 * OVL_MS, true);
    tiny_use(&x.t, 1, tiny_code(&x.t));
    tiny_recv(&x.t, "comm", "r", 0, 4 * OVL_MS, true);
    tiny_kernel(&x.t, "comm", "busy", 2 * OVL_MS);
    tiny_recv(&x.t, "comm", "q", 0, 4 * OVL_MS, true);
    write_trace(&x, both);
    CHECK_HAS(x.text, "\"tid\": 3, \"name\": \"thread_name\", \"args\": {\"name\": \"wire\"}");
    CHECK_HAS(find_slice(x.text, "s", 3, line), "\"start_ps\": 0, \"end_ps\": 4000000000");
    CHECK_HAS(find_slice(x.text, "t", 3, line), "\"start_ps\": 4000000000, \"end_ps\": 8000000000");
    free_traced(&x);
}

static CU_TestInfo tests[] = {
    {"an operation is a slice, and its wait one before it", slices_and_waits},
    {"a dependency between streams is an arrow", arrows},
    {"live bytes are a counter", counters},
    {"a host without time is seen as late as it can be",
     a_host_without_time_is_seen_as_late_as_it_can_be},
    {"only the ranks asked for are written", chosen_ranks},
    {"rounding to nanoseconds keeps slices apart", rounding_keeps_order},
    {"a shared link is counted once", a_shared_link_is_counted_once},
    {"what a shared resource lacks is counted", what_a_shared_resource_lacks_is_counted},
    {"an eager transfer is on a wire", an_eager_transfer_is_on_a_wire},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("trace", tests);
}
