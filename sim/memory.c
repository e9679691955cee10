#include "sim/memory.h"

#include "sim/causes.h"
#include "sim/vec.h"

/* --- Host order --- */

/* A moment at which the total changes: a host position, or a time. */
typedef struct change {
    int64_t at;
    uint8_t order; /* at one moment: 0 frees, 1 allocations, 2 frees of what was just allocated */
    uint32_t buffer;
} change;

static int compare_changes(const void *a, const void *b)
{
    const change *x = a, *y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    if (x->order != y->order) {
        return x->order < y->order ? -1 : 1;
    }
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

typedef OVL_VEC(change) changes;

static void sort_changes(changes *list)
{
    if (list->len) {
        qsort(list->data, list->len, sizeof *list->data, compare_changes);
    }
}

static void host_changes(const ovl_code *code, changes *list)
{
    for (uint32_t b = 0; b < code->n_buffers; b++) {
        const ovl_buffer *buffer = &code->buffers[b];
        ovl_vec_push(list, (change){buffer->alloc, 1, b});
        if (buffer->freed != OVL_NONE) {
            uint8_t order = buffer->freed == buffer->alloc ? 2 : 0;
            ovl_vec_push(list, (change){buffer->freed, order, b});
        }
    }
    sort_changes(list);
}

static uint64_t round_to_block(uint64_t bytes)
{
    uint64_t block = bytes < (UINT64_C(1) << 20) ? 512 : UINT64_C(2) << 20;
    return (bytes + block - 1) / block * block;
}

typedef struct level {
    uint64_t now, peak;
} level;

/* Gives whether the peak rose. */
static bool move(level *l, uint64_t bytes, bool up)
{
    l->now = up ? l->now + bytes : l->now - bytes;
    bool higher = l->now > l->peak;
    l->peak = OVL_MAX(l->peak, l->now);
    return higher;
}

static const char *position_name(const ovl_program *p, const ovl_code *code, int64_t at)
{
    return at < code->n_ops ? ovl_names_text(p->names, code->ops[at].name) : "end";
}

static void find_host_peaks(const ovl_program *p, const ovl_code *code, ovl_arena *arena,
                            ovl_result_rank *row)
{
    changes list = {0};
    ovl_arena scratch = {0};
    level all = {0}, *pool = OVL_NEW_ARRAY(&scratch, level, code->n_streams + 1);
    int64_t peak_at = 0;
    host_changes(code, &list);
    for (uint32_t i = 0; i < list.len; i++) {
        const change *c = &list.data[i];
        const ovl_buffer *buffer = &code->buffers[c->buffer];
        uint32_t stream = OVL_MIN(buffer->stream, code->n_streams);
        if (move(&all, buffer->bytes, c->order == 1)) {
            peak_at = c->at;
        }
        move(&pool[stream], round_to_block(buffer->bytes), c->order == 1);
    }
    row->allocated_peak = all.peak;
    row->allocated_peak_at = ovl_arena_strdup(arena, position_name(p, code, peak_at));
    for (uint32_t s = 0; s <= code->n_streams; s++) {
        row->reserved_peak += pool[s].peak;
    }
    ovl_vec_free(&list);
    ovl_arena_free(&scratch);
}

/* --- GPU time --- */

typedef struct span {
    ovl_time from, to; /* from > to: never used */
} span;

static span *find_spans(const ovl_program *p, const ovl_timeline *t, const ovl_rank *rank,
                        ovl_arena *scratch)
{
    const ovl_code *code = &p->codes[rank->code];
    span *spans = OVL_NEW_ARRAY(scratch, span, code->n_buffers);
    for (uint32_t b = 0; b < code->n_buffers; b++) {
        bool held = code->buffers[b].held;
        spans[b] = (span){held ? 0 : OVL_NEVER, held ? t->finish : 0};
    }
    for (uint32_t i = 0; i < code->n_ops; i++) {
        for (uint32_t k = code->access.at[i]; k < code->access.at[i + 1]; k++) {
            span *s = &spans[code->access.item[k].buffer];
            s->from = OVL_MIN(s->from, t->start[rank->first_op + i]);
            s->to = OVL_MAX(s->to, ovl_buffers_end(p, t, rank->first_op + i));
        }
    }
    return spans;
}

static void find_live_peak(const ovl_code *code, const span *spans, ovl_result_rank *row)
{
    changes list = {0};
    for (uint32_t b = 0; b < code->n_buffers; b++) {
        if (spans[b].from < spans[b].to) {
            ovl_vec_push(&list, (change){spans[b].from, 1, b});
            ovl_vec_push(&list, (change){spans[b].to, 0, b});
        }
    }
    sort_changes(&list);
    level live = {0};
    for (uint32_t i = 0; i < list.len; i++) {
        const change *c = &list.data[i];
        if (move(&live, code->buffers[c->buffer].bytes, c->order == 1)) {
            row->live_peak_at = c->at;
        }
    }
    row->live_peak = live.peak;
    ovl_vec_free(&list);
}

typedef struct ranked {
    const ovl_program *p;
    const ovl_buffer *buffer;
    uint32_t index;
} ranked;

static int compare_holders(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->buffer->bytes != y->buffer->bytes) {
        return x->buffer->bytes > y->buffer->bytes ? -1 : 1;
    }
    int names = ovl_names_order(ovl_names_text(x->p->names, x->buffer->name),
                                ovl_names_text(y->p->names, y->buffer->name));
    return names ? names : (x->index > y->index) - (x->index < y->index);
}

static void find_holders(const ovl_program *p, const ovl_code *code, const span *spans,
                         ovl_arena *arena, ovl_result_rank *row)
{
    OVL_VEC(ranked) list = {0};
    for (uint32_t b = 0; b < code->n_buffers; b++) {
        if (spans[b].from <= row->live_peak_at && row->live_peak_at < spans[b].to) {
            ovl_vec_push(&list, (ranked){p, &code->buffers[b], b});
        }
    }
    if (list.len) {
        qsort(list.data, list.len, sizeof *list.data, compare_holders);
    }
    uint32_t named = OVL_MIN(list.len, OVL_HOLDERS_MAX);
    ovl_holder *holders = OVL_NEW_ARRAY(arena, ovl_holder, named + 1);
    for (uint32_t i = 0; i < list.len; i++) {
        ovl_holder *h = &holders[OVL_MIN(i, named)];
        if (i < named) {
            h->name = ovl_arena_strdup(arena, ovl_names_text(p->names, list.data[i].buffer->name));
            h->category = ovl_category_name(list.data[i].buffer->category);
        }
        h->bytes += list.data[i].buffer->bytes;
    }
    if (list.len > named) {
        uint32_t others = list.len - named;
        holders[named].name =
            ovl_arena_printf(arena, "%" PRIu32 " other%s", others, others > 1 ? "s" : "");
    }
    row->holders = holders;
    row->n_holders = named + (list.len > named);
    ovl_vec_free(&list);
}

void ovl_memory_find(const ovl_program *program, const ovl_timeline *timeline, ovl_arena *arena,
                     ovl_result_rank *row)
{
    const ovl_rank *rank = &program->ranks[row->rank];
    const ovl_code *code = &program->codes[rank->code];
    row->has_memory = code->n_buffers > 0;
    if (!row->has_memory) {
        return;
    }
    ovl_arena scratch = {0};
    const span *spans = find_spans(program, timeline, rank, &scratch);
    find_host_peaks(program, code, arena, row);
    find_live_peak(code, spans, row);
    find_holders(program, code, spans, arena, row);
    ovl_arena_free(&scratch);
}
