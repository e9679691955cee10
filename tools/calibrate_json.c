/* A calibration as JSON: schema overlapsim.calibrate/1. */
#include "tools/calibrate.h"
#include "tools/json.h"

#include <math.h>

static void rate_if(ovl_json *j, const char *key, double slope)
{
    if (slope > 0 && isfinite(1e9 / slope)) {
        ovl_json_double(j, key, 1e9 / slope);
    }
}

/* A line with its intervals; `beta_high_Bps` is absent where there is no upper end. */
static void line(ovl_json *j, const ovl_fit_line *l)
{
    ovl_json_uint(j, "from_bytes", l->from);
    ovl_json_uint(j, "to_bytes", l->to);
    ovl_json_uint(j, "points", l->n);
    ovl_json_seconds(j, "alpha_s", ovl_cal_ps(l->alpha.value));
    if (ovl_fit_has_interval(l->alpha)) {
        ovl_json_seconds(j, "alpha_low_s", ovl_cal_ps(l->alpha.low));
        ovl_json_seconds(j, "alpha_high_s", ovl_cal_ps(l->alpha.high));
    }
    rate_if(j, "beta_Bps", l->slope.value);
    if (ovl_fit_has_interval(l->slope)) {
        rate_if(j, "beta_low_Bps", l->slope.high);
        rate_if(j, "beta_high_Bps", l->slope.low);
    }
    ovl_json_double(j, "residual", l->residual);
}

static void held_out(ovl_json *j, const char *key, const ovl_fit_errors *e)
{
    if (e->n) {
        ovl_json_object(j, key, OVL_JSON_FLOW);
        ovl_json_uint(j, "sizes", e->n);
        ovl_json_double(j, "median", e->median);
        ovl_json_double(j, "p90", e->p90);
        ovl_json_double(j, "worst", e->worst);
        ovl_json_uint(j, "worst_bytes", e->worst_bytes);
        ovl_json_close(j);
    }
}

static void model(ovl_json *j, const ovl_fit *f)
{
    ovl_arena arena = {0};
    ovl_json_object(j, "pair", OVL_JSON_FLOW);
    line(j, &f->pair);
    ovl_json_close(j);
    held_out(j, "pair_held_out", &f->pair_held);
    ovl_json_text(j, "model", ovl_fit_model_name(f->chosen.kind, f->chosen.n_lines, &arena));
    held_out(j, "held_out", &f->held);
    ovl_json_text(j, "held_out_by", f->halves ? "every other size" : "one size at a time");
    ovl_json_array(j, "cross_validation", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < f->n_scores; i++) {
        const ovl_fit_score *s = &f->scores[i];
        if (s->tried) {
            ovl_json_object(j, NULL, OVL_JSON_FLOW);
            ovl_json_text(j, "model", ovl_fit_model_name(s->kind, s->n_lines, &arena));
            ovl_json_double(j, "mean", s->mean);
            ovl_json_double(j, "median", s->median);
            ovl_json_close(j);
        }
    }
    ovl_json_close(j);
    ovl_json_array(j, "pieces", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < f->pieces.n_lines; i++) {
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        line(j, &f->pieces.lines[i]);
        if (i) {
            ovl_json_bool(j, "switches", f->pieces.lines[i].switches);
        }
        ovl_json_close(j);
    }
    ovl_json_close(j);
    ovl_arena_free(&arena);
}

static void sources(ovl_json *j, const ovl_calibration *cal, const ovl_cal_series *s)
{
    ovl_json_array(j, "from", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < s->files.len; i++) {
        const ovl_cal_file *file = &cal->files.data[s->files.data[i]];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        ovl_json_text(j, "file", file->path);
        ovl_json_text_if(j, "sha256", file->sha256[0] ? file->sha256 : NULL);
        ovl_json_close(j);
    }
    ovl_json_close(j);
}

static void series(ovl_json *j, const ovl_calibration *cal, const ovl_cal_series *s)
{
    ovl_arena arena = {0};
    ovl_json_object(j, NULL, OVL_JSON_BLOCK);
    ovl_json_text(j, "op", s->op);
    ovl_json_text_if(j, "group", s->group);
    ovl_json_text_if(j, "via", ovl_calibrate_via(cal, s));
    ovl_json_text(j, "times", ovl_cal_times_text(s, &arena));
    sources(j, cal, s);
    if (s->most_ranks) {
        ovl_json_int(j, "least_ranks", s->least_ranks);
        ovl_json_int(j, "most_ranks", s->most_ranks);
    }
    ovl_json_uint(j, "durations", s->calls);
    ovl_json_uint(j, "points", s->fit.n_points);
    ovl_json_array(j, "sizes", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < s->fit.n_sizes; i++) {
        const ovl_fit_point *p = &s->fit.sizes[i];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        ovl_json_uint(j, "bytes", p->bytes);
        ovl_json_seconds(j, "time_s", ovl_cal_ps(p->time));
        if (s->fit.identified) {
            ovl_json_seconds(j, "fitted_s", ovl_cal_ps(ovl_fit_predict(&s->fit.chosen, p->bytes)));
        }
        ovl_json_close(j);
    }
    ovl_json_close(j);
    if (s->fit.identified) {
        model(j, &s->fit);
    }
    ovl_json_bool(j, "in_profile", s->written);
    ovl_json_array(j, "not_identified", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < s->notes.len; i++) {
        ovl_json_text(j, NULL, s->notes.data[i]);
    }
    ovl_json_close(j);
    ovl_json_close(j);
    ovl_arena_free(&arena);
}

static void warnings(ovl_json *j, const ovl_errs *errs)
{
    ovl_arena arena = {0};
    ovl_json_array(j, "warnings", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < errs->count; i++) {
        const ovl_err *e = &errs->items[i];
        if (e->warning) {
            ovl_json_text(j, NULL,
                          ovl_arena_printf(&arena, "%s%s%s", e->mark.file ? e->mark.file : "",
                                           e->mark.file ? ": " : "", e->text));
        }
    }
    ovl_json_close(j);
    ovl_arena_free(&arena);
}

void ovl_calibrate_json(ovl_out *out, const ovl_calibration *cal, const ovl_errs *errs)
{
    ovl_json json, *j = &json;
    ovl_json_begin(j, out);
    ovl_json_object(j, NULL, OVL_JSON_BLOCK);
    ovl_json_text(j, "schema", "overlapsim.calibrate/1");
    ovl_json_array(j, "collectives", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < cal->series.len; i++) {
        series(j, cal, &cal->series.data[i]);
    }
    ovl_json_close(j);
    if (cal->runs) {
        ovl_interfere_json(j, cal->runs);
    }
    warnings(j, errs);
    ovl_json_close(j);
    ovl_json_end(j);
}
