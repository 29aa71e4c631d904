#!/bin/sh
# openapi.yaml in the hands of those who generate clients: two linters without a warning, and two generators whose
# programs compile. Needs npm.
set -eu
here=$PWD/tests/clients/openapi
folder=$PWD/target/clients/openapi
document=$PWD/openapi.yaml

command -v npm >/dev/null || { echo "npm is needed for the linters of openapi.yaml." >&2; exit 1; }
mkdir -p "$folder"
# The stamps are written last: an installation that was cut is made again.
if ! cmp -s "$here/package.json" "$folder/installed.json"; then
    cp "$here/package.json" "$folder/package.json"
    (cd "$folder" && npm install --no-audit --no-fund --loglevel=error)
    cp "$here/package.json" "$folder/installed.json"
fi
# Apart from the other suites: generators pin what clients use in newer versions.
venv=$folder/venv
if ! cmp -s "$here/requirements.txt" "$venv/installed.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/installed.txt"
fi
# The generator runs ruff over what it wrote.
PATH="$venv/bin:$folder/node_modules/.bin:$PATH"
REDOCLY_TELEMETRY=off
REDOCLY_SUPPRESS_UPDATE_NOTICE=true
export PATH REDOCLY_TELEMETRY REDOCLY_SUPPRESS_UPDATE_NOTICE

failed=0
# run <name> <command…>
run() {
    printf '== %s\n' "$1"
    shift
    "$@" || { failed=1; echo FAILED; }
}

# Whatever the generator says besides what it does counts as a warning.
generate_typescript() {
    openapi-typescript "$document" --output "$folder/schema.ts" >"$folder/typescript.log" 2>&1 || return 1
    if grep -v -e '^✨ openapi-typescript' -e '^🚀 ' -e '^$' -e '^npm warn' "$folder/typescript.log"; then return 1; fi
    tsc --noEmit --strict "$folder/schema.ts"
}

generate_python() {
    rm -rf "$folder/python"
    openapi-python-client generate --path "$document" --config "$here/openapi-python-client.yaml" --meta none \
        --output-path "$folder/python/working_memory" --fail-on-warning || return 1
    (cd "$folder/python" && python - <<'PYTHON'
import importlib, pathlib, yaml
document = yaml.safe_load(open(pathlib.Path.cwd().parents[3] / "openapi.yaml"))
made = {path.stem for path in pathlib.Path("working_memory/api").rglob("*.py")} - {"__init__"}
for path in pathlib.Path("working_memory").rglob("*.py"):
    importlib.import_module(".".join(path.with_suffix("").parts))
wanted = {
    "".join("_" + letter.lower() if letter.isupper() else letter for letter in operation["operationId"]).lstrip("_")
    for item in document["paths"].values() for operation in item.values()
}
assert wanted - made == set(), wanted - made
from working_memory.models import Problem
problem = Problem.from_dict({"type": "t", "title": "t", "status": 422, "detail": "d", "field": "f", "limit": 3})
assert (problem.field, problem.limit) == ("f", 3)
print(f"{len(made)} operations generated and imported")
PYTHON
    )
}

run "Redocly" redocly lint "$document" --config "$here/redocly.yaml" --max-problems 20
run "openapi-spec-validator" openapi-spec-validator "$document"
run "openapi-typescript" generate_typescript
run "openapi-python-client" generate_python
exit "$failed"
