Schedules that are wrong: a race and a gradient exit with 1, a deadlock with 4, each with its place.

$ ovl run scenarios/hazards/missing_wait.yaml
Optimizer without its wait
variant base, 2 ranks folded into 1 class, interference shared

step 7 ms = 5 ms + 2 ms exposed (reduce ends at 7 ms; optimizer could start at 5 ms)

Decomposition of rank 0 (ms)
  7 = 6 + 1
                 time      %
  compute           6   85.7  kernels, at isolated speed
  comm transfer     1   14.3  communication moving bytes, at isolated speed; no kernel runs
  = step            7  100.0

Communication of rank 0
  2 ms = 1 ms hidden under kernels + 1 ms uncovered, with no kernel beside it
  1 startup; mean busbw 8.389 GB/s

Price of interference (model shared)
  0: the step is as long without it

Collectives and receives of rank 0: all_reduce in world (times in ms, busbw in GB/s)
  name     bytes  ready  queue  wait  start  end  exposed  delay  busbw  slack  worth
  reduce  16 MiB      5      0     0      5    7        2      0  8.389      0      1  *
  start = ready + queue + wait; exposed: its end beyond the moment its consumer could start
  otherwise; delay: how much later that moment is than if all of this name were free, on every rank
  (what they slowed, what queued behind them); worth: how much shorter the step is if they are; *:
  on the critical path

Critical path (times in ms)
  start  end  took  rank  stream   operation  started
      0    5     5     0  compute  backward   start
      5    7     2     0  comm     reduce     after: backward
                 7                 = step

Peak memory
  rank              live   at  allocated  before issuing  reserved
  0 (of 2 alike)  16 MiB  0 s     16 MiB  backward          16 MiB
  rank 0, live and allocated peak 16 MiB at 0 s, when backward starts (before issuing backward):
    bucket 16 MiB (reduce) = 16 MiB
    no holder could go before bucket is needed: each is held for the whole run, was just made, or is
    last used by what waits for it or comes behind it on a stream
  rank 0, reserved peak 16 MiB at the allocated peak: buffers alone

Hazards: 2
  - scenarios/hazards/missing_wait.yaml:13:7: race: "optimizer" reads buffer "bucket" without
    waiting for "reduce" (all_reduce) that writes it, on rank 0; add after: [reduce] (1 more rank
    alike)
  - scenarios/hazards/missing_wait.yaml:13:7: missing_gradient: "optimizer" receives gradient "w"
    without the contribution of rank 1, microbatch 0, on rank 0 (1 more rank alike)

Not modelled
  - Host launch times are not modelled: the hardware gives no host.
  - HBM sharing is not modelled: the hardware gives no gpu.hbm.
  - SM limits are not modelled: the hardware gives no gpu.sms.
  - The links that all_reduce loads are not modelled: no via is given.
? 1
$ ovl run scenarios/hazards/reduced_twice.yaml
A gradient reduced twice
variant base, 2 ranks folded into 1 class, interference shared

step 10 ms = 7 ms + 2 ms exposed + 1 ms from optimizer on (reduce_again ends at 9 ms; optimizer
     could start at 7 ms)

Decomposition of rank 0 (ms)
  10 = 6 + 4
                 time      %
  compute           6   60.0  kernels, at isolated speed
  comm transfer     4   40.0  communication moving bytes, at isolated speed; no kernel runs
  = step           10  100.0

Communication of rank 0
  4 ms = 0 ms hidden under kernels + 4 ms uncovered, with no kernel beside it
  2 startups; mean busbw 8.389 GB/s

Price of interference (model shared)
  0: the step is as long without it

Collectives and receives of rank 0: all_reduce in world (times in ms, busbw in GB/s)
  name           bytes  ready  queue  wait  start  end  exposed  delay  busbw  slack  worth
  reduce        16 MiB      5      0     0      5    7        2      0  8.389      0      2  *
  reduce_again  16 MiB      7      0     0      7    9        2      0  8.389      0      2  *
  start = ready + queue + wait; exposed: its end beyond the moment its consumer could start
  otherwise; delay: how much later that moment is than if all of this name were free, on every rank
  (what they slowed, what queued behind them); worth: how much shorter the step is if they are; *:
  on the critical path

Critical path (times in ms)
  start  end  took  rank  stream   operation     started
      0    5     5     0  compute  backward      start
      5    7     2     0  comm     reduce        after: backward
      7    9     2     0  comm     reduce_again  stream: after reduce
      9   10     1     0  compute  optimizer     after: reduce_again
                10                 = step

Peak memory
  rank              live   at  allocated  before issuing  reserved
  0 (of 2 alike)  16 MiB  0 s     16 MiB  backward          16 MiB
  rank 0, live and allocated peak 16 MiB at 0 s, when backward starts (before issuing backward):
    grad 16 MiB (gradient) = 16 MiB
    no holder could go before grad is needed: each is held for the whole run, was just made, or is
    last used by what waits for it or comes behind it on a stream
  rank 0, reserved peak 16 MiB at the allocated peak: buffers alone

Hazards: 1
  - scenarios/hazards/reduced_twice.yaml:14:7: duplicate_gradient: "optimizer" receives gradient "w"
    with every contribution 2 times, on rank 0 (1 more rank alike)

Not modelled
  - Host launch times are not modelled: the hardware gives no host.
  - HBM sharing is not modelled: the hardware gives no gpu.hbm.
  - SM limits are not modelled: the hardware gives no gpu.sms.
  - The links that all_reduce loads are not modelled: no via is given.
? 1
$ ovl run scenarios/hazards/cycle.yaml
scenarios/hazards/cycle.yaml:9:7: error: deadlock: 4 of 4 operations never end; they wait in a circle:
  recv "from_1" on rank 0 has arrived and waits for send "to_0" on rank 1
  send "to_0" on rank 1 waits on its stream behind recv "from_0" on rank 1
  recv "from_0" on rank 1 has arrived and waits for send "to_1" on rank 0
  send "to_1" on rank 0 waits on its stream behind recv "from_1" on rank 0
? 4
$ ovl run scenarios/hazards/send_without_receive.yaml
scenarios/hazards/send_without_receive.yaml:11:7: error: send "y" on rank 0 has no matching receive on rank 1
? 4
$ ovl run scenarios/hazards/mismatched_order.yaml
scenarios/hazards/mismatched_order.yaml:10:7: error: mismatched collectives: operation 1 of group "world" is all_reduce "reduce" of 16777216 bytes f32 on rank 0 but all_gather "gather" of 8388608 bytes f32 on rank 1; every member must launch the same collectives in the same order
? 4
