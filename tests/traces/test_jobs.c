/*
 * test_jobs.c - two public jobs say of their collectives what is known of them.
 *
 * ResNet, rank 0 of 2: five gradient buckets in each of three steps, two broadcasts. Elements, as
 * the file has them, times 4 bytes.
 *
 * DLRM, 8 ranks on one clock: 3 all-reduces and 5 exchanges. The k-th of all ranks end within 7 us;
 * its transfer is the shortest duration, and what the others took beyond that is waiting.
 *
 * Without the directory the test is skipped (exit status 77).
 */
#include "tools/files.h"
#include "tools/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, RANKS = 8 };

static uint32_t wrong;

static void check(const char *what, int64_t got, int64_t want)
{
    if (got != want) {
        printf("%s is %" PRId64 ", expected %" PRId64 "\n", what, got, want);
        wrong++;
    }
}

typedef struct job {
    ovl_arena arena;
    ovl_errs errs;
    ovl_comm_pattern pattern;
    ovl_inspection in;
} job;

static void begin(job *j)
{
    memset(j, 0, sizeof *j);
    j->errs.arena = &j->arena;
    ovl_comm_pattern_begin(&j->pattern, OVL_COMM_PATTERN, &j->errs);
    ovl_inspect_begin(&j->in, &j->pattern);
}

static void end(job *j)
{
    ovl_inspect_free(&j->in);
    ovl_comm_pattern_free(&j->pattern);
    ovl_arena_free(&j->arena);
}

static void resnet(const char *directory)
{
    static const int64_t buckets[] = {31502336, 26550272, 26255360, 9724160, 8196000};
    job j;
    begin(&j);
    const char *path =
        ovl_arena_printf(&j.arena, "%s/hta_resnet_ncclargs_r0of2.json.gz", directory);
    check("resnet: read", ovl_inspect_add(&j.in, path, &j.errs), true);
    uint32_t n = 0;
    for (uint32_t i = 0; i < j.in.collectives.len; i++) {
        const ovl_inspect_collective *c = &j.in.collectives.data[i];
        if (strcmp(c->op, "all_reduce") == 0 && n < OVL_COUNT(buckets)) {
            check("resnet: bytes of a bucket", c->bytes, buckets[n++]);
            check("resnet: buckets of this size", (int64_t)c->count, 3);
            check("resnet: members", c->group_size, 2);
        }
    }
    check("resnet: buckets", n, OVL_COUNT(buckets));
    check("resnet: rows", j.in.collectives.len, OVL_COUNT(buckets) + 2);
    end(&j);
}

/* The shortest of the durations, and no duration below it. */
static int64_t transfer_of(const ovl_inspect_match *m)
{
    int64_t least = INT64_MAX;
    for (uint32_t r = 0; r < RANKS; r++) {
        least = OVL_MIN(least, m->duration[r]);
    }
    return least;
}

static void dlrm(const char *directory)
{
    job j;
    int64_t transfer = 0;
    begin(&j);
    for (int r = 0; r < RANKS; r++) {
        const char *path =
            ovl_arena_printf(&j.arena, "%s/param_dlrm_v100_r%dof8.json.gz", directory, r);
        check("dlrm: read", ovl_inspect_add(&j.in, path, &j.errs), true);
    }
    ovl_inspect_ranks(&j.in, &j.errs);
    check("dlrm: ranks", j.in.parties.len, RANKS);
    check("dlrm: matched", j.in.matches.len, 8);
    for (uint32_t i = 0; i < j.in.matches.len && j.in.parties.len == RANKS; i++) {
        const ovl_inspect_match *m = &j.in.matches.data[i];
        check("dlrm: transfer", m->transfer, transfer_of(m));
        check("dlrm: the last took as long as the transfer", m->duration[m->last], m->transfer);
        check("dlrm: ends within 7 us", m->end_skew <= 7000, true);
        transfer += m->transfer;
    }
    for (uint32_t r = 0; r < j.in.parties.len; r++) {
        const ovl_inspect_party *p = &j.in.parties.data[r];
        check("dlrm: duration = wait + transfer", p->duration, p->wait + transfer);
        check("dlrm: the clock is the others', to 2 us", p->clock <= 2000 && p->clock >= -2000,
              true);
    }
    end(&j);
}

int main(void)
{
    const char *given = getenv("OVL_TRACES"), *directory = given ? given : "../shared/cases/traces";
    ovl_arena arena = {0};
    bool here = ovl_file_exists(
        ovl_arena_printf(&arena, "%s/hta_resnet_ncclargs_r0of2.json.gz", directory));
    ovl_arena_free(&arena);
    if (!here) {
        printf("skipped: no traces in %s\n", directory);
        return SKIPPED;
    }
    resnet(directory);
    dlrm(directory);
    printf("%" PRIu32 " wrong\n", wrong);
    return wrong != 0;
}
