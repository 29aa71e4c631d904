#!/bin/sh
# Runs all tests with one temporary PostgreSQL server beside them. Arguments go to the test runner.
set -eu
cd "$(dirname "$0")/.."

if cargo nextest --version >/dev/null 2>&1 || cargo install cargo-nextest --locked; then
    runner="cargo nextest run"
else
    echo "cargo-nextest is missing and cannot be installed: using cargo test." >&2
    runner="cargo test --all-targets"
fi

# The property tests use the same cases every time, so that failures are reproducible. Another number tries others.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-20261121}"

# A test waits for half of its time, so half as many tests again as there are processors run at once.
processors=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
export NEXTEST_TEST_THREADS="${NEXTEST_TEST_THREADS:-$((processors + processors / 2))}"

# Each test has a database of its own, of hundreds of small files: making and removing them takes longer than most tests,
# unless they are in memory.
temporary=${TMPDIR:-/tmp}
free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
[ "${free:-0}" -lt 4000000 ] || server=/dev/shm

# The library is compiled once as it is and once with its tests: at the same time, if both are asked for.
cargo test --locked --no-run --quiet
program=$(sh scripts/program.sh)
# Documentation tests first, so that the runner's summary is the last output.
exec env TMPDIR="${server:-$temporary}" "$program" with-postgres -- \
    env TMPDIR="$temporary" sh -c 'cargo test --doc --quiet && exec "$@"' sh $runner "$@"
