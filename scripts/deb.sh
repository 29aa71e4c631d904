#!/bin/sh
# Builds the Debian package, target/debian/working-memory_*.deb, of an existing program; needs cargo-deb.
#
#   scripts/deb.sh [PROFILE]   release (the default, built first) or dev (as it is, for tests)
set -eu
cd "$(dirname "$0")/.."
profile=${1:-release}

cargo deb --version >/dev/null 2>&1 || { echo "cargo-deb is needed: cargo install --locked cargo-deb" >&2; exit 1; }
case $profile in
    release) ${CARGO:-cargo} build --release --locked --bin working-memory; program=target/release/working-memory ;;
    dev) program=target/debug/working-memory ;;
    *) echo "no such profile: $profile" >&2; exit 2 ;;
esac
rm -rf target/deb
mkdir -p target/deb/completions
"$program" man --dir target/deb/man
gzip --best --no-name target/deb/man/*
"$program" completions bash >target/deb/completions/working-memory
"$program" completions zsh >target/deb/completions/_working-memory
"$program" completions fish >target/deb/completions/working-memory.fish
cargo deb --no-build --profile "$profile" --output "${DEB_OUTPUT:-target/debian}/"
