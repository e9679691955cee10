#include "models/tables.h"
#include "models/variation.h"

static void layer_defaults(void *value)
{
    ovl_layer *layer = value;
    layer->repeat = 1;
    layer->dtype = OVL_DTYPE_OF_WORKLOAD;
}

/* --- Layers --- */

static void check_elements(const ovl_texts *elements, ovl_errs *errs)
{
    for (uint32_t i = 0; i < elements->count; i++) {
        int64_t count = 1;
        const char *why = ovl_read_count(elements->item[i], &count);
        /* Beyond this the bytes of the widest type would not fit. */
        why = why || count <= INT64_MAX / 8 ? why : "too many elements";
        why = why || count > 0 ? why : "must be greater than 0";
        if (why) {
            ovl_error(errs, OVL_E_INPUT, elements->mark[i], "elements is \"%s\": %s",
                      ovl_shown(elements->item[i], errs->arena), why);
        }
    }
}

static void exclude(const ovl_node *node, const char *a, const char *b, ovl_errs *errs)
{
    if (ovl_node_gives(node, a) && ovl_node_gives(node, b)) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, b)->mark,
                  "\"%s\" and \"%s\" exclude each other", a, b);
    }
}

static void check_layer(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    ovl_layer *layer = value;
    exclude(node, "params", "elements", errs);
    exclude(node, "forward", "forward_flops", errs);
    exclude(node, "backward", "backward_flops", errs);
    check_elements(&layer->elements, errs);
    bool backward = ovl_node_gives(node, "backward") || ovl_node_gives(node, "backward_flops") ||
                    ovl_node_gives(node, "backward_hbm") || ovl_node_gives(node, "hbm");
    if (!backward) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "a layer needs the time of its backward: backward, or backward_flops and hbm");
    }
}

static const ovl_field layer_fields[] = {
    OVL_FIELD(ovl_layer, name, "name", OVL_F_TEXT, OVL_FIELD_REQUIRED,
              "What it is called; its gradient has the same name."),
    OVL_FIELD_MORE(ovl_layer, repeat, "repeat", OVL_F_COUNT, 0,
                   "How many of them, one after the other, named `name[0]`, `name[1]`, ... Default "
                   "1: one, named `name`.",
                   .min = 1, .max = 1000000),
    OVL_FIELD_SET(ovl_layer, first, has_first, "first", OVL_F_COUNT, 0,
                  "Number of the first repeat. With it a layer is numbered even if it is one "
                  "alone. Default 0.",
                  .max = 1000000),
    OVL_FIELD(ovl_layer, params, "params", OVL_F_BYTES, 0,
              "Bytes of its parameter tensor, as gradients of `dtype`. Default 0: nothing to "
              "reduce."),
    OVL_FIELD(ovl_layer, elements, "elements", OVL_F_TEXTS, 0,
              "Instead of `params`: element counts of its tensors in registration order, named "
              "`name.0`, `name.1`, ..."),
    OVL_FIELD_MORE(ovl_layer, dtype, "dtype", OVL_F_ENUM, 0,
                   "Element type of its gradients. Default: that of the workload.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
    OVL_FIELD_MORE(ovl_layer, forward, "forward", OVL_F_TIMES, 0,
                   "Isolated duration of its forward kernel. Default: no forward is modelled.",
                   .table = &ovl_duration_table),
    OVL_FIELD_MORE(ovl_layer, backward, "backward", OVL_F_TIMES, 0,
                   "Isolated duration of its backward kernel.", .table = &ovl_duration_table),
    OVL_FIELD_SET(ovl_layer, backward_weight, has_backward_weight, "backward_weight", OVL_F_TIME, 0,
                  "Pipelines: the part of backward that nobody waits for, gradients of weights.",
                  .min = 0),
    OVL_FIELD_SET(ovl_layer, transfer, has_transfer, "transfer", OVL_F_BYTES, 0,
                  "Pipelines: bytes sent for each microbatch to the next stage, if the layer is "
                  "the last of its stage; needed where bytes take time.",
                  .min = 0),
    OVL_FIELD(ovl_layer, forward_flops, "forward_flops", OVL_F_FLOPS, 0,
              "Instead of `forward`: its work, timed by the roofline of the GPU."),
    OVL_FIELD(ovl_layer, backward_flops, "backward_flops", OVL_F_FLOPS, 0,
              "Instead of `backward`: its work, timed by the roofline of the GPU."),
    OVL_FIELD(ovl_layer, hbm, "hbm", OVL_F_BYTES, 0, "HBM bytes its forward kernel moves."),
    OVL_FIELD(ovl_layer, backward_hbm, "backward_hbm", OVL_F_BYTES, 0,
              "HBM bytes its backward kernel moves. Default: twice `hbm`."),
    OVL_FIELD(ovl_layer, activations, "activations", OVL_F_SIZES, 0,
              "Bytes kept from its forward to its backward; a list: on each rank. Default 0."),
    OVL_FIELD(
        ovl_layer, recompute, "recompute", OVL_F_BOOL, 0,
        "fsdp, zero: its activations are not kept: the forward runs once more right before its "
        "backward. Default false."),
    OVL_FIELD_MORE(ovl_layer, recompute_time, "recompute_time", OVL_F_TIMES, 0,
                   "Isolated duration of that second forward. Default: that of the first.",
                   .table = &ovl_duration_table),
    OVL_FIELD(ovl_layer, checkpoint, "checkpoint", OVL_F_SIZES, 0,
              "Bytes kept from forward to backward to recompute from; a list: on each rank. "
              "Default 0."),
    OVL_FIELD(ovl_layer, offload, "offload", OVL_F_BOOL, 0,
              "fsdp, zero: what is kept goes to the host after the forward and comes back for the "
              "backward, as `workload.offload` says. Default false."),
    OVL_FIELD(ovl_layer, forward_host, "forward_host", OVL_F_TIME, 0,
              "What the host takes in a forward of the layer besides `host.launch`: Python, "
              "dispatch, checks. Default 0."),
    OVL_FIELD(ovl_layer, backward_host, "backward_host", OVL_F_TIME, 0,
              "The same in a backward. Default 0."),
    OVL_FIELD_MORE(
        ovl_layer, sms, "sms", OVL_F_COUNT, 0,
        "SMs its kernels want. Default: all of the GPU, or one for each of fewer `blocks`.",
        .max = 100000),
    OVL_FIELD_MORE(ovl_layer, blocks, "blocks", OVL_F_COUNT, 0,
                   "Thread blocks of its kernels; what SMs held by others cost them then goes by "
                   "whole waves.",
                   .max = INT32_MAX),
    OVL_FIELD(ovl_layer, klass, "class", OVL_F_TEXT, 0,
              "Interference class of its kernels. Default: `forward` and `backward`."),
};

const ovl_table ovl_layer_table = {
    .title = "workload.layers[]",
    .intro =
        "A layer of the model. Layers stand in registration (forward) order unless "
        "`workload.order` says `backward`.\n\n"
        "    layers:\n"
        "      - {name: embed, params: 128 MiB, forward: 1 ms, backward: 2 ms}\n"
        "      - {name: block, repeat: 48, params: 96 MiB, forward: 2.1 ms, backward: 4.2 ms}\n"
        "\n"
        "A path reaches one repeat by its number (`workload.layers.block[3].backward`): the "
        "layer is split around it and the names stay.",
    .fields = layer_fields,
    .n_fields = OVL_COUNT(layer_fields),
    .size = sizeof(ovl_layer),
    .mark = offsetof(ovl_layer, mark),
    .defaults = layer_defaults,
    .check = check_layer,
};

/* --- Gradients --- */

static void gradient_defaults(void *value)
{
    ovl_gradient *gradient = value;
    gradient->dtype = OVL_DTYPE_OF_WORKLOAD;
}

static const ovl_field gradient_fields[] = {
    OVL_FIELD(ovl_gradient, name, "name", OVL_F_TEXT, OVL_FIELD_REQUIRED, "What it is called."),
    OVL_FIELD(ovl_gradient, bytes, "bytes", OVL_F_BYTES, OVL_FIELD_REQUIRED | OVL_FIELD_POSITIVE,
              "Its size."),
    OVL_FIELD_MORE(ovl_gradient, dtype, "dtype", OVL_F_ENUM, 0,
                   "Element type. Default: that of the workload.", .names = ovl_dtype_keys,
                   .values = ovl_dtype_values),
    OVL_FIELD(ovl_gradient, ready, "ready", OVL_F_TIME, OVL_FIELD_REQUIRED,
              "When it is complete, counted from the start of a backward pass that nothing "
              "stretches; at most `workload.backward`."),
    OVL_FIELD(ovl_gradient, copy_in, "copy_in", OVL_F_TIME, 0,
              "Length of a kernel on the compute stream that copies it into its bucket, from the "
              "moment it is ready; `workload.backward` includes it. Default 0: no kernel."),
};

const ovl_table ovl_gradient_table = {
    .title = "workload.gradients[]",
    .intro = "A gradient and the moment it becomes ready, where the layers behind it do not "
             "matter.\n\n"
             "    backward: 210 ms\n"
             "    gradients:\n"
             "      - {name: g1, bytes: 16 MiB, ready: 194 ms}\n"
             "      - {name: late, bytes: 4 MiB, ready: 209 ms}",
    .fields = gradient_fields,
    .n_fields = OVL_COUNT(gradient_fields),
    .size = sizeof(ovl_gradient),
    .mark = offsetof(ovl_gradient, mark),
    .defaults = gradient_defaults,
};

/* --- Offload --- */

static void offload_defaults(void *value)
{
    ovl_offload *offload = value;
    offload->in_flight = 2;
    offload->reload_distance = 1;
}

static const ovl_field offload_fields[] = {
    OVL_FIELD(ovl_offload, d2h, "d2h", OVL_F_RATE, OVL_FIELD_REQUIRED | OVL_FIELD_POSITIVE,
              "Bytes per second from the GPU to the host."),
    OVL_FIELD(ovl_offload, h2d, "h2d", OVL_F_RATE, OVL_FIELD_REQUIRED | OVL_FIELD_POSITIVE,
              "Bytes per second back."),
    OVL_FIELD(ovl_offload, via, "via", OVL_F_TEXTS, 0, "Links that the copies load."),
    OVL_FIELD_MORE(ovl_offload, in_flight, "in_flight", OVL_F_COUNT, 0,
                   "Units whose copy to the host may be under way; beyond that compute waits for "
                   "the oldest, and what it copied is freed. Default 2.",
                   .max = 1000000),
    OVL_FIELD_MORE(ovl_offload, reload_distance, "reload_distance", OVL_F_COUNT, 0,
                   "Units ahead whose copy back is issued before a unit's backward; 0: only its "
                   "own. Default 1.",
                   .max = 1000000),
};

const ovl_table ovl_offload_table = {
    .title = "workload.offload",
    .intro = "How activations of layers that say `offload` go to the host and back, on streams of "
             "their own and the copy engines of the GPU.\n\n"
             "    offload: {d2h: 25 GB/s, h2d: 25 GB/s, via: [pcie], reload_distance: 2}",
    .fields = offload_fields,
    .n_fields = OVL_COUNT(offload_fields),
    .size = sizeof(ovl_offload),
    .mark = offsetof(ovl_offload, mark),
    .defaults = offload_defaults,
};

static const ovl_field optimizer_fields[] = {
    OVL_FIELD(
        ovl_optimizer, duration, "duration", OVL_F_TIME, 0,
        "Length of its kernel, which waits for every reduced gradient. Default: of a model by "
        "its shape the bytes that what it keeps moves (`moments`, `master_weights`), by "
        "`memory_efficiency` of HBM; else 0."),
    OVL_FIELD(ovl_optimizer, states, "states", OVL_F_BYTES, 0,
              "Bytes of optimizer state on each rank. Default 0, or what `moments` and "
              "`master_weights` say."),
    OVL_FIELD_MORE(ovl_optimizer, moments, "moments", OVL_F_COUNT, 0,
                   "Instead of `states`: state tensors of the size of the parameters that a rank "
                   "updates (Adam: 2, SGD with momentum: 1). Default 0.",
                   .max = 16),
    OVL_FIELD(ovl_optimizer, master, "master_weights", OVL_F_BOOL, 0,
              "The optimizer keeps a copy of these parameters besides. Default false."),
    OVL_FIELD_MORE(ovl_optimizer, dtype, "dtype", OVL_F_ENUM, 0,
                   "Element type of `moments` and `master_weights`. Default f32.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
};

static void check_optimizer(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)value, (void)arena;
    exclude(node, "states", "moments", errs);
    exclude(node, "states", "master_weights", errs);
}

const ovl_table ovl_optimizer_table = {
    .title = "workload.optimizer",
    .intro = "The optimizer step after the reductions.",
    .fields = optimizer_fields,
    .n_fields = OVL_COUNT(optimizer_fields),
    .size = sizeof(ovl_optimizer),
    .mark = offsetof(ovl_optimizer, mark),
    .check = check_optimizer,
};

/* --- DDP --- */

static const char *const policy_names[] = {"pytorch", "megatron", NULL};
static const char *const iteration_names[] = {"rebuilt", "first", NULL};

#define MIB ((uint64_t)1 << 20)

static void ddp_defaults(void *value)
{
    ovl_ddp *ddp = value;
    ddp->group = "dp";
    ddp->stream = "comm";
    ddp->bucket_cap = 25 * MIB;
    ddp->first_bucket_cap = MIB;
    ddp->overlap = true;
    ddp->no_sync = true;
}

/* Whose gradients exist is known to the plan; here only the shape is looked at. */
static void check_buckets(const ovl_node *node, ovl_errs *errs)
{
    if (node->kind != OVL_NODE_LIST) {
        ovl_wrong_shape(node, "buckets", "a list of lists of gradients", errs);
        return;
    }
    for (uint32_t i = 0; i < node->count; i++) {
        const ovl_node *bucket = node->items[i];
        if (bucket->kind != OVL_NODE_LIST || bucket->count == 0) {
            ovl_error(errs, OVL_E_INPUT, bucket->mark,
                      "buckets: a bucket is a list of gradients, such as [g1, g2]");
            continue;
        }
        for (uint32_t k = 0; k < bucket->count; k++) {
            if (bucket->items[k]->kind != OVL_NODE_SCALAR || !*bucket->items[k]->text) {
                ovl_wrong_shape(bucket->items[k], "buckets", "the name of a gradient", errs);
            }
        }
    }
}

/* No mistake: a variant may change the policy alone. */
static void only_for(const ovl_node *node, const char *key, const char *policy, ovl_errs *errs)
{
    if (ovl_node_gives(node, key)) {
        ovl_warning(errs, ovl_node_get(node, key)->mark,
                    "\"%s\" has no effect: it belongs to policy: %s", key, policy);
    }
}

static void check_ddp(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    ovl_ddp *ddp = value;
    if (ddp->buckets_node) {
        check_buckets(ddp->buckets_node, errs);
    }
    if (ddp->policy == OVL_DDP_PYTORCH) {
        only_for(node, "bucket_size", "megatron", errs);
        only_for(node, "distributed_optimizer", "megatron", errs);
        only_for(node, "overlap_param_gather", "megatron", errs);
        only_for(node, "pad_for_busbw", "megatron", errs);
    } else {
        only_for(node, "bucket_cap", "pytorch", errs);
        only_for(node, "first_bucket_cap", "pytorch", errs);
        only_for(node, "last_bucket_cap", "pytorch", errs);
        only_for(node, "find_unused_parameters", "pytorch", errs);
        only_for(node, "iteration", "pytorch", errs);
    }
}

static const ovl_field ddp_fields[] = {
    OVL_FIELD_MORE(ovl_ddp, policy, "policy", OVL_F_ENUM, 0,
                   "Whose rules put gradients into buckets: PyTorch DDP or Megatron-LM. Default "
                   "`pytorch`.",
                   .names = policy_names),
    OVL_FIELD_MORE(ovl_ddp, iteration, "iteration", OVL_F_ENUM, 0,
                   "pytorch: `first` is the first iteration, before buckets are rebuilt in the "
                   "order in which gradients became ready. Default `rebuilt`.",
                   .names = iteration_names),
    OVL_FIELD(ovl_ddp, group, "group", OVL_F_TEXT, 0, "The group that reduces. Default `dp`."),
    OVL_FIELD(ovl_ddp, stream, "stream", OVL_F_TEXT, 0,
              "The stream of the reductions. Default `comm`."),
    OVL_FIELD_SET(ovl_ddp, bucket_cap, has_bucket_cap, "bucket_cap", OVL_F_BYTES,
                  OVL_FIELD_POSITIVE,
                  "pytorch: a bucket closes once it holds this much. Default 25 MiB.", .min = 0),
    OVL_FIELD_SET(ovl_ddp, first_bucket_cap, has_first_bucket_cap, "first_bucket_cap", OVL_F_BYTES,
                  OVL_FIELD_POSITIVE, "pytorch: the same for the first bucket. Default 1 MiB.",
                  .min = 0),
    OVL_FIELD(ovl_ddp, last_bucket_cap, "last_bucket_cap", OVL_F_BOOL, 0,
              "pytorch: the small bucket comes last instead of first (DDP_SET_LAST_BUCKET_CAP). "
              "Default false."),
    OVL_FIELD(ovl_ddp, find_unused_parameters, "find_unused_parameters", OVL_F_BOOL, 0,
              "pytorch, `iteration: first`: limits apply instead of one bucket for each dtype. "
              "Default false."),
    OVL_FIELD_MORE(ovl_ddp, bucket_size, "bucket_size", OVL_F_COUNT, OVL_FIELD_POSITIVE,
                   "megatron: a bucket closes once it holds this many elements. Default: the "
                   "larger of 40e6 and 1e6 for each rank of the group.",
                   .min = 0),
    OVL_FIELD(ovl_ddp, distributed_optimizer, "distributed_optimizer", OVL_F_BOOL, 0,
              "megatron: reduce-scatter instead of all-reduce, with padding. Default false."),
    OVL_FIELD(ovl_ddp, overlap_param_gather, "overlap_param_gather", OVL_F_BOOL, 0,
              "megatron, `distributed_optimizer`: each forward waits for the parameters of its own "
              "bucket and starts the gather of the next (overlap_param_gather). Default false: all "
              "are gathered behind the optimizer, before the next forward."),
    OVL_FIELD(ovl_ddp, pad_for_busbw, "pad_for_busbw", OVL_F_BOOL, 0,
              "megatron: pad buckets to 65536 elements (pad_buckets_for_high_nccl_busbw). Default "
              "false."),
    OVL_FIELD(ovl_ddp, overlap, "overlap", OVL_F_BOOL, 0,
              "false: all reductions come after the backward. Default true."),
    OVL_FIELD_MORE(
        ovl_ddp, buckets_node, "buckets", OVL_F_NODE, 0,
        "Buckets listed one by one, in launch order, instead of a policy: every gradient "
        "exactly once; `\"block[0..3]\"` (in quotes) is a range.",
        .shape = "list of lists of gradients"),
    OVL_FIELD(ovl_ddp, order, "order", OVL_F_TEXTS, 0,
              "Order of gradients for the policy. Default: order of readiness, or in the `first` "
              "iteration reverse registration."),
    OVL_FIELD(ovl_ddp, no_sync, "no_sync", OVL_F_BOOL, 0,
              "With several microbatches, only the last reduces. Default true."),
    OVL_FIELD(ovl_ddp, gradient_as_bucket_view, "gradient_as_bucket_view", OVL_F_BOOL, 0,
              "Gradients live in the buckets: no copies and no memory of their own. Default "
              "false."),
    OVL_FIELD(ovl_ddp, copy_in_rate, "copy_in_rate", OVL_F_RATE, 0,
              "Bytes per second of the kernels that copy gradients into buckets and back. Default "
              "0: they take no time."),
    OVL_FIELD(ovl_ddp, bucket_overhead, "bucket_overhead", OVL_F_TIME, 0,
              "Time on the compute stream for each bucket that is launched. Default 0."),
    OVL_FIELD_SET(ovl_ddp, gradient_scale, has_gradient_scale, "gradient_scale", OVL_F_RATIO,
                  OVL_FIELD_POSITIVE,
                  "Factor applied to gradients when they are copied in. Default: one over the size "
                  "of the group.",
                  .min = 0),
};

const ovl_table ovl_ddp_table = {
    .title = "overlap.ddp",
    .intro =
        "Data parallelism that reduces gradients in buckets while the backward runs. `ddp: {}` "
        "takes all defaults.\n\n"
        "    ddp: {bucket_cap: 25 MiB, first_bucket_cap: 1 MiB}\n"
        "    ddp: {policy: megatron, bucket_size: 40e6, distributed_optimizer: true}\n"
        "    ddp: {buckets: [[g1, g2], [g3]]}\n\n"
        "In a pipeline each stage of layers has buckets of its own, reduced beside its last "
        "backward.",
    .fields = ddp_fields,
    .n_fields = OVL_COUNT(ddp_fields),
    .size = sizeof(ovl_ddp),
    .mark = offsetof(ovl_ddp, mark),
    .defaults = ddp_defaults,
    .check = check_ddp,
};
