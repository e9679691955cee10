#include "models/vary.h"

#include "sim/rewrite.h"

#include <math.h>
#include <string.h>

/* --- Which operation varies how --- */

bool ovl_name_fits(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            from = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == 0;
}

static const ovl_jitter *given(const ovl_jitter *jitter)
{
    return jitter->given ? jitter : NULL;
}

/* What the duration itself says. */
static const ovl_jitter *of_duration(const ovl_vary *vary, const ovl_op *op)
{
    uint32_t law = ovl_kind_of(vary->program, &vary->program->costs[op->cost])->law;
    return law ? &vary->laws[law - 1]->jitter : NULL;
}

static const ovl_jitter *of_kind(const ovl_variation *v, const ovl_op *op)
{
    switch (op->kind) {
    case OVL_KERNEL:
        return given(&v->kernels);
    case OVL_COLLECTIVE:
    case OVL_SEND:
        return given(&v->collectives);
    case OVL_COPY:
        return given(&v->copies);
    case OVL_HOST:
        return given(&v->host);
    default:
        return NULL; /* a receive varies with its send; the rest takes no time of its own */
    }
}

static const ovl_jitter *of_name(const ovl_variation *v, const char *name)
{
    for (uint32_t i = v->ops.count; i > 0; i--) {
        const ovl_jitter *jitter = OVL_ITEM(v->ops, ovl_jitter, i - 1);
        if (ovl_name_fits(jitter->op, name)) {
            return jitter;
        }
    }
    return NULL;
}

/* FNV-1a. */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    while (*text) {
        hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static bool takes_time(const ovl_op *op)
{
    return op->kind == OVL_KERNEL || op->kind == OVL_COLLECTIVE || op->kind == OVL_SEND ||
           op->kind == OVL_COPY || op->kind == OVL_HOST;
}

static void prepare_code(ovl_vary *vary, const ovl_code *code, ovl_varied_op *ops, uint32_t *seen)
{
    const ovl_names *names = vary->program->names;
    const ovl_variation *v = vary->variation;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        const ovl_op *op = ovl_code_op(code, i);
        const char *name = OVL_NAME(names, code->name[i]);
        const ovl_jitter *named = takes_time(op) ? of_name(v, name) : NULL;
        ops[i].pause = v->pauses.given && strcmp(name, OVL_PAUSE_NAME) == 0;
        const ovl_jitter *own = takes_time(op) ? of_duration(vary, op) : NULL;
        const ovl_jitter *fits = named ? named : own ? own : of_kind(v, op);
        ops[i].work = ops[i].pause ? NULL : fits;
        ops[i].launch = op->launch > 0 ? given(&v->host) : NULL;
        ops[i].key = ovl_hash_pair(hash_text(name), seen[code->name[i]]++);
        vary->launches |= ops[i].launch != NULL;
    }
    for (uint32_t i = 0; i < code->n_ops; i++) {
        seen[code->name[i]] = 0;
    }
}

static uint32_t count_names(const ovl_program *p)
{
    ovl_id most = 0;
    for (uint32_t c = 0; c < p->n_codes; c++) {
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            most = OVL_MAX(most, p->codes[c].name[i]);
        }
    }
    return most + 1;
}

void ovl_vary_prepare(ovl_vary *vary, const ovl_program *program, const ovl_variation *variation,
                      const ovl_law *const *laws, uint64_t seed, ovl_arena *arena)
{
    const ovl_program *p = program;
    uint32_t *place = OVL_NEW_ARRAY(arena, uint32_t, p->n_ranks);
    uint32_t *ranks_of = OVL_NEW_ARRAY(arena, uint32_t, p->n_codes);
    uint32_t *seen = OVL_NEW_ARRAY(arena, uint32_t, count_names(p));
    assert(!p->fold);
    *vary = (ovl_vary){.program = p, .variation = variation, .laws = laws, .seed = seed};
    vary->ops = OVL_NEW_ARRAY(arena, const ovl_varied_op *, p->n_codes);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        ovl_varied_op *ops = OVL_NEW_ARRAY(arena, ovl_varied_op, p->codes[c].n_ops);
        prepare_code(vary, &p->codes[c], ops, seen);
        vary->ops[c] = ops;
    }
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        place[r] = ranks_of[p->ranks[r].code]++;
    }
    vary->place = place;
    vary->ranks_of = ranks_of;
}

/* --- Draws --- */

/* A time in whole picoseconds; far beyond what can be told apart the run says that time overflows.
 */
static ovl_time whole(double t)
{
    const ovl_time most = OVL_TIME_MAX / 4;
    return t < (double)most ? (ovl_time)floor(t + 0.5) : most;
}

static double draw(const ovl_vary *vary, const ovl_jitter *jitter, uint64_t trial, uint32_t rank,
                   uint64_t key)
{
    uint64_t hash = ovl_hash_pair(ovl_hash_pair(vary->seed, trial), ovl_hash_pair(rank, key));
    return ovl_draw(&jitter->law, ovl_hash_share(hash));
}

bool ovl_vary_pauses(const ovl_vary *vary, uint64_t trial, uint32_t rank)
{
    const ovl_pause_process *pauses = &vary->variation->pauses;
    uint64_t period = pauses->given ? (uint64_t)pauses->period : 0, phase = 0;
    if (period && pauses->phase == OVL_PAUSE_STAGGERED) {
        uint64_t key = hash_text(OVL_PAUSE_NAME);
        uint64_t hash =
            ovl_hash_pair(ovl_hash_pair(vary->seed, trial / period), ovl_hash_pair(rank, key));
        phase = hash % period;
    }
    return period && trial % period == phase;
}

ovl_time ovl_vary_pause_moment(const ovl_vary *vary, uint64_t trial, uint32_t rank)
{
    const ovl_pause_process *p = &vary->variation->pauses;
    if (!p->has_until) {
        return p->from;
    }
    uint32_t drawer = p->phase == OVL_PAUSE_ALIGNED ? 0 : rank;
    uint64_t key = ovl_hash_pair(hash_text(OVL_PAUSE_NAME), 1); /* not the draw of its phase */
    uint64_t hash = ovl_hash_pair(ovl_hash_pair(vary->seed, trial), ovl_hash_pair(drawer, key));
    return p->from + whole((double)(p->until - p->from) * ovl_hash_share(hash));
}

static void scale(ovl_cost *cost, double factor)
{
    cost->latency = whole((double)cost->latency * factor);
    cost->work = whole((double)cost->work * factor);
    cost->compute = OVL_MIN(whole((double)cost->compute * factor), cost->work);
}

typedef OVL_VEC(ovl_cost) phases;

/* Those of a trial behind the ones there are; what cost->then is to say. */
static ovl_id add_phases(const ovl_program *p, const ovl_cost *first, double factor, phases *list)
{
    ovl_id then = 0;
    for (uint32_t i = ovl_count_phases(p, first); i > 0; i--) {
        ovl_cost phase = *ovl_phase_of(p, first, i - 1);
        scale(&phase, factor);
        phase.then = then;
        ovl_vec_push(list, phase);
        then = list->len;
    }
    return then;
}

/* All phases of a collective are drawn as one. */
static void scale_all(const ovl_program *p, ovl_cost *cost, const ovl_jitter *jitter, double drawn,
                      phases *list)
{
    ovl_time total = ovl_cost_time(p, cost);
    if (jitter->absolute && total == 0) {
        cost->work = whole(drawn);
        return;
    }
    double factor = jitter->absolute ? drawn / (double)total : drawn;
    const ovl_cost *next = ovl_next_phase(p, cost);
    scale(cost, factor);
    if (next) {
        cost->then = add_phases(p, next, factor, list);
    }
}

/* Whose draw it is: all members of a collective take one. */
static uint32_t drawer(const ovl_program *p, uint32_t rank, const ovl_op *op)
{
    if (op->kind != OVL_COLLECTIVE) {
        return rank;
    }
    const ovl_comm *comm = ovl_rank_comm(p, rank, op->comm);
    uint32_t lowest = rank;
    for (uint32_t i = 0; i < comm->n_members; i++) {
        lowest = OVL_MIN(lowest, p->members[comm->first_member + i]);
    }
    return lowest;
}

static ovl_cost cost_of(const ovl_vary *vary, uint64_t trial, uint32_t rank, uint32_t local,
                        phases *list)
{
    const ovl_program *p = vary->program;
    uint32_t code = p->ranks[rank].code;
    const ovl_op *op = ovl_code_op(&p->codes[code], local);
    const ovl_varied_op *varied = &vary->ops[code][local];
    ovl_cost cost = *ovl_op_cost(p, rank, op);
    if (varied->pause) {
        bool pauses = ovl_vary_pauses(vary, trial, rank);
        cost.work = pauses ? vary->variation->pauses.length : 0;
        cost.latency = pauses ? ovl_vary_pause_moment(vary, trial, rank) : 0;
    } else if (varied->work) {
        scale_all(p, &cost, varied->work,
                  draw(vary, varied->work, trial, drawer(p, rank, op), varied->key), list);
    }
    return cost;
}

static ovl_time launch_of(const ovl_vary *vary, uint64_t trial, uint32_t rank, uint32_t local)
{
    uint32_t code = vary->program->ranks[rank].code;
    const ovl_varied_op *varied = &vary->ops[code][local];
    ovl_time launch = ovl_code_op(&vary->program->codes[code], local)->launch;
    if (!varied->launch) {
        return launch;
    }
    uint64_t key = ovl_hash_pair(varied->key, 1); /* not the draw of its work */
    return whole((double)launch * draw(vary, varied->launch, trial, rank, key));
}

/* --- The program of a trial --- */

static bool has_own_cost(const ovl_vary *vary, uint32_t code, uint32_t local)
{
    const ovl_varied_op *varied = &vary->ops[code][local];
    return varied->work || varied->pause ||
           ovl_code_op(&vary->program->codes[code], local)->per_rank;
}

/* Costs behind those there are: of each code, for each operation that has its own, one a rank. */
static size_t count_costs(const ovl_vary *vary, size_t *at)
{
    const ovl_program *p = vary->program;
    size_t n = p->n_costs;
    for (uint32_t c = 0; c < p->n_codes; c++) {
        at[c] = n;
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            n += has_own_cost(vary, c, i) ? vary->ranks_of[c] : 0;
        }
    }
    return n;
}

static void fill_costs(const ovl_vary *vary, uint64_t trial, const size_t *at, ovl_cost *costs,
                       phases *list)
{
    const ovl_program *p = vary->program;
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        uint32_t c = p->ranks[r].code;
        size_t next = at[c] + vary->place[r];
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            if (has_own_cost(vary, c, i)) {
                costs[next] = cost_of(vary, trial, r, i, list);
                next += vary->ranks_of[c];
            }
        }
    }
}

/* What the operations of a code are in a trial; of the code of a rank, if launches vary. */
static const uint32_t *trial_ops(const ovl_vary *vary, uint64_t trial, uint32_t rank, uint32_t c,
                                 size_t at, ovl_rewrite *w, ovl_arena *arena)
{
    const ovl_code *code = &vary->program->codes[c];
    uint32_t *which = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops);
    for (uint32_t i = 0; i < code->n_ops; i++) {
        ovl_op op = *ovl_code_op(code, i);
        if (has_own_cost(vary, c, i)) {
            op.per_rank = true;
            op.cost = (ovl_id)at;
            at += vary->ranks_of[c];
        }
        if (vary->launches) {
            op.launch = launch_of(vary, trial, rank, i);
        }
        which[i] = ovl_rewrite_op(w, code->which[i], &op);
    }
    return which;
}

static ovl_code *share_codes(const ovl_vary *vary, uint64_t trial, const size_t *at, ovl_rewrite *w,
                             ovl_arena *arena)
{
    const ovl_program *p = vary->program;
    ovl_code *codes = OVL_NEW_ARRAY(arena, ovl_code, p->n_codes);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        codes[c] = p->codes[c];
        codes[c].which = trial_ops(vary, trial, 0, c, at[c], w, arena);
    }
    return codes;
}

static ovl_code *own_codes(const ovl_vary *vary, uint64_t trial, const size_t *at, ovl_rank *ranks,
                           ovl_rewrite *w, ovl_arena *arena)
{
    const ovl_program *p = vary->program;
    ovl_code *codes = OVL_NEW_ARRAY(arena, ovl_code, p->n_ranks);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        uint32_t c = ranks[r].code;
        codes[r] = p->codes[c];
        codes[r].which = trial_ops(vary, trial, r, c, at[c], w, arena);
        ranks[r].code = r;
    }
    return codes;
}

ovl_program ovl_vary_trial(const ovl_vary *vary, uint64_t trial, ovl_arena *arena)
{
    ovl_program p = *vary->program;
    p.orders = NULL; /* they have the durations as stated */
    size_t *at = OVL_NEW_ARRAY(arena, size_t, p.n_codes);
    size_t n = count_costs(vary, at);
    if (n > OVL_OPS_MAX) {
        ovl_out_of_memory(n * sizeof(ovl_cost));
    }
    ovl_cost *costs = OVL_NEW_ARRAY(arena, ovl_cost, n);
    ovl_rank *ranks = OVL_NEW_ARRAY(arena, ovl_rank, p.n_ranks);
    memcpy(costs, p.costs, p.n_costs * sizeof *costs);
    phases list = {0};
    for (uint32_t i = 0; i < p.n_phases; i++) {
        ovl_vec_push(&list, p.phases[i]);
    }
    fill_costs(vary, trial, at, costs, &list);
    for (uint32_t r = 0; r < p.n_ranks; r++) {
        ranks[r] = p.ranks[r];
        ranks[r].variant = vary->place[r];
    }
    ovl_arena scratch = {0};
    ovl_rewrite w;
    ovl_rewrite_begin(&w, &p, &scratch);
    ovl_code *codes = vary->launches ? own_codes(vary, trial, at, ranks, &w, arena)
                                     : share_codes(vary, trial, at, &w, arena);
    p.n_codes = vary->launches ? p.n_ranks : p.n_codes;
    ovl_rewrite_end(&w, &p, codes, arena);
    ovl_arena_free(&scratch);
    p.costs = costs;
    p.n_costs = (uint32_t)n;
    p.n_phases = list.len;
    p.phases = ovl_vec_freeze(&list, arena);
    p.ranks = ranks;
    return p;
}

void ovl_vary_check(const ovl_program *program, const ovl_variation *variation, ovl_errs *errs)
{
    for (uint32_t k = 0; k < variation->ops.count; k++) {
        const ovl_jitter *jitter = OVL_ITEM(variation->ops, ovl_jitter, k);
        bool fits = false;
        for (uint32_t c = 0; c < program->n_codes && !fits; c++) {
            for (uint32_t i = 0; i < program->codes[c].n_ops && !fits; i++) {
                const ovl_code *code = &program->codes[c];
                fits = takes_time(ovl_code_op(code, i)) &&
                       ovl_name_fits(jitter->op, OVL_NAME(program->names, code->name[i]));
            }
        }
        if (!fits) {
            ovl_warning(errs, jitter->mark,
                        "no operation that takes time is named \"%s\": nothing varies by this",
                        jitter->op);
        }
    }
}
