"""Operations on vaults.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Literal

from .. import models
from .._call import Listing


def list_vaults(*, limit: int | None = None, cursor: str | None = None) -> Listing[models.Vault, models.VaultList]:
    """List the vaults.

    By id. A vault is there as long as it has a memory; its own prompt items make it none. Shown are those that the
    caller's key reaches.
    """
    return Listing(
        operation="ListVaults",
        method="GET",
        path="/v1/vaults",
        query={"limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def list_events(
    vault_id: str,
    *,
    memory_id: str | None = None,
    kinds: str | Iterable[str] | None = None,
    last_event_id: str | None = None,
    order: Literal["oldest", "newest"] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Listing[models.Event, models.EventPage]:
    """Watch a vault.

    What happens in the vault, as server-sent events or, with `Accept: application/json`, as a page of them, oldest
    first. Each event is told in the same order to everybody, within a memory in the order in which it happened. A
    client that comes back with `Last-Event-ID` misses nothing and sees nothing twice; where that is not possible any
    more an event `reset` says so. A stream ends with its key.

    Args:
        kinds: Only those of these kinds, with commas between.
        last_event_id: As the header `Last-Event-ID`, for browsers, which cannot send it at first.
        order: Of a page of JSON: `oldest` first (the default), or `newest` first, of all that are kept.
    """
    return Listing(
        operation="StreamEvents",
        method="GET",
        path="/v1/vaults/{}/events",
        ids=(vault_id,),
        query={
            "memory_id": memory_id,
            "kinds": kinds,
            "last_event_id": last_event_id,
            "order": order,
            "limit": limit,
            "cursor": cursor,
        },
        accept="application/json",
        answers="json",
    )


def get_usage(
    vault_id: str,
    *,
    from_: date | str | None = None,
    to: date | str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Listing[models.UsageOfDay, models.Usage]:
    """What a vault uses.

    What it holds and may hold, and what its models cost by day and model: requests, tokens and, where prices are
    configured, money. Counted for every update, also for one that failed or was only tried. A vault that used no
    model has no entries.

    Args:
        from_: The first day, as in `2026-11-21` (UTC).
        to: The last day, which is included.
    """
    return Listing(
        operation="GetUsage",
        method="GET",
        path="/v1/vaults/{}/usage",
        ids=(vault_id,),
        query={"from": from_, "to": to, "limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )
