/*
 * plan_pipeline_copies.c - who has gradients in common, in a pipeline.
 *
 * All ranks of a data-parallel group have the same stages. With two copies of the model (DualPipe)
 * a stage is at two places of each pipeline, whose microbatches are different ones; places that
 * hold the same two stages are partners, and their groups are one.
 *
 * Example, 4 places and dp 2: places 0 and 3 both hold stages 0 and 3. Their gradients are summed
 * over 4 ranks: dp 2 times 2 copies, each over half of the microbatches.
 */
#include "models/expert.h"
#include "models/plan_pipeline_code.h"

uint32_t ovl_pipe_averaged(const ovl_pipe_plan *p)
{
    return p->microbatches / p->schedule.n_chains;
}

bool ovl_pipe_holds(const ovl_pipe_plan *p, uint32_t stage, uint32_t place)
{
    const ovl_schedule *s = &p->schedule;
    bool holds = false;
    for (uint32_t k = stage; k < s->n_stages; k += p->n_stages) {
        holds |= s->rank_of[k] == place;
    }
    return holds;
}

/* The place of each rank in its pipeline. */
static uint32_t *find_places(const ovl_pipe_plan *p)
{
    uint32_t *place = OVL_NEW_ARRAY(p->l->arena, uint32_t, p->l->n_ranks);
    for (uint32_t rank = 0; rank < p->l->n_ranks; rank++) {
        const uint32_t *members = ovl_pipe_members(p, rank);
        for (uint32_t k = 0; k < p->p; k++) {
            place[members[k]] = k;
        }
    }
    return place;
}

bool ovl_pipe_data_places(ovl_pipe_plan *p, const ovl_group *group, ovl_mark mark)
{
    ovl_lowering *l = p->l;
    const uint32_t *place = find_places(p);
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ovl_id id = group->comm_of[rank];
        if (id == OVL_NONE) {
            ovl_error(l->errs, OVL_E_INPUT, mark,
                      "rank %" PRIu32 " is in no communicator of group \"%s\"", rank, group->name);
            return false;
        }
        const ovl_comm *comm = &l->b->comms.data[id];
        for (uint32_t k = 0; k < comm->n_members; k++) {
            uint32_t other = l->b->members.data[comm->first_member + k];
            if (place[other] != place[rank]) {
                ovl_error(l->errs, OVL_E_INPUT, mark,
                          "ranks %" PRIu32 " and %" PRIu32 " of group \"%s\" have different stages "
                          "of the pipeline: they have no gradients in common",
                          rank, other, group->name);
                return false;
            }
        }
    }
    return true;
}

/* --- Two copies --- */

/* The place that holds the other copies of what each place holds; false: no one place does. */
static bool find_partners(const ovl_pipe_plan *p, uint32_t *partner)
{
    const ovl_schedule *s = &p->schedule;
    memset(partner, 0xff, p->p * sizeof *partner); /* OVL_NONE */
    for (uint32_t k = 0; k < s->n_stages; k++) {
        uint32_t place = s->rank_of[k], other = s->rank_of[(k + p->n_stages) % s->n_stages];
        if (other == place || (partner[place] != OVL_NONE && partner[place] != other)) {
            return false;
        }
        partner[place] = other;
    }
    return true;
}

/* The same of ranks: partners are in one pipeline. */
static uint32_t *partner_ranks(const ovl_pipe_plan *p, const uint32_t *partner)
{
    uint32_t *of = OVL_NEW_ARRAY(p->l->arena, uint32_t, p->l->n_ranks);
    for (uint32_t rank = 0; rank < p->l->n_ranks; rank++) {
        const uint32_t *members = ovl_pipe_members(p, rank);
        for (uint32_t k = 0; k < p->p; k++) {
            of[members[k]] = members[partner[k]];
        }
    }
    return of;
}

/* Whether the partners of all members of a communicator are in one communicator. */
static bool pair_up(const ovl_lowering *l, const ovl_group *group, const uint32_t *of)
{
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        const ovl_comm *comm = &l->b->comms.data[group->comm_of[rank]];
        uint32_t first = l->b->members.data[comm->first_member];
        if (group->comm_of[of[rank]] != group->comm_of[of[first]]) {
            return false;
        }
    }
    return true;
}

const ovl_group *ovl_pipe_data_group(ovl_pipe_plan *p, const ovl_group *group, ovl_mark mark)
{
    if (!ovl_pipe_data_places(p, group, mark)) {
        return NULL;
    }
    if (p->schedule.n_chains == 1) {
        return group;
    }
    uint32_t *partner = OVL_NEW_ARRAY(p->l->arena, uint32_t, p->p);
    const uint32_t *of = find_partners(p, partner) ? partner_ranks(p, partner) : NULL;
    if (!of || !pair_up(p->l, group, of)) {
        ovl_error(p->l->errs, OVL_E_INPUT, mark,
                  "the two copies of the model do not lie on pairs of places that hold the same "
                  "stages: group \"%s\" cannot reduce over both",
                  group->name);
        return NULL;
    }
    return ovl_plan_paired(p->l, group, of);
}

bool ovl_pipe_data_groups(ovl_pipe_plan *p, const char *name, ovl_mark mark)
{
    const ovl_group *dense = ovl_plan_group(p->l, name, mark), *experts = NULL;
    if (dense && p->workload->model.moe.given) {
        experts = ovl_expert_group(p->l, dense, mark);
        p->data[1] = experts ? ovl_pipe_data_group(p, experts, mark) : NULL;
    }
    p->data[0] = dense ? ovl_pipe_data_group(p, dense, mark) : NULL;
    return p->data[0] && (!p->workload->model.moe.given || p->data[1]);
}
