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
the scenario that names them:5:11: error: "scenarios/replay/rank0.json" has no step or range "8"; it has "ProfilerStep#7"
? 3
$ ovl import scenarios/replay/two_ranks.yaml
scenarios/replay/two_ranks.yaml:1:1: error: this is neither a trace nor a pipeline schedule: a row of one begins as in 0F0,0F1,0B0
? 3
