#include "tests/support/check.h"
#include "tools/decimal.h"

#include <string.h>

#define NONE INT64_MIN

static int64_t read(const char *text, int shift)
{
    int64_t value = NONE;
    return ovl_decimal(text, strlen(text), shift, &value) ? value : NONE;
}

static void microseconds_become_nanoseconds_exactly(void)
{
    CHECK_INT(read("4203669603018.756", 3), 4203669603018756);
    CHECK_INT(read("1694128201426556", 3), 1694128201426556000);
    CHECK_INT(read("0.001", 3), 1);
    CHECK_INT(read("68.0", 3), 68000);
    CHECK_INT(read("-1.5", 3), -1500);
    CHECK_INT(read(" 7 ", 3), 7000);
    CHECK_INT(read("1.2e3", 0), 1200);
    CHECK_INT(read("1.25E-2", 3), 13); /* 12.5 */
    CHECK_INT(read("1711964646000000000", 0), 1711964646000000000);
}

static void what_is_finer_is_rounded_half_away_from_zero(void)
{
    CHECK_INT(read("0.0004", 3), 0);
    CHECK_INT(read("0.0005", 3), 1);
    CHECK_INT(read("-0.0005", 3), -1);
    CHECK_INT(read("0.00049999999999", 3), 0);
    CHECK_INT(read("1e-400", 3), 0);
    CHECK_INT(read("0.5", 0), 1);
    CHECK_INT(read("0.05", 0), 0);
}

static void what_is_no_number_is_refused(void)
{
    static const char *const texts[] = {"",    " ",   "NaN", "inf", "-inf", "N/A", "1.2.3", "1e",
                                        "12a", "--1", "+",   ".",   "0x10", "1 2", "e5",    "-"};
    for (size_t i = 0; i < OVL_COUNT(texts); i++) {
        CHECK_INT(read(texts[i], 3), NONE);
    }
}

/* 2^62 - 1 = 4611686018427387903. */
static void what_is_too_large_is_refused(void)
{
    CHECK_INT(read("4611686018427387903", 0), 4611686018427387903);
    CHECK_INT(read("4611686018427387904", 0), NONE);
    CHECK_INT(read("-4611686018427387904", 0), NONE);
    CHECK_INT(read("18446744073709551616", 0), NONE);
    CHECK_INT(read("1e300", 0), NONE);
    CHECK_INT(read("0e99999999999", 3), 0);
    CHECK_INT(read("0.0e300", 3), 0);
    CHECK_INT(read("000000000000000000000000000000000000007", 0), 7);
}

static uint64_t key(const char *text)
{
    return ovl_decimal_key(text, strlen(text));
}

static void keys_keep_all_64_bits(void)
{
    CHECK(key("10159970886766084423") == UINT64_C(10159970886766084423));
    CHECK(key("18446744073709551615") == UINT64_MAX);
    CHECK(key("-1") == UINT64_MAX);
    CHECK(key("0x1F") == 31);
    CHECK(key("0") == 0);
    CHECK(key("18446744073709551616") != key("18446744073709551617"));
    CHECK(key("abc") == key("abc"));
    CHECK(key("abc") != key("abd"));
}

static CU_TestInfo tests[] = {
    {"microseconds become nanoseconds exactly", microseconds_become_nanoseconds_exactly},
    {"what is finer is rounded half away from zero", what_is_finer_is_rounded_half_away_from_zero},
    {"what is no number is refused", what_is_no_number_is_refused},
    {"what is too large is refused", what_is_too_large_is_refused},
    {"keys keep all 64 bits", keys_keep_all_64_bits},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("decimal", tests);
}
