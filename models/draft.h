/*
 * draft.h - a cost under construction: what cost makers (kernel_cost.c, comm_cost.c) share.
 *
 * A draft holds a cost, its kind and demands until it is stored. Equal costs are stored once: a
 * file written by a program may state a million operations with a handful of distinct costs.
 * Example: 48 layers of 2.1 ms each intern one draft 48 times and get one id.
 */
#ifndef OVL_MODELS_DRAFT_H
#define OVL_MODELS_DRAFT_H

#include "models/plan.h"

#define OVL_DRAFT_DEMANDS 64

typedef struct ovl_draft_phase {
    ovl_cost cost;
    ovl_cost_kind kind; /* its n_demands counts the list */
    ovl_demand own[OVL_DRAFT_DEMANDS];
} ovl_draft_phase;

typedef struct ovl_draft {
    ovl_cost cost;
    ovl_cost_kind kind; /* its n_demands and n_peer count the lists below */
    uint32_t n_later;   /* phases of a collective behind the first */
    ovl_demand own[OVL_DRAFT_DEMANDS], peer[OVL_DRAFT_DEMANDS];
    ovl_draft_phase later[OVL_COMM_PHASES - 1];
} ovl_draft;

/* Adds the cost of `next`, which has no phases, as the last phase of a draft. */
void ovl_draft_follow(ovl_draft *draft, const ovl_draft *next);

/* An equal cost, added if there is none. */
ovl_plan_cost ovl_draft_intern(ovl_lowering *l, const ovl_draft *draft);

/* Adds it in any case: costs of one operation on every rank are consecutive. */
ovl_id ovl_draft_append(ovl_lowering *l, const ovl_draft *draft);

/* The costs of one operation on every rank, appended from `first` on: equal ones if there were some
 * before, and only one if all ranks have the same. */
ovl_plan_cost ovl_draft_store(ovl_lowering *l, ovl_id first);

/* The same of an operation whose cost is on[m] on nodes of sort m. */
ovl_plan_cost ovl_draft_on_ranks(ovl_lowering *l, const ovl_id *on);

/* Adds a demand to a list of the draft unless its rate is 0. */
void ovl_draft_demand(ovl_demand *list, uint8_t *n, ovl_demand demand);

/* The index of an interference class among those of kernels or of communication. */
ovl_id ovl_draft_klass(ovl_lowering *l, bool kernel, const char *name);

/* Whether there is one duration, or one for each rank; else an error. */
bool ovl_draft_check_times(ovl_lowering *l, const char *name, ovl_mark mark, ovl_times times);

/* The number of how a duration varies, for ovl_cost_kind.law; 0: it does not. */
uint8_t ovl_draft_law(ovl_lowering *l, ovl_times times);

/* What is counted of a demand on a resource: at most all of it, with a warning beyond 0.1 %. */
uint64_t ovl_draft_clamp(ovl_lowering *l, const char *name, ovl_mark mark, const char *what,
                         uint64_t rate, uint64_t capacity);

/* Under `fair` the inverse of the bytes/s on the principal resource, so that bytes/s are
 * equalised; else 1. */
double ovl_draft_weight(const ovl_lowering *l, uint64_t principal);

#endif
