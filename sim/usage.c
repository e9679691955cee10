#include "sim/usage.h"

#include "sim/fold.h"
#include "sim/uses.h"

#include <stdlib.h>

/* What names lost on a resource. */
typedef struct loss {
    uint32_t resource;
    ovl_id name;
    ovl_time time;
} loss;

/* Two names together on a resource, a <= b in the order of their numbers; on the way, and as a row.
 */
typedef struct meeting {
    ovl_id resource_name, a, b; /* that of SMs is behind all names */
    ovl_time together, lost_a, lost_b;
    uint32_t instances;
} meeting;

typedef struct usage {
    const ovl_causes *causes;
    const ovl_program *p;
    const ovl_timeline *t;
    ovl_arena *arena, *scratch;
    const uint32_t *sharers; /* [n_resources] ranks of it */
    ovl_resource_uses uses;
    OVL_VEC(loss) losses; /* by resource, then name */
    OVL_VEC(meeting) met;
    ovl_result_resource *lines; /* by name of the resource */
    uint32_t *line_of;          /* [names] + 1 */
    ovl_load *bytes_of;         /* [lines] all instances */
    ovl_load *most_of;          /* [lines] bytes of the busiest; SMs x picoseconds */
    uint32_t n_lines;
    ovl_time step;
} usage;

/* --- Losses --- */

static int by_loser(const void *x, const void *y)
{
    const loss *a = x, *b = y;
    if (a->resource != b->resource) {
        return a->resource < b->resource ? -1 : 1;
    }
    return a->name != b->name ? (a->name < b->name ? -1 : 1) : 0;
}

/* How many activities that `op` stands for load one instance of a resource; 0: none through these
 * demands. */
static uint32_t loads(const usage *u, uint32_t rank, const ovl_op *o, uint32_t first, uint32_t n,
                      ovl_id resource)
{
    for (uint32_t i = first; i < first + n; i++) {
        const ovl_demand *d = &u->p->demands[i];
        if (d->rate && u->p->rank_ports[u->p->ranks[rank].first_port + d->port] == resource) {
            ovl_resource_use one = {.op = 0};
            ovl_use_load(u->p, rank, o, d, 0, &one);
            return one.like;
        }
    }
    return 0;
}

static uint32_t held_on(const usage *u, uint32_t op, ovl_id resource)
{
    if (!u->p->fold) {
        return 1;
    }
    const ovl_causes *c = u->causes;
    const ovl_op *o = ovl_causes_op(c, op);
    uint32_t rank = c->rank_of[op], n = 0;
    const ovl_cost_kind *cost = ovl_op_cost_kind(u->p, rank, o);
    if (o->kind == OVL_COLLECTIVE) {
        uint32_t k = ovl_causes_collective(c, op);
        for (uint32_t i = c->first_member[k]; n == 0 && i < c->first_member[k + 1]; i++) {
            n = loads(u, c->rank_of[c->member_ops[i]], ovl_causes_op(c, c->member_ops[i]),
                      cost->first_demand, cost->n_demands, resource);
        }
        return OVL_MAX(n, 1);
    }
    n = loads(u, rank, o, cost->first_demand, cost->n_demands, resource);
    if (n == 0 && o->kind == OVL_SEND) {
        n = loads(u, c->rank_of[u->p->partner[op]], o, cost->first_peer, cost->n_peer, resource);
    }
    return OVL_MAX(n, 1);
}

static void find_losses(usage *u)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < u->t->n_limits; i++) {
        const ovl_limit *l = &u->t->limits[i];
        ovl_id resource = ovl_limit_resource(u->causes, l);
        if (resource != OVL_NONE && l->lost > 0) {
            uint32_t times = ovl_is_sms(u->p, resource) ? 1 : held_on(u, l->op, resource);
            loss item = {resource, ovl_causes_name(u->causes, l->op), l->lost * times};
            ovl_vec_push(&u->losses, item);
        }
    }
    if (u->losses.len) {
        qsort(u->losses.data, u->losses.len, sizeof *u->losses.data, by_loser);
    }
    for (uint32_t i = 0; i < u->losses.len; i++) {
        if (n && by_loser(&u->losses.data[n - 1], &u->losses.data[i]) == 0) {
            u->losses.data[n - 1].time += u->losses.data[i].time;
        } else {
            u->losses.data[n++] = u->losses.data[i];
        }
    }
    u->losses.len = n;
}

static ovl_time lost_by(const usage *u, ovl_id resource, ovl_id name)
{
    loss key = {resource, name, 0};
    const loss *found = u->losses.len ? bsearch(&key, u->losses.data, u->losses.len,
                                                sizeof *u->losses.data, by_loser)
                                      : NULL;
    return found ? found->time : 0;
}

/* Whether it held anybody back. */
static bool held_back(const usage *u, ovl_id resource)
{
    uint32_t low = 0, high = u->losses.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (u->losses.data[middle].resource < resource) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < u->losses.len && u->losses.data[low].resource == resource;
}

/* --- Meetings on one resource --- */

/* Names that are there now; bounded, for a resource that thousands of names use at a time says no
 * more by millions of pairs. */
#define MOST_PRESENT 64

typedef struct presence {
    ovl_id name;
    uint32_t count;
} presence;

typedef struct moment {
    ovl_time time;
    uint32_t item; /* into uses */
    bool begins;
} moment;

static int by_moment(const void *x, const void *y)
{
    const moment *a = x, *b = y;
    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    if (a->begins != b->begins) {
        return a->begins ? 1 : -1;
    }
    return a->item != b->item ? (a->item < b->item ? -1 : 1) : 0;
}

typedef struct watch {
    presence there[MOST_PRESENT];
    uint32_t n;
} watch;

static void count_in(watch *w, ovl_id name, uint32_t by)
{
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->there[i].name == name) {
            w->there[i].count += by;
            return;
        }
    }
    if (w->n < MOST_PRESENT) {
        w->there[w->n++] = (presence){name, by};
    }
}

static void count_out(watch *w, ovl_id name, uint32_t by)
{
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->there[i].name == name && (w->there[i].count -= by) == 0) {
            w->there[i] = w->there[--w->n];
            return;
        }
    }
}

static ovl_id name_of(const usage *u, ovl_id resource)
{
    return ovl_is_sms(u->p, resource) ? u->p->names->count : u->p->resources[resource].name;
}

static void add_meeting(usage *u, ovl_id resource, ovl_id a, ovl_id b, ovl_time length)
{
    ovl_id low = OVL_MIN(a, b), high = OVL_MAX(a, b);
    ovl_time lost_low = lost_by(u, resource, low), lost_high = lost_by(u, resource, high);
    if (lost_low || lost_high) {
        meeting m = {name_of(u, resource), low, high, length, lost_low, lost_high, 1};
        ovl_vec_push(&u->met, m);
    }
}

/* All pairs that are there for `length`. */
static void stay(usage *u, ovl_id resource, const watch *w, ovl_time length)
{
    for (uint32_t i = 0; i < w->n && length > 0; i++) {
        if (w->there[i].count > 1) {
            add_meeting(u, resource, w->there[i].name, w->there[i].name, length);
        }
        for (uint32_t k = 0; k < i; k++) {
            add_meeting(u, resource, w->there[i].name, w->there[k].name, length);
        }
    }
}

static int by_pair(const void *x, const void *y)
{
    const meeting *a = x, *b = y;
    if (a->resource_name != b->resource_name) {
        return a->resource_name < b->resource_name ? -1 : 1;
    }
    if (a->a != b->a) {
        return a->a < b->a ? -1 : 1;
    }
    return a->b != b->b ? (a->b < b->b ? -1 : 1) : 0;
}

/* Pieces of one pair on one instance are added. */
static void sum_pieces(usage *u, uint32_t first, uint32_t instances)
{
    uint32_t n = first;
    if (u->met.len > first) {
        qsort(u->met.data + first, u->met.len - first, sizeof *u->met.data, by_pair);
    }
    for (uint32_t i = first; i < u->met.len; i++) {
        if (n > first && by_pair(&u->met.data[n - 1], &u->met.data[i]) == 0) {
            u->met.data[n - 1].together += u->met.data[i].together;
        } else {
            u->met.data[n] = u->met.data[i];
            u->met.data[n++].instances = instances;
        }
    }
    u->met.len = n;
}

/* How long a resource was used at all; SMs of it x picoseconds. */
typedef struct played {
    ovl_time busy;
    ovl_load sm_time;
} played;

/* SMs that are held and wanted while a use comes or goes. */
typedef struct sm_count {
    uint64_t held, wanted;
} sm_count;

static void count_sms(sm_count *sms, const ovl_resource_use *use, bool begins)
{
    uint64_t *count = use->holds ? &sms->held : &sms->wanted;
    *count += begins ? (uint64_t)use->rate : 0;
    *count -= begins ? 0 : (uint64_t)use->rate;
}

/* Plays what came and went on one resource. */
static played play(usage *u, ovl_id resource, uint32_t first, uint32_t n, uint32_t instances)
{
    bool pairs = held_back(u, resource);
    moment *moments = malloc(2 * (size_t)n * sizeof *moments);
    if (!moments) {
        ovl_out_of_memory(2 * (size_t)n * sizeof *moments);
    }
    for (uint32_t i = 0; i < n; i++) {
        moments[2 * i] = (moment){u->uses.data[first + i].from, first + i, true};
        moments[2 * i + 1] = (moment){u->uses.data[first + i].to, first + i, false};
    }
    qsort(moments, 2 * (size_t)n, sizeof *moments, by_moment);
    watch w = {.n = 0};
    played all = {0, 0};
    sm_count sms = {0, 0};
    ovl_time before = 0;
    uint32_t there = 0, met = u->met.len;
    for (uint32_t i = 0; i < 2 * n; i++) {
        const ovl_resource_use *item = &u->uses.data[moments[i].item];
        ovl_time length = moments[i].time - before;
        all.busy += there ? length : 0;
        if (ovl_is_sms(u->p, resource)) {
            uint64_t taken = sms.held + ovl_sms_for_kernels(ovl_used_capacity(u->p, resource),
                                                            sms.held, sms.wanted);
            all.sm_time += (ovl_load)taken * (ovl_load)length;
            count_sms(&sms, item, moments[i].begins);
        }
        if (pairs) {
            stay(u, resource, &w, length);
            (moments[i].begins ? count_in : count_out)(&w, item->name, item->like);
        }
        there += moments[i].begins ? 1 : UINT32_MAX; /* minus one */
        before = moments[i].time;
    }
    free(moments);
    sum_pieces(u, met, instances);
    return all;
}

/* --- Lines of resources --- */

static ovl_result_resource *line_of(usage *u, ovl_id resource)
{
    uint32_t *number = &u->line_of[name_of(u, resource)];
    if (*number == 0) {
        u->lines[u->n_lines].name = ovl_used_name(u->p, resource);
        u->lines[u->n_lines].sms = ovl_is_sms(u->p, resource);
        *number = ++u->n_lines;
    }
    return &u->lines[*number - 1];
}

/* To the nearest. */
static uint64_t to_bytes(ovl_load load)
{
    return (uint64_t)((load + 500000000000u) / 1000000000000u);
}

static void one_resource(usage *u, ovl_id resource, uint32_t first, uint32_t n, uint32_t instances)
{
    ovl_result_resource *line = line_of(u, resource);
    ovl_load load = 0;
    for (uint32_t i = first; i < first + n; i++) {
        load += u->uses.data[i].load;
    }
    played all = play(u, resource, first, n, instances);
    ovl_load used = line->sms ? all.sm_time : to_bytes(load);
    line->instances += instances;
    u->bytes_of[line - u->lines] += load * instances;
    uint64_t capacity = ovl_used_capacity(u->p, resource);
    if (line->busiest == OVL_NONE ||
        used * line->capacity > u->most_of[line - u->lines] * capacity) { /* of what each has */
        double most = (double)capacity * (double)u->step / (line->sms ? 1 : 1e12);
        u->most_of[line - u->lines] = used;
        line->busiest = ovl_used_instance(u->p, resource);
        line->bytes = line->sms ? 0 : (uint64_t)used;
        line->busy = all.busy;
        line->capacity = capacity;
        line->mean_use = most > 0 ? (double)used / most : 0;
    }
}

/* `ranks` that have such resources for themselves; 0: what is shared, one or, folded, as many as
 * there are. */
static void each_resource(usage *u, uint32_t ranks)
{
    ovl_uses_sort(&u->uses);
    for (uint32_t i = 0, n; i < u->uses.len; i += n) {
        ovl_id resource = u->uses.data[i].resource;
        for (n = 1; i + n < u->uses.len && u->uses.data[i + n].resource == resource; n++) {
        }
        bool of_many = !ranks && u->p->fold;
        uint32_t alike = of_many ? u->p->fold->resources.count[resource] : 1;
        one_resource(u, resource, i, n, ranks ? ranks : alike);
    }
    u->uses.len = 0;
}

/* Whether two ranks have the same resources to themselves: of blocks that are not all of one size
 * a rank may have one for which others of its class share theirs. */
static bool share_alike(const usage *u, uint32_t a, uint32_t b)
{
    const ovl_program *p = u->p;
    for (uint32_t port = 0; port < p->n_ports; port++) {
        ovl_id x = p->rank_ports[p->ranks[a].first_port + port];
        ovl_id y = p->rank_ports[p->ranks[b].first_port + port];
        bool alike =
            x == OVL_NONE || y == OVL_NONE ? x == y : (u->sharers[x] > 1) == (u->sharers[y] > 1);
        if (!alike) {
            return false;
        }
    }
    return true;
}

/* What ranks have to themselves: looked at once for each class, and for each rank unlike the first
 * of its class. */
static void own_resources(usage *u, const ovl_classes *classes)
{
    uint32_t *count = OVL_NEW_ARRAY(u->scratch, uint32_t, classes->n);
    memcpy(count, classes->count, classes->n * sizeof *count);
    for (uint32_t rank = 0; rank < u->p->n_ranks; rank++) {
        uint32_t class = classes->class_of[rank];
        if (!share_alike(u, classes->rank[class], rank)) {
            count[class] -= ovl_rank_count(u->p, rank);
            ovl_uses_of_rank(u->causes, u->sharers, rank, OVL_NOT_SHARED, &u->uses);
            each_resource(u, ovl_rank_count(u->p, rank));
        }
    }
    for (uint32_t i = 0; i < classes->n; i++) {
        ovl_uses_of_rank(u->causes, u->sharers, classes->rank[i], OVL_NOT_SHARED, &u->uses);
        each_resource(u, count[i]);
    }
}

/* --- Rows --- */

static int by_loss(const void *x, const void *y)
{
    const ovl_result_collision *a = x, *b = y;
    ovl_time of_a = a->lost_a + a->lost_b, of_b = b->lost_a + b->lost_b;
    if (of_a != of_b) {
        return of_a < of_b ? 1 : -1;
    }
    if (a->together != b->together) {
        return a->together < b->together ? 1 : -1;
    }
    int names = strcmp(a->resource, b->resource);
    names = names ? names : strcmp(a->a, b->a);
    return names ? names : strcmp(a->b, b->b);
}

/* One row for a pair on resources of one name; names in the order of the alphabet. */
static ovl_result_collision row_of(const usage *u, const meeting *m)
{
    const ovl_names *names = u->p->names;
    bool sms = m->resource_name == names->count;
    ovl_result_collision row = {.resource =
                                    sms ? OVL_SMS_NAME : ovl_names_text(names, m->resource_name),
                                .a = ovl_names_text(names, m->a),
                                .b = ovl_names_text(names, m->b),
                                .instances = m->instances,
                                .together = m->together,
                                .lost_a = m->lost_a,
                                .lost_b = m->a == m->b ? 0 : m->lost_b};
    if (strcmp(row.a, row.b) > 0) {
        const char *name = row.a;
        ovl_time lost = row.lost_a;
        row.a = row.b;
        row.lost_a = row.lost_b;
        row.b = name;
        row.lost_b = lost;
    }
    return row;
}

static void make_rows(usage *u, ovl_result *result)
{
    OVL_VEC(ovl_result_collision) rows = {0};
    if (u->met.len) {
        qsort(u->met.data, u->met.len, sizeof *u->met.data, by_pair);
    }
    for (uint32_t i = 0; i < u->met.len;) {
        meeting m = u->met.data[i++];
        for (; i < u->met.len && by_pair(&m, &u->met.data[i]) == 0; i++) {
            uint32_t instances = m.instances + u->met.data[i].instances;
            m = u->met.data[i].together > m.together ? u->met.data[i] : m;
            m.instances = instances;
        }
        ovl_vec_push(&rows, row_of(u, &m));
    }
    if (rows.len) {
        qsort(rows.data, rows.len, sizeof *rows.data, by_loss);
    }
    result->all_collisions = rows.len;
    rows.len = OVL_MIN(rows.len, OVL_MOST_COLLISIONS);
    for (uint32_t i = 0; i < rows.len; i++) {
        ovl_result_collision *row = &rows.data[i];
        row->resource = ovl_arena_strdup(u->arena, row->resource);
        row->a = ovl_arena_strdup(u->arena, row->a);
        row->b = ovl_arena_strdup(u->arena, row->b);
    }
    result->n_collisions = rows.len;
    result->collisions = ovl_vec_freeze(&rows, u->arena);
}

static void make_lines(usage *u, ovl_result *result)
{
    ovl_result_resource *lines = OVL_NEW_ARRAY(u->arena, ovl_result_resource, u->n_lines);
    for (uint32_t i = 0; i < u->n_lines; i++) {
        lines[i] = u->lines[i];
        lines[i].name = ovl_arena_strdup(u->arena, u->lines[i].name);
        lines[i].total = to_bytes(u->bytes_of[i]);
    }
    result->resources = lines;
    result->n_resources = u->n_lines;
}

void ovl_usage_find(const ovl_causes *causes, const ovl_classes *classes, ovl_arena *arena,
                    ovl_result *result)
{
    ovl_arena scratch = {0};
    const ovl_program *p = causes->program;
    usage u = {.causes = causes,
               .p = p,
               .t = causes->timeline,
               .arena = arena,
               .scratch = &scratch,
               .sharers = ovl_resource_sharers(p, &scratch),
               .step = causes->timeline->step};
    uint32_t most_lines = p->n_resources + 1; /* that of SMs */
    u.lines = OVL_NEW_ARRAY(&scratch, ovl_result_resource, most_lines);
    u.bytes_of = OVL_NEW_ARRAY(&scratch, ovl_load, most_lines);
    u.most_of = OVL_NEW_ARRAY(&scratch, ovl_load, most_lines);
    u.line_of = OVL_NEW_ARRAY(&scratch, uint32_t, p->names->count + 1);
    for (uint32_t i = 0; i < most_lines; i++) {
        u.lines[i].busiest = OVL_NONE;
    }
    find_losses(&u);
    own_resources(&u, classes);
    for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
        ovl_uses_of_rank(causes, u.sharers, rank, OVL_SHARED, &u.uses);
    }
    each_resource(&u, 0);
    make_rows(&u, result);
    make_lines(&u, result);
    ovl_vec_free(&u.uses);
    ovl_vec_free(&u.losses);
    ovl_vec_free(&u.met);
    ovl_arena_free(&scratch);
}
