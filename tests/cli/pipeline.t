A small pipeline is drawn; why its ranks idle is told in two accounts that both sum to the idle time.

$ ovl run scenarios/pipeline/why_idle.yaml:all --worth none
Why a pipeline idles
variant all, 4 ranks, interference shared

step 55.2 ms = 51.2 ms + 2 ms exposed + 2 ms from 0B7 on (0RECV_B7 ends at 53.2 ms; 0B7 could start
     at 51.2 ms)

Decomposition of rank 0 (ms)
  55.2 = 24 + 2 + 29.2
                time      %
  compute       24.0   43.5  kernels, at isolated speed
  comm latency   2.0    3.6  communication in its latency; no kernel runs
  idle          29.2   52.9  nothing runs, or a send or receive waits for its peer
  = step        55.2  100.0

Communication of rank 0
  2 ms = 0 ms hidden under kernels + 2 ms uncovered, with no kernel beside it
  16 startups

Price of interference (model shared)
  0: the step is as long without it

Collectives and receives of rank 0: recv in stage 1 to 0 (times in ms, busbw in GB/s)
  name      bytes  ready  queue  wait  start    end  exposed  slack
  0RECV_B0    0 B      0   6.30  8.65  14.95  15.20     8.20   2.50
  0RECV_B1    0 B      0  15.20  5.75  20.95  21.20     3.00   2.50
  0RECV_B2    0 B      0  21.20  5.75  26.95  27.20     3.00   2.50
  0RECV_B3    0 B      0  27.20  5.75  32.95  33.20     3.00   2.50
  0RECV_B4    0 B      0  33.20  5.75  38.95  39.20     3.00   8.00
  0RECV_B5    0 B      0  39.20  5.75  44.95  45.20     4.00   4.00
  0RECV_B6    0 B      0  45.20  3.75  48.95  49.20     2.00   2.00
  0RECV_B7    0 B      0  49.20  3.75  52.95  53.20     2.00      0  *
  start = ready + queue + wait; exposed: its end beyond the moment its consumer could start
  otherwise; delay: how much later that moment is than if all of this name were free, on every rank
  (what they slowed, what queued behind them); worth: how much shorter the step is if they are; *:
  on the critical path
  40 rows on other ranks: --json; the most exposed of them is 3RECV_F0 on rank 3, 4.05 ms

Schedule
  0  .F0.F.F2F3................B0--F.....B1--F5.....B2-F6.....B3--F.....B4--.......B5-....B6-....B7-
  1  ...F0--F1-F2--.....B0-----F3-B1-----F4-B2-----F5--B3-----F6-B4-----F7-B5-----B6-----B7-----....
  2  .......F0..F...B0-F2B1--......FB2--.....F4B3-.....F5B4-......FB5--.....F7B6-...B7-.............
  3  .........F0B0--FB1--.FB2--......FB3--.....F4B4-.....F5B5--.....FB6--.....F7B7-.................
  a column is 581.053 us; F forward, B backward, and the microbatch, as far as it fits; . idle

Idle of the ranks: no kernel runs (times in ms)
  rank 0: 31.2 ms = 29.2 ms idle in its decomposition + 2 ms comm latency
  rank   idle     %  fill  drain  imbalance  dependency  host   span  bubble %
     0  31.20  56.5        11.25      15.55        2.50  1.90  54.50      56.0
     1   7.20  13.0  1.00   4.50                   1.00  0.70  51.00       5.9
     2  31.20  56.5  2.50   7.50      17.50        3.00  0.70  43.50      44.8
     3  31.20  56.5  3.75   7.50      15.25        4.00  0.70  40.00      40.0
  fill, drain: waits for a forward, or not, that remain with all stages alike; imbalance: for stages
  longer than the mean; dependency: for transfers and what blocks them; schedule: for transfers
  issued late; host: for the host; span: from the first kernel to the last, bubble: what of it is
  idle
  imbalance, all of it: stage 1 on rank 1 takes longer than the mean (48.3 ms over all ranks)
  dependency, the largest part: transfer 1SEND_F3 from rank 1 to 2; 6 more like it (3.375 ms of 10.5
    ms over all ranks)
  host, all of it: launch of 0F0 on rank 0; 3 more like it (4 ms over all ranks)
  all ranks: 100.8 ms = 45 ms structural (stages like their mean, communication and copies that take
    no time and keep no order, free host) + 47 ms with the stages as they are + 6 ms with
    communication + 2.8 ms with the host
  bubble rate 45.7 % of the step (55.2 ms), 45.0 % of the largest span (54.5 ms, rank 0, from its
    first kernel to its last)

What would help, each simulated (times in ms)
  against         change                                 takes           now   then      %  idle %
  imbalance       all stages like their mean             the step      55.20  45.95  -16.8    34.7
  fill and drain  16 microbatches instead of 8           a microbatch   6.90   6.45   -6.5    41.9
  dependency      free communication, in the same order  the step      55.20  53.70   -2.7    44.1
  host            a host twice as fast                   the step      55.20  54.85   -0.6    45.3
  Tried, and no help: each transfer as soon as its input is there; one after another where its
    communicator loads no link (no change).
  Another split into stages is not tried: the scenario gives whole stages. Give workload.layers
  instead, and overlap.pipeline.split says how they are shared.

Critical path (times in ms)
  start    end   took  rank  stream   operation        started
      0   0.70   0.70     0  host     issue 0F0        start
   0.70   1.70   1.00     0  compute  0F0              host
   1.70   1.95   0.25     0  wire     0SEND_F0         after: 0F0
   1.95   3.95   2.00     1  compute  1F0              after: 1RECV_F0
   3.95   4.20   0.25     1  wire     1SEND_F0         after: 1F0
   4.20   5.20   1.00     2  compute  2F0              after: 2RECV_F0
   5.20   5.45   0.25     2  wire     2SEND_F0         after: 2F0
   5.45   8.45   3.00     3  compute  3F0 .. 3B0 (2)   after: 3RECV_F0
   8.45   8.70   0.25     3  wire     3SEND_B0         after: 3B0
   8.70  10.70   2.00     2  compute  2B0              after: 2RECV_B0
  10.70  10.95   0.25     2  wire     2SEND_B0         after: 2B0
  10.95  52.95  42.00     1  compute  1B0 .. 1B7 (13)  after: 1RECV_B0
  52.95  53.20   0.25     1  wire     1SEND_B7         after: 1B7
  53.20  55.20   2.00     0  compute  0B7              after: 0RECV_B7
                55.20                 = step

Host (times in ms)
  rank  issuing  blocked   free  GPU waits  ahead min   mean
  2       33.60        0  21.60       6.70       0.95   6.96
  1       33.60        0  21.60       4.95          0   7.87
  0       22.40        0  32.80       2.30          0  13.61
  3       22.40        0  32.80       0.70       3.70  11.62
  issuing + blocked (calls that wait for the GPU) + free (all is issued) = 55.2, the step; GPU
  waits: no kernel runs though an operation lacks only its launch; ahead: from launch to start

Peak memory
  rank   live       at  allocated  before issuing  reserved
  0     4 GiB   4.9 ms      4 GiB  0F3                4 GiB
  1     3 GiB  5.95 ms      3 GiB  1F2                3 GiB
  2     2 GiB   6.2 ms      2 GiB  2F1                2 GiB
  3     1 GiB  5.45 ms      1 GiB  3F0                1 GiB
  rank 0, live and allocated peak 4 GiB at 4.9 ms, when 0F3 starts (before issuing 0F3, the host at
    4.2 ms): activations 0 mb 0 1 GiB (activation) + activations 0 mb 1 1 GiB (activation) +
    activations 0 mb 2 1 GiB (activation) + activations 0 mb 3 1 GiB (activation) = 4 GiB
    to lower it, the last use of activations 0 mb 0, by 0B0 (ends at 17.2 ms), would have to come
    before activations 0 mb 3 is needed
  rank 0, reserved peak 4 GiB at the allocated peak: buffers alone

Hazards: none
  32 pairs of accesses to buffers, all ordered
  22 buffers get the memory of one freed before, each after its last use

Not modelled
  - HBM sharing is not modelled: the hardware gives no gpu.hbm.
  - SM limits are not modelled: the hardware gives no gpu.sms.
  - The bytes of send_recv are not known, so it loads no link.
$ ovl run scenarios/pipeline/why_idle.yaml --variant slow --worth none --gaps | sed -n '/^Gaps/,/^$/p'
Gaps, the longest (times in ms)
  rank start   end until   is                          because
     3 43.00 53.00 the end 7.50 drain + 2.50 imbalance stage 1 on rank 1 takes longer than the mean
     0  4.00 13.00 0B0     7.50 drain + 1.50 imbalance stage 1 on rank 1 takes longer than the mean
     2 45.00 53.00 the end 5.00 drain + 3.00 imbalance stage 1 on rank 1 takes longer than the mean
     0 39.00 43.00 0B5     1.25 drain + 2.75 imbalance stage 1 on rank 1 takes longer than the mean
     3     0  4.00 3F0     3.75 fill + 0.25 imbalance  stage 1 on rank 1 takes longer than the mean
     0 16.00 19.00 0B1     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     0 22.00 25.00 0B2     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     0 28.00 31.00 0B3     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     0 34.00 37.00 0B4     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     2     0  3.00 2F0     2.50 fill + 0.50 imbalance  stage 1 on rank 1 takes longer than the mean
     2 12.00 15.00 2F3     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     2 18.00 21.00 2F4     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     2 24.00 27.00 2F5     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     2 30.00 33.00 2F6     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     2 36.00 39.00 2F7     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     3 13.00 16.00 3F3     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     3 19.00 22.00 3F4     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     3 25.00 28.00 3F5     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     3 31.00 34.00 3F6     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
     3 37.00 40.00 3F7     3.00 imbalance              stage 1 on rank 1 takes longer than the mean
  20 of 28 gaps; all of them: --json

$ ovl export --trace scenarios/pipeline/why_idle.yaml | grep '"pid": 4' | grep -v '"X"'
    {"ph": "M", "pid": 4, "tid": 4000, "name": "process_name", "args": {"name": "pipeline"}},
    {"ph": "M", "pid": 4, "tid": 4000, "name": "process_sort_index", "args": {"sort_index": 0}},
    {"ph": "M", "pid": 4, "tid": 4000, "name": "thread_name", "args": {"name": "stage 0, rank 0"}},
    {"ph": "M", "pid": 4, "tid": 4000, "name": "thread_sort_index", "args": {"sort_index": 0}},
    {"ph": "M", "pid": 4, "tid": 69537, "name": "thread_name", "args": {"name": "stage 1, rank 1"}},
    {"ph": "M", "pid": 4, "tid": 69537, "name": "thread_sort_index", "args": {"sort_index": 5}},
    {"ph": "M", "pid": 4, "tid": 135074, "name": "thread_name", "args": {"name": "stage 2, rank 2"}},
    {"ph": "M", "pid": 4, "tid": 135074, "name": "thread_sort_index", "args": {"sort_index": 10}},
    {"ph": "M", "pid": 4, "tid": 200611, "name": "thread_name", "args": {"name": "stage 3, rank 3"}},
    {"ph": "M", "pid": 4, "tid": 200611, "name": "thread_sort_index", "args": {"sort_index": 15}},
$ ovl export --trace scenarios/pipeline/why_idle.yaml | grep -c '"cname"'
128
$ ovl export --trace scenarios/pipeline/why_idle.yaml | grep '"name": "B 7"'
    {"ph": "X", "pid": 4, "tid": 4000, "ts": 31000.000, "cat": "backward", "name": "B 7", "dur": 2000.000, "cname": "rail_load", "args": {"start_ps": 31000000000, "end_ps": 33000000000, "part": "backward", "stage": 0, "microbatch": 7}},
    {"ph": "X", "pid": 4, "tid": 69537, "ts": 29000.000, "cat": "backward", "name": "B 7", "dur": 2000.000, "cname": "rail_load", "args": {"start_ps": 29000000000, "end_ps": 31000000000, "part": "backward", "stage": 1, "microbatch": 7}},
    {"ph": "X", "pid": 4, "tid": 135074, "ts": 27000.000, "cat": "backward", "name": "B 7", "dur": 2000.000, "cname": "rail_load", "args": {"start_ps": 27000000000, "end_ps": 29000000000, "part": "backward", "stage": 2, "microbatch": 7}},
    {"ph": "X", "pid": 4, "tid": 200611, "ts": 25000.000, "cat": "backward", "name": "B 7", "dur": 2000.000, "cname": "rail_load", "args": {"start_ps": 25000000000, "end_ps": 27000000000, "part": "backward", "stage": 3, "microbatch": 7}}

$ ovl run tests/cli/scheduled.yaml --worth none | sed -n '/^Schedule/,/^$/p'
Schedule
  0  F0--F1--........B0------....B1------
  1  ....F0--B0------F1--B1------........
  a column is 250 us; F forward, B backward, and the microbatch, as far as it fits; . idle
$ ovl run tests/cli/scheduled.yaml --variant wrong
tests/cli/wrong.csv:2:6: error: "1X0" is no action: after the stage comes a type such as F, I, W, B or SEND_F
? 3
$ ovl export --schedule csv tests/cli/scheduled.yaml
0F0,0F1,,0B0,,0B1
,1F0,1B0,1F1,1B1,
$ ovl export --schedule csv --lowered --dialect old tests/cli/scheduled.yaml -o "$T/lowered.csv" && cat "$T/lowered.csv"
0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0BW0,0RECV_B1,0BW1
1RECV_F0,1F0,1RECV_F1,1BW0,1SEND_B0,1F1,1BW1,1SEND_B1
$ ovl import tests/cli/schedule.csv -o "$T/imported.yaml" && cat "$T/imported.yaml" && ovl export --schedule csv --lowered "$T/imported.yaml"
# A schedule for 2 ranks, 2 stages and 2 microbatches.
# It says nothing of time and memory: put what was measured in place of 1 ms, and add activations, params, transfer.
name: "schedule"
hardware: {gpu: {name: example}}
mesh: {axes: {pp: 2}}
workload:
  stages:
    - {name: stage, repeat: 2, forward: 1 ms, backward_input: 1 ms, backward_weight: 1 ms}
overlap:
  pipeline:
    actions:
      - "0F0,0F1,,0B0,,0B1"
      - ",1F0,1B0,1F1,1B1,"
0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1
1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1
$ printf '\357\273\277"0F0","0B0"\r\n"1F0","1B0"\r\n' > "$T/quoted.csv" && ovl import "$T/quoted.csv" | grep '  - "'
      - "0F0,0B0"
      - "1F0,1B0"
$ ovl import tests/cli/wrong.csv
tests/cli/wrong.csv:2:6: error: "1X0" is no action: after the stage comes a type such as F, I, W, B or SEND_F
? 3
$ ovl import tests/cli/scheduled.yaml
tests/cli/scheduled.yaml:1:1: error: this is neither a trace nor a pipeline schedule: a row of one begins as in 0F0,0F1,0B0
? 3
$ ovl export --schedule csv scenarios/tutorial/first.yaml
error: "scenarios/tutorial/first.yaml" has no overlap.pipeline to export
? 2
$ ovl export --schedule csv --trace tests/cli/scheduled.yaml
error: --trace, --schedule and --store exclude each other
? 2
$ ovl check tests/cli/scheduled.yaml --set overlap.pipeline.schedule_file=schedule.csv
--set overlap.pipeline.schedule_file: error: a schedule file can be named in the scenario and its variants only
? 2
$ sed 's/schedule.csv/absent.csv/' tests/cli/scheduled.yaml >"$T/s.yaml" && cp tests/cli/wrong.csv "$T" && ovl check "$T/s.yaml"
$T/s.yaml:8:29: error: cannot read "$T/absent.csv": no such file
? 3

How many microbatches: a step of fewer is shorter, but does less.
$ ovl sweep scenarios/pipeline/which_schedule.yaml --over overlap.pipeline.microbatches=8,16,32 | sed -n '/^Best/,/^$/p'
Best: microbatches 32: per_microbatch 51.1875 ms, peak 15.88 GiB; the points do different work, 8 to
      32 microbatches: what one takes is compared, --objective step compares steps
$ ovl sweep scenarios/pipeline/which_schedule.yaml --over overlap.pipeline.microbatches=8,16,32 --objective per_microbatch | grep '^Best'
Best: microbatches 32: per_microbatch 51.1875 ms, peak 15.88 GiB
$ ovl sweep scenarios/pipeline/which_schedule.yaml --over overlap.pipeline.microbatches=8,16,32 --objective step | sed -n '/^Best/,/^$/p'
Best: microbatches 8: step 630 ms, peak 15.88 GiB; the points do different work, 8 to 32
      microbatches: --objective per_microbatch compares what is done
? 0

The chart is as wide as the terminal; where the output is none, as COLUMNS says, or 100 columns.

$ COLUMNS=60 ovl run tests/cli/scheduled.yaml --worth none | sed -n '/^Schedule/,/^$/p'
Schedule
  0  F0--F1--........B0------....B1------
  1  ....F0--B0------F1--B1------........
  a column is 250 us; F forward, B backward, and the
  microbatch, as far as it fits; . idle
$ COLUMNS=60 ovl run tests/cli/scheduled.yaml --worth none -o "$T/narrow" && grep 'a column' "$T/narrow"
  a column is 250 us; F forward, B backward, and the
$ COLUMNS=20 ovl run tests/cli/scheduled.yaml --worth none | sed -n '/^Schedule/,/^$/p'
Schedule
  0  FF..B0.B1
  1  .FB0FB1..
  a column is 1 ms;
  F forward, B
  backward, and the
  microbatch, as far
  as it fits; . idle
? 0

A table shows as many decimals as its times have.

$ ovl run tests/cli/sharded_pipeline.yaml --worth none --gaps | sed -n '/^Idle/,/^  fill/p; /^Gaps/,/^$/p'
Idle of the ranks: no kernel runs (times in ms)
  rank 0: 11 ms = 6 ms idle in its decomposition + 1.5 ms comm latency + 3.5 ms comm transfer
            rank  idle     %  fill  drain  dependency  span  bubble %
  0 (of 2 alike)  11.0  37.3          6.0         5.0  24.5      26.5
  2 (of 2 alike)  11.0  37.3   1.0    1.0         9.0  18.0       0.0
  fill, drain: waits for a forward, or not, that remain with all stages alike; imbalance: for stages
Gaps, the longest (times in ms)
  rank  start   end  until               is                          because
     0    6.0  10.0  backward l[1] mb 0  4.0 drain
     2      0   4.0  forward l[2] mb 0   1.0 fill + 3.0 dependency   all_gather gather l[1] mb 0
     2   25.5  29.5  the end             1.0 drain + 3.0 dependency  reduce_scatter reduce l[1] mb 2
     0   26.0  29.0  optimizer           3.0 dependency              reduce_scatter reduce l[1] mb 2
     2   22.0  25.0  optimizer           3.0 dependency              reduce_scatter reduce l[3] mb 2
     0   20.0  22.0  backward l[1] mb 2  2.0 drain
     0      0   1.5  forward l[0] mb 0   1.5 dependency              all_gather gather l[0] mb 0
     0    2.5   3.0  forward l[1] mb 0   0.5 dependency              all_gather gather l[1] mb 0
? 0

What a hop costs is told even where a search finds a worse list without hops; and even stages run
the better of the list found for them and the list of the run.

$ printf '%s\n' 'mesh: {axes: {pp: 8}}' 'workload: {stages: [{name: s, repeat: 8, forward: 18.522 ms, backward_input: 18.086 ms, backward_weight: 9.337 ms, activations: 201216 B, weight_activations: 73728 B}]}' 'overlap: {pipeline: {schedule: zb_2p, microbatches: 24, alpha: 0.601 ms}}' >"$T/hop.yaml"

$ ovl run "$T/hop.yaml" --what-if all | sed -n '/^Idle/,/^  rank  /p; /all ranks:/,/communication$/p; /^What/,/^$/p'
Idle of the ranks: no kernel runs (times in s)
  rank 5: 0.13389 s = 0.13028 s idle in its decomposition + 0.00361 s comm latency
  rank     idle     %     fill    drain  dependency     span  bubble %
  all ranks: 1.0711 s = 1.03723 s structural (stages like their mean, communication and copies that
    take no time and keep no order, free host) + 0.03387 s with communication
What would help, each simulated (times in s)
  against        change                                takes            now    then    % idle %
  fill and drain 48 microbatches instead of 24         a microbatch 0.05152 0.04873 -5.4    5.7
  dependency     free communication, in the same order the step     1.23657 1.23233 -0.3   10.5
  Tried, and no help: each transfer as soon as its input is there; one after another where its
    communicator loads no link (no change).

$ printf '%s\n' 'mesh: {axes: {pp: 4}}' 'workload:' '  stages:' '    - {name: a, forward: 27 us, backward_input: 54 us, backward_weight: 81 us}' '    - {name: b, forward: 30 us, backward_input: 60 us, backward_weight: 90 us}' '    - {name: c, repeat: 2, forward: 33 us, backward_input: 66 us, backward_weight: 99 us}' 'overlap: {pipeline: {schedule: zb_1p, microbatches: 7, alpha: 2 us}}' >"$T/even.yaml"

$ ovl run "$T/even.yaml" --what-if all | grep 'like their mean  '
  imbalance      all stages like their mean            the step     1.55800 1.48800 -4.5   13.2

$ ovl explain --limits "$T/even.yaml" | grep 'take the mean'
  1.488 0.070 kernels take the mean of the stages or ranks
? 0

A change that cannot be tried is told without what the scenario does already.

$ printf '%s\n' 'mesh: {axes: {pp: 4}}' 'workload: {stages: [{name: s, repeat: 8, forward: 1 ms, backward_input: 1 ms, backward_weight: 1 ms}]}' 'overlap: {pipeline: {schedule: dualpipev, microbatches: 8, alpha: 0.1 ms, communicators: one, receives: early}}' >"$T/one.yaml"

$ ovl run "$T/one.yaml" | sed -n '/Tried/,/^$/p'
  Tried, and no help: 16 microbatches instead of 8 (+1.8 %).
  Not tried is "receives posted right before what needs them": the next thing sent to where 6RECV_B0
  stands is for 1RECV_F6: sends meet receives in order.

$ ovl export --schedule csv --lowered "$T/one.yaml" -o "$T/one.csv"
10 of 22 W stood right behind their I and are one B with it, as PyTorch lowers them: their gradients are sent after W, so the step may be longer than that of the schedule; --no-merge keeps I and W apart
? 0

Two runs are compared by why the deciding rank idles, too.

$ ovl compare scenarios/pipeline/why_idle.yaml:base scenarios/pipeline/why_idle.yaml:all | sed -n '/^Why the/,/^$/p'
Why the deciding rank runs no kernel (ms)
                       a      b   b - a  because
  drain             9.00  11.25   +2.25
  imbalance            0  15.55  +15.55  stage 1 on rank 1 takes longer than the mean
  dependency           0   2.50   +2.50  transfer 1SEND_B0 from rank 1 to 0; 7 more like it
  host                 0   1.90   +1.90  launch of 0F0 on rank 0; 3 more like it
  = no kernel runs  9.00  31.20  +22.20

$ ovl compare --json scenarios/pipeline/why_idle.yaml:base scenarios/pipeline/why_idle.yaml:all | grep delta_idle
  "delta_idle_s": {"fill": 0.000000000000, "drain": 0.002250000000, "imbalance": 0.015550000000, "dependency": 0.002500000000, "schedule": 0.000000000000, "host": 0.001900000000, "pause": 0.000000000000, "idle": 0.022200000000},
