#!/bin/sh
# What meson is to run is written out in lists; a file nobody listed would silently not be tested.
# Every scenario (hardware profiles apart) is in scenarios/meson.build, every unit test, transcript,
# lint and source file in the meson.build of its directory.
. "$(dirname "$0")/lib.sh"

in_list() { # file, meson.build, name in it
    grep -qE "'$3'" "$2" || fail "$1: not listed in $2"
}

for file in $(tracked '^scenarios/.*\.ya?ml$' | grep -v '^scenarios/hardware/'); do
    in_list "$file" scenarios/meson.build "${file#scenarios/}"
done
for file in $(tracked '^tests/cli/.*\.t$'); do
    in_list "$file" tests/cli/meson.build "$(basename "$file" .t)"
done
for file in $(tracked '^tests/unit/test_.*\.c$'); do
    name=$(basename "$file" .c)
    in_list "$file" tests/unit/meson.build "${name#test_}"
done
for file in $(tracked '^tests/lint/.*\.sh$' | grep -v '/lib\.sh$'); do
    in_list "$file" tests/lint/meson.build "$(basename "$file" .sh)"
done
for file in $(tracked '^(sim|models|tools)/[^/]*\.c$' | grep -v '^tools/main\.c$'); do
    in_list "$file" "$(dirname "$file")/meson.build" "$(basename "$file")"
done

# A golden whose scenario is gone is never compared again.
for file in $(tracked '^tests/golden/.*\.(json|txt)$' | grep -v '/digest\.txt$'); do
    path=${file#tests/golden/}
    name=$(basename "$path" | cut -d . -f 1)
    [ -f "scenarios/$(dirname "$path")/$name.yaml" ] || fail "$file: of no scenario"
done

# Hardware profiles are data that some scenario must use.
for file in $(tracked '^scenarios/hardware/.*\.ya?ml$'); do
    grep -rqF "hardware/$(basename "$file")" scenarios tests --include='*.yaml' --include='*.t' --include='*.c' ||
        fail "$file: no scenario or test uses it"
done
finish
