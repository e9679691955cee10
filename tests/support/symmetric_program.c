#include "tests/support/symmetric_program.h"

#include "tests/support/random_program.h"

#include <stdio.h>

#define STAGES_MAX 4
#define RANKS_MAX  64
#define BUFFERS    4

enum { AXIS_A, AXIS_B, PLANE, WORLD, STAGES, SLOTS };
enum { LINK_OUT = 1, LINK_IN, SPINE, PORTS };

typedef struct drawing {
    ovl_builder b;
    uint64_t random;
    uint32_t a, b_size, stages, n; /* ranks: stage-major position, then number[position] */
    uint32_t number[RANKS_MAX];
    uint32_t position[RANKS_MAX];
    uint32_t count[STAGES_MAX];
    ovl_id held[STAGES_MAX][BUFFERS]; /* that the operations to come use */
    bool sized;                       /* some buffers have bytes of their own on each rank */
    bool varied, buffers;
} drawing;

static uint32_t draw(drawing *d, uint32_t below)
{
    return random_next(&d->random) % below;
}

static ovl_id named(drawing *d, const char *kind)
{
    char text[64];
    snprintf(text, sizeof text, "%s %" PRIu32, kind, draw(d, 30));
    return ovl_name(&d->b, text);
}

static uint16_t stream(drawing *d, uint32_t stage)
{
    static const char *const names[] = {"compute", "comm", "side"};
    return ovl_add_stream(&d->b, stage, names[draw(d, 3)]);
}

/* Sometimes round, so that things coincide; sometimes nothing. */
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

static double weight(drawing *d)
{
    return draw(d, 2) ? 1 : 1 / (double)(1 + draw(d, 100));
}

static void finish_op(drawing *d, uint32_t stage)
{
    uint32_t n = d->count[stage]++;
    for (uint32_t i = draw(d, 3); i > 0 && n > 0; i--) {
        ovl_add_after(&d->b, stage, n - 1 - draw(d, OVL_MIN(n, 12)));
    }
    for (uint32_t i = draw(d, 3); i > 0 && d->buffers; i--) {
        ovl_id buffer = d->held[stage][draw(d, BUFFERS)];
        ovl_add_access(&d->b, stage, buffer, draw(d, 3) == 0);
    }
}

/* What it does to the gradients in a buffer, if there are buffers. */
static void add_effect(drawing *d, uint32_t stage, bool collective)
{
    static const uint8_t kinds[] = {OVL_PRODUCE, OVL_ADD, OVL_PACK, OVL_CONSUME, OVL_RESET};
    if (!d->buffers || draw(d, 2)) {
        return;
    }
    ovl_effect effect = {.kind = collective ? OVL_SUM : kinds[draw(d, 5)],
                         .buffer = d->held[stage][draw(d, BUFFERS)],
                         .source = OVL_NONE,
                         .gradient = OVL_NONE,
                         .microbatch = draw(d, 2),
                         .scale = 1};
    if (effect.kind == OVL_PRODUCE || effect.kind == OVL_ADD) {
        effect.gradient = ovl_name(&d->b, draw(d, 2) ? "g1" : "g2");
    }
    if (effect.kind == OVL_PACK) {
        effect.source = d->held[stage][draw(d, BUFFERS)];
        effect.scale = draw(d, 2) ? 0.5 : 1;
    }
    ovl_add_effect(&d->b, stage, &effect);
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
        own.weight = weight(d);
        ovl_demand demands[] = {{SPINE, draw(d, 2), draw(d, 60)},
                                {LINK_OUT, draw(d, 2), draw(d, 120)},
                                {OVL_PORT_HBM, false, draw(d, 700)}};
        then = ovl_add_phase(&d->b, &cost, &own, demands, draw(d, 4));
    }
    d->random = rest;
    return then;
}

/* Drawn one after another: in an initializer the order is the compiler's. */
static ovl_id comm_cost(drawing *d, bool collective)
{
    ovl_cost cost = {.latency = draw(d, 3) ? (ovl_time)draw(d, 20) * OVL_US : 0};
    cost.work = duration(d);
    ovl_cost_kind kind = {.sms = draw(d, 3) ? draw(d, 24) : 0};
    kind.klass = draw(d, 3) ? draw(d, 2) : OVL_NONE;
    kind.weight = weight(d);
    ovl_demand own[] = {{LINK_OUT, draw(d, 2), draw(d, 120)},
                        {SPINE, draw(d, 2), draw(d, 60)},
                        {OVL_PORT_HBM, false, draw(d, 700)}};
    ovl_demand peer[] = {{LINK_IN, draw(d, 2), draw(d, 120)}, {OVL_PORT_HBM, false, draw(d, 300)}};
    cost.then = collective ? add_phases(d, &kind) : 0;
    return ovl_add_cost(&d->b, &cost, &kind, own, draw(d, 4), peer, draw(d, 3));
}

static ovl_cost kernel_cost(drawing *d, ovl_cost_kind *kind)
{
    ovl_cost cost = {.work = duration(d)};
    cost.compute = draw(d, 3) ? cost.work : cost.work / 2;
    *kind = (ovl_cost_kind){.sms = draw(d, 2) ? 1 + draw(d, 100) : 0};
    kind->blocks = draw(d, 4) ? 0 : 1 + draw(d, 400);
    kind->klass = draw(d, 3) ? draw(d, 2) : OVL_NONE;
    kind->weight = weight(d);
    return cost;
}

/* A cost of each rank: some differ. */
static ovl_id varied_costs(drawing *d, ovl_cost cost, const ovl_cost_kind *kind,
                           const ovl_demand *demands, uint32_t n)
{
    ovl_id first = d->b.costs.len;
    uint32_t odd = draw(d, d->n), every = 1 + draw(d, 2 * d->n);
    ovl_time more = duration(d);
    for (uint32_t r = 0; r < d->n; r++) {
        ovl_cost own = cost;
        own.work += d->position[r] % every == odd % every && every > 1 ? more : 0;
        ovl_add_cost(&d->b, &own, kind, demands, n, NULL, 0);
    }
    return first;
}

static void add_kernel(drawing *d, uint32_t stage)
{
    ovl_cost_kind kind;
    ovl_cost cost = kernel_cost(d, &kind);
    bool copy = draw(d, 6) == 0, varies = d->varied && draw(d, 12) == 0;
    ovl_demand demands[] = {{OVL_PORT_HBM, false, draw(d, 1000)}, {LINK_OUT, false, draw(d, 90)}};
    uint32_t n = copy ? draw(d, 3) : draw(d, 2);
    kind.engine = draw(d, 2) & 1;
    ovl_op op = {.kind = copy ? OVL_COPY : OVL_KERNEL,
                 .stream = stream(d, stage),
                 .comm = OVL_NO_COMM,
                 .name = named(d, "kernel"),
                 .per_rank = varies,
                 .batch = OVL_NONE,
                 .launch = (ovl_time)draw(d, 2) * 2 * OVL_US};
    op.cost = varies ? varied_costs(d, cost, &kind, demands, n)
                     : ovl_add_cost(&d->b, &cost, &kind, demands, n, NULL, 0);
    ovl_add_op(&d->b, stage, &op);
    add_effect(d, stage, false);
    finish_op(d, stage);
}

static void add_other(drawing *d, uint32_t stage)
{
    bool host = draw(d, 4) == 0;
    ovl_cost cost = {.work = host ? (ovl_time)draw(d, 10) * OVL_US : 0};
    ovl_add_op(&d->b, stage,
               &(ovl_op){.kind = host ? OVL_HOST : OVL_MARKER,
                         .stream = host ? OVL_NO_STREAM : stream(d, stage),
                         .comm = OVL_NO_COMM,
                         .name = named(d, host ? "host" : "marker"),
                         .cost = ovl_add_cost(&d->b, &cost, NULL, NULL, 0, NULL, 0),
                         .batch = OVL_NONE});
    finish_op(d, stage);
}

static void add_collective(drawing *d, uint32_t stage)
{
    uint16_t slot = (uint16_t)draw(d, SLOTS);
    ovl_op op = {.kind = OVL_COLLECTIVE,
                 .coll = (uint8_t)(draw(d, 150) ? draw(d, 3) : OVL_BROADCAST),
                 .comm = slot,
                 .bytes = 1 + draw(d, 1000000),
                 .name = named(d, "collective"),
                 .cost = comm_cost(d, true),
                 .batch = OVL_NONE};
    bool all = slot == WORLD || slot == STAGES;
    for (uint32_t s = all ? 0 : stage; s < (all ? d->stages : stage + 1); s++) {
        op.stream = stream(d, s);
        ovl_add_op(&d->b, s, &op);
        add_effect(d, s, true);
        finish_op(d, s);
    }
}

/* A message to the neighbour along an axis and one from the other side, in one launch. */
static void add_ring(drawing *d, uint32_t stage)
{
    uint32_t sizes[] = {d->a, d->b_size, d->a * d->b_size};
    uint32_t slot = draw(d, 3);
    if (sizes[slot] < 2) {
        return;
    }
    ovl_op op = {.kind = OVL_BATCH,
                 .comm = (uint16_t)slot,
                 .stream = stream(d, stage),
                 .name = named(d, "ring"),
                 .cost = comm_cost(d, false),
                 .bytes = 1000,
                 .eager = draw(d, 2),
                 .batch = OVL_NONE};
    uint32_t batch = ovl_add_op(&d->b, stage, &op);
    finish_op(d, stage);
    op.stream = OVL_NO_STREAM;
    op.batch = batch;
    op.peer_relative = true;
    op.peer = 1 + (int32_t)draw(d, sizes[slot] - 1);
    op.kind = OVL_SEND;
    ovl_add_op(&d->b, stage, &op);
    op.peer = -op.peer;
    op.kind = OVL_RECV;
    ovl_add_op(&d->b, stage, &op);
    d->count[stage] += 2;
}

static void add_message(drawing *d, uint32_t stage)
{
    if (d->stages < 2) {
        return;
    }
    uint32_t to = (stage + 1) % d->stages;
    ovl_op op = {.kind = OVL_SEND,
                 .comm = STAGES,
                 .stream = stream(d, stage),
                 .name = named(d, "message"),
                 .cost = comm_cost(d, false),
                 .bytes = 1000,
                 .peer = (int32_t)to,
                 .eager = draw(d, 2),
                 .batch = OVL_NONE};
    ovl_add_op(&d->b, stage, &op);
    finish_op(d, stage);
    op.kind = OVL_RECV;
    op.stream = stream(d, to);
    op.peer = (int32_t)stage;
    ovl_add_op(&d->b, to, &op);
    finish_op(d, to);
}

static void add_action(drawing *d)
{
    uint32_t stage = draw(d, d->stages), kind = draw(d, 12);
    if (kind < 5) {
        add_kernel(d, stage);
    } else if (kind < 6) {
        add_other(d, stage);
    } else if (kind < 9) {
        add_collective(d, stage);
    } else if (kind < 11) {
        add_ring(d, stage);
    } else {
        add_message(d, stage);
    }
}

/* --- Hardware --- */

/* One resource for each `span` neighbours; one of them may differ. */
static void add_resources(drawing *d, const char *name, uint32_t span, uint64_t capacity,
                          ovl_id *of)
{
    bool odd = draw(d, 30) == 0, changes = draw(d, 4) == 0, all = draw(d, 6);
    for (uint32_t i = 0; i < d->n; i++) {
        if (i % span) {
            of[i] = of[i - 1];
            continue;
        }
        uint64_t own = odd && i == 0 ? capacity / 2 : capacity;
        of[i] = ovl_add_resource(
            &d->b, &(ovl_resource){ovl_name(&d->b, name), OVL_RES_LINK, i / span, own});
        if (changes && (all || i == 0)) {
            ovl_change_capacity(&d->b, of[i], 300 * OVL_US, capacity / 3 + 1);
            ovl_change_capacity(&d->b, of[i], 900 * OVL_US, capacity);
        }
    }
}

static uint32_t draw_span(drawing *d)
{
    uint32_t spans[] = {1, 1, d->a, d->a, d->a * d->b_size, d->n, draw(d, 5) ? 1 : 2};
    return spans[draw(d, 7)];
}

/* --- Ranks --- */

static ovl_id comm_over(drawing *d, const char *name, const uint32_t *positions, uint32_t n)
{
    uint32_t ranks[RANKS_MAX];
    for (uint32_t i = 0; i < n; i++) {
        ranks[i] = d->number[positions[i]];
    }
    return ovl_add_comm(&d->b, ovl_name(&d->b, name), ranks, n);
}

/* Communicators of positions that are `stride` apart, by position. */
static void add_axis(drawing *d, const char *name, uint32_t stride, uint32_t size, ovl_id *of)
{
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t at = i / stride % size, positions[RANKS_MAX];
        if (at) {
            of[i] = of[i - stride];
            continue;
        }
        for (uint32_t k = 0; k < size; k++) {
            positions[k] = i + k * stride;
        }
        of[i] = comm_over(d, name, positions, size);
    }
}

static void add_ranks(drawing *d)
{
    ovl_id comms[SLOTS][RANKS_MAX], ports[PORTS][RANKS_MAX];
    uint32_t plane = d->a * d->b_size;
    add_axis(d, "a", 1, d->a, comms[AXIS_A]);
    add_axis(d, "b", d->a, d->b_size, comms[AXIS_B]);
    add_axis(d, "plane", 1, plane, comms[PLANE]);
    add_axis(d, "world", 1, d->n, comms[WORLD]);
    add_axis(d, "stages", plane, d->stages, comms[STAGES]);
    add_resources(d, "hbm", 1, 1000, ports[OVL_PORT_HBM]);
    add_resources(d, "out", draw_span(d), 150, ports[LINK_OUT]);
    add_resources(d, "in", draw_span(d), 150, ports[LINK_IN]);
    add_resources(d, "spine", draw_span(d), 200, ports[SPINE]);
    for (uint32_t rank = 0; rank < d->n; rank++) {
        uint32_t at = d->position[rank];
        ovl_id own[SLOTS], has[PORTS];
        for (uint32_t s = 0; s < SLOTS; s++) {
            own[s] = comms[s][at];
        }
        for (uint32_t s = 0; s < PORTS; s++) {
            has[s] = ports[s][at];
        }
        ovl_add_rank(&d->b, at / plane, rank, own, has);
    }
}

/* Some buffers are larger on every third rank, or on the first of a plane. */
static uint32_t draw_sizes(drawing *d, uint64_t bytes)
{
    uint64_t sizes[RANKS_MAX];
    uint32_t often = draw(d, 2) ? 3 : d->a * d->b_size;
    for (uint32_t rank = 0; rank < d->n; rank++) {
        sizes[rank] = d->position[rank] % often ? bytes / 2 : bytes;
    }
    return ovl_add_sizes(&d->b, sizes, d->n);
}

static void hold_buffer(drawing *d, uint32_t stage, uint32_t i)
{
    ovl_buffer buffer = {.name = named(d, "buffer"), .bytes = 2 + draw(d, 1 << 24)};
    if (d->sized && draw(d, 4) == 0) {
        buffer.sizes = draw_sizes(d, buffer.bytes);
    }
    d->held[stage][i] = ovl_add_buffer(&d->b, stage, &buffer);
}

static void add_buffers(drawing *d, uint32_t stage)
{
    for (uint32_t i = 0; i < BUFFERS; i++) {
        hold_buffer(d, stage, i);
    }
}

/* Now and then a buffer makes room for another, of which the operations that follow may know
 * nothing. Drawn aside. */
static void replace_buffers(drawing *d)
{
    uint64_t rest = d->random;
    d->random = rest * UINT64_C(6364136223846793005) + 5;
    for (uint32_t s = 0; s < d->stages; s++) {
        if (draw(d, 8) == 0) {
            uint32_t i = draw(d, BUFFERS);
            ovl_free_buffer(&d->b, s, d->held[s][i]);
            hold_buffer(d, s, i);
        }
    }
    d->random = rest;
}

static void set_up(drawing *d)
{
    d->a = 1 + draw(d, 4);
    d->b_size = 1 + draw(d, 4);
    d->stages = 1 + draw(d, STAGES_MAX);
    d->n = d->a * d->b_size * d->stages;
    d->varied = draw(d, 3) == 0;
    d->sized = d->buffers && draw(d, 5) == 0;
    for (uint32_t i = 0; i < d->n; i++) {
        d->number[i] = i;
    }
    for (uint32_t i = 1; i < d->n && draw(d, 3) == 0; i++) {
        uint32_t k = draw(d, i + 1), other = d->number[k];
        d->number[k] = d->number[i];
        d->number[i] = other;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        d->position[d->number[i]] = i;
    }
    d->b.n_ports = PORTS;
    d->b.sms = 1000;
    d->b.copy_engines[0] = draw(d, 2);
    d->b.copy_engines[1] = draw(d, 3);
    d->b.hw_queues = draw(d, 4) == 0 ? 1 + draw(d, 2) : 0;
    for (uint32_t i = 0; i < 2; i++) {
        ovl_vec_push(&d->b.kernel_classes, ovl_name(&d->b, i ? "gemm" : "norm"));
        ovl_vec_push(&d->b.coll_classes, ovl_name(&d->b, i ? "reduce" : "gather"));
    }
    for (uint32_t i = 0; i < 4; i++) {
        bool known = draw(d, 3) > 0;
        ovl_vec_push(&d->b.pairs, (ovl_pair){known ? 1 + draw(d, 100) / 100.0 : 0,
                                             known ? 1 + draw(d, 100) / 100.0 : 0});
    }
    for (uint32_t s = 0; s < d->stages; s++) {
        ovl_add_code(&d->b);
        for (uint32_t i = 0; i < SLOTS; i++) {
            ovl_add_slot(&d->b, s);
        }
        if (d->buffers) {
            add_buffers(d, s);
        }
    }
}

ovl_program symmetric_program(const symmetric_options *options, ovl_arena *arena)
{
    drawing d = {.random = options->seed * 2654435761u + 17, .buffers = options->buffers};
    ovl_builder_init(&d.b, arena);
    set_up(&d);
    uint64_t random = d.random;
    for (uint32_t k = 0; k < OVL_MAX(options->n_repeats, 1); k++) {
        d.random = random;
        for (uint32_t i = 0; i < options->n_actions; i++) {
            add_action(&d);
            if (d.buffers && options->n_repeats < 2) {
                replace_buffers(&d);
            }
        }
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
