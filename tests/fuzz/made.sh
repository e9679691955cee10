#!/bin/sh
# A corpus is made and replayed: made.sh MAKER REPLAYER
directory=$(mktemp -d) || exit 2
trap 'rm -rf "$directory"' EXIT
trap 'exit 2' HUP INT TERM
"$1" "$directory" && "$2" "$directory"
