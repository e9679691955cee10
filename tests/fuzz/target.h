/*
 * target.h - what the fuzz targets have in common.
 *
 * Each is one function from any bytes to an answer: what was read, or a reason why not. Linked with
 * replay.c it runs over its corpus as a test, linked with libFuzzer it looks for more.
 */
#ifndef OVL_TESTS_TARGET_H
#define OVL_TESTS_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of just this size, so that reading past the end is seen; the caller frees it. NULL: there
 * is no memory. */
static inline char *exact_copy(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size ? size : 1);
    if (bytes && size) {
        memcpy(bytes, data, size);
    }
    return bytes;
}

#endif
