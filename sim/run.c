/*
 * run.c - the state of a run from its first allocation to the timeline handed over.
 */
#include "sim/state.h"

#include "sim/units.h"

static const char *const interference_names[] = {"none", "shared", "measured"};

const char *ovl_interference_name(ovl_interference model)
{
    return interference_names[model];
}

static const char *const term_names[OVL_TERM_COUNT] = {
    "compute", "compute_stretch", "comm_latency", "comm_transfer", "comm_stretch",
    "copy",    "wait_late_rank",  "idle",
};

const char *ovl_term_name(ovl_term term)
{
    return term_names[term];
}

/* --- Setting up and handing over --- */

static ovl_time *unhappened(ovl_arena *arena, uint32_t n)
{
    ovl_time *times = OVL_NEW_ARRAY(arena, ovl_time, n);
    return n ? memset(times, 0xff, n * sizeof *times) : times;
}

static uint32_t eager_sends(const ovl_engine *e)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < e->p->n_codes; c++) {
        n += e->courses[c]->eager_sends;
    }
    return n;
}

/* Arrivals and ends, issues where they are remembered, and eager bytes that are there. */
static size_t steps_at_most(const ovl_engine *e)
{
    size_t n = 0;
    for (uint32_t r = 0; r < e->p->n_ranks; r++) {
        uint32_t c = e->p->ranks[r].code;
        const ovl_code *code = &e->p->codes[c];
        n += (size_t)code->n_ops * (code->host_timed ? 3 : 2) + e->courses[c]->eager_sends;
    }
    return n;
}

/* Pages that are not needed are never touched: mostly all is issued at 0. */
static void set_up_times(ovl_engine *e)
{
    const ovl_program *p = e->p;
    e->issue = OVL_NEW_ARRAY(e->arena, ovl_time, p->n_ops);
    e->arrive = unhappened(e->arena, p->n_ops);
    e->start = unhappened(e->arena, p->n_ops);
    e->end = unhappened(e->arena, p->n_ops);
    e->landed = eager_sends(e) ? OVL_NEW_ARRAY(e->arena, ovl_time, p->n_ops) : NULL;
    if (!e->options->no_trail) {
        e->trail = OVL_NEW_ARRAY(e->arena, uint32_t, steps_at_most(e));
    }
    ovl_vec_reserve(&e->limits, p->n_ops);
}

/* Where a program was altered what is looked up in its codes is worked out for this run. */
static void find_courses(ovl_engine *e, ovl_arena *scratch)
{
    e->courses = OVL_NEW_ARRAY(scratch, const ovl_course *, e->p->n_codes);
    for (uint32_t c = 0; c < e->p->n_codes; c++) {
        const ovl_course *known = ovl_course_known(e->p, &e->p->codes[c]);
        e->courses[c] =
            known ? known : ovl_course_find(e->p, &e->p->codes[c], !e->options->no_skip, scratch);
    }
}

static void set_up(ovl_engine *e, ovl_arena *scratch)
{
    const ovl_program *p = e->p;
    find_courses(e, scratch);
    if (!e->options->step_only) {
        set_up_times(e);
    }
    e->times = OVL_NEW_ARRAY(e->arena, ovl_rank_times, p->n_ranks);
    e->pending = OVL_NEW_ARRAY(scratch, uint32_t, p->n_ops);
    e->arrived = OVL_NEW_ARRAY(scratch, uint32_t, p->n_collectives);
    e->ranks = OVL_NEW_ARRAY(scratch, ovl_rank_state, p->n_ranks);
    e->first_pace = OVL_NEW_ARRAY(scratch, uint32_t, p->n_resources);
    for (uint32_t r = 0; r < p->n_resources; r++) {
        e->first_pace[r] = OVL_NONE;
    }
    e->use_at = OVL_NEW_ARRAY(scratch, uint32_t, p->n_resources);
    e->unmeasured = OVL_NEW_ARRAY(scratch, bool, (size_t)p->n_kernel_classes * p->n_coll_classes);
    e->caps_matter = e->options->interference == OVL_INTERFERENCE_MEASURED ||
                     (e->options->interference == OVL_INTERFERENCE_SHARED && p->sms > 0);
    e->free_cost = (ovl_cost){.kind = OVL_KIND_FREE};
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        const ovl_code *code = &p->codes[p->ranks[r].code];
        ovl_rank_state *s = &e->ranks[r];
        s->first_op = p->ranks[r].first_op;
        s->variant = p->ranks[r].variant;
        s->code = p->ranks[r].code;
        s->is = (ovl_choice){.main = OVL_NONE, .beside = OVL_NONE, .term = OVL_IDLE};
        s->touched = e->options->step_only ? OVL_RUNNING : OVL_UNTOUCHED;
        ovl_vec_begin_near(&s->kernels, s->few_kernels);
        ovl_comms_begin(s);
        for (uint32_t i = 0; code->host_timed && i < code->n_ops; i++) {
            e->pending[s->first_op + i] = ovl_code_ties(code, i)->waits;
        } /* else ovl_host_begin fills it in as it issues everything */
    }
    uint64_t *capacities = OVL_NEW_ARRAY(scratch, uint64_t, p->n_resources);
    for (uint32_t i = 0; i < p->n_resources; i++) {
        capacities[i] = p->resources[i].capacity;
    }
    ovl_share_init(&e->share, capacities, p->n_resources);
    ovl_vec_reserve(&e->touched, p->n_ranks);
    ovl_clocks_init(e);
    ovl_delays_init(&e->delays);
    ovl_routes_init(e, scratch);
    ovl_recur_init(e, scratch);
}

static void tear_down(ovl_engine *e)
{
    for (uint32_t r = 0; r < e->p->n_ranks; r++) {
        ovl_rank_state *s = &e->ranks[r];
        ovl_vec_free_near(&s->kernels, s->few_kernels);
        ovl_comms_free(s);
        ovl_vec_free(&s->holders);
        ovl_vec_free(&s->rivals);
        ovl_vec_free(&s->copies[0]);
        ovl_vec_free(&s->copies[1]);
    }
    ovl_vec_free(&e->activities);
    ovl_vec_free(&e->bounds);
    ovl_vec_free(&e->spare);
    ovl_vec_free(&e->todo);
    ovl_vec_free(&e->dirty_caps);
    ovl_vec_free(&e->dirty_copies);
    ovl_vec_free(&e->dirty_comms);
    ovl_vec_free(&e->uses);
    ovl_vec_free(&e->limits);
    ovl_vec_free(&e->segments);
    ovl_vec_free(&e->phase_ends);
    for (uint32_t i = 0; i < e->clocks.len; i++) {
        ovl_vec_free(&e->clocks.data[i].dues);
        ovl_vec_free(&e->clocks.data[i].watchers);
    }
    ovl_vec_free(&e->clocks);
    ovl_vec_free(&e->crews);
    ovl_vec_free(&e->paces);
    ovl_vec_free(&e->spare_paces);
    ovl_vec_free(&e->touched);
    ovl_vec_free(&e->touched_clocks);
    ovl_vec_free(&e->joining);
    ovl_recur_free(e);
    ovl_heap_free(&e->heap);
    ovl_delays_free(&e->delays);
    ovl_share_free(&e->share);
}

static void swap_limits(ovl_limit *a, ovl_limit *b)
{
    ovl_limit other = *a;
    *a = *b;
    *b = other;
}

/* Puts limits in order of their op, where they lie. Where each goes is known before any is moved,
 * so that none has to wait for what another one finds in memory. Scratch: `place` by op, `to` by
 * limit. */
static void sort_limits(ovl_limit *list, uint32_t n, uint32_t *place, uint32_t n_ops, uint32_t *to)
{
    memset(place, 0, n_ops * sizeof *place);
    for (uint32_t i = 0; i < n; i++) {
        place[list[i].op]++;
    }
    for (uint32_t op = 0, before = 0; op < n_ops; op++) {
        uint32_t own = place[op];
        place[op] = before;
        before += own;
    }
    for (uint32_t i = 0; i < n; i++) {
        to[i] = place[list[i].op]++;
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t at = to[i], next; at != i; at = next) {
            swap_limits(&list[i], &list[at]);
            next = to[at];
            to[at] = at;
        }
    }
}

/* One entry per (op, bound): puts `limit` among those of its op in list[from..n - 1]. */
static uint32_t merge_limit(ovl_limit *list, uint32_t from, uint32_t n, ovl_limit limit)
{
    uint32_t at = n;
    while (at > from && list[at - 1].bound > limit.bound) {
        at--;
    }
    if (at > from && list[at - 1].bound == limit.bound) {
        list[at - 1].time += limit.time;
        list[at - 1].lost += limit.lost;
        return n;
    }
    for (uint32_t i = n; i > at; i--) {
        list[i] = list[i - 1];
    }
    list[at] = limit;
    return n + 1;
}

/* By now nobody waits for anything. */
static void hand_over_limits(ovl_engine *e, ovl_timeline *t)
{
    ovl_arena scratch = {0};
    uint32_t n = 0, from = 0, *to = OVL_NEW_ARRAY(&scratch, uint32_t, e->limits.len);
    ovl_limit *list = e->limits.data;
    sort_limits(list, e->limits.len, e->pending, e->p->n_ops, to);
    ovl_arena_free(&scratch);
    for (uint32_t i = 0; i < e->limits.len; i++) {
        from = n && list[n - 1].op == list[i].op ? from : n;
        n = merge_limit(list, from, n, list[i]);
    }
    e->limits.len = n;
    t->n_limits = n;
    t->limits = ovl_vec_freeze(&e->limits, e->arena);
}

static int compare_segments(const void *a, const void *b)
{
    const ovl_segment *x = a, *y = b;
    if (x->op != y->op) {
        return x->op < y->op ? -1 : 1;
    }
    return (x->from > y->from) - (x->from < y->from);
}

static void hand_over_phase_ends(ovl_engine *e, ovl_timeline *t)
{
    if (e->phase_ends.len) {
        qsort(e->phase_ends.data, e->phase_ends.len, sizeof *e->phase_ends.data,
              ovl_phase_end_order);
    }
    t->n_phase_ends = e->phase_ends.len;
    t->phase_ends = ovl_vec_freeze(&e->phase_ends, e->arena);
}

static void hand_over_unmeasured(const ovl_engine *e, ovl_timeline *t)
{
    OVL_VEC(ovl_unmeasured) list = {0};
    for (uint32_t k = 0; k < e->p->n_kernel_classes; k++) {
        for (uint32_t c = 0; c < e->p->n_coll_classes; c++) {
            if (e->unmeasured[k * e->p->n_coll_classes + c]) {
                ovl_vec_push(&list, (ovl_unmeasured){k, c});
            }
        }
    }
    t->n_unmeasured = list.len;
    t->unmeasured = ovl_vec_freeze(&list, e->arena);
}

static uint64_t held_by_vectors(const ovl_engine *e)
{
    uint64_t bytes = e->activities.cap * (sizeof *e->activities.data + sizeof *e->bounds.data) +
                     e->clocks.cap * sizeof *e->clocks.data +
                     e->limits.len * sizeof *e->limits.data +
                     e->phase_ends.cap * sizeof *e->phase_ends.data +
                     e->share.classes.cap * sizeof *e->share.classes.data +
                     e->share.n_resources * sizeof *e->share.resources;
    for (uint32_t i = 0; i < e->share.n_resources; i++) {
        bytes += e->share.resources[i].line.cap * sizeof *e->share.resources[i].line.data;
    }
    return bytes;
}

static void find_last_of_several(const ovl_engine *e, ovl_timeline *t)
{
    ovl_time last = -1;
    for (uint32_t r = 0; r < e->p->n_ranks; r++) {
        if (e->p->codes[e->p->ranks[r].code].n_steps == e->p->n_steps &&
            e->ranks[r].step_ends[0] > last) {
            last = e->ranks[r].step_ends[0];
            t->deciding_rank = r;
        }
    }
    t->begin = e->ranks[t->deciding_rank].step_ends[1];
    t->step = last - t->begin;
}

static void find_step(const ovl_engine *e, ovl_timeline *t)
{
    for (uint32_t r = 0; r < e->p->n_ranks; r++) {
        if (e->ranks[r].ended > t->finish) {
            t->finish = e->ranks[r].ended;
            t->deciding_rank = r;
        }
    }
    t->step = t->finish;
    if (e->p->n_steps > 1) {
        find_last_of_several(e, t);
    }
}

static void hand_over(ovl_engine *e, ovl_arena *scratch, ovl_timeline *t)
{
    *t = (ovl_timeline){.issue = e->issue,
                        .arrive = e->arrive,
                        .start = e->start,
                        .end = e->end,
                        .landed = e->landed,
                        .ranks = e->times};
    find_step(e, t);
    e->now = t->finish;
    ovl_account_all(e);
    if (!e->options->step_only) {
        hand_over_limits(e, t);
    }
    if (e->segments.len) {
        qsort(e->segments.data, e->segments.len, sizeof *e->segments.data, compare_segments);
    }
    t->n_trail = e->n_trail;
    t->trail = e->trail;
    t->n_segments = e->segments.len;
    t->segments = ovl_vec_freeze(&e->segments, e->arena);
    hand_over_phase_ends(e, t);
    hand_over_unmeasured(e, t);
    t->counters = (ovl_counters){.events = e->n_events,
                                 .solves = e->share.solves,
                                 .solved = e->share.solved,
                                 .heap_puts = e->heap.puts,
                                 .heap_moves = e->heap.moves,
                                 .delays = e->n_delays,
                                 .activities = e->n_activities,
                                 .activities_at_once = e->activities.len,
                                 .skipped = e->n_skipped,
                                 .bytes = e->arena->used + scratch->used + held_by_vectors(e)};
}

/* By operation: five times, three steps of the trail, what it waits for or runs as; two things that
 * bounded it, and where there are phases the ends of two. By rank, resource and activity:
 * generously. */
uint64_t ovl_run_memory(const ovl_program *program, bool step_only)
{
    const uint64_t ends = program->n_phases ? 2 * sizeof(ovl_phase_end) : 0;
    const uint64_t kept =
        5 * sizeof(ovl_time) + 3 * sizeof(uint32_t) + 2 * sizeof(ovl_limit) + ends;
    const uint64_t by_op = sizeof(uint32_t) + (step_only ? 0 : kept);
    uint64_t shared = 0; /* what is looked up in codes, where that is to be found yet */
    for (uint32_t c = 0; c < program->n_codes; c++) {
        shared += ovl_course_memory(program, &program->codes[c]);
    }
    return by_op * program->n_ops + shared + 4096 * (uint64_t)program->n_ranks +
           1024 * (uint64_t)program->n_resources + 4 * (uint64_t)program->n_collectives +
           ((uint64_t)1 << 20);
}

static bool fits(const ovl_program *program, const ovl_run_options *options, ovl_errs *errs)
{
    char need[OVL_UNITS_TEXT], may[OVL_UNITS_TEXT];
    uint64_t bytes = ovl_run_memory(program, options->step_only);
    if (!options->memory || bytes <= options->memory) {
        return true;
    }
    ovl_error(errs, OVL_E_INPUT, (ovl_mark){0},
              "the run may need %s of memory (operations: %" PRIu32 ", ranks: %" PRIu32
              "), and %s is allowed",
              ovl_print_bytes(need, bytes), program->n_ops, program->n_ranks,
              ovl_print_bytes(may, options->memory));
    return false;
}

/* Who waits for whom is told by times of operations: where none are kept the run is made again. */
static void report_deadlock(ovl_engine *e)
{
    if (!e->options->step_only) {
        ovl_deadlock_report(e);
        return;
    }
    ovl_run_options options = *e->options;
    ovl_arena arena = {0};
    ovl_timeline none;
    options.step_only = false;
    options.memory = 0;
    bool good = ovl_run(e->p, &options, &arena, &none, e->errs);
    assert(!good);
    (void)good;
    ovl_arena_free(&arena);
}

bool ovl_run(const ovl_program *program, const ovl_run_options *options, ovl_arena *arena,
             ovl_timeline *timeline, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    assert(!options->step_only || (!options->segments && !options->interval));
    if (!fits(program, options, errs)) {
        return false;
    }
    ovl_engine e = {.p = program, .options = options, .arena = arena, .errs = errs};
    set_up(&e, &scratch);
    ovl_engine_loop(&e);
    if (!e.failed && e.n_ended < program->n_ops) {
        e.failed = true;
        report_deadlock(&e);
    }
    if (!e.failed) {
        hand_over(&e, &scratch, timeline);
    }
    tear_down(&e);
    ovl_arena_free(&scratch);
    return !e.failed;
}
