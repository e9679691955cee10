/* A calibration as a hardware profile: YAML that scenarios name, each cost with where it is from.
 */
#include "models/tables.h"
#include "tools/calibrate.h"
#include "tools/yaml_out.h"

#include <math.h>
#include <string.h>

static void time_key(ovl_out *out, const char *key, double ns)
{
    char buf[OVL_YAML_TIME];
    ovl_out_printf(out, "    %s: %s\n", key, ovl_yaml_time(buf, ovl_cal_ps(ns)));
}

/* 1 / slope in whole bytes/s; 0: no upper end. */
static uint64_t rate_of(double slope)
{
    double rate = slope > 0 ? round(1e9 / slope) : 0;
    return rate < 1e18 ? (uint64_t)rate : 0;
}

static void rate_key(ovl_out *out, const char *key, double slope)
{
    uint64_t rate = rate_of(slope);
    if (rate) {
        ovl_out_printf(out, "    %s: %" PRIu64 " B/s\n", key, rate);
    }
}

static void table(ovl_out *out, const ovl_fit_point *points, uint32_t n, bool by_bytes)
{
    char buf[OVL_YAML_TIME];
    ovl_out_text(out, "    table:\n");
    for (uint32_t i = 0; i < n; i++) {
        ovl_out_printf(out, "      - [%" PRIu64 " B, %s]\n", points[i].bytes,
                       ovl_yaml_time(buf, OVL_MAX(ovl_cal_ps(points[i].time), 1)));
    }
    if (by_bytes) {
        ovl_out_text(out, "    between: bytes\n");
    }
}

static void cost(ovl_out *out, const ovl_fit *f)
{
    if (!f->identified) {
        table(out, f->sizes, f->n_sizes, false);
    } else if (f->chosen.kind == OVL_FIT_PAIR) {
        time_key(out, "alpha", f->chosen.lines[0].alpha.value);
        rate_key(out, "beta", f->chosen.lines[0].slope.value);
    } else {
        table(out, f->chosen.knots, f->chosen.n_knots, f->chosen.kind != OVL_FIT_TABLE_LOGS);
    }
}

static void ratio(ovl_out *out, const char *key, double value)
{
    ovl_out_printf(out, "      %s: %.6f\n", key, value);
}

static void intervals(ovl_out *out, const ovl_fit *f)
{
    char low[OVL_YAML_TIME], high[OVL_YAML_TIME];
    if (ovl_fit_has_interval(f->pair.alpha)) {
        ovl_out_printf(out, "      alpha_low: %s\n      alpha_high: %s\n",
                       ovl_yaml_time(low, ovl_cal_ps(f->pair.alpha.low)),
                       ovl_yaml_time(high, ovl_cal_ps(f->pair.alpha.high)));
    }
    if (ovl_fit_has_interval(f->pair.slope)) {
        uint64_t most = rate_of(f->pair.slope.low);
        ovl_out_printf(out, "      beta_low: %" PRIu64 " B/s\n", rate_of(f->pair.slope.high));
        if (most) {
            ovl_out_printf(out, "      beta_high: %" PRIu64 " B/s\n", most);
        }
    }
}

static void sources(ovl_out *out, const ovl_calibration *cal, const ovl_cal_series *s)
{
    ovl_out_text(out, "      from: [");
    for (uint32_t i = 0; i < s->files.len; i++) {
        ovl_out_text(out, i ? ", " : "");
        ovl_yaml_text(out, cal->files.data[s->files.data[i]].path);
    }
    ovl_out_text(out, "]\n      sha256: [");
    for (uint32_t i = 0; i < s->files.len; i++) {
        const char *digest = cal->files.data[s->files.data[i]].sha256;
        ovl_out_text(out, i ? ", " : "");
        ovl_yaml_text(out, *digest ? digest : "read once");
    }
    ovl_out_text(out, "]\n");
}

static void measured(ovl_out *out, const ovl_calibration *cal, const ovl_cal_series *s)
{
    ovl_arena arena = {0};
    const ovl_fit *f = &s->fit;
    ovl_out_text(out, "    measured:\n");
    sources(out, cal, s);
    ovl_out_text(out, "      model: ");
    ovl_yaml_text(out, f->identified ? ovl_fit_model_name(f->chosen.kind, f->chosen.n_lines, &arena)
                                     : "one size");
    ovl_out_printf(out, "\n      points: %" PRIu32 "\n      sizes: %" PRIu32 "\n", f->n_points,
                   f->n_sizes);
    if (f->identified) {
        intervals(out, f);
        ratio(out, "residual", f->pair.residual);
    }
    if (f->held.n) {
        ratio(out, "held_out_median", f->held.median);
        ratio(out, "held_out_p90", f->held.p90);
    }
    ovl_out_text(out, s->notes.len ? "      notes:\n" : "");
    for (uint32_t i = 0; i < s->notes.len; i++) {
        ovl_out_text(out, "        - ");
        ovl_yaml_text(out, s->notes.data[i]);
        ovl_out_text(out, "\n");
    }
    ovl_arena_free(&arena);
}

/* What three runs told of the only collective in them, if it is this one. */
static void takes(ovl_out *out, const ovl_calibration *cal, const ovl_cal_series *s)
{
    const ovl_interfere *runs = cal->runs;
    if (!runs || runs->n_comms != 1 || strcmp(runs->comms[0].name, ovl_coll_keys[s->coll]) != 0) {
        return;
    }
    if (!runs->shared.hbm_why) {
        ovl_out_printf(out, "    hbm_factor: %.6f\n", runs->shared.hbm_factor.value);
    }
    if (!runs->shared.sms_why) {
        ovl_out_printf(out, "    sms: %.0f\n", round(runs->shared.sms.value));
    }
}

static void entry(ovl_out *out, const ovl_calibration *cal, const ovl_cal_series *s)
{
    const char *via = ovl_calibrate_via(cal, s);
    ovl_out_printf(out, "  - op: %s\n", ovl_coll_keys[s->coll]);
    if (s->group) {
        ovl_out_text(out, "    group: ");
        ovl_yaml_text(out, s->group);
        ovl_out_text(out, "\n");
    }
    if (via) {
        ovl_out_printf(out, "    via: [%s]\n", via);
    }
    cost(out, &s->fit);
    takes(out, cal, s);
    measured(out, cal, s);
}

void ovl_calibrate_profile(ovl_out *out, const ovl_calibration *cal)
{
    bool any = false;
    ovl_out_printf(out, "# Written by ovl calibrate %s.\n", OVL_VERSION);
    for (uint32_t i = 0; i < cal->series.len; i++) {
        if (cal->series.data[i].written) {
            ovl_out_text(out, any ? "" : "collectives:\n");
            entry(out, cal, &cal->series.data[i]);
            any = true;
        }
    }
    if (cal->runs) {
        ovl_interfere_profile(out, cal->runs);
    }
}
