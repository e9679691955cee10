/*
 * Published measurements of compute beside communication: each row of the table is predicted by a
 * variant of scenarios/contention/published.yaml, and docs/contention.md says what was measured,
 * what is predicted and how far apart they are, misses included.
 *
 * The predictions are computed and held against the page in any case; that the measured figures are
 * those of the published table is checked where it lies beside the project.
 */
#include "tests/figures/figure.h"
#include "tests/support/check.h"
#include "tests/tables/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENARIO "scenarios/contention/published.yaml"

typedef enum how {
    STEP,  /* ms of the step of `a` */
    RATIO, /* the step of `a` over that of `b` */
    LESS,  /* per cent that `a` takes less than `b` */
    SHARE, /* of the ideal gain, per cent: 10 ms one after the other, 5 ms at best */
    TOOK,  /* ms of the kernels of `a` that were held back */
} how;

typedef struct claim {
    const char *id, *what, *measured; /* of the page */
    const char *published;            /* in the row of the table; NULL: not in it */
    double low, high;                 /* what was measured */
    how how;
    const char *a, *b; /* variants; NULL: base */
    const char *unit;
} claim;

static const claim claims[] = {
    {"K04", "one after the other", "157.27 ms", "157.27", 157.27, 157.27, STEP, "v100_sequential",
     NULL, " ms"},
    {"K04", "kernel, overlapped", "109.83 ms", "109.83", 109.83, 109.83, TOOK, "v100", NULL, " ms"},
    {"K04", "both, overlapped", "207.14 ms", "207.14", 207.14, 207.14, STEP, "v100", NULL, " ms"},
    {"K07", "one after the other", "2.96 ms", "2.96", 2.96, 2.96, STEP, "sequential", NULL, " ms"},
    {"K07", "overlapped", "2.02 ms", "2.02", 2.02, 2.02, STEP, NULL, NULL, " ms"},
    {"K07", "overlapped, copy engines", "1.77 ms", NULL, 1.77, 1.77, STEP, "copy_engines", NULL,
     " ms"},
    {"K09", "persistent kernel", "about 2x", "about 2x", 2, 2, TOOK, "persistent", NULL, "x"},
    {"K09", "the same carved out", "about 1.1x", "about 1.1x", 1.1, 1.1, TOOK, "carved_out", NULL,
     "x"},
    {"K11", "matrix products slower", "1.3-1.4x", "1.3-1.4x", 1.3, 1.4, TOOK, "fsdp", NULL, "x"},
    {"K12", "kernels slower, average", "1.189x", "1.189x", 1.189, 1.189, TOOK, "a100_kernels", NULL,
     "x"},
    {"K12", "kernels slower, most", "1.40x", "1.40x", 1.4, 1.4, TOOK, "a100_memory_bound", NULL,
     "x"},
    {"K12", "sequential over overlapped", "1.102 to 1.266", "10.2% (max 26.6%)", 1.102, 1.266,
     RATIO, "a100_step_sequential", "a100_step", ""},
    {"K13", "ideal gain reached, plain", "21 %", "21%", 21, 21, SHARE, "mi300x", NULL, " %"},
    {"K13", "... with a partition", "42 %", "42%", 42, 42, SHARE, "mi300x", NULL, " %"},
    {"K13", "... with DMA engines", "72 %", "72%", 72, 72, SHARE, "mi300x_dma", NULL, " %"},
    {"K14", "product and reduce-scatter", "1.30 to 1.47", "30% geomean (max 47%)", 1.30, 1.47,
     RATIO, "sublayer", "sublayer_fused", ""},
    {"K15", "Domino over Megatron-LM", "up to 1.3", "up to 1.3x", 1.3, 1.3, RATIO, "megatron",
     "domino", ""},
    {"K16", "tuned over default", "1.07 to 1.33", "1.07-1.33x", 1.07, 1.33, RATIO,
     "default_channels", "tuned_channels", ""},
    {"K17", "in pieces over whole", "1.6 of 1.7", "1.6x reached of 1.7x", 1.6, 1.6, RATIO,
     "gather_then_gemm", "gather_in_pieces", ""},
    {"K18", "shaped kernels, two waves", "up to 25.5 %", "25.5%", 25.5, 25.5, LESS, "a100_shaped",
     "a100_two_waves", " %"},
    {"K18", "shaped kernels, one wave", "up to 25.5 %", "25.5%", 25.5, 25.5, LESS, "a100_shaped",
     "a100_one_wave", " %"},
};

static double step_ms(const char *variant)
{
    figure f = figure_run_quick(SCENARIO, variant, NULL, NULL);
    CHECK(f.good);
    double step = (double)f.result.step / (double)OVL_MS;
    figure_free(&f);
    return step;
}

/* How long the kernels of a run were held back in all: here each is, from begin to end. */
static double took_ms(const char *variant)
{
    double sum = 0;
    figure f = figure_run_quick(SCENARIO, variant, NULL, NULL);
    for (uint32_t i = 0; i < f.result.n_limits; i++) {
        const ovl_result_limit *limit = &f.result.limits[i];
        sum += limit->lost > 0 ? (double)limit->time / (double)OVL_MS : 0;
    }
    figure_free(&f);
    return sum;
}

/* Kernels of 10 ms alone, or of 1 ms. */
static double slower(const char *variant)
{
    double took = took_ms(variant);
    return took > 10 ? took / 10 : took;
}

static double less(const claim *c)
{
    return 100 * (1 - took_ms(c->a) / took_ms(c->b));
}

static double predict(const claim *c)
{
    switch (c->how) {
    case STEP:
        return step_ms(c->a);
    case RATIO:
        return step_ms(c->a) / step_ms(c->b);
    case LESS:
        return less(c);
    case SHARE: /* (S - 1) of the ideal 2 - 1 */
        return 100 * (10 / step_ms(c->a) - 1);
    case TOOK:
        break;
    }
    return strcmp(c->unit, "x") == 0 ? slower(c->a) : took_ms(c->a);
}

/* "within", or how far it is from the nearest end; of per cents in points. */
static const char *error_of(const claim *c, double predicted, ovl_arena *arena)
{
    double end = predicted < c->low ? c->low : c->high;
    double error = 100 * (predicted / end - 1);
    bool within = predicted >= c->low && predicted <= c->high && c->low < c->high;
    if (!within && strcmp(c->unit, " %") == 0) {
        return ovl_arena_printf(arena, "%+.1f points", predicted - end);
    }
    return within ? "within" : ovl_arena_printf(arena, "%+.1f %%", error);
}

static char *page;

static void every_claim_stands_on_the_page(void)
{
    ovl_arena arena = {0};
    for (size_t i = 0; i < OVL_COUNT(claims); i++) {
        const claim *c = &claims[i];
        double predicted = predict(c);
        const char *row = ovl_arena_printf(&arena, "| %s | %s | %s | %.*f%s | %s |", c->id, c->what,
                                           c->measured, strcmp(c->unit, " %") == 0 ? 1 : 3,
                                           predicted, c->unit, error_of(c, predicted, &arena));
        bool there = page && strstr(page, row) != NULL;
        if (!there) {
            fprintf(stderr, "docs/contention.md lacks: %s\n", row);
        }
        CHECK(there);
    }
    ovl_arena_free(&arena);
}

/* The line of the table that begins with "K04,". */
static const char *row_of(const char *text, const char *id, ovl_arena *arena)
{
    for (const char *at = text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        if (strncmp(at, id, strlen(id)) == 0 && at[strlen(id)] == ',') {
            return ovl_arena_strndup(arena, at, strcspn(at, "\n"));
        }
    }
    return "";
}

static void measured_figures_are_those_of_the_table(void)
{
    ovl_arena arena = {0};
    const char *text = table_text("handout_contention.csv", &arena);
    uint32_t rows = 0;
    for (size_t i = 0; text && i < OVL_COUNT(claims); i++) {
        const char *row = row_of(text, claims[i].id, &arena);
        CHECK(*row != 0);
        if (claims[i].published) {
            CHECK_HAS(row, claims[i].published);
        }
        rows += i == 0 || strcmp(claims[i].id, claims[i - 1].id) != 0;
    }
    for (const char *at = text; at; at = strstr(at + 1, "\nK")) {
        rows -= *at == '\n';
    }
    CHECK_INT(text ? (int)rows : 0, 0); /* no row is left out */
    ovl_arena_free(&arena);
}

int main(void)
{
    static char text[65536];
    CU_TestInfo tests[] = {
        {"every claim stands on the page", every_claim_stands_on_the_page},
        {"measured figures are those of the table", measured_figures_are_those_of_the_table},
        CU_TEST_INFO_NULL,
    };
    FILE *in = fopen("docs/contention.md", "r");
    if (in) {
        text[fread(text, 1, sizeof text - 1, in)] = '\0';
        page = text;
        fclose(in);
    }
    return check_main("published contention", tests);
}
