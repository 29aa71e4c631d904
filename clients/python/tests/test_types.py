"""What type checkers see, which mypy checks in this file; and that the types are those of openapi.yaml."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import document

from working_memory_client import AsyncClient, AsyncPages, AsyncStream, Client, Memory, Pages, Session, Stream, types

if TYPE_CHECKING:
    from typing_extensions import assert_type

# Types whose names are another one here: `Record` and `Warning` are names of Python or TypeScript.
NAMES = {"MemoryRecord": "Record", "UpdateWarning": "Warning"}
# Parts of other schemas.
NO_SCHEMAS = {
    "AddOperation",
    "ArchiveOperation",
    "MarkOperation",
    "MergeOperation",
    "Page",
    "ProgressOperation",
    "SearchPage",
    "Usage",
}


def both_kinds(client: Client, memory: Memory) -> Iterator[object]:
    """The methods of clients that wait."""
    yield assert_type(memory.start(max_tokens=1), Session)
    yield assert_type(memory.get(), types.Context)
    yield assert_type(memory.put("text"), types.PutAnswer)
    yield assert_type(memory.put("text")["version"], int)
    yield assert_type(memory.records.list(), Pages[types.MemoryRecord, types.Page[types.MemoryRecord]])
    yield assert_type(memory.events(), Stream[types.Event])
    yield assert_type(memory.updates.queue("t"), types.Run)
    yield assert_type(memory.items.get_prompt_content(), str)
    yield assert_type(client.vault("v").usage().page()["currency"], str)
    yield assert_type(memory.delete(), None)
    yield memory.put(3)  # type: ignore[arg-type]
    yield memory.window.record_task("no summary")  # type: ignore[call-arg]
    yield memory.records.list(kind="XX")  # type: ignore[arg-type]
    yield memory.put("text")["nothing"]  # type: ignore[misc]


async def awaited(client: AsyncClient) -> None:
    """The same of clients that do not block."""
    memory = client.vault("v").memory("m")
    assert_type(await memory.start(max_tokens=1), Session)
    assert_type(await memory.put("text"), types.PutAnswer)
    assert_type(memory.records.list(), AsyncPages[types.MemoryRecord, types.Page[types.MemoryRecord]])
    assert_type(memory.events(), AsyncStream[types.Event])
    assert_type([record["reason"] async for record in memory.records.list()], list[str | None])
    await memory.put(3)  # type: ignore[arg-type]


def test_methods_show_their_arguments_and_what_they_are_for() -> None:
    with Client("http://127.0.0.1:9") as client:
        method = client.memory("v", "m").records.list
        assert "Only this kind" in (method.__doc__ or "")
        assert str(method.__signature__).startswith("(*, kind:")  # type: ignore[attr-defined]
        assert "Pages[types.MemoryRecord" in str(method.__signature__)  # type: ignore[attr-defined]
        assert repr(client.vault("v").memory("m")) == "Memory('/v1/vaults/v/memories/m')"


def test_a_memory_has_few_names_and_both_clients_the_same() -> None:
    names = {name for name in dir(Memory) if not name.startswith("_")}
    assert len(names) <= 30
    with Client("http://127.0.0.1:9") as client:
        other = AsyncClient("http://127.0.0.1:9")
        assert names == {name for name in dir(other.memory("v", "m")) if not name.startswith("_")}
        assert len({name for name in dir(client.vault("v")) if not name.startswith("_")}) <= 30


def declared(kind: Any) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for base in reversed(kind.__orig_bases__ if hasattr(kind, "__orig_bases__") else ()):
        if base is not Any and hasattr(base, "__required_keys__"):
            found |= declared(base)
    own = {
        name: name in kind.__required_keys__ and "NotRequired[" not in str(text)
        for name, text in kind.__annotations__.items()
    }
    return found | own


def test_the_types_are_those_of_the_service() -> None:
    kinds = {name: one for name, one in inspect.getmembers(types) if hasattr(one, "__required_keys__")}
    assert len(kinds) > 50
    for name in kinds.keys() - NO_SCHEMAS:
        assert declared(kinds[name]) == document.members(NAMES.get(name, name)), name
