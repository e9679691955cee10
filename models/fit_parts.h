/* fit_parts.h - what the files of the fit share. */
#ifndef OVL_MODELS_FIT_PARTS_H
#define OVL_MODELS_FIT_PARTS_H

#include "models/fit.h"

#include <stdlib.h>
#include <string.h>

/* A pair through sizes that rise, with its knots. */
ovl_fit_model ovl_fit_pair_model(const ovl_fit_point *sizes, uint32_t n, ovl_arena *arena);

/* k >= 2 pieces whose ends are least in the sum of squared relative errors; n >= 3 k. */
ovl_fit_model ovl_fit_pieces_model(uint32_t k, const ovl_fit_point *sizes, uint32_t n,
                                   ovl_arena *arena);

/* Sets the knots of a model made of lines: the ends of each. */
void ovl_fit_line_knots(ovl_fit_model *model);

/* The line that is least in the sum of (predicted / measured - 1)^2, in closed form: no weights, no
 * intervals. A slow outlier counts at most 1. Gives that sum. */
double ovl_fit_quick_line(const ovl_fit_point *points, uint32_t n, ovl_fit_line *line);

/* The q-quantile (linear between order statistics); sorts the values. n >= 1. */
double ovl_fit_quantile(double *values, uint32_t n, double q);

#endif
