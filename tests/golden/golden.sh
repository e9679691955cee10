#!/bin/sh
# Runs one scenario in every variant and compares what comes out with what is committed.
#
#     golden.sh [--update] OVL scenarios/buckets/last_bucket.yaml
#
# compares, byte for byte,
#
#     ovl run --json --worth all FILE [--variant V]   with  tests/golden/buckets/last_bucket.V.json
#     ovl compare FILE (if it has variants)           with  tests/golden/buckets/last_bucket.txt
#
# A scenario may say in comments at its top what is to be seen. One that must fail is judged by these
# alone:
#
#     # expect: exit 1                    of `ovl run FILE`
#     # expect: race: ar reads g          a part of what it prints (one line each)
#
# --update writes the files anew. Prints one line per comparison; exit status 0 if all hold.
LC_ALL=C
export LC_ALL
update=
[ "$1" = --update ] && update=1 && shift
case $1 in
/*) ovl=$1 ;;
*) ovl=$PWD/$1 ;;
esac
scenario=$2
unset COLUMNS # charts are as wide where nothing says otherwise
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 2
golden=tests/golden/${scenario#scenarios/}
golden=${golden%.yaml}
scratch=$(mktemp -d "$(dirname "$ovl")/golden-XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
wrong=0

# Judges what a command printed into $scratch/out; its exit status is $1, the file $2.
judge() {
    if [ "$1" -ne 0 ]; then
        printf 'FAIL %s: exit status %d\n' "$2" "$1"
        cat "$scratch/out" "$scratch/err"
        wrong=1
    elif [ "$update" ]; then
        mkdir -p "$(dirname "$2")"
        cmp -s "$scratch/out" "$2" || { cp "$scratch/out" "$2"; printf 'rewritten %s\n' "$2"; }
    elif ! [ -f "$2" ]; then
        printf 'FAIL %s is missing; run tools/dev/golden-update\n' "$2"
        wrong=1
    elif cmp -s "$scratch/out" "$2"; then
        printf 'ok   %s\n' "$2"
    else
        printf 'FAIL %s differs (- committed, + now):\n' "$2"
        diff -u "$2" "$scratch/out" | cut -c 1-400 | head -n 60
        wrong=1
    fi
}

expectations() {
    sed -n 's/^# expect: *//p' "$scenario"
}

judge_expectations() {
    "$ovl" run "$scenario" >"$scratch/out" 2>&1
    status=$?
    expectations >"$scratch/expected"
    grep -q '^exit [0-9]*$' "$scratch/expected" ||
        { printf 'FAIL %s: no "# expect: exit N"\n' "$scenario"; wrong=1; }
    while IFS= read -r line; do
        case $line in
        'exit '*) [ "$status" = "${line#exit }" ] ;;
        *) grep -qF -- "$line" "$scratch/out" ;;
        esac && printf 'ok   %s: %s\n' "$scenario" "$line" && continue
        printf 'FAIL %s: expected %s; exit status %d and\n' "$scenario" "$line" "$status"
        cat "$scratch/out"
        wrong=1
    done <"$scratch/expected"
}

judge_goldens() {
    "$ovl" run --json --worth all "$scenario" >"$scratch/out" 2>"$scratch/err"
    judge $? "$golden.base.json"
    variants=$("$root/tests/golden/variants.sh" "$ovl" "$scenario") || wrong=1
    for variant in $variants; do
        "$ovl" run --json --worth all --variant "$variant" "$scenario" \
            >"$scratch/out" 2>"$scratch/err"
        judge $? "$golden.$variant.json"
    done
    [ "$variants" ] || return
    "$ovl" compare "$scenario" >"$scratch/out" 2>"$scratch/err"
    judge $? "$golden.txt"
}

[ "$(expectations)" ] && judge_expectations
expectations | grep -q '^exit [1-9]' || judge_goldens
[ $wrong = 0 ]
