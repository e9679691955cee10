/* Counters of what moves over links and HBM. Two of each resource:
 *
 *     nic.out 0           bytes/s that move, and those missing to isolated speed, whatever holds
 *                         them back; stacked they are what all that are there want
 *     nic.out 0: at once  how many activities are there; only where two ever are
 *
 * Example, two all-reduces that want 50 GB/s each of a NIC that has 50: 50 GB/s and 50 missing, 2
 * at once. Written when they change, so their number is bounded by that of rate segments. */
#include "tools/trace_parts.h"

#include <math.h>

enum { MOVED, MISSING, AT_ONCE, KINDS };

void ovl_trace_use(ovl_changes *list, uint32_t series, const ovl_segment *g, uint64_t rate)
{
    int64_t moved = (int64_t)llround(g->rate * (double)rate);
    ovl_trace_span(list, KINDS * series + MOVED, g->from, g->to, moved);
    ovl_trace_span(list, KINDS * series + MISSING, g->from, g->to, (int64_t)rate - moved);
    ovl_trace_span(list, KINDS * series + AT_ONCE, g->from, g->to, 1);
}

typedef struct traffic {
    int64_t now[KINDS], shown[KINDS];
    bool misses, meets; /* ever */
    const char *at_once;
} traffic;

/* Takes what happens to one series at one moment; *i becomes the first behind it. */
static uint32_t take_moment(const ovl_changes *list, uint32_t *i, traffic *all)
{
    uint32_t series = list->data[*i].series / KINDS;
    ovl_time at = list->data[*i].at;
    for (; *i < list->len && list->data[*i].at == at && list->data[*i].series / KINDS == series;
         ++*i) {
        all[series].now[list->data[*i].series % KINDS] += list->data[*i].by;
    }
    return series;
}

static bool differs(const traffic *one, int kind)
{
    return one->now[kind] != one->shown[kind];
}

static void show(ovl_trace *t, const char *name, ovl_time at, traffic *one)
{
    if (differs(one, MOVED) || differs(one, MISSING)) {
        ovl_trace_counter(t, name, at);
        ovl_json_int(t->json, "bytes/s", one->now[MOVED]);
        if (one->misses) {
            ovl_json_int(t->json, "missing bytes/s", one->now[MISSING]);
        }
        ovl_trace_end_counter(t);
    }
    if (one->meets && differs(one, AT_ONCE)) {
        ovl_trace_counter(t, one->at_once, at);
        ovl_json_int(t->json, "activities", one->now[AT_ONCE]);
        ovl_trace_end_counter(t);
    }
    memcpy(one->shown, one->now, sizeof one->now);
}

void ovl_trace_traffic(ovl_trace *t, ovl_changes *list, const char *const *names, uint32_t n)
{
    traffic *all = OVL_NEW_ARRAY(t->scratch, traffic, n);
    ovl_trace_sort(list);
    for (uint32_t i = 0; i < list->len;) {
        traffic *one = &all[take_moment(list, &i, all)];
        one->misses |= one->now[MISSING] > 0;
        one->meets |= one->now[AT_ONCE] > 1;
    }
    for (uint32_t s = 0; s < n; s++) {
        all[s].at_once = all[s].meets ? ovl_arena_printf(t->scratch, "%s: at once", names[s]) : "";
    }
    for (uint32_t i = 0; i < list->len;) { /* all are back at zero */
        ovl_time at = list->data[i].at;
        uint32_t series = take_moment(list, &i, all);
        show(t, names[series], at, &all[series]);
    }
    ovl_vec_free(list);
}
