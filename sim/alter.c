#include "sim/alter.h"

#include "sim/exposure.h"
#include "sim/rewrite.h"

typedef struct altering {
    const ovl_program *p;
    const ovl_alteration *how;
    ovl_means means;
    ovl_id *mean_cost; /* by group of the means: its cost, or OVL_NONE: not yet */
    ovl_id free_cost;  /* OVL_NONE: not yet */
    OVL_VEC(ovl_cost) costs;
} altering;

static ovl_id add_cost(altering *a, ovl_cost cost)
{
    ovl_vec_push(&a->costs, cost);
    return a->costs.len - 1;
}

/* The first cost of its kind with the mean time; what is bound by SMs stays in proportion. */
static void set_mean(altering *a, const uint32_t *group, uint32_t local, ovl_op *op)
{
    ovl_id *known = &a->mean_cost[group[local]];
    if (*known == OVL_NONE) {
        ovl_cost cost = a->costs.data[op->cost];
        ovl_time mean = a->means.mean[group[local]];
        if (cost.work > 0 && cost.compute > 0) {
            cost.compute = (ovl_time)((double)cost.compute / (double)cost.work * (double)mean);
        }
        cost.work = mean;
        *known = add_cost(a, cost);
    }
    op->cost = *known;
    op->per_rank = false;
}

static void set_free(altering *a, ovl_op *op)
{
    if (a->free_cost == OVL_NONE) {
        a->free_cost = add_cost(a, (ovl_cost){.kind = OVL_KIND_FREE});
    }
    op->cost = a->free_cost;
    op->per_rank = false;
}

/* A call that takes its time per rank keeps it. */
static void quicken(altering *a, ovl_op *op)
{
    op->launch /= a->how->host_divisor;
    if (op->kind == OVL_HOST && !op->per_rank) {
        ovl_cost cost = a->costs.data[op->cost];
        cost.work /= a->how->host_divisor;
        op->cost = add_cost(a, cost);
    }
}

static const uint32_t *alter_code(altering *a, uint32_t code_id, ovl_rewrite *w, ovl_arena *arena)
{
    const ovl_code *code = &a->p->codes[code_id];
    uint32_t *which = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops);
    for (uint32_t i = 0; i < code->n_ops; i++) {
        ovl_op op = *ovl_code_op(code, i);
        if (a->how->mean_kernels && op.kind == OVL_KERNEL) {
            set_mean(a, a->means.group[code_id], i, &op);
        }
        if ((a->how->free_comm && ovl_is_communication(&op)) ||
            (a->how->free_copies && op.kind == OVL_COPY)) {
            set_free(a, &op);
        }
        if (a->how->free_kernels && op.kind == OVL_KERNEL) {
            set_free(a, &op);
        }
        if (a->how->host_divisor > 1) {
            quicken(a, &op);
        }
        which[i] = ovl_rewrite_op(w, code->which[i], &op);
    }
    return which;
}

/* --- What transfers wait for --- */

typedef struct edges {
    const ovl_program *program;
    const ovl_code *old;
    const ovl_inputs *inputs;
    ovl_tying *tying;
    OVL_VEC(uint32_t) after; /* offsets, of one operation */
} edges;

static bool moves_data(const ovl_op *op)
{
    return ovl_is_communication(op) || op->kind == OVL_COPY;
}

static bool is_input(const ovl_inputs *inputs, uint32_t op, uint32_t before)
{
    for (uint32_t k = inputs->at[op]; k < inputs->at[op + 1]; k++) {
        if (inputs->item[k] == before) {
            return true;
        }
    }
    return false;
}

/* A batch has no input of its own: it waits for what it did. */
static bool is_freed(const edges *e, uint32_t op)
{
    const ovl_op *o = ovl_code_op(e->old, op);
    return moves_data(o) && o->kind != OVL_BATCH && !o->behind &&
           (o->kind == OVL_RECV || e->inputs->known[op]);
}

/* Do others who load the same links slow it? HBM, port 0, is none. */
static bool loads_links(const ovl_program *p, const ovl_cost *cost)
{
    bool any = false;
    for (; cost; cost = ovl_next_phase(p, cost)) {
        const ovl_cost_kind *kind = ovl_kind_of(p, cost);
        const ovl_demand *own = p->demands + kind->first_demand;
        const ovl_demand *peer = p->demands + kind->first_peer;
        for (uint32_t i = 0; i < kind->n_demands; i++) {
            any |= own[i].port > 0;
        }
        for (uint32_t i = 0; i < kind->n_peer; i++) {
            any |= peer[i].port > 0;
        }
    }
    return any;
}

/* Behind whom a transfer stays in its communicator. Eager sends have one wire to each peer. What
 * takes time, but loads no link, would be as fast beside others as alone, as if its communicator
 * had its bandwidth twice. */
static uint32_t stays_behind(const edges *e, const ovl_op *o, const ovl_back *old)
{
    if (o->eager && (o->kind == OVL_SEND || o->kind == OVL_RECV)) {
        return old->wire;
    }
    const ovl_cost *cost = &e->program->costs[o->cost];
    bool alone = ovl_cost_time(e->program, cost) > 0 && !loads_links(e->program, cost);
    return alone ? old->comm_prev : 0;
}

static bool is_after(const edges *e, uint32_t offset)
{
    bool is = false;
    for (uint32_t i = 0; i < e->after.len && !is; i++) {
        is = e->after.data[i] == offset;
    }
    return is;
}

/* What an operation waits for, anew. The order of its communicator had an eager send behind the one
 * before it on its wire, which now may come later than what lies between them. */
static uint32_t find_back(edges *e, uint32_t op, uint32_t *recent)
{
    const ovl_code *c = e->old;
    ovl_back back = ovl_code_ties(c, op)->back;
    bool freed = is_freed(e, op);
    e->after.len = 0;
    ovl_offsets after = ovl_code_after(c, op);
    for (uint32_t k = 0; k < after.n; k++) {
        if (!freed || is_input(e->inputs, op, op + after.by[k])) {
            ovl_vec_push(&e->after, after.by[k]);
        }
    }
    if (freed && back.stream_prev && !is_input(e->inputs, op, op + back.stream_prev)) {
        back.stream_prev = 0;
    }
    if (freed) {
        back.comm_prev = stays_behind(e, ovl_code_op(c, op), &back);
    }
    if (back.wire && back.wire != back.stream_prev && back.wire != back.comm_prev &&
        !is_after(e, back.wire)) {
        ovl_vec_push(&e->after, back.wire);
    }
    back.after = ovl_tie_list(e->tying, e->after.data, e->after.len);
    return ovl_tie_back(e->tying, &back, recent);
}

/* What the operations of a code wait for, anew. */
static const uint32_t *free_order(const ovl_program *program, const ovl_inputs *inputs,
                                  const ovl_code *code, ovl_tying *tying, ovl_arena *arena)
{
    edges e = {.program = program, .old = code, .inputs = inputs, .tying = tying};
    uint32_t *tied = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops);
    uint32_t recent = 0;
    for (uint32_t op = 0; op < code->n_ops; op++) {
        tied[op] = find_back(&e, op, &recent);
    }
    ovl_tie_code(tying, code, tied);
    ovl_vec_free(&e.after);
    return tied;
}

static ovl_program alter(const ovl_program *program, const ovl_alteration *how, ovl_arena *arena)
{
    ovl_arena scratch = {0};
    altering a = {.p = program, .how = how, .free_cost = OVL_NONE};
    if (how->mean_kernels) {
        ovl_means_find(program, &scratch, &a.means);
        a.mean_cost = OVL_NEW_ARRAY(&scratch, ovl_id, a.means.n);
        memset(a.mean_cost, 0xff, a.means.n * sizeof *a.mean_cost); /* OVL_NONE everywhere */
    }
    for (uint32_t i = 0; i < program->n_costs; i++) {
        ovl_vec_push(&a.costs, program->costs[i]);
    }
    const ovl_inputs *inputs = how->early_comm ? ovl_inputs_find(program, &scratch) : NULL;
    ovl_program altered = *program;
    ovl_rewrite w;
    ovl_tying tying = {0};
    ovl_rewrite_begin(&w, program, &scratch);
    ovl_code *codes = OVL_NEW_ARRAY(arena, ovl_code, program->n_codes);
    for (uint32_t c = 0; c < program->n_codes; c++) {
        codes[c] = program->codes[c];
        codes[c].which = alter_code(&a, c, &w, arena);
        if (inputs) {
            codes[c].tied = free_order(program, &inputs[c], &program->codes[c], &tying, arena);
        }
    }
    ovl_rewrite_end(&w, &altered, codes, arena);
    if (inputs) {
        ovl_tying_end(&tying, &altered, codes, arena);
    }
    altered.n_costs = a.costs.len;
    altered.costs = ovl_vec_freeze(&a.costs, arena);
    ovl_arena_free(&scratch);
    return altered;
}

/* --- Orders that were searched for --- */

/* With stages like their mean a search finds the order of such stages, and only free transfers can
 * change that further. */
static unsigned order_of(const ovl_alteration *how)
{
    unsigned free = how->free_comm ? OVL_ORDER_FREE : 0;
    return how->mean_kernels ? OVL_ORDER_EVEN | free : 0;
}

static const ovl_program *chosen_order(const ovl_program *program, const ovl_alteration *how)
{
    return how->own_order ? program : ovl_program_ordered(program, order_of(how));
}

static const ovl_program *const *alter_orders(const ovl_program *program, const ovl_alteration *how,
                                              ovl_arena *arena)
{
    const ovl_program **orders = OVL_NEW_ARRAY(arena, const ovl_program *, OVL_ORDERS);
    const ovl_program *chosen = chosen_order(program, how);
    for (unsigned order = 1; order < OVL_ORDERS; order++) {
        const ovl_program *other = ovl_program_ordered(program, order | order_of(how));
        if (other != chosen) {
            ovl_program *altered = OVL_NEW(arena, ovl_program);
            *altered = alter(other, how, arena);
            altered->orders = NULL;
            orders[order] = altered;
        }
    }
    return orders;
}

bool ovl_alteration_orders(const ovl_program *program, const ovl_alteration *how)
{
    return ovl_program_ordered(program, order_of(how)) != program;
}

ovl_program ovl_program_altered(const ovl_program *program, const ovl_alteration *how,
                                ovl_arena *arena)
{
    ovl_program altered = alter(chosen_order(program, how), how, arena);
    altered.orders = program->orders ? alter_orders(program, how, arena) : NULL;
    return altered;
}
