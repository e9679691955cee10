/*
 * bench_inspect - a profiler trace of MEGABYTES, made here, read and looked at.
 *
 *     bench_inspect [MEGABYTES]        default 300
 *
 * A quarter of the events are kernels with their launches, operators and flows; every tenth kernel
 * is an all-reduce on a stream of its own. The file lies in the current directory while it is read.
 * Prints a JSON line for the file and one for the same compressed: megabytes, events, seconds (of
 * the clock and of the processor, best of three), megabytes per second, largest resident size.
 * The goal is under 2 s and under 64 MB for 300 MB; more memory is an error.
 */
#include "tools/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void event(FILE *file, uint64_t i)
{
    uint64_t ts = 4458676416788 + i * 3, call = i / 4;
    switch (i % 4) {
    case 0:
        fprintf(file,
                ",\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::linear\", "
                "\"pid\": 100, \"tid\": 100,\n    \"ts\": %" PRIu64 ".123, \"dur\": 12.456,\n    "
                "\"args\": {\n      \"External id\": %" PRIu64 ", \"Record function id\": 0, "
                "\"Input Dims\": [[128, 1024], [1024, 1024]], \"Input type\": [\"float\", "
                "\"float\"]\n    }\n  }",
                ts, call);
        break;
    case 1:
        fprintf(file,
                ",\n  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": "
                "\"cudaLaunchKernel\", \"pid\": 100, \"tid\": 100,\n    \"ts\": %" PRIu64
                ".223, \"dur\": 3.456,\n    \"args\": {\n      \"External id\": %" PRIu64
                ", \"cbid\": 211, \"correlation\": %" PRIu64 "\n    }\n  }",
                ts, call, call);
        break;
    case 2:
        fprintf(
            file,
            ",\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, "
            "\"tid\": 7,\n    \"ts\": %" PRIu64 ".323, \"dur\": 5.400,\n    \"args\": {\n      "
            "\"External id\": %" PRIu64 ", \"queued\": 0, \"device\": 0, \"context\": 1, "
            "\"stream\": %d, \"correlation\": %" PRIu64 ", \"registers per thread\": 16, "
            "\"shared memory\": 0, \"blocks per SM\": 0.5, \"warps per SM\": 2.0, \"grid\": "
            "[128, 1, 1], \"block\": [128, 1, 1], \"est. achieved occupancy %%\": 25\n    }\n  }",
            call % 10 ? "void at::native::vectorized_elementwise_kernel<4, at::native::"
                        "FillFunctor<float>, at::detail::Array<char*, 1> >(int, at::native::"
                        "FillFunctor<float>, at::detail::Array<char*, 1>)"
                      : "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)",
            ts, call, call % 10 ? 7 : 20, call);
        break;
    default:
        fprintf(file,
                ",\n  {\n    \"ph\": \"s\", \"id\": %" PRIu64 ", \"pid\": 100, \"tid\": 100, "
                "\"ts\": %" PRIu64 ".223,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  }",
                call, ts);
    }
}

static uint64_t write_trace(const char *path, long megabytes)
{
    FILE *file = fopen(path, "wb");
    uint64_t n = 0;
    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n  {\"ph\": \"M\"}");
    while (n % 1024 != 0 || ftell(file) < megabytes * 1000000) {
        event(file, n++);
    }
    fprintf(file, "\n  ],\n  \"baseTimeNanoseconds\": 1711964646000000000\n}\n");
    fclose(file);
    return n;
}

static bool look(const char *path)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_comm_pattern pattern;
    ovl_inspection in;
    ovl_comm_pattern_begin(&pattern, OVL_COMM_PATTERN, &errs);
    ovl_inspect_begin(&in, &pattern);
    bool good = ovl_inspect_add(&in, path, &errs) && errs.count == 0;
    ovl_inspect_free(&in);
    ovl_comm_pattern_free(&pattern);
    ovl_arena_free(&arena);
    return good;
}

/* The file once more, compressed. */
static void compress_to(const char *to, const char *from)
{
    static char bytes[1 << 16];
    FILE *file = fopen(from, "rb");
    gzFile gz = gzopen(to, "wb1");
    if (!file || !gz) {
        perror(to);
        exit(1);
    }
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;) {
        gzwrite(gz, bytes, (unsigned)n);
    }
    gzclose(gz);
    fclose(file);
}

static bool measure(const char *path, long megabytes, uint64_t n)
{
    double best = 1e9, cpu = 1e9;
    bool good = true;
    for (int i = 0; i < 3; i++) {
        double start = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
        good = look(path) && good;
        best = OVL_MIN(best, seconds(CLOCK_MONOTONIC) - start);
        cpu = OVL_MIN(cpu, seconds(CLOCK_PROCESS_CPUTIME_ID) - used);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"file\":\"%s\",\"megabytes\":%ld,\"events\":%" PRIu64
           ",\"seconds\":%.3f,\"cpu_s\":%.3f,\"megabytes_per_s\":%.0f,"
           "\"maxrss_mib\":%.1f}\n",
           path, megabytes, n, best, cpu, (double)megabytes / best, (double)usage.ru_maxrss / 1024);
    return good && usage.ru_maxrss <= 64L * 1024;
}

int main(int argc, char **argv)
{
    static const char path[] = "bench_inspect.json", packed[] = "bench_inspect.json.gz";
    long megabytes = argc == 2 ? strtol(argv[1], NULL, 10) : 300;
    uint64_t n = write_trace(path, megabytes);
    bool good = measure(path, megabytes, n);
    compress_to(packed, path);
    unlink(path);
    good = measure(packed, megabytes, n) && good;
    unlink(packed);
    return good ? 0 : 1;
}
