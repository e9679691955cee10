/*
 * Ranks brought together: which collectives are one, how long the transfer is, whose clock is
 * ahead.
 *
 * Members of a collective end together, so the median difference of the ends of a rank from the
 * middle of all is by how much its clock is ahead (tools/inspect says the same). Ranks that no
 * matched collective and no file brings together have clocks that nothing compares: each such set
 * begins its step at zero.
 */
#include "models/record_parts.h"
#include "models/statistics.h"

#include <string.h>

/* The collectives of a group on one rank, in program order. */
typedef struct party {
    uint32_t rank;
    OVL_VEC(uint32_t) ops;
} party;

typedef struct group {
    ovl_id name;
    bool matched;
    OVL_VEC(party) parties;
} group;

typedef struct matcher {
    ovl_rank_work *works;
    uint32_t n;
    ovl_arena *arena, *scratch;
    ovl_recorded *out;
    OVL_VEC(group) groups;
    uint32_t matched, alone, different, apart;
    int64_t world;   /* ranks of the job, as the traces tell; -1: they do not */
    bool partial;    /* members of a group are missing */
    ovl_time *clock; /* [n] ns; by how much it is ahead */
    uint32_t *set;   /* [n] the first rank of those whose clocks can be compared with it */
} matcher;

static ovl_rec_op *op_of(const matcher *m, const party *p, uint32_t k)
{
    return &m->works[p->rank].ops.data[p->ops.data[k]];
}

/* --- Groups --- */

/* Streams have other numbers on other ranks: their order of first use tells which are the same. */
static ovl_id shared_name(matcher *m, ovl_id *streams, uint32_t *n, ovl_id stream)
{
    uint32_t i = 0;
    while (i < *n && streams[i] != stream) {
        i++;
    }
    if (i == *n) {
        streams[(*n)++] = stream;
    }
    if (m->n == 1) {
        return stream;
    }
    return ovl_names_add(&m->out->names, ovl_arena_printf(m->scratch, "comm %" PRIu32, i));
}

static group *group_of(matcher *m, ovl_id name)
{
    for (uint32_t i = 0; i < m->groups.len; i++) {
        if (m->groups.data[i].name == name) {
            return &m->groups.data[i];
        }
    }
    ovl_vec_push(&m->groups, (group){.name = name});
    return &m->groups.data[m->groups.len - 1];
}

static void add_party(group *g, uint32_t rank, uint32_t op)
{
    if (g->parties.len == 0 || g->parties.data[g->parties.len - 1].rank != rank) {
        ovl_vec_push(&g->parties, (party){.rank = rank});
    }
    party *p = &g->parties.data[g->parties.len - 1];
    ovl_vec_push(&p->ops, op);
}

static void collect(matcher *m, uint32_t rank)
{
    ovl_rank_work *w = &m->works[rank];
    ovl_id *streams = OVL_NEW_ARRAY(m->scratch, ovl_id, w->seen->n_streams);
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->ops.len; i++) {
        const ovl_rec_op *op = &w->ops.data[i];
        if (op->kind == OVL_COLLECTIVE) {
            bool stands = op->group == op->stream;
            ovl_id name = stands ? shared_name(m, streams, &n, op->stream) : op->group;
            add_party(group_of(m, name), rank, i);
        }
    }
}

static bool agree(const ovl_rec_op *a, const ovl_rec_op *b)
{
    return a->coll == b->coll && (a->bytes == b->bytes || a->bytes == 0 || b->bytes == 0);
}

/* All members must have the same collectives in the same order. */
static bool is_matched(const matcher *m, const group *g)
{
    if (m->out->same_rank || m->out->other_steps) {
        return false;
    }
    const party *first = &g->parties.data[0];
    for (uint32_t p = 1; p < g->parties.len; p++) {
        const party *other = &g->parties.data[p];
        if (other->ops.len != first->ops.len) {
            return false;
        }
        for (uint32_t k = 0; k < first->ops.len; k++) {
            if (!agree(op_of(m, first, k), op_of(m, other, k))) {
                return false;
            }
        }
    }
    return g->parties.len > 1;
}

/* --- Clocks --- */

/* Wrapping differences: bases of clocks may be any number. */
static int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t begin_of(const matcher *m, uint32_t rank)
{
    const ovl_rank_work *w = &m->works[rank];
    return (int64_t)((uint64_t)w->seen->base + (uint64_t)w->from);
}

/* The end of a collective in the clock of its rank, ns after the step of rank 0 began in its own.
 */
static int64_t end_of(const matcher *m, const party *p, uint32_t k)
{
    return minus(minus(begin_of(m, p->rank), begin_of(m, 0)), -(op_of(m, p, k)->end / OVL_NS));
}

typedef OVL_VEC(int64_t) numbers;

static void find_clocks(matcher *m)
{
    numbers *ahead = OVL_NEW_ARRAY(m->scratch, numbers, m->n);
    int64_t *ends = OVL_NEW_ARRAY(m->scratch, int64_t, m->n);
    for (uint32_t i = 0; i < m->groups.len; i++) {
        const group *g = &m->groups.data[i];
        for (uint32_t k = 0; g->matched && k < g->parties.data[0].ops.len; k++) {
            for (uint32_t p = 0; p < g->parties.len; p++) {
                ends[p] = end_of(m, &g->parties.data[p], k);
            }
            int64_t middle = ovl_median(ends, g->parties.len);
            for (uint32_t p = 0; p < g->parties.len; p++) {
                const party *q = &g->parties.data[p];
                ovl_vec_push(&ahead[q->rank], minus(end_of(m, q, k), middle));
            }
        }
    }
    for (uint32_t r = 0; r < m->n; r++) {
        m->clock[r] = ahead[r].len ? ovl_median(ahead[r].data, ahead[r].len) : 0;
        ovl_vec_free(&ahead[r]);
    }
}

static uint32_t set_of(const matcher *m, uint32_t rank)
{
    while (m->set[rank] != rank) {
        rank = m->set[rank];
    }
    return rank;
}

static void join(matcher *m, uint32_t a, uint32_t b)
{
    a = set_of(m, a);
    b = set_of(m, b);
    m->set[OVL_MAX(a, b)] = OVL_MIN(a, b);
}

/* Devices of one file share a clock, and so do, once they are set, members of a collective. */
static void find_sets(matcher *m)
{
    m->set = OVL_NEW_ARRAY(m->scratch, uint32_t, m->n);
    for (uint32_t r = 0; r < m->n; r++) {
        m->set[r] = r;
        if (r && m->works[r].seen == m->works[r - 1].seen) {
            join(m, r - 1, r);
        }
    }
    for (uint32_t i = 0; i < m->groups.len; i++) {
        const group *g = &m->groups.data[i];
        for (uint32_t p = 1; g->matched && p < g->parties.len; p++) {
            join(m, g->parties.data[0].rank, g->parties.data[p].rank);
        }
    }
    for (uint32_t r = 0; r < m->n; r++) {
        m->set[r] = set_of(m, r); /* whose own is behind it already */
        m->out->clock_sets += m->set[r] == r;
    }
}

/* When each rank began, after the first of those its clock can be compared with. Differences of
 * an hour and more relate nothing. */
static void set_begins(matcher *m, ovl_rec_rank *ranks)
{
    const int64_t most = INT64_C(3600) * 1000000000;
    int64_t *begin = OVL_NEW_ARRAY(m->scratch, int64_t, m->n);
    int64_t *first = OVL_NEW_ARRAY(m->scratch, int64_t, m->n);
    int64_t *last = OVL_NEW_ARRAY(m->scratch, int64_t, m->n);
    for (uint32_t r = 0; r < m->n; r++) {
        uint32_t set = m->set[r];
        begin[r] = minus(minus(begin_of(m, r), begin_of(m, set)), m->clock[r]);
        first[set] = r == set ? begin[r] : OVL_MIN(first[set], begin[r]);
        last[set] = r == set ? begin[r] : OVL_MAX(last[set], begin[r]);
    }
    for (uint32_t r = 0; r < m->n; r++) {
        uint32_t set = m->set[r];
        if (last[set] <= most && first[set] >= -most) {
            ranks[r].begin = (begin[r] - first[set]) * OVL_NS;
        }
    }
}

/* --- Handing over --- */

static const char *collective_name(const matcher *m, const group *g, const char *op, uint32_t k)
{
    return m->groups.len == 1 ? ovl_arena_printf(m->scratch, "%s %" PRIu32, op, k)
                              : ovl_arena_printf(m->scratch, "%s %" PRIu32 " (%s)", op, k,
                                                 ovl_names_text(&m->out->names, g->name));
}

static void name_ops(matcher *m, const group *g, const party *p)
{
    for (uint32_t k = 0; k < p->ops.len; k++) {
        ovl_rec_op *op = op_of(m, p, k);
        const char *text = ovl_names_text(&m->out->names, op->name);
        op->name = ovl_names_add(&m->out->names, collective_name(m, g, text, k));
    }
}

/* The shortest of the durations is the transfer: nobody waited for who came last. */
static void set_transfers(matcher *m, const group *g)
{
    for (uint32_t k = 0; k < g->parties.data[0].ops.len; k++) {
        ovl_time shortest = OVL_NEVER;
        uint64_t bytes = 0;
        for (uint32_t p = 0; p < g->parties.len; p++) {
            const ovl_rec_op *op = op_of(m, &g->parties.data[p], k);
            shortest = OVL_MIN(shortest, op->length);
            bytes = OVL_MAX(bytes, op->bytes);
        }
        for (uint32_t p = 0; p < g->parties.len; p++) {
            op_of(m, &g->parties.data[p], k)->length = shortest;
            op_of(m, &g->parties.data[p], k)->bytes = bytes;
        }
    }
}

static int64_t told_size(const matcher *m, const party *p)
{
    const ovl_rank_work *w = &m->works[p->rank];
    for (uint32_t i = 0; i < w->acts.len; i++) {
        const ovl_act *a = &w->acts.data[i];
        if (a->place == p->ops.data[0] && a->op->collective != OVL_NONE) {
            return w->seen->collectives[a->op->collective].group_size;
        }
    }
    return -1;
}

/* Of a job that has more ranks than there are files, some that belong to the group. */
static bool is_partial(const matcher *m, const group *g)
{
    int64_t told = told_size(m, &g->parties.data[0]);
    return m->world > m->n && (told < 0 || told > g->parties.len);
}

static void hand_over(matcher *m, const group *g, ovl_rec_group *to, uint32_t *n)
{
    bool partial = is_partial(m, g);
    uint32_t parts = g->matched ? 1 : g->parties.len, per = g->matched ? g->parties.len : 1;
    for (uint32_t part = 0; part < parts; part++) {
        uint32_t *ranks = OVL_NEW_ARRAY(m->arena, uint32_t, per);
        for (uint32_t i = 0; i < per; i++) {
            const party *p = &g->parties.data[part + i];
            ranks[i] = p->rank;
            for (uint32_t k = 0; k < p->ops.len; k++) {
                op_of(m, p, k)->group = *n;
                op_of(m, p, k)->alone = !g->matched || partial;
            }
            m->alone += g->matched ? 0 : p->ops.len;
        }
        to[*n] = (ovl_rec_group){g->name, ranks, per, told_size(m, &g->parties.data[part])};
        (*n)++;
    }
    m->partial |= partial;
    m->matched += g->matched ? g->parties.data[0].ops.len : 0;
}

static void make_groups(matcher *m)
{
    uint32_t most = 0, n = 0;
    for (uint32_t i = 0; i < m->groups.len; i++) {
        most += m->groups.data[i].parties.len;
    }
    ovl_rec_group *groups = OVL_NEW_ARRAY(m->arena, ovl_rec_group, most);
    for (uint32_t i = 0; i < m->groups.len; i++) {
        group *g = &m->groups.data[i];
        for (uint32_t p = 0; p < g->parties.len; p++) {
            name_ops(m, g, &g->parties.data[p]);
        }
        if (g->matched) {
            set_transfers(m, g);
        }
        hand_over(m, g, groups, &n);
    }
    m->out->groups = groups;
    m->out->n_groups = n;
}

/* Members of a collective end together: those that do not may be others (as ovl inspect says). */
static void count_apart(matcher *m, const group *g)
{
    const int64_t most = 100000; /* ns */
    for (uint32_t k = 0; g->matched && k < g->parties.data[0].ops.len; k++) {
        int64_t first = INT64_MAX, last = INT64_MIN;
        for (uint32_t p = 0; p < g->parties.len; p++) {
            const party *q = &g->parties.data[p];
            int64_t end = minus(end_of(m, q, k), m->clock[q->rank]);
            first = OVL_MIN(first, end);
            last = OVL_MAX(last, end);
        }
        int64_t skew = minus(last, first);
        m->apart += skew > most && skew > op_of(m, &g->parties.data[0], k)->length / OVL_NS / 10;
    }
}

/* Files that say the same rank are no ranks of one job; works are ordered by rank, then file. */
static bool same_rank(const matcher *m)
{
    for (uint32_t r = 1; r < m->n; r++) {
        const ovl_seen *a = m->works[r - 1].seen, *b = m->works[r].seen;
        if (a != b && a->rank >= 0 && a->rank == b->rank) {
            return true;
        }
    }
    return false;
}

/* The number of its first step; -1: the file marks none. */
static int64_t first_step(const ovl_seen *seen)
{
    int64_t first = -1;
    for (uint32_t i = 0; i < seen->n_ranges; i++) {
        int64_t number = seen->ranges[i].number;
        first = number >= 0 && (first < 0 || number < first) ? number : first;
    }
    return first;
}

/* The k-th collective since the files began is another one where they begin with other steps. */
static bool other_steps(const matcher *m)
{
    int64_t known = -1;
    for (uint32_t r = 0; r < m->n; r++) {
        int64_t first = m->works[r].marked ? -1 : first_step(m->works[r].seen);
        if (first >= 0 && known >= 0 && first != known) {
            return true;
        }
        known = first >= 0 ? first : known;
    }
    return false;
}

static void make_ranks(matcher *m)
{
    ovl_rec_rank *ranks = OVL_NEW_ARRAY(m->arena, ovl_rec_rank, m->n);
    set_begins(m, ranks);
    for (uint32_t r = 0; r < m->n; r++) {
        ovl_rank_work *w = &m->works[r];
        ovl_time begin = ranks[r].begin;
        for (uint32_t i = 0; i < w->ops.len; i++) {
            ovl_rec_op *op = &w->ops.data[i];
            op->start += op->start == OVL_NEVER ? 0 : begin;
            op->end += op->end == OVL_NEVER ? 0 : begin;
        }
        w->ops.data[0].length = begin;
        ranks[r].file = w->seen->file;
        ranks[r].rank = w->seen->rank;
        ranks[r].device = w->device;
        ranks[r].end = begin + w->end;
        ranks[r].unexplained = w->unexplained;
        ranks[r].latency = w->latency;
        ranks[r].gap = w->gap;
        ranks[r].n_ops = w->ops.len;
        ranks[r].ops = ovl_vec_freeze(&w->ops, m->arena);
        ranks[r].after = ovl_vec_freeze(&w->after, m->arena);
        m->out->step = OVL_MAX(m->out->step, ranks[r].end);
    }
    m->out->ranks = ranks;
    m->out->n_ranks = m->n;
}

void ovl_record_match(ovl_rank_work *works, uint32_t n, ovl_arena *arena, ovl_arena *scratch,
                      ovl_recorded *recorded)
{
    matcher m = {
        .works = works, .n = n, .arena = arena, .scratch = scratch, .out = recorded, .world = -1};
    recorded->same_rank = same_rank(&m);
    recorded->other_steps = other_steps(&m);
    for (uint32_t r = 0; r < n; r++) {
        m.world = OVL_MAX(m.world, works[r].seen->world);
    }
    m.clock = OVL_NEW_ARRAY(scratch, ovl_time, n);
    for (uint32_t r = 0; r < n; r++) {
        collect(&m, r);
    }
    for (uint32_t i = 0; i < m.groups.len; i++) {
        group *g = &m.groups.data[i];
        g->matched = is_matched(&m, g);
        m.different +=
            g->parties.len > 1 && !g->matched && !recorded->same_rank && !recorded->other_steps;
    }
    find_clocks(&m);
    find_sets(&m);
    make_groups(&m);
    for (uint32_t i = 0; i < m.groups.len; i++) {
        count_apart(&m, &m.groups.data[i]);
    }
    make_ranks(&m);
    recorded->matched = m.matched;
    recorded->alone = m.alone;
    recorded->apart = m.apart;
    recorded->world = m.partial ? m.world : 0;
    recorded->different = m.different;
    for (uint32_t i = 0; i < m.groups.len; i++) {
        for (uint32_t p = 0; p < m.groups.data[i].parties.len; p++) {
            ovl_vec_free(&m.groups.data[i].parties.data[p].ops);
        }
        ovl_vec_free(&m.groups.data[i].parties);
    }
    ovl_vec_free(&m.groups);
}
