/* What a collective takes, from how much it slows kernels. */
#include "models/fit_shared.h"
#include "tests/support/check.h"

#define GB 1e9

/* A100, 2000 GB/s, 108 SMs, 300 GB/s on the wire. A kernel of 2000 GB/s beside u = 600: share 1400,
 * 1.43; beside 900: 1.82. */
static void hbm_from_kernels_bound_by_it(void)
{
    const ovl_shared_pair two = {2000.0 / 1400, 1, 2000 * GB, 0, 300 * GB};
    const ovl_shared_pair three = {2000.0 / 1100, 1, 2000 * GB, 0, 300 * GB};
    ovl_shared_fit fit = ovl_fit_shared(&two, 1, 2000 * GB, 108);
    CHECK_NEAR(fit.hbm_factor.value, 2, 1e-4);
    CHECK(!fit.hbm_why);
    CHECK_HAS(fit.sms_why, "says how many SMs");
    fit = ovl_fit_shared(&three, 1, 2000 * GB, 0);
    CHECK_NEAR(fit.hbm_factor.value, 3, 1e-4);
}

/* The measured A100 case: attention 0.18 -> 0.33, GEMM 1.18 -> 2.08: between 2.88 and 3.03. */
static void hbm_from_measured_kernels(void)
{
    const ovl_shared_pair pairs[] = {{0.33 / 0.18, 0, 2000 * GB, 0, 300 * GB},
                                     {2.08 / 1.18, 0, 2000 * GB, 0, 300 * GB}};
    ovl_shared_fit fit = ovl_fit_shared(pairs, 2, 2000 * GB, 0);
    CHECK_NEAR(fit.hbm_factor.value, 2.96, 0.06);
    CHECK(ovl_fit_has_interval(fit.hbm_factor));
    CHECK(fit.hbm_factor.low < 2.88 && fit.hbm_factor.high > 3.03);
    CHECK(fit.residual < 0.03);
}

/* 16 of 108 SMs: a kernel that wants all of them 108/92. */
static void sms_from_kernels_bound_by_them(void)
{
    const ovl_shared_pair pair = {108.0 / 92, 1, 0, 108, 300 * GB};
    ovl_shared_fit fit = ovl_fit_shared(&pair, 1, 2000 * GB, 108);
    CHECK_NEAR(fit.sms.value, 16, 1e-3);
    CHECK(!fit.sms_why);
    CHECK_HAS(fit.hbm_why, "wants of HBM");
}

/* Both at once need a kernel for each: memory-bound on 92 SMs, compute-bound on all. */
static void both_from_a_kernel_of_each_kind(void)
{
    const ovl_shared_pair pairs[] = {{2000.0 / 1400, 1, 2000 * GB, 92, 300 * GB},
                                     {108.0 / 92, 1, 400 * GB, 108, 300 * GB}};
    ovl_shared_fit fit = ovl_fit_shared(pairs, 2, 2000 * GB, 108);
    CHECK_NEAR(fit.hbm_factor.value, 2, 1e-3);
    CHECK_NEAR(fit.sms.value, 16, 1e-2);
    CHECK_NEAR(fit.residual, 0, 1e-4);
}

static void one_kernel_that_wants_both_tells_neither(void)
{
    const ovl_shared_pair pair = {1.5, 1, 2000 * GB, 108, 300 * GB};
    ovl_shared_fit fit = ovl_fit_shared(&pair, 1, 2000 * GB, 108);
    CHECK_NEAR(fit.hbm_factor.value, 0, 0);
    CHECK_HAS(fit.hbm_why, "HBM alone and SMs alone");
    CHECK_HAS(fit.sms_why, "HBM alone and SMs alone");
}

/* A kernel that wants a tenth of HBM is not slowed threefold by sharing it fairly. */
static void what_sharing_cannot_explain_is_said(void)
{
    const ovl_shared_pair pair = {3, 1, 200 * GB, 0, 300 * GB};
    ovl_shared_fit fit = ovl_fit_shared(&pair, 1, 2000 * GB, 0);
    CHECK_HAS(fit.hbm_why, "does not explain");
    CHECK_HAS(fit.sms_why, "not known");
    const ovl_shared_pair unslowed = {1, 1, 2000 * GB, 0, 300 * GB};
    CHECK_HAS(ovl_fit_shared(&unslowed, 1, 2000 * GB, 0).hbm_why, "was slowed");
    CHECK_HAS(ovl_fit_shared(NULL, 0, 0, 0).hbm_why, "--hbm");
}

/* Both want more than half: each gets 1000 of 2000, the kernel takes 1.5, the collective 1.8 times
 * as long; u = 1800 is told by the collective. */
static void the_collective_s_own_factor_counts(void)
{
    const ovl_shared_pair pair = {1.5, 1.8, 1500 * GB, 0, 600 * GB};
    ovl_shared_fit fit = ovl_fit_shared(&pair, 1, 2000 * GB, 0);
    CHECK_NEAR(fit.hbm_factor.value, 3, 1e-3);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"HBM from kernels bound by it", hbm_from_kernels_bound_by_it},
        {"HBM from measured kernels", hbm_from_measured_kernels},
        {"SMs from kernels bound by them", sms_from_kernels_bound_by_them},
        {"both from a kernel of each kind", both_from_a_kernel_of_each_kind},
        {"one kernel that wants both tells neither", one_kernel_that_wants_both_tells_neither},
        {"what sharing cannot explain is said", what_sharing_cannot_explain_is_said},
        {"the collective's own factor counts", the_collective_s_own_factor_counts},
        CU_TEST_INFO_NULL,
    };
    return check_main("fit shared", tests);
}
