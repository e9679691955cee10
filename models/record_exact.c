/*
 * The program of a trace that `ovl export` wrote. Its slices name what they wait for, so that
 * nothing has to be inferred, and durations are exact: run without interference it takes as long as
 * the run that was written, to the picosecond.
 *
 * Ranks that were not written leave communicators incomplete: then what remains of one keeps the
 * time it had, waiting included.
 */
#include "models/record_parts.h"
#include "sim/units.h"

#include <stdlib.h>
#include <string.h>

typedef struct exacter {
    const ovl_seen *seen;
    const ovl_exact *exact;
    ovl_mark mark;
    ovl_arena *arena, *scratch;
    ovl_recorded *out;
    ovl_errs *errs;
    ovl_exact_op *ops; /* by rank, then place in the program */
    uint32_t n_comms;
    uint32_t *group_of; /* [n_comms] index of its group; OVL_NONE: incomplete */
    OVL_VEC(ovl_rec_group) groups;
} exacter;

static int by_rank_and_id(const void *a, const void *b)
{
    const ovl_exact_op *x = a, *y = b;
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return (x->id > y->id) - (x->id < y->id);
}

static bool wrong(exacter *e, const char *what)
{
    ovl_error(e->errs, OVL_E_INPUT, e->mark, "\"%s\" cannot be replayed: %s", e->seen->file, what);
    return false;
}

/* Every rank has all its operations, and waits lead back. */
static bool check(exacter *e)
{
    if (e->seen->damaged) {
        return wrong(e, "it is truncated or damaged, and a run that ovl export wrote is replayed "
                        "whole; export it again");
    }
    if (e->exact->n_ops == 0) {
        return wrong(e, "it has no operation");
    }
    for (uint32_t i = 0; i < e->exact->n_ops; i++) {
        const ovl_exact_op *op = &e->ops[i];
        bool first = i == 0 || e->ops[i - 1].rank != op->rank;
        if (op->id != (first ? 0 : e->ops[i - 1].id + 1)) {
            return wrong(e, "operations of a rank are missing, or are there twice");
        }
        for (uint32_t k = 0; k < op->n_after; k++) {
            if (e->exact->after[op->first_after + k] >= op->id) {
                return wrong(e, "an operation waits for one that is issued later");
            }
        }
        bool stream = op->kind != OVL_HOST && op->batch == OVL_NONE;
        if ((op->batch != OVL_NONE && op->batch >= op->id) || (stream && op->stream == OVL_NONE)) {
            return wrong(e, "an operation has no stream, or is part of a batch that is not there");
        }
    }
    return true;
}

static void count_comms(exacter *e)
{
    for (uint32_t i = 0; i < e->exact->n_ops; i++) {
        uint32_t comm = e->ops[i].comm;
        if (comm != OVL_NONE && comm <= e->exact->n_ops) {
            e->n_comms = OVL_MAX(e->n_comms, comm + 1);
        }
    }
    e->group_of = OVL_NEW_ARRAY(e->scratch, uint32_t, e->n_comms);
    memset(e->group_of, 0xff, e->n_comms * sizeof *e->group_of); /* OVL_NONE */
}

/* Members that never communicate in a communicator are not told by the file. If all ranks were
 * written these are among the others, and it does not matter which. */
static bool fill_places(const exacter *e, uint32_t *places, uint32_t n, uint32_t n_ranks)
{
    bool *inside = OVL_NEW_ARRAY(e->scratch, bool, n_ranks);
    for (uint32_t i = 0; i < n; i++) {
        if (places[i] != OVL_NONE) {
            inside[places[i]] = true;
        }
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < n; i++) {
        while (next < n_ranks && inside[next]) {
            next++;
        }
        if (places[i] == OVL_NONE && next == n_ranks) {
            return false;
        }
        places[i] = places[i] == OVL_NONE ? next++ : places[i];
    }
    return true;
}

/* The rank at each place of each communicator, as far as it is there. */
static void find_groups(exacter *e)
{
    uint32_t **places = OVL_NEW_ARRAY(e->scratch, uint32_t *, e->n_comms);
    uint32_t *members = OVL_NEW_ARRAY(e->scratch, uint32_t, e->n_comms);
    uint32_t *found = OVL_NEW_ARRAY(e->scratch, uint32_t, e->n_comms);
    ovl_id *names = OVL_NEW_ARRAY(e->scratch, ovl_id, e->n_comms);
    uint32_t *last = OVL_NEW_ARRAY(e->scratch, uint32_t, e->n_comms); /* rank found last, + 1 */
    uint32_t rank = 0;
    for (uint32_t i = 0; i < e->exact->n_ops; i++) {
        const ovl_exact_op *op = &e->ops[i];
        rank += i > 0 && op->rank != e->ops[i - 1].rank;
        if (op->comm >= e->n_comms || op->members == OVL_NONE || op->members > e->exact->n_ops ||
            op->place >= op->members) {
            continue;
        }
        if (!places[op->comm]) {
            members[op->comm] = op->members;
            names[op->comm] = op->group;
            places[op->comm] = OVL_NEW_ARRAY(e->arena, uint32_t, op->members);
            memset(places[op->comm], 0xff, op->members * sizeof(uint32_t)); /* OVL_NONE */
        }
        if (op->place < members[op->comm] && places[op->comm][op->place] == OVL_NONE &&
            last[op->comm] != rank + 1) {
            last[op->comm] = rank + 1;
            places[op->comm][op->place] = rank;
            found[op->comm]++;
        }
    }
    for (uint32_t c = 0; c < e->n_comms; c++) {
        bool all = (int64_t)rank + 1 == e->exact->ranks;
        if (places[c] &&
            (found[c] == members[c] || (all && fill_places(e, places[c], members[c], rank + 1)))) {
            const char *name =
                names[c] == OVL_NONE ? "group" : ovl_names_text(&e->seen->names, names[c]);
            ovl_rec_group group = {ovl_names_add(&e->out->names, name), places[c], members[c],
                                   members[c]};
            e->group_of[c] = e->groups.len;
            ovl_vec_push(&e->groups, group);
        }
    }
}

/* Every member of a group that is there takes part in all its collectives. */
static bool check_members(exacter *e)
{
    uint32_t **n = OVL_NEW_ARRAY(e->scratch, uint32_t *, e->n_comms);
    for (uint32_t i = 0; i < e->exact->n_ops; i++) {
        const ovl_exact_op *op = &e->ops[i];
        uint32_t group = op->comm < e->n_comms ? e->group_of[op->comm] : OVL_NONE;
        if (op->kind != OVL_COLLECTIVE || group == OVL_NONE) {
            continue;
        }
        uint32_t size = e->groups.data[group].n_ranks;
        n[op->comm] = n[op->comm] ? n[op->comm] : OVL_NEW_ARRAY(e->scratch, uint32_t, size);
        if (op->place < size) {
            n[op->comm][op->place]++;
        }
    }
    for (uint32_t c = 0; c < e->n_comms; c++) {
        for (uint32_t k = 1; n[c] && k < e->groups.data[e->group_of[c]].n_ranks; k++) {
            if (n[c][k] != n[c][0]) {
                return wrong(e, "the ranks of a group have different numbers of collectives");
            }
        }
    }
    return true;
}

static ovl_id text_of(exacter *e, ovl_id name)
{
    return name == OVL_NONE ? OVL_NONE
                            : ovl_names_add(&e->out->names, ovl_names_text(&e->seen->names, name));
}

/* What is left of an incomplete communicator: a collective of one rank, waiting included. */
static void stand_alone(exacter *e, const ovl_exact_op *op, uint32_t rank, ovl_rec_op *to)
{
    uint32_t *ranks = OVL_NEW(e->arena, uint32_t);
    *ranks = rank;
    ovl_id name = op->group == OVL_NONE ? to->name : text_of(e, op->group);
    int64_t size = op->members == OVL_NONE ? -1 : (int64_t)op->members;
    ovl_vec_push(&e->groups, (ovl_rec_group){name, ranks, 1, size});
    to->kind = OVL_COLLECTIVE;
    to->group = e->groups.len - 1;
    to->length = op->eager && op->kind == OVL_SEND ? 0 : op->end - op->start + op->wait;
    to->latency = 0;
    to->alone = true;
    to->peer = 0;
    to->eager = false;
    to->batch = OVL_NONE;
    e->out->alone++;
}

static ovl_rec_op convert(exacter *e, const ovl_exact_op *op, uint32_t rank)
{
    ovl_rec_op to = {.kind = op->kind,
                     .coll = op->coll,
                     .engine = op->engine,
                     .name = text_of(e, op->name),
                     .full = text_of(e, op->name),
                     .klass = op->kind == OVL_KERNEL ? text_of(e, op->klass) : OVL_NONE,
                     .stream = op->batch == OVL_NONE ? text_of(e, op->stream) : OVL_NONE,
                     .group = OVL_NONE,
                     .launch = op->launch,
                     .length = op->end - op->start,
                     .start = op->start - OVL_MIN(op->wait, op->start),
                     .end = op->end,
                     .peer = op->peer != OVL_NONE ? (int32_t)op->peer : 0,
                     .batch = op->batch,
                     .eager = op->eager,
                     .bytes = op->bytes > 0 ? (uint64_t)op->bytes : 0,
                     .first_after = op->first_after,
                     .n_after = op->n_after};
    if (op->kind < OVL_COLLECTIVE || op->kind > OVL_BATCH) {
        return to;
    }
    to.group = op->comm < e->n_comms ? e->group_of[op->comm] : OVL_NONE;
    if (to.group == OVL_NONE) {
        stand_alone(e, op, rank, &to);
    } else if (op->kind == OVL_COLLECTIVE) {
        to.latency = OVL_MIN(op->latency, to.length);
    } else {
        to.length = op->kind != OVL_SEND ? 0 : op->eager ? op->wire : to.length;
    }
    return to;
}

/* Parts of a batch that became a collective of its own have no place any more: they are markers. */
static void drop_parts(ovl_rec_rank *rank, uint32_t op)
{
    ovl_rec_op *part = &rank->ops[op];
    bool part_of_alone = part->alone && rank->ops[op].stream == OVL_NONE;
    if (part_of_alone) {
        uint32_t batch = op;
        while (batch > 0 && rank->ops[batch].stream == OVL_NONE) {
            batch--;
        }
        part->kind = OVL_MARKER;
        part->group = OVL_NONE;
        part->length = 0;
        part->stream = rank->ops[batch].stream;
        part->start = part->end = OVL_NEVER;
    }
}

static void add_rank(exacter *e, ovl_rec_rank *to, uint32_t first, uint32_t end, uint32_t number)
{
    *to = (ovl_rec_rank){.file = e->seen->file, .rank = e->ops[first].rank, .n_ops = end - first};
    to->ops = OVL_NEW_ARRAY(e->arena, ovl_rec_op, end - first);
    to->after = e->exact->after;
    for (uint32_t i = first; i < end; i++) {
        to->ops[i - first] = convert(e, &e->ops[i], number);
        to->end = OVL_MAX(to->end, e->ops[i].end);
    }
    for (uint32_t i = 0; i < to->n_ops; i++) {
        drop_parts(to, i);
    }
    e->out->step = OVL_MAX(e->out->step, to->end);
}

static void add_ranks(exacter *e)
{
    uint32_t n = 1, at = 0;
    for (uint32_t i = 1; i < e->exact->n_ops; i++) {
        n += e->ops[i].rank != e->ops[i - 1].rank;
    }
    ovl_rec_rank *ranks = OVL_NEW_ARRAY(e->arena, ovl_rec_rank, n);
    for (uint32_t rank = 0; rank < n; rank++) {
        uint32_t first = at;
        while (at < e->exact->n_ops && e->ops[at].rank == e->ops[first].rank) {
            at++;
        }
        add_rank(e, &ranks[rank], first, at, rank);
    }
    e->out->ranks = ranks;
    e->out->n_ranks = n;
}

static uint32_t count_of(int64_t number)
{
    return number > 0 && number < UINT16_MAX ? (uint32_t)number : 0;
}

static void hand_over(exacter *e)
{
    ovl_recorded *out = e->out;
    const char **said = OVL_NEW_ARRAY(e->arena, const char *, 1);
    if (out->alone) {
        said[0] = ovl_arena_printf(
            e->arena,
            "With ranks that were not written (ovl export --ranks): %s, whose duration holds the "
            "waiting for these.",
            ovl_counted(e->arena, out->alone, "operation"));
        out->n_inferred = 1;
    }
    out->inferred = said;
    out->what = "a run that ovl export wrote";
    out->n_groups = e->groups.len;
    out->groups = ovl_vec_freeze(&e->groups, e->arena);
    out->copy_engines[0] = count_of(e->exact->copy_engines[0]);
    out->copy_engines[1] = count_of(e->exact->copy_engines[1]);
    out->hw_queues = count_of(e->exact->hw_queues);
}

bool ovl_record_exact(const ovl_seen *seen, ovl_mark mark, ovl_arena *arena, ovl_recorded *recorded,
                      ovl_errs *errs)
{
    ovl_arena scratch = {0};
    exacter e = {.seen = seen,
                 .exact = seen->exact,
                 .mark = mark,
                 .arena = arena,
                 .scratch = &scratch,
                 .out = recorded,
                 .errs = errs};
    e.ops = OVL_NEW_ARRAY(&scratch, ovl_exact_op, e.exact->n_ops);
    if (e.exact->n_ops) {
        memcpy(e.ops, e.exact->ops, e.exact->n_ops * sizeof *e.ops);
        qsort(e.ops, e.exact->n_ops, sizeof *e.ops, by_rank_and_id);
    }
    bool good = check(&e);
    if (good) {
        count_comms(&e);
        find_groups(&e);
        good = check_members(&e);
    }
    if (good) {
        add_ranks(&e);
        hand_over(&e);
    }
    ovl_vec_free(&e.groups);
    ovl_arena_free(&scratch);
    return good;
}
