#!/bin/sh
# Words that have no place in the repository: notes to oneself, paths of one machine, trailing
# blanks, merge marks. The words are written so that this file does not match itself.
. "$(dirname "$0")/lib.sh"

files=$(tracked '.' | grep -vE '\.(gz|png|sqlite)$|^tests/fuzz/corpus/')

forbid() { # extended regular expression, why
    # shellcheck disable=SC2086
    found=$(grep -nIE "$1" $files /dev/null) || return
    printf '%s\n' "$found"
    fail "^ $2"
}

forbid '\<(TO''DO|FIX''ME|XX''X|HA''CK)\>' 'finish it or leave it out'
forbid '\<([Ss]ess''ions?|[Hh]elp''ers?|[Aa]gen''ts?|[Pp]romp''t)\>' 'the repository speaks of the program only'
forbid '(/wo''rk/|/ho''me/|/ro''ot/)' 'a path of one machine'
forbid '^(<<<<<<<|>>>>>>>|=======$)' 'an unfinished merge'
# shellcheck disable=SC2086
found=$(printf '%s\n' "$files" | grep -E '(\.([ch]|sh|md|build)|/run)$' | xargs grep -nE '[[:blank:]]+$') &&
    fail "$found: blanks at the end of a line"
for file in $(printf '%s\n' "$files" | grep -E '\.(old|orig|rej|bak)$'); do
    fail "$file: delete what is not used; git remembers it"
done
finish
