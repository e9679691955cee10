#include "sim/fold.h"
#include "sim/gradflow.h"
#include "sim/gradreport.h"
#include "sim/gradvalue.h"
#include "tests/support/check.h"
#include "tests/support/tiny.h"

#define MS OVL_MS

typedef struct proof {
    ovl_hazards list;
    ovl_gradients gradients;
} proof;

static proof follow(tiny *t)
{
    proof f = {0};
    ovl_causes causes;
    CHECK(tiny_run(t, OVL_INTERFERENCE_NONE));
    ovl_causes_init(&causes, &t->program, &t->timeline, &t->arena);
    ovl_gradients_follow(&causes, &t->arena, &f.list, &f.gradients);
    ovl_causes_free(&causes);
    return f;
}

static void end(tiny *t, proof *f)
{
    ovl_vec_free(&f->list);
    tiny_free(t);
}

static void effect(tiny *t, ovl_effect_kind kind, ovl_id buffer, ovl_id source,
                   const char *gradient, uint32_t microbatch, double scale)
{
    ovl_effect e = {.kind = (uint8_t)kind,
                    .buffer = buffer,
                    .source = source,
                    .gradient = gradient ? ovl_name(&t->b, gradient) : OVL_NONE,
                    .microbatch = microbatch,
                    .scale = scale};
    ovl_add_effect(&t->b, t->code, &e);
}

/* How a step is put together; each field is one way to break it. */
typedef struct step {
    uint32_t n_ranks, microbatches, reductions;
    double scale; /* at packing */
    bool average, forget_pack, overwrite;
    ovl_coll coll;
    const char *consumes; /* NULL: what is there */
} step;

static const step right = {4, 2, 1, 1.0 / 8, false, false, false, OVL_ALL_REDUCE, NULL};

/* Two gradients, each produced for every microbatch, packed into one bucket, reduced, consumed. */
static proof run_step(tiny *t, const step *s)
{
    static const char *const names[] = {"g1", "g2"};
    tiny_init(t, s->n_ranks);
    ovl_id bucket = tiny_buffer(t, "bucket", 2048), grads[2];
    for (uint32_t g = 0; g < 2; g++) {
        grads[g] = tiny_buffer(t, names[g], 1024);
    }
    for (uint32_t mb = 0; mb < s->microbatches; mb++) {
        tiny_kernel(t, "compute", "backward", 5 * MS);
        for (uint32_t g = 0; g < 2; g++) {
            bool first = mb == 0 || s->overwrite;
            effect(t, first ? OVL_PRODUCE : OVL_ADD, grads[g], OVL_NONE, names[g], mb, 0);
        }
    }
    tiny_kernel(t, "compute", "pack", 1 * MS);
    effect(t, OVL_RESET, bucket, OVL_NONE, NULL, 0, 0);
    for (uint32_t g = 0; g < (s->forget_pack ? 1u : 2u); g++) {
        effect(t, OVL_PACK, bucket, grads[g], NULL, 0, s->scale);
    }
    for (uint32_t i = 0; i < s->reductions; i++) {
        ovl_op op = {.kind = OVL_COLLECTIVE,
                     .coll = (uint8_t)s->coll,
                     .average = s->average,
                     .bytes = 2048,
                     .batch = OVL_NONE};
        op.name = ovl_name(&t->b, "reduce");
        op.stream = ovl_add_stream(&t->b, t->code, "compute");
        op.cost = ovl_add_cost(&t->b, &(ovl_cost){.work = MS}, NULL, NULL, 0, NULL, 0);
        ovl_add_op(&t->b, t->code, &op);
        effect(t, OVL_SUM, bucket, bucket, NULL, 0, 0);
    }
    tiny_kernel(t, "compute", "optimizer", 1 * MS);
    effect(t, OVL_CONSUME, bucket, OVL_NONE, s->consumes, 0, 0);
    return follow(t);
}

/* 4 ranks, 2 microbatches: each contribution once at 1/8; 2 gradients on 4 ranks are 8 inputs. */
static void a_right_step_is_proved(void)
{
    tiny t;
    proof f = run_step(&t, &right);
    CHECK_INT(f.list.len, 0);
    CHECK_INT(f.gradients.proved, 8);
    CHECK_TEXT(f.gradients.scale, "1/8");
    CHECK(f.gradients.digest != 0);
    end(&t, &f);
}

/* 1/2 before and an average over 4: the same gradients, so the same digest; likewise by
 * reduce-scatter. */
static void other_ways_to_the_same_gradients(void)
{
    tiny t;
    proof f = run_step(&t, &right);
    uint64_t digest = f.gradients.digest;
    end(&t, &f);
    step s = right;
    s.scale = 1.0 / 2;
    s.average = true;
    f = run_step(&t, &s);
    CHECK_INT(f.list.len, 0);
    CHECK(f.gradients.digest == digest);
    end(&t, &f);
    s = right;
    s.coll = OVL_REDUCE_SCATTER;
    f = run_step(&t, &s);
    CHECK(f.gradients.digest == digest);
    end(&t, &f);
    s = right;
    s.n_ranks = 2;
    s.scale = 1.0 / 4;
    f = run_step(&t, &s);
    CHECK_TEXT(f.gradients.scale, "1/4");
    CHECK(f.gradients.digest != digest);
    end(&t, &f);
}

/* 3 ranks and 1/3 rounded twice (1/3 of the average): within the tolerance, the canonical digest.
 */
static void rounding_is_no_fault(void)
{
    tiny t;
    step s = right;
    s.n_ranks = 3;
    s.microbatches = 7;
    s.scale = 1.0 / 21;
    proof f = run_step(&t, &s);
    uint64_t digest = f.gradients.digest;
    CHECK_INT(f.list.len, 0);
    end(&t, &f);
    s.scale = 1.0 / 7;
    s.average = true;
    f = run_step(&t, &s);
    CHECK_INT(f.list.len, 0);
    CHECK_TEXT(f.gradients.scale, "1/21");
    CHECK(f.gradients.digest == digest);
    end(&t, &f);
}

static void check_fault(const step *s, uint32_t n, const char *kind, const char *text)
{
    tiny t;
    proof f = run_step(&t, s);
    CHECK_INT(f.list.len, n);
    if (f.list.len) {
        CHECK_TEXT(f.list.data[0].kind, kind);
        CHECK_TEXT(f.list.data[0].text, text);
        CHECK_INT(f.list.data[0].count, s->n_ranks);
    }
    CHECK(f.gradients.scale == NULL);
    end(&t, &f);
}

static void a_wrong_scale_is_found(void)
{
    step s = right;
    s.scale = 1.0 / 4;
    check_fault(&s, 2, "wrong_scale",
                "\"optimizer\" receives gradient \"g1\" with every contribution at scale 1/4, "
                "expected 1/8, on rank 0");
}

/* Sums of sums: every contribution comes 4 times. */
static void reduced_twice_is_a_duplicate(void)
{
    step s = right;
    s.reductions = 2;
    check_fault(
        &s, 2, "duplicate_gradient",
        "\"optimizer\" receives gradient \"g1\" with every contribution 4 times, on rank 0");
}

/* An average of equal values is the value: nothing is wrong. */
static void averaged_twice_is_harmless(void)
{
    tiny t;
    step s = right;
    s.scale = 1.0 / 2;
    s.average = true;
    s.reductions = 2;
    proof f = run_step(&t, &s);
    CHECK_INT(f.list.len, 0);
    end(&t, &f);
}

/* Without the reduction a rank has its own contributions alone: 6 of 8 are missing. */
static void not_reduced_is_missing(void)
{
    step s = right;
    s.reductions = 0;
    check_fault(&s, 2, "missing_gradient",
                "\"optimizer\" receives gradient \"g1\" without the contribution of rank 1, "
                "microbatch 0 (and 5 others), on rank 0");
}

/* The second microbatch overwrites the first: the 4 contributions of microbatch 0 are gone. */
static void an_overwritten_microbatch_is_missing(void)
{
    step s = right;
    s.overwrite = true;
    check_fault(&s, 2, "missing_gradient",
                "\"optimizer\" receives gradient \"g1\" without the contribution of rank 0, "
                "microbatch 0 (and 3 others), on rank 0");
}

/* g2 never reaches the bucket: nobody receives it; asked for by name, nothing of it comes. */
static void a_forgotten_gradient_is_missing(void)
{
    step s = right;
    s.forget_pack = true;
    check_fault(&s, 1, "missing_gradient",
                "gradient \"g2\", produced by \"backward\" on rank 0, is received by no optimizer");
    s.consumes = "g2";
    check_fault(&s, 2, "missing_gradient",
                "\"optimizer\" receives nothing of gradient \"g2\", on rank 0");
}

/* Rank 0 adds its gradient twice before the sum: its contribution alone sticks out. */
static void one_contribution_twice_is_a_duplicate(void)
{
    tiny t;
    tiny_init(&t, 2);
    for (uint32_t code = 0; code < 2; code++) {
        if (code) {
            tiny_use(&t, 1, tiny_code(&t));
        }
        ovl_id g = tiny_buffer(&t, "g", 8);
        tiny_kernel(&t, "compute", "backward", MS);
        effect(&t, OVL_PRODUCE, g, OVL_NONE, "g", 0, 0.5);
        if (code == 0) {
            effect(&t, OVL_ADD, g, OVL_NONE, "g", 0, 0.5);
        }
        tiny_collective(&t, "compute", "reduce", 0, MS);
        effect(&t, OVL_SUM, g, OVL_NONE, NULL, 0, 0);
        tiny_kernel(&t, "compute", "optimizer", MS);
        effect(&t, OVL_CONSUME, g, OVL_NONE, NULL, 0, 0);
    }
    proof f = follow(&t);
    CHECK_INT(f.list.len, 2); /* two codes, the same mistake */
    CHECK_TEXT(f.list.data[0].kind, "duplicate_gradient");
    CHECK_TEXT(f.list.data[0].text,
               "\"optimizer\" receives gradient \"g\" with the contribution of "
               "rank 0, microbatch 0 2 times, on rank 0");
    CHECK_INT(f.list.data[1].rank, 1);
    end(&t, &f);
}

/* Two microbatches are summed one after the other; the second sum is added to the first. With PACK
 * it would replace it, and microbatch 0 be missing. */
static void sums_of_microbatches_accumulate(void)
{
    for (int packs = 0; packs < 2; packs++) {
        tiny t;
        tiny_init(&t, 2);
        ovl_id g = tiny_buffer(&t, "g", 8), out = tiny_buffer(&t, "out", 8);
        ovl_id grad = tiny_buffer(&t, "grad", 8);
        for (uint32_t mb = 0; mb < 2; mb++) {
            tiny_kernel(&t, "compute", "backward", MS);
            effect(&t, OVL_PRODUCE, g, OVL_NONE, "g", mb, 0.25);
            tiny_collective(&t, "compute", "reduce", 0, MS);
            effect(&t, OVL_SUM, out, g, NULL, 0, 0);
            tiny_kernel(&t, "compute", "accumulate", MS);
            effect(&t, mb == 0 || packs ? OVL_PACK : OVL_ACCUMULATE, grad, out, NULL, 0, 1);
        }
        tiny_kernel(&t, "compute", "optimizer", MS);
        effect(&t, OVL_CONSUME, grad, OVL_NONE, "g", 0, 0);
        proof f = follow(&t);
        CHECK_INT(f.list.len, packs);
        CHECK_INT(f.gradients.proved, packs ? 0 : 2);
        end(&t, &f);
    }
}

/* The optimizer ends before the reduction: it receives what was there. */
static void an_empty_buffer_is_missing(void)
{
    tiny t;
    tiny_init(&t, 1);
    ovl_id g = tiny_buffer(&t, "bucket", 8);
    tiny_kernel(&t, "compute", "optimizer", MS);
    effect(&t, OVL_CONSUME, g, OVL_NONE, NULL, 0, 0);
    proof f = follow(&t);
    CHECK_INT(f.list.len, 1);
    CHECK_TEXT(f.list.data[0].text,
               "\"optimizer\" receives no gradient in buffer \"bucket\", on rank 0");
    end(&t, &f);
}

/* reduce to rank 1, then broadcast from it: everybody has the sum. Without the broadcast rank 0
 * has its own alone. */
static void reduce_and_broadcast(void)
{
    for (int broadcast = 0; broadcast < 2; broadcast++) {
        tiny t;
        tiny_init(&t, 2);
        ovl_id g = tiny_buffer(&t, "g", 8);
        tiny_kernel(&t, "compute", "backward", MS);
        effect(&t, OVL_PRODUCE, g, OVL_NONE, "g", 0, 0.5);
        for (int i = 0; i <= broadcast; i++) {
            ovl_op op = {.kind = OVL_COLLECTIVE,
                         .coll = i ? OVL_BROADCAST : OVL_REDUCE,
                         .peer = 1,
                         .bytes = 8,
                         .batch = OVL_NONE};
            op.name = ovl_name(&t.b, i ? "broadcast" : "reduce");
            op.stream = ovl_add_stream(&t.b, t.code, "compute");
            op.cost = ovl_add_cost(&t.b, &(ovl_cost){.work = MS}, NULL, NULL, 0, NULL, 0);
            ovl_add_op(&t.b, t.code, &op);
            effect(&t, OVL_SUM, g, g, NULL, 0, 0);
        }
        tiny_kernel(&t, "compute", "optimizer", MS);
        effect(&t, OVL_CONSUME, g, OVL_NONE, NULL, 0, 0);
        proof f = follow(&t);
        CHECK_INT(f.gradients.proved, broadcast ? 2 : 1);
        CHECK_INT(f.list.len, !broadcast);
        end(&t, &f);
    }
}

/* Two ranks. "backward" produces g while "reduce" averages its buffer, unordered, and both end at 5
 * ms. Operations 0 and 1 of rank 0 are numbered before operation 0 of rank 1; if numbers decided,
 * rank 1 would produce g only after the collective, which rank 0 leads, had read it. But on each
 * rank the kernel comes first: both optimizers receive {(0,0): 1/2, (1,0): 1/2}, and the run of one
 * for both says the same. */
static void end_together(tiny *t, bool collective_first)
{
    uint32_t before[2];
    tiny_init(t, 2);
    ovl_id grad = tiny_buffer(t, "g", 1024);
    for (int i = 0; i < 2; i++) {
        bool collective = (i == 0) == collective_first;
        before[i] = collective ? tiny_collective(t, "comm", "reduce", 0, 5 * MS)
                               : tiny_kernel(t, "compute", "backward", 5 * MS);
        if (collective) {
            tiny_change(t, before[i])->average = true;
        }
        effect(t, collective ? OVL_SUM : OVL_PRODUCE, grad, OVL_NONE, collective ? NULL : "g", 0,
               0);
    }
    tiny_kernel(t, "compute", "optimizer", 1 * MS);
    tiny_after(t, before[0]);
    tiny_after(t, before[1]);
    effect(t, OVL_CONSUME, grad, OVL_NONE, "g", 0, 0);
}

static uint64_t digest_if_folded(tiny *t)
{
    ovl_fold fold;
    ovl_program folded;
    ovl_timeline timeline;
    ovl_causes causes;
    proof f = {0};
    ovl_run_options how = {.interference = OVL_INTERFERENCE_NONE};
    CHECK(ovl_fold_find(&t->program, &t->arena, &fold));
    CHECK(ovl_fold_program(&t->program, &fold, &t->arena, &folded, &t->errs));
    CHECK(ovl_run(&folded, &how, &t->arena, &timeline, &t->errs));
    ovl_causes_init(&causes, &folded, &timeline, &t->arena);
    ovl_gradients_follow(&causes, &t->arena, &f.list, &f.gradients);
    ovl_causes_free(&causes);
    ovl_vec_free(&f.list);
    CHECK_INT(f.gradients.proved, 2);
    return f.gradients.digest;
}

static void what_ends_together_is_in_one_order_on_all_ranks(void)
{
    for (int first = 0; first < 2; first++) {
        tiny t;
        end_together(&t, first);
        proof f = follow(&t);
        CHECK_INT(tiny_end(&t, 1, 0), tiny_end(&t, 1, 1));
        CHECK_INT(f.list.len, 0);
        CHECK_INT(f.gradients.proved, 2);
        CHECK(f.gradients.digest == digest_if_folded(&t));
        end(&t, &f);
    }
}

static void values_are_stored_once(void)
{
    ovl_gradvalues v = {0};
    uint32_t a = ovl_gradvalue_single(&v, 0, 0, 1), b = ovl_gradvalue_single(&v, 1, 0, 1);
    CHECK_INT(ovl_gradvalue_single(&v, 0, 0, 1), a);
    uint32_t ab = ovl_gradvalue_combine(&v, (uint32_t[]){a, b}, 2, 0.5);
    CHECK_INT(ovl_gradvalue_combine(&v, (uint32_t[]){b, a}, 2, 0.5), ab);
    CHECK_INT(v.values.data[ab].n, 2);
    CHECK(!v.values.data[ab].doubled);
    uint32_t aa = ovl_gradvalue_combine(&v, (uint32_t[]){a, a}, 2, 1);
    CHECK(v.values.data[aa].doubled);
    CHECK_INT(v.values.data[aa].n, 1);
    CHECK(v.terms.data[v.values.data[aa].first].scale == 2);
    for (uint32_t i = 0; i < 5000; i++) { /* the tables grow and still find everything */
        ovl_gradvalue_single(&v, i, 7, 1);
    }
    uint32_t n = v.values.len;
    for (uint32_t i = 0; i < 5000; i++) {
        ovl_gradvalue_single(&v, i, 7, 1);
    }
    CHECK_INT(v.values.len, n);
    ovl_gradvalues_free(&v);
}

static void fractions_read_well(void)
{
    ovl_arena arena = {0};
    CHECK_TEXT(ovl_fraction_text(&arena, 0.125), "1/8");
    CHECK_TEXT(ovl_fraction_text(&arena, 1.5), "3/2");
    CHECK_TEXT(ovl_fraction_text(&arena, 1.0 / 3000), "1/3000");
    CHECK_TEXT(ovl_fraction_text(&arena, 8), "8");
    CHECK_TEXT(ovl_fraction_text(&arena, 0.1234567890123), "0.123456789");
    ovl_arena_free(&arena);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a right step is proved", a_right_step_is_proved},
        {"sums of microbatches accumulate", sums_of_microbatches_accumulate},
        {"other ways to the same gradients have the same digest", other_ways_to_the_same_gradients},
        {"rounding is no fault", rounding_is_no_fault},
        {"a wrong scale is found", a_wrong_scale_is_found},
        {"a gradient reduced twice is a duplicate", reduced_twice_is_a_duplicate},
        {"a gradient averaged twice is harmless", averaged_twice_is_harmless},
        {"a gradient not reduced misses the others", not_reduced_is_missing},
        {"an overwritten microbatch is missing", an_overwritten_microbatch_is_missing},
        {"a forgotten gradient is missing", a_forgotten_gradient_is_missing},
        {"one contribution twice is a duplicate", one_contribution_twice_is_a_duplicate},
        {"an optimizer with an empty buffer misses everything", an_empty_buffer_is_missing},
        {"reduce and broadcast give everybody the sum", reduce_and_broadcast},
        {"what ends together is in one order on all ranks",
         what_ends_together_is_in_one_order_on_all_ranks},
        {"equal values are stored once", values_are_stored_once},
        {"fractions read well", fractions_read_well},
        CU_TEST_INFO_NULL,
    };
    return check_main("gradflow", tests);
}
