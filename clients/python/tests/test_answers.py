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

from working_memory_client import AsyncClient, AsyncPages, Client, Pages, PreconditionFailed

# What takes a key to ask for; test_keys.py has them.
NEED_KEYS = {"CreateKey", "RotateKey", "GetKey", "RevokeKey"}


class Blocking:
    """An asynchronous client as if it were none, so that one scenario serves both."""

    def __init__(self, client: AsyncClient, loop: asyncio.AbstractEventLoop) -> None:
        self._client, self._loop = client, loop

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            found = method(*args, **kwargs)
            if isinstance(found, AsyncPages):
                return self._loop.run_until_complete(_collected(found))
            return self._loop.run_until_complete(found)

        return call


async def _collected(pages: AsyncPages[Any, Any]) -> list[Any]:
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


@pytest.fixture(params=["sync", "async"])
def recorded(request: pytest.FixtureRequest, service: Service) -> Iterator[tuple[Any, Record]]:
    record = Record()
    if request.param == "sync":
        with httpx.Client(event_hooks={"response": [record.sync]}) as http:
            yield Client(service.url, http=http), record
        return
    loop = asyncio.new_event_loop()
    waiting = httpx.AsyncClient(event_hooks={"response": [record.hook]})
    yield Blocking(AsyncClient(service.url, http=waiting), loop), record
    loop.run_until_complete(waiting.aclose())
    loop.close()


def scenario(client: Any, vault: str) -> None:
    """Calls everything once, and looks at what it says."""
    here = (vault, "agent-1")
    first = client.put_context(*here, "# Description\nA parser.\n", actor="ann", if_none_match="*")
    assert (first["version"], first["actor_id"], first["unchanged"]) == (1, "ann", False)
    with pytest.raises(PreconditionFailed) as stale:
        client.put_context(*here, "x", if_match="not-this-one")
    assert stale.value.current == first["context_id"]
    added = client.apply_operations(
        *here,
        operations=[{"op": "add", "section": "learnings", "reason": "CI has none", "content": "commit the query data"}],
        if_match=first["context_id"],
    )
    assert (added["status"], added["operations"][0]["id"]) == ("applied", "KL-1")
    assert (
        client.apply_operations(*here, text="KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because done", dry_run=True)[
            "status"
        ]
        == "dry_run"
    )
    assert client.get_latest_context(*here)["version"] == 2
    assert "KL-1" in client.get_latest_context_text(*here, section="learnings")
    past = datetime.now(timezone.utc) - timedelta(seconds=0.001)
    assert client.get_latest_context(*here, as_of=past)["version"] in (1, 2)
    assert client.get_context(*here, 1)["context"] == "# Description\nA parser.\n"
    assert client.get_context_text(*here, first["context_id"]) == "# Description\nA parser.\n"
    assert [one["version"] for one in client.list_contexts(*here, limit=1)] == [2, 1]
    assert client.diff_contexts(*here, 2, base=1)["records"]["added"][0]["record_id"] == "KL-1"
    assert client.diff_contexts_text(*here, 2, base=1).startswith("---")
    assert client.get_blame(*here)["lines"][0]["version"] == 1
    assert "ann" in client.get_blame_text(*here)
    assert next(iter(client.list_sections(*here)))["title"] == "Description"
    assert [one["version"] for one in client.get_log(*here)] == [2, 1]
    assert "KL-1" in client.get_log_text(*here)
    assert [one["record_id"] for one in client.list_records(*here, kind="KL")] == ["KL-1"]
    assert client.get_record(*here, "KL-1")["reason"] == "CI has none"
    sessions(client, *here)
    windows(client, *here)
    items(client, *here)
    assert client.restore_context(*here, 1, reason="start over")["unchanged"] is False
    assert client.redact_context(*here, 1, reason="a password")["redacted"] is True
    assert client.get_memory(*here)["memory_id"] == "agent-1"
    assert [one["memory_id"] for one in client.list_memories(vault, prefix="agent")] == ["agent-1"]
    assert vault in [one["vault_id"] for one in client.list_vaults(limit=500)]
    assert [one["memory_id"] for one in client.search_contexts(vault, q="parser", consistent=True)] == ["agent-1"]
    assert {one["memory_id"] for one in client.search_memory(*here, q="parser", consistent=True)} == {"agent-1"}
    assert {one["model"] for one in client.get_usage(vault)} == {"extractive"}
    assert {"version", "proposed", "approved", "rejected"} <= {
        one["kind"] for one in client.list_events(vault, last_event_id="0")
    }
    made = client.run_memory_tool(vault, {"command": "create", "path": "/memories/a", "file_text": "tea"}, root="r")
    assert made["is_error"] is False
    tea = client.put_memory_file(vault, "green tea\n", root="r", path="/memories/a")
    assert tea["unchanged"] is False
    assert [one["path"] for one in client.list_memory_files(vault, root="r")] == ["/memories/a"]
    etag = '"' + tea["context_id"] + '"'
    assert client.unlink_memory_file(vault, root="r", path="/memories/a", if_match=etag) is None
    assert client.delete_memory(*here) is None
    assert "ok" in client.get_health()
    assert "ready" in client.get_readiness()
    assert client.get_metrics().startswith("#")
    assert client.get_open_api().startswith("openapi")
    assert "#" in client.get_guidance()
    assert list(client.list_keys()) == []
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert client.speak_mcp(ping)["id"] == 1


def sessions(client: Any, vault: str, memory: str) -> None:
    here = (vault, memory)
    task = "Remember: the parser must never panic on any input"
    assert client.update_context(*here, task=task)["status"] == "applied"
    assert next(iter(client.list_updates(*here)))["kind"] == "update"
    queued = client.queue_update(*here, task="Remember: the parser is called every minute by the cron job")
    assert queued["status"] == "queued"
    run = client.get_update(*here, queued["update_id"])
    assert run["update_id"] == queued["update_id"]
    proposal = {"op": "add", "section": "learnings", "reason": "it was measured", "content": "caches need 50 MB"}
    for number, decide in enumerate(("approve", "reject")):
        content = f"{proposal['content']} in case {number}"
        proposed = client.apply_operations(*here, operations=[{**proposal, "content": content}], mode="propose")
        assert [one["update_id"] for one in client.list_vault_updates(vault, status="proposed")] == [
            proposed["update_id"]
        ]
        if decide == "approve":
            assert client.approve_update(*here, proposed["update_id"], comment="seen")["status"] == "applied"
        else:
            assert client.reject_update(*here, proposed["update_id"], reason="no")["status"] == "rejected"


def windows(client: Any, vault: str, memory: str) -> None:
    here = (vault, memory)
    task = client.record_task(
        *here, intent="Add parser", summary="60 tests.", task_id="t-1", epic="dsl", outcome={"ok": 1}
    )
    assert task["record_id"] == "T-1"
    assert client.record_decision(*here, decision="SQL lives in storage", reason="one place")["record_id"] == "D-1"
    assert client.set_status(*here, goal="ship", blocker=None)["goal"] == "ship"
    assert client.set_status(*here, blocker="CI")["goal"] == "ship", "what is left out stays"
    assert client.set_status(*here, goal=None)["goal"] is None, "null clears"
    assert client.get_window(*here)["tasks"][0]["intent"] == "Add parser"
    assert "Add parser" in client.get_window_text(*here)
    past = "2026-01-01T00:00:00Z"
    imported = client.import_window(
        *here, history=[{"time": past, "intent": "Old work", "summary": "Done.", "epic": "old"}]
    )
    assert imported["taken"]["history"] == 1
    assert [one["intent"] for one in client.get_history(*here)] == ["Old work"]
    assert "Old work" in client.get_history_text(*here)
    assert [one["name"] for one in client.get_epics(*here, by="epic")] == ["old"]
    assert "old" in client.get_epics_text(*here, by="epic")
    made = client.refresh_handoff(*here, workspace={"branch": "main"}, window="PT6H")
    assert client.get_handoff(*here)["handoff_id"] == made["handoff_id"]
    assert client.get_handoff_text(*here)
    assert client.get_handoff_status(*here)["status"] == "fresh"
    assert [one["handoff_id"] for one in client.list_handoffs(*here)] == [made["handoff_id"]]
    assert client.get_handoff_artifact(*here, made["handoff_id"])["markdown"] == made["markdown"]
    assert client.get_handoff_artifact_text(*here, made["handoff_id"])


def items(client: Any, vault: str, memory: str) -> None:
    for ids, word in (((vault, memory), ""), ((vault,), "vault_")):
        until = datetime.now(timezone.utc) + timedelta(hours=1)
        added = getattr(client, f"add_{word}item")(*ids, content="Be brief.", category="rules", expires_at=until)
        assert getattr(client, f"get_{word}item")(*ids, added["item_id"])["content"] == "Be brief."
        assert [one["item_id"] for one in getattr(client, f"list_{word}items")(*ids)] == [added["item_id"]]
        put = getattr(client, f"put_{word}items")
        assert put(*ids, "tone", [{"content": "kind"}, {"content": "short"}])["unchanged"] is False
        assert len(put(*ids, "tone", "kind")["items"]) == 1, "a text is one item"
        assert getattr(client, f"remove_{word}items")(*ids, category="tone") == {"removed": 1}
        assert getattr(client, f"remove_{word}item")(*ids, added["item_id"]) is None
    prompt = client.get_prompt(vault, memory, exclude=["datetime", "free"], max_tokens=4000, query="parser")
    assert "datetime" not in [part["name"] for part in prompt["parts"]]
    assert client.get_prompt_text(vault, memory, include="datetime", timezone="Europe/Berlin").startswith(
        "Current date"
    )


def test_every_operation_answers_as_the_document_says(recorded: tuple[Any, Record], vault: str) -> None:
    client, record = recorded
    scenario(client, vault)
    assert record.faults() == set()
    every = {one["operationId"] for _, _, one in document.operations()}
    # A run that is cancelled while it waits is in test_updates.py.
    assert every - record.succeeded() - NEED_KEYS == {"CancelUpdate"}


def test_pages_follow_each_other_and_are_asked_for_one_by_one(recorded: tuple[Any, Record], vault: str) -> None:
    client, record = recorded
    for number in range(5):
        client.put_context(vault, f"m-{number}", "text")
    before = len(record.answers)
    assert [one["memory_id"] for one in client.list_memories(vault, limit=2)] == [f"m-{number}" for number in range(5)]
    assert len(record.answers) - before == 3


def test_a_list_can_be_left_early_and_begun_again(client: Client, vault: str) -> None:
    for number in range(3):
        client.put_context(vault, f"m-{number}", "text")
    listing = client.list_memories(vault, limit=1)
    assert isinstance(listing, Pages)
    assert next(iter(listing))["memory_id"] == "m-0"
    assert [one["memory_id"] for one in listing] == ["m-0", "m-1", "m-2"]
    assert listing.page()["next_cursor"] is not None
    assert [len(page["items"]) for page in listing.pages()] == [1, 1, 1]
