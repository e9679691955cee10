/*
 * decimal.h - decimal text to an integer, exactly: no floating point on the way.
 *
 *     ovl_decimal("4203669603018.756", 17, 3, &ns)      4203669603018756: us to ns
 *     ovl_decimal("1.2e3", 5, 0, &n)                    1200
 *     ovl_decimal("NaN", 3, 3, &ns)                     false
 *
 * Doubles step by about 1 ns at the times since 1970 that traces carry, so that sums of them are
 * wrong.
 */
#ifndef OVL_TOOLS_DECIMAL_H
#define OVL_TOOLS_DECIMAL_H

#include "sim/base.h"

/* The value times 10^shift, rounded half away from zero. False, and *out unchanged, if the text is
 * not one number (blanks around it are allowed) or the result is beyond +-(2^62 - 1). */
bool ovl_decimal(const char *text, size_t length, int shift, int64_t *out);

/* A number that names something: an integer within 64 bits with or without sign gives its bits,
 * hexadecimal after 0x too; any other text gives a hash of the text. Equal texts give equal keys.
 */
uint64_t ovl_decimal_key(const char *text, size_t length);

/* FNV-1a over the bytes, 64 bits; `seed` is 0 or an earlier hash to be continued. */
uint64_t ovl_hash(uint64_t seed, const char *text, size_t length);

#endif
