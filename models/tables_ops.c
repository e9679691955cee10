#include "models/tables.h"
#include "models/variation.h"

static void op_defaults(void *value)
{
    ovl_xop *op = value;
    op->dtype = OVL_DTYPE_OF_WORKLOAD;
    op->as = "i";
}

static const char *const direction_names[] = {"d2h", "h2d", NULL};

static const ovl_field produces_fields[] = {
    OVL_FIELD(ovl_xproduce, into, "into", OVL_F_TEXT, OVL_FIELD_REQUIRED,
              "The buffer that holds them."),
    OVL_FIELD(ovl_xproduce, gradients, "gradients", OVL_F_TEXTS, OVL_FIELD_REQUIRED,
              "Names of the gradients."),
    OVL_FIELD_MORE(ovl_xproduce, microbatch, "microbatch", OVL_F_COUNT, 0,
                   "The microbatch they belong to. Default 0.", .max = 1000000),
    OVL_FIELD(ovl_xproduce, add, "add", OVL_F_BOOL, 0,
              "They are added to what the buffer holds instead of replacing it. Default false."),
    OVL_FIELD(ovl_xproduce, scale, "scale", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "Factor they carry. Default 1."),
};

static void produces_defaults(void *value)
{
    ovl_xproduce *produces = value;
    produces->scale = 1;
}

const ovl_table ovl_produces_table = {
    .title = "workload.ops[].produces",
    .intro = "Gradients that an operation computes, followed symbolically to the optimizer.\n\n"
             "    {kernel: backward, duration: 4 ms, produces: {into: grads, gradients: [g1, g2]}}",
    .fields = produces_fields,
    .n_fields = OVL_COUNT(produces_fields),
    .size = sizeof(ovl_xproduce),
    .mark = offsetof(ovl_xproduce, mark),
    .defaults = produces_defaults,
};

static const ovl_field packs_fields[] = {
    OVL_FIELD(ovl_xpack, from, "from", OVL_F_TEXTS, OVL_FIELD_REQUIRED,
              "Buffers whose gradients are copied."),
    OVL_FIELD(ovl_xpack, into, "into", OVL_F_TEXT, OVL_FIELD_REQUIRED, "The buffer they go to."),
    OVL_FIELD(ovl_xpack, scale, "scale", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "Factor applied on the way. Default 1."),
};

static void packs_defaults(void *value)
{
    ovl_xpack *packs = value;
    packs->scale = 1;
}

const ovl_table ovl_packs_table = {
    .title = "workload.ops[].packs",
    .intro = "Gradients that a kernel copies from one place to another, such as into a bucket.\n\n"
             "    {kernel: copy_in, duration: 1 ms, packs: {from: [g1, g2], into: bucket, scale: "
             "1/8}}",
    .fields = packs_fields,
    .n_fields = OVL_COUNT(packs_fields),
    .size = sizeof(ovl_xpack),
    .mark = offsetof(ovl_xpack, mark),
    .defaults = packs_defaults,
};

static const ovl_field op_fields[] = {
    /* What it is: exactly one of these. */
    OVL_FIELD(ovl_xop, kernel, "kernel", OVL_F_TEXT, 0, "A kernel, by this name."),
    OVL_FIELD(ovl_xop, collective, "collective", OVL_F_TEXT, 0,
              "A collective of its group, by this name."),
    OVL_FIELD(ovl_xop, send, "send", OVL_F_TEXT, 0, "A send, by this name."),
    OVL_FIELD(ovl_xop, recv, "recv", OVL_F_TEXT, 0, "A receive, by this name."),
    OVL_FIELD(ovl_xop, batch, "batch", OVL_F_TEXT, 0,
              "One launch of several sends and receives (`parts`), by this name."),
    OVL_FIELD(ovl_xop, copy, "copy", OVL_F_TEXT, 0,
              "A copy between host and device, by this name."),
    OVL_FIELD(ovl_xop, host, "host", OVL_F_TEXT, 0,
              "A call on the host thread, by this name; its `after` blocks the thread."),
    OVL_FIELD(ovl_xop, marker, "marker", OVL_F_TEXT, 0,
              "Joins dependencies, by this name. It takes no time, or is a pause of its stream of "
              "`duration`, in which nothing counts as work."),
    OVL_FIELD(ovl_xop, alloc, "alloc", OVL_F_TEXTS, 0,
              "Buffers (declared `late`) that are allocated here in host order."),
    OVL_FIELD(ovl_xop, free, "free", OVL_F_TEXTS, 0, "Buffers that are freed here in host order."),
    OVL_FIELD_MORE(ovl_xop, repeat, "repeat", OVL_F_COUNT, 0,
                   "The entries of `ops` so many times. `{i}`, `{i+1}` and `{i-1}` in their names "
                   "count from 0. Unrolled, a program has at most 20,000,000 operations "
                   "([limits](#limits)).",
                   .min = 1, .max = 100000000),
    /* Where. */
    OVL_FIELD(ovl_xop, as, "as", OVL_F_TEXT, 0, "repeat: the counter's name. Default `i`."),
    OVL_FIELD_MORE(ovl_xop, ops, "ops", OVL_F_LIST, 0, "repeat: the entries.",
                   .table = &ovl_op_table),
    OVL_FIELD_MORE(ovl_xop, ops, "parts", OVL_F_LIST, 0, "batch: the sends and receives.",
                   .table = &ovl_op_table),
    OVL_FIELD(ovl_xop, ranks, "ranks", OVL_F_TEXTS, 0,
              "Ranks that have it: `0`, `[0, 2-5]`. Default: all."),
    OVL_FIELD(ovl_xop, stream, "stream", OVL_F_TEXT, 0,
              "Its stream. Default: `compute` for kernels and markers, `comm` for communication, "
              "`copy` for copies."),
    OVL_FIELD(ovl_xop, after, "after", OVL_F_TEXTS, 0,
              "Operations that must have ended, named earlier in the program of the same rank; "
              "`name?` is left out where there is none."),
    OVL_FIELD_SET(ovl_xop, launch, has_launch, "launch", OVL_F_TIME, 0,
                  "Host time to issue it. Default: that of the hardware's host; 0 for markers, "
                  "host calls and "
                  "parts of a batch.",
                  .min = 0),
    /* What it costs. */
    OVL_FIELD_MORE(ovl_xop, duration, "duration", OVL_F_TIMES, 0,
                   "Isolated duration; for communication instead of the hardware's cost.",
                   .table = &ovl_duration_table),
    OVL_FIELD(ovl_xop, flops, "flops", OVL_F_FLOPS, 0,
              "kernel: its work, timed by the roofline of the GPU."),
    OVL_FIELD(ovl_xop, hbm, "hbm", OVL_F_BYTES, 0,
              "kernel, copy: HBM bytes it moves. Default 0: it shares no memory bandwidth."),
    OVL_FIELD(ovl_xop, compute, "compute", OVL_F_TIME, 0,
              "kernel: the part of `duration` that SMs bound. Default: all of it."),
    OVL_FIELD_SET(ovl_xop, sms, has_sms, "sms", OVL_F_COUNT, 0,
                  "kernel: SMs it wants (default: all of the GPU, or one for each of fewer "
                  "`blocks`; 0: none, so none that are held slow it); communication: SMs it "
                  "holds; 0: none, copy engines move the bytes.",
                  .min = 0, .max = 100000),
    OVL_FIELD_MORE(ovl_xop, blocks, "blocks", OVL_F_COUNT, 0,
                   "kernel: its thread blocks; what held SMs cost it then goes by whole waves.",
                   .max = INT32_MAX),
    OVL_FIELD(ovl_xop, klass, "class", OVL_F_TEXT, 0,
              "Interference class. Default: `kernel`, or the name of the collective operation."),
    OVL_FIELD_MORE(ovl_xop, dtype, "dtype", OVL_F_ENUM, 0,
                   "Element type. Default: that of the workload.", .names = ovl_dtype_keys,
                   .values = ovl_dtype_values),
    /* Communication. */
    OVL_FIELD_MORE(ovl_xop, op, "op", OVL_F_ENUM, 0, "collective: the operation.",
                   .names = ovl_coll_keys),
    OVL_FIELD(ovl_xop, group, "group", OVL_F_TEXT, 0,
              "Communication: its group. Default: the only one there is."),
    OVL_FIELD_SET(ovl_xop, bytes, has_bytes, "bytes", OVL_F_BYTES, OVL_FIELD_POSITIVE,
                  "Payload as nccl-tests counts it: all-gather its output, reduce-scatter its "
                  "input.",
                  .min = 0),
    OVL_FIELD_MORE(ovl_xop, root, "root", OVL_F_COUNT, 0,
                   "broadcast, reduce: place of the root in the group. Default 0.", .max = 1000000),
    OVL_FIELD_MORE(
        ovl_xop, sends, "sends", OVL_F_RATIOS, 0,
        "all_to_all: what each member sends, relative to the others, in order of their place: "
        "`[2, 1, 1, 0]`. `bytes` is the mean. Or, instead of `bytes`, a matrix: in row i what "
        "member i gives each member, `[[0, 10 MB], [30 MB, 0]]`; what it keeps for itself counts "
        "nowhere. Default: all the same.",
        .cells = OVL_F_BYTES),
    OVL_FIELD(
        ovl_xop, receives, "receives", OVL_F_RATIOS, 0,
        "all_to_all: the same for what each member receives. Member i gives member j bytes in "
        "proportion to sends of i times receives of j; all are done with the busiest."),
    OVL_FIELD(ovl_xop, average, "average", OVL_F_BOOL, 0,
              "Reductions: the sum is divided by the number of members. Default false."),
    OVL_FIELD(ovl_xop, to, "to", OVL_F_TEXT, 0,
              "send: place of the receiver in the group, or relative: `+1`, `-1` (modulo its "
              "size)."),
    OVL_FIELD(ovl_xop, from, "from", OVL_F_TEXT, 0, "recv: the same for the sender."),
    OVL_FIELD_SET(ovl_xop, eager, has_eager, "eager", OVL_F_BOOL, 0,
                  "send, recv: the sender does not wait. Default: as the hardware's cost says.",
                  .min = 0),
    OVL_FIELD_SET(ovl_xop, alpha, has_alpha, "alpha", OVL_F_TIME, 0,
                  "Communication: fixed part of its time, instead of the hardware's cost.",
                  .min = 0),
    OVL_FIELD_SET(ovl_xop, beta, has_beta, "beta", OVL_F_RATE, OVL_FIELD_POSITIVE,
                  "Communication: payload bytes per second, instead of the hardware's cost.",
                  .min = 0),
    OVL_FIELD(ovl_xop, via, "via", OVL_F_TEXTS, 0,
              "Links it loads, for communication with a cost of its own."),
    OVL_FIELD_SET(ovl_xop, hbm_factor, has_hbm_factor, "hbm_factor", OVL_F_RATIO, 0,
                  "Communication: HBM bytes per byte on the wire. Default: the hardware's.",
                  .min = 0),
    OVL_FIELD_MORE(ovl_xop, direction, "direction", OVL_F_ENUM, 0,
                   "copy: `d2h` (default) or `h2d`.", .names = direction_names),
    /* What it touches. */
    OVL_FIELD(ovl_xop, reads, "reads", OVL_F_TEXTS, 0, "Buffers it reads."),
    OVL_FIELD(ovl_xop, writes, "writes", OVL_F_TEXTS, 0, "Buffers it writes."),
    OVL_FIELD(ovl_xop, buffer, "buffer", OVL_F_TEXT, 0,
              "Communication in place: it reads and writes this buffer."),
    OVL_FIELD_SET(ovl_xop, produces, has_produces, "produces", OVL_F_MAP, 0,
                  "Gradients it computes.", .table = &ovl_produces_table),
    OVL_FIELD_SET(ovl_xop, packs, has_packs, "packs", OVL_F_MAP, 0, "Gradients it copies.",
                  .table = &ovl_packs_table),
    OVL_FIELD(ovl_xop, consumes, "consumes", OVL_F_TEXTS, 0,
              "optimizer: buffers whose gradients must be complete, once, at scale 1/(ranks x "
              "microbatches)."),
    OVL_FIELD(ovl_xop, resets, "resets", OVL_F_TEXTS, 0,
              "Buffers that hold no gradients from here on (zeroed)."),
};

const ovl_table ovl_op_table = {
    .title = "workload.ops[]",
    .intro = "One entry of an explicit program, in host program order. Exactly one of `kernel`, "
             "`collective`, `send`, `recv`, `batch`, `copy`, `host`, `marker`, `alloc`, `free` and "
             "`repeat` says what it is.\n\n"
             "    ops:\n"
             "      - {kernel: backward, duration: 25 ms}\n"
             "      - {collective: reduce, op: all_reduce, bytes: 320 MiB, after: backward}\n"
             "      - {kernel: update, duration: 2 ms, after: reduce}",
    .fields = op_fields,
    .n_fields = OVL_COUNT(op_fields),
    .size = sizeof(ovl_xop),
    .mark = offsetof(ovl_xop, mark),
    .defaults = op_defaults,
    .instead = ovl_op_instead,
    .check = ovl_check_op,
};

static const char *const category_names[] = {
    "parameter", "gradient", "optimizer", "activation", "gathered", "reduce", "temporary", NULL,
};

static void buffer_defaults(void *value)
{
    ovl_xbuffer *buffer = value;
    buffer->dtype = OVL_DTYPE_OF_WORKLOAD;
    buffer->category = OVL_TEMPORARY;
}

static const ovl_field buffer_fields[] = {
    OVL_FIELD(ovl_xbuffer, bytes, "bytes", OVL_F_SIZES, OVL_FIELD_REQUIRED | OVL_FIELD_POSITIVE,
              "Its size; a list: on each rank."),
    OVL_FIELD_MORE(ovl_xbuffer, dtype, "dtype", OVL_F_ENUM, 0,
                   "Element type. Default: that of the workload.", .names = ovl_dtype_keys,
                   .values = ovl_dtype_values),
    OVL_FIELD_MORE(ovl_xbuffer, category, "category", OVL_F_ENUM, 0,
                   "What it holds. Default `temporary`.", .names = category_names),
    OVL_FIELD(ovl_xbuffer, stream, "stream", OVL_F_TEXT, 0,
              "The stream whose pool it comes from. Default: that of the first operation that uses "
              "it."),
    OVL_FIELD(ovl_xbuffer, held, "held", OVL_F_BOOL, 0,
              "It lives for the whole run (parameters). Default false: from first write to last "
              "read."),
    OVL_FIELD(
        ovl_xbuffer, record_stream, "record_stream", OVL_F_BOOL, 0,
        "Other streams that use it are recorded with the allocator: once freed, its memory is "
        "usable again only when the GPU has done what they were given. Default false: at "
        "once."),
    OVL_FIELD(ovl_xbuffer, late, "late", OVL_F_BOOL, 0,
              "It is allocated by an `alloc` entry of the program. Default false: at the start."),
};

const ovl_table ovl_buffer_table = {
    .title = "workload.buffers.NAME",
    .intro = "A buffer of every rank, for hazards and memory.\n\n"
             "    buffers:\n"
             "      grads: {bytes: 96 MiB, category: gradient}",
    .fields = buffer_fields,
    .n_fields = OVL_COUNT(buffer_fields),
    .size = sizeof(ovl_xbuffer),
    .mark = offsetof(ovl_xbuffer, mark),
    .defaults = buffer_defaults,
};
