#include "sim/hazard.h"
#include "tests/support/check.h"
#include "tests/support/random_program.h"
#include "tests/support/tiny.h"

#define MS OVL_MS

typedef struct found {
    ovl_hazards list;
    ovl_races_checked checked;
} found;

static found look(tiny *t)
{
    found f = {0};
    ovl_causes causes;
    CHECK(tiny_run(t, OVL_INTERFERENCE_NONE));
    ovl_causes_init(&causes, &t->program, &t->timeline, &t->arena);
    ovl_races_find(&causes, &t->arena, &f.list, &f.checked);
    ovl_causes_free(&causes);
    return f;
}

static void end(tiny *t, found *f)
{
    ovl_vec_free(&f->list);
    tiny_free(t);
}

/* The kernel writes, the all-reduce is after it and reads and writes, the optimizer reads. */
static found reduce_and_use(tiny *t, bool wait)
{
    tiny_init(t, 4);
    ovl_id bucket = tiny_buffer(t, "bucket 1", 1024);
    uint32_t k = tiny_kernel(t, "compute", "backward", 5 * MS);
    tiny_writes(t, bucket);
    uint32_t reduce = tiny_collective(t, "comm", "reduce 1", 0, 2 * MS);
    tiny_after(t, k);
    tiny_reads(t, bucket);
    tiny_writes(t, bucket);
    tiny_kernel(t, "compute", "long", 9 * MS); /* it is over by then, but nothing makes it so */
    tiny_kernel(t, "compute", "optimizer", 1 * MS);
    tiny_reads(t, bucket);
    if (wait) {
        tiny_after(t, reduce);
    }
    return look(t);
}

static void a_missing_wait_is_a_race(void)
{
    tiny t;
    found f = reduce_and_use(&t, false);
    CHECK_INT(f.list.len, 1);
    CHECK_TEXT(f.list.data[0].kind, "race");
    CHECK_TEXT(f.list.data[0].text,
               "\"optimizer\" reads buffer \"bucket 1\" without waiting for \"reduce 1\" "
               "(all_reduce) that writes it, on rank 0; add after: [reduce 1]");
    CHECK_INT(f.list.data[0].count, 4);
    end(&t, &f);
}

/* Per rank: backward-reduce (as reader and as writer are one), reduce-optimizer, and
 * backward-optimizer: 3 pairs on 4 ranks. */
static void a_wait_is_none(void)
{
    tiny t;
    found f = reduce_and_use(&t, true);
    CHECK_INT(f.list.len, 0);
    CHECK_INT(f.checked.accesses, 12);
    end(&t, &f);
}

static void reading_together_is_fine(void)
{
    tiny t;
    tiny_init(&t, 1);
    ovl_id x = tiny_buffer(&t, "x", 8);
    tiny_kernel(&t, "one", "a", 5 * MS);
    tiny_reads(&t, x);
    tiny_kernel(&t, "two", "b", 5 * MS);
    tiny_reads(&t, x);
    found f = look(&t);
    CHECK_INT(f.list.len, 0);
    CHECK_INT(f.checked.accesses, 0);
    end(&t, &f);
}

/* The buffer is filled anew while the reduction may still read it. */
static void early_reuse_is_a_race(void)
{
    tiny t;
    tiny_init(&t, 2);
    ovl_id bucket = tiny_buffer(&t, "bucket", 1024);
    uint32_t k = tiny_kernel(&t, "compute", "fill", 5 * MS);
    tiny_writes(&t, bucket);
    tiny_collective(&t, "comm", "scatter", 0, 2 * MS);
    tiny_after(&t, k);
    tiny_reads(&t, bucket);
    tiny_kernel(&t, "compute", "refill", 5 * MS);
    tiny_writes(&t, bucket);
    found f = look(&t);
    CHECK_INT(f.list.len, 1);
    CHECK_HAS(f.list.data[0].text,
              "\"refill\" writes buffer \"bucket\" without waiting for \"scatter\"");
    CHECK_HAS(f.list.data[0].text, "that reads it");
    end(&t, &f);
}

/* A host that waited for the reduction issues everything later behind it. */
static void a_host_sync_orders_what_is_issued_later(void)
{
    for (int sync = 0; sync < 2; sync++) {
        tiny t;
        tiny_init(&t, 2);
        ovl_id bucket = tiny_buffer(&t, "bucket", 1024);
        uint32_t reduce = tiny_collective(&t, "comm", "reduce", 0, 2 * MS);
        tiny_writes(&t, bucket);
        tiny_host(&t, "wait", 0);
        if (sync) {
            tiny_after(&t, reduce);
        }
        tiny_kernel(&t, "compute", "use", 1 * MS);
        tiny_reads(&t, bucket);
        found f = look(&t);
        CHECK_INT(f.list.len, sync ? 0 : 1);
        end(&t, &f);
    }
}

/* The communicator runs one collective at a time, whatever the stream. */
static void a_communicator_orders_its_collectives(void)
{
    tiny t;
    tiny_init(&t, 2);
    ovl_id x = tiny_buffer(&t, "x", 1024);
    tiny_collective(&t, "one", "first", 0, 2 * MS);
    tiny_writes(&t, x);
    tiny_collective(&t, "two", "second", 0, 2 * MS);
    tiny_reads(&t, x);
    found f = look(&t);
    CHECK_INT(f.list.len, 0);
    end(&t, &f);
}

/* Rank 0 sends x away on one stream and gets the answer into x on another. If rank 1 answers only
 * after it has the message, the answer may overwrite x; nothing on rank 0 alone says so. Two
 * communicators, so that ping and pong do not queue behind one another. */
static found answer_through_another_rank(tiny *t, bool after)
{
    *t = (tiny){.n_ranks = 2};
    t->errs.arena = &t->arena;
    ovl_builder_init(&t->b, &t->arena);
    t->kind.klass = OVL_NONE;
    for (uint32_t code = 0; code < 2; code++) {
        tiny_code(t);
        ovl_add_slot(&t->b, code);
        ovl_id cost = ovl_add_cost(&t->b, &(ovl_cost){.work = MS}, NULL, NULL, 0, NULL, 0);
        ovl_id x = tiny_buffer(t, "x", 1024);
        for (uint16_t slot = 0; slot < 2; slot++) {
            bool send = slot == code;
            ovl_op op = {.kind = send ? OVL_SEND : OVL_RECV,
                         .stream = ovl_add_stream(&t->b, code, slot ? "pong" : "ping"),
                         .comm = slot,
                         .name = ovl_name(&t->b, slot ? "pong" : "ping"),
                         .cost = cost,
                         .batch = OVL_NONE,
                         .peer = (int32_t)(1 - code),
                         .bytes = 1024};
            ovl_add_op(&t->b, code, &op);
            if (code == 1 && slot == 1 && after) {
                tiny_after(t, 0);
            }
            if (code == 0) {
                ovl_add_access(&t->b, code, x, !send);
            }
        }
    }
    uint32_t both[] = {0, 1};
    ovl_id comms[2] = {ovl_add_comm(&t->b, ovl_name(&t->b, "p"), both, 2),
                       ovl_add_comm(&t->b, ovl_name(&t->b, "q"), both, 2)};
    ovl_id port = OVL_NONE;
    ovl_add_rank(&t->b, 0, 0, comms, &port);
    ovl_add_rank(&t->b, 1, 0, comms, &port);
    t->frozen = true;
    CHECK(ovl_freeze(&t->b, &t->program, &t->errs));
    return look(t);
}

static void another_rank_may_order_two_accesses(void)
{
    tiny t;
    found f = answer_through_another_rank(&t, true);
    CHECK_INT(f.list.len, 0);
    CHECK_INT(f.checked.accesses, 1);
    end(&t, &f);
    f = answer_through_another_rank(&t, false);
    CHECK_INT(f.list.len, 1);
    CHECK_HAS(f.list.data[0].text,
              "\"pong\" writes buffer \"x\" without waiting for \"ping\" (send)");
    end(&t, &f);
}

/* write -> barrier -> read, on three streams. */
static void a_collective_in_between_orders(void)
{
    tiny t;
    tiny_init(&t, 2);
    ovl_id x = tiny_buffer(&t, "x", 1024);
    uint32_t k = tiny_kernel(&t, "compute", "write", 1 * MS);
    tiny_writes(&t, x);
    uint32_t sync = tiny_collective(&t, "comm", "barrier", 0, 1 * MS);
    tiny_after(&t, k);
    tiny_kernel(&t, "side", "read", 1 * MS);
    tiny_after(&t, sync);
    tiny_reads(&t, x);
    found f = look(&t);
    CHECK_INT(f.list.len, 0);
    end(&t, &f);
}

/* --- Against a plain definition --- */

/* Longest-path search without clocks: is `before` an ancestor of `later` on one rank or through
 * others? */
static bool reaches(ovl_causes *c, uint64_t node, uint64_t goal, uint8_t *seen)
{
    uint8_t bit = (uint8_t)(1u << OVL_TRAIL_KIND(node));
    if (node == goal) {
        return true;
    }
    if (seen[OVL_TRAIL_OP(node)] & bit) {
        return false;
    }
    seen[OVL_TRAIL_OP(node)] |= bit;
    ovl_causes_of(c, node);
    OVL_VEC(ovl_cause) list = {0};
    for (uint32_t i = 0; i < c->list.len; i++) {
        ovl_vec_push(&list, c->list.data[i]);
    }
    bool there = false;
    const ovl_op *op = ovl_causes_op(c, OVL_TRAIL_OP(node));
    if (op->kind == OVL_RECV && OVL_TRAIL_KIND(node) == OVL_ENDED) {
        uint32_t send = c->program->partner[OVL_TRAIL_OP(node)];
        ovl_vec_push(&list, (ovl_cause){OVL_TRAIL(send, OVL_ENDED), 0, OVL_WHY_OWN});
    }
    for (uint32_t i = 0; i < list.len && !there; i++) {
        there = list.data[i].why != OVL_WHY_QUEUE && list.data[i].why != OVL_WHY_ENGINE &&
                reaches(c, list.data[i].node, goal, seen);
    }
    ovl_vec_free(&list);
    return there;
}

static bool plain_behind(ovl_causes *c, uint32_t before, uint32_t later)
{
    uint8_t *seen = calloc(1, c->program->n_ops);
    uint64_t goal = OVL_TRAIL(before, OVL_ENDED);
    bool good = reaches(c, OVL_TRAIL(later, OVL_ARRIVED), goal, seen);
    if (!good && ovl_causes_op(c, later)->kind == OVL_RECV) {
        good = reaches(c, OVL_TRAIL(c->program->partner[later], OVL_ARRIVED), goal, seen);
    }
    free(seen);
    return good;
}

static bool plain_ordered(ovl_causes *c, uint32_t a, uint32_t b)
{
    return plain_behind(c, a, b) || plain_behind(c, b, a);
}

static bool conflict(const ovl_code *code, uint32_t a, uint32_t b)
{
    for (uint32_t i = code->access.at[a]; i < code->access.at[a + 1]; i++) {
        for (uint32_t j = code->access.at[b]; j < code->access.at[b + 1]; j++) {
            const ovl_access *x = &code->access.item[i], *y = &code->access.item[j];
            if (x->buffer == y->buffer && (x->write || y->write)) {
                return true;
            }
        }
    }
    return false;
}

/* Codes and ranks are one to one in random programs. */
static bool plain_race(ovl_causes *c, uint32_t rank)
{
    const ovl_code *code = &c->program->codes[c->program->ranks[rank].code];
    uint32_t first = c->program->ranks[rank].first_op;
    for (uint32_t b = 0; b < code->n_ops; b++) {
        for (uint32_t a = 0; a < b; a++) {
            if (conflict(code, a, b) && !plain_ordered(c, first + a, first + b)) {
                return true;
            }
        }
    }
    return false;
}

/* --- Memory that is used again --- */

/* A buffer of `bytes` from the pool of a stream. */
static ovl_id pooled(tiny *t, const char *name, const char *stream, uint64_t bytes, bool recorded)
{
    return ovl_add_buffer(&t->b, t->code,
                          &(ovl_buffer){.name = ovl_name(&t->b, name),
                                        .bytes = bytes,
                                        .stream = ovl_add_stream(&t->b, t->code, stream),
                                        .record_stream = recorded});
}

typedef struct handover {
    bool waits;      /* the gather waits for the reader */
    bool recorded;   /* record_stream */
    uint64_t second; /* bytes of the buffer that follows */
} handover;

/* Buffer a of 1024 bytes is read by a forward; it is freed, and b gathered, on another stream. */
static found hand_over(tiny *t, handover h)
{
    tiny_init(t, 2);
    ovl_id a = pooled(t, "a", "gather", 1024, h.recorded);
    uint32_t first = tiny_collective(t, "gather", "gather a", 0, MS);
    tiny_writes(t, a);
    uint32_t reader = tiny_kernel(t, "compute", "forward a", 5 * MS);
    tiny_after(t, first);
    tiny_reads(t, a);
    ovl_free_buffer(&t->b, t->code, a);
    ovl_id b = pooled(t, "b", "gather", h.second, false);
    tiny_collective(t, "gather", "gather b", 0, MS);
    tiny_writes(t, b);
    if (h.waits) {
        tiny_after(t, reader);
    }
    return look(t);
}

/* Ranks 0 to 2 are one class; rank 3 alone frees too early, and is class 1: it is rank 3 that is
 * told of, whether ranks are folded or not. */
static void who_frees_too_early_is_told_where_ranks_are_folded(void)
{
    tiny t;
    tiny_init(&t, 4);
    tiny_kernel(&t, "compute", "k", MS);
    tiny_use(&t, 3, tiny_code(&t));
    ovl_id a = pooled(&t, "a", "gather", 1024, false);
    tiny_kernel(&t, "compute", "forward a", 5 * MS);
    tiny_reads(&t, a);
    ovl_free_buffer(&t.b, t.code, a);
    ovl_id b = pooled(&t, "b", "gather", 1024, false);
    tiny_kernel(&t, "gather", "gather b", MS);
    tiny_writes(&t, b);
    CHECK(tiny_freeze(&t));
    for (int no_fold = 0; no_fold < 2; no_fold++) {
        ovl_analyse_options options = {.no_fold = no_fold, .worth = OVL_WORTH_NONE};
        ovl_result r;
        CHECK(ovl_analyse(&t.program, &options, &t.arena, &r, NULL, &t.errs));
        if (CHECK_INT(r.n_hazards, 1)) {
            CHECK_TEXT(r.hazards[0].kind, "early_free");
            CHECK_INT(r.hazards[0].rank, 3);
            CHECK_HAS(r.hazards[0].text, "that reads that, on rank 3;");
        }
    }
    tiny_free(&t);
}

static void memory_is_handed_over_after_the_last_use(void)
{
    tiny t;
    found f = hand_over(&t, (handover){.second = 512});
    CHECK_INT(f.list.len, 1);
    CHECK_TEXT(f.list.data[0].kind, "early_free");
    CHECK_TEXT(
        f.list.data[0].text,
        "\"gather b\" uses buffer \"b\", which gets the memory of \"a\", without waiting for "
        "\"forward a\" (kernel) that reads that, on rank 0; wait for it before freeing \"a\"");
    CHECK_INT(f.checked.reuses, 2); /* on two ranks */
    end(&t, &f);
    f = hand_over(&t, (handover){.second = 512, .waits = true});
    CHECK_INT(f.list.len, 0);
    CHECK_INT(f.checked.reuses, 2);
    end(&t, &f);
}

/* With record_stream the allocator waits; what does not fit comes from elsewhere. */
static void memory_that_is_not_handed_over_is_safe(void)
{
    tiny t;
    found f = hand_over(&t, (handover){.second = 512, .recorded = true});
    CHECK_INT(f.list.len, 0);
    CHECK_INT(f.checked.reuses, 0);
    end(&t, &f);
    f = hand_over(&t, (handover){.second = 2048});
    CHECK_INT(f.list.len, 0);
    end(&t, &f);
}

/* Two buffers share what one left: the second part is as unsafe as the first. */
static void parts_of_freed_memory_are_looked_at(void)
{
    tiny t;
    tiny_init(&t, 1);
    ovl_id a = pooled(&t, "a", "gather", 1024, false);
    tiny_kernel(&t, "compute", "forward a", 5 * MS);
    tiny_reads(&t, a);
    ovl_free_buffer(&t.b, t.code, a);
    ovl_id b = pooled(&t, "b", "gather", 512, false), c = pooled(&t, "c", "gather", 512, false);
    tiny_kernel(&t, "gather", "fill", MS);
    tiny_writes(&t, b);
    tiny_writes(&t, c);
    found f = look(&t);
    CHECK_INT(f.list.len, 2);
    end(&t, &f);
}

/* A rank has a race by the plain definition if and only if one is reported. */
static void agrees_with_a_plain_search(void)
{
    uint32_t racy = 0, clean = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        ovl_arena arena = {0};
        random_options options = {.seed = seed, .n_ranks = 2, .n_actions = 14, .prefix = ""};
        ovl_program p = random_program(&options, &arena);
        ovl_timeline t;
        ovl_errs errs = {.arena = &arena};
        ovl_run_options run = {.interference = OVL_INTERFERENCE_NONE};
        CHECK(ovl_run(&p, &run, &arena, &t, &errs));
        ovl_causes causes;
        ovl_causes_init(&causes, &p, &t, &arena);
        found f = {0};
        ovl_races_find(&causes, &arena, &f.list, &f.checked);
        for (uint32_t rank = 0; rank < p.n_ranks; rank++) {
            bool reported = false, race = plain_race(&causes, rank);
            for (uint32_t i = 0; i < f.list.len; i++) {
                const ovl_result_hazard *h = &f.list.data[i];
                reported |= h->rank == rank && strcmp(h->kind, "race") == 0;
            }
            CHECK_INT(reported, race);
            racy += race;
            clean += !race;
        }
        ovl_vec_free(&f.list);
        ovl_causes_free(&causes);
        ovl_arena_free(&arena);
    }
    CHECK(racy > 10);
    CHECK(clean > 10);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"memory is handed over after the last use", memory_is_handed_over_after_the_last_use},
        {"who frees too early is told where ranks are folded",
         who_frees_too_early_is_told_where_ranks_are_folded},
        {"memory that is not handed over is safe", memory_that_is_not_handed_over_is_safe},
        {"parts of freed memory are looked at", parts_of_freed_memory_are_looked_at},
        {"a missing wait is a race", a_missing_wait_is_a_race},
        {"with the wait there is none", a_wait_is_none},
        {"two readers do not conflict", reading_together_is_fine},
        {"a buffer re-used too early is a race", early_reuse_is_a_race},
        {"a host sync orders what is issued later", a_host_sync_orders_what_is_issued_later},
        {"a communicator orders its collectives", a_communicator_orders_its_collectives},
        {"another rank may order two accesses", another_rank_may_order_two_accesses},
        {"a collective orders what is before and after it", a_collective_in_between_orders},
        {"agrees with a plain search on random programs", agrees_with_a_plain_search},
        CU_TEST_INFO_NULL,
    };
    return check_main("hazard", tests);
}
