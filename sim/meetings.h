/*
 * meetings.h - who met whom on resources of one name, and what each lost there.
 *
 * Names whose activities use one instance at the same time *meet* there. Where all that are there
 * want more than it has, it is *full*, and somebody runs below isolated speed. What an operation
 * lost to resources of a name is put down to those who were there while they were full, by how
 * much it would get less if that were its only resource, and by what each of them wanted; an
 * activity does not hold itself back, but others of its name do. So each loss stands once, and rows
 * of one resource add up to all that was lost on it - but for what is lost *alone*: beside nobody,
 * on a link that degrades.
 *
 * What is lost alone is told by operation and place; instances where the same happens to it are
 * one, for which of them holds it back may be by chance. The run measures how long they held it
 * back, and what was lost by it; where they would have held it back beside nobody, and where beside
 * others, follows from what they have and what is wanted. If these are all of the loss, all is
 * known; if not, others held it back in between, and time and loss say when: from 0.5 lost a second
 * alone and 0.75 beside others, 2 s and 1.5 lost are 2 s beside others.
 *
 * Weights are whole numbers, so instances that are alike count alike whether they are folded or
 * not. Losses of the deciding rank go by what happened on its own instances, if they were full.
 *
 * Example, a NIC of 50 GB/s: `a` wants 50 GB/s for 8 ms, `b` and `c` 50 GB/s for 4 of them, one
 * after the other, 1/2 of which is missing while two are there: a lost 4 ms, 2 beside each. If
 * it has 25 GB/s in the 2 ms before, a lost 1 ms more, beside nobody.
 */
#ifndef OVL_SIM_MEETINGS_H
#define OVL_SIM_MEETINGS_H

#include "sim/result.h"
#include "sim/uses.h"

/* What operations of a name lost to resources of a name. */
typedef struct ovl_loss {
    ovl_id resource, name; /* into names; the resource of SMs is behind all of them */
    ovl_time rank, all;    /* of activities of the deciding rank; of all, each once, where ranks are
                              folded as often as there are such; OVL_NEVER: too long */
    ovl_time alone_rank, alone_all; /* of these what was lost beside nobody */
} ovl_loss;

/* An operation where and while one instance had less than was wanted: beside others, and beside
 * nobody. `lost`: in 1/1024 of a picosecond, if nothing else held it back. */
typedef struct ovl_shortage {
    ovl_id resource; /* the instance */
    uint32_t op;
    ovl_time alone, beside;
    ovl_load lost_alone, lost_beside;
} ovl_shortage;

typedef struct ovl_meeting {
    ovl_id resource, a, b; /* names, a <= b */
    uint32_t shared, full; /* instances they met on; of them those that were full meanwhile */
    ovl_time together;     /* on the full one where that was longest */
    /* Weights: how much of a's loss is due to b, and of b's to a; on all instances, and on those of
     * the deciding rank. */
    ovl_load of_a, of_b, rank_a, rank_b;
} ovl_meeting;

/* Two meetings by resource and the pair that met, for qsort. */
int ovl_meeting_order(const void *x, const void *y);

typedef struct ovl_meetings {
    const ovl_causes *causes;
    const ovl_program *p;
    OVL_VEC(ovl_loss) losses; /* by resource, then name */
    OVL_VEC(ovl_meeting) met;
    OVL_VEC(ovl_shortage) short_of; /* only where links degrade: else nobody loses anything alone */
} ovl_meetings;

/* Looks up what was lost; ovl_meetings_free gives back what it takes outside arenas. */
void ovl_meetings_begin(ovl_meetings *m, const ovl_causes *causes);
void ovl_meetings_free(ovl_meetings *m);

/* What was there on one instance, and on others in the same way: so many in all. of_rank: it, or
 * one of these, is the deciding rank's. */
void ovl_meetings_on(ovl_meetings *m, ovl_id resource, const ovl_resource_use *uses, uint32_t n,
                     uint32_t instances, bool of_rank);

/* Of each loss, how much was beside nobody; when all was there. */
void ovl_meetings_alone(ovl_meetings *m);

/* Fills the tables of collisions, in `arena`, and what was lost on resources into their lines. */
void ovl_meetings_end(ovl_meetings *m, ovl_result_resource *lines, uint32_t n_lines,
                      ovl_arena *arena, ovl_result *result);

#endif
