/* Memory over time in the text report: of the rank with the highest live peak, thinned to what a
 * reader can take in. Of each stretch the fullest moment is kept, so the peaks are always there. */
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/scale.h"

#include "sim/units.h"

#define MOST_LINES 16
#define MOST_CELLS (OVL_CATEGORY_COUNT + 4)

static const ovl_result_rank *fullest(const ovl_result *result)
{
    const ovl_result_rank *best = NULL;
    for (uint32_t i = 0; i < result->n_ranks; i++) {
        const ovl_result_rank *r = &result->ranks[i];
        if (r->live_line && (!best || r->live_peak > best->live_peak)) {
            best = r;
        }
    }
    return best;
}

static uint64_t sum(const uint64_t *bytes)
{
    uint64_t all = 0;
    for (int c = 0; c < OVL_CATEGORY_COUNT; c++) {
        all += bytes[c];
    }
    return all;
}

/* A line of samples, live or of the host, seen as one. */
typedef struct line {
    const ovl_result_rank *r;
    bool live;
    uint32_t n;
} line;

static const uint64_t *bytes_at(const line *l, uint32_t i)
{
    return l->live ? l->r->live_line[i].live : l->r->host_line[i].allocated;
}

static ovl_time time_at(const line *l, uint32_t i)
{
    return l->live ? l->r->live_line[i].at : l->r->host_line[i].at;
}

static uint64_t reserved_at(const line *l, uint32_t i)
{
    const uint64_t *part = l->r->host_line[i].reserved;
    return part[OVL_RESERVED_ALLOCATED] + part[OVL_RESERVED_WAITING] + part[OVL_RESERVED_FREE];
}

/* The fullest sample of [from, to), the first of several. */
static uint32_t fullest_of(const line *l, uint32_t from, uint32_t to)
{
    uint32_t best = from;
    for (uint32_t i = from; i < to; i++) {
        uint64_t now = sum(bytes_at(l, i)), most = sum(bytes_at(l, best));
        bool more =
            now > most || (now == most && !l->live && reserved_at(l, i) > reserved_at(l, best));
        best = more ? i : best;
    }
    return best;
}

static void find_used(const line *l, bool *used)
{
    for (uint32_t i = 0; i < l->n; i++) {
        for (int c = 0; c < OVL_CATEGORY_COUNT; c++) {
            used[c] |= bytes_at(l, i)[c] > 0;
        }
    }
}

static const char *bytes_text(ovl_arena *arena, uint64_t bytes)
{
    char buf[OVL_UNITS_TEXT];
    return bytes ? ovl_arena_strdup(arena, ovl_print_bytes(buf, bytes)) : "";
}

static void row(ovl_grid *grid, const line *l, uint32_t i, const bool *used, const ovl_scale *scale,
                ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const char *cells[MOST_CELLS];
    uint32_t n = 0;
    cells[n++] = ovl_arena_strdup(arena, ovl_scale_show(buf, scale, time_at(l, i)));
    if (!l->live) {
        cells[n++] = l->r->host_line[i].before;
    }
    for (int c = 0; c < OVL_CATEGORY_COUNT; c++) {
        if (used[c]) {
            cells[n++] = bytes_text(arena, bytes_at(l, i)[c]);
        }
    }
    cells[n++] = bytes_text(arena, sum(bytes_at(l, i)));
    if (!l->live) {
        cells[n++] = bytes_text(arena, reserved_at(l, i));
    }
    ovl_grid_row(grid, cells);
}

static void table(ovl_out *out, const line *l, const ovl_scale *scale, ovl_arena *arena)
{
    bool used[OVL_CATEGORY_COUNT] = {false};
    ovl_column columns[MOST_CELLS] = {{"from", false, false, 0}};
    uint32_t n = 1, rows = OVL_MIN(l->n, MOST_LINES);
    find_used(l, used);
    if (!l->live) {
        columns[n++] = (ovl_column){"before issuing", true, true, 0};
    }
    for (int c = 0; c < OVL_CATEGORY_COUNT; c++) {
        if (used[c]) {
            columns[n++] = (ovl_column){ovl_category_name((ovl_category)c), false, false, 0};
        }
    }
    columns[n++] = (ovl_column){l->live ? "= live" : "= allocated", false, false, 0};
    if (!l->live) {
        columns[n++] = (ovl_column){"reserved", false, false, 0};
    }
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, n);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t from = (uint32_t)((uint64_t)i * l->n / rows);
        uint32_t to = (uint32_t)((uint64_t)(i + 1) * l->n / rows);
        row(&grid, l, fullest_of(l, from, to), used, scale, arena);
    }
    ovl_grid_end(&grid, out, 2);
    if (rows < l->n) {
        ovl_out_printf(
            out, "  the fullest moments of %" PRIu32 ", one of each stretch; all: --json\n", l->n);
    }
}

void ovl_report_memory_lines(ovl_out *out, const ovl_result *result)
{
    const ovl_result_rank *r = fullest(result);
    if (!r) {
        return;
    }
    ovl_arena arena = {0};
    const line live = {r, true, r->n_live_line}, host = {r, false, r->n_host_line};
    ovl_time last = live.n ? time_at(&live, live.n - 1) : result->step;
    ovl_scale scale = ovl_scale_for(OVL_MAX(last, 1));
    for (uint32_t i = 0; i < live.n; i++) {
        ovl_scale_fit(&scale, last, time_at(&live, i));
    }
    ovl_out_title(out, "\nWhat rank %" PRIu32 " holds, by the time of its GPU (%s)", r->rank,
                  ovl_scale_unit(&scale));
    table(out, &live, &scale, &arena);
    ovl_out_title(out,
                  "\nWhat its host has allocated, in the order of its program (%s of the host)",
                  ovl_scale_unit(&scale));
    table(out, &host, &scale, &arena);
    ovl_arena_free(&arena);
}
