/*
 * lowering.h - for tests of plans: from YAML text to a program, and short questions about it.
 *
 *     bench t = {0};
 *     CHECK(lower(&t, "workload: {ops: [{kernel: a, duration: 1 ms}]}", NULL));
 *     CHECK_TEXT(sequence(&t, 0), "a");
 *     finish(&t);
 */
#ifndef OVL_TESTS_LOWERING_H
#define OVL_TESTS_LOWERING_H

#include "models/lower.h"
#include "sim/result.h"
#include "tests/support/check.h"

#include <string.h>

typedef struct bench {
    ovl_arena arena;
    ovl_errs errs;
    ovl_scenario scenario;
    ovl_lowered lowered;
    const ovl_program *p;
    const char *text;
    ovl_result result;
    ovl_result whole; /* of every rank by itself, after analyse_both */
} bench;

static inline const char *read_text(void *context, const char *path, size_t *length,
                                    ovl_arena *arena, const char **why)
{
    (void)path, (void)why;
    *length = strlen(context);
    return ovl_arena_strdup(arena, context);
}

/* Loads and lowers; false if anything was wrong (errors are in t->errs). */
static inline bool lower(bench *t, const char *text, const char *set)
{
    ovl_arena_free(&t->arena);
    memset(t, 0, sizeof *t);
    t->errs.arena = &t->arena;
    char *copy = ovl_arena_strdup(&t->arena, text);
    ovl_files files = {.read = read_text, .context = copy};
    ovl_document doc;
    ovl_set sets[] = {{.text = set}};
    t->p = &t->lowered.program;
    return ovl_document_load("s.yaml", &files, &doc, &t->arena, &t->errs) &&
           ovl_scenario_decode(&doc, NULL, sets, set ? 1 : 0, &t->scenario, &t->arena, &t->errs) &&
           ovl_lower(&t->scenario, &t->arena, &t->lowered, &t->errs);
}

static inline void finish(bench *t)
{
    ovl_arena_free(&t->arena);
}

static inline bool analyse_into(bench *t, bool no_fold, ovl_result *result)
{
    ovl_analyse_options options = {.interference = (ovl_interference)t->scenario.interference,
                                   .worth = OVL_WORTH_NONE,
                                   .scenario = "s",
                                   .variant = "base",
                                   .no_fold = no_fold};
    return ovl_analyse(t->p, &options, &t->arena, result, NULL, &t->errs);
}

/* Runs the program with all analyses; false and errors if it cannot finish. */
static inline bool analyse(bench *t)
{
    return analyse_into(t, false, &t->result);
}

/* Folded into `result`, and every rank by itself into `whole`. */
static inline bool analyse_both(bench *t)
{
    return analyse(t) && analyse_into(t, true, &t->whole);
}

/* What `ovl check` says of a layer of a model by its shape. */
static inline const ovl_model_line *model_line(const bench *t, const char *name)
{
    static const ovl_model_line none;
    for (uint32_t i = 0; i < t->lowered.n_model; i++) {
        if (strcmp(t->lowered.model[i].name, name) == 0) {
            return &t->lowered.model[i];
        }
    }
    CHECK_TEXT("no layer", name);
    return &none;
}

static inline const ovl_code *code_of(const bench *t, uint32_t rank)
{
    return &t->p->codes[t->p->ranks[rank].code];
}

static inline const char *name_at(const bench *t, uint32_t rank, uint32_t local)
{
    return ovl_names_copy(t->p->names, code_of(t, rank)->name[local], t->errs.arena);
}

/* Names of a rank's operations in order, joined by " | ". */
static inline const char *sequence(bench *t, uint32_t rank)
{
    const char *text = "";
    for (uint32_t i = 0; i < code_of(t, rank)->n_ops; i++) {
        text = ovl_arena_printf(&t->arena, "%s%s%s", text, i ? " | " : "", name_at(t, rank, i));
    }
    return text;
}

/* The last operation of a name; OVL_NONE if there is none. */
static inline uint32_t find_op(const bench *t, uint32_t rank, const char *name)
{
    for (uint32_t i = code_of(t, rank)->n_ops; i-- > 0;) {
        if (strcmp(name_at(t, rank, i), name) == 0) {
            return i;
        }
    }
    return OVL_NONE;
}

static inline const ovl_op *op_named(const bench *t, uint32_t rank, const char *name)
{
    static const ovl_op none = {.name = OVL_NONE};
    uint32_t local = find_op(t, rank, name);
    CHECK(local != OVL_NONE);
    return local == OVL_NONE ? &none : ovl_code_op(code_of(t, rank), local);
}

static inline const ovl_cost *cost_named(const bench *t, uint32_t rank, const char *name)
{
    static const ovl_cost none = {.work = -1};
    bool known = find_op(t, rank, name) != OVL_NONE;
    const ovl_op *op = op_named(t, rank, name);
    return known ? ovl_op_cost(t->p, rank, op) : &none;
}

static inline const ovl_cost_kind *kind_named(const bench *t, uint32_t rank, const char *name)
{
    return ovl_kind_of(t->p, cost_named(t, rank, name));
}

/* What an operation waits for by name, joined by ", ". */
static inline const char *waits(bench *t, uint32_t rank, const char *name)
{
    const char *text = "";
    const ovl_code *code = code_of(t, rank);
    uint32_t local = find_op(t, rank, name);
    CHECK(local != OVL_NONE);
    ovl_offsets after = ovl_code_after(code, local);
    for (uint32_t k = 0; local != OVL_NONE && k < after.n; k++) {
        text = ovl_arena_printf(&t->arena, "%s%s%s", text, *text ? ", " : "",
                                name_at(t, rank, local + after.by[k]));
    }
    return text;
}

/* The rate wanted of a port by name ("hbm", "nvlink.out"), 0 if none. */
static inline uint64_t demand_on(const bench *t, uint32_t rank, const ovl_cost *cost, bool peer,
                                 const char *resource)
{
    const ovl_cost_kind *kind = ovl_kind_of(t->p, cost);
    uint32_t first = peer ? kind->first_peer : kind->first_demand;
    uint32_t n = peer ? kind->n_peer : kind->n_demands;
    for (uint32_t i = first; i < first + n; i++) {
        ovl_id id = t->p->rank_ports[t->p->ranks[rank].first_port + t->p->demands[i].port];
        if (strcmp(OVL_NAME(t->p->names, t->p->resources[id].name), resource) == 0) {
            return t->p->demands[i].rate;
        }
    }
    return 0;
}

/* Bytes of a rank's buffers of one category. */
static inline uint64_t bytes_in(const bench *t, uint32_t rank, ovl_category category)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < code_of(t, rank)->n_buffers; i++) {
        const ovl_buffer *buffer = &code_of(t, rank)->buffers[i];
        sum += buffer->category == (uint8_t)category ? ovl_buffer_bytes(t->p, rank, buffer) : 0;
    }
    return sum;
}

/* The bytes of a rank's buffer; 0: there is none of this name. */
static inline uint64_t bytes_of(const bench *t, uint32_t rank, const char *name)
{
    const ovl_code *code = code_of(t, rank);
    for (uint32_t i = 0; i < code->n_buffers; i++) {
        if (strcmp(OVL_NAME(t->p->names, code->buffers[i].name), name) == 0) {
            return ovl_buffer_bytes(t->p, rank, &code->buffers[i]);
        }
    }
    return 0;
}

static inline uint32_t count_effects(const bench *t, uint32_t rank, ovl_effect_kind kind)
{
    const ovl_code *code = code_of(t, rank);
    uint32_t n = 0;
    for (uint32_t k = 0; k < code->effect.at[code->n_ops]; k++) {
        n += code->effect.item[k].kind == (uint8_t)kind;
    }
    return n;
}

/* A mistake, the first is 0, as "line:column: text". */
static inline const char *mistake_at(bench *t, uint32_t k)
{
    for (uint32_t i = 0; i < t->errs.count; i++) {
        const ovl_err *err = &t->errs.items[i];
        if (!err->warning && k-- == 0) {
            return ovl_arena_printf(&t->arena, "%" PRIu32 ":%" PRIu32 ": %s", err->mark.line,
                                    err->mark.column, err->text);
        }
    }
    return "none";
}

static inline const char *mistake(bench *t)
{
    return mistake_at(t, 0);
}

static inline bool said(const bench *t, const char *part)
{
    for (uint32_t i = 0; i < t->lowered.n_not_modelled; i++) {
        if (strstr(t->lowered.not_modelled[i], part)) {
            return true;
        }
    }
    return false;
}

/* Takes the k-th wait of an operation of a code away: makes it one for the first operation, which
 * has ended long before. It gets ties and a list of its own, behind all others, for others may be
 * tied as it was. Gives the code, to be changed back; *kept is what it was. */
static inline ovl_code *take_wait_away(const bench *t, const ovl_code *found, uint32_t op,
                                       uint32_t k, ovl_code *kept, ovl_arena *arena)
{
    const ovl_program *p = t->p;
    ovl_code *code;
    uint32_t n_after = ovl_code_after(found, op).n;
    uint32_t *tied = OVL_NEW_ARRAY(arena, uint32_t, found->n_ops);
    uint32_t *offsets = OVL_NEW_ARRAY(arena, uint32_t, p->n_offsets + 1 + n_after);
    ovl_ties *ties = OVL_NEW_ARRAY(arena, ovl_ties, p->n_ties + 1);
    memcpy(tied, found->tied, found->n_ops * sizeof *tied);
    memcpy(offsets, p->offsets, p->n_offsets * sizeof *offsets);
    memcpy(offsets + p->n_offsets, ovl_code_after(found, op).by - 1,
           (1 + n_after) * sizeof *offsets);
    memcpy(ties, p->ties, p->n_ties * sizeof *ties);
    *kept = *found;
    memcpy(&code, &found, sizeof code);
    code->ties = ties;
    code->offsets = offsets;
    code->tied = tied;
    offsets[p->n_offsets + 1 + k] = 0 - op;
    ties[p->n_ties] = ties[tied[op]];
    ties[p->n_ties].back.after = p->n_offsets;
    tied[op] = p->n_ties;
    return code;
}

#endif
