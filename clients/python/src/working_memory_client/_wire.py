"""Serialization of requests, and parsing of responses."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import uuid4

from ._call import Call, Result
from ._version import __version__
from .errors import InvalidAnswerError

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
# The media types of responses.
MEDIA_TYPES: Mapping[str, tuple[str, ...]] = {"json": (JSON,), "text": ("text/plain", "text/markdown")}
USER_AGENT = f"working-memory-client-python/{__version__}"

Query = list[tuple[str, str]]


@dataclass(frozen=True)
class Request:
    """A serialized request, the same in each attempt."""

    method: str
    path: str
    query: Query
    headers: Mapping[str, str]
    content: bytes | None
    # Whether it only deletes: then a 404 of a retry means that it was deleted.
    removes: bool = False
    # Whether it waits for models.
    slow: bool = False


def request(
    call: Call[object], *, key: str | None, actor: str | None, headers: Mapping[str, str] | None = None
) -> Request:
    """Serializes a call. An `Idempotency-Key` is made here, once for all attempts."""
    sent = {"user-agent": USER_AGENT}
    # The case of a name does not matter: two of them would be one header twice.
    for given in (headers or {}, call.headers):
        sent |= {name.lower(): value for name, value in given.items() if value is not None}
    if key is not None:
        sent["authorization"] = f"Bearer {key}"
    if call.writes:
        if call.keyed:
            sent.setdefault("idempotency-key", str(uuid4()))
        if actor is not None:
            sent.setdefault("x-actor-id", actor)
    if accept := call.accept or (JSON if call.answers == "json" else None):
        sent.setdefault("accept", accept)
    content = None
    if call.body is not None:
        sent.setdefault("content-type", TEXT if isinstance(call.body, str) else JSON)
        content = call.body.encode() if isinstance(call.body, str) else encoded(call.body)
    for name, value in sent.items():
        if not is_header(value):
            raise ValueError(f"the header {name} contains characters that a header cannot have")
    removes = call.method == "DELETE" and call.answers == "none"
    return Request(call.method, call.path, query(call.query), sent, content, removes, call.slow)


def is_header(value: str) -> bool:
    """Whether a text can be sent as a header."""
    return value.isascii() and value.isprintable() and value == value.strip()


def query(values: Mapping[str, object]) -> Query:
    """The parameters that were passed."""
    return [(name, _parameter(name, value)) for name, value in values.items() if value is not None]


def _parameter(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (date, datetime)):
        return _time(name, value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ",".join(str(one) for one in value)
    return str(value)


def _time(name: str, value: date) -> str:
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError(f"{name} has no time zone: {value!r}; take datetime.now(timezone.utc), or give it a tzinfo")
    return value.isoformat()


def encoded(body: object) -> bytes:
    """JSON, also of objects of SDKs: their models, dataclasses, times."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    try:
        return text.encode()
    except UnicodeEncodeError as fault:
        raise ValueError("the body contains half of a surrogate pair, which is not a character") from fault


def _plain(value: Any) -> object:
    if isinstance(value, (date, datetime)):
        return _time("a time", value)
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json", exclude_none=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    # Bytes would become a list of numbers.
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray, memoryview)):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def decoded(call: Call[object], content: bytes, media_type: str) -> Any:
    """The value of a successful response."""
    if call.answers == "none":
        return None
    expected = MEDIA_TYPES.get(call.answers)
    if expected and media_type.partition(";")[0].strip().lower() not in expected:
        raise InvalidAnswerError(f"{call.path}: the answer is {media_type or 'of no type'}, not {expected[0]}")
    try:
        if call.answers == "text" or (call.answers == "any" and "json" not in media_type):
            return content.decode()
        found = None if call.answers == "any" and not content else json.loads(content, object_hook=Result)
    except (ValueError, RecursionError) as fault:
        raise InvalidAnswerError(f"{call.path}: the response cannot be parsed: {fault}") from fault
    if call.answers == "json" and not isinstance(found, Result):
        raise InvalidAnswerError(f"{call.path}: the answer is not an object")
    return found
