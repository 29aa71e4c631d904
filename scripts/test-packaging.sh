#!/bin/sh
# Checks everything in packaging/ and the files of containers, each with the tool that parses it: the systemd unit, the
# scripts, the Dockerfile, the Compose files, the Kubernetes manifests, the Debian package; and runs what
# packaging/compose describes, two instances behind its load balancer and its pooler.
# If a tool is missing and cannot be installed here, its part is skipped, with a message; with NO_SKIPS=1 that is a failure.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
has() { command -v "$1" >/dev/null; }
skipped() {
    echo "Skipped: $1, $2 is missing."
    [ -z "${NO_SKIPS:-}" ]
}

venv="$root/target/packaging/venv"
if ! cmp -s tests/packaging/requirements.txt "$venv/installed.txt"; then
    rm -rf "$venv"
    mkdir -p target/packaging
    python3 -m venv "$venv" || { echo "python3 cannot make virtual environments: install python3-venv." >&2; exit 1; }
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r tests/packaging/requirements.txt
    cp tests/packaging/requirements.txt "$venv/installed.txt"
fi
WORKING_MEMORY_BIN=${WORKING_MEMORY_BIN:-$(sh scripts/program.sh)}
PATH="$venv/bin:$PATH"
export PATH WORKING_MEMORY_BIN

# systemd: the unit must be valid and expose little (`systemd-analyze security`: 0 is best, 10 worst).
if has systemd-analyze; then
    most=2.5
    # The unit names a program that is installed with it.
    sed "s|^ExecStart=/usr/bin/working-memory|ExecStart=/bin/true|" packaging/working-memory.service >"$folder/working-memory.service"
    systemd-analyze verify --man=no "$folder/working-memory.service"
    exposure=$(systemd-analyze security --offline=true "$folder/working-memory.service" |
        sed -n 's/.*Overall exposure level[^:]*: \([0-9.]*\).*/\1/p')
    if [ -n "$exposure" ]; then
        awk -v exposure="$exposure" -v most="$most" 'BEGIN { exit !(exposure <= most) }' ||
            { echo "The unit's exposure is $exposure; at most $most is wanted." >&2; exit 1; }
        echo "The systemd unit is sound; exposure $exposure of 10."
    else
        skipped "the systemd unit is not rated" "a systemd-analyze that rates units which are not loaded"
    fi
else
    skipped "the systemd unit is not checked" systemd-analyze
fi

hadolint Dockerfile
echo "The Dockerfile has no fault that hadolint knows."
if docker compose version >/dev/null 2>&1; then
    # Every setting of .env.example reaches the service, and a password with special characters.
    mkdir "$folder/project"
    cp -r docker-compose.yml packaging "$folder/project"
    printf 'POSTGRES_PASSWORD='\''p@ss:w/o#%%d'\''\nWORKING_MEMORY__LLM__MODEL=m\n' >"$folder/project/.env"
    for file in docker-compose.yml packaging/compose/docker-compose.yml; do
        docker compose --project-directory "$folder/project" -f "$folder/project/$file" config >"$folder/config.yml"
        grep -q 'PGPASSWORD: p@ss:w/o#%d' "$folder/config.yml" && grep -q 'WORKING_MEMORY__LLM__MODEL: m' "$folder/config.yml" ||
            { echo "$file: the password or a setting of .env does not arrive." >&2; exit 1; }
    done
else
    skipped "Compose does not read its files" "docker compose"
fi
manifests=
if has kubectl; then
    manifests="$folder/manifests.yaml"
    kubectl kustomize packaging/kubernetes >"$manifests"
    kubernetes-validate --strict --quiet "$manifests"
else
    for file in service-account service deployment disruption-budget migrate; do
        kubernetes-validate --strict --quiet "packaging/kubernetes/$file.yaml"
    done
    skipped "the manifests are looked at one by one only" kubectl
fi
# shellcheck disable=SC2086 # none is no argument
python tests/packaging/files.py $manifests

if has haproxy && has pgbouncer; then
    "$WORKING_MEMORY_BIN" with-postgres -- python tests/packaging/two_instances.py
else
    skipped "two instances behind a balancer are not tried" "haproxy or pgbouncer"
fi

if cargo deb --version >/dev/null 2>&1; then
    DEB_OUTPUT="$folder/deb" sh scripts/deb.sh dev
    if has lintian; then
        # A debug build keeps its symbols.
        lintian --fail-on error,warning --suppress-tags unstripped-binary-or-object --allow-root "$folder"/deb/*.deb
        echo "The Debian package has no fault that lintian knows."
    else
        skipped "the Debian package is made and not looked at" lintian
    fi
else
    skipped "the Debian package is not made" cargo-deb
fi
