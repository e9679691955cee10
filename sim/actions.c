#include "sim/actions.h"

static bool is_action(const ovl_op *op)
{
    return op->kind == OVL_KERNEL && op->part != OVL_PART_NONE;
}

static bool is_small(const ovl_program *p, const ovl_classes *classes)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < classes->n && n <= OVL_ACTIONS_MOST; i++) {
        const ovl_code *code = &p->codes[p->ranks[classes->rank[i]].code];
        for (uint32_t k = 0; k < code->n_ops && n <= OVL_ACTIONS_MOST; k++) {
            n += is_action(ovl_code_op(code, k));
        }
    }
    return n > 0 && n <= OVL_ACTIONS_MOST;
}

static int by_time(const void *a, const void *b)
{
    const ovl_result_action *x = a, *y = b;
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return (x->end > y->end) - (x->end < y->end);
}

void ovl_actions_find(const ovl_program *p, const ovl_timeline *t, const ovl_classes *classes,
                      ovl_arena *arena, ovl_result *out)
{
    OVL_VEC(ovl_result_action) list = {0};
    bool small = is_small(p, classes);
    for (uint32_t i = 0; i < (small ? classes->n : 0); i++) {
        const ovl_rank *rank = &p->ranks[classes->rank[i]];
        const ovl_code *code = &p->codes[rank->code];
        for (uint32_t k = 0; k < code->n_ops; k++) {
            const ovl_op *op = ovl_code_op(code, k);
            if (is_action(op)) {
                ovl_result_action action = {ovl_rank_number(p, classes->rank[i]),
                                            op->stage,
                                            op->part,
                                            ovl_code_microbatch(code, k),
                                            t->start[rank->first_op + k],
                                            t->end[rank->first_op + k]};
                ovl_vec_push(&list, action);
            }
        }
    }
    if (list.len) {
        qsort(list.data, list.len, sizeof *list.data, by_time);
    }
    out->n_actions = list.len;
    out->actions = ovl_vec_freeze(&list, arena);
}
