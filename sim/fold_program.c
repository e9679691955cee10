/*
 * fold_program.c - the program of one representative of each class, and what it stands for.
 */
#include "sim/fold_parts.h"
#include "sim/vec.h"

#include <stdlib.h>

typedef OVL_VEC(uint32_t) numbers;

typedef struct folding {
    const ovl_program *whole;
    ovl_fold *fold;
    ovl_program *p;
    ovl_arena *arena;
    const ovl_fold_basis *b;
} folding;

/* --- Ranks --- */

static bool fold_ranks(folding *f, ovl_errs *errs)
{
    const ovl_program *whole = f->whole;
    uint32_t n = f->p->n_ranks = f->fold->ranks.n, n_slots = 0;
    ovl_rank *ranks = OVL_NEW_ARRAY(f->arena, ovl_rank, n);
    ovl_id *ports = OVL_NEW_ARRAY(f->arena, ovl_id, (size_t)n * whole->n_ports);
    uint64_t n_ops = 0;
    for (uint32_t i = 0; i < n; i++) {
        const ovl_rank *r = &whole->ranks[f->fold->rank[i]];
        ranks[i] = *r;
        ranks[i].first_op = (uint32_t)n_ops;
        ranks[i].first_comm = ranks[i].first_place = n_slots;
        ranks[i].first_port = i * whole->n_ports;
        n_slots += whole->codes[r->code].n_slots;
        n_ops += whole->codes[r->code].n_ops;
        for (uint32_t port = 0; port < whole->n_ports; port++) {
            ovl_id resource = whole->rank_ports[r->first_port + port];
            ports[ranks[i].first_port + port] =
                resource == OVL_NONE ? OVL_NONE : f->fold->resources.of[resource];
        }
    }
    ovl_id *comms = OVL_NEW_ARRAY(f->arena, ovl_id, n_slots);
    for (uint32_t i = 0; i < n; i++) {
        const ovl_rank *r = &whole->ranks[f->fold->rank[i]];
        for (uint32_t s = 0; s < whole->codes[r->code].n_slots; s++) {
            comms[ranks[i].first_comm + s] =
                f->fold->comms.of[whole->rank_comms[r->first_comm + s]];
        }
    }
    f->p->ranks = ranks;
    f->p->rank_comms = comms;
    f->p->rank_ports = ports;
    f->p->n_ops = (uint32_t)OVL_MIN(n_ops, UINT32_MAX);
    if (n_ops >= UINT32_MAX) {
        ovl_error(errs, OVL_E_INPUT, (ovl_mark){0},
                  "the program has more than %" PRIu32 " operations over all classes of ranks",
                  OVL_NONE);
    }
    return n_ops < UINT32_MAX;
}

/* --- Communicators --- */

/* One member for each (class, slot) of the lowest communicator of the class, in order of their
 * first places. `seen` holds, by (class, slot), the class of communicators that met it last, + 1.
 */
static void fold_members(const folding *f, uint32_t of, const uint32_t *base, uint32_t *seen,
                         numbers *members, numbers *slots)
{
    const ovl_program *whole = f->whole;
    const ovl_comm *comm = &whole->comms[f->fold->comms.first[of]];
    for (uint32_t i = 0; i < comm->n_members; i++) {
        uint32_t rank = f->fold->ranks.of[whole->members[comm->first_member + i]];
        uint32_t slot = whole->member_slots[comm->first_member + i];
        if (slot != OVL_NONE && seen[base[rank] + slot] != of + 1) {
            seen[base[rank] + slot] = of + 1;
            ovl_vec_push(members, rank);
            ovl_vec_push(slots, slot);
        }
    }
}

static void fold_comms(folding *f)
{
    const ovl_program *whole = f->whole;
    ovl_program *p = f->p;
    ovl_arena scratch = {0};
    numbers members = {0}, slots = {0};
    uint32_t n_slots = 0, *base = OVL_NEW_ARRAY(&scratch, uint32_t, p->n_ranks);
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        base[i] = n_slots;
        n_slots += p->codes[p->ranks[i].code].n_slots;
    }
    uint32_t *seen = OVL_NEW_ARRAY(&scratch, uint32_t, n_slots);
    uint32_t *places = OVL_NEW_ARRAY(f->arena, uint32_t, n_slots);
    memset(places, 0xff, n_slots * sizeof *places);
    p->n_comms = f->fold->comms.n;
    p->n_collectives = 0;
    ovl_comm *comms = OVL_NEW_ARRAY(f->arena, ovl_comm, p->n_comms);
    for (uint32_t c = 0; c < p->n_comms; c++) {
        comms[c] = whole->comms[f->fold->comms.first[c]];
        comms[c].first_member = members.len;
        fold_members(f, c, base, seen, &members, &slots);
        comms[c].n_members = members.len - comms[c].first_member;
        comms[c].first_collective = p->n_collectives;
        p->n_collectives += comms[c].n_collectives;
        for (uint32_t i = comms[c].first_member; i < members.len; i++) {
            places[p->ranks[members.data[i]].first_place + slots.data[i]] =
                i - comms[c].first_member;
        }
    }
    p->comms = comms;
    p->rank_places = places;
    p->members = ovl_vec_freeze(&members, f->arena);
    p->member_slots = ovl_vec_freeze(&slots, f->arena);
    ovl_arena_free(&scratch);
}

/* Whom the representative meets stands for all whom its class meets; perhaps it meets itself. */
static void fold_pairs(folding *f)
{
    const ovl_program *whole = f->whole;
    f->p->partner = NULL;
    if (!whole->mates) {
        return;
    }
    uint32_t *partner = OVL_NEW_ARRAY(f->arena, uint32_t, f->p->n_ops);
    memset(partner, 0xff, f->p->n_ops * sizeof *partner);
    for (uint32_t i = 0; i < f->p->n_ranks; i++) {
        const ovl_rank *r = &whole->ranks[f->fold->rank[i]];
        for (uint32_t s = 0; s < whole->codes[r->code].n_slots; s++) {
            uint32_t at = ovl_fold_mates(whole, r, s);
            for (uint32_t k = at == OVL_NONE ? 0 : whole->mate_at[at];
                 at != OVL_NONE && k < whole->mate_at[at + 1]; k++) {
                const ovl_mate *m = &whole->mates[k];
                uint32_t peer = f->fold->ranks.of[ovl_fold_peer(whole, r, s, m->place)];
                partner[f->p->ranks[i].first_op + m->local] = f->p->ranks[peer].first_op + m->mate;
            }
        }
    }
    f->p->partner = partner;
}

/* --- Resources --- */

static void fold_resources(folding *f)
{
    const ovl_program *whole = f->whole;
    uint32_t n = f->p->n_resources = f->fold->resources.n;
    ovl_resource *resources = OVL_NEW_ARRAY(f->arena, ovl_resource, n);
    for (uint32_t i = 0; i < n; i++) {
        resources[i] = whole->resources[f->fold->resources.first[i]];
    }
    f->p->resources = resources;
    ovl_capacity_change *changes = OVL_NEW_ARRAY(f->arena, ovl_capacity_change, whole->n_changes);
    f->p->n_changes = 0;
    for (uint32_t i = 0; i < whole->n_changes; i++) {
        ovl_capacity_change change = whole->changes[i];
        uint32_t of = f->fold->resources.of[change.resource];
        if (f->fold->resources.first[of] == change.resource) {
            change.resource = of;
            changes[f->p->n_changes++] = change;
        }
    }
    f->p->changes = changes;
}

/* Whoever uses the lowest resource of a class has, as all of its class, that port for it. */
static void find_rank_loads(folding *f)
{
    const ovl_program *p = f->p;
    uint32_t *load = OVL_NEW_ARRAY(f->arena, uint32_t, (size_t)p->n_ranks * p->n_ports);
    for (uint32_t i = 0; i < p->n_resources; i++) {
        uint32_t lowest = f->fold->resources.first[i];
        for (uint32_t u = f->b->users_at[lowest]; u < f->b->users_at[lowest + 1]; u++) {
            uint32_t rank = f->fold->ranks.of[f->b->users[u]];
            load[(size_t)rank * p->n_ports + f->b->port_of[lowest]]++;
        }
    }
    f->fold->rank_load = load;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static uint32_t first_not_below(const uint32_t *list, uint32_t n, uint32_t value)
{
    uint32_t low = 0;
    while (low < n) {
        uint32_t middle = low + (n - low) / 2;
        if (list[middle] < value) {
            low = middle + 1;
        } else {
            n = middle;
        }
    }
    return low;
}

static uint32_t touched_by(const ovl_fold_touches *t, uint32_t resource, uint32_t comm)
{
    const uint32_t *list = t->item + t->at[resource];
    uint32_t n = t->at[resource + 1] - t->at[resource];
    return first_not_below(list, n, comm + 1) - first_not_below(list, n, comm);
}

static void find_member_loads(folding *f, ovl_arena *scratch)
{
    const ovl_program *p = f->p;
    ovl_fold_touches t = ovl_fold_touch(f->b, f->fold, scratch);
    for (uint32_t i = 0; i < p->n_resources; i++) {
        uint32_t lowest = f->fold->resources.first[i];
        qsort(t.item + t.at[lowest], t.at[lowest + 1] - t.at[lowest], sizeof *t.item,
              compare_numbers);
    }
    uint32_t n = 0;
    for (uint32_t c = 0; c < p->n_comms; c++) {
        n += p->comms[c].n_members;
    }
    uint32_t *load = OVL_NEW_ARRAY(f->arena, uint32_t, (size_t)n * p->n_ports);
    for (uint32_t c = 0; c < p->n_comms; c++) {
        for (uint32_t i = 0; i < p->comms[c].n_members * p->n_ports; i++) {
            uint32_t member = p->comms[c].first_member + i / p->n_ports, port = i % p->n_ports;
            ovl_id resource = p->rank_ports[p->ranks[p->members[member]].first_port + port];
            if (resource != OVL_NONE) {
                uint32_t lowest = f->fold->resources.first[resource];
                load[(size_t)member * p->n_ports + port] =
                    f->b->shared[port] ? touched_by(&t, lowest, c) : 1;
            }
        }
    }
    f->fold->member_load = load;
}

/* Of each member and port, how many resources of that class the communicator has. */
static void set_spreads(const folding *f, const ovl_comm *comm, const uint32_t *count,
                        uint32_t *spread)
{
    const ovl_program *p = f->p;
    for (uint32_t i = comm->first_member; i < comm->first_member + comm->n_members; i++) {
        for (uint32_t port = 0; port < p->n_ports; port++) {
            ovl_id resource = p->rank_ports[p->ranks[p->members[i]].first_port + port];
            spread[(size_t)i * p->n_ports + port] = resource == OVL_NONE ? 0 : count[resource];
        }
    }
}

static void find_spreads(folding *f, ovl_arena *scratch)
{
    const ovl_program *p = f->p, *whole = f->whole;
    uint32_t n = 0;
    for (uint32_t c = 0; c < p->n_comms; c++) {
        n += p->comms[c].n_members;
    }
    uint32_t *spread = OVL_NEW_ARRAY(f->arena, uint32_t, (size_t)n * p->n_ports);
    uint32_t *met = OVL_NEW_ARRAY(scratch, uint32_t, whole->n_resources);
    uint32_t *met_class = OVL_NEW_ARRAY(scratch, uint32_t, p->n_resources);
    uint32_t *count = OVL_NEW_ARRAY(scratch, uint32_t, p->n_resources);
    for (uint32_t c = 0; c < p->n_comms; c++) {
        const ovl_comm *comm = &whole->comms[f->fold->comms.first[c]];
        for (uint32_t i = 0; i < comm->n_members * p->n_ports; i++) {
            uint32_t rank = whole->members[comm->first_member + i / p->n_ports];
            ovl_id resource = whole->rank_ports[whole->ranks[rank].first_port + i % p->n_ports];
            if (resource != OVL_NONE && met[resource] != c + 1) {
                uint32_t class = f->fold->resources.of[resource];
                met[resource] = c + 1;
                count[class] = met_class[class] == c + 1 ? count[class] + 1 : 1;
                met_class[class] = c + 1;
            }
        }
        set_spreads(f, &p->comms[c], count, spread);
    }
    f->fold->member_spread = spread;
}

/* --- The whole --- */

bool ovl_fold_program(const ovl_program *whole, ovl_fold *fold, ovl_arena *arena,
                      ovl_program *folded, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    ovl_fold_basis basis;
    folding f = {.whole = whole, .fold = fold, .p = folded, .arena = arena, .b = &basis};
    *folded = *whole;
    folded->n_kinds = 0;
    folded->kinds = NULL;
    folded->mate_at = NULL;
    folded->mates = NULL;
    folded->numbered = true;
    folded->fold = fold;
    bool good = ovl_fold_prepare(whole, &scratch, &basis) && fold_ranks(&f, errs);
    if (good) {
        fold_comms(&f);
        fold_pairs(&f);
        fold_resources(&f);
        find_rank_loads(&f);
        find_member_loads(&f, &scratch);
        find_spreads(&f, &scratch);
        fold->together = ovl_fold_together(&basis, fold, folded, arena);
    }
    ovl_arena_free(&scratch);
    return good;
}
