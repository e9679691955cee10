/* Interference from three runs, as JSON and as entries of a hardware profile. */
#include "tools/interfere.h"
#include "tools/yaml_out.h"

static const char *const roles[] = {"compute", "comm", "overlap"};

static void nanoseconds(ovl_json *j, const char *key, int64_t ns)
{
    int64_t most = OVL_TIME_MAX / OVL_NS;
    ovl_json_seconds(j, key, OVL_MIN(OVL_MAX(ns, -most), most) * OVL_NS);
}

static void value(ovl_json *j, const char *key, ovl_fit_value v)
{
    if (v.value <= 0) {
        return;
    }
    ovl_json_object(j, key, OVL_JSON_FLOW);
    ovl_json_double(j, "value", v.value);
    if (ovl_fit_has_interval(v)) {
        ovl_json_double(j, "low", v.low);
        ovl_json_double(j, "high", v.high);
    }
    ovl_json_close(j);
}

static void files(ovl_json *j, const ovl_trial *run)
{
    ovl_json_array(j, "files", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < run->files.len; i++) {
        const ovl_trial_file *file = &run->files.data[i];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        ovl_json_text(j, "file", file->path);
        ovl_json_text_if(j, "sha256", file->sha256[0] ? file->sha256 : NULL);
        ovl_json_int(j, "rank", file->rank);
        ovl_json_close(j);
    }
    ovl_json_close(j);
}

static void runs(ovl_json *j, const ovl_interfere *in)
{
    ovl_json_array(j, "runs", OVL_JSON_BLOCK);
    for (int role = 0; role < OVL_ROLES; role++) {
        const ovl_trial *run = &in->runs[role];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        ovl_json_text(j, "role", roles[role]);
        const ovl_trial_file *first = &run->files.data[0];
        ovl_json_text(j, "file", first->path);
        ovl_json_text_if(j, "sha256", first->sha256[0] ? first->sha256 : NULL);
        ovl_json_uint(j, "operations", run->ops.len);
        if (run->sampled.n_hbm) {
            ovl_json_double(j, "hbm_percent", run->sampled.hbm / (double)run->sampled.n_hbm);
        }
        if (run->sampled.n_sms) {
            ovl_json_double(j, "sms_percent", run->sampled.sms / (double)run->sampled.n_sms);
        }
        if (run->files.len > 1) {
            files(j, run);
        }
        ovl_json_close(j);
    }
    ovl_json_close(j);
}

static void spread(ovl_json *j, const char *key, const ovl_spread3 *s)
{
    ovl_json_object(j, key, OVL_JSON_FLOW);
    nanoseconds(j, "p10_s", s->p10);
    nanoseconds(j, "median_s", s->median);
    nanoseconds(j, "p90_s", s->p90);
    ovl_json_close(j);
}

static void classes(ovl_json *j, const char *key, const ovl_interfere_class *items, uint32_t n)
{
    ovl_json_array(j, key, OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < n; i++) {
        const ovl_interfere_class *c = &items[i];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        ovl_json_text(j, "class", c->name);
        ovl_json_uint(j, "calls", c->n);
        ovl_json_uint(j, "calls_beside", c->n_beside);
        spread(j, "alone", &c->alone);
        if (c->n_beside) {
            spread(j, "overlapped", &c->took);
        }
        nanoseconds(j, "total_s", c->took_sum);
        nanoseconds(j, "beside_s", c->beside_sum);
        ovl_json_close(j);
    }
    ovl_json_close(j);
}

bool ovl_interfere_met(const ovl_interfere *in, uint32_t kernel, uint32_t comm)
{
    return ovl_interfere_of(&in->kernels[kernel], comm).value > 0 ||
           ovl_interfere_of(&in->comms[comm], kernel).value > 0;
}

static void pairs(ovl_json *j, const ovl_interfere *in)
{
    ovl_json_array(j, "factors", OVL_JSON_BLOCK);
    for (uint32_t k = 0; k < in->n_kernels; k++) {
        for (uint32_t c = 0; c < in->n_comms; c++) {
            if (ovl_interfere_met(in, k, c)) {
                ovl_json_object(j, NULL, OVL_JSON_FLOW);
                ovl_json_text(j, "kernel", in->kernels[k].name);
                ovl_json_text(j, "collective", in->comms[c].name);
                value(j, "kernel_factor", ovl_interfere_of(&in->kernels[k], c));
                value(j, "collective_factor", ovl_interfere_of(&in->comms[c], k));
                ovl_json_close(j);
            }
        }
    }
    ovl_json_close(j);
}

static void reconciled(ovl_json *j, const ovl_reconciled *r)
{
    ovl_json_object(j, NULL, OVL_JSON_FLOW);
    ovl_json_int(j, "device", r->device);
    nanoseconds(j, "compute_alone_s", r->compute_alone);
    nanoseconds(j, "compute_stretch_s", r->compute - r->compute_alone);
    nanoseconds(j, "tail_s", r->tail);
    nanoseconds(j, "idle_s", r->idle);
    nanoseconds(j, "overlapped_s", r->segment);
    nanoseconds(j, "comm_alone_s", r->comm_alone);
    nanoseconds(j, "comm_stretch_s", r->comm - r->comm_alone);
    nanoseconds(j, "hidden_s", r->hidden);
    nanoseconds(j, "gain_s", r->compute_alone + r->comm_alone - r->segment);
    if (r->rank >= 0) {
        ovl_json_int(j, "rank", r->rank);
    }
    ovl_json_close(j);
}

void ovl_interfere_json(ovl_json *j, const ovl_interfere *in)
{
    ovl_json_object(j, "interference", OVL_JSON_BLOCK);
    runs(j, in);
    classes(j, "kernels", in->kernels, in->n_kernels);
    classes(j, "collectives", in->comms, in->n_comms);
    pairs(j, in);
    if (in->n_outside) {
        ovl_json_uint(j, "kernels_outside", in->n_outside);
        ovl_json_double(j, "clock_ratio", in->drift);
    }
    ovl_json_array(j, "devices", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < in->devices.len; i++) {
        reconciled(j, &in->devices.data[i]);
    }
    ovl_json_close(j);
    value(j, "hbm_factor", in->shared.hbm_factor);
    value(j, "sms", in->shared.sms);
    ovl_json_array(j, "not_identified", OVL_JSON_BLOCK);
    if (in->shared.hbm_why) {
        ovl_json_text(j, NULL, in->shared.hbm_why);
    }
    if (in->shared.sms_why) {
        ovl_json_text(j, NULL, in->shared.sms_why);
    }
    for (uint32_t i = 0; i < in->notes.len; i++) {
        ovl_json_text(j, NULL, in->notes.data[i]);
    }
    ovl_json_close(j);
    ovl_json_close(j);
}

/* --- Profile --- */

static void factor(ovl_out *out, const char *key, ovl_fit_value v)
{
    if (v.value > 0) {
        ovl_out_printf(out, "    %s: %.6f\n", key, ovl_interfere_factor(v));
    }
}

static void interval(ovl_out *out, const char *key, ovl_fit_value v)
{
    if (v.value > 0 && ovl_fit_has_interval(v)) {
        ovl_out_printf(out, "      %s_low: %.6f\n      %s_high: %.6f\n", key, v.low, key, v.high);
    }
}

static void texts(ovl_out *out, const char *key, const ovl_interfere *in, bool digests)
{
    ovl_out_printf(out, "      %s: [", key);
    for (int role = 0; role < OVL_ROLES; role++) {
        const ovl_trial *run = &in->runs[role];
        for (uint32_t i = 0; i < run->files.len; i++) {
            const ovl_trial_file *file = &run->files.data[i];
            ovl_out_text(out, role || i ? ", " : "");
            ovl_yaml_text(out, !digests          ? file->path
                               : file->sha256[0] ? file->sha256
                                                 : "read once");
        }
    }
    ovl_out_text(out, "]\n");
}

static void entry(ovl_out *out, const ovl_interfere *in, uint32_t k, uint32_t c)
{
    ovl_fit_value kernel = ovl_interfere_of(&in->kernels[k], c);
    ovl_fit_value comm = ovl_interfere_of(&in->comms[c], k);
    ovl_out_text(out, "  - kernel: ");
    ovl_yaml_text(out, in->kernels[k].name);
    ovl_out_text(out, "\n    collective: ");
    ovl_yaml_text(out, in->comms[c].name);
    ovl_out_text(out, "\n");
    factor(out, "kernel_factor", kernel);
    factor(out, "collective_factor", comm);
    ovl_out_text(out, "    measured:\n");
    texts(out, "from", in, false);
    texts(out, "sha256", in, true);
    ovl_out_printf(out, "      points: %" PRIu32 "\n", in->kernels[k].fit.n + in->comms[c].fit.n);
    interval(out, "kernel", kernel);
    interval(out, "collective", comm);
}

void ovl_interfere_profile(ovl_out *out, const ovl_interfere *in, bool begun)
{
    bool any = begun;
    for (uint32_t k = 0; k < in->n_kernels; k++) {
        for (uint32_t c = 0; c < in->n_comms; c++) {
            if (ovl_interfere_met(in, k, c)) {
                ovl_out_text(out, any ? "" : "interference:\n");
                entry(out, in, k, c);
                any = true;
            }
        }
    }
}
