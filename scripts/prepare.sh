#!/bin/sh
# Describes every checked query of the sources against a freshly migrated temporary database, and writes the
# results to .sqlx, from which ordinary builds check their queries without a database.
#
#   scripts/prepare.sh            refresh .sqlx
#   scripts/prepare.sh --check    lint everything, warnings denied, and fail if .sqlx is out of date: one pass over the
#                                 sources does both
set -eu
cd "$(dirname "$0")/.."

describe() {
    for migration in migrations/*.sql; do
        case "$migration" in
            *.down.sql | 'migrations/*.sql') continue ;;
        esac
        one_transaction=--single-transaction
        if head -n 1 "$migration" | grep -q '^-- no-transaction'; then one_transaction=; fi
        psql "$DATABASE_URL" --no-psqlrc --quiet -v ON_ERROR_STOP=1 $one_transaction -f "$migration" >/dev/null
    done
    # The macros use the database only when they are expanded again: each pass has an argument of its own.
    SQLX_OFFLINE=false SQLX_OFFLINE_DIR="$1" cargo clippy --quiet --locked --all-targets -- \
        "$2" warnings --cfg "described=\"$1\""
}

if [ "${1:-}" = --describe ]; then
    describe "$2" "$3"
    exit
fi

described=$(mktemp -d)
trap 'rm -rf "$described"' EXIT
# A changed query does not compile before it is described; then an earlier build starts the database.
program=${WORKING_MEMORY_BIN:-$(sh scripts/program.sh 2>/dev/null || sh scripts/program.sh --built)}
level=-W
[ "${1:-}" != --check ] || level=-D
"$program" with-postgres -- sh scripts/prepare.sh --describe "$described" "$level"

if [ "${1:-}" = --check ]; then
    mkdir -p "$described/none"
    committed=.sqlx
    [ -d "$committed" ] || committed="$described/none"
    if ! diff -rq --exclude none "$committed" "$described" >&2; then
        echo "The prepared query data in .sqlx is out of date: run make prepare, and commit it." >&2
        exit 1
    fi
elif [ -n "$(ls "$described")" ]; then
    mkdir -p .sqlx
    rm -f .sqlx/query-*.json
    cp "$described"/query-*.json .sqlx/
else
    rm -rf .sqlx
fi
