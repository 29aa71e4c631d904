#!/bin/sh
# clients/typescript, with services of its own.
set -eu
exec sh scripts/test-typescript-client.sh
