/*
 * What ran below its isolated speed, and who met whom on which resource: names that differ in
 * numbers only are one row, with sums.
 */
#include "sim/alike.h"
#include "sim/sums.h"
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/scale.h"
#include "tools/wrap.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LIMITS     10
#define MOST_COLLISIONS 8

static const char *shown(ovl_arena *arena, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_scale_show(buf, scale, t));
}

static const char *printed(char buf[OVL_UNITS_TEXT], ovl_time t)
{
    return t == OVL_NEVER ? "more than can be counted" : ovl_print_time(buf, t);
}

/* --- Below isolated speed --- */

typedef struct limit {
    ovl_result_limit sum; /* op: with open numbers, or of one operation its name */
    uint32_t names;
} limit;

static int by_op(const void *x, const void *y)
{
    const limit *a = x, *b = y;
    int ops = strcmp(a->sum.op, b->sum.op);
    return ops ? ops : strcmp(a->sum.bound, b->sum.bound);
}

static int by_lost(const void *x, const void *y)
{
    const limit *a = x, *b = y;
    if (a->sum.lost != b->sum.lost) {
        return a->sum.lost > b->sum.lost ? -1 : 1;
    }
    return by_op(x, y);
}

/* Those alike become one; gives how many there are then. */
static uint32_t join_limits(const ovl_result *result, limit *list, ovl_arena *arena)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < result->n_limits; i++) {
        list[i] = (limit){result->limits[i], 1};
        list[i].sum.op = ovl_alike_text(result->limits[i].op, OVL_ALIKE_ALL, arena);
    }
    qsort(list, result->n_limits, sizeof *list, by_op);
    for (uint32_t i = 0; i < result->n_limits; i++) {
        if (n && by_op(&list[n - 1], &list[i]) == 0) {
            ovl_result_limit *sum = &list[n - 1].sum;
            sum->time = ovl_sum_add(sum->time, list[i].sum.time);
            sum->lost = ovl_sum_add(sum->lost, list[i].sum.lost);
            list[n - 1].names++;
        } else {
            list[n++] = list[i];
        }
    }
    return n;
}

/* Of a row of one name the name itself. */
static const char *limit_name(const ovl_result *result, const limit *l, ovl_arena *arena)
{
    for (uint32_t i = 0; l->names == 1 && i < result->n_limits; i++) {
        const ovl_result_limit *own = &result->limits[i];
        if (strcmp(own->bound, l->sum.bound) == 0 &&
            strcmp(ovl_alike_text(own->op, OVL_ALIKE_ALL, arena), l->sum.op) == 0) {
            return own->op;
        }
    }
    return l->sum.op;
}

static ovl_scale limits_scale(const limit *list, uint32_t n)
{
    ovl_time largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        ovl_time time = list[i].sum.time;
        largest = time == OVL_NEVER ? largest : OVL_MAX(largest, time);
    }
    ovl_scale scale = ovl_scale_for(largest);
    for (uint32_t i = 0; i < n; i++) {
        ovl_scale_fit(&scale, largest, list[i].sum.time);
        ovl_scale_fit(&scale, largest, list[i].sum.lost);
    }
    return scale;
}

static void limit_rows(ovl_out *out, const ovl_result *result, const limit *list, uint32_t n,
                       const ovl_scale *scale, ovl_arena *arena)
{
    static const ovl_column columns[] = {{"operation", true, true, 0},
                                         {"of them", false, false, 0},
                                         {"held back by", true, false, 0},
                                         {"for", false, false, 0},
                                         {"lost", false, false, 0}};
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < n; i++) {
        const limit *l = &list[i];
        const char *cells[] = {limit_name(result, l, arena),
                               l->names > 1 ? ovl_arena_printf(arena, "%" PRIu32, l->names) : NULL,
                               l->sum.bound, shown(arena, scale, l->sum.time),
                               shown(arena, scale, l->sum.lost)};
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
}

void ovl_report_limits(ovl_out *out, const ovl_result *result)
{
    ovl_arena arena = {0};
    if (result->n_limits == 0) {
        return;
    }
    limit *list = OVL_NEW_ARRAY(&arena, limit, result->n_limits);
    uint32_t all = join_limits(result, list, &arena), n = OVL_MIN(all, MOST_LIMITS);
    qsort(list, all, sizeof *list, by_lost);
    ovl_scale scale = limits_scale(list, n);
    ovl_out_title(out, "\nBelow isolated speed on rank %" PRIu32 " (times in %s)",
                  result->deciding_rank, ovl_scale_unit(&scale));
    limit_rows(out, result, list, n, &scale, &arena);
    if (n < all) {
        ovl_out_printf(out,
                       "  %" PRIu32 " of %" PRIu32 ", those that lost most; each by itself: "
                       "--json\n",
                       n, all);
    }
    ovl_arena_free(&arena);
}

/* --- Collisions --- */

typedef struct scales {
    ovl_scale rank, all; /* of the deciding rank; of all ranks together */
} scales;

static ovl_scale scale_of(const ovl_time *times, uint32_t n)
{
    ovl_time largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        largest = times[i] == OVL_NEVER ? largest : OVL_MAX(largest, times[i]);
    }
    ovl_scale scale = ovl_scale_for(largest);
    for (uint32_t i = 0; i < n; i++) {
        ovl_scale_fit(&scale, largest, times[i]);
    }
    return scale;
}

static scales find_scales(const ovl_result_collision *rows, uint32_t n)
{
    ovl_time rank[3 * MOST_COLLISIONS], all[2 * MOST_COLLISIONS];
    for (uint32_t i = 0; i < n; i++) {
        rank[3 * i] = rows[i].together;
        rank[3 * i + 1] = rows[i].lost_a;
        rank[3 * i + 2] = rows[i].lost_b;
        all[2 * i] = rows[i].all_a;
        all[2 * i + 1] = rows[i].all_b;
    }
    return (scales){scale_of(rank, 3 * n), scale_of(all, 2 * n)};
}

/* Whoever lost more comes first. */
static ovl_result_collision turned(const ovl_result_collision *c)
{
    ovl_result_collision row = *c;
    if (c->all_b > c->all_a) {
        row.a = c->b;
        row.b = c->a;
        row.lost_a = c->lost_b;
        row.lost_b = c->lost_a;
        row.all_a = c->all_b;
        row.all_b = c->all_a;
    }
    return row;
}

static const char *instances_text(const ovl_result_collision *c, ovl_arena *arena)
{
    return c->full == c->shared
               ? ovl_arena_printf(arena, "%" PRIu32, c->full)
               : ovl_arena_printf(arena, "%" PRIu32 " of %" PRIu32, c->full, c->shared);
}

static void add_row(ovl_grid *grid, const ovl_result_collision *collision, const scales *s,
                    ovl_arena *arena)
{
    ovl_result_collision c = turned(collision);
    bool one = strcmp(c.a, c.b) == 0;
    const char *beside = !one ? c.b : c.pairs == 1 ? "others of it" : "others like it";
    const char *cells[] = {c.resource,
                           instances_text(&c, arena),
                           c.a,
                           shown(arena, &s->rank, c.lost_a),
                           shown(arena, &s->all, c.all_a),
                           beside,
                           c.all_b ? shown(arena, &s->rank, c.lost_b) : NULL,
                           c.all_b ? shown(arena, &s->all, c.all_b) : NULL,
                           shown(arena, &s->rank, c.together)};
    ovl_grid_row(grid, cells);
}

/* "nic.out 4 ms on rank 0, 8 ms over all ranks, 1 ms of it beside nobody" */
static const char *sum_text(const ovl_result_resource *r, uint32_t rank, ovl_arena *arena)
{
    char here[OVL_UNITS_TEXT], all[OVL_UNITS_TEXT], alone[OVL_UNITS_TEXT];
    const char *text =
        ovl_arena_printf(arena, "%s %s on rank %" PRIu32 ", %s over all ranks", r->name,
                         printed(here, r->lost), rank, printed(all, r->lost_all));
    return r->alone_all ? ovl_arena_printf(arena, "%s, %s of it beside nobody", text,
                                           printed(alone, r->alone_all))
                        : text;
}

static void sums(ovl_out *out, const ovl_result *result, ovl_arena *arena)
{
    const char *text = "each loss stands once, so rows add up; all of them: ";
    bool first = true;
    for (uint32_t i = 0; i < result->n_resources; i++) {
        const ovl_result_resource *r = &result->resources[i];
        if (r->lost_all) {
            text = ovl_arena_printf(arena, "%s%s%s", text, first ? "" : "; ",
                                    sum_text(r, result->deciding_rank, arena));
            first = false;
        }
    }
    ovl_wrap(out, "  ", 2, text, OVL_TERMINAL);
}

static void legend(ovl_out *out, const ovl_result *result, ovl_arena *arena)
{
    const char *text = ovl_arena_printf(
        arena,
        "rank %" PRIu32 ": lost by what this rank has a part in, as in the table above; all ranks: "
        "lost by all operations, a collective once; on: instances on which more was wanted than "
        "there is while both were there, of those where they met; together: longest, on one "
        "instance",
        result->deciding_rank);
    ovl_wrap(out, "  ", 2, text, OVL_TERMINAL);
}

static const char *units_text(const scales *s, ovl_arena *arena)
{
    const char *rank = ovl_scale_unit(&s->rank), *all = ovl_scale_unit(&s->all);
    return strcmp(rank, all) == 0 ? rank
                                  : ovl_arena_printf(arena, "%s, of all ranks in %s", rank, all);
}

void ovl_report_collisions(ovl_out *out, const ovl_result *result)
{
    uint32_t n = OVL_MIN(result->n_alike, MOST_COLLISIONS);
    if (n == 0) {
        return;
    }
    ovl_arena arena = {0};
    const char *rank = ovl_arena_printf(&arena, "rank %" PRIu32, result->deciding_rank);
    const ovl_column columns[] = {{"resource", true, true, 0},
                                  {"on", false, false, 0},
                                  {"operation", true, OVL_GRID_WRAP, 0},
                                  {rank, false, false, 0},
                                  {"all ranks", false, false, 0},
                                  {"beside", true, OVL_GRID_WRAP, 0},
                                  {rank, false, false, 0},
                                  {"all ranks", false, false, 0},
                                  {"together", false, false, 0}};
    scales s = find_scales(result->alike, n);
    ovl_out_title(out, "\nCollisions: what was lost to a resource, beside whom (times in %s)",
                  units_text(&s, &arena));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < n; i++) {
        add_row(&grid, &result->alike[i], &s, &arena);
    }
    ovl_grid_end(&grid, out, 2);
    if (n < result->all_alike) {
        ovl_out_printf(out,
                       "  %" PRIu32 " of %" PRIu32 ", those that lost most; more of them: --json\n",
                       n, result->all_alike);
    }
    legend(out, result, &arena);
    sums(out, result, &arena);
    ovl_arena_free(&arena);
}
