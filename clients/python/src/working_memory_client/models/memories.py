"""Models of the operations on memories.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import TypedDict


class ByKind(TypedDict):
    """A number for each kind of records."""

    KL: int
    """Key learnings."""
    VC: int
    """Verbatim context."""
    T: int
    """Tasks."""
    D: int
    """Decisions."""


class MemoryEntry(TypedDict):
    """A memory in a list. One that has prompt items and no document has the version 0."""

    vault_id: str
    """The vault."""
    memory_id: str
    """The memory."""
    version: int
    """The newest version's number."""
    context_id: str | None
    """The newest version's id."""
    created_at: str
    """When the first version was made."""
    changed_at: str
    """When the newest version was made."""
    bytes: int
    """The size of the newest version's text in bytes."""
    last_actor_id: str
    """Who made the newest version."""
    last_source: str | None
    """What made the newest version."""


class MemoryEntryList(TypedDict):
    """A page of a list."""

    items: list[MemoryEntry]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class MemoryFile(TypedDict):
    """A file."""

    path: str
    """Its path."""
    memory_id: str
    """The memory that it is."""
    version: int
    """That memory's newest version."""
    context_id: str
    """Its id: in double quotes the entity tag of the file's text."""
    bytes: int
    """The size of the text."""
    changed_at: str
    """When that version was made."""


class MemoryFileList(TypedDict):
    """A page of a list."""

    items: list[MemoryFile]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class RecordCounts(TypedDict):
    """How many records there are."""

    active: ByKind
    """In the newest version."""
    archived: ByKind
    """In older ones only."""


class Memory(MemoryEntry):
    """A memory by itself."""

    counters: ByKind
    """The largest number ever given to a record, by kind."""
    records: RecordCounts
    """How many records there are."""


MemoryFileText = str
"""The text of a file, which may be empty."""


class _MemoryToolAnswerRequired(TypedDict):
    content: str
    """The text for the model."""
    is_error: bool
    """Whether the command was refused."""


class MemoryToolAnswer(_MemoryToolAnswerRequired, total=False):
    """What the `tool_result` block says."""

    memory_id: str
    """The memory of the file, if the command was about one."""
    version: int
    """The newest version of that memory."""


class _MemoryToolCommandRequired(TypedDict):
    command: str
    """`view`, `create`, `str_replace`, `insert`, `delete` or `rename`."""


class MemoryToolCommand(_MemoryToolCommandRequired, total=False):
    """The `input` of a `tool_use` block of the tool `memory` (`memory_20250818`). Which members a command needs
    stands in their descriptions; others are passed over.
    """

    path: str
    """Of all but `rename`: `/memories` or a path below it."""
    view_range: list[int] | None
    """Of `view`, for a file."""
    file_text: str
    """Of `create`: the whole text."""
    old_str: str
    """Of `str_replace`: a text that stands in the file once."""
    new_str: str | None
    """Of `str_replace`: what it becomes."""
    insert_line: int
    """Of `insert`: behind which line."""
    insert_text: str
    """Of `insert`: the lines."""
    old_path: str
    """Of `rename`."""
    new_path: str
    """Of `rename`; nothing may stand there."""


class PutFileAnswer(MemoryFile):
    """What a put came to."""

    unchanged: bool
    """Whether its text was this already, so that no version was made."""
