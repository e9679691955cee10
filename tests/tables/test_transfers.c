/*
 * Published measurements of collectives: fitted to the even sizes, the odd ones are predicted
 * within 5 % in the median, and docs/validation.md says so of each.
 */
#include "models/fit.h"
#include "tests/support/check.h"
#include "tests/tables/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct file {
    const char *name, *column;
} file;

static const file files[] = {
    {"handout_nccl_allgather_a4xmax_2x4gb300_run1.csv", "time_inplace_us"},
    {"handout_nccl_allreduce_2xl40s_auto.csv", "time_inplace_us"},
    {"handout_nccl_allreduce_4xl40s_auto.csv", "time_inplace_us"},
    {"handout_nccl_allreduce_4xl40s_ring.csv", "time_inplace_us"},
    {"handout_nccl_allreduce_4xl40s_tree.csv", "time_inplace_us"},
    {"handout_nccl_allreduce_8xa100_40gb_cloud.csv", "time_inplace_us"},
    {"handout_nccl_allreduce_8xh200_hostoverhead_nccl2.27.csv", "time_torch_us_derived"},
    {"handout_nccl_allreduce_8xh200_nccl2.30.csv", "time_torch_us_derived"},
    {"handout_nccl_allreduce_8xh200_nccl2.30.csv", "time_nccltests_us_derived"},
};

static char *page;

/* Errors are computed here, not taken from the fit: choice and fit see the even sizes only. */
static double median_error(const ovl_fit_point *points, uint32_t n)
{
    ovl_fit_point even[TABLE_ROWS];
    double errors[TABLE_ROWS];
    ovl_arena arena = {0};
    uint32_t n_even = 0, n_odd = 0;
    for (uint32_t i = 0; i < n; i += 2) {
        even[n_even++] = points[i];
    }
    ovl_fit fit = ovl_fit_points(even, n_even, &arena);
    for (uint32_t i = 1; i < n; i += 2) {
        double e = fabs(ovl_fit_predict(&fit.chosen, points[i].bytes) / points[i].time - 1);
        uint32_t at = n_odd++;
        for (; at > 0 && errors[at - 1] > e; at--) {
            errors[at] = errors[at - 1];
        }
        errors[at] = e;
    }
    ovl_arena_free(&arena);
    return (errors[n_odd / 2] + errors[(n_odd - 1) / 2]) / 2;
}

/* "| name.csv, column | 25 | ... | 1.2 % |": the row of the page says the sizes and the error. */
static void check_page(const file *f, uint32_t n, double median, ovl_arena *arena)
{
    const char *name = ovl_arena_printf(arena, "| `%s`, `%s` | %u |", f->name, f->column, n);
    const char *row = page ? strstr(page, name) : NULL;
    CHECK(row != NULL);
    if (row) {
        row = ovl_arena_strndup(arena, row, strcspn(row, "\n"));
        CHECK_HAS(row, ovl_arena_printf(arena, "| %.1f %% |", 100 * median));
    }
}

static void odd_sizes_are_predicted_from_even_ones(void)
{
    for (size_t i = 0; i < OVL_COUNT(files); i++) {
        ovl_fit_point points[TABLE_ROWS];
        ovl_arena arena = {0};
        table *t = table_read(files[i].name);
        CHECK(t->n_rows >= 20);
        for (uint32_t r = 0; r < t->n_rows; r++) {
            points[r] = (ovl_fit_point){(uint64_t)table_number(t, r, "size_bytes"),
                                        1000 * table_number(t, r, files[i].column)};
        }
        double median = median_error(points, t->n_rows);
        CHECK_NEAR(median, 0, 0.05);
        ovl_fit fit = ovl_fit_points(points, t->n_rows, &arena);
        CHECK_NEAR(fit.held.median, median, 1e-12);
        check_page(&files[i], t->n_rows, median, &arena);
        ovl_arena_free(&arena);
        table_free(t);
    }
}

int main(void)
{
    static char text[65536];
    CU_TestInfo tests[] = {
        {"odd sizes are predicted from even ones", odd_sizes_are_predicted_from_even_ones},
        CU_TEST_INFO_NULL,
    };
    if (table_missing()) {
        return table_missing();
    }
    FILE *in = fopen("docs/validation.md", "r");
    if (in) {
        text[fread(text, 1, sizeof text - 1, in)] = '\0';
        page = text;
        fclose(in);
    }
    return check_main("published transfers", tests);
}
