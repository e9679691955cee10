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
    CHECK_INT(r.live.at, 1 * MS);
    CHECK_INT(r.allocated_peak, 130 * MIB);
    CHECK_TEXT(r.allocated.raised_by, "a");
    CHECK_INT(r.reserved_peak, 130 * MIB);
    CHECK_INT(r.live.n_holders, 3);
    CHECK_TEXT(r.live.holders[0].name, "P");
    CHECK_TEXT(r.live.holders[0].category, "parameter");
    CHECK_INT(r.live.holders[1].bytes, 20 * MIB);
    CHECK_TEXT(r.live.holders[2].category, "activation");
    tiny_free(&t);
}

/* A of 30 MiB on rank 0, 10 on rank 1 and none on rank 2, beside P of 100: nobody has what another
 * has, and the two that have 10 MiB (1 and 3) are one class. */
static void each_rank_has_its_own_bytes(void)
{
    static const uint64_t sizes[] = {30 * MIB, 10 * MIB, 0, 10 * MIB};
    tiny t;
    tiny_init(&t, 4);
    buffer(&t, "P", 100 * MIB, "compute", true);
    ovl_buffer a = {.name = ovl_name(&t.b, "A"), .bytes = 30 * MIB, .category = OVL_ACTIVATION};
    a.sizes = ovl_add_sizes(&t.b, sizes, 4);
    ovl_id id = ovl_add_buffer(&t.b, t.code, &a);
    tiny_kernel(&t, "compute", "a", 1 * MS);
    tiny_writes(&t, id);
    CHECK(tiny_freeze(&t));
    for (int no_fold = 0; no_fold < 2; no_fold++) {
        ovl_analyse_options options = {.no_fold = no_fold, .worth = OVL_WORTH_NONE};
        ovl_result r;
        CHECK(ovl_analyse(&t.program, &options, &t.arena, &r, NULL, &t.errs));
        CHECK_INT(r.n_ranks, 3);
        CHECK_INT(r.ranks[1].count, 2);
        for (uint32_t i = 0; i < OVL_MIN(r.n_ranks, 3); i++) {
            uint64_t bytes = 100 * MIB + sizes[i];
            CHECK_INT(r.ranks[i].rank, i);
            CHECK_INT(r.ranks[i].live_peak, bytes);
            CHECK_INT(r.ranks[i].allocated_peak, bytes);
            CHECK_INT(r.ranks[i].reserved_peak, bytes);
            CHECK_INT(r.ranks[i].live.category[OVL_ACTIVATION], sizes[i]);
        }
        r.memory_limit = 110 * MIB;
        uint32_t of;
        CHECK_INT(ovl_result_ranks_over(&r, &of), 1);
        CHECK_INT(of, 4);
        CHECK(!ovl_result_rank_fits(&r, &r.ranks[0]) && ovl_result_rank_fits(&r, &r.ranks[1]));
    }
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
    CHECK_TEXT(r.allocated.raised_by, "b");
    CHECK_INT(r.reserved_peak, 50 * MIB);
    CHECK_INT(r.live_peak, 30 * MIB);
    CHECK_INT(r.live.at, 1 * MS);
    tiny_free(&t);
}

/* 100 B take 512 of a segment of 2 MiB; 1 MiB and a byte take 512 B more than 1 MiB of a segment of
 * 20 MiB: 22 MiB, where the peak is made, with 412 + 511 of rounding. 1 MiB - 1 then takes 1 MiB of
 * the first segment. */
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
    CHECK_INT(r.reserved_peak, 22 * MIB);
    CHECK_INT(r.reserved.rounding, 412 + 511);
    CHECK_INT(r.reserved.unused, 22 * MIB - MIB - 1024);
    uint64_t held = 0;
    for (uint32_t i = 0; i < r.reserved.n_holders; i++) {
        held += r.reserved.holders[i].bytes;
    }
    CHECK_INT(held, 22 * MIB);
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
    CHECK_INT(r.live.n_holders, OVL_HOLDERS_MAX + 1);
    CHECK_TEXT(r.live.holders[0].name, "b10");
    CHECK_TEXT(r.live.holders[7].name, "b3");
    CHECK_TEXT(r.live.holders[8].name, "2 others");
    CHECK(r.live.holders[8].category == NULL);
    CHECK_INT(r.live.holders[8].bytes, 3 * MIB);
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
    CHECK_TEXT(r.live.holders[1].name, "bucket 1");
    CHECK_TEXT(r.live.holders[2].name, "bucket 2");
    CHECK_TEXT(r.live.holders[7].name, "bucket 7");
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
    CHECK_TEXT(r.allocated.raised_by, "end");
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
        CHECK_INT(r.live.at, 1 * MS);
        CHECK_INT(ovl_buffers_end(&t.program, &t.timeline, 0), 4 * MS);
        tiny_free(&t);
    }
}

/* A (30 MiB, stream one) is used on stream two until 5 ms, freed before the host issues d at 3 (one
 * ms each): B on stream one takes new memory, for A's is still in use: 60 reserved, 60 active, 30
 * allocated. At 7 the GPU is through: C takes A's. Without record_stream B takes it at once. */
static void recorded_streams_hold_a_block(void)
{
    for (int recorded = 0; recorded < 2; recorded++) {
        tiny t;
        tiny_init(&t, 1);
        ovl_buffer a = {.name = ovl_name(&t.b, "A"),
                        .bytes = 30 * MIB,
                        .stream = ovl_add_stream(&t.b, t.code, "one"),
                        .record_stream = recorded};
        ovl_id id = ovl_add_buffer(&t.b, t.code, &a);
        tiny_kernel(&t, "one", "a", 1 * MS);
        tiny_writes(&t, id);
        tiny_kernel(&t, "two", "b", 5 * MS);
        tiny_reads(&t, id);
        tiny_host(&t, "host", 3 * MS);
        ovl_free_buffer(&t.b, t.code, id);
        ovl_id other = buffer(&t, "B", 30 * MIB, "one", false);
        tiny_kernel(&t, "one", "c", 1 * MS);
        tiny_writes(&t, other);
        tiny_host(&t, "host again", 4 * MS);
        buffer(&t, "C", 30 * MIB, "one", false);
        tiny_kernel(&t, "one", "d", 1 * MS);
        ovl_result_rank r = look(&t);
        CHECK_INT(r.allocated_peak, 60 * MIB);
        CHECK_INT(r.reserved_peak, 60 * MIB);
        CHECK_INT(r.active_peak, 60 * MIB);
        CHECK_INT(r.reserved.waiting, recorded ? 30 * MIB : 0);
        CHECK_INT(r.reserved.at, recorded ? 3 * MS : 7 * MS);
        CHECK_TEXT(r.reserved.raised_by, recorded ? "c" : "d");
        tiny_free(&t);
    }
}

/* 100 MiB of GPU. A (60, stream one) is freed; B (60, stream two) does not fit beside A's segment,
 * which goes back: one retry. C (50) fails: 60 are taken, 110 would be. */
static void a_full_gpu_retries_and_then_fails(void)
{
    tiny t;
    tiny_init(&t, 1);
    t.b.memory = 100 * MIB;
    ovl_id a = buffer(&t, "A", 60 * MIB, "one", false);
    tiny_kernel(&t, "one", "a", 1 * MS);
    tiny_writes(&t, a);
    ovl_free_buffer(&t.b, t.code, a);
    ovl_id b = buffer(&t, "B", 60 * MIB, "two", false);
    tiny_kernel(&t, "two", "b", 1 * MS);
    tiny_writes(&t, b);
    buffer(&t, "C", 50 * MIB, "one", false);
    tiny_kernel(&t, "one", "c", 1 * MS);
    ovl_result_rank r = look(&t);
    CHECK_INT(r.retries, 1);
    CHECK_INT(r.reserved_peak, 110 * MIB);
    CHECK_TEXT(r.failure.buffer, "C");
    CHECK_TEXT(r.failure.op, "c");
    CHECK_INT(r.failure.bytes, 50 * MIB);
    CHECK_INT(r.failure.reserved, 60 * MIB);
    tiny_free(&t);
}

/* A (10) is used until 2, B (20) from 1 on, P (100) is held: B's first use makes the peak, and A,
 * the largest that could go earlier, goes with the kernel that ends at 2. */
static void a_peak_says_what_would_have_to_change(void)
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
    ovl_result_rank r = look(&t);
    CHECK_TEXT(r.live.raised_buffer, "B");
    CHECK_TEXT(r.live.raised_by, "c");
    CHECK_TEXT(r.live.eased_buffer, "A");
    CHECK_TEXT(r.live.eased_by, "b");
    CHECK_INT(r.live.eased_at, 2 * MS);
    CHECK_INT(r.live.category[OVL_PARAMETER], 100 * MIB);
    CHECK_INT(r.live.category[OVL_ACTIVATION], 30 * MIB);
    tiny_free(&t);
}

/* A (10) is held from a on and used last by c, on the stream of b, whose result B (20) makes the
 * peak: c comes behind b, as a backward does that needs what the one before it made. S (5) is read
 * last by d, on a stream of its own, which needs nothing of b: S could go before. Without it
 * nothing could. */
static void what_depends_on_the_peak_cannot_come_before_it(void)
{
    for (uint32_t with = 0; with < 2; with++) {
        tiny t;
        tiny_init(&t, 1);
        ovl_id a = buffer(&t, "A", 10 * MIB, "compute", false);
        ovl_id b = buffer(&t, "B", 20 * MIB, "compute", false);
        ovl_id s = buffer(&t, "S", 5 * MIB, "compute", false);
        uint32_t first = tiny_kernel(&t, "compute", "a", 1 * MS);
        tiny_writes(&t, a);
        if (with) {
            tiny_writes(&t, s);
        }
        tiny_kernel(&t, "compute", "b", 1 * MS);
        tiny_writes(&t, b);
        tiny_kernel(&t, "compute", "c", 1 * MS);
        tiny_reads(&t, a);
        if (with) {
            tiny_kernel(&t, "side", "d", 4 * MS);
            tiny_after(&t, first);
            tiny_reads(&t, s);
        }
        ovl_result_rank r = look(&t);
        CHECK_TEXT(r.live.raised_buffer, "B");
        CHECK_TEXT(r.live.eased_buffer, with ? "S" : NULL);
        CHECK_TEXT(r.live.eased_by, with ? "d" : NULL);
        tiny_free(&t);
    }
}

/* The samples of the host: A 30, then B 10 beside it, then A gone: 30, 40, 10 allocated; 30 and 40
 * reserved, of which at the end 30 are free. */
typedef struct seen {
    uint32_t n;
    uint64_t allocated[4], free[4];
} seen;

static void see(void *context, const ovl_memory_sample *sample)
{
    seen *s = context;
    s->allocated[s->n] = sample->reserved[OVL_RESERVED_ALLOCATED];
    s->free[s->n++] = sample->reserved[OVL_RESERVED_FREE];
}

static void the_host_can_be_watched(void)
{
    tiny t;
    seen s = {0};
    tiny_init(&t, 1);
    ovl_id a = buffer(&t, "A", 30 * MIB, "one", false);
    tiny_host(&t, "h", 1 * MS);
    buffer(&t, "B", 10 * MIB, "two", false);
    tiny_host(&t, "i", 1 * MS);
    ovl_free_buffer(&t.b, t.code, a);
    tiny_kernel(&t, "one", "k", 1 * MS);
    CHECK(tiny_run(&t, OVL_INTERFERENCE_NONE));
    ovl_memory_replay(&t.program, &t.timeline, 0, see, &s);
    CHECK_INT(s.n, 3);
    CHECK_INT(s.allocated[0], 30 * MIB);
    CHECK_INT(s.allocated[1], 40 * MIB);
    CHECK_INT(s.allocated[2], 10 * MIB);
    CHECK_INT(s.free[1], 0);
    CHECK_INT(s.free[2], 30 * MIB);
    tiny_free(&t);
}

/* Two steps of "a" writes A (10), "b" reads A and writes B (20) on 1 ms each, B is kept: read by
 * the next "a". A holds data in [0, 2] and [2, 4], B from 1 to the end of the second b at 4: 30
 * at 1. If A were thought to live from its first write to its last read it would be the same; so
 * "c" of 3 ms between the steps, when A holds nothing: [0, 2], [5, 7]. */
static void what_a_step_writes_anew_is_not_kept(void)
{
    tiny t;
    tiny_init(&t, 1);
    ovl_id a = buffer(&t, "A", 10 * MIB, "compute", false);
    ovl_id b = buffer(&t, "B", 20 * MIB, "compute", false);
    for (uint32_t step = 0; step < 2; step++) {
        tiny_kernel(&t, "compute", "a", 1 * MS);
        tiny_writes(&t, a);
        if (step) {
            tiny_reads(&t, b);
        }
        tiny_kernel(&t, "compute", "b", 1 * MS);
        tiny_reads(&t, a);
        tiny_writes(&t, b);
        uint32_t last = tiny_kernel(&t, "compute", "c", 3 * MS);
        tiny_change(&t, last)->step_end = true;
    }
    ovl_result_rank r = look(&t);
    ovl_memory_lines(&t.program, &t.timeline, &t.arena, &r);
    CHECK_INT(r.live_peak, 30 * MIB);
    CHECK_INT(r.live.at, 1 * MS);
    const int at[] = {0, 1, 2, 5, 7}, live[] = {10, 30, 20, 30, 0};
    CHECK_INT(r.n_live_line, 5);
    for (uint32_t i = 0; i < 5 && i < r.n_live_line; i++) {
        CHECK_INT(r.live_line[i].at, at[i] * MS);
        CHECK_INT(r.live_line[i].live[OVL_ACTIVATION], live[i] * MIB);
    }
    CHECK_INT(r.n_host_line, 1);
    CHECK_INT(r.host_line[0].allocated[OVL_ACTIVATION], 30 * MIB);
    tiny_free(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"each rank has its own bytes", each_rank_has_its_own_bytes},
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
        {"recorded streams hold a block", recorded_streams_hold_a_block},
        {"a full GPU retries and then fails", a_full_gpu_retries_and_then_fails},
        {"a peak says what would have to change", a_peak_says_what_would_have_to_change},
        {"what depends on the peak cannot come before it",
         what_depends_on_the_peak_cannot_come_before_it},
        {"the host can be watched", the_host_can_be_watched},
        {"what a step writes anew is not kept", what_a_step_writes_anew_is_not_kept},
        CU_TEST_INFO_NULL,
    };
    return check_main("memory", tests);
}
