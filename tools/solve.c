#include "tools/solve.h"

#include "models/range.h"
#include "models/variant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN ((double)NAN) /* a float, as clang sees it */

#define CLOSE   1e-12 /* of two values: no need to look between them */
#define REACH   100   /* the range goes this far from the present value, both ways */
#define PERCENT 1.01

/* --- The question --- */

/* Half of one in the last digit of "544 ms" or "24.6 GiB". */
static int64_t half_digit(const char *text, int64_t value)
{
    char *end = NULL;
    double number = strtod(text, &end);
    const char *point = memchr(text, '.', (size_t)(end - text));
    double decimals = 0;
    for (const char *c = point ? point + 1 : end; c < end && *c >= '0' && *c <= '9'; c++) {
        decimals++;
    }
    return number > 0 ? (int64_t)((double)value / number * pow(10, -decimals) / 2) : 0;
}

static bool read_target(ovl_solve *q, const char *text, ovl_errs *errs)
{
    if (!ovl_where_read(text, "for", &q->target, errs)) {
        return false;
    }
    if (q->target.relation != OVL_EQUAL) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                  "--for takes a value to be met, such as 'step=544 ms'; found \"%s\"", text);
        return false;
    }
    const char *value = strchr(text, '=');
    value += strspn(value, "= ");
    q->precision = half_digit(value, q->target.value);
    return true;
}

static const char *unit_of(const char *rest, ovl_arena *arena)
{
    rest += strspn(rest, " ");
    size_t length = strlen(rest);
    while (length && rest[length - 1] == ' ') {
        length--;
    }
    return length ? ovl_arena_printf(arena, " %.*s", (int)length, rest) : "";
}

static void read_present(ovl_solve *q, ovl_arena *arena)
{
    const ovl_sweep *of = q->of;
    ovl_node *root = of->doc->root;
    const ovl_node *node = NULL;
    const ovl_node *variant =
        of->variant ? ovl_node_get(ovl_node_get(root, "variants"), of->variant) : NULL;
    q->present = UNKNOWN;
    q->unit = "";
    for (uint32_t i = of->n_sets; i-- > 0 && !node;) { /* the last one counts */
        const char *equals = of->sets[i].text ? strchr(of->sets[i].text, '=') : NULL;
        size_t length = equals ? (size_t)(equals - of->sets[i].text) : 0;
        if (equals && length == strlen(q->key) && strncmp(of->sets[i].text, q->key, length) == 0) {
            node = ovl_node_scalar(equals + 1, (ovl_mark){0}, arena);
        }
    }
    node = node ? node : ovl_node_get(variant, q->key);
    node = node ? node : ovl_path_get(root, q->key, arena);
    if (!node || node->kind != OVL_NODE_SCALAR) {
        return;
    }
    char *end = NULL;
    double value = strtod(node->text, &end);
    if (end != node->text && isfinite(value)) {
        q->present = value;
        q->unit = unit_of(end, arena);
    }
}

static bool read_range(ovl_solve *q, const char *text, ovl_arena *arena, ovl_errs *errs)
{
    ovl_range range;
    const char *why = ovl_range_meant(text) ? ovl_range_read(text, &range, arena)
                                            : "expected a range such as 1 GB/s..100 GB/s";
    if (!why && range.from == range.to) {
        why = "a range has two ends";
    }
    if (why) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0}, "--between %s: %s", text, why);
        return false;
    }
    q->from = range.from;
    q->to = range.to;
    if (strcmp(q->unit, range.unit) != 0) {
        q->present = UNKNOWN; /* in another unit: it is not on this scale */
    }
    q->unit = range.unit;
    return true;
}

bool ovl_solve_read(ovl_solve *q, const char *key, const char *target, const char *range,
                    ovl_arena *arena, ovl_errs *errs)
{
    q->key = key;
    bool good = read_target(q, target, errs);
    read_present(q, arena);
    if (range) {
        return read_range(q, range, arena, errs) && good;
    }
    if (isnan(q->present) || q->present <= 0) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                  "the scenario has no number at \"%s\" to begin from; give the range: --between "
                  "'1 GB/s..100 GB/s'",
                  key);
        return false;
    }
    q->from = q->present / REACH;
    q->to = q->present * REACH;
    return good;
}

/* --- The answer --- */

const char *ovl_solve_value(const ovl_solve *q, double value, ovl_arena *arena)
{
    return ovl_arena_printf(arena, "%.12g%s", value, q->unit);
}

/* The figure with this value; false if it cannot be simulated (the first error is kept), or does
 * not apply. UNKNOWN leaves the scenario as it is. */
static bool look(ovl_solve *q, double value, int64_t *figure, ovl_arena *arena)
{
    ovl_arena scratch = {0};
    ovl_point point;
    ovl_sweep one = *q->of;
    ovl_set *sets = OVL_NEW_ARRAY(&scratch, ovl_set, (size_t)one.n_sets + 1);
    if (one.n_sets) {
        memcpy(sets, one.sets, one.n_sets * sizeof *sets);
    }
    one.axes = (ovl_axes){.n_points = 1};
    one.sets = sets;
    if (!isnan(value)) {
        sets[one.n_sets++].text =
            ovl_arena_printf(&scratch, "%s=%s", q->key, ovl_solve_value(q, value, &scratch));
    }
    ovl_sweep_point(&one, 0, &point, arena);
    q->simulations++;
    ovl_arena_free(&scratch);
    if (point.state != OVL_POINT_DONE) {
        q->error = q->error ? q->error : point.error;
        return false;
    }
    *figure = point.figures.value[q->target.metric];
    return ovl_has_figure(&point.figures, q->target.metric);
}

typedef struct spot {
    double value;
    int64_t figure;
} spot;

static double middle(const ovl_solve *q, double a, double b)
{
    if (q->whole) {
        return floor((a + b) / 2);
    }
    return a > 0 ? sqrt(a * b) : (a + b) / 2;
}

/* Where between two spots on both sides of `target` the figure passes it: the nearer of the last
 * two. */
static spot cross(ovl_solve *q, spot a, spot b, int64_t target, ovl_arena *arena)
{
    for (int i = 0; i < 200 && a.figure != target && b.figure != target; i++) {
        spot m = {.value = middle(q, a.value, b.value)};
        if (m.value <= a.value || m.value >= b.value || b.value - a.value <= CLOSE * b.value ||
            !look(q, m.value, &m.figure, arena)) {
            break;
        }
        bool same_side = (m.figure > target) == (a.figure > target);
        *(same_side && m.figure != target ? &a : &b) = m;
    }
    return llabs(a.figure - target) <= llabs(b.figure - target) ? a : b;
}

/* The shortest decimal that gives a figure as near to the target. */
static spot rounded(ovl_solve *q, spot s, ovl_arena *arena)
{
    char text[40];
    for (int digits = 1; digits < 12 && !q->whole; digits++) {
        spot r = {.value = 0};
        snprintf(text, sizeof text, "%.*g", digits, s.value);
        r.value = strtod(text, NULL);
        if (look(q, r.value, &r.figure, arena) &&
            llabs(r.figure - q->target.value) <= llabs(s.figure - q->target.value)) {
            return r;
        }
    }
    return s;
}

/* From look `at` on towards `way`, where the figure leaves target +- precision; UNKNOWN if it does
 * not.
 */
static double edge(ovl_solve *q, const spot *looks, uint32_t n, int64_t at, int way, spot from,
                   ovl_arena *arena)
{
    int64_t low = q->target.value - q->precision, high = q->target.value + q->precision;
    spot before = from;
    for (int64_t i = at; i >= 0 && i < n; i += way) {
        spot next = looks[i];
        if (next.figure < low || next.figure > high) {
            int64_t bound = next.figure < low ? low : high;
            spot a = way > 0 ? before : next, b = way > 0 ? next : before;
            return cross(q, a, b, bound, arena).value;
        }
        before = next;
    }
    return UNKNOWN;
}

static void add_crossing(ovl_solve *q, const spot *looks, uint32_t n, uint32_t left, spot found,
                         ovl_arena *arena)
{
    if (q->n_crossings == OVL_SOLVE_CROSSINGS) {
        return;
    }
    spot s = rounded(q, found, arena);
    int64_t more = 0;
    ovl_solution *c = &q->crossings[q->n_crossings++];
    *c = (ovl_solution){
        .value = s.value, .low = UNKNOWN, .high = UNKNOWN, .figure = s.figure, .slope = UNKNOWN};
    if (q->whole) {
        return;
    }
    c->low = edge(q, looks, n, left, -1, s, arena);
    c->high = edge(q, looks, n, (int64_t)left + 1, 1, s, arena);
    if (look(q, s.value * PERCENT, &more, arena)) {
        c->slope = (double)(more - s.figure);
    }
}

static void find_crossings(ovl_solve *q, const spot *looks, uint32_t n, ovl_arena *arena)
{
    int64_t target = q->target.value;
    for (uint32_t i = 0; i + 1 < n; i++) {
        const spot *a = &looks[i], *b = &looks[i + 1];
        bool passes = (a->figure < target) != (b->figure < target) || a->figure == target;
        bool again = i && a->figure == target && looks[i - 1].figure != target;
        if (passes && !again && a->figure != b->figure) {
            add_crossing(q, looks, n, i, cross(q, *a, *b, target, arena), arena);
        }
    }
}

/* The values to look at. A key that counts refuses halves. */
static uint32_t spread(ovl_solve *q, spot *looks, ovl_arena *arena)
{
    uint32_t n = 0;
    double low = q->from, high = q->to;
    int64_t figure = 0;
    if (!*q->unit && !look(q, floor(middle(q, low, high)) + 0.5, &figure, arena)) {
        q->whole = look(q, OVL_MAX(1, floor(middle(q, low, high))), &figure, arena);
        q->error = q->whole ? NULL : q->error;
    }
    if (q->whole) {
        low = ceil(low);
        high = floor(high);
    }
    for (uint32_t i = 0; i < OVL_SOLVE_LOOKS; i++) {
        double part = i / (OVL_SOLVE_LOOKS - 1.0);
        double value = low > 0 ? low * pow(high / low, part) : low + part * (high - low);
        value = q->whole ? round(value) : value;
        if (n && value <= looks[n - 1].value) {
            continue;
        }
        looks[n].value = value;
        n += look(q, value, &looks[n].figure, arena);
    }
    return n;
}

/* Least and most; whether it only rises or only falls. */
static void judge(ovl_solve *q, const spot *looks, uint32_t n)
{
    bool rises = true, falls = true;
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || looks[i].figure < q->least) {
            q->least = looks[i].figure;
            q->least_at = looks[i].value;
        }
        if (i == 0 || looks[i].figure > q->most) {
            q->most = looks[i].figure;
            q->most_at = looks[i].value;
        }
        rises &= i == 0 || looks[i].figure >= looks[i - 1].figure;
        falls &= i == 0 || looks[i].figure <= looks[i - 1].figure;
    }
    q->monotone = rises || falls;
}

/* The nearest to the present value first; by ratio, as the range is. */
static void sort(ovl_solve *q)
{
    double at = isnan(q->present) || q->present <= 0 ? q->from : q->present;
    for (uint32_t i = 1; i < q->n_crossings; i++) {
        for (uint32_t k = i; k > 0; k--) {
            ovl_solution *a = &q->crossings[k - 1], *b = &q->crossings[k];
            if (fabs(log(b->value / at)) < fabs(log(a->value / at))) {
                ovl_solution other = *a;
                *a = *b;
                *b = other;
            }
        }
    }
}

void ovl_solve_run(ovl_solve *q, ovl_arena *arena)
{
    spot looks[OVL_SOLVE_LOOKS + 1];
    q->now = OVL_NEVER;
    if (!look(q, UNKNOWN, &q->now, arena)) {
        q->now = OVL_NEVER;
    }
    q->error = NULL;
    uint32_t n = spread(q, looks, arena);
    judge(q, looks, n);
    if (n < 2) {
        q->end = OVL_SOLVE_FAILED;
    } else if (q->least == q->most) {
        q->end = OVL_SOLVE_FLAT;
    } else {
        find_crossings(q, looks, n, arena);
        sort(q);
        q->end = q->n_crossings ? OVL_SOLVE_MET : OVL_SOLVE_NOT_MET;
    }
}
