#!/bin/sh
# Builds the `working-memory` program and prints its path. If the sources do not compile at the moment (for example because
# the prepared query data is out of date), the program of the last build is used.
set -eu
cd "$(dirname "$0")/.."

target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
program="$target/debug/working-memory"
if ! cargo build --quiet --bin working-memory >&2; then
    [ -x "$program" ] || exit 1
    echo "Using the program of the last build that succeeded." >&2
fi
echo "$program"
