#include "sim/uses.h"

#include "sim/exposure.h"
#include "sim/fold.h"
#include "sim/steps.h"

#include <stdlib.h>

int ovl_use_moment_order(const void *x, const void *y)
{
    const ovl_use_moment *a = x, *b = y;
    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    if (a->begins != b->begins) {
        return a->begins ? 1 : -1;
    }
    return a->item != b->item ? (a->item < b->item ? -1 : 1) : 0;
}

const uint32_t *ovl_resource_sharers(const ovl_program *p, ovl_arena *arena)
{
    uint32_t *sharers = OVL_NEW_ARRAY(arena, uint32_t, p->n_resources);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        for (uint32_t port = 0; port < p->n_ports; port++) {
            ovl_id resource = p->rank_ports[p->ranks[r].first_port + port];
            if (resource != OVL_NONE) {
                sharers[resource] +=
                    p->fold ? p->fold->rank_load[(size_t)r * p->n_ports + port] : 1;
            }
        }
    }
    return sharers;
}

/* --- SMs --- */

ovl_id ovl_sms_of_rank(const ovl_program *p, uint32_t rank)
{
    return p->n_resources + rank;
}

bool ovl_is_sms(const ovl_program *p, ovl_id resource)
{
    return resource >= p->n_resources;
}

const char *ovl_used_name(const ovl_program *p, ovl_id resource)
{
    return ovl_is_sms(p, resource) ? OVL_SMS_NAME
                                   : ovl_names_text(p->names, p->resources[resource].name);
}

uint32_t ovl_used_instance(const ovl_program *p, ovl_id resource)
{
    if (!ovl_is_sms(p, resource)) {
        return p->resources[resource].instance;
    }
    uint32_t rank = resource - p->n_resources;
    return p->fold ? p->fold->rank[rank] : rank;
}

uint64_t ovl_used_capacity(const ovl_program *p, ovl_id resource)
{
    return ovl_is_sms(p, resource) ? ovl_gpu_of(p, resource - p->n_resources).sms
                                   : p->resources[resource].capacity;
}

uint64_t ovl_used_capacity_at(const ovl_program *p, ovl_id resource, ovl_time at)
{
    uint64_t capacity = ovl_used_capacity(p, resource);
    for (uint32_t i = 0; i < p->n_changes && p->changes[i].time <= at; i++) {
        if (p->changes[i].resource == resource) {
            capacity = p->changes[i].capacity;
        }
    }
    return capacity;
}

ovl_id ovl_limit_resource(const ovl_causes *c, const ovl_limit *limit)
{
    if (limit->bound == OVL_LIMIT_SMS) {
        return ovl_sms_of_rank(c->program, c->rank_of[limit->op]);
    }
    return limit->bound < c->program->n_resources ? limit->bound : OVL_NONE;
}

uint64_t ovl_sms_for_kernels(uint64_t sms, uint64_t held, uint64_t wanted)
{
    return OVL_MIN(wanted, sms - OVL_MIN(held, sms));
}

bool ovl_use_of_sms(const ovl_causes *c, uint32_t rank, uint32_t op, ovl_resource_use *use)
{
    const ovl_program *p = c->program;
    const ovl_op *o = ovl_causes_op(c, op);
    const ovl_cost_kind *cost = ovl_op_cost_kind(p, rank, o);
    bool kernel = o->kind == OVL_KERNEL;
    bool holds = ovl_is_communication(o) && !(o->kind == OVL_SEND && o->eager);
    uint32_t sms = ovl_gpu_of(p, rank).sms;
    uint32_t n = kernel ? ovl_sms_wanted(sms, cost) : holds ? cost->sms : 0;
    *use = (ovl_resource_use){.resource = ovl_sms_of_rank(p, rank),
                              .op = op,
                              .name = ovl_causes_name(c, op),
                              .like = 1,
                              .from = kernel ? c->timeline->start[op] : c->timeline->arrive[op],
                              .to = c->timeline->end[op],
                              .rate = n,
                              .holds = holds};
    return sms > 0 && n > 0;
}

/* --- Uses --- */

static bool moves(const ovl_op *o)
{
    return o->kind != OVL_HOST && o->kind != OVL_MARKER && o->kind != OVL_BATCH;
}

/* What a demand of a rank is on one instance of its resource: that of all ranks of its class, where
 * ranks are folded. */
/* Bytes times picoseconds in a second, of a rate that was rounded down to a whole byte a second: if
 * there is a whole number of bytes between this rate and the next, that is what was meant. */
static ovl_load whole_bytes(ovl_load rate, ovl_load work)
{
    const ovl_load second = 1000000000000u;
    ovl_load load = rate * work, above = (load + second - 1) / second * second;
    return above - load < work ? above : load;
}

void ovl_use_load(const ovl_program *p, uint32_t rank, const ovl_op *o, const ovl_demand *d,
                  ovl_time work, ovl_resource_use *out)
{
    uint32_t ranks = 1;
    out->like = 1;
    out->once = d->once;
    if (p->fold) {
        ranks = out->like = p->fold->rank_load[(size_t)rank * p->n_ports + d->port];
        out->message = o->kind == OVL_SEND || o->kind == OVL_RECV;
    }
    if (p->fold && o->kind == OVL_COLLECTIVE) {
        uint32_t member =
            ovl_rank_comm(p, rank, o->comm)->first_member + ovl_rank_place(p, rank, o->comm);
        out->like = p->fold->member_load[(size_t)member * p->n_ports + d->port];
        ranks = d->once ? out->like : ranks;
    }
    out->rate = (ovl_load)d->rate * ranks;
    out->load = whole_bytes(d->rate, (ovl_load)work) * ranks;
}

typedef struct wanted {
    const uint32_t *sharers;
    ovl_shared which;
    bool joined; /* what goes on alike is one use */
} wanted;

static bool is_wanted(const wanted *w, ovl_id resource)
{
    return resource != OVL_NONE && w->which != OVL_SMS_ALONE &&
           (w->which == OVL_SHARED_OR_NOT ||
            (w->sharers[resource] > 1) == (w->which == OVL_SHARED));
}

/* From when to when what carries limits runs; the bytes of an eager message behind its sender. */
static ovl_phase_walk first_phase(const ovl_causes *c, uint32_t carrier, const ovl_cost *cost,
                                  ovl_time *end)
{
    const ovl_timeline *t = c->timeline;
    const ovl_op *o = ovl_causes_op(c, carrier);
    bool eager = o->kind == OVL_SEND && o->eager;
    ovl_time start = eager ? ovl_wire_start(c->program, t, carrier) : t->start[carrier];
    *end = eager ? t->landed[carrier] : t->end[carrier];
    return ovl_phases_begin(t, carrier, cost, start, *end);
}

/* Uses of a few streams come in turns. */
#define LOOK_BACK 8

/* The use of the same resource that this one goes on with, or NULL. */
static ovl_resource_use *goes_on(const ovl_resource_uses *uses, const ovl_resource_use *use)
{
    for (uint32_t i = 0; i < LOOK_BACK && i < uses->len; i++) {
        ovl_resource_use *last = &uses->data[uses->len - 1 - i];
        if (last->resource == use->resource && last->to == use->from) {
            return last->rate == use->rate && last->holds == use->holds ? last : NULL;
        }
    }
    return NULL;
}

static void add_use(const wanted *w, bool alone, ovl_resource_uses *uses,
                    const ovl_resource_use *use)
{
    ovl_resource_use *last = w->joined && alone ? goes_on(uses, use) : NULL;
    if (last) {
        last->to = use->to;
        last->load += use->load;
    } else {
        ovl_vec_push(uses, *use);
    }
}

static void add_uses(const ovl_causes *c, const wanted *w, uint32_t rank, uint32_t op,
                     ovl_resource_uses *uses)
{
    const ovl_program *p = c->program;
    const ovl_op *o = ovl_causes_op(c, op);
    uint32_t carrier = ovl_limits_carrier(c, op);
    bool receives = o->kind == OVL_RECV;
    const ovl_op *paid = receives ? ovl_causes_op(c, carrier) : o;
    const ovl_cost *cost = ovl_op_cost(p, receives ? c->rank_of[carrier] : rank, paid);
    const ovl_id *ports = &p->rank_ports[p->ranks[rank].first_port];
    ovl_time end;
    for (ovl_phase_walk walk = first_phase(c, carrier, cost, &end); walk.phase;
         ovl_phases_next(p, c->timeline, end, &walk)) {
        const ovl_cost_kind *kind = ovl_kind_of(p, walk.phase);
        uint32_t first = receives ? kind->first_peer : kind->first_demand;
        uint32_t n = receives ? kind->n_peer : kind->n_demands;
        ovl_resource_use use = {.op = carrier,
                                .name = ovl_causes_name(c, op),
                                .weight = kind->weight,
                                .from = walk.from + walk.phase->latency,
                                .to = walk.to};
        for (uint32_t i = first; i < first + n; i++) {
            const ovl_demand *d = &p->demands[i];
            use.resource = ports[d->port];
            if (is_wanted(w, use.resource)) {
                ovl_use_load(p, rank, o, d, walk.phase->work, &use);
                add_use(w, !ovl_is_communication(o), uses, &use);
            }
        }
    }
}

static void list_uses(const ovl_causes *c, const wanted *w, uint32_t rank, ovl_resource_uses *uses)
{
    const ovl_code *code = &c->program->codes[c->program->ranks[rank].code];
    ovl_op_range step = ovl_last_step(code);
    for (uint32_t i = step.first; i < step.end; i++) {
        uint32_t op = c->program->ranks[rank].first_op + i;
        ovl_resource_use sms;
        if (moves(ovl_code_op(code, i))) {
            add_uses(c, w, rank, op, uses);
        }
        if (w->which != OVL_SHARED && ovl_use_of_sms(c, rank, op, &sms)) {
            add_use(w, !sms.holds, uses, &sms);
        }
    }
}

void ovl_uses_of_rank(const ovl_causes *c, const uint32_t *sharers, uint32_t rank, ovl_shared which,
                      ovl_resource_uses *uses)
{
    const wanted w = {sharers, which, false};
    list_uses(c, &w, rank, uses);
}

void ovl_uses_joined(const ovl_causes *c, const uint32_t *sharers, uint32_t rank, ovl_shared which,
                     ovl_resource_uses *uses)
{
    const wanted w = {sharers, which, true};
    list_uses(c, &w, rank, uses);
}

static int by_resource(const void *x, const void *y)
{
    const ovl_resource_use *a = x, *b = y;
    if (a->resource != b->resource) {
        return a->resource < b->resource ? -1 : 1;
    }
    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return a->op != b->op ? (a->op < b->op ? -1 : 1) : 0;
}

static void add_member(ovl_resource_use *one, const ovl_resource_use *other)
{
    if (!other->once || other->message) {
        one->rate += other->rate;
        one->load += other->load;
    }
    one->like += other->message ? other->like : 0;
}

/* Those of one stream are, and a sort of millions takes as much memory again. */
static bool is_sorted(const ovl_resource_uses *uses)
{
    uint32_t i = 1;
    while (i < uses->len && by_resource(&uses->data[i - 1], &uses->data[i]) <= 0) {
        i++;
    }
    return i >= uses->len;
}

void ovl_uses_sort(ovl_resource_uses *uses)
{
    uint32_t n = 0;
    if (uses->len == 0) {
        return;
    }
    if (!is_sorted(uses)) {
        qsort(uses->data, uses->len, sizeof *uses->data, by_resource);
    }
    for (uint32_t i = 0; i < uses->len; i++) {
        if (n && by_resource(&uses->data[n - 1], &uses->data[i]) == 0) {
            add_member(&uses->data[n - 1], &uses->data[i]);
        } else {
            uses->data[n++] = uses->data[i];
        }
    }
    uses->len = n;
}

uint32_t ovl_uses_first(const ovl_resource_uses *uses, ovl_id resource)
{
    uint32_t low = 0, high = uses->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (uses->data[middle].resource < resource) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
