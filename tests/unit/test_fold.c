#include "sim/fold.h"
#include "tests/support/check.h"
#include "tests/support/tiny.h"

/* Eight ranks, one communicator, an HBM each: one class of each sort. */
static void ranks_that_do_the_same_are_one_class(void)
{
    tiny t;
    ovl_fold fold;
    tiny_init(&t, 8);
    t.hbm_rate = 1000;
    tiny_kernel(&t, "s", "k", 10);
    tiny_collective(&t, "s", "c", 0, 10);
    CHECK(tiny_freeze(&t));
    CHECK(ovl_fold_find(&t.program, &t.arena, &fold));
    CHECK_INT(fold.ranks.n, 1);
    CHECK_INT(fold.comms.n, 1);
    CHECK_INT(fold.resources.n, 1);
    CHECK_INT(fold.count[0], 8);
    CHECK_INT(fold.rank[0], 0);
    tiny_free(&t);
}

/* Rank 3 runs another code: {0, 1, 2, 4..7} and {3}. */
static void a_rank_that_differs_is_a_class_of_its_own(void)
{
    tiny t;
    ovl_fold fold;
    tiny_init(&t, 8);
    tiny_kernel(&t, "s", "k", 10);
    tiny_collective(&t, "s", "c", 0, 10);
    ovl_id slow = tiny_code(&t);
    tiny_kernel(&t, "s", "k", 12);
    tiny_collective(&t, "s", "c", 0, 10);
    tiny_use(&t, 3, slow);
    CHECK(tiny_freeze(&t));
    CHECK(ovl_fold_find(&t.program, &t.arena, &fold));
    CHECK_INT(fold.ranks.n, 2);
    CHECK_INT(fold.count[0], 7);
    CHECK_INT(fold.rank[1], 3);
    CHECK_INT(fold.ranks.of[2], 0);
    CHECK_INT(fold.ranks.of[3], 1);
    tiny_free(&t);
}

/* --- Rings of pairs --- */

typedef struct ring {
    ovl_arena arena;
    ovl_errs errs;
    ovl_program p;
} ring;

/* `n` ranks in a ring; each shares a pair with the next (slot 0) and one with the rank before (slot
 * 1), and a link of 50 bytes/s a rank with the others of its node. `odd`: the first has less. */
static void make_ring(ring *w, uint32_t n, uint32_t node, bool collective, bool odd)
{
    *w = (ring){0};
    w->errs.arena = &w->arena;
    ovl_builder b;
    ovl_builder_init(&b, &w->arena);
    b.n_ports = 2;
    ovl_id code = ovl_add_code(&b);
    ovl_add_slot(&b, code);
    ovl_add_slot(&b, code);
    ovl_cost cost = {.work = 100};
    ovl_demand own = {1, false, 60};
    ovl_op op = {.kind = OVL_KERNEL,
                 .stream = OVL_NO_STREAM,
                 .name = ovl_name(&b, "x"),
                 .cost = ovl_add_cost(&b, &cost, NULL, &own, 1, NULL, 0),
                 .batch = OVL_NONE,
                 .bytes = 8};
    op.kind = collective ? OVL_COLLECTIVE : OVL_SEND;
    op.peer = !collective;
    ovl_add_op(&b, code, &op);
    op.kind = collective ? OVL_COLLECTIVE : OVL_RECV;
    op.peer = 0;
    op.comm = 1;
    ovl_add_op(&b, code, &op);
    ovl_id pairs[64], link = OVL_NONE;
    for (uint32_t r = 0; r < n; r++) {
        uint32_t members[] = {r, (r + 1) % n};
        pairs[r] = ovl_add_comm(&b, ovl_name(&b, "pair"), members, 2);
    }
    for (uint32_t r = 0; r < n; r++) {
        if (r % node == 0) {
            uint64_t capacity = (odd && r == 0 ? 40 : 50) * node;
            link = ovl_add_resource(
                &b, &(ovl_resource){ovl_name(&b, "link"), OVL_RES_LINK, r / node, capacity});
        }
        ovl_id comms[] = {pairs[r], pairs[(r + n - 1) % n]}, ports[] = {OVL_NONE, link};
        ovl_add_rank(&b, code, 0, comms, ports);
    }
    CHECK(ovl_freeze(&b, &w->p, &w->errs));
}

/* Every rank sends to the next: one class, which meets itself; the link carries all the sends.
 * Eight of 60 bytes/s on a link of 400 take 100 * 480 / 400 = 120 ps. */
static void a_ring_of_messages_is_one_rank_that_meets_itself(void)
{
    ring w;
    ovl_fold fold;
    ovl_program folded;
    ovl_timeline t;
    make_ring(&w, 8, 8, false, false);
    CHECK(ovl_fold_find(&w.p, &w.arena, &fold));
    CHECK_INT(fold.ranks.n, 1);
    CHECK_INT(fold.comms.n, 1);
    CHECK_INT(fold.resources.n, 1);
    CHECK(ovl_fold_program(&w.p, &fold, &w.arena, &folded, &w.errs));
    CHECK_INT(folded.n_ops, 2);
    CHECK_INT(folded.partner[0], 1);
    CHECK_INT(folded.partner[1], 0);
    CHECK_INT(fold.rank_load[1], 8);
    CHECK_INT(fold.together[0], 8);
    ovl_run_options how = {.interference = OVL_INTERFERENCE_SHARED};
    CHECK(ovl_run(&folded, &how, &w.arena, &t, &w.errs));
    CHECK_INT(t.step, 120);
    ovl_arena_free(&w.arena);
}

/* Nodes of two: the first of a node sends within it, the second beyond. */
static void messages_within_a_node_and_beyond_differ(void)
{
    ring w;
    ovl_fold fold;
    make_ring(&w, 8, 2, false, false);
    CHECK(ovl_fold_find(&w.p, &w.arena, &fold));
    CHECK_INT(fold.ranks.n, 2);
    CHECK_INT(fold.comms.n, 2);
    CHECK_INT(fold.resources.n, 1);
    ovl_arena_free(&w.arena);
}

/* The rank with the slower link differs from the others, and those from one another by how far they
 * are from it, one way round: 8 ranks, 8 classes. */
static void a_link_that_differs_unfolds_whoever_it_reaches(void)
{
    ring w;
    ovl_fold fold;
    make_ring(&w, 8, 1, false, true);
    CHECK(!ovl_fold_find(&w.p, &w.arena, &fold));
    ovl_arena_free(&w.arena);
}

/* Collectives of pairs that meet all ranks in both slots: each rank would wait for itself. */
static void collectives_that_cross_are_not_folded(void)
{
    ring w;
    ovl_fold fold;
    make_ring(&w, 8, 8, true, false);
    CHECK(!ovl_fold_find(&w.p, &w.arena, &fold));
    ovl_arena_free(&w.arena);
}

/* --- Verification --- */

/* All in one class, though rank 3 is slower; then the right partition. */
static void a_wrong_partition_does_not_hold(void)
{
    tiny t;
    ovl_fold fold;
    tiny_init(&t, 4);
    tiny_kernel(&t, "s", "k", 10);
    ovl_id slow = tiny_code(&t);
    tiny_kernel(&t, "s", "k", 12);
    tiny_use(&t, 3, slow);
    CHECK(tiny_freeze(&t));
    CHECK(ovl_fold_find(&t.program, &t.arena, &fold));
    CHECK(ovl_fold_holds(&t.program, &fold));
    uint32_t of[] = {0, 0, 0, 0}, first[] = {0}, count[] = {4};
    fold.ranks = (ovl_partition){1, of, first, count};
    CHECK(!ovl_fold_holds(&t.program, &fold));
    tiny_free(&t);
}

/* Ranks 0 and 1 share a link, 2 has one alone: all in one class would load it wrongly. */
static void a_resource_with_other_users_is_of_another_class(void)
{
    tiny t;
    ovl_fold fold;
    ovl_builder *b = &t.b;
    tiny_init(&t, 3);
    tiny_kernel(&t, "s", "k", 10);
    ovl_id shared = ovl_add_resource(b, &(ovl_resource){ovl_name(b, "hbm"), OVL_RES_HBM, 0, 100});
    ovl_id alone = ovl_add_resource(b, &(ovl_resource){ovl_name(b, "hbm"), OVL_RES_HBM, 1, 100});
    uint32_t everybody[] = {0, 1, 2};
    ovl_id dp = ovl_add_comm(b, ovl_name(b, "dp"), everybody, 3);
    for (uint32_t r = 0; r < 3; r++) {
        ovl_add_rank(b, 0, 0, &dp, r < 2 ? &shared : &alone);
    }
    t.frozen = true;
    CHECK(ovl_freeze(b, &t.program, &t.errs));
    CHECK(ovl_fold_find(&t.program, &t.arena, &fold));
    CHECK_INT(fold.ranks.n, 2);
    CHECK_INT(fold.ranks.of[2], 1);
    uint32_t of[] = {0, 0, 0}, first[] = {0}, count[] = {3}, both[] = {0, 0}, two[] = {2};
    fold.ranks = (ovl_partition){1, of, first, count};
    fold.resources = (ovl_partition){1, both, first, two};
    CHECK(!ovl_fold_holds(&t.program, &fold));
    tiny_free(&t);
}

static CU_TestInfo tests[] = {
    {"ranks that do the same are one class", ranks_that_do_the_same_are_one_class},
    {"a rank that differs is a class of its own", a_rank_that_differs_is_a_class_of_its_own},
    {"a ring of messages is one rank that meets itself",
     a_ring_of_messages_is_one_rank_that_meets_itself},
    {"messages within a node and beyond differ", messages_within_a_node_and_beyond_differ},
    {"a link that differs unfolds whoever it reaches",
     a_link_that_differs_unfolds_whoever_it_reaches},
    {"collectives that cross are not folded", collectives_that_cross_are_not_folded},
    {"a wrong partition does not hold", a_wrong_partition_does_not_hold},
    {"a resource with other users is of another class",
     a_resource_with_other_users_is_of_another_class},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("fold", tests);
}
