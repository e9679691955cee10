/* What the points of a sweep do, and by what they are compared if that differs.
 *
 * With as many tokens (or where they are not known, microbatches) and as many FLOPs of the model a
 * step is a step. With others: what a microbatch takes, if those have as many tokens everywhere;
 * else what a million tokens take. With as many tokens but other FLOPs the points are other models:
 * what 10^15 FLOPs take. FLOPs are those that the model needs, without what is computed again. A
 * longer sequence takes more of them for a token, too, but is no other model: fewer sequences of as
 * many tokens in all are compared by the step.
 *
 * Example: sequences of 2048 and 4096 in 16 of them each: 32,768 tokens in 54 ms and 65,536 in 108
 * ms are 1.65 s a million, both. */
#include "tools/sweep.h"

#include <string.h>

#define NEARLY 1.001 /* sums of FLOPs over ranks are not exact */

/* Least and most of what the sound points do in a unit; false if it is not known of all. */
typedef struct span {
    double least, most;
    bool all;
} span;

static void widen(span *s, double work)
{
    s->least = s->most > 0 ? OVL_MIN(s->least, work) : work;
    s->most = OVL_MAX(s->most, work);
    s->all = s->all && work > 0;
}

static bool differs(span s)
{
    return s.all && s.most > s.least * NEARLY;
}

static double over(double a, double b)
{
    return a > 0 && b > 0 ? a / b : 0;
}

#define OF_MODEL "workload.model."

/* What changes have to do with the model; a parameter may be any of its keys. */
typedef struct touched {
    bool sequence, more; /* more: than its sequence, and how many of them a microbatch has */
} touched;

static void touch(touched *t, const char *path)
{
    bool sequence = strcmp(path, OF_MODEL "sequence") == 0;
    bool within = strncmp(path, OF_MODEL, strlen(OF_MODEL)) == 0 ||
                  strncmp(path, "params.", strlen("params.")) == 0 ||
                  strcmp(path, "workload.model") == 0 || strcmp(path, "workload") == 0;
    t->sequence |= sequence;
    t->more |= within && !sequence && strcmp(path, OF_MODEL "microbatch") != 0;
}

static void touch_by_variant(touched *t, const ovl_document *doc, const ovl_node *name)
{
    const ovl_node *changes =
        name ? ovl_node_get(ovl_node_get(doc->root, "variants"), name->text) : NULL;
    for (uint32_t i = 0; changes && changes->kind == OVL_NODE_MAP && i < changes->count; i++) {
        touch(t, changes->pairs[i].key);
    }
}

static touched touched_by(const ovl_sweep *s, const ovl_sweep_axis *axis)
{
    touched t = {0};
    for (uint32_t k = 0; k < axis->n_keys; k++) {
        const char *path = s->axes.keys[axis->first_key + k].path;
        bool variant = strcmp(path, "variant") == 0;
        for (uint32_t row = 0; variant && row < axis->n_rows; row++) {
            touch_by_variant(&t, s->doc, axis->values[row * axis->n_keys + k]);
        }
        touch(&t, path);
    }
    return t;
}

/* The axis that alone changes the sequence of the model, and nothing more of it, be it by variants;
 * OVL_NONE: there is none. */
static uint32_t sequence_axis(const ovl_sweep *s)
{
    uint32_t found = OVL_NONE;
    for (uint32_t a = 0; a < s->axes.n_axes; a++) {
        touched t = touched_by(s, &s->axes.axes[a]);
        found = t.sequence && !t.more ? a : found;
    }
    return found;
}

/* Whether a token takes as many FLOPs at all sound points of one sequence: the model is the same.
 */
static bool same_model(const ovl_sweep *s)
{
    uint32_t axis = sequence_axis(s), rows[OVL_KEYS_MAX];
    ovl_arena arena = {0};
    if (axis == OVL_NONE) {
        return false;
    }
    span *per_token = OVL_NEW_ARRAY(&arena, span, s->axes.axes[axis].n_rows);
    bool same = true;
    for (uint32_t i = 0; i < ovl_sweep_reach(s) && same; i++) {
        if (ovl_point_sound(&s->points[i])) {
            const ovl_figures *f = &s->points[i].figures;
            ovl_axes_rows(&s->axes, i, rows);
            span *of = &per_token[rows[axis]];
            of->all = true;
            widen(of, over(ovl_work_of(f, OVL_PER_FLOPS), ovl_work_of(f, OVL_PER_TOKENS)));
            same = !differs(*of);
        }
    }
    ovl_arena_free(&arena);
    return same;
}

void ovl_sweep_find_work(ovl_sweep *s)
{
    span of[OVL_PER_COUNT], per_microbatch = {.all = true}, per_token = {.all = true};
    for (int per = 0; per < OVL_PER_COUNT; per++) {
        of[per] = (span){.all = true};
    }
    for (uint32_t i = 0; i < ovl_sweep_reach(s); i++) {
        if (ovl_point_sound(&s->points[i])) {
            double work[OVL_PER_COUNT];
            for (int per = 0; per < OVL_PER_COUNT; per++) {
                work[per] = ovl_work_of(&s->points[i].figures, (ovl_per)per);
                widen(&of[per], work[per]);
            }
            widen(&per_microbatch, over(work[OVL_PER_TOKENS], work[OVL_PER_MICROBATCH]));
            widen(&per_token, over(work[OVL_PER_FLOPS] * 1e9, work[OVL_PER_TOKENS]));
        }
    }
    bool tokens =
        of[OVL_PER_TOKENS].all ? differs(of[OVL_PER_TOKENS]) : differs(of[OVL_PER_MICROBATCH]);
    bool whole = !of[OVL_PER_TOKENS].all || (per_microbatch.all && !differs(per_microbatch));
    bool models = !tokens && differs(of[OVL_PER_FLOPS]) && !same_model(s);
    s->unit = tokens   ? (whole ? OVL_PER_MICROBATCH : OVL_PER_TOKENS)
              : models ? OVL_PER_FLOPS
                       : OVL_PER_COUNT;
    s->least_work = s->unit < OVL_PER_COUNT ? of[s->unit].least : 0;
    s->most_work = s->unit < OVL_PER_COUNT ? of[s->unit].most : 0;
    s->least_flops = per_token.all ? per_token.least : 0;
    s->most_flops = per_token.all ? per_token.most : 0;
    if (!s->objective_given) {
        s->objective = s->unit < OVL_PER_COUNT ? ovl_metric_per(s->unit) : OVL_M_STEP;
    }
}
