/* Who met whom on which resource. */
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/scale.h"

#include <string.h>

#define MOST_COLLISIONS 8

static const char *shown(ovl_arena *arena, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_scale_show(buf, scale, t));
}

static ovl_scale scale_of(const ovl_result_collision *rows, uint32_t n)
{
    ovl_time largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        largest = OVL_MAX(largest, OVL_MAX(rows[i].together, rows[i].lost_a));
        largest = OVL_MAX(largest, rows[i].lost_b);
    }
    ovl_scale scale = ovl_scale_for(largest);
    for (uint32_t i = 0; i < n; i++) {
        ovl_scale_fit(&scale, largest, rows[i].together);
        ovl_scale_fit(&scale, largest, rows[i].lost_a);
        ovl_scale_fit(&scale, largest, rows[i].lost_b);
    }
    return scale;
}

static void add_row(ovl_grid *grid, const ovl_result_collision *c, const ovl_scale *scale,
                    ovl_arena *arena)
{
    bool one = strcmp(c->a, c->b) == 0;
    const char *cells[] = {c->resource,
                           ovl_arena_printf(arena, "%" PRIu32, c->instances),
                           c->a,
                           shown(arena, scale, c->lost_a),
                           one ? "others of it" : c->b,
                           one ? NULL : shown(arena, scale, c->lost_b),
                           shown(arena, scale, c->together)};
    ovl_grid_row(grid, cells);
}

void ovl_report_collisions(ovl_out *out, const ovl_result *result)
{
    static const ovl_column columns[] = {
        {"on", true, true, 0},         {"instances", false, false, 0}, {"operation", true, true, 0},
        {"lost", false, false, 0},     {"beside", true, true, 0},      {"lost", false, false, 0},
        {"together", false, false, 0},
    };
    uint32_t n = OVL_MIN(result->n_collisions, MOST_COLLISIONS);
    if (n == 0) {
        return;
    }
    ovl_arena arena = {0};
    ovl_scale scale = scale_of(result->collisions, n);
    ovl_out_title(out, "\nCollisions: who was held back by a resource, beside whom (times in %s)",
                  ovl_scale_unit(&scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < n; i++) {
        add_row(&grid, &result->collisions[i], &scale, &arena);
    }
    ovl_grid_end(&grid, out, 2);
    if (n < result->all_collisions) {
        ovl_out_printf(out,
                       "  %" PRIu32 " of %" PRIu32 ", those that lost most; more of them: --json\n",
                       n, result->all_collisions);
    }
    ovl_arena_free(&arena);
}
