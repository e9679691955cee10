/* What holds data in GPU time. */
#include "sim/causes.h"
#include "sim/memory_parts.h"

typedef struct finder {
    ovl_memory_span *now; /* [n_buffers] of this step, or carried over; from OVL_NEVER: none yet */
    uint32_t *step;       /* [n_buffers] the step it was used in last */
    OVL_VEC(ovl_memory_span) done;
} finder;

static void end_span(finder *f, uint32_t buffer)
{
    if (f->now[buffer].from < f->now[buffer].to) {
        ovl_vec_push(&f->done, f->now[buffer]);
    }
    f->now[buffer] = (ovl_memory_span){buffer, OVL_NEVER, 0};
}

/* Does the operation read the buffer, too? */
static bool reads(const ovl_code *code, uint32_t op, uint32_t buffer)
{
    for (uint32_t k = code->access.at[op]; k < code->access.at[op + 1]; k++) {
        if (code->access.item[k].buffer == buffer && !code->access.item[k].write) {
            return true;
        }
    }
    return false;
}

static void begin(finder *f, const ovl_code *code, const ovl_timeline *t)
{
    for (uint32_t b = 0; b < code->n_buffers; b++) {
        bool held = code->buffers[b].held;
        f->now[b] = (ovl_memory_span){b, held ? 0 : OVL_NEVER, held ? t->finish : 0};
    }
}

ovl_memory_spans ovl_memory_find_spans(const ovl_program *program, const ovl_timeline *timeline,
                                       uint32_t rank, ovl_arena *arena)
{
    const ovl_rank *r = &program->ranks[rank];
    const ovl_code *code = &program->codes[r->code];
    ovl_arena scratch = {0};
    finder f = {OVL_NEW_ARRAY(&scratch, ovl_memory_span, code->n_buffers),
                OVL_NEW_ARRAY(&scratch, uint32_t, code->n_buffers),
                {0}};
    begin(&f, code, timeline);
    uint32_t step = 0;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        for (uint32_t k = code->access.at[i]; k < code->access.at[i + 1]; k++) {
            uint32_t b = code->access.item[k].buffer;
            if (f.step[b] != step && !code->buffers[b].held && !reads(code, i, b)) {
                end_span(&f, b);
            }
            f.step[b] = step;
            f.now[b].from = OVL_MIN(f.now[b].from, timeline->start[r->first_op + i]);
            f.now[b].to = OVL_MAX(f.now[b].to, ovl_buffers_end(program, timeline, r->first_op + i));
        }
        step += ovl_code_op(code, i)->step_end;
    }
    for (uint32_t b = 0; b < code->n_buffers; b++) {
        end_span(&f, b);
    }
    ovl_arena_free(&scratch);
    ovl_memory_spans spans = {.n = f.done.len};
    spans.item = ovl_vec_freeze(&f.done, arena);
    return spans;
}

/* The operation whose start is the first access to a buffer: of several the lowest. */
static const char *first_user(const ovl_memory_view *v, uint32_t buffer, ovl_time at)
{
    for (uint32_t i = 0; i < v->code->n_ops; i++) {
        for (uint32_t k = v->code->access.at[i]; k < v->code->access.at[i + 1]; k++) {
            if (v->code->access.item[k].buffer == buffer &&
                v->t->start[v->rank->first_op + i] == at) {
                return ovl_names_copy(v->p->names, v->code->name[i], v->arena);
            }
        }
    }
    return NULL;
}

/* By moment; ends before begins; of one moment by buffer. */
static void list_changes(const ovl_memory_spans *spans, ovl_memory_events *list)
{
    for (uint32_t i = 0; i < spans->n; i++) {
        ovl_vec_push(list, (ovl_memory_event){spans->item[i].from, 1, spans->item[i].buffer});
        ovl_vec_push(list, (ovl_memory_event){spans->item[i].to, 0, spans->item[i].buffer});
    }
    ovl_memory_sort(list);
}

/* Gives the buffer that made the peak; OVL_NONE if nothing ever lives. */
static uint32_t find_peak(const ovl_memory_view *v, const ovl_memory_spans *spans, ovl_peak *peak)
{
    ovl_memory_events list = {0};
    list_changes(spans, &list);
    uint32_t raised = OVL_NONE;
    uint64_t now = 0;
    for (uint32_t i = 0; i < list.len; i++) {
        const ovl_memory_event *e = &list.data[i];
        uint64_t bytes = ovl_memory_bytes(v, e->buffer);
        now = e->order == 1 ? now + bytes : now - bytes;
        if (now > peak->bytes) {
            peak->bytes = now;
            peak->at = e->at;
            raised = e->buffer;
        }
    }
    ovl_vec_free(&list);
    return raised;
}

void ovl_memory_live(const ovl_memory_view *v, ovl_result_rank *row)
{
    uint32_t rank = (uint32_t)(v->rank - v->p->ranks);
    ovl_memory_spans spans = ovl_memory_find_spans(v->p, v->t, rank, v->scratch);
    ovl_peak *peak = &row->live;
    ovl_memory_parts parts = {0};
    uint32_t raised = find_peak(v, &spans, peak);
    for (uint32_t i = 0; i < spans.n; i++) {
        const ovl_memory_span *s = &spans.item[i];
        if (s->from <= peak->at && peak->at < s->to) {
            uint64_t bytes = ovl_memory_bytes(v, s->buffer);
            ovl_vec_push(&parts, (ovl_memory_part){s->buffer, NULL, bytes});
        }
    }
    if (raised != OVL_NONE) {
        peak->raised_by = first_user(v, raised, peak->at);
    }
    ovl_memory_describe(v, &parts, raised, peak);
}

/* --- Over time --- */

typedef OVL_VEC(ovl_memory_sample) samples;

static void keep_sample(void *context, const ovl_memory_sample *sample)
{
    samples *list = context;
    ovl_vec_push(list, *sample);
}

static void find_live_line(const ovl_program *p, const ovl_memory_spans *spans, ovl_arena *arena,
                           ovl_result_rank *row)
{
    const ovl_code *code = &p->codes[p->ranks[row->rank].code];
    ovl_memory_events list = {0};
    OVL_VEC(ovl_live_sample) line = {0};
    ovl_live_sample now = {0};
    list_changes(spans, &list);
    for (uint32_t i = 0; i < list.len; i++) {
        const ovl_memory_event *e = &list.data[i];
        const ovl_buffer *buffer = &code->buffers[e->buffer];
        uint64_t bytes = ovl_buffer_bytes(p, row->rank, buffer);
        uint64_t *sum = &now.live[buffer->category];
        *sum = e->order == 1 ? *sum + bytes : *sum - bytes;
        now.at = e->at;
        if (i + 1 == list.len || list.data[i + 1].at != e->at) {
            ovl_vec_push(&line, now);
        }
    }
    row->n_live_line = line.len;
    row->live_line = ovl_vec_freeze(&line, arena);
    ovl_vec_free(&list);
}

void ovl_memory_lines(const ovl_program *program, const ovl_timeline *timeline, ovl_arena *arena,
                      ovl_result_rank *row)
{
    if (!row->has_memory) {
        return;
    }
    ovl_arena scratch = {0};
    samples host = {0};
    ovl_memory_spans spans = ovl_memory_find_spans(program, timeline, row->rank, &scratch);
    find_live_line(program, &spans, arena, row);
    ovl_memory_replay(program, timeline, row->rank, keep_sample, &host);
    const ovl_code *code = &program->codes[program->ranks[row->rank].code];
    for (uint32_t i = 0; i < host.len; i++) {
        uint32_t at = host.data[i].position;
        const char *name = at < code->n_ops ? OVL_NAME(program->names, code->name[at]) : "end";
        host.data[i].before = ovl_arena_strdup(arena, name);
    }
    row->n_host_line = host.len;
    row->host_line = ovl_vec_freeze(&host, arena);
    ovl_arena_free(&scratch);
}
