#include "models/tables.h"

/* --- Mesh --- */

static const ovl_field mesh_fields[] = {
    OVL_FIELD_MORE(ovl_raw_mesh, axes, "axes", OVL_F_NODE, OVL_FIELD_REQUIRED,
                   "Name and size of each axis; the ranks are their product (1 to 1,000,000).",
                   .shape = "mapping of names to counts"),
    OVL_FIELD(
        ovl_raw_mesh, order, "order", OVL_F_TEXTS, 0,
        "Axes from the innermost, whose neighbours are consecutive ranks, to the outermost. "
        "Axes that are not listed follow in the order of `axes`. Default: the order of `axes`."),
};

const ovl_table ovl_mesh_table = {
    .title = "mesh",
    .intro = "Parallel axes; each is a group of the same name.\n\n"
             "    mesh: {axes: {dp: 4, tp: 2}, order: [tp, cp, ep, dp, pp]}\n\n"
             "has 8 ranks; tp groups are {0, 1}, {2, 3}, ... and dp groups {0, 2, 4, 6}, {1, 3, 5, "
             "7}. The standard axes tp, cp, ep, dp, pp and fsdp may stand in `order` without being "
             "there.",
    .fields = mesh_fields,
    .n_fields = OVL_COUNT(mesh_fields),
    .size = sizeof(ovl_raw_mesh),
    .mark = offsetof(ovl_raw_mesh, mesh.mark),
};

/* --- Workload --- */

static const char *const order_names[] = {"forward", "backward", NULL};

static void workload_defaults(void *value)
{
    ovl_workload *workload = value;
    workload->microbatches = 1;
    workload->steps = 1;
    workload->replay.comm = OVL_RECORD_COMM;
    workload->what_if.waiting = true;
}

static void check_workload(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    ovl_workload *workload = value;
    if (ovl_node_gives(node, "microbatches")) {
        workload->microbatches_mark = ovl_node_get(node, "microbatches")->mark;
    }
    bool ops = ovl_node_gives(node, "ops"), layers = ovl_node_gives(node, "layers");
    bool model = ovl_node_gives(node, "model");
    bool gradients = ovl_node_gives(node, "gradients");
    bool stages = ovl_node_gives(node, "stages"), trace = ovl_node_gives(node, "trace");
    int ways = ops + layers + model + gradients + stages + trace;
    if (ways != 1) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "a workload is stated in exactly one way: ops, layers, model, gradients, stages "
                  "or trace; found %s",
                  ways ? "more" : "none");
        return;
    }
    struct {
        const char *key;
        bool fits;
        const char *where;
    } keys[] = {
        {"backward", gradients, "gradients"},
        {"order", layers, "layers"},
        {"optimizer", !ops && !trace, "layers, gradients or stages"},
        {"microbatches", !ops && !trace, "layers, gradients or stages"},
        {"dtype", !model, "anything but a model, which has its own"},
        {"buffers", ops, "ops"},
        {"ranks", !trace, "ops, layers, gradients or stages: a trace has its own"},
        {"groups", !trace, "ops, layers, gradients or stages: a trace has its own"},
        {"replay", trace, "a trace"},
        {"steps", !trace, "ops, layers, gradients or stages: a trace has its own"},
        {"what_if", trace, "a trace"},
    };
    for (size_t i = 0; i < OVL_COUNT(keys); i++) {
        if (!keys[i].fits && ovl_node_gives(node, keys[i].key)) {
            ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, keys[i].key)->mark,
                      "\"%s\" belongs to a workload of %s", keys[i].key, keys[i].where);
        }
    }
    if (gradients && !ovl_node_gives(node, "backward")) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "gradients need \"backward\", the length of the backward pass");
    }
}

static const ovl_field workload_fields[] = {
    OVL_FIELD_MORE(ovl_workload, ranks, "ranks", OVL_F_COUNT, 0,
                   "How many ranks there are, without a mesh. Default 1.", .min = 1,
                   .max = 1000000),
    OVL_FIELD_MORE(ovl_workload, dtype, "dtype", OVL_F_ENUM, 0,
                   "Element type of whatever does not give one: f32, f64, bf16, f16, fp8, i8, i32, "
                   "i64. Default f32.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
    OVL_FIELD_MORE(ovl_workload, ops, "ops", OVL_F_LIST, 0,
                   "An explicit program, in host program order.", .table = &ovl_op_table),
    OVL_FIELD_MORE(ovl_workload, layers, "layers", OVL_F_LIST, 0,
                   "A data-parallel step as the layers of a model.", .table = &ovl_layer_table),
    OVL_FIELD_SET(ovl_workload, model, model.given, "model", OVL_F_MAP, 0,
                  "The same as a transformer given by its shape.", .table = &ovl_model_table),
    OVL_FIELD_MORE(ovl_workload, gradients, "gradients", OVL_F_LIST, 0,
                   "A data-parallel step as gradients with the moments they become ready.",
                   .table = &ovl_gradient_table),
    OVL_FIELD_MORE(ovl_workload, stages, "stages", OVL_F_LIST, 0, "A pipeline as its stages.",
                   .table = &ovl_stage_table),
    OVL_FIELD_MORE(ovl_workload, order, "order", OVL_F_ENUM, 0,
                   "layers: the order they stand in. Default `forward`, which is registration "
                   "order.",
                   .names = order_names),
    OVL_FIELD(ovl_workload, backward, "backward", OVL_F_TIME, 0,
              "gradients: length of the backward pass, `copy_in` kernels included."),
    OVL_FIELD_MORE(
        ovl_workload, microbatches, "microbatches", OVL_F_COUNT, 0,
        "layers, gradients, stages: microbatches whose gradients are accumulated. Default 1.",
        .min = 1, .max = 1000000),
    OVL_FIELD_SET(ovl_workload, offload, offload.given, "offload", OVL_F_MAP, 0,
                  "layers: how activations go to the host and back.", .table = &ovl_offload_table),
    OVL_FIELD_MORE(ovl_workload, steps, "steps", OVL_F_COUNT, 0,
                   "Training steps to run, one behind the other; the last one is looked at, when "
                   "what each step leaves to the next is there, and the first is told apart. Not "
                   "for pipelines, which drain. Default 1.",
                   .min = 1, .max = 1000),
    OVL_FIELD_SET(ovl_workload, optimizer, optimizer.given, "optimizer", OVL_F_MAP, 0,
                  "layers, gradients, stages: the optimizer step. Default: none.",
                  .table = &ovl_optimizer_table),
    OVL_FIELD_MORE(ovl_workload, buffers_node, "buffers", OVL_F_NODE, 0,
                   "ops: buffers by name. Without any, hazards and memory are not looked at.",
                   .table = &ovl_buffer_table, .shape = "mapping of names"),
    OVL_FIELD_MORE(ovl_workload, groups_node, "groups", OVL_F_NODE, 0,
                   "Groups by name, besides the axes of the mesh: `all`, the ranks of one "
                   "communicator (`[0, 1]`), or those of several (`[[0, 1], [2, 3]]`).",
                   .shape = "mapping of names to ranks"),
    OVL_FIELD(
        ovl_workload, trace, "trace", OVL_F_TEXTS, 0,
        "A measured step: traces of PyTorch's profiler or Nsight Systems exports, one file or "
        "one for each rank of a job, as paths from the scenario."),
    OVL_FIELD_MORE(ovl_workload, replay, "replay", OVL_F_MAP, 0,
                   "trace: which step of it, and how it becomes a program.",
                   .table = &ovl_replay_table),
    OVL_FIELD_MORE(ovl_workload, what_if, "what_if", OVL_F_MAP, 0,
                   "trace: what is changed in the replay.", .table = &ovl_what_if_table),
};

const ovl_table ovl_workload_table = {
    .title = "workload",
    .intro = "What runs, stated in exactly one way: an explicit program (`ops`), a "
             "data-parallel step (`layers`, `model` or `gradients`) whose communication "
             "`overlap.ddp` or `overlap.fsdp` arranges, a pipeline (`stages`, or layers cut into "
             "stages) that "
             "`overlap.pipeline` schedules, or a measured step that is replayed (`trace`).",
    .fields = workload_fields,
    .n_fields = OVL_COUNT(workload_fields),
    .size = sizeof(ovl_workload),
    .mark = offsetof(ovl_workload, mark),
    .defaults = workload_defaults,
    .check = check_workload,
};

/* --- Overlap --- */

static const ovl_field overlap_fields[] = {
    OVL_FIELD_SET(ovl_raw_overlap, ddp, ddp.given, "ddp", OVL_F_MAP, 0,
                  "Gradients are reduced in buckets while the backward runs.",
                  .table = &ovl_ddp_table),
    OVL_FIELD_SET(ovl_raw_overlap, fsdp, fsdp.given, "fsdp", OVL_F_MAP, 0,
                  "Parameters, gradients and optimizer states are sharded; parameters are gathered "
                  "where they are used.",
                  .table = &ovl_fsdp_table),
    OVL_FIELD_SET(ovl_raw_overlap, zero, zero.given, "zero", OVL_F_MAP, 0,
                  "The same by DeepSpeed's rules: optimizer states (stage 1), gradients (2) and "
                  "parameters (3) are sharded.",
                  .table = &ovl_zero_table),
    OVL_FIELD_SET(ovl_raw_overlap, pipeline, pipeline.given, "pipeline", OVL_F_MAP, 0,
                  "Stages run one microbatch after the other, in the order of a schedule.",
                  .table = &ovl_pipeline_table),
};

const ovl_table ovl_overlap_table = {
    .title = "overlap",
    .intro =
        "How communication is arranged beside compute. Layers, a model or gradients that no key "
        "here arranges run as `ddp: {}` does: an all-reduce for each bucket, over the group "
        "`dp`.",
    .fields = overlap_fields,
    .n_fields = OVL_COUNT(overlap_fields),
    .size = sizeof(ovl_raw_overlap),
    .mark = OVL_NO_SET,
};

/* --- The whole file --- */

static const char *const interference_names[] = {"none", "shared", "measured", NULL};
static const char *const sharing_names[] = {"fair", "proportional", NULL};

static void scenario_defaults(void *value)
{
    ovl_raw_scenario *raw = value;
    raw->scenario.interference = OVL_INTERFERENCE_SHARED;
}

static const ovl_field scenario_fields[] = {
    OVL_FIELD(ovl_raw_scenario, scenario.name, "name", OVL_F_TEXT, 0,
              "What it is called in reports. Default: the name of the file."),
    OVL_FIELD(ovl_raw_scenario, scenario.description, "description", OVL_F_TEXT, 0,
              "The question it answers."),
    OVL_FIELD_MORE(ovl_raw_scenario, hardware, "hardware", OVL_F_NODE, 0,
                   "What the machine costs: a mapping, or the path of a file that holds it. "
                   "Default: nothing is known of it.",
                   .table = &ovl_hw_table, .shape = "mapping, or path of a file"),
    OVL_FIELD_MORE(ovl_raw_scenario, params, "params", OVL_F_NODE, 0,
                   "Single values by name. A value that reads `$name` anywhere else is replaced by "
                   "`params.name`, after variants and `--set`; `$$` stands for a plain `$`.",
                   .shape = "mapping of names to values"),
    OVL_FIELD_SET(ovl_raw_scenario, mesh, scenario.mesh.given, "mesh", OVL_F_MAP, 0,
                  "Parallel axes. Default: `workload.ranks` ranks.", .table = &ovl_mesh_table),
    OVL_FIELD_MORE(ovl_raw_scenario, scenario.workload, "workload", OVL_F_MAP, OVL_FIELD_REQUIRED,
                   "What runs.", .table = &ovl_workload_table),
    OVL_FIELD_MORE(ovl_raw_scenario, overlap, "overlap", OVL_F_MAP, 0,
                   "How communication is arranged beside compute.", .table = &ovl_overlap_table),
    OVL_FIELD_SET(ovl_raw_scenario, scenario.variation, scenario.variation.given, "variation",
                  OVL_F_MAP, 0,
                  "How durations vary, for runs with `--trials`. Default: they are constant.",
                  .table = &ovl_variation_table),
    OVL_FIELD_MORE(ovl_raw_scenario, scenario.interference, "interference", OVL_F_ENUM, 0,
                   "How concurrent work slows each other: not at all, by sharing SMs, memory and "
                   "links, or by measured factors where the hardware has them. Default `shared`; "
                   "of a trace `none`.",
                   .names = interference_names),
    OVL_FIELD_MORE(ovl_raw_scenario, scenario.sharing, "sharing", OVL_F_ENUM, 0,
                   "What sharing equalises: bytes per second (`fair`) or slowdown "
                   "(`proportional`). Default `fair`.",
                   .names = sharing_names),
    OVL_FIELD_MORE(
        ovl_raw_scenario, scenario.expand, "expand", OVL_F_COUNT, 0,
        "Collectives of up to so many members (64 at most) run as the transfers they are made "
        "of, step by step, to see what one activity leaves out (model.md, section 2). Default "
        "0: every collective is one activity.",
        .max = 64),
    OVL_FIELD_MORE(ovl_raw_scenario, variants, "variants", OVL_F_NODE, 0,
                   "Changed versions of this scenario by name: each a mapping of paths to the "
                   "values they set. `base` is the scenario itself.",
                   .shape = "mapping of names to {path: value}"),
    OVL_FIELD_MORE(
        ovl_raw_scenario, sweep, "sweep", OVL_F_NODE, 0,
        "What `ovl sweep` tries: paths with lists of values or ranges (`0..3`, `0..16+4`, "
        "`1 MiB..64 MiB*2`), all combinations of them. `variant` names variants. `list` is "
        "a list of rows, each a mapping of paths to values that change together. `sample` "
        "draws `points` rows by `seed`: `{points: 100, seed: 1, keys: {path: range}}`.",
        .shape = "mapping of paths to values"),
};

const ovl_table ovl_scenario_table = {
    .title = "scenario",
    .intro =
        "A scenario is one YAML file. Values carry their units (`7 ms`, `25 MiB`, `450 GB/s`); a "
        "bare number where a unit is needed is an error, and so is a key that is not listed here. "
        "`null` leaves a value out. Anchors, aliases and merge keys work; top-level keys that "
        "begin with `x-` are left alone, as a place for anchors.\n\n"
        "A path names a value, in variants and in `--set path=value`: keys by dots, items of a "
        "list "
        "by their name or `[index]`, repeats of a layer by `name[index]`. Inside `{ }` and `[ ]` "
        "YAML "
        "wants names that hold brackets in quotes: `{\"workload.layers.block[3].backward\": 5 "
        "ms}`.\n\n"
        "    name: Four layers on 8 GPUs\n"
        "    hardware: ../hardware/example_8gpu.yaml\n"
        "    mesh: {axes: {dp: 8}}\n"
        "    workload:\n"
        "      layers:\n"
        "        - {name: block, repeat: 4, params: 32 MiB, backward: 10 ms}\n"
        "    overlap: {ddp: {bucket_cap: 25 MiB}}\n"
        "    variants:\n"
        "      big: {overlap.ddp.bucket_cap: 100 MiB}",
    .fields = scenario_fields,
    .n_fields = OVL_COUNT(scenario_fields),
    .size = sizeof(ovl_raw_scenario),
    .mark = offsetof(ovl_raw_scenario, scenario.mark),
    .open = true,
    .defaults = scenario_defaults,
};

const ovl_table *const ovl_scenario_tables[] = {
    &ovl_scenario_table,
    &ovl_mesh_table,
    &ovl_workload_table,
    &ovl_layer_table,
    &ovl_model_table,
    &ovl_latent_table,
    &ovl_moe_table,
    &ovl_block_table,
    &ovl_gradient_table,
    &ovl_optimizer_table,
    &ovl_offload_table,
    &ovl_op_table,
    &ovl_produces_table,
    &ovl_packs_table,
    &ovl_buffer_table,
    &ovl_stage_table,
    &ovl_replay_table,
    &ovl_replay_class_table,
    &ovl_what_if_table,
    &ovl_what_if_kernel_table,
    &ovl_what_if_link_table,
    &ovl_what_if_gradient_table,
    &ovl_overlap_table,
    &ovl_ddp_table,
    &ovl_fsdp_table,
    &ovl_fsdp_prefetch_table,
    &ovl_fsdp_accumulate_table,
    &ovl_zero_table,
    &ovl_pipeline_table,
    &ovl_pipe_data_table,
    &ovl_duration_table,
    &ovl_variation_table,
    &ovl_jitter_table,
    &ovl_op_jitter_table,
    &ovl_pauses_table,
    &ovl_hw_table,
    &ovl_gpu_table,
    &ovl_peak_table,
    &ovl_engines_table,
    &ovl_allocator_table,
    &ovl_host_table,
    &ovl_node_table,
    &ovl_link_table,
    &ovl_nodes_table,
    &ovl_other_gpu_table,
    &ovl_other_link_table,
    &ovl_collective_table,
    &ovl_pair_table,
    &ovl_nccl_table,
    &ovl_graph_table,
    &ovl_fault_table,
    &ovl_measured_table,
};
const uint32_t ovl_scenario_n_tables = OVL_COUNT(ovl_scenario_tables);
