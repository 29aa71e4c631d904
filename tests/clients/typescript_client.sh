#!/bin/sh
# Installs and packs the TypeScript client as its README says, and runs its tests, which start services of their own.
set -eu

command -v npm >/dev/null || { echo "npm (Node 20 or newer) is needed for the TypeScript client's tests." >&2; exit 1; }
command -v python3 >/dev/null || { echo "python3 is needed for the server of the clients' tests." >&2; exit 1; }
export npm_config_loglevel=error npm_config_audit=false npm_config_fund=false

# The lock file names no registry, so that each machine uses its own.
if grep -n '"resolved"' clients/typescript/package-lock.json; then
    echo "clients/typescript/package-lock.json names where packages came from: make it again with npm install." >&2
    exit 1
fi

readme=$(sed -n '/^```sh$/,/^```$/{/^```/!p;}' clients/typescript/README.md)
[ -n "$readme" ] || { echo "clients/typescript/README.md does not say how to install." >&2; exit 1; }
sh -euc "$readme"

cd clients/typescript
npm run --silent check
npm test --silent
