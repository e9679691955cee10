#include "models/plan_pipeline_code.h"

typedef ovl_pipe_cell cell;
typedef ovl_pipe_code writer;

/* A pair runs as one kernel. */
ovl_part ovl_pipe_part(const ovl_action *a)
{
    switch ((ovl_action_type)a->type) {
    case OVL_ACT_F:
    case OVL_ACT_SEND_F:
    case OVL_ACT_RECV_F:
        return a->joined ? OVL_PART_PAIR : OVL_PART_FORWARD;
    case OVL_ACT_I:
        return a->joined ? OVL_PART_PAIR : OVL_PART_INPUT;
    case OVL_ACT_W:
        return OVL_PART_WEIGHT;
    case OVL_ACT_B:
    case OVL_ACT_SEND_B:
    case OVL_ACT_RECV_B:
        return a->joined ? OVL_PART_PAIR : OVL_PART_BACKWARD;
    case OVL_ACT_NONE:
    case OVL_ACT_UNSHARD:
    case OVL_ACT_RESHARD:
    case OVL_ACT_REDUCE_GRAD:
    case OVL_ACT_COUNT:
        break;
    }
    return OVL_PART_NONE;
}

ovl_pipe_cell *ovl_pipe_cell_of(ovl_pipe_code *e, const ovl_action *a)
{
    return &e->cells[(size_t)a->stage * e->p->schedule.n_microbatches + a->microbatch];
}

/* "12SEND_F3" without the microbatch. Every operation has such a name, so it is put together by
 * hand. Gives where it ends. */
static char *put_stem(char *text, const ovl_action *a)
{
    const char *type = ovl_action_name((ovl_action_type)a->type);
    char *at = ovl_put_number(text, a->stage);
    while (*type) {
        *at++ = *type++;
    }
    return at;
}

static const char *text_of(writer *e, const ovl_action *a)
{
    char text[40];
    char *end = ovl_put_number(put_stem(text, a), a->microbatch);
    return ovl_arena_strndup(&e->p->scratch, text, (size_t)(end - text));
}

static ovl_id name_of(writer *e, const ovl_action *a)
{
    char stem[40];
    size_t length = (size_t)(put_stem(stem, a) - stem);
    return ovl_names_add_number(e->b->names, stem, length, a->microbatch);
}

/* An operation needs what is issued later on its own rank. */
static void tell_too_early(writer *e, const ovl_action *a, const char *what)
{
    if (!e->broken) {
        ovl_error(e->l->errs, OVL_E_STUCK, e->mark,
                  "rank %" PRIu32 " of the pipeline runs %s before its %s: the schedule cannot "
                  "finish",
                  e->rank, text_of(e, a), what);
    }
    e->broken = true;
}

/* --- Buffers --- */

/* What is sent and received, and gradients that a reduction reads after they are freed, are
 * recorded with the allocator, as torch.distributed does, so that their memory is used again only
 * when the communication is over. */
ovl_id ovl_pipe_buffer(ovl_pipe_code *e, const char *name, const ovl_pipe_stage *stage,
                       uint64_t bytes, ovl_category category, bool held, uint16_t stream)
{
    return ovl_add_buffer(e->b, e->code,
                          &(ovl_buffer){.name = ovl_name(e->b, name),
                                        .bytes = bytes,
                                        .category = (uint8_t)category,
                                        .dtype = (uint8_t)e->p->workload->dtype,
                                        .stream = stream,
                                        .held = held,
                                        .record_stream = category == OVL_TEMPORARY ||
                                                         (category == OVL_GRADIENT && !held),
                                        .mark = stage->mark});
}

static ovl_id cell_buffer(ovl_pipe_code *e, const char *what, const ovl_action *a, uint64_t bytes,
                          ovl_category category, uint16_t stream)
{
    const char *name =
        ovl_arena_printf(&e->p->scratch, "%s %d mb %" PRIu32, what, a->stage, a->microbatch);
    return ovl_pipe_buffer(e, name, ovl_pipe_stage_of(e->p, a->stage), bytes, category, false,
                           stream);
}

ovl_id ovl_pipe_cell_buffer(ovl_pipe_code *e, const char *what, const ovl_action *a, uint64_t bytes,
                            ovl_category category, uint16_t stream)
{
    return bytes == 0 ? OVL_NONE : cell_buffer(e, what, a, bytes, category, stream);
}

/* What is sent or received. In a batch it says which part is whose, even if it has no bytes. */
static ovl_id moved(ovl_pipe_code *e, const char *what, const ovl_action *a, uint64_t bytes,
                    uint16_t stream)
{
    bool named = bytes > 0 || e->p->pipe->batch;
    return named ? cell_buffer(e, what, a, bytes, OVL_TEMPORARY, stream) : OVL_NONE;
}

/* Of the operation last added. */
static void touch(writer *e, ovl_id buffer_id, bool write)
{
    if (buffer_id != OVL_NONE) {
        ovl_add_access(e->b, e->code, buffer_id, write);
    }
}

void ovl_pipe_let_go(ovl_pipe_code *e, ovl_id *buffer_id)
{
    if (*buffer_id != OVL_NONE) {
        ovl_free_buffer(e->b, e->code, *buffer_id);
        *buffer_id = OVL_NONE;
    }
}

/* --- Compute --- */

static void add_activations(writer *e, const ovl_action *a, cell *c)
{
    const ovl_pipe_stage *stage = ovl_pipe_stage_of(e->p, a->stage);
    c->activation = ovl_pipe_cell_buffer(e, "activations", a, stage->activations - stage->kept,
                                         OVL_ACTIVATION, e->compute);
    c->kept = ovl_pipe_cell_buffer(
        e, stage->kept < stage->activations ? "activations for W of" : "activations", a,
        stage->kept, OVL_ACTIVATION, e->compute);
}

/* Buffers that must be there before the operation, allocated in host order. */
static void before_compute(writer *e, const ovl_action *a)
{
    const ovl_pipe_stage *stage = ovl_pipe_stage_of(e->p, a->stage);
    cell *c = ovl_pipe_cell_of(e, a);
    const ovl_pipe_edge *out = ovl_pipe_edge_out(e->p, a);
    bool again = e->p->pipe->recompute;
    if (a->type == OVL_ACT_F && again) {
        c->checkpoint =
            ovl_pipe_cell_buffer(e, "checkpoint", a, stage->checkpoint, OVL_ACTIVATION, e->compute);
    }
    if (again ? a->type == OVL_ACT_I || a->type == OVL_ACT_B : a->type == OVL_ACT_F) {
        add_activations(e, a, c);
    }
    if (a->type == OVL_ACT_F) {
        c->out_f = out ? moved(e, "output", a, out->bytes, e->compute) : OVL_NONE;
    } else if (a->type != OVL_ACT_W) {
        c->out_b = out ? moved(e, "gradient", a, out->bytes, e->compute) : OVL_NONE;
    }
}

/* The input made on this rank, or received, must be issued before. */
void ovl_pipe_check_input(ovl_pipe_code *e, const ovl_action *a)
{
    const ovl_schedule *s = &e->p->schedule;
    bool forward = a->type == OVL_ACT_F;
    cell *c = ovl_pipe_cell_of(e, a);
    if (a->type == OVL_ACT_W ||
        (forward ? ovl_schedule_first(s, a->stage) : ovl_schedule_last(s, a->stage))) {
        return;
    }
    if (ovl_pipe_edge_in(e->p, a)) {
        if ((forward ? c->recv_f : c->recv_b) == OVL_NONE) {
            tell_too_early(e, a, "receive");
        }
        return;
    }
    ovl_action source = *a;
    source.stage = (uint16_t)(forward ? a->stage - 1 : a->stage + 1);
    cell *other = ovl_pipe_cell_of(e, &source);
    if ((forward ? other->f : other->b) == OVL_NONE) {
        tell_too_early(e, a,
                       forward ? "forward of the stage before" : "backward of the stage after");
    }
}

/* Waits, accesses and frees of one action; `local` is the operation last added, its own or that of
 * its pair. */
static void after_compute(writer *e, const ovl_action *a, uint32_t local, uint32_t part)
{
    cell *c = ovl_pipe_cell_of(e, a);
    uint32_t recv = a->type == OVL_ACT_F ? c->recv_f : a->type == OVL_ACT_W ? OVL_NONE : c->recv_b;
    if (recv != OVL_NONE) {
        ovl_add_after(e->b, e->code, recv);
    }
    ovl_pipe_data_kernel(e, a, local, part);
    switch ((ovl_action_type)a->type) {
    case OVL_ACT_F:
        touch(e, c->in_f, false);
        touch(e, c->checkpoint, true);
        touch(e, c->activation, true);
        touch(e, c->kept, true);
        touch(e, c->out_f, true);
        c->f = local;
        break;
    case OVL_ACT_I:
    case OVL_ACT_B:
        touch(e, c->in_b, false);
        touch(e, c->checkpoint, false);
        touch(e, c->activation, e->p->pipe->recompute);
        /* I leaves in it what W needs; a forward that runs again makes it anew */
        touch(e, c->kept, a->type == OVL_ACT_I || e->p->pipe->recompute);
        touch(e, c->out_b, true);
        c->b = local;
        break;
    case OVL_ACT_W:
        touch(e, c->kept, false);
        c->w = local;
        break;
    case OVL_ACT_NONE:
    case OVL_ACT_SEND_F:
    case OVL_ACT_RECV_F:
    case OVL_ACT_SEND_B:
    case OVL_ACT_RECV_B:
    case OVL_ACT_UNSHARD:
    case OVL_ACT_RESHARD:
    case OVL_ACT_REDUCE_GRAD:
    case OVL_ACT_COUNT:
        break;
    }
}

static void free_after(writer *e, const ovl_action *a)
{
    cell *c = ovl_pipe_cell_of(e, a);
    if (a->type == OVL_ACT_F) {
        ovl_pipe_let_go(e, &c->in_f);
        return;
    }
    if (a->type != OVL_ACT_W) {
        ovl_pipe_let_go(e, &c->in_b);
        ovl_pipe_let_go(e, &c->checkpoint);
        ovl_pipe_let_go(e, &c->activation);
    }
    if (a->type != OVL_ACT_I) {
        ovl_pipe_let_go(e, &c->kept);
    }
}

/* A kernel of an action (or a pair of which `a` is the first): part k of n of it. */
static uint32_t add_kernel(writer *e, const ovl_action *a, ovl_id name, uint32_t k, uint32_t n)
{
    ovl_plan_cost cost = ovl_pipe_compute_cost(e, a, k, n);
    e->broken = e->broken || cost.id == OVL_NONE;
    ovl_op op = {.kind = OVL_KERNEL,
                 .dtype = (uint8_t)e->p->workload->dtype,
                 .stream = e->compute,
                 .comm = OVL_NO_COMM,
                 .name = name,
                 .cost = cost.id,
                 .per_rank = cost.per_rank,
                 .batch = OVL_NONE,
                 .launch = e->launch,
                 .mark = ovl_pipe_stage_of(e->p, a->stage)->mark,
                 .part = (uint8_t)ovl_pipe_part(a),
                 .stage = a->stage,
                 .second = a->joined ? a[1].stage : a->stage,
                 .mean = (ovl_time)ovl_pipe_share((uint64_t)ovl_pipe_mean(e->p, a), k, n)};
    uint32_t local = ovl_add_op(e->b, e->code, &op);
    ovl_set_microbatch(e->b, e->code, a->microbatch);
    return local;
}

/* The last backward of a stage, whose gradients are reduced as they are made. */
static void add_parts(writer *e, const ovl_action *a, uint32_t parts)
{
    for (uint32_t k = 0; k < parts; k++) {
        const char *name = ovl_arena_printf(&e->p->scratch, "%s.%" PRIu32, text_of(e, a), k);
        uint32_t local = add_kernel(e, a, ovl_name(e->b, name), k, parts);
        after_compute(e, a, local, k);
        ovl_pipe_data_reduce(e, a, k);
    }
}

static ovl_id name_of_pair(writer *e, const ovl_action *a)
{
    return ovl_name(e->b,
                    ovl_arena_printf(&e->p->scratch, "%s+%s", text_of(e, a), text_of(e, &a[1])));
}

/* One kernel for an action, or for a pair of which `a` is the first. */
static void add_whole(writer *e, const ovl_action *a, uint32_t n)
{
    uint32_t local = add_kernel(e, a, n == 2 ? name_of_pair(e, a) : name_of(e, a), 0, 1);
    for (uint32_t k = 0; k < n; k++) {
        after_compute(e, &a[k], local, OVL_NONE);
    }
}

static void add_compute(writer *e, const ovl_action *a, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        ovl_pipe_check_input(e, &a[k]);
        before_compute(e, &a[k]);
        ovl_pipe_data_before(e, &a[k]);
    }
    uint32_t parts = n == 1 ? ovl_pipe_data_parts(e, a) : 1;
    if (parts > 1) {
        add_parts(e, a, parts);
    } else {
        add_whole(e, a, n);
    }
    for (uint32_t k = 0; k < n; k++) {
        free_after(e, &a[k]);
    }
}

/* Layers one by one, those of a pair in turns; or a kernel. Gives how many actions that were. */
static uint32_t add_work(writer *e, const ovl_action *a, uint32_t n)
{
    bool turns = n == 2 && e->step && e->p->pipe->pairs == OVL_PIPE_TURNS;
    if (turns) {
        ovl_pipe_turns(e, a);
        return n;
    }
    if (!e->step) {
        add_compute(e, a, n);
    }
    for (uint32_t k = 0; k < n && e->step && !e->broken; k++) {
        ovl_pipe_pass(e, &a[k]);
    }
    return n;
}

/* --- Transfers --- */

/* The stream and the slot of a channel in this code. */
static uint16_t stream_of(writer *e, uint32_t channel, bool send)
{
    const ovl_pipe_channel *c = &e->p->channels.data[channel];
    uint16_t *known = send ? e->stream_out : e->stream_in;
    if (known[channel] == OVL_NO_STREAM) {
        known[channel] = ovl_add_stream(e->b, e->code, send ? c->stream_from : c->stream_to);
        e->slot[channel] = ovl_plan_slot(e->l, e->code, c->group);
    }
    return known[channel];
}

static bool is_send(const ovl_action *a)
{
    return a->type == OVL_ACT_SEND_F || a->type == OVL_ACT_SEND_B;
}

static bool is_transfer(const ovl_action *a)
{
    return a->type >= OVL_ACT_SEND_F && a->type <= OVL_ACT_RECV_B;
}

static const ovl_pipe_edge *edge_of(const writer *e, const ovl_action *a)
{
    return is_send(a) ? ovl_pipe_edge_out(e->p, a) : ovl_pipe_edge_in(e->p, a);
}

/* A part of a batch is launched with it. */
static uint32_t add_transfer(writer *e, const ovl_action *a, uint32_t batch)
{
    bool send = is_send(a);
    const ovl_pipe_edge *edge = edge_of(e, a);
    const ovl_pipe_channel *c = &e->p->channels.data[edge->channel];
    uint16_t stream = stream_of(e, edge->channel, send);
    ovl_op op = {.kind = (uint8_t)(send ? OVL_SEND : OVL_RECV),
                 .coll = OVL_SEND_RECV,
                 .dtype = (uint8_t)e->p->workload->dtype,
                 .eager = e->p->pipe->protocol == OVL_PIPE_EAGER,
                 .per_rank = edge->cost.per_rank,
                 .stream = batch == OVL_NONE ? stream : OVL_NO_STREAM,
                 .comm = e->slot[edge->channel],
                 .name = name_of(e, a),
                 .cost = edge->cost.id,
                 .batch = batch,
                 .peer = (int32_t)(send ? c->place_to : c->place_from),
                 .bytes = edge->bytes,
                 .launch = batch == OVL_NONE ? e->launch : 0,
                 .mark = e->mark,
                 .part = (uint8_t)ovl_pipe_part(a),
                 .stage = a->stage};
    uint32_t local = ovl_add_op(e->b, e->code, &op);
    ovl_set_microbatch(e->b, e->code, a->microbatch);
    return local;
}

/* What a send sends; OVL_NONE and an error if it is not made yet. */
static uint32_t source_of(writer *e, const ovl_action *a)
{
    bool forward = a->type == OVL_ACT_SEND_F;
    uint32_t source = forward ? ovl_pipe_cell_of(e, a)->f : ovl_pipe_cell_of(e, a)->b;
    if (source == OVL_NONE) {
        tell_too_early(e, a, forward ? "forward" : "backward");
    }
    return source;
}

static ovl_id *moved_buffer(writer *e, const ovl_action *a)
{
    cell *c = ovl_pipe_cell_of(e, a);
    switch ((ovl_action_type)a->type) {
    case OVL_ACT_SEND_F:
        return &c->out_f;
    case OVL_ACT_SEND_B:
        return &c->out_b;
    case OVL_ACT_RECV_F:
        return &c->in_f;
    case OVL_ACT_NONE:
    case OVL_ACT_F:
    case OVL_ACT_I:
    case OVL_ACT_W:
    case OVL_ACT_B:
    case OVL_ACT_RECV_B:
    case OVL_ACT_UNSHARD:
    case OVL_ACT_RESHARD:
    case OVL_ACT_REDUCE_GRAD:
    case OVL_ACT_COUNT:
        break;
    }
    return &c->in_b;
}

/* Where what is received will be. */
static void add_room(writer *e, const ovl_action *a)
{
    const ovl_pipe_edge *edge = edge_of(e, a);
    uint16_t stream = stream_of(e, edge->channel, false);
    *moved_buffer(e, a) = moved(e, a->type == OVL_ACT_RECV_F ? "input" : "gradient of the output",
                                a, edge->bytes, stream);
}

/* What waits for a receive waits for `local`. */
static void note_receive(writer *e, const ovl_action *a, uint32_t local)
{
    cell *c = ovl_pipe_cell_of(e, a);
    if (a->type == OVL_ACT_RECV_F) {
        c->recv_f = local;
    } else {
        c->recv_b = local;
    }
}

static void add_send(writer *e, const ovl_action *a)
{
    uint32_t source = source_of(e, a);
    if (source != OVL_NONE) {
        add_transfer(e, a, OVL_NONE);
        ovl_add_after(e->b, e->code, source);
        touch(e, *moved_buffer(e, a), false);
        ovl_pipe_let_go(e, moved_buffer(e, a));
    }
}

static void add_receive(writer *e, const ovl_action *a)
{
    add_room(e, a);
    uint32_t local = add_transfer(e, a, OVL_NONE);
    touch(e, *moved_buffer(e, a), true);
    note_receive(e, a, local);
}

/* --- Batches --- */

static uint32_t count_transfers(const ovl_actions *row, uint32_t from)
{
    uint32_t n = 0;
    while (from + n < row->count && is_transfer(&row->item[from + n])) {
        n++;
    }
    return n;
}

/* The launch, which waits for all that is sent. */
static uint32_t add_launch(writer *e, const ovl_action *a, uint32_t n)
{
    ovl_time nothing = 0;
    const char *name = text_of(e, a);
    for (uint32_t i = 1; i < n; i++) {
        name = ovl_arena_printf(&e->p->scratch, "%s+%s", name, text_of(e, &a[i]));
    }
    const ovl_pipe_edge *edge = edge_of(e, a);
    ovl_plan_cost cost =
        ovl_plan_length(e->l, "batch", e->mark, (ovl_times){.item = &nothing, .count = 1});
    uint16_t stream = stream_of(e, edge->channel, is_send(a));
    uint32_t local = ovl_add_op(e->b, e->code,
                                &(ovl_op){.kind = OVL_BATCH,
                                          .dtype = (uint8_t)e->p->workload->dtype,
                                          .stream = stream,
                                          .comm = e->slot[edge->channel],
                                          .name = ovl_name(e->b, name),
                                          .cost = cost.id,
                                          .batch = OVL_NONE,
                                          .launch = e->launch,
                                          .mark = e->mark});
    for (uint32_t i = 0; i < n; i++) {
        uint32_t source = is_send(&a[i]) ? source_of(e, &a[i]) : OVL_NONE;
        if (source != OVL_NONE) {
            ovl_add_after(e->b, e->code, source);
        }
    }
    return local;
}

/* One launch of n neighbours; what is received is there when all are through. */
static void add_batch(writer *e, const ovl_action *a, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!is_send(&a[i])) {
            add_room(e, &a[i]);
        }
    }
    uint32_t batch = add_launch(e, a, n);
    for (uint32_t i = 0; i < n; i++) {
        add_transfer(e, &a[i], batch);
        touch(e, *moved_buffer(e, &a[i]), !is_send(&a[i]));
    }
    for (uint32_t i = 0; i < n; i++) {
        if (is_send(&a[i])) {
            ovl_pipe_let_go(e, moved_buffer(e, &a[i]));
        } else {
            note_receive(e, &a[i], batch);
        }
    }
}

/* --- The whole --- */

/* Adds the action, or pair, at the head of a list; gives how many that were. */
static uint32_t add_action(writer *e, const ovl_action *a)
{
    switch ((ovl_action_type)a->type) {
    case OVL_ACT_F:
    case OVL_ACT_I:
    case OVL_ACT_W:
    case OVL_ACT_B:
        return add_work(e, a, a->joined ? 2 : 1);
    case OVL_ACT_SEND_F:
    case OVL_ACT_SEND_B:
        add_send(e, a);
        break;
    case OVL_ACT_RECV_F:
    case OVL_ACT_RECV_B:
        add_receive(e, a);
        break;
    case OVL_ACT_UNSHARD:
    case OVL_ACT_RESHARD:
    case OVL_ACT_REDUCE_GRAD:
        ovl_pipe_data_action(e, a);
        break;
    case OVL_ACT_NONE:
    case OVL_ACT_COUNT:
        break;
    }
    return 1;
}

/* Where an action was read; one that was placed for the next of the list stands there. */
static void find_mark(writer *e, const ovl_action *a)
{
    const ovl_schedule *s = &e->p->listed;
    e->mark = e->p->pipe->schedule_mark;
    if (!s->places) {
        return;
    }
    const ovl_actions *row = &s->ranks[e->rank];
    while (e->listed < row->count && row->item[e->listed].type == OVL_ACT_NONE) {
        e->listed++;
    }
    e->mark = ovl_schedule_place(s, e->rank, e->listed, e->mark);
    const ovl_action *next = e->listed < row->count ? &row->item[e->listed] : NULL;
    e->listed += next && next->type == a->type && next->stage == a->stage &&
                 next->microbatch == a->microbatch;
}

static void write_row(writer *e, const ovl_actions *row)
{
    e->row = row;
    e->listed = 0;
    for (uint32_t i = 0; i < row->count && !e->broken;) {
        e->at = i;
        uint32_t n = e->p->pipe->batch ? count_transfers(row, i) : 0;
        find_mark(e, &row->item[i]);
        if (n > 1) {
            add_batch(e, &row->item[i], n);
        } else {
            n = add_action(e, &row->item[i]);
        }
        for (uint32_t k = 1; k < n; k++) {
            find_mark(e, &row->item[i + k]);
        }
        i += n;
    }
}

static void open_code(writer *e, uint32_t rank)
{
    e->rank = rank;
    e->member = e->p->place_rank[rank];
    e->code = ovl_plan_code(e->l);
    e->compute = ovl_add_stream(e->b, e->code, "compute");
    for (uint32_t c = 0; c < e->p->channels.len; c++) {
        e->stream_out[c] = e->stream_in[c] = OVL_NO_STREAM;
    }
    ovl_pipe_data_open(e);
    ovl_pipe_pass_open(e);
}

static void prepare(writer *e)
{
    ovl_pipe_plan *p = e->p;
    e->launch = ovl_plan_launch(e->l);
    e->cells =
        OVL_NEW_ARRAY(&p->scratch, cell, (size_t)p->schedule.n_stages * p->schedule.n_microbatches);
    e->known =
        OVL_NEW_ARRAY(&p->scratch, ovl_pipe_known, (size_t)p->schedule.n_stages * OVL_PART_COUNT);
    ovl_pipe_data_prepare(e);
    e->stream_out = OVL_NEW_ARRAY(&p->scratch, uint16_t, p->channels.len);
    e->stream_in = OVL_NEW_ARRAY(&p->scratch, uint16_t, p->channels.len);
    e->slot = OVL_NEW_ARRAY(&p->scratch, uint16_t, p->channels.len);
}

/* The k-th member of each pipeline of a layout runs the k-th code. */
static void give_codes(ovl_pipe_plan *p, uint32_t layout, const ovl_id *codes)
{
    for (uint32_t rank = 0; rank < p->l->n_ranks; rank++) {
        const uint32_t *members = ovl_pipe_members(p, rank);
        bool lies_so = members[0] == rank && p->layout_of[rank] == layout;
        for (uint32_t k = 0; lies_so && k < p->p; k++) {
            p->l->rank_code[members[k]] = codes[k];
        }
    }
}

static void clear_cells(writer *e)
{
    size_t n = (size_t)e->p->schedule.n_stages * e->p->schedule.n_microbatches;
    memset(e->cells, 0xff, n * sizeof *e->cells); /* OVL_NONE everywhere */
}

void ovl_pipe_emit(ovl_pipe_plan *p)
{
    writer e = {.p = p, .l = p->l, .b = p->l->b};
    ovl_id *codes = OVL_NEW_ARRAY(&p->scratch, ovl_id, p->p);
    prepare(&e);
    for (uint32_t layout = 0; layout < p->layouts.len && !e.broken; layout++) {
        e.broken = !ovl_pipe_lay_out(p, layout);
        clear_cells(&e);
        for (uint32_t r = 0; r < p->p && !e.broken; r++) {
            open_code(&e, r);
            codes[r] = e.code;
            write_row(&e, &p->schedule.ranks[r]);
            ovl_pipe_pass_close(&e);
        }
        give_codes(p, layout, codes);
    }
}
