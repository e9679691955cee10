#include "models/variation.h"

#include <math.h>

static const char *const distribution_names[] = {"lognormal", "normal",   "gamma",
                                                 "uniform",   "constant", NULL};
static const char *const phase_names[] = {"staggered", "aligned", NULL};

static bool check_keys(const ovl_node *node, const ovl_jitter *j, ovl_errs *errs)
{
    bool spread = j->has_cv || j->mean, tail = j->p50 || j->p95;
    if (spread && tail) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "give a mean and a cv, or p50 and p95; found some of both");
    } else if (tail && (!j->p50 || !j->p95)) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "p50 and p95 belong together; found one of them");
    } else if (tail && j->p95 < j->p50) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "p95 must not be less than p50");
    } else if (!spread && !tail) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "how much does it vary? Give a cv (5 %%), or p50 and p95");
    } else {
        return true;
    }
    return false;
}

/* What a law cannot be: negative, or so wide that its shape cannot be found. */
static bool check_width(const ovl_node *node, const ovl_jitter *j, ovl_errs *errs)
{
    double ratio = j->p50 ? (double)j->p95 / (double)j->p50 : 1;
    const char *wrong = NULL;
    if (j->cv > 100) {
        wrong = "a cv of more than 10000 % cannot be drawn";
    } else if (j->distribution == OVL_DRAW_UNIFORM && (j->cv > 1 / sqrt(3) || ratio > 1.9)) {
        wrong = "a uniform law as wide as that would be negative: its cv is at most 57.7 %, its "
                "p95 at most 1.9 times p50";
    } else if (j->distribution == OVL_DRAW_NORMAL && (j->cv > 1.0 / 3 || ratio > 1.54)) {
        wrong =
            "a normal law as wide as that would often be negative: its cv is at most 33.3 %, its "
            "p95 at most 1.54 times p50; lognormal goes further";
    } else if (j->distribution == OVL_DRAW_GAMMA && (j->cv > 5 || ratio > 1000)) {
        wrong = "a gamma law has a cv of at most 500 % here, and p95 at most 1000 times p50; "
                "lognormal goes further";
    }
    if (wrong) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "%s", wrong);
    }
    return !wrong;
}

static void check_jitter(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    ovl_jitter *j = value;
    if (!check_keys(node, j, errs) || !check_width(node, j, errs)) {
        return;
    }
    ovl_draw_kind kind = (ovl_draw_kind)j->distribution;
    j->absolute = j->mean || j->p50;
    j->law = j->p50 ? ovl_distribution_of_percentiles(kind, (double)j->p50, (double)j->p95)
                    : ovl_distribution_of_mean(kind, j->mean ? (double)j->mean : 1, j->cv);
}

#define CV_FIELD                                                                                   \
    OVL_FIELD_SET(ovl_jitter, cv, has_cv, "cv", OVL_F_RATIO, 0,                                    \
                  "Coefficient of variation: standard deviation over mean, as `5 %`.", .min = 0)
#define DISTRIBUTION_FIELD                                                                         \
    OVL_FIELD_MORE(ovl_jitter, distribution, "distribution", OVL_F_ENUM, 0,                        \
                   "Which law. `normal` is cut off at 0, and refused where it would often be: "    \
                   "beyond a cv of "                                                               \
                   "33.3 %. Default `lognormal`.",                                                 \
                   .names = distribution_names)

static const ovl_field jitter_fields[] = {CV_FIELD, DISTRIBUTION_FIELD};

const ovl_table ovl_jitter_table = {
    .title = "variation.kernels, .collectives, .copies, .host",
    .intro = "How much durations vary; the mean of each stays its own.\n\n"
             "    kernels: {cv: 3 %}",
    .fields = jitter_fields,
    .n_fields = OVL_COUNT(jitter_fields),
    .size = sizeof(ovl_jitter),
    .mark = offsetof(ovl_jitter, mark),
    .check = check_jitter,
};

static const ovl_field op_jitter_fields[] = {
    OVL_FIELD(ovl_jitter, op, "op", OVL_F_TEXT, OVL_FIELD_REQUIRED,
              "Name of operations; `*` stands for any characters."),
    CV_FIELD,
    DISTRIBUTION_FIELD,
    OVL_FIELD(ovl_jitter, mean, "mean", OVL_F_TIME, OVL_FIELD_POSITIVE,
              "Mean duration. Default: each one's own."),
    OVL_FIELD(ovl_jitter, p50, "p50", OVL_F_TIME, OVL_FIELD_POSITIVE,
              "Median duration, instead of a mean and a cv."),
    OVL_FIELD(ovl_jitter, p95, "p95", OVL_F_TIME, OVL_FIELD_POSITIVE,
              "Its 95th percentile: one in twenty is longer."),
};

const ovl_table ovl_op_jitter_table = {
    .title = "variation.ops[]",
    .intro = "How operations of some name vary, in place of what their kind says. Of several that "
             "fit the last counts. A collective takes one draw for all its members; a receive "
             "varies with its send.\n\n"
             "    ops:\n"
             "      - {op: \"block*.backward\", mean: 4 ms, cv: 5 %}\n"
             "      - {op: all_reduce, p50: 2 ms, p95: 3.5 ms}",
    .fields = op_jitter_fields,
    .n_fields = OVL_COUNT(op_jitter_fields),
    .size = sizeof(ovl_jitter),
    .mark = offsetof(ovl_jitter, mark),
    .check = check_jitter,
};

/* --- Where a duration is stated --- */

static void check_law(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    ovl_law *law = value;
    ovl_jitter *j = &law->jitter;
    if (!check_keys(node, j, errs) || !check_width(node, j, errs)) {
        return;
    }
    if (!j->mean && !j->p50) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "how long is it? Give a mean, or p50 and p95");
        return;
    }
    ovl_draw_kind kind = (ovl_draw_kind)j->distribution;
    law->stated = j->p50 ? j->p50 : j->mean;
    j->given = true;
    j->law = j->p50 ? ovl_distribution_of_percentiles(kind, 1, (double)j->p95 / (double)j->p50)
                    : ovl_distribution_of_mean(kind, 1, j->cv);
}

static const ovl_field duration_fields[] = {
    OVL_FIELD(ovl_law, jitter.mean, "mean", OVL_F_TIME, OVL_FIELD_POSITIVE,
              "Mean duration; a run without trials takes it."),
    OVL_FIELD_SET(ovl_law, jitter.cv, jitter.has_cv, "cv", OVL_F_RATIO, 0,
                  "Coefficient of variation: standard deviation over mean, as `5 %`. Default 0.",
                  .min = 0),
    OVL_FIELD(ovl_law, jitter.p50, "p50", OVL_F_TIME, OVL_FIELD_POSITIVE,
              "Median duration, instead of a mean and a cv; a run without trials takes it."),
    OVL_FIELD(ovl_law, jitter.p95, "p95", OVL_F_TIME, OVL_FIELD_POSITIVE,
              "Its 95th percentile: one in twenty is longer."),
    OVL_FIELD_MORE(ovl_law, jitter.distribution, "distribution", OVL_F_ENUM, 0,
                   "Which law. `normal` is cut off at 0, and refused where it would often be: "
                   "beyond a cv of 33.3 %. Default `lognormal`.",
                   .names = distribution_names),
};

const ovl_table ovl_duration_table = {
    .title = "durations that vary",
    .intro = "A duration may say itself how it varies, for `--trials`. It counts before what "
             "`variation` says of its kind; what `variation.ops` says by name counts before it.\n\n"
             "    backward: {mean: 3 ms, cv: 10 %}\n"
             "    duration: {p50: 2 ms, p95: 3.5 ms, distribution: gamma}",
    .fields = duration_fields,
    .n_fields = OVL_COUNT(duration_fields),
    .size = sizeof(ovl_law),
    .mark = offsetof(ovl_law, jitter.mark),
    .check = check_law,
};

static const ovl_field pauses_fields[] = {
    OVL_FIELD_MORE(ovl_pause_process, period, "period", OVL_F_COUNT, OVL_FIELD_REQUIRED,
                   "A rank pauses in one of so many steps.", .min = 1, .max = 1000000000),
    OVL_FIELD(ovl_pause_process, length, "length", OVL_F_TIME,
              OVL_FIELD_REQUIRED | OVL_FIELD_POSITIVE, "How long."),
    OVL_FIELD_MORE(ovl_pause_process, phase, "phase", OVL_F_ENUM, 0,
                   "`aligned`: all ranks in the same step; `staggered`: each rank in a step of its "
                   "own, drawn anew for every period. Default `staggered`.",
                   .names = phase_names),
    OVL_FIELD(ovl_pause_process, from, "from", OVL_F_TIME, 0,
              "When in the step it begins: so long after the step did, or with the first launch "
              "after that. Default 0."),
    OVL_FIELD_SET(ovl_pause_process, until, has_until, "until", OVL_F_TIME, 0,
                  "Until when at the latest: the moment is drawn evenly for each pause. Default: "
                  "`from`.",
                  .min = 0),
};

static void check_pause(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    const ovl_pause_process *p = value;
    (void)arena;
    if (p->has_until && p->until < p->from) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "until must not be before from");
    }
}

const ovl_table ovl_pauses_table = {
    .title = "variation.pauses",
    .intro = "Garbage collection: the host thread of a rank stops at the begin of a step, before "
             "its first launch, or in its midst; what was launched before goes on. Trial t is step "
             "t, so as many trials as the period has steps see "
             "each rank pause once. Needs `workload.steps: 1`.\n\n"
             "    pauses: {period: 265, length: 1.46 s, phase: staggered, from: 0 s, until: 16 s}",
    .fields = pauses_fields,
    .n_fields = OVL_COUNT(pauses_fields),
    .size = sizeof(ovl_pause_process),
    .mark = offsetof(ovl_pause_process, mark),
    .check = check_pause,
};

static const ovl_field variation_fields[] = {
    OVL_FIELD_SET(ovl_variation, kernels, kernels.given, "kernels", OVL_F_MAP, 0,
                  "Kernels. Default: constant.", .table = &ovl_jitter_table),
    OVL_FIELD_SET(ovl_variation, collectives, collectives.given, "collectives", OVL_F_MAP, 0,
                  "Collectives, and sends with their receives: latency and transfer alike.",
                  .table = &ovl_jitter_table),
    OVL_FIELD_SET(ovl_variation, copies, copies.given, "copies", OVL_F_MAP, 0,
                  "Copies between device and host.", .table = &ovl_jitter_table),
    OVL_FIELD_SET(ovl_variation, host, host.given, "host", OVL_F_MAP, 0, "Host calls and launches.",
                  .table = &ovl_jitter_table),
    OVL_FIELD_MORE(ovl_variation, ops, "ops", OVL_F_LIST, 0, "Operations by name.",
                   .table = &ovl_op_jitter_table),
    OVL_FIELD_SET(ovl_variation, pauses, pauses.given, "pauses", OVL_F_MAP, 0,
                  "Ranks whose host stops now and then.", .table = &ovl_pauses_table),
};

const ovl_table ovl_variation_table = {
    .title = "variation",
    .intro = "How durations vary from step to step and from rank to rank, for `ovl run --trials N` "
             "and `ovl compare --trials N`; a run without trials takes every duration as it is "
             "stated. Each operation of each rank draws by itself; the draw depends on the seed, "
             "the trial, the rank, the name of the operation and how many of that name came "
             "before, and on nothing else: what a change keeps draws the same.\n\n"
             "    variation:\n"
             "      kernels: {cv: 3 %}\n"
             "      collectives: {cv: 20 %, distribution: gamma}\n"
             "      ops: [{op: \"launch bucket*\", p50: 40 us, p95: 200 us}]\n"
             "      pauses: {period: 265, length: 1.46 s}",
    .fields = variation_fields,
    .n_fields = OVL_COUNT(variation_fields),
    .size = sizeof(ovl_variation),
    .mark = offsetof(ovl_variation, mark),
};
