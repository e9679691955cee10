#include "sim/classes.h"
#include "tests/support/check.h"
#include "tests/support/tiny.h"

#define MS OVL_MS

static ovl_classes look(tiny *t)
{
    ovl_classes c = {0};
    CHECK(tiny_run(t, OVL_INTERFERENCE_NONE));
    ovl_classes_find(&t->program, &t->timeline, &t->arena, &c);
    return c;
}

static void ranks_that_do_the_same_are_one_class(void)
{
    tiny t;
    tiny_init(&t, 8);
    tiny_kernel(&t, "compute", "k", 5 * MS);
    tiny_collective(&t, "comm", "r", 0, 2 * MS);
    ovl_classes c = look(&t);
    CHECK_INT(c.n, 1);
    CHECK_INT(c.rank[0], 0);
    CHECK_INT(c.count[0], 8);
    for (uint32_t r = 0; r < 8; r++) {
        CHECK_INT(c.class_of[r], 0);
    }
    tiny_free(&t);
}

/* Kernels of 5 ms, but 7 on rank 3: its all-reduce arrives at 7 and not at 5. The classes are in
 * order of their lowest rank. */
static void a_slower_rank_is_a_class_of_its_own(void)
{
    tiny t;
    tiny_init(&t, 8);
    for (int code = 0; code < 2; code++) {
        if (code) {
            tiny_use(&t, 3, tiny_code(&t));
        }
        uint32_t k = tiny_kernel(&t, "compute", "k", (code ? 7 : 5) * MS);
        tiny_collective(&t, "comm", "r", 0, 2 * MS);
        tiny_after(&t, k);
    }
    ovl_classes c = look(&t);
    CHECK_INT(c.n, 2);
    CHECK_INT(c.rank[0], 0);
    CHECK_INT(c.count[0], 7);
    CHECK_INT(c.rank[1], 3);
    CHECK_INT(c.count[1], 1);
    CHECK_INT(c.class_of[2], 0);
    CHECK_INT(c.class_of[3], 1);
    CHECK_INT(c.class_of[4], 0);
    tiny_free(&t);
}

/* Two codes that take the same times are two classes: their operations have other names. */
static void another_code_is_another_class(void)
{
    tiny t;
    tiny_init(&t, 2);
    tiny_kernel(&t, "compute", "one", 5 * MS);
    tiny_use(&t, 1, tiny_code(&t));
    tiny_kernel(&t, "compute", "two", 5 * MS);
    ovl_classes c = look(&t);
    CHECK_INT(c.n, 2);
    CHECK_INT(c.class_of[1], 1);
    tiny_free(&t);
}

/* n ranks of one code in communicators of these names and sizes; all their times are equal. */
static ovl_classes grouped(tiny *t, const char *const *names, const uint32_t *sizes, uint32_t n)
{
    tiny_init(t, n);
    tiny_collective(t, "comm", "r", 0, 2 * MS);
    ovl_classes c = {0};
    for (uint32_t rank = 0, i = 0; rank < n; rank += sizes[i++]) {
        uint32_t members[8];
        for (uint32_t k = 0; k < sizes[i]; k++) {
            members[k] = rank + k;
        }
        ovl_id comm = ovl_add_comm(&t->b, ovl_name(&t->b, names[i]), members, sizes[i]);
        ovl_id port = OVL_NONE;
        for (uint32_t k = 0; k < sizes[i]; k++) {
            ovl_add_rank(&t->b, 0, rank + k, &comm, &port);
        }
    }
    t->frozen = true;
    CHECK(ovl_freeze(&t->b, &t->program, &t->errs));
    c = look(t);
    return c;
}

static void groups_of_another_name_or_size_are_another_class(void)
{
    tiny t;
    ovl_classes c = grouped(&t, (const char *const[]){"dp", "dp"}, (uint32_t[]){2, 2}, 4);
    CHECK_INT(c.n, 1);
    CHECK_INT(c.count[0], 4);
    tiny_free(&t);
    c = grouped(&t, (const char *const[]){"dp", "dp"}, (uint32_t[]){2, 3}, 5);
    CHECK_INT(c.n, 2);
    CHECK_INT(c.rank[1], 2);
    CHECK_INT(c.count[1], 3);
    tiny_free(&t);
    c = grouped(&t, (const char *const[]){"dp", "tp"}, (uint32_t[]){2, 2}, 4);
    CHECK_INT(c.n, 2);
    CHECK_INT(c.count[1], 2);
    tiny_free(&t);
}

/* By the definition: the same code, and the same four times of every operation. */
static bool plain_same(const ovl_program *p, const ovl_timeline *t, uint32_t a, uint32_t b)
{
    const ovl_rank *x = &p->ranks[a], *y = &p->ranks[b];
    const ovl_time *const times[] = {t->issue, t->arrive, t->start, t->end};
    bool same = x->code == y->code;
    for (uint32_t i = 0; same && i < p->codes[x->code].n_ops; i++) {
        for (uint32_t k = 0; k < 4; k++) {
            same &= times[k][x->first_op + i] == times[k][y->first_op + i];
        }
    }
    return same;
}

/* 60 ranks of 6 codes, of which two and two take the same times. Enough ranks for the table of
 * hashes to be crowded. */
static void many_ranks_agree_with_the_definition(void)
{
    tiny t;
    tiny_init(&t, 60);
    for (uint32_t code = 0; code < 6; code++) {
        if (code) {
            tiny_code(&t);
        }
        for (uint32_t rank = code; rank < 60; rank += 6) {
            tiny_use(&t, rank, code);
        }
        tiny_kernel(&t, "compute", "k", (code / 2 + 1) * MS);
        tiny_collective(&t, "comm", "r", 0, 2 * MS);
    }
    ovl_classes c = look(&t);
    uint32_t counted = 0;
    CHECK_INT(c.n, 6);
    for (uint32_t i = 0; i < c.n; i++) {
        CHECK_INT(c.class_of[c.rank[i]], i);
        CHECK(i == 0 || c.rank[i - 1] < c.rank[i]);
        counted += c.count[i];
    }
    CHECK_INT(counted, 60);
    for (uint32_t a = 0; a < 60; a++) {
        for (uint32_t b = 0; b < a; b++) {
            CHECK_INT(c.class_of[a] == c.class_of[b], plain_same(&t.program, &t.timeline, a, b));
        }
    }
    tiny_free(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"ranks that do the same are one class", ranks_that_do_the_same_are_one_class},
        {"a slower rank is a class of its own", a_slower_rank_is_a_class_of_its_own},
        {"another code is another class", another_code_is_another_class},
        {"groups of another name or size are another class",
         groups_of_another_name_or_size_are_another_class},
        {"many ranks agree with the definition", many_ranks_agree_with_the_definition},
        CU_TEST_INFO_NULL,
    };
    return check_main("classes", tests);
}
