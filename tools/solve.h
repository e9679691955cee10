/*
 * solve.h - the inverse question: which value of a key gives a figure that was measured?
 *
 *     ovl_solve q = {.key = "hardware.collectives[0].beta", ...};     for step = 215 ms
 *     ovl_solve_run(&q, &arena);                                      24 MiB/ms
 *
 * The figure is first looked at over the whole range; where it crosses the wanted value the
 * crossing is halved until the values differ by less than one in 10^12, or, for a key that counts,
 * by one. A figure that both rises and falls over the range may be met more than once: all
 * crossings that the looks show are given, the nearest to the present value first.
 *
 * A measured "544 ms" stands for 543.5 to 544.5 ms, so the values that give these two are told,
 * too.
 */
#ifndef OVL_TOOLS_SOLVE_H
#define OVL_TOOLS_SOLVE_H

#include "tools/sweep.h"
#include "tools/work.h"

#define OVL_SOLVE_LOOKS     33 /* over the range */
#define OVL_SOLVE_CROSSINGS 8

typedef struct ovl_solution {
    double value;     /* in `unit` */
    double low, high; /* values between which the figure is within the precision of the target; NAN:
                         not met within the range */
    int64_t figure;   /* at `value` */
    double slope;     /* change of the figure for 1 % more of the value */
} ovl_solution;

typedef enum ovl_solve_end {
    OVL_SOLVE_MET,
    OVL_SOLVE_NOT_MET, /* the figure stays above or below */
    OVL_SOLVE_FLAT,    /* it does not depend on the key */
    OVL_SOLVE_FAILED,  /* values could not be simulated: see error */
} ovl_solve_end;

typedef struct ovl_solve {
    const ovl_sweep *of; /* document, variant, sets */
    const char *key;
    ovl_where target;  /* metric and value */
    int64_t precision; /* half of the last digit the target was written with */
    double from, to;   /* range of values */
    const char *unit;  /* of them, with a blank before it; "" */
    bool whole;        /* the key counts */
    double present;    /* value the scenario has; NAN: none */

    ovl_solve_end end;
    int64_t now;         /* figure of the scenario as it is; OVL_NEVER: none */
    int64_t least, most; /* of the figure over the range */
    double least_at, most_at;
    bool monotone;
    ovl_solution crossings[OVL_SOLVE_CROSSINGS];
    uint32_t n_crossings;
    uint32_t simulations;
    const char *error;
} ovl_solve;

/* Reads "step=544 ms", the present value of the key, and the range ("A..B", or NULL: a hundredth to
 * a hundredfold of the present value). False and errors. */
bool ovl_solve_read(ovl_solve *solve, const char *key, const char *target, const char *range,
                    ovl_arena *arena, ovl_errs *errs);

void ovl_solve_run(ovl_solve *q, ovl_arena *arena);

void ovl_solve_text(ovl_out *out, const ovl_solve *q);
void ovl_solve_json(ovl_out *out, const ovl_solve *q); /* schema overlapsim.solve/1 */

/* Answers what --solve, --for and --between of a command ask of its FILE, and writes it. Gives the
 * exit status. */
int ovl_solve_answer(ovl_work *work, const ovl_args *args, bool no_fold, bool no_skip);

/* "24 MiB/ms" with up to 12 digits: what --set takes. */
const char *ovl_solve_value(const ovl_solve *q, double value, ovl_arena *arena);

#endif
