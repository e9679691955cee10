#include "models/tables.h"

/* --- Latent attention --- */

static const ovl_field latent_fields[] = {
    OVL_FIELD_MORE(ovl_latent, query, "query", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "Columns that queries are made from.", .min = 1, .max = 10000000),
    OVL_FIELD_MORE(ovl_latent, key_value, "key_value", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "Columns that keys and values are made from.", .min = 1, .max = 10000000),
    OVL_FIELD_MORE(ovl_latent, rope, "rope", OVL_F_COUNT, 0,
                   "Columns of each head's query, besides `head_dim`, that carry positions; their "
                   "key is one for all heads. Default 0.",
                   .max = 1000000),
};

const ovl_table ovl_latent_table = {
    .title = "workload.model.latent",
    .intro =
        "Queries, keys and values by way of narrower matrices, as in DeepSeek-V2 and V3.\n\n"
        "    model: {..., heads: 128, head_dim: 128, latent: {query: 1536, key_value: 512, rope: "
        "64}}",
    .fields = latent_fields,
    .n_fields = OVL_COUNT(latent_fields),
    .size = sizeof(ovl_latent),
    .mark = offsetof(ovl_latent, mark),
};

/* --- Experts --- */

static void moe_defaults(void *value)
{
    ovl_moe *moe = value;
    moe->ep = "ep";
    moe->dispatch_dtype = moe->combine_dtype = OVL_DTYPE_OF_WORKLOAD;
    moe->grad_dispatch_dtype = moe->grad_combine_dtype = OVL_DTYPE_OF_WORKLOAD;
}

static void check_moe(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    const ovl_moe *m = value;
    int ways = (m->hottest > 0) + (m->shares.count > 0) + m->has_spread;
    if (ways > 1) {
        ovl_error(errs, OVL_E_INPUT, m->mark,
                  "routing is uneven in one way: hottest, shares or spread");
    }
    if (ovl_node_gives(node, "hottest") && m->hottest < 1) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "hottest")->mark,
                  "hottest: the busiest rank has at least the mean, 1");
    }
    if (ovl_node_gives(node, "seed") && !m->has_spread) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "seed")->mark, "seed belongs to spread");
    }
    if (m->spread > 10) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "spread")->mark,
                  "spread: must be between 0 and 10");
    }
    if (m->across && strcmp(m->across, m->ep) == 0) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "across")->mark,
                  "across: a second axis, not \"%s\" again", m->ep);
    }
    if (m->shares.rows && m->across) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "shares")->mark,
                  "shares: a matrix is of one hop, and there are two with `across`");
    }
    if (m->top_k > m->experts) {
        ovl_error(errs, OVL_E_INPUT, m->mark, "top_k: more than experts, which is %" PRId64,
                  m->experts);
    }
    if (ovl_node_gives(node, "copies") && !m->across) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "copies")->mark,
                  "copies belongs to across");
    }
}

static const ovl_field moe_fields[] = {
    OVL_FIELD_MORE(ovl_moe, experts, "experts", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "Experts that tokens are routed to.", .min = 1, .max = 1000000),
    OVL_FIELD_MORE(ovl_moe, top_k, "top_k", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "Experts that each token goes to.", .min = 1, .max = 1000000),
    OVL_FIELD_MORE(ovl_moe, ffn_hidden, "ffn_hidden", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "Columns inside an expert; `ffn_hidden` of the model is that of dense blocks.",
                   .min = 1, .max = 10000000),
    OVL_FIELD_MORE(ovl_moe, shared, "shared", OVL_F_COUNT, 0,
                   "Experts that see every token; they run beside the dispatch. Default 0.",
                   .max = 1000),
    OVL_FIELD_MORE(ovl_moe, dense_layers, "dense_layers", OVL_F_COUNT, 0,
                   "First blocks that have a plain MLP; they are called `dense`. Default 0.",
                   .max = 100000),
    OVL_FIELD(
        ovl_moe, ep, "ep", OVL_F_TEXT, 0,
        "Axis of expert parallelism. Default `ep`; one rank, if the mesh has none of that name. "
        "Beside tensor parallelism experts are cut over that, too; with its axis among these "
        "(`tp+ep`) each is whole on one of all those ranks."),
    OVL_FIELD(
        ovl_moe, across, "across", OVL_F_TEXT, 0,
        "A second axis of expert parallelism. Tokens cross it first, to the rank of the same "
        "place in `ep`, and go on from there: an axis of nodes keeps what leaves a node small. "
        "Default: none, one hop."),
    OVL_FIELD_MORE(ovl_moe, copies, "copies", OVL_F_COUNT, 0,
                   "across: members of that axis that a token goes to, at most (node-limited "
                   "routing). Default: `top_k`, or all.",
                   .min = 1, .max = 1000000),
    OVL_FIELD_MORE(ovl_moe, dispatch_dtype, "dispatch_dtype", OVL_F_ENUM, 0,
                   "Element type of tokens on their way to experts. Default: that of the model.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
    OVL_FIELD_MORE(ovl_moe, combine_dtype, "combine_dtype", OVL_F_ENUM, 0,
                   "Element type of what experts send back. Default: that of the model.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
    OVL_FIELD_MORE(ovl_moe, grad_dispatch_dtype, "gradient_dispatch_dtype", OVL_F_ENUM, 0,
                   "Element type of gradients on their way to experts, in the backward of the "
                   "combine. Default: that of `dispatch_dtype`.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
    OVL_FIELD_MORE(ovl_moe, grad_combine_dtype, "gradient_combine_dtype", OVL_F_ENUM, 0,
                   "Element type of gradients on their way back, in the backward of the dispatch. "
                   "Default: that of `combine_dtype`.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
    OVL_FIELD(ovl_moe, hottest, "hottest", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "Tokens of the busiest rank, the mean being 1; the others share the rest. It is the "
              "first rank of the group. Default: all have the mean."),
    OVL_FIELD_MORE(
        ovl_moe, shares, "shares", OVL_F_RATIOS, 0,
        "Tokens of each rank of the group, relative to the others, in order of their place (of "
        "`ep` first). Or a matrix: in row i which part of the tokens of rank i goes to each rank, "
        "relative to the others of the row.",
        .cells = OVL_F_RATIO),
    OVL_FIELD_SET(ovl_moe, spread, has_spread, "spread", OVL_F_RATIO, 0,
                  "Tokens of each rank are drawn from a lognormal law with this standard deviation "
                  "over mean.",
                  .min = 0),
    OVL_FIELD_MORE(ovl_moe, seed, "seed", OVL_F_COUNT, 0, "spread: of the draw. Default 0.",
                   .max = INT64_MAX),
};

const ovl_table ovl_moe_table = {
    .title = "workload.model.moe",
    .intro = "A mixture of experts: a router, a dispatch of tokens to the ranks that hold their "
             "experts (all-to-all), the experts, and a combine that brings them back. Costs of "
             "`all_to_all` are needed for the axes. Every block, microbatch and pass has the same "
             "loads: experts of one rank are the hot ones throughout.\n\n"
             "    moe: {experts: 256, top_k: 8, ffn_hidden: 2048, shared: 1, hottest: 1.3}",
    .fields = moe_fields,
    .n_fields = OVL_COUNT(moe_fields),
    .size = sizeof(ovl_moe),
    .mark = offsetof(ovl_moe, mark),
    .defaults = moe_defaults,
    .check = check_moe,
};
