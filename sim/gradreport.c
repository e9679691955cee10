#include "sim/gradreport.h"

#include <math.h>

/* --- Words --- */

const char *ovl_fraction_text(ovl_arena *arena, double x)
{
    for (int64_t below = 1; below <= 100000; below++) {
        double above = x * (double)below;
        double whole = round(above);
        if (whole != 0 && fabs(above - whole) <= 1e-9 * fabs(above) && fabs(whole) < 1e15) {
            return below == 1 ? ovl_arena_printf(arena, "%.0f", whole)
                              : ovl_arena_printf(arena, "%.0f/%" PRId64, whole, below);
        }
    }
    return ovl_arena_printf(arena, "%.9g", x);
}

static const char *contribution_text(const ovl_gradient_verdict *v, const ovl_expected *expected,
                                     ovl_arena *arena)
{
    if (v->uniform && v->wrong == expected->parts) {
        return "every contribution";
    }
    const char *first = ovl_arena_printf(
        arena, "the contribution of rank %" PRIu32 ", microbatch %" PRIu32, v->rank, v->microbatch);
    return v->wrong < 2 ? first
                        : ovl_arena_printf(arena, "%s (and %" PRIu32 " other%s)", first,
                                           v->wrong - 1, v->wrong > 2 ? "s" : "");
}

static const char *missing_text(const ovl_expected *expected, const ovl_gradient_problem *p,
                                const char *gradient, ovl_arena *arena)
{
    if (expected->value == OVL_NONE) {
        return ovl_arena_printf(arena, "gradient \"%s\", which no operation produces", gradient);
    }
    if (p->verdict.uniform) {
        return ovl_arena_printf(arena, "nothing of gradient \"%s\"", gradient);
    }
    return ovl_arena_printf(arena, "gradient \"%s\" without %s", gradient,
                            contribution_text(&p->verdict, expected, arena));
}

static const char *what_text(const ovl_program *program, const ovl_expectations *all,
                             const ovl_gradient_problem *p, ovl_arena *arena)
{
    const ovl_names *names = program->names;
    if (p->gradient == OVL_NONE) {
        const ovl_buffer *buffer = &program->codes[p->code].buffers[p->buffer];
        return ovl_arena_printf(arena, "no gradient in buffer \"%s\"",
                                OVL_NAME(names, buffer->name));
    }
    const char *gradient = OVL_NAME(names, p->gradient);
    const ovl_expected *expected = &all->item[all->at[p->gradient] + p->part];
    if (p->verdict.fault == OVL_GRADIENT_MISSING) {
        return missing_text(expected, p, gradient, arena);
    }
    double parts = (double)expected->parts;
    const char *which = contribution_text(&p->verdict, expected, arena);
    if (p->verdict.fault == OVL_GRADIENT_DUPLICATE) {
        return ovl_arena_printf(arena, "gradient \"%s\" with %s %s times", gradient, which,
                                ovl_fraction_text(arena, p->verdict.found * parts));
    }
    return ovl_arena_printf(arena, "gradient \"%s\" with %s at scale %s, expected %s", gradient,
                            which, ovl_fraction_text(arena, p->verdict.found),
                            ovl_fraction_text(arena, 1.0 / parts));
}

static const char *const faults[] = {
    [OVL_GRADIENT_MISSING] = "missing_gradient",
    [OVL_GRADIENT_DUPLICATE] = "duplicate_gradient",
    [OVL_GRADIENT_SCALE] = "wrong_scale",
};

static int compare_problems(const void *a, const void *b)
{
    const ovl_gradient_problem *x = a, *y = b;
    if (x->code != y->code) {
        return x->code < y->code ? -1 : 1;
    }
    if (x->local != y->local) {
        return x->local < y->local ? -1 : 1;
    }
    if (x->gradient != y->gradient) {
        return x->gradient < y->gradient ? -1 : 1;
    }
    if (x->buffer != y->buffer) {
        return x->buffer < y->buffer ? -1 : 1;
    }
    if (x->verdict.fault != y->verdict.fault) {
        return x->verdict.fault < y->verdict.fault ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool same_problem(const ovl_gradient_problem *x, const ovl_gradient_problem *y)
{
    return x->code == y->code && x->local == y->local && x->gradient == y->gradient &&
           x->buffer == y->buffer && x->verdict.fault == y->verdict.fault;
}

void ovl_gradient_report(const ovl_program *program, const ovl_expectations *expected,
                         ovl_gradient_problems *problems, ovl_arena *arena, ovl_hazards *hazards)
{
    const ovl_gradient_problem *list = problems->data;
    if (problems->len) {
        qsort(problems->data, problems->len, sizeof *problems->data, compare_problems);
    }
    for (uint32_t i = 0, n; i < problems->len; i += n) {
        for (n = 1; i + n < problems->len && same_problem(&list[i], &list[i + n]);) {
            n++;
        }
        const ovl_code *code = &program->codes[list[i].code];
        const char *text =
            ovl_arena_printf(arena, "\"%s\" receives %s, on rank %" PRIu32,
                             OVL_NAME(program->names, code->name[list[i].local]),
                             what_text(program, expected, &list[i], arena), list[i].rank);
        ovl_mark mark = ovl_code_op(code, list[i].local)->mark;
        ovl_vec_push(hazards, (ovl_result_hazard){faults[list[i].verdict.fault], text, mark,
                                                  list[i].rank, n});
    }
}

static uint32_t ranks_of(const ovl_program *p, uint32_t code, uint32_t *first)
{
    uint32_t n = 0;
    for (uint32_t r = p->n_ranks; r-- > 0;) {
        if (p->ranks[r].code == code) {
            *first = r;
            n++;
        }
    }
    return n;
}

void ovl_gradient_report_unconsumed(const ovl_program *program, const ovl_expectations *expected,
                                    ovl_arena *arena, ovl_hazards *hazards)
{
    for (uint32_t g = 0; g < program->names->count; g++) {
        const ovl_expected *e = &expected->item[expected->at[g]]; /* parts share their producers */
        if (e->value == OVL_NONE || e->consumed) {
            continue;
        }
        const ovl_code *code = &program->codes[e->code];
        ovl_mark mark = ovl_code_op(code, e->local)->mark;
        uint32_t first = 0, n = ranks_of(program, e->code, &first);
        const char *text = ovl_arena_printf(
            arena,
            "gradient \"%s\", produced by \"%s\" on rank %" PRIu32 ", is received by no optimizer",
            OVL_NAME(program->names, g), OVL_NAME(program->names, code->name[e->local]), first);
        ovl_vec_push(hazards, (ovl_result_hazard){"missing_gradient", text, mark, first, n});
    }
}
