/* How far the answer depends on what is not known well: how long compute takes, and when the last
 * gradient is ready. */
#include "tools/optimize.h"

#include "models/node_text.h"
#include "tools/pool.h"
#include "tools/progress.h"

#include <math.h>
#include <string.h>

#define LOOKS  OVL_RANGE_LOOKS
#define HALVES OVL_RANGE_HALVES /* of the last interval: to a four-thousandth of it */
#define REACH  2.0              /* compute times from half to twice as long */

/* --- A scenario with other times --- */

typedef struct changes {
    ovl_arena *arena;
    ovl_set *sets;
    uint32_t n, cap;
} changes;

static void set_time(changes *c, const char *path, double time)
{
    if (c->n < c->cap) {
        c->sets[c->n++].text = ovl_arena_printf(c->arena, "%s=%.0f ps", path, OVL_MAX(0, time));
    }
}

static void set_times(changes *c, const char *path, const ovl_times *times, double factor)
{
    const char *text = "";
    if (times->count == 0 || c->n == c->cap) {
        return;
    }
    for (uint32_t i = 0; i < times->count; i++) {
        text = ovl_arena_printf(c->arena, "%s%s%.0f ps", text, i ? ", " : "",
                                (double)times->item[i] * factor);
    }
    c->sets[c->n++].text = times->count == 1 ? ovl_arena_printf(c->arena, "%s=%s", path, text)
                                             : ovl_arena_printf(c->arena, "%s=[%s]", path, text);
}

static void scale_gradients(changes *c, const ovl_workload *w, double factor)
{
    for (uint32_t i = 0; i < w->gradients.count; i++) {
        const ovl_gradient *g = OVL_ITEM(w->gradients, ovl_gradient, i);
        const char *path = ovl_arena_printf(c->arena, "workload.gradients[%" PRIu32 "]", i);
        set_time(c, ovl_arena_printf(c->arena, "%s.ready", path), (double)g->ready * factor);
        if (g->copy_in) {
            set_time(c, ovl_arena_printf(c->arena, "%s.copy_in", path),
                     (double)g->copy_in * factor);
        }
    }
    if (w->gradients.count) {
        set_time(c, "workload.backward", (double)w->backward * factor);
    }
}

static void scale_layers(changes *c, const ovl_workload *w, double factor)
{
    for (uint32_t i = 0; i < w->layers.count; i++) {
        const ovl_layer *l = OVL_ITEM(w->layers, ovl_layer, i);
        const char *path = ovl_arena_printf(c->arena, "workload.layers[%" PRIu32 "]", i);
        set_times(c, ovl_arena_printf(c->arena, "%s.forward", path), &l->forward, factor);
        set_times(c, ovl_arena_printf(c->arena, "%s.backward", path), &l->backward, factor);
        if (l->has_backward_weight) {
            set_time(c, ovl_arena_printf(c->arena, "%s.backward_weight", path),
                     (double)l->backward_weight * factor);
        }
    }
    for (uint32_t i = 0; i < w->stages.count; i++) {
        const ovl_stage *s = OVL_ITEM(w->stages, ovl_stage, i);
        const struct {
            const char *key;
            const ovl_times *times;
        } keys[] = {{"forward", &s->forward},
                    {"backward", &s->backward},
                    {"backward_input", &s->backward_input},
                    {"backward_weight", &s->backward_weight},
                    {"overlapped", &s->overlapped}};
        for (size_t k = 0; k < OVL_COUNT(keys); k++) {
            set_times(c,
                      ovl_arena_printf(c->arena, "workload.stages[%" PRIu32 "].%s", i, keys[k].key),
                      keys[k].times, factor);
        }
    }
}

/* The last gradients to be ready are so `shift` later. */
static void shift_last(changes *c, const ovl_workload *w, double shift)
{
    ovl_time last = 0, end = w->backward;
    for (uint32_t i = 0; i < w->gradients.count; i++) {
        last = OVL_MAX(last, OVL_ITEM(w->gradients, ovl_gradient, i)->ready);
    }
    for (uint32_t i = 0; i < w->gradients.count; i++) {
        const ovl_gradient *g = OVL_ITEM(w->gradients, ovl_gradient, i);
        if (g->ready == last) {
            double ready = (double)last + shift;
            set_time(c, ovl_arena_printf(c->arena, "workload.gradients[%" PRIu32 "].ready", i),
                     ready);
            end = OVL_MAX(end, (ovl_time)ready + g->copy_in);
        }
    }
    set_time(c, "workload.backward", (double)end);
}

/* The layer whose gradients are the last to be ready, if its backward is one duration; else NULL.
 */
static const ovl_layer *last_layer(const ovl_workload *w)
{
    for (uint32_t i = 0; i < w->layers.count; i++) {
        bool backward = w->order == OVL_ORDER_BACKWARD;
        uint32_t at = backward ? w->layers.count - 1 - i : i;
        const ovl_layer *l = OVL_ITEM(w->layers, ovl_layer, at);
        if (l->params > 0 || l->elements.count) {
            return l->backward.count == 1 ? l : NULL;
        }
    }
    return NULL;
}

/* The backward of that layer takes so much longer; of several like it that of the last. */
static void shift_layer(changes *c, const ovl_workload *w, double shift)
{
    const ovl_layer *l = last_layer(w);
    int64_t repeat = w->order == OVL_ORDER_BACKWARD ? l->repeat - 1 : 0;
    set_time(c,
             ovl_arena_printf(c->arena, "workload.layers.%s.backward",
                              ovl_layer_name(l, repeat, c->arena)),
             (double)l->backward.item[0] + shift);
}

/* --- Who is the best then --- */

typedef void (*change)(changes *c, const ovl_workload *w, double by);

typedef struct trial {
    ovl_optimize *o;
    ovl_scenario scenario; /* of the start */
    change apply, also;    /* also: NULL, or more of it */
    ovl_candidate rivals[OVL_OPT_RIVALS + 1];
    uint32_t n; /* the first is the answer */
} trial;

typedef struct contest {
    const trial *t;
    double by;
    ovl_point points[OVL_OPT_RIVALS + 1];
    ovl_arena errors[OVL_OPT_RIVALS + 1];
} contest;

static void play(void *context, uint32_t thread, uint32_t piece)
{
    contest *p = context;
    const ovl_optimize *o = p->t->o;
    ovl_arena arena = {0};
    ovl_sweep with = *o->start;
    const ovl_workload *w = &p->t->scenario.workload;
    changes c = {.arena = &arena, .n = with.n_sets};
    (void)thread;
    c.cap = with.n_sets + 8 + 3 * (w->gradients.count + w->layers.count) + 5 * w->stages.count;
    c.sets = OVL_NEW_ARRAY(&arena, ovl_set, c.cap);
    if (with.n_sets) {
        memcpy(c.sets, with.sets, with.n_sets * sizeof *with.sets);
    }
    p->t->apply(&c, w, p->by);
    if (p->t->also) {
        p->t->also(&c, w, p->by);
    }
    with.sets = c.sets;
    with.n_sets = c.n;
    ovl_optimize other = *o;
    ovl_candidate candidate = p->t->rivals[piece];
    other.start = &with;
    ovl_candidate_point(&other, &candidate, &p->errors[piece]);
    p->points[piece] = candidate.point;
    p->points[piece].error = NULL;
    ovl_arena_free(&arena);
}

/* The rival that beats the answer with this change, the best of them; 0: none does, or it was
 * interrupted. */
static uint32_t winner(const trial *t, double by)
{
    contest *p = OVL_NEW(t->o->arena, contest);
    const uint32_t m = t->o->start->objective;
    if (t->o->signal) {
        return 0;
    }
    p->t = t;
    p->by = by;
    ovl_pool pool = {.threads = t->o->threads, .n = t->n, .context = p, .work = play};
    t->o->signal = ovl_pool_run(&pool).signal;
    t->o->simulated += t->n;
    uint32_t best = 0;
    const int64_t finest = ovl_optimize_finest(t->o);
    for (uint32_t i = 0; i < t->n; i++) {
        ovl_candidate a = {.point = p->points[i]}, b = {.point = p->points[best]};
        bool good = ovl_candidate_good(t->o, &a), was_good = ovl_candidate_good(t->o, &b);
        int64_t gain = b.point.figures.value[m] - a.point.figures.value[m];
        if (good && (!was_good || gain >= (best == 0 ? finest : 1))) {
            best = i;
        }
        ovl_arena_free(&p->errors[i]);
    }
    return best;
}

static double between(bool factor, double a, double b, double part)
{
    return factor ? a * pow(b / a, part) : a + (b - a) * part;
}

/* From `from`, where it is the best, towards `to`: how far it stays so, and who beats it beyond. */
static double walk(const trial *t, bool factor, double from, double to, bool *open,
                   uint32_t *beyond)
{
    double good = from;
    *open = true;
    for (int i = 1; i <= LOOKS && !t->o->signal; i++) {
        double bad = between(factor, from, to, (double)i / LOOKS);
        uint32_t who = winner(t, bad);
        if (who == 0) {
            good = bad;
            continue;
        }
        *open = false;
        *beyond = who;
        for (int k = 0; k < HALVES && !t->o->signal; k++) {
            double middle = between(factor, good, bad, 0.5);
            who = winner(t, middle);
            *beyond = who ? who : *beyond;
            *(who ? &bad : &good) = middle;
        }
        break;
    }
    return good;
}

static const ovl_candidate *rival(const ovl_optimize *o, const ovl_candidate *c)
{
    ovl_candidate *kept = OVL_NEW(o->arena, ovl_candidate);
    *kept = *c;
    return kept;
}

static void add_range(trial *t, const char *what, bool factor, double low, double at, double high)
{
    ovl_optimize *o = t->o;
    ovl_stays *s = &o->stays[o->n_stays];
    uint32_t below = 0, above = 0;
    const uint32_t cost = t->n * (1 + 2 * (LOOKS + HALVES)), left = ovl_optimize_left(o);
    if (cost > left) {
        o->not_looked[o->n_not_looked++] = ovl_arena_printf(
            o->arena, "%s: not looked at: it may take %s simulations, and --tries leaves %s", what,
            ovl_grouped(cost, o->arena), ovl_grouped(left, o->arena));
        return;
    }
    *s = (ovl_stays){.what = what, .factor = factor, .low = at, .high = at};
    if (winner(t, at) != 0 && !o->signal) {
        o->not_looked[o->n_not_looked++] = ovl_arena_printf(
            o->arena, "%s: another is as good to the picosecond: nothing to say", what);
        return;
    }
    s->low = walk(t, factor, at, low, &s->low_open, &below);
    s->high = walk(t, factor, at, high, &s->high_open, &above);
    s->below = below ? rival(o, &t->rivals[below]) : NULL;
    s->above = above ? rival(o, &t->rivals[above]) : NULL;
    if (o->signal) {
        o->not_looked[o->n_not_looked++] = ovl_arena_printf(o->arena, "%s: interrupted", what);
    } else {
        o->n_stays++;
    }
}

static void scale_all(changes *c, const ovl_workload *w, double factor)
{
    scale_gradients(c, w, factor);
    scale_layers(c, w, factor);
}

static void range_of_shift(trial *t)
{
    const ovl_workload *w = &t->scenario.workload;
    ovl_time last = 0, first = OVL_NEVER;
    for (uint32_t i = 0; i < w->gradients.count; i++) {
        last = OVL_MAX(last, OVL_ITEM(w->gradients, ovl_gradient, i)->ready);
        first = OVL_MIN(first, OVL_ITEM(w->gradients, ovl_gradient, i)->ready);
    }
    if (w->gradients.count > 1 && last > first) {
        double reach = (double)(last - first);
        t->apply = shift_last;
        add_range(t, "the last gradient to be ready", false, -reach, 0, reach);
    }
    const ovl_layer *layer = t->scenario.pipeline.given ? NULL : last_layer(w);
    if (layer) {
        double reach = (double)layer->backward.item[0];
        t->apply = shift_layer;
        add_range(t, "the last gradient to be ready", false, -reach, 0, reach);
    }
}

void ovl_optimize_range(ovl_optimize *o)
{
    trial t = {.o = o, .apply = scale_all};
    const ovl_sweep *s = o->start;
    ovl_errs errs = {.arena = o->arena};
    if (!ovl_scenario_decode(s->doc, s->variant, s->sets, s->n_sets, &t.scenario, o->arena,
                             &errs)) {
        return;
    }
    for (uint32_t i = 0; i < o->n_best; i++) {
        t.rivals[t.n++] = o->best[i];
    }
    t.rivals[t.n++] = o->first;
    const ovl_workload *w = &t.scenario.workload;
    if (w->gradients.count || w->layers.count || w->stages.count) {
        add_range(&t, "compute times", true, 1 / REACH, 1, REACH);
    } else {
        o->not_looked[o->n_not_looked++] =
            "compute times: not looked at: the scenario gives no layers, stages or gradients";
    }
    range_of_shift(&t);
}
