/*
 * axes.h - what a sweep changes: the `sweep` section of a scenario and the axes of the command
 * line, as a list of points.
 *
 *     sweep:
 *       overlap.ddp.bucket_cap: [1 MiB, 5 MiB, 25 MiB]     an axis: 3 rows of one key
 *       overlap.fsdp.prefetch.forward: 0..3                an axis: 4 rows
 *       list:                                              one axis of several keys, row by row
 *         - {hardware.gpu.hbm: 2 TB/s, hardware.gpu.memory: 40 GB}
 *         - {hardware.gpu.hbm: 3 TB/s, hardware.gpu.memory: 80 GB}
 *       sample: {points: 100, seed: 1, keys: {hardware.host.launch: 2 us..8 us}}    drawn rows
 *
 * The points are all combinations of rows, the last axis changing fastest: 3 * 4 * 2 * 100 here.
 * The key `variant` names variants of the file (`all`: the base and every one of them).
 *
 * A draw is a hash of (seed, key, row), so a further key or more rows leave those that were there
 * as they were.
 */
#ifndef OVL_MODELS_AXES_H
#define OVL_MODELS_AXES_H

#include "models/scenario.h"

#define OVL_POINTS_MAX 10000000 /* of one sweep */
#define OVL_KEYS_MAX   64       /* keys of all axes */

typedef enum ovl_axis_kind { OVL_AXIS_GRID, OVL_AXIS_LIST, OVL_AXIS_SAMPLE } ovl_axis_kind;

typedef struct ovl_key {
    const char *path;
    ovl_mark mark;
} ovl_key;

/* Keys that change together, row by row. */
typedef struct ovl_sweep_axis {
    ovl_axis_kind kind;
    uint32_t first_key, n_keys; /* of ovl_axes.keys */
    uint32_t n_rows;
    const ovl_node **values; /* n_rows * n_keys; NULL: this row leaves the key alone */
    const char **texts;      /* the same on one line; NULL as above */
    bool ordered;            /* the values of every key are numbers of one kind that increase */
} ovl_sweep_axis;

typedef struct ovl_axes {
    const ovl_key *keys;
    uint32_t n_keys;
    const ovl_sweep_axis *axes;
    uint32_t n_axes;
    uint32_t n_points; /* 0 without an axis */
} ovl_axes;

/* What the command line adds. It takes the place of every axis of the file that it names a key of,
 * `list` and `sample` as a whole. */
typedef struct ovl_axis_words {
    const char *const *over; /* "KEY=V1,V2", a grid axis each; values as in a YAML list */
    uint32_t n_over;
    const char *const *zip; /* the same, together one axis, row by row */
    uint32_t n_zip;
    const char *const *sample; /* "KEY=RANGE" or "KEY=V1,V2": drawn */
    uint32_t n_sample;
    const char *samples, *seed; /* how many rows are drawn, and from which seed; NULL: 100, 1 */
} ovl_axis_words;

/* Reads both. The axes live in `arena` and borrow from the document. False and errors, all of them.
 */
bool ovl_axes_read(const ovl_document *doc, const ovl_axis_words *words, ovl_axes *axes,
                   ovl_arena *arena, ovl_errs *errs);

/* Which row of each axis point `i` takes: n_axes numbers. */
void ovl_axes_rows(const ovl_axes *axes, uint32_t i, uint32_t *rows);

/* What point `i` sets: at most n_keys changes into `sets`; gives how many. *variant is set if it
 * names one. */
uint32_t ovl_axes_point(const ovl_axes *axes, uint32_t i, ovl_set *sets, const char **variant);

/* The values of point `i` as texts, one for each key; NULL where the key is left alone. */
void ovl_axes_texts(const ovl_axes *axes, uint32_t i, const char **texts);

#endif
