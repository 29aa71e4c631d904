#!/bin/sh
# Licences, duplicates and sources of the dependencies, as deny.toml requires; with --advisories, known vulnerabilities too, whose
# list is fetched. Without an installed cargo-deny, it is built below target/tools; a debug build is fast enough.
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
