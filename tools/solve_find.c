/* Which values of a key meet a figure: from looks over the range to ends that were halved. */
#include "tools/solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define UNKNOWN ((double)NAN) /* a float, as clang sees it */

#define CLOSE   1e-12 /* of the value that meets the target: no need to look nearer */
#define NEAR    1e-8  /* of the ends of values that meet it */
#define PERCENT 1.01
#define GOLDEN  0.6180339887498949

/* Below, in or above the window. */
static int side(ovl_window w, int64_t figure)
{
    return figure < w.low ? -1 : figure > w.high;
}

static int64_t distance(const ovl_solve *q, ovl_spot s)
{
    return llabs(s.figure - q->target.value);
}

/* A value between the two that is neither; false if there is none, or it cannot be simulated. */
static bool look_between(ovl_solve *q, ovl_spot a, ovl_spot b, double close, ovl_spot *m,
                         ovl_arena *arena)
{
    m->value = ovl_solve_middle(q, a.value, b.value);
    double least = fmin(a.value, b.value), most = fmax(a.value, b.value);
    q->error = NULL; /* only a look that was made has one */
    return m->value > least && m->value < most &&
           most - least > close * fmax(fabs(least), fabs(most)) &&
           ovl_solve_look(q, m->value, &m->figure, arena);
}

/* The last value from `in` towards `out` that can be simulated and whose figure is in the window;
 * the shorter decimal where one is as near. */
static ovl_spot end_of(ovl_solve *q, ovl_window w, ovl_spot in, ovl_spot out, ovl_arena *arena)
{
    ovl_spot m = {0};
    char text[40];
    for (int i = 0; i < 200; i++) {
        bool good = look_between(q, in, out, NEAR, &m, arena);
        if (!good && !q->error) {
            break;
        }
        *(good && side(w, m.figure) == 0 ? &in : &out) = m;
    }
    for (int digits = 1; digits < 9 && !q->whole; digits++) {
        ovl_spot r = {.value = 0};
        snprintf(text, sizeof text, "%.*g", digits, in.value);
        r.value = strtod(text, NULL);
        if (fabs(r.value - in.value) <= 2 * NEAR * fabs(in.value) &&
            ovl_solve_look(q, r.value, &r.figure, arena) && side(w, r.figure) == 0) {
            return r;
        }
    }
    return in;
}

ovl_spot ovl_solve_edge(ovl_solve *q, ovl_spot in, ovl_spot out, ovl_arena *arena)
{
    return end_of(q, (ovl_window){INT64_MIN, INT64_MAX}, in, out, arena);
}

/* Halves until the two spots on both sides of the target are as near as can be. */
static void cross(ovl_solve *q, ovl_spot *a, ovl_spot *b, ovl_arena *arena)
{
    int64_t target = q->target.value;
    ovl_spot m;
    for (int i = 0; i < 200 && a->figure != target && b->figure != target; i++) {
        if (!look_between(q, *a, *b, CLOSE, &m, arena)) {
            return;
        }
        bool with_a = m.figure != target && (m.figure > target) == (a->figure > target);
        *(with_a ? a : b) = m;
    }
}

/* The shortest decimal from `low` to `high` that gives a figure as near to the target. */
static ovl_spot rounded(ovl_solve *q, ovl_spot s, double low, double high, ovl_arena *arena)
{
    char text[40];
    for (int digits = 1; digits < 12 && !q->whole; digits++) {
        ovl_spot r = {.value = 0};
        snprintf(text, sizeof text, "%.*g", digits, s.value);
        r.value = strtod(text, NULL);
        if (r.value >= low && r.value <= high && ovl_solve_look(q, r.value, &r.figure, arena) &&
            distance(q, r) <= distance(q, s)) {
            return r;
        }
    }
    return s;
}

/* The values around `s`, which is in the window, that are, too: looks before `left` and from
 * `right` on lie outside of it or beside it. */
static void find_ends(ovl_solve *q, ovl_window w, const ovl_spot *looks, uint32_t n, int64_t left,
                      int64_t right, ovl_solution *c, ovl_arena *arena)
{
    ovl_spot s = {.value = c->value, .figure = c->figure}, low = s, high = s;
    while (left >= 0 && side(w, looks[left].figure) == 0) {
        low = looks[left--];
    }
    while (right < n && side(w, looks[right].figure) == 0) {
        high = looks[right++];
    }
    c->low_open = left < 0;
    c->high_open = right >= n;
    low = c->low_open ? low : end_of(q, w, low, looks[left], arena);
    high = c->high_open ? high : end_of(q, w, high, looks[right], arena);
    c->low = low.value;
    c->high = high.value;
    c->level = low.figure == s.figure && high.figure == s.figure;
}

static ovl_solution *add(ovl_solve *q, ovl_spot s)
{
    if (q->n_crossings == OVL_SOLVE_CROSSINGS) {
        q->n_more++;
        return NULL;
    }
    ovl_solution *c = &q->crossings[q->n_crossings++];
    *c = (ovl_solution){
        .value = s.value, .figure = s.figure, .low = s.value, .high = s.value, .slope = UNKNOWN};
    return c;
}

/* Of values that all give the same the present one is told, if it is one of them. */
static void prefer_present(const ovl_solve *q, ovl_solution *c)
{
    if (c->level && q->present >= c->low && q->present <= c->high) {
        c->value = q->present;
    }
}

/* A solution at `s`, found with looks up to `left` and from `right` on beside it. */
static void add_met(ovl_solve *q, ovl_window w, const ovl_spot *looks, uint32_t n, int64_t left,
                    int64_t right, ovl_spot s, ovl_arena *arena)
{
    int64_t more = 0;
    int64_t from = OVL_MIN(left, right - 1), to = OVL_MAX(right, left + 1);
    s = rounded(q, s, from >= 0 ? looks[from].value : q->from, to < n ? looks[to].value : q->to,
                arena);
    ovl_solution *c = add(q, s);
    if (!c) {
        return;
    }
    find_ends(q, w, looks, n, left, right, c, arena);
    prefer_present(q, c);
    if (!q->whole && !c->level && ovl_solve_look(q, s.value * PERCENT, &more, arena)) {
        c->slope = (double)(more - s.figure);
    }
}

static void add_jump(ovl_solve *q, ovl_spot near, ovl_spot far)
{
    ovl_solution *c = add(q, near);
    if (c) {
        c->jumps = true;
        c->beyond = far.figure;
    }
}

/* Looks i .. k - 1 are in the window: of them and what is beside them the one nearest to the
 * target. */
static ovl_spot best_of(ovl_solve *q, const ovl_spot *looks, uint32_t n, uint32_t i, uint32_t k,
                        ovl_arena *arena)
{
    int64_t target = q->target.value;
    ovl_spot best = looks[i];
    for (uint32_t j = i; j < k; j++) {
        best = distance(q, looks[j]) < distance(q, best) ? looks[j] : best;
    }
    for (uint32_t j = i ? i - 1 : 0; j < k && j + 1 < n && best.figure != target; j++) {
        if ((looks[j].figure < target) != (looks[j + 1].figure < target)) {
            ovl_spot a = looks[j], b = looks[j + 1];
            cross(q, &a, &b, arena);
            ovl_spot near = distance(q, a) <= distance(q, b) ? a : b;
            return distance(q, near) < distance(q, best) ? near : best;
        }
    }
    return best;
}

static void find_met(ovl_solve *q, ovl_window w, const ovl_spot *looks, uint32_t n,
                     ovl_arena *arena)
{
    for (uint32_t i = 0; i < n;) {
        if (side(w, looks[i].figure) == 0) {
            uint32_t k = i + 1;
            while (k < n && side(w, looks[k].figure) == 0) {
                k++;
            }
            add_met(q, w, looks, n, (int64_t)k - 1, i, best_of(q, looks, n, i, k, arena), arena);
            i = k;
            continue;
        }
        if (i + 1 < n && side(w, looks[i].figure) * side(w, looks[i + 1].figure) < 0) {
            ovl_spot a = looks[i], b = looks[i + 1];
            cross(q, &a, &b, arena);
            bool first = distance(q, a) <= distance(q, b);
            ovl_spot near = first ? a : b, far = first ? b : a;
            const char *error = q->error;
            if (side(w, near.figure) == 0) {
                add_met(q, w, looks, n, i, (int64_t)i + 1, near, arena);
            } else if (error) {
                q->hole =
                    (ovl_spot){.value = ovl_solve_middle(q, a.value, b.value), .error = error};
            } else {
                add_jump(q, near, far);
            }
        }
        i++;
    }
}

/* --- Out of reach --- */

/* Between two looks there is one that is nearer than both: by golden sections to the nearest. */
static ovl_spot valley(ovl_solve *q, double low, ovl_spot best, double high, ovl_arena *arena)
{
    for (int i = 0; i < 60 && high - low > NEAR * fabs(high); i++) {
        bool up = high - best.value > best.value - low;
        ovl_spot m = {.value = best.value + (1 - GOLDEN) * ((up ? high : low) - best.value)};
        m.value = q->whole ? round(m.value) : m.value;
        if (m.value == best.value || !ovl_solve_look(q, m.value, &m.figure, arena)) {
            break;
        }
        bool nearer = distance(q, m) < distance(q, best);
        if (nearer) {
            *(up ? &low : &high) = best.value;
            best = m;
        } else {
            *(up ? &high : &low) = m.value;
        }
    }
    return best;
}

/* Where the figure stays on one side: the nearest, which may meet the target between two looks. */
static void find_nearest(ovl_solve *q, ovl_window w, const ovl_spot *looks, uint32_t n,
                         ovl_arena *arena)
{
    uint32_t at = 0;
    for (uint32_t i = 1; i < n; i++) {
        at = distance(q, looks[i]) < distance(q, looks[at]) ? i : at;
    }
    ovl_spot best = looks[at];
    if (at && at + 1 < n && distance(q, looks[at + 1]) > distance(q, best)) {
        best = valley(q, looks[at - 1].value, best, looks[at + 1].value, arena);
    }
    int64_t left = best.value > looks[at].value ? at : (int64_t)at - 1;
    if (side(w, best.figure) == 0) {
        add_met(q, w, looks, n, left, left + 1, best, arena);
        return;
    }
    ovl_window same = {best.figure, best.figure};
    q->nearest = (ovl_solution){.value = best.value, .figure = best.figure};
    find_ends(q, same, looks, n, left, left + 1, &q->nearest, arena);
}

/* --- All --- */

/* What meets it before what jumps; then the nearest to the present value, by ratio as the range
 * is. */
static bool comes_before(const ovl_solve *q, const ovl_solution *a, const ovl_solution *b)
{
    double at = isnan(q->present) || q->present <= 0 ? q->from : q->present;
    if (a->jumps != b->jumps) {
        return b->jumps;
    }
    return at > 0 ? fabs(log(a->value / at)) < fabs(log(b->value / at)) : a->value < b->value;
}

static void sort(ovl_solve *q)
{
    for (uint32_t i = 1; i < q->n_crossings; i++) {
        for (uint32_t k = i; k > 0; k--) {
            ovl_solution *a = &q->crossings[k - 1], *b = &q->crossings[k];
            if (comes_before(q, b, a)) {
                ovl_solution other = *a;
                *a = *b;
                *b = other;
            }
        }
    }
}

/* Where it is met nobody asks where it is not. */
static void drop_jumps(ovl_solve *q)
{
    for (uint32_t i = 1; i < q->n_crossings; i++) {
        if (q->crossings[i].jumps && !q->crossings[0].jumps) {
            q->n_crossings = i;
            q->n_more = 0;
        }
    }
}

/* Looks from *i on that have figures; gives how many, *i behind them. */
static uint32_t next_part(const ovl_spot *looks, uint32_t n, uint32_t *i)
{
    uint32_t from = *i;
    while (*i < n && !looks[*i].error) {
        ++*i;
    }
    return *i - from;
}

void ovl_solve_search(ovl_solve *q, const ovl_spot *looks, uint32_t n, ovl_arena *arena)
{
    const ovl_window w = {q->target.value - q->precision, q->target.value + q->precision};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t part = next_part(looks, n, &i);
        find_met(q, w, looks + i - part, part, arena);
    }
    bool met = q->n_crossings, any = false;
    for (uint32_t i = 0; i < n && !met; i++) {
        uint32_t part = next_part(looks, n, &i);
        const ovl_solution before = q->nearest;
        if (part) {
            find_nearest(q, w, looks + i - part, part, arena);
            bool nearer = !any || llabs(q->nearest.figure - q->target.value) <
                                      llabs(before.figure - q->target.value);
            q->nearest = nearer ? q->nearest : before;
            any = true;
        }
    }
    sort(q);
    drop_jumps(q);
    if (q->n_crossings && q->crossings[0].jumps) {
        for (uint32_t i = 0; i < q->n_crossings; i++) {
            const ovl_solution *c = &q->crossings[i];
            bool nearer = i == 0 || llabs(c->figure - q->target.value) <
                                        llabs(q->nearest.figure - q->target.value);
            q->nearest = nearer ? *c : q->nearest;
        }
    }
}
