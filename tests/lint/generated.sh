#!/bin/sh
# Pages that are written from tables are what the tables say today.
#
#     generated.sh OVL_DOCS             compares
#     generated.sh --update OVL_DOCS    writes the pages anew
update=
[ "$1" = --update ] && update=1 && shift
docs=$1
case $docs in
/*) ;;
*) docs=$PWD/$docs ;;
esac
. "$(dirname "$0")/lib.sh"

page() { # file, what ovl_docs calls it
    if [ "$update" ]; then
        mkdir -p "$(dirname "$1")"
        text=$("$docs" "$2") && printf '%s\n' "$text" >"$1" || fail "$docs cannot print $2"
    elif ! "$docs" "$2" | cmp -s - "$1"; then
        "$docs" "$2" | diff -u "$1" - | head -n 20
        fail "$1: not what $2 prints now; run tools/dev/golden-update"
    fi
}

page docs/scenario.md reference
page docs/ovl.1 man
page docs/completions/ovl.bash bash
page docs/completions/_ovl zsh
finish
