/*
 * record_gradients.h - the gradients in the buckets of a replayed step: as stated, or as the copies
 * of the step tell.
 *
 * DDP copies each gradient into its bucket or, at the end, out of it: copies of one stream, one
 * after another, whose sizes add up to the first bucket, then to the second, and so on, are the
 * gradients. Where no run of copies does that (gradients that are views of their bucket, or packed
 * by one kernel), sizes are not seen.
 *
 *     buckets of 8 and 6 MiB; copies of 3, 5, 2, 4 MiB      gradients 3 + 5 and 2 + 4 MiB
 *     copies of 3, 4, 7 MiB                                 3 + 4 is not 8: not seen
 */
#ifndef OVL_MODELS_RECORD_GRADIENTS_H
#define OVL_MODELS_RECORD_GRADIENTS_H

#include "models/record_change.h"

typedef struct ovl_rec_gradients {
    const uint64_t *bytes; /* in the order of their buckets; NULL: not seen */
    const uint32_t *first; /* [n_buckets + 1] into `bytes` */
    uint32_t n;
    bool stated; /* by what_if.gradients */
} ovl_rec_gradients;

/* Finds the gradients of `buckets`, places of their collectives among the operations of `rank`, in
 * its order. False and an error if those stated do not add up to the buckets. */
bool ovl_record_gradients(const ovl_recorded *rec, const ovl_rec_rank *rank,
                          const uint32_t *buckets, uint32_t n_buckets,
                          const ovl_change_keys *what_if, ovl_arena *arena,
                          ovl_rec_gradients *found, ovl_errs *errs);

#endif
