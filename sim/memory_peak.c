/* Who holds a peak, by name, and which operation would have to come earlier for it to fall. */
#include "sim/causes.h"
#include "sim/memory_parts.h"

#include <string.h>

typedef struct ranked {
    const char *name;
    uint64_t bytes;
    uint32_t buffer;
} ranked;

static int compare_holders(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    int names = ovl_names_order(x->name, y->name);
    return names ? names : (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static const char *part_name(const ovl_memory_view *v, const ovl_memory_part *part)
{
    return part->name ? part->name
                      : ovl_names_text(v->p->names, v->code->buffers[part->buffer].name);
}

static ovl_holder holder_of(const ovl_memory_view *v, const ranked *r)
{
    const char *category =
        r->buffer == OVL_NONE ? NULL : ovl_category_name(v->code->buffers[r->buffer].category);
    return (ovl_holder){ovl_arena_strdup(v->arena, r->name), category, r->bytes};
}

/* The largest by name, the others as one sum. */
static void name_holders(const ovl_memory_view *v, ranked *list, uint32_t n, ovl_peak *peak)
{
    uint32_t named = OVL_MIN(n, OVL_HOLDERS_MAX), others = n - named;
    ovl_holder *holders = OVL_NEW_ARRAY(v->arena, ovl_holder, named + 1);
    if (n) {
        qsort(list, n, sizeof *list, compare_holders);
    }
    for (uint32_t i = 0; i < named; i++) {
        holders[i] = holder_of(v, &list[i]);
    }
    for (uint32_t i = named; i < n; i++) {
        holders[named].bytes += list[i].bytes;
    }
    if (others) {
        holders[named].name =
            ovl_arena_printf(v->arena, "%" PRIu32 " other%s", others, others > 1 ? "s" : "");
    }
    peak->holders = holders;
    peak->n_holders = named + (others > 0);
}

/* The largest holder that could go earlier: neither held for the whole run nor what made the peak.
 */
static uint32_t find_easer(const ovl_memory_view *v, const ranked *list, uint32_t n,
                           uint32_t raised)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t b = list[i].buffer;
        if (b != OVL_NONE && b != raised && !v->code->buffers[b].held) {
            return b;
        }
    }
    return OVL_NONE;
}

/* It goes when the last operation that uses it is through. */
static void set_easer(const ovl_memory_view *v, uint32_t buffer, ovl_peak *peak)
{
    uint32_t last = OVL_NONE;
    ovl_time end = -1;
    for (uint32_t i = 0; i < v->code->n_ops; i++) {
        for (uint32_t k = v->code->access.at[i]; k < v->code->access.at[i + 1]; k++) {
            if (v->code->access.item[k].buffer != buffer) {
                continue;
            }
            ovl_time when = ovl_buffers_end(v->p, v->t, v->rank->first_op + i);
            last = when >= end ? i : last;
            end = OVL_MAX(end, when);
        }
    }
    if (last != OVL_NONE) {
        const ovl_names *names = v->p->names;
        peak->eased_buffer =
            ovl_arena_strdup(v->arena, ovl_names_text(names, v->code->buffers[buffer].name));
        peak->eased_by = ovl_arena_strdup(v->arena, ovl_names_text(names, v->code->ops[last].name));
        peak->eased_at = end;
    }
}

void ovl_memory_describe(const ovl_memory_view *v, ovl_memory_parts *parts, uint32_t raised,
                         ovl_peak *peak)
{
    ranked *list = OVL_NEW_ARRAY(v->scratch, ranked, parts->len);
    for (uint32_t i = 0; i < parts->len; i++) {
        const ovl_memory_part *part = &parts->data[i];
        list[i] = (ranked){part_name(v, part), part->bytes, part->buffer};
        if (part->buffer != OVL_NONE && !part->name) {
            peak->category[v->code->buffers[part->buffer].category] += part->bytes;
        }
    }
    name_holders(v, list, parts->len, peak);
    uint32_t easer = find_easer(v, list, parts->len, raised);
    if (raised != OVL_NONE) {
        const char *name = ovl_names_text(v->p->names, v->code->buffers[raised].name);
        peak->raised_buffer = ovl_arena_strdup(v->arena, name);
    }
    if (easer != OVL_NONE) {
        set_easer(v, easer, peak);
    }
    ovl_vec_free(parts);
}
