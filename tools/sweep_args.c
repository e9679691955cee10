#include "tools/sweep_args.h"

#include <string.h>

const char **ovl_args_all(const ovl_args *args, const char *name, uint32_t *n, ovl_arena *arena)
{
    const char **list = OVL_NEW_ARRAY(arena, const char *, args->n_options);
    const char *value;
    *n = 0;
    while ((value = ovl_args_nth(args, name, *n)) != NULL) {
        list[(*n)++] = value;
    }
    return list;
}

static bool sets_key(const ovl_set *set, const char *key)
{
    size_t n = strlen(key);
    return set->text && strncmp(set->text, key, n) == 0 && set->text[n] == '=';
}

/* A value or a variant that every point replaces. */
static bool check_beside(ovl_work *work, const ovl_args *args, const ovl_axes *axes)
{
    const uint32_t before = work->errs.errors;
    for (uint32_t k = 0; k < axes->n_keys; k++) {
        const char *key = axes->keys[k].path;
        if (ovl_args_has(args, "variant") && strcmp(key, "variant") == 0) {
            ovl_error(&work->errs, OVL_E_USAGE, (ovl_mark){0},
                      "--variant has no effect beside a sweep over variant: leave one of them out");
        }
        for (uint32_t i = 0; i < work->n_sets; i++) {
            if (sets_key(&work->sets[i], key)) {
                ovl_error(&work->errs, OVL_E_USAGE, (ovl_mark){0},
                          "--set %s has no effect beside a sweep over %s: leave one of them out",
                          key, key);
            }
        }
    }
    return work->errs.errors == before;
}

bool ovl_sweep_read_axes(ovl_work *work, const ovl_args *args, const ovl_document *doc,
                         ovl_axes *axes)
{
    ovl_axis_words words = {.samples = ovl_args_value(args, "samples"),
                            .seed = ovl_args_value(args, "seed")};
    words.over = ovl_args_all(args, "over", &words.n_over, &work->arena);
    words.zip = ovl_args_all(args, "zip", &words.n_zip, &work->arena);
    words.sample = ovl_args_all(args, "sample", &words.n_sample, &work->arena);
    return ovl_axes_read(doc, &words, axes, &work->arena, &work->errs) &&
           check_beside(work, args, axes);
}

bool ovl_sweep_read_choice(ovl_work *work, const ovl_args *args, ovl_sweep *sweep)
{
    const char *objective = ovl_args_value(args, "objective");
    uint32_t n = 0;
    const char **texts = ovl_args_all(args, "where", &n, &work->arena);
    ovl_where *where = OVL_NEW_ARRAY(&work->arena, ovl_where, n);
    bool good = true;
    sweep->objective = OVL_M_STEP;
    sweep->objective_given = objective != NULL;
    if (objective) {
        sweep->objective = ovl_metric_find(objective, "objective", &work->errs);
        good = sweep->objective != OVL_NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        good = ovl_where_read(texts[i], "where", &where[i], &work->errs) && good;
    }
    sweep->where = where;
    sweep->n_where = n;
    return good;
}

bool ovl_args_count(ovl_work *work, const ovl_args *args, const char *name, int64_t least,
                    int64_t most, int64_t *value)
{
    const char *text = ovl_args_value(args, name);
    int64_t n = 0;
    if (!text) {
        return true;
    }
    if (ovl_read_count(text, &n) || n < least || n > most) {
        ovl_error(&work->errs, OVL_E_USAGE, (ovl_mark){0},
                  "--%s takes a whole number from %" PRId64 " to %" PRId64 "; found \"%s\"", name,
                  least, most, text);
        return false;
    }
    *value = n;
    return true;
}

bool ovl_sweep_read_jobs(ovl_work *work, const ovl_args *args, uint32_t *threads)
{
    int64_t n = 0;
    bool good = ovl_args_count(work, args, "jobs", 1, 1024, &n);
    *threads = (uint32_t)n;
    return good;
}
