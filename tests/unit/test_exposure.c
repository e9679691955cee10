#include "sim/exposure.h"
#include "tests/support/check.h"
#include "tests/support/tiny.h"

#define MS OVL_MS

static ovl_dependencies look(tiny *t)
{
    ovl_dependencies rows = {0};
    ovl_feeds *feeds = OVL_NEW_ARRAY(&t->arena, ovl_feeds, 4);
    CHECK(tiny_run(t, OVL_INTERFERENCE_NONE));
    for (uint32_t c = 0; c < t->program.n_codes; c++) {
        ovl_feeds_find(&t->program, &t->program.codes[c], &t->arena, &feeds[c]);
    }
    ovl_dependencies_find(&t->program, &t->timeline, feeds, 0, &rows);
    ovl_conditions again = ovl_conditions_begin(&t->program, &t->timeline, feeds, &t->arena);
    for (uint32_t i = 0; i < rows.len; i++) {
        const ovl_dependency *row = &rows.data[i];
        CHECK_INT(row->u_path, ovl_u_path(&again, 0, row->local, row->consumer));
    }
    return rows;
}

static void end(tiny *t, ovl_dependencies *rows)
{
    ovl_vec_free(rows);
    tiny_free(t);
}

/* a [0, 10], reduce [10, 30], b [10, 16], use [30, 32]: the input is ready at 10; use could start
 * at 16. */
static void an_after_edge_makes_a_consumer(void)
{
    tiny t;
    tiny_init(&t, 2);
    uint32_t a = tiny_kernel(&t, "compute", "a", 10 * MS);
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_after(&t, a);
    tiny_kernel(&t, "compute", "b", 6 * MS);
    uint32_t use = tiny_kernel(&t, "compute", "use", 2 * MS);
    tiny_after(&t, reduce);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.len, 1);
    CHECK_INT(rows.data[0].local, reduce);
    CHECK_INT(rows.data[0].consumer, use);
    CHECK_INT(rows.data[0].ready, 10 * MS);
    CHECK_INT(rows.data[0].u_path, 16 * MS);
    end(&t, &rows);
}

/* The kernel behind it on its own stream is no consumer; the reader of its buffer is, though it has
 * no `after` edge. Its input is what was written before, at 10. */
static void a_read_makes_a_consumer_and_a_successor_does_not(void)
{
    tiny t;
    tiny_init(&t, 2);
    ovl_id x = tiny_buffer(&t, "x", 8);
    tiny_kernel(&t, "comm", "a", 10 * MS);
    tiny_writes(&t, x);
    tiny_kernel(&t, "comm", "between", 1 * MS);
    tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_reads(&t, x);
    tiny_writes(&t, x);
    tiny_kernel(&t, "comm", "next", 1 * MS);
    uint32_t use = tiny_kernel(&t, "comm", "use", 1 * MS);
    tiny_reads(&t, x);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.data[0].consumer, use);
    CHECK_INT(rows.data[0].ready, 10 * MS);
    CHECK_INT(rows.data[0].u_path, 32 * MS); /* next ends: 11 + 20 + 1 */
    end(&t, &rows);
}

/* A marker joins reduce and b for use: use is the consumer, and could start at 16. One that nobody
 * waits for is itself the consumer. */
static void markers_pass_on_what_they_join(void)
{
    tiny t;
    tiny_init(&t, 2);
    uint32_t a = tiny_kernel(&t, "compute", "a", 10 * MS);
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_after(&t, a);
    uint32_t b = tiny_kernel(&t, "compute", "b", 6 * MS);
    uint32_t join = tiny_marker(&t, "join", "join");
    tiny_after(&t, reduce);
    tiny_after(&t, b);
    uint32_t use = tiny_kernel(&t, "compute", "use", 2 * MS);
    tiny_after(&t, join);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.data[0].consumer, use);
    CHECK_INT(rows.data[0].u_path, 16 * MS);
    end(&t, &rows);

    tiny_init(&t, 2);
    reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    b = tiny_kernel(&t, "compute", "b", 6 * MS);
    join = tiny_marker(&t, "join", "join");
    tiny_after(&t, reduce);
    tiny_after(&t, b);
    rows = look(&t);
    CHECK_INT(rows.data[0].consumer, join);
    CHECK_INT(rows.data[0].u_path, 6 * MS);
    end(&t, &rows);
}

/* All on one stream: a [0, 10], reduce [10, 30], use. Without reduce, use could start once a is
 * through, which is what reduce works on: exposed are its own 20. */
static void a_consumer_needs_the_input_of_its_communication(void)
{
    tiny t;
    tiny_init(&t, 2);
    uint32_t a = tiny_kernel(&t, "compute", "a", 10 * MS);
    uint32_t reduce = tiny_collective(&t, "compute", "reduce", 0, 20 * MS);
    tiny_after(&t, a);
    uint32_t use = tiny_kernel(&t, "compute", "use", 1 * MS);
    tiny_after(&t, reduce);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.data[0].consumer, use);
    CHECK_INT(rows.data[0].ready, 10 * MS);
    CHECK_INT(rows.data[0].u_path, 10 * MS);
    end(&t, &rows);
}

/* a [0, 10], reduce [10, 30] and add [30, 33] on comm, b [10, 16], use [33, 34] waits for add: use
 * is the consumer and could start at 16. On the stream of a and b, which has the most kernel time,
 * add would be work like any other, and itself the consumer, at 16. */
static void a_kernel_behind_communication_finishes_it(void)
{
    tiny t;
    tiny_init(&t, 2);
    uint32_t a = tiny_kernel(&t, "compute", "a", 10 * MS);
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_after(&t, a);
    uint32_t add = tiny_kernel(&t, "comm", "add", 3 * MS);
    tiny_after(&t, reduce);
    tiny_kernel(&t, "compute", "b", 6 * MS);
    uint32_t use = tiny_kernel(&t, "compute", "use", 1 * MS);
    tiny_after(&t, add);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.data[0].consumer, use);
    CHECK_INT(rows.data[0].u_path, 16 * MS);
    end(&t, &rows);

    tiny_init(&t, 2);
    a = tiny_kernel(&t, "compute", "a", 10 * MS);
    reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_after(&t, a);
    tiny_kernel(&t, "compute", "b", 6 * MS);
    add = tiny_kernel(&t, "compute", "add", 3 * MS);
    tiny_after(&t, reduce);
    tiny_kernel(&t, "comm", "use", 1 * MS);
    tiny_after(&t, add);
    rows = look(&t);
    CHECK_INT(rows.data[0].consumer, add);
    CHECK_INT(rows.data[0].u_path, 16 * MS);
    end(&t, &rows);
}

/* After somebody else wrote the buffer, readers read that. */
static void an_overwritten_buffer_feeds_nobody(void)
{
    tiny t;
    tiny_init(&t, 2);
    ovl_id x = tiny_buffer(&t, "x", 8);
    tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_writes(&t, x);
    tiny_kernel(&t, "comm", "overwrite", 1 * MS);
    tiny_writes(&t, x);
    tiny_kernel(&t, "comm", "use", 1 * MS);
    tiny_reads(&t, x);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.data[0].consumer, OVL_NONE);
    CHECK_INT(rows.data[0].u_path, 22 * MS);
    end(&t, &rows);
}

/* Two collectives feed one optimizer: neither counts for the other, so both could start it at 7. */
static void communication_of_one_consumer_is_left_out(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_kernel(&t, "compute", "k", 7 * MS);
    uint32_t one = tiny_collective(&t, "comm", "one", 0, 20 * MS);
    uint32_t two = tiny_collective(&t, "comm", "two", 0, 5 * MS);
    tiny_kernel(&t, "compute", "optimizer", 2 * MS);
    tiny_after(&t, one);
    tiny_after(&t, two);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.len, 2);
    CHECK_INT(rows.data[0].u_path, 7 * MS);
    CHECK_INT(rows.data[1].u_path, 7 * MS);
    end(&t, &rows);
}

/* An all-gather after a reduce-scatter, both on one stream: nothing else holds the gather back. */
static void communication_may_be_a_consumer(void)
{
    tiny t;
    tiny_init(&t, 2);
    uint32_t scatter = tiny_collective(&t, "comm", "scatter", 0, 20 * MS);
    uint32_t gather = tiny_collective(&t, "comm", "gather", 0, 5 * MS);
    tiny_after(&t, scatter);
    tiny_kernel(&t, "compute", "k", 4 * MS);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.data[0].consumer, gather);
    CHECK_INT(rows.data[0].u_path, 0);
    CHECK_INT(rows.data[1].ready, 20 * MS);
    CHECK_INT(rows.data[1].consumer, OVL_NONE);
    CHECK_INT(rows.data[1].u_path, 20 * MS); /* exposed are its own 5 */
    end(&t, &rows);
}

/* Of two consumers the one that starts first counts: b (on its own stream at 20), not a (at 30). */
static void the_earliest_consumer_counts(void)
{
    tiny t;
    tiny_init(&t, 2);
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_kernel(&t, "compute", "long", 30 * MS);
    tiny_kernel(&t, "compute", "a", 1 * MS);
    tiny_after(&t, reduce);
    uint32_t b = tiny_kernel(&t, "side", "b", 1 * MS);
    tiny_after(&t, reduce);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.data[0].consumer, b);
    CHECK_INT(rows.data[0].u_path, 0);
    end(&t, &rows);
}

/* Without edges or reads the input is what came before on the stream; a host sync is a consumer. */
static void a_host_sync_consumes(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_kernel(&t, "comm", "k", 3 * MS);
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    uint32_t sync = tiny_host(&t, "sync", 1 * MS);
    tiny_after(&t, reduce);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.data[0].ready, 3 * MS);
    CHECK_INT(rows.data[0].consumer, sync);
    CHECK_INT(rows.data[0].u_path, 3 * MS); /* exposed are the 20 of reduce, not 23 */
    end(&t, &rows);
}

/* k [0, 3], then one [3, 23] and two [23, 28] on its stream: what two works on is there at 3, and
 * it queues for 20. */
static void behind_communication_it_queues(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_kernel(&t, "comm", "k", 3 * MS);
    tiny_collective(&t, "comm", "one", 0, 20 * MS);
    tiny_collective(&t, "comm", "two", 0, 5 * MS);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.len, 2);
    CHECK_INT(rows.data[1].ready, 3 * MS);
    CHECK_INT(rows.data[1].u_path, 3 * MS);
    end(&t, &rows);
}

/* The same name in a second step is another occurrence. */
static void namesakes_are_counted(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_collective(&t, "comm", "x", 0, MS);
    tiny_collective(&t, "comm", "y", 0, MS);
    tiny_collective(&t, "comm", "x", 0, MS);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.data[0].occurrence, 0);
    CHECK_INT(rows.data[1].occurrence, 0);
    CHECK_INT(rows.data[2].occurrence, 1);
    end(&t, &rows);
}

/* A batch of a send and a receive; the kernel after the batch consumes the receive. Its batch is
 * left out like any other communication of the same consumer: k could start at 2. */
static void a_batch_stands_for_its_parts(void)
{
    tiny t;
    tiny_init(&t, 2);
    ovl_id cost = ovl_add_cost(&t.b, &(ovl_cost){.work = 6 * MS}, NULL, NULL, 0, NULL, 0);
    ovl_op op = {.kind = OVL_BATCH,
                 .stream = ovl_add_stream(&t.b, t.code, "comm"),
                 .name = ovl_name(&t.b, "exchange"),
                 .cost = cost,
                 .batch = OVL_NONE};
    uint32_t batch = ovl_add_op(&t.b, t.code, &op);
    op.stream = OVL_NO_STREAM;
    op.batch = batch;
    op.peer_relative = true;
    op.peer = 1;
    op.bytes = 8;
    op.kind = OVL_SEND;
    ovl_add_op(&t.b, t.code, &op);
    op.kind = OVL_RECV;
    uint32_t recv = ovl_add_op(&t.b, t.code, &op);
    tiny_kernel(&t, "compute", "before", 2 * MS);
    uint32_t use = tiny_kernel(&t, "compute", "use", 1 * MS);
    tiny_after(&t, batch);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.len, 1);
    CHECK_INT(rows.data[0].local, recv);
    CHECK_INT(rows.data[0].consumer, use);
    CHECK_INT(rows.data[0].u_path, 2 * MS);
    CHECK_INT(t.timeline.step, 7 * MS);
    end(&t, &rows);
}

/* Each of 64 markers waits for both markers of the level before: 2^64 ways down to a [0, 10]. The
 * consumer of reduce [0, 20] could start when they have all passed, at 10. */
static void markers_that_fork_and_join_are_looked_at_once(void)
{
    tiny t;
    tiny_init(&t, 2);
    uint32_t left = tiny_kernel(&t, "compute", "a", 10 * MS);
    uint32_t right = left;
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    for (int level = 0; level < 64; level++) {
        uint32_t l = tiny_marker(&t, "left", "left");
        tiny_after(&t, left);
        tiny_after(&t, right);
        uint32_t r = tiny_marker(&t, "right", "right");
        tiny_after(&t, left);
        tiny_after(&t, right);
        left = l;
        right = r;
    }
    uint32_t use = tiny_kernel(&t, "other", "use", 1 * MS);
    tiny_after(&t, reduce);
    tiny_after(&t, left);
    tiny_after(&t, right);
    ovl_dependencies rows = look(&t);
    CHECK_INT(rows.len, 1);
    CHECK_INT(rows.data[0].consumer, use);
    CHECK_INT(rows.data[0].u_path, 10 * MS);
    end(&t, &rows);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"an `after` edge makes a consumer", an_after_edge_makes_a_consumer},
        {"a read makes a consumer, the next on the stream is none",
         a_read_makes_a_consumer_and_a_successor_does_not},
        {"an overwritten buffer feeds nobody", an_overwritten_buffer_feeds_nobody},
        {"communication with the same consumer is left out",
         communication_of_one_consumer_is_left_out},
        {"communication may be a consumer", communication_may_be_a_consumer},
        {"the earliest consumer counts", the_earliest_consumer_counts},
        {"a host sync is a consumer", a_host_sync_consumes},
        {"behind communication it queues", behind_communication_it_queues},
        {"namesakes are counted", namesakes_are_counted},
        {"a batch stands for its parts", a_batch_stands_for_its_parts},
        {"a consumer needs the input of its communication",
         a_consumer_needs_the_input_of_its_communication},
        {"a kernel behind communication finishes it", a_kernel_behind_communication_finishes_it},
        {"markers pass on what they join", markers_pass_on_what_they_join},
        {"markers that fork and join are looked at once",
         markers_that_fork_and_join_are_looked_at_once},
        CU_TEST_INFO_NULL,
    };
    return check_main("exposure", tests);
}
