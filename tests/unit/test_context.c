/*
 * Context parallelism over 4 ranks, by hand. One block of 4096 tokens, 1024 on each rank, 8 heads
 * of 128 columns, nothing hidden from anybody:
 *
 *     attention   4 * 1024 * 4096 * 1024 FLOPs = 40 us at 429.4967296 TFLOP/s; backward 2.5 times
 *     keys and values of a rank   2 * 2 * 1024 * 1024 bytes = 4 MiB
 *     adding gradients of them    3 * 4 MiB = 3 us at 4.194304 TB/s of HBM
 *
 * In a ring the attention has 4 parts, A = 10 us forward and B = 25 us backward; a step of the ring
 * takes S.
 */
#include "sim/engine.h"
#include "tests/support/lowering.h"

#define TEXT                                                                                       \
    "hardware:\n"                                                                                  \
    "  gpu: {hbm: 4.194304 TB/s, peak: {bf16: 429.4967296 TFLOP/s}}\n"                             \
    "  links: {own: {bandwidth: 419.4304 GB/s}}\n"                                                 \
    "  collectives:\n"                                                                             \
    "    - {op: send_recv, via: [own], algorithm: direct, sms: 0}\n"                               \
    "    - {op: all_gather, via: [own], algorithm: ring, sms: 0}\n"                                \
    "    - {op: reduce_scatter, via: [own], algorithm: ring, sms: 0}\n"                            \
    "mesh: {axes: {cp: 4, pp: 1}}\n"                                                               \
    "workload: {model: {layers: 1, hidden: 1024, ffn_hidden: 1024, heads: 8, sequence: 4096, "     \
    "vocabulary: 1024, causal: false, memory_efficiency: 100 %}}\n"                                \
    "overlap: {pipeline: {schedule: gpipe, microbatches: 1}}\n"

typedef struct timed {
    bench b;
    ovl_timeline t;
    ovl_time from; /* start of the attention or of its gather; the clock below begins here */
} timed;

static void run(timed *x, const char *set)
{
    ovl_run_options options = {.interference = OVL_INTERFERENCE_SHARED};
    CHECK(lower(&x->b, TEXT, set));
    CHECK(ovl_run(x->b.p, &options, &x->b.arena, &x->t, &x->b.errs));
}

static void check(timed *x, const char *name, int from_us, int to_us)
{
    uint32_t op = x->b.p->ranks[1].first_op + find_op(&x->b, 1, name);
    x->from = from_us == 0 ? x->t.start[op] : x->from;
    CHECK_NEAR((double)(x->t.start[op] - x->from), 1e6 * from_us, 50); /* times are rounded up */
    CHECK_NEAR((double)(x->t.end[op] - x->from), 1e6 * to_us, 50);
}

/* S = 10: keys and values come while the attention of those before them runs: 4 A. */
static void a_ring_hides_behind_the_attention(void)
{
    timed x = {0};
    run(&x, NULL);
    check(&x, "forward block.attention.0", 0, 10);
    check(&x, "forward block.kv_ring.0", 0, 10);
    check(&x, "forward block.attention.1", 10, 20);
    check(&x, "forward block.kv_ring.2", 20, 30);
    check(&x, "forward block.attention.3", 30, 40);
    CHECK_INT(find_op(&x.b, 1, "forward block.kv_ring.3"), OVL_NONE);
    finish(&x.b);
}

/* S = 20 is longer than A: a part waits for its keys and values: 3 S + A. */
static void a_slow_ring_is_waited_for(void)
{
    timed x = {0};
    run(&x, "hardware.links.own.bandwidth=209.7152 GB/s");
    check(&x, "forward block.attention.0", 0, 10);
    check(&x, "forward block.attention.1", 20, 30);
    check(&x, "forward block.kv_ring.2", 40, 60);
    check(&x, "forward block.attention.3", 60, 70);
    finish(&x.b);
}

/* Gradients follow the kernel that made them, beside the next one, and are added behind that; the
 * next keys and values go behind them on the wire. The last step goes home alone: 4 B + 3 * 3 + S.
 */
static void gradients_follow_a_step_behind(void)
{
    timed x = {0};
    run(&x, NULL);
    check(&x, "backward block.attention.0", 0, 25);
    check(&x, "backward block.kv_ring.0", 0, 10);
    check(&x, "backward block.kv_grad_ring.0", 25, 35);
    check(&x, "backward block.kv_ring.1", 35, 45);
    check(&x, "backward block.attention.1", 25, 50);
    check(&x, "backward block.kv_grad_add.1", 50, 53);
    check(&x, "backward block.kv_grad_ring.1", 53, 63);
    check(&x, "backward block.attention.2", 53, 78);
    check(&x, "backward block.kv_grad_add.2", 78, 81);
    check(&x, "backward block.attention.3", 81, 106);
    check(&x, "backward block.kv_grad_add.3", 106, 109);
    check(&x, "backward block.kv_grad_ring.3", 109, 119);
    finish(&x.b);
}

/* S = 20: two steps of the ring a part, 40 us, are more than B: attention.2 waits for keys and
 * values that went behind the gradients of the first (25..45), 45..65; those of attention.3 go
 * behind the gradients that were added at 53, 65..85, and come at 105. */
static void gradients_on_the_wire_are_waited_for(void)
{
    timed x = {0};
    run(&x, "hardware.links.own.bandwidth=209.7152 GB/s");
    check(&x, "backward block.attention.0", 0, 25);
    check(&x, "backward block.kv_grad_ring.0", 25, 45);
    check(&x, "backward block.kv_ring.1", 45, 65);
    check(&x, "backward block.attention.1", 25, 50);
    check(&x, "backward block.kv_grad_add.1", 50, 53);
    check(&x, "backward block.kv_grad_ring.1", 65, 85);
    check(&x, "backward block.attention.2", 65, 90);
    check(&x, "backward block.kv_ring.2", 85, 105);
    check(&x, "backward block.attention.3", 105, 130);
    finish(&x.b);
}

/* All keys and values, 16 MiB, before the attention: 3/4 of them at 419.4304 GB/s are 30 us, for
 * the gradients behind it, too. */
static void an_all_gather_is_paid_before(void)
{
    timed x = {0};
    run(&x, "workload.model.context=all_gather");
    check(&x, "forward block.kv_gather", 0, 30);
    check(&x, "forward block.attention", 30, 70);
    check(&x, "backward block.kv_gather", 0, 30);
    check(&x, "backward block.attention", 30, 130);
    check(&x, "backward block.kv_reduce", 130, 160);
    finish(&x.b);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a ring hides behind the attention", a_ring_hides_behind_the_attention},
        {"a slow ring is waited for", a_slow_ring_is_waited_for},
        {"gradients follow a step behind", gradients_follow_a_step_behind},
        {"gradients on the wire are waited for", gradients_on_the_wire_are_waited_for},
        {"an all-gather is paid before", an_all_gather_is_paid_before},
        CU_TEST_INFO_NULL,
    };
    return check_main("context parallelism", tests);
}
