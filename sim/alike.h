/*
 * alike.h - names that differ in numbers only, such as those of one collective in each microbatch.
 *
 * Example: "forward block[3].dispatch mb 12" is one of
 *
 *     OVL_ALIKE_LAST  "forward block[3].dispatch mb *"     its last number left open
 *     OVL_ALIKE_ALL   "forward block[*].dispatch mb *"     all numbers
 */
#ifndef OVL_SIM_ALIKE_H
#define OVL_SIM_ALIKE_H

#include "sim/arena.h"

typedef enum ovl_alike { OVL_ALIKE_SAME, OVL_ALIKE_LAST, OVL_ALIKE_ALL } ovl_alike;

/* What the name has in common with others, in `arena`; itself for OVL_ALIKE_SAME. */
const char *ovl_alike_text(const char *name, ovl_alike how, ovl_arena *arena);

/* Numbers names[0 .. n-1] by what they have in common, in the order in which these come first:
 * number[i] < the result, how many there are. */
uint32_t ovl_alike_number(const char *const *names, uint32_t n, ovl_alike how, uint32_t *number);

#endif
