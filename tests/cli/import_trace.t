Measured traces become a scenario that replays them.

$ ovl import scenarios/replay/rank0.json scenarios/replay/rank1.json
Predicted against measured (ProfilerStep#7)
  step 14 ms predicted, 14 ms measured: 0 %
  unexplained: 0 s of 14 ms (0 %)

Ranks (ends and errors of starts, ms)
  rank  measured  predicted  error  unexplained  ops  mean  worst start error  of
     0   14.0000    14.0000    0 %            0    7     0                  0  forward_gemm
     1   14.0000    14.0000    0 %            0    7     0                  0  forward_gemm

Operations (time of all of a name together, ms)
  operation          count  measured  predicted  error  mean start error  worst
  backward_gemm          6   13.5000    13.5000    0 %                 0      0
  forward_gemm           2    8.0000     8.0000    0 %                 0      0
  all_reduce 1           2    5.1000     5.1000    0 %                 0      0
  all_reduce 0           2    3.0000     3.0000    0 %                 0      0
  multi_tensor_adam      2    1.0000     1.0000    0 %                 0      0

Inferred from the trace
  - From the call of the host to the begin of what it launched, if nothing else holds it: 10 us, the
    median over the step.
  - Between two operations of a stream that were launched long before: 1 us, the mean over the step.
  - Waits between streams: 0 recorded, 8 inferred from the order of calls, 0 from an end that fits
    the start to 5 us.
  - Waits of the host: 2 recorded, 0 inferred from the order of calls, 0 from an end within the
    call.
  - Matched over the ranks of the group: 2 collectives. The shortest duration is the transfer, and
    waiting for others comes out of the run.

# A measured step, to be replayed; workload.what_if asks what would change it.
name: "rank0"
workload:
  trace: ["scenarios/replay/rank0.json", "scenarios/replay/rank1.json"]
  replay: {step: "ProfilerStep#7"}
$ ovl import scenarios/replay/rank0.json scenarios/replay/rank1.json --self-contained -o "$T/import_self.yaml" | head -n 2
Predicted against measured (ProfilerStep#7)
  step 14 ms predicted, 14 ms measured: 0 %
$ ovl run "$T/import_self.yaml" | grep '^step'
step 14 ms = 10.114 ms + 3.3 ms exposed + 0.586 ms from (gap) multi_tensor_adam #12 on (all_reduce 1
$ ovl import scenarios/replay/rank1.json 2>&1 | grep -A 5 '^Ranks'
Ranks (ends and errors of starts, ms)
  rank of the job measured predicted error unexplained ops mean worst start error of
     0          1  14.0000   14.0000   0 %           0   7    0                 0 forward_gemm
  rank: as everywhere in this report, the ranks that were traced, from 0 on; of the job: as their
  files say
$ ovl import scenarios/replay/rank0.json --step 8
scenarios/replay/rank0.json: error: "scenarios/replay/rank0.json" has no step or range "8"; it has ProfilerStep#7
? 3
$ ovl import scenarios/replay/two_ranks.yaml
scenarios/replay/two_ranks.yaml:1:1: error: this is neither a trace nor a pipeline schedule: a row of one begins as in 0F0,0F1,0B0
? 3

What-ifs of a trace are keys of a sweep. As computed in the scenario: 14 ms, a link twice as fast 13.2 ms, one bucket 14.8 ms.

$ ovl sweep scenarios/replay/two_ranks.yaml --set workload.what_if.bucket_cap=100MiB --over workload.what_if.first_bucket_cap=1MiB,100MiB --over "workload.what_if.links=[{op: all_reduce, bandwidth: 1}],[{op: all_reduce, bandwidth: 2}]" | sed -n "4,8p"
  first_bucket_cap                             links  step  uncovered  startups  mark
              1MiB  [{op: all_reduce, bandwidth: 1}]  14.0        1.8         2
              1MiB  [{op: all_reduce, bandwidth: 2}]  13.2        1.0         2  front, best
            100MiB  [{op: all_reduce, bandwidth: 1}]  14.8        2.6         1
            100MiB  [{op: all_reduce, bandwidth: 2}]  13.5        1.3         1

$ OVL_MEMORY=2KiB ovl check scenarios/replay/two_ranks.yaml 2>&1 | head -n 1
scenarios/replay/rank0.json: error: cannot be replayed: 10 of its operations and calls take 1.953 KiB while a step is chosen, and there are more; 2 KiB may be taken (OVL_MEMORY). Cut the trace to the step
