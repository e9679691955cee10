/*
 * pairs.c - which send meets which receive: the k-th send of a place to another with the k-th
 * receive there from it. Worked out once for all communicators of a kind.
 */
#include "sim/build.h"

typedef struct half {
    uint32_t from, to; /* places */
    uint32_t local;
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
    return (x->local > y->local) - (x->local < y->local);
}

static uint32_t rank_at(const ovl_program *p, uint32_t comm, uint32_t place)
{
    return p->members[p->comms[comm].first_member + place];
}

static uint32_t place_of(const half *h)
{
    return h->receive ? h->to : h->from;
}

static uint32_t rank_of(const ovl_program *p, uint32_t comm, const half *h)
{
    return rank_at(p, comm, place_of(h));
}

static const ovl_op *op_of(const ovl_program *p, uint32_t comm, const half *h)
{
    return ovl_code_op(&p->codes[p->ranks[rank_of(p, comm, h)].code], h->local);
}

static ovl_id name_of(const ovl_program *p, uint32_t comm, const half *h)
{
    return p->codes[p->ranks[rank_of(p, comm, h)].code].name[h->local];
}

static bool add_half(const ovl_program *p, uint32_t comm, uint32_t place, uint32_t local,
                     halves *list, ovl_errs *errs)
{
    uint32_t rank = rank_at(p, comm, place);
    const ovl_op *op = ovl_code_op(&p->codes[p->ranks[rank].code], local);
    ovl_id name = p->codes[p->ranks[rank].code].name[local];
    int64_t n = p->comms[comm].n_members;
    int64_t peer = op->peer_relative ? (((int64_t)place + op->peer) % n + n) % n : op->peer;
    if (peer < 0 || peer >= n || peer == place) {
        ovl_error(errs, OVL_E_INPUT, op->mark,
                  "\"%s\" on rank %" PRIu32 " names member %" PRId64 " of group \"%s\", which %s",
                  OVL_NAME(p->names, name), rank, peer, OVL_NAME(p->names, p->comms[comm].name),
                  peer == place ? "is itself" : "has no such member");
        return false;
    }
    bool receive = op->kind == OVL_RECV;
    half h = {.from = receive ? (uint32_t)peer : place,
              .to = receive ? place : (uint32_t)peer,
              .local = local,
              .receive = receive};
    ovl_vec_push(list, h);
    return true;
}

static bool is_message(const ovl_op *op)
{
    return op->kind == OVL_SEND || op->kind == OVL_RECV;
}

static ovl_messages messages_of(const ovl_code *code, ovl_arena *scratch)
{
    uint32_t *first = OVL_NEW_ARRAY(scratch, uint32_t, (size_t)code->n_slots + 2), n = 0;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        if (is_message(ovl_code_op(code, i))) {
            first[ovl_code_op(code, i)->comm + 2]++;
            n++;
        }
    }
    for (uint32_t s = 2; s <= code->n_slots; s++) {
        first[s] += first[s - 1];
    }
    uint32_t *local = OVL_NEW_ARRAY(scratch, uint32_t, n);
    for (uint32_t i = 0; n && i < code->n_ops; i++) {
        if (is_message(ovl_code_op(code, i))) {
            local[first[ovl_code_op(code, i)->comm + 1]++] = i;
        }
    }
    return (ovl_messages){first, local};
}

const ovl_messages *ovl_pairs_of(const ovl_program *p, ovl_arena *scratch)
{
    ovl_messages *codes = OVL_NEW_ARRAY(scratch, ovl_messages, p->n_codes);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        codes[c] = messages_of(&p->codes[c], scratch);
    }
    return codes;
}

bool ovl_pairs_any(const ovl_program *p, uint32_t comm, const ovl_messages *codes)
{
    const ovl_comm *c = &p->comms[comm];
    for (uint32_t i = c->first_member; i < c->first_member + c->n_members; i++) {
        uint32_t slot = p->member_slots[i];
        const ovl_messages *m = &codes[p->ranks[p->members[i]].code];
        if (slot != OVL_NONE && m->first[slot] < m->first[slot + 1]) {
            return true;
        }
    }
    return false;
}

static bool collect_halves(const ovl_program *p, uint32_t comm, const ovl_messages *codes,
                           halves *list, ovl_errs *errs)
{
    bool good = true;
    for (uint32_t place = 0; place < p->comms[comm].n_members; place++) {
        const ovl_messages *m = &codes[p->ranks[rank_at(p, comm, place)].code];
        uint32_t slot = p->member_slots[p->comms[comm].first_member + place];
        for (uint32_t i = slot == OVL_NONE ? 0 : m->first[slot];
             slot != OVL_NONE && i < m->first[slot + 1]; i++) {
            good &= add_half(p, comm, place, m->local[i], list, errs);
        }
    }
    return good;
}

static void say_alone(const ovl_program *p, uint32_t comm, const half *h, ovl_errs *errs)
{
    const ovl_op *op = op_of(p, comm, h);
    ovl_error(errs, OVL_E_STUCK, op->mark,
              "%s \"%s\" on rank %" PRIu32 " has no matching %s on rank %" PRIu32,
              h->receive ? "receive" : "send", OVL_NAME(p->names, name_of(p, comm, h)),
              rank_of(p, comm, h), h->receive ? "send" : "receive",
              rank_at(p, comm, h->receive ? h->from : h->to));
}

static bool check_pair_times(const ovl_program *p, uint32_t comm, const half *s, const half *r,
                             ovl_errs *errs)
{
    const ovl_op *send = op_of(p, comm, s), *recv = op_of(p, comm, r);
    const ovl_cost *out = ovl_op_cost(p, rank_of(p, comm, s), send);
    const ovl_cost *in = ovl_op_cost(p, rank_of(p, comm, r), recv);
    if (!recv->timed || ovl_same_times(p, out, in)) {
        return true;
    }
    ovl_error(errs, OVL_E_INPUT, recv->mark,
              "receive \"%s\" on rank %" PRIu32 " takes %s, but its send \"%s\" on rank %" PRIu32
              " takes %s (%s); a transfer takes what its send says",
              OVL_NAME(p->names, name_of(p, comm, r)), rank_of(p, comm, r),
              ovl_match_time(p, in, errs->arena), OVL_NAME(p->names, name_of(p, comm, s)),
              rank_of(p, comm, s), ovl_match_time(p, out, errs->arena),
              ovl_match_place(send->mark, recv->mark, errs->arena));
    return false;
}

static bool pair(const ovl_program *p, uint32_t comm, const half *s, const half *r, ovl_errs *errs)
{
    const ovl_op *send = op_of(p, comm, s), *recv = op_of(p, comm, r);
    if (send->bytes == recv->bytes && send->dtype == recv->dtype && send->eager == recv->eager) {
        return check_pair_times(p, comm, s, r, errs);
    }
    ovl_error(errs, OVL_E_STUCK, recv->mark,
              "receive \"%s\" on rank %" PRIu32 " (%" PRIu64
              " bytes %s, %s) meets send \"%s\" of rank %" PRIu32 " (%" PRIu64 " bytes %s, %s)",
              OVL_NAME(p->names, name_of(p, comm, r)), rank_of(p, comm, r), recv->bytes,
              ovl_dtype_name(recv->dtype), recv->eager ? "eager" : "rendezvous",
              OVL_NAME(p->names, name_of(p, comm, s)), rank_of(p, comm, s), send->bytes,
              ovl_dtype_name(send->dtype), send->eager ? "eager" : "rendezvous");
    return false;
}

/* A pair, seen from both sides. */
typedef struct met {
    uint32_t place;
    ovl_mate mate;
} met;

typedef OVL_VEC(met) mets;

static void add_met(mets *all, const half *s, const half *r)
{
    ovl_vec_push(all, (met){s->from, {s->local, r->to, r->local}});
    ovl_vec_push(all, (met){r->to, {r->local, s->from, s->local}});
}

/* The list is sorted: per (from, to) first all sends in order, then all receives in order. */
static bool meet(const ovl_program *p, uint32_t comm, const halves *list, mets *all, ovl_errs *errs)
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
            good &= pair(p, comm, &list->data[i + k], &list->data[i + sends + k], errs);
            add_met(all, &list->data[i + k], &list->data[i + sends + k]);
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

static int compare_mets(const void *a, const void *b)
{
    const met *x = a, *y = b;
    if (x->place != y->place) {
        return x->place < y->place ? -1 : 1;
    }
    return (x->mate.local > y->mate.local) - (x->mate.local < y->mate.local);
}

/* By place: stable, so that only those of several peers are out of order. */
static met *by_place(const mets *all, uint32_t places, uint32_t *first, ovl_arena *scratch)
{
    met *sorted = OVL_NEW_ARRAY(scratch, met, all->len);
    for (uint32_t i = 0; i < all->len; i++) {
        first[all->data[i].place + 1]++;
    }
    for (uint32_t place = 0; place < places; place++) {
        first[place + 1] += first[place];
    }
    for (uint32_t i = all->len; i-- > 0;) {
        sorted[--first[all->data[i].place + 1]] = all->data[i];
    }
    return sorted;
}

static bool ascend(const met *list, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (list[i - 1].mate.local > list[i].mate.local) {
            return false;
        }
    }
    return true;
}

static void keep(const ovl_comm *comm, const mets *all, ovl_mate_starts *starts, ovl_mates *list)
{
    ovl_arena scratch = {0};
    uint32_t *first = OVL_NEW_ARRAY(&scratch, uint32_t, (size_t)comm->n_members + 2);
    met *sorted = by_place(all, comm->n_members, first, &scratch);
    for (uint32_t place = 0; place < comm->n_members; place++) {
        uint32_t from = first[place + 1];
        uint32_t n = (place + 1 < comm->n_members ? first[place + 2] : all->len) - from;
        if (!ascend(sorted + from, n)) {
            qsort(sorted + from, n, sizeof *sorted, compare_mets);
        }
        ovl_vec_push(starts, list->len);
        for (uint32_t i = from; i < from + n; i++) {
            ovl_vec_push(list, sorted[i].mate);
        }
    }
    ovl_arena_free(&scratch);
}

static bool in_order(const halves *list)
{
    for (uint32_t i = 1; i < list->len; i++) {
        if (compare_halves(&list->data[i - 1], &list->data[i]) > 0) {
            return false;
        }
    }
    return true;
}

bool ovl_pair_up(const ovl_program *p, uint32_t comm, const ovl_messages *codes, uint32_t *mates,
                 ovl_mate_starts *starts, ovl_mates *list, ovl_errs *errs)
{
    halves found = {0};
    mets all = {0};
    bool good = collect_halves(p, comm, codes, &found, errs);
    if (found.len) {
        if (!in_order(&found)) { /* what goes one way only is */
            qsort(found.data, found.len, sizeof *found.data, compare_halves);
        }
        good = good && meet(p, comm, &found, &all, errs);
    }
    *mates = all.len ? starts->len : OVL_NONE;
    if (good && all.len) {
        keep(&p->comms[comm], &all, starts, list);
    }
    ovl_vec_free(&found);
    ovl_vec_free(&all);
    return good;
}

/* Rank-by-rank times are the only thing in which communicators of a kind can differ. */
static bool may_differ(const ovl_program *p, uint32_t comm, uint32_t place, const ovl_mate *m)
{
    const half h = {.from = place, .local = m->local}, other = {.from = m->place, .local = m->mate};
    const ovl_op *op = op_of(p, comm, &h), *mate = op_of(p, comm, &other);
    return op->kind == OVL_SEND && mate->timed && (op->per_rank || mate->per_rank);
}

bool ovl_pairs_vary(const ovl_program *p, uint32_t kind)
{
    const ovl_comm_kind *k = &p->kinds[kind];
    bool any = false;
    for (uint32_t place = 0; k->mates != OVL_NONE && place < p->comms[k->comm].n_members; place++) {
        uint32_t at = k->mates + place;
        for (uint32_t i = p->mate_at[at]; !any && i < p->mate_at[at + 1]; i++) {
            any = may_differ(p, k->comm, place, &p->mates[i]);
        }
    }
    return any;
}

bool ovl_pairs_check_times(const ovl_program *p, uint32_t comm, ovl_errs *errs)
{
    uint32_t first = p->kinds[p->comms[comm].kind].mates;
    bool good = true;
    for (uint32_t place = 0; place < p->comms[comm].n_members; place++) {
        for (uint32_t i = p->mate_at[first + place]; i < p->mate_at[first + place + 1]; i++) {
            const ovl_mate *m = &p->mates[i];
            if (may_differ(p, comm, place, m)) {
                half s = {place, m->place, m->local, false}, r = {place, m->place, m->mate, true};
                good &= check_pair_times(p, comm, &s, &r, errs);
            }
        }
    }
    return good;
}
