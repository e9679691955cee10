#include "tools/command.h"
#include "tools/deadly.h"
#include "tools/part.h"

#include <fcntl.h>
#include <unistd.h>

/* A stream closed by who started us would give its number to the first file opened, and text would
 * land in it. A place that cannot be written to fails as it should. */
static void fill_closed(int fd)
{
    if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDONLY) != fd) {
        _exit(OVL_E_USAGE);
    }
}

int main(int argc, char **argv)
{
    for (int fd = 0; fd <= 2; fd++) {
        fill_closed(fd);
    }
    ovl_deadly_told();
    ovl_part_shown();
    return ovl_program_run(argc, (const char *const *)argv, stdout, stderr);
}
