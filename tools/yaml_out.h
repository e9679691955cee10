/*
 * yaml_out.h - scalars of YAML, written so that they read back as what they were.
 *
 *     a "name" with: signs     ->  "a \"name\" with: signs"
 *     8 860 000 ps             ->  8.86 us
 */
#ifndef OVL_TOOLS_YAML_OUT_H
#define OVL_TOOLS_YAML_OUT_H

#include "sim/units.h"
#include "tools/out.h"

/* A text in double quotes; control characters are escaped. */
void ovl_yaml_text(ovl_out *out, const char *text);

#define OVL_YAML_TIME 40

/* A time in us with the decimals it needs, so exact to the picosecond. Gives buf. */
const char *ovl_yaml_time(char buf[OVL_YAML_TIME], ovl_time t);

#endif
