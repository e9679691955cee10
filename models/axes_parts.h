/*
 * axes_parts.h - what the files of axes.h share: a list of axes while it is being read.
 *
 *     ovl_axis_reader r = {.arena = &arena, .errs = &errs};
 *     ovl_axis_grid(&r, "a", mark, list);          an axis of one key
 *     ovl_axes_finish(&r, &axes);                  the points
 */
#ifndef OVL_MODELS_AXES_PARTS_H
#define OVL_MODELS_AXES_PARTS_H

#include "models/axes.h"
#include "sim/vec.h"

typedef struct ovl_axis_reader {
    ovl_arena *arena;
    ovl_errs *errs;
    const ovl_document *doc;
    ovl_status code; /* of mistakes: in the file, or on the command line */
    OVL_VEC(ovl_key) keys;
    OVL_VEC(ovl_sweep_axis) axes;
} ovl_axis_reader;

typedef OVL_VEC(const ovl_node *) ovl_value_list;

/* The values that `node` stands for: a list of them, a range, or one; ranges inside lists are
 * expanded, too. */
void ovl_axis_values(ovl_axis_reader *r, const char *path, const ovl_node *node,
                     ovl_value_list *values);

/* An axis of one key, of several that change together (lists of equal length), of drawn rows. */
void ovl_axis_grid(ovl_axis_reader *r, const char *path, ovl_mark mark, const ovl_node *values);
void ovl_axis_list(ovl_axis_reader *r, const ovl_node *rows);
void ovl_axis_zip(ovl_axis_reader *r, const ovl_key *keys, const ovl_node *const *lists,
                  uint32_t n);
void ovl_axis_sample(ovl_axis_reader *r, const ovl_key *keys, const ovl_node *const *lists,
                     uint32_t n, uint32_t rows, uint64_t seed);

/* Checks what can only be seen together, and hands over. */
void ovl_axes_finish(ovl_axis_reader *r, ovl_axes *axes);

#endif
