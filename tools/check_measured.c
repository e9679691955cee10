/* Where the measured costs of a hardware profile come from: what `ovl calibrate` wrote beside them.
 */
#include "tools/facts.h"
#include "tools/grid.h"
#include "tools/json.h"

static const char *time_text(ovl_arena *arena, ovl_time low, ovl_time high)
{
    char a[OVL_UNITS_TEXT], b[OVL_UNITS_TEXT];
    return ovl_arena_printf(arena, "%s to %s", ovl_print_time(a, low), ovl_print_time(b, high));
}

static const char *rate_text(ovl_arena *arena, uint64_t low, uint64_t high)
{
    char a[OVL_UNITS_TEXT], b[OVL_UNITS_TEXT];
    if (high == 0) {
        return ovl_arena_printf(arena, "from %s", ovl_print_rate(a, (double)low));
    }
    return ovl_arena_printf(arena, "%s to %s", ovl_print_rate(a, (double)low),
                            ovl_print_rate(b, (double)high));
}

static const char *factor_text(ovl_arena *arena, double low, double high)
{
    return low > 0 || high > 0 ? ovl_arena_printf(arena, "%.3g to %.3g", low, high) : NULL;
}

static const char *percent(ovl_arena *arena, double value)
{
    return value > 0 ? ovl_arena_printf(arena, "%.3g %%", 100 * value) : NULL;
}

static const char *files_text(ovl_arena *arena, const ovl_hw_measured *m)
{
    const char *text = "";
    for (uint32_t i = 0; i < m->from.count; i++) {
        text = ovl_arena_printf(arena, "%s%s%s", text, i ? ", " : "", m->from.item[i]);
    }
    return text;
}

static const char *sizes_text(ovl_arena *arena, const ovl_hw_measured *m)
{
    char from[OVL_UNITS_TEXT], to[OVL_UNITS_TEXT];
    return m->to_bytes ? ovl_arena_printf(arena, "%" PRId64 ", %s to %s", m->sizes,
                                          ovl_print_bytes(from, m->from_bytes),
                                          ovl_print_bytes(to, m->to_bytes))
                       : ovl_arena_printf(arena, "%" PRId64, m->sizes);
}

static void costs(ovl_out *out, const ovl_hw *hw, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"cost of", true, OVL_GRID_WRAP, 0},  {"from", true, OVL_GRID_WRAP, 0},
        {"sizes", true, OVL_GRID_WRAP, 2},    {"ranks", false, false, 0},
        {"model", true, OVL_GRID_WRAP, 0},    {"alpha of a pair", true, OVL_GRID_WRAP, 2},
        {"its beta", true, OVL_GRID_WRAP, 2}, {"held out", false, false, 0},
    };
    ovl_grid grid;
    uint32_t n = 0;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < hw->n_collectives; i++) {
        const ovl_hw_collective *c = &hw->collectives[i];
        const ovl_hw_measured *m = &c->measured;
        if (!c->has_measured || c->op < 0) {
            continue;
        }
        const char *op = ovl_coll_name((ovl_coll)c->op);
        const char *cells[] = {
            c->group ? ovl_arena_printf(arena, "%s in %s", op, c->group) : op,
            files_text(arena, m),
            sizes_text(arena, m),
            m->ranks ? ovl_arena_printf(arena, "%" PRId64, m->ranks) : NULL,
            m->model,
            m->has_alpha ? time_text(arena, m->alpha_low, m->alpha_high) : NULL,
            m->has_beta ? rate_text(arena, m->beta_low, m->beta_high) : NULL,
            percent(arena, m->held_median),
        };
        ovl_grid_row(&grid, cells);
        n++;
    }
    if (n) {
        ovl_out_title(out, "\nMeasured costs (95 %% intervals; held out: median error)");
        ovl_grid_end(&grid, out, 2);
    } else {
        ovl_grid_drop(&grid);
    }
}

static void factors(ovl_out *out, const ovl_hw *hw, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"kernel", true, true, 0},         {"collective", true, true, 0},
        {"kernel factor", true, false, 0}, {"collective factor", true, false, 0},
        {"from", true, OVL_GRID_WRAP, 0},
    };
    ovl_grid grid;
    uint32_t n = 0;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < hw->n_pairs; i++) {
        const ovl_hw_pair *p = &hw->pairs[i];
        const ovl_hw_measured *m = &p->measured;
        if (p->has_measured) {
            const char *cells[] = {
                p->kernel, p->collective, factor_text(arena, m->kernel_low, m->kernel_high),
                factor_text(arena, m->collective_low, m->collective_high), files_text(arena, m)};
            ovl_grid_row(&grid, cells);
            n++;
        }
    }
    if (n) {
        ovl_out_title(out, "\nMeasured interference (95 %% intervals)");
        ovl_grid_end(&grid, out, 2);
    } else {
        ovl_grid_drop(&grid);
    }
}

void ovl_check_measured_text(ovl_out *out, const ovl_hw *hw)
{
    ovl_arena arena = {0};
    costs(out, hw, &arena);
    factors(out, hw, &arena);
    ovl_arena_free(&arena);
}

/* --- JSON --- */

static void positive(ovl_json *json, const char *key, double value)
{
    if (value > 0) {
        ovl_json_double(json, key, value);
    }
}

static void texts(ovl_json *json, const char *key, const ovl_texts *items)
{
    ovl_json_array(json, key, OVL_JSON_FLOW);
    for (uint32_t i = 0; i < items->count; i++) {
        ovl_json_text(json, NULL, items->item[i]);
    }
    ovl_json_close(json);
}

static void measured(ovl_json *json, const ovl_hw_measured *m)
{
    texts(json, "from", &m->from);
    texts(json, "sha256", &m->sha256);
    ovl_json_text_if(json, "model", m->model);
    ovl_json_int(json, "points", m->points);
    if (m->sizes) {
        ovl_json_int(json, "sizes", m->sizes);
    }
    if (m->to_bytes) {
        ovl_json_uint(json, "from_bytes", m->from_bytes);
        ovl_json_uint(json, "to_bytes", m->to_bytes);
    }
    if (m->ranks) {
        ovl_json_int(json, "ranks", m->ranks);
    }
    if (m->has_alpha) {
        ovl_json_seconds(json, "alpha_low_s", m->alpha_low);
        ovl_json_seconds(json, "alpha_high_s", m->alpha_high);
    }
    if (m->has_beta) {
        ovl_json_uint(json, "beta_low_Bps", m->beta_low);
        if (m->beta_high) {
            ovl_json_uint(json, "beta_high_Bps", m->beta_high);
        }
    }
    positive(json, "kernel_low", m->kernel_low);
    positive(json, "kernel_high", m->kernel_high);
    positive(json, "collective_low", m->collective_low);
    positive(json, "collective_high", m->collective_high);
    positive(json, "residual", m->residual);
    positive(json, "held_out_median", m->held_median);
    positive(json, "held_out_p90", m->held_p90);
    texts(json, "notes", &m->notes);
    ovl_json_close(json);
}

static bool any_measured(const ovl_hw *hw)
{
    bool any = false;
    for (uint32_t i = 0; i < hw->n_collectives; i++) {
        any |= hw->collectives[i].has_measured;
    }
    for (uint32_t i = 0; i < hw->n_pairs; i++) {
        any |= hw->pairs[i].has_measured;
    }
    return any;
}

void ovl_check_measured_json(ovl_json *json, const ovl_hw *hw)
{
    if (!any_measured(hw)) {
        return;
    }
    ovl_json_array(json, "measured", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < hw->n_collectives; i++) {
        const ovl_hw_collective *c = &hw->collectives[i];
        if (c->has_measured && c->op >= 0) {
            ovl_json_object(json, NULL, OVL_JSON_FLOW);
            ovl_json_text(json, "op", ovl_coll_name((ovl_coll)c->op));
            ovl_json_text_if(json, "group", c->group);
            measured(json, &c->measured);
        }
    }
    for (uint32_t i = 0; i < hw->n_pairs; i++) {
        const ovl_hw_pair *p = &hw->pairs[i];
        if (p->has_measured) {
            ovl_json_object(json, NULL, OVL_JSON_FLOW);
            ovl_json_text(json, "kernel", p->kernel);
            ovl_json_text(json, "collective", p->collective);
            measured(json, &p->measured);
        }
    }
    ovl_json_close(json);
}
