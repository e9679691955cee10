#include "models/fit_parts.h"
#include "models/statistics.h"
#include "sim/units.h"
#include "tools/comm_names.h"
#include "tools/interfere_parts.h"

#include <math.h>
#include <string.h>

#define DRIFT 0.02 /* of the clock, from which on it is told */

#define NOTE(...) ovl_vec_push(&in->notes, ovl_arena_printf(&in->arena, __VA_ARGS__))

static int64_t length(const ovl_trial_op *op)
{
    return op->end - op->start;
}

static const char *text_of(const ovl_interfere *in, ovl_id id)
{
    return id == OVL_NONE ? "" : ovl_names_text(&in->names, id);
}

/* --- Classes and their samples --- */

typedef struct work {
    ovl_interfere *in;
    ovl_arena scratch;
    const ovl_trial_op *base; /* of the overlapped run */
    uint32_t n;
    const ovl_trial_op **partner; /* of each of its operations, alone */
    uint32_t *klass;              /* index among those of its kind */
    double **beside;              /* [n] ns beside each class of the other kind */
} work;

static uint32_t partners_of(const ovl_interfere *in, bool comm)
{
    return comm ? in->n_kernels : in->n_comms;
}

static void find_classes(work *w)
{
    ovl_interfere *in = w->in;
    uint32_t *index = OVL_NEW_ARRAY(&w->scratch, uint32_t, 2 * (size_t)in->names.count);
    OVL_VEC(ovl_interfere_class) found[2] = {{0}, {0}};
    w->klass = OVL_NEW_ARRAY(&w->scratch, uint32_t, w->n);
    for (uint32_t i = 0; i < w->n; i++) {
        const ovl_trial_op *op = &w->base[i];
        uint32_t *slot = &index[2 * (size_t)op->klass + op->comm]; /* + 1; 0 is none */
        if (*slot == 0) {
            ovl_interfere_class fresh = {.name = text_of(in, op->klass), .comm = op->comm};
            ovl_vec_push(&found[op->comm], fresh);
            *slot = found[op->comm].len;
        }
        w->klass[i] = *slot - 1;
    }
    in->n_kernels = found[0].len;
    in->n_comms = found[1].len;
    in->kernels = ovl_vec_freeze(&found[0], &in->arena);
    in->comms = ovl_vec_freeze(&found[1], &in->arena);
    w->beside = OVL_NEW_ARRAY(&w->scratch, double *, w->n);
    for (uint32_t i = 0; i < w->n; i++) {
        w->beside[i] = OVL_NEW_ARRAY(&w->scratch, double, partners_of(in, w->base[i].comm));
    }
}

/* The part of a collective in which it slows others: without its latency. */
static int64_t transfer_from(const work *w, const ovl_trial_op *op)
{
    return OVL_MIN(op->start + (int64_t)w->in->wishes->alpha, op->end);
}

static void meet(work *w, uint32_t kernel, uint32_t comm)
{
    const ovl_trial_op *k = &w->base[kernel], *c = &w->base[comm];
    int64_t from = OVL_MAX(k->start, transfer_from(w, c)), to = OVL_MIN(k->end, c->end);
    if (from < to) {
        w->beside[kernel][w->klass[comm]] += (double)(to - from);
        w->beside[comm][w->klass[kernel]] += (double)(to - from);
    }
}

static void meet_all(work *w)
{
    OVL_VEC(uint32_t) open = {0}; /* that have not ended before the current one starts */
    for (uint32_t i = 0; i < w->n; i++) {
        const ovl_trial_op *op = &w->base[i];
        uint32_t kept = 0;
        for (uint32_t k = 0; k < open.len; k++) {
            const ovl_trial_op *other = &w->base[open.data[k]];
            if (other->device != op->device || other->end <= op->start) {
                continue;
            }
            if (other->comm != op->comm) {
                meet(w, op->comm ? open.data[k] : i, op->comm ? i : open.data[k]);
            }
            open.data[kept++] = open.data[k];
        }
        open.len = kept;
        ovl_vec_push(&open, i);
    }
    ovl_vec_free(&open);
}

/* Beside several at once the times add up to more than there is: they are scaled down, and told. */
static double beside_of(work *w, uint32_t op, double took)
{
    double *beside = w->beside[op], sum = 0;
    uint32_t n = partners_of(w->in, w->base[op].comm);
    for (uint32_t c = 0; c < n; c++) {
        sum += beside[c];
    }
    if (sum <= took || sum == 0) {
        return sum;
    }
    w->in->both_ways += (int64_t)(sum - took);
    for (uint32_t c = 0; c < n; c++) {
        beside[c] *= took / sum;
    }
    return took;
}

static ovl_spread3 spread_of(int64_t *values, uint32_t n)
{
    if (n == 0) {
        return (ovl_spread3){0, 0, 0};
    }
    ovl_time median = ovl_median(values, n); /* puts them in order */
    return (ovl_spread3){ovl_quantile(values, n, 1, 10), median, ovl_quantile(values, n, 9, 10)};
}

/* What the wire carries a second while a collective runs alone. */
static double wire_of(const ovl_interfere *in, const ovl_trial_op *alone, double ns)
{
    if (in->wishes->wire > 0) {
        return in->wishes->wire;
    }
    double factor = ovl_bus_factor(text_of(in, alone->op), alone->group_size);
    return alone->bytes > 0 && ns > 0 ? (double)alone->bytes * factor * 1e9 / ns : 0;
}

/* What a class has of one operation. */
static ovl_rate_sample sample_of(work *w, ovl_interfere_class *c, uint32_t op)
{
    const ovl_trial_op *partner = w->partner[op];
    double alpha = c->comm ? w->in->wishes->alpha : 0;
    ovl_rate_sample s = {
        .alone = fmax((double)length(partner) - alpha, 0),
        .took = fmax((double)length(&w->base[op]) - alpha, 0),
        .beside = w->beside[op],
    };
    c->took_sum += length(&w->base[op]);
    c->beside_sum += (int64_t)beside_of(w, op, s.took);
    c->hbm += partner->hbm;
    c->sms += partner->sms;
    c->wire += c->comm ? wire_of(w->in, partner, s.alone) : 0;
    return s;
}

static bool was_beside(const work *w, uint32_t op)
{
    double sum = 0;
    for (uint32_t c = 0; c < partners_of(w->in, w->base[op].comm); c++) {
        sum += w->beside[op][c];
    }
    return sum > 0;
}

/* `ops` are the operations of the class. */
static void fit_class(work *w, ovl_interfere_class *c, const uint32_t *ops, uint64_t seed)
{
    ovl_arena scratch = {0};
    ovl_rate_sample *samples = OVL_NEW_ARRAY(&scratch, ovl_rate_sample, c->n);
    int64_t *alone = OVL_NEW_ARRAY(&scratch, int64_t, c->n);
    int64_t *took = OVL_NEW_ARRAY(&scratch, int64_t, c->n);
    for (uint32_t i = 0; i < c->n; i++) {
        samples[i] = sample_of(w, c, ops[i]);
        alone[i] = length(w->partner[ops[i]]);
        if (was_beside(w, ops[i])) {
            took[c->n_beside++] = length(&w->base[ops[i]]);
        }
    }
    c->alone = spread_of(alone, c->n);
    c->took = spread_of(took, c->n_beside);
    c->hbm /= c->n;
    c->sms /= c->n;
    c->wire /= c->n;
    c->fit = ovl_fit_rates(samples, c->n, partners_of(w->in, c->comm), seed, &w->in->arena);
    ovl_arena_free(&scratch);
}

/* Each class with its operations, which a counting sort puts side by side. */
static void fit_classes(work *w, bool comm)
{
    ovl_interfere_class *classes = comm ? w->in->comms : w->in->kernels;
    uint32_t n = comm ? w->in->n_comms : w->in->n_kernels;
    uint32_t *first = OVL_NEW_ARRAY(&w->scratch, uint32_t, (size_t)n + 1);
    uint32_t *ops = OVL_NEW_ARRAY(&w->scratch, uint32_t, w->n);
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->base[i].comm == comm) {
            classes[w->klass[i]].n++;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        first[k + 1] = first[k] + classes[k].n;
        classes[k].n = 0;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->base[i].comm == comm) {
            ops[first[w->klass[i]] + classes[w->klass[i]].n++] = i;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        fit_class(w, &classes[k], &ops[first[k]], k + 1);
    }
}

/* Kernels outside the overlap run as they did alone, unless the clock changed. */
static void find_drift(work *w, ovl_errs *errs)
{
    ovl_interfere *in = w->in;
    double *ratio = OVL_NEW_ARRAY(&w->scratch, double, w->n);
    for (uint32_t i = 0; i < w->n; i++) {
        const ovl_trial_op *op = &w->base[i];
        if (!op->comm && !was_beside(w, i) && length(w->partner[i]) > 0) {
            ratio[in->n_outside++] = (double)length(op) / (double)length(w->partner[i]);
        }
    }
    if (in->n_outside == 0) {
        NOTE("no kernel ran outside the overlap: a change of the GPU's clock between the runs "
             "cannot be seen");
        return;
    }
    in->drift = ovl_fit_quantile(ratio, in->n_outside, 0.5);
    if (fabs(in->drift - 1) > DRIFT) {
        ovl_warning(errs, (ovl_mark){in->runs[OVL_ROLE_OVERLAP].path, 0, 0},
                    "kernels outside the overlap take %.3g times as long as in %s (median of "
                    "%" PRIu32 "): the GPU's clock differed, and the factors hold that too",
                    in->drift, in->runs[OVL_ROLE_COMPUTE].path, in->n_outside);
    }
}

/* --- The three runs as sums --- */

static int64_t busy_of(const ovl_trial *run, int64_t key, bool comm)
{
    ovl_spans spans = {0};
    for (uint32_t d = 0; d < run->devices.len; d++) {
        if (run->devices.data[d].key == key) {
            ovl_interfere_spans(run, d, comm, &spans);
        }
    }
    int64_t busy = ovl_spans_measure(&spans);
    ovl_spans_free(&spans);
    return busy;
}

static void reconcile(ovl_interfere *in, uint32_t device)
{
    const ovl_trial *run = &in->runs[OVL_ROLE_OVERLAP];
    ovl_spans compute = {0}, comm = {0};
    int64_t from = INT64_MAX, to = INT64_MIN;
    const ovl_trial_device *which = &run->devices.data[device];
    ovl_reconciled r = {.device = which->id, .rank = run->files.data[which->file].rank};
    ovl_interfere_spans(run, device, false, &compute);
    ovl_interfere_spans(run, device, true, &comm);
    for (uint32_t i = 0; i < run->ops.len; i++) {
        if (run->ops.data[i].device == device) {
            from = OVL_MIN(from, run->ops.data[i].start);
            to = OVL_MAX(to, run->ops.data[i].end);
        }
    }
    r.compute_alone = busy_of(&in->runs[OVL_ROLE_COMPUTE], which->key, false);
    r.comm_alone = busy_of(&in->runs[OVL_ROLE_COMM], which->key, true);
    r.compute = ovl_spans_measure(&compute);
    r.comm = ovl_spans_measure(&comm);
    r.hidden = ovl_spans_common(&compute, &comm);
    r.tail = r.comm - r.hidden;
    r.segment = to - from;
    r.idle = r.segment - r.compute - r.tail;
    ovl_spans_free(&compute);
    ovl_spans_free(&comm);
    ovl_vec_push(&in->devices, r);
}

/* --- What a collective takes --- */

ovl_fit_value ovl_interfere_of(const ovl_interfere_class *klass, uint32_t partner)
{
    bool common = !klass->fit.separable && klass->fit.beside[partner] > 0;
    return common ? klass->fit.common : klass->fit.factor[partner];
}

double ovl_interfere_factor(ovl_fit_value value)
{
    return value.value > 1 ? value.value : 1;
}

static double known(double wish, double a, double b)
{
    return wish > 0 ? wish : a > 0 ? a : b;
}

static void fit_shared(work *w)
{
    ovl_interfere *in = w->in;
    uint32_t n = 0;
    ovl_shared_pair *pairs =
        OVL_NEW_ARRAY(&w->scratch, ovl_shared_pair, (size_t)in->n_kernels * in->n_comms);
    const ovl_trial *compute = &in->runs[OVL_ROLE_COMPUTE], *overlap = &in->runs[OVL_ROLE_OVERLAP];
    double hbm = known(in->wishes->hbm, compute->hbm, overlap->hbm);
    double sms = known(in->wishes->sms, compute->sms, overlap->sms);
    for (uint32_t k = 0; k < in->n_kernels; k++) {
        for (uint32_t c = 0; c < in->n_comms; c++) {
            const ovl_interfere_class *kernel = &in->kernels[k], *comm = &in->comms[c];
            if (kernel->n_beside == 0 || comm->n_beside == 0) {
                continue;
            }
            /* One class of kernels without wants of its own may have what the profiler sampled. */
            double share = compute->sampled.n_hbm
                               ? compute->sampled.hbm / (double)compute->sampled.n_hbm / 100
                               : 0;
            bool sampled = in->n_kernels == 1 && share > 0;
            pairs[n++] = (ovl_shared_pair){
                .kernel_factor = ovl_interfere_of(kernel, c).value,
                .collective_factor = ovl_interfere_of(comm, k).value,
                .hbm = kernel->hbm > 0 ? kernel->hbm
                       : sampled       ? share * hbm
                                       : 0,
                .sms = kernel->sms,
                .wire = comm->wire,
            };
        }
    }
    in->shared = ovl_fit_shared(pairs, n, hbm, sms);
}

/* --- The whole --- */

static void notes(ovl_interfere *in)
{
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t n = k ? in->n_comms : in->n_kernels;
        for (uint32_t i = 0; i < n; i++) {
            const ovl_interfere_class *c = k ? &in->comms[i] : &in->kernels[i];
            if (c->n_beside == 0) {
                NOTE("%s never ran beside %s: it has no factor", c->name,
                     k ? "a kernel" : "communication");
            } else if (!c->fit.separable) {
                NOTE("what %s was beside always came together: one factor for all of it", c->name);
            } else if (c->n_beside == 1) {
                NOTE("%s ran beside %s once: no interval can be told", c->name,
                     k ? "kernels" : "communication");
            }
        }
    }
    if (in->both_ways > 0) {
        char buf[OVL_UNITS_TEXT];
        NOTE("for %s an operation was beside several of the other kind at once; that time was "
             "divided among them",
             ovl_print_time(buf, OVL_MIN(in->both_ways, OVL_TIME_MAX / OVL_NS) * OVL_NS));
    }
    if (in->wishes->alpha <= 0) {
        NOTE("latency is not told apart: the factors are of whole collectives (--alpha)");
    }
}

static void fit_all(work *w, ovl_errs *errs)
{
    ovl_interfere *in = w->in;
    find_classes(w);
    meet_all(w);
    find_drift(w, errs);
    fit_classes(w, false);
    fit_classes(w, true);
    for (uint32_t d = 0; d < in->runs[OVL_ROLE_OVERLAP].devices.len; d++) {
        reconcile(in, d);
    }
    fit_shared(w);
    notes(in);
}

/* Latency is a part of each collective. */
static bool alpha_fits(const ovl_interfere *in, ovl_errs *errs)
{
    for (int role = 0; role < OVL_ROLES; role++) {
        const ovl_trial *run = &in->runs[role];
        for (uint32_t i = 0; i < run->ops.len; i++) {
            const ovl_trial_op *op = &run->ops.data[i];
            char alpha[OVL_UNITS_TEXT], took[OVL_UNITS_TEXT];
            if (op->comm && (double)length(op) < in->wishes->alpha) {
                ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                          "--alpha is %s, but a collective of %s took only %s",
                          ovl_print_time(alpha, (ovl_time)(in->wishes->alpha * (double)OVL_NS)),
                          run->path, ovl_print_time(took, length(op) * OVL_NS));
                return false;
            }
        }
    }
    return true;
}

static bool overlaps(const ovl_interfere *in, ovl_errs *errs)
{
    for (uint32_t i = 0; i < in->n_kernels; i++) {
        if (in->kernels[i].n_beside) {
            return true;
        }
    }
    ovl_error(errs, OVL_E_INPUT, (ovl_mark){in->runs[OVL_ROLE_OVERLAP].path, 0, 0},
              "is no overlapped run: no kernel ran beside communication");
    return false;
}

bool ovl_interfere_run(ovl_interfere *in, ovl_comm_pattern *pattern,
                       const ovl_interfere_wishes *wishes, ovl_errs *errs)
{
    *in = (ovl_interfere){.wishes = wishes};
    in->names.arena = &in->arena;
    bool good = true;
    for (int role = 0; role < OVL_ROLES; role++) {
        good &= ovl_interfere_read(in, (ovl_role)role, pattern, errs);
    }
    if (!good) {
        return false;
    }
    if (!alpha_fits(in, errs)) {
        return false;
    }
    ovl_trial *overlap = &in->runs[OVL_ROLE_OVERLAP];
    work w = {.in = in, .base = overlap->ops.data, .n = overlap->ops.len};
    w.partner = OVL_NEW_ARRAY(&w.scratch, const ovl_trial_op *, w.n);
    good = ovl_interfere_match(in, OVL_ROLE_COMPUTE, false, w.partner, errs);
    good &= ovl_interfere_match(in, OVL_ROLE_COMM, true, w.partner, errs);
    good = good && ovl_interfere_is_alone(&in->runs[OVL_ROLE_COMPUTE], errs);
    good = good && ovl_interfere_is_alone(&in->runs[OVL_ROLE_COMM], errs);
    if (good) {
        fit_all(&w, errs);
        good = overlaps(in, errs);
    }
    ovl_arena_free(&w.scratch);
    return good;
}

void ovl_interfere_free(ovl_interfere *in)
{
    for (int role = 0; role < OVL_ROLES; role++) {
        ovl_vec_free(&in->runs[role].files);
        ovl_vec_free(&in->runs[role].devices);
        ovl_vec_free(&in->runs[role].ops);
    }
    ovl_vec_free(&in->devices);
    ovl_vec_free(&in->notes);
    ovl_arena_free(&in->arena);
}
