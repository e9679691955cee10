/*
 * What was published of large models on meshes, held against scenarios of them: each change must
 * have the sign of the measured one, and docs/validation.md says both. Absolute figures are told
 * there, too.
 */
#include "tests/figures/figure.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

#define B8   "scenarios/mesh/torchtitan_8b.yaml"
#define B70  "scenarios/mesh/torchtitan_70b.yaml"
#define B405 "scenarios/mesh/llama3_405b_512.yaml"
#define META "scenarios/mesh/llama3_405b.yaml"

/* Two runs of which figures were published, tokens/s or TFLOP/s of a GPU. */
typedef struct change {
    const char *what, *scenario, *from, *to; /* variants; NULL: base */
    double measured_from, measured_to;
} change;

static const change changes[] = {
    {"8B, FSDP, 8 -> 128 GPUs, eager", B8, NULL, "gpus_128", 5762, 5605},
    {"8B, FSDP, 8 -> 128 GPUs, compiled", B8, NULL, "gpus_128", 6667, 6514},
    {"8B, FSDP, 8 -> 128 GPUs, fp8", B8, "fp8", "gpus_128_fp8", 8532, 8380},
    {"8B, FSDP, 32 -> 64 GPUs, fp8 (H200)", B8, "gpus_32_fp8", "gpus_64_fp8", 10938, 10753},
    {"8B, CP 1 -> 2, twice the sequence", B8, "cp_1", "cp_2", 3890, 2540},
    {"8B, CP 2 -> 4, twice the sequence", B8, "cp_2", "cp_4", 2540, 1071},
    {"8B, CP 4 -> 8, twice the sequence", B8, "cp_4", "cp_8", 1071, 548},
    {"8B, async TP, bf16", B8, "tp_8", "tp_8_async", 4378, 4809.4},
    {"8B, async TP, fp8 tensorwise", B8, "tp_8_fp8", "tp_8_fp8_async", 5078.1, 5570.1},
    {"8B, async TP, fp8 rowwise", B8, "tp_8_fp8", "tp_8_fp8_async", 3708.5, 3914.9},
    {"70B, async TP, fp8 (2024)", B70, "fp8", "fp8_async", 829, 876},
    {"70B, async TP, bf16", B70, NULL, "async", 597.3, 652.4},
    {"70B, async TP, fp8 tensorwise", B70, "fp8", "fp8_async", 809.8, 942.4},
    {"70B, async TP, fp8 rowwise", B70, "fp8", "fp8_async", 599.6, 624.8},
    {"405B, 1F1B -> interleaved", B405, NULL, "interleaved", 100, 128},
    {"405B, CP 1 -> 2, twice the sequence", B405, "cp_1", "cp_2", 76, 47},
    {"405B, CP 2 -> 4, twice the sequence", B405, "cp_2", "cp_4", 47, 31},
    {"405B, CP 4 -> 8, twice the sequence", B405, "cp_4", "cp_8", 31, 16},
    {"405B, 8,192 -> 16,384 GPUs", META, "gpus_8192", NULL, 430, 400},
};

/* One run of which TFLOP/s of a GPU were published. */
static const struct {
    const char *what, *scenario, *variant;
    double measured;
} rates[] = {
    {"405B, 8,192 GPUs", META, "gpus_8192", 430},
    {"405B, 16,384 GPUs", META, NULL, 400},
    {"405B, 16,384 GPUs, 131,072 tokens", META, "long_context", 380},
};

static char page[1 << 16];

static bool read_page(void)
{
    FILE *in = fopen("docs/validation.md", "r");
    if (!in) {
        return false;
    }
    page[fread(page, 1, sizeof page - 1, in)] = '\0';
    fclose(in);
    return true;
}

static void check_row(const char *row)
{
    bool there = strstr(page, row) != NULL;
    CHECK(there);
    if (!there) {
        fprintf(stderr, "docs/validation.md lacks: %s\n", row);
    }
}

/* Tokens of a GPU in a second; FLOPs of one in TFLOP/s. */
static double tokens(const char *scenario, const char *variant)
{
    figure f = figure_run_quick(scenario, variant, NULL, NULL);
    CHECK(f.good);
    CHECK_INT(f.result.n_hazards, 0);
    double rate = (double)f.lowered.useful.tokens / ((double)f.result.step / 1e12) /
                  OVL_MAX(f.lowered.useful.ranks, 1);
    figure_free(&f);
    return rate;
}

static double flops(const char *scenario, const char *variant)
{
    figure f = figure_run_quick(scenario, variant, NULL, NULL);
    double rate = f.lowered.useful.flops / (double)f.result.step;
    figure_free(&f);
    return rate;
}

static void changes_have_the_sign_of_the_measured_ones(void)
{
    CHECK(read_page());
    for (uint32_t i = 0; i < OVL_COUNT(changes); i++) {
        const change *c = &changes[i];
        double measured = 100 * (c->measured_to / c->measured_from - 1);
        double predicted = 100 * (tokens(c->scenario, c->to) / tokens(c->scenario, c->from) - 1);
        char row[256];
        snprintf(row, sizeof row, "| %s | %+.1f %% | %+.1f %% |", c->what, measured, predicted);
        CHECK((measured > 0) == (predicted > 0));
        check_row(row);
    }
}

static void rates_are_those_of_the_page(void)
{
    CHECK(read_page());
    for (uint32_t i = 0; i < OVL_COUNT(rates); i++) {
        double predicted = flops(rates[i].scenario, rates[i].variant);
        char row[256];
        snprintf(row, sizeof row, "| %s | %.0f | %.0f | %+.0f %% |", rates[i].what,
                 rates[i].measured, predicted, 100 * (predicted / rates[i].measured - 1));
        check_row(row);
    }
    /* Efficiencies are assumed, not fitted: both numbers of GPUs are off by the same, to 1 %. */
    double less = flops(META, "gpus_8192") / 430, more = flops(META, NULL) / 400;
    CHECK_NEAR(less / more, 1, 0.01);
    /* What the scenario and the page say of the peak, and of receives that all wait. */
    CHECK_NEAR(100 * flops(META, NULL) / 989, 45.5, 0.05);
    CHECK_NEAR(flops(META, "own_hops"), 414, 0.5);
}

static CU_TestInfo tests[] = {
    {"changes have the sign of the measured ones", changes_have_the_sign_of_the_measured_ones},
    {"rates are those of the page", rates_are_those_of_the_page},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("published models", tests);
}
