What is no store, no run, no number; options that need another.

$ ovl history --store $T/absent.db
error: store "$T/absent.db": no such file
? 2
$ ovl history
error: which store? Name its file: --store FILE
? 2
$ ovl run scenarios/buckets/last_bucket.yaml --store $T/absent/runs.db | tail -n 1
error: store "$T/absent/runs.db": it cannot be opened
  - The links that all_reduce loads are not modelled: no via is given.
$ ovl run scenarios/buckets/last_bucket.yaml --store $T/runs.db --json | head -n 2
{
  "schema": "overlapsim.run/1",
$ ovl show --store $T/runs.db 7
error: there is no run 7 in "$T/runs.db"; ovl history lists them
? 2
$ ovl show --store $T/runs.db seven
error: "seven" is no number of a run; ovl history lists them
? 2
$ ovl compare --store $T/runs.db 1 7
error: there is no run 7 in "$T/runs.db"; ovl history lists them
? 2
$ ovl export --store $T/runs.db 1 --csv | cut -d, -f 1-4
run,scenario,variant,step_s
1,The last bucket,base,0.217000000000
$ ovl export --store $T/runs.db 1 | head -n 3
{
  "schema": "overlapsim.run/1",
  "scenario": "The last bucket",
$ ovl history --store $T/runs.db other
$T/runs.db holds no such runs
$ ovl sweep scenarios/buckets/resnet50_ddp.yaml --resume
error: --resume needs the store that keeps the points: --store FILE
? 2
$ ovl sweep scenarios/buckets/resnet50_ddp.yaml --store $T/runs.db --shard 3/2
error: --shard takes a part and how many there are, such as 2/8; found "3/2"
? 2
$ ovl sweep scenarios/buckets/resnet50_ddp.yaml -j 1 --store $T/runs.db | tail -n 10 | head -n 1
Best: bucket_cap 16 MiB: step 98.1018 ms, peak 312 MiB
$ ovl sweep scenarios/buckets/resnet50_ddp.yaml --store $T/runs.db
error: "$T/runs.db" has this sweep already, 7 of 7 points; --resume takes them and goes on
? 2
$ ovl sweep scenarios/buckets/resnet50_ddp.yaml --store $T/runs.db --resume | tail -n 10 | head -n 1
Best: bucket_cap 16 MiB: step 98.1018 ms, peak 312 MiB
$ ovl sweep scenarios/buckets/resnet50_ddp.yaml --store $T/other.db --merge $T/absent.db
error: store "$T/absent.db": no such file
? 2
$ ovl sweep scenarios/buckets/last_bucket.yaml --over variant=all --store $T/other.db --merge $T/runs.db
error: "$T/runs.db" does not have this sweep
? 2
$ ovl run scenarios/buckets/resnet50_ddp.yaml --set 'overlap.ddp.bucket_cap=1 MiB' --store $T/runs.db | tail -n 1; ovl compare --store $T/runs.db 2 9 | tail -n 1
Stored as run 9 in $T/runs.db
         same
$ ovl history --store $T/runs.db --points --csv | cut -d, -f 1,3,6,7,11,12
run,scenario,variant,changes,sweep,step_s
1,The last bucket,base,,,0.217000000000
2,ResNet-50 with DDP,base,overlap.ddp.bucket_cap=1 MiB,1,0.098183291835
3,ResNet-50 with DDP,base,overlap.ddp.bucket_cap=2 MiB,1,0.098158911790
4,ResNet-50 with DDP,base,overlap.ddp.bucket_cap=4 MiB,1,0.098134561925
5,ResNet-50 with DDP,base,overlap.ddp.bucket_cap=8 MiB,1,0.098112236319
6,ResNet-50 with DDP,base,overlap.ddp.bucket_cap=16 MiB,1,0.098101837288
7,ResNet-50 with DDP,base,overlap.ddp.bucket_cap=32 MiB,1,0.098196924530
8,ResNet-50 with DDP,base,overlap.ddp.bucket_cap=64 MiB,1,0.098203275191
9,ResNet-50 with DDP,base,overlap.ddp.bucket_cap=1 MiB,,0.098183291835

$ for v in base:7 short_prefetch:7 short_prefetch:8; do ovl run scenarios/variation/late_ranks.yaml --variant ${v%:*} --trials 20 --seed ${v#*:} --store $T/pairs.db | tail -n 1; done
Stored as run 1 in $T/pairs.db
Stored as run 2 in $T/pairs.db
Stored as run 3 in $T/pairs.db
$ ovl compare --store $T/pairs.db 1 2 | sed -n '2p;/^Verdict/,$p'
20 trials, seed 7; trial by trial both draw the same
Verdict: no gain: the step is the same in every trial
Without variation: no gain: the step is the same; prefetch has 4 s of slack
$ ovl compare --store $T/pairs.db 1 3 | sed -n '2p;/^Of all/p;/^Verdict/,$p'
a: 20 trials, seed 7; b: 20 trials, seed 8; drawn apart: two samples, not paired
Of all pairs of a trial of each b is shorter in 52.2 %
Verdict: no gain that shows: the mean difference, 422.844 us, is within its uncertainty; b is
         shorter in 52.2 % of all pairs of their trials
Without variation: no gain: the step is the same; prefetch has 4 s of slack
$ ovl compare --store $T/pairs.db 1 2 --set interference=none
error: --set has no effect on runs that are stored: leave it out
? 2
$ ovl run scenarios/variation/late_ranks.yaml --trials 20 --store $T/trials.db | tail -n 1; ovl compare scenarios/variation/late_ranks.yaml short_prefetch --trials 10 --store $T/trials.db | tail -n 1
Stored as run 1 in $T/trials.db
Stored as runs 2, 3 in $T/trials.db
$ ovl history --store $T/trials.db | sed 's/20..-[^ ]*Z/then/'
run  time                  scenario    what                       model      step
  1  then  Late ranks  base, 20 trials            shared  18.02 s
  2  then  Late ranks  base, 10 trials            shared  18.02 s
  3  then  Late ranks  short_prefetch, 10 trials  shared  18.02 s
$ ovl show --store $T/trials.db 1 | sed -n 3,8p
Late ranks
variant base, interference shared, 8 ranks, 20 trials, seed 1

Over 20 trials (s)
                                p5      p50      p75      p95     mean     from       to   stated
  step                     17.9514  18.0325  18.0638  18.1061  18.0394  18.0201  18.0586  18.0200
$ ovl export --store $T/trials.db 2 | sed -n 2,6p
  "schema": "overlapsim.trials/1",
  "scenario": "Late ranks",
  "variant": "base",
  "interference": "shared",
  "trials": 10,
$ ovl sweep scenarios/buckets/resnet50_ddp.yaml -j 1 --store $T/trials.db >/dev/null; for i in 4 9; do ovl show --store $T/trials.db $i | sed -n 3,6p; done
ResNet-50 with DDP
variant base, 2 ranks folded into 1 class, interference shared

step 98.1833 ms = 97.1565 ms + 0.0268 ms exposed + 1 ms from optimizer on (bucket 34 ends at 97.1833
ResNet-50 with DDP
variant base, 2 ranks folded into 1 class, interference shared

step 98.1969 ms = 97.052 ms + 0.1449 ms exposed + 1 ms from optimizer on (bucket 3 ends at 97.1969
$ ovl compare --store $T/runs.db 1
error: two runs of $T/runs.db are compared: give two of the numbers that ovl history lists; found 1
? 2
$ ovl compare --store $T/runs.db 1 2 3
error: two runs of $T/runs.db are compared: give two of the numbers that ovl history lists; found 3
? 2
$ ovl sweep scenarios/buckets/last_bucket.yaml --over hardware.gpu.sms=1,2 --store $T/runs.db --resume | head -n 1
$T/runs.db does not hold this sweep: nothing is resumed, it begins anew
The last bucket
? 0

A store that has points of sweeps alone says so, and how to go on; one whose pages are anything is
damaged, whatever is asked of it.

$ ovl sweep scenarios/buckets/last_bucket.yaml --over overlap.ddp.bucket_cap=10MiB,20MiB,30MiB --shard 1/2 --store $T/part.db
part 1 of 2 is done, 2 of 3 points, and kept in $T/part.db; --resume prints the sweep when all are
$ ovl history --store $T/part.db
$T/part.db holds no runs but points of sweeps: --points lists them
sweep 1 of scenarios/buckets/last_bucket.yaml: 2 of 3 points; the same ovl sweep with --resume goes on
$ ovl history --store $T/part.db --json | tail -n 4
  "sweeps": [
    {"sweep": 1, "scenario": "The last bucket", "file": "scenarios/buckets/last_bucket.yaml", "points": 3, "done": 2}
  ]
}
$ head -c 4096 $T/runs.db > $T/bad.db; head -c 204800 /dev/zero | tr '\0' x >> $T/bad.db
$ ovl history --store $T/bad.db
error: store "$T/bad.db": it is damaged
? 2
$ ovl show 2 --store $T/bad.db
error: store "$T/bad.db": it is damaged
? 2
