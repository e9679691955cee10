/* Two runs side by side as text. The verdict is the last line, where a reader looks first. */
#include "tools/equation.h"
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/wrap.h"

#include <string.h>

#define MOST_TAILS 12

static const char *dup_shown(ovl_arena *arena, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_scale_show(buf, scale, t));
}

/* A difference carries its sign. */
static const char *signed_shown(ovl_arena *arena, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    ovl_scale_show(buf, scale, t);
    return ovl_arena_printf(arena, "%s%s", t > 0 && strcmp(buf, "0") != 0 ? "+" : "", buf);
}

/* Both runs in the form that fits both. */
typedef struct pair {
    const ovl_result *run[2];
    ovl_form form;
    ovl_sum step[2], start[2];
    ovl_scale scale;
} pair;

static pair pair_of(const ovl_comparison *c, ovl_arena *arena)
{
    pair p = {.run = {c->a, c->b}};
    ovl_time largest = OVL_MAX(c->a->step, c->b->step);
    p.form = ovl_form_of(p.run, 2);
    p.scale = ovl_scale_for(largest);
    for (int i = 0; i < 2; i++) {
        const ovl_sum terms = ovl_terms_sum(p.run[i]->term);
        p.step[i] = ovl_step_sum(p.run[i], &p.form, arena);
        p.start[i] = ovl_start_sum(p.run[i], &p.form);
        ovl_sum_fit(&p.scale, largest, &p.step[i]);
        ovl_sum_fit(&p.scale, largest, &p.start[i]);
        ovl_sum_fit(&p.scale, largest, &terms);
    }
    return p;
}

static const char *name_of(const ovl_comparison *c, const ovl_result *r, ovl_arena *arena)
{
    bool same = c->a->scenario && c->b->scenario && strcmp(c->a->scenario, c->b->scenario) == 0;
    return same || !r->scenario ? r->variant
                                : ovl_arena_printf(arena, "%s, %s", r->scenario, r->variant);
}

static void head(ovl_out *out, const ovl_comparison *c, ovl_arena *arena)
{
    bool same = c->a->scenario && c->b->scenario && strcmp(c->a->scenario, c->b->scenario) == 0;
    if (same) {
        ovl_report_name(out, c->a->scenario);
        ovl_report_description(out, c->a->description);
    }
    const ovl_result *const both[] = {c->a, c->b};
    for (int i = 0; i < 2; i++) {
        ovl_wrap(out, i ? "b: " : "a: ", 3,
                 ovl_arena_printf(arena, "%s (interference %s)", name_of(c, both[i], arena),
                                  both[i]->interference),
                 OVL_TERMINAL);
    }
}

static const char *sum_or_nothing(ovl_arena *arena, const ovl_scale *scale, const ovl_sum *sum)
{
    return sum->n ? ovl_sum_text(arena, scale, sum, OVL_SUM_PLAIN) : "";
}

/* "Step (ms) = ...": the words of the form, with the unit behind the first. */
static void equations_title(ovl_out *out, const pair *p, ovl_arena *arena)
{
    const char *text = ovl_form_text(&p->form, arena) + strlen("step");
    ovl_out_text(out, "\n");
    ovl_report_name(out, ovl_arena_printf(arena, "Step (%s)%s", ovl_scale_unit(&p->scale), text));
}

static void equations(ovl_out *out, const ovl_comparison *c, const pair *p, ovl_arena *arena)
{
    const ovl_column columns[] = {
        {"", true, false, 0},
        {ovl_arena_printf(arena, "a: %s", name_of(c, c->a, arena)), true, true, 0},
        {ovl_arena_printf(arena, "b: %s", name_of(c, c->b, arena)), true, true, 0},
    };
    bool delay = p->form.start == OVL_START_DELAY;
    equations_title(out, p, arena);
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    const char *steps[] = {"step", ovl_sum_text(arena, &p->scale, &p->step[0], OVL_SUM_PLAIN),
                           ovl_sum_text(arena, &p->scale, &p->step[1], OVL_SUM_PLAIN)};
    ovl_grid_row(&grid, steps);
    if (p->start[0].n || p->start[1].n) {
        const char *starts[] = {delay ? "start, of it delay" : "start, of it stretch",
                                sum_or_nothing(arena, &p->scale, &p->start[0]),
                                sum_or_nothing(arena, &p->scale, &p->start[1])};
        ovl_grid_row(&grid, starts);
    }
    ovl_grid_end(&grid, out, 2);
    for (int i = 0; i < 2; i++) {
        const char *reason = ovl_step_reason(p->run[i], &p->scale, arena);
        if (reason) {
            ovl_wrap(out, i ? "  b: " : "  a: ", 5, reason, OVL_TERMINAL);
        }
    }
    if (delay) {
        ovl_wrap(out, "  ", 2,
                 "delay: how much later than if that communication were free: what it slowed and "
                 "what queued behind it",
                 OVL_TERMINAL);
    }
}

static void terms(ovl_out *out, const ovl_comparison *c, const ovl_scale *scale, ovl_arena *arena)
{
    static const ovl_column columns[] = {{"", true, false, 0},
                                         {"a", false, false, 0},
                                         {"b", false, false, 0},
                                         {"b - a", false, false, 0}};
    ovl_sum a = ovl_terms_sum(c->a->term), b = ovl_terms_sum(c->b->term);
    ovl_time total_a = ovl_scale_terms(scale, a.total, a.term, a.n);
    ovl_time total_b = ovl_scale_terms(scale, b.total, b.term, b.n);
    ovl_out_title(out, "\nDecomposition of the deciding rank (%s)", ovl_scale_unit(scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (int i = 0; i < OVL_TERM_COUNT; i++) {
        if (c->a->term[i] || c->b->term[i]) {
            const char *cells[] = {a.word[i], dup_shown(arena, scale, a.term[i]),
                                   dup_shown(arena, scale, b.term[i]),
                                   signed_shown(arena, scale, b.term[i] - a.term[i])};
            ovl_grid_row(&grid, cells);
        }
    }
    const char *cells[] = {"= step", dup_shown(arena, scale, total_a),
                           dup_shown(arena, scale, total_b),
                           signed_shown(arena, scale, total_b - total_a)};
    ovl_grid_row(&grid, cells);
    ovl_grid_end(&grid, out, 2);
}

/* Who is to blame for most of a kind in one of the runs. */
static const char *because(const ovl_result_rank *r, int kind)
{
    for (uint32_t i = 0; i < r->n_blames; i++) {
        if ((int)r->blames[i].kind == kind) {
            return r->blames[i].text;
        }
    }
    return NULL;
}

static void idle_row(ovl_grid *grid, const char *what, const ovl_time t[2], const char *why,
                     const ovl_scale *scale, ovl_arena *arena)
{
    const char *cells[] = {what, dup_shown(arena, scale, t[0]), dup_shown(arena, scale, t[1]),
                           signed_shown(arena, scale, t[1] - t[0]), why};
    ovl_grid_row(grid, cells);
}

/* Time without a kernel, by reason: more than the term of that name, which leaves out what
 * communication shows. */
static void idle(ovl_out *out, const ovl_comparison *c, const ovl_scale *fitted, ovl_arena *arena)
{
    static const ovl_column columns[] = {{"", true, false, 0},
                                         {"a", false, false, 0},
                                         {"b", false, false, 0},
                                         {"b - a", false, false, 0},
                                         {"because", true, OVL_GRID_WRAP, 0}};
    ovl_scale scale = *fitted;
    ovl_time shown[2][OVL_IDLE_COUNT], total[2];
    if (!c->idle[0]) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < OVL_IDLE_COUNT; k++) {
            ovl_scale_fit(&scale, OVL_MAX(c->a->step, c->b->step), c->idle[i]->idle[k]);
        }
    }
    for (int i = 0; i < 2; i++) {
        memcpy(shown[i], c->idle[i]->idle, sizeof shown[i]);
        total[i] = ovl_scale_terms(&scale, c->idle[i]->idle_time, shown[i], OVL_IDLE_COUNT);
    }
    ovl_out_title(out, "\nWhy the deciding rank runs no kernel (%s)", ovl_scale_unit(&scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (int k = 0; k < OVL_IDLE_COUNT; k++) {
        const ovl_time t[] = {shown[0][k], shown[1][k]};
        const ovl_result_rank *more = c->idle[t[1] >= t[0]];
        if (t[0] || t[1]) {
            idle_row(&grid, ovl_idle_name((ovl_idle_kind)k), t,
                     t[0] == t[1] ? NULL : because(more, k), &scale, arena);
        }
    }
    idle_row(&grid, "= no kernel runs", total, NULL, &scale, arena);
    ovl_grid_end(&grid, out, 2);
}

static const char *rate(ovl_arena *arena, double bytes_per_second)
{
    char buf[OVL_UNITS_TEXT];
    return bytes_per_second < 0 ? "-"
                                : ovl_arena_strdup(arena, ovl_print_rate(buf, bytes_per_second));
}

static void time_row(ovl_grid *grid, const char *what, ovl_time a, ovl_time b,
                     const ovl_scale *scale, ovl_arena *arena)
{
    const char *unit = ovl_scale_unit(scale);
    const char *cells[] = {
        what,
        ovl_arena_printf(arena, "%s %s", dup_shown(arena, scale, a), unit),
        ovl_arena_printf(arena, "%s %s", dup_shown(arena, scale, b), unit),
    };
    ovl_grid_row(grid, cells);
}

static void communication(ovl_out *out, const ovl_comparison *c, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"", true, false, 0}, {"a", false, false, 0}, {"b", false, false, 0}};
    const ovl_result *a = c->a, *b = c->b;
    if (a->n_collectives == 0 && b->n_collectives == 0) {
        return;
    }
    const ovl_time times[] = {a->hidden_comm, a->comm_uncovered, a->comm_total,
                              b->hidden_comm, b->comm_uncovered, b->comm_total};
    ovl_scale scale = ovl_scale_of(times, OVL_COUNT(times));
    ovl_out_title(out, "\nCommunication of the deciding rank");
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    time_row(&grid, "hidden under kernels", a->hidden_comm, b->hidden_comm, &scale, arena);
    time_row(&grid, "+ uncovered", a->comm_uncovered, b->comm_uncovered, &scale, arena);
    time_row(&grid, "= total", a->comm_total, b->comm_total, &scale, arena);
    const char *busbw[] = {"mean busbw", rate(arena, a->mean_busbw), rate(arena, b->mean_busbw)};
    ovl_grid_row(&grid, busbw);
    const char *startups[] = {"startups", ovl_arena_printf(arena, "%" PRIu32, a->startups),
                              ovl_arena_printf(arena, "%" PRIu32, b->startups)};
    ovl_grid_row(&grid, startups);
    ovl_grid_end(&grid, out, 2);
    if (c->efficiency) {
        ovl_wrap(out, "  ", 4, c->efficiency, OVL_TERMINAL);
    }
}

/* "2 on rank 1"; nothing for a run without such communication. */
static const char *tail_text(const ovl_tail_side *side, const ovl_scale *scale, ovl_arena *arena)
{
    return side->exposed == OVL_NEVER
               ? NULL
               : ovl_arena_printf(arena, "%s on rank %" PRIu32,
                                  dup_shown(arena, scale, side->exposed), side->rank);
}

static void tails(ovl_out *out, const ovl_comparison *c, const ovl_scale *scale, ovl_arena *arena)
{
    static const ovl_column columns[] = {{"name", true, true, 0},
                                         {"a", true, false, 0},
                                         {"b", true, false, 0},
                                         {"b - a", false, false, 0}};
    if (c->n_tails == 0) {
        return;
    }
    ovl_out_title(out, "\nExposed communication that changed, largest over all ranks (%s)",
                  ovl_scale_unit(scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(c->n_tails, MOST_TAILS); i++) {
        const ovl_tail *t = &c->tails[i];
        const char *cells[] = {t->name, tail_text(&t->a, scale, arena),
                               tail_text(&t->b, scale, arena),
                               signed_shown(arena, scale, t->change)};
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
    if (c->n_tails > MOST_TAILS) {
        ovl_out_printf(out, "  %d of %" PRIu32 ", those that changed most; all of them: --json\n",
                       MOST_TAILS, c->n_tails);
    }
}

static void sentence(ovl_out *out, const char *title, const char *text)
{
    if (text) {
        ovl_out_title(out, "\n%s", title);
        ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
    }
}

static void hazards_of(ovl_out *out, const char *which, const ovl_result *r)
{
    if (r->n_hazards) {
        ovl_out_printf(out, "\nIn %s:", which);
        ovl_report_hazards(out, r);
    }
}

static void hazards(ovl_out *out, const ovl_comparison *c)
{
    hazards_of(out, "a", c->a);
    hazards_of(out, "b", c->b);
    if (c->a->n_hazards || c->b->n_hazards) {
        return;
    }
    bool a = c->a->hazards_checked, b = c->b->hazards_checked;
    ovl_out_title(out, "\nHazards");
    ovl_out_printf(out, "  %s\n",
                   a && b   ? "none in either"
                   : a || b ? "none; one of the two declares no buffers and was not checked"
                            : "not checked: neither declares buffers");
}

void ovl_compare_text(ovl_out *out, const ovl_comparison *c)
{
    ovl_arena arena = {0};
    pair p = pair_of(c, &arena);
    head(out, c, &arena);
    equations(out, c, &p, &arena);
    terms(out, c, &p.scale, &arena);
    idle(out, c, &p.scale, &arena);
    communication(out, c, &arena);
    tails(out, c, &p.scale, &arena);
    sentence(out, "Critical path", c->path_change);
    sentence(out, "Memory", c->memory);
    sentence(out, "Gradients", c->gradients);
    hazards(out, c);
    ovl_out_text(out, "\n");
    ovl_wrap(out, "Verdict: ", 9, c->sentence, OVL_TERMINAL);
    ovl_arena_free(&arena);
}
