All of the ways to put four gradients into buckets; the same from one thread and from three.

$ ovl optimize tests/cli/four_gradients.yaml
tests/cli/four_gradients.yaml
least step; interference none

Start: base, step 33 ms
Tried: all 75 ways to put 4 gradients into buckets in any order: exact
       485 simulations of at most 6,000, 0 of them without an answer (errors, hazards, too large, or
       excluded)
Best:  step 20 ms, 13 ms less (39 %)
Bound: no split and no order is shorter than 20 ms (the kernels of the deciding rank at isolated
       speed); the gap is 0 s, 0 % of the best

variants:
  optimized: {overlap.ddp.buckets: [[a, b, d], [c]]}

Runner-up: step 20 ms, the same: {overlap.ddp.buckets: [[a, d], [b], [c]]}

How far it stays the best of the 8 best and the start
  compute times: from as stated to 2 times or more; below that {overlap.ddp.buckets: [[a], [b, d],
    [c]]} is better
  the last gradient to be ready: from 16 ms earlier or more to 16 ms later or more

four_gradients
a: base (interference none)
b: optimized (interference none)

Step (ms) = when the last waiting work could start + exposed communication
        a: base       b: optimized
  step  33 = 20 + 13  20 = 20 + 0
  a: bucket 0 ends at 33 ms; optimizer could start at 20 ms
  b: bucket 1 ends at 20 ms; optimizer could start at 20 ms

Decomposition of the deciding rank (ms)
                  a   b  b - a
  compute        20  20      0
  comm_transfer  13   0    -13
  = step         33  20    -13

Communication of the deciding rank
                                a           b
  hidden under kernels       2 ms       16 ms
  + uncovered               13 ms        0 ms
  = total                   15 ms       16 ms
  mean busbw            27.4 GB/s  25.69 GB/s
  startups                      1           2
  bandwidth efficiency fell: mean busbw 27.4 GB/s -> 25.69 GB/s, startups 1 -> 2; the step improved
    all the same

Exposed communication that changed, largest over all ranks (ms)
  name      a             b            b - a
  bucket 0  13 on rank 0  0 on rank 0    -13

Critical path
  numbered by each run for itself: bucket 0 (15 ms) on the critical path of a, bucket 0 and 1 other
    (16 ms) on that of b; left the critical path: backward c (14 ms)

Memory
  peaks: live 672 MiB, unchanged; allocated 672 MiB, unchanged; reserved 672 MiB, unchanged

Gradients
  the optimizer receives the same gradients: proved for 32 inputs, each once, at 1/8

Hazards
  none in either

Verdict: better: the step is 13 ms (39.4 %) shorter; most of it is comm_transfer, -13 ms
$ for j in 1 3; do ovl optimize scenarios/buckets/last_bucket.yaml --tries 300 --json -j $j -o $T/$j.json; done; cmp $T/1.json $T/3.json

$ ovl optimize scenarios/buckets/resnet50_ddp.yaml | head -n 23
ResNet-50 with DDP
least step; interference shared

Start: base, step 98.1363 ms
Tried: all combinations of the values, 7: exact
       344 simulations of at most 6,000, 0 of them without an answer (errors, hazards, too large, or
       excluded)
Best:  step 98.1018 ms, 34.4829 us less (0.035 %)
Bound: with the kernels and the bytes of the best no step is shorter than 97.996 ms (the kernels of
       rank 0 at isolated speed take 97.996 ms; nvlink.out, the busiest resource, needs 227.174 us
       for its bytes); the gap is 105.837 us, 0.11 % of the best

variants:
  optimized: {overlap.ddp.bucket_cap: 16 MiB}

Runner-up: step 98.1122 ms, 10.399 us more: {overlap.ddp.bucket_cap: 8 MiB}

How far it stays the best of the 7 best and the start
  compute times: from 0.5 times or less to 2 times or more
  the last gradient to be ready: from 1.98 ms earlier or more to 1.98 ms later or more

ResNet-50 with DDP
a: base (interference shared)
$ ovl optimize tests/cli/uneven_pipeline.yaml | head -n 22
tests/cli/uneven_pipeline.yaml
least step; interference shared

Start: base, step 126 ms
Tried: all 28 ways to put 9 layers on 3 stages: exact
       218 simulations of at most 6,000, 0 of them without an answer (errors, hazards, too large, or
       excluded)
Best:  step 96 ms, 30 ms less (24 %)
Bound: with the kernels and the bytes of the best no step is shorter than 72 ms (its kernels in
       equal parts on all ranks at isolated speed take 72 ms); the gap is 24 ms, 25 % of the best

variants:
  optimized: {overlap.pipeline.layers_per_stage: [4, 3, 2]}

Runner-up: step 102 ms, 6 ms more: {overlap.pipeline.layers_per_stage: [5, 2, 2]}

How far it stays the best of the 8 best and the start
  compute times: from 0.5 times or less to 2 times or more

uneven_pipeline
a: base (interference shared)
b: optimized (interference shared)
$ ovl optimize tests/cli/uneven_pipeline.yaml --stages --tries 10 | sed -n '4,10p'
Start: base, step 126 ms
Tried: 9 of 28 ways to put 9 layers on 3 stages, one layer moved at a time until none helped, or
       --tries ended it: others may be better
       10 simulations of at most 10, 0 of them without an answer (errors, hazards, too large, or
       excluded)
Best:  step 96 ms, 30 ms less (24 %)
Bound: with the kernels and the bytes of the best no step is shorter than 72 ms (its kernels in

$ ovl optimize scenarios/buckets/last_bucket.yaml --where 'step<1 ms' | head -n 10; ovl optimize scenarios/buckets/last_bucket.yaml --where 'step<1 ms' >/dev/null
The last bucket
least step; where step<1 ms; interference measured

Start: base, step 217 ms, which is no answer itself
Tried: all 64 splits of 7 gradients in their order: exact
       72 simulations of at most 6,000, 64 of them without an answer (errors, hazards, too large, or
       excluded)
No gain: nothing that was tried is an answer
  step<1 ms: the closest is 212.4 ms
? 1
$ ovl optimize scenarios/first_steps/interference.yaml
error: the scenario has 0 gradients in buckets of overlap.ddp: there is nothing to split
? 2
$ ovl optimize scenarios/buckets/last_bucket.yaml --stages
error: --stages needs a pipeline of 2 to 256 stages and a workload of at least as many layers; there are 0 stages and 0 layers
? 2
$ ovl optimize tests/cli/waits_in_a_circle.yaml --over interference=none
tests/cli/waits_in_a_circle.yaml:3:42: error: "a" waits for "b", which is issued later and waits for "a": a cycle, the schedule cannot finish
? 4
$ ovl optimize scenarios/buckets/last_bucket.yaml --tries 0 --objective stpe
error: unknown metric of --objective: "stpe"; did you mean "step"?
error: --tries takes a whole number from 1 to 10000000; found "0"
? 2
$ ovl sweep scenarios/buckets/last_bucket.yaml --solve 'hardware.collectives[0].beta' --for 'step=215 ms' --json
{
  "schema": "overlapsim.solve/1",
  "key": "hardware.collectives[0].beta",
  "metric": "step",
  "target": 0.215000000000,
  "precision": 0.000500000000,
  "present": "16 MiB/ms",
  "now": 0.217000000000,
  "from": "0.16 MiB/ms",
  "to": "1600 MiB/ms",
  "end": "met",
  "monotone": true,
  "least": 0.211060000000,
  "most": 0.811000000000,
  "solutions": [
    {"value": "24 MiB/ms", "gives": 0.215000000000, "low": "21.3333333821 MiB/ms", "high": "27.428571 MiB/ms", "low_open": false, "high_open": false, "level": false, "one_percent_more": -0.000039603960}
  ],
  "not_simulated": [],
  "simulations": 118
}
$ ovl sweep scenarios/buckets/last_bucket.yaml --solve 'hardware.collectives[0].beta' --for 'step=205 ms'
Which hardware.collectives[0].beta gives step 205 ms?
  now 16 MiB/ms gives step 217 ms
  No answer: from 0.16 MiB/ms to 1600 MiB/ms step stays above 205 ms; the nearest is step 211.06 ms,
    6.06 ms more, at 1600 MiB/ms, where the range ends
  204.5 ms to 205.5 ms count as 205 ms
  60 simulations
? 1
$ ovl sweep scenarios/buckets/last_bucket.yaml --solve hardware.gpu.sms --for 'step=205 ms' --between 10..100
Which hardware.gpu.sms gives step 205 ms?
  now gives step 217 ms
  No answer: step is 217 ms whatever the value, from 10 to 100
  204.5 ms to 205.5 ms count as 205 ms
  35 simulations
? 1
$ ovl sweep scenarios/buckets/last_bucket.yaml --solve hardware.gpu.hmb --for 'step=205 ms' --between '1 TB/s..2 TB/s'
--solve hardware.gpu.hmb: error: unknown key "hmb"; did you mean "hbm"?
? 2
$ ovl sweep scenarios/buckets/last_bucket.yaml --solve overlap.ddp.bucket_capp --for 'step=205 ms'
--solve overlap.ddp.bucket_capp: error: unknown key "bucket_capp"; did you mean "bucket_cap"?
? 2
$ ovl sweep scenarios/buckets/last_bucket.yaml --solve hardware.gpu.hbm --for 'step=205 ms' --between '1 ms..2 ms'
--solve hardware.gpu.hbm: error: hbm is "1 ms": unknown unit; rates are bytes per time (GB/s, MiB/ms) or bits per time (Gb/s)
? 2
$ ovl sweep scenarios/buckets/last_bucket.yaml --solve hardware.gpu.hbm --for 'step=205 ms' --csv --store $T/x.db --over a=1 --objective step
error: --csv has no effect beside --solve: leave one of them out
error: --store has no effect beside --solve: leave one of them out
error: --over has no effect beside --solve: leave one of them out
error: --objective has no effect beside --solve: leave one of them out
try: ovl sweep --help
? 2
$ ovl explain scenarios/buckets/last_bucket.yaml --for 'step=205 ms' --between '1 ms..2 ms'
error: --for has no effect without --solve
error: --between has no effect without --solve
try: ovl explain --help
? 2
$ ovl sweep scenarios/buckets/last_bucket.yaml --over overlap.ddp.bucket_capp=1MiB,2MiB --over hardware.collectives[0].alpha=1ms,2ms
--over overlap.ddp.bucket_capp: error: unknown key "bucket_capp"; did you mean "bucket_cap"?
? 2
$ ovl sweep scenarios/buckets/last_bucket.yaml --solve hardware.gpu.hbm --for 'step<205'
error: --for step<205: "205": a duration needs a unit, such as "7 ms"
error: the scenario has no number at "hardware.gpu.hbm" to begin from; give the range: --between '1 GB/s..100 GB/s'
? 2

$ ovl optimize tests/cli/four_gradients.yaml --set 'overlap.ddp.buckets=[[d],[a,b,c]]' | grep optimized:
  optimized: {overlap.ddp.buckets: [[d, a, b], [c]]}

$ ovl optimize scenarios/buckets/last_bucket.yaml --tries 1
The last bucket
least step; interference measured

Start: base, step 217 ms
Tried: nothing but the start
       1 simulation of at most 1, 0 of them without an answer (errors, hazards, too large, or
       excluded)
No gain: nothing but the start was tried
