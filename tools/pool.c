#include "tools/pool.h"

#include "tools/deadly.h"

#include "sim/vec.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* Told to the calling thread when a piece has ended. Whoever does not wait for it never sees it:
 * what it does by default is nothing. */
#define WAKE SIGURG

#define MOST_TOLD 256 /* pieces between two looks at signals: whoever is told may be slow */

typedef struct team {
    const ovl_pool *pool;
    atomic_uint next; /* piece to begin */
    atomic_bool over; /* begin no more */
    pthread_mutex_t lock;
    OVL_VEC(uint32_t) ended; /* under the lock, as `told` and `running` */
    uint32_t told;           /* of these */
    uint32_t running;        /* threads */
    pthread_t caller;
} team;

typedef struct member {
    team *team;
    uint32_t number;
    pthread_t thread;
} member;

uint32_t ovl_pool_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (uint32_t)OVL_MIN(cores, 1024) : 1;
}

static void tell(team *t, uint32_t piece, bool last)
{
    pthread_mutex_lock(&t->lock);
    bool comes = t->told < t->ended.len; /* the caller is on its way */
    if (last) {
        t->running--;
    } else {
        ovl_vec_push(&t->ended, piece);
    }
    pthread_mutex_unlock(&t->lock);
    if (last || !comes) {
        pthread_kill(t->caller, WAKE);
    }
}

static void *labour(void *context)
{
    const member *m = context;
    team *t = m->team;
    while (!atomic_load(&t->over)) {
        uint32_t piece = atomic_fetch_add(&t->next, 1);
        if (piece >= t->pool->n) {
            break;
        }
        t->pool->work(t->pool->context, m->number, piece);
        tell(t, piece, false);
    }
    tell(t, 0, true);
    return NULL;
}

/* Hands on what has ended, or the most of it; gives how much. *working says whether there is more
 * to come, *at_once whether it is there. */
static uint32_t collect(team *t, bool *working, bool *at_once)
{
    uint32_t mine[MOST_TOLD];
    pthread_mutex_lock(&t->lock);
    uint32_t n = OVL_MIN(t->ended.len - t->told, MOST_TOLD);
    for (uint32_t i = 0; i < n; i++) {
        mine[i] = t->ended.data[t->told++];
    }
    *at_once = t->told < t->ended.len;
    if (!*at_once) {
        t->ended.len = t->told = 0;
    }
    *working = t->running || *at_once;
    pthread_mutex_unlock(&t->lock);
    for (uint32_t i = 0; t->pool->done && i < n; i++) {
        t->pool->done(t->pool->context, mine[i]);
    }
    return n;
}

void ovl_stops_hold(ovl_stops *held)
{
    sigset_t stops;
    ovl_deadly_signals(&stops);
    held->holds = pthread_sigmask(SIG_BLOCK, &stops, &held->before) == 0;
}

void ovl_stops_release(ovl_stops *held)
{
    if (held->holds) {
        held->holds = false;
        pthread_sigmask(SIG_SETMASK, &held->before, NULL);
    }
}

static void look_after(team *t, const sigset_t *stops, ovl_pool_end *end)
{
    const struct timespec now = {0, 0}, tenth = {0, 100000000};
    sigset_t awaited = *stops;
    bool working = true, at_once = false;
    sigaddset(&awaited, WAKE);
    while (working) {
        int came = sigtimedwait(&awaited, NULL, at_once ? &now : &tenth);
        if (came > 0 && came != WAKE && !end->signal) {
            end->signal = came;
            sigemptyset(&awaited);
            sigaddset(&awaited, WAKE);
            pthread_sigmask(SIG_UNBLOCK, stops, NULL); /* the next one counts as usual */
        }
        bool stop = t->pool->stop ? t->pool->stop(t->pool->context, end->signal) : end->signal != 0;
        if (stop) {
            atomic_store(&t->over, true);
        }
        end->done += collect(t, &working, &at_once);
        if (t->pool->tick) {
            t->pool->tick(t->pool->context);
        }
    }
}

/* As many of them as the system gives; one of them may be the caller's alone. */
static uint32_t start(team *t, member *members, uint32_t threads)
{
    uint32_t n = 0;
    pthread_mutex_lock(&t->lock);
    while (n < threads) {
        members[n] = (member){t, n, t->caller};
        if (pthread_create(&members[n].thread, NULL, labour, &members[n]) != 0) {
            break;
        }
        n++;
    }
    t->running = n;
    pthread_mutex_unlock(&t->lock);
    return n;
}

ovl_pool_end ovl_pool_run(const ovl_pool *pool)
{
    ovl_pool_end end = {0};
    uint32_t threads = pool->threads ? pool->threads : ovl_pool_cores();
    threads = OVL_MIN(threads, OVL_MAX(pool->n, 1));
    team t = {.pool = pool, .caller = pthread_self()};
    ovl_arena arena = {0};
    member *members = OVL_NEW_ARRAY(&arena, member, threads);
    sigset_t stops, all, before;
    ovl_deadly_signals(&stops);
    all = stops;
    sigaddset(&all, WAKE);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_mutex_init(&t.lock, NULL);
    uint32_t n = start(&t, members, threads);
    if (n == 0) {
        ovl_out_of_memory(0); /* no thread: nothing can be done */
    }
    look_after(&t, &stops, &end);
    for (uint32_t i = 0; i < n; i++) {
        pthread_join(members[i].thread, NULL);
    }
    /* A wake-up that nobody waited for goes by here. */
    sigset_t wake;
    const struct timespec now = {0, 0};
    sigemptyset(&wake);
    sigaddset(&wake, WAKE);
    while (sigtimedwait(&wake, NULL, &now) == WAKE) {
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_mutex_destroy(&t.lock);
    ovl_vec_free(&t.ended);
    ovl_arena_free(&arena);
    return end;
}
