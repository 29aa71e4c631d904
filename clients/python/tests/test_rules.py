"""The rules of clients/rules.md, against the server of clients/stub.py."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from stub import Stub

import working_memory_client
from working_memory_client import (
    AsyncClient,
    Client,
    ConnectionFailedError,
    InvalidAnswerError,
    ProblemError,
    WorkingMemoryError,
    _retry,
    response_of,
)
from working_memory_client._sse import Decoder

RULES: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "rules.json").read_text())
CALLS = [rule for rule in RULES if rule["call"] != "events"]
STREAMS = [rule for rule in RULES if rule["call"] == "events"]
PUT = {"json": {"version": 1}}


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_retry, "FIRST", 0.002)


def options(rule: dict[str, Any]) -> dict[str, Any]:
    chosen: dict[str, Any] = {name: rule[name] for name in ("retries", "timeout") if name in rule}
    return {**chosen, "update_timeout": rule["timeout"]} if "timeout" in rule else chosen


def call(client: Any, name: str) -> Any:
    memory = client.memory("v", "m")
    return {
        "put": lambda: memory.put("text"),
        "get": memory.get,
        "update": lambda: memory.update("task"),
        "delete": memory.delete,
        "create_key": lambda: client.keys.create("k", "reader"),
        "list": lambda: memory.records.list().page(),
    }[name]()


def sync(url: str, rule: dict[str, Any]) -> Any:
    with Client(url, **options(rule)) as client:
        return call(client, rule["call"])


def awaited(url: str, rule: dict[str, Any]) -> Any:
    async def run() -> Any:
        async with AsyncClient(url, **options(rule)) as client:
            return await call(client, rule["call"])

    return asyncio.run(run())


@pytest.mark.parametrize("run", [sync, awaited])
@pytest.mark.parametrize("rule", CALLS, ids=lambda rule: rule["name"])
def test_calls(rule: dict[str, Any], run: Any) -> None:
    came, failed = None, None
    with Stub(rule["script"]) as stub:
        began = time.monotonic()
        try:
            came = run(stub.url, rule)
        except WorkingMemoryError as failure:
            failed = failure
        took = time.monotonic() - began
    check(rule, failed, stub)
    assert rule.get("seconds", 0) <= took <= rule.get("at_most_seconds", 60)
    for name, value in rule.get("response", {}).items():
        assert getattr(response_of(came), name) == value
    keys = {one.headers.get("idempotency-key") for one in stub.seen}
    assert len(keys) == 1, "one key for all attempts"
    assert (keys != {None}) == (rule["call"] in ("put", "update"))
    assert len({one.body for one in stub.seen}) == 1
    agent = f"working-memory-client-python/{working_memory_client.__version__}"
    assert {one.headers["user-agent"] for one in stub.seen} == {agent}


def check(rule: dict[str, Any], failed: WorkingMemoryError | None, stub: Stub) -> None:
    assert (type(failed).__name__ if failed else None) == rule.get("error"), failed
    for name, value in rule.get("members", {}).items():
        assert getattr(failed, name) == value
    if "requests" in rule:
        assert len(stub.seen) == rule["requests"]


def read_sync(url: str, rule: dict[str, Any], found: list[Any]) -> None:
    count = len(rule["versions"]) + ("error" in rule)
    with (
        Client(url, **options(rule)) as client,
        client.vault("v").events(last_event_id=rule.get("last_event_id")) as events,
    ):
        while len(found) < count:
            found.append(next(events)["version"])


def read_awaited(url: str, rule: dict[str, Any], found: list[Any]) -> None:
    async def run() -> None:
        count = len(rule["versions"]) + ("error" in rule)
        async with AsyncClient(url, **options(rule)) as client:
            events = client.vault("v").events(last_event_id=rule.get("last_event_id"))
            while len(found) < count:
                found.append((await anext(events))["version"])
            await events.close()

    asyncio.run(run())


@pytest.mark.parametrize("run", [read_sync, read_awaited])
@pytest.mark.parametrize("rule", STREAMS, ids=lambda rule: rule["name"])
def test_streams(rule: dict[str, Any], run: Any) -> None:
    found: list[Any] = []
    failed = None
    with Stub(rule["script"]) as stub:
        try:
            run(stub.url, rule, found)
        except WorkingMemoryError as failure:
            failed = failure
    check(rule, failed, stub)
    assert found == rule["versions"]
    if "places" in rule:
        assert [one.headers.get("last-event-id", "") for one in stub.seen] == rule["places"]


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with Stub([PUT]) as stub:
        monkeypatch.setenv("WORKING_MEMORY_URL", stub.url + "/")
        monkeypatch.setenv("WORKING_MEMORY_API_KEY", "wm_from_there")
        monkeypatch.setenv("WORKING_MEMORY_ACTOR", "env")
        with Client() as client:
            client.memory("v", "m").put("text")
    assert stub.seen[0].headers["authorization"] == "Bearer wm_from_there"
    assert stub.seen[0].headers["x-actor-id"] == "env"
    assert stub.seen[0].target == "/v1/vaults/v/memories/m/context"


@pytest.mark.parametrize("key", ["wm_secret b", "wm_secret\nX-Actor-Id: root", "wm_secreté"])
def test_bad_keys_are_refused_and_not_quoted(key: str) -> None:
    with pytest.raises(ValueError, match="the key") as refused:
        Client("http://127.0.0.1:9", key)
    assert "secret" not in str(refused.value)


BAD_URLS = [
    "ftp://host",
    "host",
    "http://me:secret@host",
    "http://me:secret/x@host",
    "http://host?key=secret",
    "http://",
]


@pytest.mark.parametrize("url", BAD_URLS)
def test_bad_urls_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="url") as refused:
        Client(url)
    assert "secret" not in str(refused.value)


def test_keys_actors_and_texts_are_shown_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "working_memory_client")
    with Stub([{**PUT, "headers": {"X-Request-Id": "r-1"}}]) as stub:
        client = Client(stub.url, "wm_id_secret", actor="ann", headers={"X-Team": "secret team"})
        memory = client.memory("v", "m")
        memory.get(section="secret")
        memory.put("secret text")
        memory.with_options(actor="bob", headers={"X-Team": "red"}).put("secret text", idempotency_key="mine")
        shown = repr(client) + repr(client._engine.settings) + repr(memory) + caplog.text
        client.close()
    assert all(one.headers["authorization"] == "Bearer wm_id_secret" for one in stub.seen)
    assert [one.headers.get("x-actor-id") for one in stub.seen] == [None, "ann", "bob"]
    assert [one.headers.get("x-team") for one in stub.seen] == ["secret team", "secret team", "red"]
    assert stub.seen[2].headers["idempotency-key"] == "mine"
    assert "secret" not in shown
    assert "PUT /v1/vaults/v/memories/m/context: 200" in caplog.text
    assert "request r-1" in caplog.text


def test_options_of_one_call() -> None:
    with Stub([{"cut": 1}]) as stub, Client(stub.url, retries=0) as client:
        patient = client.memory("v", "m").with_options(retries=3)
        for memory, count in ((client.memory("v", "m"), 1), (patient, 4)):
            before = len(stub.seen)
            with pytest.raises(ConnectionFailedError, match="/v1/vaults/v/memories/m") as lost:
                memory.get()
            assert lost.value.__cause__ is not None
            assert len(stub.seen) - before == count
        for wrong in ({"retries": -1}, {"timeout": 0}):
            with pytest.raises(ValueError, match="must"):
                client.with_options(**wrong)  # type: ignore[arg-type]


def test_headers_of_a_request_are_sent_once_and_as_they_are() -> None:
    with Stub([PUT]) as stub, Client(stub.url, actor="ann") as client:
        own = {"idempotency-key": "mine", "x-actor-id": "bob", "Content-Type": "text/markdown"}
        client.request("POST", "/v1/vaults/v/memories/m/operations", body="text", headers=own)
        with pytest.raises(ValueError, match="x-token"):
            client.request("GET", "/healthz", headers={"X-Token": "secret "})
    assert len(stub.seen) == 1
    assert own.items() <= {**stub.seen[0].headers, "Content-Type": stub.seen[0].headers["content-type"]}.items()


def test_a_query_is_sent_wherever_it_was_written() -> None:
    with Stub([PUT]) as stub, Client(stub.url) as client:
        client.request("GET", "/v1/vaults?limit=1")
        client.request("GET", "/v1/vaults", query={"limit": 1})
        with pytest.raises(ValueError, match="query"):
            client.request("GET", "/v1/vaults?limit=1", query={"cursor": "c"})
    assert [one.target for one in stub.seen] == ["/v1/vaults?limit=1"] * 2


def test_what_is_no_document_is_not_replaced() -> None:
    other = {"json": {"message": "warming up"}}
    with Stub([other]) as stub, Client(stub.url) as client, pytest.raises(InvalidAnswerError):
        client.memory("v", "m").change(lambda text: text + "more")
    assert [one.method for one in stub.seen] == ["GET"]


def test_a_session_ends_though_its_handoff_cannot_be_made() -> None:
    with Stub([PUT, {"status": 503, "text": ""}]) as stub, Client(stub.url, retries=0) as client:
        assert client.memory("v", "m").finish("task")["version"] == 1
    assert [one.target.rpartition("/")[2] for one in stub.seen] == ["update", "refresh"]


def test_a_text_of_another_server_is_no_prompt() -> None:
    with Stub([{"text": "<html>welcome to the hotel</html>"}]) as stub, Client(stub.url) as client:
        for ask in (client.guidance, client.memory("v", "m").window.text):
            with pytest.raises(InvalidAnswerError):
                ask()


@pytest.mark.parametrize("run", [sync, awaited])
@pytest.mark.parametrize("text", ["[1]", "null", "", "7", "[" * 100_000, '{"a":' * 100_000])
def test_json_that_is_no_object_is_no_answer(text: str, run: Any) -> None:
    with Stub([{"text": text, "type": "application/json"}]) as stub, pytest.raises(InvalidAnswerError):
        run(stub.url, {"call": "get"})
    assert len(stub.seen) == 1


def test_a_problem_or_version_of_another_server() -> None:
    deep = {"status": 400, "text": "[" * 100_000, "type": "application/problem+json"}
    with Stub([{**PUT, "headers": {"X-Context-Version": "abc"}}, deep]) as stub, Client(stub.url) as client:
        response = response_of(client.memory("v", "m").get())
        assert response is not None
        with pytest.raises(InvalidAnswerError, match="abc"):
            assert response.version
        with pytest.raises(ProblemError):
            client.memory("v", "m").get()


def test_redirects_are_not_followed_by_whatever_client() -> None:
    with Stub([{"status": 307, "json": None, "headers": {"Location": "/other"}}, PUT]) as stub:
        with httpx.Client(follow_redirects=True) as http, pytest.raises(ProblemError):
            Client(stub.url, http=http).memory("v", "m").put("text")
        assert len(stub.seen) == 1


def test_a_closed_view_leaves_the_connections_open() -> None:
    with Stub([PUT]) as stub, Client(stub.url) as client:
        client.with_options(timeout=5).close()
        assert client.memory("v", "m").get()["version"] == 1
        with httpx.Client() as http:
            for _ in range(2):
                with Client(stub.url, http=http) as other:
                    assert other.memory("v", "m").get()["version"] == 1


def test_a_closed_client_says_so() -> None:
    client = Client("http://127.0.0.1:9")
    memory = client.memory("v", "m")
    client.close()
    with pytest.raises(ConnectionFailedError, match="closed"):
        memory.get()
    with pytest.raises(ConnectionFailedError, match="closed"):
        next(memory.events())
    client.close()


@pytest.mark.parametrize("timeout", [math.inf, 1e10])
def test_a_time_may_have_no_end(timeout: float) -> None:
    with Stub([PUT]) as stub, Client(stub.url, timeout=timeout, update_timeout=timeout) as client:
        assert client.memory("v", "m").get()["version"] == 1
        assert client.memory("v", "m").update("task")["version"] == 1


@pytest.mark.parametrize("bad", ["", ".", ".."])
def test_ids_cannot_lead_elsewhere(bad: str) -> None:
    with Client("http://127.0.0.1:9") as client, pytest.raises(ValueError, match="not an id"):
        client.memory("v", bad)


def test_ids_are_quoted_and_headers_checked() -> None:
    with Stub([PUT]) as stub, Client(stub.url) as client:
        memory = client.memory("a/b", "c?d#e%f ü")
        memory.info()
        with pytest.raises(ValueError, match="x-actor-id"):
            memory.put("text", actor="a\nb")
        with pytest.raises(TypeError, match="unknown option: actr"):
            memory.put("text", actr="ann")  # type: ignore[call-arg]
    assert [one.target for one in stub.seen] == ["/v1/vaults/a%2Fb/memories/c%3Fd%23e%25f%20%C3%BC"]


def test_waits_grow_and_are_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_retry, "FIRST", 1.0)
    for attempt, bound in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (9, 8.0), (5000, 8.0)):
        waits = [_retry.wait(attempt, None) for _ in range(200)]
        assert min(waits) >= bound / 2
        assert max(waits) <= bound
        assert max(waits) - min(waits) > bound / 8
    assert _retry.wait(1, 30.0) >= 30.0


def test_events_are_read_in_whatever_pieces_they_come() -> None:
    text = b": hi\r\n\r\nretry: 2000\nid: 0\n\nid: 1-a\r\nevent: version\ndata: {}\r\n\r\n"
    text += b"data:two\ndata: lines\nother: x\n\nid: 3\ndata: cut"
    for size in range(1, 30):
        decoder = Decoder()
        found = [one for at in range(0, len(text), size) for one in decoder.feed(text[at : at + size])]
        assert [(one.name, one.data, one.id) for one in found] == [
            ("message", "", "0"),
            ("version", "{}", "1-a"),
            ("message", "two\nlines", "1-a"),
        ]
        assert decoder.retry_seconds == 2
