#include "sim/vec.h"

#include "sim/pages.h"

/* Bytes that realloc moves without copying them, on Linux: so large a vector grows by a quarter. */
#define HUGE ((size_t)32 << 20)

/* As realloc, but what is made of whole cache lines lies on them, and what begins large on large
 * pages. */
static void *resize(void *data, size_t size, uint32_t old, uint64_t want)
{
    size_t bytes = (size_t)want * size;
    if (old == 0 && bytes >= 2 * OVL_PAGE_LARGE) {
        size_t whole = (bytes + OVL_PAGE_LARGE - 1) & ~(OVL_PAGE_LARGE - 1);
        void *large = aligned_alloc(OVL_PAGE_LARGE, whole);
        ovl_pages_enlarge(large, large ? bytes : 0);
        return large;
    }
    if (size % OVL_CACHE_LINE != 0) {
        return realloc(data, bytes);
    }
    void *grown = aligned_alloc(OVL_CACHE_LINE, bytes);
    if (grown && old) {
        memcpy(grown, data, old * size);
        free(data);
    }
    return grown;
}

void *ovl_vec_move_(void *data, size_t size, uint64_t need, uint32_t *cap)
{
    uint64_t more = *cap * size < HUGE ? *cap : *cap / 4;
    uint64_t want = OVL_MAX(need, OVL_MAX(*cap + more, 8));
    if (want > UINT32_MAX) {
        ovl_out_of_memory(SIZE_MAX);
    }
    void *grown = resize(data, size, *cap, want);
    if (!grown) {
        ovl_out_of_memory((size_t)want * size);
    }
    ovl_tally_less(*cap * size);
    ovl_tally_more((size_t)want * size);
    *cap = (uint32_t)want;
    return grown;
}

void *ovl_vec_leave_(void *data, const void *near, size_t size, uint32_t *cap)
{
    uint64_t need = (uint64_t)*cap + 1;
    if (data != near) {
        return ovl_vec_move_(data, size, need, cap);
    }
    uint32_t room = 0;
    void *moved = ovl_vec_move_(NULL, size, 2 * need, &room);
    memcpy(moved, near, *cap * size);
    *cap = room;
    return moved;
}
