"""The snippets of docs/agents.md can be read as what they are: snippets.py FILE."""

import json
import re
import sys

try:
    import tomllib
except ImportError:  # Python 3.10
    tomllib = None

text = open(sys.argv[1], encoding="utf-8").read()
# A longer fence contains shorter ones: a document that a command prints has blocks of its own.
blocks = re.findall(r"^(`{3,})([^`\n]+)\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL)
found = [(language, code) for _, language, code in blocks if language.isidentifier()]
checks = {
    "json": json.loads,
    "toml": lambda code: tomllib and tomllib.loads(code),
    "python": lambda code: compile(code, "snippet", "exec"),
    "sh": lambda code: None,
}
for language, code in found:
    checks[language](code)
for name in ["Claude Code", "Claude Desktop", "Cursor", "VS Code", "Codex", "OpenAI Agents SDK", "LangGraph", "Anthropic API"]:
    if f"**{name}**" not in text:
        sys.exit(f"docs/agents.md says nothing of {name}")
print(f"   {len(found)} snippets")
