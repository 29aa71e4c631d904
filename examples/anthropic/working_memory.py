"""Anthropic's memory tool over a working-memory service: `pip install anthropic`, and this file.

    client = anthropic.Anthropic()
    runner = client.beta.messages.tool_runner(
        model="claude-sonnet-5-5",
        max_tokens=2048,
        tools=[WorkingMemoryTool("http://127.0.0.1:8080", vault="acme", root="agent-1")],
        messages=[{"role": "user", "content": "Remember that I drink tea."}],
    )
    print(runner.until_done().content)
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

from anthropic.lib.tools import BetaBuiltinFunctionTool, ToolError

ATTEMPTS = 4


class WorkingMemoryTool(BetaBuiltinFunctionTool):
    """Sends the model's commands on its files to the service, and returns the results."""

    def __init__(self, url: str, *, vault: str, root: str, key: str | None = None, actor: str | None = None) -> None:
        quoted = urllib.parse.quote
        self.url = f"{url.rstrip('/')}/v1/vaults/{quoted(vault, safe='')}/memory-tool?root={quoted(root, safe='')}"
        self.headers = {"Content-Type": "application/json"}
        if key is not None:
            self.headers["Authorization"] = f"Bearer {key}"
        if actor is not None:
            self.headers["X-Actor-Id"] = actor

    def to_dict(self):
        return {"type": "memory_20250818", "name": "memory"}

    def call(self, input: object) -> str:
        answer = self._send(json.dumps(input).encode())
        if answer["is_error"]:
            raise ToolError(answer["content"])
        return answer["content"]

    def _send(self, body: bytes) -> dict:
        # With a key the service executes a command once, however often it is sent.
        headers = self.headers | {"Idempotency-Key": str(uuid.uuid4())}
        request = urllib.request.Request(self.url, body, headers)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with urllib.request.urlopen(request, timeout=30) as response:
                    return json.load(response)
            except urllib.error.HTTPError as problem:
                if problem.code not in (408, 409, 429, 503) or attempt == ATTEMPTS:
                    raise ToolError(problem.read().decode(errors="replace")) from problem
            except (OSError, json.JSONDecodeError) as problem:
                if attempt == ATTEMPTS:
                    raise ToolError(f"The memory cannot be reached: {problem}") from problem
            time.sleep(0.2 * 2**attempt)
        raise AssertionError("the last attempt returns or raises")
