PyTorch's passes: I right before its W becomes B (old dialect: BW), then sends and receives. The digest is that of
pytorch test/distributed/pipelining/artifacts/zb1p_2rank_2stagep_comms.csv.

$ ovl export --schedule csv --lowered --dialect old tests/cli/schedules.yaml:zb1p -o "$T/zb1p.csv" && sha256sum <"$T/zb1p.csv" && cut -d, -f11-19 "$T/zb1p.csv"
16 of 32 W stood right behind their I and are one B with it, as PyTorch lowers them: their gradients are sent after W, so the step may be longer than that of the schedule; --no-merge keeps I and W apart
7ea26cdd136986442e160539817de920d00d2980fa395fb762ac154fbade807e  -
2RECV_B0,2BW0,2SEND_B0,0F2,0SEND_F2,2RECV_B1,2BW1,2SEND_B1,0F3
3SEND_B0,1RECV_B0,3F1,1RECV_F2,3B1,3SEND_B1,1RECV_B1,3W0,1RECV_F3
$ ovl export --schedule csv --lowered --no-merge tests/cli/schedules.yaml:zb1p | cut -d, -f11-19
2RECV_B0,2I0,2SEND_B0,2W0,2RECV_B1,0F2,0SEND_F2,2I1,2SEND_B1
3SEND_B0,1RECV_B0,3F1,3I1,3SEND_B1,1RECV_F2,3W0,1RECV_B1,1F2
$ ovl export --schedule csv --no-merge tests/cli/schedules.yaml:zb1p
error: --no-merge has no effect without --lowered
try: ovl export --help
? 2
$ ovl import tests/cli/schedule.csv -o "$T/s.yaml" && ovl export --schedule csv --lowered --no-merge "$T/s.yaml"
0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1
1RECV_F0,1RECV_F1,1F0,1B0,1SEND_B0,1F1,1B1,1SEND_B1

$ ovl export --schedule csv --lowered scenarios/pipeline/data_parallel.yaml:sharded -o "$T/d.csv" && cat "$T/d.csv"
0UNSHARD,0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0F2,0SEND_F2,0RECV_B1,0B1,0F3,0SEND_F3,0RECV_B2,0B2,0RECV_B3,0B3,0REDUCE_GRAD,0RESHARD
1UNSHARD,1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1RECV_F2,1B1,1SEND_B1,1F2,1RECV_F3,1B2,1SEND_B2,1F3,1B3,1SEND_B3,1REDUCE_GRAD,1RESHARD
$ ovl import "$T/d.csv" -o "$T/d.yaml" && ovl export --schedule csv --lowered "$T/d.yaml" | cmp - "$T/d.csv"
$ ovl export --schedule csv --lowered scenarios/pipeline/data_parallel.yaml
0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0F2,0SEND_F2,0RECV_B1,0B1,0F3,0SEND_F3,0RECV_B2,0B2,0RECV_B3,0B3,0REDUCE_GRAD
1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1RECV_F2,1B1,1SEND_B1,1F2,1RECV_F3,1B2,1SEND_B2,1F3,1B3,1SEND_B3,1REDUCE_GRAD

$ ovl export --schedule csv tests/cli/schedules.yaml -o "$T/dual.csv" && cat "$T/dual.csv"
0F0,0F1,0F2,7F4,7I4,7W4,7F5,(0F3;7B5)OVERLAP_F_B,(7F6;0B0)OVERLAP_F_B,7B6,(7F7;0B1)OVERLAP_F_B,7B7,0I2,0W2,0I3,0W3
1F0,6F4,1F1,6F5,1F2,6B4,(6F6;1B0)OVERLAP_F_B,(1F3;6B5)OVERLAP_F_B,(6F7;1B1)OVERLAP_F_B,6B6,1B2,6I7,1I3,6W7,1W3
5F4,2F0,5F5,2F1,5F6,2B0,(2F2;5B4)OVERLAP_F_B,(5F7;2B1)OVERLAP_F_B,(2F3;5B5)OVERLAP_F_B,2B2,5B6,2I3,5I7,2W3,5W7
4F4,4F5,4F6,3F0,3I0,3W0,3F1,(4F7;3B1)OVERLAP_F_B,(3F2;4B4)OVERLAP_F_B,3B2,(3F3;4B5)OVERLAP_F_B,3B3,4I6,4W6,4I7,4W7
$ ovl import "$T/dual.csv" -o "$T/dual.yaml" && head -8 "$T/dual.yaml" && ovl export --schedule csv "$T/dual.yaml" | cmp - "$T/dual.csv"
# A schedule for 4 ranks, 4 stages and 8 microbatches, in two copies of the model that enter at both ends.
# It says nothing of time and memory: put what was measured in place of 1 ms, and add activations, params, transfer.
name: "dual"
hardware: {gpu: {name: example}}
mesh: {axes: {pp: 4}}
workload:
  stages:
    - {name: stage, repeat: 4, forward: 1 ms, backward_input: 1 ms, backward_weight: 1 ms}
$ ovl export --schedule csv --lowered "$T/dual.yaml" -o "$T/low.csv" && ovl import "$T/low.csv" -o "$T/low.yaml" && ovl export --schedule csv --lowered "$T/low.yaml" | cmp - "$T/low.csv"
6 of 10 W stood right behind their I and are one B with it, as PyTorch lowers them: their gradients are sent after W, so the step may be longer than that of the schedule; --no-merge keeps I and W apart
$ for f in tests/cli/schedules.yaml "$T/dual.yaml" "$T/low.yaml"; do ovl run "$f" --worth none | grep '^step'; done
step 26 ms = 16 ms + 1 ms exposed + 9 ms from 7F7+0B1 on (0RECV_B1 ends at 17 ms; 7F7+0B1 could
step 26 ms = 16 ms + 1 ms exposed + 9 ms from 7F7+0B1 on (0RECV_B1 ends at 17 ms; 7F7+0B1 could
step 26 ms = 16 ms + 1 ms exposed + 9 ms from 7F7+0B1 on (0RECV_B1 ends at 17 ms; 7F7+0B1 could

$ ovl export --trace tests/cli/schedules.yaml --ranks 3 | grep '"pid": 4' | grep 'thread\|3000.000' | cut -c1-330
    {"ph": "M", "pid": 4, "tid": 200612, "name": "thread_name", "args": {"name": "stage 0, rank 3, second copy"}},
    {"ph": "M", "pid": 4, "tid": 200612, "name": "thread_sort_index", "args": {"sort_index": 3}},
    {"ph": "X", "pid": 4, "tid": 200612, "ts": 2000.000, "cat": "forward", "name": "F 6", "dur": 1000.000, "cname": "rail_response", "args": {"start_ps": 2000000000, "end_ps": 3000000000, "part": "forward", "stage": 0, "microbatch": 6}},
    {"ph": "M", "pid": 4, "tid": 200611, "name": "thread_name", "args": {"name": "stage 3, rank 3"}},
    {"ph": "M", "pid": 4, "tid": 200611, "name": "thread_sort_index", "args": {"sort_index": 15}},
    {"ph": "X", "pid": 4, "tid": 200611, "ts": 3000.000, "cat": "forward", "name": "F 0", "dur": 1000.000, "cname": "rail_response", "args": {"start_ps": 3000000000, "end_ps": 4000000000, "part": "forward", "stage": 3, "microbatch": 0}},
    {"ph": "X", "pid": 4, "tid": 200612, "ts": 7000.000, "cat": "forward", "name": "F 7", "dur": 3000.000, "cname": "rail_response", "args": {"start_ps": 7000000000, "end_ps": 10000000000, "part": "forward", "stage": 0, "microbatch": 7, "with": "3B1"}},
    {"ph": "X", "pid": 4, "tid": 200611, "ts": 7000.000, "cat": "backward", "name": "B 1", "dur": 3000.000, "cname": "rail_load", "args": {"start_ps": 7000000000, "end_ps": 10000000000, "part": "backward", "stage": 3, "microbatch": 1, "with": "4F7"}},
    {"ph": "X", "pid": 4, "tid": 200611, "ts": 11000.000, "cat": "forward", "name": "F 2", "dur": 3000.000, "cname": "rail_response", "args": {"start_ps": 11000000000, "end_ps": 14000000000, "part": "forward", "stage": 3, "microbatch": 2, "with": "4B4"}},
    {"ph": "X", "pid": 4, "tid": 200612, "ts": 11000.000, "cat": "backward", "name": "B 4", "dur": 3000.000, "cname": "rail_load", "args": {"start_ps": 11000000000, "end_ps": 14000000000, "part": "backward", "stage": 0, "microbatch": 4, "with": "3F2"}},
    {"ph": "X", "pid": 4, "tid": 200611, "ts": 17000.000, "cat": "forward", "name": "F 3", "dur": 3000.000, "cname": "rail_response", "args": {"start_ps": 17000000000, "end_ps": 20000000000, "part": "forward", "stage": 3, "microbatch": 3, "with": "4B5"}},
    {"ph": "X", "pid": 4, "tid": 200612, "ts": 17000.000, "cat": "backward", "name": "B 5", "dur": 3000.000, "cname": "rail_load", "args": {"start_ps": 17000000000, "end_ps": 20000000000, "part": "backward", "stage": 0, "microbatch": 5, "with": "3F3"}},
    {"ph": "X", "pid": 4, "tid": 200612, "ts": 22000.000, "cat": "backward_input", "name": "I 6", "dur": 1000.000, "cname": "rail_idle", "args": {"start_ps": 22000000000, "end_ps": 23000000000, "part": "backward_input", "stage": 0, "microbatch": 6}},
    {"ph": "X", "pid": 4, "tid": 200612, "ts": 23000.000, "cat": "backward_weight", "name": "W 6", "dur": 1000.000, "cname": "olive", "args": {"start_ps": 23000000000, "end_ps": 24000000000, "part": "backward_weight", "stage": 0, "microbatch": 6}},

$ ovl run tests/cli/schedules.yaml:zb_v --worth none | sed -n '/^Schedule/,/^$/p'
Schedules
variant zb_v, 4 ranks, interference shared

Schedule
  0  FFFFFFFfiwfiwfiwfiwFIWfiwIWfiwIWfiwIWfiwIWIWIWIW...
     012345600011122233370044411555226663377744556677
  1  .FFFFFfFfiwfiwfiwFIWfiwFIWfiwIWfiwIWfiwIiIWIWIWwW..
      012340510021132260043371154422655337664754657677
  2  ..FFFfFfFfiwfiwFIWfiwFIWfiwFIWfiwIWfiwIiIiIWIWwwWW.
       012031420031150042261153372264433755465764756767
  3  ...FfFfFfFfiwFIWfiwFIWfiwFIWfiwFIWfiwIiIiIiIWwwwWWW
        001122330040041151152262263373374445566774567567
  a column is 1 ms; F forward, I backward of the input, W backward of the weights, and below it the
  microbatch, as far as it fits; . idle; lower case: a later stage of the rank
? 0

How many steps a schedule takes if every action takes one is PyTorch's own check of it: 11 for the first here, 24 for the second, with and
without the sends and receives in the list.
$ ovl check "$T/s.yaml" | sed -n '/^Pipeline/,/^$/p'
Pipeline
  schedule as listed: 2 stages on 2 ranks, 2 microbatches; 11 steps if every action takes one, sends
    and receives, too (PyTorch's simulation of a schedule)
  from stage  from rank  the hop is  latency + transfer  such hops
  0 to 1      0 to 1     in a node   free                        1
$ printf '0F0,0F1,,3F0,3B0,3F1,3B1,0B0,3W0,0B1,3W1,0W0,0W1\n,1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1,2W0,2W1,1W0,1W1\n' >"$T/v.csv" && ovl import "$T/v.csv" -o "$T/v.yaml" && ovl check "$T/v.yaml" | sed -n '/^Pipeline/,/^$/p'
Pipeline
  schedule as listed: 4 stages on 2 ranks, 2 microbatches; 24 steps if every action takes one, sends
    and receives, too (PyTorch's simulation of a schedule)
  from stage  from rank  the hop is  latency + transfer  such hops
  0 to 1      0 to 1     in a node   free                        2
$ ovl export --schedule csv --lowered --no-merge "$T/v.yaml" -o "$T/vc.csv" && ovl import "$T/vc.csv" -o "$T/vc.yaml" && ovl check --json "$T/vc.yaml" | grep unit_steps
    "unit_steps": 24,
? 0

A hop inside a node goes over another link than one between nodes.
$ ovl check scenarios/pipeline/hops.yaml | sed -n '/^Pipeline/,/^$/p'
Pipeline
  schedule 1f1b: 4 stages on 4 ranks, 4 microbatches; 33 steps if every action takes one, sends and
    receives, too (PyTorch's simulation of a schedule)
  from stage  from rank  the hop is         bytes  latency + transfer  such hops
  0 to 1      0 to 2     in a node      9.537 MiB  2 us + 25 us                4
  1 to 2      2 to 4     between nodes  9.537 MiB  10 us + 200 us              2
$ ovl check --json scenarios/pipeline/hops.yaml | sed -n '/"pipeline"/,$p'
  "pipeline": {
    "schedule": "1f1b",
    "ranks": 4,
    "stages": 4,
    "microbatches": 4,
    "unit_steps": 33,
    "hops": [
      {"stage": 0, "from": 0, "to": 2, "leaves_node": false, "bytes": 10000000, "latency_s": 0.000002000000, "transfer_s": 0.000025000000, "count": 4},
      {"stage": 1, "from": 2, "to": 4, "leaves_node": true, "bytes": 10000000, "latency_s": 0.000010000000, "transfer_s": 0.000200000000, "count": 2}
    ]
  }
}
? 0

Every schedule is the same after export and import, and takes as long: nothing is printed.
$ printf 'hardware: {gpu: {name: example}}\nmesh: {axes: {pp: 4}}\nworkload: {stages: [{name: s, repeat: 4, forward: 1 ms, backward_input: 1 ms, backward_weight: 1 ms}]}\noverlap: {pipeline: {schedule: gpipe, microbatches: 8}}\n' >"$T/all.yaml"
$ for s in gpipe 1f1b 1f1b_megatron looped_bfs interleaved interleaved_megatron interleaved_zb zb_h1 zb_h2 zb_1p zb_2p zb_v v_half v_min dualpipe dualpipev; do case $s in loop*|inter*|zb_v|v_*|dualpipev) n=8 ;; *) n=4 ;; esac; set -- "$T/all.yaml" --set overlap.pipeline.schedule=$s --set workload.stages.s.repeat=$n; ovl export --schedule csv "$@" -o "$T/a.csv" && ovl import "$T/a.csv" -o "$T/a.yaml" && ovl export --schedule csv "$T/a.yaml" | cmp - "$T/a.csv" || echo "$s differs"; test "$(ovl run "$@" --json --worth none | grep '"end_s"')" = "$(ovl run "$T/a.yaml" --json --worth none | grep '"end_s"')" || echo "$s takes another time"; done
$ printf '0F0,0B0,0F1,0SEND_F0\n1RECV_F0,1F0,1B0,1SEND_B0\n\n' >"$T/bad.csv" && ovl import "$T/bad.csv"
$T/bad.csv:1:1: error: rank 0 has no 0B1: stage 0 has 1 backward for 2 microbatches
$T/bad.csv:1:5: error: 0B0 needs 0RECV_B0 before it: its input comes from stage 1 on rank 1
$T/bad.csv:2:1: error: rank 1 has no 1F1: stage 1 has 1 forward for 2 microbatches
$T/bad.csv:2:1: error: rank 1 has no 1B1: stage 1 has 1 backward for 2 microbatches
$T/bad.csv:2:18: error: 1SEND_B0 has no 0RECV_B0 on rank 0: nobody receives what it sends
$T/bad.csv:3:1: error: rank 2 does nothing: each row is a rank, a blank line, too, as PyTorch reads it, and each rank has a stage; take the row out, or say what the rank does
? 3
$ printf '0F0,0F1,0B1,0B0\n1F0,1B0,1F1,1B1\n' >"$T/turned.csv" && printf 'mesh: {axes: {pp: 2}}\nworkload: {stages: [{name: s, repeat: 2, forward: 1 ms, backward: 2 ms}]}\noverlap: {pipeline: {communicators: one, schedule_file: turned.csv}}\n' >"$T/turned.yaml" && ovl run "$T/turned.yaml"
$T/turned.csv:1:9: error: the next thing sent to where 0RECV_B1 stands is for 0RECV_B0: sends meet receives in order; take receives: early
? 4

A list whose ranks take microbatches in another order than their neighbours give them needs receives where PyTorch posts
them: import writes that, says it, and what it wrote runs and comes out as it went in. A list of compute actions is one
whatever carries the results: what cannot run here is still exported.
$ printf '0F0,0F1,0B0,0B1\n1F1,1F0,1B0,1B1\n' >"$T/ro.csv" && ovl import "$T/ro.csv" -o "$T/ro.yaml"
$T/ro.csv: warning: ranks take microbatches in another order than their neighbours: the scenario says receives: early, which posts each receive when the other side sends, as PyTorch does
? 0
$ grep receives "$T/ro.yaml" && ovl run --worth none "$T/ro.yaml" | grep -o '^step [0-9]* ms' && ovl export --schedule csv "$T/ro.yaml" | cmp - "$T/ro.csv"
    receives: early
step 10 ms
$ sed 's/pp: 4/pp: 2/; s/repeat: 4/repeat: 4/; s/gpipe, microbatches: 8/zb_v, microbatches: 5, communicators: ranks/' "$T/all.yaml" >"$T/ranks.yaml" && ovl run "$T/ranks.yaml" 2>&1 | grep -c 'sends meet receives in order; take receives: early or communicators: stages'
1
$ ovl export --schedule csv "$T/ranks.yaml" -o "$T/ranks.csv" && ovl import "$T/ranks.csv" -o "$T/again.yaml" && ovl run --worth none "$T/again.yaml" | grep -c '^step'
1
? 0

What is no one schedule, or of two dialects, or has other separators, is told; so is what has no effect on one.
$ ovl import "$T/ro.csv" "$T/ro.csv"
error: "$T/ro.csv" is a pipeline schedule: one file at a time; the other ranks are rows of it
? 2
$ ovl import "$T/ro.csv" --self-contained
error: --self-contained is for traces; "$T/ro.csv" is a pipeline schedule
? 2
$ printf '0F0,0B0,0I1\n1F0,1BW0\n' >"$T/mixed.csv" && ovl import "$T/mixed.csv"
$T/mixed.csv:2:5: error: BW is of the old dialect, and the I of line 1, column 9 of the new one: a schedule is written in one of them
? 3
$ printf '0F0;0B0\n' >"$T/semi.csv" && ovl import "$T/semi.csv"
$T/semi.csv:1:1: error: "0F0;0B0" is no action: cells are separated by commas, not by semicolons
? 3
$ printf '0F0,0B0\n1F0,1B0,1W0\n' >"$T/old.csv" && ovl import "$T/old.csv"
$T/old.csv:1:1: error: rank 0 has no 0W0: stage 0 has 1 input backward (B) and 0 weight backwards (W); each B needs its W
? 3
$ ovl run --worth none "$T/ro.yaml" | sed -n '/^What would/,/^$/p'
What would help
  More microbatches are not tried: the list of actions is for 2, and no rule says how it goes on. A
  schedule by name can have more.

$ ovl run --worth none "$T/all.yaml" --set overlap.pipeline.microbatches=40 | sed -n '/^Schedule/,/^$/p'
Schedule
  not drawn: its shortest kernel would be less than a column; a wider terminal, ovl report and ovl
  export --trace show it

$ OVL_MEMORY=100MiB ovl check "$T/all.yaml" --set overlap.pipeline.microbatches=100000
$T/all.yaml:4:21: error: 4 stages with 100000 microbatches are 400000 forwards and backwards, and need more than 152.6 MiB of memory; 100 MiB is allowed (OVL_MEMORY)
? 3
$ printf 'hardware: {gpu: {name: example}}\nmesh: {axes: {pp: 128}}\nworkload: {microbatches: 2048, layers: [{name: s, repeat: 512, forward: 1 ms, backward: 2 ms}]}\noverlap: {pipeline: {schedule: interleaved, virtual_stages: 4}}\n' >"$T/huge.yaml" && OVL_MEMORY=2GiB ovl run "$T/huge.yaml"
$T/huge.yaml:3:26: error: 512 stages with 2048 microbatches are 6258688 operations or more: they may need 2.623 GiB of memory, and 2 GiB is allowed (OVL_MEMORY)
? 3

$ printf "hardware: {gpu: {name: example}}\nmesh: {axes: {pp: 4}}\nworkload: {stages: [{name: s, repeat: 4, forward: 1 ms, backward: 2 ms}]}\noverlap: {pipeline: {schedule: 1f1b, microbatches: 8}}\nvariants: {more: {overlap.pipeline.microbatches: 16}}\n" >"$T/work.yaml" && ovl compare "$T/work.yaml" more | sed -n "/^Verdict/,\$p"
Verdict: better: a microbatch takes 3.5625 ms instead of 4.125 ms, shorter (13.6 %); b does other
         work, 16 microbatches instead of 8, in a step that is 24 ms longer
