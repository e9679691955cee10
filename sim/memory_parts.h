/*
 * memory_parts.h - what the files that look at memory share.
 *
 *     memory_host.c   the allocator replayed in host program order
 *     memory_live.c   what holds data, in GPU time
 *     memory_peak.c   who holds a peak, and what would have to change for it to fall
 */
#ifndef OVL_SIM_MEMORY_PARTS_H
#define OVL_SIM_MEMORY_PARTS_H

#include "sim/memory.h"

/* The memory of one rank, looked at. */
typedef struct ovl_memory_view {
    const ovl_program *p;
    const ovl_timeline *t;
    const ovl_rank *rank;
    const ovl_code *code;
    ovl_arena *arena;   /* of the result */
    ovl_arena *scratch; /* of the analysis */
} ovl_memory_view;

/* Bytes of a buffer on the rank. */
static inline uint64_t ovl_memory_bytes(const ovl_memory_view *v, uint32_t buffer)
{
    return ovl_buffer_bytes(v->p, (uint32_t)(v->rank - v->p->ranks), &v->code->buffers[buffer]);
}

/* A moment at which something is given or taken: a host position, or a time. */
typedef struct ovl_memory_event {
    int64_t at;
    uint8_t order; /* at one moment: 0 frees, 1 allocations, 2 frees of what was just allocated */
    uint32_t buffer;
} ovl_memory_event;

typedef OVL_VEC(ovl_memory_event) ovl_memory_events;

/* By moment, order, buffer. */
void ovl_memory_sort(ovl_memory_events *events);

/* A part of a peak: how much of a buffer's size (OVL_NONE: of what `name` says) it counts. */
typedef struct ovl_memory_part {
    uint32_t buffer;
    const char *name;
    uint64_t bytes;
} ovl_memory_part;

typedef OVL_VEC(ovl_memory_part) ovl_memory_parts;

/* Sets holders, categories and what eases a peak, from its parts; frees them. `raised` is the
 * buffer that made the peak. */
void ovl_memory_describe(const ovl_memory_view *v, ovl_memory_parts *parts, uint32_t raised,
                         ovl_peak *peak);

void ovl_memory_live(const ovl_memory_view *v, ovl_result_rank *row);
void ovl_memory_host(const ovl_memory_view *v, ovl_result_rank *row);

#endif
