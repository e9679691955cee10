/*
 * bench_ring - the anchor workload "ring-overlap", through the same program and engine as every
 * scenario.
 *
 *     bench_ring RANKS LAYERS WINDOW JITTER SPINE REPEATS [MAKESPAN]
 *
 * RANKS ranks in a ring, nodes of 8. Per layer a kernel of 100 us, then a transfer of 4 MB to the
 * next rank (5 us of latency, then fair sharing of links) that overlaps the kernels of the next
 * WINDOW layers:
 *
 *     exec(r,l) starts after exec(r,l-1), comm(r,l-W), comm(r-1,l-W)
 *     comm(r,l) starts after exec(r,l) and exec(r+1,l): a send on r and a receive on r+1 that meet
 *
 * Links: out[r] 50 GB/s; fabric[node] 240 GB/s for all flows that leave a rank of the node;
 * nic[node] 50 GB/s for flows into the next node; with SPINE > 0 one link of SPINE x nodes x 50
 * GB/s for all flows between nodes. JITTER j multiplies work and bytes by 1 + j(2u - 1). Prints one
 * JSON line; run_s is the median of REPEATS runs, building left out. With MAKESPAN (seconds) it
 * fails if the makespan differs by more than 1e-6 of it. With BENCH_RING_FOLD=1 in the environment
 * ranks that do the same are simulated once: `classes` of them, found in fold_s, which belongs to
 * building. Without arguments it prints a table: 8 to
 * 1,024 ranks, 100 layers, jitter 0.1.
 */
#include "sim/fold.h"
#include "tests/bench/table.h"

#include <stdio.h>
#include <sys/resource.h>

#define NODE 8

enum { OUT = 1, FABRIC, NIC, SPINE, PORTS };

typedef struct ring {
    uint32_t ranks, layers, window;
    double jitter, spine;
    ovl_builder b;

} ring;

static double jittered(const ring *w, uint64_t rank, uint64_t layer)
{
    return 1 + w->jitter * (2 * bench_hash(rank, layer) - 1);
}

static ovl_id add_kernel_cost(ring *w, uint32_t rank, uint32_t layer)
{
    ovl_cost cost = {.work = (ovl_time)(100e6 * jittered(w, rank, layer) + 0.5)};
    return ovl_add_cost(&w->b, &cost, NULL, NULL, 0, NULL, 0);
}

/* Alone a flow runs at 50 GB/s: 20 ps a byte. */
static ovl_id add_flow_cost(ring *w, uint32_t rank, uint32_t layer)
{
    const uint64_t rate = 50000000000u;
    uint64_t bytes = (uint64_t)(4e6 * jittered(w, rank, layer + 1000003u));
    ovl_cost cost = {.latency = 5 * OVL_US, .work = (ovl_time)bytes * 20};
    ovl_cost_kind kind = {.klass = OVL_NONE, .weight = 1 / 50e9};
    bool leaves = (rank + 1) % NODE == 0 || rank + 1 == w->ranks;
    ovl_demand demands[] = {
        {OUT, false, rate}, {FABRIC, false, rate}, {NIC, false, rate}, {SPINE, false, rate}};
    uint32_t n = leaves && w->ranks > NODE ? (w->spine > 0 ? 4 : 3) : 2;
    return ovl_add_cost(&w->b, &cost, &kind, demands, n, NULL, 0);
}

/* What an operation of the code costs on each rank. */
static void set_costs(ring *w, ovl_id (*add)(ring *, uint32_t, uint32_t), uint32_t layer,
                      ovl_op *op)
{
    ovl_id first = w->b.costs.len;
    for (uint32_t r = 0; r < w->ranks; r++) {
        add(w, r, layer);
    }
    op->cost = ovl_store_costs_once(&w->b, first, &op->per_rank);
}

/* Slots 0..W-1 lead to the next rank, W..2W-1 to the one before: transfers of different layers do
 * not wait for each other. */
static void build_code(ring *w)
{
    ovl_id code = ovl_add_code(&w->b);
    for (uint32_t i = 0; i < 2 * w->window; i++) {
        ovl_add_slot(&w->b, code);
    }
    uint16_t compute = ovl_add_stream(&w->b, code, "compute");
    ovl_id exec = ovl_name(&w->b, "exec"), comm = ovl_name(&w->b, "comm");
    for (uint32_t l = 0; l < w->layers; l++) {
        ovl_op op = {.kind = OVL_KERNEL,
                     .stream = compute,
                     .comm = OVL_NO_COMM,
                     .name = exec,
                     .batch = OVL_NONE,
                     .bytes = 4000000};
        set_costs(w, add_kernel_cost, l, &op);
        uint32_t at = ovl_add_op(&w->b, code, &op);
        if (l >= w->window) {
            ovl_add_after(&w->b, code, at - 3 * w->window + 1);
            ovl_add_after(&w->b, code, at - 3 * w->window + 2);
        }
        op.kind = OVL_SEND;
        op.stream = OVL_NO_STREAM;
        op.name = comm;
        set_costs(w, add_flow_cost, l, &op);
        op.comm = (uint16_t)(l % w->window);
        op.peer = 1;
        ovl_add_op(&w->b, code, &op);
        ovl_add_after(&w->b, code, at);
        op.kind = OVL_RECV;
        op.comm = (uint16_t)(w->window + l % w->window);
        op.peer = 0;
        ovl_add_op(&w->b, code, &op);
        ovl_add_after(&w->b, code, at);
    }
}

static ovl_id add_link(ring *w, const char *name, uint32_t instance, double capacity)
{
    return ovl_add_resource(&w->b, &(ovl_resource){ovl_name(&w->b, name), OVL_RES_LINK, instance,
                                                   (uint64_t)(capacity + 0.5)});
}

static void add_ranks(ring *w, ovl_arena *arena)
{
    uint32_t nodes = (w->ranks + NODE - 1) / NODE;
    ovl_id spine = w->spine > 0 ? add_link(w, "spine", 0, w->spine * nodes * 50e9) : OVL_NONE;
    ovl_id fabric = OVL_NONE, nic = OVL_NONE;
    ovl_id *pairs = OVL_NEW_ARRAY(arena, ovl_id, (size_t)w->ranks * w->window);
    ovl_id name = ovl_name(&w->b, "pair");
    for (uint32_t r = 0; r < w->ranks; r++) {
        uint32_t members[] = {r, (r + 1) % w->ranks};
        for (uint32_t i = 0; i < w->window; i++) {
            pairs[r * w->window + i] = ovl_add_comm(&w->b, name, members, 2);
        }
    }
    ovl_id *comms = OVL_NEW_ARRAY(arena, ovl_id, 2 * w->window);
    for (uint32_t r = 0; r < w->ranks; r++) {
        if (r % NODE == 0) {
            fabric = add_link(w, "fabric", r / NODE, 0.6 * NODE * 50e9);
            nic = add_link(w, "nic", r / NODE, 50e9);
        }
        ovl_id ports[PORTS] = {OVL_NONE, add_link(w, "out", r, 50e9), fabric, nic, spine};
        for (uint32_t i = 0; i < w->window; i++) {
            comms[i] = pairs[r * w->window + i];
            comms[w->window + i] = pairs[(r + w->ranks - 1) % w->ranks * w->window + i];
        }
        ovl_add_rank(&w->b, 0, r, comms, ports);
    }
}

static bool build_ring(ring *w, ovl_arena *arena, ovl_program *p, ovl_errs *errs)
{
    ovl_builder_init(&w->b, arena);
    w->b.n_ports = PORTS;
    build_code(w);
    add_ranks(w, arena);
    return ovl_freeze(&w->b, p, errs) && ovl_number_ops(p, arena, errs);
}

static bool build_row(uint32_t size, ovl_arena *arena, ovl_program *p, ovl_errs *errs)
{
    ring w = {.ranks = size, .layers = 100, .window = 4, .jitter = 0.1};
    return build_ring(&w, arena, p, errs);
}

static int print_table(void)
{
    static const bench_case cases[] = {
        {"ring-overlap", 8, build_row},
        {"ring-overlap", 64, build_row},
        {"ring-overlap", 512, build_row},
        {"ring-overlap", 1024, build_row},
    };
    return bench_table(cases, OVL_COUNT(cases), 5);
}

/* One line of JSON with the keys of the same workload on SimGrid. */
static int print_run(ring *w, uint32_t repeats, double want)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_program p;
    if (!build_ring(w, &arena, &p, &errs)) {
        fprintf(stderr, "%s\n", errs.items[0].text);
        return 1;
    }
    ovl_fold fold;
    ovl_program chosen;
    const char *folds = getenv("BENCH_RING_FOLD");
    double start = bench_seconds();
    if (!ovl_fold_choose(&p, !folds || *folds != '1', &arena, &fold, &chosen, &errs)) {
        fprintf(stderr, "%s\n", errs.items[0].text);
        return 1;
    }
    double fold_s = bench_seconds() - start;
    bench_result r = bench_measure(&chosen, repeats);
    uint64_t activities = 2 * (uint64_t)w->ranks * w->layers;
    double makespan = (double)r.step * 1e-12;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"ranks\":%" PRIu32 ",\"layers\":%" PRIu32 ",\"window\":%" PRIu32
           ",\"jitter\":%g,\"spine\":%g,\"activities\":%" PRIu64
           ",\"makespan\":%.9f,\"run_s\":%.6f,\"acts_per_s\":%.0f,\"maxrss_mib\":%.1f",
           w->ranks, w->layers, w->window, w->jitter, w->spine, activities, makespan, r.seconds,
           (double)activities / r.seconds, (double)usage.ru_maxrss / 1024);
    if (chosen.fold) {
        printf(",\"classes\":%" PRIu32 ",\"fold_s\":%.6f", chosen.n_ranks, fold_s);
    }
    printf("}\n");
    ovl_arena_free(&arena);
    return r.seconds < 0 ||
           (want > 0 && (makespan < want * (1 - 1e-6) || makespan > want * (1 + 1e-6)));
}

/* A whole number from `least` to `most`. */
static bool read_count(const char *text, uint32_t least, uint32_t most, uint32_t *count)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    *count = (uint32_t)value;
    return *text >= '0' && *text <= '9' && *end == '\0' && value >= least && value <= most;
}

/* A number from 0 to `most`. */
static bool read_number(const char *text, double most, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && *number >= 0 && *number <= most;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: bench_ring RANKS LAYERS WINDOW JITTER SPINE REPEATS [MAKESPAN]\n"
            "RANKS from 2 on, LAYERS and WINDOW from 1 on, JITTER 0 to 0.9, SPINE from 0 on,\n"
            "REPEATS 1 to 64, MAKESPAN in seconds\n");
    return 2;
}

int main(int argc, char **argv)
{
    ring w = {0};
    uint32_t repeats;
    double makespan = 0;
    if (argc == 1) {
        return print_table();
    }
    if (argc != 7 && argc != 8) {
        return usage();
    }
    bool good =
        read_count(argv[1], 2, 1u << 20, &w.ranks) && read_count(argv[2], 1, 1u << 20, &w.layers) &&
        read_count(argv[3], 1, 1u << 10, &w.window) && read_number(argv[4], 0.9, &w.jitter) &&
        read_number(argv[5], 1e6, &w.spine) && read_count(argv[6], 1, 64, &repeats) &&
        (argc == 7 || read_number(argv[7], 1e6, &makespan));
    return good ? print_run(&w, repeats, makespan) : usage();
}
