"""Sending: besides streams the only code that differs between the two kinds of clients."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from . import _wire
from ._call import Answer, Call
from ._flow import Flow, Outcome, Together
from ._retry import Retry, Sleep, attempts
from .problems import WorkingMemoryError

T = TypeVar("T")

# The maximum number of concurrent requests of one flow.
AT_ONCE = 8
# The timeout of requests that wait for models; the service has its own limit.
SLOW: Mapping[str, float] = {"UpdateContext": 600.0, "RefreshHandoff": 600.0}


@dataclass(frozen=True)
class Settings:
    """The settings of a client."""

    url: str
    key: str | None = field(repr=False)
    actor: str | None
    timeout: float
    retry: Retry

    def request(self, call: Call[Any]) -> _wire.Request:
        """The bytes of a call."""
        return _wire.request(call, key=self.key, actor=self.actor)

    def arguments(self, request: _wire.Request) -> dict[str, Any]:
        """A request for httpx."""
        return {
            "method": request.method,
            "url": self.url + request.path,
            "params": request.query,
            "headers": request.headers,
            "content": request.content,
            "timeout": httpx.Timeout(max(self.timeout, SLOW.get(request.operation, 0)), connect=self.timeout),
        }


def answer(call: Call[T], response: httpx.Response) -> Answer[T]:
    """The content of a successful response."""
    if response.status_code == httpx.codes.NOT_FOUND:
        return Answer(_wire.decoded(call, b"", ""), httpx.codes.NO_CONTENT, response.headers)
    content = _wire.decoded(call, response.content, response.headers.get("content-type", ""))
    return Answer(content, response.status_code, response.headers)


class Engine:
    """Sends calls and runs flows."""

    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self.settings = settings
        self.http = http
        self._threads: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def send(self, call: Call[T]) -> Answer[T]:
        steps = attempts(self.settings.request(call), self.settings.retry)
        outcome: httpx.Response | httpx.RequestError | None = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                return answer(call, done.value)
            outcome = None
            if isinstance(step, Sleep):
                time.sleep(step.seconds)
                continue
            try:
                outcome = self.http.request(**self.settings.arguments(step.request))
            except httpx.RequestError as failure:
                outcome = failure

    def run(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Together):
                    step = flow.send(self._together(step))
                    continue
                if isinstance(step, Sleep):
                    time.sleep(step.seconds)
                    step = next(flow)
                    continue
                try:
                    given = self.send(step)
                except WorkingMemoryError as failure:
                    step = flow.throw(failure)
                else:
                    step = flow.send(given)
        except StopIteration as done:
            result: T = done.value
            return result

    def _together(self, step: Together) -> list[Outcome]:
        if len(step.calls) < 2:  # a thread would only add cost
            return [self._outcome(call) for call in step.calls]
        with self._lock:
            self._threads = self._threads or ThreadPoolExecutor(AT_ONCE, thread_name_prefix="working-memory")
        return list(self._threads.map(self._outcome, step.calls))

    def _outcome(self, call: Call[Any]) -> Outcome:
        try:
            return self.send(call)
        except WorkingMemoryError as failure:
            return failure

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None


class AsyncEngine:
    """Sends calls and runs flows asynchronously."""

    def __init__(self, settings: Settings, http: httpx.AsyncClient) -> None:
        self.settings = settings
        self.http = http

    async def send(self, call: Call[T]) -> Answer[T]:
        steps = attempts(self.settings.request(call), self.settings.retry)
        outcome: httpx.Response | httpx.RequestError | None = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                return answer(call, done.value)
            outcome = None
            if isinstance(step, Sleep):
                await asyncio.sleep(step.seconds)
                continue
            try:
                outcome = await self.http.request(**self.settings.arguments(step.request))
            except httpx.RequestError as failure:
                outcome = failure

    async def run(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Together):
                    step = flow.send(await self._together(step))
                    continue
                if isinstance(step, Sleep):
                    await asyncio.sleep(step.seconds)
                    step = next(flow)
                    continue
                try:
                    given = await self.send(step)
                except WorkingMemoryError as failure:
                    step = flow.throw(failure)
                else:
                    step = flow.send(given)
        except StopIteration as done:
            result: T = done.value
            return result

    async def _together(self, step: Together) -> list[Outcome]:
        places = asyncio.Semaphore(AT_ONCE)

        async def outcome(call: Call[Any]) -> Outcome:
            async with places:
                try:
                    return await self.send(call)
                except WorkingMemoryError as failure:
                    return failure

        return await asyncio.gather(*(outcome(call) for call in step.calls))
