/*
 * sweep_args.h - the words that ovl sweep and ovl optimize share: axes, objective, constraints,
 * threads.
 */
#ifndef OVL_TOOLS_SWEEP_ARGS_H
#define OVL_TOOLS_SWEEP_ARGS_H

#include "tools/sweep.h"
#include "tools/work.h"

/* All values of an option, in their order. */
const char **ovl_args_all(const ovl_args *args, const char *name, uint32_t *n, ovl_arena *arena);

/* --over, --zip, --sample, --samples, --seed and the sweep section of the file. */
bool ovl_sweep_read_axes(ovl_work *work, const ovl_args *args, const ovl_document *doc,
                         ovl_axes *axes);

/* --objective and --where. */
bool ovl_sweep_read_choice(ovl_work *work, const ovl_args *args, ovl_sweep *sweep);

/* --jobs; 0 without it. */
bool ovl_sweep_read_jobs(ovl_work *work, const ovl_args *args, uint32_t *threads);

/* A whole number of an option from `least` to `most`; *value stays without it. */
bool ovl_args_count(ovl_work *work, const ovl_args *args, const char *name, int64_t least,
                    int64_t most, int64_t *value);

#endif
