#!/bin/sh
# Prints the JSON of every scenario in every variant, one after the other: what the digest is of.
#
#     all.sh OVL SCENARIO...        scenarios in the order given; those that must fail: their output
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
ovl=$1
shift
cd "$here/../.." || exit 2
for scenario; do
    printf '== %s\n' "$scenario"
    "$ovl" run --json --worth all "$scenario" 2>&1
    grep -q '^# expect: exit [1-9]' "$scenario" && continue
    for variant in $("$here/variants.sh" "$ovl" "$scenario"); do
        printf '== %s %s\n' "$scenario" "$variant"
        "$ovl" run --json --worth all --variant "$variant" "$scenario" 2>&1
    done
done
