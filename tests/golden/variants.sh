#!/bin/sh
# The variants of a scenario, one a line: `variants.sh OVL FILE`.
"$1" check --json "$2" | tr -d '\n' | sed -n 's/.*"variants": *\[\([^]]*\)\].*/\1\n/p' |
    tr -d '" ' | tr ',' '\n'
