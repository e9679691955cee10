#!/bin/sh
# Each header compiles alone, with every compiler there is, and has the include guard its path asks
# for (sim/arena.h -> OVL_SIM_ARENA_H).
. "$(dirname "$0")/lib.sh"

flags='-std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -fsyntax-only -x c -I.'
found=0
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    found=1
    for header in $(tracked '\.h$'); do
        # The empty second inclusion shows that the guard works.
        printf '#include "%s"\n#include "%s"\ntypedef int not_empty;\n' "$header" "$header" |
            $compiler $flags - || fail "$header: does not compile alone with $compiler"
    done
done
[ $found = 1 ] || skip "no compiler found"
for header in $(tracked '\.h$'); do
    name=$(basename "$header" .h | tr 'a-z-' 'A-Z_')
    grep -qE "^#ifndef OVL_([A-Z_]+_)?${name}_H\$" "$header" || fail "$header: include guard is not OVL_..._${name}_H"
done
finish
