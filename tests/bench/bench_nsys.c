/*
 * bench_nsys - an Nsight Systems export of MEGABYTES, made here, read and looked at.
 *
 *     bench_nsys [MEGABYTES]        default 1000
 *
 * Kernels with their launches, every tenth an all-reduce on a stream of its own. The file is made
 * by a process of its own, lies in the current directory while it is read, and goes afterwards.
 * Prints one JSON line: megabytes, kernels, seconds (of the clock and of the processor), and the
 * largest resident size, which does not grow with the file; more than 64 MiB is an error.
 */
#include "tools/inspect.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCH 100000

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(sqlite3 *db, int code)
{
    if (code != SQLITE_OK && code != SQLITE_DONE) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
        exit(1);
    }
}

static const char tables[] =
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
    "CREATE TABLE StringIds(id INTEGER NOT NULL, value TEXT);"
    "INSERT INTO StringIds VALUES (1,'void at::native::vectorized_elementwise_kernel<4, Fill>'),"
    "(2,'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)'),"
    "(3,'cudaLaunchKernel_v7000');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER, deviceId INTEGER,"
    " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName"
    " INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER,"
    " blockY INTEGER, blockZ INTEGER, registersPerThread INTEGER, staticSharedMemory INTEGER,"
    " dynamicSharedMemory INTEGER, launchType INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, \"end\" INTEGER, eventClass INTEGER,"
    " globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER,"
    " callchainId INTEGER);";

/* One statement for each table; `i` is what they differ in. */
static void insert(sqlite3 *db, sqlite3_stmt *statement, int64_t i)
{
    sqlite3_bind_int64(statement, 1, i);
    must(db, sqlite3_step(statement));
    must(db, sqlite3_reset(statement));
}

static void make(const char *path, int64_t bytes)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *kernel, *call;
    must(db, sqlite3_open(path, &db));
    must(db, sqlite3_exec(db, tables, NULL, NULL, NULL));
    must(db, sqlite3_prepare_v2(
                 db,
                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5000 + 6000 * ?1, 10400 + 6000 * "
                 "?1, 0, 1, iif(?1 % 10, 7, 20), ?1, 281474976710656, iif(?1 % 10, 1, 2), iif(?1 % "
                 "10, 1, 2), 128, 1, 1, 128, 1, 1, 16, 0, 0, 1)",
                 -1, &kernel, NULL));
    must(db, sqlite3_prepare_v2(db,
                                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (6000 * ?1, 3000 + "
                                "6000 * ?1, 0, 281474976710700, ?1, 3, 0, NULL)",
                                -1, &call, NULL));
    struct stat about = {0};
    for (int64_t i = 0; about.st_size < bytes;) {
        must(db, sqlite3_exec(db, "BEGIN", NULL, NULL, NULL));
        for (int64_t end = i + BATCH; i < end; i++) {
            insert(db, kernel, i);
            insert(db, call, i);
        }
        must(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
        stat(path, &about);
    }
    sqlite3_finalize(kernel);
    sqlite3_finalize(call);
    must(db, sqlite3_close(db));
}

static bool make_apart(const char *path, int64_t bytes)
{
    int status = 1;
    unlink(path);
    pid_t child = fork();
    if (child == 0) {
        make(path, bytes);
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* How many kernels were read; 0: something went wrong. */
static uint64_t look(const char *path)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_comm_pattern pattern;
    ovl_inspection in;
    ovl_comm_pattern_begin(&pattern, OVL_COMM_PATTERN, &errs);
    ovl_inspect_begin(&in, &pattern);
    bool good = ovl_inspect_add(&in, path, &errs) && errs.count == 0 && in.devices.len == 1;
    uint64_t kernels = good ? in.devices.data[0].all.kernels : 0;
    ovl_inspect_free(&in);
    ovl_comm_pattern_free(&pattern);
    ovl_arena_free(&arena);
    return kernels;
}

int main(int argc, char **argv)
{
    static const char path[] = "bench_nsys.sqlite";
    long megabytes = argc == 2 ? strtol(argv[1], NULL, 10) : 1000;
    if (!make_apart(path, (int64_t)megabytes * 1000000)) {
        return 1;
    }
    double start = seconds(CLOCK_MONOTONIC);
    uint64_t kernels = look(path);
    double clock = seconds(CLOCK_MONOTONIC) - start, cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    unlink(path);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double resident = (double)usage.ru_maxrss * 1024;
    printf("{\"megabytes\":%ld,\"kernels\":%" PRIu64 ",\"seconds\":%.3f,\"cpu_s\":%.3f,"
           "\"maxrss_mib\":%.1f}\n",
           megabytes, kernels, clock, cpu, resident / 1048576);
    return kernels && resident <= 64 * 1048576.0 ? 0 : 1;
}
