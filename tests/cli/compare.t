Two variants of a file, the same file with its own base, two files.

$ ovl compare scenarios/buckets/last_bucket.yaml split_48 split_80_16
The last bucket
a: split_48 (interference measured)
b: split_80_16 (interference measured)

Step (ms) = when the last waiting work could start + exposed communication
                             a: split_48        b: split_80_16
  step                       214.6 = 210.6 + 4  213 = 211 + 2
  start, of it interference  210.6 = 210 + 0.6  211 = 210 + 1
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
  hidden under kernels         4 ms        6 ms
  + no kernel beside it        4 ms        2 ms
  = total                      8 ms        8 ms
  mean busbw             22.02 GB/s  22.84 GB/s
  startups                        2           2

Critical path
  the critical path runs through the same operations; bucket 1 takes 2 ms of it instead of 4 ms

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
  step                       33 = 29 + 4    33 = 29 + 4
  start, of it interference  29 = 25 + 4    29 = 25 + 4
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
  hidden under kernels        29 ms       29 ms
  + no kernel beside it        4 ms        4 ms
  = total                     33 ms       33 ms
  mean busbw             10.17 GB/s  10.17 GB/s
  startups                        1           1

Critical path
  the critical path is the same

Gradients
  not proved that the optimizer receives the same gradients: neither run follows any

Hazards
  not checked: neither declares buffers

Verdict: no gain: the step is the same
$ ovl compare scenarios/buckets/last_bucket.yaml:late_alone scenarios/buckets/last_bucket.yaml
The last bucket
a: late_alone (interference measured)
b: base (interference measured)

Step (ms) = when the last waiting work could start + exposed communication
                             a: late_alone          b: base
  step                       212.4 = 211.15 + 1.25  217 = 210 + 7
  start, of it interference  211.15 = 210 + 1.15
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
  hidden under kernels      6.75 ms        0 ms
  + no kernel beside it     1.25 ms     7.00 ms
  = total                   8.00 ms     7.00 ms
  mean busbw             24.21 GB/s  25.17 GB/s
  startups                        2           1
  bandwidth efficiency rose: mean busbw 24.21 GB/s -> 25.17 GB/s, startups 2 -> 1; the step became
    longer all the same

Critical path
  left the critical path: bucket 1 (1.25 ms); took over: bucket 0 (7 ms)

Memory
  peaks: live 288 MiB, unchanged; allocated 288 MiB, unchanged; reserved 288 MiB, unchanged

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
