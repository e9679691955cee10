#include "models/tables.h"

#include <stdlib.h>
#include <string.h>

const char *const ovl_dtype_keys[] = {
    "f32",     "fp32", "float32", "f64", "fp64", "float64", "bf16",  "bfloat16", "f16",   "fp16",
    "float16", "fp8",  "float8",  "i8",  "int8", "i32",     "int32", "i64",      "int64", NULL,
};
const int ovl_dtype_values[] = {
    OVL_F32, OVL_F32, OVL_F32, OVL_F64, OVL_F64, OVL_F64, OVL_BF16, OVL_BF16, OVL_F16, OVL_F16,
    OVL_F16, OVL_FP8, OVL_FP8, OVL_I8,  OVL_I8,  OVL_I32, OVL_I32,  OVL_I64,  OVL_I64,
};

const char *const ovl_coll_keys[] = {
    "all_reduce", "reduce_scatter", "all_gather", "broadcast",
    "reduce",     "all_to_all",     "send_recv",  NULL,
};

const char *const ovl_nodes_keys[] = {"any", "one", "several", NULL};

#define PEAK(key, dtype, doc)                                                                      \
    OVL_FIELD(ovl_hw_peak, rate[dtype], key, OVL_F_FLOP_RATE, OVL_FIELD_POSITIVE, doc)

static const ovl_field peak_fields[] = {
    PEAK("f32", OVL_F32, "Peak for f32 (also written fp32, float32)."),
    PEAK("fp32", OVL_F32, "The same as f32."),
    PEAK("float32", OVL_F32, "The same as f32."),
    PEAK("f64", OVL_F64, "Peak for f64 (also written fp64, float64)."),
    PEAK("fp64", OVL_F64, "The same as f64."),
    PEAK("float64", OVL_F64, "The same as f64."),
    PEAK("bf16", OVL_BF16, "Peak for bf16 (also written bfloat16)."),
    PEAK("bfloat16", OVL_BF16, "The same as bf16."),
    PEAK("f16", OVL_F16, "Peak for f16 (also written fp16, float16)."),
    PEAK("fp16", OVL_F16, "The same as f16."),
    PEAK("float16", OVL_F16, "The same as f16."),
    PEAK("fp8", OVL_FP8, "Peak for fp8 (also written float8)."),
    PEAK("float8", OVL_FP8, "The same as fp8."),
    PEAK("i8", OVL_I8, "Peak for i8 (also written int8)."),
    PEAK("int8", OVL_I8, "The same as i8."),
};

const ovl_table ovl_peak_table = {
    .title = "hardware.gpu.peak",
    .intro = "Peak compute rate for each element type; only the types that kernels given by "
             "`flops` use are needed.",
    .fields = peak_fields,
    .n_fields = OVL_COUNT(peak_fields),
    .size = sizeof(ovl_hw_peak),
    .mark = OVL_NO_SET,
};

static const ovl_field engines_fields[] = {
    OVL_FIELD_MORE(ovl_hw_engines, d2h, "d2h", OVL_F_COUNT, 0,
                   "Copy engines from device to host. Default 0: no limit.", .max = 1024),
    OVL_FIELD_MORE(ovl_hw_engines, h2d, "h2d", OVL_F_COUNT, 0,
                   "Copy engines from host to device. Default 0: no limit.", .max = 1024),
};

const ovl_table ovl_engines_table = {
    .title = "hardware.gpu.copy_engines",
    .intro = "How many copies of each direction run at a time.",
    .fields = engines_fields,
    .n_fields = OVL_COUNT(engines_fields),
    .size = sizeof(ovl_hw_engines),
    .mark = OVL_NO_SET,
};

static const char *const rounding_names[] = {"pytorch", "none", NULL};

static const ovl_field allocator_fields[] = {
    OVL_FIELD_MORE(
        ovl_hw_allocator, rounding, "rounding", OVL_F_ENUM, 0,
        "How reserved memory is counted: `pytorch`, blocks of 512 B cut from segments "
        "as PyTorch's caching allocator does; `none`, exact bytes, each stream's pool at "
        "its own high-water mark. Default `pytorch`.",
        .names = rounding_names),
};

const ovl_table ovl_allocator_table = {
    .title = "hardware.gpu.allocator",
    .intro = "What takes memory from the GPU for the buffers of a program.",
    .fields = allocator_fields,
    .n_fields = OVL_COUNT(allocator_fields),
    .size = sizeof(ovl_hw_allocator),
    .mark = OVL_NO_SET,
};

static void gpu_defaults(void *value)
{
    ovl_hw_gpu *gpu = value;
    gpu->speed = gpu->efficiency =
        1; /* that of HBM is 0 unless given: models have a default of their own */
}

static const ovl_field gpu_fields[] = {
    OVL_FIELD(ovl_hw_gpu, name, "name", OVL_F_TEXT, 0, "What the GPU is called."),
    OVL_FIELD(ovl_hw_gpu, hbm, "hbm", OVL_F_RATE, OVL_FIELD_POSITIVE,
              "Bandwidth of its memory. Without it sharing of memory bandwidth is not modelled."),
    OVL_FIELD(ovl_hw_gpu, memory, "memory", OVL_F_BYTES, OVL_FIELD_POSITIVE,
              "Size of its memory; peaks beyond it are told."),
    OVL_FIELD_MORE(ovl_hw_gpu, sms, "sms", OVL_F_COUNT, 0,
                   "Streaming multiprocessors. Without it SMs are not modelled.", .min = 1,
                   .max = 100000),
    OVL_FIELD_MORE(ovl_hw_gpu, peak, "peak", OVL_F_MAP, 0,
                   "Peak compute rates, for kernels given by `flops`.", .table = &ovl_peak_table),
    OVL_FIELD(ovl_hw_gpu, efficiency, "efficiency", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "Share of the peak that kernels given by `flops` reach. Default 1, and the report "
              "says so."),
    OVL_FIELD(ovl_hw_gpu, hbm_efficiency, "hbm_efficiency", OVL_F_RATIO, OVL_FIELD_POSITIVE,
              "Share of `hbm` that kernels given by `hbm` bytes reach. Default 1."),
    OVL_FIELD_MORE(ovl_hw_gpu, hw_queues, "hw_queues", OVL_F_COUNT, 0,
                   "Hardware queues (CUDA_DEVICE_MAX_CONNECTIONS): with 1, kernels of all streams "
                   "start in the order of their launch. Default: one for each stream.",
                   .min = 1, .max = 1024),
    OVL_FIELD_MORE(ovl_hw_gpu, copy_engines, "copy_engines", OVL_F_MAP, 0,
                   "How many copies of each direction run at a time.", .table = &ovl_engines_table),
    OVL_FIELD_MORE(ovl_hw_gpu, allocator, "allocator", OVL_F_MAP, 0,
                   "What takes memory from the GPU.", .table = &ovl_allocator_table),
};

const ovl_table ovl_gpu_table = {
    .title = "hardware.gpu",
    .intro = "The GPU of every rank, but for those on `hardware.nodes` that have another.\n\n"
             "    gpu: {name: H100-SXM, hbm: 3.35 TB/s, memory: 80 GB, sms: 132, "
             "peak: {bf16: 989 TFLOP/s}}",
    .fields = gpu_fields,
    .n_fields = OVL_COUNT(gpu_fields),
    .size = sizeof(ovl_hw_gpu),
    .mark = offsetof(ovl_hw_gpu, mark),
    .defaults = gpu_defaults,
};

static const ovl_field host_fields[] = {
    OVL_FIELD(ovl_hw_host, launch, "launch", OVL_F_TIME, 0,
              "Host time to issue one operation. Default 0."),
};

const ovl_table ovl_host_table = {
    .title = "hardware.host",
    .intro = "The host thread of a rank, which issues its operations in program order. Without it "
             "issuing takes no time; its order remains.",
    .fields = host_fields,
    .n_fields = OVL_COUNT(host_fields),
    .size = sizeof(ovl_hw_host),
    .mark = offsetof(ovl_hw_host, mark),
};

static const ovl_field node_fields[] = {
    {.key = "gpus",
     .type = OVL_F_COUNT,
     .set = OVL_NO_SET,
     .doc = "GPUs of a node. Default: all ranks are one node.",
     .more = {.min = 1, .max = 1000000}},
};

const ovl_table ovl_node_table = {
    .title = "hardware.node",
    .intro = "How ranks are placed: ranks 0 to gpus-1 are node 0, and so on.",
    .fields = node_fields,
    .n_fields = OVL_COUNT(node_fields),
    .size = sizeof(int64_t),
    .mark = OVL_NO_SET,
};

static const char *const scope_names[] = {"gpu", "node", "cluster", "rail", NULL};
#define SCOPE_NOT_GIVEN (-1)

static void link_defaults(void *value)
{
    ovl_hw_link *link = value;
    link->per = SCOPE_NOT_GIVEN;
}

/* "node", "rail", or a number of GPUs. */
static void read_out_of(const ovl_node *node, ovl_hw_link *link, ovl_errs *errs)
{
    char *end;
    if (!link->out_of_text) {
        return;
    }
    if (strcmp(link->out_of_text, "node") == 0 || strcmp(link->out_of_text, "rail") == 0) {
        link->out_of = link->out_of_text[0] == 'n' ? OVL_OUT_OF_NODE : OVL_OUT_OF_RAIL;
        return;
    }
    long long blocks = strtoll(link->out_of_text, &end, 10);
    if (*end || blocks < 1 || blocks > 1000000) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "out_of is \"%s\": expected `node`, `rail` or a number of GPUs, 1 to 1000000",
                  ovl_shown(link->out_of_text, errs->arena));
        blocks = 1;
    }
    link->out_of = blocks;
}

/* A leaf of a rail carries what leaves a node; what leaves a rail is its uplinks, or all of them.
 */
static void check_rail(const ovl_node *node, ovl_hw_link *link, ovl_errs *errs)
{
    bool leaf = link->scope == OVL_SCOPE_RAIL, off = link->out_of == OVL_OUT_OF_RAIL;
    const char *const keys[] = {"pod", "rail_gpus"};
    if (leaf && !link->out_of_text) {
        link->out_of = OVL_OUT_OF_NODE;
        link->out_of_text = "node";
    }
    if (leaf && link->out_of > 0) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "a link of scope: rail carries what leaves a node (out_of: node) or a rail "
                  "(out_of: rail)");
    }
    if (off && !leaf && link->scope != OVL_SCOPE_CLUSTER) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "out_of: rail needs scope: rail (the uplinks of each rail's leaf) or scope: "
                  "cluster (what lies between all of them)");
    }
    for (size_t i = 0; i < OVL_COUNT(keys) && !leaf && !off; i++) {
        if (ovl_node_gives(node, keys[i])) {
            ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, keys[i])->mark,
                      "%s belongs to scope: rail or out_of: rail", keys[i]);
        }
    }
}

static const char *const topology_names[] = {"switch", "mesh", NULL};
static const char *const rings_names[] = {"all", "one", NULL};

static void check_mesh(const ovl_node *node, const ovl_hw_link *link, ovl_errs *errs)
{
    bool mesh = link->topology == OVL_TOPOLOGY_MESH;
    if (ovl_node_gives(node, "rings") && !mesh) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "rings belongs to topology: mesh");
    }
    if (mesh && (link->scope != OVL_SCOPE_GPU || link->out_of)) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "a mesh has wires from GPU to GPU: no scope but gpu, and no out_of");
    }
}

static void check_link(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    ovl_hw_link *link = value;
    if (ovl_node_gives(node, "scope") && link->gpus) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "scope and gpus both say what one instance serves; give one of them");
    }
    read_out_of(node, link, errs);
    check_rail(node, link, errs);
    check_mesh(node, link, errs);
    if (link->per == SCOPE_NOT_GIVEN) {
        link->per = link->scope;
    }
}

static const ovl_field link_fields[] = {
    OVL_FIELD(ovl_hw_link, bandwidth, "bandwidth", OVL_F_RATE,
              OVL_FIELD_REQUIRED | OVL_FIELD_POSITIVE, "Bytes per second in each direction."),
    OVL_FIELD(ovl_hw_link, latency, "latency", OVL_F_TIME, 0,
              "Time of one step over it, for costs by `algorithm`. Default 0."),
    OVL_FIELD_MORE(
        ovl_hw_link, scope, "scope", OVL_F_ENUM, 0,
        "What one instance of the link serves: all that its ranks send through it shares its "
        "bandwidth. `rail`: the GPUs of one place in their nodes. Default `gpu`.",
        .names = scope_names),
    OVL_FIELD_MORE(ovl_hw_link, gpus, "gpus", OVL_F_COUNT, 0,
                   "Instead of `scope`: how many neighbouring GPUs one instance serves (a NIC for "
                   "every 2 GPUs, a rack of 72).",
                   .min = 1, .max = 1000000),
    OVL_FIELD(ovl_hw_link, out_of_text, "out_of", OVL_F_TEXT, 0,
              "`node`, or a number of GPUs: only what leaves a node, or a block of so many "
              "neighbouring GPUs, crosses it, shared among the instances that serve the block. "
              "`rail`: only what leaves a rail. Default: all that its ranks send; `node` for scope "
              "`rail`."),
    OVL_FIELD_MORE(ovl_hw_link, pod, "pod", OVL_F_COUNT, 0,
                   "Of rails: so many neighbouring nodes have leaves of their own. Default: all "
                   "nodes share them.",
                   .min = 1, .max = 1000000),
    OVL_FIELD_MORE(ovl_hw_link, rail_gpus, "rail_gpus", OVL_F_COUNT, 0,
                   "Of rails: neighbouring GPUs of a node that are on one rail, as they share a "
                   "NIC. Default 1.",
                   .min = 1, .max = 1000000),
    OVL_FIELD_MORE(
        ovl_hw_link, topology, "topology", OVL_F_ENUM, 0,
        "`mesh`: the GPUs of a node, or of `gpus`, are connected pair by pair, each pair "
        "by a wire of its own: of g GPUs it has 1/(g-1) of `bandwidth`, which is that of "
        "a GPU to all others. Default `switch`: any two may have all of it.",
        .names = topology_names),
    OVL_FIELD_MORE(ovl_hw_link, rings, "rings", OVL_F_ENUM, 0,
                   "Of a mesh: rings are laid along `all` orders of the members, so that all wires "
                   "between them are used alike, or there is `one`, which uses one wire out of "
                   "each. Default `all`.",
                   .names = rings_names),
    OVL_FIELD_MORE(ovl_hw_link, per, "per", OVL_F_ENUM, 0,
                   "What instances are counted in, for `ovl check` (\"8 per node\"). Default: "
                   "`scope`.",
                   .names = scope_names),
};

const ovl_table ovl_link_table = {
    .title = "hardware.links.NAME",
    .intro = "A link that communication loads when its cost names it in `via`. All communication "
             "over one instance shares its bandwidth.\n\n"
             "    links:\n"
             "      nvlink: {bandwidth: 450 GB/s, latency: 1 us, scope: gpu}\n"
             "      nic: {bandwidth: 400 Gb/s, latency: 5 us, scope: gpu, out_of: node}\n"
             "      leaf: {bandwidth: 1.6 TB/s, gpus: 256, out_of: 256}\n\n"
             "In a rail-optimised fabric the leaf of a rail serves the GPUs of one place in the "
             "nodes of a pod, and only what leaves the rail goes on to the spine:\n\n"
             "      uplink: {bandwidth: 800 GB/s, scope: rail, out_of: rail, pod: 32}",
    .fields = link_fields,
    .n_fields = OVL_COUNT(link_fields),
    .size = sizeof(ovl_hw_link),
    .mark = offsetof(ovl_hw_link, mark),
    .defaults = link_defaults,
    .check = check_link,
};
