/* Collectives of one trace, and the same collectives seen from several ranks. */
#include "models/statistics.h"
#include "tools/comm_names.h"
#include "tools/inspect.h"

#include <string.h>

#define BUFFER       (4 << 20)   /* bytes of collectives that are ordered in memory */
#define MOST_FILES   128         /* open at once for ranks; those of others stay in memory */
#define PARTY_BUFFER (256 << 10) /* the same of each rank, of which there may be many */

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

/* What was added in order. */
static int in_order(const void *a, const void *b)
{
    (void)a, (void)b;
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

/* A row of calls of one kind, the first of which is the shortest. */
static ovl_inspect_collective row_of(const ovl_inspection *in, const ovl_comm_op *op)
{
    return (ovl_inspect_collective){
        .op = text_of(in, op->op),
        .group = text_of(in, op->group),
        .dtype = text_of(in, op->dtype),
        .group_size = op->group_size,
        .bytes = op->bytes,
        .shortest = op->end - op->start,
    };
}

static void end_row(ovl_inspect_collective *row)
{
    if (row->bytes > 0 && row->shortest > 0) {
        row->algbw = (double)row->bytes * 1e9 / (double)row->shortest;
        row->busbw = row->algbw * ovl_bus_factor(row->op, row->group_size);
    }
}

/* The median of each row, now that it is known how many calls it has. */
static void medians(ovl_inspect_collective *rows, uint32_t n, ovl_sorter *sorted)
{
    ovl_sorter_rewind(sorted);
    for (uint32_t i = 0; i < n; i++) {
        for (uint64_t k = 0; k < rows[i].count; k++) {
            const ovl_comm_op *op = ovl_sorter_next(sorted);
            if (op && k == (rows[i].count - 1) / 2) {
                rows[i].median = op->end - op->start;
            }
            if (op && k == rows[i].count / 2) {
                rows[i].median = ovl_part_way(rows[i].median, op->end - op->start, 1, 2);
            }
        }
    }
}

static void sort_by_kind(ovl_collected *file, ovl_sorter *sorted)
{
    ovl_comm_op op;
    ovl_sorter_begin(sorted, sizeof op, by_kind_then_duration, BUFFER);
    for (bool more = ovl_collect_first_comm(file, &op); more;
         more = ovl_collect_next_comm(file, &op)) {
        ovl_sorter_add(sorted, &op);
    }
    ovl_sorter_rewind(sorted);
}

void ovl_inspect_collectives(ovl_inspection *in, ovl_collected *file, uint32_t file_index)
{
    ovl_sorter sorted;
    ovl_comm_op last = {0};
    uint32_t first = in->collectives.len;
    sort_by_kind(file, &sorted);
    for (const ovl_comm_op *op; (op = ovl_sorter_next(&sorted)) != NULL; last = *op) {
        if (in->collectives.len == first || !same_kind(op, &last)) {
            ovl_inspect_collective fresh = row_of(in, op);
            fresh.file = file_index;
            fresh.device = file->devices.data[op->device];
            fresh.rank = ovl_collect_rank(file, op->device);
            ovl_vec_push(&in->collectives, fresh);
        }
        ovl_inspect_collective *row = &in->collectives.data[in->collectives.len - 1];
        row->count++;
        row->longest = op->end - op->start;
        row->total = add(row->total, op->end - op->start);
    }
    for (uint32_t i = first; i < in->collectives.len; i++) {
        end_row(&in->collectives.data[i]);
    }
    if (in->collectives.len > first) {
        medians(&in->collectives.data[first], in->collectives.len - first, &sorted);
    }
    ovl_sorter_free(&sorted);
}

/* ---- several ranks ---- */

void ovl_inspect_party_begin(ovl_inspect_party *party, uint32_t nth)
{
    ovl_sorter_begin(&party->comms, sizeof(ovl_comm_op), in_order, PARTY_BUFFER);
    party->comms.no_file = nth >= MOST_FILES;
}

void ovl_inspect_party_add(ovl_inspect_party *party, const ovl_comm_op *op)
{
    party->numbered &= op->sequence >= 0 && op->group != OVL_NONE;
    ovl_sorter_add(&party->comms, op);
}

/* A collective with what tells it from others on its rank. */
typedef struct member {
    ovl_id group;   /* name; where there is none, of the stream by order of use: "stream 1" */
    ovl_id op;      /* name */
    int64_t number; /* sequence, or how many came before in the group */
    int64_t start, end, bytes;
    int64_t group_size; /* -1: not written */
} member;

static ovl_id stream_group(ovl_inspection *in, uint32_t nth)
{
    return ovl_names_add(&in->names, ovl_arena_printf(&in->arena, "stream %" PRIu32, nth + 1));
}

/* How often each group came so far, and the groups of streams. A job has few. */
typedef struct counts {
    OVL_VEC(ovl_id) groups;
    OVL_VEC(int64_t) seen;
    OVL_VEC(uint64_t) streams;
    OVL_VEC(ovl_id) stream_groups;
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

static ovl_id group_of_stream(ovl_inspection *in, counts *c, uint64_t stream)
{
    for (uint32_t i = 0; i < c->streams.len; i++) {
        if (c->streams.data[i] == stream) {
            return c->stream_groups.data[i];
        }
    }
    ovl_vec_push(&c->streams, stream);
    ovl_vec_push(&c->stream_groups, stream_group(in, c->streams.len - 1));
    return c->stream_groups.data[c->streams.len - 1];
}

static int by_group_and_number(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int group = order(x->group, y->group);
    return group ? group : order(x->number, y->number);
}

/* The members of one party by group and number, and which groups it has. */
typedef struct line {
    ovl_sorter members;
    const member *head;
    OVL_VEC(ovl_id) groups;
} line;

/* Past the collective, which a broken file may have more than once. */
static void advance(line *l, const member *like)
{
    while (l->head && by_group_and_number(l->head, like) == 0) {
        l->head = ovl_sorter_next(&l->members);
    }
}

static line line_of(ovl_inspection *in, ovl_inspect_party *party, bool numbered)
{
    line l = {0};
    counts c = {0};
    ovl_sorter_begin(&l.members, sizeof(member), by_group_and_number, PARTY_BUFFER);
    l.members.no_file = party->comms.no_file;
    ovl_sorter_rewind(&party->comms);
    for (const ovl_comm_op *op; (op = ovl_sorter_next(&party->comms)) != NULL;) {
        ovl_id group = op->group != OVL_NONE ? op->group : group_of_stream(in, &c, op->stream);
        int64_t nth = count_of(&c, group);
        const member m = {.group = group,
                          .op = op->op,
                          .number = numbered ? op->sequence : nth,
                          .start = op->start,
                          .end = op->end,
                          .bytes = op->bytes,
                          .group_size = op->group_size};
        ovl_sorter_add(&l.members, &m);
    }
    ovl_sorter_free(&party->comms);
    ovl_sorter_rewind(&l.members);
    l.head = ovl_sorter_next(&l.members);
    l.groups.data = c.groups.data;
    l.groups.len = c.groups.len;
    l.groups.cap = c.groups.cap;
    ovl_vec_free(&c.seen);
    ovl_vec_free(&c.streams);
    ovl_vec_free(&c.stream_groups);
    return l;
}

/* Whether a party takes part in the group. */
static bool in_group(const line *l, ovl_id group)
{
    for (uint32_t i = 0; i < l->groups.len; i++) {
        if (l->groups.data[i] == group) {
            return true;
        }
    }
    return false;
}

/* What became of the collectives. */
typedef struct matched {
    line *lines;
    int64_t world; /* ranks of the job; -1: no file tells */
    uint32_t n_parties;
    uint64_t different; /* same place, other operation */
    uint64_t missing;   /* not on every rank of its group */
} matched;

/* The collective that comes first by group and number, over all parties; NULL: no more. */
static const member *first_of(const matched *m)
{
    const member *first = NULL;
    for (uint32_t p = 0; p < m->n_parties; p++) {
        const member *head = m->lines[p].head;
        first = head && (!first || by_group_and_number(head, first) < 0) ? head : first;
    }
    return first;
}

static void add_match(ovl_inspection *in, const matched *m, const member *like)
{
    ovl_inspect_match match = {
        .op = text_of(in, like->op),
        .group = text_of(in, like->group),
        .number = like->number,
        .bytes = like->bytes,
        .duration = OVL_NEW_ARRAY(&in->arena, int64_t, m->n_parties),
        .end = OVL_NEW_ARRAY(&in->arena, int64_t, m->n_parties),
    };
    int64_t told = -1, here = 0;
    for (uint32_t p = 0; p < m->n_parties; p++) {
        const member *head = m->lines[p].head;
        bool part = head && by_group_and_number(head, like) == 0;
        match.duration[p] = part ? head->end - head->start : -1;
        match.end[p] = part ? add(in->parties.data[p].base, head->end) : 0;
        told = part ? OVL_MAX(told, head->group_size) : told;
        here += part;
    }
    match.ranks = told > 0 ? told : -1;
    match.partial = told > 0 ? told > here : m->world > (int64_t)in->devices.len;
    ovl_vec_push(&in->matches, match);
}

/* A collective is matched if every party of its group has it, and there are two at least. */
static void match_one(ovl_inspection *in, matched *m, const member *like)
{
    uint32_t members = 0, found = 0;
    bool same = true;
    for (uint32_t p = 0; p < m->n_parties; p++) {
        const member *head = m->lines[p].head;
        bool part = head && by_group_and_number(head, like) == 0;
        members += in_group(&m->lines[p], like->group);
        found += part;
        same &= !part || head->op == like->op;
    }
    if (members >= 2 && found == members && same) {
        add_match(in, m, like);
    } else {
        m->missing += found < members;
        m->different += found == members && !same;
    }
}

static void match_all(ovl_inspection *in, matched *m, ovl_arena *scratch)
{
    bool numbered = true;
    m->n_parties = in->parties.len;
    m->world = -1;
    for (uint32_t i = 0; i < in->files.len; i++) {
        m->world = OVL_MAX(m->world, in->files.data[i].world);
    }
    m->lines = OVL_NEW_ARRAY(scratch, line, m->n_parties);
    for (uint32_t p = 0; p < m->n_parties; p++) {
        numbered &= in->parties.data[p].numbered; /* every rank wrote them, or they do not count */
    }
    for (uint32_t p = 0; p < m->n_parties; p++) {
        m->lines[p] = line_of(in, &in->parties.data[p], numbered);
    }
    for (const member *first; (first = first_of(m)) != NULL;) {
        const member like = *first;
        match_one(in, m, &like);
        for (uint32_t p = 0; p < m->n_parties; p++) {
            advance(&m->lines[p], &like);
        }
    }
    for (uint32_t p = 0; p < m->n_parties; p++) {
        ovl_sorter_free(&m->lines[p].members);
        ovl_vec_free(&m->lines[p].groups);
    }
}

/* Members of a collective end together, so a clock that ends later than the middle of all, in the
 * median over the collectives, is ahead by that. Starts say nothing of clocks. */
static void set_clocks(ovl_inspection *in, ovl_arena *scratch)
{
    uint32_t n_matches = in->matches.len, n_parties = in->parties.len;
    int64_t *middle = OVL_NEW_ARRAY(scratch, int64_t, n_matches);
    int64_t *values = OVL_NEW_ARRAY(scratch, int64_t, OVL_MAX(n_matches, n_parties));
    for (uint32_t i = 0; i < n_matches; i++) {
        const ovl_inspect_match *match = &in->matches.data[i];
        uint32_t n = 0;
        for (uint32_t p = 0; p < n_parties; p++) {
            if (match->duration[p] >= 0) {
                values[n++] = match->end[p];
            }
        }
        middle[i] = ovl_median(values, n);
    }
    for (uint32_t p = 0; p < n_parties; p++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < n_matches; i++) {
            const ovl_inspect_match *match = &in->matches.data[i];
            if (match->duration[p] >= 0) {
                values[n++] = subtract(match->end[p], middle[i]);
            }
        }
        in->parties.data[p].clock = n ? ovl_median(values, n) : 0;
    }
}

static void fill(ovl_inspection *in, ovl_inspect_match *match)
{
    int64_t first_end = INT64_MAX, last_end = INT64_MIN;
    match->transfer = INT64_MAX;
    for (uint32_t p = 0; p < in->parties.len; p++) {
        if (match->duration[p] < 0) {
            continue;
        }
        int64_t end = subtract(match->end[p], in->parties.data[p].clock);
        first_end = OVL_MIN(first_end, end);
        last_end = OVL_MAX(last_end, end);
        if (match->duration[p] < match->transfer) {
            match->transfer = match->duration[p];
            match->last = p;
        }
    }
    match->end_skew = subtract(last_end, first_end);
    in->parties.data[match->last].last++;
    for (uint32_t p = 0; p < in->parties.len; p++) {
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

uint32_t ovl_inspect_partial(const ovl_inspection *in)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->matches.len; i++) {
        n += in->matches.data[i].partial;
    }
    return n;
}

static void warn_partial(const ovl_inspection *in, int64_t world, ovl_errs *errs)
{
    const ovl_mark nowhere = {0};
    const ovl_inspect_match *first = NULL;
    int64_t here = 0;
    for (uint32_t i = 0; i < in->matches.len && !first; i++) {
        first = in->matches.data[i].partial ? &in->matches.data[i] : NULL;
    }
    for (uint32_t p = 0; first && p < in->parties.len; p++) {
        here += first->duration[p] >= 0;
    }
    if (first) {
        ovl_warning(errs, nowhere,
                    "%" PRIu32 " of %" PRIu32 " matched collectives lack ranks: of \"%s\" %" PRId64
                    " of %" PRId64 " are here; all of them may have waited for the missing ones, "
                    "so their transfers are an upper bound",
                    ovl_inspect_partial(in), in->matches.len, first->group, here,
                    first->ranks > 0 ? first->ranks : world);
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

/* The number of the first step of a file; -1: it marks none. */
static int64_t first_step(const ovl_inspection *in, uint32_t file)
{
    int64_t first = -1;
    for (uint32_t i = 0; i < in->steps.len; i++) {
        const ovl_inspect_step *s = &in->steps.data[i];
        bool earlier = s->file == file && s->number >= 0 && (first < 0 || s->number < first);
        first = earlier ? s->number : first;
    }
    return first;
}

/* Without sequence numbers collectives are counted since the files began, so with the same step. */
static bool begin_alike(const ovl_inspection *in, ovl_errs *errs)
{
    const ovl_mark nowhere = {0};
    const ovl_inspect_party *known = NULL;
    bool numbered = true;
    for (uint32_t p = 0; p < in->parties.len; p++) {
        numbered &= in->parties.data[p].numbered;
    }
    int64_t step = -1;
    for (uint32_t p = 0; p < in->parties.len && !numbered; p++) {
        const ovl_inspect_party *party = &in->parties.data[p];
        int64_t first = known && known->file == party->file ? step : first_step(in, party->file);
        if (known && first >= 0 && first != step) {
            ovl_warning(errs, nowhere,
                        "\"%s\" begins with step %" PRId64 " and \"%s\" with step %" PRId64
                        ", and collectives have no sequence numbers: the first of them are not the "
                        "same ones, so they were not matched; ovl import --step N matches them "
                        "within one step",
                        in->files.data[known->file].path, step, in->files.data[party->file].path,
                        first);
            return false;
        }
        known = first >= 0 ? party : known;
        step = first >= 0 ? first : step;
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
    if (!begin_alike(in, errs)) {
        return;
    }
    ovl_arena scratch = {0};
    qsort(in->parties.data, in->parties.len, sizeof *in->parties.data, by_rank);
    matched m = {0};
    match_all(in, &m, &scratch);
    if (in->matches.len) {
        set_clocks(in, &scratch);
    }
    for (uint32_t i = 0; i < in->matches.len; i++) {
        fill(in, &in->matches.data[i]);
    }
    warn_apart(in, errs);
    warn_partial(in, m.world, errs);
    if (m.missing + m.different) {
        ovl_warning(errs, nowhere,
                    "%" PRIu64 " collectives are not on all ranks of their group and %" PRIu64
                    " are another operation on some; %" PRIu32 " were matched",
                    m.missing, m.different, in->matches.len);
    }
    ovl_arena_free(&scratch);
}
