/*
 * solve.h - the inverse question: which values of a key give a figure that was measured?
 *
 *     ovl_solve q = {.key = "hardware.collectives[0].beta", ...};     for step = 215 ms
 *     ovl_solve_run(&q, &arena);                                      24 MiB/ms
 *
 * A measured "544 ms" stands for 543.5 to 544.5 ms: what gives a figure in this window meets it.
 * The figure is first looked at over the whole range. Where looks fall into the window, or stand on
 * both sides of it, the ends of the values that meet it are halved until they are known to one part
 * in 10^8, or, for a key that counts, to one; of these values the one whose figure is the target
 * itself is told, to one part in 10^12. A figure that steps may meet the target with all values of
 * a range, and with no other: then the range is the answer. It may also jump over the window.
 *
 * A figure that both rises and falls may be met more than once: all that the looks show are given,
 * the nearest to the present value first. Of one that stays on one side of the window the nearest
 * there is is told, with the values that give it.
 *
 * Where a part of the range cannot be simulated (a time behind the step, a size that is none) its
 * ends are halved too, the rest is searched up to them, and the part is named with its first error:
 *
 *     not simulated above 12 ms: gradient "q" is not ready and copied in when the backward ends
 */
#ifndef OVL_TOOLS_SOLVE_H
#define OVL_TOOLS_SOLVE_H

#include "tools/sweep.h"
#include "tools/work.h"

#define OVL_SOLVE_LOOKS     33 /* over the range */
#define OVL_SOLVE_CROSSINGS 8
#define OVL_SOLVE_HOLES     4 /* that no look over the range fell into, but the search */
#define OVL_SOLVE_GAPS      (OVL_SOLVE_LOOKS / 2 + 2 + OVL_SOLVE_HOLES)

typedef struct ovl_solution {
    double value;             /* in `unit` */
    int64_t figure;           /* at `value` */
    double low, high;         /* all values looked at between these meet it, and these do */
    bool low_open, high_open; /* the range ends there: values beyond may, too */
    bool level;               /* the figure is the same at low, value and high */
    bool jumps;     /* nothing meets it here: from one value to the next the figure passes it */
    int64_t beyond; /* ... and is this on the other side */
    double slope;   /* change of the figure for 1 % more of the value; NAN: not known */
} ovl_solution;

/* Values between which it cannot be simulated, and why. At an end of the range one of them is that
 * end, otherwise both can be. */
typedef struct ovl_solve_gap {
    double low, high;
    bool low_open, high_open; /* up to the end of the range */
    const char *error;
} ovl_solve_gap;

typedef enum ovl_solve_end {
    OVL_SOLVE_MET,
    OVL_SOLVE_NOT_MET, /* the figure stays above or below, or jumps over it */
    OVL_SOLVE_FLAT,    /* it does not depend on the key */
    OVL_SOLVE_FAILED,  /* values could not be simulated: the errors are told */
} ovl_solve_end;

typedef struct ovl_spot {
    double value;
    int64_t figure;
    const char *error; /* NULL: the figure is known */
} ovl_spot;

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
    double first, last; /* least and greatest value that can be simulated */
    ovl_solve_gap gaps[OVL_SOLVE_GAPS];
    uint32_t n_gaps;
    const char *error;   /* why the last look gave no figure; NULL: it gave one */
    ovl_spot hole;       /* with an error: what the search came upon between looks that have none */
    int64_t now;         /* figure of the scenario as it is; OVL_NEVER: none */
    int64_t least, most; /* of the figure over the range */
    bool monotone;
    ovl_solution crossings[OVL_SOLVE_CROSSINGS];
    uint32_t n_crossings, n_more; /* n_more: seen, but not kept */
    ovl_solution nearest;         /* if it is not met: what comes closest; its range is of the same
                                     figure */
    uint32_t simulations;
} ovl_solve;

/* Reads "step=544 ms", the present value of the key, and the range ("A..B", or NULL: a hundredth to
 * a hundredfold of the present value). False and errors. */
bool ovl_solve_read(ovl_solve *solve, const char *key, const char *target, const char *range,
                    ovl_arena *arena, ovl_errs *errs);

/* Looks for the answer. Where no value can be simulated (a key there is not, a unit that is none)
 * `end` is OVL_SOLVE_FAILED and the errors of the first value are added. */
void ovl_solve_run(ovl_solve *q, ovl_arena *arena, ovl_errs *errs);

void ovl_solve_text(ovl_out *out, const ovl_solve *q);
void ovl_solve_json(ovl_out *out, const ovl_solve *q); /* schema overlapsim.solve/1 */

/* Answers what --solve, --for and --between of a command ask of its FILE, and writes it. Gives the
 * exit status. */
int ovl_solve_answer(ovl_work *work, const ovl_args *args, bool no_fold, bool no_skip);

/* "24 MiB/ms" with up to 12 digits: what --set takes. */
const char *ovl_solve_value(const ovl_solve *q, double value, ovl_arena *arena);

/* --- Between the files of the search --- */

/* Figures that meet a target, both ends included. */
typedef struct ovl_window {
    int64_t low, high;
} ovl_window;

/* The figure with this value (NAN: the scenario as it is); false if it cannot be simulated, or the
 * figure does not apply: then `error` says why. */
bool ovl_solve_look(ovl_solve *q, double value, int64_t *figure, ovl_arena *arena);

/* Half of the way between two values: by ratio where both are above 0; whole for a key that
 * counts. */
double ovl_solve_middle(const ovl_solve *q, double a, double b);

/* Between a look that has a figure and one that has none: the last value from `in` towards `out`
 * that has one, to one part in 10^8. */
ovl_spot ovl_solve_edge(ovl_solve *q, ovl_spot in, ovl_spot out, ovl_arena *arena);

/* Fills in what the looks (in the order of their values) lead to: crossings, or the nearest. Those
 * without a figure part the range: each part is searched by itself. */
void ovl_solve_search(ovl_solve *q, const ovl_spot *looks, uint32_t n, ovl_arena *arena);

#endif
