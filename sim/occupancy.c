#include "sim/occupancy.h"

#include "sim/uses.h"

#include <stdlib.h>

/* A use at one rate. */
typedef struct stretch {
    ovl_time from, to;
    uint32_t use;
    double rate;
} stretch;

typedef struct view {
    const ovl_causes *c;
    ovl_arena *arena;
    ovl_id resource;
    ovl_resource_uses uses;
    OVL_VEC(stretch) stretches; /* by beginning */
    OVL_VEC(ovl_time) cuts;
    OVL_VEC(uint32_t) there; /* stretches that have begun and not ended */
    OVL_VEC(ovl_occupancy) pieces;
    ovl_name_texts texts;
} view;

static void collect_sms(view *v, ovl_id resource)
{
    uint32_t rank = resource - v->c->program->n_resources;
    ovl_uses_of_rank(v->c, NULL, rank, OVL_SMS_ALONE, &v->uses);
    ovl_uses_sort(&v->uses);
}

static void collect(view *v, ovl_id resource)
{
    const ovl_program *p = v->c->program;
    ovl_arena scratch = {0};
    const uint32_t *sharers = ovl_resource_sharers(p, &scratch);
    ovl_resource_uses all = {0};
    for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
        const ovl_id *ports = &p->rank_ports[p->ranks[rank].first_port];
        bool has = false;
        for (uint32_t port = 0; port < p->n_ports && !has; port++) {
            has = ports[port] == resource;
        }
        if (has) {
            all.len = 0;
            ovl_uses_of_rank(v->c, sharers, rank, OVL_SHARED_OR_NOT, &all);
        }
        for (uint32_t i = 0; has && i < all.len; i++) {
            if (all.data[i].resource == resource) {
                ovl_vec_push(&v->uses, all.data[i]);
            }
        }
    }
    ovl_uses_sort(&v->uses);
    ovl_vec_free(&all);
    ovl_arena_free(&scratch);
}

static void cut_at(view *v, const stretch *s)
{
    ovl_vec_push(&v->stretches, *s);
    ovl_vec_push(&v->cuts, s->from);
    ovl_vec_push(&v->cuts, s->to);
}

/* Where a run kept no segment of an operation it ran at isolated speed. */
static void add_stretches(view *v, uint32_t use)
{
    const ovl_timeline *t = v->c->timeline;
    const ovl_resource_use *u = &v->uses.data[use];
    uint32_t i = u->holds ? t->n_segments : ovl_first_segment(t, u->op);
    if (u->to > u->from && (i == t->n_segments || t->segments[i].op != u->op)) {
        cut_at(v, &(stretch){u->from, u->to, use, 1});
    }
    for (; i < t->n_segments && t->segments[i].op == u->op; i++) {
        const ovl_segment *s = &t->segments[i];
        ovl_time from = OVL_MAX(s->from, u->from), to = OVL_MIN(s->to, u->to);
        if (to > from) {
            cut_at(v, &(stretch){from, to, use, s->rate});
        }
    }
}

static int by_time(const void *x, const void *y)
{
    const ovl_time *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

static int by_beginning(const void *x, const void *y)
{
    const stretch *a = x, *b = y;
    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return a->use != b->use ? (a->use < b->use ? -1 : 1) : 0;
}

static void cut_at_changes(view *v)
{
    const ovl_program *p = v->c->program;
    for (uint32_t i = 0; i < p->n_changes; i++) {
        if (p->changes[i].resource == v->resource) {
            ovl_vec_push(&v->cuts, p->changes[i].time);
        }
    }
}

/* What kernels there have of each SM they want. */
static double part_of_wanted(const view *v)
{
    uint64_t held = 0, wanted = 0;
    for (uint32_t i = 0; i < v->there.len; i++) {
        const ovl_resource_use *u = &v->uses.data[v->stretches.data[v->there.data[i]].use];
        held += u->holds ? (uint64_t)u->rate : 0;
        wanted += u->holds ? 0 : (uint64_t)u->rate;
    }
    double got =
        (double)ovl_sms_for_kernels(ovl_used_capacity(v->c->program, v->resource), held, wanted);
    return wanted > 0 ? got / (double)wanted : 1;
}

static void add_piece(view *v, ovl_time from, ovl_time to)
{
    const ovl_program *p = v->c->program;
    bool sms = ovl_is_sms(p, v->resource);
    double part = sms ? part_of_wanted(v) : 1;
    ovl_occupancy piece = {.from = from,
                           .to = to,
                           .n_users = v->there.len,
                           .capacity = ovl_used_capacity_at(p, v->resource, from)};
    ovl_occupant *users = OVL_NEW_ARRAY(v->arena, ovl_occupant, v->there.len);
    for (uint32_t i = 0; i < v->there.len; i++) {
        const stretch *s = &v->stretches.data[v->there.data[i]];
        const ovl_resource_use *u = &v->uses.data[s->use];
        double takes = (double)u->rate * (!sms ? s->rate : u->holds ? 1 : part);
        users[i] =
            (ovl_occupant){ovl_name_texts_of(&v->texts, u->name),
                           ovl_rank_number(p, v->c->rank_of[u->op]), s->rate, takes, u->holds};
        piece.takes += takes;
    }
    piece.users = users;
    if (piece.n_users && to > from) {
        ovl_vec_push(&v->pieces, piece);
    }
}

static void leave(view *v, ovl_time now)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->there.len; i++) {
        if (v->stretches.data[v->there.data[i]].to > now) {
            v->there.data[n++] = v->there.data[i];
        }
    }
    v->there.len = n;
}

static void make_pieces(view *v)
{
    uint32_t next = 0;
    qsort(v->stretches.data, v->stretches.len, sizeof *v->stretches.data, by_beginning);
    qsort(v->cuts.data, v->cuts.len, sizeof *v->cuts.data, by_time);
    for (uint32_t i = 0; i < v->cuts.len; i++) {
        ovl_time now = v->cuts.data[i];
        leave(v, now);
        for (; next < v->stretches.len && v->stretches.data[next].from <= now; next++) {
            ovl_vec_push(&v->there, next);
        }
        if (i + 1 < v->cuts.len) {
            add_piece(v, now, v->cuts.data[i + 1]);
        }
    }
}

const ovl_occupancy *ovl_occupancy_of(const ovl_causes *causes, ovl_id resource, ovl_arena *arena,
                                      uint32_t *n)
{
    ovl_arena scratch = {0};
    view v = {.c = causes, .arena = arena, .resource = resource};
    v.texts = ovl_name_texts_begin(causes->program->names, arena, &scratch);
    (ovl_is_sms(causes->program, resource) ? collect_sms : collect)(&v, resource);
    for (uint32_t i = 0; i < v.uses.len; i++) {
        add_stretches(&v, i);
    }
    if (v.stretches.len) {
        cut_at_changes(&v);
        make_pieces(&v);
    }
    ovl_vec_free(&v.uses);
    ovl_vec_free(&v.stretches);
    ovl_vec_free(&v.cuts);
    ovl_vec_free(&v.there);
    ovl_arena_free(&scratch);
    *n = v.pieces.len;
    return ovl_vec_freeze(&v.pieces, arena);
}
