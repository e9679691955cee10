#include "sim/rows.h"

#include "sim/steps.h"

typedef struct maker {
    const ovl_row_sources *s;
    const ovl_program *p;
    const ovl_timeline *t;
    ovl_arena *arena;
    const char **texts; /* by name: each copied once */
    ovl_rows rows;
} maker;

static const char *text_of(maker *m, ovl_id name)
{
    if (!m->texts[name]) {
        m->texts[name] = ovl_arena_strdup(m->arena, ovl_names_text(m->p->names, name));
    }
    return m->texts[name];
}

/* A collective costs what its first member's does, a message what its sender's does: engine. */
static ovl_time isolated_time(const maker *m, uint32_t op)
{
    const ovl_causes *c = m->s->causes;
    const ovl_op *o = ovl_causes_op(c, op);
    uint32_t from = o->kind == OVL_COLLECTIVE
                        ? c->member_ops[c->first_member[ovl_causes_collective(c, op)]]
                        : m->p->partner[op];
    const ovl_cost *cost = ovl_op_cost(m->p, c->rank_of[from], ovl_causes_op(c, from));
    return ovl_cost_time(m->p, cost);
}

static void set_rates(ovl_result_collective *row, ovl_coll coll)
{
    row->algbw = row->busbw = -1;
    if (row->bytes > 0 && row->end > row->start) {
        row->algbw = (double)row->bytes / ((double)(row->end - row->start) / (double)OVL_S);
        row->busbw = row->n > 1 ? row->algbw * ovl_busbw_factor(coll, row->n) : -1;
    }
}

static void set_description(maker *m, uint32_t op, ovl_result_collective *row)
{
    const ovl_op *o = ovl_causes_op(m->s->causes, op);
    const ovl_comm *comm = ovl_rank_comm(m->p, row->rank, o->comm);
    bool collective = o->kind == OVL_COLLECTIVE;
    row->name = text_of(m, ovl_causes_name(m->s->causes, op));
    row->group = text_of(m, comm->name);
    row->op = collective ? ovl_coll_name(o->coll) : ovl_op_kind_name(o->kind);
    row->bytes = o->bytes;
    row->n = comm->size;
    row->isolated = isolated_time(m, op);
    row->start = m->t->start[op] - m->t->begin;
    row->end = m->t->end[op] - m->t->begin;
    set_rates(row, collective ? (ovl_coll)o->coll : OVL_SEND_RECV);
}

static void set_times(maker *m, uint32_t op, const ovl_dependency *dep, ovl_result_collective *row)
{
    uint32_t consumer = op - dep->local + dep->consumer;
    bool consumed = dep->consumer != OVL_NONE;
    row->ready = dep->ready - m->t->begin;
    row->queue = m->t->arrive[op] - dep->ready;
    row->wait = m->t->start[op] - m->t->arrive[op];
    row->consumer = consumed ? text_of(m, ovl_causes_name(m->s->causes, consumer)) : NULL;
    row->first_use = consumed ? m->t->start[consumer] - m->t->begin : OVL_NEVER;
    row->u_path = dep->u_path - m->t->begin;
    row->window = dep->u_path - dep->ready;
    row->exposed = OVL_MAX(0, row->end - row->u_path);
    row->u_variant = row->interference = row->worth = OVL_NEVER;
}

static void add_rows(maker *m, uint32_t class_id)
{
    uint32_t rank = m->s->classes->rank[class_id], first = m->p->ranks[rank].first_op;
    ovl_dependencies deps = {0};
    ovl_dependencies_find(m->p, m->t, m->s->feeds, rank, &deps);
    ovl_op_range step = ovl_last_step(&m->p->codes[m->p->ranks[rank].code]);
    for (uint32_t i = 0; i < deps.len; i++) {
        ovl_row row = {.dep = deps.data[i]};
        if (row.dep.local < step.first || row.dep.local >= step.end) {
            continue;
        }
        uint32_t op = first + row.dep.local;
        row.name = ovl_causes_name(m->s->causes, op);
        row.out.rank = rank;
        row.out.count = m->s->classes->count[class_id];
        row.out.slack = OVL_NEVER;
        set_description(m, op, &row.out);
        set_times(m, op, &row.dep, &row.out);
        ovl_vec_push(&m->rows, row);
    }
    ovl_vec_free(&deps);
}

/* Rows of a class lie together: first[class] .. first[class + 1] - 1. */
static void join_class(maker *m, const uint32_t *first)
{
    ovl_row *rows = m->rows.data;
    for (uint32_t r = 0; r < m->p->n_ranks; r++) {
        uint32_t class_id = m->s->classes->class_of[r];
        for (uint32_t i = first[class_id]; i < first[class_id + 1]; i++) {
            assert(rows);
            uint32_t op = m->p->ranks[r].first_op + rows[i].dep.local;
            ovl_result_collective *row = &rows[i].out;
            row->slack = OVL_MIN(row->slack, m->s->slack[op]);
            row->on_critical_path |= m->s->path->on[op];
        }
    }
}

static int compare_rows(const void *a, const void *b)
{
    const ovl_row *x = a, *y = b;
    if (x->out.rank != y->out.rank) {
        return x->out.rank < y->out.rank ? -1 : 1;
    }
    if (x->out.start != y->out.start) {
        return x->out.start < y->out.start ? -1 : 1;
    }
    int names = strcmp(x->out.name, y->out.name);
    return names ? names : (x->dep.local > y->dep.local) - (x->dep.local < y->dep.local);
}

/* Those of the last step of every class. */
static uint64_t count_rows(const maker *m)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < m->s->classes->n; i++) {
        const ovl_code *code = &m->p->codes[m->p->ranks[m->s->classes->rank[i]].code];
        ovl_op_range step = ovl_last_step(code);
        for (uint32_t op = step.first; op < step.end; op++) {
            n += ovl_is_dependency(ovl_code_op(code, op));
        }
    }
    return n;
}

/* A sort of large items takes memory beside them, and most often they are in order. */
static void sort_rows(ovl_rows *rows)
{
    for (uint32_t i = 1; i < rows->len; i++) {
        if (compare_rows(&rows->data[i - 1], &rows->data[i]) > 0) {
            qsort(rows->data, rows->len, sizeof *rows->data, compare_rows);
            return;
        }
    }
}

ovl_rows ovl_rows_make(const ovl_row_sources *sources, ovl_arena *arena)
{
    const ovl_program *p = sources->causes->program;
    ovl_arena scratch = {0};
    maker m = {.s = sources, .p = p, .t = sources->causes->timeline, .arena = arena};
    m.texts = OVL_NEW_ARRAY(&scratch, const char *, p->names->count);
    uint32_t *first = OVL_NEW_ARRAY(&scratch, uint32_t, sources->classes->n + 1);
    ovl_vec_reserve(&m.rows, count_rows(&m));
    for (uint32_t class_id = 0; class_id < sources->classes->n; class_id++) {
        add_rows(&m, class_id);
        first[class_id + 1] = m.rows.len;
    }
    join_class(&m, first);
    sort_rows(&m.rows);
    ovl_arena_free(&scratch);
    return m.rows;
}

ovl_result_collective *ovl_rows_told(ovl_rows *rows, ovl_arena *arena)
{
    size_t each = sizeof(ovl_result_collective);
    char *told = (char *)rows->data;
    for (uint32_t i = 0; i < rows->len; i++) {
        memmove(told + i * each, &rows->data[i].out, each);
    }
    ovl_tally_less(rows->cap *
                   (sizeof *rows->data - each)); /* it counts as room for what is told */
    return ovl_vec_freeze_(arena, (void **)&rows->data, each, &rows->len, &rows->cap);
}
