#include "sim/names.h"
#include "tests/support/check.h"

#include <string.h>

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

/* A text is what its name was made of, and names are the same and have the same numbers as in a
 * table that keeps its texts. */
static void check_like(const ovl_names *made, const ovl_names *kept)
{
    CHECK_INT(made->count, kept->count);
    for (uint32_t i = 0; i < kept->count; i++) {
        CHECK_TEXT(OVL_NAME(made, i), ovl_names_text(kept, i));
        CHECK_INT(ovl_names_find(made, ovl_names_text(kept, i)), i);
    }
}

static uint32_t draw(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % n;
}

/* Stems that end with digits or zeros, are empty, or too long to be made; numbers in order, far
 * ones and such that are too long. */
static void a_name_is_the_same_however_it_is_added(void)
{
    static const char *const stems[] = {
        "F",
        "12SEND_F",
        "",
        "0",
        "a0",
        "a1",
        "x 1 ",
        "late",
        ("a stem that is longer than the room for a name of which stem and number are all that is "
         "kept ")};
    ovl_arena a = {0};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        ovl_names made = {.arena = &a, .made = true}, kept = {.arena = &a};
        uint64_t state = seed;
        uint32_t next[OVL_COUNT(stems)] = {0};
        for (uint32_t i = 0; i < 2000; i++) {
            uint32_t s = draw(&state, OVL_COUNT(stems)), how = draw(&state, 50), n = next[s]++;
            n = how == 0 ? draw(&state, UINT32_MAX) : how < 5 ? draw(&state, 3000) : n;
            const char *text = ovl_arena_printf(&a, "%s%" PRIu32, stems[s], n);
            ovl_id want = ovl_names_add(&kept, text);
            bool as_text = draw(&state, 2);
            CHECK_INT(as_text ? ovl_names_add(&made, text)
                              : ovl_names_add_number(&made, stems[s], strlen(stems[s]), n),
                      want);
        }
        check_like(&made, &kept);
        CHECK_INT(ovl_names_find(&made, "F9999999"), ovl_names_find(&kept, "F9999999"));
        CHECK_INT(ovl_names_find(&made, "late"), OVL_NONE);
    }
    ovl_arena_free(&a);
}

/* Two names a round, as a loop over microbatches has them: 4 bytes for each of them, and little for
 * every 128 of a stem. */
static void what_repeats_takes_few_bytes(void)
{
    ovl_arena a = {0};
    ovl_names names = {.arena = &a, .made = true};
    for (uint32_t i = 0; i < 100000; i++) {
        CHECK_INT(ovl_names_add_number(&names, "F", 1, i), 2 * i);
        CHECK_INT(ovl_names_add_number(&names, "B", 1, i), 2 * i + 1);
    }
    CHECK_TEXT(OVL_NAME(&names, 2 * 4711 + 1), "B4711");
    CHECK_INT(ovl_names_find(&names, "F99999"), 2 * 99999);
    CHECK_INT(ovl_names_find(&names, "F100000"), OVL_NONE);
    CHECK(a.used < 5 * 200000);
    ovl_arena_free(&a);
}

/* The table may grow; a copy is the caller's. */
static void texts_that_are_asked_for_again_are_copied_once(void)
{
    ovl_arena a = {0}, scratch = {0};
    ovl_names names = {.arena = &a, .made = true};
    ovl_id f = ovl_names_add(&names, "F17"), late = ovl_names_add(&names, "late");
    ovl_name_texts texts = ovl_name_texts_begin(&names, &a, &scratch);
    const char *text = ovl_name_texts_of(&texts, f);
    CHECK_TEXT(ovl_name_texts_of(&texts, late), "late");
    CHECK(ovl_name_texts_of(&texts, f) == text);
    CHECK_TEXT(text, "F17");
    CHECK_TEXT(ovl_names_copy(&names, f, &a), "F17");
    ovl_arena_free(&scratch);
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
    {"a name is the same however it is added", a_name_is_the_same_however_it_is_added},
    {"what repeats takes few bytes", what_repeats_takes_few_bytes},
    {"texts that are asked for again are copied once",
     texts_that_are_asked_for_again_are_copied_once},
    {"the nearest name is a likely slip", the_nearest_name_is_a_likely_slip},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("names", tests);
}
