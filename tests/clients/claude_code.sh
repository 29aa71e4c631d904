#!/bin/sh
# The plugin of clients/claude-code in the Claude Code that Anthropic's Agent SDK carries: validated, installed as its README
# says, and run in two sessions with a stand-in for the model.
set -eu
here=$PWD/tests/clients/claude_code
folder=$PWD/target/clients/claude_code

mkdir -p "$folder"
# The stamp is written last: an installation that was cut is made again.
if ! cmp -s "$here/requirements.txt" "$folder/installed.txt"; then
    rm -rf "$folder/sdk"
    # For the program inside; nothing of Python's is run.
    python -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder/sdk" -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$folder/installed.txt"
fi
exec python "$here/sessions.py" "$folder/sdk/claude_agent_sdk/_bundled/claude"
