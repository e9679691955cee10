/* What a pipeline is made of, for `ovl check`: its schedule, PyTorch's count of unit steps, and
 * what its hops cost. */
#include "models/schedule_lower.h"
#include "tools/facts.h"
#include "tools/grid.h"
#include "tools/wrap.h"

#define MOST_HOPS 20

/* Steps if each action takes one, with PyTorch's sends and receives where the list has none; 0 if
 * these cannot be placed. */
static uint32_t unit_steps(const ovl_schedule *schedule)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_schedule s = *schedule;
    bool placed = ovl_schedule_has(&s, OVL_ACT_SEND_F, OVL_ACT_RECV_B) ||
                  ovl_schedule_send_recv(&s, &s, (ovl_mark){0}, &arena, &errs);
    uint32_t steps = placed ? ovl_schedule_steps(&s, (ovl_mark){0}, &errs) : 0;
    ovl_arena_free(&arena);
    return steps;
}

static const char *schedule_name(const ovl_check *check)
{
    const ovl_pipeline *pipe = &check->prepared->scenario.pipeline;
    return pipe->schedule ? pipe->schedule : "as listed";
}

static void hop_row(ovl_grid *grid, const ovl_hop_line *h, ovl_arena *arena)
{
    char bytes[OVL_UNITS_TEXT], latency[OVL_UNITS_TEXT], transfer[OVL_UNITS_TEXT];
    const char *cells[] = {
        ovl_arena_printf(arena, "%" PRIu32 " to %" PRIu32, h->stage, h->stage + 1),
        ovl_arena_printf(arena, "%" PRIu32 " to %" PRIu32, h->from, h->to),
        h->several_nodes ? "between nodes" : "in a node",
        h->bytes ? ovl_arena_strdup(arena, ovl_print_bytes(bytes, h->bytes)) : NULL,
        h->latency + h->transfer == 0
            ? "free"
            : ovl_arena_printf(arena, "%s + %s", ovl_print_time(latency, h->latency),
                               ovl_print_time(transfer, h->transfer)),
        ovl_arena_printf(arena, "%" PRIu32, h->count),
    };
    ovl_grid_row(grid, cells);
}

static void hops(ovl_out *out, const ovl_lowered *lowered, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"from stage", true, false, 0},         {"from rank", true, false, 0},
        {"the hop is", true, false, 0},         {"bytes", false, false, 0},
        {"latency + transfer", true, false, 0}, {"such hops", false, false, 0},
    };
    ovl_grid grid;
    if (lowered->n_hops == 0) {
        return;
    }
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(lowered->n_hops, MOST_HOPS); i++) {
        hop_row(&grid, &lowered->hops[i], arena);
    }
    ovl_grid_end(&grid, out, 2);
    if (lowered->n_hops > MOST_HOPS) {
        ovl_out_printf(out, "  ... and %" PRIu32 " more: --json\n", lowered->n_hops - MOST_HOPS);
    }
}

void ovl_check_pipeline_text(ovl_out *out, const ovl_check *check, ovl_arena *arena)
{
    const ovl_lowered *lowered = &check->prepared->lowered;
    const ovl_schedule *s = lowered->schedule;
    if (!s) {
        return;
    }
    uint32_t steps = unit_steps(s);
    ovl_out_title(out, "\nPipeline");
    const char *head = ovl_arena_printf(arena, "schedule %s: %s on %s, %s", schedule_name(check),
                                        ovl_counted(arena, s->n_stages, "stage"),
                                        ovl_counted(arena, s->n_ranks, "rank"),
                                        ovl_counted(arena, s->n_microbatches, "microbatch"));
    ovl_wrap(out, "  ", 4,
             steps ? ovl_arena_printf(arena,
                                      "%s; %s if every action takes one, sends and "
                                      "receives, too (PyTorch's simulation of a schedule)",
                                      head, ovl_counted(arena, steps, "step"))
                   : head,
             OVL_TERMINAL);
    hops(out, lowered, arena);
}

static void hop_json(ovl_json *json, const ovl_hop_line *h)
{
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_uint(json, "stage", h->stage);
    ovl_json_uint(json, "from", h->from);
    ovl_json_uint(json, "to", h->to);
    ovl_json_bool(json, "leaves_node", h->several_nodes);
    ovl_json_uint(json, "bytes", h->bytes);
    ovl_json_seconds(json, "latency_s", h->latency);
    ovl_json_seconds(json, "transfer_s", h->transfer);
    ovl_json_uint(json, "count", h->count);
    ovl_json_close(json);
}

void ovl_check_pipeline_json(ovl_json *json, const ovl_check *check)
{
    const ovl_lowered *lowered = &check->prepared->lowered;
    const ovl_schedule *s = lowered->schedule;
    if (!s) {
        return;
    }
    uint32_t steps = unit_steps(s);
    ovl_json_object(json, "pipeline", OVL_JSON_BLOCK);
    ovl_json_text_if(json, "schedule", check->prepared->scenario.pipeline.schedule);
    ovl_json_uint(json, "ranks", s->n_ranks);
    ovl_json_uint(json, "stages", s->n_stages);
    ovl_json_uint(json, "microbatches", s->n_microbatches);
    if (steps) {
        ovl_json_uint(json, "unit_steps", steps);
    }
    ovl_json_array(json, "hops", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < lowered->n_hops; i++) {
        hop_json(json, &lowered->hops[i]);
    }
    ovl_json_close(json);
    ovl_json_close(json);
}
