#include "sim/speedup.h"

#include "sim/exposure.h"
#include "sim/fold.h"
#include "sim/rewrite.h"

__extension__ typedef __int128 wide;

/* --- Which operations --- */

/* The group of a communication, as the first rank of its code has it: all ranks of a code have the
 * same group in a slot. */
static ovl_id group_of(const ovl_program *p, const ovl_rank *first, const ovl_op *op)
{
    return p->comms[p->rank_comms[first->first_comm + op->comm]].name;
}

static bool moves_alone(const ovl_op *op)
{
    return ovl_is_communication(op) && op->kind != OVL_BATCH; /* a batch is its parts */
}

static uint8_t coll_of(const ovl_op *op)
{
    return op->kind == OVL_COLLECTIVE ? op->coll : OVL_SEND_RECV;
}

static const ovl_cost_kind *kind_of(const ovl_program *p, const ovl_op *op)
{
    return ovl_kind_of(p, &p->costs[op->cost]);
}

/* `first` is any rank that runs the code of the operation. */
static bool pulls(const ovl_program *p, const ovl_lever *lever, const ovl_rank *first,
                  const ovl_op *op, ovl_id name)
{
    switch (lever->kind) {
    case OVL_LEVER_KERNELS:
        return op->kind == OVL_KERNEL && kind_of(p, op)->klass == lever->klass;
    case OVL_LEVER_COMM:
        return moves_alone(op) && coll_of(op) == lever->coll &&
               group_of(p, first, op) == lever->group;
    case OVL_LEVER_COPIES:
        return op->kind == OVL_COPY && kind_of(p, op)->engine == lever->engine;
    case OVL_LEVER_HOST:
        return op->kind == OVL_HOST;
    case OVL_LEVER_NAME:
        return name == lever->name && op->kind != OVL_MARKER && op->kind != OVL_BATCH;
    }
    return false;
}

/* Part of it is of the lever's class. */
static bool pulls_part(const ovl_program *p, const ovl_lever *lever, const ovl_op *op)
{
    const ovl_split *split = ovl_cost_split(p, &p->costs[op->cost]);
    return lever->kind == OVL_LEVER_KERNELS && op->kind == OVL_KERNEL && split &&
           split->klass == lever->klass;
}

bool ovl_lever_pulls(const ovl_program *p, const ovl_lever *lever, uint32_t rank, uint32_t local)
{
    const ovl_code *code = &p->codes[p->ranks[rank].code];
    return pulls(p, lever, &p->ranks[rank], ovl_code_op(code, local), code->name[local]);
}

static bool takes_time(const ovl_program *p, const ovl_rank *first, const ovl_op *op)
{
    const ovl_cost *cost = &p->costs[op->cost + (op->per_rank ? first->variant : 0)];
    return ovl_cost_time(p, cost) > 0;
}

/* The lever an operation belongs to; false if it belongs to none. */
static bool lever_of(const ovl_program *p, const ovl_rank *first, const ovl_op *op,
                     ovl_lever *lever)
{
    *lever = (ovl_lever){.klass = OVL_NONE, .group = OVL_NONE, .name = OVL_NONE};
    if (op->kind == OVL_KERNEL) {
        lever->kind = OVL_LEVER_KERNELS;
        lever->klass = kind_of(p, op)->klass;
    } else if (moves_alone(op) && op->kind != OVL_RECV) {
        lever->kind = OVL_LEVER_COMM;
        lever->coll = coll_of(op);
        lever->group = group_of(p, first, op);
    } else if (op->kind == OVL_COPY) {
        lever->kind = OVL_LEVER_COPIES;
        lever->engine = kind_of(p, op)->engine;
    } else if (op->kind == OVL_HOST) {
        lever->kind = OVL_LEVER_HOST;
    } else {
        return false;
    }
    return takes_time(p, first, op);
}

typedef OVL_VEC(ovl_lever) levers;

static void add_lever(levers *list, ovl_lever lever)
{
    for (uint32_t i = 0; i < list->len; i++) {
        const ovl_lever *l = &list->data[i];
        if (l->kind == lever.kind && l->klass == lever.klass && l->group == lever.group &&
            l->coll == lever.coll && l->engine == lever.engine) {
            return;
        }
    }
    ovl_vec_push(list, lever);
}

static void add_part_lever(const ovl_program *p, const ovl_op *op, ovl_lever whole, levers *list)
{
    const ovl_split *split = ovl_cost_split(p, &p->costs[op->cost]);
    if (op->kind == OVL_KERNEL && split && split->part > 0) {
        whole.klass = split->klass;
        add_lever(list, whole);
    }
}

/* [n_codes] the first rank of each code; a code that nobody runs has none. */
static const ovl_rank **first_ranks(const ovl_program *p, ovl_arena *arena)
{
    const ovl_rank **first = OVL_NEW_ARRAY(arena, const ovl_rank *, p->n_codes);
    for (uint32_t r = p->n_ranks; r-- > 0;) {
        first[p->ranks[r].code] = &p->ranks[r];
    }
    return first;
}

const ovl_lever *ovl_levers_find(const ovl_program *p, ovl_arena *arena, uint32_t *n)
{
    const ovl_rank **first = first_ranks(p, arena);
    const ovl_lever host = {OVL_LEVER_HOST, OVL_NONE, OVL_NONE, OVL_NONE, 0, 0};
    levers found[OVL_LEVER_NAME] = {0}, all = {0};
    for (uint32_t c = 0; c < p->n_codes; c++) {
        for (uint32_t i = 0; first[c] && i < p->codes[c].n_ops; i++) {
            const ovl_op *op = ovl_code_op(&p->codes[c], i);
            ovl_lever lever;
            if (lever_of(p, first[c], op, &lever)) {
                add_lever(&found[lever.kind], lever);
                add_part_lever(p, op, lever, &found[lever.kind]);
            }
            if (op->launch > 0) {
                add_lever(&found[OVL_LEVER_HOST], host);
            }
        }
    }
    for (uint32_t k = 0; k < OVL_LEVER_NAME; k++) {
        for (uint32_t i = 0; i < found[k].len; i++) {
            ovl_vec_push(&all, found[k].data[i]);
        }
        ovl_vec_free(&found[k]);
    }
    *n = all.len;
    return ovl_vec_freeze(&all, arena);
}

bool ovl_lever_splits(const ovl_program *p, const ovl_lever *lever)
{
    bool any = false;
    for (uint32_t i = 0; i < p->n_cost_kinds && lever->kind == OVL_LEVER_KERNELS; i++) {
        const ovl_cost_kind *kind = &p->cost_kinds[i];
        ovl_id other = kind->split ? p->splits[kind->split - 1].klass : kind->klass;
        any |= kind->klass != other && (kind->klass == lever->klass || other == lever->klass);
    }
    return any;
}

/* A receive costs what its send does. */
static ovl_id name_of_sender(const ovl_program *p, uint32_t rank, uint32_t local)
{
    const ovl_rank *r = &p->ranks[rank];
    const ovl_code *code = &p->codes[r->code];
    uint32_t partner = p->numbered && p->partner ? p->partner[r->first_op + local] : OVL_NONE;
    bool receives = ovl_code_op(code, local)->kind == OVL_RECV && partner != OVL_NONE;
    return receives ? ovl_op_name_id(p, partner) : code->name[local];
}

bool ovl_lever_of_name(const ovl_program *p, const char *name, ovl_lever *lever)
{
    ovl_id id = ovl_names_find(p->names, name);
    *lever = (ovl_lever){OVL_LEVER_NAME, OVL_NONE, OVL_NONE, id, 0, 0};
    for (uint32_t r = 0; r < p->n_ranks && id != OVL_NONE; r++) {
        const ovl_code *code = &p->codes[p->ranks[r].code];
        for (uint32_t i = 0; i < code->n_ops; i++) {
            if (code->name[i] == id) {
                lever->name = name_of_sender(p, r, i);
                return true;
            }
        }
    }
    return false;
}

const char *ovl_lever_text(const ovl_program *p, const ovl_lever *lever, ovl_arena *arena)
{
    switch (lever->kind) {
    case OVL_LEVER_KERNELS:
        return lever->klass == OVL_NONE
                   ? "kernels without a class"
                   : ovl_arena_printf(arena, "kernels of class %s",
                                      OVL_NAME(p->names, p->kernel_classes[lever->klass]));
    case OVL_LEVER_COMM:
        return ovl_arena_printf(arena, "%s in %s", ovl_coll_name((ovl_coll)lever->coll),
                                OVL_NAME(p->names, lever->group));
    case OVL_LEVER_COPIES:
        return lever->engine == 0 ? "copies to the host" : "copies from the host";
    case OVL_LEVER_HOST:
        return "host";
    case OVL_LEVER_NAME:
        break;
    }
    return ovl_names_copy(p->names, lever->name, arena);
}

/* --- At which cost --- */

/* Costs, their phases, kinds and demands are there twice: as they are, and pulled; so a cost that
 * is one of a list for ranks stays one. */
typedef struct pulling {
    const ovl_program *p;
    const ovl_lever *lever;
    const ovl_faster *how;
    uint32_t n_demands;
    ovl_cost *costs, *phases;
    ovl_cost_kind *kinds;
    ovl_demand *demands;
    uint64_t *capacity; /* [n_ports] the least of any rank's; 0: no rank has one */
} pulling;

/* t * num / den, rounded up; in two parts, which do not overflow. */
static ovl_time part_of(ovl_time t, const ovl_faster *how)
{
    ovl_time den = how->den, num = how->num;
    return t / den * num + (t % den * num + den - 1) / den;
}

static uint64_t rate_at(const pulling *b, const ovl_demand *d)
{
    uint64_t num = b->how->num, den = b->how->den, cap = b->capacity[d->port];
    uint64_t whole = d->rate / num;
    uint64_t rate =
        whole > UINT64_MAX / den - 1 ? UINT64_MAX : whole * den + d->rate % num * den / num;
    return OVL_MAX(d->rate, OVL_MIN(rate, cap));
}

static void find_capacities(pulling *b, ovl_arena *arena)
{
    const ovl_program *p = b->p;
    b->capacity = OVL_NEW_ARRAY(arena, uint64_t, p->n_ports);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        for (uint32_t port = 0; port < p->n_ports; port++) {
            ovl_id id = p->rank_ports[p->ranks[r].first_port + port];
            uint64_t own = id == OVL_NONE ? 0 : p->resources[id].capacity;
            uint64_t least = b->capacity[port];
            b->capacity[port] = own && (!least || own < least) ? own : least;
        }
    }
}

static ovl_time share_of(const pulling *b, const ovl_split *split, ovl_time t)
{
    ovl_time first = (ovl_time)((wide)t * split->part / split->whole);
    return split->klass == b->lever->klass ? first : t - first;
}

/* A kernel of two classes keeps what is of the other. */
static ovl_cost pulled_partly(const pulling *b, const ovl_cost *old, const ovl_split *split)
{
    ovl_cost cost = *old;
    ovl_time work = share_of(b, split, old->work), compute = share_of(b, split, old->compute);
    cost.work += part_of(work, b->how) - work;
    cost.compute += part_of(compute, b->how) - compute;
    return cost;
}

static ovl_cost pulled(const pulling *b, const ovl_cost *old)
{
    ovl_cost cost = *old;
    const ovl_split *split = ovl_cost_split(b->p, old);
    if (b->lever->kind == OVL_LEVER_KERNELS && split &&
        split->klass != ovl_kind_of(b->p, old)->klass) {
        return pulled_partly(b, old, split);
    }
    cost.latency = part_of(cost.latency, b->how);
    cost.work = part_of(cost.work, b->how);
    cost.compute = part_of(cost.compute, b->how);
    cost.kind += b->p->n_cost_kinds;
    cost.then += cost.then ? b->p->n_phases : 0;
    return cost;
}

static ovl_cost_kind pulled_kind(const pulling *b, const ovl_cost_kind *old)
{
    ovl_cost_kind kind = *old;
    if (b->how->num == 0) {
        return (ovl_cost_kind){.klass = OVL_NONE, .weight = 1, .engine = old->engine};
    }
    kind.first_demand += b->n_demands;
    kind.first_peer += b->n_demands;
    if (b->how->fair && old->n_demands) { /* by bytes: the rate of the first counts */
        kind.weight *=
            (double)b->demands[old->first_demand].rate / (double)b->demands[kind.first_demand].rate;
    }
    return kind;
}

static void pull_costs(pulling *b, ovl_arena *arena)
{
    const ovl_program *p = b->p;
    for (uint32_t i = 0; i < p->n_cost_kinds; i++) {
        const ovl_cost_kind *kind = &p->cost_kinds[i];
        b->n_demands = OVL_MAX(b->n_demands, kind->first_demand + kind->n_demands);
        b->n_demands = OVL_MAX(b->n_demands, kind->first_peer + kind->n_peer);
    }
    b->demands = OVL_NEW_ARRAY(arena, ovl_demand, 2 * (size_t)b->n_demands);
    for (uint32_t i = 0; i < b->n_demands; i++) {
        b->demands[i] = b->demands[b->n_demands + i] = p->demands[i];
        if (b->how->num > 0 && p->demands[i].rate > 0) {
            b->demands[b->n_demands + i].rate = rate_at(b, &p->demands[i]);
        }
    }
    b->kinds = OVL_NEW_ARRAY(arena, ovl_cost_kind, 2 * (size_t)p->n_cost_kinds);
    for (uint32_t i = 0; i < p->n_cost_kinds; i++) {
        b->kinds[i] = p->cost_kinds[i];
        b->kinds[p->n_cost_kinds + i] = pulled_kind(b, &p->cost_kinds[i]);
    }
    b->costs = OVL_NEW_ARRAY(arena, ovl_cost, 2 * (size_t)p->n_costs);
    for (uint32_t i = 0; i < p->n_costs; i++) {
        b->costs[i] = p->costs[i];
        b->costs[p->n_costs + i] = pulled(b, &p->costs[i]);
    }
    b->phases = OVL_NEW_ARRAY(arena, ovl_cost, 2 * (size_t)p->n_phases);
    for (uint32_t i = 0; i < p->n_phases; i++) {
        b->phases[i] = p->phases[i];
        b->phases[p->n_phases + i] = pulled(b, &p->phases[i]);
    }
}

static const uint32_t *pull_code(const pulling *b, const ovl_rank *first, const ovl_code *code,
                                 ovl_rewrite *w, ovl_arena *arena)
{
    uint32_t *which = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops);
    for (uint32_t i = 0; i < code->n_ops; i++) {
        ovl_op op = *ovl_code_op(code, i);
        if (first &&
            (pulls(b->p, b->lever, first, &op, code->name[i]) || pulls_part(b->p, b->lever, &op))) {
            op.cost += b->p->n_costs;
        }
        if (b->lever->kind == OVL_LEVER_HOST) {
            op.launch = part_of(op.launch, b->how);
        }
        which[i] = ovl_rewrite_op(w, code->which[i], &op);
    }
    return which;
}

ovl_program ovl_program_faster(const ovl_program *p, const ovl_lever *lever, const ovl_faster *how,
                               ovl_arena *arena)
{
    assert(how->num <= how->den && how->den > 0 && how->den <= 10000);
    pulling b = {.p = p, .lever = lever, .how = how};
    const ovl_rank **first = first_ranks(p, arena);
    ovl_program faster = *p;
    ovl_code *codes = OVL_NEW_ARRAY(arena, ovl_code, p->n_codes);
    ovl_arena scratch = {0};
    ovl_rewrite w;
    ovl_rewrite_begin(&w, p, &scratch);
    find_capacities(&b, arena);
    pull_costs(&b, arena);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        codes[c] = p->codes[c];
        codes[c].which = pull_code(&b, first[c], &p->codes[c], &w, arena);
    }
    ovl_rewrite_end(&w, &faster, codes, arena);
    ovl_arena_free(&scratch);
    faster.costs = b.costs;
    faster.n_costs = 2 * p->n_costs;
    faster.phases = b.phases;
    faster.n_phases = 2 * p->n_phases;
    faster.cost_kinds = b.kinds;
    faster.n_cost_kinds = 2 * p->n_cost_kinds;
    faster.demands = b.demands;
    return faster;
}

bool ovl_simulate_step(const ovl_program *program, const ovl_run_options *options, ovl_time *step,
                       ovl_errs *errs)
{
    ovl_arena arena = {0};
    ovl_fold fold;
    ovl_program chosen;
    ovl_timeline timeline;
    ovl_run_options how = *options;
    how.step_only = true;
    bool good = ovl_fold_choose(program, false, &arena, &fold, &chosen, errs) &&
                ovl_fold_run(program, &chosen, &how, &arena, &timeline, errs);
    if (good) {
        *step = timeline.step;
    }
    ovl_arena_free(&arena);
    return good;
}
