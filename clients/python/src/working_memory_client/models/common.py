"""Models of more than one part.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

RecordKind = Literal["KL", "VC", "T", "D"]
"""The kinds of records."""


EvidenceOrigin = Literal["task", "message"]
"""Which of the texts of an update's input."""


Evidence = TypedDict(
    "Evidence", {"from": "EvidenceOrigin", "index": "int | None", "start": "int", "end": "int", "quote": "str"}
)
"""A passage of an update's input that carries a change."""


ChangeKind = Literal["added", "changed", "archived", "superseded", "restored"]
"""What a version did to a record."""


Source = Literal["put", "update", "operations", "task", "decision", "status", "restore", "import", "tool"]
"""What can make a version."""


class _ContextRequired(TypedDict):
    vault_id: str
    """The vault."""
    memory_id: str
    """The memory."""
    context_id: str
    """The version's id; in double quotes it is the entity tag of its text."""
    version: int
    """Its number: 1, 2, 3 …, each given once."""
    actor_id: str
    """Who made it."""
    creation_time: str
    """When it was made."""
    source: Source
    """What made it."""
    bytes: int
    """The size of its text in bytes."""
    estimated_tokens: int
    """Roughly how many tokens that is for a model."""
    percent_of_cap: float
    """Its size in percent of `limits.context_bytes`."""


class Context(_ContextRequired, total=False):
    """One version of a document."""

    context: str
    """The text, where it was asked for."""
    redacted: bool
    """True if the text was taken out for good."""
    redaction_reason: str
    """Why the text was taken out."""
    redacted_at: str
    """When it was taken out."""
    redacted_by: str
    """Who took it out."""
    redacted_sha256: str
    """The SHA-256 of the text, in hexadecimal."""


class RecordChange(TypedDict):
    """One change of a record, and what it said from then on."""

    change: ChangeKind
    """What was done to it."""
    version: int
    """The version that did it."""
    at: str
    """When that was made."""
    by: str
    """Who made it."""
    label: str | None
    """The label that it had from then on."""
    reason: str | None
    """The reason."""
    content: str | None
    """What it said."""


RecordStatus = Literal["active", "archived"]
"""Whether a record is in the newest version."""


class RecordTaskFields(TypedDict, total=False):
    """The same as members of a record, where they may be absent."""

    time: str
    """When it was done: the time on its line."""
    task_id: str | None
    """What its writer calls it."""
    intent: str
    """What was to be done, as it was told."""
    summary: str
    """What was done, as it was told."""
    outcome: Any
    """A report on it, any JSON."""
    failed: bool
    """Whether the outcome says `"success": false`."""
    epic: str | None
    """The larger work it is a part of."""


class _RecordRequired(RecordTaskFields):
    record_id: str
    """Its id, unique within the memory and never used again."""
    kind: RecordKind
    """`KL`, `VC`, `T` or `D`."""
    status: RecordStatus
    """Whether it stands in the newest version."""
    label: str | None
    """The label of a verbatim record."""
    reason: str | None
    """Why it was worth keeping, where its line says so."""
    content: str
    """What it says; of a verbatim record the snippet."""
    created_version: int
    """The first version with it."""
    created_at: str
    """When that was made."""
    created_by: str
    """Who made it."""
    ended_version: int | None
    """The first version without it."""
    ended_at: str | None
    """When that was made."""
    ended_by: str | None
    """Who made it."""
    archive_reason: str | None
    """Why it was archived, where an operation said so."""
    superseded_by: str | None
    """The record that took its place."""
    evidence: list[Evidence]
    """What of the task and the messages carried it into the memory, at most two passages."""


class Record(_RecordRequired, total=False):
    """One identified entry of the document."""

    history: list[RecordChange]
    """What became of it, the newest change first."""


PutWarningKind = Literal["bytes_dropped", "records_dropped", "archived_id_reused"]
"""What a text can lose."""


class PutWarning(TypedDict):
    """A sign that a text has lost what the document said."""

    kind: PutWarningKind
    """More than half of the bytes are gone, or active records are."""
    detail: str
    """The same in a sentence, with the sizes."""
    records: list[str]
    """The records that are gone."""


class _RejectionRequired(TypedDict):
    section: str | None
    """`progress`, `learnings`, `verbatim`, or null where the place belongs to none."""
    kind: str
    """The fault's stable name."""
    detail: str
    """A sentence that says what is wrong and what would be right."""
    text: str
    """The item as it was written, cut after 2,000 bytes."""


class Rejection(_RejectionRequired, total=False):
    """Something that was not applied."""

    index: int
    """Of operations sent as JSON the place in their list, from 0."""


class _ProblemRequired(TypedDict):
    type: str
    """What kind of problem it is."""
    title: str
    """The kind in words, the same for every occurrence."""
    status: int
    """The status of the answer."""
    detail: str
    """What is wrong with this request."""


class Problem(_ProblemRequired, total=False):
    """The body of every error (RFC 9457). The first four members are always there; which of the others are depends
    on the type.
    """

    field: str
    """The parameter, header or member of the body that is wrong."""
    limit: int
    """The limit that is broken, in the unit that the detail names."""
    limit_name: str
    """The setting that has the limit."""
    limit_seconds: int
    """The time that was not enough, in seconds."""
    minimum: int
    """The least that is taken."""
    actual: int
    """What was found where the limit is."""
    before: int
    """The size before the change, in bytes."""
    needed: int
    """The tokens that the prompt needs at least."""
    offset: int
    """Where in the body, in bytes from its beginning."""
    more_rejected: int
    """How many rejected items there are besides those that are told."""
    opens_at: str
    """When the quota is open again."""
    current: str | None
    """What stands there now, for a precondition."""
    update_id: str
    """The run that was kept."""
    run_status: str
    """Where that run stands."""
    record_id: str
    """The record that stands against it."""
    version: int
    """The version it is about."""
    role: str
    """The role whose model failed."""
    required_role: str
    """The role that the key would need."""
    setting: str
    """The setting that would let the request in."""
    redaction_reason: str
    """Why the version's text was taken out."""
    redacted_at: str
    """When it was."""
    freshness: str
    """`missing`: there is no handoff yet."""
    accepted: list[str]
    """The media types that are taken."""
    active: list[str]
    """The decisions that can be superseded."""
    known: list[str]
    """The parts that a prompt can have."""
    unknown: list[str]
    """The names that are none of them."""
    sections: list[str]
    """The sections that the document has."""
    not_ready: list[str]
    """The checks that fail."""
    checks: dict[str, str]
    """All checks: `ok`, `failed` or `unknown`."""
    rejected: list[Rejection]
    """What could not be applied."""
    warnings: list[PutWarning]
    """What the document would lose."""


class PutAnswer(Context):
    """What a put came to."""

    unchanged: bool
    """Whether the document was this already, so that no version was made."""
    warnings: list[PutWarning]
    """What the new version lost of the one before, and archived ids that it uses again."""
