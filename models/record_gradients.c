#include "models/record_gradients.h"

#include <assert.h>
#include <string.h>

#define MOST_STATED 100000
#define MOST_TRIED  64 /* places where copies add up to the first bucket */

typedef struct search {
    const ovl_recorded *rec;
    const ovl_rec_rank *rank;
    const uint32_t *buckets;
    uint32_t n_buckets;
    OVL_VEC(uint64_t) copies; /* sizes of those of one stream */
    uint32_t *first;          /* [n_buckets + 1] */
} search;

static uint64_t bucket_bytes(const search *s, uint32_t k)
{
    return s->rank->ops[s->buckets[k]].bytes;
}

/* Splits sizes at the buckets; how many buckets are full. */
static uint32_t split(search *s, const uint64_t *sizes, uint32_t n)
{
    uint32_t k = 0;
    uint64_t sum = 0;
    s->first[0] = 0;
    for (uint32_t i = 0; i < n && k < s->n_buckets; i++) {
        sum += sizes[i];
        if (sum > bucket_bytes(s, k)) {
            return k;
        }
        if (sum == bucket_bytes(s, k)) {
            s->first[++k] = i + 1;
            sum = 0;
        }
    }
    return k;
}

/* --- What the copies say --- */

/* To or from the host no gradient of a bucket is copied. */
static bool with_host(const search *s, const ovl_rec_op *op)
{
    static const char *const parts[] = {"HtoD", "HToD",         "DtoH",
                                        "HtoH", "HostToDevice", "DeviceToHost"};
    const char *name = ovl_names_text(&s->rec->names, op->full);
    for (size_t i = 0; i < OVL_COUNT(parts); i++) {
        if (strstr(name, parts[i])) {
            return true;
        }
    }
    return false;
}

static void collect(search *s, ovl_id stream)
{
    s->copies.len = 0;
    for (uint32_t i = 0; i < s->rank->n_ops; i++) {
        const ovl_rec_op *op = &s->rank->ops[i];
        if (op->kind == OVL_COPY && op->stream == stream && op->bytes && !with_host(s, op)) {
            ovl_vec_push(&s->copies, op->bytes);
        }
    }
}

/* Where a run of copies begins that is the buckets; OVL_NONE: nowhere. */
static uint32_t find_run(search *s)
{
    uint64_t sum = 0;
    uint32_t from = 0, tried = 0;
    for (uint32_t to = 0; to < s->copies.len && tried < MOST_TRIED; to++) {
        sum += s->copies.data[to];
        while (sum > bucket_bytes(s, 0) && from < to) {
            sum -= s->copies.data[from++];
        }
        if (sum == bucket_bytes(s, 0)) {
            tried++;
            if (split(s, s->copies.data + from, s->copies.len - from) == s->n_buckets) {
                return from;
            }
        }
    }
    return OVL_NONE;
}

static void keep(search *s, const uint64_t *sizes, ovl_arena *arena, ovl_rec_gradients *found)
{
    uint32_t n = s->first[s->n_buckets];
    uint64_t *bytes = OVL_NEW_ARRAY(arena, uint64_t, n);
    assert(sizes);
    memcpy(bytes, sizes, n * sizeof *bytes);
    found->bytes = bytes;
    found->first = s->first;
    found->n = n;
}

static void seen(search *s, ovl_arena *arena, ovl_rec_gradients *found)
{
    OVL_VEC(ovl_id) streams = {0};
    for (uint32_t i = 0; i < s->rank->n_ops && !found->bytes; i++) {
        const ovl_rec_op *op = &s->rank->ops[i];
        uint32_t k = 0;
        while (k < streams.len && streams.data[k] != op->stream) {
            k++;
        }
        if (op->kind != OVL_COPY || k < streams.len) {
            continue;
        }
        ovl_vec_push(&streams, op->stream);
        collect(s, op->stream);
        uint32_t from = find_run(s);
        if (from != OVL_NONE) {
            keep(s, s->copies.data + from, arena, found);
        }
    }
    ovl_vec_free(&streams);
}

/* --- What is stated --- */

static bool refuse(const search *s, uint32_t k, ovl_mark mark, ovl_errs *errs)
{
    char bytes[OVL_UNITS_TEXT];
    if (k == s->n_buckets) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "gradients: there are more than the %" PRIu32 " buckets of the step hold", k);
    } else {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "gradients: their sizes do not add up to bucket %" PRIu32 " of the step (%s, "
                  "%" PRIu64 " bytes)",
                  k, ovl_print_bytes(bytes, bucket_bytes(s, k)), bucket_bytes(s, k));
    }
    return false;
}

static bool stated(search *s, const ovl_change_keys *what_if, ovl_arena *arena,
                   ovl_rec_gradients *found, ovl_errs *errs)
{
    OVL_VEC(uint64_t) sizes = {0};
    for (uint32_t i = 0; i < what_if->gradients.count; i++) {
        const ovl_change_gradient *g = OVL_ITEM(what_if->gradients, ovl_change_gradient, i);
        for (int64_t k = 0; k < g->count && sizes.len <= MOST_STATED; k++) {
            ovl_vec_push(&sizes, g->bytes);
        }
    }
    uint32_t full = split(s, sizes.data, sizes.len);
    bool good = full == s->n_buckets && s->first[full] == sizes.len;
    if (good) {
        keep(s, sizes.data, arena, found);
        found->stated = true;
    } else {
        ovl_mark mark = OVL_ITEM(what_if->gradients, ovl_change_gradient, 0)->mark;
        refuse(s, full, mark, errs);
    }
    ovl_vec_free(&sizes);
    return good;
}

bool ovl_record_gradients(const ovl_recorded *rec, const ovl_rec_rank *rank,
                          const uint32_t *buckets, uint32_t n_buckets,
                          const ovl_change_keys *what_if, ovl_arena *arena,
                          ovl_rec_gradients *found, ovl_errs *errs)
{
    search s = {.rec = rec, .rank = rank, .buckets = buckets, .n_buckets = n_buckets};
    bool good = true;
    *found = (ovl_rec_gradients){0};
    s.first = OVL_NEW_ARRAY(arena, uint32_t, n_buckets + 1);
    if (what_if->gradients.count) {
        good = stated(&s, what_if, arena, found, errs);
    } else {
        seen(&s, arena, found);
    }
    ovl_vec_free(&s.copies);
    return good;
}
