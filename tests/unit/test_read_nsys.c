/* Nsight Systems exports, made here: several schemas, missing tables, processes, damage. */
#include "tests/unit/looking.h"
#include "tools/see.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes a database with this SQL, cuts it to `keep` bytes (0: all), and looks at it. */
static void look_in(look *l, const char *sql, long keep)
{
    sqlite3 *db = NULL;
    char path[] = "/tmp/ovl_%nsys?XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    if (keep) {
        CHECK_INT(ftruncate(fd, keep), 0);
    }
    close(fd);
    begin(l, OVL_COMM_PATTERN);
    l->good = ovl_inspect_add(&l->in, path, &l->errs);
    unlink(path);
}

#define NAMES                                                                                      \
    "CREATE TABLE StringIds(id INTEGER NOT NULL, value TEXT);"                                     \
    "INSERT INTO StringIds VALUES (1,'gemm'),(2,'ncclDevKernel_AllReduce_Sum_f32'),"               \
    "(3,'cudaLaunchKernel'),(4,'cudaDeviceSynchronize_v3020');"

/* Two processes use the same correlation numbers: the launch of each kernel is its own process'.
 * On device 0 the gap [10, 30) ends with a kernel launched at 25 in its process. */
static void launches_are_found_in_their_process(void)
{
    look l;
    look_in(
        &l,
        NAMES
        "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
        "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION','3.25.0');"
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, systemClockNs INTEGER);"
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1779630014975716426, 5);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(extra TEXT, \"end\" INTEGER, start INTEGER,"
        " deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
        " demangledName INTEGER, shortName INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
        " ('',10,0,0,7,1,0x1000000,1,1),('',40,30,0,9,2,0x1000000,2,2),"
        " ('',10,0,1,7,1,0x2000000,1,1),('',40,30,1,7,2,0x2000000,1,1);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, \"end\" INTEGER, deviceId "
        "INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (40,45,0,7,9,0x1000000,100);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, \"end\" INTEGER, globalTid "
        "INTEGER, correlationId INTEGER, nameId INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (-5,-4,0x1000007,1,3),"
        "(25,26,0x1000007,2,3),(-5,-4,0x2000009,1,3),(5,6,0x2000009,2,3);",
        0);
    CHECK(l.good);
    CHECK_TEXT(l.in.files.data[0].version, "3.25.0");
    if (CHECK_INT(l.in.devices.len, 2)) {
        const ovl_inspect_device *d = l.in.devices.data;
        CHECK_INT(d[0].all.comm_kernels, 1);
        CHECK_INT(d[0].all.mem, 5);
        CHECK_INT(d[0].all.span, 45);
        CHECK_INT(d[0].idle.host, 15);
        CHECK_INT(d[0].idle.queued, 5);
        CHECK_INT(d[0].n_unlinked, 0);
        CHECK_INT(d[1].idle.queued, 20);
        CHECK_INT(d[1].idle.host, 0);
    }
    CHECK_INT(l.in.parties.data[0].base, 1779630014975716426);
    done(&l);
}

/* Calls of two processes with the same numbers, and kernels that do not say of which they are: to
 * match them would mix the two, so none has a launch. With calls of one process they have. */
#define WITHOUT_PROCESS                                                                            \
    NAMES                                                                                          \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER, deviceId INTEGER,"    \
    " streamId INTEGER, correlationId INTEGER, shortName INTEGER);"                                \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0,10,0,7,1,1),(30,40,0,7,2,1);"                \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, \"end\" INTEGER, globalTid "          \
    "INTEGER, correlationId INTEGER, nameId INTEGER);"                                             \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (-5,-4,0x1000007,1,3),(25,26,0x1000007,2,3);"

static void kernels_without_a_process_beside_several_have_no_launch(void)
{
    look l;
    look_in(&l, WITHOUT_PROCESS, 0);
    CHECK_INT(l.in.devices.data[0].n_unlinked, 0);
    CHECK(!was_said(&l, "no globalPid"));
    done(&l);
    look_in(&l,
            WITHOUT_PROCESS "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (-3,-2,0x2000009,1,3);",
            0);
    CHECK_INT(l.in.devices.data[0].n_unlinked, 2);
    CHECK(was_said(&l, "(no globalPid), and the calls are of several"));
    done(&l);
}

/* No globalPid, no demangledName, a version behind the name of the table, no other table. */
static void small_schemas_are_enough(void)
{
    look l;
    look_in(&l,
            NAMES
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V2(start INTEGER, \"end\" INTEGER, deviceId "
            "INTEGER, streamId INTEGER, correlationId INTEGER, shortName INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL_V2 VALUES (0,10,0,7,1,1),(5,20,0,9,2,2),"
            "(30,25,0,7,3,1),(NULL,50,0,7,4,1);",
            0);
    CHECK(l.good);
    CHECK_INT(l.in.devices.data[0].all.kernels, 3);
    CHECK_INT(l.in.devices.data[0].all.overlap, 5);
    CHECK(was_said(&l, "1 duration is negative"));
    CHECK(was_said(&l, "1 event has no time"));
    done(&l);
    look_in(&l,
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER, deviceId "
            "INTEGER, shortName TEXT); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
            "(0,10,0,'ncclKernel');",
            0);
    CHECK_INT(l.in.devices.data[0].all.comm_kernels, 1);
    done(&l);
    look_in(&l, NAMES, 0);
    CHECK(l.good);
    CHECK(was_said(&l, "no GPU work"));
    done(&l);
}

static void steps_and_memory_are_found(void)
{
    look l;
    look_in(&l,
            NAMES
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER, deviceId "
            "INTEGER, demangledName INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10,20,0,1),(110,140,0,1);"
            "INSERT INTO StringIds VALUES (9,'ProfilerStep#2');"
            "CREATE TABLE NVTX_EVENTS(start INTEGER, \"end\" INTEGER, text TEXT, textId INTEGER);"
            "INSERT INTO NVTX_EVENTS VALUES (0,100,'ProfilerStep#1',NULL),(100,200,NULL,9),"
            "(1,NULL,'ProfilerStep#3',NULL),(3,4,'aten::add',NULL);"
            "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INTEGER, deviceId INTEGER, bytes "
            "INTEGER, memoryOperationType INTEGER);"
            "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (3,0,70,1),(1,0,100,0),(2,0,50,0);",
            0);
    if (CHECK_INT(l.in.steps.len, 2)) {
        CHECK_INT(l.in.steps.data[0].m.compute, 10);
        CHECK_INT(l.in.steps.data[1].m.compute, 30);
    }
    CHECK_INT(l.in.memory.data[0].allocated, 150);
    done(&l);
}

#define SIZE_PAYLOAD                                                                               \
    "0100000000000000050000010000000018000000000000003800000000000000"                             \
    "4d000000000000f000200000000000000000000000000000"
#define INIT_PAYLOAD                                                                               \
    "01000000000000000b0000010000000018000000000000003800000000000000"                             \
    "4d000000000000f008000000030000000000000000000000"

/* Schemas and payloads as real exports have them: the first field of a schema has no offset, and a
 * payload stands behind a header of 32 bytes with its schema at byte 8. The communicator is
 * 0xf00000000000004d, which is no int64.
 *
 * The first all-reduce is launched at 25, inside the annotated call [24, 27) of its thread: 4096
 * bytes, as text. The second at 45, inside [44, 47): its payload has the size at byte 8, 0x2000 =
 * 8192. The third is launched by another thread. The all-gather states the 512 bytes of one of the
 * 8 ranks that the communicator was made of: 4096; the other all-gather is of a communicator that
 * was made before the recording. */
static void sizes_come_from_annotations_of_nccl(void)
{
    look l;
    look_in(&l,
            NAMES
            "INSERT INTO StringIds VALUES (8,'ncclDevKernel_AllGather_RING'),"
            "(9,'{\"NCCL communicator ID\": 17293822569102704717, \"Message size [bytes]\": "
            "512}');"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER, deviceId "
            "INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, shortName);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30,40,0,9,2,0x1000000,2),"
            "(50,60,0,9,3,0x1000000,2),(70,80,0,9,4,0x1000000,2),(90,95,0,9,5,0x1000000,8),"
            "(100,105,0,9,6,0x1000000,8),(0,10,0,7,1,0x1000000,1);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, \"end\" INTEGER, globalTid "
            "INTEGER, correlationId INTEGER, nameId INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (-5,-4,0x1000007,1,3),"
            "(25,26,0x1000007,2,3),(45,46,0x1000007,3,3),(45,46,0x1000008,4,3),"
            "(85,86,0x1000007,5,3),(97,98,0x1000007,6,3);"
            "CREATE TABLE NVTX_EVENTS(start INTEGER, \"end\" INTEGER, text TEXT, textId INTEGER,"
            " globalTid INTEGER, jsonTextId INTEGER, jsonText TEXT, binaryData BLOB);"
            "INSERT INTO NVTX_EVENTS VALUES (24,27,'ncclAllReduce',NULL,0x1000007,NULL,"
            "'{\"NCCL communicator ID\": 17293822569102704717, \"Message size [bytes]\": 4096}',"
            "NULL),(44,47,'ncclAllReduce',NULL,0x1000007,NULL,NULL,x'" SIZE_PAYLOAD "'),"
            "(84,87,'ncclAllGather',NULL,0x1000007,9,NULL,NULL),"
            "(96,99,'ncclAllGather',NULL,0x1000007,NULL,'{\"NCCL communicator ID\": 5, \"Message "
            "size [bytes]\": 512}',NULL),"
            "(-90,-80,'ncclCommInitRankConfig',NULL,0x1000007,NULL,NULL,x'" INIT_PAYLOAD "');"
            "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId INTEGER, schemaId INTEGER, idx "
            "INTEGER, type INTEGER, name TEXT, \"offset\" INTEGER);"
            "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES "
            "(1,16777221,0,18,'NCCL communicator ID',NULL),"
            "(1,16777221,1,22,'Message size [bytes]',8),"
            "(1,16777221,2,NULL,'Reduction operation',16),"
            "(1,16777220,1,22,'Message size [bytes]',0),"
            "(1,16777227,0,18,'NCCL communicator ID',NULL),(1,16777227,1,5,'No. of ranks',8),"
            "(1,16777227,2,5,'Rank',12),(1,16777227,3,5,'CUDA device',16);",
            0);
    if (CHECK_INT(l.in.collectives.len, 5)) {
        const ovl_inspect_collective *c = l.in.collectives.data;
        CHECK_TEXT(c[0].op, "all_reduce");
        CHECK_TEXT(c[0].group, "comm f00000000000004d");
        CHECK_INT(c[0].group_size, 8);
        CHECK_INT(c[0].bytes, 8192);
        CHECK_INT(c[1].bytes, 4096);
        CHECK_TEXT(c[2].op, "all_gather");
        CHECK_INT(c[2].bytes, 4096);
        CHECK_TEXT(c[3].group, "comm 5");
        CHECK_INT(c[3].group_size, -1);
        CHECK_INT(c[3].bytes, -1);
        CHECK_TEXT(c[4].op, "all_reduce");
        CHECK_INT(c[4].bytes, -1);
        CHECK(c[4].group == NULL);
    }
    CHECK_INT(l.in.devices.data[0].all.comm_kernels, 5);
    done(&l);
}

/* Kinds of copies as the exporter counts them, and operations without an end. */
#define COPIES                                                                                     \
    NAMES                                                                                          \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, deviceId INTEGER, streamId INTEGER,"   \
    " shortName INTEGER);"                                                                         \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0,0,7,1);"                                     \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, \"end\" INTEGER, deviceId INTEGER,"    \
    " streamId INTEGER, copyKind INTEGER, bytes INTEGER);"                                         \
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1,2,0,7,1,10),(3,4,0,7,2,20),(5,6,0,7,8,30),"  \
    "(7,8,0,7,9,NULL),(9,10,0,7,10,50),(11,12,0,7,77,60);"

static void copies_have_the_names_of_their_kinds(void)
{
    static const char *const names[] = {"gemm",        "Memcpy HtoD", "Memcpy DtoH", "Memcpy DtoD",
                                        "Memcpy HtoH", "Memcpy PtoP", "Memcpy"};
    static const int64_t bytes[] = {-1, 10, 20, 30, -1, 50, 60};
    char path[] = "/tmp/ovl_nsys_XXXXXX";
    sqlite3 *db = NULL;
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_seen seen;
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, COPIES, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    CHECK(ovl_see_file(path, &arena, &seen, &errs));
    CHECK_HAS(ovl_err_text(&arena, &errs.items[0]), "1 device operation has no duration");
    if (CHECK_INT(seen.n_ops, OVL_COUNT(names))) {
        for (size_t i = 0; i < OVL_COUNT(names); i++) {
            CHECK_TEXT(ovl_names_text(&seen.names, seen.ops[i].name), names[i]);
            CHECK_INT(seen.ops[i].bytes, bytes[i]);
        }
    }
    unlink(path);
    ovl_arena_free(&arena);
}

/* A kernel without an end takes 0; one without a start is skipped, and is said once. */
static void missing_times_and_tables_are_said(void)
{
    look l;
    look_in(&l,
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, NULL, 0), (NULL, NULL, 0)",
            0);
    CHECK(l.good);
    CHECK(was_said(&l, "1 device operation has no duration"));
    CHECK(was_said(&l, "1 event has no time"));
    CHECK(was_said(&l, "no table of names (StringIds)"));
    done(&l);
    look_in(&l, NAMES, 0);
    CHECK(was_said(&l, "no table of kernels"));
    CHECK(!was_said(&l, "no table of names"));
    done(&l);
}

/* 4 pages of 4096 bytes at least; the header counts them. */
static void a_database_that_lost_its_end_is_said(void)
{
    look l;
    look_in(&l, NAMES "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId);", 0);
    CHECK(!was_said(&l, "the database is truncated"));
    done(&l);
    look_in(&l, NAMES "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId);", 8192);
    CHECK(was_said(&l, "the database is truncated: by its header it has 12288 bytes, the file has "
                       "8192"));
    done(&l);
}

/* The second row is in the log only, which is not read while nobody closes the database. */
static void a_log_beside_the_database_is_said(void)
{
    static const char sql[] =
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;" NAMES
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId, streamId, shortName);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1, 2, 0, 7, 1);"
        "PRAGMA wal_checkpoint(TRUNCATE);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(3, 4, 0, 7, 1);";
    sqlite3 *db = NULL;
    char path[] = "/tmp/ovl_log_XXXXXX";
    look l;
    close(mkstemp(path));
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    begin(&l, OVL_COMM_PATTERN);
    CHECK(ovl_inspect_add(&l.in, path, &l.errs));
    CHECK(was_said(&l, "a write-ahead log lies beside the database"));
    CHECK_INT(l.in.devices.data[0].all.kernels, 1);
    sqlite3_close(db); /* puts the log in */
    CHECK(ovl_inspect_add(&l.in, path, &l.errs));
    CHECK_INT(l.in.devices.data[1].all.kernels, 2);
    unlink(path);
    done(&l);
}

static void other_and_damaged_databases_are_refused(void)
{
    look l;
    look_in(&l, "CREATE TABLE t(a)", 0);
    CHECK(!l.good);
    CHECK_INT(ovl_errs_status(&l.errs), OVL_E_INPUT);
    CHECK(was_said(&l, "without the tables of an Nsight Systems export"));
    done(&l);
    for (long keep = 16; keep < 8192; keep += 509) {
        look_in(&l, NAMES, keep);
        CHECK(l.good || ovl_errs_status(&l.errs) == OVL_E_INPUT);
        done(&l);
    }
}

static CU_TestInfo tests[] = {
    {"launches are found in their process", launches_are_found_in_their_process},
    {"kernels without a process beside several have no launch",
     kernels_without_a_process_beside_several_have_no_launch},
    {"small schemas are enough", small_schemas_are_enough},
    {"steps and memory are found", steps_and_memory_are_found},
    {"sizes come from annotations of NCCL", sizes_come_from_annotations_of_nccl},
    {"copies have the names of their kinds", copies_have_the_names_of_their_kinds},
    {"missing times and tables are said", missing_times_and_tables_are_said},
    {"a database that lost its end is said", a_database_that_lost_its_end_is_said},
    {"a log beside the database is said", a_log_beside_the_database_is_said},
    {"other and damaged databases are refused", other_and_damaged_databases_are_refused},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("read_nsys", tests);
}
