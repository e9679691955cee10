#include "tools/facts.h"

#include <string.h>

#define MOST_RANGES 12

/* "0-3,6,8-11", cut after a dozen ranges. `list` is ascending. */
static const char *ranges(const uint32_t *list, uint32_t n, ovl_arena *arena)
{
    const char *text = "";
    uint32_t parts = 0;
    for (uint32_t i = 0; i < n && parts < MOST_RANGES; parts++) {
        uint32_t last = i;
        while (last + 1 < n && list[last + 1] == list[last] + 1) {
            last++;
        }
        const char *comma = i ? "," : "";
        text = last > i ? ovl_arena_printf(arena, "%s%s%" PRIu32 "-%" PRIu32, text, comma, list[i],
                                           list[last])
                        : ovl_arena_printf(arena, "%s%s%" PRIu32, text, comma, list[i]);
        i = last + 1;
        if (parts + 1 == MOST_RANGES && i < n) {
            text = ovl_arena_printf(arena, "%s,... (%" PRIu32 " in all)", text, n);
        }
    }
    return text;
}

static void count_bytes(ovl_code_facts *facts, const ovl_program *p, uint32_t rank, bool first)
{
    uint64_t sum[OVL_CATEGORY_COUNT] = {0}, all = 0;
    for (uint32_t i = 0; i < facts->code->n_buffers; i++) {
        const ovl_buffer *buffer = &facts->code->buffers[i];
        sum[buffer->category] += ovl_buffer_bytes(p, rank, buffer);
        all += ovl_buffer_bytes(p, rank, buffer);
    }
    for (int c = 0; c < OVL_CATEGORY_COUNT; c++) {
        facts->bytes[c] = OVL_MAX(facts->bytes[c], sum[c]);
        facts->least[c] = first ? sum[c] : OVL_MIN(facts->least[c], sum[c]);
    }
    facts->all = OVL_MAX(facts->all, all);
    facts->least_of_all = first ? all : OVL_MIN(facts->least_of_all, all);
}

static void count_code(ovl_code_facts *facts, const ovl_program *p, const uint32_t *ranks)
{
    const ovl_code *code = facts->code;
    bool sized = false;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        facts->kinds[ovl_code_op(code, i)->kind]++;
    }
    for (uint32_t i = 0; i < code->n_buffers; i++) {
        facts->buffers[code->buffers[i].category]++;
        sized |= code->buffers[i].sizes > 0;
    }
    for (uint32_t i = 0; i < (sized ? facts->n_ranks : 1); i++) {
        count_bytes(facts, p, ranks[i], i == 0);
    }
}

static void find_codes(ovl_facts *facts, ovl_arena *arena)
{
    const ovl_program *p = facts->program;
    uint32_t *ranks = OVL_NEW_ARRAY(arena, uint32_t, p->n_ranks);
    bool *seen = OVL_NEW_ARRAY(arena, bool, p->n_codes);
    facts->codes = OVL_NEW_ARRAY(arena, ovl_code_facts, p->n_codes);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        ovl_id code = p->ranks[r].code;
        if (seen[code]) {
            continue;
        }
        seen[code] = true;
        ovl_code_facts *f = &facts->codes[facts->n_codes++];
        f->code = &p->codes[code];
        for (uint32_t k = r; k < p->n_ranks; k++) {
            if (p->ranks[k].code == code) {
                ranks[f->n_ranks++] = k;
            }
        }
        f->ranks = ranges(ranks, f->n_ranks, arena);
        count_code(f, p, ranks);
        facts->n_ops += (uint64_t)f->n_ranks * f->code->n_ops;
    }
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static const char *members(const ovl_program *p, const ovl_comm *comm, ovl_arena *arena)
{
    uint32_t *list = OVL_NEW_ARRAY(arena, uint32_t, comm->n_members);
    memcpy(list, p->members + comm->first_member, comm->n_members * sizeof *list);
    qsort(list, comm->n_members, sizeof *list, ascending);
    return ranges(list, comm->n_members, arena);
}

static void find_groups(ovl_facts *facts, ovl_arena *arena)
{
    const ovl_program *p = facts->program;
    uint32_t *at = OVL_NEW_ARRAY(arena, uint32_t, p->names->count); /* group + 1 of each name */
    facts->groups = OVL_NEW_ARRAY(arena, ovl_group_facts, p->n_comms);
    for (uint32_t c = 0; c < p->n_comms; c++) {
        const ovl_comm *comm = &p->comms[c];
        if (at[comm->name] == 0) {
            ovl_group_facts fresh = {.name = ovl_names_copy(p->names, comm->name, arena),
                                     .fewest = comm->n_members,
                                     .first = members(p, comm, arena)};
            facts->groups[facts->n_groups++] = fresh;
            at[comm->name] = facts->n_groups;
        }
        ovl_group_facts *g = &facts->groups[at[comm->name] - 1];
        g->n_comms++;
        g->fewest = OVL_MIN(g->fewest, comm->n_members);
        g->most = OVL_MAX(g->most, comm->n_members);
    }
}

ovl_facts ovl_facts_of(const ovl_program *program, ovl_arena *arena)
{
    ovl_facts facts = {.program = program};
    find_codes(&facts, arena);
    find_groups(&facts, arena);
    return facts;
}

const char *ovl_facts_ranks_like(const ovl_facts *facts, uint32_t first,
                                 bool (*alike)(const ovl_code_facts *, const ovl_code_facts *),
                                 bool *one, ovl_arena *arena)
{
    const ovl_program *p = facts->program;
    bool *wanted = OVL_NEW_ARRAY(arena, bool, p->n_codes);
    uint32_t *ranks = OVL_NEW_ARRAY(arena, uint32_t, p->n_ranks);
    uint32_t n = 0;
    for (uint32_t i = 0; i < facts->n_codes; i++) {
        wanted[facts->codes[i].code - p->codes] = alike(&facts->codes[first], &facts->codes[i]);
    }
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        if (wanted[p->ranks[r].code]) {
            ranks[n++] = r;
        }
    }
    *one = n == 1;
    return ranges(ranks, n, arena);
}

int64_t ovl_links_per_node(const ovl_hw *hw, const ovl_hw_link *link, uint32_t machine)
{
    int64_t gpus = ovl_hw_gpus(hw, machine);
    if (gpus == 0 || link->scope >= OVL_SCOPE_CLUSTER) {
        return 0;
    }
    if (link->gpus) {
        bool parts = gpus % link->gpus == 0 || (link->gpus < gpus && !ovl_hw_even(hw));
        return parts ? (gpus + link->gpus - 1) / link->gpus : 0;
    }
    return link->scope == OVL_SCOPE_GPU ? gpus : 1;
}
