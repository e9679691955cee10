/* Measured interference in scenarios: what it puts in place of what would be shared. */
#include "tests/support/lowering.h"

#define MACHINE                                                                                    \
    "hardware:\n"                                                                                  \
    "  gpu: {hbm: 2 TB/s}\n"                                                                       \
    "  interference:\n"                                                                            \
    "    - {kernel: known, collective: all_reduce, kernel_factor: 1, collective_factor: 2}\n"      \
    "    - {kernel: known, collective: send_recv, kernel_factor: 1.25, collective_factor: 1}\n"    \
    "mesh: {axes: {dp: 2}}\n"                                                                      \
    "interference: measured\n"                                                                     \
    "workload:\n"                                                                                  \
    "  ops:\n"

/* An all-reduce of 10 ms that takes HBM beside a kernel nobody measured it with, for 1 ms; beside
 * the next one it takes none and runs at half its speed: 1 + 9 x 2 = 19 ms. */
static void a_collective_that_shares_no_more_goes_on(void)
{
    bench t = {0};
    CHECK(lower(&t,
                MACHINE "    - {kernel: u, duration: 1 ms, class: unknown}\n"
                        "    - {collective: c, op: all_reduce, bytes: 80 MB, duration: 10 ms, "
                        "hbm_factor: 2, stream: s}\n"
                        "    - {kernel: k, duration: 2 ms, class: known, after: u}\n"
                        "    - {kernel: l, duration: 16 ms, class: known, after: k}\n"
                        "    - {kernel: m, duration: 1 ms, after: c}\n",
                NULL));
    CHECK(analyse_both(&t));
    CHECK_INT(t.result.step, 20 * OVL_MS);
    CHECK_INT(t.whole.step, 20 * OVL_MS);
    finish(&t);
}

/* Beside a send for 10 ms the kernel runs at 1/1.25: 8 of its 10 ms are done, and 2 are left. The
 * 600 GB/s that the send moves are in the factor: sharing HBM as well would leave the kernel 1400
 * of the 2000 GB/s that it wants, 7 ms done. */
static void a_send_shares_no_hbm_with_what_it_was_measured_with(void)
{
    bench t = {0};
    CHECK(lower(&t,
                MACHINE "    - {kernel: k, duration: 10 ms, class: known, hbm: 20 GB}\n"
                        "    - {send: x, ranks: [0], to: \"+1\", bytes: 80 MB, duration: 10 ms, "
                        "hbm_factor: 75, stream: s}\n"
                        "    - {recv: y, ranks: [1], from: \"-1\", bytes: 80 MB, duration: 10 ms, "
                        "hbm_factor: 75, stream: s}\n",
                NULL));
    CHECK(analyse_both(&t));
    CHECK_INT(t.result.step, 12 * OVL_MS);
    CHECK_INT(t.whole.step, 12 * OVL_MS);
    finish(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a collective that shares no more goes on", a_collective_that_shares_no_more_goes_on},
        {"a send shares no HBM with what it was measured with",
         a_send_shares_no_hbm_with_what_it_was_measured_with},
        CU_TEST_INFO_NULL,
    };
    return check_main("measured", tests);
}
