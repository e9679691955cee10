#include "tools/explain.h"
#include "tools/json.h"

static void degraded(ovl_json *json, const ovl_degraded *d)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_seconds(json, "from_s", d->from);
    ovl_json_seconds(json, "to_s", d->to);
    ovl_json_uint(json, "capacity_Bps", d->capacity);
    ovl_json_double(json, "alone_rate", d->alone);
    ovl_json_close(json);
}

static void bound(ovl_json *json, const ovl_bound_on *b)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "bound", b->name);
    if (b->instance != OVL_NONE) {
        ovl_json_uint(json, "instance", b->instance);
    }
    ovl_json_seconds(json, "time_s", b->time);
    ovl_json_seconds(json, "lost_s", b->lost);
    ovl_json_text_if(json, "beside", b->beside);
    ovl_json_text_if(json, "full_too", b->full_too);
    if (b->n_degraded) {
        ovl_json_seconds(json, "lost_to_faults_s", b->lost_degraded);
        ovl_json_seconds(json, "lost_to_sharing_s", b->lost - b->lost_degraded);
        ovl_json_array(json, "degraded", OVL_JSON_FLOW);
        for (uint32_t i = 0; i < b->n_degraded; i++) {
            degraded(json, &b->degraded[i]);
        }
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

static void phases(ovl_json *json, const ovl_explained *e)
{
    ovl_json_array(json, "phases", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < e->n_phases; i++) {
        ovl_json_object(json, NULL, OVL_JSON_FLOW);
        ovl_json_seconds(json, "from_s", e->phases[i].from);
        ovl_json_seconds(json, "to_s", e->phases[i].to);
        ovl_json_seconds(json, "latency_s", e->phases[i].latency);
        ovl_json_seconds(json, "work_s", e->phases[i].work);
        ovl_json_text(json, "over", e->phases[i].over);
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

static void operation(ovl_json *json, const ovl_explained *e)
{
    ovl_json_object(json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(json, "name", e->name);
    ovl_json_text(json, "kind", e->kind);
    ovl_json_text(json, "stream", e->stream);
    ovl_json_uint(json, "rank", e->rank);
    ovl_json_uint(json, "count", e->count);
    ovl_json_seconds(json, "issue_s", e->issue);
    ovl_json_seconds(json, "arrive_s", e->arrive);
    ovl_json_text_if(json, "arrived", e->arrived);
    ovl_json_seconds(json, "start_s", e->start);
    ovl_json_text_if(json, "started", e->started);
    ovl_json_seconds(json, "end_s", e->end);
    ovl_json_seconds(json, "latency_s", e->latency);
    ovl_json_seconds(json, "work_s", e->work);
    ovl_json_seconds(json, "lost_s", e->lost);
    ovl_json_array(json, "bounds", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < e->n_bounds; i++) {
        bound(json, &e->bounds[i]);
    }
    ovl_json_close(json);
    if (e->n_phases) {
        phases(json, e);
    }
    ovl_json_close(json);
}

static void piece(ovl_json *json, const ovl_occupancy *p, bool sms)
{
    ovl_json_object(json, NULL, OVL_JSON_BLOCK);
    ovl_json_seconds(json, "from_s", p->from);
    ovl_json_seconds(json, "to_s", p->to);
    ovl_json_double(json, sms ? "sms" : "moves_Bps", p->takes);
    ovl_json_array(json, "users", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < p->n_users; i++) {
        ovl_json_object(json, NULL, OVL_JSON_FLOW);
        ovl_json_text(json, "name", p->users[i].name);
        ovl_json_uint(json, "rank", p->users[i].rank);
        if (!p->users[i].holds) {
            ovl_json_double(json, "rate", p->users[i].rate);
        }
        ovl_json_double(json, sms ? "sms" : "moves_Bps", p->users[i].takes);
        ovl_json_close(json);
    }
    ovl_json_close(json);
    ovl_json_uint(json, sms ? "capacity_sms" : "capacity_Bps", p->capacity);
    ovl_json_close(json);
}

static void resource(ovl_json *json, const ovl_explanation *x)
{
    ovl_json_object(json, "resource", OVL_JSON_BLOCK);
    ovl_json_text(json, "name", x->resource);
    ovl_json_uint(json, "instance", x->instance);
    ovl_json_uint(json, x->sms ? "capacity_sms" : "capacity_Bps", x->capacity);
    ovl_json_array(json, "pieces", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < x->n_pieces; i++) {
        piece(json, &x->pieces[i], x->sms);
    }
    ovl_json_close(json);
    ovl_json_close(json);
}

void ovl_explain_json(ovl_out *out, const ovl_explanation *x)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "schema", "overlapsim.explain/1");
    ovl_json_text_if(&json, "scenario", x->scenario);
    ovl_json_text(&json, "variant", x->variant);
    ovl_json_text(&json, "interference", x->interference);
    ovl_json_seconds(&json, "step_s", x->step);
    if (x->resource) {
        resource(&json, x);
    } else {
        ovl_json_array(&json, "operations", OVL_JSON_BLOCK);
        for (uint32_t i = 0; i < x->n_operations; i++) {
            operation(&json, &x->operations[i]);
        }
        ovl_json_close(&json);
    }
    ovl_json_close(&json);
    ovl_json_end(&json);
}
