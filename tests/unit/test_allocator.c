#include "sim/allocator.h"
#include "tests/support/check.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

typedef struct bed {
    ovl_arena arena;
    ovl_allocator a;
} bed;

static void begin(bed *b, ovl_rounding rounding, uint64_t limit)
{
    *b = (bed){0};
    ovl_allocator_init(&b->a, 2, rounding, limit, &b->arena);
}

static void finish(bed *b)
{
    ovl_allocator_free_all(&b->a);
    ovl_arena_free(&b->arena);
}

/* 3 MiB: a segment of 20, 17 free. 5 MiB fit in that, 12 free. 18 MiB do not: a segment of 18. 10
 * MiB are served from the 12 that are left (2 remain, above 1 MiB: cut off). Then 11 MiB: 12 MiB,
 * rounded to 2 MiB. */
static void segments_are_cut_into_blocks(void)
{
    bed b;
    begin(&b, OVL_ROUNDING_PYTORCH, 0);
    ovl_allocator_alloc(&b.a, 0, 3 * MIB);
    CHECK_INT(b.a.reserved, 20 * MIB);
    ovl_allocator_alloc(&b.a, 0, 5 * MIB);
    CHECK_INT(b.a.reserved, 20 * MIB);
    ovl_allocator_alloc(&b.a, 0, 18 * MIB);
    CHECK_INT(b.a.reserved, 38 * MIB);
    ovl_allocator_alloc(&b.a, 0, 10 * MIB);
    CHECK_INT(b.a.reserved, 38 * MIB);
    ovl_allocator_alloc(&b.a, 0, 11 * MIB);
    CHECK_INT(b.a.reserved, 50 * MIB);
    CHECK_INT(b.a.used, 48 * MIB); /* the last has 12: the 1 MiB that remains is not cut off */
    finish(&b);
}

/* 1 B takes 512 of a small segment of 2 MiB; 1 MiB is small, too, and fits beside it; another MiB
 * does not (1 MiB - 512 are left). 1 MiB + 1 is large. */
static void small_requests_have_pools_of_their_own(void)
{
    bed b;
    begin(&b, OVL_ROUNDING_PYTORCH, 0);
    uint32_t first = ovl_allocator_alloc(&b.a, 0, 1);
    CHECK_INT(b.a.blocks.data[first].size, 512);
    ovl_allocator_alloc(&b.a, 0, MIB);
    CHECK_INT(b.a.reserved, 2 * MIB);
    ovl_allocator_alloc(&b.a, 0, MIB);
    CHECK_INT(b.a.reserved, 4 * MIB);
    uint32_t large = ovl_allocator_alloc(&b.a, 0, MIB + 1);
    CHECK_INT(b.a.blocks.data[large].size, MIB + 512);
    CHECK_INT(b.a.reserved, 24 * MIB);
    finish(&b);
}

/* 12, 14 and 16 MiB are given back: 13 goes into the 14 (whole: the 1 MiB that is left is not above
 * 1 MiB), 12 into the 12. */
static void the_best_fit_is_taken(void)
{
    bed b;
    begin(&b, OVL_ROUNDING_PYTORCH, 0);
    uint32_t blocks[3];
    for (uint32_t i = 0; i < 3; i++) {
        blocks[i] = ovl_allocator_alloc(&b.a, 0, (12 + 2 * i) * MIB);
    }
    for (uint32_t i = 0; i < 3; i++) {
        ovl_allocator_free(&b.a, blocks[i]);
    }
    CHECK_INT(ovl_allocator_alloc(&b.a, 0, 13 * MIB), blocks[1]);
    CHECK_INT(b.a.blocks.data[blocks[1]].size, 14 * MIB);
    CHECK_INT(ovl_allocator_alloc(&b.a, 0, 12 * MIB), blocks[0]);
    CHECK_INT(b.a.reserved, 42 * MIB);
    finish(&b);
}

/* 4 + 4 + 4 + 8 of a segment of 20. The outer fours go back first, then the one between: 12 in one,
 * which serve 12 MiB; with the eight all 20 are one again. */
static void free_neighbours_become_one(void)
{
    bed b;
    begin(&b, OVL_ROUNDING_PYTORCH, 0);
    uint32_t four[3];
    for (uint32_t i = 0; i < 3; i++) {
        four[i] = ovl_allocator_alloc(&b.a, 0, 4 * MIB);
    }
    uint32_t eight = ovl_allocator_alloc(&b.a, 0, 8 * MIB);
    CHECK_INT(b.a.reserved, 20 * MIB);
    ovl_allocator_free(&b.a, four[0]);
    ovl_allocator_free(&b.a, four[2]);
    ovl_allocator_free(&b.a, four[1]);
    uint32_t twelve = ovl_allocator_alloc(&b.a, 0, 12 * MIB);
    CHECK_INT(b.a.reserved, 20 * MIB);
    ovl_allocator_free(&b.a, eight);
    ovl_allocator_free(&b.a, twelve);
    uint32_t all = ovl_allocator_alloc(&b.a, 0, 20 * MIB);
    CHECK_INT(b.a.blocks.data[all].size, 20 * MIB);
    CHECK_INT(b.a.reserved, 20 * MIB);
    finish(&b);
}

/* What stream 0 gave back does not serve stream 1. */
static void streams_share_nothing(void)
{
    bed b;
    begin(&b, OVL_ROUNDING_PYTORCH, 0);
    ovl_allocator_free(&b.a, ovl_allocator_alloc(&b.a, 0, 30 * MIB));
    ovl_allocator_alloc(&b.a, 1, 30 * MIB);
    CHECK_INT(b.a.reserved, 60 * MIB);
    ovl_allocator_alloc(&b.a, 0, 30 * MIB);
    CHECK_INT(b.a.reserved, 60 * MIB);
    finish(&b);
}

/* 30 of 50 MiB are in a pool of stream 0, a block of a cut segment is used: 25 MiB on stream 1 do
 * not fit until the whole segment went back; the cut one stays. */
static void wholly_free_segments_go_back(void)
{
    bed b;
    begin(&b, OVL_ROUNDING_PYTORCH, 50 * MIB);
    ovl_allocator_free(&b.a, ovl_allocator_alloc(&b.a, 0, 30 * MIB));
    ovl_allocator_alloc(&b.a, 0, 2 * MIB); /* cut from the 30 */
    CHECK_INT(b.a.reserved, 30 * MIB);
    CHECK(!ovl_allocator_fits(&b.a, 1, 25 * MIB));
    ovl_allocator_release(&b.a);
    CHECK_INT(b.a.reserved, 30 * MIB);
    CHECK(!ovl_allocator_fits(&b.a, 1, 25 * MIB));
    CHECK(ovl_allocator_fits(&b.a, 0, 28 * MIB)); /* what is left of the 30 */
    finish(&b);
    begin(&b, OVL_ROUNDING_PYTORCH, 50 * MIB);
    ovl_allocator_free(&b.a, ovl_allocator_alloc(&b.a, 0, 30 * MIB));
    CHECK(!ovl_allocator_fits(&b.a, 1, 25 * MIB));
    ovl_allocator_release(&b.a);
    CHECK_INT(b.a.reserved, 0);
    CHECK(ovl_allocator_fits(&b.a, 1, 25 * MIB));
    finish(&b);
}

/* Exact bytes: 5 and 7 on stream 0, then 6 of the 7 that went back: 12 held; 3 on stream 1: 15. */
static void without_rounding_pools_hold_their_most(void)
{
    bed b;
    begin(&b, OVL_ROUNDING_NONE, 16);
    ovl_allocator_alloc(&b.a, 0, 5);
    uint32_t seven = ovl_allocator_alloc(&b.a, 0, 7);
    ovl_allocator_free(&b.a, seven);
    ovl_allocator_alloc(&b.a, 0, 6);
    CHECK_INT(b.a.reserved, 12);
    CHECK(ovl_allocator_fits(&b.a, 1, 4));
    CHECK(!ovl_allocator_fits(&b.a, 1, 5));
    ovl_allocator_release(&b.a); /* the one byte that is free */
    CHECK(ovl_allocator_fits(&b.a, 1, 5));
    ovl_allocator_alloc(&b.a, 1, 3);
    CHECK_INT(b.a.reserved, 14);
    CHECK_INT(b.a.used, 14);
    finish(&b);
}

/* A slow allocator of the same rules: every free block in a list, looked through each time. */
typedef struct slow_block {
    uint64_t size, address, segment;
    uint32_t pool;
    bool used;
} slow_block;

typedef struct slow {
    slow_block blocks[4096];
    uint32_t n;
    uint64_t next, reserved;
} slow;

static uint32_t slow_best(const slow *s, uint32_t pool, uint64_t size)
{
    uint32_t best = OVL_NONE;
    for (uint32_t i = 0; i < s->n; i++) {
        const slow_block *b = &s->blocks[i];
        bool better = best == OVL_NONE || b->size < s->blocks[best].size ||
                      (b->size == s->blocks[best].size && b->address < s->blocks[best].address);
        best = b->pool == pool && !b->used && b->size >= size && better ? i : best;
    }
    return best;
}

static uint64_t slow_alloc(slow *s, uint32_t stream, uint64_t bytes)
{
    uint64_t size = (bytes + 511) / 512 * 512;
    bool large = size > MIB;
    uint32_t i = slow_best(s, 2 * stream + large, size);
    if (i == OVL_NONE) {
        uint64_t segment = !large            ? 2 * MIB
                           : size < 10 * MIB ? 20 * MIB
                                             : (size + 2 * MIB - 1) / (2 * MIB) * 2 * MIB;
        i = s->n++;
        s->blocks[i] = (slow_block){segment, s->next, s->next, 2 * stream + large, false};
        s->next += segment;
        s->reserved += segment;
    }
    uint64_t rest = s->blocks[i].size - size;
    if (large ? rest > MIB : rest >= 512) {
        s->blocks[s->n] = s->blocks[i];
        s->blocks[s->n].address += size;
        s->blocks[s->n++].size = rest;
        s->blocks[i].size = size;
    }
    s->blocks[i].used = true;
    return s->blocks[i].address;
}

static bool slow_join(slow *s, uint32_t i)
{
    for (uint32_t k = 0; k < s->n; k++) {
        slow_block *a = &s->blocks[i], *b = &s->blocks[k];
        bool touch = a->address + a->size == b->address || b->address + b->size == a->address;
        if (k != i && !b->used && b->segment == a->segment && touch) {
            a->address = OVL_MIN(a->address, b->address);
            a->size += b->size;
            *b = s->blocks[--s->n];
            return true;
        }
    }
    return false;
}

static void slow_free(slow *s, uint64_t address)
{
    uint32_t i = 0;
    while (s->blocks[i].address != address || !s->blocks[i].used) {
        i++;
    }
    s->blocks[i].used = false;
    uint64_t at = address;
    while (slow_join(s, i)) {
        at = OVL_MIN(at, s->blocks[i < s->n ? i : 0].address);
        for (i = 0; !(s->blocks[i].address <= address &&
                      address < s->blocks[i].address + s->blocks[i].size);) {
            i++;
        }
    }
}

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *state >> 33;
}

/* 3,000 random requests and frees on two streams: the same addresses, the same segments. */
static void it_does_what_a_slow_one_does(void)
{
    static slow s;
    uint64_t state = 7, address[600];
    uint32_t block[600], n = 0;
    bed b;
    begin(&b, OVL_ROUNDING_PYTORCH, 0);
    for (int i = 0; i < 3000; i++) {
        if (n < 600 && draw(&state) % 100 < (i % 1000 < 500 ? 70u : 30u)) {
            uint64_t bytes = 1 + draw(&state) % (draw(&state) % 3 ? 2 * MIB : 30 * MIB);
            uint32_t stream = (uint32_t)(draw(&state) % 2);
            block[n] = ovl_allocator_alloc(&b.a, stream, bytes);
            address[n] = slow_alloc(&s, stream, bytes);
            CHECK_INT(b.a.blocks.data[block[n]].address, address[n]);
            n++;
        } else if (n > 0) {
            uint32_t k = (uint32_t)(draw(&state) % n);
            ovl_allocator_free(&b.a, block[k]);
            slow_free(&s, address[k]);
            block[k] = block[--n];
            address[k] = address[n];
        }
        CHECK_INT(b.a.reserved, s.reserved);
    }
    finish(&b);
}

static CU_TestInfo tests[] = {
    {"segments are cut into blocks", segments_are_cut_into_blocks},
    {"small requests have pools of their own", small_requests_have_pools_of_their_own},
    {"the best fit is taken", the_best_fit_is_taken},
    {"free neighbours become one", free_neighbours_become_one},
    {"streams share nothing", streams_share_nothing},
    {"wholly free segments go back", wholly_free_segments_go_back},
    {"without rounding pools hold their most", without_rounding_pools_hold_their_most},
    {"it does what a slow one does", it_does_what_a_slow_one_does},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("allocator", tests);
}
