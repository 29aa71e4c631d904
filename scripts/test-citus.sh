#!/bin/sh
# Runs the tests of the service on a database that is distributed by vault, beside the server of the other tests.
#
# TEST_CITUS_URL names a PostgreSQL server that has the extension preloaded: each test has a database of its own there, with its
# shards on this one server. TEST_CITUS_NODES_URL names a database with the extension and several nodes, made for one
# run. Either may be left out. Arguments go to the test runner.
set -eu
cd "$(dirname "$0")/.."

program=$(sh scripts/program.sh)

# What does not work there, and why:
# - gathered: changes of several vaults are not committed together.
# - failing_vaults, distribute, transactions: they use triggers, and substitutes for the extension's functions.
# - distribution: it divides the tables itself.
# - migrations, an_older_schema: migrating down does not work on a distributed database.
# - a_failing_model: it moves times of all vaults, with an operator that the extension takes in one vault only.
# - a_script_can_show: the first request of a new database takes longer than the 300 ms that `show` waits.
without='test(/^(gathered|failing_vaults|distribute|distribution|exactly_once|migrations)::/)
    or test(/^transactions::a_(commit|conflict|single|transaction)_/) or test(/::an_older_schema_|^queue::a_failing_model_|::a_script_can_show_/)'

[ -n "${TEST_CITUS_URL:-}${TEST_CITUS_NODES_URL:-}" ] || {
    echo "set TEST_CITUS_URL, TEST_CITUS_NODES_URL or both: docs/deploy.md says to what" >&2
    exit 2
}
if [ -n "${TEST_CITUS_NODES_URL:-}" ]; then
    (
        unset TEST_CITUS_URL
        "$program" with-postgres -- cargo nextest run --test it --run-ignored only -E 'test(/^citus::/)'
    )
fi
if [ -n "${TEST_CITUS_URL:-}" ]; then
    "$program" with-postgres -- cargo nextest run --test it -E "not ($without)" "$@"
fi
