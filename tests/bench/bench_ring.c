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
 * JSON line; run_s is the median of REPEATS runs, building left out. With BENCH_RING_FOLD=1 in the
 * environment ranks that do the same are simulated once: `classes` of them, found in fold_s, which
 * belongs to building. With MAKESPAN (seconds) it
 * fails if the makespan differs by more than 1e-6 of it.
 */
#include "sim/fold.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#define NODE 8

enum { OUT = 1, FABRIC, NIC, SPINE, PORTS };

typedef struct ring {
    uint32_t ranks, layers, window;
    double jitter, spine;
    ovl_builder b;

} ring;

static double unit_hash(uint64_t a, uint64_t b)
{
    uint64_t z = a * 0x9E3779B97F4A7C15u + b * 0xD1B54A32D192ED03u + 0x2545F4914F6CDD1Du;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

static double jittered(const ring *w, uint64_t rank, uint64_t layer)
{
    return 1 + w->jitter * (2 * unit_hash(rank, layer) - 1);
}

static ovl_id add_kernel_cost(ring *w, uint32_t rank, uint32_t layer)
{
    ovl_cost cost = {
        .klass = OVL_NONE, .weight = 1, .work = (ovl_time)(100e6 * jittered(w, rank, layer) + 0.5)};
    return ovl_add_cost(&w->b, &cost, NULL, 0, NULL, 0);
}

/* Alone a flow runs at 50 GB/s: 20 ps a byte. */
static ovl_id add_flow_cost(ring *w, uint32_t rank, uint32_t layer)
{
    const uint64_t rate = 50000000000u;
    uint64_t bytes = (uint64_t)(4e6 * jittered(w, rank, layer + 1000003u));
    ovl_cost cost = {
        .klass = OVL_NONE, .weight = 1 / 50e9, .latency = 5 * OVL_US, .work = (ovl_time)bytes * 20};
    bool leaves = (rank + 1) % NODE == 0 || rank + 1 == w->ranks;
    ovl_demand demands[] = {
        {OUT, false, rate}, {FABRIC, false, rate}, {NIC, false, rate}, {SPINE, false, rate}};
    uint32_t n = leaves && w->ranks > NODE ? (w->spine > 0 ? 4 : 3) : 2;
    return ovl_add_cost(&w->b, &cost, demands, n, NULL, 0);
}

static ovl_id add_costs(ring *w, ovl_id (*add)(ring *, uint32_t, uint32_t))
{
    ovl_id first = w->b.costs.len;
    for (uint32_t l = 0; l < w->layers; l++) {
        for (uint32_t r = 0; r < w->ranks; r++) {
            add(w, r, l);
        }
    }
    return first;
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
    ovl_id kernels = add_costs(w, add_kernel_cost), flows = add_costs(w, add_flow_cost);
    for (uint32_t l = 0; l < w->layers; l++) {
        ovl_op op = {.kind = OVL_KERNEL,
                     .stream = compute,
                     .comm = OVL_NO_COMM,
                     .name = exec,
                     .cost = kernels + l * w->ranks,
                     .per_rank = true,
                     .batch = OVL_NONE,
                     .bytes = 4000000};
        uint32_t at = ovl_add_op(&w->b, code, &op);
        if (l >= w->window) {
            ovl_add_after(&w->b, code, at - 3 * w->window + 1);
            ovl_add_after(&w->b, code, at - 3 * w->window + 2);
        }
        op.kind = OVL_SEND;
        op.stream = OVL_NO_STREAM;
        op.name = comm;
        op.cost = flows + l * w->ranks;
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

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Gives the median seconds of `repeats` runs and the makespan; -1 if it cannot run. */
static double measure(const ovl_program *p, uint32_t repeats, double *makespan, uint64_t *solved)
{
    double times[64];
    for (uint32_t i = 0; i < repeats; i++) {
        ovl_arena arena = {0};
        ovl_errs errs = {.arena = &arena};
        ovl_timeline t;
        ovl_run_options options = {.interference = OVL_INTERFERENCE_SHARED, .free_name = OVL_NONE};
        double start = seconds();
        if (!ovl_run(p, &options, &arena, &t, &errs)) {
            fprintf(stderr, "%s\n", errs.items[0].text);
            return -1;
        }
        times[i] = seconds() - start;
        *makespan = (double)t.step * 1e-12;
        *solved = t.counters.solved;
        ovl_arena_free(&arena);
    }
    qsort(times, repeats, sizeof *times, compare);
    return times[repeats / 2];
}

int main(int argc, char **argv)
{
    ring w = {.ranks = 64, .layers = 100, .window = 4, .jitter = 0.1, .spine = 0};
    uint32_t repeats = 3;
    if (argc == 7 || argc == 8) {
        w = (ring){.ranks = (uint32_t)strtoul(argv[1], NULL, 10),
                   .layers = (uint32_t)strtoul(argv[2], NULL, 10),
                   .window = (uint32_t)strtoul(argv[3], NULL, 10),
                   .jitter = strtod(argv[4], NULL),
                   .spine = strtod(argv[5], NULL)};
        repeats = (uint32_t)OVL_MIN(OVL_MAX(strtoul(argv[6], NULL, 10), 1), 64);
    } else if (argc != 1) {
        fprintf(stderr, "usage: bench_ring RANKS LAYERS WINDOW JITTER SPINE REPEATS [MAKESPAN]\n");
        return 2;
    }
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_program p;
    ovl_builder_init(&w.b, &arena);
    w.b.n_ports = PORTS;
    build_code(&w);
    add_ranks(&w, &arena);
    if (!ovl_freeze(&w.b, &p, &errs)) {
        fprintf(stderr, "%s\n", errs.items[0].text);
        return 1;
    }
    double makespan = 0, start = seconds();
    uint64_t solved = 0;
    ovl_fold fold;
    ovl_program chosen;
    const char *folds = getenv("BENCH_RING_FOLD");
    if (!ovl_fold_choose(&p, !folds || *folds != '1', &arena, &fold, &chosen, &errs)) {
        fprintf(stderr, "%s\n", errs.items[0].text);
        return 1;
    }
    double fold_s = seconds() - start;
    double run = measure(&chosen, repeats, &makespan, &solved);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    uint64_t activities = 2 * (uint64_t)w.ranks * w.layers;
    printf("{\"ranks\":%" PRIu32 ",\"layers\":%" PRIu32 ",\"window\":%" PRIu32
           ",\"jitter\":%g,\"spine\":%g,\"activities\":%" PRIu64
           ",\"makespan\":%.9f,\"run_s\":%.6f,\"acts_per_s\":%.0f,\"maxrss_mib\":%.1f",
           w.ranks, w.layers, w.window, w.jitter, w.spine, activities, makespan, run,
           (double)activities / run, (double)usage.ru_maxrss / 1024);
    if (chosen.fold) {
        printf(",\"classes\":%" PRIu32 ",\"fold_s\":%.6f", chosen.n_ranks, fold_s);
    }
    printf("}\n");
    ovl_arena_free(&arena);
    double want = argc == 8 ? strtod(argv[7], NULL) : makespan;
    return run < 0 || makespan < want * (1 - 1e-6) || makespan > want * (1 + 1e-6);
}
