#include "sim/allocator.h"

#define MIB          (UINT64_C(1) << 20)
#define MIN_BLOCK    UINT64_C(512)
#define SMALL_SIZE   MIB
#define SMALL_BUFFER (2 * MIB)
#define MIN_LARGE    (10 * MIB)
#define LARGE_BUFFER (20 * MIB)
#define ROUND_LARGE  (2 * MIB)

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

static uint64_t segment_size(uint64_t size)
{
    if (size <= SMALL_SIZE) {
        return SMALL_BUFFER;
    }
    return size < MIN_LARGE ? LARGE_BUFFER : round_up(size, ROUND_LARGE);
}

/* --- Free blocks of a pool: a treap by size, then address --- */

static bool before(const ovl_allocator *a, uint32_t x, uint32_t y)
{
    const ovl_block *p = &a->blocks.data[x], *q = &a->blocks.data[y];
    return p->size != q->size ? p->size < q->size : p->address < q->address;
}

/* Priorities are a hash of the address, so the shape of the tree is the same everywhere. */
static uint64_t priority(const ovl_allocator *a, uint32_t block)
{
    uint64_t h = (a->blocks.data[block].address / MIN_BLOCK + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

static uint32_t merge(ovl_allocator *a, uint32_t low, uint32_t high)
{
    if (low == OVL_NONE || high == OVL_NONE) {
        return low == OVL_NONE ? high : low;
    }
    if (priority(a, low) > priority(a, high)) {
        a->blocks.data[low].right = merge(a, a->blocks.data[low].right, high);
        return low;
    }
    a->blocks.data[high].left = merge(a, low, a->blocks.data[high].left);
    return high;
}

/* The tree in two: what comes before `key`, and the rest. */
static void split(ovl_allocator *a, uint32_t root, uint32_t key, uint32_t *low, uint32_t *high)
{
    if (root == OVL_NONE) {
        *low = *high = OVL_NONE;
        return;
    }
    uint32_t inner = OVL_NONE;
    if (before(a, root, key)) {
        split(a, a->blocks.data[root].right, key, &inner, high);
        a->blocks.data[root].right = inner;
        *low = root;
    } else {
        split(a, a->blocks.data[root].left, key, low, &inner);
        a->blocks.data[root].left = inner;
        *high = root;
    }
}

/* The link that leads to `block`, or to where it would be put. */
static uint32_t *link_to(ovl_allocator *a, uint32_t block)
{
    uint32_t *at = &a->pools[a->blocks.data[block].pool].root;
    while (*at != OVL_NONE && *at != block && priority(a, *at) >= priority(a, block)) {
        ovl_block *b = &a->blocks.data[*at];
        at = before(a, block, *at) ? &b->left : &b->right;
    }
    return at;
}

static void put(ovl_allocator *a, uint32_t block)
{
    uint32_t *at = link_to(a, block), low, high;
    split(a, *at, block, &low, &high);
    a->blocks.data[block].left = low;
    a->blocks.data[block].right = high;
    *at = block;
}

static void take(ovl_allocator *a, uint32_t block)
{
    uint32_t *at = link_to(a, block);
    assert(*at == block);
    *at = merge(a, a->blocks.data[block].left, a->blocks.data[block].right);
}

/* The smallest that is large enough; OVL_NONE if none is. */
static uint32_t best_fit(const ovl_allocator *a, uint32_t pool, uint64_t size)
{
    uint32_t best = OVL_NONE, at = a->pools[pool].root;
    while (at != OVL_NONE) {
        const ovl_block *b = &a->blocks.data[at];
        best = b->size >= size ? at : best;
        at = b->size >= size ? b->left : b->right;
    }
    return best;
}

/* --- Blocks --- */

static uint32_t new_block(ovl_allocator *a, ovl_block block)
{
    if (a->spare.len) {
        uint32_t number = a->spare.data[--a->spare.len];
        a->blocks.data[number] = block;
        return number;
    }
    ovl_vec_push(&a->blocks, block);
    return a->blocks.len - 1;
}

static uint32_t new_segment(ovl_allocator *a, uint32_t pool, uint64_t size)
{
    ovl_block block = {.size = segment_size(size),
                       .address = a->next_address,
                       .prev = OVL_NONE,
                       .next = OVL_NONE,
                       .pool = pool};
    a->next_address += block.size;
    a->reserved += block.size;
    return new_block(a, block);
}

/* What remains of a block that is larger than the request becomes a free block, if it is worth it.
 */
static void cut_off(ovl_allocator *a, uint32_t number, uint64_t size)
{
    ovl_block *block = &a->blocks.data[number];
    uint64_t rest = block->size - size;
    bool large = block->pool & 1;
    if (large ? rest <= SMALL_SIZE : rest < MIN_BLOCK) {
        return;
    }
    ovl_block cut = {.size = rest,
                     .address = block->address + size,
                     .prev = number,
                     .next = block->next,
                     .pool = block->pool};
    uint32_t other = new_block(a, cut);
    block = &a->blocks.data[number];
    if (block->next != OVL_NONE) {
        a->blocks.data[block->next].prev = other;
    }
    block->next = other;
    block->size = size;
    put(a, other);
}

/* Joins a free neighbour, `high` behind `low`, into one block; `high` is gone. */
static void join(ovl_allocator *a, uint32_t low, uint32_t high)
{
    ovl_block *l = &a->blocks.data[low];
    const ovl_block *h = &a->blocks.data[high];
    l->size += h->size;
    l->next = h->next;
    if (h->next != OVL_NONE) {
        a->blocks.data[h->next].prev = low;
    }
    ovl_vec_push(&a->spare, high);
}

static bool is_free(const ovl_allocator *a, uint32_t block)
{
    return block != OVL_NONE && !a->blocks.data[block].used;
}

/* --- Without rounding --- */

static uint32_t alloc_bytes(ovl_allocator *a, uint32_t pool, uint64_t bytes)
{
    ovl_pool *p = &a->pools[pool];
    p->used += bytes;
    if (p->used > p->kept) {
        a->reserved += p->used - p->kept;
        p->kept = p->used;
    }
    a->used += bytes;
    return new_block(a, (ovl_block){.size = bytes, .pool = pool, .used = true});
}

static void free_bytes(ovl_allocator *a, uint32_t number)
{
    const ovl_block *block = &a->blocks.data[number];
    a->pools[block->pool].used -= block->size;
    a->used -= block->size;
    ovl_vec_push(&a->spare, number);
}

/* --- The interface --- */

void ovl_allocator_init(ovl_allocator *a, uint32_t n_streams, ovl_rounding rounding, uint64_t limit,
                        ovl_arena *arena)
{
    *a = (ovl_allocator){.rounding = rounding, .limit = limit, .n_pools = 2 * n_streams};
    a->pools = OVL_NEW_ARRAY(arena, ovl_pool, a->n_pools);
    for (uint32_t i = 0; i < a->n_pools; i++) {
        a->pools[i].root = OVL_NONE;
    }
}

void ovl_allocator_free_all(ovl_allocator *a)
{
    ovl_vec_free(&a->blocks);
    ovl_vec_free(&a->spare);
}

static uint32_t pool_of(const ovl_allocator *a, uint32_t stream, uint64_t size)
{
    bool large = a->rounding == OVL_ROUNDING_PYTORCH && size > SMALL_SIZE;
    return 2 * stream + large;
}

bool ovl_allocator_fits(const ovl_allocator *a, uint32_t stream, uint64_t bytes)
{
    uint64_t more = 0;
    if (a->limit == 0) {
        return true;
    }
    if (a->rounding == OVL_ROUNDING_NONE) {
        const ovl_pool *p = &a->pools[pool_of(a, stream, bytes)];
        more = p->used + bytes > p->kept ? p->used + bytes - p->kept : 0;
    } else {
        uint64_t size = round_up(bytes, MIN_BLOCK);
        bool found = best_fit(a, pool_of(a, stream, size), size) != OVL_NONE;
        more = found ? 0 : segment_size(size);
    }
    return more == 0 || a->reserved + more <= a->limit;
}

uint32_t ovl_allocator_alloc(ovl_allocator *a, uint32_t stream, uint64_t bytes)
{
    assert(bytes > 0);
    if (a->rounding == OVL_ROUNDING_NONE) {
        return alloc_bytes(a, pool_of(a, stream, bytes), bytes);
    }
    uint64_t size = round_up(bytes, MIN_BLOCK);
    uint32_t pool = pool_of(a, stream, size), block = best_fit(a, pool, size);
    if (block == OVL_NONE) {
        block = new_segment(a, pool, size);
    } else {
        take(a, block);
    }
    cut_off(a, block, size);
    a->blocks.data[block].used = true;
    a->used += a->blocks.data[block].size;
    return block;
}

void ovl_allocator_free(ovl_allocator *a, uint32_t number)
{
    assert(a->blocks.data[number].used);
    if (a->rounding == OVL_ROUNDING_NONE) {
        free_bytes(a, number);
        return;
    }
    a->used -= a->blocks.data[number].size;
    a->blocks.data[number].used = false;
    uint32_t next = a->blocks.data[number].next, prev = a->blocks.data[number].prev;
    if (is_free(a, next)) {
        take(a, next);
        join(a, number, next);
    }
    if (is_free(a, prev)) {
        take(a, prev);
        join(a, prev, number);
        number = prev;
    }
    put(a, number);
}

/* Takes what is a whole segment out of a tree; the rest stays in order. */
static uint32_t without_segments(ovl_allocator *a, uint32_t root)
{
    if (root == OVL_NONE) {
        return OVL_NONE;
    }
    ovl_block *b = &a->blocks.data[root];
    b->left = without_segments(a, b->left);
    b->right = without_segments(a, b->right);
    if (b->prev != OVL_NONE || b->next != OVL_NONE) {
        return root;
    }
    a->reserved -= b->size;
    ovl_vec_push(&a->spare, root);
    return merge(a, b->left, b->right);
}

void ovl_allocator_release(ovl_allocator *a)
{
    for (uint32_t i = 0; i < a->n_pools; i++) {
        a->pools[i].root = without_segments(a, a->pools[i].root);
        a->reserved -= a->pools[i].kept - a->pools[i].used;
        a->pools[i].kept = a->pools[i].used;
    }
}
