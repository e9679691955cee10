/*
 * sha256.h - SHA-256 (FIPS 180-4), so that a number can be traced to the bytes it came from.
 *
 *     "abc"  ->  ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 96177a9c b410ff61 f20015ad
 */
#ifndef OVL_TOOLS_SHA256_H
#define OVL_TOOLS_SHA256_H

#include "sim/base.h"

#define OVL_SHA256_TEXT 65 /* 64 hexadecimal digits and a NUL */

typedef struct ovl_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} ovl_sha256;

void ovl_sha256_begin(ovl_sha256 *sha);
void ovl_sha256_add(ovl_sha256 *sha, const void *bytes, size_t count);
void ovl_sha256_end(ovl_sha256 *sha, char text[OVL_SHA256_TEXT]);

/* Of the bytes of a file as they lie on the disk. False if it cannot be read, or is no file that
 * could be read again (standard input, a pipe). */
bool ovl_sha256_file(const char *path, char text[OVL_SHA256_TEXT]);

#endif
