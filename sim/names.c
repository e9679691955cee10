#include "sim/names.h"

#include <string.h>

/* FNV-1a, 32 bits. */
static uint32_t hash(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++) {
        h = (h ^ (unsigned char)*text) * 16777619u;
    }
    return h;
}

static uint32_t *find_slot(const ovl_names *names, const char *text)
{
    uint32_t mask = names->n_slots - 1;
    uint32_t at = hash(text) & mask;
    while (names->slots[at] && strcmp(names->text[names->slots[at] - 1], text) != 0) {
        at = (at + 1) & mask;
    }
    return &names->slots[at];
}

/* The old arrays stay in the arena until it ends: doubling wastes at most as much as is used. */
static void grow(ovl_names *names)
{
    uint32_t cap = names->cap ? names->cap * 2 : 32;
    const char **text = OVL_NEW_ARRAY(names->arena, const char *, cap);
    if (names->count) {
        memcpy(text, names->text, names->count * sizeof *text);
    }
    names->text = text;
    names->cap = cap;
    names->n_slots = cap * 2;
    names->slots = OVL_NEW_ARRAY(names->arena, uint32_t, names->n_slots);
    for (uint32_t id = 0; id < names->count; id++) {
        *find_slot(names, names->text[id]) = id + 1;
    }
}

ovl_id ovl_names_add(ovl_names *names, const char *text)
{
    if (names->count == names->cap) {
        grow(names);
    }
    uint32_t *slot = find_slot(names, text);
    if (*slot == 0) {
        names->text[names->count] = ovl_arena_strdup(names->arena, text);
        *slot = ++names->count;
    }
    return *slot - 1;
}

ovl_id ovl_names_find(const ovl_names *names, const char *text)
{
    uint32_t slot = names->n_slots ? *find_slot(names, text) : 0;
    return slot ? slot - 1 : OVL_NONE;
}

const char *ovl_names_text(const ovl_names *names, ovl_id id)
{
    assert(id < names->count);
    return names->text[id];
}

static const char *skip_zeros(const char *digits)
{
    return digits + strspn(digits, "0");
}

int ovl_names_order(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    const char *x = a, *y = b;
    while (*x && *y) {
        size_t m = strspn(x, digits), n = strspn(y, digits);
        if (m == 0 || n == 0) {
            if (*x != *y) {
                break;
            }
            x++;
            y++;
            continue;
        }
        const char *p = skip_zeros(x), *q = skip_zeros(y);
        size_t i = (size_t)(x + m - p), k = (size_t)(y + n - q);
        int order = i != k ? (i > k ? 1 : -1) : memcmp(p, q, i);
        if (order) {
            return order;
        }
        x += m;
        y += n;
    }
    int order = strcmp(x, y);
    return order ? order : strcmp(a, b); /* 07 and 7 */
}

#define LONGEST 63

/* Optimal string alignment: edits, and swaps of neighbours, at cost one each. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= nb; j++) {
        above[j] = j;
    }
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = OVL_MIN(best, OVL_MIN(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                best = OVL_MIN(best, before[j - 2] + 1);
            }
            row[j] = best;
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[nb];
}

const char *ovl_nearest(const char *text, const char *const *candidates, size_t count)
{
    size_t length = strlen(text);
    size_t best = SIZE_MAX;
    const char *nearest = NULL;
    for (size_t i = 0; i < count && length <= LONGEST; i++) {
        size_t other = strlen(candidates[i]);
        if (other > LONGEST) {
            continue;
        }
        size_t near = distance(text, length, candidates[i], other);
        size_t limit = OVL_MAX(OVL_MAX(length, other) / 3, 1);
        if (near <= OVL_MIN(limit, 3) && near < best) {
            best = near;
            nearest = candidates[i];
        }
    }
    return nearest;
}
