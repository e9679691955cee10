#include "models/faults.h"
#include "models/draft.h"

#include <stdlib.h>

/* --- Ranks by text --- */

static bool read_bound(const char **at, uint64_t *value)
{
    if (**at < '0' || **at > '9') {
        return false;
    }
    for (*value = 0; **at >= '0' && **at <= '9'; ++*at) {
        *value = OVL_MIN(*value * 10 + (uint64_t)(**at - '0'), UINT32_MAX);
    }
    return true;
}

const char *ovl_plan_range(ovl_arena *arena, const char *what, uint32_t n, const char *text,
                           uint32_t *from, uint32_t *to)
{
    const char *at = text;
    uint64_t first = 0, last = n - 1;
    bool ok = strcmp(text, "all") == 0;
    if (!ok && read_bound(&at, &first)) {
        last = first;
        ok = *at == 0 || (*at++ == '-' && read_bound(&at, &last) && *at == 0);
    }
    if (ok && first <= last && last < n) {
        *from = (uint32_t)first;
        *to = (uint32_t)last;
        return NULL;
    }
    return ok && first <= last
               ? ovl_arena_printf(arena, "there is no %s %s; the last is %" PRIu32, what, text,
                                  n - 1)
               : ovl_arena_printf(arena,
                                  "\"%s\" is no %s and no range of %ss such as 2-5; the last %s "
                                  "is %" PRIu32,
                                  text, what, what, what, n - 1);
}

const char *ovl_plan_ranks(ovl_lowering *l, const char *text, uint32_t *from, uint32_t *to)
{
    return ovl_plan_range(l->errs->arena, "rank", l->n_ranks, text, from, to);
}

/* Marks the ranks of a fault; all if it names none. Those there are not were told before. */
static void mark_ranks(ovl_lowering *l, const ovl_hw_fault *fault, bool *in)
{
    memset(in, fault->ranks.count == 0, l->n_ranks);
    for (uint32_t i = 0; i < fault->ranks.count; i++) {
        uint32_t from, to;
        if (ovl_plan_ranks(l, fault->ranks.item[i], &from, &to)) {
            continue;
        }
        for (uint64_t rank = from; rank <= to; rank++) {
            in[rank] = true;
        }
    }
}

void ovl_faults_check(ovl_lowering *l)
{
    for (uint32_t i = 0; i < l->hw->faults.count; i++) {
        const ovl_texts *ranks = &OVL_ITEM(l->hw->faults, ovl_hw_fault, i)->ranks;
        for (uint32_t k = 0; k < ranks->count; k++) {
            uint32_t from, to;
            const char *wrong = ovl_plan_ranks(l, ranks->item[k], &from, &to);
            if (wrong) {
                ovl_error(l->errs, OVL_E_INPUT, ranks->mark[k], "%s", wrong);
            }
        }
    }
}

/* --- Slow GPUs --- */

void ovl_faults_slow(ovl_lowering *l)
{
    bool *in = OVL_NEW_ARRAY(l->arena, bool, l->n_ranks);
    for (uint32_t i = 0; i < l->hw->faults.count; i++) {
        const ovl_hw_fault *fault = OVL_ITEM(l->hw->faults, ovl_hw_fault, i);
        if (fault->slowdown <= 0) {
            continue;
        }
        if (!l->slowdown) {
            l->slowdown = OVL_NEW_ARRAY(l->arena, double, l->n_ranks);
            for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
                l->slowdown[rank] = 1;
            }
        }
        mark_ranks(l, fault, in);
        for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
            l->slowdown[rank] *= in[rank] ? fault->slowdown : 1;
        }
    }
}

/* --- Degraded links --- */

static uint32_t link_number(const ovl_hw *hw, const char *name)
{
    uint32_t i = 0;
    while (i < hw->n_links && strcmp(hw->links[i].name, name) != 0) {
        i++;
    }
    return i; /* checked when the hardware was read */
}

/* A resource that has less for a time. */
typedef struct loss {
    ovl_id resource;
    const ovl_hw_fault *fault;
    uint64_t nominal, left; /* in good health, and while the fault lasts */
} loss;

/* What a resource has from a moment on. */
typedef struct change {
    ovl_time time;
    ovl_id resource;
    uint64_t capacity;
} change;

typedef struct losses {
    OVL_VEC(loss) list;
    OVL_VEC(change) changes;
} losses;

/* Neighbouring ranks of one instance lose it once; the others drop out when the list is sorted. */
static void lose_port(const ovl_lowering *l, const ovl_hw_fault *fault, const ovl_id *ports,
                      uint32_t port, uint64_t left, const bool *in, losses *all)
{
    ovl_id last = OVL_NONE;
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ovl_id resource = ports[(size_t)rank * l->b->n_ports + port];
        if (in[rank] && resource != last && resource != OVL_NONE) {
            uint64_t nominal = l->b->resources.data[resource].capacity;
            ovl_vec_push(&all->list, (loss){resource, fault, nominal, left});
            last = resource;
        }
    }
}

/* Of a mesh all wires out of a GPU, which share what is left to it. */
static void lose_link(const ovl_lowering *l, const ovl_hw_fault *fault, const ovl_id *ports,
                      const bool *in, losses *all)
{
    uint32_t link = link_number(l->hw, fault->link);
    const ovl_hw_link *at = &l->hw->links[link];
    lose_port(l, fault, ports, 1 + 2 * link, fault->bandwidth, in, all);
    lose_port(l, fault, ports, 2 + 2 * link, fault->bandwidth, in, all);
    for (uint32_t i = 0; at->topology == OVL_TOPOLOGY_MESH && i < l->hw->n_links; i++) {
        const ovl_hw_link *wire = &l->hw->links[i];
        if (wire->wire && wire->of == link) {
            uint64_t left = fault->bandwidth / (uint64_t)(at->mesh - 1);
            lose_port(l, fault, ports, 1 + 2 * i, OVL_MAX(left, 1), in, all);
        }
    }
}

static void find_losses(ovl_lowering *l, const ovl_id *ports, losses *all)
{
    bool *in = OVL_NEW_ARRAY(l->arena, bool, l->n_ranks);
    for (uint32_t i = 0; i < l->hw->faults.count; i++) {
        const ovl_hw_fault *fault = OVL_ITEM(l->hw->faults, ovl_hw_fault, i);
        if (!fault->link) {
            continue;
        }
        mark_ranks(l, fault, in);
        if (strcmp(fault->link, "hbm") == 0) {
            lose_port(l, fault, ports, OVL_PORT_HBM, fault->bandwidth, in, all);
        } else {
            lose_link(l, fault, ports, in, all);
        }
    }
}

static int by_resource(const void *a, const void *b)
{
    const loss *x = a, *y = b;
    return x->resource != y->resource ? (x->resource > y->resource) - (x->resource < y->resource)
                                      : (x->fault > y->fault) - (x->fault < y->fault);
}

/* Sorts them, each once. */
static void tidy(losses *all)
{
    uint32_t n = 0;
    if (all->list.len) {
        qsort(all->list.data, all->list.len, sizeof *all->list.data, by_resource);
    }
    for (uint32_t i = 0; i < all->list.len; i++) {
        if (i == 0 || by_resource(&all->list.data[i], &all->list.data[n - 1]) != 0) {
            all->list.data[n++] = all->list.data[i];
        }
    }
    all->list.len = n;
}

static int by_time(const void *a, const void *b)
{
    const change *x = a, *y = b;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time)
                              : (x->resource > y->resource) - (x->resource < y->resource);
}

/* The least of what the faults leave that are active at a time. */
static uint64_t left_at(const loss *list, uint32_t n, ovl_time time)
{
    uint64_t left = list->nominal;
    for (uint32_t i = 0; i < n; i++) {
        const ovl_hw_fault *f = list[i].fault;
        bool active = f->from <= time && (!f->has_until || time < f->until);
        left = active ? OVL_MIN(left, list[i].left) : left;
    }
    return left;
}

/* At each moment at which a fault of the resource begins or ends. */
static void change_resource(const loss *list, uint32_t n, losses *all)
{
    for (uint32_t i = 0; i < n; i++) {
        const ovl_hw_fault *f = list[i].fault;
        ovl_vec_push(&all->changes, (change){f->from, list->resource, left_at(list, n, f->from)});
        if (f->has_until) {
            ovl_vec_push(&all->changes,
                         (change){f->until, list->resource, left_at(list, n, f->until)});
        }
    }
}

void ovl_faults_links(ovl_lowering *l, const ovl_id *ports)
{
    losses all = {0};
    find_losses(l, ports, &all);
    tidy(&all);
    for (uint32_t i = 0, n; i < all.list.len; i += n) {
        for (n = 1;
             i + n < all.list.len && all.list.data[i + n].resource == all.list.data[i].resource;) {
            n++;
        }
        change_resource(&all.list.data[i], n, &all);
    }
    if (all.changes.len) {
        qsort(all.changes.data, all.changes.len, sizeof *all.changes.data, by_time);
    }
    for (uint32_t i = 0; i < all.changes.len; i++) {
        const change *c = &all.changes.data[i];
        ovl_change_capacity(l->b, c->resource, c->time, c->capacity);
    }
    ovl_vec_free(&all.list);
    ovl_vec_free(&all.changes);
}
