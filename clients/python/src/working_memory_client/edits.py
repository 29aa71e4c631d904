"""The operations of `Memory.edit`, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence

from .types import AddOperation, ArchiveOperation, MarkOperation, MergeOperation, ProgressOperation


def learn(insight: str, *, because: str, replaces: str | None = None) -> AddOperation:
    """Adds a learning; one that `replaces` another archives that."""
    return _added({"op": "add", "section": "learnings", "reason": because, "content": insight}, replaces)


def snippet(label: str, content: str, *, because: str, replaces: str | None = None) -> AddOperation:
    """Adds a snippet, kept to the byte; one that `replaces` another archives that."""
    operation: AddOperation = {
        "op": "add",
        "section": "verbatim",
        "reason": because,
        "label": label,
        "content": content,
    }
    return _added(operation, replaces)


def archive(
    record_id: str,
    *,
    because: str,
    duplicate_of: str | None = None,
    superseded_by: str | None = None,
    expired: bool = False,
) -> ArchiveOperation:
    """Archives a learning or snippet. It stays readable, with the reason.

    With one of `duplicate_of`, `superseded_by` and `expired` the service checks that nothing is lost with it.
    """
    operation: ArchiveOperation = {"op": "archive", "id": record_id, "reason": because}
    if duplicate_of is not None:
        operation["duplicate_of"] = duplicate_of
    if superseded_by is not None:
        operation["superseded_by"] = superseded_by
    if expired:
        operation["expired"] = True
    return operation


def merge(record_ids: Sequence[str], content: str, *, because: str) -> MergeOperation:
    """Puts one learning, which says all that they say, in the place of several; they are archived."""
    return {"op": "merge", "ids": list(record_ids), "reason": because, "content": content}


def mark(record_id: str, *, because: str, pinned: bool | None = None, until: str | None = None) -> MarkOperation:
    """Pins a record or lets it go, or gives it an end: a date, a time, or `never`. What is left out stays."""
    operation: MarkOperation = {"op": "mark", "id": record_id, "reason": because}
    if pinned is not None:
        operation["pinned"] = pinned
    if until is not None:
        operation["until"] = until
    return operation


def progress(
    in_progress: Sequence[str], *, completed: Sequence[str] = (), remaining: Sequence[str] = ()
) -> ProgressOperation:
    """Replaces Current Progress as a whole."""
    return {
        "op": "rewrite_progress",
        "in_progress": list(in_progress),
        "completed": list(completed),
        "remaining": list(remaining),
    }


def _added(operation: AddOperation, replaces: str | None) -> AddOperation:
    if replaces is not None:
        operation["replaces"] = replaces
    return operation
