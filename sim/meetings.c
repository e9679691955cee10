#include "sim/meetings.h"

#include "sim/fold.h"
#include "sim/steps.h"
#include "sim/sums.h"

#include <stdlib.h>

/* --- Losses --- */

static int by_loser(const void *x, const void *y)
{
    const ovl_loss *a = x, *b = y;
    if (a->resource != b->resource) {
        return a->resource < b->resource ? -1 : 1;
    }
    return a->name != b->name ? (a->name < b->name ? -1 : 1) : 0;
}

static ovl_id name_of(const ovl_program *p, ovl_id resource)
{
    return ovl_is_sms(p, resource) ? p->names->count : p->resources[resource].name;
}

/* How many activities an operation that carries limits stands for. */
static uint32_t count_activities(const ovl_causes *c, uint32_t op)
{
    const ovl_program *p = c->program;
    const ovl_op *o = ovl_causes_op(c, op);
    uint32_t rank = c->rank_of[op];
    if (p->fold && o->kind == OVL_COLLECTIVE) {
        return p->fold->comms.count[ovl_rank_comm(p, rank, o->comm) - p->comms];
    }
    return ovl_rank_count(p, rank);
}

/* Whether it is of the step that is looked at. */
static bool is_in_step(const ovl_causes *c, uint32_t op)
{
    ovl_op_range step = ovl_last_step(&c->program->codes[c->program->ranks[c->rank_of[op]].code]);
    uint32_t local = ovl_causes_local(c, op);
    return step.first <= local && local < step.end;
}

static void add_loss(ovl_meetings *m, const ovl_limit *l, bool of_rank)
{
    ovl_id resource = ovl_limit_resource(m->causes, l);
    if (resource != OVL_NONE && l->lost > 0) {
        ovl_time all = ovl_sum_of(l->lost, count_activities(m->causes, l->op));
        ovl_loss loss = {name_of(m->p, resource),
                         ovl_causes_name(m->causes, l->op),
                         of_rank ? l->lost : 0,
                         of_rank ? 0 : all,
                         0,
                         0};
        ovl_vec_push(&m->losses, loss);
    }
}

/* Those of activities that the deciding rank has a part in. */
static void each_limit_of_rank(ovl_meetings *m,
                               void (*add)(ovl_meetings *m, const ovl_limit *l, bool of_rank))
{
    const ovl_timeline *t = m->causes->timeline;
    const ovl_rank *rank = &m->p->ranks[t->deciding_rank];
    ovl_op_range step = ovl_last_step(&m->p->codes[rank->code]);
    for (uint32_t op = rank->first_op + step.first; op < rank->first_op + step.end; op++) {
        uint32_t from = ovl_limits_carrier(m->causes, op);
        for (uint32_t i = ovl_limits_first(t, from); i < t->n_limits && t->limits[i].op == from;
             i++) {
            add(m, &t->limits[i], true);
        }
    }
}

void ovl_meetings_begin(ovl_meetings *m, const ovl_causes *causes)
{
    const ovl_timeline *t = causes->timeline;
    uint32_t n = 0;
    *m = (ovl_meetings){.causes = causes, .p = causes->program};
    for (uint32_t i = 0; i < t->n_limits; i++) {
        if (is_in_step(causes, t->limits[i].op)) {
            add_loss(m, &t->limits[i], false);
        }
    }
    if (m->p->n_ranks) {
        each_limit_of_rank(m, add_loss);
    }
    if (m->losses.len) {
        qsort(m->losses.data, m->losses.len, sizeof *m->losses.data, by_loser);
    }
    for (uint32_t i = 0; i < m->losses.len; i++) {
        const ovl_loss *l = &m->losses.data[i];
        if (n && by_loser(&m->losses.data[n - 1], l) == 0) {
            m->losses.data[n - 1].rank = ovl_sum_add(m->losses.data[n - 1].rank, l->rank);
            m->losses.data[n - 1].all = ovl_sum_add(m->losses.data[n - 1].all, l->all);
        } else {
            m->losses.data[n++] = *l;
        }
    }
    m->losses.len = n;
}

void ovl_meetings_free(ovl_meetings *m)
{
    ovl_vec_free(&m->short_of);
    ovl_vec_free(&m->losses);
    ovl_vec_free(&m->met);
}

/* The first that is not before a name on a resource. */
static uint32_t find_loss(const ovl_meetings *m, ovl_id resource, ovl_id name)
{
    const ovl_loss key = {.resource = resource, .name = name};
    uint32_t low = 0, high = m->losses.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_loser(&m->losses.data[middle], &key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Whether a resource of this name held anybody back; whether it held back operations of a name. */
static bool holds_back(const ovl_meetings *m, ovl_id resource)
{
    uint32_t at = find_loss(m, resource, 0);
    return at < m->losses.len && m->losses.data[at].resource == resource;
}

static bool is_held_back(const ovl_meetings *m, ovl_id resource, ovl_id name)
{
    uint32_t at = find_loss(m, resource, name);
    return at < m->losses.len && m->losses.data[at].resource == resource &&
           m->losses.data[at].name == name;
}

/* --- One instance --- */

/* Names that are there now; bounded, for a resource that thousands of names use at a time says no
 * more by millions of pairs. */
#define MOST_PRESENT 64

/* While and how much somebody ran short, alone and beside others, since he came. */
typedef struct ran_short {
    ovl_time alone, beside;
    ovl_load lost_alone, lost_beside;
} ran_short;

typedef struct presence {
    ovl_id name;
    uint32_t count;
    bool loses, holds;
    ovl_load rate; /* of all of them */
    double weight; /* of the sharing solver */
    ran_short so_far;
    double missing; /* of isolated speed, if nothing else holds them back */
} presence;

typedef struct watch {
    ovl_meetings *m;
    ovl_id resource, key; /* key: the name of the resource */
    presence there[MOST_PRESENT];
    uint32_t n;
    ovl_load wanted; /* by all that are there, those that are not told among them */
    uint32_t first;  /* into met: of this instance */

} watch;

static void count_in(watch *w, const ovl_resource_use *use)
{
    ovl_id name = ovl_causes_name(w->m->causes, use->op); /* one for both ends of a message */
    w->wanted += use->rate;
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->there[i].name == name) {
            w->there[i].count += use->like;
            w->there[i].rate += use->rate;
            return;
        }
    }
    if (w->n < MOST_PRESENT) {
        w->there[w->n++] = (presence){.name = name,
                                      .count = use->like,
                                      .loses = is_held_back(w->m, w->key, name),
                                      .holds = use->holds,
                                      .rate = use->rate,
                                      .weight = use->weight};
    }
}

static void count_out(watch *w, const ovl_resource_use *use)
{
    ovl_id name = ovl_causes_name(w->m->causes, use->op);
    w->wanted -= use->rate;
    for (uint32_t i = 0; i < w->n; i++) {
        presence *one = &w->there[i];
        if (one->name == name && one->count >= use->like) {
            one->count -= use->like;
            one->rate -= use->rate;
            if (one->count == 0) {
                w->there[i] = w->there[--w->n];
            }
            return;
        }
    }
}

/* Kernels share the SMs that are not held by what they want. */
static void share_sms(watch *w, double has)
{
    double held = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        held += w->there[i].holds ? (double)w->there[i].rate : 0;
    }
    double left = OVL_MAX(has - held, 0), wanted = (double)w->wanted - held;
    for (uint32_t i = 0; i < w->n; i++) {
        bool kernel = !w->there[i].holds && wanted > left;
        w->there[i].missing = kernel ? 1 - left / wanted : 0;
    }
}

/* Of what there is beyond `has` each gets its weight, up to what it wants: as the solver would
 * share this resource if it were the only one (share.h). */
static void share_rates(watch *w, double has)
{
    double told = 0, level = 0;
    bool full[MOST_PRESENT] = {false}, again = true;
    for (uint32_t i = 0; i < w->n; i++) {
        told += (double)w->there[i].rate;
    }
    has -= (double)w->wanted - told; /* those not told get all they want */
    while (again) {
        double left = has, slope = 0;
        for (uint32_t i = 0; i < w->n; i++) {
            left -= full[i] ? (double)w->there[i].rate : 0;
            slope += full[i] ? 0 : (double)w->there[i].rate * w->there[i].weight;
        }
        level = slope > 0 ? OVL_MAX(left, 0) / slope : 0;
        again = false;
        for (uint32_t i = 0; i < w->n; i++) {
            bool more = !full[i] && level * w->there[i].weight >= 1;
            full[i] |= more;
            again |= more;
        }
    }
    for (uint32_t i = 0; i < w->n; i++) {
        w->there[i].missing = full[i] ? 0 : 1 - level * w->there[i].weight;
    }
}

static bool share(watch *w, ovl_time at)
{
    double has = (double)ovl_used_capacity_at(w->m->p, w->resource, at);
    bool full = (double)w->wanted > has;
    if (full) {
        (ovl_is_sms(w->m->p, w->resource) ? share_sms : share_rates)(w, has);
    }
    return full;
}

/* What `a` loses in `length` to those who want `by` of all that others want: in 1/1024 of a
 * picosecond. */
static ovl_load due_to(const watch *w, const presence *a, ovl_load by, ovl_time length)
{
    ovl_load others = w->wanted - a->rate / a->count;
    if (!a->loses || others == 0) {
        return 0;
    }
    return (ovl_load)((double)length * 1024 * a->missing * ((double)by / (double)others));
}

static void meet(watch *w, const presence *x, const presence *y, bool full, ovl_time length)
{
    const presence *a = x->name <= y->name ? x : y, *b = a == x ? y : x;
    if (a->loses || b->loses) {
        ovl_meeting met = {
            .resource = w->key, .a = a->name, .b = b->name, .full = full, .together = length};
        if (full && a == b) {
            met.of_a = due_to(w, a, a->rate - a->rate / a->count, length);
        } else if (full) {
            met.of_a = due_to(w, a, b->rate, length);
            met.of_b = due_to(w, b, a->rate, length);
        }
        ovl_vec_push(&w->m->met, met);
    }
}

static void run_short(const watch *w, presence *a, ovl_time length)
{
    ovl_load lost = (ovl_load)((double)length * 1024 * a->missing);
    bool alone = w->wanted == a->rate / a->count;
    if (a->missing > 0) {
        *(alone ? &a->so_far.alone : &a->so_far.beside) += length;
        *(alone ? &a->so_far.lost_alone : &a->so_far.lost_beside) += lost;
    }
}

/* All pairs that are there for `length` from `from` on. */
static void stay(watch *w, ovl_time from, ovl_time length)
{
    bool full = length > 0 && share(w, from);
    for (uint32_t i = 0; i < w->n && length > 0; i++) {
        if (full) {
            run_short(w, &w->there[i], length);
        }
        if (w->there[i].count > 1) {
            meet(w, &w->there[i], &w->there[i], full, length);
        }
        for (uint32_t k = 0; k < i; k++) {
            meet(w, &w->there[i], &w->there[k], full, length);
        }
    }
}

int ovl_meeting_order(const void *x, const void *y)
{
    const ovl_meeting *a = x, *b = y;
    if (a->resource != b->resource) {
        return a->resource < b->resource ? -1 : 1;
    }
    if (a->a != b->a) {
        return a->a < b->a ? -1 : 1;
    }
    return a->b != b->b ? (a->b < b->b ? -1 : 1) : 0;
}

/* Pieces of one pair on one instance are added; it stands for so many. */
static void sum_pieces(watch *w, uint32_t instances, bool of_rank)
{
    ovl_meetings *m = w->m;
    uint32_t n = w->first;
    if (m->met.len > n) {
        qsort(m->met.data + n, m->met.len - n, sizeof *m->met.data, ovl_meeting_order);
    }
    for (uint32_t i = w->first; i < m->met.len; i++) {
        const ovl_meeting *piece = &m->met.data[i];
        ovl_meeting *last = n > w->first ? &m->met.data[n - 1] : NULL;
        if (last && ovl_meeting_order(last, piece) == 0) {
            last->together += piece->together;
            last->full |= piece->full;
            last->of_a += piece->of_a;
            last->of_b += piece->of_b;
        } else {
            m->met.data[n++] = *piece;
        }
    }
    m->met.len = n;
    for (uint32_t i = w->first; i < n; i++) {
        ovl_meeting *met = &m->met.data[i];
        met->rank_a = of_rank ? met->of_a : 0;
        met->rank_b = of_rank ? met->of_b : 0;
        met->shared = instances;
        met->full *= instances;
        met->of_a *= instances;
        met->of_b *= instances;
    }
}

/* Beginnings, ends, and changes of what the resource has. */
static uint32_t list_moments(const watch *w, const ovl_resource_use *uses, uint32_t n,
                             ovl_use_moment *moments)
{
    const ovl_program *p = w->m->p;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        moments[count++] = (ovl_use_moment){uses[i].from, i, true};
        moments[count++] = (ovl_use_moment){uses[i].to, i, false};
    }
    for (uint32_t i = 0; i < p->n_changes; i++) {
        if (p->changes[i].resource == w->resource) {
            moments[count++] = (ovl_use_moment){p->changes[i].time, OVL_NONE, false};
        }
    }
    qsort(moments, count, sizeof *moments, ovl_use_moment_order);
    return count;
}

static const ran_short *so_far(const watch *w, const ovl_resource_use *use)
{
    ovl_id name = ovl_causes_name(w->m->causes, use->op);
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->there[i].name == name) {
            return &w->there[i].so_far;
        }
    }
    return NULL;
}

/* A use comes: what its name ran short of until then is not its own. */
static void note_begin(const watch *w, const ovl_resource_use *use, ran_short *since)
{
    const ran_short *now = so_far(w, use);
    if (since && now) {
        *since = *now;
    }
}

static void note_end(const watch *w, const ovl_resource_use *use, const ran_short *since)
{
    const ran_short *now = so_far(w, use);
    if (since && now && now->alone + now->beside > since->alone + since->beside) {
        ovl_shortage one = {.resource = w->resource,
                            .op = use->op,
                            .alone = now->alone - since->alone,
                            .beside = now->beside - since->beside,
                            .lost_alone = now->lost_alone - since->lost_alone,
                            .lost_beside = now->lost_beside - since->lost_beside};
        ovl_vec_push(&w->m->short_of, one);
    }
}

void ovl_meetings_on(ovl_meetings *m, ovl_id resource, const ovl_resource_use *uses, uint32_t n,
                     uint32_t instances, bool of_rank)
{
    watch w = {.m = m, .resource = resource, .key = name_of(m->p, resource), .first = m->met.len};
    if (!holds_back(m, w.key)) {
        return;
    }
    size_t most = 2 * (size_t)n + m->p->n_changes;
    ovl_use_moment *moments = ovl_tally_take(most, sizeof *moments);
    /* where nothing degrades nobody loses anything alone */
    ran_short *since = m->p->n_changes ? ovl_tally_take(n, sizeof *since) : NULL;
    uint32_t count = list_moments(&w, uses, n, moments);
    ovl_time before = 0;
    for (uint32_t i = 0; i < count; i++) {
        stay(&w, before, moments[i].time - before);
        before = moments[i].time;
        uint32_t item = moments[i].item;
        if (item != OVL_NONE && moments[i].begins) {
            count_in(&w, &uses[item]);
            note_begin(&w, &uses[item], since ? &since[item] : NULL);
        } else if (item != OVL_NONE) {
            note_end(&w, &uses[item], since ? &since[item] : NULL);
            count_out(&w, &uses[item]);
        }
    }
    ovl_tally_give(moments, most, sizeof *moments);
    ovl_tally_give(since, n, sizeof *since);
    sum_pieces(&w, instances, of_rank);
}

/* --- What was lost alone --- */

static int by_shortage(const void *x, const void *y)
{
    const ovl_shortage *a = x, *b = y;
    if (a->op != b->op) {
        return a->op < b->op ? -1 : 1;
    }
    return a->resource != b->resource ? (a->resource < b->resource ? -1 : 1) : 0;
}

/* Uses of an operation on one instance become one. */
static void merge_shortages(ovl_meetings *m)
{
    uint32_t n = 0;
    ovl_shortage *of = m->short_of.data;
    if (m->short_of.len) {
        qsort(of, m->short_of.len, sizeof *of, by_shortage);
    }
    for (uint32_t i = 0; i < m->short_of.len; i++) {
        if (n && by_shortage(&of[n - 1], &of[i]) == 0) {
            of[n - 1].alone += of[i].alone;
            of[n - 1].beside += of[i].beside;
            of[n - 1].lost_alone += of[i].lost_alone;
            of[n - 1].lost_beside += of[i].lost_beside;
        } else {
            of[n++] = of[i];
        }
    }
    m->short_of.len = n;
}

/* NULL: its operation was not short of anything there. */
static const ovl_shortage *shortage_at(const ovl_meetings *m, const ovl_limit *l)
{
    const ovl_shortage key = {.resource = ovl_limit_resource(m->causes, l), .op = l->op};
    return m->short_of.len
               ? bsearch(&key, m->short_of.data, m->short_of.len, sizeof key, by_shortage)
               : NULL;
}

static bool is_like(const ovl_meetings *m, const ovl_shortage *a, const ovl_shortage *b)
{
    return name_of(m->p, a->resource) == name_of(m->p, b->resource) && a->alone == b->alone &&
           a->beside == b->beside && a->lost_alone == b->lost_alone &&
           a->lost_beside == b->lost_beside;
}

/* Which part of `lost` in `time` was beside nobody. If all that could be lost there was, that is
 * known. If not, others held it back at times: time and loss at both rates give the time of each.
 */
static double alone_of(const ovl_shortage *of, double time, double lost)
{
    double alone = (double)of->lost_alone / 1024, beside = (double)of->lost_beside / 1024;
    if (of->beside == 0 || of->alone == 0 || lost >= 0.999 * (alone + beside)) {
        return alone / (alone + beside);
    }
    double rate = alone / (double)of->alone, other = beside / (double)of->beside;
    double most = OVL_MIN((double)of->alone, time);
    double least = OVL_MIN(time - (double)of->beside, most);
    double at = other > rate ? (other * time - lost) / (other - rate) : most;
    at = OVL_MAX(OVL_MIN(at, most), OVL_MAX(least, 0));
    return OVL_MIN(at * rate / lost, 1);
}

/* Of what one limit says was lost. */
static void add_alone(ovl_meetings *m, const ovl_limit *l, bool of_rank)
{
    const ovl_timeline *t = m->causes->timeline;
    const ovl_shortage *of = shortage_at(m, l);
    double time = 0, lost = 0;
    if (!of || l->lost <= 0 || of->alone == 0) {
        return;
    }
    for (uint32_t i = ovl_limits_first(t, l->op); i < t->n_limits && t->limits[i].op == l->op;
         i++) {
        const ovl_shortage *other = shortage_at(m, &t->limits[i]);
        bool like = other && is_like(m, of, other);
        time += like ? (double)t->limits[i].time : 0;
        lost += like ? (double)t->limits[i].lost : 0;
    }
    ovl_time alone = (ovl_time)(alone_of(of, time, lost) * (double)l->lost + 0.5);
    ovl_id name = ovl_causes_name(m->causes, l->op);
    ovl_loss *loss = &m->losses.data[find_loss(m, name_of(m->p, of->resource), name)];
    ovl_time *sum = of_rank ? &loss->alone_rank : &loss->alone_all;
    *sum = ovl_sum_add(*sum, ovl_sum_of(alone, of_rank ? 1 : count_activities(m->causes, l->op)));
}

void ovl_meetings_alone(ovl_meetings *m)
{
    const ovl_timeline *t = m->causes->timeline;
    merge_shortages(m);
    for (uint32_t i = 0; i < t->n_limits && m->short_of.len; i++) {
        if (is_in_step(m->causes, t->limits[i].op)) {
            add_alone(m, &t->limits[i], false);
        }
    }
    if (m->short_of.len) {
        each_limit_of_rank(m, add_alone);
    }
}
