#include "models/record_isolate.h"

#include "models/pattern.h"
#include "models/record_change.h"
#include "sim/spans.h"
#include "sim/units.h"

#include <math.h>
#include <string.h>

/* A piece of a transfer during which the kernels of one member slowed it. */
typedef struct slowed {
    uint32_t instance;
    double factor;
    ovl_time from, to; /* before its end, which all members share: from > to */
} slowed;

typedef struct isolation {
    ovl_recorded *rec;
    const ovl_hw *hw;
    ovl_arena *arena, scratch;
    ovl_errs *errs;
    uint32_t *class_of;       /* [names.count] of the full name: index of its class, + 1; 0: new */
    OVL_VEC(ovl_id) classes;  /* names */
    OVL_VEC(ovl_pair) pairs;  /* [class][ovl_coll] */
    uint32_t *first_instance; /* [n_groups] of its first collective */
    OVL_VEC(slowed) slowed;
    double *lost; /* [instances] of a transfer, ps */
    double kernels_lost, transfers_lost;
    uint32_t n_kernels, n_transfers;
    uint32_t n_without; /* kernels beside a collective with which they have no factor */
} isolation;

/* --- Classes --- */

const char *ovl_kernel_class(const char *name, size_t *length)
{
    const char *from = strncmp(name, "void ", 5) == 0 ? name + 5 : name;
    size_t n = strcspn(from, "<(");
    for (size_t i = n; i > 1; i--) {
        if (from[i - 1] == ':' && from[i - 2] == ':') {
            *length = n - i;
            return from + i;
        }
    }
    *length = n;
    return from;
}

/* The index of a class, whose factors are looked up once. */
static uint32_t add_class(isolation *s, ovl_id name)
{
    for (uint32_t i = 0; i < s->classes.len; i++) {
        if (s->classes.data[i] == name) {
            return i;
        }
    }
    ovl_vec_push(&s->classes, name);
    for (int coll = 0; coll < OVL_COLL_COUNT; coll++) {
        ovl_pair pair = ovl_hw_pair_of(s->hw, ovl_names_text(&s->rec->names, name),
                                       ovl_coll_name((ovl_coll)coll));
        ovl_vec_push(&s->pairs, pair);
    }
    return s->classes.len - 1;
}

static const ovl_pair *pair_of(const isolation *s, uint32_t klass, const ovl_rec_op *coll)
{
    return &s->pairs.data[klass * OVL_COLL_COUNT + coll->coll];
}

static bool has_factor(const isolation *s, uint32_t klass)
{
    for (int coll = 0; coll < OVL_COLL_COUNT; coll++) {
        if (s->pairs.data[klass * OVL_COLL_COUNT + (uint32_t)coll].kernel_factor > 0) {
            return true;
        }
    }
    return false;
}

/* What the user says of the name; OVL_NONE: nothing. */
static ovl_id ruled(isolation *s, const regex_t *regex, const ovl_items *rules, const char *name)
{
    const ovl_record_class *rule = rules->item;
    for (uint32_t i = 0; i < rules->count; i++) {
        if (regexec(&regex[i], name, 0, NULL, 0) == 0) {
            return ovl_names_add(&s->rec->names, rule[i].klass);
        }
    }
    return OVL_NONE;
}

/* Rules first, then what the trace says, then the name. */
static uint32_t class_of(isolation *s, const regex_t *regex, const ovl_items *rules,
                         const ovl_rec_op *op)
{
    uint32_t *known = &s->class_of[op->full];
    if (op->klass == OVL_NONE && *known) {
        return *known - 1;
    }
    const char *name = ovl_names_text(&s->rec->names, op->full);
    ovl_id klass = ruled(s, regex, rules, name);
    klass = klass == OVL_NONE ? op->klass : klass;
    if (klass == OVL_NONE) {
        size_t length;
        const char *from = ovl_kernel_class(name, &length);
        klass = ovl_names_add(&s->rec->names, ovl_arena_strndup(&s->scratch, from, length));
    }
    uint32_t index = add_class(s, klass);
    if (op->klass == OVL_NONE) {
        *known = index + 1;
    }
    return index;
}

/* While factors are divided out the class of a kernel is its index. */
static void set_classes(isolation *s, const regex_t *regex, const ovl_items *rules)
{
    s->class_of = OVL_NEW_ARRAY(&s->scratch, uint32_t, s->rec->names.count);
    for (uint32_t r = 0; r < s->rec->n_ranks; r++) {
        ovl_rec_rank *rank = &s->rec->ranks[r];
        for (uint32_t i = 0; i < rank->n_ops; i++) {
            if (rank->ops[i].kind == OVL_KERNEL) {
                rank->ops[i].klass = class_of(s, regex, rules, &rank->ops[i]);
            }
        }
    }
}

static void name_classes(isolation *s)
{
    for (uint32_t r = 0; r < s->rec->n_ranks; r++) {
        ovl_rec_rank *rank = &s->rec->ranks[r];
        for (uint32_t i = 0; i < rank->n_ops; i++) {
            ovl_rec_op *op = &rank->ops[i];
            if (op->kind == OVL_KERNEL) {
                op->klass = has_factor(s, op->klass) ? s->classes.data[op->klass] : OVL_NONE;
            }
        }
    }
}

/* --- Who was beside whom --- */

/* The k-th collective of a group is one on all its ranks. */
static void number_instances(isolation *s)
{
    uint32_t n = 0;
    s->first_instance = OVL_NEW_ARRAY(&s->scratch, uint32_t, s->rec->n_groups);
    for (uint32_t g = 0; g < s->rec->n_groups; g++) {
        const ovl_rec_rank *rank = &s->rec->ranks[s->rec->groups[g].ranks[0]];
        s->first_instance[g] = n;
        for (uint32_t i = 0; i < rank->n_ops; i++) {
            n += rank->ops[i].kind == OVL_COLLECTIVE && rank->ops[i].group == g;
        }
    }
    s->lost = OVL_NEW_ARRAY(&s->scratch, double, n);
}

/* An operation begins or ends to run: kernels as long as they took, collectives in transfer. */
typedef struct event {
    ovl_time at;
    bool begins;
    uint32_t op, instance;
} event;

static int by_time(const void *a, const void *b)
{
    const event *x = a, *y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    if (x->begins != y->begins) {
        return x->begins ? 1 : -1;
    }
    return (x->op > y->op) - (x->op < y->op);
}

typedef OVL_VEC(event) events;

static events events_of(const isolation *s, const ovl_rec_rank *rank, ovl_arena *scratch)
{
    events list = {0};
    uint32_t *seen = OVL_NEW_ARRAY(scratch, uint32_t, s->rec->n_groups);
    for (uint32_t i = 0; i < rank->n_ops; i++) {
        const ovl_rec_op *op = &rank->ops[i];
        bool comm = op->kind == OVL_COLLECTIVE;
        uint32_t instance = comm ? s->first_instance[op->group] + seen[op->group]++ : 0;
        ovl_time length = op->length - op->latency;
        if ((comm || op->kind == OVL_KERNEL) && op->end != OVL_NEVER && length > 0) {
            ovl_vec_push(&list, (event){op->end - length, true, i, instance});
            ovl_vec_push(&list, (event){op->end, false, i, instance});
        }
    }
    if (list.len) {
        qsort(list.data, list.len, sizeof *list.data, by_time);
    }
    return list;
}

/* What runs on a rank at a moment. */
typedef struct scene {
    ovl_rec_rank *rank;
    double *lost;  /* [n_ops] of each kernel, ps */
    bool *without; /* [n_ops] kernels beside a collective with which they have no factor */
    OVL_VEC(event) kernels, transfers;
} scene;

static void pass_kernels(isolation *s, scene *now, ovl_time length)
{
    for (uint32_t k = 0; k < now->kernels.len; k++) {
        uint32_t index = now->kernels.data[k].op;
        double factor = 1;
        for (uint32_t c = 0; c < now->transfers.len; c++) {
            const ovl_pair *pair =
                pair_of(s, now->rank->ops[index].klass, &now->rank->ops[now->transfers.data[c].op]);
            factor *= pair->kernel_factor > 0 ? pair->kernel_factor : 1;
            now->without[index] |= !(pair->kernel_factor > 0);
        }
        now->lost[index] += factor > 1 ? (double)length * (1 - 1 / factor) : 0;
    }
}

static void pass_transfers(isolation *s, const scene *now, ovl_time from, ovl_time to)
{
    for (uint32_t c = 0; c < now->transfers.len; c++) {
        const event *e = &now->transfers.data[c];
        const ovl_rec_op *coll = &now->rank->ops[e->op];
        double factor = 1;
        for (uint32_t k = 0; k < now->kernels.len; k++) {
            const ovl_pair *pair = pair_of(s, now->rank->ops[now->kernels.data[k].op].klass, coll);
            factor *= pair->collective_factor > 0 ? pair->collective_factor : 1;
        }
        if (factor > 1) {
            const slowed piece = {e->instance, factor, coll->end - from, coll->end - to};
            ovl_vec_push(&s->slowed, piece);
        }
    }
}

static void change_scene(scene *now, const event *e)
{
    bool kernel = now->rank->ops[e->op].kind == OVL_KERNEL;
    event *data = kernel ? now->kernels.data : now->transfers.data;
    uint32_t n = kernel ? now->kernels.len : now->transfers.len, i = 0;
    if (e->begins && kernel) {
        ovl_vec_push(&now->kernels, *e);
    } else if (e->begins) {
        ovl_vec_push(&now->transfers, *e);
    } else {
        while (data[i].op != e->op) {
            i++;
        }
        data[i] = data[n - 1];
        now->kernels.len -= kernel;
        now->transfers.len -= !kernel;
    }
}

static ovl_time shorter(const ovl_rec_op *op, double lost)
{
    ovl_time less = op->length - (ovl_time)llround(lost);
    return OVL_MAX(less, op->latency);
}

static void isolate_kernels(isolation *s, scene *now)
{
    for (uint32_t i = 0; i < now->rank->n_ops; i++) {
        ovl_rec_op *op = &now->rank->ops[i];
        s->n_without += now->without[i];
        if (now->lost[i] > 0) {
            op->length = shorter(op, now->lost[i]);
            s->kernels_lost += now->lost[i];
            s->n_kernels++;
        }
    }
}

/* The kernels of a rank, and what they did to its collectives. */
static void walk(isolation *s, ovl_rec_rank *rank)
{
    ovl_arena scratch = {0};
    events list = events_of(s, rank, &scratch);
    scene now = {.rank = rank,
                 .lost = OVL_NEW_ARRAY(&scratch, double, rank->n_ops),
                 .without = OVL_NEW_ARRAY(&scratch, bool, rank->n_ops)};
    for (uint32_t i = 0; i < list.len; i++) {
        ovl_time before = i ? list.data[i - 1].at : list.data[i].at, at = list.data[i].at;
        if (at > before && now.transfers.len && now.kernels.len) {
            pass_kernels(s, &now, at - before);
            pass_transfers(s, &now, before, at);
        }
        change_scene(&now, &list.data[i]);
    }
    isolate_kernels(s, &now);
    ovl_vec_free(&list);
    ovl_vec_free(&now.kernels);
    ovl_vec_free(&now.transfers);
    ovl_arena_free(&scratch);
}

/* --- Collectives: the worst member counts --- */

static int by_instance_and_factor(const void *a, const void *b)
{
    const slowed *x = a, *y = b;
    if (x->instance != y->instance) {
        return x->instance < y->instance ? -1 : 1;
    }
    if (x->factor > y->factor || x->factor < y->factor) {
        return x->factor > y->factor ? -1 : 1;
    }
    return (x->from < y->from) - (x->from > y->from);
}

/* From the largest factor down: a piece counts where no larger one was. */
static void weigh_instance(isolation *s, const slowed *piece, uint32_t n)
{
    ovl_spans covered = {0};
    int64_t before = 0;
    for (uint32_t i = 0, next; i < n; i = next) {
        for (next = i; next < n && !(piece[next].factor < piece[i].factor); next++) {
            ovl_spans_add(&covered, -piece[next].from, -piece[next].to);
        }
        int64_t length = ovl_spans_measure(&covered);
        s->lost[piece->instance] += (double)(length - before) * (1 - 1 / piece[i].factor);
        before = length;
    }
    ovl_spans_free(&covered);
}

static void weigh_transfers(isolation *s)
{
    if (s->slowed.len) {
        qsort(s->slowed.data, s->slowed.len, sizeof *s->slowed.data, by_instance_and_factor);
    }
    for (uint32_t i = 0, next; i < s->slowed.len; i = next) {
        uint32_t instance = s->slowed.data[i].instance;
        for (next = i; next < s->slowed.len && s->slowed.data[next].instance == instance; next++) {
        }
        weigh_instance(s, &s->slowed.data[i], next - i);
        s->transfers_lost += s->lost[instance];
        s->n_transfers++;
    }
}

static void isolate_transfers(isolation *s)
{
    for (uint32_t r = 0; r < s->rec->n_ranks; r++) {
        ovl_rec_rank *rank = &s->rec->ranks[r];
        uint32_t *seen = OVL_NEW_ARRAY(&s->scratch, uint32_t, s->rec->n_groups);
        for (uint32_t i = 0; i < rank->n_ops; i++) {
            ovl_rec_op *op = &rank->ops[i];
            if (op->kind == OVL_COLLECTIVE) {
                double lost = s->lost[s->first_instance[op->group] + seen[op->group]++];
                op->length = lost > 0 ? shorter(op, lost) : op->length;
            }
        }
    }
}

/* --- The whole --- */

static void say(isolation *s)
{
    char kernels[OVL_UNITS_TEXT], transfers[OVL_UNITS_TEXT];
    ovl_print_time(kernels, (ovl_time)llround(s->kernels_lost) / OVL_NS * OVL_NS);
    ovl_print_time(transfers, (ovl_time)llround(s->transfers_lost) / OVL_NS * OVL_NS);
    ovl_record_say(
        s->rec, s->arena,
        ovl_arena_printf(s->arena,
                         "Measured interference was divided out of what was recorded: %s "
                         "of %s and %s of %s. The run puts it on again where they overlap.",
                         kernels, ovl_counted(s->arena, s->n_kernels, "kernel"), transfers,
                         ovl_counted(s->arena, s->n_transfers, "collective")));
    if (s->n_without) {
        ovl_record_say(s->rec, s->arena,
                       ovl_arena_printf(s->arena,
                                        "%s ran beside a collective with which the profile has "
                                        "no factor for it: what that cost stays in the duration.",
                                        ovl_counted(s->arena, s->n_without, "kernel")));
    }
}

static void isolate(isolation *s, const regex_t *regex, const ovl_items *rules)
{
    set_classes(s, regex, rules);
    number_instances(s);
    for (uint32_t r = 0; r < s->rec->n_ranks; r++) {
        walk(s, &s->rec->ranks[r]);
    }
    weigh_transfers(s);
    isolate_transfers(s);
    name_classes(s);
    say(s);
}

bool ovl_record_isolate(ovl_recorded *recorded, const ovl_hw *hw, const ovl_items *classes,
                        ovl_mark mark, ovl_arena *arena, ovl_errs *errs)
{
    isolation s = {.rec = recorded, .hw = hw, .arena = arena, .errs = errs};
    if (hw->n_pairs == 0) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "a trace is replayed with interference measured only if the hardware has factors "
                  "of `interference`, to be divided out of what was recorded (ovl calibrate "
                  "--compute A --comm B --overlap C measures them)");
        return false;
    }
    regex_t *regex = OVL_NEW_ARRAY(&s.scratch, regex_t, classes->count);
    for (uint32_t i = 0; i < classes->count; i++) {
        ovl_pattern_again(&regex[i], OVL_ITEM(*classes, ovl_record_class, i)->name, false);
    }
    isolate(&s, regex, classes);
    for (uint32_t i = 0; i < classes->count; i++) {
        regfree(&regex[i]);
    }
    ovl_vec_free(&s.classes);
    ovl_vec_free(&s.pairs);
    ovl_vec_free(&s.slowed);
    ovl_arena_free(&s.scratch);
    return true;
}
