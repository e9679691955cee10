#include "sim/share.h"
#include "tests/support/check.h"

#include <math.h>

/* --- Worked systems --- */

static ovl_use use(uint32_t resource, uint64_t rate)
{
    return (ovl_use){.resource = resource, .classes = 1, .spread = 1, .rate = rate};
}

static uint32_t join(ovl_share *s, double cap, double weight, uint32_t r0, uint64_t d0, uint32_t r1,
                     uint64_t d1)
{
    ovl_use uses[] = {use(r0, d0), use(r1, d1)};
    return ovl_share_join(s, cap, weight, uses, d1 ? 2 : 1, 1);
}

static double rate(const ovl_share *s, uint32_t slot)
{
    return ovl_share_rate(s, slot);
}

/* HBM 2000: a kernel wants 2000 (w 1/2000), a collective 600 of HBM and 300 of a free link (w
 * 1/300). At t = 300 the collective meets its cap: 900 used. The kernel goes on to 1400: 0.7. */
static void fair_by_bytes_of_the_principal_resource(void)
{
    uint64_t capacity[] = {2000, 1000};
    ovl_share s;
    ovl_share_init(&s, capacity, 2);
    uint32_t kernel = join(&s, 1, 1 / 2000.0, 0, 2000, 0, 0);
    uint32_t coll = join(&s, 1, 1 / 300.0, 0, 600, 1, 300);
    ovl_share_solve(&s);
    CHECK_NEAR(rate(&s, kernel), 0.7, 1e-15);
    CHECK_NEAR(rate(&s, coll), 1, 0);
    CHECK_INT(s.classes.data[kernel].bound, 0);
    CHECK_INT(s.classes.data[coll].bound, OVL_BOUND_NONE);
    ovl_share_leave(&s, coll, 1);
    ovl_share_solve(&s);
    CHECK_NEAR(rate(&s, kernel), 1, 0);
    ovl_share_free(&s);
}

/* Proportional: weights 1. 2000 x + 600 x = 2000: both at 10/13. */
static void proportional_slows_all_alike(void)
{
    uint64_t capacity[] = {2000};
    ovl_share s;
    ovl_share_init(&s, capacity, 1);
    uint32_t a = join(&s, 1, 1, 0, 2000, 0, 0);
    uint32_t b = join(&s, 1, 1, 0, 600, 0, 0);
    ovl_share_solve(&s);
    CHECK_NEAR(rate(&s, a), 10.0 / 13, 1e-15);
    CHECK_NEAR(rate(&s, b), 10.0 / 13, 1e-15);
    ovl_share_free(&s);
}

/* Three links of 10; a crosses 0 and 1, b crosses 1 and 2, c and d use 0. Each wants 10 (w = 1/10:
 * bytes alike). On link 0 a, c, d get 10/3; link 1 then has 20/3 for b. */
static void two_bottlenecks_one_after_the_other(void)
{
    uint64_t capacity[] = {10, 10, 10};
    ovl_share s;
    ovl_share_init(&s, capacity, 3);
    uint32_t a = join(&s, 1, 0.1, 0, 10, 1, 10);
    uint32_t b = join(&s, 1, 0.1, 1, 10, 2, 10);
    uint32_t c = join(&s, 1, 0.1, 0, 10, 0, 0);
    uint32_t d = join(&s, 1, 0.1, 0, 10, 0, 0);
    ovl_share_solve(&s);
    CHECK_NEAR(rate(&s, a), 1.0 / 3, 1e-15);
    CHECK_NEAR(rate(&s, c), 1.0 / 3, 1e-15);
    CHECK_NEAR(rate(&s, d), 1.0 / 3, 1e-15);
    CHECK_NEAR(rate(&s, b), 2.0 / 3, 1e-15);
    CHECK_INT(s.classes.data[b].bound, 1);
    ovl_share_free(&s);
}

/* Demands that just fill a resource bound nobody: no component is ever solved. */
static void an_unsaturated_system_never_solves(void)
{
    uint64_t capacity[] = {100};
    ovl_share s;
    ovl_share_init(&s, capacity, 1);
    for (uint32_t i = 0; i < 10; i++) {
        uint32_t slot = join(&s, 1, 1.0 / (1 + i / 2), 0, 10, 0, 0);
        ovl_share_solve(&s);
        CHECK_NEAR(rate(&s, slot), 1, 0);
        CHECK_INT(s.changed.len, i % 2 ? 0 : 1); /* every second one finds its class */
    }
    CHECK_INT(s.solves, 0);
    ovl_share_free(&s);
}

/* Two saturated resources without a common user: what happens on one does not touch the other. */
static void components_do_not_touch_each_other(void)
{
    uint64_t capacity[] = {100, 100};
    ovl_share s;
    ovl_share_init(&s, capacity, 2);
    for (uint32_t i = 0; i < 8; i++) {
        join(&s, 1, 1.0 / (1 + i), i % 2, 60, 0, 0);
    }
    ovl_share_solve(&s);
    CHECK_INT(s.solves, 2);
    CHECK_INT(s.solved, 8);
    join(&s, 1, 0.1, 1, 60, 0, 0);
    ovl_share_solve(&s);
    CHECK_INT(s.solves, 3);
    CHECK_INT(s.solved, 13);
    CHECK_INT(s.changed.len, 1); /* it follows the resource, like the four that did before */
    CHECK_INT(s.relevelled.len, 1);
    CHECK_INT(s.relevelled.data[0], 1);
    ovl_share_free(&s);
}

/* Three want 60 each of 100, two of them over a link of 20 of their own: 60 + 20 + 20, nobody is
 * bounded by the resource. A fourth comes over such a link: the first gets 40. With three more like
 * the first each gets a seventh. They leave, and one of the links with them: 60 + 20 + 20. */
static void few_users_come_and_go(void)
{
    uint64_t capacity[] = {100, 20, 20, 20};
    ovl_share s;
    ovl_share_init(&s, capacity, 4);
    uint32_t a = join(&s, 1, 1 / 60.0, 0, 60, 0, 0), b = join(&s, 1, 1 / 60.0, 0, 60, 1, 60),
             c = join(&s, 1, 1 / 60.0, 0, 60, 2, 60);
    ovl_share_solve(&s);
    CHECK_NEAR(rate(&s, a), 1, 1e-15);
    CHECK_NEAR(rate(&s, b), 1.0 / 3, 1e-15);
    CHECK_NEAR(rate(&s, c), 1.0 / 3, 1e-15);
    join(&s, 1, 1 / 60.0, 0, 60, 3, 60);
    ovl_share_solve(&s);
    CHECK_NEAR(rate(&s, a), 2.0 / 3, 1e-15);
    CHECK_INT(s.classes.data[a].bound, 0);
    ovl_share_join_again(&s, a, 3);
    ovl_share_solve(&s);
    CHECK_NEAR(rate(&s, a), 100.0 / 7 / 60, 1e-15);
    CHECK_NEAR(rate(&s, b), 100.0 / 7 / 60, 1e-15);
    CHECK_INT(s.classes.data[b].bound, 0);
    ovl_share_leave(&s, a, 3);
    ovl_share_leave(&s, b, 1);
    ovl_share_solve(&s);
    CHECK_NEAR(rate(&s, a), 1, 1e-15);
    CHECK_NEAR(rate(&s, c), 1.0 / 3, 1e-15);
    CHECK_INT(s.classes.data[c].bound, 2);
    ovl_share_free(&s);
}

static void a_capacity_can_change(void)
{
    uint64_t capacity[] = {100};
    ovl_share s;
    ovl_share_init(&s, capacity, 1);
    uint32_t a = join(&s, 1, 1, 0, 80, 0, 0);
    ovl_share_solve(&s);
    ovl_share_set_capacity(&s, 0, 40);
    ovl_share_solve(&s);
    CHECK_NEAR(rate(&s, a), 0.5, 0);
    ovl_share_set_capacity(&s, 0, 80);
    ovl_share_solve(&s);
    CHECK_NEAR(rate(&s, a), 1, 0);
    ovl_share_free(&s);
}

/* Link 0 has 2e15 + 1, link 1, which only a uses, 1e15; each wants 2e15. Alone with b, a meets link
 * 1 at 1/2, a last place below link 0's level of (2e15 + 1) / 4e15. With c, too, all have a third:
 * a as well, though that level lies far below its own link's now. */
static void a_tie_that_is_broken_concerns_both_links(void)
{
    const uint64_t want = 2000000000000000;
    uint64_t capacity[] = {want + 1, want / 2};
    ovl_share s;
    ovl_share_init(&s, capacity, 2);
    uint32_t a = join(&s, 1, 1, 0, want, 1, want), b = join(&s, 0.9, 1, 0, want, 0, 0);
    ovl_share_solve(&s);
    CHECK_NEAR(rate(&s, a), 0.5, 0);
    CHECK_NEAR(rate(&s, b), 0.5, 1e-15);
    uint32_t c = join(&s, 1, 1, 0, want, 0, 0);
    ovl_share_solve(&s);
    CHECK_NEAR(rate(&s, a), 1.0 / 3, 1e-15);
    CHECK_NEAR(rate(&s, b), 1.0 / 3, 1e-15);
    CHECK_NEAR(rate(&s, c), 1.0 / 3, 1e-15);
    ovl_share_free(&s);
}

/* --- Random systems against the definition --- */

enum { MEMBERS = 12, RESOURCES = 5 };

typedef struct member {
    double cap, weight;
    uint64_t demand[RESOURCES];
} member;

typedef struct problem {
    uint32_t n;
    uint64_t capacity[RESOURCES];
    member m[MEMBERS];
} problem;

static uint64_t next(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 33;
}

/* Degenerate ones on purpose: equal bottlenecks, zero demands, equal weights. */
static problem draw(uint64_t *random)
{
    problem p = {.n = 1 + (uint32_t)next(random) % MEMBERS};
    bool round = next(random) % 2;
    for (int r = 0; r < RESOURCES; r++) {
        p.capacity[r] = round ? 100 : 50 + next(random) % 200;
    }
    for (uint32_t i = 0; i < p.n; i++) {
        member *m = &p.m[i];
        m->cap = next(random) % 3 ? 1 : (double)(1 + next(random) % 8) / 8;
        uint64_t principal = 0;
        for (int r = 0; r < RESOURCES; r++) {
            bool uses = next(random) % 3 == 0;
            m->demand[r] = uses ? (round ? 50 : next(random) % 120) : 0;
            principal = principal ? principal : m->demand[r];
        }
        m->weight = principal && next(random) % 4 ? 1.0 / (double)principal : 1;
        if (i && next(random) % 3 == 0) {
            *m = p.m[next(random) % i]; /* the same class */
        }
    }
    return p;
}

/* Progressive filling as slowly as it can be said: raise all, find the smallest level at which
 * anything binds, fix all that bind there, start again. */
static void slow_solve(const problem *p, double x[MEMBERS])
{
    bool fixed[MEMBERS] = {false};
    for (uint32_t left = p->n; left;) {
        double level = (double)INFINITY;
        int full = -1;
        for (uint32_t i = 0; i < p->n; i++) {
            level = fixed[i] ? level : fmin(level, p->m[i].cap / p->m[i].weight);
        }
        for (int r = 0; r < RESOURCES; r++) {
            double rest = (double)p->capacity[r], pull = 0;
            for (uint32_t i = 0; i < p->n; i++) {
                rest -= fixed[i] ? x[i] * (double)p->m[i].demand[r] : 0;
                pull += fixed[i] ? 0 : p->m[i].weight * (double)p->m[i].demand[r];
            }
            if (pull > 0 && rest / pull < level) {
                level = rest / pull;
                full = r;
            }
        }
        for (uint32_t i = 0; i < p->n; i++) {
            bool binds =
                full >= 0 ? p->m[i].demand[full] > 0 : p->m[i].cap / p->m[i].weight <= level;
            if (!fixed[i] && binds) {
                x[i] = fmin(p->m[i].cap, p->m[i].weight * level);
                fixed[i] = true;
                left--;
            }
        }
    }
}

static void fill(ovl_share *s, const problem *p, const uint32_t *order, uint32_t *slots)
{
    ovl_share_init(s, p->capacity, RESOURCES);
    for (uint32_t k = 0; k < p->n; k++) {
        const member *m = &p->m[order[k]];
        ovl_use uses[RESOURCES];
        for (uint32_t r = 0; r < RESOURCES; r++) {
            uses[r] = use(r, m->demand[r]);
        }
        slots[order[k]] = ovl_share_join(s, m->cap, m->weight, uses, RESOURCES, 1);
        if (k % 3 == 0) {
            ovl_share_solve(s);
        }
    }
    ovl_share_solve(s);
}

static bool feasible(const problem *p, const double *x)
{
    for (int r = 0; r < RESOURCES; r++) {
        double used = 0;
        for (uint32_t i = 0; i < p->n; i++) {
            used += x[i] * (double)p->m[i].demand[r];
        }
        if (used > (double)p->capacity[r] * (1 + 1e-12)) {
            return false;
        }
    }
    return true;
}

static void shuffle(uint32_t *order, uint32_t n, uint64_t *random)
{
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
    }
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = (uint32_t)next(random) % i, t = order[i - 1];
        order[i - 1] = order[k];
        order[k] = t;
    }
}

/* 40,000 systems: the solver agrees with the slow one, uses no more than there is, and gives the
 * same bits whatever the order of arrival. */
static void agrees_with_the_slow_solver_in_any_order(void)
{
    uint64_t random = 42;
    int wrong = 0, infeasible = 0, order_matters = 0;
    for (int round = 0; round < 40000; round++) {
        problem p = draw(&random);
        double want[MEMBERS], got[MEMBERS];
        slow_solve(&p, want);
        uint32_t slots[MEMBERS], order[MEMBERS];
        for (int again = 0; again < 2; again++) {
            ovl_share s;
            shuffle(order, p.n, &random);
            fill(&s, &p, order, slots);
            for (uint32_t i = 0; i < p.n; i++) {
                double x = rate(&s, slots[i]);
                wrong += fabs(x - want[i]) > 1e-9 * want[i];
                order_matters += again && x != got[i];
                got[i] = x;
            }
            ovl_share_free(&s);
        }
        infeasible += !feasible(&p, got);
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(infeasible, 0);
    CHECK_INT(order_matters, 0);
}

/* 5,000 on one resource of 1000, each wanting 1: a fifth of speed each, one class. 5,000 more, each
 * with a link of its own besides: 5,001 classes, a tenth of speed each, one solve. */
static void thousands_share_one_resource(void)
{
    uint64_t capacity[5001] = {1000};
    for (uint32_t r = 1; r <= 5000; r++) {
        capacity[r] = 1;
    }
    ovl_share s;
    ovl_share_init(&s, capacity, 5001);
    uint32_t slot = 0;
    for (uint32_t i = 0; i < 5000; i++) {
        slot = join(&s, 1, 1, 0, 1, 0, 0);
    }
    ovl_share_solve(&s);
    CHECK_INT(s.solves, 1);
    CHECK_NEAR(rate(&s, slot), 0.2, 1e-15);
    for (uint32_t i = 0; i < 5000; i++) {
        join(&s, 1, 1, 0, 1, 1 + i, 1);
    }
    ovl_share_solve(&s);
    CHECK_INT(s.solves, 2);
    CHECK_INT(s.solved, 5002);
    CHECK_NEAR(rate(&s, slot), 0.1, 1e-15);
    ovl_share_free(&s);
}

/* 0.1 + 0.2 - 0.1 is 0.2, and what is left of 1000 after 7 x 100 x 1/3 is what is left after 700 x
 * 1/3. */
static void sums_are_exact(void)
{
    ovl_pull a = ovl_pull_of(ovl_exact_of_weight(0.1), 1),
             b = ovl_pull_of(ovl_exact_of_weight(0.2), 1);
    ovl_pull sum = a;
    ovl_pull_add(&sum, b);
    ovl_pull_take(&sum, a);
    CHECK_NEAR(ovl_pull_value(sum), 0.2, 0);
    CHECK_NEAR(ovl_pull_value(ovl_pull_of(ovl_exact_of_weight(0x1.8p-70), 3)), 0x1.2p-68, 0);
    uint64_t third = ovl_rate_units(1.0 / 3);
    ovl_wide one = ovl_left_of(1000), seven = one;
    ovl_left_take(&one, third, 700);
    for (int i = 0; i < 7; i++) {
        ovl_left_take(&seven, third, 100);
    }
    CHECK(one == seven);
    CHECK_NEAR(ovl_wide_value(one) * 0x1p-63, 1000 - 700.0 / 3, 1e-12);
    for (uint64_t capacity = 1; capacity < UINT64_C(1) << 61; capacity = 3 * capacity + 1) {
        CHECK_NEAR(ovl_whole_level(capacity, a), ovl_exact_level(ovl_left_of(capacity), a), 0);
    }
    CHECK(ovl_rate_units(1) == UINT64_C(1) << 63 && ovl_rate_units(0x1p-63) == 1);
}

/* --- Arrivals, departures and changes of caps, one at a time --- */

typedef struct crowd {
    problem p; /* those present */
    uint32_t slot[MEMBERS];
} crowd;

static void come(ovl_share *s, crowd *c, const member *m)
{
    ovl_use uses[RESOURCES];
    for (uint32_t r = 0; r < RESOURCES; r++) {
        uses[r] = use(r, m->demand[r]);
    }
    uint32_t i = c->p.n++;
    c->p.m[i] = *m;
    c->slot[i] = ovl_share_join(s, m->cap, m->weight, uses, RESOURCES, 1);
}

static void go(ovl_share *s, crowd *c, uint32_t i)
{
    ovl_share_leave(s, c->slot[i], 1);
    uint32_t last = --c->p.n;
    c->p.m[i] = c->p.m[last];
    c->slot[i] = c->slot[last];
}

static void change_cap(ovl_share *s, crowd *c, uint32_t i, double cap)
{
    c->p.m[i].cap = cap;
    c->slot[i] = ovl_share_set_cap(s, c->slot[i], cap, 1);
}

static void change_something(ovl_share *s, crowd *c, const problem *pool, uint64_t *random)
{
    uint32_t what = (uint32_t)next(random) % 4;
    if (c->p.n < 2 || (what < 2 && c->p.n < MEMBERS)) {
        come(s, c, &pool->m[next(random) % pool->n]);
    } else if (what == 2) {
        change_cap(s, c, (uint32_t)next(random) % c->p.n, (double)(1 + next(random) % 8) / 8);
    } else {
        go(s, c, (uint32_t)next(random) % c->p.n);
    }
}

/* 2,000 crowds of 60 changes, one to three at an instant: each solve agrees with the slow one. */
static void follows_every_change(void)
{
    uint64_t random = 7;
    int wrong = 0;
    for (int round = 0; round < 2000; round++) {
        problem pool = draw(&random);
        crowd c = {0};
        memcpy(c.p.capacity, pool.capacity, sizeof pool.capacity);
        ovl_share s;
        ovl_share_init(&s, pool.capacity, RESOURCES);
        for (uint64_t step = 0; step < 60; step++) {
            for (uint32_t k = (uint32_t)next(&random) % 3; k < 3; k++) {
                change_something(&s, &c, &pool, &random);
            }
            ovl_share_solve(&s);
            double want[MEMBERS];
            slow_solve(&c.p, want);
            for (uint32_t i = 0; i < c.p.n; i++) {
                wrong += fabs(rate(&s, c.slot[i]) - want[i]) > 1e-9 * want[i];
            }
        }
        ovl_share_free(&s);
    }
    CHECK_INT(wrong, 0);
}

static CU_TestInfo tests[] = {
    {"fair by bytes of the principal resource", fair_by_bytes_of_the_principal_resource},
    {"proportional slows all alike", proportional_slows_all_alike},
    {"two bottlenecks, one after the other", two_bottlenecks_one_after_the_other},
    {"an unsaturated system never solves", an_unsaturated_system_never_solves},
    {"components do not touch each other", components_do_not_touch_each_other},
    {"few users come and go", few_users_come_and_go},
    {"a capacity can change", a_capacity_can_change},
    {"a tie that is broken concerns both links", a_tie_that_is_broken_concerns_both_links},
    {"agrees with the slow solver in any order", agrees_with_the_slow_solver_in_any_order},
    {"follows every change", follows_every_change},
    {"sums are exact", sums_are_exact},
    {"thousands share one resource", thousands_share_one_resource},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("share", tests);
}
