/*
 * gradhold.h - what a buffer holds: a value for each gradient in it. Private to gradflow.c.
 *
 * A value is a number of gradvalue.h; what it means is the caller's business.
 */
#ifndef OVL_SIM_GRADHOLD_H
#define OVL_SIM_GRADHOLD_H

#include "sim/base.h"
#include "sim/tally.h"

typedef struct ovl_held {
    ovl_id gradient;
    uint32_t value;
} ovl_held;

/* Gradients become ready from the last of the model to the first, and others in turn, so there is
 * room on both sides. */
typedef struct ovl_holding {
    ovl_held *data;               /* by gradient, ascending */
    uint32_t len, before, behind; /* items; free places on either side of them */
} ovl_holding;

void ovl_holding_free(ovl_holding *h);

/* The value of a gradient; OVL_NONE if there is none. */
uint32_t ovl_holding_value(const ovl_holding *h, ovl_id gradient);

/* The gradient has this value now. */
void ovl_holding_put(ovl_holding *h, ovl_id gradient, uint32_t value);

/* It holds nothing; or these, which are in order. */
void ovl_holding_clear(ovl_holding *h);
void ovl_holding_replace(ovl_holding *h, const ovl_held *items, uint32_t n);

#endif
