#include "models/plan_pipeline.h"

static ovl_part part_of(const ovl_action *a)
{
    return a->type == OVL_ACT_F   ? OVL_PART_FORWARD
           : a->type == OVL_ACT_I ? OVL_PART_INPUT
           : a->type == OVL_ACT_W ? OVL_PART_WEIGHT
                                  : OVL_PART_BACKWARD;
}

static ovl_times times_of(const ovl_pipe_stage *s, ovl_part part)
{
    return part == OVL_PART_FORWARD    ? s->forward
           : part == OVL_PART_BACKWARD ? s->backward
           : part == OVL_PART_INPUT    ? s->input
           : part == OVL_PART_WEIGHT   ? s->weight
                                       : s->pair;
}

uint64_t ovl_pipe_share(uint64_t whole, uint32_t k, uint32_t n)
{
    return whole / n + (k < whole % n);
}

/* --- As it is --- */

static ovl_time alone(const ovl_pipe_plan *p, const ovl_action *a)
{
    return ovl_pipe_time(times_of(ovl_pipe_stage_of(p, a->stage), part_of(a)), a->microbatch);
}

/* The two halves of a pair; a list may have them in any order. */
static const ovl_action *forward_of(const ovl_action *a)
{
    return a[0].type == OVL_ACT_F ? &a[0] : &a[1];
}

static const ovl_action *backward_of(const ovl_action *a)
{
    return a[0].type == OVL_ACT_F ? &a[1] : &a[0];
}

/* A list may join two of a kind, too: they run one after the other, which `overlapped` says nothing
 * about. */
static bool is_f_and_b(const ovl_action *a)
{
    return (a[0].type == OVL_ACT_F) != (a[1].type == OVL_ACT_F);
}

ovl_time ovl_pipe_length(const ovl_pipe_plan *p, const ovl_action *a)
{
    if (!a->joined) {
        return alone(p, a);
    }
    const ovl_action *f = forward_of(a), *b = backward_of(a);
    ovl_times pair = ovl_pipe_stage_of(p, f->stage)->pair;
    if (pair.count == 0 || !is_f_and_b(a)) {
        return alone(p, f) + alone(p, b); /* recomputation is in the backward */
    }
    const ovl_pipe_stage *other = ovl_pipe_stage_of(p, b->stage);
    return ovl_pipe_time(pair, f->microbatch) +
           (p->pipe->recompute ? ovl_pipe_time(other->forward, b->microbatch) : 0);
}

ovl_time ovl_pipe_length_on(const ovl_pipe_plan *p, const ovl_action *a, uint32_t machine)
{
    ovl_pipe_plan there = *p;
    there.stages = p->on[machine];
    return ovl_pipe_length(&there, a);
}

void ovl_pipe_pair_parts(const ovl_pipe_plan *p, const ovl_action *a, ovl_time *part,
                         ovl_time *whole)
{
    bool pair = a->joined && is_f_and_b(a);
    *part = pair ? alone(p, forward_of(a)) : 0;
    *whole = pair ? *part + alone(p, backward_of(a)) : 0;
}

const void *ovl_pipe_law(const ovl_pipe_plan *p, const ovl_action *a)
{
    return a->joined ? NULL : times_of(ovl_pipe_stage_of(p, a->stage), part_of(a)).law;
}

/* --- Like the mean --- */

void ovl_pipe_sum_add(ovl_pipe_sum *sum, ovl_time value)
{
    sum->first = sum->n ? sum->first : value;
    sum->beyond += value - sum->first;
    sum->n++;
}

ovl_time ovl_pipe_sum_mean(const ovl_pipe_sum *sum)
{
    return sum->n ? sum->first + sum->beyond / sum->n : 0;
}

static ovl_time mean(const ovl_pipe_plan *p, ovl_part part, uint32_t microbatch)
{
    return ovl_pipe_sum_mean(&p->sum[part][microbatch]);
}

/* All parts of a stage, once for each microbatch. Forwards of stages that give no `overlapped` are
 * summed apart, under OVL_PART_NONE. */
static void add_cell(ovl_pipe_plan *p, const ovl_action *a, uint32_t rank)
{
    const ovl_pipe_stage *s = ovl_pipe_stage_on(p, a->stage, rank);
    for (int part = OVL_PART_FORWARD; part < OVL_PART_COUNT; part++) {
        ovl_times times = times_of(s, (ovl_part)part);
        if (times.count) {
            ovl_time time = ovl_pipe_time(times, a->microbatch);
            ovl_pipe_sum_add(&p->sum[part][a->microbatch], ovl_plan_slowed(p->l, rank, time));
        }
    }
    if (s->pair.count == 0) {
        ovl_time time = ovl_pipe_time(s->forward, a->microbatch);
        ovl_pipe_sum_add(&p->sum[OVL_PART_NONE][a->microbatch], ovl_plan_slowed(p->l, rank, time));
    }
}

static void add_pipeline(ovl_pipe_plan *p, const uint32_t *members)
{
    for (uint32_t r = 0; r < p->p; r++) {
        const ovl_actions *row = &p->schedule.ranks[r];
        for (uint32_t i = 0; i < row->count; i++) {
            if (row->item[i].type == OVL_ACT_F) {
                add_cell(p, &row->item[i], members[r]);
            }
        }
    }
}

/* Pipelines differ only if some GPU is slow, or another one. */
void ovl_pipe_means_find(ovl_pipe_plan *p)
{
    for (int part = 0; part < OVL_PART_COUNT; part++) {
        p->sum[part] = OVL_NEW_ARRAY(&p->scratch, ovl_pipe_sum, p->schedule.n_microbatches);
    }
    bool differ = p->l->slowdown || p->on;
    for (uint32_t rank = 0; rank < (differ ? p->l->n_ranks : 1); rank++) {
        const uint32_t *members = ovl_pipe_members(p, rank);
        if (members[0] == rank || !differ) {
            add_pipeline(p, members);
        }
    }
}

/* Some stages may give `overlapped`, others not: each counts as it is. */
static ovl_time mean_pair(const ovl_pipe_plan *p, const ovl_action *f, const ovl_action *b)
{
    uint32_t given = p->sum[OVL_PART_PAIR][f->microbatch].n;
    uint32_t others = p->sum[OVL_PART_NONE][f->microbatch].n;
    ovl_time together = mean(p, OVL_PART_PAIR, f->microbatch);
    ovl_time apart = mean(p, OVL_PART_NONE, f->microbatch) + mean(p, part_of(b), b->microbatch);
    if (given == 0) {
        return apart;
    }
    together += p->pipe->recompute ? mean(p, OVL_PART_FORWARD, b->microbatch) : 0;
    return together + (apart - together) * others / ((ovl_time)given + others);
}

ovl_time ovl_pipe_mean(const ovl_pipe_plan *p, const ovl_action *a)
{
    ovl_time first = mean(p, part_of(a), a->microbatch);
    if (!a->joined) {
        return first;
    }
    return is_f_and_b(a) ? mean_pair(p, forward_of(a), backward_of(a))
                         : first + mean(p, part_of(&a[1]), a[1].microbatch);
}
