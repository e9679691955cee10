#include "models/step.h"

const char *ovl_step_name(ovl_step *s, const char *what, const char *of)
{
    return s->microbatches > 1 && s->microbatch != OVL_NONE
               ? ovl_arena_printf(&s->scratch, "%s %s mb %" PRIu32, what, of, s->microbatch)
               : ovl_arena_printf(&s->scratch, "%s %s", what, of);
}

ovl_op ovl_step_op(const ovl_step *s, ovl_op_kind kind, const char *name, ovl_plan_cost cost,
                   uint16_t stream, ovl_mark mark)
{
    return (ovl_op){.kind = (uint8_t)kind,
                    .dtype = (uint8_t)s->workload->dtype,
                    .per_rank = cost.per_rank,
                    .stream = stream,
                    .comm = OVL_NO_COMM,
                    .name = ovl_name(s->b, name),
                    .cost = cost.id,
                    .batch = OVL_NONE,
                    .launch = kind == OVL_MARKER ? 0 : s->launch,
                    .mark = mark};
}

uint32_t ovl_step_add(ovl_step *s, const ovl_op *op)
{
    uint32_t local = s->added = ovl_add_op(s->b, s->code, op);
    if (op->stream == s->compute) {
        s->last = local;
    }
    return local;
}

uint32_t ovl_step_marker(ovl_step *s, const char *name, uint16_t stream, ovl_mark mark)
{
    ovl_plan_cost cost = ovl_plan_length(s->l, name, mark, (ovl_times){0});
    ovl_op op = ovl_step_op(s, OVL_MARKER, name, cost, stream, mark);
    return ovl_step_add(s, &op);
}

uint32_t ovl_step_mover(ovl_step *s, const char *name, uint16_t stream, uint64_t read,
                        uint64_t written, uint64_t rate, ovl_mark mark)
{
    if (rate == 0) {
        return ovl_step_marker(s, name, stream, mark);
    }
    ovl_time length = ovl_bytes_time(written, rate);
    ovl_kernel_spec spec = {.name = name,
                            .mark = mark,
                            .duration = {.item = &length, .count = 1},
                            .hbm = read + written,
                            .no_compute = true,
                            .klass = "copy"};
    ovl_op op = ovl_step_op(s, OVL_KERNEL, name, ovl_plan_kernel(s->l, &spec), stream, mark);
    return ovl_step_add(s, &op);
}

void ovl_step_after(ovl_step *s, uint32_t before)
{
    if (before != OVL_NONE) {
        ovl_add_after(s->b, s->code, before);
    }
}

void ovl_step_reads(ovl_step *s, ovl_id buffer)
{
    if (buffer != OVL_NONE) {
        ovl_add_access(s->b, s->code, buffer, false);
    }
}

void ovl_step_writes(ovl_step *s, ovl_id buffer)
{
    if (buffer != OVL_NONE) {
        ovl_add_access(s->b, s->code, buffer, true);
    }
}

void ovl_step_effect(ovl_step *s, ovl_effect_kind kind, ovl_id buffer, ovl_id source, double scale)
{
    ovl_add_effect(s->b, s->code,
                   &(ovl_effect){.kind = (uint8_t)kind,
                                 .buffer = buffer,
                                 .source = source,
                                 .gradient = OVL_NONE,
                                 .scale = scale});
}

/* Which ranks have parts of their own of a unit's gradients. */
static uint16_t apart(ovl_step *s, uint32_t u)
{
    if (!s->units[u].experts || !s->expert_parts) {
        return ovl_inner_apart(&s->inner);
    }
    return (uint16_t)(ovl_plan_slot(s->l, s->code, s->expert_parts) + 1);
}

void ovl_step_produces(ovl_step *s, ovl_id buffer, uint32_t u, bool first)
{
    ovl_add_effect(s->b, s->code,
                   &(ovl_effect){.kind = (uint8_t)(first ? OVL_PRODUCE : OVL_ADD),
                                 .buffer = buffer,
                                 .source = OVL_NONE,
                                 .gradient = ovl_name(s->b, s->units[u].name),
                                 .microbatch = s->microbatch,
                                 .apart = apart(s, u),
                                 .scale = 1.0 / s->averaged});
}

void ovl_step_consumes(ovl_step *s, ovl_id buffer, uint32_t u)
{
    ovl_add_effect(s->b, s->code,
                   &(ovl_effect){.kind = OVL_CONSUME,
                                 .buffer = buffer,
                                 .source = OVL_NONE,
                                 .gradient = ovl_name(s->b, s->units[u].name),
                                 .apart = apart(s, u)});
}

static ovl_buffer new_buffer(ovl_step *s, const char *name, uint64_t bytes, ovl_category category,
                             ovl_dtype dtype, uint16_t stream, ovl_mark mark)
{
    return (ovl_buffer){.name = ovl_name(s->b, name),
                        .bytes = bytes,
                        .category = (uint8_t)category,
                        .dtype = (uint8_t)dtype,
                        .stream = stream,
                        .mark = mark};
}

ovl_id ovl_step_buffer(ovl_step *s, const char *name, uint64_t bytes, ovl_category category,
                       ovl_dtype dtype, uint16_t stream, ovl_mark mark)
{
    ovl_buffer buffer = new_buffer(s, name, bytes, category, dtype, stream, mark);
    return ovl_add_buffer(s->b, s->code, &buffer);
}

ovl_id ovl_step_recorded(ovl_step *s, const char *name, uint64_t bytes, ovl_category category,
                         ovl_dtype dtype, uint16_t stream, ovl_mark mark)
{
    ovl_buffer buffer = new_buffer(s, name, bytes, category, dtype, stream, mark);
    buffer.record_stream = true;
    return ovl_add_buffer(s->b, s->code, &buffer);
}

ovl_id ovl_step_held(ovl_step *s, const char *name, uint64_t bytes, ovl_category category,
                     ovl_dtype dtype, ovl_mark mark)
{
    ovl_buffer buffer = new_buffer(s, name, bytes, category, dtype, s->compute, mark);
    buffer.held = true;
    return ovl_add_buffer(s->b, s->code, &buffer);
}

void ovl_step_release(ovl_step *s, ovl_id *buffer)
{
    if (*buffer != OVL_NONE) {
        ovl_free_buffer(s->b, s->code, *buffer);
        *buffer = OVL_NONE;
    }
}
