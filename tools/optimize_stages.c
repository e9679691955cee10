/* How many layers each stage of a pipeline has. */
#include "tools/optimize.h"
#include "tools/progress.h"

#include <math.h>
#include <string.h>

#define KEY    "overlap.pipeline.layers_per_stage"
#define STAGES 256

typedef struct split {
    uint32_t layers, stages;
    ovl_mark mark;
} split;

static int64_t axis_size(const ovl_scenario *s, const char *name)
{
    for (uint32_t a = 0; a < s->mesh.n_axes; a++) {
        if (strcmp(s->mesh.axes[a].name, name) == 0) {
            return s->mesh.axes[a].size;
        }
    }
    return 0;
}

static bool find_split(ovl_optimize *o, const ovl_candidate *base, split *p, ovl_errs *errs)
{
    const ovl_sweep *s = o->start;
    ovl_scenario scenario;
    ovl_set *sets = OVL_NEW_ARRAY(o->arena, ovl_set, (size_t)s->n_sets + base->n_sets);
    for (uint32_t i = 0; i < s->n_sets + base->n_sets; i++) {
        sets[i] = i < s->n_sets ? s->sets[i] : base->sets[i - s->n_sets];
    }
    if (!ovl_scenario_decode(s->doc, base->variant ? base->variant : s->variant, sets,
                             s->n_sets + base->n_sets, &scenario, o->arena, errs)) {
        return false;
    }
    int64_t layers = 0;
    for (uint32_t i = 0; i < scenario.workload.layers.count; i++) {
        layers += OVL_ITEM(scenario.workload.layers, ovl_layer, i)->repeat;
    }
    int64_t stages =
        axis_size(&scenario, scenario.pipeline.group ? scenario.pipeline.group : "pp") *
        OVL_MAX(1, scenario.pipeline.virtual_stages);
    *p = (split){(uint32_t)OVL_MIN(layers, INT32_MAX),
                 (uint32_t)OVL_MIN(stages, INT32_MAX),
                 {"--stages", 0, 0}};
    if (!scenario.pipeline.given || stages < 2 || stages > STAGES || layers < stages) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
                  "--stages needs a pipeline of 2 to %d stages and a workload of at least as many "
                  "layers; there are %" PRId64 " stages and %" PRId64 " layers",
                  STAGES, stages, layers);
        return false;
    }
    return true;
}

static ovl_candidate with_counts(const ovl_candidate *base, const split *p, const uint32_t *count,
                                 ovl_arena *arena)
{
    ovl_candidate c = {.variant = base->variant};
    ovl_set *sets = OVL_NEW_ARRAY(arena, ovl_set, (size_t)base->n_sets + 1);
    ovl_node *list = OVL_NEW(arena, ovl_node);
    *list = (ovl_node){.kind = OVL_NODE_LIST, .mark = p->mark};
    for (uint32_t i = 0; i < p->stages; i++) {
        const char *text = ovl_arena_printf(arena, "%" PRIu32, count[i]);
        ovl_node_insert(list, i, ovl_node_scalar(text, p->mark, arena), arena);
    }
    for (uint32_t i = 0; i < base->n_sets; i++) {
        if (strcmp(base->sets[i].path, KEY) != 0) {
            sets[c.n_sets++] = base->sets[i];
        }
    }
    sets[c.n_sets++] = (ovl_set){.path = KEY, .mark = p->mark, .value = list};
    c.sets = sets;
    return c;
}

/* The next way to share layers among stages, each at least one; false after the last. */
static bool next_way(const split *p, uint32_t *count)
{
    uint32_t i = p->stages - 1;
    /* Give what stands last to the one before it, and begin again behind that. */
    while (i > 0 && count[i] == 1) {
        i--;
    }
    if (i == 0) {
        return false;
    }
    uint32_t rest = count[i] - 1;
    count[i] = 1;
    count[i - 1]++;
    count[p->stages - 1] = rest + (i == p->stages - 1 ? 0 : count[p->stages - 1] - 1);
    return true;
}

static double ways(const split *p)
{
    double n = 1;
    for (uint32_t i = 1; i < p->stages; i++) {
        n = n * (p->layers - i) / i;
    }
    return n;
}

/* Writes every way; gives how many. */
static uint32_t list_all(ovl_optimize *o, const split *p, const ovl_candidate *base,
                         ovl_candidate *list)
{
    uint32_t count[STAGES] = {0}, n = 0, most = (uint32_t)llround(ways(p));
    for (uint32_t i = 0; i < p->stages; i++) {
        count[i] = i + 1 < p->stages ? 1 : p->layers - p->stages + 1;
    }
    do {
        list[n++] = with_counts(base, p, count, o->arena);
    } while (n < most && next_way(p, count));
    return n;
}

static void try_all(ovl_optimize *o, const split *p, const ovl_candidate *base)
{
    ovl_arena *a = o->arena;
    ovl_candidate *list = OVL_NEW_ARRAY(a, ovl_candidate, (uint32_t)llround(ways(p)));
    uint32_t n = list_all(o, p, base, list), before = o->simulated;
    const char *what = ovl_arena_printf(a, "ways to put %" PRIu32 " layers on %" PRIu32 " stages",
                                        p->layers, p->stages);
    ovl_optimize_try(o, list, n);
    ovl_optimize_say_all(o, before, n,
                         ovl_arena_printf(a, "all %s %s: exact", ovl_grouped(n, a), what), what);
}

typedef struct move {
    uint32_t from, to; /* stages: one layer */
} move;

/* Every split that one move makes out of `count`. */
static uint32_t list_moves(ovl_optimize *o, const split *p, const ovl_candidate *base,
                           uint32_t *count, ovl_candidate *list, move *way)
{
    uint32_t n = 0;
    for (uint32_t from = 0; from < p->stages; from++) {
        for (uint32_t to = 0; to < p->stages && count[from] > 1; to++) {
            if (from != to) {
                count[from]--;
                count[to]++;
                way[n] = (move){from, to};
                list[n++] = with_counts(base, p, count, o->arena);
                count[from]++;
                count[to]--;
            }
        }
    }
    return n;
}

/* One layer from any stage to any other, the best of these again, until none helps. */
static void try_moves(ovl_optimize *o, const split *p, const ovl_candidate *base)
{
    uint32_t count[STAGES] = {0}, from = o->simulated, until = from + ovl_optimize_spare(o);
    for (uint32_t i = 0; i < p->stages; i++) {
        count[i] = p->layers / p->stages + (i < p->layers % p->stages);
    }
    ovl_candidate even = with_counts(base, p, count, o->arena);
    ovl_optimize_try(o, &even, 1);
    const size_t most = (size_t)p->stages * p->stages;
    bool better = true;
    while (better && !o->signal && o->simulated < until) {
        uint32_t first = o->made;
        ovl_candidate *list = OVL_NEW_ARRAY(o->arena, ovl_candidate, most);
        move *way = OVL_NEW_ARRAY(o->arena, move, most);
        uint32_t n = list_moves(o, p, base, count, list, way);
        ovl_optimize_try(o, list, OVL_MIN(n, until - o->simulated));
        better = o->n_best && o->best[0].number >= first;
        if (better) {
            const move *made = &way[o->best[0].number - first];
            count[made->from]--;
            count[made->to]++;
        }
    }
    ovl_optimize_say(o, ovl_arena_printf(o->arena,
                                         "%s of %.3g ways to put %" PRIu32 " layers on %" PRIu32
                                         " stages, one layer moved at a time until none helped, or "
                                         "--tries ended it: "
                                         "others may be better",
                                         ovl_grouped(o->simulated - from, o->arena), ways(p),
                                         p->layers, p->stages));
}

void ovl_optimize_stages(ovl_optimize *o, ovl_errs *errs)
{
    split p;
    const ovl_candidate base = o->n_best ? o->best[0] : o->first;
    if (!find_split(o, &base, &p, errs)) {
        return;
    }
    if (ways(&p) <= ovl_optimize_left(o)) {
        try_all(o, &p, &base);
    } else {
        try_moves(o, &p, &base);
    }
}

bool ovl_optimize_stages_joint(ovl_optimize *o, ovl_candidate *bases, uint32_t n)
{
    split *p = OVL_NEW_ARRAY(o->arena, split, n);
    double total = 0;
    uint32_t made = 0, before = o->simulated, parted = 0;
    for (uint32_t i = 0; i < n; i++) {
        ovl_errs unsaid = {.arena = o->arena}; /* a base without stages is tried as it is */
        if (!find_split(o, &bases[i], &p[i], &unsaid)) {
            p[i].stages = 0;
        }
        parted += p[i].stages > 0;
        total += p[i].stages ? ways(&p[i]) : 1;
    }
    if (parted == 0 || total > ovl_optimize_left(o)) {
        return false;
    }
    ovl_candidate *list = OVL_NEW_ARRAY(o->arena, ovl_candidate, (size_t)llround(total));
    for (uint32_t i = 0; i < n; i++) {
        if (p[i].stages) {
            made += list_all(o, &p[i], &bases[i], list + made);
        } else {
            list[made++] = bases[i];
        }
    }
    ovl_optimize_try(o, list, made);
    ovl_optimize_say_all(
        o, before, made,
        ovl_arena_printf(o->arena,
                         "all combinations of the values and the ways to put layers on stages, %s: "
                         "exact",
                         ovl_grouped(made, o->arena)),
        "combinations of the values and the ways to put layers on stages");
    return true;
}
