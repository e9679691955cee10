/*
 * page.h - runs as one HTML file that needs nothing else: no network, no other file.
 *
 * The file is a template (tools/page/page.html) in which each @NAME@ is replaced: styles, scripts,
 * the drawing library D3, and the data, as JSON in an element of its own. A "<" of the data is
 * written \u003c, so that no text of a scenario can end the element.
 *
 *     {"schema": "overlapsim.page/1", "program": "overlapsim 0.1.0",
 *      "runs": [{"word": "a.yaml:x", "run": {overlapsim.run/1}, "controlled":
 * {overlapsim.controlled/1}, "timeline": {...}, "inputs": [...]}], "comparisons": [{"delta_s":
 * {...}, "verdict": ..., "sentence": ...}]}
 *
 * `run` is what ovl run --json prints, `controlled` with --only both; comparison i is of runs[0]
 * with runs[i + 1].
 *
 * D3 is embedded when the program is built, if it is there (Debian: node-d3). Without it the page
 * has all tables and says that it has no timeline.
 */
#ifndef OVL_TOOLS_PAGE_H
#define OVL_TOOLS_PAGE_H

#include "tools/controlled.h"
#include "tools/recorder.h"
#include "tools/report.h"
#include "tools/trace.h"

/* A run of a page. */
typedef struct ovl_page_run {
    const char *word; /* as the command line names it */
    const ovl_result *result;
    const ovl_trace_job *job; /* its timeline, and which ranks of it are shown */
    const ovl_recorder *texts;
    const ovl_three_runs *three; /* controlled runs; NULL: not made */
    const char *left_out;        /* a sentence on what the page leaves out of it; NULL: nothing */
} ovl_page_run;

typedef struct ovl_page {
    const ovl_page_run *runs;
    uint32_t n_runs;
    const ovl_comparison *comparisons; /* [n_runs - 1] */
    const ovl_set *sets;               /* of the command line */
    uint32_t n_sets;
} ovl_page;

/* Whether timelines can be drawn: D3 is embedded. */
bool ovl_page_draws(void);

void ovl_page_write(ovl_out *out, const ovl_page *page);

/* The bars of a run, by columns: member "timeline" of a run (page_timeline.c says what it holds).
 */
void ovl_page_timeline(ovl_json *json, const ovl_trace_job *job);

#endif
