#!/bin/sh
# Builds the program and one of the benchmarks as a release, and runs it with a durable PostgreSQL server of its
# own, which is removed afterwards.
#
#   scripts/bench.sh history|start|prompt|window|handoff|commands
set -eu
cd "$(dirname "$0")/.."

folder=$(mktemp -d "${TMPDIR:-/tmp}/wm-bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT
# As root the server runs under another account, which must be able to reach its folder.
chmod 711 "$folder"

cargo bench --locked --no-run --bench "$1"
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
"$target/release/working-memory" with-postgres --data-dir "$folder/data" -- cargo bench --locked --bench "$1"
