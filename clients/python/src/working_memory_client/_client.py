"""The clients, with their vaults and memories."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TypeVar

import httpx

from . import _session
from ._call import Answer, Call
from ._engine import AsyncEngine, Engine, Settings
from ._methods import (
    AsyncScope,
    SyncScope,
    flow,
    memory_listing,
    memory_operation,
    operation,
    vault_listing,
    vault_operation,
)
from ._retry import Retry
from ._sources import events, memory_events, queued, watched
from ._streams import memory_stream, stream, vault_stream
from .operations import contexts, search, updates
from .operations.tables import ClientOperations, MemoryOperations, VaultOperations

T = TypeVar("T")

DEFAULT_URL = "http://127.0.0.1:8080"


class _ClientMethods(ClientOperations):
    """The methods of both clients besides the operations."""

    queue_update = operation(queued(updates.update_context))
    watch_update = stream(watched(updates.update_context))
    stream_events = stream(events)


class _VaultMethods(VaultOperations):
    """The methods of both kinds of vaults besides the operations."""

    queue_update = vault_operation(queued(updates.update_context))
    watch_update = vault_stream(watched(updates.update_context))
    stream_events = vault_stream(events)
    search = vault_listing(search.search_contexts)


class _MemoryMethods(MemoryOperations):
    """The methods of both kinds of memories besides the operations."""

    queue_update = memory_operation(queued(updates.update_context))
    watch_update = memory_stream(watched(updates.update_context))
    stream_events = memory_stream(memory_events)
    start = flow(_session.start)
    finish = flow(_session.finish)
    edit = flow(_session.edit)
    change = flow(_session.change)
    search = flow(_session.search)
    wait_for = flow(_session.wait_for)
    put = memory_operation(contexts.put_context)
    get = memory_operation(contexts.get_latest_context_text)
    read = memory_operation(contexts.get_latest_context)
    history = memory_listing(contexts.get_log)


def _settings(url: str | None, key: str | None, actor: str | None, timeout: float, retry: Retry | None) -> Settings:
    url = (url or os.environ.get("WORKING_MEMORY_URL") or DEFAULT_URL).rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"{url!r} is not the address of a service, such as {DEFAULT_URL}")
    key = key or os.environ.get("WORKING_MEMORY_API_KEY") or None
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise ValueError("the key contains invalid characters, such as a blank or a line break")
    return Settings(url, key, actor or os.environ.get("WORKING_MEMORY_ACTOR") or None, timeout, retry or Retry())


class Client(SyncScope, _ClientMethods):
    """A client of a service. It is thread-safe.

    Args:
        url: The address of the service; without it `$WORKING_MEMORY_URL`, else this machine.
        key: The API key; without it `$WORKING_MEMORY_API_KEY`.
        actor: The author of versions, if the service does not use the key's name.
        timeout: The timeout of a response in seconds. Requests that wait for models have a longer one.
        retry: The retry policy.
        http: The HTTP client to use; its owner closes it.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        actor: str | None = None,
        timeout: float = 30.0,
        retry: Retry | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        self._owner = http is None
        self._ids = ()
        self._engine = Engine(_settings(url, key, actor, timeout, retry), http or httpx.Client())

    def with_options(
        self, *, actor: str | None = None, timeout: float | None = None, retry: Retry | None = None
    ) -> Client:
        """A client with the same connections and other settings."""
        other = object.__new__(Client)
        other._owner, other._ids = False, ()
        other._engine = Engine(_changed(self._engine.settings, actor, timeout, retry), self._engine.http)
        return other

    def vault(self, vault_id: str) -> Vault:
        """A vault (tenant)."""
        return Vault(self._engine, (vault_id,))

    def memory(self, vault_id: str, memory_id: str) -> Memory:
        """A memory of an agent or a task. It need not exist yet."""
        return Memory(self._engine, (vault_id, memory_id))

    def answer(self, call: Call[T]) -> Answer[T]:
        """Send a call of `operations`, and return its headers with its value."""
        return self._engine.send(call)

    def close(self) -> None:
        """Close the connections."""
        self._engine.close()
        if self._owner:
            self._engine.http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._engine.settings.url!r})"


class Vault(SyncScope, _VaultMethods):
    """A vault: all operations within it, without its id."""

    def __init__(self, engine: Engine, ids: tuple[str, ...]) -> None:
        self._engine, self._ids = engine, ids

    def memory(self, memory_id: str) -> Memory:
        """A memory of this vault."""
        return Memory(self._engine, (*self._ids, memory_id))

    def __repr__(self) -> str:
        return f"Vault({self._ids[0]!r})"


class Memory(SyncScope, _MemoryMethods):
    """A memory: all operations on it, without its ids, and sessions."""

    def __init__(self, engine: Engine, ids: tuple[str, ...]) -> None:
        self._engine, self._ids = engine, ids

    def __repr__(self) -> str:
        return f"Memory({self._ids[0]!r}, {self._ids[1]!r})"


class AsyncClient(AsyncScope, _ClientMethods):
    """An asynchronous client of a service: the methods of `Client`, to be awaited.

    Its arguments are those of `Client`. Like its connections it belongs to one event loop.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        actor: str | None = None,
        timeout: float = 30.0,
        retry: Retry | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._owner = http is None
        self._ids = ()
        self._engine = AsyncEngine(_settings(url, key, actor, timeout, retry), http or httpx.AsyncClient())

    def with_options(
        self, *, actor: str | None = None, timeout: float | None = None, retry: Retry | None = None
    ) -> AsyncClient:
        """A client with the same connections and other settings."""
        other = object.__new__(AsyncClient)
        other._owner, other._ids = False, ()
        other._engine = AsyncEngine(_changed(self._engine.settings, actor, timeout, retry), self._engine.http)
        return other

    def vault(self, vault_id: str) -> AsyncVault:
        """A vault (tenant)."""
        return AsyncVault(self._engine, (vault_id,))

    def memory(self, vault_id: str, memory_id: str) -> AsyncMemory:
        """A memory of an agent or a task. It need not exist yet."""
        return AsyncMemory(self._engine, (vault_id, memory_id))

    async def answer(self, call: Call[T]) -> Answer[T]:
        """Send a call of `operations`, and return its headers with its value."""
        return await self._engine.send(call)

    async def close(self) -> None:
        """Close the connections."""
        if self._owner:
            await self._engine.http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self._engine.settings.url!r})"


class AsyncVault(AsyncScope, _VaultMethods):
    """A vault: the methods of `Vault`, to be awaited."""

    def __init__(self, engine: AsyncEngine, ids: tuple[str, ...]) -> None:
        self._engine, self._ids = engine, ids

    def memory(self, memory_id: str) -> AsyncMemory:
        """A memory of this vault."""
        return AsyncMemory(self._engine, (*self._ids, memory_id))

    def __repr__(self) -> str:
        return f"AsyncVault({self._ids[0]!r})"


class AsyncMemory(AsyncScope, _MemoryMethods):
    """A memory: the methods of `Memory`, to be awaited."""

    def __init__(self, engine: AsyncEngine, ids: tuple[str, ...]) -> None:
        self._engine, self._ids = engine, ids

    def __repr__(self) -> str:
        return f"AsyncMemory({self._ids[0]!r}, {self._ids[1]!r})"


def _changed(settings: Settings, actor: str | None, timeout: float | None, retry: Retry | None) -> Settings:
    return replace(
        settings,
        actor=settings.actor if actor is None else actor,
        timeout=settings.timeout if timeout is None else timeout,
        retry=retry or settings.retry,
    )
