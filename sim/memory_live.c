/* What holds data in GPU time. */
#include "sim/causes.h"
#include "sim/memory_parts.h"

const ovl_memory_span *ovl_memory_spans(const ovl_program *program, const ovl_timeline *timeline,
                                        uint32_t rank, ovl_arena *arena)
{
    const ovl_rank *r = &program->ranks[rank];
    const ovl_code *code = &program->codes[r->code];
    ovl_memory_span *spans = OVL_NEW_ARRAY(arena, ovl_memory_span, code->n_buffers);
    for (uint32_t b = 0; b < code->n_buffers; b++) {
        bool held = code->buffers[b].held;
        spans[b] = (ovl_memory_span){held ? 0 : OVL_NEVER, held ? timeline->finish : 0};
    }
    for (uint32_t i = 0; i < code->n_ops; i++) {
        uint32_t op = r->first_op + i;
        for (uint32_t k = code->access.at[i]; k < code->access.at[i + 1]; k++) {
            ovl_memory_span *s = &spans[code->access.item[k].buffer];
            s->from = OVL_MIN(s->from, timeline->start[op]);
            s->to = OVL_MAX(s->to, ovl_buffers_end(program, timeline, op));
        }
    }
    return spans;
}

/* The operation whose start is the first access to a buffer: of several the lowest. */
static const char *first_user(const ovl_memory_view *v, uint32_t buffer, ovl_time at)
{
    for (uint32_t i = 0; i < v->code->n_ops; i++) {
        for (uint32_t k = v->code->access.at[i]; k < v->code->access.at[i + 1]; k++) {
            if (v->code->access.item[k].buffer == buffer &&
                v->t->start[v->rank->first_op + i] == at) {
                return ovl_arena_strdup(v->arena,
                                        ovl_names_text(v->p->names, v->code->ops[i].name));
            }
        }
    }
    return NULL;
}

/* Gives the buffer that made the peak; OVL_NONE if nothing ever lives. */
static uint32_t find_peak(const ovl_memory_view *v, const ovl_memory_span *spans, ovl_peak *peak)
{
    ovl_memory_events list = {0};
    for (uint32_t b = 0; b < v->code->n_buffers; b++) {
        if (spans[b].from < spans[b].to) {
            ovl_vec_push(&list, (ovl_memory_event){spans[b].from, 1, b});
            ovl_vec_push(&list, (ovl_memory_event){spans[b].to, 0, b});
        }
    }
    ovl_memory_sort(&list);
    uint32_t raised = OVL_NONE;
    uint64_t now = 0;
    for (uint32_t i = 0; i < list.len; i++) {
        const ovl_memory_event *e = &list.data[i];
        uint64_t bytes = v->code->buffers[e->buffer].bytes;
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
    const ovl_memory_span *spans = ovl_memory_spans(v->p, v->t, rank, v->scratch);
    ovl_peak *peak = &row->live;
    ovl_memory_parts parts = {0};
    uint32_t raised = find_peak(v, spans, peak);
    for (uint32_t b = 0; b < v->code->n_buffers; b++) {
        if (spans[b].from <= peak->at && peak->at < spans[b].to) {
            ovl_vec_push(&parts, (ovl_memory_part){b, NULL, v->code->buffers[b].bytes});
        }
    }
    if (raised != OVL_NONE) {
        peak->raised_by = first_user(v, raised, peak->at);
    }
    ovl_memory_describe(v, &parts, raised, peak);
}
