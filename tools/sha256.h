/*
 * sha256.h - the SHA-256 of a text (FIPS 180-4), for names of contents.
 *
 *     ovl_sha256 s;
 *     ovl_sha256_begin(&s);
 *     ovl_sha256_add(&s, "abc", 3);
 *     ovl_sha256_end(&s, hex);          "ba7816bf..15ad", 64 digits
 */
#ifndef OVL_TOOLS_SHA256_H
#define OVL_TOOLS_SHA256_H

#include "sim/base.h"

#define OVL_SHA256_TEXT 65

typedef struct ovl_sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    unsigned char block[64];
} ovl_sha256;

void ovl_sha256_begin(ovl_sha256 *sha);
void ovl_sha256_add(ovl_sha256 *sha, const void *data, size_t length);
/* A text and its end, so that "ab", "c" and "a", "bc" differ. NULL is unlike any text. */
void ovl_sha256_text(ovl_sha256 *sha, const char *text);
void ovl_sha256_end(ovl_sha256 *sha, char hex[OVL_SHA256_TEXT]);

#endif
