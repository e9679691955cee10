All mistakes of a file in one run, each with its place; a file that is not there; a path that leads
nowhere; values without units.

$ cat tests/cli/mistakes.yaml
name: Mistakes
hardware:
  gpu: {name: example, hbm: 3.35}
  colectives:
    - {op: all_reduce, alpha: 1 ms, beta: 16 MiB/ms}
workload:
  ranks: 2
  groups: {dp: all}
  buffers: {grads: {bytes: 16 MiB}}
  ops:
    - {kernel: matmul, duration: 25, writes: grad}
    - {collective: reduce, op: all_redcue, bytes: 16 MiB, after: matmul}
    - {kernel: update, duration: 2 ms, after: redcue, wait: 1 ms}
    - {send: result, group: pp, to: 2, bytes: 1 MiB, duration: 1 ms, ranks: 0}
$ ovl check tests/cli/mistakes.yaml
tests/cli/mistakes.yaml:3:29: error: hbm is "3.35": a rate needs a unit, such as "450 GB/s"
tests/cli/mistakes.yaml:4:3: error: unknown key "colectives"; did you mean "collectives"?
tests/cli/mistakes.yaml:11:34: error: duration is "25": a duration needs a unit, such as "7 ms"
tests/cli/mistakes.yaml:11:46: error: there is no buffer "grad"; did you mean "grads"?
tests/cli/mistakes.yaml:12:32: error: op is "all_redcue": did you mean "all_reduce"?
tests/cli/mistakes.yaml:13:47: error: there is no operation "redcue" to wait for; did you mean "reduce"?
tests/cli/mistakes.yaml:13:55: error: unknown key "wait"
tests/cli/mistakes.yaml:14:7: error: there is no group "pp"; did you mean "dp"?
? 3
$ ovl run tests/cli/mistakes.yaml
tests/cli/mistakes.yaml:3:29: error: hbm is "3.35": a rate needs a unit, such as "450 GB/s"
tests/cli/mistakes.yaml:4:3: error: unknown key "colectives"; did you mean "collectives"?
tests/cli/mistakes.yaml:11:34: error: duration is "25": a duration needs a unit, such as "7 ms"
tests/cli/mistakes.yaml:11:46: error: there is no buffer "grad"; did you mean "grads"?
tests/cli/mistakes.yaml:12:32: error: op is "all_redcue": did you mean "all_reduce"?
tests/cli/mistakes.yaml:13:47: error: there is no operation "redcue" to wait for; did you mean "reduce"?
tests/cli/mistakes.yaml:13:55: error: unknown key "wait"
tests/cli/mistakes.yaml:14:7: error: there is no group "pp"; did you mean "dp"?
? 3
$ ovl run tests/cli/absent.yaml
tests/cli/absent.yaml: error: cannot read "tests/cli/absent.yaml": no such file
? 3
$ ovl run scenarios/buckets/last_bucket.yaml --set overlap.dp.bucket_cap=1MiB
--set overlap.dp.bucket_cap: error: unknown key "dp"; did you mean "ddp"?
? 2
$ ovl run scenarios/buckets/last_bucket.yaml --set overlap.ddp.bucket_cap=25
--set overlap.ddp.bucket_cap: error: bucket_cap is "25": a size needs a unit, such as "25 MiB"
? 2
$ ovl run scenarios/buckets/last_bucket.yaml --set overlap
error: --set takes path=value, such as overlap.ddp.bucket_cap=50MiB; found "overlap"
? 2
$ ovl run scenarios/buckets/last_bucket.yaml --variant split
scenarios/buckets/last_bucket.yaml: error: unknown variant "split"
? 2
$ ovl run scenarios/buckets/last_bucket.yaml --set 'variants.b={interference: none}'
--set variants.b: error: a variant cannot be changed or added here; set the value itself, which holds in every variant, or write the variant into the file
? 2
$ ovl run tests/cli/mistakes.yaml:a
tests/cli/mistakes.yaml: error: unknown variant "a"
? 2

What only a variant or the sweep gets wrong; layers that no plan arranges, which run as DDP does; one bucket
is told for all that lack the same entry.

$ ovl check tests/cli/no_plan.yaml
tests/cli/no_plan.yaml:8:38: warning: "keep_after_forward" has no effect: with reshard_after_forward: false all parameters stay (variants whole, one)
tests/cli/no_plan.yaml:9:9: error: unknown key "bckward"; did you mean "backward"?
tests/cli/no_plan.yaml:9:84: error: backward is "-1": expected `none` or a number of units, 0 to 1000000
tests/cli/no_plan.yaml:12:45: warning: reshard_after_forward: 1 is taken as false, as PyTorch does: with one rank to reshard over, each keeps all parameters (variant one)
? 3
$ ovl check tests/cli/no_plan.yaml --set 'overlap={}'
tests/cli/no_plan.yaml:7:3: error: "bucket 0" has no cost: give it a duration or alpha and beta, or the hardware an entry in `collectives` for {op: all_reduce, group: dp}; the hardware has all_gather in any group, reduce_scatter in any group
? 3
$ ovl check tests/cli/no_plan.yaml --set overlap.fsdp.shard=dpp
--set overlap.fsdp.shard: error: there is no group "dpp"; did you mean "dp"?
tests/cli/no_plan.yaml:8:38: warning: "keep_after_forward" has no effect: with reshard_after_forward: false all parameters stay (variants whole, one)
tests/cli/no_plan.yaml:12:45: warning: reshard_after_forward: 1 is taken as false, as PyTorch does: with one rank to reshard over, each keeps all parameters (variant one)
? 2
$ ovl check tests/cli/no_plan.yaml --set overlap.fsdp.reshard_after_forward=3
--set overlap.fsdp.reshard_after_forward: error: reshard_after_forward is 3, which does not divide the 8 ranks of group "dp"
? 2
$ ovl sweep tests/cli/no_plan.yaml --over overlap.fsdp.prefetch.backward=1,-1 --json --csv
error: --csv has no effect beside --json: leave one of them out
try: ovl sweep --help
? 2

A key there is not is one error, however many points there would be; a sweep that nothing satisfies says what comes closest.

$ ovl optimize scenarios/buckets/last_bucket.yaml --over overlap.ddp.bucket_capp=1MiB,2MiB --over hardware.gpu.hmb=1TB/s,2TB/s
--over hardware.gpu.hmb: error: unknown key "hmb"; did you mean "hbm"?
--over overlap.ddp.bucket_capp: error: unknown key "bucket_capp"; did you mean "bucket_cap"?
? 2
$ ovl sweep scenarios/buckets/last_bucket.yaml --over variant=all --where 'step<1 ms' | sed -n '/^Best/,$p'; ovl sweep scenarios/buckets/last_bucket.yaml --over variant=all --where 'step<1 ms' >/dev/null
Best: none; where step<1 ms; left out: 4 excluded by --where
Closest: variant late_alone: step 212.4 ms misses step<1 ms by 211.4 ms
? 1

Nodes and ranks of the hardware that there are not are told beside the other mistakes of a file.

$ printf 'hardware:\n  gpu: {name: x, hbm: 1 TB/s, sms: 100}\n  node: {gpus: 4}\n  nodes: {old: {at: [7], gpu: {hbm: 2 TB/s}}}\n  faults: [{link: hbm, bandwidth: 1 GB/s, ranks: [99]}]\nworkload: {ranks: 8, ops: [{kernel: k, duration: 1 us, hbmm: 3 MB}]}\n' > $T/at.yaml
$ ovl run $T/at.yaml
$T/at.yaml:4:22: error: there is no node 7; the last is 1
$T/at.yaml:5:51: error: there is no rank 99; the last is 7
$T/at.yaml:6:56: error: unknown key "hbmm"; did you mean "hbm"?
? 3

Bytes that do not sum are an error, too, and it names the buffer.

$ printf 'workload:\n  buffers:\n    a: {bytes: 1000000 TB}\n    b: {bytes: 200000 TB}\n  ops: [{kernel: k, duration: 1 us, writes: [a, b]}]\n' > $T/large.yaml
$ ovl run $T/large.yaml
$T/large.yaml:4:8: error: with buffer "b" those of a rank have more than 1 EiB
? 3
