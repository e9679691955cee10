/* Counters of a rank over time. Each is a list of changes, sorted, and one event for each moment at
 * which its value is another. Rates are whole bytes per second, so that what was added is what is
 * taken away and a counter comes back to zero exactly. */
#include "tools/trace_parts.h"

#include "sim/memory.h"
#include "sim/uses.h"

#include <stdlib.h>

static int compare_changes(const void *a, const void *b)
{
    const ovl_change *x = a, *y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return x->series < y->series ? -1 : x->series > y->series;
}

void ovl_trace_span(ovl_changes *list, uint32_t series, ovl_time from, ovl_time to, int64_t by)
{
    if (from < to && by) {
        ovl_vec_push(list, (ovl_change){from, series, by});
        ovl_vec_push(list, (ovl_change){to, series, -by});
    }
}

void ovl_trace_counter(ovl_trace *t, const char *name, ovl_time at)
{
    ovl_trace_event(t, "C", t->rank, t->rank * t->stride, at, NULL, name);
    ovl_json_object(t->json, "args", OVL_JSON_FLOW);
}

void ovl_trace_end_counter(ovl_trace *t)
{
    ovl_json_close(t->json);
    ovl_json_close(t->json);
}

void ovl_trace_sort(ovl_changes *list)
{
    if (list->len) {
        qsort(list->data, list->len, sizeof *list->data, compare_changes);
    }
}

void ovl_trace_series(ovl_trace *t, ovl_changes *list, const char *const *names, uint32_t n,
                      const char *unit)
{
    int64_t *now = OVL_NEW_ARRAY(t->scratch, int64_t, n);
    int64_t *shown = OVL_NEW_ARRAY(t->scratch, int64_t, n);
    ovl_trace_sort(list);
    for (uint32_t i = 0; i < list->len; i++) {
        const ovl_change *c = &list->data[i];
        now[c->series] += c->by;
        bool last = i + 1 == list->len || list->data[i + 1].at != c->at ||
                    list->data[i + 1].series != c->series;
        if (last && now[c->series] != shown[c->series]) {
            shown[c->series] = now[c->series];
            ovl_trace_counter(t, names[c->series], c->at);
            ovl_json_int(t->json, unit, now[c->series]);
            ovl_trace_end_counter(t);
        }
    }
    ovl_vec_free(list);
}

/* --- Memory --- */

static void put_categories(ovl_trace *t, const char *name, ovl_time at, const uint64_t *now,
                           const bool *used)
{
    ovl_trace_counter(t, name, at);
    for (int c = 0; c < OVL_CATEGORY_COUNT; c++) {
        if (used[c]) {
            ovl_json_uint(t->json, ovl_category_name((ovl_category)c), now[c]);
        }
    }
    ovl_trace_end_counter(t);
}

static void find_used(const ovl_trace *t, bool *used)
{
    for (uint32_t b = 0; b < t->code->n_buffers; b++) {
        used[t->code->buffers[b].category] = true;
    }
}

/* Where issuing takes no time all of it happens at once. So that a picture shows something, the
 * host is then seen as late as it can be without making anything later: at each position of its
 * program not behind the first start of all that follows. Position n_ops is the end of the rank's
 * work. */
static const ovl_time *latest_places(const ovl_trace *t)
{
    uint32_t n = t->code->n_ops;
    ovl_time *at = OVL_NEW_ARRAY(t->scratch, ovl_time, n + 1);
    const ovl_time *start = t->job->timeline->start + t->r->first_op;
    const ovl_time *end = t->job->timeline->end + t->r->first_op;
    for (uint32_t i = 0; i < n; i++) {
        if (ovl_code_op(t->code, i)->launch) {
            return NULL;
        }
        at[n] = OVL_MAX(at[n], end[i]);
    }
    for (uint32_t i = n; i-- > 0;) {
        at[i] = OVL_MIN(at[i + 1], start[i]);
    }
    return at;
}

static uint64_t reserved_bytes(const ovl_memory_sample *s)
{
    uint64_t all = 0;
    for (int k = 0; k < OVL_RESERVED_PARTS; k++) {
        all += s->reserved[k];
    }
    return all;
}

static void put_host_sample(ovl_trace *t, const ovl_memory_sample *s, ovl_time at, const bool *used)
{
    static const char *const parts[OVL_RESERVED_PARTS] = {"allocated", "waiting_for_gpu",
                                                          "free_in_pools"};
    put_categories(t, "allocated bytes", at, s->allocated, used);
    ovl_trace_counter(t, "reserved bytes", at);
    for (int k = 0; k < OVL_RESERVED_PARTS; k++) {
        ovl_json_uint(t->json, parts[k], s->reserved[k]);
    }
    ovl_trace_end_counter(t);
}

/* Of one moment the fullest sample is shown, so that peaks are there, and then the last. */
static void host_counters(ovl_trace *t, const ovl_result_rank *row, const bool *used)
{
    const ovl_time *latest = latest_places(t);
    for (uint32_t i = 0, next; i < row->n_host_line; i = next) {
        const ovl_memory_sample *s = &row->host_line[i], *most = s;
        ovl_time at = latest ? latest[s->position] : s->at;
        for (next = i + 1; next < row->n_host_line; next++) {
            const ovl_memory_sample *other = &row->host_line[next];
            if ((latest ? latest[other->position] : other->at) != at) {
                break;
            }
            uint64_t now = other->reserved[OVL_RESERVED_ALLOCATED];
            uint64_t top = most->reserved[OVL_RESERVED_ALLOCATED];
            bool fuller = now > top || (now == top && reserved_bytes(other) > reserved_bytes(most));
            most = fuller ? other : most;
            s = other;
        }
        if (most != s) {
            put_host_sample(t, most, at, used);
        }
        put_host_sample(t, s, at, used);
    }
}

/* Bytes that hold data, at the GPU's time; what was asked for, and what that took from the GPU, at
 * the host's. */
static void memory_counters(ovl_trace *t)
{
    bool used[OVL_CATEGORY_COUNT] = {false};
    ovl_result_rank row = {.rank = t->rank, .has_memory = t->code->n_buffers > 0};
    ovl_memory_lines(t->job->program, t->job->timeline, t->scratch, &row);
    find_used(t, used);
    for (uint32_t i = 0; i < row.n_live_line; i++) {
        put_categories(t, "live bytes", row.live_line[i].at, row.live_line[i].live, used);
    }
    host_counters(t, &row, used);
}

/* --- Traffic; of what several ranks share in trace_shared.c --- */

/* The operation whose rate segments tell the speed of this one: of a collective its first place, of
 * a receive its send. What it demands is another matter: each member of a collective its own. */
static uint32_t activity_of(const ovl_trace *t, uint32_t local)
{
    const ovl_program *p = t->job->program;
    const ovl_op *op = ovl_code_op(t->code, local);
    uint32_t number = t->r->first_op + local;
    if (op->kind == OVL_COLLECTIVE) {
        return ovl_collective_op(p, ovl_rank_comm(p, t->rank, op->comm), 0,
                                 t->code->collectives_before[local]);
    }
    return op->kind == OVL_RECV ? p->partner[number] : number;
}

static void add_segment(const ovl_trace *t, const ovl_cost *phase, bool peer, const ovl_segment *g,
                        ovl_changes *list)
{
    const ovl_program *p = t->job->program;
    const ovl_cost_kind *kind = ovl_kind_of(p, phase);
    uint32_t first = peer ? kind->first_peer : kind->first_demand;
    uint32_t n = peer ? kind->n_peer : kind->n_demands;
    for (uint32_t d = first; d < first + n; d++) {
        const ovl_demand *demand = &p->demands[d];
        ovl_id resource = p->rank_ports[t->r->first_port + demand->port];
        if (resource != OVL_NONE && t->sharers[resource] == 1) {
            ovl_trace_use(list, demand->port, g, demand->rate);
        }
    }
}

static void add_traffic(const ovl_trace *t, uint32_t local, ovl_changes *list)
{
    const ovl_program *p = t->job->program;
    const ovl_timeline *line = t->job->timeline;
    const ovl_op *op = ovl_code_op(t->code, local);
    uint32_t activity = activity_of(t, local);
    bool receives = op->kind == OVL_RECV;
    const ovl_cost *cost = receives
                               ? ovl_op_cost(p, ovl_op_rank(p, activity), ovl_op_of(p, activity))
                               : ovl_op_cost(p, t->rank, op);
    ovl_phase_walk walk =
        ovl_phases_begin(line, activity, cost, line->start[activity], line->end[activity]);
    for (uint32_t s = ovl_first_segment(line, activity);
         s < line->n_segments && line->segments[s].op == activity; s++) {
        ovl_phases_reach(p, line, line->end[activity], line->segments[s].from, &walk);
        add_segment(t, walk.phase, receives, &line->segments[s], list);
    }
}

static void traffic_counters(ovl_trace *t)
{
    const ovl_program *p = t->job->program;
    ovl_changes list = {0};
    const char **names = OVL_NEW_ARRAY(t->scratch, const char *, p->n_ports);
    for (uint32_t port = 0; port < p->n_ports; port++) {
        ovl_id resource = p->rank_ports[t->r->first_port + port];
        names[port] = resource == OVL_NONE
                          ? ""
                          : ovl_names_copy(p->names, p->resources[resource].name, t->scratch);
    }
    for (uint32_t local = 0; local < t->code->n_ops; local++) {
        add_traffic(t, local, &list);
    }
    ovl_trace_traffic(t, &list, names, p->n_ports);
}

/* --- SMs --- */

enum { SMS_HELD, SMS_OF_KERNELS, SMS_SERIES };

/* What kernels want becomes what they have, at each moment at which that changes. */
static void give_kernels(const ovl_trace *t, ovl_changes *list)
{
    uint32_t sms = ovl_gpu_of(t->job->program, t->rank).sms;
    int64_t now[SMS_SERIES] = {0}, had = 0;
    uint32_t n = list->len, kept = 0;
    ovl_trace_sort(list);
    for (uint32_t i = 0; i < n; i++) {
        ovl_change c = list->data[i];
        bool last = i + 1 == n || list->data[i + 1].at != c.at;
        now[c.series] += c.by;
        if (c.series == SMS_HELD) {
            list->data[kept++] = c;
        }
        int64_t has = (int64_t)ovl_sms_for_kernels(sms, (uint64_t)now[SMS_HELD],
                                                   (uint64_t)now[SMS_OF_KERNELS]);
        if (last && has != had) {
            ovl_vec_push(list, ((ovl_change){c.at, SMS_OF_KERNELS, has - had}));
            had = has;
        }
    }
    memmove(list->data + kept, list->data + n, (list->len - n) * sizeof *list->data);
    list->len -= n - kept;
}

static void sm_counters(ovl_trace *t)
{
    static const char *const names[] = {"SMs held by communication", "SMs of kernels"};
    ovl_changes list = {0};
    for (uint32_t local = 0; local < t->code->n_ops; local++) {
        ovl_resource_use use;
        if (ovl_use_of_sms(t->job->causes, t->rank, t->r->first_op + local, &use)) {
            ovl_trace_span(&list, use.holds ? SMS_HELD : SMS_OF_KERNELS, use.from, use.to,
                           (int64_t)use.rate);
        }
    }
    if (list.len) {
        give_kernels(t, &list);
    }
    ovl_trace_series(t, &list, names, SMS_SERIES, "SMs");
}

void ovl_trace_counters(ovl_trace *t)
{
    memory_counters(t);
    traffic_counters(t);
    sm_counters(t);
}
