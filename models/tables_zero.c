#include "models/tables.h"

static const char *const iteration_names[] = {"traced", "first", NULL};

static void zero_defaults(void *value)
{
    ovl_zero *zero = value;
    zero->stage = 3;
    zero->group = "dp";
    zero->reduce_bucket_size = zero->allgather_bucket_size = 500000000;
    zero->overlap_comm = true;
    zero->prefetch_bucket_size = 50000000;
    zero->max_live_parameters = zero->max_reuse_distance = 1000000000;
    zero->param_persistence_threshold = 100000;
}

static const ovl_field zero_fields[] = {
    OVL_FIELD_MORE(ovl_zero, stage, "stage", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "1: optimizer states are sharded; 2: gradients, too; 3: parameters, too.",
                   .min = 1, .max = 3),
    OVL_FIELD(ovl_zero, group, "group", OVL_F_TEXT, 0, "The group that shards. Default `dp`."),
    OVL_FIELD(ovl_zero, reduce_bucket_size, "reduce_bucket_size", OVL_F_COUNT, OVL_FIELD_POSITIVE,
              "Elements of the buffer that gradients are copied into; it is reduced when the next "
              "ones do not fit. Default 5e8."),
    OVL_FIELD(ovl_zero, allgather_bucket_size, "allgather_bucket_size", OVL_F_COUNT,
              OVL_FIELD_POSITIVE,
              "Stages 1 and 2: elements after which a gather of updated parameters is full. "
              "Default 5e8."),
    OVL_FIELD(ovl_zero, overlap_comm, "overlap_comm", OVL_F_BOOL, 0,
              "false: reductions, and the gathers of stage 3, run on the compute stream. Default "
              "true."),
    OVL_FIELD(ovl_zero, prefetch_bucket_size, "prefetch_bucket_size", OVL_F_COUNT, 0,
              "Stage 3: elements asked for ahead of a module, whole modules until so many. Default "
              "5e7."),
    OVL_FIELD(ovl_zero, max_live_parameters, "max_live_parameters", OVL_F_COUNT, 0,
              "Stage 3: nothing more is prefetched while so many elements are gathered and, on the "
              "host, not released. Default 1e9."),
    OVL_FIELD(
        ovl_zero, max_reuse_distance, "max_reuse_distance", OVL_F_COUNT, 0,
        "Stage 3: parameters that are used again within so many elements are not released, nor "
        "those that a prefetch passed over because they were there. Default 1e9."),
    OVL_FIELD(ovl_zero, param_persistence_threshold, "param_persistence_threshold", OVL_F_COUNT, 0,
              "Stage 3: tensors of fewer elements stay whole on every rank. Default 1e5."),
    OVL_FIELD_MORE(ovl_zero, iteration, "iteration", OVL_F_ENUM, 0,
                   "Stage 3: the `first` iteration records the order of modules and prefetches "
                   "nothing. Default `traced`.",
                   .names = iteration_names),
    OVL_FIELD(ovl_zero, copy_rate, "copy_rate", OVL_F_RATE, 0,
              "Bytes per second of the kernels that copy gradients into buckets and out of them. "
              "Default 0: they take no time."),
};

/* No mistake: a variant may change the stage alone. */
static void check_zero(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    static const char *const of_stage3[] = {
        "prefetch_bucket_size",        "max_live_parameters", "max_reuse_distance",
        "param_persistence_threshold", "iteration",           NULL};
    static const char *const of_others[] = {"allgather_bucket_size", NULL};
    bool third = ((const ovl_zero *)value)->stage == 3;
    (void)arena;
    for (const char *const *key = third ? of_others : of_stage3; *key; key++) {
        if (ovl_node_gives(node, *key)) {
            ovl_warning(errs, ovl_node_get(node, *key)->mark,
                        "\"%s\" has no effect: it belongs to stage%s", *key,
                        third ? "s 1 and 2" : " 3");
        }
    }
}

const ovl_table ovl_zero_table = {
    .title = "overlap.zero",
    .intro = "DeepSpeed's ZeRO for `workload.layers`. Sizes are in elements.\n\n"
             "    zero: {stage: 3, prefetch_bucket_size: 5e7, max_live_parameters: 1e9}\n"
             "    zero: {stage: 2, reduce_bucket_size: 2e8}\n\n"
             "In a pipeline, stage 1: gradients are reduced behind the last action of a rank.",
    .fields = zero_fields,
    .n_fields = OVL_COUNT(zero_fields),
    .size = sizeof(ovl_zero),
    .mark = offsetof(ovl_zero, mark),
    .defaults = zero_defaults,
    .check = check_zero,
};
