Measured traces become a scenario that replays them.

$ ovl import scenarios/replay/rank0.json scenarios/replay/rank1.json
# A measured step, to be replayed; workload.what_if asks what would change it.
name: "rank0"
workload:
  trace: ["scenarios/replay/rank0.json", "scenarios/replay/rank1.json"]
  replay: {step: "ProfilerStep#7"}
$ ovl import scenarios/replay/rank0.json scenarios/replay/rank1.json --self-contained -o "$T/import_self.yaml" | head -n 2
Predicted against measured (ProfilerStep#7)
  step 14 ms predicted, 14 ms measured: 0 %
$ ovl run "$T/import_self.yaml" | grep '^step'
step 14 ms = 10.113 ms + 3.301 ms exposed + 0.586 ms from (gap) multi_tensor_adam #12 on (all_reduce
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
