#include "sim/delays.h"

void ovl_delays_init(ovl_delays *delays)
{
    *delays = (ovl_delays){.next = OVL_NONE};
}

void ovl_delays_free(ovl_delays *delays)
{
    for (uint32_t i = 0; i < delays->n_lines; i++) {
        free(delays->lines[i].items);
    }
}

static ovl_delay_line *line_of(ovl_delays *delays, ovl_time delay)
{
    for (uint32_t i = 0; i < delays->n_lines; i++) {
        if (delays->lines[i].delay == delay) {
            return &delays->lines[i];
        }
    }
    if (delays->n_lines == OVL_DELAYS_MAX) {
        return NULL;
    }
    delays->lines[delays->n_lines] = (ovl_delay_line){.delay = delay};
    return &delays->lines[delays->n_lines++];
}

static ovl_heap_item *item_at(const ovl_delay_line *line, uint32_t i)
{
    return &line->items[(line->first + i) & (line->size - 1)];
}

static void grow(ovl_delay_line *line)
{
    uint32_t size = line->size ? 2 * line->size : 64;
    ovl_heap_item *items = malloc(size * sizeof *items);
    if (!items) {
        ovl_out_of_memory(size * sizeof *items);
    }
    for (uint32_t i = 0; i < line->n; i++) {
        items[i] = *item_at(line, i);
    }
    free(line->items);
    line->items = items;
    line->size = size;
    line->first = 0;
}

void ovl_delays_find_first(ovl_delays *delays)
{
    delays->first = NULL;
    delays->next = OVL_NONE;
    for (uint32_t i = 0; i < delays->n_lines; i++) {
        const ovl_delay_line *line = &delays->lines[i];
        if (line->n &&
            (!delays->first || ovl_heap_before(&line->items[line->first], delays->first))) {
            delays->first = &line->items[line->first];
            delays->next = i;
        }
    }
}

bool ovl_delays_add(ovl_delays *delays, ovl_time now, ovl_time delay, uint64_t tie, uint32_t handle)
{
    ovl_delay_line *line = line_of(delays, delay);
    if (!line) {
        return false;
    }
    bool moved = line->n == line->size;
    if (moved) {
        grow(line);
    }
    ovl_heap_item item = ovl_heap_item_of(now + delay, tie, handle);
    uint32_t at = line->n++;
    for (; at > 0 && ovl_heap_before(&item, item_at(line, at - 1)); at--) {
        *item_at(line, at) = *item_at(line, at - 1);
    }
    *item_at(line, at) = item;
    if (at == 0 || moved) {
        ovl_delays_find_first(delays);
    }
    return true;
}

void ovl_delays_take(ovl_delays *delays)
{
    ovl_delay_line *line = &delays->lines[delays->next];
    line->first = (line->first + 1) & (line->size - 1);
    line->n--;
    ovl_delays_find_first(delays);
}
