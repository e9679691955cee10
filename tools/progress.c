#include "tools/progress.h"

#include "tools/part.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EVERY 0.2 /* seconds between two lines */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *ovl_grouped(uint32_t n, ovl_arena *arena)
{
    if (n < 1000) {
        return ovl_arena_printf(arena, "%" PRIu32, n);
    }
    return ovl_arena_printf(arena, "%s,%03" PRIu32, ovl_grouped(n / 1000, arena), n % 1000);
}

static const char *left_text(double seconds, ovl_arena *arena)
{
    if (seconds < 100) {
        return ovl_arena_printf(arena, "%.0f s", seconds);
    }
    return seconds < 6000 ? ovl_arena_printf(arena, "%.0f min", seconds / 60)
                          : ovl_arena_printf(arena, "%.1f h", seconds / 3600);
}

const char *ovl_progress_text(const char *what, uint32_t done, uint32_t total, double seconds,
                              ovl_arena *arena)
{
    const char *text = ovl_arena_printf(arena, "%s of %s %s", ovl_grouped(done, arena),
                                        ovl_grouped(total, arena), what);
    if (done == 0 || seconds <= 0) {
        return text;
    }
    double rate = done / seconds;
    text =
        ovl_arena_printf(arena, rate < 10 ? "%s, %.1f a second" : "%s, %.0f a second", text, rate);
    return ovl_arena_printf(arena, "%s, %s left", text, left_text((total - done) / rate, arena));
}

void ovl_progress_begin(ovl_progress *p, ovl_out *out, const char *what, uint32_t total)
{
    *p = (ovl_progress){.out = out, .what = what, .total = total, .began = now()};
    const char *term = getenv("TERM");
    p->on = out && isatty(fileno(out->file)) == 1 && !(term && strcmp(term, "dumb") == 0);
    p->told = p->began;
    ovl_part_quiet();
}

void ovl_progress_at(ovl_progress *p, uint32_t done)
{
    double t = now();
    if (!p->on || t - p->told < EVERY) {
        return;
    }
    ovl_arena arena = {0};
    const char *text = ovl_progress_text(p->what, done, p->total, t - p->began, &arena);
    size_t width = strlen(text);
    ovl_out_printf(p->out, "\r%s%*s", text, (int)(p->width > width ? p->width - width : 0), "");
    fflush(p->out->file);
    p->width = width;
    p->told = t;
    ovl_arena_free(&arena);
}

void ovl_progress_end(ovl_progress *p)
{
    if (p->width) {
        ovl_out_printf(p->out, "\r%*s\r", (int)p->width, "");
        fflush(p->out->file);
        p->width = 0;
    }
}
