#!/bin/sh
# Builds the `working-memory` program and prints its path. Where the sources do not compile, it fails: the program of an
# earlier build would let suites pass that test other code.
#
#   scripts/program.sh [--release]
#   scripts/program.sh --built      the one of an earlier build, without building: for what only starts a database by it
set -eu
cd "$(dirname "$0")/.."

case "${1:-}" in --release) profile=release ;; *) profile=debug ;; esac
[ "${1:-}" = --built ] || cargo build --quiet --locked ${1:+"$1"} --bin working-memory >&2
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
echo "$target/$profile/working-memory"
