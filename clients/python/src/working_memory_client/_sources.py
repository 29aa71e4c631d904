"""The sources of streams, and their reaction to a lost connection, without any connection."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from urllib.parse import unquote

import httpx

from . import _operations, types
from ._call import Call, ChangeOptions
from ._operations import Names
from ._retry import LONGEST_ASKED, PASSING, wait
from ._sse import ServerSentEvent
from .errors import (
    ConnectionFailedError,
    EventsLostError,
    InvalidAnswerError,
    ProblemError,
    TimedOutError,
    WorkingMemoryError,
    problem,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")

EVENT_STREAM = "text/event-stream"


class Source(ABC, Generic[T]):
    """A source of a stream."""

    finished = False

    @abstractmethod
    def call(self) -> Call[Any]:
        """The request of the next connection."""

    @abstractmethod
    def take(self, event: ServerSentEvent) -> T | None:
        """The entry of an event, if it has one."""

    @abstractmethod
    def lost(self, failure: Exception | None, retries: int, asked: float | None) -> float:
        """How many seconds to wait before the next connection; raises if there must be none."""

    def alive(self) -> None:
        """Called when data arrived."""

    def refused(self, status: int, headers: Mapping[str, str], content: bytes, retries: int) -> float:
        """How long to wait after a response that is not a stream; raises if a retry would not help."""
        if httpx.codes.is_success(status):
            raise InvalidAnswerError(f"the answer is {headers.get('content-type') or 'of no type'}, not {EVENT_STREAM}")
        failure = problem(status, headers, content)
        asked = failure.retry_after
        if status not in PASSING or (asked is not None and asked > LONGEST_ASKED):
            raise failure
        return self.lost(failure, retries, asked)


class Events(Source[types.Event]):
    """Events of a vault: a new connection resumes after the last event."""

    def __init__(self, vault: str, memory_id: str | None, kinds: Names | None, last_event_id: str | None) -> None:
        self.last_event_id = last_event_id
        self._query = {
            "memory_id": memory_id,
            "kinds": kinds if kinds is None or isinstance(kinds, str) else list(kinds),
        }
        self._vault = vault
        self._failures = 0
        self._came = False

    def call(self) -> Call[Any]:
        return Call(
            "GET",
            f"{self._vault}/events",
            answers="text",
            query=self._query,
            headers={"Last-Event-ID": self.last_event_id},
            accept=EVENT_STREAM,
        )

    def alive(self) -> None:
        self._came = True

    def take(self, event: ServerSentEvent) -> types.Event | None:
        self.last_event_id = event.id or self.last_event_id
        if not event.data:
            return None
        if event.name == "reset":
            raise EventsLostError(event.value().get("detail", "events were lost"), self.last_event_id)
        return cast("types.Event", event.value())

    def lost(self, failure: Exception | None, retries: int, asked: float | None) -> float:
        # Only connections without any data count as failed attempts.
        self._failures = 0 if self._came else self._failures + 1
        self._came = False
        if self._failures > retries:
            raise _ended("events", failure) from failure
        return wait(max(1, self._failures), asked)


@dataclass(frozen=True)
class UpdateStep:
    """One step of a streamed update."""

    name: str
    """`started`, `captured`, `asked`, `answered`, `model_failed`, `asked_again`, `merged`, `saved`, at last `done`."""
    details: Mapping[str, Any]
    """The data of the step: the role, the version, of `started` the `update_id`; of `done` the whole answer."""

    @property
    def answer(self) -> types.UpdateAnswer | None:
        """Of `done`: the answer, as `update` returns it."""
        return cast("types.UpdateAnswer", self.details) if self.name == "done" else None


class Steps(Source[UpdateStep]):
    """The steps of an update. It continues without its reader, and cannot be streamed again."""

    def __init__(self, call: Call[types.UpdateAnswer]) -> None:
        # With an Idempotency-Key, which is only sent if the caller has one, `done` is the only step.
        self._call = replace(call, accept=EVENT_STREAM, keyed=False)
        self._failures = 0
        self._update_id: str | None = None

    def call(self) -> Call[Any]:
        return self._call

    def take(self, event: ServerSentEvent) -> UpdateStep | None:
        if not event.data:
            return None
        details = event.value()
        if event.name == "problem":
            self.finished = True
            raise problem(int(details.get("status", 500)), {}, event.data.encode())
        if event.name == "started":
            self._update_id = details.get("update_id")
        self.finished = event.name == "done"
        return UpdateStep(event.name, details)

    def lost(self, failure: Exception | None, retries: int, asked: float | None) -> float:
        self._failures += 1
        refused = isinstance(failure, ProblemError) and failure.status == httpx.codes.TOO_MANY_REQUESTS
        untouched = refused or isinstance(failure, (httpx.ConnectError, httpx.ConnectTimeout))
        if not untouched or self._failures > retries:
            where = f"update {self._update_id}, which goes on: ask updates.wait()" if self._update_id else "the update"
            raise _ended(where, failure) from failure
        return wait(self._failures, asked)


def _ended(what: str, failure: Exception | None) -> WorkingMemoryError:
    if isinstance(failure, WorkingMemoryError):
        return failure
    said = f"{type(failure).__name__}: {failure}" if failure else "the service closed it"
    kind = TimedOutError if isinstance(failure, httpx.TimeoutException) else ConnectionFailedError
    return kind(f"the connection to watch {what} ended: {said}")


def events(
    at: str, *, memory_id: str | None = None, kinds: Names | None = None, last_event_id: str | None = None
) -> Source[types.Event]:
    """Streams the events of a vault.

    A stream reconnects when its connection ends; no event is missed or delivered twice.

    Args:
        memory_id: Only events of this memory.
        kinds: Only events of these kinds.
        last_event_id: Start after this event; "0" starts with the oldest stored one. Without it the stream starts
            when it is first read.
    """
    return Events(at, memory_id, kinds, last_event_id)


def memory_events(at: str, *, kinds: Names | None = None, last_event_id: str | None = None) -> Source[types.Event]:
    """Streams the events of a memory: see `Vault.events`."""
    vault, _, memory_id = at.rpartition("/memories/")
    return Events(vault, unquote(memory_id), kinds, last_event_id)


def watch_update(
    at: str,
    task: str,
    messages: Iterable[object] = (),
    *,
    record: types.SessionRecord | None = None,
    **options: Unpack[ChangeOptions],
) -> Source[UpdateStep]:
    """Update the document like `update`, and stream the steps; the last one, `done`, has the `answer`."""
    return Steps(_operations.update(at, task, messages, record=record, **options))
