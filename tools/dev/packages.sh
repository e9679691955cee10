# Sourced by tools/test.sh and tools/demo.sh: installs what is missing on a Debian 12 machine.
#
#     needs PACKAGE TEST...      remembers PACKAGE as missing unless the command TEST succeeds
#     install_missing            installs all that; ends the script with a message if it cannot
#     try_install                the same, but goes on without (for checks that can be left out)

missing=

needs() {
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo -n "$@"
    else
        echo "neither root nor sudo" >&2
        return 1
    fi
}

# apt-get with its output kept for the case that it fails. No questions, no recommended extras.
apt() {
    apt_log=$(as_root env DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends "$@" \
        </dev/null 2>&1) || { printf '%s\n' "$apt_log" | tail -n 15; return 1; }
}

updated=
try_install() {
    [ "$missing" ] || return 0
    echo "installing$missing"
    if ! command -v apt-get >/dev/null; then
        echo "there is no apt-get here"
        missing=
        return 1
    fi
    [ "$updated" ] || apt update || echo "apt-get update failed; going on with the lists there are"
    updated=1
    # shellcheck disable=SC2086
    apt install $missing
    installed=$?
    missing=
    return $installed
}

install_missing() {
    wanted=$missing
    try_install || { echo "cannot install what is needed; please install:$wanted"; exit 1; }
}

# What building the program takes.
needs_to_build() {
    needs libc6-dev test -f /usr/include/stdio.h
    needs gcc command -v gcc
    needs meson command -v meson
    needs ninja-build command -v ninja
    needs pkg-config command -v pkg-config
    needs libyaml-dev pkg-config --exists yaml-0.1
    needs libgsl-dev pkg-config --exists gsl
    needs libsqlite3-dev pkg-config --exists sqlite3
    needs zlib1g-dev pkg-config --exists zlib
}
