/*
 * fold.h - ranks that do the same on symmetric hardware are simulated once.
 *
 * A *partition* puts ranks, communicators and resources into classes such that whatever one member
 * of a class is connected with, every other member is connected with in the same way and number (an
 * equitable partition). The rates of a run are a unique function of what runs where (share.h), so
 * by induction over events all members of a class do the same at the same picosecond: it is enough
 * to simulate one of each, if resources carry the load of all who would load them.
 *
 * Two ranks are of one class if
 *     they run one code at the same costs, with buffers of the same bytes, on the same GPU;
 *     slot by slot their communicators are of one class, and so are those they send to and receive
 *     from, operation by operation;
 *     port by port their resources are of one class.
 * Two communicators: one name and size, and the same number of members of each (class, slot), met
 * in the same order of first places. Two resources: the same name, capacity and changes, used by
 * the same number of ranks of each class, and by the same number of communicators of each class.
 *
 * Colour refinement finds the coarsest such partition: all of one colour at first, then split by
 * what they are connected with until nothing splits any more. Hashes are used on the way; in the
 * end every condition above is verified member by member, so that a wrong fold cannot happen. What
 * cannot be folded (a communicator whose collectives meet one class of ranks in two slots) gets a
 * colour of its own, and so does, by refinement, whatever depends on it.
 *
 * Example: 16,384 ranks (tp 8, pp 16, dp 128) without variation are 16 classes, one per stage. The
 * folded program has 16 ranks; a NIC that serves the 8 ranks of a node and that each of 8
 * data-parallel communicators loads is loaded 8 times by the one that is simulated. If rank 5 is
 * slower, it is a class of its own, and who shares a communicator or a NIC with it is no longer
 * like those who do not.
 *
 * The folded program is an ordinary program whose ranks, communicators and resources are the lowest
 * of each class, in the same order; `ovl_comm.size` and this table say what they stand for.
 */
#ifndef OVL_SIM_FOLD_H
#define OVL_SIM_FOLD_H

#include "sim/engine.h"

/* Classes of things of one sort, numbered in order of their lowest members. */
typedef struct ovl_partition {
    uint32_t n;
    const uint32_t *of;    /* [things] the class of each */
    const uint32_t *first; /* [n] the lowest of each class */
    const uint32_t *count; /* [n] */
} ovl_partition;

typedef struct ovl_fold {
    const ovl_program *whole; /* what was folded */
    ovl_partition ranks, comms, resources;
    const uint32_t *rank, *count; /* = ranks.first, ranks.count */
    /* How often one resource is loaded, of the folded program: */
    const uint32_t *rank_load;     /* [n_ranks * n_ports] by ranks of the class, through the port */
    const uint32_t *member_load;   /* [members * n_ports] ... by communicators of the class; 0 where
                                      no rank of the class has another port for it */
    const uint32_t *member_spread; /* [members * n_ports] how many resources of the class one
                                      communicator loads */
    const uint32_t *together; /* [n_ops] of the activities that an operation stands for, how many
                                 load exactly the same resources */
} ovl_fold;

/* The coarsest partition of a program; tables live in `arena`. False if no rank is like another. */
bool ovl_fold_find(const ovl_program *program, ovl_arena *arena, ovl_fold *fold);

/* Is it equitable? (ovl_fold_find has asked; for tests.) */
bool ovl_fold_holds(const ovl_program *program, const ovl_fold *fold);

/* The program of one representative of each class; it shares codes, costs and names with the whole.
 * Fills the tables of loads. False and an error if it is too large for 32-bit numbering. */
bool ovl_fold_program(const ovl_program *whole, ovl_fold *fold, ovl_arena *arena,
                      ovl_program *folded, ovl_errs *errs);

/* What to run in place of a program: its fold (tables in `fold`) or, with `no_fold` or where
 * nothing can be folded, the program with every operation numbered. False and an error if that is
 * too large. */
bool ovl_fold_choose(const ovl_program *program, bool no_fold, ovl_arena *arena, ovl_fold *fold,
                     ovl_program *chosen, ovl_errs *errs);

/* Runs what was chosen. If it cannot finish that is told of the ranks as they are, if they are not
 * too many. */
bool ovl_fold_run(const ovl_program *program, const ovl_program *chosen,
                  const ovl_run_options *options, ovl_arena *arena, ovl_timeline *timeline,
                  ovl_errs *errs);

/* Runs a numbered program, folded unless `no_fold`, and gives the timeline of all its ranks. */
bool ovl_run_whole(const ovl_program *program, const ovl_run_options *options, bool no_fold,
                   ovl_arena *arena, ovl_timeline *timeline, ovl_errs *errs);

/* The timeline of the whole program from that of the folded one: every rank has the times of its
 * representative. The whole must be numbered. */
void ovl_unfold(const ovl_program *folded, const ovl_timeline *timeline, ovl_arena *arena,
                ovl_timeline *whole);

#endif
