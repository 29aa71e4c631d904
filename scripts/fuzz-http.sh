#!/bin/sh
# Sends requests made from openapi.yaml to a service of its own, with a temporary database, and fails on answers that the
# document does not have: an undocumented status, a body of another form. Twice: to an open service, and to one with keys.
# Installs schemathesis into target/fuzz-http. Keys are not rotated or revoked, as the requests use one.
#
#   scripts/fuzz-http.sh [ARGUMENTS OF schemathesis run …]    EXAMPLES=50 requests for each operation and check
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
folder="$root/target/fuzz-http"
version=4.32.5
program=${WORKING_MEMORY_BIN:-$(sh scripts/program.sh)}

if [ "$("$folder/venv/bin/schemathesis" --version 2>/dev/null | grep -o '[0-9.]*$')" != "$version" ]; then
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
fi

# Whatever DATABASE_URL says: keys and memories are made and deleted there.
if [ "${1:-}" != --run ]; then
    WORKING_MEMORY_BIN=$program exec "$program" with-postgres -- sh "$root/scripts/fuzz-http.sh" --run "$@"
fi
shift

# run NAME REQUIRE_KEYS [ARGUMENTS…]: starts a service and sends the requests.
run() {
    name=$1 keys=$2
    shift 2
    port=$((20000 + ($$ + ${#name}) % 20000))
    url="http://127.0.0.1:$port"
    echo "--- $name"
    WORKING_MEMORY__HTTP__BIND="127.0.0.1:$port" WORKING_MEMORY__LOG__FILTER=warn \
        WORKING_MEMORY__HTTP__REQUIRE_KEYS=$keys "$program" serve >"$folder/serve.log" 2>&1 &
    service=$!
    # The service has ended by then, and with `set -e` a `kill` that fails would be the exit status.
    trap 'kill "$service" 2>/dev/null || true; wait "$service" 2>/dev/null || true' EXIT
    tries=0
    until curl -fsS "$url/readyz" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 120 ] || { cat "$folder/serve.log" >&2; exit 1; }
        sleep 0.5
    done
    if [ "$keys" = true ]; then
        # Without it every answer would be 401, which the document has.
        key=$("$program" keys create --name fuzz --role admin) || exit 1
        set -- --header "Authorization: Bearer $key" "$@"
    fi
    status=0
    (cd "$folder" && "$folder/venv/bin/schemathesis" run "$url/openapi.yaml" \
        --exclude-operation-id RotateKey --exclude-operation-id RevokeKey --exclude-operation-id SpeakMcp \
        --max-examples "${EXAMPLES:-50}" --continue-on-failure --request-timeout 10 --phases examples,coverage,fuzzing \
        --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance \
        "$@") || status=$?
    kill "$service"
    wait "$service" || true
    return "$status"
}

failed=0
run "without keys" false "$@" || failed=1
run "with keys" true "$@" || failed=1
exit "$failed"
