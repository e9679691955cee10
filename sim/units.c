#include "sim/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

/* --- Large whole numbers: just enough for digits * unit / divisor without losing any --- */

#define LIMBS 4
#define DIGITS_MAX                                                                                 \
    40 /* 133 bits; a unit adds at most 81 (TiB/ps): no overflow without an exponent */

typedef struct wide {
    uint64_t limb[LIMBS]; /* little end first */
} wide;

/* x = x * factor + add; false if it no longer fits. */
static bool wide_scale(wide *x, uint64_t factor, uint64_t add)
{
    u128 carry = add;
    for (int i = 0; i < LIMBS; i++) {
        carry += (u128)x->limb[i] * factor;
        x->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return carry == 0;
}

/* x = floor(x / divisor); gives the remainder. */
static uint64_t wide_divide(wide *x, uint64_t divisor)
{
    u128 rest = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        rest = rest << 64 | x->limb[i];
        x->limb[i] = (uint64_t)(rest / divisor);
        rest %= divisor;
    }
    return (uint64_t)rest;
}

static bool wide_is_zero(const wide *x)
{
    return (x->limb[0] | x->limb[1] | x->limb[2] | x->limb[3]) == 0;
}

/* --- Numbers as they are written --- */

/* "2.50e3": digits "250", exponent 1. Leading zeros are not kept. */
typedef struct number {
    char digits[DIGITS_MAX + 1];
    int n_digits;
    int exponent;
} number;

typedef enum number_fault { FAULT_NONE, FAULT_SHAPE, FAULT_NEGATIVE, FAULT_DIGITS } number_fault;

#define EXPONENT_MAX 400

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t') {
        at++;
    }
    return at;
}

static number_fault keep_digit(number *n, char digit)
{
    if (digit == '0' && n->n_digits == 0) {
        return FAULT_NONE;
    }
    if (n->n_digits == DIGITS_MAX) {
        return FAULT_DIGITS;
    }
    n->digits[n->n_digits++] = digit;
    return FAULT_NONE;
}

/* Digits with single underscores between them; counts them in *seen. */
static number_fault read_digits(const char **at, number *n, int *seen)
{
    const char *p = *at;
    number_fault fault = FAULT_NONE;
    for (*seen = 0; is_digit(*p) || (*p == '_' && *seen && is_digit(p[1])); p++) {
        if (*p != '_') {
            fault = fault ? fault : keep_digit(n, *p);
            *seen += *seen < EXPONENT_MAX;
        }
    }
    *at = p;
    return fault;
}

/* An exponent, if there is one: "E" alone may begin a unit ("1 EFLOP" or "1EFLOP"). */
static void read_exponent(const char **at, number *n)
{
    const char *p = *at;
    if (*p != 'e' && *p != 'E') {
        return;
    }
    p++;
    bool minus = *p == '-';
    p += *p == '-' || *p == '+';
    if (!is_digit(*p)) {
        return;
    }
    int value = 0;
    for (; is_digit(*p); p++) {
        value = OVL_MIN(value * 10 + (*p - '0'), 10 * EXPONENT_MAX);
    }
    n->exponent += minus ? -value : value;
    *at = p;
}

static number_fault read_number(const char **at, number *n)
{
    *n = (number){0};
    const char *p = skip_blanks(*at);
    bool negative = *p == '-';
    p += negative;
    int whole = 0, fraction = 0;
    number_fault fault = read_digits(&p, n, &whole);
    if (*p == '.') {
        p++;
        number_fault more = read_digits(&p, n, &fraction);
        fault = fault ? fault : more;
        n->exponent = -fraction;
    }
    if (whole + fraction == 0) {
        return FAULT_SHAPE;
    }
    read_exponent(&p, n);
    *at = skip_blanks(p);
    if (negative && n->n_digits) {
        return FAULT_NEGATIVE;
    }
    return fault;
}

/* --- Units --- */

typedef struct unit {
    const char *name;
    uint64_t size; /* in ps, bytes, or bits */
} unit;

#define KI 1024ull

static const unit times[] = {
    {"ps", 1},
    {"ns", 1000},
    {"us", 1000000},
    {"\xc2\xb5s", 1000000}, /* micro sign */
    {"\xce\xbcs", 1000000}, /* Greek mu */
    {"ms", 1000000000},
    {"s", 1000000000000},
    {"min", 60000000000000},
    {"h", 3600000000000000},
};

static const unit bytes[] = {
    {"B", 1},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", 1000000000000},
    {"PB", 1000000000000000},
    {"KiB", KI},
    {"MiB", KI *KI},
    {"GiB", KI *KI *KI},
    {"TiB", KI *KI *KI *KI},
    {"PiB", KI *KI *KI *KI *KI},
};

static const unit bits[] = {
    {"b", 1},   {"kb", 1000},   {"Mb", 1000000},   {"Gb", 1000000000},   {"Tb", 1000000000000},
    {"bit", 1}, {"kbit", 1000}, {"Mbit", 1000000}, {"Gbit", 1000000000}, {"Tbit", 1000000000000},
};

static const char prefixes[] = "kMGTPE"; /* of FLOP: 10^3, 10^6, ... */

static const unit *find_unit(const unit *units, size_t count, const char *text, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(units[i].name) == length && strncmp(units[i].name, text, length) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

static size_t trimmed_length(const char *text, size_t length)
{
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t')) {
        length--;
    }
    return length;
}

/* --- What is said when it goes wrong --- */

typedef struct sentences {
    const char *shape, *bare, *unknown, *large;
} sentences;

#define SENTENCES(what, example, units)                                                            \
    {                                                                                              \
        "expected " what ", such as \"" example "\"",                                              \
            what " needs a unit, such as \"" example "\"", "unknown unit; " units,                 \
            "too large for " what                                                                  \
    }

static const sentences time_said =
    SENTENCES("a duration", "7 ms", "times are in ps, ns, us, ms, s, min or h");
static const sentences bytes_said =
    SENTENCES("a size", "25 MiB",
              "sizes are in B, kB, MB, ... PB (powers of 1000) or KiB, MiB, ... PiB (of 1024)");
static const sentences rate_said = SENTENCES(
    "a rate", "450 GB/s", "rates are bytes per time (GB/s, MiB/ms) or bits per time (Gb/s)");
static const sentences flops_said =
    SENTENCES("an amount of work", "2 TFLOP", "work is in FLOP, kFLOP, MFLOP, GFLOP, TFLOP, PFLOP");
static const sentences flop_rate_said = SENTENCES(
    "a compute rate", "989 TFLOP/s", "compute rates are in FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s");
static const sentences ratio_said =
    SENTENCES("a ratio", "1.25", "a ratio is written 1.25, 29/25 or 85 %");
static const sentences count_said =
    SENTENCES("a whole number", "16", "a count has no unit, such as 16, 40_000_000 or 40e6");

static const char *fault_sentence(number_fault fault, const sentences *said)
{
    switch (fault) {
    case FAULT_SHAPE:
        return said->shape;
    case FAULT_NEGATIVE:
        return "must not be negative";
    case FAULT_DIGITS:
        return "a number has at most 40 digits";
    case FAULT_NONE:
        break;
    }
    return NULL;
}

/* --- Whole quantities --- */

/* floor(2 * n * factor / divisors): twice the value, so that the caller can round half up. The
 * divisors come one after the other, which gives the same floor as their product. *exact says
 * whether nothing was cut off. */
static bool twice_value(const number *n, const uint64_t factor[2], const uint64_t divisor[2],
                        wide *out, bool *exact)
{
    *out = (wide){{0}};
    *exact = true;
    bool fits = true;
    for (int i = 0; i < n->n_digits; i++) {
        fits = wide_scale(out, 10, (uint64_t)(n->digits[i] - '0')) && fits;
    }
    fits = wide_scale(out, factor[0], 0) && wide_scale(out, factor[1], 0) &&
           wide_scale(out, 2, 0) && fits;
    for (int e = n->exponent; e > 0 && fits && !wide_is_zero(out); e--) {
        fits = wide_scale(out, 10, 0);
    }
    for (int e = n->exponent; e < 0 && !wide_is_zero(out); e++) {
        *exact = wide_divide(out, 10) == 0 && *exact;
    }
    *exact = wide_divide(out, divisor[0]) == 0 && *exact;
    *exact = wide_divide(out, divisor[1]) == 0 && *exact;
    return fits;
}

/* The value rounded to nearest, half up; false beyond `max`. */
static bool whole_value(const number *n, const uint64_t factor[2], const uint64_t divisor[2],
                        uint64_t max, uint64_t *out, bool *exact)
{
    wide x;
    if (!twice_value(n, factor, divisor, &x, exact) || x.limb[1] > 1 || x.limb[2] || x.limb[3]) {
        return false;
    }
    u128 twice = (u128)x.limb[1] << 64 | x.limb[0];
    *exact = *exact && twice % 2 == 0;
    u128 value = (twice + 1) / 2;
    if (value > max) {
        return false;
    }
    *out = (uint64_t)value;
    return true;
}

static const uint64_t ones[2] = {1, 1};

/* A number and a unit of one table. */
static const char *read_whole(const char *text, const unit *units, size_t n_units, uint64_t max,
                              const sentences *said, uint64_t *out)
{
    number n;
    number_fault fault = read_number(&text, &n);
    if (fault) {
        return fault_sentence(fault, said);
    }
    size_t length = trimmed_length(text, strlen(text));
    if (length == 0 && n.n_digits) {
        return said->bare;
    }
    const unit *found = length ? find_unit(units, n_units, text, length) : &units[0];
    if (!found) {
        return said->unknown;
    }
    bool exact;
    const uint64_t factor[2] = {found->size, 1};
    return whole_value(&n, factor, ones, max, out, &exact) ? NULL : said->large;
}

const char *ovl_read_time(const char *text, ovl_time *out)
{
    uint64_t value;
    const char *why =
        read_whole(text, times, OVL_COUNT(times), (uint64_t)OVL_TIME_MAX, &time_said, &value);
    if (!why) {
        *out = (ovl_time)value;
    }
    return why;
}

const char *ovl_read_bytes(const char *text, uint64_t *out)
{
    return read_whole(text, bytes, OVL_COUNT(bytes), UINT64_MAX, &bytes_said, out);
}

/* "GB/s", "MiB/ms", "Gbit/s": what is counted, how many bits one of it has, and the time. */
static bool find_rate_unit(const char *text, size_t length, uint64_t factor[2], uint64_t divisor[2])
{
    const char *slash = memchr(text, '/', length);
    if (!slash) {
        return false;
    }
    size_t n_amount = trimmed_length(text, (size_t)(slash - text));
    const char *per = skip_blanks(slash + 1);
    const unit *amount = find_unit(bytes, OVL_COUNT(bytes), text, n_amount);
    const unit *amount_bits = find_unit(bits, OVL_COUNT(bits), text, n_amount);
    const unit *time = find_unit(times, OVL_COUNT(times), per, (size_t)(text + length - per));
    if (!time || (!amount && !amount_bits)) {
        return false;
    }
    factor[0] = amount ? amount->size : amount_bits->size;
    factor[1] = (uint64_t)OVL_S;
    divisor[0] = amount ? 1 : 8;
    divisor[1] = time->size;
    return true;
}

const char *ovl_read_rate(const char *text, uint64_t *out)
{
    number n;
    number_fault fault = read_number(&text, &n);
    if (fault) {
        return fault_sentence(fault, &rate_said);
    }
    size_t length = trimmed_length(text, strlen(text));
    uint64_t factor[2] = {1, 1}, divisor[2] = {1, 1};
    if (length == 0 && n.n_digits) {
        return rate_said.bare;
    }
    if (length && !find_rate_unit(text, length, factor, divisor)) {
        return rate_said.unknown;
    }
    bool exact;
    return whole_value(&n, factor, divisor, UINT64_MAX, out, &exact) ? NULL : rate_said.large;
}

const char *ovl_read_count(const char *text, int64_t *out)
{
    number n;
    number_fault fault = read_number(&text, &n);
    if (fault) {
        return fault_sentence(fault, &count_said);
    }
    if (*text) {
        return count_said.unknown;
    }
    uint64_t value;
    bool exact;
    if (!whole_value(&n, ones, ones, INT64_MAX, &value, &exact)) {
        return count_said.large;
    }
    if (!exact) {
        return count_said.shape;
    }
    *out = (int64_t)value;
    return NULL;
}

/* --- Quantities held as doubles --- */

/* Correctly rounded: the C library reads the digits with the power of ten in one go. */
static bool double_value(const number *n, int power, double *out)
{
    char text[DIGITS_MAX + 16];
    snprintf(text, sizeof text, "%se%d", n->n_digits ? n->digits : "0", n->exponent + power);
    *out = strtod(text, NULL);
    return isfinite(*out);
}

/* The power of ten of "TFLOP" or, with `rate`, "TFLOP/s"; -1 if it is none. */
static int flop_power(const char *text, size_t length, bool rate)
{
    int power = 0;
    const char *prefix = *text ? strchr(prefixes, *text) : NULL;
    if (prefix) {
        power = 3 * (int)(prefix - prefixes + 1);
        text++;
        length--;
    }
    const char *want = rate ? "FLOP/s" : "FLOP";
    const char *also = rate ? "FLOPS" : "FLOPs";
    bool known = (length == strlen(want) && strncmp(text, want, length) == 0) ||
                 (length == strlen(also) && strncmp(text, also, length) == 0);
    return known ? power : -1;
}

static const char *read_flop(const char *text, bool rate, const sentences *said, double *out)
{
    number n;
    number_fault fault = read_number(&text, &n);
    if (fault) {
        return fault_sentence(fault, said);
    }
    size_t length = trimmed_length(text, strlen(text));
    if (length == 0 && n.n_digits) {
        return said->bare;
    }
    int power = length ? flop_power(text, length, rate) : 0;
    if (power < 0) {
        return said->unknown;
    }
    double value;
    if (!double_value(&n, power, &value)) {
        return said->large;
    }
    *out = value;
    return NULL;
}

const char *ovl_read_flops(const char *text, double *out)
{
    return read_flop(text, false, &flops_said, out);
}

const char *ovl_read_flop_rate(const char *text, double *out)
{
    return read_flop(text, true, &flop_rate_said, out);
}

const char *ovl_read_ratio(const char *text, double *out)
{
    number n, under = {.digits = "1", .n_digits = 1};
    number_fault fault = read_number(&text, &n);
    if (!fault && *text == '/') {
        text++;
        fault = read_number(&text, &under);
    }
    if (fault) {
        return fault_sentence(fault, &ratio_said);
    }
    bool percent = *text == '%';
    text = skip_blanks(text + percent);
    if (*text) {
        return ratio_said.unknown;
    }
    if (under.n_digits == 0) {
        return "a ratio cannot be divided by zero";
    }
    double above, below;
    bool finite = double_value(&n, percent ? -2 : 0, &above) && double_value(&under, 0, &below) &&
                  below > 0 && isfinite(above / below);
    if (!finite) {
        return ratio_said.large;
    }
    *out = above / below;
    return NULL;
}
