#!/bin/sh
# Checks the Python client of clients/python: ruff, mypy, and its tests with a real service, the frameworks' packages and
# a hostile server; then the built package alone. What it needs is installed into target/clients/python.
#
#   scripts/test-python-client.sh [ARGUMENT …]   arguments go to pytest, such as tests/test_retry.py or -k session
#
# PYTHON names another Python than python3; WORKING_MEMORY_BIN another program than that of this source.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
python=${PYTHON:-python3}
folder="$root/target/clients/python"
client="$root/clients/python"

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    { echo "Python 3.10 or newer is needed for the tests of the Python client." >&2; exit 1; }
mkdir -p "$folder"
venv="$folder/venv-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
if ! cmp -s "$client/requirements.txt" "$venv/installed.txt"; then
    rm -rf "$venv"
    "$python" -m venv "$venv" || { echo "$python cannot make virtual environments: install python3-venv." >&2; exit 1; }
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$client/requirements.txt"
    cp "$client/requirements.txt" "$venv/installed.txt"
fi
WORKING_MEMORY_BIN=${WORKING_MEMORY_BIN:-$(sh scripts/program.sh)}
PATH="$venv/bin:$PATH"
# Pinned versions stay, whatever other packages request.
sed 's/\[[^]]*\]//' "$client/requirements.txt" >"$folder/constraints.txt"
PIP_CONSTRAINT="$folder/constraints.txt"
PIP_DISABLE_PIP_VERSION_CHECK=1
PIP_QUIET=1
export PATH PIP_CONSTRAINT PIP_DISABLE_PIP_VERSION_CHECK PIP_QUIET WORKING_MEMORY_BIN

# Installed as the README says.
sed -n '/^```sh$/,/^```$/{/^```/d;p;}' "$client/README.md" | sh -eu

cd "$client"
cache="$folder/cache"
ruff check --cache-dir "$cache/ruff" . ../stub.py
ruff format --check --quiet --cache-dir "$cache/ruff" . ../stub.py
# Pydantic AI does not support Python 3.10, so its types are missing there; its tests are skipped.
if python -c 'import pydantic_ai' 2>/dev/null; then mypy --cache-dir "$cache/mypy"; fi
python -m pytest -o cache_dir="$cache/pytest" "$@"
[ $# -eq 0 ] || exit 0

# The built package without any extra: it must work without the optional dependencies.
rm -rf "$folder/dist" "$folder/alone"
python -m build --outdir "$folder/dist" . >"$folder/build.log" 2>&1 || { cat "$folder/build.log" >&2; exit 1; }
python -m venv "$folder/alone"
"$folder/alone/bin/python" -m pip install "$folder"/dist/*.whl
"$folder/alone/bin/python" - <<'PYTHON'
import importlib.metadata, importlib.resources, working_memory_client as package
assert (importlib.resources.files(package) / "py.typed").is_file()
assert importlib.metadata.version("working-memory-client") == package.__version__
with package.Client("http://127.0.0.1:9", retries=0) as client:
    try:
        client.memory("v", "m").get()
    except package.ConnectionFailedError:
        print("python client: the package works alone")
PYTHON
