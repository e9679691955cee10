/*
 * two_point.h - compute and communication of a step from the times of two configurations that hold
 * different amounts of each.
 *
 * Each measurement is an equation T = a X + b C, in the unknown compute X and communication C:
 *
 *     accumulation   a micro-batches, communication once a step        T = m X + C
 *     overlap        a share f of the communication is hidden          T = X + (1 - f) C
 *
 * Two equations are solved exactly; more by least squares, and what is left is told. Accumulation 1
 * in 22.2 s and 4 in 54.3 s: X = 32.1 / 3 = 10.7 s, C = 11.5 s. With communication after each
 * micro-batch 4 would take 4 (X + C) = 88.8 s.
 */
#ifndef OVL_MODELS_TWO_POINT_H
#define OVL_MODELS_TWO_POINT_H

#include "sim/arena.h"

typedef struct ovl_two_point {
    double a, b; /* amounts of X and C */
    double time; /* seconds */
} ovl_two_point;

typedef struct ovl_two_point_fit {
    bool solved;          /* the equations differ enough to tell X from C */
    double compute, comm; /* seconds; negative: the equations do not hold of what was measured */
    double residual;      /* root mean square of what is left, seconds; 0 with two equations */
} ovl_two_point_fit;

ovl_two_point_fit ovl_two_point_solve(const ovl_two_point *points, uint32_t n);

#endif
