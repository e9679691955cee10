#include "tools/sorter.h"

#include "sim/err.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        ovl_out_of_memory(bytes);
    }
    return memory;
}

void ovl_sorter_begin(ovl_sorter *s, size_t size, ovl_sort_order *order, size_t buffer)
{
    assert(buffer >= 2 * size);
    *s = (ovl_sorter){.size = size, .order = order, .room = buffer / size, .file = -1};
}

void ovl_sorter_free(ovl_sorter *s)
{
    free(s->buffer);
    free(s->last);
    free(s->heap);
    free(s->windows);
    ovl_vec_free(&s->runs);
    if (s->file >= 0) {
        close(s->file);
    }
    *s = (ovl_sorter){.file = -1};
}

/* ---- writing ---- */

/* A file without a name, where temporary files belong. */
static int open_file(void)
{
    const char *places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp", "."};
    for (size_t i = 0; i < OVL_COUNT(places); i++) {
        char path[4096];
        int n = places[i] ? snprintf(path, sizeof path, "%s/ovl_XXXXXX", places[i]) : -1;
        int file = n > 0 && n < (int)sizeof path ? mkstemp(path) : -1;
        if (file >= 0) {
            unlink(path);
            fcntl(file, F_SETFD, FD_CLOEXEC);
            return file;
        }
    }
    return -1;
}

static bool write_all(int file, const char *bytes, size_t count, off_t at)
{
    while (count) {
        ssize_t n = pwrite(file, bytes, count, at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        bytes += n;
        count -= (size_t)n;
        at += n;
    }
    return true;
}

/* What came in order needs no sorting, and no memory for it. */
static void sort_buffer(ovl_sorter *s)
{
    for (size_t i = 1; i < s->held; i++) {
        if (s->order(s->buffer + (i - 1) * s->size, s->buffer + i * s->size) > 0) {
            qsort(s->buffer, s->held, s->size, s->order);
            return;
        }
    }
}

static bool can_write(ovl_sorter *s)
{
    if (s->file < 0 && !s->no_file) {
        s->file = open_file();
        s->no_file = s->file < 0;
    }
    return !s->no_file;
}

/* The buffer becomes a run, or the end of the last one. False: there is no room for it. */
static bool write_run(ovl_sorter *s)
{
    if (!can_write(s)) {
        return false;
    }
    sort_buffer(s);
    size_t bytes = s->held * s->size;
    if (!write_all(s->file, s->buffer, bytes, (off_t)(s->written * s->size))) {
        s->no_file = true;
        return false;
    }
    if (s->runs.len && s->order(s->last, s->buffer) <= 0) {
        s->runs.data[s->runs.len - 1].count += s->held;
    } else {
        ovl_vec_push(&s->runs, (ovl_sorter_run){.first = s->written, .count = s->held});
    }
    s->last = s->last ? s->last : allocate(s->size);
    memcpy(s->last, s->buffer + bytes - s->size, s->size);
    s->written += s->held;
    s->held = 0;
    return true;
}

static void grow(ovl_sorter *s)
{
    s->space = OVL_MIN(OVL_MAX(2 * s->space, 64), s->room);
    s->buffer = realloc(s->buffer, s->space * s->size);
    if (!s->buffer) {
        ovl_out_of_memory(s->space * s->size);
    }
}

void ovl_sorter_add(ovl_sorter *s, const void *record)
{
    if (s->held == s->room && !write_run(s)) {
        s->room *= 2;
    }
    if (s->held == s->space) {
        grow(s);
    }
    memcpy(s->buffer + s->held++ * s->size, record, s->size);
    s->count++;
}

/* ---- reading ---- */

/* The next records of a run into its window. What stayed in memory has been read already. */
static void refill(ovl_sorter *s, ovl_sorter_run *run)
{
    size_t count = (size_t)OVL_MIN(run->count - run->next, s->window);
    size_t bytes = count * s->size, got = 0;
    off_t at = (off_t)((run->first + run->next) * s->size);
    while (got < bytes) {
        ssize_t n = pread(s->file, run->window + got, bytes - got, at + (off_t)got);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            s->failed = true;
            break;
        }
        got += (size_t)n;
    }
    run->at = 0;
    run->held = got / s->size;
    run->next = s->failed ? run->count : run->next + run->held;
}

static const char *head(const ovl_sorter *s, uint32_t run)
{
    return s->runs.data[run].window + s->runs.data[run].at * s->size;
}

static bool before(const ovl_sorter *s, uint32_t a, uint32_t b)
{
    int order = s->order(head(s, a), head(s, b));
    return order ? order < 0 : a < b;
}

static void sift(ovl_sorter *s, uint32_t at)
{
    uint32_t moving = s->heap[at];
    for (uint32_t child; (child = 2 * at + 1) < s->n_heap; at = child) {
        child += child + 1 < s->n_heap && before(s, s->heap[child + 1], s->heap[child]);
        if (!before(s, s->heap[child], moving)) {
            break;
        }
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = moving;
}

/* Where there are runs the last buffer becomes one, too (in memory if it cannot be written), and
 * windows take the place of the buffer. */
static void end_writing(ovl_sorter *s)
{
    if (s->runs.len == 0 || (s->held && !write_run(s))) {
        sort_buffer(s);
    }
    if (s->runs.len == 0) {
        return;
    }
    uint32_t n = s->runs.len;
    s->window = OVL_MAX(s->room / n, 1);
    if (s->held) {
        ovl_vec_push(&s->runs, (ovl_sorter_run){.count = s->held, .window = s->buffer});
    } else {
        free(s->buffer);
        s->buffer = NULL;
    }
    s->windows = allocate(n * s->window * s->size);
    for (uint32_t i = 0; i < n; i++) {
        s->runs.data[i].window = s->windows + i * s->window * s->size;
    }
    s->heap = allocate(s->runs.len * sizeof *s->heap);
}

void ovl_sorter_rewind(ovl_sorter *s)
{
    if (!s->ended) {
        end_writing(s);
        s->ended = true;
    }
    s->at = 0;
    s->n_heap = 0;
    s->taken = false;
    for (uint32_t i = 0; i < s->runs.len; i++) {
        ovl_sorter_run *run = &s->runs.data[i];
        run->next = 0;
        if (run->window == s->buffer) {
            run->at = 0;
            run->held = (size_t)(run->next = run->count);
        } else {
            refill(s, run);
        }
        if (run->held) {
            s->heap[s->n_heap++] = i;
        }
    }
    for (uint32_t i = s->n_heap / 2; i > 0; i--) {
        sift(s, i - 1);
    }
}

/* Past the record that was handed out last. */
static void advance(ovl_sorter *s)
{
    ovl_sorter_run *run = &s->runs.data[s->heap[0]];
    run->at++;
    if (run->at == run->held && run->next < run->count) {
        refill(s, run);
    }
    if (run->at >= run->held) {
        s->heap[0] = s->heap[--s->n_heap];
    }
    if (s->n_heap) {
        sift(s, 0);
    }
    s->taken = false;
}

const void *ovl_sorter_next(ovl_sorter *s)
{
    if (s->runs.len == 0) {
        return s->at < s->held ? s->buffer + s->at++ * s->size : NULL;
    }
    if (s->taken) {
        advance(s);
    }
    s->taken = s->n_heap > 0;
    return s->taken ? head(s, s->heap[0]) : NULL;
}
