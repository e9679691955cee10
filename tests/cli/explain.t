What held operations back, and one resource over time.

$ ovl explain scenarios/mesh/nic_sharing.yaml:earlier
Two collectives on one NIC
variant earlier, interference shared, step 14 ms

Below isolated speed, most lost first (times in ms)
  operation  rank  took  alone  lost  most to  beside
  a          0+       8      4     4  nic.out  b
  b          1+       8      4     4  nic.out  a
  took = alone + lost; +: other ranks alike; ovl explain FILE NAME tells more
$ ovl explain scenarios/mesh/nic_sharing.yaml:earlier a
Two collectives on one NIC
variant earlier, interference shared, step 14 ms

a, all_reduce on rank 0 (of 2 alike), stream comm
  issued 0 ms; arrived 6 ms (after: a1); started 6 ms; ended 14 ms
  8 ms = 4 transfer alone + 4 lost to nic.out
  held back by nic.out 0 for 8 ms, beside b; full, too: nic.in 0
$ ovl explain scenarios/mesh/nic_sharing.yaml:slow a --rank 0
Two collectives on one NIC
variant slow, interference shared, step 16 ms

a, all_reduce on rank 0, stream comm
  issued 0 ms; arrived 10 ms (after: a2); started 12 ms (rank 8 arrived last); ended 16 ms
  4 ms = 4 transfer alone
  nothing held it below its isolated speed
$ ovl explain scenarios/mesh/nic_sharing.yaml:degraded --resource nic.out:0
Two collectives on one NIC
variant degraded, interference shared, step 17 ms

nic.out 0, 50 GB/s (times in ms)
  from  to               moves      %  who, at which rate
     6  10             50 GB/s  100.0  b at 1
    10  11             50 GB/s  100.0  a at 1
    11  17  25 GB/s of 25 GB/s  100.0  a at 0.5
$ ovl explain scenarios/mesh/nic_sharing.yaml --resource nic.in:3
Two collectives on one NIC
variant base, interference shared, step 14 ms

Nobody uses nic.in 3.
$ ovl explain scenarios/mesh/nic_sharing.yaml
Two collectives on one NIC
variant base, interference shared, step 14 ms

Nothing ran below its isolated speed.

$ ovl explain scenarios/contention/hbm_share.yaml:all_sms --resource SMs
HBM shared with an all-gather
variant all_sms, interference shared, step 700 us

SMs of rank 0, 108 (times in us)
     from       to  takes      %  who, how many, kernels at which rate
        0  211.304    108  100.0  attention 92 at 0.8519, all_gather 16
  211.304  700.000     16   14.8  all_gather 16
$ ovl explain scenarios/contention/hbm_share.yaml:all_sms --resource SMs:8
error: SMs has no instance 8: the last rank is 7
? 2
$ ovl explain scenarios/mesh/deepseek_v3.yaml --resource SMs:449 | head -n 9
DeepSeek-V3
variant base, interference shared, step 15.6678 s

SMs of rank 449, 132 (times in ms)
     from      to takes     % who, how many, kernels at which rate
  467.386 467.963   132 100.0 forward block[25].qkv mb 0 132 at 1
  468.040 469.458   132 100.0 forward block[25].attention mb 0 132 at 1
  469.551 470.523   132 100.0 forward block[25].proj mb 0 132 at 1
  470.671 470.691   132 100.0 forward block[25].router mb 0 132 at 1
$ ovl explain scenarios/mesh/deepseek_v3.yaml 'forward block[28].combine_across mb 30' --rank 449 | head -n 5
DeepSeek-V3
variant base, interference shared, step 15.6678 s

forward block[28].combine_across mb 30, all_to_all on rank 449, stream nodes
  issued 0 s; arrived 6.72424 s (after: forward block[28].combine mb 30); started 6.72424 s; ended
$ ovl explain scenarios/contention/hbm_share.yaml:all_sms --resource SMs --interference none
error: without interference nobody waits for SMs: each kernel has what it wants
? 2
$ ovl explain scenarios/mesh/nic_sharing.yaml --resource SMs
error: SMs are not modelled: the hardware gives no gpu.sms
? 2
$ ovl export scenarios/contention/hbm_share.yaml:all_sms --trace --ranks 7 -o - | grep -o '"ts.*"SMs.*'
"ts": 0.000, "name": "SMs held by communication", "args": {"SMs": 16}},
"ts": 0.000, "name": "SMs of kernels", "args": {"SMs": 92}},
"ts": 211.304, "name": "SMs of kernels", "args": {"SMs": 0}},
"ts": 700.000, "name": "SMs held by communication", "args": {"SMs": 0}}
$ ovl explain scenarios/mesh/nic_sharing.yaml --resource nic
error: unknown resource "nic"; did you mean "nic.out", or "nic.in"?
? 2

$ ovl explain scenarios/mesh/nic_sharing.yaml a --resource nic.out
error: an operation ("a") has no effect beside --resource: leave one of them out
? 2

$ ovl run scenarios/mesh/nic_sharing.yaml --set "hardware.faults=[{link: nic, ranks: [33], bandwidth: 5 GB/s}]"
--set hardware.faults: error: there is no rank 33; the last is 15
? 2

$ ovl run scenarios/mesh/model_by_shape.yaml --set workload.model.cp=tp
scenarios/mesh/model_by_shape.yaml:26:10: error: axis "tp" cannot be that of tensor parallelism and of context parallelism at a time
? 3

$ ovl explain scenarios/mesh/nic_sharing.yaml aa
error: unknown operation "aa"; did you mean "a1"?
? 2
$ ovl explain scenarios/mesh/nic_sharing.yaml --resource nik.out
error: unknown resource "nik.out"; did you mean "nic.out"?
? 2
$ ovl explain scenarios/mesh/nic_sharing.yaml --resource nic.out:9
error: nic.out has no instance 9
? 2
$ ovl explain scenarios/mesh/nic_sharing.yaml --resource nic.out:x
error: the instance "x" is no number
? 2
$ ovl explain scenarios/mesh/nic_sharing.yaml a --rank 16
error: there is no rank 16; the last is 15
? 2

What limits the step. Ten percent faster is 10/11 of the time: the matmul alone takes 22.727 ms then,
beside an all-reduce 29/25 of that, 26.364 ms, in which the all-reduce advances by 16/29: 14.545; its
last 5.455 run alone: 31.818. The all-reduce alone takes 18.182 then: at 29 ms it has done 16, its last
2.182 run alone: 31.182.

$ ovl explain scenarios/first_steps/matmul_allreduce.yaml:overlapped --limits
A matmul beside an all-reduce
variant overlapped, interference measured, step 33 ms

Where the step goes on rank 0, and why (ms)
  25     kernels at isolated speed
   4  +  kernels below isolated speed: matmul most, which loses 4 ms to a measured factor in all
   4  +  communication moving bytes with no kernel beside it: all_reduce most; use waits 4 ms for it
  33  =  step

What limits the step, most first (times in ms)
  what                     10 % faster: step   gains  free: step    gains
  all_reduce in world                31.1818  1.8182     25.0000   8.0000
  kernels of class matmul            31.8182  1.1818     20.0000  13.0000
  10 % faster: the same bytes in 10/11 of the time, or 11/10 of a bandwidth; free: no time at all,
  or bandwidth without end. Each step is simulated; order stays

How far it could go (times in ms)
  step gains if
    25     8 perfect overlap: the longer of 25 ms with free communication and 20 ms with free
             kernels
    25     8 nothing slows what runs beside it
    33     0 the host takes no time
    33     0 kernels take the mean of the stages or ranks
    25     8 free communication, no interference, no host, no imbalance: all of these

Slack of communication, least first (times in ms)
  communication  in     slack  exposed
  all_reduce     world      0        4  *
  slack: how much later it could end with the step unchanged, other durations as they are; exposed:
  what its consumer waits for it; of several the least slack and the longest exposure; *: on the
  critical path

10 simulations
? 0

A link with 11/10 of its bandwidth is what --set makes of it.

$ ovl explain scenarios/mesh/nic_sharing.yaml:earlier --limits
Two collectives on one NIC
variant earlier, interference shared, step 14 ms

Where the step goes on rank 0, and why (ms)
  13.0     kernels at isolated speed
   0.5  +  communication moving bytes with no kernel beside it: a most; a_end waits 1 ms for it
   0.5  +  communication below isolated speed: a most, which loses 4 ms to nic.out in all
  14.0  =  step

What limits the step, most first (times in ms)
  what                     10 % faster: step   gains  free: step   gains
  link nic                           13.2727  0.7273     13.0000  1.0000
  all_reduce in dp                   13.2727  0.7273     13.0000  1.0000
  kernels of class kernel            13.4545  0.5455      8.0000  6.0000
  10 % faster: the same bytes in 10/11 of the time, or 11/10 of a bandwidth; free: no time at all,
  or bandwidth without end. Each step is simulated; order stays

How far it could go (times in ms)
  step gains if
    13     1 perfect overlap: the longer of 13 ms with free communication and 8 ms with free kernels
    13     1 nothing slows what runs beside it
    14     0 the host takes no time
    14     0 kernels take the mean of the stages or ranks
    13     1 free communication, no interference, no host, no imbalance: all of these

Slack of communication, least first (times in ms)
  communication  in  slack  exposed
  b              dp      0        2
  a              dp      0        1  *
  c              dp      4        0
  slack: how much later it could end with the step unchanged, other durations as they are; exposed:
  what its consumer waits for it; of several the least slack and the longest exposure; *: on the
  critical path

12 simulations
$ ovl run scenarios/mesh/nic_sharing.yaml:earlier --set 'hardware.links.nic.bandwidth=55 GB/s' --json | grep -m1 time_s
    "time_s": 0.013272727273,
$ ovl explain scenarios/mesh/nic_sharing.yaml:earlier b --limits
Two collectives on one NIC
variant earlier, interference shared, step 14 ms

What limits the step, most first (times in ms)
  what  10 % faster: step   gains  free: step   gains
  b               13.6364  0.3636     13.0000  1.0000
  10 % faster: the same bytes in 10/11 of the time, or 11/10 of a bandwidth; free: no time at all,
  or bandwidth without end. Each step is simulated; order stays

2 simulations
$ ovl explain scenarios/buckets/last_bucket.yaml:split_80_16 --limits --json
{
  "schema": "overlapsim.limits/1",
  "scenario": "The last bucket",
  "variant": "split_80_16",
  "interference": "measured",
  "step_s": 0.213000000000,
  "compute_s": 0.210000000000,
  "lost": [
    {
      "term": "compute_stretch",
      "time_s": 0.001000000000,
      "because": "kernels below isolated speed: backward late most, which loses 1 ms to a measured factor in all"
    },
    {
      "term": "comm_latency",
      "time_s": 0.001000000000,
      "because": "communication in its latency with no kernel beside it: bucket 1 most; optimizer waits 2 ms for it"
    },
    {
      "term": "comm_transfer",
      "time_s": 0.001000000000,
      "because": "communication moving bytes with no kernel beside it: bucket 1 most; optimizer waits 2 ms for it"
    }
  ],
  "speedups": [
    {
      "kind": "kernels",
      "what": "kernels of class backward",
      "faster_step_s": 0.194000000004,
      "faster_gain_s": 0.018999999996,
      "free_step_s": 0.008000000000,
      "free_gain_s": 0.205000000000
    },
    {
      "kind": "communication",
      "what": "all_reduce in dp",
      "faster_step_s": 0.212727272730,
      "faster_gain_s": 0.000272727270,
      "free_step_s": 0.210000000000,
      "free_gain_s": 0.003000000000
    },
    {
      "kind": "kernels",
      "what": "kernels of class copy_in",
      "faster_step_s": 0.212909090910,
      "faster_gain_s": 0.000090909090,
      "free_step_s": 0.212000000000,
      "free_gain_s": 0.001000000000
    }
  ],
  "ceilings": [
    {
      "change": "perfect_overlap",
      "what": "perfect overlap: the longer of 210 ms with free communication and 8 ms with free kernels",
      "step_s": 0.210000000000,
      "gain_s": 0.003000000000
    },
    {
      "change": "no_interference",
      "what": "nothing slows what runs beside it",
      "step_s": 0.212000000000,
      "gain_s": 0.001000000000
    },
    {
      "change": "no_host",
      "what": "the host takes no time",
      "step_s": 0.213000000000,
      "gain_s": 0.000000000000
    },
    {
      "change": "no_imbalance",
      "what": "kernels take the mean of the stages or ranks",
      "step_s": 0.213000000000,
      "gain_s": 0.000000000000
    },
    {
      "change": "all",
      "what": "free communication, no interference, no host, no imbalance: all of these",
      "step_s": 0.210000000000,
      "gain_s": 0.003000000000
    }
  ],
  "slack": [
    {"name": "bucket 1", "op": "all_reduce", "group": "dp", "times": 1, "slack_s": 0.000000000000, "exposed_s": 0.002000000000, "on_critical_path": true},
    {"name": "bucket 0", "op": "all_reduce", "group": "dp", "times": 1, "slack_s": 0.003000000000, "exposed_s": 0.000000000000, "on_critical_path": false}
  ],
  "simulations": 12,
  "partly_simulated": 0
}
$ ovl explain scenarios/mesh/nic_sharing.yaml bb --limits
error: unknown operation "bb"; did you mean "b1"?
? 2
$ ovl explain scenarios/mesh/nic_sharing.yaml --limits --rank 0 --resource nic.out
error: --limits has no effect beside --resource: leave one of them out
error: --rank has no effect beside --limits: leave one of them out
error: --rank has no effect beside --resource: leave one of them out
error: --resource has no effect beside --limits: leave one of them out
try: ovl explain --help
? 2
$ ovl explain scenarios/buckets/last_bucket.yaml --solve workload.backward --for 'step=220 ms'
Which workload.backward gives step 220 ms?
  now 210 ms gives step 217 ms
  workload.backward = 218.8 ms gives step 220 ms
    219.5 ms .. 220.5 ms: 218.3 ms to 219.3 ms
    1 % more adds 2.188 ms
  not simulated below 210 ms: scenarios/buckets/last_bucket.yaml:24:7: error: gradient "g1", ready
    at 194 ms, is not ready and copied in when the backward ends, at 2.1 ms (and 6 more)
  148 simulations
$ ovl explain scenarios/buckets/last_bucket.yaml --solve workload.backward
error: --solve needs the figure that was measured: --for 'step=544 ms'
? 2

The same, however many threads simulate it. Where nothing can be slowed, changes of operations are no runs of their own; what
nobody slows by the model is slowed by nobody here either, so the steps are the same.

$ for j in 1 2 5; do ovl explain scenarios/mesh/nic_sharing.yaml:earlier --limits -j $j --json -o $T/$j.json; done; cmp $T/1.json $T/2.json && cmp $T/1.json $T/5.json
$ ovl explain scenarios/first_steps/matmul_allreduce.yaml --limits --interference none | tail -n 1
10 simulations, 4 of them only of what follows from the change: nothing can be slowed

$ ovl explain scenarios/mesh/nic_sharing.yaml:earlier a --rank 0 --set 'hardware.faults=[{link: nic, ranks: [0-3], bandwidth: 25 GB/s, from: 7 ms}]' | tail -n 4
  15 ms = 4 transfer alone + 11 lost to nic.out
  held back by nic.out 0 for 15 ms, beside b; full, too: nic.in 0
    of the 11 ms lost 7 to hardware.faults, which left it 25 GB/s from 7 to 21 ms (alone 0.5 of its
      speed); 4 to those beside
$ ovl explain scenarios/mesh/nic_sharing.yaml:earlier c --rank 2 --set 'hardware.faults=[{link: nic, ranks: [0-3], bandwidth: 25 GB/s, from: 7 ms}]' --json | grep '"bound"'
        {"bound": "nic.out", "instance": 1, "time_s": 0.006000000000, "lost_s": 0.003000000000, "full_too": "nic.in 1", "lost_to_faults_s": 0.003000000000, "lost_to_sharing_s": 0.000000000000, "degraded": [{"from_s": 0.007000000000, "to_s": 0.013000000000, "capacity_Bps": 25000000000, "alone_rate": 0.5}]}
$ printf '# Two resources hold a back, one after the other: each is charged for its own time.\nhardware:\n  links: {nv: {bandwidth: 100 GB/s}}\n  collectives:\n    - {op: all_gather, via: [nv], beta: 200 GB/s}\n    - {op: send_recv, via: [nv], beta: 100 GB/s}\n  faults: [{link: nv, bandwidth: 50 GB/s}]\nworkload:\n  ranks: 3\n  groups: {p: [0, 1], q: [0, 2]}\n  ops:\n    - {collective: a, op: all_gather, group: p, bytes: 400 MB, ranks: [0, 1]}\n    - {send: s, group: q, to: "1", ranks: [0], bytes: 100 MB, stream: x}\n    - {recv: r, group: q, from: "0", ranks: [2], bytes: 100 MB, stream: x}\n    - {send: t, group: q, to: "0", ranks: [2], bytes: 100 MB, stream: x}\n    - {recv: u, group: q, from: "1", ranks: [0], bytes: 100 MB, stream: x}\n' > $T/two.yaml
$ ovl explain $T/two.yaml a --rank 0 | tail -n 7
  8 ms = 2 transfer alone + 3 lost to nv.in + 3 lost to nv.out
  held back by nv.in 0 for 4 ms, beside u
    of the 3 ms lost 2 to hardware.faults, which left it 50 GB/s from 0 to 8 ms (alone 0.5 of its
      speed); 1 to those beside
  held back by nv.out 0 for 4 ms, beside s
    of the 3 ms lost 2 to hardware.faults, which left it 50 GB/s from 0 to 8 ms (alone 0.5 of its
      speed); 1 to those beside
$ ovl explain $T/two.yaml a --rank 0 --set 'hardware.faults=[{link: nv, bandwidth: 50 GB/s, until: 4 ms}]' | tail -n 5
    of the 3 ms lost 2 to hardware.faults, which left it 50 GB/s from 0 to 4 ms (alone 0.5 of its
      speed); 1 to those beside
  held back by nv.in 0 for 2 ms, beside u
    of the 1 ms lost 0 to hardware.faults, which left it 50 GB/s from 0 to 4 ms (alone 0.5 of its
      speed); 1 to those beside
$ printf '# Both kernels want all SMs, and each runs at 1/4 beside the collective: at 1/8 in all.\nhardware:\n  gpu: {sms: 100}\n  interference: [{kernel: g, collective: all_reduce, kernel_factor: 4, collective_factor: 1}]\ninterference: measured\nworkload:\n  ranks: 2\n  ops:\n    - {kernel: a, class: g, duration: 2 ms}\n    - {kernel: b, class: g, duration: 2 ms, stream: y}\n    - {collective: c, op: all_reduce, bytes: 1 MB, duration: 16 ms}\n' > $T/both.yaml
$ ovl explain $T/both.yaml a | tail -n 2
  16 ms = 2 alone + 14 lost to measured factor
  held back by measured factor for 16 ms
