#include "models/bounds.h"

#include "models/axes.h"
#include "models/plan.h"
#include "models/range.h"
#include "models/yaml.h"

const ovl_bound ovl_bounds[] = {
    {"ranks", OVL_PLAN_RANKS, "of a run"},
    {"links", OVL_PLAN_LINKS, "of the hardware, wires of a mesh among them"},
    {"operations, stored", OVL_PLAN_CODE_OPS,
     "with every repeat, microbatch and step unrolled; ranks that do the same count once"},
    {"operations, simulated", OVL_PLAN_RANK_OPS, "the same over all ranks"},
    {"points", OVL_POINTS_MAX, "of a sweep"},
    {"values of a range", OVL_RANGE_MAX, "of a sweep: from..to by a step, or samples"},
    {"bytes of a file", OVL_YAML_BYTES, "of YAML"},
    {"values of a file", OVL_YAML_NODES, "of YAML, each key, item and value"},
    {"nesting", OVL_YAML_DEPTH, "of lists and mappings of YAML, and so of repeats in repeats"},
};
const uint32_t ovl_n_bounds = OVL_COUNT(ovl_bounds);

const char ovl_bound_of_memory[] =
    "A run that may need more memory than the machine has, or than OVL_MEMORY in the environment "
    "allows (OVL_MEMORY=8GiB), is an error before it begins; all that is asked about the run "
    "is counted, but not the what-ifs that follow it. With ovl run --stats a run says what it "
    "announced and what it held.";

const char *ovl_bound_text(uint64_t most, ovl_arena *arena)
{
    const char *text = ovl_arena_printf(arena, "%03" PRIu64, most % 1000);
    for (uint64_t rest = most / 1000; rest; rest /= 1000) {
        text = rest >= 1000 ? ovl_arena_printf(arena, "%03" PRIu64 ",%s", rest % 1000, text)
                            : ovl_arena_printf(arena, "%" PRIu64 ",%s", rest, text);
    }
    return most < 1000 ? ovl_arena_printf(arena, "%" PRIu64, most) : text;
}
