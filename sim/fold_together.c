/*
 * fold_together.c - which activities that are simulated as one load exactly the same resources.
 *
 * The sharing solver treats such activities as one class with a count and one clock (share.h,
 * state.h). The folded run does the same with the same count, so that not even rounding differs:
 * 8 transfers through one NIC are 8 activities of one class in either run; but 8 transfers through
 * one NIC that load a link of their own each are 8 classes of one, and the one that is simulated
 * loads its NIC 8 times.
 */
#include "sim/fold_parts.h"
#include "sim/vec.h"

#include <stdlib.h>

/* What was counted before: activities of one rank or communicator that use the same ports. */
typedef struct known {
    uint32_t thing, peer;
    uint64_t ports, peer_ports;
    uint32_t n;
} known;

typedef struct counting {
    const ovl_fold_basis *b;
    const ovl_program *whole, *p;
    const ovl_fold *fold;
    known *table; /* [TABLE], a cache */
} counting;

#define TABLE 4096

static known *known_at(const counting *c, known key)
{
    uint64_t hash = ovl_fold_mix(ovl_fold_mix(key.thing, key.peer), key.ports);
    return &c->table[ovl_fold_mix(hash, key.peer_ports) % TABLE];
}

static bool is_known(const known *k, const known *key)
{
    return k->n && k->thing == key->thing && k->peer == key->peer && k->ports == key->ports &&
           k->peer_ports == key->peer_ports;
}

/* A bit for each port that is loaded. */
static uint64_t ports_of(const counting *c, uint32_t first, uint32_t n)
{
    uint64_t ports = 0;
    for (uint32_t i = first; i < first + n; i++) {
        const ovl_demand *d = &c->p->demands[i];
        ports |= d->rate ? UINT64_C(1) << d->port : 0;
    }
    return ports;
}

/* One count holds for all phases: of those that load the same in each. */
static uint64_t ports_of_phases(const counting *c, const ovl_cost *cost)
{
    uint64_t ports = 0;
    for (; cost; cost = ovl_next_phase(c->p, cost)) {
        const ovl_cost_kind *kind = ovl_kind_of(c->p, cost);
        ports |= ports_of(c, kind->first_demand, kind->n_demands);
    }
    return ports;
}

/* Do two ranks of the whole have the same resources at these ports? */
static bool same_resources(const counting *c, uint32_t a, uint32_t b, uint64_t ports)
{
    const ovl_program *p = c->whole;
    for (uint32_t port = 0; port < p->n_ports; port++) {
        if (ports >> port & 1 && p->rank_ports[p->ranks[a].first_port + port] !=
                                     p->rank_ports[p->ranks[b].first_port + port]) {
            return false;
        }
    }
    return true;
}

/* The least number of ranks of a class that share a resource at one of these ports. */
static uint32_t least_load(const counting *c, uint32_t rank, uint64_t ports)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t port = 0; port < c->p->n_ports; port++) {
        uint32_t load = c->fold->rank_load[rank * c->p->n_ports + port];
        if (ports >> port & 1 && load) {
            least = OVL_MIN(least, load);
        }
    }
    return least;
}

/* Loads must be whole multiples of what is counted together. */
static bool divides(const counting *c, uint32_t n, const uint32_t *load, uint64_t ports)
{
    for (uint32_t port = 0; port < c->p->n_ports; port++) {
        if (ports >> port & 1 && load[port] % n) {
            return false;
        }
    }
    return true;
}

/* The rank that the `local` of a rank of the whole meets in a slot. */
static uint32_t peer_of(const counting *c, uint32_t rank, uint32_t slot, uint32_t local)
{
    const ovl_program *p = c->whole;
    uint32_t at = ovl_fold_mates(p, &p->ranks[rank], slot);
    uint32_t low = p->mate_at[at], high = p->mate_at[at + 1];
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (p->mates[middle].local <= local) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return ovl_fold_peer(p, &p->ranks[rank], slot, p->mates[low].place);
}

/* --- Of one rank, or a sender and its receiver --- */

/* The ranks of a resource that all who are counted have; all ranks if there is none. */
static const uint32_t *candidates(const counting *c, uint32_t lowest, uint64_t ports, uint32_t *n)
{
    const ovl_program *p = c->whole;
    for (uint32_t port = 0; port < p->n_ports; port++) {
        ovl_id resource = p->rank_ports[p->ranks[lowest].first_port + port];
        if (ports >> port & 1 && resource != OVL_NONE) {
            *n = c->b->users_at[resource + 1] - c->b->users_at[resource];
            return c->b->users + c->b->users_at[resource];
        }
    }
    *n = p->n_ranks;
    return NULL;
}

static uint32_t count_ranks(const counting *c, uint32_t rank, const known *key, uint32_t slot,
                            uint32_t local)
{
    uint32_t lowest = c->fold->rank[rank], n = 0, n_ranks;
    const uint32_t *ranks = candidates(c, lowest, key->ports, &n_ranks);
    for (uint32_t i = 0; i < n_ranks; i++) {
        uint32_t r = ranks ? ranks[i] : i;
        if (c->fold->ranks.of[r] == rank && same_resources(c, r, lowest, key->ports)) {
            n += key->peer == OVL_NONE ||
                 same_resources(c, peer_of(c, r, slot, local), peer_of(c, lowest, slot, local),
                                key->peer_ports);
        }
    }
    return n;
}

static uint32_t of_rank(const counting *c, uint32_t rank, uint32_t local)
{
    const ovl_op *op = ovl_code_op(&c->p->codes[c->p->ranks[rank].code], local);
    const ovl_cost_kind *cost = ovl_op_cost_kind(c->p, rank, op);
    bool send = op->kind == OVL_SEND;
    known key = {.thing = rank, .peer = OVL_NONE};
    key.ports = ports_of(c, cost->first_demand, cost->n_demands);
    uint32_t least = least_load(c, rank, key.ports);
    if (send) {
        uint32_t peer = ovl_op_rank(c->p, c->p->partner[c->p->ranks[rank].first_op + local]);
        key.peer = peer_of(c, c->fold->rank[rank], op->comm, local);
        key.peer_ports = ports_of(c, cost->first_peer, cost->n_peer);
        least = OVL_MIN(least, least_load(c, peer, key.peer_ports));
    }
    if (least == 1 || least == UINT32_MAX) {
        return 1;
    }
    known *k = known_at(c, key);
    if (!is_known(k, &key)) {
        key.n = count_ranks(c, rank, &key, op->comm, local);
        const uint32_t *load = &c->fold->rank_load[rank * c->p->n_ports];
        key.n = divides(c, key.n, load, key.ports) ? key.n : 1;
        if (send) {
            uint32_t peer = ovl_op_rank(c->p, c->p->partner[c->p->ranks[rank].first_op + local]);
            load = &c->fold->rank_load[peer * c->p->n_ports];
            key.n = divides(c, key.n, load, key.peer_ports) ? key.n : 1;
        }
        *k = key;
    }
    return k->n;
}

/* --- Of a communicator --- */

typedef OVL_VEC(uint32_t) numbers;

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void list_resources(const counting *c, uint32_t comm, uint64_t ports, numbers *list)
{
    const ovl_program *p = c->whole;
    list->len = 0;
    for (uint32_t i = 0; i < p->comms[comm].n_members; i++) {
        const ovl_rank *rank = &p->ranks[p->members[p->comms[comm].first_member + i]];
        for (uint32_t port = 0; port < p->n_ports; port++) {
            if (ports >> port & 1) {
                ovl_vec_push(list, p->rank_ports[rank->first_port + port]);
            }
        }
    }
    qsort(list->data, list->len, sizeof *list->data, compare_numbers);
}

static uint32_t count_comms(const counting *c, uint32_t comm, uint64_t ports)
{
    numbers own = {0}, other = {0};
    uint32_t n = 0;
    list_resources(c, c->fold->comms.first[comm], ports, &own);
    for (uint32_t k = 0; k < c->whole->n_comms; k++) {
        if (c->fold->comms.of[k] == comm) {
            list_resources(c, k, ports, &other);
            n += memcmp(own.data, other.data, own.len * sizeof *own.data) == 0;
        }
    }
    ovl_vec_free(&own);
    ovl_vec_free(&other);
    return n;
}

static uint32_t of_comm(const counting *c, uint32_t rank, const ovl_op *op)
{
    uint32_t comm = c->p->rank_comms[c->p->ranks[rank].first_comm + op->comm];
    const ovl_comm *folded = &c->p->comms[comm];
    known key = {.thing = comm, .peer = OVL_NONE - 1};
    key.ports = ports_of_phases(c, ovl_op_cost(c->p, rank, op));
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < folded->n_members && key.ports; i++) {
        least = OVL_MIN(least, least_load(c, c->p->members[folded->first_member + i], key.ports));
    }
    if (least == 1 || least == UINT32_MAX || c->fold->comms.count[comm] == 1) {
        return 1;
    }
    known *k = known_at(c, key);
    if (!is_known(k, &key)) {
        key.n = count_comms(c, comm, key.ports);
        for (uint32_t i = folded->first_member; i < folded->first_member + folded->n_members; i++) {
            const uint32_t *ranks = &c->fold->rank_load[c->p->members[i] * c->p->n_ports];
            const uint32_t *members = &c->fold->member_load[i * c->p->n_ports];
            bool whole =
                divides(c, key.n, ranks, key.ports) && divides(c, key.n, members, key.ports);
            key.n = whole ? key.n : 1;
        }
        *k = key;
    }
    return k->n;
}

const uint32_t *ovl_fold_together(const ovl_fold_basis *basis, const ovl_fold *fold,
                                  const ovl_program *folded, ovl_arena *arena)
{
    ovl_arena scratch = {0};
    counting c = {.b = basis, .whole = fold->whole, .p = folded, .fold = fold};
    c.table = OVL_NEW_ARRAY(&scratch, known, TABLE);
    uint32_t *together = OVL_NEW_ARRAY(arena, uint32_t, folded->n_ops);
    for (uint32_t r = 0; r < folded->n_ranks; r++) {
        const ovl_code *code = &folded->codes[folded->ranks[r].code];
        uint32_t *own = together + folded->ranks[r].first_op;
        for (uint32_t i = 0; i < code->n_ops; i++) {
            ovl_op_kind kind = (ovl_op_kind)ovl_code_op(code, i)->kind;
            bool rank = kind == OVL_KERNEL || kind == OVL_COPY || kind == OVL_SEND;
            own[i] = 1;
            if (folded->n_ports <= 64 && (rank || kind == OVL_COLLECTIVE)) {
                own[i] = rank ? of_rank(&c, r, i) : of_comm(&c, r, ovl_code_op(code, i));
            }
        }
    }
    ovl_arena_free(&scratch);
    return together;
}
