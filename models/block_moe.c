#include "models/block_build.h"

typedef ovl_block_building building;
typedef ovl_product product;

static const ovl_moe *moe_of(const building *b)
{
    return &b->s->model->moe;
}

/* --- Products --- */

typedef struct products {
    product router, shared_in, shared_out, in, out;
} products;

/* The rank's own tokens for the router, all of tensor parallelism for shared experts. */
static products products_of(const ovl_block_shape *s)
{
    uint64_t h = (uint64_t)s->model->hidden, f = s->expert_ffn, t = s->tokens, rows = s->rows;
    uint64_t gates = s->model->gated ? 2 : 1, shared = s->shared_ffn;
    uint64_t experts = (uint64_t)s->model->moe.experts;
    return (products){.router = {.name = "router", .m = t / s->split, .k = h, .n = experts},
                      .shared_in = {.name = "shared_in", .m = t, .k = h, .n = shared * gates},
                      .shared_out = {.name = "shared_out", .m = t, .k = shared, .n = h},
                      .in = {"experts_in", rows, h, f * gates, s->experts * h * f * gates, true},
                      .out = {"experts_out", rows, f, h, s->experts * h * f, true}};
}

static int16_t add_product(building *b, const product *p, double flops, double weight, int16_t need)
{
    ovl_inner_op kernel = ovl_block_product(b, p, flops, weight);
    kernel.needs[0] = need;
    return ovl_block_add(b, kernel);
}

/* One of the experts': as long as the load of the rank says. */
static int16_t add_experts(building *b, const product *p, double flops, double weight, int16_t need)
{
    int16_t at = add_product(b, p, flops, weight, need);
    b->ops.data[at].load = b->s->load.rank;
    return at;
}

double ovl_moe_flops(const ovl_block_shape *s)
{
    building b = {.s = s};
    products p = products_of(s);
    double sum = ovl_block_product(&b, &p.router, 1, 0).flops +
                 ovl_block_product(&b, &p.in, 1, 0).flops +
                 ovl_block_product(&b, &p.out, 1, 0).flops;
    if (s->model->moe.shared) {
        sum += ovl_block_product(&b, &p.shared_in, 1, 0).flops +
               ovl_block_product(&b, &p.shared_out, 1, 0).flops;
    }
    return sum;
}

/* --- The way to the experts and back --- */

/* Bytes as nccl-tests counts them: what a rank of mean load sends to all, itself included. */
static int16_t add_hop(building *b, const char *name, const char *group, uint64_t copies,
                       ovl_dtype dtype, int16_t need)
{
    uint64_t tokens = b->s->tokens / b->s->split;
    uint64_t bytes = tokens * copies * (uint64_t)b->s->model->hidden * ovl_dtype_size(dtype);
    return ovl_block_add(b, (ovl_inner_op){.name = name,
                                           .kind = OVL_INNER_COLLECTIVE,
                                           .coll = OVL_ALL_TO_ALL,
                                           .needs = {need, OVL_INNER_NOTHING},
                                           .group = group,
                                           .dtype = (uint8_t)dtype,
                                           .bytes = bytes});
}

/* Copies of a token that go across: no more than there are places, or experts it goes to. */
static uint64_t copies_across(const building *b)
{
    const ovl_moe *m = moe_of(b);
    uint64_t copies = (uint64_t)(m->copies ? OVL_MIN(m->copies, m->top_k) : m->top_k);
    return OVL_MIN(copies, b->s->across);
}

/* Experts that are cut over tensor parallelism see the rows of all its ranks. */
static int16_t add_cut(building *b, const char *name, ovl_coll coll, ovl_dtype dtype, int16_t need)
{
    uint64_t bytes = b->s->rows * (uint64_t)b->s->model->hidden * ovl_dtype_size(dtype);
    return b->s->etp > 1 ? ovl_block_tensor(b, name, coll, bytes, dtype, need) : need;
}

static int16_t add_dispatch(building *b, int16_t need)
{
    const ovl_moe *m = moe_of(b);
    ovl_dtype dtype = m->dispatch_dtype < 0 ? b->s->dtype : (ovl_dtype)m->dispatch_dtype;
    if (b->s->across > 1) {
        need = add_hop(b, "dispatch_across", m->across, copies_across(b), dtype, need);
        b->ops.data[need].receives = b->s->load.place;
    }
    if (b->s->ep > 1) {
        need = add_hop(b, "dispatch", m->ep, (uint64_t)m->top_k, dtype, need);
        b->ops.data[need].sends = b->s->load.place;
        b->ops.data[need].receives = b->s->load.rank;
    }
    return add_cut(b, "experts_gather", OVL_ALL_GATHER, dtype, need);
}

static int16_t add_combine(building *b, int16_t need)
{
    const ovl_moe *m = moe_of(b);
    need = add_cut(b, "experts_reduce", OVL_REDUCE_SCATTER, b->s->dtype, need);
    if (b->s->ep > 1) {
        need = add_hop(b, "combine", m->ep, (uint64_t)m->top_k, b->s->dtype, need);
        b->ops.data[need].sends = b->s->load.rank;
        b->ops.data[need].receives = b->s->load.place;
    }
    if (b->s->across > 1) {
        need = add_hop(b, "combine_across", m->across, copies_across(b), b->s->dtype, need);
        b->ops.data[need].sends = b->s->load.place;
    }
    return need;
}

/* --- Shared experts --- */

/* They run beside the dispatch; cut over tensor parallelism, they communicate in it. Give what they
 * end with. */
static int16_t shared_forward(building *b, const products *p, int16_t need)
{
    if (!moe_of(b)->shared) {
        return OVL_INNER_NOTHING;
    }
    ovl_inner_op in = ovl_block_product(b, &p->shared_in, 1, 0),
                 out = ovl_block_product(b, &p->shared_out, 1, 0);
    int16_t at = ovl_block_gather_into(b, "shared_gather", &in, need);
    return ovl_block_reduce_out_of(b, "shared_reduce", &out, at);
}

static int16_t shared_backward(building *b, const products *p, int16_t need)
{
    if (!moe_of(b)->shared) {
        return OVL_INNER_NOTHING;
    }
    if (b->s->tp == 1) {
        add_product(b, &p->shared_out, 1, 1, need);
        return add_product(b, &p->shared_in, 1, 1, need);
    }
    ovl_inner_op out = ovl_block_product(b, &p->shared_out, 1, 1);
    int16_t at = ovl_block_gather_into(b, "shared_gather", &out, need);
    return ovl_block_input_gradient(b, "shared", &p->shared_in, at);
}

/* --- Passes --- */

/* What shared experts made is added to what the others did: the last kernel waits for it. */
int16_t ovl_moe_forward(building *b, int16_t need)
{
    products p = products_of(b->s);
    int16_t routed = add_product(b, &p.router, 1, 0, need);
    int16_t there = add_dispatch(b, routed);
    int16_t shared = shared_forward(b, &p, need);
    add_experts(b, &p.in, 1, 0, there);
    int16_t out = add_experts(b, &p.out, 1, 0, there);
    b->ops.data[out].needs[1] = shared;
    return add_combine(b, out);
}

/* Gradients go the same ways: out as tokens did, and back. */
int16_t ovl_moe_backward(building *b, int16_t need)
{
    products p = products_of(b->s);
    int16_t there = add_dispatch(b, need);
    int16_t shared = shared_backward(b, &p, need);
    add_experts(b, &p.out, 1, 1, there);
    int16_t back = add_combine(b, add_experts(b, &p.in, 1, 1, there));
    int16_t out = add_product(b, &p.router, 1, 1, back);
    b->ops.data[out].needs[1] = shared;
    return out;
}
