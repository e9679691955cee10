#!/bin/sh
# A scenario in every variant, with ranks folded and with every rank simulated: what comes out must
# be equal to the byte, but for the line that says that ranks were folded.
#
#     fold.sh OVL SCENARIO
here=$(cd "$(dirname "$0")" && pwd)
ovl=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$here/../.." || exit 2
scenario=$2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
wrong=0

# Runs one command both ways and compares output, complaints and status.
same() {
    "$ovl" "$@" "$scenario" >"$work/folded" 2>"$work/folded.err"
    echo "exit $?" >>"$work/folded.err"
    "$ovl" "$@" --no-fold "$scenario" >"$work/whole" 2>"$work/whole.err"
    echo "exit $?" >>"$work/whole.err"
    sed -e '/"folded": /d' -e 's/ folded into [0-9]* class[es]*//' "$work/folded" >"$work/plain"
    # A row is the last of its object, or another one is: the comma before it comes or goes.
    sed 's/,$//' "$work/plain" >"$work/folded"
    sed 's/,$//' "$work/whole" >"$work/plain"
    for part in "folded plain" "folded.err whole.err"; do
        # shellcheck disable=SC2086
        set -- $part
        if ! cmp -s "$work/$1" "$work/$2"; then
            printf 'FAIL %s: folded (<) and not (>)\n' "$scenario"
            diff "$work/$1" "$work/$2" | head -n 20
            wrong=1
        fi
    done
}

same run --json --worth all --gaps
same run --worth none
same compare --json
same export --trace
exit $wrong
