#include "sim/gradvalue.h"

static void give_slots(uint32_t *slots, uint32_t n)
{
    ovl_tally_give(slots, n, sizeof *slots);
}

void ovl_gradvalues_free(ovl_gradvalues *v)
{
    ovl_vec_free(&v->terms);
    ovl_vec_free(&v->values);
    ovl_vec_free(&v->memos);
    ovl_vec_free(&v->lists);
    ovl_vec_free(&v->scratch);
    give_slots(v->value_slots, v->n_value_slots);
    give_slots(v->memo_slots, v->n_memo_slots);
    *v = (ovl_gradvalues){0};
}

/* --- Slots --- */

static void put(uint32_t *slots, uint32_t n_slots, uint64_t hash, uint32_t number)
{
    uint32_t slot = (uint32_t)hash & (n_slots - 1);
    while (slots[slot]) {
        slot = (slot + 1) & (n_slots - 1);
    }
    slots[slot] = number + 1;
}

/* Both tables stay at most half full. */
static void grow_value_slots(ovl_gradvalues *v)
{
    if (v->n_value_slots > 2 * (v->values.len + 1)) {
        return;
    }
    give_slots(v->value_slots, v->n_value_slots);
    v->n_value_slots = OVL_MAX(64, v->n_value_slots * 4);
    v->value_slots = ovl_tally_take(v->n_value_slots, sizeof *v->value_slots);
    for (uint32_t i = 0; i < v->values.len; i++) {
        put(v->value_slots, v->n_value_slots, v->values.data[i].hash, i);
    }
}

static void grow_memo_slots(ovl_gradvalues *v)
{
    if (v->n_memo_slots > 2 * (v->memos.len + 1)) {
        return;
    }
    give_slots(v->memo_slots, v->n_memo_slots);
    v->n_memo_slots = OVL_MAX(64, v->n_memo_slots * 4);
    v->memo_slots = ovl_tally_take(v->n_memo_slots, sizeof *v->memo_slots);
    for (uint32_t i = 0; i < v->memos.len; i++) {
        put(v->memo_slots, v->n_memo_slots, v->memos.data[i].hash, i);
    }
}

/* --- Values --- */

static int compare_terms(const void *a, const void *b)
{
    const ovl_gradterm *x = a, *y = b;
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->microbatch != y->microbatch) {
        return x->microbatch < y->microbatch ? -1 : 1;
    }
    return (x->scale > y->scale) - (x->scale < y->scale);
}

/* Puts scratch in order (most often it is); the order of equal contributions is fixed so that sums
 * of doubles do not depend on luck. */
static void sort_scratch(ovl_gradvalues *v)
{
    for (uint32_t i = 1; i < v->scratch.len; i++) {
        if (compare_terms(&v->scratch.data[i - 1], &v->scratch.data[i]) > 0) {
            qsort(v->scratch.data, v->scratch.len, sizeof *v->scratch.data, compare_terms);
            return;
        }
    }
}

/* Adds up equal contributions in the sorted scratch; gives whether there were any. */
static bool merge_scratch(ovl_gradvalues *v)
{
    ovl_gradterm *terms = v->scratch.data;
    uint32_t n = 0;
    bool doubled = false;
    for (uint32_t i = 0; i < v->scratch.len; i++) {
        if (n && terms[n - 1].rank == terms[i].rank &&
            terms[n - 1].microbatch == terms[i].microbatch) {
            terms[n - 1].scale += terms[i].scale;
            doubled = true;
        } else {
            terms[n++] = terms[i];
        }
    }
    v->scratch.len = n;
    return doubled;
}

static bool same_terms(const ovl_gradterm *a, const ovl_gradterm *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (a[i].rank != b[i].rank || a[i].microbatch != b[i].microbatch ||
            ovl_grad_bits(a[i].scale) != ovl_grad_bits(b[i].scale)) {
            return false;
        }
    }
    return true;
}

/* The number of the value in scratch, stored if it is new. */
static uint32_t intern(ovl_gradvalues *v, bool doubled)
{
    uint32_t n = v->scratch.len;
    uint64_t hash = ovl_grad_mix(0, n);
    for (uint32_t i = 0; i < n; i++) {
        const ovl_gradterm *t = &v->scratch.data[i];
        hash = ovl_grad_mix(ovl_grad_mix(hash, (uint64_t)t->rank << 32 | t->microbatch),
                            ovl_grad_bits(t->scale));
    }
    grow_value_slots(v);
    uint32_t slot = (uint32_t)hash & (v->n_value_slots - 1);
    for (; v->value_slots[slot]; slot = (slot + 1) & (v->n_value_slots - 1)) {
        const ovl_gradvalue *value = &v->values.data[v->value_slots[slot] - 1];
        if (value->hash == hash && value->n == n && value->doubled == doubled &&
            same_terms(v->terms.data + value->first, v->scratch.data, n)) {
            return v->value_slots[slot] - 1;
        }
    }
    ovl_vec_push(&v->values, (ovl_gradvalue){v->terms.len, n, doubled, hash});
    v->value_slots[slot] = v->values.len;
    for (uint32_t i = 0; i < n; i++) {
        ovl_vec_push(&v->terms, v->scratch.data[i]);
    }
    return v->values.len - 1;
}

uint32_t ovl_gradvalue_of(ovl_gradvalues *v, const ovl_gradterm *terms, uint32_t n)
{
    return ovl_gradvalue_met(v, terms, n, false);
}

uint32_t ovl_gradvalue_met(ovl_gradvalues *v, const ovl_gradterm *terms, uint32_t n, bool doubled)
{
    v->scratch.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        ovl_vec_push(&v->scratch, terms[i]);
    }
    sort_scratch(v);
    return intern(v, merge_scratch(v) || doubled);
}

uint32_t ovl_gradvalue_single(ovl_gradvalues *v, uint32_t rank, uint32_t microbatch, double scale)
{
    return ovl_gradvalue_of(v, &(ovl_gradterm){rank, microbatch, scale}, 1);
}

static uint32_t add_up(ovl_gradvalues *v, const uint32_t *values, uint32_t n, double factor)
{
    bool doubled = false;
    v->scratch.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        const ovl_gradvalue *value = &v->values.data[values[i]];
        doubled |= value->doubled;
        for (uint32_t k = 0; k < value->n; k++) {
            ovl_vec_push(&v->scratch, v->terms.data[value->first + k]);
        }
    }
    sort_scratch(v);
    doubled |= merge_scratch(v);
    for (uint32_t i = 0; i < v->scratch.len; i++) {
        v->scratch.data[i].scale *= factor;
    }
    return intern(v, doubled);
}

static bool same_memo(const ovl_gradvalues *v, const ovl_gradmemo *memo, const uint32_t *values,
                      uint32_t n, double factor)
{
    return memo->n == n && ovl_grad_bits(memo->factor) == ovl_grad_bits(factor) &&
           memcmp(v->lists.data + memo->first, values, n * sizeof *values) == 0;
}

uint32_t ovl_gradvalue_combine(ovl_gradvalues *v, const uint32_t *values, uint32_t n, double factor)
{
    assert(n > 0);
    if (n == 1 && ovl_grad_bits(factor) == ovl_grad_bits(1.0)) {
        return values[0];
    }
    uint64_t hash = ovl_grad_mix(ovl_grad_mix(0, n), ovl_grad_bits(factor));
    for (uint32_t i = 0; i < n; i++) {
        hash = ovl_grad_mix(hash, values[i]);
    }
    grow_memo_slots(v);
    uint32_t slot = (uint32_t)hash & (v->n_memo_slots - 1);
    for (; v->memo_slots[slot]; slot = (slot + 1) & (v->n_memo_slots - 1)) {
        const ovl_gradmemo *memo = &v->memos.data[v->memo_slots[slot] - 1];
        if (memo->hash == hash && same_memo(v, memo, values, n, factor)) {
            return memo->value;
        }
    }
    uint32_t value = add_up(v, values, n, factor);
    ovl_vec_push(&v->memos, (ovl_gradmemo){hash, v->lists.len, n, factor, value});
    v->memo_slots[slot] = v->memos.len;
    for (uint32_t i = 0; i < n; i++) {
        ovl_vec_push(&v->lists, values[i]);
    }
    return value;
}
