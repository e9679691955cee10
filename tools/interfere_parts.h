/* interfere_parts.h - what the files of the interference share. */
#ifndef OVL_TOOLS_INTERFERE_PARTS_H
#define OVL_TOOLS_INTERFERE_PARTS_H

#include "sim/spans.h"
#include "tools/interfere.h"

/* Finds for each operation of one kind in the overlapped run (`partner`, by its index) the same one
 * in the run alone: by what it is, and the how-manieth of that on its device. False and an error
 * that lists the differences. */
bool ovl_interfere_match(const ovl_interfere *in, ovl_role role, bool comm,
                         const ovl_trial_op **partner, ovl_errs *errs);

/* What a device is called: "device 0", or "rank 3 device 0" where a run has several files. */
const char *ovl_interfere_device(const ovl_interfere *in, int64_t key, ovl_arena *arena);

/* Sets the clocks of the files of a run by the ends of the collectives that their ranks share,
 * which members end together. shift: [files] what was taken off each. */
void ovl_interfere_align(ovl_trial *run, int64_t *shift);

/* False and an error if kernels and communication of the run overlap. */
bool ovl_interfere_is_alone(const ovl_trial *run, ovl_errs *errs);

/* Adds when operations of one kind ran on a device (index). */
void ovl_interfere_spans(const ovl_trial *run, uint32_t device, bool comm, ovl_spans *spans);

#endif
