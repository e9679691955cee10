#include "sim/critical.h"

#include "sim/path_rows.h"

typedef struct walk {
    ovl_causes *c;
    const ovl_classes *classes; /* or NULL */
    ovl_path_pieces pieces;     /* last first, without `last` */
    ovl_piece last;             /* whoever comes before it may say why it started, once */
    bool any, told;             /* there is one; it is said why it started */
    bool *on, *rank_on;
    uint64_t node;
    ovl_time begin; /* of the step: pieces are told from here, and cut to it */
    uint32_t met; /* the operation whose rendezvous brought the walk to another rank, or OVL_NONE */
} walk;

/* --- Pieces --- */

/* A message that comes from a rank that did the same as another comes from the other, too: where
 * they are simulated as one it does. */
static uint32_t number_of(const walk *w, uint32_t rank)
{
    const ovl_classes *same = w->classes;
    return ovl_rank_number(w->c->program, same ? same->rank[same->class_of[rank]] : rank);
}

static ovl_id stream_of(const walk *w, uint32_t op)
{
    const ovl_rank *rank = &w->c->program->ranks[w->c->rank_of[op]];
    const ovl_code *code = &w->c->program->codes[rank->code];
    const ovl_op *o = ovl_causes_op(w->c, op);
    if (o->behind) {
        o = ovl_causes_op(w->c, op - o->behind);
    }
    return o->stream == OVL_NO_STREAM ? OVL_PIECE_HOST : code->streams[o->stream];
}

static void add_piece(walk *w, ovl_piece piece, uint32_t rank, ovl_time start, ovl_time end)
{
    if (end <= start || end <= w->begin) {
        return;
    }
    if (w->any) {
        ovl_path_piece(&w->pieces, &w->last);
    }
    piece.length = end - OVL_MAX(start, w->begin);
    piece.rank = number_of(w, rank);
    w->last = piece;
    w->any = true;
    w->told = false;
    w->met = OVL_NONE;
}

static void set_why(walk *w, uint32_t why, ovl_id by, uint32_t at)
{
    if (w->any && !w->told) {
        w->last.why = why;
        w->last.by = by;
        w->last.at = at;
        w->told = true;
    }
    w->met = OVL_NONE;
}

static void set_cause(walk *w, const ovl_cause *cause)
{
    uint32_t op = OVL_TRAIL_OP(cause->node);
    bool host = cause->why == OVL_WHY_HOST;
    if (w->met != OVL_NONE) {
        set_why(w, OVL_PIECE_MET, host ? OVL_NONE : ovl_causes_name(w->c, op),
                number_of(w, w->c->rank_of[op]));
    } else {
        set_why(w, cause->why, host ? OVL_NONE : ovl_causes_name(w->c, op), 0);
    }
}

static bool needs_why(const walk *w)
{
    return w->any && !w->told;
}

static ovl_piece piece_of(const walk *w, uint32_t op)
{
    return (ovl_piece){
        .kind = OVL_PIECE_OP, .what = ovl_causes_name(w->c, op), .stream = stream_of(w, op)};
}

/* --- Walking back --- */

static void mark(walk *w, uint32_t op)
{
    w->rank_on[op] = w->on[op] = true;
    if (ovl_causes_op(w->c, op)->kind == OVL_COLLECTIVE) {
        uint32_t k = ovl_causes_collective(w->c, op);
        for (uint32_t i = w->c->first_member[k]; i < w->c->first_member[k + 1]; i++) {
            w->on[w->c->member_ops[i]] = true;
        }
    }
}

static void step_from_end(walk *w, uint32_t op, const ovl_cause *cause)
{
    const ovl_timeline *t = w->c->timeline;
    uint32_t from = OVL_TRAIL_OP(cause->node);
    mark(w, op);
    if (cause->why == OVL_WHY_WIRE) {
        mark(w, from);
    } else if (cause->length > 0) {
        add_piece(w, piece_of(w, op), w->c->rank_of[op], t->end[op] - cause->length, t->end[op]);
    }
    if (cause->why == OVL_WHY_ENGINE) {
        set_cause(w, cause);
    } else if (cause->why == OVL_WHY_RENDEZVOUS) {
        w->met = from;
    }
    w->node = cause->node;
}

/* The bytes of an eager send travelled; before that they may have stood behind others. */
static void step_from_landing(walk *w, uint32_t op, const ovl_cause *cause)
{
    ovl_time landed = w->c->timeline->landed[op];
    mark(w, op);
    ovl_piece piece = piece_of(w, op);
    piece.stream = OVL_PIECE_WIRE;
    add_piece(w, piece, w->c->rank_of[op], landed - cause->length, landed);
    if (cause->why == OVL_WHY_LINE) {
        set_cause(w, cause);
    }
    w->node = cause->node;
}

static void step_from_arrival(walk *w, const ovl_cause *cause)
{
    if (cause->why != OVL_WHY_OWN && needs_why(w)) {
        set_cause(w, cause);
    }
    w->node = cause->node;
}

/* A run of issues is one item, from the last back to where the host was held up or began. False if
 * that is the beginning. */
static bool walk_host(walk *w, uint32_t op)
{
    const ovl_timeline *t = w->c->timeline;
    ovl_time end = t->issue[op], start = end;
    uint32_t issued = 0;
    ovl_cause cause = {0};
    uint64_t node = OVL_TRAIL(op, OVL_ISSUED);
    bool held = true;
    while (OVL_TRAIL_KIND(node) == OVL_ISSUED && held) {
        uint32_t at = OVL_TRAIL_OP(node);
        ovl_time launch = ovl_causes_launch(ovl_causes_op(w->c, at));
        issued += launch > 0;
        start = t->issue[at] - launch;
        held = start > w->begin && ovl_causes_binding(w->c, node, &cause);
        node = held ? cause.node : node;
    }
    ovl_piece piece = {.kind = issued == 1 ? OVL_PIECE_ISSUE : OVL_PIECE_ISSUES,
                       .what = issued == 1 ? ovl_causes_name(w->c, op) : issued,
                       .stream = OVL_PIECE_HOST};
    add_piece(w, piece, w->c->rank_of[op], start, end);
    if (start <= w->begin) {
        return false;
    }
    set_why(w, OVL_WHY_HOST, OVL_NONE, 0);
    w->node = node;
    return true;
}

/* One step back; false when the beginning is reached. */
static bool walk_back(walk *w)
{
    uint32_t op = OVL_TRAIL_OP(w->node);
    if (ovl_node_time(w->c, w->node) <= w->begin) {
        return false;
    }
    if (OVL_TRAIL_KIND(w->node) == OVL_ISSUED) {
        return walk_host(w, op);
    }
    ovl_cause cause;
    bool bound = ovl_causes_binding(w->c, w->node, &cause);
    assert(bound);
    if (!bound) {
        return false;
    }
    if (OVL_TRAIL_KIND(w->node) == OVL_ENDED) {
        step_from_end(w, op, &cause);
    } else if (OVL_TRAIL_KIND(w->node) == OVL_LANDED) {
        step_from_landing(w, op, &cause);
    } else {
        step_from_arrival(w, &cause);
    }
    return true;
}

static uint64_t last_end(const ovl_causes *c)
{
    const ovl_rank *rank = &c->program->ranks[c->timeline->deciding_rank];
    const ovl_code *code = &c->program->codes[rank->code];
    uint32_t n = code->n_ops, best = rank->first_op;
    if (c->program->n_steps > 1) {
        return OVL_TRAIL(best + code->step_ends[code->n_steps - 1], OVL_ENDED);
    }
    for (uint32_t op = best; op < rank->first_op + n; op++) {
        if (c->timeline->end[op] > c->timeline->end[best]) {
            best = op;
        }
    }
    return OVL_TRAIL(best, OVL_ENDED);
}

void ovl_critical_path(ovl_causes *causes, const ovl_classes *classes, ovl_arena *arena,
                       ovl_arena *scratch, ovl_path *path)
{
    uint32_t n_ops = causes->program->n_ops;
    walk w = {.c = causes, .classes = classes, .met = OVL_NONE, .begin = causes->timeline->begin};
    w.on = OVL_NEW_ARRAY(scratch, bool, n_ops);
    w.rank_on = OVL_NEW_ARRAY(scratch, bool, n_ops);
    if (causes->timeline->step > 0) {
        w.node = last_end(causes);
        while (walk_back(&w)) {
        }
        set_why(&w, OVL_PIECE_FIRST, OVL_NONE, 0);
    }
    if (w.any) {
        ovl_path_piece(&w.pieces, &w.last);
    }
    *path = (ovl_path){.on = w.on, .rank_on = w.rank_on};
    path->items = ovl_path_rows(&w.pieces, causes->program->names,
                                w.begin ? "start of the step" : "start", arena, &path->n);
}

/* --- Slack --- */

typedef struct late {
    ovl_causes *c;
    ovl_time *node[4];    /* [kind][op]: the latest time that leaves the step as it is */
    ovl_time *collective; /* the same for the end of a collective */
} late;

static void push_back(late *l, uint64_t node, ovl_time latest)
{
    ovl_causes_of(l->c, node);
    for (uint32_t i = 0; i < l->c->list.len; i++) {
        const ovl_cause *cause = &l->c->list.data[i];
        ovl_time *slot = &l->node[OVL_TRAIL_KIND(cause->node)][OVL_TRAIL_OP(cause->node)];
        *slot = OVL_MIN(*slot, latest - cause->length);
    }
}

/* The ends of all members come before any of their arrivals here, so a collective of n members
 * costs n, not n * n. */
static void visit(late *l, uint64_t item)
{
    uint32_t op = OVL_TRAIL_OP(item);
    ovl_step_kind kind = OVL_TRAIL_KIND(item);
    ovl_time *latest = &l->node[kind][op];
    if (ovl_causes_op(l->c, op)->kind == OVL_COLLECTIVE && kind != OVL_ISSUED) {
        ovl_time *whole = &l->collective[ovl_causes_collective(l->c, op)];
        if (kind == OVL_ENDED) {
            *whole = OVL_MIN(*whole, *latest);
            return;
        }
        ovl_time length = l->c->timeline->end[op] - l->c->timeline->start[op];
        *latest = OVL_MIN(*latest, *whole - length);
    }
    push_back(l, item, *latest);
}

/* How late the end may be: as late as both sides of what ends together may. An eager send is over
 * at once, and as late as it comes its bytes may; but they may have had to wait, too. */
static ovl_time latest_end(const late *l, uint32_t op)
{
    const ovl_op *o = ovl_causes_op(l->c, op);
    if (o->kind == OVL_COLLECTIVE) {
        return l->collective[ovl_causes_collective(l->c, op)];
    }
    if (o->kind == OVL_SEND && o->eager) {
        const ovl_timeline *t = l->c->timeline;
        ovl_time bytes = l->node[OVL_LANDED][op] - t->landed[op];
        return OVL_MIN(l->node[OVL_ARRIVED][op], t->end[op] + bytes);
    }
    ovl_time own = l->node[OVL_ENDED][op];
    if ((o->kind == OVL_SEND || o->kind == OVL_RECV) && !o->eager) {
        return OVL_MIN(own, l->node[OVL_ENDED][l->c->program->partner[op]]);
    }
    return own;
}

static ovl_time *filled(ovl_arena *arena, uint32_t n, ovl_time value)
{
    ovl_time *array = OVL_NEW_ARRAY(arena, ovl_time, n);
    for (uint32_t i = 0; i < n; i++) {
        array[i] = value;
    }
    return array;
}

/* Of several steps the last ends with the operations that say so; what they do not wait for may
 * last until the end of the run. */
static void bind_step_ends(late *l)
{
    const ovl_program *p = l->c->program;
    ovl_time end = l->c->timeline->begin + l->c->timeline->step;
    for (uint32_t r = 0; r < p->n_ranks && p->n_steps > 1; r++) {
        const ovl_code *code = &p->codes[p->ranks[r].code];
        if (code->n_steps == p->n_steps) {
            l->node[OVL_ENDED][p->ranks[r].first_op + code->step_ends[code->n_steps - 1]] = end;
        }
    }
}

const ovl_time *ovl_slack(ovl_causes *causes, ovl_arena *arena)
{
    const ovl_timeline *t = causes->timeline;
    uint32_t n_ops = causes->program->n_ops;
    ovl_arena scratch = {0};
    late l = {.c = causes};
    for (uint32_t kind = 0; kind < (t->landed ? 4 : 3); kind++) {
        l.node[kind] = filled(&scratch, n_ops, t->finish);
    }
    l.collective = filled(&scratch, causes->program->n_collectives, t->finish);
    bind_step_ends(&l);
    for (uint32_t i = t->n_trail; i-- > 0;) {
        visit(&l, t->trail[i]);
    }
    ovl_time *slack = OVL_NEW_ARRAY(arena, ovl_time, n_ops);
    for (uint32_t op = 0; op < n_ops; op++) {
        slack[op] = latest_end(&l, op) - t->end[op];
        assert(slack[op] >= 0);
    }
    ovl_arena_free(&scratch);
    return slack;
}
