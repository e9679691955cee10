/*
 * explain.h - what `ovl explain` prints: operations with what held them back, or one resource over
 * time, as text and as JSON (schema overlapsim.explain/1).
 */
#ifndef OVL_TOOLS_EXPLAIN_H
#define OVL_TOOLS_EXPLAIN_H

#include "sim/explain.h"
#include "sim/occupancy.h"
#include "tools/out.h"

/* Exactly one of the two lists is asked for. */
typedef struct ovl_explanation {
    const char *scenario, *variant, *interference;
    ovl_time step;
    const char *name; /* of the operations asked for; NULL: all that lost something */
    const ovl_explained *operations;
    uint32_t n_operations;
    const char *resource; /* NULL: operations were asked for */
    uint32_t instance;
    bool sms;          /* it is the SMs of a rank, not bytes/s */
    uint64_t capacity; /* bytes/s, at the start; SMs */
    const ovl_occupancy *pieces;
    uint32_t n_pieces;
} ovl_explanation;

void ovl_explain_text(ovl_out *out, const ovl_explanation *x);
void ovl_explain_json(ovl_out *out, const ovl_explanation *x);

#endif
