/* Samples of GPU metrics in Nsight Systems exports. */
#include "tools/nsys.h"

#include <string.h>

/* Which of the metrics that count a name means: "SMs Active [Throughput %]", "DRAM Read Bandwidth
 * [Throughput %]". */
static bool metric_of(ovl_slice name, ovl_metric *metric)
{
    char text[128];
    size_t n = OVL_MIN(name.length, sizeof text - 1);
    memcpy(text, name.text, n);
    text[n] = '\0';
    if (strstr(text, "SMs Active") || strstr(text, "SM Active")) {
        *metric = OVL_METRIC_SM;
        return true;
    }
    bool dram = strstr(text, "DRAM") != NULL, write = strstr(text, "Write") != NULL;
    *metric = write ? OVL_METRIC_HBM_WRITE : OVL_METRIC_HBM_READ;
    return dram && (write || strstr(text, "Read"));
}

void ovl_nsys_metrics(ovl_nsys *r)
{
    const char *t = ovl_nsys_table(r, "GPU_METRICS"),
               *names = ovl_nsys_table(r, "TARGET_INFO_GPU_METRICS");
    if (!t || !names || !r->sink->metric || !ovl_nsys_has(r, t, "timestamp") ||
        !ovl_nsys_has(r, t, "metricId") || !ovl_nsys_has(r, t, "value") ||
        !ovl_nsys_has(r, names, "metricId") || !ovl_nsys_has(r, names, "metricName")) {
        return;
    }
    bool types = ovl_nsys_has(r, t, "typeId") && ovl_nsys_has(r, names, "typeId");
    const char *sql = ovl_arena_printf(
        &r->arena,
        "SELECT t.timestamp, n.metricName, t.value FROM main.\"%s\" t JOIN main.\"%s\" n ON "
        "t.metricId = n.metricId%s",
        t, names, types ? " AND t.typeId = n.typeId" : "");
    for (sqlite3_stmt *s = ovl_nsys_prepare(r, sql); ovl_nsys_step(r, s);) {
        ovl_read_metric record = {.at = sqlite3_column_int64(s, 0),
                                  .percent = sqlite3_column_double(s, 2)};
        const int64_t most = ((int64_t)1 << 62) - 2;
        bool good =
            record.at >= 0 && record.at < most && record.percent >= 0 && record.percent <= 1000;
        if (good && metric_of(ovl_nsys_slice(s, 1), &record.metric)) {
            r->sink->metric(r->sink->context, &record);
        }
    }
}
