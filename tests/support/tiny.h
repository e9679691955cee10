/*
 * tiny.h - small programs in a few lines, for tests of the kernel.
 *
 *     tiny t;
 *     tiny_init(&t, 2);                                            two ranks that run one code
 *     tiny_kernel(&t, "compute", "matmul", 25 * OVL_MS);
 *     tiny_collective(&t, "comm", "reduce", 0, 20 * OVL_MS);       latency, transfer
 *     tiny_run(&t, OVL_INTERFERENCE_NONE);                         t.timeline, or t.errs
 *     tiny_free(&t);
 *
 * Each tiny_... adds one operation to the current code (t.code) and gives its local index. Ranks
 * are made when the program is frozen: by default all run code 0; tiny_use(&t, rank, code) changes
 * that.
 */
#ifndef OVL_TESTS_TINY_H
#define OVL_TESTS_TINY_H

#include "sim/engine.h"

#define TINY_RANKS 64

typedef struct tiny {
    ovl_arena arena;
    ovl_errs errs;
    ovl_builder b;
    ovl_id code;
    uint32_t n_ranks;
    ovl_id rank_code[TINY_RANKS];
    ovl_cost cost; /* of the next operation, and its kind; cleared by it */
    ovl_cost_kind kind;
    ovl_demand demands[4];
    uint32_t n_demands;
    ovl_demand peer[4];
    uint32_t n_peer;
    uint64_t hbm_rate; /* capacity of the HBM of each rank; 0: none */
    bool hbm_of_all;   /* one such resource for all ranks instead of one each */
    bool skip;         /* periods that recur, in ovl_run_options */
    bool frozen;
    ovl_program program;
    ovl_timeline timeline;
} tiny;

void tiny_init(tiny *t, uint32_t n_ranks);
void tiny_free(tiny *t);

/* A further code, now the current one. It has the communicator "dp" of all ranks in slot 0, as
 * every code. */
ovl_id tiny_code(tiny *t);
void tiny_use(tiny *t, uint32_t rank, ovl_id code);

uint32_t tiny_kernel(tiny *t, const char *stream, const char *name, ovl_time work);
uint32_t tiny_collective(tiny *t, const char *stream, const char *name, ovl_time latency,
                         ovl_time work);
uint32_t tiny_send(tiny *t, const char *stream, const char *name, uint32_t to, ovl_time work,
                   bool eager);
uint32_t tiny_recv(tiny *t, const char *stream, const char *name, uint32_t from, ovl_time work,
                   bool eager);
uint32_t tiny_copy(tiny *t, const char *stream, const char *name, ovl_time work);
uint32_t tiny_host(tiny *t, const char *name, ovl_time work);
uint32_t tiny_marker(tiny *t, const char *stream, const char *name);
/* The last operation is after `before`. */
void tiny_after(tiny *t, uint32_t before);
/* An operation of the current code, to be changed before anything is added. */
ovl_op *tiny_change(tiny *t, uint32_t local);
uint32_t tiny_last(const tiny *t);
ovl_id tiny_buffer(tiny *t, const char *name, uint64_t bytes);
void tiny_reads(tiny *t, ovl_id buffer);
void tiny_writes(tiny *t, ovl_id buffer);

bool tiny_freeze(tiny *t);
/* Freezes if needed and runs; false if t->errs has something to say. */
bool tiny_run(tiny *t, ovl_interference model);

/* End of a local operation on a rank. */
ovl_time tiny_end(const tiny *t, uint32_t rank, uint32_t local);
ovl_time tiny_term(const tiny *t, uint32_t rank, ovl_term term);

#endif
