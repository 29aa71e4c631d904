"""Requests to a server that does its worst."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from service import free_port
from stub import Reply, Seen, Stub, answer, cut, half, problem, raw, silent

from working_memory_client import (
    AsyncClient,
    Client,
    ConnectionFailed,
    Forbidden,
    Gone,
    Invalid,
    InvalidAnswer,
    ModelFailed,
    NotFound,
    NotModified,
    RateLimited,
    Retry,
    ServerFault,
    StillRunning,
    Unavailable,
    WorkingMemoryError,
)

FAST = Retry(attempts=3, first=0.001, longest=0.002)
PUT = {"vault_id": "v", "memory_id": "m", "context_id": "c", "version": 1}

Ask = Callable[[Any], Any]


def put(client: Any) -> Any:
    return client.put_context("v", "m", "text")


def read(client: Any) -> Any:
    return client.get_latest_context("v", "m")


def make_key(client: Any) -> Any:
    return client.create_key(name="k", role="reader")


def remove(client: Any) -> Any:
    return client.delete_memory("v", "m")


def ask_both(script: Sequence[Reply], ask: Ask, retry: Retry = FAST) -> list[tuple[Any, list[Seen]]]:
    """What comes of it with either client: a value or an exception, and what the server saw."""
    found = []
    for run in (_sync, _async):
        with Stub(script) as stub:
            try:
                came: Any = run(stub.url, ask, retry)
            except WorkingMemoryError as failure:
                came = failure
        found.append((came, stub.seen))
    return found


def _sync(url: str, ask: Ask, retry: Retry) -> Any:
    with Client(url, retry=retry, timeout=0.5) as client:
        return ask(client)


def _async(url: str, ask: Ask, retry: Retry) -> Any:
    async def run() -> Any:
        async with AsyncClient(url, retry=retry, timeout=0.5) as client:
            return await ask(client)

    return asyncio.run(run())


@pytest.mark.parametrize(
    "bad",
    [
        cut,
        half(),
        raw(b""),
        raw(b"nonsense\r\n\r\n"),
        silent(5),
        problem(503, "unavailable"),
        problem(429, "too-many-requests"),
        problem(409, "still-running"),
        problem(408, "request-timeout"),
        answer(502, b"<html>bad gateway</html>", kind="text/html"),
        answer(504, b"", kind="text/html"),
    ],
)
def test_a_write_is_sent_again_under_one_key(bad: Reply) -> None:
    for came, seen in ask_both([bad, bad, answer(201, PUT)], put):
        assert came["version"] == 1
        keys = [one.headers["idempotency-key"] for one in seen]
        assert len(keys) == 3
        assert len(set(keys)) == 1
        assert {one.body for one in seen} == {b"text"}


def test_every_call_has_a_key_of_its_own() -> None:
    with Stub([answer(201, PUT)]) as stub, Client(stub.url) as client:
        put(client)
        put(client)
        client.put_context("v", "m", "text", idempotency_key="mine")
    keys = [one.headers["idempotency-key"] for one in stub.seen]
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


@pytest.mark.parametrize("ask", [put, read, remove])
def test_attempts_end(ask: Ask) -> None:
    for came, seen in ask_both([cut], ask):
        assert isinstance(came, ConnectionFailed)
        assert came.__cause__ is not None
        assert len(seen) == 3
    for came, seen in ask_both([problem(503, "unavailable")], ask):
        assert isinstance(came, Unavailable)
        assert len(seen) == 3


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (problem(404, "not-found"), NotFound),
        (problem(403, "forbidden", required_role="admin"), Forbidden),
        (problem(410, "gone"), Gone),
        (problem(422, "invalid", field="task"), Invalid),
        (problem(500, "internal"), ServerFault),
        (problem(502, "model-failed", update_id="u"), ModelFailed),
        (problem(504, "model-timeout"), ModelFailed),
        (answer(200, b"<html>welcome to the hotel</html>", kind="text/html"), InvalidAnswer),
        (answer(200, b"{", kind="application/json"), InvalidAnswer),
    ],
)
def test_what_another_attempt_would_not_change_is_raised_at_once(bad: Reply, kind: type[Exception]) -> None:
    for came, seen in ask_both([bad, answer(201, PUT)], put):
        assert isinstance(came, kind)
        assert len(seen) == 1


def test_what_has_no_key_is_not_sent_twice() -> None:
    for bad in (cut, half(), problem(503, "unavailable")):
        for came, seen in ask_both([bad, answer(201, {})], make_key):
            assert isinstance(came, (ConnectionFailed, Unavailable))
            assert len(seen) == 1
            assert "idempotency-key" not in seen[0].headers


def test_what_was_refused_before_it_was_done_is_sent_again_without_a_key() -> None:
    for came, seen in ask_both([problem(429, "too-many-requests"), answer(201, {"key": "wm_a_b"})], make_key):
        assert came == {"key": "wm_a_b"}
        assert len(seen) == 2


def test_a_server_that_is_not_there_is_tried_again_whatever_is_asked() -> None:
    began = time.monotonic()
    retry = Retry(attempts=3, first=0.02)
    with Client(f"http://127.0.0.1:{free_port()}", retry=retry) as client, pytest.raises(ConnectionFailed):
        make_key(client)
    assert time.monotonic() - began >= 0.01 + 0.02


def test_a_delete_that_was_done_before_its_answer_was_lost_succeeds() -> None:
    for came, seen in ask_both([cut, problem(404, "not-found")], remove):
        assert came is None
        assert len(seen) == 2
    for came, _ in ask_both([problem(404, "not-found")], remove):
        assert isinstance(came, NotFound)


def test_retry_after_is_honoured() -> None:
    for bad in (
        problem(503, "unavailable", headers={"Retry-After": "1"}),
        problem(429, "too-many-requests", headers={"Retry-After": "1"}),
    ):
        began = time.monotonic()
        with Stub([bad, answer(200, PUT)]) as stub, Client(stub.url, retry=FAST) as client:
            assert read(client) == PUT
        assert time.monotonic() - began >= 1.0


def test_a_date_in_retry_after_is_understood() -> None:
    when = datetime.now(timezone.utc) + timedelta(seconds=1000)
    bad = problem(429, "too-many-requests", headers={"Retry-After": format_datetime(when, usegmt=True)})
    for came, seen in ask_both([bad], read):
        assert isinstance(came, RateLimited)
        assert 900 < (came.retry_after or 0) <= 1000
        assert len(seen) == 1, "nobody sleeps for a quarter of an hour"


@pytest.mark.parametrize("value", ["soon", "-5", "nan", "inf", "Wed, 99 Nov 2026 25:00:00 GMT"])
def test_nonsense_in_retry_after_is_passed_over(value: str) -> None:
    bad = problem(503, "unavailable", headers={"Retry-After": value})
    for came, seen in ask_both([bad, answer(200, PUT)], read):
        assert came == PUT
        assert len(seen) == 2


def test_one_attempt_is_one() -> None:
    for came, seen in ask_both([problem(409, "still-running")], put, Retry(attempts=1)):
        assert isinstance(came, StillRunning)
        assert len(seen) == 1
    with pytest.raises(ValueError, match="at least 1"):
        Retry(attempts=0)


def test_waits_grow_and_are_spread() -> None:
    retry = Retry(first=1.0, longest=8.0)
    for attempt, bound in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (9, 8.0), (5000, 8.0)):
        waits = [retry.wait(attempt, None) for _ in range(200)]
        assert min(waits) >= bound / 2
        assert max(waits) <= bound
        assert max(waits) - min(waits) > bound / 8
    assert retry.wait(1, 30.0) >= 30.0


def test_a_page_that_is_none_is_no_answer_of_the_service() -> None:
    values: list[Any] = [{}, [], {"items": []}, None]
    for value in values:
        with Stub([answer(200, value)]) as stub, Client(stub.url) as client, pytest.raises(InvalidAnswer, match="page"):
            list(client.list_vaults())


def test_the_http_client_of_the_caller_stays_open() -> None:
    with Stub([answer(200, PUT)]) as stub, httpx.Client() as http:
        for _ in range(2):
            with Client(stub.url, http=http) as client:
                assert read(client) == PUT


def test_redirects_are_not_followed() -> None:
    for came, seen in ask_both([answer(307, None, headers={"Location": "http://example.org/"})], read):
        assert isinstance(came, WorkingMemoryError)
        assert len(seen) == 1


def test_what_was_not_modified_says_so() -> None:
    for came, _ in ask_both([raw(b'HTTP/1.1 304 Not Modified\r\nETag: "c"\r\n\r\n')], read):
        assert isinstance(came, NotModified)


def test_keys_and_actors_are_sent_and_shown_nowhere() -> None:
    with Stub([answer(200, PUT)]) as stub, Client(stub.url, "wm_id_secret", actor="ann") as client:
        read(client)
        put(client)
        client.with_options(actor="bob").put_context("v", "m", "text")
        shown = repr(client) + repr(client._engine.settings) + repr(client.memory("v", "m"))
    assert all(one.headers["authorization"] == "Bearer wm_id_secret" for one in stub.seen)
    assert [one.headers.get("x-actor-id") for one in stub.seen] == [None, "ann", "bob"]
    assert "secret" not in shown


@pytest.mark.parametrize("bad", ["", ".", ".."])
def test_ids_cannot_lead_elsewhere(bad: str) -> None:
    with Client("http://127.0.0.1:9") as client, pytest.raises(ValueError, match="not an id"):
        client.get_memory("v", bad)


def test_ids_are_quoted() -> None:
    with Stub([answer(200, PUT)]) as stub, Client(stub.url) as client:
        client.get_memory("a/b", "c?d#e%f ü")
    assert stub.seen[0].target == "/v1/vaults/a%2Fb/memories/c%3Fd%23e%25f%20%C3%BC"


@pytest.mark.parametrize("key", ["wm_a b", "wm_a\nX-Actor-Id: root", "wm_é"])
def test_keys_that_would_break_a_header_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match="key"):
        Client("http://127.0.0.1:9", key)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with Stub([answer(201, PUT)]) as stub:
        monkeypatch.setenv("WORKING_MEMORY_URL", stub.url + "/")
        monkeypatch.setenv("WORKING_MEMORY_API_KEY", "wm_from_there")
        monkeypatch.setenv("WORKING_MEMORY_ACTOR", "env")
        with Client() as client:
            put(client)
    assert stub.seen[0].headers["authorization"] == "Bearer wm_from_there"
    assert stub.seen[0].headers["x-actor-id"] == "env"
    assert stub.seen[0].target == "/v1/vaults/v/memories/m/context"
