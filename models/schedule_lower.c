#include "models/schedule_lower.h"

/* --- Passes over one rank --- */

static ovl_schedule like(const ovl_schedule *in, ovl_arena *arena)
{
    ovl_schedule out = *in;
    out.places = NULL;
    out.ranks = OVL_NEW_ARRAY(arena, ovl_actions, in->n_ranks);
    return out;
}

static void close_row(ovl_schedule *out, uint32_t rank, ovl_action_list *list, ovl_arena *arena)
{
    out->ranks[rank].count = list->len;
    out->ranks[rank].item = ovl_vec_freeze(list, arena);
}

void ovl_schedule_merge(const ovl_schedule *in, ovl_schedule *out, ovl_arena *arena)
{
    const ovl_schedule from = *in; /* `in` may be `out` */
    *out = like(&from, arena);
    for (uint32_t r = 0; r < from.n_ranks; r++) {
        ovl_action_list list = {0};
        for (uint32_t i = 0; i < from.ranks[r].count; i++) {
            ovl_action a = from.ranks[r].item[i];
            ovl_action *last = list.len ? &list.data[list.len - 1] : NULL;
            if (a.type == OVL_ACT_W && last && last->type == OVL_ACT_I && last->stage == a.stage &&
                last->microbatch == a.microbatch && !last->joined) {
                last->type = OVL_ACT_B;
            } else if (a.type != OVL_ACT_NONE) {
                ovl_vec_push(&list, a);
            }
        }
        close_row(out, r, &list, arena);
    }
}

/* In an overlapped pair the reduction follows the pair. */
void ovl_schedule_reduce_grad(const ovl_schedule *in, ovl_schedule *out, ovl_arena *arena)
{
    const ovl_schedule from = *in; /* `in` may be `out` */
    ovl_arena scratch = {0};
    uint32_t *left = OVL_NEW_ARRAY(&scratch, uint32_t, from.n_stages);
    for (uint32_t s = 0; s < from.n_stages; s++) {
        left[s] = from.n_microbatches / from.n_chains;
    }
    *out = like(&from, arena);
    for (uint32_t r = 0; r < from.n_ranks; r++) {
        ovl_action_list list = {0}, due = {0};
        for (uint32_t i = 0; i < from.ranks[r].count; i++) {
            ovl_action a = from.ranks[r].item[i];
            if (a.type == OVL_ACT_NONE) {
                continue;
            }
            ovl_vec_push(&list, a);
            if ((a.type == OVL_ACT_B || a.type == OVL_ACT_W) && --left[a.stage] == 0) {
                ovl_put(&due, OVL_ACT_REDUCE_GRAD, a.stage, OVL_NONE);
            }
            for (uint32_t k = 0; !a.joined && k < due.len; k++) {
                ovl_vec_push(&list, due.data[k]);
            }
            due.len = a.joined ? due.len : 0;
        }
        close_row(out, r, &list, arena);
        ovl_vec_free(&due);
    }
    ovl_arena_free(&scratch);
}

/* --- Unshard --- */

/* The stages of one rank: when each is used next, and whether it is there. */
typedef struct shards {
    const ovl_actions *row;
    uint32_t n, active;
    uint32_t *stage;    /* [n] ascending */
    uint32_t *next_use; /* [n] position of its next action; row->count: none */
    uint32_t *follow;   /* [row->count] position of the next action of the same stage */
    bool *there;        /* [n] */
    uint32_t *order;    /* [n] scratch: those wanted, by next use */
} shards;

static uint32_t place_of(const shards *x, uint32_t stage)
{
    uint32_t k = 0;
    while (x->stage[k] != stage) {
        k++;
    }
    return k;
}

static void find_stages(shards *x, uint32_t n_stages, ovl_arena *scratch)
{
    bool *used = OVL_NEW_ARRAY(scratch, bool, n_stages);
    for (uint32_t i = 0; i < x->row->count; i++) {
        used[x->row->item[i].stage] |= x->row->item[i].type != OVL_ACT_NONE;
    }
    x->stage = OVL_NEW_ARRAY(scratch, uint32_t, n_stages);
    for (uint32_t s = 0; s < n_stages; s++) {
        if (used[s]) {
            x->stage[x->n++] = s;
        }
    }
    x->next_use = OVL_NEW_ARRAY(scratch, uint32_t, x->n);
    x->order = OVL_NEW_ARRAY(scratch, uint32_t, x->n);
    x->there = OVL_NEW_ARRAY(scratch, bool, x->n);
    x->follow = OVL_NEW_ARRAY(scratch, uint32_t, x->row->count);
    for (uint32_t k = 0; k < x->n; k++) {
        x->next_use[k] = x->row->count;
    }
    for (uint32_t i = x->row->count; i-- > 0;) {
        if (x->row->item[i].type != OVL_ACT_NONE) {
            uint32_t k = place_of(x, x->row->item[i].stage);
            x->follow[i] = x->next_use[k];
            x->next_use[k] = i;
        }
    }
}

/* The next stages in order of use. PyTorch looks at both actions of a pair before it stops
 * counting, so a pair may bring one stage more. */
static uint32_t wanted(shards *x)
{
    uint32_t n = 0, most = 0;
    for (uint32_t k = 0; k < x->n; k++) {
        uint32_t use = x->next_use[k];
        if (use == x->row->count) {
            continue;
        }
        uint32_t at = n++;
        for (; at > 0 && x->next_use[x->order[at - 1]] > use; at--) {
            x->order[at] = x->order[at - 1];
        }
        x->order[at] = k;
    }
    most = OVL_MIN(n, x->active);
    if (most < n) {
        uint32_t last = x->next_use[x->order[most - 1]];
        most += x->row->item[last].joined && x->next_use[x->order[most]] == last + 1;
    }
    return most;
}

static bool in_first(const uint32_t *list, uint32_t n, uint32_t value)
{
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] == value) {
            return true;
        }
    }
    return false;
}

static void exchange(shards *x, ovl_action_list *list)
{
    uint32_t n = wanted(x);
    for (uint32_t k = 0; k < x->n; k++) {
        if (x->there[k] && !in_first(x->order, n, k)) {
            ovl_put(list, OVL_ACT_RESHARD, x->stage[k], OVL_NONE);
            x->there[k] = false;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!x->there[x->order[i]]) {
            ovl_put(list, OVL_ACT_UNSHARD, x->stage[x->order[i]], OVL_NONE);
            x->there[x->order[i]] = true;
        }
    }
}

static void unshard_row(shards *x, ovl_action_list *list)
{
    bool inside = false; /* of a pair */
    for (uint32_t i = 0; i < x->row->count; i++) {
        ovl_action a = x->row->item[i];
        if (a.type == OVL_ACT_NONE) {
            continue;
        }
        if (!inside) {
            exchange(x, list);
        }
        inside = a.joined;
        ovl_vec_push(list, a);
        x->next_use[place_of(x, a.stage)] = x->follow[i];
    }
    for (uint32_t k = 0; k < x->n; k++) {
        if (x->there[k]) {
            ovl_put(list, OVL_ACT_RESHARD, x->stage[k], OVL_NONE);
        }
    }
}

void ovl_schedule_unshard(const ovl_schedule *in, uint32_t active, ovl_schedule *out,
                          ovl_arena *arena)
{
    const ovl_schedule from = *in;
    *out = like(&from, arena);
    for (uint32_t r = 0; r < from.n_ranks; r++) {
        ovl_arena scratch = {0};
        ovl_action_list list = {0};
        shards x = {.row = &from.ranks[r], .active = OVL_MAX(active, 1)};
        find_stages(&x, from.n_stages, &scratch);
        unshard_row(&x, &list);
        close_row(out, r, &list, arena);
        ovl_arena_free(&scratch);
    }
}

/* --- Data parallelism --- */

bool ovl_schedule_has(const ovl_schedule *s, ovl_action_type first, ovl_action_type last)
{
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        for (uint32_t i = 0; i < s->ranks[r].count; i++) {
            unsigned type = s->ranks[r].item[i].type;
            if (type >= (unsigned)first && type <= (unsigned)last) {
                return true;
            }
        }
    }
    return false;
}

void ovl_schedule_add_data(ovl_schedule *s, const ovl_schedule_shards *how, ovl_arena *arena)
{
    if (how->sharded && !ovl_schedule_has(s, OVL_ACT_UNSHARD, OVL_ACT_UNSHARD)) {
        if (how->reshard == OVL_RESHARD_WINDOW) {
            ovl_schedule_unshard(s, (uint32_t)how->active, s, arena);
        } else {
            ovl_schedule_reshard(s, how->reshard == OVL_RESHARD_ALWAYS, how->ahead, s, arena);
        }
    }
    if (!ovl_schedule_has(s, OVL_ACT_REDUCE_GRAD, OVL_ACT_REDUCE_GRAD)) {
        ovl_schedule_reduce_grad(s, s, arena);
    }
}
