/*
 * wires.h - GPUs of a node that are connected pair by pair (`topology: mesh`): every GPU has a wire
 * of its own to each other, and a pair never gets more than its wire.
 *
 * Of g GPUs with b bytes/s each, a wire has b / (g - 1) in each direction. To the rest of lowering
 * the wires are links: link "nvlink" is followed, behind all others, by "nvlink+1" .. "nvlink+g-1",
 * the wires from each GPU to the one 1 .. g - 1 further around its block. They have an outward port
 * alone: what one GPU sends over a wire is what the other receives.
 *
 * What crosses a wire:
 *
 *     send and receive   all of it, over the wire between the two
 *     all-to-all         what the one has for the other: all wires at once
 *     rings              as many as use all wires between the members evenly (libraries build rings
 *                        along different orders of the members): of what one ring would send over
 *                        one wire, 1/(k - 1) over each if all k members are in the block, 1/k of it
 *                        if the rings go on elsewhere, as they enter at one and leave at another;
 *                        with `rings: one` all of it over the wire to the next member
 *
 * Example: 4 GPUs of 300 GB/s, wires of 100. An all-reduce of 400 MB over all 4: 2 * 3/4 * 400 MB =
 * 600 MB from each, 200 MB over each wire, 2 ms; in one ring 6 ms. Over 2 of them: 400 MB over one
 * wire, 4 ms.
 */
#ifndef OVL_MODELS_WIRES_H
#define OVL_MODELS_WIRES_H

#include "models/uneven.h"

/* Puts the wires behind the links of l->hw, which becomes another one; `via` of its collectives and
 * of hardware.nodes follow. Nothing happens without a mesh. */
void ovl_wires_add(ovl_lowering *l);

/* The links in `via` with the wires of a mesh in its place. */
const ovl_texts *ovl_wires_via(ovl_lowering *l, const ovl_texts *via);

/* The rank at the other end of the wire out of a rank; in a last block that is not full there may
 * be none of that number. */
uint32_t ovl_wire_end(const ovl_hw_link *wire, uint32_t rank);

/* Fills ways[i * n_links + link] of members i for a wire. */
void ovl_wires_ways(const ovl_lowering *l, uint32_t link, const uint32_t *ranks, uint32_t n,
                    ovl_way *ways);

/* As ovl_uneven_crossing, for a wire; without pairs and PXN. */
ovl_uneven_way ovl_wires_uneven(const ovl_lowering *l, const ovl_group *group, uint32_t link,
                                uint64_t bytes, const ovl_uneven *uneven, ovl_arena *arena);

#endif
