#!/bin/sh
# Every script is plain POSIX shell (bash only in .ci/run) and parses.
. "$(dirname "$0")/lib.sh"

for file in $(tracked '^(tools|tests|\.ci)/') ; do
    first=$(head -c 64 "$file" | head -n 1 | tr -d '\000')
    case $first in
    '#!/bin/sh') sh -n "$file" || fail "$file: does not parse" ;;
    '#!/bin/bash') [ "$file" = .ci/run ] || fail "$file: write it for /bin/sh" ;;
    '#!'*) fail "$file: $first is not on a bare machine" ;;
    esac
    case $first in
    '#!'*) case $file in
        tests/lint/lib.sh) ;;
        *) [ -x "$file" ] || fail "$file: not executable" ;;
        esac ;;
    esac
done
finish
