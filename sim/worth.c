#include "sim/worth.h"

#include "sim/names.h"
#include "sim/sums.h"

/* All rows of one name. */
typedef struct candidate {
    ovl_id name;
    const char *text;
    uint32_t first, n;          /* rows, in `order` */
    ovl_time exposed, duration; /* summed over occurrences, each the largest of any rank */
} candidate;

typedef struct search {
    const ovl_causes *c;
    const ovl_feeds *feeds;
    const ovl_analyse_options *options;
    ovl_row **order; /* rows by name, then occurrence */
    OVL_VEC(candidate) candidates;
    ovl_alike how;        /* what is freed together */
    bool *free_names;     /* [names] in the next run */
    uint32_t run, n_runs; /* so far, and in all */
} search;

static int compare_order(const void *a, const void *b)
{
    const ovl_row *x = *(ovl_row *const *)a, *y = *(ovl_row *const *)b;
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    if (x->dep.occurrence != y->dep.occurrence) {
        return x->dep.occurrence < y->dep.occurrence ? -1 : 1;
    }
    return (x->out.rank > y->out.rank) - (x->out.rank < y->out.rank);
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->exposed != y->exposed) {
        return x->exposed > y->exposed ? -1 : 1;
    }
    if (x->duration != y->duration) {
        return x->duration > y->duration ? -1 : 1;
    }
    return strcmp(x->text, y->text);
}

static candidate add_up(ovl_row **order, uint32_t first, uint32_t end)
{
    candidate c = {order[first]->name, order[first]->out.name, first, end - first, 0, 0};
    ovl_time exposed = 0, duration = 0;
    for (uint32_t i = first; i < end; i++) {
        if (i > first && order[i]->dep.occurrence != order[i - 1]->dep.occurrence) {
            c.exposed = ovl_sum_add(c.exposed, exposed);
            c.duration = ovl_sum_add(c.duration, duration);
            exposed = duration = 0;
        }
        exposed = OVL_MAX(exposed, order[i]->out.exposed);
        duration = OVL_MAX(duration, order[i]->out.end - order[i]->out.start);
    }
    c.exposed = ovl_sum_add(c.exposed, exposed);
    c.duration = ovl_sum_add(c.duration, duration);
    return c;
}

static void find_candidates(search *s, uint32_t n_rows)
{
    for (uint32_t first = 0, end; first < n_rows; first = end) {
        for (end = first + 1; end < n_rows && s->order[end]->name == s->order[first]->name;) {
            end++;
        }
        candidate c = add_up(s->order, first, end);
        ovl_vec_push(&s->candidates, c);
    }
    qsort(s->candidates.data, s->candidates.len, sizeof *s->candidates.data, compare_candidates);
}

/* A large program is simulated again for fewer names. */
static uint32_t default_names(const ovl_program *p)
{
    uint32_t affordable = OVL_WORTH_DEFAULT_OPS / OVL_MAX(p->n_ops, 1);
    return OVL_MIN(OVL_WORTH_DEFAULT_NAMES, OVL_MAX(affordable, 1));
}

static bool wanted(const search *s, uint32_t place, ovl_id always)
{
    const candidate *c = &s->candidates.data[place];
    switch (s->options->worth) {
    case OVL_WORTH_ALL:
        if (s->how == OVL_ALIKE_SAME) {
            return true;
        }
        break;
    case OVL_WORTH_NAME:
        return strcmp(c->text, s->options->worth_name) == 0;
    case OVL_WORTH_NONE:
        return false;
    case OVL_WORTH_DEFAULT:
        break;
    }
    return place < default_names(s->c->program) || c->name == always;
}

/* --- One run --- */

/* The name whose operations carry the cost. */
static ovl_id name_to_free(const search *s, const ovl_row *row)
{
    const ovl_program *p = s->c->program;
    uint32_t op = p->ranks[row->out.rank].first_op + row->dep.local;
    return ovl_causes_op(s->c, op)->kind == OVL_RECV ? ovl_causes_name(s->c, p->partner[op])
                                                     : row->name;
}

static void set_free(search *s, const candidate *c, bool is_free)
{
    s->free_names[name_to_free(s, s->order[c->first])] = is_free;
}

/* The step without what is free; false: the run was stopped. */
static bool run_free(search *s, bool step_only, ovl_arena *arena, ovl_timeline *without)
{
    ovl_run_options options = {.interference = s->options->interference,
                               .free_names = s->free_names,
                               .step_only = step_only,
                               .run = s->run++,
                               .n_runs = s->n_runs,
                               .no_skip = s->options->no_skip,
                               .no_trail = true,
                               .watch = s->options->watch};
    ovl_errs errs = {.arena = arena};
    return ovl_run(s->c->program, &options, arena, without, &errs);
}

static void run_without(search *s, const candidate *c)
{
    ovl_arena arena = {0};
    ovl_timeline without;
    set_free(s, c, true);
    if (run_free(s, false, &arena, &without)) {
        ovl_conditions conditions = ovl_conditions_begin(s->c->program, &without, s->feeds, &arena);
        for (uint32_t i = c->first; i < c->first + c->n; i++) {
            ovl_result_collective *row = &s->order[i]->out;
            row->worth = s->c->timeline->step - without.step;
            const ovl_dependency *dep = &s->order[i]->dep;
            row->u_variant =
                ovl_u_path(&conditions, row->rank, dep->local, dep->consumer) - without.begin;
            row->interference = row->u_path - row->u_variant;
        }
    }
    set_free(s, c, false);
    ovl_arena_free(&arena);
}

/* --- Names together --- */

/* Candidates by what they have in common. */
typedef struct groups {
    uint32_t n;
    uint32_t *first;  /* [n + 1] into member */
    uint32_t *member; /* candidates */
} groups;

static groups group_alike(const search *s, ovl_alike how, ovl_arena *arena)
{
    uint32_t n = s->candidates.len;
    const char **names = OVL_NEW_ARRAY(arena, const char *, n);
    uint32_t *number = OVL_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = s->candidates.data[i].text;
    }
    groups g = {.n = ovl_alike_number(names, n, how, number)};
    g.first = OVL_NEW_ARRAY(arena, uint32_t, (size_t)g.n + 1);
    g.member = OVL_NEW_ARRAY(arena, uint32_t, n);
    uint32_t *next = OVL_NEW_ARRAY(arena, uint32_t, g.n);
    for (uint32_t i = 0; i < n; i++) {
        g.first[number[i] + 1]++;
    }
    for (uint32_t k = 0; k < g.n; k++) {
        g.first[k + 1] += g.first[k];
        next[k] = g.first[k];
    }
    for (uint32_t i = 0; i < n; i++) {
        g.member[next[number[i]]++] = i;
    }
    return g;
}

/* Whether so many runs are affordable. */
static bool affordable(const search *s, uint32_t runs)
{
    uint64_t most = s->options->worth_ops ? s->options->worth_ops : OVL_WORTH_ALL_OPS;
    return (uint64_t)runs * s->c->program->n_ops <= most;
}

static groups choose_groups(search *s, ovl_arena *arena)
{
    groups g = {0};
    s->how = OVL_ALIKE_SAME;
    if (s->options->worth == OVL_WORTH_ALL && !affordable(s, s->candidates.len)) {
        s->how = OVL_ALIKE_LAST;
        g = group_alike(s, s->how, arena);
    }
    if (g.n && !affordable(s, g.n)) {
        s->how = OVL_ALIKE_ALL;
        g = group_alike(s, s->how, arena);
    }
    return g;
}

static bool run_together(search *s, const groups *g, uint32_t k, ovl_arena *arena,
                         ovl_result_together *out)
{
    const candidate *first = &s->candidates.data[g->member[g->first[k]]];
    *out = (ovl_result_together){.names = g->first[k + 1] - g->first[k]};
    out->name = out->names == 1 ? ovl_arena_strdup(arena, first->text)
                                : ovl_alike_text(first->text, s->how, arena);
    for (uint32_t i = g->first[k]; i < g->first[k + 1]; i++) {
        out->exposed = ovl_sum_add(out->exposed, s->candidates.data[g->member[i]].exposed);
        set_free(s, &s->candidates.data[g->member[i]], true);
    }
    ovl_arena scratch = {0};
    ovl_timeline without;
    bool good = run_free(s, true, &scratch, &without);
    if (good) {
        out->worth = s->c->timeline->step - without.step;
    }
    for (uint32_t i = g->first[k]; i < g->first[k + 1]; i++) {
        set_free(s, &s->candidates.data[g->member[i]], false);
    }
    ovl_arena_free(&scratch);
    return good;
}

static int compare_together(const void *a, const void *b)
{
    const ovl_result_together *x = a, *y = b;
    if (x->worth != y->worth) {
        return x->worth > y->worth ? -1 : 1;
    }
    return ovl_names_order(x->name, y->name);
}

static ovl_together run_groups(search *s, const groups *g, ovl_arena *arena)
{
    ovl_together out = {.item = OVL_NEW_ARRAY(arena, ovl_result_together, g->n)};
    for (uint32_t k = 0; k < g->n; k++) {
        out.n += run_together(s, g, k, arena, &out.item[out.n]);
    }
    if (out.n) {
        qsort(out.item, out.n, sizeof *out.item, compare_together);
    }
    return out;
}

/* --- The whole --- */

ovl_together ovl_worth_find(const ovl_causes *causes, const ovl_feeds *feeds,
                            const ovl_analyse_options *options, ovl_id always, ovl_rows *rows,
                            ovl_arena *arena)
{
    if (rows->len == 0 || options->worth == OVL_WORTH_NONE) {
        return (ovl_together){0};
    }
    ovl_arena scratch = {0};
    search s = {.c = causes, .feeds = feeds, .options = options};
    s.order = OVL_NEW_ARRAY(&scratch, ovl_row *, rows->len);
    for (uint32_t i = 0; i < rows->len; i++) {
        s.order[i] = &rows->data[i];
    }
    qsort(s.order, rows->len, sizeof(ovl_row *), compare_order);
    find_candidates(&s, rows->len);
    s.free_names = OVL_NEW_ARRAY(&scratch, bool, causes->program->names->count);
    groups g = choose_groups(&s, &scratch);
    s.n_runs = g.n;
    for (uint32_t i = 0; i < s.candidates.len; i++) {
        s.n_runs += wanted(&s, i, always);
    }
    for (uint32_t i = 0; i < s.candidates.len; i++) {
        if (wanted(&s, i, always)) {
            run_without(&s, &s.candidates.data[i]);
        }
    }
    ovl_together out = run_groups(&s, &g, arena);
    ovl_vec_free(&s.candidates);
    ovl_arena_free(&scratch);
    return out;
}
