/* Collectives of one trace, and the same collectives seen from several ranks. */
#include "tools/comm_names.h"
#include "tools/inspect.h"

#include <string.h>

/* ---- one rank ---- */

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* a + b, or the nearest that fits: times of broken files may be anything. */
static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) {
        return b < 0 ? INT64_MIN : INT64_MAX;
    }
    return sum;
}

static int64_t subtract(int64_t a, int64_t b)
{
    return b == INT64_MIN ? add(add(a, INT64_MAX), 1) : add(a, -b);
}

static int by_kind_then_duration(const void *a, const void *b)
{
    const ovl_comm_op *x = a, *y = b;
    const int by[] = {
        order(x->device, y->device),
        order(x->group, y->group),
        order(x->op, y->op),
        order(y->bytes, x->bytes),
        order(x->dtype, y->dtype),
        order(x->group_size, y->group_size),
        order(x->end - x->start, y->end - y->start),
    };
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        if (by[i]) {
            return by[i];
        }
    }
    return 0;
}

static bool same_kind(const ovl_comm_op *a, const ovl_comm_op *b)
{
    return a->device == b->device && a->group == b->group && a->op == b->op &&
           a->bytes == b->bytes && a->dtype == b->dtype && a->group_size == b->group_size;
}

static const char *text_of(const ovl_inspection *in, ovl_id id)
{
    return id == OVL_NONE ? NULL : ovl_names_text(&in->names, id);
}

/* `ops` are of one kind, the shortest first. */
static ovl_inspect_collective row_of(const ovl_inspection *in, const ovl_comm_op *ops, uint32_t n)
{
    ovl_inspect_collective row = {
        .op = text_of(in, ops->op),
        .group = text_of(in, ops->group),
        .dtype = text_of(in, ops->dtype),
        .group_size = ops->group_size,
        .bytes = ops->bytes,
        .count = n,
        .shortest = ops[0].end - ops[0].start,
        .median = ops[(n - 1) / 2].end - ops[(n - 1) / 2].start,
        .longest = ops[n - 1].end - ops[n - 1].start,
    };
    for (uint32_t i = 0; i < n; i++) {
        row.total = add(row.total, ops[i].end - ops[i].start);
    }
    if (row.bytes > 0 && row.shortest > 0) {
        row.algbw = (double)row.bytes * 1e9 / (double)row.shortest;
        row.busbw = row.algbw * ovl_bus_factor(row.op, row.group_size);
    }
    return row;
}

void ovl_inspect_collectives(ovl_inspection *in, const ovl_collected *file, uint32_t file_index)
{
    uint32_t n = file->comms.len;
    if (n == 0) {
        return;
    }
    ovl_arena scratch = {0};
    ovl_comm_op *ops = OVL_NEW_ARRAY(&scratch, ovl_comm_op, n);
    memcpy(ops, file->comms.data, n * sizeof *ops);
    qsort(ops, n, sizeof *ops, by_kind_then_duration);
    for (uint32_t first = 0, next; first < n; first = next) {
        for (next = first + 1; next < n && same_kind(&ops[first], &ops[next]); next++) {
        }
        ovl_inspect_collective row = row_of(in, &ops[first], next - first);
        row.file = file_index;
        row.device = file->devices.data[ops[first].device];
        row.rank = file->rank;
        ovl_vec_push(&in->collectives, row);
    }
    ovl_arena_free(&scratch);
}

/* ---- several ranks ---- */

/* A collective with what tells it from others on its rank. */
typedef struct member {
    ovl_id group;   /* name; where there is none, of the stream by order of use: "stream 1" */
    int64_t number; /* sequence, or how many came before in the group */
    const ovl_comm_op *op;
} member;

static ovl_id stream_group(ovl_inspection *in, uint32_t nth)
{
    return ovl_names_add(&in->names, ovl_arena_printf(&in->arena, "stream %" PRIu32, nth + 1));
}

/* How often each group came so far. A job has few. */
typedef struct counts {
    OVL_VEC(ovl_id) groups;
    OVL_VEC(int64_t) seen;
    OVL_VEC(uint64_t) streams;
} counts;

static int64_t count_of(counts *c, ovl_id group)
{
    for (uint32_t i = 0; i < c->groups.len; i++) {
        if (c->groups.data[i] == group) {
            return c->seen.data[i]++;
        }
    }
    ovl_vec_push(&c->groups, group);
    ovl_vec_push(&c->seen, 1);
    return 0;
}

static uint32_t nth_stream(counts *c, uint64_t stream)
{
    for (uint32_t i = 0; i < c->streams.len; i++) {
        if (c->streams.data[i] == stream) {
            return i;
        }
    }
    ovl_vec_push(&c->streams, stream);
    return c->streams.len - 1;
}

static int by_group_and_number(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int group = order(x->group, y->group);
    return group ? group : order(x->number, y->number);
}

/* The sequence number is used only where every rank wrote it. */
static bool all_numbered(const ovl_inspection *in)
{
    for (uint32_t p = 0; p < in->parties.len; p++) {
        for (uint32_t i = 0; i < in->parties.data[p].n_comms; i++) {
            const ovl_comm_op *op = &in->parties.data[p].comms[i];
            if (op->sequence < 0 || op->group == OVL_NONE) {
                return false;
            }
        }
    }
    return true;
}

static member *members_of(ovl_inspection *in, const ovl_inspect_party *party, bool numbered,
                          ovl_arena *scratch)
{
    counts c = {0};
    member *members = OVL_NEW_ARRAY(scratch, member, party->n_comms);
    for (uint32_t i = 0; i < party->n_comms; i++) {
        const ovl_comm_op *op = &party->comms[i];
        ovl_id group =
            op->group != OVL_NONE ? op->group : stream_group(in, nth_stream(&c, op->stream));
        members[i] = (member){group, numbered ? op->sequence : count_of(&c, group), op};
    }
    ovl_vec_free(&c.groups);
    ovl_vec_free(&c.seen);
    ovl_vec_free(&c.streams);
    qsort(members, party->n_comms, sizeof *members, by_group_and_number);
    return members;
}

static const ovl_comm_op *find(const member *members, uint32_t n, const member *like)
{
    const member *found =
        n ? bsearch(like, members, n, sizeof *members, by_group_and_number) : NULL;
    return found ? found->op : NULL;
}

/* The members of all parties, and what was matched: operations [match][party], NULL for a party
 * that is not in the group. */
typedef struct matched {
    member **members;
    OVL_VEC(const ovl_comm_op *) ops;
    uint32_t n, n_parties;
    uint64_t different; /* same place, other operation */
    uint64_t missing;   /* not on every rank of its group */
} matched;

/* Whether a party takes part in the group. */
static bool in_group(const member *members, uint32_t n, ovl_id group)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (members[middle].group < group) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && members[low].group == group;
}

/* A collective is matched if every party of its group has it, and there are two at least. Each is
 * looked at once: from the first party of its group. */
static void match_one(ovl_inspection *in, matched *m, uint32_t first, const member *like)
{
    uint32_t n_parties = m->n_parties, members = 0, found = 0;
    bool same = true;
    for (uint32_t p = 0; p < n_parties; p++) {
        uint32_t n = in->parties.data[p].n_comms;
        bool part = in_group(m->members[p], n, like->group);
        if (part && p < first) {
            m->ops.len -= p;
            return;
        }
        const ovl_comm_op *op = part ? find(m->members[p], n, like) : NULL;
        ovl_vec_push(&m->ops, op);
        members += part;
        found += op != NULL;
        same &= !op || op->op == like->op->op;
    }
    if (members < 2 || found < members || !same) {
        m->missing += found < members;
        m->different += found == members && !same;
        m->ops.len -= n_parties;
        return;
    }
    ovl_inspect_match match = {
        .op = text_of(in, like->op->op),
        .group = text_of(in, like->group),
        .number = like->number,
        .bytes = like->op->bytes,
        .duration = OVL_NEW_ARRAY(&in->arena, int64_t, n_parties),
    };
    ovl_vec_push(&in->matches, match);
    m->n++;
}

static matched match_all(ovl_inspection *in, ovl_arena *scratch)
{
    bool numbered = all_numbered(in);
    matched m = {.n_parties = in->parties.len};
    m.members = OVL_NEW_ARRAY(scratch, member *, m.n_parties);
    for (uint32_t p = 0; p < m.n_parties; p++) {
        m.members[p] = members_of(in, &in->parties.data[p], numbered, scratch);
    }
    for (uint32_t p = 0; p < m.n_parties; p++) {
        for (uint32_t i = 0; i < in->parties.data[p].n_comms; i++) {
            match_one(in, &m, p, &m.members[p][i]);
        }
    }
    return m;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return order(*x, *y);
}

/* The lower median. */
static int64_t median(int64_t *values, uint32_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return values[(n - 1) / 2];
}

static int64_t end_of(const ovl_inspection *in, const ovl_comm_op *op, uint32_t party)
{
    return add(in->parties.data[party].base, op->end);
}

static const ovl_comm_op *op_of(const matched *m, uint32_t match, uint32_t party)
{
    return m->ops.data[(size_t)match * m->n_parties + party];
}

/* Members of a collective end together, so a clock that ends later than the middle of all, in the
 * median over the collectives, is ahead by that. Starts say nothing of clocks. */
static void set_clocks(ovl_inspection *in, const matched *m, ovl_arena *scratch)
{
    int64_t *middle = OVL_NEW_ARRAY(scratch, int64_t, m->n);
    int64_t *values = OVL_NEW_ARRAY(scratch, int64_t, OVL_MAX(m->n, m->n_parties));
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t n = 0;
        for (uint32_t p = 0; p < m->n_parties; p++) {
            const ovl_comm_op *op = op_of(m, i, p);
            if (op) {
                values[n++] = end_of(in, op, p);
            }
        }
        middle[i] = median(values, n);
    }
    for (uint32_t p = 0; p < m->n_parties; p++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < m->n; i++) {
            const ovl_comm_op *op = op_of(m, i, p);
            if (op) {
                values[n++] = subtract(end_of(in, op, p), middle[i]);
            }
        }
        in->parties.data[p].clock = n ? median(values, n) : 0;
    }
}

static void fill(ovl_inspection *in, const matched *m, uint32_t index)
{
    ovl_inspect_match *match = &in->matches.data[index];
    int64_t first_end = INT64_MAX, last_end = INT64_MIN;
    match->transfer = INT64_MAX;
    for (uint32_t p = 0; p < m->n_parties; p++) {
        const ovl_comm_op *op = op_of(m, index, p);
        match->duration[p] = op ? op->end - op->start : -1;
        if (!op) {
            continue;
        }
        int64_t end = subtract(end_of(in, op, p), in->parties.data[p].clock);
        first_end = OVL_MIN(first_end, end);
        last_end = OVL_MAX(last_end, end);
        if (match->duration[p] < match->transfer) {
            match->transfer = match->duration[p];
            match->last = p;
        }
    }
    match->end_skew = subtract(last_end, first_end);
    in->parties.data[match->last].last++;
    for (uint32_t p = 0; p < m->n_parties; p++) {
        ovl_inspect_party *party = &in->parties.data[p];
        if (match->duration[p] >= 0) {
            party->matched++;
            party->wait = add(party->wait, match->duration[p] - match->transfer);
            party->duration = add(party->duration, match->duration[p]);
        }
    }
}

#define APART 100000 /* ns; ends of good sets lie within 50 us */

static void warn_apart(const ovl_inspection *in, ovl_errs *errs)
{
    const ovl_mark nowhere = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->matches.len; i++) {
        const ovl_inspect_match *m = &in->matches.data[i];
        n += m->end_skew > APART && m->end_skew > m->transfer / 10;
    }
    if (n) {
        ovl_warning(errs, nowhere,
                    "%" PRIu32 " of %" PRIu32
                    " matched collectives end more than 0.1 ms apart: they "
                    "may not be the same ones (cut or sampled traces, other groups), so do not "
                    "trust their waits and clocks",
                    n, in->matches.len);
    }
}

/* Files that say the same rank are not ranks of one job. */
static bool one_job(const ovl_inspection *in)
{
    for (uint32_t a = 0; a < in->parties.len; a++) {
        for (uint32_t b = a + 1; b < in->parties.len; b++) {
            const ovl_inspect_party *x = &in->parties.data[a], *y = &in->parties.data[b];
            if (x->file != y->file && x->rank >= 0 && x->rank == y->rank) {
                return false;
            }
        }
    }
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const ovl_inspect_party *x = a, *y = b;
    int rank = order(x->rank, y->rank), file = order(x->file, y->file);
    return rank ? rank : file ? file : order(x->device, y->device);
}

void ovl_inspect_ranks(ovl_inspection *in, ovl_errs *errs)
{
    const ovl_mark nowhere = {0};
    if (in->parties.len < 2) {
        return;
    }
    if (!one_job(in)) {
        ovl_warning(errs, nowhere,
                    "several files say the same rank, so they are no ranks of one "
                    "job: collectives were not matched");
        return;
    }
    ovl_arena scratch = {0};
    qsort(in->parties.data, in->parties.len, sizeof *in->parties.data, by_rank);
    matched m = match_all(in, &scratch);
    if (m.n) {
        set_clocks(in, &m, &scratch);
    }
    for (uint32_t i = 0; i < m.n; i++) {
        fill(in, &m, i);
    }
    ovl_vec_free(&m.ops);
    warn_apart(in, errs);
    if (m.missing + m.different) {
        ovl_warning(errs, nowhere,
                    "%" PRIu64 " collectives are not on all ranks of their group and %" PRIu64
                    " are another operation on some; %" PRIu32 " were matched",
                    m.missing, m.different, m.n);
    }
    ovl_arena_free(&scratch);
}
