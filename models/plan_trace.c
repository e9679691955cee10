/*
 * The replay of a measured step: what was recorded (record.h), as codes of the program. Each rank
 * has durations of its own, and so a code of its own. Costs are the recorded durations, without
 * demands: what sharing cost is in them.
 */
#include "models/draft.h"

#include <string.h>

typedef struct replay {
    ovl_lowering *l;
    const ovl_recorded *rec;
    ovl_group *groups; /* [n_groups] */
    uint32_t first;    /* global number of the first operation of the rank */
    ovl_time *start, *end;
} replay;

static const char *text_of(const replay *r, ovl_id name)
{
    return ovl_names_text(&r->rec->names, name);
}

/* One communicator each; of a group whose ranks were not matched each is alone. */
static void make_groups(replay *r)
{
    ovl_lowering *l = r->l;
    r->groups = OVL_NEW_ARRAY(l->arena, ovl_group, r->rec->n_groups);
    for (uint32_t i = 0; i < r->rec->n_groups; i++) {
        const ovl_rec_group *g = &r->rec->groups[i];
        ovl_id *comm_of = OVL_NEW_ARRAY(l->arena, ovl_id, l->n_ranks);
        memset(comm_of, 0xff, l->n_ranks * sizeof *comm_of); /* OVL_NONE */
        ovl_id comm = ovl_add_comm(l->b, ovl_name(l->b, text_of(r, g->name)), g->ranks, g->n_ranks);
        for (uint32_t k = 0; k < g->n_ranks; k++) {
            comm_of[g->ranks[k]] = comm;
        }
        r->groups[i] = (ovl_group){.name = ovl_arena_strdup(l->arena, text_of(r, g->name)),
                                   .comm_of = comm_of};
    }
}

/* Without a factor a kernel has no class under measured interference. */
static ovl_id kernel_class(const replay *r, const ovl_rec_op *op)
{
    bool measured = r->l->scenario->interference == OVL_INTERFERENCE_MEASURED;
    if (measured && op->klass == OVL_NONE) {
        return OVL_NONE;
    }
    return ovl_draft_klass(r->l, true, measured ? text_of(r, op->klass) : "kernel");
}

static ovl_id cost_of(replay *r, const ovl_rec_op *op)
{
    ovl_draft d = {.cost = {.latency = op->latency, .work = op->length - op->latency},
                   .kind = {.klass = OVL_NONE, .weight = 1}};
    switch ((ovl_op_kind)op->kind) {
    case OVL_KERNEL:
        d.kind.klass = kernel_class(r, op);
        break;
    case OVL_COLLECTIVE:
        d.kind.klass = ovl_draft_klass(r->l, false, ovl_coll_name((ovl_coll)op->coll));
        break;
    case OVL_COPY:
        d.kind.engine = op->engine & 1;
        break;
    case OVL_MARKER:
        return ovl_plan_pause(r->l, op->length).id;
    case OVL_SEND:
    case OVL_RECV:
    case OVL_BATCH:
    case OVL_HOST:
        break;
    }
    return ovl_draft_intern(r->l, &d).id;
}

static void add_op(replay *r, ovl_id code, const ovl_rec_rank *rank, const ovl_rec_op *op)
{
    ovl_lowering *l = r->l;
    ovl_op made = {.kind = op->kind,
                   .coll = op->coll,
                   .dtype = op->dtype,
                   .stream = OVL_NO_STREAM,
                   .comm = OVL_NO_COMM,
                   .name = ovl_name(l->b, text_of(r, op->name)),
                   .cost = cost_of(r, op),
                   .eager = op->eager,
                   .batch = op->batch,
                   .peer = op->peer,
                   .bytes = op->group == OVL_NONE ? 0 : op->bytes,
                   .launch = op->launch,
                   .mark = l->scenario->workload.trace.mark[0]};
    if (op->stream != OVL_NONE) {
        made.stream = ovl_add_stream(l->b, code, text_of(r, op->stream));
    }
    if (op->group != OVL_NONE) {
        made.comm = ovl_plan_slot(l, code, &r->groups[op->group]);
    }
    uint32_t local = ovl_add_op(l->b, code, &made);
    for (uint32_t i = 0; i < op->n_after; i++) {
        ovl_add_after(l->b, code, rank->after[op->first_after + i]);
    }
    r->start[r->first + local] = op->start;
    r->end[r->first + local] = op->end;
}

static void add_rank(replay *r, uint32_t number)
{
    const ovl_rec_rank *rank = &r->rec->ranks[number];
    ovl_id code = ovl_plan_code(r->l);
    for (uint32_t i = 0; i < rank->n_ops; i++) {
        add_op(r, code, rank, &rank->ops[i]);
    }
    r->l->rank_code[number] = code;
    r->first += rank->n_ops;
}

static void hand_over(replay *r)
{
    ovl_measured *m = OVL_NEW(r->l->arena, ovl_measured);
    ovl_measured_rank *ranks = OVL_NEW_ARRAY(r->l->arena, ovl_measured_rank, r->rec->n_ranks);
    for (uint32_t i = 0; i < r->rec->n_ranks; i++) {
        const ovl_rec_rank *rank = &r->rec->ranks[i];
        ranks[i] = (ovl_measured_rank){rank->begin, rank->end, rank->unexplained, rank->rank};
    }
    *m = (ovl_measured){.what = r->rec->what,
                        .step = r->rec->step,
                        .changed = r->rec->changed,
                        .unchanged = r->l->unchanged,
                        .start = r->start,
                        .end = r->end,
                        .ranks = ranks,
                        .inferred = r->rec->inferred,
                        .n_inferred = r->rec->n_inferred};
    r->l->measured = m;
}

void ovl_plan_trace(ovl_lowering *l)
{
    replay r = {.l = l, .rec = l->scenario->recorded};
    uint64_t n_ops = 0;
    for (uint32_t i = 0; i < r.rec->n_ranks; i++) {
        n_ops += r.rec->ranks[i].n_ops;
    }
    if (n_ops > OVL_PLAN_CODE_OPS) {
        ovl_error(l->errs, OVL_E_INPUT, l->scenario->workload.trace.mark[0],
                  "the step has %" PRIu64 " operations; %u can be replayed", n_ops,
                  OVL_PLAN_CODE_OPS);
        return;
    }
    l->b->copy_engines[0] = r.rec->copy_engines[0];
    l->b->copy_engines[1] = r.rec->copy_engines[1];
    l->b->hw_queues = r.rec->hw_queues;
    r.start = OVL_NEW_ARRAY(l->arena, ovl_time, n_ops);
    r.end = OVL_NEW_ARRAY(l->arena, ovl_time, n_ops);
    make_groups(&r);
    for (uint32_t i = 0; i < r.rec->n_ranks; i++) {
        add_rank(&r, i);
    }
    hand_over(&r);
}
