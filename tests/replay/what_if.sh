#!/bin/sh
# After a change of the scenario a new run and the replay of the old trace with the same what-if
# agree to the picosecond; so they do under measured interference, which is divided out of the trace.
#
#     what_if.sh OVL
LC_ALL=C
export LC_ALL
ovl=$1
here=$(dirname "$0")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
wrong=0

step() {
    "$ovl" run --json --worth none "$1" --variant "$2" |
        sed -n 's/^ *"time_s": \([0-9.]*\),$/\1/p' | head -n 1
}

ask() {
    "$ovl" export --trace "$scratch/ddp.yaml" -o "$scratch/ddp.json" || exit 1
    for variant in base cap_50 cap_100 cap_10 link slow_link backward both; do
        run=$(step "$scratch/ddp.yaml" "$variant")
        replay=$(step "$scratch/ddp_replayed.yaml" "$variant")
        echo "$1, $variant: run $run s, replay $replay s"
        [ -n "$run" ] && [ "$run" = "$replay" ] || wrong=1
    done
}

cp "$here/ddp.yaml" "$here/ddp_replayed.yaml" "$scratch"
ask none
factors='  interference: [{kernel: "*", collective: all_reduce, kernel_factor: 1.2, collective_factor: 1.4}]'
sed "s/^interference: none/interference: measured/; s/^hardware:/&\n$factors/" "$here/ddp.yaml" >"$scratch/ddp.yaml"
{
    printf 'interference: measured\nhardware:\n%s\n' "$factors"
    cat "$here/ddp_replayed.yaml"
} >"$scratch/ddp_replayed.yaml"
ask measured
exit $wrong
