/*
 * fits.h - what would fill the machine's memory before it could run is told before it is prepared.
 *
 * The bounds are lower ones: what would fit is never refused here. What a run then takes is known
 * exactly and is checked again (ovl_run_memory).
 *
 * Example: 100,000 layers with 4,096 microbatches have a forward and a backward each: 819 million
 * operations, of 150 bytes at least, are 114 GiB.
 */
#ifndef OVL_TOOLS_FITS_H
#define OVL_TOOLS_FITS_H

#include "models/scenario.h"

/* Whether the scenario may be prepared with so many bytes (0: not known, everything may); an error
 * at what makes it so large if not. */
bool ovl_may_prepare(const ovl_scenario *scenario, uint64_t memory, ovl_errs *errs);

#endif
