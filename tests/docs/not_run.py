"""What of the pages is not run, and why. An entry that fits nothing fails the test, so the list cannot go stale."""

# Page → what its reader has done before, in the shell.
BEFORE = {
    "docs/agents.md": r"""
        mkdir .cursor ~/.codex
        export WORKING_MEMORY_API_KEY=$(working-memory keys create --name me --role writer --json | sed 's/.*"key":"\([^"]*\)".*/\1/')
        until [ "$(command curl -so /dev/null -w '%{http_code}' $WORKING_MEMORY_URL/v1/vaults)" = 401 ]; do sleep 0.1; done
    """,
    "docs/cli.md": """
        export WORKING_MEMORY_VAULT=me WORKING_MEMORY_MEMORY=docs fpath=('' ~)
        mkdir -p ~/.local/share/bash-completion/completions ~/.config/fish/completions
        echo '# Notes' | working-memory put
    """,
    "docs/files.md": """
        export WORKING_MEMORY_VAULT=me WORKING_MEMORY_MEMORY=docs
        echo '# Notes' | working-memory put
    """,
}

# Page → a piece of a command line → why that line is left out. The rest of its block runs.
LINES = {
    "README.md": {
        "make demo": "it builds for minutes; tests/docs runs the same commands one by one",
        "make test": "this is one of them",
        "make install": "it builds a release for minutes; the program under test is on the PATH instead",
        "claude mcp add": "Claude Code is not installed here; tests/clients/claude_code.sh tries it where it is",
    },
    "docs/agents.md": {
        "claude mcp add": "Claude Code is not installed here; tests/clients/claude_code.sh tries it where it is",
    },
    "docs/install.md": {
        "make deb": "cargo-deb is not installed here; scripts/test-packaging.sh runs it where it is",
        "sudo": "it would change the machine",
        "make install": "it builds a release for minutes",
        "docker compose": "there is no Docker here; scripts/test-packaging.sh looks at the files",
    },
    "docs/operations.md": {
        "keys rotate": "the id is that of a key of the reader's",
        "keys revoke": "the id is that of a key of the reader's",
    },
}

# Page → a piece of a block → why the block is left out as a whole.
BLOCKS = {
    "docs/operations.md": {
        'working-memory.dump "$DATABASE_URL"': "it names servers of the reader's; the block after it does the same with the embedded one",
    },
    "docs/deploy.md": {
        "docker compose": "there is no Docker here; scripts/test-packaging.sh tries the same without it",
        "kubectl apply": "there is no cluster here; scripts/test-packaging.sh looks at the manifests",
        "migrate --distribute": "there is no Citus here; tests/it/distribute.rs runs it with one that stands in",
    },
    "docs/transfer.md": {"--on-conflict fail|skip|append]": "it is a synopsis; docs/tour.md runs both commands"},
}
