"""Streams as iterators."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from typing import Generic, TypeVar

import httpx

from ._engine import AsyncEngine, Engine, Settings, awhole, deadline, whole
from ._retry import FOREIGN
from ._sources import EVENT_STREAM, Source
from ._sse import Decoder, ServerSentEvent

T = TypeVar("T")

# The service sends at least a heartbeat every 15 seconds; a stream that is silent for longer is dead.
SILENCE = 60.0


class _Reading(Generic[T]):
    """The state of both kinds of streams: entries that were received and not yet returned."""

    def __init__(self, source: Source[T]) -> None:
        self.source = source
        self.decoder = Decoder()
        self._came: deque[ServerSentEvent] = deque()

    def feed(self, chunk: bytes) -> None:
        self.source.alive()
        self._came.extend(self.decoder.feed(chunk))

    def ready(self) -> T | None:
        """The next received entry. An exception does not discard others."""
        while self._came:
            entry = self.source.take(self._came.popleft())
            if entry is not None:
                return entry
        return None

    def request(self, settings: Settings, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        self.decoder = Decoder()
        request = settings.request(self.source.call())
        seconds = settings.limits.timeout
        # With a key there is not even a heartbeat before the end.
        silence = settings.limits.update_timeout if "idempotency-key" in request.headers else SILENCE
        timeout = httpx.Timeout(max(seconds, silence), connect=seconds)
        return http.build_request(**{**settings.arguments(request, seconds), "timeout": timeout})


def _is_stream(response: httpx.Response) -> bool:
    media_type: str = response.headers.get("content-type", "")
    return response.is_success and media_type.partition(";")[0].strip().lower() == EVENT_STREAM


class Stream(Iterator[T]):
    """A stream of entries. Close it, or use it in a `with` statement."""

    def __init__(self, engine: Engine, source: Source[T]) -> None:
        self._engine = engine
        self._reading = _Reading(source)
        self._response: httpx.Response | None = None
        self._chunks: Iterator[bytes] = iter(())
        self._closed = False

    def __next__(self) -> T:
        while (entry := self._reading.ready()) is None:
            if self._closed or self._reading.source.finished:
                self.close()
                raise StopIteration
            try:
                if self._response is None:
                    self._open()
                    continue
                chunk = next(self._chunks, None)
            except FOREIGN as failure:
                self._wait(failure)
                continue
            if chunk is None:
                self._wait(None)
            else:
                self._reading.feed(chunk)
        return entry

    def _open(self) -> None:
        http = self._engine.connections.http()
        request = self._reading.request(self._engine.settings, http)
        response = http.send(request, stream=True, follow_redirects=False)
        if _is_stream(response):
            self._response, self._chunks = response, response.iter_bytes()
            return
        limits = self._engine.settings.limits
        try:
            with deadline(limits.timeout):
                content = whole(response)
        finally:
            response.close()
        time.sleep(self._reading.source.refused(response.status_code, response.headers, content, limits.retries))

    def _wait(self, failure: Exception | None) -> None:
        self._drop()
        asked = self._reading.decoder.retry_seconds
        time.sleep(self._reading.source.lost(failure, self._engine.settings.limits.retries, asked))

    def _drop(self) -> None:
        response, self._response = self._response, None
        if response is not None:
            response.close()

    def close(self) -> None:
        """Ends the stream and its connection."""
        self._closed = True
        self._drop()

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncStream(AsyncIterator[T]):
    """A stream of entries, for `async for`. Close it, or use it in an `async with` statement."""

    def __init__(self, engine: AsyncEngine, source: Source[T]) -> None:
        self._engine = engine
        self._reading = _Reading(source)
        self._response: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None
        self._closed = False

    async def __anext__(self) -> T:
        while (entry := self._reading.ready()) is None:
            if self._closed or self._reading.source.finished:
                await self.close()
                raise StopAsyncIteration
            try:
                if self._chunks is None:
                    await self._open()
                    continue
                chunk = await anext(self._chunks, None)
            except FOREIGN as failure:
                await self._wait(failure)
                continue
            if chunk is None:
                await self._wait(None)
            else:
                self._reading.feed(chunk)
        return entry

    async def _open(self) -> None:
        http = self._engine.connections.http()
        request = self._reading.request(self._engine.settings, http)
        response = await http.send(request, stream=True, follow_redirects=False)
        if _is_stream(response):
            self._response, self._chunks = response, response.aiter_bytes()
            return
        limits = self._engine.settings.limits
        try:
            with deadline(limits.timeout):
                content = await awhole(response)
        finally:
            await response.aclose()
        source = self._reading.source
        await asyncio.sleep(source.refused(response.status_code, response.headers, content, limits.retries))

    async def _wait(self, failure: Exception | None) -> None:
        await self._drop()
        asked = self._reading.decoder.retry_seconds
        await asyncio.sleep(self._reading.source.lost(failure, self._engine.settings.limits.retries, asked))

    async def _drop(self) -> None:
        response, self._response, self._chunks = self._response, None, None
        if response is not None:
            await response.aclose()

    async def close(self) -> None:
        """Ends the stream and its connection."""
        self._closed = True
        await self._drop()

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
