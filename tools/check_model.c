#include "tools/facts.h"
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/wrap.h"

static const char *bytes_text(ovl_arena *arena, uint64_t bytes)
{
    char buf[OVL_UNITS_TEXT];
    return bytes ? ovl_arena_strdup(arena, ovl_print_bytes(buf, bytes)) : NULL;
}

static const char *pass_text(ovl_arena *arena, double flops, ovl_time time)
{
    char buf[OVL_UNITS_TEXT];
    return time ? ovl_arena_printf(arena, "%s, %s", ovl_report_flops(arena, flops),
                                   ovl_print_time(buf, time))
                : NULL;
}

/* Where routing is uneven, from the rank with least to that with most. */
static const char *kept_text(ovl_arena *arena, const ovl_model_line *line)
{
    const char *most = bytes_text(arena, line->kept);
    return line->least_kept == line->kept
               ? most
               : ovl_arena_printf(arena, "%s to %s", bytes_text(arena, line->least_kept), most);
}

static bool is_uneven(const ovl_lowered *lowered)
{
    bool uneven = false;
    for (uint32_t i = 0; i < lowered->n_model; i++) {
        uneven |= lowered->model[i].least_kept < lowered->model[i].kept;
    }
    return uneven;
}

static void row(ovl_grid *grid, const ovl_model_line *line, ovl_arena *arena)
{
    const char *cells[] = {
        line->name,
        ovl_arena_printf(arena, "%" PRId64, line->repeat),
        ovl_arena_printf(arena, "%" PRIu64, line->params),
        pass_text(arena, line->forward_flops, line->forward),
        pass_text(arena, line->again_flops, line->again),
        pass_text(arena, line->backward_flops, line->backward),
        kept_text(arena, line),
        bytes_text(arena, line->tp_bytes),
        bytes_text(arena, line->cp_bytes),
        bytes_text(arena, line->ep_bytes),
        bytes_text(arena, line->across_bytes),
    };
    ovl_grid_row(grid, cells);
}

void ovl_check_model_text(ovl_out *out, const ovl_lowered *lowered)
{
    static const ovl_column columns[] = {
        {"layer", true, true, 0},    {"of them", false, false, 0}, {"parameters", false, false, 0},
        {"forward", true, false, 0}, {"again", true, false, 0},    {"backward", true, false, 0},
        {"kept", false, false, 0},   {"in tp", false, false, 0},   {"in cp", false, false, 0},
        {"in ep", false, false, 0},  {"across", false, false, 0},
    };
    ovl_arena arena = {0};
    if (lowered->n_model == 0) {
        return;
    }
    ovl_out_title(out, "\nModel on one rank, for a microbatch of %" PRIu64 " tokens",
                  lowered->model_tokens);
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < lowered->n_model; i++) {
        row(&grid, &lowered->model[i], &arena);
    }
    ovl_grid_end(&grid, out, 2);
    ovl_wrap(out, "  ", 2,
             ovl_arena_printf(&arena,
                              "%.0f parameters of all layers on a rank; %s in a step on each GPU "
                              "without what is computed again. FLOPs: Narayanan et al., SC 2021; "
                              "bytes kept from forward to backward: Korthikanti et al., MLSys "
                              "2023. again: what recomputation runs. in tp, in cp, in ep, "
                              "across: payload of collectives and ring steps of all passes%s",
                              lowered->model_params,
                              ovl_report_flops(&arena, lowered->useful.flops),
                              is_uneven(lowered) ? ". Routing is uneven: FLOPs, times and payload "
                                                   "are those of a rank that gets the mean; kept: "
                                                   "on the ranks with least and most"
                                                 : ""),
             OVL_TERMINAL);
    ovl_arena_free(&arena);
}

static void pass(ovl_json *json, const char *key, double flops, ovl_time time)
{
    if (time) {
        ovl_json_object(json, key, OVL_JSON_FLOW);
        ovl_json_double(json, "flops", flops);
        ovl_json_seconds(json, "time_s", time);
        ovl_json_close(json);
    }
}

static void line(ovl_json *json, const ovl_model_line *l)
{
    ovl_json_object(json, NULL, OVL_JSON_BLOCK);
    ovl_json_text(json, "name", l->name);
    ovl_json_int(json, "layers", l->repeat);
    ovl_json_uint(json, "params", l->params);
    pass(json, "forward", l->forward_flops, l->forward);
    pass(json, "recompute", l->again_flops, l->again);
    pass(json, "backward", l->backward_flops, l->backward);
    ovl_json_uint(json, "kept_bytes", l->kept);
    ovl_json_uint(json, "activation_bytes", l->activations);
    ovl_json_uint(json, "tp_bytes", l->tp_bytes);
    ovl_json_uint(json, "cp_bytes", l->cp_bytes);
    ovl_json_uint(json, "ep_bytes", l->ep_bytes);
    ovl_json_uint(json, "across_bytes", l->across_bytes);
    if (l->least_kept < l->kept) {
        ovl_json_uint(json, "least_kept_bytes", l->least_kept);
    }
    ovl_json_close(json);
}

void ovl_check_model_json(ovl_json *json, const ovl_lowered *lowered)
{
    if (lowered->n_model == 0) {
        return;
    }
    ovl_json_object(json, "model", OVL_JSON_BLOCK);
    ovl_json_uint(json, "microbatch_tokens", lowered->model_tokens);
    ovl_json_uint(json, "step_tokens", lowered->useful.tokens);
    ovl_json_double(json, "flops", lowered->useful.flops);
    ovl_json_array(json, "layers", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < lowered->n_model; i++) {
        line(json, &lowered->model[i]);
    }
    ovl_json_close(json);
    ovl_json_close(json);
}
