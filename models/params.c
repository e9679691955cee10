#include "models/fields.h"
#include "models/node_map.h"
#include "models/variant.h"
#include "sim/names.h"
#include "sim/vec.h"

typedef struct filler {
    ovl_names names; /* of parameters; aligned with `values` */
    OVL_VEC(ovl_node *) values;
    ovl_node_map seen;
    ovl_arena *arena;
    ovl_errs *errs;
} filler;

static ovl_node *fill(filler *f, ovl_node *node);

static ovl_node *fill_scalar(filler *f, ovl_node *node)
{
    if (node->text[0] != '$' || !node->text[1]) {
        return node;
    }
    if (node->text[1] == '$') {
        ovl_node *plain = ovl_node_copy(node, f->arena);
        plain->text++;
        return plain;
    }
    ovl_id id = ovl_names_find(&f->names, node->text + 1);
    if (id == OVL_NONE) {
        ovl_unknown_name(node->mark, "parameter", node->text + 1, f->names.text, f->names.count,
                         OVL_E_INPUT, f->errs);
        return node;
    }
    assert(id < f->values.len && f->values.data);
    return f->values.data[id];
}

/* The list or mapping itself, or a copy if anything below it was filled. */
static ovl_node *fill_children(filler *f, ovl_node *node)
{
    ovl_node *made = node;
    for (uint32_t i = 0; i < node->count; i++) {
        bool list = node->kind == OVL_NODE_LIST;
        ovl_node *child = list ? node->items[i] : node->pairs[i].value;
        ovl_node *filled = fill(f, child);
        if (filled == child) {
            continue;
        }
        made = made == node ? ovl_node_copy(node, f->arena) : made;
        if (list) {
            made->items[i] = filled;
        } else {
            made->pairs[i].value = filled;
        }
    }
    return made;
}

/* Recursion ends at the depth of the tree, which paths and files bound. */
static ovl_node *fill(filler *f, ovl_node *node)
{
    if (node->kind == OVL_NODE_SCALAR) {
        return fill_scalar(f, node);
    }
    ovl_node *made = ovl_node_map_get(&f->seen, node, f);
    if (!made) {
        made = fill_children(f, node);
        ovl_node_map_put(&f->seen, node, f, made);
    }
    return made;
}

static void read_params(filler *f, const ovl_node *params)
{
    if (ovl_node_is_null(params)) {
        return;
    }
    if (params->kind != OVL_NODE_MAP) {
        ovl_wrong_shape(params, "params", "a mapping of names to values", f->errs);
        return;
    }
    for (uint32_t i = 0; i < params->count; i++) {
        ovl_node *value = params->pairs[i].value;
        /* Values that hold parameters could grow without end. */
        if (value->kind != OVL_NODE_SCALAR) {
            ovl_wrong_shape(value, params->pairs[i].key, "a single value", f->errs);
        } else if (value->text[0] == '$' && value->text[1] != '$') {
            ovl_error(f->errs, OVL_E_INPUT, value->mark, "a parameter cannot stand for another");
        }
        ovl_vec_push(&f->values, value);
        ovl_names_add(&f->names, params->pairs[i].key);
    }
}

void ovl_params_apply(ovl_node **root, ovl_arena *arena, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    filler f = {.names = {.arena = &scratch}, .arena = arena, .errs = errs};
    static const char *const kept[] = {"params", "variants", "sweep"}; /* not filled themselves */
    for (size_t i = 0; i < OVL_COUNT(kept); i++) {
        ovl_node *node = ovl_node_get(*root, kept[i]);
        if (node && !ovl_node_map_get(&f.seen, node, &f)) {
            ovl_node_map_put(&f.seen, node, &f, node);
        }
    }
    read_params(&f, ovl_node_get(*root, "params"));
    *root = fill(&f, *root);
    ovl_vec_free(&f.values);
    ovl_node_map_free(&f.seen);
    ovl_arena_free(&scratch);
}
