#!/bin/sh
# Traces that are cut anywhere, or no traces, end in an answer or in exit status 3 with a reason.
#
#     broken.sh OVL
#
# A trace of the profiler and one that `ovl export` wrote, cut at every 17th byte (every 61st of the
# second), and files that are none, through inspect, import, run and calibrate.
LC_ALL=C
export LC_ALL
case $1 in
/*) ovl=$1 ;;
*) ovl=$PWD/$1 ;;
esac
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
cd "$scratch" || exit 2
wrong=0
runs=0

# 0 is an answer, whatever it warns of; 3 says why and names the file.
try() {
    "$ovl" "$@" >out 2>err
    status=$?
    runs=$((runs + 1))
    if [ $status != 0 ] && { [ $status != 3 ] || ! grep -q 'error: .' err; }; then
        echo "$what: ovl $*: exit status $status"
        head -n 3 err
        wrong=1
    fi
}

all() {
    what=$1
    try inspect --json t.json
    try import t.json
    try run t.yaml
    try calibrate t.json
}

cuts() {
    bytes=$(wc -c <"$1")
    at=0
    while [ "$at" -lt "$bytes" ]; do
        head -c "$at" "$1" >t.json
        all "$1 cut at byte $at"
        at=$((at + $2))
    done
}

# What is no trace at all must be refused by each.
refused() {
    before=$runs
    for command in "inspect t.json" "import t.json" "run t.yaml" "calibrate t.json"; do
        # shellcheck disable=SC2086
        "$ovl" $command >out 2>err
        status=$?
        runs=$((runs + 1))
        if [ $status != 3 ] || ! grep -q '^t.*error: .' err; then
            echo "$1: ovl $command: exit status $status, 3 expected"
            head -n 3 err
            wrong=1
        fi
    done
}

echo 'workload: {trace: t.json}' >t.yaml
cat >profiler <<'END'
{"schemaVersion": 1, "distributedInfo": {"rank": 1, "world_size": 2},
"traceEvents": [
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":1.5,"dur":2,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"gemm \"q\"","pid":0,"tid":7,"ts":12.001,"dur":20.5,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32","pid":0,"tid":20,"ts":20,"dur":30,"args":{"device":0,"stream":20,"In msg nelems":1024,"Group size":2,"dtype":"Float"}}
], "baseTimeNanoseconds": 1711964646000000000}
END
cat >own.yaml <<'END'
workload:
  ranks: 2
  groups: {g: [0, 1]}
  ops:
    - {kernel: a, duration: 1 ms}
    - {collective: r, op: all_reduce, group: g, duration: 2 ms, bytes: 1 MiB, stream: n}
END
"$ovl" export --trace own.yaml -o own 2>/dev/null || exit 2
cuts profiler 17
cuts own 61

: >t.json
refused "an empty file"
printf 'a letter\n' >t.json
refused "text"
printf '\037\213\010\000 not compressed at all' >t.json
refused "wrong gzip"
printf '{"answer": 42}' >t.json
refused "other JSON"
printf 'SQLite format 3\000 and nothing' >t.json
refused "no database"
head -c 300000 /dev/zero | tr '\000' '[' >t.json
all "deep nesting"
sed 's/"dur":20.5/"dur":NaN/; s/"ts":20,/"ts":18446744073709551616,/' profiler >t.json
all "numbers that are none"
sed 's/"dur":20.5/"dur":-7/; s/"dur":30/"dur":0/; s/gemm/ge"mm"/' profiler >t.json
all "negative, zero, quotes"
echo "$runs runs"
exit $wrong
