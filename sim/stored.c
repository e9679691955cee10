#include "sim/stored.h"

static void grow(ovl_stored *s)
{
    ovl_tally_give(s->places, s->n_places, sizeof *s->places);
    s->n_places = s->n_places ? 2 * s->n_places : 64;
    s->places = ovl_tally_take(s->n_places, sizeof *s->places);
    for (uint32_t i = 0; i < s->lists.len; i++) {
        uint32_t at = s->lists.data[i].hash;
        while (s->places[at & (s->n_places - 1)]) {
            at++;
        }
        s->places[at & (s->n_places - 1)] = i + 1;
    }
}

uint32_t ovl_stored_once(const void *owner, ovl_stored *s, uint64_t hash, uint32_t first,
                         uint32_t n,
                         bool (*same)(const void *owner, uint32_t x, uint32_t y, uint32_t n))
{
    ovl_stored_list list = {(uint32_t)(hash >> 32), first, n};
    if (2 * (uint64_t)s->lists.len >= s->n_places) {
        grow(s);
    }
    uint32_t at = list.hash, *place;
    while (*(place = &s->places[at & (s->n_places - 1)])) {
        const ovl_stored_list *old = &s->lists.data[*place - 1];
        if (old->hash == list.hash && old->n == n && same(owner, old->first, first, n)) {
            return old->first;
        }
        at++;
    }
    ovl_vec_push(&s->lists, list);
    *place = s->lists.len;
    return first;
}

void ovl_stored_forget(ovl_stored *s)
{
    ovl_vec_free(&s->lists);
    ovl_tally_give(s->places, s->n_places, sizeof *s->places);
    *s = (ovl_stored){0};
}
