#include "models/plan_ops.h"

/* --- Entries --- */

static void find_kind(ovl_entry *entry)
{
    const ovl_xop *op = entry->op;
    const char *const names[OVL_ENTRY_OP_COUNT] = {
        [OVL_KERNEL] = op->kernel, [OVL_COLLECTIVE] = op->collective, [OVL_SEND] = op->send,
        [OVL_RECV] = op->recv,     [OVL_BATCH] = op->batch,           [OVL_COPY] = op->copy,
        [OVL_HOST] = op->host,     [OVL_MARKER] = op->marker,
    };
    entry->kind = OVL_ENTRY_NOTHING;
    for (uint32_t kind = 0; kind < OVL_ENTRY_OP_COUNT; kind++) {
        if (names[kind]) {
            entry->kind = kind;
            entry->name = names[kind];
            return;
        }
    }
    if (op->repeat > 0 || op->ops.count) {
        entry->kind = OVL_ENTRY_REPEAT;
    } else if (op->alloc.count || op->free.count) {
        entry->kind = OVL_ENTRY_MEMORY;
    }
}

static bool has_counter(const ovl_texts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        if (strchr(texts->item[i], '{')) {
            return true;
        }
    }
    return false;
}

static void check_entry(ovl_ops *o, const ovl_entry *entry)
{
    const ovl_xop *op = entry->op;
    if (entry->kind == OVL_ENTRY_NOTHING) {
        ovl_error(o->l->errs, OVL_E_INPUT, op->mark,
                  "this does nothing: name a kernel, collective, send, recv, batch, copy, host or "
                  "marker, or give alloc, free or repeat");
    }
    if (entry->part && entry->kind != OVL_SEND && entry->kind != OVL_RECV) {
        ovl_error(o->l->errs, OVL_E_INPUT, op->mark, "a batch holds sends and receives only");
    }
    if (entry->part && op->ranks.count) {
        ovl_error(o->l->errs, OVL_E_INPUT, op->mark,
                  "a part of a batch has the ranks of its batch");
    }
    if (entry->kind == OVL_BATCH && op->ops.count == 0) {
        ovl_error(o->l->errs, OVL_E_INPUT, op->mark, "batch \"%s\" has no parts", entry->name);
    }
}

/* Lists entries level by level, so that those of one list are consecutive. */
static void list_entries(ovl_ops *o, const ovl_items *ops, bool parts)
{
    uint32_t base = o->entries.len;
    for (uint32_t i = 0; i < ops->count; i++) {
        ovl_entry entry = {
            .op = OVL_ITEM(*ops, ovl_xop, i), .part = parts, .outer = OVL_NONE, .both = OVL_NONE};
        find_kind(&entry);
        check_entry(o, &entry);
        entry.ranks_vary = has_counter(&entry.op->ranks);
        ovl_vec_push(&o->entries, entry);
    }
    for (uint32_t i = 0; i < ops->count; i++) {
        const ovl_xop *op = o->entries.data[base + i].op;
        o->entries.data[base + i].body = o->entries.len;
        list_entries(o, &op->ops, o->entries.data[base + i].kind == OVL_BATCH);
    }
}

/* Operations of one run through a list, every repeat unrolled; saturates at twice the limit. */
static uint64_t count_ops(const ovl_ops *o, const ovl_items *ops, uint32_t base);

static uint64_t count_entry(const ovl_ops *o, const ovl_entry *entry)
{
    const uint64_t most = 2 * (uint64_t)OVL_PLAN_CODE_OPS;
    if (entry->kind == OVL_ENTRY_REPEAT) {
        uint64_t each = count_ops(o, &entry->op->ops, entry->body);
        uint64_t times = (uint64_t)OVL_MAX(entry->op->repeat, 1);
        return each && times > most / each ? most : each * times;
    }
    return entry->kind == OVL_BATCH ? 1 + entry->op->ops.count : 1;
}

static uint64_t count_ops(const ovl_ops *o, const ovl_items *ops, uint32_t base)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ops->count; i++) {
        sum = OVL_MIN(sum + count_entry(o, &o->entries.data[base + i]),
                      2 * (uint64_t)OVL_PLAN_CODE_OPS);
    }
    return sum;
}

/* Where the entry stands that has the most operations. */
static ovl_mark largest(const ovl_ops *o, const ovl_items *ops)
{
    uint64_t most = 0;
    ovl_mark mark = o->workload->mark;
    for (uint32_t i = 0; i < ops->count; i++) {
        uint64_t own = count_entry(o, &o->entries.data[i]);
        mark = own > most ? o->entries.data[i].op->mark : mark;
        most = OVL_MAX(most, own);
    }
    return mark;
}

/* --- Selectors --- */

/* The selector of the ranks appended to o->ranks from `first` on (ascending): an equal one if there
 * is one. Its key is the bytes of the list, written as text. */
static uint32_t add_selector(ovl_ops *o, uint32_t first)
{
    uint32_t count = o->ranks.len - first;
    o->key.len = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < 5; k++) { /* ranks have 20 bits */
            ovl_vec_push(&o->key, (char)('A' + (o->ranks.data[first + i] >> (4 * k) & 15)));
        }
    }
    ovl_vec_push(&o->key, 0);
    ovl_id id = count == o->l->n_ranks ? 0 : ovl_names_add(&o->selector_texts, o->key.data);
    if (id < o->selectors.len) {
        o->ranks.len = first;
        return id;
    }
    ovl_vec_push(&o->selectors, (ovl_selector){first, count});
    return id;
}

/* Marks the ranks of "3", "2-5" or "all" in `in`. */
static void read_ranks(ovl_ops *o, const char *text, ovl_mark mark, bool *in)
{
    uint32_t from, to;
    const char *wrong = ovl_plan_ranks(o->l, text, &from, &to);
    if (wrong) {
        if (ovl_ops_may_report(o)) {
            ovl_error(o->l->errs, OVL_E_INPUT, mark, "%s", wrong);
        }
        return;
    }
    for (uint64_t rank = from; rank <= to; rank++) {
        in[rank] = true;
    }
}

/* The ranks of an entry within those of what is around it. */
static uint32_t read_selector(ovl_ops *o, const ovl_entry *entry, uint32_t outer, uint32_t binding)
{
    const ovl_texts *texts = &entry->op->ranks;
    if (texts->count == 0) {
        return outer;
    }
    bool *in = calloc(o->l->n_ranks, sizeof *in);
    if (!in) {
        ovl_out_of_memory(o->l->n_ranks);
    }
    for (uint32_t i = 0; i < texts->count; i++) {
        ovl_mark mark = ovl_ops_mark(texts, i, entry->op->mark);
        read_ranks(o, ovl_ops_text(o, texts->item[i], binding, mark), mark, in);
    }
    uint32_t first = o->ranks.len;
    ovl_selector around = o->selectors.data[outer];
    for (uint32_t i = 0; i < around.count; i++) {
        uint32_t rank = outer == 0 ? i : o->ranks.data[around.first + i];
        if (in[rank]) {
            ovl_vec_push(&o->ranks, rank);
        }
    }
    free(in);
    return add_selector(o, first);
}

static uint32_t selector_of(ovl_ops *o, uint32_t at, uint32_t outer, uint32_t binding)
{
    ovl_entry *entry = &o->entries.data[at];
    if (entry->ranks_vary || entry->outer != outer) {
        entry->both = read_selector(o, entry, outer, binding);
        entry->outer = outer;
    }
    return entry->both;
}

/* --- Groups --- */

const ovl_group *ovl_ops_group(ovl_ops *o, ovl_entry *entry, uint32_t binding)
{
    const ovl_xop *op = entry->op;
    if (op->group && strchr(op->group, '{')) {
        return ovl_plan_group(o->l, ovl_ops_text(o, op->group, binding, op->mark), op->mark);
    }
    if (!entry->group_known) {
        entry->group_known = true;
        entry->own_group = op->group ? ovl_plan_group(o->l, op->group, op->mark)
                                     : ovl_plan_default_group(o->l, op->mark);
    }
    return entry->own_group;
}

static void use_group(ovl_ops *o, ovl_entry *entry, uint32_t binding)
{
    if (entry->kind == OVL_BATCH) {
        for (uint32_t i = 0; i < entry->op->ops.count; i++) {
            use_group(o, &o->entries.data[entry->body + i], binding);
        }
    }
    if (entry->kind == OVL_COLLECTIVE || entry->kind == OVL_SEND || entry->kind == OVL_RECV) {
        const ovl_group *group = ovl_ops_group(o, entry, binding);
        if (group) {
            o->group_used[group - o->l->groups] = true;
        } else {
            o->reports++;
        }
    }
}

/* --- Instances --- */

static bool go_on(const ovl_ops *o)
{
    return o->reports < 200 && o->rank_ops <= OVL_PLAN_RANK_OPS;
}

static void expand(ovl_ops *o, const ovl_items *ops, uint32_t base, uint32_t binding,
                   uint32_t outer);

static void unroll(ovl_ops *o, uint32_t at, uint32_t binding, uint32_t selector)
{
    const ovl_xop *op = o->entries.data[at].op;
    uint32_t body = o->entries.data[at].body;
    if (count_ops(o, &op->ops, body) == 0) {
        return;
    }
    for (int64_t i = 0; i < OVL_MAX(op->repeat, 1) && go_on(o); i++) {
        ovl_binding inner = {.outer = binding, .name = op->as ? op->as : "i", .value = i};
        ovl_vec_push(&o->bindings, inner);
        expand(o, &op->ops, body, o->bindings.len - 1, selector);
    }
}

static void expand(ovl_ops *o, const ovl_items *ops, uint32_t base, uint32_t binding,
                   uint32_t outer)
{
    for (uint32_t i = 0; i < ops->count && go_on(o); i++) {
        uint32_t at = base + i;
        uint32_t selector = selector_of(o, at, outer, binding);
        if (o->entries.data[at].kind == OVL_ENTRY_REPEAT) {
            unroll(o, at, binding, selector);
            continue;
        }
        ovl_entry *entry = &o->entries.data[at];
        uint32_t weight = entry->kind == OVL_BATCH ? 1 + entry->op->ops.count : 1;
        o->rank_ops += (uint64_t)weight * o->selectors.data[selector].count;
        use_group(o, entry, binding);
        ovl_vec_push(&o->instances, (ovl_instance){at, binding, selector});
    }
}

bool ovl_ops_expand(ovl_ops *o)
{
    const ovl_items *ops = &o->workload->ops;
    uint32_t errors = o->l->errs->errors;
    list_entries(o, ops, false);
    if (o->l->errs->errors != errors) {
        return false;
    }
    uint64_t steps = (uint64_t)OVL_MAX(o->workload->steps, 1);
    if (count_ops(o, ops, 0) * steps > OVL_PLAN_CODE_OPS) {
        ovl_error(o->l->errs, OVL_E_INPUT, largest(o, ops),
                  "with every repeat and step unrolled there are more than %u operations",
                  OVL_PLAN_CODE_OPS);
        return false;
    }
    ovl_names_add(&o->selector_texts, "all");
    ovl_vec_push(&o->selectors, (ovl_selector){0, o->l->n_ranks});
    expand(o, ops, 0, OVL_NONE, 0);
    if (o->rank_ops * steps > OVL_PLAN_RANK_OPS) {
        ovl_error(o->l->errs, OVL_E_INPUT, largest(o, ops),
                  "over all ranks there are more than %u operations", OVL_PLAN_RANK_OPS);
    }
    return o->l->errs->errors == errors;
}
