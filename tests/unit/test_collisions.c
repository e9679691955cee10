/*
 * test_collisions.c - what was lost on links that degrade stands where and when it was lost: alone,
 * or beside those who were there; and each instance is judged by what it has itself.
 */
#include "tests/support/lowering.h"

#define MACHINE(fault)                                                                             \
    "hardware:\n"                                                                                  \
    "  node: {gpus: 1}\n"                                                                          \
    "  links: {nvl: {bandwidth: 30 GB/s}, nic: {bandwidth: 100 GB/s, out_of: node}}\n"             \
    "  collectives:\n"                                                                             \
    "    - {op: all_reduce, via: [nic], algorithm: ring}\n"                                        \
    "    - {op: send_recv, via: [nic], algorithm: direct}\n"                                       \
    "  faults: [" fault "]\n"
#define TWO                                                                                        \
    "mesh: {axes: {dp: 2}}\n"                                                                      \
    "workload:\n"                                                                                  \
    "  groups: {a: [[0, 1]], b: [[0, 1]]}\n"                                                       \
    "  ops:\n"
#define A(size) "    - {collective: A, op: all_reduce, group: a, bytes: " size ", stream: ca}\n"
#define K(time) "    - {kernel: k, duration: " time "}\n"
#define B(size, after)                                                                             \
    "    - {collective: B, op: all_reduce, group: b, bytes: " size ", stream: cb" after "}\n"

/* In us: what the NICs lost alone, and both sides of the one row; folded and not. */
static void check_result(const ovl_result *r, ovl_time alone, ovl_time first, ovl_time second,
                         uint32_t full)
{
    for (uint32_t i = 0; i < r->n_resources; i++) {
        if (strcmp(r->resources[i].name, "nic.out") == 0) {
            CHECK_INT(r->resources[i].alone_all, alone * OVL_US);
            CHECK_INT(r->resources[i].lost_all, (alone + first + second) * OVL_US);
        }
    }
    CHECK_INT(r->n_collisions, 1);
    if (r->n_collisions == 1) {
        CHECK_INT(r->collisions[0].all_a, first * OVL_US);
        CHECK_INT(r->collisions[0].all_b, second * OVL_US);
        CHECK_INT(r->collisions[0].full, full);
    }
}

static void check(const char *text, ovl_time alone, ovl_time first, ovl_time second, uint32_t full)
{
    bench t = {0};
    if (lower(&t, text, NULL) && analyse_both(&t)) {
        check_result(&t.result, alone, first, second, full);
        check_result(&t.whole, alone, first, second, full);
    }
    CHECK_TEXT(mistake(&t), "none");
    finish(&t);
}

/* At 10 of 100 GB/s A runs 51 ms, 2 of them beside B at 5: it loses 49 x 0.9 = 44.1 ms alone and
 * 2 x 0.95 = 1.9 beside B. */
static void a_slow_link_is_not_put_down_to_who_comes_by(void)
{
    check(MACHINE("{link: nic, bandwidth: 10 GB/s}") TWO A("500 MB") K("40 ms")
              B("10 MB", ", after: k"),
          44100, 1900, 1900, 2);
}

/* Of 10 ms A does 3 in the 30 of the fault, and loses 27; then 1 and, from 31 on, half of what
 * passes: B of 2 ms is there for 4, either loses 2. */
static void a_fault_that_is_over_is_not_put_down_to_who_comes_later(void)
{
    check(MACHINE("{link: nic, bandwidth: 10 GB/s, until: 30 ms}") TWO A("1000 MB") K("31 ms")
              B("200 MB", ", after: k"),
          27000, 2000, 2000, 2);
}

/* NICs at 50 GB/s. A of 600 MB on each does 5 ms of its work in 10. Then s, 25 MB, is on that of
 * rank 2 for 1 ms at 25 GB/s: A does 0.25 and loses 0.75, as s does; the other NICs have no part in
 * that. It does the last 0.75 in 1.5: alone it lost 5 + 0.75. */
static void of_many_slow_links_the_slowest_counts(void)
{
    check(MACHINE("{link: nic, bandwidth: 50 GB/s}") "mesh: {axes: {dp: 4}}\n"
                                                     "workload:\n"
                                                     "  groups: {a: [[0, 1, 2, 3]], p: [[2, 3]]}\n"
                                                     "  ops:\n" A(
                                                         "400 MB") "    - {marker: w, duration: 10 "
                                                                   "ms, ranks: [2, 3], stream: p}\n"
                                                                   "    - {send: s, group: p, to: "
                                                                   "1, bytes: 25 MB, ranks: [2], "
                                                                   "stream: p}\n"
                                                                   "    - {recv: r, group: p, "
                                                                   "from: 0, bytes: 25 MB, ranks: "
                                                                   "[3], stream: p}\n",
          5750, 750, 750, 1);
}

/* Two rings of 120 MB each want 30 of 100 GB/s, as NVLink has no more: 4 ms. One NIC has 10: 24 ms,
 * 20 of them lost by either beside the other; the other NIC has more than both want. */
static void the_slow_rank_does_not_matter(void)
{
#define RINGS(rank)                                                                                \
    "hardware:\n"                                                                                  \
    "  node: {gpus: 1}\n"                                                                          \
    "  links: {nvl: {bandwidth: 30 GB/s}, nic: {bandwidth: 100 GB/s, out_of: node}}\n"             \
    "  collectives: [{op: all_reduce, via: [nvl, nic], algorithm: ring}]\n"                        \
    "  faults: [{link: nic, ranks: " rank ", bandwidth: 10 GB/s}]\n" TWO A("120 MB")               \
        B("120 MB", "")
    check(RINGS("0"), 0, 20000, 20000, 1);
    check(RINGS("1"), 0, 20000, 20000, 1);
}

static CU_TestInfo tests[] = {
    {"a slow link is not put down to who comes by", a_slow_link_is_not_put_down_to_who_comes_by},
    {"a fault that is over is not put down to who comes later",
     a_fault_that_is_over_is_not_put_down_to_who_comes_later},
    {"of many slow links the slowest counts", of_many_slow_links_the_slowest_counts},
    {"the slow rank does not matter", the_slow_rank_does_not_matter},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("collisions", tests);
}
