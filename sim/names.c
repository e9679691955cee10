#include "sim/names.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* A text taken apart: "bucket 12" is a stem of 7 bytes and the number 12. */
typedef struct parts {
    const char *text;
    uint32_t length, stem, number; /* stem == length: it ends with no number */
} parts;

#define DIGITS      9          /* of a number, at most */
#define MOST_NUMBER 1000000000 /* is beyond it */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number has no zeros before it, so that stem and number say what the text was. */
static parts take_apart(const char *text)
{
    parts p = {.text = text, .length = (uint32_t)strlen(text)};
    uint32_t power = 1;
    p.stem = p.length;
    while (p.stem > 0 && is_digit(text[p.stem - 1]) && p.length - p.stem < DIGITS) {
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

/* What a made table says of a text: the block of its stem and number, or which kept text it is. */
#define PAGE       ((uint32_t)1 << 10) /* names */
#define IN_BLOCK   ((uint32_t)1 << 31)
#define MOST_BLOCK (IN_BLOCK / OVL_NAMES_BLOCK)
#define MOST_STEM  (sizeof(ovl_name_room) - 11) /* bytes, of a text that is made */

static uint32_t *word_of(const ovl_names *names, ovl_id id)
{
    return &names->word[id / PAGE][id % PAGE];
}

/* One that is kept. */
static const char *kept_text(const ovl_names *names, ovl_id id)
{
    return names->text[names->made ? *word_of(names, id) : id];
}

static uint32_t *text_slot(const ovl_names *names, const char *text, uint32_t length)
{
    const ovl_names_table *t = &names->others;
    uint32_t at = hash(text, length) & (t->n_slots - 1);
    while (t->slots[at] && strcmp(kept_text(names, t->slots[at] - 1), text) != 0) {
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
                const char *text = kept_text(names, old.slots[i] - 1);
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

/* --- Stems and their numbers --- */

static ovl_stem *find_stem(const ovl_names *names, const parts *p)
{
    uint32_t slot = names->by_stem.n_slots ? *stem_slot(names, p->text, p->stem) : 0;
    return slot ? &names->stems[slot - 1] : NULL;
}

/* `text` is that of the names, or NULL: none that begins with the stem is kept. */
static ovl_stem *add_stem(ovl_names *names, const parts *p, const char *text)
{
    widen_stems(names);
    uint32_t n = names->by_stem.count++;
    if (n == names->stem_cap) {
        names->stem_cap = OVL_MAX(16, 2 * n);
        names->stems = grown(names->arena, names->stems, n, names->stem_cap, sizeof(ovl_stem));
    }
    *stem_slot(names, p->text, p->stem) = n + 1;
    text = text ? text : ovl_arena_strndup(names->arena, p->text, p->stem);
    names->stems[n] = (ovl_stem){.text = text, .length = p->stem};
    return &names->stems[n];
}

static uint32_t block_at(const ovl_stem *s, uint32_t high)
{
    return high < s->n_blocks ? s->block[high] : high == 0 ? s->lone : 0;
}

static uint32_t new_block(ovl_names *names, const ovl_stem *s, uint32_t high)
{
    uint32_t n = names->n_blocks++;
    if (n == names->block_cap) {
        names->block_cap = OVL_MAX(16, 2 * n);
        names->blocks =
            grown(names->arena, names->blocks, n, names->block_cap, sizeof *names->blocks);
    }
    names->blocks[n] = (ovl_names_block){.stem = (uint32_t)(s - names->stems), .high = high};
    return n + 1;
}

/* Where the stem says which block has those numbers. */
static uint32_t *place_of_block(ovl_names *names, ovl_stem *s, uint32_t high)
{
    if (high == 0 && s->n_blocks == 0) {
        return &s->lone;
    }
    if (high >= s->n_blocks) {
        uint32_t cap = OVL_MAX(2 * s->n_blocks, high + 1);
        s->block = grown(names->arena, s->block, s->n_blocks, cap, sizeof *s->block);
        s->block[0] = s->n_blocks ? s->block[0] : s->lone;
        s->n_blocks = cap;
    }
    return &s->block[high];
}

/* The block of a number, added if it is new; NULL if the number lies far beyond the others of its
 * stem. */
static ovl_names_block *block_of(ovl_names *names, ovl_stem *s, uint32_t number)
{
    uint32_t high = number / OVL_NAMES_BLOCK, known = block_at(s, high);
    if (known) {
        return &names->blocks[known - 1];
    }
    if (high > s->count / 16 + 16 || names->n_blocks == MOST_BLOCK) {
        s->sparse = true;
        return NULL;
    }
    uint32_t entry = new_block(names, s, high);
    *place_of_block(names, s, high) = entry;
    return &names->blocks[entry - 1];
}

static uint32_t entry_in(const ovl_names_block *b, uint32_t number)
{
    uint32_t at = number % OVL_NAMES_BLOCK - b->from;
    if (at >= b->n) {
        return 0;
    }
    return b->id ? b->id[at] : b->first + at * b->stride;
}

/* Each number of a block with its entry, up to `last` at least. */
static void list_entries(ovl_names_block *b, uint32_t last, ovl_arena *arena)
{
    uint32_t cap = 8;
    while (cap <= last) {
        cap *= 2;
    }
    uint32_t *id = OVL_NEW_ARRAY(arena, uint32_t, cap);
    for (uint32_t i = 0; i < b->n; i++) {
        id[b->from + i] = b->id ? b->id[i] : b->first + i * b->stride;
    }
    b->id = id;
    b->from = 0;
    b->n = (uint16_t)cap;
}

/* A number that is not in it yet. */
static void put_number(ovl_names_block *b, uint32_t number, uint32_t entry, ovl_arena *arena)
{
    uint32_t low = number % OVL_NAMES_BLOCK;
    if (!b->id && b->n == 0) {
        b->from = (uint16_t)low;
        b->first = entry;
        b->n = 1;
        return;
    }
    if (!b->id && low == (uint32_t)b->from + b->n) {
        b->stride = b->n == 1 ? entry - b->first : b->stride;
        if (entry == b->first + b->n * b->stride) {
            b->n++;
            return;
        }
    }
    if (!b->id || low >= b->n) {
        list_entries(b, OVL_MAX(low, (uint32_t)b->from + b->n - 1), arena);
    }
    b->id[low] = entry;
}

static uint32_t find_number(const ovl_names *names, const ovl_stem *s, uint32_t number)
{
    uint32_t block = block_at(s, number / OVL_NAMES_BLOCK);
    return block ? entry_in(&names->blocks[block - 1], number) : 0;
}

/* --- Names --- */

/* `s` is its stem, NULL if it ends with no number. */
static uint32_t find_entry(const ovl_names *names, const ovl_stem *s, const parts *p)
{
    uint32_t entry = s ? find_number(names, s, p->number) : 0;
    if (entry || (s ? !s->sparse : p->stem < p->length)) {
        return entry;
    }
    return names->others.n_slots ? *text_slot(names, p->text, p->length) : 0;
}

/* The word of a name that is added, in a table that makes texts. */
static uint32_t *new_word(ovl_names *names)
{
    uint32_t id = names->count;
    if (id == names->n_pages * PAGE) {
        if (names->n_pages == names->page_cap) {
            names->page_cap = OVL_MAX(4, 2 * names->page_cap);
            names->word = grown(names->arena, names->word, names->n_pages, names->page_cap,
                                sizeof *names->word);
        }
        names->word[names->n_pages++] = OVL_NEW_ARRAY(names->arena, uint32_t, PAGE);
    }
    return word_of(names, id);
}

static const char *keep_text(ovl_names *names, const parts *p)
{
    if (names->n_texts == names->text_cap) {
        names->text_cap = OVL_MAX(32, 2 * names->text_cap);
        names->text =
            grown(names->arena, names->text, names->n_texts, names->text_cap, sizeof *names->text);
    }
    if (names->made) {
        *new_word(names) = names->n_texts;
    }
    const char *text = ovl_arena_strndup(names->arena, p->text, p->length);
    names->text[names->n_texts++] = text;
    return text;
}

/* A name that is new and whose text is kept; `s` as far as its stem is known. */
static ovl_id add_kept(ovl_names *names, ovl_stem *s, const parts *p)
{
    const char *text = keep_text(names, p);
    uint32_t entry = ++names->count;
    s = s || p->stem == p->length ? s : add_stem(names, p, text);
    ovl_names_block *block = s ? block_of(names, s, p->number) : NULL;
    if (block) {
        put_number(block, p->number, entry, names->arena);
        s->count++;
        return entry - 1;
    }
    widen_others(names);
    *text_slot(names, p->text, p->length) = entry;
    names->others.count++;
    return entry - 1;
}

/* A name that is new and whose text is made of stem and number; OVL_NONE: it is to be kept. */
static ovl_id add_made(ovl_names *names, ovl_stem *s, const parts *p)
{
    if (p->stem == p->length || p->stem > MOST_STEM) {
        return OVL_NONE;
    }
    s = s ? s : add_stem(names, p, NULL);
    ovl_names_block *block = block_of(names, s, p->number);
    if (!block) {
        return OVL_NONE;
    }
    *new_word(names) = IN_BLOCK | ((uint32_t)(block - names->blocks) * OVL_NAMES_BLOCK +
                                   p->number % OVL_NAMES_BLOCK);
    put_number(block, p->number, ++names->count, names->arena);
    s->count++;
    return names->count - 1;
}

ovl_id ovl_names_add(ovl_names *names, const char *text)
{
    parts p = take_apart(text);
    ovl_stem *s = p.stem < p.length ? find_stem(names, &p) : NULL;
    uint32_t entry = find_entry(names, s, &p);
    if (entry) {
        return entry - 1;
    }
    ovl_id id = names->made ? add_made(names, s, &p) : OVL_NONE;
    if (id != OVL_NONE) {
        return id;
    }
    return add_kept(names, p.stem < p.length ? find_stem(names, &p) : NULL, &p);
}

static ovl_id add_text(ovl_names *names, const char *stem, size_t length, uint32_t number)
{
    ovl_arena scratch = {0};
    ovl_id id =
        ovl_names_add(names, ovl_arena_printf(&scratch, "%.*s%" PRIu32, (int)length, stem, number));
    ovl_arena_free(&scratch);
    return id;
}

ovl_id ovl_names_add_number(ovl_names *names, const char *stem, size_t length, uint32_t number)
{
    bool apart = number < MOST_NUMBER && length <= MOST_STEM && names->made;
    if (!apart || (length && is_digit(stem[length - 1]))) {
        return add_text(names, stem, length, number);
    }
    parts p = {stem, (uint32_t)length + 1, (uint32_t)length, number};
    ovl_stem *s = find_stem(names, &p);
    uint32_t entry = s ? find_number(names, s, number) : 0;
    if (entry) {
        return entry - 1;
    }
    ovl_id id = s && s->sparse ? OVL_NONE : add_made(names, s, &p);
    return id == OVL_NONE ? add_text(names, stem, length, number) : id;
}

ovl_id ovl_names_find(const ovl_names *names, const char *text)
{
    parts p = take_apart(text);
    uint32_t entry = find_entry(names, p.stem < p.length ? find_stem(names, &p) : NULL, &p);
    return entry ? entry - 1 : OVL_NONE;
}

/* --- Texts --- */

const char *ovl_names_text(const ovl_names *names, ovl_id id)
{
    assert(id < names->count && !names->made);
    return names->text[id];
}

const char *ovl_names_write(const ovl_names *names, ovl_id id, ovl_name_room *room)
{
    assert(id < names->count);
    uint32_t word = names->made ? *word_of(names, id) : id;
    if (!(word & IN_BLOCK)) {
        return names->text[word];
    }
    const ovl_names_block *b = &names->blocks[(word ^ IN_BLOCK) / OVL_NAMES_BLOCK];
    const ovl_stem *s = &names->stems[b->stem];
    uint32_t number = b->high * OVL_NAMES_BLOCK + word % OVL_NAMES_BLOCK;
    memcpy(room->text, s->text, s->length);
    *ovl_put_number(room->text + s->length, number) = '\0';
    return room->text;
}

const char *ovl_names_copy(const ovl_names *names, ovl_id id, ovl_arena *arena)
{
    return ovl_arena_strdup(arena, OVL_NAME(names, id));
}

ovl_name_texts ovl_name_texts_begin(const ovl_names *names, ovl_arena *arena, ovl_arena *scratch)
{
    return (ovl_name_texts){names, OVL_NEW_ARRAY(scratch, const char *, names->count), arena};
}

const char *ovl_name_texts_of(ovl_name_texts *texts, ovl_id id)
{
    if (!texts->text[id]) {
        texts->text[id] = ovl_names_copy(texts->names, id, texts->arena);
    }
    return texts->text[id];
}

static const char *skip_zeros(const char *digits)
{
    return digits + strspn(digits, "0");
}

char *ovl_put_number(char *at, uint32_t number)
{
    char digits[10];
    int k = 0;
    do {
        digits[k++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (k) {
        *at++ = digits[--k];
    }
    return at;
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
