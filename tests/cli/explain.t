What held operations back, and one resource over time.

$ ovl explain scenarios/mesh/nic_sharing.yaml:earlier
Two collectives on one NIC
variant earlier, interference shared, step 14 ms

Below isolated speed, most lost first (times in ms)
  operation  rank  took  alone  lost  most to  beside
  a          0+       8      4     4  nic.out  b
  b          1+       8      4     4  nic.out  a
  took = alone + lost; +: other ranks alike; ovl explain FILE NAME tells more
$ ovl explain scenarios/mesh/nic_sharing.yaml:earlier a
Two collectives on one NIC
variant earlier, interference shared, step 14 ms

a, all_reduce on rank 0 (and 1 alike), stream comm
  issued 0 ms; arrived 6 ms (after: a1); started 6 ms; ended 14 ms
  8 ms = 4 transfer alone + 4 lost to nic.out
  held back by nic.out 0 for 8 ms, beside b
$ ovl explain scenarios/mesh/nic_sharing.yaml:slow a --rank 0
Two collectives on one NIC
variant slow, interference shared, step 16 ms

a, all_reduce on rank 0, stream comm
  issued 0 ms; arrived 10 ms (after: a2); started 12 ms (rank 8 arrived last); ended 16 ms
  4 ms = 4 transfer alone
  nothing held it below its isolated speed
$ ovl explain scenarios/mesh/nic_sharing.yaml:degraded --resource nic.out:0
Two collectives on one NIC
variant degraded, interference shared, step 17 ms

nic.out 0, 50 GB/s (times in ms)
  from  to    moves      %  who, at which rate
     6  10  50 GB/s  100.0  b at 1
    10  11  50 GB/s  100.0  a at 1
    11  17  25 GB/s   50.0  a at 0.5
$ ovl explain scenarios/mesh/nic_sharing.yaml --resource nic.in:3
Two collectives on one NIC
variant base, interference shared, step 14 ms

Nobody uses nic.in 3.
$ ovl explain scenarios/mesh/nic_sharing.yaml
Two collectives on one NIC
variant base, interference shared, step 14 ms

Nothing ran below its isolated speed.

$ ovl explain scenarios/mesh/nic_sharing.yaml aa
error: unknown operation "aa"; did you mean "a1"?
? 2
$ ovl explain scenarios/mesh/nic_sharing.yaml --resource nik.out
error: unknown resource "nik.out"; did you mean "nic.out"?
? 2
$ ovl explain scenarios/mesh/nic_sharing.yaml --resource nic.out:9
error: nic.out has no instance 9
? 2
$ ovl explain scenarios/mesh/nic_sharing.yaml --resource nic.out:x
error: the instance "x" is no number
? 2
$ ovl explain scenarios/mesh/nic_sharing.yaml a --rank 16
error: there is no rank 16; the last is 15
? 2
