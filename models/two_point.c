#include "models/two_point.h"

#include <math.h>

/* Normal equations of sum (a X + b C - T)^2; for two points their solution is the exact one. */
ovl_two_point_fit ovl_two_point_solve(const ovl_two_point *points, uint32_t n)
{
    double aa = 0, ab = 0, bb = 0, at = 0, bt = 0, squares = 0;
    ovl_two_point_fit fit = {.solved = false};
    for (uint32_t i = 0; i < n; i++) {
        const ovl_two_point *p = &points[i];
        aa += p->a * p->a;
        ab += p->a * p->b;
        bb += p->b * p->b;
        at += p->a * p->time;
        bt += p->b * p->time;
    }
    double det = aa * bb - ab * ab;
    if (n < 2 || !(det > 1e-9 * aa * bb)) {
        return fit;
    }
    fit.solved = true;
    fit.compute = (at * bb - bt * ab) / det;
    fit.comm = (bt * aa - at * ab) / det;
    for (uint32_t i = 0; i < n; i++) {
        double left = points[i].a * fit.compute + points[i].b * fit.comm - points[i].time;
        squares += left * left;
    }
    fit.residual = n > 2 ? sqrt(squares / n) : 0;
    return fit;
}
