/*
 * collisions.c - the tables of a result that tell who met whom: losses are shared out among those
 * who were there, and names that differ in numbers only are one.
 */
#include "sim/alike.h"
#include "sim/meetings.h"
#include "sim/sums.h"

#include <stdlib.h>

/* --- Rows of one pair --- */

static bool longer(const ovl_meeting *x, const ovl_meeting *y)
{
    bool full = x->full > 0, other = y->full > 0;
    return full != other ? full : x->together > y->together;
}

/* Instances of one pair become one. */
static void merge(ovl_meetings *m)
{
    uint32_t n = 0;
    if (m->met.len) {
        qsort(m->met.data, m->met.len, sizeof *m->met.data, ovl_meeting_order);
    }
    for (uint32_t i = 0; i < m->met.len; i++) {
        const ovl_meeting *one = &m->met.data[i];
        ovl_meeting *last = n ? &m->met.data[n - 1] : NULL;
        if (!last || ovl_meeting_order(last, one) != 0) {
            m->met.data[n++] = *one;
            continue;
        }
        last->together = longer(one, last) ? one->together : last->together;
        last->shared += one->shared;
        last->full += one->full;
        last->of_a += one->of_a;
        last->of_b += one->of_b;
        last->rank_a += one->rank_a;
        last->rank_b += one->rank_b;
    }
    m->met.len = n;
}

/* --- Sharing out --- */

/* One side of a row: what of a loss is due to the other. */
typedef struct side {
    ovl_id resource, name;
    uint32_t row;
    bool second;
    ovl_load weight, rank_weight;
} side;

static int by_side(const void *x, const void *y)
{
    const side *a = x, *b = y;
    if (a->resource != b->resource) {
        return a->resource < b->resource ? -1 : 1;
    }
    if (a->name != b->name) {
        return a->name < b->name ? -1 : 1;
    }
    return a->row != b->row ? (a->row < b->row ? -1 : 1) : 0;
}

typedef OVL_VEC(side) sides;

static void list_sides(const ovl_meetings *m, sides *list)
{
    for (uint32_t i = 0; i < m->met.len; i++) {
        const ovl_meeting *met = &m->met.data[i];
        side a = {met->resource, met->a, i, false, met->of_a, met->rank_a};
        side b = {met->resource, met->b, i, true, met->of_b, met->rank_b};
        if (met->of_a > 0) {
            ovl_vec_push(list, a);
        }
        if (met->of_b > 0) {
            ovl_vec_push(list, b);
        }
    }
    if (list->len) {
        qsort(list->data, list->len, sizeof *list->data, by_side);
    }
}

static bool has_own_weights(const side *of, uint32_t n)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        any |= of[i].rank_weight > 0;
    }
    return any;
}

/* Parts in proportion to the weights; what rounding leaves goes to the largest. */
static void share_out(ovl_time lost, const side *of, uint32_t n, bool own, ovl_time *parts)
{
    ovl_load all = 0, most = 0;
    ovl_time left = lost;
    uint32_t largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        ovl_load weight = own ? of[i].rank_weight : of[i].weight;
        all += weight;
        largest = weight > most ? i : largest;
        most = OVL_MAX(most, weight);
    }
    for (uint32_t i = 0; i < n; i++) {
        ovl_load weight = own ? of[i].rank_weight : of[i].weight;
        double part = (double)lost * ((double)weight / (double)all) + 0.5;
        parts[i] = part < 0x1p63 ? OVL_MIN((ovl_time)part, left) : left;
        left -= parts[i];
    }
    parts[largest] += left;
}

typedef struct making {
    ovl_meetings *m;
    ovl_arena *arena, *scratch;
    ovl_result_resource *lines;
    uint32_t n_lines;
    ovl_result_collision *rows; /* [met] */
    ovl_time *parts;            /* scratch of one loss */
} making;

/* What is lost beside nobody is said of the resource alone. */
static void add_to_resource(const making *k, const ovl_loss *loss)
{
    const ovl_names *names = k->m->p->names;
    bool sms = loss->resource == names->count;
    const char *name = sms ? OVL_SMS_NAME : ovl_names_text(names, loss->resource);
    for (uint32_t i = 0; i < k->n_lines; i++) {
        ovl_result_resource *line = &k->lines[i];
        if (line->sms == sms && strcmp(line->name, name) == 0) {
            line->lost = ovl_sum_add(line->lost, loss->rank);
            line->lost_all = ovl_sum_add(line->lost_all, loss->all);
            line->alone = ovl_sum_add(line->alone, loss->alone_rank);
            line->alone_all = ovl_sum_add(line->alone_all, loss->alone_all);
        }
    }
}

static ovl_time beside(ovl_time lost, ovl_time alone)
{
    return lost == OVL_NEVER ? OVL_NEVER : lost - alone;
}

/* Each part of a loss too long to be counted is so, too. */
static void add_parts(const making *k, const side *of, uint32_t n, bool all, ovl_time lost)
{
    for (uint32_t i = 0; i < n; i++) {
        ovl_result_collision *row = &k->rows[of[i].row];
        ovl_time *to = all            ? of[i].second ? &row->all_b : &row->all_a
                       : of[i].second ? &row->lost_b
                                      : &row->lost_a;
        *to = ovl_sum_add(*to, lost == OVL_NEVER ? OVL_NEVER : k->parts[i]);
    }
}

static void share_loss(const making *k, ovl_loss loss, const side *of, uint32_t n)
{
    if (n == 0) {
        loss.alone_rank = loss.rank;
        loss.alone_all = loss.all;
    }
    add_to_resource(k, &loss);
    for (int all = 0; all < 2 && n > 0; all++) {
        ovl_time lost = all ? beside(loss.all, loss.alone_all) : beside(loss.rank, loss.alone_rank);
        if (lost != OVL_NEVER) {
            share_out(lost, of, n, !all && has_own_weights(of, n), k->parts);
        }
        add_parts(k, of, n, all, lost);
    }
}

static void share_losses(const making *k)
{
    sides list = {0};
    list_sides(k->m, &list);
    for (uint32_t i = 0, at = 0; i < k->m->losses.len; i++) {
        const ovl_loss *loss = &k->m->losses.data[i];
        const side key = {.resource = loss->resource, .name = loss->name};
        while (at < list.len && by_side(&list.data[at], &key) < 0) {
            at++;
        }
        uint32_t n = 0;
        while (at + n < list.len && list.data[at + n].resource == loss->resource &&
               list.data[at + n].name == loss->name) {
            n++;
        }
        share_loss(k, *loss, list.data + at, n);
    }
    ovl_vec_free(&list);
}

/* --- Tables --- */

static void turn(ovl_result_collision *row)
{
    ovl_result_collision old = *row;
    row->a = old.b;
    row->b = old.a;
    row->lost_a = old.lost_b;
    row->lost_b = old.lost_a;
    row->all_a = old.all_b;
    row->all_b = old.all_a;
}

static ovl_time lost_in(const ovl_result_collision *row)
{
    return ovl_sum_add(row->all_a, row->all_b);
}

/* On the deciding rank, too: weights of its own instances are others than those of all. */
static bool lost_any(const ovl_result_collision *row)
{
    return lost_in(row) > 0 || row->lost_a > 0 || row->lost_b > 0;
}

static int by_names(const void *x, const void *y)
{
    const ovl_result_collision *a = x, *b = y;
    int names = strcmp(a->resource, b->resource);
    names = names ? names : strcmp(a->a, b->a);
    return names ? names : strcmp(a->b, b->b);
}

static int by_loss(const void *x, const void *y)
{
    const ovl_result_collision *a = x, *b = y;
    if (lost_in(a) != lost_in(b)) {
        return lost_in(a) < lost_in(b) ? 1 : -1;
    }
    if (a->together != b->together) {
        return a->together < b->together ? 1 : -1;
    }
    return by_names(a, b);
}

/* Names of a row in the order of the alphabet. */
static void name_rows(making *k)
{
    const ovl_names *names = k->m->p->names;
    uint32_t n = k->m->met.len;
    k->rows = OVL_NEW_ARRAY(k->scratch, ovl_result_collision, n);
    for (uint32_t i = 0; i < n; i++) {
        const ovl_meeting *met = &k->m->met.data[i];
        bool sms = met->resource == names->count;
        k->rows[i] = (ovl_result_collision){.resource = sms ? OVL_SMS_NAME
                                                            : ovl_names_text(names, met->resource),
                                            .a = ovl_names_text(names, met->a),
                                            .b = ovl_names_text(names, met->b),
                                            .pairs = 1,
                                            .shared = met->shared,
                                            .full = met->full,
                                            .together = met->together};
    }
}

typedef OVL_VEC(ovl_result_collision) rows;

/* Those that lost something, most first. */
static void keep_most(const making *k, rows *list, uint32_t *n, uint32_t *all,
                      const ovl_result_collision **out)
{
    if (list->len) {
        qsort(list->data, list->len, sizeof *list->data, by_loss);
    }
    *all = list->len;
    *n = list->len = OVL_MIN(list->len, OVL_MOST_COLLISIONS);
    for (uint32_t i = 0; i < list->len; i++) {
        ovl_result_collision *row = &list->data[i];
        row->resource = ovl_arena_strdup(k->arena, row->resource);
        row->a = ovl_arena_strdup(k->arena, row->a);
        row->b = ovl_arena_strdup(k->arena, row->b);
    }
    *out = ovl_vec_freeze(list, k->arena);
}

/* Text of every name that a row has, its numbers left open. */
static const char **open_names(const making *k)
{
    const ovl_names *names = k->m->p->names;
    const char **open = OVL_NEW_ARRAY(k->scratch, const char *, names->count);
    for (uint32_t i = 0; i < k->m->met.len; i++) {
        const ovl_id of[] = {k->m->met.data[i].a, k->m->met.data[i].b};
        for (int j = 0; j < 2; j++) {
            if (!open[of[j]]) {
                open[of[j]] =
                    ovl_alike_text(ovl_names_text(names, of[j]), OVL_ALIKE_ALL, k->scratch);
            }
        }
    }
    return open;
}

/* Both sides of a row whose names are alike are one. */
static void join_sides(ovl_result_collision *row)
{
    if (strcmp(row->a, row->b) == 0) {
        row->lost_a = ovl_sum_add(row->lost_a, row->lost_b);
        row->all_a = ovl_sum_add(row->all_a, row->all_b);
        row->lost_b = row->all_b = 0;
    }
}

static void add_row(ovl_result_collision *sum, const ovl_result_collision *row)
{
    sum->pairs += row->pairs;
    sum->shared = OVL_MAX(sum->shared, row->shared);
    sum->full = OVL_MAX(sum->full, row->full);
    sum->together = OVL_MAX(sum->together, row->together);
    sum->lost_a = ovl_sum_add(sum->lost_a, row->lost_a);
    sum->lost_b = ovl_sum_add(sum->lost_b, row->lost_b);
    sum->all_a = ovl_sum_add(sum->all_a, row->all_a);
    sum->all_b = ovl_sum_add(sum->all_b, row->all_b);
}

/* A kind of one pair keeps its names. */
typedef struct kind {
    ovl_result_collision row; /* with open names */
    const ovl_result_collision *first;
} kind;

static int by_kind(const void *x, const void *y)
{
    const kind *a = x, *b = y;
    int names = by_names(&a->row, &b->row);
    return names ? names : a->first < b->first ? -1 : a->first > b->first;
}

static void find_alike(const making *k, rows *list)
{
    const char **open = open_names(k);
    OVL_VEC(kind) kinds = {0};
    for (uint32_t i = 0; i < k->m->met.len; i++) {
        kind one = {k->rows[i], &k->rows[i]};
        if (lost_any(&one.row)) {
            one.row.a = open[k->m->met.data[i].a];
            one.row.b = open[k->m->met.data[i].b];
            if (strcmp(one.row.a, one.row.b) > 0) {
                turn(&one.row);
            }
            join_sides(&one.row);
            ovl_vec_push(&kinds, one);
        }
    }
    if (kinds.len) {
        qsort(kinds.data, kinds.len, sizeof *kinds.data, by_kind);
    }
    for (uint32_t i = 0, n; i < kinds.len; i += n) {
        ovl_result_collision sum = kinds.data[i].row;
        for (n = 1; i + n < kinds.len && by_names(&sum, &kinds.data[i + n].row) == 0; n++) {
            add_row(&sum, &kinds.data[i + n].row);
        }
        if (n == 1) {
            sum = *kinds.data[i].first;
            if (strcmp(sum.a, sum.b) > 0) {
                turn(&sum);
            }
        }
        ovl_vec_push(list, sum);
    }
    ovl_vec_free(&kinds);
}

void ovl_meetings_end(ovl_meetings *m, ovl_result_resource *lines, uint32_t n_lines,
                      ovl_arena *arena, ovl_result *result)
{
    ovl_arena scratch = {0};
    merge(m);
    ovl_meetings_alone(m);
    making k = {.m = m, .arena = arena, .scratch = &scratch, .lines = lines, .n_lines = n_lines};
    k.parts = OVL_NEW_ARRAY(&scratch, ovl_time, 2 * (size_t)m->met.len + 1);
    name_rows(&k);
    share_losses(&k);
    rows list = {0}, alike = {0};
    find_alike(&k, &alike);
    for (uint32_t i = 0; i < m->met.len; i++) {
        if (strcmp(k.rows[i].a, k.rows[i].b) > 0) {
            turn(&k.rows[i]);
        }
        if (lost_any(&k.rows[i])) {
            ovl_vec_push(&list, k.rows[i]);
        }
    }
    keep_most(&k, &list, &result->n_collisions, &result->all_collisions, &result->collisions);
    keep_most(&k, &alike, &result->n_alike, &result->all_alike, &result->alike);
    ovl_arena_free(&scratch);
}
