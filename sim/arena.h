/*
 * arena.h - memory that lives exactly as long as the result it belongs to.
 *
 * Each stage of the data flow (scenario, program, timeline, result) has one arena. Nothing inside
 * is freed alone; freeing the arena frees the stage. Memory comes zeroed and never moves.
 *
 *     ovl_arena a = {0};
 *     int *x = OVL_NEW_ARRAY(&a, int, 100);      400 bytes, all zero
 *     const char *s = ovl_arena_printf(&a, "%d ranks", 8);
 *     ovl_arena_free(&a);                        x and s are gone; a is empty and usable again
 */
#ifndef OVL_SIM_ARENA_H
#define OVL_SIM_ARENA_H

#include "sim/base.h"

#include <stdarg.h>

struct ovl_arena_block;
struct ovl_arena_adopted;

typedef struct ovl_arena {
    struct ovl_arena_block *head;
    struct ovl_arena_adopted *adopted;
    size_t used; /* bytes handed out so far, alignment included */
    size_t held; /* bytes taken from the system */
} ovl_arena;

/* Zeroed memory of `size` bytes aligned to `align` (a power of two, at most 64); owned by the
 * arena. Never NULL: exhaustion ends the program. A size of 0 gives a valid pointer to nothing.
 * Pages that are never written take no memory. */
void *ovl_arena_alloc(ovl_arena *arena, size_t size, size_t align);

/* The same for `count` items; count * size beyond SIZE_MAX counts as exhaustion. */
void *ovl_arena_array(ovl_arena *arena, size_t count, size_t size, size_t align);

/* Memory from malloc that the arena frees with the rest. */
void ovl_arena_adopt(ovl_arena *arena, void *data, size_t size);

/* Copy of `length` bytes of `text` with a closing NUL; owned by the arena. */
char *ovl_arena_strndup(ovl_arena *arena, const char *text, size_t length);

/* Copy of a NUL-terminated text; owned by the arena. */
char *ovl_arena_strdup(ovl_arena *arena, const char *text);

/* printf into the arena; the text is as long as it needs to be. */
char *ovl_arena_printf(ovl_arena *arena, const char *format, ...) OVL_PRINTF(2, 3);
char *ovl_arena_vprintf(ovl_arena *arena, const char *format, va_list args) OVL_PRINTF(2, 0);

/* Gives everything back. Accepts an empty arena. */
void ovl_arena_free(ovl_arena *arena);

#define OVL_NEW(arena, type) ((type *)ovl_arena_alloc((arena), sizeof(type), _Alignof(type)))
#define OVL_NEW_ARRAY(arena, type, count)                                                          \
    ((type *)ovl_arena_array((arena), (count), sizeof(type), _Alignof(type)))

#endif
