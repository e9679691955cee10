#!/bin/sh
# C files are formatted as .clang-format says (clang-format 14: later ones differ).
. "$(dirname "$0")/lib.sh"

tool=
for name in clang-format-14 clang-format; do
    command -v $name >/dev/null && $name --version | grep -q 'version 14' && tool=$name && break
done
[ "$tool" ] || skip "clang-format 14 is not installed"
for file in $(tracked '\.[ch]$'); do
    $tool "$file" | cmp -s - "$file" || fail "$file: not formatted; run tools/dev/format"
done
finish
