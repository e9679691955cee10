#include "tools/trials.h"

#include "sim/fold.h"
#include "sim/steps.h"
#include "sim/units.h"
#include "tools/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Waits are summed in nanoseconds: of a million steps with a thousand waits of seconds the sum of
 * picoseconds would not fit. */
#define WAIT_UNIT 1000

typedef struct tally {
    uint64_t times, wait; /* wait in WAIT_UNIT */
} tally;

typedef struct team {
    ovl_trials *t;
    const ovl_vary *vary;
    ovl_interference interference;
    uint64_t memory; /* bytes a run may take */
    ovl_progress progress;
    uint32_t done;
    pthread_mutex_t lock; /* of what follows; sums do not depend on who adds first */
    uint32_t n_names;
    tally *late;               /* [names of collectives][ranks] */
    uint64_t *of;              /* [names of collectives] */
    uint32_t *members;         /* [names of collectives] */
    const uint32_t *number_of; /* [names] of collectives, else OVL_NONE */
    uint32_t failed;           /* the lowest trial that could not finish, or OVL_NONE */
} team;

/* --- One trial --- */

/* Several steps are run twice, as in ovl_analyse: which interval is the last step is known only
 * then. */
static bool run_trial(const team *m, const ovl_program *program, ovl_arena *arena,
                      ovl_program *chosen, ovl_timeline *timeline, ovl_errs *errs)
{
    ovl_fold *fold = OVL_NEW(arena, ovl_fold);
    ovl_run_options run = {
        .interference = m->interference, .no_skip = m->t->no_skip, .memory = m->memory};
    if (!ovl_fold_choose(program, m->t->no_fold, arena, fold, chosen, errs) ||
        !ovl_fold_run(program, chosen, &run, arena, timeline, errs)) {
        return false;
    }
    if (program->n_steps > 1) {
        run.interval = true;
        run.count_from = timeline->begin;
        run.count_to = timeline->begin + timeline->step;
        return ovl_fold_run(program, chosen, &run, arena, timeline, errs);
    }
    return true;
}

static ovl_time uncovered_of(const ovl_timeline *t)
{
    const ovl_time *term = t->ranks[t->deciding_rank].term;
    return term[OVL_COMM_LATENCY] + term[OVL_COMM_TRANSFER] + term[OVL_COMM_STRETCH];
}

static void keep_own(ovl_trials *t, uint32_t trial, const ovl_program *p, const ovl_timeline *line)
{
    ovl_time most = 0;
    double sum = 0;
    uint64_t n = 0;
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        ovl_time own = line->step - line->ranks[r].term[OVL_WAIT_LATE_RANK];
        most = OVL_MAX(most, own);
        sum += (double)own * ovl_rank_count(p, r);
        n += ovl_rank_count(p, r);
    }
    t->own_most[trial] = most;
    t->own_mean[trial] = n ? (ovl_time)(sum / (double)n) : 0;
}

/* Who came last to the k-th collective of a communicator. */
static void keep_late(team *m, const ovl_program *p, const ovl_timeline *line, const ovl_comm *comm,
                      uint32_t k, uint32_t count)
{
    ovl_time first = OVL_TIME_MAX, last = -1;
    uint32_t late = 0, op = ovl_collective_op(p, comm, 0, k);
    uint32_t rank = p->members[comm->first_member];
    ovl_op_range range = ovl_last_step(&p->codes[p->ranks[rank].code]);
    uint32_t local = op - p->ranks[rank].first_op;
    uint32_t name = m->number_of[ovl_op_name_id(p, op)];
    if (local < range.first || local >= range.end) {
        return;
    }
    for (uint32_t place = 0; place < comm->n_members; place++) {
        ovl_time at = line->arrive[ovl_collective_op(p, comm, place, k)];
        uint32_t number = ovl_rank_number(p, p->members[comm->first_member + place]);
        if (at > last || (at == last && number < late)) {
            last = at;
            late = number;
        }
        first = OVL_MIN(first, at);
    }
    m->of[name] += count;
    m->members[name] = OVL_MAX(m->members[name], comm->size);
    if (last > first) {
        tally *sum = &m->late[(size_t)name * m->t->world + late];
        sum->times += count;
        sum->wait += (uint64_t)(last - first) / WAIT_UNIT * count;
    }
}

static void keep_all_late(team *m, const ovl_program *p, const ovl_timeline *line)
{
    for (uint32_t c = 0; c < p->n_comms; c++) {
        uint32_t count = p->fold ? p->fold->comms.count[c] : 1;
        for (uint32_t k = 0; k < p->comms[c].n_collectives; k++) {
            keep_late(m, p, line, &p->comms[c], k, count);
        }
    }
}

static void simulate(void *context, uint32_t thread, uint32_t trial)
{
    (void)thread;
    team *m = context;
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_program chosen, program = ovl_vary_trial(m->vary, trial, &arena);
    ovl_timeline line;
    bool good = run_trial(m, &program, &arena, &chosen, &line, &errs);
    if (good) {
        m->t->step[trial] = line.step;
        m->t->uncovered[trial] = uncovered_of(&line);
        keep_own(m->t, trial, &chosen, &line);
    }
    pthread_mutex_lock(&m->lock);
    if (good) {
        keep_all_late(m, &chosen, &line);
    } else {
        m->failed = OVL_MIN(m->failed, trial);
    }
    pthread_mutex_unlock(&m->lock);
    ovl_arena_free(&arena);
}

static void done(void *context, uint32_t trial)
{
    (void)trial;
    ((team *)context)->done++;
}

static void tick(void *context)
{
    team *m = context;
    ovl_progress_at(&m->progress, m->done);
}

/* --- Late ranks --- */

static int more_often(const void *a, const void *b)
{
    const ovl_late *x = a, *y = b;
    if (x->times != y->times) {
        return x->times < y->times ? 1 : -1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int longer_wait(const void *a, const void *b)
{
    const ovl_late *x = a, *y = b;
    if (x->wait != y->wait) {
        return x->wait < y->wait ? 1 : -1;
    }
    return strcmp(x->name, y->name);
}

static ovl_time mean_wait(uint64_t wait, uint64_t times)
{
    return times ? (ovl_time)(wait / times * WAIT_UNIT) : 0;
}

static void sum_ranks(team *m, ovl_arena *arena)
{
    ovl_trials *t = m->t;
    ovl_late *rows = OVL_NEW_ARRAY(arena, ovl_late, t->world);
    uint64_t of = 0;
    for (uint32_t i = 0; i < m->n_names; i++) {
        of += m->of[i];
    }
    for (uint32_t r = 0; r < t->world; r++) {
        tally sum = {0};
        for (uint32_t i = 0; i < m->n_names; i++) {
            sum.times += m->late[(size_t)i * t->world + r].times;
            sum.wait += m->late[(size_t)i * t->world + r].wait;
        }
        if (sum.times) {
            rows[t->n_ranks++] = (ovl_late){
                .rank = r, .times = sum.times, .of = of, .wait = mean_wait(sum.wait, sum.times)};
        }
    }
    qsort(rows, t->n_ranks, sizeof *rows, more_often);
    t->ranks = rows;
}

static void sum_names(team *m, const ovl_program *p, const ovl_id *names, ovl_arena *arena)
{
    ovl_trials *t = m->t;
    ovl_late *rows = OVL_NEW_ARRAY(arena, ovl_late, m->n_names);
    for (uint32_t i = 0; i < m->n_names; i++) {
        ovl_late row = {.of = m->of[i], .members = m->members[i]};
        uint64_t wait = 0;
        for (uint32_t r = 0; r < t->world; r++) {
            tally one = m->late[(size_t)i * t->world + r];
            row.ranks += one.times > 0;
            row.all += one.times;
            wait += one.wait;
            if (one.times > row.times) {
                row.times = one.times;
                row.rank = r;
            }
        }
        if (row.all) {
            row.wait = mean_wait(wait, row.all);
            row.name = ovl_names_copy(p->names, names[i], arena);
            rows[t->n_names++] = row;
        }
    }
    qsort(rows, t->n_names, sizeof *rows, longer_wait);
    t->names = rows;
}

/* --- All of them --- */

/* Numbers the names of collectives. */
static ovl_id *find_names(team *m, const ovl_program *p, ovl_arena *arena)
{
    ovl_id most = 0;
    for (uint32_t c = 0; c < p->n_codes; c++) {
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            most = OVL_MAX(most, p->codes[c].name[i]);
        }
    }
    uint32_t *number_of = OVL_NEW_ARRAY(arena, uint32_t, (size_t)most + 1);
    ovl_id *names = OVL_NEW_ARRAY(arena, ovl_id, (size_t)most + 1);
    memset(number_of, 0xff, ((size_t)most + 1) * sizeof *number_of);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            ovl_id name = p->codes[c].name[i];
            bool collective = ovl_code_op(&p->codes[c], i)->kind == OVL_COLLECTIVE;
            if (collective && number_of[name] == OVL_NONE) {
                names[m->n_names] = name;
                number_of[name] = m->n_names++;
            }
        }
    }
    m->number_of = number_of;
    m->late = OVL_NEW_ARRAY(arena, tally, (size_t)m->n_names * p->n_ranks);
    m->of = OVL_NEW_ARRAY(arena, uint64_t, m->n_names);
    m->members = OVL_NEW_ARRAY(arena, uint32_t, m->n_names);
    return names;
}

/* Behind everything else a pause would only lengthen the step up to itself. */
static bool pauses_within(const ovl_pause_process *p, ovl_time finish, ovl_errs *errs)
{
    char a[OVL_UNITS_TEXT], b[OVL_UNITS_TEXT];
    ovl_time latest = p->has_until ? OVL_MAX(p->from, p->until) : p->from;
    if (p->given && p->period && latest > 0 && latest >= finish) {
        ovl_error(errs, OVL_E_INPUT, p->mark,
                  "a pause at %s would come after the step, which ends at %s; one that begins with "
                  "the next step has no from",
                  ovl_print_time(a, latest), ovl_print_time(b, finish));
    }
    return errs->count == 0;
}

static bool run_nominal(team *m, const ovl_program *p, ovl_errs *errs)
{
    ovl_arena arena = {0};
    ovl_program chosen;
    ovl_timeline line;
    bool good = run_trial(m, p, &arena, &chosen, &line, errs);
    if (good) {
        m->t->nominal = line.step;
        m->t->nominal_uncovered = uncovered_of(&line);
        good = pauses_within(&m->vary->variation->pauses, line.finish, errs);
    }
    ovl_arena_free(&arena);
    return good;
}

/* What went wrong in a trial, told as if it were the only one. */
static void tell_failure(team *m, ovl_errs *errs)
{
    ovl_arena arena = {0};
    ovl_program chosen, program = ovl_vary_trial(m->vary, m->failed, &arena);
    ovl_timeline line;
    run_trial(m, &program, &arena, &chosen, &line, errs);
    ovl_error(errs, OVL_E_INPUT, (ovl_mark){0}, "this was in trial %" PRIu32, m->failed);
    ovl_arena_free(&arena);
}

static bool run_pool(team *m, ovl_work *work)
{
    ovl_trials *t = m->t;
    ovl_pool pool = {.threads = t->threads,
                     .n = t->n,
                     .context = m,
                     .work = simulate,
                     .done = done,
                     .tick = tick};
    pthread_mutex_init(&m->lock, NULL);
    ovl_progress_begin(&m->progress, work->shell->err, "trials", t->n);
    ovl_pool_end end = ovl_pool_run(&pool);
    ovl_progress_end(&m->progress);
    pthread_mutex_destroy(&m->lock);
    if (end.signal) {
        ovl_error(&work->errs, OVL_E_STOPPED, (ovl_mark){0},
                  "stopped after %" PRIu32 " of %" PRIu32 " trials", end.done, t->n);
    } else if (m->failed != OVL_NONE) {
        tell_failure(m, &work->errs);
    }
    return !end.signal && m->failed == OVL_NONE;
}

bool ovl_trials_run(ovl_work *work, const ovl_prepared *prepared, ovl_trials *t)
{
    ovl_arena scratch = {0};
    const ovl_program *p = &prepared->lowered.program;
    ovl_vary vary;
    uint32_t threads = t->threads ? t->threads : ovl_pool_cores();
    team m = {.t = t,
              .vary = &vary,
              .interference = (ovl_interference)prepared->scenario.interference,
              .memory = ovl_lookout_memory() / threads,
              .failed = OVL_NONE};
    ovl_vary_prepare(&vary, p, &prepared->scenario.variation, prepared->lowered.laws, t->seed,
                     &scratch);
    t->scenario = prepared->scenario.name;
    t->variant = prepared->scenario.variant;
    t->interference = ovl_interference_name(m.interference);
    t->world = p->n_ranks;
    t->step = OVL_NEW_ARRAY(&work->arena, ovl_time, t->n);
    t->uncovered = OVL_NEW_ARRAY(&work->arena, ovl_time, t->n);
    t->own_mean = OVL_NEW_ARRAY(&work->arena, ovl_time, t->n);
    t->own_most = OVL_NEW_ARRAY(&work->arena, ovl_time, t->n);
    const ovl_id *names = find_names(&m, p, &scratch);
    bool good = run_nominal(&m, p, &work->errs) && run_pool(&m, work);
    if (good) {
        sum_ranks(&m, &work->arena);
        sum_names(&m, p, names, &work->arena);
    }
    ovl_arena_free(&scratch);
    return good;
}
