/*
 * report_sample.h - two results as reports are tested with: 217 ms in one bucket, and 213 ms in
 * two.
 */
#ifndef OVL_TESTS_REPORT_SAMPLE_H
#define OVL_TESTS_REPORT_SAMPLE_H

#include "tests/support/check.h"
#include "tools/report.h"
#include "tools/wrap.h"

#include <stdlib.h>
#include <string.h>

/* A stream into memory. */
typedef struct page {
    char *text;
    size_t size;
    FILE *file;
    ovl_out out;
} page;

static inline void begin(page *p)
{
    *p = (page){0};
    p->file = open_memstream(&p->text, &p->size);
    ovl_out_stream(&p->out, p->file);
}

static inline const char *finish(page *p)
{
    CHECK(ovl_out_close(&p->out) == NULL);
    fclose(p->file);
    return p->text;
}

static inline void check_width(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (ovl_width(line) > OVL_TERMINAL) {
            CHECK_TEXT(line, "a line of at most 100 columns");
        }
        CHECK(length == 0 || text[length - 1] != ' ');
        text += length + (text[length] == '\n');
    }
}

/* 96 MiB in buckets of 80 and 16, measured: 213 = 211 + 2; compute 209, stretched by 2 while the
 * first bucket moves its bytes (5 ms at 1.25 takes 1 ms more twice: here simply 2), and 2 ms of the
 * second bucket uncovered, with no kernel beside it: 209 + 2 + 1 + 1 = 213. */
static const ovl_result_collective collectives[] = {
    {.name = "bucket_0",
     .group = "dp",
     .op = "all_reduce",
     .bytes = 80 << 20,
     .count = 8,
     .n = 8,
     .ready = 202 * OVL_MS,
     .start = 202 * OVL_MS,
     .end = 208 * OVL_MS,
     .consumer = "optimizer",
     .first_use = 213 * OVL_MS,
     .window = 9 * OVL_MS,
     .u_path = 211 * OVL_MS,
     .u_variant = OVL_NEVER,
     .interference = OVL_NEVER,
     .isolated = 6 * OVL_MS,
     .algbw = 13.98e9,
     .busbw = 24.47e9,
     .slack = 3 * OVL_MS,
     .worth = OVL_NEVER},
    {.name = "bucket_1",
     .group = "dp",
     .op = "all_reduce",
     .bytes = 16 << 20,
     .count = 8,
     .n = 8,
     .ready = 211 * OVL_MS,
     .start = 211 * OVL_MS,
     .end = 213 * OVL_MS,
     .consumer = "optimizer",
     .first_use = 213 * OVL_MS,
     .u_path = 211 * OVL_MS,
     .u_variant = 210 * OVL_MS,
     .exposed = 2 * OVL_MS,
     .interference = 1 * OVL_MS,
     .isolated = 2 * OVL_MS,
     .algbw = 8.4e9,
     .busbw = 14.7e9,
     .slack = 0,
     .worth = 2 * OVL_MS,
     .on_critical_path = true},
};
static const ovl_holder holders[] = {{"bucket_0", "reduce", 80 << 20},
                                     {"g1", "gradient", 16 << 20}};
static const ovl_result_rank ranks[] = {
    {.rank = 0,
     .count = 8,
     .term = {209 * OVL_MS, 2 * OVL_MS, OVL_MS, OVL_MS},
     .end = 213 * OVL_MS,
     .startups = 2,
     .has_memory = true,
     .allocated_peak = 200 << 20,
     .reserved_peak = 202 << 20,
     .live_peak = 96 << 20,
     .live = {.bytes = 96 << 20,
              .at = 202 * OVL_MS,
              .raised_by = "backward",
              .raised_buffer = "late.grad",
              .holders = holders,
              .n_holders = 2},
     .allocated = {.bytes = 200 << 20, .raised_by = "optimizer", .raised_buffer = "late.grad"},
     .reserved = {.bytes = 220 << 20,
                  .raised_by = "optimizer",
                  .raised_buffer = "late.grad",
                  .rounding = 4 << 20,
                  .unused = 16 << 20}},
};
static const ovl_result_path path[] = {
    {"backward", "compute", 0, 0, 211 * OVL_MS, "start", 0, 0},
    {"bucket_1", "comm", 0, 211 * OVL_MS, 213 * OVL_MS, "after: backward", 0, 0},
};
static const char *const not_modelled[] = {"SM contention: the GPU's SMs are not given"};

static inline ovl_result split(void)
{
    return (ovl_result){
        .scenario = "Last bucket",
        .variant = "split",
        .interference = "measured",
        .n_ranks_simulated = 1,
        .step = 213 * OVL_MS,
        .without_interference = 212 * OVL_MS,
        .term = {209 * OVL_MS, 2 * OVL_MS, OVL_MS, OVL_MS},
        .hidden_comm = 6 * OVL_MS,
        .comm_total = 8 * OVL_MS,
        .comm_uncovered = 2 * OVL_MS,
        .mean_busbw = 22.8e9,
        .startups = 2,
        .equation = {true, "bucket_1", "optimizer", 211 * OVL_MS, 2 * OVL_MS, 0, 210 * OVL_MS,
                     OVL_MS},
        .ranks = ranks,
        .n_ranks = 1,
        .collectives = collectives,
        .n_collectives = 2,
        .path = path,
        .n_path = 2,
        .hazards_checked = true,
        .accesses_checked = 14,
        .gradients_proved = 7,
        .gradient_scale = "1/8",
        .gradient_digest = 0xabcdef,
        .not_modelled = not_modelled,
        .n_not_modelled = 1,
    };
}

#endif
