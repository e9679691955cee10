/*
 * step_kept.c - what is kept from a forward to its backward: activations, or the input that they
 * are recomputed from, on the GPU or offloaded to the host.
 *
 * Recomputing keeps `checkpoint` bytes; the activations live during the forward and again from a
 * second forward to the backward. Offloading copies what is kept to the host as soon as it is
 * there, and frees it a few units later, once compute waits for the copy; in the backward a new
 * buffer is filled `reload_distance` units ahead. What was not yet freed by then is used as it is.
 */
#include "models/step.h"

static ovl_step_kept *kept_of(const ovl_step *s, uint32_t u)
{
    return &s->kept[(size_t)s->microbatch * s->n_units + u];
}

static ovl_id buffer(ovl_step *s, const ovl_step_unit *unit, const char *what, ovl_sizes sizes)
{
    ovl_buffer kept = {.name = ovl_name(s->b, ovl_step_name(s, what, unit->name)),
                       .category = OVL_ACTIVATION,
                       .dtype = (uint8_t)s->workload->dtype,
                       .stream = s->compute,
                       .mark = unit->mark};
    ovl_plan_size(s->l, unit->name, sizes, &kept);
    return kept.bytes ? ovl_add_buffer(s->b, s->code, &kept) : OVL_NONE;
}

static ovl_id activations(ovl_step *s, const ovl_step_unit *unit)
{
    return buffer(s, unit, "activations", unit->activation);
}

static ovl_id checkpoint(ovl_step *s, const ovl_step_unit *unit)
{
    return buffer(s, unit, "checkpoint", unit->layer->checkpoint);
}

/* --- Forward --- */

void ovl_step_keep(ovl_step *s, uint32_t u)
{
    const ovl_step_unit *unit = &s->units[u];
    ovl_step_kept *kept = kept_of(s, u);
    if (unit->layer->recompute) {
        kept->buffer = checkpoint(s, unit);
        kept->activations = activations(s, unit);
    } else {
        kept->buffer = activations(s, unit);
    }
}

void ovl_step_in_kept(ovl_step *s, uint32_t u)
{
    const ovl_step_kept *kept = kept_of(s, u);
    ovl_step_writes(s, kept->buffer);
    ovl_step_writes(s, kept->activations);
}

/* Compute waits for the copies of the oldest units beyond so many, then they are freed. The
 * operation that waits is a marker, for nothing else may stand at this place. */
static void wait_for_copy(ovl_step *s, uint32_t which)
{
    const ovl_step_unit *unit = &s->units[which % s->n_units];
    ovl_step_marker(s, ovl_step_name(s, "offloaded", unit->name), s->compute, unit->mark);
    ovl_step_after(s, s->kept[which].offload);
}

static void free_offloaded(ovl_step *s, uint32_t most)
{
    while (s->offloads.len > most) {
        wait_for_copy(s, s->offloads.data[0]);
        ovl_step_release(s, &s->kept[s->offloads.data[0]].buffer);
        s->offloads.len--;
        memmove(s->offloads.data, s->offloads.data + 1, s->offloads.len * sizeof *s->offloads.data);
    }
}

static uint64_t kept_bytes(const ovl_step_unit *unit)
{
    return unit->layer->recompute ? unit->layer->checkpoint.most : unit->activation.most;
}

static uint32_t copy(ovl_step *s, const ovl_step_unit *unit, const char *word, int direction)
{
    const ovl_offload *offload = &s->workload->offload;
    const char *name = ovl_arena_printf(s->l->arena, "%s %s", word, unit->name);
    ovl_comm_spec spec = {.name = name,
                          .mark = unit->mark,
                          .op = OVL_SEND_RECV,
                          .has_bytes = true,
                          .bytes = kept_bytes(unit),
                          .has_beta = true,
                          .beta = direction ? offload->h2d : offload->d2h,
                          .via = offload->via,
                          .hbm = kept_bytes(unit)};
    ovl_op op =
        ovl_step_op(s, OVL_COPY, ovl_step_name(s, word, unit->name),
                    ovl_plan_copy(s->l, &spec, direction), direction ? s->h2d : s->d2h, unit->mark);
    op.bytes = spec.bytes;
    return ovl_step_add(s, &op);
}

void ovl_step_kept_forward(ovl_step *s, uint32_t u)
{
    const ovl_step_unit *unit = &s->units[u];
    ovl_step_kept *kept = kept_of(s, u);
    ovl_step_release(s, &kept->activations);
    if (!unit->layer->offload || kept->buffer == OVL_NONE) {
        return;
    }
    uint32_t computed = s->last;
    kept->offload = copy(s, unit, "offload", 0);
    ovl_step_after(s, computed);
    ovl_step_reads(s, kept->buffer);
    ovl_vec_push(&s->offloads, (uint32_t)(kept - s->kept));
    free_offloaded(s, (uint32_t)s->workload->offload.in_flight);
}

/* --- Backward --- */

/* Into a new buffer, behind all compute issued so far: it must not run ahead of the distance. */
static void reload(ovl_step *s, uint32_t u)
{
    const ovl_step_unit *unit = &s->units[u];
    ovl_step_kept *kept = kept_of(s, u);
    if (kept->offload == OVL_NONE || kept->buffer != OVL_NONE) {
        return;
    }
    kept->buffer =
        ovl_step_buffer(s, ovl_step_name(s, "reloaded", unit->name), kept_bytes(unit),
                        OVL_ACTIVATION, (ovl_dtype)s->workload->dtype, s->h2d, unit->mark);
    kept->reload = copy(s, unit, "reload", 1);
    ovl_step_after(s, kept->offload);
    ovl_step_after(s, s->last);
    ovl_step_writes(s, kept->buffer);
}

void ovl_step_need(ovl_step *s, uint32_t u)
{
    uint32_t distance = (uint32_t)s->workload->offload.reload_distance;
    for (uint32_t i = 0; i <= distance && i <= u; i++) {
        reload(s, u - i);
    }
}

/* The kernel that was just added reads what was kept. */
static void read_kept(ovl_step *s, const ovl_step_kept *kept)
{
    ovl_step_reads(s, kept->buffer);
    ovl_step_after(s, kept->reload);
}

bool ovl_step_recomputes(const ovl_step *s, uint32_t u)
{
    return s->units[u].layer->recompute;
}

void ovl_step_keep_again(ovl_step *s, uint32_t u)
{
    kept_of(s, u)->activations = activations(s, &s->units[u]);
}

void ovl_step_in_recompute(ovl_step *s, uint32_t u)
{
    const ovl_step_kept *kept = kept_of(s, u);
    read_kept(s, kept);
    ovl_step_writes(s, kept->activations);
}

void ovl_step_in_backward(ovl_step *s, uint32_t u)
{
    const ovl_step_kept *kept = kept_of(s, u);
    read_kept(s, kept);
    ovl_step_reads(s, kept->activations);
}

static void forget_offload(ovl_step *s, uint32_t which)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < s->offloads.len; i++) {
        if (s->offloads.data[i] != which) {
            s->offloads.data[left++] = s->offloads.data[i];
        }
    }
    s->offloads.len = left;
}

void ovl_step_kept_backward(ovl_step *s, uint32_t u)
{
    ovl_step_kept *kept = kept_of(s, u);
    if (kept->offload != OVL_NONE && kept->reload == OVL_NONE) {
        wait_for_copy(s, (uint32_t)(kept - s->kept)); /* it was never freed */
    }
    ovl_step_release(s, &kept->buffer);
    ovl_step_release(s, &kept->activations);
    forget_offload(s, (uint32_t)(kept - s->kept));
    kept->offload = kept->reload = OVL_NONE;
}

/* --- Opening --- */

void ovl_step_open_kept(ovl_step *s)
{
    size_t n = (size_t)s->microbatches * s->n_units;
    bool offloads = false;
    s->kept = OVL_NEW_ARRAY(&s->scratch, ovl_step_kept, n);
    for (size_t i = 0; i < n; i++) {
        s->kept[i] = (ovl_step_kept){OVL_NONE, OVL_NONE, OVL_NONE, OVL_NONE};
    }
    for (uint32_t u = 0; u < s->n_units; u++) {
        offloads |= s->units[u].layer->offload;
    }
    if (offloads) {
        s->d2h = ovl_add_stream(s->b, s->code, "d2h");
        s->h2d = ovl_add_stream(s->b, s->code, "h2d");
    }
}
