/*
 * yaml_out.h - YAML, written so that it reads back as what it was.
 *
 *     a "name" with: signs     ->  "a \"name\" with: signs"
 *     8 860 000 ps             ->  8.86 us
 */
#ifndef OVL_TOOLS_YAML_OUT_H
#define OVL_TOOLS_YAML_OUT_H

#include "models/yaml.h"
#include "sim/units.h"
#include "tools/out.h"

/* A text in double quotes; control characters are escaped. */
void ovl_yaml_text(ovl_out *out, const char *text);

/* A value of a tree behind its key: a scalar on the same line, the rest in lines of their
 * own, indented by `indent` blanks. Ends with a newline. What an alias shared is written out. */
void ovl_yaml_node(ovl_out *out, const ovl_node *node, unsigned indent);

/* "key: " or "key:" and the value, indented. */
void ovl_yaml_pair(ovl_out *out, const ovl_pair_node *pair, unsigned indent);

/* An item of a list: its dash, indented, and the value. */
void ovl_yaml_item(ovl_out *out, const ovl_node *node, unsigned indent);

#define OVL_YAML_TIME 40

/* A time in us with the decimals it needs, so exact to the picosecond. Gives buf. */
const char *ovl_yaml_time(char buf[OVL_YAML_TIME], ovl_time t);

#endif
