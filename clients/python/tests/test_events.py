"""Streams: against the real service, over its end, and from a server that does its worst."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import Any

import pytest
from service import Service
from stub import Stub

from working_memory_client import (
    AsyncClient,
    Client,
    ConnectionFailedError,
    Memory,
    ModelError,
    WorkingMemoryError,
    _retry,
)


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_retry, "FIRST", 0.05)
    monkeypatch.setattr(_retry, "LONGEST", 0.2)


def test_events_of_the_service_come_in_order(memory: Memory, client: Client, vault: str) -> None:
    memory.put("one")
    client.memory(vault, "other").put("text")
    with memory.events(kinds=["version"], last_event_id="0") as events:
        assert next(events)["version"] == 1
        memory.put("two")
        assert next(events)["version"] == 2
        place = events._reading.source.last_event_id  # type: ignore[attr-defined]
    memory.put("three")
    with client.vault(vault).events(last_event_id=place) as events:
        assert next(events)["version"] == 3


def test_a_stream_from_now_on_tells_nothing_old(memory: Memory) -> None:
    memory.put("old")
    found: list[int | None] = []
    with memory.events() as events:
        reader = threading.Thread(target=lambda: found.append(next(events)["version"]))
        reader.start()
        until = time.monotonic() + 30
        number = 1
        while reader.is_alive() and time.monotonic() < until:
            number = memory.put(f"new {number}")["version"]
            reader.join(0.2)
    assert found
    assert found[0] != 1


def test_a_stream_of_a_new_vault_is_open(client: Client, vault: str) -> None:
    with client.vault(vault).events(last_event_id="0") as events:
        client.memory(vault, "m").put("text")
        assert next(events)["memory_id"] == "m"


def test_nothing_is_missed_while_the_service_is_away() -> None:
    """The service is killed and started again while both clients read."""
    with Service() as service, Client(service.url, retries=600) as client:
        memory = client.memory("v", "m")
        found: list[int | None] = []

        def read() -> None:
            with memory.events(last_event_id="0") as events:
                while len(found) < 6:
                    found.append(next(events)["version"])

        async def read_too() -> list[int | None]:
            async with (
                AsyncClient(service.url, retries=600) as other,
                other.vault("v").events(last_event_id="0") as events,
            ):
                return [(await anext(events))["version"] for _ in range(6)]

        others: list[list[int | None]] = []
        readers = [
            threading.Thread(target=read),
            threading.Thread(target=lambda: others.append(asyncio.run(read_too()))),
        ]
        for reader in readers:
            reader.start()
        for number in range(6):
            if number == 3:
                service.stop(kill=True)
                service.start()
            memory.put(f"text {number}")
        for reader in readers:
            reader.join(60)
        assert found == [1, 2, 3, 4, 5, 6]
        assert others == [[1, 2, 3, 4, 5, 6]]


def test_an_update_can_be_watched(memory: Memory, service: Service, vault: str) -> None:
    steps = list(memory.updates.watch("Remember: always use tabs in Makefiles"))
    assert [steps[0].name, steps[-1].name] == ["started", "done"]
    assert steps[0].details["update_id"] == steps[-1].details["update_id"]
    assert {step.details["role"] for step in steps if step.name == "answered"} == {"progress", "learnings", "verbatim"}
    last = steps[-1].answer
    assert last is not None
    assert last["status"] == "applied"
    assert all(step.answer is None for step in steps[:-1])

    async def watch() -> list[str]:
        async with AsyncClient(service.url) as client:
            return [step.name async for step in client.memory(vault, "m").updates.watch("Never use blanks there")]

    assert asyncio.run(watch())[-1] == "done"


STARTED = 'event: started\ndata: {"update_id": "u-7"}\n\n'


def test_a_watched_update_has_the_callers_key() -> None:
    with Stub([{"stream": ["event: done\ndata: {}\n\n"]}]) as stub, Client(stub.url) as client:
        assert [step.name for step in client.memory("v", "m").updates.watch("t", idempotency_key="k")] == ["done"]
    assert stub.seen[0].headers["idempotency-key"] == "k"


def test_a_watched_update_that_fails_says_so() -> None:
    members = {"type": "urn:working-memory:problem:model-failed", "title": "t", "status": 502, "detail": "no model"}
    failed = f"event: problem\ndata: {json.dumps(members)}\n\n"
    with Stub([{"stream": [STARTED, failed]}]) as stub, Client(stub.url, actor="ann") as client:
        with pytest.raises(ModelError, match="no model"):
            list(client.memory("v", "m").updates.watch("t"))
        assert "idempotency-key" not in stub.seen[0].headers
        assert stub.seen[0].headers["x-actor-id"] == "ann"


def test_a_watched_update_whose_connection_ends_names_its_run_and_is_not_asked_again() -> None:
    scripts: list[dict[str, Any]] = [{"stream": [STARTED]}, {"cut": 1}, {"status": 503, "json": {}}]
    for line in scripts:
        with Stub([line]) as stub, Client(stub.url) as client, pytest.raises(WorkingMemoryError):
            list(client.memory("v", "m").updates.watch("t"))
        assert len(stub.seen) == 1
    with Stub(scripts) as stub, Client(stub.url) as client, pytest.raises(ConnectionFailedError, match="u-7"):
        list(client.memory("v", "m").updates.watch("t"))
