/*
 * controlled.h - what `ovl run --only both` prints: compute alone, communication alone, and both,
 * with the arithmetic between them; as text and as JSON (schema overlapsim.controlled/1).
 */
#ifndef OVL_TOOLS_CONTROLLED_H
#define OVL_TOOLS_CONTROLLED_H

#include "sim/controlled.h"
#include "tools/json.h"

typedef struct ovl_three_runs {
    const char *scenario, *variant, *interference;
    ovl_controlled runs;
} ovl_three_runs;

void ovl_three_runs_text(ovl_out *out, const ovl_three_runs *three);
/* The same as a member `key` of what is open. */
void ovl_three_runs_member(ovl_json *json, const char *key, const ovl_three_runs *three);
void ovl_three_runs_json(ovl_out *out, const ovl_three_runs *three);

#endif
