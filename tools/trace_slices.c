/* The slices of a rank: what ran when, what waited before, what the host issued. */
#include "tools/trace_parts.h"

#include <stdlib.h>

static const char *category_of(const ovl_op *op)
{
    switch ((ovl_op_kind)op->kind) {
    case OVL_KERNEL:
        return "kernel";
    case OVL_COPY:
        return "copy";
    case OVL_HOST:
        return "host";
    case OVL_MARKER:
        return "marker";
    case OVL_COLLECTIVE:
    case OVL_SEND:
    case OVL_RECV:
    case OVL_BATCH:
        break;
    }
    return "communication";
}

/* Opens a slice and its arguments; both ends are rounded down, so neighbours stay neighbours. */
static void begin_slice(ovl_trace *t, uint64_t thread, ovl_time start, ovl_time end,
                        const char *category, const char *name)
{
    ovl_trace_event(t, "X", t->rank, thread, start, category, name);
    ovl_json_micros(t->json, "dur", end / OVL_NS * OVL_NS - start / OVL_NS * OVL_NS);
    ovl_json_object(t->json, "args", OVL_JSON_FLOW);
    ovl_json_int(t->json, "start_ps", start);
    ovl_json_int(t->json, "end_ps", end);
}

static void end_slice(ovl_trace *t)
{
    ovl_json_close(t->json);
    ovl_json_close(t->json);
}

static const char *why_word(ovl_why why)
{
    switch (why) {
    case OVL_WHY_STREAM:
        return "stream";
    case OVL_WHY_AFTER:
        return "after";
    case OVL_WHY_COMM:
        return "communicator";
    case OVL_WHY_RENDEZVOUS:
        return "rendezvous";
    case OVL_WHY_QUEUE:
        return "hardware queue";
    case OVL_WHY_ENGINE:
        return "copy engine";
    case OVL_WHY_WIRE:
    case OVL_WHY_LINE:
        return "wire";
    case OVL_WHY_HOST:
        return "host";
    case OVL_WHY_OWN:
        break;
    }
    return "batch";
}

/* "after: g3" - what it waited for last before it arrived; "start" if that is the begin of the run.
 */
static void put_cause(ovl_trace *t, uint32_t op)
{
    ovl_cause cause;
    if (!ovl_causes_binding(t->job->causes, OVL_TRAIL(op, OVL_ARRIVED), &cause)) {
        return;
    }
    if (cause.node == OVL_TRAIL(op, OVL_ISSUED) && t->job->timeline->issue[op] == 0) {
        ovl_json_text(t->json, "cause", "start");
        return;
    }
    ovl_id id = ovl_op_name_id(t->job->program, OVL_TRAIL_OP(cause.node));
    const char *name = OVL_NAME(t->job->program->names, id);
    ovl_json_text(t->json, "cause",
                  ovl_arena_printf(t->scratch, "%s: %s", why_word(cause.why), name));
}

static void put_class(ovl_trace *t, const ovl_op *op)
{
    const ovl_program *p = t->job->program;
    ovl_id klass = ovl_op_cost_kind(p, t->rank, op)->klass;
    if (klass != OVL_NONE && (op->kind == OVL_KERNEL || op->kind == OVL_COLLECTIVE)) {
        const ovl_id *names = op->kind == OVL_KERNEL ? p->kernel_classes : p->coll_classes;
        ovl_json_text(t->json, "class", OVL_NAME(p->names, names[klass]));
    }
}

/* What a kernel wants alone: HBM is port 0. */
static void put_wants(ovl_trace *t, const ovl_op *op)
{
    const ovl_program *p = t->job->program;
    const ovl_cost_kind *cost = ovl_op_cost_kind(p, t->rank, op);
    for (uint32_t i = 0; i < cost->n_demands; i++) {
        const ovl_demand *demand = &p->demands[cost->first_demand + i];
        if (demand->port == 0 && demand->rate) {
            ovl_json_uint(t->json, "hbm_Bps", demand->rate);
        }
    }
    if (cost->sms) {
        ovl_json_uint(t->json, "sms", cost->sms);
    }
}

static void put_communication(ovl_trace *t, const ovl_op *op, ovl_time start, ovl_time end)
{
    const ovl_program *p = t->job->program;
    if (op->kind != OVL_BATCH) {
        ovl_json_text(t->json, "op",
                      op->kind == OVL_COLLECTIVE ? ovl_coll_name((ovl_coll)op->coll)
                      : op->kind == OVL_SEND     ? "send"
                                                 : "recv");
    }
    if (op->kind != OVL_BATCH) {
        const ovl_comm *comm = ovl_rank_comm(p, t->rank, op->comm);
        ovl_json_text(t->json, "group", OVL_NAME(p->names, comm->name));
        ovl_json_uint(t->json, "members", comm->n_members);
        ovl_json_uint(t->json, "bytes", op->bytes);
        if (end > start && op->bytes) {
            ovl_json_double(t->json, "algbw_Bps",
                            (double)op->bytes / ((double)(end - start) / (double)OVL_S));
        }
    }
}

/* Input ready, then queued behind its stream and communicator, then waiting for the others. */
static void put_waits(ovl_trace *t, uint32_t op, ovl_time ready)
{
    const ovl_timeline *line = t->job->timeline;
    if (ready != OVL_NEVER) {
        ovl_json_int(t->json, "ready_ps", ready);
        ovl_json_int(t->json, "queue_ps", line->arrive[op] - ready);
    }
    ovl_json_int(t->json, "wait_ps", line->start[op] - line->arrive[op]);
}

static void slice(ovl_trace *t, uint32_t local, ovl_time ready)
{
    const ovl_timeline *line = t->job->timeline;
    const ovl_op *op = ovl_code_op(t->code, local);
    const char *name = OVL_NAME(t->job->program->names, t->code->name[local]);
    uint32_t number = t->r->first_op + local;
    uint64_t thread = ovl_trace_thread(t, t->rank, t->code, local);
    ovl_time from = op->kind == OVL_HOST ? line->issue[number] : line->arrive[number];
    ovl_time start = line->start[number], end = line->end[number];
    if (from / OVL_NS < start / OVL_NS) {
        begin_slice(t, thread, from, start, "wait",
                    ovl_arena_printf(t->scratch, "%s (waiting)", name));
        end_slice(t);
    }
    begin_slice(t, thread, start, end, category_of(op), name);
    ovl_trace_stage(t, local);
    if (ovl_is_communication(op)) {
        put_communication(t, op, start, end);
        put_waits(t, number, ready);
    }
    if (op->kind == OVL_KERNEL) {
        put_wants(t, op);
    }
    put_class(t, op);
    put_cause(t, number);
    if (t->job->critical[number]) {
        ovl_json_bool(t->json, "critical_path", true);
    }
    ovl_trace_exact(t, local);
    ovl_json_close(t->json);
    ovl_trace_colour(t, op);
    ovl_json_close(t->json);
}

static void issue_slice(ovl_trace *t, uint32_t local)
{
    const ovl_op *op = ovl_code_op(t->code, local);
    if (op->launch == 0 || op->kind == OVL_HOST || op->behind) {
        return;
    }
    ovl_time issued = t->job->timeline->issue[t->r->first_op + local];
    const char *name = OVL_NAME(t->job->program->names, t->code->name[local]);
    begin_slice(t, ovl_trace_host_thread(t), issued - op->launch, issued, "host",
                ovl_arena_printf(t->scratch, "issue %s", name));
    end_slice(t);
}

/* When the input of each communication was ready, by local operation; OVL_NEVER for the others. */
static ovl_time *find_ready(ovl_trace *t)
{
    ovl_time *ready = OVL_NEW_ARRAY(t->scratch, ovl_time, t->code->n_ops);
    for (uint32_t i = 0; i < t->code->n_ops; i++) {
        ready[i] = OVL_NEVER;
    }
    ovl_dependencies rows = {0};
    ovl_dependencies_find(t->job->program, t->job->timeline, t->feeds, t->rank, &rows);
    for (uint32_t i = 0; i < rows.len; i++) {
        ready[rows.data[i].local] = rows.data[i].ready;
    }
    ovl_vec_free(&rows);
    return ready;
}

void ovl_trace_slices(ovl_trace *t)
{
    const ovl_time *ready = find_ready(t);
    for (uint32_t local = 0; local < t->code->n_ops; local++) {
        issue_slice(t, local);
        slice(t, local, ready[local]);
    }
}

/* --- Wires --- */

/* A transfer whose sender went on at once. */
typedef struct wire {
    ovl_time from, to;
    uint32_t local;
} wire;

typedef OVL_VEC(wire) wires;

static int compare_wires(const void *a, const void *b)
{
    const wire *x = a, *y = b;
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    return (x->local > y->local) - (x->local < y->local);
}

static void find_wires(const ovl_trace *t, wires *list)
{
    const ovl_timeline *line = t->job->timeline;
    for (uint32_t local = 0; local < t->code->n_ops; local++) {
        const ovl_op *op = ovl_code_op(t->code, local);
        uint32_t number = t->r->first_op + local;
        if (op->kind == OVL_SEND && op->eager) {
            wire w = {ovl_wire_start(t->job->program, line, number), line->landed[number], local};
            ovl_vec_push(list, w);
        }
    }
    if (list->len) {
        qsort(list->data, list->len, sizeof *list->data, compare_wires);
    }
}

static void wire_slice(ovl_trace *t, uint32_t lane, const wire *w)
{
    const ovl_op *op = ovl_code_op(t->code, w->local);
    begin_slice(t, t->rank * t->stride + lane, w->from, w->to, "communication",
                OVL_NAME(t->job->program->names, t->code->name[w->local]));
    put_communication(t, op, w->from, w->to);
    end_slice(t);
}

/* Transfers that overlap are on lanes of their own: the first that is free. */
void ovl_trace_wires(ovl_trace *t)
{
    wires list = {0};
    OVL_VEC(ovl_time) busy = {0}; /* until when each lane is */
    uint32_t first = t->lanes[t->r->code].host + 1;
    find_wires(t, &list);
    for (uint32_t i = 0; i < list.len; i++) {
        const wire *w = &list.data[i];
        uint32_t lane = 0;
        while (lane < busy.len && busy.data[lane] > w->from) {
            lane++;
        }
        if (lane == busy.len) {
            ovl_vec_push(&busy, 0);
            ovl_trace_name_thread(t, first + lane,
                                  lane ? ovl_arena_printf(t->scratch, "wire, %" PRIu32, lane)
                                       : "wire");
        }
        busy.data[lane] = w->to;
        wire_slice(t, first + lane, w);
    }
    ovl_vec_free(&list);
    ovl_vec_free(&busy);
}
