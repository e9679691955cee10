/*
 * follow.c - on which clock the activities of a class run: that of all who follow one resource with
 * one weight and one cap, or that of the class.
 *
 * Whoever has the same weight, cap and resource has the same rate, to the bit: a change of the
 * resource's level is told to one clock, whoever many run on it. Example: 40 flows of 10 classes
 * leave a node through one NIC that bounds them all. One more comes: the NIC's level falls, one
 * clock is slowed, and the next end is looked for once.
 */
#include "sim/state.h"

/* --- Paces --- */

static ovl_pace *find_pace(const ovl_engine *e, uint32_t resource, double weight, double cap)
{
    for (uint32_t i = e->first_pace[resource]; i != OVL_NONE; i = e->paces.data[i].next) {
        if (e->paces.data[i].weight == weight && e->paces.data[i].cap == cap) {
            return &e->paces.data[i];
        }
    }
    return NULL;
}

static double rate_of(const ovl_pace *pace, double level)
{
    return ovl_exact_rate(OVL_MIN(pace->cap, pace->weight * level));
}

static ovl_pace *add_pace(ovl_engine *e, uint32_t resource, double weight, double cap)
{
    if (e->spare_paces.len == 0) {
        ovl_vec_push(&e->spare_paces, e->paces.len);
        ovl_vec_push(&e->paces, (ovl_pace){0});
    }
    uint32_t at = e->spare_paces.data[--e->spare_paces.len];
    ovl_pace *pace = &e->paces.data[at];
    *pace = (ovl_pace){.weight = weight,
                       .cap = cap,
                       .clock = ovl_share_reserve(&e->share),
                       .next = e->first_pace[resource]};
    e->first_pace[resource] = at;
    ovl_clock_reserve(e, pace->clock);
    ovl_clock_set_bound(e, pace->clock, resource);
    ovl_clock_set_rate(e, pace->clock, rate_of(pace, e->share.resources[resource].level));
    return pace;
}

static void attach(ovl_engine *e, uint32_t slot, uint32_t resource)
{
    ovl_crew *crew = &e->crews.data[slot];
    crew->follows = resource;
    crew->clock = slot;
    if (resource != OVL_NONE) {
        double weight = e->share.classes.data[slot].weight, cap = e->share.classes.data[slot].cap;
        ovl_pace *pace = find_pace(e, resource, weight, cap);
        if (!pace) {
            pace = add_pace(e, resource, weight, cap);
        }
        pace->classes++;
        e->crews.data[slot].clock = pace->clock;
    }
}

/* Its clock is given back when it was the last. */
static void detach(ovl_engine *e, uint32_t slot)
{
    ovl_crew *crew = &e->crews.data[slot];
    if (crew->follows == OVL_NONE) {
        return;
    }
    uint32_t *link = &e->first_pace[crew->follows];
    while (e->paces.data[*link].clock != crew->clock) {
        link = &e->paces.data[*link].next;
    }
    ovl_pace *pace = &e->paces.data[*link];
    if (--pace->classes == 0) {
        ovl_share_release(&e->share, pace->clock);
        ovl_vec_push(&e->spare_paces, *link);
        *link = pace->next;
    }
    crew->follows = OVL_NONE;
    crew->clock = slot;
}

/* --- Who is in a class --- */

void ovl_crew_enlist(ovl_engine *e, uint32_t activity)
{
    ovl_activity *a = &e->activities.data[activity];
    ovl_clock_reserve(e, a->slot);
    ovl_crew *crew = &e->crews.data[a->slot];
    a->next = crew->first;
    a->prev = OVL_NONE;
    if (crew->first != OVL_NONE) {
        e->activities.data[crew->first].prev = activity;
    }
    crew->first = activity;
}

void ovl_crew_delist(ovl_engine *e, uint32_t activity)
{
    const ovl_activity *a = &e->activities.data[activity];
    if (a->next != OVL_NONE) {
        e->activities.data[a->next].prev = a->prev;
    }
    if (a->prev != OVL_NONE) {
        e->activities.data[a->prev].next = a->next;
        return;
    }
    e->crews.data[a->slot].first = a->next;
    if (a->next == OVL_NONE) {
        detach(e, a->slot);
    }
}

/* --- What was solved --- */

/* From one clock to another; who is to be put on one in any case waits. */
static void move_crew(ovl_engine *e, uint32_t slot)
{
    uint32_t to = e->crews.data[slot].clock;
    for (uint32_t i = e->crews.data[slot].first; i != OVL_NONE; i = e->activities.data[i].next) {
        if (e->activities.data[i].clock != OVL_NONE) {
            ovl_account_activity(e, i);
            ovl_clock_remove(e, i);
            ovl_clock_add(e, to, i);
        }
    }
}

static void change_class(ovl_engine *e, uint32_t slot)
{
    const ovl_share_class *c = &e->share.classes.data[slot];
    uint32_t follows = c->follows, bound = c->bound == OVL_BOUND_NONE ? OVL_BOUND_FREE : c->bound;
    double rate = c->rate;
    if (c->count == 0) {
        return;
    }
    if (e->crews.data[slot].follows != follows) {
        detach(e, slot);
        attach(e, slot, follows);
        move_crew(e, slot);
    }
    if (follows == OVL_NONE) {
        ovl_clock_set_rate(e, slot, rate);
        ovl_clock_set_bound(e, slot, bound);
    }
}

static void change_level(ovl_engine *e, uint32_t resource)
{
    double level = e->share.resources[resource].level;
    for (uint32_t i = e->first_pace[resource]; i != OVL_NONE; i = e->paces.data[i].next) {
        const ovl_pace *pace = &e->paces.data[i];
        ovl_clock_set_rate(e, pace->clock, rate_of(pace, level));
    }
}

void ovl_crews_follow(ovl_engine *e)
{
    const ovl_share *s = &e->share;
    for (uint32_t i = 0; i < s->changed.len; i++) {
        change_class(e, s->changed.data[i]);
    }
    for (uint32_t i = 0; i < s->relevelled.len; i++) {
        change_level(e, s->relevelled.data[i]);
    }
    for (uint32_t i = 0; i < e->joining.len; i++) {
        ovl_activity *a = &e->activities.data[e->joining.data[i]];
        if (a->joining) {
            a->joining = false;
            ovl_clock_add(e, e->crews.data[a->slot].clock, e->joining.data[i]);
        }
    }
    e->joining.len = 0;
}
