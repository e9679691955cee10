#!/bin/sh
# What `ovl export` writes of a scenario is replayed to the picosecond, in every variant.
#
#     exact.sh OVL scenarios/buckets/last_bucket.yaml
#
# Prints a line for each variant; a scenario that cannot be run has nothing to be replayed, and one
# of more than 300,000 operations would be a trace of gigabytes.
LC_ALL=C
export LC_ALL
ovl=$1
scenario=$2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
wrong=0

# The part of a JSON that is a time of the whole step.
step() {
    sed -n 's/^ *"time_s": \([0-9.]*\),$/\1/p' "$1" | head -n 1
}

variants() {
    echo base
    "$ovl" check --json "$scenario" 2>/dev/null | sed -n '/"variants": *\[/,/\]/s/^ *"\([^"]*\)",*$/\1/p'
}

# What `ovl check` counts: "ranks" or "operations".
count() {
    sed -n "s/^ *\"$1\": \([0-9]*\),*\$/\1/p" "$scratch/check" | head -n 1
}

# Writes all ranks: 64 are written unless others are named.
replay() {
    "$ovl" check --json "$scenario" --variant "$1" >"$scratch/check" 2>/dev/null
    operations=$(count operations)
    [ "${operations:-0}" -le 300000 ] || return 2
    "$ovl" run --json --worth none "$scenario" --variant "$1" >"$scratch/run" 2>/dev/null
    ranks=$(count ranks)
    last=$((${ranks:-1} - 1))
    "$ovl" export --trace "$scenario" --variant "$1" --ranks "0-$last" -o "$scratch/t.json" \
        2>/dev/null || return 1
    echo 'workload: {trace: t.json}' >"$scratch/t.yaml"
    "$ovl" run --json --worth none "$scratch/t.yaml" >"$scratch/again"
}

for variant in $(variants); do
    replay "$variant"
    case $? in
    1)
        echo "$scenario $variant: cannot be run"
        continue
        ;;
    2)
        echo "$scenario $variant: too large, $operations operations"
        continue
        ;;
    esac
    was=$(step "$scratch/run")
    is=$(step "$scratch/again")
    off=$(sed -n 's/.*"worst_start_error_s": \(-*[0-9.]*\).*/\1/p' "$scratch/again" |
        grep -cv '^0\.0*$')
    grep -q '^  steps:' "$scenario" && was=$is # of several steps the whole run is replayed
    if [ -z "$is" ] || [ "$was" != "$is" ] || [ "$off" != 0 ]; then
        echo "$scenario $variant: $was s was replayed in $is s; $off lists of starts are off"
        wrong=1
    else
        echo "$scenario $variant: $is s, all starts exact"
    fi
done
exit $wrong
