/* Stages of a pipeline as rows of their own, beside the ranks, and the colours of its kernels. */
#include "tools/trace_parts.h"

/* Names of colours that trace viewers know (catapult's reserved names). */
static const char *const colours[OVL_PART_COUNT] = {NULL,        "rail_response", "rail_load",
                                                    "rail_idle", "olive",         "generic_work"};
static const char *const letters[OVL_PART_COUNT] = {NULL, "F", "B", "I", "W", "F+B"};
static const char *const categories[OVL_PART_COUNT] = {
    NULL, "forward", "backward", "backward_input", "backward_weight", "overlapped"};

void ovl_trace_colour(ovl_trace *t, const ovl_op *op)
{
    if (op->kind == OVL_KERNEL && op->part != OVL_PART_NONE) {
        ovl_json_text(t->json, "cname", colours[op->part]);
    }
}

void ovl_trace_stage(ovl_trace *t, const ovl_op *op)
{
    if (op->part != OVL_PART_NONE) {
        ovl_json_text(t->json, "part", categories[op->part]);
        ovl_json_uint(t->json, "stage", op->stage);
        ovl_json_uint(t->json, "microbatch", op->microbatch);
    }
}

static bool is_stage(const ovl_op *op)
{
    return op->kind == OVL_KERNEL && op->part != OVL_PART_NONE;
}

/* The process of the stages stands behind all ranks, but is shown above them. */
static uint32_t stage_process(const ovl_trace *t)
{
    return t->job->program->n_ranks;
}

static uint64_t stage_thread(const ovl_trace *t, uint32_t rank, uint32_t stage)
{
    const uint64_t most = UINT16_MAX + 1;
    return t->job->program->n_ranks * t->stride + rank * most + stage;
}

static void stage_slice(ovl_trace *t, uint32_t local)
{
    const ovl_op *op = &t->code->ops[local];
    uint32_t number = t->r->first_op + local;
    ovl_time start = t->job->timeline->start[number], end = t->job->timeline->end[number];
    ovl_trace_event(t, "X", stage_process(t), stage_thread(t, t->rank, op->stage), start,
                    categories[op->part],
                    ovl_arena_printf(t->scratch, "%s %" PRIu32, letters[op->part], op->microbatch));
    ovl_json_micros(t->json, "dur", end / OVL_NS * OVL_NS - start / OVL_NS * OVL_NS);
    ovl_trace_colour(t, op);
    ovl_json_object(t->json, "args", OVL_JSON_FLOW);
    ovl_json_int(t->json, "start_ps", start);
    ovl_json_int(t->json, "end_ps", end);
    ovl_trace_stage(t, op);
    ovl_json_close(t->json);
    ovl_json_close(t->json);
}

/* A row is named when its first kernel is met. Rows are sorted by stage, then by rank. */
static void name_row(ovl_trace *t, uint32_t rank, uint32_t stage)
{
    uint64_t thread = stage_thread(t, rank, stage);
    const char *name =
        ovl_arena_printf(t->scratch, "stage %" PRIu32 ", rank %" PRIu32, stage, rank);
    t->rank = stage_process(t);
    ovl_trace_metadata(t, "thread_name", thread, name);
    ovl_trace_sort_index(t, "thread_sort_index", thread,
                         (uint64_t)stage * t->job->program->n_ranks + rank);
    t->rank = rank;
}

static void name_process(ovl_trace *t)
{
    uint32_t rank = t->rank;
    t->rank = stage_process(t);
    ovl_trace_metadata(t, "process_name", stage_thread(t, 0, 0), "pipeline");
    ovl_trace_sort_index(t, "process_sort_index", stage_thread(t, 0, 0), 0);
    t->rank = rank;
}

void ovl_trace_stages(ovl_trace *t)
{
    const ovl_program *p = t->job->program;
    ovl_arena own = {0};
    bool *named = OVL_NEW_ARRAY(&own, bool, UINT16_MAX + 1), begun = false;
    for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
        t->rank = rank;
        t->r = &p->ranks[rank];
        t->code = &p->codes[t->r->code];
        memset(named, 0, (UINT16_MAX + 1) * sizeof *named);
        for (uint32_t i = 0; i < (t->job->ranks[rank] ? t->code->n_ops : 0); i++) {
            const ovl_op *op = &t->code->ops[i];
            if (!is_stage(op)) {
                continue;
            }
            if (!begun) {
                name_process(t);
                begun = true;
            }
            if (!named[op->stage]) {
                named[op->stage] = true;
                name_row(t, rank, op->stage);
            }
            stage_slice(t, i);
        }
        ovl_arena_free(t->scratch);
    }
    ovl_arena_free(&own);
}
