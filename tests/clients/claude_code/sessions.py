"""Two sessions of Claude Code with the plugin: what is said in the first is known to the second.

    sessions.py CLAUDE    with $WORKING_MEMORY_URL and $WORKING_MEMORY_BIN

The model is a stand-in that answers every question in one sentence and keeps what it was sent.
"""

import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).parents[3]
PLUGIN = ROOT / "clients" / "claude-code"
SAID = "Remember that the staging cluster's deploy key expires on 2027-03-01."


class Model(http.server.BaseHTTPRequestHandler):
    """Anthropic's messages, as far as Claude Code needs them."""

    asked: list[str] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if "/messages" not in self.path or "count_tokens" in self.path:
            return self.answer("application/json", '{"input_tokens": 1}')
        self.asked.append(body)
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "stop_sequence": None}
        text = {"type": "text", "text": "Noted."}
        if not json.loads(body).get("stream"):
            done = {**message, "content": [text], "stop_reason": "end_turn", "usage": usage}
            return self.answer("application/json", json.dumps(done))
        begun = {**message, "content": [], "stop_reason": None, "usage": usage}
        events = [
            {"type": "message_start", "message": begun},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text["text"]}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        self.answer("text/event-stream", "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events))

    def do_HEAD(self) -> None:
        self.answer("application/json", "")

    def do_GET(self) -> None:
        self.answer("application/json", "{}")

    def answer(self, media_type: str, text: str) -> None:
        self.send_response(200)
        self.send_header("content-type", media_type)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


def block(language: str) -> str:
    """The README's block in this language."""
    found = re.search(rf"^```{language}\n(.*?)^```$", (PLUGIN / "README.md").read_text(), re.S | re.M)
    assert found, f"clients/claude-code/README.md has no block of {language}"
    return found.group(1)


def get(path: str) -> str:
    try:
        with urllib.request.urlopen(os.environ["WORKING_MEMORY_URL"] + path, timeout=10) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        assert error.code == 404, error
        return ""


def main(claude: str) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        bin_folder, project = pathlib.Path(home, "bin"), pathlib.Path(home, "project")
        bin_folder.mkdir()
        project.mkdir()
        (bin_folder / "claude").symlink_to(pathlib.Path(claude).absolute())
        (bin_folder / "working-memory").symlink_to(pathlib.Path(os.environ["WORKING_MEMORY_BIN"]).absolute())
        environment = {
            "HOME": home,
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
            "WORKING_MEMORY_URL": os.environ["WORKING_MEMORY_URL"],
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

        def run(*command: str, folder: pathlib.Path = ROOT) -> str:
            done = subprocess.run(
                command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
            )
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
            return done.stdout

        for path in (PLUGIN, ROOT):
            run("claude", "plugin", "validate", "--strict", str(path))
        print("the plugin and its marketplace are valid")

        run("sh", "-euc", block("sh"))
        (project / ".working-memory.toml").write_text(block("toml"))
        run("claude", "-p", SAID, folder=project)
        memory = dict(re.findall(r'^(\w+) = "(.*)"$', block("toml"), re.M))
        path = f"/v1/vaults/{memory['vault']}/memories/{memory['memory']}/context"
        for _ in range(600):
            if "2027-03-01" in get(path):
                break
            time.sleep(0.1)
        document = get(path)
        assert "2027-03-01" in document, f"the session was not kept: {document!r}"
        # What the host itself puts into a conversation is nobody's word.
        assert "reminder" not in document and "Attribution" not in document, document

        before = len(Model.asked)
        assert not any("2027-03-01" in asked and "Working memory" in asked for asked in Model.asked[:1])
        run("claude", "-p", "When does the deploy key expire?", folder=project)
        told = [asked for asked in Model.asked[before:] if "Working memory my-team/this-project" in asked]
        assert told and all("2027-03-01" in asked for asked in told), "the second session was not told"
        assert any("memory_edit" in asked or "working-memory" in asked for asked in told)
        print("the second session begins with what the first one left")
    server.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
