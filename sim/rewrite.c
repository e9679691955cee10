#include "sim/rewrite.h"

void ovl_rewrite_begin(ovl_rewrite *w, const ovl_program *program, ovl_arena *scratch)
{
    uint32_t n = program->n_distinct;
    *w = (ovl_rewrite){.last = OVL_NEW_ARRAY(scratch, uint32_t, n)};
    ovl_vec_reserve(&w->ops, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        ovl_vec_push(&w->ops, program->distinct[i]);
        w->last[i] = i;
    }
}

uint32_t ovl_rewrite_op(ovl_rewrite *w, uint32_t which, const ovl_op *op)
{
    if (ovl_same_op(&w->ops.data[which], op)) {
        return which;
    }
    if (!ovl_same_op(&w->ops.data[w->last[which]], op)) {
        w->last[which] = w->ops.len;
        ovl_vec_push(&w->ops, *op);
    }
    return w->last[which];
}

void ovl_rewrite_end(ovl_rewrite *w, ovl_program *copy, ovl_code *codes, ovl_arena *arena)
{
    copy->n_distinct = w->ops.len;
    copy->distinct = ovl_vec_freeze(&w->ops, arena);
    copy->codes = codes;
    for (uint32_t c = 0; c < copy->n_codes; c++) {
        codes[c].distinct = copy->distinct;
    }
}
