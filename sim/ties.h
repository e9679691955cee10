/*
 * ties.h - what operations wait for and what waits for them, relative to their own place.
 *
 * The forward kernel of microbatch 7 waits for the receive two operations before it, and so does
 * that of microbatch 8. Said by distance the two are tied to the other operations of their code
 * alike, so their *ties* are stored once, and each operation says by one number which are its own.
 * What is stored once is found by what it holds (stored.h), over all codes of a program.
 *
 * Distances are *offsets*: operation i with the offset d is tied to i + d, modulo 2^32, so one
 * before it has a huge one. The offset 0 is none: nothing waits for itself. A list of offsets is
 * told by where it begins among all of them; its first word is how many there are. List 0 is empty.
 *
 * Example: a kernel k and a transfer t that waits for it, 1,000 times, on two streams: k0 t0 k1 t1
 * ... By offset a t waits for -1 (its k) and -2 (the t before it), and +2 waits for it. Of the
 * 2,000 operations only the first two and the last two are tied in another way: 6 ties.
 */
#ifndef OVL_SIM_TIES_H
#define OVL_SIM_TIES_H

#include "sim/stored.h"

struct ovl_code;
struct ovl_program;

/* What an operation waits for. */
typedef struct ovl_back {
    uint32_t stream_prev; /* offset of the operation before it on its stream */
    uint32_t comm_prev;   /* ... in its communicator: a batch takes the place of its parts */
    uint32_t queue_prev;  /* ... in its hardware queue, which must have arrived */
    uint32_t wire;        /* eager sends: of the one before it to the same peer in the same slot */
    uint32_t after;       /* list: what must have ended besides, as it was added */
} ovl_back;

typedef struct ovl_ties {
    ovl_back back;
    uint32_t alike;      /* equal where `back` is */
    uint32_t waits;      /* ends, starts and the issue (parts of a batch: the batch) it waits for */
    uint32_t next;       /* list: what waits for its end (of all in `back` but queue and wire) */
    uint32_t parts;      /* list: of a batch */
    uint32_t queue_next; /* offset of what waits for its arrival */
    uint32_t lane_next;  /* ... of the next one in its lane (course.h) */
} ovl_ties;

/* Operations local + by[0], ..., local + by[n - 1] of one's code. */
typedef struct ovl_offsets {
    const uint32_t *by;
    uint32_t n;
} ovl_offsets;

static inline ovl_offsets ovl_offsets_at(const uint32_t *offsets, uint32_t list)
{
    return (ovl_offsets){offsets + list + 1, offsets[list]};
}

/* Who is tied to `local` by an offset; OVL_NONE if by none. */
static inline uint32_t ovl_tied_to(uint32_t local, uint32_t offset)
{
    return offset ? local + offset : OVL_NONE;
}

/* --- Making them --- */

typedef struct ovl_tying_back {
    ovl_back back;
    uint32_t list;   /* whose end is waited for, each once */
    uint32_t recent; /* ties that were found last for it, + 1; 0: none yet */
} ovl_tying_back;

typedef struct ovl_tying {
    OVL_VEC(uint32_t) offsets;
    OVL_VEC(ovl_tying_back) backs;
    OVL_VEC(ovl_ties) ties;
    ovl_stored stored_offsets, stored_backs, stored_ties;
} ovl_tying;

/* The number of a list of offsets. */
uint32_t ovl_tie_list(ovl_tying *t, const uint32_t *by, uint32_t n);

/* The number of what an operation waits for. Probably that is *recent - 1 (0: no idea), which is
 * looked at first and becomes what it was. */
uint32_t ovl_tie_back(ovl_tying *t, const ovl_back *back, uint32_t *recent);

/* tied[i] is the number of what operation i of the code waits for, and becomes that of its ties.
 * The code has its operations. */
void ovl_tie_code(ovl_tying *t, const struct ovl_code *code, uint32_t *tied);

/* Moves the ties and their lists into the arena, for the program and all its codes. */
void ovl_tying_end(ovl_tying *t, struct ovl_program *p, struct ovl_code *codes, ovl_arena *arena);

/* Gives back what was not moved there. */
void ovl_tying_free(ovl_tying *t);

#endif
