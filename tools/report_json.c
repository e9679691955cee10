/* Results as JSON. The keys and their order are a promise to readers: new keys are added at the end
 * of their object, and the schema's number changes when one changes its meaning. */
#include "tools/report.h"

static void terms(ovl_json *json, const char *key, const ovl_time term[OVL_TERM_COUNT])
{
    ovl_json_object(json, key, OVL_JSON_FLOW);
    for (int i = 0; i < OVL_TERM_COUNT; i++) {
        ovl_json_seconds(json, ovl_term_name((ovl_term)i), term[i]);
    }
    ovl_json_close(json);
}

static void steps(ovl_json *json, const ovl_result *result)
{
    ovl_json_uint(json, "steps", result->n_steps);
    ovl_json_seconds(json, "first_step_s", result->step_times[0]);
    ovl_json_seconds(json, "step_before_s", result->step_times[result->n_steps - 2]);
    if (result->n_steps > 2) {
        ovl_json_bool(json, "converged", ovl_result_converged(result));
    }
}

static void step(ovl_json *json, const ovl_result *result)
{
    ovl_json_object(json, "step", OVL_JSON_BLOCK);
    ovl_json_seconds(json, "time_s", result->step);
    ovl_json_uint(json, "deciding_rank", result->deciding_rank);
    terms(json, "decomposition_s", result->term);
    ovl_json_seconds(json, "hidden_comm_s", result->hidden_comm);
    ovl_json_seconds(json, "comm_total_s", result->comm_total);
    ovl_json_seconds(json, "comm_uncovered_s", result->comm_uncovered);
    ovl_json_seconds(json, "hidden_comm_stretch_s", result->hidden_comm_stretch);
    ovl_json_seconds_if(json, "without_interference_s", result->without_interference);
    ovl_json_uint(json, "startups", result->startups);
    ovl_json_double_if(json, "mean_busbw_Bps", result->mean_busbw);
    if (result->n_steps > 1) {
        steps(json, result);
    }
    if (result->degraded) {
        ovl_json_bool(json, "degraded", true);
    }
    ovl_json_close(json);
}

static void equation(ovl_json *json, const ovl_result_equation *e)
{
    if (!e->present) {
        return;
    }
    ovl_json_object(json, "equation", OVL_JSON_FLOW);
    ovl_json_text(json, "collective", e->collective);
    ovl_json_text_if(json, "consumer", e->consumer);
    ovl_json_seconds(json, "u_path_s", e->u_path);
    ovl_json_seconds(json, "exposed_s", e->exposed);
    ovl_json_seconds(json, "after_s", e->after);
    ovl_json_seconds_if(json, "u_variant_s", e->u_variant);
    ovl_json_seconds_if(json, "interference_s", e->interference);
    ovl_json_close(json);
}

/* Traces do not always tell bytes. */
static void collective(ovl_json *json, const ovl_result_collective *c, bool replay)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "name", c->name);
    ovl_json_text(json, "group", c->group);
    ovl_json_text(json, "op", c->op);
    if (c->bytes || !replay) {
        ovl_json_uint(json, "bytes", c->bytes);
    }
    ovl_json_uint(json, "rank", c->rank);
    ovl_json_uint(json, "count", c->count);
    ovl_json_seconds(json, "ready_s", c->ready);
    ovl_json_seconds(json, "queue_s", c->queue);
    ovl_json_seconds(json, "wait_s", c->wait);
    ovl_json_seconds(json, "start_s", c->start);
    ovl_json_seconds(json, "end_s", c->end);
    ovl_json_text_if(json, "consumer", c->consumer);
    ovl_json_seconds_if(json, "first_use_s", c->consumer ? c->first_use : OVL_NEVER);
    ovl_json_seconds_if(json, "window_s", c->window);
    ovl_json_seconds_if(json, "u_path_s", c->u_path);
    ovl_json_seconds_if(json, "u_variant_s", c->u_variant);
    ovl_json_seconds(json, "exposed_s", c->exposed);
    ovl_json_seconds_if(json, "interference_s", c->interference);
    ovl_json_seconds(json, "isolated_s", c->isolated);
    ovl_json_double_if(json, "algbw_Bps", c->algbw);
    ovl_json_double_if(json, "busbw_Bps", c->busbw);
    ovl_json_seconds_if(json, "slack_s", c->slack);
    ovl_json_seconds_if(json, "worth_s", c->worth);
    ovl_json_bool(json, "on_critical_path", c->on_critical_path);
    ovl_json_close(json);
}

static void together(ovl_json *json, const ovl_result_together *t)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "name", t->name);
    ovl_json_uint(json, "names", t->names);
    ovl_json_seconds_if(json, "exposed_s", t->exposed);
    ovl_json_seconds(json, "worth_s", t->worth);
    ovl_json_close(json);
}

static void holders(ovl_json *json, const char *key, const ovl_peak *p)
{
    ovl_json_array(json, key, OVL_JSON_FLOW);
    for (uint32_t i = 0; i < p->n_holders; i++) {
        ovl_json_object(json, NULL, OVL_JSON_FLOW);
        ovl_json_text(json, "name", p->holders[i].name);
        ovl_json_text_if(json, "category", p->holders[i].category);
        ovl_json_uint(json, "bytes", p->holders[i].bytes);
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

static void categories(ovl_json *json, const char *key, const uint64_t *bytes)
{
    ovl_json_object(json, key, OVL_JSON_FLOW);
    for (int i = 0; i < OVL_CATEGORY_COUNT; i++) {
        if (bytes[i]) {
            ovl_json_uint(json, ovl_category_name((ovl_category)i), bytes[i]);
        }
    }
    ovl_json_close(json);
}

static void peak(ovl_json *json, const char *key, const ovl_peak *p)
{
    ovl_json_object(json, key, OVL_JSON_FLOW);
    ovl_json_uint(json, "bytes", p->bytes);
    ovl_json_seconds(json, "at_s", p->at);
    ovl_json_text_if(json, "raised_by", p->raised_by);
    ovl_json_text_if(json, "raised_buffer", p->raised_buffer);
    if (p->eased_by) {
        ovl_json_text(json, "eased_by", p->eased_by);
        ovl_json_text(json, "eased_buffer", p->eased_buffer);
        ovl_json_seconds(json, "eased_at_s", p->eased_at);
    }
    categories(json, "category_bytes", p->category);
    holders(json, "holders", p);
    ovl_json_close(json);
}

static void reserved(ovl_json *json, const ovl_peak *p)
{
    ovl_json_uint(json, "reserved_rounding_bytes", p->rounding);
    ovl_json_uint(json, "reserved_unused_bytes", p->unused);
    ovl_json_uint(json, "reserved_waiting_bytes", p->waiting);
}

static void failure(ovl_json *json, const ovl_memory_failure *f)
{
    if (!f->buffer) {
        return;
    }
    ovl_json_object(json, "failure", OVL_JSON_FLOW);
    ovl_json_text(json, "buffer", f->buffer);
    ovl_json_uint(json, "bytes", f->bytes);
    ovl_json_text(json, "before", f->op);
    ovl_json_seconds(json, "at_s", f->at);
    ovl_json_uint(json, "reserved_bytes", f->reserved);
    ovl_json_close(json);
}

static void memory_limit(ovl_json *json, const ovl_result *result)
{
    if (!result->has_memory || !result->memory_limit) {
        return;
    }
    uint64_t over = ovl_result_over_memory(result);
    ovl_json_object(json, "memory", OVL_JSON_FLOW);
    ovl_json_bool(json, "fits", over == 0);
    ovl_json_uint(json, "rank", result->fullest_rank);
    ovl_json_uint(json, "reserved_peak_bytes", result->reserved_peak);
    ovl_json_uint(json, "limit_bytes", result->memory_limit);
    if (over) {
        ovl_json_uint(json, "over_bytes", over);
    }
    ovl_json_uint(json, "allocation_retries", result->allocation_retries);
    failure(json, &result->failure);
    if (over) {
        uint32_t of;
        ovl_json_uint(json, "ranks_over", ovl_result_ranks_over(result, &of));
    }
    ovl_json_close(json);
}

static void memory(ovl_json *json, const ovl_result_rank *r)
{
    ovl_json_uint(json, "allocated_peak_bytes", r->allocated_peak);
    ovl_json_uint(json, "reserved_peak_bytes", r->reserved_peak);
    ovl_json_uint(json, "live_peak_bytes", r->live_peak);
    ovl_json_seconds(json, "live_peak_at_s", r->live.at);
    holders(json, "peak_holders", &r->live);
    ovl_json_text_if(json, "allocated_peak_before", r->allocated.raised_by);
    ovl_json_uint(json, "active_peak_bytes", r->active_peak);
    peak(json, "live_peak", &r->live);
    peak(json, "allocated_peak", &r->allocated);
    peak(json, "reserved_peak", &r->reserved);
    reserved(json, &r->reserved);
    ovl_json_uint(json, "allocation_retries", r->retries);
    failure(json, &r->failure);
}

static void live_sample(ovl_json *json, const ovl_live_sample *s)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_seconds(json, "at_s", s->at);
    categories(json, "bytes", s->live);
    ovl_json_close(json);
}

static void host_sample(ovl_json *json, const ovl_memory_sample *s)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_seconds(json, "at_s", s->at);
    ovl_json_text(json, "before", s->before);
    categories(json, "allocated", s->allocated);
    ovl_json_uint(json, "reserved_bytes",
                  s->reserved[OVL_RESERVED_ALLOCATED] + s->reserved[OVL_RESERVED_WAITING] +
                      s->reserved[OVL_RESERVED_FREE]);
    ovl_json_uint(json, "waiting_bytes", s->reserved[OVL_RESERVED_WAITING]);
    ovl_json_uint(json, "free_bytes", s->reserved[OVL_RESERVED_FREE]);
    ovl_json_close(json);
}

static void memory_lines(ovl_json *json, const ovl_result_rank *r)
{
    if (!r->live_line) {
        return;
    }
    ovl_json_array(json, "live_over_time", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < r->n_live_line; i++) {
        live_sample(json, &r->live_line[i]);
    }
    ovl_json_close(json);
    ovl_json_array(json, "allocated_over_time", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < r->n_host_line; i++) {
        host_sample(json, &r->host_line[i]);
    }
    ovl_json_close(json);
}

static void host_load(ovl_json *json, const ovl_host_load *h)
{
    ovl_json_object(json, "host", OVL_JSON_FLOW);
    ovl_json_seconds(json, "issuing_s", h->issuing);
    ovl_json_seconds(json, "blocked_s", h->blocked);
    ovl_json_seconds(json, "free_s", h->free);
    ovl_json_seconds(json, "gpu_waits_s", h->gpu_waits);
    ovl_json_seconds_if(json, "ahead_min_s", h->ahead_min);
    ovl_json_seconds_if(json, "ahead_mean_s", h->ahead_mean);
    ovl_json_close(json);
}

static void host(ovl_json *json, const ovl_result_host *h)
{
    if (!h->present || h->free_step == OVL_NEVER) {
        return;
    }
    ovl_json_object(json, "host", OVL_JSON_FLOW);
    ovl_json_bool(json, "bound", h->bound);
    ovl_json_seconds(json, "free_step_s", h->free_step);
    ovl_json_seconds(json, "first_launch_s", h->first_launch);
    ovl_json_bool(json, "hidden", h->hidden);
    ovl_json_bool(json, "searched", h->searched);
    if (h->kernels) {
        ovl_json_double_if(json, "crossover_kernels", h->kernels / 1000.0);
        ovl_json_seconds_if(json, "crossover_step_s", h->kernels_step);
    }
    if (h->has_cost) {
        ovl_json_double_if(json, "crossover_host", h->cost / 1000.0);
    }
    ovl_json_close(json);
}

static void idle_pieces(ovl_json *json, const char *key, const ovl_time piece[OVL_IDLE_COUNT])
{
    ovl_json_object(json, key, OVL_JSON_FLOW);
    for (int k = 0; k < OVL_IDLE_COUNT; k++) {
        if (k != OVL_IDLE_PAUSE || piece[k]) { /* few programs pause */
            ovl_json_seconds_if(json, ovl_idle_name((ovl_idle_kind)k), piece[k]);
        }
    }
    ovl_json_close(json);
}

static void peeled(ovl_json *json, const char *key, const ovl_time piece[OVL_PEEL_COUNT])
{
    ovl_json_object(json, key, OVL_JSON_FLOW);
    for (int k = 0; k < OVL_PEEL_COUNT; k++) {
        if (k != OVL_PEEL_PAUSE || piece[k]) {
            ovl_json_seconds(json, ovl_peel_name((ovl_peel)k), piece[k]);
        }
    }
    ovl_json_close(json);
}

static void blames(ovl_json *json, const char *key, const ovl_result_blame *list, uint32_t n)
{
    ovl_json_array(json, key, OVL_JSON_FLOW);
    for (uint32_t i = 0; i < n; i++) {
        ovl_json_object(json, NULL, OVL_JSON_FLOW);
        ovl_json_text(json, "kind", ovl_idle_name(list[i].kind));
        ovl_json_seconds(json, "time_s", list[i].time);
        ovl_json_text(json, "text", list[i].text);
        ovl_json_close(json);
    }
    ovl_json_close(json);
}

static void gap(ovl_json *json, const ovl_result_gap *g)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_seconds(json, "start_s", g->start);
    ovl_json_seconds(json, "end_s", g->end);
    ovl_json_text_if(json, "before", g->before);
    idle_pieces(json, "idle", g->piece);
    ovl_json_text_if(json, "because", g->because);
    ovl_json_close(json);
}

static void idle_of_rank(ovl_json *json, const ovl_result_rank *r)
{
    idle_pieces(json, "idle", r->idle);
    peeled(json, "idle_peeled", r->peeled);
    blames(json, "idle_because", r->blames, r->n_blames);
    if (r->span_start != OVL_NEVER) {
        ovl_json_seconds(json, "span_s", r->span_end - r->span_start);
        ovl_json_double_if(json, "bubble_rate", r->bubble_rate);
    }
    if (r->gaps) {
        ovl_json_array(json, "gaps", OVL_JSON_BLOCK);
        for (uint32_t i = 0; i < r->n_gaps; i++) {
            gap(json, &r->gaps[i]);
        }
        ovl_json_close(json);
    }
}

static void idle_of_all(ovl_json *json, const ovl_result_idle *i)
{
    ovl_json_object(json, "idle", OVL_JSON_BLOCK);
    if (i->time != OVL_NEVER) {
        ovl_json_seconds(json, "time_s", i->time);
        idle_pieces(json, "pieces", i->piece);
        peeled(json, "peeled", i->peeled);
    }
    ovl_json_double_if(json, "bubble_rate", i->bubble_rate);
    if (i->span_bubble_rate >= 0) {
        ovl_json_seconds(json, "span_s", i->span);
        ovl_json_uint(json, "span_rank", i->span_rank);
        ovl_json_double(json, "span_bubble_rate", i->span_bubble_rate);
    }
    blames(json, "because", i->blames, i->n_blames);
    ovl_json_close(json);
}

static void what_if(ovl_json *json, const ovl_result_what_if *w)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "against", w->against);
    ovl_json_text(json, "change", w->change);
    ovl_json_seconds(json, "step_s", w->step);
    if (w->microbatches) {
        ovl_json_uint(json, "microbatches", w->microbatches);
        ovl_json_seconds(json, "per_microbatch_s", w->per_microbatch);
        ovl_json_seconds(json, "per_microbatch_now_s", w->per_microbatch_now);
    }
    ovl_json_double_if(json, "bubble_rate", w->bubble_rate);
    idle_pieces(json, "idle", w->idle);
    ovl_json_close(json);
}

static void rank(ovl_json *json, const ovl_result *result, const ovl_result_rank *r)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_uint(json, "rank", r->rank);
    ovl_json_uint(json, "count", r->count);
    terms(json, "decomposition_s", r->term);
    ovl_json_seconds(json, "idle_s", r->idle_time);
    ovl_json_uint(json, "startups", r->startups);
    if (r->has_memory) {
        memory(json, r);
    }
    ovl_json_seconds(json, "end_s", r->end);
    idle_of_rank(json, r);
    if (r->has_host) {
        host_load(json, &r->host);
    }
    memory_lines(json, r);
    if (r->has_memory && result->memory_limit) {
        ovl_json_bool(json, "fits", ovl_result_rank_fits(result, r));
    }
    ovl_json_close(json);
}

static void path(ovl_json *json, const ovl_result_path *p)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "op", p->op);
    ovl_json_uint(json, "rank", p->rank);
    ovl_json_text(json, "stream", p->stream);
    ovl_json_seconds(json, "start_s", p->start);
    ovl_json_seconds(json, "end_s", p->end);
    ovl_json_text(json, "why", p->why);
    if (p->again) {
        ovl_json_uint(json, "repeats", (uint64_t)p->again + 1);
        ovl_json_seconds(json, "every_s", p->every);
    }
    ovl_json_close(json);
}

static void bytes_if_counted(ovl_json *json, const char *key, uint64_t bytes)
{
    if (bytes != OVL_MANY_BYTES) {
        ovl_json_uint(json, key, bytes);
    }
}

static void resource(ovl_json *json, const ovl_result_resource *r)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "name", r->name);
    ovl_json_uint(json, "instances", r->instances);
    ovl_json_uint(json, "busiest", r->busiest);
    ovl_json_uint(json, r->sms ? "capacity_sms" : "capacity_Bps", r->capacity);
    ovl_json_seconds(json, "busy_s", r->busy);
    if (!r->sms) {
        bytes_if_counted(json, "bytes", r->bytes);
    }
    ovl_json_double(json, "mean_use", r->mean_use);
    if (!r->sms) {
        bytes_if_counted(json, "total_bytes", r->total);
    }
    ovl_json_seconds_if(json, "lost_s", r->lost);
    ovl_json_seconds_if(json, "all_lost_s", r->lost_all);
    ovl_json_seconds_if(json, "alone_s", r->alone);
    ovl_json_seconds_if(json, "all_alone_s", r->alone_all);
    ovl_json_close(json);
}

static void collision(ovl_json *json, const ovl_result_collision *c)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "resource", c->resource);
    ovl_json_text(json, "a", c->a);
    ovl_json_text(json, "b", c->b);
    ovl_json_uint(json, "instances", c->shared);
    ovl_json_seconds(json, "together_s", c->together);
    ovl_json_seconds_if(json, "lost_a_s", c->lost_a);
    ovl_json_seconds_if(json, "lost_b_s", c->lost_b);
    ovl_json_uint(json, "full_instances", c->full);
    ovl_json_seconds_if(json, "all_lost_a_s", c->all_a);
    ovl_json_seconds_if(json, "all_lost_b_s", c->all_b);
    ovl_json_uint(json, "pairs", c->pairs);
    ovl_json_close(json);
}

static void hazard(ovl_json *json, const ovl_result_hazard *h)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "kind", h->kind);
    ovl_json_text(json, "text", h->text);
    ovl_json_text_if(json, "file", h->mark.file);
    if (h->mark.file && h->mark.line) {
        ovl_json_uint(json, "line", h->mark.line);
        ovl_json_uint(json, "column", h->mark.column);
    }
    ovl_json_uint(json, "rank", h->rank);
    ovl_json_uint(json, "count", h->count);
    ovl_json_close(json);
}

static void limit(ovl_json *json, const ovl_result_limit *l)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "op", l->op);
    ovl_json_text(json, "bound", l->bound);
    ovl_json_seconds_if(json, "time_s", l->time);
    ovl_json_seconds_if(json, "lost_s", l->lost);
    ovl_json_close(json);
}

static void gradients(ovl_json *json, const ovl_result *result)
{
    char digest[20];
    if (!result->gradient_scale) {
        return;
    }
    snprintf(digest, sizeof digest, "%016" PRIx64, result->gradient_digest);
    ovl_json_object(json, "gradients", OVL_JSON_FLOW);
    ovl_json_uint(json, "proved", result->gradients_proved);
    ovl_json_text(json, "scale", result->gradient_scale);
    ovl_json_text(json, "digest", digest);
    ovl_json_close(json);
}

static void folded(ovl_json *json, const ovl_result *result)
{
    if (result->n_folded) {
        ovl_json_object(json, "folded", OVL_JSON_FLOW);
        ovl_json_uint(json, "ranks", result->n_ranks_simulated);
        ovl_json_uint(json, "classes", result->n_folded);
        ovl_json_close(json);
    }
}

#define ROWS(json, key, result, rows, n, write)                                                    \
    do {                                                                                           \
        ovl_json_array((json), (key), OVL_JSON_BLOCK);                                             \
        for (uint32_t i_ = 0; i_ < (result)->n; i_++) {                                            \
            write((json), &(result)->rows[i_]);                                                    \
        }                                                                                          \
        ovl_json_close(json);                                                                      \
    } while (0)

void ovl_report_json_member(ovl_json *json, const char *key, const ovl_result *result)
{
    ovl_json_object(json, key, OVL_JSON_BLOCK);
    ovl_json_text(json, "schema", "overlapsim.run/1");
    ovl_json_text_if(json, "scenario", result->scenario);
    ovl_json_text_if(json, "description", result->description);
    ovl_json_text(json, "variant", result->variant);
    ovl_json_text(json, "interference", result->interference);
    if (result->in_steps) {
        ovl_json_uint(json, "expand", result->in_steps);
    }
    step(json, result);
    ovl_report_model_json(json, result);
    equation(json, &result->equation);
    ovl_json_array(json, "collectives", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < result->n_collectives; i++) {
        collective(json, &result->collectives[i], result->replay != NULL);
    }
    ovl_json_close(json);
    ovl_json_array(json, "ranks", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < result->n_ranks; i++) {
        rank(json, result, &result->ranks[i]);
    }
    ovl_json_close(json);
    ROWS(json, "critical_path", result, path, n_path, path);
    ROWS(json, "limits", result, limits, n_limits, limit);
    ROWS(json, "resources", result, resources, n_resources, resource);
    ROWS(json, "collisions", result, collisions, n_collisions, collision);
    ovl_json_uint(json, "collisions_in_all", result->all_collisions);
    ROWS(json, "hazards", result, hazards, n_hazards, hazard);
    ovl_json_bool(json, "hazards_checked", result->hazards_checked);
    memory_limit(json, result);
    host(json, &result->host);
    gradients(json, result);
    ovl_json_array(json, "not_modelled", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < result->n_not_modelled; i++) {
        ovl_json_text(json, NULL, result->not_modelled[i]);
    }
    ovl_json_close(json);
    idle_of_all(json, &result->idle);
    folded(json, result);
    if (result->what_if) {
        ROWS(json, "what_if", result, what_if, n_what_if, what_if);
    }
    ovl_json_text_if(json, "what_if_note", result->what_if_note);
    ovl_replay_json(json, result->replay);
    ovl_report_stats_json(json, result);
    if (result->reuses_checked) {
        ovl_json_uint(json, "reuses_checked", result->reuses_checked);
    }
    if (result->n_together) {
        ROWS(json, "worth_together", result, together, n_together, together);
    }
    ROWS(json, "alike_collisions", result, alike, n_alike, collision);
    ovl_json_uint(json, "alike_collisions_in_all", result->all_alike);
    ovl_json_close(json);
}

void ovl_report_json(ovl_out *out, const ovl_result *result)
{
    ovl_json json;
    ovl_json_begin(&json, out);
    ovl_report_json_member(&json, NULL, result);
    ovl_json_end(&json);
}
