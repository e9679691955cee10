#!/bin/sh
# Builds the program and answers the question it is made for: what would another bucket split buy?
# On a Debian 12 machine; installs what is missing. Leaves nothing outside build-release/.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
cd "$root" || exit 1
. tools/dev/packages.sh
build=build-release

needs_to_build
install_missing

# A build directory that cannot be configured any more (the tree was moved) is made anew.
ninja -C $build build.ninja >/dev/null 2>&1 || rm -rf $build
mkdir -p $build
{ [ -f $build/build.ninja ] || meson setup $build --buildtype=release; } >$build/demo.log 2>&1 &&
    ninja -C $build tools/ovl >>$build/demo.log 2>&1 ||
    { tail -n 40 $build/demo.log; echo "the build failed"; exit 1; }

scenario=scenarios/buckets/last_bucket.yaml
printf '$ ovl compare %s\n' $scenario
$build/tools/ovl compare $scenario
status=$?
[ $status -eq 0 ] || exit $status

cat <<END

What to look at next:
  $build/tools/ovl run $scenario --variant late_alone    one run in full
  $build/tools/ovl check $scenario                       what it consists of
  $build/tools/ovl export --trace $scenario -o step.json
                                                         for https://ui.perfetto.dev
  docs/tutorial.md                                       from a first scenario to this one
END
