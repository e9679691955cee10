/* Without MPI: one process; or the program beside this one that has it. */
#include "tools/link.h"

#include <string.h>
#include <unistd.h>

/* The program of this name beside the one that runs; NULL if the system does not say where. */
static const char *beside(const char *name, ovl_arena *arena)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        return NULL;
    }
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    return slash ? ovl_arena_printf(arena, "%.*s/%s", (int)(slash - self), self, name) : NULL;
}

static void become(const char *program, const char *const *words)
{
    union {
        const char *const *borrowed;
        char *const *words;
    } argv = {words};
    if (program && access(program, X_OK) == 0) {
        execv(program, argv.words);
    }
}

bool ovl_link_begin(ovl_link *link, const char *const *words, ovl_errs *errs)
{
    uint32_t n = ovl_link_processes();
    *link = (ovl_link){.size = 1};
    if (n == 1) {
        return true;
    }
    if (words) {
        become(beside("ovl_mpi", errs->arena), words);
    }
    ovl_error(errs, OVL_E_USAGE, (ovl_mark){0},
              "this ovl was built without MPI, so each of the %" PRIu32
              " processes would simulate everything; build it where MPI is installed, or start it "
              "%" PRIu32 " times with --shard 1/%" PRIu32 " ... and --store",
              n, n, n);
    return false;
}

void ovl_link_share(const ovl_link *link, void *bytes, size_t n)
{
    (void)link, (void)bytes, (void)n;
}

bool ovl_link_all(const ovl_link *link, bool mine)
{
    (void)link;
    return mine;
}

void ovl_link_send(const ovl_link *link, const void *data, size_t n)
{
    (void)link, (void)data, (void)n;
}

bool ovl_link_receive(const ovl_link *link, ovl_link_buffer *buffer)
{
    (void)link, (void)buffer;
    return false;
}

void ovl_link_end(ovl_link *link)
{
    link->on = false;
}
