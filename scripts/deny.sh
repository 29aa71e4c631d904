#!/bin/sh
# Licences, duplicates and sources of the dependencies, as deny.toml wants them; with --advisories, known faults too, whose
# list is fetched. Where there is no cargo-deny, it is built below target/tools; a build for tests is fast enough.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/target/tools/bin:$PATH"
export PATH
cargo deny --version >/dev/null 2>&1 ||
    cargo install --quiet --locked --debug --root target/tools --target-dir target/tools/build --version "^0.20" cargo-deny
rm -rf target/tools/build
what="licenses bans sources"
[ "${1:-}" = --advisories ] && what="advisories $what"
# shellcheck disable=SC2086 # one word each
exec cargo deny --locked check --hide-inclusion-graph $what
