"""Operations on contexts.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from .. import models
from .._call import Call, Listing, entity_tag


def get_blame(
    vault_id: str,
    memory_id: str,
    *,
    ref: str | int | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
) -> Call[models.Blame]:
    """Read where each line comes from.

    Of the newest version or of another one: which version brought each line in, who made that, and when. A line that
    was moved within the document keeps its origin. With `Accept: text/plain` a line is `<version> <actor> <time> |
    <line>`. As JSON, a record's first line also says what of an update's input carried it.

    Args:
        ref: This version, by its number or its context_id.
    """
    return Call(
        operation="GetBlame",
        method="GET",
        path="/v1/vaults/{}/memories/{}/blame",
        ids=(vault_id, memory_id),
        query={"ref": ref},
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="application/json",
        answers="json",
    )


def get_blame_text(
    vault_id: str,
    memory_id: str,
    *,
    ref: str | int | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
) -> Call[str]:
    """Read where each line comes from, as text."""
    return Call(
        operation="GetBlame",
        method="GET",
        path="/v1/vaults/{}/memories/{}/blame",
        ids=(vault_id, memory_id),
        query={"ref": ref},
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="text/plain",
        answers="text",
    )


def get_latest_context(
    vault_id: str,
    memory_id: str,
    *,
    section: str | None = None,
    as_of: datetime | str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    cache_control: str | None = None,
) -> Call[models.Context]:
    """Read the document.

    The newest version, or the one of a time. The text is the answer's body; with `Accept: application/json` it stands
    in an envelope. Each representation has its own entity tag, and all of them are taken in `If-Match`.

    Args:
        section: Only this section: `progress`, `learnings`, `verbatim`, `status`, `tasks`, `decisions`, the title of
            any section, or the path of titles to a heading of any level, such as `Facts/Network`.
        as_of: The version that was the newest at this time, which must not lie in the future.
        cache_control: `no-cache` asks the database also where the service keeps the newest version itself, which on
            other instances than its writer's may be a moment behind.
    """
    return Call(
        operation="GetLatestContext",
        method="GET",
        path="/v1/vaults/{}/memories/{}/context",
        ids=(vault_id, memory_id),
        query={"section": section, "as_of": as_of},
        headers={
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Cache-Control": cache_control,
        },
        accept="application/json",
        answers="json",
    )


def get_latest_context_text(
    vault_id: str,
    memory_id: str,
    *,
    section: str | None = None,
    as_of: datetime | str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    cache_control: str | None = None,
) -> Call[str]:
    """Read the document, as text."""
    return Call(
        operation="GetLatestContext",
        method="GET",
        path="/v1/vaults/{}/memories/{}/context",
        ids=(vault_id, memory_id),
        query={"section": section, "as_of": as_of},
        headers={
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Cache-Control": cache_control,
        },
        accept="text/plain",
        answers="text",
    )


def put_context(
    vault_id: str,
    memory_id: str,
    document: str | Mapping[str, Any] | Sequence[Any],
    *,
    confirm: Literal["collapse"] | None = None,
    actor: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.PutAnswer]:
    """Put a document.

    Makes a new version with this text, byte for byte, unless it is the newest version's text already. The memory is
    made if it does not exist. A text that drops more than half of the bytes or any active record is told in
    `warnings`, or refused where the service is set up so.

    Args:
        document: The document: UTF-8, not blank, no NUL, at most `limits.context_bytes` (102,400) bytes.
        confirm: `collapse`: make the version also if it loses much of the document, where `guard.collapse = "reject"`
            would refuse it.
    """
    return Call(
        operation="PutContext",
        method="PUT",
        path="/v1/vaults/{}/memories/{}/context",
        ids=(vault_id, memory_id),
        query={"confirm": confirm},
        headers={
            "X-Actor-Id": actor,
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Idempotency-Key": idempotency_key,
        },
        body=document,
        accept="application/json",
        answers="json",
    )


def get_log(
    vault_id: str, memory_id: str, *, limit: int | None = None, cursor: str | None = None
) -> Listing[models.LogEntry, models.LogEntryList]:
    """Read what changed.

    The changes in words, the newest first, as a list or, with `Accept: text/plain`, as text: of each version a line
    `version <number> <time> <actor> <source>`, its changes indented by two, an empty line. `Link` names the next page
    of the text.
    """
    return Listing(
        operation="GetLog",
        method="GET",
        path="/v1/vaults/{}/memories/{}/log",
        ids=(vault_id, memory_id),
        query={"limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def get_log_text(vault_id: str, memory_id: str, *, limit: int | None = None, cursor: str | None = None) -> Call[str]:
    """Read what changed, as text."""
    return Call(
        operation="GetLog",
        method="GET",
        path="/v1/vaults/{}/memories/{}/log",
        ids=(vault_id, memory_id),
        query={"limit": limit, "cursor": cursor},
        accept="text/plain",
        answers="text",
    )


def list_sections(
    vault_id: str, memory_id: str, *, ref: str | int | None = None, limit: int | None = None, cursor: str | None = None
) -> Listing[models.Section, models.SectionList]:
    """List the sections.

    The headings of all levels, in the order of the document, of the newest version or of another one. All pages are
    about the version of the first one.

    Args:
        ref: This version, by its number or its context_id.
    """
    return Listing(
        operation="ListSections",
        method="GET",
        path="/v1/vaults/{}/memories/{}/sections",
        ids=(vault_id, memory_id),
        query={"ref": ref, "limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )
