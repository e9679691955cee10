#include "sim/causes.h"
#include "sim/memory.h"
#include "tests/support/check.h"
#include "tests/support/tiny.h"

#define MS  OVL_MS
#define MIB (UINT64_C(1) << 20)

static ovl_id buffer(tiny *t, const char *name, uint64_t bytes, const char *stream, bool held)
{
    ovl_buffer b = {.name = ovl_name(&t->b, name),
                    .bytes = bytes,
                    .category = held ? OVL_PARAMETER : OVL_ACTIVATION,
                    .stream = ovl_add_stream(&t->b, t->code, stream),
                    .held = held};
    return ovl_add_buffer(&t->b, t->code, &b);
}

static ovl_result_rank look(tiny *t)
{
    ovl_result_rank row = {.rank = 0, .count = t->n_ranks};
    CHECK(tiny_run(t, OVL_INTERFERENCE_NONE));
    ovl_memory_find(&t->program, &t->timeline, &t->arena, &row);
    return row;
}

/* P 100 held; A 10 in [0, 2], B 20 in [1, 3]: live 130 from 1 on. On the host A is freed before c
 * is issued, but B was allocated at the start: 130 there too. Pools: 110 and 20. */
static void peaks_of_a_small_program(void)
{
    tiny t;
    tiny_init(&t, 1);
    buffer(&t, "P", 100 * MIB, "compute", true);
    ovl_id a = buffer(&t, "A", 10 * MIB, "compute", false);
    ovl_id b = buffer(&t, "B", 20 * MIB, "side", false);
    uint32_t first = tiny_kernel(&t, "compute", "a", 1 * MS);
    tiny_writes(&t, a);
    tiny_kernel(&t, "compute", "b", 1 * MS);
    tiny_reads(&t, a);
    tiny_kernel(&t, "side", "c", 2 * MS);
    tiny_after(&t, first);
    tiny_writes(&t, b);
    tiny_kernel(&t, "compute", "d", 5 * MS);
    ovl_result_rank r = look(&t);
    CHECK(r.has_memory);
    CHECK_INT(r.live_peak, 130 * MIB);
    CHECK_INT(r.live_peak_at, 1 * MS);
    CHECK_INT(r.allocated_peak, 130 * MIB);
    CHECK_TEXT(r.allocated_peak_at, "a");
    CHECK_INT(r.reserved_peak, 130 * MIB);
    CHECK_INT(r.n_holders, 3);
    CHECK_TEXT(r.holders[0].name, "P");
    CHECK_TEXT(r.holders[0].category, "parameter");
    CHECK_INT(r.holders[1].bytes, 20 * MIB);
    CHECK_TEXT(r.holders[2].category, "activation");
    tiny_free(&t);
}

/* A is freed before B is allocated: 30 at most, but on two streams the pools add up to 50; the GPU
 * needs A (20) and B (30) never together: 30. */
static void a_pool_does_not_serve_another_stream(void)
{
    tiny t;
    tiny_init(&t, 1);
    ovl_id a = buffer(&t, "A", 20 * MIB, "one", false);
    uint32_t first = tiny_kernel(&t, "one", "a", 1 * MS);
    tiny_writes(&t, a);
    ovl_free_buffer(&t.b, t.code, a);
    ovl_id b = buffer(&t, "B", 30 * MIB, "two", false);
    tiny_kernel(&t, "two", "b", 1 * MS);
    tiny_after(&t, first);
    tiny_writes(&t, b);
    ovl_result_rank r = look(&t);
    CHECK_INT(r.allocated_peak, 30 * MIB);
    CHECK_TEXT(r.allocated_peak_at, "b");
    CHECK_INT(r.reserved_peak, 50 * MIB);
    CHECK_INT(r.live_peak, 30 * MIB);
    CHECK_INT(r.live_peak_at, 1 * MS);
    tiny_free(&t);
}

/* 100 B take 512; 1 MiB and a byte take 2 MiB, 1 MiB - 1 takes 1 MiB: 512 + 2 MiB + 1 MiB. */
static void blocks_are_rounded(void)
{
    tiny t;
    tiny_init(&t, 1);
    buffer(&t, "small", 100, "one", true);
    buffer(&t, "large", MIB + 1, "one", true);
    buffer(&t, "middle", MIB - 1, "one", true);
    tiny_kernel(&t, "one", "k", 1 * MS);
    ovl_result_rank r = look(&t);
    CHECK_INT(r.allocated_peak, 100 + 2 * MIB);
    CHECK_INT(r.reserved_peak, 512 + 3 * MIB);
    tiny_free(&t);
}

/* Ten buffers of 1..10 MiB: the eight largest by name, then two with 1 + 2. */
static void the_rest_is_summed(void)
{
    tiny t;
    tiny_init(&t, 1);
    for (uint32_t i = 1; i <= 10; i++) {
        buffer(&t, ovl_arena_printf(&t.arena, "b%" PRIu32, i), i * MIB, "one", true);
    }
    tiny_kernel(&t, "one", "k", 1 * MS);
    ovl_result_rank r = look(&t);
    CHECK_INT(r.n_holders, OVL_HOLDERS_MAX + 1);
    CHECK_TEXT(r.holders[0].name, "b10");
    CHECK_TEXT(r.holders[7].name, "b3");
    CHECK_TEXT(r.holders[8].name, "2 others");
    CHECK(r.holders[8].category == NULL);
    CHECK_INT(r.holders[8].bytes, 3 * MIB);
    tiny_free(&t);
}

/* Twelve of one size: 0, 1, 2, ... and not 0, 1, 10, 11, 2. */
static void equal_holders_are_in_the_order_of_their_numbers(void)
{
    tiny t;
    tiny_init(&t, 1);
    for (uint32_t i = 12; i-- > 0;) {
        buffer(&t, ovl_arena_printf(&t.arena, "bucket %" PRIu32, i), MIB, "one", true);
    }
    tiny_kernel(&t, "one", "k", 1 * MS);
    ovl_result_rank r = look(&t);
    CHECK_TEXT(r.holders[1].name, "bucket 1");
    CHECK_TEXT(r.holders[2].name, "bucket 2");
    CHECK_TEXT(r.holders[7].name, "bucket 7");
    tiny_free(&t);
}

/* Allocated at the end and never used: it counts for the allocator alone. */
static void the_peak_may_come_after_the_last_operation(void)
{
    tiny t;
    tiny_init(&t, 1);
    tiny_kernel(&t, "one", "k", 1 * MS);
    buffer(&t, "late", 4 * MIB, "one", false);
    ovl_result_rank r = look(&t);
    CHECK_INT(r.allocated_peak, 4 * MIB);
    CHECK_TEXT(r.allocated_peak_at, "end");
    CHECK_INT(r.live_peak, 0);
    tiny_free(&t);
}

static void without_buffers_nothing_is_said(void)
{
    tiny t;
    tiny_init(&t, 1);
    tiny_kernel(&t, "one", "k", 1 * MS);
    ovl_result_rank r = look(&t);
    CHECK(!r.has_memory);
    tiny_free(&t);
}

/* Rank 0 sends x (8 MiB) eagerly at 0: over at once for its stream, 4 ms on the wire. A kernel that
 * holds y (4 MiB) in [1, 3] meets it there. Rank 1 waits for the bytes, or comes at 6 when they
 * have long arrived. */
static void an_eager_send_holds_its_buffer_until_the_bytes_arrived(void)
{
    for (int late = 0; late < 2; late++) {
        tiny t;
        tiny_init(&t, 2);
        ovl_id x = buffer(&t, "x", 8 * MIB, "comm", false);
        ovl_id y = buffer(&t, "y", 4 * MIB, "compute", false);
        tiny_send(&t, "comm", "s", 1, 4 * MS, true);
        tiny_reads(&t, x);
        tiny_kernel(&t, "compute", "before", 1 * MS);
        tiny_kernel(&t, "compute", "k", 2 * MS);
        tiny_writes(&t, y);
        tiny_use(&t, 1, tiny_code(&t));
        if (late) {
            tiny_kernel(&t, "comm", "busy", 6 * MS);
        }
        tiny_recv(&t, "comm", "r", 0, 4 * MS, true);
        ovl_result_rank r = look(&t);
        CHECK_INT(tiny_end(&t, 0, 0), 0);
        CHECK_INT(t.timeline.step, late ? 6 * MS : 4 * MS);
        CHECK_INT(r.live_peak, 12 * MIB);
        CHECK_INT(r.live_peak_at, 1 * MS);
        CHECK_INT(ovl_buffers_end(&t.program, &t.timeline, 0), 4 * MS);
        tiny_free(&t);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"three peaks of a small program", peaks_of_a_small_program},
        {"a pool does not serve another stream", a_pool_does_not_serve_another_stream},
        {"blocks are rounded as PyTorch does", blocks_are_rounded},
        {"holders beyond the eighth are summed", the_rest_is_summed},
        {"holders of one size are in the order of their numbers",
         equal_holders_are_in_the_order_of_their_numbers},
        {"the peak may come after the last operation", the_peak_may_come_after_the_last_operation},
        {"without buffers nothing is said", without_buffers_nothing_is_said},
        {"an eager send holds its buffer until the bytes arrived",
         an_eager_send_holds_its_buffer_until_the_bytes_arrived},
        CU_TEST_INFO_NULL,
    };
    return check_main("memory", tests);
}
