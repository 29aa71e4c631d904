"""The clients, with their vaults and memories. What both kinds share is written once, in the classes with `_`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import httpx

from . import _operations as api
from . import _session, _sources, _wire
from ._call import Answer, Call, segment
from ._engine import AsyncEngine, Connections, Engine, Settings
from ._methods import AsyncScope, SyncScope, flow, group, listing, operation, stream
from ._retry import RETRIES, TIMEOUT, UPDATE_TIMEOUT, Limits

DEFAULT_URL = "http://127.0.0.1:8080"


class _Vaults:
    list = listing(api.list_vaults)


class Vaults(SyncScope, _Vaults):
    """The vaults."""


class AsyncVaults(AsyncScope, _Vaults):
    """The vaults."""


class _Keys:
    list = listing(api.list_keys)
    create = operation(api.create_key)
    get = operation(api.get_key)
    rotate = operation(api.rotate_key)
    revoke = operation(api.revoke_key)


class Keys(SyncScope, _Keys):
    """The API keys, for a key of the role admin."""


class AsyncKeys(AsyncScope, _Keys):
    """The API keys, for a key of the role admin."""


class _Memories:
    list = listing(api.list_memories)


class Memories(SyncScope, _Memories):
    """The memories of a vault."""


class AsyncMemories(AsyncScope, _Memories):
    """The memories of a vault."""


class _Items:
    list = listing(api.list_items)
    add = operation(api.add_item)
    get = operation(api.get_item)
    replace = operation(api.replace_items)
    remove = operation(api.remove_item)
    clear = operation(api.clear_items)


class Items(SyncScope, _Items):
    """The prompt items of all memories of a vault."""


class AsyncItems(AsyncScope, _Items):
    """The prompt items of all memories of a vault."""


class _MemoryItems(_Items):
    get_prompt_content = operation(api.get_prompt_content)


class MemoryItems(SyncScope, _MemoryItems):
    """The prompt items of a memory, and the prompt that they and the document make."""


class AsyncMemoryItems(AsyncScope, _MemoryItems):
    """The prompt items of a memory, and the prompt that they and the document make."""


class _Files:
    list = listing(api.list_files)
    put = operation(api.put_file)
    remove = operation(api.remove_file)
    run = operation(api.run_memory_tool)


class Files(SyncScope, _Files):
    """The files of Anthropic's memory tool."""


class AsyncFiles(AsyncScope, _Files):
    """The files of Anthropic's memory tool."""


class _VaultUpdates:
    list = listing(api.list_vault_updates)


class VaultUpdates(SyncScope, _VaultUpdates):
    """The runs of a vault."""


class AsyncVaultUpdates(AsyncScope, _VaultUpdates):
    """The runs of a vault."""


class _Versions:
    list = listing(api.list_versions)
    get = operation(api.get_version)
    diff = operation(api.diff_versions)
    restore = operation(api.restore_version)
    redact = operation(api.redact_version)


class Versions(SyncScope, _Versions):
    """The versions of a memory."""


class AsyncVersions(AsyncScope, _Versions):
    """The versions of a memory."""


class _Records:
    list = listing(api.list_records)
    get = operation(api.get_record)


class Records(SyncScope, _Records):
    """The records of a memory."""


class AsyncRecords(AsyncScope, _Records):
    """The records of a memory."""


class _Updates:
    list = listing(api.list_updates)
    get = operation(api.get_update)
    queue = operation(api.queue_update)
    watch = stream(_sources.watch_update)
    wait = flow(_session.wait)
    cancel = operation(api.cancel_update)
    approve = operation(api.approve_update)
    reject = operation(api.reject_update)


class Updates(SyncScope, _Updates):
    """The updates of a memory."""


class AsyncUpdates(AsyncScope, _Updates):
    """The updates of a memory."""


class _Window:
    get = operation(api.get_window)
    text = operation(api.window_text)
    record_task = operation(api.record_task)
    record_decision = operation(api.record_decision)
    set_status = operation(api.set_status)
    import_ = operation(api.import_window)
    history = listing(api.window_history)
    epics = listing(api.window_epics)


class Window(SyncScope, _Window):
    """The window of recent tasks and decisions."""


class AsyncWindow(AsyncScope, _Window):
    """The window of recent tasks and decisions."""


class _Handoffs:
    list = listing(api.list_handoffs)
    get = operation(api.get_handoff)
    status = operation(api.handoff_status)
    refresh = operation(api.refresh_handoff)


class Handoffs(SyncScope, _Handoffs):
    """The handoffs from session to session."""


class AsyncHandoffs(AsyncScope, _Handoffs):
    """The handoffs from session to session."""


class _ClientMethods:
    vaults = group(Vaults, AsyncVaults)
    keys = group(Keys, AsyncKeys)
    guidance = operation(api.guidance)


class _VaultMethods:
    memories = group(Memories, AsyncMemories)
    items = group(Items, AsyncItems)
    files = group(Files, AsyncFiles)
    updates = group(VaultUpdates, AsyncVaultUpdates)
    search = listing(api.search)
    usage = listing(api.usage)
    events = stream(_sources.events)


class _MemoryMethods:
    start = flow(_session.start)
    finish = flow(_session.finish)
    update = operation(api.update)
    edit = flow(_session.edit)
    change = flow(_session.change)
    get = operation(api.get)
    put = operation(api.put)
    delete = operation(api.delete)
    info = operation(api.info)
    prompt = operation(api.prompt)
    search = listing(api.search)
    log = listing(api.log)
    blame = operation(api.blame)
    sections = listing(api.sections)
    events = stream(_sources.memory_events)
    versions = group(Versions, AsyncVersions)
    records = group(Records, AsyncRecords)
    items = group(MemoryItems, AsyncMemoryItems)
    updates = group(Updates, AsyncUpdates)
    window = group(Window, AsyncWindow)
    handoffs = group(Handoffs, AsyncHandoffs)


class Memory(SyncScope, _MemoryMethods):
    """A memory. Its first change makes it."""

    def __repr__(self) -> str:
        return f"Memory({self._at!r})"


class AsyncMemory(AsyncScope, _MemoryMethods):
    """A memory: the methods of `Memory`, to be awaited."""

    def __repr__(self) -> str:
        return f"AsyncMemory({self._at!r})"


class Vault(SyncScope, _VaultMethods):
    """A vault (tenant)."""

    def memory(self, memory_id: str) -> Memory:
        """A memory of this vault. Sends no request."""
        return Memory(self._engine, f"{self._at}/memories/{segment(memory_id)}")

    def __repr__(self) -> str:
        return f"Vault({self._at!r})"


class AsyncVault(AsyncScope, _VaultMethods):
    """A vault: the methods of `Vault`, to be awaited."""

    def memory(self, memory_id: str) -> AsyncMemory:
        """A memory of this vault. Sends no request."""
        return AsyncMemory(self._engine, f"{self._at}/memories/{segment(memory_id)}")

    def __repr__(self) -> str:
        return f"AsyncVault({self._at!r})"


def _settings(
    url: str | None, key: str | None, actor: str | None, limits: Limits, headers: Mapping[str, str] | None
) -> Settings:
    url = (url or os.environ.get("WORKING_MEMORY_URL") or DEFAULT_URL).rstrip("/")
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        # Its message may quote a part of a password.
        raise ValueError(f"url is the address of a service, such as {DEFAULT_URL}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError(f"url is the address of a service, such as {DEFAULT_URL}")
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise ValueError("url has no user, password, query or fragment: pass the key as `key`")
    key = key or os.environ.get("WORKING_MEMORY_API_KEY") or None
    if key is not None and (" " in key or not _wire.is_header(key)):
        raise ValueError("the key contains characters that no key has, such as a blank or a line break")
    actor = actor or os.environ.get("WORKING_MEMORY_ACTOR") or None
    return Settings(url, key, actor, limits, dict(headers or {}))


def _any_call(method: str, path: str, query: Mapping[str, Any] | None, body: Any, headers: Any) -> Call[Any]:
    place, mark, _ = path.partition("?")
    if mark and query:
        raise ValueError("the path has a query already: pass all of it in one of the two")
    writes = method in ("POST", "PUT") and place.startswith("/v1/vaults/")
    slow = writes and place.endswith(("/update", "/consolidate"))
    return Call(method, path, query or {}, headers or {}, body, answers="any", accept="*/*", writes=writes, slow=slow)


class Client(SyncScope, _ClientMethods):
    """A client of a service. It is thread-safe.

    Args:
        url: The address of the service; without it `$WORKING_MEMORY_URL`, else this machine.
        key: The API key; without it `$WORKING_MEMORY_API_KEY`.
        actor: The author of versions; without it `$WORKING_MEMORY_ACTOR`, else the service takes the key's name.
        timeout: Seconds for an attempt; a call takes three times as long at most.
        update_timeout: Seconds for a call that waits for models, with all its attempts.
        retries: How often a call is retried.
        headers: Headers of each request.
        http: The HTTP client to use; its owner closes it, and does not use it on both sides of a fork.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        actor: str | None = None,
        timeout: float = TIMEOUT,
        update_timeout: float = UPDATE_TIMEOUT,
        retries: int = RETRIES,
        headers: Mapping[str, str] | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        settings = _settings(url, key, actor, Limits(retries, timeout, update_timeout), headers)
        self._owner = http is None
        super().__init__(Engine(settings, Connections(httpx.Client, http)), "/v1")

    def vault(self, vault_id: str) -> Vault:
        """A vault. Sends no request."""
        return Vault(self._engine, f"{self._at}/vaults/{segment(vault_id)}")

    def memory(self, vault_id: str, memory_id: str) -> Memory:
        """A memory. Sends no request."""
        return self.vault(vault_id).memory(memory_id)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer[Any]:
        """Send any request to the service, with the client's rules, and return its value and headers."""
        return self._engine.send(_any_call(method, path, query, body, headers))

    def close(self) -> None:
        """Close the connections."""
        if self._owner:
            self._engine.connections.own().close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._engine.settings.url!r})"


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
        timeout: float = TIMEOUT,
        update_timeout: float = UPDATE_TIMEOUT,
        retries: int = RETRIES,
        headers: Mapping[str, str] | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        settings = _settings(url, key, actor, Limits(retries, timeout, update_timeout), headers)
        self._owner = http is None
        super().__init__(AsyncEngine(settings, Connections(httpx.AsyncClient, http)), "/v1")

    def vault(self, vault_id: str) -> AsyncVault:
        """A vault. Sends no request."""
        return AsyncVault(self._engine, f"{self._at}/vaults/{segment(vault_id)}")

    def memory(self, vault_id: str, memory_id: str) -> AsyncMemory:
        """A memory. Sends no request."""
        return self.vault(vault_id).memory(memory_id)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer[Any]:
        """Send any request to the service, with the client's rules, and return its value and headers."""
        return await self._engine.send(_any_call(method, path, query, body, headers))

    async def close(self) -> None:
        """Close the connections."""
        if self._owner:
            await self._engine.connections.own().aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self._engine.settings.url!r})"
