#include "tools/grid.h"
#include "tools/inspect_parts.h"

#include <string.h>

/* ---- cells ---- */

static const char *integer(ovl_arena *arena, int64_t value)
{
    return value < 0 ? NULL : ovl_arena_printf(arena, "%" PRId64, value);
}

static const char *bytes(ovl_arena *arena, int64_t value)
{
    char buf[OVL_UNITS_TEXT];
    return value < 0 ? NULL : ovl_arena_strdup(arena, ovl_print_bytes(buf, (uint64_t)value));
}

static const char *rate(ovl_arena *arena, double value)
{
    char buf[OVL_UNITS_TEXT];
    return value > 0 ? ovl_arena_strdup(arena, ovl_print_rate(buf, value)) : NULL;
}

static const char *time_cell(ovl_arena *arena, const ovl_scale *scale, int64_t ns)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_scale_show(buf, scale, ovl_inspect_ps(ns)));
}

/* Times of a table: the largest gives the unit, all of them the decimals. */
typedef struct times {
    OVL_VEC(int64_t) ns;
} times;

static ovl_scale scale_of(times *t)
{
    int64_t largest = 0;
    for (uint32_t i = 0; i < t->ns.len; i++) {
        largest = OVL_MAX(largest, t->ns.data[i]);
    }
    ovl_scale scale = ovl_scale_for(ovl_inspect_ps(largest));
    for (uint32_t i = 0; i < t->ns.len; i++) {
        ovl_scale_fit(&scale, ovl_inspect_ps(largest), ovl_inspect_ps(t->ns.data[i]));
    }
    ovl_vec_free(&t->ns);
    return scale;
}

/* Which device a row is of: only as much as tells it from the others. */
static const char *place(const ovl_inspection *in, uint32_t file, int64_t device, int64_t rank,
                         ovl_arena *arena)
{
    if (rank >= 0 && in->files.data[file].n_devices <= 1) {
        return ovl_arena_printf(arena, "rank %" PRId64, rank);
    }
    const char *text = ovl_arena_printf(arena, "device %" PRId64, device);
    if (rank >= 0 && in->files.data[file].rank < 0) { /* told for each device */
        text = ovl_arena_printf(arena, "rank %" PRId64 " %s", rank, text);
    }
    if (in->files.len > 1) {
        text = ovl_arena_printf(arena, "file %" PRIu32 " %s", file + 1, text);
    }
    return text;
}

static void title(ovl_out *out, const char *text, const ovl_scale *scale)
{
    ovl_out_text(out, "\n");
    ovl_out_title(out, "%s (times in %s)", text, ovl_scale_unit(scale));
}

static void left_out(ovl_out *out, uint32_t rows)
{
    if (rows > OVL_INSPECT_ROWS) {
        ovl_out_printf(out, "  and %" PRIu32 " more; --json has all\n", rows - OVL_INSPECT_ROWS);
    }
}

/* ---- tables ---- */

void ovl_inspect_steps_table(ovl_out *out, const ovl_inspection *in)
{
    static const ovl_column columns[] = {
        {"step", false, false, 0},    {"of", true, true, 0},          {"host", false, false, 0},
        {"span", false, false, 0},    {"compute", false, false, 0},   {"comm", false, false, 0},
        {"overlap", false, false, 0}, {"uncovered", false, false, 0}, {"copies", false, false, 3},
        {"idle", false, false, 0},
    };
    if (in->steps.len == 0) {
        return;
    }
    ovl_arena arena = {0};
    ovl_grid grid;
    times t = {{0}};
    for (uint32_t i = 0; i < in->steps.len; i++) {
        const ovl_inspect_step *s = &in->steps.data[i];
        ovl_vec_push(&t.ns, s->wall);
        ovl_vec_push(&t.ns, s->m.span);
        ovl_vec_push(&t.ns, s->m.compute);
        ovl_vec_push(&t.ns, s->m.comm);
    }
    ovl_scale scale = scale_of(&t);
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(in->steps.len, OVL_INSPECT_ROWS); i++) {
        const ovl_inspect_step *s = &in->steps.data[i];
        const char *cells[] = {
            integer(&arena, s->number),
            place(in, s->file, s->device, s->rank, &arena),
            time_cell(&arena, &scale, s->wall),
            time_cell(&arena, &scale, s->m.span),
            time_cell(&arena, &scale, s->m.compute),
            time_cell(&arena, &scale, s->m.comm),
            time_cell(&arena, &scale, s->m.overlap),
            time_cell(&arena, &scale, s->m.exposed),
            time_cell(&arena, &scale, s->m.mem),
            time_cell(&arena, &scale, s->m.idle),
        };
        ovl_grid_row(&grid, cells);
    }
    title(out, "Steps: what was launched during each", &scale);
    ovl_grid_end(&grid, out, 2);
    left_out(out, in->steps.len);
    ovl_arena_free(&arena);
}

void ovl_inspect_collectives_table(ovl_out *out, const ovl_inspection *in)
{
    static const ovl_column columns[] = {
        {"collective", true, true, 0}, {"of", true, true, 0},       {"group", true, true, 4},
        {"ranks", false, false, 5},    {"bytes", false, false, 0},  {"count", false, false, 0},
        {"shortest", false, false, 0}, {"median", false, false, 3}, {"longest", false, false, 0},
        {"algbw", false, false, 2},    {"busbw", false, false, 0},
    };
    if (in->collectives.len == 0) {
        return;
    }
    ovl_arena arena = {0};
    ovl_grid grid;
    times t = {{0}};
    bool any_rate = false;
    for (uint32_t i = 0; i < in->collectives.len; i++) {
        ovl_vec_push(&t.ns, in->collectives.data[i].shortest);
        ovl_vec_push(&t.ns, in->collectives.data[i].longest);
        any_rate |= in->collectives.data[i].algbw > 0;
    }
    ovl_scale scale = scale_of(&t);
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(in->collectives.len, OVL_INSPECT_ROWS); i++) {
        const ovl_inspect_collective *c = &in->collectives.data[i];
        const char *cells[] = {
            c->op,
            place(in, c->file, c->device, c->rank, &arena),
            c->group,
            integer(&arena, c->group_size),
            bytes(&arena, c->bytes),
            integer(&arena, (int64_t)c->count),
            time_cell(&arena, &scale, c->shortest),
            time_cell(&arena, &scale, c->median),
            time_cell(&arena, &scale, c->longest),
            rate(&arena, c->algbw),
            rate(&arena, c->busbw),
        };
        ovl_grid_row(&grid, cells);
    }
    title(out, "Collectives", &scale);
    ovl_grid_end(&grid, out, 2);
    left_out(out, in->collectives.len);
    if (any_rate) {
        ovl_out_text(out, "  bandwidths are those of the shortest: the others waited longer\n");
    }
    ovl_arena_free(&arena);
}

void ovl_inspect_ranks_table(ovl_out *out, const ovl_inspection *in)
{
    static const ovl_column columns[] = {
        {"rank", true, true, 0},     {"matched", false, false, 0},    {"duration", false, false, 0},
        {"= wait", false, false, 0}, {"+ transfer", false, false, 0}, {"last", false, false, 0},
        {"clock", false, false, 0},
    };
    if (in->matches.len == 0) {
        return;
    }
    ovl_arena arena = {0};
    ovl_grid grid;
    times t = {{0}};
    for (uint32_t i = 0; i < in->parties.len; i++) {
        ovl_vec_push(&t.ns, in->parties.data[i].duration);
        ovl_vec_push(&t.ns, in->parties.data[i].wait);
    }
    ovl_scale scale = scale_of(&t);
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(in->parties.len, OVL_INSPECT_ROWS); i++) {
        const ovl_inspect_party *p = &in->parties.data[i];
        const char *clock = time_cell(&arena, &scale, p->clock);
        const char *cells[] = {
            place(in, p->file, p->device, p->rank, &arena),
            integer(&arena, (int64_t)p->matched),
            time_cell(&arena, &scale, p->duration),
            time_cell(&arena, &scale, p->wait),
            time_cell(&arena, &scale, p->duration - p->wait),
            integer(&arena, (int64_t)p->last),
            p->clock > 0 ? ovl_arena_printf(&arena, "+%s", clock) : clock,
        };
        ovl_grid_row(&grid, cells);
    }
    title(out,
          ovl_arena_printf(&arena, "Ranks: %s, %s",
                           ovl_counted(&arena, in->matches.len, "matched collective"),
                           ovl_counted(&arena, in->parties.len, "rank")),
          &scale);
    ovl_grid_end(&grid, out, 2);
    left_out(out, in->parties.len);
    ovl_out_text(out, "  transfer: the shortest duration over the ranks; last: how often the rank "
                      "arrived last;\n  clock: by how much it is ahead, from the ends of the "
                      "collectives\n");
    uint32_t partial = ovl_inspect_partial(in);
    if (partial) {
        ovl_out_printf(out,
                       "  %" PRIu32 " of these collectives lack ranks of their group: waiting for "
                       "the missing ones counts as transfer,\n  an upper bound\n",
                       partial);
    }
    ovl_arena_free(&arena);
}

static int64_t longest_wait(const ovl_inspection *in, const ovl_inspect_match *m)
{
    int64_t wait = 0;
    for (uint32_t p = 0; p < in->parties.len; p++) {
        wait = OVL_MAX(wait, m->duration[p] - m->transfer);
    }
    return wait;
}

void ovl_inspect_matches_table(ovl_out *out, const ovl_inspection *in)
{
    static const ovl_column columns[] = {
        {"collective", true, true, 0}, {"group", true, true, 3},
        {"number", false, false, 0},   {"bytes", false, false, 0},
        {"transfer", false, false, 0}, {"longest wait", false, false, 0},
        {"last", true, true, 0},       {"ends within", false, false, 0},
    };
    if (in->matches.len == 0) {
        return;
    }
    ovl_arena arena = {0};
    ovl_grid grid;
    times t = {{0}};
    for (uint32_t i = 0; i < in->matches.len; i++) {
        const ovl_inspect_match *m = &in->matches.data[i];
        ovl_vec_push(&t.ns, m->transfer);
        ovl_vec_push(&t.ns, longest_wait(in, m));
    }
    ovl_scale scale = scale_of(&t);
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(in->matches.len, OVL_INSPECT_ROWS); i++) {
        const ovl_inspect_match *m = &in->matches.data[i];
        const ovl_inspect_party *last = &in->parties.data[m->last];
        const char *cells[] = {
            m->op,
            m->group,
            integer(&arena, m->number),
            bytes(&arena, m->bytes),
            ovl_arena_printf(&arena, "%s%s", m->partial ? "<= " : "",
                             time_cell(&arena, &scale, m->transfer)),
            time_cell(&arena, &scale, longest_wait(in, m)),
            place(in, last->file, last->device, last->rank, &arena),
            time_cell(&arena, &scale, m->end_skew),
        };
        ovl_grid_row(&grid, cells);
    }
    title(out, "Matched collectives", &scale);
    ovl_grid_end(&grid, out, 2);
    left_out(out, in->matches.len);
    ovl_arena_free(&arena);
}

/* The rows of a run, which stand together. */
static void run_table(ovl_out *out, const ovl_inspection *in, uint32_t first, uint32_t past)
{
    static const ovl_column columns[] = {
        {"bytes", false, false, 0},        {"type", true, false, 5},   {"redop", true, false, 6},
        {"out of place", false, false, 0}, {"algbw", false, false, 0}, {"busbw", false, false, 3},
        {"in place", false, false, 0},     {"algbw", false, false, 2}, {"busbw", false, false, 1},
        {"series", true, false, 0},
    };
    ovl_arena arena = {0};
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = first; i < OVL_MIN(past, first + OVL_INSPECT_ROWS); i++) {
        const ovl_inspect_row *r = &in->rows.data[i];
        char buf[2][OVL_UNITS_TEXT];
        const char *time[2];
        for (int k = 0; k < 2; k++) {
            time[k] =
                r->time[k] < 0
                    ? NULL
                    : ovl_arena_strdup(&arena, ovl_print_time(buf[k], ovl_inspect_ps(r->time[k])));
        }
        const char *cells[] = {
            bytes(&arena, r->bytes),
            r->type,
            r->redop,
            time[0],
            rate(&arena, r->algbw[0]),
            rate(&arena, r->busbw[0]),
            time[1],
            rate(&arena, r->algbw[1]),
            rate(&arena, r->busbw[1]),
            r->series,
        };
        ovl_grid_row(&grid, cells);
    }
    const ovl_inspect_row *of = &in->rows.data[first];
    ovl_out_printf(out, "\n  %s", of->operation ? of->operation : "operation not named");
    if (of->n_ranks >= 0) {
        ovl_out_printf(out, " over %s", ovl_counted(&arena, (uint64_t)of->n_ranks, "rank"));
    }
    ovl_out_text(out, "\n");
    ovl_grid_end(&grid, out, 2);
    left_out(out, past - first);
    ovl_arena_free(&arena);
}

void ovl_inspect_rows_table(ovl_out *out, const ovl_inspection *in, uint32_t file)
{
    for (uint32_t i = 0, past; i < in->rows.len; i = past) {
        const ovl_inspect_row *r = &in->rows.data[i];
        past = i + 1;
        while (past < in->rows.len && in->rows.data[past].file == r->file &&
               in->rows.data[past].run == r->run) {
            past++;
        }
        if (r->file == file) {
            run_table(out, in, i, past);
        }
    }
}
