/*
 * match.c - do the members of each communicator agree? Collectives are compared by their place in
 * the order, sends are paired with receives; a disagreement is a schedule that hangs on hardware.
 */
#include "sim/build.h"
#include "sim/units.h"

/* --- Times ---
 *
 * What several ranks do together takes one time; if they state different ones, whichever was taken
 * would leave the other without a word. */

/* "5 ms", or "1 ms + 4 ms" with a fixed part. */
const char *ovl_match_time(const ovl_program *p, const ovl_cost *cost, ovl_arena *arena)
{
    char latency[OVL_UNITS_TEXT], work[OVL_UNITS_TEXT];
    ovl_time fixed = ovl_cost_latency(p, cost);
    ovl_print_time(latency, fixed);
    ovl_print_time(work, ovl_cost_work(p, cost));
    return fixed ? ovl_arena_printf(arena, "%s + %s", latency, work)
                 : ovl_arena_strdup(arena, work);
}

/* "line 5, column 7", with the file if it is another one. */
const char *ovl_match_place(ovl_mark mark, ovl_mark seen_from, ovl_arena *arena)
{
    bool here = !mark.file || !seen_from.file || strcmp(mark.file, seen_from.file) == 0;
    return ovl_arena_printf(arena, "%s%sline %" PRIu32 ", column %" PRIu32, here ? "" : mark.file,
                            here ? "" : ", ", mark.line, mark.column);
}

/* --- Collectives --- */

typedef struct member {
    uint32_t rank;
    const ovl_code *code; /* NULL: the rank never uses the communicator */
    const uint32_t *ops;  /* its collectives, in order */
    uint32_t n;
} member;

static member member_at(const ovl_program *p, uint32_t comm, uint32_t place)
{
    member m = {.rank = p->members[p->comms[comm].first_member + place]};
    const ovl_rank *rank = &p->ranks[m.rank];
    uint32_t slot = p->member_slots[p->comms[comm].first_member + place];
    if (slot != OVL_NONE) {
        m.code = &p->codes[rank->code];
        m.ops = m.code->collectives.item + m.code->collectives.at[slot];
        m.n = m.code->collectives.at[slot + 1] - m.code->collectives.at[slot];
    }
    return m;
}

static const ovl_op *op_at(const member *m, uint32_t k)
{
    return ovl_code_op(m->code, m->ops[k]);
}

static ovl_id name_at(const member *m, uint32_t k)
{
    return m->code->name[m->ops[k]];
}

static const char *describe(const ovl_program *p, ovl_arena *arena, const member *m, uint32_t k)
{
    const ovl_op *op = op_at(m, k);
    const char *name = OVL_NAME(p->names, name_at(m, k));
    const char *root = "";
    if (op->coll == OVL_BROADCAST || op->coll == OVL_REDUCE) {
        root = ovl_arena_printf(arena, ", root %" PRId32, op->peer);
    }
    return ovl_arena_printf(arena, "%s \"%s\" of %" PRIu64 " bytes %s%s", ovl_coll_name(op->coll),
                            name, op->bytes, ovl_dtype_name(op->dtype), root);
}

static bool same_collective(const ovl_op *a, const ovl_op *b)
{
    return a->coll == b->coll && a->bytes == b->bytes && a->dtype == b->dtype &&
           a->peer == b->peer && a->average == b->average;
}

static bool compare_members(const ovl_program *p, uint32_t comm, const member *a, const member *b,
                            ovl_errs *errs)
{
    const char *group = OVL_NAME(p->names, p->comms[comm].name);
    for (uint32_t k = 0; k < OVL_MIN(a->n, b->n); k++) {
        const ovl_op *x = op_at(a, k), *y = op_at(b, k);
        if (!same_collective(x, y)) {
            ovl_error(errs, OVL_E_STUCK, y->mark,
                      "mismatched collectives: operation %" PRIu32
                      " of group \"%s\" is %s on rank %" PRIu32 " but %s on rank %" PRIu32
                      "; every member must launch the same collectives in "
                      "the same order",
                      k + 1, group, describe(p, errs->arena, a, k), a->rank,
                      describe(p, errs->arena, b, k), b->rank);
            return false;
        }
    }
    if (a->n != b->n) {
        const member *more = a->n > b->n ? a : b, *less = a->n > b->n ? b : a;
        const ovl_op *extra = op_at(more, less->n);
        ovl_error(errs, OVL_E_STUCK, extra->mark,
                  "mismatched collectives: rank %" PRIu32 " launches %s as operation %" PRIu32
                  " of group \"%s\", but rank %" PRIu32 " launches only %" PRIu32,
                  more->rank, describe(p, errs->arena, more, less->n), less->n + 1, group,
                  less->rank, less->n);
        return false;
    }
    return true;
}

/* Times of two members that agree otherwise; one sentence for each pair of lists is enough. */
static bool compare_times(const ovl_program *p, const member *a, const member *b, ovl_errs *errs)
{
    for (uint32_t k = 0; k < a->n; k++) {
        const ovl_op *x = op_at(a, k), *y = op_at(b, k);
        const ovl_cost *s = ovl_op_cost(p, a->rank, x), *t = ovl_op_cost(p, b->rank, y);
        if (!ovl_same_times(p, s, t)) {
            ovl_error(errs, OVL_E_INPUT, y->mark,
                      "%s \"%s\" takes %s on rank %" PRIu32 " but %s on rank %" PRIu32
                      " (%s); it is over on all members at once, so they must state one time",
                      ovl_coll_name(y->coll), OVL_NAME(p->names, name_at(b, k)),
                      ovl_match_time(p, t, errs->arena), b->rank, ovl_match_time(p, s, errs->arena),
                      a->rank, ovl_match_place(x->mark, y->mark, errs->arena));
            return false;
        }
    }
    return true;
}

static bool has_times_by_rank(const member *m)
{
    for (uint32_t k = 0; k < m->n; k++) {
        if (op_at(m, k)->per_rank) {
            return true;
        }
    }
    return false;
}

/* Members that run the same code with the same list agree without looking, unless it has times for
 * each rank. */
static bool check_times(const ovl_program *p, uint32_t comm, ovl_errs *errs)
{
    member first = member_at(p, comm, 0);
    bool by_rank = has_times_by_rank(&first), good = true;
    const uint32_t *known = first.ops;
    for (uint32_t place = 1; good && place < p->comms[comm].n_members; place++) {
        member other = member_at(p, comm, place);
        if (other.ops != known || by_rank || has_times_by_rank(&other)) {
            good = compare_times(p, &first, &other, errs);
        }
        known = other.ops;
    }
    return good;
}

/* Members that run the same code with the same list agree without looking. */
static bool check_collectives(const ovl_program *p, uint32_t comm, ovl_errs *errs)
{
    member first = member_at(p, comm, 0);
    bool good = true;
    const uint32_t *known_bad = NULL;
    for (uint32_t place = 1; place < p->comms[comm].n_members; place++) {
        member other = member_at(p, comm, place);
        if ((other.ops == first.ops && other.n == first.n) ||
            (known_bad && other.ops == known_bad)) {
            continue;
        }
        if (!compare_members(p, comm, &first, &other, errs)) {
            known_bad = other.ops;
            good = false;
        }
    }
    return good;
}

/* --- Kinds --- */

typedef struct matching {
    ovl_program *p;
    ovl_comm *comms;
    ovl_errs *errs;
    OVL_VEC(ovl_comm_kind) kinds;
    OVL_VEC(uint8_t) good; /* of each kind: bits of what was found good in its first */
    ovl_mate_starts starts;
    ovl_mates mates;
    uint32_t *table, size; /* kind + 1 by hash, open addressing */
} matching;

enum { COLLECTIVES_AGREE = 1, TIMES_AGREE = 2, PAIRS_AGREE = 4 };

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

static uint64_t member_key(const ovl_program *p, uint32_t at)
{
    return ((uint64_t)p->ranks[p->members[at]].code << 32) | p->member_slots[at];
}

static uint64_t hash_comm(const ovl_program *p, const ovl_comm *comm)
{
    uint64_t hash = mix(comm->n_members, 1);
    for (uint32_t i = 0; i < comm->n_members; i++) {
        hash = mix(hash, member_key(p, comm->first_member + i));
    }
    return hash;
}

static bool same_members(const ovl_program *p, const ovl_comm *a, const ovl_comm *b)
{
    if (a->n_members != b->n_members) {
        return false;
    }
    for (uint32_t i = 0; i < a->n_members; i++) {
        if (member_key(p, a->first_member + i) != member_key(p, b->first_member + i)) {
            return false;
        }
    }
    return true;
}

/* The kind of a communicator; one that is new is added. */
static uint32_t kind_of(matching *m, uint32_t comm)
{
    const ovl_program *p = m->p;
    uint32_t at = (uint32_t)hash_comm(p, &p->comms[comm]) & (m->size - 1);
    for (; m->table[at]; at = (at + 1) & (m->size - 1)) {
        uint32_t kind = m->table[at] - 1;
        if (same_members(p, &p->comms[m->kinds.data[kind].comm], &p->comms[comm])) {
            return kind;
        }
    }
    ovl_vec_push(&m->kinds, (ovl_comm_kind){comm, OVL_NONE});
    ovl_vec_push(&m->good, 0);
    m->table[at] = m->kinds.len;
    return m->kinds.len - 1;
}

/* Can other communicators of the kind state other times? */
static bool by_rank(const ovl_program *p, uint32_t comm)
{
    bool any = false;
    const uint32_t *known = NULL;
    for (uint32_t place = 0; !any && place < p->comms[comm].n_members; place++) {
        member m = member_at(p, comm, place);
        any = m.ops != known && has_times_by_rank(&m);
        known = m.ops;
    }
    return any;
}

/* What agrees in one communicator agrees in all of its kind; what does not is told of each. */
static bool check_all(matching *m)
{
    const ovl_program *p = m->p;
    bool good = true;
    uint64_t n = 0;
    for (uint32_t c = 0; c < p->n_comms; c++) {
        uint32_t kind = m->comms[c].kind = kind_of(m, c);
        uint8_t *agree = &m->good.data[kind];
        if ((*agree & COLLECTIVES_AGREE) == 0 && check_collectives(p, c, m->errs)) {
            *agree |= COLLECTIVES_AGREE;
        }
        good &= (*agree & COLLECTIVES_AGREE) != 0;
        if (good && (*agree & TIMES_AGREE) == 0) {
            good = check_times(p, c, m->errs);
            *agree |= good && !by_rank(p, c) ? TIMES_AGREE : 0;
        }
        m->comms[c].first_collective = (uint32_t)n;
        m->comms[c].n_collectives = member_at(p, c, 0).n;
        n += m->comms[c].n_collectives;
    }
    if (n >= OVL_NONE) {
        ovl_error(m->errs, OVL_E_INPUT, (ovl_mark){0},
                  "the program has more than %" PRIu32 " collectives", OVL_NONE);
        return false;
    }
    m->p->n_collectives = (uint32_t)n;
    return good;
}

static bool pair_all(matching *m)
{
    const ovl_program *p = m->p;
    bool good = true;
    ovl_arena scratch = {0};
    const ovl_messages *codes = ovl_pairs_of(p, &scratch);
    for (uint32_t c = 0; c < p->n_comms; c++) {
        uint32_t kind = p->comms[c].kind;
        uint8_t *agree = &m->good.data[kind];
        if ((*agree & PAIRS_AGREE) == 0) {
            uint32_t *mates = &m->kinds.data[kind].mates;
            bool paired = !ovl_pairs_any(p, c, codes) ||
                          ovl_pair_up(p, c, codes, mates, &m->starts, &m->mates, m->errs);
            *agree |= paired ? PAIRS_AGREE : 0;
            good &= paired;
        }
    }
    ovl_arena_free(&scratch);
    return good;
}

static void hand_over(matching *m, ovl_arena *arena)
{
    ovl_program *p = m->p;
    p->n_kinds = m->kinds.len;
    p->kinds = ovl_vec_freeze(&m->kinds, arena);
    if (m->mates.len) {
        ovl_vec_push(&m->starts, m->mates.len);
        p->mate_at = ovl_vec_freeze(&m->starts, arena);
        p->mates = ovl_vec_freeze(&m->mates, arena);
    }
}

/* Sends and receives whose times are given rank by rank, in all communicators but the first of each
 * kind, where it is known. */
static bool check_pair_times(const ovl_program *p, ovl_errs *errs)
{
    bool good = true;
    ovl_arena scratch = {0};
    bool *vary = OVL_NEW_ARRAY(&scratch, bool, p->n_kinds);
    for (uint32_t k = 0; k < p->n_kinds; k++) {
        vary[k] = ovl_pairs_vary(p, k);
    }
    for (uint32_t c = 0; c < p->n_comms; c++) {
        uint32_t kind = p->comms[c].kind;
        good &= !vary[kind] || p->kinds[kind].comm == c || ovl_pairs_check_times(p, c, errs);
    }
    ovl_arena_free(&scratch);
    return good;
}

bool ovl_match_communication(ovl_program *p, ovl_comm *comms, ovl_arena *arena, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    matching m = {.p = p, .comms = comms, .errs = errs, .size = 8};
    while (m.size < 2 * p->n_comms) {
        m.size *= 2;
    }
    m.table = OVL_NEW_ARRAY(&scratch, uint32_t, m.size);
    bool good = check_all(&m) && pair_all(&m);
    if (good) {
        hand_over(&m, arena);
        good = check_pair_times(p, errs);
    }
    ovl_vec_free(&m.kinds);
    ovl_vec_free(&m.good);
    ovl_vec_free(&m.starts);
    ovl_vec_free(&m.mates);
    ovl_arena_free(&scratch);
    return good;
}
