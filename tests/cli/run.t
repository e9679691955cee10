One run in full: the best split of the last bucket, then what free communication would be worth.

$ ovl run scenarios/buckets/last_bucket.yaml --variant late_alone
The last bucket
variant late_alone, 8 ranks folded into 1 class, interference measured

step 212.4 ms = 211.15 ms + 1.25 ms exposed (bucket 1 ends at 212.4 ms; optimizer could start at
     211.15 ms)
     211.15 ms = 210 ms of kernels + 1.15 ms of stretch by what ran beside them

Decomposition of rank 0 (ms)
  212.4 = 210 + 1.15 + 1 + 0.25
                     time      %
  compute          210.00   98.9  kernels, at isolated speed
  compute stretch    1.15    0.5  kernels, slowed by what runs beside them
  comm latency       1.00    0.5  communication in its latency; no kernel runs
  comm transfer      0.25    0.1  communication moving bytes, at isolated speed; no kernel runs
  = step           212.40  100.0

Communication of rank 0
  8 ms = 6.75 ms hidden under kernels + 1.25 ms uncovered, with no kernel beside it
  2 startups; mean busbw 22.02 GB/s

Price of interference (model measured)
  step 212.4 ms = 211.25 ms without interference + 1.15 ms of interference

Collectives and receives of rank 0: all_reduce in dp (times in ms, busbw in GB/s)
  name       bytes   ready  queue  wait   start     end  exposed  delay  busbw  slack  worth
  bucket 0  92 MiB  202.00      0     0  202.00  208.75        0   1.15  25.01   2.40   1.15
  bucket 1   4 MiB  211.15      0     0  211.15  212.40     1.25      0  5.872      0   1.25  *
  start = ready + queue + wait; exposed: its end beyond the moment its consumer could start
  otherwise; delay: how much later that moment is than if all of this name were free, on every rank
  (what they slowed, what queued behind them); worth: how much shorter the step is if they are; *:
  on the critical path

Below isolated speed on rank 0 (times in ms)
  operation      held back by      for  lost
  backward late  measured factor  5.75  1.15

Critical path (times in ms)
   start     end    took  rank  stream   operation      started
       0  194.00  194.00     0  compute  backward g1    start
  194.00  196.00    2.00     0  compute  backward g2    stream: after backward g1
  196.00  198.00    2.00     0  compute  backward g3    stream: after backward g2
  198.00  200.00    2.00     0  compute  backward g4    stream: after backward g3
  200.00  202.00    2.00     0  compute  backward g5+a  stream: after backward g4
  202.00  210.15    8.15     0  compute  backward late  stream: after backward g5+a
  210.15  211.15    1.00     0  compute  copy_in late   stream: after backward late
  211.15  212.40    1.25     0  comm     bucket 1       after: copy_in late
                  212.40                 = step

Peak memory
  rank               live      at  allocated  before issuing  reserved
  0 (of 8 alike)  288 MiB  202 ms    288 MiB  backward late    304 MiB
  rank 0, live and allocated peak 288 MiB at 202 ms, when backward late starts (before issuing
    backward late): bucket 0 92 MiB (reduce) + g1 16 MiB (parameter) + g1.grad 16 MiB (gradient) +
    g2 16 MiB (parameter) + g2.grad 16 MiB (gradient) + g3 16 MiB (parameter) + g3.grad 16 MiB
    (gradient) + g4 16 MiB (parameter) + 8 others 84 MiB = 288 MiB
    no holder could go before late.grad is needed: each is held for the whole run, was just made, or
    is last used by what waits for it or comes behind it on a stream
  rank 0, reserved peak 304 MiB at the allocated peak: buffers 288 MiB + free in pools 16 MiB = 304
    MiB

Hazards: none
  200 pairs of accesses to buffers, all ordered
  56 gradients proved: each reaches its optimizer complete, once, at scale 1/8

Not modelled
  - The forward pass is not modelled: the workload gives gradients only.
  - The optimizer takes no time: workload.optimizer gives no duration.
  - Host launch times are not modelled: the hardware gives no host.
  - HBM sharing is not modelled: the hardware gives no gpu.hbm.
  - SM limits are not modelled: the hardware gives no gpu.sms.
  - The links that all_reduce loads are not modelled: no via is given.
$ ovl run scenarios/first_steps/matmul_allreduce.yaml --variant overlapped --worth all
A matmul beside an all-reduce
variant overlapped, 2 ranks folded into 1 class, interference measured

step 33 ms = 29 ms + 4 ms exposed (all_reduce ends at 33 ms; use could start at 29 ms)
     29 ms = 25 ms of kernels + 4 ms of stretch by what ran beside them

Decomposition of rank 0 (ms)
  33 = 25 + 4 + 4
                   time      %
  compute            25   75.8  kernels, at isolated speed
  compute stretch     4   12.1  kernels, slowed by what runs beside them
  comm transfer       4   12.1  communication moving bytes, at isolated speed; no kernel runs
  = step             33  100.0

Communication of rank 0
  33 ms = 29 ms hidden under kernels + 4 ms uncovered, with no kernel beside it
  of the hidden time, 13 ms are stretch: no progress beside kernels
  1 startup; mean busbw 10.17 GB/s

Price of interference (model measured)
  step 33 ms = 25 ms without interference + 8 ms of interference

Collectives and receives of rank 0: all_reduce in world (times in ms, busbw in GB/s)
  name          bytes  ready  queue  wait  start  end  exposed  delay  busbw  slack  worth
  all_reduce  320 MiB      0      0     0      0   33        4      4  10.17      0      8  *
  start = ready + queue + wait; exposed: its end beyond the moment its consumer could start
  otherwise; delay: how much later that moment is than if all of this name were free, on every rank
  (what they slowed, what queued behind them); worth: how much shorter the step is if they are; *:
  on the critical path

Below isolated speed on rank 0 (times in ms)
  operation   held back by     for  lost
  all_reduce  measured factor   29    13
  matmul      measured factor   29     4

Critical path (times in ms)
  start  end  took  rank  stream  operation   started
      0   33    33     0  comm    all_reduce  start
                33                = step

Hazards not checked: the program declares no buffers

Not modelled
  - Host launch times are not modelled: the hardware gives no host.
  - HBM sharing is not modelled: the hardware gives no gpu.hbm.
  - SM limits are not modelled: the hardware gives no gpu.sms.
  - The links that all_reduce loads are not modelled: no via is given.
$ ovl run scenarios/first_steps/interference.yaml
Interference without a tail
variant base, 2 ranks folded into 1 class, interference measured

step 30 ms = 30 ms + 0 ms exposed (all_reduce ends at 26 ms; use could start at 30 ms)
     30 ms = 25 ms of kernels + 5 ms of stretch by what ran beside them

Decomposition of rank 0 (ms)
  30 = 25 + 5
                   time      %
  compute            25   83.3  kernels, at isolated speed
  compute stretch     5   16.7  kernels, slowed by what runs beside them
  = step             30  100.0

Communication of rank 0
  26 ms = 26 ms hidden under kernels + 0 ms uncovered, with no kernel beside it
  of the hidden time, 6 ms are stretch: no progress beside kernels
  1 startup; mean busbw 12.91 GB/s

Price of interference (model measured)
  step 30 ms = 25 ms without interference + 5 ms of interference

Collectives and receives of rank 0: all_reduce in world (times in ms, busbw in GB/s)
  name          bytes  ready  queue  wait  start  end  exposed  delay  busbw  slack  worth
  all_reduce  320 MiB      0      0     0      0   26        0      5  12.91      4      5
  start = ready + queue + wait; exposed: its end beyond the moment its consumer could start
  otherwise; delay: how much later that moment is than if all of this name were free, on every rank
  (what they slowed, what queued behind them); worth: how much shorter the step is if they are; *:
  on the critical path

Below isolated speed on rank 0 (times in ms)
  operation   held back by     for  lost
  all_reduce  measured factor   26     6
  matmul      measured factor   26     5

Critical path (times in ms)
  start  end  took  rank  stream   operation  started
      0   30    30     0  compute  matmul     start
                30                 = step

Hazards not checked: the program declares no buffers

Not modelled
  - Host launch times are not modelled: the hardware gives no host.
  - HBM sharing is not modelled: the hardware gives no gpu.hbm.
  - SM limits are not modelled: the hardware gives no gpu.sms.
  - The links that all_reduce loads are not modelled: no via is given.
$ ovl run tests/cli/messages.yaml --worth none | head -n 5
Messages
One message, and a rank that has nothing to do with it.
variant base, 3 ranks, interference none

step 40 ms; no work of rank 0 waits for communication; on rank 2 use does, 20 ms for in
$ ovl run tests/cli/queue.yaml | grep -A 7 '^Collectives'
Collectives and receives of rank 0: all_reduce in world (times in ms, busbw in GB/s)
  name    bytes  ready  queue  wait  start  end  exposed  delay    busbw  slack  worth
  first   1 MiB      0      0     0      0   30        0     30  0.03495      0     30  *
  second  1 MiB      0     30     0     30   40       40      0   0.1049      0     10  *
  start = ready + queue + wait; exposed: its end beyond the moment its consumer could start
  otherwise; delay: how much later that moment is than if all of this name were free, on every rank
  (what they slowed, what queued behind them); worth: how much shorter the step is if they are; *:
  on the critical path
$ ovl run tests/cli/queue.yaml:short | head -n 2
A queue
variant short, 2 ranks folded into 1 class, interference none
$ ovl run tests/cli/queue.yaml:short --variant again
error: "tests/cli/queue.yaml:short" names a variant, and so does --variant again
? 2
$ ovl run tests/cli/queue.yaml:shorter
tests/cli/queue.yaml: error: unknown variant "shorter"; did you mean "short"?
? 2
$ ovl run tests/cli/queue.yaml --interference none --set interference=shared | sed -n 2p
variant base, 2 ranks folded into 1 class, interference shared
$ ovl run tests/cli/queue.yaml --set interference=shared --interference none | sed -n 2p
variant base, 2 ranks folded into 1 class, interference none
$ ovl run scenarios/fsdp/one_communicator.yaml --worth none --memory | sed -n '/^What rank/,/^Hazards/p'
What rank 0 holds, by the time of its GPU (ms)
  from  parameter  gradient  gathered     reduce     = live
     4    1.5 GiB   2.5 GiB     2 GiB                 6 GiB
    14    1.5 GiB   1.5 GiB     1 GiB  1.125 GiB  5.125 GiB
    23    1.5 GiB   2.5 GiB     2 GiB                 6 GiB
    42    1.5 GiB   2.5 GiB     2 GiB                 6 GiB
    61    1.5 GiB   2.5 GiB     2 GiB                 6 GiB
    71    1.5 GiB   1.5 GiB     1 GiB  1.125 GiB  5.125 GiB
    80    1.5 GiB   2.5 GiB     2 GiB                 6 GiB
    99    1.5 GiB   2.5 GiB     2 GiB                 6 GiB
   118    1.5 GiB   2.5 GiB     2 GiB                 6 GiB
   137    1.5 GiB   2.5 GiB     2 GiB                 6 GiB
   147    1.5 GiB   1.5 GiB     1 GiB  1.125 GiB  5.125 GiB
   156    1.5 GiB   2.5 GiB     2 GiB                 6 GiB
   175    1.5 GiB   2.5 GiB     2 GiB                 6 GiB
   194    1.5 GiB   2.5 GiB     2 GiB                 6 GiB
   204    1.5 GiB   1.5 GiB     1 GiB  1.125 GiB  5.125 GiB
   213    1.5 GiB   2.5 GiB     1 GiB                 5 GiB
  the fullest moments of 37, one of each stretch; all: --json

What its host has allocated, in the order of its program (ms of the host)
  from  before issuing            parameter  gradient  gathered  reduce  = allocated   reserved
     0  backward block[11]          1.5 GiB   2.5 GiB     1 GiB                5 GiB      6 GiB
     0  copy_out again block[10]    1.5 GiB   1.5 GiB     2 GiB   1 GiB        6 GiB  6.125 GiB
     0  backward block[10]          1.5 GiB   2.5 GiB     1 GiB   1 GiB        6 GiB  7.125 GiB
     0  copy_out again block[9]     1.5 GiB   1.5 GiB     2 GiB   1 GiB        6 GiB  7.125 GiB
     0  copy_out again block[8]     1.5 GiB   1.5 GiB     2 GiB   1 GiB        6 GiB  7.125 GiB
     0  copy_out again block[7]     1.5 GiB   1.5 GiB     2 GiB   1 GiB        6 GiB  7.125 GiB
     0  copy_out again block[6]     1.5 GiB   1.5 GiB     2 GiB   1 GiB        6 GiB  7.125 GiB
     0  backward block[6]           1.5 GiB   2.5 GiB     1 GiB   1 GiB        6 GiB  7.125 GiB
     0  copy_out again block[5]     1.5 GiB   1.5 GiB     2 GiB   1 GiB        6 GiB  7.125 GiB
     0  copy_out again block[4]     1.5 GiB   1.5 GiB     2 GiB   1 GiB        6 GiB  7.125 GiB
     0  copy_out again block[3]     1.5 GiB   1.5 GiB     2 GiB   1 GiB        6 GiB  7.125 GiB
     0  backward block[3]           1.5 GiB   2.5 GiB     1 GiB   1 GiB        6 GiB  7.125 GiB
     0  copy_out again block[2]     1.5 GiB   1.5 GiB     2 GiB   1 GiB        6 GiB  7.125 GiB
     0  copy_out again block[1]     1.5 GiB   1.5 GiB     2 GiB   1 GiB        6 GiB  7.125 GiB
     0  copy_out again block[0]     1.5 GiB   1.5 GiB     2 GiB   1 GiB        6 GiB  7.125 GiB
     0  reduce copy_in block[0]     1.5 GiB   2.5 GiB             1 GiB        5 GiB  7.125 GiB
  the fullest moments of 62, one of each stretch; all: --json

Hazards: none
$ ovl run scenarios/contention/hbm_share.yaml --stats | grep -A 9 'run cost'
What the run cost
  operations              2  in all
  skipped                 0  of them, in periods like those before
  activities              2  kernels, copies, collectives and transfers that took time
  at once                 2  activities at most
  events                  2  ends, latencies, launches, changes of a capacity
  solves                  1  of rates, each on one resource or on coupled ones
  touched              2.00  classes of like activities, a solve
  queue                   2  times an event was put into the queue or moved in it
  delays                  0  events that needed no queue
$ OVL_MEMORY=50MiB ovl check scenarios/mesh/model_by_shape.yaml --set workload.model.layers=20000
scenarios/mesh/model_by_shape.yaml:26:10: error: the layers have 2480056 operations at least, forward and backward of 4 microbatches, and need more than 354.8 MiB of memory; 50 MiB is allowed (OVL_MEMORY)
scenarios/mesh/model_by_shape.yaml:26:10: error: the layers have 2000044 operations at least, forward and backward of 4 microbatches, and need more than 286.1 MiB of memory; 50 MiB is allowed (OVL_MEMORY) (variant all_reduces)
scenarios/mesh/model_by_shape.yaml:26:10: error: the layers have 6320104 operations at least, forward and backward of 4 microbatches, and need more than 904.1 MiB of memory; 50 MiB is allowed (OVL_MEMORY) (variant pieces)
scenarios/mesh/model_by_shape.yaml:26:10: error: the layers have 2240036 operations at least, forward and backward of 4 microbatches, and need more than 320.4 MiB of memory; 50 MiB is allowed (OVL_MEMORY) (variant context)
? 3
$ printf 'workload: {ranks: 2, ops: [{marker: m}, {repeat: 3000000, ops: [{kernel: k, duration: 1 us}, {kernel: m, duration: 1 us}]}]}' >"$T/many.yaml" && OVL_MEMORY=200MiB ovl run "$T/many.yaml"
$T/many.yaml:1:41: error: with every repeat and step unrolled there are 6000001 operations, and need more than 343.3 MiB of memory; 200 MiB is allowed (OVL_MEMORY)
? 3
$ OVL_MEMORY=lots ovl run scenarios/contention/hbm_share.yaml
error: OVL_MEMORY is "lots": expected a size, such as "25 MiB"
try: ovl run --help
? 2
$ OVL_MEMORY=1MiB ovl run scenarios/contention/hbm_share.yaml
error: the run may need 6 MiB of memory with all that is asked about it (operations: 16, ranks: 8), and 1 MiB is allowed
? 3

Controlled runs. The matmul takes 25 ms alone and the all-reduce 20; together 29 ms pass under the matmul, in which the
all-reduce advances by 16, and its last 4 stick out: 12 are saved of 45.

$ ovl run scenarios/first_steps/matmul_allreduce.yaml:overlapped --only both
A matmul beside an all-reduce
variant overlapped, interference measured

Three controlled runs, on rank 0 (times in ms)
                   compute only  communication only  both  alone + alone - both
  compute                    25                   0    25                     0
  compute stretch             0                   0     4                    -4
  comm transfer               0                  20     4                    16
  = step                     25                  20    33                    12

  both 33 = 25 compute + 4 stretch of kernels + 4 tail: communication with no kernel beside it
  saved by overlap 12 = 16 of communication that no longer shows - 4 of stretch of kernels

Durations, summed (times in ms)
  what                     times  isolated  alone  both  both / isolated
  kernels of class matmul      1        25     25    29            1.160
  all_reduce in world          1        20     20    33            1.650
  isolated: as their costs say; alone: in the run without the other kind; of sends and receives the
  sends
? 0

One behind the other nothing is saved; and each of the two by itself.

$ ovl run scenarios/first_steps/matmul_allreduce.yaml --only both
A matmul beside an all-reduce
variant base, interference measured

Three controlled runs, on rank 0 (times in ms)
                 compute only  communication only  both  alone + alone - both
  compute                  25                   0    25                     0
  comm transfer             0                  20    20                     0
  = step                   25                  20    45                     0

  both 45 = 25 compute + 20 tail: communication with no kernel beside it
  nothing is saved by overlap

Durations, summed (times in ms)
  what                     times  isolated  alone  both  both / isolated
  kernels of class matmul      1        25     25    25            1.000
  all_reduce in world          1        20     20    20            1.000
  isolated: as their costs say; alone: in the run without the other kind; of sends and receives the
  sends
$ ovl run scenarios/first_steps/matmul_allreduce.yaml:overlapped --only compute | sed -n '/^variant/p; /^step/p; /--only/,/own/p'
variant overlapped, compute only, 2 ranks folded into 1 class, interference measured
step 25 ms = 25 ms + 0 ms exposed (all_reduce ends at 0 ms; use could start at 25 ms)
  - --only compute: communication and copies take no time, and move and hold nothing; they keep
    their order.
  - Host launch times are not modelled: the hardware gives no host.
  - HBM sharing is not modelled: the hardware gives no gpu.hbm.
  - SM limits are not modelled: the hardware gives no gpu.sms.
  - The links that all_reduce loads are not modelled: no via is given.
$ ovl run scenarios/first_steps/matmul_allreduce.yaml:overlapped --only comm | sed -n '/^variant/p; /^step/p'
variant overlapped, communication only, 2 ranks folded into 1 class, interference measured
step 20 ms = 0 ms + 20 ms exposed (all_reduce ends at 20 ms; use could start at 0 ms)
$ ovl run scenarios/first_steps/matmul_allreduce.yaml --only both --what-if all --worth all
error: --only both is a controlled run: leave out --what-if
error: --only both is a controlled run: leave out --worth
? 2
$ ovl run scenarios/first_steps/matmul_allreduce.yaml --only comms
error: option "--only" is compute, comm or both, not "comms"
try: ovl run --help
? 2

A long critical path says once what repeats itself: k of 1 us and reduce of 2 us come 2,000 times, the first time with the step.

$ ovl run tests/cli/many_kernels.yaml | sed -n '/^Critical/,/= step/p'
Critical path (times in ms)
  start    end   took  rank  stream   operation                        started
      0  0.001  0.001     0  compute  k                                start
  0.001  0.003  0.002     0  comm     reduce                           after: k
  0.003  5.998  1.999     0  compute  k (1999 times, every 3 us)       after: reduce
  0.004  6.000  3.998     0  comm     reduce (1999 times, every 3 us)  after: k
                6.000                 = step
