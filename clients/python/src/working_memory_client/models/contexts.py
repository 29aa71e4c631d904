"""Models of the operations on contexts.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import Any, TypedDict

from .common import Context, Evidence, RecordKind, Source


class WrittenRecord(TypedDict):
    """A record as a version says it."""

    record_id: str
    """Its id."""
    kind: RecordKind
    """`KL`, `VC`, `T` or `D`."""
    time: str | None
    """The time written on it."""
    label: str | None
    """The label of a verbatim record."""
    reason: str | None
    """Why it was worth keeping, where its line says so."""
    content: str
    """What it says; of a verbatim record the snippet."""


class ArchivedRecord(TypedDict):
    """A record that the version no longer has."""

    record_id: str
    """Its id."""
    reason: str | None
    """Why it was archived, where an operation between the two versions said so."""
    archived_version: int | None
    """The version that operation made."""
    superseded_by: str | None
    """The record that took its place, where that operation named one."""
    record: WrittenRecord
    """As the base says it."""


class BlameLine(TypedDict):
    """One line and the version that brought it in."""

    line: int
    """Its number, from 1."""
    version: int
    """The version since which it is there without interruption."""
    context_id: str | None
    """That version's id; this and the next two are null if it is no longer kept."""
    actor_id: str | None
    """Who made it."""
    creation_time: str | None
    """When it was made."""
    text: str
    """The line without its end."""
    evidence: list[Evidence]
    """Of a record's first line."""


class Blame(TypedDict):
    """Where the lines of one version come from."""

    vault_id: str
    """The vault."""
    memory_id: str
    """The memory."""
    context_id: str
    """The version's id."""
    version: int
    """Its number."""
    lines: list[BlameLine]
    """Its lines, from the first to the last."""


class ChangedRecord(TypedDict):
    """A record that reads differently."""

    record_id: str
    """Its id."""
    before: WrittenRecord
    """As the base says it."""
    after: WrittenRecord
    """As the version says it."""


class RecordDiff(TypedDict):
    """Records that two versions do not have alike."""

    added: list[WrittenRecord]
    """Those that only the version has."""
    changed: list[ChangedRecord]
    """Those that read differently."""
    archived: list[ArchivedRecord]
    """Those that only the base has."""


class Diff(TypedDict):
    """What lies between two versions."""

    vault_id: str
    """The vault."""
    memory_id: str
    """The memory."""
    base_version: int
    """The number of the version compared with."""
    base_context_id: str | None
    """Its id; null for nothing."""
    version: int
    """The number of the version."""
    context_id: str
    """Its id."""
    diff: str
    """The unified diff from the base to the version."""
    records: RecordDiff
    """The same record by record."""
    progress_rewritten: bool
    """Whether `Current Progress` says something else."""
    sections_changed: list[str]
    """The titles of the free sections that say something else, are new, or are gone."""


DocumentText = str
"""A document as a request body, byte for byte."""


DocumentJson = DocumentText | dict[str, Any] | list[Any]
"""A document as a request body."""


class ContextList(TypedDict):
    """A page of a list."""

    items: list[Context]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class LogEntry(TypedDict):
    """One change of a document."""

    version: int
    """The version that it made."""
    context_id: str
    """That version's id."""
    actor_id: str
    """Who made it."""
    creation_time: str
    """When it was made."""
    source: Source
    """What made it."""
    log: str
    """The change in words, a line for each part of it."""


class LogEntryList(TypedDict):
    """A page of a list."""

    items: list[LogEntry]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class Section(TypedDict):
    """A heading and what stands under it."""

    title: str
    """The heading's text."""
    level: int
    """How many `#` it has."""
    path: str
    """The titles that lead to it, with `/` between them, as `section` of GetLatestContext takes it."""
    start: int
    """Where its line begins, in bytes of the document."""
    end: int
    """Where the next heading of its level or above begins, or the document ends."""
    managed: bool
    """Whether it is, or stands in, a section that the service maintains."""
    section: str | None
    """The short name of that managed section."""


class SectionList(TypedDict):
    """A page of a list."""

    items: list[Section]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class RedactRequest(TypedDict):
    """Why the text is to be taken out."""

    reason: str
    """Shown in place of the text, so it must not repeat what is taken out."""


class RestoreRequest(TypedDict, total=False):
    """Why a version is restored."""

    reason: str | None
    """Stands in the log of the new version."""
