#include "models/plan_ops.h"

#define MOST_STREAMS 60000 /* what a code can number, with room to spare */

static ovl_instance *instance_at(const ovl_ops *o, uint32_t i)
{
    return &o->instances.data[o->listed[o->class->first + i]];
}

/* --- Streams and buffers, before the first operation --- */

static uint16_t stream_of(ovl_ops *o, const ovl_entry *entry, uint32_t binding)
{
    const char *stream = ovl_ops_stream(entry);
    if (!stream) {
        return OVL_NO_STREAM;
    }
    return ovl_add_stream(o->l->b, o->code, ovl_ops_text(o, stream, binding, entry->op->mark));
}

/* Streams are numbered in order of their first operation. */
static bool find_streams(ovl_ops *o)
{
    for (uint32_t i = 0; i < o->class->n; i++) {
        const ovl_instance *instance = instance_at(o, i);
        const ovl_entry *entry = &o->entries.data[instance->entry];
        uint16_t stream = stream_of(o, entry, instance->binding);
        if (stream != OVL_NO_STREAM && stream >= MOST_STREAMS) {
            ovl_error(o->l->errs, OVL_E_INPUT, entry->op->mark, "a rank has more than %d streams",
                      MOST_STREAMS);
            return false;
        }
        ovl_ops_find_buffers(o, instance, stream);
    }
    ovl_ops_declare_buffers(o);
    return true;
}

/* --- Waits --- */

static ovl_latest *latest_of(ovl_ops *o, ovl_id name)
{
    while (o->latest.len <= name) {
        ovl_vec_push(&o->latest, (ovl_latest){0, 0});
    }
    return &o->latest.data[name];
}

static const char *name_of(ovl_ops *o, const ovl_entry *entry, uint32_t binding)
{
    return ovl_ops_text(o, entry->name, binding, entry->op->mark);
}

/* The position in the class's list of the next operation called `name` after position `at`. */
static uint32_t issued_later(ovl_ops *o, const char *name, uint32_t at)
{
    for (uint32_t i = at + 1; i < o->class->n; i++) {
        const ovl_instance *instance = instance_at(o, i);
        const ovl_entry *entry = &o->entries.data[instance->entry];
        if (entry->name && strcmp(name_of(o, entry, instance->binding), name) == 0) {
            return i;
        }
    }
    return OVL_NONE;
}

/* Whether the operation at `later` waits for the one at `at`: through its stream or by name. */
static bool waits_for(ovl_ops *o, uint32_t later, uint32_t at)
{
    const ovl_instance *a = instance_at(o, at), *b = instance_at(o, later);
    const ovl_entry *first = &o->entries.data[a->entry], *second = &o->entries.data[b->entry];
    const char *x = ovl_ops_stream(first), *y = ovl_ops_stream(second);
    if (x && y && strcmp(x, y) == 0) {
        return true;
    }
    char *name = ovl_arena_strdup(&o->scratch, name_of(o, first, a->binding));
    const ovl_texts *after = &second->op->after;
    for (uint32_t i = 0; i < after->count; i++) {
        if (strcmp(ovl_ops_text(o, after->item[i], b->binding, second->op->mark), name) == 0) {
            return true;
        }
    }
    return false;
}

/* The nearest name among the operations of the rank, for "did you mean". */
static const char *nearest_operation(ovl_ops *o, const char *name)
{
    uint32_t n = OVL_MIN(o->class->n, 10000), count = 0;
    const char **names = OVL_NEW_ARRAY(&o->scratch, const char *, n);
    for (uint32_t i = 0; i < n; i++) {
        const ovl_instance *instance = instance_at(o, i);
        const ovl_entry *entry = &o->entries.data[instance->entry];
        if (entry->name) {
            names[count++] = ovl_arena_strdup(&o->scratch, name_of(o, entry, instance->binding));
        }
    }
    return ovl_nearest(name, names, count);
}

/* Whether some rank has an operation of that name. */
static bool is_anywhere(ovl_ops *o, const char *name)
{
    for (uint32_t i = 0; i < o->instances.len; i++) {
        const ovl_entry *entry = &o->entries.data[o->instances.data[i].entry];
        if (entry->name && strcmp(name_of(o, entry, o->instances.data[i].binding), name) == 0) {
            return true;
        }
    }
    return false;
}

/* Why an operation that is waited for is not there. `at` is the position of the one that waits. */
static void no_such_wait(ovl_ops *o, uint32_t at, const char *text, ovl_mark mark)
{
    if (!ovl_ops_may_report(o)) {
        return;
    }
    ovl_errs *errs = o->l->errs;
    const char *name = ovl_arena_strdup(&o->scratch, text);
    const ovl_instance *self = instance_at(o, at);
    const ovl_entry *entry = &o->entries.data[self->entry];
    const char *own = ovl_arena_strdup(&o->scratch, name_of(o, entry, self->binding));
    uint32_t later = issued_later(o, name, at);
    if (strcmp(own, name) == 0) {
        ovl_error(errs, OVL_E_STUCK, mark, "\"%s\" waits for itself", name);
    } else if (later != OVL_NONE && waits_for(o, later, at)) {
        ovl_error(errs, OVL_E_STUCK, mark,
                  "\"%s\" waits for \"%s\", which is issued later and waits for \"%s\": a cycle, "
                  "the schedule cannot finish",
                  own, name, own);
    } else if (later != OVL_NONE) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "\"%s\" is issued later; a wait can only name what was issued before", name);
    } else {
        const char *near = nearest_operation(o, name);
        const char *who =
            is_anywhere(o, name)
                ? ovl_arena_printf(&o->scratch, "rank %" PRIu32 " has", o->class->first_rank)
                : "there is";
        ovl_error(errs, OVL_E_INPUT, mark, "%s no operation \"%s\" to wait for%s%s%s", who, name,
                  near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
}

/* Waits of an entry, attached to operation `local`, the one last added. */
static void add_waits(ovl_ops *o, const ovl_entry *entry, uint32_t binding, uint32_t at,
                      uint32_t local)
{
    const ovl_texts *after = &entry->op->after;
    for (uint32_t i = 0; i < after->count; i++) {
        ovl_mark mark = ovl_ops_mark(after, i, entry->op->mark);
        const char *name = ovl_ops_text(o, after->item[i], binding, mark);
        size_t length = strlen(name);
        bool optional = length > 0 && name[length - 1] == '?';
        char *plain = NULL;
        if (optional) {
            plain = strdup(name);
            if (!plain) {
                ovl_out_of_memory(length);
            }
            plain[length - 1] = 0;
            name = plain;
        }
        ovl_id id = ovl_names_find(o->l->b->names, name);
        bool there = id != OVL_NONE && latest_of(o, id)->code == o->code + 1 &&
                     latest_of(o, id)->local < local;
        if (there) {
            ovl_add_after(o->l->b, o->code, latest_of(o, id)->local);
        } else if (!optional && length > 0) {
            no_such_wait(o, at, name, mark);
        }
        free(plain);
    }
}

/* --- Communication --- */

/* "3" is a place, "+1" an offset; false and an error if it is neither. */
static bool read_peer(ovl_ops *o, const ovl_entry *entry, uint32_t binding, uint32_t n,
                      ovl_peer *peer)
{
    bool send = entry->kind == OVL_SEND;
    if (!(send ? entry->op->to : entry->op->from)) {
        ovl_error(o->l->errs, OVL_E_INPUT, entry->op->mark, "\"%s\" does not say %s", entry->name,
                  send ? "to whom" : "from whom");
        return false;
    }
    const char *wrong = ovl_ops_peer(o, entry, binding, n, peer);
    if (wrong && ovl_ops_may_report(o)) {
        ovl_error(o->l->errs, OVL_E_INPUT, entry->op->mark, "\"%s\" %s \"%s\": %s", entry->name,
                  send ? "to" : "from", peer->text, wrong);
    }
    return !wrong;
}

/* Whom it names; and how these two lie, for what it costs. */
static const ovl_spread *set_peer(ovl_ops *o, const ovl_entry *entry, uint32_t binding,
                                  const ovl_group *group, uint32_t n, ovl_op *op)
{
    ovl_peer peer;
    if (!read_peer(o, entry, binding, n, &peer)) {
        return NULL;
    }
    op->peer = peer.place;
    op->peer_relative = peer.relative;
    return ovl_ops_pair_spread(o, group, o->class->first_rank, &peer);
}

static void read_root(ovl_ops *o, const ovl_entry *entry, uint32_t n, ovl_op *op)
{
    bool rooted = entry->op->op == OVL_BROADCAST || entry->op->op == OVL_REDUCE;
    int64_t root = rooted ? entry->op->root : 0;
    if ((root < 0 || root >= n) && ovl_ops_may_report(o)) {
        ovl_error(o->l->errs, OVL_E_INPUT, entry->op->mark,
                  "\"%s\" has root %" PRId64 ", but the group has %" PRIu32 " members", entry->name,
                  root, n);
        root = 0;
    }
    op->peer = (int32_t)root;
}

static bool communicates(const ovl_entry *entry)
{
    return entry->kind == OVL_COLLECTIVE || entry->kind == OVL_SEND || entry->kind == OVL_RECV;
}

/* Slot, peer and cost of a collective, send or receive; false after an error. */
static bool set_communication(ovl_ops *o, ovl_entry *entry, uint32_t binding, ovl_op *op)
{
    const ovl_group *group = ovl_ops_group(o, entry, binding);
    if (!group) {
        return false;
    }
    const ovl_spread *spread = ovl_plan_spread(o->l, group, o->class->first_rank);
    if (!spread) {
        if (ovl_ops_may_report(o)) {
            ovl_error(o->l->errs, OVL_E_INPUT, entry->op->mark,
                      "rank %" PRIu32 " has \"%s\" but is not in group \"%s\"",
                      o->class->first_rank, entry->name, group->name);
        }
        return false;
    }
    op->comm = ovl_plan_slot(o->l, o->code, group);
    bool message = entry->kind != OVL_COLLECTIVE;
    const ovl_spread *pair =
        message ? set_peer(o, entry, binding, group, spread->members, op) : spread;
    ovl_plan_cost cost = ovl_ops_cost(o, entry, group, pair ? pair : spread);
    op->cost = cost.id;
    op->per_rank = cost.per_rank;
    op->uneven = cost.uneven;
    if (!message) {
        op->coll = (uint8_t)entry->op->op;
        op->average = entry->op->average;
        read_root(o, entry, spread->members, op);
        return true;
    }
    op->coll = OVL_SEND_RECV;
    op->timed = entry->kind == OVL_RECV && ovl_ops_states_time(entry);
    op->eager = entry->op->has_eager ? entry->op->eager : cost.eager;
    return pair != NULL;
}

/* A batch takes a place in the order of its parts' communicator, so it has but one. */
static bool set_batch(ovl_ops *o, const ovl_entry *entry, uint32_t binding, ovl_op *op)
{
    const ovl_group *group = NULL;
    for (uint32_t i = 0; i < entry->op->ops.count; i++) {
        const ovl_group *own = ovl_ops_group(o, &o->entries.data[entry->body + i], binding);
        if (own && group && own != group && ovl_ops_may_report(o)) {
            ovl_error(o->l->errs, OVL_E_INPUT, entry->op->mark,
                      "batch \"%s\" has parts in groups \"%s\" and \"%s\"; a batch has one group",
                      entry->name, group->name, own->name);
        }
        group = own ? own : group;
    }
    if (!group) {
        return false;
    }
    op->comm = ovl_plan_slot(o->l, o->code, group);
    return true;
}

/* --- Operations --- */

/* The parts of a batch are one launch; markers are not work; a host call is its own time. */
static ovl_time launch_of(const ovl_ops *o, const ovl_entry *entry)
{
    if (entry->op->has_launch) {
        return entry->op->launch;
    }
    bool free = entry->part || entry->kind == OVL_MARKER || entry->kind == OVL_HOST;
    return free ? 0 : ovl_plan_launch(o->l);
}

/* The last operation on each stream; that of the host comes first. */
static void note_end(ovl_ops *o, const ovl_op *op, uint32_t local)
{
    uint32_t lane = op->stream == OVL_NO_STREAM ? 0 : op->stream + 1u;
    while (o->ends.len <= lane) {
        ovl_vec_push(&o->ends, OVL_NONE);
    }
    o->ends.data[lane] = op->batch == OVL_NONE ? local : o->ends.data[lane];
    o->added++;
}

static uint32_t add_operation(ovl_ops *o, ovl_entry *entry, uint32_t binding, uint32_t batch)
{
    ovl_op op = {.kind = (uint8_t)entry->kind,
                 .dtype = (uint8_t)entry->op->dtype,
                 .stream = stream_of(o, entry, binding),
                 .comm = OVL_NO_COMM,
                 .batch = batch,
                 .bytes = entry->op->has_bytes ? entry->op->bytes : 0,
                 .launch = launch_of(o, entry),
                 .mark = entry->op->mark};
    op.name = ovl_name(o->l->b, name_of(o, entry, binding));
    bool ok = true;
    if (communicates(entry)) {
        ok = set_communication(o, entry, binding, &op);
    } else {
        ovl_plan_cost cost = ovl_ops_cost(o, entry, NULL, NULL);
        op.cost = cost.id;
        op.per_rank = cost.per_rank;
        ok = entry->kind != OVL_BATCH || set_batch(o, entry, binding, &op);
    }
    o->reports += !ok;
    uint32_t local = ovl_add_op(o->l->b, o->code, &op);
    note_end(o, &op, local);
    *latest_of(o, op.name) = (ovl_latest){o->code + 1, local};
    return local;
}

/* Waits come before the name is known, so that `after` its own name means the one before it. */
static void emit(ovl_ops *o, uint32_t at)
{
    ovl_instance instance = *instance_at(o, at);
    ovl_entry *entry = &o->entries.data[instance.entry];
    if (entry->kind == OVL_ENTRY_MEMORY) {
        ovl_ops_memory(o, entry, instance.binding);
        return;
    }
    ovl_id name = ovl_name(o->l->b, name_of(o, entry, instance.binding));
    ovl_latest before = *latest_of(o, name);
    uint32_t local = add_operation(o, entry, instance.binding, OVL_NONE);
    *latest_of(o, name) = before;
    uint32_t parts = entry->kind == OVL_BATCH ? entry->op->ops.count : 0;
    add_waits(o, entry, instance.binding, at, local);
    for (uint32_t i = 0; i < parts; i++) { /* parts arrive with their batch: it waits for them */
        add_waits(o, &o->entries.data[entry->body + i], instance.binding, at, local);
    }
    *latest_of(o, name) = (ovl_latest){o->code + 1, local};
    ovl_ops_access(o, entry, instance.binding);
    for (uint32_t i = 0; i < parts; i++) {
        ovl_entry *part = &o->entries.data[entry->body + i];
        add_operation(o, part, instance.binding, local);
        ovl_ops_access(o, part, instance.binding);
    }
}

/* A step ends when all of it has: what was issued last on each stream, and on the host. The marker
 * has a stream of its own and holds nothing up. */
static void end_step(ovl_ops *o)
{
    ovl_builder *b = o->l->b;
    ovl_op op = {.kind = OVL_MARKER,
                 .stream = ovl_add_stream(b, o->code, "step end"),
                 .comm = OVL_NO_COMM,
                 .name = ovl_name(b, "step end"),
                 .cost = ovl_plan_length(o->l, "step end", o->workload->mark, (ovl_times){0}).id,
                 .batch = OVL_NONE,
                 .step_end = true,
                 .mark = o->workload->mark};
    ovl_add_op(b, o->code, &op);
    for (uint32_t i = 0; i < o->ends.len; i++) {
        if (o->ends.data[i] != OVL_NONE) {
            ovl_add_after(b, o->code, o->ends.data[i]);
        }
        o->ends.data[i] = OVL_NONE;
    }
}

void ovl_ops_emit(ovl_ops *o, const ovl_class *class)
{
    o->code = ovl_plan_code(o->l);
    o->class = class;
    o->met.len = 0;
    o->ends.len = 0;
    o->added = 0;
    if (!find_streams(o)) {
        return;
    }
    uint32_t steps = (uint32_t)OVL_MAX(o->workload->steps, 1);
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t first = o->added;
        for (uint32_t i = 0; i < class->n && o->reports < 200; i++) {
            emit(o, i);
        }
        if (steps > 1 && o->added > first) {
            end_step(o);
        }
    }
}
