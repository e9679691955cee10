/*
 * What a replay needs beyond what a picture shows (models/record_exact.c): which operation this is,
 * what it waits for, what the host and the other side have to do with it.
 */
#include "tools/trace_parts.h"

static void put_after(ovl_trace *t, uint32_t local)
{
    ovl_offsets after = ovl_code_after(t->code, local);
    if (after.n == 0) {
        return;
    }
    ovl_json_array(t->json, "after", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < after.n; i++) {
        ovl_json_uint(t->json, NULL, local + after.by[i]);
    }
    ovl_json_close(t->json);
}

static void put_other_side(ovl_trace *t, uint32_t local, const ovl_op *op)
{
    const ovl_program *p = t->job->program;
    uint32_t number = t->r->first_op + local, place = ovl_rank_place(p, t->rank, op->comm);
    ovl_json_text(t->json, "kind", ovl_op_kind_name((ovl_op_kind)op->kind));
    ovl_json_uint(t->json, "comm", p->rank_comms[t->r->first_comm + op->comm]);
    ovl_json_uint(t->json, "place", place);
    if (op->kind == OVL_SEND || op->kind == OVL_RECV) {
        const ovl_comm *comm = ovl_rank_comm(p, t->rank, op->comm);
        ovl_json_uint(t->json, "peer", ovl_peer_place(op, place, comm->n_members));
    } else if (op->kind == OVL_COLLECTIVE && op->peer > 0) {
        ovl_json_uint(t->json, "peer", (uint64_t)op->peer);
    }
    if (op->eager) {
        ovl_json_bool(t->json, "eager", true);
    }
    if (op->eager && op->kind == OVL_SEND) {
        const ovl_timeline *line = t->job->timeline;
        ovl_json_int(t->json, "wire_ps", line->landed[number] - ovl_wire_start(p, line, number));
    }
    if (op->behind) {
        ovl_json_uint(t->json, "batch", number - t->r->first_op - op->behind);
    }
}

static void put_copy(ovl_trace *t, uint32_t number, const ovl_cost *cost)
{
    const ovl_timeline *line = t->job->timeline;
    ovl_json_text(t->json, "direction", ovl_kind_of(t->job->program, cost)->engine ? "h2d" : "d2h");
    if (line->start[number] > line->arrive[number]) {
        ovl_json_int(t->json, "wait_ps", line->start[number] - line->arrive[number]);
    }
}

void ovl_trace_exact(ovl_trace *t, uint32_t local)
{
    const ovl_op *op = ovl_code_op(t->code, local);
    const ovl_cost *cost = ovl_op_cost(t->job->program, t->rank, op);
    uint32_t number = t->r->first_op + local;
    ovl_json_uint(t->json, "id", local);
    if (op->stream != OVL_NO_STREAM) {
        ovl_json_text(t->json, "stream",
                      OVL_NAME(t->job->program->names, t->code->streams[op->stream]));
    }
    put_after(t, local);
    if (op->launch > 0) {
        ovl_json_int(t->json, "launch_ps", op->launch);
    }
    ovl_time latency = ovl_cost_latency(t->job->program, cost);
    if (latency > 0) {
        ovl_json_int(t->json, "latency_ps", latency);
    }
    if (ovl_is_communication(op)) {
        put_other_side(t, local, op);
    } else if (op->kind == OVL_COPY) {
        put_copy(t, number, cost);
    }
}
