/*
 * metrics.h - the figures of a run by name: what a sweep tabulates, constrains and chooses by, and
 * what the store keeps for every run.
 *
 *     step<=544 ms      peak<=80GiB      hazards=0
 *
 * A figure is a time in picoseconds, a number of bytes, or a count. All are better when smaller,
 * but for `hidden`. One that does not apply to a run (memory without buffers) is absent.
 */
#ifndef OVL_TOOLS_METRICS_H
#define OVL_TOOLS_METRICS_H

#include "sim/err.h"
#include "sim/result.h"

typedef enum ovl_metric_kind {
    OVL_METRIC_TIME,
    OVL_METRIC_BYTES,
    OVL_METRIC_COUNTED,
} ovl_metric_kind;

typedef struct ovl_metric {
    const char *name; /* also of its JSON key and CSV column, with _s or _bytes */
    ovl_metric_kind kind;
    const char *doc;                                       /* a phrase */
    bool (*get)(const ovl_result *result, int64_t *value); /* false: it does not apply */
} ovl_metric;

/* Those of a table come first, in its order. */
enum {
    OVL_M_STEP,
    OVL_M_UNCOVERED,
    OVL_M_PRICE,
    OVL_M_IDLE,
    OVL_M_LIVE,
    OVL_M_ALLOCATED,
    OVL_M_PEAK,
    OVL_M_RETRIES,
    OVL_M_STARTUPS,
    OVL_M_HAZARDS,
    OVL_M_TABLE, /* how many these are */
    OVL_M_OVER = OVL_M_TABLE,
};

#define OVL_METRICS_MAX 32 /* bits of ovl_figures.has */

extern const ovl_metric ovl_metrics[];
extern const uint32_t ovl_n_metrics;

/* All figures of a run. */
typedef struct ovl_figures {
    int64_t value[OVL_METRICS_MAX];
    uint32_t has; /* a bit each */
} ovl_figures;

void ovl_figures_of(const ovl_result *result, ovl_figures *figures);

static inline bool ovl_has_figure(const ovl_figures *figures, uint32_t metric)
{
    return figures->has >> metric & 1;
}

/* "step_s", "peak_bytes", "startups": the key of JSON and CSV; the text lives in `arena`. */
const char *ovl_metric_key(uint32_t metric, ovl_arena *arena);

/* The index of a name, or OVL_NONE and an error (OVL_E_USAGE) with the nearest. */
uint32_t ovl_metric_find(const char *name, const char *option, ovl_errs *errs);

/* The metrics by which steps that do different work compare: the step over units of its work. */
typedef enum ovl_per { OVL_PER_MICROBATCH, OVL_PER_TOKENS, OVL_PER_FLOPS, OVL_PER_COUNT } ovl_per;
uint32_t ovl_metric_per(ovl_per per);

/* Which of them a metric is; OVL_PER_COUNT: none. */
ovl_per ovl_per_of(uint32_t metric);

/* How many units of work a run did: its step over what one takes; 0: not known. Example: 54 ms, 825
 * ms for a million tokens: 0.0654 millions. */
double ovl_work_of(const ovl_figures *figures, ovl_per per);

/* "step,peak": at most OVL_METRICS_MAX of them. False and errors. */
typedef struct ovl_metric_list {
    uint32_t item[OVL_METRICS_MAX];
    uint32_t n;
} ovl_metric_list;
bool ovl_metric_list_read(const char *text, const char *option, ovl_metric_list *list,
                          ovl_errs *errs);

typedef enum ovl_relation { OVL_LESS, OVL_AT_MOST, OVL_EQUAL, OVL_AT_LEAST, OVL_MORE } ovl_relation;

/* A constraint: "peak<=80GiB". */
typedef struct ovl_where {
    uint32_t metric;
    ovl_relation relation;
    int64_t value;
    const char *text; /* as it was written */
} ovl_where;

/* False and errors (OVL_E_USAGE). */
bool ovl_where_read(const char *text, const char *option, ovl_where *where, ovl_errs *errs);

/* Whether the figures satisfy it; one that does not apply does not. */
bool ovl_where_holds(const ovl_where *where, const ovl_figures *figures);

/* A value of this metric as text with its unit: "213 ms", "24.6 GiB", "2". */
const char *ovl_metric_text(uint32_t metric, int64_t value, ovl_arena *arena);

#endif
