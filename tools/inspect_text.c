/* An inspection as text: each file with its devices, and then the tables. */
#include "tools/inspect_parts.h"
#include "tools/wrap.h"

ovl_time ovl_inspect_ps(int64_t ns)
{
    const int64_t most = OVL_TIME_MAX / OVL_NS;
    return OVL_MIN(OVL_MAX(ns, -most), most) * OVL_NS;
}

#define MOST_GROUPS 8  /* process groups that are printed */
#define MOST_RUNS   16 /* of their ranks */

static void heading(ovl_out *out, const ovl_inspect_file *f, ovl_arena *arena)
{
    const char *text = ovl_arena_printf(arena, "%s, %s", ovl_read_format_name(f->format),
                                        ovl_counted(arena, f->n_records, "record"));
    if (f->version) {
        text = ovl_arena_printf(arena, "%s, schema %s", text, f->version);
    }
    if (f->rank >= 0 && f->world >= 0) {
        text = ovl_arena_printf(arena, "%s, rank %" PRId64 " of %" PRId64, text, f->rank, f->world);
    } else if (f->rank >= 0) {
        text = ovl_arena_printf(arena, "%s, rank %" PRId64, text, f->rank);
    }
    ovl_out_title(out, "%s", f->path);
    ovl_wrap(out, "  ", 2, text, OVL_TERMINAL);
}

/* "0-7, 16": runs of ranks that follow one another. */
static const char *ranks_of(const ovl_read_group *g, ovl_arena *arena)
{
    const char *text = "";
    uint32_t next, runs = 0;
    for (uint32_t i = 0; i < g->n_ranks; i = next) {
        for (next = i + 1; next < g->n_ranks && g->ranks[next] - 1 == g->ranks[next - 1]; next++) {
        }
        if (++runs > MOST_RUNS) {
            return ovl_arena_printf(arena, "%s, ...", text);
        }
        text = ovl_arena_printf(arena, "%s%s%" PRId64, text, i ? ", " : "", g->ranks[i]);
        if (next - i > 1) {
            text = ovl_arena_printf(arena, "%s-%" PRId64, text, g->ranks[next - 1]);
        }
    }
    return text;
}

static void groups(ovl_out *out, const ovl_inspect_file *f, ovl_arena *arena)
{
    for (uint32_t i = 0; i < OVL_MIN(f->n_groups, MOST_GROUPS); i++) {
        const ovl_read_group *g = &f->groups[i];
        const char *text = ovl_arena_printf(arena, "process group %s", g->name);
        if (*g->description) {
            text = ovl_arena_printf(arena, "%s (%s)", text, g->description);
        }
        if (g->size >= 0) {
            text = ovl_arena_printf(arena, "%s: %s", text,
                                    ovl_counted(arena, (uint64_t)g->size, "rank"));
        }
        if (g->n_ranks) {
            text = ovl_arena_printf(arena, "%s, %s", text, ranks_of(g, arena));
        }
        ovl_wrap(out, "  ", 2, text, OVL_TERMINAL);
    }
    if (f->n_groups > MOST_GROUPS) {
        ovl_out_printf(out, "  and %" PRIu32 " more process groups: --json lists them\n",
                       f->n_groups - MOST_GROUPS);
    }
}

/* One term of the sum that is the span. */
typedef struct term {
    const char *name;
    ovl_time time;
    const char *note; /* or NULL */
} term;

static void print_term(ovl_out *out, const ovl_scale *scale, char sign, const term *t)
{
    char buf[OVL_UNITS_TEXT];
    ovl_out_printf(out, "  %c %-22s %12s %s", sign, t->name, ovl_scale_show(buf, scale, t->time),
                   ovl_scale_unit(scale));
    ovl_out_printf(out, "%s%s\n", t->note ? "   " : "", t->note ? t->note : "");
}

static const char *shown(const ovl_scale *scale, int64_t ns, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_printf(arena, "%s %s", ovl_scale_short(buf, scale, ovl_inspect_ps(ns)),
                            ovl_scale_unit(scale));
}

static const char *comm_note(const ovl_measures *m, const ovl_scale *scale, ovl_arena *arena)
{
    if (m->comm_kernels == 0) {
        return "no communication";
    }
    double hidden = m->comm ? 100.0 * (double)m->overlap / (double)m->comm : 0;
    return ovl_arena_printf(arena, "%s busy, %s of it under compute (%.1f %%)",
                            shown(scale, m->comm, arena), shown(scale, m->overlap, arena), hidden);
}

static ovl_scale scale_of(const ovl_measures *m)
{
    const ovl_time times[] = {ovl_inspect_ps(m->span)};
    ovl_scale scale = ovl_scale_of(times, 1);
    const int64_t parts[] = {m->compute, m->comm, m->overlap, m->exposed, m->mem, m->idle};
    for (size_t i = 0; i < OVL_COUNT(parts); i++) {
        ovl_scale_fit(&scale, times[0], ovl_inspect_ps(parts[i]));
    }
    return scale;
}

/* span = compute + uncovered + copies alone + idle, rounded so that it still adds up. */
static void sum(ovl_out *out, const ovl_measures *m, ovl_arena *arena)
{
    ovl_scale scale = scale_of(m);
    ovl_time times[] = {ovl_inspect_ps(m->compute), ovl_inspect_ps(m->exposed),
                        ovl_inspect_ps(m->mem_alone), ovl_inspect_ps(m->idle)};
    ovl_time total = ovl_inspect_ps(m->span);
    if (times[0] + times[1] + times[2] + times[3] == total) { /* not beyond what is shown */
        total = ovl_scale_terms(&scale, total, times, 4);
    }
    const term terms[] = {
        {"compute", times[0], NULL},
        {"uncovered communication", times[1], comm_note(m, &scale, arena)},
        {"copies and sets alone", times[2],
         ovl_arena_printf(arena, "%s busy", shown(&scale, m->mem, arena))},
        {"idle", times[3], NULL},
        {"span", total, NULL},
    };
    for (size_t i = 0; i < OVL_COUNT(terms); i++) {
        print_term(out, &scale, " +++="[i], &terms[i]);
    }
}

static void causes(ovl_out *out, const ovl_inspect_device *d, ovl_arena *arena)
{
    const ovl_idle *idle = &d->idle;
    const struct {
        int64_t time;
        const char *why;
    } parts[] = {
        {idle->host, "before the launch of what came next"},
        {idle->sync, "the same, while the host waited for a device"},
        {idle->queued, "between launch and start"},
        {idle->unknown, "before what has no launch in the file"},
    };
    ovl_scale scale = scale_of(&d->all);
    const char *text = NULL;
    for (size_t i = 0; i < OVL_COUNT(parts); i++) {
        if (parts[i].time) {
            text = ovl_arena_printf(arena, "%s%s%s %s", text ? text : "", text ? "; " : "",
                                    shown(&scale, parts[i].time, arena), parts[i].why);
        }
    }
    if (text) {
        ovl_wrap(out, "  idle: ", 8, text, OVL_TERMINAL);
    }
}

static void second_view(ovl_out *out, const ovl_inspect_device *d, ovl_arena *arena)
{
    const ovl_measures *m = &d->launched;
    ovl_scale scale = scale_of(&d->all);
    const char *text = ovl_arena_printf(
        arena,
        "kernels without a launch in the file: %" PRIu64 "; without them: span %s, compute %s, "
        "communication %s of which %s uncovered, copies and sets %s, idle %s",
        d->n_unlinked, shown(&scale, m->span, arena), shown(&scale, m->compute, arena),
        shown(&scale, m->comm, arena), shown(&scale, m->exposed, arena),
        shown(&scale, m->mem, arena), shown(&scale, m->idle, arena));
    ovl_wrap(out, "  ", 2, text, OVL_TERMINAL);
}

static void device(ovl_out *out, const ovl_inspect_device *d, ovl_arena *arena)
{
    const ovl_measures *m = &d->all;
    ovl_out_printf(out,
                   "\n  device %" PRId64 ": kernels %" PRIu64 " (communication %" PRIu64
                   "), copies %" PRIu64 ", sets %" PRIu64 "\n",
                   d->device, m->kernels, m->comm_kernels, m->copies, m->sets);
    sum(out, m, arena);
    if (d->causes) {
        causes(out, d, arena);
    }
    if (d->two_views) {
        second_view(out, d, arena);
    }
}

static const char *memory_device(const ovl_inspect_memory *m, ovl_arena *arena)
{
    return m->type == 0    ? "CPU"
           : m->device < 0 ? "memory"
                           : ovl_arena_printf(arena, "device %" PRId64, m->device);
}

static void memory(ovl_out *out, const ovl_inspect_memory *m, ovl_arena *arena)
{
    char buf[OVL_UNITS_TEXT];
    const char *text = ovl_arena_printf(arena, "%s: %s%s allocated at the peak",
                                        memory_device(m, arena), m->lower_bound ? "at least " : "",
                                        ovl_print_bytes(buf, (uint64_t)OVL_MAX(m->allocated, 0)));
    if (m->reserved >= 0) {
        text = ovl_arena_printf(arena, "%s, %s reserved", text,
                                ovl_print_bytes(buf, (uint64_t)m->reserved));
    }
    if (m->lower_bound) {
        text = ovl_arena_printf(arena, "%s (what was allocated before the file is not seen)", text);
    }
    ovl_wrap(out, "  ", 4, ovl_arena_printf(arena, "%s; changes: %" PRIu64, text, m->events),
             OVL_TERMINAL);
}

static void file(ovl_out *out, const ovl_inspection *in, uint32_t index)
{
    ovl_arena arena = {0};
    const ovl_inspect_file *f = &in->files.data[index];
    heading(out, f, &arena);
    groups(out, f, &arena);
    for (uint32_t i = 0; i < in->devices.len; i++) {
        if (in->devices.data[i].file == index) {
            device(out, &in->devices.data[i], &arena);
        }
    }
    bool trace = f->format != OVL_READ_NCCL_TESTS && f->format != OVL_READ_SIZES &&
                 f->format != OVL_READ_TIMELINE;
    if (trace && f->n_devices == 0) {
        ovl_out_text(out, "  no GPU work\n");
    }
    for (uint32_t i = 0; i < in->memory.len; i++) {
        if (in->memory.data[i].file == index) {
            memory(out, &in->memory.data[i], &arena);
        }
    }
    ovl_inspect_rows_table(out, in, index);
    ovl_arena_free(&arena);
}

void ovl_inspect_text(ovl_out *out, const ovl_inspection *in)
{
    for (uint32_t i = 0; i < in->files.len; i++) {
        ovl_out_text(out, i ? "\n" : "");
        file(out, in, i);
    }
    ovl_inspect_steps_table(out, in);
    ovl_inspect_collectives_table(out, in);
    ovl_inspect_ranks_table(out, in);
    ovl_inspect_matches_table(out, in);
}
