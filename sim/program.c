#include "sim/fold.h"

static const char *const op_kinds[] = {"kernel", "collective", "send", "recv",
                                       "batch",  "copy",       "host", "marker"};

static const char *const colls[OVL_COLL_COUNT] = {
    [OVL_ALL_REDUCE] = "all_reduce", [OVL_REDUCE_SCATTER] = "reduce_scatter",
    [OVL_ALL_GATHER] = "all_gather", [OVL_BROADCAST] = "broadcast",
    [OVL_REDUCE] = "reduce",         [OVL_ALL_TO_ALL] = "all_to_all",
    [OVL_SEND_RECV] = "send_recv",
};

static const struct {
    const char *name;
    uint32_t size;
} dtypes[OVL_DTYPE_COUNT] = {
    [OVL_F32] = {"f32", 4}, [OVL_F64] = {"f64", 8}, [OVL_BF16] = {"bf16", 2},
    [OVL_F16] = {"f16", 2}, [OVL_FP8] = {"fp8", 1}, [OVL_I8] = {"i8", 1},
    [OVL_I32] = {"i32", 4}, [OVL_I64] = {"i64", 8},
};

static const char *const categories[OVL_CATEGORY_COUNT] = {
    [OVL_PARAMETER] = "parameter",   [OVL_GRADIENT] = "gradient", [OVL_OPTIMIZER] = "optimizer",
    [OVL_ACTIVATION] = "activation", [OVL_GATHERED] = "gathered", [OVL_REDUCE_BUFFER] = "reduce",
    [OVL_TEMPORARY] = "temporary",
};

const char *ovl_op_kind_name(ovl_op_kind kind)
{
    return op_kinds[kind];
}

const char *ovl_coll_name(ovl_coll coll)
{
    return colls[coll];
}

const char *ovl_dtype_name(ovl_dtype dtype)
{
    return dtypes[dtype].name;
}

uint32_t ovl_dtype_size(ovl_dtype dtype)
{
    return dtypes[dtype].size;
}

const char *ovl_category_name(ovl_category category)
{
    return categories[category];
}

static bool same_split(const ovl_split *a, const ovl_split *b)
{
    return a == b || (a && b && a->klass == b->klass && a->part == b->part && a->whole == b->whole);
}

static bool same_kind(const ovl_program *p, const ovl_cost_kind *a, const ovl_cost_kind *b)
{
    const ovl_demand *demands = p->demands;
    return a->sms == b->sms && a->blocks == b->blocks && a->klass == b->klass &&
           a->engine == b->engine && a->by_member == b->by_member &&
           memcmp(&a->weight, &b->weight, sizeof a->weight) == 0 && a->n_demands == b->n_demands &&
           a->n_peer == b->n_peer &&
           ovl_same_demands(&demands[a->first_demand], &demands[b->first_demand], a->n_demands) &&
           ovl_same_demands(&demands[a->first_peer], &demands[b->first_peer], a->n_peer);
}

const ovl_cost *ovl_phase_of(const ovl_program *p, const ovl_cost *cost, uint32_t i)
{
    for (; i > 0; i--) {
        cost = ovl_next_phase(p, cost);
        assert(cost);
    }
    return cost;
}

uint32_t ovl_count_phases(const ovl_program *p, const ovl_cost *cost)
{
    uint32_t n = 1;
    while ((cost = ovl_next_phase(p, cost))) {
        n++;
    }
    return n;
}

ovl_time ovl_cost_latency(const ovl_program *p, const ovl_cost *cost)
{
    ovl_time sum = 0;
    for (; cost; cost = ovl_next_phase(p, cost)) {
        sum += cost->latency;
    }
    return sum;
}

ovl_time ovl_cost_work(const ovl_program *p, const ovl_cost *cost)
{
    ovl_time sum = 0;
    for (; cost; cost = ovl_next_phase(p, cost)) {
        sum += cost->work;
    }
    return sum;
}

ovl_time ovl_cost_time(const ovl_program *p, const ovl_cost *cost)
{
    return ovl_cost_latency(p, cost) + ovl_cost_work(p, cost);
}

static bool same_phase(const ovl_program *p, const ovl_cost *a, const ovl_cost *b)
{
    return a->latency == b->latency && a->work == b->work && a->compute == b->compute &&
           (a->kind == b->kind || (same_split(ovl_cost_split(p, a), ovl_cost_split(p, b)) &&
                                   same_kind(p, ovl_kind_of(p, a), ovl_kind_of(p, b))));
}

bool ovl_same_cost(const ovl_program *p, const ovl_cost *a, const ovl_cost *b)
{
    while (a != b && a && b && same_phase(p, a, b)) {
        a = ovl_next_phase(p, a);
        b = ovl_next_phase(p, b);
    }
    return a == b; /* one and the same, or both over */
}

bool ovl_same_times(const ovl_program *p, const ovl_cost *a, const ovl_cost *b)
{
    while (a != b && a && b && a->latency == b->latency && a->work == b->work) {
        a = ovl_next_phase(p, a);
        b = ovl_next_phase(p, b);
    }
    return a == b;
}

uint32_t ovl_rank_number(const ovl_program *p, uint32_t rank)
{
    return p->fold ? p->fold->rank[rank] : rank;
}

const ovl_program *ovl_program_ordered(const ovl_program *p, unsigned order)
{
    return p->orders && p->orders[order] ? p->orders[order] : p;
}

uint32_t ovl_rank_count(const ovl_program *p, uint32_t rank)
{
    return p->fold ? p->fold->count[rank] : 1;
}

uint32_t ovl_op_rank(const ovl_program *p, uint32_t op)
{
    assert(op < p->n_ops);
    uint32_t low = 0, high = p->n_ranks;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (p->ranks[middle].first_op <= op) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

const ovl_op *ovl_op_of(const ovl_program *p, uint32_t op)
{
    const ovl_rank *rank = &p->ranks[ovl_op_rank(p, op)];
    return ovl_code_op(&p->codes[rank->code], op - rank->first_op);
}

uint64_t ovl_buffer_bytes(const ovl_program *p, uint32_t rank, const ovl_buffer *buffer)
{
    return buffer->sizes ? p->sizes[buffer->sizes - 1 + ovl_rank_number(p, rank)] : buffer->bytes;
}

const ovl_cost *ovl_op_cost(const ovl_program *p, uint32_t rank, const ovl_op *op)
{
    return &p->costs[op->cost + (op->per_rank ? p->ranks[rank].variant : 0)];
}

const ovl_cost_kind *ovl_op_cost_kind(const ovl_program *p, uint32_t rank, const ovl_op *op)
{
    return ovl_kind_of(p, ovl_op_cost(p, rank, op));
}

ovl_id ovl_op_name_id(const ovl_program *p, uint32_t op)
{
    const ovl_rank *rank = &p->ranks[ovl_op_rank(p, op)];
    return p->codes[rank->code].name[op - rank->first_op];
}

const ovl_comm *ovl_rank_comm(const ovl_program *p, uint32_t rank, uint16_t slot)
{
    return &p->comms[p->rank_comms[p->ranks[rank].first_comm + slot]];
}

uint32_t ovl_rank_place(const ovl_program *p, uint32_t rank, uint16_t slot)
{
    return p->rank_places[p->ranks[rank].first_place + slot];
}

uint32_t ovl_peer_place(const ovl_op *op, uint32_t place, uint32_t n_members)
{
    int64_t n = n_members, peer = op->peer;
    return (uint32_t)(op->peer_relative ? (((int64_t)place + peer) % n + n) % n : peer);
}

uint32_t ovl_peer_number(const ovl_program *p, uint32_t rank, const ovl_op *op)
{
    const ovl_program *whole = p->fold ? p->fold->whole : p;
    uint32_t number = ovl_rank_number(p, rank), place = ovl_rank_place(whole, number, op->comm);
    const ovl_comm *comm = ovl_rank_comm(whole, number, op->comm);
    return whole->members[comm->first_member + ovl_peer_place(op, place, comm->n_members)];
}

uint32_t ovl_collective_op(const ovl_program *p, const ovl_comm *comm, uint32_t place, uint32_t k)
{
    const ovl_rank *rank = &p->ranks[p->members[comm->first_member + place]];
    const ovl_code *code = &p->codes[rank->code];
    uint32_t slot = p->member_slots[comm->first_member + place];
    return rank->first_op + code->collectives.item[code->collectives.at[slot] + k];
}

double ovl_busbw_factor(ovl_coll coll, uint32_t n)
{
    double others = n ? (double)(n - 1) / n : 0;
    switch (coll) {
    case OVL_ALL_REDUCE:
        return 2 * others;
    case OVL_REDUCE_SCATTER:
    case OVL_ALL_GATHER:
    case OVL_ALL_TO_ALL:
        return others;
    case OVL_BROADCAST:
    case OVL_REDUCE:
    case OVL_SEND_RECV:
    case OVL_COLL_COUNT:
        break;
    }
    return 1;
}

ovl_gpu ovl_gpu_of(const ovl_program *p, uint32_t rank)
{
    return p->n_gpus ? p->gpus[p->ranks[rank].gpu]
                     : (ovl_gpu){p->sms, {p->copy_engines[0], p->copy_engines[1]}, p->memory};
}

bool ovl_copies_queue(const ovl_program *p)
{
    bool queue = p->copy_engines[0] || p->copy_engines[1];
    for (uint32_t i = 0; i < p->n_gpus; i++) {
        queue |= p->gpus[i].copy_engines[0] || p->gpus[i].copy_engines[1];
    }
    return queue;
}

uint32_t ovl_sms_wanted(uint32_t sms, const ovl_cost_kind *kernel)
{
    uint32_t wanted = kernel->sms || !kernel->blocks ? kernel->sms : kernel->blocks;
    return sms || !kernel->sms ? OVL_MIN(wanted, sms) : wanted;
}
