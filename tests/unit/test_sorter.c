#include "tools/sorter.h"

#include "tests/support/check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

typedef struct record {
    uint32_t value, nth;
} record;

static int by_value(const void *a, const void *b)
{
    const record *x = a, *y = b;
    int value = (x->value > y->value) - (x->value < y->value);
    return value ? value : (x->nth > y->nth) - (x->nth < y->nth);
}

/* Values of a hash, in no order. */
static void add_many(ovl_sorter *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const record r = {i * UINT32_C(2654435761) >> 22, i};
        ovl_sorter_add(s, &r);
    }
}

/* How many records come, if each is in its place; else 0. */
static uint32_t in_place(ovl_sorter *s)
{
    record last = {0};
    uint32_t n = 0;
    ovl_sorter_rewind(s);
    for (const record *r; (r = ovl_sorter_next(s)) != NULL; last = *r, n++) {
        if (n && by_value(&last, r) >= 0) {
            return 0;
        }
    }
    return n;
}

static void what_fits_the_buffer_stays_in_memory(void)
{
    ovl_sorter s;
    ovl_sorter_begin(&s, sizeof(record), by_value, 8192);
    add_many(&s, 1000);
    CHECK_INT(in_place(&s), 1000);
    CHECK_INT(in_place(&s), 1000);
    CHECK_INT(s.file, -1);
    ovl_sorter_free(&s);
}

/* 1024 bytes hold 128 records: 100 000 are 782 buffers, the last of them with 32. */
static void what_does_not_fit_is_merged_from_a_file(void)
{
    ovl_sorter s;
    ovl_sorter_begin(&s, sizeof(record), by_value, 1024);
    add_many(&s, 100000);
    CHECK_INT(in_place(&s), 100000);
    CHECK_INT(in_place(&s), 100000);
    CHECK_INT(s.runs.len, 782);
    CHECK_INT(s.written, 100000);
    CHECK_INT(s.space, 128);
    ovl_sorter_free(&s);
}

static void what_comes_in_order_is_one_run(void)
{
    ovl_sorter s;
    ovl_sorter_begin(&s, sizeof(record), by_value, 1024);
    for (uint32_t i = 0; i < 10000; i++) {
        ovl_sorter_add(&s, &(record){i / 3, i});
    }
    CHECK_INT(in_place(&s), 10000);
    CHECK_INT(s.runs.len, 1);
    ovl_sorter_free(&s);
}

static void nothing_is_nothing(void)
{
    ovl_sorter s;
    ovl_sorter_begin(&s, sizeof(record), by_value, 1024);
    CHECK_INT(in_place(&s), 0);
    ovl_sorter_free(&s);
}

/* Files may have 3000 bytes: two buffers of 1024 are written, and the third is not. */
static void nothing_is_lost_when_the_disk_is_full(void)
{
    struct rlimit before, small = {3000, 3000};
    ovl_sorter s;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    ovl_sorter_begin(&s, sizeof(record), by_value, 1024);
    add_many(&s, 5000);
    CHECK_INT(in_place(&s), 5000);
    CHECK_INT(in_place(&s), 5000);
    CHECK_INT(s.written, 256);
    CHECK_INT(s.runs.len, 3);
    ovl_sorter_free(&s);
    setrlimit(RLIMIT_FSIZE, &before);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"what fits the buffer stays in memory", what_fits_the_buffer_stays_in_memory},
        {"what does not fit is merged from a file", what_does_not_fit_is_merged_from_a_file},
        {"what comes in order is one run", what_comes_in_order_is_one_run},
        {"nothing is nothing", nothing_is_nothing},
        {"nothing is lost when the disk is full", nothing_is_lost_when_the_disk_is_full},
        CU_TEST_INFO_NULL,
    };
    return check_main("sorter", tests);
}
