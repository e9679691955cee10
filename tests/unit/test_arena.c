#include "sim/vec.h"
#include "tests/support/check.h"

static void memory_is_zeroed_aligned_and_stays(void)
{
    ovl_arena a = {0};
    char *one = ovl_arena_alloc(&a, 1, 1);
    *one = 'x';
    double *d = OVL_NEW_ARRAY(&a, double, 3);
    CHECK_INT((uintptr_t)d % _Alignof(double), 0);
    CHECK(d[0] == 0 && d[2] == 0);
    char *line = ovl_arena_alloc(&a, 10, 64);
    CHECK_INT((uintptr_t)line % 64, 0);
    char *big = ovl_arena_alloc(&a, (size_t)3 << 20, 16);
    big[((size_t)3 << 20) - 1] = 1;
    CHECK_INT(*one, 'x');
    CHECK(a.used >= ((size_t)3 << 20) + 1 + 24 + 10);
    CHECK(a.held >= a.used);
    ovl_arena_free(&a);
    CHECK_INT(a.held, 0);
    CHECK(ovl_arena_alloc(&a, 8, 8) != NULL); /* empty and usable again */
    ovl_arena_free(&a);
}

static void texts_are_copied_and_printed(void)
{
    ovl_arena a = {0};
    char source[] = "abcdef";
    const char *part = ovl_arena_strndup(&a, source, 3);
    source[0] = 'z';
    CHECK_TEXT(part, "abc");
    CHECK_TEXT(ovl_arena_printf(&a, "%d of %s", 3, part), "3 of abc");
    ovl_arena_free(&a);
}

static void a_vector_grows_and_freezes(void)
{
    ovl_arena a = {0};
    OVL_VEC(int) v = {0};
    for (int i = 0; i < 1000; i++) {
        ovl_vec_push(&v, i * i);
    }
    CHECK_INT(v.len, 1000);
    int *frozen = ovl_vec_freeze(&v, &a);
    CHECK_INT(v.len, 0);
    CHECK_INT(frozen[999], 998001);
    ovl_arena_free(&a);
}

static CU_TestInfo tests[] = {
    {"memory is zeroed, aligned and stays where it is", memory_is_zeroed_aligned_and_stays},
    {"texts are copied and printed", texts_are_copied_and_printed},
    {"a vector grows and freezes", a_vector_grows_and_freezes},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("arena", tests);
}
