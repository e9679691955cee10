#include "tools/trace_parts.h"

#include <stdlib.h>
#include <string.h>

/* --- Lanes --- */

static void find_parts(const ovl_code *code, ovl_lanes *lanes)
{
    for (uint32_t i = 0; i < code->n_ops; i++) {
        ovl_offsets parts = ovl_code_parts(code, i);
        if (parts.n == 0) {
            continue;
        }
        uint32_t *most = &lanes->parts[ovl_code_op(code, i)->stream];
        *most = OVL_MAX(*most, parts.n);
        for (uint32_t k = 0; k < parts.n; k++) {
            lanes->part_of[i + parts.by[k]] = k;
        }
    }
}

static void find_lanes(const ovl_code *code, ovl_arena *arena, ovl_lanes *lanes)
{
    lanes->parts_at = OVL_NEW_ARRAY(arena, uint32_t, code->n_streams);
    lanes->parts = OVL_NEW_ARRAY(arena, uint32_t, code->n_streams);
    lanes->part_of = OVL_NEW_ARRAY(arena, uint32_t, code->n_ops);
    find_parts(code, lanes);
    uint32_t lane = code->n_streams;
    for (uint32_t s = 0; s < code->n_streams; s++) {
        lanes->parts_at[s] = lane;
        lane += lanes->parts[s];
    }
    lanes->host = lane;
    for (uint32_t i = 0; i < code->n_ops; i++) {
        lanes->has_host |=
            ovl_code_op(code, i)->launch > 0 || ovl_code_op(code, i)->kind == OVL_HOST;
        lanes->wires += ovl_code_op(code, i)->kind == OVL_SEND && ovl_code_op(code, i)->eager;
    }
}

uint64_t ovl_trace_host_thread(const ovl_trace *t)
{
    return t->rank * t->stride + t->lanes[t->r->code].host;
}

uint64_t ovl_trace_thread(const ovl_trace *t, uint32_t rank, const ovl_code *code, uint32_t local)
{
    const ovl_lanes *lanes = &t->lanes[code - t->job->program->codes];
    const ovl_op *op = ovl_code_op(code, local);
    uint64_t lane = op->stream;
    if (op->kind == OVL_HOST) {
        lane = lanes->host;
    } else if (op->behind) {
        uint16_t stream = ovl_code_op(code, local - op->behind)->stream;
        lane = lanes->parts_at[stream] + (uint64_t)lanes->part_of[local];
    }
    return rank * t->stride + lane;
}

/* --- Events --- */

void ovl_trace_event(ovl_trace *t, const char *phase, uint32_t rank, uint64_t thread, ovl_time at,
                     const char *category, const char *name)
{
    ovl_json_object(t->json, NULL, OVL_JSON_FLOW);
    ovl_json_text(t->json, "ph", phase);
    ovl_json_uint(t->json, "pid", rank);
    ovl_json_uint(t->json, "tid", thread);
    ovl_json_micros(t->json, "ts", at);
    ovl_json_text_if(t->json, "cat", category);
    ovl_json_text(t->json, "name", name);
}

static void begin_metadata(ovl_trace *t, const char *what, uint64_t thread)
{
    ovl_json_object(t->json, NULL, OVL_JSON_FLOW);
    ovl_json_text(t->json, "ph", "M");
    ovl_json_uint(t->json, "pid", t->rank);
    ovl_json_uint(t->json, "tid", thread);
    ovl_json_text(t->json, "name", what);
    ovl_json_object(t->json, "args", OVL_JSON_FLOW);
}

static void end_metadata(ovl_trace *t)
{
    ovl_json_close(t->json);
    ovl_json_close(t->json);
}

void ovl_trace_metadata(ovl_trace *t, const char *what, uint64_t thread, const char *name)
{
    begin_metadata(t, what, thread);
    ovl_json_text(t->json, "name", name);
    end_metadata(t);
}

void ovl_trace_sort_index(ovl_trace *t, const char *what, uint64_t thread, uint64_t index)
{
    begin_metadata(t, what, thread);
    ovl_json_uint(t->json, "sort_index", index);
    end_metadata(t);
}

void ovl_trace_name_thread(ovl_trace *t, uint32_t lane, const char *name)
{
    uint64_t thread = t->rank * t->stride + lane;
    ovl_trace_metadata(t, "thread_name", thread, name);
    ovl_trace_sort_index(t, "thread_sort_index", thread, lane);
}

static void name_rank(ovl_trace *t)
{
    const ovl_names *names = t->job->program->names;
    const ovl_lanes *lanes = &t->lanes[t->r->code];
    uint64_t first = t->rank * t->stride;
    ovl_trace_metadata(t, "process_name", first,
                       ovl_arena_printf(t->scratch, "rank %" PRIu32, t->rank));
    ovl_trace_sort_index(t, "process_sort_index", first, t->rank);
    for (uint32_t s = 0; s < t->code->n_streams; s++) {
        const char *stream = OVL_NAME(names, t->code->streams[s]);
        ovl_trace_name_thread(t, s, stream);
        for (uint32_t k = 0; k < lanes->parts[s]; k++) {
            ovl_trace_name_thread(t, lanes->parts_at[s] + k,
                                  ovl_arena_printf(t->scratch, "%s, part %" PRIu32, stream, k));
        }
    }
    if (lanes->has_host) {
        ovl_trace_name_thread(t, lanes->host, "host");
    }
}

/* --- The whole --- */

static void prepare(ovl_trace *t, ovl_arena *arena)
{
    const ovl_program *p = t->job->program;
    uint32_t most = 0;
    t->lanes = OVL_NEW_ARRAY(arena, ovl_lanes, p->n_codes);
    t->feeds = OVL_NEW_ARRAY(arena, ovl_feeds, p->n_codes);
    for (uint32_t c = 0; c < p->n_codes; c++) {
        find_lanes(&p->codes[c], arena, &t->lanes[c]);
        ovl_feeds_find(p, &p->codes[c], arena, &t->feeds[c]);
        most = OVL_MAX(most, t->lanes[c].host + t->lanes[c].wires);
    }
    t->sharers = ovl_trace_sharers(p, arena);
    t->stride = 1000;
    while (t->stride <= most) {
        t->stride *= 10;
    }
}

static void write_rank(ovl_trace *t, uint32_t rank)
{
    t->rank = rank;
    t->r = &t->job->program->ranks[rank];
    t->code = &t->job->program->codes[t->r->code];
    name_rank(t);
    ovl_trace_slices(t);
    ovl_trace_wires(t);
    ovl_trace_flows(t);
    ovl_trace_counters(t);
    ovl_arena_free(t->scratch);
}

void ovl_trace_write(ovl_out *out, const ovl_trace_job *job)
{
    ovl_json json;
    ovl_arena arena = {0}, scratch = {0};
    ovl_trace t = {.job = job, .json = &json, .scratch = &scratch};
    prepare(&t, &arena);
    ovl_json_begin(&json, out);
    ovl_json_object(&json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(&json, "displayTimeUnit", "ns");
    ovl_json_object(&json, "otherData", OVL_JSON_FLOW);
    ovl_json_text(&json, "program", "overlapsim");
    ovl_json_text_if(&json, "scenario", job->scenario);
    ovl_json_text_if(&json, "variant", job->variant);
    ovl_json_text_if(&json, "interference", job->interference);
    ovl_json_uint(&json, "ranks", job->program->n_ranks);
    ovl_json_uint(&json, "copy_engines_d2h", job->program->copy_engines[0]);
    ovl_json_uint(&json, "copy_engines_h2d", job->program->copy_engines[1]);
    ovl_json_uint(&json, "hw_queues", job->program->hw_queues);
    ovl_json_close(&json);
    ovl_json_array(&json, "traceEvents", OVL_JSON_BLOCK);
    for (uint32_t rank = 0; rank < job->program->n_ranks && !out->lost; rank++) {
        if (job->ranks[rank]) {
            write_rank(&t, rank);
        }
    }
    ovl_trace_shared(&t);
    ovl_trace_stages(&t);
    ovl_json_close(&json);
    ovl_json_close(&json);
    ovl_json_end(&json);
    ovl_arena_free(&scratch);
    ovl_arena_free(&arena);
}

/* --- Which ranks --- */

/* A number below n; moves *text behind it. False if there is none. */
static bool read_rank(const char **text, uint32_t n, uint32_t *rank)
{
    uint64_t value = 0;
    const char *at = *text;
    while (*at >= '0' && *at <= '9' && value < n) {
        value = value * 10 + (uint64_t)(*at++ - '0');
    }
    bool good = at != *text && value < n;
    *rank = (uint32_t)value;
    *text = at;
    return good;
}

const char *ovl_ranks_read(const char *text, bool *chosen, uint32_t n, ovl_arena *arena)
{
    const char *at = text;
    do {
        uint32_t first, last;
        bool good = read_rank(&at, n, &first);
        last = first;
        if (good && *at == '-') {
            at++;
            good = read_rank(&at, n, &last) && first <= last;
        }
        if (!good || (*at && *at != ',')) {
            return ovl_arena_printf(arena,
                                    "\"%s\" names no ranks; write 0-7 or 0,8,16-23, from 0 to "
                                    "%" PRIu32,
                                    text, n - 1);
        }
        for (uint32_t rank = first; rank <= last; rank++) {
            chosen[rank] = true;
        }
    } while (*at++ == ',');
    return NULL;
}
