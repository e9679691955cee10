#include "tests/support/ring_job.h"

#include "sim/expand.h"

#include <string.h>

#define PLENTY (UINT64_C(1) << 40)

static uint32_t add_kernel(ovl_builder *b, ovl_id code, const char *stream, const char *name,
                           ovl_time work, uint64_t hbm)
{
    ovl_cost cost = {.work = work};
    ovl_demand demand = {OVL_PORT_HBM, false, hbm};
    return ovl_add_op(b, code,
                      &(ovl_op){.kind = OVL_KERNEL,
                                .stream = ovl_add_stream(b, code, stream),
                                .comm = OVL_NO_COMM,
                                .name = ovl_name(b, name),
                                .cost = ovl_add_cost(b, &cost, NULL, &demand, hbm > 0, NULL, 0),
                                .batch = OVL_NONE});
}

static uint32_t add_collective(const ring_job *job, ovl_builder *b, ovl_id code)
{
    ovl_cost cost = {.latency = job->latency, .work = job->work};
    bool once = job->gpus > 1;
    ovl_demand demands[] = {
        {OVL_PORT_HBM, false, job->hbm}, {1, once, job->wire}, {2, once, job->wire}};
    return ovl_add_op(b, code,
                      &(ovl_op){.kind = OVL_COLLECTIVE,
                                .coll = (uint8_t)job->coll,
                                .peer = (int32_t)job->root,
                                .bytes = 1000,
                                .stream = ovl_add_stream(b, code, "comm"),
                                .name = ovl_name(b, "reduce"),
                                .cost = ovl_add_cost(b, &cost, NULL, demands, 3, NULL, 0),
                                .batch = OVL_NONE});
}

static void add_code(const ring_job *job, ovl_builder *b, uint32_t rank)
{
    ovl_id code = ovl_add_code(b);
    ovl_add_slot(b, code);
    if (job->beside[rank]) {
        add_kernel(b, code, "beside", "beside", job->beside[rank], job->kernel_hbm);
    }
    if (job->late[rank]) {
        add_kernel(b, code, "comm", "late", job->late[rank], 0);
    }
    for (uint32_t i = 0; i < job->times; i++) {
        add_collective(job, b, code);
        if (job->between[rank] && i + 1 < job->times) {
            add_kernel(b, code, "comm", "between", job->between[rank], 0);
        }
    }
}

static void add_ranks(const ring_job *job, ovl_builder *b)
{
    uint32_t ranks[RING_RANKS], gpus = job->gpus ? job->gpus : 1;
    ovl_id ports[3] = {0};
    for (uint32_t r = 0; r < job->n; r++) {
        ranks[r] = r;
    }
    ovl_id dp = ovl_add_comm(b, ovl_name(b, "dp"), ranks, job->n);
    for (uint32_t r = 0; r < job->n; r++) {
        uint64_t out = job->out[r] ? job->out[r] : PLENTY;
        ports[0] = ovl_add_resource(b, &(ovl_resource){ovl_name(b, "hbm"), OVL_RES_HBM, r, 1000});
        if (r % gpus == 0) {
            ports[1] = ovl_add_resource(
                b, &(ovl_resource){ovl_name(b, "link.out"), OVL_RES_LINK, r / gpus, out});
            ports[2] = ovl_add_resource(
                b, &(ovl_resource){ovl_name(b, "link.in"), OVL_RES_LINK, r / gpus, PLENTY});
        }
        for (uint32_t i = 0; i < job->n_changes; i++) {
            if (job->changes[i].rank == r) {
                ovl_change_capacity(b, ports[1], job->changes[i].time, job->changes[i].out);
            }
        }
        ovl_add_rank(b, r, 0, &dp, ports);
    }
}

ring_run ring_job_run(const ring_job *job, uint32_t members, ovl_arena *arena)
{
    ovl_builder b;
    ovl_errs errs = {.arena = arena};
    ring_run run = {0};
    ovl_program whole;
    assert(job->n <= RING_RANKS);
    ovl_builder_init(&b, arena);
    b.n_ports = 3;
    for (uint32_t r = 0; r < job->n; r++) {
        add_code(job, &b, r);
    }
    add_ranks(job, &b);
    bool good = ovl_freeze(&b, &whole, &errs);
    run.program = whole;
    good = good && (members == 0 || ovl_expand(&whole, members, arena, &run.program, &errs));
    ovl_run_options how = {.interference = OVL_INTERFERENCE_SHARED};
    good = good && ovl_run(&run.program, &how, arena, &run.timeline, &errs);
    assert(good);
    (void)good;
    run.step = run.timeline.step;
    return run;
}

uint32_t ring_find(const ring_run *run, uint32_t rank, ovl_op_kind kind, const char *name)
{
    const ovl_rank *r = &run->program.ranks[rank];
    const ovl_code *code = &run->program.codes[r->code];
    uint32_t i = 0;
    while (ovl_code_op(code, i)->kind != kind ||
           strcmp(OVL_NAME(run->program.names, code->name[i]), name) != 0) {
        i++;
        assert(i < code->n_ops);
    }
    return r->first_op + i;
}
