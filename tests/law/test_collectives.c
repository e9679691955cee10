/*
 * test_collectives.c - laws of collectives written by hand on meshes of three axes: over every
 * pair of axes, every operation and algorithm, what is folded gives what every rank by itself
 * gives, what is sent on a link is received, and own links carry what the formula says; so do NICs,
 * ways out of nodes, the spine and rails for groups that lie anyhow.
 */
#include "models/cost.h"
#include "tests/support/law.h"
#include "tests/support/lowering.h"
#include "tests/support/random_program.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A link of each GPU, what leaves a node through the NICs of two GPUs each, and the spine. */
#define TEXT                                                                                       \
    "hardware:\n"                                                                                  \
    "  gpu: {hbm: 2 TB/s, sms: 100}\n"                                                             \
    "  node: {gpus: 4}\n"                                                                          \
    "  links: {own: {bandwidth: 1 TB/s, latency: 1 us, scope: gpu}, nic: {bandwidth: 2 TB/s, "     \
    "latency: 2 us, gpus: 2, out_of: node}, spine: {bandwidth: 9 TB/s, latency: 3 us, scope: "     \
    "cluster}}\n"                                                                                  \
    "  collectives: [{op: %s, via: [own%s], algorithm: %s, sms: 4, hbm_factor: 2}]\n"              \
    "mesh: {axes: {a: %d, b: 2, c: 3}}\n"                                                          \
    "workload:\n"                                                                                  \
    "  ops:\n"                                                                                     \
    "    - {kernel: k, duration: 10 us}\n"                                                         \
    "    - {collective: x, op: %s, group: %s, bytes: 48 MB, after: k}\n"                           \
    "    - {kernel: l, duration: 50 us}\n"

typedef struct way {
    const char *op, *algorithm;
    ovl_coll coll;
    int algo;
} way;

static const way ways[] = {
    {"all_reduce", "ring", OVL_ALL_REDUCE, OVL_ALGO_RING},
    {"all_reduce", "tree", OVL_ALL_REDUCE, OVL_ALGO_TREE},
    {"all_reduce", "sharp", OVL_ALL_REDUCE, OVL_ALGO_COLLNET},
    {"reduce_scatter", "ring", OVL_REDUCE_SCATTER, OVL_ALGO_RING},
    {"all_gather", "ring", OVL_ALL_GATHER, OVL_ALGO_RING},
    {"broadcast", "tree", OVL_BROADCAST, OVL_ALGO_TREE},
    {"reduce", "tree", OVL_REDUCE, OVL_ALGO_TREE},
    {"all_to_all", "direct", OVL_ALL_TO_ALL, OVL_ALGO_DIRECT},
};

/* Inside an NVLink domain only. */
static const way switched[] = {
    {"all_reduce", "nvls", OVL_ALL_REDUCE, OVL_ALGO_NVLS},
    {"reduce_scatter", "nvls", OVL_REDUCE_SCATTER, OVL_ALGO_NVLS},
    {"all_gather", "nvls", OVL_ALL_GATHER, OVL_ALGO_NVLS},
};

static const char *const groups[] = {"a", "b", "c", "a+b", "a+c", "b+c", "a+b+c", "world"};

/* Whether its members lie on one node of 4, a being the innermost axis. */
static bool inside(const char *group, int a)
{
    bool all = strcmp(group, "world") == 0;
    int reach = all || strchr(group, 'a') ? a - 1 : 0;
    reach += all || strchr(group, 'b') ? a : 0;
    return !all && !strchr(group, 'c') && reach < 4;
}

static bool run(bench *t, const char *text)
{
    bool good = lower(t, text, NULL) && analyse_both(t);
    for (uint32_t i = 0; i < t->errs.count && !good; i++) {
        CHECK_TEXT(ovl_err_text(&t->arena, &t->errs.items[i]), "none");
    }
    return good;
}

static double total(const ovl_result *r, const char *name)
{
    for (uint32_t i = 0; i < r->n_resources; i++) {
        if (strcmp(r->resources[i].name, name) == 0) {
            return (double)r->resources[i].total;
        }
    }
    return 0;
}

/* What is sent is received; of what a switch copies or adds up, n - 1 times one way. */
static void check_ways(const ovl_result *r, const way *w, uint32_t n)
{
    static const char *const links[][2] = {
        {"own.out", "own.in"}, {"nic.out", "nic.in"}, {"spine.out", "spine.in"}};
    double copies = w->algo == OVL_ALGO_NVLS && w->coll != OVL_ALL_REDUCE ? n - 1. : 1;
    bool gather = w->coll == OVL_ALL_GATHER;
    for (size_t i = 0; i < OVL_COUNT(links); i++) {
        double once = total(r, links[i][!gather]), more = total(r, links[i][gather]);
        CHECK_NEAR(more, copies * once, copies > 1 ? 1000 : 0);
    }
}

/* 1000 bytes of rates that are rounded down. */
static void check(const bench *t, const way *w, uint32_t n_ranks)
{
    const ovl_result *a = &t->result, *b = &t->whole;
    CHECK_INT(a->step, b->step);
    CHECK_INT(a->without_interference, b->without_interference);
    CHECK_INT(a->n_resources, b->n_resources);
    for (uint32_t i = 0; i < OVL_MIN(a->n_resources, b->n_resources); i++) {
        CHECK_INT(a->resources[i].total, b->resources[i].total);
    }
    uint32_t n = b->n_collectives ? b->collectives[0].n : 0;
    check_ways(b, w, n);
    ovl_hw_link own = {.name = "own"};
    ovl_hw hw = {.links = &own, .n_links = 1};
    ovl_spread apart = ovl_spread_apart(n),
               spread = ovl_formula_spread(NULL, w->algo, NULL, &apart);
    ovl_crossing c = ovl_crossing_of(&hw, 0, w->coll, w->algo, &spread);
    if (w->coll == OVL_BROADCAST || w->coll == OVL_REDUCE) { /* all but one get it, or give it */
        c = (ovl_crossing){n - 1, n};
    }
    double most = fmax(total(b, "own.out"), total(b, "own.in"));
    CHECK_NEAR(most, 48e6 * n_ranks * (double)c.num / (double)c.den, 1000);
}

static void check_over_axes(const way *w, const char *group, const char *links, int a)
{
    char text[2048];
    snprintf(text, sizeof text, TEXT, w->op, links, w->algorithm, a, w->op, group);
    bench t = {0};
    bool refused = (w->algo == OVL_ALGO_COLLNET && inside(group, a)) ||
                   (w->algo == OVL_ALGO_NVLS && !inside(group, a));
    if (refused) {
        CHECK(!lower(&t, text, NULL)); /* no such switch there */
    } else if (run(&t, text)) {
        check(&t, w, (uint32_t)a * 6);
    }
    finish(&t);
}

static void bytes_are_conserved_over_every_pair_of_axes(void)
{
    static const char *const links[] = {"", ", nic", ", spine", ", nic, spine"};
    for (size_t w = 0; w < OVL_COUNT(ways) + OVL_COUNT(switched); w++) {
        const way *at = w < OVL_COUNT(ways) ? &ways[w] : &switched[w - OVL_COUNT(ways)];
        for (size_t g = 0; g < OVL_COUNT(groups); g++) {
            for (size_t k = 0; k < 2 * OVL_COUNT(links); k++) {
                check_over_axes(at, groups[g], links[k / 2], k % 2 ? 4 : 2);
            }
        }
    }
}

/* --- Groups that lie anyhow --- */

#define ANYHOW                                                                                     \
    "hardware:\n"                                                                                  \
    "  gpu: {hbm: 2 TB/s, sms: 100}\n"                                                             \
    "  node: {gpus: 6}\n"                                                                          \
    "  links: {own: {bandwidth: 1 TB/s, latency: 1 us}, nic: {bandwidth: 2 TB/s, gpus: %d, "       \
    "out_of: node}, way: {bandwidth: 3 TB/s, scope: node}, spine: {bandwidth: 9 TB/s, scope: "     \
    "cluster, out_of: node}}\n"                                                                    \
    "  collectives: [{op: %s, via: [own, nic, way, spine], algorithm: %s, hbm_factor: 2}]\n"       \
    "workload:\n"                                                                                  \
    "  ranks: 24\n"                                                                                \
    "  groups: {g: [%s]}\n"                                                                        \
    "  ops:\n"                                                                                     \
    "    - {collective: x, op: %s, group: g, bytes: 48 MB, ranks: [%s]%s}\n"                       \
    "    - {collective: y, op: %s, group: g, bytes: 48 MB, ranks: [%s]}\n"

typedef struct lie {
    uint32_t n, on[4];
    char list[128];
} lie;

/* At least two of 24 ranks on four nodes of six, in any order. */
static lie draw_into(uint64_t *state, bool *in)
{
    lie l = {0};
    uint32_t ranks[24], n = 2 + random_next(state) % 23;
    for (uint32_t i = 0; i < 24; i++) {
        uint32_t k = random_next(state) % (i + 1);
        ranks[i] = ranks[k];
        ranks[k] = i;
        in[i] = false;
    }
    for (size_t at = 0; l.n < n; l.n++) {
        at += (size_t)snprintf(l.list + at, sizeof l.list - at, "%s%" PRIu32, l.n ? ", " : "",
                               ranks[l.n]);
        l.on[ranks[l.n] / 6]++;
        in[ranks[l.n]] = true;
    }
    return l;
}

static lie draw(uint64_t *state)
{
    bool in[24];
    return draw_into(state, in);
}

/* Times the bytes, out of all parts together: see the sums of test_conserved.c. */
static double times(ovl_coll coll, int algo, const lie *l, bool single)
{
    double n = l->n, parts = 0, pairs = 0;
    for (int k = 0; k < 4; k++) {
        parts += single ? l->on[k] : l->on[k] > 0;
        pairs += l->on[k] * (single ? n - 1 : n - l->on[k]);
    }
    if (parts < 2) {
        return 0;
    }
    if (coll == OVL_ALL_REDUCE) {
        return algo == OVL_ALGO_COLLNET ? parts
               : algo == OVL_ALGO_TREE  ? 2 * (parts - 1)
                                        : 2 * (n - 1) / n * parts;
    }
    return coll == OVL_ALL_TO_ALL                        ? pairs / n
           : coll == OVL_BROADCAST || coll == OVL_REDUCE ? parts - 1
                                                         : (n - 1) / n * parts;
}

static bool on_one_node(const lie *l)
{
    return l->on[0] == l->n || l->on[1] == l->n || l->on[2] == l->n || l->on[3] == l->n;
}

static void check_anyhow(const bench *t, ovl_coll coll, int algo, const lie *l)
{
    static const char *const links[] = {"own", "nic", "way", "spine"};
    for (int k = 0; k < 4; k++) {
        char out[16], in[16];
        snprintf(out, sizeof out, "%s.out", links[k]);
        snprintf(in, sizeof in, "%s.in", links[k]);
        bool single = k == 0 || (k == 2 && on_one_node(l));
        double want = 2 * 48e6 * times(coll, algo, l, single);
        CHECK_NEAR(total(&t->result, out), want, 1000);
        CHECK_NEAR(total(&t->result, in), want, 1000);
        CHECK_INT(total(&t->whole, out), total(&t->result, out));
        CHECK_INT(total(&t->whole, in), total(&t->result, in));
    }
    CHECK_INT(t->result.step, t->whole.step);
}

static void bytes_are_conserved_however_a_group_lies(void)
{
    for (uint64_t i = 0; i < 60 * OVL_COUNT(ways); i++) {
        uint64_t state = law_seed() + i;
        lie l = draw(&state);
        char text[2048];
        size_t w = i % OVL_COUNT(ways);
        int nic = 1 + (int)(random_next(&state) % 3);
        char root[24] = "";
        if (ways[w].coll == OVL_BROADCAST || ways[w].coll == OVL_REDUCE) {
            snprintf(root, sizeof root, ", root: %" PRIu32, random_next(&state) % l.n);
        }
        snprintf(text, sizeof text, ANYHOW, nic, ways[w].op, ways[w].algorithm, l.list, ways[w].op,
                 l.list, root, ways[w].op, l.list);
        bench t = {0};
        bool refused = ways[w].algo == OVL_ALGO_COLLNET && on_one_node(&l);
        if (!refused && run(&t, text)) {
            check_anyhow(&t, ways[w].coll, ways[w].algo, &l);
        }
        finish(&t);
    }
}

/* --- Rails --- */

#define RAILS                                                                                      \
    "hardware:\n"                                                                                  \
    "  node: {gpus: 6}\n"                                                                          \
    "  links: {nic: {bandwidth: 2 TB/s, gpus: 1, out_of: node}, leaf: {bandwidth: 9 TB/s, scope: " \
    "rail, pod: %d}, up: {bandwidth: 9 TB/s, scope: rail, out_of: rail, pod: %d, rail_gpus: %d}, " \
    "spine: {bandwidth: 99 TB/s, scope: cluster, out_of: rail, pod: %d, rail_gpus: %d}}\n"         \
    "  collectives: [{op: %s, via: [nic, leaf, up, spine], algorithm: %s}]\n"                      \
    "workload:\n"                                                                                  \
    "  ranks: 24\n"                                                                                \
    "  groups: {g: [%s]}\n"                                                                        \
    "  ops: [{collective: x, op: %s, group: g, bytes: 48 MB, ranks: [%s]%s}]\n"

typedef struct rails {
    int pod, gpus;
    double part[4][6]; /* of each node's members on each rail */
    int nodes, on[4];  /* that have any */
} rails;

static rails rails_of(const lie *l, const bool *in, int pod, int gpus)
{
    rails r = {.pod = pod, .gpus = gpus};
    for (int node = 0; node < 4; node++) {
        for (int k = 0; k < 6; k++) {
            r.part[node][k / gpus] += in[node * 6 + k] ? 1. / l->on[node] : 0;
        }
        if (l->on[node]) {
            r.on[r.nodes++] = node;
        }
    }
    return r;
}

/* Of what goes from one node to another, what no rail keeps; *any: there is such. */
static double lost(const rails *r, int from, int to, bool *any)
{
    double kept = 0;
    for (int k = 0; k < 6; k++) {
        kept += from / r->pod == to / r->pod ? fmin(r->part[from][k], r->part[to][k]) : 0;
    }
    *any = kept < 1 - 1e-9;
    return 1 - kept;
}

/* Times the bytes, out of all rails together. */
static double off_rails(ovl_coll coll, int algo, const lie *l, const bool *in, const rails *r)
{
    double n = l->n, around = 0, pairs = 0;
    int edges = 0;
    for (int i = 0; i < r->nodes; i++) {
        bool any;
        around += lost(r, r->on[i], r->on[(i + 1) % r->nodes], &any);
        edges += any;
    }
    for (int i = 0; i < 24; i++) {
        for (int j = 0; j < 24; j++) {
            bool same = i / 6 / r->pod == j / 6 / r->pod && i % 6 / r->gpus == j % 6 / r->gpus;
            pairs += in[i] && in[j] && i / 6 != j / 6 && !same;
        }
    }
    if (coll == OVL_ALL_TO_ALL) {
        return pairs / n;
    }
    if (edges == 0) {
        return 0;
    }
    return coll != OVL_ALL_REDUCE     ? (n - 1) / n * around
           : algo == OVL_ALGO_COLLNET ? around
           : algo == OVL_ALGO_TREE    ? 2. * (edges - 1) / edges * around
                                      : 2 * (n - 1) / n * around;
}

static void check_rails(const bench *t, double want, bool rooted)
{
    const ovl_result *a = &t->result, *b = &t->whole;
    CHECK_INT(a->step, b->step);
    CHECK_NEAR(total(a, "leaf.out"), total(a, "nic.out"), 1000);
    CHECK_NEAR(total(a, "leaf.in"), total(a, "nic.out"), 1000);
    CHECK_NEAR(total(a, "up.in"), total(a, "up.out"), 1000);
    CHECK_NEAR(total(a, "spine.out"), total(a, "up.out"), 1000);
    CHECK_NEAR(total(a, "spine.in"), total(a, "up.out"), 1000);
    CHECK_INT(total(a, "up.out"), total(b, "up.out"));
    CHECK_INT(total(a, "up.in"), total(b, "up.in"));
    CHECK(total(a, "up.out") <= total(a, "leaf.out") + 1000);
    if (!rooted) {
        CHECK_NEAR(total(a, "up.out"), want, 1000);
    }
}

static void rails_keep_what_they_can_however_a_group_lies(void)
{
    for (uint64_t i = 0; i < 60 * OVL_COUNT(ways); i++) {
        uint64_t state = law_seed() + i;
        bool in[24];
        lie l = draw_into(&state, in);
        size_t w = i % OVL_COUNT(ways);
        int pod = 1 + (int)(random_next(&state) % 4), gpus = 1 + (int)(random_next(&state) % 3);
        rails r = rails_of(&l, in, pod, gpus);
        bool rooted = ways[w].coll == OVL_BROADCAST || ways[w].coll == OVL_REDUCE;
        char text[2048], root[24] = "";
        if (rooted) {
            snprintf(root, sizeof root, ", root: %" PRIu32, random_next(&state) % l.n);
        }
        snprintf(text, sizeof text, RAILS, pod, pod, gpus, pod, gpus, ways[w].op, ways[w].algorithm,
                 l.list, ways[w].op, l.list, root);
        bench t = {0};
        bool refused = ways[w].algo == OVL_ALGO_COLLNET && on_one_node(&l);
        if (!refused && run(&t, text)) {
            check_rails(&t, 48e6 * off_rails(ways[w].coll, ways[w].algo, &l, in, &r), rooted);
        }
        finish(&t);
    }
}

/* --- Pairs --- */

#define PAIRS                                                                                      \
    "hardware:\n"                                                                                  \
    "  gpu: {hbm: 9 TB/s}\n"                                                                       \
    "  node: {gpus: 6}\n"                                                                          \
    "  links: {own: {bandwidth: 1 TB/s, latency: 1 us}, half: {bandwidth: 2 TB/s, gpus: 3}, nic: " \
    "{bandwidth: 2 TB/s, gpus: 2, out_of: node}, leaf: {bandwidth: 9 TB/s, scope: rail, pod: "     \
    "%d}, "                                                                                        \
    "up: {bandwidth: 9 TB/s, scope: rail, out_of: rail, pod: %d}}\n"                               \
    "  collectives: [{op: all_to_all, via: [own, half, nic, leaf, up], algorithm: direct, "        \
    "hbm_factor: 1, pxn: %s}]\n"                                                                   \
    "workload:\n"                                                                                  \
    "  ranks: 24\n"                                                                                \
    "  groups: {g: [%s]}\n"                                                                        \
    "  ops: [{collective: x, op: all_to_all, group: g, ranks: [%s], %s}]\n"

/* 1 MB from each to each, themselves included, as a matrix. */
static void write_matrix(char *to, size_t size, uint32_t n)
{
    size_t at = (size_t)snprintf(to, size, "sends: [");
    for (uint32_t i = 0; i < n * n; i++) {
        at += (size_t)snprintf(to + at, size - at, "%s1 MB%s",
                               i % n ? ""
                               : i   ? ", ["
                                     : "[",
                               i % n == n - 1 ? "]" : ", ");
    }
    snprintf(to + at, size - at, "]");
}

static void lower_pairs(bench *t, const lie *l, int pod, bool pxn, const char *sends)
{
    char text[8192];
    snprintf(text, sizeof text, PAIRS, pod, pod, pxn ? "true" : "false", l->list, l->list, sends);
    CHECK(run(t, text));
}

static const char *const of_pairs[] = {"own", "half", "nic", "leaf", "up"};

static double total_of(const ovl_result *r, size_t link, bool in)
{
    char name[16];
    snprintf(name, sizeof name, "%s.%s", of_pairs[link], in ? "in" : "out");
    return total(r, name);
}

/* Even bytes are the same bytes if they are said for each pair. */
static void a_matrix_of_equal_bytes_is_an_even_exchange(void)
{
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t state = law_seed() + i;
        lie l = draw(&state);
        char sends[6144], bytes[32];
        int pod = 1 + (int)(random_next(&state) % 4);
        bench even = {0}, pairs = {0};
        write_matrix(sends, sizeof sends, l.n);
        snprintf(bytes, sizeof bytes, "bytes: %" PRIu32 " MB", l.n);
        lower_pairs(&even, &l, pod, false, bytes);
        lower_pairs(&pairs, &l, pod, false, sends);
        CHECK_NEAR((double)even.result.step, (double)pairs.result.step, 1);
        CHECK_INT(pairs.result.step, pairs.whole.step);
        CHECK_NEAR(total(&even.result, "hbm"), total(&pairs.result, "hbm"), 1000);
        for (size_t k = 0; k < 2 * OVL_COUNT(of_pairs); k++) {
            double want = total_of(&even.result, k / 2, k % 2);
            CHECK_NEAR(total_of(&pairs.result, k / 2, k % 2), want, 1000);
            CHECK_NEAR(total_of(&pairs.whole, k / 2, k % 2), want, 1000);
        }
        finish(&even);
        finish(&pairs);
    }
}

/* With PXN as much leaves nodes as without, and rails what has no member on the rail in its node,
 * or goes to another pod. What is sent is received. */
static void pxn_keeps_what_it_can_on_the_rails(void)
{
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t state = law_seed() + i;
        bool in[24];
        lie l = draw_into(&state, in);
        char bytes[32];
        int pod = 1 + (int)(random_next(&state) % 4);
        double leaves = 0, passed = 0;
        for (int a = 0; a < 24; a++) {
            for (int b = 0; b < 24; b++) {
                bool there = in[a] && in[b] && a / 6 != b / 6, rail = in[a / 6 * 6 + b % 6];
                leaves += there && (!rail || a / 6 / pod != b / 6 / pod);
                passed += there && rail && a % 6 != b % 6;
            }
        }
        bench plain = {0}, pxn = {0};
        snprintf(bytes, sizeof bytes, "bytes: %" PRIu32 " MB", l.n);
        lower_pairs(&plain, &l, pod, false, bytes);
        lower_pairs(&pxn, &l, pod, true, bytes);
        CHECK_INT(pxn.result.step, pxn.whole.step);
        CHECK_NEAR(total_of(&pxn.result, 0, false),
                   total_of(&plain.result, 0, false) + 1e6 * passed, 1000);
        CHECK_NEAR(total_of(&pxn.result, 2, false), total_of(&plain.result, 2, false), 1000);
        CHECK_NEAR(total_of(&pxn.result, 3, false), total_of(&plain.result, 3, false), 1000);
        CHECK_NEAR(total_of(&pxn.result, 4, false), 1e6 * leaves, 1000);
        for (size_t k = 0; k < OVL_COUNT(of_pairs); k++) {
            CHECK_NEAR(total_of(&pxn.result, k, true), total_of(&pxn.result, k, false), 1000);
            CHECK_NEAR(total_of(&pxn.whole, k, true), total_of(&pxn.result, k, true), 1000);
        }
        finish(&plain);
        finish(&pxn);
    }
}

/* --- Phase by phase --- */

/* As many members on some of the four nodes, in any order. */
static lie draw_even(uint64_t *state)
{
    lie l = {0};
    uint32_t g = 1 + random_next(state) % 6, m = 1 + random_next(state) % 4, ranks[24];
    for (uint32_t node = 0; node < m; node++) {
        uint32_t first = random_next(state) % 6;
        for (uint32_t i = 0; i < g; i++) {
            ranks[l.n++] = 6 * node + (first + i) % 6;
        }
        l.on[node] = g;
    }
    for (uint32_t i = l.n; i > 1; i--) {
        uint32_t k = random_next(state) % i, other = ranks[k];
        ranks[k] = ranks[i - 1];
        ranks[i - 1] = other;
    }
    for (size_t at = 0, i = 0; i < l.n; i++) {
        at += (size_t)snprintf(l.list + at, sizeof l.list - at, "%s%" PRIu32, i ? ", " : "",
                               ranks[i]);
    }
    return l;
}

/* Whether a phase loads a link out of the ranks that have a part in the collective. */
static bool loads(bench *t, const lie *l, uint32_t phase, const char *link)
{
    bool any = false;
    for (uint32_t rank = 0; rank < 24; rank++) {
        if (l->on[rank / 6] && find_op(t, rank, "x") != OVL_NONE) {
            const ovl_cost *cost = ovl_phase_of(t->p, cost_named(t, rank, "x"), phase);
            any |= demand_on(t, rank, cost, false, link) > 0;
        }
    }
    return any;
}

/* Of g members on each of m nodes a pass puts (g - 1)/g s on each own link, and (m - 1)/m s out of
 * each node; an all-reduce makes two. Own links carry it inside, the others across: never both. */
static void check_levels(bench *t, const way *w, const lie *l)
{
    double m = 0, passes = w->coll == OVL_ALL_REDUCE ? 2 : 1;
    for (int k = 0; k < 4; k++) {
        m += l->on[k] > 0;
    }
    double g = l->n / m, across = 2 * 48e6 * passes * (m - 1);
    CHECK_NEAR(total(&t->result, "own.out"), 2 * 48e6 * passes * (g - 1) * m, 1000);
    CHECK_NEAR(total(&t->result, "nic.out"), across, 1000);
    CHECK_NEAR(total(&t->result, "spine.in"), across, 1000);
    check_ways(&t->whole, w, l->n);
    uint32_t first = find_op(t, 0, "x"), rank = 0;
    for (; rank < 23 && first == OVL_NONE; first = find_op(t, ++rank, "x")) {
    }
    uint32_t n = ovl_count_phases(t->p, cost_named(t, rank, "x"));
    CHECK_INT(n, g > 1 && m > 1 ? (uint32_t)passes + 1 : 1);
    for (uint32_t i = 0; i < n && n > 1; i++) {
        bool inside = w->coll == OVL_ALL_GATHER ? i == 1 : i != 1;
        CHECK_INT(loads(t, l, i, "own.out"), inside);
        CHECK_INT(loads(t, l, i, "nic.out"), !inside);
        CHECK_INT(loads(t, l, i, "spine.out"), !inside);
    }
}

static void hierarchies_are_conserved_phase_by_phase(void)
{
    static const way levels[] = {
        {"all_reduce", "hierarchical", OVL_ALL_REDUCE, OVL_ALGO_HIERARCHICAL},
        {"reduce_scatter", "hierarchical", OVL_REDUCE_SCATTER, OVL_ALGO_HIERARCHICAL},
        {"all_gather", "hierarchical", OVL_ALL_GATHER, OVL_ALGO_HIERARCHICAL},
    };
    for (uint64_t i = 0; i < 300; i++) {
        uint64_t state = law_seed() + i;
        lie l = draw_even(&state);
        char text[2048];
        const way *w = &levels[i % OVL_COUNT(levels)];
        int nic = 1 + (int)(random_next(&state) % 3);
        snprintf(text, sizeof text, ANYHOW, nic, w->op, w->algorithm, l.list, w->op, l.list, "",
                 w->op, l.list);
        bench t = {0};
        if (l.n > 1 && run(&t, text)) {
            check_levels(&t, w, &l);
            CHECK_INT(t.result.step, t.whole.step);
        }
        finish(&t);
    }
}

static CU_TestInfo tests[] = {
    {"a matrix of equal bytes is an even exchange", a_matrix_of_equal_bytes_is_an_even_exchange},
    {"PXN keeps what it can on the rails", pxn_keeps_what_it_can_on_the_rails},
    {"rails keep what they can however a group lies",
     rails_keep_what_they_can_however_a_group_lies},
    {"bytes are conserved however a group lies", bytes_are_conserved_however_a_group_lies},
    {"bytes are conserved over every pair of axes", bytes_are_conserved_over_every_pair_of_axes},
    {"hierarchies are conserved phase by phase", hierarchies_are_conserved_phase_by_phase},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("laws of collectives", tests);
}
