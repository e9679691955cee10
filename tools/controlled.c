#include "tools/controlled.h"

#include "tools/grid.h"
#include "tools/report.h"
#include "tools/scale.h"
#include "tools/wrap.h"

#define MOST_ROWS 30

static const char *const words[OVL_TERM_COUNT] = {
    "compute", "compute stretch", "comm latency", "comm transfer", "comm stretch",
    "copy",    "wait late rank",  "idle",
};

static ovl_time saved(const ovl_controlled *c, int term)
{
    return c->compute.term[term] + c->comm.term[term] - c->both.term[term];
}

static ovl_time saved_in_all(const ovl_controlled *c)
{
    return c->compute.step + c->comm.step - c->both.step;
}

static ovl_time comm_of(const ovl_controlled_run *run)
{
    return run->term[OVL_COMM_LATENCY] + run->term[OVL_COMM_TRANSFER] + run->term[OVL_COMM_STRETCH];
}

/* --- Text --- */

typedef struct writer {
    ovl_out *out;
    const ovl_controlled *c;
    ovl_arena *arena;
    ovl_scale scale;
} writer;

static const char *shown(const writer *w, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(w->arena, ovl_scale_show(buf, &w->scale, t));
}

static const char *in_text(const writer *w, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(w->arena, ovl_scale_short(buf, &w->scale, t));
}

/* From here on every time of the three runs is a whole number of the last decimal. */
static void set_scale(writer *w, ovl_controlled *rounded)
{
    const ovl_controlled_run *runs[] = {&w->c->compute, &w->c->comm, &w->c->both};
    ovl_time largest = 0;
    for (uint32_t i = 0; i < OVL_COUNT(runs); i++) {
        largest = OVL_MAX(largest, runs[i]->step);
    }
    w->scale = ovl_scale_for(largest);
    for (uint32_t i = 0; i < OVL_COUNT(runs); i++) {
        ovl_scale_fit(&w->scale, largest, runs[i]->step);
        for (int k = 0; k < OVL_TERM_COUNT; k++) {
            ovl_scale_fit(&w->scale, largest, runs[i]->term[k]);
        }
    }
    *rounded = *w->c;
    ovl_controlled_run *own[] = {&rounded->compute, &rounded->comm, &rounded->both};
    for (uint32_t i = 0; i < OVL_COUNT(own); i++) {
        own[i]->step = ovl_scale_terms(&w->scale, own[i]->step, own[i]->term, OVL_TERM_COUNT);
    }
    w->c = rounded;
}

/* Each column adds up on paper, and so does each row. */
static void runs_table(const writer *w)
{
    static const ovl_column columns[] = {
        {"", true, false, 0},
        {"compute only", false, false, 0},
        {"communication only", false, false, 0},
        {"both", false, false, 0},
        {"alone + alone - both", false, false, 0},
    };
    const ovl_controlled *c = w->c;
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (int k = 0; k < OVL_TERM_COUNT; k++) {
        if (c->compute.term[k] || c->comm.term[k] || c->both.term[k]) {
            ovl_grid_row(&grid,
                         (const char *const[]){words[k], shown(w, c->compute.term[k]),
                                               shown(w, c->comm.term[k]), shown(w, c->both.term[k]),
                                               shown(w, saved(c, k))});
        }
    }
    ovl_grid_row(&grid,
                 (const char *const[]){"= step", shown(w, c->compute.step), shown(w, c->comm.step),
                                       shown(w, c->both.step), shown(w, saved_in_all(c))});
    ovl_grid_end(&grid, w->out, 2);
}

/* One term of a sum: " + 4 name". Nothing for 0. */
static const char *with_term(const writer *w, const char *sum, ovl_time t, const char *name)
{
    if (t == 0) {
        return sum;
    }
    const char *sign = t < 0 ? (*sum ? " - " : "-") : (*sum ? " + " : "");
    return ovl_arena_printf(w->arena, "%s%s%s %s", sum, sign, in_text(w, t < 0 ? -t : t), name);
}

static ovl_time waits_of(const ovl_controlled_run *run)
{
    return run->term[OVL_COPYING] + run->term[OVL_WAIT_LATE_RANK] + run->term[OVL_IDLE];
}

static void equation(const writer *w, const char *lead, ovl_time total, const ovl_time *terms,
                     const char *const *names, uint32_t n)
{
    const char *sum = "";
    for (uint32_t i = 0; i < n; i++) {
        sum = with_term(w, sum, terms[i], names[i]);
    }
    ovl_wrap(w->out, "  ", 4,
             ovl_arena_printf(w->arena, "%s %s = %s", lead, in_text(w, total), *sum ? sum : "0"),
             OVL_TERMINAL);
}

static void equations(const writer *w)
{
    static const char *const in_both[] = {"compute", "stretch of kernels",
                                          "tail: communication with no kernel beside it",
                                          "copies, waiting and idle"};
    static const char *const of_saved[] = {"of communication that no longer shows",
                                           "of stretch of kernels", "of kernels that run together",
                                           "of copies, waiting and idle time"};
    const ovl_controlled *c = w->c;
    const ovl_time both[] = {c->both.term[OVL_COMPUTE], c->both.term[OVL_COMPUTE_STRETCH],
                             comm_of(&c->both), waits_of(&c->both)};
    const ovl_time gain[] = {comm_of(&c->compute) + comm_of(&c->comm) - comm_of(&c->both),
                             saved(c, OVL_COMPUTE_STRETCH), saved(c, OVL_COMPUTE),
                             waits_of(&c->compute) + waits_of(&c->comm) - waits_of(&c->both)};
    equation(w, "both", c->both.step, both, in_both, OVL_COUNT(both));
    if (saved_in_all(c) == 0 && gain[0] == 0 && gain[1] == 0) {
        ovl_out_text(w->out, "  nothing is saved by overlap\n");
        return;
    }
    equation(w, "saved by overlap", saved_in_all(c), gain, of_saved, OVL_COUNT(gain));
}

static const char *ratio(const writer *w, ovl_time part, ovl_time of)
{
    return of > 0 ? ovl_arena_printf(w->arena, "%.3f", (double)part / (double)of) : NULL;
}

static void durations(const writer *w)
{
    static const ovl_column columns[] = {
        {"what", true, true, 0},       {"times", false, false, 2},
        {"isolated", false, false, 0}, {"alone", false, false, 0},
        {"both", false, false, 0},     {"both / isolated", false, false, 0},
    };
    uint32_t n = OVL_MIN(w->c->n_rows, MOST_ROWS);
    writer own = *w;
    ovl_time largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        largest = OVL_MAX(largest, OVL_MAX(w->c->rows[i].both, w->c->rows[i].isolated));
    }
    own.scale = ovl_scale_for(largest);
    for (uint32_t i = 0; i < n; i++) {
        const ovl_time times[] = {w->c->rows[i].isolated, w->c->rows[i].alone, w->c->rows[i].both};
        for (uint32_t k = 0; k < OVL_COUNT(times); k++) {
            ovl_scale_fit(&own.scale, largest, times[k]);
        }
    }
    ovl_out_title(w->out, "\nDurations, summed (times in %s)", ovl_scale_unit(&own.scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < n; i++) {
        const ovl_controlled_row *r = &w->c->rows[i];
        ovl_grid_row(&grid,
                     (const char *const[]){r->what, ovl_arena_printf(w->arena, "%" PRIu32, r->n),
                                           shown(&own, r->isolated), shown(&own, r->alone),
                                           shown(&own, r->both), ratio(w, r->both, r->isolated)});
    }
    ovl_grid_end(&grid, w->out, 2);
    ovl_wrap(w->out, "  ", 2,
             "isolated: as their costs say; alone: in the run without the other kind; of sends and "
             "receives the sends",
             OVL_TERMINAL);
    if (n < w->c->n_rows) {
        ovl_out_printf(w->out, "  %" PRIu32 " of %" PRIu32 "; all of them: --json\n", n,
                       w->c->n_rows);
    }
}

void ovl_three_runs_text(ovl_out *out, const ovl_three_runs *three)
{
    ovl_arena arena = {0};
    writer w = {out, &three->runs, &arena, {0}};
    ovl_controlled rounded;
    set_scale(&w, &rounded);
    ovl_report_name(out, three->scenario ? three->scenario : "");
    ovl_out_printf(out, "variant %s, interference %s\n", three->variant, three->interference);
    ovl_out_title(out, "\nThree controlled runs, on rank %" PRIu32 " (times in %s)",
                  three->runs.rank, ovl_scale_unit(&w.scale));
    runs_table(&w);
    ovl_out_text(out, "\n");
    equations(&w);
    if (three->runs.n_rows) {
        durations(&w);
    }
    ovl_arena_free(&arena);
}

/* --- JSON --- */

static void run_json(ovl_json *json, const char *key, const ovl_controlled_run *run)
{
    ovl_json_object(json, key, OVL_JSON_BLOCK);
    ovl_json_seconds(json, "step_s", run->step);
    ovl_json_object(json, "decomposition_s", OVL_JSON_BLOCK);
    for (int k = 0; k < OVL_TERM_COUNT; k++) {
        ovl_json_seconds(json, ovl_term_name((ovl_term)k), run->term[k]);
    }
    ovl_json_close(json);
    ovl_json_seconds(json, "hidden_s", run->hidden);
    ovl_json_seconds(json, "hidden_stretch_s", run->hidden_stretch);
    ovl_json_close(json);
}

static void saved_json(ovl_json *json, const ovl_controlled *c)
{
    ovl_json_object(json, "saved", OVL_JSON_BLOCK);
    ovl_json_seconds(json, "step_s", saved_in_all(c));
    ovl_json_object(json, "decomposition_s", OVL_JSON_BLOCK);
    for (int k = 0; k < OVL_TERM_COUNT; k++) {
        ovl_json_seconds(json, ovl_term_name((ovl_term)k), saved(c, k));
    }
    ovl_json_close(json);
    ovl_json_close(json);
}

static void rows_json(ovl_json *json, const ovl_controlled *c)
{
    ovl_json_array(json, "durations", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const ovl_controlled_row *r = &c->rows[i];
        ovl_json_object(json, NULL, OVL_JSON_FLOW);
        ovl_json_text(json, "what", r->what);
        ovl_json_uint(json, "times", r->n);
        ovl_json_seconds(json, "isolated_s", r->isolated);
        ovl_json_seconds(json, "alone_s", r->alone);
        ovl_json_seconds(json, "both_s", r->both);
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

void ovl_three_runs_member(ovl_json *json, const char *key, const ovl_three_runs *three)
{
    ovl_json_object(json, key, OVL_JSON_BLOCK);
    ovl_json_text(json, "schema", "overlapsim.controlled/1");
    ovl_json_text_if(json, "scenario", three->scenario);
    ovl_json_text(json, "variant", three->variant);
    ovl_json_text(json, "interference", three->interference);
    ovl_json_uint(json, "rank", three->runs.rank);
    run_json(json, "compute_only", &three->runs.compute);
    run_json(json, "communication_only", &three->runs.comm);
    run_json(json, "both", &three->runs.both);
    saved_json(json, &three->runs);
    rows_json(json, &three->runs);
    ovl_json_close(json);
}

void ovl_three_runs_json(ovl_out *out, const ovl_three_runs *three)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_three_runs_member(&json, NULL, three);
    ovl_json_end(&json);
}
