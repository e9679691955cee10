#include "tools/fits.h"

#include "models/inner.h"
#include "sim/units.h"

/* A forward and a backward of a microbatch on a stage take more than this until they can run, also
 * where nothing is sent (measured: 510 bytes on one rank, 1980 with sends on four). */
#define CELL_BYTES 400

/* An operation takes more than this until it can run (measured: 210 bytes in a model by its shape
 * of 5,000 layers; 680 and 1650 in 20,000 layers of two operations under ddp and fsdp, which have
 * more than those). */
#define OP_BYTES 150

/* The same of an operation that is stated by itself (measured: 66 bytes of kernels of one name that
 * repeat, with their run). */
#define SINGLE_BYTES 60

typedef struct size {
    double bytes;
    ovl_mark mark;    /* of what is so large */
    const char *what; /* "the layers have 12 operations at least, ..." */
} size;

static bool fits(const size *s, uint64_t memory, ovl_errs *errs)
{
    char need[OVL_UNITS_TEXT], may[OVL_UNITS_TEXT];
    if (!memory || s->bytes <= (double)memory) {
        return true;
    }
    ovl_error(errs, OVL_E_INPUT, s->mark,
              "%s, and need more than %s of memory; %s is allowed (OVL_MEMORY)", s->what,
              ovl_print_bytes(need, (uint64_t)OVL_MIN(s->bytes, 1e18)),
              ovl_print_bytes(may, memory));
    return false;
}

static uint64_t microbatches_of(const ovl_scenario *s)
{
    int64_t own = s->pipeline.given ? s->pipeline.microbatches : 0;
    return (uint64_t)OVL_MAX(own ? own : s->workload.microbatches, 1);
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "es";
}

/* --- Layers --- */

/* Every layer has a forward and a backward of each microbatch, on one rank at least. */
static double layer_operations(const ovl_scenario *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->workload.layers.count; i++) {
        const ovl_layer *layer = OVL_ITEM(s->workload.layers, ovl_layer, i);
        const ovl_inner *inner = layer->inner;
        double each = inner ? (double)inner->forward.n + inner->backward.n : 2;
        sum += each * (double)OVL_MAX(layer->repeat, 1);
    }
    return sum * (double)microbatches_of(s);
}

static bool layers_fit(const ovl_scenario *s, uint64_t memory, ovl_errs *errs)
{
    if (s->workload.layers.count == 0) {
        return true;
    }
    double operations = layer_operations(s);
    uint64_t m = microbatches_of(s);
    size all = {.bytes = operations * OP_BYTES,
                .mark = OVL_ITEM(s->workload.layers, ovl_layer, 0)->mark,
                .what = ovl_arena_printf(errs->arena,
                                         "the layers have %.0f operations at least, forward and "
                                         "backward of %" PRIu64 " microbatch%s",
                                         operations, m, plural(m))};
    return fits(&all, memory, errs);
}

/* --- Stages --- */

static bool stages_fit(const ovl_scenario *s, uint64_t memory, ovl_errs *errs)
{
    uint64_t stages = 0, m = microbatches_of(s);
    for (uint32_t i = 0; i < s->workload.stages.count; i++) {
        stages += (uint64_t)OVL_ITEM(s->workload.stages, ovl_stage, i)->repeat;
    }
    size all = {.bytes = (double)stages * (double)m * CELL_BYTES,
                .mark = s->pipeline.mark,
                .what = ovl_arena_printf(errs->arena,
                                         "%" PRIu64 " stages with %" PRIu64
                                         " microbatch%s are %" PRIu64 " forwards and backwards",
                                         stages, m, plural(m), stages * m)};
    return !s->pipeline.given || !s->pipeline.schedule || fits(&all, memory, errs);
}

/* --- Single operations --- */

/* With every repeat unrolled, whichever ranks they are of. Lists nest as deep as YAML may. */
static double single_operations(const ovl_items *ops)
{
    double sum = 0;
    for (uint32_t i = 0; i < ops->count; i++) {
        const ovl_xop *op = OVL_ITEM(*ops, ovl_xop, i);
        double inside = op->ops.count ? single_operations(&op->ops) : 1;
        sum += inside * (double)OVL_MAX(op->repeat, 1);
    }
    return sum;
}

static bool operations_fit(const ovl_scenario *s, uint64_t memory, ovl_errs *errs)
{
    const ovl_items *ops = &s->workload.ops;
    double most = 0, sum = single_operations(ops) * (double)OVL_MAX(s->workload.steps, 1);
    size all = {.bytes = sum * SINGLE_BYTES,
                .mark = s->workload.mark,
                .what = ovl_arena_printf(errs->arena,
                                         "with every repeat and step unrolled there are %.0f "
                                         "operations",
                                         sum)};
    for (uint32_t i = 0; i < ops->count; i++) {
        double own =
            single_operations(&(ovl_items){.item = OVL_ITEM(*ops, ovl_xop, i), .count = 1});
        all.mark = own > most ? OVL_ITEM(*ops, ovl_xop, i)->mark : all.mark;
        most = OVL_MAX(most, own);
    }
    return fits(&all, memory, errs);
}

bool ovl_may_prepare(const ovl_scenario *s, uint64_t memory, ovl_errs *errs)
{
    return layers_fit(s, memory, errs) && stages_fit(s, memory, errs) &&
           operations_fit(s, memory, errs);
}
