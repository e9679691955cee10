/*
 * last_bucket.h - a scenario from a text in a test, its sweep and its step; and the text of the
 * gradients of scenarios/buckets/last_bucket.yaml:
 *
 *     start_of(LAST_BUCKET ONE_BUCKET)      217 ms
 */
#ifndef OVL_TESTS_LAST_BUCKET_H
#define OVL_TESTS_LAST_BUCKET_H

#include "tests/support/check.h"
#include "tools/sweep.h"

#include <string.h>

static ovl_arena arena; /* of the test that includes this */

static inline const char *served(void *context, const char *path, size_t *length, ovl_arena *a,
                                 const char **why)
{
    (void)path, (void)a, (void)why;
    *length = strlen(context);
    return context;
}

#define ONE_BUCKET "overlap: {ddp: {buckets: [[g1, g2, g3, g4, g5, a, late]]}}\n"

/* The gradients of last_bucket; `more` goes on at the top level. */
#define LAST_BUCKET                                                                                \
    "hardware:\n"                                                                                  \
    "  gpu: {name: example}\n"                                                                     \
    "  collectives: [{op: all_reduce, group: dp, alpha: 1 ms, beta: 16 MiB/ms}]\n"                 \
    "  interference:\n"                                                                            \
    "    - {kernel: backward, collective: all_reduce, kernel_factor: 1.25, collective_factor: "    \
    "1}\n"                                                                                         \
    "mesh: {axes: {dp: 8}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  backward: 210 ms\n"                                                                         \
    "  gradients:\n"                                                                               \
    "    - {name: g1, bytes: 16 MiB, ready: 194 ms}\n"                                             \
    "    - {name: g2, bytes: 16 MiB, ready: 196 ms}\n"                                             \
    "    - {name: g3, bytes: 16 MiB, ready: 198 ms}\n"                                             \
    "    - {name: g4, bytes: 16 MiB, ready: 200 ms}\n"                                             \
    "    - {name: g5, bytes: 16 MiB, ready: 202 ms}\n"                                             \
    "    - {name: a, bytes: 12 MiB, ready: 202 ms}\n"                                              \
    "    - {name: late, bytes: 4 MiB, ready: 209 ms, copy_in: 1 ms}\n"                             \
    "interference: measured\n"

static inline ovl_sweep *start_of(const char *yaml)
{
    ovl_errs errs = {.arena = &arena};
    ovl_document *doc = OVL_NEW(&arena, ovl_document);
    ovl_files files = {.read = served, .context = ovl_arena_strdup(&arena, yaml)};
    ovl_sweep *s = OVL_NEW(&arena, ovl_sweep);
    CHECK(ovl_document_load("s.yaml", &files, doc, &arena, &errs));
    *s = (ovl_sweep){.doc = doc, .objective = OVL_M_STEP};
    return s;
}

static inline ovl_time step_with(const ovl_sweep *start, const char *set)
{
    ovl_sweep one = *start;
    ovl_set sets[] = {{.text = set}};
    ovl_point p;
    one.sets = sets;
    one.n_sets = 1;
    one.axes = (ovl_axes){.n_points = 1};
    ovl_sweep_point(&one, 0, &p, &arena);
    CHECK_INT(p.state, OVL_POINT_DONE);
    return p.figures.value[OVL_M_STEP];
}

#endif
