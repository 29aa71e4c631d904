"""Keys: making and changing them, and what a client is told without a right one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest
from service import Service

from working_memory_client import Client, Forbidden, NotFound, Retry, Unauthorized, operations


@pytest.fixture(scope="module")
def guarded() -> Iterator[Service]:
    """A service that asks for a key."""
    with Service() as running:
        yield running


@pytest.fixture(scope="module")
def admin(guarded: Service) -> Iterator[Client]:
    made = guarded.command("keys", "create", "--name", "root", "--role", "admin", "--speaks-for-others")
    with Client(guarded.url, made["key"]) as client:
        yield client


def test_keys_are_made_shown_rotated_and_revoked(admin: Client, guarded: Service) -> None:
    until = datetime.now(timezone.utc) + timedelta(days=1)
    made = admin.create_key(name="reader", role="reader", vaults=["acme"], expires_at=until)
    assert made["key"].startswith(f"wm_{made['key_id']}_")
    assert admin.get_key(made["key_id"])["vaults"] == ["acme"]
    assert {one["name"] for one in admin.list_keys()} == {"root", "reader"}
    admin.memory("acme", "m").put("text")
    with Client(guarded.url, made["key"], retry=Retry(attempts=1)) as reader:
        assert reader.memory("acme", "m").get() == "text"
        with pytest.raises(Forbidden) as refused:
            reader.memory("acme", "m").put("other")
        assert refused.value.required_role == "writer"
        with pytest.raises(NotFound):
            reader.memory("secret", "m").get()
        turned = admin.rotate_key(made["key_id"])
        assert turned["key"] != made["key"]
        with pytest.raises(Unauthorized):
            reader.memory("acme", "m").get()
    assert admin.revoke_key(made["key_id"]) is None
    assert admin.get_key(made["key_id"])["active"] is False


def test_a_key_that_speaks_for_others_names_who_they_are(admin: Client) -> None:
    admin.with_options(actor="ann").memory("acme", "by").put("text")
    assert admin.memory("acme", "by").read()["actor_id"] == "ann"
    admin.memory("acme", "by").put("other text", actor="bob")
    assert [one["actor_id"] for one in admin.memory("acme", "by").list_contexts()] == ["bob", "ann"]


def test_a_proposer_proposes(admin: Client, guarded: Service) -> None:
    made = admin.create_key(name="agent", role="proposer")
    with Client(guarded.url, made["key"]) as agent:
        call = operations.updates.apply_operations(
            "acme",
            "p",
            operations=[{"op": "add", "section": "learnings", "reason": "it was so", "content": "a thing to know"}],
        )
        proposed = agent.answer(call).value
        assert proposed["status"] == "proposed"
        with pytest.raises(Forbidden):
            agent.memory("acme", "p").approve_update(proposed["update_id"])
    assert admin.memory("acme", "p").approve_update(proposed["update_id"])["status"] == "applied"
