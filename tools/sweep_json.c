/* A sweep as JSON and as CSV: every point, in order. */
#include "tools/csv.h"
#include "tools/sweep.h"

#include <string.h>

static const char *state_text(const ovl_point *p)
{
    if (p->state == OVL_POINT_DONE) {
        return "done";
    }
    if (p->state == OVL_POINT_OPEN) {
        return "open";
    }
    return p->status == OVL_E_STUCK ? "stuck" : "error";
}

/* Errors that follow the first line of a sentence are detail for a terminal. */
static const char *first_line(const char *text, ovl_arena *arena)
{
    return ovl_arena_strndup(arena, text, strcspn(text, "\n"));
}

static void figure(ovl_json *json, uint32_t metric, int64_t value, ovl_arena *arena)
{
    const char *key = ovl_metric_key(metric, arena);
    if (ovl_metrics[metric].kind == OVL_METRIC_TIME) {
        ovl_json_seconds(json, key, value);
    } else {
        ovl_json_int(json, key, value);
    }
}

static void values(ovl_json *json, const char *key, const ovl_sweep *s, uint32_t i)
{
    const char *texts[OVL_KEYS_MAX];
    ovl_axes_texts(&s->axes, i, texts);
    ovl_json_object(json, key, OVL_JSON_FLOW);
    for (uint32_t k = 0; k < s->axes.n_keys; k++) {
        ovl_json_text_if(json, s->axes.keys[k].path, texts[k]);
    }
    ovl_json_close(json);
}

static void point(ovl_json *json, const ovl_sweep *s, uint32_t i)
{
    ovl_arena arena = {0};
    const ovl_point *p = &s->points[i];
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_uint(json, "point", i);
    values(json, "values", s, i);
    ovl_json_text(json, "state", state_text(p));
    if (p->state == OVL_POINT_DONE) {
        ovl_json_text(json, "interference", ovl_interference_name(p->interference));
        ovl_json_object(json, "metrics", OVL_JSON_FLOW);
        for (uint32_t m = 0; m < ovl_n_metrics; m++) {
            if (ovl_has_figure(&p->figures, m)) {
                figure(json, m, p->figures.value[m], &arena);
            }
        }
        ovl_json_close(json);
        ovl_json_bool(json, "front", p->front);
        if (p->tie != OVL_NONE) {
            ovl_json_uint(json, "ties_with", p->tie);
        }
        ovl_json_bool(json, "allowed",
                      ovl_point_sound(p) && ovl_point_fits(p) && ovl_point_allowed(s, p));
    } else if (p->state == OVL_POINT_FAILED) {
        ovl_json_text(json, "error", p->error);
    }
    ovl_json_close(json);
    ovl_arena_free(&arena);
}

static void axis(ovl_json *json, const ovl_sweep *s, const ovl_sweep_axis *a)
{
    static const char *const kinds[] = {"grid", "list", "sample"};
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "kind", kinds[a->kind]);
    ovl_json_array(json, "keys", OVL_JSON_FLOW);
    for (uint32_t k = 0; k < a->n_keys; k++) {
        ovl_json_text(json, NULL, s->axes.keys[a->first_key + k].path);
    }
    ovl_json_close(json);
    ovl_json_uint(json, "rows", a->n_rows);
    ovl_json_bool(json, "ordered", a->ordered);
    ovl_json_bool(json, "effect", !s->idle_axis[a - s->axes.axes]);
    ovl_json_close(json);
}

static void steps(ovl_json *json, const ovl_sweep *s)
{
    if (s->n_steps == 0) {
        return;
    }
    ovl_json_array(json, "steps", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < s->n_steps; i++) {
        const ovl_sweep_step *step = &s->steps[i];
        ovl_json_object(json, NULL, OVL_JSON_FLOW);
        ovl_json_uint(json, "axis", step->axis);
        ovl_json_uint(json, "from", step->from);
        ovl_json_uint(json, "to", step->to);
        ovl_json_seconds(json, "gain_s", step->gain);
        if (step->has_price) {
            ovl_json_int(json, "price_bytes", step->peak);
            ovl_json_int(json, "allocated_bytes", step->allocated);
            ovl_json_int(json, "live_bytes", step->live);
        }
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

static void choice(ovl_json *json, const ovl_sweep *s)
{
    ovl_json_array(json, "pareto", OVL_JSON_FLOW);
    for (uint32_t k = 0; k < s->front_of.n; k++) {
        ovl_json_text(json, NULL, ovl_metrics[s->front_of.item[k]].name);
    }
    ovl_json_close(json);
    ovl_json_text(json, "objective", ovl_metrics[s->objective].name);
    ovl_json_array(json, "where", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < s->n_where; i++) {
        ovl_json_text(json, NULL, s->where[i].text);
    }
    ovl_json_close(json);
    if (s->best != OVL_NONE) {
        ovl_json_uint(json, "best", s->best);
    }
    if (s->closest != OVL_NONE) {
        ovl_json_uint(json, "closest", s->closest);
    }
}

void ovl_sweep_json(ovl_out *out, const ovl_sweep *s)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "schema", "overlapsim.sweep/1");
    ovl_json_text(&json, "file", s->doc->file);
    ovl_json_array(&json, "axes", OVL_JSON_BLOCK);
    for (uint32_t a = 0; a < s->axes.n_axes; a++) {
        axis(&json, s, &s->axes.axes[a]);
    }
    ovl_json_close(&json);
    ovl_json_array(&json, "points", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
        point(&json, s, i);
    }
    ovl_json_close(&json);
    choice(&json, s);
    steps(&json, s);
    ovl_json_close(&json);
    ovl_json_end(&json);
}

/* --- CSV --- */

static void csv_head(ovl_out *out, const ovl_sweep *s)
{
    ovl_csv_cell(out, "point", true);
    for (uint32_t k = 0; k < s->axes.n_keys; k++) {
        ovl_csv_cell(out, s->axes.keys[k].path, false);
    }
    ovl_csv_cell(out, "state", false);
    ovl_csv_metric_keys(out);
    ovl_out_text(out, ",front,allowed,best,error\n");
}

void ovl_sweep_csv(ovl_out *out, const ovl_sweep *s)
{
    ovl_arena arena = {0};
    const char *texts[OVL_KEYS_MAX];
    csv_head(out, s);
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
        const ovl_point *p = &s->points[i];
        ovl_axes_texts(&s->axes, i, texts);
        ovl_out_printf(out, "%" PRIu32, i);
        for (uint32_t k = 0; k < s->axes.n_keys; k++) {
            ovl_csv_cell(out, texts[k] ? texts[k] : "", false);
        }
        ovl_csv_cell(out, state_text(p), false);
        ovl_csv_metrics(out, p->state == OVL_POINT_DONE ? &p->figures : NULL);
        bool allowed = ovl_point_sound(p) && ovl_point_fits(p) && ovl_point_allowed(s, p);
        ovl_out_printf(out, ",%d,%d,%d", p->front, allowed, s->best == i);
        ovl_csv_cell(out, p->error ? first_line(p->error, &arena) : "", false);
        ovl_out_text(out, "\n");
    }
    ovl_arena_free(&arena);
}
