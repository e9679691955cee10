#include "sim/gradform.h"

/* Terms of a form: `rank` says whose, `microbatch` which; slots are fewer than 2^16. */
#define OWN         UINT32_MAX
#define GIVEN(slot) (UINT32_MAX - 1 - (slot))
#define SLOT(rank)  (UINT32_MAX - 1 - (rank))

typedef struct ovl_gradknown {
    uint64_t key;   /* (what, where) */
    uint32_t value; /* + 1; 0: free */
} ovl_gradknown;

typedef OVL_VEC(ovl_gradterm) terms;

void ovl_gradforms_init(ovl_gradforms *g, const ovl_program *p, ovl_gradvalues *values)
{
    *g = (ovl_gradforms){.p = p, .whole = p->fold ? p->fold->whole : p, .values = values};
}

void ovl_gradforms_free(ovl_gradforms *g)
{
    ovl_gradvalues_free(&g->forms);
    ovl_vec_free(&g->sums);
    ovl_vec_free(&g->lists);
    ovl_tally_give(g->sum_slots, g->n_sum_slots, sizeof *g->sum_slots);
    ovl_tally_give(g->known, g->known_slots, sizeof *g->known);
}

uint32_t ovl_gradform_own(ovl_gradforms *g, uint32_t microbatch, double scale)
{
    return ovl_gradvalue_single(&g->forms, OWN, microbatch, scale);
}

uint32_t ovl_gradform_combine(ovl_gradforms *g, const uint32_t *forms, uint32_t n, double factor)
{
    return ovl_gradvalue_combine(&g->forms, forms, n, factor);
}

/* --- Sums --- */

static bool same_sum(const ovl_gradforms *g, const ovl_gradsum *a, const ovl_gradsum *b,
                     const uint32_t *forms)
{
    return a->hash == b->hash && a->comm == b->comm && a->root == b->root && a->n == b->n &&
           ovl_grad_bits(a->factor) == ovl_grad_bits(b->factor) &&
           memcmp(g->lists.data + a->first, forms, a->n * sizeof *forms) == 0;
}

static void grow_sum_slots(ovl_gradforms *g)
{
    if (g->n_sum_slots > 2 * (g->sums.len + 1)) {
        return;
    }
    ovl_tally_give(g->sum_slots, g->n_sum_slots, sizeof *g->sum_slots);
    g->n_sum_slots = OVL_MAX(64, g->n_sum_slots * 4);
    g->sum_slots = ovl_tally_take(g->n_sum_slots, sizeof *g->sum_slots);
    for (uint32_t i = 0; i < g->sums.len; i++) {
        uint32_t slot = (uint32_t)g->sums.data[i].hash & (g->n_sum_slots - 1);
        while (g->sum_slots[slot]) {
            slot = (slot + 1) & (g->n_sum_slots - 1);
        }
        g->sum_slots[slot] = i + 1;
    }
}

uint32_t ovl_gradsum_of(ovl_gradforms *g, uint32_t comm, const uint32_t *forms, uint32_t n,
                        uint32_t root, double factor)
{
    ovl_gradsum sum = {.comm = comm, .n = n, .root = root, .factor = factor};
    sum.hash = ovl_grad_mix(ovl_grad_mix(ovl_grad_mix(0, comm), root), ovl_grad_bits(factor));
    for (uint32_t i = 0; i < n; i++) {
        sum.hash = ovl_grad_mix(sum.hash, forms[i]);
    }
    grow_sum_slots(g);
    uint32_t slot = (uint32_t)sum.hash & (g->n_sum_slots - 1);
    for (; g->sum_slots[slot]; slot = (slot + 1) & (g->n_sum_slots - 1)) {
        if (same_sum(g, &g->sums.data[g->sum_slots[slot] - 1], &sum, forms)) {
            return g->sum_slots[slot] - 1;
        }
    }
    sum.first = g->lists.len;
    for (uint32_t i = 0; i < n; i++) {
        ovl_vec_push(&g->lists, forms[i]);
    }
    ovl_vec_push(&g->sums, sum);
    g->sum_slots[slot] = g->sums.len;
    return g->sums.len - 1;
}

uint32_t ovl_gradform_given(ovl_gradforms *g, uint32_t slot, uint32_t sum)
{
    return ovl_gradvalue_single(&g->forms, GIVEN(slot), sum, 1.0);
}

/* --- What was worked out --- */

static ovl_gradknown *find_known(ovl_gradknown *list, uint32_t n_slots, uint64_t key)
{
    uint32_t slot = (uint32_t)ovl_grad_mix(0, key) & (n_slots - 1);
    while (list[slot].value && list[slot].key != key) {
        slot = (slot + 1) & (n_slots - 1);
    }
    return &list[slot];
}

static void grow_known(ovl_gradforms *g)
{
    if (g->known_slots > 2 * (g->n_known + 1)) {
        return;
    }
    uint32_t n = OVL_MAX(64, g->known_slots * 4);
    ovl_gradknown *list = ovl_tally_take(n, sizeof *list);
    for (uint32_t i = 0; i < g->known_slots; i++) {
        if (g->known[i].value) {
            *find_known(list, n, g->known[i].key) = g->known[i];
        }
    }
    ovl_tally_give(g->known, g->known_slots, sizeof *g->known);
    g->known = list;
    g->known_slots = n;
}

static void keep(ovl_gradforms *g, uint64_t key, uint32_t value)
{
    grow_known(g);
    *find_known(g->known, g->known_slots, key) = (ovl_gradknown){key, value + 1};
    g->n_known++;
}

static uint32_t look_up(const ovl_gradforms *g, uint64_t key)
{
    const ovl_gradknown *k = g->known_slots ? find_known(g->known, g->known_slots, key) : NULL;
    return k && k->value ? k->value - 1 : OVL_NONE;
}

/* --- Values --- */

static uint32_t value_of_sum(ovl_gradforms *g, uint32_t sum, uint32_t comm);

static uint32_t comm_of(const ovl_gradforms *g, uint32_t rank, uint32_t slot)
{
    return g->whole->rank_comms[g->whole->ranks[rank].first_comm + slot];
}

/* Appends what a form is on a rank of the whole; gives whether a contribution was met more than
 * once in it. */
static bool add_terms(ovl_gradforms *g, uint32_t form, uint32_t rank, double factor, terms *out)
{
    ovl_gradvalue f = g->forms.values.data[form];
    bool doubled = f.doubled;
    for (uint32_t i = f.first; i < f.first + f.n; i++) {
        ovl_gradterm t = g->forms.terms.data[i];
        if (t.rank == OWN) {
            ovl_vec_push(out, (ovl_gradterm){rank, t.microbatch, t.scale * factor});
            continue;
        }
        uint32_t value = value_of_sum(g, t.microbatch, comm_of(g, rank, SLOT(t.rank)));
        const ovl_gradvalue *v = &g->values->values.data[value];
        doubled |= v->doubled;
        for (uint32_t k = v->first; k < v->first + v->n; k++) {
            ovl_gradterm own = g->values->terms.data[k];
            own.scale *= t.scale * factor;
            ovl_vec_push(out, own);
        }
    }
    return doubled;
}

/* Which member of the program that runs stands for a place of a communicator of the whole. */
static uint32_t member_of(const ovl_gradforms *g, const ovl_comm *comm, uint32_t place)
{
    uint32_t slot = g->whole->member_slots[comm->first_member + place];
    if (!g->p->fold || slot == OVL_NONE) {
        return slot == OVL_NONE ? OVL_NONE : place;
    }
    uint32_t rank = g->p->fold->ranks.of[g->whole->members[comm->first_member + place]];
    return g->p->rank_places[g->p->ranks[rank].first_place + slot];
}

static uint32_t value_of_sum(ovl_gradforms *g, uint32_t sum, uint32_t comm)
{
    uint64_t key = (uint64_t)sum << 32 | comm;
    uint32_t value = look_up(g, key);
    if (value != OVL_NONE) {
        return value;
    }
    ovl_gradsum s = g->sums.data[sum];
    const ovl_comm *c = &g->whole->comms[comm];
    terms out = {0};
    bool doubled = false;
    for (uint32_t place = 0; place < c->n_members; place++) {
        uint32_t member = member_of(g, c, place);
        uint32_t form = member < s.n ? g->lists.data[s.first + member] : OVL_NONE;
        if (form != OVL_NONE && (s.root == OVL_NONE || s.root == member)) {
            uint32_t rank = g->whole->members[c->first_member + place];
            doubled |= add_terms(g, form, rank, s.factor, &out);
        }
    }
    value = ovl_gradvalue_met(g->values, out.data, out.len, doubled);
    keep(g, key, value);
    ovl_vec_free(&out);
    return value;
}

/* The slot of all that a form sums up; OVL_NONE: there are several, or it has what is the rank's
 * own.
 */
static uint32_t only_slot(const ovl_gradforms *g, const ovl_gradvalue *f)
{
    const ovl_gradterm *t = &g->forms.terms.data[f->first];
    for (uint32_t i = 0; i < f->n; i++) {
        if (t[i].rank == OWN || t[i].rank != t[0].rank) {
            return OVL_NONE;
        }
    }
    return f->n ? SLOT(t[0].rank) : OVL_NONE;
}

/* What a value is worked out for: the rank, or all members of the one communicator it comes from,
 * so that sums over microbatches do not cost members times members. */
static uint64_t key_of(const ovl_gradforms *g, uint32_t form, uint32_t rank)
{
    const uint64_t of_form = UINT64_C(1) << 63, of_comm = UINT64_C(1) << 62;
    uint32_t slot = only_slot(g, &g->forms.values.data[form]);
    assert(form < UINT32_C(1) << 30);
    return slot == OVL_NONE ? of_form | (uint64_t)form << 32 | rank
                            : of_form | of_comm | (uint64_t)form << 32 | comm_of(g, rank, slot);
}

uint32_t ovl_gradform_value(ovl_gradforms *g, uint32_t form, uint32_t rank)
{
    ovl_gradvalue f = g->forms.values.data[form];
    const ovl_gradterm *only = &g->forms.terms.data[f.first];
    if (f.n == 1 && only->rank != OWN && !f.doubled &&
        ovl_grad_bits(only->scale) == ovl_grad_bits(1.0)) {
        return value_of_sum(g, only->microbatch, comm_of(g, rank, SLOT(only->rank)));
    }
    uint64_t key = key_of(g, form, rank);
    uint32_t value = look_up(g, key);
    if (value == OVL_NONE) {
        terms out = {0};
        bool doubled = add_terms(g, form, rank, 1.0, &out);
        value = ovl_gradvalue_met(g->values, out.data, out.len, doubled);
        keep(g, key, value);
        ovl_vec_free(&out);
    }
    return value;
}
