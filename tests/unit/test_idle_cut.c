/* Gaps cut by the kernels that end them, or as all that a rank idles is. */
#include "sim/idle_cut.h"
#include "tests/support/check.h"

/* Structural as drain; `wait` in each run, and what it was spent on, are set by tests. */
static ovl_idle_gap gap(ovl_time compute, ovl_time dependency)
{
    return (ovl_idle_gap){
        .from = 0, .to = compute + dependency, .waited.time = {compute, dependency}};
}

static void all_wait(ovl_idle_gap *g, ovl_time s, ovl_time i, ovl_time d, ovl_time h)
{
    g->wait[OVL_PEEL_STRUCTURAL] = s;
    g->wait[OVL_PEEL_IMBALANCE] = i;
    g->wait[OVL_PEEL_DEPENDENCY] = g->wait[OVL_PEEL_PAUSE] = d;
    g->wait[OVL_PEEL_HOST] = h;
}

static void check_pieces(const ovl_idle_gap *g, ovl_time fill, ovl_time drain, ovl_time imbalance,
                         ovl_time dependency, ovl_time host)
{
    CHECK_INT(g->piece[OVL_IDLE_FILL], fill);
    CHECK_INT(g->piece[OVL_IDLE_DRAIN], drain);
    CHECK_INT(g->piece[OVL_IDLE_IMBALANCE], imbalance);
    CHECK_INT(g->piece[OVL_IDLE_DEPENDENCY], dependency);
    CHECK_INT(g->piece[OVL_IDLE_HOST], host);
}

/* One order for all: the kernel waits 3, 7, 8 and 12 in the runs. Of its 12, 2 are a transfer; the
 * 10 of compute are 3 structural, 4 imbalance, 1 dependency and 2 of the 4 that the host costs. */
static void a_kernel_says_it_where_the_order_is_one(void)
{
    ovl_idle_gap g = gap(10, 2);
    const ovl_time idle[OVL_PEEL_COUNT] = {100, 1, 50, 0, 7}; /* do not matter */
    all_wait(&g, 3, 7, 8, 12);
    ovl_idle_cut(&g, 1, idle, OVL_PEEL_STRUCTURAL);
    check_pieces(&g, 0, 3, 4, 1 + 2, 2);
}

/* The example of the header. */
static void the_edge_first_then_in_proportion(void)
{
    ovl_idle_gap g[3] = {gap(3, 0), gap(6, 0), gap(3, 0)};
    const ovl_time idle[OVL_PEEL_COUNT] = {3, 9, 12, 12, 12};
    g[0].edge = g[0].forward = true;
    all_wait(&g[0], 3, 3, 3, 3);
    all_wait(&g[1], 0, 0, 6, 6);
    all_wait(&g[2], 0, 6, 3, 3);
    ovl_idle_cut(g, 3, idle, OVL_PEEL_DEPENDENCY);
    check_pieces(&g[0], 3, 0, 0, 0, 0);
    check_pieces(&g[1], 0, 0, 4, 2, 0);
    check_pieces(&g[2], 0, 0, 2, 1, 0);
}

/* The rank idles as long in the list that was found for free transfers: none of the 4 of transfers
 * is due to them. With 5 that are, 4 are these, and one is of the other 16: 15/16 of 8 is 7, and 8
 * the second time. */
static void transfers_that_cost_nothing_are_not_to_blame(void)
{
    for (int due = 0; due <= 5; due += 5) {
        ovl_idle_gap g[2] = {gap(8, 2), gap(8, 2)};
        const ovl_time idle[OVL_PEEL_COUNT] = {0, 20 - due, 20, 20, 20};
        all_wait(&g[0], 0, 0, 10, 10);
        all_wait(&g[1], 0, 10, 10, 10);
        ovl_idle_cut(g, 2, idle, OVL_PEEL_DEPENDENCY);
        CHECK_INT(g[0].piece[OVL_IDLE_DEPENDENCY] + g[1].piece[OVL_IDLE_DEPENDENCY], due);
        check_pieces(&g[0], 0, 0, due ? 7 : 10, due ? 3 : 0, 0);
    }
}

/* Only even stages have another list: they idle 4 of the 10 in it, wherever. Transfers of gaps and
 * what the host costs stay where they are. */
static void what_has_the_order_of_the_run_stays_with_its_kernel(void)
{
    ovl_idle_gap g[2] = {gap(6, 1), gap(5, 0)};
    const ovl_time idle[OVL_PEEL_COUNT] = {4, 10, 11, 11, 12};
    all_wait(&g[0], 6, 6, 7, 7);
    all_wait(&g[1], 0, 4, 4, 5);
    ovl_idle_cut(g, 2, idle, OVL_PEEL_IMBALANCE);
    check_pieces(&g[0], 0, 2, 4, 1, 0); /* 6 * 4 / 10 = 2.4 */
    check_pieces(&g[1], 0, 2, 2, 0, 1);
}

/* A rank may idle longer with even stages than it does: all is structural, and no piece negative.
 */
static void a_slow_rank_has_no_imbalance(void)
{
    ovl_idle_gap g = gap(5, 0);
    const ovl_time idle[OVL_PEEL_COUNT] = {11, 5, 5, 5, 5};
    all_wait(&g, 0, 5, 5, 5);
    ovl_idle_cut(&g, 1, idle, OVL_PEEL_IMBALANCE);
    check_pieces(&g, 0, 5, 0, 0, 0);
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static ovl_time up_to(uint64_t *state, ovl_time most)
{
    return (ovl_time)(next(state) % (uint64_t)(most + 1));
}

static void check_sums(const ovl_idle_gap *g, uint32_t n, ovl_time piece[OVL_IDLE_COUNT])
{
    for (uint32_t i = 0; i < n; i++) {
        ovl_time sum = 0;
        for (int k = 0; k < OVL_IDLE_COUNT; k++) {
            CHECK(g[i].piece[k] >= 0);
            sum += g[i].piece[k];
            piece[k] += g[i].piece[k];
        }
        CHECK_INT(sum, g[i].to - g[i].from);
    }
}

/* With nothing but compute and transfers pieces are the totals of the rank, as far as these are not
 * negative: structural, what uneven stages add, what transfers add. */
static void pieces_sum_to_gaps_and_to_totals(void)
{
    uint64_t state = 88172645463325252u;
    for (int round = 0; round < 2000; round++) {
        ovl_idle_gap g[9];
        uint32_t n = 1 + (uint32_t)up_to(&state, 8);
        ovl_time most = round % 2 ? 5 : OVL_MS * 1000, sum = 0, piece[OVL_IDLE_COUNT] = {0};
        for (uint32_t i = 0; i < n; i++) {
            g[i] = gap(up_to(&state, most), up_to(&state, most));
            all_wait(&g[i], up_to(&state, most), up_to(&state, most), up_to(&state, most), 0);
            g[i].edge = i == 0;
            sum += g[i].to;
        }
        ovl_time structural = up_to(&state, sum), with = structural + up_to(&state, sum);
        with = OVL_MIN(with, sum);
        const ovl_time idle[OVL_PEEL_COUNT] = {structural, with, sum, sum, sum};
        ovl_idle_cut(g, n, idle, OVL_PEEL_DEPENDENCY);
        check_sums(g, n, piece);
        CHECK_INT(piece[OVL_IDLE_FILL] + piece[OVL_IDLE_DRAIN], structural);
        CHECK_INT(piece[OVL_IDLE_IMBALANCE], with - structural);
        CHECK_INT(piece[OVL_IDLE_DEPENDENCY], sum - with);
    }
}

static CU_TestInfo tests[] = {
    {"a kernel says it where the order is one", a_kernel_says_it_where_the_order_is_one},
    {"the edge first, then in proportion", the_edge_first_then_in_proportion},
    {"transfers that cost nothing are not to blame", transfers_that_cost_nothing_are_not_to_blame},
    {"what has the order of the run stays with its kernel",
     what_has_the_order_of_the_run_stays_with_its_kernel},
    {"a slow rank has no imbalance", a_slow_rank_has_no_imbalance},
    {"pieces sum to gaps and to totals", pieces_sum_to_gaps_and_to_totals},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("gaps", tests);
}
