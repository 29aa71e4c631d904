"""Sessions, edits and changes, with both clients."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from service import Service
from stub import Stub

from working_memory_client import (
    AsyncClient,
    Client,
    CollapseError,
    ConflictError,
    InvalidError,
    Memory,
    NotFoundError,
    NotModifiedError,
    PreconditionFailedError,
    StillWaitingError,
    archive,
    learn,
    mark,
    merge,
    progress,
    response_of,
    snippet,
)

MESSAGES = [
    {"role": "user", "content": "Remember: always run the tests on Windows too."},
    {"role": "assistant", "content": "Root cause: git turns LF into CRLF on checkout, so I pinned line ends."},
]
RECORD: Any = {"intent": "Pass on Windows", "summary": "Pinned line ends.", "task_id": "t-1", "goal": "ship"}


def awaited(service: Service, vault: str, play: Callable[[Any], Any]) -> Any:
    """What comes of it with the asynchronous client."""

    async def run() -> Any:
        async with AsyncClient(service.url) as client:
            return await play(client.memory(vault, "agent-1"))

    return asyncio.run(run())


def test_a_first_session_begins_empty(memory: Memory) -> None:
    session = memory.start(max_tokens=1000)
    assert session.first
    assert (session.prompt, session.handoff, str(session)) == ("", "", "")
    assert memory.start(refresh=True).first


def test_what_one_session_ends_with_the_next_begins_with(memory: Memory) -> None:
    done = memory.finish("Make the tests pass on Windows", MESSAGES, record=RECORD)
    assert done["status"] == "applied"
    session = memory.start(max_tokens=1000)
    assert "Always run the tests on Windows" in session.prompt
    assert "T-1" in session.handoff
    assert session.prompt in str(session)
    assert session.handoff.strip() in str(session)
    assert 0 < session.receipt["tokens"] <= 1000
    assert len(memory.start(max_tokens=40).prompt) < len(session.prompt)
    again = memory.finish("Make the tests pass on Windows", MESSAGES, record=RECORD)
    assert again["status"] == "unchanged", "an equal task_id is a repeat"
    with pytest.raises(NotFoundError):
        memory.records.get("T-2")


def test_a_session_with_nothing_to_keep_makes_nothing(memory: Memory) -> None:
    assert memory.finish("Hm", [{"role": "user", "content": "Hello?"}])["operations"] is not None
    assert memory.start().handoff is not None


def test_sessions_can_be_awaited(service: Service, vault: str) -> None:
    async def play(memory: Any) -> Any:
        first = await memory.start()
        await memory.finish("Make the tests pass on Windows", MESSAGES, record=RECORD)
        return first.first, str(await memory.start(query="windows"))

    first, text = awaited(service, vault, play)
    assert first
    assert "Windows" in text


def test_edits_name_their_reasons(memory: Memory) -> None:
    memory.edit(
        learn("commit the prepared query data", because="CI has no database"),
        snippet("Makefile test target", "test:\n\tcargo test", because="the next step edits it"),
        progress(["Wire the parser"], completed=["Wrote it"], remaining=["Benchmarks"]),
    )
    assert "test:\n  \tcargo test" in memory.get()["context"]
    memory.edit(learn("CI starts its own database", because="it does since today", replaces="KL-1"))
    memory.edit(mark("KL-2", because="it stays", pinned=True, until="2030-01-31"))
    assert memory.records.get("KL-2")["until"] == "2030-01-31"
    memory.edit(mark("KL-2", because="it need not", pinned=False, until="never"))
    memory.edit(archive("VC-1", because="it is done"))
    assert memory.records.get("KL-1")["superseded_by"] == "KL-2"
    assert memory.records.get("VC-1")["archive_reason"] == "it is done"
    memory.edit(learn("CI needs Docker 27", because="it failed"), learn("CI needs 8 GB", because="it failed"))
    memory.edit(merge(["KL-3", "KL-4"], "CI needs Docker 27, and CI needs 8 GB", because="one runner"))
    assert memory.records.get("KL-5")["supersedes"] == ["KL-3", "KL-4"]
    memory.edit(learn("CI needs Docker 27 and more, and CI needs 8 GB", because="it failed"))
    memory.edit(archive("KL-5", because="the same", duplicate_of="KL-6"))
    assert [entry["version"] for entry in memory.log()] == [9, 8, 7, 6, 5, 4, 3, 2, 1]


def test_a_faulty_edit_changes_nothing_and_says_what_is_wrong(memory: Memory) -> None:
    memory.put("# Notes\n")
    good = learn("a good one, this is", because="it is right")
    with pytest.raises(InvalidError, match="KL-99 never existed") as refused:
        memory.edit(good, archive("KL-99", because="gone"))
    assert [one["kind"] for one in refused.value.rejected] == ["unknown_id"]
    assert refused.value.update_id is not None
    assert memory.get()["context"] == "# Notes\n"
    partly = memory.edit(good, archive("KL-99", because="gone"), partly=True)
    assert [one["kind"] for one in partly["rejected"]] == ["unknown_id"]
    assert memory.records.get("KL-1")["content"] == "a good one, this is"
    assert memory.edit(archive("KL-1", because="x"), dry_run=True)["status"] == "dry_run"
    with pytest.raises(PreconditionFailedError):
        memory.edit(archive("KL-1", because="x"), if_match="another")


def test_changes_of_many_lose_nothing(service: Service, client: Client, vault: str) -> None:
    def add(number: int) -> None:
        client.memory(vault, "agent-1").change(lambda text: f"{text}- {number}\n")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def play(memory: Any) -> None:
        await asyncio.gather(*(memory.change(lambda text, n=n: f"{text}- {n}\n") for n in range(4, 8)))

    awaited(service, vault, play)
    assert sorted(client.memory(vault, "agent-1").get()["context"].split()) == sorted(
        ["-"] * 8 + [str(n) for n in range(8)]
    )


def test_a_change_that_never_gets_through_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    context = {"context": "a", "context_id": "c", "version": 1}
    moved_on: dict[str, Any] = {"status": 412, "problem": "precondition-failed", "members": {"current": "d"}}
    script: list[Any] = [{"json": context}, moved_on] * 50
    with Stub(script) as stub, Client(stub.url) as client, pytest.raises(PreconditionFailedError) as moved:
        client.memory("v", "m").change(str.upper)
    assert moved.value.current == "d"
    assert len(stub.seen) == 20
    assert len(set(pauses)) == 9
    assert max(pauses) <= 1


def test_versions_are_named_by_their_context_id(memory: Memory) -> None:
    first = memory.put("one")
    second = memory.put("two", if_match=first["context_id"])
    with pytest.raises(PreconditionFailedError) as stale:
        memory.put("three", if_match=first["context_id"])
    assert stale.value.current == second["context_id"]
    assert (stale.value.status, stale.value.kind) == (412, "precondition-failed")
    assert str(stale.value.request_id) in str(stale.value)


def test_a_version_that_is_known_is_not_sent_again(memory: Memory) -> None:
    first = memory.put("one")
    read = response_of(memory.get())
    assert read is not None
    for known in (first["context_id"], f'"{first["context_id"]}"', read.etag):
        with pytest.raises(NotModifiedError):
            memory.get(if_none_match=known)
    memory.put("two")
    assert memory.get(if_none_match=first["context_id"])["version"] == 2


def test_responses_are_there_for_who_wants_them(memory: Memory) -> None:
    put, again = (memory.put("text", idempotency_key="k-1") for _ in range(2))
    first, second = response_of(put), response_of(again)
    assert first is not None
    assert second is not None
    assert (first.status, first.version, first.replayed, first.etag) == (201, 1, False, f'"{put["context_id"]}"')
    assert second.replayed
    assert again == put
    assert first.request_id != second.request_id
    assert response_of("text") is None


def test_the_service_searches(memory: Memory) -> None:
    memory.edit(learn("Caches need 50 MB", because="it was measured"), learn("Tests run on CI", because="they must"))
    memory.edit(archive("KL-2", because="moved"))
    assert [one["record_id"] for one in memory.search("mb CACHES", consistent=True)] == ["KL-1"]
    assert list(memory.search("tests", kind="KL")) == []
    assert [one["record_id"] for one in memory.search("tests", status="archived")] == ["KL-2"]


def test_an_update_can_be_run_later_and_waited_for(memory: Memory, service: Service, vault: str) -> None:
    run = memory.updates.queue("Remember: I prefer tea to coffee", idempotency_key="q-1")
    assert run["status"] == "queued"
    assert memory.updates.wait(run["update_id"], seconds=30)["status"] == "applied"
    assert memory.updates.queue("Remember: I prefer tea to coffee", idempotency_key="q-1") == run

    async def play(other: Any) -> Any:
        return (await other.updates.wait(run["update_id"]))["version"]

    assert awaited(service, vault, play) == 1


def test_waiting_has_an_end() -> None:
    with Stub([{"json": {"status": "running"}}]) as stub, Client(stub.url) as client:
        memory = client.memory("v", "m")
        with pytest.raises(StillWaitingError, match="still running"):
            memory.updates.wait("u", seconds=0.2)
    assert len(stub.seen) >= 2


def test_a_queued_update_is_called_off_and_a_collapse_is_meant() -> None:
    """With a service that runs nothing later, and that refuses puts which lose much."""
    settings = {"WORKING_MEMORY__PIPELINE__QUEUE__WORKERS": "0", "WORKING_MEMORY__GUARD__COLLAPSE": "reject"}
    with Service(**settings) as service, Client(service.url) as client:
        memory = client.memory("v", "m")
        run = memory.updates.queue("Remember: nobody runs this")
        assert memory.updates.cancel(run["update_id"])["status"] == "cancelled"
        with pytest.raises(ConflictError) as decided:
            memory.updates.cancel(run["update_id"])
        assert decided.value.run_status == "cancelled"
        memory.put("# Notes\n" + "- a line that matters\n" * 50)
        with pytest.raises(CollapseError):
            memory.put("oops")
        assert memory.put("oops", confirm="collapse")["version"] == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_client_may_be_used_on_both_sides_of_a_fork(client: Client, vault: str) -> None:
    def wrong(name: str) -> int:
        memory = client.memory(vault, name)
        read = [memory.get()["context"] for _ in range(50)] + [memory.start().prompt for _ in range(3)]
        return sum(name not in text for text in read)

    for name in ("parent", "child"):
        client.memory(vault, name).put(f"# {name}\n")
        assert wrong(name) == 0
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            os._exit(wrong("child"))
        finally:
            os._exit(99)
    try:
        assert wrong("parent") == 0
    finally:
        _, status = os.waitpid(child, 0)
    assert status == 0


def test_one_client_serves_many_threads(client: Client, vault: str) -> None:
    def work(number: int) -> None:
        memory = client.memory(vault, f"m-{number}")
        for turn in range(5):
            assert memory.put(f"turn {turn}")["version"] == turn + 1
            assert memory.get()["context"] == f"turn {turn}"

    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as failure:
            failed.append(failure)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
