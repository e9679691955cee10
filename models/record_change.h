/*
 * record_change.h - what-ifs on a replayed step: other kernels, links, buckets, no waiting.
 *
 *     kernels   each match takes length / speedup
 *     links     T -> latency alpha + (T - alpha) / bandwidth; alpha as stated, as the trace of our
 *               own says, or where the line through (bytes, T) of these collectives meets 0 bytes
 *     waiting   communicators of one rank each: nobody waits
 *     buckets   gradients become ready evenly over the kernels between the kernel that let the
 *               bucket before go and the one that let this go: whole ones where their sizes are
 *               stated or seen (record_gradients.h), else a piece for each kernel. In that order
 *               they fill new buckets, each closed once it has its cap, as PyTorch does. A new
 *               bucket is launched when its last piece is ready, takes what the line through
 *               (bytes, T) says, and lets those go on that waited for a bucket with a piece in it
 *
 * Each operation is changed by the first entry of a list that fits.
 *
 * Example: all-reduces of 16 MiB in 1 ms and 32 MiB in 1.8 ms: T = 0.2 ms + 50 us/MiB. At twice the
 * bandwidth 0.6 and 1 ms; both in one bucket of 48 MiB take 2.6 ms.
 */
#ifndef OVL_MODELS_RECORD_CHANGE_H
#define OVL_MODELS_RECORD_CHANGE_H

#include "models/fields.h"
#include "models/record.h"

typedef struct ovl_change_kernel {
    ovl_mark mark;
    const char *name;
    double speedup;
} ovl_change_kernel;

typedef struct ovl_change_link {
    ovl_mark mark;
    int op; /* ovl_coll; OVL_COLL_COUNT: all */
    const char *group;
    double bandwidth, latency;
    bool has_alpha;
    ovl_time alpha;
} ovl_change_link;

typedef struct ovl_change_gradient {
    ovl_mark mark;
    uint64_t bytes;
    int64_t count;
} ovl_change_gradient;

typedef struct ovl_change_keys {
    ovl_mark mark;
    ovl_items kernels, links;
    ovl_items gradients; /* sizes in the order of the buckets; none: as the copies tell */
    bool waiting;
    uint64_t bucket_cap, first_bucket_cap; /* cap 0: buckets as they are */
    bool has_first_bucket_cap;
    const char *bucket_group;
} ovl_change_keys;

/* Whether anything is changed. */
bool ovl_record_changes(const ovl_change_keys *what_if);

/* Changes the program in place; what it assumes is added to the sentences of what was inferred.
 * False and errors (OVL_E_INPUT) where there is nothing to change. */
bool ovl_record_change(ovl_recorded *recorded, const ovl_change_keys *what_if, ovl_arena *arena,
                       ovl_errs *errs);

/* A copy that can be changed without changing this one. */
ovl_recorded *ovl_record_copy(const ovl_recorded *recorded, ovl_arena *arena);

/* T = alpha + slope bytes through transfers of the same operation and group; slope in ps a byte. */
typedef struct ovl_rec_line {
    double alpha, slope;
    uint32_t n, sizes; /* collectives of known size; distinct sizes, 2 at most are told apart */
} ovl_rec_line;

/* Of the collectives of a group's name and operation (OVL_COLL_COUNT: any). */
ovl_rec_line ovl_record_line(const ovl_recorded *rec, ovl_id group, int coll);

/* The buckets alone; `group` is the name. */
bool ovl_record_rebucket(ovl_recorded *recorded, const ovl_change_keys *what_if, ovl_arena *arena,
                         ovl_errs *errs);

/* Adds a sentence to the list of what was inferred. */
void ovl_record_say(ovl_recorded *recorded, ovl_arena *arena, const char *sentence);

#endif
