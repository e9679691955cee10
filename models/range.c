#include "models/range.h"

#include "sim/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ovl_range_meant(const char *text)
{
    return strstr(text, "..") != NULL;
}

/* A number at the beginning of a text: digits with a point, an exponent, a sign. */
static bool number(const char *text, double *value, const char **rest)
{
    char *end = NULL;
    if (!*text || !strchr("0123456789.", *text)) {
        return false;
    }
    *value = strtod(text, &end);
    *rest = end;
    return end != text && isfinite(*value);
}

static const char *trimmed(const char *from, size_t length, ovl_arena *arena)
{
    while (length && *from == ' ') {
        from++;
        length--;
    }
    while (length && from[length - 1] == ' ') {
        length--;
    }
    return ovl_arena_strndup(arena, from, length);
}

/* How large one of a unit is, in the base unit of its kind; 0 if it is no unit. The kinds are told
 * apart by `kind`. */
static double size_of(const char *unit, int kind, ovl_arena *arena)
{
    const char *one = ovl_arena_printf(arena, "1 %s", unit);
    ovl_time time = 0;
    uint64_t whole = 0;
    switch (kind) {
    case 0:
        return ovl_read_time(one, &time) ? 0 : (double)time;
    case 1:
        return ovl_read_bytes(one, &whole) ? 0 : (double)whole;
    default:
        return ovl_read_rate(one, &whole) ? 0 : (double)whole;
    }
}

/* Turns a value in unit `from` into one in unit `to`; false if they are of different kinds. */
static bool convert(double *value, const char *from, const char *to, ovl_arena *arena)
{
    for (int kind = 0; kind < 3; kind++) {
        double a = size_of(from, kind, arena), b = size_of(to, kind, arena);
        if (a > 0 && b > 0) {
            *value = *value * a / b;
            return true;
        }
    }
    return strcmp(from, to) == 0;
}

/* "+4" or "*2" at the end of a text; behind the number only a unit that is the range's. */
static const char *read_step(const char *at, ovl_range *r, const char *unit, bool one_unit,
                             ovl_arena *arena)
{
    const char *rest = NULL;
    r->times = *at == '*';
    if (!number(at + 1 + strspn(at + 1, " "), &r->step, &rest)) {
        return "expected a number behind + or *, as in 0..16+4 or 1 MiB..64 MiB*2";
    }
    const char *own = trimmed(rest, strlen(rest), arena);
    if (r->times && *own) {
        return "a factor has no unit";
    }
    if (!r->times && !*own && !one_unit) {
        return "where the ends have different units the step needs its own";
    }
    if (*own && !convert(&r->step, own, unit, arena)) {
        return "a step has a unit of the same kind as the range";
    }
    if (r->times ? r->step <= 1 : r->step <= 0) {
        return r->times ? "a factor must be greater than 1" : "a step must be greater than 0";
    }
    return NULL;
}

/* A factor or step that meets the end up to what doubles lose does meet it. */
static const char *count_values(ovl_range *r)
{
    if (r->to < r->from) {
        return "a range goes from the smaller value to the larger";
    }
    if (r->times && r->from <= 0) {
        return "a range that multiplies begins above 0";
    }
    double steps = r->times ? log(r->to / r->from) / log(r->step) : (r->to - r->from) / r->step;
    if (steps >= OVL_RANGE_MAX) {
        return "a range has at most 1,000,000 values";
    }
    r->count = (uint32_t)floor(steps + 1e-9) + 1;
    return NULL;
}

const char *ovl_range_read(const char *text, ovl_range *range, ovl_arena *arena)
{
    const char *dots = strstr(text, ".."), *rest = NULL;
    ovl_range r = {.step = 1};
    assert(dots);
    const char *from = trimmed(text, (size_t)(dots - text), arena);
    const char *to = dots + 2 + strspn(dots + 2, " ");
    if (!number(from, &r.from, &rest) || (*rest == '.' && !rest[1])) {
        return "expected a range such as 0..3, 0..16+4 or 1 MiB..64 MiB*2";
    }
    const char *first_unit = trimmed(rest, strlen(rest), arena);
    if (!number(to, &r.to, &rest)) {
        return "expected a range such as 0..3, 0..16+4 or 1 MiB..64 MiB*2";
    }
    size_t length = strcspn(rest, "+*");
    const char *end = rest + length, *last_unit = trimmed(rest, length, arena);
    const char *unit = *first_unit ? first_unit : last_unit;
    if (!convert(&r.to, last_unit, unit, arena)) {
        return "both ends of a range have units of one kind: 1 MiB..64 MiB";
    }
    r.unit = *unit ? ovl_arena_printf(arena, " %s", unit) : "";
    const char *why = *end ? read_step(end, &r, unit, strcmp(unit, last_unit) == 0, arena) : NULL;
    why = why ? why : count_values(&r);
    if (!why) {
        *range = r;
    }
    return why;
}

static const char *shown(const ovl_range *r, double value, ovl_arena *arena)
{
    return ovl_arena_printf(arena, "%.12g%s", value, r->unit);
}

const char *ovl_range_value(const ovl_range *r, uint32_t i, ovl_arena *arena)
{
    assert(i < r->count);
    double value = r->from + i * r->step;
    if (r->times) {
        value = r->from;
        for (uint32_t k = 0; k < i; k++) {
            value *= r->step;
        }
    }
    return shown(r, value, arena);
}

const char *ovl_range_between(const ovl_range *r, double part, ovl_arena *arena)
{
    double value =
        r->times ? r->from * exp(part * log(r->to / r->from)) : r->from + part * (r->to - r->from);
    bool whole = !*r->unit && r->from == floor(r->from) && r->to == floor(r->to);
    if (whole) {
        value = r->times ? floor(value + 0.5)
                         : OVL_MIN(r->to, floor(r->from + part * (r->to - r->from + 1)));
    }
    /* Six digits are plenty for a value that was drawn, and hide what exp() loses. */
    return ovl_arena_printf(arena, "%.6g%s", value, r->unit);
}
