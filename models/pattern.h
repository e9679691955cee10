/*
 * pattern.h - POSIX extended regular expressions that a user wrote, matched anywhere in a name.
 *
 * The compiler of the C library copies what is repeated, so a few characters can ask for all the
 * memory there is: ((a{1,9999}){1,9999}){1,9999}. A pattern is therefore refused if its length
 * times the product of its repeats is more than OVL_PATTERN_SIZE (so large, one takes some 30 MB).
 *
 *     nccl|rccl            good
 *     (                    no pattern: Unmatched ( or \(
 *     (a{1,20}){2,20}      15 characters x 20 x 20: repeats too much
 */
#ifndef OVL_MODELS_PATTERN_H
#define OVL_MODELS_PATTERN_H

#include "sim/arena.h"

#include <regex.h>
#include <stdbool.h>

#define OVL_PATTERN_SIZE 4000 /* characters, those that repeats ask for included */

/* Compiles a pattern; gives NULL, or why it is none (in `arena`), with nothing to free. Where it is
 * good the caller frees it by regfree. `any_case`: capitals are like small letters. */
const char *ovl_pattern_compile(regex_t *regex, const char *text, bool any_case, ovl_arena *arena);

/* The same for one that was found good before: a key that models/fields.h decoded. */
void ovl_pattern_again(regex_t *regex, const char *text, bool any_case);

/* Why a text is no pattern (in `arena`), or NULL. */
const char *ovl_pattern_wrong(const char *text, ovl_arena *arena);

#endif
