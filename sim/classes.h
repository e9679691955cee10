/*
 * classes.h - which ranks did exactly the same at exactly the same times.
 *
 * Tables are made for one rank of each class and carry a count. Two ranks are of one class if they
 * run the same code at the same costs, in groups of the same names and sizes, and all their
 * operations were issued, arrived, started and ended at the same picoseconds. A hash finds
 * candidates; membership is then verified exactly.
 *
 * Where ranks are folded (fold.h), those of one class are alike already, and are counted as many.
 *
 * Example: 8 data-parallel ranks without variation are one class {rank 0, count 8}; if rank 3 is
 * slower, its collectives arrive later and it is a class of its own.
 */
#ifndef OVL_SIM_CLASSES_H
#define OVL_SIM_CLASSES_H

#include "sim/timeline.h"

typedef struct ovl_classes {
    uint32_t n;
    const uint32_t *rank;     /* [n] lowest rank of each class, ascending */
    const uint32_t *count;    /* [n] */
    const uint32_t *class_of; /* [n_ranks] */
} ovl_classes;

/* The classes of a run; they live in `arena`. */
void ovl_classes_find(const ovl_program *program, const ovl_timeline *timeline, ovl_arena *arena,
                      ovl_classes *classes);

#endif
