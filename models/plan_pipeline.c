#include "models/plan_pipeline_code.h"

#include "models/schedule_csv.h"
#include "models/schedule_lower.h"
#include "models/tables.h"
#include "sim/units.h"

/* --- Who forms a pipeline --- */

static bool find_group(ovl_pipe_plan *p)
{
    ovl_lowering *l = p->l;
    p->group = ovl_plan_group(l, p->pipe->group, p->pipe->group_mark);
    if (!p->group) {
        return false;
    }
    p->p = ovl_plan_members(l, p->group, 0);
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        uint32_t n = ovl_plan_members(l, p->group, rank);
        if (n != p->p || n == 0) {
            ovl_error(l->errs, OVL_E_INPUT, p->pipe->group_mark,
                      "the pipelines of group \"%s\" are not alike: rank 0 is in one of %" PRIu32
                      " ranks, rank %" PRIu32 " of %" PRIu32,
                      p->group->name, p->p, rank, n);
            return false;
        }
    }
    return true;
}

/* An operation takes up to this, with all that is asked about a run (measured: 300 to lower it, 410
 * in all), and again in each other order that a search is asked for. */
#define OP_BYTES    450
#define ORDER_BYTES 200

/* Whether what the cells of a pipeline take may be taken: told before it fills memory. A stage has
 * a forward and a backward, and sends and receives across a border to another rank. */
static bool check_memory(ovl_pipe_plan *p, uint64_t stages, uint64_t microbatches, bool searched,
                         ovl_mark mark)
{
    char need[OVL_UNITS_TEXT], may[OVL_UNITS_TEXT];
    uint64_t borders = p->p > 1 && stages > p->p ? stages - stages / p->p
                       : p->p > 1                ? stages - 1
                                                 : 0;
    uint64_t ops = (2 * stages + 4 * borders) * microbatches, memory = p->l->scenario->memory;
    uint64_t bytes = ops * (OP_BYTES + (searched ? (OVL_ORDERS - 1) * ORDER_BYTES : 0));
    if (memory && bytes > memory) {
        ovl_error(p->l->errs, OVL_E_INPUT, mark,
                  "%" PRIu64 " stages with %" PRIu64 " microbatches are %" PRIu64
                  " operations or more: they may need %s of memory, and %s is allowed (OVL_MEMORY)",
                  stages, microbatches, ops, ovl_print_bytes(need, bytes),
                  ovl_print_bytes(may, memory));
        return false;
    }
    return true;
}

/* A pair of stage and microbatch has at least a forward and a backward. `searched`: for what takes
 * how long. */
static bool check_cells(ovl_pipe_plan *p, uint64_t stages, uint64_t microbatches, bool searched,
                        ovl_mark mark)
{
    if (stages * microbatches > OVL_PLAN_CODE_OPS / 2) {
        ovl_error(p->l->errs, OVL_E_INPUT, mark,
                  "%" PRIu64 " stages with %" PRIu64 " microbatches are too many: at most %u "
                  "actions in a pipeline",
                  stages, microbatches, OVL_PLAN_CODE_OPS);
        return false;
    }
    return check_memory(p, stages, microbatches, searched, mark);
}

/* --- A list of actions --- */

static const ovl_texts *listed_rows(const ovl_pipe_plan *p)
{
    return p->pipe->actions.count ? &p->pipe->actions : &p->pipe->schedule_file;
}

/* Rows are texts of a file, or of the scenario, there perhaps in quotes. */
static bool read_actions(ovl_pipe_plan *p)
{
    const ovl_texts *rows = listed_rows(p);
    ovl_mark *marks = OVL_NEW_ARRAY(&p->scratch, ovl_mark, rows->count);
    for (uint32_t i = 0; i < rows->count; i++) {
        marks[i] = rows->mark[i];
        marks[i].column += rows == &p->pipe->actions && rows->quoted[i];
    }
    return ovl_schedule_read_rows(rows->item, marks, rows->count, &p->schedule, NULL, &p->scratch,
                                  p->l->errs);
}

/* More stages or ranks than others are counted on: the sentence says both. */
static bool check_fit(ovl_pipe_plan *p, ovl_mark mark)
{
    const ovl_schedule *s = &p->schedule;
    uint32_t errors = p->l->errs->errors;
    if (s->n_ranks != p->p) {
        ovl_error(p->l->errs, OVL_E_INPUT, mark,
                  "the schedule is for %" PRIu32 " rank%s, the pipeline has %" PRIu32, s->n_ranks,
                  s->n_ranks == 1 ? "" : "s", p->p);
    }
    if (s->n_stages / s->n_chains != p->n_stages) {
        uint32_t n = s->n_stages / s->n_chains;
        ovl_error(p->l->errs, OVL_E_INPUT, mark,
                  "the schedule is for %" PRIu32 " stage%s, the workload has %" PRIu32, n,
                  n == 1 ? "" : "s", p->n_stages);
    }
    return p->l->errs->errors == errors;
}

static void check_microbatches(ovl_pipe_plan *p)
{
    const int64_t given[] = {p->pipe->microbatches,
                             p->workload->microbatches_mark.line ? p->workload->microbatches : 0};
    const ovl_mark marks[] = {p->pipe->microbatches_mark, p->workload->microbatches_mark};
    uint32_t listed = p->schedule.n_microbatches;
    for (int k = 0; k < 2; k++) {
        if (given[k] && given[k] != listed) {
            ovl_error(p->l->errs, OVL_E_INPUT, marks[k],
                      "the list of actions is for %" PRIu32 " microbatch%s, not %" PRId64, listed,
                      listed == 1 ? "" : "es", given[k]);
        }
    }
}

/* Stages on each rank, where that is given beside a list. */
static void check_virtual(ovl_pipe_plan *p)
{
    int64_t given = p->pipe->virtual_stages;
    uint32_t listed = p->schedule.n_stages / p->schedule.n_chains;
    if (given && (uint64_t)given * p->schedule.n_ranks != listed) {
        ovl_error(p->l->errs, OVL_E_INPUT, p->pipe->virtual_stages_mark,
                  "the list of actions has %" PRIu32 " stage%s on %" PRIu32 " rank%s, not %" PRId64
                  " on each",
                  listed, listed == 1 ? "" : "s", p->schedule.n_ranks,
                  p->schedule.n_ranks == 1 ? "" : "s", given);
    }
}

/* Two numbers of microbatches are one too many. */
static void check_one_number(ovl_pipe_plan *p)
{
    int64_t own = p->pipe->microbatches, all = p->workload->microbatches;
    if (own && p->workload->microbatches_mark.line && own != all) {
        ovl_error(p->l->errs, OVL_E_INPUT, p->pipe->microbatches_mark,
                  "%s here, but %" PRId64 " by workload.microbatches: give one of the two",
                  ovl_counted(p->l->errs->arena, (uint64_t)own, "microbatch"), all);
    }
}

/* Whether ranks wait for each other for ever, whatever carries their results. A list that says
 * itself when it sends and receives is judged by the run, which knows what carries them. */
static void check_order(ovl_pipe_plan *p)
{
    ovl_schedule tried;
    if (!ovl_schedule_has(&p->schedule, OVL_ACT_SEND_F, OVL_ACT_RECV_B)) {
        ovl_schedule_send_recv(&p->schedule, &tried, p->pipe->schedule_mark, &p->scratch,
                               p->l->errs);
    }
}

static bool free_list(ovl_pipe_plan *p)
{
    uint32_t errors = p->l->errs->errors;
    ovl_mark mark = p->pipe->schedule_mark;
    bool whole = read_actions(p);
    if (!p->schedule.n_stages ||
        !check_cells(p, p->schedule.n_stages, p->schedule.n_microbatches, false, mark)) {
        return false;
    }
    p->listed = p->schedule;
    bool checked = ovl_schedule_check(&p->schedule, whole, mark, p->l->errs);
    if (whole) {
        check_microbatches(p);
        check_virtual(p);
        p->microbatches = p->schedule.n_microbatches;
        ovl_pipe_stages(p, OVL_MAX(p->schedule.n_stages / OVL_MAX(p->p, 1), 1));
        check_fit(p, mark);
    }
    if (whole && checked) {
        check_order(p);
    }
    return p->l->errs->errors == errors;
}

/* --- A schedule by name --- */

static const ovl_schedule_kind *find_kind(ovl_pipe_plan *p)
{
    const ovl_schedule_kind *kind = ovl_schedule_find(p->pipe->schedule);
    if (!kind) {
        const char *names[64];
        uint32_t n = 0;
        for (uint32_t i = 0; n + 2 <= OVL_COUNT(names) && ovl_schedule_at(i); i++) {
            names[n++] = ovl_schedule_at(i)->name;
            if (ovl_schedule_at(i)->pytorch) {
                names[n++] = ovl_schedule_at(i)->pytorch;
            }
        }
        ovl_unknown_name(p->pipe->schedule_mark, "schedule", p->pipe->schedule, names, n,
                         OVL_E_INPUT, p->l->errs);
    }
    return kind;
}

/* Stages on each rank: as given, else as many as there are stages for. */
static uint32_t stages_per_rank(const ovl_pipe_plan *p, const ovl_schedule_kind *kind)
{
    int64_t given = p->pipe->virtual_stages, listed = 0;
    if (given) {
        return (uint32_t)OVL_MIN(given, UINT16_MAX);
    }
    for (uint32_t i = 0; i < p->workload->stages.count; i++) {
        listed += OVL_ITEM(p->workload->stages, ovl_stage, i)->repeat;
    }
    if (listed == 0 || listed % p->p) {
        return kind->least_stages;
    }
    return (uint32_t)OVL_MIN(listed / p->p, UINT16_MAX);
}

/* The longest hop from a place to the next, over all pipelines; false after an error. */
static bool add_hop(ovl_pipe_plan *p, uint32_t place, ovl_time *longest)
{
    const ovl_spread *before = NULL;
    for (uint32_t rank = 0; rank < p->l->n_ranks && place + 1 < p->p; rank++) {
        const uint32_t *members = ovl_pipe_members(p, rank);
        const ovl_spread *spread =
            members[0] == rank ? ovl_pipe_spread(p, members, place, place + 1) : before;
        if (spread == before) {
            continue;
        }
        ovl_plan_cost cost;
        if (!ovl_pipe_transfer(p, &p->stages[place], spread, &cost)) {
            return false;
        }
        const ovl_cost *hop = &p->l->b->costs.data[cost.id];
        *longest = OVL_MAX(*longest, hop->latency + hop->work);
        before = spread;
    }
    return true;
}

/* The search as it would be with stages like their mean, with free transfers, or both. */
static void change_times(const ovl_pipe_plan *p, ovl_time *times[3], ovl_schedule_spec *spec)
{
    if (p->l->order & OVL_ORDER_FREE) {
        spec->hop = 0;
    }
    for (int k = 0; k < 3 && p->l->order & OVL_ORDER_EVEN; k++) {
        ovl_pipe_sum sum = {0};
        for (uint32_t r = 0; r < p->n_stages; r++) {
            ovl_pipe_sum_add(&sum, times[k][r]);
        }
        for (uint32_t r = 0; r < p->n_stages; r++) {
            times[k][r] = ovl_pipe_sum_mean(&sum);
        }
    }
}

/* So long that sums of all actions might overflow: halved until they do not. The run tells what is
 * too long; to a search only ratios matter. */
static void keep_countable(const ovl_pipe_plan *p, ovl_time *times[3], ovl_schedule_spec *spec)
{
    double sum = 2 * (double)spec->hop * p->n_stages;
    unsigned halvings = 0;
    for (int k = 0; k < 3; k++) {
        for (uint32_t r = 0; r < p->n_stages; r++) {
            sum += (double)times[k][r];
        }
    }
    while (sum * spec->microbatches > (double)OVL_TIME_MAX * (double)(UINT64_C(1) << halvings)) {
        halvings++;
    }
    spec->hop >>= halvings;
    for (int k = 0; k < 3; k++) {
        for (uint32_t r = 0; r < p->n_stages; r++) {
            times[k][r] >>= halvings;
        }
    }
}

/* As long as the slowest GPU that runs the stage in any pipeline needs: they follow one schedule.
 */
static void add_stage_times(const ovl_pipe_plan *p, uint32_t r, ovl_time *times[3])
{
    uint32_t machines = ovl_pipe_machines(p, r);
    for (uint32_t i = 0; machines >> i; i++) {
        const ovl_pipe_stage *s = p->on ? &p->on[i][r] : &p->stages[r];
        if (machines >> i & 1) {
            ovl_time again = p->pipe->recompute ? ovl_pipe_time(s->forward, 0) : 0;
            times[0][r] = OVL_MAX(times[0][r], ovl_pipe_time(s->forward, 0));
            times[1][r] = OVL_MAX(times[1][r], ovl_pipe_time(s->input, 0) + again);
            times[2][r] = OVL_MAX(times[2][r], ovl_pipe_time(s->weight, 0));
        }
    }
}

/* What schedules that know of times look at: the first microbatch of each stage, and what runs
 * again before its backward. */
static bool add_times(ovl_pipe_plan *p, ovl_schedule_spec *spec)
{
    ovl_time *times[3];
    uint64_t *bytes[2];
    for (int k = 0; k < 3; k++) {
        times[k] = OVL_NEW_ARRAY(&p->scratch, ovl_time, p->n_stages);
    }
    for (int k = 0; k < 2; k++) {
        bytes[k] = OVL_NEW_ARRAY(&p->scratch, uint64_t, p->n_stages);
    }
    for (uint32_t r = 0; r < p->n_stages; r++) {
        const ovl_pipe_stage *s = &p->stages[r];
        if (!add_hop(p, r, &spec->hop)) {
            return false;
        }
        add_stage_times(p, r, times);
        bytes[0][r] = s->activations ? s->activations : 1;
        bytes[1][r] = s->activations ? s->kept : 1;
    }
    change_times(p, times, spec);
    keep_countable(p, times, spec);
    spec->forward = times[0];
    spec->input = times[1];
    spec->weight = times[2];
    spec->activation = bytes[0];
    spec->kept = bytes[1];
    return true;
}

/* Where the number of microbatches is given, or of stages on a rank; else the schedule by name. */
static ovl_mark microbatches_mark(const ovl_pipe_plan *p)
{
    ovl_mark workload = p->workload->microbatches_mark;
    return p->pipe->microbatches ? p->pipe->microbatches_mark
           : workload.line       ? workload
                                 : p->pipe->schedule_mark;
}

static ovl_mark stages_mark(const ovl_pipe_plan *p)
{
    return p->pipe->virtual_stages ? p->pipe->virtual_stages_mark : p->pipe->schedule_mark;
}

static bool named(ovl_pipe_plan *p)
{
    const ovl_schedule_kind *kind = find_kind(p);
    if (!kind) {
        return false;
    }
    uint32_t errors = p->l->errs->errors;
    int64_t m = p->pipe->microbatches ? p->pipe->microbatches : p->workload->microbatches;
    p->microbatches = (uint32_t)OVL_MAX(m, 1);
    ovl_schedule_spec spec = {.ranks = p->p,
                              .microbatches = p->microbatches,
                              .stages_per_rank = stages_per_rank(p, kind),
                              .group = (uint32_t)p->pipe->microbatch_group,
                              .extra_warmup = p->pipe->extra_warmup,
                              .mark = p->pipe->schedule_mark,
                              .microbatches_mark = microbatches_mark(p),
                              .stages_mark = stages_mark(p),
                              .group_mark = p->pipe->microbatch_group_mark};
    uint64_t stages = (uint64_t)spec.ranks * spec.stages_per_rank;
    p->placement = kind->placement;
    ovl_schedule_fits(kind, &spec, p->l->errs);
    check_one_number(p);
    if (stages < UINT16_MAX) { /* else told by the schedule */
        if (!check_cells(p, stages, p->microbatches, kind->timed, spec.microbatches_mark)) {
            return false;
        }
        ovl_pipe_stages(p, spec.stages_per_rank);
    }
    if (p->l->errs->errors != errors) {
        return false;
    }
    if (kind->timed && p->n_stages == stages &&
        (!ovl_pipe_check_split(p) || !add_times(p, &spec))) {
        return false;
    }
    p->l->searched = kind->timed;
    if (kind->timed && !spec.forward && spec.stages_per_rank == 1) {
        ovl_error(p->l->errs, OVL_E_INPUT, spec.mark, "%s needs a stage for each rank: %s, %s",
                  kind->name, ovl_counted(p->l->errs->arena, p->p, "rank"),
                  ovl_counted(p->l->errs->arena, p->n_stages, "stage"));
        return false;
    }
    return ovl_schedule_make(kind, &spec, &p->schedule, &p->scratch, p->l->errs) &&
           check_fit(p, spec.stages_mark);
}

/* --- Limits and the steps --- */

/* What sharding adds to a layer and microbatch, at most. */
#define UNIT_OPS 8

static bool check_size(ovl_pipe_plan *p)
{
    uint64_t sum = 0;
    for (uint32_t r = 0; r < p->schedule.n_ranks; r++) {
        sum += p->schedule.ranks[r].count;
    }
    for (uint32_t u = 0; p->first_unit && u < p->step.n_units; u++) {
        const ovl_inner *inner = p->step.units[u].layer->inner;
        if (p->step.units[u].experts) {
            continue;
        }
        sum += (uint64_t)((inner ? ovl_inner_count(inner) : 2) + UNIT_OPS) * p->microbatches *
               p->schedule.n_chains;
    }
    if (sum * p->layouts.len > OVL_PLAN_CODE_OPS ||
        sum * (p->l->n_ranks / p->p) > OVL_PLAN_RANK_OPS) {
        ovl_error(p->l->errs, OVL_E_INPUT, p->pipe->mark,
                  "%" PRIu64 " actions of a pipeline on %" PRIu32
                  " ranks%s are too many: at most %u in a pipeline and %u in all",
                  sum, p->l->n_ranks,
                  p->layouts.len == 1
                      ? ""
                      : ovl_arena_printf(p->l->errs->arena,
                                         " that lie on nodes in %" PRIu32 " ways", p->layouts.len),
                  OVL_PLAN_CODE_OPS, OVL_PLAN_RANK_OPS);
        return false;
    }
    uint64_t memory = p->l->scenario->memory, bytes = sum * p->layouts.len * OP_BYTES;
    if (memory && bytes > memory) {
        char need[OVL_UNITS_TEXT], may[OVL_UNITS_TEXT];
        ovl_error(p->l->errs, OVL_E_INPUT, p->pipe->mark,
                  "%" PRIu64 " operations of a pipeline may need %s of memory, and %s is allowed "
                  "(OVL_MEMORY)",
                  sum * p->layouts.len, ovl_print_bytes(need, bytes), ovl_print_bytes(may, memory));
        return false;
    }
    return true;
}

/* The schedule before sends and receives are placed, for who asks for it. */
static ovl_schedule *keep_schedule(const ovl_pipe_plan *p)
{
    ovl_arena *arena = p->l->arena;
    ovl_schedule *kept = OVL_NEW(arena, ovl_schedule);
    *kept = p->schedule;
    uint32_t *rank_of = OVL_NEW_ARRAY(arena, uint32_t, kept->n_stages);
    memcpy(rank_of, p->schedule.rank_of, kept->n_stages * sizeof *rank_of);
    kept->rank_of = rank_of;
    kept->places = NULL;
    kept->ranks = OVL_NEW_ARRAY(arena, ovl_actions, kept->n_ranks);
    for (uint32_t r = 0; r < kept->n_ranks; r++) {
        const ovl_actions *row = &p->schedule.ranks[r];
        kept->ranks[r].count = row->count;
        kept->ranks[r].item = OVL_NEW_ARRAY(arena, ovl_action, row->count);
        if (row->count) {
            memcpy(kept->ranks[r].item, row->item, row->count * sizeof *row->item);
        }
    }
    return kept;
}

void ovl_plan_pipeline(ovl_lowering *l)
{
    ovl_pipe_plan p = {.l = l, .pipe = &l->scenario->pipeline, .workload = &l->scenario->workload};
    if (find_group(&p) && (listed_rows(&p)->count ? free_list(&p) : named(&p)) &&
        ovl_pipe_complete(&p)) {
        l->schedule = keep_schedule(&p);
        ovl_pipe_tell_idle_keys(&p);
        ovl_pipe_say_unreduced(&p);
        l->microbatches = p.microbatches;
        if (!l->schedule_alone && ovl_pipe_fsdp_plan(&p) && ovl_pipe_ddp_plan(&p) &&
            ovl_pipe_data_plan(&p) && ovl_pipe_comms(&p)) {
            ovl_pipe_layouts(&p);
            if (check_size(&p)) {
                ovl_pipe_means_find(&p);
                ovl_pipe_emit(&p);
            }
        }
    }
    ovl_vec_free(&p.layouts);
    ovl_vec_free(&p.channels);
    ovl_step_free(&p.step);
    ovl_arena_free(&p.scratch);
}
