#include "models/tables.h"
#include "models/variation.h"

/* --- Stages --- */

static void stage_defaults(void *value)
{
    ovl_stage *stage = value;
    stage->repeat = 1;
}

#define TIMES "duration, list of one a microbatch, or mapping"

static const ovl_field stage_fields[] = {
    OVL_FIELD(ovl_stage, name, "name", OVL_F_TEXT, OVL_FIELD_REQUIRED, "What it is called."),
    OVL_FIELD_MORE(ovl_stage, repeat, "repeat", OVL_F_COUNT, 0,
                   "How many of them, one after the other, named `name[0]`, `name[1]`, ... Default "
                   "1: one, named `name`.",
                   .min = 1, .max = 65534),
    OVL_FIELD_SET(ovl_stage, first, has_first, "first", OVL_F_COUNT, 0,
                  "Number of the first repeat. Default 0.", .min = 0),
    OVL_FIELD_MORE(ovl_stage, forward, "forward", OVL_F_TIMES, OVL_FIELD_REQUIRED,
                   "Time of its forward; a list, of one even, has one time for each microbatch.",
                   .table = &ovl_duration_table, .shape = TIMES),
    OVL_FIELD_MORE(
        ovl_stage, backward, "backward", OVL_F_TIMES, 0,
        "Time of its backward where the schedule runs it in one piece; with both parts given, "
        "it may differ from their sum. Default: backward_input + backward_weight.",
        .table = &ovl_duration_table, .shape = TIMES),
    OVL_FIELD_MORE(
        ovl_stage, backward_input, "backward_input", OVL_F_TIMES, 0,
        "Time of the part that the stage before waits for. Default: what backward has beyond "
        "backward_weight.",
        .table = &ovl_duration_table, .shape = TIMES),
    OVL_FIELD_MORE(
        ovl_stage, backward_weight, "backward_weight", OVL_F_TIMES, 0,
        "Time of the part that nobody waits for: gradients of the weights. Default: what "
        "backward has beyond backward_input.",
        .table = &ovl_duration_table, .shape = TIMES),
    OVL_FIELD_MORE(
        ovl_stage, overlapped, "overlapped", OVL_F_TIMES, 0,
        "Time of its forward together with the backward of another stage, where a schedule "
        "overlaps them. Default: its forward + the backward of that other stage.",
        .table = &ovl_duration_table, .shape = TIMES),
    OVL_FIELD(ovl_stage, params, "params", OVL_F_BYTES, 0,
              "Bytes held all the time: parameters, and whatever else is to be counted so. Default "
              "0."),
    OVL_FIELD(ovl_stage, activations, "activations", OVL_F_BYTES, 0,
              "Bytes that the forward of a microbatch leaves for its backward. Default 0."),
    OVL_FIELD_SET(ovl_stage, weight_activations, has_weight_activations, "weight_activations",
                  OVL_F_BYTES, 0,
                  "Those of them that are still needed after backward_input, until "
                  "backward_weight. Default: all.",
                  .min = 0),
    OVL_FIELD_SET(
        ovl_stage, checkpoint, has_checkpoint, "checkpoint", OVL_F_BYTES, 0,
        "Bytes kept from its forward where pipeline.recompute runs it again. Default: its "
        "input, what the stage before transfers.",
        .min = 0),
    OVL_FIELD_SET(ovl_stage, transfer, has_transfer, "transfer", OVL_F_BYTES, 0,
                  "Bytes sent to the next stage for each microbatch; its gradient has as many. "
                  "Needed where bytes take time.",
                  .min = 0),
    OVL_FIELD(ovl_stage, klass, "class", OVL_F_TEXT, 0,
              "Interference class of its kernels. Default `forward` and `backward`."),
};

const ovl_table ovl_stage_table = {
    .title = "workload.stages[]",
    .intro = "A stage of a pipeline, in the order of the model. Stage s is on rank s mod P, or "
             "where the schedule folds the pipeline on rank min(s, 2P-1-s).\n\n"
             "    stages:\n"
             "      - {name: embed, forward: 3 ms, backward: 6 ms, params: 1 GiB}\n"
             "      - {name: block, repeat: 3, forward: 2 ms, backward_input: 2 ms, "
             "backward_weight: 2 ms, activations: 512 MiB, transfer: 16 MiB}",
    .fields = stage_fields,
    .n_fields = OVL_COUNT(stage_fields),
    .size = sizeof(ovl_stage),
    .mark = offsetof(ovl_stage, mark),
    .defaults = stage_defaults,
};

/* --- Data parallelism --- */

static void data_defaults(void *value)
{
    ovl_pipe_data *data = value;
    data->group = "dp";
    data->shards.active = 3;
    data->shards.ahead = true;
    data->buckets = 1;
    data->grad_dtype = OVL_DTYPE_OF_LAYER;
}

static const char *const reshard_names[] = {"window", "forward", "always", NULL};

static void check_data(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    static const char *const keys[] = {"reshard", "active_stages", "prefetch"};
    const ovl_pipe_data *data = value;
    (void)arena;
    if (data->distributed && data->shards.sharded) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "distributed_optimizer")->mark,
                  "distributed_optimizer keeps parameters whole; with sharded: true the optimizer "
                  "is distributed anyway");
    }
    for (uint32_t i = 0; i < OVL_COUNT(keys); i++) {
        const ovl_node *key = ovl_node_get(node, keys[i]);
        bool belongs = data->shards.sharded &&
                       (i == 0 || (data->shards.reshard == OVL_RESHARD_WINDOW) == (i == 1));
        if (ovl_node_gives(node, keys[i]) && !belongs) {
            ovl_error(errs, OVL_E_INPUT, key->mark, "%s needs sharded: true%s", keys[i],
                      i == 0   ? ""
                      : i == 1 ? " and reshard: window"
                               : " and reshard: forward or always");
        }
    }
}

static const ovl_field data_fields[] = {
    OVL_FIELD(
        ovl_pipe_data, group, "group", OVL_F_TEXT, 0,
        "Ranks that have the same stages of different pipelines. Default `dp`. With two copies of "
        "the model (DualPipe) those that hold the other copy join them."),
    OVL_FIELD(
        ovl_pipe_data, shards.sharded, "sharded", OVL_F_BOOL, 0,
        "Parameters and gradients are sharded over the group: UNSHARD gathers those of a stage, "
        "RESHARD lets them go, REDUCE_GRAD is a reduce-scatter. Default false: it is an "
        "all-reduce."),
    OVL_FIELD(ovl_pipe_data, distributed, "distributed_optimizer", OVL_F_BOOL, 0,
              "Parameters and gradients stay whole; gradients are reduce-scattered, each rank "
              "updates its part and keeps the optimizer states of that, and an all-gather behind "
              "the optimizer brings the parameters back (ZeRO-1, Megatron's distributed "
              "optimizer). Default false."),
    OVL_FIELD_MORE(ovl_pipe_data, grad_dtype, "gradient_dtype", OVL_F_ENUM, 0,
                   "Element type that gradients are summed over microbatches and reduced in. "
                   "Default: that of the workload.",
                   .names = ovl_dtype_keys, .values = ovl_dtype_values),
    OVL_FIELD_MORE(
        ovl_pipe_data, shards.active, "active_stages", OVL_F_COUNT, OVL_FIELD_POSITIVE,
        "With `reshard: window`, the stages that are kept. As many as a rank has: each is gathered "
        "once. Default 3, as in PyTorch.",
        .min = 1, .max = 65534),
    OVL_FIELD_MORE(
        ovl_pipe_data, shards.reshard, "reshard", OVL_F_ENUM, 0,
        "Sharded: when gathered parameters are let go. `window`: when they are none of the next "
        "`active_stages` distinct stages, as PyTorch places UNSHARD and RESHARD. `forward`: after "
        "each forward; the next backward gathers them again and keeps them (fully_shard with "
        "reshard_after_forward in a pipeline). `always`: after each action, so that each forward "
        "and backward of each microbatch gathers anew. A gather waits until those let go before it "
        "are no longer used. Default `window`.",
        .names = reshard_names),
    OVL_FIELD(ovl_pipe_data, shards.ahead, "prefetch", OVL_F_BOOL, 0,
              "With the other two, each gather is issued in front of the action before its own; up "
              "to two copies are there. Default true."),
    OVL_FIELD_MORE(
        ovl_pipe_data, buckets, "buckets", OVL_F_COUNT, OVL_FIELD_POSITIVE,
        "The gradients of a stage are reduced in so many parts: its last backward makes one after "
        "the other, and each is reduced while the next are made. Default 1: all behind the last "
        "backward.",
        .min = 1, .max = 1000),
};

const ovl_table ovl_pipe_data_table = {
    .title = "overlap.pipeline.data_parallel",
    .intro =
        "The gradients of each stage are reduced once, with or behind its last backward; the "
        "optimizer receives each (rank, microbatch) gradient exactly once, which is proved.\n\n"
        "    mesh: {axes: {dp: 8, pp: 4}}\n"
        "    overlap:\n"
        "      pipeline: {schedule: 1f1b, microbatches: 16, data_parallel: {group: dp, sharded: "
        "true}}",
    .fields = data_fields,
    .n_fields = OVL_COUNT(data_fields),
    .size = sizeof(ovl_pipe_data),
    .mark = offsetof(ovl_pipe_data, mark),
    .defaults = data_defaults,
    .check = check_data,
};

/* --- The pipeline --- */

static const char *const pairs_names[] = {"turns", "serial", NULL};
static const char *const protocol_names[] = {"eager", "rendezvous", NULL};
static const char *const receive_names[] = {"late", "early", NULL};
static const char *const split_names[] = {"number", "time", NULL};
static const char *const communicator_names[] = {"stages", "ranks", "one", NULL};

static void pipeline_defaults(void *value)
{
    ovl_pipeline *pipe = value;
    pipe->group = "pp";
}

/* Where a key stands; one that is not given: where the mapping does. */
static ovl_mark place_of(const ovl_node *node, const char *key)
{
    return ovl_node_gives(node, key) ? ovl_node_get(node, key)->mark : node->mark;
}

static void note_places(const ovl_node *node, ovl_mark schedule, ovl_pipeline *pipe)
{
    pipe->schedule_mark = schedule;
    pipe->node = node;
    pipe->microbatches_mark = place_of(node, "microbatches");
    pipe->virtual_stages_mark = place_of(node, "virtual_stages");
    pipe->microbatch_group_mark = place_of(node, "microbatch_group");
    pipe->group_mark = place_of(node, "group");
}

static void check_pipeline(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    ovl_pipeline *pipe = value;
    static const char *const keys[] = {"schedule", "actions", "schedule_file"};
    uint32_t given = 0;
    ovl_mark last = node->mark;
    for (uint32_t i = 0; i < OVL_COUNT(keys); i++) {
        given += ovl_node_gives(node, keys[i]);
        last = ovl_node_gives(node, keys[i]) ? place_of(node, keys[i]) : last;
    }
    note_places(node, last, pipe);
    const ovl_node *file = ovl_node_get(node, "schedule_file");
    if (pipe->batch && pipe->communicators != OVL_PIPE_ONE) {
        ovl_error(errs, OVL_E_INPUT, place_of(node, "batch"),
                  "batch needs communicators: one: what is launched together goes through one");
    }
    if (given != 1) {
        ovl_error(
            errs, OVL_E_INPUT, last,
            "a pipeline has a schedule by name, a list of actions or a schedule_file; found %s",
            given ? "several" : "none");
    } else if (file && file->kind == OVL_NODE_SCALAR && !ovl_node_is_null(file)) {
        ovl_error(errs, OVL_E_INPUT, file->mark,
                  "a schedule file can be named in the scenario and its variants only");
    }
}

static const ovl_field pipeline_fields[] = {
    OVL_FIELD(ovl_pipeline, schedule, "schedule", OVL_F_TEXT, 0,
              "gpipe, 1f1b, 1f1b_megatron, looped_bfs, interleaved, interleaved_megatron, "
              "interleaved_zb, zb_h1, zb_h2, zb_1p, zb_2p, zb_v, v_half, v_min, dualpipe or "
              "dualpipev; PyTorch's "
              "class names work, too: ScheduleGPipe, Schedule1F1B, ScheduleLoopedBFS, "
              "ScheduleInterleaved1F1B, ScheduleInterleavedZeroBubble, ScheduleZBVZeroBubble, "
              "ScheduleDualPipeV."),
    OVL_FIELD(ovl_pipeline, actions, "actions", OVL_F_TEXTS, 0,
              "Instead of a schedule: one text for each rank, in PyTorch's form, such as `0F0, "
              "0F1, 0B0, 0B1`. A blank between two commas is an idle slot. Sends and receives are "
              "placed if it has none; else each result that another rank needs is sent once and "
              "received once."),
    OVL_FIELD(
        ovl_pipeline, schedule_file, "schedule_file", OVL_F_TEXTS, 0,
        "Instead of these: the name of a file of such rows, as PyTorch writes them (CSV), seen "
        "from the directory of the scenario. Each line is a rank, a blank one, too, as PyTorch "
        "reads it; a rank that does nothing is a mistake."),
    OVL_FIELD_MORE(ovl_pipeline, microbatches, "microbatches", OVL_F_COUNT, OVL_FIELD_POSITIVE,
                   "How many there are. Default: workload.microbatches, or those of `actions`.",
                   .min = 1, .max = 1000000),
    OVL_FIELD_MORE(ovl_pipeline, virtual_stages, "virtual_stages", OVL_F_COUNT, OVL_FIELD_POSITIVE,
                   "Stages on each rank. Default: as many as workload.stages has for each rank; of "
                   "layers the fewest the schedule has.",
                   .min = 1, .max = 65534),
    OVL_FIELD(ovl_pipeline, layers_per_stage, "layers_per_stage", OVL_F_TEXTS, 0,
              "How many of workload.layers each stage gets. Default: by `split`."),
    OVL_FIELD_MORE(
        ovl_pipeline, split, "split", OVL_F_ENUM, 0,
        "How workload.layers are shared among the stages: `number`, as many on each as can "
        "be; `time`, so that the longest forward and backward of a stage is as short as "
        "can be. Default `number`.",
        .names = split_names),
    OVL_FIELD_MORE(ovl_pipeline, microbatch_group, "microbatch_group", OVL_F_COUNT, 0,
                   "interleaved_megatron: microbatches of one stage in a row "
                   "(microbatch_group_size_per_vp_stage). Default: the ranks.",
                   .min = 1, .max = 1000000),
    OVL_FIELD(
        ovl_pipeline, extra_warmup, "extra_warmup", OVL_F_BOOL, 0,
        "interleaved_megatron: one more forward before the first backward, as with overlapped "
        "expert exchange. Default false."),
    OVL_FIELD(ovl_pipeline, group, "group", OVL_F_TEXT, 0,
              "The ranks of a pipeline, in order. Default `pp`."),
    OVL_FIELD_MORE(
        ovl_pipeline, pairs, "pairs", OVL_F_ENUM, 0,
        "A forward and a backward that a schedule joins, of a model by its shape: `turns`, "
        "kernels of one are issued behind communication of the other and run beside it; "
        "`serial`, one pass after the other. Default `turns`.",
        .names = pairs_names),
    OVL_FIELD_MORE(
        ovl_pipeline, protocol, "protocol", OVL_F_ENUM, 0,
        "`eager`: the sender goes on, and the bytes leave when they are ready and those sent "
        "before them on this hop are there. `rendezvous`: "
        "both sides wait for each other. Default `eager`.",
        .names = protocol_names),
    OVL_FIELD_MORE(ovl_pipeline, communicators, "communicators", OVL_F_ENUM, 0,
                   "What keeps an order of its own: `stages`, each step from a stage to its "
                   "neighbour; `ranks`, each rank to each other; `one`, a communicator for all, in "
                   "which a receive holds up a send behind it. Default `stages`.",
                   .names = communicator_names),
    OVL_FIELD_MORE(ovl_pipeline, receives, "receives", OVL_F_ENUM, 0,
                   "`late`: a receive is posted right before what needs it. `early`: where PyTorch "
                   "puts it, when the other side sends. Default `late`.",
                   .names = receive_names),
    OVL_FIELD_SET(ovl_pipeline, alpha, has_alpha, "alpha", OVL_F_TIME, 0,
                  "Latency of a transfer, whatever ranks it is between. Default: the hardware's "
                  "entry for send_recv, which may differ inside a node and between nodes; without "
                  "one a transfer takes no time.",
                  .min = 0),
    OVL_FIELD_SET(ovl_pipeline, beta, has_beta, "beta", OVL_F_RATE, OVL_FIELD_POSITIVE,
                  "Bytes per second of a transfer.", .min = 0),
    OVL_FIELD(ovl_pipeline, via, "via", OVL_F_TEXTS, 0,
              "Links that a transfer loads. Default: those of the hardware's entry."),
    OVL_FIELD(ovl_pipeline, recompute, "recompute", OVL_F_BOOL, 0,
              "Full recomputation: each backward (of the input) runs the forward of its stage once "
              "more first. A forward leaves `checkpoint` alone; activations are there from the "
              "backward on. Default false."),
    OVL_FIELD(ovl_pipeline, batch, "batch", OVL_F_BOOL, 0,
              "Sends and receives that stand beside each other are one launch, which ends when all "
              "have, as with batch_isend_irecv; with `communicators: one`. Default false."),
    OVL_FIELD_SET(ovl_pipeline, data, data.given, "data_parallel", OVL_F_MAP, 0,
                  "Several pipelines train one model. Default: the gradients of a stage are nobody "
                  "else's.",
                  .table = &ovl_pipe_data_table),
};

const ovl_table ovl_pipeline_table = {
    .title = "overlap.pipeline",
    .intro = "The stages of workload.stages, or workload.layers cut into stages, on the ranks of "
             "an axis.\n\n"
             "    mesh: {axes: {pp: 4}}\n"
             "    overlap:\n"
             "      pipeline: {schedule: 1f1b, microbatches: 16}\n"
             "      pipeline: {schedule: interleaved, virtual_stages: 2, microbatches: 16}\n"
             "      pipeline: {actions: [\"0F0, 0F1, 0B0, 0B1\", \"1F0, 1B0, 1F1, 1B1\"]}",
    .fields = pipeline_fields,
    .n_fields = OVL_COUNT(pipeline_fields),
    .size = sizeof(ovl_pipeline),
    .mark = offsetof(ovl_pipeline, mark),
    .defaults = pipeline_defaults,
    .check = check_pipeline,
};
