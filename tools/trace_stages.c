/* Stages of a pipeline as rows of their own, beside the ranks, and the colours of its kernels. The
 * kernel 0F3+7B5 of rank 0 (4 stages, two copies of the model) is F 3 on the row "stage 0, rank 0"
 * and for the same time B 5 on "stage 3, rank 0, second copy". */
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

void ovl_trace_stage(ovl_trace *t, uint32_t local)
{
    const ovl_op *op = ovl_code_op(t->code, local);
    if (op->part != OVL_PART_NONE) {
        ovl_json_text(t->json, "part", categories[op->part]);
        ovl_json_uint(t->json, "stage", op->stage);
        ovl_json_uint(t->json, "microbatch", ovl_code_microbatch(t->code, local));
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

/* --- Rows --- */

/* Stages of one copy of the model. */
static uint32_t n_stages(const ovl_trace *t)
{
    return t->job->schedule ? ovl_schedule_chain(t->job->schedule) : UINT16_MAX + 1;
}

/* What a slice of a stage is of. Of a pair these are two, for the same time. */
typedef struct half {
    uint32_t stage, microbatch;
    ovl_part part;
    const char *with; /* the other half, "3B1", or NULL */
} half;

static ovl_part part_of(const ovl_action *a)
{
    static const ovl_part parts[OVL_ACT_COUNT] = {[OVL_ACT_F] = OVL_PART_FORWARD,
                                                  [OVL_ACT_I] = OVL_PART_INPUT,
                                                  [OVL_ACT_W] = OVL_PART_WEIGHT,
                                                  [OVL_ACT_B] = OVL_PART_BACKWARD};
    return parts[a->type];
}

static void stage_slice(ovl_trace *t, uint32_t local, const half *h)
{
    const char *name = ovl_arena_printf(t->scratch, "%s %" PRIu32, letters[h->part], h->microbatch);
    uint32_t number = t->r->first_op + local, chain = n_stages(t);
    ovl_time start = t->job->timeline->start[number], end = t->job->timeline->end[number];
    ovl_trace_event(t, "X", stage_process(t), stage_thread(t, t->rank, h->stage), start,
                    categories[h->part], name);
    ovl_json_micros(t->json, "dur", end / OVL_NS * OVL_NS - start / OVL_NS * OVL_NS);
    ovl_json_text(t->json, "cname", colours[h->part]);
    ovl_json_object(t->json, "args", OVL_JSON_FLOW);
    ovl_json_int(t->json, "start_ps", start);
    ovl_json_int(t->json, "end_ps", end);
    ovl_json_text(t->json, "part", categories[h->part]);
    ovl_json_uint(t->json, "stage", h->stage % chain);
    ovl_json_uint(t->json, "microbatch", h->microbatch);
    if (h->with) {
        ovl_json_text(t->json, "with", h->with);
    }
    ovl_json_close(t->json);
    ovl_json_close(t->json);
}

/* A row is named when its first kernel is met. Rows are sorted by stage of the model, then by
 * rank. */
static void name_row(ovl_trace *t, uint32_t rank, uint32_t stage)
{
    uint64_t thread = stage_thread(t, rank, stage);
    uint32_t chain = n_stages(t);
    const char *name = ovl_arena_printf(t->scratch, "stage %" PRIu32 ", rank %" PRIu32 "%s",
                                        stage % chain, rank, stage < chain ? "" : ", second copy");
    t->rank = stage_process(t);
    ovl_trace_metadata(t, "thread_name", thread, name);
    ovl_trace_sort_index(t, "thread_sort_index", thread,
                         (uint64_t)(stage % chain) * t->job->program->n_ranks + rank);
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

/* --- Kernels of one rank --- */

typedef struct walk {
    bool *named;        /* [stages of the schedule] which have a row on this rank */
    uint32_t next_pair; /* where the next pair may be in the rank's list of actions */
} walk;

/* The pair a kernel runs: its first action, before the second. Kernels come in the order of the
 * list. NULL: not known. */
static const ovl_action *find_pair(const ovl_trace *t, uint32_t local, walk *w)
{
    const ovl_op *op = ovl_code_op(t->code, local);
    const ovl_schedule *s = t->job->schedule;
    if (!s || op->part != OVL_PART_PAIR || op->stage >= s->n_stages) {
        return NULL;
    }
    const ovl_actions *row = &s->ranks[s->rank_of[op->stage]];
    while (w->next_pair < row->count) {
        const ovl_action *a = &row->item[w->next_pair++];
        if (a->joined && a->stage == op->stage &&
            a->microbatch == ovl_code_microbatch(t->code, local)) {
            return a;
        }
    }
    return NULL;
}

static const char *text_of(ovl_trace *t, const ovl_action *a)
{
    return ovl_arena_printf(t->scratch, "%" PRIu32 "%s%" PRIu32, (uint32_t)a->stage,
                            ovl_action_name((ovl_action_type)a->type), a->microbatch);
}

static void show(ovl_trace *t, uint32_t local, const half *h, walk *w)
{
    if (!w->named[h->stage]) {
        w->named[h->stage] = true;
        name_row(t, t->rank, h->stage);
    }
    stage_slice(t, local, h);
}

static void show_kernel(ovl_trace *t, uint32_t local, walk *w)
{
    const ovl_op *op = ovl_code_op(t->code, local);
    const ovl_action *a = find_pair(t, local, w);
    if (!a || a[0].stage == a[1].stage) { /* one row has no room for two at a time */
        show(t, local,
             &(half){op->stage, ovl_code_microbatch(t->code, local), (ovl_part)op->part, NULL}, w);
        return;
    }
    for (int k = 0; k < 2; k++) {
        half h = {a[k].stage, a[k].microbatch, part_of(&a[k]), text_of(t, &a[1 - k])};
        show(t, local, &h, w);
    }
}

void ovl_trace_stages(ovl_trace *t)
{
    const ovl_program *p = t->job->program;
    ovl_arena own = {0};
    walk w = {.named = OVL_NEW_ARRAY(&own, bool, UINT16_MAX + 1)};
    bool begun = false;
    for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
        t->rank = rank;
        t->r = &p->ranks[rank];
        t->code = &p->codes[t->r->code];
        memset(w.named, 0, (UINT16_MAX + 1) * sizeof *w.named);
        w.next_pair = 0;
        for (uint32_t i = 0; i < (t->job->ranks[rank] ? t->code->n_ops : 0); i++) {
            if (!is_stage(ovl_code_op(t->code, i))) {
                continue;
            }
            if (!begun) {
                name_process(t);
                begun = true;
            }
            show_kernel(t, i, &w);
        }
        ovl_arena_free(t->scratch);
    }
    ovl_arena_free(&own);
}
