#include "sim/usage.h"

#include "sim/fold.h"
#include "sim/meetings.h"

#include <stdlib.h>

typedef struct usage {
    const ovl_causes *causes;
    const ovl_program *p;
    const ovl_timeline *t;
    ovl_arena *arena, *scratch;
    const uint32_t *sharers; /* [n_resources] ranks of it */
    uint32_t *first_change;  /* [n_resources] into the program's; OVL_NONE: none */
    uint32_t *next_change;   /* of the same resource */
    ovl_resource_uses uses;
    ovl_meetings meetings;
    ovl_result_resource *lines; /* by name of the resource */
    uint32_t *line_of;          /* [names] + 1 */
    ovl_load *bytes_of;         /* [lines] all instances */
    ovl_load *most_of;          /* [lines] bytes of the busiest; SMs x picoseconds */
    uint32_t n_lines;
    ovl_time step;
} usage;

/* --- One instance --- */

static ovl_id name_of(const usage *u, ovl_id resource)
{
    return ovl_is_sms(u->p, resource) ? u->p->names->count : u->p->resources[resource].name;
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
static played play(const usage *u, ovl_id resource, uint32_t first, uint32_t n)
{
    ovl_use_moment *moments = ovl_tally_take(2 * (size_t)n, sizeof *moments);
    for (uint32_t i = 0; i < n; i++) {
        moments[2 * i] = (ovl_use_moment){u->uses.data[first + i].from, first + i, true};
        moments[2 * i + 1] = (ovl_use_moment){u->uses.data[first + i].to, first + i, false};
    }
    qsort(moments, 2 * (size_t)n, sizeof *moments, ovl_use_moment_order);
    played all = {0, 0};
    sm_count sms = {0, 0};
    ovl_time before = 0;
    uint32_t there = 0;
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
        there += moments[i].begins ? 1 : UINT32_MAX; /* minus one */
        before = moments[i].time;
    }
    ovl_tally_give(moments, 2 * (size_t)n, sizeof *moments);
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

/* To the nearest; OVL_MANY_BYTES at most. */
static uint64_t to_bytes(ovl_load load)
{
    ovl_load bytes = (load + 500000000000u) / 1000000000000u;
    return bytes < OVL_MANY_BYTES ? (uint64_t)bytes : OVL_MANY_BYTES;
}

static void one_resource(usage *u, ovl_id resource, uint32_t first, uint32_t n, uint32_t instances,
                         bool of_rank)
{
    ovl_result_resource *line = line_of(u, resource);
    ovl_load load = 0;
    for (uint32_t i = first; i < first + n; i++) {
        load += u->uses.data[i].load;
    }
    played all = play(u, resource, first, n);
    ovl_meetings_on(&u->meetings, resource, u->uses.data + first, n, instances, of_rank);
    ovl_load used = line->sms ? all.sm_time : to_bytes(load);
    line->instances += instances;
    u->bytes_of[line - u->lines] += load * instances;
    uint64_t capacity = ovl_used_capacity(u->p, resource);
    ovl_load of_this = used * line->capacity, of_most = u->most_of[line - u->lines] * capacity;
    if (line->busiest == OVL_NONE || of_this > of_most || /* of what each has */
        (of_this == of_most && ovl_used_instance(u->p, resource) < line->busiest)) {
        double most = (double)capacity * (double)u->step / (line->sms ? 1 : 1e12);
        u->most_of[line - u->lines] = used;
        line->busiest = ovl_used_instance(u->p, resource);
        line->bytes = line->sms ? 0 : (uint64_t)used;
        line->busy = all.busy;
        line->capacity = capacity;
        line->mean_use = most > 0 ? (double)used / most : 0;
    }
}

/* Who met whom is asked only where somebody lost by it. */
static void list_uses(usage *u, uint32_t rank, ovl_shared which)
{
    (u->t->n_limits ? ovl_uses_of_rank : ovl_uses_joined)(u->causes, u->sharers, rank, which,
                                                          &u->uses);
}

/* Whether the deciding rank has it. */
static bool is_of_rank(const usage *u, ovl_id resource)
{
    const ovl_program *p = u->p;
    const ovl_id *ports = &p->rank_ports[p->ranks[u->t->deciding_rank].first_port];
    bool any = false;
    for (uint32_t port = 0; port < p->n_ports; port++) {
        any |= ports[port] == resource;
    }
    return any;
}

/* `ranks` that have such resources for themselves, the deciding one among them or not; 0: what is
 * shared, one or, folded, as many as there are. */
static void each_resource(usage *u, uint32_t ranks, bool deciding)
{
    ovl_uses_sort(&u->uses);
    for (uint32_t i = 0, n; i < u->uses.len; i += n) {
        ovl_id resource = u->uses.data[i].resource;
        for (n = 1; i + n < u->uses.len && u->uses.data[i + n].resource == resource; n++) {
        }
        bool of_many = !ranks && u->p->fold;
        uint32_t alike = of_many ? u->p->fold->resources.count[resource] : 1;
        one_resource(u, resource, i, n, ranks ? ranks : alike,
                     ranks ? deciding : is_of_rank(u, resource));
    }
    u->uses.len = 0;
}

/* Whether two ranks have the same resources to themselves: of blocks that are not all of one size
 * a rank may have one for which others of its class share theirs, and where all wait for one that
 * is slow ranks do the same at the same times on resources that are not alike. Where links degrade
 * each is looked at itself, for what is lost alone is told by operation and place. */
static bool share_alike(const usage *u, uint32_t a, uint32_t b)
{
    const ovl_program *p = u->p;
    if (p->n_changes && a != b) {
        return false;
    }
    for (uint32_t port = 0; port < p->n_ports; port++) {
        ovl_id x = p->rank_ports[p->ranks[a].first_port + port];
        ovl_id y = p->rank_ports[p->ranks[b].first_port + port];
        bool alike =
            x == OVL_NONE || y == OVL_NONE
                ? x == y
                : (u->sharers[x] > 1) == (u->sharers[y] > 1) &&
                      (u->sharers[x] > 1 || p->resources[x].capacity == p->resources[y].capacity);
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
    uint32_t deciding = u->t->deciding_rank, class_of_deciding = OVL_NONE;
    if (u->p->n_ranks) {
        uint32_t class = classes->class_of[deciding];
        bool alike = share_alike(u, classes->rank[class], deciding);
        class_of_deciding = alike ? class : OVL_NONE;
    }
    for (uint32_t rank = 0; rank < u->p->n_ranks; rank++) {
        uint32_t class = classes->class_of[rank];
        if (!share_alike(u, classes->rank[class], rank)) {
            count[class] -= ovl_rank_count(u->p, rank);
            list_uses(u, rank, OVL_NOT_SHARED);
            each_resource(u, ovl_rank_count(u->p, rank), rank == deciding);
        }
    }
    for (uint32_t i = 0; i < classes->n; i++) {
        list_uses(u, classes->rank[i], OVL_NOT_SHARED);
        each_resource(u, count[i], i == class_of_deciding);
    }
}

static void make_lines(usage *u, ovl_result *result)
{
    ovl_result_resource *lines = OVL_NEW_ARRAY(u->arena, ovl_result_resource, u->n_lines);
    for (uint32_t i = 0; i < u->n_lines; i++) {
        lines[i] = u->lines[i];
        lines[i].name = ovl_arena_strdup(u->arena, u->lines[i].name);
        lines[i].total = to_bytes(u->bytes_of[i]);
    }
    ovl_meetings_end(&u->meetings, lines, u->n_lines, u->arena, result);
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
    ovl_meetings_begin(&u.meetings, causes);
    own_resources(&u, classes);
    for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
        list_uses(&u, rank, OVL_SHARED);
    }
    each_resource(&u, 0, false);
    make_lines(&u, result);
    ovl_vec_free(&u.uses);
    ovl_meetings_free(&u.meetings);
    ovl_arena_free(&scratch);
}
