#include "models/block.h"
#include "models/tables.h"
#include "sim/names.h"

#include <string.h>

#define RANKS_MAX 1000000
#define AXES_MAX  16

/* --- Mesh --- */

static const char *const standard_axes[] = {"tp", "cp", "ep", "dp", "pp", "fsdp"};

static bool read_axis(const ovl_pair_node *pair, ovl_axis *axis, ovl_errs *errs)
{
    *axis = (ovl_axis){.name = pair->key, .mark = pair->key_mark, .size = 1};
    const ovl_node *node = pair->value;
    if (node->kind != OVL_NODE_SCALAR) {
        ovl_wrong_shape(node, pair->key, "the size of an axis", errs);
        return false;
    }
    int64_t size = 0;
    const char *why = ovl_read_count(node->text, &size);
    why = why || (size >= 1 && size <= RANKS_MAX) ? why : "must be between 1 and 1000000";
    if (why) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "%s is \"%s\": %s", pair->key,
                  ovl_shown(node->text, errs->arena), why);
        return false;
    }
    axis->size = size;
    return true;
}

/* Axes in the order of the file; gives the number of ranks. */
static int64_t read_axes(const ovl_node *node, ovl_mesh *mesh, ovl_arena *arena, ovl_errs *errs)
{
    if (node->kind != OVL_NODE_MAP || node->count == 0 || node->count > AXES_MAX) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "axes: expected a mapping of 1 to %d names to sizes, such as {dp: 8}", AXES_MAX);
        return 1;
    }
    mesh->axes = OVL_NEW_ARRAY(arena, ovl_axis, node->count);
    mesh->n_axes = node->count;
    int64_t ranks = 1;
    for (uint32_t i = 0; i < node->count; i++) {
        read_axis(&node->pairs[i], &mesh->axes[i], errs);
        ranks *= mesh->axes[i].size;
        if (ranks > RANKS_MAX) {
            ovl_error(errs, OVL_E_INPUT, node->mark, "the mesh has more than %d ranks", RANKS_MAX);
            return 1;
        }
    }
    return ranks;
}

static bool is_standard(const char *name)
{
    for (size_t i = 0; i < OVL_COUNT(standard_axes); i++) {
        if (strcmp(standard_axes[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Moves the named axis (of those from `at` on) to `at`; false if it is not among them. */
static bool bring_axis(ovl_mesh *mesh, uint32_t at, const char *name)
{
    for (uint32_t i = at; i < mesh->n_axes; i++) {
        ovl_axis axis = mesh->axes[i];
        if (strcmp(axis.name, name) == 0) {
            memmove(&mesh->axes[at + 1], &mesh->axes[at], (i - at) * sizeof axis);
            mesh->axes[at] = axis;
            return true;
        }
    }
    return false;
}

static void unknown_axis(const ovl_mesh *mesh, ovl_mark mark, const char *name, ovl_errs *errs)
{
    const char *names[AXES_MAX];
    for (uint32_t i = 0; i < mesh->n_axes; i++) {
        names[i] = mesh->axes[i].name;
    }
    ovl_unknown_name(mark, "axis", name, names, mesh->n_axes, OVL_E_INPUT, errs);
}

static void order_axes(ovl_mesh *mesh, const ovl_texts *order, ovl_errs *errs)
{
    uint32_t placed = 0;
    if (order->count > 4 * AXES_MAX) {
        ovl_error(errs, OVL_E_INPUT, order->mark[0], "order: too many names");
        return;
    }
    for (uint32_t i = 0; i < order->count; i++) {
        const char *name = order->item[i];
        bool again = false;
        for (uint32_t k = 0; k < i && !again; k++) {
            again = strcmp(order->item[k], name) == 0;
        }
        if (again) {
            ovl_error(errs, OVL_E_INPUT, order->mark[i], "order: \"%s\" is named twice",
                      ovl_shown(name, errs->arena));
        } else if (bring_axis(mesh, placed, name)) {
            placed++;
        } else if (!is_standard(name)) {
            unknown_axis(mesh, order->mark[i], name, errs);
        }
    }
}

/* Without a mesh and a number of ranks the stages of a pipeline say how many there are; else 1. */
static int64_t raw_stages(const ovl_raw_scenario *raw)
{
    const ovl_workload *workload = &raw->scenario.workload;
    int64_t stages = 0, per_rank = OVL_MAX(raw->overlap.pipeline.virtual_stages, 1);
    for (uint32_t i = 0; workload->ranks == 0 && i < workload->stages.count; i++) {
        stages += OVL_ITEM(workload->stages, ovl_stage, i)->repeat;
    }
    return OVL_MAX(stages / per_rank, 1);
}

static void finish_ranks(ovl_raw_scenario *raw, ovl_arena *arena, ovl_errs *errs)
{
    ovl_scenario *s = &raw->scenario;
    s->n_ranks = OVL_MAX(s->workload.ranks, raw_stages(raw));
    if (!s->mesh.given) {
        return;
    }
    s->mesh = raw->mesh.mesh;
    s->mesh.given = true;
    if (!raw->mesh.axes) {
        return;
    }
    s->n_ranks = read_axes(raw->mesh.axes, &s->mesh, arena, errs);
    order_axes(&s->mesh, &raw->mesh.order, errs);
    if (s->workload.ranks && s->workload.ranks != s->n_ranks) {
        ovl_error(errs, OVL_E_INPUT, s->workload.mark,
                  "workload.ranks is %" PRId64 ", but the mesh has %s", s->workload.ranks,
                  ovl_counted(errs->arena, (uint64_t)s->n_ranks, "rank"));
    }
}

/* --- Groups --- */

static bool is_rank(const ovl_node *node)
{
    int64_t rank;
    return node->kind == OVL_NODE_SCALAR && !ovl_read_count(node->text, &rank);
}

static bool are_ranks(const ovl_node *list)
{
    bool good = list->kind == OVL_NODE_LIST && list->count > 0;
    for (uint32_t i = 0; good && i < list->count; i++) {
        good = is_rank(list->items[i]);
    }
    return good;
}

static bool is_group(const ovl_node *node)
{
    if (node->kind == OVL_NODE_SCALAR) {
        return strcmp(node->text, "all") == 0;
    }
    bool several = node->kind == OVL_NODE_LIST && node->count > 0;
    for (uint32_t i = 0; several && i < node->count; i++) {
        several = are_ranks(node->items[i]);
    }
    return several || are_ranks(node);
}

static void finish_groups(ovl_workload *workload, ovl_arena *arena, ovl_errs *errs)
{
    const ovl_node *node = workload->groups_node;
    if (ovl_node_is_null(node)) {
        return;
    }
    if (node->kind != OVL_NODE_MAP) {
        ovl_wrong_shape(node, "groups", "a mapping of names to ranks", errs);
        return;
    }
    workload->groups = OVL_NEW_ARRAY(arena, ovl_xgroup, node->count);
    for (uint32_t i = 0; i < node->count; i++) {
        const ovl_pair_node *pair = &node->pairs[i];
        workload->groups[workload->n_groups++] =
            (ovl_xgroup){.mark = pair->key_mark, .name = pair->key, .ranks = pair->value};
        if (!is_group(pair->value)) {
            ovl_error(
                errs, OVL_E_INPUT, pair->value->mark,
                "group \"%s\": expected `all`, ranks such as [0, 1], or lists of them such as "
                "[[0, 1], [2, 3]]",
                ovl_shown(pair->key, errs->arena));
        }
    }
}

/* --- Types that default to the workload's --- */

static void set_dtype(int *dtype, const ovl_workload *workload)
{
    if (*dtype == OVL_DTYPE_OF_WORKLOAD) {
        *dtype = workload->dtype;
    }
}

/* `checked` says that an entry was here: a list that aliases share is one array. */
static void finish_ops(const ovl_items *ops, const ovl_workload *workload)
{
    for (uint32_t i = 0; i < ops->count; i++) {
        ovl_xop *op = OVL_ITEM(*ops, ovl_xop, i);
        if (op->checked) {
            return;
        }
        op->checked = true;
        set_dtype(&op->dtype, workload);
        finish_ops(&op->ops, workload);
    }
}

static void finish_dtypes(ovl_workload *workload)
{
    for (uint32_t i = 0; i < workload->layers.count; i++) {
        set_dtype(&OVL_ITEM(workload->layers, ovl_layer, i)->dtype, workload);
    }
    for (uint32_t i = 0; i < workload->gradients.count; i++) {
        set_dtype(&OVL_ITEM(workload->gradients, ovl_gradient, i)->dtype, workload);
    }
    for (uint32_t i = 0; i < workload->n_buffers; i++) {
        set_dtype(&workload->buffers[i].dtype, workload);
    }
    finish_ops(&workload->ops, workload);
}

void ovl_finish_scenario(ovl_raw_scenario *raw, ovl_arena *arena, ovl_errs *errs)
{
    ovl_workload *workload = &raw->scenario.workload;
    raw->scenario.ddp = raw->overlap.ddp;
    raw->scenario.fsdp = raw->overlap.fsdp;
    raw->scenario.zero = raw->overlap.zero;
    raw->scenario.pipeline = raw->overlap.pipeline;
    finish_ranks(raw, arena, errs);
    workload->dtype = workload->model.given ? workload->model.dtype : workload->dtype;
    ovl_model_layers(&raw->scenario, arena, errs);
    ovl_items buffers = ovl_decode_named(workload->buffers_node, "buffers", &ovl_buffer_table,
                                         offsetof(ovl_xbuffer, name), arena, errs);
    workload->buffers = buffers.item;
    workload->n_buffers = buffers.count;
    finish_groups(workload, arena, errs);
    finish_dtypes(workload);
}
