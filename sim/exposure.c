#include "sim/exposure.h"

#include "sim/steps.h"
#include "sim/sums.h"

bool ovl_is_communication(const ovl_op *op)
{
    return op->kind == OVL_COLLECTIVE || op->kind == OVL_SEND || op->kind == OVL_RECV ||
           op->kind == OVL_BATCH;
}

bool ovl_is_dependency(const ovl_op *op)
{
    return op->kind == OVL_COLLECTIVE || op->kind == OVL_RECV;
}

/* --- What feeds what --- */

typedef OVL_VEC(uint32_t) locals;

static void note_writes(const ovl_code *code, uint32_t op, uint32_t *writer)
{
    for (uint32_t k = code->access.at[op]; k < code->access.at[op + 1]; k++) {
        if (code->access.item[k].write) {
            writer[code->access.item[k].buffer] = op;
        }
    }
}

static ovl_time isolated(const ovl_program *p, const ovl_op *op)
{
    return ovl_cost_time(p, &p->costs[op->cost]);
}

static bool takes_no_time(const ovl_program *p, const ovl_op *op)
{
    return op->kind == OVL_MARKER && !op->per_rank && isolated(p, op) == 0;
}

/* The stream with most time in kernels: what runs there is the work that the rest serves. Asked
 * before a run has told that its times are beyond counting, too. */
static uint16_t main_stream(const ovl_program *p, const ovl_code *code)
{
    ovl_arena scratch = {0};
    ovl_time *kernels = OVL_NEW_ARRAY(&scratch, ovl_time, code->n_streams);
    uint16_t most = 0;
    for (uint32_t op = 0; op < code->n_ops; op++) {
        if (ovl_code_op(code, op)->kind == OVL_KERNEL) {
            ovl_time *sum = &kernels[ovl_code_op(code, op)->stream];
            *sum = ovl_sum_add(*sum, isolated(p, ovl_code_op(code, op)));
        }
    }
    for (uint16_t s = 1; s < code->n_streams; s++) {
        most = kernels[s] > kernels[most] ? s : most;
    }
    ovl_arena_free(&scratch);
    return most;
}

/* A kernel right behind communication on a stream of its own (a reduced gradient is added to the
 * sharded one) finishes what that began. */
static bool finishes(const ovl_code *code, uint32_t op, uint16_t main)
{
    uint32_t before = ovl_code_stream_prev(code, op);
    return ovl_code_op(code, op)->kind == OVL_KERNEL && ovl_code_op(code, op)->stream != main &&
           before != OVL_NONE && ovl_is_communication(ovl_code_op(code, before));
}

/* Operations that another one waits for or reads from. */
static void mark_awaited(const ovl_code *code, uint32_t op, const uint32_t *writer, bool *awaited)
{
    ovl_offsets after = ovl_code_after(code, op);
    for (uint32_t k = 0; k < after.n; k++) {
        awaited[op + after.by[k]] = true;
    }
    for (uint32_t k = code->access.at[op]; k < code->access.at[op + 1]; k++) {
        uint32_t by = writer[code->access.item[k].buffer];
        if (!code->access.item[k].write && by != OVL_NONE) {
            awaited[by] = true;
        }
    }
}

static const bool *find_passing(const ovl_program *p, const ovl_code *code, uint32_t *writer,
                                ovl_arena *arena)
{
    bool *passes = OVL_NEW_ARRAY(arena, bool, code->n_ops);
    for (uint32_t op = 0; op < code->n_ops; op++) {
        mark_awaited(code, op, writer, passes);
        note_writes(code, op, writer);
    }
    uint16_t main = main_stream(p, code);
    for (uint32_t op = 0; op < code->n_ops; op++) {
        passes[op] &= takes_no_time(p, ovl_code_op(code, op)) || finishes(code, op, main);
    }
    return passes;
}

/* What feeds an operation that passes feeds who waits for it. */
static void pass_on(const uint32_t *at, locals *list, uint32_t passing)
{
    for (uint32_t k = at[passing]; k < at[passing + 1]; k++) {
        uint32_t item = list->data[k];
        ovl_vec_push(list, item);
    }
}

/* A part stands for its batch too, and waiting for a batch is waiting for its parts. */
static void add_feed(const ovl_code *code, locals *list, uint32_t local)
{
    if (!ovl_is_communication(ovl_code_op(code, local))) {
        return;
    }
    ovl_vec_push(list, local);
    if (ovl_code_batch(code, local) != OVL_NONE) {
        ovl_vec_push(list, ovl_code_batch(code, local));
    }
    ovl_offsets parts = ovl_code_parts(code, local);
    for (uint32_t k = 0; k < parts.n; k++) {
        ovl_vec_push(list, local + parts.by[k]);
    }
}

static void add_read_feeds(const ovl_code *code, const bool *passes, const uint32_t *at,
                           locals *list, uint32_t op, const uint32_t *writer)
{
    for (uint32_t k = code->access.at[op]; k < code->access.at[op + 1]; k++) {
        const ovl_access *access = &code->access.item[k];
        uint32_t by = writer[access->buffer];
        if (!access->write && by != OVL_NONE && passes[by]) {
            pass_on(at, list, by);
        }
        if (!access->write && by != OVL_NONE && ovl_is_communication(ovl_code_op(code, by))) {
            ovl_vec_push(list, by);
            if (ovl_code_batch(code, by) != OVL_NONE) {
                ovl_vec_push(list, ovl_code_batch(code, by));
            }
        }
    }
}

static int compare_locals(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* An optimizer is fed by every bucket of the model, so the items of an operation are kept in order
 * and looked up by halves. */
static void sort_feeds(locals *list, uint32_t from)
{
    if (list->len == from) {
        return;
    }
    uint32_t n = from;
    qsort(list->data + from, list->len - from, sizeof *list->data, compare_locals);
    for (uint32_t i = from; i < list->len; i++) {
        if (n == from || list->data[n - 1] != list->data[i]) {
            list->data[n++] = list->data[i];
        }
    }
    list->len = n;
}

static void no_writers(const ovl_code *code, uint32_t *writer)
{
    for (uint32_t b = 0; b < code->n_buffers; b++) {
        writer[b] = OVL_NONE;
    }
}

void ovl_feeds_find(const ovl_program *program, const ovl_code *code, ovl_arena *arena,
                    ovl_feeds *feeds)
{
    ovl_arena scratch = {0};
    uint32_t *writer = OVL_NEW_ARRAY(&scratch, uint32_t, code->n_buffers);
    uint32_t *at = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops + 1);
    locals list = {0};
    no_writers(code, writer);
    feeds->passes = find_passing(program, code, writer, arena);
    no_writers(code, writer);
    for (uint32_t op = 0; op < code->n_ops; op++) {
        at[op] = list.len;
        ovl_offsets after = ovl_code_after(code, op);
        for (uint32_t k = 0; k < after.n; k++) {
            uint32_t before = op + after.by[k];
            add_feed(code, &list, before);
            if (feeds->passes[before]) {
                pass_on(at, &list, before);
            }
        }
        add_read_feeds(code, feeds->passes, at, &list, op, writer);
        sort_feeds(&list, at[op]);
        note_writes(code, op, writer);
    }
    at[code->n_ops] = list.len;
    feeds->at = at;
    feeds->item = ovl_vec_freeze(&list, arena);
    ovl_arena_free(&scratch);
}

/* --- Start conditions --- */

typedef struct view {
    const ovl_code *code;
    const ovl_feeds *feeds;
    const ovl_time *issue, *arrive, *start, *end; /* of the rank, by local operation */
    const ovl_time *passed;      /* of what passes: when it would be over without what feeds it */
    const uint32_t *work_before; /* where inputs are asked for */
} view;

static view view_of(const ovl_program *p, const ovl_timeline *t, const ovl_feeds *feeds,
                    uint32_t rank)
{
    uint32_t first = p->ranks[rank].first_op, code = p->ranks[rank].code;
    return (view){.code = &p->codes[code],
                  .feeds = &feeds[code],
                  .issue = t->issue + first,
                  .arrive = t->arrive + first,
                  .start = t->start + first,
                  .end = t->end + first};
}

static bool feeds_op(const view *v, uint32_t op, uint32_t by)
{
    uint32_t low = v->feeds->at[op], high = v->feeds->at[op + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (v->feeds->item[middle] < by) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < v->feeds->at[op + 1] && v->feeds->item[low] == by;
}

/* Of what passes: when it would be over without what feeds it. */
static ovl_time end_unless_fed(const view *v, uint32_t op, uint32_t by)
{
    if (by == OVL_NONE || feeds_op(v, op, by)) {
        return 0;
    }
    return v->feeds->passes[by] ? v->passed[by] : v->end[by];
}

static ovl_time other_conditions(const view *v, uint32_t op)
{
    const ovl_code *code = v->code;
    ovl_time u = v->issue[op];
    u = OVL_MAX(u, end_unless_fed(v, op, ovl_code_stream_prev(code, op)));
    u = OVL_MAX(u, end_unless_fed(v, op, ovl_code_comm_prev(code, op)));
    ovl_offsets after = ovl_code_after(code, op);
    for (uint32_t k = 0; k < after.n; k++) {
        u = OVL_MAX(u, end_unless_fed(v, op, op + after.by[k]));
    }
    if (code->queued && ovl_code_queue_prev(code, op) != OVL_NONE) {
        u = OVL_MAX(u, v->arrive[ovl_code_queue_prev(code, op)]);
    }
    if (ovl_code_batch(code, op) != OVL_NONE) {
        u = OVL_MAX(u, other_conditions(v, ovl_code_batch(code, op)));
    }
    return u;
}

/* What an operation waits for comes before it in its code, so what passes is looked at in that
 * order, each once: chains that fork and join have more ways through than can be walked. */
static const ovl_time *pass_conditions(view *v, ovl_arena *arena)
{
    ovl_time *passed = OVL_NEW_ARRAY(arena, ovl_time, v->code->n_ops);
    v->passed = passed;
    for (uint32_t op = 0; op < v->code->n_ops; op++) {
        if (v->feeds->passes[op]) {
            passed[op] = other_conditions(v, op) + v->end[op] - v->start[op];
        }
    }
    return passed;
}

/* The end of the step consumes what nothing else does: when the rank's other work was over. */
static ovl_time other_work(const view *v)
{
    ovl_time end = 0;
    ovl_op_range step = ovl_last_step(v->code);
    for (uint32_t op = step.first; op < step.end; op++) {
        if (!ovl_is_communication(ovl_code_op(v->code, op))) {
            end = OVL_MAX(end, v->end[op]);
        }
    }
    return end;
}

/* --- Inputs --- */

typedef struct input {
    ovl_time end;
    bool any;
} input;

static void add_inputs(const view *v, uint32_t op, const ovl_time *written, input *in)
{
    const ovl_code *code = v->code;
    ovl_offsets after = ovl_code_after(code, op);
    for (uint32_t k = 0; k < after.n; k++) {
        in->end = OVL_MAX(in->end, v->end[op + after.by[k]]);
        in->any = true;
    }
    for (uint32_t k = code->access.at[op]; k < code->access.at[op + 1]; k++) {
        const ovl_access *access = &code->access.item[k];
        if (!access->write && written[access->buffer] != OVL_NEVER) {
            in->end = OVL_MAX(in->end, written[access->buffer]);
            in->any = true;
        }
    }
}

/* When what an operation needs was there; without any input, when the work before it on its stream
 * was over: behind other communication there it queues. Input that is still being written when it
 * goes ahead is a race, which is reported as such; the operation itself saw it as ready when it
 * arrived. */
static ovl_time ready_at(const view *v, uint32_t op, const ovl_time *written)
{
    uint32_t batch = ovl_code_batch(v->code, op);
    uint32_t before = v->work_before[batch != OVL_NONE ? batch : op];
    input in = {0};
    add_inputs(v, op, written, &in);
    if (batch != OVL_NONE) {
        add_inputs(v, batch, written, &in);
    }
    if (!in.any && before != OVL_NONE) {
        in.end = v->end[before];
    }
    return OVL_MIN(in.end, v->arrive[op]);
}

/* [n_ops] the last operation before each on its stream that is no communication. */
static const uint32_t *find_work_before(const ovl_code *code, ovl_arena *arena)
{
    uint32_t *work = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops);
    for (uint32_t op = 0; op < code->n_ops; op++) {
        uint32_t before = ovl_code_stream_prev(code, op);
        bool queues = before != OVL_NONE && ovl_is_communication(ovl_code_op(code, before));
        work[op] = queues ? work[before] : before;
    }
    return work;
}

static void note_write_ends(const view *v, uint32_t op, ovl_time *written)
{
    for (uint32_t k = v->code->access.at[op]; k < v->code->access.at[op + 1]; k++) {
        const ovl_access *access = &v->code->access.item[k];
        if (access->write) {
            ovl_time *last = &written[access->buffer];
            *last = *last == OVL_NEVER ? v->end[op] : OVL_MAX(*last, v->end[op]);
        }
    }
}

static ovl_time *nothing_written(const ovl_code *code, ovl_arena *arena)
{
    ovl_time *written = OVL_NEW_ARRAY(arena, ovl_time, code->n_buffers);
    for (uint32_t b = 0; b < code->n_buffers; b++) {
        written[b] = OVL_NEVER;
    }
    return written;
}

/* --- The same consumer in another run --- */

ovl_conditions ovl_conditions_begin(const ovl_program *program, const ovl_timeline *timeline,
                                    const ovl_feeds *feeds, ovl_arena *arena)
{
    return (ovl_conditions){.program = program,
                            .timeline = timeline,
                            .feeds = feeds,
                            .arena = arena,
                            .passed = OVL_NEW_ARRAY(arena, const ovl_time *, program->n_ranks),
                            .inputs = OVL_NEW_ARRAY(arena, const ovl_time *, program->n_ranks)};
}

static const ovl_time *find_inputs(view *v, ovl_arena *arena)
{
    v->work_before = find_work_before(v->code, arena);
    ovl_time *inputs = OVL_NEW_ARRAY(arena, ovl_time, v->code->n_ops);
    ovl_time *written = nothing_written(v->code, arena);
    for (uint32_t op = 0; op < v->code->n_ops; op++) {
        inputs[op] = ovl_is_dependency(ovl_code_op(v->code, op)) ? ready_at(v, op, written) : 0;
        note_write_ends(v, op, written);
    }
    return inputs;
}

ovl_time ovl_u_path(ovl_conditions *c, uint32_t rank, uint32_t local, uint32_t consumer)
{
    view v = view_of(c->program, c->timeline, c->feeds, rank);
    if (!c->passed[rank]) {
        c->passed[rank] = pass_conditions(&v, c->arena);
        c->inputs[rank] = find_inputs(&v, c->arena);
    }
    v.passed = c->passed[rank];
    ovl_time other = consumer == OVL_NONE ? other_work(&v) : other_conditions(&v, consumer);
    return OVL_MAX(other, c->inputs[rank][local]);
}

/* --- Rows --- */

/* The earliest consumer of each operation, by start, then program order. */
static void find_consumers(const view *v, uint32_t *consumer)
{
    for (uint32_t op = 0; op < v->code->n_ops; op++) {
        consumer[op] = OVL_NONE;
    }
    for (uint32_t op = 0; op < v->code->n_ops; op++) {
        for (uint32_t k = v->feeds->at[op]; !v->feeds->passes[op] && k < v->feeds->at[op + 1];
             k++) {
            uint32_t *first = &consumer[v->feeds->item[k]];
            if (v->feeds->item[k] != op &&
                (*first == OVL_NONE || v->start[op] < v->start[*first])) {
                *first = op;
            }
        }
    }
}

/* Many rows have one consumer: its conditions are looked at once. */
static ovl_time conditions_of(const view *v, uint32_t consumer, ovl_time *known)
{
    if (known[consumer] == OVL_NEVER) {
        known[consumer] = other_conditions(v, consumer);
    }
    return known[consumer];
}

/* The same name again in one code is another occurrence of the same thing, e.g. in the next step.
 */
static uint32_t next_occurrence(const ovl_dependencies *rows, uint32_t from, const ovl_code *code,
                                uint32_t local, uint32_t *last_row)
{
    ovl_id name = code->name[local];
    uint32_t before = last_row[name];
    last_row[name] = rows->len;
    return before == OVL_NONE || before < from ? 0 : rows->data[before].occurrence + 1;
}

void ovl_dependencies_find(const ovl_program *program, const ovl_timeline *timeline,
                           const ovl_feeds *feeds, uint32_t rank, ovl_dependencies *rows)
{
    view v = view_of(program, timeline, feeds, rank);
    ovl_arena scratch = {0};
    pass_conditions(&v, &scratch);
    v.work_before = find_work_before(v.code, &scratch);
    ovl_time *written = nothing_written(v.code, &scratch);
    uint32_t *consumer = OVL_NEW_ARRAY(&scratch, uint32_t, v.code->n_ops);
    uint32_t *last_row = OVL_NEW_ARRAY(&scratch, uint32_t, program->names->count);
    ovl_time *conditions = OVL_NEW_ARRAY(&scratch, ovl_time, v.code->n_ops);
    for (uint32_t op = 0; op < v.code->n_ops; op++) {
        conditions[op] = OVL_NEVER;
    }
    for (uint32_t name = 0; name < program->names->count; name++) {
        last_row[name] = OVL_NONE;
    }
    find_consumers(&v, consumer);
    ovl_time end_of_work = other_work(&v);
    uint32_t from = rows->len;
    for (uint32_t op = 0; op < v.code->n_ops; op++) {
        if (ovl_is_dependency(ovl_code_op(v.code, op))) {
            ovl_time ready = ready_at(&v, op, written);
            ovl_time other = consumer[op] == OVL_NONE ? end_of_work
                                                      : conditions_of(&v, consumer[op], conditions);
            ovl_dependency row = {op, consumer[op], 0, ready, OVL_MAX(other, ready)};
            row.occurrence = next_occurrence(rows, from, v.code, op, last_row);
            ovl_vec_push(rows, row);
        }
        note_write_ends(&v, op, written);
    }
    ovl_arena_free(&scratch);
}

/* --- Memory --- */

/* Lists are counted without looking which items are the same, but none is longer than what there is
 * of communication before. */
uint64_t ovl_feeds_memory(const ovl_program *program, const ovl_code *code)
{
    ovl_arena scratch = {0};
    uint32_t *writer = OVL_NEW_ARRAY(&scratch, uint32_t, code->n_buffers);
    uint32_t *length = OVL_NEW_ARRAY(&scratch, uint32_t, code->n_ops), sent = 0;
    uint64_t items = 0;
    no_writers(code, writer);
    const bool *passes = find_passing(program, code, writer, &scratch);
    no_writers(code, writer);
    for (uint32_t op = 0; op < code->n_ops; op++) {
        ovl_offsets after = ovl_code_after(code, op);
        uint64_t n = 0;
        for (uint32_t k = 0; k < after.n; k++) {
            uint32_t before = op + after.by[k];
            n += ovl_is_communication(ovl_code_op(code, before))
                     ? 2 + ovl_code_parts(code, before).n
                     : 0;
            n += passes[before] ? length[before] : 0;
        }
        for (uint32_t k = code->access.at[op]; k < code->access.at[op + 1]; k++) {
            uint32_t by = writer[code->access.item[k].buffer];
            bool reads = !code->access.item[k].write && by != OVL_NONE;
            n += reads ? 2 + (passes[by] ? length[by] : 0) : 0;
        }
        sent += ovl_is_communication(ovl_code_op(code, op));
        length[op] = (uint32_t)OVL_MIN(n, sent);
        items += length[op];
        note_writes(code, op, writer);
    }
    ovl_arena_free(&scratch);
    return items * sizeof(uint32_t) + code->n_ops * (sizeof(bool) + sizeof(uint32_t));
}
