"""Streams: against the real service, over its end, and from a server that does its worst."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import Any

import pytest
from service import Service
from stub import Seen, Stub, answer, cut, problem, silent, stream

from working_memory_client import (
    AsyncClient,
    Client,
    ConnectionFailed,
    EventsLost,
    Forbidden,
    InvalidAnswer,
    Memory,
    ModelFailed,
    Retry,
    WorkingMemoryError,
)
from working_memory_client._sse import Decoder

FAST = Retry(attempts=3, first=0.001, longest=0.002)


def event(number: int, **members: Any) -> bytes:
    value = {"id": f"{number}-aa", "kind": "version", "version": number, **members}
    return f"id: {number}-aa\nevent: version\ndata: {json.dumps(value)}\n\n".encode()


def reset(number: int) -> bytes:
    data = json.dumps({"detail": "not kept any more", "last_event_id": f"{number}-aa"})
    return f"id: {number}-aa\nevent: reset\ndata: {data}\n\n".encode()


def places(seen: list[Seen]) -> list[str]:
    return [one.headers.get("last-event-id", "") for one in seen]


def read_both(script: list[Any], count: int, **options: Any) -> list[tuple[list[Any], list[Seen]]]:
    """What comes of a stream with either client: versions, and at last an exception if there is one."""
    return [(run(stub_url_script, count, options)) for run in (_sync, _async) for stub_url_script in [script]]


def _sync(script: list[Any], count: int, options: dict[str, Any]) -> tuple[list[Any], list[Seen]]:
    found: list[Any] = []
    with Stub(script) as stub, Client(stub.url, retry=FAST, timeout=0.3) as client:
        events = client.stream_events("v", **options)
        while len(found) < count:
            try:
                found.append(next(events)["version"])
            except WorkingMemoryError as failure:
                found.append(failure)
        events.close()
    return found, stub.seen


def _async(script: list[Any], count: int, options: dict[str, Any]) -> tuple[list[Any], list[Seen]]:
    found: list[Any] = []

    async def run(url: str) -> None:
        async with AsyncClient(url, retry=FAST, timeout=0.3) as client:
            events = client.stream_events("v", **options)
            while len(found) < count:
                try:
                    found.append((await anext(events))["version"])
                except WorkingMemoryError as failure:
                    found.append(failure)
            await events.close()

    with Stub(script) as stub:
        asyncio.run(run(stub.url))
    return found, stub.seen


def test_a_stream_that_ends_is_taken_up_where_it_was() -> None:
    script = [
        stream(event(1), event(2)),
        cut,
        problem(503, "unavailable"),
        stream(event(3)[:-1]),
        stream(event(3), event(4)),
    ]
    for found, seen in read_both(script, 4, last_event_id="0"):
        assert found == [1, 2, 3, 4], "half an event is none"
        assert places(seen) == ["0", "2-aa", "2-aa", "2-aa", "2-aa"]


def test_without_a_place_it_begins_now_and_keeps_its_place_from_the_start() -> None:
    script = [stream(b"retry: 1\nid: 7-aa\n\n"), cut, stream(event(8))]
    for found, seen in read_both(script, 1):
        assert found == [8]
        assert places(seen) == ["", "7-aa", "7-aa"]


def test_lost_events_are_told_and_the_stream_goes_on() -> None:
    script = [stream(event(1)), stream(reset(9), event(10))]
    for found, _ in read_both(script, 3, last_event_id="0"):
        assert found[0] == 1
        assert isinstance(found[1], EventsLost)
        assert found[1].last_event_id == "9-aa"
        assert found[2] == 10


def test_patience_ends_only_if_nothing_comes() -> None:
    for found, seen in read_both([stream(event(1)), cut], 2, last_event_id="0"):
        assert isinstance(found[1], ConnectionFailed)
        assert len(seen) == 1 + 3
    script = [one for number in range(1, 9) for one in (stream(event(number)), cut)]
    for found, _ in read_both(script, 8, last_event_id="0"):
        assert found == list(range(1, 9))


def test_what_is_refused_is_raised_at_once() -> None:
    for found, seen in read_both([problem(403, "forbidden")], 1, last_event_id="0"):
        assert isinstance(found[0], Forbidden)
        assert len(seen) == 1


def test_retry_after_is_honoured() -> None:
    began = time.monotonic()
    script = [problem(503, "unavailable", headers={"Retry-After": "1"}), stream(event(1))]
    assert _sync(script, 1, {"last_event_id": "0"})[0] == [1]
    assert time.monotonic() - began >= 1


def test_slow_pieces_make_whole_events() -> None:
    whole = event(1, details={"text": "a\u2028b\x85c"}) + event(2)
    pieces = [whole[start : start + 1] for start in range(len(whole))]
    for found, _ in read_both([stream(*pieces)], 2, last_event_id="0"):
        assert found == [1, 2]


def test_an_event_that_cannot_be_read_is_no_end() -> None:
    for found, _ in read_both([stream(b"data: {\n\n", event(2))], 2, last_event_id="0"):
        assert isinstance(found[0], InvalidAnswer)
        assert found[1] == 2


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_lines_end_in_every_way(end: bytes, size: int) -> None:
    lines = b": hello|retry: 2000|id:0||id:1|event: a|data: x|data:  y||data: z|||data"
    text = lines.replace(b"|", end)
    decoder, found = Decoder(), []
    for start in range(0, len(text), size):
        found += decoder.feed(text[start : start + size])
    found += decoder.feed(end)
    assert [(one.name, one.data, one.id) for one in found] == [
        ("message", "", "0"),
        ("a", "x\n y", "1"),
        ("message", "z", "1"),
    ]
    assert decoder.retry_seconds == 2.0


def test_events_of_the_service_come_in_order(memory: Memory, client: Client, vault: str) -> None:
    memory.put("one")
    client.put_context(vault, "other", "text")
    with memory.stream_events(kinds=["version"], last_event_id="0") as events:
        assert next(events)["version"] == 1
        memory.put("two")
        assert next(events)["version"] == 2
        place = events._reading.source.last_event_id  # type: ignore[attr-defined]
    memory.put("three")
    with client.stream_events(vault, last_event_id=place) as events:
        assert next(events)["version"] == 3


def test_a_stream_from_now_on_tells_nothing_old(memory: Memory) -> None:
    memory.put("old")
    found: list[int | None] = []
    with memory.stream_events() as events:
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
    with client.stream_events(vault, last_event_id="0") as events:
        client.put_context(vault, "m", "text")
        assert next(events)["memory_id"] == "m"


def test_nothing_is_missed_while_the_service_is_away() -> None:
    """The service is killed and started again while both clients read."""
    with Service() as service, Client(service.url, retry=Retry(attempts=600, first=0.05, longest=0.2)) as client:
        memory = client.memory("v", "m")
        found: list[int | None] = []

        def read() -> None:
            with memory.stream_events(last_event_id="0") as events:
                while len(found) < 6:
                    found.append(next(events)["version"])

        async def read_too() -> list[int | None]:
            patient = Retry(attempts=600, first=0.05, longest=0.2)
            async with (
                AsyncClient(service.url, retry=patient) as other,
                other.vault("v").stream_events(last_event_id="0") as events,
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
    steps = list(memory.watch_update(task="Remember: always use tabs in Makefiles"))
    assert [steps[0].name, steps[-1].name] == ["started", "done"]
    assert steps[0].details["update_id"] == steps[-1].details["update_id"]
    assert {step.details["role"] for step in steps if step.name == "answered"} == {"progress", "learnings", "verbatim"}
    last = steps[-1].answer
    assert last is not None
    assert last["status"] == "applied"
    assert all(step.answer is None for step in steps[:-1])

    async def watch() -> list[str]:
        async with AsyncClient(service.url) as client:
            return [step.name async for step in client.memory(vault, "m").watch_update(task="Never use blanks there")]

    assert asyncio.run(watch())[-1] == "done"


def test_a_watched_update_that_fails_says_so() -> None:
    members = {"type": "urn:working-memory:problem:model-failed", "title": "t", "status": 502, "detail": "no model"}
    failed = b"event: problem\ndata: " + json.dumps(members).encode() + b"\n\n"
    script = [stream(b'event: started\ndata: {"update_id": "u"}\n\n', failed)]
    with Stub(script) as stub, Client(stub.url) as client:
        with pytest.raises(ModelFailed, match="no model"):
            list(client.memory("v", "m").watch_update(task="t"))
        assert "idempotency-key" not in stub.seen[0].headers


def test_a_watched_update_whose_connection_ends_names_its_run_and_is_not_asked_again() -> None:
    for script in ([stream(b'event: started\ndata: {"update_id": "u-7"}\n\n')], [cut], [silent(2)], [answer(503, {})]):
        with Stub(script) as stub, Client(stub.url, retry=FAST) as client, pytest.raises(WorkingMemoryError):
            list(client.memory("v", "m").watch_update(task="t"))
        assert len(stub.seen) == 1
    script = [stream(b'event: started\ndata: {"update_id": "u-7"}\n\n')]
    with Stub(script) as stub, Client(stub.url, retry=FAST) as client, pytest.raises(ConnectionFailed, match="u-7"):
        list(client.memory("v", "m").watch_update(task="t"))
