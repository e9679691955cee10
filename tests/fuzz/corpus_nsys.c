/*
 * corpus_nsys - writes the corpus of fuzz_nsys into a directory: exports of several schemas, each
 * whole, cut, and with bytes changed.
 *
 *     corpus_nsys DIRECTORY
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 16, CUTS = 24, CHANGED = 40 };

/* Two processes with the same correlation numbers, a step, a wait for an event, memory. */
static const char whole[] =
    "PRAGMA page_size=512; VACUUM;"
    "CREATE TABLE StringIds(id INTEGER NOT NULL, value TEXT);"
    "INSERT INTO StringIds VALUES (1,'gemm'),(2,'ncclDevKernel_AllReduce_Sum_f32'),"
    "(3,'cudaLaunchKernel'),(4,'cudaStreamWaitEvent_v3020');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(\"end\" INTEGER, start INTEGER, deviceId INTEGER,"
    " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10,0,0,7,1,0x1000000,1),"
    "(40,30,0,9,2,0x1000000,2),(10,0,1,7,1,0x2000000,1),(40,30,1,7,2,0x2000000,2);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, \"end\" INTEGER, globalTid INTEGER,"
    " correlationId INTEGER, nameId INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (-5,-4,0x1000007,1,3),(25,26,0x1000007,2,3),"
    "(20,21,0x1000007,5,4),(-5,-4,0x2000009,1,3),(5,6,0x2000009,2,3);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER, \"end\" INTEGER, streamId "
    "INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER,"
    " eventSyncId INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (20,21,9,5,0x1000000,2,1,1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(streamId INTEGER, correlationId INTEGER,"
    " globalPid INTEGER, eventId INTEGER, eventSyncId INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (7,1,0x1000000,1,1);"
    "CREATE TABLE NVTX_EVENTS(start INTEGER, \"end\" INTEGER, text TEXT, textId INTEGER,"
    " globalTid INTEGER, jsonText TEXT, binaryData BLOB);"
    "INSERT INTO NVTX_EVENTS VALUES (-10,100,'ProfilerStep#1',NULL,0x1000007,NULL,NULL),"
    "(24,27,'ncclAllReduce',NULL,0x1000007,'{\"Message size [bytes]\": 4096}',NULL),"
    "(28,29,'ncclAllReduce',NULL,0x1000007,NULL,x'0100000000000000050000010000000018000000"
    "0000000038000000000000004d000000000000f0002000000000000000000000000000'),"
    "(-9,-8,'ncclCommInitRank',NULL,0x1000007,NULL,x'01000000000000000500000100'),"
    "(-7,-6,'ncclCommInitRank',NULL,0x1000007,'{\"NCCL communicator ID\": "
    "99999999999999999999, \"No. of ranks\": -1}',NULL);"
    "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(schemaId INTEGER, name TEXT, \"offset\" INTEGER);"
    "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (16777221,'NCCL communicator ID',NULL),"
    "(16777221,'Message size [bytes]',8),(16777221,'No. of ranks',9223372036854775807);"
    "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INTEGER, deviceId INTEGER, bytes INTEGER,"
    " memoryOperationType INTEGER);"
    "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (3,0,70,1),(1,0,100,0);";

/* Values no export should have: no time, times beyond any, texts in the place of numbers. */
static const char odd[] =
    "PRAGMA page_size=512; VACUUM;"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V2(start, \"end\", deviceId, streamId, correlationId,"
    " shortName);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL_V2 VALUES (NULL,5,0,0,0,'k'),"
    "(9223372036854775807,-9223372036854775808,9223372036854775807,-1,-1,'k'),"
    "(-9223372036854775808,9223372036854775807,0,0,0,NULL),(1e300,2,0,0,0,'k'),"
    "('a','b','c','d','e',x'00ff00'),(4611686018427387903,4611686018427387903,0,1,1,'nccl'),"
    "(30,20,0,1,1,'nccl'),(10,10,0,1,1,'nccl'),(10,10,0,1,1,'nccl');"
    "CREATE TABLE NVTX_EVENTS(start, \"end\", text);"
    "INSERT INTO NVTX_EVENTS VALUES "
    "(5,1,'ProfilerStep#99999999999999999999'),(0,9,'ProfilerStep');";

static const char empty[] =
    "PRAGMA page_size=512; VACUUM; CREATE TABLE META_DATA_EXPORT(name, value);"
    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION','9.9.9');";

static void write_file(const char *directory, const char *name, int number, const uint8_t *bytes,
                       size_t count)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s_%03d", directory, name, number);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static size_t make(const char *directory, const char *sql, uint8_t *bytes)
{
    char path[4096];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/.made", directory);
    remove(path);
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
        exit(1);
    }
    sqlite3_close(db);
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(bytes, 1, MOST, file) : 0;
    if (file) {
        fclose(file);
    }
    remove(path);
    return count;
}

static void write_all(const char *directory, const char *name, const char *sql, uint8_t *bytes)
{
    size_t count = make(directory, sql, bytes);
    uint32_t random = 1;
    write_file(directory, name, 0, bytes, count);
    for (int i = 1; i < CUTS; i++) {
        write_file(directory, name, i, bytes, count * (size_t)i / CUTS);
    }
    for (int i = 0; i < CHANGED; i++) { /* changes add up, so that later files are worse */
        random = random * 1664525 + 1013904223;
        bytes[(random >> 8) % count] = (uint8_t)(random >> 24);
        write_file(directory, name, 100 + i, bytes, count);
    }
}

int main(int argc, char **argv)
{
    static uint8_t bytes[MOST];
    if (argc != 2) {
        fprintf(stderr, "usage: corpus_nsys DIRECTORY\n");
        return 2;
    }
    write_all(argv[1], "whole", whole, bytes);
    write_all(argv[1], "odd", odd, bytes);
    write_all(argv[1], "empty", empty, bytes);
    return 0;
}
