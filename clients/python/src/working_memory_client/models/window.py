"""Models of the operations on window.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import Any, TypedDict

from .common import Record


class ArchivedTask(TypedDict):
    """A task that has left the document."""

    record_id: str
    """Its record."""
    time: str
    """When it was done."""
    task_id: str | None
    """What its writer calls it."""
    intent: str
    """What was to be done; empty if it was redacted."""
    summary: str
    """The first sentence of what was done."""
    epic: str | None
    """The larger work it is a part of."""
    failed: bool
    """Whether its outcome says `"success": false`."""
    line: str
    """All of it in one line."""


class _DecisionRequestRequired(TypedDict):
    decision: str
    """What was decided; at most 2,000 bytes."""


class DecisionRequest(_DecisionRequestRequired, total=False):
    """A decision that was made."""

    reason: str | None
    """Why, if that is known."""
    supersedes: str | None
    """The active decision whose place it takes."""


class Epic(TypedDict):
    """A roll-up of tasks that have left the document."""

    name: str | None
    """The epic, or the week as in `2026-W47`."""
    tasks: int
    """How many tasks."""
    first: str
    """When the first was done."""
    last: str
    """When the last was done."""
    latest: list[ArchivedTask]
    """The last ten, in the order of time."""


class _ImportedDecisionRequired(TypedDict):
    time: str
    """When it was made; whole seconds are kept."""
    decision: str
    """What was decided; at most 2,000 bytes."""


class ImportedDecision(_ImportedDecisionRequired, total=False):
    """A decision and when it was made."""

    reason: str | None
    """Why; one line of at most 2,000 bytes without a colon that a blank follows."""


class ImportedStatus(TypedDict, total=False):
    """Goal and blocker."""

    goal: str | None
    """At most 1,000 bytes."""
    blocker: str | None
    """At most 1,000 bytes."""
    updated: str | None
    """When window and status last changed where they were kept."""


class _ImportedTaskRequired(TypedDict):
    time: str
    """When it was done; whole seconds are kept."""
    intent: str
    """What was to be done; at most 500 bytes."""


class ImportedTask(_ImportedTaskRequired, total=False):
    """A task and when it was done."""

    task_id: str | None
    """What its writer calls it."""
    summary: str
    """What was done; at most 4,000 bytes."""
    outcome: Any
    """A report on it, any JSON of at most 8,192 bytes without blanks."""
    epic: str | None
    """The larger work it is a part of."""


class ArchivedTaskList(TypedDict):
    """A page of a list."""

    items: list[ArchivedTask]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class EpicList(TypedDict):
    """A page of a list."""

    items: list[Epic]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class StatusAnswer(TypedDict):
    """The status as it stands now."""

    goal: str | None
    """What is aimed at."""
    blocker: str | None
    """What stands in the way."""
    version: int
    """The newest version."""
    context_id: str
    """Its id."""
    unchanged: bool
    """Whether the status was this already, so that no version was made."""


class StatusRequest(TypedDict, total=False):
    """What is aimed at, and what stands in the way. At least one of both must be given."""

    goal: str | None
    """At most 1,000 bytes. Absent."""
    blocker: str | None
    """At most 1,000 bytes. Absent."""


class _TaskRequestRequired(TypedDict):
    intent: str
    """What was to be done; at most 500 bytes."""
    summary: str
    """What was done; at most 4,000 bytes."""


class TaskRequest(_TaskRequestRequired, total=False):
    """A task that was completed."""

    task_id: str | None
    """What the caller calls it, unique within the memory."""
    outcome: Any
    """A report on it, any JSON of at most 8,192 bytes without blanks."""
    epic: str | None
    """The larger work it is a part of."""


class WindowDecision(TypedDict):
    """A decision that holds."""

    record_id: str
    """Its record."""
    time: str | None
    """When it was made, if its line says so."""
    decision: str
    """What was decided."""
    reason: str | None
    """Why."""


class WindowStatus(TypedDict):
    """What is aimed at, and what stands in the way."""

    goal: str | None
    """What is aimed at; null for nothing."""
    blocker: str | None
    """What stands in the way."""
    updated: str | None
    """When status, tasks or decisions last changed."""


class WindowTask(TypedDict):
    """A recent task."""

    record_id: str
    """Its record."""
    time: str | None
    """When it was done, if its line says so."""
    task_id: str | None
    """What its writer calls it."""
    intent: str
    """What was to be done."""
    summary: str
    """What was done."""
    outcome: Any
    """A report on it."""
    failed: bool
    """Whether the outcome says `"success": false`."""
    epic: str | None
    """The larger work it is a part of."""


class Window(TypedDict):
    """What stands in the window."""

    vault_id: str
    """The vault."""
    memory_id: str
    """The memory."""
    version: int
    """The version it was read from."""
    context_id: str
    """Its id."""
    status: WindowStatus
    """What is aimed at."""
    tasks: list[WindowTask]
    """Recent tasks in the order of the document, the newest first."""
    decisions: list[WindowDecision]
    """Decisions, likewise."""


class WindowAnswer(Record):
    """A record that was written, and the version that holds it."""

    version: int
    """The newest version."""
    context_id: str
    """Its id."""
    unchanged: bool
    """Whether the record was there already, so that no version was made."""
    archived: list[str]
    """The records that left the document for it."""


class WindowImport(TypedDict, total=False):
    """What was kept elsewhere."""

    status: ImportedStatus | None
    tasks: list[ImportedTask]
    """Recent tasks."""
    decisions: list[ImportedDecision]
    """Decisions that hold."""
    history: list[ImportedTask]
    """Older tasks, for the archive."""


class WindowImportCounts(TypedDict):
    """Numbers of what was brought."""

    status: int
    """0 or 1."""
    tasks: int
    """Recent tasks."""
    decisions: int
    """Decisions."""
    history: int
    """Older tasks."""


class WindowImportAnswer(TypedDict):
    """What was taken over."""

    version: int | None
    """The newest version; null for a memory that does not exist and to which nothing was brought."""
    context_id: str | None
    """Its id."""
    unchanged: bool
    """Whether nothing was new, so that no version was made."""
    taken: WindowImportCounts
    """How much was taken."""
    present: WindowImportCounts
    """How much was there already."""
    archived: list[str]
    """The records that left the document for it."""
