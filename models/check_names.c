/*
 * check_names.c - names that lead nowhere, in a scenario that has other mistakes too.
 *
 * Lowering finds such names, but it needs a scenario without mistakes. Here they are looked for in
 * what could be decoded, in the same words and at the same places, so that one run tells all.
 * Whatever may stand for something that was not understood is left alone: a false alarm would send
 * the user after a mistake that is none. Which rank has an operation, and in which order, is for
 * lowering to say.
 */
#include "models/known.h"
#include "models/tables.h"

#include <string.h>

typedef struct checker {
    const ovl_scenario *s;
    ovl_arena scratch;
    ovl_errs *errs;
    ovl_known operations, buffers, groups, gradients;
} checker;

/* "there is no WHAT "TEXT"BEHIND; did you mean "NEAR"?" */
static void check_name(checker *c, ovl_known *k, const char *what, const char *text,
                       const char *behind, ovl_mark mark)
{
    if (!text || ovl_known_has(k, text)) {
        return;
    }
    const char *near = ovl_known_nearest(k, text);
    ovl_error(c->errs, OVL_E_INPUT, mark, "there is no %s \"%s\"%s%s%s%s", what,
              ovl_shown(text, c->errs->arena), behind, near ? "; did you mean \"" : "",
              near ? near : "", near ? "\"?" : "");
}

/* Or axes joined by "+". */
static void check_group(checker *c, const char *text, ovl_mark mark)
{
    bool joined = text && strchr(text, '+');
    for (const char *at = text; joined && *at; at += *at == '+') {
        size_t length = strcspn(at, "+");
        char *axis = OVL_NEW_ARRAY(&c->scratch, char, length + 1);
        memcpy(axis, at, length);
        joined = ovl_known_has(&c->groups, axis);
        at += length;
    }
    if (!joined) {
        check_name(c, &c->groups, "group", text, "", mark);
    }
}

static ovl_mark mark_of(const ovl_texts *texts, uint32_t i, ovl_mark otherwise)
{
    return texts->mark ? texts->mark[i] : otherwise;
}

static void check_buffers(checker *c, const ovl_texts *texts, ovl_mark mark)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        check_name(c, &c->buffers, "buffer", texts->item[i], "", mark_of(texts, i, mark));
    }
}

/* --- Members --- */

/* The least and the largest communicator of a group; 0 if they are not known for sure: what was
 * not understood counts as 1. */
typedef struct sizes {
    int64_t least, most;
} sizes;

static sizes whole(const checker *c)
{
    int64_t n = c->s->n_ranks > 1 ? c->s->n_ranks : 0;
    for (uint32_t i = 0; i < c->s->mesh.n_axes; i++) {
        n = c->s->mesh.axes[i].size > 1 ? n : 0;
    }
    return (sizes){n, n};
}

static sizes listed(const ovl_node *node)
{
    sizes found = {0};
    if (node->kind != OVL_NODE_LIST || node->count == 0) {
        return found;
    }
    if (node->items[0]->kind != OVL_NODE_LIST) {
        return (sizes){node->count, node->count};
    }
    for (uint32_t i = 0; i < node->count; i++) {
        int64_t n = node->items[i]->kind == OVL_NODE_LIST ? node->items[i]->count : 0;
        found.least = i && found.least < n ? found.least : n;
        found.most = OVL_MAX(found.most, n);
    }
    return found;
}

static sizes sizes_of(const checker *c, const char *name)
{
    const ovl_workload *workload = &c->s->workload;
    for (uint32_t i = 0; i < c->s->mesh.n_axes; i++) {
        const ovl_axis *axis = &c->s->mesh.axes[i];
        if (name && axis->name && strcmp(axis->name, name) == 0) {
            return axis->size > 1 ? (sizes){axis->size, axis->size} : (sizes){0};
        }
    }
    for (uint32_t i = 0; i < workload->n_groups; i++) {
        const ovl_xgroup *group = &workload->groups[i];
        bool only = !name && workload->n_groups == 1 && c->s->mesh.n_axes == 0;
        if (only || (name && strcmp(group->name, name) == 0)) {
            return group->ranks->kind == OVL_NODE_SCALAR ? whole(c) : listed(group->ranks);
        }
    }
    return (sizes){0};
}

static void check_member(checker *c, const ovl_xop *op)
{
    const char *text = op->send ? op->to : op->from, *name = op->send ? op->send : op->recv;
    sizes n = c->groups.all ? sizes_of(c, op->group) : (sizes){0};
    int64_t place = 0;
    bool relative = text && (*text == '+' || *text == '-');
    if (!text || n.least == 0 || ovl_read_count(text + relative, &place) || place < 0) {
        return;
    }
    const char *wrong = NULL;
    if (relative && n.least == n.most && place % n.most == 0) {
        wrong = "a member cannot exchange with itself";
    } else if (!relative && place >= n.most) {
        wrong = "the group has no such member";
    }
    if (wrong) {
        ovl_error(c->errs, OVL_E_INPUT, op->mark, "\"%s\" %s \"%s\": %s", name,
                  op->send ? "to" : "from", text, wrong);
    }
}

/* --- Operations --- */

/* Walks go once through a list that aliases share: the first sets `checked`, the second takes it
 * away. */
static void collect_operations(checker *c, const ovl_items *ops)
{
    for (uint32_t i = 0; i < ops->count; i++) {
        ovl_xop *op = OVL_ITEM(*ops, ovl_xop, i);
        if (op->checked) {
            return;
        }
        op->checked = true;
        const char *const names[] = {op->kernel, op->collective, op->send, op->recv,
                                     op->batch,  op->copy,       op->host, op->marker};
        bool understood = op->alloc.count || op->free.count || op->ops.count;
        for (size_t k = 0; k < OVL_COUNT(names); k++) {
            if (names[k]) {
                ovl_known_add(&c->operations, names[k]);
                understood |= names[k] != op->batch;
            }
        }
        c->operations.all &= understood;
        collect_operations(c, &op->ops);
    }
}

static void check_waits(checker *c, const ovl_xop *op)
{
    for (uint32_t i = 0; i < op->after.count; i++) {
        const char *name = op->after.item[i];
        size_t length = strlen(name);
        if (length && name[length - 1] != '?') {
            check_name(c, &c->operations, "operation", name, " to wait for",
                       mark_of(&op->after, i, op->mark));
        }
    }
}

static void check_accesses(checker *c, const ovl_xop *op)
{
    const ovl_texts *const lists[] = {&op->alloc,  &op->free,   &op->reads,
                                      &op->writes, &op->resets, &op->consumes};
    for (size_t k = 0; k < OVL_COUNT(lists); k++) {
        check_buffers(c, lists[k], op->mark);
    }
    check_name(c, &c->buffers, "buffer", op->buffer, "", op->mark);
    check_name(c, &c->buffers, "buffer", op->produces.into, "", op->produces.mark);
    check_buffers(c, &op->packs.from, op->packs.mark);
    check_name(c, &c->buffers, "buffer", op->packs.into, "", op->packs.mark);
}

static void check_operations(checker *c, const ovl_items *ops)
{
    for (uint32_t i = 0; i < ops->count; i++) {
        ovl_xop *op = OVL_ITEM(*ops, ovl_xop, i);
        if (!op->checked) {
            return;
        }
        op->checked = false;
        check_waits(c, op);
        check_accesses(c, op);
        check_group(c, op->group, op->mark);
        if (op->send || op->recv) {
            check_member(c, op);
        }
        check_operations(c, &op->ops);
    }
}

/* --- Buckets --- */

/* Without number, range and tensor: block[0..3].1 is "block". How many repeats a layer has may be
 * what was not understood. */
static const char *layer_part(checker *c, const char *text)
{
    size_t length = strcspn(text, "[");
    const char *dot = strrchr(text, '.');
    if (!text[length] && dot && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")]) {
        length = (size_t)(dot - text);
    }
    return ovl_arena_strndup(&c->scratch, text, length);
}

static void collect_gradients(checker *c)
{
    const ovl_workload *workload = &c->s->workload;
    c->gradients.all = workload->layers.count || workload->gradients.count;
    for (uint32_t i = 0; i < workload->layers.count; i++) {
        const char *name = OVL_ITEM(workload->layers, ovl_layer, i)->name;
        ovl_known_add(&c->gradients, name);
        ovl_known_add(&c->gradients, name ? layer_part(c, name) : NULL);
    }
    for (uint32_t i = 0; i < workload->gradients.count; i++) {
        ovl_known_add(&c->gradients, OVL_ITEM(workload->gradients, ovl_gradient, i)->name);
    }
}

static void check_gradient(checker *c, const char *text, ovl_mark mark)
{
    bool layers = c->s->workload.layers.count > 0;
    if (!ovl_known_has(&c->gradients, text) &&
        !(layers && ovl_known_has(&c->gradients, layer_part(c, text)))) {
        check_name(c, &c->gradients, "gradient", text, "", mark);
    }
}

static void check_bucket(checker *c, const ovl_node *bucket)
{
    for (uint32_t i = 0; bucket->kind == OVL_NODE_LIST && i < bucket->count; i++) {
        if (bucket->items[i]->kind == OVL_NODE_SCALAR) {
            check_gradient(c, bucket->items[i]->text, bucket->items[i]->mark);
        }
    }
}

static void check_ddp(checker *c)
{
    const ovl_ddp *ddp = &c->s->ddp;
    const ovl_node *buckets = ddp->buckets_node;
    if (!ddp->given || c->s->workload.ops.count) {
        return;
    }
    if (c->s->mesh.given) { /* without a mesh the group is all ranks, whatever its name */
        check_group(c, ddp->group, ddp->mark);
    }
    for (uint32_t i = 0; i < ddp->order.count; i++) {
        check_gradient(c, ddp->order.item[i], mark_of(&ddp->order, i, ddp->mark));
    }
    for (uint32_t i = 0; buckets && buckets->kind == OVL_NODE_LIST && i < buckets->count; i++) {
        check_bucket(c, buckets->items[i]);
    }
}

/* --- The whole --- */

/* Whether a key that is not known may have been meant to be `key`: what it holds is missing then.
 */
static bool mistyped(const ovl_node *node, const ovl_table *table, const char *key)
{
    for (uint32_t i = 0; node && node->kind == OVL_NODE_MAP && i < node->count; i++) {
        bool there = false;
        for (uint32_t k = 0; k < table->n_fields && !there; k++) {
            there = strcmp(table->fields[k].key, node->pairs[i].key) == 0;
        }
        if (!there && ovl_nearest(node->pairs[i].key, &key, 1)) {
            return true;
        }
    }
    return false;
}

/* Whether groups, axes of the mesh included, are there and were understood. */
static bool groups_are_known(const ovl_scenario *s, const ovl_node *root)
{
    const ovl_workload *workload = &s->workload;
    bool listed = ovl_node_is_null(workload->groups_node) || workload->n_groups > 0;
    bool meshed = !s->mesh.given || s->mesh.n_axes > 0;
    return listed && meshed && (workload->n_groups > 0 || s->mesh.n_axes > 0) &&
           !mistyped(root, &ovl_scenario_table, "mesh") &&
           !mistyped(ovl_node_get(root, "workload"), &ovl_workload_table, "groups");
}

static void collect(checker *c, const ovl_node *root)
{
    const ovl_workload *workload = &c->s->workload;
    c->buffers.all = workload->n_buffers > 0;
    c->groups.all = groups_are_known(c->s, root);
    c->operations.all = true;
    for (uint32_t i = 0; i < workload->n_buffers; i++) {
        ovl_known_add(&c->buffers, workload->buffers[i].name);
    }
    ovl_known_add(&c->groups, "world");
    for (uint32_t i = 0; i < c->s->mesh.n_axes; i++) {
        ovl_known_add(&c->groups, c->s->mesh.axes[i].name);
    }
    for (uint32_t i = 0; i < workload->n_groups; i++) {
        ovl_known_add(&c->groups, workload->groups[i].name);
    }
    collect_operations(c, &workload->ops);
    collect_gradients(c);
}

/* --- Axes of a model --- */

/* What these are called without being asked for; a mesh without them has one rank of each. */
static bool is_usual(const char *axis)
{
    return strcmp(axis, "tp") == 0 || strcmp(axis, "cp") == 0 || strcmp(axis, "ep") == 0;
}

/* One part of "tp+ep". */
static void check_axis(checker *c, const char *key, const char *axis, ovl_mark mark)
{
    const ovl_mesh *mesh = &c->s->mesh;
    const char **names = OVL_NEW_ARRAY(&c->scratch, const char *, mesh->n_axes);
    for (uint32_t i = 0; i < mesh->n_axes; i++) {
        names[i] = mesh->axes[i].name;
        if (strcmp(axis, names[i]) == 0) {
            return;
        }
    }
    if (is_usual(axis)) {
        return;
    }
    const char *near = ovl_nearest(axis, names, mesh->n_axes);
    ovl_error(c->errs, OVL_E_INPUT, mark, "%s: the mesh has no axis \"%s\"%s%s%s", key,
              ovl_shown(axis, c->errs->arena), near ? "; did you mean \"" : "", near ? near : "",
              near ? "\"?" : "");
}

static void check_axes(checker *c, const ovl_node *map, const char *key)
{
    const ovl_node *node = map ? ovl_node_get(map, key) : NULL;
    if (!node || ovl_node_is_null(node) || node->kind != OVL_NODE_SCALAR) {
        return;
    }
    for (const char *at = node->text;;) {
        size_t length = strcspn(at, "+");
        char *axis = OVL_NEW_ARRAY(&c->scratch, char, length + 1);
        memcpy(axis, at, length);
        check_axis(c, key, axis, node->mark);
        if (!at[length]) {
            return;
        }
        at += length + 1;
    }
}

void ovl_check_model_axes(const ovl_scenario *scenario, const ovl_node *root, ovl_errs *errs)
{
    checker c = {.s = scenario, .errs = errs};
    const ovl_node *workload = ovl_node_get(root, "workload");
    const ovl_node *model = workload ? ovl_node_get(workload, "model") : NULL;
    const ovl_mesh *mesh = &scenario->mesh;
    if (!scenario->workload.model.given || !model || (mesh->given && mesh->n_axes == 0)) {
        return; /* or the mesh was not understood */
    }
    check_axes(&c, model, "tp");
    check_axes(&c, model, "cp");
    check_axes(&c, ovl_node_get(model, "moe"), "ep");
    check_axes(&c, ovl_node_get(model, "moe"), "across");
    ovl_arena_free(&c.scratch);
}

void ovl_check_names(const ovl_scenario *scenario, const ovl_node *root, ovl_errs *errs)
{
    checker c = {.s = scenario, .errs = errs};
    ovl_known *const kinds[] = {&c.operations, &c.buffers, &c.groups, &c.gradients};
    for (size_t i = 0; i < OVL_COUNT(kinds); i++) {
        ovl_known_init(kinds[i], &c.scratch);
    }
    collect(&c, root);
    check_operations(&c, &scenario->workload.ops);
    check_ddp(&c);
    ovl_arena_free(&c.scratch);
}
