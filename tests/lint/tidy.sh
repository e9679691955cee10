#!/bin/sh
# clang-tidy 14 with the checks of .clang-tidy over sim, models and tools. It needs the flags of a
# build made with clang, which is kept in a directory of its own; a file that was clean and has not
# changed since (nor any header) is not looked at again.
# The analyser is kept shallow and looks at 4,000 states of a function: a tenth of the time, nearly
# all findings. OVL_TIDY=deep lets it go on.
#
#     tidy.sh BUILD_DIR
. "$(dirname "$0")/lib.sh"

build=$1
command -v clang-tidy >/dev/null && clang-tidy --version | grep -q 'version 14' ||
    skip "clang-tidy 14 is not installed"
command -v clang >/dev/null || skip "clang is not installed"
if ! [ -f "$build/compile_commands.json" ]; then
    CC=clang meson setup "$build" >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
else
    ninja -C "$build" build.ninja >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
fi
depth=${OVL_TIDY:-shallow,max-nodes=4000}
mkdir -p "$build/clean"
common=$depth\ $(cat .clang-tidy $(tracked '\.h$') | cksum)
for file in $(tracked '^(sim|models|tools)/.*\.c$'); do
    grep -q "$(basename "$file")\"" "$build/compile_commands.json" || continue
    stamp=$build/clean/$(printf '%s %s %s' "$file" "$common" "$(cksum <"$file")" | cksum | tr ' ' -)
    [ -f "$stamp" ] || printf '%s %s\n' "$file" "$stamp"
done | depth=$depth xargs -r -n 2 -P "$(nproc)" sh -c '
    out=$(clang-tidy --quiet -p "$0" --extra-arg=-Xclang --extra-arg=-analyzer-config \
        --extra-arg=-Xclang --extra-arg=mode=$depth "$1" 2>&1) && : >"$2" && exit
    printf "%s\n" "$out" | grep " error: "; exit 1' "$build" || fail "clang-tidy complains"
finish
