#include "models/mesh.h"

bool ovl_mesh_names(const char *joined, const char *axis)
{
    size_t length = strlen(axis);
    for (const char *at = joined; at && *at;) {
        size_t own = strcspn(at, "+");
        if (own == length && memcmp(at, axis, own) == 0) {
            return true;
        }
        at += own + (at[own] == '+');
    }
    return false;
}

uint64_t ovl_mesh_size(const ovl_mesh *mesh, const char *joined)
{
    uint64_t size = 1;
    for (uint32_t i = 0; i < mesh->n_axes; i++) {
        size *= ovl_mesh_names(joined, mesh->axes[i].name) ? (uint64_t)mesh->axes[i].size : 1;
    }
    return size;
}

uint64_t ovl_mesh_place(const ovl_mesh *mesh, const char *joined, uint64_t rank)
{
    uint64_t place = 0, stride = 1;
    for (uint32_t i = 0; i < mesh->n_axes; i++) {
        uint64_t size = (uint64_t)mesh->axes[i].size;
        if (ovl_mesh_names(joined, mesh->axes[i].name)) {
            place += rank % size * stride;
            stride *= size;
        }
        rank /= size;
    }
    return place;
}
