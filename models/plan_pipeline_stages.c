#include "models/plan_pipeline.h"

const ovl_pipe_stage *ovl_pipe_stage_of(const ovl_pipe_plan *p, uint32_t stage)
{
    return &p->stages[stage % p->n_stages];
}

const ovl_pipe_stage *ovl_pipe_stage_on(const ovl_pipe_plan *p, uint32_t stage, uint32_t rank)
{
    return p->on ? &p->on[p->l->machine_of[rank]][stage % p->n_stages]
                 : ovl_pipe_stage_of(p, stage);
}

ovl_time ovl_pipe_time(ovl_times times, uint32_t microbatch)
{
    return times.count == 0 ? 0 : times.item[times.count > 1 ? microbatch : 0];
}

/* --- From stages --- */

static ovl_pipe_stage from_stage(ovl_pipe_plan *p, const ovl_stage *s, int64_t repeat)
{
    ovl_pipe_stage stage = {.name = s->name,
                            .mark = s->mark,
                            .forward = s->forward,
                            .input = s->backward_input,
                            .weight = s->backward_weight,
                            .backward = s->backward,
                            .pair = s->overlapped,
                            .params = s->params,
                            .activations = s->activations,
                            .kept =
                                s->has_weight_activations ? s->weight_activations : s->activations,
                            .transfer = s->transfer,
                            .has_transfer = s->has_transfer,
                            .checkpoint = s->has_checkpoint ? s->checkpoint : UINT64_MAX,
                            .klass = s->klass};
    stage.again = repeat > 0;
    if (s->repeat > 1) {
        stage.name = ovl_arena_printf(p->l->arena, "%s[%" PRId64 "]", s->name, repeat);
    }
    return stage;
}

static void stages_from_stages(ovl_pipe_plan *p)
{
    OVL_VEC(ovl_pipe_stage) stages = {0};
    for (uint32_t i = 0; i < p->workload->stages.count; i++) {
        const ovl_stage *s = OVL_ITEM(p->workload->stages, ovl_stage, i);
        for (int64_t k = 0; k < s->repeat && stages.len < UINT16_MAX; k++) {
            ovl_vec_push(&stages, from_stage(p, s, k));
        }
    }
    p->n_stages = stages.len;
    p->stages = ovl_vec_freeze(&stages, &p->scratch);
}

/* --- From layers --- */

/* A layer with its times. */
typedef struct piece {
    const ovl_layer *layer;
    ovl_time forward, backward, weight; /* backward: with what it computes again */
} piece;

/* Layers in forward order, each repeat apart. */
typedef struct layers {
    OVL_VEC(piece) item;
} layers;

static bool check_layer(ovl_pipe_plan *p, const ovl_layer *layer)
{
    uint32_t errors = p->l->errs->errors;
    if (layer->inner) {
        return true;
    }
    bool forward = layer->forward.count || layer->forward_flops > 0 || layer->hbm;
    bool backward =
        layer->backward.count || layer->backward_flops > 0 || layer->backward_hbm || layer->hbm;
    if (!forward || !backward) {
        ovl_error(
            p->l->errs, OVL_E_INPUT, layer->mark,
            "layer \"%s\" of a pipeline needs the times, or FLOPs, of its forward and backward",
            layer->name);
    } else if (layer->forward.listed || layer->backward.listed) {
        ovl_error(p->l->errs, OVL_E_INPUT, layer->mark,
                  "layer \"%s\" of a pipeline has one time, not one for each rank", layer->name);
    } else if (layer->activations.of) {
        ovl_error(p->l->errs, OVL_E_INPUT, layer->mark,
                  "layer \"%s\" of a pipeline has one size of activations, not one for each rank",
                  layer->name);
    } else if (layer->has_backward_weight && layer->backward.count &&
               layer->backward_weight > layer->backward.item[0]) {
        ovl_error(p->l->errs, OVL_E_INPUT, layer->mark,
                  "layer \"%s\": backward_weight is part of backward, but longer", layer->name);
    } else if (layer->elements.count) {
        ovl_error(p->l->errs, OVL_E_INPUT, layer->mark,
                  "layer \"%s\" of a pipeline gives params, not elements", layer->name);
    }
    return p->l->errs->errors == errors;
}

/* What a pass of a layer takes on a healthy GPU: its time, or that of its FLOPs and bytes. Slow
 * GPUs count when the kernels of its stage are made. */
static ovl_time layer_time(ovl_pipe_plan *p, const ovl_layer *layer, bool forward)
{
    const ovl_times *times = forward ? &layer->forward : &layer->backward;
    if (times->count) {
        return ovl_stated(p->l, times->item[0]);
    }
    uint64_t backward_hbm = layer->backward_hbm ? layer->backward_hbm : 2 * layer->hbm;
    ovl_kernel_spec spec = {.name = layer->name,
                            .mark = layer->mark,
                            .flops = forward ? layer->forward_flops : layer->backward_flops,
                            .hbm = forward ? layer->hbm : backward_hbm,
                            .dtype = (ovl_dtype)layer->dtype,
                            .klass = forward ? "forward" : "backward"};
    return ovl_plan_alone(p->l, &spec);
}

static piece piece_of(ovl_pipe_plan *p, const ovl_layer *layer)
{
    const ovl_inner *inner = layer->inner;
    piece item = {.layer = layer};
    if (!inner) {
        item.forward = layer_time(p, layer, true);
        item.backward = layer_time(p, layer, false);
        item.weight = ovl_stated(p->l, layer->backward_weight);
        return item;
    }
    item.forward = ovl_inner_time(p->l, inner, OVL_INNER_FORWARD, layer->mark);
    item.backward = ovl_inner_time(p->l, inner, OVL_INNER_BACKWARD, layer->mark) +
                    ovl_inner_time(p->l, inner, OVL_INNER_AGAIN, layer->mark);
    item.weight = ovl_inner_time(p->l, inner, OVL_INNER_BACKWARD_WEIGHT, layer->mark);
    return item;
}

static bool list_layers(ovl_pipe_plan *p, layers *list)
{
    const uint32_t most = 1000000;
    uint32_t n = p->workload->layers.count;
    bool ok = true, turned = p->workload->order == OVL_ORDER_BACKWARD;
    for (uint32_t i = 0; i < n; i++) {
        const ovl_layer *layer = OVL_ITEM(p->workload->layers, ovl_layer, turned ? n - 1 - i : i);
        ok = check_layer(p, layer) && ok;
        uint32_t errors = p->l->errs->errors;
        piece item = {.layer = layer};
        if (ok) {
            item = piece_of(p, layer);
            ok = p->l->errs->errors == errors;
        }
        for (int64_t k = 0; ok && k < layer->repeat && list->item.len < most; k++) {
            ovl_vec_push(&list->item, item);
        }
    }
    return ok;
}

static ovl_times one_time(ovl_pipe_plan *p, ovl_time value)
{
    ovl_time *item = OVL_NEW(&p->scratch, ovl_time);
    *item = value;
    return (ovl_times){.item = item, .count = 1};
}

/* Kernels inside a layer know which of them are for weights; else it says how long that takes. */
static bool is_split(const ovl_layer *layer)
{
    return layer->has_backward_weight || layer->inner;
}

/* Sums of layers, of none: no time; the transfer is that of the last one. */
static ovl_pipe_stage sum_layers(ovl_pipe_plan *p, const piece *list, uint32_t n, uint32_t number)
{
    ovl_time forward = 0, backward = 0, weight = 0;
    bool split = true;
    ovl_pipe_stage stage = {.name = ovl_arena_printf(p->l->arena, "stage %" PRIu32, number),
                            .mark = n ? list[0].layer->mark : p->workload->mark};
    for (uint32_t i = 0; i < n; i++) {
        const ovl_layer *layer = list[i].layer;
        forward += list[i].forward;
        backward += list[i].backward;
        weight += list[i].weight;
        split = split && is_split(layer);
        stage.params += layer->params;
        stage.expert_params += layer->expert_params;
        stage.activations += layer->activations.most;
        stage.transfer = layer->transfer;
        stage.has_transfer = layer->has_transfer;
    }
    stage.kept = stage.activations;
    stage.checkpoint = UINT64_MAX;
    stage.forward = one_time(p, forward);
    stage.backward = one_time(p, backward);
    if (split) {
        stage.weight = one_time(p, weight);
    }
    return stage;
}

/* What layers take on each sort of nodes, and which of these run each stage: what counts for a
 * stage is the slowest. */
typedef struct by_time {
    const layers *on;         /* [machines], alike but for times */
    const uint32_t *machines; /* [n] bits */
    uint32_t n, count;        /* stages; layers */
} by_time;

static ovl_time on_slowest(const by_time *t, uint32_t machines, uint32_t layer)
{
    ovl_time longest = 0;
    for (uint32_t i = 0; machines >> i; i++) {
        if (machines >> i & 1) {
            const piece *item = &t->on[i].item.data[layer];
            longest = OVL_MAX(longest, item->forward + item->backward);
        }
    }
    return longest;
}

/* Whether the layers fit the stages with at most `most`; fills how many each gets. A stage has one
 * layer at least, so the last ones take no more than what leaves one for each behind them. */
static bool fits(const by_time *t, ovl_time most, uint32_t *counts)
{
    uint32_t at = 0;
    for (uint32_t s = 0; s < t->n; s++) {
        ovl_time sum = 0;
        counts[s] = 0;
        while (at < t->count - (t->n - 1 - s)) {
            ovl_time more = on_slowest(t, t->machines[s], at);
            if (counts[s] && sum + more > most) {
                break;
            }
            sum += more;
            counts[s]++;
            at++;
        }
        if (sum > most) {
            return false;
        }
    }
    return at == t->count;
}

/* The shortest longest stage, by halving. */
static void halve(const by_time *t, uint32_t *counts)
{
    ovl_time low = 0, high = 0;
    uint32_t all = 0;
    for (uint32_t s = 0; s < t->n; s++) {
        all |= t->machines[s];
    }
    for (uint32_t i = 0; i < t->count; i++) {
        high += on_slowest(t, all, i);
    }
    while (low < high) {
        ovl_time middle = low + (high - low) / 2;
        if (fits(t, middle, counts)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    fits(t, high, counts);
}

/* By the GPUs that run the stages. False after an error. */
static bool share_by_time(ovl_pipe_plan *p, const layers *list, uint32_t *counts)
{
    ovl_lowering *l = p->l;
    const ovl_hw *hw = l->hw;
    layers *on = OVL_NEW_ARRAY(&p->scratch, layers, OVL_MAX(l->n_machines, 1));
    uint32_t *machines = OVL_NEW_ARRAY(&p->scratch, uint32_t, p->n_stages);
    bool ok = true;
    on[0] = *list;
    l->one_gpu = l->n_machines > 1;
    for (uint32_t i = 1; i < l->n_machines && ok; i++) {
        l->hw = &l->machines[i];
        ok = list_layers(p, &on[i]);
    }
    l->one_gpu = false;
    l->hw = hw;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        machines[s] = ovl_pipe_machines(p, s);
    }
    if (ok) {
        halve(&(by_time){on, machines, p->n_stages, list->item.len}, counts);
    }
    for (uint32_t i = 1; i < l->n_machines; i++) {
        ovl_vec_free(&on[i].item);
    }
    return ok;
}

/* As many layers on each stage as can be, or as even in time. False after an error. */
static bool share_evenly(ovl_pipe_plan *p, const layers *list, uint32_t *counts)
{
    uint32_t n = list->item.len;
    if (n < p->n_stages) {
        ovl_error(p->l->errs, OVL_E_INPUT,
                  p->pipe->virtual_stages ? p->pipe->virtual_stages_mark : p->pipe->schedule_mark,
                  "fewer layers than stages: %" PRIu32 " for %" PRIu32, n, p->n_stages);
        return false;
    }
    if (p->pipe->split == OVL_SPLIT_TIME) {
        return share_by_time(p, list, counts);
    }
    for (uint32_t s = 0; s < p->n_stages; s++) {
        counts[s] = (uint32_t)(((uint64_t)s + 1) * n / p->n_stages - (uint64_t)s * n / p->n_stages);
    }
    return true;
}

/* How many layers each stage gets. False after an error. */
static bool share_layers(ovl_pipe_plan *p, const layers *list, uint32_t *counts)
{
    const ovl_texts *split = &p->pipe->layers_per_stage;
    uint32_t n = list->item.len;
    int64_t sum = 0;
    if (split->count == 0) {
        return share_evenly(p, list, counts);
    }
    for (uint32_t s = 0; s < split->count; s++) {
        int64_t count = 0;
        const char *why =
            ovl_read_count(split->item[s], &count)
                ? "expected a list of counts, one for each stage, such as [3, 3, 3, 1]"
            : count < 0 || count > n ? "no more than all layers"
                                     : NULL;
        if (why) {
            ovl_error(p->l->errs, OVL_E_INPUT, split->mark[s], "layers_per_stage: \"%s\": %s",
                      split->item[s], why);
            return false;
        }
        sum += count;
        if (s < p->n_stages) {
            counts[s] = (uint32_t)count;
        }
    }
    if (sum != n || split->count != p->n_stages) {
        ovl_error(p->l->errs, OVL_E_INPUT, split->mark[0],
                  "layers_per_stage shares out %s among %s; the workload has %s and the pipeline "
                  "%s",
                  ovl_counted(p->l->errs->arena, (uint64_t)sum, "layer"),
                  ovl_counted(p->l->errs->arena, split->count, "stage"),
                  ovl_counted(p->l->errs->arena, n, "layer"),
                  ovl_counted(p->l->errs->arena, p->n_stages, "stage"));
        return false;
    }
    return true;
}

bool ovl_pipe_apart(const ovl_pipe_plan *p)
{
    const ovl_scenario *s = p->l->scenario;
    return s->fsdp.given || s->zero.given || s->ddp.given;
}

/* Layers that are more than one kernel are run one by one, as those of a step. */
static void find_units(ovl_pipe_plan *p, const uint32_t *counts)
{
    p->step = (ovl_step){.l = p->l, .workload = p->workload};
    bool apart = p->workload->model.given || ovl_pipe_apart(p);
    if (!apart || !ovl_step_units(&p->step)) {
        return;
    }
    p->step.microbatches = p->microbatches;
    p->first_unit = OVL_NEW_ARRAY(&p->scratch, uint32_t, (size_t)p->n_stages + 1);
    const ovl_step *step = &p->step;
    uint32_t u = 0;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        for (uint32_t i = 0; i < counts[s]; i++) { /* experts come with their layer */
            u += u + 1 < step->n_units && step->units[u + 1].experts ? 2 : 1;
        }
        p->first_unit[s + 1] = u;
    }
}

/* A stage without layers: it takes no time, and passes on what it gets. */
static void pass_on(ovl_pipe_plan *p, uint32_t s)
{
    p->stages[s].transfer = s ? p->stages[s - 1].transfer : 0;
    p->stages[s].has_transfer = s && p->stages[s - 1].has_transfer;
    ovl_warning(p->l->errs, p->pipe->layers_per_stage.mark[s],
                "stage %" PRIu32 " has no layers: it takes no time and passes on what it gets", s);
}

static void stages_from_layers(ovl_pipe_plan *p, uint32_t per_rank)
{
    layers list = {0};
    p->n_stages = p->p * per_rank;
    uint32_t *counts = OVL_NEW_ARRAY(&p->scratch, uint32_t, p->n_stages), first = 0;
    p->counts = counts;
    p->stages = OVL_NEW_ARRAY(&p->scratch, ovl_pipe_stage, p->n_stages);
    if (list_layers(p, &list) && share_layers(p, &list, counts)) {
        for (uint32_t s = 0; s < p->n_stages; s++) {
            p->stages[s] = sum_layers(p, list.item.data + first, counts[s], s);
            if (counts[s] == 0) {
                pass_on(p, s);
            }
            first += counts[s];
        }
        find_units(p, counts);
    }
    ovl_vec_free(&list.item);
}

/* --- What follows from what --- */

static bool check_count(ovl_pipe_plan *p, const ovl_pipe_stage *s, ovl_times times, const char *key)
{
    if ((times.count > 1 || times.listed) && times.count != p->microbatches) {
        ovl_error(p->l->errs, OVL_E_INPUT, s->mark,
                  "%s of \"%s\": a list has one time for each microbatch; found %" PRIu32
                  " for %" PRIu32,
                  key, s->name, times.count, p->microbatches);
        return false;
    }
    return true;
}

/* No longer than time can count: the run tells what is. */
static ovl_times plus(ovl_pipe_plan *p, ovl_times a, ovl_times b)
{
    ovl_times sum = {.count = OVL_MAX(a.count, b.count)};
    sum.item = OVL_NEW_ARRAY(&p->scratch, ovl_time, sum.count);
    for (uint32_t k = 0; k < sum.count; k++) {
        ovl_time more = ovl_pipe_time(b, k);
        sum.item[k] = OVL_MIN(ovl_pipe_time(a, k), OVL_TIME_MAX - more) + more;
    }
    return sum;
}

/* What backward has beyond `part`, called `part_key`; `key` names it. */
static ovl_times rest_of(ovl_pipe_plan *p, const ovl_pipe_stage *s, ovl_times part,
                         const char *part_key, const char *key)
{
    const ovl_times a = s->backward, b = part;
    ovl_times sum = {.count = OVL_MAX(a.count, b.count)};
    sum.item = OVL_NEW_ARRAY(&p->scratch, ovl_time, sum.count);
    for (uint32_t k = 0; k < sum.count; k++) {
        sum.item[k] = ovl_pipe_time(a, k) - ovl_pipe_time(b, k);
        if (sum.item[k] < 0) {
            ovl_error(p->l->errs, OVL_E_INPUT, s->mark,
                      "%s of \"%s\" would be negative: %s is part of backward", key, s->name,
                      part_key);
            break;
        }
    }
    return sum;
}

/* The forward again, before what earlier stages wait for. A pair gets that of its backward. */
static void run_again(ovl_pipe_plan *p, ovl_pipe_stage *s)
{
    if (s->input.count) {
        s->input = plus(p, s->input, s->forward);
    }
    if (s->backward.count) {
        s->backward = plus(p, s->backward, s->forward);
    }
}

static void recompute(ovl_pipe_plan *p, ovl_pipe_stage *s)
{
    run_again(p, s);
    if (s->checkpoint == UINT64_MAX) {
        s->checkpoint = s > p->stages ? s[-1].transfer : 0;
    }
}

/* Of backward and its two parts the one that is not given. With all three each is as stated: in one
 * piece it may be faster. */
static void derive_third(ovl_pipe_plan *p, ovl_pipe_stage *s)
{
    if (s->again) {
        s->input = s[-1].input;
        s->weight = s[-1].weight;
        s->backward = s[-1].backward;
        return;
    }
    bool ok = check_count(p, s, s->forward, "forward");
    ok = check_count(p, s, s->backward, "backward") && ok;
    ok = check_count(p, s, s->input, "backward_input") && ok;
    ok = check_count(p, s, s->weight, "backward_weight") && ok;
    ok = check_count(p, s, s->pair, "overlapped") && ok;
    if (!ok) {
        return;
    }
    if (!s->input.count && s->backward.count && s->weight.count) {
        s->input = rest_of(p, s, s->weight, "backward_weight", "backward_input");
    } else if (!s->weight.count && s->backward.count && s->input.count) {
        s->weight = rest_of(p, s, s->input, "backward_input", "backward_weight");
    } else if (!s->backward.count && s->input.count && s->weight.count) {
        s->backward = plus(p, s->input, s->weight);
    }
}

/* --- On other GPUs --- */

static ovl_times stated(ovl_pipe_plan *p, ovl_times times)
{
    ovl_times on = {.count = times.count, .law = times.law};
    on.item = OVL_NEW_ARRAY(&p->scratch, ovl_time, times.count);
    for (uint32_t i = 0; i < times.count; i++) {
        on.item[i] = ovl_stated(p->l, times.item[i]);
    }
    return on;
}

/* Stages that the workload gives, before the third of a backward and its parts is derived. */
static void restate(ovl_pipe_plan *p, ovl_pipe_stage *stages)
{
    for (uint32_t s = 0; s < p->n_stages; s++) {
        stages[s].forward = stated(p, stages[s].forward);
        stages[s].backward = stated(p, stages[s].backward);
        stages[s].input = stated(p, stages[s].input);
        stages[s].weight = stated(p, stages[s].weight);
        stages[s].pair = stated(p, stages[s].pair);
    }
}

/* The same layers, timed anew. */
static void sum_again(ovl_pipe_plan *p, ovl_pipe_stage *stages)
{
    layers list = {0};
    uint32_t first = 0;
    for (uint32_t s = 0; list_layers(p, &list) && s < p->n_stages; s++) {
        ovl_pipe_stage again = sum_layers(p, list.item.data + first, p->counts[s], s);
        stages[s].forward = again.forward;
        stages[s].backward = again.backward;
        stages[s].weight = again.weight;
        first += p->counts[s];
    }
    ovl_vec_free(&list.item);
}

/* The stages of p on the GPU of l->hw: only times differ. */
static ovl_pipe_stage *stages_on(ovl_pipe_plan *p)
{
    ovl_pipe_stage *stages = OVL_NEW_ARRAY(&p->scratch, ovl_pipe_stage, p->n_stages);
    memcpy(stages, p->stages, p->n_stages * sizeof *stages);
    if (p->counts) {
        sum_again(p, stages);
    } else {
        restate(p, stages);
    }
    return stages;
}

static void find_on(ovl_pipe_plan *p)
{
    ovl_lowering *l = p->l;
    const ovl_hw *hw = l->hw;
    p->on = OVL_NEW_ARRAY(&p->scratch, ovl_pipe_stage *, l->n_machines);
    p->on[0] = p->stages;
    l->one_gpu = true;
    for (uint32_t i = 1; i < l->n_machines; i++) {
        l->hw = &l->machines[i];
        p->on[i] = stages_on(p);
    }
    l->one_gpu = false;
    l->hw = hw;
}

void ovl_pipe_stages(ovl_pipe_plan *p, uint32_t per_rank)
{
    uint32_t errors = p->l->errs->errors;
    if (p->workload->stages.count) {
        stages_from_stages(p);
    } else {
        stages_from_layers(p, per_rank);
    }
    if (p->l->n_machines > 1 && p->l->errs->errors == errors) {
        find_on(p);
    }
    for (uint32_t s = 0; s < p->n_stages; s++) {
        derive_third(p, &p->stages[s]);
    }
    for (uint32_t i = 1; p->on && i < p->l->n_machines; i++) {
        for (uint32_t s = 0; s < p->n_stages && p->l->errs->errors == errors; s++) {
            derive_third(p, &p->on[i][s]);
        }
    }
}

static bool check_stages_split(ovl_pipe_plan *p)
{
    bool ok = true;
    for (uint32_t k = 0; k < p->n_stages; k++) {
        const ovl_pipe_stage *s = &p->stages[k];
        if ((!s->input.count || !s->weight.count) && !s->again) {
            ovl_error(p->l->errs, OVL_E_INPUT, s->mark,
                      "the schedule splits the backward of \"%s\": give backward_input and "
                      "backward_weight",
                      s->name);
            ok = false;
        }
    }
    return ok;
}

bool ovl_pipe_check_split(ovl_pipe_plan *p)
{
    bool ok = true;
    if (p->workload->stages.count) {
        return check_stages_split(p);
    }
    for (uint32_t i = 0; i < p->workload->layers.count; i++) {
        const ovl_layer *layer = OVL_ITEM(p->workload->layers, ovl_layer, i);
        if (!is_split(layer)) {
            ovl_error(p->l->errs, OVL_E_INPUT, layer->mark,
                      "the schedule splits the backward of layer \"%s\": give backward_weight, the "
                      "part of backward that no other stage waits for",
                      layer->name);
            ok = false;
        }
    }
    return ok;
}

static void complete_stage(ovl_pipe_plan *p, ovl_pipe_stage *s, bool splits)
{
    if (!splits && !s->backward.count && !s->again) {
        ovl_error(p->l->errs, OVL_E_INPUT, s->mark,
                  "\"%s\" needs backward, or backward_input and backward_weight", s->name);
    }
    if (p->pipe->recompute) {
        recompute(p, s);
    }
    if (s->kept > s->activations && !s->again) {
        ovl_error(p->l->errs, OVL_E_INPUT, s->mark,
                  "weight_activations of \"%s\" are part of its activations, but larger", s->name);
    }
}

bool ovl_pipe_complete(ovl_pipe_plan *p)
{
    uint32_t errors = p->l->errs->errors;
    bool splits = false;
    for (uint32_t r = 0; r < p->schedule.n_ranks; r++) {
        for (uint32_t i = 0; i < p->schedule.ranks[r].count && !splits; i++) {
            splits = p->schedule.ranks[r].item[i].type == OVL_ACT_I;
        }
    }
    if (splits) {
        ovl_pipe_check_split(p);
    }
    for (uint32_t s = 0; s < p->n_stages; s++) {
        complete_stage(p, &p->stages[s], splits);
    }
    for (uint32_t i = 1; p->on && p->pipe->recompute && i < p->l->n_machines; i++) {
        for (uint32_t s = 0; s < p->n_stages; s++) {
            run_again(p, &p->on[i][s]);
        }
    }
    return p->l->errs->errors == errors;
}
