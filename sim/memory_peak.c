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
    return part->name
               ? part->name
               : ovl_names_copy(v->p->names, v->code->buffers[part->buffer].name, v->scratch);
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

/* --- What could go earlier --- */

/* The first operation that needs a buffer, in the order they are issued. */
static uint32_t first_use(const ovl_memory_view *v, uint32_t buffer)
{
    for (uint32_t k = 0, i = 0; i < v->code->n_ops; i++) {
        for (; k < v->code->access.at[i + 1]; k++) {
            if (v->code->access.item[k].buffer == buffer) {
                return i;
            }
        }
    }
    return OVL_NONE;
}

/* Does an operation use what comes before it on its stream, as layer follows layer? What
 * communicates could as well be issued in another order, and so could another microbatch of a
 * pipeline. */
static bool follows(const ovl_code *c, uint32_t i, uint32_t before)
{
    const ovl_op *op = ovl_code_op(c, i), *first = ovl_code_op(c, before);
    bool parts = op->part != OVL_PART_NONE && first->part != OVL_PART_NONE;
    return op->comm == OVL_NO_COMM &&
           !(parts && ovl_code_microbatch(c, i) != ovl_code_microbatch(c, before));
}

/* Which operations are behind `first`: they wait for it, or for one that does, or follow one on its
 * stream. Edges lead forward, so one pass will do. */
static bool *behind(const ovl_memory_view *v, uint32_t first)
{
    const ovl_code *c = v->code;
    bool *is = OVL_NEW_ARRAY(v->scratch, bool, c->n_ops);
    if (first == OVL_NONE) {
        return is;
    }
    is[first] = true;
    for (uint32_t i = first + 1; i < c->n_ops; i++) {
        uint32_t before = ovl_code_stream_prev(c, i);
        is[i] = before != OVL_NONE && is[before] && follows(c, i, first);
        ovl_offsets after = ovl_code_after(c, i);
        for (uint32_t k = 0; k < after.n; k++) {
            is[i] |= is[i + after.by[k]];
        }
    }
    return is;
}

/* For each buffer the operation that uses it last, OVL_NONE if none does. */
static uint32_t *last_uses(const ovl_memory_view *v)
{
    const ovl_code *c = v->code;
    uint32_t *last = OVL_NEW_ARRAY(v->scratch, uint32_t, c->n_buffers);
    ovl_time *end = OVL_NEW_ARRAY(v->scratch, ovl_time, c->n_buffers);
    for (uint32_t b = 0; b < c->n_buffers; b++) {
        last[b] = OVL_NONE;
        end[b] = -1;
    }
    for (uint32_t i = 0; i < c->n_ops; i++) {
        for (uint32_t k = c->access.at[i]; k < c->access.at[i + 1]; k++) {
            uint32_t b = c->access.item[k].buffer;
            ovl_time when = ovl_buffers_end(v->p, v->t, v->rank->first_op + i);
            last[b] = when >= end[b] ? i : last[b];
            end[b] = OVL_MAX(end[b], when);
        }
    }
    return last;
}

/* The largest holder that could go earlier: neither held for the whole run nor what made the peak,
 * and its last use does not depend on what needs that. It goes when this use is through. */
static void find_easer(const ovl_memory_view *v, const ranked *list, uint32_t n, uint32_t raised,
                       ovl_peak *peak)
{
    const ovl_names *names = v->p->names;
    const uint32_t *last = last_uses(v);
    const bool *late = behind(v, raised == OVL_NONE ? OVL_NONE : first_use(v, raised));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t b = list[i].buffer;
        if (b == OVL_NONE || b == raised || v->code->buffers[b].held || last[b] == OVL_NONE ||
            late[last[b]]) {
            continue;
        }
        const char *by = OVL_NAME(names, v->code->name[last[b]]);
        peak->eased_buffer = ovl_names_copy(names, v->code->buffers[b].name, v->arena);
        peak->eased_by = ovl_arena_strdup(v->arena, by);
        peak->eased_at = ovl_buffers_end(v->p, v->t, v->rank->first_op + last[b]);
        return;
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
    if (raised != OVL_NONE) {
        const char *name = OVL_NAME(v->p->names, v->code->buffers[raised].name);
        peak->raised_buffer = ovl_arena_strdup(v->arena, name);
    }
    find_easer(v, list, parts->len, raised, peak);
    ovl_vec_free(parts);
}
