#include "tools/busy.h"

static bool empty(const ovl_busy *busy)
{
    return busy->count[0] + busy->count[1] + busy->count[2] + busy->count[3] == 0;
}

void ovl_busy_add(ovl_busy *busy, ovl_busy_kind kind, int64_t start, int64_t end)
{
    bool none = empty(busy);
    busy->first = none ? start : OVL_MIN(busy->first, start);
    busy->last = none ? end : OVL_MAX(busy->last, end);
    busy->count[kind]++;
    switch (kind) {
    case OVL_BUSY_COMPUTE:
        ovl_spans_add(&busy->compute, start, end);
        break;
    case OVL_BUSY_COMM:
        ovl_spans_add(&busy->comm, start, end);
        break;
    case OVL_BUSY_COPY:
    case OVL_BUSY_SET:
        ovl_spans_add(&busy->mem, start, end);
        break;
    }
}

ovl_measures ovl_busy_measure(ovl_busy *busy)
{
    ovl_spans all = {0};
    ovl_measures m = {
        .kernels = busy->count[OVL_BUSY_COMPUTE] + busy->count[OVL_BUSY_COMM],
        .comm_kernels = busy->count[OVL_BUSY_COMM],
        .copies = busy->count[OVL_BUSY_COPY],
        .sets = busy->count[OVL_BUSY_SET],
        .span = empty(busy) ? 0 : busy->last - busy->first,
        .compute = ovl_spans_measure(&busy->compute),
        .comm = ovl_spans_measure(&busy->comm),
        .overlap = ovl_spans_common(&busy->compute, &busy->comm),
        .mem = ovl_spans_measure(&busy->mem),
    };
    m.exposed = m.comm - m.overlap;
    ovl_spans_join(&all, &busy->compute);
    ovl_spans_join(&all, &busy->comm);
    ovl_spans_join(&all, &busy->mem);
    m.gpu = ovl_spans_measure(&all);
    m.mem_alone = m.gpu - m.compute - m.exposed;
    m.idle = m.span - m.gpu;
    ovl_spans_free(&all);
    return m;
}

void ovl_busy_free(ovl_busy *busy)
{
    ovl_spans_free(&busy->compute);
    ovl_spans_free(&busy->comm);
    ovl_spans_free(&busy->mem);
}
