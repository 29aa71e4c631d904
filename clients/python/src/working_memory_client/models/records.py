"""Models of the operations on records.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import TypedDict

from .common import Record


class RecordList(TypedDict):
    """A page of a list."""

    items: list[Record]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""
