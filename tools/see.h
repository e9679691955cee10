/*
 * see.h - reads a measured trace into what replay needs (models/seen.h).
 *
 *     ovl_seen seen;
 *     if (ovl_see_file("r0.json.gz", &arena, &seen, &errs)) { ... }
 *
 * Calls of the runtime that neither launch, record, wait nor sync are not kept: the time between
 * the others is host work, whatever it was.
 */
#ifndef OVL_TOOLS_SEE_H
#define OVL_TOOLS_SEE_H

#include "models/seen.h"
#include "tools/read.h"

/* False and errors if the file is no trace. Everything lives in `arena`, the path is copied. */
bool ovl_see_file(const char *path, ovl_arena *arena, ovl_seen *seen, ovl_errs *errs);

/* The same for bytes in memory, for tests. */
bool ovl_see_bytes(const char *path, const void *bytes, size_t count, ovl_arena *arena,
                   ovl_seen *seen, ovl_errs *errs);

/* What a call of this name does: "cudaStreamWaitEvent" is OVL_CALL_WAIT. */
ovl_call ovl_see_call(ovl_slice name);

#endif
