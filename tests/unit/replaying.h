/*
 * replaying.h - a scenario that replays traces written in a test: from texts to a result.
 *
 *     replaying t;
 *     replay(&t, SCENARIO, "r0.json", TRACE0, "r1.json", TRACE1);
 *     CHECK_INT(t.result.step, ...);
 *     replayed(&t);
 */
#ifndef OVL_TESTS_REPLAYING_H
#define OVL_TESTS_REPLAYING_H

#include "models/lower.h"
#include "sim/result.h"
#include "tools/see.h"

#include <string.h>

typedef struct replaying {
    const char *scenario;
    const char *traces[4]; /* text by place: r0.json, r1.json ... */
    ovl_arena arena;
    ovl_errs errs;
    ovl_scenario read;
    ovl_lowered lowered;
    ovl_result result;
    bool good;
} replaying;

static inline const char *replay_read(void *context, const char *path, size_t *length,
                                      ovl_arena *arena, const char **why)
{
    const replaying *t = context;
    (void)path, (void)why;
    *length = strlen(t->scenario);
    return ovl_arena_strdup(arena, t->scenario);
}

static inline bool replay_see(void *context, const char *path, ovl_arena *arena, ovl_seen *seen,
                              ovl_errs *errs)
{
    const replaying *t = context;
    const char *text = t->traces[path[1] - '0'];
    return ovl_see_bytes(path, text, strlen(text), arena, seen, errs);
}

/* `set` may be NULL. */
static inline bool replay(replaying *t, const char *scenario, const char *set, const char *r0,
                          const char *r1)
{
    *t = (replaying){.scenario = scenario, .traces = {r0, r1}};
    t->errs.arena = &t->arena;
    ovl_files files = {.read = replay_read, .context = t, .see = replay_see};
    ovl_document doc;
    ovl_set sets[] = {{.text = set}};
    t->good = ovl_document_load("s.yaml", &files, &doc, &t->arena, &t->errs) &&
              ovl_scenario_decode(&doc, NULL, sets, set ? 1 : 0, &t->read, &t->arena, &t->errs) &&
              ovl_lower(&t->read, &t->arena, &t->lowered, &t->errs);
    ovl_analyse_options options = {.interference = (ovl_interference)t->read.interference,
                                   .worth = OVL_WORTH_NONE,
                                   .measured = t->lowered.measured};
    t->good = t->good &&
              ovl_analyse(&t->lowered.program, &options, &t->arena, &t->result, NULL, &t->errs);
    return t->good;
}

/* Everything that was said, a line each. */
static inline const char *replay_said(replaying *t)
{
    const char *all = "";
    for (uint32_t i = 0; i < t->errs.count; i++) {
        all =
            ovl_arena_printf(&t->arena, "%s%s\n", all, ovl_err_text(&t->arena, &t->errs.items[i]));
    }
    return all;
}

/* Whether a sentence of what was inferred has a part. */
static inline bool replay_inferred(const replaying *t, const char *part)
{
    for (uint32_t i = 0; t->good && i < t->result.replay->n_inferred; i++) {
        if (strstr(t->result.replay->inferred[i], part)) {
            return true;
        }
    }
    return false;
}

static inline void replayed(replaying *t)
{
    ovl_arena_free(&t->arena);
}

/* --- Events, times in us --- */

#define CALL(name, thread, ts, dur, key)                                                           \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"" name                                 \
    "\", \"pid\": 1, \"tid\": " #thread ", \"ts\": " #ts ", \"dur\": " #dur                        \
    ", \"args\": {\"correlation\": " #key "}},\n"
#define LAUNCH(ts, key) CALL("cudaLaunchKernel", 1, ts, 5, key)
#define KERNEL(name, stream, ts, dur, key)                                                         \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"pid\": 0, \"tid\": " #stream   \
    ", \"ts\": " #ts ", \"dur\": " #dur ", \"args\": {\"device\": 0, \"stream\": " #stream         \
    ", \"correlation\": " #key "}},\n"
#define COPY(name, stream, ts, dur, key)                                                           \
    "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"" name                                   \
    "\", \"pid\": 0, \"tid\": " #stream ", \"ts\": " #ts ", \"dur\": " #dur                        \
    ", \"args\": {\"device\": 0, \"stream\": " #stream ", \"correlation\": " #key "}},\n"
#define REDUCE(stream, ts, dur, key, elements)                                                     \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce_Sum_f32_RING_LL\", " \
    "\"pid\": 0, \"tid\": " #stream ", \"ts\": " #ts ", \"dur\": " #dur ", \"args\": {\"device\":" \
    " 0, \"stream\": " #stream ", \"correlation\": " #key ", \"Collective name\": \"allreduce\", " \
    "\"In msg nelems\": " #elements ", \"Out msg nelems\": " #elements                             \
    ", \"Group size\": 2, \"dtype\": \"Float\", \"Process Group Name\": \"0\"}},\n"
#define RANGE(name, ts, dur)                                                                       \
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"" name "\", \"pid\": 1, \"tid\": "  \
    "1, \"ts\": " #ts ", \"dur\": " #dur ", \"args\": {}},\n"
#define SYNC(kind, stream, on, record, key)                                                        \
    "{\"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"" kind "\", \"pid\": 0, \"tid\": -1, "    \
    "\"ts\": 0, \"dur\": 1, \"args\": {\"cuda_sync_kind\": \"" kind "\", \"stream\": " #stream     \
    ", \"wait_on_stream\": " #on ", \"wait_on_cuda_event_record_corr_id\": " #record               \
    ", \"correlation\": " #key "}},\n"
#define TRACE(rank, events)                                                                        \
    "{\"distributedInfo\": {\"rank\": " #rank ", \"world_size\": 2}, \"baseTimeNanoseconds\": "    \
    "1000, \"traceEvents\": [\n" events "{\"ph\": \"M\"}]}\n"

#endif
