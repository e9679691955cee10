#include "sim/meetings.h"

#include "sim/fold.h"
#include "sim/steps.h"

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
        ovl_time all = l->lost * (ovl_time)count_activities(m->causes, l->op);
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

/* Only where links degrade is there anything to tell; each instance is looked at itself at first.
 */
static void begin_places(ovl_meetings *m)
{
    size_t n = (size_t)m->p->n_resources + m->p->n_ranks;
    if (m->p->n_changes == 0 || m->losses.len == 0) {
        return;
    }
    m->like = malloc(n * sizeof *m->like);
    if (!m->like) {
        ovl_out_of_memory(n * sizeof *m->like);
    }
    for (size_t i = 0; i < n; i++) {
        m->like[i] = (ovl_id)i;
    }
}

void ovl_meetings_like(ovl_meetings *m, uint32_t rank, uint32_t other)
{
    const ovl_program *p = m->p;
    for (uint32_t port = 0; m->like && port < p->n_ports; port++) {
        ovl_id own = p->rank_ports[p->ranks[rank].first_port + port];
        if (own != OVL_NONE) {
            m->like[own] = p->rank_ports[p->ranks[other].first_port + port];
        }
    }
    if (m->like) {
        m->like[ovl_sms_of_rank(p, rank)] = ovl_sms_of_rank(p, other);
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
            m->losses.data[n - 1].rank += l->rank;
            m->losses.data[n - 1].all += l->all;
        } else {
            m->losses.data[n++] = *l;
        }
    }
    m->losses.len = n;
    begin_places(m);
}

void ovl_meetings_free(ovl_meetings *m)
{
    ovl_vec_free(&m->short_of);
    ovl_vec_free(&m->places);
    free(m->like);
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

typedef struct presence {
    ovl_id name;
    uint32_t count;
    uint32_t uses; /* activities; folded, each of them stands for some */
    bool loses, holds;
    ovl_load rate;  /* of all of them */
    double weight;  /* of the sharing solver */
    double missing; /* of isolated speed, if nothing else holds them back */
} presence;

typedef struct watch {
    ovl_meetings *m;
    ovl_id resource, key; /* key: the name of the resource */
    presence there[MOST_PRESENT];
    uint32_t n;
    ovl_load wanted;      /* by all that are there, those that are not told among them */
    uint32_t first;       /* into met: of this instance */
    uint32_t first_short; /* into short_of */
} watch;

static void count_in(watch *w, const ovl_resource_use *use)
{
    ovl_id name = ovl_causes_name(w->m->causes, use->op); /* one for both ends of a message */
    w->wanted += use->rate;
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->there[i].name == name) {
            w->there[i].count += use->like;
            w->there[i].rate += use->rate;
            w->there[i].uses++;
            return;
        }
    }
    if (w->n < MOST_PRESENT) {
        w->there[w->n++] = (presence){.name = name,
                                      .count = use->like,
                                      .uses = 1,
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
            one->uses--;
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

/* What was noted of a name on this instance. */
static ovl_shortage *shortage_of(const watch *w, ovl_id name)
{
    ovl_meetings *m = w->m;
    for (uint32_t i = w->first_short; i < m->short_of.len; i++) {
        if (m->short_of.data[i].name == name) {
            return &m->short_of.data[i];
        }
    }
    const ovl_shortage none = {.resource = w->resource, .name = name};
    ovl_vec_push(&m->short_of, none);
    return &m->short_of.data[m->short_of.len - 1];
}

/* Notes what `a` lost here, beside others or not, if nothing else held it back. */
static void run_short(const watch *w, const presence *a, ovl_time length)
{
    if (!a->loses || a->missing <= 0 || !w->m->like) {
        return;
    }
    ovl_shortage *of = shortage_of(w, a->name);
    ovl_time time = length * (ovl_time)a->uses;
    ovl_load lost = (ovl_load)((double)time * 1024 * a->missing);
    bool alone = w->wanted == a->rate / a->count;
    *(alone ? &of->alone : &of->beside) += time;
    *(alone ? &of->lost_alone : &of->lost_beside) += lost;
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

void ovl_meetings_on(ovl_meetings *m, ovl_id resource, const ovl_resource_use *uses, uint32_t n,
                     uint32_t instances, bool of_rank)
{
    watch w = {.m = m,
               .resource = resource,
               .key = name_of(m->p, resource),
               .first = m->met.len,
               .first_short = m->short_of.len};
    if (!holds_back(m, w.key)) {
        return;
    }
    size_t size = (2 * (size_t)n + m->p->n_changes) * sizeof(ovl_use_moment);
    ovl_use_moment *moments = malloc(size);
    if (!moments) {
        ovl_out_of_memory(size);
    }
    uint32_t count = list_moments(&w, uses, n, moments);
    ovl_time before = 0;
    for (uint32_t i = 0; i < count; i++) {
        stay(&w, before, moments[i].time - before);
        before = moments[i].time;
        if (moments[i].item != OVL_NONE) {
            (moments[i].begins ? count_in : count_out)(&w, &uses[moments[i].item]);
        }
    }
    free(moments);
    sum_pieces(&w, instances, of_rank);
}

/* --- What was lost alone --- */

static int by_place(const void *x, const void *y)
{
    const ovl_place *a = x, *b = y;
    if (a->resource != b->resource) {
        return a->resource < b->resource ? -1 : 1;
    }
    return a->name != b->name ? (a->name < b->name ? -1 : 1) : 0;
}

static int by_shortage(const void *x, const void *y)
{
    const ovl_shortage *a = x, *b = y;
    if (a->resource != b->resource) {
        return a->resource < b->resource ? -1 : 1;
    }
    return a->name != b->name ? (a->name < b->name ? -1 : 1) : 0;
}

/* What of `lost` at a place was beside nobody. If all that could be lost there was, that is known.
 * If not, others held it back at times: time and loss at both rates give the time of each. */
static double alone_at(const ovl_place *place, const ovl_shortage *of)
{
    double alone = (double)of->lost_alone / 1024, beside = (double)of->lost_beside / 1024;
    double lost = (double)place->lost, time = (double)place->time;
    if (of->beside == 0 || of->alone == 0 || lost >= 0.999 * (alone + beside)) {
        return alone / (alone + beside);
    }
    double rate = alone / (double)of->alone, other = beside / (double)of->beside;
    double least = OVL_MAX(time - (double)of->beside, 0);
    double most = OVL_MIN((double)of->alone, time);
    double at = other > rate ? (other * time - lost) / (other - rate) : most;
    at = OVL_MAX(OVL_MIN(at, most), OVL_MIN(least, most));
    return OVL_MIN(at * rate / lost, 1);
}

/* One for each instance and name that it held back. */
static void list_places(ovl_meetings *m)
{
    const ovl_timeline *t = m->causes->timeline;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_limits; i++) {
        const ovl_limit *l = &t->limits[i];
        ovl_place place = {ovl_limit_resource(m->causes, l), ovl_causes_name(m->causes, l->op),
                           l->time, l->lost, 0};
        if (place.resource != OVL_NONE && l->lost > 0 && is_in_step(m->causes, l->op)) {
            ovl_vec_push(&m->places, place);
        }
    }
    if (m->places.len) {
        qsort(m->places.data, m->places.len, sizeof *m->places.data, by_place);
    }
    for (uint32_t i = 0; i < m->places.len; i++) {
        if (n && by_place(&m->places.data[n - 1], &m->places.data[i]) == 0) {
            m->places.data[n - 1].time += m->places.data[i].time;
            m->places.data[n - 1].lost += m->places.data[i].lost;
        } else {
            m->places.data[n++] = m->places.data[i];
        }
    }
    m->places.len = n;
}

static void judge_places(const ovl_meetings *m)
{
    if (m->short_of.len == 0) {
        return;
    }
    qsort(m->short_of.data, m->short_of.len, sizeof *m->short_of.data, by_shortage);
    for (uint32_t i = 0; i < m->places.len; i++) {
        ovl_place *place = &m->places.data[i];
        const ovl_shortage key = {.resource = m->like[place->resource], .name = place->name};
        const ovl_shortage *of =
            bsearch(&key, m->short_of.data, m->short_of.len, sizeof *m->short_of.data, by_shortage);
        place->alone = of ? alone_at(place, of) : 0;
    }
}

/* Of what one limit says was lost. */
static void add_alone(ovl_meetings *m, const ovl_limit *l, bool of_rank)
{
    const ovl_place key = {.resource = ovl_limit_resource(m->causes, l),
                           .name = ovl_causes_name(m->causes, l->op)};
    const ovl_place *place =
        bsearch(&key, m->places.data, m->places.len, sizeof *m->places.data, by_place);
    if (place && l->lost > 0) {
        ovl_loss *loss = &m->losses.data[find_loss(m, name_of(m->p, key.resource), key.name)];
        ovl_time alone = (ovl_time)(place->alone * (double)l->lost + 0.5);
        loss->alone_rank += of_rank ? alone : 0;
        loss->alone_all += of_rank ? 0 : alone * (ovl_time)count_activities(m->causes, l->op);
    }
}

void ovl_meetings_alone(ovl_meetings *m)
{
    const ovl_timeline *t = m->causes->timeline;
    if (!m->like) {
        return;
    }
    list_places(m);
    if (m->places.len == 0) {
        return;
    }
    judge_places(m);
    for (uint32_t i = 0; i < t->n_limits; i++) {
        if (is_in_step(m->causes, t->limits[i].op)) {
            add_alone(m, &t->limits[i], false);
        }
    }
    each_limit_of_rank(m, add_alone);
}
