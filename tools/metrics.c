#include "tools/metrics.h"

#include "models/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool given(ovl_time t, int64_t *value)
{
    *value = t;
    return t != OVL_NEVER;
}

static bool step(const ovl_result *r, int64_t *value)
{
    return given(r->step, value);
}

static bool uncovered(const ovl_result *r, int64_t *value)
{
    return given(r->comm_uncovered, value);
}

static bool exposed(const ovl_result *r, int64_t *value)
{
    *value = r->equation.exposed;
    return r->equation.present;
}

static bool price(const ovl_result *r, int64_t *value)
{
    *value = r->step - r->without_interference;
    return r->without_interference != OVL_NEVER;
}

static bool startups(const ovl_result *r, int64_t *value)
{
    *value = r->startups;
    return true;
}

static bool hazards(const ovl_result *r, int64_t *value)
{
    *value = r->n_hazards;
    return r->hazards_checked;
}

static bool over(const ovl_result *r, int64_t *value)
{
    *value = (int64_t)ovl_result_over_memory(r);
    return r->has_memory && r->memory_limit;
}

/* The largest of any rank. */
#define LARGEST(name, field)                                                                       \
    static bool name(const ovl_result *r, int64_t *value)                                          \
    {                                                                                              \
        *value = 0;                                                                                \
        for (uint32_t i = 0; i < r->n_ranks; i++) {                                                \
            *value = OVL_MAX(*value, (int64_t)r->ranks[i].field);                                  \
        }                                                                                          \
        return r->has_memory;                                                                      \
    }
LARGEST(live, live_peak)
LARGEST(allocated, allocated_peak)
LARGEST(active, active_peak)
LARGEST(reserved, reserved_peak)

static bool retries(const ovl_result *r, int64_t *value)
{
    *value = r->allocation_retries;
    return r->has_memory && r->memory_limit;
}

static bool comm(const ovl_result *r, int64_t *value)
{
    return given(r->comm_total, value);
}

static bool hidden(const ovl_result *r, int64_t *value)
{
    return given(r->hidden_comm, value);
}

#define TERM(name, index)                                                                          \
    static bool name(const ovl_result *r, int64_t *value)                                          \
    {                                                                                              \
        return given(r->term[index], value);                                                       \
    }
TERM(idle, OVL_IDLE)
TERM(compute, OVL_COMPUTE)
TERM(compute_stretch, OVL_COMPUTE_STRETCH)
TERM(comm_latency, OVL_COMM_LATENCY)
TERM(comm_transfer, OVL_COMM_TRANSFER)
TERM(comm_stretch, OVL_COMM_STRETCH)
TERM(copy, OVL_COPYING)
TERM(wait_late_rank, OVL_WAIT_LATE_RANK)

/* Of all ranks together. */
#define IDLE(name, index)                                                                          \
    static bool name(const ovl_result *r, int64_t *value)                                          \
    {                                                                                              \
        *value = r->idle.piece[index];                                                             \
        return r->idle.time != OVL_NEVER;                                                          \
    }
IDLE(fill, OVL_IDLE_FILL)
IDLE(drain, OVL_IDLE_DRAIN)
IDLE(imbalance, OVL_IDLE_IMBALANCE)
IDLE(dependency, OVL_IDLE_DEPENDENCY)
IDLE(schedule, OVL_IDLE_SCHEDULE)
IDLE(host, OVL_IDLE_HOST)
IDLE(paused, OVL_IDLE_PAUSE)

static bool per_microbatch(const ovl_result *r, int64_t *value)
{
    return given(ovl_result_per_microbatch(r), value);
}

/* The step over a part of its work, so many units. */
static bool per(const ovl_result *r, double units, int64_t *value)
{
    bool known = units > 0 && (double)r->step / units < 0x1p62;
    *value = known ? (int64_t)llround((double)r->step / units) : 0;
    return known && *value > 0;
}

static bool per_million_tokens(const ovl_result *r, int64_t *value)
{
    return per(r, (double)r->useful.tokens / 1e6, value);
}

static bool per_pflop(const ovl_result *r, int64_t *value)
{
    return per(r, r->useful.flops * r->useful.ranks / 1e15, value);
}

/* In the order of the enum; the rest is asked for by name. */
const ovl_metric ovl_metrics[] = {
    {"step", OVL_METRIC_TIME, "length of the step", step},
    {"uncovered", OVL_METRIC_TIME, "communication with no kernel beside it", uncovered},
    {"price", OVL_METRIC_TIME, "price of interference: the step minus the step at isolated speed",
     price},
    {"idle", OVL_METRIC_TIME, "neither kernel nor communication, on the deciding rank", idle},
    {"live", OVL_METRIC_BYTES, "most bytes between first and last access on a rank", live},
    {"allocated", OVL_METRIC_BYTES, "most memory allocated on a rank", allocated},
    {"peak", OVL_METRIC_BYTES, "most memory reserved on a rank", reserved},
    {"retries", OVL_METRIC_COUNTED, "allocations met only after free memory went back", retries},
    {"startups", OVL_METRIC_COUNTED, "communications launched", startups},
    {"hazards", OVL_METRIC_COUNTED, "what is wrong with the schedule", hazards},
    {"over", OVL_METRIC_BYTES, "by how much the peak exceeds the memory of the GPU", over},
    {"active", OVL_METRIC_BYTES, "most memory allocated, or freed while the GPU still uses it",
     active},
    {"exposed", OVL_METRIC_TIME, "how long the last that waited for communication waited", exposed},
    {"comm", OVL_METRIC_TIME, "time in communication", comm},
    {"hidden", OVL_METRIC_TIME, "communication under kernels", hidden},
    {"compute", OVL_METRIC_TIME, "part of the decomposition", compute},
    {"compute_stretch", OVL_METRIC_TIME, "part of the decomposition", compute_stretch},
    {"comm_latency", OVL_METRIC_TIME, "part of the decomposition", comm_latency},
    {"comm_transfer", OVL_METRIC_TIME, "part of the decomposition", comm_transfer},
    {"comm_stretch", OVL_METRIC_TIME, "part of the decomposition", comm_stretch},
    {"copy", OVL_METRIC_TIME, "part of the decomposition", copy},
    {"wait_late_rank", OVL_METRIC_TIME, "part of the decomposition", wait_late_rank},
    {"fill", OVL_METRIC_TIME, "idle time of all ranks: a forward was awaited", fill},
    {"drain", OVL_METRIC_TIME, "idle time of all ranks: a backward was awaited", drain},
    {"imbalance", OVL_METRIC_TIME, "idle time of all ranks: slower stages", imbalance},
    {"dependency", OVL_METRIC_TIME, "idle time of all ranks: communication", dependency},
    {"schedule", OVL_METRIC_TIME, "idle time of all ranks: what was not issued yet", schedule},
    {"host", OVL_METRIC_TIME, "idle time of all ranks: the host", host},
    {"per_microbatch", OVL_METRIC_TIME,
     "step over its microbatches, those of all data-parallel replicas", per_microbatch},
    {"pause", OVL_METRIC_TIME, "idle time of all ranks: streams that pause", paused},
    {"per_million_tokens", OVL_METRIC_TIME, "step over a million of the tokens of all ranks",
     per_million_tokens},
    {"per_pflop", OVL_METRIC_TIME, "step over 10^15 of the FLOPs that the model needs on all ranks",
     per_pflop},
};
const uint32_t ovl_n_metrics = OVL_COUNT(ovl_metrics);
_Static_assert(OVL_COUNT(ovl_metrics) <= OVL_METRICS_MAX, "a bit for each metric");

void ovl_figures_of(const ovl_result *result, ovl_figures *figures)
{
    *figures = (ovl_figures){.has = 0};
    for (uint32_t m = 0; m < ovl_n_metrics; m++) {
        int64_t value = 0;
        if (ovl_metrics[m].get(result, &value)) {
            figures->value[m] = value;
            figures->has |= UINT32_C(1) << m;
        }
    }
}

const char *ovl_metric_key(uint32_t metric, ovl_arena *arena)
{
    static const char *const ends[] = {"_s", "_bytes", ""};
    return ovl_arena_printf(arena, "%s%s", ovl_metrics[metric].name,
                            ends[ovl_metrics[metric].kind]);
}

static uint32_t find(const char *name, size_t length)
{
    for (uint32_t m = 0; m < ovl_n_metrics; m++) {
        if (strlen(ovl_metrics[m].name) == length &&
            strncmp(ovl_metrics[m].name, name, length) == 0) {
            return m;
        }
    }
    return OVL_NONE;
}

uint32_t ovl_metric_find(const char *name, const char *option, ovl_errs *errs)
{
    const char *names[OVL_METRICS_MAX];
    uint32_t metric = find(name, strlen(name));
    if (metric == OVL_NONE) {
        for (uint32_t m = 0; m < ovl_n_metrics; m++) {
            names[m] = ovl_metrics[m].name;
        }
        const char *what = ovl_arena_printf(errs->arena, "metric of --%s:", option);
        ovl_unknown_name((ovl_mark){0}, what, name, names, ovl_n_metrics, OVL_E_USAGE, errs);
    }
    return metric;
}

static const char *const per_names[] = {"per_microbatch", "per_million_tokens", "per_pflop"};

uint32_t ovl_metric_per(ovl_per per)
{
    return find(per_names[per], strlen(per_names[per]));
}

ovl_per ovl_per_of(uint32_t metric)
{
    uint32_t per = 0;
    while (per < OVL_PER_COUNT && ovl_metric_per((ovl_per)per) != metric) {
        per++;
    }
    return (ovl_per)per;
}

double ovl_work_of(const ovl_figures *figures, ovl_per per)
{
    uint32_t metric = ovl_metric_per(per);
    bool known = ovl_has_figure(figures, metric) && figures->value[metric] > 0;
    return known ? (double)figures->value[OVL_M_STEP] / (double)figures->value[metric] : 0;
}

bool ovl_metric_list_read(const char *text, const char *option, ovl_metric_list *list,
                          ovl_errs *errs)
{
    bool good = true;
    *list = (ovl_metric_list){.n = 0};
    while (*text && list->n < OVL_METRICS_MAX) {
        size_t length = strcspn(text, ",");
        const char *name = ovl_arena_strndup(errs->arena, text, length);
        uint32_t metric = ovl_metric_find(name, option, errs);
        good = good && metric != OVL_NONE;
        list->item[list->n++] = metric;
        text += length + (text[length] == ',');
    }
    if (list->n == 0) {
        ovl_error(errs, OVL_E_USAGE, (ovl_mark){0}, "--%s takes names of metrics: step,peak",
                  option);
    }
    return good && list->n > 0;
}

/* --- Constraints --- */

static const struct {
    const char *text;
    ovl_relation relation;
} relations[] = {
    {"<=", OVL_AT_MOST}, {">=", OVL_AT_LEAST}, {"==", OVL_EQUAL},
    {"<", OVL_LESS},     {">", OVL_MORE},      {"=", OVL_EQUAL},
};

static const char *read_value(ovl_metric_kind kind, const char *text, int64_t *value)
{
    uint64_t bytes = 0;
    const char *why = NULL;
    switch (kind) {
    case OVL_METRIC_TIME:
        return ovl_read_time(text, value);
    case OVL_METRIC_BYTES:
        why = ovl_read_bytes(text, &bytes);
        *value = (int64_t)OVL_MIN(bytes, (uint64_t)INT64_MAX);
        return why;
    case OVL_METRIC_COUNTED:
        return ovl_read_count(text, value);
    }
    return "unknown";
}

bool ovl_where_read(const char *text, const char *option, ovl_where *where, ovl_errs *errs)
{
    const ovl_mark nowhere = {0};
    size_t length = strcspn(text, "<>="), name = length;
    while (name && text[name - 1] == ' ') {
        name--;
    }
    for (size_t i = 0; i < OVL_COUNT(relations); i++) {
        const char *sign = relations[i].text;
        if (strncmp(text + length, sign, strlen(sign)) != 0) {
            continue;
        }
        uint32_t metric = ovl_metric_find(ovl_arena_strndup(errs->arena, text, name), option, errs);
        if (metric == OVL_NONE) {
            return false;
        }
        *where = (ovl_where){metric, relations[i].relation, 0, text};
        const char *value = text + length + strlen(sign);
        const char *why = read_value(ovl_metrics[metric].kind, value, &where->value);
        if (why) {
            ovl_error(errs, OVL_E_USAGE, nowhere, "--%s %s: \"%s\": %s", option, text, value, why);
        }
        return why == NULL;
    }
    ovl_error(errs, OVL_E_USAGE, nowhere,
              "--%s takes a metric, a relation and a value, such as 'peak<=80GiB'; found \"%s\"",
              option, text);
    return false;
}

bool ovl_where_holds(const ovl_where *where, const ovl_figures *figures)
{
    int64_t value = figures->value[where->metric];
    if (!ovl_has_figure(figures, where->metric)) {
        return false;
    }
    switch (where->relation) {
    case OVL_LESS:
        return value < where->value;
    case OVL_AT_MOST:
        return value <= where->value;
    case OVL_EQUAL:
        return value == where->value;
    case OVL_AT_LEAST:
        return value >= where->value;
    case OVL_MORE:
        return value > where->value;
    }
    return false;
}

const char *ovl_metric_text(uint32_t metric, int64_t value, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    switch (ovl_metrics[metric].kind) {
    case OVL_METRIC_TIME:
        return ovl_arena_strdup(arena, ovl_print_time(buf, value));
    case OVL_METRIC_BYTES:
        return ovl_arena_printf(arena, "%s%s", value < 0 ? "-" : "",
                                ovl_print_bytes(buf, (uint64_t)(value < 0 ? -value : value)));
    case OVL_METRIC_COUNTED:
        break;
    }
    return ovl_arena_printf(arena, "%" PRId64, value);
}
