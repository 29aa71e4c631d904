#!/bin/sh
# The systemd unit is one that systemd reads, and it exposes little (`systemd-analyze security`, 0 is best, 10 worst).
# Without systemd-analyze nothing is checked, and that is said.
set -eu
cd "$(dirname "$0")/.."
unit=packaging/working-memory.service
most=2.5

command -v systemd-analyze >/dev/null || { echo "Skipped: the systemd unit is not checked, systemd-analyze is missing."; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The unit names a program that is installed with it.
sed "s|^ExecStart=/usr/bin/working-memory|ExecStart=/bin/true|" "$unit" >"$folder/working-memory.service"
systemd-analyze verify --man=no "$folder/working-memory.service"
exposure=$(systemd-analyze security --offline=true "$folder/working-memory.service" |
    sed -n 's/.*Overall exposure level[^:]*: \([0-9.]*\).*/\1/p')
[ -n "$exposure" ] || { echo "Skipped: this systemd-analyze does not rate units that are not loaded."; exit 0; }
awk -v exposure="$exposure" -v most="$most" 'BEGIN { exit !(exposure <= most) }' ||
    { echo "The unit's exposure is $exposure; at most $most is wanted." >&2; exit 1; }
echo "The systemd unit is sound; exposure $exposure of 10."
