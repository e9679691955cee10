/*
 * bucket.h - which gradients share a bucket, by the rules of PyTorch DDP, of Megatron-LM, or as the
 * user lists them.
 *
 * PyTorch (torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size): walk the
 * tensors in the given order; one open bucket per dtype (and for experts, whose process group is
 * another); append, then close if its bytes reached
 * the current limit; each dtype advances its own place in the list of limits, the last repeats; a
 * tensor is never split; leftovers are appended at the end. f32[50], f64[25] alternating three
 * times, limits {200, 400}: {0} {1} {2, 4} {3, 5}
 *
 * Megatron-LM (megatron/core/distributed/param_and_grad_buffer.py): per dtype, close when the
 * element count reached bucket_size; with the distributed optimizer every parameter starts at a
 * multiple of 64 elements and a bucket ends at a multiple of lcm(dp, 128), or lcm(dp, 128, 65536)
 * when padded for bus bandwidth. Buckets of one dtype follow one another, dtypes in order of
 * appearance.
 */
#ifndef OVL_MODELS_BUCKET_H
#define OVL_MODELS_BUCKET_H

#include "sim/program.h"

typedef struct ovl_tensor {
    const char *name;
    uint64_t bytes;
    ovl_dtype dtype;
    ovl_mark mark;
    bool experts; /* reduced over other ranks: in buckets of their own */
} ovl_tensor;

typedef struct ovl_bucket {
    uint32_t first_member, n_members; /* into ovl_buckets.members */
    uint64_t bytes;                   /* padding included */
    uint64_t padding;
    ovl_dtype dtype;
    bool experts;
    uint64_t limit; /* the cap it was closed by; 0 for lists */
} ovl_bucket;

typedef struct ovl_buckets {
    ovl_bucket *item;
    uint32_t count;
    uint32_t *members; /* tensor indices, bucket after bucket */
} ovl_buckets;

/* Multiples, in elements, at which Megatron's tensors start and buckets end; 1 and 1 without the
 * distributed optimizer. */
typedef struct ovl_padding {
    uint64_t start, end;
} ovl_padding;

ovl_padding ovl_megatron_padding(uint32_t dp, bool distributed, bool busbw);

/* PyTorch's assignment of tensors[order[0..n-1]] with byte limits; lives in `arena`. */
ovl_buckets ovl_buckets_pytorch(const ovl_tensor *tensors, const uint32_t *order, uint32_t n,
                                const uint64_t *limits, uint32_t n_limits, ovl_arena *arena);

/* Sorts buckets by the earliest place in `order` of any of their members, as PyTorch does with its
 * initial ones; members keep their order. */
void ovl_buckets_sort(ovl_buckets *buckets, const uint32_t *order, uint32_t n, ovl_arena *arena);

/* How Megatron makes buckets: of so many elements, 0 for no limit; padded for so many ranks, dense
 * parameters and experts, with the distributed optimizer, and to 65536 with `busbw`. */
typedef struct ovl_megatron {
    uint64_t bucket_size;
    uint32_t dp, expert_dp;
    bool distributed, busbw;
} ovl_megatron;

/* Megatron's: buffers by dtype, and those of experts apart. */
ovl_buckets ovl_buckets_megatron(const ovl_tensor *tensors, const uint32_t *order, uint32_t n,
                                 const ovl_megatron *how, ovl_arena *arena);

#endif
