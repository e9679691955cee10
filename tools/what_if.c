#include "tools/what_if.h"

#include "sim/alter.h"

#include <string.h>

typedef struct trial {
    ovl_work *work;
    const ovl_document *doc;
    const char *variant;
    const ovl_prepared *prepared;
    const ovl_result *now;
    const char *note;
    OVL_VEC(ovl_result_what_if) list;
} trial;

/* --- Simulating --- */

static bool simulate(const ovl_program *program, uint32_t microbatches, ovl_interference model,
                     ovl_arena *arena, ovl_result *result)
{
    ovl_errs errs = {.arena = arena};
    ovl_analyse_options options = {
        .interference = model, .worth = OVL_WORTH_NONE, .microbatches = microbatches};
    return ovl_analyse(program, &options, arena, result, NULL, &errs);
}

static void add(trial *t, const char *against, const char *change, const ovl_result *then,
                bool other_work)
{
    ovl_result_what_if row = {.against = against,
                              .change = ovl_arena_strdup(&t->work->arena, change),
                              .step = then->step,
                              .per_microbatch = OVL_NEVER,
                              .per_microbatch_now = OVL_NEVER,
                              .bubble_rate = then->idle.bubble_rate};
    for (int k = 0; k < OVL_IDLE_COUNT; k++) {
        row.idle[k] = then->idle.time == OVL_NEVER ? OVL_NEVER : then->idle.piece[k];
    }
    if (other_work) {
        row.microbatches = ovl_result_microbatches(then);
        row.per_microbatch = ovl_result_per_microbatch(then);
        row.per_microbatch_now = ovl_result_per_microbatch(t->now);
    }
    ovl_vec_push(&t->list, row);
}

static bool simulate_costs(const trial *t, ovl_alteration how, ovl_arena *arena, ovl_result *then)
{
    ovl_program *program = OVL_NEW(arena, ovl_program);
    *program = ovl_program_altered(&t->prepared->lowered.program, &how, arena);
    return simulate(program, t->prepared->lowered.microbatches,
                    (ovl_interference)t->prepared->scenario.interference, arena, then);
}

/* The program at other costs; with two orders to choose from, in the better one. */
static void try_costs(trial *t, const char *against, const char *change, ovl_alteration how)
{
    ovl_arena arena = {0};
    ovl_result then, own;
    bool good = simulate_costs(t, how, &arena, &then);
    if (ovl_alteration_orders(&t->prepared->lowered.program, &how)) {
        how.own_order = true;
        bool better = simulate_costs(t, how, &arena, &own) && (!good || own.step < then.step);
        then = better ? own : then;
        good = good || better;
    }
    if (good) {
        add(t, against, change, &then, false);
    }
    ovl_arena_free(&arena);
}

#define MORE_SETS 2

/* One more sentence on what was not tried. */
static void note(trial *t, const char *sentence)
{
    t->note = t->note ? ovl_arena_printf(&t->work->arena, "%s %s", t->note, sentence)
                      : ovl_arena_strdup(&t->work->arena, sentence);
}

/* A change that the scenario does not allow is told with the reason; what one who wrote it might do
 * instead is no advice to who did not. */
static void note_refused(trial *t, const char *change, const ovl_errs *errs)
{
    uint32_t i = 0;
    while (i < errs->count && errs->items[i].warning) {
        i++;
    }
    if (i < errs->count) {
        const ovl_err *e = &errs->items[i];
        note(t, ovl_arena_printf(&t->work->arena, "Not tried is \"%s\": %s.", change,
                                 e->fact ? e->fact : e->text));
    }
}

/* The scenario with more --set (NULL: none). False if it does not allow that. */
static bool try_sets(trial *t, const char *against, const char *change,
                     const char *const more[MORE_SETS], bool other_work)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_scenario scenario;
    ovl_lowered lowered;
    ovl_result then;
    uint32_t n = t->work->n_sets;
    ovl_set *sets = OVL_NEW_ARRAY(&arena, ovl_set, n + MORE_SETS);
    if (n) {
        memcpy(sets, t->work->sets, n * sizeof *sets);
    }
    for (uint32_t i = 0; i < MORE_SETS && more[i]; i++) {
        sets[n++].text = more[i];
    }
    bool good = ovl_scenario_decode(t->doc, t->variant, sets, n, &scenario, &arena, &errs);
    scenario.memory = t->prepared->scenario.memory;
    good = good && ovl_lower(&scenario, &arena, &lowered, &errs) &&
           simulate(&lowered.program, lowered.microbatches, (ovl_interference)scenario.interference,
                    &arena, &then);
    if (good) {
        add(t, against, change, &then, other_work);
    } else {
        note_refused(t, change, &errs);
    }
    ovl_arena_free(&arena);
    return good;
}

static bool try_set(trial *t, const char *against, const char *change, const char *set,
                    bool other_work)
{
    return try_sets(t, against, change, (const char *const[MORE_SETS]){set}, other_work);
}

/* --- What is tried --- */

/* sim/alter.h */
#define EARLY                                                                                      \
    "each transfer as soon as its input is there; one after another where its communicator loads " \
    "no link"

static void try_more_microbatches(trial *t)
{
    const ovl_pipeline *pipe = &t->prepared->scenario.pipeline;
    uint32_t m = t->prepared->lowered.microbatches;
    ovl_arena *arena = &t->work->arena;
    if (pipe->given && !pipe->schedule) {
        note(t,
             ovl_arena_printf(arena,
                              "More microbatches are not tried: the list of actions is for %" PRIu32
                              ", and no rule says how it goes on. A schedule by name "
                              "can have more.",
                              m));
    }
    if (!pipe->given || !pipe->schedule || m == 0 || m > UINT32_MAX / 2) {
        return;
    }
    /* Where the workload gives the number, too, both are one. */
    bool both = t->prepared->scenario.workload.microbatches_mark.line > 0;
    const char *const sets[MORE_SETS] = {
        ovl_arena_printf(arena, "overlap.pipeline.microbatches=%" PRIu32, 2 * m),
        both ? ovl_arena_printf(arena, "workload.microbatches=%" PRIu32, 2 * m) : NULL};
    try_sets(t, "fill and drain",
             ovl_arena_printf(arena, "%" PRIu32 " microbatches instead of %" PRIu32, 2 * m, m),
             sets, true);
}

/* Layers can be shared otherwise; of what is not made of layers it is said why that is not tried.
 */
static void try_repartition(trial *t)
{
    static const char *const set[MORE_SETS] = {"overlap.pipeline.split=time",
                                               "overlap.pipeline.layers_per_stage=null"};
    const ovl_scenario *s = &t->prepared->scenario;
    bool counted = s->pipeline.layers_per_stage.count > 0;
    if (s->workload.layers.count == 0) {
        note(t, "Another split into stages is not tried: the scenario gives whole stages. Give "
                "workload.layers instead, and overlap.pipeline.split says how they are shared.");
    } else if (!counted && s->pipeline.split == OVL_SPLIT_TIME) {
        note(t, "Another split into stages is not tried: whole layers are shared by time already, "
                "so that the longest stage is as short as can be.");
    } else {
        try_sets(t, "imbalance", "layers shared among the stages by their time",
                 counted ? set : (const char *const[MORE_SETS]){set[0]}, false);
    }
}

static void try_even_stages(trial *t)
{
    if (t->prepared->scenario.pipeline.given) {
        try_repartition(t);
    }
    try_costs(t, "imbalance",
              t->now->idle.pipeline ? "all stages like their mean" : "all ranks like their mean",
              (ovl_alteration){.mean_kernels = true});
}

static void try_transfers(trial *t)
{
    const ovl_pipeline *pipe = &t->prepared->scenario.pipeline;
    if (pipe->given && pipe->communicators != OVL_PIPE_STAGES) {
        try_set(t, "dependency", "a communicator for each step from stage to stage",
                "overlap.pipeline.communicators=stages", false);
    }
    if (pipe->given && pipe->receives == OVL_PIPE_EARLY) {
        try_set(t, "dependency", "receives posted right before what needs them",
                "overlap.pipeline.receives=late", false);
    }
    if (pipe->given && pipe->protocol == OVL_PIPE_RENDEZVOUS) {
        try_set(t, "dependency", "sends that do not wait for their receives",
                "overlap.pipeline.protocol=eager", false);
    }
    if (pipe->given && pipe->data.given && pipe->data.buckets == 1) {
        try_set(t, "dependency", "gradients of a stage reduced in 4 parts, as they are made",
                "overlap.pipeline.data_parallel.buckets=4", false);
    }
    try_costs(t, "dependency", EARLY, (ovl_alteration){.early_comm = true});
    try_costs(t, "dependency", "free communication, in the same order",
              (ovl_alteration){.free_comm = true});
}

static void try_deeper_prefetch(trial *t)
{
    const ovl_scenario *s = &t->prepared->scenario;
    ovl_arena *arena = &t->work->arena;
    const ovl_schedule_shards *shards = &s->pipeline.data.shards;
    bool sharded = s->pipeline.given && s->pipeline.data.given && shards->sharded;
    if (sharded && shards->reshard != OVL_RESHARD_WINDOW && !shards->ahead) {
        try_set(t, "schedule", "each gather issued before the action in front of its own",
                "overlap.pipeline.data_parallel.prefetch=true", false);
    }
    if (sharded && shards->reshard == OVL_RESHARD_WINDOW) {
        int64_t n = s->pipeline.data.shards.active + 1;
        try_set(t, "schedule",
                ovl_arena_printf(arena,
                                 n == 1 ? "parameters of the next stage kept there"
                                        : "parameters of the next %" PRId64 " stages kept there",
                                 n),
                ovl_arena_printf(arena, "overlap.pipeline.data_parallel.active_stages=%" PRId64, n),
                false);
    }
    if (s->fsdp.given && s->fsdp.prefetch.backward >= 0) {
        int64_t n = s->fsdp.prefetch.backward + 1;
        try_set(t, "schedule",
                ovl_arena_printf(arena, "prefetch of %" PRId64 " in the backward", n),
                ovl_arena_printf(arena, "overlap.fsdp.prefetch.backward=%" PRId64, n), false);
    }
    if (!t->now->idle.piece[OVL_IDLE_DEPENDENCY]) { /* else it was tried for that */
        try_costs(t, "schedule", EARLY, (ovl_alteration){.early_comm = true});
    }
}

/* --- The most helpful first --- */

__extension__ typedef __int128 wide;

ovl_time ovl_what_if_now(const ovl_result *result, const ovl_result_what_if *w)
{
    return w->microbatches ? w->per_microbatch_now : result->step;
}

ovl_time ovl_what_if_then(const ovl_result_what_if *w)
{
    return w->microbatches ? w->per_microbatch : w->step;
}

/* By what is left of what there is; of equals the one that was tried first. There are few. */
static void sort(const ovl_result *result, ovl_result_what_if *list, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        ovl_result_what_if w = list[i];
        wide now = ovl_what_if_now(result, &w), then = ovl_what_if_then(&w);
        uint32_t at = i;
        for (; at > 0 && then * ovl_what_if_now(result, &list[at - 1]) <
                             now * ovl_what_if_then(&list[at - 1]);
             at--) {
            list[at] = list[at - 1];
        }
        list[at] = w;
    }
}

void ovl_what_if(ovl_work *work, const ovl_document *doc, const char *variant,
                 const ovl_prepared *prepared, ovl_result *result)
{
    trial t = {work, doc, variant, prepared, result, NULL, {0}};
    const ovl_time *piece = result->idle.piece;
    if (result->idle.pipeline && piece[OVL_IDLE_FILL] + piece[OVL_IDLE_DRAIN]) {
        try_more_microbatches(&t);
    }
    if (piece[OVL_IDLE_IMBALANCE]) {
        try_even_stages(&t);
    }
    if (piece[OVL_IDLE_DEPENDENCY] || result->idle.peeled[OVL_PEEL_DEPENDENCY] > 0) {
        try_transfers(&t);
    }
    if (piece[OVL_IDLE_SCHEDULE]) {
        try_deeper_prefetch(&t);
    }
    if (piece[OVL_IDLE_HOST]) {
        try_costs(&t, "host", "a host twice as fast", (ovl_alteration){.host_divisor = 2});
    }
    result->what_if_note = t.note;
    sort(result, t.list.data, t.list.len);
    result->n_what_if = t.list.len;
    result->what_if = ovl_vec_freeze(&t.list, &work->arena);
}
