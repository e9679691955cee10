#!/bin/sh
# Builds and tests everything on a Debian 12 machine; installs what is missing. Leaves nothing
# outside build*/. The last line is the total: "N passed, N failed"; exit status 0 only if all
# passed. A test is a CUnit test, a transcript, a scenario's goldens, a replayed corpus, a lint, or
# the digest over compilers. Tests that run again under sanitizers count again only if they fail.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
cd "$root" || exit 1
. tools/dev/packages.sh
LC_ALL=C
export LC_ALL

passed=0
failed=0

say() {
    printf '== %s\n' "$*"
}

total() {
    printf '%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
    exit
}

packages() {
    say packages
    needs_to_build
    needs libcunit1-dev pkg-config --exists cunit
    install_missing
    needs clang command -v clang
    needs clang-format command -v clang-format
    needs clang-tidy command -v clang-tidy
    needs openmpi-bin command -v mpirun
    needs libopenmpi-dev command -v mpicc
    needs node-d3 test -f /usr/share/nodejs/d3/dist/d3.min.js
    needs chromium command -v chromium
    try_install || echo "going on without: their checks are skipped"
}

# Configures (or re-uses) and compiles a build directory: name, meson options. One that cannot be
# configured any more (the tree was moved) is made anew.
build() {
    dir=$1
    shift
    say "build in $dir/"
    ninja -C "$dir" build.ninja >/dev/null 2>&1 || rm -rf "$dir"
    mkdir -p "$dir"
    { [ -f "$dir/build.ninja" ] || meson setup "$dir" "$@"; } >"$dir/test.sh.log" 2>&1 &&
        ninja -C "$dir" >>"$dir/test.sh.log" 2>&1 && return
    tail -n 60 "$dir/test.sh.log"
    echo "the build in $dir/ failed"
    failed=$((failed + 1))
    return 1
}

# Reads meson's record of a run (one JSON object a line): a CUnit program counts as its tests, from
# the `tests` row of its closing table; everything else as one. Prints passed, failed, skipped.
count() {
    awk '
    {
        good = $0 ~ /"result": "(OK|EXPECTEDFAIL)"/
        skip = $0 ~ /"result": "SKIP"/
        if (skip) {
            skipped++
        } else if (match($0, / tests +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+/)) {
            split(substr($0, RSTART, RLENGTH), row, / +/)
            passed += row[5]
            failed += row[6]
            if (!good && row[6] == 0)
                failed++
        } else if (good) {
            passed++
        } else {
            failed++
        }
    }
    END { print passed + 0, failed + 0, skipped + 0 }' "$1/meson-logs/testlog.json"
}

# Runs tests of a build directory: name, options of `meson test`.
run() {
    dir=$1
    shift
    rm -f "$dir/meson-logs/testlog.json"
    meson test -C "$dir" --no-rebuild --print-errorlogs "$@" >"$dir/test.sh.log" 2>&1
    status=$?
    # shellcheck disable=SC2046
    set -- $(count "$dir")
    if [ "$status" -ne 0 ]; then
        # meson shows the log of each test that failed at the end.
        grep -v -e ' OK  ' -e ' SKIP  ' "$dir/test.sh.log"
        [ "${2:-0}" -gt 0 ] || set -- "${1:-0}" 1 "${3:-0}"
    fi
    skipped=$(sed -n 's/^ *[0-9]*\/[0-9]* *\(.*\) SKIP .*/\1/p' "$dir/test.sh.log")
    [ -z "$skipped" ] || printf 'skipped for want of a tool: %s\n' "$(printf '%s' "$skipped" | tr -s ' \n' ' ,')"
    echo "$dir/: $1 passed, $2 failed"
    run_passed=$1
    failed=$((failed + $2))
}

packages
build build || total
say "unit, law, figures, cli, golden, fuzz, lint; gcc and clang at -O0 and -O3"
run build
passed=$run_passed

# meson sets neither variable, and a report of the undefined-behaviour sanitizer alone exits 0.
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
ASAN_OPTIONS=detect_leaks=1
export UBSAN_OPTIONS ASAN_OPTIONS
if build build-san -Db_sanitize=address,undefined; then
    say "the same under sanitizers: unit, law, figures, cli, fuzz"
    run build-san --suite unit --suite law --suite figures --suite cli --suite fuzz \
        --timeout-multiplier 5
fi
total
