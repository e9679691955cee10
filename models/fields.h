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
 * range), each at its own file:line:column. Fields that are absent keep what the struct held
 * before: defaults are set by the caller in one place and written in the table's text.
 */
#ifndef OVL_MODELS_FIELDS_H
#define OVL_MODELS_FIELDS_H

#include "models/yaml.h"
#include "sim/units.h"

typedef enum ovl_field_type {
    OVL_F_TEXT,      /* const char *                                */
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
    OVL_F_TIMES,     /* ovl_times: one time, or a list (one a rank) */
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
    const char *const *names;      /* ENUM: NULL-terminated; value = index */
    const struct ovl_table *table; /* MAP, LIST */
    int64_t min, max;              /* COUNT; both 0: any value >= 0 */
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
    {                                                                                              \
        (key), (kind), (flags), offsetof(type, member), OVL_NO_SET, (doc),                         \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define OVL_FIELD_MORE(type, member, key, kind, flags, doc, ...)                                   \
    {                                                                                              \
        (key), (kind), (flags), offsetof(type, member), OVL_NO_SET, (doc),                         \
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
    void (*defaults)(
        void *value); /* fills a zeroed struct before decoding; NULL: zero is the default */
} ovl_table;

typedef struct ovl_texts {
    const char **item;
    ovl_mark *mark;
    uint32_t count;
} ovl_texts;
typedef struct ovl_times {
    ovl_time *item;
    uint32_t count;
} ovl_times;
typedef struct ovl_items {
    void *item;
    uint32_t count;
} ovl_items; /* array of table->size structs */

/* Decodes a map node into *value (table->size bytes, zeroed by the caller or pre-filled; `defaults`
 * is run first). Texts and lists live in `arena` or in the tree. Adds errors; decodes what it can
 * all the same. */
void ovl_decode(const ovl_node *node, const ovl_table *table, void *value, ovl_arena *arena,
                ovl_errs *errs);

/* The i-th struct of a decoded list. */
#define OVL_ITEM(items, type, i) (&((type *)(items).item)[i])

#endif
