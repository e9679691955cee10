#include "models/expert.h"

#include "models/mesh.h"

/* Whether experts differ between ranks of different places in an axis. */
static bool differs(const ovl_lowering *l, const ovl_axis *axis)
{
    const ovl_model *m = &l->scenario->workload.model;
    return m->moe.given && axis->size > 1 &&
           (strcmp(axis->name, m->tp) == 0 || ovl_mesh_names(m->moe.ep, axis->name) ||
            ovl_mesh_names(m->moe.across, axis->name));
}

static const char *join(ovl_lowering *l, const char *joined, const char *name)
{
    return joined ? ovl_arena_printf(l->arena, "%s+%s", joined, name) : name;
}

const char *ovl_expert_axes(ovl_lowering *l)
{
    const ovl_mesh *mesh = &l->scenario->mesh;
    const char *joined = NULL;
    for (uint32_t i = 0; i < mesh->n_axes; i++) {
        joined = differs(l, &mesh->axes[i]) ? join(l, joined, mesh->axes[i].name) : joined;
    }
    return joined;
}

static bool has_axis(const ovl_lowering *l, const ovl_group *group, uint32_t axis)
{
    bool all = group->n_axes == 0 && group->size == l->n_ranks;
    for (uint32_t k = 0; k < group->n_axes; k++) {
        if (group->axes[k] == axis) {
            return true;
        }
    }
    return all ||
           (group->n_axes == 0 && strcmp(group->name, l->scenario->mesh.axes[axis].name) == 0);
}

const ovl_group *ovl_expert_group(ovl_lowering *l, const ovl_group *group, ovl_mark mark)
{
    const ovl_mesh *mesh = &l->scenario->mesh;
    const char *joined = NULL;
    bool less = false;
    if (!ovl_expert_axes(l)) {
        return group;
    }
    if (group->node) {
        ovl_error(l->errs, OVL_E_INPUT, mark,
                  "group \"%s\" is a list of ranks: which of them have the same experts is known "
                  "of mesh axes, alone or joined (ep+dp)",
                  group->name);
        return NULL;
    }
    for (uint32_t i = 0; i < mesh->n_axes; i++) {
        if (!has_axis(l, group, i)) {
            continue;
        }
        bool own = differs(l, &mesh->axes[i]);
        less = less || own;
        joined = own ? joined : join(l, joined, mesh->axes[i].name);
    }
    if (!less) {
        return group;
    }
    return joined ? ovl_plan_group(l, joined, mark) : ovl_plan_subgroup(l, group, 1, "one rank");
}
