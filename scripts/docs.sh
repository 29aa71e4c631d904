#!/bin/sh
# Builds the pages as a site with mdBook, target/docs/site, and follows every link in it.
#
#   scripts/docs.sh           builds; mdBook is that of the PATH, or else installed into target/docs
#   scripts/docs.sh --tools   prints the folder of the programs that are installed there, and installs them
set -eu
cd "$(dirname "$0")/.."
venv="$(pwd)/target/docs/venv"

tools() {
    cmp -s tests/docs/requirements.txt "$venv/installed.txt" && return
    rm -rf "$venv"
    mkdir -p target/docs
    python3 -m venv "$venv" || { echo "python3 cannot make virtual environments: install python3-venv." >&2; exit 1; }
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r tests/docs/requirements.txt
    cp tests/docs/requirements.txt "$venv/installed.txt"
}

if [ "${1:-}" = --tools ]; then
    tools
    echo "$venv/bin"
    exit
fi
if ! command -v mdbook >/dev/null; then
    tools
    PATH="$venv/bin:$PATH"
fi

# The pages keep their paths, so that the links between them work; the files they link to are copied too.
source=target/docs/source
rm -rf "$source" target/docs/site
python3 tests/docs/site.py "$source"
mdbook build "$source" --dest-dir "$(pwd)/target/docs/site"
python3 tests/docs/links.py target/docs/site
echo "The site is target/docs/site/index.html."
