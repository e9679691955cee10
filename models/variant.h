/*
 * variant.h - sets values in a scenario tree by path, for `variants:` and `--set`.
 *
 *     overlap.ddp.bucket_cap=50MiB          keys by dots
 *     workload.layers.block.backward=5ms    an item of a list by its name
 *     workload.layers[0].backward=5ms       or by its index
 *     workload.layers.block[3].backward=5ms one of a repeated layer: the layer is split around it
 *     hardware.gpu.hbm=2TB/s                through an included file
 *     workload.ops.ar.bytes=1MiB            an operation by its name (kernel:, collective:, ...)
 *
 * Inside { } YAML wants paths with brackets in quotes. Values are YAML (`[[g1, g2], [g3]]` works);
 * `null` takes a value away. A path may create keys of maps that exist or are absent, never of
 * scalars; an index or name that is not there is an error with the nearest name. Names may hold
 * dots themselves (`conv1.weight`): the longest name that fits counts. Items that share a name are
 * reached by index only.
 *
 * A layer of repeats 0..47 split around 3 becomes three items of its name: {repeat: 3}, {first: 3,
 * repeat: 1} and {first: 4, repeat: 44}. They share a name, so what holds for the whole layer is
 * set before its single repeats.
 *
 * Nodes shared through aliases are copied on the way, so a change touches only the place it names;
 * the tree that was loaded is never written, so one document serves many scenarios at once.
 */
#ifndef OVL_MODELS_VARIANT_H
#define OVL_MODELS_VARIANT_H

#include "models/yaml.h"

/* Sets one path under `root` (a map) to `value`, in place of whatever is there. `mark` is where the
 * path was written. False and an error if the path leads nowhere. *root may be replaced by a copy.
 */
bool ovl_path_set(ovl_node **root, const char *path, ovl_mark mark, ovl_node *value,
                  ovl_arena *arena, ovl_status code, ovl_errs *errs);

/* The node a path leads to, or NULL if it leads nowhere or to nothing. The tree stays as it is. */
const ovl_node *ovl_path_get(ovl_node *root, const char *path, ovl_arena *arena);

/* Replaces scalars `$name` under *root by params.name (a single value), to any depth; `$$` at the
 * start stands for a plain `$`. The maps `params` and `variants` of *root are left alone. Unknown
 * names are errors with the nearest one. Untouched subtrees stay shared; *root may be replaced. */
void ovl_params_apply(ovl_node **root, ovl_arena *arena, ovl_errs *errs);

#endif
