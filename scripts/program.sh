#!/bin/sh
# Builds the `working-memory` program and prints its path. Where the sources do not compile, it fails: the program of an
# earlier build would let suites pass that test other code.
set -eu
cd "$(dirname "$0")/.."

cargo build --quiet --bin working-memory >&2
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
echo "$target/debug/working-memory"
