#include "sim/critical.h"
#include "tests/support/check.h"
#include "tests/support/random_program.h"
#include "tests/support/tiny.h"

#define MS OVL_MS

typedef struct look {
    ovl_causes causes;
    ovl_path path;
    const ovl_time *slack;
} look;

static void look_at(look *l, const ovl_program *p, const ovl_timeline *t, ovl_arena *arena)
{
    ovl_causes_init(&l->causes, p, t, arena);
    ovl_critical_path(&l->causes, NULL, arena, arena, &l->path);
    l->slack = ovl_slack(&l->causes, arena);
}

static void run(tiny *t, look *l, ovl_interference model)
{
    CHECK(tiny_run(t, model));
    look_at(l, &t->program, &t->timeline, &t->arena);
}

static void end(tiny *t, look *l)
{
    ovl_causes_free(&l->causes);
    tiny_free(t);
}

static void check_item(const look *l, uint32_t i, const char *op, const char *stream, uint32_t rank,
                       ovl_time start, ovl_time finish, const char *why)
{
    const ovl_result_path *item = &l->path.items[i];
    if (!CHECK(i < l->path.n)) {
        return;
    }
    CHECK_TEXT(item->op, op);
    CHECK_TEXT(item->stream, stream);
    CHECK_INT(item->rank, rank);
    CHECK_INT(item->start, start);
    CHECK_INT(item->end, finish);
    CHECK_TEXT(item->why, why);
}

/* Kernel [0, 25], all-reduce [25, 45]; a side kernel of 10 could end 35 later. */
static void serial_chain(void)
{
    tiny t;
    look l;
    tiny_init(&t, 2);
    uint32_t matmul = tiny_kernel(&t, "compute", "matmul", 25 * MS);
    uint32_t side = tiny_kernel(&t, "side", "side", 10 * MS);
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_after(&t, matmul);
    run(&t, &l, OVL_INTERFERENCE_NONE);
    CHECK_INT(l.path.n, 2);
    check_item(&l, 0, "matmul", "compute", 0, 0, 25 * MS, "start");
    check_item(&l, 1, "reduce", "comm", 0, 25 * MS, 45 * MS, "after: matmul");
    CHECK_INT(l.slack[matmul], 0);
    CHECK_INT(l.slack[side], 35 * MS);
    CHECK_INT(l.slack[reduce], 0);
    CHECK(l.path.on[reduce] && !l.path.on[side]);
    end(&t, &l);
}

/* Rank 1 comes 3 later: the path of rank 0 starts on rank 1; rank 0's kernel has 3 of slack. */
static void rendezvous_leads_to_the_late_rank(void)
{
    tiny t;
    look l;
    tiny_init(&t, 2);
    uint32_t early = tiny_kernel(&t, "compute", "early", 5 * MS);
    uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_after(&t, early);
    ovl_id other = tiny_code(&t);
    uint32_t late = tiny_kernel(&t, "compute", "late", 8 * MS);
    tiny_collective(&t, "comm", "reduce", 0, 20 * MS);
    tiny_after(&t, late);
    tiny_use(&t, 1, other);
    run(&t, &l, OVL_INTERFERENCE_NONE);
    CHECK_INT(t.timeline.deciding_rank, 0);
    CHECK_INT(l.path.n, 2);
    check_item(&l, 0, "late", "compute", 1, 0, 8 * MS, "start");
    check_item(&l, 1, "reduce", "comm", 0, 8 * MS, 28 * MS, "rendezvous: late on rank 1");
    CHECK_INT(l.slack[early], 3 * MS);
    CHECK(l.path.on[reduce] && l.path.on[t.program.ranks[1].first_op + reduce]);
    CHECK(!l.path.on[early]);
    end(&t, &l);
}

/* Three kernels of 1 ms behind launches of 2 ms each: the host is the path, 6 ms of it, then the
 * last kernel. The first may end at 7 on its own: stream order leaves it 1 + 1 + 1 before the step,
 * so 7 - 2 = 5 latest, slack 2. */
static void host_launches_are_merged(void)
{
    tiny t;
    look l;
    tiny_init(&t, 1);
    for (int i = 0; i < 3; i++) {
        ovl_cost cost = {.work = MS};
        ovl_op op = {.kind = OVL_KERNEL,
                     .comm = OVL_NO_COMM,
                     .batch = OVL_NONE,
                     .launch = 2 * MS,
                     .name = ovl_name(&t.b, "k"),
                     .cost = ovl_add_cost(&t.b, &cost, NULL, NULL, 0, NULL, 0)};
        op.stream = ovl_add_stream(&t.b, t.code, "compute");
        ovl_add_op(&t.b, t.code, &op);
    }
    run(&t, &l, OVL_INTERFERENCE_NONE);
    CHECK_INT(l.path.n, 2);
    check_item(&l, 0, "host issues 3 operations", "host", 0, 0, 6 * MS, "start");
    check_item(&l, 1, "k", "compute", 0, 6 * MS, 7 * MS, "host");
    CHECK_INT(l.slack[0], 2 * MS);
    CHECK_INT(l.slack[2], 0);
    end(&t, &l);
}

/* The host waits for a (5 ms), works 2 ms, then issues b: a, sync, b are the path. */
static void host_call_blocks(void)
{
    tiny t;
    look l;
    tiny_init(&t, 1);
    uint32_t a = tiny_kernel(&t, "one", "a", 5 * MS);
    tiny_host(&t, "sync", 2 * MS);
    tiny_after(&t, a);
    tiny_kernel(&t, "two", "b", 1 * MS);
    run(&t, &l, OVL_INTERFERENCE_NONE);
    CHECK_INT(l.path.n, 3);
    check_item(&l, 0, "a", "one", 0, 0, 5 * MS, "start");
    check_item(&l, 1, "sync", "host", 0, 5 * MS, 7 * MS, "after: a");
    check_item(&l, 2, "b", "two", 0, 7 * MS, 8 * MS, "host");
    end(&t, &l);
}

/* The receiver is there at 0; the sender at 4, its bytes travel 3 ms: [4, 7] on the wire. */
static void eager_transfer_is_on_the_wire(void)
{
    tiny t;
    look l;
    tiny_init(&t, 2);
    tiny_recv(&t, "comm", "get", 1, 3 * MS, true);
    ovl_id other = tiny_code(&t);
    uint32_t before = tiny_kernel(&t, "compute", "make", 4 * MS);
    tiny_send(&t, "comm", "put", 0, 3 * MS, true);
    tiny_after(&t, before);
    tiny_kernel(&t, "comm", "more", 1 * MS);
    tiny_use(&t, 1, other);
    run(&t, &l, OVL_INTERFERENCE_NONE);
    CHECK_INT(t.timeline.step, 7 * MS);
    CHECK_INT(l.path.n, 2);
    check_item(&l, 0, "make", "compute", 1, 0, 4 * MS, "start");
    check_item(&l, 1, "put", "wire", 1, 4 * MS, 7 * MS, "after: make");
    uint32_t first = t.program.ranks[1].first_op;
    CHECK_INT(l.slack[first + 2], 2 * MS); /* more: ends at 5 */
    CHECK(l.path.on[0]);                   /* get */
    end(&t, &l);
}

/* Two of 3 ms at 0: the second waits on the wire until 3 and is there at 6. Its send may come 3
 * ms later, but its bytes may not. */
static void bytes_wait_for_those_before_them(void)
{
    tiny t;
    look l;
    tiny_init(&t, 2);
    tiny_send(&t, "comm", "a", 1, 3 * MS, true);
    tiny_send(&t, "comm", "b", 1, 3 * MS, true);
    ovl_id other = tiny_code(&t);
    tiny_recv(&t, "comm", "get a", 0, 3 * MS, true);
    tiny_recv(&t, "comm", "get b", 0, 3 * MS, true);
    tiny_use(&t, 1, other);
    run(&t, &l, OVL_INTERFERENCE_NONE);
    CHECK_INT(t.timeline.step, 6 * MS);
    CHECK_INT(l.path.n, 2);
    check_item(&l, 0, "a", "wire", 0, 0, 3 * MS, "start");
    check_item(&l, 1, "b", "wire", 0, 3 * MS, 6 * MS, "wire: after a");
    CHECK_INT(l.slack[0], 0);
    CHECK_INT(l.slack[1], 0);
    end(&t, &l);
}

/* One copy engine: the second copy of 4 starts when the first ended, then a kernel of 1. */
static void copies_queue_for_an_engine(void)
{
    tiny t;
    look l;
    tiny_init(&t, 1);
    t.b.copy_engines[0] = 1;
    tiny_copy(&t, "one", "out 1", 4 * MS);
    uint32_t second = tiny_copy(&t, "two", "out 2", 4 * MS);
    tiny_kernel(&t, "three", "use", 1 * MS);
    tiny_after(&t, second);
    run(&t, &l, OVL_INTERFERENCE_NONE);
    CHECK_INT(l.path.n, 3);
    check_item(&l, 0, "out 1", "one", 0, 0, 4 * MS, "start");
    check_item(&l, 1, "out 2", "two", 0, 4 * MS, 8 * MS, "copy engine: after out 1");
    check_item(&l, 2, "use", "three", 0, 8 * MS, 9 * MS, "after: out 2");
    end(&t, &l);
}

/* Ties: b waits for its stream and for an `after`, both at 5: the stream is named. */
static void ties_go_to_the_stream(void)
{
    tiny t;
    look l;
    tiny_init(&t, 1);
    uint32_t other = tiny_kernel(&t, "side", "other", 5 * MS);
    tiny_kernel(&t, "compute", "a", 5 * MS);
    tiny_kernel(&t, "compute", "b", 1 * MS);
    tiny_after(&t, other);
    run(&t, &l, OVL_INTERFERENCE_NONE);
    check_item(&l, 1, "b", "compute", 0, 5 * MS, 6 * MS, "stream: after a");
    end(&t, &l);
}

/* --- Any program --- */

static ovl_timeline run_program(const ovl_program *p, ovl_interference model, ovl_arena *arena)
{
    ovl_timeline t = {0};
    ovl_errs errs = {.arena = arena};
    ovl_run_options options = {.interference = model};
    CHECK(ovl_run(p, &options, arena, &t, &errs));
    return t;
}

static void path_is_whole(const look *l, const ovl_timeline *t)
{
    ovl_time at = 0;
    for (uint32_t i = 0; i < l->path.n; i++) {
        CHECK_INT(l->path.items[i].start, at);
        CHECK(l->path.items[i].end > l->path.items[i].start);
        CHECK(l->path.items[i].why != NULL);
        at = l->path.items[i].end;
    }
    CHECK_INT(at, t->step);
}

static void paths_sum_and_have_no_slack(void)
{
    for (uint64_t seed = 0; seed < 150; seed++) {
        ovl_arena arena = {0};
        random_options options = {
            .seed = seed, .n_ranks = 2 + 2 * (seed % 4), .n_actions = 120, .prefix = ""};
        ovl_program p = random_program(&options, &arena);
        ovl_timeline t = run_program(&p, (ovl_interference)(seed % 3), &arena);
        look l;
        look_at(&l, &p, &t, &arena);
        path_is_whole(&l, &t);
        bool no_slack = true, none_negative = true;
        for (uint32_t op = 0; op < p.n_ops; op++) {
            no_slack &= !l.path.on[op] || l.slack[op] == 0;
            none_negative &= l.slack[op] >= 0;
        }
        CHECK(no_slack);
        CHECK(none_negative);
        ovl_causes_free(&l.causes);
        ovl_arena_free(&arena);
    }
}

/* Slack means what it says: longer by the slack leaves the step, longer by a picosecond more moves
 * it by one. Without sharing and without copy engines, so that nothing else changes. */
static void slack_is_exact(void)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        ovl_arena arena = {0};
        random_options options = {.seed = seed, .n_ranks = 4, .n_actions = 80, .prefix = ""};
        ovl_program p = random_program(&options, &arena);
        p.copy_engines[0] = p.copy_engines[1] = 0;
        ovl_timeline t = run_program(&p, OVL_INTERFERENCE_NONE, &arena);
        look l;
        look_at(&l, &p, &t, &arena);
        for (uint32_t op = seed % 7; op < p.n_ops; op += 7) {
            const ovl_op *o = ovl_causes_op(&l.causes, op);
            bool timed = o->kind == OVL_KERNEL || o->kind == OVL_COPY || o->kind == OVL_COLLECTIVE;
            if (!timed) {
                continue;
            }
            ovl_cost *costs = OVL_NEW_ARRAY(&arena, ovl_cost, p.n_costs);
            memcpy(costs, p.costs, p.n_costs * sizeof *costs);
            ovl_program longer = p;
            longer.costs = costs;
            costs[o->cost].work += l.slack[op];
            CHECK_INT(run_program(&longer, OVL_INTERFERENCE_NONE, &arena).step, t.step);
            costs[o->cost].work += 1;
            CHECK_INT(run_program(&longer, OVL_INTERFERENCE_NONE, &arena).step, t.step + 1);
        }
        ovl_causes_free(&l.causes);
        ovl_arena_free(&arena);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a serial chain is the path, the side has slack", serial_chain},
        {"a rendezvous leads to the late rank", rendezvous_leads_to_the_late_rank},
        {"launches in a row are one item", host_launches_are_merged},
        {"a host call blocks what is issued later", host_call_blocks},
        {"an eager transfer is on the wire", eager_transfer_is_on_the_wire},
        {"bytes wait for those before them", bytes_wait_for_those_before_them},
        {"copies queue for a copy engine", copies_queue_for_an_engine},
        {"ties go to the stream", ties_go_to_the_stream},
        {"any path sums to the step and has no slack", paths_sum_and_have_no_slack},
        {"slack is exact to the picosecond", slack_is_exact},
        CU_TEST_INFO_NULL,
    };
    return check_main("critical", tests);
}
