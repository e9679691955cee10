/*
 * recorder.h - which files a scenario was read from, word for word, so that it can be kept and read
 * again.
 *
 *     ovl_recorder r = {.inner = ovl_real_files(), .arena = &arena};
 *     work.files = ovl_recorder_files(&r);            loading fills r.files: the scenario first
 *     files = ovl_recorder_again(&r);                 loading once more touches no file
 */
#ifndef OVL_TOOLS_RECORDER_H
#define OVL_TOOLS_RECORDER_H

#include "models/scenario.h"
#include "sim/vec.h"
#include "tools/sha256.h"

typedef struct ovl_kept_file {
    const char *path, *text;
    size_t length;
} ovl_kept_file;

typedef struct ovl_recorder {
    ovl_files inner;
    ovl_arena *arena;
    OVL_VEC(ovl_kept_file) files; /* each once, in the order they were read */
} ovl_recorder;

/* Reads through `inner` and keeps what was read. */
ovl_files ovl_recorder_files(ovl_recorder *recorder);

/* Serves what was kept; any other file is an error. Measured traces are too large to be kept: of
 * them there is the digest, and they are read where they lie, if they still are what they were. */
ovl_files ovl_recorder_again(ovl_recorder *recorder);

/* Of all contents together, whatever the files are called. */
void ovl_recorder_digest(const ovl_recorder *recorder, char hex[OVL_SHA256_TEXT]);

/* Adds a text and its end, so that "ab", "c" and "a", "bc" differ. NULL is unlike any text. */
void ovl_digest_text(ovl_sha256 *sha, const char *text);

void ovl_recorder_free(ovl_recorder *recorder);

#endif
