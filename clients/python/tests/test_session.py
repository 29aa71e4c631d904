"""Sessions, edits and changes, with both clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from service import Service
from stub import Stub, answer, cut, problem

from working_memory_client import (
    AsyncClient,
    Client,
    Collapse,
    Conflict,
    Invalid,
    Memory,
    NotFound,
    PreconditionFailed,
    Retry,
    StillWaiting,
    archive,
    learn,
    operations,
    progress,
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
    assert "always run the tests on Windows" in session.prompt
    assert "T-1" in session.handoff
    assert session.prompt in str(session)
    assert session.handoff.strip() in str(session)
    assert 0 < session.receipt["tokens"] <= 1000
    assert len(memory.start(max_tokens=40).prompt) < len(session.prompt)
    again = memory.finish("Make the tests pass on Windows", MESSAGES, record=RECORD)
    assert again["status"] == "unchanged", "an equal task_id is a repeat"
    with pytest.raises(NotFound):
        memory.get_record("T-2")


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
    assert "test:\n  \tcargo test" in memory.get()
    memory.edit(learn("CI starts its own database", because="it does since today", replaces="KL-1"))
    memory.edit(archive("VC-1", because="it is done"))
    assert memory.get_record("KL-1")["superseded_by"] == "KL-2"
    assert memory.get_record("VC-1")["archive_reason"] == "it is done"
    assert [entry["version"] for entry in memory.history()] == [3, 2, 1]


def test_a_faulty_edit_changes_nothing_and_says_what_is_wrong(memory: Memory) -> None:
    memory.put("# Notes\n")
    good = learn("a good one, this is", because="it is right")
    with pytest.raises(Invalid, match="KL-99 never existed") as refused:
        memory.edit(good, archive("KL-99", because="gone"))
    assert [one["kind"] for one in refused.value.rejected] == ["unknown_id"]
    assert refused.value.update_id is not None
    assert memory.get() == "# Notes\n"
    partly = memory.edit(good, archive("KL-99", because="gone"), partly=True)
    assert [one["kind"] for one in partly["rejected"]] == ["unknown_id"]
    assert memory.get_record("KL-1")["content"] == "a good one, this is"
    assert memory.edit(archive("KL-1", because="x"), dry_run=True)["status"] == "dry_run"
    with pytest.raises(PreconditionFailed):
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
    assert sorted(client.memory(vault, "agent-1").get().split()) == sorted(["-"] * 8 + [str(n) for n in range(8)])


def test_a_change_that_never_gets_through_ends() -> None:
    context = {"context": "a", "context_id": "c", "version": 1}
    script = [answer(200, context), problem(412, "precondition-failed", current="d")] * 50
    with Stub(script) as stub, Client(stub.url) as client, pytest.raises(PreconditionFailed) as moved:
        client.memory("v", "m").change(str.upper)
    assert moved.value.current == "d"
    assert len(stub.seen) == 20


def test_versions_are_named_by_their_context_id(memory: Memory) -> None:
    first = memory.put("one")
    second = memory.put("two", if_match=first["context_id"])
    with pytest.raises(PreconditionFailed) as stale:
        memory.put("three", if_match=first["context_id"])
    assert stale.value.current == second["context_id"]
    assert (stale.value.status, stale.value.kind) == (412, "precondition-failed")
    assert str(stale.value.request_id) in str(stale.value)


def test_headers_are_there_for_who_wants_them(client: Client, vault: str) -> None:
    call = operations.contexts.put_context(vault, "m", "text", idempotency_key="k-1")
    first, again = client.answer(call), client.answer(call)
    assert (first.status, first.version, first.replayed) == (201, 1, False)
    assert first.etag == f'"{first.value["context_id"]}"'
    assert again.replayed
    assert again.value == first.value
    assert again.request_id != first.request_id


def test_records_are_searched_by_words(memory: Memory) -> None:
    memory.edit(learn("Caches need 50 MB", because="it was measured"), learn("Tests run on CI", because="they must"))
    memory.edit(archive("KL-2", because="moved"))
    assert [one["record_id"] for one in memory.search("mb CACHES")] == ["KL-1"]
    assert memory.search("tests") == []
    assert [one["record_id"] for one in memory.search("tests", archived=True)] == ["KL-2"]


def test_an_update_can_be_run_later_and_waited_for(memory: Memory, service: Service, vault: str) -> None:
    run = memory.queue_update(task="Remember: I prefer tea to coffee", idempotency_key="q-1")
    assert run["status"] == "queued"
    assert memory.wait_for(run["update_id"], seconds=30)["status"] == "applied"
    assert memory.queue_update(task="Remember: I prefer tea to coffee", idempotency_key="q-1") == run

    async def play(other: Any) -> Any:
        return (await other.wait_for(run["update_id"]))["version"]

    assert awaited(service, vault, play) == 1


def test_waiting_has_an_end() -> None:
    with Stub([answer(200, {"status": "running"})]) as stub, Client(stub.url) as client:
        memory = client.memory("v", "m")
        with pytest.raises(StillWaiting, match="still running"):
            memory.wait_for("u", seconds=0.2)
    assert len(stub.seen) >= 2


def test_a_queued_update_is_called_off_and_a_collapse_is_meant() -> None:
    """With a service that runs nothing later, and that refuses puts which lose much."""
    settings = {"WORKING_MEMORY__PIPELINE__QUEUE__WORKERS": "0", "WORKING_MEMORY__GUARD__COLLAPSE": "reject"}
    with Service(**settings) as service, Client(service.url) as client:
        memory = client.memory("v", "m")
        run = memory.queue_update(task="Remember: nobody runs this")
        assert memory.cancel_update(run["update_id"])["status"] == "cancelled"
        with pytest.raises(Conflict) as decided:
            memory.cancel_update(run["update_id"])
        assert decided.value.run_status == "cancelled"
        memory.put("# Notes\n" + "- a line that matters\n" * 50)
        with pytest.raises(Collapse):
            memory.put("oops")
        assert memory.put("oops", confirm="collapse")["version"] == 2


def test_with_options_changes_this_client_alone() -> None:
    with Stub([cut]) as stub, Client(stub.url, retry=Retry(attempts=1)) as client:
        patient = client.with_options(retry=Retry(attempts=4, first=0.001))
        for one, count in ((client, 1), (patient, 4)):
            before = len(stub.seen)
            with pytest.raises(Exception, match="GetHealth"):
                one.get_health()
            assert len(stub.seen) - before == count
        patient.close()
        with pytest.raises(Exception, match="GetHealth"):
            client.get_health()


def test_one_client_serves_many_threads(client: Client, vault: str) -> None:
    def work(number: int) -> None:
        memory = client.memory(vault, f"m-{number}")
        for turn in range(5):
            assert memory.put(f"turn {turn}")["version"] == turn + 1
            assert memory.get() == f"turn {turn}"

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
