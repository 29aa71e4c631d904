"""Stand-ins for the APIs of models that the examples in Python ask: one answer in each API's form, no tools called."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SAID = "I will."
ANTHROPIC: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "stub",
    "content": [{"type": "text", "text": SAID}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
OPENAI: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": "stub",
    "tools": [],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "metadata": {},
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "temperature": 1,
    "top_p": 1,
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": SAID, "annotations": []}],
        }
    ],
    "usage": {
        "input_tokens": 1,
        "output_tokens": 1,
        "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    },
}


class Models:
    """Both APIs on one port; `asked` counts the requests of each."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # noqa: N802, the name is http.server's
                self.rfile.read(int(self.headers["Content-Length"]))
                answer = ANTHROPIC if self.path.split("?")[0].endswith("/messages") else OPENAI
                asked[self.path] = asked.get(self.path, 0) + 1
                body = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def environment(self) -> dict[str, str]:
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        return {
            "ANTHROPIC_API_KEY": "x",
            "ANTHROPIC_BASE_URL": url,
            "OPENAI_API_KEY": "x",
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        }
