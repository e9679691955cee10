#include "models/plan.h"

#include <stdlib.h>

/* Groups of several axes that a scenario may name. */
#define JOINED_GROUPS 16

/* --- The list --- */

static ovl_group *find(const ovl_lowering *l, const char *name)
{
    ovl_id id = ovl_names_find(&l->group_names, name);
    return id == OVL_NONE ? NULL : &l->groups[id];
}

static void add(ovl_lowering *l, ovl_group group)
{
    const ovl_group *other = find(l, group.name);
    if (other) {
        ovl_error(l->errs, OVL_E_INPUT, group.mark, "there already is a group \"%s\": %s",
                  group.name, other->node ? "one of workload.groups" : "a mesh axis, or all ranks");
        return;
    }
    ovl_names_add(&l->group_names, group.name);
    l->groups[l->n_groups++] = group;
}

/* Ranks of an axis lie `stride` apart: the axes inside it vary faster. */
static void add_axes(ovl_lowering *l)
{
    const ovl_mesh *mesh = &l->scenario->mesh;
    uint32_t stride = 1;
    for (uint32_t i = 0; mesh->given && i < mesh->n_axes; i++) {
        const ovl_axis *axis = &mesh->axes[i];
        add(l, (ovl_group){.name = axis->name,
                           .mark = axis->mark,
                           .stride = stride,
                           .size = (uint32_t)axis->size});
        stride *= (uint32_t)axis->size;
    }
}

void ovl_plan_groups(ovl_lowering *l, const char *alias)
{
    const ovl_workload *workload = &l->scenario->workload;
    l->most_groups = workload->n_groups + l->scenario->mesh.n_axes + 2 + JOINED_GROUPS;
    l->groups = OVL_NEW_ARRAY(l->arena, ovl_group, l->most_groups);
    ovl_group world = {.name = "world", .stride = 1, .size = l->n_ranks};
    l->group_names.arena = l->arena;
    add(l, world);
    add_axes(l);
    for (uint32_t i = 0; i < workload->n_groups; i++) {
        const ovl_xgroup *group = &workload->groups[i];
        add(l, (ovl_group){.name = group->name, .mark = group->mark, .node = group->ranks});
    }
    if (alias && !find(l, alias)) {
        world.name = alias;
        add(l, world);
    }
}

/* --- Communicators --- */

uint32_t ovl_plan_node(const ovl_lowering *l, uint32_t rank)
{
    return (l->seats.of ? l->seats.of[rank] : rank) / l->seats.node;
}

/* Of a group that is being made: of each rank its communicator, and how it lies. */
typedef struct making {
    ovl_lowering *l;
    const ovl_group *group;
    ovl_id *comm_of;
    const ovl_spread **spread_of;
    bool checks; /* only whether its ranks are right: no communicator is made */
} making;

static making make(ovl_lowering *l, const ovl_group *group)
{
    making m = {.l = l,
                .group = group,
                .comm_of = OVL_NEW_ARRAY(l->arena, ovl_id, l->n_ranks),
                .spread_of = OVL_NEW_ARRAY(l->arena, const ovl_spread *, l->n_ranks)};
    memset(m.comm_of, 0xff, l->n_ranks * sizeof *m.comm_of); /* OVL_NONE */
    return m;
}

static void add_comm(const making *m, const uint32_t *ranks, uint32_t n)
{
    ovl_lowering *l = m->l;
    if (m->checks) {
        return;
    }
    ovl_id comm = ovl_add_comm(l->b, ovl_name(l->b, m->group->name), ranks, n);
    const ovl_spread **of = OVL_NEW_ARRAY(l->arena, const ovl_spread *, n);
    ovl_find_spreads(l, ranks, n, of);
    for (uint32_t i = 0; i < n; i++) {
        m->comm_of[ranks[i]] = comm;
        m->spread_of[ranks[i]] = of[i];
    }
}

static bool axis_comms(const making *m, const ovl_group *group)
{
    ovl_lowering *l = m->l;
    uint32_t *ranks = OVL_NEW_ARRAY(l->arena, uint32_t, group->size);
    for (uint32_t first = 0; first < l->n_ranks; first++) {
        if (first / group->stride % group->size != 0) {
            continue; /* not at coordinate 0 */
        }
        for (uint32_t i = 0; i < group->size; i++) {
            ranks[i] = first + i * group->stride;
        }
        add_comm(m, ranks, group->size);
    }
    return true;
}

/* Whether a rank has coordinate 0 in all axes of the group: the first of its communicator. */
static bool is_first(const ovl_lowering *l, const ovl_group *group, uint32_t rank)
{
    const ovl_mesh *mesh = &l->scenario->mesh;
    uint32_t at = 0;
    for (uint32_t i = 0; i < mesh->n_axes; i++) {
        uint32_t size = (uint32_t)mesh->axes[i].size;
        if (at < group->n_axes && group->axes[at] == i) {
            at++;
            if (rank % size) {
                return false;
            }
        }
        rank /= size;
    }
    return true;
}

/* The rank whose coordinates in the group's axes number `i`, the others those of `first`. */
static uint32_t member_at(const ovl_lowering *l, const ovl_group *group, uint32_t first, uint32_t i)
{
    const ovl_mesh *mesh = &l->scenario->mesh;
    uint32_t stride = 1, at = 0;
    for (uint32_t k = 0; k < mesh->n_axes; k++) {
        uint32_t size = (uint32_t)mesh->axes[k].size;
        if (at < group->n_axes && group->axes[at] == k) {
            first += i % size * stride;
            i /= size;
            at++;
        }
        stride *= size;
    }
    return first;
}

static bool joined_comms(const making *m)
{
    ovl_lowering *l = m->l;
    const ovl_group *group = m->group;
    uint32_t *ranks = OVL_NEW_ARRAY(l->arena, uint32_t, group->size);
    for (uint32_t first = 0; first < l->n_ranks; first++) {
        if (is_first(l, group, first)) {
            for (uint32_t i = 0; i < group->size; i++) {
                ranks[i] = member_at(l, group, first, i);
            }
            add_comm(m, ranks, group->size);
        }
    }
    return true;
}

/* A rank number; OVL_NONE and an error if it is none. */
static uint32_t read_rank(ovl_lowering *l, const ovl_node *node)
{
    int64_t rank;
    const char *wrong =
        node->kind == OVL_NODE_SCALAR ? ovl_read_count(node->text, &rank) : "a rank is a number";
    if (wrong) {
        ovl_error(l->errs, OVL_E_INPUT, node->mark, "%s", wrong);
        return OVL_NONE;
    }
    if (rank < 0 || rank >= l->n_ranks) {
        ovl_error(l->errs, OVL_E_INPUT, node->mark,
                  "there is no rank %" PRId64 "; ranks are 0 to %" PRIu32, rank, l->n_ranks - 1);
        return OVL_NONE;
    }
    return (uint32_t)rank;
}

/* One communicator from a list of ranks, each at most once in the group. */
static bool listed_comm(const making *m, const ovl_node *list)
{
    ovl_lowering *l = m->l;
    const ovl_group *group = m->group;
    ovl_id *comm_of = m->comm_of;
    uint32_t *ranks = OVL_NEW_ARRAY(l->arena, uint32_t, list->count);
    bool ok = list->kind == OVL_NODE_LIST && list->count > 0;
    if (!ok) {
        ovl_error(l->errs, OVL_E_INPUT, list->mark,
                  "the ranks of group \"%s\" are a list ([0, 1]), a list of lists, or `all`",
                  group->name);
        return false;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        ranks[i] = read_rank(l, list->items[i]);
        if (ranks[i] == OVL_NONE) {
            ok = false;
        } else if (comm_of[ranks[i]] != OVL_NONE) {
            ovl_error(l->errs, OVL_E_INPUT, list->items[i]->mark,
                      "rank %" PRIu32 " is already in group \"%s\"", ranks[i], group->name);
            ok = false;
        } else {
            comm_of[ranks[i]] = 0; /* taken */
        }
    }
    if (ok) {
        add_comm(m, ranks, list->count);
    }
    return ok;
}

static bool node_comms(const making *m)
{
    const ovl_group *group = m->group;
    const ovl_node *node = group->node;
    if (node->kind == OVL_NODE_SCALAR && strcmp(node->text, "all") == 0) {
        ovl_group all = *group;
        all.stride = 1;
        all.size = m->l->n_ranks;
        return axis_comms(m, &all);
    }
    bool several =
        node->kind == OVL_NODE_LIST && node->count > 0 && node->items[0]->kind == OVL_NODE_LIST;
    if (!several) {
        return listed_comm(m, node);
    }
    bool ok = true;
    for (uint32_t i = 0; i < node->count; i++) {
        ok = listed_comm(m, node->items[i]) && ok;
    }
    return ok;
}

/* Members stand in order of their place, so a run of them is a slice of the communicator's. */
static void split_comm(const making *m, ovl_id comm, uint32_t size)
{
    const ovl_builder *b = m->l->b;
    ovl_comm whole = b->comms.data[comm];
    uint32_t *ranks = OVL_NEW_ARRAY(m->l->arena, uint32_t, whole.n_members);
    memcpy(ranks, b->members.data + whole.first_member, whole.n_members * sizeof *ranks);
    for (uint32_t first = 0; first < whole.n_members; first += size) {
        add_comm(m, ranks + first, size);
    }
}

static bool split_comms(const making *m, const ovl_group *whole, uint32_t size)
{
    for (uint32_t rank = 0; rank < m->l->n_ranks; rank++) {
        if (m->comm_of[rank] == OVL_NONE && whole->comm_of[rank] != OVL_NONE) {
            split_comm(m, whole->comm_of[rank], size);
        }
    }
    return true;
}

static bool make_comms(ovl_lowering *l, ovl_group *group)
{
    making m = make(l, group);
    bool ok = group->whole    ? split_comms(&m, group->whole, group->size)
              : group->node   ? node_comms(&m)
              : group->n_axes ? joined_comms(&m)
                              : axis_comms(&m, group);
    group->comm_of = m.comm_of;
    group->spread_of = m.spread_of;
    group->broken = !ok;
    return ok;
}

void ovl_plan_check_groups(ovl_lowering *l)
{
    for (uint32_t i = 0; i < l->n_groups; i++) {
        const ovl_group *group = &l->groups[i];
        if (group->node && !group->comm_of) {
            making m = make(l, group);
            m.checks = true;
            node_comms(&m);
        }
    }
}

/* --- Finding --- */

/* The axis of the mesh that a part of a name is; the number of axes if it is none. */
static uint32_t axis_named(const ovl_mesh *mesh, const char *name, size_t length)
{
    uint32_t i = 0;
    while (i < mesh->n_axes && (strlen(mesh->axes[i].name) != length ||
                                memcmp(mesh->axes[i].name, name, length) != 0)) {
        i++;
    }
    return i;
}

/* Of "cp+dp", one mark for each axis it names; false if a part is no axis or is there twice. */
static bool read_joined(const ovl_mesh *mesh, const char *name, bool *has)
{
    while (*name) {
        size_t length = strcspn(name, "+");
        uint32_t axis = axis_named(mesh, name, length);
        if (axis == mesh->n_axes || has[axis]) {
            return false;
        }
        has[axis] = true;
        name += length;
        name += *name == '+' && name[1] ? 1 : 0;
        if (*name == '+') {
            return false;
        }
    }
    return true;
}

/* A group of several axes, made when it is first named; NULL if the name is none. */
static ovl_group *join_axes(ovl_lowering *l, const char *name, ovl_mark mark)
{
    const ovl_mesh *mesh = &l->scenario->mesh;
    bool has[32] = {false};
    if (!strchr(name, '+') || !mesh->given || mesh->n_axes > OVL_COUNT(has) ||
        l->n_groups == l->most_groups || !read_joined(mesh, name, has)) {
        return NULL;
    }
    uint32_t *axes = OVL_NEW_ARRAY(l->arena, uint32_t, mesh->n_axes);
    ovl_group group = {.name = name, .mark = mark, .size = 1, .axes = axes};
    for (uint32_t i = 0; i < mesh->n_axes; i++) {
        if (has[i]) {
            axes[group.n_axes++] = i;
            group.size *= (uint32_t)mesh->axes[i].size;
        }
    }
    add(l, group);
    return find(l, name);
}

/* "tp/2", which only models name: 2 divides the size of tp. */
static ovl_group *runs_of(ovl_lowering *l, const char *name, ovl_mark mark)
{
    const char *slash = strchr(name, '/');
    if (!slash || l->n_groups == l->most_groups) {
        return NULL;
    }
    const char *whole = ovl_arena_printf(l->arena, "%.*s", (int)(slash - name), name);
    if (!find(l, whole)) {
        return NULL;
    }
    add(l, (ovl_group){.name = name,
                       .mark = mark,
                       .size = (uint32_t)strtoul(slash + 1, NULL, 10),
                       .whole = ovl_plan_group(l, whole, mark)});
    return find(l, name);
}

const ovl_group *ovl_plan_group(ovl_lowering *l, const char *name, ovl_mark mark)
{
    ovl_group *group = find(l, name);
    group = group ? group : join_axes(l, name, mark);
    group = group ? group : runs_of(l, name, mark);
    if (!group) {
        const char *near = ovl_nearest(name, l->group_names.text, l->n_groups);
        ovl_error(l->errs, OVL_E_INPUT, mark, "there is no group \"%s\"%s%s%s", name,
                  near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
        return NULL;
    }
    if (!group->comm_of) {
        make_comms(l, group);
    }
    return group->broken ? NULL : group;
}

/* Axes of size 1 do not make a choice; with nothing to choose it is the last, world if alone. */
const ovl_group *ovl_plan_default_group(ovl_lowering *l, ovl_mark mark)
{
    const ovl_group *only = NULL;
    for (uint32_t i = 1; i < l->n_groups; i++) {
        const ovl_group *group = &l->groups[i];
        if (group->n_axes || group->whole || (!group->node && group->size < 2)) {
            continue;
        }
        if (only) {
            ovl_error(l->errs, OVL_E_INPUT, mark, "say which group: there are \"%s\" and \"%s\"",
                      only->name, group->name);
            return NULL;
        }
        only = group;
    }
    return ovl_plan_group(l, only ? only->name : l->groups[l->n_groups - 1].name, mark);
}

const ovl_group *ovl_plan_subgroup(ovl_lowering *l, const ovl_group *group, uint32_t size,
                                   const char *name)
{
    ovl_group *sub = OVL_NEW(l->arena, ovl_group);
    *sub = (ovl_group){.name = name, .mark = group->mark};
    making m = make(l, sub);
    split_comms(&m, group, size);
    sub->comm_of = m.comm_of;
    sub->spread_of = m.spread_of;
    return sub;
}

static int ascending(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The members of two communicators, in order of their rank. */
static void join_comms(const making *m, ovl_id a, ovl_id b)
{
    const ovl_builder *builder = m->l->b;
    const ovl_comm *of[2] = {&builder->comms.data[a], &builder->comms.data[b]};
    uint32_t n = of[0]->n_members, all = n + of[1]->n_members;
    uint32_t *ranks = OVL_NEW_ARRAY(m->l->arena, uint32_t, all);
    for (uint32_t i = 0; i < all; i++) {
        ranks[i] =
            builder->members.data[i < n ? of[0]->first_member + i : of[1]->first_member + (i - n)];
    }
    qsort(ranks, all, sizeof *ranks, ascending);
    add_comm(m, ranks, all);
}

const ovl_group *ovl_plan_paired(ovl_lowering *l, const ovl_group *group, const uint32_t *partner)
{
    ovl_group *both = OVL_NEW(l->arena, ovl_group);
    *both = (ovl_group){.name = group->name, .mark = group->mark};
    making m = make(l, both);
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        if (m.comm_of[rank] == OVL_NONE) {
            join_comms(&m, group->comm_of[rank], group->comm_of[partner[rank]]);
        }
    }
    both->comm_of = m.comm_of;
    both->spread_of = m.spread_of;
    return both;
}

uint32_t ovl_plan_even(ovl_lowering *l, const ovl_group *group, const char *why)
{
    uint32_t first = ovl_plan_members(l, group, 0);
    for (uint32_t rank = 0; rank < l->n_ranks; rank++) {
        uint32_t n = ovl_plan_members(l, group, rank);
        if (n == 0) {
            ovl_error(l->errs, OVL_E_INPUT, group->mark,
                      "rank %" PRIu32 " is not in group \"%s\", which %s", rank, group->name, why);
            return 0;
        }
        if (n != first) {
            ovl_error(l->errs, OVL_E_INPUT, group->mark,
                      "the communicators of group \"%s\" have different sizes, %" PRIu32
                      " and %" PRIu32,
                      group->name, first, n);
            return 0;
        }
    }
    return first;
}

uint32_t ovl_plan_members(const ovl_lowering *l, const ovl_group *group, uint32_t rank)
{
    ovl_id comm = group->comm_of[rank];
    return comm == OVL_NONE ? 0 : l->b->comms.data[comm].n_members;
}

const ovl_spread *ovl_plan_spread(const ovl_lowering *l, const ovl_group *group, uint32_t rank)
{
    (void)l;
    return group->spread_of[rank];
}

/* --- Codes and slots --- */

/* The host call that a trial lengthens where the rank pauses; it takes no time otherwise. */
static void add_pause(ovl_lowering *l, ovl_id code)
{
    ovl_mark mark = l->scenario->variation.pauses.mark;
    ovl_plan_cost cost = ovl_plan_length(l, OVL_PAUSE_NAME, mark, (ovl_times){0});
    ovl_add_op(l->b, code,
               &(ovl_op){.kind = OVL_HOST,
                         .name = ovl_name(l->b, OVL_PAUSE_NAME),
                         .stream = OVL_NO_STREAM,
                         .comm = OVL_NO_COMM,
                         .batch = OVL_NONE,
                         .cost = cost.id,
                         .mark = mark});
}

ovl_id ovl_plan_code(ovl_lowering *l)
{
    ovl_id code = ovl_add_code(l->b);
    ovl_vec_push(&l->codes, (ovl_slots){0});
    assert(l->codes.len == code + 1);
    if (l->scenario && l->scenario->variation.pauses.given) {
        add_pause(l, code);
    }
    return code;
}

uint16_t ovl_plan_slot(ovl_lowering *l, ovl_id code, const ovl_group *group)
{
    ovl_slots *slots = &l->codes.data[code];
    for (uint32_t i = 0; i < slots->group.len; i++) {
        if (slots->group.data[i] == group) {
            return (uint16_t)i;
        }
    }
    ovl_vec_push(&slots->group, group);
    return ovl_add_slot(l->b, code);
}
