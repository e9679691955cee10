/*
 * test_trace_sums.c - the counters of a trace, summed over time, are the bytes of the report.
 */
#include "sim/critical.h"
#include "tests/support/check.h"
#include "tests/support/lowering.h"
#include "tools/trace.h"

#include <stdlib.h>

/* Nodes of 2 GPUs with a NIC each, but for the one of number 1, which has one GPU. */
#define UNEVEN(nics)                                                                               \
    "hardware:\n"                                                                                  \
    "  node: {gpus: 2}\n"                                                                          \
    "  links: {nic: {bandwidth: 10 GB/s, " nics "out_of: node}}\n"                                 \
    "  nodes: {small: {at: 1, gpus: 1}}\n"                                                         \
    "  collectives: [{op: all_to_all, via: [nic], algorithm: direct}]\n"                           \
    "mesh: {axes: {dp: 3}}\n"                                                                      \
    "workload: {ops: [{collective: C, op: all_to_all, group: dp, bytes: 30 MB}]}\n"

/* The root sends, leaves do not. */
static const char rooted[] =
    "hardware:\n"
    "  links: {nic: {bandwidth: 10 GB/s}}\n"
    "  collectives: [{op: broadcast, via: [nic], algorithm: tree}]\n"
    "mesh: {axes: {dp: 4}}\n"
    "workload: {ops: [{collective: C, op: broadcast, group: dp, bytes: 10 MB}]}\n";

/* In the node, across, in the node. Ranks 0 and 1 share a NIC, 4 and 6 have one each. */
static const char phases[] =
    "hardware:\n"
    "  node: {gpus: 4}\n"
    "  links:\n"
    "    nvlink: {bandwidth: 100 GB/s}\n"
    "    nic: {bandwidth: 10 GB/s, gpus: 2, out_of: node}\n"
    "  collectives: [{op: all_reduce, via: [nvlink, nic], algorithm: hierarchical}]\n"
    "mesh: {axes: {dp: 8}}\n"
    "workload:\n"
    "  groups: {g: [[0, 1, 4, 6]]}\n"
    "  ops: [{collective: C, op: all_reduce, group: g, bytes: 30 MB, ranks: [0, 1, 4, 6]}]\n";

/* The trace of all ranks; the caller frees it. */
static char *trace_of(bench *t)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    ovl_out out;
    ovl_out_stream(&out, file);
    ovl_run_options options = {.interference = OVL_INTERFERENCE_SHARED, .segments = true};
    ovl_timeline line;
    CHECK(ovl_run(t->p, &options, &t->arena, &line, &t->errs));
    bool *ranks = OVL_NEW_ARRAY(&t->arena, bool, t->p->n_ranks);
    memset(ranks, 1, t->p->n_ranks * sizeof *ranks);
    ovl_causes causes;
    ovl_path path;
    ovl_causes_init(&causes, t->p, &line, &t->arena);
    ovl_critical_path(&causes, NULL, &t->arena, &t->arena, &path);
    ovl_trace_job job = {.program = t->p,
                         .timeline = &line,
                         .causes = &causes,
                         .ranks = ranks,
                         .critical = path.rank_on,
                         .scenario = "s"};
    ovl_trace_write(&out, &job);
    CHECK(ovl_out_close(&out) == NULL);
    fclose(file);
    ovl_causes_free(&causes);
    return text;
}

/* What a line of the trace says: "ts": in microseconds, "pid":, "bytes/s":. */
static double field(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : -1;
}

/* Bytes below the counters of a resource ("nic.out", or shared "nic.out 3"): each rate till the
 * next one of the same process and name. */
static double bytes_below(bench *t, const char *text, const char *resource)
{
    typedef struct last {
        double pid, instance, at, rate;
    } last;
    last known[16];
    uint32_t n = 0;
    double sum = 0;
    const char *name = ovl_arena_printf(&t->arena, "\"name\": \"%s", resource);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        const char *begin = at;
        while (begin > text && begin[-1] != '\n') {
            begin--;
        }
        const char *line = ovl_arena_strndup(&t->arena, begin, strcspn(begin, "\n"));
        last now = {field(line, "\"pid\": "), strtod(at + strlen(name), NULL),
                    field(line, "\"ts\": "), field(line, "{\"bytes/s\": ")};
        uint32_t i = 0;
        while (i < n && (known[i].pid != now.pid || known[i].instance != now.instance)) {
            i++;
        }
        if (now.rate < 0 || i == OVL_COUNT(known)) {
            continue; /* "nic.out: at once" */
        }
        sum += i < n ? known[i].rate * (now.at - known[i].at) / 1e6 : 0;
        n += i == n;
        known[i] = now;
    }
    return sum;
}

/* 0.1 %: a slice begins at a whole nanosecond. */
static void check_sums(const char *yaml, double nic_bytes)
{
    bench t = {0};
    uint32_t found = 0;
    CHECK(lower(&t, yaml, NULL) && analyse(&t));
    char *text = trace_of(&t);
    for (uint32_t i = 0; i < t.result.n_resources; i++) {
        const ovl_result_resource *r = &t.result.resources[i];
        double total = (double)r->total;
        CHECK_NEAR(bytes_below(&t, text, r->name), total, total / 1000);
        if (strcmp(r->name, "nic.out") == 0) {
            CHECK_NEAR(total, nic_bytes, nic_bytes / 1000);
            found++;
        }
    }
    CHECK_INT(found, 1);
    free(text);
    finish(&t);
}

/* Each sends 10 MB to each other. Out of node 0 go 10 MB of rank 0 and of rank 1, out of node 1 2 x
 * 10 MB of rank 2: 40 MB in 2 ms, in which rank 2's NIC carries 10 GB/s and those of ranks 0 and 1
 * 5 each. With one NIC a node: 20 MB out of each. */
static void members_that_lie_unevenly(void)
{
    check_sums(UNEVEN(""), 40e6);
    check_sums(UNEVEN("gpus: 2, "), 40e6);
    bench t = {0};
    CHECK(lower(&t, UNEVEN(""), NULL));
    char *text = trace_of(&t);
    CHECK_HAS(text, "\"pid\": 0, \"tid\": 0, \"ts\": 0.000, \"name\": \"nic.out\", \"args\": "
                    "{\"bytes/s\": 5000000000}}");
    CHECK_HAS(text, "\"pid\": 2, \"tid\": 2000, \"ts\": 0.000, \"name\": \"nic.out\", \"args\": "
                    "{\"bytes/s\": 10000000000}}");
    free(text);
    finish(&t);
}

/* A broadcast by a tree to three others: 3 x 10 MB, from whom has them already. */
static void members_of_other_places_in_a_tree(void)
{
    check_sums(rooted, 30e6);
}

/* Across, each rank has a half of the 30 MB, of which a ring of two nodes moves 2 x 1/2: 15 MB, so
 * 30 over the NIC of ranks 0 and 1 and 15 over each of those of 4 and 6. In the nodes 2 x 1/2 x 30
 * MB over each of four NVLinks. */
static void phases_over_nics_that_differ_in_members(void)
{
    check_sums(phases, 60e6);
}

static CU_TestInfo tests[] = {
    {"members that lie unevenly have each their own bytes", members_that_lie_unevenly},
    {"members of other places in a tree have each their own bytes",
     members_of_other_places_in_a_tree},
    {"phases have each their own bytes", phases_over_nics_that_differ_in_members},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("trace sums", tests);
}
