#include "models/tables.h"

#include <string.h>

/* --- Prefetch --- */

static const char *const when_names[] = {"every", "last", NULL};
static const char *const sync_names[] = {"every", "last", "behind", NULL};

static void prefetch_defaults(void *value)
{
    ovl_fsdp_prefetch *prefetch = value;
    prefetch->forward = OVL_FSDP_AHEAD;
    prefetch->backward = 1;
}

/* A depth by number or by its word. */
static void read_depth(const ovl_node *node, const char *key, const char *text, const char *word,
                       int64_t *depth, ovl_errs *errs)
{
    int64_t number = 0;
    if (!text) {
        return;
    }
    if (strcmp(text, word) == 0) {
        *depth = OVL_FSDP_AHEAD;
    } else if (!ovl_read_count(text, &number) && number >= 0 && number <= 1000000) {
        *depth = number;
    } else {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, key)->mark,
                  "%s is \"%s\": expected `%s` or a number of units, 0 to 1000000", key,
                  ovl_shown(text, errs->arena), word);
    }
}

static void check_prefetch(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    ovl_fsdp_prefetch *p = value;
    read_depth(node, "forward", p->forward_text, "implicit", &p->forward, errs);
    read_depth(node, "backward", p->backward_text, "none", &p->backward, errs);
}

static const ovl_field prefetch_fields[] = {
    OVL_FIELD(ovl_fsdp_prefetch, forward_text, "forward", OVL_F_TEXT, 0,
              "`implicit`: a gather is issued where it is needed, and the host runs ahead, so the "
              "next one overlaps the forward before it. A number n: n gathers ahead are issued "
              "right after a unit's own copy-out. 0: nothing overlaps; a gather waits for all "
              "compute issued before it. Default `implicit`."),
    OVL_FIELD(ovl_fsdp_prefetch, backward_text, "backward", OVL_F_TEXT, 0,
              "A number n: n gathers ahead, in reverse order of the forward, are issued right "
              "after a unit's own copy-out. `none`: a gather is issued where it is needed; a host "
              "that runs ahead still overlaps it. 0: nothing overlaps. Default 1."),
};

const ovl_table ovl_fsdp_prefetch_table = {
    .title = "overlap.fsdp.prefetch",
    .intro = "How far ahead parameters are gathered.\n\n"
             "    prefetch: {forward: 1, backward: 1}",
    .fields = prefetch_fields,
    .n_fields = OVL_COUNT(prefetch_fields),
    .size = sizeof(ovl_fsdp_prefetch),
    .mark = OVL_NO_SET,
    .defaults = prefetch_defaults,
    .check = check_prefetch,
};

/* --- Accumulation --- */

static void accumulate_defaults(void *value)
{
    ovl_fsdp_accumulate *accumulate = value;
    accumulate->reshard_after_backward = true;
}

static const ovl_field accumulate_fields[] = {
    OVL_FIELD_MORE(ovl_fsdp_accumulate, gradient_sync, "gradient_sync", OVL_F_ENUM, 0,
                   "Microbatches whose gradients are reduce-scattered: `every`, or only the "
                   "`last`, with whole gradients kept until then (set_requires_gradient_sync). "
                   "`behind` (fsdp2): those of all layers behind the whole last backward, as "
                   "PyTorch's pipelines do for each stage. Default `every`.",
                   .names = sync_names),
    OVL_FIELD_MORE(ovl_fsdp_accumulate, all_reduce, "all_reduce", OVL_F_ENUM, 0,
                   "Microbatches whose gradients are reduced across replicas: `every`, or only the "
                   "`last`, with sharded sums kept until then (set_requires_all_reduce). Default "
                   "`every`.",
                   .names = when_names),
    OVL_FIELD_MORE(ovl_fsdp_accumulate, last_backward, "last_backward", OVL_F_ENUM, 0,
                   "Backwards that wait for their reductions at their end: `every`, or only the "
                   "`last` (set_is_last_backward). Default `every`.",
                   .names = when_names),
    OVL_FIELD(ovl_fsdp_accumulate, reshard_after_backward, "reshard_after_backward", OVL_F_BOOL, 0,
              "false: parameters stay gathered from one microbatch to the next "
              "(set_reshard_after_backward). Default true."),
    OVL_FIELD(ovl_fsdp_accumulate, skip_unshard_in_backward, "skip_unshard_in_backward",
              OVL_F_TEXTS, 0,
              "Layers whose backward needs no parameters, such as an embedding "
              "(set_unshard_in_backward)."),
};

const ovl_table ovl_fsdp_accumulate_table = {
    .title = "overlap.fsdp.accumulate",
    .intro = "What happens to gradients and parameters while microbatches are accumulated.\n\n"
             "    accumulate: {all_reduce: last}",
    .fields = accumulate_fields,
    .n_fields = OVL_COUNT(accumulate_fields),
    .size = sizeof(ovl_fsdp_accumulate),
    .mark = offsetof(ovl_fsdp_accumulate, mark),
    .defaults = accumulate_defaults,
};

/* --- FSDP --- */

static const char *const policy_names[] = {"fsdp2", "fsdp1", NULL};
static const char *const sharding_names[] = {"full_shard", "shard_grad_op", NULL};
static const char *const backward_names[] = {"pre", "post", "none", NULL};
static const char *const block_names[] = {"always", "needed", NULL};

static void fsdp_defaults(void *value)
{
    ovl_fsdp *fsdp = value;
    fsdp->shard = "dp";
    fsdp->reshard = true;
    fsdp->communicators = 1;
    fsdp->outstanding_reduces = 1;
    fsdp->limit_all_gathers = 2;
    fsdp->param_dtype = fsdp->grad_dtype = fsdp->reduce_dtype = OVL_DTYPE_OF_LAYER;
    prefetch_defaults(&fsdp->prefetch);
    accumulate_defaults(&fsdp->accumulate);
}

static void read_reshard(const ovl_node *node, ovl_fsdp *fsdp, ovl_errs *errs)
{
    const char *text = fsdp->reshard_text;
    int64_t ranks = 0;
    if (!text) {
        return;
    }
    fsdp->reshard_mark = ovl_node_get(node, "reshard_after_forward")->mark;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        fsdp->reshard = *text == 't';
    } else if (!ovl_read_count(text, &ranks) && ranks == 1) {
        fsdp->reshard = false;
        ovl_warning(errs, fsdp->reshard_mark,
                    "reshard_after_forward: 1 is taken as false, as PyTorch does: with one rank to "
                    "reshard over, each keeps all parameters");
    } else if (!ovl_read_count(text, &ranks) && ranks >= 2 && ranks <= 1000000) {
        fsdp->reshard_to = ranks;
    } else {
        ovl_error(errs, OVL_E_INPUT, fsdp->reshard_mark,
                  "reshard_after_forward is \"%s\": expected true, false, or a number of ranks",
                  ovl_shown(text, errs->arena));
    }
}

/* Where a key is given, else where the section is. */
static ovl_mark place_of(const ovl_node *node, const char *key, ovl_mark section)
{
    return ovl_node_gives(node, key) ? ovl_node_get(node, key)->mark : section;
}

/* No mistake: a variant may change the policy alone. */
static void no_effect(const ovl_node *node, const char *const *keys, const char *because,
                      ovl_errs *errs)
{
    for (; node && *keys; keys++) {
        if (ovl_node_gives(node, *keys)) {
            ovl_warning(errs, ovl_node_get(node, *keys)->mark, "\"%s\" has no effect: %s", *keys,
                        because);
        }
    }
}

static const char *const all_reduce[] = {"all_reduce", NULL};
static const char *const keep[] = {"keep_after_forward", NULL};
static const char *const block[] = {"block", NULL};

/* Keys that another one leaves without a meaning. */
static void check_pairs(const ovl_node *node, const ovl_fsdp *fsdp, ovl_errs *errs)
{
    if (fsdp->policy == OVL_FSDP_2 && !fsdp->replicate) {
        no_effect(ovl_node_get(node, "accumulate"), all_reduce,
                  "without `replicate` there are no replicas", errs);
    }
    if (fsdp->policy == OVL_FSDP_2 && !fsdp->reshard) {
        no_effect(node, keep, "with reshard_after_forward: false all parameters stay", errs);
    }
    if (fsdp->policy == OVL_FSDP_1 && fsdp->limit_all_gathers == 0) {
        no_effect(node, block, "with limit_all_gathers: 0 the host never waits", errs);
    }
}

static void check_fsdp(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    static const char *const of_fsdp1[] = {"sharding",
                                           "backward_prefetch",
                                           "forward_prefetch",
                                           "limit_all_gathers",
                                           "block",
                                           "regather_for_recompute",
                                           NULL};
    static const char *const of_fsdp2[] = {"prefetch", "reshard_after_forward",
                                           "keep_after_forward", "outstanding_reduces", NULL};
    static const char *const between[] = {"all_reduce", "last_backward", "reshard_after_backward",
                                          "skip_unshard_in_backward", NULL};
    (void)arena;
    ovl_fsdp *fsdp = value;
    read_reshard(node, fsdp, errs);
    fsdp->shard_mark = place_of(node, "shard", fsdp->mark);
    fsdp->replicate_mark = place_of(node, "replicate", fsdp->mark);
    if (fsdp->policy == OVL_FSDP_2) {
        no_effect(node, of_fsdp1, "it belongs to policy: fsdp1", errs);
    } else {
        no_effect(node, of_fsdp2, "it belongs to policy: fsdp2", errs);
        no_effect(ovl_node_get(node, "accumulate"), between, "it belongs to policy: fsdp2", errs);
        if (fsdp->accumulate.gradient_sync == OVL_FSDP_BEHIND) {
            ovl_error(errs, OVL_E_INPUT, fsdp->accumulate.mark,
                      "gradient_sync: behind belongs to policy: fsdp2");
        }
    }
    check_pairs(node, fsdp, errs);
    ovl_check_repeats("layer of root", fsdp->root.item, fsdp->root.mark, fsdp->root.count, errs);
}

static const ovl_field fsdp_fields[] = {
    OVL_FIELD_MORE(ovl_fsdp, policy, "policy", OVL_F_ENUM, 0,
                   "Whose rules say what is gathered when: PyTorch's fully_shard (`fsdp2`) or "
                   "FullyShardedDataParallel (`fsdp1`). Default `fsdp2`.",
                   .names = policy_names),
    OVL_FIELD(ovl_fsdp, shard, "shard", OVL_F_TEXT, 0,
              "The group over which parameters are sharded. Default `dp`."),
    OVL_FIELD(ovl_fsdp, replicate, "replicate", OVL_F_TEXT, 0,
              "Hybrid sharding: the group of the ranks that hold the same shard. Default: none."),
    OVL_FIELD(ovl_fsdp, root, "root", OVL_F_TEXTS, 0,
              "Layers whose parameters the root module holds: they are gathered as one before the "
              "first forward, stay so until their backward, and are reduced last. Default: none; "
              "each layer is a unit of its own."),
    OVL_FIELD(
        ovl_fsdp, reshard_text, "reshard_after_forward", OVL_F_TEXT, 0,
        "true: parameters are freed after the forward and gathered again for the backward. "
        "false: they stay. A number: they are resharded over that many neighbours of the "
        "shard group (which it divides), and gathered from these; costs for that gather are "
        "looked up under the group `NAME/NUMBER`, then under none. 1 is taken as false, as PyTorch "
        "does. Default true."),
    OVL_FIELD(ovl_fsdp, keep, "keep_after_forward", OVL_F_TEXTS, 0,
              "Layers whose parameters stay from forward to backward all the same. Default: none."),
    OVL_FIELD_MORE(ovl_fsdp, prefetch, "prefetch", OVL_F_MAP, 0,
                   "How far ahead parameters are gathered.", .table = &ovl_fsdp_prefetch_table),
    OVL_FIELD_MORE(ovl_fsdp, communicators, "communicators", OVL_F_COUNT, OVL_FIELD_POSITIVE,
                   "1: gathers and reduce-scatters share a communicator and run one after the "
                   "other, whatever their streams. 2: each has its own. Default 1.",
                   .min = 1, .max = 2),
    OVL_FIELD_MORE(ovl_fsdp, outstanding_reduces, "outstanding_reduces", OVL_F_COUNT,
                   OVL_FIELD_POSITIVE,
                   "Reduce-scatters that may be under way when compute fills the next one's input; "
                   "the oldest is waited for. Default 1.",
                   .min = 1, .max = 1000000),
    OVL_FIELD_MORE(ovl_fsdp, param_dtype, "param_dtype", OVL_F_ENUM, 0,
                   "Type that parameters are gathered and used in, also by kernels given by FLOPs. "
                   "Default: the layer's `dtype`, that of its shards.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
    OVL_FIELD_MORE(ovl_fsdp, grad_dtype, "grad_dtype", OVL_F_ENUM, 0,
                   "Type of the gradients that the backward writes. Default: that of the gathered "
                   "parameters.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
    OVL_FIELD_MORE(ovl_fsdp, reduce_dtype, "reduce_dtype", OVL_F_ENUM, 0,
                   "Type that gradients are reduced in. Default: that of the gradients.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
    OVL_FIELD(ovl_fsdp, copy_rate, "copy_rate", OVL_F_RATE, 0,
              "Bytes written per second by the kernels that copy shards into gathers, gathers into "
              "parameters, and gradients into reduce-scatters. Default 0: they take no time."),
    OVL_FIELD_MORE(ovl_fsdp, accumulate, "accumulate", OVL_F_MAP, 0,
                   "What happens between microbatches.", .table = &ovl_fsdp_accumulate_table),
    OVL_FIELD_MORE(ovl_fsdp, sharding, "sharding", OVL_F_ENUM, 0,
                   "fsdp1: `full_shard` frees parameters after the forward, `shard_grad_op` keeps "
                   "them until the backward. With `replicate` they are the HYBRID strategies. "
                   "Default `full_shard`.",
                   .names = sharding_names),
    OVL_FIELD_MORE(ovl_fsdp, backward_prefetch, "backward_prefetch", OVL_F_ENUM, 0,
                   "fsdp1: the next gather is issued before a unit's backward (`pre`), behind it "
                   "and before its reduce-scatter (`post`), or where it is needed (`none`). "
                   "Default `pre`.",
                   .names = backward_names),
    OVL_FIELD(ovl_fsdp, forward_prefetch, "forward_prefetch", OVL_F_BOOL, 0,
              "fsdp1: the next gather is issued before a unit's forward. Default false."),
    OVL_FIELD_MORE(
        ovl_fsdp, limit_all_gathers, "limit_all_gathers", OVL_F_COUNT, 0,
        "fsdp1: freed parameters that the GPU may still be using; with so many, the host "
        "waits for the oldest before it issues a gather. 0: no limit. Default 2.",
        .max = 1000000),
    OVL_FIELD_MORE(ovl_fsdp, block, "block", OVL_F_ENUM, 0,
                   "fsdp1: the host waits so at `always`, each place where a gather could be "
                   "issued, or only where one is `needed`. Default `always`.",
                   .names = block_names),
    OVL_FIELD(ovl_fsdp, regather, "regather_for_recompute", OVL_F_BOOL, 0,
              "fsdp1: checkpoints lie around units, not inside: a recomputed forward gathers and "
              "frees parameters for itself before the backward gathers them again. Default "
              "false."),
};

const ovl_table ovl_fsdp_table = {
    .title = "overlap.fsdp",
    .intro =
        "Fully sharded data parallelism of `workload.layers`. Each layer with parameters is a unit "
        "that is gathered, used and freed as a whole. `fsdp: {}` takes all defaults.\n\n"
        "    fsdp: {shard: dp, prefetch: {forward: 1, backward: 1}, param_dtype: bf16, "
        "reduce_dtype: f32}\n"
        "    fsdp: {shard: shard, replicate: replica, root: [embed, head]}\n"
        "    fsdp: {policy: fsdp1, backward_prefetch: pre, limit_all_gathers: 2}\n\n"
        "In a pipeline (policy fsdp2) each stage shards its layers. PyTorch then gathers and "
        "reduces "
        "once for all microbatches, and reduces only when the last backward of a stage is "
        "through:\n\n"
        "    fsdp: {reshard_after_forward: false, accumulate: {gradient_sync: behind, "
        "last_backward: "
        "last, reshard_after_backward: false}}",
    .fields = fsdp_fields,
    .n_fields = OVL_COUNT(fsdp_fields),
    .size = sizeof(ovl_fsdp),
    .mark = offsetof(ovl_fsdp, mark),
    .defaults = fsdp_defaults,
    .check = check_fsdp,
};
