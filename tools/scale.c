#include "tools/scale.h"

#include <stdio.h>
#include <string.h>

#define DIGITS 6

static const ovl_time unit_size[] = {1, OVL_NS, OVL_US, OVL_MS, OVL_S};

static ovl_time power_of_ten(int n)
{
    ovl_time value = 1;
    while (n-- > 0) {
        value *= 10;
    }
    return value;
}

/* Picoseconds of the last decimal. */
static ovl_time step_of(const ovl_scale *scale)
{
    return unit_size[scale->unit] / power_of_ten(scale->decimals);
}

static ovl_time size_of(ovl_time t)
{
    return t < 0 ? -t : t;
}

static ovl_time rounded(ovl_time t, ovl_time step)
{
    ovl_time size = size_of(t);
    ovl_time whole = size / step * step;
    whole += size - whole >= step - step / 2 && size != whole ? step : 0;
    return t < 0 ? -whole : whole;
}

ovl_scale ovl_scale_for(ovl_time largest)
{
    return (ovl_scale){ovl_time_unit_for(largest), 0};
}

/* Decimals that leave `largest` six significant digits, within what a picosecond can say. */
static int most_decimals(ovl_time_unit unit, ovl_time largest)
{
    int decimals = DIGITS - 1;
    for (ovl_time whole = size_of(largest) / unit_size[unit]; whole >= 10; whole /= 10) {
        decimals--;
    }
    int finest = 3 * (int)unit; /* a picosecond in this unit */
    return OVL_MAX(0, OVL_MIN(decimals, finest));
}

void ovl_scale_fit(ovl_scale *scale, ovl_time largest, ovl_time t)
{
    int most = most_decimals(scale->unit, largest);
    while (t != OVL_NEVER && scale->decimals < most && t % step_of(scale) != 0) {
        scale->decimals++;
    }
}

ovl_scale ovl_scale_of(const ovl_time *times, uint32_t n)
{
    ovl_time largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        largest = times[i] == OVL_NEVER ? largest : OVL_MAX(largest, size_of(times[i]));
    }
    ovl_scale scale = ovl_scale_for(largest);
    for (uint32_t i = 0; i < n; i++) {
        ovl_scale_fit(&scale, largest, times[i]);
    }
    return scale;
}

const char *ovl_scale_unit(const ovl_scale *scale)
{
    return ovl_time_unit_name(scale->unit);
}

ovl_time ovl_scale_round(const ovl_scale *scale, ovl_time t)
{
    return t == OVL_NEVER ? t : rounded(t, step_of(scale));
}

const char *ovl_scale_show(char buf[OVL_UNITS_TEXT], const ovl_scale *scale, ovl_time t)
{
    if (t == OVL_NEVER || t == 0) {
        snprintf(buf, OVL_UNITS_TEXT, "%s", t ? "-" : "0");
        return buf;
    }
    ovl_time step = step_of(scale);
    ovl_time steps = size_of(rounded(t, step)) / step;
    ovl_time per_unit = power_of_ten(scale->decimals);
    const char *sign = t < 0 && steps ? "-" : "";
    if (scale->decimals == 0) {
        snprintf(buf, OVL_UNITS_TEXT, "%s%" PRId64, sign, steps);
    } else {
        snprintf(buf, OVL_UNITS_TEXT, "%s%" PRId64 ".%0*" PRId64, sign, steps / per_unit,
                 scale->decimals, steps % per_unit);
    }
    return buf;
}

const char *ovl_scale_short(char buf[OVL_UNITS_TEXT], const ovl_scale *scale, ovl_time t)
{
    ovl_scale_show(buf, scale, t);
    if (strchr(buf, '.')) {
        size_t length = strlen(buf);
        while (buf[length - 1] == '0') {
            length--;
        }
        buf[buf[length - 1] == '.' ? length - 1 : length] = '\0';
    }
    return buf;
}

/* Terms are rounded down (towards minus infinity), then those with the largest remainders go up by
 * one step until the sum is right. Ties go to the larger remainder's first term. */
ovl_time ovl_scale_terms(const ovl_scale *scale, ovl_time total, ovl_time *terms, uint32_t n)
{
    ovl_time step = step_of(scale);
    ovl_time whole = rounded(total, step);
    ovl_time missing = whole;
    enum { MOST = 16 };
    ovl_time rest[MOST] = {0};
    assert(n <= MOST);
    for (uint32_t i = 0; i < n; i++) {
        rest[i] = (terms[i] % step + step) % step;
        terms[i] -= rest[i];
        missing -= terms[i];
    }
    while (missing > 0) {
        uint32_t most = 0;
        for (uint32_t i = 1; i < n; i++) {
            most = rest[i] > rest[most] ? i : most;
        }
        assert(rest[most] > 0);
        terms[most] += step;
        rest[most] = 0;
        missing -= step;
    }
    return whole;
}
