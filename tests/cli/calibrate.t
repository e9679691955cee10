Costs fitted to measurements. docs/calibrate.md has the usual case; here is the rest.

$ printf 'size_bytes,time_us\n1048576,20\n2097152,30\n4194304,50\n8388608,90\n' > $T/allreduce.csv
$ ovl calibrate $T/allreduce.csv --via nvlink
all_reduce in any group via nvlink
  from $T/allreduce.csv
  4 measurements of 4 sizes, 1 MiB to 8 MiB: out-of-place times
  one pair  alpha 10 us (10 us to 10 us), beta 104.9 GB/s (104.9 GB/s to 104.9 GB/s), residual 0.0 %
            held out: median 0.0 %, 90 % within 0.0 %, worst 0.0 % at 8 MiB
  chosen    pair
            held out: median 0.0 %, 90 % within 0.0 %, worst 0.0 % at 8 MiB
            (each of 4 sizes predicted by a choice and fit that saw the others alone)
  - 4 sizes cannot show switches of protocol; only one pair was tried
$ ovl calibrate $T/allreduce.csv -o $T/hw.yaml | grep -c chosen
1
$ printf 'size_bytes,time_us\n1048576,20\n1048576,22\n' > $T/one_allgather.csv
$ ovl calibrate $T/one_allgather.csv -o $T/hw.yaml
all_gather in any group
  from $T/one_allgather.csv
  2 measurements of 1 size, 1 MiB: out-of-place times
  median    21 us
  - one size (1 MiB) cannot separate alpha from beta: only the time at that size is known
$ grep -v sha256 $T/hw.yaml
# Written by ovl calibrate 0.1.0.
collectives:
  - op: all_gather
    table:
      - [1048576 B, 21 us]
    measured:
      from: ["$T/one_allgather.csv"]
      model: "one size"
      points: 2
      sizes: 1
      from_bytes: 1048576 B
      to_bytes: 1048576 B
      notes:
        - "one size (1 MiB) cannot separate alpha from beta: only the time at that size is known"
$ printf 'size_bytes,time_us\n1048576,20\n2097152,33\n' > $T/gather.csv
$ ovl calibrate $T/gather.csv
gather in any group
  from $T/gather.csv
  2 measurements of 2 sizes, 1 MiB to 2 MiB: out-of-place times
  one pair  alpha 7 us, beta 80.66 GB/s
  chosen    pair
  - nothing to tell an interval from is left by 2 measurements; 4 are the least
  - 2 sizes cannot show switches of protocol; only one pair was tried
  - 2 sizes fix a pair; none is left to check it with
  - a hardware profile has no operation "gather"; it is reported and not written
$ cp $T/gather.csv $T/x.csv
$ ovl calibrate $T/x.csv
$T/x.csv: error: neither the file nor its name says which operation it measured; give it: --op all_reduce
? 3
$ ovl calibrate $T/x.csv --op broadcast | head -1
broadcast in any group
$ ovl calibrate $T/x.csv --op broadcast --ranks 4 -o $T/ranks.yaml > $T/out; grep -e _bytes -e ranks $T/ranks.yaml
      from_bytes: 1048576 B
      to_bytes: 2097152 B
      ranks: 4
$ printf 'hardware: ranks.yaml\nworkload:\n  ranks: 8\n  ops:\n    - {collective: b, op: broadcast, bytes: 16 MiB}\n' > $T/outside.yaml
$ ovl check $T/outside.yaml | tail -n 4
  - Host launch times are not modelled: the hardware gives no host.
  - The links that broadcast loads are not modelled: no via is given.
  - Outside the sizes its cost was measured at: broadcast (above; measured from 1 MiB to 2 MiB).
  - With another number of ranks than its cost was measured with: broadcast (8, measured with 4).
$ printf '# Collective test starting: all_reduce_perf\n# Using devices\n#  Rank  0 Group  0\n#  Rank  1 Group  0\n#       size count type redop root time algbw busbw\n  1048576 262144 float sum -1 20.0 52.4 52.4\n# Collective test starting: all_reduce_perf\n# Using devices\n#  Rank  0 Group  0\n#  Rank  1 Group  0\n#  Rank  2 Group  0\n#  Rank  3 Group  0\n#       size count type redop root time algbw busbw\n  1048576 262144 float sum -1 30.0 35.0 52.4\n' > $T/runs.log
$ ovl calibrate $T/runs.log --ranks 2
error: --ranks "2" contradicts run 2 of $T/runs.log, which says 4 ranks
? 2
$ ovl calibrate $T/x.csv --op broadcast --ranks some
error: --ranks "some" is no number of ranks
? 2
$ ovl calibrate $T/x.csv --op sorting
error: --op "sorting" is no operation; write all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all or send_recv
? 2
$ printf 'collective,gpus,algbw_GBps\nAllReduce,8,267\n' > $T/allreduce_rates.csv
$ ovl calibrate $T/allreduce_rates.csv scenarios/buckets/last_bucket.yaml $T/absent.log
$T/absent.log: error: cannot read "$T/absent.log": no such file
$T/allreduce_rates.csv: error: is no trace; it looks like a CSV of bandwidths without sizes and times: alpha and beta cannot be told apart from it
scenarios/buckets/last_bucket.yaml: error: is no trace; it looks like text
? 3
$ sed 's/"rank": 0/"rank": 1/; s/"ts": 11, "dur": 9.5/"ts": 16, "dur": 4.5/' tests/cli/inspect.json > $T/rank1.json
$ ovl calibrate tests/cli/inspect.json $T/rank1.json --group 0=dp
all_reduce in dp
  from tests/cli/inspect.json, $T/rank1.json
  1 measurement out of 2 durations of 1 size, 4 MiB: least duration over the ranks
  median    4.5 us
  - one size (4 MiB) cannot separate alpha from beta: only the time at that size is known
  - the name of a kernel is not the algorithm or protocol that ran; the fit is of whatever ran
$ ovl calibrate tests/cli/inspect.json --json | head -c 100 | head -4
{
  "schema": "overlapsim.calibrate/1",
  "collectives": [
    {
$ ovl calibrate $T/gather.csv -o $T/gather.yaml > $T/out
error: no profile is written: nothing that was measured can stand in one
? 3
$ ovl calibrate $T/allreduce.csv -o $T/no/such/place.yaml > $T/out
error: cannot write "$T/no/such/place.yaml": No such file or directory
? 2
$ ovl calibrate $T/allreduce.csv --via nvlink -o $T/links.yaml > $T/out
error: no profile is written, for a run would refuse it: unknown link "nvlink" (--base FILE is a profile with links and GPU)
? 3
$ ovl calibrate $T/allreduce.csv --base scenarios/hardware/example_8gpu.yaml -o $T/based.yaml > $T/out
$ grep -v sha256 $T/based.yaml
# Written by ovl calibrate 0.1.0.
name: example node of 8 GPUs
gpu:
  name: H100-SXM
  hbm: 3.35 TB/s
  memory: 80 GB
  sms: 132
  peak:
    bf16: 989 TFLOP/s
    f32: 67 TFLOP/s
node:
  gpus: 8
links:
  nvlink:
    bandwidth: 450 GB/s
    latency: 1 us
    scope: gpu
collectives:
  - op: reduce_scatter
    via: [nvlink]
    alpha: 17 us
    beta: 390 GB/s
    sms: 16
    hbm_factor: 2.5
  - op: all_gather
    via: [nvlink]
    alpha: 17 us
    beta: 390 GB/s
    sms: 16
    hbm_factor: 2.5
  - op: all_reduce
    alpha: 10 us
    beta: 104857600000 B/s
    via: [nvlink]
    sms: 16
    hbm_factor: 2.5
    measured:
      from: ["$T/allreduce.csv"]
      model: "pair"
      points: 4
      sizes: 4
      from_bytes: 1048576 B
      to_bytes: 8388608 B
      alpha_low: 10 us
      alpha_high: 10 us
      beta_low: 104857600000 B/s
      beta_high: 104857600000 B/s
      residual: 0.000000
      held_out_median: 0.000000
      held_out_p90: 0.000000
      notes:
        - "4 sizes cannot show switches of protocol; only one pair was tried"
$ printf 'hardware: based.yaml\nworkload:\n  ranks: 8\n  ops:\n    - {collective: grads, op: all_reduce, bytes: 16 MiB}\n' > $T/uses.yaml
$ ovl run $T/uses.yaml | grep '^step '
step 170 us = 0 us + 170 us exposed (grads ends at 170 us; the other work of its rank at 0 us)
$ ovl calibrate $T/allreduce.csv --base $T/uses.yaml -o $T/not.yaml
$T/uses.yaml:1:1: error: unknown key "hardware"
$T/uses.yaml:2:1: error: unknown key "workload"
? 3
$ ovl calibrate $T/based.yaml --base $T/none.yaml -o $T/not.yaml
$T/none.yaml: error: cannot read "$T/none.yaml": no such file
? 3

Options that contradict what was measured, or that nothing answers, are mistakes.

$ ovl calibrate scenarios/replay/rank0.json --op all_reduce --ranks 2 2>&1 | tail -n 2
error: --op "all_reduce" has no effect: no file is a table, and traces say it
error: --ranks "2" has no effect: no file is a table, and traces say it
$ ovl calibrate scenarios/calibration/all_reduce_perf.log --base scenarios/hardware/example_8gpu.yaml 2>&1 | head -n 1
error: --base has no effect without --output
$ ovl calibrate --compute a --comm b --overlap c --sms 0 --hbm 0GB/s 2>&1 | grep more
error: --hbm is "0GB/s": must be more than 0
error: --sms is "0": must be more than 0
$ ovl calibrate scenarios/calibration/all_reduce_perf.log --op all_gather --ranks 4 --group 7=dp --via dp=nvlink --comm-pattern foo 2>&1 >/dev/null
scenarios/calibration/all_reduce_perf.log: warning: all_reduce: one alpha and beta misses sizes it has not seen by 26.4 % in the median and 37.9 % at the 90th percentile; the profile has a table instead
error: --op "all_gather" contradicts scenarios/calibration/all_reduce_perf.log, which measured all_reduce
error: --ranks "4" contradicts scenarios/calibration/all_reduce_perf.log, which says 8 ranks
error: --comm-pattern "foo" has no effect: no file is a trace
error: --group "7=dp" has no effect: the files name no groups
error: --via "dp=nvlink" has no effect: the files name no groups
? 2

Two runs in one log, over 8 and 4 ranks, are two series.
$ sed '1,/Rank  3/!d' scenarios/calibration/all_reduce_perf.log >"$T/four.log"; sed -n '/size .*count/,$p' scenarios/calibration/all_reduce_perf.log >>"$T/four.log"; cat scenarios/calibration/all_reduce_perf.log "$T/four.log" >"$T/two.log"; ovl calibrate "$T/two.log" 2>/dev/null | grep -E 'ranks|measurements'
all_reduce in any group, 8 ranks
  25 measurements of 25 sizes, 8 B to 128 MiB: in-place times
all_reduce in any group, 4 ranks
  25 measurements of 25 sizes, 8 B to 128 MiB: in-place times
