#include "models/record_change.h"

#include "models/pattern.h"

#include <math.h>
#include <string.h>

void ovl_record_say(ovl_recorded *recorded, ovl_arena *arena, const char *sentence)
{
    uint32_t n = recorded->n_inferred;
    const char **list = OVL_NEW_ARRAY(arena, const char *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        list[i] = recorded->inferred[i];
    }
    list[n] = sentence;
    recorded->inferred = list;
    recorded->n_inferred = n + 1;
}

/* Names are looked up by their text alone in what is not changed: the table is shared. */
ovl_recorded *ovl_record_copy(const ovl_recorded *recorded, ovl_arena *arena)
{
    ovl_recorded *copy = OVL_NEW(arena, ovl_recorded);
    *copy = *recorded;
    copy->ranks = OVL_NEW_ARRAY(arena, ovl_rec_rank, recorded->n_ranks);
    for (uint32_t r = 0; r < recorded->n_ranks; r++) {
        const ovl_rec_rank *from = &recorded->ranks[r];
        copy->ranks[r] = *from;
        copy->ranks[r].ops = OVL_NEW_ARRAY(arena, ovl_rec_op, from->n_ops);
        if (from->n_ops) {
            memcpy(copy->ranks[r].ops, from->ops, from->n_ops * sizeof *from->ops);
        }
    }
    return copy;
}

static const char *text_of(const ovl_recorded *rec, ovl_id name)
{
    return ovl_names_text(&rec->names, name);
}

/* Rounded up to the next picosecond; what does not fit into time is as long as time goes. */
static ovl_time time_of(double t)
{
    const ovl_time most = OVL_TIME_MAX / 4;
    double up = ceil(t);
    return up < 0 ? 0 : up >= (double)most ? most : (ovl_time)up;
}

/* --- Kernels --- */

static uint32_t speed_up(ovl_recorded *rec, const regex_t *regex, double speedup)
{
    uint32_t n = 0;
    char *match = calloc(rec->names.count + 1, 1); /* 0: not looked at, 1: no, 2: yes */
    if (!match) {
        ovl_out_of_memory(rec->names.count);
    }
    for (uint32_t r = 0; r < rec->n_ranks; r++) {
        for (uint32_t i = 0; i < rec->ranks[r].n_ops; i++) {
            ovl_rec_op *op = &rec->ranks[r].ops[i];
            if ((op->kind != OVL_KERNEL && op->kind != OVL_COPY) || op->taken) {
                continue;
            }
            if (!match[op->full]) {
                bool yes = regexec(regex, text_of(rec, op->full), 0, NULL, 0) == 0;
                match[op->full] = yes ? 2 : 1;
            }
            if (match[op->full] == 2) {
                op->length = time_of((double)op->length / speedup);
                op->taken = true;
                n++;
            }
        }
    }
    free(match);
    return n;
}

/* `first`: nothing was changed by an entry before it. */
static bool change_kernels(ovl_recorded *rec, const ovl_change_kernel *k, bool first,
                           ovl_arena *arena, ovl_errs *errs)
{
    regex_t regex;
    ovl_pattern_again(&regex, k->name, false);
    uint32_t n = speed_up(rec, &regex, k->speedup);
    regfree(&regex);
    if (n == 0) {
        ovl_error(errs, OVL_E_INPUT, k->mark, "no kernel or copy of the step matches \"%s\"%s",
                  ovl_shown(k->name, errs->arena),
                  first ? "" : " that no earlier entry has changed");
        return false;
    }
    ovl_record_say(rec, arena,
                   ovl_arena_printf(
                       arena, "What if what matches \"%s\" (%s) took 1/%.6g of the time.",
                       ovl_shown(k->name, arena), ovl_counted(arena, n, "operation"), k->speedup));
    return true;
}

/* --- Links --- */

static bool is_of(const ovl_recorded *rec, const ovl_rec_op *op, ovl_id group, int coll)
{
    return op->kind == OVL_COLLECTIVE && !op->taken &&
           (coll == OVL_COLL_COUNT || op->coll == coll) &&
           (group == OVL_NONE || rec->groups[op->group].name == group);
}

/* Least squares, from means so that large numbers keep their digits. */
ovl_rec_line ovl_record_line(const ovl_recorded *rec, ovl_id group, int coll)
{
    ovl_rec_line line = {0, 0, 0, 0};
    double x = 0, y = 0, xx = 0, xy = 0;
    uint64_t first = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t r = 0; r < rec->n_ranks; r++) {
            for (uint32_t i = 0; i < rec->ranks[r].n_ops; i++) {
                const ovl_rec_op *op = &rec->ranks[r].ops[i];
                if (!is_of(rec, op, group, coll) || op->bytes == 0) {
                    continue;
                }
                if (pass == 0) {
                    line.sizes = line.n == 0 ? 1 : op->bytes != first ? 2 : line.sizes;
                    first = line.n == 0 ? op->bytes : first;
                    line.n++;
                    x += (double)op->bytes;
                    y += (double)op->length;
                } else {
                    double dx = (double)op->bytes - x / line.n,
                           dy = (double)op->length - y / line.n;
                    xx += dx * dx;
                    xy += dx * dy;
                }
            }
        }
    }
    if (line.n && line.sizes > 1 && xy > 0) {
        line.slope = xy / xx;
        line.alpha = OVL_MAX((y - line.slope * x) / line.n, 0);
    } else if (line.n && x > 0) {
        line.slope = y / x;
    }
    return line;
}

static ovl_id group_named(const ovl_recorded *rec, const char *name)
{
    for (uint32_t i = 0; i < rec->n_groups; i++) {
        if (strcmp(text_of(rec, rec->groups[i].name), name) == 0) {
            return rec->groups[i].name;
        }
    }
    return OVL_NONE;
}

static bool unknown_group(const ovl_recorded *rec, const char *name, ovl_mark mark, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    const char **names = OVL_NEW_ARRAY(&scratch, const char *, rec->n_groups);
    for (uint32_t i = 0; i < rec->n_groups; i++) {
        names[i] = text_of(rec, rec->groups[i].name);
    }
    const char *near = ovl_nearest(name, names, rec->n_groups);
    near = near || !rec->n_groups ? near : names[0];
    ovl_error(errs, OVL_E_INPUT, mark, "the step has no collective of a group \"%s\"%s%s%s",
              ovl_shown(name, errs->arena), near ? "; it has \"" : "", near ? near : "",
              near ? "\"" : "");
    ovl_arena_free(&scratch);
    return false;
}

/* "the step has no all_gather; it has all_reduce, broadcast" */
static bool no_collective(const ovl_recorded *rec, const ovl_change_link *link, bool first,
                          ovl_errs *errs)
{
    bool has[OVL_COLL_COUNT] = {false};
    const char *list = "";
    for (uint32_t r = 0; r < rec->n_ranks; r++) {
        for (uint32_t i = 0; i < rec->ranks[r].n_ops; i++) {
            const ovl_rec_op *op = &rec->ranks[r].ops[i];
            has[op->coll] |= (op->kind == OVL_COLLECTIVE || op->kind == OVL_SEND) && !op->taken;
        }
    }
    for (int coll = 0; coll < OVL_COLL_COUNT; coll++) {
        if (has[coll]) {
            list = ovl_arena_printf(errs->arena, "%s%s %s", list, *list ? "," : "; it has",
                                    ovl_coll_name((ovl_coll)coll));
        }
    }
    ovl_error(errs, OVL_E_INPUT, link->mark, "the step has no %s%s%s%s%s",
              link->op == OVL_COLL_COUNT ? "communication" : ovl_coll_name((ovl_coll)link->op),
              link->group ? " in " : "", link->group ? link->group : "",
              first ? "" : " that no earlier entry has changed", list);
    return false;
}

static ovl_time over_link(const ovl_change_link *link, const ovl_rec_op *op, double fitted)
{
    double alpha = link->has_alpha ? (double)link->alpha
                   : op->latency   ? (double)op->latency
                                   : fitted;
    alpha = OVL_MIN(alpha, (double)op->length);
    return time_of(alpha * link->latency) + time_of(((double)op->length - alpha) / link->bandwidth);
}

static bool over_this(const ovl_rec_op *op, const ovl_recorded *rec, const ovl_change_link *link,
                      ovl_id group)
{
    bool send = op->kind == OVL_SEND && !op->taken && !link->group &&
                (link->op == OVL_COLL_COUNT || link->op == OVL_SEND_RECV);
    return send || is_of(rec, op, group, link->op);
}

/* The shortest of what the link carries; NULL: nothing. */
static const ovl_rec_op *shortest(const ovl_recorded *rec, const ovl_change_link *link,
                                  ovl_id group)
{
    const ovl_rec_op *least = NULL;
    for (uint32_t r = 0; r < rec->n_ranks; r++) {
        for (uint32_t i = 0; i < rec->ranks[r].n_ops; i++) {
            const ovl_rec_op *op = &rec->ranks[r].ops[i];
            if (over_this(op, rec, link, group) && (!least || op->length < least->length)) {
                least = op;
            }
        }
    }
    return least;
}

static bool alpha_too_long(const ovl_recorded *rec, const ovl_change_link *link,
                           const ovl_rec_op *least, ovl_errs *errs)
{
    char alpha[OVL_UNITS_TEXT], length[OVL_UNITS_TEXT];
    ovl_error(errs, OVL_E_INPUT, link->mark, "alpha is %s, but \"%s\" took only %s",
              ovl_print_time(alpha, link->alpha), ovl_shown(text_of(rec, least->name), errs->arena),
              ovl_print_time(length, least->length));
    return false;
}

/* What was done to how many, where alpha comes from, and what that is worth. */
static void say_link(ovl_recorded *rec, const ovl_change_link *link, const ovl_rec_line *line,
                     uint32_t n, double used, bool alone, ovl_arena *arena)
{
    char alpha[OVL_UNITS_TEXT], cut[OVL_UNITS_TEXT];
    bool capped = !link->has_alpha && line->sizes > 1 && used < line->alpha;
    const char *how = link->has_alpha   ? ""
                      : line->sizes > 1 ? ", from a line through bytes and times"
                      : line->n         ? ", since one size cannot tell it"
                                        : ", since no size is known";
    ovl_print_time(alpha, (ovl_time)used / OVL_NS * OVL_NS);
    if (capped) {
        ovl_print_time(cut, (ovl_time)line->alpha / OVL_NS * OVL_NS);
        how = ovl_arena_printf(arena,
                               ", the shortest of them: the line through bytes and times says %s, "
                               "which does not fit, so the split is a guess",
                               cut);
    }
    const char *holds = !alone   ? ""
                        : capped ? " They hold the waiting for ranks that are not there, which is "
                                   "scaled as well."
                                 : " They hold the waiting for ranks that are not there, which is "
                                   "scaled as well: an upper bound.";
    ovl_record_say(rec, arena,
                   ovl_arena_printf(arena,
                                    "What if %" PRIu32
                                    " operations had %.6g times the bandwidth and %.6g times the "
                                    "latency; alpha is %s%s.%s",
                                    n, link->bandwidth, link->latency, alpha, how, holds));
}

/* Without a stated alpha, latency is where the line through bytes and times meets 0 bytes. One size
 * has no line, one that meets it below 0 no latency, and where startup alone takes longer than a
 * whole transfer did, another latency would only scale durations. */
static bool latency_unknown(const ovl_recorded *rec, const ovl_change_link *link,
                            const ovl_rec_op *least, const ovl_rec_line *line, ovl_errs *errs)
{
    char says[OVL_UNITS_TEXT], length[OVL_UNITS_TEXT];
    const char *why =
        line->n == 0       ? "no size of them is known"
        : line->sizes <= 1 ? "all that are seen have one size, which does not tell latency from "
                             "transfer"
        : line->alpha <= 0
            ? "the line through bytes and times meets 0 bytes at 0 s"
            : ovl_arena_printf(errs->arena,
                               "the line through bytes and times says that %s do not depend on "
                               "bytes, but \"%s\" took only %s, so the trace does not tell "
                               "latency from transfer",
                               ovl_print_time(says, (ovl_time)line->alpha / OVL_NS * OVL_NS),
                               ovl_shown(text_of(rec, least->name), errs->arena),
                               ovl_print_time(length, least->length));
    ovl_error(errs, OVL_E_INPUT, link->mark, "`latency` needs `alpha`: %s; state alpha", why);
    return false;
}

/* `first`: nothing was changed by an entry before it. */
static bool change_link(ovl_recorded *rec, const ovl_change_link *link, bool first,
                        ovl_arena *arena, ovl_errs *errs)
{
    ovl_id group = link->group ? group_named(rec, link->group) : OVL_NONE;
    uint32_t n = 0, alone = 0;
    if (link->group && group == OVL_NONE) {
        return unknown_group(rec, link->group, link->mark, errs);
    }
    const ovl_rec_op *least = shortest(rec, link, group);
    if (!least) {
        return no_collective(rec, link, first, errs);
    }
    if (link->has_alpha && link->alpha > least->length) {
        return alpha_too_long(rec, link, least, errs);
    }
    ovl_rec_line line = ovl_record_line(rec, group, link->op);
    double fitted = line.sizes > 1 ? OVL_MIN(line.alpha, (double)least->length) : 0;
    if (link->latency != 1 && !link->has_alpha && !least->latency &&
        (fitted < line.alpha || fitted <= 0)) {
        return latency_unknown(rec, link, least, &line, errs);
    }
    for (uint32_t r = 0; r < rec->n_ranks; r++) {
        for (uint32_t i = 0; i < rec->ranks[r].n_ops; i++) {
            ovl_rec_op *op = &rec->ranks[r].ops[i];
            if (over_this(op, rec, link, group)) {
                ovl_time latency = time_of((double)op->latency * link->latency);
                op->length = over_link(link, op, fitted);
                op->latency = OVL_MIN(latency, op->length);
                op->taken = true;
                alone += op->alone;
                n++;
            }
        }
    }
    say_link(rec, link, &line, n, link->has_alpha ? (double)link->alpha : fitted, alone > 0, arena);
    return true;
}

/* --- Waiting --- */

/* Each rank gets a communicator of its own in place of a matched one. */
static bool drop_waiting(ovl_recorded *rec, ovl_mark mark, ovl_arena *arena, ovl_errs *errs)
{
    uint32_t n = 0, matched = 0;
    for (uint32_t i = 0; i < rec->n_groups; i++) {
        n += rec->groups[i].n_ranks;
        matched += rec->groups[i].n_ranks > 1;
    }
    if (matched == 0) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "waiting cannot be told from transfer: no collective is seen on several ranks");
        return false;
    }
    ovl_rec_group *groups = OVL_NEW_ARRAY(arena, ovl_rec_group, n);
    uint32_t *first = OVL_NEW_ARRAY(arena, uint32_t, rec->n_groups), at = 0;
    for (uint32_t i = 0; i < rec->n_groups; i++) {
        const ovl_rec_group *g = &rec->groups[i];
        first[i] = at;
        for (uint32_t k = 0; k < g->n_ranks; k++) {
            groups[at++] = (ovl_rec_group){g->name, &g->ranks[k], 1, g->size};
        }
    }
    for (uint32_t r = 0; r < rec->n_ranks; r++) {
        for (uint32_t i = 0; i < rec->ranks[r].n_ops; i++) {
            ovl_rec_op *op = &rec->ranks[r].ops[i];
            if (op->group == OVL_NONE) {
                continue;
            }
            if (op->kind != OVL_COLLECTIVE) {
                ovl_error(errs, OVL_E_INPUT, mark,
                          "sends and receives wait for each other by what they are: waiting can "
                          "only be left out of collectives");
                return false;
            }
            const ovl_rec_group *g = &rec->groups[op->group];
            uint32_t k = 0;
            while (g->ranks[k] != r) {
                k++;
            }
            op->group = first[op->group] + k;
            op->peer = 0;
        }
    }
    rec->groups = groups;
    rec->n_groups = n;
    ovl_record_say(rec, arena, "What if no collective waited for another rank.");
    return true;
}

bool ovl_record_changes(const ovl_change_keys *what_if)
{
    return what_if->bucket_cap || what_if->kernels.count || what_if->links.count ||
           !what_if->waiting;
}

bool ovl_record_change(ovl_recorded *rec, const ovl_change_keys *what_if, ovl_arena *arena,
                       ovl_errs *errs)
{
    bool good = true;
    rec->changed = ovl_record_changes(what_if);
    if (!what_if->bucket_cap &&
        (what_if->has_first_bucket_cap || what_if->bucket_group || what_if->gradients.count)) {
        ovl_error(errs, OVL_E_INPUT, what_if->mark, "%s needs bucket_cap",
                  what_if->has_first_bucket_cap ? "first_bucket_cap"
                  : what_if->bucket_group       ? "bucket_group"
                                                : "gradients");
        good = false;
    }
    if (what_if->bucket_cap) {
        good = ovl_record_rebucket(rec, what_if, arena, errs);
    }
    for (uint32_t i = 0; i < what_if->kernels.count; i++) {
        const ovl_change_kernel *kernel = OVL_ITEM(what_if->kernels, ovl_change_kernel, i);
        good = change_kernels(rec, kernel, i == 0, arena, errs) && good;
    }
    for (uint32_t i = 0; i < what_if->links.count; i++) {
        const ovl_change_link *link = OVL_ITEM(what_if->links, ovl_change_link, i);
        good = change_link(rec, link, i == 0, arena, errs) && good;
    }
    if (!what_if->waiting) {
        good = drop_waiting(rec, what_if->mark, arena, errs) && good;
    }
    return good;
}
