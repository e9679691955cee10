#include "sim/announce.h"

#include "sim/exposure.h"
#include "sim/fold.h"
#include "sim/steps.h"
#include "sim/uses.h"

#include <string.h>

/* Of the files that need them; what a file has for itself is told here in bytes. */
#define ROW       (sizeof(ovl_result_collective) + sizeof(ovl_dependency) + 8) /* rows.h */
#define TOLD      sizeof(ovl_result_collective)
#define WHY       27  /* of a row of the path, beside two names: "communicator: after " */
#define PIECE     40  /* path_rows.h */
#define CANDIDATE 56  /* worth.c, with its place in the order of names */
#define SLOT      80  /* waits.c */
#define GAP       300 /* of a kernel that waits: in each run of idle.c, cut, and charged */
#define BUFFER    300 /* of a code: memory.c, allocator.c */
#define EFFECT    200 /* gradflow.c */
#define LANE_USE  32  /* hazard.c: of a buffer on a lane */

/* What there is of a code, or of all ranks. */
typedef struct counts {
    uint64_t ops, rows, waits, comms, copies, names, buffers, effects;
    uint64_t loads; /* operations that share something, or hold SMs */
    uint64_t uses;  /* of resources and SMs, in the last step */
    uint64_t feeds; /* bytes */
} counts;

/* Bytes that a vector may have taken to hold so many: large ones grow by a quarter (vec.c). */
static uint64_t grown(uint64_t bytes)
{
    const uint64_t large = (uint64_t)64 << 20;
    return bytes < large / 2 ? 2 * bytes : OVL_MAX(bytes + bytes / 4, large);
}

/* --- Counting --- */

/* Whether a kernel may find its stream idle: it waits for something that is no kernel before it
 * there. */
static bool may_wait(const ovl_code *code, uint32_t op)
{
    uint32_t before = ovl_code_stream_prev(code, op);
    return code->host_timed || code->queued || ovl_code_after(code, op).n > 0 ||
           (before != OVL_NONE && ovl_code_op(code, before)->kind != OVL_KERNEL);
}

static uint32_t uses_of(const ovl_program *p, const ovl_op *op)
{
    const ovl_cost *cost = &p->costs[op->cost];
    uint32_t n = 0;
    for (; cost; cost = ovl_next_phase(p, cost)) {
        const ovl_cost_kind *kind = ovl_kind_of(p, cost);
        n += OVL_MAX(kind->n_demands, kind->n_peer);
        n += kind->sms > 0 || (p->sms > 0 && op->kind == OVL_KERNEL);
    }
    return n;
}

static counts count_code(const ovl_program *p, const ovl_code *code)
{
    counts n = {.ops = code->n_ops,
                .buffers = code->n_buffers,
                .effects = code->n_ops ? code->effect.at[code->n_ops] : 0,
                .feeds = ovl_feeds_memory(p, code)};
    ovl_op_range step = ovl_last_step(code);
    for (uint32_t i = 0; i < code->n_ops; i++) {
        const ovl_op *op = ovl_code_op(code, i);
        uint32_t uses = uses_of(p, op);
        bool last = step.first <= i && i < step.end;
        n.rows += last && ovl_is_dependency(op);
        n.waits += op->kind == OVL_KERNEL && may_wait(code, i);
        n.comms += ovl_is_communication(op);
        n.copies += op->kind == OVL_COPY;
        n.names += strlen(OVL_NAME(p->names, code->name[i]));
        n.loads += uses > 0;
        n.uses += last ? uses : 0;
    }
    return n;
}

static void add(counts *all, const counts *code, uint64_t ranks)
{
    all->ops += ranks * code->ops;
    all->rows += ranks * code->rows;
    all->waits += ranks * code->waits;
    all->comms += ranks * code->comms;
    all->copies += ranks * code->copies;
    all->names += ranks * code->names;
    all->loads += ranks * code->loads;
    all->uses += ranks * code->uses;
}

/* The most of any code, for what one rank needs after another. */
static void keep_most(counts *most, const counts *code)
{
    most->ops = OVL_MAX(most->ops, code->ops);
    most->rows = OVL_MAX(most->rows, code->rows);
    most->buffers = OVL_MAX(most->buffers, code->buffers);
}

/* --- What is there at once --- */

typedef struct announcing {
    const ovl_program *p;
    const ovl_analyse_options *options;
    counts all, most;   /* over ranks; of a code */
    uint64_t host;      /* times that are kept by operation, beside three */
    uint64_t effects;   /* of all codes */
    uint64_t feeds;     /* bytes of all codes */
    uint64_t hazards;   /* bytes of the code that needs most */
    uint64_t unchecked; /* operations of the program whose ranks are folded, if it is looked at */
} announcing;

static void count(announcing *a)
{
    const ovl_program *p = a->p;
    ovl_arena scratch = {0};
    uint64_t *ranks = OVL_NEW_ARRAY(&scratch, uint64_t, p->n_codes);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        ranks[p->ranks[r].code]++;
    }
    for (uint32_t c = 0; c < p->n_codes; c++) {
        const ovl_code *code = &p->codes[c];
        counts n = count_code(p, code);
        uint64_t lanes = code->n_streams + 1;
        uint64_t hazards =
            n.buffers ? lanes * (4 * n.ops + LANE_USE * n.buffers) + 64 * n.buffers + n.ops : 0;
        add(&a->all, &n, ranks[c]);
        keep_most(&a->most, &n);
        a->effects += n.effects;
        a->feeds += n.feeds;
        a->hazards = OVL_MAX(a->hazards, hazards);
    }
    ovl_arena_free(&scratch);
}

/* Times of operations, the trail, and twice what held back whatever shares something. */
static uint64_t timeline(uint64_t ops, uint64_t loads)
{
    return ops * (5 * sizeof(ovl_time) + 3 * sizeof(uint32_t)) + 2 * loads * sizeof(ovl_limit);
}

/* Whose rank, members of collectives, copies in order; two flags; ranks compared. */
static uint64_t tables(const announcing *a)
{
    return 8 * a->all.ops + 8 * (uint64_t)a->p->n_collectives + 32 * a->all.copies +
           256 * (uint64_t)a->p->n_ranks;
}

static uint64_t path_rows(const announcing *a)
{
    return a->all.ops * (sizeof(ovl_result_path) + WHY) + 2 * a->all.names;
}

static uint64_t path(const announcing *a)
{
    return path_rows(a) + grown(a->all.ops * PIECE) + grown(4 * a->all.ops) + 8 * a->all.ops;
}

static uint64_t slack(const announcing *a)
{
    return a->all.rows ? 5 * 8 * a->all.ops + 8 * (uint64_t)a->p->n_collectives : 0;
}

static uint64_t texts(const announcing *a)
{
    return a->all.rows ? a->all.names : 0;
}

static uint64_t rows(const announcing *a)
{
    uint64_t each = 24 * a->most.ops + 8 * a->most.buffers + 12 * (uint64_t)a->p->names->count;
    return a->all.rows ? a->all.rows * ROW + 8 * a->all.ops + each +
                             grown(a->most.rows * sizeof(ovl_dependency))
                       : 0;
}

/* The runs with a name free are kept whole. */
static uint64_t worth(const announcing *a)
{
    if (!a->all.rows || a->options->worth == OVL_WORTH_NONE) {
        return 0;
    }
    return a->all.rows * (ROW + 16) + grown(a->all.rows * CANDIDATE) + a->p->names->count +
           ovl_run_memory(a->p, false) + 16 * a->all.ops;
}

static uint64_t idle(const announcing *a)
{
    uint64_t n = 40 * a->all.ops + 16 * (uint64_t)a->p->n_collectives +
                 8 * (uint64_t)a->p->names->count + BUFFER * a->most.buffers;
    return n + (a->all.waits ? grown(SLOT * a->all.ops) + GAP * a->all.waits : 0);
}

/* Folded ranks are looked at one by one where they are not too many. */
static uint64_t usage(const announcing *a)
{
    const ovl_program *whole = a->p->fold ? a->p->fold->whole : a->p;
    bool unfolds = a->p->fold && whole->numbered;
    uint64_t more = a->p->n_ops ? (whole->n_ops + a->p->n_ops - 1) / a->p->n_ops : 1;
    uint64_t uses = a->all.uses * (unfolds ? more : 1);
    return grown(uses * sizeof(ovl_resource_use)) + 2 * uses * sizeof(ovl_use_moment) +
           4 * (uint64_t)a->p->names->count +
           (unfolds ? timeline(whole->n_ops, more * a->all.loads) + 8 * (uint64_t)whole->n_ops : 0);
}

static uint64_t hazards(const announcing *a)
{
    return a->hazards + EFFECT * a->effects;
}

uint64_t ovl_announce(const ovl_program *program, const ovl_analyse_options *options)
{
    announcing a = {.p = program, .options = options};
    count(&a);
    uint64_t run = ovl_run_memory(program, false);
    uint64_t kept = timeline(a.all.ops, a.all.loads) + tables(&a);
    uint64_t most = OVL_MAX(run, kept + path(&a));
    kept += path_rows(&a) + texts(&a) + a.feeds;
    most = OVL_MAX(most, kept + OVL_MAX(slack(&a), OVL_MAX(rows(&a), worth(&a))));
    kept += a.all.rows * TOLD;
    most = OVL_MAX(most, kept + OVL_MAX(idle(&a), OVL_MAX(usage(&a), hazards(&a))));
    most = OVL_MAX(most, kept + ovl_run_memory(program, true));
    return most + ((uint64_t)4 << 20); /* blocks that are not full */
}
