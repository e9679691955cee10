#include "sim/memory_parts.h"

static int compare_events(const void *a, const void *b)
{
    const ovl_memory_event *x = a, *y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    if (x->order != y->order) {
        return x->order < y->order ? -1 : 1;
    }
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

void ovl_memory_sort(ovl_memory_events *events)
{
    if (events->len) {
        qsort(events->data, events->len, sizeof *events->data, compare_events);
    }
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
    row->memory_limit = ovl_gpu_of(program, row->rank).memory;
    ovl_arena scratch = {0};
    ovl_memory_view view = {program, timeline, rank, code, arena, &scratch};
    ovl_memory_host(&view, row);
    ovl_memory_live(&view, row);
    row->allocated_peak = row->allocated.bytes;
    row->reserved_peak = row->reserved.bytes;
    row->live_peak = row->live.bytes;
    ovl_arena_free(&scratch);
}
