#include "tools/inspect.h"

#include "sim/units.h"
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
    for (uint32_t i = 0; i < in->parties.len; i++) {
        ovl_sorter_free(&in->parties.data[i].comms);
    }
    ovl_vec_free(&in->parties);
    ovl_vec_free(&in->matches);
    ovl_arena_free(&in->arena);
}

/* ---- why a device was idle ---- */

/* When the host waited, walked once for each device: gaps come in order of time. */
typedef struct syncs {
    ovl_sorter *sorted;
    ovl_host_sync now, next; /* the union around now, and what comes after it */
    bool any, more;
} syncs;

static bool take_sync(syncs *s)
{
    const ovl_host_sync *sync = ovl_sorter_next(s->sorted);
    s->more = sync != NULL;
    s->next = sync ? *sync : (ovl_host_sync){0};
    return s->more;
}

/* The next piece of the union. */
static void next_sync(syncs *s)
{
    s->any = s->more;
    s->now = s->next;
    while (s->more && take_sync(s) && s->next.start <= s->now.end) {
        s->now.end = OVL_MAX(s->now.end, s->next.end);
    }
}

static syncs syncs_of(ovl_sorter *sorted)
{
    syncs s = {.sorted = sorted};
    ovl_sorter_rewind(sorted);
    take_sync(&s);
    next_sync(&s);
    return s;
}

/* The length of the union within [start, end), which begins no earlier than the last one ended. */
static int64_t syncs_within(syncs *s, int64_t start, int64_t end)
{
    int64_t length = 0;
    while (s->any && s->now.start < end) {
        length += OVL_MAX(OVL_MIN(s->now.end, end) - OVL_MAX(s->now.start, start), 0);
        if (s->now.end > end) {
            break;
        }
        next_sync(s);
    }
    return length;
}

/* ---- one device ---- */

/* What is gathered while the operations of a device pass, by start. */
typedef struct pass {
    uint16_t device;
    bool any;
    ovl_busy all, launched, *steps;
    uint64_t unlinked;
    ovl_idle idle;
    int64_t covered;
    syncs syncs;
} pass;

static void add_idle(pass *p, const ovl_collected_op *op)
{
    int64_t gap = p->any ? op->start - p->covered : 0;
    if (gap > 0 && !op->linked) {
        p->idle.unknown += gap;
    } else if (gap > 0) {
        int64_t launched = OVL_MIN(OVL_MAX(op->by.launched, p->covered), op->start);
        int64_t sync = syncs_within(&p->syncs, p->covered, launched);
        p->idle.sync += sync;
        p->idle.host += launched - p->covered - sync;
        p->idle.queued += op->start - launched;
    }
    p->covered = p->any ? OVL_MAX(p->covered, op->end) : op->end;
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

static void add_op(pass *p, const ovl_collected *file, const ovl_collected_op *op)
{
    ovl_busy_kind kind = (ovl_busy_kind)op->kind;
    uint32_t step = step_of(file, op);
    ovl_busy_add(&p->all, kind, op->start, op->end);
    if (op->linked) {
        ovl_busy_add(&p->launched, kind, op->start, op->end);
    }
    if (step != OVL_NONE) {
        ovl_busy_add(&p->steps[step], kind, op->start, op->end);
    }
    p->unlinked += !op->linked && op->kind <= OVL_BUSY_COMM;
    add_idle(p, op);
    p->any = true;
}

static void end_steps(ovl_inspection *in, const ovl_collected *file, uint32_t index, const pass *p)
{
    for (uint32_t s = 0; s < file->steps.len; s++) {
        const ovl_step_range *range = &file->steps.data[s];
        ovl_inspect_step step = {
            .file = index,
            .device = file->devices.data[p->device],
            .rank = ovl_collect_rank(file, p->device),
            .number = range->number,
            .wall = range->end - range->start,
            .m = ovl_busy_measure(&p->steps[s]),
        };
        ovl_vec_push(&in->steps, step);
    }
}

static void end_device(ovl_inspection *in, const ovl_collected *file, uint32_t index, const pass *p)
{
    ovl_inspect_device device = {
        .file = index,
        .device = file->devices.data[p->device],
        .rank = ovl_collect_rank(file, p->device),
        .all = ovl_busy_measure(&p->all),
        .n_unlinked = p->unlinked,
        .causes = file->launches.count > 0,
    };
    device.two_views = device.causes && device.n_unlinked > 0;
    if (device.two_views) {
        device.launched = ovl_busy_measure(&p->launched);
    }
    if (device.causes) {
        device.idle = p->idle;
    }
    ovl_vec_push(&in->devices, device);
    end_steps(in, file, index, p);
}

/* Operations stand by device and start. */
static uint32_t add_devices(ovl_inspection *in, ovl_collected *file, uint32_t index)
{
    ovl_arena scratch = {0};
    pass p = {.steps = OVL_NEW_ARRAY(&scratch, ovl_busy, file->steps.len)};
    uint32_t n = 0;
    for (const ovl_collected_op *op; (op = ovl_sorter_next(&file->ops)) != NULL;) {
        if (p.any && op->device != p.device) {
            end_device(in, file, index, &p);
            p.any = false;
        }
        if (!p.any) {
            if (file->steps.len) {
                memset(p.steps, 0, file->steps.len * sizeof *p.steps);
            }
            p = (pass){.device = op->device, .steps = p.steps, .syncs = syncs_of(&file->syncs)};
            n++;
        }
        add_op(&p, file, op);
    }
    if (p.any) {
        end_device(in, file, index, &p);
    }
    ovl_arena_free(&scratch);
    return n;
}

/* Keeps the communication of each device for the comparison of ranks. */
static void add_parties(ovl_inspection *in, ovl_collected *file, uint32_t index)
{
    ovl_comm_op op;
    int32_t device = -1;
    for (bool more = ovl_collect_first_comm(file, &op); more;
         more = ovl_collect_next_comm(file, &op)) {
        if (op.device != device) {
            ovl_inspect_party party = {
                .file = index,
                .device = file->devices.data[op.device],
                .rank = ovl_collect_rank(file, op.device),
                .base = file->about.base,
                .numbered = true,
            };
            device = op.device;
            ovl_inspect_party_begin(&party, in->parties.len);
            ovl_vec_push(&in->parties, party);
        }
        ovl_inspect_party_add(&in->parties.data[in->parties.len - 1], &op);
    }
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
    for (uint32_t i = 0; i < file->rows.len; i++) {
        const ovl_table_row *r = &file->rows.data[i];
        ovl_inspect_row row = {
            .file = index,
            .run = r->run,
            .operation = r->operation == OVL_NONE ? in->files.data[index].operation
                                                  : text_of(in, r->operation),
            .n_ranks = r->n_ranks > 0 ? r->n_ranks : file->about.n_ranks,
            .type = text_of(in, r->type),
            .redop = text_of(in, r->redop),
            .series = text_of(in, r->series),
            .bytes = r->bytes,
            .count = r->count,
        };
        const char *op = row.operation;
        double factor =
            op ? ovl_bus_factor(ovl_comm_op_name((ovl_slice){op, strlen(op)}), row.n_ranks) : 0;
        for (int k = 0; k < 2; k++) {
            row.time[k] = r->time[k];
            row.wrong[k] = r->wrong[k];
            row.algbw[k] = rate(r->bytes, r->time[k]);
            row.busbw[k] = row.algbw[k] * factor;
        }
        ovl_vec_push(&in->rows, row);
    }
}

/* Rows of nccl-tests whose data were checked and wrong. */
static void warn_wrong(const ovl_collected *file, ovl_errs *errs)
{
    const ovl_table_row *first = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < file->rows.len; i++) {
        const ovl_table_row *r = &file->rows.data[i];
        if (r->wrong[0] > 0 || r->wrong[1] > 0) {
            first = first ? first : r;
            n++;
        }
    }
    if (n) {
        ovl_warning(errs, (ovl_mark){file->path, 0, 0},
                    "%" PRIu32 " of %" PRIu32 " rows moved wrong data (#wrong is above 0), the "
                    "first of %" PRId64 " bytes: do not trust their times",
                    n, file->rows.len, first->bytes);
    }
}

static void warn(const ovl_inspection *in, const ovl_collected *file, uint32_t index,
                 ovl_errs *errs)
{
    const ovl_mark mark = {file->path, 0, 0};
    bool trace = file->about.format != OVL_READ_NCCL_TESTS &&
                 file->about.format != OVL_READ_SIZES && file->about.format != OVL_READ_TIMELINE;
    uint64_t kernels = 0;
    for (uint32_t i = in->devices.len; i > 0 && in->devices.data[i - 1].file == index; i--) {
        kernels += in->devices.data[i - 1].all.kernels;
    }
    warn_wrong(file, errs);
    if (trace && file->ops.count == 0) {
        ovl_warning(errs, mark, "no GPU work: the file has no kernel, copy or set");
    }
    if (kernels && file->comms.count == 0) {
        ovl_warning(errs, mark,
                    "NO COMMUNICATION FOUND: of the names of %s none matches "
                    "\"%s\", so all count as compute; --comm-pattern sets another pattern",
                    ovl_counted(errs->arena, kernels, "kernel"), in->pattern->text);
    }
    if (file->duplicates) {
        ovl_warning(errs, mark, "exact duplicates, counted once: %s",
                    ovl_counted(errs->arena, file->duplicates, "device operation"));
    }
    if (file->beyond) {
        ovl_warning(errs, mark, "%s of devices beyond the first 4096 left out",
                    ovl_counted(errs->arena, file->beyond, "operation"));
    }
    if (file->like_copies) {
        ovl_warning(errs, mark,
                    "%s, named like copies (ROCm), count as compute, as their category says",
                    ovl_counted(errs->arena, file->like_copies, "kernel"));
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

static bool derive(ovl_inspection *in, ovl_collected *file, ovl_errs *errs)
{
    uint32_t index = in->files.len;
    if (!ovl_collect_link(file, errs)) {
        return false;
    }
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
    about.n_devices = add_devices(in, file, index);
    ovl_vec_push(&in->files, about);
    add_parties(in, file, index);
    ovl_inspect_collectives(in, file, index);
    add_memory(in, file, index);
    add_rows(in, file, index);
    warn(in, file, index, errs);
    return true;
}

bool ovl_inspect_add(ovl_inspection *in, const char *path, ovl_errs *errs)
{
    ovl_collected file;
    ovl_collect_begin(&file, path, in->pattern, &in->names);
    bool good = ovl_read_file(path, &file.sink, &file.about, errs) && derive(in, &file, errs);
    ovl_collect_free(&file);
    return good;
}

bool ovl_inspect_bytes(ovl_inspection *in, const char *path, const void *bytes, size_t count,
                       ovl_errs *errs)
{
    ovl_collected file;
    ovl_collect_begin(&file, path, in->pattern, &in->names);
    bool good = ovl_read_in_memory(path, bytes, count, &file.sink, &file.about, errs) &&
                derive(in, &file, errs);
    ovl_collect_free(&file);
    return good;
}
