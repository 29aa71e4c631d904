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

program=$(sh scripts/program.sh)
# Documentation tests first, so that the runner's summary is the last output.
exec "$program" with-postgres -- sh -c 'cargo test --doc --quiet && exec "$@"' sh $runner "$@"
