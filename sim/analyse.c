/*
 * analyse.c - from a program to a result: runs it, asks every analysis, and puts the answers
 * together.
 */
#include "sim/actions.h"
#include "sim/fold.h"
#include "sim/gradflow.h"
#include "sim/hazard.h"
#include "sim/hostload.h"
#include "sim/idle.h"
#include "sim/memory.h"
#include "sim/steps.h"
#include "sim/sums.h"
#include "sim/usage.h"
#include "sim/worth.h"

typedef struct analysis {
    const ovl_program *p;
    const ovl_analyse_options *options;
    ovl_arena *arena, *scratch;
    ovl_result *out;
    ovl_timeline *t;
    ovl_causes causes;
    ovl_classes classes;
    ovl_feeds *feeds; /* by code */
    ovl_path path;
    ovl_rows rows;      /* while they are made */
    ovl_time unchanged; /* step of a replay without its what-ifs; 0: it has none */
} analysis;

static const char *keep(const analysis *a, const char *text)
{
    return text ? ovl_arena_strdup(a->arena, text) : NULL;
}

/* --- Ranks --- */

static uint32_t count_startups(const ovl_code *code)
{
    uint32_t n = 0;
    ovl_op_range step = ovl_last_step(code);
    for (uint32_t i = step.first; i < step.end; i++) {
        n += ovl_is_communication(ovl_code_op(code, i)) && ovl_code_batch(code, i) == OVL_NONE;
    }
    return n;
}

/* When the rank's last operation ended; of several steps, when the last ended on it. */
static ovl_time end_of_rank(const analysis *a, uint32_t rank)
{
    uint32_t steps = a->p->codes[a->p->ranks[rank].code].n_steps;
    bool several = a->p->n_steps > 1 && steps == a->p->n_steps;
    ovl_time end = several ? ovl_end_of_step(a->p, a->t, rank, steps - 1) : a->t->ranks[rank].end;
    return end - a->t->begin;
}

static void make_ranks(analysis *a)
{
    ovl_result_rank *ranks = OVL_NEW_ARRAY(a->arena, ovl_result_rank, a->classes.n);
    for (uint32_t i = 0; i < a->classes.n; i++) {
        ovl_result_rank *row = &ranks[i];
        row->rank = a->classes.rank[i];
        row->count = a->classes.count[i];
        const ovl_rank_times *times = &a->t->ranks[row->rank];
        memcpy(row->term, times->term, sizeof row->term);
        row->hidden_comm = times->hidden;
        row->hidden_comm_stretch = times->hidden_stretch;
        row->end = end_of_rank(a, row->rank);
        row->startups = count_startups(&a->p->codes[a->p->ranks[row->rank].code]);
        ovl_memory_find(a->p, a->t, a->arena, row);
        if (a->options->memory_lines) {
            ovl_memory_lines(a->p, a->t, a->arena, row);
        }
        ovl_host_load_find(a->p, a->t, row);
    }
    ovl_idle_find(&a->causes, &a->classes, &(ovl_idle_ask){a->options->gaps, a->options->watch},
                  a->arena, ranks, &a->out->idle);
    for (uint32_t i = 0; i < a->classes.n; i++) {
        ranks[i].rank = ovl_rank_number(a->p, ranks[i].rank); /* as the user knows it */
    }
    a->out->ranks = ranks;
    a->out->n_ranks = a->classes.n;
}

/* --- Communication --- */

static void make_feeds(analysis *a)
{
    a->feeds = OVL_NEW_ARRAY(a->scratch, ovl_feeds, a->p->n_codes);
    for (uint32_t c = 0; c < a->p->n_codes; c++) {
        ovl_feeds_find(a->p, &a->p->codes[c], a->scratch, &a->feeds[c]);
    }
}

static bool on_path(const analysis *a, const ovl_row *row)
{
    uint32_t first = a->p->ranks[row->out.rank].first_op;
    return row->dep.consumer == OVL_NONE || a->path.on[first + row->dep.consumer];
}

static ovl_time use_time(const analysis *a, const ovl_row *row)
{
    return row->out.first_use == OVL_NEVER ? a->t->step : row->out.first_use;
}

/* Does `row` explain the step better than `best`? One that was waited for, then one whose consumer
 * is on the critical path, then the later consumer, then the one it waited for longest. */
static bool explains_better(const analysis *a, const ovl_row *row, const ovl_row *best)
{
    bool waited = row->out.exposed > 0 && on_path(a, row);
    bool best_waited = best->out.exposed > 0 && on_path(a, best);
    if (waited != best_waited) {
        return waited;
    }
    if (on_path(a, row) != on_path(a, best)) {
        return on_path(a, row);
    }
    ovl_time use = use_time(a, row), best_use = use_time(a, best);
    return use != best_use ? use > best_use : row->out.end > best->out.end;
}

static const ovl_row *deciding_row(const analysis *a)
{
    const ovl_row *best = NULL;
    for (uint32_t i = 0; i < a->rows.len; i++) {
        const ovl_row *row = &a->rows.data[i];
        bool counts = row->out.rank == a->t->deciding_rank && row->out.end <= a->t->step;
        if (counts && (!best || explains_better(a, row, best))) {
            best = row;
        }
    }
    return best;
}

static void make_equation(analysis *a, const ovl_row *row)
{
    ovl_result_equation *e = &a->out->equation;
    const ovl_result_collective *c = &row->out;
    *e = (ovl_result_equation){.present = true,
                               .collective = c->name,
                               .consumer = c->consumer,
                               .u_path = c->u_path,
                               .exposed = c->exposed,
                               .after = a->t->step - OVL_MAX(c->end, c->u_path),
                               .u_variant = c->u_variant,
                               .interference = c->interference};
}

static double mean_busbw(const analysis *a)
{
    double time = 0, moved = 0;
    for (uint32_t i = 0; i < a->rows.len; i++) {
        const ovl_result_collective *c = &a->rows.data[i].out;
        if (c->rank == a->t->deciding_rank && c->busbw >= 0) {
            time += (double)(c->end - c->start);
            moved += (double)(c->end - c->start) * c->busbw;
        }
    }
    return time > 0 ? moved / time : -1;
}

/* Without communication there are no rows, and nobody asks for slack. */
static bool communicates(const ovl_program *p)
{
    for (uint32_t c = 0; c < p->n_codes; c++) {
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            if (ovl_is_communication(ovl_code_op(&p->codes[c], i))) {
                return true;
            }
        }
    }
    return false;
}

static void make_rows(analysis *a)
{
    ovl_arena scratch = {0};
    const ovl_time *slack = communicates(a->p) ? ovl_slack(&a->causes, &scratch) : NULL;
    ovl_row_sources sources = {&a->causes, &a->classes, a->feeds, &a->path, slack};
    a->rows = ovl_rows_make(&sources, a->arena);
    ovl_arena_free(&scratch);
    const ovl_row *decides = deciding_row(a);
    ovl_together together = ovl_worth_find(&a->causes, a->feeds, a->options,
                                           decides ? decides->name : OVL_NONE, &a->rows, a->arena);
    a->out->together = together.item;
    a->out->n_together = together.n;
    if (decides) {
        make_equation(a, decides);
    }
    a->out->mean_busbw = mean_busbw(a);
    uint32_t n = a->rows.len;
    ovl_result_collective *out = ovl_rows_told(&a->rows, a->arena);
    for (uint32_t i = 0; i < n; i++) {
        out[i].rank = ovl_rank_number(a->p, out[i].rank);
    }
    a->out->collectives = out;
    a->out->n_collectives = n;
}

/* --- Totals --- */

/* Whether a rank is nearer to what its GPU has, or further beyond it. */
static bool fuller(const ovl_result_rank *r, const ovl_result *than)
{
    return than->memory_limit + r->reserved_peak > r->memory_limit + than->reserved_peak;
}

/* The rank that needs most against what its GPU has. */
static void find_memory(analysis *a)
{
    ovl_result *out = a->out;
    for (uint32_t i = 0; i < out->n_ranks; i++) {
        const ovl_result_rank *r = &out->ranks[i];
        if (r->has_memory && (!out->has_memory || fuller(r, out))) {
            out->has_memory = true;
            out->reserved_peak = r->reserved_peak;
            out->memory_limit = r->memory_limit;
            out->fullest_rank = r->rank;
            out->allocation_retries = r->retries;
            out->failure = r->failure;
        }
    }
    out->exact_memory = a->p->rounding == OVL_ROUNDING_NONE;
}

static void make_steps(analysis *a)
{
    uint32_t n = a->p->n_steps, rank = a->t->deciding_rank;
    a->out->n_steps = OVL_MAX(n, 1);
    if (n < 2) {
        return;
    }
    ovl_time *times = OVL_NEW_ARRAY(a->arena, ovl_time, n), before = 0;
    for (uint32_t k = 0; k < n; k++) {
        ovl_time end = ovl_end_of_step(a->p, a->t, rank, k);
        times[k] = end - before;
        before = end;
    }
    a->out->step_times = times;
}

static void make_totals(analysis *a)
{
    ovl_result *out = a->out;
    const ovl_rank_times *times = &a->t->ranks[a->t->deciding_rank];
    out->n_ranks_simulated = a->p->fold ? a->p->fold->whole->n_ranks : a->p->n_ranks;
    out->n_folded = a->p->fold ? a->p->n_ranks : 0;
    out->step = a->t->step;
    out->deciding_rank = a->p->n_ranks ? ovl_rank_number(a->p, a->t->deciding_rank) : 0;
    memcpy(out->term, times->term, sizeof out->term);
    out->hidden_comm = times->hidden;
    out->hidden_comm_stretch = times->hidden_stretch;
    out->comm_uncovered = times->term[OVL_COMM_LATENCY] + times->term[OVL_COMM_TRANSFER] +
                          times->term[OVL_COMM_STRETCH];
    out->comm_total = out->hidden_comm + out->comm_uncovered;
    if (a->p->n_ranks) {
        out->startups = count_startups(&a->p->codes[a->p->ranks[a->t->deciding_rank].code]);
    }
}

/* Changes come in order of time. */
static bool capacity_changes(const analysis *a)
{
    return a->p->n_changes && a->p->changes[0].time < a->t->begin + a->t->step;
}

static void find_price_of_interference(analysis *a)
{
    a->out->without_interference = a->t->step;
    if (a->options->interference == OVL_INTERFERENCE_NONE) {
        return;
    }
    a->out->degraded = capacity_changes(a);
    ovl_run_options options = {.interference = OVL_INTERFERENCE_NONE,
                               .step_only = true,
                               .no_skip = a->options->no_skip,
                               .watch = a->options->watch};
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_timeline alone;
    if (ovl_run(a->p, &options, &arena, &alone, &errs)) {
        a->out->without_interference = alone.step;
    }
    ovl_arena_free(&arena);
}

/* --- What held operations back --- */

static int compare_limit_names(const void *a, const void *b)
{
    const ovl_result_limit *x = a, *y = b;
    int ops = strcmp(x->op, y->op);
    return ops ? ops : strcmp(x->bound, y->bound);
}

static int compare_limit_lost(const void *a, const void *b)
{
    const ovl_result_limit *x = a, *y = b;
    if (x->lost != y->lost) {
        return x->lost > y->lost ? -1 : 1;
    }
    return compare_limit_names(a, b);
}

typedef OVL_VEC(ovl_result_limit) limits;

static void collect_limits(const analysis *a, limits *list)
{
    const ovl_rank *rank = &a->p->ranks[a->t->deciding_rank];
    ovl_op_range step = ovl_last_step(&a->p->codes[rank->code]);
    for (uint32_t op = rank->first_op + step.first; op < rank->first_op + step.end; op++) {
        uint32_t from = ovl_limits_carrier(&a->causes, op);
        for (uint32_t i = ovl_limits_first(a->t, from);
             i < a->t->n_limits && a->t->limits[i].op == from; i++) {
            const ovl_limit *l = &a->t->limits[i];
            const char *name = ovl_names_text(a->p->names, ovl_causes_name(&a->causes, op));
            ovl_vec_push(
                list, (ovl_result_limit){name, ovl_limit_name(a->p, l->bound), l->time, l->lost});
        }
    }
}

/* Equal (name, bound) become one. */
static void merge_limits(limits *list)
{
    uint32_t n = 0;
    qsort(list->data, list->len, sizeof *list->data, compare_limit_names);
    for (uint32_t i = 0; i < list->len; i++) {
        if (n && compare_limit_names(&list->data[n - 1], &list->data[i]) == 0) {
            ovl_result_limit *sum = &list->data[n - 1];
            sum->time = ovl_sum_add(sum->time, list->data[i].time);
            sum->lost = ovl_sum_add(sum->lost, list->data[i].lost);
        } else {
            list->data[n++] = list->data[i];
        }
    }
    list->len = n;
    qsort(list->data, n, sizeof *list->data, compare_limit_lost);
}

static void make_limits(analysis *a)
{
    limits list = {0};
    if (a->p->n_ranks) {
        collect_limits(a, &list);
    }
    if (list.len) {
        merge_limits(&list);
    }
    for (uint32_t i = 0; i < list.len; i++) {
        list.data[i].op = keep(a, list.data[i].op);
        list.data[i].bound = keep(a, list.data[i].bound);
    }
    a->out->n_limits = list.len;
    a->out->limits = ovl_vec_freeze(&list, a->arena);
}

/* Who met whom on which instance is asked of the whole program as long as it is not too large. */
static void make_usage(analysis *a)
{
    if (a->options->no_usage) {
        return;
    }
    if (!a->p->fold || !a->p->fold->whole->numbered) {
        ovl_usage_find(&a->causes, &a->classes, a->arena, a->out);
        return;
    }
    ovl_arena scratch = {0};
    ovl_timeline t;
    ovl_classes classes;
    ovl_causes causes;
    ovl_unfold(a->p, a->t, &scratch, &t);
    ovl_classes_find(a->p->fold->whole, &t, &scratch, &classes);
    ovl_causes_init(&causes, a->p->fold->whole, &t, &scratch);
    ovl_usage_find(&causes, &classes, a->arena, a->out);
    ovl_causes_free(&causes);
    ovl_arena_free(&scratch);
}

/* --- Correctness, and what is left out --- */

static void make_hazards(analysis *a)
{
    ovl_hazards hazards = {0};
    ovl_gradients gradients;
    ovl_races_checked checked;
    ovl_races_find(&a->causes, a->arena, &hazards, &checked);
    a->out->accesses_checked = checked.accesses;
    a->out->reuses_checked = checked.reuses;
    ovl_gradients_follow(&a->causes, a->arena, &hazards, &gradients);
    for (uint32_t c = 0; c < a->p->n_codes; c++) {
        a->out->hazards_checked |= a->p->codes[c].n_buffers > 0;
    }
    for (uint32_t i = 0; i < hazards.len; i++) {
        hazards.data[i].mark.file = keep(a, hazards.data[i].mark.file);
    }
    a->out->gradients_proved = gradients.proved;
    a->out->gradient_scale = gradients.scale;
    a->out->gradient_digest = gradients.digest;
    a->out->n_hazards = hazards.len;
    a->out->hazards = ovl_vec_freeze(&hazards, a->arena);
}

static void make_not_modelled(analysis *a)
{
    uint32_t n = a->options->n_not_modelled;
    const char **list = OVL_NEW_ARRAY(a->arena, const char *, n + a->t->n_unmeasured + 1);
    for (uint32_t i = 0; i < n; i++) {
        list[i] = keep(a, a->options->not_modelled[i]);
    }
    for (uint32_t i = 0; i < a->t->n_unmeasured; i++) {
        const ovl_unmeasured *u = &a->t->unmeasured[i];
        list[n++] = ovl_arena_printf(
            a->arena,
            "The interference of kernels \"%s\" with collectives \"%s\" was not measured: %s.",
            ovl_names_text(a->p->names, a->p->kernel_classes[u->kernel]),
            ovl_names_text(a->p->names, a->p->coll_classes[u->collective]),
            a->options->measured ? "what it cost stays in the recorded durations"
                                 : "they share SMs, HBM and links as under `shared`");
    }
    if (a->out->allocation_retries) {
        list[n++] =
            "The time of allocation retries is not modelled: before each the host waits for "
            "the GPU, then frees and allocates memory.";
    }
    a->out->not_modelled = list;
    a->out->n_not_modelled = n;
    a->out->microbatches = a->options->microbatches;
    a->out->rank_microbatches = a->options->rank_microbatches;
}

/* --- The whole --- */

static bool is_dependency_name(const ovl_program *p, const char *name)
{
    ovl_id id = ovl_names_find(p->names, name);
    for (uint32_t c = 0; id != OVL_NONE && c < p->n_codes; c++) {
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            if (p->codes[c].name[i] == id && ovl_is_dependency(ovl_code_op(&p->codes[c], i))) {
                return true;
            }
        }
    }
    return false;
}

static bool check_options(const ovl_program *p, const ovl_analyse_options *options, ovl_errs *errs)
{
    if (options->worth == OVL_WORTH_NAME && !is_dependency_name(p, options->worth_name)) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                  "no collective or receive is named \"%s\", so its worth cannot be found",
                  options->worth_name);
        return false;
    }
    return true;
}

static void part(const analysis *a, const char *what)
{
    ovl_watch_part(a->options->watch, what);
}

static void make_replay(analysis *a)
{
    if (a->options->measured) {
        a->out->replay = ovl_measured_compare(a->p, a->t, a->options->measured,
                                              a->unchanged ? a->unchanged : a->t->step, a->arena);
    }
}

static void analyse(analysis *a)
{
    a->out->scenario = keep(a, a->options->scenario);
    a->out->variant = keep(a, a->options->variant ? a->options->variant : "base");
    a->out->description = keep(a, a->options->description);
    a->out->interference = ovl_interference_name(a->options->interference);
    a->out->in_steps = a->p->in_steps;
    a->out->useful = a->options->useful;
    a->out->has_stats = a->options->stats;
    a->out->stats =
        (ovl_result_stats){a->t->counters, a->p->n_ops, a->p->n_ranks, ovl_run_memory(a->p, false)};
    part(a, "comparing ranks");
    ovl_classes_find(a->p, a->t, a->scratch, &a->classes);
    ovl_causes_init(&a->causes, a->p, a->t, a->scratch);
    part(a, "finding the critical path");
    ovl_critical_path(&a->causes, &a->classes, a->arena, a->scratch, &a->path);
    a->out->path = a->path.items;
    a->out->n_path = a->path.n;
    make_feeds(a);
    part(a, "finding exposed communication");
    make_rows(a);
    make_totals(a);
    make_steps(a);
    part(a, "finding memory, hosts and idle time");
    make_ranks(a);
    ovl_actions_find(a->p, a->t, &a->classes, a->arena, a->out);
    find_memory(a);
    part(a, "finding what used resources");
    make_limits(a);
    make_usage(a);
    part(a, "looking for hazards");
    make_hazards(a);
    make_not_modelled(a);
    part(a, "asking what interference costs");
    find_price_of_interference(a);
    ovl_host_bound_find(a->p, a->t, a->options, &a->out->host);
    make_replay(a);
    ovl_causes_free(&a->causes);
}

/* Which interval is the last step is known only after a run: of several steps a second run counts
 * it. */
static bool run_steps(const ovl_program *program, const ovl_program *chosen,
                      const ovl_analyse_options *options, ovl_arena *arena, bool segments,
                      ovl_timeline *timeline, ovl_errs *errs)
{
    ovl_run_options run = {.interference = options->interference,
                           .segments = segments,
                           .no_skip = options->no_skip,
                           .watch = options->watch,
                           .memory = options->memory};
    ovl_watch_part(options->watch, "preparing the simulation");
    if (program->n_steps > 1) {
        ovl_arena first = {0};
        run.segments = false;
        bool good = ovl_fold_run(program, chosen, &run, &first, timeline, errs);
        run.segments = segments;
        run.interval = true;
        run.count_from = timeline->begin;
        run.count_to = timeline->begin + timeline->step;
        ovl_arena_free(&first);
        if (!good) {
            return false;
        }
    }
    return ovl_fold_run(program, chosen, &run, arena, timeline, errs);
}

/* A replay with what-ifs is as predictive as it is without them. */
static bool run_unchanged(const ovl_analyse_options *options, ovl_time *step, ovl_errs *errs)
{
    const ovl_program *program = options->measured ? options->measured->unchanged : NULL;
    ovl_run_options run = {
        .interference = options->interference, .watch = options->watch, .memory = options->memory};
    ovl_arena scratch = {0};
    ovl_timeline timeline = {0};
    bool good = !program || ovl_run(program, &run, &scratch, &timeline, errs);
    *step = timeline.step;
    ovl_arena_free(&scratch);
    return good;
}

bool ovl_analyse(const ovl_program *program, const ovl_analyse_options *options, ovl_arena *arena,
                 ovl_result *result, ovl_timeline *kept, ovl_errs *errs)
{
    if (!check_options(program, options, errs)) {
        return false;
    }
    ovl_arena scratch = {0};
    ovl_fold fold;
    ovl_program chosen;
    ovl_timeline timeline;
    ovl_time unchanged = 0;
    ovl_watch_part(options->watch, "finding ranks alike");
    bool no_fold = options->no_fold || options->measured; /* each rank was measured by itself */
    bool good = ovl_fold_choose(program, no_fold, &scratch, &fold, &chosen, errs) &&
                run_steps(program, &chosen, options, kept ? arena : &scratch, kept != NULL,
                          &timeline, errs) &&
                run_unchanged(options, &unchanged, errs);
    if (good) {
        *result = (ovl_result){0};
        analysis a = {.p = &chosen,
                      .options = options,
                      .arena = arena,
                      .scratch = &scratch,
                      .out = result,
                      .t = &timeline,
                      .unchanged = unchanged};
        (options->only_measured ? make_replay : analyse)(&a);
    }
    if (good && kept) {
        assert(program->numbered);
        *kept = timeline;
        if (chosen.fold) {
            ovl_unfold(&chosen, &timeline, arena, kept);
        }
    }
    ovl_arena_free(&scratch);
    return good;
}
