/* MAP_ANONYMOUS and madvise() are not in POSIX. */
#define _DEFAULT_SOURCE

#include "sim/pages.h"

#include <stdlib.h>

#if defined(__linux__)
#include <sys/mman.h>
#define SMALL ((size_t)4096)

/* More is mapped than is asked for, and what lies around it goes back at once. */
void *ovl_pages_take(size_t size)
{
    if (size > SIZE_MAX - 2 * OVL_PAGE_LARGE) {
        return NULL;
    }
    size_t whole = (size + SMALL - 1) & ~(SMALL - 1), mapped = whole + OVL_PAGE_LARGE;
    unsigned char *all =
        mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) {
        return NULL;
    }
    size_t before = -(uintptr_t)all & (OVL_PAGE_LARGE - 1), behind = mapped - before - whole;
    if (before) {
        munmap(all, before);
    }
    if (behind) {
        munmap(all + before + whole, behind);
    }
    return all + before;
}

void ovl_pages_give_back(void *pages, size_t size)
{
    munmap(pages, (size + SMALL - 1) & ~(SMALL - 1));
}

/* Advice only: that it may fail does not matter. */
void ovl_pages_enlarge(void *data, size_t size)
{
    size_t before = -(uintptr_t)data & (OVL_PAGE_LARGE - 1);
    size_t whole = before < size ? (size - before) & ~(OVL_PAGE_LARGE - 1) : 0;
#if defined(MADV_HUGEPAGE)
    if (whole) {
        (void)madvise((unsigned char *)data + before, whole, MADV_HUGEPAGE);
    }
#else
    (void)whole;
#endif
}

#else

void *ovl_pages_take(size_t size)
{
    return calloc(1, size);
}

void ovl_pages_give_back(void *pages, size_t size)
{
    (void)size;
    free(pages);
}

void ovl_pages_enlarge(void *data, size_t size)
{
    (void)data;
    (void)size;
}
#endif
