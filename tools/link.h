/*
 * link.h - the processes of one `mpirun ovl sweep`: who am I, and words to the first of them.
 *
 *     ovl_link link;
 *     if (ovl_link_begin(&link, &errs)) {             rank 0 of 1 without mpirun
 *         ovl_link_share(&link, bytes, n);            everybody has what rank 0 has
 *         if (link.rank) ovl_link_send(&link, data, n);
 *         else while (ovl_link_receive(&link, &buffer)) { ... }
 *     }
 *     ovl_link_end(&link);
 *
 * The program itself knows no MPI, so that no other command waits for its start. Under mpirun
 * ovl_link_begin goes on as the program `ovl_mpi` that lies beside it, which is the same with MPI
 * in it; it is built where MPI was found. Where it is missing, more than one process is an error:
 * each would do all of the work.
 */
#ifndef OVL_TOOLS_LINK_H
#define OVL_TOOLS_LINK_H

#include "sim/err.h"
#include "sim/vec.h"

typedef struct ovl_link {
    uint32_t rank, size;
    bool on; /* begun */
} ovl_link;

typedef OVL_VEC(unsigned char) ovl_link_buffer;

/* `words` are the words of the program, closed by NULL, for going on as another. */
bool ovl_link_begin(ovl_link *link, const char *const *words, ovl_errs *errs);

/* Copies `n` bytes of rank 0 to all. */
void ovl_link_share(const ovl_link *link, void *bytes, size_t n);

/* Whether it is true everywhere. */
bool ovl_link_all(const ovl_link *link, bool mine);

/* From rank 1.. to rank 0. */
void ovl_link_send(const ovl_link *link, const void *data, size_t n);

/* On rank 0: takes one message, if there is one. */
bool ovl_link_receive(const ovl_link *link, ovl_link_buffer *buffer);

void ovl_link_end(ovl_link *link);

/* How many processes mpirun or srun says it started; 1 if nobody says anything. */
uint32_t ovl_link_processes(void);

#endif
