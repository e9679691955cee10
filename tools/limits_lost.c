/* What a result says of the time in which nothing advances at isolated speed, and who is to blame;
 * and of how much later communication may end. */
#include "tools/limits.h"

#include <stdlib.h>
#include <string.h>

/* --- Slack --- */

typedef OVL_VEC(ovl_slack_line) lines;

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int by_name(const void *a, const void *b)
{
    const ovl_result_collective *x = *(const ovl_result_collective *const *)a;
    const ovl_result_collective *y = *(const ovl_result_collective *const *)b;
    int order = strcmp(x->name, y->name);
    order = order ? order : strcmp(x->op, y->op);
    order = order ? order : strcmp(x->group ? x->group : "", y->group ? y->group : "");
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static int least_slack(const void *a, const void *b)
{
    const ovl_slack_line *x = a, *y = b;
    if (x->slack != y->slack) {
        return x->slack < y->slack ? -1 : 1;
    }
    if (x->exposed != y->exposed) {
        return x->exposed > y->exposed ? -1 : 1;
    }
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->op, y->op);
}

/* Rows sorted by name: those of a name become one line. */
static void add_row(lines *list, const ovl_result_collective *row, uint32_t *first_rank)
{
    ovl_slack_line *last = list->len ? &list->data[list->len - 1] : NULL;
    if (!list->len || strcmp(last->name, row->name) != 0 || strcmp(last->op, row->op) != 0 ||
        !same_text(last->group, row->group)) {
        ovl_vec_push(list, ((ovl_slack_line){row->name, row->op, row->group, 1, row->slack,
                                             row->exposed, row->on_critical_path}));
        *first_rank = row->rank;
        return;
    }
    last->n += row->rank == *first_rank;
    last->slack = OVL_MIN(last->slack, row->slack);
    last->exposed = OVL_MAX(last->exposed, row->exposed);
    last->on_path |= row->on_critical_path;
}

void ovl_limits_slack(const ovl_result *r, ovl_arena *arena, ovl_limits *limits)
{
    lines list = {0};
    uint32_t first_rank = 0;
    const ovl_result_collective **rows =
        OVL_NEW_ARRAY(arena, const ovl_result_collective *, r->n_collectives);
    for (uint32_t i = 0; i < r->n_collectives; i++) {
        rows[i] = &r->collectives[i];
    }
    if (r->n_collectives > 1) {
        qsort(rows, r->n_collectives, sizeof *rows, by_name);
    }
    for (uint32_t i = 0; i < r->n_collectives; i++) {
        add_row(&list, rows[i], &first_rank);
    }
    if (list.len > 1) {
        qsort(list.data, list.len, sizeof *list.data, least_slack);
    }
    limits->n_slack = list.len;
    limits->slack = ovl_vec_freeze(&list, arena);
}

/* --- Lost time --- */

typedef struct accuser {
    const ovl_result *r;
    ovl_arena *arena;
} accuser;

static bool is_communication(const ovl_result *r, const char *name)
{
    for (uint32_t i = 0; i < r->n_collectives; i++) {
        if (strcmp(r->collectives[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static const char *text_of(const accuser *a, ovl_time t)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(a->arena, ovl_print_time(buf, t));
}

static const char *bound_text(const char *bound)
{
    if (strcmp(bound, "SMs") == 0) {
        return "SMs that others hold";
    }
    return strcmp(bound, "measured factor") == 0 ? "a measured factor" : bound;
}

/* Limits come most lost first. */
static const char *slowed(const accuser *a, bool communication)
{
    const char *who = communication ? "communication" : "kernels";
    for (uint32_t i = 0; i < a->r->n_limits; i++) {
        const ovl_result_limit *l = &a->r->limits[i];
        if (l->lost > 0 && is_communication(a->r, l->op) == communication) {
            return ovl_arena_printf(a->arena,
                                    "%s below isolated speed: %s most, which loses %s to %s in all",
                                    who, l->op, text_of(a, l->lost), bound_text(l->bound));
        }
    }
    return ovl_arena_printf(a->arena, "%s below isolated speed", who);
}

/* The communication of the deciding rank that most of something is about. */
static const ovl_result_collective *worst(const ovl_result *r, bool waits)
{
    const ovl_result_collective *best = NULL;
    for (uint32_t i = 0; i < r->n_collectives; i++) {
        const ovl_result_collective *c = &r->collectives[i];
        ovl_time own = waits ? c->wait : c->exposed;
        if (c->rank == r->deciding_rank && own > 0 &&
            (!best || own > (waits ? best->wait : best->exposed))) {
            best = c;
        }
    }
    return best;
}

static const char *uncovered(const accuser *a, const char *phase)
{
    const ovl_result_collective *c = worst(a->r, false);
    if (!c) {
        return ovl_arena_printf(a->arena,
                                "communication %s with no kernel beside it, but nothing waited "
                                "for it",
                                phase);
    }
    return ovl_arena_printf(
        a->arena, "communication %s with no kernel beside it: %s most; %s waits %s for it", phase,
        c->name, c->consumer ? c->consumer : "the end of the step", text_of(a, c->exposed));
}

static const char *late(const accuser *a)
{
    const ovl_result_collective *c = worst(a->r, true);
    return c ? ovl_arena_printf(a->arena, "waits for ranks that arrive later: %s before %s",
                                text_of(a, c->wait), c->name)
             : "waits for ranks that arrive later";
}

static const ovl_result_rank *deciding_rank(const ovl_result *r)
{
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        if (r->ranks[i].rank == r->deciding_rank) {
            return &r->ranks[i];
        }
    }
    return NULL;
}

/* The idle classes cover all time without a kernel, so the largest of them is told. */
static const char *idle(const accuser *a)
{
    const ovl_result_rank *rank = deciding_rank(a->r);
    const char *text = NULL;
    int most = 0;
    for (int k = 1; rank && k < OVL_IDLE_COUNT; k++) {
        most = rank->idle[k] > rank->idle[most] ? k : most;
    }
    for (uint32_t i = 0; rank && i < rank->n_blames; i++) {
        text = (int)rank->blames[i].kind == most ? rank->blames[i].text : text;
    }
    if (!rank || rank->idle[most] == 0) {
        return "nothing runs";
    }
    return ovl_arena_printf(a->arena, "nothing runs; of all time without a kernel %s is %s%s%s",
                            text_of(a, rank->idle[most]), ovl_idle_name((ovl_idle_kind)most),
                            text ? ", the largest part of that: " : "", text ? text : "");
}

static const char *sentence(const accuser *a, ovl_term term)
{
    switch (term) {
    case OVL_COMPUTE_STRETCH:
        return slowed(a, false);
    case OVL_COMM_STRETCH:
        return slowed(a, true);
    case OVL_COMM_LATENCY:
        return uncovered(a, "in its latency");
    case OVL_COMM_TRANSFER:
        return uncovered(a, "moving bytes");
    case OVL_COPYING:
        return "copies with nothing else beside them";
    case OVL_WAIT_LATE_RANK:
        return late(a);
    case OVL_IDLE:
        return idle(a);
    case OVL_COMPUTE:
    case OVL_TERM_COUNT:
        break;
    }
    return "";
}

void ovl_limits_lost(const ovl_result *r, ovl_arena *arena, ovl_limits *limits)
{
    accuser a = {r, arena};
    ovl_lost *lost = OVL_NEW_ARRAY(arena, ovl_lost, OVL_TERM_COUNT);
    for (int k = OVL_COMPUTE + 1; k < OVL_TERM_COUNT; k++) {
        if (r->term[k] > 0) {
            lost[limits->n_lost++] = (ovl_lost){(ovl_term)k, r->term[k], sentence(&a, (ovl_term)k)};
        }
    }
    limits->lost = lost;
}
