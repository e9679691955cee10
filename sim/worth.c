#include "sim/worth.h"

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
            c.exposed += exposed;
            c.duration += duration;
            exposed = duration = 0;
        }
        exposed = OVL_MAX(exposed, order[i]->out.exposed);
        duration = OVL_MAX(duration, order[i]->out.end - order[i]->out.start);
    }
    c.exposed += exposed;
    c.duration += duration;
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
        return true;
    case OVL_WORTH_NAME:
        return strcmp(c->text, s->options->worth_name) == 0;
    case OVL_WORTH_NONE:
        return false;
    case OVL_WORTH_DEFAULT:
        break;
    }
    return place < default_names(s->c->program) || c->name == always;
}

/* The name whose operations carry the cost. */
static ovl_id name_to_free(const search *s, const ovl_row *row)
{
    const ovl_program *p = s->c->program;
    uint32_t op = p->ranks[row->out.rank].first_op + row->dep.local;
    return ovl_causes_op(s->c, op)->kind == OVL_RECV ? ovl_causes_op(s->c, p->partner[op])->name
                                                     : row->name;
}

static void run_without(const search *s, const candidate *c)
{
    const ovl_program *p = s->c->program;
    ovl_run_options options = {.interference = s->options->interference,
                               .free_name = name_to_free(s, s->order[c->first]),
                               .no_skip = s->options->no_skip,
                               .no_trail = true,
                               .watch = s->options->watch};
    ovl_arena arena = {0};
    ovl_timeline without;
    ovl_errs errs = {.arena = &arena};
    if (ovl_run(p, &options, &arena, &without, &errs)) {
        ovl_conditions conditions = ovl_conditions_begin(p, &without, s->feeds, &arena);
        for (uint32_t i = c->first; i < c->first + c->n; i++) {
            ovl_result_collective *row = &s->order[i]->out;
            row->worth = s->c->timeline->step - without.step;
            const ovl_dependency *dep = &s->order[i]->dep;
            row->u_variant =
                ovl_u_path(&conditions, row->rank, dep->local, dep->consumer) - without.begin;
            row->interference = row->u_path - row->u_variant;
        }
    }
    ovl_arena_free(&arena);
}

void ovl_worth_find(const ovl_causes *causes, const ovl_feeds *feeds,
                    const ovl_analyse_options *options, ovl_id always, ovl_rows *rows)
{
    if (rows->n == 0 || options->worth == OVL_WORTH_NONE) {
        return;
    }
    ovl_arena scratch = {0};
    search s = {.c = causes, .feeds = feeds, .options = options};
    s.order = OVL_NEW_ARRAY(&scratch, ovl_row *, rows->n);
    for (uint32_t i = 0; i < rows->n; i++) {
        s.order[i] = &rows->item[i];
    }
    qsort(s.order, rows->n, sizeof(ovl_row *), compare_order);
    find_candidates(&s, rows->n);
    for (uint32_t i = 0; i < s.candidates.len; i++) {
        if (wanted(&s, i, always)) {
            run_without(&s, &s.candidates.data[i]);
        }
    }
    ovl_vec_free(&s.candidates);
    ovl_arena_free(&scratch);
}
