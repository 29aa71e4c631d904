"""A parser of server-sent events for chunks of bytes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from .errors import InvalidAnswerError

LINE_END = re.compile(rb"\r\n|\n|\r")
# Far more than the largest result of an update.
LONGEST = 64 * 1024 * 1024


@dataclass(frozen=True)
class ServerSentEvent:
    """One event; without data it is only a position of the stream."""

    name: str
    data: str
    id: str | None

    def value(self) -> dict[str, Any]:
        """Its data, which is an object in JSON."""
        try:
            found = json.loads(self.data)
        except (ValueError, RecursionError) as fault:
            raise InvalidAnswerError(f"an event {self.name!r} cannot be parsed: {fault}") from fault
        if not isinstance(found, dict):
            raise InvalidAnswerError(f"an event {self.name!r} is not an object")
        return found


class Decoder:
    """Joins lines, and lines to events. Only a blank line ends an event; an incomplete event is discarded."""

    def __init__(self) -> None:
        self.retry_seconds: float | None = None
        self._rest = b""
        self._name = ""
        self._data: list[str] = []
        self._id: str | None = None
        self._moved = False

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events that end in this chunk."""
        buffered = self._rest + chunk
        # A CR at the very end may be half of a CRLF.
        held = b"\r" if buffered.endswith(b"\r") else b""
        *lines, rest = LINE_END.split(buffered.removesuffix(held) if held else buffered)
        self._rest = rest + held
        if len(self._rest) + sum(map(len, self._data)) > LONGEST:
            raise InvalidAnswerError(f"an event is longer than {LONGEST} bytes")
        found = [self._line(line.decode(errors="replace")) for line in lines]
        return [event for event in found if event is not None]

    def _line(self, line: str) -> ServerSentEvent | None:
        if not line:
            # A block with an id and no data is not an event, but the position of the stream.
            there = self._data or self._moved
            event = ServerSentEvent(self._name or "message", "\n".join(self._data), self._id) if there else None
            self._name, self._data, self._moved = "", [], False
            return event
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id, self._moved = value, True
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry_seconds = int(value) / 1000
        return None
