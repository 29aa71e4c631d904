#!/bin/sh
# A tour of the service, against a throw-away server and database: what each request is, and what it answers.
set -eu
cd "$(dirname "$0")/.."

if [ "${1:-}" != --inside ]; then
    program=$(sh scripts/program.sh)
    exec "$program" with-postgres -- sh scripts/demo.sh --inside "$program"
fi

program=$2
address=127.0.0.1:${DEMO_PORT:-18080}
memory=http://$address/v1/vaults/demo/memories/agent-1
WORKING_MEMORY__HTTP__BIND=$address "$program" serve >/dev/null 2>&1 &
service=$!
trap 'kill "$service" 2>/dev/null; wait "$service" 2>/dev/null || true' EXIT

attempts=100
until "$program" health --address "$address" 2>/dev/null; do
    attempts=$((attempts - 1))
    if [ "$attempts" -eq 0 ] || ! kill -0 "$service" 2>/dev/null; then
        echo "The service did not start on $address; is the port in use? (DEMO_PORT chooses another)" >&2
        exit 1
    fi
    sleep 0.1
done

# Shows a request in words, then its answer.
step() {
    printf '\n== %s\n\n' "$1"
    shift
    curl --silent --show-error --fail-with-body "$@"
    echo
}

step "Put a context document by hand" -X PUT "$memory/context" \
    -H 'Content-Type: text/plain' -H 'X-Actor-Id: demo' --data-binary @- <<'DOCUMENT'
# Description
A parser for the update language.

# Current Progress
## In Progress
- Write the parser
DOCUMENT

step "Record what has just been done: the updater works out what to remember" -X POST "$memory/update" \
    -H 'Content-Type: application/json' -d '{
  "task": "Finish the parser and wire it to the update route",
  "messages": [
    {"role": "user", "content": "Please finish the parser and wire it to the update route."},
    {"role": "assistant", "content": "Completed the parser. It turned out that CI has no database, because the runners are bare. Next I will wire the parser to the route."}
  ]
}'

step "Change it without a model, in the update language" -X POST "$memory/operations" \
    -H 'Content-Type: text/plain' --data-binary @- <<'OPERATIONS'
KEY_LEARNINGS:
  ADD:
    - because CI has no database: commit the prepared query data
OPERATIONS

step "Record a decision" -X POST "$memory/decisions" -H 'Content-Type: application/json' \
    -d '{"decision": "All SQL lives in storage", "reason": "one place to look"}'

step "The document now" "$memory/context"
step "Its versions, newest first" "$memory/contexts?limit=5"
step "What changed, in words" "$memory/log"
step "The handoff for whoever continues" -X POST "$memory/handoff/refresh"
step "... which reads" "$memory/handoff"
