#!/bin/sh
# Small files and small functions: no file beyond 700 lines, no function beyond 80, no line beyond
# 100 columns. A function is what lies between `{` and `}` at the start of a line.
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2046
each_line_fails awk '
    FNR == 1 { inside = 0 }
    FNR == 701 { print FILENAME ": more than 700 lines" }
    length($0) > 100 { print FILENAME ":" FNR ": more than 100 columns" }
    /^\{/ { inside = FNR }
    /^\}/ && inside {
        if (FNR - inside - 1 > 80)
            print FILENAME ":" inside ": a function of " FNR - inside - 1 " lines"
        inside = 0
    }' $(tracked '\.[ch]$')
finish
