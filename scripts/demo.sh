#!/usr/bin/env bash
# Runs two memories through a temporary service and prints the results: the sample session of
# examples/session, then the last commits of this repository. Nothing outside a temporary folder is changed.
#
#   WORKING_MEMORY_BIN   the program (default target/release/working-memory)
#   WORKING_MEMORY__LLM__…, OPENAI_API_KEY, ANTHROPIC_API_KEY
#                        let a model write, three requests or more per update; without them the built-in rules do
#
# Exits non-zero when any request is not answered with 2xx.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${WORKING_MEMORY_BIN:-$root/target/release/working-memory}
[[ $program == /* ]] || program=$PWD/$program
commits=20
# All of them must fit into one document, whatever the commits are.
diff_bytes=3000
failed=0
service=

work=$(mktemp -d "${TMPDIR:-/tmp}/wm-demo.XXXXXX")
# As root the embedded database runs under another account, which must be able to reach its folder.
chmod 711 "$work"

clean_up() {
    if [[ -n $service ]] && kill -0 "$service" 2>/dev/null; then
        kill -TERM "$service" 2>/dev/null || true
        wait "$service" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die() {
    printf 'demo: %s\n' "$1" >&2
    exit 1
}

heading() {
    printf '\n=== %s\n\n' "$1"
}

# Prints one member of the JSON object in a file: a string as its text, anything else as JSON.
# Without python3 the whole object is printed.
member() {
    if ! command -v python3 >/dev/null; then
        cat "$1"
        echo
        return
    fi
    python3 - "$1" "$2" <<'PYTHON'
import json, sys
value = json.load(open(sys.argv[1], encoding="utf-8")).get(sys.argv[2])
print(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
PYTHON
}

# Prints a page of records, one per line. Without python3 the JSON is printed.
records() {
    if ! command -v python3 >/dev/null; then
        cat "$1"
        echo
        return
    fi
    python3 - "$1" <<'PYTHON'
import json, sys
for r in json.load(open(sys.argv[1], encoding="utf-8"))["items"]:
    life = f"v{r['created_version']}-" + (f"v{r['ended_version']}" if r["ended_version"] else "")
    text = f"{r['label']} =>" if r["label"] else r["content"]
    print(f"{r['record_id']:<6} {r['status']:<9} {life:<8} {text}")
    if r["archive_reason"]:
        print(f"{'':26}archived because {r['archive_reason']}")
PYTHON
}

# Converts standard input to a JSON string. Bytes that are not UTF-8 and control characters are omitted.
json_string() {
    # iconv fails on a character cut off at the end; what it has written by then is complete enough.
    { iconv -c -f UTF-8 -t UTF-8 2>/dev/null || true; } | LC_ALL=C tr -d '\000-\010\013-\037\177' | LC_ALL=C awk '
        BEGIN { printf "\"" }
        { gsub(/\\/, "&&"); gsub(/"/, "\\\\&"); gsub(/\t/, "\\\\t"); printf "%s%s", (NR > 1 ? "\\n" : ""), $0 }
        END { printf "\"" }'
}

# request METHOD URL [curl arguments]: the response body goes to $work/answer; counts responses that are not 2xx.
request() {
    local method=$1 url=$2 status
    shift 2
    : >"$work/answer"
    status=$(curl --silent --show-error --max-time 900 --output "$work/answer" --write-out '%{http_code}' \
        --request "$method" --header 'X-Actor-Id: demo' "$@" "$url") || status=000
    [[ $status == 2?? ]] && return 0
    failed=$((failed + 1))
    printf 'demo: %s %s answered %s\n' "$method" "$url" "$status" >&2
    [[ ! -s $work/answer ]] || { cat "$work/answer"; echo; } >&2
    return 1
}

# update MEMORY TITLE: sends the body in $work/body and prints the log entry of the response.
update() {
    heading "$2"
    if request POST "$1/update" --header 'Content-Type: application/json' --data-binary @"$work/body"; then
        member "$work/answer" log
    fi
}

# Prints the document, its records and what changed between the first version and the last.
closing() {
    local memory=$1 name=$2 versions=
    heading "$name: the document"
    request GET "$memory/context" --dump-header "$work/headers" || return 0
    cp "$work/answer" "$work/last"
    cat "$work/last"
    versions=$(tr -d '\r' <"$work/headers" | awk 'tolower($1) == "x-context-version:" { print $2 }')
    heading "$name: all records"
    request GET "$memory/records?status=all&limit=500" && records "$work/answer"
    heading "$name: first version to version ${versions:-last}"
    request GET "$memory/contexts/1" --header 'Accept: text/plain' || return 0
    cp "$work/answer" "$work/first"
    diff -u --label 'version 1' --label "version ${versions:-last}" "$work/first" "$work/last" || true
}

# The window, the assembled prompt and the handoff of a memory.
views() {
    local memory=$1 name=$2 category
    heading "$name: the last commits as tasks, the state as status, a decision"
    if git -C "$root" rev-parse --verify --quiet HEAD >/dev/null 2>&1; then
        for commit in $(git -C "$root" rev-list --max-count=7 --reverse HEAD); do
            {
                printf '{"task_id":"%s","intent":' "$commit"
                git -C "$root" show --no-patch --format=%s "$commit" | head -c 400 | json_string
                printf ',"summary":'
                git -C "$root" show --shortstat --format= "$commit" | tail -n 1 | json_string
                printf '}'
            } >"$work/body"
            request POST "$memory/tasks" --header 'Content-Type: application/json' --data-binary @"$work/body"
        done
    fi
    request POST "$memory/decisions" --header 'Content-Type: application/json' \
        --data-binary '{"decision": "a model names operations, and code applies them", "reason": "a rewritten document loses what it said"}'
    request PUT "$memory/status" --header 'Content-Type: application/json' \
        --data-binary '{"goal": "show what the service does", "blocker": null}'
    request PUT "$memory/items/rules" --header 'Content-Type: text/plain' \
        --data-binary 'Never push to main without a green run.'
    request PUT "$memory/items/user_information" --header 'Content-Type: text/plain' \
        --data-binary 'Somebody who looks at a demonstration.'
    heading "$name: the window"
    request GET "$memory/window" && cat "$work/answer"
    heading "$name: what has left it"
    request GET "$memory/archive/history" && cat "$work/answer"
    heading "$name: the prompt, of 1,200 tokens at most"
    request GET "$memory/prompt?max_tokens=1200&timezone=Europe/Berlin" && cat "$work/answer"
    heading "$name: the handoff"
    request POST "$memory/handoff/refresh"
    request GET "$memory/handoff" && cat "$work/answer"
}

[[ -x $program ]] || die "no program at $program; build it with: cargo build --release"
command -v curl >/dev/null || die "curl is needed"

# A free port.
port=
for _ in $(seq 50); do
    candidate=$((20000 + RANDOM % 20000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$candidate") 2>/dev/null; then
        port=$candidate
        break
    fi
done
[[ -n $port ]] || die "found no free port"
base=http://127.0.0.1:$port

# The temporary service must not use the caller's own database or configuration file.
(
    cd "$work"
    unset DATABASE_URL WORKING_MEMORY__DATABASE__URL WORKING_MEMORY__DATABASE__LISTEN_URL
    export WORKING_MEMORY__HTTP__BIND=127.0.0.1:$port WORKING_MEMORY__DATABASE__DATA_DIR=$work/data
    exec "$program" serve
) >"$work/service.log" 2>&1 &
service=$!

ready=
for _ in $(seq 300); do
    if curl --silent --fail --max-time 2 --output /dev/null "$base/readyz"; then
        ready=yes
        break
    fi
    kill -0 "$service" 2>/dev/null || break
    sleep 0.2
done
if [[ -z $ready ]]; then
    tail -n 30 "$work/service.log" >&2
    die "the service did not become ready"
fi

session=$base/v1/vaults/demo/memories/session
heading "session: the first document"
request PUT "$session/context" --header 'Content-Type: text/plain' \
    --data-binary @"$root/examples/session/context.md" && cat "$root/examples/session/context.md"
number=0
while IFS= read -r line; do
    number=$((number + 1))
    printf '%s' "$line" >"$work/body"
    update "$session" "session: step $number"
done <"$root/examples/session/steps.jsonl"

repository=$base/v1/vaults/demo/memories/repository
if git -C "$root" rev-parse --verify --quiet HEAD >/dev/null 2>&1; then
    for commit in $(git -C "$root" rev-list --max-count="$commits" --reverse HEAD); do
        subject=$(git -C "$root" show --no-patch --format=%s "$commit")
        git -C "$root" show --stat --patch --no-color --format= "$commit" >"$work/diff"
        {
            git -C "$root" show --no-patch --format='%s%n%n%b' "$commit"
            printf '\n````diff\n'
            head -c "$diff_bytes" "$work/diff"
            printf '\n````\n'
        } >"$work/message"
        {
            printf '{"task":'
            printf '%s' "${subject:-commit without a subject}" | json_string
            printf ',"messages":[{"role":"assistant","content":'
            json_string <"$work/message"
            printf '}]}'
        } >"$work/body"
        update "$repository" "repository: $subject"
    done
else
    echo "demo: no git history here, the commits are left out" >&2
fi

closing "$session" session
if git -C "$root" rev-parse --verify --quiet HEAD >/dev/null 2>&1; then
    closing "$repository" repository
fi

views "$session" session

if ((failed > 0)); then
    die "$failed requests were not answered with 2xx"
fi
heading "every request was answered with 2xx"
