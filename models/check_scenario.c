#include "models/tables.h"
#include "sim/names.h"

#include <stdlib.h>
#include <string.h>

/* --- Repeated names --- */

typedef struct named {
    const char *name;
    int64_t first, end; /* repeats it covers; -1, -1 + 1 for a name without numbers */
    ovl_mark mark;
    uint32_t at;
} named;

static int compare_named(const void *a, const void *b)
{
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    order = order ? order : (x->first > y->first) - (x->first < y->first);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Two of one name collide if the numbers they cover do. The one that stands later is told. */
static void tell_collisions(const char *what, named *items, uint32_t n, ovl_errs *errs)
{
    if (n > 1) {
        qsort(items, n, sizeof *items, compare_named);
    }
    uint32_t widest = 0; /* of the same name, the one that reaches furthest so far */
    for (uint32_t i = 1; i < n; i++) {
        bool same = strcmp(items[widest].name, items[i].name) == 0;
        if (same && items[i].first < items[widest].end) {
            const named *early = &items[widest], *late = &items[i];
            if (early->at > late->at) {
                early = &items[i];
                late = &items[widest];
            }
            ovl_error(errs, OVL_E_INPUT, late->mark,
                      "%s \"%s\" is there twice; the first is at line %" PRIu32 ", column %" PRIu32,
                      what, ovl_shown(late->name, errs->arena), early->mark.line,
                      early->mark.column);
        }
        if (!same || items[i].end > items[widest].end) {
            widest = i;
        }
    }
}

void ovl_check_repeats(const char *what, const char *const *names, const ovl_mark *marks,
                       uint32_t n, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    named *items = OVL_NEW_ARRAY(&scratch, named, n);
    for (uint32_t i = 0; i < n; i++) {
        items[i] = (named){.name = names[i], .first = -1, .mark = marks[i], .at = i};
    }
    tell_collisions(what, items, n, errs);
    ovl_arena_free(&scratch);
}

static void check_layer_names(const ovl_items *layers, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    named *items = OVL_NEW_ARRAY(&scratch, named, layers->count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < layers->count; i++) {
        const ovl_layer *layer = OVL_ITEM(*layers, ovl_layer, i);
        if (!layer->name) {
            continue;
        }
        named item = {.name = layer->name, .first = -1, .mark = layer->mark, .at = i};
        if (layer->repeat > 1 || layer->has_first) {
            item.first = layer->first;
            item.end = layer->first + layer->repeat;
        }
        items[n++] = item;
    }
    tell_collisions("layer", items, n, errs);
    ovl_arena_free(&scratch);
}

static void check_gradients(const ovl_workload *workload, ovl_errs *errs)
{
    const ovl_items *gradients = &workload->gradients;
    ovl_arena scratch = {0};
    named *items = OVL_NEW_ARRAY(&scratch, named, gradients->count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < gradients->count; i++) {
        const ovl_gradient *g = OVL_ITEM(*gradients, ovl_gradient, i);
        if (g->name) {
            items[n++] = (named){.name = g->name, .first = -1, .mark = g->mark, .at = i};
        }
        if (!workload->backward) {
            continue; /* missing: told already */
        }
        ovl_time end = workload->backward;
        if (g->ready > end || g->copy_in > end - g->ready) {
            char ready[OVL_UNITS_TEXT], over[OVL_UNITS_TEXT];
            ovl_error(errs, OVL_E_INPUT, g->mark,
                      "gradient \"%s\", ready at %s, is not ready and copied in when the backward "
                      "ends, at %s",
                      g->name ? ovl_shown(g->name, errs->arena) : "",
                      ovl_print_time(ready, g->ready), ovl_print_time(over, end));
        }
    }
    tell_collisions("gradient", items, n, errs);
    ovl_arena_free(&scratch);
}

/* --- Durations for each rank --- */

static void check_times(const ovl_times *times, const char *what, ovl_mark mark, int64_t n_ranks,
                        ovl_errs *errs)
{
    if ((times->count > 1 || times->listed) && times->count != n_ranks) {
        ovl_error(errs, OVL_E_INPUT, mark,
                  "%s: a list has one duration for each rank; found %" PRIu32 " for %s", what,
                  times->count, ovl_counted(errs->arena, (uint64_t)n_ranks, "rank"));
    }
}

/* Layers of a stage are one kernel, whose time is a sum. */
static void check_laws(const ovl_scenario *s, const ovl_layer *layer, ovl_errs *errs)
{
    if (s->pipeline.given && (layer->forward.law || layer->backward.law)) {
        ovl_error(errs, OVL_E_INPUT, layer->mark,
                  "layers of a pipeline run as stages, whose times are sums: say how they vary in "
                  "`variation`, by kind or by name");
    }
}

static void check_layers(const ovl_scenario *s, ovl_errs *errs)
{
    const ovl_items *layers = &s->workload.layers;
    for (uint32_t i = 0; i < layers->count; i++) {
        const ovl_layer *layer = OVL_ITEM(*layers, ovl_layer, i);
        check_times(&layer->forward, "forward", layer->mark, s->n_ranks, errs);
        check_times(&layer->backward, "backward", layer->mark, s->n_ranks, errs);
        check_laws(s, layer, errs);
        if (layer->has_first && layer->first + layer->repeat > 1000000) {
            ovl_error(errs, OVL_E_INPUT, layer->mark, "a layer is numbered up to 999999");
        }
    }
    check_layer_names(layers, errs);
}

/* --- Sharded data parallelism --- */

/* Recomputing and offloading are the step's (models/step.h), which overlap.fsdp writes. */
static void check_kept(const ovl_scenario *s, const ovl_layer *layer, ovl_errs *errs)
{
    if (layer->offload && !s->workload.offload.given) {
        ovl_error(errs, OVL_E_INPUT, layer->mark,
                  "layer \"%s\" is offloaded: workload.offload has to say how fast, such as "
                  "{d2h: 25 GB/s, h2d: 25 GB/s}",
                  layer->name);
    }
    if (layer->offload && (layer->recompute ? &layer->checkpoint : &layer->activations)->of) {
        ovl_error(errs, OVL_E_INPUT, layer->mark,
                  "layer \"%s\" is offloaded: what it keeps has one size, not one for each rank",
                  layer->name);
    }
    if (!layer->inner && !s->fsdp.given && !s->zero.given && (layer->offload || layer->recompute)) {
        ovl_warning(errs, layer->mark,
                    "\"%s\" has no effect: it belongs to overlap.fsdp and overlap.zero",
                    layer->offload ? "offload" : "recompute");
    }
}

/* Keys of a layer that need another one. */
static void check_needs(const ovl_scenario *s, const ovl_layer *layer, ovl_errs *errs)
{
    bool again = layer->recompute, sharded = s->fsdp.given || s->zero.given;
    if (sharded && !again && (layer->checkpoint.most || layer->recompute_time.count)) {
        ovl_warning(errs, layer->mark,
                    "\"%s\" of layer \"%s\" has no effect without recompute: true",
                    layer->checkpoint.most ? "checkpoint" : "recompute_time", layer->name);
    }
    if (sharded && layer->offload &&
        (again ? &layer->checkpoint : &layer->activations)->most == 0) {
        ovl_warning(errs, layer->mark,
                    "layer \"%s\" is offloaded but keeps nothing: it gives no %s", layer->name,
                    again ? "checkpoint" : "activations");
    }
}

/* Settings of overlap.fsdp that this workload leaves without a meaning. */
static void check_idle(const ovl_scenario *s, ovl_errs *errs)
{
    const ovl_fsdp_accumulate *a = &s->fsdp.accumulate;
    bool again = s->workload.model.given;
    for (uint32_t i = 0; i < s->workload.layers.count; i++) {
        const ovl_layer *layer = OVL_ITEM(s->workload.layers, ovl_layer, i);
        again |= layer->recompute || layer->inner;
    }
    if (s->fsdp.regather && s->fsdp.policy == OVL_FSDP_1 && !again) {
        ovl_warning(errs, s->fsdp.mark,
                    "\"regather_for_recompute\" has no effect: no layer has recompute: true");
    }
    if (s->workload.microbatches > 1 || s->workload.steps > 1 || s->pipeline.given) {
        return;
    }
    if (a->gradient_sync != OVL_FSDP_EVERY) {
        ovl_warning(errs, a->mark, "\"gradient_sync\" has no effect with one microbatch");
    }
    if (!a->reshard_after_backward) {
        ovl_warning(errs, a->mark, "\"reshard_after_backward\" has no effect with one microbatch");
    }
}

static void check_fsdp(const ovl_scenario *s, ovl_errs *errs)
{
    const ovl_workload *workload = &s->workload;
    for (uint32_t i = 0; i < workload->layers.count; i++) {
        check_kept(s, OVL_ITEM(workload->layers, ovl_layer, i), errs);
        check_needs(s, OVL_ITEM(workload->layers, ovl_layer, i), errs);
    }
    if (s->fsdp.given) {
        check_idle(s, errs);
    }
    const char *own = s->fsdp.given ? "overlap.fsdp" : "overlap.zero";
    ovl_mark mark = s->fsdp.given ? s->fsdp.mark : s->zero.mark;
    if (!s->fsdp.given && !s->zero.given) {
        return;
    }
    const char *other = s->fsdp.given && s->zero.given ? "overlap.zero"
                        : s->ddp.given                 ? "overlap.ddp"
                        : s->pipeline.given && s->pipeline.data.given
                            ? "overlap.pipeline.data_parallel"
                            : NULL;
    if (other) {
        ovl_error(errs, OVL_E_INPUT, mark, "%s does not go together with %s", own, other);
    }
    if (workload->layers.count == 0) {
        ovl_error(errs, OVL_E_INPUT, mark, "%s arranges layers, not %s", own,
                  workload->ops.count      ? "an explicit program (ops)"
                  : workload->stages.count ? "stages"
                                           : "gradients");
    }
}

/* --- Pipelines --- */

static void check_stage_names(const ovl_items *stages, ovl_errs *errs)
{
    ovl_arena scratch = {0};
    named *items = OVL_NEW_ARRAY(&scratch, named, stages->count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < stages->count; i++) {
        const ovl_stage *s = OVL_ITEM(*stages, ovl_stage, i);
        bool numbered = s->repeat > 1 || s->has_first;
        if (s->name) {
            items[n++] = (named){.name = s->name,
                                 .first = numbered ? s->first : -1,
                                 .end = numbered ? s->first + s->repeat : 0,
                                 .mark = s->mark,
                                 .at = i};
        }
    }
    tell_collisions("stage", items, n, errs);
    ovl_arena_free(&scratch);
}

static void check_pipeline(const ovl_scenario *s, ovl_errs *errs)
{
    const ovl_workload *workload = &s->workload;
    check_stage_names(&workload->stages, errs);
    if (workload->stages.count && !s->pipeline.given) {
        ovl_error(errs, OVL_E_INPUT, workload->mark,
                  "stages need a schedule: overlap.pipeline, such as {schedule: 1f1b, "
                  "microbatches: 8}");
    }
    if (s->pipeline.recompute && workload->model.given) {
        ovl_error(errs, OVL_E_INPUT, s->pipeline.mark,
                  "recompute: of a model it is workload.model.recompute that says so");
    }
    if (s->pipeline.given && workload->steps > 1) {
        ovl_error(errs, OVL_E_INPUT, workload->mark,
                  "steps: a pipeline drains at the end of its step, so a second step is like the "
                  "first; leave it out");
    }
    if (s->pipeline.given && s->ddp.given && (workload->stages.count || s->pipeline.data.given)) {
        ovl_error(
            errs, OVL_E_INPUT, s->ddp.mark,
            workload->stages.count
                ? "overlap.ddp in a pipeline arranges layers, not stages; overlap.pipeline has "
                  "data_parallel: {group: %s}"
                : "overlap.ddp does not go together with overlap.pipeline.data_parallel, which "
                  "reduces over group %s, too",
            s->ddp.group);
    }
    if (s->pipeline.given && (workload->ops.count || workload->gradients.count)) {
        ovl_error(errs, OVL_E_INPUT, s->pipeline.mark,
                  "overlap.pipeline arranges stages or layers, not %s",
                  workload->ops.count ? "an explicit program (ops)" : "gradients");
    }
}

/* --- Operations --- */

typedef struct op_check {
    const ovl_scenario *scenario;
    ovl_names links;
    ovl_errs *errs;
} op_check;

static void check_sms(const op_check *c, const ovl_xop *op)
{
    int64_t all = c->scenario->hw.gpu.sms;
    if (all && op->kernel && op->sms > all) {
        ovl_error(c->errs, OVL_E_INPUT, op->mark,
                  "a kernel cannot want %" PRId64 " SMs of a GPU that has %" PRId64, op->sms, all);
    } else if (all && !op->kernel && op->sms >= all) {
        ovl_error(c->errs, OVL_E_INPUT, op->mark,
                  "holding %" PRId64 " SMs of a GPU that has %" PRId64 " leaves none for kernels",
                  op->sms, all);
    }
}

/* ovl_finish_scenario left `checked` on; here it goes off again on the way. */
static void check_ops(const op_check *c, const ovl_items *ops)
{
    for (uint32_t i = 0; i < ops->count; i++) {
        ovl_xop *op = OVL_ITEM(*ops, ovl_xop, i);
        if (!op->checked) {
            return;
        }
        op->checked = false;
        check_times(&op->duration, "duration", op->mark, c->scenario->n_ranks, c->errs);
        check_sms(c, op);
        for (uint32_t k = 0; k < op->via.count; k++) {
            if (ovl_names_find(&c->links, op->via.item[k]) == OVL_NONE) {
                ovl_unknown_name(op->via.mark[k], "link", op->via.item[k], c->links.text,
                                 c->links.count, OVL_E_INPUT, c->errs);
            } else {
                ovl_check_via_again(&op->via, k, c->errs);
            }
        }
        check_ops(c, &op->ops);
    }
}

void ovl_check_scenario(ovl_scenario *s, ovl_errs *errs)
{
    if (s->ddp.given && s->workload.ops.count) {
        ovl_error(errs, OVL_E_INPUT, s->ddp.mark,
                  "overlap.ddp arranges the gradients of layers or gradients; an explicit program "
                  "(ops) arranges its own");
    }
    check_fsdp(s, errs);
    check_pipeline(s, errs);
    check_layers(s, errs);
    check_gradients(&s->workload, errs);
    ovl_arena scratch = {0};
    op_check c = {.scenario = s, .links = {.arena = &scratch}, .errs = errs};
    for (uint32_t i = 0; i < s->hw.n_links; i++) {
        ovl_names_add(&c.links, s->hw.links[i].name);
    }
    check_ops(&c, &s->workload.ops);
    ovl_arena_free(&scratch);
}
