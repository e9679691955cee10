#include "sim/names.h"

#include <stddef.h>
#include <string.h>

/* A text taken apart: "bucket 12" is a stem of 7 bytes and the number 12. */
typedef struct parts {
    const char *text;
    uint32_t length, stem, number; /* stem == length: it ends with no number */
} parts;

#define DIGITS 9 /* of a number, at most */

/* The number has no zeros before it, so that stem and number say what the text was. */
static parts take_apart(const char *text)
{
    parts p = {.text = text, .length = (uint32_t)strlen(text)};
    uint32_t power = 1;
    p.stem = p.length;
    while (p.stem > 0 && text[p.stem - 1] >= '0' && text[p.stem - 1] <= '9' &&
           p.length - p.stem < DIGITS) {
        p.number += (uint32_t)(text[--p.stem] - '0') * power;
        power *= 10;
    }
    while (p.stem + 1 < p.length && text[p.stem] == '0') {
        p.stem++;
    }
    return p;
}

/* --- Tables --- */

/* FNV-1a, 32 bits. */
static uint32_t hash(const char *text, uint32_t length)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < length; i++) {
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    }
    return h;
}

static uint32_t *stem_slot(const ovl_names *names, const char *text, uint32_t length)
{
    const ovl_names_table *t = &names->by_stem;
    uint32_t at = hash(text, length) & (t->n_slots - 1);
    for (; t->slots[at]; at = (at + 1) & (t->n_slots - 1)) {
        const ovl_stem *s = &names->stems[t->slots[at] - 1];
        if (s->length == length && memcmp(s->text, text, length) == 0) {
            break;
        }
    }
    return &t->slots[at];
}

static uint32_t *text_slot(const ovl_names *names, const char *text, uint32_t length)
{
    const ovl_names_table *t = &names->others;
    uint32_t at = hash(text, length) & (t->n_slots - 1);
    while (t->slots[at] && strcmp(names->text[t->slots[at] - 1], text) != 0) {
        at = (at + 1) & (t->n_slots - 1);
    }
    return &t->slots[at];
}

/* Room for one more, with at least every second slot free; true if all are to be put in anew. The
 * old slots stay in the arena until it ends: doubling wastes at most as much as is used. */
static bool widen(ovl_names_table *t, ovl_arena *arena)
{
    if (2 * (t->count + 1) <= t->n_slots) {
        return false;
    }
    t->n_slots = t->n_slots ? t->n_slots * 2 : 64;
    t->slots = OVL_NEW_ARRAY(arena, uint32_t, t->n_slots);
    return true;
}

static void widen_stems(ovl_names *names)
{
    if (widen(&names->by_stem, names->arena)) {
        for (uint32_t i = 0; i < names->by_stem.count; i++) {
            *stem_slot(names, names->stems[i].text, names->stems[i].length) = i + 1;
        }
    }
}

static void widen_others(ovl_names *names)
{
    ovl_names_table old = names->others;
    if (widen(&names->others, names->arena)) {
        for (uint32_t i = 0; i < old.n_slots; i++) {
            if (old.slots[i]) {
                const char *text = names->text[old.slots[i] - 1];
                *text_slot(names, text, (uint32_t)strlen(text)) = old.slots[i];
            }
        }
    }
}

/* `old` with room for `cap` items of `size` bytes, of which `n` are taken. */
static void *grown(ovl_arena *arena, const void *old, uint32_t n, uint32_t cap, size_t size)
{
    void *items = ovl_arena_alloc(arena, cap * size, _Alignof(max_align_t));
    if (n) {
        memcpy(items, old, n * size);
    }
    return items;
}

/* --- Stems --- */

static ovl_stem *find_stem(const ovl_names *names, const parts *p)
{
    uint32_t slot = names->by_stem.n_slots ? *stem_slot(names, p->text, p->stem) : 0;
    return slot ? &names->stems[slot - 1] : NULL;
}

/* `text` is that of the names. */
static ovl_stem *add_stem(ovl_names *names, const parts *p, const char *text)
{
    ovl_stem *known = find_stem(names, p);
    if (known) {
        return known;
    }
    widen_stems(names);
    uint32_t n = names->by_stem.count++;
    if (n == names->stem_cap) {
        names->stem_cap = OVL_MAX(16, 2 * n);
        names->stems = grown(names->arena, names->stems, n, names->stem_cap, sizeof(ovl_stem));
    }
    *stem_slot(names, p->text, p->stem) = n + 1;
    names->stems[n] = (ovl_stem){.text = text, .length = p->stem};
    return &names->stems[n];
}

/* Where the number of a text stands; NULL if it lies far beyond the others of its stem. */
static uint32_t *number_slot(ovl_names *names, ovl_stem *s, uint32_t number)
{
    if (number >= s->cap) {
        if (number > 2 * s->count + 16) {
            s->sparse = true;
            return NULL;
        }
        uint32_t cap = OVL_MAX(2 * s->cap, number + 1);
        s->id = grown(names->arena, s->id, s->cap, cap, sizeof *s->id);
        s->cap = cap;
    }
    return &s->id[number];
}

/* --- Names --- */

static uint32_t find_other(const ovl_names *names, const parts *p)
{
    return names->others.n_slots ? *text_slot(names, p->text, p->length) : 0;
}

static uint32_t find_entry(const ovl_names *names, const parts *p)
{
    const ovl_stem *s = p->stem < p->length ? find_stem(names, p) : NULL;
    if (p->stem < p->length && !s) {
        return 0;
    }
    uint32_t entry = s && p->number < s->cap ? s->id[p->number] : 0;
    return entry || (s && !s->sparse) ? entry : find_other(names, p);
}

/* It is not there yet. */
static void put_entry(ovl_names *names, const parts *p, uint32_t entry)
{
    ovl_stem *s = p->stem < p->length ? add_stem(names, p, names->text[entry - 1]) : NULL;
    uint32_t *place = s ? number_slot(names, s, p->number) : NULL;
    if (place) {
        *place = entry;
        s->count++;
        return;
    }
    widen_others(names);
    *text_slot(names, p->text, p->length) = entry;
    names->others.count++;
}

ovl_id ovl_names_add(ovl_names *names, const char *text)
{
    parts p = take_apart(text);
    uint32_t entry = find_entry(names, &p);
    if (entry) {
        return entry - 1;
    }
    if (names->count == names->cap) {
        names->cap = OVL_MAX(32, 2 * names->cap);
        names->text =
            grown(names->arena, names->text, names->count, names->cap, sizeof *names->text);
    }
    names->text[names->count] = ovl_arena_strndup(names->arena, text, p.length);
    put_entry(names, &p, ++names->count);
    return names->count - 1;
}

ovl_id ovl_names_find(const ovl_names *names, const char *text)
{
    parts p = take_apart(text);
    uint32_t entry = find_entry(names, &p);
    return entry ? entry - 1 : OVL_NONE;
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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int ovl_names_order(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    const char *x = a, *y = b;
    while (*x && *y) {
        if (!is_digit(*x) || !is_digit(*y)) {
            if (*x != *y) {
                break;
            }
            x++;
            y++;
            continue;
        }
        size_t m = strspn(x, digits), n = strspn(y, digits);
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
