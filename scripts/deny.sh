#!/bin/sh
# Licences, duplicates and sources of the dependencies, as deny.toml requires; with --advisories, known vulnerabilities too, whose
# list is fetched. A missing cargo-deny is installed as cargo installs programs; a debug build is fast enough.
set -eu
cd "$(dirname "$0")/.."
cargo deny --version >/dev/null 2>&1 || cargo install --quiet --locked --debug --version "^0.20" cargo-deny
what="licenses bans sources"
[ "${1:-}" = --advisories ] && what="advisories $what"
# shellcheck disable=SC2086 # one word each
exec cargo deny --locked check --hide-inclusion-graph $what
