#include "sim/tails.h"

#include <stdlib.h>

typedef struct tails {
    ovl_names names;
    OVL_VEC(ovl_tail) list; /* aligned with names */
} tails;

static ovl_tail *tail_of(tails *t, const char *name)
{
    ovl_id id = ovl_names_add(&t->names, name);
    if (id == t->list.len) {
        const ovl_tail_side none = {OVL_NEVER, 0, OVL_NONE};
        ovl_tail fresh = {name, none, none, 0};
        ovl_vec_push(&t->list, fresh);
    }
    return &t->list.data[id];
}

/* Rows come by rank, so that the first of equals is the lowest. */
static void look_at(tails *t, const ovl_result *result, bool second)
{
    for (uint32_t i = 0; i < result->n_collectives; i++) {
        const ovl_result_collective *row = &result->collectives[i];
        ovl_tail *tail = tail_of(t, row->name);
        ovl_tail_side *side = second ? &tail->b : &tail->a;
        if (side->exposed == OVL_NEVER || row->exposed > side->exposed) {
            *side = (ovl_tail_side){row->exposed, row->end - row->start, row->rank};
        }
    }
}

static ovl_time exposed(const ovl_tail_side *side)
{
    return side->exposed == OVL_NEVER ? 0 : side->exposed;
}

static int by_change(const void *x, const void *y)
{
    const ovl_tail *a = x, *b = y;
    ovl_time of_a = a->change < 0 ? -a->change : a->change;
    ovl_time of_b = b->change < 0 ? -b->change : b->change;
    return of_a != of_b ? (of_a < of_b ? 1 : -1) : strcmp(a->name, b->name);
}

const ovl_tail *ovl_tails(const ovl_result *a, const ovl_result *b, ovl_arena *arena, uint32_t *n)
{
    ovl_arena scratch = {0};
    tails t = {.names = {.arena = &scratch}};
    look_at(&t, a, false);
    look_at(&t, b, true);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t.list.len; i++) {
        ovl_tail tail = t.list.data[i];
        tail.change = exposed(&tail.b) - exposed(&tail.a);
        if (tail.change) {
            t.list.data[kept++] = tail;
        }
    }
    t.list.len = kept;
    if (kept) {
        qsort(t.list.data, kept, sizeof *t.list.data, by_change);
    }
    *n = kept;
    ovl_arena_free(&scratch);
    return ovl_vec_freeze(&t.list, arena);
}
