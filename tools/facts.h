/*
 * facts.h - what a program consists of, counted: what `ovl check` prints.
 *
 *     ranks 0-7: 1 code of 9 operations (6 kernels, 3 collectives) on the streams compute, comm
 */
#ifndef OVL_TOOLS_FACTS_H
#define OVL_TOOLS_FACTS_H

#include "tools/json.h"
#include "tools/work.h"

#define OVL_KINDS (OVL_MARKER + 1)

/* Ranks that run the same code. */
typedef struct ovl_code_facts {
    const ovl_code *code;
    const char *ranks; /* "0-3,6" */
    uint32_t n_ranks;
    uint32_t kinds[OVL_KINDS]; /* operations of each kind */
    uint32_t buffers[OVL_CATEGORY_COUNT];
    uint64_t bytes[OVL_CATEGORY_COUNT]; /* on the rank that has most of the category ... */
    uint64_t least[OVL_CATEGORY_COUNT]; /* ... and on that which has least */
    uint64_t all, least_of_all;         /* over the categories, of ranks likewise */
} ovl_code_facts;

/* Communicators of one name. */
typedef struct ovl_group_facts {
    const char *name;
    uint32_t n_comms;
    uint32_t fewest, most; /* members */
    const char *first;     /* the ranks of the first of them */
} ovl_group_facts;

typedef struct ovl_facts {
    const ovl_program *program;
    ovl_code_facts *codes; /* those that some rank runs, in order of their first rank */
    uint32_t n_codes;
    ovl_group_facts *groups; /* in order of their first communicator */
    uint32_t n_groups;
    uint64_t n_ops; /* over all ranks */
} ovl_facts;

ovl_facts ovl_facts_of(const ovl_program *program, ovl_arena *arena);

/* The ranks of all codes that are `alike` to code `first`, as "0-3,6"; *one: it is a single rank.
 */
const char *ovl_facts_ranks_like(const ovl_facts *facts, uint32_t first,
                                 bool (*alike)(const ovl_code_facts *, const ovl_code_facts *),
                                 bool *one, ovl_arena *arena);

/* A file and what was found in it. */
typedef struct ovl_check {
    const char *file;
    const ovl_document *doc;      /* NULL if it could not be read */
    const ovl_prepared *prepared; /* NULL if there are errors */
    const ovl_facts *facts;       /* with prepared */
    const ovl_errs *errs;
    bool all_variants; /* every variant was checked */
    bool all_ran;      /* each schedule was run once, without interference; else some have too many
                          operations for that */
} ovl_check;

void ovl_check_text(ovl_out *out, const ovl_check *check);
/* Schema overlapsim.check/1. */
void ovl_check_json(ovl_out *out, const ovl_check *check);

/* What was derived of workload.model; nothing without one. */
void ovl_check_model_text(ovl_out *out, const ovl_lowered *lowered);
void ovl_check_model_json(ovl_json *json, const ovl_lowered *lowered);

/* Schedule, unit steps and hops of a pipeline; nothing of another program. */
void ovl_check_pipeline_text(ovl_out *out, const ovl_check *check, ovl_arena *arena);
void ovl_check_pipeline_json(ovl_json *json, const ovl_check *check);

/* Where measured costs and factors of the hardware come from; nothing if it has none. */
void ovl_check_measured_text(ovl_out *out, const ovl_hw *hw);
void ovl_check_measured_json(ovl_json *json, const ovl_hw *hw);

/* Nodes that have another GPU or other links, as text and as JSON. */
void ovl_check_nodes(ovl_out *out, const ovl_hw *hw, ovl_arena *arena);
void ovl_check_nodes_json(ovl_json *json, const ovl_hw *hw);

/* How many instances of a link a node of a sort has (0: those that are no others); 0 if that is not
 * said (no node, or one for all). */
int64_t ovl_links_per_node(const ovl_hw *hw, const ovl_hw_link *link, uint32_t machine);

#endif
