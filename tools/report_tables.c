/* Two tables of the text report: communication, and what was below its isolated speed. */
#include "tools/equation.h"
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/wrap.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ROWS       20
#define GOOD_DECIMALS   3
#define FEWEST_DECIMALS 1

static const char *shown(ovl_arena *arena, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return t == OVL_NEVER ? NULL : ovl_arena_strdup(arena, ovl_scale_show(buf, scale, t));
}

static const char *bytes_text(ovl_arena *arena, uint64_t bytes)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_bytes(buf, bytes));
}

/* --- Collectives --- */

typedef struct rows {
    const ovl_result_collective **item;
    uint32_t n;
    uint32_t others;                    /* rows that are not of the rank shown */
    const ovl_result_collective *other; /* the most exposed of them */
    bool replay;                        /* bytes of 0 are not known */
} rows;

static bool any_of_rank(const ovl_result *result, uint32_t rank)
{
    for (uint32_t i = 0; i < result->n_collectives; i++) {
        if (result->collectives[i].rank == rank) {
            return true;
        }
    }
    return false;
}

/* The rows of the deciding rank, whose terms the report shows; all rows if it communicates nothing.
 */
static rows pick_rows(const ovl_result *result, ovl_arena *arena)
{
    rows r = {.item = OVL_NEW_ARRAY(arena, const ovl_result_collective *, result->n_collectives),
              .replay = result->replay != NULL};
    bool one = any_of_rank(result, result->deciding_rank);
    for (uint32_t i = 0; i < result->n_collectives; i++) {
        const ovl_result_collective *c = &result->collectives[i];
        if (!one || c->rank == result->deciding_rank) {
            r.item[r.n++] = c;
        } else {
            r.others++;
            r.other = !r.other || c->exposed > r.other->exposed ? c : r.other;
        }
    }
    return r;
}

static int by_exposed(const void *a, const void *b)
{
    const ovl_result_collective *x = *(const ovl_result_collective *const *)a;
    const ovl_result_collective *y = *(const ovl_result_collective *const *)b;
    if (x->exposed != y->exposed) {
        return x->exposed > y->exposed ? -1 : 1;
    }
    if ((x->worth == OVL_NEVER) != (y->worth == OVL_NEVER)) {
        return x->worth == OVL_NEVER ? 1 : -1; /* of equals, those about which more is known */
    }
    return x < y ? -1 : x > y; /* they lie in one array, in the result's order */
}

static int by_place(const void *a, const void *b)
{
    const ovl_result_collective *x = *(const ovl_result_collective *const *)a;
    const ovl_result_collective *y = *(const ovl_result_collective *const *)b;
    return x < y ? -1 : x > y;
}

/* Leaves the most exposed rows, in the order they had. */
static void cut_rows(rows *r)
{
    if (r->n > MOST_ROWS) {
        qsort(r->item, r->n, sizeof *r->item, by_exposed);
        qsort(r->item, MOST_ROWS, sizeof *r->item, by_place);
        r->n = MOST_ROWS;
    }
}

/* Never in seconds: the same digits without a point are narrower, and it is milliseconds that are
 * waited. */
static ovl_scale rows_scale(const rows *r)
{
    ovl_time largest = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        largest = OVL_MAX(largest, r->item[i]->end);
    }
    ovl_scale scale = ovl_scale_for(OVL_MIN(largest, OVL_S - 1));
    for (uint32_t i = 0; i < r->n; i++) {
        const ovl_result_collective *c = r->item[i];
        const ovl_time times[] = {c->ready,   c->queue,        c->wait,  c->start, c->end,
                                  c->exposed, c->interference, c->slack, c->worth};
        for (uint32_t k = 0; k < OVL_COUNT(times); k++) {
            ovl_scale_fit(&scale, largest, times[k]);
        }
    }
    return scale;
}

/* What all rows have in common stands in the heading instead of in a column. */
static bool same_group(const rows *r)
{
    for (uint32_t i = 1; i < r->n; i++) {
        if (strcmp(r->item[i]->group, r->item[0]->group) != 0) {
            return false;
        }
    }
    return true;
}

static bool same_op(const rows *r)
{
    for (uint32_t i = 1; i < r->n; i++) {
        if (strcmp(r->item[i]->op, r->item[0]->op) != 0) {
            return false;
        }
    }
    return true;
}

static bool same_rank(const rows *r)
{
    return r->n == 0 || r->item[0]->rank == r->item[r->n - 1]->rank;
}

/* Queue and wait as differences of what is shown, so that ready + queue + wait = start on paper. */
static const char *between(ovl_arena *arena, const ovl_scale *scale, ovl_time from, ovl_time to)
{
    return shown(arena, scale, ovl_scale_round(scale, to) - ovl_scale_round(scale, from));
}

static void collective_rows(ovl_grid *grid, const rows *r, const ovl_scale *scale, ovl_arena *arena)
{
    bool op = !same_op(r), group = !same_group(r), rank = !same_rank(r);
    for (uint32_t i = 0; i < r->n; i++) {
        const ovl_result_collective *c = r->item[i];
        const char *busbw = c->busbw < 0 ? NULL : ovl_arena_printf(arena, "%.4g", c->busbw / 1e9);
        const char *cells[] = {
            c->name,
            op ? c->op : NULL,
            group ? c->group : NULL,
            rank ? ovl_arena_printf(arena, "%" PRIu32, c->rank) : NULL,
            c->bytes || !r->replay ? bytes_text(arena, c->bytes) : NULL,
            shown(arena, scale, c->ready),
            between(arena, scale, c->ready, c->ready + c->queue),
            between(arena, scale, c->ready + c->queue, c->start),
            shown(arena, scale, c->start),
            shown(arena, scale, c->end),
            shown(arena, scale, c->exposed),
            shown(arena, scale, c->interference),
            busbw,
            shown(arena, scale, c->slack),
            shown(arena, scale, c->worth),
            c->on_critical_path ? "*" : "",
        };
        ovl_grid_row(grid, cells);
    }
}

static void rows_notes(ovl_out *out, const rows *r, uint32_t all, const ovl_scale *scale,
                       ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    ovl_wrap(out, "  ", 2,
             "start = ready + queue + wait; exposed: its end beyond the moment its consumer could "
             "start otherwise; delay: how much later that moment is than if all of this name were "
             "free, on every rank (what they slowed, what queued behind them); worth: how much "
             "shorter the step is if they are; *: on the critical path",
             OVL_TERMINAL);
    if (r->n < all) {
        ovl_out_printf(out,
                       "  %" PRIu32 " of %" PRIu32 " rows, the most exposed; all of them: --json\n",
                       r->n, all);
    }
    if (r->others) {
        const ovl_result_collective *most = r->other;
        ovl_wrap(out, "  ", 2,
                 ovl_arena_printf(arena,
                                  "%" PRIu32 " row%s on other ranks: --json; the most exposed of "
                                  "them is %s on rank %" PRIu32 ", %s %s",
                                  r->others, r->others == 1 ? "" : "s", most->name, most->rank,
                                  ovl_scale_short(buf, scale, most->exposed),
                                  ovl_scale_unit(scale)),
                 OVL_TERMINAL);
    }
}

/* A table that is too wide gives up decimals beyond the third, then blanks, then more decimals. */
static void fill_grid(ovl_grid *grid, const ovl_column *columns, uint32_t n_columns, const rows *r,
                      ovl_scale *scale, ovl_arena *arena)
{
    int fewest = r->item[0]->end < OVL_S ? FEWEST_DECIMALS : 0;
    for (;;) {
        ovl_grid_begin(grid, columns, n_columns);
        collective_rows(grid, r, scale, arena);
        if (scale->decimals <= fewest ||
            ovl_grid_fits(grid, 2, scale->decimals > GOOD_DECIMALS ? 2 : 1)) {
            return;
        }
        ovl_grid_drop(grid);
        scale->decimals--;
    }
}

/* "Communication of rank 0: all_reduce in dp (times in ms, busbw in GB/s)" */
static void collectives_title(ovl_out *out, const rows *r, const ovl_scale *scale)
{
    char rank[32] = "", common[256] = "";
    const ovl_result_collective *c = r->item[0];
    if (same_rank(r)) {
        snprintf(rank, sizeof rank, " of rank %" PRIu32, c->rank);
    }
    if (same_op(r) && same_group(r)) {
        snprintf(common, sizeof common, ": %s in %.200s", c->op, c->group);
    }
    ovl_out_title(out, "\nCollectives and receives%s%s (times in %s, busbw in GB/s)", rank, common,
                  ovl_scale_unit(scale));
}

void ovl_report_collectives(ovl_out *out, const ovl_result *result)
{
    static const ovl_column columns[] = {
        {"name", true, true, 0},    {"op", true, false, 10},      {"group", true, true, 9},
        {"rank", false, false, 0},  {"bytes", false, false, 0},   {"ready", false, false, 0},
        {"queue", false, false, 7}, {"wait", false, false, 6},    {"start", false, false, 0},
        {"end", false, false, 0},   {"exposed", false, false, 0}, {"delay", false, false, 0},
        {"busbw", false, false, 8}, {"slack", false, false, 5},   {"worth", false, false, 0},
        {"", true, false, 0},
    };
    if (result->n_collectives == 0) {
        return;
    }
    ovl_arena arena = {0};
    rows r = pick_rows(result, &arena);
    uint32_t all = r.n;
    cut_rows(&r);
    ovl_scale scale = rows_scale(&r);
    ovl_grid grid;
    fill_grid(&grid, columns, OVL_COUNT(columns), &r, &scale, &arena);
    collectives_title(out, &r, &scale);
    ovl_grid_end(&grid, out, 2);
    rows_notes(out, &r, all, &scale, &arena);
    ovl_arena_free(&arena);
}

/* --- Names together --- */

static ovl_scale together_scale(const ovl_result *result, uint32_t n)
{
    ovl_time largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        ovl_time exposed = result->together[i].exposed;
        largest = exposed == OVL_NEVER ? largest : OVL_MAX(largest, exposed);
        largest = OVL_MAX(largest, result->together[i].worth);
    }
    ovl_scale scale = ovl_scale_for(OVL_MIN(largest, OVL_S - 1));
    for (uint32_t i = 0; i < n; i++) {
        ovl_scale_fit(&scale, largest, result->together[i].exposed);
        ovl_scale_fit(&scale, largest, result->together[i].worth);
    }
    return scale;
}

void ovl_report_together(ovl_out *out, const ovl_result *result)
{
    static const ovl_column columns[] = {{"names", true, true, 0},
                                         {"of them", false, false, 0},
                                         {"exposed", false, false, 0},
                                         {"worth", false, false, 0}};
    uint32_t n = OVL_MIN(result->n_together, MOST_ROWS), names = 0;
    if (n == 0) {
        return;
    }
    ovl_arena arena = {0};
    ovl_scale scale = together_scale(result, n);
    for (uint32_t i = 0; i < result->n_together; i++) {
        names += result->together[i].names;
    }
    ovl_out_title(out, "\nCommunication that is alike, free together (times in %s)",
                  ovl_scale_unit(&scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < n; i++) {
        const ovl_result_together *t = &result->together[i];
        const char *cells[] = {t->name, ovl_arena_printf(&arena, "%" PRIu32, t->names),
                               shown(&arena, &scale, t->exposed), shown(&arena, &scale, t->worth)};
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
    ovl_out_printf(out, "  %s for %s, too many to free one by one%s\n",
                   ovl_counted(&arena, result->n_together, "what-if"),
                   ovl_counted(&arena, names, "name"),
                   n == result->n_together ? "" : "; those worth most; all of them: --json");
    ovl_wrap(
        out, "  ", 2,
        "exposed: summed over the names, each on the rank where it is exposed most, so that it may "
        "be more than the step; worth: how "
        "much shorter the step is if all of them are free, on every rank; of one name: --worth "
        "NAME",
        OVL_TERMINAL);
    ovl_arena_free(&arena);
}
