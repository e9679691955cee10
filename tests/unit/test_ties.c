#include "sim/ties.h"

#include "tests/support/check.h"
#include "tests/support/random_program.h"
#include "tests/support/tiny.h"

/* A kernel and a transfer that waits for it, as often as asked for. */
static void add_layers(tiny *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t kernel = tiny_kernel(t, "compute", "k", 1);
        tiny_copy(t, "copies", "t", 1);
        tiny_after(t, kernel);
    }
}

/* The example of ties.h. Of 2,000 operations the first and the last of each stream have nobody on
 * one side: 2 x 3 ties. Their lists: none; what a transfer is after, and whose end it waits for
 * besides that of the one before it (-1, -2); that of a kernel (-2); who waits for a kernel (1, 2)
 * or the last one (1), and for a transfer (2). In words, each with its length before it: 1 + 2 + 3
 * + 2 + 3 + 2 + 2 = 15. Ten times as many layers add nothing. */
static void ties_are_stored_once(void)
{
    for (uint32_t n = 1000; n <= 10000; n *= 10) {
        tiny t;
        tiny_init(&t, 1);
        add_layers(&t, n);
        CHECK(tiny_freeze(&t));
        CHECK_INT(t.program.n_ties, 6);
        CHECK_INT(t.program.n_offsets, 15);
        const ovl_code *code = &t.program.codes[0];
        CHECK_INT(ovl_code_stream_prev(code, 7), 5);
        CHECK_INT(ovl_code_after(code, 7).n, 1);
        CHECK_INT(7 + ovl_code_after(code, 7).by[0], 6);
        CHECK_INT(ovl_code_next(code, 6).n, 2);
        CHECK_INT(ovl_code_next(code, 6).by[0], 1);
        CHECK_INT(ovl_code_next(code, 6).by[1], 2);
        CHECK_INT(ovl_code_ties(code, 7)->waits, 3);
        CHECK_INT(code->tied[7], code->tied[2 * n - 3]);
        tiny_free(&t);
    }
}

/* Two codes in which the same waits for the same: what is stored is what one of them needs. */
static void codes_share_their_ties(void)
{
    tiny t;
    tiny_init(&t, 2);
    add_layers(&t, 50);
    tiny_use(&t, 1, tiny_code(&t));
    add_layers(&t, 70);
    CHECK(tiny_freeze(&t));
    CHECK_INT(t.program.n_ties, 6);
    CHECK_INT(t.program.codes[1].tied[99], t.program.codes[0].tied[49]);
    tiny_free(&t);
}

/* Bytes of a program of so many microbatches. */
static size_t bytes_of(uint32_t microbatches)
{
    tiny t;
    tiny_init(&t, 1);
    ovl_op op = {.kind = OVL_KERNEL,
                 .name = ovl_name(&t.b, "k"),
                 .comm = OVL_NO_COMM,
                 .batch = OVL_NONE,
                 .cost = ovl_add_cost(&t.b, &(ovl_cost){.work = 7}, NULL, NULL, 0, NULL, 0)};
    uint16_t streams[] = {ovl_add_stream(&t.b, t.code, "a"), ovl_add_stream(&t.b, t.code, "b")};
    for (uint32_t i = 0; i < 2 * microbatches; i++) {
        op.stream = streams[i % 2];
        ovl_add_op(&t.b, t.code, &op);
        ovl_set_microbatch(&t.b, t.code, i / 2);
        if (i % 2) {
            ovl_add_after(&t.b, t.code, i - 1);
        }
    }
    CHECK(tiny_freeze(&t));
    size_t bytes = t.arena.used;
    tiny_free(&t);
    return bytes;
}

/* A repeat says which operation it is, its ties, its name and its microbatch: 4 bytes each. 4 more
 * are of the list that all codes share in which nothing is. 1,024 microbatches more are 2,048
 * operations more: 40,960 bytes, and less than a line of the cache of gaps. Two lists of what each
 * waits for, and who for it, would be as many again. */
static void a_repeat_takes_twenty_bytes(void)
{
    size_t more = bytes_of(2048) - bytes_of(1024);
    CHECK(more >= 2048 * 20 && more < 2048 * 20 + 64);
}

/* --- Against what is looked up one by one --- */

#define OPS 120

/* What was asked for: the stream of each operation, and what it is after. */
typedef struct asked {
    uint32_t stream[OPS], n_after[OPS], after[OPS][6];
} asked;

static void add_random(tiny *t, uint64_t *r, asked *a)
{
    static const char *const streams[] = {"a", "b", "c"};
    for (uint32_t i = 0; i < OVL_COUNT(streams); i++) {
        ovl_add_stream(&t->b, t->code, streams[i]);
    }
    for (uint32_t i = 0; i < OPS; i++) {
        a->stream[i] = random_next(r) % 3;
        a->n_after[i] = 0;
        tiny_kernel(t, streams[a->stream[i]], "k", 1);
        for (uint32_t k = random_next(r) % 6; k > 0 && i > 0; k--) {
            uint32_t before = random_next(r) % i;
            a->after[i][a->n_after[i]++] = before;
            tiny_after(t, before);
        }
    }
}

/* Whether the end of `before` is waited for, and the arrival. */
static bool ends_before(const asked *a, uint32_t i, uint32_t before)
{
    bool is = a->stream[i] == a->stream[before];
    for (uint32_t k = before + 1; k < i && is; k++) {
        is = a->stream[k] != a->stream[i];
    }
    for (uint32_t k = 0; k < a->n_after[i]; k++) {
        is |= a->after[i][k] == before;
    }
    return is;
}

static bool queues_behind(const asked *a, uint32_t i, uint32_t before)
{
    bool is = a->stream[i] % 2 == a->stream[before] % 2;
    for (uint32_t k = before + 1; k < i && is; k++) {
        is = a->stream[k] % 2 != a->stream[i] % 2;
    }
    return is;
}

static void check_op(const ovl_code *code, const asked *a, uint32_t i)
{
    uint32_t waits = 1, n = 0, queued = 0;
    for (uint32_t before = 0; before < i; before++) {
        waits += ends_before(a, i, before) + queues_behind(a, i, before);
    }
    CHECK_INT(ovl_code_ties(code, i)->waits, waits);
    ovl_offsets after = ovl_code_after(code, i), next = ovl_code_next(code, i);
    CHECK_INT(after.n, a->n_after[i]);
    for (uint32_t k = 0; k < after.n; k++) {
        CHECK_INT(i + after.by[k], a->after[i][k]);
    }
    for (uint32_t behind = i + 1; behind < OPS; behind++) {
        if (ends_before(a, behind, i)) {
            CHECK(n < next.n && i + next.by[n] == behind);
            n++;
        }
        queued = queues_behind(a, behind, i) ? behind - i : queued;
    }
    CHECK_INT(next.n, n);
    CHECK_INT(ovl_code_ties(code, i)->queue_next, queued);
}

static void ties_are_those_that_were_asked_for(void)
{
    uint64_t r = 5;
    asked a;
    for (uint32_t trial = 0; trial < 20; trial++) {
        tiny t;
        tiny_init(&t, 1);
        t.b.hw_queues = 2;
        add_random(&t, &r, &a);
        CHECK(tiny_freeze(&t));
        CHECK(t.program.codes[0].queued);
        for (uint32_t i = 0; i < OPS; i++) {
            check_op(&t.program.codes[0], &a, i);
        }
        tiny_free(&t);
    }
}

static CU_TestInfo tests[] = {
    {"ties are stored once", ties_are_stored_once},
    {"codes share their ties", codes_share_their_ties},
    {"a repeat takes twenty bytes", a_repeat_takes_twenty_bytes},
    {"ties are those that were asked for", ties_are_those_that_were_asked_for},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("ties", tests);
}
