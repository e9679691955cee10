#include "sim/names.h"
#include "tests/support/check.h"

static void each_text_has_one_number(void)
{
    ovl_arena a = {0};
    ovl_names names = {.arena = &a};
    CHECK_INT(ovl_names_find(&names, "x"), OVL_NONE);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 500; i++) {
            CHECK_INT(ovl_names_add(&names, ovl_arena_printf(&a, "name %" PRIu32, i)), i);
        }
    }
    CHECK_INT(names.count, 500);
    CHECK_TEXT(ovl_names_text(&names, 37), "name 37");
    CHECK_INT(ovl_names_find(&names, "name 499"), 499);
    ovl_arena_free(&a);
}

/* Numbers near those before them, in any order, far ones, long ones and such with zeros before
 * them: each text has its own number, which is found again when all are there. */
static void texts_that_end_with_a_number_are_told_apart(void)
{
    static const char *const texts[] = {"7",
                                        "07",
                                        "007",
                                        "0",
                                        "00",
                                        "a",
                                        "a7",
                                        "a07",
                                        "a7b",
                                        "b900000000",
                                        "b900000001",
                                        "b1",
                                        "b0",
                                        "b15",
                                        "b40",
                                        "c12345678901234567890",
                                        "c2345678901234567890",
                                        "c",
                                        "",
                                        "b40 ",
                                        "b 4",
                                        "d4000000000",
                                        "d400000000",
                                        "d0",
                                        "d1",
                                        "d2",
                                        "d20",
                                        "d21",
                                        "d60"};
    ovl_arena a = {0};
    ovl_names names = {.arena = &a};
    for (uint32_t i = 0; i < OVL_COUNT(texts); i++) {
        CHECK_INT(ovl_names_find(&names, texts[i]), OVL_NONE);
        CHECK_INT(ovl_names_add(&names, texts[i]), i);
    }
    for (uint32_t i = 0; i < 2000; i++) { /* among them those above */
        ovl_names_add(&names, ovl_arena_printf(&a, "b%" PRIu32, 1999 - i));
        ovl_names_add(&names, ovl_arena_printf(&a, "d%" PRIu32, i));
    }
    for (uint32_t i = 0; i < OVL_COUNT(texts); i++) {
        CHECK_INT(ovl_names_add(&names, texts[i]), i);
        CHECK_TEXT(ovl_names_text(&names, i), texts[i]);
    }
    for (uint32_t i = 0; i < names.count; i++) {
        CHECK_INT(ovl_names_find(&names, ovl_names_text(&names, i)), i);
    }
    CHECK_INT(names.count,
              OVL_COUNT(texts) + 2 * 2000 - 10); /* b1, 0, 15, 40; d0, 1, 2, 20, 21, 60 */
    ovl_arena_free(&a);
}

/* bukets -> buckets: one insertion. sped -> speed one, spend one: the first wins. xyz is near
 * nothing. */
static void the_nearest_name_is_a_likely_slip(void)
{
    static const char *const keys[] = {"buckets", "bucket_cap", "speed", "spend", "dp"};
    CHECK_TEXT(ovl_nearest("bukets", keys, OVL_COUNT(keys)), "buckets");
    CHECK_TEXT(ovl_nearest("bucekts", keys, OVL_COUNT(keys)), "buckets");
    CHECK_TEXT(ovl_nearest("sped", keys, OVL_COUNT(keys)), "speed");
    CHECK_TEXT(ovl_nearest("pd", keys, OVL_COUNT(keys)), "dp");
    CHECK(ovl_nearest("xyz", keys, OVL_COUNT(keys)) == NULL);
    CHECK(ovl_nearest("forward_prefetch_depth", keys, OVL_COUNT(keys)) == NULL);
    CHECK(ovl_nearest("", NULL, 0) == NULL);
}

/* 2 before 10; 07 is 7, then the longer text goes first; what is no number goes by its bytes. */
static void names_are_ordered_as_one_counts(void)
{
    CHECK(ovl_names_order("bucket 2", "bucket 10") < 0);
    CHECK(ovl_names_order("b10", "b9") > 0);
    CHECK(ovl_names_order("a[9].x", "a[10].b") < 0);
    CHECK(ovl_names_order("a", "a1") < 0);
    CHECK(ovl_names_order("a1", "b0") < 0);
    CHECK(ovl_names_order("l07", "l7") < 0);
    CHECK(ovl_names_order("l07b", "l7a") > 0);
    CHECK(ovl_names_order("99999999999999999999999", "100000000000000000000000") < 0);
    CHECK_INT(ovl_names_order("bucket 3", "bucket 3"), 0);
}

static CU_TestInfo tests[] = {
    {"names are ordered as one counts", names_are_ordered_as_one_counts},
    {"each text has one number", each_text_has_one_number},
    {"texts that end with a number are told apart", texts_that_end_with_a_number_are_told_apart},
    {"the nearest name is a likely slip", the_nearest_name_is_a_likely_slip},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("names", tests);
}
