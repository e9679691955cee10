#include "models/comm_parts.h"
#include "models/effective.h"
#include "models/nccl.h"
#include "models/rails.h"
#include "models/wires.h"

#include <math.h>

#include <string.h>

typedef ovl_comm_draft comm;

static const ovl_plan_cost no_cost = {.id = OVL_NONE};

static const char *entries_there_are(ovl_lowering *l)
{
    static const char *const on_nodes[] = {"", " on one node", " on several nodes"};
    const char *text = "";
    for (uint32_t i = 0; i < l->hw->n_collectives && i < 8; i++) {
        const ovl_hw_collective *e = &l->hw->collectives[i];
        text = ovl_arena_printf(l->errs->arena, "%s%s%s in %s%s", text, i ? ", " : "",
                                ovl_coll_name((ovl_coll)e->op), e->group ? e->group : "any group",
                                on_nodes[e->nodes]);
    }
    return *text ? ovl_arena_printf(l->errs->arena, "; the hardware has %s", text)
                 : "; the hardware has none";
}

/* The error told at this place for this reason, about a communication of another name; else NULL.
 */
static const char *told(const ovl_errs *errs, ovl_mark mark, const char *reason)
{
    size_t n = strlen(reason);
    for (uint32_t i = 0; i < errs->count; i++) {
        const ovl_err *e = &errs->items[i];
        size_t length = strlen(e->text);
        if (e->mark.file == mark.file && e->mark.line == mark.line &&
            e->mark.column == mark.column && length > n &&
            strcmp(e->text + length - n, reason) == 0) {
            return e->text;
        }
    }
    return NULL;
}

/* Buckets of one plan lack the same entry: the first is named. */
static void no_entry(ovl_lowering *l, const ovl_comm_spec *spec)
{
    const char *reason = ovl_arena_printf(
        l->errs->arena,
        "has no cost: give it a duration or alpha and beta, or the hardware an entry in "
        "`collectives` for {op: %s, group: %s}%s",
        ovl_coll_name(spec->op), spec->group ? spec->group : "any", entries_there_are(l));
    const char *text = told(l->errs, spec->mark, reason);
    text = text ? text : ovl_arena_printf(l->errs->arena, "\"%s\" %s", spec->name, reason);
    ovl_error(l->errs, OVL_E_INPUT, spec->mark, "%s", text);
}

static bool has_own_time(const ovl_comm_spec *spec)
{
    return spec->duration.count || spec->has_alpha || spec->has_beta;
}

static comm find_comm(ovl_lowering *l, const ovl_comm_spec *spec)
{
    comm c = {.spec = spec};
    c.spread = spec->spread ? *spec->spread : ovl_spread_apart(spec->n);
    c.entry = ovl_find_collective(l->hw, spec->op, spec->group, &c.spread);
    c.via = ovl_wires_via(l, spec->via.count || !c.entry ? &spec->via : &c.entry->via);
    c.algorithm = c.entry && !has_own_time(spec) ? c.entry->algorithm : OVL_ALGO_NONE;
    c.has_hbm_factor = spec->has_hbm_factor || (c.entry && c.entry->hbm_factor > 0);
    c.hbm_factor = spec->has_hbm_factor ? spec->hbm_factor : c.entry ? c.entry->hbm_factor : 0;
    c.has_sms = spec->has_sms || (c.entry && c.entry->has_sms);
    c.sms = spec->has_sms ? spec->sms : c.has_sms ? c.entry->sms : 0;
    return c;
}

/* SMs it holds: as stated of the operation or of the entry, else NCCL's channels. */
static bool comm_sms(ovl_lowering *l, const comm *c, const ovl_comm_time *time, ovl_cost_kind *kind)
{
    const ovl_comm_spec *spec = c->spec;
    int64_t sms = c->has_sms ? c->sms : time->channels, all = ovl_least_sms(l, spec->spread);
    if (all > 0 && sms >= all) {
        ovl_error(l->errs, OVL_E_INPUT, spec->mark,
                  "\"%s\" holds %" PRId64 " SMs of a GPU of %" PRId64
                  ": nothing would be left for kernels",
                  spec->name, sms, all);
        return false;
    }
    kind->sms = (uint32_t)OVL_MIN(sms, UINT32_MAX);
    l->holds_sms |= sms > 0;
    return true;
}

/* A formula counts what crosses the links it is given: nothing, if all members lie on one side. */
static void say_if_free(ovl_lowering *l, const comm *c, const ovl_draft *d)
{
    if (c->algorithm != OVL_ALGO_NONE && c->spec->bytes > 0 && d->n_later == 0 &&
        d->cost.latency + d->cost.work == 0) {
        const char *links = "";
        for (uint32_t i = 0; i < c->via->count; i++) {
            links = ovl_arena_printf(l->arena, "%s%s%s", links, i ? ", " : "", c->via->item[i]);
        }
        const char *text = ovl_arena_printf(
            l->arena,
            "The time of %s in %s is not modelled: between its ranks it crosses none of the links "
            "that it goes via (%s).",
            ovl_coll_name(c->spec->op), c->spec->group ? c->spec->group : "any group", links);
        uint32_t said = l->said.len;
        ovl_plan_say(l, text);
        if (l->said.len > said) {
            ovl_warning(l->errs, c->spec->mark,
                        "\"%s\" takes no time: between its ranks %s crosses none of the links that "
                        "it goes via (%s); add to `via` the link between them",
                        c->spec->name, ovl_coll_name(c->spec->op), links);
        }
    }
}

/* The phases of a hierarchical collective inside a node, where `via` names no link in it. */
static void say_free_phases(ovl_lowering *l, const comm *c, const ovl_comm_time *time)
{
    const ovl_spread *spread = &c->spread;
    bool inside = c->algorithm == OVL_ALGO_HIERARCHICAL && spread->nodes > 1 &&
                  spread->members > spread->nodes && c->spec->bytes > 0;
    for (uint32_t i = 0; i < time->n_phases; i++) {
        inside = inside && !(time->phases[i].level == OVL_LEVEL_INSIDE &&
                             time->phases[i].latency + time->phases[i].transfer > 0);
    }
    if (inside) {
        ovl_plan_say(
            l, ovl_arena_printf(l->arena,
                                "The phases of %s in %s inside a node are not modelled: they cross "
                                "none of the links that it goes via; add to `via` the link between "
                                "the GPUs of a node.",
                                ovl_coll_name(c->spec->op),
                                c->spec->group ? c->spec->group : "any group"));
    }
}

/* In the node and then across: who meets whom in a phase is known, but not to its steps. */
static void say_phases(ovl_lowering *l, const comm *c, const ovl_draft *d)
{
    if (d->n_later && l->scenario->expand >= (int64_t)c->spread.members) {
        ovl_plan_say(l, "Expanded, each phase of a hierarchical collective goes round one ring of "
                        "all its members, with what that phase loads.");
    }
}

static void comm_notes(ovl_lowering *l, const comm *c, const ovl_draft *d)
{
    if (c->spec->n < 2) {
        return;
    }
    const char *name = ovl_coll_name(c->spec->op);
    say_if_free(l, c, d);
    say_phases(l, c, d);
    if (!c->spec->has_bytes) {
        ovl_plan_note(l, OVL_NOTE_COMM_BYTES, c->spec->name);
        return;
    }
    if (c->via->count == 0) {
        ovl_plan_note(l, OVL_NOTE_COMM_VIA, name);
    }
    if (!c->has_hbm_factor) {
        ovl_plan_note(l, OVL_NOTE_COMM_HBM, name);
    }
    if (d->kind.sms == 0 && !c->has_sms) {
        ovl_plan_note(l, OVL_NOTE_COMM_SMS, name);
    }
}

static const char *comm_klass(const comm *c)
{
    if (c->spec->klass) {
        return c->spec->klass;
    }
    return c->entry && c->entry->klass ? c->entry->klass : ovl_coll_name(c->spec->op);
}

static int crossing_of(int algorithm, const ovl_comm_time *time)
{
    static const int chosen[OVL_NCCL_ALGOS] = {
        [OVL_NCCL_TREE] = OVL_ALGO_DOUBLE_TREE,
        [OVL_NCCL_RING] = OVL_ALGO_RING,
        [OVL_NCCL_COLLNET_DIRECT] = OVL_ALGO_COLLNET,
        [OVL_NCCL_COLLNET_CHAIN] = OVL_ALGO_COLLNET,
        [OVL_NCCL_NVLS] = OVL_ALGO_NVLS,
        [OVL_NCCL_NVLS_TREE] = OVL_ALGO_NVLS_TREE,
        [OVL_NCCL_PAT] = OVL_ALGO_RING,
    };
    return time->nccl ? chosen[time->algo] : algorithm;
}

static bool draft_comm(ovl_lowering *l, const comm *found, ovl_comm_time time, ovl_draft *d)
{
    comm own = *found, *c = &own;
    if (found->entry) {
        own.spread =
            ovl_formula_spread(l->hw, found->algorithm, &found->entry->via, &found->spread);
    }
    own.algorithm = crossing_of(found->algorithm, &time);
    d->kind = (ovl_cost_kind){.weight = 1};
    d->kind.law = ovl_draft_law(l, c->spec->duration);
    d->kind.klass = ovl_draft_klass(l, false, comm_klass(c));
    bool ok = comm_sms(l, c, &time, &d->kind);
    ok = ovl_comm_demands(l, c, &time, d) && ok;
    comm_notes(l, c, d);
    say_free_phases(l, c, &time);
    return ok;
}

static bool same_group(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Each choice once; equal sizes come in a row, so the last ones are looked at first. */
static void say_choice(ovl_lowering *l, const comm *c, const ovl_comm_time *time)
{
    const ovl_comm_spec *spec = c->spec;
    for (uint32_t i = l->nccl.len; i-- > 0;) {
        const ovl_nccl_line *line = &l->nccl.data[i];
        if (line->bytes == spec->bytes && line->op == spec->op &&
            line->members == c->spread.members && line->nodes == c->spread.nodes &&
            same_group(line->group, spec->group)) {
            return;
        }
    }
    if (l->nccl.len < OVL_NCCL_LINES) {
        ovl_nccl_line line = {spec->group,       spec->op,        spec->bytes,
                              c->spread.members, c->spread.nodes, *time};
        ovl_vec_push(&l->nccl, line);
    }
}

/* Which cost: "all_reduce in dp". */
static const char *entry_text(ovl_lowering *l, const ovl_hw_collective *entry)
{
    const char *op = ovl_coll_name((ovl_coll)entry->op);
    return entry->group ? ovl_arena_printf(l->arena, "%s in %s", op, entry->group) : op;
}

/* A measured cost that is used where it was not measured. Tables say so themselves. */
static void note_unmeasured(ovl_lowering *l, const ovl_comm_spec *spec,
                            const ovl_hw_collective *entry)
{
    const ovl_hw_measured *m = &entry->measured;
    char from[OVL_UNITS_TEXT], to[OVL_UNITS_TEXT];
    bool above = m->to_bytes && spec->bytes > m->to_bytes, below = spec->bytes < m->from_bytes;
    if (!entry->has_measured || entry->algorithm != OVL_ALGO_NONE) {
        return;
    }
    if ((above || below) && entry->n_table == 0) {
        ovl_plan_note(l, OVL_NOTE_SIZES,
                      ovl_arena_printf(l->arena, "%s (%s; measured from %s to %s)",
                                       entry_text(l, entry), above ? "above" : "below",
                                       ovl_print_bytes(from, m->from_bytes),
                                       ovl_print_bytes(to, m->to_bytes)));
    }
    if (m->ranks && m->ranks != spec->n && spec->op != OVL_SEND_RECV) {
        ovl_plan_note(l, OVL_NOTE_RANKS,
                      ovl_arena_printf(l->arena, "%s (%" PRIu32 ", measured with %" PRId64 ")",
                                       entry_text(l, entry), spec->n, m->ranks));
    }
}

/* alpha and beta of the operation itself, or the hardware's entry. */
static bool comm_time(ovl_lowering *l, const comm *c, ovl_comm_time *time)
{
    const ovl_comm_spec *spec = c->spec;
    ovl_hw_collective own = {.has_alpha = spec->has_alpha,
                             .has_beta = spec->has_beta,
                             .alpha = spec->alpha,
                             .beta = spec->beta};
    const ovl_hw_collective *entry = spec->has_alpha || spec->has_beta ? &own : c->entry;
    if (spec->n < 2 && entry != &own) {
        *time = (ovl_comm_time){0};
        return true;
    }
    if (!entry) {
        no_entry(l, spec);
        return false;
    }
    if (!spec->has_bytes && (entry != &own || spec->has_beta)) {
        ovl_error(l->errs, OVL_E_INPUT, spec->mark, "\"%s\" has no bytes and no duration",
                  spec->name);
        return false;
    }
    bool extrapolated = false;
    bool ok = ovl_collective_time(l->hw, entry, spec->op, spec->bytes, &c->spread, spec->name,
                                  spec->mark, time, &extrapolated, l->errs);
    if (extrapolated) {
        ovl_plan_note(l, OVL_NOTE_EXTRAPOLATED, ovl_coll_name(spec->op));
    }
    if (ok && entry == c->entry) {
        note_unmeasured(l, spec, entry);
    }
    if (ok && time->nccl) {
        say_choice(l, c, time);
    } else if (ok && entry == c->entry && entry->algorithm == OVL_ALGO_NONE) {
        ovl_say_effective(l, spec, entry, &c->spread, time);
    }
    return ok;
}

static ovl_plan_cost comm_times(ovl_lowering *l, const comm *c, ovl_times times)
{
    ovl_id first = l->b->costs.len;
    if (!ovl_draft_check_times(l, c->spec->name, c->spec->mark, times)) {
        return no_cost;
    }
    for (uint32_t i = 0; i < times.count; i++) {
        ovl_draft d;
        if (!draft_comm(l, c, (ovl_comm_time){.transfer = times.item[i]}, &d)) {
            return no_cost;
        }
        ovl_draft_append(l, &d);
    }
    return ovl_draft_store(l, first);
}

/* --- Members that have not the same bytes: a cost for each rank --- */

/* What each rank's instances of the links in `via` carry. */
typedef struct ways {
    ovl_arena arena;
    ovl_uneven even;
    ovl_rails rails;    /* of PXN */
    ovl_uneven_way own; /* what each sends and gets where pairs are told apart, what it passes on
                           included; else NULL */
    const ovl_group *group;
    ovl_uneven_way way[OVL_COMM_VIA];
    uint16_t port[OVL_COMM_VIA];
    uint32_t n;
} ways;

static bool is_rooted(ovl_coll op)
{
    return op == OVL_BROADCAST || op == OVL_REDUCE;
}

static ovl_uneven_way way_over(ovl_lowering *l, const comm *c, ways *w, uint32_t link)
{
    const ovl_comm_spec *spec = c->spec;
    const ovl_rooted how = {(uint32_t)spec->root, c->algorithm == OVL_ALGO_TREE,
                            spec->op == OVL_REDUCE};
    if (l->hw->links[link].wire && !w->even.pairs && !w->even.pxn) {
        return ovl_wires_uneven(l, w->group, link, spec->bytes, &w->even, &w->arena);
    }
    return is_rooted(spec->op)
               ? ovl_rooted_crossing(l, w->group, link, spec->bytes, &how, &w->arena)
               : ovl_uneven_crossing(l, w->group, link, spec->bytes, &w->even, &w->arena);
}

/* A link that says what rails are, where the operation goes by them with PXN; else NULL. */
static const ovl_hw_link *pxn_rails(const ovl_lowering *l, const comm *c)
{
    bool asked = c->entry && c->entry->pxn && c->spec->op == OVL_ALL_TO_ALL;
    for (uint32_t i = 0; asked && c->spread.nodes > 1 && i < l->hw->n_links; i++) {
        const ovl_hw_link *link = &l->hw->links[i];
        for (uint32_t k = 0; ovl_link_on_rails(link) && k < c->via->count; k++) {
            if (strcmp(link->name, c->via->item[k]) == 0) {
                return link;
            }
        }
    }
    return NULL;
}

static bool check_pairs(ovl_lowering *l, const ovl_comm_spec *spec)
{
    if (spec->n > OVL_ROWS_MAX) {
        ovl_error(l->errs, OVL_E_INPUT, spec->mark,
                  "\"%s\" goes by pxn among %" PRIu32 " members; it is modelled for at most %d",
                  spec->name, spec->n, OVL_ROWS_MAX);
    }
    return spec->n <= OVL_ROWS_MAX;
}

static bool find_ways(ovl_lowering *l, const comm *c, ways *w)
{
    const ovl_comm_spec *spec = c->spec;
    const ovl_hw_link *rails = pxn_rails(l, c);
    w->even = (ovl_uneven){spec->sends, spec->receives, spec->pairs, NULL};
    w->group = ovl_plan_group(l, spec->group, spec->mark);
    if (!w->group || !ovl_comm_check_via(l, c) || (rails && !check_pairs(l, spec))) {
        return false;
    }
    if (rails) {
        w->rails = ovl_rails_of(l, rails);
        w->even.pxn = &w->rails;
    }
    if (rails || spec->pairs) {
        w->own = ovl_uneven_crossing(l, w->group, OVL_NONE, spec->bytes, &w->even, &w->arena);
    }
    for (uint32_t i = 0; i < c->via->count; i++) {
        uint16_t port = ovl_comm_port(l, spec, c->via->item[i]);
        if (port == 0) {
            return false;
        }
        if (l->hw->links[port / 2].wire && is_rooted(spec->op)) {
            ovl_error(l->errs, OVL_E_INPUT, spec->mark,
                      "\"%s\": how a %s crosses a mesh of wires is not modelled; leave the mesh "
                      "out of its `via`",
                      spec->name, ovl_coll_name(spec->op));
            return false;
        }
        if (!ovl_comm_listed_before(c->via, i)) {
            w->port[w->n] = port;
            w->way[w->n++] = way_over(l, c, w, port / 2);
        }
    }
    return true;
}

/* What all members of a communicator have in common. */
typedef struct together {
    bool known;
    ovl_time transfer;
    uint64_t principal; /* bytes/s over the busiest instance of the first link, of what it has */
} together;

/* One that would take more than there is counts as taking all of it, for its weight, too. */
static uint64_t principal_rate(const ovl_lowering *l, const ways *w, const uint32_t *member,
                               uint32_t n, ovl_time transfer)
{
    double seconds = (double)transfer / 1e12;
    uint64_t most = 0;
    for (uint32_t k = 0; k < n && w->n > 0 && transfer > 0; k++) {
        double bytes = OVL_MAX(w->way[0].out[member[k]], w->way[0].in[member[k]]);
        const ovl_hw_link *link = &ovl_hw_of_rank(l, member[k])->links[w->port[0] / 2];
        most = OVL_MAX(most, OVL_MIN(ovl_comm_rate(bytes / seconds), link->bandwidth));
    }
    return most;
}

/* A formula takes as long as the slowest instance that a member uses; other costs of an all-to-all
 * as much longer as the busiest member is busier. */
static together find_together(ovl_lowering *l, const comm *c, const ways *w, ovl_id id,
                              ovl_time even)
{
    const ovl_comm *of = &l->b->comms.data[id];
    const uint32_t *member = &l->b->members.data[of->first_member];
    together t = {.known = true, .transfer = even};
    double longest = 0;
    for (uint32_t k = 0; k < of->n_members; k++) {
        for (uint32_t i = 0; i < w->n; i++) {
            double bytes = OVL_MAX(w->way[i].out[member[k]], w->way[i].in[member[k]]);
            const ovl_hw_link *link = &ovl_hw_of_rank(l, member[k])->links[w->port[i] / 2];
            longest = OVL_MAX(longest, bytes / (double)link->bandwidth);
        }
    }
    bool formula = c->algorithm != OVL_ALGO_NONE && c->algorithm != OVL_ALGO_NCCL;
    if (formula) { /* as the even time: less than a picosecond of rounding is no picosecond more */
        t.transfer = (ovl_time)ceil(longest * 1e12 * (1 - 1e-13));
    } else if (!is_rooted(c->spec->op) && c->spec->duration.count == 0) {
        double times = ovl_uneven_busiest(l, w->group, member[0], &w->even);
        t.transfer = (ovl_time)ceil((double)even * times * (1 - 1e-13));
    }
    t.principal = principal_rate(l, w, member, of->n_members, t.transfer);
    return t;
}

static void uneven_demands(ovl_lowering *l, const comm *c, const ways *w, uint32_t rank,
                           uint64_t principal, ovl_draft *d)
{
    const ovl_comm_spec *spec = c->spec;
    double seconds = (double)d->cost.work / 1e12;
    double sends = spec->sends ? spec->sends[rank] : 1;
    double receives = spec->receives ? spec->receives[rank] : 1;
    for (uint32_t i = 0; i < w->n && seconds > 0; i++) {
        const ovl_hw_link *link = &ovl_hw_of_rank(l, rank)->links[w->port[i] / 2];
        bool once = link->scope != OVL_SCOPE_GPU || link->gpus > 1;
        for (uint32_t in = 0; in < 2; in++) {
            double bytes = in ? w->way[i].in[rank] : w->way[i].out[rank];
            uint64_t rate = ovl_draft_clamp(l, spec->name, spec->mark, link->name,
                                            ovl_comm_rate(bytes / seconds), link->bandwidth);
            ovl_demand demand = {(uint16_t)(w->port[i] + in), once, rate};
            ovl_draft_demand(d->own, &d->kind.n_demands, demand);
        }
    }
    double wire = (double)ovl_wire_rate(spec->op, spec->bytes, spec->n, d->cost.work);
    wire *= (sends + receives) / 2;
    if (w->own.out) {
        wire = seconds > 0 ? (w->own.out[rank] + w->own.in[rank]) / 2 / seconds : 0;
    }
    uint64_t hbm = ovl_comm_hbm(l, c, ovl_comm_rate(wire));
    ovl_draft_demand(d->own, &d->kind.n_demands, (ovl_demand){OVL_PORT_HBM, false, hbm});
    d->kind.weight = ovl_draft_weight(l, principal);
    d->kind.weight *= c->entry && c->entry->weight > 0 ? c->entry->weight : 1;
    d->kind.by_member = true;
}

static ovl_plan_cost costs_by_rank(ovl_lowering *l, const comm *c, const ways *w,
                                   ovl_comm_time even, together *all)
{
    ovl_id first = l->b->costs.len;
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ovl_id id = w->group->comm_of[rank];
        together t = {.known = true};
        if (id != OVL_NONE) {
            t = all[id] = all[id].known ? all[id] : find_together(l, c, w, id, even.transfer);
        }
        ovl_draft d = {.cost = {.latency = even.latency, .work = t.transfer},
                       .kind = {.weight = 1}};
        d.kind.law = ovl_draft_law(l, c->spec->duration);
        d.kind.klass = ovl_draft_klass(l, false, comm_klass(c));
        if (!comm_sms(l, c, &even, &d.kind)) {
            return no_cost;
        }
        uneven_demands(l, c, w, rank, t.principal, &d);
        ovl_draft_append(l, &d);
        if (id != OVL_NONE) { /* others have no part in it: it takes them no time */
            comm_notes(l, c, &d);
        }
    }
    ovl_plan_cost cost = ovl_draft_store(l, first);
    cost.uneven = !is_rooted(c->spec->op);
    return cost;
}

static ovl_plan_cost uneven_cost(ovl_lowering *l, const comm *c, ovl_comm_time even)
{
    ways w = {.n = 0};
    ovl_plan_cost cost = no_cost;
    if (find_ways(l, c, &w)) {
        together *all = OVL_NEW_ARRAY(&w.arena, together, l->b->comms.len);
        cost = costs_by_rank(l, c, &w, even, all);
    }
    ovl_arena_free(&w.arena);
    return cost;
}

/* Whether pairs of an all-to-all are told apart. */
static bool in_pairs(const ovl_lowering *l, const comm *c)
{
    const ovl_comm_spec *spec = c->spec;
    return spec->op == OVL_ALL_TO_ALL && (spec->pairs || (spec->group && pxn_rails(l, c)));
}

static bool is_uneven(const ovl_lowering *l, const comm *c)
{
    const ovl_comm_spec *spec = c->spec;
    bool all_to_all = spec->op == OVL_ALL_TO_ALL && (spec->sends || spec->receives);
    all_to_all |= in_pairs(l, c);
    bool rooted = is_rooted(spec->op) && c->via->count > 0 && spec->has_bytes && spec->group;
    return spec->n > 1 && (all_to_all || rooted);
}

ovl_plan_cost ovl_plan_comm(ovl_lowering *l, const ovl_comm_spec *spec)
{
    comm c = find_comm(l, spec);
    ovl_plan_cost cost = no_cost;
    bool stated = spec->duration.count > 0;
    ovl_comm_time time = {.transfer = stated ? spec->duration.item[0] : 0};
    ovl_draft d;
    l->has_comm = true;
    if (stated && (spec->duration.count > 1 || !(is_rooted(spec->op) || in_pairs(l, &c)) ||
                   !is_uneven(l, &c))) {
        cost = comm_times(l, &c, spec->duration);
    } else if (stated || comm_time(l, &c, &time)) {
        if (is_uneven(l, &c)) {
            cost = uneven_cost(l, &c, time);
        } else if (draft_comm(l, &c, time, &d)) {
            cost = ovl_draft_intern(l, &d);
        }
    }
    cost.eager = c.entry && c.entry->eager;
    return cost;
}
