/* PyTorch's text form of schedules, and its passes from compute to communication. */
#include "models/schedule_csv.h"
#include "models/schedule_lower.h"
#include "tests/support/check.h"

#include <string.h>

typedef struct bench {
    ovl_arena arena;
    ovl_errs errs;
    ovl_schedule s;
    ovl_csv_dialect dialect;
} bench;

static bool read_csv(bench *x, const char *text)
{
    ovl_arena_free(&x->arena);
    memset(x, 0, sizeof *x);
    x->errs.arena = &x->arena;
    return ovl_schedule_read_csv("s.csv", text, &x->s, &x->dialect, &x->arena, &x->errs);
}

static const char *printed(bench *x)
{
    return ovl_schedule_print_csv(&x->s, x->dialect, &x->arena);
}

static const char *mistake(bench *x, uint32_t i)
{
    return i < x->errs.count ? ovl_err_text(&x->arena, &x->errs.items[i]) : "none";
}

/* --- Reading and printing --- */

static void what_is_read_is_printed_again(void)
{
    static const char *const texts[] = {
        "0F0,0F1,,0B0,,0B1\n,1F0,1B0,1F1,1B1,\n",
        "0UNSHARD,0F0,0SEND_F0,0RECV_B0,0I0,0W0,0RESHARD\n1RECV_F0,1F0,1I0,1SEND_B0,1W0\n",
        "0F0,3F0,3B0,0F1,(3F1;0B0)OVERLAP_F_B,3B1,0B1\n1F0,2F0,2B0,1B0,1F1,2F1,2B1,1B1\n",
        "0F0,0B0,0W0,0F1,0BW1\n", /* old */
    };
    bench x = {0};
    for (size_t k = 0; k < OVL_COUNT(texts); k++) {
        CHECK(read_csv(&x, texts[k]));
        CHECK_TEXT(printed(&x), texts[k]);
        CHECK(ovl_schedule_check(&x.s, true, (ovl_mark){0}, &x.errs));
        CHECK_INT(x.dialect, k == 3 ? OVL_CSV_OLD : OVL_CSV_NEW);
    }
    ovl_arena_free(&x.arena);
}

/* A byte order mark, quotes, and lines as Windows ends them. */
static void spreadsheets_write_it_so(void)
{
    bench x = {0};
    CHECK(read_csv(&x, "\xef\xbb\xbf\"0F0\",\"\",\"0B0\"\r\n,\"1F0\",\"1B0\"\r\n"));
    CHECK_TEXT(printed(&x), "0F0,,0B0\n,1F0,1B0\n");
    CHECK_INT(ovl_csv_mark("0F0"), 0);
    ovl_arena_free(&x.arena);
}

/* Old: BW is there, or W without I. */
static void both_dialects_mean_the_same(void)
{
    bench x = {0};
    CHECK(read_csv(&x, "0F0,0B0,0W0\n"));
    CHECK_INT(x.dialect, OVL_CSV_OLD);
    CHECK_INT(x.s.ranks[0].item[1].type, OVL_ACT_I);
    CHECK_TEXT(ovl_schedule_print_csv(&x.s, OVL_CSV_NEW, &x.arena), "0F0,0I0,0W0\n");
    CHECK(read_csv(&x, "0F0,0BW0\n"));
    CHECK_INT(x.s.ranks[0].item[1].type, OVL_ACT_B);
    CHECK_TEXT(ovl_schedule_print_csv(&x.s, OVL_CSV_NEW, &x.arena), "0F0,0B0\n");
    CHECK(read_csv(&x, "0F0,0B0\n"));
    CHECK_INT(x.dialect, OVL_CSV_NEW);
    CHECK_INT(x.s.ranks[0].item[1].type, OVL_ACT_B);
    ovl_arena_free(&x.arena);
}

static void texts_behind_an_action_are_let_be(void)
{
    bench x = {0};
    CHECK(read_csv(&x, " 0F0 first, \"0B0\",0UNSHARD!,0F1 (late)\r\n"
                       "(1F0 x;1B0 y)OVERLAP_F_B z , 1(1F1;1B1)OVERLAP_F_B"));
    CHECK_TEXT(printed(&x), "0F0,0B0,0UNSHARD,0F1\n(1F0;1B0)OVERLAP_F_B,(1F1;1B1)OVERLAP_F_B\n");
    CHECK_INT(x.s.n_ranks, 2);
    CHECK_INT(x.s.n_stages, 2);
    CHECK_INT(x.s.n_microbatches, 2);
    ovl_arena_free(&x.arena);
}

static void mistakes_have_their_place(void)
{
    bench x = {0};
    CHECK(!read_csv(&x, "0F0,F1,0X0\n0F,2(1F0,99999F0,0F99999999\n(0F0;1B0),(0F0)OVERLAP_F_B\n"));
    CHECK_TEXT(mistake(&x, 0),
               "s.csv:1:5: error: \"F1\" is no action: it begins with the number of "
               "a stage");
    CHECK_HAS(mistake(&x, 1),
              "s.csv:1:8: error: \"0X0\" is no action: after the stage comes a type");
    CHECK_HAS(mistake(&x, 2), "s.csv:2:1: error: \"0F\" is no action: it ends with the number of a "
                              "microbatch");
    CHECK_HAS(mistake(&x, 3), "s.csv:2:4: error: \"2(1F0\" is no action: a pair has two actions");
    CHECK_HAS(mistake(&x, 4), "the number is too large");
    CHECK_HAS(mistake(&x, 5), "the number is too large");
    CHECK_HAS(mistake(&x, 6), "s.csv:3:1: error: \"(0F0;1B0)\" is no action: a pair of two ends");
    CHECK_HAS(mistake(&x, 7), "a pair has two actions");
    CHECK(!read_csv(&x, ""));
    CHECK_TEXT(mistake(&x, 0), "s.csv: error: the schedule has no actions");
    CHECK(!read_csv(&x, "0F0,2F0\n"));
    CHECK_TEXT(mistake(&x, 0), "s.csv:1:5: error: stage 1 is on no rank, yet this is of stage 2");
    CHECK(!read_csv(&x, "0F0,9B0\n"));
    CHECK_HAS(mistake(&x, 0), "s.csv:1:5: error: 8 stages from 1 on are on no rank, yet");
    ovl_arena_free(&x.arena);
}

static bool check(bench *x, const char *text)
{
    bool whole = read_csv(x, text);
    return ovl_schedule_check(&x->s, whole, (ovl_mark){0}, &x->errs) && whole;
}

/* PyTorch's reader (csv.reader) gives an empty row for a blank line, wherever it is, and so a rank
 * without actions; a row of blank cells is one, too. A blank cell is an idle slot. */
static void a_blank_line_is_a_rank_that_does_nothing(void)
{
    bench x = {0};
    CHECK(read_csv(&x, ",0F0,,0B0,\n1F0,1B0\n"));
    CHECK_INT(x.s.ranks[0].count, 5);
    CHECK(!check(&x, "0F0,0B0\n\n1F0,1B0\n,,\n\n"));
    CHECK_INT(x.errs.errors, 3);
    CHECK_TEXT(mistake(&x, 0), "s.csv:2:1: error: rank 1 does nothing: each row is a rank, a blank "
                               "line, too, as PyTorch reads it, and each rank has a stage; take "
                               "the row out, or say what the rank does");
    CHECK_HAS(mistake(&x, 1), "s.csv:4:1: error: rank 3 does nothing");
    CHECK_HAS(mistake(&x, 2), "s.csv:5:1: error: rank 4 does nothing");
    ovl_arena_free(&x.arena);
}

/* Each at its row and column, those of reading and those of the rules in one go. */
static void rules_that_are_broken_have_their_place(void)
{
    bench x = {0};
    CHECK(!check(&x, "0F0,0F1, 0B0,0B0\n1F0,1B0\n"));
    CHECK_INT(x.errs.errors, 4);
    CHECK_TEXT(mistake(&x, 0), "s.csv:1:14: error: 0B0 is there twice");
    CHECK_TEXT(mistake(&x, 1),
               "s.csv:1:1: error: rank 0 has no 0B1: stage 0 has 1 backward for 2 microbatches");
    CHECK_TEXT(mistake(&x, 2),
               "s.csv:2:1: error: rank 1 has no 1F1: stage 1 has 1 forward for 2 microbatches");
    CHECK_TEXT(mistake(&x, 3),
               "s.csv:2:1: error: rank 1 has no 1B1: stage 1 has 1 backward for 2 microbatches");
    /* the unread one may be the forward, or the backward that is missing: neither is said */
    CHECK(!check(&x, "0X0,0B0\n1F0,1F0,1X0\n"));
    CHECK_INT(x.errs.errors, 3);
    CHECK_HAS(mistake(&x, 2), "s.csv:2:5: error: 1F0 is there twice");
    CHECK(!check(&x, "0F0,0B99999\n"));
    CHECK_TEXT(mistake(&x, 0),
               "error: 2 actions are too few for stages up to 0 and microbatches up "
               "to 99999");
    ovl_arena_free(&x.arena);
}

/* A list that says when it sends and receives: each result that another rank needs once. */
static void sends_and_receives_match(void)
{
    bench x = {0};
    CHECK(check(&x, "0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"));
    CHECK(!check(&x, "0F0,0B0,0SEND_F0\n1RECV_F0,1F0,1B0,1SEND_B0\n"));
    CHECK_INT(x.errs.errors, 2);
    CHECK_TEXT(mistake(&x, 0), "s.csv:1:5: error: 0B0 needs 0RECV_B0 before it: its input comes "
                               "from stage 1 on rank 1");
    CHECK_TEXT(mistake(&x, 1), "s.csv:2:18: error: 1SEND_B0 has no 0RECV_B0 on rank 0: nobody "
                               "receives what it sends");
    CHECK(!check(&x, "0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1SEND_B0,1B0,1SEND_F0\n"));
    CHECK_INT(x.errs.errors, 3);
    CHECK_TEXT(mistake(&x, 0),
               "s.csv:2:14: error: 1SEND_B0 comes before the backward whose result it sends");
    CHECK_TEXT(mistake(&x, 1), "s.csv:2:27: error: 1SEND_F0 has no other rank to exchange with");
    CHECK_TEXT(mistake(&x, 2), "s.csv:2:1: error: 1RECV_F0 has no 0SEND_F0 on rank 0: nobody sends "
                               "what it waits for");
    /* neighbours on one rank exchange nothing */
    CHECK(check(&x, "0F0,0SEND_F0,3RECV_F0,3F0,3B0,3SEND_B0,0RECV_B0,0B0\n"
                    "1RECV_F0,1F0,2F0,2SEND_F0,2RECV_B0,2B0,1B0,1SEND_B0\n"));
    ovl_arena_free(&x.arena);
}

/* --- Passes --- */

/* The two published schedules and their lowerings (pytorch test_schedule.py). */
static void sends_and_receives_are_those_of_pytorch(void)
{
    static const struct {
        const char *compute, *comms;
        uint32_t steps;
    } published[] = {
        {"0F0,0F1,,0B0,,0B1\n,1F0,1B0,1F1,1B1,\n",
         "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
         "1RECV_F0,1RECV_F1,1F0,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n",
         11},
        {"0F0,0F1,,3F0,3B0,3F1,3B1,0B0,3W0,0B1,3W1,0W0,0W1\n"
         ",1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1,2W0,2W1,1W0,1W1\n",
         "0F0,0SEND_F0,0F1,0SEND_F1,3RECV_F0,3F0,3B0,3SEND_B0,3RECV_F1,3F1,3B1,3SEND_B1,0RECV_B0,"
         "0B0,3W0,0RECV_B1,0B1,3W1,0W0,0W1\n"
         "1RECV_F0,1RECV_F1,1F0,2F0,2SEND_F0,1F1,2RECV_B0,2F1,2SEND_F1,2B0,2RECV_B1,1B0,1SEND_B0,"
         "2B1,1B1,1SEND_B1,2W0,2W1,1W0,1W1\n",
         24},
    };
    bench x = {0};
    for (size_t k = 0; k < OVL_COUNT(published); k++) {
        CHECK(read_csv(&x, published[k].compute));
        CHECK(ovl_schedule_check(&x.s, true, (ovl_mark){0}, &x.errs));
        CHECK(ovl_schedule_send_recv(&x.s, &x.s, (ovl_mark){0}, &x.arena, &x.errs));
        CHECK_TEXT(printed(&x), published[k].comms);
        CHECK_INT(ovl_schedule_steps(&x.s, (ovl_mark){0}, &x.errs), published[k].steps);
        CHECK(read_csv(&x, published[k].comms));
        CHECK_INT(ovl_schedule_steps(&x.s, (ovl_mark){0}, &x.errs), published[k].steps);
    }
    ovl_arena_free(&x.arena);
}

static void a_pair_sends_both_results(void)
{
    bench x = {0};
    CHECK(read_csv(&x, "0F0,0F1,3F0,3B0,(3F1;0B0)OVERLAP_F_B,3B1,0B1\n"
                       "1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1\n"));
    CHECK(ovl_schedule_send_recv(&x.s, &x.s, (ovl_mark){0}, &x.arena, &x.errs));
    CHECK_TEXT(printed(&x),
               "0F0,0SEND_F0,0F1,0SEND_F1,3RECV_F0,3F0,3B0,3SEND_B0,3RECV_F1,0RECV_B0,(3F1;0B0)"
               "OVERLAP_F_B,3B1,3SEND_B1,0RECV_B1,0B1\n"
               "1RECV_F0,1F0,1RECV_F1,2F0,2SEND_F0,1F1,2RECV_B0,2F1,2SEND_F1,2B0,1B0,1SEND_B0,"
               "2RECV_B1,2B1,1B1,1SEND_B1\n");
    CHECK(ovl_schedule_steps(&x.s, (ovl_mark){0}, &x.errs) > 0);
    ovl_arena_free(&x.arena);
}

static void orders_that_wait_for_each_other_are_told(void)
{
    bench x = {0};
    CHECK(read_csv(&x, "0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n"));
    ovl_schedule out;
    CHECK(!ovl_schedule_send_recv(&x.s, &out, (ovl_mark){0}, &x.arena, &x.errs));
    CHECK_TEXT(mistake(&x, 0),
               "s.csv:1:5: error: the schedule cannot finish: rank 0 waits for what 0B0 needs");
    CHECK(read_csv(&x, "0RECV_B0,0F0,0SEND_F0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"));
    CHECK_INT(ovl_schedule_steps(&x.s, (ovl_mark){0}, &x.errs), 0);
    CHECK_HAS(mistake(&x, 0), "s.csv:1:1: error");
    CHECK_HAS(mistake(&x, 0), "rank 0 waits for what 0RECV_B0 needs");
    ovl_arena_free(&x.arena);
}

/* I and W merge only when they are neighbours and of one microbatch; blanks go. */
static void inputs_and_weights_merge(void)
{
    bench x = {0};
    CHECK(read_csv(&x, "0F0,0F1,0I0,,0W0,0I1,0F2,0W1,0I2,0W2\n"));
    ovl_schedule_merge(&x.s, &x.s, &x.arena);
    CHECK_TEXT(printed(&x), "0F0,0F1,0B0,0I1,0F2,0W1,0B2\n");
    ovl_arena_free(&x.arena);
}

/* The passes in PyTorch's order, as in its zb1p_2rank_2stagep: rank 0 has neighbours I and W, rank
 * 1 none. Merged, 0B0 sends what 0I0 would. */
static void a_merged_backward_sends_once(void)
{
    bench x = {0};
    CHECK(read_csv(&x, "0F0,,0F1,0I0,0W0,0I1,0W1\n,1F0,1I0,1F1,1I1,1W0,1W1\n"));
    ovl_schedule_merge(&x.s, &x.s, &x.arena);
    CHECK(ovl_schedule_send_recv(&x.s, &x.s, (ovl_mark){0}, &x.arena, &x.errs));
    CHECK_TEXT(printed(&x), "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
                            "1RECV_F0,1F0,1RECV_F1,1I0,1SEND_B0,1F1,1I1,1SEND_B1,1W0,1W1\n");
    CHECK_TEXT(ovl_schedule_print_csv(&x.s, OVL_CSV_OLD, &x.arena),
               "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0BW0,0RECV_B1,0BW1\n"
               "1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1,1W0,1W1\n");
    ovl_arena_free(&x.arena);
}

/* What is there stays as it is; without shards nothing is gathered. */
static void data_parallelism_is_added_once(void)
{
    bench x = {0};
    const ovl_schedule_shards window = {.sharded = true, .active = 3}, whole = {0};
    const char *sharded = "0UNSHARD,0F0,0B0,0REDUCE_GRAD,0RESHARD\n";
    CHECK(read_csv(&x, "0F0,0B0\n"));
    ovl_schedule_add_data(&x.s, &window, &x.arena);
    CHECK_TEXT(printed(&x), sharded);
    ovl_schedule_add_data(&x.s, &window, &x.arena);
    CHECK_TEXT(printed(&x), sharded);
    CHECK(read_csv(&x, "0F0,0B0\n"));
    ovl_schedule_add_data(&x.s, &whole, &x.arena);
    CHECK_TEXT(printed(&x), "0F0,0B0,0REDUCE_GRAD\n");
    CHECK(!ovl_schedule_has(&x.s, OVL_ACT_SEND_F, OVL_ACT_RECV_B));
    CHECK(ovl_schedule_has(&x.s, OVL_ACT_RESHARD, OVL_ACT_REDUCE_GRAD));
    ovl_arena_free(&x.arena);
}

/* DualPipe on 2 ranks: stages 2 and 3 are the second copy, from rank 1 to rank 0, with the later
 * half of the microbatches. */
static void two_copies_of_a_model_are_seen(void)
{
    bench x = {0};
    const char *dual = "0F0,3F1,3B1,0B0\n2F1,1F0,1B0,2B1\n";
    CHECK(read_csv(&x, dual));
    CHECK_INT(x.s.n_chains, 2);
    CHECK(ovl_schedule_check(&x.s, true, (ovl_mark){0}, &x.errs));
    CHECK_TEXT(printed(&x), dual);
    static const char *const single[] = {
        "0F0,3F0,3B0,0B0,0F1,3F1,3B1,0B1\n1F0,2F0,2B0,1B0,1F1,2F1,2B1,1B1\n", /* a V */
        "0F0,2F1,2B1,0B0\n3F1,1F0,1B0,3B1\n",         /* the copies enter at the same end */
        "0F0,3F1,3B1,0B0,0F1,0B1\n2F1,1F0,1B0,2B1\n", /* 0F1 is of the other half */
    };
    for (size_t k = 0; k < OVL_COUNT(single); k++) {
        CHECK(read_csv(&x, single[k]));
        CHECK_INT(x.s.n_chains, 1);
        CHECK_INT(ovl_schedule_check(&x.s, true, (ovl_mark){0}, &x.errs), k == 0);
    }
    ovl_arena_free(&x.arena);
}

static void gradients_are_reduced_after_the_last_backward(void)
{
    bench x = {0};
    CHECK(read_csv(&x, "0F0,0F1,1F0,1F1,1I0,1B1,,0B0,1W0,0B1\n"));
    ovl_schedule_reduce_grad(&x.s, &x.s, &x.arena);
    CHECK_TEXT(printed(&x), "0F0,0F1,1F0,1F1,1I0,1B1,0B0,1W0,1REDUCE_GRAD,0B1,0REDUCE_GRAD\n");
    CHECK(read_csv(&x, "0F0,1F0,(0F1;1B0)OVERLAP_F_B,1F1,1B1,0B0,0B1\n"));
    ovl_schedule_reduce_grad(&x.s, &x.s, &x.arena);
    CHECK_TEXT(printed(&x),
               "0F0,1F0,(0F1;1B0)OVERLAP_F_B,1F1,1B1,1REDUCE_GRAD,0B0,0B1,0REDUCE_GRAD\n");
    ovl_arena_free(&x.arena);
}

/* The next two stages of a rank that has three: 4 replaces 0 before 2F0, and so on. */
static void parameters_come_before_they_are_used(void)
{
    bench x = {0};
    const char *text = "0F0,2F0,,4F0,4B0,2B0,0B0\n1F0,3F0,5F0,5B0,3B0,1B0\n";
    CHECK(read_csv(&x, text));
    ovl_schedule_unshard(&x.s, 2, &x.s, &x.arena);
    CHECK_HAS(printed(&x), "0UNSHARD,2UNSHARD,0F0,0RESHARD,4UNSHARD,2F0,4F0,4B0,4RESHARD,0UNSHARD,"
                           "2B0,2RESHARD,0B0,0RESHARD\n1UNSHARD");
    CHECK(read_csv(&x, text));
    ovl_schedule_unshard(&x.s, 3, &x.s, &x.arena);
    CHECK_HAS(printed(&x), "0UNSHARD,2UNSHARD,4UNSHARD,0F0,2F0,4F0,4B0,4RESHARD,2B0,2RESHARD,0B0,"
                           "0RESHARD\n1UNSHARD");
    /* A pair looks at both of its stages: with room for one, both are there. */
    CHECK(read_csv(&x, "0F0,1F0,(0F1;1B0)OVERLAP_F_B,1F1,1B1,0B0,0B1\n"));
    ovl_schedule_unshard(&x.s, 1, &x.s, &x.arena);
    CHECK_TEXT(printed(&x), "0UNSHARD,0F0,0RESHARD,1UNSHARD,1F0,0UNSHARD,(0F1;1B0)OVERLAP_F_B,"
                            "0RESHARD,1F1,1B1,1RESHARD,0UNSHARD,0B0,0B1,0RESHARD\n");
    ovl_arena_free(&x.arena);
}

static CU_TestInfo tests[] = {
    {"what is read is printed again", what_is_read_is_printed_again},
    {"spreadsheets write it so", spreadsheets_write_it_so},
    {"both dialects mean the same", both_dialects_mean_the_same},
    {"texts behind an action are let be", texts_behind_an_action_are_let_be},
    {"mistakes have their place", mistakes_have_their_place},
    {"a blank line is a rank that does nothing", a_blank_line_is_a_rank_that_does_nothing},
    {"rules that are broken have their place", rules_that_are_broken_have_their_place},
    {"sends and receives match", sends_and_receives_match},
    {"sends and receives are those of PyTorch", sends_and_receives_are_those_of_pytorch},
    {"a pair sends both results", a_pair_sends_both_results},
    {"orders that wait for each other are told", orders_that_wait_for_each_other_are_told},
    {"inputs and weights merge", inputs_and_weights_merge},
    {"a merged backward sends once", a_merged_backward_sends_once},
    {"data parallelism is added once", data_parallelism_is_added_once},
    {"two copies of a model are seen", two_copies_of_a_model_are_seen},
    {"gradients are reduced after the last backward",
     gradients_are_reduced_after_the_last_backward},
    {"parameters come before they are used", parameters_come_before_they_are_used},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("schedules as text", tests);
}
