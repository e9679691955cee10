#include "sim/rerun.h"

#include "sim/steps.h"

/* --- Whether nothing can be slowed --- */

/* The largest rate that a code asks of each port, for each slot, then each stream. */
typedef struct lanes {
    uint32_t n_lanes;
    uint64_t *most; /* [n_lanes][n_ports] */
} lanes;

static bool asks(const ovl_program *p, const ovl_cost *cost)
{
    bool any = false;
    for (; cost && !any; cost = ovl_next_phase(p, cost)) {
        any = ovl_kind_of(p, cost)->n_demands > 0 || ovl_kind_of(p, cost)->n_peer > 0;
    }
    return any;
}

static uint32_t lane_of(const ovl_code *code, const ovl_op *op)
{
    return op->kind == OVL_COLLECTIVE ? op->comm : code->n_slots + op->stream;
}

static void raise_most(const ovl_program *p, const ovl_cost *cost, uint64_t *most)
{
    for (; cost; cost = ovl_next_phase(p, cost)) {
        const ovl_cost_kind *kind = ovl_kind_of(p, cost);
        for (uint32_t i = kind->first_demand; i < kind->first_demand + kind->n_demands; i++) {
            uint64_t *m = &most[p->demands[i].port];
            *m = OVL_MAX(*m, p->demands[i].rate);
        }
    }
}

/* `rank` runs the code; false if one of its messages asks for something. */
static bool add_lanes(const ovl_program *p, uint32_t rank, lanes *l)
{
    const ovl_code *code = &p->codes[p->ranks[rank].code];
    for (uint32_t i = 0; i < code->n_ops; i++) {
        const ovl_op *op = ovl_code_op(code, i);
        const ovl_cost *cost = ovl_op_cost(p, rank, op);
        if (!asks(p, cost)) {
            continue;
        }
        if (op->kind == OVL_SEND || op->kind == OVL_RECV) {
            return false;
        }
        if (op->kind == OVL_COLLECTIVE || op->kind == OVL_KERNEL || op->kind == OVL_COPY) {
            raise_most(p, cost, &l->most[(size_t)lane_of(code, op) * p->n_ports]);
        }
    }
    return true;
}

/* Adds what a rank may ask for at one time; false if that is more than something has. */
static bool add_loads(const ovl_program *p, uint32_t rank, const lanes *l, uint64_t *load)
{
    const ovl_id *ports = &p->rank_ports[p->ranks[rank].first_port];
    for (uint32_t lane = 0; lane < l->n_lanes; lane++) {
        for (uint32_t port = 0; port < p->n_ports; port++) {
            uint64_t rate = l->most[(size_t)lane * p->n_ports + port];
            if (rate == 0 || ports[port] == OVL_NONE) {
                continue;
            }
            uint64_t capacity = p->resources[ports[port]].capacity;
            if (rate > capacity || load[ports[port]] > capacity - rate) {
                return false;
            }
            load[ports[port]] += rate;
        }
    }
    return true;
}

static bool has_own_costs(const ovl_code *code)
{
    for (uint32_t i = 0; i < code->n_ops; i++) {
        if (ovl_code_op(code, i)->per_rank) {
            return true;
        }
    }
    return false;
}

/* Ranks that share all costs of a code share its lanes. */
static bool resources_suffice(const ovl_program *p)
{
    ovl_arena scratch = {0};
    lanes *of_code = OVL_NEW_ARRAY(&scratch, lanes, p->n_codes);
    bool *own = OVL_NEW_ARRAY(&scratch, bool, p->n_codes);
    uint64_t *load = OVL_NEW_ARRAY(&scratch, uint64_t, p->n_resources);
    bool good = true;
    for (uint32_t r = 0; good && r < p->n_ranks; r++) {
        uint32_t c = p->ranks[r].code;
        lanes *l = &of_code[c];
        if (!l->most) {
            l->n_lanes = p->codes[c].n_slots + p->codes[c].n_streams;
            l->most = OVL_NEW_ARRAY(&scratch, uint64_t, (size_t)l->n_lanes * p->n_ports + 1);
            own[c] = has_own_costs(&p->codes[c]);
            good = add_lanes(p, r, l);
        } else if (own[c]) {
            good = add_lanes(p, r, l);
        }
        good = good && add_loads(p, r, l, load);
    }
    ovl_arena_free(&scratch);
    return good;
}

static bool sms_matter(const ovl_program *p)
{
    for (uint32_t i = 0; p->sms > 0 && i < p->n_costs; i++) {
        if (p->costs[i].compute > 0 || ovl_kind_of(p, &p->costs[i])->blocks > 0) {
            return true;
        }
    }
    return false;
}

static bool has_pairs(const ovl_program *p)
{
    for (uint32_t i = 0; i < p->n_kernel_classes * p->n_coll_classes; i++) {
        if (p->pairs[i].kernel_factor > 0 || p->pairs[i].collective_factor > 0) {
            return true;
        }
    }
    return false;
}

static bool copies_queue(const ovl_program *p)
{
    bool limited = ovl_copies_queue(p);
    for (uint32_t c = 0; limited && c < p->n_codes; c++) {
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            if (ovl_code_op(&p->codes[c], i)->kind == OVL_COPY) {
                return true;
            }
        }
    }
    return false;
}

bool ovl_rerun_exact(const ovl_program *p, ovl_interference model)
{
    assert(!p->fold);
    if (copies_queue(p)) {
        return false;
    }
    bool slow = sms_matter(p) || (model == OVL_INTERFERENCE_MEASURED && has_pairs(p));
    return model == OVL_INTERFERENCE_NONE || (p->n_changes == 0 && !slow && resources_suffice(p));
}

/* --- Working out again --- */

bool ovl_rerun_begin(ovl_rerun *rerun, const ovl_program *program, const ovl_run_options *options,
                     ovl_arena *arena, ovl_errs *errs)
{
    rerun->program = program;
    if (!ovl_run(program, options, arena, &rerun->timeline, errs)) {
        return false;
    }
    ovl_causes_init(&rerun->causes, program, &rerun->timeline, arena);
    return true;
}

typedef struct player {
    ovl_causes c; /* with a list of its own */
    const ovl_program *changed;
    ovl_time *issue, *arrive, *end, *landed; /* [n_ops]; landed NULL: nothing is eager */
    uint8_t *moved;                          /* [n_ops] a bit for each step kind */
    uint32_t again;
} player;

static ovl_time *time_of(const player *p, uint32_t node)
{
    uint32_t op = OVL_TRAIL_OP(node);
    switch (OVL_TRAIL_KIND(node)) {
    case OVL_ISSUED:
        return &p->issue[op];
    case OVL_ARRIVED:
        return &p->arrive[op];
    case OVL_LANDED:
        return &p->landed[op];
    case OVL_ENDED:
        break;
    }
    return &p->end[op];
}

static uint8_t bit_of(uint32_t node)
{
    return (uint8_t)(1u << OVL_TRAIL_KIND(node));
}

static const ovl_op *op_in(const ovl_program *p, const player *x, uint32_t op)
{
    const ovl_rank *rank = &p->ranks[x->c.rank_of[op]];
    return ovl_code_op(&p->codes[rank->code], op - rank->first_op);
}

static ovl_time length_in(const ovl_program *p, const player *x, uint32_t op)
{
    const ovl_cost *cost = ovl_op_cost(p, x->c.rank_of[op], op_in(p, x, op));
    return ovl_cost_time(p, cost);
}

/* Whose cost gives the length of what ends with `op`. */
static uint32_t carrier(const player *x, uint32_t op, const ovl_op *o)
{
    return o->kind == OVL_RECV ? x->c.program->partner[op] : op;
}

/* Between its arrival and its end; the bytes of an eager message take their time before they land.
 */
static bool takes_nothing(const ovl_op *o)
{
    return o->kind == OVL_BATCH || ((o->kind == OVL_SEND || o->kind == OVL_RECV) && o->eager);
}

/* Between a cause and a node, in the changed program. */
static ovl_time length_of(const player *x, uint32_t node)
{
    uint32_t op = OVL_TRAIL_OP(node);
    const ovl_op *o = op_in(x->changed, x, op);
    switch (OVL_TRAIL_KIND(node)) {
    case OVL_ISSUED:
        return o->behind ? 0 : ovl_causes_launch(o);
    case OVL_ARRIVED:
        return 0;
    case OVL_LANDED:
        return length_in(x->changed, x, op);
    case OVL_ENDED:
        break;
    }
    return takes_nothing(o) ? 0 : length_in(x->changed, x, carrier(x, op, o));
}

static bool own_length_changed(const player *x, uint32_t node)
{
    uint32_t op = OVL_TRAIL_OP(node);
    const ovl_program *before = x->c.program;
    const ovl_op *o = op_in(before, x, op);
    switch (OVL_TRAIL_KIND(node)) {
    case OVL_ISSUED:
        return o->launch != op_in(x->changed, x, op)->launch;
    case OVL_ARRIVED:
        return false;
    case OVL_LANDED:
        return length_in(before, x, op) != length_in(x->changed, x, op);
    case OVL_ENDED:
        break;
    }
    uint32_t by = carrier(x, op, o);
    return !takes_nothing(o) && length_in(before, x, by) != length_in(x->changed, x, by);
}

static bool cause_moved(const player *x)
{
    for (uint32_t i = 0; i < x->c.list.len; i++) {
        uint32_t node = (uint32_t)x->c.list.data[i].node;
        if (x->moved[OVL_TRAIL_OP(node)] & bit_of(node)) {
            return true;
        }
    }
    return false;
}

static void set_time(player *x, uint32_t node, ovl_time at)
{
    ovl_time *time = time_of(x, node);
    if (*time != at) {
        *time = at;
        x->moved[OVL_TRAIL_OP(node)] |= bit_of(node);
    }
}

static void work_out(player *x, uint32_t node)
{
    ovl_time at = 0;
    for (uint32_t i = 0; i < x->c.list.len; i++) {
        const ovl_cause *cause = &x->c.list.data[i];
        at = OVL_MAX(at, *time_of(x, (uint32_t)cause->node) + length_of(x, node));
    }
    if (OVL_TRAIL_KIND(node) == OVL_ISSUED && x->c.list.len == 0) {
        at = length_of(x, node);
    }
    x->again++;
    set_time(x, node, at);
}

static void play(player *x)
{
    const ovl_timeline *t = x->c.timeline;
    uint32_t from = 0;
    while (from < t->n_trail && !own_length_changed(x, t->trail[from])) {
        from++;
    }
    for (uint32_t i = from; i < t->n_trail; i++) {
        uint32_t node = t->trail[i];
        ovl_causes_of(&x->c, node);
        if (cause_moved(x) || own_length_changed(x, node)) {
            work_out(x, node);
        }
    }
}

static ovl_time *copied(ovl_arena *arena, const ovl_time *times, uint32_t n)
{
    ovl_time *copy = OVL_NEW_ARRAY(arena, ovl_time, n);
    return n ? memcpy(copy, times, n * sizeof *copy) : copy;
}

/* Of several steps the last interval on the rank that ends last, of those the lowest. */
static ovl_time step_of_several(const ovl_program *p, const ovl_timeline *t)
{
    ovl_time last = -1, begin = 0;
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        if (p->codes[p->ranks[r].code].n_steps == p->n_steps) {
            ovl_time end = ovl_end_of_step(p, t, r, p->n_steps - 1);
            if (end > last) {
                last = end;
                begin = ovl_end_of_step(p, t, r, p->n_steps - 2);
            }
        }
    }
    return last - begin;
}

static ovl_time step_of(const ovl_program *p, const ovl_timeline *t)
{
    ovl_time step = 0;
    if (p->n_steps > 1) {
        return step_of_several(p, t);
    }
    for (uint32_t op = 0; op < p->n_ops; op++) {
        step = OVL_MAX(step, t->end[op]);
    }
    return step;
}

ovl_time ovl_rerun_step(const ovl_rerun *rerun, const ovl_program *changed, uint32_t *again)
{
    ovl_arena scratch = {0};
    const ovl_timeline *t = &rerun->timeline;
    uint32_t n = rerun->program->n_ops;
    player x = {.c = rerun->causes,
                .changed = changed,
                .issue = copied(&scratch, t->issue, n),
                .arrive = copied(&scratch, t->arrive, n),
                .end = copied(&scratch, t->end, n),
                .moved = OVL_NEW_ARRAY(&scratch, uint8_t, n)};
    x.landed = t->landed ? copied(&scratch, t->landed, n) : NULL;
    x.c.list.data = NULL;
    x.c.list.len = x.c.list.cap = 0;
    play(&x);
    ovl_timeline moved = {.end = x.end};
    ovl_time step = step_of(rerun->program, &moved);
    if (again) {
        *again = x.again;
    }
    ovl_causes_free(&x.c);
    ovl_arena_free(&scratch);
    return step;
}
