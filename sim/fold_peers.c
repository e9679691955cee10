/*
 * fold_peers.c - what folding must know of a program before it looks for classes: who meets whom in
 * sends and receives, which ranks have equal costs, who uses a resource.
 */
#include "sim/fold_parts.h"

/* --- Numbers for equal things --- */

typedef struct numbering {
    const ovl_fold_basis *basis;
    uint32_t *table, size; /* thing + 1 by hash, open addressing */
    uint32_t *number;      /* of each thing: the lowest one it equals */
} numbering;

static numbering new_numbering(const ovl_fold_basis *basis, uint32_t things, ovl_arena *arena,
                               ovl_arena *scratch)
{
    numbering n = {.basis = basis, .size = 8};
    while (n.size < 2 * (uint64_t)things) {
        n.size *= 2;
    }
    n.table = OVL_NEW_ARRAY(scratch, uint32_t, n.size);
    n.number = OVL_NEW_ARRAY(arena, uint32_t, things);
    return n;
}

static void number(numbering *n, uint32_t thing, uint64_t hash,
                   bool (*same)(const ovl_fold_basis *, uint32_t, uint32_t))
{
    uint32_t at = (uint32_t)hash & (n->size - 1);
    for (; n->table[at]; at = (at + 1) & (n->size - 1)) {
        uint32_t other = n->table[at] - 1;
        if (same(n->basis, other, thing)) {
            n->number[thing] = n->number[other];
            return;
        }
    }
    n->table[at] = thing + 1;
    n->number[thing] = thing;
}

/* --- Sends and receives --- */

typedef OVL_VEC(uint32_t) numbers;

static void find_peers(const ovl_program *p, uint32_t n_places, ovl_arena *arena,
                       ovl_fold_basis *basis)
{
    ovl_arena scratch = {0};
    uint32_t *at = OVL_NEW_ARRAY(arena, uint32_t, n_places + 1);
    uint32_t *index = OVL_NEW_ARRAY(arena, uint32_t, p->mate_at[n_places]);
    uint32_t *last = OVL_NEW_ARRAY(&scratch, uint32_t, p->n_ranks); /* by place: + 1 in peers */
    numbers peers = {0};
    for (uint32_t i = 0; i < n_places; i++) {
        at[i] = peers.len;
        for (uint32_t k = p->mate_at[i]; k < p->mate_at[i + 1]; k++) {
            uint32_t place = p->mates[k].place;
            if (last[place] <= at[i]) {
                ovl_vec_push(&peers, place);
                last[place] = peers.len;
            }
            index[k] = last[place] - 1 - at[i];
        }
    }
    at[n_places] = peers.len;
    basis->peer_at = at;
    basis->peer_index = index;
    basis->peers = ovl_vec_freeze(&peers, arena);
    ovl_arena_free(&scratch);
}

static bool same_pairing(const ovl_fold_basis *b, uint32_t x, uint32_t y)
{
    const uint32_t *at = b->p->mate_at;
    if (at[x + 1] - at[x] != at[y + 1] - at[y]) {
        return false;
    }
    for (uint32_t i = at[x], k = at[y]; i < at[x + 1]; i++, k++) {
        const ovl_mate *m = &b->p->mates[i], *o = &b->p->mates[k];
        if (m->local != o->local || m->mate != o->mate || b->peer_index[i] != b->peer_index[k]) {
            return false;
        }
    }
    return true;
}

static void number_pairings(const ovl_program *p, uint32_t n_places, ovl_arena *arena,
                            ovl_fold_basis *basis)
{
    ovl_arena scratch = {0};
    numbering n = new_numbering(basis, n_places, arena, &scratch);
    for (uint32_t i = 0; i < n_places; i++) {
        uint64_t hash = 0;
        for (uint32_t k = p->mate_at[i]; k < p->mate_at[i + 1]; k++) {
            hash = ovl_fold_mix(hash, ((uint64_t)p->mates[k].local << 32) | p->mates[k].mate);
        }
        number(&n, i, hash, same_pairing);
    }
    basis->pairing = n.number;
    ovl_arena_free(&scratch);
}

/* --- Costs and buffers --- */

static bool same_sizes(const ovl_program *p, uint32_t a, uint32_t b)
{
    const ovl_code *code = &p->codes[p->ranks[a].code];
    for (uint32_t i = 0; i < code->n_buffers; i++) {
        const ovl_buffer *buffer = &code->buffers[i];
        if (ovl_buffer_bytes(p, a, buffer) != ovl_buffer_bytes(p, b, buffer)) {
            return false;
        }
    }
    return true;
}

static bool same_rank_costs(const ovl_fold_basis *basis, uint32_t a, uint32_t b)
{
    const ovl_program *p = basis->p;
    const ovl_rank *x = &p->ranks[a], *y = &p->ranks[b];
    if (x->code != y->code) {
        return false;
    }
    const ovl_code *code = &p->codes[x->code];
    for (uint32_t i = 0; i < code->n_ops && x->variant != y->variant; i++) {
        const ovl_op *op = ovl_code_op(code, i);
        if (op->per_rank && !ovl_same_cost(p, ovl_op_cost(p, a, op), ovl_op_cost(p, b, op))) {
            return false;
        }
    }
    return same_sizes(p, a, b);
}

static uint64_t hash_cost(uint64_t hash, const ovl_program *p, const ovl_cost *c)
{
    for (; c; c = ovl_next_phase(p, c)) {
        hash = ovl_fold_mix(hash, (uint64_t)c->latency);
        hash = ovl_fold_mix(hash, (uint64_t)c->work);
        const ovl_cost_kind *kind = ovl_kind_of(p, c);
        for (uint32_t i = 0; i < kind->n_demands; i++) {
            hash = ovl_fold_mix(hash, p->demands[kind->first_demand + i].rate);
        }
    }
    return hash;
}

/* Does what its ranks cost, or hold, differ from one to another? */
static bool code_varies(const ovl_code *code)
{
    bool varies = false;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        varies |= ovl_code_op(code, i)->per_rank;
    }
    for (uint32_t i = 0; i < code->n_buffers; i++) {
        varies |= code->buffers[i].sizes > 0;
    }
    return varies;
}

static void number_variants(const ovl_program *p, ovl_arena *arena, ovl_fold_basis *basis)
{
    ovl_arena scratch = {0};
    numbering n = new_numbering(basis, p->n_ranks, arena, &scratch);
    bool *varies = OVL_NEW_ARRAY(&scratch, bool, p->n_codes);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        varies[c] = code_varies(&p->codes[c]);
    }
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        const ovl_code *code = &p->codes[p->ranks[r].code];
        if (!varies[p->ranks[r].code]) {
            continue; /* number 0: the code says it all */
        }
        uint64_t hash = ovl_fold_mix(0, p->ranks[r].code);
        for (uint32_t i = 0; i < code->n_ops; i++) {
            if (ovl_code_op(code, i)->per_rank) {
                hash = hash_cost(hash, p, ovl_op_cost(p, r, ovl_code_op(code, i)));
            }
        }
        for (uint32_t i = 0; i < code->n_buffers; i++) {
            hash = code->buffers[i].sizes
                       ? ovl_fold_mix(hash, ovl_buffer_bytes(p, r, &code->buffers[i]))
                       : hash;
        }
        number(&n, r, hash, same_rank_costs);
    }
    basis->variant = n.number;
    ovl_arena_free(&scratch);
}

/* --- Resources --- */

static bool find_users(const ovl_program *p, ovl_arena *arena, ovl_fold_basis *basis)
{
    uint32_t *port_of = OVL_NEW_ARRAY(arena, uint32_t, p->n_resources);
    uint32_t *at = OVL_NEW_ARRAY(arena, uint32_t, p->n_resources + 2);
    bool *shared = OVL_NEW_ARRAY(arena, bool, p->n_ports), good = true;
    memset(port_of, 0xff, p->n_resources * sizeof *port_of);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        for (uint32_t port = 0; port < p->n_ports; port++) {
            ovl_id resource = p->rank_ports[p->ranks[r].first_port + port];
            if (resource != OVL_NONE) {
                good &= port_of[resource] == OVL_NONE || port_of[resource] == port;
                port_of[resource] = port;
                shared[port] |= at[resource + 2]++ > 0;
            }
        }
    }
    for (uint32_t i = 0; i < p->n_resources; i++) {
        at[i + 2] += at[i + 1];
    }
    uint32_t *users = OVL_NEW_ARRAY(arena, uint32_t, at[p->n_resources + 1]);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        for (uint32_t port = 0; port < p->n_ports; port++) {
            ovl_id resource = p->rank_ports[p->ranks[r].first_port + port];
            if (resource != OVL_NONE) {
                users[at[resource + 1]++] = r;
            }
        }
    }
    basis->port_of = port_of;
    basis->shared = shared;
    basis->users_at = at;
    basis->users = users;
    return good;
}

static bool meets_twice(const ovl_demand *a, uint32_t n, const ovl_demand *b, uint32_t m)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < m; k++) {
            if (&a[i] != &b[k] && a[i].port == b[k].port && (a[i].once || b[k].once)) {
                return true;
            }
        }
    }
    return false;
}

/* Whether what counts once meets itself depends on who sits where, which classes do not say. */
static bool count_simply(const ovl_program *p)
{
    for (uint32_t i = 0; i < p->n_cost_kinds; i++) {
        const ovl_cost_kind *kind = &p->cost_kinds[i];
        const ovl_demand *own = p->demands + kind->first_demand,
                         *peer = p->demands + kind->first_peer;
        if (meets_twice(own, kind->n_demands, own, kind->n_demands) ||
            meets_twice(peer, kind->n_peer, peer, kind->n_peer) ||
            meets_twice(own, kind->n_demands, peer, kind->n_peer)) {
            return false;
        }
    }
    return true;
}

bool ovl_fold_prepare(const ovl_program *p, ovl_arena *arena, ovl_fold_basis *basis)
{
    *basis = (ovl_fold_basis){.p = p};
    if (!find_users(p, arena, basis) || !count_simply(p)) {
        return false;
    }
    number_variants(p, arena, basis);
    uint32_t n_places = 0;
    for (uint32_t k = 0; k < p->n_kinds; k++) {
        n_places += p->kinds[k].mates == OVL_NONE ? 0 : p->comms[p->kinds[k].comm].n_members;
    }
    if (n_places) {
        find_peers(p, n_places, arena, basis);
        number_pairings(p, n_places, arena, basis);
    }
    return true;
}
