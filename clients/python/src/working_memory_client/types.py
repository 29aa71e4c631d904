"""The objects that the service takes and returns. Members of later versions of the service may come with them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, TypeVar

Entry = TypeVar("Entry")

if TYPE_CHECKING:
    from typing_extensions import NotRequired
    from typing_extensions import TypedDict as GenericTypedDict

    class Page(GenericTypedDict, Generic[Entry]):
        """A page of a list."""

        items: list[Entry]
        next_cursor: str | None

elif sys.version_info >= (3, 11):
    # For those who read the annotations at run time, such as Pydantic.
    from typing import NotRequired

    class Page(TypedDict, Generic[Entry]):
        """A page of a list."""

        items: list[Entry]
        next_cursor: str | None


class AddOperation(TypedDict):
    """Adds a learning or a snippet: see `learn` and `snippet`."""

    op: Literal["add"]
    section: Literal["learnings", "verbatim"]
    reason: str
    content: str
    label: NotRequired[str]
    replaces: NotRequired[str]
    pinned: NotRequired[bool]
    until: NotRequired[str]


class ArchiveOperation(TypedDict):
    """Archives a record: see `archive`."""

    op: Literal["archive"]
    id: str
    reason: str
    duplicate_of: NotRequired[str]
    superseded_by: NotRequired[str]
    expired: NotRequired[bool]


class MergeOperation(TypedDict):
    """Puts one learning in the place of several: see `merge`."""

    op: Literal["merge"]
    ids: list[str]
    reason: str
    content: str


class MarkOperation(TypedDict):
    """Pins a record, or gives it an end: see `mark`."""

    op: Literal["mark"]
    id: str
    reason: str
    pinned: NotRequired[bool]
    until: NotRequired[str]


class ProgressOperation(TypedDict):
    """Replaces Current Progress as a whole: see `progress`."""

    op: Literal["rewrite_progress"]
    in_progress: list[str]
    completed: NotRequired[list[str]]
    remaining: NotRequired[list[str]]


Operation = AddOperation | ArchiveOperation | MergeOperation | MarkOperation | ProgressOperation


class Vault(TypedDict):
    """A vault (tenant)."""

    vault_id: str
    memories: int
    changed_at: str


class MemoryEntry(TypedDict):
    """A memory in a list."""

    vault_id: str
    memory_id: str
    version: int
    context_id: str | None
    created_at: str
    changed_at: str
    bytes: int
    last_actor_id: str
    last_source: str | None


class ByKind(TypedDict):
    """Numbers by kind of record."""

    KL: int
    VC: int
    T: int
    D: int


class RecordCounts(TypedDict):
    """How many records are active and archived."""

    active: ByKind
    archived: ByKind


class Memory(MemoryEntry):
    """A memory with its numbers of records."""

    counters: ByKind
    records: RecordCounts
    bytes_limit: int
    open_proposals: int


class Context(TypedDict):
    """A version of the document; its text is `context`."""

    vault_id: str
    memory_id: str
    context_id: str
    version: int
    actor_id: str
    creation_time: str
    source: str
    bytes: int
    estimated_tokens: int
    percent_of_cap: float
    update_id: NotRequired[str]
    context: NotRequired[str]
    redacted: NotRequired[bool]
    redaction_reason: NotRequired[str]
    redacted_at: NotRequired[str]
    redacted_by: NotRequired[str]
    redacted_sha256: NotRequired[str]


class PutWarning(TypedDict):
    """What a put lost."""

    kind: str
    detail: str
    records: list[str]


class PutAnswer(Context):
    """The version after a put."""

    unchanged: bool
    warnings: list[PutWarning]


class LogEntry(TypedDict):
    """The changes of a version, in words."""

    version: int
    context_id: str
    actor_id: str
    creation_time: str
    source: str
    log: str


class Section(TypedDict):
    """A heading."""

    title: str
    level: int
    path: str
    start: int
    end: int
    managed: bool
    section: str | None


Evidence = TypedDict(
    "Evidence",
    {"from": str, "index": int | None, "start": int, "end": int, "quote": str, "record": "NotRequired[str]"},
)
"""What in the input of an update carries a record."""


class BlameLine(TypedDict):
    """A line and its origin."""

    line: int
    version: int
    context_id: str | None
    actor_id: str | None
    creation_time: str | None
    text: str
    evidence: list[Evidence]


class Blame(TypedDict):
    """The lines of a version."""

    vault_id: str
    memory_id: str
    context_id: str
    version: int
    lines: list[BlameLine]


class WrittenRecord(TypedDict):
    """A record as a version has it."""

    record_id: str
    kind: str
    time: str | None
    label: str | None
    reason: str | None
    content: str
    pinned: bool
    until: str | None


class ChangedRecord(TypedDict):
    """A record before and after."""

    record_id: str
    before: WrittenRecord
    after: WrittenRecord


class ArchivedRecord(TypedDict):
    """A record that was archived."""

    record_id: str
    reason: str | None
    archived_version: int | None
    superseded_by: str | None
    record: WrittenRecord


class RecordDiff(TypedDict):
    """What became of the records."""

    added: list[WrittenRecord]
    changed: list[ChangedRecord]
    archived: list[ArchivedRecord]


class Diff(TypedDict):
    """What changed between two versions."""

    vault_id: str
    memory_id: str
    base_version: int
    base_context_id: str | None
    version: int
    context_id: str
    diff: str
    records: RecordDiff
    progress_rewritten: bool
    sections_changed: list[str]


class MemoryRecord(TypedDict):
    """A learning, snippet, task or decision."""

    record_id: str
    kind: str
    status: str
    label: str | None
    reason: str | None
    content: str
    pinned: bool
    until: str | None
    created_version: int
    created_at: str
    created_by: str
    ended_version: int | None
    ended_at: str | None
    ended_by: str | None
    archive_reason: str | None
    superseded_by: str | None
    supersedes: NotRequired[list[str]]
    evidence: list[Evidence]
    time: NotRequired[str]
    task_id: NotRequired[str | None]
    intent: NotRequired[str]
    summary: NotRequired[str]
    outcome: NotRequired[Any]
    failed: NotRequired[bool]
    epic: NotRequired[str | None]
    history: NotRequired[list[dict[str, Any]]]


class SearchResult(TypedDict):
    """A result of a search."""

    memory_id: str
    version: int
    context_id: str
    creation_time: str
    rank: float
    extract: str
    found_by: list[str]
    score: float | None
    record_id: str | None
    section: str | None
    status: str | None
    record_version: int | None
    recorded_at: str | None
    recorded_by: str | None
    pinned: bool | None
    until: str | None
    evidence: list[Evidence]


class PromptItem(TypedDict):
    """A prompt item."""

    item_id: str
    vault_id: str
    memory_id: str | None
    category: str
    content: str
    metadata: dict[str, Any]
    expires_at: str | None
    created_at: str
    created_by: str


class ItemOfCategory(TypedDict):
    """An item of `items.replace`."""

    content: str
    metadata: NotRequired[dict[str, Any] | None]
    expires_at: NotRequired[str | None]


class ReplacedItems(TypedDict):
    """The items of a category."""

    items: list[PromptItem]
    unchanged: bool


class RemovedItems(TypedDict):
    """How many items were removed."""

    removed: int


class Prompt(TypedDict):
    """An assembled prompt."""

    text: str
    tokens: int
    parts: list[dict[str, Any]]
    dropped: list[dict[str, Any]]
    scores: dict[str, float]
    degraded: str | None
    version: int | None
    context_id: str | None
    prefix_hash: str
    max_tokens: int | None


class OperationReport(TypedDict):
    """An operation that was applied."""

    op: str
    id: str | None
    label: str | None
    reason: str | None
    content: str | None
    evidence: list[Evidence]
    number: NotRequired[int]
    superseded_by: NotRequired[str]


class Rejection(TypedDict):
    """An operation that was not applied, and why."""

    section: str | None
    kind: str
    detail: str
    text: str
    index: NotRequired[int]


class UpdateWarning(TypedDict):
    """What is doubtful in an update."""

    section: str | None
    kind: str
    detail: str
    index: NotRequired[int]


class UpdateAnswer(TypedDict):
    """The outcome of an update."""

    update_id: str
    vault_id: str
    memory_id: str
    status: str
    base_version: int
    version: int
    context_id: str | None
    rebased: bool
    operations: list[OperationReport]
    rejected: list[Rejection]
    warnings: list[UpdateWarning]
    diff: str
    log: str
    models: dict[str, dict[str, Any]]
    document: dict[str, Any]
    more_rejected: NotRequired[int]
    more_warnings: NotRequired[int]


class Run(TypedDict):
    """A run of an update."""

    update_id: str
    vault_id: str
    memory_id: str
    kind: str
    status: str
    actor_id: str
    created_at: str
    finished_at: str | None
    attempts: int
    base_version: int
    version: int | None
    context_id: str | None
    resolved_by: str | None
    request: Any
    outcome: Any
    exchanges: NotRequired[Any]


class SessionRecord(TypedDict):
    """The task that `finish` records."""

    intent: str
    summary: str
    task_id: NotRequired[str | None]
    outcome: NotRequired[Any]
    epic: NotRequired[str | None]
    goal: NotRequired[str | None]
    blocker: NotRequired[str | None]


class WindowStatus(TypedDict):
    """Goal and blocker."""

    goal: str | None
    blocker: str | None
    updated: str | None


class WindowTask(TypedDict):
    """A recent task."""

    record_id: str
    time: str | None
    task_id: str | None
    intent: str
    summary: str
    outcome: Any
    failed: bool
    epic: str | None


class WindowDecision(TypedDict):
    """A decision."""

    record_id: str
    time: str | None
    decision: str
    reason: str | None


class Window(TypedDict):
    """The window."""

    vault_id: str
    memory_id: str
    version: int
    context_id: str
    status: WindowStatus
    tasks: list[WindowTask]
    decisions: list[WindowDecision]


class WindowAnswer(MemoryRecord):
    """A recorded task or decision."""

    version: int
    context_id: str
    unchanged: bool
    archived: list[str]


class StatusAnswer(TypedDict):
    """Goal and blocker after a change."""

    goal: str | None
    blocker: str | None
    version: int
    context_id: str
    unchanged: bool


class WindowImportAnswer(TypedDict):
    """What an import did."""

    version: int | None
    context_id: str | None
    unchanged: bool
    taken: dict[str, int]
    present: dict[str, int]
    archived: list[str]


class ArchivedTask(TypedDict):
    """An archived task."""

    record_id: str
    time: str
    task_id: str | None
    intent: str
    summary: str
    epic: str | None
    failed: bool
    line: str


class Epic(TypedDict):
    """The archived tasks of an epic or week."""

    name: str | None
    tasks: int
    first: str
    last: str
    latest: list[ArchivedTask]


class HandoffFreshness(TypedDict):
    """Whether a handoff is fresh."""

    status: str
    reasons: list[dict[str, Any]]
    stale_lines: list[dict[str, Any]]


class HandoffStatus(HandoffFreshness):
    """The freshness of the newest handoff."""

    handoff_id: str | None
    generated_at: str | None
    window: str | None


class HandoffEntry(TypedDict):
    """A handoff in a list."""

    handoff_id: str
    vault_id: str
    memory_id: str
    generated_at: str
    generated_by: str
    window: str
    base_version: int
    model: Any


class Handoff(TypedDict):
    """A handoff."""

    handoff_id: str
    vault_id: str
    memory_id: str
    generated_at: str
    generated_by: str
    window: str
    base_version: int
    freshness: HandoffFreshness
    preface: str
    markdown: str
    manifest: Any
    refreshed: NotRequired[bool]


class Workspace(TypedDict, total=False):
    """The working copy of a handoff."""

    folder: str | None
    branch: str | None
    head: str | None
    dirty_files: list[str]


class MemoryToolAnswer(TypedDict):
    """The result of a command of the memory tool."""

    content: str
    is_error: bool
    memory_id: NotRequired[str]
    version: NotRequired[int]


class MemoryFile(TypedDict):
    """A file of the memory tool."""

    path: str
    memory_id: str
    version: int
    context_id: str
    bytes: int
    changed_at: str


class PutFileAnswer(MemoryFile):
    """A file after a put."""

    unchanged: bool


class Event(TypedDict):
    """An event."""

    id: str
    kind: str
    time: str
    vault_id: str
    memory_id: str
    version: int | None
    context_id: str | None
    actor: str | None
    source: str | None
    update_id: str | None
    details: Any


class Key(TypedDict):
    """An API key without its secret."""

    key_id: str
    name: str
    role: str
    vaults: list[str] | None
    vault_prefix: str | None
    speaks_for_others: bool
    active: bool
    created_by: str
    created_at: str
    rotated_at: str | None
    expires_at: str | None
    revoked_at: str | None


class NewKey(Key):
    """An API key with its secret."""

    key: str


class Spent(TypedDict):
    """What models cost."""

    runs: int
    calls: int
    failures: int
    input_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    output_tokens: int
    millis: int
    cost: float | None


class UsageOfDay(Spent):
    """What a model cost on a day."""

    day: str
    model: str


class SearchPage(TypedDict):
    """A page of a search."""

    items: list[SearchResult]
    next_cursor: str | None
    mode: str
    degraded: str | None


class Usage(TypedDict):
    """A page of the usage of models, with its totals."""

    items: list[UsageOfDay]
    next_cursor: str | None
    vault_id: str
    currency: str
    totals: Spent
    without_price: list[str]
    tokens_today: int
    tokens_per_day: int | None
    memories: int
    memories_limit: int | None
    bytes: int
    bytes_limit: int | None
