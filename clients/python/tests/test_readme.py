"""Every block of Python in the README runs as it stands, in this order. The shell's is how the tests are installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from service import Service
from stub import Seen, Stub

README = Path(__file__).parents[1] / "README.md"
MODEL = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "stub",
    "content": [{"type": "text", "text": "I will."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


STREAMED: list[tuple[str, dict[str, Any]]] = [
    ("message_start", {"message": {**MODEL, "content": [], "stop_reason": None}}),
    ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
    ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "I will."}}),
    ("content_block_stop", {"index": 0}),
    ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
    ("message_stop", {}),
]


def says(seen: Seen) -> dict[str, Any]:
    """The model's answer, in one piece or streamed."""
    if not json.loads(seen.body).get("stream"):
        return {"json": MODEL}
    return {"stream": [f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in STREAMED]}


def blocks(language: str) -> Iterator[tuple[int, str]]:
    text = README.read_text()
    for found in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text[: found.start()].count("\n") + 1, found[1]


def test_every_block_runs(service: Service, tmp_path: Path) -> None:
    page, at = "", 0
    for line, code in blocks("python"):
        page += "\n" * (line - at) + code
        at = line + code.count("\n")
    with Stub([says]) as model:
        script = tmp_path / "readme.py"
        script.write_text(page.replace("http://127.0.0.1:8080", service.url))
        settings = {"WORKING_MEMORY_URL": service.url, "ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": model.url}
        command = [sys.executable, "-W", "error::DeprecationWarning", str(script)]
        done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(model.seen) == 2, "Anthropic's tool runner and the agent of Pydantic AI have asked"
    for said in ("nothing was kept yet", "'drink': 'tea'", "I will.", "A line machine", "<mark>"):
        assert said in done.stdout


def test_there_is_no_block_that_is_not_run() -> None:
    fences = re.findall(r"^```(\w*)$", README.read_text(), re.MULTILINE)
    assert {fence for fence in fences if fence} == {"sh", "python"}
    assert len(list(blocks("sh"))) == 1
    assert fences.count("") == len(list(blocks("sh"))) + len(list(blocks("python")))
