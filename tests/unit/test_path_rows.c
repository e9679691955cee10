#include "sim/names.h"
#include "sim/path_rows.h"
#include "tests/support/check.h"

#include <string.h>

#define US OVL_US

typedef struct path {
    ovl_arena arena;
    ovl_names names;
    ovl_path_pieces pieces;
    const ovl_result_path *rows;
    uint32_t n;
} path;

static void begin(path *p)
{
    *p = (path){.n = 0};
    p->names.arena = &p->arena;
}

static ovl_piece piece(path *p, const char *op, ovl_time length, const char *after)
{
    ovl_piece one = {.length = length,
                     .what = ovl_names_add(&p->names, op),
                     .stream = ovl_names_add(&p->names, "compute"),
                     .why = OVL_PIECE_FIRST};
    if (after) {
        one.why = OVL_WHY_STREAM;
        one.by = ovl_names_add(&p->names, after);
    }
    return one;
}

static void make(path *p)
{
    p->rows = ovl_path_rows(&p->pieces, &p->names, "start", &p->arena, &p->n);
}

static void check_row(const path *p, uint32_t i, const char *op, ovl_time start, ovl_time end,
                      const char *why, uint32_t again, ovl_time every)
{
    if (CHECK(i < p->n)) {
        CHECK_TEXT(p->rows[i].op, op);
        CHECK_INT(p->rows[i].start, start);
        CHECK_INT(p->rows[i].end, end);
        CHECK_TEXT(p->rows[i].why, why);
        CHECK_INT(p->rows[i].again, again);
        CHECK_INT(p->rows[i].every, every);
    }
}

/* 5,000 of 1 us. The first began with the step, so 4,999 are alike: 1 + 1 rows, 1 + 4,999 us. */
static void alike(void)
{
    path p;
    begin(&p);
    for (int i = 0; i < 4999; i++) {
        ovl_piece k = piece(&p, "k", US, "k");
        ovl_path_piece(&p.pieces, &k);
    }
    ovl_piece first = piece(&p, "k", US, NULL);
    ovl_path_piece(&p.pieces, &first);
    make(&p);
    CHECK_INT(p.n, 2);
    check_row(&p, 0, "k", 0, US, "start", 0, 0);
    check_row(&p, 1, "k", US, 2 * US, "stream: after k", 4998, US);
    ovl_arena_free(&p.arena);
}

/* [a 1, b 2] 800 times, then c of 5 us: a block of two rows, every 3 us, which ends at 2,400. */
static void blocks(void)
{
    path p;
    begin(&p);
    ovl_piece c = piece(&p, "c", 5 * US, "b"), b = piece(&p, "b", 2 * US, "a"),
              a = piece(&p, "a", US, "b");
    ovl_path_piece(&p.pieces, &c);
    for (int i = 0; i < 800; i++) {
        ovl_path_piece(&p.pieces, &b);
        ovl_path_piece(&p.pieces, &a);
    }
    make(&p);
    CHECK_INT(p.n, 3);
    check_row(&p, 0, "a", 0, US, "stream: after b", 799, 3 * US);
    check_row(&p, 1, "b", US, 3 * US, "stream: after a", 799, 3 * US);
    check_row(&p, 2, "c", 2400 * US, 2405 * US, "stream: after b", 0, 0);
    ovl_arena_free(&p.arena);
}

/* Up to OVL_PATH_PLAIN pieces each has its row. */
static void short_paths(void)
{
    path p;
    begin(&p);
    for (int i = 0; i < OVL_PATH_PLAIN; i++) {
        ovl_piece k = piece(&p, "k", US, "k");
        ovl_path_piece(&p.pieces, &k);
    }
    make(&p);
    CHECK_INT(p.n, OVL_PATH_PLAIN);
    check_row(&p, 999, "k", 999 * US, 1000 * US, "stream: after k", 0, 0);
    ovl_arena_free(&p.arena);
}

/* --- Any list --- */

enum { MOST = 20000 };

typedef struct list {
    uint32_t item[MOST], n;
} list;

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* A few items, or what there is once more, or its end a number of times. */
static void grow(list *l, uint64_t *state)
{
    uint32_t how = draw(state, 3), block = 1 + draw(state, OVL_MIN(l->n + 1, 40));
    block = OVL_MIN(block, l->n);
    uint32_t times = how == 1 ? draw(state, 60) : 0;
    for (uint32_t i = 0; i < times * block && l->n < MOST; i++) {
        l->item[l->n] = l->item[l->n - block];
        l->n++;
    }
    if (how != 1 && l->n < MOST) {
        l->item[l->n++] = draw(state, 5);
    }
}

/* Unrolls the rows, a block being those that together last `every`, against the list. */
static bool unrolls(const path *p, const list *l)
{
    uint32_t at = 0;
    ovl_time now = 0;
    for (uint32_t i = 0, n; i < p->n; i += n) {
        ovl_time length = p->rows[i].end - p->rows[i].start;
        for (n = 1; p->rows[i].again && length < p->rows[i].every; n++) {
            length += p->rows[i + n].end - p->rows[i + n].start;
        }
        for (uint32_t k = 0; k < n * (p->rows[i].again + 1); k++, at++) {
            const ovl_result_path *row = &p->rows[i + k % n];
            char op[2] = {(char)('a' + l->item[at]), '\0'};
            ovl_time start = row->start + k / n * row->every;
            if (strcmp(row->op, op) != 0 || start != now || row->again != p->rows[i].again) {
                return false;
            }
            now += row->end - row->start;
        }
    }
    return at == l->n;
}

static void nothing_is_lost(void)
{
    uint64_t state = 7;
    uint64_t rows = 0, all = 0;
    list *l = malloc(sizeof *l);
    for (int round = 0; round < 200; round++) {
        path p;
        begin(&p);
        l->n = 0;
        while (l->n < MOST) {
            grow(l, &state);
        }
        for (uint32_t i = l->n; i-- > 0;) {
            char op[2] = {(char)('a' + l->item[i]), '\0'};
            ovl_piece one = piece(&p, op, (1 + l->item[i]) * US, NULL);
            ovl_path_piece(&p.pieces, &one);
        }
        make(&p);
        CHECK(unrolls(&p, l));
        rows += p.n;
        all += l->n;
        ovl_arena_free(&p.arena);
    }
    CHECK(rows < all); /* or nothing was tried */
    free(l);
}

int main(void)
{
    static CU_TestInfo tests[] = {
        {"pieces alike are one row", alike},
        {"a block of pieces that comes again and again is told once", blocks},
        {"a short path has a row for each piece", short_paths},
        {"rows unrolled are the pieces, whatever repeats within what", nothing_is_lost},
        CU_TEST_INFO_NULL};
    return check_main("path rows", tests);
}
