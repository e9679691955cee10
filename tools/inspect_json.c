/* An inspection as JSON: integer nanoseconds, bytes, GB/s (10^9 bytes a second). What is not known
 * is absent. */
#include "tools/inspect.h"
#include "tools/json.h"

static void int_if(ovl_json *j, const char *key, int64_t value)
{
    if (value >= 0) {
        ovl_json_int(j, key, value);
    }
}

static void rate_if(ovl_json *j, const char *key, double bytes_per_second)
{
    if (bytes_per_second > 0) {
        ovl_json_double(j, key, bytes_per_second * 1e-9);
    }
}

static void where(ovl_json *j, const ovl_inspection *in, uint32_t file, int64_t device,
                  int64_t rank)
{
    ovl_json_text(j, "file", in->files.data[file].path);
    ovl_json_int(j, "device", device);
    int_if(j, "rank", rank);
}

static void measures(ovl_json *j, const ovl_measures *m)
{
    ovl_json_uint(j, "n_kernels", m->kernels);
    ovl_json_uint(j, "n_comm_kernels", m->comm_kernels);
    ovl_json_uint(j, "n_memcpy", m->copies);
    ovl_json_uint(j, "n_memset", m->sets);
    ovl_json_int(j, "span_ns", m->span);
    ovl_json_int(j, "compute_busy_ns", m->compute);
    ovl_json_int(j, "comm_busy_ns", m->comm);
    ovl_json_int(j, "overlap_comm_compute_ns", m->overlap);
    ovl_json_int(j, "exposed_comm_ns", m->exposed);
    ovl_json_int(j, "mem_busy_ns", m->mem);
    ovl_json_int(j, "gpu_busy_ns", m->gpu);
    ovl_json_int(j, "idle_ns", m->idle);
}

static void files(ovl_json *j, const ovl_inspection *in)
{
    ovl_json_array(j, "files", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < in->files.len; i++) {
        const ovl_inspect_file *f = &in->files.data[i];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        ovl_json_text(j, "file", f->path);
        ovl_json_text(j, "format", ovl_read_format_name(f->format));
        int_if(j, "rank", f->rank);
        int_if(j, "world_size", f->world);
        ovl_json_uint(j, "n_records", f->n_records);
        ovl_json_text_if(j, "schema_version", f->version);
        ovl_json_text_if(j, "operation", f->operation);
        int_if(j, "n_ranks", f->n_ranks);
        ovl_json_close(j);
    }
    ovl_json_close(j);
}

static void devices(ovl_json *j, const ovl_inspection *in)
{
    ovl_json_array(j, "devices", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < in->devices.len; i++) {
        const ovl_inspect_device *d = &in->devices.data[i];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        where(j, in, d->file, d->device, d->rank);
        measures(j, &d->all);
        if (d->causes) {
            ovl_json_object(j, "idle_by_cause_ns", OVL_JSON_FLOW);
            ovl_json_int(j, "host_wait", d->idle.host);
            ovl_json_int(j, "sync", d->idle.sync);
            ovl_json_int(j, "kernel_wait", d->idle.queued);
            ovl_json_int(j, "unknown", d->idle.unknown);
            ovl_json_close(j);
            ovl_json_uint(j, "n_kernels_without_launch", d->n_unlinked);
        }
        if (d->two_views) {
            ovl_json_object(j, "launched_in_file", OVL_JSON_FLOW);
            measures(j, &d->launched);
            ovl_json_close(j);
        }
        ovl_json_close(j);
    }
    ovl_json_close(j);
}

static void collectives(ovl_json *j, const ovl_inspection *in)
{
    ovl_json_array(j, "collectives", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < in->collectives.len; i++) {
        const ovl_inspect_collective *c = &in->collectives.data[i];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        where(j, in, c->file, c->device, c->rank);
        ovl_json_text(j, "name", c->op);
        ovl_json_text_if(j, "group", c->group);
        int_if(j, "group_size", c->group_size);
        ovl_json_text_if(j, "dtype", c->dtype);
        int_if(j, "bytes", c->bytes);
        ovl_json_uint(j, "count", c->count);
        ovl_json_int(j, "min_ns", c->shortest);
        ovl_json_int(j, "median_ns", c->median);
        ovl_json_int(j, "max_ns", c->longest);
        ovl_json_int(j, "total_ns", c->total);
        rate_if(j, "algbw_GBps", c->algbw);
        rate_if(j, "busbw_GBps", c->busbw);
        ovl_json_close(j);
    }
    ovl_json_close(j);
}

static void steps(ovl_json *j, const ovl_inspection *in)
{
    ovl_json_array(j, "steps", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < in->steps.len; i++) {
        const ovl_inspect_step *s = &in->steps.data[i];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        where(j, in, s->file, s->device, s->rank);
        ovl_json_int(j, "step", s->number);
        ovl_json_int(j, "host_ns", s->wall);
        measures(j, &s->m);
        ovl_json_close(j);
    }
    ovl_json_close(j);
}

static void parties(ovl_json *j, const ovl_inspection *in)
{
    ovl_json_array(j, "ranks", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < in->parties.len && in->matches.len; i++) {
        const ovl_inspect_party *p = &in->parties.data[i];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        where(j, in, p->file, p->device, p->rank);
        ovl_json_uint(j, "n_matched", p->matched);
        ovl_json_int(j, "duration_ns", p->duration);
        ovl_json_int(j, "wait_ns", p->wait);
        ovl_json_int(j, "transfer_ns", p->duration - p->wait);
        ovl_json_uint(j, "n_last", p->last);
        ovl_json_int(j, "clock_offset_ns", p->clock);
        ovl_json_close(j);
    }
    ovl_json_close(j);
}

static void matches(ovl_json *j, const ovl_inspection *in)
{
    ovl_json_array(j, "matched", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < in->matches.len; i++) {
        const ovl_inspect_match *m = &in->matches.data[i];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        ovl_json_text(j, "name", m->op);
        ovl_json_text_if(j, "group", m->group);
        ovl_json_int(j, "number", m->number);
        int_if(j, "bytes", m->bytes);
        int_if(j, "group_size", m->ranks);
        ovl_json_int(j, "transfer_ns", m->transfer);
        if (m->partial) {
            ovl_json_bool(j, "upper_bound", true);
        }
        ovl_json_int(j, "end_skew_ns", m->end_skew);
        ovl_json_uint(j, "last", m->last);
        ovl_json_array(j, "of", OVL_JSON_FLOW); /* as "last": places in "ranks" */
        for (uint32_t p = 0; p < in->parties.len; p++) {
            int_if(j, NULL, m->duration[p] < 0 ? -1 : (int64_t)p);
        }
        ovl_json_close(j);
        ovl_json_array(j, "wait_ns", OVL_JSON_FLOW);
        for (uint32_t p = 0; p < in->parties.len; p++) {
            int_if(j, NULL, m->duration[p] < 0 ? -1 : m->duration[p] - m->transfer);
        }
        ovl_json_close(j);
        ovl_json_close(j);
    }
    ovl_json_close(j);
}

static void groups(ovl_json *j, const ovl_inspection *in)
{
    ovl_json_array(j, "process_groups", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < in->files.len; i++) {
        const ovl_inspect_file *f = &in->files.data[i];
        for (uint32_t k = 0; k < f->n_groups; k++) {
            const ovl_read_group *g = &f->groups[k];
            ovl_json_object(j, NULL, OVL_JSON_FLOW);
            ovl_json_text(j, "file", f->path);
            ovl_json_text(j, "name", g->name);
            ovl_json_text_if(j, "description", *g->description ? g->description : NULL);
            int_if(j, "size", g->size);
            ovl_json_array(j, "ranks", OVL_JSON_FLOW);
            for (uint32_t n = 0; n < g->n_ranks; n++) {
                ovl_json_int(j, NULL, g->ranks[n]);
            }
            ovl_json_close(j);
            ovl_json_close(j);
        }
    }
    ovl_json_close(j);
}

static bool any_groups(const ovl_inspection *in)
{
    bool any = false;
    for (uint32_t i = 0; i < in->files.len; i++) {
        any |= in->files.data[i].n_groups > 0;
    }
    return any;
}

static void memory(ovl_json *j, const ovl_inspection *in)
{
    ovl_json_array(j, "memory", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < in->memory.len; i++) {
        const ovl_inspect_memory *m = &in->memory.data[i];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        ovl_json_text(j, "file", in->files.data[m->file].path);
        int_if(j, "device_type", m->type);
        int_if(j, "device", m->device);
        ovl_json_uint(j, "n_events", m->events);
        ovl_json_int(j, "peak_allocated_bytes", m->allocated);
        int_if(j, "peak_reserved_bytes", m->reserved);
        if (m->lower_bound) {
            ovl_json_bool(j, "lower_bound", true);
        }
        ovl_json_close(j);
    }
    ovl_json_close(j);
}

static void rows(ovl_json *j, const ovl_inspection *in)
{
    static const char *const time[] = {"out_of_place_ns", "in_place_ns"};
    static const char *const algbw[] = {"out_of_place_algbw_GBps", "in_place_algbw_GBps"};
    static const char *const busbw[] = {"out_of_place_busbw_GBps", "in_place_busbw_GBps"};
    ovl_json_array(j, "table", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < in->rows.len; i++) {
        const ovl_inspect_row *r = &in->rows.data[i];
        ovl_json_object(j, NULL, OVL_JSON_FLOW);
        ovl_json_text(j, "file", in->files.data[r->file].path);
        ovl_json_uint(j, "run", r->run);
        ovl_json_text_if(j, "operation", r->operation);
        int_if(j, "n_ranks", r->n_ranks);
        ovl_json_int(j, "bytes", r->bytes);
        int_if(j, "count", r->count);
        ovl_json_text_if(j, "dtype", r->type);
        ovl_json_text_if(j, "redop", r->redop);
        for (int k = 0; k < 2; k++) {
            int_if(j, time[k], r->time[k]);
            rate_if(j, algbw[k], r->algbw[k]);
            rate_if(j, busbw[k], r->busbw[k]);
        }
        ovl_json_text_if(j, "series", r->series);
        ovl_json_close(j);
    }
    ovl_json_close(j);
}

static void warnings(ovl_json *j, const ovl_errs *errs)
{
    ovl_arena scratch = {0};
    ovl_json_array(j, "warnings", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < errs->count; i++) {
        if (errs->items[i].warning) {
            const char *file = errs->items[i].mark.file;
            ovl_json_text(j, NULL,
                          ovl_arena_printf(&scratch, "%s%s%s", file ? file : "", file ? ": " : "",
                                           errs->items[i].text));
        }
    }
    ovl_json_close(j);
    ovl_arena_free(&scratch);
}

void ovl_inspect_json(ovl_out *out, const ovl_inspection *in, const ovl_errs *errs)
{
    ovl_json json, *j = &json;
    ovl_json_begin(j, out);
    ovl_json_object(j, NULL, OVL_JSON_BLOCK);
    ovl_json_text(j, "schema", "overlapsim.inspect/1");
    ovl_json_text(j, "comm_pattern", in->pattern->text);
    files(j, in);
    if (any_groups(in)) {
        groups(j, in);
    }
    devices(j, in);
    collectives(j, in);
    steps(j, in);
    if (in->matches.len) {
        parties(j, in);
        matches(j, in);
    }
    if (in->memory.len) {
        memory(j, in);
    }
    if (in->rows.len) {
        rows(j, in);
    }
    warnings(j, errs);
    ovl_json_close(j);
    ovl_json_end(j);
}
