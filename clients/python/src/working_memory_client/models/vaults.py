"""Models of the operations on vaults.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

EventKind = Literal[
    "version", "update", "handoff", "memory_deleted", "redacted", "items", "proposed", "approved", "rejected"
]
"""What an event can tell of."""


class Event(TypedDict):
    """Something that happened in a vault. It names things and never quotes a document."""

    id: str
    """Its place in the stream."""
    kind: EventKind
    """What happened."""
    time: str
    """When."""
    vault_id: str
    """The vault."""
    memory_id: str
    """The memory."""
    version: int | None
    """The version that was made."""
    context_id: str | None
    """That version's id."""
    actor: str | None
    """Who did it."""
    source: str | None
    """What made the version."""
    update_id: str | None
    """The run it belongs to."""
    details: Any
    """More, by kind: of an update its `step`, with the `role` that was asked, or the `status` it ended with."""


class EventList(TypedDict):
    """A page of a list."""

    items: list[Event]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class EventPage(EventList):
    """One page of events."""

    last_event_id: str
    """What to send as `Last-Event-ID` to get what happens next, once `next_cursor` is null."""
    reset: bool
    """The place asked for is not kept any more."""


class Spent(TypedDict):
    """What models cost."""

    runs: int
    """Askings of a model by an update."""
    calls: int
    """Requests to the model's server, repeated ones included."""
    failures: int
    """Askings that came to nothing."""
    input_tokens: int
    """Tokens read, where the server tells them."""
    cached_tokens: int
    """Of these, tokens its provider had in its cache."""
    cache_write_tokens: int
    """Of these, tokens its provider put into its cache."""
    output_tokens: int
    """Tokens written, where the server tells them."""
    millis: int
    """Time of the askings, in milliseconds."""
    cost: float | None
    """What that costs in `currency`."""


class UsageOfDay(Spent):
    """What a model cost on a day."""

    day: str
    """The day in UTC."""
    model: str
    """The model."""


class UsageOfDayList(TypedDict):
    """A page of a list."""

    items: list[UsageOfDay]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class Vault(TypedDict):
    """A vault (tenant)."""

    vault_id: str
    """Its id."""
    memories: int
    """How many memories it has, with those that have prompt items of their own and no document."""
    changed_at: str
    """When one of them last got a new version, or prompt items where it has no document."""


class VaultList(TypedDict):
    """A page of a list."""

    items: list[Vault]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


_UsageOwn = TypedDict(
    "_UsageOwn",
    {
        "vault_id": "str",
        "from": "str",
        "to": "str",
        "currency": "str",
        "totals": "Spent",
        "without_price": "list[str]",
        "tokens_today": "int",
        "tokens_per_day": "int | None",
        "memories": "int",
        "memories_limit": "int | None",
        "bytes": "int",
        "bytes_limit": "int | None",
    },
)


class Usage(UsageOfDayList, _UsageOwn):
    """What the models of a vault cost."""
