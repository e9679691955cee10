#include "sim/controlled.h"

#include "sim/alter.h"
#include "sim/fold.h"
#include "sim/steps.h"

#define OF_DECIDING_RANK OVL_NONE

typedef struct lab {
    const ovl_run_options *options;
    ovl_errs *errs;
    const ovl_lever *levers;
    uint32_t n_levers;
    uint32_t rank; /* whose durations and terms; OF_DECIDING_RANK until it is known */
    ovl_time *sum; /* [n_levers] durations in the run made last */
    ovl_time *isolated;
    uint32_t *n;
} lab;

/* Of several steps the interval of the last is known only after a run. */
static bool run_last_step(const lab *l, const ovl_program *program, const ovl_program *chosen,
                          ovl_arena *arena, ovl_timeline *t)
{
    ovl_run_options options = *l->options;
    if (!ovl_fold_run(program, chosen, &options, arena, t, l->errs)) {
        return false;
    }
    if (program->n_steps < 2) {
        return true;
    }
    options.interval = true;
    options.count_from = t->begin;
    options.count_to = t->begin + t->step;
    return ovl_fold_run(program, chosen, &options, arena, t, l->errs);
}

static void add_up(lab *l, const ovl_program *p, const ovl_timeline *t, uint32_t rank)
{
    const ovl_rank *r = &p->ranks[rank];
    const ovl_code *code = &p->codes[r->code];
    ovl_op_range step = ovl_last_step(code);
    memset(l->sum, 0, l->n_levers * sizeof *l->sum);
    memset(l->isolated, 0, l->n_levers * sizeof *l->isolated);
    memset(l->n, 0, l->n_levers * sizeof *l->n);
    for (uint32_t i = step.first; i < step.end; i++) {
        const ovl_op *op = ovl_code_op(code, i);
        for (uint32_t k = 0; k < l->n_levers && op->kind != OVL_RECV; k++) {
            if (ovl_lever_pulls(p, &l->levers[k], rank, i)) {
                const ovl_cost *cost = ovl_op_cost(p, rank, op);
                l->sum[k] += t->end[r->first_op + i] - t->start[r->first_op + i];
                l->isolated[k] += ovl_cost_time(p, cost);
                l->n[k]++;
                break;
            }
        }
    }
}

static bool run(lab *l, const ovl_program *program, ovl_controlled_run *out)
{
    ovl_arena arena = {0};
    ovl_fold fold;
    ovl_program chosen;
    ovl_timeline t;
    bool good = ovl_fold_choose(program, false, &arena, &fold, &chosen, l->errs) &&
                run_last_step(l, program, &chosen, &arena, &t);
    if (good && program->n_ranks) {
        if (l->rank == OF_DECIDING_RANK) {
            l->rank = ovl_rank_number(&chosen, t.deciding_rank);
        }
        uint32_t rank = chosen.fold ? chosen.fold->ranks.of[l->rank] : l->rank;
        const ovl_rank_times *times = &t.ranks[rank];
        *out = (ovl_controlled_run){.step = t.step};
        if (t.step > 0) { /* an interval of no length has no terms; a run cannot be asked for it */
            out->hidden = times->hidden;
            out->hidden_stretch = times->hidden_stretch;
            memcpy(out->term, times->term, sizeof out->term);
        }
        add_up(l, &chosen, &t, rank);
    }
    ovl_arena_free(&arena);
    return good;
}

/* The sums of a run of an altered program. Levers go by the classes of costs, which altered
 * operations of the other kind have not any more; those that count keep theirs. */
static bool run_altered(lab *l, const ovl_program *program, ovl_alteration how,
                        ovl_controlled_run *out)
{
    ovl_arena arena = {0};
    ovl_program altered = ovl_program_altered(program, &how, &arena);
    bool good = run(l, &altered, out);
    ovl_arena_free(&arena);
    return good;
}

static void make_rows(const ovl_program *p, lab *l, ovl_controlled_row *rows, ovl_arena *arena)
{
    for (uint32_t k = 0; k < l->n_levers; k++) {
        rows[k] = (ovl_controlled_row){.what = ovl_lever_text(p, &l->levers[k], arena),
                                       .communication = l->levers[k].kind != OVL_LEVER_KERNELS,
                                       .n = l->n[k],
                                       .isolated = l->isolated[k],
                                       .both = l->sum[k]};
    }
}

static void take_alone(const lab *l, bool communication, ovl_controlled_row *rows)
{
    for (uint32_t k = 0; k < l->n_levers; k++) {
        if (rows[k].communication == communication) {
            rows[k].alone = l->sum[k];
        }
    }
}

/* Rows of what the rank has none of are left out. */
static uint32_t keep_used(ovl_controlled_row *rows, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (rows[k].n) {
            rows[kept++] = rows[k];
        }
    }
    return kept;
}

bool ovl_controlled_find(const ovl_program *program, const ovl_run_options *options,
                         ovl_arena *arena, ovl_controlled *c, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    lab l = {.options = options, .errs = errs, .rank = OF_DECIDING_RANK};
    *c = (ovl_controlled){0};
    l.levers = ovl_levers_find(program, &scratch, &l.n_levers);
    if (l.n_levers && l.levers[l.n_levers - 1].kind == OVL_LEVER_HOST) {
        l.n_levers--; /* what the host does is on no stream */
    }
    l.sum = OVL_NEW_ARRAY(&scratch, ovl_time, l.n_levers);
    l.isolated = OVL_NEW_ARRAY(&scratch, ovl_time, l.n_levers);
    l.n = OVL_NEW_ARRAY(&scratch, uint32_t, l.n_levers);
    ovl_controlled_row *rows = OVL_NEW_ARRAY(arena, ovl_controlled_row, l.n_levers);
    bool good = run(&l, program, &c->both);
    if (good) {
        make_rows(program, &l, rows, arena);
        good = run_altered(&l, program, (ovl_alteration){.free_comm = true, .free_copies = true},
                           &c->compute);
    }
    if (good) {
        take_alone(&l, false, rows);
        good = run_altered(&l, program, (ovl_alteration){.free_kernels = true}, &c->comm);
        take_alone(&l, true, rows);
    }
    c->rank = l.rank == OF_DECIDING_RANK ? 0 : l.rank;
    c->rows = rows;
    c->n_rows = keep_used(rows, l.n_levers);
    ovl_arena_free(&scratch);
    return good;
}
