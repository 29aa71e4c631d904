"""Models of the operations on updates.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from .common import Evidence, Rejection
from .messages import Message


class ApproveRequest(TypedDict, total=False):
    """What is approved."""

    operations: list[int]
    """The numbers of the operations that are approved."""
    comment: str | None
    """What is said about it."""


class DocumentReport(TypedDict):
    """How full the document is."""

    bytes: int
    """Its size in bytes."""
    estimated_tokens: int
    """Roughly how many tokens that is for a model."""
    percent_of_cap: float
    """Its size in percent of `limits.context_bytes`, with one decimal."""


RunKind = Literal["update", "operations"]
"""The routes a run can come by."""


RunStatus = Literal[
    "queued",
    "running",
    "applied",
    "unchanged",
    "dry_run",
    "invalid",
    "failed",
    "conflict",
    "resolved",
    "cancelled",
    "proposed",
    "approved",
    "rejected",
    "expired",
]
"""Where a run can stand, and how it can end."""


class _RunRequired(TypedDict):
    update_id: str
    """The run's id."""
    vault_id: str
    """The vault."""
    memory_id: str
    """The memory."""
    kind: RunKind
    """Which route it came by."""
    status: RunStatus
    """How it ended, or where it stands."""
    actor_id: str
    """Who asked for it."""
    created_at: str
    """When it began."""
    finished_at: str | None
    """When it ended; null while it is queued or running."""
    attempts: int
    """How often it was begun."""
    base_version: int
    """The version it captured."""
    version: int | None
    """The version that stood after it."""
    context_id: str | None
    """That version's id."""
    resolved_by: str | None
    """The run that finished this one by hand."""
    request: Any
    """What was asked for."""
    outcome: Any
    """What came of it."""


class Run(_RunRequired, total=False):
    """One run of `/update` or `/operations`."""

    exchanges: Any
    """What each model was asked and answered."""


class RunList(TypedDict):
    """A page of a list."""

    items: list[Run]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


Mode = Literal["apply", "propose"]
"""What becomes of the operations."""


class ModelReport(TypedDict):
    """What a role's model cost."""

    model: str
    """The model's name."""
    attempts: int
    """Calls made, retries included."""
    reprompts: int
    """How often it was asked again about faulty items or a moved memory."""
    input_tokens: int | None
    """Tokens it read, where it tells."""
    cached_tokens: int | None
    """Of these, tokens its provider had in its cache, where it tells."""
    cache_write_tokens: int | None
    """Of these, tokens its provider put into its cache, where it tells."""
    output_tokens: int | None
    """Tokens it wrote, where it tells."""
    millis: int
    """Time until its last answer, in milliseconds."""


OnInvalid = Literal["drop", "fail"]
"""What to do about items that stay faulty."""


class _OperationReportRequired(TypedDict):
    op: str
    """`rewrite_progress`, `add` or `archive`."""
    id: str | None
    """The record it made or archived."""
    label: str | None
    """The label of a verbatim record."""
    reason: str | None
    """Why."""
    content: str | None
    """The insight, snippet or new progress."""
    evidence: list[Evidence]
    """What of the task and the messages carries it, at most two passages."""


class OperationReport(_OperationReportRequired, total=False):
    """One change that was made."""

    number: int
    """The number by which it is approved."""
    superseded_by: str
    """Of an archived record the one that takes its place."""


RecordSection = Literal["learnings", "verbatim"]
"""A section that records are added to."""


class _AddOperationRequired(TypedDict):
    section: RecordSection
    """Where it goes."""
    reason: str
    """Why it is worth keeping."""
    content: str
    """The insight, one line, or the snippet, stored as it is."""
    op: Literal["add"]


class AddOperation(_AddOperationRequired, total=False):
    """A new record."""

    label: str
    """What a snippet is, such as a file path or a config key."""
    replaces: str
    """The record whose place it takes."""


class ArchiveOperation(TypedDict):
    """Takes a learning or snippet out of the document."""

    id: str
    """Its id."""
    reason: str
    """Why."""
    op: Literal["archive"]


class _RewriteProgressOperationRequired(TypedDict):
    in_progress: list[str]
    """What is being done."""
    op: Literal["rewrite_progress"]


class RewriteProgressOperation(_RewriteProgressOperationRequired, total=False):
    """Replaces `Current Progress` as a whole."""

    completed: list[str]
    """What is done."""
    remaining: list[str]
    """What is left to do."""


OperationRequest = AddOperation | ArchiveOperation | RewriteProgressOperation
"""One operation."""


class OperationsRequest(TypedDict, total=False):
    """Operations as JSON: a list of them, or the text that models write. One of the two."""

    operations: list[OperationRequest]
    """The operations. An empty list changes nothing."""
    text: str
    """The text that models write, see docs/dsl.md."""


OperationsText = str
"""Operations in the text that models write."""


class RejectRequest(TypedDict):
    """Why a proposal is rejected."""

    reason: str
    """For whoever proposed it."""


Role = Literal["progress", "learnings", "verbatim"]
"""A section that is updated, and the model that updates it."""


class _SessionRecordRequired(TypedDict):
    intent: str
    """What was to be done; at most 500 bytes."""
    summary: str
    """What was done; at most 4,000 bytes."""


class SessionRecord(_SessionRecordRequired, total=False):
    """What a session ends with."""

    task_id: str | None
    """What the caller calls the task, unique within the memory."""
    outcome: Any
    """A report on it, any JSON of at most 8,192 bytes without blanks."""
    epic: str | None
    """The larger work it is a part of."""
    goal: str | None
    """What is aimed at from now on."""
    blocker: str | None
    """What stands in the way."""


UpdateStatus = Literal["applied", "unchanged", "dry_run", "proposed"]
"""How an update ended well."""


class _UpdateWarningRequired(TypedDict):
    section: str | None
    """`progress`, `learnings`, `verbatim`, or null where the place belongs to none."""
    kind: str
    """Its stable name; `no_model` where the built-in rules answered because no model is configured."""
    detail: str
    """A sentence."""


class UpdateWarning(_UpdateWarningRequired, total=False):
    """Something worth knowing that kept nothing from being applied."""

    index: int
    """Of operations sent as JSON the place in their list, from 0."""


class _UpdateAnswerRequired(TypedDict):
    update_id: str
    """The run, see `GetUpdate`."""
    vault_id: str
    """The vault."""
    memory_id: str
    """The memory."""
    status: UpdateStatus
    """How it ended."""
    base_version: int
    """The version that was captured."""
    version: int
    """The version that stands now."""
    context_id: str | None
    """Its id; null if the memory does not exist."""
    rebased: bool
    """Whether the memory had moved since it was captured."""
    operations: list[OperationReport]
    """What was changed."""
    rejected: list[Rejection]
    """What was not applied; of each text the first 200 items."""
    warnings: list[UpdateWarning]
    """What is worth knowing."""
    diff: str
    """A unified diff of the document."""
    log: str
    """The change in words."""
    models: dict[str, ModelReport]
    """What each role's model cost."""
    document: DocumentReport
    """How full the document is."""


class UpdateAnswer(_UpdateAnswerRequired, total=False):
    """The answer to `/update` and `/operations`."""

    more_rejected: int
    """How many more items were not applied."""
    more_warnings: int
    """How many more warnings there are."""


class _UpdateRequestRequired(TypedDict):
    task: str
    """What was just done or is being done."""


class UpdateRequest(_UpdateRequestRequired, total=False):
    """What was done, for the models to update the document with."""

    messages: list[Message]
    """The conversation around it, oldest first, in the form of OpenAI's or of Anthropic's messages."""
    dry_run: bool
    """Do everything but save."""
    allow_partial: bool
    """Save what the other roles say when a role's model fails."""
    on_invalid: OnInvalid
    """What to do about items that stay faulty."""
    roles: list[Role]
    """The roles to ask; all of them without it."""
    mode: Mode
    """`propose`: everything but the save."""
    record: SessionRecord
    """What the session ends with."""
