"""The sources of streams, and their reaction to a lost connection, without any connection."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, ParamSpec, TypeVar, cast

import httpx

from . import models
from ._call import Call
from ._retry import PASSING, Retry
from ._sse import ServerSentEvent
from .problems import ConnectionFailed, EventsLost, Problem, WorkingMemoryError, problem

P = ParamSpec("P")
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
    def lost(self, failure: Exception | None, retry: Retry, asked: float | None) -> float:
        """How many seconds to wait before the next connection; raises if there must be none."""

    def alive(self) -> None:
        """Called when data arrived."""

    def refused(self, status: int, headers: Mapping[str, str], content: bytes, retry: Retry) -> float:
        """How long to wait after a response that is not a stream; raises if a retry would not help."""
        failure = problem(status, headers, content)
        asked = failure.retry_after
        if status not in PASSING or (asked is not None and asked > retry.longest_asked):
            raise failure
        return self.lost(failure, retry, asked)


class Events(Source[models.Event]):
    """Events of a vault: a new connection resumes after the last event."""

    def __init__(
        self, vault_id: str, memory_id: str | None, kinds: str | Iterable[str] | None, last_event_id: str | None
    ) -> None:
        self.last_event_id = last_event_id
        self._query = {
            "memory_id": memory_id,
            "kinds": kinds if kinds is None or isinstance(kinds, str) else list(kinds),
        }
        self._vault_id = vault_id
        self._failures = 0
        self._came = False

    def call(self) -> Call[Any]:
        return Call(
            operation="StreamEvents",
            method="GET",
            path="/v1/vaults/{}/events",
            answers="text",
            ids=(self._vault_id,),
            query=self._query,
            headers={"Last-Event-ID": self.last_event_id},
            accept=EVENT_STREAM,
        )

    def alive(self) -> None:
        self._came = True

    def take(self, event: ServerSentEvent) -> models.Event | None:
        self.last_event_id = event.id or self.last_event_id
        if not event.data:
            return None
        if event.name == "reset":
            raise EventsLost(event.value().get("detail", "events were lost"), self.last_event_id)
        return cast("models.Event", event.value())

    def lost(self, failure: Exception | None, retry: Retry, asked: float | None) -> float:
        # Only connections without any data count as failed attempts.
        self._failures = 0 if self._came else self._failures + 1
        self._came = False
        if self._failures >= retry.attempts:
            raise _ended("events", failure) from failure
        return retry.wait(max(1, self._failures), asked)


@dataclass(frozen=True)
class UpdateStep:
    """One step of a streamed update."""

    name: str
    """`started`, `captured`, `asked`, `answered`, `model_failed`, `asked_again`, `merged`, `saved`, at last `done`."""
    details: Mapping[str, Any]
    """The data of the step: the role, the version, of `started` the `update_id`; of `done` the whole answer."""

    @property
    def answer(self) -> models.UpdateAnswer | None:
        """Of `done`: the answer, as `update_context` returns it."""
        return cast("models.UpdateAnswer", self.details) if self.name == "done" else None


class Steps(Source[UpdateStep]):
    """The steps of an update. It continues without its reader, and cannot be streamed again."""

    def __init__(self, call: Call[models.UpdateAnswer]) -> None:
        # With an Idempotency-Key the steps would be sent as a whole at the end.
        headers = {name: value for name, value in call.headers.items() if name != "Idempotency-Key"}
        self._call = replace(call, headers=headers, accept=EVENT_STREAM)
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

    def lost(self, failure: Exception | None, retry: Retry, asked: float | None) -> float:
        self._failures += 1
        refused = isinstance(failure, Problem) and failure.status == httpx.codes.TOO_MANY_REQUESTS
        untouched = refused or isinstance(failure, (httpx.ConnectError, httpx.ConnectTimeout))
        if not untouched or self._failures >= retry.attempts:
            where = f"update {self._update_id}, which goes on: ask wait_for()" if self._update_id else "the update"
            raise _ended(where, failure) from failure
        return retry.wait(self._failures, asked)


def _ended(what: str, failure: Exception | None) -> WorkingMemoryError:
    if isinstance(failure, WorkingMemoryError):
        return failure
    said = f"{type(failure).__name__}: {failure}" if failure else "the service closed it"
    return ConnectionFailed(f"the connection to watch {what} ended: {said}")


def events(
    vault_id: str,
    *,
    memory_id: str | None = None,
    kinds: str | Iterable[str] | None = None,
    last_event_id: str | None = None,
) -> Events:
    """Streams the events of a vault.

    A stream reconnects when its connection ends; no event is missed or delivered twice.

    Args:
        memory_id: Only events of this memory.
        kinds: Only events of these kinds.
        last_event_id: Start after this event; "0" starts with the oldest stored one. Without it the stream starts
            when it is first read.
    """
    return Events(vault_id, memory_id, kinds, last_event_id)


def memory_events(
    vault_id: str, memory_id: str, *, kinds: str | Iterable[str] | None = None, last_event_id: str | None = None
) -> Events:
    """Streams the events of a memory: see `Client.stream_events`."""
    return Events(vault_id, memory_id, kinds, last_event_id)


def watched(build: Callable[P, Call[models.UpdateAnswer]]) -> Callable[P, Steps]:
    """An update whose steps are streamed."""

    def watch_update(*args: P.args, **kwargs: P.kwargs) -> Steps:
        """Update the document and stream the steps; takes the arguments of `update_context`."""
        return Steps(build(*args, **kwargs))

    return watch_update


def queued(build: Callable[P, Call[models.UpdateAnswer]]) -> Callable[P, Call[models.Run]]:
    """A queued update."""

    def queue_update(*args: P.args, **kwargs: P.kwargs) -> Call[models.Run]:
        """Queue an update; takes the arguments of `update_context`. `wait_for` returns its outcome."""
        call: Call[Any] = build(*args, **kwargs).with_headers(Prefer="respond-async")
        return call

    return queue_update
