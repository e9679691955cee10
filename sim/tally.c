#include "sim/tally.h"

#include "sim/base.h"

#include <stdlib.h>

/* Below 0 in a thread that gives back what another one took. */
static _Thread_local int64_t now, peak;

void ovl_tally_more(size_t bytes)
{
    now += (int64_t)bytes;
    peak = now > peak ? now : peak;
}

void ovl_tally_less(size_t bytes)
{
    now -= (int64_t)bytes;
}

uint64_t ovl_tally_now(void)
{
    return now > 0 ? (uint64_t)now : 0;
}

uint64_t ovl_tally_peak(void)
{
    return peak > 0 ? (uint64_t)peak : 0;
}

void ovl_tally_from_here(void)
{
    peak = now;
}

void *ovl_tally_take(size_t count, size_t size)
{
    void *data = calloc(OVL_MAX(count, 1), size);
    if (!data) {
        ovl_out_of_memory(count * size);
    }
    ovl_tally_more(count * size);
    return data;
}

void ovl_tally_give(void *data, size_t count, size_t size)
{
    if (data) {
        ovl_tally_less(count * size);
        free(data);
    }
}
