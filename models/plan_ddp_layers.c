#include "models/layer.h"
#include "models/plan_ddp.h"

bool ovl_ddp_name(ovl_ddp_plan *p, const char *text, uint32_t first, uint32_t count)
{
    ovl_id id = ovl_names_add(&p->names, text);
    if (id < p->named.len) {
        return false;
    }
    ovl_vec_push(&p->named, (ovl_named){first, count});
    return true;
}

ovl_time ovl_ddp_copy_time(const ovl_ddp_plan *p, uint64_t bytes, ovl_time given)
{
    if (given > 0 || p->ddp->copy_in_rate == 0) {
        return given;
    }
    return ovl_bytes_time(bytes, p->ddp->copy_in_rate);
}

static void name_tensor(ovl_ddp_plan *p, const char *text, uint32_t tensor, ovl_mark mark)
{
    if (!ovl_ddp_name(p, text, tensor, 1)) {
        ovl_error(p->l->errs, OVL_E_INPUT, mark, "there are two gradients called \"%s\"", text);
    }
}

static void add_tensor(ovl_ddp_plan *p, ovl_tensor tensor, ovl_time copy_in)
{
    uint32_t i = p->n_tensors++;
    p->tensors[i] = tensor;
    p->copy_in[i] = p->copies ? ovl_ddp_copy_time(p, tensor.bytes, copy_in) : 0;
    name_tensor(p, tensor.name, i, tensor.mark);
}

/* --- Layers --- */

/* How many units and tensors there will be; false and an error beyond the limit. */
static bool count_layers(ovl_ddp_plan *p, uint32_t *n_units, uint32_t *n_tensors)
{
    const ovl_items *layers = &p->workload->layers;
    uint64_t units = 0, tensors = 0;
    for (uint32_t i = 0; i < layers->count; i++) {
        const ovl_layer *layer = OVL_ITEM(*layers, ovl_layer, i);
        uint64_t repeat = (uint64_t)OVL_MAX(layer->repeat, 1);
        uint64_t parts = layer->params > layer->expert_params;
        parts += layer->expert_params > 0;
        uint64_t each = layer->elements.count ? layer->elements.count : parts;
        if (repeat > OVL_PLAN_CODE_OPS || repeat * OVL_MAX(each, 1) > OVL_PLAN_CODE_OPS - tensors ||
            repeat > OVL_PLAN_CODE_OPS - units) {
            ovl_error(p->l->errs, OVL_E_INPUT, layer->mark,
                      "with layer \"%s\" there are more than %u layers or tensors", layer->name,
                      OVL_PLAN_CODE_OPS);
            return false;
        }
        units += repeat;
        tensors += repeat * each;
    }
    *n_units = (uint32_t)units;
    *n_tensors = (uint32_t)tensors;
    return true;
}

static void layer_tensors(ovl_ddp_plan *p, const ovl_layer *layer, const char *name,
                          const uint64_t *bytes)
{
    ovl_tensor tensor = {.name = name, .dtype = (ovl_dtype)layer->dtype, .mark = layer->mark};
    if (layer->elements.count == 0) {
        tensor.bytes = layer->params - layer->expert_params;
        if (tensor.bytes > 0) {
            add_tensor(p, tensor, 0);
        }
        if (layer->expert_params) {
            tensor.name = ovl_arena_printf(p->l->arena, "%s.experts", name);
            tensor.bytes = layer->expert_params;
            tensor.experts = true;
            add_tensor(p, tensor, 0);
        }
        return;
    }
    uint32_t first = p->n_tensors;
    for (uint32_t i = 0; i < layer->elements.count; i++) {
        tensor.name = ovl_arena_printf(p->l->arena, "%s.%" PRIu32, name, i);
        tensor.bytes = bytes[i];
        add_tensor(p, tensor, 0);
    }
    ovl_ddp_name(p, name, first, layer->elements.count);
}

/* The bytes of each tensor of a layer given by element counts. */
static uint64_t *element_bytes(ovl_ddp_plan *p, const ovl_layer *layer)
{
    uint32_t n;
    const uint64_t *counts = ovl_layer_elements(p->l, layer, &p->scratch, &n);
    uint64_t *bytes = OVL_NEW_ARRAY(&p->scratch, uint64_t, n);
    for (uint32_t i = 0; i < n; i++) {
        bytes[i] = counts[i] * ovl_dtype_size((ovl_dtype)layer->dtype);
    }
    return bytes;
}

/* All repeats of a layer under its plain name. A layer that a path has split comes in parts that
 * follow one another. */
static void name_layer(ovl_ddp_plan *p, const char *name, uint32_t first)
{
    ovl_id id = ovl_names_find(&p->names, name);
    uint32_t count = p->n_tensors - first;
    if (count == 0) {
        return; /* no parameters, no gradients */
    }
    if (id == OVL_NONE) {
        ovl_ddp_name(p, name, first, count);
    } else if (p->named.data[id].first + p->named.data[id].count == first) {
        p->named.data[id].count += count;
    }
}

static void add_layer(ovl_ddp_plan *p, const ovl_layer *layer)
{
    ovl_plan_cost forward = ovl_layer_forward(p->l, layer);
    ovl_plan_cost backward = ovl_layer_backward(p->l, layer);
    const uint64_t *bytes = element_bytes(p, layer);
    uint32_t first_of_all = p->n_tensors;
    int64_t repeat = OVL_MAX(layer->repeat, 1);
    for (int64_t i = 0; i < repeat; i++) {
        const char *name = ovl_layer_name(layer, i, p->l->arena);
        uint32_t first = p->n_tensors;
        layer_tensors(p, layer, name, bytes);
        p->units[p->n_units++] =
            (ovl_unit){.name = name,
                       .mark = layer->mark,
                       .inner = layer->inner,
                       .recompute = layer->inner && layer->recompute,
                       .again = layer->activations,
                       .forward = forward,
                       .backward = backward,
                       .n_ready = p->n_tensors - first,
                       .forward_host = layer->forward_host,
                       .backward_host = layer->backward_host,
                       .activation = layer->inner && layer->recompute ? layer->checkpoint
                                                                      : layer->activations};
    }
    if (repeat > 1 || layer->has_first) {
        name_layer(p, layer->name, first_of_all);
    }
}

static void say_activations(ovl_ddp_plan *p)
{
    for (uint32_t i = 0; i < p->n_units; i++) {
        if (p->units[i].activation.most) {
            return;
        }
    }
    ovl_plan_say(p->l, "Activations take no memory: no layer gives any.");
}

static void allocate(ovl_ddp_plan *p, uint32_t n_units, uint32_t n_tensors)
{
    p->units = OVL_NEW_ARRAY(&p->scratch, ovl_unit, n_units);
    p->tensors = OVL_NEW_ARRAY(&p->scratch, ovl_tensor, n_tensors);
    p->copy_in = OVL_NEW_ARRAY(&p->scratch, ovl_time, n_tensors);
    p->ready = OVL_NEW_ARRAY(&p->scratch, uint32_t, n_tensors);
}

void ovl_ddp_layers(ovl_ddp_plan *p)
{
    const ovl_items *layers = &p->workload->layers;
    uint32_t n_units, n_tensors;
    if (!count_layers(p, &n_units, &n_tensors)) {
        return;
    }
    allocate(p, n_units, n_tensors);
    bool backward = p->workload->order == OVL_ORDER_BACKWARD;
    for (uint32_t i = 0; i < layers->count; i++) {
        add_layer(p, OVL_ITEM(*layers, ovl_layer, backward ? layers->count - 1 - i : i));
    }
    /* The backward runs the layers, and within a layer its tensors, in reverse registration order.
     */
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->n_tensors; i++) {
        p->ready[i] = p->n_tensors - 1 - i;
    }
    for (uint32_t u = p->n_units; u-- > 0;) {
        p->units[u].first_ready = at;
        at += p->units[u].n_ready;
    }
    say_activations(p);
}

/* --- Gradients --- */

static const ovl_gradient *gradient_of(const ovl_ddp_plan *p, uint32_t tensor)
{
    return OVL_ITEM(p->workload->gradients, ovl_gradient, p->n_tensors - 1 - tensor);
}

/* Stable merge sort of `ready` by the moment given: lists are nearly sorted already, but may be
 * long. */
static void sort_ready(const ovl_ddp_plan *p, uint32_t *item, uint32_t *spare, uint32_t n)
{
    if (n < 2) {
        return;
    }
    uint32_t half = n / 2, a = 0, b = half;
    sort_ready(p, item, spare, half);
    sort_ready(p, item + half, spare, n - half);
    for (uint32_t i = 0; i < n; i++) {
        bool left = b == n ||
                    (a < half && gradient_of(p, item[a])->ready <= gradient_of(p, item[b])->ready);
        spare[i] = item[left ? a++ : b++];
    }
    memcpy(item, spare, n * sizeof *item);
}

/* "g5+a", or "g5+7" for many. */
static const char *piece_name(ovl_ddp_plan *p, uint32_t first, uint32_t n)
{
    const char *name = p->tensors[p->ready[first]].name;
    if (n > 3) {
        return ovl_arena_printf(p->l->arena, "%s+%" PRIu32, name, n - 1);
    }
    for (uint32_t i = 1; i < n; i++) {
        name = ovl_arena_printf(p->l->arena, "%s+%s", name, p->tensors[p->ready[first + i]].name);
    }
    return name;
}

static void add_piece(ovl_ddp_plan *p, const char *name, ovl_mark mark, ovl_time length,
                      uint32_t first, uint32_t n)
{
    ovl_kernel_spec spec = {.name = "backward",
                            .mark = mark,
                            .duration = {.item = &length, .count = 1},
                            .dtype = (ovl_dtype)p->workload->dtype,
                            .klass = "backward"};
    p->units[p->n_units++] = (ovl_unit){.name = name,
                                        .mark = mark,
                                        .forward = {.id = OVL_NONE},
                                        .backward = ovl_plan_kernel(p->l, &spec),
                                        .first_ready = first,
                                        .n_ready = n};
}

/* Copy-in kernels run right after the moment at which their gradient is ready and are part of the
 * backward, so the piece after them is shorter. They count as measured even where a bucket view
 * spares them: the backward is then shorter than the one that was given. */
static ovl_time copies_after(const ovl_ddp_plan *p, uint32_t first, uint32_t n)
{
    ovl_time sum = 0;
    for (uint32_t i = first; i < first + n; i++) {
        const ovl_gradient *gradient = gradient_of(p, p->ready[i]);
        ovl_time copy = ovl_ddp_copy_time(p, gradient->bytes, gradient->copy_in);
        sum = copy > OVL_NEVER - sum ? OVL_NEVER : sum + copy;
    }
    return sum;
}

/* Cuts the backward at the distinct ready times. Pieces come out in backward order. */
static void cut_backward(ovl_ddp_plan *p)
{
    char need[OVL_UNITS_TEXT], have[OVL_UNITS_TEXT];
    ovl_time now = 0;
    for (uint32_t first = 0, n; first < p->n_tensors; first += n) {
        const ovl_gradient *gradient = gradient_of(p, p->ready[first]);
        for (n = 1; first + n < p->n_tensors; n++) {
            if (gradient_of(p, p->ready[first + n])->ready != gradient->ready) {
                break;
            }
        }
        if (now > gradient->ready) {
            ovl_error(p->l->errs, OVL_E_INPUT, gradient->mark,
                      "\"%s\" is ready at %s, but copy-in kernels before it run until %s",
                      gradient->name, ovl_print_time(have, gradient->ready),
                      ovl_print_time(need, now));
            return;
        }
        add_piece(p, piece_name(p, first, n), gradient->mark, gradient->ready - now, first, n);
        ovl_time copies = copies_after(p, first, n);
        now = copies > OVL_NEVER - gradient->ready ? OVL_NEVER : gradient->ready + copies;
    }
    ovl_time backward = p->workload->backward;
    if (backward > 0 && now > backward) {
        ovl_error(p->l->errs, OVL_E_INPUT, p->workload->mark,
                  "the backward of %s is over before its last gradient is ready and copied, at %s",
                  ovl_print_time(have, backward), ovl_print_time(need, now));
    } else if (now < backward) {
        add_piece(p, "end", p->workload->mark, backward - now, p->n_tensors, 0);
    }
}

static void reverse_units(ovl_ddp_plan *p)
{
    for (uint32_t i = 0; i < p->n_units / 2; i++) {
        ovl_unit *a = &p->units[i], *b = &p->units[p->n_units - 1 - i], kept = *a;
        *a = *b;
        *b = kept;
    }
}

void ovl_ddp_gradients(ovl_ddp_plan *p)
{
    const ovl_items *gradients = &p->workload->gradients;
    uint32_t n = gradients->count;
    allocate(p, n + 1, n);
    for (uint32_t i = 0; i < n; i++) { /* given in backward order, registered in reverse */
        const ovl_gradient *g = OVL_ITEM(*gradients, ovl_gradient, n - 1 - i);
        add_tensor(p, (ovl_tensor){g->name, g->bytes, (ovl_dtype)g->dtype, g->mark, false},
                   g->copy_in);
    }
    for (uint32_t i = 0; i < n; i++) {
        p->ready[i] = n - 1 - i;
    }
    sort_ready(p, p->ready, OVL_NEW_ARRAY(&p->scratch, uint32_t, n), n);
    cut_backward(p);
    reverse_units(p);
    ovl_plan_say(p->l, "The forward pass is not modelled: the workload gives gradients only.");
}
