#include "sim/gradcheck.h"

#include <math.h>

/* --- What is expected --- */

typedef struct source {
    ovl_id gradient;
    uint32_t code, microbatch, local;
    const ovl_effect *effect;
} source;

uint32_t ovl_gradient_part(const ovl_program *program, uint32_t rank, const ovl_effect *effect)
{
    return effect->apart
               ? program->rank_places[program->ranks[rank].first_place + effect->apart - 1]
               : 0;
}

static int compare_sources(const void *a, const void *b)
{
    const source *x = a, *y = b;
    if (x->gradient != y->gradient) {
        return x->gradient < y->gradient ? -1 : 1;
    }
    if (x->code != y->code) {
        return x->code < y->code ? -1 : 1;
    }
    if (x->microbatch != y->microbatch) {
        return x->microbatch < y->microbatch ? -1 : 1;
    }
    return (x->local > y->local) - (x->local < y->local);
}

typedef OVL_VEC(source) sources;

static void collect(const ovl_program *p, uint32_t code_id, sources *list)
{
    const ovl_code *code = &p->codes[code_id];
    for (uint32_t i = 0; i < code->n_ops; i++) {
        for (uint32_t k = code->effect.at[i]; k < code->effect.at[i + 1]; k++) {
            const ovl_effect *e = &code->effect.item[k];
            if (e->kind == OVL_PRODUCE || e->kind == OVL_ADD) {
                ovl_vec_push(list, (source){e->gradient, code_id, e->microbatch, i, e});
            }
        }
    }
}

typedef struct expecting {
    const ovl_program *p;
    const uint32_t *at;      /* [n_codes + 1] into of_code */
    const uint32_t *of_code; /* ranks by their code */
    ovl_gradvalues *values;
    OVL_VEC(ovl_gradterm) terms;
    OVL_VEC(uint32_t) ranks; /* one for each term */
} expecting;

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Ranks that produce, times the most microbatches of one of them: two copies of a model have
 * different ones. `ranks` holds each once for every microbatch. */
static uint64_t count_terms(uint32_t *ranks, uint32_t n)
{
    uint64_t distinct = 0, most = 0;
    qsort(ranks, n, sizeof *ranks, compare_numbers);
    for (uint32_t i = 0, own; i < n; i += own) {
        for (own = 1; i + own < n && ranks[i + own] == ranks[i]; own++) {
        }
        distinct++;
        most = OVL_MAX(most, own);
    }
    return distinct * most;
}

static void list_ranks(expecting *x, ovl_arena *arena)
{
    const ovl_program *p = x->p;
    uint32_t *at = OVL_NEW_ARRAY(arena, uint32_t, (size_t)p->n_codes + 2);
    uint32_t *of_code = OVL_NEW_ARRAY(arena, uint32_t, p->n_ranks);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        at[p->ranks[r].code + 2]++;
    }
    for (uint32_t c = 0; c < p->n_codes; c++) {
        at[c + 1] += at[c];
    }
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        of_code[at[p->ranks[r].code + 1]++] = r;
    }
    x->at = at;
    x->of_code = of_code;
}

/* Every rank of each code that has this part, for each of its microbatches, at the common scale. */
static void expect(expecting *x, const source *first, uint32_t n, uint32_t part, ovl_expected *out)
{
    x->terms.len = x->ranks.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool seen = i && first[i].code == first[i - 1].code &&
                    first[i].microbatch == first[i - 1].microbatch;
        uint32_t end = seen ? 0 : x->at[first[i].code + 1];
        for (uint32_t k = x->at[first[i].code]; k < end; k++) {
            uint32_t r = x->of_code[k];
            if (ovl_gradient_part(x->p, r, first[i].effect) == part) {
                ovl_vec_push(&x->ranks, r);
                ovl_vec_push(&x->terms, (ovl_gradterm){r, first[i].microbatch, 0});
            }
        }
    }
    if (x->terms.len == 0) {
        return;
    }
    out->parts = count_terms(x->ranks.data, x->ranks.len);
    for (uint32_t i = 0; i < x->terms.len; i++) {
        x->terms.data[i].scale = 1.0 / (double)out->parts;
    }
    out->value = ovl_gradvalue_of(x->values, x->terms.data, x->terms.len);
    out->code = first->code;
    out->local = first->local;
}

/* Gradients of one layer or another are mostly produced by the same codes and microbatches. */
static bool same_pattern(const source *a, uint32_t n, const source *b, uint32_t m)
{
    if (n != m) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (a[i].code != b[i].code || a[i].microbatch != b[i].microbatch ||
            a[i].effect->apart != b[i].effect->apart) {
            return false;
        }
    }
    return true;
}

/* How many parts the ranks that produce a gradient have. */
static uint32_t count_parts(const ovl_program *p, const source *first, uint32_t n)
{
    uint32_t parts = 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t apart = first[i].effect->apart;
        for (uint32_t r = 0; apart && r < p->n_ranks; r++) {
            if (p->ranks[r].code == first[i].code) {
                const ovl_comm *comm = &p->comms[p->rank_comms[p->ranks[r].first_comm + apart - 1]];
                parts = OVL_MAX(parts, comm->n_members);
                break;
            }
        }
    }
    return parts;
}

static uint32_t same_gradient(const sources *list, uint32_t i)
{
    uint32_t n = 1;
    while (i + n < list->len && list->data[i + n].gradient == list->data[i].gradient) {
        n++;
    }
    return n;
}

/* Names without a producer have a part, too: nothing is expected of it. */
static void number_parts(const ovl_program *p, const sources *list, uint32_t *at)
{
    for (uint32_t g = 0; g < p->names->count; g++) {
        at[g + 1] = 1;
    }
    for (uint32_t i = 0, n; i < list->len; i += n) {
        n = same_gradient(list, i);
        at[list->data[i].gradient + 1] = count_parts(p, &list->data[i], n);
    }
    for (uint32_t g = 0; g < p->names->count; g++) {
        at[g + 1] += at[g];
    }
}

static void expect_all(expecting *x, const sources *list, const ovl_expectations *all)
{
    const source *known = NULL;
    uint32_t n_known = 0;
    for (uint32_t i = 0, n; i < list->len; i += n) {
        const source *first = &list->data[i];
        n = same_gradient(list, i);
        ovl_expected *out = &all->item[all->at[first->gradient]];
        bool like = known && same_pattern(known, n_known, first, n);
        for (uint32_t k = 0; k < all->at[first->gradient + 1] - all->at[first->gradient]; k++) {
            if (like) {
                out[k] = all->item[all->at[known->gradient] + k];
                out[k].local = first->local;
            } else {
                expect(x, first, n, k, &out[k]);
            }
        }
        known = like ? known : first;
        n_known = like ? n_known : n;
    }
}

ovl_expectations ovl_gradients_expected(const ovl_program *program, ovl_gradvalues *values,
                                        ovl_arena *arena)
{
    sources list = {0};
    for (uint32_t c = 0; c < program->n_codes; c++) {
        collect(program, c, &list);
    }
    if (list.len) {
        qsort(list.data, list.len, sizeof *list.data, compare_sources);
    }
    uint32_t *at = OVL_NEW_ARRAY(arena, uint32_t, (size_t)program->names->count + 1);
    number_parts(program, &list, at);
    ovl_expectations all = {OVL_NEW_ARRAY(arena, ovl_expected, at[program->names->count]), at};
    for (uint32_t i = 0; i < at[program->names->count]; i++) {
        all.item[i].value = OVL_NONE;
    }
    expecting x = {.p = program, .values = values};
    ovl_arena scratch = {0};
    list_ranks(&x, &scratch);
    expect_all(&x, &list, &all);
    ovl_vec_free(&x.terms);
    ovl_vec_free(&x.ranks);
    ovl_vec_free(&list);
    ovl_arena_free(&scratch);
    return all;
}

/* --- What is wrong --- */

static bool about(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static bool whole_multiple(double ratio)
{
    return ratio > 1.5 && about(ratio, round(ratio));
}

static const ovl_gradterm *find(const ovl_gradterm *terms, uint32_t n, const ovl_gradterm *like)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const ovl_gradterm *t = &terms[middle];
        if (t->rank < like->rank || (t->rank == like->rank && t->microbatch < like->microbatch)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found =
        low < n && terms[low].rank == like->rank && terms[low].microbatch == like->microbatch;
    return found ? &terms[low] : NULL;
}

/* Contributions that are wrong in one way: the first, its scale, and how many. */
typedef struct tally {
    const ovl_gradterm *first;
    double found;
    uint32_t n;
} tally;

typedef struct comparison {
    const ovl_gradterm *want, *got;
    uint32_t n_want, n_got;
    tally missing, wrong, multiple;
    bool uniform;
    double ratio, least; /* found / expected: of the first, and the least of all */
} comparison;

static void count(tally *t, const ovl_gradterm *want, double found)
{
    if (t->n++ == 0) {
        t->first = want;
        t->found = found;
    }
}

static void compare(comparison *c)
{
    for (uint32_t i = 0; i < c->n_want; i++) {
        const ovl_gradterm *w = &c->want[i], *g = find(c->got, c->n_got, w);
        double ratio = g ? g->scale / w->scale : 0;
        c->ratio = i == 0 ? ratio : c->ratio;
        c->uniform &= about(ratio, c->ratio);
        c->least = g ? OVL_MIN(c->least, fabs(ratio)) : c->least;
        if (!g) {
            count(&c->missing, w, 0);
        } else if (!about(ratio, 1)) {
            count(&c->wrong, w, g->scale);
        }
    }
}

/* A contribution that is in too often sticks out from the others. */
static void find_multiples(comparison *c)
{
    for (uint32_t i = 0; i < c->n_want; i++) {
        const ovl_gradterm *w = &c->want[i], *g = find(c->got, c->n_got, w);
        if (g && whole_multiple(g->scale / w->scale / c->least)) {
            count(&c->multiple, w, g->scale);
        }
    }
}

static ovl_gradient_verdict verdict_of(ovl_gradient_fault fault, const tally *t, bool uniform)
{
    return (ovl_gradient_verdict){fault, t->first->rank, t->first->microbatch,
                                  t->n,  uniform,        t->found};
}

/* If all contributions have one wrong factor, their history tells whether they were added several
 * times or merely scaled wrongly. */
static ovl_gradient_verdict judge(comparison *c, bool doubled)
{
    if (c->missing.n) {
        return verdict_of(OVL_GRADIENT_MISSING, &c->missing, c->missing.n == c->n_want);
    }
    if (c->wrong.n == 0) {
        return (ovl_gradient_verdict){0};
    }
    if (c->uniform) {
        bool twice = doubled && whole_multiple(c->ratio);
        return verdict_of(twice ? OVL_GRADIENT_DUPLICATE : OVL_GRADIENT_SCALE, &c->wrong, true);
    }
    find_multiples(c);
    return c->multiple.n ? verdict_of(OVL_GRADIENT_DUPLICATE, &c->multiple, false)
                         : verdict_of(OVL_GRADIENT_SCALE, &c->wrong, false);
}

ovl_gradient_verdict ovl_gradient_check(const ovl_gradvalues *values, const ovl_expected *expected,
                                        uint32_t received)
{
    if (received == expected->value && received != OVL_NONE) {
        return (ovl_gradient_verdict){0};
    }
    if (expected->value == OVL_NONE) {
        return (ovl_gradient_verdict){.fault = OVL_GRADIENT_MISSING};
    }
    const ovl_gradvalue *want = &values->values.data[expected->value];
    comparison c = {.want = values->terms.data + want->first,
                    .n_want = want->n,
                    .uniform = true,
                    .least = HUGE_VAL};
    bool doubled = false;
    if (received != OVL_NONE) {
        const ovl_gradvalue *got = &values->values.data[received];
        c.got = values->terms.data + got->first;
        c.n_got = got->n;
        doubled = got->doubled;
    }
    compare(&c);
    return judge(&c, doubled);
}
