"""Models of the operations on search.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import TypedDict

from .common import Evidence, RecordStatus


class SearchResult(TypedDict):
    """Something that was found: in a search of a vault a memory, inside a memory a passage."""

    memory_id: str
    """The memory."""
    version: int
    """Its newest version."""
    context_id: str
    """That version's id."""
    creation_time: str
    """When it was made."""
    rank: float
    """How well it fits; the larger the better."""
    extract: str
    """A part of the text as HTML."""
    found_by: list[str]
    """Which searches found it."""
    score: float | None
    """How like the query the passage is, from -1 to 1."""
    record_id: str | None
    """The record that the extract is of."""
    section: str | None
    """The section that the extract is of, where it is not a record found by meaning."""
    status: RecordStatus | None
    record_version: int | None
    """The version that brought the record."""
    recorded_at: str | None
    """When that was made."""
    recorded_by: str | None
    """Who made it."""
    evidence: list[Evidence]
    """What of the task and the messages carried the record into the memory."""


class SearchResultList(TypedDict):
    """A page of a list."""

    items: list[SearchResult]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class SearchPage(SearchResultList):
    """One page of a search."""

    mode: str
    """How it was searched: `text`, `semantic` or `hybrid`."""
    degraded: str | None
    """Why it was searched by words although meaning was asked for."""
