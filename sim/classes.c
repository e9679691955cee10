#include "sim/classes.h"

#include "sim/vec.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

static uint64_t hash_rank(const ovl_program *p, const ovl_timeline *t, uint32_t rank)
{
    uint32_t first = p->ranks[rank].first_op, n = p->codes[p->ranks[rank].code].n_ops;
    uint64_t hash = mix(0, p->ranks[rank].code);
    for (uint32_t i = first; i < first + n; i++) {
        hash = mix(hash, (uint64_t)t->arrive[i]);
        hash = mix(hash, (uint64_t)t->end[i]);
    }
    return hash;
}

static bool same_times(const ovl_time *times, uint32_t a, uint32_t b, uint32_t n)
{
    return memcmp(times + a, times + b, n * sizeof *times) == 0;
}

static bool same_groups(const ovl_program *p, uint32_t a, uint32_t b, uint32_t n_slots)
{
    for (uint32_t s = 0; s < n_slots; s++) {
        const ovl_comm *x = ovl_rank_comm(p, a, (uint16_t)s), *y = ovl_rank_comm(p, b, (uint16_t)s);
        if (x->name != y->name || x->size != y->size) {
            return false;
        }
    }
    return true;
}

/* A member of an all-to-all may have bytes of its own. */
static bool same_loads(const ovl_program *p, const ovl_cost *x, const ovl_cost *y)
{
    bool same = ovl_same_times(p, x, y); /* so they have as many phases */
    for (; same && x; x = ovl_next_phase(p, x), y = ovl_next_phase(p, y)) {
        const ovl_cost_kind *s = ovl_kind_of(p, x), *t = ovl_kind_of(p, y);
        same = s->n_demands == t->n_demands &&
               ovl_same_demands(&p->demands[s->first_demand], &p->demands[t->first_demand],
                                s->n_demands);
    }
    return same;
}

static bool same_costs(const ovl_program *p, uint32_t a, uint32_t b, const ovl_code *code)
{
    if (p->ranks[a].variant == p->ranks[b].variant) {
        return true;
    }
    for (uint32_t i = 0; i < code->n_ops; i++) {
        const ovl_op *op = ovl_code_op(code, i);
        if (op->per_rank && !same_loads(p, ovl_op_cost(p, a, op), ovl_op_cost(p, b, op))) {
            return false;
        }
    }
    return true;
}

static bool same_sizes(const ovl_program *p, uint32_t a, uint32_t b, const ovl_code *code)
{
    for (uint32_t i = 0; i < code->n_buffers; i++) {
        const ovl_buffer *buffer = &code->buffers[i];
        if (ovl_buffer_bytes(p, a, buffer) != ovl_buffer_bytes(p, b, buffer)) {
            return false;
        }
    }
    return true;
}

static bool same_rank(const ovl_program *p, const ovl_timeline *t, uint32_t a, uint32_t b)
{
    const ovl_rank *x = &p->ranks[a], *y = &p->ranks[b];
    const ovl_code *code = &p->codes[x->code];
    uint32_t n = code->n_ops;
    return x->code == y->code && x->gpu == y->gpu && same_groups(p, a, b, code->n_slots) &&
           same_costs(p, a, b, code) && same_sizes(p, a, b, code) &&
           same_times(t->issue, x->first_op, y->first_op, n) &&
           same_times(t->arrive, x->first_op, y->first_op, n) &&
           same_times(t->start, x->first_op, y->first_op, n) &&
           same_times(t->end, x->first_op, y->first_op, n) &&
           memcmp(&t->ranks[a], &t->ranks[b], sizeof t->ranks[a]) == 0;
}

typedef struct entry {
    uint64_t hash;
    uint32_t rank, class;
} entry;

/* The class of `rank`: one found before under its hash that is truly equal, or a new one. */
static uint32_t class_of(const ovl_program *p, const ovl_timeline *t, entry *table, uint32_t size,
                         uint32_t rank, uint32_t n_classes)
{
    uint64_t hash = hash_rank(p, t, rank);
    uint32_t slot = (uint32_t)(hash & (size - 1));
    while (table[slot].rank != OVL_NONE) {
        if (table[slot].hash == hash && same_rank(p, t, table[slot].rank, rank)) {
            return table[slot].class;
        }
        slot = (slot + 1) & (size - 1);
    }
    table[slot] = (entry){hash, rank, n_classes};
    return n_classes;
}

void ovl_classes_find(const ovl_program *program, const ovl_timeline *timeline, ovl_arena *arena,
                      ovl_classes *classes)
{
    uint32_t n = program->n_ranks, n_classes = 0, size = 8;
    while (size < 2 * n) {
        size *= 2;
    }
    ovl_arena scratch = {0};
    entry *table = OVL_NEW_ARRAY(&scratch, entry, size);
    for (uint32_t i = 0; i < size; i++) {
        table[i].rank = OVL_NONE;
    }
    uint32_t *rank = OVL_NEW_ARRAY(arena, uint32_t, n), *count = OVL_NEW_ARRAY(arena, uint32_t, n);
    uint32_t *of = OVL_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t r = 0; r < n; r++) {
        of[r] = class_of(program, timeline, table, size, r, n_classes);
        if (of[r] == n_classes) {
            rank[n_classes++] = r;
        }
        count[of[r]] += ovl_rank_count(program, r);
    }
    ovl_arena_free(&scratch);
    *classes = (ovl_classes){n_classes, rank, count, of};
}
