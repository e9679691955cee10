/*
 * record_parts.h - what the files that make a program of a trace share (record.h says how).
 *
 * For each rank: record_window.c chooses its operations and calls; record_waits.c finds who waited
 * for whom; record_rank.c puts all in host program order. record_match.c then brings ranks
 * together.
 */
#ifndef OVL_MODELS_RECORD_PARTS_H
#define OVL_MODELS_RECORD_PARTS_H

#include "models/record.h"

#include <regex.h>

/* An operation of the step, in order of start. Times are picoseconds since the step began. */
typedef struct ovl_act {
    const ovl_seen_op *op;
    ovl_time start, end;
    ovl_time launch; /* when the host called for it; OVL_NEVER: before the step, or not known */
    ovl_time issue;  /* when it can begin for all the host has to do with it; 0 without a launch */
    uint32_t call;   /* index among the calls of the step; OVL_NONE */
    uint32_t prev;   /* before it on its stream; OVL_NONE */
    bool comm;
    ovl_time key;   /* of its place in host program order */
    ovl_time waits; /* latest end of what it waits for; -1: nothing */
    uint32_t place; /* in the list of operations, once it has one */
} ovl_act;

typedef struct ovl_act_call {
    const ovl_seen_call *call;
    ovl_time start, end;
    uint32_t first, n; /* into `launched` */
} ovl_act_call;

typedef enum ovl_evidence {
    OVL_BY_RECORD, /* the file says so */
    OVL_BY_ORDER,  /* inferred from the order of calls */
    OVL_BY_TIME,   /* inferred from times that fit */
    OVL_EVIDENCE_COUNT,
} ovl_evidence;

typedef struct ovl_act_wait {
    uint32_t act, on; /* acts */
} ovl_act_wait;

/* The host waits until operations have ended. */
typedef struct ovl_act_sync {
    ovl_time start, end; /* of the call */
    uint32_t first, n;   /* into `sync_on` */
} ovl_act_sync;

typedef struct ovl_rank_work {
    const ovl_seen *seen;
    int64_t device;
    ovl_arena *arena, *scratch;
    ovl_names *names;
    regex_t *comm;
    bool drop;
    int64_t from, to; /* the window, ns of the file's clock */
    bool marked;      /* a range marks it: the host's end counts */
    const char *what;
    OVL_VEC(ovl_act) acts;
    OVL_VEC(ovl_act_call) calls;
    OVL_VEC(uint32_t) launched; /* acts by the call that launched them */
    OVL_VEC(ovl_act_wait) waits;
    OVL_VEC(ovl_act_sync) syncs;
    OVL_VEC(uint32_t) sync_on;
    ovl_time latency, gap;
    ovl_time device_gap; /* between operations without a launch */
    uint32_t n_device_gaps;
    bool device_gap_mean; /* it is their mean, else their median */
    ovl_time unexplained;
    /* For the list of what was inferred: */
    uint32_t evidence[OVL_EVIDENCE_COUNT]; /* waits */
    uint32_t sync_evidence[OVL_EVIDENCE_COUNT];
    uint32_t contradicted; /* waits that times contradict, left out */
    uint32_t within;   /* operations that began long before the call that launched them was over */
    uint32_t overlaps; /* operations that began before the one before them on the stream ended */
    uint32_t not_launched; /* operations without a launch in the file */
    uint32_t carried;      /* launched before the step, ended in it */
    /* What is made: */
    OVL_VEC(ovl_rec_op) ops;
    OVL_VEC(uint32_t) after;
    ovl_time end;
} ovl_rank_work;

/* Chooses the window of a file. False and an error if it has no such step. */
bool ovl_record_window(const ovl_seen *seen, const char *step, ovl_rank_work *w, ovl_mark mark,
                       ovl_errs *errs);

/* The steps of a file (or, if it marks none, its other ranges), each once, at most 20 and how many
 * more: "ProfilerStep#1, ProfilerStep#2 and 3 more"; "no step". */
const char *ovl_record_steps(const ovl_seen *seen, ovl_arena *arena);

/* A time of the file since the window began. What is as far away as time can count is clamped: it
 * is no part of a step. */
ovl_time ovl_record_since(const ovl_rank_work *w, int64_t time);

/* Fills acts, calls, launched. */
void ovl_record_acts(ovl_rank_work *w);

/* Fills waits, syncs, latency and gaps, and when each act is issued. */
void ovl_record_waits(ovl_rank_work *w);

/* What passes on a stream between an operation and the one before it. */
ovl_time ovl_record_gap(const ovl_rank_work *w, const ovl_act *act);

/* Makes the list of operations. */
void ovl_record_order(ovl_rank_work *w);

/* Brings ranks together: groups, transfers, begins. `works` are aligned with the ranks. */
void ovl_record_match(ovl_rank_work *works, uint32_t n, ovl_arena *arena, ovl_arena *scratch,
                      ovl_recorded *recorded);

/* The program of a trace that `ovl export` wrote: nothing has to be inferred. */
bool ovl_record_exact(const ovl_seen *seen, ovl_mark mark, ovl_arena *arena, ovl_recorded *recorded,
                      ovl_errs *errs);

#endif
