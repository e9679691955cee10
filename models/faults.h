/*
 * faults.h - machines that are not as they should be: a GPU slower than the others, a link that
 * degrades at a moment and recovers.
 *
 * A slow GPU takes longer for each kernel (its isolated duration is another one); a degraded link
 * has another capacity from a moment on, and what crosses it is stretched. Isolated costs stay
 * those of the healthy machine, so the loss is seen as stretch, and interference `none` does not
 * see it.
 *
 *     faults:
 *       - {ranks: 3, slowdown: 1.25}                              a 4 ms kernel takes 5 ms there
 *       - {link: nic, ranks: [8-15], bandwidth: 25 GB/s, from: 10 ms, until: 30 ms}
 *
 * Of several faults of a link at a time the worst counts: with 5 GB/s for ever and 2 GB/s from 10
 * to 20 ms it has 5, 2, and 5 again.
 */
#ifndef OVL_MODELS_FAULTS_H
#define OVL_MODELS_FAULTS_H

#include "models/plan.h"

/* Errors: ranks of faults that there are not. */
void ovl_faults_check(ovl_lowering *l);

/* Fills l->slowdown, left NULL if no GPU is slow; before the plan makes costs. */
void ovl_faults_slow(ovl_lowering *l);

/* Changes of capacity; `ports` are the resources of rank after rank. */
void ovl_faults_links(ovl_lowering *l, const ovl_id *ports);

#endif
