#include "models/tables.h"

static const char *const pause_names[] = {"keep", "drop", NULL};

static void replay_defaults(void *value)
{
    ovl_replay_keys *keys = value;
    keys->comm = OVL_RECORD_COMM;
}

static const ovl_field replay_fields[] = {
    OVL_FIELD(
        ovl_replay_keys, step, "step", OVL_F_TEXT, 0,
        "The number of a profiler step, the name of a range (NVTX, user annotation), or `all`. "
        "Default: the last step, or all of a trace that marks none."),
    OVL_FIELD(
        ovl_replay_keys, comm, "comm", OVL_F_TEXT, 0,
        "Which kernels are communication: an extended regular expression, matched anywhere in "
        "the name and in any case. Default `nccl|rccl`."),
    OVL_FIELD_MORE(
        ovl_replay_keys, unexplained, "unexplained", OVL_F_ENUM, 0,
        "Pauses that neither stream, wait, launch nor sync explains: `keep` them as they "
        "were, or `drop` them. Default `keep`.",
        .names = pause_names),
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
