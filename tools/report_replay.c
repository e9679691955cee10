/* The replay of a trace beside what was measured. */
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/scale.h"
#include "tools/wrap.h"

#include <string.h>

#define MOST_ROWS 12

static const char *shown(ovl_arena *arena, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_scale_show(buf, scale, ovl_scale_round(scale, t)));
}

static const char *time_text(ovl_arena *arena, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    ovl_scale scale = ovl_scale_for(t < 0 ? -t : t);
    ovl_scale_fit(&scale, t, t);
    return ovl_arena_printf(arena, "%s %s", ovl_scale_short(buf, &scale, t),
                            ovl_scale_unit(&scale));
}

static double part(ovl_time of, ovl_time whole)
{
    return whole > 0 ? 100.0 * (double)of / (double)whole : 0;
}

/* A percentage that is not zero is not shown as zero. */
static const char *percent(ovl_arena *arena, ovl_time of, ovl_time whole, bool sign)
{
    double p = part(of, whole);
    int digits = p == 0 ? 0 : p < 0.05 && p > -0.05 ? 4 : 1;
    return ovl_arena_printf(arena, "%s%.*f %%", sign && p > 0 ? "+" : "", digits, p);
}

static void head(ovl_out *out, const ovl_against *r, ovl_arena *arena)
{
    ovl_time error = r->predicted - r->measured;
    const char *text = ovl_arena_printf(
        arena, "step %s predicted, %s measured: %s", time_text(arena, r->predicted),
        time_text(arena, r->measured), percent(arena, error, r->measured, true));
    ovl_out_title(out, "Predicted against measured (%s)", r->what);
    if (r->changed) {
        text = ovl_arena_printf(
            arena, "step %s predicted with what-ifs; %s were measured without them, %s",
            time_text(arena, r->predicted), time_text(arena, r->measured),
            percent(arena, error, r->measured, true));
        ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
        text = ovl_arena_printf(arena, "without them %s are predicted: %s",
                                time_text(arena, r->unchanged),
                                percent(arena, r->unchanged - r->measured, r->measured, true));
    }
    ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
    const char *on = r->n_ranks > 1 && r->unexplained
                         ? ovl_arena_printf(arena, " on rank %" PRIu32 ", the most of all ranks",
                                            r->unexplained_rank)
                         : "";
    text = ovl_arena_printf(arena, "unexplained: %s of %s (%s)%s", time_text(arena, r->unexplained),
                            time_text(arena, r->out_of),
                            percent(arena, r->unexplained, r->out_of, false), on);
    ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
    if (!r->predictive) {
        ovl_wrap(out, "  ", 4,
                 r->far ? "NOT PREDICTIVE: the step is predicted more than 5 % away from the "
                          "measured one, so that what-ifs say little"
                        : "NOT PREDICTIVE: more than 5 % of the time has no cause in the trace, so "
                          "that what-ifs say little",
                 OVL_TERMINAL);
    }
}

/* The program numbers its ranks from 0 on, whichever of a job were traced. */
static bool other_numbers(const ovl_against *r)
{
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        if (r->ranks[i].job_rank >= 0 && r->ranks[i].job_rank != (int64_t)r->ranks[i].rank) {
            return true;
        }
    }
    return false;
}

static void ranks(ovl_out *out, const ovl_against *r, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"rank", false, false, 0},
        {"of the job", false, false, 0},
        {"measured", false, false, 0},
        {"predicted", false, false, 0},
        {"error", false, false, 0},
        {"unexplained", false, false, 0},
        {"ops", false, false, 0},
        {"mean", false, false, 0},
        {"worst start error", false, false, 0},
        {"of", true, true, 0},
    };
    ovl_grid grid;
    bool others = other_numbers(r);
    ovl_scale scale = ovl_scale_for(r->predicted);
    ovl_scale_fit(&scale, r->predicted, 1);
    ovl_out_title(out, "\nRanks (ends and errors of starts, %s)", ovl_scale_unit(&scale));
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        const ovl_against_rank *k = &r->ranks[i];
        const char *cells[] = {
            ovl_arena_printf(arena, "%" PRIu32, k->rank),
            others && k->job_rank >= 0 ? ovl_arena_printf(arena, "%" PRId64, k->job_rank) : NULL,
            shown(arena, &scale, k->measured),
            shown(arena, &scale, k->predicted),
            percent(arena, k->predicted - k->measured, k->measured, true),
            shown(arena, &scale, k->unexplained),
            ovl_arena_printf(arena, "%" PRIu32, k->n_ops),
            shown(arena, &scale, k->mean_error),
            shown(arena, &scale, k->worst_error),
            k->worst,
        };
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
    if (others) {
        ovl_wrap(
            out, "  ", 2,
            "rank: as everywhere in this report, the ranks that were traced, from 0 on; of the "
            "job: as their files say",
            OVL_TERMINAL);
    }
}

static void ops(ovl_out *out, const ovl_against *r, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"operation", true, true, 0},  {"count", false, false, 0},
        {"measured", false, false, 0}, {"predicted", false, false, 0},
        {"error", false, false, 0},    {"mean start error", false, false, 0},
        {"worst", false, false, 0},
    };
    uint32_t n = OVL_MIN(r->n_ops, MOST_ROWS);
    ovl_grid grid;
    ovl_scale scale = ovl_scale_for(n ? r->ops[0].measured : 0);
    ovl_scale_fit(&scale, n ? r->ops[0].measured : 0, 1);
    if (n == 0) {
        return;
    }
    ovl_out_title(out, "\nOperations (time of all of a name together, %s)", ovl_scale_unit(&scale));
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < n; i++) {
        const ovl_against_op *o = &r->ops[i];
        const char *cells[] = {
            o->name,
            ovl_arena_printf(arena, "%" PRIu32, o->count),
            shown(arena, &scale, o->measured),
            shown(arena, &scale, o->predicted),
            o->measured ? percent(arena, o->predicted - o->measured, o->measured, true) : NULL,
            shown(arena, &scale, o->mean_error),
            shown(arena, &scale, o->worst_error),
        };
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
    if (n < r->n_ops) {
        ovl_out_printf(out, "  and %" PRIu32 " more names (--json has all)\n", r->n_ops - n);
    }
}

void ovl_report_replay(ovl_out *out, const ovl_against *replay)
{
    ovl_arena arena = {0};
    if (!replay) {
        return;
    }
    head(out, replay, &arena);
    ranks(out, replay, &arena);
    ops(out, replay, &arena);
    if (replay->n_inferred) {
        ovl_out_title(out, "\nInferred from the trace");
    }
    for (uint32_t i = 0; i < replay->n_inferred; i++) {
        ovl_wrap(out, "  - ", 4, replay->inferred[i], OVL_TERMINAL);
    }
    ovl_out_text(out, "\n");
    ovl_arena_free(&arena);
}

static void rank_json(ovl_json *json, const ovl_against_rank *r)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_uint(json, "rank", r->rank);
    ovl_json_seconds(json, "measured_s", r->measured);
    ovl_json_seconds(json, "predicted_s", r->predicted);
    ovl_json_seconds(json, "unexplained_s", r->unexplained);
    ovl_json_uint(json, "ops", r->n_ops);
    ovl_json_seconds(json, "mean_start_error_s", r->mean_error);
    ovl_json_seconds(json, "worst_start_error_s", r->worst_error);
    ovl_json_text_if(json, "worst", r->worst);
    if (r->job_rank >= 0) {
        ovl_json_int(json, "job_rank", r->job_rank);
    }
    ovl_json_close(json);
}

static void op_json(ovl_json *json, const ovl_against_op *o)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "name", o->name);
    ovl_json_uint(json, "count", o->count);
    ovl_json_seconds(json, "measured_s", o->measured);
    ovl_json_seconds(json, "predicted_s", o->predicted);
    ovl_json_seconds(json, "mean_start_error_s", o->mean_error);
    ovl_json_seconds(json, "worst_start_error_s", o->worst_error);
    ovl_json_close(json);
}

void ovl_replay_json(ovl_json *json, const ovl_against *r)
{
    if (!r) {
        return;
    }
    ovl_json_object(json, "replay", OVL_JSON_BLOCK);
    ovl_json_text(json, "of", r->what);
    ovl_json_bool(json, "changed", r->changed);
    ovl_json_seconds(json, "measured_s", r->measured);
    ovl_json_seconds(json, "predicted_s", r->predicted);
    ovl_json_seconds(json, "unexplained_s", r->unexplained);
    ovl_json_seconds(json, "unexplained_of_s", r->out_of);
    ovl_json_uint(json, "unexplained_rank", r->unexplained_rank);
    ovl_json_bool(json, "predictive", r->predictive);
    ovl_json_array(json, "ranks", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        rank_json(json, &r->ranks[i]);
    }
    ovl_json_close(json);
    ovl_json_array(json, "ops", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < r->n_ops; i++) {
        op_json(json, &r->ops[i]);
    }
    ovl_json_close(json);
    ovl_json_array(json, "inferred", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < r->n_inferred; i++) {
        ovl_json_text(json, NULL, r->inferred[i]);
    }
    ovl_json_close(json);
    ovl_json_seconds(json, "unchanged_s", r->unchanged);
    ovl_json_close(json);
}
