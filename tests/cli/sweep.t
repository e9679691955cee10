Threads change nothing: 1,000 points, to the byte.

$ for j in 1 2 5; do ovl sweep scenarios/buckets/last_bucket.yaml --over 'hardware.collectives[0].alpha=0.01ms..10ms+0.01' --csv -j $j -o $T/$j.csv; done; wc -l <$T/1.csv; cmp $T/1.csv $T/2.csv && cmp $T/1.csv $T/5.csv
1001

$ ovl sweep scenarios/buckets/resnet50_ddp.yaml --csv | grep '^3,' | cut -d, -f 2-6; ovl run scenarios/buckets/resnet50_ddp.yaml --set overlap.ddp.bucket_cap=8MiB --json | grep -E '^ *"(time|comm_uncovered|without_interference)_s"' | head -n 3
8 MiB,done,0.098112236319,0.000025352960,0.000090883359
    "time_s": 0.098112236319,
    "comm_uncovered_s": 0.000025352960,
    "without_interference_s": 0.098021352960,

$ ovl sweep scenarios/buckets/last_bucket.yaml --over 'hardware.collectives[0].alpha=0.1ms..10ms+0.1'
The last bucket
100 points: hardware.collectives[0].alpha; interference measured (times in ms, memory in MiB)

  alpha    step  uncovered   live  allocated   peak  mark
  0.1 ms  216.1        6.1  288.0      288.0  288.0  front, best
  all points: price 0 s, idle term 0 s, startups 1, hazards 0

Front: 1 of 100 points, by step against peak; the other 99 are shown by --rows all
Best: alpha 0.1 ms: step 216.1 ms, peak 288 MiB

What each step of alpha buys
  alpha             gain (ms)  live  allocated  peak  so it
  0.1 ms -> 0.2 ms       -0.1   0 B        0 B   0 B  costs time
  0.2 ms -> 0.3 ms       -0.1   0 B        0 B   0 B  costs time
  0.3 ms -> 0.4 ms       -0.1   0 B        0 B   0 B  costs time
  0.4 ms -> 0.5 ms       -0.1   0 B        0 B   0 B  costs time
  0.5 ms -> 0.6 ms       -0.1   0 B        0 B   0 B  costs time
  0.6 ms -> 0.7 ms       -0.1   0 B        0 B   0 B  costs time
  0.7 ms -> 0.8 ms       -0.1   0 B        0 B   0 B  costs time
  0.8 ms -> 0.9 ms       -0.1   0 B        0 B   0 B  costs time
  0.9 ms -> 1 ms         -0.1   0 B        0 B   0 B  costs time
  1 ms -> 1.1 ms         -0.1   0 B        0 B   0 B  costs time
  1.1 ms -> 1.2 ms       -0.1   0 B        0 B   0 B  costs time
  1.2 ms -> 1.3 ms       -0.1   0 B        0 B   0 B  costs time
  1.3 ms -> 1.4 ms       -0.1   0 B        0 B   0 B  costs time
  1.4 ms -> 1.5 ms       -0.1   0 B        0 B   0 B  costs time
  1.5 ms -> 1.6 ms       -0.1   0 B        0 B   0 B  costs time
  1.6 ms -> 1.7 ms       -0.1   0 B        0 B   0 B  costs time
  1.7 ms -> 1.8 ms       -0.1   0 B        0 B   0 B  costs time
  1.8 ms -> 1.9 ms       -0.1   0 B        0 B   0 B  costs time
  1.9 ms -> 2 ms         -0.1   0 B        0 B   0 B  costs time
  2 ms -> 2.1 ms         -0.1   0 B        0 B   0 B  costs time
  and 79 more: --json
$ ovl sweep scenarios/buckets/last_bucket.yaml --over 'hardware.collectives[0].alpha=0.1ms..10ms+0.1' --rows all | wc -l
132

$ ovl sweep scenarios/buckets/resnet50_ddp.yaml --over 'overlap.ddp.bucket_cap=4MiB,16MiB' --over 'hardware.gpu.memory=314MiB,400MiB' --objective peak --pareto step,startups
ResNet-50 with DDP
4 points: overlap.ddp.bucket_cap, hardware.gpu.memory; interference shared (times in ms, memory in
MiB)

  bucket_cap  memory     step  uncovered   price   live  allocated   peak  startups  mark
        4MiB  314MiB  98.1346     0.0243  0.1143  292.5      292.5  316.0        19  does not fit
        4MiB  400MiB  98.1346     0.0243  0.1143  292.5      292.5  316.0        19
       16MiB  314MiB  98.1018     0.0268  0.0791  292.5      292.5  312.0         7  front, best
       16MiB  400MiB  98.1018     0.0268  0.0791  292.5      292.5  312.0         7  tie
  all points: idle term 0 s, retries 0, hazards 0

Front: 1 of 4 points, by step against startups; 1 more ties with one of them
Best: bucket_cap 16MiB, memory 314MiB: peak 312 MiB, step 98.1018 ms, startups 7; left out: 1 does
      not fit

What each step of bucket_cap buys
  bucket_cap     with           gain (ms)  live  allocated    peak  so it
  4MiB -> 16MiB  memory 314MiB     0.0328   0 B        0 B  -4 MiB  saves both
  4MiB -> 16MiB  memory 400MiB     0.0328   0 B        0 B  -4 MiB  saves both

What each step of memory buys
  memory            with              gain (ms)  live  allocated  peak  so it
  314MiB -> 400MiB  bucket_cap 4MiB           0   0 B        0 B   0 B  no change
  314MiB -> 400MiB  bucket_cap 16MiB          0   0 B        0 B   0 B  no change

$ ovl sweep tests/cli/waits_in_a_circle.yaml --over interference=none,shared
tests/cli/waits_in_a_circle.yaml
2 points: interference

  interference  mark
  none          stuck
  shared        stuck

  interference none and 1 more: tests/cli/waits_in_a_circle.yaml:3:42: error: "a" waits for "b",
    which is issued later and waits for "a": a cycle, the schedule cannot finish

Best: none; left out: 2 with errors
? 4
$ ovl sweep scenarios/hazards/missing_wait.yaml --over interference=none,shared
Optimizer without its wait
2 points: interference (times in ms, memory in MiB)

  interference  step   live  allocated   peak  mark
  none             7  16.00      16.00  16.00  hazards
  shared           7  16.00      16.00  16.00  hazards
  all points: uncovered 1 ms, price 0 s, idle term 0 s, startups 1, hazards 2

Front: 0 of 2 points, by step against peak
Best: none; left out: 2 with hazards
No effect: interference: whatever the value, every figure is the same
? 1
$ ovl sweep scenarios/buckets/last_bucket.yaml
error: nothing to sweep: scenarios/buckets/last_bucket.yaml has no `sweep:` section; add one, or name values: --over overlap.ddp.bucket_cap=1MiB,25MiB
? 2
$ ovl sweep scenarios/buckets/last_bucket.yaml --over x --over 'y=3..1' --where 'stop<3ms' --objective stepp --jobs 0
--over y: error: y: "3..1": a range goes from the smaller value to the larger
error: unknown metric of --objective: "stepp"; did you mean "step"?
error: unknown metric of --where: "stop"; did you mean "step"?
error: --jobs takes a whole number from 1 to 1024; found "0"
error: --over takes key=values, such as overlap.ddp.bucket_cap=1MiB,25MiB; found "x"
? 2
$ ovl sweep scenarios/buckets/last_bucket.yaml --over variant=split_48,split_49
The last bucket
2 points: variant; interference measured (times in ms, memory in MiB)

  variant   step uncovered price idle term  live allocated  peak startups hazards mark
  split_48 214.6       4.0   0.6         0 288.0     288.0 288.0        2       0 front, best
  split_49                                                                        error

  variant split_49: scenarios/buckets/last_bucket.yaml: error: unknown variant "split_49"; did you
    mean "split_48"?

Front: 1 of 2 points, by step against peak
Best: variant split_48: step 214.6 ms, peak 288 MiB; left out: 1 with errors
? 2

Memory is shared among the threads: a point that may need more than its share is an error of that point.

$ OVL_MEMORY=1MiB ovl sweep scenarios/buckets/last_bucket.yaml --over 'hardware.collectives[0].alpha=1ms,2ms' --jobs 1
The last bucket
2 points: hardware.collectives[0].alpha

  alpha  mark
  1ms    error
  2ms    error

  alpha 1ms and 1 more: error: the run may need 1.038 MiB of memory (operations: 72, ranks: 8), and
    1 MiB is allowed

Best: none; left out: 2 with errors
? 3

Of pipelines also why ranks idle: 8 stages and m microbatches of 42 ms fill and drain for 7 * 42 ms on each rank.

$ ovl sweep scenarios/pipeline/which_schedule.yaml --over overlap.pipeline.microbatches=8,16,32 | sed -n '/^Idle/,$p'
Idle time of all ranks by reason (s)
                    fill  drain
  microbatches 8   0.392  1.960
  microbatches 16  0.392  1.960
  microbatches 32  0.392  1.960

What each step of microbatches buys, in time of a microbatch
  microbatches  gain (s)  live  allocated  peak  so it
  8 -> 16        0.01837   0 B        0 B   0 B  free
  16 -> 32       0.00919   0 B        0 B   0 B  free

$ ovl sweep scenarios/buckets/last_bucket.yaml --variant split_48 --set workload.microbatches=2 --over variant=all --over workload.microbatches=1,2
error: --variant has no effect beside a sweep over variant: leave one of them out
error: --set workload.microbatches has no effect beside a sweep over workload.microbatches: leave one of them out
? 2

Points that train on other numbers of tokens, or other models, are compared by what these take.

$ ovl sweep scenarios/mesh/model_by_shape.yaml --over workload.model.sequence=2048,4096
A model by its shape
2 points: workload.model.sequence; interference shared (times in ms, memory in GiB)

  sequence per_million_tokens    step uncovered price idle term  live allocated  peak mark
  2048               3303.758  54.129     3.372 0.180    29.986 3.496     3.496 3.564 front
  4096               3298.080 108.071     4.545 0.354    60.367 4.306     4.306 4.420 front, best
  all points: retries 0, startups 98, hazards 0

Front: 2 of 2 points, by per_million_tokens against peak
Best: sequence 4096: per_million_tokens 3.29808 s, peak 4.42 GiB; the points do different work,
      16384 to 32768 tokens of 8.588 to 8.789 GFLOP each: what a million takes is compared,
      --objective step compares steps

Idle time of all ranks by reason (ms)
                  fill   drain  imbalance  dependency  schedule
  sequence 2048  0.062  42.624     30.856      31.232    63.589
  sequence 4096  0.123  92.293     57.123      40.599   132.162

What each step of sequence buys, in time of a million tokens
  sequence      gain (ms)      live  allocated      peak  so it
  2048 -> 4096      5.678  +829 MiB   +829 MiB  +876 MiB  154.3 MiB for each ms
? 0

So it is where variants change the sequence; with another model among them FLOPs are compared.

$ sed '/^variants:/,$d' scenarios/mesh/model_by_shape.yaml > $T/sequences.yaml; printf 'variants:\n  short: {workload.model.sequence: 4096, workload.model.microbatch: 2}\n  other: {workload.model.ffn_hidden: 18000}\n' >> $T/sequences.yaml
$ ovl sweep $T/sequences.yaml --over variant=base,short | grep -A 2 ^Best
Best: variant short: step 213.93 ms, peak 6.148 GiB

Idle time of all ranks by reason (ms)
$ ovl sweep $T/sequences.yaml --over variant=base,short,other | grep -A 2 ^Best
Best: variant other: per_pflop 359.451 ms, peak 6.566 GiB; the points do the FLOPs of other models,
      0.576 to 0.6732 PFLOP: what one PFLOP takes is compared, --objective step compares steps

