"""Prepared HTTP requests, in files that wrk.lua reads."""

import http.client
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlsplit

from documents import REVISION, Document, words
from tools import Failed

# The revisions of a run of wrk or of the loading: no two runs share any.
REVISIONS_OF_A_RUN = 10_000_000
_LOADERS = 8


def _request(method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def _memory(document: Document) -> str:
    return f"/v1/vaults/{document.vault}/memories/{document.memory}"


def get(document: Document, **headers: str) -> bytes:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return _request("GET", _memory(document) + "/context", named)


def put(document: Document) -> bytes:
    return _request("PUT", _memory(document) + "/context", {"Content-Type": "text/plain"}, document.text)


def prompt(document: Document) -> bytes:
    return _request("GET", _memory(document) + "/prompt")


def update(document: Document) -> bytes:
    body = {
        "task": f"Revision {REVISION.decode()} of the work",
        "messages": [
            {"role": "user", "content": "Please go on with the parser, and mind the tests."},
            {"role": "assistant", "content": "Done. The parser reads the header now; the tests pass."},
        ],
    }
    return _request("POST", _memory(document) + "/update", {"Content-Type": "application/json"}, json.dumps(body).encode())


def searches(vaults: list[str]) -> list[bytes]:
    return [_request("GET", f"/v1/vaults/{vault}/search?q={quote(text)}") for vault in vaults for text in words(20)]


def write(path: Path, requests: list[bytes]) -> Path:
    """A file for wrk.lua."""
    with path.open("wb") as file:
        for request in requests:
            file.write(b"%d %d\n" % (len(request), max(request.find(REVISION), 0)))
            file.write(request)
    return path


def status_of(url: str, request: bytes) -> int:
    """The response to one of the requests."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    try:
        return _send(connection, request)
    finally:
        connection.close()


def load(url: str, documents: list[Document]) -> None:
    """Puts all documents, as any client would."""

    broken_off = threading.Event()

    def some(number: int) -> None:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        for document in documents[number::_LOADERS]:
            if broken_off.is_set():
                break
            status = _send(connection, put(document))
            if status not in (200, 201):
                raise Failed(f"{document.vault}/{document.memory} cannot be put at {url}: {status}")
        connection.close()

    with ThreadPoolExecutor(_LOADERS) as pool:
        try:
            list(pool.map(some, range(_LOADERS)))
        finally:
            broken_off.set()


def _send(connection: http.client.HTTPConnection, request: bytes) -> int:
    head, _, body = request.partition(b"\r\n\r\n")
    first, *headers = head.decode().split("\r\n")
    method, path, _ = first.split(" ")
    connection.request(method, path, body or None, dict(header.split(": ", 1) for header in headers[1:]))
    answer = connection.getresponse()
    answer.read()
    return answer.status
