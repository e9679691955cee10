#include "sim/idle_runs.h"

#include "sim/fold.h"

/* A run, and which of its ranks stand for the classes. */
typedef struct view {
    const ovl_program *p;
    const uint32_t *rank; /* [n] */
    uint32_t n, deciding_rank;
} view;

/* --- Gaps --- */

static int by_start(const void *a, const void *b)
{
    const ovl_stretch *x = a, *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return (x->op > y->op) - (x->op < y->op);
}

static int by_op(const void *a, const void *b)
{
    const ovl_gap *x = a, *y = b;
    return (x->op > y->op) - (x->op < y->op);
}

void ovl_stretch_add(ovl_stretches *list, ovl_time start, ovl_time end, uint32_t op)
{
    if (list->len > 0) {
        ovl_stretch *last = &list->data[list->len - 1];
        if (last->start <= start && start <= last->end) {
            last->end = OVL_MAX(last->end, end);
            return;
        }
    }
    ovl_vec_push(list, (ovl_stretch){start, end, op});
}

/* Most ranks have one stream, in order already. */
void ovl_stretches_sort(ovl_stretches *list)
{
    for (uint32_t i = 1; list->data && i < list->len; i++) {
        if (list->data[i].start < list->data[i - 1].start) {
            qsort(list->data, list->len, sizeof *list->data, by_start);
            return;
        }
    }
}

/* When a rank runs kernels. */
static void list_kernels(const ovl_program *p, uint32_t rank, const ovl_time *start,
                         const ovl_time *end, ovl_stretches *list)
{
    const ovl_rank *r = &p->ranks[rank];
    const ovl_code *code = &p->codes[r->code];
    list->len = 0;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        uint32_t op = r->first_op + i;
        if (ovl_code_op(code, i)->kind == OVL_KERNEL && end[op] > start[op]) {
            ovl_stretch_add(list, start[op], end[op], op);
        }
    }
    ovl_stretches_sort(list);
}

/* Gaps of one rank, appended; gives their sum. */
static ovl_time add_gaps(const ovl_stretches *kernels, ovl_idle_run *run)
{
    ovl_time covered = run->begin, idle = 0;
    for (uint32_t i = 0; i < kernels->len; i++) {
        const ovl_stretch *k = &kernels->data[i];
        if (k->start >= run->end) {
            break;
        }
        if (k->start > covered) {
            idle += k->start - covered;
            ovl_vec_push(&run->list, (ovl_gap){k->op, covered, k->start});
        }
        covered = OVL_MAX(covered, k->end);
    }
    if (covered < run->end) {
        idle += run->end - covered;
        ovl_vec_push(&run->list, (ovl_gap){OVL_NONE, covered, run->end});
    }
    return idle;
}

/* How long nothing runs at first, if gaps from `first` on are those of a rank by time. */
static ovl_time head_of(const ovl_idle_run *run, uint32_t first)
{
    const ovl_gap *gap = run->list.data + first;
    bool at_first = run->list.len > first && gap->from == run->begin && gap->op != OVL_NONE;
    return at_first ? gap->to - gap->from : 0;
}

/* Those from `first` on, by operation: the tail comes last. */
static void sort_gaps(ovl_idle_run *run, uint32_t first)
{
    if (run->list.len > first) {
        qsort(run->list.data + first, run->list.len - first, sizeof *run->list.data, by_op);
    }
}

/* With several steps the last, from what ended the one before on the deciding rank. */
static void find_step(const view *v, const ovl_time *end, ovl_idle_run *run)
{
    if (v->p->n_steps > 1) {
        const ovl_rank *rank = &v->p->ranks[v->deciding_rank];
        const ovl_code *code = &v->p->codes[rank->code];
        run->begin = end[rank->first_op + code->step_ends[code->n_steps - 2]];
        run->end = end[rank->first_op + code->step_ends[code->n_steps - 1]];
        return;
    }
    for (uint32_t op = 0; op < v->p->n_ops; op++) {
        run->end = OVL_MAX(run->end, end[op]);
    }
}

static void list_gaps(const view *v, const ovl_time *start, const ovl_time *end, ovl_arena *arena,
                      ovl_idle_run *run)
{
    ovl_stretches kernels = {0};
    *run = (ovl_idle_run){.first = OVL_NEW_ARRAY(arena, uint32_t, v->n + 1),
                          .idle = OVL_NEW_ARRAY(arena, ovl_time, v->n),
                          .head = OVL_NEW_ARRAY(arena, ovl_time, v->n)};
    find_step(v, end, run);
    for (uint32_t i = 0; i < v->n; i++) {
        run->first[i] = run->list.len;
        list_kernels(v->p, v->rank[i], start, end, &kernels);
        run->idle[i] = add_gaps(&kernels, run);
        run->head[i] = head_of(run, run->first[i]);
        sort_gaps(run, run->first[i]);
    }
    run->first[v->n] = run->list.len;
    ovl_vec_free(&kernels);
}

ovl_time ovl_idle_waits_in(const ovl_idle_run *run, uint32_t class_id, uint32_t op)
{
    uint32_t low = run->first[class_id], high = run->first[class_id + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (run->list.data[middle].op < op) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < run->first[class_id + 1] && run->list.data[low].op == op;
    return found ? run->list.data[low].to - run->list.data[low].from : 0;
}

void ovl_idle_run_free(ovl_idle_run *run)
{
    ovl_vec_free(&run->list);
}

/* --- What is taken away --- */

const ovl_replay_options *ovl_idle_taken(ovl_peel kind)
{
    static const ovl_replay_options peeled[OVL_PEEL_HOST] = {
        {.kernels = OVL_REPLAY_MEAN, .free_comm = true, .free_host = true, .free_pauses = true},
        {.kernels = OVL_REPLAY_ALONE, .free_comm = true, .free_host = true, .free_pauses = true},
        {.kernels = OVL_REPLAY_AS_RUN, .free_host = true, .free_pauses = true},
        {.kernels = OVL_REPLAY_AS_RUN, .free_host = true}};
    assert(kind < OVL_PEEL_HOST);
    return &peeled[kind];
}

/* --- The order of the run --- */

static view view_of(const ovl_idle_lab *lab)
{
    return (view){lab->causes->program, lab->classes->rank, lab->classes->n,
                  lab->causes->timeline->deciding_rank};
}

void ovl_idle_run_itself(const ovl_idle_lab *lab, ovl_idle_run *run)
{
    view v = view_of(lab);
    list_gaps(&v, lab->causes->timeline->start, lab->causes->timeline->end, lab->arena, run);
}

static void replay_view(const view *v, ovl_causes *causes, const ovl_inputs *inputs,
                        const ovl_means *means, const ovl_replay_options *options, ovl_arena *arena,
                        ovl_idle_run *run)
{
    ovl_arena times = {0};
    ovl_replay replay = {OVL_NEW_ARRAY(&times, ovl_time, v->p->n_ops),
                         OVL_NEW_ARRAY(&times, ovl_time, v->p->n_ops)};
    ovl_replay_run(causes, inputs, means, options, &replay);
    list_gaps(v, replay.start, replay.end, arena, run);
    ovl_arena_free(&times);
}

void ovl_idle_run_replay(const ovl_idle_lab *lab, const ovl_replay_options *options,
                         ovl_idle_run *run)
{
    view v = view_of(lab);
    replay_view(&v, lab->causes, lab->inputs, lab->means, options, lab->arena, run);
}

/* --- Another order --- */

/* [n_classes] ranks of the program that runs the other order. */
static const uint32_t *same_ranks(const ovl_idle_lab *lab, const ovl_program *other,
                                  ovl_arena *arena)
{
    uint32_t *rank = OVL_NEW_ARRAY(arena, uint32_t, lab->classes->n);
    for (uint32_t i = 0; i < lab->classes->n; i++) {
        uint32_t number = ovl_rank_number(lab->causes->program, lab->classes->rank[i]);
        rank[i] = other->fold ? other->fold->ranks.of[number] : number;
    }
    return rank;
}

static void replay_other(const ovl_idle_lab *lab, const ovl_program *p, const ovl_timeline *t,
                         const ovl_replay_options *options, ovl_arena *arena, ovl_idle_run *run)
{
    view v = {p, same_ranks(lab, p, arena), lab->classes->n, t->deciding_rank};
    ovl_causes causes;
    ovl_means means;
    ovl_causes_init(&causes, p, t, arena);
    ovl_means_find(p, arena, &means);
    replay_view(&v, &causes, ovl_inputs_find(p, arena), &means, options, lab->arena, run);
    ovl_causes_free(&causes);
}

bool ovl_idle_run_ordered(const ovl_idle_lab *lab, unsigned order,
                          const ovl_replay_options *options, ovl_idle_run *run)
{
    const ovl_program *ours = lab->causes->program, *other = ovl_program_ordered(ours, order);
    if (other == ours) {
        return false;
    }
    ovl_arena scratch = {0};
    ovl_errs errs = {.arena = &scratch};
    ovl_run_options how = {.interference = OVL_INTERFERENCE_NONE, .watch = lab->watch};
    ovl_fold fold;
    ovl_program chosen;
    ovl_timeline timeline;
    bool good = ovl_fold_choose(other, !ours->fold, &scratch, &fold, &chosen, &errs) &&
                ovl_fold_run(other, &chosen, &how, &scratch, &timeline, &errs);
    if (good) {
        replay_other(lab, &chosen, &timeline, options, &scratch, run);
    }
    ovl_arena_free(&scratch);
    return good;
}
