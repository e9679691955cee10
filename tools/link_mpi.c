/* With MPI: what ovl_mpi has instead of link_none.c. */
#include "tools/link.h"

#include <mpi.h>

bool ovl_link_begin(ovl_link *link, const char *const *words, ovl_errs *errs)
{
    int given = 0, rank = 0, size = 1;
    (void)words, (void)errs;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    *link = (ovl_link){(uint32_t)rank, (uint32_t)size, true};
    return true;
}

void ovl_link_share(const ovl_link *link, void *bytes, size_t n)
{
    (void)link;
    assert(n <= INT32_MAX);
    MPI_Bcast(bytes, (int)n, MPI_BYTE, 0, MPI_COMM_WORLD);
}

bool ovl_link_all(const ovl_link *link, bool mine)
{
    int in = mine, out = 0;
    (void)link;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return out != 0;
}

void ovl_link_send(const ovl_link *link, const void *data, size_t n)
{
    (void)link;
    assert(n <= INT32_MAX);
    MPI_Send(data, (int)n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

bool ovl_link_receive(const ovl_link *link, ovl_link_buffer *buffer)
{
    int there = 0, length = 0;
    MPI_Status status;
    (void)link;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &status);
    if (!there) {
        return false;
    }
    MPI_Get_count(&status, MPI_BYTE, &length);
    ovl_vec_reserve(buffer, (uint32_t)length);
    MPI_Recv(buffer->data, length, MPI_BYTE, status.MPI_SOURCE, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    buffer->len = (uint32_t)length;
    return true;
}

void ovl_link_end(ovl_link *link)
{
    if (link->on) {
        MPI_Finalize();
    }
    link->on = false;
}
