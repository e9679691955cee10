/*
 * figure.h - a scenario of the repository, run in a line, for tests that check what it answers.
 *
 *     figure f = figure_run("scenarios/buckets/last_bucket.yaml", "split_48", "interference=none",
 * NULL); CHECK_INT(f.result.step, 214 * OVL_MS); figure_free(&f);
 */
#ifndef OVL_TESTS_FIGURE_H
#define OVL_TESTS_FIGURE_H

#include "models/lower.h"
#include "sim/result.h"

typedef struct figure {
    ovl_arena arena;
    ovl_errs errs;
    ovl_lowered lowered;
    ovl_result result;
    bool good;
} figure;

/* Runs a variant (NULL: base) with up to two --set texts (NULL: none), worth of every name. Errors
 * are printed. */
figure figure_run(const char *path, const char *variant, const char *set1, const char *set2);

/* The same without worth: for scenarios with thousands of transfers. */
figure figure_run_quick(const char *path, const char *variant, const char *set1, const char *set2);
void figure_free(figure *f);

/* The row of a collective on the lowest rank that has it; fails a check and gives a row of zeros if
 * there is none. */
const ovl_result_collective *figure_collective(const figure *f, const char *name);

/* When the first operation of this name on the critical path ends; -1 if it is not on it. */
ovl_time figure_path_end(const figure *f, const char *name);

#endif
