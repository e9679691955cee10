#!/bin/sh
# A scenario in every variant, with what recurs skipped and not, and the same with many steps or
# microbatches, where it has any: what comes out must be equal to the byte.
#
#     skip.sh OVL SCENARIO
here=$(cd "$(dirname "$0")" && pwd)
ovl=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$here/../.." || exit 2
scenario=$2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
wrong=0

# Runs one command both ways and compares output, complaints and status.
same() {
    "$ovl" "$@" "$scenario" >"$work/skipped" 2>&1
    echo "exit $?" >>"$work/skipped"
    "$ovl" "$@" --no-skip "$scenario" >"$work/whole" 2>&1
    echo "exit $?" >>"$work/whole"
    if ! cmp -s "$work/skipped" "$work/whole"; then
        printf 'FAIL %s: skipped (<) and not (>): %s\n' "$scenario" "$*"
        diff "$work/skipped" "$work/whole" | head -n 20
        wrong=1
    fi
}

same run --json --gaps
same compare --json --worth none
same export --trace
same run --json --worth none --set workload.steps=24
same run --json --worth none --set overlap.pipeline.microbatches=48
exit $wrong
