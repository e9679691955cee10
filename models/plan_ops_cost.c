#include "models/plan_ops.h"

const char *ovl_ops_stream(const ovl_entry *entry)
{
    if (entry->part || entry->kind == OVL_HOST || entry->kind >= OVL_ENTRY_OP_COUNT) {
        return NULL;
    }
    if (entry->op->stream) {
        return entry->op->stream;
    }
    if (entry->kind == OVL_COPY) {
        return "copy";
    }
    return entry->kind == OVL_KERNEL || entry->kind == OVL_MARKER ? "compute" : "comm";
}

static ovl_plan_cost kernel_cost(ovl_ops *o, const ovl_entry *entry)
{
    const ovl_xop *op = entry->op;
    ovl_kernel_spec spec = {.name = entry->name,
                            .mark = op->mark,
                            .duration = op->duration,
                            .flops = op->flops,
                            .hbm = op->hbm,
                            .dtype = (ovl_dtype)op->dtype,
                            .compute = op->compute,
                            .has_sms = op->has_sms,
                            .sms = op->sms,
                            .blocks = op->blocks,
                            .klass = op->klass};
    return ovl_plan_kernel(o->l, &spec);
}

static ovl_comm_spec comm_spec(const ovl_entry *entry, const ovl_group *group,
                               const ovl_spread *spread)
{
    const ovl_xop *op = entry->op;
    return (ovl_comm_spec){.name = entry->name,
                           .mark = op->mark,
                           .op = entry->kind == OVL_COLLECTIVE ? (ovl_coll)op->op : OVL_SEND_RECV,
                           .group = group ? group->name : NULL,
                           .n = spread ? spread->members : 0,
                           .spread = spread,
                           .has_bytes = op->has_bytes,
                           .bytes = op->bytes,
                           .duration = op->duration,
                           .has_alpha = op->has_alpha,
                           .has_beta = op->has_beta,
                           .alpha = op->alpha,
                           .beta = op->beta,
                           .via = op->via,
                           .has_sms = op->has_sms,
                           .sms = op->sms,
                           .has_hbm_factor = op->has_hbm_factor,
                           .hbm_factor = op->hbm_factor,
                           .hbm = op->hbm,
                           .sends = entry->sends,
                           .receives = entry->receives,
                           .pairs = entry->pairs,
                           .root = op->root,
                           .klass = op->klass};
}

bool ovl_ops_states_time(const ovl_entry *entry)
{
    return entry->op->duration.count > 0 || entry->op->has_alpha || entry->op->has_beta;
}

/* How long a transfer takes is said by its send; a receive only holds SMs. A time it states all the
 * same goes into its cost to be compared with that of the send. */
static ovl_plan_cost recv_cost(ovl_ops *o, const ovl_entry *entry, const ovl_group *group,
                               const ovl_spread *spread)
{
    static ovl_time zero = 0;
    ovl_comm_spec spec = comm_spec(entry, group, spread);
    if (!ovl_ops_states_time(entry)) {
        spec.duration = (ovl_times){.item = &zero, .count = 1};
    }
    return ovl_plan_comm(o->l, &spec);
}

static ovl_plan_cost marker_cost(ovl_ops *o, const ovl_entry *entry)
{
    const ovl_times *times = &entry->op->duration;
    if (times->count > 1) {
        ovl_error(o->l->errs, OVL_E_INPUT, entry->op->mark,
                  "marker \"%s\" has a list of durations; a pause is as long on every rank",
                  entry->name);
    }
    return ovl_plan_pause(o->l, times->count ? times->item[0] : 0);
}

/* Shares of the members, by rank and one on average; NULL: not given, or an error. */
static const double *by_rank(ovl_ops *o, const ovl_ratios *shares, const ovl_group *group,
                             const char *key, const ovl_entry *entry)
{
    ovl_lowering *l = o->l;
    double sum = 0;
    for (uint32_t i = 0; i < shares->count; i++) {
        sum += shares->item[i];
    }
    double *factors = shares->count ? OVL_NEW_ARRAY(l->arena, double, l->n_ranks) : NULL;
    for (uint32_t rank = 0; rank < l->n_ranks && factors; rank++) {
        ovl_id id = group->comm_of[rank];
        const ovl_comm *comm = id == OVL_NONE ? NULL : &l->b->comms.data[id];
        if (!comm || l->b->members.data[comm->first_member] != rank) {
            continue;
        }
        if (comm->n_members != shares->count || sum <= 0) {
            ovl_error(l->errs, OVL_E_INPUT, entry->op->mark,
                      comm->n_members != shares->count
                          ? "%s of \"%s\": expected one number for each of the %" PRIu32
                            " members of \"%s\"; found %" PRIu32
                          : "%s of \"%s\": of the %" PRIu32
                            " numbers for the members of \"%s\" all %" PRIu32 " are 0",
                      key, entry->name, comm->n_members, group->name, shares->count);
            return NULL;
        }
        for (uint32_t i = 0; i < comm->n_members; i++) {
            factors[l->b->members.data[comm->first_member + i]] =
                shares->item[i] * shares->count / sum;
        }
    }
    return factors;
}

/* The matrix of what members give each other, times the payload, by place; NULL: not given, or
 * an error. */
static const double *by_pair(ovl_ops *o, const ovl_entry *entry, const ovl_group *group)
{
    ovl_lowering *l = o->l;
    const ovl_ratios *sends = &entry->op->sends;
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        uint32_t n = ovl_plan_members(l, group, rank);
        if (n && n != sends->rows) {
            ovl_error(l->errs, OVL_E_INPUT, entry->op->mark,
                      "sends of \"%s\": a matrix of %" PRIu32 " rows, and a communicator of "
                      "\"%s\" has %" PRIu32 " members",
                      entry->name, sends->rows, group->name, n);
            return NULL;
        }
    }
    double *parts = OVL_NEW_ARRAY(l->arena, double, sends->count);
    for (uint32_t i = 0; i < sends->count; i++) {
        parts[i] = sends->item[i] / (double)entry->op->bytes;
    }
    return parts;
}

static ovl_plan_cost find_cost(ovl_ops *o, ovl_entry *entry, const ovl_group *group,
                               const ovl_spread *spread)
{
    if (entry->kind == OVL_COLLECTIVE && group) {
        bool matrix = entry->op->sends.rows > 0;
        entry->pairs = matrix ? by_pair(o, entry, group) : NULL;
        entry->sends = matrix ? NULL : by_rank(o, &entry->op->sends, group, "sends", entry);
        entry->receives = by_rank(o, &entry->op->receives, group, "receives", entry);
    }
    ovl_comm_spec spec = comm_spec(entry, group, spread);
    switch ((ovl_op_kind)entry->kind) {
    case OVL_KERNEL:
        return kernel_cost(o, entry);
    case OVL_COLLECTIVE:
    case OVL_SEND:
        return ovl_plan_comm(o->l, &spec);
    case OVL_RECV:
        return recv_cost(o, entry, group, spread);
    case OVL_COPY:
        return ovl_plan_copy(o->l, &spec, entry->op->direction);
    case OVL_HOST:
        return ovl_plan_length(o->l, entry->name, entry->op->mark, entry->op->duration);
    case OVL_MARKER:
        return marker_cost(o, entry);
    case OVL_BATCH:
        break;
    }
    return ovl_plan_length(o->l, entry->name, entry->op->mark, (ovl_times){0});
}

ovl_plan_cost ovl_ops_cost(ovl_ops *o, ovl_entry *entry, const ovl_group *group,
                           const ovl_spread *spread)
{
    if (!entry->has_cost || entry->group != group || entry->spread != spread) {
        entry->cost = find_cost(o, entry, group, spread);
        entry->has_cost = true;
        entry->group = group;
        entry->spread = spread;
    }
    return entry->cost;
}
