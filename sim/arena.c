#include "sim/arena.h"

#include "sim/pages.h"
#include "sim/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST     ((size_t)4 * 1024) /* of the first block: most arenas need no more */
#define BLOCK_MIN ((size_t)64 * 1024)
#define LARGE     ((size_t)256 * 1024) /* has a block of its own */

/* Under AddressSanitizer what is not handed out is poisoned, and a gap follows each piece: a read
 * past the end of one is found although its neighbour lies in the same block. */
#if defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#endif
#ifdef WATCHED
#include <sanitizer/asan_interface.h>
#define GAP    ((size_t)16)
#define MAPPED SIZE_MAX /* none: what lies in mapped memory alone would count as lost */
#else
#define GAP                                   ((size_t)0)
#define MAPPED                                OVL_PAGE_LARGE
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

struct ovl_arena_block {
    struct ovl_arena_block *next;
    void *raw;     /* what the system gave: a multiple of 64 lies in it */
    size_t mapped; /* bytes of it if they are pages, 0 if it is from calloc */
    size_t size;   /* usable bytes behind this header */
    size_t used;
    /* Usable bytes begin at a multiple of 64 so that every alignment up to 64 can be served. */
    _Alignas(64) unsigned char bytes[];
};

struct ovl_arena_adopted {
    struct ovl_arena_adopted *next;
    void *data;
    size_t size;
};

void ovl_out_of_memory(size_t bytes)
{
    fprintf(stderr, "error: out of memory (%zu bytes asked)\n", bytes);
    abort();
}

/* They come zeroed, large ones without being touched. One that is mostly `filled` gets large pages
 * before the first of it is written. */
static struct ovl_arena_block *new_block(ovl_arena *arena, size_t usable, bool filled)
{
    if (usable > SIZE_MAX - sizeof(struct ovl_arena_block) - 2 * 64) {
        ovl_out_of_memory(usable);
    }
    usable = (usable + 63) & ~(size_t)63;
    size_t size = sizeof(struct ovl_arena_block) + usable + 63,
           mapped = usable >= MAPPED ? size : 0;
    assert(size > usable);
    unsigned char *raw = mapped ? ovl_pages_take(size) : calloc(1, size);
    if (!raw) {
        ovl_out_of_memory(usable);
    }
    if (mapped && filled) {
        ovl_pages_enlarge(raw, mapped);
    }
    struct ovl_arena_block *block = (void *)(raw + (64 - (uintptr_t)raw % 64) % 64);
    block->raw = raw;
    block->mapped = mapped;
    block->size = usable;
    block->used = 0;
    arena->held += sizeof *block + usable;
    ovl_tally_more(sizeof *block + usable);
    ASAN_POISON_MEMORY_REGION(block->bytes, usable);
    return block;
}

/* Blocks grow with the arena, so many small pieces cost few of them. */
static struct ovl_arena_block *add_block(ovl_arena *arena, size_t size)
{
    size_t least = OVL_MIN(OVL_MAX(FIRST, arena->held), BLOCK_MIN);
    size_t grown = OVL_MIN(arena->held / 2, (size_t)64 << 20);
    struct ovl_arena_block *block = new_block(arena, OVL_MAX(OVL_MAX(size, least), grown), false);
    block->next = arena->head;
    arena->head = block;
    return block;
}

/* A large piece takes what it needs, and the block that small ones come from stays the first. It is
 * mostly written all over. */
static void *alloc_large(ovl_arena *arena, size_t size)
{
    struct ovl_arena_block *block = new_block(arena, size, true), *head = arena->head;
    block->next = head ? head->next : NULL;
    if (head) {
        head->next = block;
    } else {
        arena->head = block;
    }
    arena->used += size;
    block->used = block->size;
    ASAN_UNPOISON_MEMORY_REGION(block->bytes, size);
    return block->bytes;
}

void *ovl_arena_alloc(ovl_arena *arena, size_t size, size_t align)
{
    assert(align && align <= 64 && (align & (align - 1)) == 0);
    if (size >= LARGE) {
        return alloc_large(arena, size);
    }
    struct ovl_arena_block *block = arena->head;
    size_t at = block ? (block->used + align - 1) & ~(align - 1) : 0;
    if (!block || at > block->size || size > block->size - at) {
        block = add_block(arena, size);
        at = 0;
    }
    arena->used += at - block->used + size;
    block->used = OVL_MIN(at + size + GAP, block->size);
    ASAN_UNPOISON_MEMORY_REGION(block->bytes + at, size);
    return block->bytes + at;
}

void ovl_arena_adopt(ovl_arena *arena, void *data, size_t size)
{
    struct ovl_arena_adopted *adopted = OVL_NEW(arena, struct ovl_arena_adopted);
    *adopted = (struct ovl_arena_adopted){arena->adopted, data, size};
    arena->adopted = adopted;
    arena->held += size;
    arena->used += size;
    ovl_tally_more(size);
}

void *ovl_arena_array(ovl_arena *arena, size_t count, size_t size, size_t align)
{
    if (size && count > SIZE_MAX / size) {
        ovl_out_of_memory(SIZE_MAX);
    }
    return ovl_arena_alloc(arena, count * size, align);
}

char *ovl_arena_strndup(ovl_arena *arena, const char *text, size_t length)
{
    char *copy = ovl_arena_alloc(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *ovl_arena_strdup(ovl_arena *arena, const char *text)
{
    return ovl_arena_strndup(arena, text, strlen(text));
}

char *ovl_arena_vprintf(ovl_arena *arena, const char *format, va_list args)
{
    assert(format); /* gcc sees a null one behind the checks of the sanitizers, and warns of it */
    char most[256]; /* hardly any is longer, and needs printing twice */
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(most, sizeof most, format, args);
    assert(length >= 0);
    char *text = ovl_arena_alloc(arena, (size_t)length + 1, 1);
    if ((size_t)length < sizeof most) {
        memcpy(text, most, (size_t)length + 1);
    } else {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text;
}

char *ovl_arena_printf(ovl_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = ovl_arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

static void give_back(struct ovl_arena_block *block)
{
    ASAN_UNPOISON_MEMORY_REGION(block->bytes, block->size);
    ovl_tally_less(sizeof *block + block->size);
    if (block->mapped) {
        ovl_pages_give_back(block->raw, block->mapped);
    } else {
        free(block->raw);
    }
}

void ovl_arena_free(ovl_arena *arena)
{
    for (const struct ovl_arena_adopted *a = arena->adopted; a; a = a->next) {
        ovl_tally_less(a->size);
        free(a->data);
    }
    struct ovl_arena_block *block = arena->head;
    while (block) {
        struct ovl_arena_block *next = block->next;
        give_back(block);
        block = next;
    }
    *arena = (ovl_arena){0};
}
