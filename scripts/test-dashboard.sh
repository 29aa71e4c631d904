#!/bin/sh
# Runs the dashboard's suite (tests/browser) in a real Chromium against services of its own, with a temporary database.
# It installs what it needs: Debian's chromium if there is none, npm packages into target/dashboard/suite. If
# Chromium or Node.js cannot be installed, it prints that and exits with 0.
#
#   scripts/test-dashboard.sh [WORDS …]   all tests, or those whose names have the words
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
DASHBOARD_FOLDER="$root/target/dashboard"
suite="$DASHBOARD_FOLDER/suite"

skip() {
    echo "The dashboard's suite was not run: $1" >&2
    exit 0
}

have() { command -v "$1" >/dev/null 2>&1; }

if ! have chromium && [ -z "${CHROMIUM:-}" ] && have apt-get; then
    as_root=
    if [ "$(id -u)" -ne 0 ]; then as_root="sudo -n"; fi
    install() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium >&2; }
    install || { $as_root apt-get update -q >&2 && install; } || true
fi
CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
[ -n "$CHROMIUM" ] || skip "there is no chromium, and it could not be installed."
have node && have npm || skip "there is no Node.js with npm."

mkdir -p "$suite"
if ! cmp -s tests/browser/package-lock.json "$suite/installed.json"; then
    cp tests/browser/package.json tests/browser/package-lock.json "$suite/"
    (cd "$suite" && npm ci --ignore-scripts --no-audit --no-fund >&2) || skip "its npm packages could not be installed."
    cp tests/browser/package-lock.json "$suite/installed.json"
fi
cp tests/browser/*.mjs "$suite/"

WORKING_MEMORY_BIN=${WORKING_MEMORY_BIN:-$(sh scripts/program.sh)}
if [ -n "${DASHBOARD_PICTURES:-}" ]; then
    mkdir -p "$DASHBOARD_PICTURES"
    DASHBOARD_PICTURES=$(cd "$DASHBOARD_PICTURES" && pwd)
    export DASHBOARD_PICTURES
fi
export CHROMIUM DASHBOARD_FOLDER WORKING_MEMORY_BIN
exec "$WORKING_MEMORY_BIN" with-postgres -- node "$suite/${DASHBOARD_SUITE:-suite.mjs}" "$@"
