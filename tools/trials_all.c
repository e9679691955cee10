/* A base against all its variants, trial by trial. */
#include "tools/report.h"
#include "tools/trials_parts.h"
#include "tools/wrap.h"

#include <string.h>

static bool comparable(const ovl_paired *pair)
{
    return strcmp(pair->a->interference, pair->b->interference) == 0;
}

void ovl_paired_choose(ovl_paired_all *all)
{
    all->best = OVL_NONE;
    for (uint32_t i = 0; i < all->n; i++) {
        const ovl_paired *item = &all->items[i];
        bool shorter = item->change.high < 0 && comparable(item);
        if (shorter &&
            (all->best == OVL_NONE || item->change.mean < all->items[all->best].change.mean)) {
            all->best = i;
        }
    }
}

/* --- Text --- */

static void steps(ovl_out *out, const ovl_paired_all *all, ovl_arena *arena)
{
    ovl_statistics *s = OVL_NEW_ARRAY(arena, ovl_statistics, (size_t)all->n + 1);
    for (uint32_t i = 0; i <= all->n; i++) {
        const ovl_trials *t = i < all->n ? all->items[i].b : all->base;
        s[i] = ovl_statistics_of(t->step, t->n);
    }
    ovl_scale scale = ovl_statistics_scale(s, all->n + 1);
    ovl_grid grid;
    ovl_out_title(out, "\nStep (%s)", ovl_scale_unit(&scale));
    ovl_grid_begin(&grid, ovl_statistics_columns, OVL_STATISTICS_COLUMNS);
    ovl_statistics_row(&grid, arena, &scale, all->base->variant, &s[all->n], all->base->nominal);
    for (uint32_t i = 0; i < all->n; i++) {
        ovl_statistics_row(&grid, arena, &scale, all->items[i].b->variant, &s[i],
                           all->items[i].b->nominal);
    }
    ovl_grid_end(&grid, out, 2);
    ovl_statistics_legend(out);
}

static const char *verdict(const ovl_paired *pair)
{
    if (!comparable(pair)) {
        return "another interference model";
    }
    if (pair->equal == pair->a->n) {
        return "no gain: always the same";
    }
    return pair->change.high < 0 ? "better" : pair->change.low > 0 ? "worse" : "no gain that shows";
}

static const char *signed_time(ovl_arena *arena, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_printf(arena, "%s%s", t < 0 ? "-" : "",
                            ovl_scale_show(buf, scale, t < 0 ? -t : t));
}

static void differences(ovl_out *out, const ovl_paired_all *all, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"", true, true, 0},      {"p5", false, false, 0},         {"p50", false, false, 0},
        {"p95", false, false, 0}, {"mean", false, false, 0},       {"from", false, false, 0},
        {"to", false, false, 0},  {"shorter in", false, false, 0}, {"", true, false, 0}};
    ovl_statistics *s = OVL_NEW_ARRAY(arena, ovl_statistics, all->n);
    for (uint32_t i = 0; i < all->n; i++) {
        s[i] = all->items[i].change;
    }
    ovl_scale scale = ovl_statistics_scale(s, all->n);
    ovl_grid grid;
    ovl_out_title(out, "\nStep - that of %s, trial by trial (%s)", all->base->variant,
                  ovl_scale_unit(&scale));
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < all->n; i++) {
        const ovl_paired *item = &all->items[i];
        const char *cells[] = {item->b->variant,
                               signed_time(arena, &scale, s[i].p5),
                               signed_time(arena, &scale, s[i].p50),
                               signed_time(arena, &scale, s[i].p95),
                               signed_time(arena, &scale, s[i].mean),
                               signed_time(arena, &scale, s[i].low),
                               signed_time(arena, &scale, s[i].high),
                               ovl_share_text(arena, item->better, item->a->n),
                               verdict(item)};
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
}

static void choice(ovl_out *out, const ovl_paired_all *all, ovl_arena *arena)
{
    ovl_out_text(out, "\n");
    if (all->best == OVL_NONE) {
        ovl_wrap(out, "Best: ", 6,
                 ovl_arena_printf(arena, "%s: no variant is surely shorter on average",
                                  all->base->variant),
                 OVL_TERMINAL);
        return;
    }
    const ovl_paired *best = &all->items[all->best];
    char mean[OVL_UNITS_TEXT];
    ovl_wrap(out, "Best: ", 6,
             ovl_arena_printf(
                 arena, "%s: %s shorter than %s on average, and shorter in %" PRIu32 " of %s",
                 best->b->variant, ovl_print_time(mean, -best->change.mean), all->base->variant,
                 best->better, ovl_counted(arena, best->a->n, "trial")),
             OVL_TERMINAL);
    ovl_wrap(out, "Without variation: ", 6, best->nominal, OVL_TERMINAL);
}

void ovl_paired_all_text(ovl_out *out, const ovl_paired_all *all)
{
    ovl_arena arena = {0};
    ovl_report_name(out, all->base->scenario);
    ovl_out_printf(out, "%s, seed %" PRIu64 "; trial by trial all draw the same\n",
                   ovl_counted(&arena, all->base->n, "trial"), all->base->seed);
    steps(out, all, &arena);
    differences(out, all, &arena);
    choice(out, all, &arena);
    ovl_arena_free(&arena);
}

/* --- JSON --- */

void ovl_paired_all_json(ovl_out *out, const ovl_paired_all *all)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "schema", "overlapsim.compare_all_trials/1");
    ovl_json_object(&json, "base", OVL_JSON_BLOCK);
    ovl_trials_members(&json, all->base);
    ovl_json_close(&json);
    ovl_json_array(&json, "variants", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < all->n; i++) {
        ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
        ovl_json_object(&json, "b", OVL_JSON_BLOCK);
        ovl_trials_members(&json, all->items[i].b);
        ovl_json_close(&json);
        ovl_paired_members(&json, &all->items[i]);
        ovl_json_close(&json);
    }
    ovl_json_close(&json);
    ovl_json_text_if(&json, "best",
                     all->best == OVL_NONE ? NULL : all->items[all->best].b->variant);
    ovl_json_close(&json);
    ovl_json_end(&json);
}
