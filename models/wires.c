#include "models/wires.h"

#include <string.h>

/* --- Links --- */

static uint32_t wires_of(const ovl_hw_link *link)
{
    return link->topology == OVL_TOPOLOGY_MESH ? (uint32_t)link->mesh - 1 : 0;
}

static uint32_t count_wires(const ovl_hw *hw)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < hw->n_links; i++) {
        n += wires_of(&hw->links[i]);
    }
    return n;
}

static ovl_hw_link wire_of(ovl_lowering *l, const ovl_hw_link *mesh, uint32_t of, uint32_t further)
{
    ovl_hw_link wire = *mesh;
    wire.name = ovl_arena_printf(l->arena, "%s+%" PRIu32, mesh->name, further);
    wire.topology = OVL_TOPOLOGY_SWITCH;
    wire.scope = OVL_SCOPE_GPU;
    wire.gpus = 0;
    wire.wire = further;
    wire.of = of;
    wire.bandwidth = mesh->bandwidth / (uint64_t)(mesh->mesh - 1);
    return wire;
}

/* The links with their wires behind them; the meshes themselves carry nothing any more. */
static ovl_hw_link *with_wires(ovl_lowering *l, const ovl_hw_link *links, uint32_t n)
{
    uint32_t at = n;
    ovl_hw_link *all = OVL_NEW_ARRAY(l->arena, ovl_hw_link, n + count_wires(l->hw));
    memcpy(all, links, n * sizeof *all);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 1; k <= wires_of(&links[i]); k++) {
            all[at++] = wire_of(l, &links[i], i, k);
        }
    }
    return all;
}

static const ovl_hw_link *mesh_named(const ovl_hw *hw, const char *name)
{
    for (uint32_t i = 0; i < hw->n_links; i++) {
        if (wires_of(&hw->links[i]) && strcmp(hw->links[i].name, name) == 0) {
            return &hw->links[i];
        }
    }
    return NULL;
}

const ovl_texts *ovl_wires_via(ovl_lowering *l, const ovl_texts *via)
{
    uint32_t n = via->count, at = 0;
    for (uint32_t i = 0; i < via->count; i++) {
        const ovl_hw_link *mesh = mesh_named(l->hw, via->item[i]);
        n += mesh ? wires_of(mesh) : 0;
    }
    if (n == via->count) {
        return via;
    }
    ovl_texts *all = OVL_NEW(l->arena, ovl_texts);
    *all = (ovl_texts){.item = OVL_NEW_ARRAY(l->arena, const char *, n)};
    for (uint32_t i = 0; i < via->count; i++) {
        const ovl_hw_link *mesh = mesh_named(l->hw, via->item[i]);
        for (uint32_t k = 1; mesh && k <= wires_of(mesh); k++) {
            all->item[at++] = ovl_arena_printf(l->arena, "%s+%" PRIu32, mesh->name, k);
        }
        if (!mesh) {
            all->item[at++] = via->item[i];
        }
    }
    all->count = at;
    return all;
}

void ovl_wires_add(ovl_lowering *l)
{
    uint32_t n = l->hw->n_links, wires = count_wires(l->hw);
    if (wires == 0) {
        return;
    }
    ovl_hw *hw = OVL_NEW(l->arena, ovl_hw);
    *hw = *l->hw;
    hw->links = with_wires(l, l->hw->links, n);
    hw->n_links = n + wires;
    hw->others = OVL_NEW_ARRAY(l->arena, ovl_hw_nodes, hw->n_others);
    for (uint32_t i = 0; i < hw->n_others; i++) {
        hw->others[i] = l->hw->others[i];
        hw->others[i].links = with_wires(l, hw->others[i].links, n);
    }
    hw->collectives = OVL_NEW_ARRAY(l->arena, ovl_hw_collective, hw->n_collectives);
    for (uint32_t i = 0; i < hw->n_collectives; i++) {
        hw->collectives[i] = l->hw->collectives[i];
        hw->collectives[i].via = *ovl_wires_via(l, &hw->collectives[i].via);
    }
    l->hw = hw;
}

/* --- Members --- */

uint32_t ovl_wire_end(const ovl_hw_link *wire, uint32_t rank)
{
    uint32_t g = (uint32_t)wire->mesh, first = rank / g * g;
    return first + (rank - first + wire->wire) % g;
}

/* Of the members those in the block of a rank, by their place in it. */
static uint32_t block_of(const ovl_hw_link *wire, const uint32_t *ranks, uint32_t n, uint32_t rank,
                         bool *here)
{
    uint32_t g = (uint32_t)wire->mesh, count = 0;
    memset(here, 0, g * sizeof *here);
    for (uint32_t i = 0; i < n; i++) {
        if (ranks[i] / g == rank / g) {
            here[ranks[i] % g] = true;
            count++;
        }
    }
    return count;
}

/* Whether a ring that goes through the block in order of ranks takes the wire from `from` to `to`;
 * one that goes on elsewhere leaves behind the last. */
static bool is_next(const ovl_hw_link *wire, const bool *here, bool closed, uint32_t from,
                    uint32_t to)
{
    uint32_t g = (uint32_t)wire->mesh, place = from % g;
    do {
        place = (place + 1) % g;
    } while (!here[place]);
    return place == to % g && (closed || to > from);
}

void ovl_wires_ways(const ovl_lowering *l, uint32_t link, const uint32_t *ranks, uint32_t n,
                    ovl_way *ways)
{
    const ovl_hw_link *wire = &l->hw->links[link];
    bool here[OVL_MESH_MAX];
    for (uint32_t i = 0, count = 0; i < n; i++) {
        if (i == 0 || ranks[i] / wire->mesh != ranks[i - 1] / wire->mesh) {
            count = block_of(wire, ranks, n, ranks[i], here);
        }
        uint32_t end = ovl_wire_end(wire, ranks[i]);
        ovl_way *way = &ways[(size_t)i * l->hw->n_links + link];
        *way = (ovl_way){.parts = 1, .of = 1};
        if (here[end % wire->mesh]) {
            bool next =
                wire->rings == OVL_RINGS_ONE && is_next(wire, here, count == n, ranks[i], end);
            *way = (ovl_way){.parts = n, .served = 1, .share = 1, .of = 1, .pairs = 1};
            way->in_mesh = count;
            way->next = next;
        }
    }
}

/* --- All-to-alls with bytes of their own --- */

static double factor(const double *of, uint32_t rank)
{
    return of ? of[rank] : 1;
}

ovl_uneven_way ovl_wires_uneven(const ovl_lowering *l, const ovl_group *group, uint32_t link,
                                uint64_t bytes, const ovl_uneven *uneven, ovl_arena *arena)
{
    const ovl_hw_link *wire = &l->hw->links[link];
    ovl_uneven_way way = {OVL_NEW_ARRAY(arena, double, l->n_ranks),
                          OVL_NEW_ARRAY(arena, double, l->n_ranks)};
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        ovl_id id = group->comm_of[rank];
        uint32_t end = ovl_wire_end(wire, rank);
        if (id == OVL_NONE || end >= l->n_ranks || group->comm_of[end] != id) {
            continue;
        }
        const ovl_comm *comm = &l->b->comms.data[id];
        const uint32_t *member = &l->b->members.data[comm->first_member];
        double received = 0;
        for (uint32_t i = 0; i < comm->n_members; i++) {
            received += factor(uneven->receives, member[i]);
        }
        if (received > 0) {
            way.out[rank] = (double)bytes / received * factor(uneven->sends, rank) *
                            factor(uneven->receives, end);
        }
    }
    return way;
}
