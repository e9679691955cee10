#include "tools/two_point_report.h"

#include "models/two_point.h"
#include "sim/units.h"
#include "tools/json.h"
#include "tools/wrap.h"

#include <math.h>
#include <string.h>

static const ovl_mark nowhere = {0};

typedef enum form_kind { ACCUMULATION, OVERLAP } form_kind;

/* One --at: "4=54.3s", "80.1%=544ms". */
typedef struct measurement {
    const char *amount; /* as it was written */
    double value;
    ovl_time time;
} measurement;

typedef struct request {
    form_kind form;
    measurement *at;
    uint32_t n;
} request;

static const char *read_amount(form_kind form, const char *text, double *value)
{
    int64_t count;
    const char *why =
        form == ACCUMULATION ? ovl_read_count(text, &count) : ovl_read_ratio(text, value);
    if (why) {
        return why;
    }
    if (form == ACCUMULATION) {
        *value = (double)count;
        return count < 1 ? "must be 1 or more micro-batches" : NULL;
    }
    return *value > 1 ? "must be a share between 0 and 1, such as 80.1%" : NULL;
}

static bool read_at(form_kind form, const char *text, measurement *m, ovl_arena *arena,
                    ovl_errs *errs)
{
    const char *equals = strchr(text, '=');
    if (!equals) {
        ovl_error(errs, OVL_E_USAGE, nowhere, "--at is \"%s\": expected %s", text,
                  form == ACCUMULATION ? "MICROBATCHES=TIME, such as 4=54.3s"
                                       : "SHARE=TIME, such as 80.1%=544ms");
        return false;
    }
    m->amount = ovl_arena_strndup(arena, text, (size_t)(equals - text));
    const char *why = read_amount(form, m->amount, &m->value);
    if (why) {
        ovl_error(errs, OVL_E_USAGE, nowhere, "--at \"%s\": \"%s\": %s", text, m->amount, why);
        return false;
    }
    why = ovl_read_time(equals + 1, &m->time);
    why = why || m->time > 0 ? why : "must be greater than 0";
    if (why) {
        ovl_error(errs, OVL_E_USAGE, nowhere, "--at \"%s\": \"%s\": %s", text, equals + 1, why);
        return false;
    }
    return true;
}

static bool read_request(const ovl_args *args, request *r, ovl_arena *arena, ovl_errs *errs)
{
    bool good = true;
    uint32_t n = 0;
    r->form = strcmp(ovl_args_value(args, "two-point"), "overlap") == 0 ? OVERLAP : ACCUMULATION;
    while (ovl_args_nth(args, "at", n)) {
        n++;
    }
    r->at = OVL_NEW_ARRAY(arena, measurement, n);
    for (r->n = 0; r->n < n; r->n++) {
        good &= read_at(r->form, ovl_args_nth(args, "at", r->n), &r->at[r->n], arena, errs);
    }
    if (n < 2) {
        ovl_error(errs, OVL_E_USAGE, nowhere,
                  "two unknowns need two measurements: give --at twice, such as %s",
                  r->form == ACCUMULATION ? "--at 1=22.2s --at 4=54.3s"
                                          : "--at 4.6%=658ms --at 80.1%=544ms");
        good = false;
    }
    if (args->n_operands) {
        ovl_error(errs, OVL_E_USAGE, nowhere, "--two-point takes no files; give --at");
        good = false;
    }
    return good;
}

static ovl_two_point_fit solve(const request *r, ovl_arena *arena)
{
    ovl_two_point *points = OVL_NEW_ARRAY(arena, ovl_two_point, r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        double v = r->at[i].value, time = (double)r->at[i].time / (double)OVL_S;
        points[i] =
            r->form == ACCUMULATION ? (ovl_two_point){v, 1, time} : (ovl_two_point){1, 1 - v, time};
    }
    return ovl_two_point_solve(points, r->n);
}

/* --- Text --- */

static ovl_time to_time(double seconds)
{
    double ps = round(seconds * (double)OVL_S);
    double most = (double)OVL_TIME_MAX;
    return (ovl_time)fmin(fmax(ps, -most), most);
}

static const char *text_of(ovl_arena *arena, double seconds)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_time(buf, to_time(seconds)));
}

static double seconds_of(const measurement *m)
{
    return (double)m->time / (double)OVL_S;
}

static void equations(ovl_out *out, const request *r, ovl_arena *arena)
{
    ovl_out_title(out, "%s",
                  r->form == ACCUMULATION
                      ? "Accumulation: T = m X + C, communication once a step"
                      : "Overlap: T = X + (1 - f) C, a share f of the communication hidden");
    for (uint32_t i = 0; i < r->n; i++) {
        const measurement *m = &r->at[i];
        const char *time = text_of(arena, seconds_of(m));
        if (r->form == ACCUMULATION) {
            ovl_out_printf(out, "  %s = %g X + C\n", time, m->value);
        } else {
            ovl_out_printf(out, "  %s = X + (1 - %g) C\n", time, m->value);
        }
    }
}

/* With two equations, how each unknown comes out of them. */
static void steps(ovl_out *out, const request *r, const ovl_two_point_fit *fit, ovl_arena *arena)
{
    const measurement *a = &r->at[0], *b = &r->at[1];
    const char *ta = text_of(arena, seconds_of(a)), *tb = text_of(arena, seconds_of(b));
    const char *x = text_of(arena, fit->compute), *c = text_of(arena, fit->comm);
    if (r->n > 2) {
        ovl_out_printf(out,
                       "  least squares: X = %s, C = %s, root mean square of what is left %s\n", x,
                       c, text_of(arena, fit->residual));
    } else if (r->form == ACCUMULATION) {
        ovl_out_printf(out, "  X = (%s - %s) / (%g - %g) = %s\n", tb, ta, b->value, a->value, x);
        ovl_out_printf(out, "  C = %s - %g X = %s\n", ta, a->value, c);
    } else {
        ovl_out_printf(out, "  C = (%s - %s) / (%g - %g) = %s\n", ta, tb, b->value, a->value, c);
        ovl_out_printf(out, "  X = %s - (1 - %g) C = %s\n", ta, a->value, x);
    }
}

static double uncovered(const ovl_two_point_fit *fit, const measurement *m)
{
    return (1 - m->value) * fit->comm;
}

static void what_follows(ovl_out *out, const request *r, const ovl_two_point_fit *fit,
                         ovl_arena *arena)
{
    ovl_out_printf(out, "compute %s%s, communication %s\n", text_of(arena, fit->compute),
                   r->form == ACCUMULATION ? " a micro-batch" : "", text_of(arena, fit->comm));
    for (uint32_t i = 0; i < r->n; i++) {
        const measurement *m = &r->at[i];
        if (r->form == OVERLAP) {
            ovl_out_printf(out, "  %s hidden: %s uncovered\n", m->amount,
                           text_of(arena, uncovered(fit, m)));
        } else if (m->value > 1) {
            double every = m->value * (fit->compute + fit->comm);
            ovl_out_printf(out,
                           "  %g micro-batches: %s; with communication after each %s, %.2f times "
                           "as long\n",
                           m->value, text_of(arena, m->value * fit->compute + fit->comm),
                           text_of(arena, every), every / (m->value * fit->compute + fit->comm));
        }
    }
}

/* What no step can be: the form of the equations does not hold of what was measured. */
static bool impossible(const request *r, const ovl_two_point_fit *fit, ovl_arena *arena,
                       ovl_errs *errs)
{
    bool compute = to_time(fit->compute) < 0;
    if (!compute && to_time(fit->comm) >= 0) {
        return false;
    }
    ovl_error(errs, OVL_E_INPUT, nowhere,
              "%s of %s would solve the equations, and no step has that: the measurements are not "
              "of the form %s",
              compute ? "compute" : "communication",
              text_of(arena, compute ? fit->compute : fit->comm),
              r->form == ACCUMULATION ? "T = m X + C, communication once a step"
                                      : "T = X + (1 - f) C, a share f of the communication hidden");
    return true;
}

static const char *doubt(const ovl_two_point_fit *fit)
{
    return fit->comm <= 1e-3 * fit->compute
               ? "no communication is left: either it is hidden, or it happens with every unit of "
                 "compute, so that X holds it; these measurements cannot tell"
               : NULL;
}

static void text(ovl_out *out, const request *r, const ovl_two_point_fit *fit, ovl_arena *arena)
{
    equations(out, r, arena);
    steps(out, r, fit, arena);
    what_follows(out, r, fit, arena);
    if (doubt(fit)) {
        ovl_wrap(out, "  - ", 4, doubt(fit), OVL_TERMINAL);
    }
}

static void json(ovl_out *out, const request *r, const ovl_two_point_fit *fit)
{
    ovl_json json, *j = &json;
    ovl_json_begin(j, out);
    ovl_json_object(j, NULL, OVL_JSON_BLOCK);
    ovl_json_text(j, "schema", "overlapsim.two_point/1");
    ovl_json_text(j, "form", r->form == ACCUMULATION ? "accumulation" : "overlap");
    ovl_json_array(j, "at", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < r->n; i++) {
        const measurement *m = &r->at[i];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        ovl_json_double(j, r->form == ACCUMULATION ? "microbatches" : "hidden_share", m->value);
        ovl_json_seconds(j, "time_s", m->time);
        if (r->form == ACCUMULATION) {
            ovl_json_seconds(j, "every_s", to_time(m->value * (fit->compute + fit->comm)));
        } else {
            ovl_json_seconds(j, "uncovered_s", to_time(uncovered(fit, m)));
        }
        ovl_json_close(j);
    }
    ovl_json_close(j);
    ovl_json_seconds(j, "compute_s", to_time(fit->compute));
    ovl_json_seconds(j, "comm_s", to_time(fit->comm));
    if (r->n > 2) {
        ovl_json_seconds(j, "residual_s", to_time(fit->residual));
    }
    ovl_json_text_if(j, "doubt", doubt(fit));
    ovl_json_close(j);
    ovl_json_end(j);
}

void ovl_two_point_command(const ovl_args *args, const ovl_shell *shell, ovl_arena *arena,
                           ovl_errs *errs)
{
    request r;
    if (!read_request(args, &r, arena, errs)) {
        return;
    }
    ovl_two_point_fit fit = solve(&r, arena);
    if (!fit.solved) {
        ovl_error(errs, OVL_E_INPUT, nowhere,
                  "the measurements cannot tell compute from communication: they hold the same "
                  "amounts of both");
    } else if (impossible(&r, &fit, arena, errs)) {
        return;
    } else if (ovl_args_has(args, "json")) {
        json(shell->out, &r, &fit);
    } else {
        text(shell->out, &r, &fit, arena);
    }
}
