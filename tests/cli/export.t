A trace is written whole or not at all, and compressed if its name ends in .gz.

$ ovl export --trace scenarios/tutorial/first.yaml
{
  "displayTimeUnit": "ns",
  "otherData": {"program": "overlapsim", "scenario": "One matmul, one all-reduce", "variant": "base", "interference": "none", "ranks": 2, "copy_engines_d2h": 0, "copy_engines_h2d": 0, "hw_queues": 0},
  "traceEvents": [
    {"ph": "M", "pid": 0, "tid": 0, "name": "process_name", "args": {"name": "rank 0"}},
    {"ph": "M", "pid": 0, "tid": 0, "name": "process_sort_index", "args": {"sort_index": 0}},
    {"ph": "M", "pid": 0, "tid": 0, "name": "thread_name", "args": {"name": "compute"}},
    {"ph": "M", "pid": 0, "tid": 0, "name": "thread_sort_index", "args": {"sort_index": 0}},
    {"ph": "M", "pid": 0, "tid": 1, "name": "thread_name", "args": {"name": "comm"}},
    {"ph": "M", "pid": 0, "tid": 1, "name": "thread_sort_index", "args": {"sort_index": 1}},
    {"ph": "X", "pid": 0, "tid": 0, "ts": 0.000, "cat": "kernel", "name": "matmul", "dur": 25000.000, "args": {"start_ps": 0, "end_ps": 25000000000, "class": "kernel", "cause": "start", "critical_path": true, "id": 0, "stream": "compute"}},
    {"ph": "X", "pid": 0, "tid": 1, "ts": 25000.000, "cat": "communication", "name": "reduce", "dur": 20000.000, "args": {"start_ps": 25000000000, "end_ps": 45000000000, "op": "all_reduce", "group": "dp", "members": 2, "bytes": 335544320, "algbw_Bps": 16777216000, "ready_ps": 25000000000, "queue_ps": 0, "wait_ps": 0, "class": "all_reduce", "cause": "after: matmul", "critical_path": true, "id": 1, "stream": "comm", "after": [0], "kind": "collective", "comm": 0, "place": 0}},
    {"ph": "X", "pid": 0, "tid": 0, "ts": 45000.000, "cat": "kernel", "name": "update", "dur": 2000.000, "args": {"start_ps": 45000000000, "end_ps": 47000000000, "class": "kernel", "cause": "after: reduce", "critical_path": true, "id": 2, "stream": "compute", "after": [1]}},
    {"ph": "s", "pid": 0, "tid": 0, "ts": 24999.999, "cat": "after", "name": "after", "id": 0},
    {"ph": "f", "pid": 0, "tid": 1, "ts": 25000.000, "cat": "after", "name": "after", "id": 0, "bp": "e"},
    {"ph": "s", "pid": 0, "tid": 1, "ts": 44999.999, "cat": "after", "name": "after", "id": 1},
    {"ph": "f", "pid": 0, "tid": 0, "ts": 45000.000, "cat": "after", "name": "after", "id": 1, "bp": "e"},
    {"ph": "M", "pid": 1, "tid": 1000, "name": "process_name", "args": {"name": "rank 1"}},
    {"ph": "M", "pid": 1, "tid": 1000, "name": "process_sort_index", "args": {"sort_index": 1}},
    {"ph": "M", "pid": 1, "tid": 1000, "name": "thread_name", "args": {"name": "compute"}},
    {"ph": "M", "pid": 1, "tid": 1000, "name": "thread_sort_index", "args": {"sort_index": 0}},
    {"ph": "M", "pid": 1, "tid": 1001, "name": "thread_name", "args": {"name": "comm"}},
    {"ph": "M", "pid": 1, "tid": 1001, "name": "thread_sort_index", "args": {"sort_index": 1}},
    {"ph": "X", "pid": 1, "tid": 1000, "ts": 0.000, "cat": "kernel", "name": "matmul", "dur": 25000.000, "args": {"start_ps": 0, "end_ps": 25000000000, "class": "kernel", "cause": "start", "id": 0, "stream": "compute"}},
    {"ph": "X", "pid": 1, "tid": 1001, "ts": 25000.000, "cat": "communication", "name": "reduce", "dur": 20000.000, "args": {"start_ps": 25000000000, "end_ps": 45000000000, "op": "all_reduce", "group": "dp", "members": 2, "bytes": 335544320, "algbw_Bps": 16777216000, "ready_ps": 25000000000, "queue_ps": 0, "wait_ps": 0, "class": "all_reduce", "cause": "after: matmul", "id": 1, "stream": "comm", "after": [0], "kind": "collective", "comm": 0, "place": 1}},
    {"ph": "X", "pid": 1, "tid": 1000, "ts": 45000.000, "cat": "kernel", "name": "update", "dur": 2000.000, "args": {"start_ps": 45000000000, "end_ps": 47000000000, "class": "kernel", "cause": "after: reduce", "id": 2, "stream": "compute", "after": [1]}},
    {"ph": "s", "pid": 1, "tid": 1000, "ts": 24999.999, "cat": "after", "name": "after", "id": 2},
    {"ph": "f", "pid": 1, "tid": 1001, "ts": 25000.000, "cat": "after", "name": "after", "id": 2, "bp": "e"},
    {"ph": "s", "pid": 1, "tid": 1001, "ts": 44999.999, "cat": "after", "name": "after", "id": 3},
    {"ph": "f", "pid": 1, "tid": 1000, "ts": 45000.000, "cat": "after", "name": "after", "id": 3, "bp": "e"}
  ]
}
$ ovl export --trace scenarios/tutorial/first.yaml -o "$T/a.json" && ovl export --trace scenarios/tutorial/first.yaml -o "$T/a.json.gz" && gzip -dc "$T/a.json.gz" | cmp - "$T/a.json" && ls "$T"
a.json
a.json.gz
$ ovl export --trace scenarios/tutorial/first.yaml -o "$T/absent/a.json"
error: cannot write "$T/absent/a.json": No such file or directory
? 2
$ ovl export scenarios/tutorial/first.yaml
error: export what? Write: ovl export --trace scenarios/tutorial/first.yaml, or ovl export --schedule csv scenarios/tutorial/first.yaml
? 2
$ ovl export --trace scenarios/tutorial/first.yaml:overlapped | grep -c '"cause": "start"'
4
