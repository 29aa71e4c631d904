#!/bin/sh
# Licences, duplicates and sources of the dependencies, as deny.toml wants them; with --advisories, known faults too, whose
# list is fetched. Without cargo-deny nothing is checked, and that is said.
set -eu
cd "$(dirname "$0")/.."
cargo deny --version >/dev/null 2>&1 ||
    { echo "Skipped: dependencies are not checked, cargo-deny is missing (cargo install --locked cargo-deny)."; exit 0; }
what="licenses bans sources"
[ "${1:-}" = --advisories ] && what="advisories $what"
# shellcheck disable=SC2086 # one word each
exec cargo deny --locked check --hide-inclusion-graph $what
