/*
 * Laws of results, on random programs: everything that is shown adds up, exactly.
 */
#include "sim/compare.h"
#include "tests/support/check.h"
#include "tests/support/law.h"
#include "tests/support/random_program.h"

#define PROGRAMS 150

typedef struct lab {
    ovl_arena arena;
    ovl_errs errs;
    ovl_program p;
    ovl_result r;
    bool good;
} lab;

static lab analyse(uint64_t seed, ovl_interference model, ovl_worth worth)
{
    lab l = {0};
    random_options options = {.seed = seed,
                              .n_ranks = 2 + 2 * (seed % 3),
                              .n_actions = 20 + seed % 120,
                              .bare = seed / 3 % 2,
                              .n_steps = seed % 4,
                              .prefix = ""};
    l.p = random_program(&options, &l.arena);
    l.errs.arena = &l.arena;
    ovl_analyse_options how = {.interference = model,
                               .worth = worth,
                               .gaps = true,
                               .scenario = "random",
                               .variant = "base"};
    l.good = ovl_analyse(&l.p, &how, &l.arena, &l.r, NULL, &l.errs);
    return l;
}

static void over_random_programs(ovl_worth worth, int (*wrong)(const ovl_result *))
{
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        lab l = analyse(seed, (ovl_interference)(seed % 3), worth);
        if (CHECK(l.good)) {
            CHECK_INT(wrong(&l.r), 0);
        }
        ovl_arena_free(&l.arena);
    }
}

static ovl_time sum(const ovl_time *term)
{
    ovl_time total = 0;
    for (int k = 0; k < OVL_TERM_COUNT; k++) {
        total += term[k];
    }
    return total;
}

/* --- Decomposition --- */

static int decomposition(const ovl_result *r)
{
    int wrong = sum(r->term) != r->step;
    uint32_t ranks = 0;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        wrong += sum(r->ranks[i].term) != r->step;
        ranks += r->ranks[i].count;
    }
    wrong += ranks != r->n_ranks_simulated;
    wrong += r->comm_total != r->hidden_comm + r->comm_uncovered;
    wrong += r->comm_uncovered !=
             r->term[OVL_COMM_LATENCY] + r->term[OVL_COMM_TRANSFER] + r->term[OVL_COMM_STRETCH];
    return wrong;
}

static void every_decomposition_sums_to_the_step(void)
{
    over_random_programs(OVL_WORTH_NONE, decomposition);
}

/* --- Idle time --- */

/* Kernels have the first claim on each instant, so what is left is what no kernel ran in. */
static int idle(const ovl_result *r)
{
    int wrong = 0;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        const ovl_result_rank *k = &r->ranks[i];
        ovl_time pieces = 0, peeled = 0, gaps = 0;
        for (int j = 0; j < OVL_IDLE_COUNT; j++) {
            pieces += k->idle[j];
            wrong += k->idle[j] < 0;
        }
        for (int j = 0; j < OVL_PEEL_COUNT; j++) {
            peeled += k->peeled[j];
        }
        for (uint32_t j = 0; j < k->n_gaps; j++) {
            const ovl_result_gap *g = &k->gaps[j];
            ovl_time sum_of_gap = 0;
            for (int n = 0; n < OVL_IDLE_COUNT; n++) {
                sum_of_gap += g->piece[n];
            }
            gaps += g->end - g->start;
            wrong += sum_of_gap != g->end - g->start || g->end <= g->start;
            wrong += j > 0 && g->start <= k->gaps[j - 1].end;
        }
        wrong += k->idle_time != r->step - k->term[OVL_COMPUTE] - k->term[OVL_COMPUTE_STRETCH];
        wrong += pieces != k->idle_time || peeled != k->idle_time || gaps != k->idle_time;
    }
    return wrong;
}

static void both_accounts_of_idle_time_sum_to_it(void)
{
    over_random_programs(OVL_WORTH_NONE, idle);
}

/* --- Critical path --- */

static int path(const ovl_result *r)
{
    int wrong = 0;
    ovl_time at = 0;
    for (uint32_t i = 0; i < r->n_path; i++) {
        wrong += r->path[i].start != at || r->path[i].end < at;
        at = r->path[i].end;
    }
    return wrong + (at != r->step);
}

static void the_critical_path_covers_the_step_without_a_gap(void)
{
    over_random_programs(OVL_WORTH_NONE, path);
}

/* --- Collectives and receives --- */

static int rows(const ovl_result *r)
{
    int wrong = 0;
    for (uint32_t i = 0; i < r->n_collectives; i++) {
        const ovl_result_collective *c = &r->collectives[i];
        wrong += c->start != c->ready + c->queue + c->wait;
        bool early = c->ready < 0 && r->n_steps < 2;
        wrong += early || c->queue < 0 || c->wait < 0 || c->end < c->start;
        wrong += c->window != c->u_path - c->ready;
        wrong += c->exposed != OVL_MAX(0, c->end - c->u_path);
        bool raced = r->n_hazards > 0; /* then a reader may come before what it reads */
        wrong += c->consumer && !raced && c->first_use < OVL_MAX(c->end, c->u_path);
        wrong += c->slack < 0 || (c->on_critical_path && c->slack != 0);
        if (c->interference != OVL_NEVER) {
            wrong += OVL_MAX(c->end, c->u_path) - c->u_variant != c->exposed + c->interference;
        }
    }
    return wrong;
}

static void every_row_of_communication_adds_up(void)
{
    over_random_programs(OVL_WORTH_ALL, rows);
}

/* --- Memory and hosts --- */

static int peak(const ovl_peak *p)
{
    uint64_t held = 0, known = p->rounding + p->unused;
    for (uint32_t i = 0; i < p->n_holders; i++) {
        held += p->holders[i].bytes;
    }
    for (int c = 0; c < OVL_CATEGORY_COUNT; c++) {
        known += p->category[c];
    }
    return (held != p->bytes) + (known != p->bytes);
}

static int memory_and_hosts(const ovl_result *r)
{
    int wrong = 0;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        const ovl_result_rank *k = &r->ranks[i];
        const ovl_host_load *h = &k->host;
        if (k->has_memory) {
            wrong += peak(&k->live) + peak(&k->allocated) + peak(&k->reserved);
            wrong += k->reserved_peak < k->allocated_peak || k->active_peak < k->allocated_peak;
        }
        if (k->has_host) {
            wrong += h->issuing + h->blocked + h->free != r->step;
            wrong += h->issuing < 0 || h->blocked < 0 || h->free < 0 || h->ahead_min < 0;
            wrong += h->gpu_waits < 0 || h->gpu_waits > r->step - k->term[OVL_COMPUTE];
            wrong += h->ahead_mean < h->ahead_min;
        }
    }
    return wrong;
}

static void holders_sum_to_peaks_and_hosts_to_the_step(void)
{
    over_random_programs(OVL_WORTH_NONE, memory_and_hosts);
}

/* --- The equation of the step --- */

static int equation(const ovl_result *r)
{
    const ovl_result_equation *e = &r->equation;
    if (!e->present) {
        return 0;
    }
    int wrong = e->u_path + e->exposed + e->after != r->step;
    if (e->u_variant != OVL_NEVER) {
        wrong += e->u_variant + e->interference != e->u_path;
    }
    return wrong;
}

static void the_equation_gives_the_step(void)
{
    over_random_programs(OVL_WORTH_DEFAULT, equation);
}

/* --- Comparison --- */

static void differences_sum_to_the_difference_of_the_steps(void)
{
    for (uint64_t seed = law_seed(); seed < law_seed() + PROGRAMS; seed++) {
        lab a = analyse(seed, OVL_INTERFERENCE_NONE, OVL_WORTH_NONE);
        lab b = analyse(seed + seed % 2, OVL_INTERFERENCE_SHARED, OVL_WORTH_NONE);
        ovl_comparison c;
        ovl_compare(&a.r, &b.r, &a.arena, &c);
        CHECK_INT(c.delta, b.r.step - a.r.step);
        CHECK_INT(sum(c.delta_term), c.delta);
        CHECK_INT(c.verdict, c.delta < 0 ? OVL_BETTER : c.delta > 0 ? OVL_WORSE : OVL_NO_GAIN);
        ovl_arena_free(&a.arena);
        ovl_arena_free(&b.arena);
    }
}

static CU_TestInfo tests[] = {
    {"every decomposition sums to the step", every_decomposition_sums_to_the_step},
    {"both accounts of idle time sum to it", both_accounts_of_idle_time_sum_to_it},
    {"the critical path covers the step without a gap",
     the_critical_path_covers_the_step_without_a_gap},
    {"every row of communication adds up", every_row_of_communication_adds_up},
    {"holders sum to peaks, and hosts to the step", holders_sum_to_peaks_and_hosts_to_the_step},
    {"the equation gives the step", the_equation_gives_the_step},
    {"differences sum to the difference of the steps",
     differences_sum_to_the_difference_of_the_steps},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("laws of results", tests);
}
