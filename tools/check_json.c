#include "models/nccl.h"
#include "tools/facts.h"
#include "tools/json.h"

static const char *const scope_names[] = {"gpu", "node", "cluster", "rail"};

static void mistakes(ovl_json *json, const char *key, const ovl_errs *errs, bool warnings)
{
    ovl_json_array(json, key, OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < errs->count; i++) {
        const ovl_err *e = &errs->items[i];
        if (e->warning != warnings) {
            continue;
        }
        ovl_json_object(json, NULL, OVL_JSON_FLOW);
        ovl_json_text_if(json, "file", e->mark.file);
        if (e->mark.file && e->mark.line) {
            ovl_json_uint(json, "line", e->mark.line);
            ovl_json_uint(json, "column", e->mark.column);
        }
        ovl_json_text(json, "text", e->text);
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

static void code(ovl_json *json, const ovl_program *p, const ovl_code_facts *f)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "ranks", f->ranks);
    ovl_json_uint(json, "count", f->n_ranks);
    ovl_json_uint(json, "operations", f->code->n_ops);
    ovl_json_object(json, "kinds", OVL_JSON_FLOW);
    for (int k = 0; k < OVL_KINDS; k++) {
        if (f->kinds[k]) {
            ovl_json_uint(json, ovl_op_kind_name((ovl_op_kind)k), f->kinds[k]);
        }
    }
    ovl_json_close(json);
    ovl_json_array(json, "streams", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < f->code->n_streams; i++) {
        ovl_json_text(json, NULL, OVL_NAME(p->names, f->code->streams[i]));
    }
    ovl_json_close(json);
    ovl_json_object(json, "buffer_bytes", OVL_JSON_FLOW);
    for (int c = 0; c < OVL_CATEGORY_COUNT; c++) {
        if (f->buffers[c]) {
            ovl_json_uint(json, ovl_category_name((ovl_category)c), f->bytes[c]);
        }
    }
    ovl_json_close(json);
    if (f->least_of_all < f->all) {
        ovl_json_object(json, "least_buffer_bytes", OVL_JSON_FLOW);
        for (int c = 0; c < OVL_CATEGORY_COUNT; c++) {
            if (f->buffers[c]) {
                ovl_json_uint(json, ovl_category_name((ovl_category)c), f->least[c]);
            }
        }
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

static void group(ovl_json *json, const ovl_group_facts *g)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "name", g->name);
    ovl_json_uint(json, "communicators", g->n_comms);
    ovl_json_uint(json, "fewest_members", g->fewest);
    ovl_json_uint(json, "most_members", g->most);
    ovl_json_text(json, "first_ranks", g->first);
    ovl_json_close(json);
}

static void bucket(ovl_json *json, const ovl_bucket_line *b)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "name", b->name);
    ovl_json_uint(json, "bytes", b->bytes);
    ovl_json_text(json, "dtype", b->dtype);
    ovl_json_array(json, "members", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < b->n_members; i++) {
        ovl_json_text(json, NULL, b->members[i]);
    }
    ovl_json_close(json);
    ovl_json_close(json);
}

static void nccl(ovl_json *json, const ovl_nccl_line *n)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "op", ovl_coll_name(n->op));
    ovl_json_text_if(json, "group", n->group);
    ovl_json_uint(json, "bytes", n->bytes);
    ovl_json_uint(json, "members", n->members);
    ovl_json_uint(json, "nodes", n->nodes);
    ovl_json_text(json, "algorithm", ovl_nccl_algo_names[n->time.algo]);
    ovl_json_text(json, "protocol", ovl_nccl_proto_names[n->time.proto]);
    ovl_json_uint(json, "channels", n->time.channels);
    ovl_json_seconds(json, "latency_s", n->time.latency);
    ovl_json_seconds(json, "transfer_s", n->time.transfer);
    ovl_json_close(json);
}

static void link(ovl_json *json, const ovl_hw *hw, const ovl_hw_link *l)
{
    int64_t per_node = ovl_links_per_node(hw, l, 0);
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "name", l->name);
    ovl_json_uint(json, "bandwidth_Bps", l->bandwidth);
    ovl_json_seconds_if(json, "latency_s", l->latency ? l->latency : OVL_NEVER);
    if (l->gpus) {
        ovl_json_int(json, "gpus", l->gpus);
    } else {
        ovl_json_text(json, "scope", scope_names[l->scope]);
    }
    ovl_json_text_if(json, "out_of", l->out_of_text);
    if (l->topology == OVL_TOPOLOGY_MESH) {
        ovl_json_int(json, "mesh_gpus", l->mesh);
        ovl_json_uint(json, "wire_Bps", l->bandwidth / (uint64_t)(l->mesh - 1));
        ovl_json_text(json, "rings", l->rings == OVL_RINGS_ONE ? "one" : "all");
    }
    if (per_node) {
        ovl_json_int(json, "per_node", per_node);
    }
    if (l->pod) {
        ovl_json_int(json, "pod", l->pod);
    }
    if (l->rail_gpus) {
        ovl_json_int(json, "rail_gpus", l->rail_gpus);
    }
    ovl_json_close(json);
}

static void texts(ovl_json *json, const char *key, const char *const *items, uint32_t n)
{
    ovl_json_array(json, key, OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < n; i++) {
        ovl_json_text(json, NULL, items[i]);
    }
    ovl_json_close(json);
}

static void contents(ovl_json *json, const ovl_check *check)
{
    const ovl_facts *facts = check->facts;
    const ovl_scenario *s = &check->prepared->scenario;
    const ovl_lowered *lowered = &check->prepared->lowered;
    ovl_json_text_if(json, "scenario", s->name);
    ovl_json_text(json, "variant", s->variant);
    ovl_json_text(json, "interference", ovl_interference_name((ovl_interference)s->interference));
    if (check->all_ran) {
        ovl_json_bool(json, "finishes", true);
    }
    ovl_json_uint(json, "ranks", facts->program->n_ranks);
    ovl_json_uint(json, "operations", facts->n_ops);
    ovl_json_array(json, "codes", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < facts->n_codes; i++) {
        code(json, facts->program, &facts->codes[i]);
    }
    ovl_json_close(json);
    ovl_json_array(json, "groups", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < facts->n_groups; i++) {
        group(json, &facts->groups[i]);
    }
    ovl_json_close(json);
    ovl_check_model_json(json, lowered);
    ovl_json_array(json, "buckets", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < lowered->n_buckets; i++) {
        bucket(json, &lowered->buckets[i]);
    }
    ovl_json_close(json);
    ovl_json_array(json, "links", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < s->hw.n_links; i++) {
        link(json, &s->hw, &s->hw.links[i]);
    }
    ovl_json_close(json);
    if (lowered->n_nccl) {
        ovl_json_array(json, "nccl", OVL_JSON_BLOCK);
        for (uint32_t i = 0; i < lowered->n_nccl; i++) {
            nccl(json, &lowered->nccl[i]);
        }
        ovl_json_close(json);
    }
    texts(json, "not_modelled", lowered->not_modelled, lowered->n_not_modelled);
    ovl_check_measured_json(json, &s->hw);
    ovl_check_pipeline_json(json, check);
    ovl_check_nodes_json(json, &s->hw);
}

void ovl_check_json(ovl_out *out, const ovl_check *check)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "schema", "overlapsim.check/1");
    ovl_json_text(&json, "file", check->file);
    ovl_json_bool(&json, "valid", check->errs->errors == 0);
    mistakes(&json, "errors", check->errs, false);
    mistakes(&json, "warnings", check->errs, true);
    if (check->doc) {
        texts(&json, "variants", check->doc->variants, check->doc->n_variants);
    }
    if (check->prepared) {
        contents(&json, check);
    }
    ovl_json_close(&json);
    ovl_json_end(&json);
}
