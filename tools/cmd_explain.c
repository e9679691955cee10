#include "sim/fold.h"
#include "sim/uses.h"
#include "tools/explain.h"
#include "tools/limits.h"
#include "tools/solve.h"
#include "tools/sweep_args.h"
#include "tools/work.h"

#include <stdlib.h>
#include <string.h>

static const ovl_mark nowhere = {0};

/* --- What is asked for --- */

/* "nic.out" or "nic.out:3". */
typedef struct wanted {
    const char *name;
    uint32_t instance; /* OVL_NONE: the first */
} wanted;

static bool read_number(ovl_work *work, const char *what, const char *text, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || value >= UINT32_MAX) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere, "%s \"%s\" is no number", what, text);
        return false;
    }
    *number = (uint32_t)value;
    return true;
}

static bool read_wanted(ovl_work *work, const char *text, wanted *w)
{
    const char *colon = strrchr(text, ':');
    *w = (wanted){ovl_arena_strdup(&work->arena, text), OVL_NONE};
    if (!colon) {
        return true;
    }
    char *name = ovl_arena_strdup(&work->arena, text);
    name[colon - text] = 0;
    w->name = name;
    return read_number(work, "the instance", colon + 1, &w->instance);
}

/* A link has two directions, and is no resource itself. */
static void unknown_resource(ovl_work *work, const char *name, const char *const *names, uint32_t n)
{
    const char *out = ovl_arena_printf(&work->arena, "%s.out", name);
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(names[i], out) == 0) {
            ovl_error(&work->errs, OVL_E_USAGE, nowhere,
                      "unknown resource \"%s\"; did you mean \"%s\", or \"%s.in\"?", name, out,
                      name);
            return;
        }
    }
    ovl_unknown_name(nowhere, "resource", name, names, n, OVL_E_USAGE, &work->errs);
}

/* The SMs of a rank. */
static ovl_id find_sms(ovl_work *work, const ovl_program *p, const wanted *w)
{
    uint32_t rank = w->instance == OVL_NONE ? 0 : w->instance;
    if (p->sms == 0) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere,
                  "SMs are not modelled: the hardware gives no gpu.sms");
        return OVL_NONE;
    }
    if (rank >= p->n_ranks) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere,
                  "%s has no instance %" PRIu32 ": the last rank is %" PRIu32, w->name, rank,
                  p->n_ranks - 1);
        return OVL_NONE;
    }
    return ovl_sms_of_rank(p, rank);
}

/* The resource of a name and instance; OVL_NONE and an error that names those there are. */
static ovl_id find_resource(ovl_work *work, const ovl_program *p, const wanted *w)
{
    const char *names[64] = {OVL_SMS_NAME};
    uint32_t n = p->sms > 0;
    bool named = false;
    if (strcmp(w->name, OVL_SMS_NAME) == 0) {
        return find_sms(work, p, w);
    }
    for (uint32_t i = 0; i < p->n_resources; i++) {
        const char *name = OVL_NAME(p->names, p->resources[i].name);
        bool same = strcmp(name, w->name) == 0;
        named |= same;
        if (same && (w->instance == OVL_NONE || p->resources[i].instance == w->instance)) {
            return i;
        }
        bool fresh = n == 0 || strcmp(names[n - 1], name) != 0;
        if (fresh && n < OVL_COUNT(names)) {
            names[n++] = ovl_arena_strdup(&work->arena, name);
        }
    }
    if (named) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere, "%s has no instance %" PRIu32, w->name,
                  w->instance);
    } else {
        unknown_resource(work, w->name, names, n);
    }
    return OVL_NONE;
}

static bool check_name(ovl_work *work, const ovl_program *p, const char *name)
{
    if (!name || ovl_names_find(p->names, name) != OVL_NONE) {
        return true;
    }
    ovl_unknown_among(nowhere, "operation", name, p->names, OVL_E_USAGE, &work->errs);
    return false;
}

static bool read_rank(ovl_work *work, const ovl_args *args, const ovl_program *p, uint32_t *rank)
{
    const char *text = ovl_args_value(args, "rank");
    *rank = OVL_NONE;
    if (!text) {
        return true;
    }
    if (!read_number(work, "the rank", text, rank)) {
        return false;
    }
    if (*rank >= p->n_ranks) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere,
                  "there is no rank %" PRIu32 "; the last is %" PRIu32, *rank, p->n_ranks - 1);
        return false;
    }
    return true;
}

/* --- The answer --- */

/* A rank that was asked for is told by its own number, whatever rank it is folded with. */
static void explain_operations(ovl_work *work, ovl_causes *causes, uint32_t rank,
                               ovl_explanation *x)
{
    const ovl_fold *fold = causes->program->fold;
    uint32_t run = fold && rank != OVL_NONE ? fold->ranks.of[rank] : rank;
    ovl_classes classes;
    ovl_classes_find(causes->program, causes->timeline, &work->arena, &classes);
    x->operations = ovl_explain(causes, &classes, x->name, run, &work->arena, &x->n_operations);
    if (run != rank && x->n_operations) {
        ovl_explained *own = OVL_NEW_ARRAY(&work->arena, ovl_explained, x->n_operations);
        memcpy(own, x->operations, x->n_operations * sizeof *own);
        for (uint32_t i = 0; i < x->n_operations; i++) {
            own[i].rank = rank;
        }
        x->operations = own;
    }
}

/* The same in the program that is run, which may be folded. */
static ovl_id resource_run(const ovl_program *run, ovl_id resource)
{
    if (!run->fold) {
        return resource;
    }
    uint32_t n = run->fold->whole->n_resources;
    return resource < n ? run->fold->resources.of[resource]
                        : ovl_sms_of_rank(run, run->fold->ranks.of[resource - n]);
}

static bool explain(ovl_work *work, const ovl_args *args, const ovl_program *whole,
                    const ovl_program *run, const ovl_timeline *timeline, ovl_explanation *x)
{
    const char *resource = ovl_args_value(args, "resource");
    uint32_t rank;
    wanted w = {NULL, OVL_NONE};
    ovl_id id = OVL_NONE;
    if (resource && x->name) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere,
                  "an operation (\"%s\") has no effect beside --resource: leave one of them out",
                  x->name);
        return false;
    }
    if (resource &&
        (!read_wanted(work, resource, &w) || (id = find_resource(work, whole, &w)) == OVL_NONE)) {
        return false;
    }
    if (resource && ovl_is_sms(whole, id) && strcmp(x->interference, "none") == 0) {
        ovl_error(&work->errs, OVL_E_USAGE, nowhere,
                  "without interference nobody waits for SMs: each kernel has what it wants");
        return false;
    }
    if (!check_name(work, whole, x->name) || !read_rank(work, args, whole, &rank)) {
        return false;
    }
    ovl_causes causes;
    ovl_causes_init(&causes, run, timeline, &work->arena);
    if (resource) {
        x->resource = w.name;
        x->sms = ovl_is_sms(whole, id);
        x->instance = ovl_used_instance(whole, id);
        x->capacity = ovl_used_capacity(whole, id);
        x->pieces = ovl_occupancy_of(&causes, resource_run(run, id), &work->arena, &x->n_pieces);
    } else {
        explain_operations(work, &causes, rank, x);
    }
    ovl_causes_free(&causes);
    return true;
}

static bool prepare(ovl_work *work, const ovl_args *args, ovl_prepared *prepared)
{
    ovl_document doc;
    const char *variant = ovl_args_value(args, "variant");
    ovl_side side = ovl_side_of(args->operands[0], &work->arena);
    side.variant = variant ? variant : side.variant;
    return ovl_work_load(work, side.path, &doc) &&
           ovl_work_prepare(work, &doc, side.variant, prepared);
}

static bool run(ovl_work *work, const ovl_args *args, ovl_explanation *x)
{
    ovl_prepared prepared = {0};
    ovl_timeline timeline;
    if (!prepare(work, args, &prepared)) {
        return false;
    }
    const ovl_program *program = &prepared.lowered.program;
    ovl_program chosen = *program; /* folded where it is too large to be run rank by rank */
    ovl_fold *fold = OVL_NEW(&work->arena, ovl_fold);
    ovl_run_options options = {.interference = (ovl_interference)prepared.scenario.interference,
                               .segments = true,
                               .watch = &work->lookout.watch,
                               .memory = ovl_lookout_memory()};
    if ((!program->numbered &&
         !ovl_fold_choose(program, false, &work->arena, fold, &chosen, &work->errs)) ||
        !ovl_run(&chosen, &options, &work->arena, &timeline, &work->errs)) {
        return false;
    }
    x->scenario = prepared.scenario.name;
    x->variant = prepared.scenario.variant ? prepared.scenario.variant : "base";
    x->interference = ovl_interference_name(options.interference);
    x->step = timeline.step;
    x->name = args->n_operands > 1 ? args->operands[1] : NULL;
    return explain(work, args, program, &chosen, &timeline, x);
}

static void explain_operations_or_resource(ovl_work *work, const ovl_args *args)
{
    ovl_explanation x = {0};
    if (run(work, args, &x)) {
        ovl_out file, *out = ovl_work_output(args, work->shell, &file);
        if (ovl_args_has(args, "json")) {
            ovl_explain_json(out, &x);
        } else {
            ovl_explain_text(out, &x);
        }
        ovl_work_written(work, args, out);
    }
}

/* --- What limits the step --- */

static void explain_limits(ovl_work *work, const ovl_args *args)
{
    ovl_prepared prepared = {0};
    ovl_limits limits;
    uint32_t threads = 0;
    const char *name = args->n_operands > 1 ? args->operands[1] : NULL;
    if (ovl_sweep_read_jobs(work, args, &threads) && prepare(work, args, &prepared) &&
        ovl_limits_find(work, &prepared, name, threads, &limits)) {
        ovl_out file, *out = ovl_work_output(args, work->shell, &file);
        if (ovl_args_has(args, "json")) {
            ovl_limits_json(out, &limits);
        } else {
            ovl_limits_text(out, &limits);
        }
        ovl_work_written(work, args, out);
    }
}

int ovl_cmd_explain(const ovl_args *args, const ovl_shell *shell)
{
    ovl_work work;
    int status = OVL_EXIT_DONE;
    ovl_work_begin(&work, shell);
    ovl_work_sets(&work, args);
    if (ovl_args_has(args, "solve")) {
        status = ovl_solve_answer(&work, args, false, false);
    } else if (ovl_args_has(args, "limits")) {
        explain_limits(&work, args);
    } else {
        explain_operations_or_resource(&work, args);
    }
    return ovl_work_end(&work, status);
}
