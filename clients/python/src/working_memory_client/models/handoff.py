"""Models of the operations on handoff.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import Any, TypedDict


class HandoffReason(TypedDict):
    """Why a handoff is stale."""

    kind: str
    """`cited_record_gone`, `cited_record_archived`, `records_changed`, `section_changed` or `window_passed`."""
    detail: str
    """A sentence."""
    record_id: str | None
    """The record it is about."""
    version: int | None
    """The version that did it."""


class HandoffStaleLine(TypedDict):
    """A line that does not hold any more."""

    line: int
    """Its number in the stored Markdown, from 1."""
    text: str
    """The line."""
    citation: str
    """The citation that does not hold, without its brackets."""
    reason: str
    """As `kind` of a reason."""


class HandoffFreshness(TypedDict):
    """Whether a handoff can be relied on, judged when it is asked for."""

    status: str
    """`missing`, `stale` or `fresh`."""
    reasons: list[HandoffReason]
    """Why it is stale: cited records that are gone or archived, then changes since, then its age."""
    stale_lines: list[HandoffStaleLine]
    """The lines it is stale in."""


class _HandoffRequired(TypedDict):
    handoff_id: str
    """Its id."""
    vault_id: str
    """The vault."""
    memory_id: str
    """The memory."""
    generated_at: str
    """The moment it shows."""
    generated_by: str
    """Who asked for it."""
    window: str
    """How far back it looks, as a duration of ISO 8601."""
    base_version: int
    """The newest version of that moment."""
    freshness: HandoffFreshness
    """Its freshness now."""
    preface: str
    """The same as Markdown: what stands above the text where it is read as text."""
    markdown: str
    """The eight sections, as they were made."""
    manifest: Any
    """What it was made from."""


class Handoff(_HandoffRequired, total=False):
    """A handoff with its present freshness."""

    refreshed: bool
    """Of a refresh: whether it was made now."""


class HandoffEntry(TypedDict):
    """A handoff in a list."""

    handoff_id: str
    """Its id."""
    vault_id: str
    """The vault."""
    memory_id: str
    """The memory."""
    generated_at: str
    """The moment it shows."""
    generated_by: str
    """Who asked for it."""
    window: str
    """How far back it looks, as a duration of ISO 8601."""
    base_version: int
    """The newest version of that moment."""
    model: Any
    """The model that wrote its prose, with its times."""


class HandoffStatus(HandoffFreshness):
    """Whether the newest handoff can be relied on."""

    handoff_id: str | None
    """The handoff; null if there is none."""
    generated_at: str | None
    """The moment it shows."""
    window: str | None
    """How far back it looks, as a duration of ISO 8601."""


class HandoffEntryList(TypedDict):
    """A page of a list."""

    items: list[HandoffEntry]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class Workspace(TypedDict, total=False):
    """The caller's folder."""

    folder: str | None
    """Its path."""
    branch: str | None
    """The git branch."""
    head: str | None
    """The commit."""
    dirty_files: list[str]
    """Files with changes that are not committed."""


class RefreshHandoffRequest(TypedDict, total=False):
    """What a refresh may be told."""

    workspace: Workspace | None
