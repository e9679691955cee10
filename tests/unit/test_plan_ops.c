#include "tests/support/lowering.h"

#define MIB ((uint64_t)1 << 20)

/* A program on `ranks` ranks whose entries are `ops`. */
#define OPS(ranks, ops) "workload:\n  ranks: " #ranks "\n  ops:\n" ops

static void plain_operations(void)
{
    bench t = {0};
    CHECK(lower(&t,
                OPS(2, "    - {kernel: a, duration: 5 ms}\n"
                       "    - {collective: r, op: all_reduce, bytes: 8 MiB, duration: 2 ms, after: "
                       "a}\n"
                       "    - {copy: c, duration: 1 ms, direction: h2d}\n"
                       "    - {host: h, duration: 3 ms, after: [r, c]}\n"
                       "    - {marker: m, after: [r, 'none?']}\n"),
                NULL));
    CHECK_INT(t.p->n_codes, 1);
    CHECK_TEXT(sequence(&t, 1), "a | r | c | h | m");
    const ovl_code *code = code_of(&t, 0);
    CHECK_INT(code->n_streams, 3);
    CHECK_TEXT(OVL_NAME(t.p->names, code->streams[op_named(&t, 0, "a")->stream]), "compute");
    CHECK_TEXT(OVL_NAME(t.p->names, code->streams[op_named(&t, 0, "r")->stream]), "comm");
    CHECK_TEXT(OVL_NAME(t.p->names, code->streams[op_named(&t, 0, "c")->stream]), "copy");
    CHECK(op_named(&t, 0, "m")->stream == op_named(&t, 0, "a")->stream);
    CHECK(op_named(&t, 0, "h")->stream == OVL_NO_STREAM);
    CHECK_TEXT(waits(&t, 0, "h"), "r, c");
    CHECK_TEXT(waits(&t, 0, "m"), "r");
    CHECK_INT(cost_named(&t, 0, "a")->work, 5 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "a")->compute, 5 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "r")->work, 2 * OVL_MS);
    CHECK_INT(cost_named(&t, 0, "r")->latency, 0);
    CHECK_INT(kind_named(&t, 0, "c")->engine, 1);
    CHECK_INT(cost_named(&t, 0, "h")->work, 3 * OVL_MS);
    CHECK_INT(op_named(&t, 0, "r")->bytes, 8 * MIB);
    finish(&t);
}

/* Counters in names, waits and buffers; a wait on {i-1} is left out at first. */
static void repeats_are_unrolled(void)
{
    bench t = {0};
    const char *text = OPS(1, "    - repeat: 2\n"
                              "      as: l\n"
                              "      ops:\n"
                              "        - {kernel: 'f {l}', duration: 1 ms, after: ['g {l-1} 1?']}\n"
                              "        - repeat: 2\n"
                              "          ops:\n"
                              "            - {kernel: 'g {l} {i}', duration: 1 ms, stream: "
                              "'s{i+1}', after: 'f {l}'}\n");
    CHECK(lower(&t, text, NULL));
    CHECK_TEXT(sequence(&t, 0), "f 0 | g 0 0 | g 0 1 | f 1 | g 1 0 | g 1 1");
    CHECK_TEXT(waits(&t, 0, "f 0"), "");
    CHECK_TEXT(waits(&t, 0, "f 1"), "g 0 1");
    CHECK_TEXT(waits(&t, 0, "g 1 0"), "f 1");
    CHECK_TEXT(OVL_NAME(t.p->names, code_of(&t, 0)->streams[2]), "s2");
    CHECK_INT(t.p->n_costs, 1); /* six operations, one cost */
    CHECK(
        !lower(&t, OPS(1, "    - {repeat: 2, ops: [{kernel: 'a {k}', duration: 1 ms}]}\n"), NULL));
    CHECK_HAS(mistake(&t), "{k} is no counter of a repeat around this");
    CHECK(lower(&t, OPS(1, "    - {kernel: 'a {1} {b c} {', duration: 1 ms}\n"), NULL));
    CHECK_TEXT(sequence(&t, 0), "a {1} {b c} {");
    finish(&t);
}

/* `after` means the latest of a name that came before, also if it is the operation's own name. */
static void repeated_names(void)
{
    bench t = {0};
    CHECK(lower(&t,
                OPS(1, "    - {kernel: a, duration: 1 ms}\n"
                       "    - {kernel: a, duration: 2 ms, stream: s, after: a}\n"
                       "    - {kernel: b, duration: 3 ms, after: a}\n"),
                NULL));
    const ovl_code *code = code_of(&t, 0);
    CHECK_INT(ovl_code_after(code, 1).n, 1);
    CHECK_INT(1 + ovl_code_after(code, 1).by[0], 0);
    CHECK_INT(2 + ovl_code_after(code, 2).by[0], 1);
    finish(&t);
}

static void waits_that_cannot_be(void)
{
    bench t = {0};
    CHECK(!lower(&t,
                 OPS(1, "    - {kernel: first, duration: 1 ms, after: [second]}\n"
                        "    - {kernel: second, duration: 1 ms, stream: s}\n"),
                 NULL));
    CHECK_TEXT(mistake(&t), "4:47: \"second\" is issued later; a wait can only name what was "
                            "issued before");
    CHECK_INT(ovl_errs_status(&t.errs), OVL_E_INPUT);
    CHECK(!lower(&t,
                 OPS(1, "    - {kernel: first, duration: 1 ms, after: [second]}\n"
                        "    - {kernel: second, duration: 1 ms, stream: s, after: first}\n"),
                 NULL));
    CHECK_HAS(mistake(&t), "a cycle, the schedule cannot finish");
    CHECK_INT(ovl_errs_status(&t.errs), OVL_E_STUCK);
    CHECK(!lower(&t, OPS(1, "    - {kernel: first, duration: 1 ms, after: first}\n"), NULL));
    CHECK_HAS(mistake(&t), "\"first\" waits for itself");
    CHECK(!lower(&t,
                 OPS(1, "    - {kernel: first, duration: 1 ms}\n"
                        "    - {kernel: b, duration: 1 ms, after: frist}\n"),
                 NULL));
    CHECK_HAS(mistake(&t), "there is no operation \"frist\" to wait for; did you mean \"first\"?");
    finish(&t);
}

/* Ranks 1 and 3 have the same list, so do 0 and 2: two codes. */
static void ranks_with_equal_lists_share_a_code(void)
{
    bench t = {0};
    CHECK(lower(&t,
                OPS(4, "    - {kernel: all, duration: 1 ms}\n"
                       "    - {kernel: odd, duration: 1 ms, ranks: [1, 3]}\n"
                       "    - {kernel: odd too, duration: 1 ms, ranks: ['1', '3-3']}\n"
                       "    - {kernel: even, duration: 1 ms, ranks: [0, 2], after: all}\n"),
                NULL));
    CHECK_INT(t.p->n_codes, 2);
    CHECK_TEXT(sequence(&t, 2), "all | even");
    CHECK_TEXT(sequence(&t, 3), "all | odd | odd too");
    CHECK(!lower(&t, OPS(4, "    - {kernel: a, duration: 1 ms, ranks: [2-4]}\n"), NULL));
    CHECK_HAS(mistake(&t), "there is no rank 2-4; the last is 3");
    CHECK(!lower(&t, OPS(4, "    - {kernel: a, duration: 1 ms, ranks: [3-2]}\n"), NULL));
    CHECK_HAS(mistake(&t), "\"3-2\" is no rank and no range of ranks");
    /* A repeat's ranks hold for what is inside, and counters may choose ranks. */
    CHECK(lower(&t,
                OPS(4, "    - repeat: 3\n"
                       "      ranks: [0-1]\n"
                       "      ops: [{kernel: 'k{i}', duration: 1 ms, ranks: ['{i}']}]\n"),
                NULL));
    CHECK_INT(t.p->n_codes, 3);
    CHECK_TEXT(sequence(&t, 0), "k0");
    CHECK_TEXT(sequence(&t, 1), "k1");
    CHECK_TEXT(sequence(&t, 2), "");
    finish(&t);
}

static void durations_for_each_rank(void)
{
    bench t = {0};
    CHECK(lower(&t, OPS(3, "    - {kernel: a, duration: [1 ms, 2 ms, 3 ms]}\n"), NULL));
    CHECK_INT(t.p->n_codes, 1);
    CHECK(op_named(&t, 0, "a")->per_rank);
    CHECK_INT(cost_named(&t, 0, "a")->work, OVL_MS);
    CHECK_INT(cost_named(&t, 2, "a")->work, 3 * OVL_MS);
    finish(&t);
}

static void buffers_come_and_go(void)
{
    bench t = {0};
    const char *text = "workload:\n"
                       "  buffers:\n"
                       "    unused: {bytes: 1 MiB}\n"
                       "    weights: {bytes: 8 MiB, category: parameter, held: true}\n"
                       "    temp: {bytes: 4 MiB, late: true}\n"
                       "  ops:\n"
                       "    - {kernel: a, duration: 1 ms, reads: weights}\n"
                       "    - {alloc: temp}\n"
                       "    - {kernel: b, duration: 1 ms, stream: side, writes: temp}\n"
                       "    - {free: [temp]}\n"
                       "    - {alloc: temp}\n"
                       "    - {kernel: c, duration: 1 ms, writes: temp}\n";
    CHECK(lower(&t, text, NULL));
    const ovl_code *code = code_of(&t, 0);
    CHECK_INT(code->n_buffers, 3); /* weights, temp, temp again; unused is not there */
    CHECK(code->buffers[0].held);
    CHECK_INT(code->buffers[0].alloc, 0);
    CHECK_INT(code->buffers[1].alloc, 1);
    CHECK_INT(code->buffers[1].freed, 2);
    CHECK_TEXT(OVL_NAME(t.p->names, code->streams[code->buffers[1].stream]), "side");
    CHECK_INT(code->buffers[2].alloc, 2);
    CHECK_INT(code->buffers[2].freed, OVL_NONE);
    CHECK_INT(code->access.item[code->access.at[2]].buffer, 2);
    CHECK(!lower(&t, text, "workload.ops.b.writes=[tmp]"));
    CHECK_HAS(mistake(&t), "there is no buffer \"tmp\"; did you mean \"temp\"?");
    CHECK(!lower(&t, text, "workload.ops.a.writes=[temp]"));
    CHECK_HAS(mistake(&t), "buffer \"temp\" is used before an alloc entry allocates it");
    CHECK(!lower(&t, text, "workload.ops[4]={free: temp}"));
    CHECK_HAS(mistake(&t), "\"temp\" is not allocated here: it was freed before");
    CHECK(!lower(&t, text, "workload.ops[4]={kernel: x, duration: 1 ms, reads: temp}"));
    CHECK_HAS(mistake(&t), "buffer \"temp\" is used after it was freed");
    CHECK(!lower(&t, text, "workload.ops[4]={alloc: weights}"));
    CHECK_HAS(mistake(&t), "\"weights\" is already allocated here, since it is at the start");
    finish(&t);
}

static void effects_of_operations(void)
{
    bench t = {0};
    const char *text =
        "workload:\n"
        "  ranks: 2\n"
        "  buffers: {g: {bytes: 8 MiB}, b: {bytes: 8 MiB}, out: {bytes: 8 MiB}}\n"
        "  ops:\n"
        "    - {kernel: back, duration: 1 ms, resets: [b], produces: {into: g, gradients: [w1, "
        "w2], "
        "microbatch: 3, scale: 1/2}}\n"
        "    - {kernel: more, duration: 1 ms, produces: {into: g, gradients: [w1], add: true}}\n"
        "    - {kernel: pack, duration: 1 ms, packs: {from: [g], into: b, scale: 1/2}}\n"
        "    - {collective: ar, op: all_reduce, bytes: 8 MiB, duration: 1 ms, reads: b, writes: "
        "out, after: pack, average: true}\n"
        "    - {kernel: opt, duration: 1 ms, consumes: out, after: ar}\n";
    CHECK(lower(&t, text, NULL));
    const ovl_code *code = code_of(&t, 0);
    CHECK_INT(code->effect.at[code->n_ops], 7);
    const ovl_effect *e = code->effect.item;
    CHECK(e[0].kind == OVL_RESET && e[1].kind == OVL_PRODUCE && e[2].kind == OVL_PRODUCE);
    CHECK_INT(e[1].microbatch, 3);
    CHECK_NEAR(e[1].scale, 0.5, 0);
    CHECK_TEXT(OVL_NAME(t.p->names, e[2].gradient), "w2");
    CHECK(e[3].kind == OVL_ADD);
    CHECK(e[4].kind == OVL_PACK && e[4].source == e[3].buffer);
    CHECK(e[5].kind == OVL_SUM && e[5].source == e[4].buffer && e[5].buffer != e[5].source);
    CHECK(e[6].kind == OVL_CONSUME && e[6].buffer == e[5].buffer);
    CHECK(op_named(&t, 0, "ar")->average);
    /* `more` adds: it reads and writes g. */
    CHECK_INT(code->access.at[2] - code->access.at[1], 2);
    CHECK(!lower(&t, text, "workload.ops.ar.writes=[out, g]"));
    CHECK_HAS(mistake(&t), "reads 1 buffers and writes 2");
    CHECK(lower(&t, text,
                "workload.ops.ar={collective: ar, op: all_reduce, bytes: 8 MiB, duration: 1 ms, "
                "buffer: out}"));
    finish(&t);
}

static void sends_receives_and_batches(void)
{
    bench t = {0};
    const char *text =
        "hardware: {collectives: [{op: send_recv, alpha: 1 ms, beta: 1 MiB/ms, sms: 2, eager: "
        "true}]}\n"
        "workload:\n"
        "  ranks: 4\n"
        "  groups: {pairs: [[0, 1], [3, 2]], ring: all}\n"
        "  ops:\n"
        "    - {send: s, to: 1, group: pairs, bytes: 2 MiB, ranks: [0, 3]}\n"
        "    - {recv: r, from: 0, group: pairs, bytes: 2 MiB, ranks: [1, 2]}\n"
        "    - {kernel: k, duration: 1 ms}\n"
        "    - {kernel: l, duration: 1 ms, stream: side}\n"
        "    - batch: b\n"
        "      after: k\n"
        "      parts:\n"
        "        - {send: out, to: +1, group: ring, bytes: 1 MiB, after: l}\n"
        "        - {recv: in, from: -1, group: ring, bytes: 1 MiB}\n";
    CHECK(lower(&t, text, NULL));
    CHECK_INT(t.p->n_codes, 2);
    CHECK_TEXT(sequence(&t, 2), "r | k | l | b | out | in");
    CHECK_INT(op_named(&t, 3, "s")->peer, 1);
    CHECK(op_named(&t, 3, "s")->eager && op_named(&t, 2, "r")->eager);
    CHECK_INT(cost_named(&t, 0, "s")->work, 2 * OVL_MS);
    CHECK_INT(cost_named(&t, 2, "r")->work, 0);
    CHECK_INT(kind_named(&t, 2, "r")->sms, 2);
    const ovl_op *out = op_named(&t, 0, "out"), *in = op_named(&t, 0, "in");
    CHECK(out->peer_relative && out->peer == 1 && in->peer_relative && in->peer == -1);
    CHECK_INT(out->behind, find_op(&t, 0, "out") - find_op(&t, 0, "b"));
    CHECK(out->stream == OVL_NO_STREAM);
    CHECK(op_named(&t, 0, "b")->comm == out->comm);
    CHECK_TEXT(waits(&t, 0, "b"), "k, l");
    CHECK(!lower(&t, text, "workload.ops.s.to=2"));
    CHECK_HAS(mistake(&t), "the group has no such member");
    CHECK(!lower(&t, text, "workload.ops.s.to=+2"));
    CHECK_HAS(mistake(&t), "cannot exchange with itself");
    CHECK(!lower(&t, text, "workload.ops.s.group=null"));
    CHECK_HAS(mistake(&t), "say which group: there are \"pairs\" and \"ring\"");
    CHECK(!lower(&t, text, "workload.ops.s.group=pair"));
    CHECK_HAS(mistake(&t), "there is no group \"pair\"; did you mean \"pairs\"?");
    CHECK(!lower(&t, text, "workload.groups.pairs=[0, 1]"));
    CHECK_HAS(mistake(&t), "rank 2 has \"r\" but is not in group \"pairs\"");
    finish(&t);
}

/* Members of communicators of different size pay different costs: 2 * (n - 1) a of a ring. */
static void costs_follow_the_size_of_the_group(void)
{
    bench t = {0};
    CHECK(lower(&t,
                "hardware:\n"
                "  links: {l: {bandwidth: 1 GB/s, latency: 1 ms}}\n"
                "  collectives: [{op: all_reduce, via: l, algorithm: ring}]\n"
                "workload:\n"
                "  ranks: 5\n"
                "  groups: {g: [[0, 1], [2, 3, 4]]}\n"
                "  ops: [{collective: ar, op: all_reduce, bytes: 1 MiB}]\n",
                NULL));
    CHECK_INT(t.p->n_codes, 2);
    CHECK_INT(cost_named(&t, 1, "ar")->latency, 2 * OVL_MS);
    CHECK_INT(cost_named(&t, 4, "ar")->latency, 4 * OVL_MS);
    finish(&t);
}

static void costs_that_are_missing(void)
{
    bench t = {0};
    CHECK(!lower(&t, OPS(1, "    - {kernel: a}\n"), NULL));
    CHECK_TEXT(mistake(&t), "4:7: \"a\" has no cost: give a duration, or flops and hbm bytes");
    CHECK(!lower(&t,
                 "hardware: {collectives: [{op: all_gather, group: tp, alpha: 1 ms}]}\n" OPS(
                     2, "    - {collective: a, op: all_reduce, bytes: 1 MiB}\n"),
                 NULL));
    CHECK_HAS(mistake(&t), "\"a\" has no cost");
    CHECK_HAS(mistake(&t), "{op: all_reduce, group: world}");
    CHECK_HAS(mistake(&t), "the hardware has all_gather in tp");
    CHECK(!lower(&t,
                 "hardware: {collectives: [{op: all_reduce, beta: 1 GB/s}]}\n" OPS(
                     2, "    - {collective: a, op: all_reduce}\n"),
                 NULL));
    CHECK_HAS(mistake(&t), "\"a\" has no bytes and no duration");
    CHECK(lower(&t,
                OPS(2, "    - {collective: a, op: all_reduce, bytes: 4 MiB, alpha: 1 ms, beta: 2 "
                       "MiB/ms}\n"),
                NULL));
    CHECK_INT(cost_named(&t, 0, "a")->latency, OVL_MS);
    CHECK_INT(cost_named(&t, 0, "a")->work, 2 * OVL_MS);
    finish(&t);
}

/* 100,000,000 repeats are refused before they are made. */
static void limits(void)
{
    bench t = {0};
    CHECK(!lower(&t,
                 OPS(1, "    - {repeat: 100000, ops: [{repeat: 1000, ops: [{kernel: a, duration: "
                        "1 ms}]}]}\n"),
                 NULL));
    CHECK_HAS(mistake(&t), "more than 20000000 operations");
    CHECK(!lower(&t, OPS(100000, "    - {repeat: 10000, ops: [{kernel: a, duration: 1 ms}]}\n"),
                 NULL));
    CHECK_HAS(mistake(&t), "over all ranks there are more than 200000000 operations");
    CHECK(!lower(&t,
                 OPS(30000, "    - {repeat: 30000, ops: [{kernel: 'a{i}', duration: 1 ms, ranks: "
                            "'{i}'}, {kernel: 'a{i}', duration: 1 ms, after: nothing}]}\n"),
                 NULL));
    finish(&t);
}

/* 1,000 ranks x 1,000 operations, the same on all and different on each. */
static void a_thousand_by_a_thousand(void)
{
    bench t = {0};
    const char *text = OPS(1000, "    - repeat: 500\n"
                                 "      ops:\n"
                                 "        - {kernel: 'k {i}', duration: 1 ms}\n"
                                 "        - {kernel: 'l {i}', duration: 1 ms, after: 'k {i}', "
                                 "stream: s}\n");
    CHECK(lower(&t, text, NULL));
    CHECK_INT(t.p->n_codes, 1);
    CHECK_INT(t.p->n_ops, 1000000);
    text = OPS(1000, "    - repeat: 1000\n"
                     "      as: r\n"
                     "      ranks: '{r}'\n"
                     "      ops: [{repeat: 1000, ops: [{kernel: 'k {i}', duration: 1 ms}]}]\n");
    CHECK(!lower(&t, text, NULL)); /* a repeat's own ranks are outside its counter */
    text = OPS(1000, "    - repeat: 1000\n"
                     "      as: r\n"
                     "      ops: [{repeat: 1000, ranks: '{r}', ops: [{kernel: 'k {i}', duration: 1 "
                     "ms}]}]\n");
    CHECK(lower(&t, text, NULL));
    CHECK_INT(t.p->n_codes, 1000);
    CHECK_INT(t.p->n_ops, 1000000);
    finish(&t);
}

#define PAIR "workload:\n  ranks: 2\n  groups: {dp: all}\n  ops:\n"

/* The send says how long a transfer takes; a receive may repeat it. */
static void a_receive_may_not_contradict_its_send(void)
{
    static const char text[] =
        PAIR "    - {send: s, to: 1, bytes: 1 MiB, duration: 2 ms, ranks: 0}\n"
             "    - {recv: r, from: 0, bytes: 1 MiB, ranks: 1}\n";
    bench t = {0};
    CHECK(lower(&t, text, NULL));
    CHECK(lower(&t, text, "workload.ops.r.duration=2 ms"));
    CHECK(!lower(&t, text, "workload.ops.r.duration=3 ms"));
    CHECK_TEXT(mistake(&t),
               "6:7: receive \"r\" on rank 1 takes 3 ms, but its send \"s\" on rank 0 takes "
               "2 ms (line 5, column 7); a transfer takes what its send says");
    CHECK_INT(t.errs.items[0].mark.line, 6);
    CHECK(!lower(&t, text, "workload.ops.r.alpha=2 ms"));
    CHECK_HAS(mistake(&t), "takes 2 ms + 0 s, but");
    finish(&t);
}

/* Two codes, and one code with a list: 2 ms and 3 ms cannot both be. */
static void members_state_one_time(void)
{
    static const char two[] =
        PAIR "    - {collective: a, op: all_reduce, bytes: 1 MiB, duration: 2 ms, ranks: 0}\n"
             "    - {collective: a, op: all_reduce, bytes: 1 MiB, duration: 3 ms, ranks: 1}\n";
    static const char list[] =
        PAIR "    - {collective: a, op: all_reduce, bytes: 1 MiB, duration: [2 ms, 3 ms]}\n";
    bench t = {0};
    CHECK(!lower(&t, two, NULL));
    CHECK_TEXT(
        mistake(&t),
        "6:7: all_reduce \"a\" takes 3 ms on rank 1 but 2 ms on rank 0 (line 5, column 7); it is "
        "over on all members at once, so they must state one time");
    CHECK_INT(t.errs.items[0].mark.line, 6);
    CHECK_INT(t.errs.items[0].code, OVL_E_INPUT);
    CHECK(!lower(&t, list, NULL));
    CHECK_HAS(mistake(&t), "takes 3 ms on rank 1 but 2 ms on rank 0");
    CHECK(lower(&t, list, "workload.ops.a.duration=[2 ms, 2 ms]"));
    /* Communicators of one rank each need not agree. */
    CHECK(lower(&t, list, "workload.groups.dp=[[0], [1]]"));
    finish(&t);
}

/* a 2 ms; the collective waits for it, 3 ms; the next step's a does not wait for it: steps end at 5
 * and 8, for the collectives follow each other. What is optional in the first step is there in the
 * second. */
static void steps_repeat_the_program(void)
{
    bench t = {0};
    const char *text = "workload:\n"
                       "  ranks: 2\n"
                       "  steps: 2\n"
                       "  groups: {dp: all}\n"
                       "  ops:\n"
                       "    - {kernel: a, duration: 2 ms, after: \"b?\"}\n"
                       "    - {kernel: b, duration: 1 us, stream: side}\n"
                       "    - {collective: c, op: all_reduce, duration: 3 ms, after: a}\n";
    CHECK(lower(&t, text, NULL));
    CHECK_TEXT(sequence(&t, 0), "a | b | c | step end | a | b | c | step end");
    CHECK_INT(t.p->n_steps, 2);
    CHECK_TEXT(waits(&t, 0, "step end"), "a, b, c");
    CHECK(analyse(&t));
    CHECK_INT(t.result.step, 3 * OVL_MS);
    CHECK_INT(t.result.step_times[0], 5 * OVL_MS);
    finish(&t);
}

/* Four ranks on two nodes, each sends to the next: 0 -> 1 and 2 -> 3 stay on a node, 1 -> 2
 * crosses. The group has members on two nodes, but a message costs by the two that talk. */
static void a_send_costs_by_the_two_that_talk(void)
{
    bench t = {0};
    const char *text = "hardware:\n"
                       "  node: {gpus: 2}\n"
                       "  collectives:\n"
                       "    - {op: send_recv, nodes: one, alpha: 1 ms}\n"
                       "    - {op: send_recv, nodes: several, alpha: 10 ms}\n"
                       "workload:\n"
                       "  ranks: 4\n"
                       "  groups: {ring: all}\n"
                       "  ops:\n"
                       "    - repeat: 2\n"
                       "      ops:\n"
                       "        - {send: s, to: +1, group: ring, bytes: 1 MiB}\n"
                       "        - {recv: r, from: -1, group: ring, bytes: 1 MiB}\n"
                       "    - {send: back, to: 0, group: ring, bytes: 1 MiB, ranks: [1, 2]}\n"
                       "    - {recv: back 1, from: 1, group: ring, bytes: 1 MiB, ranks: [0]}\n"
                       "    - {recv: back 2, from: 2, group: ring, bytes: 1 MiB, ranks: [0]}\n";
    CHECK(lower(&t, text, NULL));
    CHECK_INT(cost_named(&t, 0, "s")->latency, 1 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "s")->latency, 10 * OVL_MS);
    CHECK_INT(cost_named(&t, 2, "s")->latency, 1 * OVL_MS);
    CHECK_INT(cost_named(&t, 3, "s")->latency, 10 * OVL_MS);
    CHECK_INT(cost_named(&t, 1, "back")->latency, 1 * OVL_MS);
    CHECK_INT(cost_named(&t, 2, "back")->latency, 10 * OVL_MS);
    finish(&t);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a send costs by the two that talk", a_send_costs_by_the_two_that_talk},
        {"steps repeat the program", steps_repeat_the_program},
        {"operations of every kind", plain_operations},
        {"repeats are unrolled", repeats_are_unrolled},
        {"a wait means the latest of a name", repeated_names},
        {"waits that cannot be are told apart", waits_that_cannot_be},
        {"ranks with equal lists share a code", ranks_with_equal_lists_share_a_code},
        {"a duration for each rank", durations_for_each_rank},
        {"buffers come and go", buffers_come_and_go},
        {"effects of operations", effects_of_operations},
        {"sends, receives and batches", sends_receives_and_batches},
        {"costs follow the size of the group", costs_follow_the_size_of_the_group},
        {"costs that are missing", costs_that_are_missing},
        {"limits hold before memory does", limits},
        {"a thousand ranks by a thousand operations", a_thousand_by_a_thousand},
        {"a receive may not contradict its send", a_receive_may_not_contradict_its_send},
        {"the members of a collective state one time", members_state_one_time},
        CU_TEST_INFO_NULL,
    };
    return check_main("plan_ops", tests);
}
