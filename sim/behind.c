#include "sim/behind.h"

#include "sim/vec.h"

/* Something that happens on a rank of the whole program. */
typedef struct node {
    uint32_t rank, local;
    uint8_t kind; /* ovl_step_kind; MEETING: of a collective's end, whichever member's */
} node;

#define MEETING 3

typedef struct search {
    const ovl_program *p, *whole;
    const ovl_timeline *t;
    ovl_time not_before;
    node goal;
    bool found;
    OVL_VEC(node) stack;
    uint64_t *seen; /* a key + 1, open addressing */
    uint32_t n_slots, n_seen;
} search;

static const ovl_code *code_of(const search *s, uint32_t rank)
{
    return &s->whole->codes[s->whole->ranks[rank].code];
}

static ovl_time time_of(const search *s, node n)
{
    uint32_t op = s->p->ranks[s->p->fold->ranks.of[n.rank]].first_op + n.local;
    switch (n.kind) {
    case OVL_ISSUED:
        return s->t->issue[op];
    case OVL_ARRIVED:
        return s->t->arrive[op];
    default:
        return s->t->end[op];
    }
}

/* --- What was seen --- */

static uint64_t key_of(node n)
{
    return ((uint64_t)n.rank << 34 | (uint64_t)n.local << 2 | n.kind) + 1;
}

static bool put(uint64_t *slots, uint32_t n_slots, uint64_t key)
{
    uint32_t at = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (n_slots - 1);
    while (slots[at] && slots[at] != key) {
        at = (at + 1) & (n_slots - 1);
    }
    bool is_new = slots[at] == 0;
    slots[at] = key;
    return is_new;
}

static bool see(search *s, node n)
{
    if (2 * (s->n_seen + 1) > s->n_slots) {
        uint32_t n_slots = OVL_MAX(1024, s->n_slots * 4);
        uint64_t *slots = ovl_tally_take(n_slots, sizeof *slots);
        for (uint32_t i = 0; i < s->n_slots; i++) {
            if (s->seen[i]) {
                put(slots, n_slots, s->seen[i]);
            }
        }
        ovl_tally_give(s->seen, s->n_slots, sizeof *s->seen);
        s->seen = slots;
        s->n_slots = n_slots;
    }
    bool is_new = put(s->seen, s->n_slots, key_of(n));
    s->n_seen += is_new;
    return is_new;
}

static void forget(search *s)
{
    if (s->n_seen) {
        memset(s->seen, 0, s->n_slots * sizeof *s->seen);
    }
    s->n_seen = s->stack.len = 0;
    s->found = false;
}

/* --- What must have happened before --- */

static void look_at(search *s, uint32_t rank, uint32_t local, uint8_t kind)
{
    node n = {rank, local, kind};
    if (local == OVL_NONE || s->found || time_of(s, n) < s->not_before || !see(s, n)) {
        return;
    }
    s->found = rank == s->goal.rank && local == s->goal.local && kind == s->goal.kind;
    ovl_vec_push(&s->stack, n);
}

/* The other side of a send or receive. */
static void look_at_partner(search *s, uint32_t rank, uint32_t local, uint8_t kind)
{
    const ovl_program *w = s->whole;
    const ovl_rank *r = &w->ranks[rank];
    uint32_t comm = w->rank_comms[r->first_comm + ovl_code_op(code_of(s, rank), local)->comm];
    uint32_t at = w->kinds[w->comms[comm].kind].mates +
                  w->rank_places[r->first_place + ovl_code_op(code_of(s, rank), local)->comm];
    uint32_t low = w->mate_at[at], high = w->mate_at[at + 1];
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (w->mates[middle].local <= local) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const ovl_mate *m = &w->mates[low];
    look_at(s, w->members[w->comms[comm].first_member + m->place], m->mate, kind);
}

static void look_at_members(search *s, uint32_t rank, uint32_t local)
{
    const ovl_program *w = s->whole;
    const ovl_code *code = code_of(s, rank);
    uint32_t k = code->collectives_before[local];
    const ovl_comm *comm = ovl_rank_comm(w, rank, ovl_code_op(code, local)->comm);
    uint32_t first_op = ovl_collective_op(w, comm, 0, k);
    uint32_t first = w->members[comm->first_member];
    if (!see(s, (node){first, first_op - w->ranks[first].first_op, MEETING})) {
        return; /* all members have the same causes of their end: one look is enough */
    }
    for (uint32_t place = 0; place < comm->n_members && !s->found; place++) {
        uint32_t member = w->members[comm->first_member + place];
        uint32_t op = ovl_collective_op(w, comm, place, k) - w->ranks[member].first_op;
        look_at(s, member, op, OVL_ARRIVED);
    }
}

static void behind_issue(search *s, node n, const ovl_code *code)
{
    if (ovl_code_batch(code, n.local) != OVL_NONE) {
        look_at(s, n.rank, ovl_code_batch(code, n.local), OVL_ISSUED);
        return;
    }
    uint32_t i = n.local;
    while (i > 0 && ovl_code_batch(code, i - 1) != OVL_NONE) {
        i--;
    }
    if (i > 0) {
        look_at(s, n.rank, i - 1,
                ovl_code_op(code, i - 1)->kind == OVL_HOST ? OVL_ENDED : OVL_ISSUED);
    }
}

static void behind_arrival(search *s, node n, const ovl_code *code)
{
    uint32_t batch = ovl_code_batch(code, n.local);
    look_at(s, n.rank, ovl_code_stream_prev(code, n.local), OVL_ENDED);
    look_at(s, n.rank, ovl_code_comm_prev(code, n.local), OVL_ENDED);
    ovl_offsets after = ovl_code_after(code, n.local);
    for (uint32_t i = 0; i < after.n; i++) {
        look_at(s, n.rank, n.local + after.by[i], OVL_ENDED);
    }
    look_at(s, n.rank, batch != OVL_NONE ? batch : n.local,
            batch != OVL_NONE ? OVL_ARRIVED : OVL_ISSUED);
}

/* As hazard.c has it: who has received a message knows that it was sent. */
static void behind_end(search *s, node n, const ovl_code *code)
{
    const ovl_op *op = ovl_code_op(code, n.local);
    if (op->kind == OVL_COLLECTIVE) {
        look_at_members(s, n.rank, n.local);
        return;
    }
    ovl_offsets parts = ovl_code_parts(code, n.local);
    for (uint32_t i = 0; i < parts.n; i++) {
        look_at(s, n.rank, n.local + parts.by[i], OVL_ENDED);
    }
    if (op->kind != OVL_BATCH || parts.n == 0) {
        look_at(s, n.rank, n.local, OVL_ARRIVED);
    }
    if (op->kind == OVL_RECV || (op->kind == OVL_SEND && !op->eager)) {
        look_at_partner(s, n.rank, n.local, OVL_ARRIVED);
    }
    if (op->kind == OVL_RECV) {
        look_at_partner(s, n.rank, n.local, OVL_ENDED);
    }
}

static bool behind(search *s, uint32_t rank, uint32_t before, uint32_t later)
{
    s->goal = (node){rank, before, OVL_ENDED};
    s->not_before = time_of(s, s->goal);
    look_at(s, rank, later, OVL_ARRIVED);
    if (ovl_code_op(code_of(s, rank), later)->kind == OVL_RECV) {
        look_at_partner(s, rank, later, OVL_ARRIVED);
    }
    while (s->stack.len && !s->found) {
        node n = s->stack.data[--s->stack.len];
        const ovl_code *code = code_of(s, n.rank);
        if (n.kind == OVL_ISSUED) {
            behind_issue(s, n, code);
        } else if (n.kind == OVL_ARRIVED) {
            behind_arrival(s, n, code);
        } else {
            behind_end(s, n, code);
        }
    }
    bool found = s->found;
    forget(s);
    return found;
}

bool ovl_behind_everywhere(const ovl_causes *causes, uint32_t code, uint32_t before, uint32_t later,
                           bool either)
{
    const ovl_program *p = causes->program;
    search s = {.p = p, .whole = p->fold->whole, .t = causes->timeline};
    bool good = true;
    for (uint32_t rank = 0; good && rank < s.whole->n_ranks; rank++) {
        if (s.whole->ranks[rank].code == code) {
            good = behind(&s, rank, before, later) || (either && behind(&s, rank, later, before));
        }
    }
    ovl_vec_free(&s.stack);
    ovl_tally_give(s.seen, s.n_slots, sizeof *s.seen);
    return good;
}
