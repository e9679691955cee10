/*
 * mesh.h - how many ranks the axes of a mesh have, and where a rank is in them, by name.
 *
 * A name is one axis, or several joined: "tp+ep". Ranks of several number the axes in the order of
 * the mesh, the innermost fastest. An axis the mesh does not have is of one rank.
 *
 * Example: {tp: 2, ep: 4, dp: 3}: "tp+ep" has 8 ranks; rank 13 = 1 + 2 * 2 + 8 * 1 is at place 5.
 */
#ifndef OVL_MODELS_MESH_H
#define OVL_MODELS_MESH_H

#include "models/scenario.h"

/* Whether a joined name has this axis. */
bool ovl_mesh_names(const char *joined, const char *axis);

/* Ranks of all axes that a name has; NULL: 1. */
uint64_t ovl_mesh_size(const ovl_mesh *mesh, const char *joined);

/* The place of a rank in them. */
uint64_t ovl_mesh_place(const ovl_mesh *mesh, const char *joined, uint64_t rank);

#endif
