#include "models/block_memory.h"

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

/* --- Kernels that move rows --- */

/* So many bytes at mean load, on each rank by its factor. */
static ovl_sizes by_load(const building *b, const double *factor, uint64_t bytes)
{
    return ovl_moe_bytes(&b->s->load, factor, bytes, b->arena);
}

/* Of the rows that a rank's experts get: as long as its load says. */
static int16_t add_rows(building *b, const char *name, uint64_t bytes, uint64_t holds, int16_t need)
{
    int16_t at = ovl_memory_add(b, name, bytes, need, OVL_INNER_NOTHING);
    b->ops.data[at].load = b->s->load.rank;
    b->ops.data[at].holds = by_load(b, b->s->load.rank, holds);
    return at;
}

static uint64_t row_bytes(const building *b, ovl_dtype dtype)
{
    return b->s->rows * (uint64_t)b->s->model->hidden * ovl_dtype_size(dtype);
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
                                           .bytes = bytes,
                                           .holds.most = bytes});
}

/* Each rank gets its factor of the mean, and has it. */
static void receives(building *b, int16_t hop, const double *factor)
{
    ovl_inner_op *op = &b->ops.data[hop];
    op->receives = factor;
    op->holds = by_load(b, factor, op->bytes);
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

/* Of what goes to the experts in a pass, and of what comes back. */
typedef struct ways {
    ovl_dtype there, back;
} ways;

static ovl_dtype or_else(int given, ovl_dtype other)
{
    return given < 0 ? other : (ovl_dtype)given;
}

static ways ways_forward(const building *b)
{
    const ovl_moe *m = moe_of(b);
    return (ways){or_else(m->dispatch_dtype, b->s->dtype), or_else(m->combine_dtype, b->s->dtype)};
}

static ways ways_backward(const building *b)
{
    const ovl_moe *m = moe_of(b);
    ways tokens = ways_forward(b);
    return (ways){or_else(m->grad_dispatch_dtype, tokens.there),
                  or_else(m->grad_combine_dtype, tokens.back)};
}

static int16_t add_dispatch(building *b, ovl_dtype dtype, int16_t need)
{
    const ovl_moe *m = moe_of(b);
    if (b->s->across > 1) {
        need = add_hop(b, "dispatch_across", m->across, copies_across(b), dtype, need);
        receives(b, need, b->s->load.place);
    }
    if (b->s->ep > 1) {
        need = add_hop(b, "dispatch", m->ep, (uint64_t)m->top_k, dtype, need);
        b->ops.data[need].sends = b->s->load.place;
        receives(b, need, b->s->load.rank);
        b->ops.data[need].pairs = b->s->load.pairs;
    }
    return add_cut(b, "experts_gather", OVL_ALL_GATHER, dtype, need);
}

static int16_t add_combine(building *b, ovl_dtype dtype, int16_t need)
{
    const ovl_moe *m = moe_of(b);
    need = add_cut(b, "experts_reduce", OVL_REDUCE_SCATTER, dtype, need);
    if (b->s->ep > 1) {
        need = add_hop(b, "combine", m->ep, (uint64_t)m->top_k, dtype, need);
        b->ops.data[need].sends = b->s->load.rank;
        receives(b, need, b->s->load.place);
        b->ops.data[need].pairs = b->s->load.back;
    }
    if (b->s->across > 1) {
        need = add_hop(b, "combine_across", m->across, copies_across(b), dtype, need);
        b->ops.data[need].sends = b->s->load.place;
    }
    return need;
}

/* A copy for each expert of a token, in order of the ranks they are on; two hops send tokens as
 * they are, and the kernels between them copy. */
static int16_t add_permute(building *b, const char *name, ovl_dtype dtype, int16_t need)
{
    uint64_t k = (uint64_t)moe_of(b)->top_k;
    uint64_t row = b->s->tokens / b->s->split * (uint64_t)b->s->model->hidden;
    uint64_t bytes = row * ovl_dtype_size(dtype);
    if (b->s->across > 1 || b->s->ep == 1) {
        return need;
    }
    int16_t at = ovl_memory_add(b, name, (1 + k) * bytes, need, OVL_INNER_NOTHING);
    b->ops.data[at].holds.most = k * bytes;
    return at;
}

/* Copies of the own tokens that come back, to be summed: their bytes. */
static uint64_t bytes_back(const building *b, ovl_dtype dtype)
{
    uint64_t copies = b->s->across > 1 ? copies_across(b) : (uint64_t)moe_of(b)->top_k;
    return copies * (ovl_memory_hidden(b->s) / ovl_dtype_size(b->s->dtype)) * ovl_dtype_size(dtype);
}

/* --- Shared experts --- */

/* They run beside the dispatch; cut over tensor parallelism, they communicate in it. Give what they
 * end with. */
static int16_t shared_forward(building *b, const products *p, int16_t need)
{
    const ovl_block_shape *s = b->s;
    if (!moe_of(b)->shared) {
        return OVL_INNER_NOTHING;
    }
    ovl_inner_op in = ovl_block_product(b, &p->shared_in, 1, 0),
                 out = ovl_block_product(b, &p->shared_out, 1, 0);
    uint64_t bytes = ovl_memory_activation(s, s->tokens, s->shared_ffn, false);
    int16_t at = ovl_block_gather_into(b, "shared_gather", &in, need);
    at = ovl_memory_add(b, "shared_activation", bytes, at, OVL_INNER_NOTHING);
    return ovl_block_reduce_out_of(b, "shared_reduce", &out, at);
}

static int16_t shared_backward(building *b, const products *p, int16_t need)
{
    const ovl_block_shape *s = b->s;
    if (!moe_of(b)->shared) {
        return OVL_INNER_NOTHING;
    }
    ovl_inner_op out = ovl_block_product(b, &p->shared_out, 1, 1);
    uint64_t bytes = ovl_memory_activation(s, s->tokens, s->shared_ffn, true) +
                     ovl_memory_cast_back(s, s->tokens, (uint64_t)s->model->hidden, s->shared_ffn);
    int16_t at = ovl_block_gather_into(b, "shared_gather", &out, need);
    at = ovl_memory_add(b, "shared_activation_back", bytes, at, OVL_INNER_NOTHING);
    return s->tp == 1 ? add_product(b, &p->shared_in, 1, 1, at)
                      : ovl_block_input_gradient(b, "shared", &p->shared_in, at);
}

/* --- Passes --- */

/* Scores of all experts in 32 bits: read, and written as weights of the chosen. */
static int16_t add_route(building *b, int16_t need)
{
    uint64_t scores = b->s->tokens / b->s->split * (uint64_t)moe_of(b)->experts;
    return ovl_memory_add(b, "route", 8 * scores, need, OVL_INNER_NOTHING);
}

int16_t ovl_moe_forward(building *b, int16_t need)
{
    const ovl_block_shape *s = b->s;
    products p = products_of(s);
    ways w = ways_forward(b);
    uint64_t sent = row_bytes(b, w.there), back = row_bytes(b, w.back);
    uint64_t own = row_bytes(b, s->dtype);
    uint64_t cast =
        w.there == s->matmul_dtype ? 0 : ovl_memory_cast(s, s->rows, (uint64_t)s->model->hidden);
    int16_t at = add_route(b, add_product(b, &p.router, 1, 0, need));
    int16_t there = add_dispatch(b, w.there, add_permute(b, "permute", w.there, at));
    int16_t shared = shared_forward(b, &p, need);
    at = add_rows(b, "sort", 2 * sent + cast, 0, there);
    at = add_experts(b, &p.in, 1, 0, at);
    at = add_rows(b, "experts_activation", ovl_memory_activation(s, s->rows, s->expert_ffn, false),
                  0, at);
    at = add_experts(b, &p.out, 1, 0, at);
    at = add_combine(b, w.back, add_rows(b, "unsort", own + back, back, at));
    uint64_t own_rows = (2 + (moe_of(b)->shared > 0)) * ovl_memory_hidden(s);
    return ovl_memory_add(b, "sum", bytes_back(b, w.back) + own_rows, at, shared);
}

/* Gradients go the same ways: out as tokens did, and back. Gives what is behind the norm. */
int16_t ovl_moe_backward(building *b, int16_t need)
{
    const ovl_block_shape *s = b->s;
    products p = products_of(s);
    ways w = ways_backward(b);
    uint64_t sent = row_bytes(b, w.there), back = row_bytes(b, w.back);
    uint64_t own = row_bytes(b, s->dtype);
    uint64_t cast = ovl_memory_cast_back(s, s->rows, (uint64_t)s->model->hidden, s->expert_ffn);
    int16_t there = add_dispatch(b, w.there, add_permute(b, "permute_back", w.there, need));
    int16_t shared = shared_backward(b, &p, need);
    int16_t at = add_rows(b, "sort_back", 2 * sent + cast, sent, there);
    at = add_experts(b, &p.out, 1, 1, at);
    at = add_rows(b, "experts_activation_back",
                  ovl_memory_activation(s, s->rows, s->expert_ffn, true), 0, at);
    at = add_experts(b, &p.in, 1, 1, at);
    at = add_combine(b, w.back, add_rows(b, "unsort_back", own + back, back, at));
    int16_t gathered = at;
    at = add_product(b, &p.router, 1, 1, at);
    b->ops.data[at].needs[1] = shared;
    uint64_t bytes = 6 * ovl_memory_hidden(s) + bytes_back(b, w.back);
    return ovl_memory_add(b, "sum_norm_back", bytes, gathered, at);
}
