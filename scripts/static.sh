#!/bin/sh
# Builds the program without any library of the system, for this machine's target: target/TARGET/release/working-memory. Runs
# it in an otherwise empty root folder, if chroot is allowed.
#
#   scripts/static.sh [TARGET]   such as x86_64-unknown-linux-musl (the default is that of this machine)
set -eu
cd "$(dirname "$0")/.."
target=${1:-$(uname -m)-unknown-linux-musl}
command -v musl-gcc >/dev/null || { echo "musl-gcc is needed: apt-get install musl-tools" >&2; exit 1; }
build="cargo build"
cargo auditable --version >/dev/null 2>&1 && build="cargo auditable build"
CC=musl-gcc $build --locked --release --target "$target" --bin working-memory
program="target/$target/release/working-memory"

if readelf -l "$program" | grep -q INTERP; then
    echo "$program is not static." >&2
    exit 1
fi
if [ "$(id -u)" = 0 ] || unshare --map-root-user true 2>/dev/null; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    cp "$program" "$folder/"
    enter="chroot"
    [ "$(id -u)" = 0 ] || enter="unshare --map-root-user chroot"
    $enter "$folder" /working-memory --version
    $enter "$folder" /working-memory openapi | cmp - openapi.yaml
    echo "It runs in a root folder that holds nothing else."
fi
