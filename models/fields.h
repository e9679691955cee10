/*
 * fields.h - tables that say what keys a mapping has; one walker decodes by them, one prints the
 * reference page from them.
 *
 * A table describes a struct:
 *
 *     static const ovl_field gpu_fields[] = {
 *         OVL_FIELD(ovl_hw_gpu, hbm, "hbm", OVL_F_RATE, 0, "bandwidth of its memory"),
 *         ...
 *     };
 *
 * decoding {hbm: 3.35 TB/s} sets gpu.hbm = 3350000000000. Every mistake of a mapping is reported
 * (unknown key with the nearest known one, missing required key, wrong shape, wrong unit, out of
 * range), each at its own file:line:column. Fields that are absent, or `null` (which is how a
 * variant takes a value away), keep what the struct held before: defaults are set by the table in
 * one place and written in its text.
 *
 * Two keys may name one member (an alias of the key); giving both is a mistake. A list that several
 * aliases share is decoded once and shared again, so time and memory follow the file, not what
 * expands from it.
 */
#ifndef OVL_MODELS_FIELDS_H
#define OVL_MODELS_FIELDS_H

#include "models/yaml.h"
#include "sim/names.h"
#include "sim/units.h"

typedef enum ovl_field_type {
    OVL_F_TEXT,      /* const char *                                */
    OVL_F_PATTERN,   /* const char *: an extended regular expression (models/pattern.h) */
    OVL_F_BOOL,      /* bool: true/false                            */
    OVL_F_COUNT,     /* int64_t, range min..max                     */
    OVL_F_TIME,      /* ovl_time, >= 0                              */
    OVL_F_BYTES,     /* uint64_t                                    */
    OVL_F_RATE,      /* uint64_t bytes/s                            */
    OVL_F_FLOPS,     /* double                                      */
    OVL_F_FLOP_RATE, /* double                                      */
    OVL_F_RATIO,     /* double; 1.25, 29/25, 85 %                   */
    OVL_F_ENUM,      /* int, by the list of names                   */
    OVL_F_TEXTS,     /* ovl_texts: a list of texts, or one text     */
    OVL_F_TIMES,     /* ovl_times: one time, a list (one a rank), or `table` */
    OVL_F_RATIOS,    /* ovl_ratios: a list of ratios, or one; or a list of lists */
    OVL_F_SIZES,     /* ovl_sizes: one size, or a list (one a rank) */
    OVL_F_MAP,       /* nested struct, by `table`                   */
    OVL_F_LIST,      /* ovl_items: a list of nested structs         */
    OVL_F_NODE,      /* ovl_node *: decoded by somebody else        */
} ovl_field_type;

enum {
    OVL_FIELD_REQUIRED = 1,
    OVL_FIELD_POSITIVE = 2, /* numbers must be > 0 */
};

/* The extra knowledge some types need; all members optional. */
typedef struct ovl_field_more {
    const char *const *names;      /* ENUM: NULL-terminated; value = index ... */
    const int *values;             /* ... or values[index], where several names mean one value */
    const struct ovl_table *table; /* MAP, LIST; TIMES: how it varies, a struct that begins with the
                                      time that stands for it; NODE: what the page points to */
    int64_t min, max;              /* COUNT; both 0: any value >= 0 */
    const char *shape;             /* NODE, TIMES: what is expected, for the reference page */
    ovl_field_type cells; /* RATIOS: a square matrix may stand here, of BYTES or RATIO; 0: no */
} ovl_field_more;

typedef struct ovl_field {
    const char *key;
    ovl_field_type type;
    unsigned flags;
    size_t offset;   /* of the value in the struct */
    size_t set;      /* of a bool that says the key was given, or OVL_NO_SET */
    const char *doc; /* one or two sentences, with the default where there is one */
    ovl_field_more more;
} ovl_field;

#define OVL_NO_SET SIZE_MAX
#define OVL_FIELD(type, member, key, kind, flags, doc)                                             \
    OVL_FIELD_MORE(type, member, key, kind, flags, doc, .min = 0)
#define OVL_FIELD_MORE(type, member, key, kind, flags, doc, ...)                                   \
    {                                                                                              \
        (key), (kind), (flags), offsetof(type, member), OVL_NO_SET, (doc),                         \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
/* With a bool member that says the key was given. */
#define OVL_FIELD_SET(type, member, has, key, kind, flags, doc, ...)                               \
    {                                                                                              \
        (key), (kind), (flags), offsetof(type, member), offsetof(type, has), (doc),                \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

typedef struct ovl_table {
    const char *title; /* heading in the reference, e.g. "hardware.gpu" */
    const char *intro; /* a paragraph; may hold an example */
    const ovl_field *fields;
    uint32_t n_fields;
    size_t size; /* of the struct */
    size_t mark; /* offset of an ovl_mark that gets the mapping's place, or OVL_NO_SET */
    bool open;   /* keys that begin with "x-" are left alone: a place for anchors */
    /* Fills a zeroed struct before decoding; NULL: zero is the default. */
    void (*defaults)(void *value);
    /* What to write instead of an unknown key that has a meaning elsewhere ("op: all_reduce");
     * NULL: the nearest key is named. May be NULL itself. */
    const char *(*instead)(const char *key, ovl_arena *arena);
    /* Looks at a decoded struct as a whole (keys that exclude each other); may be NULL. */
    void (*check)(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs);
} ovl_table;

#define OVL_FIELDS_MAX 64 /* of one table */

typedef struct ovl_texts {
    const char **item;
    ovl_mark *mark;
    bool *quoted; /* its mark is that of a quote, one before the text */
    uint32_t count;
} ovl_texts;
typedef struct ovl_times {
    ovl_time *item;
    uint32_t count;
    bool listed;     /* a list, of one even: it must have as many as there are ranks, ... */
    const void *law; /* how it varies: what the field's table decoded; NULL: it does not */
} ovl_times;
typedef struct ovl_ratios {
    double *item;
    uint32_t count;
    uint32_t rows; /* 0: a list; else a matrix of so many rows and columns, row after row */
} ovl_ratios;

#define OVL_ROWS_MAX 1024 /* of a matrix */
/* Bytes on each rank. */
typedef struct ovl_sizes {
    uint64_t most;      /* of all ranks */
    const uint64_t *of; /* [count] by rank; NULL: all have `most` */
    uint32_t count;
} ovl_sizes;
typedef struct ovl_items {
    void *item;
    uint32_t count;
} ovl_items; /* array of table->size structs */

/* Decodes a map node into *value (table->size bytes, zeroed by the caller or pre-filled; `defaults`
 * is run first). Texts and lists live in `arena` or in the tree. Adds errors; decodes what it can
 * all the same. */
void ovl_decode(const ovl_node *node, const ovl_table *table, void *value, ovl_arena *arena,
                ovl_errs *errs);

/* Decodes a mapping of names to structs; `name` is the offset of the member (const char *) that
 * gets the key. A node that is absent or null gives none. */
ovl_items ovl_decode_named(const ovl_node *node, const char *key, const ovl_table *table,
                           size_t name, ovl_arena *arena, ovl_errs *errs);

/* Whether a key is there and not null. */
bool ovl_node_gives(const ovl_node *node, const char *key);

/* Adds "KEY: expected WANTED, found a list" at the node. */
void ovl_wrong_shape(const ovl_node *node, const char *key, const char *wanted, ovl_errs *errs);

/* "unknown WHAT "NAME"; did you mean "NEAR"?" at a mark; the question is left out if nothing is
 * near. */
void ovl_unknown_name(ovl_mark mark, const char *what, const char *name,
                      const char *const *candidates, size_t count, ovl_status code, ovl_errs *errs);

/* The same where the candidates are the first of some names. */
void ovl_unknown_among(ovl_mark mark, const char *what, const char *name, const ovl_names *names,
                       ovl_status code, ovl_errs *errs);

/* The i-th struct of a decoded list. */
#define OVL_ITEM(items, type, i) (&((type *)(items).item)[i])

#endif
