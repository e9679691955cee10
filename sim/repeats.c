#include "sim/repeats.h"

/* --- Which periods there may be --- */

#define SEEN  4096 /* items remembered, by their last bits */
#define GAPS  1024
#define PROBE 8
#define TRIED 16

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
    qsort(g->gaps, GAPS, sizeof g->gaps[0], compare_weights);
    uint32_t tried = 0;
    while (tried < TRIED && g->gaps[tried].count) {
        tried++;
    }
    qsort(g->gaps, tried, sizeof g->gaps[0], compare_lengths);
    return tried;
}

/* --- Runs --- */

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

/* A run of twice or three times a period says nothing new. */
static bool is_multiple(const ovl_repeats *runs, const ovl_repeat *run)
{
    for (uint32_t i = 0; i < runs->len; i++) {
        const ovl_repeat *r = &runs->data[i];
        if (run->period % r->period == 0 && r->first <= run->first && run->end <= r->end) {
            return true;
        }
    }
    return false;
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
    ovl_repeats found = {0}, more = {0};
    guess *g = OVL_NEW(&arena, guess);
    uint32_t tried = guess_periods(g, items, n), kept = 0;
    for (uint32_t i = 0; i < tried && kept < OVL_REPEATS_MAX; i++) {
        more.len = 0;
        find_runs(items, n, g->gaps[i].length, &more);
        if (more.len == 0 || is_multiple(&found, &more.data[0])) {
            continue;
        }
        for (uint32_t k = 0; k < more.len; k++) {
            ovl_vec_push(&found, more.data[k]);
        }
        kept++;
    }
    if (found.len) {
        qsort(found.data, found.len, sizeof *found.data, compare_runs);
    }
    for (uint32_t i = 0; i < found.len; i++) {
        ovl_vec_push(runs, found.data[i]);
    }
    ovl_vec_free(&more);
    ovl_vec_free(&found);
    ovl_arena_free(&arena);
}
