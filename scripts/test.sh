#!/bin/sh
# Runs all tests with one throw-away PostgreSQL server beside them. Arguments go to the test runner.
set -eu
cd "$(dirname "$0")/.."

if cargo nextest --version >/dev/null 2>&1 || cargo install cargo-nextest --locked; then
    runner="cargo nextest run"
else
    echo "cargo-nextest is missing and cannot be installed: using cargo test." >&2
    runner="cargo test --all-targets"
fi

# The laws try the same cases every time, so that what fails here fails for everybody. Another number tries others.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-20261121}"

program=$(sh scripts/program.sh)
# Documentation tests first: the runner's summary is to be the last line.
exec "$program" with-postgres -- sh -c 'cargo test --doc --quiet && exec "$@"' sh $runner "$@"
