#!/bin/sh
# Makes sure that the PostgreSQL server binaries (15 or later) are on this machine, for the embedded server
# and the tests. Prints and changes nothing if they are; otherwise installs the package of the system's package
# manager, as root or through sudo, without creating or starting a server of the system.
set -eu

oldest=15

# Major version of the server programs in a folder, or nothing.
version_in() {
    [ -x "$1/postgres" ] && [ -x "$1/initdb" ] || return 0
    "$1/postgres" --version 2>/dev/null | sed -n 's/.*) \([0-9][0-9]*\).*/\1/p'
}

present() {
    if [ -n "${WORKING_MEMORY_PG_BIN:-}" ]; then
        set -- "$WORKING_MEMORY_PG_BIN"
    else
        in_path=$(command -v postgres || true)
        set -- ${in_path:+"$(dirname "$(readlink -f "$in_path" 2>/dev/null || echo "$in_path")")"} \
            /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/libexec/postgresql* /usr/lib/postgresql*/bin \
            /usr/local/pgsql/bin /usr/local/bin /opt/homebrew/opt/postgresql*/bin \
            /usr/local/opt/postgresql*/bin /home/linuxbrew/.linuxbrew/opt/postgresql*/bin \
            /opt/bitnami/postgresql/bin /Applications/Postgres.app/Contents/Versions/*/bin
    fi
    for dir in "$@"; do
        version=$(version_in "$dir")
        if [ "${version:-0}" -ge "$oldest" ]; then return 0; fi
    done
    return 1
}

if present; then exit 0; fi

have() { command -v "$1" >/dev/null 2>&1; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif have sudo; then
        sudo "$@"
    else
        echo "PostgreSQL $oldest or later is needed. As root, run: $*" >&2
        exit 1
    fi
}

# Debian's packages create a cluster of the system when they are installed, unless this is configured.
install_debian() {
    drop_in=/etc/postgresql-common/createcluster.d/working-memory-install.conf
    as_root mkdir -p "$(dirname "$drop_in")"
    as_root sh -c "echo 'create_main_cluster = false' >$drop_in"
    trap 'as_root rm -f "$drop_in"' EXIT
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends postgresql postgresql-client
}

install_fedora() {
    # Enterprise Linux offers old versions by default and newer ones as module streams.
    for stream in 16 15; do
        if as_root "$1" -q -y module enable "postgresql:$stream" 2>/dev/null; then break; fi
    done
    as_root "$1" install -y postgresql-server postgresql
}

install_alpine() {
    for version in 18 17 16 15; do
        if as_root apk add --no-cache "postgresql$version" "postgresql$version-client" 2>/dev/null; then return; fi
    done
    as_root apk add --no-cache postgresql postgresql-client
}

echo "No PostgreSQL server binaries ($oldest or later) found: installing them." >&2
if have apt-get; then install_debian
elif have dnf; then install_fedora dnf
elif have yum; then install_fedora yum
elif have apk; then install_alpine
elif have zypper; then as_root zypper --non-interactive install postgresql-server
elif have pacman; then as_root pacman -Sy --noconfirm --needed postgresql
elif have pkg; then as_root pkg install -y postgresql17-server
elif have brew; then brew install postgresql@17
else
    echo "No known package manager: install PostgreSQL $oldest or later, or set WORKING_MEMORY_PG_BIN." >&2
    exit 1
fi >&2

if ! present; then
    echo "What the package manager installed is older than PostgreSQL $oldest, or in an unknown place:" >&2
    echo "install PostgreSQL $oldest or later (postgresql.org/download), or set WORKING_MEMORY_PG_BIN." >&2
    exit 1
fi
