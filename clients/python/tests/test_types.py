"""What type checkers see: mypy reads this file, and would say so if a line that is wrong passed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from working_memory_client import AsyncClient, AsyncPages, AsyncStream, Client, Memory, Pages, Session, Stream, models

if TYPE_CHECKING:
    from typing_extensions import assert_type


def both_kinds(client: Client, memory: Memory) -> Iterator[object]:
    """The methods of clients that wait."""
    yield assert_type(memory.start(max_tokens=1), Session)
    yield assert_type(memory.get(), str)
    yield assert_type(memory.put("text"), models.PutAnswer)
    yield assert_type(memory.put("text")["version"], int)
    yield assert_type(memory.list_records(), Pages[models.Record, models.RecordList])
    yield assert_type(memory.stream_events(), Stream[models.Event])
    yield assert_type(memory.queue_update(task="t"), models.Run)
    yield assert_type(client.get_usage("v").page()["currency"], str)
    yield assert_type(client.delete_memory("v", "m"), None)
    yield memory.put(3)  # type: ignore[arg-type]
    yield memory.record_task(intent="no summary")  # type: ignore[call-arg]
    yield memory.list_records(kind="XX")  # type: ignore[arg-type]
    yield memory.get_memory("v", "m")  # type: ignore[call-arg]
    yield client.get_memory("v")  # type: ignore[call-arg]
    yield memory.put("text")["nothing"]  # type: ignore[misc]


async def awaited(client: AsyncClient) -> None:
    """The same of clients that do not block."""
    memory = client.vault("v").memory("m")
    assert_type(await memory.start(max_tokens=1), Session)
    assert_type(await memory.put("text"), models.PutAnswer)
    assert_type(memory.list_records(), AsyncPages[models.Record, models.RecordList])
    assert_type(memory.stream_events(), AsyncStream[models.Event])
    assert_type([record["reason"] async for record in memory.list_records()], list[str | None])
    await memory.put(3)  # type: ignore[arg-type]


def test_methods_show_their_arguments_and_what_they_are_for() -> None:
    with Client("http://127.0.0.1:9") as client:
        method = client.memory("v", "m").list_records
        assert method.__name__ == "list_records"
        assert "Only this kind" in (method.__doc__ or "")
        assert str(method.__signature__).startswith("(*, kind:")  # type: ignore[attr-defined]
        assert "Pages[models.Record" in str(method.__signature__)  # type: ignore[attr-defined]
        assert repr(client.vault("v")) == "Vault('v')"
        assert repr(client.vault("v").memory("m")) == "Memory('v', 'm')"
