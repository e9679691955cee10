#include "models/inner.h"

#include "models/layer.h"

static const ovl_inner_list *list_of(const ovl_inner *inner, ovl_inner_pass pass)
{
    return pass == OVL_INNER_FORWARD ? &inner->forward
           : pass == OVL_INNER_AGAIN ? &inner->again
                                     : &inner->backward;
}

/* --- Which operations a pass has --- */

static double flops_of(const ovl_inner_op *op, ovl_inner_pass pass)
{
    return (pass == OVL_INNER_BACKWARD_WEIGHT ? 0 : op->flops) +
           (pass == OVL_INNER_BACKWARD_INPUT ? 0 : op->weight_flops);
}

static uint64_t hbm_of(const ovl_inner_op *op, ovl_inner_pass pass)
{
    return (pass == OVL_INNER_BACKWARD_WEIGHT ? 0 : op->hbm) +
           (pass == OVL_INNER_BACKWARD_INPUT ? 0 : op->weight_hbm);
}

static bool is_in(const ovl_inner_op *op, ovl_inner_pass pass)
{
    if (op->kind == OVL_INNER_KERNEL) {
        return flops_of(op, pass) > 0 || hbm_of(op, pass) > 0;
    }
    return pass == OVL_INNER_BACKWARD_WEIGHT ? op->weight
                                             : pass != OVL_INNER_BACKWARD_INPUT || !op->weight;
}

double ovl_inner_flops(const ovl_inner *inner, ovl_inner_pass pass)
{
    const ovl_inner_list *list = list_of(inner, pass);
    double sum = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        sum += flops_of(&list->op[i], pass);
    }
    return sum;
}

uint64_t ovl_inner_bytes(const ovl_inner *inner, ovl_inner_pass pass, const char *group)
{
    const ovl_inner_list *list = list_of(inner, pass);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const ovl_inner_op *op = &list->op[i];
        if (op->kind != OVL_INNER_KERNEL && is_in(op, pass) && ovl_names_group(group, op->group)) {
            sum += op->bytes;
        }
    }
    return sum;
}

/* A step of a ring is a launch with a send and a receive. */
static uint32_t count(const ovl_inner_list *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        n += list->op[i].kind == OVL_INNER_SHIFT ? 3 : 1;
    }
    return n;
}

bool ovl_inner_has(const ovl_inner *inner, ovl_inner_pass pass)
{
    const ovl_inner_list *list = list_of(inner, pass);
    bool has = false;
    for (uint32_t i = 0; i < list->n; i++) {
        has |= is_in(&list->op[i], pass);
    }
    return has;
}

uint32_t ovl_inner_count(const ovl_inner *inner)
{
    return count(&inner->forward) + count(&inner->again) + count(&inner->backward);
}

/* --- What kernels cost --- */

static double share_of(const ovl_inner_op *op, ovl_inner_pass pass)
{
    return op->kind == OVL_INNER_KERNEL && is_in(op, pass)
               ? flops_of(op, pass) / (op->efficiency > 0 ? op->efficiency : 1)
               : 0;
}

/* What a measured pass leaves to one kernel: by FLOPs, so that all together take what was measured.
 * Of a backward in two pieces each takes its share of the whole. */
static ovl_time measured(const ovl_inner *inner, ovl_inner_pass pass, uint32_t which)
{
    const ovl_inner_list *list = list_of(inner, pass);
    bool forward = pass == OVL_INNER_FORWARD || pass == OVL_INNER_AGAIN;
    ovl_time whole = forward ? inner->measured_forward : inner->measured_backward;
    const ovl_inner_list *of = forward ? &inner->forward : &inner->backward;
    double sum = 0, before = 0, own = share_of(&list->op[which], pass);
    for (uint32_t i = 0; i < of->n; i++) {
        sum += share_of(&of->op[i], forward ? OVL_INNER_FORWARD : OVL_INNER_BACKWARD);
    }
    for (uint32_t i = 0; i < which; i++) {
        before += share_of(&list->op[i], pass);
    }
    if (sum <= 0) {
        return 0;
    }
    return (ovl_time)((double)whole * ((before + own) / sum)) -
           (ovl_time)((double)whole * (before / sum));
}

/* Bytes that a kernel of no compute moves, at the efficiency of such kernels. */
static ovl_time moving(ovl_lowering *l, void *context)
{
    const ovl_kernel_spec *spec = context;
    return ovl_bytes_time(spec->hbm, (uint64_t)((double)l->hw->gpu.hbm * ovl_memory_efficiency(l)));
}

static ovl_plan_cost kernel_cost(ovl_lowering *l, const ovl_inner *inner, ovl_inner_pass pass,
                                 uint32_t which, const char *klass, ovl_mark mark)
{
    const ovl_inner_op *op = &list_of(inner, pass)->op[which];
    bool forward = pass == OVL_INNER_FORWARD || pass == OVL_INNER_AGAIN;
    ovl_time length = 0;
    ovl_kernel_spec spec = {.name = op->name,
                            .mark = mark,
                            .flops = flops_of(op, pass),
                            .hbm = hbm_of(op, pass),
                            .efficiency = op->efficiency,
                            .dtype = (ovl_dtype)op->dtype,
                            .load = l->even ? NULL : op->load,
                            .klass = klass     ? klass
                                     : forward ? "forward"
                                               : "backward"};
    if (forward ? inner->measured_forward : inner->measured_backward) {
        length = measured(inner, pass, which);
        spec.duration = (ovl_times){.item = &length, .count = 1};
        spec.estimated = true;
    } else if (op->moves && l->hw->gpu.hbm) {
        length = moving(l, &spec);
        spec.on = ovl_on_machines(l, moving, &spec);
        spec.duration = (ovl_times){.item = &length, .count = 1};
        spec.no_compute = true;
    }
    return ovl_plan_kernel(l, &spec);
}

ovl_time ovl_inner_time(ovl_lowering *l, const ovl_inner *inner, ovl_inner_pass pass, ovl_mark mark)
{
    const ovl_inner_list *list = list_of(inner, pass);
    ovl_time sum = 0;
    bool one_gpu = l->one_gpu;
    l->one_gpu = true;
    l->even = true;
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->op[i].kind == OVL_INNER_KERNEL && is_in(&list->op[i], pass)) {
            ovl_plan_cost cost = kernel_cost(l, inner, pass, i, NULL, mark);
            sum += cost.id == OVL_NONE ? 0 : l->b->costs.data[cost.id].work;
        }
    }
    l->one_gpu = one_gpu;
    l->even = false;
    return sum;
}

/* --- The place --- */

/* Costs of the operations of a layer in one code; an id of OVL_NONE: not yet known. */
typedef struct op_cost {
    ovl_plan_cost own;
    ovl_plan_cost
        receive; /* of a step of a ring: what comes may cross other links than what goes */
} op_cost;

typedef struct ovl_inner_costs {
    const ovl_inner *inner;
    op_cost *cost[OVL_INNER_PASSES];
} ovl_inner_costs;

void ovl_inner_open(ovl_inner_place *at, ovl_lowering *l, ovl_arena *scratch, ovl_id code,
                    uint32_t rank, uint16_t compute)
{
    ovl_inner_close(at);
    *at = (ovl_inner_place){.l = l,
                            .scratch = scratch,
                            .code = code,
                            .rank = rank,
                            .compute = compute,
                            .launch = ovl_plan_launch(l),
                            .chain = OVL_NONE,
                            .last = OVL_NONE,
                            .waits = OVL_NONE,
                            .input = OVL_NONE,
                            .output = OVL_NONE};
}

void ovl_inner_close(ovl_inner_place *at)
{
    ovl_vec_free(&at->lanes);
    ovl_vec_free(&at->costs);
}

/* Looked for among those of the layer first: a code meets few layers. */
static op_cost *costs_of(ovl_inner_place *at, const ovl_inner *inner, ovl_inner_pass pass)
{
    ovl_inner_costs *found = NULL;
    for (uint32_t i = 0; i < at->costs.len && !found; i++) {
        found = at->costs.data[i]->inner == inner ? at->costs.data[i] : NULL;
    }
    if (!found) {
        found = OVL_NEW(at->scratch, ovl_inner_costs);
        *found = (ovl_inner_costs){.inner = inner};
        ovl_vec_push(&at->costs, found);
    }
    if (!found->cost[pass]) {
        uint32_t n = list_of(inner, pass)->n;
        found->cost[pass] = OVL_NEW_ARRAY(at->scratch, op_cost, n);
        for (uint32_t i = 0; i < n; i++) {
            found->cost[pass][i].own.id = OVL_NONE;
        }
    }
    return found->cost[pass];
}

static const ovl_inner_lane *lane_of(ovl_inner_place *at, const char *name, ovl_mark mark)
{
    for (uint32_t i = 0; i < at->lanes.len; i++) {
        if (strcmp(at->lanes.data[i].name, name) == 0) {
            return &at->lanes.data[i];
        }
    }
    const ovl_group *group = ovl_plan_group(at->l, name, mark);
    if (!group) {
        at->broken = true;
        return NULL;
    }
    ovl_inner_lane lane = {.name = name,
                           .group = group,
                           .stream = ovl_add_stream(at->l->b, at->code, name),
                           .slot = ovl_plan_slot(at->l, at->code, group)};
    ovl_vec_push(&at->lanes, lane);
    return &at->lanes.data[at->lanes.len - 1];
}

static ovl_plan_cost comm_cost(ovl_inner_place *at, const ovl_inner_op *op,
                               const ovl_inner_lane *lane, const ovl_spread *spread, ovl_mark mark)
{
    bool shift = op->kind == OVL_INNER_SHIFT;
    ovl_comm_spec spec = {.name = op->name,
                          .mark = mark,
                          .op = shift ? OVL_SEND_RECV : (ovl_coll)op->coll,
                          .group = op->group,
                          .n = shift ? 2 : ovl_plan_members(at->l, lane->group, at->rank),
                          .spread = spread,
                          .has_bytes = true,
                          .bytes = op->bytes,
                          .sends = op->sends,
                          .receives = op->receives,
                          .pairs = op->pairs};
    return ovl_plan_comm(at->l, &spec);
}

/* A step of a ring costs what the route between its two ranks says, each way its own. */
static op_cost comm_costs(ovl_inner_place *at, const ovl_inner_op *op, const ovl_inner_lane *lane,
                          ovl_mark mark)
{
    const ovl_group *group = lane ? lane->group : NULL;
    op_cost cost = {.own = {.id = OVL_NONE}};
    if (!group) {
        return cost;
    }
    if (op->kind != OVL_INNER_SHIFT) {
        cost.own = comm_cost(at, op, lane, ovl_plan_spread(at->l, group, at->rank), mark);
        return cost;
    }
    const ovl_spread *to = ovl_plan_ring(at->l, group, at->rank, true);
    const ovl_spread *from = ovl_plan_ring(at->l, group, at->rank, false);
    cost.own = comm_cost(at, op, lane, to, mark);
    cost.receive = from == to ? cost.own : comm_cost(at, op, lane, from, mark);
    if (cost.receive.id == OVL_NONE) {
        cost.own.id = OVL_NONE;
    }
    return cost;
}

/* --- Writing --- */

/* What the first operation of a pass brings with it. */
static void enter(ovl_inner_place *at)
{
    if (at->waits != OVL_NONE) {
        ovl_add_after(at->l->b, at->code, at->waits);
        at->waits = OVL_NONE;
    }
    if (at->input != OVL_NONE) {
        ovl_add_access(at->l->b, at->code, at->input, false);
        at->input = OVL_NONE;
    }
}

static void leave(ovl_inner_place *at)
{
    if (at->output != OVL_NONE) {
        ovl_add_access(at->l->b, at->code, at->output, true);
        at->output = OVL_NONE;
    }
}

ovl_time ovl_inner_mean(const ovl_inner_place *at, ovl_time length)
{
    double factor = at->own > 0 ? (double)at->mean / (double)at->own : 1;
    return at->part == OVL_PART_NONE ? 0
           : at->own == at->mean     ? length
                                     : (ovl_time)((double)length * factor);
}

/* A pass while it is written. */
typedef ovl_inner_writing writing;

static void wait_for(const writing *w, int16_t need)
{
    uint32_t before = need >= 0 ? w->local[need] : need == OVL_INNER_INPUT ? w->from : OVL_NONE;
    if (before != OVL_NONE) {
        ovl_add_after(w->at->l->b, w->at->code, before);
    }
}

/* Kernels stand in the order of their stream anyway. Communication waits for all that the compute
 * stream was given before it, as PyTorch's process groups do. */
static void wait_for_needs(const writing *w, const ovl_inner_op *op)
{
    const ovl_inner_list *list = list_of(w->inner, w->pass);
    bool kernel = op->kind == OVL_INNER_KERNEL;
    if (!kernel && w->at->last != OVL_NONE) {
        ovl_add_after(w->at->l->b, w->at->code, w->at->last);
    }
    for (int k = 0; k < 2; k++) {
        int16_t need = op->needs[k];
        bool other = need < 0 || list->op[need].kind != OVL_INNER_KERNEL;
        bool streamed = need == OVL_INNER_INPUT && w->from_kernel;
        if (!kernel || (other && !streamed)) {
            wait_for(w, need);
        }
    }
}

static ovl_op new_op(const writing *w, const ovl_inner_op *op, ovl_op_kind kind, ovl_plan_cost cost)
{
    const ovl_inner_place *at = w->at;
    const char *name = w->caller->name(w->caller->context, op->name);
    return (ovl_op){.kind = (uint8_t)kind,
                    .coll = op->kind == OVL_INNER_COLLECTIVE ? op->coll : (uint8_t)OVL_SEND_RECV,
                    .dtype = op->dtype,
                    .per_rank = cost.per_rank,
                    .uneven = cost.uneven,
                    .stream = at->compute,
                    .comm = OVL_NO_COMM,
                    .name = ovl_name(at->l->b, name),
                    .cost = cost.id,
                    .batch = OVL_NONE,
                    .bytes = op->kind == OVL_INNER_KERNEL ? 0 : op->bytes,
                    .launch = at->launch + (w->begun ? 0 : w->caller->host),
                    .mark = w->caller->mark,
                    .part = at->part,
                    .stage = at->stage};
}

static uint32_t add_op(const writing *w, const ovl_op *op)
{
    ovl_inner_place *at = w->at;
    uint32_t local = ovl_add_op(at->l->b, at->code, op);
    ovl_set_microbatch(at->l->b, at->code, at->microbatch);
    return local;
}

static uint32_t add_kernel(writing *w, const ovl_inner_op *op, ovl_plan_cost cost)
{
    ovl_inner_place *at = w->at;
    ovl_op kernel = new_op(w, op, OVL_KERNEL, cost);
    kernel.coll = 0;
    /* Of ranks with loads of their own, what one of mean load takes. */
    ovl_time length = at->l->b->costs.data[cost.id].work;
    bool loaded = op->load && op->load[0] > 0;
    kernel.mean = ovl_inner_mean(at, loaded ? (ovl_time)((double)length / op->load[0]) : length);
    at->last = add_op(w, &kernel);
    return at->last;
}

/* Bytes go to the next member of the ring and come from the one before, in one launch. */
static uint32_t add_shift(writing *w, const ovl_inner_op *op, const ovl_inner_lane *lane,
                          const op_cost *cost)
{
    ovl_inner_place *at = w->at;
    ovl_plan_cost nothing = ovl_plan_length(at->l, op->name, w->caller->mark, (ovl_times){0});
    ovl_op batch = new_op(w, op, OVL_BATCH, nothing);
    batch.coll = 0;
    batch.bytes = 0;
    batch.part = OVL_PART_NONE;
    batch.stream = lane->stream;
    batch.comm = lane->slot;
    uint32_t local = add_op(w, &batch);
    wait_for_needs(w, op);
    for (int32_t k = 0; k < 2; k++) {
        ovl_op part = new_op(w, op, k ? OVL_RECV : OVL_SEND, k ? cost->receive : cost->own);
        part.part = OVL_PART_NONE;
        part.name = batch.name;
        part.stream = OVL_NO_STREAM;
        part.comm = lane->slot;
        part.batch = local;
        part.peer = k ? -1 : 1;
        part.peer_relative = true;
        part.launch = 0;
        add_op(w, &part);
    }
    return local;
}

static uint32_t add_collective(writing *w, const ovl_inner_op *op, const ovl_inner_lane *lane,
                               ovl_plan_cost cost)
{
    ovl_op collective = new_op(w, op, OVL_COLLECTIVE, cost);
    collective.part = OVL_PART_NONE;
    collective.stream = lane->stream;
    collective.comm = lane->slot;
    return add_op(w, &collective);
}

/* --- What is gathered, sent and received --- */

/* Room for what an operation writes. What the next layer waits for is recorded with the allocator
 * instead. */
static void add_room(writing *w, const ovl_inner_op *op, uint32_t i)
{
    ovl_inner_place *at = w->at;
    if (op->holds.most == 0 || w->until[i] == OVL_NONE) {
        return;
    }
    const char *name = w->caller->name(w->caller->context, op->name);
    bool waited = list_of(w->inner, w->pass)->op[w->until[i]].kind == OVL_INNER_KERNEL;
    ovl_buffer buffer = {.name = ovl_name(at->l->b, name),
                         .category = OVL_TEMPORARY,
                         .dtype = op->dtype,
                         .stream = at->compute,
                         .record_stream = !waited,
                         .mark = w->caller->mark};
    ovl_plan_size(at->l, name, op->holds, &buffer);
    w->buffer[i] = ovl_add_buffer(at->l->b, at->code, &buffer);
}

/* Of the operation just added. */
static void use_room(writing *w, const ovl_inner_op *op, uint32_t i)
{
    ovl_builder *b = w->at->l->b;
    if (w->buffer[i] != OVL_NONE) {
        ovl_add_access(b, w->at->code, w->buffer[i], true);
    }
    for (int k = 0; k < 2; k++) {
        int16_t need = op->needs[k];
        if (need >= 0 && w->buffer[need] != OVL_NONE) {
            ovl_add_access(b, w->at->code, w->buffer[need], false);
        }
    }
}

static void let_go(writing *w, uint32_t i)
{
    for (uint32_t k = w->ends[i]; k != OVL_NONE; k = w->more[k]) {
        if (w->buffer[k] != OVL_NONE) {
            ovl_free_buffer(w->at->l->b, w->at->code, w->buffer[k]);
            w->buffer[k] = OVL_NONE;
        }
    }
}

static void add_one(writing *w, uint32_t i, op_cost *cost)
{
    ovl_inner_place *at = w->at;
    const ovl_inner_op *op = &list_of(w->inner, w->pass)->op[i];
    bool kernel = op->kind == OVL_INNER_KERNEL;
    const ovl_inner_lane *lane = kernel ? NULL : lane_of(at, op->group, w->caller->mark);
    if (cost->own.id == OVL_NONE && !at->broken && kernel) {
        cost->own = kernel_cost(at->l, w->inner, w->pass, i, w->caller->klass, w->caller->mark);
    } else if (cost->own.id == OVL_NONE && !at->broken) {
        *cost = comm_costs(at, op, lane, w->caller->mark);
    }
    at->broken = at->broken || cost->own.id == OVL_NONE;
    if (at->broken) {
        return;
    }
    add_room(w, op, i);
    if (op->kind == OVL_INNER_SHIFT) { /* accesses go to its last part: it ends with the launch */
        w->local[i] = add_shift(w, op, lane, cost);
    } else {
        w->local[i] =
            kernel ? add_kernel(w, op, cost->own) : add_collective(w, op, lane, cost->own);
        wait_for_needs(w, op);
    }
    w->begun = true;
    enter(at);
    use_room(w, op, i);
    let_go(w, i);
}

static uint32_t last_kernel(const ovl_inner_list *list, ovl_inner_pass pass)
{
    uint32_t last = OVL_NONE;
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->op[i].kind == OVL_INNER_KERNEL && is_in(&list->op[i], pass)) {
            last = i;
        }
    }
    return last;
}

/* Until when what an operation writes is there. Process groups keep what they send until somebody
 * waits for them, so that memory is used again by what the compute stream does behind that. */
static void find_ends(writing *w, const ovl_inner_list *list)
{
    w->buffer = OVL_NEW_ARRAY(w->at->scratch, ovl_id, list->n);
    w->until = OVL_NEW_ARRAY(w->at->scratch, uint32_t, list->n);
    memset(w->buffer, 0xff, list->n * sizeof *w->buffer); /* OVL_NONE */
    memset(w->until, 0xff, list->n * sizeof *w->until);
    w->ends = OVL_NEW_ARRAY(w->at->scratch, uint32_t, list->n);
    w->more = OVL_NEW_ARRAY(w->at->scratch, uint32_t, list->n);
    memset(w->ends, 0xff, list->n * sizeof *w->ends);
    for (uint32_t i = 0; i < list->n; i++) {
        for (int k = 0; k < 2 && is_in(&list->op[i], w->pass); k++) {
            if (list->op[i].needs[k] >= 0) {
                w->until[list->op[i].needs[k]] = i;
            }
        }
    }
    for (uint32_t i = list->n; i-- > 0;) {
        uint32_t last = w->until[i];
        if (last != OVL_NONE && list->op[last].kind != OVL_INNER_KERNEL &&
            w->until[last] != OVL_NONE) {
            w->until[i] = last = w->until[last];
        }
        if (last != OVL_NONE) {
            w->more[i] = w->ends[last];
            w->ends[last] = i;
        }
    }
}

void ovl_inner_begin(ovl_inner_writing *w, ovl_inner_place *at, const ovl_inner *inner,
                     ovl_inner_pass pass, const ovl_inner_caller *caller)
{
    const ovl_inner_list *list = list_of(inner, pass);
    *w = (writing){.at = at, .inner = inner, .caller = caller, .pass = pass, .from = at->chain};
    w->from_kernel = at->chain_is_kernel;
    w->local = OVL_NEW_ARRAY(at->scratch, uint32_t, list->n);
    memset(w->local, 0xff, list->n * sizeof *w->local); /* OVL_NONE */
    find_ends(w, list);
    w->last = last_kernel(list, pass);
}

/* The operation just added, number i. */
static void added(writing *w, uint32_t i, bool first)
{
    const ovl_inner_caller *caller = w->caller;
    bool out = (int16_t)i == list_of(w->inner, w->pass)->out;
    if (first && caller->first && !w->at->broken) {
        caller->first(caller->context);
    }
    if (out && w->pass != OVL_INNER_BACKWARD_WEIGHT) {
        leave(w->at);
    }
    if (i == w->last && caller->last_kernel && !w->at->broken) {
        caller->last_kernel(caller->context, w->local[i]);
    }
}

static void end(const writing *w)
{
    ovl_inner_place *at = w->at;
    const ovl_inner_list *list = list_of(w->inner, w->pass);
    bool moves = w->pass != OVL_INNER_BACKWARD_WEIGHT && list->out >= 0;
    if (moves && !at->broken && w->local[list->out] != OVL_NONE) {
        at->chain = w->local[list->out];
        at->chain_is_kernel = list->op[list->out].kind == OVL_INNER_KERNEL;
    }
}

bool ovl_inner_some(ovl_inner_writing *w)
{
    const ovl_inner_list *list = list_of(w->inner, w->pass);
    op_cost *costs = costs_of(w->at, w->inner, w->pass);
    for (; w->next < list->n && !w->at->broken; w->next++) {
        const ovl_inner_op *op = &list->op[w->next];
        if (!is_in(op, w->pass)) {
            continue;
        }
        if (w->communicates && op->kind == OVL_INNER_KERNEL) {
            w->communicates = false;
            return true;
        }
        bool first = !w->begun;
        add_one(w, w->next, &costs[w->next]);
        added(w, w->next, first);
        w->communicates = op->kind != OVL_INNER_KERNEL;
    }
    end(w);
    return false;
}

void ovl_inner_run(ovl_inner_place *at, const ovl_inner *inner, ovl_inner_pass pass,
                   const ovl_inner_caller *caller)
{
    ovl_inner_writing w;
    ovl_inner_begin(&w, at, inner, pass, caller);
    while (ovl_inner_some(&w)) {
    }
}

/* --- Turns --- */

ovl_inner_turn ovl_inner_leave(const ovl_inner_place *at)
{
    return (ovl_inner_turn){at->chain,      at->waits, at->input, at->output, at->stage,
                            at->microbatch, at->own,   at->mean,  at->part,   at->chain_is_kernel};
}

void ovl_inner_enter(ovl_inner_place *at, const ovl_inner_turn *turn)
{
    at->chain = turn->chain;
    at->waits = turn->waits;
    at->input = turn->input;
    at->output = turn->output;
    at->stage = turn->stage;
    at->microbatch = turn->microbatch;
    at->own = turn->own;
    at->mean = turn->mean;
    at->part = turn->part;
    at->chain_is_kernel = turn->chain_is_kernel;
}

void ovl_inner_take(ovl_inner_place *at, uint32_t local)
{
    if (at->chain != OVL_NONE && !at->chain_is_kernel) {
        ovl_add_after(at->l->b, at->code, at->chain);
    }
    enter(at);
    leave(at);
    at->chain = at->last = local;
    at->chain_is_kernel = true;
}

void ovl_inner_start(ovl_inner_place *at, uint32_t chain, bool is_kernel)
{
    at->chain = chain;
    at->chain_is_kernel = is_kernel;
}

/* --- Gradients --- */

uint16_t ovl_inner_apart(ovl_inner_place *at)
{
    const ovl_workload *workload = &at->l->scenario->workload;
    for (uint32_t i = 0; i < workload->inner_groups.count; i++) {
        if (strcmp(workload->inner_groups.item[i], workload->model.tp) == 0) {
            const ovl_inner_lane *lane = lane_of(at, workload->model.tp, workload->model.mark);
            return lane ? (uint16_t)(lane->slot + 1) : 0;
        }
    }
    return 0;
}

/* --- Who may share a code --- */

const ovl_group *ovl_inner_ring(ovl_lowering *l)
{
    const ovl_workload *workload = &l->scenario->workload;
    const ovl_texts *groups = &workload->inner_groups;
    for (uint32_t i = 0; workload->model.context == OVL_CONTEXT_RING && i < groups->count; i++) {
        if (strcmp(groups->item[i], workload->model.cp) == 0) {
            return ovl_plan_group(l, groups->item[i], groups->mark[i]);
        }
    }
    return NULL;
}

bool ovl_inner_alike(ovl_lowering *l, uint32_t a, uint32_t b)
{
    const ovl_texts *groups = &l->scenario->workload.inner_groups;
    for (uint32_t i = 0; i < groups->count; i++) {
        const ovl_group *group = ovl_plan_group(l, groups->item[i], l->scenario->workload.mark);
        if (group && ovl_plan_spread(l, group, a) != ovl_plan_spread(l, group, b)) {
            return false;
        }
    }
    const ovl_group *ring = ovl_inner_ring(l);
    return !ring || (ovl_plan_ring(l, ring, a, true) == ovl_plan_ring(l, ring, b, true) &&
                     ovl_plan_ring(l, ring, a, false) == ovl_plan_ring(l, ring, b, false));
}
