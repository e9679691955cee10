#include "models/plan_ddp.h"

/* --- Names of gradients, and ranges of them --- */

typedef OVL_VEC(uint32_t) tensor_list;

#define NEAREST_AMONG 10000 /* names that are looked at for "did you mean" */

static void unknown_gradient(ovl_ddp_plan *p, const char *text, ovl_mark mark)
{
    const char *near = ovl_nearest(text, p->names.text, OVL_MIN(p->names.count, NEAREST_AMONG));
    ovl_error(p->l->errs, OVL_E_INPUT, mark, "there is no gradient \"%s\"%s%s%s", text,
              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static void add_one(ovl_ddp_plan *p, tensor_list *list, const char *text, ovl_mark mark)
{
    ovl_id id = ovl_names_find(&p->names, text);
    if (id == OVL_NONE) {
        unknown_gradient(p, text, mark);
        return;
    }
    for (uint32_t i = 0; i < p->named.data[id].count; i++) {
        ovl_vec_push(list, p->named.data[id].first + i);
    }
}

/* "block[0..3]": the place of the range, its bounds, and what follows. */
typedef struct range {
    size_t prefix; /* bytes before the bracket */
    uint32_t from, to;
    const char *suffix;
} range;

static bool read_number(const char **at, uint32_t *number)
{
    if (**at < '0' || **at > '9') {
        return false;
    }
    uint64_t value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        value = OVL_MIN(value * 10 + (uint64_t)(**at - '0'), UINT32_MAX);
    }
    *number = (uint32_t)value;
    return true;
}

static bool read_range(const char *text, range *r)
{
    for (const char *open = strchr(text, '['); open; open = strchr(open + 1, '[')) {
        const char *at = open + 1;
        if (read_number(&at, &r->from) && strncmp(at, "..", 2) == 0) {
            at += 2;
            if (read_number(&at, &r->to) && *at == ']') {
                r->prefix = (size_t)(open - text);
                r->suffix = at + 1;
                return true;
            }
        }
    }
    return false;
}

/* Adds what a text names, in the order it says: block[3..0] counts down. */
static void add_named(ovl_ddp_plan *p, tensor_list *list, const char *text, ovl_mark mark)
{
    range r;
    if (!read_range(text, &r)) {
        add_one(p, list, text, mark);
        return;
    }
    uint32_t step = r.from <= r.to ? 1 : UINT32_MAX, i = r.from;
    uint32_t before = p->l->errs->errors;
    for (;; i += step) {
        char *name =
            ovl_arena_printf(&p->scratch, "%.*s[%" PRIu32 "]%s", (int)r.prefix, text, i, r.suffix);
        add_one(p, list, name, mark);
        if (i == r.to || p->l->errs->errors != before) {
            return; /* one unknown name of a range is enough */
        }
    }
}

/* --- Explicit lists --- */

/* Reads one bucket's list; false and an error if it is no list of names. */
static bool read_members(ovl_ddp_plan *p, const ovl_node *node, tensor_list *list)
{
    if (node->kind != OVL_NODE_LIST || node->count == 0) {
        ovl_error(p->l->errs, OVL_E_INPUT, node->mark,
                  "a bucket is a list of gradients, such as [g1, g2]");
        return false;
    }
    for (uint32_t i = 0; i < node->count; i++) {
        const ovl_node *item = node->items[i];
        if (item->kind != OVL_NODE_SCALAR) {
            ovl_error(p->l->errs, OVL_E_INPUT, item->mark, "a bucket holds names of gradients");
            return false;
        }
        add_named(p, list, item->text, item->mark);
    }
    return true;
}

/* Members from `first` on that were taken before are errors at the bucket. */
static void take_members(ovl_ddp_plan *p, const ovl_node *node, const tensor_list *list,
                         uint32_t first, uint32_t bucket)
{
    const ovl_tensor *lead = list->len > first ? &p->tensors[list->data[first]] : NULL;
    for (uint32_t i = first; i < list->len; i++) {
        const ovl_tensor *tensor = &p->tensors[list->data[i]];
        uint32_t *owner = &p->bucket_of[list->data[i]];
        if (*owner != OVL_NONE) {
            ovl_error(p->l->errs, OVL_E_INPUT, node->mark, "\"%s\" is already in bucket %" PRIu32,
                      tensor->name, *owner);
        } else if (tensor->experts != lead->experts) {
            ovl_error(p->l->errs, OVL_E_INPUT, node->mark,
                      "\"%s\" and \"%s\" are reduced over different ranks: experts have buckets of "
                      "their own",
                      lead->name, tensor->name);
        } else if (tensor->dtype != lead->dtype) {
            ovl_error(p->l->errs, OVL_E_INPUT, node->mark,
                      "a bucket has one dtype, but \"%s\" is %s and \"%s\" is %s", lead->name,
                      ovl_dtype_name(lead->dtype), tensor->name, ovl_dtype_name(tensor->dtype));
        }
        *owner = bucket;
    }
}

static void check_all_taken(ovl_ddp_plan *p, ovl_mark mark, const char *what)
{
    const char *text = NULL;
    uint32_t missing = 0;
    for (uint32_t i = p->n_tensors; i-- > 0;) {
        if (p->bucket_of[i] == OVL_NONE && missing++ < 3) {
            text = text ? ovl_arena_printf(&p->scratch, "%s, \"%s\"", text, p->tensors[i].name)
                        : ovl_arena_printf(&p->scratch, "\"%s\"", p->tensors[i].name);
        }
    }
    if (missing) {
        ovl_error(p->l->errs, OVL_E_INPUT, mark, "%s %s%s", what, text,
                  missing > 3 ? " and others" : "");
    }
}

static ovl_megatron megatron_of(const ovl_ddp_plan *p, uint64_t bucket_size)
{
    return (ovl_megatron){bucket_size, p->ranks[0].n, OVL_MAX(p->ranks[1].n, 1),
                          p->ddp->distributed_optimizer, p->ddp->pad_for_busbw};
}

/* Padding as if Megatron had laid out the list itself. */
static uint64_t padding_of(const ovl_ddp_plan *p, const uint32_t *members, uint32_t n)
{
    if (!p->megatron || !p->ddp->distributed_optimizer) {
        return 0;
    }
    ovl_megatron how = megatron_of(p, 0);
    ovl_buckets one = ovl_buckets_megatron(p->tensors, members, n, &how, p->l->arena);
    return one.item[0].padding;
}

static void explicit_buckets(ovl_ddp_plan *p)
{
    const ovl_node *node = p->ddp->buckets_node;
    if (node->kind != OVL_NODE_LIST) {
        ovl_error(p->l->errs, OVL_E_INPUT, node->mark,
                  "buckets are a list of lists, such as [[g1, g2], [g3]]");
        return;
    }
    tensor_list list = {0};
    ovl_bucket *item = OVL_NEW_ARRAY(p->l->arena, ovl_bucket, node->count);
    ovl_mark *marks = OVL_NEW_ARRAY(p->l->arena, ovl_mark, node->count);
    uint32_t errors = p->l->errs->errors;
    for (uint32_t k = 0; k < node->count; k++) {
        uint32_t first = list.len;
        if (read_members(p, node->items[k], &list)) {
            take_members(p, node->items[k], &list, first, k);
        }
        item[k] = (ovl_bucket){.first_member = first, .n_members = list.len - first};
        marks[k] = node->items[k]->mark;
    }
    if (p->l->errs->errors == errors) {
        check_all_taken(p, node->mark, "no bucket holds");
    }
    for (uint32_t k = 0; p->l->errs->errors == errors && k < node->count; k++) {
        assert(list.data && item[k].n_members > 0); /* a name stands for at least one */
        const uint32_t *members = list.data + item[k].first_member;
        item[k].dtype = p->tensors[members[0]].dtype;
        item[k].experts = p->tensors[members[0]].experts;
        item[k].padding = padding_of(p, members, item[k].n_members);
        item[k].bytes = item[k].padding;
        for (uint32_t i = 0; i < item[k].n_members; i++) {
            item[k].bytes += p->tensors[members[i]].bytes;
        }
    }
    p->buckets = (ovl_buckets){item, node->count, ovl_vec_freeze(&list, p->l->arena)};
    p->bucket_marks = marks;
}

/* --- By policy --- */

/* Turns the whole list of buckets around; members keep their order within each. */
static void reverse_buckets(ovl_buckets *buckets)
{
    for (uint32_t i = 0; i < buckets->count / 2; i++) {
        ovl_bucket *a = &buckets->item[i], *b = &buckets->item[buckets->count - 1 - i], kept = *a;
        *a = *b;
        *b = kept;
    }
}

static void reverse_order(uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t kept = order[i];
        order[i] = order[n - 1 - i];
        order[n - 1 - i] = kept;
    }
}

/* The order the user gave: every gradient once. */
static bool given_order(ovl_ddp_plan *p, uint32_t *order)
{
    const ovl_texts *given = &p->ddp->order;
    uint32_t errors = p->l->errs->errors;
    tensor_list list = {0};
    for (uint32_t i = 0; i < given->count; i++) {
        ovl_mark mark = given->mark ? given->mark[i] : p->ddp->mark;
        uint32_t first = list.len;
        add_named(p, &list, given->item[i], mark);
        for (uint32_t k = first; k < list.len; k++) {
            uint32_t *owner = &p->bucket_of[list.data[k]];
            if (*owner != OVL_NONE) {
                ovl_error(p->l->errs, OVL_E_INPUT, mark, "\"%s\" is named twice in the order",
                          p->tensors[list.data[k]].name);
            }
            *owner = 0;
        }
    }
    if (p->l->errs->errors == errors) {
        check_all_taken(p, given->mark ? given->mark[0] : p->ddp->mark, "the order leaves out");
    }
    bool ok = p->l->errs->errors == errors;
    if (ok && list.data) {
        memcpy(order, list.data, p->n_tensors * sizeof *order);
    }
    ovl_vec_free(&list);
    return ok;
}

/* The order in which gradients are expected, first to last: given, or in which they become ready
 * (PyTorch after its rebuild), or reverse registration. */
static bool find_order(ovl_ddp_plan *p, uint32_t *order)
{
    if (p->ddp->order.count) {
        return given_order(p, order);
    }
    bool by_readiness = !p->megatron && p->ddp->iteration == OVL_DDP_REBUILT;
    for (uint32_t i = 0; i < p->n_tensors; i++) {
        order[i] = by_readiness ? p->ready[i] : p->n_tensors - 1 - i;
    }
    return true;
}

/* reducer.cpp, initial buckets: registration order, sorted by smallest index, then the list
 * reversed. One bucket a dtype unless unused parameters are looked for. */
static void first_iteration(ovl_ddp_plan *p, uint32_t *order)
{
    const ovl_ddp *ddp = p->ddp;
    uint64_t limits[2] = {UINT64_MAX, UINT64_MAX};
    uint32_t n_limits = 1;
    if (ddp->find_unused_parameters && ddp->has_bucket_cap && !ddp->has_first_bucket_cap) {
        limits[0] = ddp->bucket_cap;
    } else if (ddp->find_unused_parameters) {
        limits[0] = ddp->first_bucket_cap;
        limits[1] = ddp->bucket_cap;
        n_limits = 2;
    }
    reverse_order(order, p->n_tensors);
    p->buckets =
        ovl_buckets_pytorch(p->tensors, order, p->n_tensors, limits, n_limits, p->l->arena);
    ovl_buckets_sort(&p->buckets, order, p->n_tensors, p->l->arena);
    reverse_buckets(&p->buckets);
}

/* reducer.cpp, rebuild_buckets: DDP_SET_LAST_BUCKET_CAP assigns from the far end and turns the
 * result around. */
static void rebuilt(ovl_ddp_plan *p, uint32_t *order)
{
    uint64_t limits[2] = {p->ddp->first_bucket_cap, p->ddp->bucket_cap};
    if (p->ddp->last_bucket_cap) {
        reverse_order(order, p->n_tensors);
    }
    p->buckets = ovl_buckets_pytorch(p->tensors, order, p->n_tensors, limits, 2, p->l->arena);
    if (p->ddp->last_bucket_cap) {
        reverse_buckets(&p->buckets);
    }
}

static void megatron(ovl_ddp_plan *p, const uint32_t *order)
{
    uint64_t size = (uint64_t)p->ddp->bucket_size;
    if (size == 0) {
        size = OVL_MAX(40000000, (uint64_t)p->ranks[0].n * 1000000);
    }
    ovl_megatron how = megatron_of(p, p->ddp->overlap ? size : 0);
    p->buckets = ovl_buckets_megatron(p->tensors, order, p->n_tensors, &how, p->l->arena);
}

static void buckets_by_policy(ovl_ddp_plan *p)
{
    uint32_t *order = OVL_NEW_ARRAY(&p->scratch, uint32_t, p->n_tensors);
    if (!find_order(p, order)) {
        return;
    }
    if (p->megatron) {
        megatron(p, order);
    } else if (p->ddp->iteration == OVL_DDP_FIRST) {
        first_iteration(p, order);
    } else {
        rebuilt(p, order);
    }
    ovl_mark *marks = OVL_NEW_ARRAY(p->l->arena, ovl_mark, p->buckets.count);
    for (uint32_t k = 0; k < p->buckets.count; k++) {
        marks[k] = p->ddp->given ? p->ddp->mark : p->workload->mark;
    }
    p->bucket_marks = marks;
}

/* --- What comes out --- */

static void print_lines(ovl_ddp_plan *p)
{
    for (uint32_t k = 0; k < p->buckets.count; k++) {
        const ovl_bucket *bucket = &p->buckets.item[k];
        const char **members = OVL_NEW_ARRAY(p->l->arena, const char *, bucket->n_members);
        for (uint32_t i = 0; i < bucket->n_members; i++) {
            members[i] = p->tensors[p->buckets.members[bucket->first_member + i]].name;
        }
        ovl_vec_push(&p->l->buckets,
                     (ovl_bucket_line){.name = ovl_arena_printf(p->l->arena, "bucket %" PRIu32, k),
                                       .bytes = bucket->bytes,
                                       .dtype = ovl_dtype_name(bucket->dtype),
                                       .members = members,
                                       .n_members = bucket->n_members});
    }
}

void ovl_ddp_buckets(ovl_ddp_plan *p)
{
    uint32_t errors = p->l->errs->errors;
    p->bucket_of = OVL_NEW_ARRAY(&p->scratch, uint32_t, p->n_tensors);
    memset(p->bucket_of, 0xff, p->n_tensors * sizeof *p->bucket_of); /* OVL_NONE */
    if (p->ddp->buckets_node) {
        explicit_buckets(p);
    } else {
        buckets_by_policy(p);
    }
    if (p->l->errs->errors != errors) {
        return;
    }
    for (uint32_t k = 0; k < p->buckets.count; k++) {
        const ovl_bucket *bucket = &p->buckets.item[k];
        for (uint32_t i = 0; i < bucket->n_members; i++) {
            p->bucket_of[p->buckets.members[bucket->first_member + i]] = k;
        }
    }
    print_lines(p);
}
