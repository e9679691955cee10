#include "sim/spans.h"
#include "tests/support/check.h"

static ovl_spans of(const ovl_span *items, uint32_t n)
{
    ovl_spans s = {0};
    for (uint32_t i = 0; i < n; i++) {
        ovl_spans_add(&s, items[i].start, items[i].end);
    }
    return s;
}

/* [0, 5) and [10, 30): 5 + 20. */
static void overlaps_count_once(void)
{
    ovl_spans s = of((ovl_span[]){{10, 20}, {0, 5}, {15, 30}}, 3);
    CHECK_INT(ovl_spans_measure(&s), 25);
    CHECK_INT(s.items.len, 2);
    ovl_spans_free(&s);
}

static void touching_intervals_are_one(void)
{
    ovl_spans s = of((ovl_span[]){{5, 10}, {0, 5}, {10, 12}}, 3);
    CHECK_INT(ovl_spans_measure(&s), 12);
    CHECK_INT(s.items.len, 1);
    ovl_spans_free(&s);
}

static void nothing_has_no_length(void)
{
    ovl_spans s = {0};
    ovl_spans_add(&s, 7, 7);
    ovl_spans_add(&s, 9, 8);
    CHECK_INT(ovl_spans_measure(&s), 0);
    CHECK_INT(ovl_spans_within(&s, 0, 100), 0);
    CHECK_INT(s.items.len, 0);
    ovl_spans_free(&s);
}

/* a = [0, 10) + [20, 30), b = [5, 25): common [5, 10) and [20, 25). */
static void common_is_what_is_in_both(void)
{
    ovl_spans a = of((ovl_span[]){{20, 30}, {0, 10}}, 2), b = of((ovl_span[]){{5, 25}}, 1);
    CHECK_INT(ovl_spans_common(&a, &b), 10);
    CHECK_INT(ovl_spans_common(&b, &a), 10);
    CHECK_INT(ovl_spans_common(&a, &a), 20);
    ovl_spans_free(&a);
    ovl_spans_free(&b);
}

static void a_window_cuts_what_it_crosses(void)
{
    ovl_spans s = of((ovl_span[]){{0, 5}, {10, 30}, {40, 50}}, 3);
    CHECK_INT(ovl_spans_within(&s, 4, 12), 3);
    CHECK_INT(ovl_spans_within(&s, 5, 10), 0);
    CHECK_INT(ovl_spans_within(&s, 15, 20), 5);
    CHECK_INT(ovl_spans_within(&s, -100, 100), 35);
    ovl_spans_free(&s);
}

/* The widest bounds: 2 x (2^62 - 1), which fits. */
static void the_widest_span_does_not_overflow(void)
{
    ovl_spans s = of((ovl_span[]){{-OVL_SPANS_MOST, OVL_SPANS_MOST}}, 1);
    CHECK_INT(ovl_spans_measure(&s), INT64_MAX - 1);
    ovl_spans_free(&s);
}

#define RANGE 4096

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static int64_t brute(const bool a[RANGE], const bool b[RANGE], int64_t from, int64_t to)
{
    int64_t n = 0;
    for (int64_t i = from; i < to; i++) {
        n += a[i] && b[i];
    }
    return n;
}

/* Against counting every unit of a small range, with more intervals than are merged at once. */
static void random_sets_measure_as_counted(void)
{
    uint32_t state = 1;
    for (int round = 0; round < 20; round++) {
        static bool marked[2][RANGE], all[RANGE];
        ovl_spans sets[2] = {{{0}, 0}, {{0}, 0}};
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < RANGE; i++) {
                marked[k][i] = false;
                all[i] = true;
            }
            for (uint32_t i = 0, n = next(&state) % 3000; i < n; i++) {
                uint32_t start = next(&state) % RANGE;
                uint32_t length = next(&state) % (uint32_t)(round + 1);
                uint32_t end = OVL_MIN(start + length, RANGE);
                ovl_spans_add(&sets[k], start, end);
                for (uint32_t u = start; u < end; u++) {
                    marked[k][u] = true;
                }
            }
        }
        CHECK_INT(ovl_spans_measure(&sets[0]), brute(marked[0], all, 0, RANGE));
        CHECK_INT(ovl_spans_common(&sets[0], &sets[1]), brute(marked[0], marked[1], 0, RANGE));
        CHECK_INT(ovl_spans_within(&sets[1], 100, 900), brute(marked[1], all, 100, 900));
        ovl_spans_join(&sets[0], &sets[1]);
        CHECK_INT(ovl_spans_common(&sets[0], &sets[1]), brute(marked[1], all, 0, RANGE));
        ovl_spans_free(&sets[0]);
        ovl_spans_free(&sets[1]);
    }
}

static CU_TestInfo tests[] = {
    {"overlaps count once", overlaps_count_once},
    {"touching intervals are one", touching_intervals_are_one},
    {"nothing has no length", nothing_has_no_length},
    {"common is what is in both", common_is_what_is_in_both},
    {"a window cuts what it crosses", a_window_cuts_what_it_crosses},
    {"the widest span does not overflow", the_widest_span_does_not_overflow},
    {"random sets measure as counted", random_sets_measure_as_counted},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("spans", tests);
}
