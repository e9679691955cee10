/*
 * fuzz_sizes.c - any bytes as a CSV of sizes and times: the reader gives rows that make sense, and
 * whatever they are, a fit of them ends with numbers.
 */
#include "models/fit.h"
#include "tests/fuzz/target.h"
#include "tools/read.h"

#include <math.h>

#define MOST 64

typedef struct points {
    ovl_fit_point item[MOST];
    uint32_t n;
} points;

static void on_row(void *context, const ovl_read_row *row)
{
    points *p = context;
    if (row->bytes <= 0 || (row->time[0] <= 0 && row->time[1] <= 0)) {
        abort(); /* a row has a size and a time */
    }
    if (p->n < MOST) {
        int64_t time = row->time[1] > 0 ? row->time[1] : row->time[0];
        p->item[p->n++] = (ovl_fit_point){(uint64_t)row->bytes, (double)time};
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = exact_copy(data, size);
    if (!bytes) {
        return 0;
    }
    points p = {.n = 0};
    ovl_arena arena = {0};
    ovl_sink sink = {.context = &p, .row = on_row};
    ovl_read_about about = {.arena = &arena};
    ovl_source source;
    ovl_source_memory(&source, "allreduce", bytes, size);
    ovl_read_sizes(&source, &sink, &about);
    ovl_source_close(&source);
    ovl_fit fit = ovl_fit_points(p.item, p.n, &arena);
    for (uint32_t i = 0; fit.identified && i < fit.n_sizes; i++) {
        if (!isfinite(ovl_fit_predict(&fit.chosen, fit.sizes[i].bytes))) {
            abort();
        }
    }
    ovl_arena_free(&arena);
    free(bytes);
    return 0;
}
