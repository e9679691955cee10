#include "sim/measured.h"

#include <stdlib.h>
#include <string.h>

typedef struct comparer {
    const ovl_program *p;
    const ovl_timeline *t;
    const ovl_measured *m;
    ovl_arena *arena;
    uint32_t *row; /* [names.count] of `ops`; OVL_NONE */
    OVL_VEC(ovl_against_op) ops;
} comparer;

static ovl_time size_of(ovl_time error)
{
    return error < 0 ? -error : error;
}

static ovl_against_op *row_of(comparer *c, ovl_id name)
{
    if (c->row[name] == OVL_NONE) {
        c->row[name] = c->ops.len;
        const char *text = ovl_names_copy(c->p->names, name, c->arena);
        ovl_vec_push(&c->ops, (ovl_against_op){.name = text});
    }
    return &c->ops.data[c->row[name]];
}

static void add_op(comparer *c, uint32_t op, ovl_id name, ovl_against_rank *rank)
{
    ovl_time start = c->m->start[op], error = c->t->arrive[op] - start;
    ovl_against_op *row = row_of(c, name);
    row->count++;
    row->measured += c->m->end[op] - start;
    row->predicted += c->t->end[op] - c->t->arrive[op];
    row->mean_error += size_of(error);
    rank->mean_error += size_of(error);
    rank->n_ops++;
    if (size_of(error) > size_of(row->worst_error)) {
        row->worst_error = error;
    }
    if (!rank->worst || size_of(error) > size_of(rank->worst_error)) {
        rank->worst_error = error;
        rank->worst = row->name;
    }
}

static void add_rank(comparer *c, uint32_t r, ovl_against_rank *rank)
{
    const ovl_rank *of = &c->p->ranks[r];
    const ovl_code *code = &c->p->codes[of->code];
    *rank = (ovl_against_rank){.rank = r,
                               .job_rank = c->m->ranks[r].job_rank,
                               .measured = c->m->ranks[r].end,
                               .predicted = c->t->ranks[r].end,
                               .unexplained = c->m->ranks[r].unexplained};
    for (uint32_t i = 0; i < code->n_ops; i++) {
        if (c->m->start[of->first_op + i] != OVL_NEVER) {
            add_op(c, of->first_op + i, code->name[i], rank);
        }
    }
    rank->mean_error /= rank->n_ops ? rank->n_ops : 1;
}

static int by_measured(const void *a, const void *b)
{
    const ovl_against_op *x = a, *y = b;
    if (x->measured != y->measured) {
        return x->measured > y->measured ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

/* The rank whose part is the largest; compared by products, so that it is exact. */
static void find_unexplained(const comparer *c, ovl_against *out)
{
    double most = -1;
    for (uint32_t r = 0; r < c->p->n_ranks; r++) {
        const ovl_measured_rank *rank = &c->m->ranks[r];
        ovl_time whole = rank->end - rank->begin;
        double part = whole > 0 ? (double)rank->unexplained / (double)whole : 0;
        if (part > most) {
            most = part;
            out->unexplained = rank->unexplained;
            out->out_of = whole;
            out->unexplained_rank = r;
        }
    }
    out->far = size_of(out->unchanged - out->measured) > out->measured / OVL_UNEXPLAINED_PART;
    out->predictive = out->unexplained <= out->out_of / OVL_UNEXPLAINED_PART && !out->far;
}

static void copy_texts(const comparer *c, ovl_against *out)
{
    const char **list = OVL_NEW_ARRAY(c->arena, const char *, c->m->n_inferred);
    for (uint32_t i = 0; i < c->m->n_inferred; i++) {
        list[i] = ovl_arena_strdup(c->arena, c->m->inferred[i]);
    }
    out->inferred = list;
    out->n_inferred = c->m->n_inferred;
    out->what = ovl_arena_strdup(c->arena, c->m->what);
}

const ovl_against *ovl_measured_compare(const ovl_program *p, const ovl_timeline *t,
                                        const ovl_measured *measured, ovl_time unchanged,
                                        ovl_arena *arena)
{
    ovl_arena scratch = {0};
    ovl_against *out = OVL_NEW(arena, ovl_against);
    ovl_against_rank *ranks = OVL_NEW_ARRAY(arena, ovl_against_rank, p->n_ranks);
    comparer c = {.p = p, .t = t, .m = measured, .arena = arena};
    c.row = OVL_NEW_ARRAY(&scratch, uint32_t, p->names->count);
    memset(c.row, 0xff, p->names->count * sizeof *c.row); /* OVL_NONE */
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        add_rank(&c, r, &ranks[r]);
    }
    for (uint32_t i = 0; i < c.ops.len; i++) {
        c.ops.data[i].mean_error /= c.ops.data[i].count;
    }
    if (c.ops.len) {
        qsort(c.ops.data, c.ops.len, sizeof *c.ops.data, by_measured);
    }
    out->changed = measured->changed;
    out->measured = measured->step;
    out->predicted = t->step;
    out->unchanged = unchanged;
    out->ranks = ranks;
    out->n_ranks = p->n_ranks;
    find_unexplained(&c, out);
    copy_texts(&c, out);
    out->n_ops = c.ops.len;
    out->ops = ovl_vec_freeze(&c.ops, arena);
    ovl_arena_free(&scratch);
    return out;
}
