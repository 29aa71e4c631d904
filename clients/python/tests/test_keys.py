"""Keys: making and changing them, and what a client is told without a right one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest
from service import Service

from working_memory_client import Client, ForbiddenError, NotFoundError, UnauthorizedError, learn


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
    made = admin.keys.create("reader", "reader", vaults=["acme"], expires_at=until)
    assert made["key"].startswith(f"wm_{made['key_id']}_")
    assert admin.keys.get(made["key_id"])["vaults"] == ["acme"]
    assert {one["name"] for one in admin.keys.list()} == {"root", "reader"}
    admin.memory("acme", "m").put("text")
    with Client(guarded.url, made["key"]) as reader:
        assert reader.memory("acme", "m").get()["context"] == "text"
        with pytest.raises(ForbiddenError) as refused:
            reader.memory("acme", "m").put("other")
        assert refused.value.required_role == "writer"
        with pytest.raises(NotFoundError):
            reader.memory("secret", "m").get()
        turned = admin.keys.rotate(made["key_id"])
        assert turned["key"] != made["key"]
        with pytest.raises(UnauthorizedError):
            reader.memory("acme", "m").get()
    assert admin.keys.revoke(made["key_id"]) is None
    assert admin.keys.get(made["key_id"])["active"] is False


def test_a_key_that_speaks_for_others_names_who_they_are(admin: Client) -> None:
    admin.with_options(actor="ann").memory("acme", "by").put("text")
    assert admin.memory("acme", "by").get()["actor_id"] == "ann"
    admin.memory("acme", "by").put("other text", actor="bob")
    assert [one["actor_id"] for one in admin.memory("acme", "by").versions.list()] == ["bob", "ann"]


def test_a_proposer_proposes(admin: Client, guarded: Service) -> None:
    made = admin.keys.create("agent", "proposer")
    with Client(guarded.url, made["key"]) as agent:
        proposed = agent.memory("acme", "p").edit(learn("a thing to know", because="it was so"))
        assert proposed["status"] == "proposed"
        with pytest.raises(ForbiddenError):
            agent.memory("acme", "p").updates.approve(proposed["update_id"])
    assert admin.memory("acme", "p").updates.approve(proposed["update_id"])["status"] == "applied"
