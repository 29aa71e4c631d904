#!/bin/sh
# Runs every code block of README.md and docs against services of their own, and follows every link of the pages and, if
# mdBook is installed or can be, of the site built from them. What it needs is installed into target/docs.
#
#   scripts/test-docs.sh [PAGE …]   these pages only, such as docs/cli.md; WORKING_MEMORY_BIN names another program
set -eu
cd "$(dirname "$0")/.."

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    { echo "Python 3.11 or newer is needed for the tests of the pages." >&2; exit 1; }
command -v curl >/dev/null || { echo "curl is needed for the tests of the pages." >&2; exit 1; }
WORKING_MEMORY_BIN=${WORKING_MEMORY_BIN:-$(sh scripts/program.sh)}
PATH="$(sh scripts/docs.sh --tools):$PATH"
export WORKING_MEMORY_BIN PATH
python tests/docs/run.py "$@"
[ $# -gt 0 ] || sh scripts/docs.sh
