#include "tools/explain.h"
#include "tools/grid.h"
#include "tools/scale.h"
#include "tools/wrap.h"

#include <string.h>

#define MOST_OPERATIONS 20 /* told one by one */
#define MOST_ROWS       40
#define MOST_STRETCHES  3 /* of a degraded resource */

static const char *shown(ovl_arena *arena, const ovl_scale *scale, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_scale_show(buf, scale, t));
}

static void head(ovl_out *out, const ovl_explanation *x)
{
    char step[OVL_UNITS_TEXT];
    ovl_out_title(out, "%s", x->scenario ? x->scenario : "");
    ovl_out_printf(out, "variant %s, interference %s, step %s\n", x->variant, x->interference,
                   ovl_print_time(step, x->step));
}

/* --- Operations, one by one --- */

static void fit_operation(ovl_scale *scale, ovl_time largest, const ovl_explained *e)
{
    const ovl_time times[] = {e->issue, e->arrive, e->start, e->end, e->latency, e->work, e->lost};
    for (uint32_t i = 0; i < OVL_COUNT(times); i++) {
        ovl_scale_fit(scale, largest, times[i]);
    }
    for (uint32_t i = 0; i < e->n_bounds; i++) {
        ovl_scale_fit(scale, largest, e->bounds[i].lost);
        ovl_scale_fit(scale, largest, e->bounds[i].time);
    }
    for (uint32_t i = 0; i < e->n_phases; i++) {
        ovl_scale_fit(scale, largest, e->phases[i].to);
        ovl_scale_fit(scale, largest, e->phases[i].latency);
        ovl_scale_fit(scale, largest, e->phases[i].work);
    }
}

static void times_line(ovl_out *out, const ovl_explained *e, const ovl_scale *scale,
                       ovl_arena *arena)
{
    const char *unit = ovl_scale_unit(scale);
    const char *text =
        ovl_arena_printf(arena, "issued %s %s; arrived %s %s", shown(arena, scale, e->issue), unit,
                         shown(arena, scale, e->arrive), unit);
    if (e->arrived) {
        text = ovl_arena_printf(arena, "%s (%s)", text, e->arrived);
    }
    text = ovl_arena_printf(arena, "%s; started %s %s", text, shown(arena, scale, e->start), unit);
    if (e->started) {
        text = ovl_arena_printf(arena, "%s (%s)", text, e->started);
    }
    text = ovl_arena_printf(arena, "%s; ended %s %s", text, shown(arena, scale, e->end), unit);
    ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
}

/* "8 ms = 4 transfer + 4 lost to nic.out"; the sum is exact but for what is left over, which says
 * that an eager end did not wait for the transfer. */
static void sum_line(ovl_out *out, const ovl_explained *e, const ovl_scale *scale, ovl_arena *arena)
{
    bool moves = strcmp(e->kind, "kernel") != 0;
    const char *text = ovl_arena_printf(arena, "%s %s =", shown(arena, scale, e->end - e->start),
                                        ovl_scale_unit(scale));
    if (e->end - e->start != e->latency + e->work + e->lost) {
        return;
    }
    if (e->latency) {
        text = ovl_arena_printf(arena, "%s %s latency +", text, shown(arena, scale, e->latency));
    }
    text = ovl_arena_printf(arena, "%s %s %s", text, shown(arena, scale, e->work),
                            moves ? "transfer alone" : "alone");
    for (uint32_t i = 0; i < e->n_bounds; i++) {
        text = ovl_arena_printf(arena, "%s + %s lost to %s", text,
                                shown(arena, scale, e->bounds[i].lost), e->bounds[i].name);
    }
    ovl_wrap(out, "  ", 4, text, OVL_TERMINAL);
}

/* "7 ms of that to hardware.faults, which left it 25 GB/s from 7 to 21 ms, alone 0.5 of its speed;
 * 4 ms to those beside" */
static const char *degraded_text(const ovl_bound_on *b, const ovl_scale *scale, ovl_arena *arena)
{
    const char *unit = ovl_scale_unit(scale);
    ovl_time whole = ovl_scale_round(scale, b->lost),
             own = ovl_scale_round(scale, b->lost_degraded);
    const char *text =
        ovl_arena_printf(arena, "of the %s %s lost %s to hardware.faults, which left it",
                         shown(arena, scale, whole), unit, shown(arena, scale, own));
    for (uint32_t i = 0; i < OVL_MIN(b->n_degraded, MOST_STRETCHES); i++) {
        char rate[OVL_UNITS_TEXT];
        const ovl_degraded *d = &b->degraded[i];
        text = ovl_arena_printf(arena, "%s %s from %s to %s %s (alone %.3g of its speed)%s", text,
                                ovl_print_rate(rate, (double)d->capacity),
                                shown(arena, scale, d->from), shown(arena, scale, d->to), unit,
                                d->alone, i + 1 < b->n_degraded ? "," : "");
    }
    if (b->n_degraded > MOST_STRETCHES) {
        text = ovl_arena_printf(arena, "%s and %" PRIu32 " times more", text,
                                b->n_degraded - MOST_STRETCHES);
    }
    return b->beside ? ovl_arena_printf(arena, "%s; %s to those beside", text,
                                        shown(arena, scale, whole - own))
                     : text;
}

/* "phase 2 over nic.out, nic.in: 6 to 16 ms, 2 alone". */
static void phase_lines(ovl_out *out, const ovl_explained *e, const ovl_scale *scale,
                        ovl_arena *arena)
{
    for (uint32_t i = 0; i < e->n_phases; i++) {
        const ovl_explained_phase *p = &e->phases[i];
        ovl_wrap(out, "  ", 4,
                 ovl_arena_printf(arena, "phase %" PRIu32 " over %s: %s to %s %s, %s alone", i + 1,
                                  p->over, shown(arena, scale, p->from), shown(arena, scale, p->to),
                                  ovl_scale_unit(scale), shown(arena, scale, p->latency + p->work)),
                 OVL_TERMINAL);
    }
}

static void bound_lines(ovl_out *out, const ovl_explained *e, const ovl_scale *scale,
                        ovl_arena *arena)
{
    for (uint32_t i = 0; i < e->n_bounds; i++) {
        const ovl_bound_on *b = &e->bounds[i];
        const char *which = b->instance == OVL_NONE
                                ? b->name
                                : ovl_arena_printf(arena, "%s %" PRIu32, b->name, b->instance);
        ovl_wrap(out, "  ", 4,
                 ovl_arena_printf(arena, "held back by %s for %s %s%s%s%s%s", which,
                                  shown(arena, scale, b->time), ovl_scale_unit(scale),
                                  b->beside ? ", beside " : "", b->beside ? b->beside : "",
                                  b->full_too ? "; full, too: " : "",
                                  b->full_too ? b->full_too : ""),
                 OVL_TERMINAL);
        if (b->n_degraded) {
            ovl_wrap(out, "    ", 6, degraded_text(b, scale, arena), OVL_TERMINAL);
        }
    }
    if (e->n_bounds == 0) {
        ovl_out_printf(out, "  nothing held it below its isolated speed\n");
    }
}

static void operation(ovl_out *out, const ovl_explained *e, ovl_arena *arena)
{
    ovl_scale scale = ovl_scale_for(e->end);
    fit_operation(&scale, e->end, e);
    ovl_out_title(out, "\n%s, %s on rank %" PRIu32 "%s, stream %s", e->name, e->kind, e->rank,
                  e->count > 1 ? ovl_arena_printf(arena, " (of %" PRIu32 " alike)", e->count) : "",
                  e->stream);
    times_line(out, e, &scale, arena);
    sum_line(out, e, &scale, arena);
    phase_lines(out, e, &scale, arena);
    bound_lines(out, e, &scale, arena);
}

/* --- Operations in a table --- */

static ovl_scale scale_of(const ovl_explained *list, uint32_t n)
{
    ovl_time largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        largest = OVL_MAX(largest, list[i].end - list[i].start);
    }
    ovl_scale scale = ovl_scale_for(largest);
    for (uint32_t i = 0; i < n; i++) {
        ovl_scale_fit(&scale, largest, list[i].end - list[i].start);
        ovl_scale_fit(&scale, largest, list[i].lost);
    }
    return scale;
}

/* What it lost by beside a name: also a link that had less. */
static const char *with_faults(const ovl_bound_on *b, ovl_arena *arena)
{
    return b->beside ? ovl_arena_printf(arena, "%s, hardware.faults", b->beside)
                     : "hardware.faults";
}

static void table_row(ovl_grid *grid, const ovl_explained *e, const ovl_scale *scale,
                      ovl_arena *arena)
{
    const ovl_bound_on *worst = e->bounds;
    const char *cells[] = {
        e->name,
        ovl_arena_printf(arena, "%" PRIu32 "%s", e->rank, e->count > 1 ? "+" : ""),
        shown(arena, scale, e->end - e->start),
        shown(arena, scale, e->latency + e->work),
        shown(arena, scale, e->lost),
        worst->name,
        worst->n_degraded ? with_faults(worst, arena) : worst->beside};
    ovl_grid_row(grid, cells);
}

static void table(ovl_out *out, const ovl_explanation *x, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"operation", true, true, 0}, {"rank", true, false, 0},  {"took", false, false, 0},
        {"alone", false, false, 0},   {"lost", false, false, 0}, {"most to", true, true, 0},
        {"beside", true, true, 0},
    };
    uint32_t n = OVL_MIN(x->n_operations, MOST_ROWS);
    if (n == 0) {
        ovl_out_text(out, "\nNothing ran below its isolated speed.\n");
        return;
    }
    ovl_scale scale = scale_of(x->operations, n);
    ovl_out_title(out, "\nBelow isolated speed, most lost first (times in %s)",
                  ovl_scale_unit(&scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < n; i++) {
        table_row(&grid, &x->operations[i], &scale, arena);
    }
    ovl_grid_end(&grid, out, 2);
    ovl_wrap(out, "  ", 2,
             "took = alone + lost; +: other ranks alike; ovl explain FILE NAME tells more",
             OVL_TERMINAL);
    if (n < x->n_operations) {
        ovl_out_printf(out, "  %" PRIu32 " of %" PRIu32 "; all of them: --json\n", n,
                       x->n_operations);
    }
}

static void by_name(ovl_out *out, const ovl_explanation *x, ovl_arena *arena)
{
    for (uint32_t i = 0; i < OVL_MIN(x->n_operations, MOST_OPERATIONS); i++) {
        operation(out, &x->operations[i], arena);
    }
    if (x->n_operations > MOST_OPERATIONS) {
        ovl_out_printf(out, "\n%d of %" PRIu32 "; all of them: --json; one rank: --rank\n",
                       MOST_OPERATIONS, x->n_operations);
    }
}

/* --- A resource --- */

/* "a at 0.5"; of SMs "k 80 at 0.8": what a kernel has, and its rate. */
static const char *users_text(const ovl_explanation *x, const ovl_occupancy *p, ovl_arena *arena)
{
    const char *text = "";
    for (uint32_t i = 0; i < OVL_MIN(p->n_users, 4); i++) {
        const ovl_occupant *u = &p->users[i];
        text = ovl_arena_printf(arena, "%s%s%s", text, i ? ", " : "", u->name);
        text = x->sms ? ovl_arena_printf(arena, "%s %.4g", text, u->takes) : text;
        text = u->holds ? text : ovl_arena_printf(arena, "%s at %.4g", text, u->rate);
    }
    return p->n_users > 4 ? ovl_arena_printf(arena, "%s and %" PRIu32 " more", text, p->n_users - 4)
                          : text;
}

/* What it moves; beside that, while it is degraded, what it has. */
static const char *moves_text(const ovl_explanation *x, const ovl_occupancy *p, ovl_arena *arena)
{
    char rate[OVL_UNITS_TEXT], has[OVL_UNITS_TEXT];
    if (x->sms) {
        return ovl_arena_printf(arena, "%.4g", p->takes);
    }
    ovl_print_rate(rate, p->takes);
    return p->capacity == x->capacity ? ovl_arena_strdup(arena, rate)
                                      : ovl_arena_printf(arena, "%s of %s", rate,
                                                         ovl_print_rate(has, (double)p->capacity));
}

static void piece_row(ovl_grid *grid, const ovl_explanation *x, const ovl_occupancy *p,
                      const ovl_scale *scale, ovl_arena *arena)
{
    const char *cells[] = {shown(arena, scale, p->from), shown(arena, scale, p->to),
                           moves_text(x, p, arena),
                           ovl_arena_printf(arena, "%.1f", 100 * p->takes / (double)p->capacity),
                           users_text(x, p, arena)};
    ovl_grid_row(grid, cells);
}

static void resource(ovl_out *out, const ovl_explanation *x, ovl_arena *arena)
{
    const ovl_column columns[] = {
        {"from", false, false, 0},
        {"to", false, false, 0},
        {x->sms ? "takes" : "moves", false, false, 0},
        {"%", false, false, 0},
        {x->sms ? "who, how many, kernels at which rate" : "who, at which rate", true,
         OVL_GRID_WRAP, 0},
    };
    char capacity[OVL_UNITS_TEXT];
    uint32_t n = OVL_MIN(x->n_pieces, MOST_ROWS);
    ovl_time largest = n ? x->pieces[n - 1].to : 0;
    ovl_scale scale = ovl_scale_for(largest);
    for (uint32_t i = 0; i < n; i++) {
        ovl_scale_fit(&scale, largest, x->pieces[i].from);
        ovl_scale_fit(&scale, largest, x->pieces[i].to);
    }
    if (n == 0) {
        ovl_out_printf(out, "\nNobody uses %s %s%" PRIu32 ".\n", x->resource,
                       x->sms ? "of rank " : "", x->instance);
        return;
    }
    ovl_print_rate(capacity, (double)x->capacity);
    if (x->sms) {
        snprintf(capacity, sizeof capacity, "%" PRIu64, x->capacity);
    }
    ovl_out_title(out, "\n%s %s%" PRIu32 ", %s (times in %s)", x->resource,
                  x->sms ? "of rank " : "", x->instance, capacity, ovl_scale_unit(&scale));
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < n; i++) {
        piece_row(&grid, x, &x->pieces[i], &scale, arena);
    }
    ovl_grid_end(&grid, out, 2);
    if (n < x->n_pieces) {
        ovl_out_printf(out, "  the first %" PRIu32 " of %" PRIu32 "; all of them: --json\n", n,
                       x->n_pieces);
    }
}

void ovl_explain_text(ovl_out *out, const ovl_explanation *x)
{
    ovl_arena arena = {0};
    head(out, x);
    if (x->resource) {
        resource(out, x, &arena);
    } else if (x->name) {
        by_name(out, x, &arena);
    } else {
        table(out, x, &arena);
    }
    ovl_arena_free(&arena);
}
