#include "models/plan_ops.h"

const char *ovl_ops_peer(ovl_ops *o, const ovl_entry *entry, uint32_t binding, uint32_t n,
                         ovl_peer *peer)
{
    const ovl_xop *op = entry->op;
    int64_t place = 0;
    peer->text = ovl_ops_text(o, entry->kind == OVL_SEND ? op->to : op->from, binding, op->mark);
    peer->relative = *peer->text == '+' || *peer->text == '-';
    const char *wrong = ovl_read_count(peer->text + peer->relative, &place);
    if (!wrong && place < 0) {
        wrong = "a member is a place in the group, such as 3, or an offset, such as +1";
    }
    if (!wrong && (peer->relative ? place % n == 0 : place >= n)) {
        wrong = peer->relative ? "a member cannot exchange with itself"
                               : "the group has no such member";
    }
    if (!wrong) {
        place = peer->relative ? place % n : place;
        peer->place = (int32_t)(*peer->text == '-' ? -place : place);
    }
    return wrong;
}

/* [n_ranks] the place of each rank in its communicator of the group. */
static const uint32_t *places_of(ovl_ops *o, const ovl_group *group)
{
    ovl_lowering *l = o->l;
    const uint32_t **known = &o->places[group - l->groups];
    if (!*known) {
        uint32_t *places = OVL_NEW_ARRAY(&o->scratch, uint32_t, l->n_ranks);
        for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
            ovl_id id = group->comm_of[rank];
            const ovl_comm *comm = id == OVL_NONE ? NULL : &l->b->comms.data[id];
            const uint32_t *members = comm ? &l->b->members.data[comm->first_member] : NULL;
            for (uint32_t i = 0; members && members[0] == rank && i < comm->n_members; i++) {
                places[members[i]] = i;
            }
        }
        *known = places;
    }
    return *known;
}

const ovl_spread *ovl_ops_pair_spread(ovl_ops *o, const ovl_group *group, uint32_t rank,
                                      const ovl_peer *peer)
{
    ovl_lowering *l = o->l;
    ovl_id id = group->comm_of[rank];
    if (id == OVL_NONE) {
        return NULL;
    }
    const ovl_comm *comm = &l->b->comms.data[id];
    int64_t n = comm->n_members, place = places_of(o, group)[rank];
    int64_t other = peer->relative ? ((place + peer->place) % n + n) % n : peer->place;
    if (other >= n || other == place) {
        return NULL;
    }
    return ovl_find_hop(l, group, id, rank, l->b->members.data[comm->first_member + other]);
}
