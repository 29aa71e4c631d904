"""Sessions, edits, and changes of the document."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from . import models
from ._call import NOT_GIVEN, Answer
from ._flow import Flow, Together, value
from ._retry import Sleep
from .operations import contexts, handoff, prompt, records, updates
from .problems import NotFound, PreconditionFailed, StillWaiting

# How often a change is retried because another writer was first.
CHANGES = 10
# The statuses of a run that has not ended.
RUNNING = ("queued", "running")
# The interval between two polls of a run, in seconds.
FIRST_LOOK, LONGEST_LOOK = 0.1, 2.0


@dataclass(frozen=True)
class Session:
    """The start of an agent's session. In a first session all of it is empty."""

    prompt: str
    """The assembled prompt, for the system prompt."""
    handoff: str
    """The handoff of the last session, with citations; empty if there is none."""
    receipt: models.Prompt
    """The receipt of the prompt: its tokens by part, and what a budget dropped."""

    @property
    def first(self) -> bool:
        """Whether the memory is empty."""
        return not self.prompt and not self.handoff

    def __str__(self) -> str:
        """Prompt and handoff, for a system prompt."""
        return "\n\n".join(part.strip("\n") for part in (self.prompt, self.handoff) if part)


def start(
    vault_id: str,
    memory_id: str,
    *,
    max_tokens: int | None = None,
    query: str | None = None,
    include: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
    timezone: str | None = None,
    refresh: bool = False,
) -> Flow[Session]:
    """Start a session: returns the prompt, and the handoff of the session before.

    Args:
        max_tokens: The budget of the prompt; the least important parts are dropped. The handoff has limits of its own.
        query: The subject of the session: records that share its words are dropped last.
        include: Only these parts of the prompt.
        exclude: Without these parts of the prompt.
        timezone: An IANA name, for the date and time in the prompt.
        refresh: Refresh the handoff first.
    """
    if refresh:
        with suppress(NotFound):
            yield handoff.refresh_handoff(vault_id, memory_id)
    receipt = prompt.get_prompt(
        vault_id,
        memory_id,
        max_tokens=max_tokens,
        query=query,
        include=include,
        exclude=exclude,
        timezone=timezone,
    )
    both = yield Together([receipt, handoff.get_handoff_text(vault_id, memory_id)])
    made: models.Prompt = value(both[0])
    text = "" if isinstance(both[1], NotFound) else value(both[1])
    return Session(made["text"], text, made)


def finish(
    vault_id: str,
    memory_id: str,
    task: str,
    messages: Iterable[object] = (),
    *,
    record: models.SessionRecord | None = None,
    handoff_too: bool = True,
    idempotency_key: str | None = None,
) -> Flow[models.UpdateAnswer]:
    """End a session: updates the memory, and makes the handoff for the next one.

    Args:
        task: What was done.
        messages: The conversation in OpenAI's or Anthropic's format; objects of their SDKs are accepted.
        record: The task for the window: `intent`, `summary`, and optionally `task_id`, `outcome`, `epic`, `goal`,
            `blocker`. A `task_id` that is recorded already makes the call a repeat, which changes nothing.
        handoff_too: Make a new handoff.
        idempotency_key: Calls with the same key are executed once.
    """
    answer: Answer[models.UpdateAnswer] = yield updates.update_context(
        vault_id,
        memory_id,
        task=task,
        messages=list(messages),
        record=NOT_GIVEN if record is None else record,
        idempotency_key=idempotency_key,
    )
    if handoff_too:
        with suppress(NotFound):  # nothing was added, so there is no memory
            yield handoff.refresh_handoff(vault_id, memory_id)
    return answer.value


def edit(
    vault_id: str,
    memory_id: str,
    *operations: models.OperationRequest,
    partly: bool = False,
    dry_run: bool = False,
    if_match: str | None = None,
    idempotency_key: str | None = None,
) -> Flow[models.UpdateAnswer]:
    """Change single items, each with its reason: see `learn`, `snippet`, `archive` and `progress`.

    Args:
        *operations: What to change, all in one version.
        partly: Apply the valid ones if some are faulty, and list those in `rejected`. Otherwise a faulty one raises
            `Invalid` and nothing is changed.
        dry_run: Save nothing, and return the result.
        if_match: Only if this is the newest version (its `context_id`).
        idempotency_key: Calls with the same key are executed once.
    """
    answer: Answer[models.UpdateAnswer] = yield updates.apply_operations(
        vault_id,
        memory_id,
        operations=operations,
        dry_run=dry_run or None,
        on_invalid="drop" if partly else "fail",
        if_match=if_match,
        idempotency_key=idempotency_key,
    )
    return answer.value


def change(vault_id: str, memory_id: str, decide: Callable[[str], str]) -> Flow[models.PutAnswer]:
    """Change the document by a function of its text, without losing concurrent changes of other writers.

    Args:
        decide: Receives the newest text (empty if there is no memory yet) and returns the text to put. It is called
            again if another writer was first.
    """
    for _ in range(CHANGES):
        try:
            newest: Answer[models.Context] = yield contexts.get_latest_context(
                vault_id, memory_id, cache_control="no-cache"
            )
        except NotFound:
            text, there = "", None
        else:
            text, there = newest.value["context"], newest.value["context_id"]
        try:
            put: Answer[models.PutAnswer] = yield contexts.put_context(
                vault_id, memory_id, decide(text), if_match=there, if_none_match=None if there else "*"
            )
        except PreconditionFailed as failure:
            moved = failure
        else:
            return put.value
    raise moved


def search(vault_id: str, memory_id: str, query: str, *, archived: bool = False) -> Flow[list[models.Record]]:
    """The records that contain all words of a query, ignoring case; filtered here, page by page.

    Args:
        query: Words.
        archived: Include archived ones.
    """
    words = query.casefold().split()
    found: list[models.Record] = []
    listing = records.list_records(vault_id, memory_id, status="all" if archived else "active", limit=500)
    while True:
        page: Answer[models.RecordList] = yield listing
        for record in page.value["items"]:
            text = " ".join(filter(None, (record["label"], record["reason"], record["content"]))).casefold()
            if all(word in text for word in words):
                found.append(record)
        if page.value["next_cursor"] is None:
            return found
        listing = listing.at(page.value["next_cursor"])


def wait_for(vault_id: str, memory_id: str, update_id: str, *, seconds: float = 600.0) -> Flow[models.Run]:
    """Wait until an update has ended.

    Args:
        update_id: The run's id, as returned by `queue_update`.
        seconds: The maximum time to wait; after that `StillWaiting` is raised.
    """
    until, pause = time.monotonic() + seconds, FIRST_LOOK
    while True:
        run: Answer[models.Run] = yield updates.get_update(vault_id, memory_id, update_id)
        if run.value["status"] not in RUNNING:
            return run.value
        if time.monotonic() + pause > until:
            raise StillWaiting(f"update {update_id} is still {run.value['status']} after {seconds:g} seconds")
        yield Sleep(pause)
        pause = min(LONGEST_LOOK, pause * 1.5)
