#include "sim/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

static const char *const time_names[] = {"ps", "ns", "us", "ms", "s"};

const char *ovl_time_unit_name(ovl_time_unit unit)
{
    return time_names[unit];
}

/* |t| without the overflow of -INT64_MIN. */
static uint64_t magnitude(ovl_time t)
{
    return t < 0 ? 0 - (uint64_t)t : (uint64_t)t;
}

static uint64_t power_of_ten(int n)
{
    uint64_t power = 1;
    while (n-- > 0) {
        power *= 10;
    }
    return power;
}

ovl_time_unit ovl_time_unit_for(ovl_time t)
{
    uint64_t size = magnitude(t);
    if (size == 0) {
        return OVL_UNIT_S;
    }
    int unit = OVL_UNIT_PS;
    for (; unit < OVL_UNIT_S && size >= 1000; unit++) {
        size /= 1000;
    }
    return (ovl_time_unit)unit;
}

/* Writes scaled / 10^decimals without trailing zeros; "-" in front unless it is zero. */
static void print_scaled(char buf[OVL_UNITS_TEXT], uint64_t scaled, int decimals, bool negative)
{
    char digits[OVL_UNITS_TEXT];
    char *at = digits + sizeof digits;
    *--at = '\0';
    bool minus = negative && scaled;
    for (; decimals > 0 && scaled % 10 == 0; decimals--) {
        scaled /= 10;
    }
    for (; decimals > 0; decimals--, scaled /= 10) {
        *--at = (char)('0' + scaled % 10);
        if (decimals == 1) {
            *--at = '.';
        }
    }
    do {
        *--at = (char)('0' + scaled % 10);
        scaled /= 10;
    } while (scaled);
    if (minus) {
        *--at = '-';
    }
    memcpy(buf, at, (size_t)(digits + sizeof digits - at));
}

/* |t| in the unit times 10^decimals, rounded half up. */
static uint64_t scale_time(ovl_time t, ovl_time_unit unit, int decimals)
{
    uint64_t step = power_of_ten(3 * (int)unit - decimals);
    uint64_t size = magnitude(t);
    return size / step + (size % step * 2 >= step);
}

const char *ovl_print_time_in(char buf[OVL_UNITS_TEXT], ovl_time t, ovl_time_unit unit,
                              int decimals)
{
    decimals = OVL_MAX(OVL_MIN(decimals, 3 * (int)unit), 0);
    print_scaled(buf, scale_time(t, unit, decimals), decimals, t < 0);
    return buf;
}

/* How many decimals leave six significant digits. */
static int decimals_of_six(ovl_time t, ovl_time_unit unit)
{
    uint64_t whole = magnitude(t) / power_of_ten(3 * (int)unit);
    int decimals = 6;
    for (; whole && decimals > 0; whole /= 10) {
        decimals--;
    }
    return OVL_MIN(decimals, 3 * (int)unit);
}

const char *ovl_print_time(char buf[OVL_UNITS_TEXT], ovl_time t)
{
    ovl_time_unit unit = ovl_time_unit_for(t);
    int decimals = decimals_of_six(t, unit);
    /* 999.9999999 ms rounds to 1000 ms: say 1 s. */
    if (unit < OVL_UNIT_S && scale_time(t, unit, decimals) >= 1000 * power_of_ten(decimals)) {
        unit++;
    }
    ovl_print_time_in(buf, t, unit, decimals);
    size_t length = strlen(buf);
    snprintf(buf + length, OVL_UNITS_TEXT - length, " %s", time_names[unit]);
    return buf;
}

const char *ovl_print_seconds(char buf[OVL_UNITS_TEXT], ovl_time t)
{
    uint64_t size = magnitude(t);
    snprintf(buf, OVL_UNITS_TEXT, "%s%" PRIu64 ".%012" PRIu64, t < 0 ? "-" : "",
             size / (uint64_t)OVL_S, size % (uint64_t)OVL_S);
    return buf;
}

static const char *const binary_names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

/* bytes / 1024^unit times 10^decimals, rounded half up. */
static uint64_t scale_bytes(uint64_t bytes, int unit, int decimals)
{
    u128 twice = (u128)bytes * power_of_ten(decimals) * 2;
    return (uint64_t)(((twice >> (10 * unit)) + 1) / 2);
}

ovl_bytes_scale ovl_bytes_scale_for(uint64_t largest)
{
    const int most = (int)OVL_COUNT(binary_names) - 1;
    int unit = 0;
    while (unit < most && largest >> (10 * (unit + 1))) {
        unit++;
    }
    uint64_t whole = largest >> (10 * unit);
    int decimals = whole >= 1000 ? 0 : whole >= 100 ? 1 : whole >= 10 ? 2 : 3;
    bool next = scale_bytes(largest, unit, decimals) >= 1024 * power_of_ten(decimals);
    return (ovl_bytes_scale){next && unit < most ? unit + 1 : unit, decimals};
}

const char *ovl_bytes_scale_unit(ovl_bytes_scale scale)
{
    return binary_names[scale.unit];
}

const char *ovl_print_bytes_in(char buf[OVL_UNITS_TEXT], uint64_t bytes, ovl_bytes_scale scale)
{
    uint64_t scaled = scale_bytes(bytes, scale.unit, scale.decimals);
    uint64_t one = power_of_ten(scale.decimals);
    if (bytes == 0 || scale.decimals == 0) {
        snprintf(buf, OVL_UNITS_TEXT, "%" PRIu64, scaled);
    } else {
        snprintf(buf, OVL_UNITS_TEXT, "%" PRIu64 ".%0*" PRIu64, scaled / one, scale.decimals,
                 scaled % one);
    }
    return buf;
}

const char *ovl_print_bytes(char buf[OVL_UNITS_TEXT], uint64_t bytes)
{
    ovl_bytes_scale scale = ovl_bytes_scale_for(bytes);
    print_scaled(buf, scale_bytes(bytes, scale.unit, scale.decimals), scale.decimals, false);
    size_t length = strlen(buf);
    snprintf(buf + length, OVL_UNITS_TEXT - length, " %s", ovl_bytes_scale_unit(scale));
    return buf;
}

/* Digits between the point and the unit of a printed size. */
static size_t decimals_of(const char *text)
{
    const char *point = strchr(text, '.');
    return point ? strcspn(point + 1, " ") : 0;
}

const char *ovl_print_bytes_beside(char buf[OVL_UNITS_TEXT], uint64_t bytes, uint64_t other)
{
    char beside[OVL_UNITS_TEXT], digits[OVL_UNITS_TEXT];
    ovl_print_bytes(buf, bytes);
    ovl_print_bytes(beside, other);
    size_t has = decimals_of(buf), wanted = decimals_of(beside);
    const char *unit = strchr(buf, ' ');
    if (has < wanted && strcmp(unit, strchr(beside, ' ')) == 0) {
        snprintf(digits, sizeof digits, "%.*s%s%.*s%s", (int)(unit - buf), buf, has ? "" : ".",
                 (int)(wanted - has), "000", unit);
        memcpy(buf, digits, sizeof digits);
    }
    return buf;
}

static const char *const rate_names[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"};

const char *ovl_print_rate(char buf[OVL_UNITS_TEXT], double bytes_per_second)
{
    size_t unit = 0;
    double value = bytes_per_second;
    /* 999.95 is where four digits round up to 1000. */
    while (unit < OVL_COUNT(rate_names) - 1 && fabs(value) >= 999.95) {
        value /= 1000;
        unit++;
    }
    snprintf(buf, OVL_UNITS_TEXT, "%.4g %s", value, rate_names[unit]);
    return buf;
}

/* --- Counts --- */

static bool ends_in(const char *word, const char *end)
{
    size_t length = strlen(word), n = strlen(end);
    return length >= n && strcmp(word + length - n, end) == 0;
}

const char *ovl_counted(ovl_arena *arena, uint64_t n, const char *what)
{
    bool hisses = ends_in(what, "s") || ends_in(what, "ch");
    return ovl_arena_printf(arena, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : hisses ? "es" : "s");
}
