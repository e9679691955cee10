/* Gradients in other buckets than they were reduced in (record_change.h says how). */
#include "models/record_gradients.h"

#include <math.h>
#include <string.h>

#define MOST_PIECES 100000

/* A bucket on one rank: its collective with the pauses before it, and what let it go. */
typedef struct bucket {
    uint32_t first, op; /* first of its operations in the list; the collective itself, the last */
    uint32_t trigger;   /* the last operation it waits for; OVL_NONE */
    ovl_time launch, gap;
} bucket;

typedef OVL_VEC(bucket) buckets;

/* A new bucket ends with a fraction of an old one. */
typedef struct cut {
    uint32_t first, last; /* old buckets it has pieces of */
    double until;         /* fraction of the last, 1: all */
    bool whole;           /* it is one old bucket as it was */
    uint64_t bytes;
} cut;

typedef struct rebucket {
    ovl_recorded *rec;
    const ovl_change_keys *what_if;
    ovl_arena *arena, *scratch;
    ovl_errs *errs;
    ovl_id group;
    buckets *of; /* [n_ranks] */
    OVL_VEC(cut) cuts;
    ovl_rec_gradients gradients; /* of the reference */
    ovl_rec_line line;
    /* The rank being written: */
    uint32_t rank;
    OVL_VEC(ovl_rec_op) ops;
    OVL_VEC(uint32_t) after;
    uint32_t *place; /* [n_ops] in the new list; OVL_NONE: gone */
    uint32_t *made;  /* [cuts] place of the collective; OVL_NONE: not yet */
} rebucket;

static bool is_reduction(const ovl_rec_op *op)
{
    return op->kind == OVL_COLLECTIVE &&
           (op->coll == OVL_ALL_REDUCE || op->coll == OVL_REDUCE_SCATTER);
}

/* --- What there is --- */

/* The group that reduces most bytes on the first rank that reduces. */
static bool choose_group(rebucket *b)
{
    const ovl_recorded *rec = b->rec;
    uint64_t most = 0;
    for (uint32_t g = 0; g < rec->n_groups; g++) {
        ovl_id name = rec->groups[g].name;
        const char *wanted = b->what_if->bucket_group;
        if (wanted && strcmp(wanted, ovl_names_text(&rec->names, name)) != 0) {
            continue;
        }
        const ovl_rec_rank *rank = &rec->ranks[rec->groups[g].ranks[0]];
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < rank->n_ops; i++) {
            const ovl_rec_op *op = &rank->ops[i];
            bytes += is_reduction(op) && rec->groups[op->group].name == name ? op->bytes : 0;
        }
        b->group = bytes > most ? name : b->group;
        most = OVL_MAX(most, bytes);
    }
    if (most == 0) {
        ovl_error(
            b->errs, OVL_E_INPUT, b->what_if->mark,
            "there are no buckets to be changed: the step has no all-reduce or reduce-scatter "
            "of known bytes%s%s",
            b->what_if->bucket_group ? " in " : "",
            b->what_if->bucket_group ? b->what_if->bucket_group : "");
    }
    return most > 0;
}

static bucket bucket_at(const ovl_rec_rank *rank, uint32_t op)
{
    bucket k = {op, op, OVL_NONE, 0, 0};
    while (k.first > 0 && rank->ops[k.first - 1].kind == OVL_MARKER &&
           rank->ops[k.first - 1].stream == rank->ops[op].stream && rank->ops[k.first - 1].length) {
        k.first--;
    }
    for (uint32_t i = k.first; i <= op; i++) {
        const ovl_rec_op *o = &rank->ops[i];
        k.launch += o->launch;
        k.gap += o->kind == OVL_MARKER && !o->unexplained ? o->length : 0;
        for (uint32_t a = 0; a < o->n_after; a++) {
            uint32_t on = rank->after[o->first_after + a];
            k.trigger = k.trigger == OVL_NONE ? on : OVL_MAX(k.trigger, on);
        }
    }
    return k;
}

static bool find_buckets(rebucket *b)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < b->rec->n_ranks; r++) {
        const ovl_rec_rank *rank = &b->rec->ranks[r];
        for (uint32_t i = 0; i < rank->n_ops; i++) {
            if (is_reduction(&rank->ops[i]) &&
                b->rec->groups[rank->ops[i].group].name == b->group && rank->ops[i].bytes) {
                ovl_vec_push(&b->of[r], bucket_at(rank, i));
            }
        }
        n = n ? n : b->of[r].len;
        if (b->of[r].len && b->of[r].len != n) {
            ovl_error(b->errs, OVL_E_INPUT, b->what_if->mark,
                      "ranks have other numbers of buckets, so they cannot be changed together");
            return false;
        }
    }
    return true;
}

/* --- New ones --- */

/* Whether an operation makes gradients of bucket k: a kernel on the stream of what let it go,
 * after what let the one before go. Of the first bucket that is not seen. */
static bool makes(const ovl_rec_rank *rank, const buckets *of, uint32_t k, uint32_t op)
{
    const bucket *now = &of->data[k];
    if (k == 0 || now->trigger == OVL_NONE) {
        return op == now->trigger;
    }
    uint32_t before = of->data[k - 1].trigger;
    return (before == OVL_NONE || op > before) && op <= now->trigger &&
           rank->ops[op].kind == OVL_KERNEL &&
           rank->ops[op].stream == rank->ops[now->trigger].stream;
}

static ovl_time time_of_bucket(const ovl_rec_rank *rank, const buckets *of, uint32_t k)
{
    ovl_time sum = 0;
    for (uint32_t i = 0; of->data[k].trigger != OVL_NONE && i <= of->data[k].trigger; i++) {
        sum += makes(rank, of, k, i) ? rank->ops[i].length : 0;
    }
    return sum;
}

typedef struct filling {
    cut now;
    bool empty;
} filling;

static void fill(rebucket *b, filling *f, uint32_t k, double until, uint64_t bytes)
{
    if (f->empty) {
        f->now = (cut){.first = k};
        f->empty = false;
    }
    f->now.bytes += bytes;
    f->now.last = k;
    f->now.until = until;
    uint64_t cap = b->cuts.len ? b->what_if->bucket_cap : b->what_if->first_bucket_cap;
    if (f->now.bytes >= cap) {
        ovl_vec_push(&b->cuts, f->now);
        f->empty = true;
    }
}

static void fill_gradients(rebucket *b, filling *f, uint32_t k, uint64_t bytes)
{
    const ovl_rec_gradients *g = &b->gradients;
    uint64_t given = 0;
    for (uint32_t i = g->first[k]; i < g->first[k + 1]; i++) {
        given += g->bytes[i];
        fill(b, f, k, (double)given / (double)bytes, g->bytes[i]);
    }
}

/* Pieces of bucket k in the order they become ready: its gradients; where they are not seen, one
 * for each kernel, by its duration. */
static void fill_bucket(rebucket *b, const ovl_rec_rank *rank, const buckets *of, filling *f,
                        uint32_t k)
{
    uint64_t bytes = rank->ops[of->data[k].op].bytes, given = 0;
    ovl_time whole = time_of_bucket(rank, of, k), sum = 0;
    uint32_t trigger = of->data[k].trigger;
    if (b->gradients.bytes) {
        fill_gradients(b, f, k, bytes);
        return;
    }
    for (uint32_t i = 0; whole > 0 && i < trigger && trigger != OVL_NONE; i++) {
        if (!makes(rank, of, k, i) || rank->ops[i].length == 0) {
            continue;
        }
        sum += rank->ops[i].length;
        double until = (double)sum / (double)whole;
        uint64_t up_to = (uint64_t)llround(until * (double)bytes);
        if (sum < whole) {
            fill(b, f, k, until, up_to - given);
            given = up_to;
        }
    }
    fill(b, f, k, 1, bytes - given);
}

static void make_cuts(rebucket *b, uint32_t reference)
{
    const ovl_rec_rank *rank = &b->rec->ranks[reference];
    const buckets *of = &b->of[reference];
    filling f = {.empty = true};
    for (uint32_t k = 0; k < of->len && b->cuts.len < MOST_PIECES; k++) {
        fill_bucket(b, rank, of, &f, k);
    }
    if (!f.empty) {
        ovl_vec_push(&b->cuts, f.now);
    }
    for (uint32_t j = 0; j < b->cuts.len; j++) {
        cut *c = &b->cuts.data[j];
        bool begins = j == 0 || b->cuts.data[j - 1].last < c->first;
        c->whole = begins && c->first == c->last && c->until >= 1;
    }
}

/* --- Writing a rank anew --- */

static void put(rebucket *b, const ovl_rec_op *op)
{
    ovl_vec_push(&b->ops, *op);
    ovl_rec_op *to = &b->ops.data[b->ops.len - 1];
    to->first_after = b->after.len;
    to->n_after = 0;
}

static void put_after(rebucket *b, uint32_t place)
{
    ovl_vec_push(&b->after, place);
    b->ops.data[b->ops.len - 1].n_after++;
}

static ovl_time length_of(const rebucket *b, const ovl_rec_op *like, uint64_t bytes)
{
    double alpha = like->latency ? (double)like->latency : b->line.alpha;
    double t = ceil(alpha + b->line.slope * (double)bytes - 1e-6);
    const ovl_time most = OVL_TIME_MAX / 4;
    return t < (double)most ? (ovl_time)t : most;
}

static void put_gap(rebucket *b, const ovl_rec_op *before, ovl_time length)
{
    ovl_rec_op gap = *before;
    gap.kind = OVL_MARKER;
    gap.group = OVL_NONE;
    gap.name = gap.full = ovl_names_add(&b->rec->names, "(gap) bucket");
    gap.length = length;
    gap.latency = gap.launch = 0;
    gap.bytes = 0;
    gap.start = gap.end = OVL_NEVER;
    put(b, &gap);
}

/* The collective of a new bucket, after the operation that makes its last piece. */
static void put_bucket(rebucket *b, uint32_t j, uint32_t trigger)
{
    const cut *c = &b->cuts.data[j];
    const ovl_rec_rank *rank = &b->rec->ranks[b->rank];
    const bucket *old = &b->of[b->rank].data[c->last];
    ovl_rec_op op = rank->ops[old->op];
    op.launch = old->launch;
    if (!c->whole) {
        op.name = op.full =
            ovl_names_add(&b->rec->names, ovl_arena_printf(b->scratch, "bucket %" PRIu32, j));
        op.bytes = c->bytes;
        op.length = length_of(b, &op, c->bytes);
        op.start = op.end = OVL_NEVER;
    }
    if (old->gap) {
        put_gap(b, &op, old->gap);
        if (trigger != OVL_NONE) {
            put_after(b, b->place[trigger]);
        }
    }
    put(b, &op);
    if (!old->gap && trigger != OVL_NONE) {
        put_after(b, b->place[trigger]);
    }
    b->made[j] = b->ops.len - 1;
}

/* What an operation waited for; instead of a bucket, all new ones that have a piece of it. */
static bool copy_waits(rebucket *b, const ovl_rec_rank *rank, const ovl_rec_op *op)
{
    const buckets *of = &b->of[b->rank];
    for (uint32_t a = 0; a < op->n_after; a++) {
        uint32_t on = rank->after[op->first_after + a], k = 0;
        while (k < of->len && of->data[k].op != on) {
            k++;
        }
        if (k == of->len && b->place[on] != OVL_NONE) {
            put_after(b, b->place[on]);
        }
        for (uint32_t j = 0; k < of->len && j < b->cuts.len; j++) {
            const cut *c = &b->cuts.data[j];
            if (c->first > k || c->last < k) {
                continue;
            }
            if (b->made[j] == OVL_NONE) {
                ovl_error(b->errs, OVL_E_INPUT, b->what_if->mark,
                          "\"%s\" uses bucket %" PRIu32 " before what would share it is ready, so "
                          "they cannot be one bucket",
                          ovl_names_text(&b->rec->names, op->name), k);
                return false;
            }
            put_after(b, b->made[j]);
        }
    }
    return true;
}

/* The operation of this rank that makes gradients of bucket k up to a fraction. */
static uint32_t maker(const rebucket *b, uint32_t k, double until)
{
    const ovl_rec_rank *rank = &b->rec->ranks[b->rank];
    const buckets *of = &b->of[b->rank];
    ovl_time whole = time_of_bucket(rank, of, k), sum = 0;
    uint32_t trigger = of->data[k].trigger;
    for (uint32_t i = 0; trigger != OVL_NONE && i < trigger; i++) {
        sum += makes(rank, of, k, i) ? rank->ops[i].length : 0;
        if (sum > 0 && (double)sum >= until * (double)whole * (1 - 1e-9)) {
            return i;
        }
    }
    return trigger;
}

/* By operation of the old list: the first new bucket that comes right after it, or in its place. */
typedef struct spot {
    uint32_t at;  /* operation */
    bool instead; /* of the old collective there */
} spot;

static spot *find_spots(rebucket *b)
{
    spot *spots = OVL_NEW_ARRAY(b->scratch, spot, b->cuts.len);
    for (uint32_t j = 0; j < b->cuts.len; j++) {
        const cut *c = &b->cuts.data[j];
        const bucket *old = &b->of[b->rank].data[c->last];
        uint32_t by = c->until < 1 ? maker(b, c->last, c->until) : OVL_NONE;
        spots[j] = by != OVL_NONE ? (spot){by, false} : (spot){old->op, true};
    }
    return spots;
}

static bool in_bucket(const buckets *of, uint32_t op, uint32_t *k)
{
    while (*k < of->len && of->data[*k].op < op) {
        (*k)++;
    }
    return *k < of->len && op >= of->data[*k].first && op <= of->data[*k].op;
}

static void put_due(rebucket *b, const spot *spots, uint32_t *j, uint32_t op, bool instead)
{
    const buckets *of = &b->of[b->rank];
    while (*j < b->cuts.len && spots[*j].at <= op && (instead || !spots[*j].instead)) {
        uint32_t trigger =
            spots[*j].instead ? of->data[b->cuts.data[*j].last].trigger : spots[*j].at;
        put_bucket(b, (*j)++, trigger);
    }
}

static bool write_rank(rebucket *b)
{
    ovl_rec_rank *rank = &b->rec->ranks[b->rank];
    const buckets *of = &b->of[b->rank];
    const spot *spots = find_spots(b);
    uint32_t j = 0, k = 0;
    b->place = OVL_NEW_ARRAY(b->scratch, uint32_t, rank->n_ops);
    b->made = OVL_NEW_ARRAY(b->scratch, uint32_t, b->cuts.len);
    memset(b->place, 0xff, rank->n_ops * sizeof *b->place);
    memset(b->made, 0xff, b->cuts.len * sizeof *b->made);
    for (uint32_t i = 0; i < rank->n_ops; i++) {
        if (in_bucket(of, i, &k)) {
            put_due(b, spots, &j, i, i == of->data[k].op);
            continue;
        }
        put(b, &rank->ops[i]);
        if (!copy_waits(b, rank, &rank->ops[i])) {
            return false;
        }
        b->place[i] = b->ops.len - 1;
        put_due(b, spots, &j, i, false);
    }
    for (uint32_t i = 0; i < b->ops.len; i++) {
        uint32_t *batch = &b->ops.data[i].batch;
        *batch = *batch == OVL_NONE ? OVL_NONE : b->place[*batch];
    }
    rank->n_ops = b->ops.len;
    rank->ops = ovl_vec_freeze(&b->ops, b->arena);
    rank->after = ovl_vec_freeze(&b->after, b->arena);
    return true;
}

/* --- The whole --- */

static void set_line(rebucket *b, const ovl_rec_rank *rank, const buckets *of)
{
    const ovl_rec_op *first = &rank->ops[of->data[0].op];
    b->line = ovl_record_line(b->rec, b->group, first->coll);
    double transfer = 0, bytes = 0;
    for (uint32_t k = 0; k < of->len; k++) {
        const ovl_rec_op *op = &rank->ops[of->data[k].op];
        transfer += (double)(op->length - op->latency);
        bytes += (double)op->bytes;
    }
    if (first->latency) { /* alpha is known */
        b->line.alpha = (double)first->latency;
        b->line.slope = transfer / bytes;
    }
}

/* Where the sizes of gradients come from. */
static const char *gradients_text(const rebucket *b)
{
    const ovl_rec_gradients *g = &b->gradients;
    if (!g->bytes) {
        return "no copies of the step add up to the buckets, so the sizes of gradients are not "
               "seen, and a bucket may end in the midst of one (state what_if.gradients). They";
    }
    return ovl_arena_printf(b->arena, "the %" PRIu32 " gradients are %s. They", g->n,
                            g->stated ? "as stated"
                                      : "those of copies that add up to each measured bucket");
}

static bool find_gradients(rebucket *b, uint32_t reference)
{
    const buckets *of = &b->of[reference];
    uint32_t *places = OVL_NEW_ARRAY(b->scratch, uint32_t, of->len);
    for (uint32_t k = 0; k < of->len; k++) {
        places[k] = of->data[k].op;
    }
    return ovl_record_gradients(b->rec, &b->rec->ranks[reference], places, of->len, b->what_if,
                                b->scratch, &b->gradients, b->errs);
}

static void say(rebucket *b, uint32_t before, bool known)
{
    char alpha[OVL_UNITS_TEXT], cap[OVL_UNITS_TEXT], first[OVL_UNITS_TEXT];
    bool stated = b->what_if->has_first_bucket_cap;
    const char *how = known               ? ""
                      : b->line.sizes > 1 ? ", from a line through bytes and times"
                      : b->line.n         ? ", since one size cannot tell it"
                                          : ", since no size is known";
    ovl_print_time(alpha, (ovl_time)b->line.alpha / OVL_NS * OVL_NS);
    ovl_print_bytes(cap, b->what_if->bucket_cap);
    ovl_print_bytes(first, b->what_if->first_bucket_cap);
    ovl_record_say(b->rec, b->arena,
                   ovl_arena_printf(b->arena,
                                    "What if %s became %" PRIu32
                                    ", the first closed at %s%s and the others at %s: %s are taken "
                                    "to become ready evenly over the kernels before each bucket; "
                                    "alpha is %s%s.",
                                    ovl_counted(b->arena, before, "bucket"), b->cuts.len, first,
                                    stated ? "" : " (the default of first_bucket_cap)", cap,
                                    gradients_text(b), alpha, how));
}

static bool change(rebucket *b)
{
    uint32_t reference = OVL_NONE;
    if (!choose_group(b) || !find_buckets(b)) {
        return false;
    }
    for (uint32_t r = b->rec->n_ranks; r-- > 0;) {
        reference = b->of[r].len ? r : reference;
    }
    const ovl_rec_rank *rank = &b->rec->ranks[reference];
    bool known = rank->ops[b->of[reference].data[0].op].latency > 0;
    if (!find_gradients(b, reference)) {
        return false;
    }
    set_line(b, rank, &b->of[reference]);
    make_cuts(b, reference);
    say(b, b->of[reference].len, known);
    for (b->rank = 0; b->rank < b->rec->n_ranks; b->rank++) {
        if (b->of[b->rank].len && !write_rank(b)) {
            return false;
        }
    }
    return true;
}

bool ovl_record_rebucket(ovl_recorded *rec, const ovl_change_keys *what_if, ovl_arena *arena,
                         ovl_errs *errs)
{
    ovl_arena scratch = {0};
    rebucket b = {.rec = rec,
                  .what_if = what_if,
                  .arena = arena,
                  .scratch = &scratch,
                  .errs = errs,
                  .group = OVL_NONE};
    b.of = OVL_NEW_ARRAY(&scratch, buckets, rec->n_ranks);
    bool good = change(&b);
    for (uint32_t r = 0; r < rec->n_ranks; r++) {
        ovl_vec_free(&b.of[r]);
    }
    ovl_vec_free(&b.cuts);
    ovl_vec_free(&b.ops);
    ovl_vec_free(&b.after);
    ovl_arena_free(&scratch);
    return good;
}
