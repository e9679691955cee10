#include "tools/sweep_team.h"

#include <string.h>
#include <time.h>

/* What a process sends to the first: a point, or that it is done. A text follows. */
typedef struct message {
    uint32_t point; /* OVL_NONE: this process is done */
    int32_t signal, state, status, interference;
    uint32_t length; /* of the error */
    ovl_figures figures;
} message;

static void send_point(const ovl_sweep_team *t, uint32_t i)
{
    const ovl_point *p = &t->sweep->points[i];
    ovl_arena arena = {0};
    size_t length = p->error ? strlen(p->error) : 0;
    unsigned char *bytes = ovl_arena_alloc(&arena, sizeof(message) + length, 16);
    message m = {.point = i,
                 .state = (int32_t)p->state,
                 .status = (int32_t)p->status,
                 .interference = (int32_t)p->interference,
                 .length = (uint32_t)length,
                 .figures = p->figures};
    memcpy(bytes, &m, sizeof m);
    if (length) {
        memcpy(bytes + sizeof m, p->error, length);
    }
    ovl_link_send(t->link, bytes, sizeof m + length);
    ovl_arena_free(&arena);
}

static void take(ovl_sweep_team *t, const unsigned char *bytes, size_t length)
{
    message m;
    (void)length;
    assert(length >= sizeof m);
    memcpy(&m, bytes, sizeof m);
    if (m.point == OVL_NONE) {
        t->ended++;
        t->signal = m.signal ? m.signal : t->signal;
        return;
    }
    assert(m.point < t->sweep->axes.n_points && length == sizeof m + m.length);
    ovl_point *p = &t->sweep->points[m.point];
    ovl_sweep_ended(t->sweep, m.point);
    *p = (ovl_point){.state = (ovl_point_state)m.state,
                     .status = (ovl_status)m.status,
                     .interference = (ovl_interference)m.interference,
                     .figures = m.figures};
    if (p->state == OVL_POINT_FAILED) {
        p->error = ovl_arena_strndup(t->arena, (const char *)bytes + sizeof m, m.length);
    }
    t->received++;
    ovl_sweep_store_keep(t->store, m.point);
}

static void receive(ovl_sweep_team *t)
{
    ovl_link_buffer buffer = {0};
    while (t->link->rank == 0 && t->link->size > 1 && ovl_link_receive(t->link, &buffer)) {
        take(t, buffer.data, buffer.len);
    }
    ovl_vec_free(&buffer);
}

/* --- While the pool works --- */

void ovl_sweep_team_interrupted(ovl_sweep_team *t)
{
    ovl_arena arena = {0};
    if (!t->told) {
        t->told = true;
        ovl_progress_end(&t->progress);
        bool kept = t->kept_in && t->store->open;
        ovl_out_printf(t->progress_to, "error: interrupted: %s of %s points done%s%s%s\n",
                       ovl_grouped(t->known + t->own + t->received, &arena),
                       ovl_grouped(t->sweep->axes.n_points, &arena), kept ? " and kept in " : "",
                       kept ? t->kept_in : "", kept ? "; --resume goes on" : "");
        fflush(t->progress_to->file);
    }
    ovl_arena_free(&arena);
}

static bool stop(void *context, int signal)
{
    ovl_sweep_team *t = context;
    if (signal && t->link->size > 1 && t->link->rank == 0) {
        ovl_sweep_store_commit(t->store);
        ovl_sweep_team_interrupted(t);
    }
    return signal != 0;
}

static void done(void *context, uint32_t point)
{
    ovl_sweep_team *t = context;
    t->own++;
    if (t->link->rank) {
        send_point(t, point);
    } else {
        ovl_sweep_store_keep(t->store, point);
    }
}

static void tick(void *context, uint32_t n)
{
    ovl_sweep_team *t = context;
    receive(t);
    ovl_sweep_store_commit(t->store); /* what ended since the last look */
    ovl_progress_at(&t->progress, n + t->received);
}

/* --- Before and after --- */

/* Points behind the last that ended were not even written. */
static bool is_open(const ovl_sweep *s, uint32_t i)
{
    return i >= s->ended || s->points[i].state == OVL_POINT_OPEN;
}

/* Everybody leaves out what the first process has. */
static void share_states(ovl_sweep_team *t)
{
    ovl_arena arena = {0};
    uint32_t n = t->sweep->axes.n_points;
    if (t->link->size > 1) {
        unsigned char *known = OVL_NEW_ARRAY(&arena, unsigned char, n);
        for (uint32_t i = 0; i < n; i++) {
            known[i] = !is_open(t->sweep, i);
        }
        ovl_link_share(t->link, known, n);
        for (uint32_t i = 0; i < n && t->link->rank; i++) {
            if (known[i]) {
                t->sweep->points[i].state = OVL_POINT_DONE;
                ovl_sweep_ended(t->sweep, i);
            }
        }
    }
    ovl_arena_free(&arena);
}

static uint32_t choose(const ovl_sweep_team *t, uint32_t *todo, uint32_t *open)
{
    uint32_t n = 0;
    *open = 0;
    for (uint32_t i = 0; i < t->sweep->axes.n_points; i++) {
        bool wanted = is_open(t->sweep, i);
        *open += wanted;
        if (wanted && i % t->parts == t->part) {
            todo[n++] = i;
        }
    }
    return n;
}

static void wait_for_others(ovl_sweep_team *t, uint32_t mine)
{
    const struct timespec pause = {0, 2000000};
    while (t->ended + 1 < t->link->size) {
        tick(t, mine);
        nanosleep(&pause, NULL);
    }
}

void ovl_sweep_team_run(ovl_sweep_team *t, ovl_arena *arena)
{
    ovl_arena scratch = {0};
    uint32_t open = 0;
    uint32_t *todo = OVL_NEW_ARRAY(&scratch, uint32_t, t->sweep->axes.n_points);
    t->arena = arena;
    share_states(t);
    uint32_t n = choose(t, todo, &open);
    t->known = t->sweep->axes.n_points - open;
    ovl_progress_begin(&t->progress, t->progress_to, "points", t->link->size > 1 ? open : n);
    t->progress.on = t->progress.on && t->link->rank == 0;
    const ovl_sweep_how how = {.threads = t->threads,
                               .todo = todo,
                               .n_todo = n,
                               .context = t,
                               .done = done,
                               .tick = tick,
                               .stop = stop};
    uint32_t mine = ovl_sweep_run(t->sweep, &how, arena);
    if (t->link->rank) {
        const message last = {.point = OVL_NONE, .signal = t->sweep->signal};
        ovl_link_send(t->link, &last, sizeof last);
    } else {
        wait_for_others(t, mine);
    }
    t->sweep->signal = t->sweep->signal ? t->sweep->signal : t->signal;
    ovl_progress_end(&t->progress);
    ovl_arena_free(&scratch);
}
