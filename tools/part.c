#include "tools/part.h"

#include "sim/base.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 1000
#define EVERY_MS    200
#define MOST_TEXT   160

/* A handler gets nothing but the number of its signal, and may call next to nothing. */
static const char *volatile doing = "beginning";
static volatile sig_atomic_t speaks, width;
static bool shown;
static struct timespec begun;

/* --- Text without stdio --- */

typedef struct text {
    char data[MOST_TEXT];
    size_t length;
} text;

static void add(text *t, const char *what)
{
    for (; *what && t->length < sizeof t->data; what++) {
        t->data[t->length++] = *what;
    }
}

static void add_number(text *t, int64_t n)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0 && at > 0);
    add(t, digits + at);
}

static void put(const text *t)
{
    ssize_t written = write(STDERR_FILENO, t->data, t->length);
    (void)written;
}

/* Since the first part began. */
static int64_t elapsed_ms(void)
{
    struct timespec now;
    if (begun.tv_sec == 0 && begun.tv_nsec == 0) {
        return 0;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)(now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000;
}

/* --- The line --- */

static void add_blanks(text *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        add(t, " ");
    }
}

static void erase(void)
{
    if (width) {
        text t = {.length = 0};
        add(&t, "\r");
        add_blanks(&t, (size_t)width);
        add(&t, "\r");
        put(&t);
        width = 0;
    }
}

static void show(int number)
{
    (void)number;
    int64_t ms = elapsed_ms();
    if (!speaks || ms < PATIENCE_MS) {
        return;
    }
    text t = {.length = 0};
    add(&t, "\r");
    add(&t, doing);
    add(&t, ", ");
    add_number(&t, ms / 1000);
    add(&t, " s");
    size_t length = t.length - 1, before = (size_t)width;
    add_blanks(&t, before > length ? before - length : 0);
    put(&t);
    width = (sig_atomic_t)length;
}

static void set_timer(suseconds_t ms)
{
    const struct itimerval every = {{0, ms * 1000}, {0, ms * 1000}};
    setitimer(ITIMER_REAL, &every, NULL);
}

void ovl_part_shown(void)
{
    struct sigaction tick = {.sa_handler = show, .sa_flags = SA_RESTART};
    const char *term = getenv("TERM");
    sigemptyset(&tick.sa_mask);
    sigaddset(&tick.sa_mask, SIGINT); /* one line at a time */
    shown = isatty(STDERR_FILENO) == 1 && !(term && strcmp(term, "dumb") == 0) &&
            sigaction(SIGALRM, &tick, NULL) == 0;
}

/* --- Parts --- */

void ovl_part_quiet(void)
{
    if (speaks) {
        speaks = 0;
        set_timer(0);
    }
    erase();
}

void ovl_part_silent(const char *what)
{
    if (elapsed_ms() == 0) {
        clock_gettime(CLOCK_MONOTONIC, &begun);
    }
    ovl_part_quiet();
    doing = what;
}

void ovl_part_begin(const char *what)
{
    if (!speaks) {
        ovl_part_silent(what);
    }
    doing = what;
    if (shown && !speaks) {
        speaks = 1;
        set_timer(EVERY_MS);
    }
}

void ovl_part_last_words(void)
{
    int64_t ms = elapsed_ms();
    text t = {.length = 0};
    speaks = 0;
    erase();
    add(&t, "error: interrupted while ");
    add(&t, doing);
    add(&t, ", after ");
    add_number(&t, ms / 1000);
    add(&t, ".");
    add_number(&t, ms % 1000 / 100);
    add(&t, " s\n");
    put(&t);
}
