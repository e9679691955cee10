/*
 * hazard.h - are all conflicting accesses ordered by something the program enforces?
 *
 * Two operations of a rank conflict if they access one buffer and at least one of them writes it.
 * They are safe if the end of one lies behind the arrival of the other through stream order,
 * `after` edges, communicator order, host syncs, batches, and the rendezvous of collectives and
 * messages; that one happened to be later in this run does not count.
 *
 * Per code, vector clocks over the streams (and the host) decide nearly all pairs: an operation's
 * clock says how far each stream had ended before it arrived. A pair they leave open is searched
 * for in the whole program, backward over causes (causes.h) no further than the times of this run
 * allow, because another rank may order it.
 *
 * Where ranks are folded, what is open among the representatives is open; what they order is looked
 * for in the whole program, rank by rank (behind.h).
 *
 * Memory that is used again conflicts, too. A buffer that is freed may be handed out at once to the
 * next one that its pool is asked for, so the last uses of the first must be over before the first
 * use of the second. The buffer taken to get it is the next in host order that fits; of several
 * freed ones it gets the one freed last, whose uses are the latest. `record_stream` leaves that to
 * the allocator.
 *
 * Example: an all-reduce on stream `comm` writes "bucket 1"; the optimizer on `compute` reads it
 * without an `after` edge: `"optimizer" reads buffer "bucket 1" without waiting for "bucket 1"
 * (all_reduce) that writes it`. Its clock has `compute` = 7 and `comm` = nothing.
 */
#ifndef OVL_SIM_HAZARD_H
#define OVL_SIM_HAZARD_H

#include "sim/causes.h"
#include "sim/result.h"

typedef OVL_VEC(ovl_result_hazard) ovl_hazards;

/* Pairs looked at, over all ranks. */
typedef struct ovl_races_checked {
    uint32_t accesses, reuses; /* of one buffer; of memory that one frees and another gets */
} ovl_races_checked;

/* Appends the races of the program, each pair once per code; texts live in `arena`. */
void ovl_races_find(ovl_causes *causes, ovl_arena *arena, ovl_hazards *hazards,
                    ovl_races_checked *checked);

#endif
