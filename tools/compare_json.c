#include "tools/report.h"

static void differences(ovl_json *json, const ovl_comparison *c)
{
    ovl_json_object(json, "delta_s", OVL_JSON_FLOW);
    for (int i = 0; i < OVL_TERM_COUNT; i++) {
        ovl_json_seconds(json, ovl_term_name((ovl_term)i), c->delta_term[i]);
    }
    ovl_json_seconds(json, "step", c->delta);
    ovl_json_close(json);
}

/* By reason, of the deciding ranks; sums to the difference of what they idle. */
static void idle_differences(ovl_json *json, const ovl_comparison *c)
{
    if (!c->idle[0]) {
        return;
    }
    ovl_json_object(json, "delta_idle_s", OVL_JSON_FLOW);
    for (int k = 0; k < OVL_IDLE_COUNT; k++) {
        ovl_json_seconds(json, ovl_idle_name((ovl_idle_kind)k),
                         c->idle[1]->idle[k] - c->idle[0]->idle[k]);
    }
    ovl_json_seconds(json, "idle", c->idle[1]->idle_time - c->idle[0]->idle_time);
    ovl_json_close(json);
}

static void tail_side(ovl_json *json, const char *key, const ovl_tail_side *side)
{
    if (side->exposed == OVL_NEVER) {
        return;
    }
    ovl_json_object(json, key, OVL_JSON_FLOW);
    ovl_json_uint(json, "rank", side->rank);
    ovl_json_seconds(json, "exposed_s", side->exposed);
    ovl_json_seconds(json, "took_s", side->took);
    ovl_json_close(json);
}

static void tails(ovl_json *json, const ovl_comparison *c)
{
    ovl_json_array(json, "exposed_changes", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < c->n_tails; i++) {
        ovl_json_object(json, NULL, OVL_JSON_FLOW);
        ovl_json_text(json, "name", c->tails[i].name);
        tail_side(json, "a", &c->tails[i].a);
        tail_side(json, "b", &c->tails[i].b);
        ovl_json_seconds(json, "change_s", c->tails[i].change);
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

void ovl_compare_json_members(ovl_json *json, const ovl_comparison *c)
{
    differences(json, c);
    idle_differences(json, c);
    ovl_json_text(json, "verdict", ovl_verdict_name(c->verdict));
    ovl_json_text(json, "sentence", c->sentence);
    ovl_json_text_if(json, "efficiency", c->efficiency);
    ovl_json_text_if(json, "path_change", c->path_change);
    ovl_json_text_if(json, "gradients", c->gradients);
    ovl_json_text_if(json, "memory", c->memory);
    tails(json, c);
}

void ovl_compare_json(ovl_out *out, const ovl_comparison *c)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "schema", "overlapsim.compare/1");
    ovl_report_json_member(&json, "a", c->a);
    ovl_report_json_member(&json, "b", c->b);
    ovl_compare_json_members(&json, c);
    ovl_json_close(&json);
    ovl_json_end(&json);
}

void ovl_summary_json(ovl_out *out, const ovl_summary *summary)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "schema", "overlapsim.variants/1");
    ovl_json_text_if(&json, "scenario", summary->base->scenario);
    ovl_report_json_member(&json, "a", summary->base);
    ovl_json_array(&json, "comparisons", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < summary->n; i++) {
        ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
        ovl_json_text(&json, "variant", summary->items[i].b->variant);
        ovl_report_json_member(&json, "b", summary->items[i].b);
        ovl_compare_json_members(&json, &summary->items[i]);
        ovl_json_close(&json);
    }
    ovl_json_close(&json);
    if (summary->best != OVL_NONE) {
        ovl_json_text(&json, "best", summary->items[summary->best].b->variant);
    }
    ovl_json_close(&json);
    ovl_json_end(&json);
}
