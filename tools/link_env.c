/* What the starters of MPI programs tell a process by its environment. */
#include "tools/link.h"

#include <stdlib.h>

uint32_t ovl_link_processes(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < OVL_COUNT(names); i++) {
        const char *text = getenv(names[i]);
        long n = text ? strtol(text, NULL, 10) : 0;
        if (n > 1 && n <= INT32_MAX) {
            return (uint32_t)n;
        }
    }
    return 1;
}
