#include "models/plan.h"

void ovl_plan_say(ovl_lowering *l, const char *sentence)
{
    for (uint32_t i = 0; i < l->said.len; i++) {
        if (strcmp(l->said.data[i], sentence) == 0) {
            return;
        }
    }
    ovl_vec_push(&l->said, sentence);
}

void ovl_plan_note(ovl_lowering *l, ovl_note_kind kind, const char *name)
{
    ovl_note *note = &l->notes[kind];
    for (uint32_t i = 0; i < note->count; i++) {
        if (strcmp(note->name[i], name) == 0) {
            return;
        }
    }
    if (note->count == OVL_NOTE_NAMES) {
        note->more = true;
    } else {
        note->name[note->count++] = name;
    }
}

/* "matmul, norm, head and others" */
static const char *names_of(const ovl_lowering *l, const ovl_note *note)
{
    const char *text = note->name[0];
    for (uint32_t i = 1; i < note->count; i++) {
        bool last = i + 1 == note->count && !note->more;
        text = ovl_arena_printf(l->arena, "%s%s%s", text, last ? " and " : ", ", note->name[i]);
    }
    return note->more ? ovl_arena_printf(l->arena, "%s and others", text) : text;
}

/* Says `before` NAMES `after` if anything was noted; `after_many` follows several names. */
static void say_noted(ovl_lowering *l, ovl_note_kind kind, const char *before, const char *after,
                      const char *after_many)
{
    const ovl_note *note = &l->notes[kind];
    if (note->count) {
        const char *end = note->count > 1 ? after_many : after;
        ovl_plan_say(l, ovl_arena_printf(l->arena, "%s%s%s", before, names_of(l, note), end));
    }
}

static double reached(double efficiency)
{
    return efficiency > 0 ? efficiency : 1;
}

static void say_roofline(ovl_lowering *l)
{
    const ovl_hw_gpu *gpu = &l->hw->gpu;
    if (l->scenario->workload.model.given) {
        return; /* its kernels have efficiencies of their own, which are said */
    }
    const char *text = ovl_arena_printf(l->arena,
                                        "Kernels given by FLOPs and bytes are assumed to reach %g "
                                        "of the peak and %g of the HBM bandwidth",
                                        reached(gpu->efficiency), reached(gpu->hbm_efficiency));
    for (uint32_t i = 1; i < l->n_machines; i++) {
        const ovl_hw_gpu *other = &l->machines[i].gpu;
        double peak = reached(other->efficiency), hbm = reached(other->hbm_efficiency);
        double usual = reached(gpu->efficiency), usual_hbm = reached(gpu->hbm_efficiency);
        if (peak > usual || peak < usual || hbm > usual_hbm || hbm < usual_hbm) {
            text = ovl_arena_printf(l->arena, "%s, on nodes \"%s\" %g and %g", text,
                                    l->machines[i].on, peak, hbm);
        }
    }
    ovl_plan_say(l, ovl_arena_printf(l->arena, "%s.", text));
}

/* Contention matters only where kernels and communication can meet, under a model that has it. */
static void say_contention(ovl_lowering *l)
{
    if (l->hw->gpu.hbm == 0) {
        ovl_plan_say(l, "HBM sharing is not modelled: the hardware gives no gpu.hbm.");
    } else {
        say_noted(l, OVL_NOTE_KERNEL_HBM, "The HBM traffic of ",
                  " is not modelled: no hbm bytes are given.",
                  " is not modelled: no hbm bytes are given.");
        say_noted(l, OVL_NOTE_COMM_HBM, "The HBM traffic of ",
                  " is not modelled: no hbm_factor is given.",
                  " is not modelled: no hbm_factor is given.");
    }
    if (l->hw->gpu.sms == 0) {
        if (l->holds_sms) {
            ovl_plan_say(l, "The SMs that communication holds slow no kernel: the hardware gives "
                            "no gpu.sms.");
        } else {
            ovl_plan_say(l, "SM limits are not modelled: the hardware gives no gpu.sms.");
        }
    } else {
        say_noted(l, OVL_NOTE_COMM_SMS, "", " holds no SMs: no sms are given.",
                  " hold no SMs: no sms are given.");
    }
}

void ovl_plan_sentences(ovl_lowering *l)
{
    if (!l->hw->has_host && !l->scenario->recorded) {
        ovl_plan_say(l, "Host launch times are not modelled: the hardware gives no host.");
    }
    if (l->roofline) {
        say_roofline(l);
    }
    bool contention = l->scenario->interference != OVL_INTERFERENCE_NONE;
    if (contention && l->has_kernels && l->has_comm) {
        say_contention(l);
    }
    if (contention) {
        say_noted(l, OVL_NOTE_COMM_VIA, "The links that ",
                  " loads are not modelled: no via is given.",
                  " load are not modelled: no via is given.");
    }
    say_noted(l, OVL_NOTE_COMM_BYTES, "The bytes of ", " are not known, so it loads no link.",
              " are not known, so they load no link.");
    say_noted(l, OVL_NOTE_EXTRAPOLATED, "Measured times of ",
              " were extrapolated beyond their table.", " were extrapolated beyond their tables.");
    say_noted(l, OVL_NOTE_SIZES, "Outside the sizes its cost was measured at: ", ".", ".");
    say_noted(l, OVL_NOTE_RANKS,
              "With another number of ranks than its cost was measured with: ", ".", ".");
}
