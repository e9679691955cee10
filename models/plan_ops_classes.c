#include "models/plan_ops.h"

/* --- Refining a partition of the ranks --- */

typedef struct partition {
    uint32_t *class_of; /* [n_ranks] */
    uint32_t n_classes;
    uint32_t *size;  /* ranks of each class; as many as there can be classes: n_ranks */
    uint32_t *met;   /* scratch: how many of the class a selector names */
    uint32_t *split; /* scratch: the class that takes these, or OVL_NONE */
} partition;

static uint32_t *numbers(ovl_ops *o, uint32_t n)
{
    return OVL_NEW_ARRAY(&o->scratch, uint32_t, n);
}

/* Splits every class of which `ranks` names some and not all. Costs the length of the list. */
static void refine(partition *p, const uint32_t *ranks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        p->met[p->class_of[ranks[i]]]++;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t class = p->class_of[ranks[i]];
        if (p->met[class] > 0) { /* the first of its class */
            p->split[class] = p->met[class] < p->size[class] ? p->n_classes++ : class;
            if (p->split[class] != class) {
                p->size[p->split[class]] = p->met[class];
                p->size[class] -= p->met[class];
            }
            p->met[class] = 0;
        }
    }
    /* A class that is split off gets no entry in `split` of its own: ranks move once. */
    for (uint32_t i = 0; i < n; i++) {
        p->class_of[ranks[i]] = p->split[p->class_of[ranks[i]]];
    }
}

/* Ranks whose communicators differ in size, or in how they lie on nodes, pay different costs. */
static void refine_by_spread(ovl_ops *o, partition *p, const ovl_group *group)
{
    uint32_t n_ranks = o->l->n_ranks, done = 0;
    uint32_t *ranks = numbers(o, n_ranks);
    bool *seen = OVL_NEW_ARRAY(&o->scratch, bool, n_ranks);
    while (done < n_ranks) {
        const ovl_spread *first = NULL;
        uint32_t n = 0;
        for (uint32_t rank = 0; rank < n_ranks; rank++) {
            const ovl_spread *spread = ovl_plan_spread(o->l, group, rank);
            if (!seen[rank] && (n == 0 || spread == first)) {
                first = spread;
                seen[rank] = true;
                ranks[n++] = rank;
            }
        }
        refine(p, ranks, n);
        done += n;
    }
}

/* Of `ranks` those whose spread is that of the first, moved to the front; NULL where a rank has no
 * such peer. */
static uint32_t alike(ovl_ops *o, const ovl_group *group, const ovl_peer *peer, uint32_t *ranks,
                      uint32_t n)
{
    const ovl_spread *first = ovl_ops_pair_spread(o, group, ranks[0], peer);
    uint32_t found = 1;
    for (uint32_t i = 1; i < n; i++) {
        if (ovl_ops_pair_spread(o, group, ranks[i], peer) == first) {
            uint32_t rank = ranks[i];
            ranks[i] = ranks[found];
            ranks[found++] = rank;
        }
    }
    return found;
}

/* Ranks that lie otherwise to whom they send, or from whom they receive, pay different costs. */
static void refine_by_peers(ovl_ops *o, partition *p, const ovl_group *group, const ovl_peer *peer,
                            uint32_t selector)
{
    ovl_selector s = o->selectors.data[selector];
    ovl_arena scratch = {0};
    uint32_t *ranks = OVL_NEW_ARRAY(&scratch, uint32_t, s.count);
    for (uint32_t i = 0; i < s.count; i++) {
        ranks[i] = selector ? o->ranks.data[s.first + i] : i;
    }
    for (uint32_t done = 0; done < s.count;) {
        uint32_t n = alike(o, group, peer, ranks + done, s.count - done);
        refine(p, ranks + done, n);
        done += n;
    }
    ovl_arena_free(&scratch);
}

/* What is wrong with a peer is told when codes are written. */
static bool find_peer(ovl_ops *o, ovl_entry *entry, uint32_t binding, const ovl_group **group,
                      ovl_peer *peer)
{
    const char *written = entry->kind == OVL_SEND ? entry->op->to : entry->op->from;
    ovl_errs unsaid = {.arena = &o->scratch}, *told = o->l->errs;
    uint32_t reports = o->reports;
    o->l->errs = &unsaid;
    *group = written ? ovl_ops_group(o, entry, binding) : NULL;
    bool good = *group && !ovl_ops_peer(o, entry, binding, o->l->n_ranks, peer);
    o->l->errs = told;
    o->reports = reports;
    return good;
}

static void refine_by_entry(ovl_ops *o, partition *p, ovl_names *known, uint32_t entry_id,
                            const ovl_instance *instance)
{
    ovl_entry *entry = &o->entries.data[entry_id];
    const ovl_group *group;
    ovl_peer peer;
    for (uint32_t i = 0; entry->kind == OVL_BATCH && i < entry->op->ops.count; i++) {
        refine_by_entry(o, p, known, entry->body + i, instance); /* parts are no batches */
    }
    if ((entry->kind != OVL_SEND && entry->kind != OVL_RECV) ||
        !find_peer(o, entry, instance->binding, &group, &peer)) {
        return;
    }
    const char *key = ovl_arena_printf(&o->scratch, "%td %d %d %" PRIu32, group - o->l->groups,
                                       peer.place, peer.relative, instance->selector);
    uint32_t n = known->count;
    if (ovl_names_add(known, key) == n) {
        refine_by_peers(o, p, group, &peer, instance->selector);
    }
}

/* Numbers classes by their lowest rank. */
static void name_classes(ovl_ops *o, partition *p)
{
    uint32_t *number = numbers(o, p->n_classes);
    memset(number, 0xff, p->n_classes * sizeof *number); /* OVL_NONE */
    o->class_of = p->class_of;
    o->classes = OVL_NEW_ARRAY(&o->scratch, ovl_class, p->n_classes);
    for (uint32_t rank = 0; rank < o->l->n_ranks; rank++) {
        uint32_t *class = &number[p->class_of[rank]];
        if (*class == OVL_NONE) {
            *class = o->n_classes++;
            o->classes[*class].first_rank = rank;
        }
        o->classes[*class].count++;
        o->class_of[rank] = *class;
    }
}

static void find_classes(ovl_ops *o)
{
    uint32_t n = o->l->n_ranks;
    partition p = {numbers(o, n), 1, numbers(o, n), numbers(o, n), numbers(o, n)};
    p.size[0] = n;
    for (uint32_t s = 1; s < o->selectors.len; s++) {
        refine(&p, o->ranks.data + o->selectors.data[s].first, o->selectors.data[s].count);
    }
    for (uint32_t g = 0; g < o->l->n_groups; g++) {
        if (o->group_used[g]) {
            refine_by_spread(o, &p, &o->l->groups[g]);
        }
    }
    ovl_names known = {.arena = &o->scratch};
    for (uint32_t i = 0; i < o->instances.len && ovl_spreads_matter(o->l); i++) {
        refine_by_entry(o, &p, &known, o->instances.data[i].entry, &o->instances.data[i]);
    }
    name_classes(o, &p);
}

/* --- Lists of instances --- */

/* The classes of each selector: every class is inside it or outside, so its lowest rank decides. */
typedef struct members {
    uint32_t *at;   /* [n_selectors + 1] */
    uint32_t *item; /* classes */
} members;

static members classes_of_selectors(ovl_ops *o)
{
    members m = {numbers(o, o->selectors.len + 1), NULL};
    OVL_VEC(uint32_t) item = {0};
    for (uint32_t c = 0; c < o->n_classes; c++) {
        ovl_vec_push(&item, c);
    }
    m.at[1] = item.len;
    for (uint32_t s = 1; s < o->selectors.len; s++) {
        ovl_selector selector = o->selectors.data[s];
        for (uint32_t i = 0; i < selector.count; i++) {
            uint32_t rank = o->ranks.data[selector.first + i];
            if (o->classes[o->class_of[rank]].first_rank == rank) {
                ovl_vec_push(&item, o->class_of[rank]);
            }
        }
        m.at[s + 1] = item.len;
    }
    m.item = ovl_vec_freeze(&item, &o->scratch);
    return m;
}

static uint64_t count_instances(ovl_ops *o, const members *m)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < o->instances.len && sum <= OVL_PLAN_CODE_OPS; i++) {
        const ovl_instance *instance = &o->instances.data[i];
        const ovl_entry *entry = &o->entries.data[instance->entry];
        uint32_t parts = entry->kind == OVL_BATCH ? entry->op->ops.count : 0;
        for (uint32_t k = m->at[instance->selector]; k < m->at[instance->selector + 1]; k++) {
            ovl_class *class = &o->classes[m->item[k]];
            class->n++;
            class->n_ops += 1 + parts;
            sum += 1 + parts;
        }
    }
    return sum;
}

static void fill_lists(ovl_ops *o, const members *m)
{
    uint32_t total = 0;
    for (uint32_t c = 0; c < o->n_classes; c++) {
        o->classes[c].first = total;
        total += o->classes[c].n;
        o->classes[c].n = 0;
    }
    o->listed = numbers(o, total);
    for (uint32_t i = 0; i < o->instances.len; i++) {
        uint32_t selector = o->instances.data[i].selector;
        for (uint32_t k = m->at[selector]; k < m->at[selector + 1]; k++) {
            ovl_class *class = &o->classes[m->item[k]];
            o->listed[class->first + class->n++] = i;
        }
    }
}

bool ovl_ops_classes(ovl_ops *o)
{
    find_classes(o);
    members m = classes_of_selectors(o);
    if (count_instances(o, &m) * (uint64_t)OVL_MAX(o->workload->steps, 1) > OVL_PLAN_CODE_OPS) {
        ovl_error(o->l->errs, OVL_E_INPUT, o->workload->mark,
                  "ranks with lists of their own have more than %u operations together",
                  OVL_PLAN_CODE_OPS);
        return false;
    }
    fill_lists(o, &m);
    return true;
}
