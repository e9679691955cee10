#include "models/block.h"
#include "models/faults.h"
#include "models/schedule.h"
#include "models/vary.h"
#include "models/wires.h"
#include "sim/expand.h"

#include <string.h>

/* --- Resources and ports --- */

/* Fills one port of every rank; instances come in the order of their first ranks. */
static void add_port(ovl_lowering *l, ovl_id *ports, uint32_t port, ovl_resource resource,
                     const ovl_hw_link *link, ovl_id *made)
{
    ovl_shape own = {.serves = 1}, shape = link ? ovl_link_shape(l, link, NULL, 0) : own;
    uint32_t n = 0;
    memset(made, 0, l->seats.n * sizeof *made); /* of an instance its resource, plus 1 */
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        uint32_t instance = ovl_shape_instance(&shape, rank);
        const ovl_hw *hw = ovl_hw_of_rank(l, rank);
        resource.capacity = link ? hw->links[link - l->hw->links].bandwidth : hw->gpu.hbm;
        if (resource.capacity && made[instance] == 0) {
            resource.instance = n++;
            made[instance] = ovl_add_resource(l->b, &resource) + 1;
        }
        ports[(size_t)rank * l->b->n_ports + port] = made[instance] - 1;
    }
}

static void add_no_port(ovl_lowering *l, ovl_id *ports, uint32_t port)
{
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ports[(size_t)rank * l->b->n_ports + port] = OVL_NONE;
    }
}

static ovl_resource link_resource(ovl_lowering *l, const ovl_hw_link *link, const char *direction)
{
    const char *name = ovl_arena_printf(l->arena, "%s%s", link->name, direction);
    return (ovl_resource){.name = ovl_name(l->b, name), .kind = OVL_RES_LINK};
}

/* A mesh is its wires, and a wire carries what goes out at one end. */
static void add_link(ovl_lowering *l, ovl_id *ports, uint32_t i, ovl_id *made)
{
    const ovl_hw_link *link = &l->hw->links[i];
    if (link->topology == OVL_TOPOLOGY_MESH) {
        add_no_port(l, ports, 1 + 2 * i);
    } else {
        add_port(l, ports, 1 + 2 * i, link_resource(l, link, link->wire ? "" : ".out"), link, made);
    }
    if (link->topology == OVL_TOPOLOGY_MESH || link->wire) {
        add_no_port(l, ports, 2 + 2 * i);
    } else {
        add_port(l, ports, 2 + 2 * i, link_resource(l, link, ".in"), link, made);
    }
}

/* Of each rank what the links of all places of its node have; `rank_at`: scratch, by seat. */
static void add_relay_ports(ovl_lowering *l, ovl_id *ports, uint32_t *rank_at)
{
    uint32_t n = l->hw->n_links, node = l->seats.node;
    memset(rank_at, 0xff, l->seats.n * sizeof *rank_at); /* OVL_NONE */
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        rank_at[l->seats.of ? l->seats.of[rank] : rank] = rank;
    }
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        for (uint32_t place = 0; place < node; place++) {
            uint32_t seat = ovl_plan_node(l, rank) * node + place;
            uint32_t there = seat < l->seats.n ? rank_at[seat] : OVL_NONE;
            size_t to = (size_t)rank * l->b->n_ports + ovl_relay_port(l, 0, place);
            for (uint32_t k = 0; k < 2 * n; k++) {
                ports[to + k] =
                    there == OVL_NONE ? OVL_NONE : ports[(size_t)there * l->b->n_ports + 1 + k];
            }
        }
    }
}

/* Rank after rank, the resource of each port. */
static ovl_id *add_resources(ovl_lowering *l)
{
    ovl_id *ports = OVL_NEW_ARRAY(l->arena, ovl_id, (size_t)l->n_ranks * l->b->n_ports);
    ovl_arena scratch = {0};
    ovl_id *made = OVL_NEW_ARRAY(&scratch, ovl_id, l->seats.n);
    add_port(l, ports, OVL_PORT_HBM,
             (ovl_resource){.name = ovl_name(l->b, "hbm"), .kind = OVL_RES_HBM}, NULL, made);
    for (uint32_t i = 0; i < l->hw->n_links; i++) {
        add_link(l, ports, i, made);
    }
    if (l->relays) {
        add_relay_ports(l, ports, made);
    }
    ovl_arena_free(&scratch);
    return ports;
}

/* --- Measured pairs --- */

static void add_pairs(ovl_lowering *l)
{
    ovl_builder *b = l->b;
    for (uint32_t k = 0; k < b->kernel_classes.len; k++) {
        const char *kernel = OVL_NAME(b->names, b->kernel_classes.data[k]);
        for (uint32_t c = 0; c < b->coll_classes.len; c++) {
            const char *collective = OVL_NAME(b->names, b->coll_classes.data[c]);
            ovl_vec_push(&b->pairs, ovl_hw_pair_of(l->hw, kernel, collective));
        }
    }
}

/* --- Ranks --- */

static void add_ranks(ovl_lowering *l, const ovl_id *ports)
{
    OVL_VEC(ovl_id) comms = {0};
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        const ovl_slots *slots = &l->codes.data[l->rank_code[rank]];
        comms.len = 0;
        for (uint32_t i = 0; i < slots->group.len; i++) {
            ovl_vec_push(&comms, slots->group.data[i]->comm_of[rank]);
        }
        ovl_add_rank(l->b, l->rank_code[rank], rank, comms.data,
                     ports + (size_t)rank * l->b->n_ports);
        if (l->machine_of) {
            ovl_set_gpu(l->b, l->machine_of[rank]);
        }
    }
    ovl_vec_free(&comms);
}

/* --- Collectives in steps --- */

static bool check_expand(ovl_lowering *l)
{
    const ovl_scenario *s = l->scenario;
    const char *why = NULL;
    if (s->expand && s->interference == OVL_INTERFERENCE_MEASURED) {
        why = "measured interference is that of whole collectives, not of their steps; use "
              "`interference: shared` or `none`";
    } else if (s->expand && s->recorded) {
        why = "the collectives of a trace are replayed as they were measured, not in steps";
    }
    if (why) {
        ovl_error(l->errs, OVL_E_INPUT, s->mark, "expand is %" PRId64 ": %s", s->expand, why);
    }
    return !why;
}

static bool expand(ovl_lowering *l, ovl_lowered *lowered)
{
    const ovl_program whole = lowered->program;
    return l->scenario->expand < 2 ||
           ovl_expand(&whole, (uint32_t)l->scenario->expand, l->arena, &lowered->program, l->errs);
}

/* --- The door --- */

static bool is_step(const ovl_workload *workload)
{
    return workload->layers.count || workload->gradients.count || workload->stages.count;
}

/* Limits of the program's numbering, and of patience. */
static bool check_size(ovl_lowering *l)
{
    const ovl_scenario *s = l->scenario;
    const uint32_t most_ranks = OVL_PLAN_RANKS, most_links = OVL_PLAN_LINKS;
    if (s->n_ranks < 1 || s->n_ranks > most_ranks) {
        ovl_error(l->errs, OVL_E_INPUT, s->mesh.given ? s->mesh.mark : s->workload.mark,
                  "%" PRId64 " ranks; 1 to %" PRIu32 " can be simulated", s->n_ranks, most_ranks);
        return false;
    }
    if (l->hw->n_links > most_links) {
        ovl_error(l->errs, OVL_E_INPUT, l->hw->mark, "more than %" PRIu32 " links", most_links);
        return false;
    }
    if (!is_step(&s->workload) && s->workload.ops.count == 0 && !s->recorded) {
        ovl_error(l->errs, OVL_E_INPUT, s->workload.mark,
                  "the workload is empty: give ops, layers, gradients, stages or a trace");
        return false;
    }
    return true;
}

/* With several steps only the last is looked at, and a pause in the first would not be seen. */
static bool check_pauses(ovl_lowering *l)
{
    const ovl_pause_process *pauses = &l->scenario->variation.pauses;
    if (!pauses->given || l->scenario->workload.steps <= 1) {
        return true;
    }
    ovl_error(l->errs, OVL_E_INPUT, pauses->mark,
              "pauses need workload.steps: 1; each trial is a step of its own");
    return false;
}

static void say_variation(ovl_lowering *l)
{
    if (l->scenario->variation.given || l->laws.len) {
        ovl_plan_say(l, "Durations vary (`variation:`): this run takes them as they are stated; "
                        "`--trials N` draws them.");
    }
}

/* Whether some sends are passed on. Inside a node that goes over the own link of each GPU. */
static void find_relays(ovl_lowering *l)
{
    for (uint32_t i = 0; i < l->hw->n_collectives; i++) {
        const ovl_hw_collective *c = &l->hw->collectives[i];
        bool passes = c->op == OVL_SEND_RECV && c->pxn;
        l->relays |= passes;
        for (uint32_t k = 0; passes && k < c->via.count; k++) {
            const ovl_hw_link *link = ovl_find_link(l->hw, c->via.item[k]);
            if (link && link->wire) {
                ovl_error(
                    l->errs, OVL_E_INPUT, c->mark,
                    "pxn of send_recv over a mesh of wires is not modelled: what is passed on "
                    "would need the wire between sender and who passes it on");
                return;
            }
        }
    }
}

static void set_gpu(ovl_lowering *l)
{
    const ovl_hw_gpu *gpu = &l->hw->gpu;
    l->b->n_ports = 1 + 2 * l->hw->n_links * (1 + (l->relays ? l->seats.node : 0));
    l->b->sms = (uint32_t)gpu->sms;
    l->b->hw_queues = (uint32_t)gpu->hw_queues;
    l->b->memory = gpu->memory;
    l->b->rounding = (uint8_t)gpu->allocator.rounding;
    l->b->copy_engines[0] = (uint32_t)gpu->copy_engines.d2h;
    l->b->copy_engines[1] = (uint32_t)gpu->copy_engines.h2d;
    for (uint32_t i = 0; l->machine_of && i < l->n_machines; i++) {
        const ovl_hw_gpu *own = &l->machines[i].gpu;
        ovl_gpu has = {(uint32_t)own->sms,
                       {(uint32_t)own->copy_engines.d2h, (uint32_t)own->copy_engines.h2d},
                       own->memory};
        ovl_vec_push(&l->b->gpus, has);
    }
}

static void plan(ovl_lowering *l)
{
    const ovl_workload *workload = &l->scenario->workload;
    bool alias = is_step(workload) && !l->scenario->mesh.given;
    const char *group = l->scenario->ddp.given ? l->scenario->ddp.group : "dp";
    const ovl_pipeline *pipe = &l->scenario->pipeline;
    group = l->scenario->fsdp.given ? l->scenario->fsdp.shard : group;
    group = l->scenario->zero.given ? l->scenario->zero.group : group;
    group = pipe->given ? pipe->group : group;
    ovl_plan_groups(l, alias ? group : NULL); /* without a mesh all ranks are in one group */
    if (l->scenario->recorded) {
        ovl_plan_trace(l);
    } else if (workload->ops.count) {
        ovl_plan_ops(l);
    } else if (pipe->given) {
        ovl_plan_pipeline(l);
    } else if (l->scenario->zero.given) {
        ovl_plan_zero(l);
    } else if (l->scenario->fsdp.given) {
        ovl_plan_fsdp(l);
    } else {
        ovl_plan_ddp(l);
    }
    ovl_plan_check_groups(l);
}

static void release(ovl_lowering *l)
{
    for (uint32_t i = 0; i < l->codes.len; i++) {
        ovl_vec_free(&l->codes.data[i].group);
    }
    ovl_vec_free(&l->codes);
    ovl_vec_free(&l->spreads);
    ovl_vec_free(&l->ways);
    ovl_vec_free(&l->sitting);
    ovl_vec_free(&l->said);
    ovl_vec_free(&l->buckets);
    ovl_vec_free(&l->nccl);
    ovl_vec_free(&l->laws);
    ovl_vec_free(&l->hops);
    ovl_vec_free(&l->by_rank);
    ovl_vec_free(&l->by_rank_of);
    ovl_vec_free(&l->sized);
}

static void hand_over(ovl_lowering *l, ovl_lowered *lowered)
{
    lowered->n_not_modelled = l->said.len;
    lowered->not_modelled = ovl_vec_freeze(&l->said, l->arena);
    lowered->n_buckets = l->buckets.len;
    lowered->microbatches = l->microbatches;
    lowered->rank_microbatches =
        l->microbatches ? 0 : (uint32_t)OVL_MAX(l->scenario->workload.microbatches, 1);
    lowered->schedule = l->schedule;
    lowered->buckets = ovl_vec_freeze(&l->buckets, l->arena);
    lowered->n_hops = l->hops.len;
    lowered->hops = ovl_vec_freeze(&l->hops, l->arena);
    lowered->n_nccl = l->nccl.len;
    lowered->nccl = ovl_vec_freeze(&l->nccl, l->arena);
    lowered->measured = l->measured;
    lowered->n_laws = l->laws.len;
    lowered->laws = ovl_vec_freeze(&l->laws, l->arena);
}

/* What a word of the command line (such as --set) got wrong has no lines, and is its mistake. */
static void blame_words(ovl_errs *errs, uint32_t first)
{
    for (uint32_t i = first; i < errs->count; i++) {
        ovl_err *e = &errs->items[i];
        if (e->mark.file && strncmp(e->mark.file, "--", 2) == 0) {
            e->mark = (ovl_mark){e->mark.file, 0, 0};
            e->code = e->warning ? e->code : OVL_E_USAGE;
        }
    }
}

/* A replay without its what-ifs tells how well it predicts. */
static bool lower_unchanged(ovl_lowering *l)
{
    if (!l->scenario->unchanged) {
        return true;
    }
    ovl_scenario base = *l->scenario;
    ovl_lowered *lowered = OVL_NEW(l->arena, ovl_lowered);
    base.recorded = base.unchanged;
    base.unchanged = NULL;
    l->unchanged = &lowered->program;
    return ovl_lower(&base, l->arena, lowered, l->errs);
}

static void start(ovl_lowering *l)
{
    ovl_builder_init(l->b, l->arena);
    l->n_ranks = (uint32_t)l->scenario->n_ranks;
    l->rank_code = OVL_NEW_ARRAY(l->arena, uint32_t, l->n_ranks);
    ovl_wires_add(l);
    ovl_machines_find(l);
    find_relays(l);
    set_gpu(l);
    ovl_faults_check(l);
    ovl_faults_slow(l);
}

static ovl_lowering begun(const ovl_scenario *scenario, ovl_builder *b, unsigned order,
                          ovl_arena *arena, ovl_errs *errs)
{
    return (ovl_lowering){.scenario = scenario,
                          .hw = &scenario->hw,
                          .b = b,
                          .arena = arena,
                          .errs = errs,
                          .order = order};
}

static bool lower_schedule(const ovl_scenario *scenario, unsigned order, ovl_arena *arena,
                           const ovl_schedule **schedule, ovl_errs *errs)
{
    ovl_builder b;
    ovl_lowering l = begun(scenario, &b, order, arena, errs);
    l.schedule_alone = true;
    uint32_t errors = errs->errors, first = errs->count;
    *schedule = NULL;
    if (!scenario->pipeline.given || !check_size(&l)) {
        return errs->errors == errors;
    }
    start(&l);
    plan(&l);
    *schedule = l.schedule;
    blame_words(errs, first);
    release(&l);
    ovl_builder_free(&b);
    return errs->errors == errors;
}

bool ovl_lower_schedule(const ovl_scenario *scenario, ovl_arena *arena,
                        const struct ovl_schedule **schedule, ovl_errs *errs)
{
    return lower_schedule(scenario, 0, arena, schedule, errs);
}

void ovl_plan_codes(ovl_lowering *l, ovl_id (*write)(void *plan, uint32_t first),
                    bool (*alike)(void *plan, uint32_t a, uint32_t b), void *plan)
{
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        l->rank_code[rank] = OVL_NONE;
    }
    for (uint32_t first = 0; first < l->n_ranks; first++) {
        if (l->rank_code[first] != OVL_NONE) {
            continue;
        }
        ovl_id code = write(plan, first);
        for (uint32_t rank = first; rank < l->n_ranks; rank++) {
            bool same = l->rank_code[rank] == OVL_NONE && alike(plan, first, rank);
            l->rank_code[rank] = same ? code : l->rank_code[rank];
        }
    }
}

/* In one order; `searched`: there may be others. */
static bool lower_order(const ovl_scenario *scenario, unsigned order, ovl_arena *arena,
                        ovl_lowered *lowered, bool *searched, ovl_errs *errs)
{
    ovl_builder b;
    ovl_lowering l = begun(scenario, &b, order, arena, errs);
    uint32_t errors = errs->errors, first = errs->count;
    if (!check_size(&l) || !check_pauses(&l) || !check_expand(&l) || !lower_unchanged(&l)) {
        return false;
    }
    start(&l);
    plan(&l);
    *searched = l.searched;
    bool ok = errs->errors == errors;
    if (ok) {
        ovl_model_facts(&l, lowered);
    }
    if (ok) {
        ovl_id *ports = add_resources(&l);
        ovl_faults_links(&l, ports);
        add_ranks(&l, ports);
        add_pairs(&l);
        ovl_plan_sentences(&l);
        say_variation(&l);
        ovl_watch_part(scenario->watch, "freezing the program");
        ok = ovl_freeze(&b, &lowered->program, errs);
        if (ok) {
            ovl_vary_check(&lowered->program, &scenario->variation, errs);
            ok = expand(&l, lowered);
        }
        hand_over(&l, lowered);
    }
    blame_words(errs, first);
    release(&l);
    ovl_builder_free(&b);
    return ok;
}

/* --- Other orders --- */

/* The program in the order found under other circumstances; NULL if that is no other, or there is
 * none. */
static const ovl_program *other_order(const ovl_scenario *scenario, unsigned order,
                                      const ovl_schedule *ours, ovl_arena *arena)
{
    ovl_arena scratch = {0};
    ovl_errs unsaid = {.arena = &scratch};
    const ovl_schedule *theirs;
    ovl_lowered lowered;
    bool searched;
    bool other = lower_schedule(scenario, order, &scratch, &theirs, &unsaid) &&
                 !ovl_schedule_same(ours, theirs) &&
                 lower_order(scenario, order, arena, &lowered, &searched, &unsaid);
    ovl_arena_free(&scratch);
    if (!other) {
        return NULL;
    }
    ovl_program *program = OVL_NEW(arena, ovl_program);
    *program = lowered.program;
    return program;
}

static void add_orders(const ovl_scenario *scenario, ovl_arena *arena, ovl_lowered *lowered)
{
    const ovl_program **orders = OVL_NEW_ARRAY(arena, const ovl_program *, OVL_ORDERS);
    bool any = false;
    for (unsigned order = 1; order < OVL_ORDERS; order++) {
        orders[order] = other_order(scenario, order, lowered->schedule, arena);
        any |= orders[order] != NULL;
    }
    lowered->program.orders = any ? orders : NULL;
}

bool ovl_lower(const ovl_scenario *scenario, ovl_arena *arena, ovl_lowered *lowered, ovl_errs *errs)
{
    bool searched = false;
    if (!lower_order(scenario, 0, arena, lowered, &searched, errs)) {
        return false;
    }
    if (searched) {
        add_orders(scenario, arena, lowered);
    }
    return true;
}
