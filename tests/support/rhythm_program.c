#include "tests/support/rhythm_program.h"

#include "tests/support/random_program.h"

#include <stdio.h>

#define RANKS_MAX   6
#define AHEAD_MAX   4
#define STREAMS_MAX 4

enum { ALL, BEFORE, BEHIND, SLOTS };

/* What is drawn once and then the same in every block. */
typedef struct rhythm {
    ovl_builder b;
    uint64_t random;
    uint32_t n_ranks, n_blocks;
    uint32_t ahead, limit,
        steps; /* gathers ahead; of how many layers ago the host waits, 0: none */
    uint32_t odd_rank, odd_block, every; /* who is slower, from where on, in every how manieth */
    ovl_time launch, slower;
    ovl_time gather, forward, backward, reduce, send;
    uint64_t memory, wire;    /* demands */
    uint32_t phases;          /* of collectives, 1 at least */
    uint32_t last[RANKS_MAX]; /* operations so far - 1 */
    uint32_t gathered[RANKS_MAX][AHEAD_MAX], computed[RANKS_MAX][AHEAD_MAX];
    uint32_t chunks;       /* of each rank, looped */
    bool rendezvous, held; /* a message is received when the chunk before has had its microbatch */
    bool first_gathers;    /* all kernels need what is gathered before the first */
    uint32_t spares;       /* one operation of so many waits once more for what one before it on its
                              stream waited for; 0: none */
    uint16_t stream[RANKS_MAX];              /* of the last operation */
    uint32_t waited[RANKS_MAX][STREAMS_MAX]; /* for what one of the stream waited last, + 1 */
} rhythm;

static uint32_t draw(rhythm *y, uint32_t below)
{
    return random_next(&y->random) % below;
}

/* Mostly round, so that things coincide. */
static ovl_time duration(rhythm *y, uint32_t most)
{
    ovl_time us = 1 + (ovl_time)draw(y, most);
    return draw(y, 3) ? us * OVL_US : us * OVL_US + (ovl_time)draw(y, 1000000);
}

static uint16_t on(rhythm *y, uint32_t rank, const char *stream)
{
    return ovl_add_stream(&y->b, rank, stream);
}

static uint32_t add(rhythm *y, uint32_t rank, ovl_op op, const ovl_cost *cost, uint64_t memory,
                    uint64_t wire)
{
    ovl_demand own[] = {{OVL_PORT_HBM, false, memory}, {1, false, wire}};
    ovl_demand peer[] = {{OVL_PORT_HBM, false, memory}, {2, false, wire}};
    bool message = op.kind == OVL_SEND || op.kind == OVL_RECV;
    op.name = ovl_name(&y->b, "op");
    op.cost =
        ovl_add_cost(&y->b, cost, NULL, own, op.kind == OVL_KERNEL ? 1 : 2, peer, message ? 2 : 0);
    op.launch = op.kind == OVL_HOST ? 0 : y->launch;
    op.batch = OVL_NONE;
    y->last[rank] = ovl_add_op(&y->b, rank, &op);
    y->stream[rank] = op.stream;
    if (op.stream < STREAMS_MAX && y->waited[rank][op.stream] && y->spares &&
        draw(y, y->spares) == 0) {
        ovl_add_after(&y->b, rank, y->waited[rank][op.stream] - 1);
    }
    return y->last[rank];
}

static uint32_t add_kernel(rhythm *y, uint32_t rank, uint32_t block, ovl_time work)
{
    bool odd = rank == y->odd_rank && block >= y->odd_block && block % y->every == 0;
    ovl_cost cost = {.work = work + (odd ? y->slower : 0)};
    ovl_op op = {.kind = OVL_KERNEL, .stream = on(y, rank, "compute"), .comm = OVL_NO_COMM};
    uint32_t kernel = add(y, rank, op, &cost, y->memory, 0);
    if (y->first_gathers) {
        ovl_add_after(&y->b, rank, 0);
    }
    return kernel;
}

static uint32_t add_collective(rhythm *y, uint32_t rank, const char *stream, ovl_time work)
{
    ovl_cost cost = {.latency = OVL_US, .work = work};
    for (uint32_t i = 1; i < y->phases; i++) { /* one on the wire, one off it */
        ovl_demand wire = {1, false, y->wire};
        ovl_cost phase = {.latency = i % 2 ? 0 : OVL_US, .work = work / 2, .then = cost.then};
        cost.then = ovl_add_phase(&y->b, &phase, NULL, &wire, i % 2);
    }
    ovl_op op = {.kind = OVL_COLLECTIVE,
                 .coll = OVL_ALL_GATHER,
                 .stream = on(y, rank, stream),
                 .comm = ALL,
                 .bytes = 1000};
    return add(y, rank, op, &cost, 100, y->wire);
}

static uint32_t add_message(rhythm *y, uint32_t rank, ovl_op_kind kind, uint16_t slot)
{
    ovl_cost cost = {.latency = OVL_US, .work = y->send};
    ovl_op op = {.kind = (uint8_t)kind,
                 .stream = on(y, rank, kind == OVL_SEND ? "send" : "recv"),
                 .comm = slot,
                 .peer = slot == BEHIND, /* places: the one before, the one behind */
                 .eager = !y->rendezvous,
                 .bytes = 1000};
    return add(y, rank, op, &cost, 50, y->wire);
}

static void after(rhythm *y, uint32_t rank, uint32_t before)
{
    ovl_add_after(&y->b, rank, before);
    if (y->stream[rank] < STREAMS_MAX) {
        y->waited[rank][y->stream[rank]] = before + 1;
    }
}

static void end_step(rhythm *y, uint32_t rank)
{
    ovl_op op = {.kind = OVL_MARKER,
                 .stream = on(y, rank, "compute"),
                 .comm = OVL_NO_COMM,
                 .step_end = true};
    add(y, rank, op, &(ovl_cost){0}, 0, 0);
}

/* --- Sharded layers --- */

/* The host waits until a layer of some time ago is through. */
static void wait_for_layer(rhythm *y, uint32_t rank, uint32_t layer)
{
    if (y->limit && layer >= y->limit) {
        ovl_op op = {.kind = OVL_HOST, .stream = OVL_NO_STREAM, .comm = OVL_NO_COMM};
        add(y, rank, op, &(ovl_cost){0}, 0, 0);
        after(y, rank, y->computed[rank][(layer - y->limit) % AHEAD_MAX]);
    }
}

static void gather_layer(rhythm *y, uint32_t rank, uint32_t layer)
{
    wait_for_layer(y, rank, layer);
    y->gathered[rank][layer % AHEAD_MAX] = add_collective(y, rank, "gather", y->gather);
}

static void add_layers(rhythm *y, uint32_t rank)
{
    for (uint32_t i = 0; i < y->ahead; i++) {
        y->gathered[rank][i] = add_collective(y, rank, "gather", y->gather);
    }
    for (uint32_t i = 0; i < y->n_blocks; i++) {
        if (i + y->ahead < y->n_blocks) {
            gather_layer(y, rank, i + y->ahead);
        }
        uint32_t kernel = add_kernel(y, rank, i, y->forward);
        after(y, rank, y->gathered[rank][i % AHEAD_MAX]);
        y->computed[rank][i % AHEAD_MAX] = kernel;
        if (y->reduce) {
            add_collective(y, rank, "reduce", y->reduce);
            after(y, rank, kernel);
        }
        if (y->steps && (i + 1) % y->steps == 0) {
            end_step(y, rank);
        }
    }
}

/* --- Pipelines --- */

static void pass(rhythm *y, uint32_t rank, uint32_t microbatch, bool forward)
{
    uint16_t from = forward ? BEFORE : BEHIND, to = forward ? BEHIND : BEFORE;
    bool first = forward ? rank == 0 : rank + 1 == y->n_ranks;
    bool last = forward ? rank + 1 == y->n_ranks : rank == 0;
    uint32_t got = first ? OVL_NONE : add_message(y, rank, OVL_RECV, from);
    uint32_t kernel = add_kernel(y, rank, microbatch, forward ? y->forward : y->backward);
    if (got != OVL_NONE) {
        after(y, rank, got);
    }
    if (!last) {
        add_message(y, rank, OVL_SEND, to);
        after(y, rank, kernel);
    }
}

static void add_microbatches(rhythm *y, uint32_t rank)
{
    uint32_t fill = OVL_MIN(y->n_ranks - 1 - rank + y->ahead, y->n_blocks);
    for (uint32_t i = 0; i < fill; i++) {
        pass(y, rank, i, true);
    }
    for (uint32_t i = 0; i < y->n_blocks; i++) {
        if (i + fill < y->n_blocks) {
            pass(y, rank, i + fill, true);
        }
        pass(y, rank, i, false);
    }
    if (y->reduce) {
        add_collective(y, rank, "reduce", y->reduce);
    }
}

/* --- Looped pipelines --- */

/* All microbatches of a chunk, then those of the next, which goes from the last rank to the first:
 * that receives them while it is at the chunk before, three operations a microbatch further where
 * it computes and sends two. */
static void add_chunks(rhythm *y, uint32_t rank)
{
    OVL_VEC(uint32_t) kernels = {0};
    for (uint32_t i = 0; i < y->chunks * y->n_blocks; i++) {
        bool first = rank == 0 && i < y->n_blocks;
        bool last = rank + 1 == y->n_ranks && i >= (y->chunks - 1) * y->n_blocks;
        uint32_t got = first ? OVL_NONE : add_message(y, rank, OVL_RECV, BEFORE);
        if (!first && y->held && i >= y->n_blocks) {
            after(y, rank, kernels.data[i - y->n_blocks]);
        }
        uint32_t kernel = add_kernel(y, rank, i % y->n_blocks, y->forward);
        ovl_vec_push(&kernels, kernel);
        if (!first) {
            after(y, rank, got);
        }
        if (!last) {
            add_message(y, rank, OVL_SEND, BEHIND);
            after(y, rank, kernel);
        }
    }
    ovl_vec_free(&kernels);
}

/* --- Hardware --- */

/* With its own memory, or that of all; some links are slower for a while. */
static void add_ranks(rhythm *y)
{
    uint32_t all[RANKS_MAX];
    bool shared = draw(y, 4) == 0, changes = draw(y, 4) == 0;
    ovl_id hbm[RANKS_MAX], wire[2][RANKS_MAX], pairs[RANKS_MAX + 1];
    for (uint32_t r = 0; r < y->n_ranks; r++) {
        ovl_resource memory = {ovl_name(&y->b, "hbm"), OVL_RES_HBM, r, 1000};
        ovl_resource link = {ovl_name(&y->b, "link"), OVL_RES_LINK, r, 150};
        all[r] = r;
        hbm[r] = shared && r ? hbm[0] : ovl_add_resource(&y->b, &memory);
        wire[0][r] = ovl_add_resource(&y->b, &link);
        wire[1][r] = ovl_add_resource(&y->b, &link);
    }
    if (changes) {
        ovl_time from = (ovl_time)(100 + draw(y, 400)) * OVL_US;
        ovl_change_capacity(&y->b, wire[0][0], from, 40);
        ovl_change_capacity(&y->b, wire[0][0], from + 150 * OVL_US, 150);
    }
    ovl_id everybody = ovl_add_comm(&y->b, ovl_name(&y->b, "all"), all, y->n_ranks);
    for (uint32_t r = 0; r <= y->n_ranks; r++) {
        uint32_t two[] = {r ? r - 1 : 0, r}, n = r && r < y->n_ranks ? 2 : 1;
        pairs[r] = ovl_add_comm(&y->b, ovl_name(&y->b, "pair"), two, n);
    }
    if (y->chunks) {
        uint32_t ends[] = {y->n_ranks - 1, 0};
        pairs[0] = pairs[y->n_ranks] = ovl_add_comm(&y->b, ovl_name(&y->b, "pair"), ends, 2);
    }
    for (uint32_t r = 0; r < y->n_ranks; r++) {
        ovl_id comms[SLOTS] = {everybody, pairs[r], pairs[r + 1]};
        ovl_id ports[] = {hbm[r], wire[0][r], wire[1][r]};
        ovl_add_rank(&y->b, r, 0, comms, ports);
    }
}

static void set_up(rhythm *y)
{
    y->b.n_ports = 3;
    y->n_ranks = 2 + draw(y, RANKS_MAX - 1);
    y->ahead = draw(y, AHEAD_MAX);
    y->limit = draw(y, AHEAD_MAX);
    y->steps = draw(y, 3) ? 0 : 2 + draw(y, 8);
    y->odd_rank = draw(y, 2 * RANKS_MAX);
    y->odd_block = draw(y, 2) * draw(y, y->n_blocks);
    y->every = 1 + draw(y, 3);
    y->launch = draw(y, 2) ? 0 : duration(y, 3);
    y->slower = duration(y, 4);
    y->gather = duration(y, 10);
    y->forward = duration(y, 10);
    y->backward = duration(y, 20);
    y->reduce = draw(y, 2) ? duration(y, 12) : 0;
    y->send = duration(y, 4);
    y->memory = draw(y, 1200);
    y->wire = draw(y, 120);
    y->phases = draw(y, 3) ? 1 : 2 + draw(y, 2);
    y->first_gathers = draw(y, 3) == 0;
    y->spares = draw(y, 2) ? 0 : 2 + draw(y, 3);
    for (uint32_t r = 0; r < y->n_ranks; r++) {
        ovl_add_code(&y->b);
        for (uint32_t s = 0; s < SLOTS; s++) {
            ovl_add_slot(&y->b, r);
        }
    }
}

ovl_program rhythm_program(const rhythm_options *options, ovl_arena *arena)
{
    rhythm y = {.random = options->seed * 2654435761u + 5, .n_blocks = options->n_blocks};
    ovl_builder_init(&y.b, arena);
    set_up(&y);
    if (options->kind == RHYTHM_LOOPED) {
        y.chunks = 2 + draw(&y, 2);
        y.rendezvous = draw(&y, 2);
        y.held = draw(&y, 4) == 0;
    }
    for (uint32_t r = 0; r < y.n_ranks; r++) {
        if (y.first_gathers) {
            add_collective(&y, r, "first", y.gather);
        }
        if (options->kind == RHYTHM_SHARDED) {
            add_layers(&y, r);
        } else if (options->kind == RHYTHM_PIPELINE) {
            add_microbatches(&y, r);
        } else {
            add_chunks(&y, r);
        }
    }
    add_ranks(&y);
    ovl_program p = {0};
    ovl_errs errs = {.arena = arena};
    bool good = ovl_freeze(&y.b, &p, &errs);
    if (!good) {
        fprintf(stderr, "%s\n", errs.items[0].text);
    }
    assert(good);
    (void)good;
    return p;
}
