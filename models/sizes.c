/* sizes.c - buffers that take other bytes on each rank. */
#include "models/plan.h"

#define LOOK_BACK 256 /* lists come again soon, or not */

static uint32_t store(ovl_lowering *l, const uint64_t *of)
{
    for (uint32_t i = l->sized.len; i-- > 0 && i + LOOK_BACK >= l->sized.len;) {
        if (l->sized.data[i].of == of) {
            return l->sized.data[i].sizes;
        }
    }
    uint32_t sizes = ovl_add_sizes(l->b, of, l->n_ranks);
    ovl_vec_push(&l->sized, (ovl_sized){of, sizes});
    return sizes;
}

void ovl_plan_size(ovl_lowering *l, const char *name, ovl_sizes sizes, ovl_buffer *buffer)
{
    buffer->bytes = sizes.most;
    if (!sizes.of) {
        return;
    }
    if (sizes.count == l->n_ranks) {
        buffer->sizes = store(l, sizes.of);
    } else {
        ovl_error(l->errs, OVL_E_INPUT, buffer->mark,
                  "\"%s\" gives %" PRIu32 " sizes for %s; give one, or one for each rank", name,
                  sizes.count, ovl_counted(l->errs->arena, l->n_ranks, "rank"));
    }
}
