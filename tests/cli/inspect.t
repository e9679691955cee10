Measured traces: one device, two ranks, damage, and what is no trace.

$ sed 's/"rank": 0/"rank": 1/; s/"ts": 11, "dur": 9.5/"ts": 16, "dur": 4.5/' tests/cli/inspect.json > $T/rank1.json
$ ovl inspect tests/cli/inspect.json $T/rank1.json
tests/cli/inspect.json
  PyTorch profiler trace, 7 records, rank 0 of 2

  device 0: kernels 2 (communication 1), copies 1, sets 0
    compute                        10.0 us
  + uncovered communication          5.5 us   9.5 us busy, 4 us of it under compute (42.1 %)
  + copies and sets alone           2.0 us   2 us busy
  + idle                           13.5 us
  = span                           31.0 us
  idle: 11.5 us before the launch of what came next; 2 us between launch and start

$T/rank1.json
  PyTorch profiler trace, 7 records, rank 1 of 2

  device 0: kernels 2 (communication 1), copies 1, sets 0
    compute                        10.0 us
  + uncovered communication          4.5 us   4.5 us busy, 0 us of it under compute (0.0 %)
  + copies and sets alone           2.0 us   2 us busy
  + idle                           14.5 us
  = span                           31.0 us
  idle: 11.5 us before the launch of what came next; 3 us between launch and start

Steps: what was launched during each (times in us)
  step  of      host  span  compute  comm  overlap  uncovered  copies  idle
     4  rank 0  40.0  31.0     10.0   9.5      4.0        5.5     2.0  13.5
     4  rank 1  40.0  31.0     10.0   4.5        0        4.5     2.0  14.5

Collectives (times in us)
  collective  of      group  ranks  bytes  count  shortest  median  longest       algbw       busbw
  all_reduce  rank 0  0          2  4 MiB      1       9.5     9.5      9.5  441.5 GB/s  441.5 GB/s
  all_reduce  rank 1  0          2  4 MiB      1       4.5     4.5      4.5  932.1 GB/s  932.1 GB/s
  bandwidths are those of the shortest: the others waited longer

Ranks: 1 matched collective, 2 ranks (times in us)
  rank    matched  duration  = wait  + transfer  last  clock
  rank 0        1       9.5     5.0         4.5     0      0
  rank 1        1       4.5       0         4.5     1      0
  transfer: the shortest duration over the ranks; last: how often the rank arrived last;
  clock: by how much it is ahead, from the ends of the collectives

Matched collectives (times in us)
  collective  group  number  bytes  transfer  longest wait  last    ends within
  all_reduce  0           0  4 MiB       4.5           5.0  rank 1            0
$ ovl inspect tests/cli/inspect.json --json
{
  "schema": "overlapsim.inspect/1",
  "comm_pattern": "nccl|rccl",
  "files": [
    {"file": "tests/cli/inspect.json", "format": "PyTorch profiler trace", "rank": 0, "world_size": 2, "n_records": 7}
  ],
  "devices": [
    {"file": "tests/cli/inspect.json", "device": 0, "rank": 0, "n_kernels": 2, "n_comm_kernels": 1, "n_memcpy": 1, "n_memset": 0, "span_ns": 31000, "compute_busy_ns": 10000, "comm_busy_ns": 9500, "overlap_comm_compute_ns": 4000, "exposed_comm_ns": 5500, "mem_busy_ns": 2000, "gpu_busy_ns": 17500, "idle_ns": 13500, "idle_by_cause_ns": {"host_wait": 11500, "sync": 0, "kernel_wait": 2000, "unknown": 0}, "n_kernels_without_launch": 0}
  ],
  "collectives": [
    {"file": "tests/cli/inspect.json", "device": 0, "rank": 0, "name": "all_reduce", "group": "0", "group_size": 2, "dtype": "Float", "bytes": 4194304, "count": 1, "min_ns": 9500, "median_ns": 9500, "max_ns": 9500, "total_ns": 9500, "algbw_GBps": 441.50568421052634, "busbw_GBps": 441.50568421052634}
  ],
  "steps": [
    {"file": "tests/cli/inspect.json", "device": 0, "rank": 0, "step": 4, "host_ns": 40000, "n_kernels": 2, "n_comm_kernels": 1, "n_memcpy": 1, "n_memset": 0, "span_ns": 31000, "compute_busy_ns": 10000, "comm_busy_ns": 9500, "overlap_comm_compute_ns": 4000, "exposed_comm_ns": 5500, "mem_busy_ns": 2000, "gpu_busy_ns": 17500, "idle_ns": 13500}
  ],
  "warnings": []
}
$ ovl inspect tests/cli/inspect.json --comm-pattern deep_ep | grep communication
tests/cli/inspect.json: warning: NO COMMUNICATION FOUND: of the names of 2 kernels none matches "deep_ep", so all count as compute; --comm-pattern sets another pattern
  device 0: kernels 2 (communication 0), copies 1, sets 0
  + uncovered communication            0 us   no communication
$ head -c 1100 tests/cli/inspect.json | sed 's/"gemm"/"ge"mm"/; s/"tid": 9, "ts": 2,/"tid": 9 "ts": 2,/' > $T/cut.json
$ ovl inspect $T/cut.json
$T/cut.json: warning: 1 event is broken and was skipped; the first at byte 350
$T/cut.json: warning: 1 event has unescaped quotes or control characters and was repaired; the first at byte 611
$T/cut.json: warning: the file is truncated: it ends at byte 1100, after 5 whole events
$T/cut.json
  PyTorch profiler trace, 5 records, rank 0 of 2

  device 0: kernels 2 (communication 1), copies 0, sets 0
    compute                        10.0 us
  + uncovered communication          5.5 us   9.5 us busy, 4 us of it under compute (42.1 %)
  + copies and sets alone             0 us   0 us busy
  + idle                              0 us
  = span                           15.5 us
  kernels without a launch in the file: 1; without them: span 10 us, compute 10 us, communication 0
  us of which 0 us uncovered, copies and sets 0 us, idle 0 us

Steps: what was launched during each (times in us)
  step  of      host  span  compute  comm  overlap  uncovered  copies  idle
     4  rank 0  40.0  15.5     10.0   9.5      4.0        5.5       0     0

Collectives (times in us)
  collective  of      group  ranks  bytes  count  shortest  median  longest       algbw       busbw
  all_reduce  rank 0  0          2  4 MiB      1       9.5     9.5      9.5  441.5 GB/s  441.5 GB/s
  bandwidths are those of the shortest: the others waited longer
$ gzip -c tests/cli/inspect.json > $T/whole.json.gz; ovl inspect $T/whole.json.gz | grep span
  = span                           31.0 us
  step  of      host  span  compute  comm  overlap  uncovered  copies  idle
$ head -c 400 $T/whole.json.gz > $T/cut.json.gz; ovl inspect $T/cut.json.gz 2>&1 | grep -c -e 'ends too early' -e 'is truncated'
2
$ printf '\037\213\010garbage' > $T/wrong.json.gz; ovl inspect $T/wrong.json.gz
$T/wrong.json.gz: error: cannot be read: the compressed data is damaged
? 3
$ printf '#  size count type time algbw busbw error time algbw busbw error\n 1048576 262144 float 45.12 23.24 40.67 0 44.9 23.35 40.87 0\n' | ovl inspect -
-
  nccl-tests output, 1 record

  operation not named
  bytes  type   out of place       algbw  in place       algbw
  1 MiB  float      45.12 us  23.24 GB/s   44.9 us  23.35 GB/s
$ ovl inspect scenarios/buckets/last_bucket.yaml $T/absent.json $T
$T: error: cannot read "$T": is a directory
$T/absent.json: error: cannot read "$T/absent.json": no such file
scenarios/buckets/last_bucket.yaml: error: is no trace; it looks like text
? 3
$ printf '{"traceEvents": []}' | ovl inspect -
-: warning: no GPU work: the file has no kernel, copy or set
-
  PyTorch profiler trace, 0 records
  no GPU work
$ ovl inspect --comm-pattern '(' $T/cut.json
error: --comm-pattern "(": no pattern: Unmatched ( or \(
? 2
$ ovl inspect
error: something is missing: ovl inspect FILE ...
try: ovl inspect --help
? 2
