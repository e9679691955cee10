/* Arrows: an operation that waited for one on another stream, and a send that reached its receive.
 */
#include "tools/trace_parts.h"

/* An arrow leaves its slice at the last nanosecond that is still inside, since a viewer binds it to
 * the slice open at that moment. */
static ovl_time inside(ovl_time start, ovl_time end)
{
    ovl_time last = end / OVL_NS * OVL_NS - OVL_NS;
    return OVL_MAX(start, last);
}

static void half(ovl_trace *t, const char *phase, uint32_t rank, uint64_t thread, ovl_time at,
                 const char *category)
{
    ovl_trace_event(t, phase, rank, thread, at, category, category);
    ovl_json_uint(t->json, "id", t->n_flows);
    if (*phase == 'f') {
        ovl_json_text(t->json, "bp", "e"); /* to the slice around it, not to the next one */
    }
    ovl_json_close(t->json);
}

/* Where the consumer's slices begin: the one in which it waits, if there is one. */
static ovl_time consumer_at(const ovl_trace *t, uint32_t local)
{
    const ovl_timeline *line = t->job->timeline;
    uint32_t op = t->r->first_op + local;
    return ovl_code_op(t->code, local)->kind == OVL_HOST ? line->start[op] : line->arrive[op];
}

static void after_edges(ovl_trace *t, uint32_t local)
{
    const ovl_timeline *line = t->job->timeline;
    uint64_t to = ovl_trace_thread(t, t->rank, t->code, local);
    ovl_offsets after = ovl_code_after(t->code, local);
    for (uint32_t i = 0; i < after.n; i++) {
        uint32_t before = local + after.by[i], op = t->r->first_op + before;
        uint64_t from = ovl_trace_thread(t, t->rank, t->code, before);
        if (from != to) {
            half(t, "s", t->rank, from, inside(line->start[op], line->end[op]), "after");
            half(t, "f", t->rank, to, consumer_at(t, local), "after");
            t->n_flows++;
        }
    }
}

static void message(ovl_trace *t, uint32_t local)
{
    const ovl_program *p = t->job->program;
    const ovl_timeline *line = t->job->timeline;
    uint32_t send = t->r->first_op + local, recv = p->partner[send];
    uint32_t peer = ovl_op_rank(p, recv);
    if (!t->job->ranks[peer]) {
        return;
    }
    const ovl_rank *r = &p->ranks[peer];
    const ovl_code *code = &p->codes[r->code];
    half(t, "s", t->rank, ovl_trace_thread(t, t->rank, t->code, local), line->start[send],
         "message");
    half(t, "f", peer, ovl_trace_thread(t, peer, code, recv - r->first_op),
         inside(line->start[recv], line->end[recv]), "message");
    t->n_flows++;
}

void ovl_trace_flows(ovl_trace *t)
{
    for (uint32_t local = 0; local < t->code->n_ops; local++) {
        after_edges(t, local);
        if (ovl_code_op(t->code, local)->kind == OVL_SEND) {
            message(t, local);
        }
    }
}
