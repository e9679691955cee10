#!/bin/sh
# Same bytes out for the same input: builds `ovl` with gcc and clang at -O0 and -O3 and compares the
# SHA-256 of all they print with the committed one (digest.txt).
#
#     digest.sh BUILD_DIR SCENARIO...              judges; a missing clang is said and left out
#     digest.sh --update OVL SCENARIO...           writes digest.txt from one program
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
digest_of() { # program, scenarios
    "$here/all.sh" "$@" | sha256sum | cut -d ' ' -f 1
}

if [ "$1" = --update ]; then
    shift
    digest_of "$@" >"$here/digest.txt"
    exit
fi
build=$1
shift
want=$(cat "$here/digest.txt") || exit 1
wrong=0
ran=0
for compiler in gcc clang; do
    command -v $compiler >/dev/null || { printf 'no %s: not compared\n' $compiler; continue; }
    for level in 0 3; do
        dir=$build/$compiler-O$level
        log=$dir.log
        # Clang compiles the tests, too, at least once.
        [ $compiler-$level = clang-0 ] && target= || target=tools/ovl
        mkdir -p "$build"
        { [ -f "$dir/build.ninja" ] ||
            CC=$compiler meson setup "$dir" "$root" -Doptimization=$level -Ddebug=false; } \
            >"$log" 2>&1 && ninja -C "$dir" $target >>"$log" 2>&1 ||
            { printf 'FAIL %s -O%s does not build\n' $compiler $level; tail -n 30 "$log"; wrong=1; continue; }
        got=$(digest_of "$dir/tools/ovl" "$@")
        ran=$((ran + 1))
        if [ "$got" = "$want" ]; then
            printf 'ok   %s -O%s\n' $compiler $level
        else
            printf 'FAIL %s -O%s: %s, committed %s\n' $compiler $level "$got" "$want"
            wrong=1
        fi
    done
done
[ $wrong = 0 ] && [ $ran -gt 0 ]
