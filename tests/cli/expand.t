Collectives as the transfers they are made of. docs/model.md, section 2, has an example where that
matters, and a table of how much.

In lock step it changes nothing but the number of startups: 5 all-reduces are 5 x 14 steps and 5 ends.
Memory and gradients are what they were.

$ ovl run scenarios/buckets/small_buckets.yaml --worth none --expand 8
Small buckets
variant base, 8 ranks folded into 1 class, interference shared, collectives of up to 8 in steps

step 98.7455 ms = 97.501 ms + 0.2445 ms exposed + 1 ms from optimizer on (bucket 4 ends at 97.7455
     ms; optimizer could start at 97.501 ms)
[...]
Communication of rank 0
  2.29456 ms = 2.05008 ms hidden under kernels + 0.24448 ms uncovered, with no kernel beside it
  75 startups; mean busbw 77.97 GB/s
[...]
  0 (of 8 alike)  292.5 MiB  95.462 ms  292.5 MiB  backward conv1   320 MiB
[...]
Hazards: none
  2824 pairs of accesses to buffers, all ordered
  1288 gradients proved: each reaches its optimizer complete, once, at scale 1/8
[...]
? 0

A race is told once, of the collective.

$ ovl run scenarios/hazards/reduced_too_early.yaml --expand 2
[...]
Hazards: 2
[...]
? 1

What it cannot do.

$ ovl check scenarios/buckets/last_bucket.yaml --set expand=16
scenarios/buckets/last_bucket.yaml:13:1: error: expand is 16: measured interference is that of whole collectives, not of their steps; use `interference: shared` or `none`
? 3
$ ovl run scenarios/replay/two_ranks.yaml --expand 2
scenarios/replay/two_ranks.yaml:21:1: error: expand is 2: the collectives of a trace are replayed as they were measured, not in steps
? 3
$ ovl run scenarios/tutorial/first.yaml --expand 65
--set expand: error: expand is "65": must be between 0 and 64
? 2
$ ovl run scenarios/tutorial/first.yaml --expand few
--set expand: error: expand is "few": expected a whole number, such as "16"
? 2

JSON says it.

$ ovl run scenarios/tutorial/first.yaml --expand 2 --json | grep expand
  "expand": 2,
