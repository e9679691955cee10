/*
 * keep.h - results into a store, and runs of a store once more.
 *
 *     ovl_keep(&work, "runs.db", &doc, "split", &result);      stored as run 3
 *     ovl_again(&work, &store, &run, &doc, &result);           simulated from the stored texts
 *
 * A run that is simulated again is what it was if the program is: the same text gives the same
 * bytes. Where another version gives another step, a warning says so.
 */
#ifndef OVL_TOOLS_KEEP_H
#define OVL_TOOLS_KEEP_H

#include "tools/store.h"
#include "tools/trials.h"
#include "tools/work.h"

/* What a record needs to know of a document: its texts and names. */
void ovl_run_record_of(ovl_work *work, const ovl_document *doc, ovl_run_record *record);

/* The reports of a result, in `arena`. */
void ovl_run_reports(const ovl_result *result, ovl_arena *arena, ovl_run_record *record);

/* Stores a run that was loaded through `work`, with its reports; gives its number, or 0 and errors.
 */
int64_t ovl_keep(ovl_work *work, const char *store, const ovl_document *doc, const char *variant,
                 const ovl_result *result);

/* The same for `n` runs that belong together; numbers into `runs`. False and errors. */
typedef struct ovl_kept {
    const ovl_document *doc;
    const char *variant;
    const ovl_result *result;
    int64_t run;
    const ovl_trials *trials; /* their reports are kept; NULL: those of the result */
} ovl_kept;
bool ovl_keep_all(ovl_work *work, const char *store, ovl_kept *runs, uint32_t n);

/* Simulates a stored run again; the result lives to the end of the work. False and errors. */
bool ovl_again(ovl_work *work, ovl_store *store, const ovl_stored_run *run, const ovl_ask *ask,
               ovl_result *result);

/* What `ovl export --store` does: the run of the first operand as JSON, or CSV. */
void ovl_export_stored(ovl_work *work, const ovl_args *args);

/* "base, overlap.ddp.bucket_cap=8MiB", with ", 100 trials" of trials: what was run of the scenario.
 */
const char *ovl_stored_text(const ovl_stored_run *run, ovl_arena *arena);

#endif
