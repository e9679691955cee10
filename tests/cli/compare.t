Two variants of a file, the same file with its own base, two files.

$ ovl compare scenarios/buckets/last_bucket.yaml split_48 split_80_16
The last bucket
a: split_48 (interference measured)
b: split_80_16 (interference measured)

Step (ms) = when the last waiting work could start + exposed communication
                        a: split_48        b: split_80_16
  step                  214.6 = 210.6 + 4  213 = 211 + 2
  start, of it stretch  210.6 = 210 + 0.6  211 = 210 + 1
  a: bucket 1 ends at 214.6 ms; optimizer could start at 210.6 ms
  b: bucket 1 ends at 213 ms; optimizer could start at 211 ms

Decomposition of the deciding rank (ms)
                       a      b  b - a
  compute          210.0  210.0      0
  compute_stretch    0.6    1.0   +0.4
  comm_latency       1.0    1.0      0
  comm_transfer      3.0    1.0   -2.0
  = step           214.6  213.0   -1.6

Communication of the deciding rank
                                 a           b
  hidden under kernels        4 ms        6 ms
  + uncovered                 4 ms        2 ms
  = total                     8 ms        8 ms
  mean busbw            22.02 GB/s  22.02 GB/s
  startups                       2           2

Exposed communication that changed, largest over all ranks (ms)
  name      a              b              b - a
  bucket 1  4.0 on rank 0  2.0 on rank 0   -2.0

Critical path
  numbered by each run for itself: bucket 1 (4 ms) on the critical path of a, bucket 1 (2 ms) on
    that of b; the rest of the path runs through the same operations; backward late takes 8 ms of it
    instead of 7 ms

Memory
  peaks: live 288 MiB, unchanged; allocated 288 MiB, unchanged; reserved 288 MiB, unchanged

Gradients
  the optimizer receives the same gradients: proved for 56 inputs, each once, at 1/8

Hazards
  none in either

Verdict: better: the step is 1.6 ms (0.7 %) shorter; most of it is comm_transfer, -2 ms
$ ovl compare scenarios/first_steps/matmul_allreduce.yaml overlapped overlapped
A matmul beside an all-reduce
a: overlapped (interference measured)
b: overlapped (interference measured)

Step (ms) = when the last waiting work could start + exposed communication
                        a: overlapped  b: overlapped
  step                  33 = 29 + 4    33 = 29 + 4
  start, of it stretch  29 = 25 + 4    29 = 25 + 4
  a: all_reduce ends at 33 ms; use could start at 29 ms
  b: all_reduce ends at 33 ms; use could start at 29 ms

Decomposition of the deciding rank (ms)
                    a   b  b - a
  compute          25  25      0
  compute_stretch   4   4      0
  comm_transfer     4   4      0
  = step           33  33      0

Communication of the deciding rank
                                 a           b
  hidden under kernels       29 ms       29 ms
  + uncovered                 4 ms        4 ms
  = total                    33 ms       33 ms
  mean busbw            10.17 GB/s  10.17 GB/s
  startups                       1           1

Critical path
  the critical path is the same

Gradients
  not proved that the optimizer receives the same gradients: neither run follows any

Hazards
  not checked: neither declares buffers

Verdict: no gain: nothing changed: the terms, the communication and the peaks of every rank are the
         same
$ ovl compare scenarios/buckets/last_bucket.yaml:late_alone scenarios/buckets/last_bucket.yaml
The last bucket
a: late_alone (interference measured)
b: base (interference measured)

Step (ms) = when the last waiting work could start + exposed communication
                        a: late_alone          b: base
  step                  212.4 = 211.15 + 1.25  217 = 210 + 7
  start, of it stretch  211.15 = 210 + 1.15    210 = 210 + 0
  a: bucket 1 ends at 212.4 ms; optimizer could start at 211.15 ms
  b: bucket 0 ends at 217 ms; optimizer could start at 210 ms

Decomposition of the deciding rank (ms)
                        a       b  b - a
  compute          210.00  210.00      0
  compute_stretch    1.15       0  -1.15
  comm_latency       1.00    1.00      0
  comm_transfer      0.25    6.00  +5.75
  = step           212.40  217.00  +4.60

Communication of the deciding rank
                                 a           b
  hidden under kernels     6.75 ms        0 ms
  + uncovered              1.25 ms     7.00 ms
  = total                  8.00 ms     7.00 ms
  mean busbw            22.02 GB/s  25.17 GB/s
  startups                       2           1
  bandwidth efficiency rose: mean busbw 22.02 GB/s -> 25.17 GB/s, startups 2 -> 1; the step became
    longer all the same

Exposed communication that changed, largest over all ranks (ms)
  name      a               b               b - a
  bucket 0  0 on rank 0     7.00 on rank 0  +7.00
  bucket 1  1.25 on rank 0                  -1.25

Critical path
  numbered by each run for itself: bucket 1 (1.25 ms) on the critical path of a, bucket 0 (7 ms) on
    that of b; the rest of the path runs through the same operations; backward late takes 7 ms of it
    instead of 8.15 ms

Memory
  peaks: live 288 MiB, unchanged; allocated 288 MiB, unchanged; reserved 304 MiB -> 288 MiB (-16
    MiB)

Gradients
  the optimizer receives the same gradients: proved for 56 inputs, each once, at 1/8

Hazards
  none in either

Verdict: worse: the step is 4.6 ms (2.2 %) longer; most of it is comm_transfer, +5.75 ms
$ ovl compare scenarios/buckets/last_bucket.yaml split_84
scenarios/buckets/last_bucket.yaml: error: unknown variant "split_84"; did you mean "split_48"?
? 2
$ ovl compare --fail-if-worse scenarios/buckets/last_bucket.yaml late_alone base | tail -n 1
Verdict: worse: the step is 4.6 ms (2.2 %) longer; most of it is comm_transfer, +5.75 ms
$ ovl compare --fail-if-worse scenarios/buckets/last_bucket.yaml late_alone base >/dev/null
? 1
A run under another model is marked and not ranked; no gain has its reason; without a better variant
the closest is shown.

$ ovl compare tests/cli/queue.yaml | head -n 12
A queue
step = when the last waiting work could start + exposed communication + the rest

  variant  step (ms)        change (ms)       %  startups  interference  verdict
  base     45 = 0 + 40 + 5                              2  none
  short    40 = 0 + 35 + 5           -5  -11.11         2  none          better
  again    45 = 0 + 40 + 5            0       0         2  none          no gain
  shared   35 = 0 + 30 + 5          -10  -22.22         2  shared        other model

  again: no gain: the step is the same

Best: short, 40 ms: 5 ms shorter than the base; startups 2 (base 2); chosen among the runs with
$ ovl compare tests/cli/many_buckets.yaml | grep -v '^$' | head -n 8
Fifty buckets
step = when the last waiting work could start + exposed communication; interference none; peak
memory in MiB
  variant  step (ms)              change (ms)       %  startups   live  hazards  verdict
  base     150.001 = 150 + 0.001                             50  0.003        0
  coarse   150.001 = 150 + 0.001            0  +3e-06         3  0.003        0  worse
Best: the base; no variant is better, and coarse comes closest
Fifty buckets
$ ovl compare tests/cli/many_buckets.yaml | grep -A 2 'Critical path'
Critical path
  numbered by each run for itself: bucket 49 (1.0002 us) on the critical path of a, bucket 2 (1.0048
    us) on that of b; the rest of the path is the same
$ ovl compare scenarios/tutorial/first.yaml overlapped | sed -n 5,8p
Step (ms) = when the last waiting work could start + exposed communication + the rest
        a: base           b: overlapped
  step  47 = 25 + 20 + 2  27 = 25 + 0 + 2
  a: reduce ends at 45 ms; update could start at 25 ms

$ ovl compare scenarios/buckets/last_bucket.yaml --set hardware.gpu.memory=200MiB
The last bucket
step = when the last waiting work could start + exposed communication; interference measured; peak
memory in MiB

  variant      step (ms)              change (ms)      %  startups  reserved  hazards  verdict
  base         217 = 210 + 7                                     1     288.0        0  does not fit
  split_80_16  213 = 211 + 2                -4.00  -1.84         2     288.0        0  does not fit
  split_48     214.6 = 210.6 + 4            -2.40  -1.11         2     288.0        0  does not fit
  late_alone   212.4 = 211.15 + 1.25        -4.60  -2.12         2     304.0        0  does not fit

Best: none; neither the base nor a variant fits the memory of its GPU
$ ovl compare scenarios/buckets/resnet18_ddp.yaml --set hardware.gpu.memory=120MiB | grep -A1 '^Best'
Best: bucket_view, 33.7268 ms: as long as the base, which does not fit the memory of its GPU;
      startups 3 (base 3); live 89.18 MiB (base 133.8 MiB), allocated 89.18 MiB (base 133.8 MiB),
? 0

Sequences of another length are no other model: as many tokens of them are the same work.

$ sed '/^variants:/,$d' scenarios/mesh/model_by_shape.yaml > $T/sequences.yaml; printf 'variants:\n  short: {workload.model.sequence: 4096, workload.model.microbatch: 2}\n  other: {workload.model.ffn_hidden: 18000}\n' >> $T/sequences.yaml
$ ovl compare $T/sequences.yaml | sed -n 5,8p
  variant step (ms)                        change (ms) allocated reserved hazards verdict
  base    222.037 = 220.83 + 0.076 + 1.131                 5.925    6.148       0
  short   213.93 = 212.724 + 0.075 + 1.131      -8.107     5.925    6.148       0 better
  other   241.986 = 240.68 + 0.075 + 1.231     +19.949     6.344    6.566       0 better per FLOP
$ ovl compare $T/sequences.yaml short | tail -n 3
Verdict: better: the step is 8.10644 ms (3.7 %) shorter; most of it is compute, -6.48515 ms; b
         trains on as many tokens in sequences of 4096 instead of 8192, 0.576 PFLOP instead of
         0.6024
