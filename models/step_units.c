#include "models/expert.h"
#include "models/layer.h"
#include "models/step.h"

/* How many units there will be; false and an error beyond the limit. */
static bool count_units(const ovl_step *s, uint32_t *n)
{
    const ovl_items *layers = &s->workload->layers;
    uint64_t units = 0;
    for (uint32_t i = 0; i < layers->count; i++) {
        const ovl_layer *layer = OVL_ITEM(*layers, ovl_layer, i);
        units += (uint64_t)OVL_MAX(layer->repeat, 1) * (layer->expert_params ? 2 : 1);
        if (units > OVL_PLAN_CODE_OPS) {
            ovl_error(s->l->errs, OVL_E_INPUT, layer->mark,
                      "with layer \"%s\" there are more than %u layers", layer->name,
                      OVL_PLAN_CODE_OPS);
            return false;
        }
    }
    *n = (uint32_t)units;
    return true;
}

/* Sums stay below an EiB, so that no sum of bytes overflows. */
static bool add_elements(ovl_step *s, ovl_step_unit *unit, uint64_t *sum)
{
    const uint64_t most = (uint64_t)1 << 57;
    for (uint32_t i = 0; i < unit->n_tensors; i++) {
        if (unit->elements[i] > most - *sum) {
            ovl_error(s->l->errs, OVL_E_INPUT, unit->mark,
                      "with \"%s\" there are more than 2^57 parameters", unit->name);
            return false;
        }
        *sum += unit->elements[i];
        unit->n_elements += unit->elements[i];
    }
    return true;
}

/* The experts of the unit added last. */
static bool add_experts(ovl_step *s, const ovl_layer *layer, uint64_t *sum)
{
    const char *name = s->units[s->n_units - 1].name;
    ovl_step_unit *unit = &s->units[s->n_units++];
    uint64_t *elements = OVL_NEW(&s->scratch, uint64_t);
    *elements = layer->expert_params / ovl_dtype_size((ovl_dtype)layer->dtype);
    *unit = (ovl_step_unit){.name = ovl_arena_printf(s->l->arena, "%s.experts", name),
                            .mark = layer->mark,
                            .layer = layer,
                            .forward = {.id = OVL_NONE},
                            .backward = {.id = OVL_NONE},
                            .recompute = {.id = OVL_NONE},
                            .input = {.id = OVL_NONE},
                            .weight = {.id = OVL_NONE},
                            .elements = elements,
                            .n_tensors = 1,
                            .dtype = (ovl_dtype)layer->dtype,
                            .experts = true};
    return add_elements(s, unit, sum);
}

static bool add_layer(ovl_step *s, const ovl_layer *layer, uint64_t *sum)
{
    ovl_step_unit unit = {.mark = layer->mark,
                          .layer = layer,
                          .forward = ovl_layer_forward(s->l, layer),
                          .backward = ovl_layer_backward(s->l, layer),
                          .input = ovl_layer_part(s->l, layer, false),
                          .weight = ovl_layer_part(s->l, layer, true),
                          .dtype = (ovl_dtype)layer->dtype,
                          .activation = layer->activations};
    unit.recompute = ovl_layer_recompute(s->l, layer, unit.forward);
    unit.elements = ovl_layer_elements(s->l, layer, &s->scratch, &unit.n_tensors);
    for (int64_t i = 0; i < OVL_MAX(layer->repeat, 1); i++) {
        ovl_step_unit *own = &s->units[s->n_units++];
        *own = unit;
        own->name = ovl_layer_name(layer, i, s->l->arena);
        if (!add_elements(s, own, sum) || (layer->expert_params && !add_experts(s, layer, sum))) {
            return false;
        }
    }
    return true;
}

/* Ranks whose experts differ. */
static bool find_experts(ovl_step *s)
{
    const char *axes = ovl_expert_axes(s->l);
    s->expert_parts = axes ? ovl_plan_group(s->l, axes, s->workload->mark) : NULL;
    return !axes || s->expert_parts;
}

static void say_activations(ovl_step *s)
{
    for (uint32_t u = 0; u < s->n_units; u++) {
        if (s->units[u].activation.most) {
            return;
        }
    }
    ovl_plan_say(s->l, "Activations take no memory: no layer gives any.");
}

bool ovl_step_units(ovl_step *s)
{
    const ovl_items *layers = &s->workload->layers;
    uint32_t n, errors = s->l->errs->errors;
    uint64_t sum = 0;
    if (!count_units(s, &n) || !find_experts(s)) {
        return false;
    }
    s->units = OVL_NEW_ARRAY(&s->scratch, ovl_step_unit, n);
    bool backward = s->workload->order == OVL_ORDER_BACKWARD;
    for (uint32_t i = 0; i < layers->count; i++) {
        uint32_t at = backward ? layers->count - 1 - i : i;
        if (!add_layer(s, OVL_ITEM(*layers, ovl_layer, at), &sum)) {
            return false;
        }
    }
    s->microbatches = s->averaged = (uint32_t)OVL_MAX(s->workload->microbatches, 1);
    say_activations(s);
    return s->l->errs->errors == errors;
}

bool ovl_step_find(const ovl_step *s, const char *name, uint32_t *first, uint32_t *count)
{
    *count = 0;
    for (uint32_t u = 0; u < s->n_units; u++) {
        const ovl_step_unit *unit = &s->units[u];
        if (strcmp(unit->name, name) == 0 || strcmp(unit->layer->name, name) == 0) {
            *first = *count ? *first : u;
            *count = u - *first + 1;
        }
    }
    return *count > 0;
}
