/*
 * The bars of a run for a page, as columns of numbers, which are a third of the bytes that rows
 * with keys would take. Bar i is lane[i], name[i], start_ps[i] ...; times are whole picoseconds.
 *
 *     names        texts that the columns name, op, group, by refer to; -1: none
 *     lanes        {rank, name}: bars of one lane never overlap
 *     bars         their columns, of which
 *       kind       0 kernel, 1 communication, 2 copy, 3 host, 4 marker; kernels of a pipeline:
 *                  5 forward, 6 backward, 7 and 8 its parts, for inputs and for weights, 9 a pair
 *       wait_ps    it waited so long, in place, for other ranks or an engine, before it began
 *       why, by    what it waited for last ("after", names[by]); whys has the words
 *       slow       which entry of `slow` tells how it was held back; -1: it was not
 *     slow         {lost: [[name, time_ps, lost_ps] ...], at: [from_ps, to_ps, rate ...]}
 *     critical     indices of bars on the critical path
 */
#include "tools/page.h"

typedef enum bar_kind { KERNEL, COMMUNICATION, COPYING, HOST, MARKER, STAGES } bar_kind;

typedef struct bar {
    uint32_t lane, name, by, slow, group, op, members;
    uint8_t kind, why;
    bool critical;
    ovl_time start, end, wait;
    uint64_t bytes;
} bar;

typedef struct lane {
    uint32_t rank, group, sub;
    const char *name;
} lane;

typedef struct maker {
    const ovl_trace_job *job;
    ovl_json *json;
    ovl_arena arena;
    OVL_VEC(bar) bars;
    OVL_VEC(lane) lanes;
    OVL_VEC(uint32_t) carriers; /* of each entry of `slow` */
    uint32_t *slow_of;          /* [n_ops] of a carrier, plus 1; 0: not looked at */
    /* Of the rank being looked at: until when its lanes are taken, by group and number. */
    OVL_VEC(ovl_time) busy;
    OVL_VEC(lane) own;
} maker;

/* --- Lanes --- */

/* Streams are groups 0, 1 ...; the host and wires are behind them. */
static const char *group_name(maker *m, const ovl_code *code, uint32_t group)
{
    const ovl_names *names = m->job->program->names;
    return group < code->n_streams    ? ovl_names_copy(names, code->streams[group], &m->arena)
           : group == code->n_streams ? "host"
                                      : "wire";
}

/* The first lane of a group that is free: parts of a batch, and wires, overlap. */
static uint32_t take_lane(maker *m, const ovl_code *code, uint32_t rank, uint32_t group,
                          ovl_time from, ovl_time to)
{
    uint32_t sub = 0;
    for (uint32_t i = 0; i < m->own.len; i++) {
        if (m->own.data[i].group != group) {
            continue;
        }
        if (m->busy.data[i] <= from) {
            m->busy.data[i] = to;
            return i;
        }
        sub++;
    }
    const char *name = group_name(m, code, group);
    lane fresh = {rank, group, sub,
                  sub ? ovl_arena_printf(&m->arena, "%s, %" PRIu32, name, sub + 1) : name};
    ovl_vec_push(&m->own, fresh);
    ovl_vec_push(&m->busy, to);
    return m->own.len - 1;
}

/* Puts the lanes of a rank in order behind the others, and its bars on them. */
static void settle_lanes(maker *m, uint32_t first_bar)
{
    uint32_t n = m->own.len, base = m->lanes.len;
    uint32_t *place = OVL_NEW_ARRAY(&m->arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        const lane *a = &m->own.data[i];
        for (uint32_t k = 0; k < n; k++) {
            const lane *b = &m->own.data[k];
            place[i] += b->group < a->group || (b->group == a->group && b->sub < a->sub);
        }
        ovl_vec_push(&m->lanes, *a);
    }
    for (uint32_t i = 0; i < n; i++) {
        m->lanes.data[base + place[i]] = m->own.data[i];
    }
    for (uint32_t i = first_bar; i < m->bars.len; i++) {
        m->bars.data[i].lane = base + place[m->bars.data[i].lane];
    }
    m->own.len = m->busy.len = 0;
}

/* --- Bars --- */

static bar_kind kind_of(const ovl_op *op)
{
    switch ((ovl_op_kind)op->kind) {
    case OVL_KERNEL: /* parts of a stage follow in their order */
        return op->part == OVL_PART_NONE ? KERNEL : (bar_kind)(STAGES + op->part - 1);
    case OVL_COPY:
        return COPYING;
    case OVL_HOST:
        return HOST;
    case OVL_MARKER:
        return MARKER;
    case OVL_COLLECTIVE:
    case OVL_SEND:
    case OVL_RECV:
    case OVL_BATCH:
        break;
    }
    return COMMUNICATION;
}

/* The entry of `slow` for an operation; OVL_NONE if it ran at isolated speed. */
static uint32_t slow_of(maker *m, uint32_t op)
{
    const ovl_timeline *line = m->job->timeline;
    uint32_t carrier = ovl_limits_carrier(m->job->causes, op);
    uint32_t limit = ovl_limits_first(line, carrier);
    if (limit == line->n_limits || line->limits[limit].op != carrier) {
        return OVL_NONE;
    }
    if (m->slow_of[carrier] == 0) {
        ovl_vec_push(&m->carriers, carrier);
        m->slow_of[carrier] = m->carriers.len;
    }
    return m->slow_of[carrier] - 1;
}

static void add_cause(maker *m, uint32_t op, bar *b)
{
    ovl_cause cause;
    if (!ovl_causes_binding(m->job->causes, OVL_TRAIL(op, OVL_ARRIVED), &cause) ||
        (cause.node == OVL_TRAIL(op, OVL_ISSUED) && m->job->timeline->issue[op] == 0)) {
        return;
    }
    b->why = (uint8_t)cause.why;
    b->by = ovl_causes_name(m->job->causes, OVL_TRAIL_OP(cause.node));
}

static void add_communication(maker *m, uint32_t rank, const ovl_op *op, bar *b)
{
    const ovl_program *p = m->job->program;
    if (!ovl_is_communication(op) || op->kind == OVL_BATCH) {
        return;
    }
    const ovl_comm *comm = ovl_rank_comm(p, rank, op->comm);
    b->bytes = op->bytes;
    b->group = comm->name;
    b->members = comm->size ? comm->size : comm->n_members;
    b->op = op->kind == OVL_COLLECTIVE ? op->coll
            : op->kind == OVL_SEND     ? OVL_COLL_COUNT
                                       : OVL_COLL_COUNT + 1;
}

static void push(maker *m, const ovl_code *code, uint32_t rank, uint32_t group, bar b)
{
    b.lane = take_lane(m, code, rank, group, b.start - b.wait, b.end);
    ovl_vec_push(&m->bars, b);
}

static uint32_t group_of(const ovl_code *code, uint32_t local)
{
    const ovl_op *op = ovl_code_op(code, local);
    return op->kind == OVL_HOST ? code->n_streams : ovl_code_op(code, local - op->behind)->stream;
}

/* What the host does to launch it, and the bytes of an eager send behind it. */
static void add_others(maker *m, const ovl_code *code, uint32_t rank, uint32_t number,
                       const ovl_op *op, const bar *own)
{
    bar b = {.name = own->name, .by = OVL_NONE, .slow = OVL_NONE, .op = OVL_NONE, .kind = HOST};
    if (op->launch && op->kind != OVL_HOST && !op->behind) {
        b.end = m->job->timeline->issue[number];
        b.start = b.end - op->launch;
        push(m, code, rank, code->n_streams, b);
    }
    if (op->kind == OVL_SEND && op->eager) {
        b = *own;
        b.critical = false;
        b.wait = 0;
        b.start = ovl_wire_start(m->job->program, m->job->timeline, number);
        b.end = m->job->timeline->landed[number];
        push(m, code, rank, code->n_streams + 1, b);
    }
}

static void add_op(maker *m, const ovl_code *code, uint32_t rank, uint32_t local)
{
    const ovl_timeline *line = m->job->timeline;
    const ovl_op *op = ovl_code_op(code, local);
    uint32_t number = m->job->program->ranks[rank].first_op + local;
    ovl_time from = op->kind == OVL_HOST ? line->issue[number] : line->arrive[number];
    bar b = {.name = code->name[local], .by = OVL_NONE, .op = OVL_NONE};
    b.kind = (uint8_t)kind_of(op);
    b.start = line->start[number];
    b.end = line->end[number];
    b.wait = b.start - OVL_MIN(from, b.start);
    b.critical = m->job->critical[number];
    b.slow = slow_of(m, number);
    add_cause(m, number, &b);
    add_communication(m, rank, op, &b);
    push(m, code, rank, group_of(code, local), b);
    add_others(m, code, rank, number, op, &b);
}

static void add_rank(maker *m, uint32_t rank)
{
    const ovl_code *code = &m->job->program->codes[m->job->program->ranks[rank].code];
    uint32_t first = m->bars.len;
    for (uint32_t local = 0; local < code->n_ops; local++) {
        add_op(m, code, rank, local);
    }
    settle_lanes(m, first);
}

/* --- Columns --- */

static int64_t or_none(uint32_t value)
{
    return value == OVL_NONE ? -1 : (int64_t)value;
}

#define COLUMN(m, key, value)                                                                      \
    do {                                                                                           \
        ovl_json_array((m)->json, (key), OVL_JSON_FLOW);                                           \
        for (uint32_t i_ = 0; i_ < (m)->bars.len; i_++) {                                          \
            const bar *b = &(m)->bars.data[i_];                                                    \
            ovl_json_int((m)->json, NULL, (value));                                                \
        }                                                                                          \
        ovl_json_close((m)->json);                                                                 \
    } while (0)

static void put_bars(maker *m)
{
    ovl_json_object(m->json, "bars", OVL_JSON_BLOCK);
    COLUMN(m, "lane", b->lane);
    COLUMN(m, "name", b->name);
    COLUMN(m, "kind", b->kind);
    COLUMN(m, "start_ps", b->start);
    COLUMN(m, "length_ps", b->end - b->start);
    COLUMN(m, "wait_ps", b->wait);
    COLUMN(m, "why", b->why);
    COLUMN(m, "by", or_none(b->by));
    COLUMN(m, "slow", or_none(b->slow));
    COLUMN(m, "op", or_none(b->op));
    COLUMN(m, "group", b->op == OVL_NONE ? -1 : (int64_t)b->group);
    COLUMN(m, "members", b->members);
    COLUMN(m, "bytes", (int64_t)b->bytes);
    ovl_json_close(m->json);
    ovl_json_array(m->json, "critical", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < m->bars.len; i++) {
        if (m->bars.data[i].critical) {
            ovl_json_uint(m->json, NULL, i);
        }
    }
    ovl_json_close(m->json);
}

/* Only names that are used: "" stands for the others. */
static void put_names(maker *m)
{
    const ovl_names *names = m->job->program->names;
    bool *used = OVL_NEW_ARRAY(&m->arena, bool, names->count);
    for (uint32_t i = 0; i < m->bars.len; i++) {
        const bar *b = &m->bars.data[i];
        used[b->name] = true;
        if (b->by != OVL_NONE) {
            used[b->by] = true;
        }
        if (b->op != OVL_NONE) {
            used[b->group] = true;
        }
    }
    ovl_json_array(m->json, "names", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < names->count; i++) {
        ovl_json_text(m->json, NULL, used[i] ? OVL_NAME(names, i) : "");
    }
    ovl_json_close(m->json);
}

/* The words that columns number. */
static void put_words(maker *m)
{
    static const char *const whys[] = {"batch",        "stream",     "after",
                                       "communicator", "rendezvous", "hardware queue",
                                       "copy engine",  "wire",       "host"};
    ovl_json_array(m->json, "whys", OVL_JSON_FLOW);
    for (size_t i = 0; i < OVL_COUNT(whys); i++) {
        ovl_json_text(m->json, NULL, whys[i]);
    }
    ovl_json_close(m->json);
    ovl_json_array(m->json, "ops", OVL_JSON_FLOW);
    for (int i = 0; i < OVL_COLL_COUNT; i++) {
        ovl_json_text(m->json, NULL, ovl_coll_name((ovl_coll)i));
    }
    ovl_json_text(m->json, NULL, "send");
    ovl_json_text(m->json, NULL, "recv");
    ovl_json_close(m->json);
}

static void put_lanes(maker *m)
{
    ovl_json_array(m->json, "lanes", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < m->lanes.len; i++) {
        ovl_json_object(m->json, NULL, OVL_JSON_FLOW);
        ovl_json_uint(m->json, "rank", m->lanes.data[i].rank);
        ovl_json_text(m->json, "name", m->lanes.data[i].name);
        ovl_json_close(m->json);
    }
    ovl_json_close(m->json);
}

static void put_slow_one(maker *m, uint32_t op)
{
    const ovl_timeline *line = m->job->timeline;
    ovl_json_object(m->json, NULL, OVL_JSON_FLOW);
    ovl_json_array(m->json, "lost", OVL_JSON_FLOW);
    for (uint32_t i = ovl_limits_first(line, op); i < line->n_limits && line->limits[i].op == op;
         i++) {
        ovl_json_array(m->json, NULL, OVL_JSON_FLOW);
        ovl_name_room room;
        ovl_json_text(m->json, NULL, ovl_limit_name(m->job->program, line->limits[i].bound, &room));
        ovl_json_int(m->json, NULL, line->limits[i].time);
        ovl_json_int(m->json, NULL, line->limits[i].lost);
        ovl_json_close(m->json);
    }
    ovl_json_close(m->json);
    ovl_json_array(m->json, "at", OVL_JSON_FLOW);
    for (uint32_t i = ovl_first_segment(line, op);
         i < line->n_segments && line->segments[i].op == op; i++) {
        if (line->segments[i].rate < 1) {
            ovl_json_int(m->json, NULL, line->segments[i].from);
            ovl_json_int(m->json, NULL, line->segments[i].to);
            ovl_json_double(m->json, NULL, line->segments[i].rate);
        }
    }
    ovl_json_close(m->json);
    ovl_json_close(m->json);
}

void ovl_page_timeline(ovl_json *json, const ovl_trace_job *job)
{
    maker m = {.job = job, .json = json};
    m.slow_of = OVL_NEW_ARRAY(&m.arena, uint32_t, job->program->n_ops);
    for (uint32_t rank = 0; rank < job->program->n_ranks; rank++) {
        if (job->ranks[rank]) {
            add_rank(&m, rank);
        }
    }
    ovl_json_object(json, "timeline", OVL_JSON_BLOCK);
    ovl_json_int(json, "begin_ps", job->timeline->begin);
    ovl_json_int(json, "end_ps", job->timeline->finish);
    ovl_json_uint(json, "ranks_in_all", job->program->n_ranks);
    put_words(&m);
    put_names(&m);
    put_lanes(&m);
    put_bars(&m);
    ovl_json_array(json, "slow", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < m.carriers.len; i++) {
        put_slow_one(&m, m.carriers.data[i]);
    }
    ovl_json_close(json);
    ovl_json_close(json);
    ovl_vec_free(&m.bars);
    ovl_vec_free(&m.lanes);
    ovl_vec_free(&m.carriers);
    ovl_vec_free(&m.busy);
    ovl_vec_free(&m.own);
    ovl_arena_free(&m.arena);
}
