/*
 * fold_check.c - is a partition equitable? Every member of every class is compared with the lowest,
 * exactly: no hash decides.
 */
#include "sim/fold_parts.h"

typedef struct checking {
    const ovl_fold_basis *b;
    const ovl_program *p;
    const ovl_fold *fold;
    const bool *rooted; /* by code: has collectives with a root */
    uint32_t *base;     /* by class of ranks: where its (class, slot) begin in `count` */
} checking;

/* --- Ranks --- */

static uint32_t class_of_comm(const checking *k, const ovl_rank *rank, uint32_t slot)
{
    return k->fold->comms.of[k->p->rank_comms[rank->first_comm + slot]];
}

static bool same_peers(const checking *k, const ovl_rank *a, const ovl_rank *b, uint32_t slot)
{
    uint32_t x = ovl_fold_mates(k->p, a, slot), y = ovl_fold_mates(k->p, b, slot);
    if (x == OVL_NONE || y == OVL_NONE) {
        return x == y;
    }
    if (k->b->pairing[x] != k->b->pairing[y]) {
        return false;
    }
    for (uint32_t i = k->b->peer_at[x], j = k->b->peer_at[y]; i < k->b->peer_at[x + 1]; i++, j++) {
        uint32_t peer = ovl_fold_peer(k->p, a, slot, k->b->peers[i]);
        uint32_t other = ovl_fold_peer(k->p, b, slot, k->b->peers[j]);
        if (k->fold->ranks.of[peer] != k->fold->ranks.of[other]) {
            return false;
        }
    }
    return true;
}

static bool same_ports(const checking *k, const ovl_rank *a, const ovl_rank *b)
{
    for (uint32_t port = 0; port < k->p->n_ports; port++) {
        ovl_id x = k->p->rank_ports[a->first_port + port];
        ovl_id y = k->p->rank_ports[b->first_port + port];
        if (x == OVL_NONE || y == OVL_NONE ? x != y
                                           : k->fold->resources.of[x] != k->fold->resources.of[y]) {
            return false;
        }
    }
    return true;
}

static bool same_roots(const checking *k, const ovl_rank *a, const ovl_rank *b)
{
    const ovl_code *code = &k->p->codes[a->code];
    for (uint32_t i = 0; k->rooted[a->code] && i < code->n_ops; i++) {
        if (ovl_fold_roots(k->p, a, ovl_code_op(code, i)) !=
            ovl_fold_roots(k->p, b, ovl_code_op(code, i))) {
            return false;
        }
    }
    return true;
}

static bool same_rank(const checking *k, uint32_t r, uint32_t lowest)
{
    const ovl_rank *a = &k->p->ranks[r], *b = &k->p->ranks[lowest];
    if (a->code != b->code || a->gpu != b->gpu || k->b->variant[r] != k->b->variant[lowest]) {
        return false;
    }
    for (uint32_t s = 0; s < k->p->codes[a->code].n_slots; s++) {
        if (class_of_comm(k, a, s) != class_of_comm(k, b, s) || !same_peers(k, a, b, s)) {
            return false;
        }
    }
    return same_ports(k, a, b) && same_roots(k, a, b);
}

/* --- Communicators --- */

static uint32_t pair_of(const checking *k, const ovl_comm *comm, uint32_t place)
{
    uint32_t rank = k->p->members[comm->first_member + place];
    uint32_t slot = k->p->member_slots[comm->first_member + place];
    slot = slot == OVL_NONE ? k->p->codes[k->p->ranks[rank].code].n_slots : slot;
    return k->base[k->fold->ranks.of[rank]] + slot;
}

/* The next place from `place` on at which a (class, slot) is met for the first time; `count` holds
 * how often each was met before. */
static uint32_t next_first(checking *k, const ovl_comm *comm, uint32_t place, int64_t *count)
{
    while (place < comm->n_members && count[pair_of(k, comm, place)]++ > 0) {
        place++;
    }
    return place;
}

static void forget(const checking *k, const ovl_comm *comm, int64_t *count)
{
    for (uint32_t place = 0; place < comm->n_members; place++) {
        count[pair_of(k, comm, place)] = 0;
    }
}

/* Both are walked from one first meeting to the next. */
static bool same_order(checking *k, const ovl_comm *a, const ovl_comm *b, int64_t *met_a,
                       int64_t *met_b)
{
    bool same = true;
    for (uint32_t i = 0, j = 0; same; i++, j++) {
        i = next_first(k, a, i, met_a);
        j = next_first(k, b, j, met_b);
        bool over = i == a->n_members || j == b->n_members;
        same = over ? i - a->n_members == j - b->n_members : pair_of(k, a, i) == pair_of(k, b, j);
        if (over) {
            break;
        }
    }
    return same;
}

/* After both were walked to their ends the counts must be equal. */
static bool same_comm(checking *k, uint32_t c, uint32_t lowest, int64_t *met_a, int64_t *met_b)
{
    const ovl_comm *a = &k->p->comms[c], *b = &k->p->comms[lowest];
    if (a->name != b->name || a->n_members != b->n_members ||
        a->n_collectives != b->n_collectives) {
        return false;
    }
    bool same = same_order(k, a, b, met_a, met_b);
    for (uint32_t place = 0; same && place < a->n_members; place++) {
        uint32_t pair = pair_of(k, a, place);
        same = met_a[pair] == met_b[pair];
    }
    forget(k, a, met_a);
    forget(k, a, met_b);
    forget(k, b, met_a);
    forget(k, b, met_b);
    return same;
}

static bool check_comms(checking *k)
{
    ovl_arena scratch = {0};
    uint32_t n = 0;
    k->base = OVL_NEW_ARRAY(&scratch, uint32_t, k->fold->ranks.n);
    for (uint32_t i = 0; i < k->fold->ranks.n; i++) {
        k->base[i] = n;
        n += k->p->codes[k->p->ranks[k->fold->ranks.first[i]].code].n_slots + 1;
    }
    int64_t *met_a = OVL_NEW_ARRAY(&scratch, int64_t, n);
    int64_t *met_b = OVL_NEW_ARRAY(&scratch, int64_t, n);
    bool good = true;
    for (uint32_t c = 0; good && c < k->p->n_comms; c++) {
        uint32_t lowest = k->fold->comms.first[k->fold->comms.of[c]];
        good = lowest == c || same_comm(k, c, lowest, met_a, met_b);
    }
    ovl_arena_free(&scratch);
    return good;
}

/* --- Resources --- */

typedef struct touching {
    const ovl_fold_basis *basis;
    const uint32_t *class_of; /* of communicators; NULL: they are counted only */
    uint32_t *met;            /* by resource: the last communicator that met it, and 1 */
    ovl_fold_touches t;
} touching;

/* The shared resources that one port of the members of a communicator leads to. */
static void touch_by(touching *k, uint32_t c, uint32_t port)
{
    const ovl_program *p = k->basis->p;
    const ovl_comm *comm = &p->comms[c];
    for (uint32_t i = 0; i < comm->n_members; i++) {
        uint32_t rank = p->members[comm->first_member + i];
        ovl_id resource = p->rank_ports[p->ranks[rank].first_port + port];
        if (resource == OVL_NONE || k->met[resource] == c + 1) {
            continue;
        }
        k->met[resource] = c + 1;
        if (k->class_of) {
            k->t.item[k->t.at[resource + 1]++] = k->class_of[c];
        } else {
            k->t.at[resource + 2]++;
        }
    }
}

static void touch_all(touching *k)
{
    const ovl_program *p = k->basis->p;
    memset(k->met, 0, p->n_resources * sizeof *k->met);
    for (uint32_t c = 0; c < p->n_comms; c++) {
        for (uint32_t port = 0; port < p->n_ports; port++) {
            if (k->basis->shared[port]) {
                touch_by(k, c, port);
            }
        }
    }
}

ovl_fold_touches ovl_fold_touch(const ovl_fold_basis *basis, const ovl_fold *fold, ovl_arena *arena)
{
    const uint32_t n = basis->p->n_resources;
    ovl_arena scratch = {0};
    touching k = {.basis = basis, .met = OVL_NEW_ARRAY(&scratch, uint32_t, n)};
    k.t.at = OVL_NEW_ARRAY(arena, uint32_t, n + 2);
    touch_all(&k);
    for (uint32_t i = 0; i < n; i++) {
        k.t.at[i + 2] += k.t.at[i + 1];
    }
    k.t.item = OVL_NEW_ARRAY(arena, uint32_t, k.t.at[n + 1]);
    k.class_of = fold->comms.of;
    touch_all(&k);
    ovl_arena_free(&scratch);
    return k.t;
}

/* Do two lists hold the same classes equally often? */
static bool same_counts(const uint32_t *of, const uint32_t *a, uint32_t n, const uint32_t *b,
                        uint32_t m, int64_t *count)
{
    bool same = n == m;
    for (uint32_t i = 0; same && i < n; i++) {
        count[of ? of[a[i]] : a[i]]++;
        count[of ? of[b[i]] : b[i]]--;
    }
    for (uint32_t i = 0; same && i < n; i++) {
        same = count[of ? of[a[i]] : a[i]] == 0 && count[of ? of[b[i]] : b[i]] == 0;
    }
    return same;
}

static bool same_changes(const ovl_program *p, uint32_t a, uint32_t b)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < p->n_changes; i++) {
        if (p->changes[i].resource != a) {
            continue;
        }
        while (k < p->n_changes && p->changes[k].resource != b) {
            k++;
        }
        if (k == p->n_changes || p->changes[i].time != p->changes[k].time ||
            p->changes[i].capacity != p->changes[k].capacity) {
            return false;
        }
        k++;
    }
    while (k < p->n_changes && p->changes[k].resource != b) {
        k++;
    }
    return k == p->n_changes;
}

static bool same_resource(const checking *k, const ovl_fold_touches *t, uint32_t i, uint32_t lowest,
                          int64_t *count)
{
    const ovl_resource *a = &k->p->resources[i], *b = &k->p->resources[lowest];
    const uint32_t *at = k->b->users_at, *users = k->b->users;
    return a->name == b->name && a->kind == b->kind && a->capacity == b->capacity &&
           k->b->port_of[i] == k->b->port_of[lowest] && same_changes(k->p, i, lowest) &&
           same_counts(k->fold->ranks.of, users + at[i], at[i + 1] - at[i], users + at[lowest],
                       at[lowest + 1] - at[lowest], count) &&
           same_counts(NULL, t->item + t->at[i], t->at[i + 1] - t->at[i], t->item + t->at[lowest],
                       t->at[lowest + 1] - t->at[lowest], count);
}

static bool check_resources(const checking *k)
{
    ovl_arena scratch = {0};
    ovl_fold_touches t = ovl_fold_touch(k->b, k->fold, &scratch);
    int64_t *count = OVL_NEW_ARRAY(&scratch, int64_t, OVL_MAX(k->p->n_ranks, k->p->n_comms));
    bool good = true;
    for (uint32_t i = 0; good && i < k->p->n_resources; i++) {
        uint32_t lowest = k->fold->resources.first[k->fold->resources.of[i]];
        good = lowest == i || same_resource(k, &t, i, lowest, count);
    }
    ovl_arena_free(&scratch);
    return good;
}

/* --- The whole --- */

bool ovl_fold_verify(const ovl_fold_basis *basis, const ovl_fold *fold)
{
    ovl_arena scratch = {0};
    checking k = {.b = basis, .p = basis->p, .fold = fold};
    k.rooted = ovl_fold_rooted_codes(basis->p, &scratch);
    bool good = true;
    for (uint32_t r = 0; good && r < k.p->n_ranks; r++) {
        uint32_t lowest = fold->ranks.first[fold->ranks.of[r]];
        good = lowest == r || same_rank(&k, r, lowest);
    }
    bool *own = OVL_NEW_ARRAY(&scratch, bool, k.p->n_comms);
    good =
        good && !ovl_fold_mark_crossed(basis, fold, own) && check_comms(&k) && check_resources(&k);
    ovl_arena_free(&scratch);
    return good;
}

static bool has_collectives(const ovl_code *code, uint32_t slot)
{
    return code->collectives.at[slot + 1] > code->collectives.at[slot];
}

bool ovl_fold_mark_crossed(const ovl_fold_basis *basis, const ovl_fold *fold, bool *own)
{
    const ovl_program *p = basis->p;
    ovl_arena scratch = {0};
    bool *crossed = OVL_NEW_ARRAY(&scratch, bool, fold->comms.n), any = false;
    for (uint32_t i = 0; i < fold->ranks.n; i++) {
        const ovl_rank *rank = &p->ranks[fold->ranks.first[i]];
        const ovl_code *code = &p->codes[rank->code];
        for (uint32_t s = 0; s < code->n_slots; s++) {
            uint32_t of = fold->comms.of[p->rank_comms[rank->first_comm + s]];
            for (uint32_t t = 0; t < s; t++) {
                bool same = fold->comms.of[p->rank_comms[rank->first_comm + t]] == of;
                bool meet = has_collectives(code, s) || has_collectives(code, t);
                crossed[of] |= same && meet && fold->comms.count[of] > 1;
            }
        }
    }
    for (uint32_t c = 0; c < p->n_comms; c++) {
        own[c] |= crossed[fold->comms.of[c]];
        any |= crossed[fold->comms.of[c]];
    }
    ovl_arena_free(&scratch);
    return any;
}
