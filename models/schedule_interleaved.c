/* Interleaved 1F1B: a rank has V stages, P apart. Forwards go `g` microbatches of one stage, then g
 * of the next, then the next g of the first; backwards the same from the last stage. A warm-up of
 * forwards, then a forward and a backward in turn, then the backwards that are left.
 *
 *     interleaved           g = m / rounds, rounds = max(1, m / P); warm-up (V-1) g + 2 (P-1-r)
 *     interleaved_megatron  g given, default P; warm-up (V-1) g + 2 (P-1-r), + 1 on request; the
 *                           last group may be shorter than g
 *     interleaved_zb        as interleaved with warm-up (V-1) g + (P-1-r); B is split, and W
 * follows its turn once r steps of the steady state are over
 *
 * (arXiv 2104.04473; PyTorch ScheduleInterleaved1F1B, ScheduleInterleavedZeroBubble; Megatron-LM
 * core/pipeline_parallel/schedules.py) */
#include "models/schedule.h"

typedef struct interleave {
    const ovl_schedule_spec *spec;
    uint32_t rank, group, total, warmup;
} interleave;

/* The k-th forward or backward: full groups hold g V of them, the last one what is left. */
static void put_kth(const interleave *x, ovl_action_list *list, ovl_action_type type, uint32_t k)
{
    uint32_t v = x->spec->stages_per_rank, block = x->group * v;
    uint32_t first = k / block * x->group; /* microbatch */
    uint32_t width = OVL_MIN(x->group, x->spec->microbatches - first), in = k % block;
    uint32_t chunk = in / width;
    chunk = type == OVL_ACT_F ? chunk : v - 1 - chunk;
    ovl_put(list, type, chunk * x->spec->ranks + x->rank, first + in % width);
}

/* `delay`: steps of the steady state before the first W; OVL_NONE without a split. */
static void write(const interleave *x, ovl_action_list *list, uint32_t delay)
{
    bool split = delay != OVL_NONE;
    ovl_action_type backward = split ? OVL_ACT_I : OVL_ACT_B;
    uint32_t weights = 0;
    for (uint32_t k = 0; k < x->warmup; k++) {
        put_kth(x, list, OVL_ACT_F, k);
    }
    for (uint32_t b = 0; b < x->total; b++) {
        if (x->warmup + b < x->total) {
            put_kth(x, list, OVL_ACT_F, x->warmup + b);
        }
        put_kth(x, list, backward, b);
        if (split && b >= delay) {
            put_kth(x, list, OVL_ACT_W, weights++);
        }
    }
    while (split && weights < x->total) {
        put_kth(x, list, OVL_ACT_W, weights++);
    }
}

static interleave prepare(const ovl_schedule_spec *spec, uint32_t rank, uint32_t group,
                          uint64_t ramp)
{
    interleave x = {.spec = spec, .rank = rank, .group = group};
    x.total = spec->microbatches * spec->stages_per_rank;
    uint64_t warmup = (uint64_t)(spec->stages_per_rank - 1) * group + ramp;
    x.warmup = (uint32_t)OVL_MIN(warmup, x.total);
    return x;
}

static uint32_t rounds_of(const ovl_schedule_spec *spec)
{
    return OVL_MAX(1, spec->microbatches / spec->ranks);
}

static void order_pytorch(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list)
{
    uint32_t group = spec->microbatches / rounds_of(spec);
    interleave x = prepare(spec, rank, group, 2 * (uint64_t)(spec->ranks - 1 - rank));
    write(&x, list, OVL_NONE);
}

static void order_zb(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list)
{
    uint32_t group = spec->microbatches / rounds_of(spec);
    interleave x = prepare(spec, rank, group, spec->ranks - 1 - rank);
    write(&x, list, rank);
}

static uint32_t group_of(const ovl_schedule_spec *spec)
{
    return spec->group ? spec->group : spec->ranks;
}

static void order_megatron(const ovl_schedule_spec *spec, uint32_t rank, ovl_action_list *list)
{
    uint64_t ramp = 2 * (uint64_t)(spec->ranks - 1 - rank) + spec->extra_warmup;
    interleave x = prepare(spec, rank, group_of(spec), ramp);
    write(&x, list, OVL_NONE);
}

static void check_pytorch(const ovl_schedule_spec *spec, ovl_errs *errs)
{
    uint32_t m = spec->microbatches, rounds = rounds_of(spec);
    if (m % rounds) {
        ovl_error(errs, OVL_E_INPUT, spec->microbatches_mark,
                  "%" PRIu32 " microbatches on %" PRIu32 " ranks make %" PRIu32
                  " rounds, which must divide the microbatches; %" PRIu32 " would do",
                  m, spec->ranks, rounds, m - m % rounds);
    }
}

static void check_megatron(const ovl_schedule_spec *spec, ovl_errs *errs)
{
    uint32_t m = spec->microbatches, g = group_of(spec);
    if (spec->group && (g < spec->ranks || g > m)) {
        ovl_error(errs, OVL_E_INPUT, spec->group_mark,
                  "the group of microbatches is between the %" PRIu32 " ranks and the %" PRIu32
                  " microbatches, not %" PRIu32,
                  spec->ranks, m, g);
    } else if (m % g && (!spec->group || m % g < spec->ranks)) {
        ovl_error(
            errs, OVL_E_INPUT, spec->microbatches_mark,
            "%" PRIu32 " microbatch%s not a multiple of %s, %" PRIu32 "%s; %" PRIu32 " would do", m,
            m == 1 ? " is" : "es are", spec->group ? "the group" : "the ranks", g,
            spec->group ? ", and the last group is smaller than the ranks" : "", m + g - m % g);
    }
}

const ovl_schedule_kind ovl_schedule_interleaved = {.name = "interleaved",
                                                    .pytorch = "ScheduleInterleaved1F1B",
                                                    .least_stages = 1,
                                                    .most_stages = UINT32_MAX,
                                                    .check = check_pytorch,
                                                    .order = order_pytorch};

const ovl_schedule_kind ovl_schedule_interleaved_megatron = {.name = "interleaved_megatron",
                                                             .least_stages = 1,
                                                             .most_stages = UINT32_MAX,
                                                             .check = check_megatron,
                                                             .order = order_megatron};

const ovl_schedule_kind ovl_schedule_interleaved_zb = {.name = "interleaved_zb",
                                                       .pytorch = "ScheduleInterleavedZeroBubble",
                                                       .least_stages = 1,
                                                       .most_stages = UINT32_MAX,
                                                       .splits = true,
                                                       .check = check_pytorch,
                                                       .order = order_zb};
