/* Which part of a file is the step, and what of one device belongs to it. */
#include "models/record_parts.h"

#include "models/fields.h"

#include <string.h>

#define MOST_PROCESSES 64
#define MOST_SHOWN     20 /* steps, in an error */

/* The processes that launched work on a device. */
typedef struct processes {
    uint64_t id[MOST_PROCESSES];
    uint32_t n;
} processes;

static bool has_process(const processes *p, uint64_t id)
{
    for (uint32_t i = p->n; i > 0; i--) {
        if (p->id[i - 1] == id) {
            return true;
        }
    }
    return false;
}

static bool on_device(const ovl_rank_work *w, const ovl_seen_op *op)
{
    return w->seen->streams[op->stream].device == w->device;
}

static processes find_processes(const ovl_rank_work *w)
{
    processes p = {.n = 0};
    for (uint32_t i = 0; i < w->seen->n_ops; i++) {
        const ovl_seen_op *op = &w->seen->ops[i];
        if (op->call == OVL_NONE || !on_device(w, op)) {
            continue;
        }
        uint64_t id = w->seen->calls[op->call].process;
        if (!has_process(&p, id) && p.n < MOST_PROCESSES) {
            p.id[p.n++] = id;
        }
    }
    return p;
}

static bool is_range(const ovl_seen *seen, const ovl_seen_range *range, const char *step)
{
    int64_t number;
    if (!step) {
        return range->number >= 0;
    }
    if (strcmp(ovl_names_text(&seen->names, range->name), step) == 0) {
        return true;
    }
    return range->number >= 0 && !ovl_read_count(step, &number) && number == range->number;
}

/* Whether the device did anything that belongs to it. */
static bool has_work(const ovl_rank_work *w, const ovl_seen_range *range)
{
    for (uint32_t i = 0; i < w->seen->n_ops; i++) {
        const ovl_seen_op *op = &w->seen->ops[i];
        int64_t at = op->call == OVL_NONE ? op->start : w->seen->calls[op->call].start;
        if (at >= range->start && at < range->end && on_device(w, op)) {
            return true;
        }
    }
    return false;
}

/* Without a name the last step in which the device works; of a name the first range. */
static const ovl_seen_range *find_range(const ovl_rank_work *w, const char *step,
                                        const processes *p, bool own)
{
    const ovl_seen *seen = w->seen;
    for (uint32_t i = 0; i < seen->n_ranges; i++) {
        const ovl_seen_range *range = &seen->ranges[step ? i : seen->n_ranges - 1 - i];
        if (is_range(seen, range, step) && (!own || has_process(p, range->process)) &&
            (step || has_work(w, range))) {
            return range;
        }
    }
    return NULL;
}

static void whole(ovl_rank_work *w)
{
    const ovl_seen *seen = w->seen;
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (uint32_t i = 0; i < seen->n_ops; i++) {
        if (on_device(w, &seen->ops[i])) {
            from = OVL_MIN(from, seen->ops[i].start);
            to = OVL_MAX(to, seen->ops[i].end);
        }
    }
    processes p = find_processes(w);
    for (uint32_t i = 0; i < seen->n_calls; i++) {
        if (has_process(&p, seen->calls[i].process)) {
            from = OVL_MIN(from, seen->calls[i].start);
            to = OVL_MAX(to, seen->calls[i].end);
        }
    }
    w->from = from;
    w->to = to + 1;
    w->marked = false;
    w->what = "the whole trace";
}

const char *ovl_record_steps(const ovl_seen *seen, ovl_arena *arena)
{
    ovl_arena scratch = {0};
    bool *known = OVL_NEW_ARRAY(&scratch, bool, seen->names.count), numbered = false;
    const char *list = "no step";
    uint32_t n = 0;
    for (uint32_t i = 0; i < seen->n_ranges; i++) {
        numbered |= seen->ranges[i].number >= 0;
    }
    for (uint32_t i = 0; i < seen->n_ranges; i++) {
        const ovl_seen_range *range = &seen->ranges[i];
        if (known[range->name] || (numbered && range->number < 0)) {
            continue;
        }
        known[range->name] = true;
        const char *name = ovl_shown(ovl_names_text(&seen->names, range->name), &scratch);
        if (n++ < MOST_SHOWN) {
            list = n == 1 ? name : ovl_arena_printf(&scratch, "%s, %s", list, name);
        }
    }
    list = n > MOST_SHOWN ? ovl_arena_printf(arena, "%s and %" PRIu32 " more", list, n - MOST_SHOWN)
                          : ovl_arena_strdup(arena, list);
    ovl_arena_free(&scratch);
    return list;
}

static void no_range(const ovl_seen *seen, const char *step, ovl_mark mark, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    const char **names = OVL_NEW_ARRAY(&scratch, const char *, seen->n_ranges);
    for (uint32_t i = 0; i < seen->n_ranges; i++) {
        names[i] = ovl_names_text(&seen->names, seen->ranges[i].name);
    }
    const char *near = ovl_nearest(step, names, seen->n_ranges);
    ovl_error(errs, OVL_E_INPUT, mark, "\"%s\" has no step or range \"%s\"%s%s%s; it has %s",
              seen->file, ovl_shown(step, errs->arena), near ? " (did you mean \"" : "",
              near ? near : "", near ? "\"?)" : "", ovl_record_steps(seen, errs->arena));
    ovl_arena_free(&scratch);
}

bool ovl_record_window(const ovl_seen *seen, const char *step, ovl_rank_work *w, ovl_mark mark,
                       ovl_errs *errs)
{
    processes p = find_processes(w);
    if (step && strcmp(step, "all") == 0) {
        whole(w);
        return true;
    }
    const ovl_seen_range *range = find_range(w, step, &p, true);
    range = range ? range : find_range(w, step, &p, false);
    if (!range && step) {
        no_range(seen, step, mark, errs);
        return false;
    }
    if (!range) {
        whole(w);
        return true;
    }
    w->from = range->start;
    w->to = OVL_MAX(range->end, range->start + 1);
    w->marked = true;
    w->what = ovl_names_text(&seen->names, range->name);
    return true;
}

/* --- What belongs to it --- */

static bool within(const ovl_rank_work *w, int64_t time)
{
    return time >= w->from && time < w->to;
}

ovl_time ovl_record_since(const ovl_rank_work *w, int64_t time)
{
    const int64_t most = OVL_TIME_MAX / OVL_NS / 4;
    int64_t ns = time - w->from;
    return OVL_MAX(OVL_MIN(ns, most), -most) * OVL_NS;
}

static void add_act(ovl_rank_work *w, const ovl_seen_op *op, ovl_time launch)
{
    const char *name = ovl_names_text(&w->seen->names, op->name);
    bool comm = op->kind == OVL_SEEN_KERNEL && regexec(w->comm, name, 0, NULL, 0) == 0;
    ovl_act act = {.op = op,
                   .start = OVL_MAX(ovl_record_since(w, op->start), 0),
                   .end = OVL_MAX(ovl_record_since(w, op->end), 0),
                   .launch = launch,
                   .call = OVL_NONE,
                   .prev = OVL_NONE,
                   .comm = comm,
                   .waits = -1};
    ovl_vec_push(&w->acts, act);
}

/* An operation launched in the step is part of it; one launched before is as far as it reaches into
 * it; one without a launch is if it starts in it. */
static void choose_act(ovl_rank_work *w, const ovl_seen_op *op)
{
    const ovl_seen_call *call = op->call == OVL_NONE ? NULL : &w->seen->calls[op->call];
    if (call && within(w, call->start)) {
        add_act(w, op, ovl_record_since(w, call->start));
    } else if ((!call || call->start < w->from) && op->start < w->to && op->end > w->from) {
        w->carried += call != NULL || op->start < w->from;
        w->not_launched += call == NULL && op->start >= w->from;
        add_act(w, op, OVL_NEVER);
    }
}

static void add_calls(ovl_rank_work *w, uint32_t *index)
{
    processes p = find_processes(w);
    for (uint32_t i = 0; i < w->seen->n_calls; i++) {
        const ovl_seen_call *call = &w->seen->calls[i];
        if (within(w, call->start) && has_process(&p, call->process)) {
            index[i] = w->calls.len;
            ovl_act_call c = {call, ovl_record_since(w, call->start),
                              ovl_record_since(w, call->end), 0, 0};
            ovl_vec_push(&w->calls, c);
        }
    }
}

/* Acts by call, in order of start within one. */
static void link_calls(ovl_rank_work *w, const uint32_t *index)
{
    for (uint32_t i = 0; i < w->acts.len; i++) {
        ovl_act *act = &w->acts.data[i];
        act->call = act->launch == OVL_NEVER ? OVL_NONE : index[act->op->call];
        if (act->call != OVL_NONE) {
            w->calls.data[act->call].n++;
        }
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < w->calls.len; i++) {
        w->calls.data[i].first = at;
        at += w->calls.data[i].n;
        w->calls.data[i].n = 0;
    }
    ovl_vec_reserve(&w->launched, at + 1);
    w->launched.len = at;
    for (uint32_t i = 0; i < w->acts.len; i++) {
        uint32_t call = w->acts.data[i].call;
        if (call != OVL_NONE) {
            ovl_act_call *c = &w->calls.data[call];
            w->launched.data[c->first + c->n++] = i;
        }
    }
}

static void link_streams(ovl_rank_work *w)
{
    uint32_t *last = OVL_NEW_ARRAY(w->scratch, uint32_t, w->seen->n_streams);
    memset(last, 0xff, w->seen->n_streams * sizeof *last); /* OVL_NONE */
    for (uint32_t i = 0; i < w->acts.len; i++) {
        ovl_act *act = &w->acts.data[i];
        act->prev = last[act->op->stream];
        last[act->op->stream] = i;
    }
}

void ovl_record_acts(ovl_rank_work *w)
{
    uint32_t *index = OVL_NEW_ARRAY(w->scratch, uint32_t, w->seen->n_calls);
    memset(index, 0xff, w->seen->n_calls * sizeof *index); /* OVL_NONE */
    for (uint32_t i = 0; i < w->seen->n_ops; i++) {
        if (on_device(w, &w->seen->ops[i])) {
            choose_act(w, &w->seen->ops[i]);
        }
    }
    add_calls(w, index);
    link_calls(w, index);
    link_streams(w);
}
