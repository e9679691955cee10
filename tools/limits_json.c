#include "tools/json.h"
#include "tools/limits.h"

static void gain(ovl_json *json, const ovl_limits *x, const char *step_key, const char *gain_key,
                 ovl_time step)
{
    ovl_json_seconds_if(json, step_key, step);
    if (step != OVL_NEVER) {
        ovl_json_seconds(json, gain_key, x->result->step - step);
    }
}

static void speedup(ovl_json *json, const ovl_limits *x, const ovl_speedup *s)
{
    ovl_json_object(json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(json, "kind", s->kind);
    ovl_json_text(json, "what", s->what);
    gain(json, x, "faster_step_s", "faster_gain_s", s->faster);
    gain(json, x, "free_step_s", "free_gain_s", s->free);
    if (s->n_users) {
        ovl_json_uint(json, "costs", s->n_users);
        ovl_json_uint(json, "costs_following", s->n_following);
    }
    ovl_json_text_if(json, "note", s->note);
    ovl_json_close(json);
}

static void ceilings(ovl_json *json, const ovl_limits *x)
{
    ovl_json_array(json, "ceilings", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < x->n_ceilings; i++) {
        const ovl_ceiling *c = &x->ceilings[i];
        ovl_json_object(json, NULL, OVL_JSON_BLOCK);
        ovl_json_text(json, "change", c->key);
        ovl_json_text(json, "what", c->what);
        gain(json, x, "step_s", "gain_s", c->step);
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

static void slack(ovl_json *json, const ovl_limits *x)
{
    ovl_json_array(json, "slack", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < x->n_slack; i++) {
        const ovl_slack_line *l = &x->slack[i];
        ovl_json_object(json, NULL, OVL_JSON_FLOW);
        ovl_json_text(json, "name", l->name);
        ovl_json_text(json, "op", l->op);
        ovl_json_text_if(json, "group", l->group);
        ovl_json_uint(json, "times", l->n);
        ovl_json_seconds(json, "slack_s", l->slack);
        ovl_json_seconds(json, "exposed_s", l->exposed);
        ovl_json_bool(json, "on_critical_path", l->on_path);
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

static void lost(ovl_json *json, const ovl_limits *x)
{
    ovl_json_array(json, "lost", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < x->n_lost; i++) {
        ovl_json_object(json, NULL, OVL_JSON_BLOCK);
        ovl_json_text(json, "term", ovl_term_name(x->lost[i].term));
        ovl_json_seconds(json, "time_s", x->lost[i].time);
        ovl_json_text(json, "because", x->lost[i].sentence);
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

void ovl_limits_json(ovl_out *out, const ovl_limits *x)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "schema", "overlapsim.limits/1");
    ovl_json_text_if(&json, "scenario", x->result->scenario);
    ovl_json_text(&json, "variant", x->result->variant);
    ovl_json_text(&json, "interference", x->result->interference);
    ovl_json_seconds(&json, "step_s", x->result->step);
    ovl_json_seconds(&json, "compute_s", x->result->term[OVL_COMPUTE]);
    lost(&json, x);
    ovl_json_array(&json, "speedups", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < x->n_speedups; i++) {
        speedup(&json, x, &x->speedups[i]);
    }
    ovl_json_close(&json);
    ceilings(&json, x);
    slack(&json, x);
    ovl_json_uint(&json, "simulations", x->simulations);
    ovl_json_uint(&json, "partly_simulated", x->partly);
    ovl_json_close(&json);
    ovl_json_end(&json);
}
