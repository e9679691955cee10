#include "sim/gradhold.h"

#include <stdlib.h>
#include <string.h>

static uint32_t place_of(const ovl_holding *h, ovl_id gradient)
{
    if (h->len == 0 || h->data[h->len - 1].gradient < gradient) {
        return h->len;
    }
    uint32_t low = 0, high = h->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (h->data[middle].gradient < gradient) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t ovl_holding_value(const ovl_holding *h, ovl_id gradient)
{
    uint32_t i = place_of(h, gradient);
    return i < h->len && h->data[i].gradient == gradient ? h->data[i].value : OVL_NONE;
}

void ovl_holding_free(ovl_holding *h)
{
    if (h->data) {
        ovl_tally_give(h->data - h->before, (size_t)h->before + h->len + h->behind,
                       sizeof *h->data);
    }
    *h = (ovl_holding){0};
}

/* Room for `n` more on both sides; doubling, so that it is cheap in the long run. */
static void make_room(ovl_holding *h, uint32_t n)
{
    size_t room = (size_t)h->len + n;
    if (room + h->len + room > UINT32_MAX) {
        ovl_out_of_memory((room + h->len + room) * sizeof(ovl_held));
    }
    ovl_held *all = ovl_tally_take(room + h->len + room, sizeof *all);
    if (h->len) {
        memcpy(all + room, h->data, h->len * sizeof *all);
    }
    uint32_t len = h->len;
    ovl_holding_free(h);
    *h = (ovl_holding){all + room, len, (uint32_t)room, (uint32_t)room};
}

/* Moves whichever side of place `i` is shorter. */
static void insert(ovl_holding *h, uint32_t i, ovl_held item)
{
    bool down = i < h->len - i;
    if ((down ? h->before : h->behind) == 0) {
        make_room(h, 1);
    }
    if (down) {
        memmove(h->data - 1, h->data, i * sizeof *h->data);
        h->data--;
        h->before--;
    } else {
        memmove(h->data + i + 1, h->data + i, (h->len - i) * sizeof *h->data);
        h->behind--;
    }
    h->len++;
    h->data[i] = item;
}

void ovl_holding_put(ovl_holding *h, ovl_id gradient, uint32_t value)
{
    uint32_t i = place_of(h, gradient);
    if (i == h->len || h->data[i].gradient != gradient) {
        insert(h, i, (ovl_held){gradient, value});
    } else {
        h->data[i].value = value;
    }
}

void ovl_holding_clear(ovl_holding *h)
{
    h->behind += h->len;
    h->len = 0;
}

void ovl_holding_replace(ovl_holding *h, const ovl_held *items, uint32_t n)
{
    ovl_holding_clear(h);
    if (h->behind < n) {
        make_room(h, n);
    }
    if (n) {
        memcpy(h->data, items, n * sizeof *items);
    }
    h->len = n;
    h->behind -= n;
}
