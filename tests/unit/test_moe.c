/*
 * Blocks with experts, by hand:
 *
 *     h = 8, a = 2 heads of d = 4, s = 4 tokens, e = 2 bytes, two matrices in an expert of f = 4,
 *     4 experts of which a token sees 2, and a shared one
 */
#include "tests/support/lowering.h"

#include <stdio.h>

#define MACHINE                                                                                    \
    "hardware: {gpu: {hbm: 1 TB/s, sms: 100, peak: {bf16: 1 TFLOP/s}}, node: {gpus: 2}, links: "   \
    "{nvlink: {bandwidth: 1 GB/s}, nic: {bandwidth: 1 GB/s, gpus: 1, out_of: node}}, "             \
    "collectives: [{op: all_to_all, via: [nvlink, nic], algorithm: direct}, {op: send_recv, "      \
    "alpha: 1 ns}]}\n"
#define MODEL                                                                                      \
    "workload: {model: {layers: 2, hidden: 8, ffn_hidden: 32, heads: 2, sequence: 4, "             \
    "vocabulary: 16, gated: false, causal: false, dropout: true, attention: unfused, "             \
    "moe: {experts: 4, top_k: 2, ffn_hidden: 4, shared: 1}}}\n"
#define PIPELINE "overlap: {pipeline: {schedule: gpipe, microbatches: 1}}\n"
#define TWO      "mesh: {axes: {ep: 2, pp: 1}}\n" MACHINE MODEL PIPELINE
#define FOUR     "mesh: {axes: {ep: 2, nodes: 2, pp: 1}}\n" MACHINE MODEL PIPELINE

/* Forward: qkv 1536, attention 512, proj 512, router 2 * 4 * 8 * 4 = 256, eight rows through both
 * matrices of an expert 2 * 512, the shared one 2 * 256: 4352. The backward twice that. Parameters:
 * 192 + 64 + 16 of the attention and norms, router 32, two experts and the shared one 3 * 64. Four
 * all-to-alls of 2 * 4 rows of 16 bytes. What the model needs: 3 * (2 * 4352 + 1024 of the head).
 */
static void experts_are_counted(void)
{
    bench t = {0};
    CHECK(lower(&t, TWO, NULL));
    CHECK_INT(model_line(&t, "block")->forward_flops, 4352);
    CHECK_INT(model_line(&t, "block")->backward_flops, 2 * 4352);
    CHECK_INT(model_line(&t, "block")->params, 192 + 64 + 16 + 32 + 3 * 64);
    CHECK_INT(model_line(&t, "block")->ep_bytes, 4 * 128);
    CHECK_INT(model_line(&t, "block")->across_bytes, 0);
    CHECK_INT(t.lowered.useful.flops, 3 * (2 * 4352 + 1024));
    CHECK(lower(&t, TWO, "workload.model.moe.dense_layers=1"));
    CHECK_INT(model_line(&t, "dense")->forward_flops, 6656);
    CHECK_INT(model_line(&t, "block")->repeat, 1);
    CHECK_INT(t.lowered.useful.flops, 3 * (6656 + 4352 + 1024));
    finish(&t);
}

/* 576 of the attention and norms and 160 of scores; eight rows of 8 + 2 * 4 columns, 256; the
 * shared expert 2 * 4 * 2 * 4 = 64. With 1.5 times the rows on the hottest rank 128 more, and on
 * the other 128 less. Eight rows of 16 bytes are dispatched to a rank of mean load, 128. */
static void activations_are_those_of_each_rank(void)
{
    bench t = {0};
    CHECK(lower(&t, TWO, NULL));
    CHECK_INT(model_line(&t, "block")->kept, 576 + 160 + 256 + 64);
    CHECK_INT(t.p->n_sizes, 0);
    CHECK(lower(&t, TWO, "workload.model.moe.hottest=1.5"));
    CHECK_INT(model_line(&t, "block")->kept, 576 + 160 + 384 + 64);
    CHECK_INT(model_line(&t, "block")->least_kept, 576 + 160 + 128 + 64);
    CHECK_INT(bytes_of(&t, 0, "activations block[1]"), 576 + 160 + 384 + 64);
    CHECK_INT(bytes_of(&t, 1, "activations block[1]"), 576 + 160 + 128 + 64);
    CHECK_INT(bytes_of(&t, 0, "forward block[0].dispatch"), 192);
    CHECK_INT(bytes_of(&t, 1, "forward block[0].dispatch"), 64);
    CHECK_INT(bytes_of(&t, 0, "forward block[0].unsort"), 192);
    CHECK_INT(bytes_of(&t, 1, "forward block[0].combine"), 128); /* its own tokens */
    CHECK(analyse_both(&t));
    CHECK_INT(t.whole.n_ranks, 2);
    CHECK_INT(t.whole.ranks[0].live_peak - t.whole.ranks[1].live_peak, 2 * 256);
    CHECK_INT(t.result.ranks[1].live_peak, t.whole.ranks[1].live_peak);
    finish(&t);
}

static uint64_t wire_bytes(bench *t, const char *moe, const char *name)
{
    char text[4096];
    const char *at = strstr(TWO, "shared: 1");
    snprintf(text, sizeof text, "%.*s%s, %s", (int)(at - TWO), TWO, moe, at);
    CHECK(lower(t, text, NULL));
    const ovl_op *op = op_named(t, 0, name);
    return op ? op->bytes : 0;
}

/* Eight rows of 8 columns: 128 bytes in bf16, 64 in fp8, 256 in fp32. Gradients go as tokens do, or
 * as is said. */
static void each_way_has_its_element_type(void)
{
    static const struct {
        const char *moe;
        uint64_t there, back, grads_there, grads_back;
    } by[] = {{"dense_layers: 0", 128, 128, 128, 128},
              {"dispatch_dtype: fp8", 64, 128, 64, 128},
              {"combine_dtype: fp8", 128, 64, 128, 64},
              {"dispatch_dtype: fp8, gradient_dispatch_dtype: bf16", 64, 128, 128, 128},
              {"gradient_combine_dtype: f32", 128, 128, 128, 256}};
    for (size_t i = 0; i < OVL_COUNT(by); i++) {
        bench t = {0};
        const char *moe = by[i].moe;
        CHECK_INT(wire_bytes(&t, moe, "forward block[0].dispatch"), by[i].there);
        CHECK_INT(wire_bytes(&t, moe, "forward block[0].combine"), by[i].back);
        CHECK_INT(wire_bytes(&t, moe, "backward block[0].dispatch"), by[i].grads_there);
        CHECK_INT(wire_bytes(&t, moe, "backward block[0].combine"), by[i].grads_back);
        finish(&t);
    }
}

/* The same kept to recompute from: without scores, which come again. Fully recomputed, the input of
 * the block, 4 * 16 bytes, is all that is kept, on every rank. */
static void what_is_recomputed_is_that_of_each_rank(void)
{
    static const char *const how[] = {"selective", "full"};
    static const uint64_t kept[2][2] = {{576 + 384 + 64, 576 + 128 + 64}, {64, 64}},
                          again[2][2] = {{160, 160}, {576 + 160 + 384 + 64, 576 + 160 + 128 + 64}};
    bench t = {0};
    for (int i = 0; i < 2; i++) {
        char set[300];
        snprintf(set, sizeof set,
                 "workload.model={layers: 2, hidden: 8, ffn_hidden: 32, heads: 2, sequence: 4, "
                 "vocabulary: 16, gated: false, causal: false, dropout: true, attention: unfused, "
                 "recompute: %s, moe: {experts: 4, top_k: 2, ffn_hidden: 4, shared: 1, "
                 "hottest: 1.5}}",
                 how[i]);
        CHECK(lower(&t, TWO, set));
        for (uint32_t rank = 0; rank < 2; rank++) {
            CHECK_INT(bytes_of(&t, rank, "checkpoint block[0]"), kept[i][rank]);
            CHECK_INT(bytes_of(&t, rank, "activations block[0]"), again[i][rank]);
        }
    }
    finish(&t);
}

/* Loads 2.5, 0.5, 0.5, 0.5: the place of the first two has a mean of 1.5, of the others 0.5. What
 * went across is there by place, what came from inside by rank; on the way back by place again. */
static void hops_hold_what_they_bring(void)
{
    bench t = {0};
    CHECK(lower(&t, FOUR,
                "workload.model.moe={experts: 4, top_k: 2, ffn_hidden: 4, shared: 1, "
                "across: nodes, hottest: 2.5}"));
    static const uint64_t across[] = {192, 192, 64, 64}, inside[] = {320, 64, 64, 64};
    for (uint32_t rank = 0; rank < 4; rank++) {
        CHECK_INT(bytes_of(&t, rank, "forward block[0].dispatch_across"), across[rank]);
        CHECK_INT(bytes_of(&t, rank, "forward block[0].dispatch"), inside[rank]);
        CHECK_INT(bytes_of(&t, rank, "forward block[0].combine"), across[rank]);
        CHECK_INT(bytes_of(&t, rank, "forward block[0].combine_across"), 128);
    }
    finish(&t);
}

/* Four ranks, two on each of two nodes: loads 2.5, 0.5, 0.5, 0.5, so the first place of the axis
 * has a mean of 1.5. Across, bytes 128 (two copies): a rank there gets 128/2 * 1.5 = 96 from the
 * other node, out of 64 * 0.5 = 32 go to it from its own. Inside, it sends and gets 1.5 and 2.5:
 * from its neighbour 128 / 3 * 1.5 * 2.5 = 160 bytes. */
static void a_hot_rank_gets_more_and_takes_longer(void)
{
    bench t = {0};
    CHECK(lower(&t, FOUR,
                "workload.model.moe={experts: 4, top_k: 2, ffn_hidden: 4, shared: 1, "
                "across: nodes, hottest: 2.5}"));
    CHECK_INT(model_line(&t, "block")->across_bytes, 4 * 128);
    const char *experts = "forward block[0].experts_in";
    CHECK_INT(cost_named(&t, 0, experts)->work, 5 * cost_named(&t, 1, experts)->work);
    const ovl_cost *across = cost_named(&t, 0, "forward block[0].dispatch_across");
    CHECK_INT(across->work, 96 * OVL_NS);
    CHECK_INT(demand_on(&t, 0, across, false, "nic.in"), 1000000000);
    CHECK_INT(demand_on(&t, 0, across, false, "nic.out"), 333333333);
    const ovl_cost *inside = cost_named(&t, 0, "forward block[0].dispatch");
    CHECK_INT(inside->work, 160 * OVL_NS);
    const ovl_cost *other = cost_named(&t, 2, "forward block[0].dispatch");
    CHECK_INT(other->work, 32 * OVL_NS); /* 128 / 1 * 0.5 * 0.5 */
    CHECK_INT(cost_named(&t, 1, "forward block[0].combine")->work, 160 * OVL_NS);
    finish(&t);
}

/* Of 128 bytes rank 0 gives rank 1 three quarters and gets half of its: 96 and 64 bytes, and the
 * same back. Loads are 3/4 and 5/4. A row of zeros sends its tokens nowhere. */
static void a_matrix_says_where_tokens_go(void)
{
#define MATRIX(rows)                                                                               \
    "workload.model.moe={experts: 4, top_k: 2, ffn_hidden: 4, shared: 1, shares: " rows "}"
    bench t = {0};
    CHECK(lower(&t, TWO, MATRIX("[[1, 3], [1, 1]]")));
    const ovl_cost *there = cost_named(&t, 0, "forward block[0].dispatch");
    CHECK_INT(there->work, 96 * OVL_NS);
    CHECK_INT(demand_on(&t, 0, there, false, "nvlink.out"), 1000000000);
    CHECK_INT(demand_on(&t, 0, there, false, "nvlink.in"), 666666666);
    const ovl_cost *back = cost_named(&t, 0, "backward block[0].combine");
    CHECK_INT(back->work, 96 * OVL_NS);
    CHECK_INT(demand_on(&t, 0, back, false, "nvlink.out"), 666666666);
    CHECK_INT(demand_on(&t, 0, back, false, "nvlink.in"), 1000000000);
    const char *experts = "forward block[0].experts_in";
    CHECK_INT(3 * cost_named(&t, 1, experts)->work, 5 * cost_named(&t, 0, experts)->work);
    CHECK(!lower(&t, TWO, MATRIX("[[1, 3], [0, 0]]")));
    CHECK_HAS(mistake(&t), "shares: row 1 is all 0");
    CHECK(!lower(&t, TWO, MATRIX("[[1, 3, 1], [1, 1, 1], [1, 1, 1]]")));
    CHECK_HAS(mistake(&t), "a row for each of the 2 ranks of expert parallelism; found 3");
    CHECK(!lower(&t, FOUR, MATRIX("[[1, 1], [1, 1]], across: nodes")));
    CHECK_HAS(mistake(&t), "a matrix is of one hop");
    finish(&t);
}

/* The busiest gives the pace: 1.5 times as much on one of two ranks is a wait of the other. */
static void others_wait_for_the_hot_rank(void)
{
    bench t = {0};
    CHECK(lower(&t, TWO, "workload.model.moe.hottest=1.5"));
    CHECK(analyse(&t));
    static const char *const names[] = {"sort", "experts_in", "experts_activation", "experts_out",
                                        "unsort"};
    ovl_time work = 0, less = 0;
    for (uint32_t i = 0; i < OVL_COUNT(names); i++) {
        const char *name = ovl_arena_printf(&t.arena, "forward block[0].%s", names[i]);
        work += cost_named(&t, 0, name)->work;
        less += cost_named(&t, 1, name)->work;
    }
    CHECK_NEAR((double)work, 3 * (double)less, 5); /* picoseconds are rounded up */
    bool found = false;
    for (uint32_t i = 0; i < t.result.n_collectives; i++) {
        const ovl_result_collective *c = &t.result.collectives[i];
        if (c->rank == 1 && strcmp(c->name, "forward block[0].combine") == 0) {
            found = true;
            CHECK_INT(c->wait, work - less);
        }
    }
    CHECK(found);
    finish(&t);
}

/* Latent matrices of 4 and 2 columns, 2 of positions: 8 (4 + 2 + 2) + 4 * 2 * 6 + 2 * 2 * 8 = 144
 * weights; two norms of 4 and 2; scores of 6 columns and values of 4: 2 * 16 * (2 * 8 + 4) = 640.
 */
static void latent_attention_is_counted(void)
{
    bench t = {0};
    CHECK(lower(&t, TWO, "workload.model.latent={query: 4, key_value: 2, rope: 2}"));
    CHECK_INT(model_line(&t, "block")->params, 144 + 6 + 64 + 16 + 32 + 3 * 64);
    CHECK_INT(model_line(&t, "block")->forward_flops, 4352 - 1536 - 512 + 2 * 4 * 144 + 640);
    finish(&t);
}

/* DeepSeek-V3, 61 layers on one rank. Attention 7168 (1536 + 512 + 64) + 1536 * 128 * 192 + 512 *
 * 128 * 256 + 128 * 128 * 7168 = 187,105,280; 2048 of inner norms and 14,336 of two others; a dense
 * MLP 3 * 7168 * 18432 = 396,361,728; an expert 3 * 7168 * 2048 = 44,040,192, 257 of them and a
 * router of 7168 * 256; 129,280 * 7168 at both ends and a norm of 7168. In all
 *
 *     61 * 187,121,664 + 3 * 396,361,728 + 58 * 11,320,164,352 + 2 * 926,679,040 + 7168
 *         = 671,026,404,352
 *
 * published 671 B (671,026,419,200 with 58 * 256 biases of the routing, which are no parameters of
 * the optimizer). A token meets 9 experts of a layer: 2 FLOPs for each weight of 36.6 B, published
 * 37 B; and the scores, causal: 4096 * 128 * (192 + 128) a token and layer. */
static void deepseek_v3_has_671_billion_parameters(void)
{
    bench t = {0};
    const char *text = "hardware: {gpu: {hbm: 1 TB/s, peak: {bf16: 1 PFLOP/s}}}\n"
                       "workload: {model: {layers: 61, hidden: 7168, ffn_hidden: 18432, heads: "
                       "128, head_dim: 128, "
                       "latent: {query: 1536, key_value: 512, rope: 64}, moe: {experts: 256, "
                       "top_k: 8, ffn_hidden: "
                       "2048, shared: 1, dense_layers: 3}, sequence: 4096, vocabulary: 129280}}\n"
                       "overlap: {pipeline: {schedule: gpipe, microbatches: 1}}\n";
    CHECK(lower(&t, text, NULL));
    CHECK_INT(model_line(&t, "dense")->params, 187105280 + 2048 + 14336 + 396361728);
    CHECK_INT(model_line(&t, "block")->params,
              187105280 + 2048 + 14336 + INT64_C(257) * 44040192 + 7168 * 256);
    CHECK_NEAR(t.lowered.model_params, 671026404352.0, 0);
    double scores = 61.0 * 4096 * 4096 * 128 * (192 + 128);
    double met =
        61.0 * 187105280 + 3.0 * 396361728 + 58.0 * (9 * 44040192 + 7168 * 256) + 926679040;
    CHECK_NEAR(met, 36.6e9, 0.05e9);
    CHECK_NEAR(t.lowered.useful.flops, 3 * (2 * 4096 * met + scores), 1e6);
    finish(&t);
}

static void check_told(const char *text, const char *set, const char *part)
{
    bench t = {0};
    CHECK(!lower(&t, text, set));
    CHECK_HAS(mistake(&t), part);
    finish(&t);
}

static void mistakes_are_told(void)
{
    check_told(TWO, "workload.model.moe.shares=[1, 2, 3]", "each of the 2 ranks");
    check_told(TWO, "workload.model.moe.hottest=3", "no more than 2 times the mean");
    check_told(TWO, "workload.model.moe.hottest=0.5", "at least the mean");
    check_told(TWO, "workload.model.moe.experts=5", "cannot be shared out evenly");
    check_told(TWO, "workload.model.moe.top_k=5", "more than experts, which is 4");
    check_told(TWO, "workload.model.moe.copies=1", "copies belongs to across");
    check_told(TWO,
               "workload.model.moe={experts: 4, top_k: 2, ffn_hidden: 4, spread: 1, hottest: 2}",
               "uneven in one way");
    check_told(TWO, "workload.model.moe.across=ep", "a second axis");
    check_told(TWO, "workload.model.moe.ep=zz", "ep: the mesh has no axis \"zz\"");
    check_told(TWO, "workload.model.moe.ep=tp+epp", "\"epp\"; did you mean \"ep\"?");
    check_told(TWO, "workload.model.moe.ep=ep+", "ep: the mesh has no axis \"\"");
    check_told(TWO, "workload.model.moe.across=node", "across: the mesh has no axis \"node\"");
    check_told(TWO, "workload.model.tp=tq", "tp: the mesh has no axis \"tq\"");
    check_told(TWO, "workload.model.moe.spread=11", "between 0 and 10");
    check_told("mesh: {axes: {tp: 2, ep: 2, pp: 1}}\n" MACHINE MODEL PIPELINE,
               "workload.model.sequence_parallel=false", "need sequence_parallel");
}

#define PAIRS                                                                                      \
    "mesh: {axes: {ep: 2, pp: 2}}\n" MACHINE MODEL                                                 \
    "overlap: {pipeline: {schedule: dualpipe, microbatches: 8}}\n"

/* A backward begins with the dispatch of its gradient: attention of the forward is issued behind
 * it, then its dispatch, then experts of the backward. */
static void pairs_take_turns(void)
{
    bench t = {0};
    CHECK(lower(&t, PAIRS, NULL));
    CHECK_HAS(
        sequence(&t, 0),
        "backward block[0].dispatch mb 0 | forward block[1].norm mb 5 | forward block[1].qkv mb "
        "5 | forward block[1].rotary mb 5 | forward block[1].attention mb 5 | forward "
        "block[1].proj mb 5 | forward block[1].sum_norm mb 5 | forward block[1].router mb 5 | "
        "forward block[1].route mb 5 | forward block[1].permute mb 5 | forward block[1].dispatch "
        "mb 5 | backward block[0].shared_out mb 0");
    CHECK(analyse(&t));
    ovl_time turns = t.result.step;
    CHECK_INT(t.result.n_hazards, 0);
    CHECK(lower(&t, PAIRS, "overlap.pipeline.pairs=serial"));
    CHECK(analyse(&t));
    CHECK(turns < t.result.step);
    CHECK_INT(t.result.n_hazards, 0);
    finish(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"experts are counted", experts_are_counted},
        {"activations are those of each rank", activations_are_those_of_each_rank},
        {"each way has its element type", each_way_has_its_element_type},
        {"what is recomputed is that of each rank", what_is_recomputed_is_that_of_each_rank},
        {"hops hold what they bring", hops_hold_what_they_bring},
        {"a hot rank gets more and takes longer", a_hot_rank_gets_more_and_takes_longer},
        {"others wait for the hot rank", others_wait_for_the_hot_rank},
        {"latent attention is counted", latent_attention_is_counted},
        {"DeepSeek-V3 has 671 billion parameters", deepseek_v3_has_671_billion_parameters},
        {"mistakes are told", mistakes_are_told},
        {"pairs take turns", pairs_take_turns},
        {"a matrix says where tokens go", a_matrix_says_where_tokens_go},
        CU_TEST_INFO_NULL,
    };
    return check_main("experts", tests);
}
