/*
 * report.h - a result as text for a terminal of 100 columns, and as JSON.
 *
 * Both walk a result (sim/result.h) and nothing else. Every number of the text has a unit, in its
 * place or in the heading; every sum is shown and adds up. What does not apply is left out, never
 * shown as zero.
 */
#ifndef OVL_TOOLS_REPORT_H
#define OVL_TOOLS_REPORT_H

#include "sim/compare.h"
#include "tools/json.h"

/* `ovl run` as text. */
void ovl_report_text(ovl_out *out, const ovl_result *result);

/* `ovl run --json`: schema overlapsim.run/1. */
void ovl_report_json(ovl_out *out, const ovl_result *result);

/* The same object as a member of another; `key` is NULL inside an array. */
void ovl_report_json_member(ovl_json *json, const char *key, const ovl_result *result);

/* `ovl compare FILE A B` as text, and as JSON: schema overlapsim.compare/1. */
void ovl_compare_text(ovl_out *out, const ovl_comparison *comparison);
void ovl_compare_json(ovl_out *out, const ovl_comparison *comparison);

/* What a comparison says beyond its two runs, as members of an open object. */
void ovl_compare_json_members(ovl_json *json, const ovl_comparison *comparison);

/* A base against each of its variants. */
typedef struct ovl_summary {
    const ovl_result *base;
    const ovl_comparison *items; /* base against variant, in file order */
    uint32_t n;
    /* Index of the shortest step of those with the base's interference model and without hazards;
     * OVL_NONE if none beats the base. What another model predicts is no gain of a schedule. */
    uint32_t best;
    uint32_t
        closest; /* if none is best: the one of these that comes closest; OVL_NONE without any */
} ovl_summary;

/* Sets summary->best and summary->closest. */
void ovl_summary_choose(ovl_summary *summary);

/* `ovl compare FILE` as text, and as JSON: schema overlapsim.variants/1. */
void ovl_summary_text(ovl_out *out, const ovl_summary *summary);
void ovl_summary_json(ovl_out *out, const ovl_summary *summary);

/* Parts of the text shared between reports; the name of a scenario is a heading that may be long.
 */
void ovl_report_name(ovl_out *out, const char *name);
void ovl_report_description(ovl_out *out, const char *description); /* NULL: nothing */
void ovl_report_model(ovl_out *out, const ovl_result *result);      /* if the model is known */
void ovl_report_model_json(ovl_json *json, const ovl_result *result);
void ovl_report_hazards(ovl_out *out, const ovl_result *result);
void ovl_report_chart(ovl_out *out, const ovl_result *result);
void ovl_report_what_if(ovl_out *out, const ovl_result *result);
void ovl_report_idle(ovl_out *out, const ovl_result *result);
void ovl_report_memory(ovl_out *out, const ovl_result *result);
void ovl_report_memory_lines(ovl_out *out, const ovl_result *result); /* if they were asked for */
void ovl_report_host(ovl_out *out, const ovl_result *result);
void ovl_report_collectives(ovl_out *out, const ovl_result *result);

/* What names that differ in numbers are worth together; nothing if each was freed by itself. */
void ovl_report_together(ovl_out *out, const ovl_result *result);
void ovl_report_path(ovl_out *out, const ovl_result *result);
void ovl_report_limits(ovl_out *out, const ovl_result *result);
void ovl_report_collisions(ovl_out *out, const ovl_result *result);
void ovl_report_replay(ovl_out *out, const ovl_against *replay); /* NULL: nothing */
void ovl_replay_json(ovl_json *json, const ovl_against *replay); /* its object, or nothing */
void ovl_report_stats(ovl_out *out, const ovl_result *result);   /* if they were asked for */
void ovl_report_stats_json(ovl_json *json, const ovl_result *result);
void ovl_report_not_modelled(ovl_out *out, const char *const *items, uint32_t n);

/* FLOP/s, and tokens per second, of a GPU that go into the model; 0 if it is not known. */
double ovl_useful_rate(const ovl_result *result);
double ovl_useful_tokens(const ovl_result *result);

/* "5.45 TFLOP"; in `arena`. */
const char *ovl_report_flops(ovl_arena *arena, double flops);

/* The group of ranks the deciding rank is in. */
const ovl_result_rank *ovl_deciding(const ovl_result *result);

#endif
