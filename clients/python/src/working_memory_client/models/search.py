"""Models of the operations on search.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import TypedDict


class SearchResult(TypedDict):
    """A document that was found."""

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


class SearchResultList(TypedDict):
    """A page of a list."""

    items: list[SearchResult]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""
