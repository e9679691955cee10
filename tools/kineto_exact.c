/* Slices of traces that `ovl export` wrote, with what a replay needs (tools/trace_exact.c). */
#include "tools/kineto.h"

#include <string.h>

static ovl_slice *text_of(ovl_read_exact *r, ovl_slice key)
{
    const struct {
        const char *name;
        ovl_slice *value;
    } table[] = {
        {"kind", &r->kind},   {"stream", &r->stream}, {"group", &r->group},
        {"class", &r->klass}, {"op", &r->op},         {"direction", &r->direction},
        {"after", &r->after},
    };
    for (size_t i = 0; i < OVL_COUNT(table); i++) {
        if (ovl_slice_is(key, table[i].name)) {
            return table[i].value;
        }
    }
    return NULL;
}

static int64_t *number_of(ovl_read_exact *r, ovl_slice key)
{
    const struct {
        const char *name;
        int64_t *value;
    } table[] = {
        {"id", &r->id},           {"start_ps", &r->start},   {"end_ps", &r->end},
        {"wait_ps", &r->wait},    {"launch_ps", &r->launch}, {"latency_ps", &r->latency},
        {"wire_ps", &r->wire},    {"bytes", &r->bytes},      {"comm", &r->comm},
        {"place", &r->place},     {"peer", &r->peer},        {"batch", &r->batch},
        {"members", &r->members},
    };
    for (size_t i = 0; i < OVL_COUNT(table); i++) {
        if (ovl_slice_is(key, table[i].name)) {
            return table[i].value;
        }
    }
    return NULL;
}

static void use_arg(ovl_read_exact *r, ovl_slice key, const ovl_scan_value *value)
{
    ovl_slice *text = text_of(r, key);
    int64_t *number = number_of(r, key);
    if (text) {
        *text = value->slice;
    } else if (number) {
        ovl_scan_integer(value, 0, number);
    } else if (ovl_slice_is(key, "eager")) {
        r->eager = ovl_slice_is(value->slice, "true");
    }
}

bool ovl_kineto_exact(const ovl_kineto_event *event, const ovl_sink *sink)
{
    ovl_read_exact r = {.category = event->cat.slice,
                        .name = event->name.slice,
                        .rank = -1,
                        .id = -1,
                        .start = -1,
                        .end = -1,
                        .bytes = -1,
                        .comm = -1,
                        .place = -1,
                        .peer = -1,
                        .batch = -1,
                        .members = -1};
    ovl_slice key;
    ovl_scan_value value;
    ovl_scan_result found = OVL_SCAN_END;
    if (event->args.kind != OVL_SCAN_OBJECT || !event->args.slice.text) {
        return true;
    }
    ovl_slice args = event->args.slice;
    ovl_cursor c = {args.text + 1, args.text + args.length, false};
    while ((found = ovl_scan_member(&c, &key, &value)) == OVL_SCAN_DONE) {
        use_arg(&r, key, &value);
    }
    if (event->pid.slice.text) {
        ovl_scan_integer(&event->pid, 0, &r.rank);
    }
    if (r.id >= 0 && r.rank >= 0) { /* others are pictures: issues, waits, wires */
        sink->exact(sink->context, &r);
    }
    return found == OVL_SCAN_END;
}
