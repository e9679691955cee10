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
    if (f->n_sizes) {
        ovl_out_printf(out, "      from_bytes: %" PRIu64 " B\n      to_bytes: %" PRIu64 " B\n",
                       f->sizes[0].bytes, f->sizes[f->n_sizes - 1].bytes);
    }
    if (s->most_ranks && s->least_ranks == s->most_ranks) {
        ovl_out_printf(out, "      ranks: %" PRId64 "\n", s->most_ranks);
    }
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

/* Whether three runs were about this collective alone. */
static bool is_of_runs(const ovl_calibration *cal, const ovl_cal_series *s)
{
    return cal->runs && cal->runs->n_comms == 1 &&
           strcmp(cal->runs->comms[0].name, ovl_coll_keys[s->coll]) == 0;
}

/* What they told of it. */
static void takes(ovl_out *out, const ovl_calibration *cal, const ovl_cal_series *s)
{
    const ovl_interfere *runs = cal->runs;
    if (!is_of_runs(cal, s)) {
        return;
    }
    if (!runs->shared.hbm_why) {
        ovl_out_printf(out, "    hbm_factor: %.6f\n", runs->shared.hbm_factor.value);
    }
    if (!runs->shared.sms_why) {
        ovl_out_printf(out, "    sms: %.0f\n", round(runs->shared.sms.value));
    }
}

/* --- What the base has --- */

static bool same(const ovl_node *node, const char *key, const char *text)
{
    const ovl_node *value = ovl_node_get(node, key);
    if (ovl_node_is_null(value)) {
        return text == NULL;
    }
    return text && value->kind == OVL_NODE_SCALAR && strcmp(value->text, text) == 0;
}

static const ovl_node *old_entry(const ovl_calibration *cal, const ovl_cal_series *s)
{
    const ovl_node *list = ovl_node_get(cal->base, "collectives");
    for (uint32_t i = 0; list && i < list->count; i++) {
        const ovl_node *item = list->items[i];
        if (same(item, "op", ovl_coll_keys[s->coll]) && same(item, "group", s->group)) {
            return item;
        }
    }
    return NULL;
}

/* Everything but what is measured anew. */
static void keep(ovl_out *out, const ovl_node *old, bool via, bool hbm, bool sms)
{
    static const char *const gone[] = {"op",      "group",       "alpha",     "beta",    "table",
                                       "between", "extrapolate", "algorithm", "measured"};
    for (uint32_t i = 0; old && i < old->count; i++) {
        const char *key = old->pairs[i].key;
        bool again = (via && strcmp(key, "via") == 0) || (hbm && strcmp(key, "hbm_factor") == 0) ||
                     (sms && strcmp(key, "sms") == 0);
        for (size_t k = 0; k < OVL_COUNT(gone); k++) {
            again |= strcmp(key, gone[k]) == 0;
        }
        if (!again) {
            ovl_yaml_pair(out, &old->pairs[i], 4);
        }
    }
}

/* The entries of the base's list that are not replaced. */
static bool kept_costs(ovl_out *out, const ovl_calibration *cal)
{
    const ovl_node *list = ovl_node_get(cal->base, "collectives");
    bool any = false;
    for (uint32_t i = 0; list && i < list->count; i++) {
        bool replaced = false;
        for (uint32_t k = 0; k < cal->series.len; k++) {
            const ovl_cal_series *s = &cal->series.data[k];
            replaced |= s->written && old_entry(cal, s) == list->items[i];
        }
        if (!replaced) {
            ovl_out_text(out, any ? "" : "collectives:\n");
            ovl_yaml_item(out, list->items[i], 2);
            any = true;
        }
    }
    return any;
}

static bool kept_pairs(ovl_out *out, const ovl_calibration *cal)
{
    const ovl_node *list = ovl_node_get(cal->base, "interference");
    bool any = false;
    for (uint32_t i = 0; list && i < list->count; i++) {
        bool replaced = false;
        for (uint32_t k = 0; cal->runs && k < cal->runs->n_kernels; k++) {
            for (uint32_t c = 0; c < cal->runs->n_comms; c++) {
                replaced |= ovl_interfere_met(cal->runs, k, c) &&
                            same(list->items[i], "kernel", cal->runs->kernels[k].name) &&
                            same(list->items[i], "collective", cal->runs->comms[c].name);
            }
        }
        if (!replaced) {
            ovl_out_text(out, any ? "" : "interference:\n");
            ovl_yaml_item(out, list->items[i], 2);
            any = true;
        }
    }
    return any;
}

static void kept_rest(ovl_out *out, const ovl_node *base)
{
    for (uint32_t i = 0; base && i < base->count; i++) {
        const char *key = base->pairs[i].key;
        if (strcmp(key, "collectives") != 0 && strcmp(key, "interference") != 0) {
            ovl_yaml_pair(out, &base->pairs[i], 0);
        }
    }
}

/* --- The whole --- */

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
    bool one = is_of_runs(cal, s);
    cost(out, &s->fit);
    takes(out, cal, s);
    keep(out, old_entry(cal, s), via != NULL, one && !cal->runs->shared.hbm_why,
         one && !cal->runs->shared.sms_why);
    measured(out, cal, s);
}

void ovl_calibrate_profile(ovl_out *out, const ovl_calibration *cal)
{
    ovl_out_printf(out, "# Written by ovl calibrate %s.\n", OVL_VERSION);
    kept_rest(out, cal->base);
    bool any = kept_costs(out, cal);
    for (uint32_t i = 0; i < cal->series.len; i++) {
        if (cal->series.data[i].written) {
            ovl_out_text(out, any ? "" : "collectives:\n");
            entry(out, cal, &cal->series.data[i]);
            any = true;
        }
    }
    any = kept_pairs(out, cal);
    if (cal->runs) {
        ovl_interfere_profile(out, cal->runs, any);
    }
}
