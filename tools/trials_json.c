#include "tools/trials_parts.h"

static void statistics(ovl_json *json, const char *key, const ovl_statistics *s)
{
    ovl_json_object(json, key, OVL_JSON_FLOW);
    ovl_json_seconds(json, "p5_s", s->p5);
    ovl_json_seconds(json, "p50_s", s->p50);
    ovl_json_seconds(json, "p75_s", s->p75);
    ovl_json_seconds(json, "p95_s", s->p95);
    ovl_json_seconds(json, "min_s", s->min);
    ovl_json_seconds(json, "max_s", s->max);
    ovl_json_seconds(json, "mean_s", s->mean);
    ovl_json_seconds(json, "mean_low_s", s->low);
    ovl_json_seconds(json, "mean_high_s", s->high);
    ovl_json_close(json);
}

static void of_times(ovl_json *json, const char *key, const ovl_time *times, uint32_t n)
{
    ovl_statistics s = ovl_statistics_of(times, n);
    statistics(json, key, &s);
}

static void late(ovl_json *json, const ovl_late *row)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text_if(json, "name", row->name);
    ovl_json_uint(json, "rank", row->rank);
    ovl_json_uint(json, "times", row->times);
    if (row->name) {
        ovl_json_uint(json, "all_times", row->all);
        ovl_json_uint(json, "late_ranks", row->ranks);
    }
    ovl_json_uint(json, "of", row->of);
    ovl_json_seconds(json, "mean_wait_s", row->wait);
    ovl_json_close(json);
}

static void lates(ovl_json *json, const char *key, const ovl_late *rows, uint32_t n)
{
    ovl_json_array(json, key, OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < n; i++) {
        late(json, &rows[i]);
    }
    ovl_json_close(json);
}

void ovl_trials_members(ovl_json *json, const ovl_trials *t)
{
    ovl_json_text(json, "schema", "overlapsim.trials/1");
    ovl_json_text_if(json, "scenario", t->scenario);
    ovl_json_text(json, "variant", t->variant);
    ovl_json_text(json, "interference", t->interference);
    ovl_json_uint(json, "trials", t->n);
    ovl_json_uint(json, "seed", t->seed);
    ovl_json_object(json, "stated", OVL_JSON_FLOW);
    ovl_json_seconds(json, "time_s", t->nominal);
    ovl_json_seconds(json, "comm_uncovered_s", t->nominal_uncovered);
    ovl_json_close(json);
    of_times(json, "time", t->step, t->n);
    of_times(json, "comm_uncovered", t->uncovered, t->n);
    if (t->own_mean) { /* of stored trials these are not kept */
        of_times(json, "own_mean", t->own_mean, t->n);
        of_times(json, "own_most", t->own_most, t->n);
        lates(json, "late_ranks", t->ranks, t->n_ranks);
        lates(json, "late_collectives", t->names, t->n_names);
    }
}

void ovl_trials_json(ovl_out *out, const ovl_trials *t)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_trials_members(&json, t);
    ovl_json_close(&json);
    ovl_json_end(&json);
}

static void side(ovl_json *json, const char *key, const ovl_trials *t)
{
    ovl_json_object(json, key, OVL_JSON_BLOCK);
    ovl_trials_members(json, t);
    ovl_json_close(json);
}

/* Of two samples there is a mean, and no differences of trials. */
static void mean_alone(ovl_json *json, const char *key, const ovl_statistics *s)
{
    ovl_json_object(json, key, OVL_JSON_FLOW);
    ovl_json_seconds(json, "mean_s", s->mean);
    ovl_json_seconds(json, "mean_low_s", s->low);
    ovl_json_seconds(json, "mean_high_s", s->high);
    ovl_json_close(json);
}

void ovl_paired_members(ovl_json *json, const ovl_paired *pair)
{
    ovl_json_bool(json, "paired", !pair->apart);
    if (pair->apart) {
        mean_alone(json, "difference", &pair->change);
    } else {
        statistics(json, "difference", &pair->change);
        ovl_json_uint(json, "b_shorter", pair->better);
        ovl_json_uint(json, "equal", pair->equal);
        ovl_json_uint(json, "b_longer", pair->worse);
    }
    ovl_json_double(json, "b_shorter_share", pair->share);
    ovl_json_text(json, "sentence", pair->sentence);
    ovl_json_text(json, "without_variation", pair->nominal);
}

void ovl_paired_json(ovl_out *out, const ovl_paired *pair)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "schema", "overlapsim.compare_trials/1");
    side(&json, "a", pair->a);
    side(&json, "b", pair->b);
    ovl_paired_members(&json, pair);
    ovl_json_close(&json);
    ovl_json_end(&json);
}
