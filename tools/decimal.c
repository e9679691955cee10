#include "tools/decimal.h"

#define MOST     (((int64_t)1 << 62) - 1)
#define EXPONENT 400 /* beyond it every number is 0 or too large */

typedef struct digits {
    const char *at, *end;
    const char *first, *last; /* digits and at most one point */
    int point;                /* digits before the point, from `first` on */
    int exponent;
    bool minus;
} digits;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool sign(digits *d)
{
    bool minus = d->at < d->end && *d->at == '-';
    if (d->at < d->end && (*d->at == '-' || *d->at == '+')) {
        d->at++;
    }
    return minus;
}

static bool mantissa(digits *d)
{
    bool any = false, seen_point = false;
    d->first = d->at;
    for (; d->at < d->end; d->at++) {
        if (is_digit(*d->at)) {
            any = true;
            d->point += seen_point || d->point > EXPONENT * 1000 ? 0 : 1;
        } else if (*d->at == '.' && !seen_point) {
            seen_point = true;
        } else {
            break;
        }
    }
    d->last = d->at;
    return any;
}

static bool exponent(digits *d)
{
    if (d->at == d->end || (*d->at != 'e' && *d->at != 'E')) {
        return true;
    }
    d->at++;
    bool minus = sign(d), any = false;
    for (; d->at < d->end && is_digit(*d->at); d->at++) {
        any = true;
        d->exponent = OVL_MIN(d->exponent * 10 + (*d->at - '0'), EXPONENT);
    }
    d->exponent = minus ? -d->exponent : d->exponent;
    return any;
}

static bool split(digits *d)
{
    while (d->at < d->end && is_blank(*d->at)) {
        d->at++;
    }
    while (d->at < d->end && is_blank(d->end[-1])) {
        d->end--;
    }
    d->minus = sign(d);
    return mantissa(d) && exponent(d) && d->at == d->end;
}

/* Digits of the result are those before `point + shift`; the next one rounds. */
bool ovl_decimal(const char *text, size_t length, int shift, int64_t *out)
{
    digits d = {.at = text, .end = text + length};
    if (!split(&d)) {
        return false;
    }
    int64_t value = 0;
    int left = d.point + d.exponent + shift;
    const char *at = d.first;
    for (; left > 0; left--) {
        at += at < d.last && *at == '.';
        int digit = at < d.last ? *at++ - '0' : 0;
        if (value > (MOST - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
        if (value == 0 && at == d.last) {
            break; /* a zero with any exponent */
        }
    }
    at += at < d.last && *at == '.';
    value += left == 0 && at < d.last && *at >= '5' && value < MOST;
    *out = d.minus ? -value : value;
    return true;
}

uint64_t ovl_hash(uint64_t seed, const char *text, size_t length)
{
    uint64_t hash = seed ? seed : UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static int hex_value(char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

uint64_t ovl_decimal_key(const char *text, size_t length)
{
    uint64_t value = 0;
    bool hex = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    bool minus = length > 1 && text[0] == '-';
    unsigned base = hex ? 16 : 10;
    size_t i = hex ? 2 : minus;
    bool good = i < length;
    for (; i < length && good; i++) {
        unsigned digit = (unsigned)hex_value(text[i]);
        good = digit < base && value <= (UINT64_MAX - digit) / base;
        value = value * base + digit;
    }
    if (!good || (minus && value > (uint64_t)INT64_MAX)) {
        return ovl_hash(0, text, length);
    }
    return minus ? 0 - value : value;
}
