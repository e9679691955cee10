#include "models/plan_pipeline.h"

#include "models/schedule_lower.h"

/* --- Costs --- */

bool ovl_pipe_transfer(ovl_pipe_plan *p, const ovl_pipe_stage *stage, const ovl_spread *spread,
                       ovl_plan_cost *cost)
{
    static ovl_time nothing = 0;
    const ovl_pipeline *pipe = p->pipe;
    ovl_lowering *l = p->l;
    ovl_comm_spec spec = {.name = "send_recv",
                          .mark = pipe->mark,
                          .op = OVL_SEND_RECV,
                          .group = p->group->name,
                          .n = 2,
                          .spread = spread,
                          .has_bytes = stage->has_transfer,
                          .bytes = stage->transfer,
                          .has_alpha = pipe->has_alpha,
                          .has_beta = pipe->has_beta,
                          .alpha = pipe->alpha,
                          .beta = pipe->beta,
                          .via = pipe->via};
    bool own = spec.has_alpha || spec.has_beta;
    if (!own && !ovl_find_collective(l->hw, OVL_SEND_RECV, spec.group, NULL)) {
        spec.duration = (ovl_times){.item = &nothing, .count = 1};
        ovl_plan_say(l,
                     "Transfers between stages take no time: neither the pipeline gives alpha or "
                     "beta, nor the hardware an entry for send_recv.");
    } else if (!spec.has_bytes && (!own || spec.has_beta)) {
        ovl_error(l->errs, OVL_E_INPUT, stage->mark,
                  "\"%s\" does not say how many bytes it transfers to the next stage", stage->name);
        return false;
    }
    *cost = ovl_plan_comm(l, &spec);
    return cost->id != OVL_NONE;
}

/* --- Channels --- */

/* Communicators of two ranks in every pipeline, the sender first. */
static const ovl_group *pair_group(ovl_pipe_plan *p, uint32_t from, uint32_t to, const char *name)
{
    ovl_lowering *l = p->l;
    ovl_group *group = OVL_NEW(l->arena, ovl_group);
    ovl_id *comm_of = OVL_NEW_ARRAY(l->arena, ovl_id, l->n_ranks);
    memset(comm_of, 0xff, l->n_ranks * sizeof *comm_of); /* OVL_NONE */
    *group = (ovl_group){.name = name, .mark = p->pipe->mark, .comm_of = comm_of};
    ovl_id text = ovl_name(l->b, name);
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        const ovl_comm *whole = &l->b->comms.data[p->group->comm_of[rank]];
        const uint32_t *members = &l->b->members.data[whole->first_member];
        if (members[from] == rank) {
            uint32_t two[2] = {rank, members[to]};
            comm_of[two[0]] = comm_of[two[1]] = ovl_add_comm(l->b, text, two, 2);
        }
    }
    return group;
}

/* An own communicator for a channel, and streams of its name. */
static void set_apart(ovl_pipe_plan *p, ovl_pipe_channel *c, const char *name)
{
    c->group = pair_group(p, c->from, c->to, name);
    c->place_from = 0;
    c->place_to = 1;
    c->stream_from = c->stream_to = name;
}

static uint32_t find_channel(const ovl_pipe_plan *p, uint32_t from, uint32_t to)
{
    uint32_t k = p->first_channel[from];
    while (k != OVL_NONE && p->channels.data[k].to != to) {
        k = p->channels.data[k].next;
    }
    return k;
}

/* The channel from one stage to the next: its own, or that of the two ranks. */
static uint32_t channel_of(ovl_pipe_plan *p, uint32_t stage, uint32_t next)
{
    uint32_t from = p->schedule.rank_of[stage], to = p->schedule.rank_of[next];
    bool apart = p->pipe->communicators == OVL_PIPE_STAGES;
    uint32_t known = apart ? OVL_NONE : find_channel(p, from, to);
    if (known != OVL_NONE) {
        return known;
    }
    ovl_pipe_channel c = {.group = p->group,
                          .from = from,
                          .to = to,
                          .place_from = from,
                          .place_to = to,
                          .stream_from = "comm",
                          .stream_to = "comm",
                          .next = p->first_channel[from]};
    if (apart) {
        set_apart(p, &c,
                  ovl_arena_printf(p->l->arena, "stage %" PRIu32 " to %" PRIu32, stage, next));
    } else if (p->pipe->communicators == OVL_PIPE_RANKS) {
        set_apart(
            p, &c,
            ovl_arena_printf(p->l->arena, "%s %" PRIu32 " to %" PRIu32, p->group->name, from, to));
    }
    p->first_channel[from] = p->channels.len;
    ovl_vec_push(&p->channels, c);
    return p->channels.len - 1;
}

/* The gradient of a transfer has its bytes. */
static void make_edge(ovl_pipe_plan *p, uint32_t stage, uint32_t next, ovl_pipe_edge *edge)
{
    if (p->schedule.rank_of[stage] != p->schedule.rank_of[next]) {
        edge->giver = OVL_MIN(stage, next);
        edge->bytes = ovl_pipe_stage_of(p, edge->giver)->transfer;
        edge->channel = channel_of(p, stage, next);
    }
}

static bool cost_edge(ovl_pipe_plan *p, ovl_pipe_edge *edge)
{
    if (edge->channel == OVL_NONE) {
        return true;
    }
    const ovl_pipe_channel *c = &p->channels.data[edge->channel];
    const ovl_spread *spread = ovl_pipe_spread(p, p->place_rank, c->from, c->to);
    return ovl_pipe_transfer(p, ovl_pipe_stage_of(p, edge->giver), spread, &edge->cost);
}

/* For `ovl check`: hops that cost the same are told once. */
static void note_hop(ovl_pipe_plan *p, uint32_t stage, uint32_t count)
{
    const ovl_pipe_edge *edge = &p->forward[stage];
    const ovl_pipe_channel *c = &p->channels.data[edge->channel];
    const ovl_cost *cost = &p->l->b->costs.data[edge->cost.id];
    ovl_hop_line hop = {.stage = stage,
                        .from = p->place_rank[c->from],
                        .to = p->place_rank[c->to],
                        .bytes = edge->bytes,
                        .latency = cost->latency,
                        .transfer = cost->work,
                        .count = count};
    hop.several_nodes = ovl_plan_node(p->l, hop.from) != ovl_plan_node(p->l, hop.to);
    for (uint32_t i = 0; i < p->l->hops.len; i++) {
        ovl_hop_line *old = &p->l->hops.data[i];
        if (old->several_nodes == hop.several_nodes && old->bytes == hop.bytes &&
            old->latency == hop.latency && old->transfer == hop.transfer) {
            old->count += count;
            return;
        }
    }
    if (p->l->hops.len < OVL_HOP_LINES) {
        ovl_vec_push(&p->l->hops, hop);
    }
}

bool ovl_pipe_lay_out(ovl_pipe_plan *p, uint32_t layout)
{
    p->place_rank = p->layouts.data[layout].ranks;
    for (uint32_t k = 0; k < p->schedule.n_stages; k++) {
        if (!cost_edge(p, &p->forward[k]) || !cost_edge(p, &p->backward[k])) {
            return false;
        }
        if (p->forward[k].channel != OVL_NONE) {
            note_hop(p, k, p->layouts.data[layout].count);
        }
    }
    return true;
}

/* Each communicator apart is known by every rank. */
static bool check_channels(ovl_pipe_plan *p)
{
    const uint64_t most = 1u << 27;
    uint64_t n = 2 * (uint64_t)p->schedule.n_stages;
    if (p->pipe->communicators != OVL_PIPE_ONE && n * p->l->n_ranks > most) {
        ovl_error(p->l->errs, OVL_E_INPUT, p->pipe->mark,
                  "up to %" PRIu64 " communicators for each of %" PRIu32
                  " ranks are too many; take communicators: one",
                  n, p->l->n_ranks);
        return false;
    }
    return true;
}

static bool make_edges(ovl_pipe_plan *p)
{
    const ovl_schedule *s = &p->schedule;
    bool ok = check_channels(p);
    p->forward = OVL_NEW_ARRAY(&p->scratch, ovl_pipe_edge, s->n_stages);
    p->backward = OVL_NEW_ARRAY(&p->scratch, ovl_pipe_edge, s->n_stages);
    p->first_channel = OVL_NEW_ARRAY(&p->scratch, uint32_t, p->p);
    memset(p->first_channel, 0xff, p->p * sizeof *p->first_channel); /* OVL_NONE */
    for (uint32_t k = 0; k < s->n_stages && ok; k++) {
        p->forward[k].channel = p->backward[k].channel = OVL_NONE;
        if (!ovl_schedule_last(s, k)) {
            make_edge(p, k, k + 1, &p->forward[k]);
        }
        if (!ovl_schedule_first(s, k)) {
            make_edge(p, k, k - 1, &p->backward[k]);
        }
    }
    return ok;
}

static const ovl_pipe_edge *across(const ovl_pipe_edge *edge)
{
    return edge->channel == OVL_NONE ? NULL : edge;
}

const ovl_pipe_edge *ovl_pipe_edge_in(const ovl_pipe_plan *p, const ovl_action *a)
{
    bool forward = a->type == OVL_ACT_F || a->type == OVL_ACT_RECV_F;
    bool backward = a->type == OVL_ACT_I || a->type == OVL_ACT_B || a->type == OVL_ACT_RECV_B;
    if (forward && !ovl_schedule_first(&p->schedule, a->stage)) {
        return across(&p->forward[a->stage - 1]);
    }
    if (backward && !ovl_schedule_last(&p->schedule, a->stage)) {
        return across(&p->backward[a->stage + 1]);
    }
    return NULL;
}

const ovl_pipe_edge *ovl_pipe_edge_out(const ovl_pipe_plan *p, const ovl_action *a)
{
    if (a->type == OVL_ACT_F || a->type == OVL_ACT_SEND_F) {
        return across(&p->forward[a->stage]);
    }
    bool backward = a->type == OVL_ACT_I || a->type == OVL_ACT_B || a->type == OVL_ACT_SEND_B;
    return backward ? across(&p->backward[a->stage]) : NULL;
}

/* --- Where sends and receives stand --- */

/* Receives right before what needs them, sends right after what makes them. */
static void place_late(const ovl_pipe_plan *p, const ovl_actions *row, ovl_action_list *list)
{
    for (uint32_t i = 0; i < row->count;) {
        const ovl_action *a = &row->item[i];
        uint32_t n = a->joined ? 2 : 1;
        for (uint32_t k = 0; k < n; k++) {
            if (ovl_pipe_edge_in(p, &a[k])) {
                ovl_put(list, a[k].type == OVL_ACT_F ? OVL_ACT_RECV_F : OVL_ACT_RECV_B, a[k].stage,
                        a[k].microbatch);
            }
        }
        for (uint32_t k = 0; k < n; k++) {
            ovl_vec_push(list, a[k]);
        }
        for (uint32_t k = 0; k < n; k++) {
            if (ovl_pipe_edge_out(p, &a[k])) {
                ovl_put(list, a[k].type == OVL_ACT_F ? OVL_ACT_SEND_F : OVL_ACT_SEND_B, a[k].stage,
                        a[k].microbatch);
            }
        }
        i += n;
    }
}

bool ovl_pipe_place(ovl_pipe_plan *p, const ovl_schedule *from, bool early, ovl_schedule *to,
                    ovl_errs *errs)
{
    if (early) {
        return ovl_schedule_send_recv(from, to, p->pipe->schedule_mark, &p->scratch, errs);
    }
    *to = *from;
    to->places = NULL;
    to->ranks = OVL_NEW_ARRAY(&p->scratch, ovl_actions, from->n_ranks);
    for (uint32_t r = 0; r < from->n_ranks; r++) {
        ovl_action_list list = {0};
        place_late(p, &from->ranks[r], &list);
        to->ranks[r].count = list.len;
        to->ranks[r].item = ovl_vec_freeze(&list, &p->scratch);
    }
    return true;
}

bool ovl_pipe_comms(ovl_pipe_plan *p)
{
    if (!make_edges(p)) {
        return false;
    }
    ovl_schedule before = p->schedule; /* its lists stay */
    if (ovl_schedule_has(&before, OVL_ACT_SEND_F, OVL_ACT_RECV_B)) {
        return ovl_pipe_check_order(p, NULL); /* the list says it itself */
    }
    return ovl_pipe_place(p, &before, p->pipe->receives == OVL_PIPE_EARLY, &p->schedule,
                          p->l->errs) &&
           ovl_pipe_check_order(p, &before);
}
