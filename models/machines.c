/*
 * machines.c - nodes unlike others (hardware.nodes): which rank sees what hardware.
 */
#include "models/faults.h"
#include "models/tables.h"

#include <string.h>

/* --- Which node is of which sort --- */

static uint32_t node_count(const ovl_lowering *l)
{
    return (l->seats.n + l->seats.node - 1) / l->seats.node;
}

/* Marks the nodes of one entry, given by one of its texts. */
static void place(ovl_lowering *l, uint32_t machine, uint32_t text, uint8_t *machine_of_node)
{
    const ovl_hw_nodes *nodes = &l->hw->others[machine - 1];
    uint32_t from, to;
    const char *wrong =
        ovl_plan_range(l->errs->arena, "node", node_count(l), nodes->at.item[text], &from, &to);
    if (wrong) {
        ovl_error(l->errs, OVL_E_INPUT, nodes->at.mark[text], "%s", wrong);
        return;
    }
    for (uint32_t node = from; node <= to; node++) {
        if (machine_of_node[node]) {
            ovl_error(l->errs, OVL_E_INPUT, nodes->at.mark[text],
                      "node %" PRIu32 " is already one of \"%s\"", node,
                      l->hw->others[machine_of_node[node] - 1].name);
            return;
        }
        machine_of_node[node] = (uint8_t)machine;
    }
}

/* --- Seats --- */

#define MOST_SEATS (UINT64_C(1) << 24)

/* How many GPUs each node has; nodes that there are not are told by `place`. */
static const uint32_t *gpus_of_nodes(ovl_lowering *l)
{
    uint32_t *gpus = OVL_NEW_ARRAY(l->arena, uint32_t, l->n_ranks);
    for (uint32_t i = 0; i < l->n_ranks; i++) {
        gpus[i] = (uint32_t)l->hw->gpus_per_node;
    }
    for (uint32_t machine = 1; machine < l->n_machines; machine++) {
        const ovl_texts *at = &l->hw->others[machine - 1].at;
        for (uint32_t i = 0; i < at->count; i++) {
            uint32_t from = 0, to = 0;
            bool good =
                !ovl_plan_range(l->errs->arena, "node", l->n_ranks, at->item[i], &from, &to);
            for (uint32_t node = from; good && node <= to; node++) {
                gpus[node] = (uint32_t)ovl_hw_gpus(l->hw, machine);
            }
        }
    }
    return gpus;
}

/* Tables go by the places of nodes, so several nodes have all theirs, also the last. */
static uint32_t whole_nodes(uint32_t seats, uint32_t node)
{
    return seats > node ? (seats + node - 1) / node * node : seats;
}

static void seat_ranks(ovl_lowering *l)
{
    const uint32_t *gpus = gpus_of_nodes(l);
    uint32_t *of = OVL_NEW_ARRAY(l->arena, uint32_t, l->n_ranks);
    uint64_t first = 0;
    uint32_t place = 0;
    for (uint32_t rank = 0, node = 0; rank < l->n_ranks; rank++) {
        if (place == gpus[node]) {
            node++;
            first += l->seats.node;
            place = 0;
        }
        if (first + place >= MOST_SEATS) {
            ovl_error(l->errs, OVL_E_INPUT, l->hw->others[0].mark,
                      "%" PRIu32 " nodes, the largest of %" PRIu32
                      " GPUs and others of fewer: that is more than can be told apart",
                      node + 1, l->seats.node);
            return;
        }
        of[rank] = (uint32_t)first + place++;
    }
    l->seats.of = of;
    l->seats.n = whole_nodes(of[l->n_ranks - 1] + 1, l->seats.node);
}

static void find_seats(ovl_lowering *l)
{
    uint32_t node = l->hw->gpus_per_node > 0 ? (uint32_t)l->hw->gpus_at_most : l->n_ranks;
    l->seats = (ovl_seats){.n = whole_nodes(l->n_ranks, node), .node = node};
    if (!ovl_hw_even(l->hw) && l->n_ranks > 0) {
        seat_ranks(l);
    }
}

/* --- Sorts --- */

static const uint8_t *place_ranks(ovl_lowering *l)
{
    uint8_t *node = OVL_NEW_ARRAY(l->arena, uint8_t, node_count(l));
    uint8_t *rank = OVL_NEW_ARRAY(l->arena, uint8_t, l->n_ranks);
    for (uint32_t machine = 1; machine < l->n_machines; machine++) {
        for (uint32_t i = 0; i < l->hw->others[machine - 1].at.count; i++) {
            place(l, machine, i, node);
        }
    }
    for (uint32_t i = 0; i < l->n_ranks; i++) {
        rank[i] = node[ovl_plan_node(l, i)];
    }
    return rank;
}

static void different(ovl_lowering *l, uint32_t link, uint32_t a, uint32_t b)
{
    uint32_t rank = l->machine_of[b] ? b : a; /* the one that says something of its own */
    const ovl_hw_link *at = &ovl_hw_of_rank(l, rank)->links[link];
    ovl_error(l->errs, OVL_E_INPUT, at->mark,
              "one instance of \"%s\" serves ranks %" PRIu32 " and %" PRIu32
              ", which are on nodes that give it different bandwidths or latencies: give them the "
              "same",
              at->name, a, b);
}

/* What an instance serves must agree about what it has. */
static void check_instances(ovl_lowering *l, uint32_t link, uint32_t *first)
{
    ovl_shape shape = ovl_link_shape(l, &l->hw->links[link], NULL, 0);
    memset(first, 0xff, l->seats.n * sizeof *first); /* OVL_NONE */
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        uint32_t *of = &first[ovl_shape_instance(&shape, rank)];
        *of = *of == OVL_NONE ? rank : *of;
        const ovl_hw_link *a = &ovl_hw_of_rank(l, *of)->links[link];
        const ovl_hw_link *b = &ovl_hw_of_rank(l, rank)->links[link];
        if (a->bandwidth != b->bandwidth || a->latency != b->latency) {
            different(l, link, *of, rank);
            return;
        }
    }
}

void ovl_machines_check(const ovl_scenario *scenario, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    ovl_lowering l = {.scenario = scenario,
                      .hw = &scenario->hw,
                      .arena = &scratch,
                      .errs = errs,
                      .n_ranks = (uint32_t)scenario->n_ranks,
                      .n_machines = 1 + scenario->hw.n_others};
    /* One rank may be what a mistake left of more; how many a trace has is not known yet. */
    if (scenario->n_ranks < 2 || scenario->n_ranks > OVL_PLAN_RANKS ||
        scenario->workload.trace.count) {
        return;
    }
    find_seats(&l);
    if (l.n_machines > 1 && l.hw->gpus_per_node > 0) {
        place_ranks(&l);
    }
    ovl_faults_check(&l);
    ovl_arena_free(&scratch);
}

void ovl_machines_find(ovl_lowering *l)
{
    l->n_machines = 1 + l->hw->n_others;
    l->machines = l->hw;
    find_seats(l);
    if (l->n_machines == 1 || l->hw->gpus_per_node == 0) {
        l->n_machines = 1;
        return;
    }
    ovl_hw *machines = OVL_NEW_ARRAY(l->arena, ovl_hw, l->n_machines);
    for (uint32_t i = 0; i < l->n_machines; i++) {
        machines[i] = ovl_hw_on(l->hw, i);
    }
    l->machines = machines;
    l->machine_of = place_ranks(l);
    uint32_t *first = OVL_NEW_ARRAY(l->arena, uint32_t, l->seats.n);
    for (uint32_t i = 0; i < l->hw->n_links; i++) {
        check_instances(l, i, first);
    }
}

/* --- What a rank sees --- */

const ovl_hw *ovl_hw_of_rank(const ovl_lowering *l, uint32_t rank)
{
    return l->machine_of ? &l->machines[l->machine_of[rank]] : l->hw;
}

static uint64_t sms_of(const ovl_hw *hw)
{
    return (uint64_t)hw->gpu.sms;
}

static uint64_t hbm_of(const ovl_hw *hw)
{
    return hw->gpu.hbm;
}

/* The least of something that the members of a spread see. */
static uint64_t least(const ovl_lowering *l, const ovl_spread *spread,
                      uint64_t (*what)(const ovl_hw *hw))
{
    uint64_t none = UINT64_MAX, of = none;
    for (uint32_t i = 0; spread && i < l->n_machines; i++) {
        of = spread->machines >> i & 1 ? OVL_MIN(of, what(&l->machines[i])) : of;
    }
    return of == none ? what(l->hw) : of;
}

int64_t ovl_least_sms(const ovl_lowering *l, const ovl_spread *spread)
{
    return (int64_t)least(l, spread, sms_of);
}

uint64_t ovl_least_hbm(const ovl_lowering *l, const ovl_spread *spread)
{
    return least(l, spread, hbm_of);
}

/* --- What takes as long as a GPU needs --- */

const ovl_time *ovl_on_machines(ovl_lowering *l, ovl_time (*length)(ovl_lowering *l, void *context),
                                void *context)
{
    const ovl_hw *hw = l->hw;
    bool one_gpu = l->one_gpu;
    if (l->n_machines <= 1) {
        return NULL;
    }
    ovl_time *on = OVL_NEW_ARRAY(l->arena, ovl_time, l->n_machines);
    l->one_gpu = true;
    for (uint32_t i = 0; i < l->n_machines; i++) {
        l->hw = one_gpu ? hw : &l->machines[i];
        on[i] = length(l, context);
    }
    l->one_gpu = one_gpu;
    l->hw = hw;
    return on;
}
