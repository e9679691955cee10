What a scenario will run.

$ ovl check scenarios/buckets/resnet18_ddp.yaml
ResNet-18 with DDP
variant base, 8 ranks, 192 operations in all, interference shared
the schedule finishes (tried without interference; hazards are looked for by ovl run)

What each rank runs
  ranks  operations  of them                  streams
  0-7            24  21 kernel, 3 collective  compute, comm

Groups
  name  communicators  members  ranks of the first
  dp                1        8  0-7

Buckets, in the order they are launched
  bucket 0  1.957 MiB (2052000 B) f32: fc.1, fc.0
  bucket 1  27.52 MiB (28852224 B) f32: layer4.1.5, layer4.1.4, layer4.1.3, layer4.1.2, layer4.1.1,
      layer4.1.0, layer4.0.8, layer4.0.7, layer4.0.6, layer4.0.5, layer4.0.4, layer4.0.3
  bucket 2  15.12 MiB (15853824 B) f32: layer4.0.2, layer4.0.1, layer4.0.0, layer3.1.5, layer3.1.4,
      layer3.1.3, layer3.1.2, layer3.1.1, layer3.1.0, layer3.0.8, layer3.0.7, layer3.0.6 and 36 more
  = 3 buckets of 44.59 MiB (46758048 B)

Buffers of one rank (all of them; not all live at once)
  ranks 0-7: parameter 44.59 MiB in 62 + gradient 44.59 MiB in 62 + reduce 44.59 MiB in 3 = 133.8
    MiB

Links
  name    each direction  latency  one for each  a node has
  nvlink        450 GB/s     1 us  GPU                    8

Variants, all without mistakes
  cap_5, cap_100, first_iteration, bucket_view

Not modelled
  - Activations take no memory: no layer gives any.
  - Copies of gradients into and out of buckets take no time: no copy_in_rate is given.
  - Host launch times are not modelled: the hardware gives no host.
  - The HBM traffic of forward conv1, backward conv1, forward layer1.0 and others is not modelled:
    no hbm bytes are given.
$ ovl check scenarios/first_steps/matmul_allreduce.yaml
A matmul beside an all-reduce
variant base, 2 ranks, 6 operations in all, interference measured
the schedule finishes (tried without interference; hazards are looked for by ovl run)

What each rank runs
  ranks  operations  of them                           streams
  0-1             3  1 kernel, 1 collective, 1 marker  compute, comm

Groups
  name   communicators  members  ranks of the first
  world              1        2  0-1

Buffers: none declared, so memory and hazards are not checked

Variants, all without mistakes
  overlapped, tail_25, tail_16

Not modelled
  - Host launch times are not modelled: the hardware gives no host.
  - HBM sharing is not modelled: the hardware gives no gpu.hbm.
  - SM limits are not modelled: the hardware gives no gpu.sms.
  - The links that all_reduce loads are not modelled: no via is given.
$ ovl check --json scenarios/tutorial/step.yaml
{
  "schema": "overlapsim.check/1",
  "file": "scenarios/tutorial/step.yaml",
  "valid": true,
  "errors": [],
  "warnings": [],
  "variants": [
    "pytorch",
    "cap_50"
  ],
  "scenario": "Four layers on 8 GPUs",
  "variant": "base",
  "interference": "none",
  "finishes": true,
  "ranks": 8,
  "operations": 80,
  "codes": [
    {"ranks": "0-7", "count": 8, "operations": 10, "kinds": {"kernel": 9, "collective": 1}, "streams": ["compute", "comm"], "buffer_bytes": {"parameter": 134217728, "gradient": 134217728, "reduce": 134217728}}
  ],
  "groups": [
    {"name": "dp", "communicators": 1, "fewest_members": 8, "most_members": 8, "first_ranks": "0-7"}
  ],
  "buckets": [
    {"name": "bucket 0", "bytes": 134217728, "dtype": "f32", "members": ["block[3]", "block[2]", "block[1]", "block[0]"]}
  ],
  "links": [],
  "not_modelled": [
    "Activations take no memory: no layer gives any.",
    "Copies of gradients into and out of buckets take no time: no copy_in_rate is given.",
    "Host launch times are not modelled: the hardware gives no host."
  ]
}

$ ovl check tests/cli/messages.yaml
Messages
One message, and a rank that has nothing to do with it.
variant base, 3 ranks, 7 operations in all, interference none
the schedule finishes (tried without interference; hazards are looked for by ovl run)

What each rank runs
  ranks  operations  of them                     streams
  0               2  1 kernel, 1 send            compute, comm
  1               2  1 kernel, 1 marker          compute
  2               3  1 kernel, 1 recv, 1 marker  compute, comm

Groups
  name  communicators  members  ranks of the first
  pair              1        2  0,2

Buffers of one rank (all of them; not all live at once)
  rank 0: activation 20 B in 1 = 20 B
  ranks 1-2: activation 40 B in 2 = 40 B

Not modelled
  - Host launch times are not modelled: the hardware gives no host.
$ ovl check tests/cli/many_buckets.yaml:coarse | sed -n 2,3p
variant coarse, 2 ranks, 208 operations in all, interference none
the schedule finishes (tried without interference; hazards are looked for by ovl run)
$ ovl check tests/cli/many_buckets.yaml | sed -n '/^  bucket 28/,/^  = /p'
  bucket 28  20 B f32: block[21]
  bucket 29  20 B f32: block[20]
  ... 15 more: --json
  bucket 45  20 B f32: block[4]
  bucket 46  20 B f32: block[3]
  bucket 47  20 B f32: block[2]
  bucket 48  20 B f32: block[1]
  bucket 49  20 B f32: block[0]
  = 50 buckets of 1000 B

$ ovl check scenarios/hazards/cycle.yaml
scenarios/hazards/cycle.yaml:9:7: error: deadlock: 4 of 4 operations never end; they wait in a circle:
  recv "from_1" on rank 0 has arrived and waits for send "to_0" on rank 1
  send "to_0" on rank 1 waits on its stream behind recv "from_0" on rank 1
  recv "from_0" on rank 1 has arrived and waits for send "to_1" on rank 0
  send "to_1" on rank 0 waits on its stream behind recv "from_1" on rank 0
? 4
$ ovl check tests/cli/waits_in_a_circle.yaml
tests/cli/waits_in_a_circle.yaml:3:42: error: "a" waits for "b", which is issued later and waits for "a": a cycle, the schedule cannot finish
? 4
$ ovl check tests/cli/many_alike.yaml | sed -n 2,3p
variant base, 1000 ranks, 21000000 operations in all, interference shared
the schedule finishes (tried without interference; hazards are looked for by ovl run)
$ ovl check tests/cli/many_alike.yaml --json | grep -c finishes
1
? 0
