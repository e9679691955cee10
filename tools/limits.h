/*
 * limits.h - what limits a step: how much shorter it gets if one thing is 10 % faster, or free.
 *
 *     45 = 25 matmul + 20 all-reduce     matmul 10 % faster: 42.7, free: 20
 *                                        all-reduce 10 % faster: 43.2, free: 25
 *
 * Every figure is a simulation of the whole step, folded where ranks are alike; where nothing can
 * be slowed, only what follows from the change is worked out again (sim/rerun.h), which gives the
 * same. What nobody uses is not simulated. Operations are made faster as speedup.h says: in 10/11
 * of their time they move the same bytes. A link or HBM gets 11/10 of its bandwidth, or a million
 * times as much, in the scenario, which is lowered again: costs that are computed from it follow,
 * costs that are stated do not, and then only the sharing changes.
 */
#ifndef OVL_TOOLS_LIMITS_H
#define OVL_TOOLS_LIMITS_H

#include "tools/work.h"

/* Something that can be faster. Steps are OVL_NEVER where they could not be simulated. */
typedef struct ovl_speedup {
    const char *kind; /* "kernels", "communication", "copies", "host", "operation", "link", "hbm" */
    const char *what; /* "all_reduce in dp", "link nic" */
    ovl_time faster;  /* the step if it is 10 % faster */
    ovl_time free;    /* ... takes no time; of a link or HBM: has a million times the bandwidth */
    /* Links and HBM: how many costs of operations use it, and how many of them follow it. */
    uint32_t n_users, n_following;
    const char *note; /* a sentence about these; NULL */
} ovl_speedup;

/* A step that could not be beaten by any change of one kind. */
typedef struct ovl_ceiling {
    const char *key, *what;
    ovl_time step;
} ovl_ceiling;

/* All communication of one name. */
typedef struct ovl_slack_line {
    const char *name, *op, *group;
    uint32_t n;              /* on its first rank */
    ovl_time slack, exposed; /* the least, and the most */
    bool on_path;
} ovl_slack_line;

/* A part of the step in which no kernel advances at isolated speed, and who is to blame. */
typedef struct ovl_lost {
    ovl_term term;
    ovl_time time;
    const char *sentence;
} ovl_lost;

typedef struct ovl_limits {
    const ovl_result *result;
    const ovl_speedup *speedups; /* most gained first */
    uint32_t n_speedups;
    const ovl_ceiling *ceilings;
    uint32_t n_ceilings;
    const ovl_slack_line *slack; /* least first */
    uint32_t n_slack;
    const ovl_lost *lost; /* with the compute they sum to the step */
    uint32_t n_lost;
    uint32_t simulations;
    uint32_t partly;  /* of these: only what follows from the change was worked out again */
    const char *name; /* only operations of this name were made faster; NULL: all kinds */
} ovl_limits;

/* Fills everything, of all or of the operations of one name (NULL: all), on so many threads (0: all
 * cores). Lists and texts live in the work's arena. False and errors. */
bool ovl_limits_find(ovl_work *work, const ovl_prepared *prepared, const char *name,
                     uint32_t threads, ovl_limits *limits);

/* The parts that limits_lost.c finds in a result: slack of communication, and lost time. */
void ovl_limits_slack(const ovl_result *result, ovl_arena *arena, ovl_limits *limits);
void ovl_limits_lost(const ovl_result *result, ovl_arena *arena, ovl_limits *limits);

void ovl_limits_text(ovl_out *out, const ovl_limits *x);
void ovl_limits_json(ovl_out *out, const ovl_limits *x); /* schema overlapsim.limits/1 */

#endif
