# Common to the lint tests: sourced first. Goes to the repository's root.
#
# A lint prints one line per finding through `fail` and ends with `finish`: exit status 0 without
# findings, 1 with. `skip` ends with 77, which meson shows as skipped.

LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.." || exit 2
findings=0

fail() {
    printf '%s\n' "$*"
    findings=$((findings + 1))
}

finish() {
    [ "$findings" -eq 0 ] || printf '%d findings\n' "$findings"
    [ "$findings" -eq 0 ]
    exit
}

skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

# The files of the project whose path matches an extended regular expression, sorted. Without git (a
# source archive, or a tree owned by somebody else) all files outside build directories.
tracked() {
    if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; then
        git ls-files
    else
        find . -type f ! -path './build*' ! -path './.git/*' | sed 's|^\./||'
    fi | grep -E "$1" | sort | while read -r path; do
        [ -f "$path" ] && printf '%s\n' "$path"
    done
}

# Runs a command whose every line of output is a finding.
each_line_fails() {
    found=$("$@")
    [ -z "$found" ] && return
    printf '%s\n' "$found"
    findings=$((findings + $(printf '%s\n' "$found" | wc -l)))
}
