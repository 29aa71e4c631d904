"""Sessions, edits, and changes of the document."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from . import _operations as api
from . import types
from ._call import Answer, ChangeOptions
from ._flow import Flow, Together, unless_missing, value
from ._retry import Sleep
from .errors import (
    ConnectionFailedError,
    InvalidAnswerError,
    PreconditionFailedError,
    RateLimitedError,
    StillWaitingError,
    UnavailableError,
    is_missing,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

log = logging.getLogger("working_memory_client")

# How often a change is retried because another writer was first.
CHANGES = 10
# The longest pause before the first retry, which doubles each time, and the longest of all, in seconds.
FIRST_PAUSE, LONGEST_PAUSE = 0.02, 1.0
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
    receipt: types.Prompt
    """The receipt of the prompt: its tokens by part, and what a budget dropped."""

    @property
    def first(self) -> bool:
        """Whether the memory is empty."""
        return not self.prompt and not self.handoff

    def __str__(self) -> str:
        """Prompt and handoff, for a system prompt."""
        return "\n\n".join(part.strip("\n") for part in (self.prompt, self.handoff) if part)


def start(
    at: str,
    *,
    max_tokens: int | None = None,
    query: str | None = None,
    include: api.Names | None = None,
    exclude: api.Names | None = None,
    timezone: str | None = None,
    refresh: bool = False,
) -> Flow[Session]:
    """Start a session: returns the prompt, and the handoff of the session before.

    Args:
        max_tokens: The budget of the prompt; the least important parts are left out. The handoff has limits of its own.
        query: The subject of the session: records that share its words are left out last.
        include: Only these parts of the prompt.
        exclude: Without these parts of the prompt.
        timezone: An IANA name, for the date and time in the prompt.
        refresh: Refresh the handoff first.
    """
    if refresh:
        yield from unless_missing(api.refresh_handoff(at))
    receipt = api.prompt(at, max_tokens=max_tokens, query=query, include=include, exclude=exclude, timezone=timezone)
    both = yield Together([receipt, api.get_handoff(at)])
    made: types.Prompt = value(both[0])
    text = ""
    if not is_missing(both[1]):
        handoff: types.Handoff = value(both[1])
        text = f"{handoff['preface'].rstrip()}\n\n{handoff['markdown']}"
    return Session(made["text"], text, made)


def finish(
    at: str,
    task: str,
    messages: Iterable[object] = (),
    *,
    record: types.SessionRecord | None = None,
    handoff: bool = True,
    **options: Unpack[ChangeOptions],
) -> Flow[types.UpdateAnswer]:
    """End a session: updates the memory, and makes the handoff for the next one.

    Args:
        task: What was done.
        messages: The conversation in OpenAI's or Anthropic's format; objects of their SDKs are accepted.
        record: The task for the window: `intent`, `summary`, and optionally `task_id`, `outcome`, `epic`, `goal`,
            `blocker`. A `task_id` that is recorded already makes the call a repeat, which changes nothing.
        handoff: Make a new handoff. If the service cannot be reached for it, that is logged: the update is saved.
    """
    answer: Answer[types.UpdateAnswer] = yield api.update(at, task, messages, record=record, **options)
    if handoff:
        try:
            # If nothing was added, there is no memory.
            yield from unless_missing(api.refresh_handoff(at, actor=options.get("actor")))
        except (ConnectionFailedError, UnavailableError, RateLimitedError) as error:
            log.warning("the update was saved, but no handoff was made: %s", error)
    return answer.value


def edit(
    at: str,
    *operations: types.Operation | str,
    partly: bool = False,
    dry_run: bool | None = None,
    mode: Literal["apply", "propose"] | None = None,
    **options: Unpack[ChangeOptions],
) -> Flow[types.UpdateAnswer]:
    """Change single items, each with its reason: see `learn`, `snippet`, `archive` and `progress`.

    Args:
        *operations: What to change, all in one version; or one text in the format of models.
        partly: Apply the valid ones if some are faulty, and list those in `rejected`. Otherwise a faulty one raises
            `InvalidError` and nothing is changed.
        dry_run: Save nothing, and return the result.
        mode: `propose`: make a proposal for `updates.approve`.
    """
    text = operations[0] if len(operations) == 1 and isinstance(operations[0], str) else None
    listed = [one for one in operations if not isinstance(one, str)]
    if text is None and len(listed) != len(operations):
        raise TypeError("operations are objects, or one text alone")
    answer: Answer[types.UpdateAnswer] = yield api.apply_operations(
        at, text if text is not None else listed, partly=partly, dry_run=dry_run, mode=mode, **options
    )
    return answer.value


def change(at: str, decide: Callable[[str], str]) -> Flow[types.PutAnswer]:
    """Change the document by a function of its text, without losing concurrent changes of other writers.

    Args:
        decide: Receives the newest text (empty if there is no memory yet) and returns the text to put. It is called
            again if another writer was first.
    """
    for retry in range(CHANGES):
        if retry:
            # Random, so that the writers get out of step.
            yield Sleep(random.uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (retry - 1))))
        newest = yield from unless_missing(api.get(at, fresh=True))
        text, there = "", None
        if newest is not None:
            read = [newest.value.get(name) for name in ("context", "context_id")]
            if not all(isinstance(one, str) for one in read):
                raise InvalidAnswerError(f"{at}/context: the answer is not the service's")
            text, there = newest.value["context"], newest.value["context_id"]
        try:
            put: Answer[types.PutAnswer] = yield api.put(
                at, decide(text), if_match=there, if_none_match=None if there else "*"
            )
        except PreconditionFailedError as failure:
            moved = failure
        else:
            return put.value
    raise moved


def wait(at: str, update_id: str, *, seconds: float = 600.0) -> Flow[types.Run]:
    """Wait until an update has ended.

    Args:
        update_id: The run's id, as returned by `updates.queue`.
        seconds: The maximum time to wait; after that `StillWaitingError` is raised.
    """
    until, pause = time.monotonic() + seconds, FIRST_LOOK
    while True:
        run: Answer[types.Run] = yield api.get_update(at, update_id)
        if run.value["status"] not in RUNNING:
            return run.value
        if time.monotonic() + pause > until:
            raise StillWaitingError(f"update {update_id} is still {run.value['status']} after {seconds:g} seconds")
        yield Sleep(pause)
        pause = min(LONGEST_LOOK, pause * 1.5)
