#include "tests/figures/figure.h"

#include "tests/support/check.h"
#include "tools/files.h"

#include <stdio.h>

static bool fill(figure *f, const char *path, const char *variant, const ovl_set *sets,
                 uint32_t n_sets, ovl_worth worth)
{
    ovl_files files = ovl_real_files();
    ovl_document *doc = OVL_NEW(&f->arena, ovl_document);
    ovl_scenario *scenario = OVL_NEW(&f->arena, ovl_scenario);
    if (!ovl_document_load(path, &files, doc, &f->arena, &f->errs) ||
        !ovl_scenario_decode(doc, variant, sets, n_sets, scenario, &f->arena, &f->errs) ||
        !ovl_lower(scenario, &f->arena, &f->lowered, &f->errs)) {
        return false;
    }
    ovl_analyse_options options = {.interference = (ovl_interference)scenario->interference,
                                   .worth = worth,
                                   .scenario = scenario->name,
                                   .variant = scenario->variant,
                                   .measured = f->lowered.measured};
    return ovl_analyse(&f->lowered.program, &options, &f->arena, &f->result, NULL, &f->errs);
}

static figure run(const char *path, const char *variant, const char *set1, const char *set2,
                  ovl_worth worth)
{
    figure f = {0};
    ovl_set sets[2];
    uint32_t n = 0;
    if (set1) {
        sets[n++] = (ovl_set){.text = set1};
    }
    if (set2) {
        sets[n++] = (ovl_set){.text = set2};
    }
    f.errs.arena = OVL_NEW(&f.arena, ovl_arena);
    f.good = fill(&f, path, variant, sets, n, worth);
    for (uint32_t i = 0; i < f.errs.count && !f.good; i++) {
        fprintf(stderr, "%s\n", ovl_err_text(&f.arena, &f.errs.items[i]));
    }
    return f;
}

figure figure_run(const char *path, const char *variant, const char *set1, const char *set2)
{
    return run(path, variant, set1, set2, OVL_WORTH_ALL);
}

figure figure_run_quick(const char *path, const char *variant, const char *set1, const char *set2)
{
    return run(path, variant, set1, set2, OVL_WORTH_NONE);
}

void figure_free(figure *f)
{
    ovl_arena_free(f->errs.arena);
    ovl_arena_free(&f->arena);
}

const ovl_result_collective *figure_collective(const figure *f, const char *name)
{
    static const ovl_result_collective none = {0};
    for (uint32_t i = 0; i < f->result.n_collectives; i++) {
        if (strcmp(f->result.collectives[i].name, name) == 0) {
            return &f->result.collectives[i];
        }
    }
    CHECK_TEXT("no collective of this name", name);
    return &none;
}

ovl_time figure_path_end(const figure *f, const char *name)
{
    for (uint32_t i = 0; i < f->result.n_path; i++) {
        if (strcmp(f->result.path[i].op, name) == 0) {
            return f->result.path[i].end;
        }
    }
    return -1;
}
