"""Sending: besides streams the only code that differs between the two kinds of clients."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import time
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import httpx

from . import _wire
from ._call import Answer, Call, Result
from ._flow import Flow, Outcome, Together
from ._retry import FOREIGN, Limits, Reply, Send, Sleep, attempts
from .errors import ConnectionFailedError, InvalidAnswerError, WorkingMemoryError

T = TypeVar("T")
Http = TypeVar("Http", bound=httpx.Client | httpx.AsyncClient)

# The maximum number of concurrent requests of one flow.
AT_ONCE = 8

# Open streams must not keep other calls waiting: the service has a limit of its own.
UNBOUNDED = httpx.Limits(max_connections=None, max_keepalive_connections=20)

log = logging.getLogger("working_memory_client")


@dataclass(frozen=True)
class Settings:
    """The settings of a client."""

    url: str
    key: str | None = field(repr=False)
    actor: str | None
    limits: Limits
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def request(self, call: Call[Any]) -> _wire.Request:
        """The bytes of a call."""
        return _wire.request(call, key=self.key, actor=self.actor, headers=self.headers)

    def arguments(self, request: _wire.Request, seconds: float) -> dict[str, Any]:
        """A request for httpx."""
        return {
            "method": request.method,
            "url": self.url + request.path,
            # An empty one would take away that of a path.
            "params": request.query or None,
            "headers": request.headers,
            "content": request.content,
            "timeout": seconds,
        }

    def changed(
        self, timeout: float | None, retries: int | None, headers: Mapping[str, str] | None, actor: str | None
    ) -> Settings:
        """A copy with these, where they are given."""
        return replace(
            self,
            limits=self.limits.changed(timeout, retries),
            headers={**self.headers, **(headers or {})},
            actor=self.actor if actor is None else actor,
        )


def answer(call: Call[T], reply: Reply) -> Answer[T]:
    """The content of a successful response."""
    # A failure comes here only as the answer of a deletion that had been executed already.
    missing = not httpx.codes.is_success(reply.status)
    status = httpx.codes.NO_CONTENT if missing else reply.status
    if call.answers == "none" and status != httpx.codes.NO_CONTENT:
        raise InvalidAnswerError(f"{call.path}: the answer ({status}) is not the service's")
    content = _wire.decoded(call, b"" if missing else reply.content, reply.headers.get("content-type", ""))
    made: Answer[T] = Answer(content, status, reply.headers)
    if isinstance(content, Result):
        content.response = made
    return made


# When the attempt of this thread or task ends: httpx's own timeouts hold for each piece of a response, and of its head.
_END: ContextVar[float] = ContextVar("end of an attempt", default=math.inf)


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Ends what is read below it after so many seconds, however little comes at a time."""
    token = _END.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _END.reset(token)


def _left(timeout: float | None = None) -> float | None:
    """The timeout of a read, or what is left of the attempt."""
    left = _END.get() - time.monotonic()
    if left <= 0:
        raise httpx.ReadTimeout("the response takes too long")
    left = min(left, math.inf if timeout is None else timeout)
    return None if math.isinf(left) else left


def _trace(event: str, info: Mapping[str, Any]) -> None:
    """Lets a new connection keep the deadline of whatever attempt reads from it."""
    if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
        stream = info["return_value"]
        read = stream.read
        stream.read = lambda max_bytes, timeout=None: read(max_bytes, _left(timeout))


async def _trace_async(event: str, info: Mapping[str, Any]) -> None:
    _trace(event, info)


def whole(response: httpx.Response) -> bytes:
    """The content of a response, within its deadline."""
    content = b""
    for chunk in response.iter_bytes():
        content += chunk
        _left()
    return content


async def awhole(response: httpx.Response) -> bytes:
    """The same, to be awaited."""
    content = b""
    async for chunk in response.aiter_bytes():
        content += chunk
        _left()
    return content


def _logged(step: Send, began: float, outcome: Reply | Exception) -> None:
    """Says what became of an attempt: no header, body or query, which may hold secrets."""
    if log.isEnabledFor(logging.DEBUG):
        said = outcome.status if isinstance(outcome, Reply) else type(outcome).__name__
        number = outcome.headers.get("x-request-id") if isinstance(outcome, Reply) else None
        millis = (time.monotonic() - began) * 1000
        log.debug("%s %s: %s in %.0f ms, request %s", step.request.method, step.request.path, said, millis, number)


class Connections(Generic[Http]):
    """An HTTP client, of each process its own: two processes on one connection would read each other's responses."""

    def __init__(self, kind: type[Http], given: Http | None) -> None:
        self._kind, self._given = kind, given
        self._http: Http = given or kind(limits=UNBOUNDED)
        self._process = os.getpid()

    def own(self) -> Http:
        """The HTTP client of this process, which may be closed."""
        if not self._given and self._process != os.getpid() and not self._http.is_closed:
            self._http = self._kind(limits=UNBOUNDED)
            self._process = os.getpid()
        return self._http

    def http(self) -> Http:
        """The HTTP client of this process."""
        http = self.own()
        if http.is_closed:
            raise ConnectionFailedError("the client is closed")
        return http


class Engine:
    """Sends calls and runs flows."""

    def __init__(self, settings: Settings, connections: Connections[httpx.Client]) -> None:
        self.settings = settings
        self.connections = connections

    def send(self, call: Call[T]) -> Answer[T]:
        steps = attempts(self.settings.request(call), self.settings.limits)
        outcome: Reply | Exception | None = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                return answer(call, done.value)
            outcome = None
            if isinstance(step, Sleep):
                time.sleep(step.seconds)
                continue
            began = time.monotonic()
            outcome = self._once(step)
            _logged(step, began, outcome)

    def _once(self, step: Send) -> Reply | Exception:
        arguments = self.settings.arguments(step.request, step.seconds)
        arguments["extensions"] = {"trace": _trace}
        http = self.connections.http()
        try:
            with deadline(step.seconds), http.stream(**arguments, follow_redirects=False) as response:
                return Reply(response.status_code, response.headers, whole(response))
        except FOREIGN as failure:
            return failure

    def run(self, flow: Flow[T]) -> T:
        step = _next(flow, None)
        while not isinstance(step, _Done):
            if isinstance(step, Together):
                step = _next(flow, self._together(step))
            elif isinstance(step, Sleep):
                time.sleep(step.seconds)
                step = _next(flow, None)
            else:
                step = _next(flow, self._outcome(step), throws=True)
        value: T = step.value
        return value

    def _together(self, step: Together) -> list[Outcome]:
        if len(step.calls) < 2:  # a thread would only add cost
            return [self._outcome(call) for call in step.calls]
        # Threads of this call alone: those of a client would not be there after a fork.
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="working-memory") as threads:
            return list(threads.map(self._outcome, step.calls))

    def _outcome(self, call: Call[Any]) -> Outcome:
        try:
            return self.send(call)
        except WorkingMemoryError as failure:
            return failure


class AsyncEngine:
    """Sends calls and runs flows asynchronously."""

    def __init__(self, settings: Settings, connections: Connections[httpx.AsyncClient]) -> None:
        self.settings = settings
        self.connections = connections

    async def send(self, call: Call[T]) -> Answer[T]:
        steps = attempts(self.settings.request(call), self.settings.limits)
        outcome: Reply | Exception | None = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                return answer(call, done.value)
            outcome = None
            if isinstance(step, Sleep):
                await asyncio.sleep(step.seconds)
                continue
            began = time.monotonic()
            outcome = await self._once(step)
            _logged(step, began, outcome)

    async def _once(self, step: Send) -> Reply | Exception:
        arguments = self.settings.arguments(step.request, step.seconds)
        arguments["extensions"] = {"trace": _trace_async}
        http = self.connections.http()
        try:
            with deadline(step.seconds):
                async with http.stream(**arguments, follow_redirects=False) as response:
                    return Reply(response.status_code, response.headers, await awhole(response))
        except FOREIGN as failure:
            return failure

    async def run(self, flow: Flow[T]) -> T:
        step = _next(flow, None)
        while not isinstance(step, _Done):
            if isinstance(step, Together):
                step = _next(flow, await self._together(step))
            elif isinstance(step, Sleep):
                await asyncio.sleep(step.seconds)
                step = _next(flow, None)
            else:
                step = _next(flow, await self._outcome(step), throws=True)
        value: T = step.value
        return value

    async def _together(self, step: Together) -> list[Outcome]:
        places = asyncio.Semaphore(AT_ONCE)

        async def outcome(call: Call[Any]) -> Outcome:
            async with places:
                return await self._outcome(call)

        return await asyncio.gather(*(outcome(call) for call in step.calls))

    async def _outcome(self, call: Call[Any]) -> Outcome:
        try:
            return await self.send(call)
        except WorkingMemoryError as failure:
            return failure


@dataclass(frozen=True)
class _Done:
    """The end of a flow."""

    value: Any


def _next(flow: Generator[Any, Any, Any], value: Any, *, throws: bool = False) -> Any:
    """The flow's next step, after a value or, of a single call, a failure."""
    try:
        if throws and isinstance(value, WorkingMemoryError):
            return flow.throw(value)
        return flow.send(value)
    except StopIteration as done:
        return _Done(done.value)
