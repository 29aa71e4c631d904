"""Every operation against the real service, with both clients; each answer is held to the document."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import document
import httpx
import pytest
from service import Service

from working_memory_client import AsyncClient, AsyncPages, Client, NotFoundError, Pages, PreconditionFailedError, learn

# Those of keys are in test_keys.py, a run that is cancelled while it waits is in test_session.py.
ELSEWHERE = {"CreateKey", "RotateKey", "GetKey", "RevokeKey", "CancelUpdate"}


def collected(found: Any) -> Any:
    """What a call of the client that waits returned: of a list, all its entries."""
    return list(found) if isinstance(found, Pages) else found


class Blocking:
    """Waits for what calls of the asynchronous client return, so that one scenario serves both."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def __call__(self, found: Any) -> Any:
        return self._loop.run_until_complete(self._collected(found) if isinstance(found, AsyncPages) else found)

    async def _collected(self, pages: AsyncPages[Any, Any]) -> list[Any]:
        return [entry async for entry in pages]


class Record:
    """What was answered."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, str, int, str, bytes]] = []

    def sync(self, response: httpx.Response) -> None:
        response.read()
        self._keep(response)

    async def hook(self, response: httpx.Response) -> None:
        await response.aread()
        self._keep(response)

    def _keep(self, response: httpx.Response) -> None:
        kind = response.headers.get("content-type", "").partition(";")[0]
        request = response.request
        self.answers.append((request.method, request.url.path, response.status_code, kind, response.content))

    def faults(self) -> set[str]:
        found = set()
        for method, path, status, kind, content in self.answers:
            if kind in ("application/json", "application/problem+json"):
                found.add(document.fault_of_answer(method, path, status, kind, json.loads(content)) or "")
        return found - {""}

    def succeeded(self) -> set[str]:
        answered = [one for one in self.answers if one[2] < 300]
        return {document.operation_of(method, path)[2]["operationId"] for method, path, *_ in answered}


Recorded = tuple[Any, Record, Callable[[Any], Any]]


@pytest.fixture(params=["sync", "async"])
def recorded(request: pytest.FixtureRequest, service: Service) -> Iterator[Recorded]:
    record = Record()
    if request.param == "sync":
        with httpx.Client(event_hooks={"response": [record.sync]}) as http:
            yield Client(service.url, http=http), record, collected
        return
    loop = asyncio.new_event_loop()
    waiting = httpx.AsyncClient(event_hooks={"response": [record.hook]})
    yield AsyncClient(service.url, http=waiting), record, Blocking(loop)
    loop.run_until_complete(waiting.aclose())
    loop.close()


def scenario(client: Any, name: str, play: Callable[[Any], Any]) -> None:
    """Calls everything once, and looks at what it says."""
    vault = client.vault(name)
    memory = vault.memory("agent-1")
    first = play(memory.put("# Description\nA parser.\n", actor="ann", if_none_match="*"))
    assert (first["version"], first["actor_id"], first["unchanged"]) == (1, "ann", False)
    with pytest.raises(PreconditionFailedError) as stale:
        play(memory.put("x", if_match="not-this-one"))
    assert stale.value.current == first["context_id"]
    added = play(memory.edit(learn("commit the query data", because="CI has none"), if_match=first["context_id"]))
    assert (added["status"], added["operations"][0]["id"]) == ("applied", "KL-1")
    text = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because done"
    assert play(memory.edit(text, dry_run=True))["status"] == "dry_run"
    assert play(memory.get())["version"] == 2
    assert "KL-1" in play(memory.get(section="learnings", fresh=True))["context"]
    past = datetime.now(timezone.utc) - timedelta(seconds=0.001)
    assert play(memory.get(as_of=past))["version"] in (1, 2)
    assert play(memory.versions.get(1))["context"] == "# Description\nA parser.\n"
    assert [one["version"] for one in play(memory.versions.list(limit=1))] == [2, 1]
    diff = play(memory.versions.diff(2, base=1))
    assert diff["records"]["added"][0]["record_id"] == "KL-1"
    assert diff["diff"].startswith("---")
    assert play(memory.blame())["lines"][0]["actor_id"] == "ann"
    assert play(memory.sections())[0]["title"] == "Description"
    assert [one["version"] for one in play(memory.log())] == [2, 1]
    assert [one["record_id"] for one in play(memory.records.list(kind="KL"))] == ["KL-1"]
    assert play(memory.records.get("KL-1", history=True))["history"][0]["change"] == "added"
    updates(vault, memory, play)
    window(memory, play)
    for scope in (memory, vault):
        items(scope, play)
    receipt = play(memory.prompt(exclude=["datetime", "free"], max_tokens=4000, query="parser"))
    assert "datetime" not in [part["name"] for part in receipt["parts"]]
    content = play(memory.items.get_prompt_content(include="datetime", timezone="Europe/Berlin"))
    assert content.startswith("Current date")
    assert play(memory.versions.restore(1, reason="start over"))["unchanged"] is False
    assert play(memory.versions.redact(1, reason="a password"))["redacted"] is True
    assert play(memory.info())["memory_id"] == "agent-1"
    assert [one["memory_id"] for one in play(vault.memories.list(prefix="agent", sort="bytes"))] == ["agent-1"]
    assert name in [one["vault_id"] for one in play(client.vaults.list(limit=500))]
    for scope in (vault, memory):
        assert {one["memory_id"] for one in play(scope.search("parser", consistent=True))} == {"agent-1"}
    assert {one["model"] for one in play(vault.usage())} == {"extractive"}
    path = f"/v1/vaults/{name}/memories/agent-1/consolidate"
    consolidated = play(client.request("POST", path, body={"mode": "apply"}))
    assert consolidated.value["status"] == "unchanged"
    files(vault, play)
    assert play(memory.delete()) is None
    assert "#" in play(client.guidance())
    assert play(client.keys.list()) == []
    other(client, name, play)


def other(client: Any, name: str, play: Callable[[Any], Any]) -> None:
    """What has no method is reached by `request`."""
    for path, said in (("/healthz", "ok"), ("/readyz", "ready"), ("/metrics", "#"), ("/openapi.yaml", "openapi")):
        assert said in play(client.request("GET", path)).value
    ping = play(client.request("POST", "/mcp", body={"jsonrpc": "2.0", "id": 1, "method": "ping"}))
    assert (ping.value["id"], ping.status) == (1, 200)
    events = play(
        client.request(
            "GET",
            f"/v1/vaults/{name}/events",
            query={"last_event_id": "0", "limit": 100},
            headers={"Accept": "application/json"},
        )
    )
    assert {"version", "proposed", "approved", "rejected"} <= {one["kind"] for one in events.value["items"]}
    with pytest.raises(NotFoundError):
        play(client.request("GET", f"/v1/vaults/{name}/memories/none"))


def updates(vault: Any, memory: Any, play: Callable[[Any], Any]) -> None:
    assert play(memory.update("Remember: the parser must never panic on any input"))["status"] == "applied"
    assert play(memory.updates.list())[0]["kind"] == "update"
    queued = play(memory.updates.queue("Remember: the parser is called every minute by the cron job"))
    assert queued["status"] == "queued"
    assert play(memory.updates.get(queued["update_id"]))["update_id"] == queued["update_id"]
    for number, decide in enumerate(("approve", "reject")):
        proposal = learn(f"caches need 50 MB in case {number}", because="it was measured")
        proposed = play(memory.edit(proposal, mode="propose"))["update_id"]
        assert [one["update_id"] for one in play(vault.updates.list(status="proposed"))] == [proposed]
        if decide == "approve":
            assert play(memory.updates.approve(proposed, comment="seen"))["status"] == "applied"
        else:
            assert play(memory.updates.reject(proposed, reason="no"))["status"] == "rejected"


def window(memory: Any, play: Callable[[Any], Any]) -> None:
    here = memory.window
    task = play(here.record_task("Add parser", "60 tests.", task_id="t-1", epic="dsl", outcome={"ok": 1}))
    assert task["record_id"] == "T-1"
    assert play(here.record_decision("SQL lives in storage", reason="one place"))["record_id"] == "D-1"
    assert play(here.set_status(goal="ship", blocker=None))["goal"] == "ship"
    assert play(here.set_status(blocker="CI"))["goal"] == "ship", "what is left out stays"
    assert play(here.set_status(goal=None))["goal"] is None, "None clears"
    assert play(here.get())["tasks"][0]["intent"] == "Add parser"
    assert "Add parser" in play(here.text())
    old = {"time": "2026-01-01T00:00:00Z", "intent": "Old work", "summary": "Done.", "epic": "old"}
    assert play(here.import_(history=[old]))["taken"]["history"] == 1
    assert [one["intent"] for one in play(here.history())] == ["Old work"]
    assert [one["name"] for one in play(here.epics(by="epic"))] == ["old"]
    handoffs = memory.handoffs
    made = play(handoffs.refresh(workspace={"branch": "main"}, window="PT6H"))
    assert play(handoffs.get())["handoff_id"] == made["handoff_id"]
    assert play(handoffs.status())["status"] == "fresh"
    assert [one["handoff_id"] for one in play(handoffs.list())] == [made["handoff_id"]]
    assert play(handoffs.get(made["handoff_id"]))["markdown"] == made["markdown"]


def items(scope: Any, play: Callable[[Any], Any]) -> None:
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    added = play(scope.items.add("Be brief.", "rules", expires_at=until, metadata={"from": "ann"}))
    assert play(scope.items.get(added["item_id"]))["content"] == "Be brief."
    assert [one["item_id"] for one in play(scope.items.list())] == [added["item_id"]]
    assert play(scope.items.replace("tone", ["kind", {"content": "short"}]))["unchanged"] is False
    assert play(scope.items.clear("tone")) == {"removed": 2}
    assert play(scope.items.remove(added["item_id"])) is None


def files(vault: Any, play: Callable[[Any], Any]) -> None:
    command = {"command": "create", "path": "/memories/a", "file_text": "tea"}
    assert play(vault.files.run(command, root="r"))["is_error"] is False
    tea = play(vault.files.put("green tea\n", root="r", path="/memories/a"))
    assert tea["unchanged"] is False
    assert [one["path"] for one in play(vault.files.list(root="r"))] == ["/memories/a"]
    assert play(vault.files.remove(root="r", path="/memories/a", if_match=tea["context_id"])) is None


def test_every_operation_answers_as_the_document_says(recorded: Recorded, vault: str) -> None:
    client, record, play = recorded
    scenario(client, vault, play)
    assert record.faults() == set()
    every = {one["operationId"] for _, _, one in document.operations()}
    assert every - record.succeeded() - ELSEWHERE == set()


def test_pages_follow_each_other_and_are_asked_for_one_by_one(recorded: Recorded, vault: str) -> None:
    client, record, play = recorded
    here = client.vault(vault)
    for number in range(5):
        play(here.memory(f"m-{number}").put("text"))
    before = len(record.answers)
    assert [one["memory_id"] for one in play(here.memories.list(limit=2))] == [f"m-{number}" for number in range(5)]
    assert len(record.answers) - before == 3


def test_a_list_can_be_left_early_begun_again_and_resumed(client: Client, vault: str) -> None:
    here = client.vault(vault)
    for number in range(3):
        here.memory(f"m-{number}").put("text")
    listing = here.memories.list(limit=1)
    assert next(iter(listing))["memory_id"] == "m-0"
    assert [one["memory_id"] for one in listing] == ["m-0", "m-1", "m-2"]
    cursor = listing.page()["next_cursor"]
    assert cursor is not None
    assert [one["memory_id"] for one in listing.after(cursor)] == ["m-1", "m-2"]
    assert [len(page["items"]) for page in listing.pages()] == [1, 1, 1]


@pytest.mark.parametrize("content", ["", " \n\t"])
def test_an_empty_item_is_a_value_error(client: Client, vault: str, content: str) -> None:
    memory = client.memory(vault, "m")
    with pytest.raises(ValueError, match="content is empty"):
        memory.items.add(content, "rules")
    with pytest.raises(ValueError, match="content is empty"):
        memory.items.replace("rules", ["kind", content])
    with pytest.raises(TypeError, match="a text"):
        memory.items.add(None, "rules")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a list"):
        memory.items.replace("rules", "kind")
    assert list(memory.items.list()) == []


def test_items_make_the_prompt(client: Client, vault: str) -> None:
    memory = client.memory(vault, "m")
    client.vault(vault).items.add("Answer in English.", "rules")
    item = memory.items.add("Be brief.", "rules")
    assert memory.items.get_prompt_content(include="rules") == "Answer in English.\n\nBe brief."
    memory.items.remove(item["item_id"])
    assert memory.items.get_prompt_content(include="rules") == "Answer in English."
