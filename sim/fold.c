/*
 * fold.c - colour refinement of ranks, communicators and resources: things of one colour are split
 * by the colours of what they are connected with until nothing splits any more.
 */
#include "sim/fold_parts.h"

typedef struct refining {
    const ovl_fold_basis *basis;
    const ovl_program *p;
    const bool *own; /* [n_comms] gets a colour of its own */
    uint32_t n[OVL_FOLD_SORTS], n_colours[OVL_FOLD_SORTS];
    uint32_t *colour[OVL_FOLD_SORTS];
    uint64_t *hash[OVL_FOLD_SORTS];
    uint32_t *table, size; /* thing + 1 by hash, open addressing */
    uint32_t *base;        /* by rank colour: where its (colour, slot) begin among `seen` */
    uint32_t *seen, stamp; /* by (colour, slot): the last communicator that met it */
    uint32_t *met, *count; /* by resource: the last communicator that met it, and how often */
} refining;

/* --- First colours --- */

/* Whoever roots a collective differs from its other members. */
static uint64_t hash_roots(const ovl_program *p, const ovl_rank *rank, uint32_t slot, uint64_t hash)
{
    const ovl_code *code = &p->codes[rank->code];
    for (uint32_t i = code->collectives.at[slot]; i < code->collectives.at[slot + 1]; i++) {
        if (ovl_fold_roots(p, rank, ovl_code_op(code, code->collectives.item[i]))) {
            hash = ovl_fold_mix(hash, i);
        }
    }
    return hash;
}

const bool *ovl_fold_rooted_codes(const ovl_program *p, ovl_arena *scratch)
{
    bool *rooted = OVL_NEW_ARRAY(scratch, bool, p->n_codes);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        for (uint32_t i = 0; i < p->codes[c].n_ops; i++) {
            rooted[c] |= ovl_fold_rooted(ovl_code_op(&p->codes[c], i));
        }
    }
    return rooted;
}

static void first_rank_colours(refining *f, ovl_arena *scratch)
{
    const ovl_program *p = f->p;
    const bool *rooted = ovl_fold_rooted_codes(p, scratch);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        const ovl_rank *rank = &p->ranks[r];
        uint64_t hash = ovl_fold_mix(rank->code, f->basis->variant[r]);
        hash = ovl_fold_mix(hash, rank->gpu);
        for (uint32_t s = 0; s < p->codes[rank->code].n_slots; s++) {
            uint32_t mates = ovl_fold_mates(p, rank, s);
            hash = ovl_fold_mix(hash, mates == OVL_NONE ? OVL_NONE : f->basis->pairing[mates]);
            hash = rooted[rank->code] ? hash_roots(p, rank, s, hash) : hash;
        }
        f->hash[OVL_FOLD_RANKS][r] = hash;
    }
}

static void first_colours(refining *f, ovl_arena *scratch)
{
    const ovl_program *p = f->p;
    first_rank_colours(f, scratch);
    for (uint32_t c = 0; c < p->n_comms; c++) {
        uint64_t own = f->own[c] ? (uint64_t)c + 1 : 0;
        f->hash[OVL_FOLD_COMMS][c] =
            ovl_fold_mix(ovl_fold_mix(p->comms[c].name, p->comms[c].n_members), own);
    }
    for (uint32_t i = 0; i < p->n_resources; i++) {
        const ovl_resource *r = &p->resources[i];
        f->hash[OVL_FOLD_RESOURCES][i] = ovl_fold_mix(ovl_fold_mix(r->name, r->kind), r->capacity);
    }
    for (uint32_t i = 0; i < p->n_changes; i++) {
        uint64_t *hash = &f->hash[OVL_FOLD_RESOURCES][p->changes[i].resource];
        *hash =
            ovl_fold_mix(ovl_fold_mix(*hash, (uint64_t)p->changes[i].time), p->changes[i].capacity);
    }
}

/* --- A round --- */

static void hash_ranks(refining *f)
{
    const ovl_program *p = f->p;
    const ovl_fold_basis *b = f->basis;
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        const ovl_rank *rank = &p->ranks[r];
        uint64_t hash = f->colour[OVL_FOLD_RANKS][r];
        for (uint32_t s = 0; s < p->codes[rank->code].n_slots; s++) {
            hash =
                ovl_fold_mix(hash, f->colour[OVL_FOLD_COMMS][p->rank_comms[rank->first_comm + s]]);
            uint32_t mates = ovl_fold_mates(p, rank, s);
            for (uint32_t i = mates == OVL_NONE ? 0 : b->peer_at[mates];
                 mates != OVL_NONE && i < b->peer_at[mates + 1]; i++) {
                uint32_t peer = ovl_fold_peer(p, rank, s, b->peers[i]);
                hash = ovl_fold_mix(hash, f->colour[OVL_FOLD_RANKS][peer]);
            }
        }
        for (uint32_t port = 0; port < p->n_ports; port++) {
            ovl_id resource = p->rank_ports[rank->first_port + port];
            hash = ovl_fold_mix(
                hash, resource == OVL_NONE ? OVL_NONE : f->colour[OVL_FOLD_RESOURCES][resource]);
        }
        f->hash[OVL_FOLD_RANKS][r] = hash;
    }
}

/* Where each rank colour begins among the pairs (colour, slot); a slot more for members that never
 * use the communicator. */
static void lay_out_slots(refining *f)
{
    const ovl_program *p = f->p;
    uint32_t n = 0, next = 0;
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        if (f->colour[OVL_FOLD_RANKS][r] == next) { /* colours are numbered as they come */
            f->base[next++] = n;
            n += p->codes[p->ranks[r].code].n_slots + 1;
        }
    }
}

static uint64_t hash_members(refining *f, const ovl_comm *comm)
{
    const ovl_program *p = f->p;
    uint64_t all = 0, order = 0;
    f->stamp++;
    for (uint32_t i = 0; i < comm->n_members; i++) {
        uint32_t rank = p->members[comm->first_member + i];
        uint32_t slot = p->member_slots[comm->first_member + i];
        uint32_t colour = f->colour[OVL_FOLD_RANKS][rank];
        slot = slot == OVL_NONE ? p->codes[p->ranks[rank].code].n_slots : slot;
        uint32_t pair = f->base[colour] + slot;
        all += ovl_fold_mix(pair, 1);
        if (f->seen[pair] != f->stamp) {
            f->seen[pair] = f->stamp;
            order = ovl_fold_mix(order, pair);
        }
    }
    return ovl_fold_mix(all, order);
}

/* A communicator knows how its members lie on shared resources, and each of those, how many
 * communicators it serves. */
static uint64_t hash_shared(refining *f, uint32_t c)
{
    const ovl_program *p = f->p;
    const ovl_comm *comm = &p->comms[c];
    uint64_t all = 0;
    for (uint32_t port = 0; port < p->n_ports; port++) {
        if (!f->basis->shared[port]) {
            continue;
        }
        for (uint32_t i = 0; i < comm->n_members; i++) {
            uint32_t rank = p->members[comm->first_member + i];
            ovl_id resource = p->rank_ports[p->ranks[rank].first_port + port];
            if (resource != OVL_NONE) {
                bool again = f->met[resource] == c + 1;
                f->count[resource] = again ? f->count[resource] + 1 : 1;
                f->met[resource] = c + 1;
                all += ovl_fold_mix(f->colour[OVL_FOLD_RESOURCES][resource], f->count[resource]);
                f->hash[OVL_FOLD_RESOURCES][resource] +=
                    again ? 0 : ovl_fold_mix(f->colour[OVL_FOLD_COMMS][c], 3);
            }
        }
    }
    return all;
}

static void hash_resources(refining *f)
{
    const ovl_fold_basis *b = f->basis;
    for (uint32_t i = 0; i < f->p->n_resources; i++) {
        uint64_t all = 0;
        for (uint32_t u = b->users_at[i]; u < b->users_at[i + 1]; u++) {
            all += ovl_fold_mix(f->colour[OVL_FOLD_RANKS][b->users[u]], 2);
        }
        f->hash[OVL_FOLD_RESOURCES][i] =
            ovl_fold_mix(f->colour[OVL_FOLD_RESOURCES][i], b->port_of[i]) + all;
        f->met[i] = 0;
    }
}

static void hash_comms(refining *f)
{
    lay_out_slots(f);
    for (uint32_t c = 0; c < f->p->n_comms; c++) {
        uint64_t members = hash_members(f, &f->p->comms[c]);
        uint64_t hash = ovl_fold_mix(f->colour[OVL_FOLD_COMMS][c], members);
        f->hash[OVL_FOLD_COMMS][c] = ovl_fold_mix(hash, hash_shared(f, c));
    }
}

/* Equal hashes get one colour, in order of the lowest. */
static void recolour(refining *f, uint32_t sort)
{
    uint32_t n_colours = 0, mask = f->size - 1;
    memset(f->table, 0, f->size * sizeof *f->table);
    for (uint32_t i = 0; i < f->n[sort]; i++) {
        uint64_t hash = f->hash[sort][i];
        uint32_t at = (uint32_t)hash & mask;
        while (f->table[at] && f->hash[sort][f->table[at] - 1] != hash) {
            at = (at + 1) & mask;
        }
        if (!f->table[at]) {
            f->table[at] = i + 1;
            f->colour[sort][i] = n_colours++;
        } else {
            f->colour[sort][i] = f->colour[sort][f->table[at] - 1];
        }
    }
    f->n_colours[sort] = n_colours;
}

static uint64_t count_colours(const refining *f)
{
    uint64_t n = 0;
    for (uint32_t sort = 0; sort < OVL_FOLD_SORTS; sort++) {
        n += f->n_colours[sort];
    }
    return n;
}

/* Communicators and resources look at ranks as this round coloured them, so that what splits
 * spreads a whole rank further. */
static void refine_once(refining *f)
{
    hash_ranks(f);
    recolour(f, OVL_FOLD_RANKS);
    hash_resources(f);
    hash_comms(f);
    recolour(f, OVL_FOLD_COMMS);
    recolour(f, OVL_FOLD_RESOURCES);
}

/* More rounds than this only help chains that are longer than twice as many ranks. */
#define ROUNDS_MAX 256

/* False if every rank has a colour of its own, or it takes too long. */
static bool refine(refining *f, ovl_arena *scratch)
{
    first_colours(f, scratch);
    for (uint32_t sort = 0; sort < OVL_FOLD_SORTS; sort++) {
        recolour(f, sort);
    }
    uint64_t before = 0, now = count_colours(f);
    for (uint32_t round = 0; now > before; round++) {
        if (f->n_colours[OVL_FOLD_RANKS] == f->p->n_ranks || round == ROUNDS_MAX) {
            return false;
        }
        refine_once(f);
        before = now;
        now = count_colours(f);
    }
    return true;
}

/* --- The partition --- */

static refining set_up(const ovl_fold_basis *basis, const bool *own, ovl_arena *scratch)
{
    const ovl_program *p = basis->p;
    refining f = {.basis = basis,
                  .p = p,
                  .own = own,
                  .n = {p->n_ranks, p->n_comms, p->n_resources},
                  .size = 8};
    uint32_t n_slots = 0;
    for (uint32_t sort = 0; sort < OVL_FOLD_SORTS; sort++) {
        f.colour[sort] = OVL_NEW_ARRAY(scratch, uint32_t, f.n[sort]);
        f.hash[sort] = OVL_NEW_ARRAY(scratch, uint64_t, f.n[sort]);
        while (f.size < 2 * (uint64_t)f.n[sort]) {
            f.size *= 2;
        }
    }
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        n_slots += p->codes[p->ranks[r].code].n_slots + 1;
    }
    f.table = OVL_NEW_ARRAY(scratch, uint32_t, f.size);
    f.base = OVL_NEW_ARRAY(scratch, uint32_t, p->n_ranks);
    f.seen = OVL_NEW_ARRAY(scratch, uint32_t, n_slots);
    f.met = OVL_NEW_ARRAY(scratch, uint32_t, p->n_resources);
    f.count = OVL_NEW_ARRAY(scratch, uint32_t, p->n_resources);
    return f;
}

static ovl_partition partition_of(const refining *f, uint32_t sort, ovl_arena *arena)
{
    ovl_partition classes = {.n = f->n_colours[sort]};
    uint32_t *of = OVL_NEW_ARRAY(arena, uint32_t, f->n[sort]);
    uint32_t *first = OVL_NEW_ARRAY(arena, uint32_t, classes.n);
    uint32_t *count = OVL_NEW_ARRAY(arena, uint32_t, classes.n);
    for (uint32_t i = 0; i < f->n[sort]; i++) {
        of[i] = f->colour[sort][i];
        if (count[of[i]]++ == 0) {
            first[of[i]] = i;
        }
    }
    classes.of = of;
    classes.first = first;
    classes.count = count;
    return classes;
}

static bool find(const ovl_fold_basis *basis, bool *own, ovl_arena *arena, ovl_fold *fold,
                 bool *crossed)
{
    ovl_arena scratch = {0};
    refining f = set_up(basis, own, &scratch);
    bool good = refine(&f, &scratch);
    *crossed = false;
    if (good) {
        fold->ranks = partition_of(&f, OVL_FOLD_RANKS, arena);
        fold->comms = partition_of(&f, OVL_FOLD_COMMS, arena);
        fold->resources = partition_of(&f, OVL_FOLD_RESOURCES, arena);
        fold->rank = fold->ranks.first;
        fold->count = fold->ranks.count;
        *crossed = ovl_fold_mark_crossed(basis, fold, own);
    }
    ovl_arena_free(&scratch);
    return good;
}

bool ovl_fold_find(const ovl_program *program, ovl_arena *arena, ovl_fold *fold)
{
    ovl_arena scratch = {0};
    ovl_fold_basis basis;
    bool *own = OVL_NEW_ARRAY(&scratch, bool, program->n_comms);
    bool good = program->n_ranks > 1 && ovl_fold_prepare(program, &scratch, &basis);
    *fold = (ovl_fold){.whole = program};
    for (bool crossed = true; good && crossed;) {
        good = find(&basis, own, arena, fold, &crossed);
    }
    good = good && fold->ranks.n < program->n_ranks && ovl_fold_verify(&basis, fold);
    ovl_arena_free(&scratch);
    return good;
}

bool ovl_fold_holds(const ovl_program *program, const ovl_fold *fold)
{
    ovl_arena scratch = {0};
    ovl_fold_basis basis;
    bool good = ovl_fold_prepare(program, &scratch, &basis) && ovl_fold_verify(&basis, fold);
    ovl_arena_free(&scratch);
    return good;
}
