/*
 * terminal - what a long run shows on a terminal, and what Ctrl-C does to it.
 *
 *     terminal OVL SCRATCH
 *
 * Runs `ovl run` on scenarios of millions of operations with a pseudo-terminal as standard error.
 * Uninterrupted, lines name the parts of the work, and nothing is left of them. Interrupted at
 * moments spread over the whole of it, it ends at once with one line that says where it was, with
 * status 130 and without a file.
 */
#define _XOPEN_SOURCE 700

#include "sim/base.h"
#include "tests/support/check.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILLS 12

/* Where the program and the scratch directory are: of the command line. */
static const char *ovl, *scratch;

typedef struct seen {
    char text[1 << 16];
    size_t length;
    int status;    /* as of waitpid */
    double lasted; /* seconds */
    double died;   /* after the interrupt; negative: there was none */
} seen;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *place(const char *name)
{
    static char path[2][4096];
    static unsigned turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", scratch, name);
    return path[turn];
}

static void write_scenario(const char *name, int operations)
{
    FILE *f = fopen(place(name), "w");
    if (CHECK(f != NULL)) {
        fprintf(f,
                "hardware: {gpu: {name: x, hbm: 1 TB/s, sms: 100}}\n"
                "workload: {ops: [{repeat: %d, ops: [{kernel: k, duration: 1 us}]}]}\n",
                operations);
        fclose(f);
    }
}

/* What the terminal's side of a child does. */
static void become_ovl(const char *terminal, const char *scenario)
{
    int nothing = open("/dev/null", O_RDWR), tty = open(terminal, O_RDWR);
    setenv("TERM", "xterm", 1);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(tty, STDERR_FILENO);
    execl(ovl, ovl, "run", scenario, "--worth", "none", "--json", "-o", place("out.json"),
          (char *)NULL);
    _exit(127);
}

/* What came by now; false when the terminal's other side is closed. */
static bool listen(int master, seen *s)
{
    struct pollfd one = {.fd = master, .events = POLLIN};
    if (poll(&one, 1, 20) <= 0) {
        return true;
    }
    ssize_t n = read(master, s->text + s->length, sizeof s->text - 1 - s->length);
    s->length += n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* Runs a scenario, interrupted after `seconds` (0: never). */
static void watch(const char *scenario, double seconds, seen *s)
{
    static char input[4096];
    *s = (seen){.died = -1};
    snprintf(input, sizeof input, "%s", place(scenario));
    unlink(place("out.json"));
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (!CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)) {
        return;
    }
    int kept = open(ptsname(master), O_RDWR | O_NOCTTY); /* until the child has its own */
    double began = now(), killed = 0;
    pid_t child = fork();
    if (child == 0) {
        become_ovl(ptsname(master), input);
    }
    while (waitpid(child, &s->status, WNOHANG) == 0) {
        listen(master, s);
        if (seconds > 0 && killed <= 0 && now() - began >= seconds) {
            killed = now();
            kill(child, SIGINT);
        }
    }
    s->lasted = now() - began;
    s->died = killed > 0 ? now() - killed : -1;
    close(kept);
    while (listen(master, s) && s->length < sizeof s->text - 1 &&
           poll(&(struct pollfd){.fd = master, .events = POLLIN}, 1, 0) > 0) {
    }
    close(master);
}

/* What the last line of the terminal shows in the end. */
static void last_line(const seen *s, char *line, size_t size)
{
    size_t at = 0, end = 0;
    memset(line, 0, size);
    for (size_t i = 0; i < s->length; i++) {
        if (s->text[i] == '\n') {
            memset(line, 0, size);
            at = end = 0;
        } else if (s->text[i] == '\r') {
            at = 0;
        } else if (at < size - 1) {
            line[at++] = s->text[i];
            end = at > end ? at : end;
        }
    }
    while (end > 0 && line[end - 1] == ' ') {
        line[--end] = '\0';
    }
}

static bool is_there(const char *name)
{
    return access(place(name), F_OK) == 0;
}

static void long_work_is_told(void)
{
    static seen s;
    char line[200];
    write_scenario("long.yaml", 4000000);
    watch("long.yaml", 0, &s);
    CHECK(WIFEXITED(s.status) && WEXITSTATUS(s.status) == 0);
    CHECK(is_there("out.json"));
    if (s.lasted > 2.5) { /* a machine that needs less than that says little */
        CHECK(strstr(s.text, " s") != NULL);
        CHECK(strstr(s.text, "the program, ") || strstr(s.text, "finding "));
    }
    /* Five times a second, and the simulation's own. */
    size_t lines = 0;
    for (size_t i = 0; i < s.length; i++) {
        lines += s.text[i] == '\r';
    }
    CHECK((double)lines <= s.lasted * 8 + 20);
    last_line(&s, line, sizeof line);
    CHECK_TEXT(line, "");
}

/* The part that an interrupt came in, of "error: interrupted while freezing the program, after". */
static void part_of(const seen *s, char *part, size_t size)
{
    const char *from = strstr(s->text, "interrupted while "),
               *to = from ? strstr(from, ", after") : NULL;
    const char *stopped = strstr(s->text, "error: stopped ");
    snprintf(part, size, "%.*s", from && to ? (int)(to - from - 18) : 0, from ? from + 18 : "");
    if (stopped) {
        snprintf(part, size, "simulating");
    }
}

static void an_interrupt_ends_every_part(void)
{
    static seen s;
    static char parts[KILLS][200];
    unsigned different = 0;
    write_scenario("some.yaml", 1500000);
    watch("some.yaml", 0, &s);
    double whole = s.lasted;
    for (int i = 0; i < KILLS; i++) {
        watch("some.yaml", 0.15 + whole * 0.8 * i / KILLS, &s);
        bool over = WIFEXITED(s.status) && WEXITSTATUS(s.status) == 0; /* faster than before */
        part_of(&s, parts[i], sizeof parts[i]);
        CHECK(over || (WIFEXITED(s.status) && WEXITSTATUS(s.status) == 130));
        CHECK(over || parts[i][0]);
        CHECK(over || !is_there("out.json"));
        CHECK(s.died < 2); /* at once; the machine may be busy */
        bool known = over;
        for (int k = 0; k < i; k++) {
            known |= strcmp(parts[k], parts[i]) == 0;
        }
        different += !known;
    }
    CHECK(different >= 3);
}

static void nothing_elsewhere(void)
{
    char command[9000], line[200] = "";
    snprintf(command, sizeof command, "'%s' run '%s' --worth none -o '%s' 2>&1", ovl,
             place("some.yaml"), place("out.json"));
    FILE *in = popen(command, "r");
    if (CHECK(in != NULL)) {
        CHECK(fgets(line, sizeof line, in) == NULL);
        CHECK_INT(pclose(in), 0);
    }
}

int main(int argc, char **argv)
{
    static CU_TestInfo tests[] = {
        {"a long run names its parts on a terminal and leaves nothing of that", long_work_is_told},
        {"an interrupt ends every part of it at once, and says which",
         an_interrupt_ends_every_part},
        {"where standard error is no terminal nothing is said", nothing_elsewhere},
        CU_TEST_INFO_NULL};
    if (argc != 3) {
        fprintf(stderr, "usage: terminal OVL SCRATCH\n");
        return 2;
    }
    ovl = argv[1];
    scratch = argv[2];
    return check_main("terminal", tests);
}
