#include "models/schedule_lower.h"

/* One rank's list: what each action (or pair) gathers first and lets go behind it. */
typedef struct resharder {
    const ovl_actions *row;
    bool always;
    bool *there;    /* [n_stages] */
    bool *gathers;  /* [row->count] the stage of this action, before it */
    bool *lets_go;  /* [row->count] ... behind it */
    uint32_t *last; /* [n_stages] position of its last action */
} resharder;

static bool keeps(const resharder *x, const ovl_action *a, uint32_t at)
{
    return !x->always && a->type != OVL_ACT_F && at != x->last[a->stage];
}

/* In a pair of one stage the second half finds the parameters and lets them go. */
static void decide(resharder *x)
{
    for (uint32_t i = 0; i < x->row->count; i++) {
        if (x->row->item[i].type != OVL_ACT_NONE) {
            x->last[x->row->item[i].stage] = i;
        }
    }
    for (uint32_t i = 0; i < x->row->count; i++) {
        const ovl_action *a = &x->row->item[i];
        if (a->type == OVL_ACT_NONE) {
            continue;
        }
        x->gathers[i] = !x->there[a->stage];
        bool shared = a->joined && i + 1 < x->row->count && a[1].stage == a->stage;
        x->lets_go[i] = !shared && !keeps(x, a, i);
        x->there[a->stage] = !x->lets_go[i];
    }
}

/* Actions from `at` that run together; blanks are one alone. */
static uint32_t unit_of(const ovl_actions *row, uint32_t at)
{
    return at < row->count && row->item[at].joined ? 2 : 1;
}

static uint32_t skip_blanks(const ovl_actions *row, uint32_t at)
{
    while (at < row->count && row->item[at].type == OVL_ACT_NONE) {
        at++;
    }
    return at;
}

static void put_gathers(const resharder *x, uint32_t at, ovl_action_list *list)
{
    for (uint32_t k = at; k < at + unit_of(x->row, at) && k < x->row->count; k++) {
        if (x->gathers[k]) {
            ovl_put(list, OVL_ACT_UNSHARD, x->row->item[k].stage, OVL_NONE);
        }
    }
}

static void write_row(const resharder *x, bool ahead, ovl_action_list *list)
{
    uint32_t at = skip_blanks(x->row, 0);
    if (ahead) {
        put_gathers(x, at, list);
    }
    while (at < x->row->count) {
        uint32_t n = unit_of(x->row, at), next = skip_blanks(x->row, at + n);
        put_gathers(x, ahead ? next : at, list);
        for (uint32_t k = at; k < at + n; k++) {
            ovl_vec_push(list, x->row->item[k]);
        }
        for (uint32_t k = at; k < at + n; k++) {
            if (x->lets_go[k]) {
                ovl_put(list, OVL_ACT_RESHARD, x->row->item[k].stage, OVL_NONE);
            }
        }
        at = next;
    }
}

void ovl_schedule_reshard(const ovl_schedule *in, bool always, bool ahead, ovl_schedule *out,
                          ovl_arena *arena)
{
    const ovl_schedule from = *in; /* `in` may be `out` */
    ovl_actions *ranks = OVL_NEW_ARRAY(arena, ovl_actions, from.n_ranks);
    for (uint32_t r = 0; r < from.n_ranks; r++) {
        ovl_arena scratch = {0};
        ovl_action_list list = {0};
        const ovl_actions *row = &from.ranks[r];
        resharder x = {.row = row,
                       .always = always,
                       .there = OVL_NEW_ARRAY(&scratch, bool, from.n_stages),
                       .gathers = OVL_NEW_ARRAY(&scratch, bool, row->count),
                       .lets_go = OVL_NEW_ARRAY(&scratch, bool, row->count),
                       .last = OVL_NEW_ARRAY(&scratch, uint32_t, from.n_stages)};
        decide(&x);
        write_row(&x, ahead, &list);
        ranks[r].count = list.len;
        ranks[r].item = ovl_vec_freeze(&list, arena);
        ovl_arena_free(&scratch);
    }
    *out = from;
    out->ranks = ranks;
    out->places = NULL;
}
