/*
 * match.c - do the members of each communicator agree? Collectives are compared by their place in
 * the order, sends are paired with receives; a disagreement is a schedule that hangs on hardware.
 */
#include "sim/build.h"
#include "sim/units.h"

static uint32_t find_slot(const ovl_program *p, const ovl_rank *rank, uint32_t comm)
{
    uint32_t n = p->codes[rank->code].n_slots;
    for (uint32_t s = 0; s < n; s++) {
        if (p->rank_comms[rank->first_comm + s] == comm) {
            return s;
        }
    }
    return OVL_NONE;
}

/* --- Times ---
 *
 * What several ranks do together takes one time; if they state different ones, whichever was taken
 * would leave the other without a word. */

/* "5 ms", or "1 ms + 4 ms" with a fixed part. */
static const char *time_of(const ovl_cost *cost, ovl_arena *arena)
{
    char latency[OVL_UNITS_TEXT], work[OVL_UNITS_TEXT];
    ovl_print_time(latency, cost->latency);
    ovl_print_time(work, cost->work);
    return cost->latency ? ovl_arena_printf(arena, "%s + %s", latency, work)
                         : ovl_arena_strdup(arena, work);
}

static bool same_time(const ovl_cost *a, const ovl_cost *b)
{
    return a->latency == b->latency && a->work == b->work;
}

/* "line 5, column 7", with the file if it is another one. */
static const char *place_of(ovl_mark mark, ovl_mark seen_from, ovl_arena *arena)
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
    uint32_t slot = find_slot(p, rank, comm);
    if (slot != OVL_NONE) {
        m.code = &p->codes[rank->code];
        m.ops = m.code->collectives.item + m.code->collectives.at[slot];
        m.n = m.code->collectives.at[slot + 1] - m.code->collectives.at[slot];
    }
    return m;
}

static const char *describe(const ovl_program *p, ovl_arena *arena, const ovl_op *op)
{
    const char *name = ovl_names_text(p->names, op->name);
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
    const char *group = ovl_names_text(p->names, p->comms[comm].name);
    for (uint32_t k = 0; k < OVL_MIN(a->n, b->n); k++) {
        const ovl_op *x = &a->code->ops[a->ops[k]], *y = &b->code->ops[b->ops[k]];
        if (!same_collective(x, y)) {
            ovl_error(errs, OVL_E_STUCK, y->mark,
                      "mismatched collectives: operation %" PRIu32
                      " of group \"%s\" is %s on rank %" PRIu32 " but %s on rank %" PRIu32
                      "; every member must launch the same collectives in "
                      "the same order",
                      k + 1, group, describe(p, errs->arena, x), a->rank,
                      describe(p, errs->arena, y), b->rank);
            return false;
        }
    }
    if (a->n != b->n) {
        const member *more = a->n > b->n ? a : b, *less = a->n > b->n ? b : a;
        const ovl_op *extra = &more->code->ops[more->ops[less->n]];
        ovl_error(errs, OVL_E_STUCK, extra->mark,
                  "mismatched collectives: rank %" PRIu32 " launches %s as operation %" PRIu32
                  " of group \"%s\", but rank %" PRIu32 " launches only %" PRIu32,
                  more->rank, describe(p, errs->arena, extra), less->n + 1, group, less->rank,
                  less->n);
        return false;
    }
    return true;
}

static const ovl_op *op_at(const member *m, uint32_t k)
{
    return &m->code->ops[m->ops[k]];
}

/* Times of two members that agree otherwise; one sentence for each pair of lists is enough. */
static bool compare_times(const ovl_program *p, const member *a, const member *b, ovl_errs *errs)
{
    for (uint32_t k = 0; k < a->n; k++) {
        const ovl_op *x = op_at(a, k), *y = op_at(b, k);
        const ovl_cost *s = ovl_op_cost(p, a->rank, x), *t = ovl_op_cost(p, b->rank, y);
        if (!same_time(s, t)) {
            ovl_error(errs, OVL_E_INPUT, y->mark,
                      "%s \"%s\" takes %s on rank %" PRIu32 " but %s on rank %" PRIu32
                      " (%s); it is over on all members at once, so they must state one time",
                      ovl_coll_name(y->coll), ovl_names_text(p->names, y->name),
                      time_of(t, errs->arena), b->rank, time_of(s, errs->arena), a->rank,
                      place_of(x->mark, y->mark, errs->arena));
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
    return good && check_times(p, comm, errs);
}

/* --- Sends and receives --- */

typedef struct half {
    uint32_t from, to; /* places */
    uint32_t op;       /* global */
    bool receive;
} half;

typedef OVL_VEC(half) halves;

static int compare_halves(const void *a, const void *b)
{
    const half *x = a, *y = b;
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    if (x->to != y->to) {
        return x->to < y->to ? -1 : 1;
    }
    if (x->receive != y->receive) {
        return x->receive ? 1 : -1;
    }
    return (x->op > y->op) - (x->op < y->op);
}

static bool add_half(const ovl_program *p, uint32_t comm, uint32_t rank, uint32_t place,
                     uint32_t local, halves *list, ovl_errs *errs)
{
    const ovl_op *op = &p->codes[p->ranks[rank].code].ops[local];
    int64_t n = p->comms[comm].n_members;
    int64_t peer = op->peer_relative ? (((int64_t)place + op->peer) % n + n) % n : op->peer;
    if (peer < 0 || peer >= n || peer == place) {
        ovl_error(errs, OVL_E_INPUT, op->mark,
                  "\"%s\" on rank %" PRIu32 " names member %" PRId64 " of group \"%s\", which %s",
                  ovl_names_text(p->names, op->name), rank, peer,
                  ovl_names_text(p->names, p->comms[comm].name),
                  peer == place ? "is itself" : "has no such member");
        return false;
    }
    bool receive = op->kind == OVL_RECV;
    half h = {.from = receive ? (uint32_t)peer : place,
              .to = receive ? place : (uint32_t)peer,
              .op = p->ranks[rank].first_op + local,
              .receive = receive};
    ovl_vec_push(list, h);
    return true;
}

static bool collect_halves(const ovl_program *p, uint32_t comm, halves *list, ovl_errs *errs)
{
    bool good = true;
    for (uint32_t place = 0; place < p->comms[comm].n_members; place++) {
        uint32_t rank = p->members[p->comms[comm].first_member + place];
        const ovl_code *code = &p->codes[p->ranks[rank].code];
        uint32_t slot = find_slot(p, &p->ranks[rank], comm);
        for (uint32_t i = 0; slot != OVL_NONE && i < code->n_ops; i++) {
            const ovl_op *op = &code->ops[i];
            if ((op->kind == OVL_SEND || op->kind == OVL_RECV) && op->comm == slot) {
                good &= add_half(p, comm, rank, place, i, list, errs);
            }
        }
    }
    return good;
}

static void say_alone(const ovl_program *p, uint32_t comm, const half *h, ovl_errs *errs)
{
    const ovl_op *op = ovl_op_of(p, h->op);
    const ovl_comm *c = &p->comms[comm];
    uint32_t other = p->members[c->first_member + (h->receive ? h->from : h->to)];
    ovl_error(errs, OVL_E_STUCK, op->mark,
              "%s \"%s\" on rank %" PRIu32 " has no matching %s on rank %" PRIu32,
              h->receive ? "receive" : "send", ovl_names_text(p->names, op->name),
              ovl_op_rank(p, h->op), h->receive ? "send" : "receive", other);
}

static bool check_pair_times(const ovl_program *p, const half *s, const half *r, ovl_errs *errs)
{
    const ovl_op *send = ovl_op_of(p, s->op), *recv = ovl_op_of(p, r->op);
    const ovl_cost *out = ovl_op_cost(p, ovl_op_rank(p, s->op), send);
    const ovl_cost *in = ovl_op_cost(p, ovl_op_rank(p, r->op), recv);
    if (!recv->timed || same_time(out, in)) {
        return true;
    }
    ovl_error(errs, OVL_E_INPUT, recv->mark,
              "receive \"%s\" on rank %" PRIu32 " takes %s, but its send \"%s\" on rank %" PRIu32
              " takes %s (%s); a transfer takes what its send says",
              ovl_names_text(p->names, recv->name), ovl_op_rank(p, r->op), time_of(in, errs->arena),
              ovl_names_text(p->names, send->name), ovl_op_rank(p, s->op),
              time_of(out, errs->arena), place_of(send->mark, recv->mark, errs->arena));
    return false;
}

static bool pair(const ovl_program *p, const half *s, const half *r, uint32_t *partner,
                 ovl_errs *errs)
{
    const ovl_op *send = ovl_op_of(p, s->op), *recv = ovl_op_of(p, r->op);
    partner[s->op] = r->op;
    partner[r->op] = s->op;
    if (send->bytes == recv->bytes && send->dtype == recv->dtype && send->eager == recv->eager) {
        return check_pair_times(p, s, r, errs);
    }
    ovl_error(errs, OVL_E_STUCK, recv->mark,
              "receive \"%s\" on rank %" PRIu32 " (%" PRIu64
              " bytes %s, %s) meets send \"%s\" of rank %" PRIu32 " (%" PRIu64 " bytes %s, %s)",
              ovl_names_text(p->names, recv->name), ovl_op_rank(p, r->op), recv->bytes,
              ovl_dtype_name(recv->dtype), recv->eager ? "eager" : "rendezvous",
              ovl_names_text(p->names, send->name), ovl_op_rank(p, s->op), send->bytes,
              ovl_dtype_name(send->dtype), send->eager ? "eager" : "rendezvous");
    return false;
}

/* The list is sorted: per (from, to) first all sends in order, then all receives in order. */
static bool pair_up(const ovl_program *p, uint32_t comm, const halves *list, uint32_t *partner,
                    ovl_errs *errs)
{
    bool good = true;
    for (uint32_t i = 0; i < list->len;) {
        uint32_t end = i, sends = 0;
        while (end < list->len && list->data[end].from == list->data[i].from &&
               list->data[end].to == list->data[i].to) {
            sends += !list->data[end++].receive;
        }
        uint32_t receives = end - i - sends;
        for (uint32_t k = 0; k < OVL_MIN(sends, receives); k++) {
            good &= pair(p, &list->data[i + k], &list->data[i + sends + k], partner, errs);
        }
        if (sends != receives) {
            uint32_t alone = sends > receives ? i + receives : i + sends + sends;
            say_alone(p, comm, &list->data[alone], errs);
            good = false;
        }
        i = end;
    }
    return good;
}

static bool has_point_to_point(const ovl_program *p)
{
    for (uint32_t c = 0; c < p->n_codes; c++) {
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            if (p->codes[c].ops[i].kind == OVL_SEND || p->codes[c].ops[i].kind == OVL_RECV) {
                return true;
            }
        }
    }
    return false;
}

static bool match_pairs(ovl_program *p, ovl_arena *arena, ovl_errs *errs)
{
    uint32_t *partner = OVL_NEW_ARRAY(arena, uint32_t, p->n_ops);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        partner[i] = OVL_NONE;
    }
    bool good = true;
    halves list = {0};
    for (uint32_t c = 0; c < p->n_comms; c++) {
        list.len = 0;
        good &= collect_halves(p, c, &list, errs);
        if (list.len) {
            qsort(list.data, list.len, sizeof *list.data, compare_halves);
        }
        good = good && pair_up(p, c, &list, partner, errs);
    }
    ovl_vec_free(&list);
    p->partner = partner;
    return good;
}

bool ovl_match_communication(ovl_program *p, ovl_comm *comms, ovl_arena *arena, ovl_errs *errs)
{
    bool good = true;
    for (uint32_t c = 0; c < p->n_comms; c++) {
        good &= check_collectives(p, c, errs);
        comms[c].first_collective = p->n_collectives;
        comms[c].n_collectives = member_at(p, c, 0).n;
        p->n_collectives += comms[c].n_collectives;
    }
    if (good && has_point_to_point(p)) {
        good = match_pairs(p, arena, errs);
    }
    return good;
}
