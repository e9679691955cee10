/* The allocator in host program order: what it was asked for, and what it took from the GPU. */
#include "sim/allocator.h"
#include "sim/causes.h"
#include "sim/heap.h"
#include "sim/memory_parts.h"

/* When a buffer was allocated, freed, and its block usable again, as places in the list of events;
 * OVL_NONE: not. */
typedef struct life {
    uint32_t from, freed, gone;
    uint32_t block;    /* of the allocator; OVL_NONE: none */
    uint64_t size;     /* of the block */
    uint32_t recorded; /* first of the streams that were recorded for it, or OVL_NONE */
    ovl_time used;     /* end of the last use on one of them, so far */
} life;

typedef struct recorded {
    uint16_t stream;
    uint32_t next; /* or OVL_NONE */
} recorded;

typedef struct replay {
    const ovl_memory_view *v;
    ovl_memory_events events;
    ovl_allocator allocator;
    life *lives; /* [n_buffers] */
    OVL_VEC(recorded) recorded;
    uint32_t *last_op; /* [n_streams] the last operation issued on it so far, or OVL_NONE */
    uint32_t issued;   /* operations before this one were issued */
    ovl_heap waiting;  /* freed buffers by the moment their blocks are usable */
    ovl_memory_sample now;
    uint64_t allocated, active;
    uint32_t raised[2]; /* events that made the allocated and the reserved peak */
    ovl_result_rank *row;
    void (*put)(void *context, const ovl_memory_sample *sample);
    void *context;
} replay;

static void list_events(replay *r)
{
    const ovl_code *code = r->v->code;
    for (uint32_t b = 0; b < code->n_buffers; b++) {
        const ovl_buffer *buffer = &code->buffers[b];
        r->lives[b] = (life){OVL_NONE, OVL_NONE, OVL_NONE, OVL_NONE, 0, OVL_NONE, 0};
        ovl_vec_push(&r->events, (ovl_memory_event){buffer->alloc, 1, b});
        if (buffer->freed != OVL_NONE) {
            uint8_t order = buffer->freed == buffer->alloc ? 2 : 0;
            ovl_vec_push(&r->events, (ovl_memory_event){buffer->freed, order, b});
        }
    }
    ovl_memory_sort(&r->events);
}

/* --- Time --- */

/* When the host comes to a position of its program: before it issues the operation there. */
static ovl_time host_time(const replay *r, uint32_t position)
{
    const ovl_memory_view *v = r->v;
    if (position < v->code->n_ops) {
        return v->t->issue[v->rank->first_op + position] -
               ovl_causes_launch(ovl_code_op(v->code, position));
    }
    if (position == 0) {
        return 0;
    }
    uint32_t last = v->rank->first_op + position - 1;
    bool call = ovl_code_op(v->code, position - 1)->kind == OVL_HOST;
    return call ? v->t->end[last] : v->t->issue[last];
}

static void record_use(replay *r, uint32_t buffer, uint16_t stream, uint32_t op)
{
    life *l = &r->lives[buffer];
    l->used = OVL_MAX(l->used, ovl_buffers_end(r->v->p, r->v->t, r->v->rank->first_op + op));
    for (uint32_t i = l->recorded; i != OVL_NONE; i = r->recorded.data[i].next) {
        if (r->recorded.data[i].stream == stream) {
            return;
        }
    }
    ovl_vec_push(&r->recorded, (recorded){stream, l->recorded});
    l->recorded = r->recorded.len - 1;
}

/* Takes note of what was issued before a position: the last of each stream, and who uses buffers
 * on streams not their own. */
static void issue_until(replay *r, uint32_t position)
{
    const ovl_code *code = r->v->code;
    for (; r->issued < OVL_MIN(position, code->n_ops); r->issued++) {
        uint32_t i = r->issued;
        const ovl_op *op = ovl_code_op(code, i);
        uint16_t stream = ovl_code_op(code, i - op->behind)->stream;
        if (stream == OVL_NO_STREAM) {
            continue;
        }
        r->last_op[stream] = i;
        for (uint32_t k = code->access.at[i]; k < code->access.at[i + 1]; k++) {
            const ovl_buffer *buffer = &code->buffers[code->access.item[k].buffer];
            if (buffer->record_stream && buffer->stream != stream) {
                record_use(r, code->access.item[k].buffer, stream, i);
            }
        }
    }
}

/* When the GPU has done what the recorded streams were given so far. */
static ovl_time usable_at(const replay *r, uint32_t buffer)
{
    const life *l = &r->lives[buffer];
    ovl_time at = l->used;
    for (uint32_t i = l->recorded; i != OVL_NONE; i = r->recorded.data[i].next) {
        uint32_t op = r->last_op[r->recorded.data[i].stream];
        at = OVL_MAX(at, r->v->t->end[r->v->rank->first_op + op]);
    }
    return at;
}

/* --- Allocations and frees --- */

static void give_back(replay *r, uint32_t buffer, uint32_t event)
{
    life *l = &r->lives[buffer];
    l->gone = event;
    r->active -= ovl_memory_bytes(r->v, buffer);
    if (l->block != OVL_NONE) {
        ovl_allocator_free(&r->allocator, l->block);
    }
}

/* Blocks whose events the GPU has passed by `until` are usable. */
static void process_waiting(replay *r, ovl_time until, uint32_t event)
{
    const ovl_heap_item *top;
    while ((top = ovl_heap_top(&r->waiting)) && top->time <= until) {
        uint32_t buffer = OVL_HEAP_HANDLE(top);
        ovl_heap_remove(&r->waiting, buffer);
        r->now.reserved[OVL_RESERVED_WAITING] -= ovl_memory_bytes(r->v, buffer);
        give_back(r, buffer, event);
    }
}

static void free_buffer(replay *r, uint32_t buffer, uint32_t event)
{
    const ovl_buffer *b = &r->v->code->buffers[buffer];
    uint64_t bytes = ovl_memory_bytes(r->v, buffer);
    r->lives[buffer].freed = event;
    r->allocated -= bytes;
    r->now.allocated[b->category] -= bytes;
    ovl_time usable = r->lives[buffer].recorded == OVL_NONE ? 0 : usable_at(r, buffer);
    if (usable > r->now.at) {
        r->now.reserved[OVL_RESERVED_WAITING] += bytes;
        ovl_heap_set(&r->waiting, buffer, usable, 0);
    } else {
        give_back(r, buffer, event);
    }
}

static const char *position_name(const replay *r, uint32_t position)
{
    const ovl_code *code = r->v->code;
    const char *name =
        position < code->n_ops ? OVL_NAME(r->v->p->names, code->name[position]) : "end";
    return ovl_arena_strdup(r->v->arena, name);
}

static void note_failure(replay *r, uint32_t buffer, uint32_t position)
{
    ovl_memory_failure *f = &r->row->failure;
    if (f->buffer) {
        return;
    }
    const ovl_buffer *b = &r->v->code->buffers[buffer];
    f->buffer = ovl_names_copy(r->v->p->names, b->name, r->v->arena);
    f->bytes = ovl_memory_bytes(r->v, buffer);
    f->op = position_name(r, position);
    f->at = r->now.at;
    f->reserved = r->allocator.reserved;
}

/* cudaMalloc fails: the host waits for all events, free segments go back, and it tries again. */
static void make_room(replay *r, uint32_t buffer, uint32_t event)
{
    const ovl_buffer *b = &r->v->code->buffers[buffer];
    uint64_t bytes = ovl_memory_bytes(r->v, buffer);
    if (ovl_allocator_fits(&r->allocator, b->stream, bytes)) {
        return;
    }
    process_waiting(r, OVL_TIME_MAX, event);
    ovl_allocator_release(&r->allocator);
    if (ovl_allocator_fits(&r->allocator, b->stream, bytes)) {
        r->row->retries++;
    } else {
        note_failure(r, buffer, (uint32_t)r->events.data[event].at);
    }
}

static void raise(replay *r, uint32_t event)
{
    uint64_t levels[2] = {r->allocated, r->allocator.reserved};
    ovl_peak *peaks[2] = {&r->row->allocated, &r->row->reserved};
    for (uint32_t i = 0; i < 2; i++) {
        if (levels[i] > peaks[i]->bytes) {
            peaks[i]->bytes = levels[i];
            peaks[i]->at = r->now.at;
            r->raised[i] = event;
        }
    }
    r->row->active_peak = OVL_MAX(r->row->active_peak, r->active);
}

static void alloc_buffer(replay *r, uint32_t buffer, uint32_t event)
{
    const ovl_buffer *b = &r->v->code->buffers[buffer];
    uint64_t bytes = ovl_memory_bytes(r->v, buffer);
    life *l = &r->lives[buffer];
    process_waiting(r, r->now.at, event);
    l->from = event;
    r->allocated += bytes;
    r->active += bytes;
    r->now.allocated[b->category] += bytes;
    if (bytes > 0) {
        make_room(r, buffer, event);
        l->block = ovl_allocator_alloc(&r->allocator, b->stream, bytes);
        l->size = r->allocator.blocks.data[l->block].size;
    }
    raise(r, event);
}

/* --- The whole --- */

static void show(replay *r)
{
    r->now.reserved[OVL_RESERVED_ALLOCATED] = r->allocated;
    r->now.reserved[OVL_RESERVED_FREE] =
        r->allocator.reserved - r->allocated - r->now.reserved[OVL_RESERVED_WAITING];
    if (r->put) {
        r->put(r->context, &r->now);
    }
}

static void set_up(replay *r)
{
    const ovl_code *code = r->v->code;
    ovl_arena *scratch = r->v->scratch;
    r->lives = OVL_NEW_ARRAY(scratch, life, code->n_buffers);
    /* A rank that runs nothing may hold buffers all the same. */
    uint32_t n_streams = OVL_MAX(code->n_streams, 1);
    r->last_op = OVL_NEW_ARRAY(scratch, uint32_t, n_streams);
    ovl_allocator_init(&r->allocator, n_streams, (ovl_rounding)r->v->p->rounding,
                       ovl_gpu_of(r->v->p, (uint32_t)(r->v->rank - r->v->p->ranks)).memory,
                       scratch);
    list_events(r);
}

static void run(replay *r)
{
    set_up(r);
    for (uint32_t i = 0; i < r->events.len; i++) {
        const ovl_memory_event *e = &r->events.data[i];
        issue_until(r, (uint32_t)e->at);
        r->now.at = host_time(r, (uint32_t)e->at);
        r->now.position = (uint32_t)e->at;
        if (e->order == 1) {
            alloc_buffer(r, e->buffer, i);
        } else {
            free_buffer(r, e->buffer, i);
        }
        bool last = i + 1 == r->events.len || e[1].at != e->at;
        if (last) {
            show(r);
        }
    }
}

static void tear_down(replay *r)
{
    ovl_vec_free(&r->events);
    ovl_vec_free(&r->recorded);
    ovl_heap_free(&r->waiting);
    ovl_allocator_free_all(&r->allocator);
}

/* What was allocated, or waited for the GPU, when an event made a peak. Buffers that are freed
 * later, or never, have OVL_NONE or a later event. */
static void collect(const replay *r, uint32_t event, bool reserved, ovl_peak *peak,
                    ovl_memory_parts *parts)
{
    uint64_t sum = 0, rounding = 0;
    for (uint32_t b = 0; b < r->v->code->n_buffers; b++) {
        const life *l = &r->lives[b];
        uint64_t bytes = ovl_memory_bytes(r->v, b);
        uint32_t until = reserved ? l->gone : l->freed;
        if (l->from <= event && event < until) {
            ovl_vec_push(parts, (ovl_memory_part){b, NULL, bytes});
            sum += bytes;
            rounding += l->size - OVL_MIN(bytes, l->size);
            peak->waiting += reserved && l->freed <= event ? bytes : 0;
        }
    }
    peak->unused = reserved ? peak->bytes - sum - rounding : 0;
    peak->rounding = reserved ? rounding : 0;
}

static void describe(const replay *r, uint32_t which, ovl_peak *peak)
{
    ovl_memory_parts parts = {0};
    const ovl_memory_event *e = &r->events.data[r->raised[which]];
    collect(r, r->raised[which], which == 1, peak, &parts);
    if (peak->rounding) {
        ovl_vec_push(&parts, (ovl_memory_part){OVL_NONE, "rounding", peak->rounding});
    }
    if (peak->unused) {
        ovl_vec_push(&parts, (ovl_memory_part){OVL_NONE, "free in pools", peak->unused});
    }
    peak->raised_by = position_name(r, (uint32_t)e->at);
    ovl_memory_describe(r->v, &parts, e->buffer, peak);
}

void ovl_memory_host(const ovl_memory_view *v, ovl_result_rank *row)
{
    replay r = {.v = v, .row = row};
    run(&r);
    if (r.events.len) {
        describe(&r, 0, &row->allocated);
        describe(&r, 1, &row->reserved);
    }
    tear_down(&r);
}

void ovl_memory_replay(const ovl_program *program, const ovl_timeline *timeline, uint32_t rank,
                       void (*put)(void *context, const ovl_memory_sample *sample), void *context)
{
    ovl_arena scratch = {0};
    const ovl_rank *r = &program->ranks[rank];
    ovl_memory_view v = {program, timeline, r, &program->codes[r->code], &scratch, &scratch};
    ovl_result_rank row = {0};
    replay whole = {.v = &v, .row = &row, .put = put, .context = context};
    run(&whole);
    tear_down(&whole);
    ovl_arena_free(&scratch);
}
