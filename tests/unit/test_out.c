#define _XOPEN_SOURCE 700

#include "tests/support/check.h"
#include "tools/out.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void opener(ovl_out *out, const char *path);

static opener *const openers[] = {ovl_out_open, ovl_out_open_named};

typedef struct place {
    char directory[32], path[48];
} place;

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (CHECK(file != NULL)) {
        fputs(text, file);
        fclose(file);
    }
}

/* An empty directory, and a path in it. */
static void begin(place *p)
{
    strcpy(p->directory, "/tmp/ovl-test-out-XXXXXX");
    CHECK(mkdtemp(p->directory) != NULL);
    snprintf(p->path, sizeof p->path, "%s/out", p->directory);
}

/* What the directory holds, as "name=contents" of its only file; "" without one, "several". */
static const char *contents(const place *p, char buf[256])
{
    DIR *directory = opendir(p->directory);
    const struct dirent *entry;
    int n = 0;
    *buf = 0;
    while (directory && (entry = readdir(directory)) != NULL) {
        if (*entry->d_name == '.') {
            continue;
        }
        char path[512], text[128] = "";
        snprintf(path, sizeof path, "%s/%s", p->directory, entry->d_name);
        FILE *file = fopen(path, "r");
        size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
        text[length] = 0;
        snprintf(buf, 256, "%.100s=%s", entry->d_name, text);
        n += 1;
        if (file) {
            fclose(file);
        }
    }
    if (directory) {
        closedir(directory);
    }
    return n > 1 ? "several" : buf;
}

static void end(const place *p)
{
    unlink(p->path);
    CHECK_INT(rmdir(p->directory), 0);
}

static void a_file_is_whole_or_not_there(void)
{
    char buf[256];
    for (size_t i = 0; i < OVL_COUNT(openers); i++) {
        place p;
        ovl_out out;
        begin(&p);
        openers[i](&out, p.path);
        ovl_out_text(&out, "new");
        CHECK(strstr(contents(&p, buf), "new") == NULL);
        CHECK(ovl_out_close(&out) == NULL);
        CHECK_TEXT(contents(&p, buf), "out=new");
        openers[i](&out, p.path);
        ovl_out_printf(&out, "%s", "newer");
        CHECK(ovl_out_close(&out) == NULL);
        CHECK_TEXT(contents(&p, buf), "out=newer");
        openers[i](&out, p.path);
        ovl_out_text(&out, "unwanted");
        ovl_out_discard(&out);
        CHECK_TEXT(contents(&p, buf), "out=newer");
        end(&p);
    }
}

/* Writes for ever, with the signal sent to itself on the way, as by Ctrl-C. */
static void write_until(opener *open, const place *p, int sent, bool ignored)
{
    static char block[4096];
    memset(block, 'x', sizeof block);
    ovl_out out;
    signal(sent, ignored ? SIG_IGN : SIG_DFL); /* not as whoever runs the tests has it */
    open(&out, p->path);
    ovl_out_write(&out, block, sizeof block);
    kill(getpid(), sent);
    for (int i = 0; i < 10000; i++) {
        ovl_out_write(&out, block, sizeof block);
    }
    ovl_out_close(&out);
    _exit(0);
}

/* How the child ended: the signal, or 0. */
static int ended_by(opener *open, const place *p, int sent, bool ignored)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        write_until(open, p, sent, ignored);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void an_interrupted_write_leaves_nothing_behind(void)
{
    static const int sent[] = {SIGINT, SIGTERM, SIGHUP};
    char buf[256];
    for (size_t i = 0; i < OVL_COUNT(openers) * OVL_COUNT(sent); i++) {
        opener *open = openers[i % OVL_COUNT(openers)];
        int number = sent[i / OVL_COUNT(openers)];
        place p;
        begin(&p);
        CHECK_INT(ended_by(open, &p, number, false), number);
        CHECK_TEXT(contents(&p, buf), "");
        put_text(p.path, "old");
        CHECK_INT(ended_by(open, &p, number, false), number);
        CHECK_TEXT(contents(&p, buf), "out=old");
        end(&p);
    }
}

/* Nothing can be done about SIGKILL but to have no name yet. */
static void a_nameless_file_leaves_nothing_even_when_killed(void)
{
    char buf[256];
    place p;
    ovl_out out;
    begin(&p);
    ovl_out_open(&out, p.path);
    bool nameless = out.nameless >= 0;
    ovl_out_discard(&out);
    CHECK_INT(ended_by(ovl_out_open, &p, SIGKILL, false), SIGKILL);
    CHECK(!nameless || strcmp(contents(&p, buf), "") == 0);
    end(&p);
}

/* As under nohup: who ignores a signal is not ended by it. */
static void an_ignored_signal_is_ignored(void)
{
    char buf[256];
    for (size_t i = 0; i < OVL_COUNT(openers); i++) {
        place p;
        begin(&p);
        CHECK_INT(ended_by(openers[i], &p, SIGHUP, true), 0);
        CHECK_HAS(contents(&p, buf), "out=xxx");
        end(&p);
    }
}

static void a_full_device_is_told(void)
{
    ovl_out out;
    ovl_out_open(&out, "/dev/full");
    ovl_out_text(&out, "anything");
    CHECK_TEXT(ovl_out_close(&out), strerror(ENOSPC));
    ovl_out_open(&out, "/nowhere/at/all");
    ovl_out_text(&out, "anything");
    CHECK_TEXT(ovl_out_close(&out), strerror(ENOENT));
}

/* What ovl_out_stream takes a terminal of so many columns for; 0: the system does not know. */
static uint32_t width_of_terminal(unsigned short columns)
{
    ovl_out out = {0};
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (!CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)) {
        return 0;
    }
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY); /* else its end would hang us up */
    FILE *file = slave >= 0 ? fdopen(slave, "r+") : NULL;
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    if (CHECK(file != NULL) && CHECK(ioctl(fileno(file), TIOCSWINSZ, &size) == 0)) {
        ovl_out_stream(&out, file);
        fclose(file);
    }
    close(master);
    return out.width;
}

static void the_width_is_that_of_the_terminal(void)
{
    unsetenv("COLUMNS");
    CHECK_INT(width_of_terminal(132), 132);
    CHECK_INT(width_of_terminal(0), OVL_TERMINAL);
    setenv("COLUMNS", "77", 1);
    CHECK_INT(width_of_terminal(132), 132);
    CHECK_INT(width_of_terminal(0), 77);
    setenv("COLUMNS", "wide", 1);
    CHECK_INT(width_of_terminal(0), OVL_TERMINAL);
    setenv("COLUMNS", "77", 1);
    FILE *file = tmpfile(); /* no terminal */
    ovl_out out = {0};
    if (CHECK(file != NULL)) {
        ovl_out_stream(&out, file);
        fclose(file);
    }
    CHECK_INT(out.width, 77);
    unsetenv("COLUMNS");
}

static CU_TestInfo tests[] = {
    {"a file is whole or not there", a_file_is_whole_or_not_there},
    {"an interrupted write leaves nothing behind", an_interrupted_write_leaves_nothing_behind},
    {"a nameless file leaves nothing even when killed",
     a_nameless_file_leaves_nothing_even_when_killed},
    {"an ignored signal is ignored", an_ignored_signal_is_ignored},
    {"a full device is told", a_full_device_is_told},
    {"the width is that of the terminal", the_width_is_that_of_the_terminal},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("out", tests);
}
