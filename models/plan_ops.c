#include "models/plan_ops.h"

static void release(ovl_ops *o)
{
    ovl_vec_free(&o->entries);
    ovl_vec_free(&o->bindings);
    ovl_vec_free(&o->instances);
    ovl_vec_free(&o->selectors);
    ovl_vec_free(&o->ranks);
    ovl_vec_free(&o->key);
    ovl_vec_free(&o->text);
    ovl_vec_free(&o->met);
    ovl_vec_free(&o->mentions);
    ovl_vec_free(&o->latest);
    ovl_vec_free(&o->ends);
    ovl_arena_free(&o->scratch);
}

static void name_buffers(ovl_ops *o)
{
    const ovl_workload *workload = o->workload;
    o->uses = OVL_NEW_ARRAY(&o->scratch, ovl_buffer_use, workload->n_buffers);
    for (uint32_t i = 0; i < workload->n_buffers; i++) {
        if (ovl_names_add(&o->buffer_names, workload->buffers[i].name) != i) {
            ovl_error(o->l->errs, OVL_E_INPUT, workload->buffers[i].mark,
                      "there are two buffers called \"%s\"", workload->buffers[i].name);
        }
    }
}

/* Ranks without a single operation wait for nothing and end at once; that is allowed. */
static void run_steps(ovl_ops *o)
{
    uint32_t errors = o->l->errs->errors;
    name_buffers(o);
    if (o->l->errs->errors != errors || !ovl_ops_expand(o) || !ovl_ops_classes(o)) {
        return;
    }
    for (uint32_t c = 0; c < o->n_classes && o->reports < 200; c++) {
        ovl_ops_emit(o, &o->classes[c]);
    }
    for (uint32_t rank = 0; rank < o->l->n_ranks; rank++) {
        o->l->rank_code[rank] = o->class_of[rank];
    }
}

void ovl_plan_ops(ovl_lowering *l)
{
    ovl_ops o = {.l = l, .workload = &l->scenario->workload};
    o.selector_texts.arena = &o.scratch;
    o.buffer_names.arena = &o.scratch;
    o.group_used = OVL_NEW_ARRAY(&o.scratch, bool, l->most_groups);
    o.places = OVL_NEW_ARRAY(&o.scratch, const uint32_t *, l->most_groups);
    run_steps(&o);
    release(&o);
}
