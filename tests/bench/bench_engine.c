/*
 * bench_engine - what sharing costs the engine, from nothing to everything.
 *
 *     independent   streams of 100 kernels that share nothing: events alone
 *     ten-million   1,000 operations on each of 10,000 ranks: is the announced memory kept?
 *     all-share     streams of 20 kernels, all alike but for their length, on one resource
 *     all-differ    the same, but each demands another amount: as many classes as streams
 *     gang          one collective at a time over all ranks, among busy compute streams that share
 *                   HBM with it: 20 layers
 *
 * The size is the number of streams, each on a rank of its own.
 */
#include "tests/bench/table.h"

#define HBM 2000000000000u

typedef struct shape {
    uint32_t layers;
    uint64_t capacity; /* of the resource of a rank, or of all; 0: none */
    bool one;          /* all ranks use one resource */
    bool differ, collective;
    bool alike; /* every rank takes the same time */
} shape;

static ovl_id add_costs(ovl_builder *b, const shape *s, uint32_t n_ranks, uint32_t layer)
{
    ovl_id first = b->costs.len;
    for (uint32_t r = 0; r < (s->alike ? 1 : n_ranks); r++) {
        uint64_t rate = HBM / 2 + (s->differ ? (uint64_t)(1e11 * bench_hash(r, 7)) : 0);
        ovl_cost cost = {.work = (ovl_time)(100e6 * (0.9 + 0.2 * bench_hash(r, layer)))};
        ovl_cost_kind kind = {.klass = OVL_NONE, .weight = 1 / (double)rate};
        ovl_demand demand = {OVL_PORT_HBM, false, rate};
        ovl_add_cost(b, &cost, &kind, &demand, s->capacity > 0, NULL, 0);
    }
    return first;
}

static void add_collective(ovl_builder *b, ovl_id code, uint32_t after)
{
    ovl_demand demand = {OVL_PORT_HBM, false, HBM * 3 / 4};
    ovl_cost cost = {.latency = 5 * OVL_US, .work = 50 * OVL_US};
    ovl_cost_kind kind = {.klass = OVL_NONE, .weight = 1 / (double)demand.rate};
    ovl_op op = {.kind = OVL_COLLECTIVE,
                 .coll = OVL_ALL_REDUCE,
                 .stream = ovl_add_stream(b, code, "comm"),
                 .comm = 0,
                 .name = ovl_name(b, "all_reduce"),
                 .cost = ovl_add_cost(b, &cost, &kind, &demand, 1, NULL, 0),
                 .batch = OVL_NONE,
                 .bytes = 1000000};
    ovl_add_op(b, code, &op);
    ovl_add_after(b, code, after);
}

static void add_code(ovl_builder *b, const shape *s, uint32_t n_ranks)
{
    ovl_id code = ovl_add_code(b);
    if (s->collective) {
        ovl_add_slot(b, code);
    }
    for (uint32_t layer = 0; layer < s->layers; layer++) {
        ovl_op op = {.kind = OVL_KERNEL,
                     .stream = ovl_add_stream(b, code, "compute"),
                     .comm = OVL_NO_COMM,
                     .name = ovl_name(b, "kernel"),
                     .cost = add_costs(b, s, n_ranks, layer),
                     .per_rank = !s->alike,
                     .batch = OVL_NONE};
        uint32_t kernel = ovl_add_op(b, code, &op);
        if (s->collective) {
            add_collective(b, code, kernel);
        }
    }
}

static bool build(const shape *s, uint32_t n_ranks, ovl_arena *arena, ovl_program *program,
                  ovl_errs *errs)
{
    ovl_builder b;
    ovl_builder_init(&b, arena);
    uint32_t *ranks = OVL_NEW_ARRAY(arena, uint32_t, n_ranks);
    ovl_id comm = OVL_NONE, port = OVL_NONE, name = ovl_name(&b, "hbm");
    add_code(&b, s, n_ranks);
    for (uint32_t r = 0; r < n_ranks; r++) {
        ranks[r] = r;
    }
    if (s->collective) {
        comm = ovl_add_comm(&b, ovl_name(&b, "world"), ranks, n_ranks);
    }
    for (uint32_t r = 0; r < n_ranks; r++) {
        if (s->capacity && (r == 0 || !s->one)) {
            ovl_resource resource = {name, OVL_RES_HBM, r, s->capacity};
            port = ovl_add_resource(&b, &resource);
        }
        ovl_add_rank(&b, 0, r, &comm, &port);
    }
    return ovl_freeze(&b, program, errs);
}

static bool independent(uint32_t size, ovl_arena *arena, ovl_program *p, ovl_errs *errs)
{
    return build(&(shape){.layers = 100}, size, arena, p, errs);
}

/* 1,000 operations a rank: 10 million on 10,000. */
static bool long_code(uint32_t size, ovl_arena *arena, ovl_program *p, ovl_errs *errs)
{
    return build(&(shape){.layers = 1000, .alike = true}, size, arena, p, errs);
}

static bool all_share(uint32_t size, ovl_arena *arena, ovl_program *p, ovl_errs *errs)
{
    return build(&(shape){.layers = 20, .capacity = HBM, .one = true}, size, arena, p, errs);
}

static bool all_differ(uint32_t size, ovl_arena *arena, ovl_program *p, ovl_errs *errs)
{
    return build(&(shape){.layers = 20, .capacity = HBM, .one = true, .differ = true}, size, arena,
                 p, errs);
}

static bool gang(uint32_t size, ovl_arena *arena, ovl_program *p, ovl_errs *errs)
{
    return build(&(shape){.layers = 20, .capacity = HBM, .collective = true}, size, arena, p, errs);
}

int main(void)
{
    static const bench_case cases[] = {
        {"independent", 64, independent},
        {"independent", 1024, independent},
        {"independent", 8192, independent},
        {"ten-million", 10000, long_code},
        {"all-share", 64, all_share},
        {"all-share", 1024, all_share},
        {"all-share", 4096, all_share},
        {"all-differ", 64, all_differ},
        {"all-differ", 1024, all_differ},
        {"gang", 64, gang},
        {"gang", 1024, gang},
        {"gang", 4096, gang},
    };
    return bench_table(cases, OVL_COUNT(cases), 5);
}
