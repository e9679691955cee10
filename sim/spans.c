#include "sim/spans.h"

#define TAIL 1024 /* unsorted items that are worth a sort */

static int by_start(const void *a, const void *b)
{
    const ovl_span *x = a, *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return (x->end > y->end) - (x->end < y->end);
}

void ovl_spans_settle(ovl_spans *spans)
{
    ovl_span *item = spans->items.data;
    if (spans->settled == spans->items.len) {
        return;
    }
    qsort(item, spans->items.len, sizeof *item, by_start);
    uint32_t kept = 0;
    for (uint32_t i = 1; i < spans->items.len; i++) {
        if (item[i].start <= item[kept].end) {
            item[kept].end = OVL_MAX(item[kept].end, item[i].end);
        } else {
            item[++kept] = item[i];
        }
    }
    spans->items.len = spans->settled = kept + 1;
}

/* Traces come nearly in order, so the last item is where most intervals go. */
void ovl_spans_add(ovl_spans *spans, int64_t start, int64_t end)
{
    assert(start >= -OVL_SPANS_MOST && end <= OVL_SPANS_MOST);
    if (end <= start) {
        return;
    }
    uint32_t n = spans->items.len;
    ovl_span *last = n ? &spans->items.data[n - 1] : NULL;
    if (n && start >= last->start && start <= last->end) {
        last->end = OVL_MAX(last->end, end);
        return;
    }
    bool ascending = spans->settled == n && (!n || start > last->end);
    ovl_vec_push(&spans->items, (ovl_span){start, end});
    if (ascending) {
        spans->settled = n + 1;
    } else if (spans->items.len - spans->settled > OVL_MAX(TAIL, spans->settled)) {
        ovl_spans_settle(spans);
    }
}

void ovl_spans_join(ovl_spans *spans, const ovl_spans *more)
{
    for (uint32_t i = 0; i < more->items.len; i++) {
        ovl_spans_add(spans, more->items.data[i].start, more->items.data[i].end);
    }
}

int64_t ovl_spans_measure(ovl_spans *spans)
{
    int64_t sum = 0;
    ovl_spans_settle(spans);
    for (uint32_t i = 0; i < spans->items.len; i++) {
        sum += spans->items.data[i].end - spans->items.data[i].start;
    }
    return sum;
}

int64_t ovl_spans_common(ovl_spans *a, ovl_spans *b)
{
    int64_t sum = 0;
    ovl_spans_settle(a);
    ovl_spans_settle(b);
    for (uint32_t i = 0, j = 0; i < a->items.len && j < b->items.len;) {
        const ovl_span x = a->items.data[i], y = b->items.data[j];
        int64_t from = OVL_MAX(x.start, y.start), to = OVL_MIN(x.end, y.end);
        sum += to > from ? to - from : 0;
        if (x.end < y.end) {
            i++;
        } else {
            j++;
        }
    }
    return sum;
}

/* The first item that ends after `t`. */
static uint32_t first_after(const ovl_spans *spans, int64_t t)
{
    uint32_t low = 0, high = spans->items.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (spans->items.data[middle].end > t) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

int64_t ovl_spans_within(ovl_spans *spans, int64_t start, int64_t end)
{
    int64_t sum = 0;
    ovl_spans_settle(spans);
    for (uint32_t i = first_after(spans, start); i < spans->items.len; i++) {
        const ovl_span x = spans->items.data[i];
        if (x.start >= end) {
            break;
        }
        sum += OVL_MIN(x.end, end) - OVL_MAX(x.start, start);
    }
    return sum;
}

void ovl_spans_free(ovl_spans *spans)
{
    ovl_vec_free(&spans->items);
    spans->settled = 0;
}
