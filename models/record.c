#include "models/record_parts.h"

#include "models/fields.h"
#include "models/pattern.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANKS       4096
#define MOST_FILES_SHOWN 8 /* in an error */

typedef struct recorder {
    const ovl_record_options *options;
    ovl_mark mark;
    ovl_arena *arena;
    ovl_arena scratch;
    ovl_errs *errs;
    ovl_recorded *out;
    regex_t comm;
    OVL_VEC(ovl_rank_work) works;
    OVL_VEC(const char *) said;
} recorder;

/* --- Ranks: the devices of the files --- */

static bool has_device(const recorder *r, const ovl_seen *seen, int64_t device)
{
    for (uint32_t i = r->works.len; i > 0; i--) {
        const ovl_rank_work *w = &r->works.data[i - 1];
        if (w->seen == seen && w->device == device) {
            return true;
        }
    }
    return false;
}

static void add_ranks(recorder *r, const ovl_seen *seen)
{
    for (uint32_t i = 0; i < seen->n_streams && r->works.len < MOST_RANKS; i++) {
        int64_t device = seen->streams[i].device;
        if (!has_device(r, seen, device)) {
            ovl_rank_work w = {.seen = seen, .device = device};
            ovl_vec_push(&r->works, w);
        }
    }
}

static int by_rank(const void *a, const void *b)
{
    const ovl_rank_work *x = a, *y = b;
    if (x->seen->rank != y->seen->rank) {
        return x->seen->rank < y->seen->rank ? -1 : 1;
    }
    if (x->seen != y->seen) {
        return x->seen < y->seen ? -1 : 1;
    }
    return (x->device > y->device) - (x->device < y->device);
}

static bool record_rank(recorder *r, ovl_rank_work *w)
{
    w->arena = r->arena;
    w->scratch = &r->scratch;
    w->names = &r->out->names;
    w->comm = &r->comm;
    w->drop = r->options->drop;
    if (!ovl_record_window(w->seen, r->options->step, w, r->mark, r->errs)) {
        return false;
    }
    ovl_record_acts(w);
    ovl_record_waits(w);
    ovl_vec_free(&w->calls);
    ovl_vec_free(&w->launched);
    ovl_record_order(w);
    return true;
}

/* --- What was inferred --- */

static void say(recorder *r, const char *format, ...) OVL_PRINTF(2, 3);

static void say(recorder *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = ovl_arena_vprintf(r->arena, format, args);
    va_end(args);
    ovl_vec_push(&r->said, text);
}

/* What is counted for the ranks, summed. */
typedef struct counts {
    uint32_t waits[OVL_EVIDENCE_COUNT], syncs[OVL_EVIDENCE_COUNT];
    uint32_t contradicted, overlaps, not_launched, carried;
    uint32_t device_gaps;
    bool device_gap_mean;                       /* of any */
    ovl_time latency[2], gap[2], device_gap[2]; /* least and most */
} counts;

static counts count(const recorder *r)
{
    counts c = {.latency = {OVL_NEVER, 0}, .gap = {OVL_NEVER, 0}, .device_gap = {OVL_NEVER, 0}};
    for (uint32_t i = 0; i < r->works.len; i++) {
        const ovl_rank_work *w = &r->works.data[i];
        for (int e = 0; e < OVL_EVIDENCE_COUNT; e++) {
            c.waits[e] += w->evidence[e];
            c.syncs[e] += w->sync_evidence[e];
        }
        c.contradicted += w->contradicted;
        c.overlaps += w->overlaps;
        c.not_launched += w->not_launched;
        c.carried += w->carried;
        c.latency[0] = OVL_MIN(c.latency[0], w->latency);
        c.latency[1] = OVL_MAX(c.latency[1], w->latency);
        c.gap[0] = OVL_MIN(c.gap[0], w->gap);
        c.gap[1] = OVL_MAX(c.gap[1], w->gap);
        c.device_gaps += w->n_device_gaps;
        c.device_gap_mean |= w->device_gap_mean;
        c.device_gap[0] = OVL_MIN(c.device_gap[0], w->device_gap);
        c.device_gap[1] = OVL_MAX(c.device_gap[1], w->device_gap);
    }
    return c;
}

static const char *range(recorder *r, const ovl_time of[2])
{
    char least[OVL_UNITS_TEXT], most[OVL_UNITS_TEXT];
    ovl_print_time(least, of[0] / OVL_NS * OVL_NS);
    ovl_print_time(most, of[1] / OVL_NS * OVL_NS);
    return of[0] == of[1] ? ovl_arena_strdup(&r->scratch, most)
                          : ovl_arena_printf(&r->scratch, "%s to %s", least, most);
}

static void say_host(recorder *r, const counts *c)
{
    if (c->latency[1] > 0) {
        say(r,
            "From the call of the host to the begin of what it launched, if nothing else holds it: "
            "%s, the median over the step.",
            range(r, c->latency));
    }
    if (c->gap[1] > 0) {
        say(r,
            "Between two operations of a stream that were launched long before: %s, the mean over "
            "the step.",
            range(r, c->gap));
    }
    if (c->carried) {
        say(r, "Launched before the step and run into it: %s.",
            ovl_counted(r->arena, c->carried, "operation"));
    }
    if (c->not_launched) {
        say(r, "Without a launch in the file, so taken as launched before the step: %s.",
            ovl_counted(r->arena, c->not_launched, "operation"));
    }
    if (c->device_gap[1] > 0) {
        say(r,
            "Between two operations of a stream without a launch in the step: %s, the %s of "
            "%s of at most 5 us; longer ones, and what the others add up to beyond it, are "
            "unexplained.",
            range(r, c->device_gap), c->device_gap_mean ? "mean" : "median",
            ovl_counted(r->arena, c->device_gaps, "gap"));
    }
}

static void say_waits(recorder *r, const counts *c)
{
    if (c->waits[OVL_BY_RECORD] + c->waits[OVL_BY_ORDER] + c->waits[OVL_BY_TIME]) {
        say(r,
            "Waits between streams: %" PRIu32 " recorded, %" PRIu32
            " inferred from the order of calls, %" PRIu32
            " from an end that fits the start to 5 us.",
            c->waits[OVL_BY_RECORD], c->waits[OVL_BY_ORDER], c->waits[OVL_BY_TIME]);
    }
    if (c->syncs[OVL_BY_RECORD] + c->syncs[OVL_BY_ORDER] + c->syncs[OVL_BY_TIME]) {
        say(r,
            "Waits of the host: %" PRIu32 " recorded, %" PRIu32
            " inferred from the order of calls, %" PRIu32 " from an end within the call.",
            c->syncs[OVL_BY_RECORD], c->syncs[OVL_BY_ORDER], c->syncs[OVL_BY_TIME]);
    }
    if (c->contradicted) {
        say(r, "Left out, since the times contradict it: %s.",
            ovl_counted(r->arena, c->contradicted, "wait"));
    }
    if (c->overlaps) {
        say(r,
            "Begun before the one in front on the stream ended, and taken to need what was beyond "
            "that: %s.",
            ovl_counted(r->arena, c->overlaps, "operation"));
    }
}

static void say_collectives(recorder *r)
{
    const ovl_recorded *out = r->out;
    if (out->matched) {
        say(r,
            "Matched over the ranks of the group: %s. The shortest duration is the transfer, and "
            "waiting for "
            "others comes out of the run.",
            ovl_counted(r->arena, out->matched, "collective"));
    }
    if (out->alone) {
        say(r,
            "Not seen on every rank of the group: %s. The durations hold the waiting for the "
            "others, so what-ifs "
            "on communication only tell an upper bound.",
            ovl_counted(r->arena, out->alone, "collective"));
    }
    if (out->different) {
        say(r, "Not matched, since other ranks have other collectives (cut or sampled traces): %s.",
            ovl_counted(r->arena, out->different, "group"));
    }
    if (out->same_rank) {
        say(r, "WARNING: several files say the same rank, so they are no ranks of one job: "
               "collectives were not matched.");
    }
    if (out->other_steps) {
        say(r, "WARNING: the files begin with other steps, so their first collectives are not the "
               "same ones: collectives were not matched. Name a step that all have.");
    }
    if (out->world) {
        say(r,
            "%" PRIu32 " of %" PRId64
            " ranks: waiting for the missing ranks counts as transfer: an upper bound.",
            out->n_ranks, out->world);
    }
    if (out->apart) {
        say(r,
            "WARNING: %" PRIu32 " of %" PRIu32
            " matched collectives end more than 0.1 ms apart: they may not be the same ones (cut "
            "or sampled traces, other groups), so do not trust their waits and clocks.",
            out->apart, out->matched);
    }
    ovl_time last = 0;
    for (uint32_t i = 0; i < out->n_ranks; i++) {
        last = OVL_MAX(last, out->ranks[i].begin);
    }
    if (last > 0) {
        char text[OVL_UNITS_TEXT];
        say(r, "Ranks begin the step up to %s apart, by %s.",
            ovl_print_time(text, last / OVL_NS * OVL_NS),
            out->matched ? "clocks set by the ends of collectives" : "the clock of their file");
    }
    if (out->clock_sets > 1) {
        say(r,
            "Clocks cannot be compared: %" PRIu32 " sets of ranks share no collective and no file; "
            "the step of each is taken to begin at the same time.",
            out->clock_sets);
    }
}

/* A step of kernels none of which communicates is either of one GPU or read with a wrong pattern.
 */
static void say_no_communication(recorder *r)
{
    uint32_t kernels = 0, comm = 0;
    for (uint32_t i = 0; i < r->works.len; i++) {
        const ovl_rank_work *w = &r->works.data[i];
        for (uint32_t a = 0; a < w->acts.len; a++) {
            kernels += w->acts.data[a].op->kind == OVL_SEEN_KERNEL;
            comm += w->acts.data[a].comm;
        }
    }
    if (kernels && !comm) {
        const char *text = ovl_arena_printf(
            r->arena,
            "NO COMMUNICATION FOUND: of %s in the step none has a name that matches \"%s\", so all "
            "count as compute; workload.replay.comm sets another pattern",
            ovl_counted(r->arena, kernels, "kernel"), ovl_shown(r->options->comm, r->arena));
        say(r, "WARNING: %s.", text);
        ovl_warning(r->errs, r->mark, "%s", text);
    }
}

static void say_all(recorder *r)
{
    say_no_communication(r);
    counts c = count(r);
    say_host(r, &c);
    say_waits(r, &c);
    say_collectives(r);
    r->out->n_inferred = r->said.len;
    r->out->inferred = ovl_vec_freeze(&r->said, r->arena);
}

/* --- The whole --- */

static bool any_work(const recorder *r)
{
    for (uint32_t i = 0; i < r->works.len; i++) {
        if (r->works.data[i].acts.len == 0) {
            const ovl_rank_work *w = &r->works.data[i];
            ovl_error(r->errs, OVL_E_INPUT, r->mark,
                      "%s of \"%s\" has no operation of device %" PRId64, w->what, w->seen->file,
                      w->device);
            return false;
        }
    }
    return true;
}

/* The last step of each file was chosen, and they must be the same one. */
static bool one_step(const recorder *r)
{
    bool same = true;
    for (uint32_t i = 1; i < r->works.len; i++) {
        same &= strcmp(r->works.data[i].what, r->works.data[0].what) == 0;
    }
    if (same || r->options->step) {
        return true;
    }
    const char *list = "";
    const ovl_seen *before = NULL;
    uint32_t files = 0;
    for (uint32_t i = 0; i < r->works.len; i++) {
        const ovl_seen *seen = r->works.data[i].seen;
        bool shown = seen != before && files++ < MOST_FILES_SHOWN;
        before = seen;
        if (shown) {
            list = ovl_arena_printf(r->errs->arena, "%s%s\"%s\" has %s", list, *list ? "; " : "",
                                    seen->file, ovl_record_steps(seen, r->errs->arena));
        }
    }
    if (files > MOST_FILES_SHOWN) {
        list = ovl_arena_printf(r->errs->arena, "%s; and %" PRIu32 " more files", list,
                                files - MOST_FILES_SHOWN);
    }
    ovl_error(
        r->errs, OVL_E_INPUT, r->mark,
        "the files' last steps are not the same one: %s. Name a step that all have, or \"all\" "
        "for the whole of each",
        list);
    return false;
}

static bool record(recorder *r, const ovl_seen *files, uint32_t n_files)
{
    for (uint32_t i = 0; i < n_files; i++) {
        if (files[i].exact && n_files > 1) {
            ovl_error(r->errs, OVL_E_INPUT, r->mark,
                      "\"%s\" was written by ovl export and has all its ranks: name it alone",
                      files[i].file);
            return false;
        }
        add_ranks(r, &files[i]);
    }
    if (files[0].exact) {
        return ovl_record_exact(&files[0], r->mark, r->arena, r->out, r->errs);
    }
    if (r->works.len == 0) {
        ovl_error(r->errs, OVL_E_INPUT, r->mark,
                  "there is nothing to replay: no device did anything in \"%s\"", files[0].file);
        return false;
    }
    qsort(r->works.data, r->works.len, sizeof *r->works.data, by_rank);
    for (uint32_t i = 0; i < r->works.len; i++) {
        if (!record_rank(r, &r->works.data[i])) {
            return false;
        }
    }
    if (!one_step(r)) {
        return false;
    }
    r->out->what = ovl_arena_strdup(r->arena, r->works.data[0].what);
    if (!any_work(r)) {
        return false;
    }
    ovl_record_match(r->works.data, r->works.len, r->arena, &r->scratch, r->out);
    say_all(r);
    return true;
}

bool ovl_record(const ovl_seen *files, uint32_t n_files, const ovl_record_options *options,
                ovl_mark mark, ovl_arena *arena, ovl_recorded *recorded, ovl_errs *errs)
{
    recorder r = {.options = options, .mark = mark, .arena = arena, .errs = errs, .out = recorded};
    *recorded = (ovl_recorded){.names = {.arena = arena}};
    ovl_pattern_again(&r.comm, options->comm, true);
    bool good = record(&r, files, n_files);
    for (uint32_t i = 0; i < r.works.len; i++) {
        ovl_rank_work *w = &r.works.data[i];
        ovl_vec_free(&w->acts);
        ovl_vec_free(&w->calls);
        ovl_vec_free(&w->launched);
        ovl_vec_free(&w->waits);
        ovl_vec_free(&w->syncs);
        ovl_vec_free(&w->sync_on);
        ovl_vec_free(&w->ops);
        ovl_vec_free(&w->after);
    }
    ovl_vec_free(&r.works);
    ovl_vec_free(&r.said);
    ovl_arena_free(&r.scratch);
    regfree(&r.comm);
    return good;
}
