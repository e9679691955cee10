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
 * Values are YAML (`[[g1, g2], [g3]]` works). A path may create keys of maps that exist or are
 * absent, never of scalars; an index or name that is not there is an error with the nearest name.
 * Nodes shared through aliases are copied on the way, so a change touches only the place it names.
 */
#ifndef OVL_MODELS_VARIANT_H
#define OVL_MODELS_VARIANT_H

#include "models/yaml.h"

/* Sets one path under `root` (a map) to `value`, in place of whatever is there. `mark` is where the
 * path was written. False and an error if the path leads nowhere. *root may be replaced by a copy.
 */
bool ovl_path_set(ovl_node **root, const char *path, ovl_mark mark, ovl_node *value,
                  ovl_arena *arena, ovl_status code, ovl_errs *errs);

/* Replaces scalars `$name` under *root by params.name, to any depth; `$$` at the start stands for a
 * plain `$`. Unknown names are errors with the nearest one. Untouched subtrees stay shared; *root
 * may be replaced. */
void ovl_params_apply(ovl_node **root, ovl_arena *arena, ovl_errs *errs);

#endif
