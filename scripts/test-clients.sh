#!/bin/sh
# Runs every suite of tests/clients against a service of its own with a temporary database: clients of other
# projects, from their registries. What they need is installed into target/clients. Then the tests of the
# clients of this repository, which start services of their own.
#
#   scripts/test-clients.sh [NAME …]   all suites, or those of these names (memory_tool, mcp, python)
#
# A suite is a file tests/clients/NAME.py or NAME.sh. It finds the service at $WORKING_MEMORY_URL, the program at
# $WORKING_MEMORY_BIN and the Python of the installed packages (tests/clients/requirements.txt) as `python`.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)

run_suites() {
    port=$(python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    WORKING_MEMORY_URL="http://127.0.0.1:$port"
    export WORKING_MEMORY_URL
    WORKING_MEMORY__HTTP__BIND="127.0.0.1:$port" "$WORKING_MEMORY_BIN" serve >"$root/target/clients/service.log" 2>&1 &
    service=$!
    trap 'kill "$service" 2>/dev/null || true; wait "$service" 2>/dev/null || true' EXIT
    python - <<'PYTHON'
import os, sys, time, urllib.request
for _ in range(300):
    try:
        urllib.request.urlopen(os.environ["WORKING_MEMORY_URL"] + "/readyz", timeout=1)
        sys.exit()
    except OSError:
        time.sleep(0.1)
sys.exit("The service did not start: see target/clients/service.log.")
PYTHON
    failed=
    for suite in tests/clients/*.py tests/clients/*.sh; do
        [ -e "$suite" ] || continue
        name=$(basename "${suite%.*}")
        case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
        case "$suite" in
            *.py) python "$suite" || failed="$failed $name" ;;
            *.sh) sh "$suite" || failed="$failed $name" ;;
        esac
    done
    if [ -n "$failed" ]; then
        echo "Failed:$failed" >&2
        exit 1
    fi
}

if [ "${1:-}" = --run ]; then
    shift
    run_suites "$@"
    exit
fi

[ "$*" = python ] && exec sh scripts/test-python-client.sh

command -v python3 >/dev/null || { echo "python3 (3.10 or newer) is needed for the clients' tests." >&2; exit 1; }
mkdir -p target/clients
venv="$root/target/clients/venv"
if ! cmp -s tests/clients/requirements.txt "$venv/installed.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv" || { echo "python3 cannot make virtual environments: install python3-venv." >&2; exit 1; }
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r tests/clients/requirements.txt
    cp tests/clients/requirements.txt "$venv/installed.txt"
fi
PATH="$venv/bin:$PATH"
WORKING_MEMORY_BIN=${WORKING_MEMORY_BIN:-$(sh scripts/program.sh)}
export PATH WORKING_MEMORY_BIN
failed=0
# Beside the suites: both wait for registries and services for half of their time.
python=
case " ${*:-python} " in *" python "*)
    sh scripts/test-python-client.sh >"$root/target/clients/python.log" 2>&1 &
    python=$!
    ;;
esac
"$WORKING_MEMORY_BIN" with-postgres -- sh scripts/test-clients.sh --run "$@" || failed=1
if [ -n "$python" ]; then
    wait "$python" || failed=1
    cat "$root/target/clients/python.log"
fi
exit "$failed"
