#include "tools/solve.h"

#include "models/range.h"
#include "models/variant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN ((double)NAN) /* a float, as clang sees it */

#define MOST_LOOKS (OVL_SOLVE_LOOKS + OVL_SOLVE_HOLES)

#define REACH 100 /* the range goes this far from the present value, both ways */

/* --- The question --- */

/* One point: the scenario with this value (NULL: as it is). What is wrong with it is told of
 * --solve. */
static ovl_sweep with_value(const ovl_solve *q, const char *value, ovl_arena *arena)
{
    ovl_sweep one = *q->of;
    const ovl_mark mark = {ovl_arena_printf(arena, "--solve %s", q->key), 0, 0};
    ovl_set *sets = OVL_NEW_ARRAY(arena, ovl_set, (size_t)one.n_sets + 1);
    if (one.n_sets) {
        memcpy(sets, one.sets, one.n_sets * sizeof *sets);
    }
    if (value) {
        sets[one.n_sets++] =
            (ovl_set){.path = q->key, .mark = mark, .value = ovl_node_scalar(value, mark, arena)};
    }
    one.sets = sets;
    one.axes = (ovl_axes){.n_points = 1};
    return one;
}

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

/* Whether the errors since `first` say that there is no such key. */
static bool says_unknown(const ovl_errs *errs)
{
    for (uint32_t i = 0; i < errs->count; i++) {
        if (strncmp(errs->items[i].text, "unknown ", 8) == 0) {
            return true;
        }
    }
    return false;
}

/* One of these values in the scenario, for its mistakes alone. */
static void decode(const ovl_solve *q, const char *value, ovl_arena *arena, ovl_errs *errs)
{
    const ovl_sweep one = with_value(q, value, arena);
    ovl_sweep_decode(&one, 0, arena, errs);
}

static void say_no_number(const ovl_solve *q, ovl_arena *arena, ovl_errs *errs)
{
    ovl_errs mistakes = {.arena = arena};
    const ovl_node *node = ovl_path_get(q->of->doc->root, q->key, arena);
    decode(q, "1", arena, &mistakes);
    if (says_unknown(&mistakes)) {
        ovl_sweep_say(&mistakes, errs);
    } else if (node && node->kind == OVL_NODE_SCALAR && node->text[0] == '$') {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                  "\"%s\" is the parameter %s: ask for it, --solve params.%s, or give the range: "
                  "--between '1 GB/s..100 GB/s'",
                  q->key, node->text, node->text + 1);
    } else {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                  "the scenario has no number at \"%s\" to begin from; give the range: --between "
                  "'1 GB/s..100 GB/s'",
                  q->key);
    }
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
        say_no_number(q, arena, errs);
        return false;
    }
    q->from = q->present / REACH;
    q->to = q->present * REACH;
    return good;
}

/* --- Looks --- */

const char *ovl_solve_value(const ovl_solve *q, double value, ovl_arena *arena)
{
    return ovl_arena_printf(arena, "%.12g%s", value, q->unit);
}

bool ovl_solve_look(ovl_solve *q, double value, int64_t *figure, ovl_arena *arena)
{
    ovl_arena scratch = {0};
    ovl_point point;
    const ovl_sweep one =
        with_value(q, isnan(value) ? NULL : ovl_solve_value(q, value, &scratch), &scratch);
    ovl_sweep_point(&one, 0, &point, arena);
    q->simulations++;
    ovl_arena_free(&scratch);
    q->error = NULL;
    if (point.state != OVL_POINT_DONE) {
        q->error = point.error;
    } else if (!ovl_has_figure(&point.figures, q->target.metric)) {
        q->error = ovl_arena_printf(arena, "%s is not known", ovl_metrics[q->target.metric].name);
    } else {
        *figure = point.figures.value[q->target.metric];
    }
    return !q->error;
}

double ovl_solve_middle(const ovl_solve *q, double a, double b)
{
    if (q->whole) {
        return floor((a + b) / 2);
    }
    return a > 0 ? sqrt(a * b) : (a + b) / 2;
}

/* The values to look at. A key that counts refuses halves. */
static uint32_t spread(ovl_solve *q, ovl_spot *looks, ovl_arena *arena)
{
    uint32_t n = 0;
    double low = q->from, high = q->to, middle = floor(ovl_solve_middle(q, low, high));
    int64_t figure = 0;
    if (!*q->unit && !ovl_solve_look(q, middle + 0.5, &figure, arena)) {
        q->whole = ovl_solve_look(q, OVL_MAX(1, middle), &figure, arena);
    }
    if (q->whole) {
        low = ceil(low);
        high = floor(high);
    }
    for (uint32_t i = 0; i < OVL_SOLVE_LOOKS; i++) {
        double part = i / (OVL_SOLVE_LOOKS - 1.0);
        double value = low > 0 ? low * pow(high / low, part) : low + part * (high - low);
        value = i + 1 == OVL_SOLVE_LOOKS ? high : value;
        value = q->whole ? round(value) : value;
        if (n && value <= looks[n - 1].value) {
            continue;
        }
        looks[n] = (ovl_spot){.value = value};
        ovl_solve_look(q, value, &looks[n].figure, arena);
        looks[n++].error = q->error;
    }
    return n;
}

static bool known(const ovl_spot *looks, uint32_t n, int64_t i)
{
    return i >= 0 && i < n && !looks[i].error;
}

/* Adds the ends of what can be simulated to the looks, and names what cannot. Gives how many looks
 * there are then. */
static uint32_t find_gaps(ovl_solve *q, const ovl_spot *looks, uint32_t n, ovl_spot *all,
                          ovl_arena *arena)
{
    uint32_t made = 0;
    for (uint32_t i = 0; i < n; i++) {
        ovl_solve_gap *gap = &q->gaps[q->n_gaps];
        if (known(looks, n, i)) {
            all[made++] = looks[i];
            continue;
        }
        if (i == 0 || known(looks, n, (int64_t)i - 1)) {
            *gap = (ovl_solve_gap){.low = looks[i].value, .low_open = i == 0};
            gap->error = looks[i].error;
        }
        if (i && known(looks, n, (int64_t)i - 1)) {
            all[made++] = ovl_solve_edge(q, looks[i - 1], looks[i], arena);
            gap->low = all[made - 1].value;
        }
        all[made++] = looks[i];
        gap->high = looks[i].value;
        gap->high_open = i + 1 == n;
        if (known(looks, n, (int64_t)i + 1)) {
            all[made++] = ovl_solve_edge(q, looks[i + 1], looks[i], arena);
            gap->high = all[made - 1].value;
        }
        q->n_gaps += gap->high_open || known(looks, n, (int64_t)i + 1);
    }
    return made;
}

/* Least and most; whether it only rises or only falls. False if no look has a figure. */
static bool judge(ovl_solve *q, const ovl_spot *looks, uint32_t n)
{
    bool rises = true, falls = true;
    const ovl_spot *before = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const ovl_spot *x = &looks[i];
        if (x->error) {
            continue;
        }
        q->first = before ? q->first : x->value;
        q->last = x->value;
        q->least = before ? OVL_MIN(q->least, x->figure) : x->figure;
        q->most = before ? OVL_MAX(q->most, x->figure) : x->figure;
        rises &= !before || x->figure >= before->figure;
        falls &= !before || x->figure <= before->figure;
        before = x;
    }
    q->monotone = rises || falls;
    return before;
}

/* No value gave a figure: what is wrong with the first, or with the figure. */
static void fail(ovl_solve *q, ovl_arena *arena, ovl_errs *errs)
{
    ovl_errs mistakes = {.arena = arena};
    ovl_point point;
    q->end = OVL_SOLVE_FAILED;
    decode(q, ovl_solve_value(q, q->from, arena), arena, &mistakes);
    if (mistakes.errors) {
        ovl_sweep_say(&mistakes, errs);
        return;
    }
    const ovl_sweep one = with_value(q, ovl_solve_value(q, q->from, arena), arena);
    ovl_sweep_point(&one, 0, &point, arena);
    if (point.state == OVL_POINT_DONE) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0}, "--for: %s is not known of these runs",
                  ovl_metrics[q->target.metric].name);
    } else {
        ovl_error(errs, point.status, (ovl_mark){0}, "--solve %s: no value can be simulated: %s",
                  q->key, point.error);
    }
}

/* A look at its place among the others; gives how many there are then. */
static uint32_t insert(ovl_spot *looks, uint32_t n, ovl_spot x)
{
    uint32_t at = n;
    for (; at && looks[at - 1].value > x.value; at--) {
        looks[at] = looks[at - 1];
    }
    looks[at] = x;
    return n + 1;
}

/* False if no look has a figure. */
static bool search(ovl_solve *q, const ovl_spot *looks, uint32_t n, ovl_arena *arena)
{
    ovl_spot all[3 * MOST_LOOKS];
    q->n_crossings = q->n_more = q->n_gaps = 0;
    q->hole = (ovl_spot){.error = NULL};
    n = find_gaps(q, looks, n, all, arena);
    if (!judge(q, all, n)) {
        return false;
    }
    ovl_solve_search(q, all, n, arena);
    return true;
}

void ovl_solve_run(ovl_solve *q, ovl_arena *arena, ovl_errs *errs)
{
    ovl_spot looks[MOST_LOOKS];
    q->now = OVL_NEVER;
    if (!ovl_solve_look(q, UNKNOWN, &q->now, arena)) {
        q->now = OVL_NEVER;
    }
    uint32_t n = spread(q, looks, arena);
    if (!search(q, looks, n, arena)) {
        fail(q, arena, errs);
        return;
    }
    for (int i = 0; i < OVL_SOLVE_HOLES && q->hole.error; i++) {
        n = insert(looks, n, q->hole);
        search(q, looks, n, arena);
    }
    bool met = q->n_crossings && !q->crossings[0].jumps;
    q->end = met ? OVL_SOLVE_MET : q->least == q->most ? OVL_SOLVE_FLAT : OVL_SOLVE_NOT_MET;
}
