#include "models/tables.h"

static const char *const pause_names[] = {"keep", "drop", NULL};

static void replay_defaults(void *value)
{
    ovl_replay_keys *keys = value;
    keys->comm = OVL_RECORD_COMM;
}

static const ovl_field class_fields[] = {
    OVL_FIELD(ovl_record_class, name, "name", OVL_F_PATTERN, OVL_FIELD_REQUIRED,
              "Which kernels: an extended regular expression, matched anywhere in the recorded "
              "name."),
    OVL_FIELD(ovl_record_class, klass, "class", OVL_F_TEXT, OVL_FIELD_REQUIRED,
              "Their class, as `interference` of the hardware names it."),
};

const ovl_table ovl_replay_class_table = {
    .title = "workload.replay.classes[]",
    .intro = "Which kernels of a trace are of which interference class.\n\n"
             "    replay: {classes: [{name: sm90_xmma|cutlass, class: gemm}]}",
    .fields = class_fields,
    .n_fields = OVL_COUNT(class_fields),
    .size = sizeof(ovl_record_class),
    .mark = offsetof(ovl_record_class, mark),
};

static const ovl_field replay_fields[] = {
    OVL_FIELD(
        ovl_replay_keys, step, "step", OVL_F_TEXT, 0,
        "The number of a profiler step, the name of a range (NVTX, user annotation), or `all`. "
        "Default: the last step, or all of a trace that marks none."),
    OVL_FIELD(
        ovl_replay_keys, comm, "comm", OVL_F_PATTERN, 0,
        "Which kernels are communication: an extended regular expression, matched anywhere in "
        "the name and in any case. Default `nccl|rccl`."),
    OVL_FIELD_MORE(
        ovl_replay_keys, unexplained, "unexplained", OVL_F_ENUM, 0,
        "Pauses that neither stream, wait, launch nor sync explains: `keep` them as they "
        "were, or `drop` them. Default `keep`.",
        .names = pause_names),
    OVL_FIELD_MORE(
        ovl_replay_keys, classes, "classes", OVL_F_LIST, 0,
        "Under `interference: measured`: which kernels are of which class; the first that fits "
        "counts. Others are of the class that the trace says (ours do), else of their name without "
        "its arguments.",
        .table = &ovl_replay_class_table),
};

const ovl_table ovl_replay_table = {
    .title = "workload.replay",
    .intro = "Which step of a trace is replayed. Streams, launches, waits and collectives become a "
             "program; recorded starts place nothing.\n\n"
             "    workload:\n"
             "      trace: [rank0.json.gz, rank1.json.gz]\n"
             "      replay: {step: 12}",
    .fields = replay_fields,
    .n_fields = OVL_COUNT(replay_fields),
    .size = sizeof(ovl_replay_keys),
    .mark = offsetof(ovl_replay_keys, mark),
    .defaults = replay_defaults,
};

/* --- What-ifs --- */

static void kernel_defaults(void *value)
{
    ovl_change_kernel *kernel = value;
    kernel->speedup = 1;
}

static const ovl_field kernel_fields[] = {
    OVL_FIELD(ovl_change_kernel, name, "name", OVL_F_PATTERN, OVL_FIELD_REQUIRED,
              "Which kernels and copies: an extended regular expression, matched anywhere in the "
              "recorded name."),
    OVL_FIELD(ovl_change_kernel, speedup, "speedup", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "How much faster they are: 2 halves their durations."),
};

const ovl_table ovl_what_if_kernel_table = {
    .title = "workload.what_if.kernels[]",
    .intro = "Kernels that are faster, or slower, than they were.\n\n"
             "    kernels: [{name: flash_bwd, speedup: 1.4}]",
    .fields = kernel_fields,
    .n_fields = OVL_COUNT(kernel_fields),
    .size = sizeof(ovl_change_kernel),
    .mark = offsetof(ovl_change_kernel, mark),
    .defaults = kernel_defaults,
};

static void link_defaults(void *value)
{
    ovl_change_link *link = value;
    link->op = OVL_COLL_COUNT;
    link->bandwidth = link->latency = 1;
}

static const ovl_field link_fields[] = {
    OVL_FIELD_MORE(ovl_change_link, op, "op", OVL_F_ENUM, 0, "Which operation. Default: all.",
                   .names = ovl_coll_keys),
    OVL_FIELD(ovl_change_link, group, "group", OVL_F_TEXT, 0, "Which group. Default: all."),
    OVL_FIELD(ovl_change_link, bandwidth, "bandwidth", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "How many times as fast bytes move. Default 1."),
    OVL_FIELD(ovl_change_link, latency, "latency", OVL_F_RATIO, 0,
              "How many times as long the part is that does not depend on bytes. Default 1."),
    OVL_FIELD_SET(ovl_change_link, alpha, has_alpha, "alpha", OVL_F_TIME, 0,
                  "That part of each collective. Default: where sizes differ, the line through "
                  "(bytes, transfer) of these collectives at 0 bytes, else 0. Where the line is "
                  "above the shortest of them it must be stated for another `latency`.",
                  .min = 0),
};

const ovl_table ovl_what_if_link_table = {
    .title = "workload.what_if.links[]",
    .intro = "Collectives over another link: of a transfer, alpha is scaled by `latency`, and the "
             "rest divided by `bandwidth`.\n\n"
             "    links: [{op: all_reduce, bandwidth: 2}]",
    .fields = link_fields,
    .n_fields = OVL_COUNT(link_fields),
    .size = sizeof(ovl_change_link),
    .mark = offsetof(ovl_change_link, mark),
    .defaults = link_defaults,
};

static void gradient_defaults(void *value)
{
    ovl_change_gradient *gradient = value;
    gradient->count = 1;
}

static const ovl_field gradient_fields[] = {
    OVL_FIELD(ovl_change_gradient, bytes, "bytes", OVL_F_BYTES,
              OVL_FIELD_REQUIRED | OVL_FIELD_POSITIVE, "Its size."),
    OVL_FIELD_MORE(ovl_change_gradient, count, "count", OVL_F_COUNT, 0,
                   "So many of this size, one after another. Default 1.", .min = 1, .max = 100000),
};

const ovl_table ovl_what_if_gradient_table = {
    .title = "workload.what_if.gradients[]",
    .intro = "Sizes of the gradients in the order in which buckets were filled. They must add up "
             "to each measured bucket.\n\n"
             "    gradients: [{bytes: 4000 B}, {bytes: 8192 kB}]",
    .fields = gradient_fields,
    .n_fields = OVL_COUNT(gradient_fields),
    .size = sizeof(ovl_change_gradient),
    .mark = offsetof(ovl_change_gradient, mark),
    .defaults = gradient_defaults,
};

static void what_if_defaults(void *value)
{
    ovl_change_keys *what_if = value;
    what_if->waiting = true;
    what_if->first_bucket_cap = UINT64_C(1) << 20;
}

static const ovl_field what_if_fields[] = {
    OVL_FIELD_MORE(ovl_change_keys, kernels, "kernels", OVL_F_LIST, 0,
                   "Other durations of kernels; the first entry that fits counts.",
                   .table = &ovl_what_if_kernel_table),
    OVL_FIELD_MORE(ovl_change_keys, links, "links", OVL_F_LIST, 0,
                   "Other durations of collectives; the first entry that fits counts.",
                   .table = &ovl_what_if_link_table),
    OVL_FIELD(ovl_change_keys, waiting, "waiting", OVL_F_BOOL, 0,
              "Collectives wait for other ranks. `false`: each takes its transfer and no more, as "
              "if all ranks were as far as this one. Default true."),
    OVL_FIELD(ovl_change_keys, bucket_cap, "bucket_cap", OVL_F_BYTES, OVL_FIELD_POSITIVE,
              "The gradients of the all-reduces (or reduce-scatters) of `bucket_group` in other "
              "buckets: each is closed once it has so many bytes."),
    OVL_FIELD_SET(ovl_change_keys, first_bucket_cap, has_first_bucket_cap, "first_bucket_cap",
                  OVL_F_BYTES, OVL_FIELD_POSITIVE,
                  "The same for the first bucket; needs bucket_cap. Default 1 MiB.", .min = 0),
    OVL_FIELD(ovl_change_keys, bucket_group, "bucket_group", OVL_F_TEXT, 0,
              "The group whose buckets these are. Default: the one that reduces most bytes."),
    OVL_FIELD_MORE(ovl_change_keys, gradients, "gradients", OVL_F_LIST, 0,
                   "Sizes of the gradients, which no bucket splits; needs bucket_cap. Default: "
                   "those of the copies in or out of the buckets, where they add up to them; else "
                   "buckets may be closed at any kernel.",
                   .table = &ovl_what_if_gradient_table),
};

const ovl_table ovl_what_if_table = {
    .title = "workload.what_if",
    .intro = "What is changed in the replay of a trace. Everything else stays as it was recorded; "
             "what is run is compared with what was measured all the same.\n\n"
             "    variants:\n"
             "      bigger_buckets: {workload.what_if.bucket_cap: 100 MiB}\n"
             "      faster_link: {workload.what_if.links: [{op: all_reduce, bandwidth: 2}]}",
    .fields = what_if_fields,
    .n_fields = OVL_COUNT(what_if_fields),
    .size = sizeof(ovl_change_keys),
    .mark = offsetof(ovl_change_keys, mark),
    .defaults = what_if_defaults,
};
