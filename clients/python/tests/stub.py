"""A hostile server: each connection is treated as a script says."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Seen:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Reply = Callable[[socket.socket, Seen], None]


def answer(
    status: int = 200, value: Any = None, *, headers: Mapping[str, str] | None = None, kind: str | None = None
) -> Reply:
    """A whole answer."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    kind = kind or ("application/json" if status < 400 else "application/problem+json")
    lines = [
        f"HTTP/1.1 {status} Whatever",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    lines += [f"{name}: {text}" for name, text in (headers or {}).items()]
    return raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def problem(status: int, kind: str, **members: Any) -> Reply:
    """A problem as the service tells it."""
    headers = members.pop("headers", None)
    title, detail = kind, members.pop("detail", f"it is {kind}")
    found = {"type": f"urn:working-memory:problem:{kind}", "title": title, "status": status, "detail": detail}
    return answer(status, found | members, headers=headers)


def raw(data: bytes) -> Reply:
    """Bytes as they are, and the end."""

    def reply(connection: socket.socket, _: Seen) -> None:
        connection.sendall(data)

    return reply


def half(status: int = 200) -> Reply:
    """An answer that ends in the middle of its body."""
    return raw(
        b'HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"vault_id": ' % status
    )


def cut(connection: socket.socket, _: Seen) -> None:
    """The connection is reset once the request was read."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def silent(seconds: float) -> Reply:
    """Nothing comes, until the client has gone or this time is over."""

    def reply(connection: socket.socket, _: Seen) -> None:
        connection.settimeout(seconds)
        connection.recv(1)

    return reply


def stream(*chunks: bytes) -> Reply:
    """Server-sent events in these pieces, and the end of the connection."""

    def reply(connection: socket.socket, _: Seen) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for chunk in chunks:
            connection.sendall(chunk)

    return reply


@dataclass
class Stub:
    """Answers one request after another by the script; then by its last line."""

    script: Sequence[Reply]
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
            with connection:
                self._one(connection)

    def _one(self, connection: socket.socket) -> None:
        try:
            seen = _read(connection)
            if seen is None:
                return
            self.seen.append(seen)
            self.script[min(len(self.seen), len(self.script)) - 1](connection, seen)
        except OSError:
            return


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
