#!/bin/sh
# The variants of a scenario, one a line: `variants.sh OVL FILE`.
"$1" check --json "$2" | sed -n 's/.*"variants":\[\([^]]*\)\].*/\1/p' | tr -d '" ' | tr ',' '\n'
