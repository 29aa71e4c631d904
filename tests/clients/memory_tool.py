"""The memory tool against Anthropic's Python SDK: seeded random commands are sent to the service and to the SDK's
implementation on the local file system, and each answer of one must be that of the other. Then the SDK's tool runner is
driven by a stub of the model that calls every command.

    WORKING_MEMORY_URL=http://127.0.0.1:8080 python tests/clients/memory_tool.py [SEED …]

What differs by contract is evened out on the side of the file system: a directory exists by its files, so empty ones
are removed after each command, and its size is the sum of theirs.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import threading
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "anthropic"))

import anthropic
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import _format_file_size
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from working_memory import WorkingMemoryTool

URL = os.environ["WORKING_MEMORY_URL"]
SEEDS = [int(seed) for seed in sys.argv[1:]] or [1, 2, 3]
COMMANDS = 250
VAULT = "clients"
# What the SDK says when it fails without words of its own, as where a file is used as a directory.
WORDLESS = "(another error)"


class Reference:
    """The SDK's implementation, with the two differences evened out."""

    def __init__(self, folder: str) -> None:
        self.tool = BetaLocalFilesystemMemoryTool(folder)
        self.files = self.tool.memory_root

    def run(self, command: dict) -> tuple[bool, str]:
        try:
            answer = (False, self.tool.call(command))
        except ToolError as refused:
            answer = (True, str(refused))
        except (OSError, AttributeError, NotImplementedError):
            answer = (True, WORDLESS)
        if command["command"] == "view" and not answer[0] and answer[1].startswith("Here're"):
            answer = (False, self.with_sums(answer[1]))
        self.prune()
        return answer

    def with_sums(self, listing: str) -> str:
        header, first, *rest = listing.split("\n")
        lines = [header, self.with_sum(first)]
        lines += [self.with_sum(line) if line.endswith("/") else line for line in rest]
        return "\n".join(lines)

    def with_sum(self, line: str) -> str:
        _, path = line.split("\t", 1)
        folder = self.files / path.removeprefix("/memories").strip("/")
        return f"{_format_file_size(sum(file.stat().st_size for file in folder.rglob('*') if file.is_file()))}\t{path}"

    def prune(self) -> None:
        for folder in sorted((path for path in self.files.rglob("*") if path.is_dir()), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()

    def paths(self) -> list[str]:
        return sorted(f"/memories/{file.relative_to(self.files)}" for file in self.files.rglob("*") if file.is_file())

    def text(self, path: str) -> str:
        return (self.files / path.removeprefix("/memories/")).read_bytes().decode()


NAMES = ["a", "b.txt", "a-b", "A", "d", "e", ".hidden", "caf\u00e9", "\u65e5\u672c", "two words", "d.d"]
WORDS = ["tea", "caf\u00e9", "aa", "a", "\U0001f375", "x\ty", "", "  ", "line\r", "`quoted`"]


def some_path(random: random.Random, reference: Reference, known: float = 0.6) -> str:
    """One that is there, in `known` of all cases."""
    there = reference.paths()
    if there and random.random() < known:
        path = random.choice(there)
        return path.rsplit("/", 1)[0] if random.random() < 0.15 else path
    if random.random() < 0.04:
        return random.choice(["/memories", "/etc/passwd", "memories/a", "/memories/../a", "/memories/../../a"])
    return "/memories/" + "/".join(random.choice(NAMES) for _ in range(random.choice([1, 1, 2, 2, 3, 4])))


def some_text(random: random.Random) -> str:
    lines = [" ".join(random.choices(WORDS, k=random.randint(0, 4))) for _ in range(random.randint(0, 8))]
    text = "\n".join(lines) + random.choice(["", "\n", "\n\n"])
    return text * random.choice([1, 1, 1, 1, 1, 40])


def some_piece(random: random.Random, text: str) -> str:
    """A piece of a text, or of none."""
    if not text or random.random() < 0.2:
        return random.choice([word for word in WORDS if word] + ["nowhere"])
    start = random.randrange(len(text))
    return text[start : start + random.randint(1, 30)]


def some_command(random: random.Random, reference: Reference) -> dict:
    name = random.choice(["view", "view", "create", "create", "str_replace", "str_replace", "insert", "delete", "rename"])
    path = some_path(random, reference)
    if name == "delete" and random.random() < 0.5:
        name = "view"
    command = {"command": name, "path": path}
    text = reference.text(path) if path in reference.paths() else ""
    lines = text.count("\n") + 1
    if name == "view" and random.random() < 0.4:
        first = random.randint(-1, lines)
        # Ranges without any line are refused by the service, where the file system shows nothing.
        command["view_range"] = [first, random.choice([-1, random.randint(max(1, first), lines + 2)])]
    elif name == "create":
        command["file_text"] = some_text(random)
    elif name == "str_replace":
        command |= {"old_str": some_piece(random, text), "new_str": some_text(random)[:60]}
    elif name == "insert":
        command |= {"insert_line": random.randint(-1, lines + 1), "insert_text": some_text(random)}
    elif name == "rename":
        del command["path"]
        command |= {"old_path": path, "new_path": some_path(random, reference, known=0.2)}
    return command


def ask(tool: WorkingMemoryTool, command: dict) -> tuple[bool, str]:
    try:
        return (False, tool.call(command))
    except ToolError as refused:
        return (True, str(refused))


def agree(command: dict, ours: tuple[bool, str], theirs: tuple[bool, str]) -> None:
    if ours != theirs and not (theirs == (True, WORDLESS) and ours[0]):
        raise SystemExit(f"the answers differ to {json.dumps(command)}\n--- SDK {theirs}\n--- service {ours}")


def random_commands(seed: int) -> None:
    chosen = random.Random(seed)
    seen: dict[tuple[str, bool], int] = {}
    with tempfile.TemporaryDirectory() as folder:
        reference = Reference(folder)
        tool = WorkingMemoryTool(URL, vault=VAULT, root=f"random-{uuid.uuid4()}", actor="sdk")
        for _ in range(COMMANDS):
            command = some_command(chosen, reference)
            theirs = reference.run(command)
            agree(command, ask(tool, command), theirs)
            key = (command["command"], theirs[0])
            seen[key] = seen.get(key, 0) + 1
        for path in reference.paths():
            raw = tool._send(json.dumps({"command": "view", "path": path}).encode())
            where = f"{URL}/v1/vaults/{VAULT}/memories/{raw['memory_id']}/context"
            with urllib.request.urlopen(where) as response:
                assert response.read().decode() == reference.text(path), path
        files = len(reference.paths())
    assert len(seen) == 12, f"every command must be carried out and be refused: {seen}"
    print(f"memory tool: seed {seed}: {COMMANDS} answers are the SDK's, and so are {files} files")


class Model(BaseHTTPRequestHandler):
    """A stub of the model: asks for one command after another and keeps what it is told of each."""

    commands: list[dict]
    told: list[tuple[bool, str]]

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert request["tools"] == [{"type": "memory_20250818", "name": "memory"}], request["tools"]
        last = request["messages"][-1]["content"]
        if isinstance(last, list):
            for block in last:
                assert block["type"] == "tool_result", block
                self.told.append((block.get("is_error", False), block["content"]))
        place = len(self.told)
        if place < len(self.commands):
            use = {"type": "tool_use", "id": f"toolu_{place}", "name": "memory", "input": self.commands[place]}
            content, reason = [use], "tool_use"
        else:
            content, reason = [{"type": "text", "text": "done"}], "end_turn"
        answer = {
            "id": f"msg_{place}",
            "type": "message",
            "role": "assistant",
            "model": "stub",
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def tool_runner() -> None:
    Model.told = []
    Model.commands = [
        {"command": "view", "path": "/memories"},
        {"command": "create", "path": "/memories/p/tea.md", "file_text": "green\nblack\n"},
        {"command": "view", "path": "/memories/p/tea.md", "view_range": [1, 2]},
        {"command": "str_replace", "path": "/memories/p/tea.md", "old_str": "black", "new_str": "white"},
        {"command": "str_replace", "path": "/memories/p/tea.md", "old_str": "black", "new_str": "white"},
        {"command": "insert", "path": "/memories/p/tea.md", "insert_line": 1, "insert_text": "oolong"},
        {"command": "create", "path": "/memories/p/tea.md", "file_text": ""},
        {"command": "rename", "old_path": "/memories/p", "new_path": "/memories/drinks"},
        {"command": "view", "path": "/memories"},
        {"command": "delete", "path": "/memories/drinks/tea.md"},
        {"command": "delete", "path": "/memories/drinks/tea.md"},
    ]
    server = HTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = anthropic.Anthropic(api_key="stub", base_url=f"http://127.0.0.1:{server.server_port}", max_retries=0)
    runner = client.beta.messages.tool_runner(
        model="stub",
        max_tokens=100,
        thread=False,
        tools=[WorkingMemoryTool(URL, vault=VAULT, root=f"runner-{uuid.uuid4()}")],
        messages=[{"role": "user", "content": "Remember what I drink."}],
    )
    assert runner.until_done().content[0].text == "done"
    server.shutdown()
    with tempfile.TemporaryDirectory() as folder:
        reference = Reference(folder)
        assert len(Model.told) == len(Model.commands)
        for command, told in zip(Model.commands, Model.told):
            agree(command, told, reference.run(command))
    print(f"memory tool: the SDK's tool runner was told the same of {len(Model.commands)} commands")


if __name__ == "__main__":
    for seed in SEEDS:
        random_commands(seed)
    tool_runner()
