#include "models/block_memory.h"

typedef ovl_block_building building;
typedef ovl_product product;

int16_t ovl_block_add(building *b, ovl_inner_op op)
{
    ovl_vec_push(&b->ops, op);
    return (int16_t)(b->ops.len - 1);
}

static int16_t add(building *b, ovl_inner_op op)
{
    return ovl_block_add(b, op);
}

static ovl_inner_list finish(building *b, int16_t out)
{
    ovl_inner_list list = {.n = b->ops.len, .out = out};
    list.op = ovl_vec_freeze(&b->ops, b->arena);
    return list;
}

static const char *numbered(building *b, const char *name, uint64_t i, uint64_t of)
{
    return of > 1 ? ovl_arena_printf(b->arena, "%s.%" PRIu64, name, i) : name;
}

/* --- Kernels --- */

ovl_inner_op ovl_block_product(const building *b, const product *p, double flops, double weight)
{
    uint64_t weights = p->weights ? p->weights : p->k * p->n;
    double met = p->weights == 0 || p->routed ? (double)p->k * (double)p->n : (double)weights;
    double one = 2.0 * (double)p->m * met;
    uint64_t bytes = b->s->element * (p->m * p->k + weights + p->m * p->n);
    return (ovl_inner_op){.name = p->name,
                          .kind = OVL_INNER_KERNEL,
                          .needs = {OVL_INNER_NOTHING, OVL_INNER_NOTHING},
                          .flops = flops * one,
                          .weight_flops = weight * one,
                          .hbm = flops > 0 ? bytes : 0,
                          .weight_hbm = weight > 0 ? bytes : 0,
                          .efficiency = b->s->model->matmul_efficiency,
                          .dtype = (uint8_t)b->s->matmul_dtype};
}

static int16_t add_kernel(building *b, ovl_inner_op kernel, int16_t need)
{
    kernel.needs[0] = need;
    return add(b, kernel);
}

/* One of `of` equal parts of a kernel. */
static ovl_inner_op part_of(building *b, const ovl_inner_op *kernel, uint64_t i, uint64_t of)
{
    ovl_inner_op part = *kernel;
    part.name = numbered(b, kernel->name, i, of);
    part.flops /= (double)of;
    part.weight_flops /= (double)of;
    part.hbm /= of;
    part.weight_hbm /= of;
    return part;
}

/* --- Tensor parallelism --- */

static uint64_t whole_bytes(const building *b)
{
    return b->s->element * b->s->tokens * (uint64_t)b->s->model->hidden;
}

int16_t ovl_block_tensor(building *b, const char *name, ovl_coll coll, uint64_t bytes,
                         ovl_dtype dtype, int16_t need)
{
    return add(b, (ovl_inner_op){.name = name,
                                 .kind = OVL_INNER_COLLECTIVE,
                                 .coll = (uint8_t)coll,
                                 .dtype = (uint8_t)dtype,
                                 .needs = {need, OVL_INNER_NOTHING},
                                 .group = b->s->model->tp,
                                 .bytes = bytes,
                                 .holds.most = coll == OVL_ALL_GATHER ? bytes : 0});
}

static int16_t add_tp(building *b, const char *name, ovl_coll coll, uint64_t i, uint64_t of,
                      int16_t need)
{
    return ovl_block_tensor(b, numbered(b, name, i, of), coll, whole_bytes(b) / of, b->s->dtype,
                            need);
}

static bool splits_sequence(const building *b)
{
    return b->s->tp > 1 && b->s->model->sequence_parallel;
}

static uint64_t pieces(const building *b)
{
    return splits_sequence(b) ? (uint64_t)b->s->model->async_tp : 1;
}

/* A kernel whose input is split along the sequence: gathered first, piece by piece beside the
 * kernel with asynchronous tensor parallelism. */
int16_t ovl_block_gather_into(building *b, const char *name, const ovl_inner_op *kernel,
                              int16_t need)
{
    if (!splits_sequence(b)) {
        return add_kernel(b, *kernel, need);
    }
    uint64_t n = pieces(b);
    int16_t done = OVL_INNER_NOTHING, gathered[64];
    for (uint64_t i = 0; i < n; i++) {
        gathered[i] = add_tp(b, name, OVL_ALL_GATHER, i, n, need);
    }
    for (uint64_t i = 0; i < n; i++) {
        done = add_kernel(b, part_of(b, kernel, i, n), gathered[i]);
    }
    return done;
}

/* A kernel whose output is a partial sum: reduced, and split along the sequence. */
int16_t ovl_block_reduce_out_of(building *b, const char *name, const ovl_inner_op *kernel,
                                int16_t need)
{
    uint64_t n = pieces(b);
    ovl_coll coll = splits_sequence(b) ? OVL_REDUCE_SCATTER : OVL_ALL_REDUCE;
    int16_t done = OVL_INNER_NOTHING;
    for (uint64_t i = 0; i < n; i++) {
        done = add_kernel(b, part_of(b, kernel, i, n), i ? OVL_INNER_NOTHING : need);
        b->ops.data[done].holds.most = splits_sequence(b) ? whole_bytes(b) / n : 0;
        done = b->s->tp > 1 ? add_tp(b, name, coll, i, n, done) : done;
    }
    return done;
}

/* What a backward needs of the input that the forward gathered: gathered again beside the gradient
 * of the input, for the gradient of the weights. */
static int16_t gather_again(building *b, const char *name)
{
    if (!splits_sequence(b)) {
        return OVL_INNER_NOTHING;
    }
    int16_t again = add_tp(b, name, OVL_ALL_GATHER, 0, 1, OVL_INNER_NOTHING);
    b->ops.data[again].weight = true;
    return again;
}

/* The backward of gather_into: gradient of the input, reduced while that of the weights runs. Gives
 * the reduction. */
int16_t ovl_block_input_gradient(building *b, const char *what, const product *p, int16_t need)
{
    int16_t again = gather_again(b, ovl_arena_printf(b->arena, "%s_input_gather", what));
    ovl_inner_op gradient = ovl_block_product(b, p, 1, 0), weight = ovl_block_product(b, p, 0, 1);
    int16_t out =
        ovl_block_reduce_out_of(b, ovl_arena_printf(b->arena, "%s_reduce", what), &gradient, need);
    weight.name = ovl_arena_printf(b->arena, "%s_weight", p->name);
    add_kernel(b, weight, again);
    return out;
}

/* --- Attention --- */

/* Scores of all tokens of the sequence for those of the rank; `times` of a forward, of 1 / parts of
 * the keys. */
static ovl_inner_op attention(const building *b, double times, uint64_t parts)
{
    const ovl_block_shape *s = b->s;
    const ovl_model *m = s->model;
    double flops = 2.0 * (double)s->tokens * (double)m->sequence * (double)(2 * s->q + s->rope);
    uint64_t bytes = s->element * s->tokens * (2 * s->q + s->rope + 2 * s->kv * s->cp);
    if (m->attention == OVL_ATTENTION_UNFUSED) { /* scores are written and read, twice */
        bytes += 4 * s->element * ((uint64_t)m->heads / s->tp) * (uint64_t)m->sequence * s->tokens;
    }
    return (ovl_inner_op){.name = "attention",
                          .kind = OVL_INNER_KERNEL,
                          .needs = {OVL_INNER_NOTHING, OVL_INNER_NOTHING},
                          .flops = flops * (m->causal ? 0.5 : 1) * times / (double)parts,
                          .hbm = (uint64_t)((double)bytes * times) / parts,
                          .efficiency = m->attention_efficiency,
                          .dtype = (uint8_t)s->dtype};
}

/* Keys and values of one rank. */
static uint64_t kv_bytes(const building *b)
{
    return 2 * b->s->element * b->s->tokens * b->s->kv;
}

static int16_t add_cp(building *b, const char *name, ovl_coll coll, int16_t need)
{
    return add(b,
               (ovl_inner_op){.name = name,
                              .kind = OVL_INNER_COLLECTIVE,
                              .coll = (uint8_t)coll,
                              .dtype = (uint8_t)b->s->dtype,
                              .needs = {need, OVL_INNER_NOTHING},
                              .group = b->s->model->cp,
                              .bytes = kv_bytes(b) * b->s->cp,
                              .holds.most = coll == OVL_ALL_GATHER ? kv_bytes(b) * b->s->cp : 0});
}

static int16_t add_shift(building *b, const char *name, uint64_t i, uint64_t bytes, int16_t need,
                         int16_t other)
{
    return add(b, (ovl_inner_op){.name = numbered(b, name, i, b->s->cp),
                                 .kind = OVL_INNER_SHIFT,
                                 .dtype = (uint8_t)b->s->dtype,
                                 .needs = {need, other},
                                 .group = b->s->model->cp,
                                 .bytes = bytes,
                                 .holds.most = bytes});
}

/* Each step computes with the keys and values that are there while the next ones come. */
static int16_t ring_forward(building *b, int16_t need)
{
    uint64_t c = b->s->cp;
    int16_t here = need, done = need;
    ovl_inner_op kernel = attention(b, 1, c);
    for (uint64_t i = 0; i < c; i++) {
        int16_t next = i + 1 < c ? add_shift(b, "kv_ring", i, kv_bytes(b), here, OVL_INNER_NOTHING)
                                 : OVL_INNER_NOTHING;
        ovl_inner_op part = kernel;
        part.name = numbered(b, kernel.name, i, c);
        done = add_kernel(b, part, here);
        here = next;
    }
    return done;
}

/* Bytes of adding what a rank has to the gradients that came: two are read, one is written. */
static uint64_t add_bytes(const building *b)
{
    return 3 * kv_bytes(b);
}

/* Keys and values go round once more. Behind them go their gradients, beside the kernel of the next
 * step, to be added to what that makes; a last step brings them home. */
static int16_t ring_backward(building *b, double times, int16_t need)
{
    uint64_t c = b->s->cp;
    int16_t here = need, gradient = OVL_INNER_NOTHING;
    ovl_inner_op kernel = attention(b, times, c);
    for (uint64_t i = 0; i < c; i++) {
        int16_t next = i + 1 < c ? add_shift(b, "kv_ring", i, kv_bytes(b), here, OVL_INNER_NOTHING)
                                 : OVL_INNER_NOTHING;
        ovl_inner_op part = kernel;
        part.name = numbered(b, kernel.name, i, c);
        int16_t done = add_kernel(b, part, here);
        if (i > 0) {
            done =
                ovl_memory_add(b, numbered(b, "kv_grad_add", i, c), add_bytes(b), done, gradient);
        }
        gradient = add_shift(b, "kv_grad_ring", i, kv_bytes(b), done, OVL_INNER_NOTHING);
        here = next;
    }
    return gradient;
}

static int16_t attention_forward(building *b, int16_t need)
{
    bool ring = b->s->model->context == OVL_CONTEXT_RING;
    if (b->s->cp == 1) {
        return add_kernel(b, attention(b, 1, 1), need);
    }
    return ring ? ring_forward(b, need)
                : add_kernel(b, attention(b, 1, 1), add_cp(b, "kv_gather", OVL_ALL_GATHER, need));
}

static int16_t attention_backward(building *b, int16_t need)
{
    double times = b->s->model->attention == OVL_ATTENTION_FLASH ? 2.5 : 2;
    if (b->s->cp == 1) {
        return add_kernel(b, attention(b, times, 1), need);
    }
    if (b->s->model->context == OVL_CONTEXT_RING) {
        return ring_backward(b, times, need);
    }
    int16_t gathered = add_cp(b, "kv_gather", OVL_ALL_GATHER, need);
    int16_t done = add_kernel(b, attention(b, times, 1), gathered);
    b->ops.data[done].holds.most = kv_bytes(b) * b->s->cp;
    return add_cp(b, "kv_reduce", OVL_REDUCE_SCATTER, done);
}

/* --- Blocks --- */

typedef struct products {
    product qkv, proj, in, out;
} products;

static products products_of(const ovl_block_shape *s)
{
    uint64_t h = (uint64_t)s->model->hidden, t = s->tokens;
    uint64_t columns = s->q + s->rope + 2 * s->kv;
    return (products){
        .qkv = {.name = "qkv", .m = t, .k = h, .n = columns, .weights = s->qkv},
        .proj = {.name = "proj", .m = t, .k = s->q, .n = h},
        .in = {.name = "mlp_in", .m = t, .k = h, .n = s->ffn * (s->model->gated ? 2 : 1)},
        .out = {.name = "mlp_out", .m = t, .k = s->ffn, .n = h}};
}

static uint64_t hidden(const building *b)
{
    return (uint64_t)b->s->model->hidden;
}

/* What goes into a product is written in its type, where that is narrower. */
static int16_t add_cast(building *b, const char *name, uint64_t bytes, uint64_t columns,
                        int16_t need)
{
    return bytes ? ovl_memory_add(b, name, bytes + ovl_memory_columns(b->s, columns), need,
                                  OVL_INNER_NOTHING)
                 : need;
}

/* Norm, attention and the sum behind it, with the norm that follows. */
static int16_t first_half(building *b, const products *p)
{
    const ovl_block_shape *s = b->s;
    ovl_inner_op qkv = ovl_block_product(b, &p->qkv, 1, 0),
                 proj = ovl_block_product(b, &p->proj, 1, 0);
    int16_t at = ovl_memory_norm(b, OVL_INNER_INPUT);
    at = ovl_block_gather_into(b, "attention_gather", &qkv, at);
    at = attention_forward(b, ovl_memory_rotary(b, false, at));
    at = add_cast(b, "proj_cast", ovl_memory_cast(s, s->tokens, s->q), s->q, at);
    at = ovl_block_reduce_out_of(b, "attention_reduce", &proj, at);
    return ovl_memory_sum_norm(b, at);
}

static ovl_inner_list block_forward(building *b)
{
    const ovl_block_shape *s = b->s;
    products p = products_of(s);
    ovl_inner_op in = ovl_block_product(b, &p.in, 1, 0), out = ovl_block_product(b, &p.out, 1, 0);
    int16_t at = first_half(b, &p);
    if (s->routed) {
        return finish(b, ovl_moe_forward(b, at));
    }
    at = ovl_block_gather_into(b, "mlp_gather", &in, at);
    at = ovl_memory_add(b, "activation", ovl_memory_activation(s, s->tokens, s->ffn, false), at,
                        OVL_INNER_NOTHING);
    at = ovl_block_reduce_out_of(b, "mlp_reduce", &out, at);
    return finish(b, ovl_memory_add(b, "sum", 3 * ovl_memory_hidden(s), at, OVL_INNER_NOTHING));
}

/* Of a dense MLP; gives the gradient behind its norm. */
static int16_t mlp_backward(building *b, const products *p)
{
    const ovl_block_shape *s = b->s;
    ovl_inner_op out = ovl_block_product(b, &p->out, 1, 1);
    uint64_t cast = ovl_memory_cast_back(s, s->tokens / s->split, hidden(b), s->ffn);
    int16_t at = add_cast(b, "mlp_cast", cast, hidden(b) / s->split, OVL_INNER_INPUT);
    at = ovl_block_gather_into(b, "mlp_gather", &out, at);
    at = ovl_memory_add(b, "activation_back", ovl_memory_activation(s, s->tokens, s->ffn, true), at,
                        OVL_INNER_NOTHING);
    at = ovl_block_input_gradient(b, "mlp", &p->in, at);
    return ovl_memory_norm_back(b, "sum_norm_back", at, OVL_INNER_NOTHING);
}

/* Each of the ranks that have a KV head in common has its gradient of their own queries alone: they
 * are summed before the projection, so that all of them make the same gradients of its weights
 * [kv-shared groups of GQAQKVColumnParallelLinear, neuronx-distributed]. */
static int16_t sum_kv_copies(building *b, int16_t need)
{
    const ovl_block_shape *s = b->s;
    return s->kv_copies < 2 ? need
                            : add(b, (ovl_inner_op){.name = "kv_copies_reduce",
                                                    .kind = OVL_INNER_COLLECTIVE,
                                                    .coll = OVL_ALL_REDUCE,
                                                    .dtype = (uint8_t)s->dtype,
                                                    .needs = {need, OVL_INNER_NOTHING},
                                                    .group = ovl_block_kv_group(s, b->arena),
                                                    .bytes = kv_bytes(b)});
}

static ovl_inner_list block_backward(building *b)
{
    const ovl_block_shape *s = b->s;
    products p = products_of(s);
    ovl_inner_op proj = ovl_block_product(b, &p.proj, 1, 1);
    int16_t at = s->routed ? ovl_moe_backward(b, OVL_INNER_INPUT) : mlp_backward(b, &p);
    uint64_t cast = ovl_memory_cast_back(s, s->tokens / s->split, hidden(b), s->q);
    at = add_cast(b, "proj_cast_back", cast, hidden(b) / s->split, at);
    at = ovl_block_gather_into(b, "attention_gather", &proj, at);
    at = sum_kv_copies(b, attention_backward(b, at));
    at = ovl_block_input_gradient(b, "attention", &p.qkv, ovl_memory_rotary(b, true, at));
    return finish(b, ovl_memory_norm_back(b, "norm_back", at, OVL_INNER_NOTHING));
}

/* Norms once more, and the products that widen latent queries, keys and values. */
static ovl_inner_list norms_again(building *b)
{
    const ovl_block_shape *s = b->s;
    const ovl_latent *latent = &s->model->latent;
    uint64_t query = (uint64_t)latent->query, both = (uint64_t)latent->key_value;
    ovl_memory_norm(b, OVL_INNER_INPUT);
    if (query > 0) {
        uint64_t weights = query * (s->q + s->rope) + both * 2 * s->kv;
        product up = {.name = "latent_up",
                      .m = s->tokens,
                      .k = query + both,
                      .n = s->q + s->rope + 2 * s->kv,
                      .weights = weights};
        int16_t normed = ovl_memory_add(b, "latent_norm", 2 * ovl_memory_columns(s, s->normed),
                                        OVL_INNER_INPUT, OVL_INNER_NOTHING);
        add_kernel(b, ovl_block_product(b, &up, 1, 0), normed);
    }
    ovl_memory_add(b, "mlp_norm", 2 * ovl_memory_hidden(s), OVL_INNER_INPUT, OVL_INNER_NOTHING);
    return finish(b, OVL_INNER_INPUT);
}

/* The scores alone, or norms, or everything. */
static ovl_inner_list block_again(building *b)
{
    const ovl_model *m = b->s->model;
    if (m->recompute == OVL_RECOMPUTE_FULL) {
        return block_forward(b);
    }
    if (m->recompute == OVL_RECOMPUTE_NORMS) {
        return norms_again(b);
    }
    if (m->recompute == OVL_RECOMPUTE_SELECTIVE && m->attention == OVL_ATTENTION_UNFUSED) {
        add_kernel(b, attention(b, 1, 1), OVL_INNER_INPUT);
    }
    return finish(b, OVL_INNER_INPUT);
}

const ovl_inner *ovl_block_inner(const ovl_block_shape *s, ovl_arena *arena)
{
    ovl_inner *inner = OVL_NEW(arena, ovl_inner);
    building b = {.s = s, .arena = arena};
    *inner = (ovl_inner){.measured_forward = s->model->block.forward,
                         .measured_backward = s->model->block.backward};
    inner->forward = block_forward(&b);
    inner->again = block_again(&b);
    inner->backward = block_backward(&b);
    return inner;
}

/* --- Both ends --- */

/* Rows of the table are read, and written; each rank has a part of the vocabulary, so that what
 * they find is added up. */
const ovl_inner *ovl_embedding_inner(const ovl_block_shape *s, ovl_arena *arena)
{
    ovl_inner *inner = OVL_NEW(arena, ovl_inner);
    building b = {.s = s, .arena = arena};
    ovl_inner_op lookup = {.name = "lookup",
                           .kind = OVL_INNER_KERNEL,
                           .needs = {OVL_INNER_NOTHING, OVL_INNER_NOTHING},
                           .hbm = 2 * whole_bytes(&b),
                           .moves = true,
                           .dtype = (uint8_t)s->dtype};
    *inner = (ovl_inner){0};
    int16_t at = add_kernel(&b, lookup, OVL_INNER_INPUT);
    if (s->tp > 1) {
        ovl_coll coll = splits_sequence(&b) ? OVL_REDUCE_SCATTER : OVL_ALL_REDUCE;
        at = add_tp(&b, "reduce", coll, 0, 1, at);
    }
    inner->forward = finish(&b, at);
    inner->again = finish(&b, OVL_INNER_INPUT);
    lookup.weight_hbm = lookup.hbm;
    lookup.hbm = 0;
    if (splits_sequence(&b)) {
        at = add_tp(&b, "gather", OVL_ALL_GATHER, 0, 1, OVL_INNER_INPUT);
        b.ops.data[at].weight = true;
    } else {
        at = OVL_INNER_INPUT;
    }
    at = add_kernel(&b, lookup, at);
    inner->backward = finish(&b, at);
    return inner;
}

/* Logits are read and kept in 32 bits; the gradient is made from these. */
static int16_t add_loss(building *b, const char *name, int16_t need)
{
    uint64_t bytes = (b->s->element + 4) * b->s->tokens * b->s->vocab;
    return ovl_memory_add(b, name, bytes, need, OVL_INNER_NOTHING);
}

const ovl_inner *ovl_head_inner(const ovl_block_shape *s, ovl_arena *arena)
{
    ovl_inner *inner = OVL_NEW(arena, ovl_inner);
    building b = {.s = s, .arena = arena};
    product p = {.name = "logits", .m = s->tokens, .k = (uint64_t)s->model->hidden, .n = s->vocab};
    ovl_inner_op logits = ovl_block_product(&b, &p, 1, 0);
    *inner = (ovl_inner){0};
    int16_t at = ovl_block_gather_into(&b, "gather", &logits, ovl_memory_norm(&b, OVL_INNER_INPUT));
    inner->forward = finish(&b, add_loss(&b, "loss", at));
    inner->again = finish(&b, OVL_INNER_INPUT);
    at = ovl_block_input_gradient(&b, "head", &p, add_loss(&b, "loss_back", OVL_INNER_INPUT));
    uint64_t bytes = 3 * ovl_memory_hidden(s);
    inner->backward = finish(&b, ovl_memory_add(&b, "norm_back", bytes, at, OVL_INNER_NOTHING));
    return inner;
}

/* --- What counts as useful --- */

double ovl_model_flops(const ovl_block_shape *s)
{
    building b = {.s = s, .arena = NULL};
    products p = products_of(s);
    double attend = ovl_block_product(&b, &p.qkv, 1, 0).flops +
                    ovl_block_product(&b, &p.proj, 1, 0).flops + attention(&b, 1, 1).flops;
    double mlp =
        ovl_block_product(&b, &p.in, 1, 0).flops + ovl_block_product(&b, &p.out, 1, 0).flops;
    double layers = (double)s->model->layers;
    double dense = s->model->moe.given ? (double)s->model->moe.dense_layers : layers;
    double routed = s->model->moe.given ? ovl_moe_flops(s) : 0;
    product head = {
        .name = "logits", .m = s->tokens, .k = (uint64_t)s->model->hidden, .n = s->vocab};
    return 3 * (attend * layers + mlp * dense + routed * (layers - dense) +
                ovl_block_product(&b, &head, 1, 0).flops);
}

double ovl_model_attention(const ovl_block_shape *s)
{
    building b = {.s = s, .arena = NULL};
    return 3 * attention(&b, 1, 1).flops * (double)s->model->layers;
}
