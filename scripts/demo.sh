#!/usr/bin/env bash
# Shows what the service does, by the commands that a user types, on a temporary database: the sample session of
# examples/session, then the last commits of this repository as tasks. Nothing outside a temporary folder is changed.
#
#   WORKING_MEMORY_BIN   the program (default target/release/working-memory)
#   WORKING_MEMORY__LLM__…, OPENAI_API_KEY, ANTHROPIC_API_KEY
#                        let a model write, three requests or more per update; without them the built-in rules do
#
# Exits non-zero when a command fails.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${WORKING_MEMORY_BIN:-$root/target/release/working-memory}
[[ $program == /* ]] || program=$PWD/$program
[[ -x $program ]] || { echo "demo: no program at $program; build it with: cargo build --release" >&2; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/wm-demo.XXXXXX")
# As root the embedded database runs under another account, which must be able to reach its folder.
chmod 711 "$work"
service=

clean_up() {
    if [[ -n $service ]]; then
        kill -TERM "$service" 2>/dev/null || true
        wait "$service" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$work"

# The temporary service must not use the caller's own database, memories or configuration file.
unset DATABASE_URL WORKING_MEMORY__DATABASE__URL WORKING_MEMORY__DATABASE__LISTEN_URL WORKING_MEMORY_API_KEY
export WORKING_MEMORY__HTTP__BIND=127.0.0.1:0 WORKING_MEMORY__DATABASE__DATA_DIR=$work/data
export WORKING_MEMORY__LOG__FORMAT=text WORKING_MEMORY__LOG__FILTER=info
touch service.log
"$program" serve >>service.log 2>&1 &
service=$!
until WORKING_MEMORY_URL=$(sed -n 's/.* ready url="\(.*\)"$/\1/p' service.log) && [[ -n $WORKING_MEMORY_URL ]]; do
    if ! kill -0 "$service" 2>/dev/null; then
        tail -n 30 service.log >&2
        echo "demo: the service does not start" >&2
        exit 1
    fi
    sleep 0.2
done
export WORKING_MEMORY_URL WORKING_MEMORY_VAULT=demo WORKING_MEMORY_ACTOR=demo WORKING_MEMORY_HOME=$work/home

# Prints a command of the program as it would be typed, and runs it.
run() {
    local argument
    printf '\n$ working-memory'
    for argument in "$@"; do
        case $argument in
            *[!A-Za-z0-9_./:-]*) printf ' "%s"' "$argument" ;;
            *) printf ' %s' "$argument" ;;
        esac
    done
    printf '\n\n'
    "$program" "$@" </dev/null
}

cp "$root"/examples/session/* .
export WORKING_MEMORY_MEMORY=session
run put context.md
number=0
while IFS= read -r task; do
    number=$((number + 1))
    run update "$task" --messages "step-$number.jsonl"
done <tasks.txt
run get
run records --status all
run diff --base 1

export WORKING_MEMORY_MEMORY=repository
if git -C "$root" rev-parse --verify --quiet HEAD >/dev/null 2>&1; then
    for commit in $(git -C "$root" rev-list --abbrev-commit --no-merges --max-count=7 --reverse HEAD); do
        subject=$(git -C "$root" log -1 --format='%<(120,trunc)%s' "$commit" | sed 's/ *$//')
        changes=$(git -C "$root" show --shortstat --format= "$commit" | sed 's/^ *//')
        run task "${subject:-a commit}" --task-id "$commit" --summary "${changes:-no files changed}"
    done
else
    echo "demo: no git history here, the commits are left out" >&2
fi
run decision "A model names operations, and code applies them" --because "a rewritten document loses what it said"
run set-status --goal "show what the service does"
echo "Never push to main without a green run." >rules.txt
run items put --category rules --file rules.txt
run prompt --max-tokens 1200 --timezone Europe/Berlin
run refresh --no-workspace
run show
