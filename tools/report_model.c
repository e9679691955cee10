#include "sim/units.h"
#include "tools/report.h"
#include "tools/wrap.h"

/* "5.45 TFLOP", by thousands. */
static const char *flops_text(ovl_arena *arena, double flops)
{
    static const char *const units[] = {"FLOP",  "kFLOP", "MFLOP", "GFLOP",
                                        "TFLOP", "PFLOP", "EFLOP"};
    uint32_t k = 0;
    for (; flops >= 999.5 && k + 1 < OVL_COUNT(units); k++) {
        flops /= 1000;
    }
    return ovl_arena_printf(arena, "%.*f %s",
                            flops < 9.995   ? 2
                            : flops < 99.95 ? 1
                                            : 0,
                            flops, units[k]);
}

const char *ovl_report_flops(ovl_arena *arena, double flops)
{
    return flops_text(arena, flops);
}

double ovl_useful_rate(const ovl_result *result)
{
    return result->step > 0 ? result->useful.flops / ((double)result->step / 1e12) : 0;
}

double ovl_useful_tokens(const ovl_result *result)
{
    const ovl_useful *u = &result->useful;
    return result->step > 0 && u->ranks
               ? (double)u->tokens / ((double)result->step / 1e12) / u->ranks
               : 0;
}

/* What the step is for, and how much of the GPU that uses. */
void ovl_report_model(ovl_out *out, const ovl_result *result)
{
    const ovl_useful *u = &result->useful;
    ovl_arena arena = {0};
    if (!(u->flops > 0) || result->step <= 0) {
        return;
    }
    double rate = ovl_useful_rate(result);
    const char *text = ovl_arena_printf(
        &arena, "%s/s on each GPU = %s in the step (what the model needs, the mean of the GPUs)",
        flops_text(&arena, rate), flops_text(&arena, u->flops));
    if (u->peak > 0) {
        text = ovl_arena_printf(&arena, "%s: %.1f %% of the%s peak of %s/s (MFU)", text,
                                100 * rate / u->peak, u->mixed ? "ir mean" : "",
                                flops_text(&arena, u->peak));
    }
    ovl_out_text(out, "\n");
    ovl_wrap(out, "model ", 6, text, OVL_TERMINAL);
    ovl_wrap(out, "      ", 6,
             ovl_arena_printf(&arena, "%s in the step: %.0f tokens/s on each GPU",
                              ovl_counted(&arena, u->tokens, "token"), ovl_useful_tokens(result)),
             OVL_TERMINAL);
    ovl_arena_free(&arena);
}

void ovl_report_model_json(ovl_json *json, const ovl_result *result)
{
    const ovl_useful *u = &result->useful;
    if (!(u->flops > 0) || result->step <= 0) {
        return;
    }
    ovl_json_object(json, "model", OVL_JSON_FLOW);
    ovl_json_uint(json, "tokens", u->tokens);
    ovl_json_double(json, "flops", u->flops);
    ovl_json_double(json, "flops_per_s", ovl_useful_rate(result));
    if (u->peak > 0) {
        ovl_json_double(json, "mfu", ovl_useful_rate(result) / u->peak);
    }
    ovl_json_double(json, "tokens_per_s", ovl_useful_tokens(result));
    ovl_json_close(json);
}
