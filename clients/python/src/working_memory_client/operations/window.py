"""Operations on window.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .. import models
from .._call import NOT_GIVEN, Call, Listing, NotGiven, entity_tag, members


def get_epics(
    vault_id: str,
    memory_id: str,
    *,
    by: Literal["week", "epic"] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Listing[models.Epic, models.EpicList]:
    """Roll up the history.

    The tasks that have left the document by epic or by week, in the order of the names (of epics by their bytes,
    tasks without one first): how many, from when to when, and the last ten.

    Args:
        by: The epic that tasks name, or the ISO week of their time in UTC.
    """
    return Listing(
        operation="GetEpics",
        method="GET",
        path="/v1/vaults/{}/memories/{}/archive/epics",
        ids=(vault_id, memory_id),
        query={"by": by, "limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def get_epics_text(
    vault_id: str,
    memory_id: str,
    *,
    by: Literal["week", "epic"] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[str]:
    """Roll up the history, as text."""
    return Call(
        operation="GetEpics",
        method="GET",
        path="/v1/vaults/{}/memories/{}/archive/epics",
        ids=(vault_id, memory_id),
        query={"by": by, "limit": limit, "cursor": cursor},
        accept="text/markdown",
        answers="text",
    )


def get_history(
    vault_id: str, memory_id: str, *, limit: int | None = None, cursor: str | None = None
) -> Listing[models.ArchivedTask, models.ArchivedTaskList]:
    """Read the history.

    The tasks that have left the document in the order of their times, one line a task, as text or, with `Accept:
    application/json`, as a list. `Link` names the next page of the text.
    """
    return Listing(
        operation="GetHistory",
        method="GET",
        path="/v1/vaults/{}/memories/{}/archive/history",
        ids=(vault_id, memory_id),
        query={"limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def get_history_text(
    vault_id: str, memory_id: str, *, limit: int | None = None, cursor: str | None = None
) -> Call[str]:
    """Read the history, as text."""
    return Call(
        operation="GetHistory",
        method="GET",
        path="/v1/vaults/{}/memories/{}/archive/history",
        ids=(vault_id, memory_id),
        query={"limit": limit, "cursor": cursor},
        accept="text/markdown",
        answers="text",
    )


def record_decision(
    vault_id: str,
    memory_id: str,
    *,
    decision: str,
    reason: str | NotGiven | None = NOT_GIVEN,
    supersedes: str | NotGiven | None = NOT_GIVEN,
    actor: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.WindowAnswer]:
    """Record a decision.

    Writes it first in `Decisions`, with its reason if one is given, and moves `Updated:` of `Active Context`, in one
    version. The decision that it supersedes is archived and names it in `superseded_by`; beyond `window.decisions`
    (10) the oldest leaves the document. The memory is made if it does not exist.

    Args:
        decision: What was decided; at most 2,000 bytes.
        reason: Why, if that is known.
        supersedes: The active decision whose place it takes.
    """
    return Call(
        operation="RecordDecision",
        method="POST",
        path="/v1/vaults/{}/memories/{}/decisions",
        ids=(vault_id, memory_id),
        headers={
            "X-Actor-Id": actor,
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Idempotency-Key": idempotency_key,
        },
        body=members(decision=decision, reason=reason, supersedes=supersedes),
        accept="application/json",
        answers="json",
    )


def set_status(
    vault_id: str,
    memory_id: str,
    *,
    goal: str | NotGiven | None = NOT_GIVEN,
    blocker: str | NotGiven | None = NOT_GIVEN,
    actor: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.StatusAnswer]:
    """Set the status.

    Writes goal and blocker into `Active Context` and moves its `Updated:`, in one version: a member that is absent
    stays as it stands, null clears it. Lines that a person wrote there stay. The memory is made if it does not exist.

    Args:
        goal: At most 1,000 bytes. Absent.
        blocker: At most 1,000 bytes. Absent.
    """
    return Call(
        operation="SetStatus",
        method="PUT",
        path="/v1/vaults/{}/memories/{}/status",
        ids=(vault_id, memory_id),
        headers={
            "X-Actor-Id": actor,
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Idempotency-Key": idempotency_key,
        },
        body=members(goal=goal, blocker=blocker),
        accept="application/json",
        answers="json",
    )


def record_task(
    vault_id: str,
    memory_id: str,
    *,
    intent: str,
    summary: str,
    task_id: str | NotGiven | None = NOT_GIVEN,
    outcome: Any | NotGiven = NOT_GIVEN,
    epic: str | NotGiven | None = NOT_GIVEN,
    actor: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.WindowAnswer]:
    """Record a completed task.

    Writes it first in `Recent Tasks` and moves `Updated:` of `Active Context`, in one version. Beyond `window.tasks`
    (5) the oldest task leaves the document and stands in the archive from then on. The memory is made if it does not
    exist. A task that is sent again with its `task_id` is answered with the record that it has, also when that has
    left the document.

    Args:
        intent: What was to be done; at most 500 bytes.
        summary: What was done; at most 4,000 bytes.
        task_id: What the caller calls it, unique within the memory.
        outcome: A report on it, any JSON of at most 8,192 bytes without blanks.
        epic: The larger work it is a part of.
    """
    return Call(
        operation="RecordTask",
        method="POST",
        path="/v1/vaults/{}/memories/{}/tasks",
        ids=(vault_id, memory_id),
        headers={
            "X-Actor-Id": actor,
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Idempotency-Key": idempotency_key,
        },
        body=members(task_id=task_id, intent=intent, summary=summary, outcome=outcome, epic=epic),
        accept="application/json",
        answers="json",
    )


def get_window(
    vault_id: str, memory_id: str, *, if_match: str | None = None, if_none_match: str | None = None
) -> Call[models.Window]:
    """Read the window.

    Status, recent tasks in full, and decisions, as Markdown or, with `Accept: application/json`, as JSON. What is
    older stands in the archive.
    """
    return Call(
        operation="GetWindow",
        method="GET",
        path="/v1/vaults/{}/memories/{}/window",
        ids=(vault_id, memory_id),
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="application/json",
        answers="json",
    )


def get_window_text(
    vault_id: str, memory_id: str, *, if_match: str | None = None, if_none_match: str | None = None
) -> Call[str]:
    """Read the window, as text."""
    return Call(
        operation="GetWindow",
        method="GET",
        path="/v1/vaults/{}/memories/{}/window",
        ids=(vault_id, memory_id),
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="text/markdown",
        answers="text",
    )


def import_window(
    vault_id: str,
    memory_id: str,
    *,
    status: models.ImportedStatus | NotGiven | None = NOT_GIVEN,
    tasks: Sequence[models.ImportedTask] | NotGiven = NOT_GIVEN,
    decisions: Sequence[models.ImportedDecision] | NotGiven = NOT_GIVEN,
    history: Sequence[models.ImportedTask] | NotGiven = NOT_GIVEN,
    actor: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.WindowImportAnswer]:
    """Take over a window.

    Takes tasks, decisions, a history and a status that were kept elsewhere into the memory, each with its own time,
    in one version. What has no place in the window, and all of the history, goes straight to the archive. What the
    memory has already is left alone, so that the same may be sent again. The memory is made if it does not exist.

    Args:
        status:
        tasks: Recent tasks.
        decisions: Decisions that hold.
        history: Older tasks, for the archive.
    """
    return Call(
        operation="ImportWindow",
        method="POST",
        path="/v1/vaults/{}/memories/{}/window/import",
        ids=(vault_id, memory_id),
        headers={
            "X-Actor-Id": actor,
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Idempotency-Key": idempotency_key,
        },
        body=members(status=status, tasks=tasks, decisions=decisions, history=history),
        accept="application/json",
        answers="json",
    )
