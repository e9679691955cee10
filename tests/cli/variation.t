Durations that vary. Garbage collection: 1.46 s once in 265 steps, on ranks that collect in different steps, and together.

$ ovl run scenarios/variation/pauses.yaml --trials 530
Garbage collection
variant base, interference shared, 64 ranks, 530 trials, seed 1

Over 530 trials (s)
                                p5      p50      p75      p95     mean     from       to   stated
  step                     16.7011  16.7011  16.7011  18.1611  17.0096  16.9587  17.0605  16.7011
  uncovered communication   0.0011   0.0011   0.0011   0.0011   0.0011   0.0011   0.0011   0.0011
  from, to: 95 % interval of the mean; stated: the step at the durations the scenario gives
  mean step - stated: 308.528 ms

Waiting for late ranks (s, means)
      16.7066  a rank's step without its waits for late ranks, mean over ranks
  +    0.3030  more on the slowest rank: expected maximum over ranks
  +         0  more because different ranks are late at different collectives
  =   17.0096  step

Late ranks: who arrives last where somebody waits, of several the lowest
  rank  times last  of collectives  mean wait for it
     0           2           0.4 %            1.46 s
     1           2           0.4 %            1.46 s
     2           2           0.4 %            1.46 s
     3           2           0.4 %            1.46 s
     4           2           0.4 %            1.46 s
     5           2           0.4 %            1.46 s
     6           2           0.4 %            1.46 s
     7           2           0.4 %            1.46 s
     8           2           0.4 %            1.46 s
     9           2           0.4 %            1.46 s
  10 of 63 ranks; all of them: --json

Collectives that waited for a late rank
  collective  waited for  mean wait  late ranks  most often  share  reads as
  broadcast   112 of 530     1.46 s    63 of 64      rank 0  1.8 %  jitter: any rank

$ ovl run scenarios/variation/pauses.yaml --variant aligned --trials 530
Garbage collection
variant aligned, interference shared, 64 ranks, 530 trials, seed 1

Over 530 trials (s)
                                p5      p50      p75      p95     mean     from       to   stated
  step                     16.7011  16.7011  16.7011  16.7011  16.7066  16.6989  16.7142  16.7011
  uncovered communication   0.0011   0.0011   0.0011   0.0011   0.0011   0.0011   0.0011   0.0011
  from, to: 95 % interval of the mean; stated: the step at the durations the scenario gives
  mean step - stated: 5.50943 ms

Waiting for late ranks (s, means)
      16.7066  a rank's step without its waits for late ranks, mean over ranks
  +         0  more on the slowest rank: expected maximum over ranks
  +         0  more because different ranks are late at different collectives
  =   16.7066  step

No rank was late for a collective in any trial.

$ ovl run scenarios/variation/late_ranks.yaml --trials 100 --seed 7
Late ranks
variant base, interference shared, 8 ranks, 100 trials, seed 7

Over 100 trials (s)
                                p5      p50      p75      p95     mean     from       to   stated
  step                     17.9703  18.0455  18.0736  18.1234  18.0476  18.0385  18.0568  18.0200
  uncovered communication   3.0600   3.0600   3.0600   3.0600   3.0600   3.0600   3.0600   3.0600
  from, to: 95 % interval of the mean; stated: the step at the durations the scenario gives
  mean step - stated: 27.6488 ms

Waiting for late ranks (s, means)
      17.8783  a rank's step without its waits for late ranks, mean over ranks
  +    0.1539  more on the slowest rank: expected maximum over ranks
  +    0.0154  more because different ranks are late at different collectives
  =   18.0476  step

Late ranks: who arrives last where somebody waits, of several the lowest
  rank  times last  of collectives  mean wait for it
     0         109          27.2 %        215.556 ms
     7          17           4.2 %        32.2569 ms
     2          14           3.5 %        42.4296 ms
     3          14           3.5 %        32.8373 ms
     1          13           3.2 %        55.9857 ms
     5          13           3.2 %         33.178 ms
     4          11           2.8 %         45.607 ms
     6           9           2.2 %        31.5966 ms

Collectives that waited for a late rank
  collective      waited for   mean wait  late ranks  most often   share  reads as
  reduce_scatter  100 of 100  238.453 ms      4 of 8      rank 0  96.0 %  imbalance: this rank
  all_reduce      100 of 100  31.9754 ms      8 of 8      rank 7  17.0 %  jitter: any rank

$ ovl compare scenarios/buckets/small_buckets.yaml resnet50_16 resnet50_16_1MB --trials 300
Small buckets
300 trials, seed 1; trial by trial both draw the same

Step (ms)
                              p5      p50      p75      p95     mean     from       to   stated
  a: resnet50_16          99.060   99.625  100.025  101.098   99.797   99.708   99.887   98.845
  b: resnet50_16_1MB     102.231  103.412  104.252  105.961  103.688  103.551  103.826  101.083
  b - a                    3.172    3.787    4.227    4.864    3.891    3.760    4.022    2.237
  b - a, trial by trial    2.503    3.623    4.472    6.101    3.891    3.760    4.022
  from, to: 95 % interval of the mean; stated: the step at the durations the scenario gives

In how many trials b is
  shorter  0 (0.0 %)
  equal    0
  longer   300

Verdict: worse: b is 3.89115 ms longer on average, and shorter in 0 of 300 trials
Without variation: worse: the step is 2.23734 ms (2.3 %) longer; most of it is compute, +2.4 ms

$ ovl compare scenarios/variation/late_ranks.yaml short_prefetch --trials 50
Late ranks
50 trials, seed 1; trial by trial both draw the same

Step (s)
                              p5      p50      p75      p95     mean     from       to   stated
  a: base                17.9600  18.0313  18.0527  18.1061  18.0304  18.0179  18.0430  18.0200
  b: short_prefetch      17.9600  18.0313  18.0527  18.1061  18.0304  18.0179  18.0430  18.0200
  b - a                        0        0        0        0        0        0        0        0
  b - a, trial by trial        0        0        0        0        0        0        0
  from, to: 95 % interval of the mean; stated: the step at the durations the scenario gives

In how many trials b is
  shorter  0 (0.0 %)
  equal    50
  longer   0

Verdict: no gain: the step is the same in every trial
Without variation: no gain: the step is the same; prefetch has 4 s of slack

$ for j in 1 2 5; do ovl run scenarios/buckets/small_buckets.yaml --trials 100 -j $j --json -o $T/$j.json; done; cmp $T/1.json $T/2.json && cmp $T/1.json $T/5.json
$ ovl run scenarios/variation/pauses.yaml:aligned --trials 50 --json -o $T/a.json; ovl run scenarios/variation/pauses.yaml:aligned --trials 50 --no-fold --json -o $T/b.json; cmp $T/a.json $T/b.json

$ ovl run scenarios/first_steps/matmul_allreduce.yaml --trials 10
scenarios/first_steps/matmul_allreduce.yaml:10:1: error: nothing varies, so every trial would be the same; say what does: `variation: {kernels: {cv: 3 %}}`, or --set 'variation.kernels={cv: 3 %}'
? 3
$ ovl run scenarios/variation/pauses.yaml --trials 1
error: --trials 1: expected a whole number from 2 to 1000000
? 2
$ ovl run scenarios/variation/pauses.yaml --seed 3
error: --seed has no effect without --trials
try: ovl run --help
? 2
$ ovl compare scenarios/variation/pauses.yaml --trials 10
Garbage collection
10 trials, seed 1; trial by trial all draw the same

Step (s)
                p5      p50      p75      p95     mean     from       to   stated
  base     16.7011  16.7011  18.1611  18.1611  17.2851  16.7457  17.8244  16.7011
  aligned  16.7011  16.7011  16.7011  18.1611  16.8471  16.5168  17.1774  16.7011
  many     16.7011  18.1611  18.1611  18.1611  17.8691  17.4287  18.3095  16.7011
  from, to: 95 % interval of the mean; stated: the step at the durations the scenario gives

Step - that of base, trial by trial (s)
                 p5  p50      p95      mean      from       to  shorter in
  aligned  -1.46000    0  1.46000  -0.43800  -1.14293  0.26693      40.0 %  no gain that shows
  many            0    0  1.46000   0.58400   0.04466  1.12334       0.0 %  worse

Best: base: no variant is surely shorter on average
$ ovl run scenarios/variation/pauses.yaml --set workload.steps=3
scenarios/variation/pauses.yaml:22:11: error: pauses need workload.steps: 1; each trial is a step of its own
? 3
$ ovl run scenarios/variation/late_ranks.yaml --set 'variation.ops[0]={op: nobody, cv: 3 %}' --set 'variation.kernels={cv: 80 %, distribution: uniform}' --set 'variation.ops[1]={op: update, cv: 40 %, distribution: normal}'
--set variation.kernels: error: a uniform law as wide as that would be negative: its cv is at most 57.7 %, its p95 at most 1.9 times p50
--set variation.ops[1]: error: a normal law as wide as that would often be negative: its cv is at most 33.3 %, its p95 at most 1.54 times p50; lognormal goes further
? 2

A duration may say itself how it varies; a pause may come in the midst of a step, before the next launch.

$ ovl compare scenarios/first_steps/matmul_allreduce.yaml overlapped --set 'workload.ops[0].duration={mean: 25 ms, cv: 4 %}' --trials 100
A matmul beside an all-reduce
100 trials, seed 1; trial by trial both draw the same

Step (ms)
                              p5      p50      p75      p95     mean     from       to   stated
  a: base                44.2281  45.6795  46.2775  47.0780  45.6959  45.5285  45.8633  45.0000
  b: overlapped          32.5986  33.3533  33.6643  34.0805  33.3619  33.2748  33.4489  33.0000
  b - a                 -11.6295 -12.3262 -12.6132 -12.9974 -12.3340 -12.4144 -12.2537 -12.0000
  b - a, trial by trial -13.0362 -12.3317 -12.0517 -11.6404 -12.3340 -12.4144 -12.2537
  from, to: 95 % interval of the mean; stated: the step at the durations the scenario gives

In how many trials b is
  shorter  100 (100.0 %)
  equal    0
  longer   0

Verdict: better: b is 12.334 ms shorter on average, and shorter in 100 of 100 trials
Without variation: better: the step is 12 ms (26.7 %) shorter; most of it is comm_transfer, -16 ms
$ ovl run scenarios/first_steps/matmul_allreduce.yaml --set 'workload.ops[0].duration={cv: 4 %}'
--set workload.ops[0].duration: error: how long is it? Give a mean, or p50 and p95
? 2
$ ovl run scenarios/first_steps/matmul_allreduce.yaml --set 'workload.ops[0].duration={p50: 25 ms}'
--set workload.ops[0].duration: error: p50 and p95 belong together; found one of them
? 2
$ ovl run scenarios/pipeline/which_schedule.yaml --set 'workload.layers[1].forward={mean: 1 ms, cv: 5 %}'
scenarios/pipeline/which_schedule.yaml:24:7: error: layers of a pipeline run as stages, whose times are sums: say how they vary in `variation`, by kind or by name
? 3
$ ovl run scenarios/variation/pauses.yaml --set hardware.host.launch=5us --set variation.pauses.from=8s --set variation.pauses.until=16s --trials 265 | sed -n 4,9p
Over 265 trials (s)
                                p5      p50      p75      p95     mean     from       to   stated
  step                     16.7011  16.7011  16.7011  16.7011  16.7061  16.6993  16.7129  16.7011
  uncovered communication   0.0011   0.0011   0.0011   0.0011   0.0011   0.0011   0.0011   0.0011
  from, to: 95 % interval of the mean; stated: the step at the durations the scenario gives
  mean step - stated: 5.00807 ms

$ ovl run scenarios/variation/pauses.yaml --set variation.pauses.from=20s --trials 2
scenarios/variation/pauses.yaml:22:11: error: a pause at 20 s would come after the step, which ends at 16.7011 s; one that begins with the next step has no from
? 3
