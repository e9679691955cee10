#include "tools/busy.h"

#include <assert.h>

/* One more interval, which starts no earlier than those before it. */
static void cover(ovl_union *u, int64_t start, int64_t end)
{
    int64_t from = u->any ? OVL_MAX(start, u->until) : start;
    u->length += OVL_MAX(end - from, 0);
    u->until = u->any ? OVL_MAX(end, u->until) : end; /* also that of an operation of length 0 */
    u->any = true;
}

void ovl_busy_add(ovl_busy *busy, ovl_busy_kind kind, int64_t start, int64_t end)
{
    bool none = !busy->all.any;
    assert(none || start >= busy->latest);
    busy->first = none ? start : busy->first;
    busy->latest = start;
    busy->count[kind]++;
    cover(&busy->all, start, end);
    switch (kind) {
    case OVL_BUSY_COMPUTE:
        cover(&busy->compute, start, end);
        cover(&busy->kernels, start, end);
        break;
    case OVL_BUSY_COMM:
        cover(&busy->comm, start, end);
        cover(&busy->kernels, start, end);
        break;
    case OVL_BUSY_COPY:
    case OVL_BUSY_SET:
        cover(&busy->mem, start, end);
        break;
    }
}

ovl_measures ovl_busy_measure(const ovl_busy *busy)
{
    ovl_measures m = {
        .kernels = busy->count[OVL_BUSY_COMPUTE] + busy->count[OVL_BUSY_COMM],
        .comm_kernels = busy->count[OVL_BUSY_COMM],
        .copies = busy->count[OVL_BUSY_COPY],
        .sets = busy->count[OVL_BUSY_SET],
        .span = busy->all.any ? busy->all.until - busy->first : 0,
        .compute = busy->compute.length,
        .comm = busy->comm.length,
        .mem = busy->mem.length,
        .gpu = busy->all.length,
    };
    m.exposed = busy->kernels.length - m.compute;
    m.overlap = m.comm - m.exposed;
    m.mem_alone = m.gpu - busy->kernels.length;
    m.idle = m.span - m.gpu;
    return m;
}
