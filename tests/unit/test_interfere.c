/* Three runs of Nsight Systems, made here: shapes, metrics, arrival of members. */
#include "tests/support/check.h"
#include "tools/interfere.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCHEMA                                                                                     \
    "CREATE TABLE StringIds(id INTEGER, value TEXT);"                                              \
    "INSERT INTO StringIds VALUES (1,'void ns::gemm<float>(int)'),"                                \
    "(2,'ncclDevKernel_AllGather_RING_LL');"                                                       \
    "CREATE TABLE TARGET_INFO_GPU(id INTEGER, memoryBandwidth INTEGER, smCount INTEGER);"          \
    "INSERT INTO TARGET_INFO_GPU VALUES (0, 2000000000000, 108);"                                  \
    "CREATE TABLE TARGET_INFO_GPU_METRICS(typeId INTEGER, metricId INTEGER, metricName TEXT);"     \
    "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (7, 1, 'SMs Active [Throughput %]'),"              \
    "(7, 2, 'DRAM Read Bandwidth [Throughput %]'),(7, 3, 'DRAM Write Bandwidth [Throughput %]'),"  \
    "(7, 4, 'PCIe Read Throughput [Throughput %]');"                                               \
    "CREATE TABLE GPU_METRICS(timestamp INTEGER, typeId INTEGER, metricId INTEGER, value "         \
    "INTEGER);"                                                                                    \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER, deviceId INTEGER,"    \
    " streamId INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,"           \
    " blockX INTEGER, blockY INTEGER, blockZ INTEGER);"                                            \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "

typedef struct bench {
    ovl_interfere in;
    ovl_interfere_wishes wishes;
    ovl_comm_pattern pattern;
    ovl_arena arena;
    ovl_errs errs;
    char path[OVL_ROLES][2][32];
    const char *paths[OVL_ROLES][2];
    bool good;
} bench;

static void write_file(char *path, const char *sql)
{
    sqlite3 *db = NULL;
    strcpy(path, "/tmp/ovl_runs_XXXXXX");
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* `sql`: of each run one file, or two. */
static void run_files(bench *b, const char *const sql[OVL_ROLES][2], double wire)
{
    memset(b, 0, sizeof *b);
    b->errs.arena = &b->arena;
    b->wishes.wire = wire;
    for (int role = 0; role < OVL_ROLES; role++) {
        b->wishes.paths[role] = b->paths[role];
        for (int i = 0; i < 2 && sql[role][i]; i++) {
            write_file(b->path[role][i], sql[role][i]);
            b->paths[role][i] = b->path[role][i];
            b->wishes.n_paths[role]++;
        }
    }
    ovl_comm_pattern_begin(&b->pattern, OVL_COMM_PATTERN, &b->errs);
    b->good = ovl_interfere_run(&b->in, &b->pattern, &b->wishes, &b->errs);
    for (int role = 0; role < OVL_ROLES; role++) {
        for (uint32_t i = 0; i < b->wishes.n_paths[role]; i++) {
            unlink(b->path[role][i]);
        }
    }
}

static void run(bench *b, const char *compute, const char *comm, const char *overlap, double wire)
{
    const char *const sql[OVL_ROLES][2] = {{compute}, {comm}, {overlap}};
    run_files(b, sql, wire);
}

static void done(bench *b)
{
    ovl_interfere_free(&b->in);
    ovl_comm_pattern_free(&b->pattern);
    ovl_arena_free(&b->arena);
}

#define GEMM(from, to) "(" #from "," #to ",0,7,1, 8,1,1, 256,1,1)"
#define NCCL(from, to) "(" #from "," #to ",0,9,2, 16,1,1, 512,1,1)"

/* The kernel reads 60 and writes 40 % of 2000 GB/s alone. It takes 100 us, beside the all-gather
 * 2000 / (2000 - u) = 10/7 times as long: u = 600 GB/s, at 300 GB/s on the wire a factor of 2. The
 * all-gather is not slowed. Samples while nothing ran, and of PCIe, do not count. */
static void metrics_tell_what_a_kernel_wants(void)
{
    bench b;
    run(&b,
        SCHEMA GEMM(0, 100000) "," GEMM(
            200000,
            300000) ";"
                    "INSERT INTO GPU_METRICS VALUES (50000,7,1,90),(50000,7,2,60),(50000,7,3,40),"
                    "(250000,7,1,92),(250000,7,2,60),(250000,7,3,40),(150000,7,1,0),(150000,7,2,0),"
                    "(50000,7,4,99),(50000,8,1,1);",
        SCHEMA NCCL(0, 700000) ";",
        SCHEMA NCCL(0, 700000) "," GEMM(0, 142857) "," GEMM(200000, 342857) ";", 300e9);
    CHECK(b.good);
    CHECK_INT(b.in.n_kernels, 1);
    CHECK_TEXT(b.in.kernels[0].name, "gemm");
    CHECK_TEXT(b.in.comms[0].name, "all_gather");
    CHECK_NEAR(ovl_interfere_of(&b.in.kernels[0], 0).value, 1.42857, 1e-9);
    CHECK_NEAR(ovl_interfere_of(&b.in.comms[0], 0).value, 1, 1e-9);
    const ovl_sampled *s = &b.in.runs[OVL_ROLE_COMPUTE].sampled;
    CHECK_INT(s->n_hbm, 2);
    CHECK_NEAR(s->hbm / 2, 100, 1e-9);
    CHECK_INT(s->n_sms, 2);
    CHECK_NEAR(s->sms / 2, 91, 1e-9);
    CHECK(!b.in.shared.hbm_why);
    CHECK_NEAR(b.in.shared.hbm_factor.value, 2, 1e-3);
    /* 285.714 of 700 us are under kernels; 200 + 85.714 + 414.286 + 0 = 700. */
    CHECK_INT(b.in.devices.data[0].hidden, 285714);
    CHECK_INT(b.in.devices.data[0].tail, 414286);
    CHECK_INT(b.in.devices.data[0].idle, 0);
    CHECK_INT(b.in.devices.data[0].segment, 700000);
    done(&b);
}

static void another_grid_is_another_kernel(void)
{
    bench b;
    run(&b, SCHEMA GEMM(0, 100000) ";", SCHEMA NCCL(0, 700000) ";",
        SCHEMA NCCL(0, 700000) ",(0,142857,0,7,1, 9,1,1, 256,1,1);", 0);
    CHECK(!b.good);
    CHECK_INT(b.errs.errors, 1);
    CHECK_HAS(b.errs.items[0].text, "does not run the same kernels");
    CHECK_HAS(b.errs.items[0].text, "grid [8, 1, 1] block [256, 1, 1]: 1 alone, 0 overlapped");
    CHECK_HAS(b.errs.items[0].text, "grid [9, 1, 1] block [256, 1, 1]: 0 alone, 1 overlapped");
    done(&b);
}

/* Device 1 arrives 300 us late; until then device 0 waits and slows nobody. Both kernels take 100
 * us alone; that of device 0 ended before the transfer began, that of device 1 was beside it for
 * all of its 150 us. Of 700 us that device 0 shows, 400 are the collective. */
static void waiting_for_a_member_is_no_overlap(void)
{
    bench b;
    run(&b, SCHEMA GEMM(0, 100000) ",(0,100000,1,7,1, 8,1,1, 256,1,1);",
        SCHEMA NCCL(0, 400000) ",(0,400000,1,9,2, 16,1,1, 512,1,1);",
        SCHEMA NCCL(0, 700000) "," GEMM(0, 100000) ",(300000,700000,1,9,2, 16,1,1, 512,1,1),"
                                                   "(400000,550000,1,7,1, 8,1,1, 256,1,1);",
        0);
    CHECK(b.good);
    CHECK_INT(b.in.kernels[0].n, 2);
    CHECK_INT(b.in.kernels[0].n_beside, 1);
    CHECK_NEAR(ovl_interfere_of(&b.in.kernels[0], 0).value, 1.5, 1e-9);
    CHECK_INT(b.in.n_outside, 1);
    CHECK_NEAR(b.in.drift, 1, 1e-9);
    CHECK_INT(b.in.comms[0].took.median, 400000);
    CHECK_INT(b.in.devices.data[0].hidden, 0);
    done(&b);
}

/* The same as two files of one device each. The clock of the second is 5 s ahead in one run and
 * behind in another, and its GPU is number 0 as well: ends of the collective set it. */
static void a_run_may_have_a_file_for_each_rank(void)
{
    bench b;
    const char *const sql[OVL_ROLES][2] = {
        {SCHEMA GEMM(0, 100000) ";", SCHEMA GEMM(0, 100000) ";"},
        {SCHEMA NCCL(6000000, 6400000) ";", SCHEMA NCCL(1000000, 1400000) ";"},
        {SCHEMA NCCL(0, 700000) "," GEMM(0, 100000) ";",
         SCHEMA NCCL(5300000, 5700000) "," GEMM(5400000, 5550000) ";"},
    };
    run_files(&b, sql, 0);
    CHECK(b.good);
    CHECK_INT(b.in.devices.len, 2);
    CHECK_INT(b.in.devices.data[1].rank, 1);
    CHECK_INT(b.in.devices.data[1].device, 0);
    CHECK_INT(b.in.kernels[0].n, 2);
    CHECK_INT(b.in.kernels[0].n_beside, 1);
    CHECK_NEAR(ovl_interfere_of(&b.in.kernels[0], 0).value, 1.5, 1e-9);
    CHECK_INT(b.in.comms[0].took.median, 400000);
    CHECK_INT(b.in.devices.data[0].hidden, 0);
    CHECK_INT(b.in.devices.data[1].hidden, 150000);
    done(&b);
}

static void a_rank_that_is_missing_in_a_run_is_named(void)
{
    bench b;
    const char *const sql[OVL_ROLES][2] = {
        {SCHEMA GEMM(0, 100000) ";"},
        {SCHEMA NCCL(0, 400000) ";", SCHEMA NCCL(0, 400000) ";"},
        {SCHEMA NCCL(0, 400000) "," GEMM(0, 100000) ";",
         SCHEMA NCCL(0, 400000) "," GEMM(0, 150000) ";"},
    };
    run_files(&b, sql, 0);
    CHECK(!b.good);
    CHECK_HAS(b.errs.items[0].text,
              "rank 1 device 0: kernel void ns::gemm<float>(int), grid [8, 1, "
              "1] block [256, 1, 1]: 0 alone, 1 overlapped");
    done(&b);
}

static void runs_without_either_kind_are_refused(void)
{
    bench b;
    run(&b, SCHEMA NCCL(0, 1) ";", SCHEMA GEMM(0, 1) ";", SCHEMA GEMM(0, 1) "," NCCL(0, 1) ";", 0);
    CHECK(!b.good);
    CHECK_INT(b.errs.errors, 2);
    CHECK_HAS(b.errs.items[0].text, "has no compute kernels");
    CHECK_HAS(b.errs.items[1].text, "has no communication");
    done(&b);
}

/* Kernels of no length, and collectives that end where they begin. */
static void nothing_of_no_length_has_a_factor(void)
{
    bench b;
    run(&b, SCHEMA GEMM(5, 5) ";", SCHEMA NCCL(5, 5) ";", SCHEMA GEMM(5, 5) "," NCCL(5, 5) ";", 0);
    CHECK(!b.good);
    CHECK_HAS(b.errs.items[0].text, "no kernel ran beside");
    done(&b);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"metrics tell what a kernel wants", metrics_tell_what_a_kernel_wants},
        {"another grid is another kernel", another_grid_is_another_kernel},
        {"waiting for a member is no overlap", waiting_for_a_member_is_no_overlap},
        {"a run may have a file for each rank", a_run_may_have_a_file_for_each_rank},
        {"a rank that is missing in a run is named", a_rank_that_is_missing_in_a_run_is_named},
        {"runs without either kind are refused", runs_without_either_kind_are_refused},
        {"nothing of no length has a factor", nothing_of_no_length_has_a_factor},
        CU_TEST_INFO_NULL,
    };
    return check_main("interfere", tests);
}
