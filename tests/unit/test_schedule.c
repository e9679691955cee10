/*
 * Schedules and the closed forms they are known for. Unit times unless said otherwise: TF forward,
 * TI input backward, TW weight backward, C a hop; p ranks, v stages a rank, m microbatches.
 */
#include "models/schedule_time.h"
#include "tests/support/check.h"

#include <string.h>

typedef struct bench {
    ovl_arena arena;
    ovl_errs errs;
    ovl_schedule s;
    ovl_schedule_times t;
} bench;

typedef struct lengths {
    ovl_time f, i, w, hop, pair;
} lengths;

static bool make(bench *x, const char *name, uint32_t p, uint32_t v, uint32_t m)
{
    ovl_arena_free(&x->arena);
    memset(x, 0, sizeof *x);
    x->errs.arena = &x->arena;
    ovl_schedule_spec spec = {.ranks = p, .stages_per_rank = v, .microbatches = m};
    const ovl_schedule_kind *kind = ovl_schedule_find(name);
    return kind && ovl_schedule_make(kind, &spec, &x->s, &x->arena, &x->errs);
}

static ovl_time *fill(bench *x, ovl_time value)
{
    ovl_time *list = OVL_NEW_ARRAY(&x->arena, ovl_time, x->s.n_stages);
    for (uint32_t i = 0; i < x->s.n_stages; i++) {
        list[i] = value;
    }
    return list;
}

/* Makes, checks and runs; the makespan, or -1. */
static ovl_time run(bench *x, const char *name, uint32_t p, uint32_t v, uint32_t m, lengths l)
{
    if (!make(x, name, p, v, m)) {
        return -1;
    }
    ovl_schedule_costs costs = {.forward = fill(x, l.f),
                                .input = fill(x, l.i),
                                .weight = fill(x, l.w),
                                .backward = fill(x, l.i + l.w),
                                .pair = l.pair ? fill(x, l.pair) : NULL,
                                .hop = l.hop};
    bool ok = ovl_schedule_check(&x->s, true, (ovl_mark){0}, &x->errs) &&
              ovl_schedule_time(&x->s, &costs, &x->t, &x->arena, &x->errs);
    return ok ? x->t.makespan : -1;
}

static const char *row(bench *x, uint32_t rank)
{
    const char *text = "";
    for (uint32_t i = 0; i < x->s.ranks[rank].count; i++) {
        const ovl_action *a = &x->s.ranks[rank].item[i];
        text = ovl_arena_printf(&x->arena, "%s%s%d%s%" PRIu32 "%s", text, i ? " " : "", a->stage,
                                ovl_action_name((ovl_action_type)a->type), a->microbatch,
                                a->joined ? "&" : "");
    }
    return text;
}

/* --- Orders --- */

static void orders_follow_their_rules(void)
{
    bench x = {0};
    CHECK(make(&x, "1f1b", 2, 1, 3));
    CHECK_TEXT(row(&x, 0), "0F0 0F1 0B0 0F2 0B1 0B2");
    CHECK_TEXT(row(&x, 1), "1F0 1B0 1F1 1B1 1F2 1B2");
    CHECK(make(&x, "zb_h1", 2, 1, 3));
    CHECK_TEXT(row(&x, 0), "0F0 0F1 0I0 0W0 0F2 0I1 0W1 0I2 0W2");
    CHECK_TEXT(row(&x, 1), "1F0 1I0 1F1 1I1 1W0 1F2 1I2 1W1 1W2");
    CHECK(make(&x, "looped_bfs", 2, 2, 2));
    CHECK_TEXT(row(&x, 1), "1F0 1F1 3F0 3F1 3B1 3B0 1B1 1B0");
    /* warm-up (2-1) 2 + 2 (2-1-0) = 4 */
    CHECK(make(&x, "interleaved", 2, 2, 4));
    CHECK_TEXT(row(&x, 0), "0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3");
    /* h = 0, H = 1, two microbatches a leg: m - 2H + h + 1 = 1 main step. */
    CHECK(make(&x, "dualpipe", 2, 1, 4));
    CHECK_TEXT(row(&x, 0), "0F0 3F2 0F1 3B2 3F3& 0B0 3B3 0I1 0W1");
    CHECK_TEXT(row(&x, 1), "2F2 1F0 2F3 1B0 1F1& 2B2 1B1 2I3 2W3");
    ovl_arena_free(&x.arena);
}

static void pytorch_and_megatron_agree_where_they_should(void)
{
    static const struct {
        const char *a, *b;
        uint32_t v;
    } same[] = {{"1f1b", "1f1b_megatron", 1}, {"interleaved", "interleaved_megatron", 3}};
    bench x = {0}, y = {0};
    for (size_t k = 0; k < OVL_COUNT(same); k++) {
        for (uint32_t p = 1; p < 6; p++) {
            CHECK(make(&x, same[k].a, p, same[k].v, 3 * p));
            CHECK(make(&y, same[k].b, p, same[k].v, 3 * p));
            for (uint32_t r = 0; r < p; r++) {
                CHECK_TEXT(row(&x, r), row(&y, r));
            }
        }
    }
    ovl_arena_free(&x.arena);
    ovl_arena_free(&y.arena);
}

/* Groups of 4 and a last one of 2 on 2 ranks: forwards 0F0..3 2F0..3 0F4 0F5 2F4 2F5. */
static void megatron_groups_may_be_longer_than_the_ranks(void)
{
    bench x = {0};
    x.errs.arena = &x.arena;
    ovl_schedule_spec spec = {.ranks = 2, .stages_per_rank = 2, .microbatches = 6, .group = 4};
    const ovl_schedule_kind *kind = ovl_schedule_find("interleaved_megatron");
    CHECK(ovl_schedule_make(kind, &spec, &x.s, &x.arena, &x.errs));
    CHECK_TEXT(row(&x, 1), "1F0 1F1 1F2 1F3 3F0 3B0 3F1 3B1 3F2 3B2 3F3 3B3 1F4 1B0 1F5 1B1 3F4 "
                           "1B2 3F5 1B3 3B4 3B5 1B4 1B5");
    spec.extra_warmup = true;
    CHECK(ovl_schedule_make(kind, &spec, &x.s, &x.arena, &x.errs));
    CHECK(strncmp(row(&x, 1), "1F0 1F1 1F2 1F3 3F0 3F1 3B0", 27) == 0);
    spec.group = 5; /* 6 = 5 + 1, and 1 < 2 ranks */
    CHECK(!ovl_schedule_make(kind, &spec, &x.s, &x.arena, &x.errs));
    CHECK_HAS(x.errs.items[0].text, "the last group is smaller than the ranks");
    ovl_arena_free(&x.arena);
}

static void what_does_not_fit_is_explained(void)
{
    static const struct {
        const char *name;
        uint32_t p, v, m;
        const char *why;
    } wrong[] = {
        {"gpipe", 2, 2, 4, "gpipe has 1 stage on each rank, not 2"},
        {"zb_v", 2, 1, 4, "zb_v has 2 stages on each rank, not 1"},
        {"dualpipe", 3, 1, 8, "its ranks are even in number, not 3"},
        {"dualpipe", 4, 1, 9, "its microbatches are even in number, not 9; 10 would do"},
        {"dualpipe", 4, 1, 6, "at least two microbatches for each rank: 6 < 2 x 4"},
        {"dualpipev", 4, 2, 7, "7 < 2 x 4"},
        {"interleaved", 4, 2, 11, "make 2 rounds, which must divide the microbatches; 10 would do"},
        {"interleaved_megatron", 4, 2, 6, "6 microbatches are not a multiple of the ranks, 4"},
        {"1f1b", 0, 1, 4, "at least one rank"},
        {"looped_bfs", 40000, 2, 4, "80000 stages are more than 65534"},
    };
    bench x = {0};
    for (size_t k = 0; k < OVL_COUNT(wrong); k++) {
        CHECK(!make(&x, wrong[k].name, wrong[k].p, wrong[k].v, wrong[k].m));
        CHECK(x.errs.count > 0);
        CHECK_HAS(x.errs.count ? x.errs.items[0].text : "", wrong[k].why);
    }
    CHECK(make(&x, "1f1b", 4, 1, 2)); /* runs, but not in PyTorch */
    CHECK_INT(x.errs.count, 1);
    CHECK(ovl_schedule_find("zb_h3") == NULL);
    CHECK(ovl_schedule_find("ZB-H1") == &ovl_schedule_zb_h1);
    ovl_arena_free(&x.arena);
}

/* The names of pytorch torch/distributed/pipelining/__init__.py, and the words get_schedule_class
 * takes for them. */
static void pytorchs_names_are_known(void)
{
    static const struct {
        const char *class_name, *word;
        const ovl_schedule_kind *kind;
    } names[] = {
        {"ScheduleGPipe", "GPipe", &ovl_schedule_gpipe},
        {"Schedule1F1B", "1F1B", &ovl_schedule_1f1b},
        {"ScheduleLoopedBFS", "LoopedBFS", &ovl_schedule_looped_bfs},
        {"ScheduleInterleaved1F1B", "Interleaved1F1B", &ovl_schedule_interleaved},
        {"ScheduleInterleavedZeroBubble", "InterleavedZeroBubble", &ovl_schedule_interleaved_zb},
        {"ScheduleZBVZeroBubble", "ZBVZeroBubble", &ovl_schedule_zb_v},
        {"ScheduleDualPipeV", "DualPipeV", &ovl_schedule_dualpipev},
    };
    uint32_t classes = 0;
    for (size_t k = 0; k < OVL_COUNT(names); k++) {
        CHECK(ovl_schedule_find(names[k].class_name) == names[k].kind);
        CHECK(ovl_schedule_find(names[k].word) == names[k].kind);
        CHECK_TEXT(names[k].kind->pytorch, names[k].class_name);
    }
    for (uint32_t i = 0; ovl_schedule_at(i); i++) {
        classes += ovl_schedule_at(i)->pytorch != NULL;
    }
    CHECK_INT(classes, OVL_COUNT(names));
    CHECK(ovl_schedule_find("Schedule") == NULL);
    CHECK(ovl_schedule_find("ScheduleZB_H1") == NULL);
}

/* --- Closed forms --- */

static const lengths mixes[] = {
    {1, 1, 1, 0, 0}, {10, 12, 8, 0, 0}, {7, 9, 4, 0, 0}, {5, 5, 5, 0, 0}};

/* (m + p - 1) S for GPipe and 1F1B, also with fewer microbatches than ranks. */
static void gpipe_and_1f1b(void)
{
    bench x = {0};
    for (size_t k = 0; k < OVL_COUNT(mixes); k++) {
        lengths l = mixes[k];
        ovl_time s = l.f + l.i + l.w;
        for (uint32_t p = 1; p <= 8; p++) {
            for (uint32_t m = 1; m <= 20; m++) {
                CHECK_INT(run(&x, "gpipe", p, 1, m, l), (m + p - 1) * s);
                CHECK_INT(x.t.ranks[0].peak_weight, m);
                CHECK_INT(run(&x, "1f1b", p, 1, m, l), (m + p - 1) * s);
                CHECK_INT(x.t.ranks[0].peak_weight, OVL_MIN(p, m));
                CHECK_INT(x.t.ranks[p - 1].peak_weight, 1);
                CHECK_INT(run(&x, "1f1b_megatron", p, 1, m, l), (m + p - 1) * s);
            }
        }
    }
    ovl_arena_free(&x.arena);
}

/* With m = k p, hops add C (4p - 6 + 2 (k-1)(p-1)) to 1F1B. */
static void hops_of_1f1b_grow_with_microbatches(void)
{
    bench x = {0};
    lengths l = {10, 12, 8, 1, 0};
    for (uint32_t p = 2; p <= 8; p++) {
        for (uint32_t k = 1; k <= 5; k++) {
            ovl_time ideal = (k * p + p - 1) * (l.f + l.i + l.w);
            CHECK_INT(run(&x, "1f1b", p, 1, k * p, l), ideal + 4 * p - 6 + 2 * (k - 1) * (p - 1));
        }
    }
    ovl_arena_free(&x.arena);
}

/* Bubble (p-1) S / v, S/v being the time of one stage; hops add (2vp - 2) C. */
static void interleaved_and_looped_bfs(void)
{
    bench x = {0};
    for (size_t k = 0; k < OVL_COUNT(mixes); k++) {
        lengths l = mixes[k], far = mixes[k];
        ovl_time s = l.f + l.i + l.w;
        far.hop = 1;
        far.f *= 10, far.i *= 10, far.w *= 10;
        for (uint32_t p = 2; p <= 6; p++) {
            for (uint32_t v = 2; v <= 4; v++) {
                for (uint32_t m = p; m <= 4 * p; m += p) {
                    ovl_time ideal = (m * v + p - 1) * s;
                    CHECK_INT(run(&x, "interleaved", p, v, m, l), ideal);
                    CHECK_INT(run(&x, "interleaved_megatron", p, v, m, l), ideal);
                    CHECK_INT(run(&x, "looped_bfs", p, v, m, l), ideal);
                    CHECK_INT(x.t.ranks[0].peak_weight, m * v);
                    CHECK_INT(run(&x, "interleaved", p, v, m, far), 10 * ideal + 2 * v * p - 2);
                }
            }
        }
    }
    /* P = 4, v = 2: 11, 9, 7, 5 */
    run(&x, "interleaved", 4, 2, 12, mixes[0]);
    for (uint32_t r = 0; r < 4; r++) {
        CHECK_INT(x.t.ranks[r].peak_weight, 11 - 2 * r);
    }
    ovl_arena_free(&x.arena);
}

/* Bubble (p-1)(TF + TI - TW) for TW <= min(TF, TI); hops add 4 (p-1) C for m > p and C small; with
 * m <= p the whole takes (m+p-1)(TF+TI) + TW. Peak p until W, p-r until I. */
static void zb_h1(void)
{
    bench x = {0};
    for (size_t k = 0; k < OVL_COUNT(mixes); k++) {
        lengths l = mixes[k], far = {l.f * 100, l.i * 100, l.w * 100, 1, 0};
        ovl_time s = l.f + l.i + l.w, bubble = l.f + l.i - l.w;
        for (uint32_t p = 2; p <= 8; p++) {
            for (uint32_t m = 1; m <= 3 * p; m++) {
                ovl_time want = m <= p ? (m + p - 1) * (l.f + l.i) + l.w : m * s + (p - 1) * bubble;
                CHECK_INT(run(&x, "zb_h1", p, 1, m, l), want);
                if (m >= p) {
                    CHECK_INT(want, m * s + (p - 1) * bubble);
                    CHECK_INT(x.t.ranks[p - 1].peak_weight, p);
                    CHECK_INT(x.t.ranks[p - 1].peak_input, 1);
                }
                if (m > p) {
                    CHECK_INT(run(&x, "zb_h1", p, 1, m, far), 100 * want + 4 * (p - 1));
                }
            }
        }
    }
    ovl_arena_free(&x.arena);
}

/* Span m S + (p-1)(TF + TI - 2 TW) for TW <= TF and 2 TW <= TF + TI; hops add 2 (p-1) C. Peak
 * 2p-1 until W, 2(p-r)-1 until I. */
static void zb_h2(void)
{
    bench x = {0};
    for (size_t k = 0; k < OVL_COUNT(mixes); k++) {
        lengths l = mixes[k], far = {l.f * 100, l.i * 100, l.w * 100, 1, 0};
        ovl_time s = l.f + l.i + l.w, bubble = l.f + l.i - 2 * l.w;
        for (uint32_t p = 2; p <= 8; p++) {
            for (uint32_t m = 2 * p - 1; m <= 4 * p; m++) {
                run(&x, "zb_h2", p, 1, m, l);
                CHECK_INT(x.t.span, m * s + (p - 1) * bubble);
                for (uint32_t r = 0; r < p; r++) {
                    CHECK_INT(x.t.ranks[r].peak_weight, 2 * p - 1);
                    CHECK_INT(x.t.ranks[r].peak_input, 2 * (p - r) - 1);
                }
                run(&x, "zb_h2", p, 1, m, far);
                CHECK_INT(x.t.span, 100 * (m * s + (p - 1) * bubble) + 2 * (p - 1));
            }
        }
    }
    ovl_arena_free(&x.arena);
}

/* Bubble (p-1)(TF + TI - TW) of one stage (B full: TF + B - 2 TW), for TW <= min(TF, TI). Peak 2P
 * until W at v = 2. */
static void interleaved_zb(void)
{
    bench x = {0};
    for (size_t k = 0; k < OVL_COUNT(mixes); k++) {
        lengths l = mixes[k];
        ovl_time s = l.f + l.i + l.w;
        for (uint32_t p = 2; p <= 6; p++) {
            for (uint32_t v = 2; v <= 4; v++) {
                for (uint32_t m = 2 * p; m <= 4 * p; m += p) {
                    CHECK_INT(run(&x, "interleaved_zb", p, v, m, l),
                              m * v * s + (p - 1) * (l.f + l.i - l.w));
                    CHECK(v != 2 || x.t.ranks[p - 1].peak_weight == 2 * p);
                }
            }
        }
    }
    ovl_arena_free(&x.arena);
}

/* With equal times and from 2p-1 microbatches on no rank idles between its first and last action,
 * with one less some rank does; the makespan still has p-1 forwards of ramp. Peak 2P. */
static void zb_v(void)
{
    bench x = {0};
    lengths l = {1, 1, 1, 0, 0};
    for (uint32_t p = 2; p <= 8; p++) {
        run(&x, "zb_v", p, 2, 2 * p - 2, l);
        CHECK(x.t.span > 6 * (2 * p - 2));
        for (uint32_t m = 2 * p - 1; m <= 5 * p; m++) {
            CHECK_INT(run(&x, "zb_v", p, 2, m, l), 6 * m + p - 1);
            CHECK_INT(x.t.span, 6 * m);
            for (uint32_t r = 0; r < p; r++) {
                CHECK_INT(x.t.ranks[r].peak_weight, 2 * p);
            }
        }
    }
    ovl_arena_free(&x.arena);
}

/* V-Min 2 floor((p+4)/3) activations, V-Half 2 floor((p+2)/2), on the fullest rank; bubbles with
 * equal times of about 4 p and 3 p unit times: 2p/3m and p/2m of the 6 m that a rank works.
 * Exactly, from p = 4 on: 4p - 5, or 4p - 3 where 3 divides p; 3p - 5, or 3p - 4 where p is odd. */
static void v_min_and_v_half(void)
{
    bench x = {0};
    lengths l = {1, 1, 1, 0, 0};
    for (uint32_t p = 2; p <= 32; p++) {
        for (int half = 0; half < 2; half++) {
            uint32_t m = (p % 4 < 2 ? 2 : 6) * p, peak = 0,
                     most = half ? 2 * ((p + 2) / 2) : 2 * ((p + 4) / 3);
            run(&x, half ? "v_half" : "v_min", p, 2, m, l);
            for (uint32_t r = 0; r < p; r++) {
                peak = OVL_MAX(peak, x.t.ranks[r].peak_weight);
            }
            CHECK_INT(peak, most);
            uint32_t bubble = half ? 3 * p - (p % 2 ? 4 : 5) : 4 * p - (p % 3 ? 5 : 3);
            if (p >= 4) {
                CHECK_INT(x.t.span - 6 * m, bubble);
            }
            CHECK(x.t.span - 6 * m >= (half ? p : 3 * p / 2));
            CHECK(run(&x, half ? "v_half" : "v_min", p, 2, 1 + p % 3, l) > 0);
        }
    }
    ovl_arena_free(&x.arena);
}

/* V-Half moves W to where ranks wait in unit times. With TF = 14, TI = 5, TW = 18 that would be
 * longer on 5 ranks with 11 microbatches: 1094, not 950, so where it knows that forwards are longer
 * than input backwards it leaves them. Equal times are no such case: 6 m + 3 p - 4. */
static void v_half_looks_at_times(void)
{
    bench x = {0};
    lengths l = {14, 5, 18, 0, 0};
    CHECK_INT(run(&x, "v_half", 5, 2, 11, l), 1094);
    ovl_time times[3][10];
    for (int k = 0; k < 10; k++) {
        times[0][k] = l.f, times[1][k] = l.i, times[2][k] = l.w;
    }
    ovl_schedule_spec spec = {.ranks = 5,
                              .stages_per_rank = 2,
                              .microbatches = 11,
                              .forward = times[0],
                              .input = times[1],
                              .weight = times[2]};
    CHECK(ovl_schedule_make(&ovl_schedule_v_half, &spec, &x.s, &x.arena, &x.errs));
    ovl_schedule_costs costs = {times[0], times[1], times[2], times[1], NULL, 0};
    CHECK(ovl_schedule_time(&x.s, &costs, &x.t, &x.arena, &x.errs));
    CHECK_INT(x.t.makespan, 950);
    for (int k = 0; k < 10; k++) {
        times[0][k] = times[1][k] = times[2][k] = 1;
    }
    CHECK(ovl_schedule_make(&ovl_schedule_v_half, &spec, &x.s, &x.arena, &x.errs));
    CHECK(ovl_schedule_time(&x.s, &costs, &x.t, &x.arena, &x.errs));
    CHECK_INT(x.t.makespan, 6 * 11 + 3 * 5 - 4);
    ovl_arena_free(&x.arena);
}

/* Fewer microbatches than the order needs: it still is one. */
static void few_microbatches_of_zb_v(void)
{
    bench x = {0};
    lengths l = {3, 2, 1, 1, 0};
    for (uint32_t p = 1; p <= 6; p++) {
        for (uint32_t m = 1; m <= 2 * p; m++) {
            CHECK(run(&x, "zb_v", p, 2, m, l) >= 12 * m);
        }
    }
    ovl_arena_free(&x.arena);
}

/* Bubble (PP/2 - 1)(F&B + B - 3W) for TF = TI = TW and an overlapped pair that gains nothing, F&B =
 * F + B, PP ranks; DualPipeV on PP/2 ranks with stages of half the size, so the same in units of
 * these. Peak P + 1 and 2P + 1. A faster pair makes both faster. */
static void dualpipe(void)
{
    bench x = {0};
    lengths l = {10, 10, 10, 0, 30}, quick = {10, 10, 10, 0, 26};
    for (uint32_t p = 2; p <= 8; p += 2) {
        ovl_time bubble = (p / 2 - 1) * (30 + 20 - 30);
        for (uint32_t m = 2 * p; m <= 5 * p; m += 2) {
            CHECK_INT(run(&x, "dualpipe", p, 1, m, l), m * 30 + bubble);
            CHECK_INT(x.t.ranks[0].peak_weight, p + 1);
            CHECK(run(&x, "dualpipe", p, 1, m, quick) < m * 30 + bubble);
            CHECK_INT(run(&x, "dualpipev", p / 2, 2, m, l), 2 * m * 30 + bubble);
            CHECK_INT(x.t.ranks[0].peak_weight, p + 1);
        }
    }
    ovl_arena_free(&x.arena);
}

/* With equal times and memory for 2p, ZB-2p leaves no bubble; ZB-1p is ZB-H1. */
static void automatic_schedules(void)
{
    bench x = {0};
    x.errs.arena = &x.arena;
    for (uint32_t p = 2; p <= 6; p++) {
        ovl_arena_free(&x.arena);
        ovl_time times[8];
        uint64_t bytes[8];
        for (uint32_t r = 0; r < 8; r++) {
            times[r] = 10;
            bytes[r] = 1;
        }
        ovl_schedule_spec spec = {.ranks = p,
                                  .stages_per_rank = 1,
                                  .microbatches = 4 * p,
                                  .forward = times,
                                  .input = times,
                                  .weight = times,
                                  .activation = bytes,
                                  .kept = bytes};
        ovl_schedule_costs costs = {times, times, times, times, NULL, 0};
        CHECK(ovl_schedule_make(&ovl_schedule_zb_1p, &spec, &x.s, &x.arena, &x.errs));
        CHECK(ovl_schedule_check(&x.s, true, (ovl_mark){0}, &x.errs));
        CHECK(ovl_schedule_time(&x.s, &costs, &x.t, &x.arena, &x.errs));
        CHECK_INT(x.t.span, 4 * p * 30 + (p - 1) * 10);
        CHECK_INT(x.t.ranks[0].peak_weight, p);
        CHECK(ovl_schedule_make(&ovl_schedule_zb_2p, &spec, &x.s, &x.arena, &x.errs));
        CHECK(ovl_schedule_time(&x.s, &costs, &x.t, &x.arena, &x.errs));
        CHECK_INT(x.t.span, 4 * p * 30);
    }
    ovl_arena_free(&x.arena);
}

/* With fewer microbatches than ranks all forwards run first, and a gradient comes back through all
 * ranks: (m + p - 1) (F + I) + W, as for ZB-H1. */
static void automatic_schedules_of_few_microbatches(void)
{
    bench x = {0};
    ovl_time times[8] = {10, 10, 10, 10, 10, 10, 10, 10};
    uint64_t bytes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    ovl_schedule_costs costs = {times, times, times, times, NULL, 0};
    x.errs.arena = &x.arena;
    for (uint32_t p = 2; p <= 8; p++) {
        for (uint32_t m = 1; m <= p; m++) {
            ovl_arena_free(&x.arena);
            ovl_schedule_spec spec = {.ranks = p,
                                      .stages_per_rank = 1,
                                      .microbatches = m,
                                      .forward = times,
                                      .input = times,
                                      .weight = times,
                                      .activation = bytes,
                                      .kept = bytes};
            for (int two = 0; two < 2; two++) {
                CHECK(ovl_schedule_make(two ? &ovl_schedule_zb_2p : &ovl_schedule_zb_1p, &spec,
                                        &x.s, &x.arena, &x.errs));
                CHECK(ovl_schedule_time(&x.s, &costs, &x.t, &x.arena, &x.errs));
                CHECK_INT(x.t.makespan, (m + p - 1) * 20 + 10);
            }
        }
    }
    ovl_arena_free(&x.arena);
}

/* --- Checks of a list of actions --- */

static void lists_are_checked_by_pytorchs_rules(void)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_action first[] = {{0, 0, OVL_ACT_B, false}, {0, 0, OVL_ACT_F, false}};
    ovl_action second[] = {{0, 0, OVL_ACT_F, false},
                           {0, 1, OVL_ACT_W, false},
                           {0, 1, OVL_ACT_F, false},
                           {0, 1, OVL_ACT_I, false}};
    ovl_actions ranks[] = {{first, 2}, {second, 3}};
    uint32_t rank_of[] = {0, 1};
    ovl_schedule s = {2, 2, 1, 1, rank_of, ranks, NULL, false};
    CHECK(!ovl_schedule_check(&s, true, (ovl_mark){0}, &errs));
    CHECK_INT(errs.errors, 5);
    CHECK_TEXT(errs.items[0].text, "0B0 comes before the forward of that microbatch");
    CHECK_TEXT(errs.items[1].text, "stage 0 is on rank 0 and on rank 1");
    CHECK_TEXT(errs.items[2].text, "0F0 is there twice");
    CHECK_TEXT(errs.items[3].text, "1W0 comes before the input backward (I) of that microbatch");
    CHECK_TEXT(errs.items[4].text, "rank 1 has no 1B0: stage 1 has 0 backwards for 1 microbatch");
    ovl_arena_free(&arena);
}

/* Rank 0 wants the gradient before it gave the activation. */
static void a_list_that_cannot_run_is_told(void)
{
    ovl_arena arena = {0};
    ovl_errs errs = {.arena = &arena};
    ovl_action first[] = {
        {0, 0, OVL_ACT_F, false}, {0, 0, OVL_ACT_B, false}, {1, 0, OVL_ACT_F, false}};
    ovl_action second[] = {{1, 1, OVL_ACT_F, false}, {0, 1, OVL_ACT_F, false}};
    ovl_actions ranks[] = {{first, 3}, {second, 2}};
    uint32_t rank_of[] = {0, 1};
    ovl_time one[] = {1, 1};
    ovl_schedule s = {2, 2, 2, 1, rank_of, ranks, NULL, false};
    ovl_schedule_costs costs = {one, one, one, one, NULL, 0};
    ovl_schedule_times t;
    CHECK(!ovl_schedule_time(&s, &costs, &t, &arena, &errs));
    CHECK_TEXT(errs.items[0].text, "rank 0 waits for ever for the input of 0B0");
    ovl_arena_free(&arena);
}

static CU_TestInfo tests[] = {
    {"orders follow their rules", orders_follow_their_rules},
    {"PyTorch and Megatron agree where they should", pytorch_and_megatron_agree_where_they_should},
    {"Megatron's groups may be longer than the ranks",
     megatron_groups_may_be_longer_than_the_ranks},
    {"what does not fit is explained", what_does_not_fit_is_explained},
    {"PyTorch's names are known", pytorchs_names_are_known},
    {"GPipe and 1F1B take (m + p - 1) S", gpipe_and_1f1b},
    {"hops of 1F1B grow with microbatches", hops_of_1f1b_grow_with_microbatches},
    {"interleaving divides the bubble", interleaved_and_looped_bfs},
    {"ZB-H1", zb_h1},
    {"ZB-H2", zb_h2},
    {"interleaved zero bubble", interleaved_zb},
    {"ZB-V has no bubble in its span", zb_v},
    {"V-Min and V-Half take less memory", v_min_and_v_half},
    {"V-Half looks at times", v_half_looks_at_times},
    {"automatic schedules of few microbatches", automatic_schedules_of_few_microbatches},
    {"ZB-V with few microbatches", few_microbatches_of_zb_v},
    {"DualPipe and DualPipeV", dualpipe},
    {"automatic schedules", automatic_schedules},
    {"lists are checked by PyTorch's rules", lists_are_checked_by_pytorchs_rules},
    {"a list that cannot run is told", a_list_that_cannot_run_is_told},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("schedules", tests);
}
