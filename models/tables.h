/*
 * tables.h - the field tables of the scenario format, and the structs only the loader sees.
 *
 * Some mappings decode into more than the scenario keeps (a mapping of names, a list that becomes
 * an array): those tables describe a "raw" struct whose first member is the public one, and
 * scenario.c or hw.c finishes the job.
 */
#ifndef OVL_MODELS_TABLES_H
#define OVL_MODELS_TABLES_H

#include "models/scenario.h"

/* Names of element types, aliases included ("bf16", "bfloat16"), and what each means. */
extern const char *const ovl_dtype_keys[];
extern const int ovl_dtype_values[];

/* Collective operations, in the order of ovl_coll. */
extern const char *const ovl_coll_keys[];
extern const char *const ovl_nodes_keys[]; /* of ovl_nodes */

/* A dtype that was not given: the workload's is taken. */
#define OVL_DTYPE_OF_WORKLOAD (-1)

typedef struct ovl_raw_hw {
    ovl_hw hw;
    ovl_node *links, *nodes;
    ovl_items collectives, pairs;
} ovl_raw_hw;

typedef struct ovl_raw_mesh {
    ovl_mesh mesh;
    ovl_node *axes;
    ovl_texts order;
} ovl_raw_mesh;

typedef struct ovl_raw_overlap {
    ovl_ddp ddp;
    ovl_fsdp fsdp;
    ovl_zero zero;
    ovl_pipeline pipeline;
} ovl_raw_overlap;

typedef struct ovl_raw_scenario {
    ovl_scenario scenario;
    ovl_node *hardware, *params, *variants, *sweep;
    ovl_raw_mesh mesh;
    ovl_raw_overlap overlap;
} ovl_raw_scenario;

extern const ovl_table ovl_scenario_table, ovl_mesh_table, ovl_workload_table, ovl_layer_table,
    ovl_gradient_table, ovl_optimizer_table, ovl_overlap_table, ovl_ddp_table, ovl_offload_table,
    ovl_fsdp_table, ovl_fsdp_prefetch_table, ovl_fsdp_accumulate_table, ovl_zero_table,
    ovl_stage_table, ovl_pipe_data_table, ovl_pipeline_table, ovl_model_table, ovl_block_table,
    ovl_moe_table, ovl_latent_table;
extern const ovl_table ovl_replay_table, ovl_replay_class_table, ovl_what_if_table,
    ovl_what_if_kernel_table, ovl_what_if_link_table, ovl_what_if_gradient_table;
extern const ovl_table ovl_op_table, ovl_produces_table, ovl_packs_table, ovl_buffer_table;
extern const ovl_table ovl_hw_table, ovl_gpu_table, ovl_peak_table, ovl_engines_table,
    ovl_allocator_table, ovl_host_table, ovl_node_table, ovl_link_table, ovl_nodes_table,
    ovl_other_gpu_table, ovl_other_link_table, ovl_collective_table, ovl_pair_table, ovl_nccl_table,
    ovl_graph_table, ovl_fault_table, ovl_measured_table;

/* Decodes hardware.nodes; links and GPU of the hardware are known. */
void ovl_hw_decode_nodes(const ovl_node *node, ovl_hw *hw, ovl_arena *arena, ovl_errs *errs);

/* What the tables cannot do: ranks from the mesh, buffers and groups from mappings of names, types
 * that default to the workload's. The scenario and its workload are filled in place. */
void ovl_finish_scenario(ovl_raw_scenario *raw, ovl_arena *arena, ovl_errs *errs);

/* Checks across parts of a finished scenario: repeated names, gradients after the backward, lists
 * for each rank, links of operations, SMs held. */
void ovl_check_scenario(ovl_scenario *scenario, ovl_errs *errs);

/* Of a scenario with mistakes, which is not lowered: nodes and ranks of hardware.nodes and
 * hardware.faults that there are not. */
void ovl_machines_check(const ovl_scenario *scenario, ovl_errs *errs);

/* Adds an error for each name of an operation, buffer, group, member or gradient that leads
 * nowhere, as far as a scenario with other mistakes lets one say so. `root` is the tree it came
 * from. */
void ovl_check_names(const ovl_scenario *scenario, const ovl_node *root, ovl_errs *errs);

/* Adds an error for each axis that workload.model names and the mesh does not have; tp, cp and ep
 * need not be there. */
void ovl_check_model_axes(const ovl_scenario *scenario, const ovl_node *root, ovl_errs *errs);

/* The checks that tables of ops run on each entry: tables_ops.c names them, check_ops.c has them.
 */
void ovl_check_op(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs);

/* The operation a word names, however it is spelled (AllReduce, all-reduce), as an ovl_coll; -1: it
 * is none. */
int ovl_coll_spelled(const char *word);

/* What an entry of `ops`, or of hardware.collectives, says instead of an unknown key that names an
 * operation: see ovl_table. */
const char *ovl_op_instead(const char *key, ovl_arena *arena);
const char *ovl_collective_instead(const char *key, ovl_arena *arena);

/* Adds an error for each name that is there twice, naming the first place. `names` and `marks` are
 * aligned; `what` is what the names are names of. Takes n log n. */
void ovl_check_repeats(const char *what, const char *const *names, const ovl_mark *marks,
                       uint32_t n, ovl_errs *errs);

/* Error if link `at` of a route was named before in it: no known route crosses a link twice. */
void ovl_check_via_again(const ovl_texts *via, uint32_t at, ovl_errs *errs);

#endif
