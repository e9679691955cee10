#include "sim/units.h"
#include "tests/support/check.h"

#include <string.h>

/* Readers leave their target alone on failure: -7 must survive. */
static int64_t read_time(const char *text)
{
    ovl_time t = -7;
    ovl_read_time(text, &t);
    return t;
}

static const char *time_fault(const char *text)
{
    ovl_time t = -7;
    const char *why = ovl_read_time(text, &t);
    CHECK_INT(t, -7);
    return why;
}

static uint64_t read_bytes(const char *text)
{
    uint64_t b = 7;
    ovl_read_bytes(text, &b);
    return b;
}

static uint64_t read_rate(const char *text)
{
    uint64_t r = 7;
    ovl_read_rate(text, &r);
    return r;
}

static void times_are_picoseconds(void)
{
    CHECK_INT(read_time("7 ms"), 7 * OVL_MS);
    CHECK_INT(read_time("2.1ms"), INT64_C(2100000000));
    CHECK_INT(read_time("  5 us "), 5 * OVL_US);
    CHECK_INT(read_time("5 \xc2\xb5s"), 5 * OVL_US);
    CHECK_INT(read_time("5 \xce\xbcs"), 5 * OVL_US);
    CHECK_INT(read_time("1 ps"), 1);
    CHECK_INT(read_time("3 ns"), 3000);
    CHECK_INT(read_time("2 s"), 2 * OVL_S);
    CHECK_INT(read_time("1.5 min"), 90 * OVL_S);
    CHECK_INT(read_time("1 h"), 3600 * OVL_S);
    CHECK_INT(read_time("1e-3 s"), OVL_MS);
    CHECK_INT(read_time("1_000 us"), OVL_MS);
    CHECK_INT(read_time(".5 us"), OVL_US / 2);
    CHECK_INT(read_time("5. us"), 5 * OVL_US);
}

static void zero_needs_no_unit(void)
{
    CHECK_INT(read_time("0"), 0);
    CHECK_INT(read_time("0.000"), 0);
    CHECK_INT(read_time("-0"), 0);
    CHECK_INT(read_bytes("0"), 0);
    CHECK_INT(read_rate("0"), 0);
    CHECK_INT(read_time("0 ms"), 0);
}

/* 1.0005 ns = 1000.5 ps and is half way: up. 1.00049999 ns is below. The third has more digits than
 * a double holds: 0.1234567890123456789 s = 123456789012.3456789 ps. */
static void values_are_rounded_to_the_nearest_unit(void)
{
    CHECK_INT(read_time("1.0005 ns"), 1001);
    CHECK_INT(read_time("1.00049999 ns"), 1000);
    CHECK_INT(read_time("0.1234567890123456789 s"), INT64_C(123456789012));
    CHECK_INT(read_bytes("0.5 B"), 1);
    CHECK_INT(read_bytes("0.4999999999999999999999 B"), 0);
    CHECK_INT(read_time("1e-300 s"), 0);
}

static void the_range_is_exact_at_its_ends(void)
{
    CHECK_INT(read_time("4611686018427387904 ps"), OVL_TIME_MAX);
    CHECK_HAS(time_fault("4611686018427387905 ps"), "too large for a duration");
    CHECK_HAS(time_fault("1e30 s"), "too large");
    CHECK_HAS(time_fault("1e999999999999 ps"), "too large");
    CHECK_INT(read_time("0e999999999999 ps"), 0);
    CHECK(read_bytes("18446744073709551615 B") == UINT64_MAX);
    uint64_t b = 7;
    CHECK_HAS(ovl_read_bytes("18446744073709551616 B", &b), "too large for a size");
    CHECK_HAS(ovl_read_bytes("18446744073709551615.5 B", &b), "too large for a size");
    CHECK_INT(b, 7);
}

static void a_bare_number_is_refused(void)
{
    CHECK_TEXT(time_fault("7"), "a duration needs a unit, such as \"7 ms\"");
    uint64_t b;
    double d;
    CHECK_TEXT(ovl_read_bytes("25", &b), "a size needs a unit, such as \"25 MiB\"");
    CHECK_TEXT(ovl_read_rate("450", &b), "a rate needs a unit, such as \"450 GB/s\"");
    CHECK_TEXT(ovl_read_flops("1e12", &d), "an amount of work needs a unit, such as \"2 TFLOP\"");
    CHECK_HAS(ovl_read_flop_rate("989", &d), "needs a unit");
}

static void an_unknown_unit_is_refused_with_the_known_ones(void)
{
    CHECK_TEXT(time_fault("7 mss"), "unknown unit; times are in ps, ns, us, ms, s, min or h");
    CHECK_HAS(time_fault("7 m s"), "unknown unit");
    CHECK_HAS(time_fault("7 MS"), "unknown unit");
    CHECK_HAS(time_fault("0 parsec"), "unknown unit");
    uint64_t b;
    CHECK_HAS(ovl_read_bytes("7 Mb", &b), "unknown unit");
    CHECK_HAS(ovl_read_bytes("7 MB/s", &b), "unknown unit");
    CHECK_HAS(ovl_read_rate("7 MB", &b), "unknown unit");
    CHECK_HAS(ovl_read_rate("7 MB/", &b), "unknown unit");
    CHECK_HAS(ovl_read_rate("7 /s", &b), "unknown unit");
}

static void what_is_no_number_is_refused(void)
{
    const char *bad[] = {"",      " ",      "ms",    "seven ms", ".",   ". ms", "_7 ms",
                         "+7 ms", "--7 ms", "e3 ms", "nan",      "inf", "\xff"};
    for (size_t i = 0; i < OVL_COUNT(bad); i++) {
        CHECK_TEXT(time_fault(bad[i]), "expected a duration, such as \"7 ms\"");
    }
    CHECK_HAS(time_fault("7__0 ms"), "unknown unit");
    CHECK_HAS(time_fault("0x10 ms"), "unknown unit");
    CHECK_TEXT(time_fault("-7 ms"), "must not be negative");
    CHECK_TEXT(time_fault("-7"), "must not be negative");
    CHECK_HAS(time_fault("11111111111111111111111111111111111111111 ms"), "at most 40 digits");
}

static void mb_and_mib_differ(void)
{
    CHECK_INT(read_bytes("25 MB"), 25000000);
    CHECK_INT(read_bytes("25 MiB"), 26214400);
    CHECK_INT(read_bytes("1.5 KiB"), 1536);
    CHECK_INT(read_bytes("80 GB"), INT64_C(80000000000));
    CHECK_INT(read_bytes("1 kB"), read_bytes("1 KB"));
    CHECK_INT(read_bytes("2 TiB"), INT64_C(2) << 40);
}

/* 16 MiB/ms = 16 * 1048576 * 1000 bytes/s. 400 Gb/s = 50 GB/s. 1 B/min rounds to 0 B/s; 45 B/min is
 * 0.75, 1. 12 TiB/ps is beyond 64 bits, 1 B/ps is 10^12. */
static void rates_are_bytes_per_second(void)
{
    CHECK_INT(read_rate("450 GB/s"), INT64_C(450000000000));
    CHECK_INT(read_rate("16 MiB/ms"), INT64_C(16777216000));
    CHECK_INT(read_rate("3.35 TB/s"), INT64_C(3350000000000));
    CHECK_INT(read_rate("400 Gb/s"), INT64_C(50000000000));
    CHECK_INT(read_rate("400 Gbit/s"), INT64_C(50000000000));
    CHECK_INT(read_rate("16 MiB / ms"), INT64_C(16777216000));
    CHECK_INT(read_rate("1 B/min"), 0);
    CHECK_INT(read_rate("45 B/min"), 1);
    CHECK_INT(read_rate("1 B/ps"), INT64_C(1000000000000));
    uint64_t r;
    CHECK_HAS(ovl_read_rate("12 TiB/ps", &r), "too large for a rate");
}

static void work_is_read_as_the_nearest_double(void)
{
    double d = -1;
    CHECK(!ovl_read_flop_rate("989 TFLOP/s", &d) && d == 989e12);
    CHECK(!ovl_read_flop_rate("1.5 PFLOPS", &d) && d == 1.5e15);
    CHECK(!ovl_read_flops("2.2 GFLOP", &d) && d == 2.2e9);
    CHECK(!ovl_read_flops("7 FLOP", &d) && d == 7);
    CHECK(!ovl_read_flops("1EFLOP", &d) && d == 1e18);
    CHECK(!ovl_read_flops("1e3FLOP", &d) && d == 1e3);
    d = -1;
    CHECK_HAS(ovl_read_flops("1 TFLOP/s", &d), "unknown unit");
    CHECK_HAS(ovl_read_flop_rate("1 TFLOP", &d), "unknown unit");
    CHECK_HAS(ovl_read_flops("1 QFLOP", &d), "unknown unit");
    CHECK_HAS(ovl_read_flops("1e400 FLOP", &d), "too large");
    CHECK(d == -1);
}

static void ratios_have_three_forms(void)
{
    double d = -1;
    CHECK(!ovl_read_ratio("1.25", &d) && d == 1.25);
    CHECK(!ovl_read_ratio("29/25", &d) && d == 29.0 / 25.0);
    CHECK(!ovl_read_ratio(" 29 / 25 ", &d) && d == 29.0 / 25.0);
    CHECK(!ovl_read_ratio("85 %", &d) && d == 0.85);
    CHECK(!ovl_read_ratio("85%", &d) && d == 0.85);
    CHECK(!ovl_read_ratio("0", &d) && d == 0);
    d = -1;
    CHECK_HAS(ovl_read_ratio("1/0", &d), "divided by zero");
    CHECK_HAS(ovl_read_ratio("1/", &d), "expected a ratio");
    CHECK_HAS(ovl_read_ratio("1x", &d), "1.25, 29/25 or 85 %");
    CHECK_HAS(ovl_read_ratio("-1", &d), "negative");
    CHECK_HAS(ovl_read_ratio("1/-1", &d), "negative");
    CHECK_HAS(ovl_read_ratio("1e309", &d), "too large");
    CHECK_HAS(ovl_read_ratio("1e300/1e-300", &d), "too large");
    CHECK_HAS(ovl_read_ratio("1/1e-390", &d), "too large");
    CHECK(d == -1);
}

static void counts_are_whole(void)
{
    int64_t n = -1;
    CHECK(!ovl_read_count("16", &n) && n == 16);
    CHECK(!ovl_read_count("40_000_000", &n) && n == 40000000);
    CHECK(!ovl_read_count("40e6", &n) && n == 40000000);
    CHECK(!ovl_read_count("1.5e1", &n) && n == 15);
    CHECK(!ovl_read_count("9223372036854775807", &n) && n == INT64_MAX);
    n = -1;
    CHECK_HAS(ovl_read_count("9223372036854775808", &n), "too large");
    CHECK_HAS(ovl_read_count("1.5", &n), "expected a whole number");
    CHECK_HAS(ovl_read_count("1e-1", &n), "expected a whole number");
    CHECK_HAS(ovl_read_count("5 ms", &n), "no unit");
    CHECK_HAS(ovl_read_count("true", &n), "expected a whole number");
    CHECK_INT(n, -1);
}

static void times_print_in_their_own_unit(void)
{
    char b[OVL_UNITS_TEXT];
    CHECK_TEXT(ovl_print_time(b, INT64_C(211250000000)), "211.25 ms");
    CHECK_TEXT(ovl_print_time(b, 4200000), "4.2 us");
    CHECK_TEXT(ovl_print_time(b, 217 * OVL_MS), "217 ms");
    CHECK_TEXT(ovl_print_time(b, 999), "999 ps");
    CHECK_TEXT(ovl_print_time(b, 1001), "1.001 ns");
    CHECK_TEXT(ovl_print_time(b, 0), "0 s");
    CHECK_TEXT(ovl_print_time(b, -4 * OVL_MS), "-4 ms");
    CHECK_TEXT(ovl_print_time(b, INT64_C(1234567890123)), "1.23457 s");
    CHECK_TEXT(ovl_print_time(b, INT64_C(999999999999)), "1 s");
    CHECK_TEXT(ovl_print_time(b, 12345 * OVL_S + OVL_S / 2), "12345.5 s");
    CHECK_TEXT(ovl_print_time(b, INT64_MIN), "-9223372 s");
}

static void times_of_a_table_share_a_unit(void)
{
    char b[OVL_UNITS_TEXT];
    CHECK_TEXT(ovl_print_time_in(b, INT64_C(211250000000), OVL_UNIT_MS, 2), "211.25");
    CHECK_TEXT(ovl_print_time_in(b, INT64_C(211255000000), OVL_UNIT_MS, 2), "211.26");
    CHECK_TEXT(ovl_print_time_in(b, INT64_C(-211255000000), OVL_UNIT_MS, 2), "-211.26");
    CHECK_TEXT(ovl_print_time_in(b, -1, OVL_UNIT_MS, 3), "0");
    CHECK_TEXT(ovl_print_time_in(b, 5, OVL_UNIT_PS, 6), "5");
    CHECK_TEXT(ovl_print_time_in(b, 1, OVL_UNIT_S, 12), "0.000000000001");
    CHECK_TEXT(ovl_time_unit_name(ovl_time_unit_for(-999 * OVL_US)), "us");
    CHECK_TEXT(ovl_time_unit_name(ovl_time_unit_for(OVL_MS)), "ms");
    CHECK_TEXT(ovl_time_unit_name(ovl_time_unit_for(5000 * OVL_S)), "s");
}

static void seconds_have_twelve_decimals(void)
{
    char b[OVL_UNITS_TEXT];
    CHECK_TEXT(ovl_print_seconds(b, INT64_C(211250000000)), "0.211250000000");
    CHECK_TEXT(ovl_print_seconds(b, 0), "0.000000000000");
    CHECK_TEXT(ovl_print_seconds(b, -1), "-0.000000000001");
    CHECK_TEXT(ovl_print_seconds(b, INT64_MIN), "-9223372.036854775808");
}

/* 2052000 / 1048576 = 1.95693...; 28852224 / 1048576 = 27.5156... */
static void bytes_print_in_binary_units(void)
{
    char b[OVL_UNITS_TEXT];
    CHECK_TEXT(ovl_print_bytes(b, 2052000), "1.957 MiB");
    CHECK_TEXT(ovl_print_bytes(b, 28852224), "27.52 MiB");
    CHECK_TEXT(ovl_print_bytes(b, UINT64_C(96) << 20), "96 MiB");
    CHECK_TEXT(ovl_print_bytes(b, 0), "0 B");
    CHECK_TEXT(ovl_print_bytes(b, 1023), "1023 B");
    CHECK_TEXT(ovl_print_bytes(b, (1 << 20) - 1), "1 MiB");
    CHECK_TEXT(ovl_print_bytes(b, UINT64_MAX), "16 EiB");
}

static void rates_print_in_decimal_units(void)
{
    char b[OVL_UNITS_TEXT];
    CHECK_TEXT(ovl_print_rate(b, 16777216000.0), "16.78 GB/s");
    CHECK_TEXT(ovl_print_rate(b, 0), "0 B/s");
    CHECK_TEXT(ovl_print_rate(b, 999.96), "1 kB/s");
    CHECK_TEXT(ovl_print_rate(b, 999.9), "999.9 B/s");
    CHECK_TEXT(ovl_print_rate(b, 1e9), "1 GB/s");
}

/* The unit of the largest, with four digits of it. */
static void bytes_of_a_table_share_a_unit(void)
{
    char b[OVL_UNITS_TEXT];
    ovl_bytes_scale gib = ovl_bytes_scale_for((UINT64_C(9) << 30) + (UINT64_C(120) << 20));
    CHECK_TEXT(ovl_bytes_scale_unit(gib), "GiB");
    CHECK_TEXT(ovl_print_bytes_in(b, (UINT64_C(9) << 30) + (UINT64_C(120) << 20), gib), "9.117");
    CHECK_TEXT(ovl_print_bytes_in(b, UINT64_C(868) << 20, gib), "0.848");
    CHECK_TEXT(ovl_print_bytes_in(b, 0, gib), "0");
    CHECK_TEXT(ovl_bytes_scale_unit(ovl_bytes_scale_for(UINT64_C(1023) << 20)), "MiB");
    CHECK_TEXT(ovl_bytes_scale_unit(ovl_bytes_scale_for((UINT64_C(1) << 30) - 1)), "GiB");
}

static void one_is_no_plural(void)
{
    ovl_arena arena = {0};
    CHECK_TEXT(ovl_counted(&arena, 1, "rank"), "1 rank");
    CHECK_TEXT(ovl_counted(&arena, 0, "rank"), "0 ranks");
    CHECK_TEXT(ovl_counted(&arena, 2, "microbatch"), "2 microbatches");
    CHECK_TEXT(ovl_counted(&arena, 3, "class"), "3 classes");
    CHECK_TEXT(ovl_counted(&arena, 1, "class"), "1 class");
    ovl_arena_free(&arena);
}

static CU_TestInfo tests[] = {
    {"times are picoseconds", times_are_picoseconds},
    {"zero needs no unit", zero_needs_no_unit},
    {"values are rounded to the nearest unit", values_are_rounded_to_the_nearest_unit},
    {"the range is exact at its ends", the_range_is_exact_at_its_ends},
    {"a bare number is refused", a_bare_number_is_refused},
    {"an unknown unit is refused with the known ones",
     an_unknown_unit_is_refused_with_the_known_ones},
    {"what is no number is refused", what_is_no_number_is_refused},
    {"MB and MiB differ", mb_and_mib_differ},
    {"rates are bytes per second", rates_are_bytes_per_second},
    {"work is read as the nearest double", work_is_read_as_the_nearest_double},
    {"ratios have three forms", ratios_have_three_forms},
    {"counts are whole", counts_are_whole},
    {"times print in their own unit", times_print_in_their_own_unit},
    {"times of a table share a unit", times_of_a_table_share_a_unit},
    {"seconds have twelve decimals", seconds_have_twelve_decimals},
    {"bytes print in binary units", bytes_print_in_binary_units},
    {"bytes of a table share a unit", bytes_of_a_table_share_a_unit},
    {"rates print in decimal units", rates_print_in_decimal_units},
    {"one is no plural", one_is_no_plural},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("units", tests);
}
