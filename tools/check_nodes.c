/* Nodes that have another GPU, or other links: what differs. */
#include "tools/facts.h"
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/wrap.h"

typedef struct list {
    ovl_arena *arena;
    const char *text;
} list;

static void add(list *l, const char *text)
{
    l->text = *l->text ? ovl_arena_printf(l->arena, "%s, %s", l->text, text) : text;
}

static void add_gpu(list *l, const ovl_hw_gpu *gpu)
{
    char buf[OVL_UNITS_TEXT];
    if (gpu->name) {
        add(l, gpu->name);
    }
    for (int i = 0; i < OVL_DTYPE_COUNT; i++) {
        if (gpu->peak.rate[i] > 0) {
            add(l, ovl_arena_printf(l->arena, "%s/s in %s",
                                    ovl_report_flops(l->arena, gpu->peak.rate[i]),
                                    ovl_dtype_name((ovl_dtype)i)));
        }
    }
    if (gpu->hbm) {
        add(l, ovl_arena_printf(l->arena, "HBM %s", ovl_print_rate(buf, (double)gpu->hbm)));
    }
    if (gpu->memory) {
        add(l, ovl_arena_printf(l->arena, "memory %s", ovl_print_bytes(buf, gpu->memory)));
    }
    if (gpu->sms) {
        add(l, ovl_arena_printf(l->arena, "%" PRId64 " SMs", gpu->sms));
    }
    if (gpu->speed > 1 || gpu->speed < 1) {
        add(l, ovl_arena_printf(l->arena, "stated durations at %g of the speed", gpu->speed));
    }
}

static bool same_link(const ovl_hw_link *a, const ovl_hw_link *b)
{
    return a->bandwidth == b->bandwidth && a->latency == b->latency;
}

static bool differs(const ovl_hw *hw, uint32_t link)
{
    bool same = true;
    for (uint32_t i = 0; i < hw->n_others; i++) {
        same = same && same_link(&hw->links[link], &hw->others[i].links[link]);
    }
    return !same;
}

/* Of the links those that are not alike everywhere. */
static void add_links(list *l, const ovl_hw *hw, const ovl_hw_link *links)
{
    char rate[OVL_UNITS_TEXT], time[OVL_UNITS_TEXT];
    for (uint32_t i = 0; i < hw->n_links; i++) {
        const char *latency =
            links[i].latency
                ? ovl_arena_printf(l->arena, " and %s", ovl_print_time(time, links[i].latency))
                : "";
        if (differs(hw, i)) {
            add(l, ovl_arena_printf(l->arena, "%s %s%s", links[i].name,
                                    ovl_print_rate(rate, (double)links[i].bandwidth), latency));
        }
    }
}

static const char *at_text(const ovl_texts *at, ovl_arena *arena)
{
    const char *text = "";
    for (uint32_t i = 0; i < at->count; i++) {
        text = ovl_arena_printf(arena, "%s%s%s", text, i ? ", " : "", at->item[i]);
    }
    return text;
}

void ovl_check_nodes(ovl_out *out, const ovl_hw *hw, ovl_arena *arena)
{
    if (hw->n_others == 0) {
        return;
    }
    ovl_out_title(out, "\nNodes");
    for (uint32_t i = 0; i <= hw->n_others; i++) {
        ovl_hw on = ovl_hw_on(hw, i);
        list l = {arena, ""};
        if (!ovl_hw_even(hw)) {
            add(&l, ovl_arena_printf(arena, "%" PRId64 " GPU%s", ovl_hw_gpus(hw, i),
                                     ovl_hw_gpus(hw, i) == 1 ? "" : "s"));
        }
        add_gpu(&l, &on.gpu);
        add_links(&l, hw, on.links);
        const char *start =
            i ? ovl_arena_printf(arena, "  %s (%s): ", at_text(&hw->others[i - 1].at, arena), on.on)
              : "  all but those that follow: ";
        ovl_wrap(out, start, 4, l.text, OVL_TERMINAL);
    }
}

/* --- JSON --- */

static void gpu(ovl_json *json, const ovl_hw_gpu *gpu)
{
    ovl_json_text_if(json, "gpu", gpu->name);
    ovl_json_array(json, "peaks", OVL_JSON_FLOW);
    for (int i = 0; i < OVL_DTYPE_COUNT; i++) {
        if (gpu->peak.rate[i] > 0) {
            ovl_json_object(json, NULL, OVL_JSON_FLOW);
            ovl_json_text(json, "dtype", ovl_dtype_name((ovl_dtype)i));
            ovl_json_double(json, "flops_per_s", gpu->peak.rate[i]);
            ovl_json_close(json);
        }
    }
    ovl_json_close(json);
    if (gpu->hbm) {
        ovl_json_uint(json, "hbm_Bps", gpu->hbm);
    }
    if (gpu->memory) {
        ovl_json_uint(json, "memory_bytes", gpu->memory);
    }
    if (gpu->sms) {
        ovl_json_int(json, "sms", gpu->sms);
    }
    ovl_json_double(json, "speed", gpu->speed);
}

static void nodes(ovl_json *json, const ovl_hw *hw, uint32_t machine)
{
    const ovl_hw_nodes *n = &hw->others[machine - 1];
    ovl_json_object(json, NULL, OVL_JSON_FLOW);
    ovl_json_text(json, "name", n->name);
    ovl_json_array(json, "at", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < n->at.count; i++) {
        ovl_json_text(json, NULL, n->at.item[i]);
    }
    ovl_json_close(json);
    gpu(json, &n->gpu);
    ovl_json_array(json, "links", OVL_JSON_FLOW);
    for (uint32_t i = 0; i < hw->n_links; i++) {
        if (!same_link(&hw->links[i], &n->links[i])) {
            ovl_json_object(json, NULL, OVL_JSON_FLOW);
            ovl_json_text(json, "name", n->links[i].name);
            ovl_json_uint(json, "bandwidth_Bps", n->links[i].bandwidth);
            ovl_json_seconds(json, "latency_s", n->links[i].latency);
            ovl_json_close(json);
        }
    }
    ovl_json_close(json);
    ovl_json_int(json, "gpus", ovl_hw_gpus(hw, machine));
    ovl_json_close(json);
}

void ovl_check_nodes_json(ovl_json *json, const ovl_hw *hw)
{
    if (hw->n_others == 0) {
        return;
    }
    ovl_json_array(json, "nodes", OVL_JSON_BLOCK);
    for (uint32_t i = 0; i < hw->n_others; i++) {
        nodes(json, hw, i + 1);
    }
    ovl_json_close(json);
}
