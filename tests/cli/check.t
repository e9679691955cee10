What a scenario will run.

$ ovl check scenarios/buckets/resnet18_ddp.yaml
ResNet-18 with DDP
variant base, 8 ranks, 192 operations in all, interference shared

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
