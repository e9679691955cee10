Interference from three runs. docs/calibrate.md has the example of 25, 20 and 33 ms.

Planted factors come back; each collective overlaps kernels of both classes in part.

$ ovl export --trace scenarios/calibration/planted.yaml --variant alone -o $T/alone.json
$ ovl export --trace scenarios/calibration/planted.yaml -o $T/both.json
$ ovl calibrate --compute $T/alone.json --comm $T/alone.json --overlap $T/both.json --alpha 0.2ms -o $T/planted.yaml
Interference from three runs
  compute alone        $T/alone.json
  communication alone  $T/alone.json
  overlapped           $T/both.json

Durations: median (10 % to 90 %); overlapped: of calls beside the other kind
  class      calls beside alone                     overlapped                         of it beside
  gemm           8      6 5.5 ms (3 ms to 9 ms)     7.32098 ms (4.76 ms to 9.68955 ms)       50.7 %
  attention      8      4 3.5 ms (1 ms to 6 ms)     7.26414 ms (6.38 ms to 8.14829 ms)       78.3 %
  all_gather     6      6 3.2 ms (1.7 ms to 4.7 ms) 3.95 ms (2.10231 ms to 5.9608 ms)        95.0 %
  all_reduce     6      6 4.2 ms (2.7 ms to 5.2 ms) 5.7 ms (3.95 ms to 5.816 ms)             96.1 %

How many times as long while both run (95 % interval)
  kernel     collective  kernel takes      collective takes
  gemm       all_gather  1.1 (1.1 to 1.1)  1.3 (1.3 to 1.3)
  gemm       all_reduce  1.2 (1.2 to 1.2)  1.5 (1.5 to 1.5)
  attention  all_gather  1.3 (1.3 to 1.3)  1.25 (1.25 to 1.25)
  attention  all_reduce  1.4 (1.4 to 1.4)  1.1 (1.1 to 1.1)
  clock: 6 kernels outside the overlap take 1.000 times as long as alone (median)

The three runs
  devices 0, 1
      compute alone                                 37.000000 ms
    + stretch of compute                             5.298815 ms
    + tail: communication with no kernel beside             0 ms
    + idle                                                  0 ms
    = overlapped                                    42.298815 ms
      compute alone                                 37.000000 ms
    + communication alone                           21.700000 ms
    - overlapped                                    42.298815 ms
    = gain                                          16.401185 ms
      communication alone                           21.700000 ms
    + stretch of communication                       5.779109 ms
    - under kernels                                 27.479109 ms
    = tail                                                  0 ms

What the collectives take of the GPU
  hbm_factor  not identified: the bandwidth of HBM is not known (--hbm)
  SMs         not identified: the number of SMs is not known (--sms)
$ grep -e kernel: -e collective: -e _factor $T/planted.yaml
  - kernel: "gemm"
    collective: "all_gather"
    kernel_factor: 1.100000
    collective_factor: 1.300000
  - kernel: "gemm"
    collective: "all_reduce"
    kernel_factor: 1.200000
    collective_factor: 1.500000
  - kernel: "attention"
    collective: "all_gather"
    kernel_factor: 1.300000
    collective_factor: 1.250000
  - kernel: "attention"
    collective: "all_reduce"
    kernel_factor: 1.400000
    collective_factor: 1.100000
$ ovl calibrate --compute $T/alone.json --comm $T/alone.json --overlap $T/both.json --alpha 0.2ms --json | grep -c '"kernel_factor"'
4
? 0

Without the latency the factors are those of whole collectives.

$ ovl calibrate --compute $T/alone.json --comm $T/alone.json --overlap $T/both.json | grep -A 5 'as long while'
How many times as long while both run (95 % interval)
  kernel     collective  kernel takes            collective takes
  gemm       all_gather  1.1 (1.09 to 1.1)       1.29 (1.241 to 1.322)
  gemm       all_reduce  1.189 (1.188 to 1.19)   1.467 (1.463 to 1.471)
  attention  all_gather  1.276 (1.276 to 1.276)  1.231 (1.197 to 1.234)
  attention  all_reduce  1.376 (1.376 to 1.376)  1.096 (1.096 to 1.116)
? 0

Costs of the same collectives, seen by all ranks, go into the same profile.

$ ovl calibrate $T/alone.json --compute $T/alone.json --comm $T/alone.json --overlap $T/both.json --alpha 0.2ms -o $T/whole.yaml | head -7
all_gather in world
  from $T/alone.json
  3 measurements out of 6 durations of 3 sizes, 286.1 MiB to 858.3 MiB: least duration over the
  ranks
  one pair  alpha 200 us, beta 200 GB/s, residual 0.0 %
            held out: median 0.0 %, 90 % within 0.0 %, worst 0.0 % at 286.1 MiB
  chosen    pair
$ grep -e alpha: -e beta: -e op: $T/whole.yaml
  - op: all_gather
    alpha: 200 us
    beta: 200000000000 B/s
  - op: all_reduce
    alpha: 200 us
    beta: 100000000000 B/s
? 0

Runs that differ are refused, with a list.

$ sed 's/"scores2"/"scores"/' $T/both.json > $T/other_name.json
$ ovl calibrate --compute $T/alone.json --comm $T/alone.json --overlap $T/other_name.json
$T/other_name.json: error: does not run the same kernels as $T/alone.json: 4 differences
  device 0: kernel scores: 1 alone, 2 overlapped
  device 0: kernel scores2: 1 alone, 0 overlapped
  device 1: kernel scores: 1 alone, 2 overlapped
  device 1: kernel scores2: 1 alone, 0 overlapped
? 3
$ sed 's/"bytes": 400000000/"bytes": 400000001/' $T/both.json > $T/other_size.json
$ ovl calibrate --compute $T/alone.json --comm $T/alone.json --overlap $T/other_size.json
$T/other_size.json: error: does not run the same communication as $T/alone.json: 4 differences
  device 0: all_reduce of 400000000 B (reduce1): 1 alone, 0 overlapped
  device 0: all_reduce of 400000001 B (reduce1): 0 alone, 1 overlapped
  device 1: all_reduce of 400000000 B (reduce1): 1 alone, 0 overlapped
  device 1: all_reduce of 400000001 B (reduce1): 0 alone, 1 overlapped
? 3
$ ovl calibrate --compute $T/both.json --comm $T/alone.json --overlap $T/both.json
$T/both.json: error: is no run alone: kernels and communication overlap for 54.9582 ms
? 3
$ ovl calibrate --compute $T/alone.json --comm $T/alone.json --overlap $T/alone.json
$T/alone.json: error: is no overlapped run: no kernel ran beside communication
? 3
$ ovl calibrate --compute $T/alone.json --comm $T/absent.json --overlap scenarios/calibration/planted.yaml
$T/absent.json: error: cannot read "$T/absent.json": no such file
scenarios/calibration/planted.yaml: error: is no trace; it looks like text
? 3
$ ovl calibrate --compute $T/alone.json
error: interference needs three runs: --compute, --comm and --overlap; --comm is missing
error: interference needs three runs: --compute, --comm and --overlap; --overlap is missing
? 2
$ ovl calibrate --compute a --comm b --overlap c --class 'gemm' --class '(=x' --alpha 3 --hbm 2 --sms x
error: --alpha is "3": a duration needs a unit, such as "7 ms"
error: --hbm is "2": a rate needs a unit, such as "450 GB/s"
error: --sms is "x": expected a whole number, such as "16"
error: --class is "gemm": expected REGEX=CLASS, such as 'cutlass|xmma=gemm'
error: --class "(": no pattern: Unmatched ( or \(
? 2

A clock that ran slower in the overlapped run shows on the kernels outside the overlap.

$ ovl export --trace scenarios/calibration/planted.yaml --set workload.ops.qkv.duration=3.3ms --set workload.ops.head.duration=9.9ms --set workload.ops.loss.duration=1.1ms -o $T/slow.json
$ ovl calibrate --compute $T/alone.json --comm $T/alone.json --overlap $T/slow.json --alpha 0.2ms | grep clock
$T/slow.json: warning: kernels outside the overlap take 1.1 times as long as in $T/alone.json (median of 6): the GPU's clock differed, and the factors hold that too
  clock: 6 kernels outside the overlap take 1.100 times as long as alone (median)
? 0

Classes by name.

$ ovl calibrate --compute $T/alone.json --comm $T/alone.json --overlap $T/both.json --class '.*=work' | grep -A 3 'as long while'
How many times as long while both run (95 % interval)
  kernel  collective  kernel takes            collective takes
  work    all_gather  1.215 (1.111 to 1.295)  1.251 (1.235 to 1.263)
  work    all_reduce  1.258 (1.177 to 1.351)  1.278 (1.172 to 1.429)
? 0

Two configurations.

$ ovl calibrate --two-point overlap --at 32.3%=1028ms --at 62.9%=790ms --json
{
  "schema": "overlapsim.two_point/1",
  "form": "overlap",
  "at": [
    {"hidden_share": 0.323, "time_s": 1.028000000000, "uncovered_s": 0.526555555556},
    {"hidden_share": 0.629, "time_s": 0.790000000000, "uncovered_s": 0.288555555556}
  ],
  "compute_s": 0.501444444444,
  "comm_s": 0.777777777778
}
$ ovl calibrate --two-point accumulation --at 1=3s --at 2=4.3s --at 3=5s
Accumulation: T = m X + C, communication once a step
  3 s = 1 X + C
  4.3 s = 2 X + C
  5 s = 3 X + C
  least squares: X = 1 s, C = 2.1 s, root mean square of what is left 141.421 ms
compute 1 s a micro-batch, communication 2.1 s
  2 micro-batches: 4.1 s; with communication after each 6.2 s, 1.51 times as long
  3 micro-batches: 5.1 s; with communication after each 9.3 s, 1.82 times as long
$ ovl calibrate --two-point accumulation --at 1=22.2s --at 4=88.8s
Accumulation: T = m X + C, communication once a step
  22.2 s = 1 X + C
  88.8 s = 4 X + C
  X = (88.8 s - 22.2 s) / (4 - 1) = 22.2 s
  C = 22.2 s - 1 X = 0 s
compute 22.2 s a micro-batch, communication 0 s
  4 micro-batches: 88.8 s; with communication after each 88.8 s, 1.00 times as long
  - no communication is left: either it is hidden, or it happens with every unit of compute, so that
    X holds it; these measurements cannot tell
$ ovl calibrate --two-point accumulation --at 1=22.2s --at 4=99s
error: communication of -3.4 s would solve the equations, and no step has that: the measurements are not of the form T = m X + C, communication once a step
? 3
$ ovl calibrate --two-point accumulation --at 2=22.2s --at 2=23s
error: the measurements cannot tell compute from communication: they hold the same amounts of both
? 3
$ ovl calibrate --two-point accumulation --at 1=22.2s
error: two unknowns need two measurements: give --at twice, such as --at 1=22.2s --at 4=54.3s
? 2
$ ovl calibrate --two-point accumulation --at 0=22.2s --at 1.5=3s --at 2=4 --at 7
error: --at "0=22.2s": "0": must be 1 or more micro-batches
error: --at "1.5=3s": "1.5": expected a whole number, such as "16"
error: --at "2=4": "4": a duration needs a unit, such as "7 ms"
error: --at is "7": expected MICROBATCHES=TIME, such as 4=54.3s
? 2
$ ovl calibrate --two-point overlap --at 180%=2s --at 3s x.json
error: --at "180%=2s": "180%": must be a share between 0 and 1, such as 80.1%
error: --at is "3s": expected SHARE=TIME, such as 80.1%=544ms
error: --two-point takes no files; give --at
? 2
$ ovl calibrate
error: nothing to calibrate: give files, or --compute, --comm and --overlap, or --two-point
? 2

A run of several ranks may have a file for each; what a rank lacks is said with its number.

$ for r in 0 1; do ovl export --trace scenarios/calibration/three_runs.yaml --variant compute_alone --ranks $r -o $T/a$r.json; ovl export --trace scenarios/calibration/three_runs.yaml --variant comm_alone --ranks $r -o $T/b$r.json; ovl export --trace scenarios/calibration/three_runs.yaml --ranks $r -o $T/c$r.json; done
$ ovl calibrate --compute $T/a0.json --compute $T/a1.json --comm $T/b0.json --comm $T/b1.json --overlap $T/c0.json --overlap $T/c1.json | grep -e '1\.16' -e ranks -e json
  compute alone        $T/a0.json
                       $T/a1.json
  communication alone  $T/b0.json
                       $T/b1.json
  overlapped           $T/c0.json
                       $T/c1.json
  matmul  all_reduce  1.16 (1.16 to 1.16)  1.813 (1.813 to 1.813)
  ranks 0 (device 0), 1 (device 1)
$ ovl calibrate --compute $T/a0.json --comm $T/b0.json --comm $T/b1.json --overlap $T/c0.json --overlap $T/c1.json
$T/c0.json: error: does not run the same kernels as $T/a0.json: 1 difference
  rank 1 device 1: kernel matmul: 0 alone, 1 overlapped
? 3

Our own traces can be inspected, too: what overlapped is what the run says.

$ ovl inspect $T/both.json | head -9
$T/both.json
  PyTorch profiler trace, 58 records

  device 0: kernels 14 (communication 6), copies 0, sets 0
    compute                     42.2988 ms
  + uncovered communication            0 ms   27.4791 ms busy, 27.4791 ms of it under compute (100.0 %)
  + copies and sets alone             0 ms   0 ms busy
  + idle                              0 ms
  = span                        42.2988 ms
$ ovl run scenarios/calibration/planted.yaml --json | grep -m 2 -e '"hidden_comm_s' -e '"time_s": 0.0422'
    "time_s": 0.042298815067,
    "hidden_comm_s": 0.027479108572,
? 0

A link that degrades slows, too, what is alone on it: the report does not call all of that interference.

$ ovl run scenarios/mesh/nic_sharing.yaml:degraded | grep -A 1 -e 'comm stretch  ' -e Price
  comm stretch      2   11.8  communication slowed by others or by a fault; no kernel runs
  = step           17  100.0
--
Price of interference and hardware.faults (model shared)
  step 17 ms = 14 ms without interference and faults + 3 ms of both
$ ovl run scenarios/mesh/nic_sharing.yaml:earlier | grep -A 1 -e 'comm stretch  ' -e Price
  comm stretch    0.5    3.6  communication slowed by what runs beside it; no kernel runs
  = step         14.0  100.0
--
Price of interference (model shared)
  step 14 ms = 13 ms without interference + 1 ms of interference
$ ovl run scenarios/contention/hbm_share.yaml --set 'hardware.faults=[{link: hbm, bandwidth: 100 GB/s}]' | grep stretch
     7.8 ms = 0.18 ms of kernels + 7.62 ms of stretch by others or by a fault
  compute stretch  7.62   97.7  kernels, slowed by others or by a fault
  of the hidden time, 5.6 ms are stretch: no progress beside kernels
$ printf '# Sums over a million ranks are beyond 64 bits: they are left out.\nhardware: {gpu: {hbm: 2 TB/s}}\nworkload:\n  ranks: 1000000\n  ops:\n    - {kernel: a, duration: 10 s, hbm: 20 TB}\n    - {kernel: b, duration: 10 s, hbm: 20 TB, stream: x}\n' > $T/many.yaml
$ ovl run $T/many.yaml | grep -A 1 -e 'resource  ' -e 'add up'
  resource       on  operation  rank 0  all ranks  beside  rank 0  all ranks  together
  hbm       1000000  a              10          -  b           10          -        20
--
  each loss stands once, so rows add up; all of them: hbm 20 s on rank 0, more than can be counted
  over all ranks
$ ovl run $T/many.yaml --json | grep '"hbm", "'
    {"op": "a", "bound": "hbm", "time_s": 20.000000000000, "lost_s": 10.000000000000},
    {"op": "b", "bound": "hbm", "time_s": 20.000000000000, "lost_s": 10.000000000000}
    {"name": "hbm", "instances": 1000000, "busiest": 0, "capacity_Bps": 2000000000000, "busy_s": 20.000000000000, "bytes": 40000000000000, "mean_use": 1, "lost_s": 20.000000000000, "alone_s": 0.000000000000, "all_alone_s": 0.000000000000}
    {"resource": "hbm", "a": "a", "b": "b", "instances": 1000000, "together_s": 20.000000000000, "lost_a_s": 10.000000000000, "lost_b_s": 10.000000000000, "full_instances": 1000000, "pairs": 1}
    {"resource": "hbm", "a": "a", "b": "b", "instances": 1000000, "together_s": 20.000000000000, "lost_a_s": 10.000000000000, "lost_b_s": 10.000000000000, "full_instances": 1000000, "pairs": 1}
$ printf '# Two sends on one NIC: half of the first 3 ms behind their latency is lost, beside a kernel of 4 ms.\nhardware:\n  node: {gpus: 2}\n  links: {nic: {bandwidth: 10 GB/s, gpus: 2, out_of: node}}\n  collectives: [{op: send_recv, via: [nic], alpha: 1 ms, beta: 10 GB/s}]\nworkload:\n  ranks: 4\n  ops:\n    - {kernel: k, duration: 4 ms, ranks: [0, 1]}\n    - {send: s, group: world, to: 2, bytes: 100 MB, ranks: [0]}\n    - {send: t, group: world, to: 3, bytes: 100 MB, ranks: [1]}\n    - {recv: s, group: world, from: 0, bytes: 100 MB, ranks: [2]}\n    - {recv: t, group: world, from: 1, bytes: 100 MB, ranks: [3]}\n' > $T/sends.yaml
$ ovl run $T/sends.yaml | grep -B 1 stretch:
  21 ms = 4 ms hidden under kernels + 17 ms uncovered, with no kernel beside it
  of the hidden time, 1.5 ms are stretch: no progress beside kernels
