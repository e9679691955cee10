#include "models/axes_parts.h"

#include "models/node_text.h"
#include "models/range.h"

#include <string.h>

/* --- Values --- */

static bool is_range(const ovl_node *node)
{
    return node->kind == OVL_NODE_SCALAR && !node->quoted && *node->text >= '0' &&
           *node->text <= '9' && ovl_range_meant(node->text);
}

static void add_range(ovl_axis_reader *r, const char *path, const ovl_node *node,
                      ovl_value_list *values)
{
    ovl_range range;
    const char *why = ovl_range_read(node->text, &range, r->arena);
    if (why) {
        ovl_error(r->errs, r->code, node->mark, "%s: \"%s\": %s", ovl_shown(path, r->arena),
                  ovl_shown(node->text, r->arena), why);
        return;
    }
    for (uint32_t i = 0; i < range.count; i++) {
        const char *text = ovl_range_value(&range, i, r->arena);
        ovl_vec_push(values, ovl_node_scalar(text, node->mark, r->arena));
    }
}

/* `variant: all`. */
static void add_variants(ovl_axis_reader *r, ovl_mark mark, ovl_value_list *values)
{
    ovl_vec_push(values, ovl_node_scalar("base", mark, r->arena));
    for (uint32_t i = 0; i < r->doc->n_variants; i++) {
        ovl_vec_push(values, ovl_node_scalar(r->doc->variants[i], mark, r->arena));
    }
}

static void add_value(ovl_axis_reader *r, const char *path, const ovl_node *node,
                      ovl_value_list *values)
{
    if (is_range(node)) {
        add_range(r, path, node, values);
    } else if (strcmp(path, "variant") != 0) {
        ovl_vec_push(values, node);
    } else if (node->kind != OVL_NODE_SCALAR) {
        ovl_wrong_shape(node, "variant", "the name of a variant", r->errs);
    } else if (strcmp(node->text, "all") == 0) {
        add_variants(r, node->mark, values);
    } else {
        ovl_vec_push(values, node);
    }
}

void ovl_axis_values(ovl_axis_reader *r, const char *path, const ovl_node *node,
                     ovl_value_list *values)
{
    if (node->kind != OVL_NODE_LIST) {
        add_value(r, path, node, values);
        return;
    }
    if (node->count == 0) {
        ovl_error(r->errs, r->code, node->mark, "%s: no values to try", ovl_shown(path, r->arena));
    }
    for (uint32_t i = 0; i < node->count; i++) {
        add_value(r, path, node->items[i], values);
    }
}

/* --- Is it a quantity that grows? --- */

typedef bool (*read_quantity)(const char *text, double *value);

static bool read_ratio(const char *text, double *value)
{
    return !ovl_read_ratio(text, value);
}

static bool read_time(const char *text, double *value)
{
    ovl_time t = 0;
    bool good = !ovl_read_time(text, &t);
    *value = (double)t;
    return good;
}

static bool read_bytes(const char *text, double *value)
{
    uint64_t bytes = 0;
    bool good = !ovl_read_bytes(text, &bytes);
    *value = (double)bytes;
    return good;
}

static bool read_rate(const char *text, double *value)
{
    uint64_t rate = 0;
    bool good = !ovl_read_rate(text, &rate);
    *value = (double)rate;
    return good;
}

static bool grows(const ovl_sweep_axis *axis, uint32_t key, read_quantity read)
{
    double before = -1, value = 0;
    for (uint32_t i = 0; i < axis->n_rows; i++) {
        const ovl_node *node = axis->values[(size_t)i * axis->n_keys + key];
        if (!node || node->kind != OVL_NODE_SCALAR || !read(node->text, &value) ||
            value <= before) {
            return false;
        }
        before = value;
    }
    return true;
}

/* Every key grows from row to row, each as one kind of quantity. */
static bool is_ordered(const ovl_sweep_axis *axis)
{
    static const read_quantity readers[] = {read_ratio, read_time, read_bytes, read_rate};
    bool all = axis->kind != OVL_AXIS_SAMPLE;
    for (uint32_t k = 0; all && k < axis->n_keys; k++) {
        size_t i = 0;
        while (i < OVL_COUNT(readers) && !grows(axis, k, readers[i])) {
            i++;
        }
        all = i < OVL_COUNT(readers);
    }
    return all;
}

/* --- Axes --- */

/* As it was written: "-1" is -1, for a table, not for YAML. */
static const char *value_text(const ovl_node *node, ovl_arena *arena)
{
    bool plain = node->kind == OVL_NODE_SCALAR && !node->quoted && !ovl_node_is_null(node);
    for (const char *c = plain ? node->text : ""; *c; c++) {
        plain &= (unsigned char)*c >= 0x20 && *c != 0x7f;
    }
    return plain ? node->text : ovl_node_text(node, arena);
}

static void add_axis(ovl_axis_reader *r, ovl_axis_kind kind, const ovl_key *keys, uint32_t n_keys,
                     const ovl_node **values, uint32_t n_rows)
{
    ovl_sweep_axis axis = {.kind = kind,
                           .first_key = r->keys.len,
                           .n_keys = n_keys,
                           .n_rows = n_rows,
                           .values = values};
    axis.texts = OVL_NEW_ARRAY(r->arena, const char *, (size_t)n_rows *n_keys);
    for (size_t i = 0; i < (size_t)n_rows * n_keys; i++) {
        axis.texts[i] = values[i] ? value_text(values[i], r->arena) : NULL;
    }
    axis.ordered = is_ordered(&axis);
    for (uint32_t i = 0; i < n_keys; i++) {
        ovl_vec_push(&r->keys, keys[i]);
    }
    ovl_vec_push(&r->axes, axis);
}

void ovl_axis_grid(ovl_axis_reader *r, const char *path, ovl_mark mark, const ovl_node *values)
{
    ovl_value_list list = {0};
    ovl_key key = {path, mark};
    if (values->kind == OVL_NODE_MAP) {
        ovl_wrong_shape(values, ovl_shown(path, r->arena),
                        "a list of values, or a range such as 0..3", r->errs);
        return;
    }
    ovl_axis_values(r, path, values, &list);
    uint32_t n = list.len;
    if (n) {
        add_axis(r, OVL_AXIS_GRID, &key, 1, ovl_vec_freeze(&list, r->arena), n);
    }
    ovl_vec_free(&list);
}

void ovl_axis_zip(ovl_axis_reader *r, const ovl_key *keys, const ovl_node *const *lists, uint32_t n)
{
    const ovl_node **values = NULL;
    uint32_t rows = 0;
    bool good = true;
    for (uint32_t k = 0; k < n; k++) {
        ovl_value_list list = {0};
        ovl_axis_values(r, keys[k].path, lists[k], &list);
        if (k == 0) {
            rows = list.len;
            values = OVL_NEW_ARRAY(r->arena, const ovl_node *, (size_t)rows *n);
        }
        if (list.len != rows) {
            ovl_error(r->errs, r->code, keys[k].mark,
                      "keys that change together have as many values each: %s has %" PRIu32
                      ", %s has %" PRIu32,
                      ovl_shown(keys[0].path, r->arena), rows, ovl_shown(keys[k].path, r->arena),
                      list.len);
            good = false;
        }
        for (uint32_t i = 0; good && i < rows; i++) {
            values[(size_t)i * n + k] = list.data[i];
        }
        ovl_vec_free(&list);
    }
    if (good && rows) {
        add_axis(r, OVL_AXIS_LIST, keys, n, values, rows);
    }
}

/* The keys of all rows, in the order they are first named. */
static void keys_of_rows(const ovl_node *rows, ovl_value_list *nodes, ovl_axis_reader *r,
                         ovl_key *keys, uint32_t *n_keys)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const ovl_node *row = rows->items[i];
        if (row->kind != OVL_NODE_MAP) {
            ovl_wrong_shape(row, "list", "a mapping of paths to values for each row", r->errs);
            continue;
        }
        ovl_vec_push(nodes, row);
        for (uint32_t p = 0; p < row->count; p++) {
            uint32_t k = 0;
            while (k < *n_keys && strcmp(keys[k].path, row->pairs[p].key) != 0) {
                k++;
            }
            if (k == *n_keys && k < OVL_KEYS_MAX) {
                keys[(*n_keys)++] = (ovl_key){row->pairs[p].key, row->pairs[p].key_mark};
            }
        }
    }
}

void ovl_axis_list(ovl_axis_reader *r, const ovl_node *rows)
{
    ovl_value_list nodes = {0};
    ovl_key keys[OVL_KEYS_MAX];
    uint32_t n_keys = 0;
    if (rows->kind != OVL_NODE_LIST || rows->count == 0) {
        ovl_wrong_shape(rows, "list", "a list of rows, each a mapping of paths to values", r->errs);
        return;
    }
    keys_of_rows(rows, &nodes, r, keys, &n_keys);
    const ovl_node **values =
        OVL_NEW_ARRAY(r->arena, const ovl_node *, (size_t)nodes.len *OVL_MAX(n_keys, 1));
    for (uint32_t i = 0; i < nodes.len; i++) {
        for (uint32_t k = 0; k < n_keys; k++) {
            values[(size_t)i * n_keys + k] = ovl_node_get(nodes.data[i], keys[k].path);
        }
    }
    if (n_keys && nodes.len) {
        add_axis(r, OVL_AXIS_LIST, keys, n_keys, values, nodes.len);
    }
    ovl_vec_free(&nodes);
}

/* --- Drawn rows --- */

/* splitmix64's mixing function (Steele, Lea, Flood 2014). */
static uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* 0 <= u < 1 with 53 bits, the same whatever other keys and rows there are. */
static double draw(uint64_t seed, const char *path, uint32_t row)
{
    uint64_t h = mixed(seed);
    for (const char *c = path; *c; c++) {
        h = mixed(h ^ (unsigned char)*c);
    }
    return (double)(mixed(h ^ row) >> 11) * 0x1p-53;
}

void ovl_axis_sample(ovl_axis_reader *r, const ovl_key *keys, const ovl_node *const *lists,
                     uint32_t n, uint32_t rows, uint64_t seed)
{
    const ovl_node **values = OVL_NEW_ARRAY(r->arena, const ovl_node *, (size_t)rows *n);
    for (uint32_t k = 0; k < n; k++) {
        ovl_range range;
        ovl_value_list list = {0};
        bool even = is_range(lists[k]) && !ovl_range_read(lists[k]->text, &range, r->arena);
        if (!even) {
            ovl_axis_values(r, keys[k].path, lists[k], &list);
        }
        for (uint32_t i = 0; (even || list.len) && i < rows; i++) {
            double u = draw(seed, keys[k].path, i);
            values[(size_t)i * n + k] =
                even ? ovl_node_scalar(ovl_range_between(&range, u, r->arena), lists[k]->mark,
                                       r->arena)
                     : list.data[(uint32_t)(u * list.len)];
        }
        ovl_vec_free(&list);
    }
    add_axis(r, OVL_AXIS_SAMPLE, keys, n, values, rows);
}

/* --- Points --- */

static void check_keys(ovl_axis_reader *r)
{
    for (uint32_t i = 0; i < r->keys.len; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(r->keys.data[i].path, r->keys.data[k].path) == 0) {
                ovl_error(r->errs, r->code, r->keys.data[i].mark,
                          "\"%s\" is swept twice; a key belongs to one axis",
                          ovl_shown(r->keys.data[i].path, r->arena));
            }
        }
    }
    if (r->keys.len > OVL_KEYS_MAX) {
        ovl_error(r->errs, r->code, r->keys.data[OVL_KEYS_MAX].mark, "more than %d keys are swept",
                  OVL_KEYS_MAX);
    }
}

void ovl_axes_finish(ovl_axis_reader *r, ovl_axes *axes)
{
    uint64_t points = r->axes.len ? 1 : 0;
    check_keys(r);
    for (uint32_t i = 0; i < r->axes.len && points <= OVL_POINTS_MAX; i++) {
        points *= r->axes.data[i].n_rows;
    }
    if (points > OVL_POINTS_MAX) {
        ovl_error(r->errs, r->code, r->keys.data[0].mark,
                  "the axes make more than %d points; sweep fewer values, or draw some (sample)",
                  OVL_POINTS_MAX);
    }
    *axes = (ovl_axes){.n_keys = r->keys.len, .n_axes = r->axes.len, .n_points = (uint32_t)points};
    axes->keys = ovl_vec_freeze(&r->keys, r->arena);
    axes->axes = ovl_vec_freeze(&r->axes, r->arena);
}

void ovl_axes_rows(const ovl_axes *axes, uint32_t i, uint32_t *rows)
{
    for (uint32_t a = axes->n_axes; a-- > 0;) {
        rows[a] = i % axes->axes[a].n_rows;
        i /= axes->axes[a].n_rows;
    }
}

uint32_t ovl_axes_point(const ovl_axes *axes, uint32_t i, ovl_set *sets, const char **variant)
{
    uint32_t rows[OVL_KEYS_MAX], n = 0;
    ovl_axes_rows(axes, i, rows);
    for (uint32_t a = 0; a < axes->n_axes; a++) {
        const ovl_sweep_axis *axis = &axes->axes[a];
        for (uint32_t k = 0; k < axis->n_keys; k++) {
            const ovl_key *key = &axes->keys[axis->first_key + k];
            const ovl_node *value = axis->values[(size_t)rows[a] * axis->n_keys + k];
            if (value && strcmp(key->path, "variant") == 0) {
                *variant = value->text;
            } else if (value) {
                sets[n++] = (ovl_set){.path = key->path, .mark = key->mark, .value = value};
            }
        }
    }
    return n;
}

void ovl_axes_texts(const ovl_axes *axes, uint32_t i, const char **texts)
{
    uint32_t rows[OVL_KEYS_MAX];
    ovl_axes_rows(axes, i, rows);
    for (uint32_t a = 0; a < axes->n_axes; a++) {
        const ovl_sweep_axis *axis = &axes->axes[a];
        memcpy(texts + axis->first_key, axis->texts + (size_t)rows[a] * axis->n_keys,
               axis->n_keys * sizeof *texts);
    }
}
