#include "models/block.h"

/* --- Shape --- */

static uint64_t axis_size(const ovl_scenario *s, const char *name)
{
    for (uint32_t i = 0; i < s->mesh.n_axes; i++) {
        if (strcmp(s->mesh.axes[i].name, name) == 0) {
            return (uint64_t)s->mesh.axes[i].size;
        }
    }
    return 1;
}

static bool divides(const ovl_model *m, uint64_t part, int64_t whole, const char *what,
                    const char *axis, ovl_errs *errs)
{
    if ((uint64_t)whole % part) {
        ovl_error(errs, OVL_E_INPUT, m->mark,
                  "%" PRId64 " %s do not divide by the %" PRIu64 " ranks of axis \"%s\"", whole,
                  what, part, axis);
        return false;
    }
    return true;
}

bool ovl_block_shape_of(const ovl_scenario *scenario, ovl_block_shape *shape, ovl_errs *errs)
{
    const ovl_model *m = &scenario->workload.model;
    uint64_t t = axis_size(scenario, m->tp), c = axis_size(scenario, m->cp);
    bool ok = divides(m, t, m->heads, "heads", m->tp, errs);
    ok = divides(m, t, m->ffn_hidden, "columns of the MLP (ffn_hidden)", m->tp, errs) && ok;
    ok = divides(m, c, m->sequence, "tokens of a sequence", m->cp, errs) && ok;
    if ((uint64_t)m->kv_heads % t && t % (uint64_t)m->kv_heads) {
        ok = divides(m, t, m->kv_heads, "kv_heads", m->tp, errs);
    }
    if (t > 1 && m->sequence_parallel) {
        ok = divides(m, t, m->sequence / (int64_t)c,
                     "tokens of a rank, shared by sequence "
                     "parallelism,",
                     m->tp, errs) &&
             ok;
    }
    uint64_t d = (uint64_t)m->head_dim;
    *shape = (ovl_block_shape){
        .model = m,
        .tp = t,
        .cp = c,
        .tokens = (uint64_t)m->microbatch * (uint64_t)m->sequence / c,
        .q = (uint64_t)m->heads / t * d,
        .kv = OVL_MAX((uint64_t)m->kv_heads / t, 1) * d,
        .ffn = (uint64_t)m->ffn_hidden / t,
        .vocab = ((uint64_t)m->vocabulary + t - 1) / t,
        .dtype = (ovl_dtype)scenario->workload.dtype,
        .element = ovl_dtype_size((ovl_dtype)scenario->workload.dtype),
        .split = m->sequence_parallel ? t : 1,
    };
    return ok;
}

/* --- Parameters --- */

static uint64_t hidden(const ovl_block_shape *s)
{
    return (uint64_t)s->model->hidden;
}

/* Matrices from the hidden size into the MLP: a gated one has two. */
static uint64_t gates(const ovl_block_shape *s)
{
    return s->model->gated ? 2 : 1;
}

uint64_t ovl_block_params(const ovl_block_shape *s)
{
    uint64_t h = hidden(s);
    return h * (s->q + 2 * s->kv) + s->q * h + (gates(s) + 1) * h * s->ffn + 2 * h;
}

uint64_t ovl_embedding_params(const ovl_block_shape *s)
{
    return s->vocab * hidden(s);
}

uint64_t ovl_head_params(const ovl_block_shape *s)
{
    return s->vocab * hidden(s) + hidden(s);
}

/* --- Activations --- */

uint64_t ovl_block_input(const ovl_block_shape *s)
{
    return s->element * s->tokens * hidden(s) / s->split;
}

uint64_t ovl_block_activations(const ovl_block_shape *s)
{
    uint64_t e = s->element, t = s->tokens;
    uint64_t masks = s->model->dropout ? 2 * t * hidden(s) / s->split : 0;
    return 4 * ovl_block_input(s) + e * t * (2 * s->q + 2 * s->kv) +
           (gates(s) + 1) * e * t * s->ffn + masks;
}

uint64_t ovl_block_scores(const ovl_block_shape *s)
{
    const ovl_model *m = s->model;
    uint64_t each = m->dropout ? 2 * s->element + 1 : s->element;
    uint64_t heads = (uint64_t)m->heads / s->tp;
    return m->attention == OVL_ATTENTION_FLASH ? 0
                                               : each * heads * (uint64_t)m->sequence * s->tokens;
}

uint64_t ovl_head_activations(const ovl_block_shape *s)
{
    return 2 * ovl_block_input(s) + 4 * s->tokens * s->vocab;
}

/* --- Layers --- */

static ovl_layer new_layer(const ovl_scenario *scenario, const char *name, const ovl_inner *inner)
{
    const ovl_workload *workload = &scenario->workload;
    return (ovl_layer){.mark = workload->model.mark,
                       .name = name,
                       .repeat = 1,
                       .dtype = workload->dtype,
                       .inner = inner};
}

static ovl_layer block_layer(const ovl_scenario *scenario, const ovl_block_shape *s,
                             ovl_arena *arena)
{
    ovl_layer layer = new_layer(scenario, "block", ovl_block_inner(s, arena));
    uint64_t kept = ovl_block_activations(s), scores = ovl_block_scores(s);
    layer.repeat = s->model->layers;
    layer.params = ovl_block_params(s) * s->element;
    layer.transfer = ovl_block_input(s);
    layer.activations = kept + scores;
    if (s->model->recompute == OVL_RECOMPUTE_FULL) {
        layer.recompute = true;
        layer.checkpoint = ovl_block_input(s);
    } else if (s->model->recompute == OVL_RECOMPUTE_SELECTIVE && scores) {
        layer.recompute = true;
        layer.checkpoint = kept;
        layer.activations = scores;
    }
    return layer;
}

static void add_group(ovl_texts *groups, const char *name, ovl_mark mark)
{
    groups->item[groups->count] = name;
    groups->mark[groups->count++] = mark;
}

static ovl_texts find_groups(const ovl_block_shape *s, ovl_arena *arena)
{
    ovl_texts groups = {.item = OVL_NEW_ARRAY(arena, const char *, 2),
                        .mark = OVL_NEW_ARRAY(arena, ovl_mark, 2)};
    if (s->tp > 1) {
        add_group(&groups, s->model->tp, s->model->mark);
    }
    if (s->cp > 1) {
        add_group(&groups, s->model->cp, s->model->mark);
    }
    return groups;
}

/* What is missing was told by the table. */
static bool is_complete(const ovl_model *m)
{
    return m->layers > 0 && m->hidden > 0 && m->ffn_hidden > 0 && m->heads > 0 && m->kv_heads > 0 &&
           m->head_dim > 0 && m->sequence > 0 && m->vocabulary > 0 && m->microbatch > 0;
}

void ovl_model_layers(ovl_scenario *scenario, ovl_arena *arena, ovl_errs *errs)
{
    ovl_workload *workload = &scenario->workload;
    ovl_block_shape s;
    const ovl_model *m = &workload->model;
    if (!m->given || !is_complete(m) || !ovl_block_shape_of(scenario, &s, errs)) {
        return;
    }
    ovl_layer *layers = OVL_NEW_ARRAY(arena, ovl_layer, 3);
    layers[0] = new_layer(scenario, "embedding", ovl_embedding_inner(&s, arena));
    layers[0].params = ovl_embedding_params(&s) * s.element;
    layers[0].transfer = ovl_block_input(&s);
    layers[1] = block_layer(scenario, &s, arena);
    layers[2] = new_layer(scenario, "head", ovl_head_inner(&s, arena));
    layers[2].params = ovl_head_params(&s) * s.element;
    layers[2].activations = ovl_head_activations(&s);
    workload->layers = (ovl_items){layers, 3};
    workload->inner_groups = find_groups(&s, arena);
}
