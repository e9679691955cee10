/*
 * speedup.h - virtual speed-up: the same program with some of its operations faster, or free.
 *
 * A *lever* is a choice of operations: kernels of a class, one collective in one group, copies of a
 * direction, what the host does, or all of one name. Pulled, they take `num / den` of their time,
 * rounded up to a picosecond (latency, transfer and what SMs bound alike). They move the same bytes
 * in it, so they ask for den / num of their rates, but never for more than the resource has. At
 * num = 0 they take no time and hold and move nothing; order and rendezvous stay. What the host
 * does is launches and the own time of its calls, not what these wait for.
 *
 * A kernel that joins work of two classes (ovl_cost_kind.split) is moved by each of their levers in
 * that part alone: of 10 ms, 4 of them forward, free forwards leave 6.
 *
 * Example: a 25 ms matmul, then a 20 ms all-reduce: 45. The matmul at 10/11 takes 22.73 ms: 42.73;
 * free: 20.
 *
 * The idea is that of causal profiling (Curtsinger and Berger, Coz, SOSP 2015); here nothing has to
 * be slowed down to see it, the step is simulated again.
 */
#ifndef OVL_SIM_SPEEDUP_H
#define OVL_SIM_SPEEDUP_H

#include "sim/engine.h"

typedef enum ovl_lever_kind {
    OVL_LEVER_KERNELS, /* of class `klass`; OVL_NONE: those without one */
    OVL_LEVER_COMM,    /* operation `coll` in groups called `group` */
    OVL_LEVER_COPIES,  /* of direction `engine` */
    OVL_LEVER_HOST,
    OVL_LEVER_NAME, /* operations called `name`; a receive stands for the send it meets */
} ovl_lever_kind;

typedef struct ovl_lever {
    ovl_lever_kind kind;
    ovl_id klass, group, name;
    uint8_t coll, engine;
} ovl_lever;

typedef struct ovl_faster {
    uint32_t num, den; /* num <= den, both at most 10,000 */
    bool fair;         /* sharing by bytes: weights follow rates */
} ovl_faster;

/* The levers of a program whose operations take any time: kernels by class, communication,
 * copies, host, each in order of first appearance. They live in `arena`. */
const ovl_lever *ovl_levers_find(const ovl_program *program, ovl_arena *arena, uint32_t *n);

/* Whether an operation of a rank is one that the lever moves; what joins two classes counts as one
 * of its own (ovl_cost_kind.klass). */
bool ovl_lever_pulls(const ovl_program *program, const ovl_lever *lever, uint32_t rank,
                     uint32_t local);

/* Whether it moves only a part of some kernels: of those that join two classes. */
bool ovl_lever_splits(const ovl_program *program, const ovl_lever *lever);

/* The lever of one name. False if no operation is called so. */
bool ovl_lever_of_name(const ovl_program *program, const char *name, ovl_lever *lever);

/* "kernels attention", "all_reduce in dp", "copies to the host", "host"; text in `arena`. */
const char *ovl_lever_text(const ovl_program *program, const ovl_lever *lever, ovl_arena *arena);

/* The program with the lever pulled; it shares what is not changed with `program` and lives in
 * `arena` beside it. */
ovl_program ovl_program_faster(const ovl_program *program, const ovl_lever *lever,
                               const ovl_faster *how, ovl_arena *arena);

/* Simulates a program, folded where it can be, and gives its step. False and an error as ovl_run.
 */
bool ovl_simulate_step(const ovl_program *program, const ovl_run_options *options, ovl_time *step,
                       ovl_errs *errs);

#endif
