/*
 * comm_demands.c - what communication demands of links and HBM, as a whole or phase by phase.
 */
#include "models/comm_parts.h"
#include "models/wires.h"

#include <string.h>

typedef ovl_comm_draft comm;

uint64_t ovl_comm_rate(double rate)
{
    return rate < 1.8e19 ? (uint64_t)rate : UINT64_MAX;
}

uint16_t ovl_comm_port(ovl_lowering *l, const ovl_comm_spec *spec, const char *name)
{
    const char **names = OVL_NEW_ARRAY(l->errs->arena, const char *, l->hw->n_links);
    for (uint32_t i = 0; i < l->hw->n_links; i++) {
        if (strcmp(l->hw->links[i].name, name) == 0) {
            return (uint16_t)(1 + 2 * i);
        }
        names[i] = l->hw->links[i].name;
    }
    const char *near = ovl_nearest(name, names, l->hw->n_links);
    ovl_error(l->errs, OVL_E_INPUT, spec->mark, "\"%s\" goes via \"%s\", which is no link%s%s%s",
              spec->name, name, near ? "; did you mean \"" : "", near ? near : "",
              near ? "\"?" : "");
    return 0;
}

bool ovl_comm_listed_before(const ovl_texts *via, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++) {
        if (strcmp(via->item[i], via->item[at]) == 0) {
            return true;
        }
    }
    return false;
}

bool ovl_comm_check_via(ovl_lowering *l, const comm *c)
{
    /* One that is passed on wants own links three times, all in one list. */
    uint32_t most = c->spread.relay ? 2 * OVL_COMM_VIA / 3 : OVL_COMM_VIA;
    if (c->via->count > most) {
        ovl_error(l->errs, OVL_E_INPUT, c->spec->mark,
                  "\"%s\" goes via more than %" PRIu32 " links", c->spec->name, most);
    }
    return c->via->count <= most;
}

/* The least bandwidth of an instance that a member uses. */
static uint64_t slowest(const ovl_lowering *l, const comm *c, uint32_t link)
{
    uint64_t least = ovl_speed_of(l->hw, link, &c->spread, 0).bandwidth;
    for (uint32_t kind = 1; kind < c->spread.n_kinds; kind++) {
        least = OVL_MIN(least, ovl_speed_of(l->hw, link, &c->spread, kind).bandwidth);
    }
    return least;
}

/* Whether members have instances of different bandwidths, of which different rates are counted. */
static bool speeds_differ(const ovl_lowering *l, const comm *c, uint32_t link)
{
    uint64_t first = ovl_speed_of(l->hw, link, &c->spread, 0).bandwidth;
    for (uint32_t kind = 1; kind < c->spread.n_kinds; kind++) {
        if (ovl_speed_of(l->hw, link, &c->spread, kind).bandwidth != first) {
            return true;
        }
    }
    return false;
}

/* Out or into that of the own rank. */
typedef enum counted { OUT, IN } counted;

static uint64_t rate_of(const comm *c, ovl_crossing crossing, ovl_time transfer)
{
    return ovl_crossing_rate(crossing, c->spec->has_bytes ? c->spec->bytes : 0, transfer);
}

/* What the busiest instance of a link carries: the most of all kinds of members, each with the
 * bandwidth of its own instance; of a transfer, which has the links of both sides, the slower one.
 * Example: 90 GB/s over a NIC of 100 and 60 over one of 60 are 90, and no more than there is. */
static uint64_t busiest_rate(ovl_lowering *l, const comm *c, uint32_t link, ovl_time transfer)
{
    const ovl_comm_spec *spec = c->spec;
    uint64_t most = 0, worst_rate = 0, worst_has = 1;
    uint32_t n_kinds = OVL_MAX(c->spread.n_kinds, 1);
    for (uint32_t kind = 0; kind < n_kinds; kind++) {
        ovl_crossing crossing =
            ovl_crossing_of_kind(l->hw, link, spec->op, c->algorithm, &c->spread, kind);
        uint64_t rate = rate_of(c, crossing, transfer);
        uint64_t has = spec->op == OVL_SEND_RECV
                           ? slowest(l, c, link)
                           : ovl_speed_of(l->hw, link, &c->spread, kind).bandwidth;
        most = OVL_MAX(most, OVL_MIN(rate, has));
        if ((double)rate * (double)worst_has > (double)worst_rate * (double)has) {
            worst_rate = rate;
            worst_has = has;
        }
    }
    ovl_draft_clamp(l, spec->name, spec->mark, l->hw->links[link].name, worst_rate, worst_has);
    return most;
}

static uint64_t link_rate(ovl_lowering *l, const comm *c, uint32_t link, ovl_time transfer,
                          counted what)
{
    const ovl_comm_spec *spec = c->spec;
    ovl_crossing crossing =
        ovl_crossing_one_way(l->hw, link, spec->op, c->algorithm, &c->spread, what == IN);
    uint64_t has = ovl_speed_of(l->hw, link, &c->spread, c->spread.own).bandwidth;
    if (spec->op == OVL_SEND_RECV) { /* which has the links of both sides */
        has = slowest(l, c, link);
    }
    return ovl_draft_clamp(l, spec->name, spec->mark, l->hw->links[link].name,
                           rate_of(c, crossing, transfer), has);
}

/* What a send by PXN loads beside what its receiver has: the own link of the sender, that of who
 * passes it on in and out, and what lies behind that one. */
static void add_passed_on(ovl_lowering *l, const comm *c, uint16_t port, bool once, uint64_t rate,
                          ovl_demand *out, uint8_t *n_out)
{
    const ovl_hw_link *link = &l->hw->links[port / 2];
    uint16_t there = ovl_relay_port(l, port / 2, c->spread.relay - 1);
    if (link->scope == OVL_SCOPE_GPU && !ovl_link_in_blocks(link)) {
        ovl_draft_demand(out, n_out, (ovl_demand){port, once, rate});
        ovl_draft_demand(out, n_out, (ovl_demand){(uint16_t)(there + 1), once, rate});
    }
    ovl_draft_demand(out, n_out, (ovl_demand){there, once, rate});
}

bool ovl_comm_links(ovl_lowering *l, const comm *c, ovl_time transfer, ovl_demand *out,
                    uint8_t *n_out, ovl_demand *in, uint8_t *n_in, uint64_t *principal,
                    bool *by_member)
{
    const ovl_comm_spec *spec = c->spec;
    if (!ovl_comm_check_via(l, c)) {
        return false;
    }
    for (uint32_t i = 0; i < c->via->count; i++) {
        uint16_t port = ovl_comm_port(l, spec, c->via->item[i]);
        if (port == 0) {
            return false;
        }
        if (ovl_comm_listed_before(c->via, i)) {
            continue;
        }
        const ovl_hw_link *link = &l->hw->links[port / 2];
        uint64_t most = busiest_rate(l, c, port / 2, transfer);
        bool once = link->scope != OVL_SCOPE_GPU || link->gpus > 1;
        *by_member |= ovl_crossing_differs(l->hw, port / 2, spec->op, c->algorithm, &c->spread) ||
                      speeds_differ(l, c, port / 2);
        if (out && c->spread.relay) {
            add_passed_on(l, c, port, once, link_rate(l, c, port / 2, transfer, OUT), out, n_out);
        } else if (out) {
            uint64_t rate = link_rate(l, c, port / 2, transfer, OUT);
            ovl_draft_demand(out, n_out, (ovl_demand){port, once, rate});
        }
        if (in && !link->wire) {
            uint64_t rate = link_rate(l, c, port / 2, transfer, IN);
            ovl_draft_demand(in, n_in, (ovl_demand){(uint16_t)(port + 1), once, rate});
        }
        if (*principal == 0) {
            *principal = most;
        }
    }
    return true;
}

uint64_t ovl_comm_clamp_hbm(ovl_lowering *l, const comm *c, uint64_t rate)
{
    uint64_t has = ovl_least_hbm(l, c->spec->spread);
    return has ? ovl_draft_clamp(l, c->spec->name, c->spec->mark, "HBM", rate, has) : 0;
}

uint64_t ovl_comm_hbm(ovl_lowering *l, const comm *c, uint64_t wire)
{
    return ovl_comm_clamp_hbm(l, c, ovl_comm_rate((double)wire * c->hbm_factor));
}

/* --- Of an operation, or of a phase of it --- */

/* What it demands while d->cost.work passes. */
static bool demands_of(ovl_lowering *l, const comm *c, ovl_draft *d)
{
    const ovl_comm_spec *spec = c->spec;
    bool transfer = spec->op == OVL_SEND_RECV;
    ovl_demand *in = transfer ? d->peer : d->own;
    uint8_t *n_in = transfer ? &d->kind.n_peer : &d->kind.n_demands;
    uint64_t bytes = spec->has_bytes ? spec->bytes : 0, principal = 0;
    ovl_crossing wire = ovl_crossing_of_member(spec->op, c->algorithm, &c->spread);
    uint64_t hbm = ovl_comm_hbm(l, c, ovl_crossing_rate(wire, bytes, d->cost.work));
    bool by_member = false;
    if (!ovl_comm_links(l, c, d->cost.work, d->own, &d->kind.n_demands, in, n_in, &principal,
                        &by_member)) {
        return false;
    }
    d->kind.by_member = by_member;
    ovl_draft_demand(d->own, &d->kind.n_demands, (ovl_demand){OVL_PORT_HBM, false, hbm});
    if (transfer) {
        ovl_draft_demand(d->peer, &d->kind.n_peer, (ovl_demand){OVL_PORT_HBM, false, hbm});
    }
    d->kind.weight = ovl_draft_weight(l, principal ? principal : hbm);
    d->kind.weight *= c->entry && c->entry->weight > 0 ? c->entry->weight : 1;
    return true;
}

/* Of all phases on a level together, so that they add up to its bytes. */
static bool demands_on_level(ovl_lowering *l, const comm *c, const ovl_comm_time *time,
                             ovl_level level, ovl_draft *d)
{
    comm part = *c;
    part.spread.level = (uint8_t)level;
    d->cost.work = 0;
    for (uint32_t i = 0; i < time->n_phases; i++) {
        d->cost.work += time->phases[i].level == level ? time->phases[i].transfer : 0;
    }
    return demands_of(l, &part, d);
}

bool ovl_comm_demands(ovl_lowering *l, const comm *c, const ovl_comm_time *time, ovl_draft *d)
{
    d->n_later = 0;
    d->cost = (ovl_cost){.latency = time->latency, .work = time->transfer};
    if (time->n_phases == 0) {
        return demands_of(l, c, d);
    }
    ovl_draft on[] = {*d, *d};
    bool inside = demands_on_level(l, c, time, OVL_LEVEL_INSIDE, &on[0]);
    if (!demands_on_level(l, c, time, OVL_LEVEL_ACROSS, &on[1]) || !inside) {
        return false;
    }
    for (uint32_t i = 0; i < time->n_phases; i++) {
        const ovl_comm_phase *phase = &time->phases[i];
        ovl_draft *of = &on[phase->level == OVL_LEVEL_ACROSS];
        of->cost = (ovl_cost){.latency = phase->latency, .work = phase->transfer};
        if (i == 0) {
            *d = *of;
        } else {
            ovl_draft_follow(d, of);
        }
    }
    return true;
}
