#include "sim/repeats.h"

/* --- Which periods there may be --- */

#define SEEN   4096 /* items remembered, by their last bits */
#define GAPS   1024
#define PROBE  8
#define TRIED  16
#define PLACES 64

/* How often an item came again so many places later. */
typedef struct gap {
    uint32_t length, count;
} gap;

typedef struct guess {
    uint32_t item[SEEN], at[SEEN]; /* index + 1; 0: none yet */
    gap gaps[GAPS];
} guess;

static void note_gap(guess *g, uint32_t length)
{
    uint32_t at = length * UINT32_C(0x9E3779B1) / (UINT32_MAX / GAPS + 1);
    for (uint32_t i = 0; i < PROBE; i++) {
        gap *x = &g->gaps[(at + i) % GAPS];
        if (x->count == 0 || x->length == length) {
            x->length = length;
            x->count++;
            return;
        }
    }
}

/* What of the list a distance accounts for. */
static uint64_t weight(const gap *g)
{
    return (uint64_t)g->length * g->count;
}

static int compare_weights(const void *a, const void *b)
{
    const gap *x = a, *y = b;
    if (weight(x) != weight(y)) {
        return weight(x) > weight(y) ? -1 : 1;
    }
    return (x->length > y->length) - (x->length < y->length);
}

static int compare_lengths(const void *a, const void *b)
{
    const gap *x = a, *y = b;
    return (x->length > y->length) - (x->length < y->length);
}

/* The likely periods, the shortest first; gives how many there are. */
static uint32_t guess_periods(guess *g, const uint32_t *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = items[i] % SEEN;
        if (g->at[slot] && g->item[slot] == items[i]) {
            note_gap(g, i + 1 - g->at[slot]);
        }
        g->item[slot] = items[i];
        g->at[slot] = i + 1;
    }
    uint32_t found = 0;
    for (uint32_t i = 0; i < GAPS; i++) {
        if (g->gaps[i].count) {
            g->gaps[found++] = g->gaps[i];
        }
    }
    qsort(g->gaps, found, sizeof g->gaps[0], compare_weights);
    uint32_t tried = OVL_MIN(found, TRIED);
    qsort(g->gaps, tried, sizeof g->gaps[0], compare_lengths);
    return tried;
}

/* --- Runs --- */

/* Is it worth to look for runs of this period? Some places are tried: a run that holds less than a
 * few of a hundred items may be missed. */
static bool is_likely(const uint32_t *items, uint32_t n, uint32_t period)
{
    uint32_t hits = 0, left = n - period;
    for (uint32_t i = 0; i < PLACES && left > PLACES * PLACES; i++) {
        uint32_t at = (uint32_t)((uint64_t)left * i / PLACES);
        hits += items[at] == items[at + period];
    }
    return left <= PLACES * PLACES || hits > 2;
}

static void find_runs(const uint32_t *items, uint32_t n, uint32_t period, ovl_repeats *runs)
{
    uint32_t first = 0;
    for (uint64_t i = period; i <= n; i++) {
        if (i < n && items[i] == items[i - period]) {
            continue;
        }
        if ((i - first) / period >= OVL_REPEATS_BLOCKS) {
            ovl_vec_push(runs, (ovl_repeat){period, first, (uint32_t)i});
        }
        first = (uint32_t)(i + 1) - period;
    }
}

/* The last of some runs, in order, that begins no later than `first`. */
static const ovl_repeat *run_at(const ovl_repeat *runs, uint32_t n, uint32_t first)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (runs[middle].first <= first) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low ? &runs[low - 1] : NULL;
}

/* Runs found so far, those of one period behind those of another. */
typedef struct finds {
    ovl_repeats runs;
    uint32_t begin[OVL_REPEATS_MAX + 1], periods;
} finds;

/* A run of twice or three times a period says nothing new. */
static bool is_multiple(const finds *f, const ovl_repeat *run)
{
    for (uint32_t i = 0; i < f->periods; i++) {
        const ovl_repeat *runs = f->runs.data + f->begin[i];
        const ovl_repeat *r = run_at(runs, f->begin[i + 1] - f->begin[i], run->first);
        if (r && run->period % r->period == 0 && run->end <= r->end) {
            return true;
        }
    }
    return false;
}

static void add_period(finds *f, const ovl_repeats *more)
{
    uint32_t before = f->runs.len;
    for (uint32_t i = 0; i < more->len; i++) {
        if (!is_multiple(f, &more->data[i])) {
            ovl_vec_push(&f->runs, more->data[i]);
        }
    }
    if (f->runs.len > before) {
        f->begin[++f->periods] = f->runs.len;
    }
}

static int compare_runs(const void *a, const void *b)
{
    const ovl_repeat *x = a, *y = b;
    if (x->period != y->period) {
        return x->period > y->period ? -1 : 1;
    }
    return (x->first > y->first) - (x->first < y->first);
}

void ovl_repeats_find(const uint32_t *items, uint32_t n, ovl_repeats *runs)
{
    ovl_arena arena = {0};
    ovl_repeats more = {0};
    finds f = {0};
    guess *g = OVL_NEW(&arena, guess);
    uint32_t tried = guess_periods(g, items, n);
    for (uint32_t i = 0; i < tried && f.periods < OVL_REPEATS_MAX; i++) {
        more.len = 0;
        if (is_likely(items, n, g->gaps[i].length)) {
            find_runs(items, n, g->gaps[i].length, &more);
            add_period(&f, &more);
        }
    }
    if (f.runs.len) {
        qsort(f.runs.data, f.runs.len, sizeof *f.runs.data, compare_runs);
    }
    for (uint32_t i = 0; i < f.runs.len; i++) {
        ovl_vec_push(runs, f.runs.data[i]);
    }
    ovl_vec_free(&more);
    ovl_vec_free(&f.runs);
    ovl_arena_free(&arena);
}

/* Where the runs of the next period begin, behind those of the first. */
static uint32_t next_period(const ovl_repeat *runs, uint32_t n)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (runs[middle].period == runs[0].period) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const ovl_repeat *ovl_repeats_at(const ovl_repeat *runs, uint32_t n, uint32_t at, uint32_t shift)
{
    const ovl_repeat *best = NULL;
    for (uint32_t i = 0, next; i < n; i = next) {
        next = i + next_period(runs + i, n - i);
        const ovl_repeat *run = shift % runs[i].period ? NULL : run_at(runs + i, next - i, at);
        bool holds = run && (uint64_t)at + shift < run->end;
        best = holds && (!best || run->end > best->end) ? run : best;
    }
    return best;
}
