#include "models/nccl.h"
#include "tools/facts.h"
#include "tools/grid.h"
#include "tools/report.h"
#include "tools/wrap.h"

#include <string.h>

#define MOST_MEMBERS  12
#define MOST_BUCKETS  40 /* beyond them the first and the last few are shown */
#define FIRST_BUCKETS 30
#define LAST_BUCKETS  5
#define MOST_CODES    40
#define MOST_GROUPS   40
#define MOST_VARIANTS 100

static const char *const scope_words[] = {"GPU", "node", "cluster", "rail"};

static const char *bytes_text(ovl_arena *arena, uint64_t bytes)
{
    char buf[OVL_UNITS_TEXT];
    return ovl_arena_strdup(arena, ovl_print_bytes(buf, bytes));
}

static void head(ovl_out *out, const ovl_check *check)
{
    const ovl_scenario *s = &check->prepared->scenario;
    const ovl_facts *f = check->facts;
    ovl_out_title(out, "%s", s->name ? s->name : check->file);
    if (s->description) {
        ovl_wrap(out, "", 0, s->description, OVL_TERMINAL);
    }
    ovl_out_printf(
        out, "variant %s, %" PRIu32 " rank%s, %" PRIu64 " operation%s in all, interference %s\n",
        s->variant, f->program->n_ranks, f->program->n_ranks == 1 ? "" : "s", f->n_ops,
        f->n_ops == 1 ? "" : "s", ovl_interference_name((ovl_interference)s->interference));
}

/* Long lists are cut, and say so. */
static void more(ovl_out *out, uint32_t n, uint32_t shown)
{
    if (n > shown) {
        ovl_out_printf(out, "  ... and %" PRIu32 " more: --json\n", n - shown);
    }
}

static const char *kinds_text(const ovl_code_facts *f, ovl_arena *arena)
{
    const char *text = "";
    for (int k = 0; k < OVL_KINDS; k++) {
        if (f->kinds[k]) {
            text = ovl_arena_printf(arena, "%s%s%" PRIu32 " %s", text, *text ? ", " : "",
                                    f->kinds[k], ovl_op_kind_name((ovl_op_kind)k));
        }
    }
    return text;
}

static const char *streams_text(const ovl_check *check, const ovl_code *code, ovl_arena *arena)
{
    const char *text = "";
    for (uint32_t i = 0; i < code->n_streams; i++) {
        text = ovl_arena_printf(arena, "%s%s%s", text, i ? ", " : "",
                                OVL_NAME(check->facts->program->names, code->streams[i]));
    }
    return text;
}

static void programs(ovl_out *out, const ovl_check *check, ovl_arena *arena)
{
    static const ovl_column columns[] = {{"ranks", true, true, 0},
                                         {"operations", false, false, 0},
                                         {"of them", true, OVL_GRID_WRAP, 0},
                                         {"streams", true, OVL_GRID_WRAP, 0}};
    ovl_out_title(out, "\nWhat each rank runs");
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(check->facts->n_codes, MOST_CODES); i++) {
        const ovl_code_facts *f = &check->facts->codes[i];
        const char *cells[] = {f->ranks, ovl_arena_printf(arena, "%" PRIu32, f->code->n_ops),
                               kinds_text(f, arena), streams_text(check, f->code, arena)};
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
    more(out, check->facts->n_codes, MOST_CODES);
}

static void groups(ovl_out *out, const ovl_facts *facts, ovl_arena *arena)
{
    static const ovl_column columns[] = {{"name", true, true, 0},
                                         {"communicators", false, false, 0},
                                         {"members", false, false, 0},
                                         {"ranks of the first", true, true, 0}};
    if (facts->n_groups == 0) {
        return;
    }
    ovl_out_title(out, "\nGroups");
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(facts->n_groups, MOST_GROUPS); i++) {
        const ovl_group_facts *g = &facts->groups[i];
        const char *size = g->fewest == g->most ? ovl_arena_printf(arena, "%" PRIu32, g->most)
                                                : ovl_arena_printf(arena, "%" PRIu32 "-%" PRIu32,
                                                                   g->fewest, g->most);
        const char *cells[] = {g->name, ovl_arena_printf(arena, "%" PRIu32, g->n_comms), size,
                               g->first};
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
    more(out, facts->n_groups, MOST_GROUPS);
}

static const char *members_text(const ovl_bucket_line *b, ovl_arena *arena)
{
    const char *text = "";
    for (uint32_t i = 0; i < OVL_MIN(b->n_members, MOST_MEMBERS); i++) {
        text = ovl_arena_printf(arena, "%s%s%s", text, i ? ", " : "", b->members[i]);
    }
    return b->n_members > MOST_MEMBERS ? ovl_arena_printf(arena, "%s and %" PRIu32 " more", text,
                                                          b->n_members - MOST_MEMBERS)
                                       : text;
}

/* "27.52 MiB (28852224 B)", or "20 B": bytes where they say more. */
static const char *exact_bytes(uint64_t bytes, ovl_arena *arena)
{
    const char *text = bytes_text(arena, bytes);
    const char *exact = ovl_arena_printf(arena, "%" PRIu64 " B", bytes);
    return strcmp(text, exact) == 0 ? text : ovl_arena_printf(arena, "%s (%s)", text, exact);
}

static void bucket(ovl_out *out, const ovl_bucket_line *b, ovl_arena *arena)
{
    ovl_wrap(out, "  ", 6,
             ovl_arena_printf(arena, "%s  %s %s: %s", b->name, exact_bytes(b->bytes, arena),
                              b->dtype, members_text(b, arena)),
             OVL_TERMINAL);
}

static void buckets(ovl_out *out, const ovl_lowered *lowered, ovl_arena *arena)
{
    uint32_t n = lowered->n_buckets;
    uint64_t sum = 0;
    if (n == 0) {
        return;
    }
    uint32_t head = n > MOST_BUCKETS ? FIRST_BUCKETS : n;
    uint32_t tail = n > MOST_BUCKETS ? n - LAST_BUCKETS : n;
    ovl_out_title(out, "\nBuckets, in the order they are launched");
    for (uint32_t i = 0; i < n; i++) {
        if (i < head || i >= tail) {
            bucket(out, &lowered->buckets[i], arena);
        } else if (i == head) {
            ovl_out_printf(out, "  ... %" PRIu32 " more: --json\n", tail - head);
        }
        sum += lowered->buckets[i].bytes;
    }
    ovl_out_printf(out, "  = %" PRIu32 " bucket%s of %s\n", n, n == 1 ? "" : "s",
                   exact_bytes(sum, arena));
}

static void nccl_row(ovl_grid *grid, const ovl_nccl_line *n, ovl_arena *arena)
{
    char latency[OVL_UNITS_TEXT], transfer[OVL_UNITS_TEXT];
    const char *name = ovl_coll_name(n->op);
    const char *cells[] = {
        n->group ? ovl_arena_printf(arena, "%s in %s", name, n->group) : name,
        bytes_text(arena, n->bytes),
        ovl_arena_printf(arena, "%" PRIu32 " on %" PRIu32, n->members, n->nodes),
        ovl_nccl_algo_names[n->time.algo],
        ovl_nccl_proto_names[n->time.proto],
        ovl_arena_printf(arena, "%" PRIu32, n->time.channels),
        ovl_arena_printf(arena, "%s + %s", ovl_print_time(latency, n->time.latency),
                         ovl_print_time(transfer, n->time.transfer)),
    };
    ovl_grid_row(grid, cells);
}

static void nccl(ovl_out *out, const ovl_lowered *lowered, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"collective", true, true, 0},          {"bytes", false, false, 0},
        {"ranks on nodes", true, false, 0},     {"algorithm", true, false, 0},
        {"protocol", true, false, 0},           {"SMs", false, false, 0},
        {"latency + transfer", true, false, 0},
    };
    if (lowered->n_nccl == 0) {
        return;
    }
    ovl_out_title(out, "\nWhat NCCL's tuning model chooses");
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < OVL_MIN(lowered->n_nccl, MOST_BUCKETS); i++) {
        nccl_row(&grid, &lowered->nccl[i], arena);
    }
    ovl_grid_end(&grid, out, 2);
    more(out, lowered->n_nccl, MOST_BUCKETS);
}

static bool same_buffers(const ovl_code_facts *a, const ovl_code_facts *b)
{
    return memcmp(a->buffers, b->buffers, sizeof a->buffers) == 0 &&
           memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0 &&
           memcmp(a->least, b->least, sizeof a->least) == 0 && a->all == b->all &&
           a->least_of_all == b->least_of_all;
}

/* "8 MiB", or "4 MiB to 8 MiB" where ranks differ. */
static const char *range_text(uint64_t least, uint64_t most, ovl_arena *arena)
{
    const char *text = bytes_text(arena, most);
    return least == most ? text
                         : ovl_arena_printf(arena, "%s to %s", bytes_text(arena, least), text);
}

/* What one rank declares: "gradient 8 MiB in 2 + reduce 8 MiB in 1 = 16 MiB"; "" without any. */
static const char *buffers_text(const ovl_code_facts *f, ovl_arena *arena)
{
    const char *text = "";
    for (int c = 0; c < OVL_CATEGORY_COUNT; c++) {
        if (f->buffers[c]) {
            text = ovl_arena_printf(arena, "%s%s%s %s in %" PRIu32, text, *text ? " + " : "",
                                    ovl_category_name((ovl_category)c),
                                    range_text(f->least[c], f->bytes[c], arena), f->buffers[c]);
        }
    }
    const char *sum = range_text(f->least_of_all, f->all, arena);
    return *text ? ovl_arena_printf(arena, "%s = %s", text, sum) : "";
}

/* A line for all ranks that declare as much as those of code `first`. */
static void buffers_line(ovl_out *out, const ovl_facts *facts, uint32_t first, ovl_arena *arena)
{
    const char *text = buffers_text(&facts->codes[first], arena);
    if (*text) {
        bool one;
        const char *ranks = ovl_facts_ranks_like(facts, first, same_buffers, &one, arena);
        ovl_wrap(out, "  ", 4,
                 ovl_arena_printf(arena, "rank%s %s: %s", one ? "" : "s", ranks, text),
                 OVL_TERMINAL);
    }
}

static void buffers(ovl_out *out, const ovl_facts *facts, ovl_arena *arena)
{
    uint64_t any = 0;
    uint32_t lines = 0;
    for (uint32_t i = 0; i < facts->n_codes; i++) {
        any += facts->codes[i].code->n_buffers;
    }
    if (any == 0) {
        ovl_out_title(out, "\nBuffers: none declared, so memory and hazards are not checked");
        return;
    }
    ovl_out_title(out, "\nBuffers of one rank (all of them; not all live at once)");
    for (uint32_t i = 0; i < facts->n_codes; i++) {
        bool fresh = true;
        for (uint32_t k = 0; k < i && fresh; k++) {
            fresh = !same_buffers(&facts->codes[k], &facts->codes[i]);
        }
        if (fresh && lines++ < MOST_CODES) {
            buffers_line(out, facts, i, arena);
        }
    }
    more(out, lines, MOST_CODES);
}

/* Nothing: all that its GPUs send. */
static const char *carries_text(const ovl_hw_link *l, ovl_arena *arena)
{
    if (l->topology == OVL_TOPOLOGY_MESH) {
        char wire[OVL_UNITS_TEXT];
        uint64_t each = l->bandwidth / (uint64_t)(l->mesh - 1);
        return ovl_arena_printf(arena, "%s to each of %" PRId64 " others%s",
                                ovl_print_rate(wire, (double)each), l->mesh - 1,
                                l->rings == OVL_RINGS_ONE ? ", one ring" : "");
    }
    if (l->out_of == 0) {
        return NULL;
    }
    if (l->out_of == OVL_OUT_OF_RAIL) {
        return "what leaves a rail";
    }
    return l->out_of == OVL_OUT_OF_NODE
               ? "what leaves a node"
               : ovl_arena_printf(arena, "what leaves blocks of %" PRId64 " GPUs", l->out_of);
}

static const char *serves_text(const ovl_hw_link *l, ovl_arena *arena)
{
    if (l->gpus) {
        return ovl_arena_printf(arena, "%" PRId64 " GPUs", l->gpus);
    }
    return l->scope == OVL_SCOPE_RAIL && l->pod
               ? ovl_arena_printf(arena, "rail of %" PRId64 " nodes", l->pod)
               : scope_words[l->scope];
}

/* "4", or "2 to 4" where nodes have different numbers of GPUs. */
static const char *per_node_text(const ovl_hw *hw, const ovl_hw_link *l, ovl_arena *arena)
{
    int64_t least = ovl_links_per_node(hw, l, 0), most = least;
    for (uint32_t i = 1; i <= hw->n_others; i++) {
        int64_t here = ovl_links_per_node(hw, l, i);
        least = OVL_MIN(least, here);
        most = OVL_MAX(most, here);
    }
    if (least < most) {
        return ovl_arena_printf(arena, "%" PRId64 " to %" PRId64, least, most);
    }
    return most ? ovl_arena_printf(arena, "%" PRId64, most) : NULL;
}

static void links(ovl_out *out, const ovl_hw *hw, ovl_arena *arena)
{
    static const ovl_column columns[] = {
        {"name", true, true, 0},         {"each direction", false, false, 0},
        {"latency", false, false, 0},    {"one for each", true, false, 0},
        {"a node has", false, false, 0}, {"carries", true, false, 0},
    };
    char rate[OVL_UNITS_TEXT], time[OVL_UNITS_TEXT];
    if (hw->n_links == 0) {
        return;
    }
    ovl_out_title(out, "\nLinks");
    ovl_grid grid;
    ovl_grid_begin(&grid, columns, OVL_COUNT(columns));
    for (uint32_t i = 0; i < hw->n_links; i++) {
        const ovl_hw_link *l = &hw->links[i];
        const char *cells[] = {
            l->name,
            ovl_arena_strdup(arena, ovl_print_rate(rate, (double)l->bandwidth)),
            l->latency ? ovl_arena_strdup(arena, ovl_print_time(time, l->latency)) : NULL,
            serves_text(l, arena),
            per_node_text(hw, l, arena),
            carries_text(l, arena),
        };
        ovl_grid_row(&grid, cells);
    }
    ovl_grid_end(&grid, out, 2);
}

/* What was tried and what was not. */
static void schedule(ovl_out *out, const ovl_check *check)
{
    ovl_wrap(out, "", 2,
             check->all_ran
                 ? "the schedule finishes (tried without interference; hazards are looked for by "
                   "ovl run)"
                 : "whether the schedule finishes was not tried: it has more than 20 million "
                   "operations; ovl run does",
             OVL_TERMINAL);
}

static void variants(ovl_out *out, const ovl_check *check, ovl_arena *arena)
{
    const char *text = "";
    if (check->doc->n_variants == 0) {
        return;
    }
    uint32_t n = check->doc->n_variants;
    for (uint32_t i = 0; i < OVL_MIN(n, MOST_VARIANTS); i++) {
        text = ovl_arena_printf(arena, "%s%s%s", text, i ? ", " : "", check->doc->variants[i]);
    }
    if (n > MOST_VARIANTS) {
        text = ovl_arena_printf(arena, "%s and %" PRIu32 " more", text, n - MOST_VARIANTS);
    }
    ovl_out_title(out, "\nVariants%s", check->all_variants ? ", all without mistakes" : "");
    ovl_wrap(out, "  ", 2, text, OVL_TERMINAL);
}

void ovl_check_text(ovl_out *out, const ovl_check *check)
{
    if (!check->prepared) {
        return; /* the mistakes are on standard error */
    }
    ovl_arena arena = {0};
    const ovl_lowered *lowered = &check->prepared->lowered;
    head(out, check);
    schedule(out, check);
    programs(out, check, &arena);
    groups(out, check->facts, &arena);
    ovl_check_model_text(out, lowered);
    ovl_check_pipeline_text(out, check, &arena);
    buckets(out, lowered, &arena);
    nccl(out, lowered, &arena);
    buffers(out, check->facts, &arena);
    links(out, &check->prepared->scenario.hw, &arena);
    ovl_check_nodes(out, &check->prepared->scenario.hw, &arena);
    ovl_check_measured_text(out, &check->prepared->scenario.hw);
    variants(out, check, &arena);
    ovl_report_not_modelled(out, lowered->not_modelled, lowered->n_not_modelled);
    ovl_arena_free(&arena);
}
