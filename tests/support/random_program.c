#include "tests/support/random_program.h"

#include <stdio.h>

#define RANKS_MAX 32
#define STREAMS   3

uint32_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

typedef struct drawing {
    const random_options *options;
    ovl_builder b;
    uint64_t random;
    uint32_t count[RANKS_MAX];   /* operations of each rank so far */
    uint32_t buffers[RANKS_MAX]; /* of each code */
    bool all_slot, pair_slot;
} drawing;

static uint32_t draw(drawing *d, uint32_t below)
{
    return random_next(&d->random) % below;
}

static ovl_id named(drawing *d, const char *kind)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s %" PRIu32, d->options->prefix, kind, draw(d, 40));
    return ovl_name(&d->b, text);
}

static uint16_t stream(drawing *d, uint32_t rank, uint32_t which)
{
    static const char *const names[] = {"compute", "comm", "side"};
    return ovl_add_stream(&d->b, rank, names[which]);
}

/* 0..200 us, sometimes nothing at all, sometimes round so that things coincide. */
static ovl_time duration(drawing *d)
{
    switch (draw(d, 4)) {
    case 0:
        return draw(d, 6) == 0 ? 0 : 10 * OVL_US;
    case 1:
        return (ovl_time)draw(d, 20) * 10 * OVL_US;
    default:
        return draw(d, 200000000);
    }
}

static void finish_op(drawing *d, uint32_t rank)
{
    uint32_t n = d->count[rank]++;
    for (uint32_t i = draw(d, 3); i > 0 && n > 0 && !d->options->independent; i--) {
        ovl_add_after(&d->b, rank, n - 1 - draw(d, OVL_MIN(n, 12)));
    }
    for (uint32_t i = draw(d, 3); i > 0 && !d->options->bare; i--) {
        ovl_add_access(&d->b, rank, draw(d, d->buffers[rank]), draw(d, 3) == 0);
    }
}

/* What follows the first phase of a collective, up to two; 0: mostly nothing. Drawn aside, so that
 * the rest of the program is what it is without. */
static ovl_id add_phases(drawing *d, const ovl_cost_kind *kind)
{
    uint64_t rest = d->random;
    ovl_id then = 0;
    d->random = rest * UINT64_C(6364136223846793005) + 1;
    for (uint32_t n = draw(d, 3) ? 0 : 1 + draw(d, 2); n > 0; n--) {
        ovl_cost cost = {.latency = draw(d, 3) ? (ovl_time)draw(d, 20) * OVL_US : 0, .then = then};
        ovl_cost_kind own = *kind;
        cost.work = draw(d, 6) ? duration(d) : 0;
        own.weight = 1 / (double)(1 + draw(d, 100));
        ovl_demand demands[] = {{OVL_PORT_HBM, false, draw(d, 700)},
                                {1, draw(d, 2) == 0, draw(d, 120)}};
        then = ovl_add_phase(&d->b, &cost, &own, demands, draw(d, 3));
    }
    d->random = rest;
    return then;
}

/* Drawn one after another: in an initializer the order is the compiler's. */
static ovl_id add_comm_cost(drawing *d, bool collective)
{
    ovl_cost cost = {.latency = draw(d, 3) ? (ovl_time)draw(d, 20) * OVL_US : 0};
    cost.work = duration(d);
    ovl_cost_kind kind = {.sms = draw(d, 3) ? draw(d, 24) : 0};
    kind.klass = draw(d, 3) ? draw(d, 2) : OVL_NONE;
    kind.weight = 1 / (double)(1 + draw(d, 100));
    ovl_demand own[] = {{OVL_PORT_HBM, false, draw(d, 700)}, {1, draw(d, 2) == 0, draw(d, 120)}};
    ovl_demand peer[] = {{OVL_PORT_HBM, false, draw(d, 300)}, {2, false, draw(d, 120)}};
    cost.then = collective ? add_phases(d, &kind) : 0;
    return ovl_add_cost(&d->b, &cost, &kind, own, 2, peer, 2);
}

static void add_kernel(drawing *d, uint32_t rank)
{
    ovl_cost cost = {.work = duration(d)};
    cost.compute = draw(d, 3) ? cost.work : cost.work / 2;
    ovl_cost_kind kind = {.sms = draw(d, 2) ? 1 + draw(d, 100) : 0};
    kind.blocks = draw(d, 4) ? 0 : 1 + draw(d, 400);
    kind.klass = draw(d, 3) ? draw(d, 2) : OVL_NONE;
    kind.weight = 1 / (double)(1 + draw(d, 100));
    ovl_demand demand = {OVL_PORT_HBM, false, draw(d, 1000)};
    ovl_id id = ovl_add_cost(&d->b, &cost, &kind, &demand, 1, NULL, 0);
    bool copy = draw(d, 6) == 0;
    uint16_t on = stream(d, rank, draw(d, STREAMS));
    if (d->options->independent) {
        char own[32];
        snprintf(own, sizeof own, "own %" PRIu32, d->count[rank]);
        on = ovl_add_stream(&d->b, rank, own);
    }
    ovl_add_op(
        &d->b, rank,
        &(ovl_op){.kind = copy ? OVL_COPY : OVL_KERNEL,
                  .stream = on,
                  .comm = OVL_NO_COMM,
                  .name = named(d, "kernel"),
                  .cost = id,
                  .batch = OVL_NONE,
                  .launch = d->options->independent ? 0 : (ovl_time)draw(d, 2) * 2 * OVL_US});
    finish_op(d, rank);
}

static void add_other(drawing *d, uint32_t rank)
{
    bool host = draw(d, 4) == 0;
    ovl_cost cost = {.work = host ? (ovl_time)draw(d, 10) * OVL_US : 0};
    ovl_add_op(&d->b, rank,
               &(ovl_op){.kind = host ? OVL_HOST : OVL_MARKER,
                         .stream = host ? OVL_NO_STREAM : stream(d, rank, draw(d, STREAMS)),
                         .comm = OVL_NO_COMM,
                         .name = named(d, host ? "host" : "marker"),
                         .cost = ovl_add_cost(&d->b, &cost, NULL, NULL, 0, NULL, 0),
                         .batch = OVL_NONE});
    finish_op(d, rank);
}

/* Slot 0 is everybody (or, with islands, the pair again), slot 1 the pair. */
static void add_collective(drawing *d, uint32_t rank)
{
    bool pair = d->options->islands || draw(d, 2);
    ovl_op op = {.kind = OVL_COLLECTIVE,
                 .coll = (uint8_t)draw(d, OVL_SEND_RECV),
                 .comm = pair,
                 .bytes = 1 + draw(d, 1000000),
                 .name = named(d, "collective"),
                 .cost = add_comm_cost(d, true),
                 .batch = OVL_NONE};
    uint32_t first = pair ? rank & ~1u : 0, end = pair ? first + 2 : d->options->n_ranks;
    for (uint32_t r = first; r < end; r++) {
        op.stream = stream(d, r, draw(d, STREAMS));
        ovl_add_op(&d->b, r, &op);
        finish_op(d, r);
    }
}

static void add_half(drawing *d, uint32_t rank, ovl_op *op, ovl_op_kind kind, bool batched)
{
    op->kind = (uint8_t)kind;
    op->stream = stream(d, rank, draw(d, STREAMS));
    op->batch = OVL_NONE;
    if (batched) {
        ovl_op batch = *op;
        batch.kind = OVL_BATCH;
        op->batch = ovl_add_op(&d->b, rank, &batch);
        finish_op(d, rank);
        op->stream = OVL_NO_STREAM;
        ovl_add_op(&d->b, rank, op);
        d->count[rank]++;
        return;
    }
    ovl_add_op(&d->b, rank, op);
    finish_op(d, rank);
}

static void add_transfer(drawing *d, uint32_t rank)
{
    ovl_op op = {.comm = 1,
                 .peer = (int32_t)(~rank & 1),
                 .bytes = 1 + draw(d, 1000000),
                 .name = named(d, "transfer"),
                 .cost = add_comm_cost(d, false),
                 .eager = draw(d, 2)};
    bool batched = draw(d, 4) == 0;
    add_half(d, rank, &op, OVL_SEND, batched);
    op.peer = (int32_t)(rank & 1);
    add_half(d, rank ^ 1, &op, OVL_RECV, batched);
}

static void add_action(drawing *d)
{
    uint32_t rank = draw(d, d->options->n_ranks);
    uint32_t kind = d->options->independent ? 0 : draw(d, 10);
    if (kind < 5) {
        add_kernel(d, rank);
    } else if (kind < 6) {
        add_other(d, rank);
    } else if (kind < 8) {
        add_collective(d, rank);
    } else {
        add_transfer(d, rank);
    }
}

/* What a step end waits for is drawn, so some work is left over to the next step. */
static void end_step(drawing *d)
{
    for (uint32_t r = 0; r < d->options->n_ranks; r++) {
        ovl_op op = {.kind = OVL_MARKER,
                     .comm = OVL_NO_COMM,
                     .name = named(d, "step end"),
                     .cost = ovl_add_cost(&d->b, &(ovl_cost){0}, NULL, NULL, 0, NULL, 0),
                     .batch = OVL_NONE,
                     .step_end = true};
        op.stream = stream(d, r, 0);
        ovl_add_op(&d->b, r, &op);
        finish_op(d, r);
    }
}

static void set_up_codes(drawing *d)
{
    for (uint32_t r = 0; r < d->options->n_ranks; r++) {
        ovl_add_code(&d->b);
        ovl_add_slot(&d->b, r);
        ovl_add_slot(&d->b, r);
        d->buffers[r] = 4;
        for (uint32_t i = 0; i < d->buffers[r]; i++) {
            ovl_add_buffer(&d->b, r,
                           &(ovl_buffer){.name = named(d, "buffer"),
                                         .bytes = 1 + draw(d, 1 << 24),
                                         .category = (uint8_t)draw(d, OVL_CATEGORY_COUNT)});
        }
    }
}

static uint32_t place_of(const drawing *d, uint32_t rank)
{
    return d->options->order ? d->options->order[rank] : rank;
}

static void add_ranks(drawing *d)
{
    uint32_t n = d->options->n_ranks, at[RANKS_MAX], everybody[RANKS_MAX];
    for (uint32_t r = 0; r < n; r++) {
        at[place_of(d, r)] = r;
        everybody[r] = place_of(d, r);
    }
    ovl_id all = ovl_add_comm(&d->b, ovl_name(&d->b, "all"), everybody, n);
    ovl_id pairs[RANKS_MAX], idle[RANKS_MAX] = {0}, hbm[RANKS_MAX], out[RANKS_MAX], in[RANKS_MAX];
    for (uint32_t r = 0; r < n; r++) {
        uint32_t members[2] = {place_of(d, r & ~1u), place_of(d, r | 1)};
        pairs[r] = r & 1 ? pairs[r - 1] : ovl_add_comm(&d->b, ovl_name(&d->b, "pair"), members, 2);
        hbm[r] =
            ovl_add_resource(&d->b, &(ovl_resource){ovl_name(&d->b, "hbm"), OVL_RES_HBM, r, 1000});
        bool shared = r & 1; /* a pair has one link, as two GPUs of a node have one NIC */
        out[r] = shared ? out[r - 1]
                        : ovl_add_resource(&d->b, &(ovl_resource){ovl_name(&d->b, "link.out"),
                                                                  OVL_RES_LINK, r / 2, 150});
        in[r] = shared ? in[r - 1]
                       : ovl_add_resource(&d->b, &(ovl_resource){ovl_name(&d->b, "link.in"),
                                                                 OVL_RES_LINK, r / 2, 150});
    }
    for (uint32_t place = 0; place < n; place++) {
        uint32_t r = at[place];
        ovl_id comms[2] = {d->options->islands ? idle[r] : all, pairs[r]};
        ovl_id ports[3] = {hbm[r], out[r], in[r]};
        ovl_add_rank(&d->b, r, 0, comms, ports);
    }
}

static void set_up_classes(drawing *d)
{
    for (uint32_t i = 0; i < 2; i++) {
        ovl_vec_push(&d->b.kernel_classes, ovl_name(&d->b, i ? "gemm" : "norm"));
        ovl_vec_push(&d->b.coll_classes, ovl_name(&d->b, i ? "reduce" : "gather"));
    }
    for (uint32_t i = 0; i < 4; i++) {
        bool known = draw(d, 3) > 0;
        ovl_vec_push(&d->b.pairs, (ovl_pair){known ? 1 + draw(d, 100) / 100.0 : 0,
                                             known ? 1 + draw(d, 100) / 100.0 : 0});
    }
}

static void add_actions(drawing *d)
{
    uint64_t n = d->options->n_actions, steps = d->options->n_steps;
    for (uint64_t i = 0; i < n; i++) {
        add_action(d);
        if (steps > 1 && (i + 1) * steps / n > i * steps / n) {
            end_step(d);
        }
    }
}

/* The same numbers are drawn each time. */
static void repeat_actions(drawing *d)
{
    uint64_t random = d->random;
    for (uint32_t i = 0; i < d->options->n_repeats; i++) {
        d->random = random;
        for (uint32_t k = 0; k < d->options->n_actions; k++) {
            add_action(d);
        }
        if (d->options->n_steps > 1) {
            end_step(d);
        }
    }
}

ovl_program random_program(const random_options *options, ovl_arena *arena)
{
    assert(options->n_ranks % 2 == 0 && options->n_ranks <= RANKS_MAX);
    drawing d = {.options = options, .random = options->seed * 2654435761u + 1};
    ovl_builder_init(&d.b, arena);
    d.b.n_ports = 3;
    d.b.sms = 1000; /* more than all communication of a rank can hold at once */
    d.b.copy_engines[0] = 1;
    d.b.hw_queues = draw(&d, 3) == 0 ? 1 + draw(&d, 2) : 0;
    set_up_classes(&d);
    set_up_codes(&d);
    if (options->n_repeats > 1) {
        repeat_actions(&d);
    } else {
        add_actions(&d);
    }
    add_ranks(&d);
    ovl_program p = {0};
    ovl_errs errs = {.arena = arena};
    bool good = ovl_freeze(&d.b, &p, &errs);
    if (!good) {
        fprintf(stderr, "%s\n", errs.items[0].text);
    }
    assert(good);
    (void)good;
    return p;
}
