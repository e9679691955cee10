#include "models/plan_pipeline.h"

#include "models/expert.h"
#include "models/mesh.h"
#include "models/schedule_lower.h"

#include <string.h>

/* A key of overlap.pipeline, or of stages, and when it has an effect. */
typedef struct rule {
    const char *key;
    bool (*given)(const ovl_stage *stage); /* NULL: it is of the pipeline */
    bool (*acts)(const ovl_pipe_plan *p);
    const char *when; /* "it acts ..." */
} rule;

static bool by_groups(const ovl_pipe_plan *p)
{
    return p->pipe->schedule &&
           ovl_schedule_find(p->pipe->schedule) == &ovl_schedule_interleaved_megatron;
}

static bool warms_up(const ovl_pipe_plan *p)
{
    return !p->pipe->extra_warmup || by_groups(p);
}

static bool shares_layers(const ovl_pipe_plan *p)
{
    return p->workload->stages.count == 0;
}

static bool shares_by_rule(const ovl_pipe_plan *p)
{
    return shares_layers(p) && p->pipe->layers_per_stage.count == 0;
}

static bool has_pairs(const ovl_pipe_plan *p)
{
    for (uint32_t r = 0; r < p->schedule.n_ranks; r++) {
        for (uint32_t i = 0; i < p->schedule.ranks[r].count; i++) {
            if (p->schedule.ranks[r].item[i].joined) {
                return true;
            }
        }
    }
    return false;
}

static bool joins_passes(const ovl_pipe_plan *p)
{
    return p->workload->model.given && has_pairs(p);
}

static bool places_receives(const ovl_pipe_plan *p)
{
    return !ovl_schedule_has(&p->schedule, OVL_ACT_SEND_F, OVL_ACT_RECV_B);
}

static bool runs_again(const ovl_pipe_plan *p)
{
    return p->pipe->recompute;
}

static bool has_checkpoint(const ovl_stage *stage)
{
    return stage->has_checkpoint;
}

static bool has_overlapped(const ovl_stage *stage)
{
    return stage->overlapped.count > 0;
}

static const rule rules[] = {
    {"microbatch_group", NULL, by_groups, "with interleaved_megatron"},
    {"extra_warmup", NULL, warms_up, "with interleaved_megatron"},
    {"layers_per_stage", NULL, shares_layers, "on workload.layers"},
    {"split", NULL, shares_by_rule, "on workload.layers without layers_per_stage"},
    {"pairs", NULL, joins_passes, "on a model by its shape, with a schedule that joins passes"},
    {"receives", NULL, places_receives, "on a list without sends and receives of its own"},
    {"checkpoint", has_checkpoint, runs_again, "with recompute: true"},
    {"overlapped", has_overlapped, has_pairs, "with a schedule that joins passes"},
};

static bool is_given(const ovl_pipe_plan *p, const rule *r)
{
    if (!r->given) {
        return ovl_node_gives(p->pipe->node, r->key);
    }
    for (uint32_t i = 0; i < p->workload->stages.count; i++) {
        if (r->given(OVL_ITEM(p->workload->stages, ovl_stage, i))) {
            return true;
        }
    }
    return false;
}

void ovl_pipe_tell_idle_keys(ovl_pipe_plan *p)
{
    const char *text = NULL;
    for (uint32_t i = 0; i < OVL_COUNT(rules); i++) {
        const rule *r = &rules[i];
        if (is_given(p, r) && !r->acts(p)) {
            text = ovl_arena_printf(p->l->errs->arena, "%s%s%s%s (acts %s)", text ? text : "",
                                    text ? ", " : "", r->given ? "stages[]." : "", r->key, r->when);
        }
    }
    if (text) {
        ovl_warning(p->l->errs, p->pipe->mark, "no effect here: %s", text);
    }
}

/* Whether anything has gradients. */
static bool has_params(const ovl_pipe_plan *p)
{
    bool any = false;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        any = any || p->stages[s].params > 0;
    }
    return any;
}

/* Whether ranks of an axis have the same parameters and other tokens: with a model all that do not
 * split it; else axes that are called so, for what splits a layer is not known. */
static bool is_data_axis(const ovl_pipe_plan *p, const char *axis)
{
    const ovl_model *m = &p->workload->model;
    if (ovl_mesh_names(p->pipe->group, axis)) {
        return false;
    }
    if (!m->given) {
        return strcmp(axis, "dp") == 0 || strcmp(axis, "fsdp") == 0 || strcmp(axis, "cp") == 0;
    }
    return !ovl_mesh_names(m->tp, axis);
}

/* "over axis dp and axis fsdp": axes of data whose ranks have the same experts, or other ones. */
static const char *data_axes(const ovl_pipe_plan *p, const char *experts, bool other)
{
    const ovl_mesh *mesh = &p->l->scenario->mesh;
    const char *over = NULL;
    for (uint32_t i = 0; i < mesh->n_axes; i++) {
        const ovl_axis *axis = &mesh->axes[i];
        if (axis->size > 1 && is_data_axis(p, axis->name) &&
            ovl_mesh_names(experts, axis->name) == other) {
            over = over ? ovl_arena_printf(p->l->arena, "%s and axis %s", over, axis->name)
                        : ovl_arena_printf(p->l->arena, "over axis %s", axis->name);
        }
    }
    return over;
}

static void say_unreduced(const ovl_pipe_plan *p, const char *what, const char *over)
{
    if (over) {
        ovl_plan_say(p->l, ovl_arena_printf(p->l->arena,
                                            "Gradients%s are not reduced %s: overlap.pipeline has "
                                            "no data_parallel.",
                                            what, over));
    }
}

void ovl_pipe_say_unreduced(ovl_pipe_plan *p)
{
    if (p->pipe->data.given || ovl_pipe_apart(p) || !has_params(p)) {
        return;
    }
    const char *experts = ovl_expert_axes(p->l);
    const char *over = data_axes(p, experts, false);
    if (p->schedule.n_chains > 1) {
        over = over
                   ? ovl_arena_printf(p->l->arena, "%s and between the two copies of a stage", over)
                   : "between the two copies of a stage";
    }
    say_unreduced(p, "", over);
    say_unreduced(p, " of all but experts", experts ? data_axes(p, experts, true) : NULL);
}
