#include "models/bucket.h"

/* Buckets under construction: `next` chains the members of a bucket in order, so that closing a
 * bucket costs nothing and the whole walk stays linear. */
typedef struct open_bucket {
    uint32_t first, last; /* tensors, OVL_NONE: empty */
    uint32_t count;
    uint64_t bytes;
    uint32_t limit; /* place of this dtype in the list of limits */
} open_bucket;

typedef struct work {
    const ovl_tensor *tensors;
    uint32_t *next;
    ovl_buckets out;
    uint32_t n_members;
    open_bucket open[2 * OVL_DTYPE_COUNT];
} work;

/* What shares buckets. */
static uint32_t kind_of(const ovl_tensor *tensor)
{
    return 2 * (uint32_t)tensor->dtype + tensor->experts;
}

static void reopen(open_bucket *open)
{
    open->first = open->last = OVL_NONE;
    open->count = 0;
    open->bytes = 0;
}

static void start(work *w, const ovl_tensor *tensors, uint32_t n, ovl_arena *arena)
{
    *w = (work){.tensors = tensors};
    w->next = OVL_NEW_ARRAY(arena, uint32_t, n);
    w->out.members = OVL_NEW_ARRAY(arena, uint32_t, n);
    w->out.item = OVL_NEW_ARRAY(arena, ovl_bucket, n);
    for (uint32_t d = 0; d < 2 * OVL_DTYPE_COUNT; d++) {
        reopen(&w->open[d]);
    }
}

/* `next` is aligned with places in `order`, since tensor indices need not be dense. */
static void append(work *w, open_bucket *open, const uint32_t *order, uint32_t at)
{
    w->next[at] = OVL_NONE;
    if (open->first == OVL_NONE) {
        open->first = at;
    } else {
        w->next[open->last] = at;
    }
    open->last = at;
    open->count++;
    open->bytes += w->tensors[order[at]].bytes;
}

static void close_bucket(work *w, open_bucket *open, const uint32_t *order, uint64_t padding,
                         uint64_t limit)
{
    ovl_bucket *bucket = &w->out.item[w->out.count++];
    *bucket = (ovl_bucket){.first_member = w->n_members,
                           .n_members = open->count,
                           .bytes = open->bytes + padding,
                           .padding = padding,
                           .dtype = w->tensors[order[open->first]].dtype,
                           .experts = w->tensors[order[open->first]].experts,
                           .limit = limit};
    for (uint32_t at = open->first; at != OVL_NONE; at = w->next[at]) {
        w->out.members[w->n_members++] = order[at];
    }
    reopen(open);
}

ovl_buckets ovl_buckets_pytorch(const ovl_tensor *tensors, const uint32_t *order, uint32_t n,
                                const uint64_t *limits, uint32_t n_limits, ovl_arena *arena)
{
    assert(n_limits > 0);
    work w;
    start(&w, tensors, n, arena);
    for (uint32_t at = 0; at < n; at++) {
        open_bucket *open = &w.open[kind_of(&tensors[order[at]])];
        append(&w, open, order, at);
        uint64_t limit = limits[open->limit];
        if (open->bytes >= limit) {
            close_bucket(&w, open, order, 0, limit);
            open->limit = OVL_MIN(open->limit + 1, n_limits - 1);
        }
    }
    /* What is left, in the order in which the buckets were opened. */
    for (uint32_t at = 0; at < n; at++) {
        open_bucket *open = &w.open[kind_of(&tensors[order[at]])];
        if (open->first == at) {
            close_bucket(&w, open, order, 0, limits[open->limit]);
        }
    }
    return w.out;
}

/* Walking the order, a bucket comes where its first member is met. */
void ovl_buckets_sort(ovl_buckets *buckets, const uint32_t *order, uint32_t n, ovl_arena *arena)
{
    uint32_t most = 0, sorted = 0;
    for (uint32_t i = 0; i < n; i++) {
        most = OVL_MAX(most, order[i] + 1);
    }
    uint32_t *bucket_of = OVL_NEW_ARRAY(arena, uint32_t, most);
    for (uint32_t k = 0; k < buckets->count; k++) {
        const ovl_bucket *bucket = &buckets->item[k];
        for (uint32_t i = 0; i < bucket->n_members; i++) {
            bucket_of[buckets->members[bucket->first_member + i]] = k + 1;
        }
    }
    ovl_bucket *item = OVL_NEW_ARRAY(arena, ovl_bucket, buckets->count);
    bool *placed = OVL_NEW_ARRAY(arena, bool, buckets->count);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = bucket_of[order[i]];
        if (k && !placed[k - 1]) {
            placed[k - 1] = true;
            item[sorted++] = buckets->item[k - 1];
        }
    }
    buckets->item = item;
}

/* --- Megatron-LM --- */

static uint64_t round_up(uint64_t value, uint64_t multiple)
{
    assert(multiple > 0);
    return (value + multiple - 1) / multiple * multiple;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

ovl_padding ovl_megatron_padding(uint32_t dp, bool distributed, bool busbw)
{
    uint64_t multiple = busbw ? 65536 : 128; /* 65536 is a multiple of 128 */
    if (!distributed) {
        return (ovl_padding){1, 1};
    }
    return (ovl_padding){64, multiple / gcd(multiple, dp) * dp};
}

/* The walk of one buffer: offsets in elements from the start of the open bucket. */
static void one_buffer(work *w, const uint32_t *order, uint32_t n, uint32_t kind,
                       const ovl_megatron *how)
{
    open_bucket *open = &w->open[kind];
    uint64_t size = ovl_dtype_size((ovl_dtype)(kind / 2)), end = 0;
    ovl_padding pad =
        ovl_megatron_padding(kind % 2 ? how->expert_dp : how->dp, how->distributed, how->busbw);
    for (uint32_t at = 0; at < n; at++) {
        const ovl_tensor *tensor = &w->tensors[order[at]];
        if (kind_of(tensor) != kind) {
            continue;
        }
        append(w, open, order, at);
        end = round_up(end, pad.start) + (tensor->bytes + size - 1) / size;
        if (how->bucket_size && end >= how->bucket_size) {
            close_bucket(w, open, order, round_up(end, pad.end) * size - open->bytes,
                         how->bucket_size);
            end = 0;
        }
    }
    if (open->first != OVL_NONE) {
        close_bucket(w, open, order, round_up(end, pad.end) * size - open->bytes, how->bucket_size);
    }
}

ovl_buckets ovl_buckets_megatron(const ovl_tensor *tensors, const uint32_t *order, uint32_t n,
                                 const ovl_megatron *how, ovl_arena *arena)
{
    work w;
    bool seen[2 * OVL_DTYPE_COUNT] = {false};
    start(&w, tensors, n, arena);
    for (uint32_t at = 0; at < n; at++) {
        uint32_t kind = kind_of(&tensors[order[at]]);
        if (!seen[kind]) {
            seen[kind] = true;
            one_buffer(&w, order, n, kind, how);
        }
    }
    return w.out;
}
