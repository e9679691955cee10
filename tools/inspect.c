#include "tools/inspect.h"

#include "tools/comm_names.h"

#include <string.h>

void ovl_inspect_begin(ovl_inspection *in, ovl_comm_pattern *pattern)
{
    *in = (ovl_inspection){.pattern = pattern};
    in->names.arena = &in->arena;
}

void ovl_inspect_free(ovl_inspection *in)
{
    ovl_vec_free(&in->files);
    ovl_vec_free(&in->devices);
    ovl_vec_free(&in->steps);
    ovl_vec_free(&in->collectives);
    ovl_vec_free(&in->memory);
    ovl_vec_free(&in->rows);
    ovl_vec_free(&in->parties);
    ovl_vec_free(&in->matches);
    ovl_arena_free(&in->arena);
}

/* Operations of one device stand together, by start. */
typedef struct part {
    const ovl_collected_op *ops;
    uint32_t count;
    uint16_t device;
} part;

static bool next_part(const ovl_collected *file, part *p)
{
    if (file->ops.len == 0) {
        return false;
    }
    const ovl_collected_op *end = file->ops.data + file->ops.len;
    p->ops = p->ops ? p->ops + p->count : file->ops.data;
    p->count = 0;
    if (p->ops == end) {
        return false;
    }
    p->device = p->ops->device;
    while (p->ops + p->count < end && p->ops[p->count].device == p->device) {
        p->count++;
    }
    return true;
}

static ovl_measures measure(const part *p, bool linked_only)
{
    ovl_busy busy = {0};
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->ops[i].linked || !linked_only) {
            ovl_busy_add(&busy, (ovl_busy_kind)p->ops[i].kind, p->ops[i].start, p->ops[i].end);
        }
    }
    return ovl_busy_measure(&busy);
}

static uint64_t unlinked_kernels(const part *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        n += !p->ops[i].linked && p->ops[i].kind <= OVL_BUSY_COMM;
    }
    return n;
}

ovl_idle ovl_inspect_idle(const ovl_collected_op *ops, uint32_t count, ovl_spans *syncs)
{
    ovl_idle idle = {0};
    int64_t covered = count ? ops[0].start : 0;
    for (uint32_t i = 0; i < count; i++) {
        const ovl_collected_op *op = &ops[i];
        int64_t gap = op->start - covered;
        if (gap > 0 && !op->linked) {
            idle.unknown += gap;
        } else if (gap > 0) {
            int64_t launched = OVL_MIN(OVL_MAX(op->by.launched, covered), op->start);
            int64_t sync = ovl_spans_within(syncs, covered, launched);
            idle.sync += sync;
            idle.host += launched - covered - sync;
            idle.queued += op->start - launched;
        }
        covered = OVL_MAX(covered, op->end);
    }
    return idle;
}

/* The step during which an operation was launched, or, where that is not known, began. */
static uint32_t step_of(const ovl_collected *file, const ovl_collected_op *op)
{
    int64_t t = op->linked ? op->by.launched : op->start;
    uint32_t low = 0, high = file->steps.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (file->steps.data[middle].start <= t) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low && t < file->steps.data[low - 1].end ? low - 1 : OVL_NONE;
}

static void add_steps(ovl_inspection *in, ovl_collected *file, uint32_t index, const part *p)
{
    uint32_t n = file->steps.len;
    if (n == 0) {
        return;
    }
    ovl_arena scratch = {0};
    ovl_busy *busy = OVL_NEW_ARRAY(&scratch, ovl_busy, n);
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t s = step_of(file, &p->ops[i]);
        if (s != OVL_NONE) {
            ovl_busy_add(&busy[s], (ovl_busy_kind)p->ops[i].kind, p->ops[i].start, p->ops[i].end);
        }
    }
    for (uint32_t s = 0; s < n; s++) {
        const ovl_step_range *range = &file->steps.data[s];
        ovl_inspect_step step = {
            .file = index,
            .device = file->devices.data[p->device],
            .rank = file->rank,
            .number = range->number,
            .wall = range->end - range->start,
            .m = ovl_busy_measure(&busy[s]),
        };
        ovl_vec_push(&in->steps, step);
    }
    ovl_arena_free(&scratch);
}

static void add_device(ovl_inspection *in, ovl_collected *file, uint32_t index, const part *p)
{
    ovl_inspect_device device = {
        .file = index,
        .device = file->devices.data[p->device],
        .rank = file->rank,
        .all = measure(p, false),
        .n_unlinked = unlinked_kernels(p),
        .causes = file->launches.len > 0,
    };
    device.two_views = device.causes && device.n_unlinked > 0;
    if (device.two_views) {
        device.launched = measure(p, true);
    }
    if (device.causes) {
        device.idle = ovl_inspect_idle(p->ops, p->count, &file->syncs);
    }
    ovl_vec_push(&in->devices, device);
}

/* Keeps the communication of a device for the comparison of ranks. */
static void add_party(ovl_inspection *in, const ovl_collected *file, uint32_t index, const part *p)
{
    uint32_t first = 0, count = 0;
    while (first < file->comms.len && file->comms.data[first].device != p->device) {
        first++;
    }
    while (first + count < file->comms.len && file->comms.data[first + count].device == p->device) {
        count++;
    }
    if (count == 0) {
        return;
    }
    ovl_comm_op *comms = OVL_NEW_ARRAY(&in->arena, ovl_comm_op, count);
    memcpy(comms, file->comms.data + first, count * sizeof *comms);
    ovl_inspect_party party = {
        .file = index,
        .device = file->devices.data[p->device],
        .rank = file->rank,
        .base = file->about.base,
        .comms = comms,
        .n_comms = count,
    };
    ovl_vec_push(&in->parties, party);
}

static void add_memory(ovl_inspection *in, const ovl_collected *file, uint32_t index)
{
    for (uint32_t i = 0; i < file->memory.len; i++) {
        const ovl_memory_peak *p = &file->memory.data[i];
        bool totals = p->allocated >= 0;
        ovl_inspect_memory memory = {
            .file = index,
            .type = p->type,
            .device = p->device,
            .allocated = totals ? p->allocated : p->peak_sum,
            .reserved = p->reserved > 0 ? p->reserved : -1,
            .lower_bound = !totals && file->about.format != OVL_READ_TIMELINE,
            .events = p->events,
        };
        ovl_vec_push(&in->memory, memory);
    }
}

static double rate(int64_t bytes, int64_t ns)
{
    return bytes > 0 && ns > 0 ? (double)bytes * 1e9 / (double)ns : 0;
}

static const char *text_of(const ovl_inspection *in, ovl_id id)
{
    return id == OVL_NONE ? NULL : ovl_names_text(&in->names, id);
}

static void add_rows(ovl_inspection *in, const ovl_collected *file, uint32_t index)
{
    const char *op = file->about.operation;
    double factor =
        op ? ovl_bus_factor(ovl_comm_op_name((ovl_slice){op, strlen(op)}), file->about.n_ranks) : 0;
    for (uint32_t i = 0; i < file->rows.len; i++) {
        const ovl_table_row *r = &file->rows.data[i];
        ovl_inspect_row row = {
            .file = index,
            .type = text_of(in, r->type),
            .redop = text_of(in, r->redop),
            .series = text_of(in, r->series),
            .bytes = r->bytes,
            .count = r->count,
        };
        for (int k = 0; k < 2; k++) {
            row.time[k] = r->time[k];
            row.wrong[k] = r->wrong[k];
            row.algbw[k] = rate(r->bytes, r->time[k]);
            row.busbw[k] = row.algbw[k] * factor;
        }
        ovl_vec_push(&in->rows, row);
    }
}

static void warn(const ovl_inspection *in, const ovl_collected *file, ovl_errs *errs)
{
    const ovl_mark mark = {file->path, 0, 0};
    bool trace = file->about.format != OVL_READ_NCCL_TESTS &&
                 file->about.format != OVL_READ_SIZES && file->about.format != OVL_READ_TIMELINE;
    uint64_t kernels = 0;
    for (uint32_t i = 0; i < file->ops.len; i++) {
        kernels += file->ops.data[i].kind <= OVL_BUSY_COMM;
    }
    if (trace && file->ops.len == 0) {
        ovl_warning(errs, mark, "no GPU work: the file has no kernel, copy or set");
    }
    if (kernels && file->comms.len == 0) {
        ovl_warning(errs, mark,
                    "NO COMMUNICATION FOUND: of %" PRIu64 " kernel names none matches "
                    "\"%s\", so all count as compute; --comm-pattern sets another pattern",
                    kernels, in->pattern->text);
    }
    if (file->duplicates) {
        ovl_warning(errs, mark, "%" PRIu64 " device operations are exact duplicates, counted once",
                    file->duplicates);
    }
    if (file->beyond) {
        ovl_warning(errs, mark,
                    "%" PRIu64 " operations are of devices beyond the first 4096 and "
                    "were left out",
                    file->beyond);
    }
    if (file->like_copies) {
        ovl_warning(errs, mark,
                    "%" PRIu64 " kernels are named like copies (ROCm) but count as "
                    "compute, as their category says",
                    file->like_copies);
    }
}

static const ovl_read_group *copy_groups(ovl_arena *arena, const ovl_read_about *about)
{
    ovl_read_group *groups = OVL_NEW_ARRAY(arena, ovl_read_group, about->n_groups);
    for (uint32_t i = 0; i < about->n_groups; i++) {
        const ovl_read_group *g = &about->groups[i];
        int64_t *ranks = OVL_NEW_ARRAY(arena, int64_t, g->n_ranks);
        if (g->n_ranks) {
            memcpy(ranks, g->ranks, g->n_ranks * sizeof *ranks);
        }
        groups[i] =
            (ovl_read_group){ovl_arena_strdup(arena, g->name),
                             ovl_arena_strdup(arena, g->description), g->size, ranks, g->n_ranks};
    }
    return groups;
}

static void derive(ovl_inspection *in, ovl_collected *file, ovl_errs *errs)
{
    uint32_t index = in->files.len;
    ovl_collect_link(file);
    ovl_inspect_file about = {
        .path = file->path,
        .format = file->about.format,
        .rank = file->rank,
        .world = file->about.world,
        .n_records = file->about.n_records,
        .n_ranks = file->about.n_ranks,
        .version = file->about.version ? ovl_arena_strdup(&in->arena, file->about.version) : NULL,
        .operation =
            file->about.operation ? ovl_arena_strdup(&in->arena, file->about.operation) : NULL,
        .groups = copy_groups(&in->arena, &file->about),
        .n_groups = file->about.n_groups,
    };
    for (part p = {0}; next_part(file, &p);) {
        add_device(in, file, index, &p);
        add_steps(in, file, index, &p);
        add_party(in, file, index, &p);
        about.n_devices++;
    }
    ovl_vec_push(&in->files, about);
    ovl_inspect_collectives(in, file, index);
    add_memory(in, file, index);
    add_rows(in, file, index);
    warn(in, file, errs);
}

bool ovl_inspect_add(ovl_inspection *in, const char *path, ovl_errs *errs)
{
    ovl_collected file;
    ovl_collect_begin(&file, path, in->pattern, &in->names);
    bool good = ovl_read_file(path, &file.sink, &file.about, errs);
    if (good) {
        derive(in, &file, errs);
    }
    ovl_collect_free(&file);
    return good;
}

bool ovl_inspect_bytes(ovl_inspection *in, const char *path, const void *bytes, size_t count,
                       ovl_errs *errs)
{
    ovl_collected file;
    ovl_collect_begin(&file, path, in->pattern, &in->names);
    bool good = ovl_read_in_memory(path, bytes, count, &file.sink, &file.about, errs);
    if (good) {
        derive(in, &file, errs);
    }
    ovl_collect_free(&file);
    return good;
}
