#include "tests/support/tiny.h"

#include "sim/build.h"

void tiny_init(tiny *t, uint32_t n_ranks)
{
    assert(n_ranks <= TINY_RANKS);
    *t = (tiny){.n_ranks = n_ranks};
    t->errs.arena = &t->arena;
    ovl_builder_init(&t->b, &t->arena);
    t->kind.klass = OVL_NONE;
    tiny_code(t);
}

void tiny_free(tiny *t)
{
    if (!t->frozen) {
        ovl_builder_free(&t->b);
    }
    ovl_arena_free(&t->arena);
}

ovl_id tiny_code(tiny *t)
{
    t->code = ovl_add_code(&t->b);
    ovl_add_slot(&t->b, t->code);
    return t->code;
}

void tiny_use(tiny *t, uint32_t rank, ovl_id code)
{
    t->rank_code[rank] = code;
}

static uint32_t add(tiny *t, ovl_op op, const char *stream, const char *name, ovl_time latency,
                    ovl_time work)
{
    t->cost.latency = latency;
    t->cost.work = work;
    if (t->kind.weight == 0) {
        t->kind.weight = 1;
    }
    op.name = ovl_name(&t->b, name);
    op.cost = ovl_add_cost(&t->b, &t->cost, &t->kind, t->demands, t->n_demands, t->peer, t->n_peer);
    op.batch = OVL_NONE;
    op.stream = stream ? ovl_add_stream(&t->b, t->code, stream) : OVL_NO_STREAM;
    t->cost = (ovl_cost){0};
    t->kind = (ovl_cost_kind){.klass = OVL_NONE};
    t->n_demands = t->n_peer = 0;
    return ovl_add_op(&t->b, t->code, &op);
}

uint32_t tiny_kernel(tiny *t, const char *stream, const char *name, ovl_time work)
{
    return add(t, (ovl_op){.kind = OVL_KERNEL, .comm = OVL_NO_COMM}, stream, name, 0, work);
}

uint32_t tiny_collective(tiny *t, const char *stream, const char *name, ovl_time latency,
                         ovl_time work)
{
    return add(t, (ovl_op){.kind = OVL_COLLECTIVE, .bytes = 1024}, stream, name, latency, work);
}

uint32_t tiny_send(tiny *t, const char *stream, const char *name, uint32_t to, ovl_time work,
                   bool eager)
{
    return add(t, (ovl_op){.kind = OVL_SEND, .peer = (int32_t)to, .bytes = 1024, .eager = eager},
               stream, name, 0, work);
}

uint32_t tiny_recv(tiny *t, const char *stream, const char *name, uint32_t from, ovl_time work,
                   bool eager)
{
    return add(t, (ovl_op){.kind = OVL_RECV, .peer = (int32_t)from, .bytes = 1024, .eager = eager},
               stream, name, 0, work);
}

uint32_t tiny_copy(tiny *t, const char *stream, const char *name, ovl_time work)
{
    return add(t, (ovl_op){.kind = OVL_COPY, .comm = OVL_NO_COMM}, stream, name, 0, work);
}

uint32_t tiny_host(tiny *t, const char *name, ovl_time work)
{
    return add(t, (ovl_op){.kind = OVL_HOST, .comm = OVL_NO_COMM}, NULL, name, 0, work);
}

uint32_t tiny_marker(tiny *t, const char *stream, const char *name)
{
    return add(t, (ovl_op){.kind = OVL_MARKER, .comm = OVL_NO_COMM}, stream, name, 0, 0);
}

ovl_op *tiny_change(tiny *t, uint32_t local)
{
    struct ovl_code_build *c = t->b.codes.data[t->code];
    ovl_op op = t->b.distinct.data[c->which.data[local]];
    c->which.data[local] = t->b.distinct.len;
    ovl_vec_push(&t->b.distinct, op);
    return &t->b.distinct.data[t->b.distinct.len - 1];
}

uint32_t tiny_last(const tiny *t)
{
    return t->b.codes.data[t->code]->which.len - 1;
}

void tiny_after(tiny *t, uint32_t before)
{
    ovl_add_after(&t->b, t->code, before);
}

ovl_id tiny_buffer(tiny *t, const char *name, uint64_t bytes)
{
    return ovl_add_buffer(&t->b, t->code,
                          &(ovl_buffer){.name = ovl_name(&t->b, name), .bytes = bytes});
}

void tiny_reads(tiny *t, ovl_id buffer)
{
    ovl_add_access(&t->b, t->code, buffer, false);
}

void tiny_writes(tiny *t, ovl_id buffer)
{
    ovl_add_access(&t->b, t->code, buffer, true);
}

bool tiny_freeze(tiny *t)
{
    uint32_t ranks[TINY_RANKS];
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        ranks[r] = r;
    }
    ovl_id dp = ovl_add_comm(&t->b, ovl_name(&t->b, "dp"), ranks, t->n_ranks);
    ovl_id name = ovl_name(&t->b, "hbm"), hbm = OVL_NONE;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        hbm = t->hbm_of_all ? hbm : OVL_NONE;
        if (t->hbm_rate && hbm == OVL_NONE) {
            hbm = ovl_add_resource(&t->b, &(ovl_resource){name, OVL_RES_HBM, r, t->hbm_rate});
        }
        ovl_id ports[4] = {hbm, OVL_NONE, OVL_NONE, OVL_NONE};
        assert(t->b.n_ports <= 4);
        ovl_add_rank(&t->b, t->rank_code[r], r, &dp, ports);
    }
    t->frozen = true;
    return ovl_freeze(&t->b, &t->program, &t->errs);
}

bool tiny_run(tiny *t, ovl_interference model)
{
    if (!t->frozen && !tiny_freeze(t)) {
        return false;
    }
    ovl_run_options options = {.interference = model, .no_skip = !t->skip};
    return ovl_run(&t->program, &options, &t->arena, &t->timeline, &t->errs);
}

ovl_time tiny_end(const tiny *t, uint32_t rank, uint32_t local)
{
    return t->timeline.end[t->program.ranks[rank].first_op + local];
}

ovl_time tiny_term(const tiny *t, uint32_t rank, ovl_term term)
{
    return t->timeline.ranks[rank].term[term];
}
