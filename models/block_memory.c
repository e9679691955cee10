#include "models/block_memory.h"

typedef ovl_block_building building;

/* --- Bytes --- */

uint64_t ovl_memory_hidden(const ovl_block_shape *s)
{
    return ovl_block_input(s);
}

uint64_t ovl_memory_columns(const ovl_block_shape *s, uint64_t columns)
{
    return s->element * s->tokens * columns;
}

/* Bytes an element of a narrower type; 0: products compute in that of activations. */
static uint64_t narrow(const ovl_block_shape *s)
{
    uint64_t c = ovl_dtype_size(s->matmul_dtype);
    return c < s->element ? c : 0;
}

uint64_t ovl_memory_cast(const ovl_block_shape *s, uint64_t m, uint64_t k)
{
    return narrow(s) * m * k;
}

uint64_t ovl_memory_cast_back(const ovl_block_shape *s, uint64_t m, uint64_t n, uint64_t k)
{
    return 2 * narrow(s) * (m * n + m * k);
}

uint64_t ovl_memory_activation(const ovl_block_shape *s, uint64_t rows, uint64_t columns,
                               bool backward)
{
    uint64_t forward = s->model->gated ? 3 : 2, back = s->model->gated ? 5 : 3;
    uint64_t gates = s->model->gated ? 2 : 1, h = (uint64_t)s->model->hidden;
    uint64_t bytes = (backward ? back : forward) * s->element * rows * columns;
    return bytes + (backward ? ovl_memory_cast_back(s, rows, gates * columns, h)
                             : ovl_memory_cast(s, rows, columns));
}

uint64_t ovl_memory_norm_outputs(const ovl_block_shape *s)
{
    uint64_t wide = s->normed ? s->normed + s->q + s->rope + 2 * s->kv : 0;
    return 2 * ovl_memory_hidden(s) + ovl_memory_columns(s, wide);
}

/* --- Kernels --- */

int16_t ovl_memory_add(building *b, const char *name, uint64_t bytes, int16_t need, int16_t other)
{
    return ovl_block_add(b, (ovl_inner_op){.name = name,
                                           .kind = OVL_INNER_KERNEL,
                                           .needs = {need, other},
                                           .hbm = bytes,
                                           .moves = true,
                                           .dtype = (uint8_t)b->s->dtype});
}

/* Tokens of a rank between the parts that tensor parallelism gathers for. */
static uint64_t own_tokens(const building *b)
{
    return b->s->tokens / b->s->split;
}

static uint64_t hidden(const building *b)
{
    return (uint64_t)b->s->model->hidden;
}

int16_t ovl_memory_norm(building *b, int16_t need)
{
    uint64_t bytes = 2 * ovl_memory_hidden(b->s) + ovl_memory_cast(b->s, own_tokens(b), hidden(b));
    return ovl_memory_add(b, "norm", bytes, need, OVL_INNER_NOTHING);
}

/* Queries and keys are turned; latent attention turns a part of the columns, and has norms of its
 * own for the narrow ones. The backward writes the gradient of what qkv made. */
int16_t ovl_memory_rotary(building *b, bool backward, int16_t need)
{
    const ovl_block_shape *s = b->s;
    const ovl_latent *latent = &s->model->latent;
    uint64_t turned = s->normed ? s->rope + (uint64_t)latent->rope : s->q + s->kv;
    uint64_t bytes = 2 * ovl_memory_columns(s, turned + s->normed);
    if (backward) {
        bytes += ovl_memory_cast_back(s, s->tokens, s->q + s->rope + 2 * s->kv, hidden(b));
    }
    return ovl_memory_add(b, backward ? "rotary_back" : "rotary", bytes, need, OVL_INNER_NOTHING);
}

/* The residual sum behind attention and the norm of the MLP's input. */
int16_t ovl_memory_sum_norm(building *b, int16_t need)
{
    uint64_t bytes = 5 * ovl_memory_hidden(b->s) + ovl_memory_cast(b->s, own_tokens(b), hidden(b));
    return ovl_memory_add(b, "sum_norm", bytes, need, OVL_INNER_NOTHING);
}

int16_t ovl_memory_norm_back(building *b, const char *name, int16_t need, int16_t other)
{
    return ovl_memory_add(b, name, 6 * ovl_memory_hidden(b->s), need, other);
}
