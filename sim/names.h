/*
 * names.h - each distinct text once, named by a small number.
 *
 * Texts that differ only in the number they end with, such as those of microbatches, are looked up
 * by that number, under the *stem* before it: a table of a million of them is one short list for
 * each stem.
 *
 *     ovl_names names = {.arena = &a};
 *     ovl_id x = ovl_names_add(&names, "late");       0
 *     ovl_id y = ovl_names_add(&names, "late");       0 again
 *     ovl_names_text(&names, x)                       "late"
 *     ovl_names_find(&names, "later")                 OVL_NONE
 *
 * A table that is `made` keeps of such texts stem and number alone, 4 to 8 bytes for each, and
 * writes them where the caller has room for them. A name is the same however it was added:
 *
 *     ovl_names names = {.arena = &a, .made = true};
 *     ovl_id x = ovl_names_add(&names, "F17");        0
 *     ovl_id y = ovl_names_add_number(&names, "F", 1, 17);    0 again
 *     ovl_names_write(&names, x, &room)               "F17", in `room`
 *     printf("%s\n", OVL_NAME(&names, x));            in room of the block around it
 *
 * Reading changes nothing: several threads may read one table.
 */
#ifndef OVL_SIM_NAMES_H
#define OVL_SIM_NAMES_H

#include "sim/arena.h"

/* Texts are found by open addressing; an entry is index + 1, 0 is free. */
typedef struct ovl_names_table {
    uint32_t *slots;
    uint32_t n_slots, count;
} ovl_names_table;

#define OVL_NAMES_BLOCK 128

/* The numbers of a stem that are alike but for their last 7 bits. What repeats gives its names
 * evenly: as long as they came in order of their numbers and equally far apart, it is said once how
 * far. */
typedef struct ovl_names_block {
    uint32_t stem, high; /* numbers from high * OVL_NAMES_BLOCK on */
    uint32_t first,
        stride;       /* entry (id + 1) of number `from`, and how much more that of the next */
    uint32_t *id;     /* [n] entries, 0: none; NULL: they are even */
    uint16_t from, n; /* numbers from, ..., from + n - 1 of the block */
} ovl_names_block;

/* "microbatch " of "microbatch 0", "microbatch 1", ... */
typedef struct ovl_stem {
    const char *text;        /* begins with it */
    uint32_t length, count;  /* count: of its numbers in blocks */
    uint32_t *block;         /* [n_blocks] by number / OVL_NAMES_BLOCK: block + 1; 0: none */
    uint32_t n_blocks, lone; /* lone: block + 1 of the first numbers, while there are no others */
    bool sparse;             /* others have numbers far beyond those: they are in `others` */
} ovl_stem;

typedef struct ovl_names {
    ovl_arena *arena; /* set by the owner before the first use */
    bool made;        /* likewise: texts are made when they are asked for */
    uint32_t count;
    const char **text; /* [n_texts] those that are kept; all of them, by id, if none is made */
    uint32_t n_texts, text_cap;
    uint32_t **word; /* made: by id, in pages: what its text is */
    uint32_t n_pages, page_cap;
    ovl_names_block *blocks;
    uint32_t n_blocks, block_cap;
    ovl_stem *stems;
    uint32_t stem_cap;
    ovl_names_table by_stem; /* into stems */
    ovl_names_table others;  /* ids of the other texts */
} ovl_names;

/* The number of `text`, added if it is new. */
ovl_id ovl_names_add(ovl_names *names, const char *text);

/* The number of the text that is the first `length` bytes of `stem` and then `number`. */
ovl_id ovl_names_add_number(ovl_names *names, const char *stem, size_t length, uint32_t number);

/* The number of `text`, or OVL_NONE. */
ovl_id ovl_names_find(const ovl_names *names, const char *text);

/* The text of a number given out before; owned by the table, which makes none. */
const char *ovl_names_text(const ovl_names *names, ovl_id id);

/* Room for a text that is made: longer ones are kept. */
typedef struct ovl_name_room {
    char text[96];
} ovl_name_room;

/* The text of any table: owned by it, or in *room. */
const char *ovl_names_write(const ovl_names *names, ovl_id id, ovl_name_room *room);

/* The same, to be used in the block of code that it stands in and not beyond. */
#define OVL_NAME(names, id) ovl_names_write((names), (id), &(ovl_name_room){.text = ""})

/* A copy of the text, owned by the arena. */
const char *ovl_names_copy(const ovl_names *names, ovl_id id, ovl_arena *arena);

/* Texts for a result that asks for one again and again: each is copied once. */
typedef struct ovl_name_texts {
    const ovl_names *names;
    const char **text; /* [names->count]; NULL: not asked for yet */
    ovl_arena *arena;
} ovl_name_texts;

/* The list of them lives in `scratch`, the texts in `arena`. */
ovl_name_texts ovl_name_texts_begin(const ovl_names *names, ovl_arena *arena, ovl_arena *scratch);
const char *ovl_name_texts_of(ovl_name_texts *texts, ovl_id id);

/* Writes the digits of a number, 10 at most, without a closing NUL; gives where they end. */
char *ovl_put_number(char *at, uint32_t number);

/* Order of names as a reader counts: runs of digits by their value, all else by its bytes, so that
 * "bucket 2" comes before "bucket 10". Below, at or above 0 as strcmp; 0 for equal texts only. */
int ovl_names_order(const char *a, const char *b);

/* The candidate closest to `text` by optimal-string-alignment distance (insert, delete, replace,
 * swap of neighbours), if it is close enough to be a likely slip (a third of the longer text, at
 * least one, at most three); else NULL. Ties go to the first. For "did you mean". */
const char *ovl_nearest(const char *text, const char *const *candidates, size_t count);

#endif
