The JSON of a run: fields that do not apply are absent, times have 12 decimals.

$ ovl run --json scenarios/first_steps/matmul_allreduce.yaml --variant overlapped
{
  "schema": "overlapsim.run/1",
  "scenario": "A matmul beside an all-reduce",
  "variant": "overlapped",
  "interference": "measured",
  "step": {
    "time_s": 0.033000000000,
    "deciding_rank": 0,
    "decomposition_s": {"compute": 0.025000000000, "compute_stretch": 0.004000000000, "comm_latency": 0.000000000000, "comm_transfer": 0.004000000000, "comm_stretch": 0.000000000000, "copy": 0.000000000000, "wait_late_rank": 0.000000000000, "idle": 0.000000000000},
    "hidden_comm_s": 0.029000000000,
    "comm_total_s": 0.033000000000,
    "comm_uncovered_s": 0.004000000000,
    "hidden_comm_stretch_s": 0.013000000000,
    "without_interference_s": 0.025000000000,
    "startups": 1,
    "mean_busbw_Bps": 10168009696.969696
  },
  "equation": {"collective": "all_reduce", "consumer": "use", "u_path_s": 0.029000000000, "exposed_s": 0.004000000000, "after_s": 0.000000000000, "u_variant_s": 0.025000000000, "interference_s": 0.004000000000},
  "collectives": [
    {"name": "all_reduce", "group": "world", "op": "all_reduce", "bytes": 335544320, "rank": 0, "count": 2, "ready_s": 0.000000000000, "queue_s": 0.000000000000, "wait_s": 0.000000000000, "start_s": 0.000000000000, "end_s": 0.033000000000, "consumer": "use", "first_use_s": 0.033000000000, "window_s": 0.029000000000, "u_path_s": 0.029000000000, "u_variant_s": 0.025000000000, "exposed_s": 0.004000000000, "interference_s": 0.004000000000, "isolated_s": 0.020000000000, "algbw_Bps": 10168009696.969696, "busbw_Bps": 10168009696.969696, "slack_s": 0.000000000000, "worth_s": 0.008000000000, "on_critical_path": true}
  ],
  "ranks": [
    {"rank": 0, "count": 2, "decomposition_s": {"compute": 0.025000000000, "compute_stretch": 0.004000000000, "comm_latency": 0.000000000000, "comm_transfer": 0.004000000000, "comm_stretch": 0.000000000000, "copy": 0.000000000000, "wait_late_rank": 0.000000000000, "idle": 0.000000000000}, "idle_s": 0.004000000000, "startups": 1, "end_s": 0.033000000000, "idle": {"fill": 0.000000000000, "drain": 0.000000000000, "imbalance": 0.000000000000, "dependency": 0.004000000000, "schedule": 0.000000000000, "host": 0.000000000000}, "idle_peeled": {"structural": 0.000000000000, "imbalance": 0.000000000000, "dependency": 0.004000000000, "host": 0.000000000000}, "idle_because": [{"kind": "dependency", "time_s": 0.004000000000, "text": "all_reduce all_reduce"}], "span_s": 0.029000000000, "bubble_rate": 0}
  ],
  "critical_path": [
    {"op": "all_reduce", "rank": 0, "stream": "comm", "start_s": 0.000000000000, "end_s": 0.033000000000, "why": "start"}
  ],
  "limits": [
    {"op": "all_reduce", "bound": "measured factor", "time_s": 0.029000000000, "lost_s": 0.013000000000},
    {"op": "matmul", "bound": "measured factor", "time_s": 0.029000000000, "lost_s": 0.004000000000}
  ],
  "resources": [],
  "collisions": [],
  "collisions_in_all": 0,
  "hazards": [],
  "hazards_checked": false,
  "not_modelled": [
    "Host launch times are not modelled: the hardware gives no host.",
    "HBM sharing is not modelled: the hardware gives no gpu.hbm.",
    "SM limits are not modelled: the hardware gives no gpu.sms.",
    "The links that all_reduce loads are not modelled: no via is given."
  ],
  "idle": {
    "time_s": 0.008000000000,
    "pieces": {"fill": 0.000000000000, "drain": 0.000000000000, "imbalance": 0.000000000000, "dependency": 0.008000000000, "schedule": 0.000000000000, "host": 0.000000000000},
    "peeled": {"structural": 0.000000000000, "imbalance": 0.000000000000, "dependency": 0.008000000000, "host": 0.000000000000},
    "bubble_rate": 0.12121212121212122,
    "span_s": 0.029000000000,
    "span_rank": 0,
    "span_bubble_rate": 0,
    "because": [{"kind": "dependency", "time_s": 0.008000000000, "text": "all_reduce all_reduce"}]
  },
  "folded": {"ranks": 2, "classes": 1},
  "alike_collisions": [],
  "alike_collisions_in_all": 0
}
