#include "models/block_memory.h"
#include "models/mesh.h"

/* --- Shape --- */

static bool divides(const ovl_model *m, uint64_t part, int64_t whole, const char *what,
                    const char *axis, ovl_errs *errs)
{
    if ((uint64_t)whole % part) {
        ovl_error(errs, OVL_E_INPUT, m->mark,
                  "%s: %" PRId64 " cannot be shared out evenly among the %" PRIu64
                  " ranks of axis \"%s\"",
                  what, whole, part, axis);
        return false;
    }
    return true;
}

/* Sums of bytes must fit their integers, a ring its list. */
static bool check_size(const ovl_block_shape *s, ovl_errs *errs)
{
    const ovl_model *m = s->model;
    const double most = 1e17;
    double tokens = (double)s->tokens, h = (double)m->hidden, e = (double)s->element;
    double wide = 4 * h + 2 * (double)s->q + 2 * (double)s->kv + 3 * (double)s->ffn;
    double scores = 5 * e * (double)m->heads * (double)m->sequence * tokens;
    double kept = e * tokens * wide + (m->attention == OVL_ATTENTION_FLASH ? 0 : scores);
    double params = e * h * wide * (double)m->layers + 2 * e * h * (double)s->vocab;
    if (m->moe.given) {
        const ovl_moe *moe = &m->moe;
        double inside = h + 3 * (double)moe->ffn_hidden, all = (double)(moe->experts + moe->shared);
        kept += 8 * tokens * (double)(moe->top_k + moe->shared) * inside * all;
        params += e * h * (inside * all + (double)moe->experts) * (double)m->layers;
    }
    if (m->latent.query > 0) {
        double columns = (double)(m->latent.query + m->latent.key_value + m->latent.rope);
        params += e * columns * (h + 2 * (double)s->q + (double)s->kv) * (double)m->layers;
        params += e * columns * (double)m->heads * (double)m->latent.rope * (double)m->layers;
    }
    double logits = 8 * tokens * (double)s->vocab;
    if (kept > most || params > most || logits > most) {
        ovl_error(errs, OVL_E_INPUT, m->mark,
                  "the model is too large: parameters, or activations of a layer, pass 100 PB on a "
                  "rank");
        return false;
    }
    if (s->cp > 1024 && m->context == OVL_CONTEXT_RING) {
        ovl_error(errs, OVL_E_INPUT, m->mark,
                  "a ring of %" PRIu64 " ranks is too long: at most 1024, or context: all_gather",
                  s->cp);
        return false;
    }
    return true;
}

/* Whether experts fit tensor parallelism. Tokens are routed by those who have them: without
 * sequence parallelism all ranks would send the same ones. */
static bool fits_tensor(const ovl_block_shape *s, ovl_errs *errs)
{
    const ovl_moe *moe = &s->model->moe;
    if (s->tp > 1 && !s->model->sequence_parallel) {
        ovl_error(errs, OVL_E_INPUT, moe->mark,
                  "experts beside tensor parallelism need sequence_parallel: true, as in "
                  "Megatron-LM");
        return false;
    }
    return divides(s->model, s->etp, moe->ffn_hidden, "columns of an expert (ffn_hidden)",
                   s->model->tp, errs) &&
           divides(s->model, s->tp, moe->shared * moe->ffn_hidden, "columns of shared experts",
                   s->model->tp, errs);
}

/* Loads are found once, by ovl_model_layers. */
static bool add_experts(const ovl_scenario *scenario, ovl_block_shape *s, ovl_errs *errs)
{
    const ovl_moe *moe = &s->model->moe;
    if (!moe->given) {
        return true;
    }
    s->routed = true;
    s->ep = ovl_mesh_size(&scenario->mesh, moe->ep);
    s->across = ovl_mesh_size(&scenario->mesh, moe->across);
    s->etp = ovl_mesh_names(moe->ep, s->model->tp) ? 1 : s->tp;
    uint64_t ranks = s->ep * s->across;
    s->experts = (uint64_t)moe->experts / ranks;
    s->expert_ffn = (uint64_t)moe->ffn_hidden / s->etp;
    s->shared_ffn = (uint64_t)(moe->ffn_hidden * moe->shared) / s->tp;
    s->rows = s->tokens * (uint64_t)moe->top_k / (s->tp / s->etp);
    if (!fits_tensor(s, errs)) {
        return false;
    }
    if (moe->dense_layers > s->model->layers) {
        ovl_error(errs, OVL_E_INPUT, moe->mark, "dense_layers: more than layers, which is %" PRId64,
                  s->model->layers);
        return false;
    }
    return divides(s->model, ranks, moe->experts, "experts", moe->ep, errs);
}

ovl_block_shape ovl_block_with_experts(const ovl_block_shape *shape, bool routed)
{
    ovl_block_shape s = *shape;
    s.routed = routed && shape->model->moe.given;
    return s;
}

/* --- Axes that cannot be one --- */

/* The first axis of several ranks that two names have in common; NULL: none. */
static const char *common_axis(const ovl_mesh *mesh, const char *a, const char *b)
{
    for (uint32_t i = 0; a && b && i < mesh->n_axes; i++) {
        const char *name = mesh->axes[i].name;
        if (mesh->axes[i].size > 1 && ovl_mesh_names(a, name) && ovl_mesh_names(b, name)) {
            return name;
        }
    }
    return NULL;
}

/* The model would be split twice, over ranks that there are once. Experts may be spread over the
 * axes of tensor, context and data parallelism. */
static bool check_axes(const ovl_scenario *scenario, ovl_errs *errs)
{
    const ovl_model *m = &scenario->workload.model;
    const char *pipe = scenario->pipeline.given ? scenario->pipeline.group : NULL;
    const char *ep = m->moe.given ? m->moe.ep : NULL;
    const char *across = m->moe.given ? m->moe.across : NULL;
    const struct {
        const char *a, *as, *b, *bs;
    } pairs[] = {
        {m->tp, "tensor parallelism", m->cp, "context parallelism"},
        {m->tp, "tensor parallelism", across, "the hop across"},
        {ep, "expert parallelism", across, "the hop across"},
        {m->tp, "tensor parallelism", pipe, "the pipeline"},
        {m->cp, "context parallelism", pipe, "the pipeline"},
        {ep, "expert parallelism", pipe, "the pipeline"},
        {across, "the hop across", pipe, "the pipeline"},
    };
    bool ok = true;
    for (uint32_t i = 0; i < OVL_COUNT(pairs); i++) {
        const char *axis = common_axis(&scenario->mesh, pairs[i].a, pairs[i].b);
        if (axis) {
            ovl_error(errs, OVL_E_INPUT, m->mark,
                      "axis \"%s\" cannot be that of %s and of %s at a time", axis, pairs[i].as,
                      pairs[i].bs);
            ok = false;
        }
    }
    return ok;
}

bool ovl_block_shape_of(const ovl_scenario *scenario, ovl_block_shape *shape, ovl_errs *errs)
{
    if (!check_axes(scenario, errs)) {
        return false;
    }
    const ovl_model *m = &scenario->workload.model;
    uint64_t t = ovl_mesh_size(&scenario->mesh, m->tp), c = ovl_mesh_size(&scenario->mesh, m->cp);
    bool ok = divides(m, t, m->heads, "heads", m->tp, errs);
    ok = divides(m, t, m->ffn_hidden, "columns of the MLP (ffn_hidden)", m->tp, errs) && ok;
    ok = divides(m, c, m->sequence, "tokens of a sequence", m->cp, errs) && ok;
    if ((uint64_t)m->kv_heads % t && t % (uint64_t)m->kv_heads) {
        ok = divides(m, t, m->kv_heads, "kv_heads", m->tp, errs);
    }
    if (t > 1 && m->sequence_parallel) {
        ok = divides(m, t, m->sequence / (int64_t)c, "tokens of a rank (sequence_parallel)", m->tp,
                     errs) &&
             ok;
    }
    uint64_t d = (uint64_t)m->head_dim;
    const ovl_latent *latent = &m->latent;
    uint64_t heads = (uint64_t)m->heads / t, h = (uint64_t)m->hidden;
    *shape = (ovl_block_shape){
        .model = m,
        .tp = t,
        .cp = c,
        .tokens = (uint64_t)m->microbatch * (uint64_t)m->sequence / c,
        .q = (uint64_t)m->heads / t * d,
        .kv = OVL_MAX((uint64_t)m->kv_heads / t, 1) * d,
        .kv_copies =
            latent->query > 0 ? 1 : OVL_MAX(t / OVL_MAX((uint64_t)m->kv_heads, 1), UINT64_C(1)),
        .ffn = (uint64_t)m->ffn_hidden / t,
        .vocab = ((uint64_t)m->vocabulary + t - 1) / t,
        .dtype = (ovl_dtype)scenario->workload.dtype,
        .matmul_dtype = (ovl_dtype)(m->matmul_dtype == OVL_DTYPE_OF_LAYER ? scenario->workload.dtype
                                                                          : m->matmul_dtype),
        .element = ovl_dtype_size((ovl_dtype)scenario->workload.dtype),
        .split = m->sequence_parallel ? t : 1,
        .ep = 1,
        .across = 1,
        .etp = 1,
        .load = {.most = 1},
    };
    shape->qkv = h * (shape->q + 2 * shape->kv);
    if (latent->query > 0) {
        uint64_t query = (uint64_t)latent->query, both = (uint64_t)latent->key_value;
        uint64_t rope = (uint64_t)latent->rope;
        shape->rope = heads * rope;
        shape->normed = query + both;
        shape->qkv =
            h * (query + both + rope) + query * (shape->q + shape->rope) + both * 2 * shape->kv;
    }
    return ok && check_size(shape, errs) && add_experts(scenario, shape, errs);
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

uint64_t ovl_block_expert_params(const ovl_block_shape *s)
{
    return s->routed ? (gates(s) + 1) * hidden(s) * s->expert_ffn * s->experts : 0;
}

uint64_t ovl_block_params(const ovl_block_shape *s)
{
    uint64_t h = hidden(s), each = (gates(s) + 1) * h, mlp = each * s->ffn;
    if (s->routed) {
        mlp =
            ovl_block_expert_params(s) + each * s->shared_ffn + h * (uint64_t)s->model->moe.experts;
    }
    return s->qkv + s->normed + s->q * h + mlp + 2 * h;
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

uint64_t ovl_block_activations(const ovl_block_shape *s, double load)
{
    uint64_t e = s->element, t = s->tokens;
    uint64_t masks = s->model->dropout ? 2 * t * hidden(s) / s->split : 0;
    uint64_t narrow = s->normed ? 2 * s->normed + (uint64_t)s->model->latent.rope : 0;
    uint64_t attend =
        4 * ovl_block_input(s) + e * t * (2 * s->q + s->rope + 2 * s->kv + narrow) + masks;
    if (!s->routed) {
        return attend + (gates(s) + 1) * e * t * s->ffn;
    }
    double rows = (double)s->rows * load; /* as they came, and inside its experts */
    double routed = (double)e * rows * (double)(hidden(s) + (gates(s) + 1) * s->expert_ffn);
    return attend + (uint64_t)routed + (gates(s) + 1) * e * t * s->shared_ffn;
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

/* What blocks keep on each rank, and `more`. */
static ovl_sizes kept_on_ranks(const ovl_block_shape *s, uint64_t more, ovl_arena *arena)
{
    ovl_sizes sizes = {.most = ovl_block_activations(s, s->load.most) + more};
    if (!s->routed || !s->load.rank) {
        return sizes;
    }
    uint64_t *of = OVL_NEW_ARRAY(arena, uint64_t, s->load.n_ranks);
    for (uint32_t r = 0; r < s->load.n_ranks; r++) {
        of[r] = ovl_block_activations(s, s->load.rank[r]) + more;
    }
    sizes.of = of;
    sizes.count = s->load.n_ranks;
    return sizes;
}

static ovl_layer block_layer(const ovl_scenario *scenario, const ovl_block_shape *s,
                             const char *name, int64_t repeat, ovl_arena *arena)
{
    ovl_layer layer = new_layer(scenario, name, ovl_block_inner(s, arena));
    uint64_t scores = ovl_block_scores(s), norms = ovl_memory_norm_outputs(s);
    layer.repeat = repeat;
    layer.params = ovl_block_params(s) * s->element;
    layer.expert_params = ovl_block_expert_params(s) * s->element;
    layer.transfer = ovl_block_input(s);
    layer.has_transfer = true;
    layer.activations = kept_on_ranks(s, scores, arena);
    if (s->model->recompute == OVL_RECOMPUTE_FULL) {
        layer.recompute = true;
        layer.checkpoint.most = ovl_block_input(s);
    } else if (s->model->recompute == OVL_RECOMPUTE_SELECTIVE && scores) {
        layer.recompute = true;
        layer.checkpoint = kept_on_ranks(s, 0, arena);
        layer.activations = (ovl_sizes){.most = scores};
    } else if (s->model->recompute == OVL_RECOMPUTE_NORMS) {
        layer.recompute = true;
        layer.activations = (ovl_sizes){.most = norms};
        layer.checkpoint = kept_on_ranks(s, scores - norms, arena);
    }
    return layer;
}

static void add_group(ovl_texts *groups, const char *name, ovl_mark mark)
{
    groups->item[groups->count] = name;
    groups->mark[groups->count++] = mark;
}

const char *ovl_block_kv_group(const ovl_block_shape *shape, ovl_arena *arena)
{
    return ovl_arena_printf(arena, "%s/%" PRIu64, shape->model->tp, shape->kv_copies);
}

static ovl_texts find_groups(const ovl_block_shape *s, ovl_arena *arena)
{
    ovl_texts groups = {.item = OVL_NEW_ARRAY(arena, const char *, 5),
                        .mark = OVL_NEW_ARRAY(arena, ovl_mark, 5)};
    if (s->tp > 1) {
        add_group(&groups, s->model->tp, s->model->mark);
    }
    if (s->kv_copies > 1) {
        add_group(&groups, ovl_block_kv_group(s, arena), s->model->mark);
    }
    if (s->cp > 1) {
        add_group(&groups, s->model->cp, s->model->mark);
    }
    if (s->ep > 1) {
        add_group(&groups, s->model->moe.ep, s->model->moe.mark);
    }
    if (s->across > 1) {
        add_group(&groups, s->model->moe.across, s->model->moe.mark);
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
    s.load = ovl_moe_load_of(scenario, arena, errs);
    ovl_layer *layers = OVL_NEW_ARRAY(arena, ovl_layer, 4);
    uint32_t n = 0;
    int64_t dense = m->moe.given ? m->moe.dense_layers : 0;
    layers[n] = new_layer(scenario, "embedding", ovl_embedding_inner(&s, arena));
    layers[n].params = ovl_embedding_params(&s) * s.element;
    layers[n].has_transfer = true;
    layers[n++].transfer = ovl_block_input(&s);
    if (dense > 0) {
        ovl_block_shape plain = ovl_block_with_experts(&s, false);
        layers[n++] = block_layer(scenario, &plain, "dense", dense, arena);
    }
    if (m->layers > dense) {
        layers[n++] = block_layer(scenario, &s, "block", m->layers - dense, arena);
    }
    layers[n] = new_layer(scenario, "head", ovl_head_inner(&s, arena));
    layers[n].params = ovl_head_params(&s) * s.element;
    layers[n++].activations.most = ovl_head_activations(&s);
    workload->layers = (ovl_items){layers, n};
    workload->inner_groups = find_groups(&s, arena);
}
