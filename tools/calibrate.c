#include "tools/calibrate.h"

#include "models/tables.h"
#include "tools/comm_names.h"

#include <math.h>
#include <string.h>

#define WARN_FROM 0.10 /* a pair that misses unseen sizes by more is warned of */

static const ovl_mark nowhere = {0};

void ovl_calibrate_begin(ovl_calibration *cal, ovl_comm_pattern *pattern,
                         const ovl_cal_wishes *wishes)
{
    *cal = (ovl_calibration){.wishes = wishes};
    ovl_inspect_begin(&cal->in, pattern);
}

bool ovl_calibrate_add(ovl_calibration *cal, const char *path, ovl_errs *errs)
{
    ovl_cal_file file = {.path = path};
    if (!ovl_inspect_add(&cal->in, path, errs)) {
        return false;
    }
    if (!ovl_sha256_file(path, file.sha256)) {
        file.sha256[0] = '\0';
    }
    ovl_vec_push(&cal->files, file);
    return true;
}

void ovl_calibrate_free(ovl_calibration *cal)
{
    for (uint32_t i = 0; i < cal->series.len; i++) {
        ovl_vec_free(&cal->series.data[i].points);
        ovl_vec_free(&cal->series.data[i].files);
        ovl_vec_free(&cal->series.data[i].notes);
    }
    ovl_vec_free(&cal->series);
    ovl_vec_free(&cal->files);
    ovl_inspect_free(&cal->in);
    ovl_arena_free(&cal->arena);
}

/* --- Names --- */

static const char *renamed(const ovl_cal_rename *rules, uint32_t n, const char *name,
                           const char *otherwise)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!rules[i].from || (name && strcmp(rules[i].from, name) == 0)) {
            return rules[i].to;
        }
    }
    return otherwise;
}

const char *ovl_calibrate_via(const ovl_calibration *cal, const ovl_cal_series *series)
{
    return renamed(cal->wishes->via, cal->wishes->n_via, series->group, NULL);
}

static int coll_of(const char *op)
{
    if (strcmp(op, "send") == 0 || strcmp(op, "recv") == 0) {
        return OVL_SEND_RECV;
    }
    for (int i = 0; i < OVL_COLL_COUNT; i++) {
        if (strcmp(op, ovl_coll_keys[i]) == 0) {
            return i;
        }
    }
    return -1;
}

const char *ovl_cal_times_text(const ovl_cal_series *s, ovl_arena *arena)
{
    switch (s->times) {
    case OVL_CAL_IN_PLACE:
        return "in-place times";
    case OVL_CAL_OUT_OF_PLACE:
        return "out-of-place times";
    case OVL_CAL_NAMED:
        return ovl_arena_printf(arena, "times of the column \"%s\"", s->column);
    case OVL_CAL_MINIMUM:
        return "least duration over the ranks";
    case OVL_CAL_PARTIAL:
        return "least duration over the ranks that have a file, an upper bound";
    case OVL_CAL_ONE_RANK:
        break;
    }
    return "least duration seen by a rank, an upper bound";
}

ovl_time ovl_cal_ps(double ns)
{
    double ps = round(ns * 1e3);
    return ps >= (double)OVL_TIME_MAX ? OVL_TIME_MAX : ps <= 0 ? 0 : (ovl_time)ps;
}

/* --- Series --- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* `ranks`: of a series of so many (0: not told) only; -1: whatever their number. */
static ovl_cal_series *series_of(ovl_calibration *cal, const char *op, const char *group,
                                 const char *column, ovl_cal_times times, int64_t ranks)
{
    for (uint32_t i = 0; i < cal->series.len; i++) {
        ovl_cal_series *s = &cal->series.data[i];
        if (strcmp(s->op, op) == 0 && same_text(s->group, group) && same_text(s->column, column) &&
            s->times == times && (ranks < 0 || s->least_ranks == ranks)) {
            return s;
        }
    }
    ovl_cal_series fresh = {
        .op = op, .coll = coll_of(op), .group = group, .column = column, .times = times};
    ovl_vec_push(&cal->series, fresh);
    return &cal->series.data[cal->series.len - 1];
}

static void add_point(ovl_cal_series *s, uint32_t file, int64_t bytes, int64_t ns, uint64_t calls)
{
    bool known = false;
    for (uint32_t i = 0; i < s->files.len; i++) {
        known |= s->files.data[i] == file;
    }
    if (!known) {
        ovl_vec_push(&s->files, file);
    }
    if (bytes > 0 && ns > 0) {
        ovl_vec_push(&s->points, (ovl_fit_point){(uint64_t)bytes, (double)ns});
        s->calls += calls;
    }
}

static void add_ranks(ovl_cal_series *s, int64_t ranks)
{
    if (ranks > 0) {
        s->least_ranks = s->least_ranks ? OVL_MIN(s->least_ranks, ranks) : ranks;
        s->most_ranks = OVL_MAX(s->most_ranks, ranks);
    }
}

static const char *op_of(const ovl_calibration *cal, const ovl_inspect_row *row)
{
    const char *op = row->operation;
    if (!op && cal->wishes->op) {
        return cal->wishes->op;
    }
    return op ? ovl_comm_op_name((ovl_slice){op, strlen(op)}) : NULL;
}

/* Rows of nccl-tests and of CSV files. */
static void add_rows(ovl_calibration *cal, ovl_errs *errs)
{
    const ovl_cal_wishes *w = cal->wishes;
    const char *group = renamed(w->groups, w->n_groups, NULL, NULL);
    uint32_t complained = OVL_NONE;
    for (uint32_t i = 0; i < cal->in.rows.len; i++) {
        const ovl_inspect_row *r = &cal->in.rows.data[i];
        const char *op = op_of(cal, r);
        if (!op && complained != r->file) {
            ovl_error(errs, OVL_E_INPUT, (ovl_mark){cal->in.files.data[r->file].path, 0, 0},
                      "neither the file nor its name says which operation it measured; give it: "
                      "--op all_reduce");
            complained = r->file;
        }
        if (!op) {
            continue;
        }
        bool in_place = r->time[1] > 0 && (!w->out_of_place || r->time[0] <= 0);
        ovl_cal_times times = r->series  ? OVL_CAL_NAMED
                              : in_place ? OVL_CAL_IN_PLACE
                                         : OVL_CAL_OUT_OF_PLACE;
        int64_t ranks = r->n_ranks > 0 ? r->n_ranks : w->ranks;
        ovl_cal_series *s = series_of(cal, op, group, r->series, times, ranks);
        add_ranks(s, ranks);
        add_point(s, r->file, r->bytes, r->time[in_place], 1);
    }
}

/* The group of a trace as the profile names it. A stream by number is no name. */
static const char *group_of(const ovl_calibration *cal, const char *name)
{
    if (name && strncmp(name, "stream ", 7) == 0) {
        name = NULL;
    }
    return renamed(cal->wishes->groups, cal->wishes->n_groups, name, name);
}

static void add_matches(ovl_calibration *cal, bool partial)
{
    for (uint32_t i = 0; i < cal->in.matches.len; i++) {
        const ovl_inspect_match *m = &cal->in.matches.data[i];
        if (m->partial != partial) {
            continue;
        }
        if (m->bytes < 0) {
            cal->no_size++;
            continue;
        }
        ovl_cal_series *s = series_of(cal, m->op, group_of(cal, m->group), NULL,
                                      partial ? OVL_CAL_PARTIAL : OVL_CAL_MINIMUM, -1);
        int64_t ranks = 0;
        for (uint32_t p = 0; p < cal->in.parties.len; p++) {
            if (m->duration[p] >= 0) {
                ranks++;
                add_point(s, cal->in.parties.data[p].file, -1, -1, 0);
                s->calls++;
            }
        }
        add_ranks(s, m->ranks > 0 || partial ? m->ranks : ranks);
        s->here = OVL_MAX(s->here, ranks);
        add_point(s, cal->in.parties.data[m->last].file, m->bytes, m->transfer, 0);
    }
}

static void add_calls(ovl_calibration *cal)
{
    for (uint32_t i = 0; i < cal->in.collectives.len; i++) {
        const ovl_inspect_collective *c = &cal->in.collectives.data[i];
        if (c->bytes < 0) {
            cal->no_size += c->count;
            continue;
        }
        ovl_cal_series *s =
            series_of(cal, c->op, group_of(cal, c->group), NULL, OVL_CAL_ONE_RANK, -1);
        add_ranks(s, c->group_size);
        add_point(s, c->file, c->bytes, c->shortest, c->count);
    }
}

/* --- What cannot be identified --- */

#define NOTE(...) ovl_vec_push(&s->notes, ovl_arena_printf(&cal->arena, __VA_ARGS__))

static const char *size_text(const ovl_fit *fit, uint32_t index, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_bytes(buf, fit->sizes[index].bytes));
}

static void note_pair(ovl_calibration *cal, ovl_cal_series *s)
{
    const ovl_fit *f = &s->fit;
    if (f->n_sizes == 1) {
        NOTE("one size (%s) cannot separate alpha from beta: only the time at that size is known",
             size_text(f, 0, &cal->arena));
        return;
    }
    if (!ovl_fit_has_interval(f->pair.alpha) && !ovl_fit_has_interval(f->pair.slope)) {
        NOTE("nothing to tell an interval from is left by %s; 4 are the least",
             ovl_counted(&cal->arena, f->n_points, "measurement"));
    }
    if (ovl_fit_has_interval(f->pair.alpha) ? f->pair.alpha.low <= 0 : f->pair.alpha.value <= 0) {
        NOTE("alpha is not identified: its interval reaches 0, since sizes from %s on show little "
             "of "
             "what a call costs; measure smaller ones",
             size_text(f, 0, &cal->arena));
    }
    if (ovl_fit_has_interval(f->pair.slope) ? f->pair.slope.low <= 0 : f->pair.slope.value <= 0) {
        NOTE("beta is not identified: its interval has no upper end, since sizes up to %s show "
             "little of what a byte costs; measure larger ones",
             size_text(f, f->n_sizes - 1, &cal->arena));
    }
    if (f->n_sizes < OVL_FIT_FEW_SIZES) {
        NOTE("%" PRIu32 " sizes cannot show switches of protocol; only one pair was tried",
             f->n_sizes);
    }
    if (f->held.n == 0) {
        NOTE("2 sizes fix a pair; none is left to check it with");
    }
}

static void note_source(ovl_calibration *cal, ovl_cal_series *s)
{
    if (s->times == OVL_CAL_ONE_RANK) {
        NOTE("one rank cannot separate waiting for the others from the transfer: the least "
             "duration of each size is an upper bound; give the traces of all ranks");
    }
    if (s->times == OVL_CAL_PARTIAL) {
        const char *of = s->most_ranks
                             ? ovl_arena_printf(&cal->arena, " of %" PRId64, s->most_ranks)
                             : ", not all,";
        NOTE("%" PRId64 "%s ranks have a file: waiting for the others cannot be separated from the "
             "transfer, so it is an upper bound; give the traces of all ranks",
             s->here, of);
    }
    if (s->times >= OVL_CAL_MINIMUM) {
        NOTE("the name of a kernel is not the algorithm or protocol that ran; the fit is of "
             "whatever ran");
    }
    if (s->least_ranks != s->most_ranks) {
        NOTE("measured with %" PRId64 " to %" PRId64
             " ranks and fitted together: give the files of "
             "each number by themselves",
             s->least_ranks, s->most_ranks);
    }
    if (s->coll < 0) {
        NOTE("a hardware profile has no operation \"%s\"; it is reported and not written", s->op);
    }
}

static const char *about(const ovl_cal_series *s, ovl_arena *arena)
{
    const char *text = s->group ? ovl_arena_printf(arena, "%s in %s", s->op, s->group) : s->op;
    return s->times == OVL_CAL_NAMED
               ? ovl_arena_printf(arena, "%s (column \"%s\")", text, s->column)
               : text;
}

static void warn_pair(ovl_calibration *cal, const ovl_cal_series *s, ovl_errs *errs)
{
    const ovl_fit_errors *e = &s->fit.pair_held;
    if (e->n && e->p90 > WARN_FROM) {
        ovl_warning(errs, (ovl_mark){cal->files.data[s->files.data[0]].path, 0, 0},
                    "%s: one alpha and beta misses sizes it has not seen by %.1f %% in the median "
                    "and %.1f %% at the 90th percentile%s",
                    about(s, errs->arena), 100 * e->median, 100 * e->p90,
                    s->fit.chosen.kind == OVL_FIT_PAIR ? "" : "; the profile has a table instead");
    }
}

/* One entry of the profile for each operation and group: the first series. */
static bool first_of_entry(const ovl_calibration *cal, uint32_t index)
{
    const ovl_cal_series *s = &cal->series.data[index];
    for (uint32_t i = 0; i < index; i++) {
        const ovl_cal_series *t = &cal->series.data[i];
        if (t->written && t->coll == s->coll && same_text(t->group, s->group)) {
            return false;
        }
    }
    return s->coll >= 0 && s->points.len > 0;
}

/* --- Options that nothing answers --- */

static void refuse_option(ovl_errs *errs, const char *option, const char *value, const char *why)
{
    ovl_error(errs, OVL_E_USAGE, nowhere, "--%s \"%s\" %s", option, value, why);
}

/* Names that are looked for, and those that are there. */
typedef struct wanted {
    const char *option;
    const ovl_cal_rename *rules;
    uint32_t n;
    OVL_VEC(const char *) there;
} wanted;

static void note_name(wanted *w, const char *name)
{
    bool known = !name;
    for (uint32_t i = 0; i < w->there.len && !known; i++) {
        known = strcmp(w->there.data[i], name) == 0;
    }
    if (!known) {
        ovl_vec_push(&w->there, name);
    }
}

static void refuse_missing(wanted *w, ovl_errs *errs)
{
    const char *list = "";
    for (uint32_t i = 0; i < OVL_MIN(w->there.len, 8); i++) {
        list = ovl_arena_printf(errs->arena, "%s%s\"%s\"", list, i ? ", " : "", w->there.data[i]);
    }
    for (uint32_t i = 0; i < w->n; i++) {
        bool found = !w->rules[i].from;
        for (uint32_t k = 0; k < w->there.len && !found; k++) {
            found = strcmp(w->rules[i].from, w->there.data[k]) == 0;
        }
        if (!found) {
            const char *value =
                ovl_arena_printf(errs->arena, "%s=%s", w->rules[i].from, w->rules[i].to);
            refuse_option(errs, w->option, value,
                          *list ? ovl_arena_printf(errs->arena,
                                                   "has no effect: of the groups %s none is \"%s\"",
                                                   list, w->rules[i].from)
                                : "has no effect: the files name no groups");
        }
    }
    ovl_vec_free(&w->there);
}

/* Groups of the traces for --group; of the costs, as they will be named, for --via. */
static void check_names(const ovl_calibration *cal, ovl_errs *errs)
{
    const ovl_cal_wishes *w = cal->wishes;
    wanted groups = {.option = "group", .rules = w->groups, .n = w->n_groups};
    wanted via = {.option = "via", .rules = w->via, .n = w->n_via};
    for (uint32_t i = 0; i < cal->in.collectives.len; i++) {
        note_name(&groups, cal->in.collectives.data[i].group);
    }
    for (uint32_t i = 0; i < cal->in.matches.len; i++) {
        note_name(&groups, cal->in.matches.data[i].group);
    }
    for (uint32_t i = 0; i < cal->series.len; i++) {
        note_name(&via, cal->series.data[i].group);
    }
    refuse_missing(&groups, errs);
    refuse_missing(&via, errs);
}

/* "sweep.log", or of several runs in it "run 2 of sweep.log". */
static const char *place_of(const ovl_calibration *cal, const ovl_inspect_row *row,
                            ovl_arena *arena)
{
    const char *path = cal->in.files.data[row->file].path;
    for (uint32_t i = 0; i < cal->in.rows.len; i++) {
        const ovl_inspect_row *other = &cal->in.rows.data[i];
        if (other->file == row->file && other->run != row->run) {
            return ovl_arena_printf(arena, "run %" PRIu32 " of %s", row->run + 1, path);
        }
    }
    return path;
}

/* What a run says of itself must not be said otherwise. */
static void check_run(const ovl_calibration *cal, const ovl_inspect_row *row, ovl_errs *errs)
{
    const ovl_cal_wishes *w = cal->wishes;
    const char *op = row->operation
                         ? ovl_comm_op_name((ovl_slice){row->operation, strlen(row->operation)})
                         : NULL;
    if (w->op && op && strcmp(op, w->op) != 0) {
        refuse_option(errs, "op", w->op,
                      ovl_arena_printf(errs->arena, "contradicts %s, which measured %s",
                                       place_of(cal, row, errs->arena), op));
    }
    if (w->ranks > 0 && row->n_ranks > 0 && row->n_ranks != w->ranks) {
        refuse_option(errs, "ranks", ovl_arena_printf(errs->arena, "%" PRId64, w->ranks),
                      ovl_arena_printf(errs->arena, "contradicts %s, which says %s",
                                       place_of(cal, row, errs->arena),
                                       ovl_counted(errs->arena, (uint64_t)row->n_ranks, "rank")));
    }
}

static void check_tables(const ovl_calibration *cal, ovl_errs *errs)
{
    const ovl_cal_wishes *w = cal->wishes;
    char ranks[24];
    snprintf(ranks, sizeof ranks, "%" PRId64, w->ranks);
    for (uint32_t i = 0; i < cal->in.rows.len; i++) {
        const ovl_inspect_row *row = &cal->in.rows.data[i];
        if (i == 0 || row[-1].file != row->file || row[-1].run != row->run) {
            check_run(cal, row, errs);
        }
    }
    if (cal->in.rows.len == 0 && w->op) {
        refuse_option(errs, "op", w->op, "has no effect: no file is a table, and traces say it");
    }
    if (cal->in.rows.len == 0 && w->ranks > 0) {
        refuse_option(errs, "ranks", ranks, "has no effect: no file is a table, and traces say it");
    }
    if (cal->in.rows.len == 0 && w->out_of_place) {
        ovl_error(errs, OVL_E_USAGE, nowhere, "--out-of-place has no effect: no file is a table");
    }
    if (w->pattern && cal->in.rows.len && cal->in.devices.len == 0) {
        refuse_option(errs, "comm-pattern", w->pattern, "has no effect: no file is a trace");
    }
}

void ovl_calibrate_fit(ovl_calibration *cal, ovl_errs *errs)
{
    ovl_inspect_ranks(&cal->in, errs);
    check_tables(cal, errs);
    add_rows(cal, errs);
    if (cal->in.matches.len) {
        add_matches(cal, false); /* the profile takes the series that came first */
        add_matches(cal, true);
    } else {
        add_calls(cal);
    }
    check_names(cal, errs);
    if (cal->no_size) {
        ovl_warning(errs, nowhere, "%s without a message size in the file, which cannot be fitted",
                    ovl_counted(&cal->arena, cal->no_size, "collective"));
    }
    for (uint32_t i = 0; i < cal->series.len; i++) {
        ovl_cal_series *s = &cal->series.data[i];
        if (s->points.len == 0) {
            NOTE("no call takes any time");
            continue;
        }
        s->fit = ovl_fit_points(s->points.data, s->points.len, &cal->arena);
        s->written = first_of_entry(cal, i);
        note_pair(cal, s);
        note_source(cal, s);
        if (s->coll >= 0 && !s->written) {
            NOTE("the profile has the series above for this operation and group; this one is "
                 "reported only");
        }
        warn_pair(cal, s, errs);
    }
    if (cal->in.files.len && cal->series.len == 0 && errs->errors == 0) {
        ovl_error(errs, OVL_E_INPUT, nowhere, "nothing to fit: no transfer with a size and a time");
    }
}
