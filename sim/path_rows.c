#include "sim/path_rows.h"

#include "sim/names.h"
#include "sim/repeats.h"

/* --- Pieces --- */

static uint64_t hash_of(const ovl_piece *p)
{
    const uint64_t words[] = {(uint64_t)p->length, (uint64_t)p->kind << 32 | p->what,
                              (uint64_t)p->stream << 32 | p->rank, (uint64_t)p->why << 32 | p->by,
                              p->at};
    uint64_t hash = 0;
    for (size_t i = 0; i < OVL_COUNT(words); i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return hash;
}

static bool alike(const ovl_piece *a, const ovl_piece *b)
{
    return a->length == b->length && a->kind == b->kind && a->what == b->what &&
           a->stream == b->stream && a->rank == b->rank && a->why == b->why && a->by == b->by &&
           a->at == b->at;
}

/* Where a piece is in the table, or would be. */
static uint32_t *slot_of(const ovl_path_pieces *pieces, const ovl_piece *p)
{
    uint32_t mask = pieces->table.cap - 1, at = (uint32_t)hash_of(p) & mask;
    while (pieces->table.data[at] && !alike(&pieces->kinds.data[pieces->table.data[at] - 1], p)) {
        at = (at + 1) & mask;
    }
    return &pieces->table.data[at];
}

/* At most half of the table is taken. */
static void make_room(ovl_path_pieces *pieces)
{
    uint32_t cap = pieces->table.cap;
    if (cap && pieces->kinds.len < cap / 2) {
        return;
    }
    cap = cap ? cap * 2 : 64;
    ovl_vec_free(&pieces->table);
    ovl_vec_reserve(&pieces->table, cap);
    memset(pieces->table.data, 0, cap * sizeof *pieces->table.data);
    for (uint32_t i = 0; i < pieces->kinds.len; i++) {
        *slot_of(pieces, &pieces->kinds.data[i]) = i + 1;
    }
}

void ovl_path_piece(ovl_path_pieces *pieces, const ovl_piece *piece)
{
    make_room(pieces);
    uint32_t *slot = slot_of(pieces, piece);
    if (*slot == 0) {
        ovl_vec_push(&pieces->kinds, *piece);
        *slot = pieces->kinds.len;
    }
    ovl_vec_push(&pieces->list, *slot - 1);
}

static void turn_around(ovl_path_pieces *pieces)
{
    uint32_t *list = pieces->list.data, n = pieces->list.len;
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t kept = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = kept;
    }
}

/* --- What is said once --- */

/* Rows that the pieces from each one on need at least, and the run that they begin with: OVL_NONE
 * for a row of its own. */
typedef struct plan {
    const ovl_repeats *runs;
    uint32_t *rows; /* [n + 1] */
    uint32_t *run;  /* [n] */
} plan;

/* As many whole blocks as there are from `at` on. */
static uint32_t blocks_at(const ovl_repeat *run, uint32_t at)
{
    return run->first <= at && at < run->end ? (run->end - at) / run->period : 0;
}

static void consider(plan *best, uint32_t at, uint32_t i)
{
    const ovl_repeat *run = &best->runs->data[i];
    uint32_t blocks = blocks_at(run, at);
    if (blocks > 1) {
        uint32_t rows = run->period + best->rows[at + blocks * run->period];
        if (rows < best->rows[at]) {
            best->rows[at] = rows;
            best->run[at] = i;
        }
    }
}

/* From the end to the beginning; of each period one run is looked at, the last that has begun. */
static void find_plan(plan *best, uint32_t n)
{
    const ovl_repeats *runs = best->runs;
    uint32_t last[OVL_REPEATS_MAX], first[OVL_REPEATS_MAX], periods = 0;
    for (uint32_t i = 0; i < runs->len; i++) {
        if (i == 0 || runs->data[i].period != runs->data[i - 1].period) {
            first[periods++] = i;
        }
        last[periods - 1] = i;
    }
    for (uint32_t at = n; at-- > 0;) {
        best->rows[at] = best->rows[at + 1] + 1;
        best->run[at] = OVL_NONE;
        for (uint32_t k = 0; k < periods; k++) {
            while (last[k] > first[k] && runs->data[last[k]].first > at) {
                last[k]--;
            }
            consider(best, at, last[k]);
        }
    }
}

/* --- Rows --- */

typedef struct writer {
    const ovl_path_pieces *pieces;
    const ovl_names *names;
    const char *begin;
    ovl_arena *arena;
    ovl_result_path *rows;
    uint32_t n;
    ovl_time now;
    ovl_id stream; /* the last, and its text */
    const char *stream_text;
} writer;

static const char *name_of(const writer *w, ovl_id name)
{
    return ovl_arena_strdup(w->arena, ovl_names_text(w->names, name));
}

static const char *text_of(const writer *w, const ovl_piece *p)
{
    switch ((ovl_piece_kind)p->kind) {
    case OVL_PIECE_ISSUE:
        return ovl_arena_printf(w->arena, "issue %s", ovl_names_text(w->names, p->what));
    case OVL_PIECE_ISSUES:
        return ovl_arena_printf(w->arena, "host issues %" PRIu32 " operations", p->what);
    case OVL_PIECE_OP:
        break;
    }
    return name_of(w, p->what);
}

/* Most rows are on the stream of the row before. */
static const char *stream_of(writer *w, const ovl_piece *p)
{
    if (p->stream == OVL_PIECE_HOST) {
        return "host";
    }
    if (p->stream == OVL_PIECE_WIRE) {
        return "wire";
    }
    if (!w->stream_text || w->stream != p->stream) {
        w->stream = p->stream;
        w->stream_text = name_of(w, p->stream);
    }
    return w->stream_text;
}

static const char *why_of(const writer *w, const ovl_piece *p)
{
    if (p->why == OVL_PIECE_FIRST) {
        return w->begin;
    }
    const char *by = p->by == OVL_NONE ? "host" : ovl_names_text(w->names, p->by);
    return p->why == OVL_PIECE_MET
               ? ovl_arena_printf(w->arena, "rendezvous: %s on rank %" PRIu32, by, p->at)
               : ovl_why_text((ovl_why)p->why, by, w->arena);
}

static void add_row(writer *w, uint32_t at, uint32_t again, ovl_time every)
{
    const ovl_piece *p = &w->pieces->kinds.data[w->pieces->list.data[at]];
    w->rows[w->n++] = (ovl_result_path){.op = text_of(w, p),
                                        .stream = stream_of(w, p),
                                        .rank = p->rank,
                                        .start = w->now,
                                        .end = w->now + p->length,
                                        .why = why_of(w, p),
                                        .again = again,
                                        .every = every};
    w->now += p->length;
}

/* Gives how many pieces they are. */
static uint32_t add_block(writer *w, uint32_t at, uint32_t period, uint32_t blocks)
{
    ovl_time every = 0;
    for (uint32_t i = at; i < at + period; i++) {
        every += w->pieces->kinds.data[w->pieces->list.data[i]].length;
    }
    for (uint32_t i = at; i < at + period; i++) {
        add_row(w, i, blocks - 1, every);
    }
    w->now += (blocks - 1) * every;
    return period * blocks;
}

static void add_planned(writer *w, const plan *best, uint32_t n)
{
    for (uint32_t at = 0; at < n;) {
        const ovl_repeat *run = best->run[at] == OVL_NONE ? NULL : &best->runs->data[best->run[at]];
        if (run) {
            at += add_block(w, at, run->period, blocks_at(run, at));
        } else {
            add_row(w, at++, 0, 0);
        }
    }
}

static void add_once(writer *w)
{
    uint32_t n = w->pieces->list.len;
    ovl_arena scratch = {0};
    ovl_repeats runs = {0};
    ovl_repeats_find(w->pieces->list.data, n, &runs);
    plan best = {&runs, OVL_NEW_ARRAY(&scratch, uint32_t, n + 1),
                 OVL_NEW_ARRAY(&scratch, uint32_t, n)};
    find_plan(&best, n);
    w->rows = OVL_NEW_ARRAY(w->arena, ovl_result_path, best.rows[0]);
    add_planned(w, &best, n);
    ovl_vec_free(&runs);
    ovl_arena_free(&scratch);
}

static void add_all(writer *w)
{
    uint32_t n = w->pieces->list.len;
    w->rows = OVL_NEW_ARRAY(w->arena, ovl_result_path, n);
    for (uint32_t at = 0; at < n; at++) {
        add_row(w, at, 0, 0);
    }
}

const ovl_result_path *ovl_path_rows(ovl_path_pieces *pieces, const ovl_names *names,
                                     const char *begin, ovl_arena *arena, uint32_t *n_rows)
{
    writer w = {.pieces = pieces, .names = names, .begin = begin, .arena = arena};
    ovl_vec_free(&pieces->table);
    turn_around(pieces);
    if (pieces->list.len > OVL_PATH_PLAIN) {
        add_once(&w);
    } else {
        add_all(&w);
    }
    *n_rows = w.n;
    ovl_vec_free(&pieces->kinds);
    ovl_vec_free(&pieces->list);
    return w.rows;
}
