/* Interference from three runs, as text. */
#include "sim/units.h"
#include "tools/grid.h"
#include "tools/interfere.h"
#include "tools/scale.h"
#include "tools/wrap.h"

#include <string.h>

#define MOST_ROWS 40

static const char *const roles[] = {"compute alone", "communication alone", "overlapped"};

static ovl_time ps(int64_t ns)
{
    return OVL_MIN(OVL_MAX(ns, -(OVL_TIME_MAX / OVL_NS)), OVL_TIME_MAX / OVL_NS) * OVL_NS;
}

static const char *time_text(ovl_arena *arena, int64_t ns)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_time(buf, ps(ns)));
}

static const char *factor_text(ovl_arena *arena, ovl_fit_value v)
{
    if (v.value <= 0) {
        return "not identified";
    }
    return ovl_fit_has_interval(v)
               ? ovl_arena_printf(arena, "%.4g (%.4g to %.4g)", v.value, v.low, v.high)
               : ovl_arena_printf(arena, "%.4g", v.value);
}

static const char *spread_text(ovl_arena *arena, const ovl_spread3 *s, uint32_t n)
{
    if (n == 0) {
        return NULL;
    }
    return s->p10 == s->p90 ? time_text(arena, s->median)
                            : ovl_arena_printf(arena, "%s (%s to %s)", time_text(arena, s->median),
                                               time_text(arena, s->p10), time_text(arena, s->p90));
}

static void sources(ovl_out *out, const ovl_interfere *in)
{
    ovl_out_title(out, "Interference from three runs");
    for (int role = 0; role < OVL_ROLES; role++) {
        for (uint32_t i = 0; i < in->runs[role].files.len; i++) {
            ovl_out_printf(out, "  %-20s %s\n", i ? "" : roles[role],
                           in->runs[role].files.data[i].path);
        }
    }
}

static void durations(ovl_out *out, const ovl_interfere *in, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"class", true, true, 0},
        {"calls", false, false, 0},
        {"beside", false, false, 0},
        {"alone", true, OVL_GRID_WRAP, 0},
        {"overlapped", true, OVL_GRID_WRAP, 0},
        {"of it beside", false, false, 0},
    };
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(in->n_kernels + in->n_comms, MOST_ROWS); i++) {
        const ovl_interfere_class *c =
            i < in->n_kernels ? &in->kernels[i] : &in->comms[i - in->n_kernels];
        const char *cells[] = {
            c->name,
            ovl_arena_printf(arena, "%" PRIu32, c->n),
            ovl_arena_printf(arena, "%" PRIu32, c->n_beside),
            spread_text(arena, &c->alone, c->n),
            spread_text(arena, &c->took, c->n_beside),
            c->took_sum > 0 ? ovl_arena_printf(arena, "%.1f %%",
                                               100.0 * (double)c->beside_sum / (double)c->took_sum)
                            : NULL,
        };
        ovl_grid_row(&grid, cells);
    }
    ovl_out_title(out,
                  "\nDurations: median (10 %% to 90 %%); overlapped: of calls beside the other "
                  "kind");
    ovl_grid_end(&grid, out, 2);
    if (in->n_kernels + in->n_comms > MOST_ROWS) {
        ovl_out_text(out, "  and more; --json has all\n");
    }
}

static void factors(ovl_out *out, const ovl_interfere *in, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"kernel", true, true, 0},
        {"collective", true, true, 0},
        {"kernel takes", true, false, 0},
        {"collective takes", true, false, 0},
    };
    ovl_grid grid;
    uint32_t rows = 0;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t k = 0; k < in->n_kernels; k++) {
        for (uint32_t c = 0; c < in->n_comms; c++) {
            if (ovl_interfere_met(in, k, c) && rows++ < MOST_ROWS) {
                const char *cells[] = {in->kernels[k].name, in->comms[c].name,
                                       factor_text(arena, ovl_interfere_of(&in->kernels[k], c)),
                                       factor_text(arena, ovl_interfere_of(&in->comms[c], k))};
                ovl_grid_row(&grid, cells);
            }
        }
    }
    ovl_out_title(out, "\nHow many times as long while both run (95 %% interval)");
    ovl_grid_end(&grid, out, 2);
    if (rows > MOST_ROWS) {
        ovl_out_printf(out, "  and %" PRIu32 " more; --json has all\n", rows - MOST_ROWS);
    }
}

static void line(ovl_out *out, const ovl_scale *scale, const char *sign, const char *what,
                 int64_t ns)
{
    char buf[OVL_UNITS_TEXT];
    ovl_out_printf(out, "    %s %-42s %12s %s\n", sign, what, ovl_scale_show(buf, scale, ps(ns)),
                   ovl_scale_unit(scale));
}

/* Every nanosecond is shown, so that the sums can be checked on paper. */
static ovl_scale exact_scale(const int64_t *ns, uint32_t n)
{
    int64_t largest = 0, step = 1;
    for (uint32_t i = 0; i < n; i++) {
        largest = OVL_MAX(largest, ns[i]);
    }
    ovl_scale scale = ovl_scale_for(ps(largest));
    scale.decimals = scale.unit == OVL_UNIT_S    ? 9
                     : scale.unit == OVL_UNIT_MS ? 6
                     : scale.unit == OVL_UNIT_US ? 3
                                                 : 0;
    for (bool whole = true; whole && scale.decimals > 0;) {
        for (uint32_t i = 0; i < n; i++) {
            whole &= ns[i] % (step * 10) == 0;
        }
        scale.decimals -= whole;
        step *= 10;
    }
    return scale;
}

/* "0", or, where a run has several files, "3 (device 0)" of rank 3. */
static const char *number_of(const ovl_reconciled *r, ovl_arena *arena)
{
    return r->rank < 0
               ? ovl_arena_printf(arena, "%" PRId64, r->device)
               : ovl_arena_printf(arena, "%" PRId64 " (device %" PRId64 ")", r->rank, r->device);
}

/* The devices whose sums are those of device i: "devices 0, 1"; NULL if an earlier one has them. */
static const char *alike(const ovl_interfere *in, uint32_t i, ovl_arena *arena)
{
    const char *text = NULL, *what = in->devices.data[i].rank < 0 ? "device" : "rank";
    bool several = false;
    for (uint32_t k = 0; k < in->devices.len; k++) {
        ovl_reconciled r = in->devices.data[k];
        r.device = in->devices.data[i].device;
        r.rank = in->devices.data[i].rank;
        if (memcmp(&r, &in->devices.data[i], sizeof r) != 0) {
            continue;
        }
        if (k < i) {
            return NULL;
        }
        const char *number = number_of(&in->devices.data[k], arena);
        several = text != NULL;
        text = text ? ovl_arena_printf(arena, "%s, %s", text, number) : number;
    }
    return ovl_arena_printf(arena, "%s%s %s", what, several ? "s" : "", text);
}

static void reconciled(ovl_out *out, const ovl_reconciled *r, const char *devices)
{
    const int64_t all[] = {r->compute_alone, r->comm_alone, r->compute, r->hidden,
                           r->tail,          r->idle,       r->segment};
    ovl_scale scale = exact_scale(all, OVL_COUNT(all));
    ovl_out_printf(out, "  %s\n", devices);
    line(out, &scale, " ", "compute alone", r->compute_alone);
    line(out, &scale, "+", "stretch of compute", r->compute - r->compute_alone);
    line(out, &scale, "+", "tail: communication with no kernel beside", r->tail);
    line(out, &scale, "+", "idle", r->idle);
    line(out, &scale, "=", "overlapped", r->segment);
    line(out, &scale, " ", "compute alone", r->compute_alone);
    line(out, &scale, "+", "communication alone", r->comm_alone);
    line(out, &scale, "-", "overlapped", r->segment);
    line(out, &scale, "=", "gain", r->compute_alone + r->comm_alone - r->segment);
    line(out, &scale, " ", "communication alone", r->comm_alone);
    line(out, &scale, "+", "stretch of communication", r->comm - r->comm_alone);
    line(out, &scale, "-", "under kernels", r->hidden);
    line(out, &scale, "=", "tail", r->tail);
}

/* Where the collectives ran alone, samples of HBM say directly what they take of it. */
static void sampled_factor(ovl_out *out, const ovl_interfere *in)
{
    const ovl_trial *run = &in->runs[OVL_ROLE_COMM];
    double hbm = in->wishes->hbm > 0 ? in->wishes->hbm : run->hbm;
    if (run->sampled.n_hbm && hbm > 0 && in->n_comms == 1 && in->comms[0].wire > 0) {
        double rate = run->sampled.hbm / (double)run->sampled.n_hbm / 100 * hbm;
        char buf[OVL_UNITS_TEXT];
        ovl_out_printf(out,
                       "  by these samples %s moves %s of HBM, %.3g bytes per byte on the wire\n",
                       in->comms[0].name, ovl_print_rate(buf, rate), rate / in->comms[0].wire);
    }
}

static void shared(ovl_out *out, const ovl_interfere *in, ovl_arena *arena)
{
    const ovl_shared_fit *s = &in->shared;
    ovl_out_title(out, "\nWhat the collectives take of the GPU");
    ovl_wrap(out, "  hbm_factor  ", 14,
             s->hbm_why ? ovl_arena_printf(arena, "not identified: %s", s->hbm_why)
                        : factor_text(arena, s->hbm_factor),
             OVL_TERMINAL);
    ovl_wrap(out, "  SMs         ", 14,
             s->sms_why ? ovl_arena_printf(arena, "not identified: %s", s->sms_why)
                        : factor_text(arena, s->sms),
             OVL_TERMINAL);
    if (!s->hbm_why || !s->sms_why) {
        ovl_out_printf(out, "  from %s; root mean square of what is left %.1f %%\n",
                       ovl_counted(arena, s->n, "factor"), 100 * s->residual);
    }
    for (int role = 0; role < OVL_ROLES; role++) {
        const ovl_sampled *m = &in->runs[role].sampled;
        if (m->n_hbm || m->n_sms) {
            ovl_out_printf(out, "  %s, sampled while it ran: HBM %.1f %%, SMs active %.1f %%\n",
                           roles[role], m->n_hbm ? m->hbm / (double)m->n_hbm : 0,
                           m->n_sms ? m->sms / (double)m->n_sms : 0);
        }
    }
    sampled_factor(out, in);
}

void ovl_interfere_text(ovl_out *out, const ovl_interfere *in)
{
    ovl_arena arena = {0};
    sources(out, in);
    durations(out, in, &arena);
    factors(out, in, &arena);
    if (in->n_outside) {
        ovl_out_printf(out,
                       "  clock: %" PRIu32
                       " kernels outside the overlap take %.3f times as long as "
                       "alone (median)\n",
                       in->n_outside, in->drift);
    }
    ovl_out_title(out, "\nThe three runs");
    uint32_t shown = 0;
    for (uint32_t i = 0; i < in->devices.len; i++) {
        const char *devices = alike(in, i, &arena);
        if (devices && shown++ < 8) {
            reconciled(out, &in->devices.data[i], devices);
        }
    }
    if (shown > 8) {
        ovl_out_printf(out, "  and %" PRIu32 " more devices; --json has all\n", shown - 8);
    }
    shared(out, in, &arena);
    for (uint32_t i = 0; i < in->notes.len; i++) {
        ovl_wrap(out, "  - ", 4, in->notes.data[i], OVL_TERMINAL);
    }
    ovl_arena_free(&arena);
}
