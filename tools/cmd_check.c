/* ovl check: every mistake of a file and its variants, whether their schedules finish, and what
 * will run. */
#include "models/axes.h"
#include "sim/fold.h"
#include "tools/facts.h"

#include <string.h>

#define MOST_OPS    20000000 /* of a schedule that is run to see whether it finishes: seconds */
#define MOST_VALUES 1000     /* of the sweep section, each a scenario to read */

/* Runs what was prepared once, with nothing slowing anything. A schedule that cannot finish is an
 * error that says who waits for what. */
static bool finishes(ovl_work *work, const ovl_prepared *prepared, ovl_check *check)
{
    const ovl_program *program = &prepared->lowered.program;
    const ovl_run_options options = {.interference = OVL_INTERFERENCE_NONE,
                                     .watch = &work->lookout.watch,
                                     .memory = ovl_lookout_memory()};
    ovl_arena arena = {0};
    ovl_timeline timeline;
    ovl_fold fold;
    ovl_program chosen;
    bool good = ovl_fold_choose(program, false, &arena, &fold, &chosen, &work->errs);
    bool small = good && chosen.n_ops <= MOST_OPS;
    check->all_ran &= small;
    good = good &&
           (!small || ovl_fold_run(program, &chosen, &options, &arena, &timeline, &work->errs));
    ovl_arena_free(&arena);
    return good;
}

static bool look_at(ovl_work *work, const ovl_document *doc, const char *variant,
                    ovl_prepared *prepared, ovl_check *check)
{
    return ovl_work_prepare(work, doc, variant, prepared) && finishes(work, prepared, check);
}

/* --- Every variant --- */

/* One mistake and the variants that have it. */
typedef struct found {
    const ovl_err *err;
    const char *variants; /* "a, b" */
    uint32_t n;
} found;

#define MOST_NAMED 5 /* variants of one mistake */

static bool same_err(const ovl_err *a, const ovl_err *b)
{
    return a->mark.line == b->mark.line && a->mark.column == b->mark.column &&
           a->warning == b->warning && strcmp(a->text, b->text) == 0;
}

static bool is_among(const ovl_errs *errs, const ovl_err *err)
{
    for (uint32_t i = 0; i < errs->count; i++) {
        if (same_err(&errs->items[i], err)) {
            return true;
        }
    }
    return false;
}

static void add_found(found *list, uint32_t *n, const ovl_err *err, const char *variant,
                      ovl_arena *arena)
{
    uint32_t k = 0;
    while (k < *n && !same_err(list[k].err, err)) {
        k++;
    }
    if (k == *n && k == OVL_ERRS_MAX) {
        return;
    }
    if (k == *n) {
        list[(*n)++] = (found){.err = err, .variants = ""};
    }
    if (list[k].n++ < MOST_NAMED) {
        list[k].variants =
            ovl_arena_printf(arena, "%s%s%s", list[k].variants, list[k].n > 1 ? ", " : "", variant);
    }
}

static void tell(ovl_errs *errs, const ovl_err *err, const char *of)
{
    if (err->warning) {
        ovl_warning(errs, err->mark, "%s%s", err->text, of);
    } else {
        ovl_error(errs, err->code, err->mark, "%s%s", err->text, of);
    }
}

static void tell_found(ovl_errs *errs, const found *f)
{
    const char *more = f->n > MOST_NAMED ? ovl_arena_printf(errs->arena, " and %" PRIu32 " more",
                                                            f->n - MOST_NAMED)
                                         : "";
    tell(
        errs, f->err,
        ovl_arena_printf(errs->arena, " (variant%s %s%s)", f->n > 1 ? "s" : "", f->variants, more));
}

/* Looks at every variant but leaves the base prepared, whose contents are shown. A mistake that the
 * base does not have names the variants that have it. */
static bool look_at_all(ovl_work *work, const ovl_document *doc, ovl_prepared *base,
                        ovl_check *check)
{
    ovl_errs before = work->errs;
    ovl_errs *of = OVL_NEW_ARRAY(&work->arena, ovl_errs, (size_t)doc->n_variants + 1);
    found *list = OVL_NEW_ARRAY(&work->arena, found, OVL_ERRS_MAX);
    uint32_t n = 0;
    bool good = true;
    for (uint32_t v = 0; v <= doc->n_variants; v++) {
        work->errs = (ovl_errs){.arena = before.arena};
        good &= look_at(work, doc, v < doc->n_variants ? doc->variants[v] : NULL, base, check);
        of[v] = work->errs;
        before.dropped += of[v].dropped;
    }
    work->errs = before;
    const ovl_errs *mine = &of[doc->n_variants];
    for (uint32_t i = 0; i < mine->count; i++) {
        tell(&work->errs, &mine->items[i], "");
    }
    for (uint32_t v = 0; v < doc->n_variants; v++) {
        for (uint32_t i = 0; i < of[v].count; i++) {
            if (!is_among(mine, &of[v].items[i])) {
                add_found(list, &n, &of[v].items[i], doc->variants[v], &work->arena);
            }
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        tell_found(&work->errs, &list[k]);
    }
    return good;
}

/* --- The sweep section --- */

/* Reads point `i`. What it warns of is no mistake of the file. */
static bool read_point(ovl_work *work, const ovl_document *doc, const ovl_axes *axes, uint32_t i)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_scenario scenario;
    const char *variant = NULL;
    ovl_set *sets = OVL_NEW_ARRAY(&arena, ovl_set, (size_t)work->n_sets + axes->n_keys);
    if (work->n_sets) {
        memcpy(sets, work->sets, work->n_sets * sizeof *sets);
    }
    uint32_t n = work->n_sets + ovl_axes_point(axes, i, sets + work->n_sets, &variant);
    bool good = ovl_scenario_decode(doc, variant, sets, n, &scenario, &arena, &errs);
    for (uint32_t k = 0; k < errs.count; k++) {
        const ovl_err *e = &errs.items[k];
        bool word = e->mark.file && strncmp(e->mark.file, "--", 2) == 0;
        if (!e->warning && !word) {
            tell(&work->errs, e, "");
        }
    }
    ovl_arena_free(&arena);
    return good;
}

/* Each value of each axis once, the other axes at their first; MOST_VALUES in all. */
static bool look_at_sweep(ovl_work *work, const ovl_document *doc)
{
    const ovl_axis_words none = {0};
    ovl_axes axes;
    if (ovl_node_is_null(ovl_node_get(doc->root, "sweep"))) {
        return true;
    }
    bool good = ovl_axes_read(doc, &none, &axes, &work->arena, &work->errs);
    uint32_t left = MOST_VALUES, stride = 1;
    for (uint32_t a = good ? axes.n_axes : 0; a-- > 0;) {
        for (uint32_t row = 0; row < axes.axes[a].n_rows && left; row++, left--) {
            good &= read_point(work, doc, &axes, row * stride);
        }
        stride *= axes.axes[a].n_rows;
    }
    return good;
}

int ovl_cmd_check(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    ovl_document doc;
    ovl_prepared prepared = {0};
    ovl_facts facts;
    ovl_side side;
    ovl_work_begin(&work, shell);
    ovl_work_sets(&work, args);
    if (!ovl_work_side(&work, args, &side)) {
        return ovl_work_end(&work, OVL_EXIT_DONE);
    }
    ovl_check check = {.file = side.path, .errs = &work.errs, .all_ran = true};
    if (ovl_work_load(&work, side.path, &doc)) {
        check.doc = &doc;
        check.all_variants = side.variant == NULL;
        bool good = side.variant ? look_at(&work, &doc, side.variant, &prepared, &check)
                                 : look_at_all(&work, &doc, &prepared, &check);
        if (good && look_at_sweep(&work, &doc)) {
            facts = ovl_facts_of(&prepared.lowered.program, &work.arena);
            check.prepared = &prepared;
            check.facts = &facts;
        }
    }
    ovl_errs_sort(&work.errs);
    if (ovl_args_has(args, "json")) {
        ovl_check_json(shell->out, &check);
    } else {
        ovl_check_text(shell->out, &check);
    }
    return ovl_work_end(&work, OVL_EXIT_DONE);
}
