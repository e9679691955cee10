/*
 * The small runs of the table again, as scenarios through the plan and the real engine: makespan,
 * span, idle and peaks must be those of the pure schedules. Their stages are even.
 */
#include "tests/support/lowering.h"
#include "tests/tables/table.h"

#include <stdlib.h>

#define GIB ((uint64_t)1 << 30)

static const char *text_of(const table *t, uint32_t row, bool until_weight, ovl_arena *arena)
{
    bool both = strcmp(table_cell(t, row, "schedule"), "DualPipe") == 0;
    int ranks = (int)table_number(t, row, "ranks");
    int stages = both ? ranks : ranks * (int)table_number(t, row, "stages_per_rank");
    return ovl_arena_printf(arena,
                            "mesh: {axes: {dp: 2, pp: %d}, order: [dp, pp]}\n"
                            "workload:\n"
                            "  stages:\n"
                            "    - {name: s, repeat: %d, forward: %s ms, backward_input: %s ms, "
                            "backward_weight: %s ms, "
                            "overlapped: %s ms, activations: 1 GiB, weight_activations: %s}\n"
                            "overlap:\n"
                            "  pipeline: {schedule: %s, microbatches: %s, alpha: %s ms}\n",
                            ranks, stages, table_cell(t, row, "F"), table_cell(t, row, "I"),
                            table_cell(t, row, "W"), table_cell(t, row, "F_and_B_overlapped"),
                            until_weight ? "1 GiB" : "0 B", table_cell(t, row, "schedule"),
                            table_cell(t, row, "microbatches"), table_cell(t, row, "p2p_latency"));
}

/* "3 3 9" against `got` for each rank of the pipeline, which is every second rank here. */
static void check_list(const char *text, const int64_t *got, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++) {
        char *end;
        CHECK_INT(got[r], strtol(text, &end, 10));
        text = end;
    }
}

static void run_row(const table *t, uint32_t row, bool until_weight)
{
    bench x = {0};
    ovl_arena arena = {0};
    int64_t idle[64], peak[64];
    uint32_t n = (uint32_t)table_number(t, row, "ranks");
    bool ok = lower(&x, text_of(t, row, until_weight, &arena), NULL) && analyse(&x);
    CHECK(ok);
    CHECK_TEXT(mistake(&x), "none");
    CHECK_INT(x.result.step, table_number(t, row, "makespan") * (double)OVL_MS);
    CHECK_INT(x.result.idle.span, table_number(t, row, "max_rank_span") * (double)OVL_MS);
    CHECK_INT(x.result.idle.piece[OVL_IDLE_IMBALANCE], 0);
    CHECK_INT(x.result.n_hazards, 0);
    CHECK(x.result.hazards_checked);
    for (uint32_t i = 0; ok && i < x.result.n_ranks; i++) {
        const ovl_result_rank *r = &x.result.ranks[i];
        CHECK_INT(r->idle_time, x.result.step - r->term[OVL_COMPUTE]);
        idle[r->rank / 2] = r->idle_time / OVL_MS;
        peak[r->rank / 2] = (int64_t)(r->allocated_peak / GIB);
        CHECK_INT(r->allocated_peak % GIB, 0);
    }
    for (uint32_t i = 0; ok && i < x.result.n_ranks; i++) { /* ranks alike are told once */
        for (uint32_t r = x.result.ranks[i].rank / 2 + 1; r < n; r++) {
            bool told = false;
            for (uint32_t k = 0; k < x.result.n_ranks; k++) {
                told |= x.result.ranks[k].rank / 2 == r;
            }
            if (!told) {
                idle[r] = idle[r - 1];
                peak[r] = peak[r - 1];
            }
        }
    }
    if (ok) {
        check_list(table_cell(t, row, "idle_per_rank"), idle, n);
        check_list(table_cell(t, row,
                              until_weight ? "peak_activations_per_rank_release_at_B_or_W"
                                           : "peak_activations_per_rank_release_at_B_or_I"),
                   peak, n);
    }
    ovl_arena_free(&arena);
    finish(&x);
}

static void the_engine_takes_what_the_table_says(void)
{
    table *t = table_read("handout_schedule_oracles.csv");
    CHECK(t->n_rows >= 40);
    for (uint32_t row = 0; row < t->n_rows; row++) {
        run_row(t, row, true);
        run_row(t, row, false);
    }
    table_free(t);
}

static CU_TestInfo tests[] = {
    {"the engine takes what the table says", the_engine_takes_what_the_table_says},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    int missing = table_missing();
    return missing ? missing : check_main("published schedules in the engine", tests);
}
