#include "sim/replay.h"

#include "sim/exposure.h"

/* --- The mean stage --- */

/* From what tells work apart to the number of its group: open addressing. */
typedef struct group_key {
    uint64_t kind, which;
} group_key;

typedef struct group_table {
    group_key *key;
    uint32_t *group;
    uint32_t size, n; /* size is a power of two */
} group_table;

static bool same_key(group_key a, group_key b)
{
    return a.kind == b.kind && a.which == b.which;
}

static uint32_t group_slot(const group_table *t, group_key key)
{
    uint64_t mixed = (key.kind * 0xff51afd7ed558ccdu ^ key.which) * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(mixed >> 32) & (t->size - 1);
    while (t->group[at] != OVL_NONE && !same_key(t->key[at], key)) {
        at = (at + 1) & (t->size - 1);
    }
    return at;
}

static group_table new_table(ovl_arena *arena, uint32_t size)
{
    group_table t = {OVL_NEW_ARRAY(arena, group_key, size), OVL_NEW_ARRAY(arena, uint32_t, size),
                     size, 0};
    memset(t.group, 0xff, size * sizeof *t.group); /* OVL_NONE everywhere */
    return t;
}

static void grow(group_table *t, ovl_arena *arena)
{
    group_table bigger = new_table(arena, 2 * t->size);
    bigger.n = t->n;
    for (uint32_t i = 0; i < t->size; i++) {
        if (t->group[i] != OVL_NONE) {
            uint32_t at = group_slot(&bigger, t->key[i]);
            bigger.key[at] = t->key[i];
            bigger.group[at] = t->group[i];
        }
    }
    *t = bigger;
}

static uint32_t group_of(group_table *t, group_key key, ovl_arena *arena)
{
    uint32_t at = group_slot(t, key);
    if (t->group[at] == OVL_NONE) {
        t->key[at] = key;
        t->group[at] = t->n++;
        if (2 * t->n > t->size) {
            grow(t, arena);
            at = group_slot(t, key);
        }
    }
    return t->group[at];
}

static bool is_stated(const ovl_code *code, uint32_t local)
{
    return code->has_means && ovl_code_op(code, local)->part != OVL_PART_NONE;
}

/* A part and its mean; or a name and how often it came before in the code. */
static group_key key_of(const ovl_code *code, uint32_t local, uint32_t *seen)
{
    const ovl_op *op = ovl_code_op(code, local);
    if (is_stated(code, local)) {
        return (group_key){op->part, (uint64_t)op->mean};
    }
    ovl_id name = code->name[local];
    return (group_key){OVL_PART_COUNT + (uint64_t)name, seen[name]++};
}

static const uint32_t *group_code(const ovl_program *p, const ovl_code *code, group_table *t,
                                  ovl_arena *arena, ovl_arena *scratch)
{
    uint32_t *group = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops);
    ovl_arena own = {0};
    uint32_t *seen = OVL_NEW_ARRAY(&own, uint32_t, p->names->count);
    for (uint32_t i = 0; i < code->n_ops; i++) {
        bool kernel = ovl_code_op(code, i)->kind == OVL_KERNEL;
        group[i] = kernel ? group_of(t, key_of(code, i, seen), scratch) : OVL_NONE;
    }
    ovl_arena_free(&own);
    return group;
}

/* Sums are kept as differences to the first, which stay small where ranks are alike. A stated mean
 * is the first, and nothing is beyond it. */
static void sum_groups(const ovl_program *p, ovl_means *m, ovl_time *first, ovl_time *beyond,
                       ovl_time *count)
{
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        const ovl_code *code = &p->codes[p->ranks[r].code];
        const uint32_t *group = m->group[p->ranks[r].code];
        uint32_t n = ovl_rank_count(p, r);
        for (uint32_t i = 0; i < code->n_ops; i++) {
            uint32_t g = group[i];
            if (g != OVL_NONE) {
                ovl_time work = ovl_op_cost(p, r, ovl_code_op(code, i))->work;
                bool stated = is_stated(code, i);
                first[g] = stated ? ovl_code_op(code, i)->mean : count[g] ? first[g] : work;
                beyond[g] += stated ? 0 : (work - first[g]) * n;
                m->uneven |= work != first[g];
                count[g] += n;
            }
        }
    }
}

/* Of one rank each kernel is its own mean, unless another was stated. */
static bool are_their_own(const ovl_program *p)
{
    bool stated = false;
    for (uint32_t c = 0; c < p->n_codes; c++) {
        stated |= p->codes[c].has_means;
    }
    return p->n_ranks < 2 && !stated;
}

void ovl_means_find(const ovl_program *p, ovl_arena *arena, ovl_means *means)
{
    *means = (ovl_means){0};
    if (are_their_own(p)) {
        return;
    }
    ovl_arena scratch = {0};
    group_table t = new_table(&scratch, 1024);
    const uint32_t **group = OVL_NEW_ARRAY(arena, const uint32_t *, p->n_codes);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        group[c] = group_code(p, &p->codes[c], &t, arena, &scratch);
    }
    *means = (ovl_means){.group = group};
    ovl_time *mean = OVL_NEW_ARRAY(arena, ovl_time, t.n);
    ovl_time *beyond = OVL_NEW_ARRAY(&scratch, ovl_time, t.n);
    ovl_time *count = OVL_NEW_ARRAY(&scratch, ovl_time, t.n);
    sum_groups(p, means, mean, beyond, count);
    for (uint32_t g = 0; g < t.n; g++) {
        mean[g] += count[g] ? beyond[g] / count[g] : 0;
    }
    means->mean = mean;
    means->n = t.n;
    ovl_arena_free(&scratch);
}

ovl_time ovl_mean_of(const ovl_means *means, const ovl_program *p, uint32_t rank, uint32_t local)
{
    const ovl_rank *r = &p->ranks[rank];
    if (!means->group) {
        return ovl_op_cost(p, rank, ovl_code_op(&p->codes[r->code], local))->work;
    }
    return means->mean[means->group[r->code][local]];
}

/* --- Inputs --- */

static bool moves_data(const ovl_op *op)
{
    return ovl_is_communication(op) || op->kind == OVL_COPY;
}

typedef OVL_VEC(uint32_t) locals;

/* A part waits with its batch. */
static void add_waits(const ovl_code *code, uint32_t local, locals *list, bool *known)
{
    uint32_t batch = ovl_code_batch(code, local);
    uint32_t from = batch != OVL_NONE ? batch : local;
    ovl_offsets after = ovl_code_after(code, from);
    for (uint32_t k = 0; k < after.n; k++) {
        ovl_vec_push(list, from + after.by[k]);
        *known = true;
    }
    if (!*known && ovl_code_stream_prev(code, from) != OVL_NONE &&
        ovl_code_op(code, local)->kind != OVL_RECV) {
        ovl_vec_push(list, ovl_code_stream_prev(code, from)); /* the stream is all that says it */
        *known = true;
    }
}

static void add_writers(const ovl_code *code, uint32_t local, const uint32_t *writer, locals *list,
                        bool *known)
{
    for (uint32_t k = code->access.at[local]; k < code->access.at[local + 1]; k++) {
        const ovl_access *access = &code->access.item[k];
        if (access->write) {
            continue;
        }
        *known = true;
        if (writer[access->buffer] != OVL_NONE) {
            ovl_vec_push(list, writer[access->buffer]);
        }
    }
}

static void inputs_of_code(const ovl_code *code, ovl_arena *arena, ovl_inputs *inputs)
{
    ovl_arena scratch = {0};
    uint32_t *at = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops + 1);
    bool *known = OVL_NEW_ARRAY(arena, bool, code->n_ops);
    uint32_t *writer = OVL_NEW_ARRAY(&scratch, uint32_t, code->n_buffers);
    locals list = {0};
    memset(writer, 0xff, code->n_buffers * sizeof *writer); /* OVL_NONE everywhere */
    for (uint32_t i = 0; i < code->n_ops; i++) {
        at[i] = list.len;
        if (moves_data(ovl_code_op(code, i))) {
            add_writers(code, i, writer, &list, &known[i]);
            if (!known[i]) {
                add_waits(code, i, &list, &known[i]);
            }
        }
        for (uint32_t k = code->access.at[i]; k < code->access.at[i + 1]; k++) {
            if (code->access.item[k].write) {
                writer[code->access.item[k].buffer] = i;
            }
        }
    }
    at[code->n_ops] = list.len;
    *inputs = (ovl_inputs){at, ovl_vec_freeze(&list, arena), known};
    ovl_arena_free(&scratch);
}

const ovl_inputs *ovl_inputs_find(const ovl_program *p, ovl_arena *arena)
{
    ovl_inputs *inputs = OVL_NEW_ARRAY(arena, ovl_inputs, p->n_codes);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        inputs_of_code(&p->codes[c], arena, &inputs[c]);
    }
    return inputs;
}

/* --- Replaying --- */

typedef struct player {
    ovl_causes *c;
    const ovl_inputs *inputs;
    const ovl_means *means;
    const ovl_replay_options *o;
    ovl_replay *out;
    ovl_time *collective; /* [n_collectives] the last arrival so far */
    ovl_time *landed;     /* [n_ops] of eager sends, if there are any */
} player;

static ovl_time replayed(const player *p, uint64_t node)
{
    uint32_t op = OVL_TRAIL_OP(node);
    switch (OVL_TRAIL_KIND(node)) {
    case OVL_ISSUED:
        return p->c->timeline->issue[op];
    case OVL_ARRIVED:
        return p->out->start[op];
    case OVL_LANDED:
        return p->landed[op];
    case OVL_ENDED:
        break;
    }
    return p->out->end[op];
}

/* Free communication that knows its inputs keeps no other order with communication before it. */
static bool is_order(const player *p, uint32_t op, const ovl_cause *cause)
{
    const ovl_op *o = ovl_causes_op(p->c, op);
    const ovl_rank *rank = &p->c->program->ranks[p->c->rank_of[op]];
    if (!p->o->free_comm || !moves_data(o) ||
        !(o->kind == OVL_RECV || p->inputs[rank->code].known[op - rank->first_op])) {
        return false;
    }
    return cause->why == OVL_WHY_COMM ||
           (cause->why == OVL_WHY_STREAM &&
            moves_data(ovl_causes_op(p->c, OVL_TRAIL_OP(cause->node))));
}

static bool left_out(const player *p, uint32_t op, const ovl_cause *cause)
{
    if (cause->why == OVL_WHY_HOST) {
        return p->o->free_host;
    }
    if (p->o->free_host && cause->why == OVL_WHY_AFTER &&
        ovl_causes_op(p->c, OVL_TRAIL_OP(cause->node))->kind == OVL_HOST) {
        return true;
    }
    bool free = cause->why == OVL_WHY_ENGINE || cause->why == OVL_WHY_LINE;
    return is_order(p, op, cause) || (p->o->free_comm && free);
}

static bool is_harmless(const player *p, uint32_t op)
{
    return p->o->of && p->o->of[op] == p->o->harmless;
}

static ovl_time kernel_length(const player *p, uint32_t op)
{
    uint32_t rank = p->c->rank_of[op], local = ovl_causes_local(p->c, op);
    switch (is_harmless(p, op) ? OVL_REPLAY_MEAN : p->o->kernels) {
    case OVL_REPLAY_MEAN:
        return ovl_mean_of(p->means, p->c->program, rank, local);
    case OVL_REPLAY_ALONE:
        return ovl_op_cost(p->c->program, rank, ovl_causes_op(p->c, op))->work;
    case OVL_REPLAY_AS_RUN:
        break;
    }
    return p->c->timeline->end[op] - p->c->timeline->start[op];
}

static ovl_time length_of(const player *p, uint32_t op, const ovl_cause *cause)
{
    ovl_op_kind kind = (ovl_op_kind)ovl_causes_op(p->c, op)->kind;
    if (kind == OVL_KERNEL) {
        return kernel_length(p, op);
    }
    bool free = kind == OVL_HOST     ? p->o->free_host
                : kind == OVL_MARKER ? p->o->free_pauses
                                     : p->o->free_comm || is_harmless(p, op);
    return free ? 0 : cause->length;
}

/* --- Batches ---
 *
 * A batch waits for the inputs of all its parts, and whoever needs one of them waits for the whole.
 * That is an order, too: where communication is free each part comes when its own input is there,
 * and whoever reads what a part brings waits for that one. */

static bool is_free_part(const player *p, uint32_t op)
{
    const ovl_op *o = ovl_causes_op(p->c, op);
    const ovl_rank *rank = &p->c->program->ranks[p->c->rank_of[op]];
    return p->o->free_comm && o->behind &&
           (o->kind == OVL_RECV || p->inputs[rank->code].known[op - rank->first_op]);
}

static ovl_time arrival_of_part(const player *p, uint32_t op)
{
    const ovl_rank *rank = &p->c->program->ranks[p->c->rank_of[op]];
    const ovl_inputs *inputs = &p->inputs[rank->code];
    uint32_t local = op - rank->first_op;
    ovl_time latest = p->o->free_host ? 0 : p->c->timeline->issue[op];
    for (uint32_t k = inputs->at[local]; k < inputs->at[local + 1]; k++) {
        latest = OVL_MAX(latest, p->out->end[rank->first_op + inputs->item[k]]);
    }
    return latest;
}

bool ovl_brings(const ovl_code *code, uint32_t part, uint32_t reader)
{
    for (uint32_t w = code->access.at[part]; w < code->access.at[part + 1]; w++) {
        for (uint32_t r = code->access.at[reader]; r < code->access.at[reader + 1]; r++) {
            const ovl_access *write = &code->access.item[w], *read = &code->access.item[r];
            if (write->write && !read->write && write->buffer == read->buffer) {
                return true;
            }
        }
    }
    return false;
}

/* When a batch has brought what `op` reads; if it reads nothing of it, when it ended. */
static ovl_time brought(const player *p, uint32_t op, uint32_t batch)
{
    const ovl_rank *rank = &p->c->program->ranks[p->c->rank_of[op]];
    const ovl_code *code = &p->c->program->codes[rank->code];
    uint32_t first = rank->first_op, local = batch - first;
    ovl_time latest = -1;
    ovl_offsets parts = ovl_code_parts(code, local);
    for (uint32_t k = 0; k < parts.n; k++) {
        uint32_t part = local + parts.by[k];
        if (ovl_brings(code, part, op - first)) {
            latest = OVL_MAX(latest, p->out->end[first + part]);
        }
    }
    return latest >= 0 ? latest : p->out->end[batch];
}

static ovl_time time_of_cause(const player *p, uint32_t op, const ovl_cause *cause)
{
    uint32_t other = OVL_TRAIL_OP(cause->node);
    bool batch = cause->why == OVL_WHY_AFTER && ovl_causes_op(p->c, other)->kind == OVL_BATCH;
    bool loose = batch && (p->o->free_comm || is_harmless(p, other));
    return loose ? brought(p, op, other) : replayed(p, cause->node);
}

/* --- The latest --- */

static ovl_time latest_cause(player *p, uint64_t node)
{
    uint32_t op = OVL_TRAIL_OP(node);
    bool ended = OVL_TRAIL_KIND(node) == OVL_ENDED || OVL_TRAIL_KIND(node) == OVL_LANDED;
    ovl_time latest = 0;
    if (ended && ovl_causes_op(p->c, op)->kind == OVL_KERNEL) { /* most are: no list is needed */
        return p->out->start[op] + kernel_length(p, op);
    }
    if (OVL_TRAIL_KIND(node) == OVL_ARRIVED && is_free_part(p, op)) {
        return arrival_of_part(p, op);
    }
    ovl_causes_of(p->c, node);
    for (uint32_t i = 0; i < p->c->list.len; i++) {
        const ovl_cause *cause = &p->c->list.data[i];
        if (!left_out(p, op, cause)) {
            ovl_time length = ended ? length_of(p, op, cause) : cause->length;
            latest = OVL_MAX(latest, time_of_cause(p, op, cause) + length);
        }
    }
    return latest;
}

static void end_of_collective(player *p, uint32_t op)
{
    const ovl_timeline *t = p->c->timeline;
    ovl_time length = p->o->free_comm || is_harmless(p, op) ? 0 : t->end[op] - t->start[op];
    p->out->end[op] = p->collective[ovl_causes_collective(p->c, op)] + length;
}

static void play(player *p, uint64_t item)
{
    uint32_t op = OVL_TRAIL_OP(item);
    bool collective = ovl_causes_op(p->c, op)->kind == OVL_COLLECTIVE;
    switch (OVL_TRAIL_KIND(item)) {
    case OVL_ISSUED:
        return; /* the host is as it was, or does not count */
    case OVL_ARRIVED:
        p->out->start[op] = latest_cause(p, item);
        if (collective) {
            ovl_time *last = &p->collective[ovl_causes_collective(p->c, op)];
            *last = OVL_MAX(*last, p->out->start[op]);
        }
        return;
    case OVL_LANDED:
        p->landed[op] = latest_cause(p, item);
        return;
    case OVL_ENDED:
        break;
    }
    if (collective) {
        end_of_collective(p, op);
    } else {
        p->out->end[op] = latest_cause(p, item);
    }
}

void ovl_replay_run(ovl_causes *causes, const ovl_inputs *inputs, const ovl_means *means,
                    const ovl_replay_options *options, ovl_replay *replay)
{
    ovl_arena scratch = {0};
    const ovl_timeline *t = causes->timeline;
    player p = {.c = causes, .inputs = inputs, .means = means, .o = options, .out = replay};
    p.collective = OVL_NEW_ARRAY(&scratch, ovl_time, causes->program->n_collectives);
    p.landed = t->landed ? OVL_NEW_ARRAY(&scratch, ovl_time, causes->program->n_ops) : NULL;
    for (uint32_t i = 0; i < t->n_trail; i++) {
        play(&p, t->trail[i]);
    }
    ovl_arena_free(&scratch);
}
