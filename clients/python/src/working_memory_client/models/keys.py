"""Models of the operations on keys.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import Literal, TypedDict

KeyRole = Literal["reader", "proposer", "writer", "admin"]
"""What the holder of a key may do."""


class Key(TypedDict):
    """A key without its secret."""

    key_id: str
    """Names it here, and stands in front of its secret."""
    name: str
    """Who holds it: the actor of what is written with it."""
    role: KeyRole
    """What its holder may do."""
    vaults: list[str] | None
    """The vaults it reaches, if they are listed."""
    vault_prefix: str | None
    """What the ids of the vaults begin with that it reaches."""
    speaks_for_others: bool
    """Whether `X-Actor-Id` may name somebody else."""
    active: bool
    """Whether it is taken now."""
    created_by: str
    """The name of the key that made it."""
    created_at: str
    rotated_at: str | None
    """When it last got a new secret."""
    expires_at: str | None
    """From when on it is not taken."""
    revoked_at: str | None


class _KeyRequestRequired(TypedDict):
    name: str
    """Who holds it: the actor of what is written with it."""
    role: KeyRole
    """What its holder may do."""


class KeyRequest(_KeyRequestRequired, total=False):
    """What a key is to be. Without `vaults` and `vault_prefix` it reaches every vault."""

    vaults: list[str] | None
    """The vaults it reaches."""
    vault_prefix: str | None
    """What the ids of the vaults begin with that it reaches."""
    speaks_for_others: bool
    """Whether `X-Actor-Id` may name somebody else."""
    expires_at: str | None
    """From when on it is not taken."""


class KeyList(TypedDict):
    """A page of a list."""

    items: list[Key]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class NewKey(Key):
    """A key with its secret, which is never shown again."""

    key: str
    """What to send as `Authorization: Bearer …`."""
