"""A hostile server, for the tests of both clients: each connection is treated as a script says.

    python3 clients/stub.py        prints its URL; POST /script sets the script, GET /seen returns the requests

A line of a script is a JSON object: `status` with `json`, `text` or `problem` (its kind), `headers` and `type`; or one
of `cut`, `half`, `nothing`, `nonsense`, `silent` (seconds), `drip` (seconds between the bytes of a head),
`trickle` (those of a refusal's body), `stream` (pieces of server-sent events).
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Seen:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def reply(connection: socket.socket, line: dict[str, Any]) -> None:
    """Treats a connection as a line of a script says."""
    if "cut" in line:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif "half" in line:
        head = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"vault_id": '
        connection.sendall(head)
    elif "nonsense" in line:
        connection.sendall(b"nonsense\r\n\r\n")
    elif "silent" in line:
        connection.settimeout(line["silent"])
        connection.recv(1)
    elif "drip" in line:
        for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + b"-" * 1000:
            connection.sendall(bytes([byte]))
            time.sleep(line["drip"])
    elif "trickle" in line:
        connection.sendall(b"HTTP/1.1 400 Whatever\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1000):
            connection.sendall(b"-")
            time.sleep(line["trickle"])
    elif "stream" in line:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for chunk in line["stream"]:
            connection.sendall(chunk.encode())
    elif "nothing" not in line:
        connection.sendall(_whole(line))


def _whole(line: dict[str, Any]) -> bytes:
    status = line.get("status", 200)
    if "problem" in line:
        kind, media = line["problem"], "application/problem+json"
        members = {"type": f"urn:working-memory:problem:{kind}", "title": kind, "status": status}
        body = json.dumps({**members, "detail": f"it is {kind}", **line.get("members", {})}).encode()
    elif "text" in line:
        body, media = line["text"].encode(), "text/html"
    else:
        body, media = json.dumps(line.get("json")).encode(), "application/json"
    lines = [
        f"HTTP/1.1 {status} Whatever",
        f"Content-Type: {line.get('type', media)}",
        "Connection: close",
        *([] if status == 304 else [f"Content-Length: {len(body)}"]),
        *(f"{name}: {text}" for name, text in line.get("headers", {}).items()),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + (b"" if status == 304 else body)


@dataclass
class Stub:
    """Answers one request after another by the script; then by its last line."""

    script: Sequence[dict[str, Any] | Callable[[Seen], dict[str, Any]]]
    seen: list[Seen] = field(default_factory=list)

    def __enter__(self) -> Stub:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            # A client that has given up leaves its silent connection behind: it must not hold up the next one.
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with connection:
            try:
                seen = _read(connection)
                if seen is not None:
                    self.treat(connection, seen)
            except OSError:
                return

    def treat(self, connection: socket.socket, seen: Seen) -> None:
        """Records a request and answers it."""
        if seen.target == "/script":
            self.script, self.seen = json.loads(seen.body), []
            return reply(connection, {"json": {}})
        if seen.target == "/seen":
            return reply(connection, {"json": [{**asdict(one), "body": one.body.decode()} for one in self.seen]})
        self.seen.append(seen)
        line = self.script[min(len(self.seen), len(self.script)) - 1]
        return reply(connection, line(seen) if callable(line) else line)


def _read(connection: socket.socket) -> Seen | None:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    return Seen(method, target, headers, body)


if __name__ == "__main__":
    with Stub([{}]) as stub:
        print(stub.url, flush=True)  # noqa: T201
        sys.stdin.read()
