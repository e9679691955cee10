#include "sim/err.h"
#include "tests/support/check.h"

static void errors_keep_their_place_and_are_said_once(void)
{
    ovl_arena a = {0};
    ovl_errs errs = {.arena = &a};
    CHECK_INT(ovl_errs_status(&errs), 0);
    for (int i = 0; i < 2; i++) {
        ovl_error(&errs, OVL_E_INPUT, (ovl_mark){"a.yaml", 3, 7}, "no %s", "good");
    }
    CHECK_INT(errs.count, 1);
    CHECK_TEXT(ovl_err_text(&a, &errs.items[0]), "a.yaml:3:7: error: no good");
    ovl_warning(&errs, (ovl_mark){"a.yaml", 0, 0}, "odd");
    CHECK_TEXT(ovl_err_text(&a, &errs.items[1]), "a.yaml: warning: odd");
    CHECK_INT(errs.errors, 2); /* told twice, kept once: both that told it failed */
    ovl_error(&errs, OVL_E_STUCK, (ovl_mark){0}, "stuck");
    CHECK_TEXT(ovl_err_text(&a, &errs.items[2]), "error: stuck");
    ovl_arena_free(&a);
}

static void the_lowest_code_is_the_exit_status(void)
{
    ovl_arena a = {0};
    ovl_errs errs = {.arena = &a};
    ovl_warning(&errs, (ovl_mark){0}, "only a remark");
    CHECK_INT(ovl_errs_status(&errs), 0);
    ovl_error(&errs, OVL_E_STUCK, (ovl_mark){0}, "stuck");
    CHECK_INT(ovl_errs_status(&errs), 4);
    ovl_error(&errs, OVL_E_INPUT, (ovl_mark){0}, "wrong");
    CHECK_INT(ovl_errs_status(&errs), 3);
    ovl_arena_free(&a);
}

static void they_sort_by_place_and_are_bounded(void)
{
    ovl_arena a = {0};
    ovl_errs errs = {.arena = &a};
    ovl_error(&errs, OVL_E_INPUT, (ovl_mark){0}, "last");
    for (uint32_t i = 300; i > 0; i--) {
        ovl_error(&errs, OVL_E_INPUT, (ovl_mark){"f", i, 1}, "x");
    }
    CHECK_INT(errs.count, OVL_ERRS_MAX);
    CHECK_INT(errs.dropped, 301 - OVL_ERRS_MAX);
    ovl_errs_sort(&errs);
    CHECK_INT(errs.items[0].mark.line, 102);
    CHECK_TEXT(errs.items[OVL_ERRS_MAX - 1].text, "last");
    ovl_arena_free(&a);
}

static CU_TestInfo tests[] = {
    {"errors keep their place and are said once", errors_keep_their_place_and_are_said_once},
    {"the lowest code is the exit status", the_lowest_code_is_the_exit_status},
    {"they sort by place and are bounded", they_sort_by_place_and_are_bounded},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("err", tests);
}
