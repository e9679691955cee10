#include "models/plan_pipeline_code.h"

#include <string.h>

/* Part k of n of an action on the GPU of each sort of nodes; NULL: all are alike. */
static const ovl_time *lengths_on(const ovl_pipe_code *e, const ovl_action *a, uint32_t k,
                                  uint32_t n)
{
    if (!e->p->on) {
        return NULL;
    }
    ovl_time *on = OVL_NEW_ARRAY(e->l->arena, ovl_time, e->l->n_machines);
    for (uint32_t i = 0; i < e->l->n_machines; i++) {
        on[i] = (ovl_time)ovl_pipe_share((uint64_t)ovl_pipe_length_on(e->p, a, i), k, n);
    }
    return on;
}

static bool same_on(const ovl_pipe_code *e, const ovl_time *a, const ovl_time *b)
{
    return a == b || (a && b && memcmp(a, b, e->l->n_machines * sizeof *a) == 0);
}

ovl_plan_cost ovl_pipe_compute_cost(ovl_pipe_code *e, const ovl_action *a, uint32_t k, uint32_t n)
{
    ovl_time length = (ovl_time)ovl_pipe_share((uint64_t)ovl_pipe_length(e->p, a), k, n);
    const ovl_time *on = lengths_on(e, a, k, n);
    const ovl_pipe_stage *s = ovl_pipe_stage_of(e->p, a->stage);
    ovl_pipe_known *known = &e->known[(size_t)a->stage * OVL_PART_COUNT + ovl_pipe_part(a)];
    ovl_time part, whole;
    ovl_pipe_pair_parts(e->p, a, &part, &whole);
    if (known->any && known->length == length && known->part == part && known->whole == whole &&
        same_on(e, known->on, on)) {
        return known->cost;
    }
    const char *klass = a->type == OVL_ACT_F && !a->joined ? "forward" : "backward";
    ovl_kernel_spec spec = {.name = s->name,
                            .mark = s->mark,
                            .duration = {.item = &length, .count = 1, .law = ovl_pipe_law(e->p, a)},
                            .on = on,
                            .klass = s->klass ? s->klass : klass,
                            .part_klass = s->klass ? s->klass : "forward",
                            .part = part,
                            .whole = whole};
    *known = (ovl_pipe_known){true, length, part, whole, on, ovl_plan_kernel(e->l, &spec)};
    return known->cost;
}
