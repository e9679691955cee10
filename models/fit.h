/*
 * fit.h - from measured times of transfers to what a transfer of some size costs.
 *
 * A time is alpha + bytes / beta where one protocol runs, and something else where the library
 * switches. Three kinds of models are tried and the one that predicts sizes it has not seen best is
 * taken, of equals the simplest:
 *
 *     pair     one alpha and one beta for all sizes
 *     pieces   an alpha and beta for each range of sizes; between ranges lies a switch of protocol
 *     table    the measured points, joined by lines in (bytes, time) or in (log bytes, log time)
 *
 * Errors are relative, since sizes span nine orders of magnitude: 8 B in 9 us and 128 MiB in 8.5 ms
 * count alike. Times are nanoseconds as doubles. Nothing here prints, reads or keeps state.
 *
 *     1 MiB 20 us, 2 MiB 30 us, 4 MiB 50 us, 8 MiB 90 us   ->   alpha 10 us, beta 104.9 GB/s
 */
#ifndef OVL_MODELS_FIT_H
#define OVL_MODELS_FIT_H

#include "sim/arena.h"

typedef struct ovl_fit_point {
    uint64_t bytes;
    double time; /* ns, > 0 */
} ovl_fit_point;

/* A value with the ends of its 95 % interval; low > high: there is none. */
typedef struct ovl_fit_value {
    double value, low, high;
} ovl_fit_value;

bool ovl_fit_has_interval(ovl_fit_value value);

/* time = alpha + slope * bytes for sizes from..to. */
typedef struct ovl_fit_line {
    uint64_t from, to;
    uint32_t n;          /* points it stands on */
    ovl_fit_value alpha; /* ns; never negative */
    ovl_fit_value slope; /* ns per byte; never negative. beta = 1 / slope */
    double residual;     /* robust standard deviation of the relative residuals; 0 unknown */
    bool switches;       /* pieces: other than the one before it by more than noise explains */
} ovl_fit_line;

typedef enum ovl_fit_kind {
    OVL_FIT_PAIR,
    OVL_FIT_PIECES,
    OVL_FIT_TABLE_BYTES, /* lines in (bytes, time) */
    OVL_FIT_TABLE_LOGS,  /* lines in (log bytes, log time) */
} ovl_fit_kind;

/* A model of one kind. Every kind predicts through its knots: lines between them (in bytes, or in
 * logarithms for TABLE_LOGS), the slope of the outermost two beyond them. */
typedef struct ovl_fit_model {
    ovl_fit_kind kind;
    ovl_fit_line *lines; /* PAIR: 1, PIECES: >= 2 */
    uint32_t n_lines;
    ovl_fit_point *knots; /* rising in bytes */
    uint32_t n_knots;
} ovl_fit_model;

/* Relative errors |predicted / measured - 1| on points that the model had not seen. */
typedef struct ovl_fit_errors {
    uint32_t n; /* points predicted; 0: nothing could be held out */
    double median, p90, worst;
    uint64_t worst_bytes;
} ovl_fit_errors;

/* How a kind did in cross-validation, where each size in turn is left out and predicted. */
typedef struct ovl_fit_score {
    ovl_fit_kind kind;
    uint32_t n_lines;
    double mean, median; /* of the relative errors */
    bool tried;          /* there were sizes enough */
    bool beats_pair;     /* by more than noise explains */
} ovl_fit_score;

#define OVL_FIT_MOST_LINES 5
#define OVL_FIT_CANDIDATES (OVL_FIT_MOST_LINES + 2)
#define OVL_FIT_FEW_SIZES  5 /* with fewer, only the pair is tried */

typedef struct ovl_fit {
    ovl_fit_point *sizes; /* each size once, with the median of its times */
    uint32_t n_sizes, n_points;
    bool identified; /* two sizes at least: `pair` and `chosen` are set */
    ovl_fit_line pair;
    ovl_fit_model chosen;
    ovl_fit_model pieces; /* those that did best, if they beat a pair; else n_lines is 0 */
    ovl_fit_score scores[OVL_FIT_CANDIDATES];
    uint32_t n_scores;
    bool halves;                    /* held out: odd sizes from even ones; else one at a time */
    ovl_fit_errors held, pair_held; /* of the choice made without the held-out sizes; of a pair */
} ovl_fit;

/* Fits `n` points in any order; several of one size are repeats. The result lives in `arena`. */
ovl_fit ovl_fit_points(const ovl_fit_point *points, uint32_t n, ovl_arena *arena);

/* The robust line through points alone: bisquare weights on relative residuals, Student-t intervals
 * (needs 4 points; with fewer it has none). Needs two different sizes. */
ovl_fit_line ovl_fit_robust_line(const ovl_fit_point *points, uint32_t n);

/* The model that cross-validation chooses; `scores` (OVL_FIT_CANDIDATES of them) may be NULL.
 * `sizes` rise and number two at least. */
ovl_fit_model ovl_fit_choose(const ovl_fit_point *sizes, uint32_t n, ovl_arena *arena,
                             ovl_fit_score *scores, uint32_t *n_scores);

/* ns for a size; never negative. */
double ovl_fit_predict(const ovl_fit_model *model, uint64_t bytes);

/* "pair", "3 pieces", "table". Owned by the arena. */
const char *ovl_fit_model_name(ovl_fit_kind kind, uint32_t n_lines, ovl_arena *arena);

#endif
