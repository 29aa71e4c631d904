"""The operations of the service as calls. `at` is the path of the client, a vault or a memory, to which they belong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from . import types
from ._call import NOT_GIVEN, Call, ChangeOptions, Listing, NotGiven, WriteOptions, members, nullable, segment, write

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import Page

Ref = str | int
Time = datetime | str
Names = str | Iterable[str]
Status = Literal["active", "archived", "all"]
Kind = Literal["KL", "VC", "T", "D"]
TEXT = "text/plain"


def _paged(path: str, **query: object) -> Listing[Any, Any]:
    return Listing("GET", path, query)


def _text(path: str, accept: str = TEXT) -> Call[str]:
    return Call("GET", path, answers="text", accept=accept)


def _delete(path: str, **headers: str | None) -> Call[None]:
    return Call("DELETE", path, headers=headers, answers="none")


# Of the client.


def list_vaults(at: str, *, limit: int | None = None) -> Listing[types.Vault, Page[types.Vault]]:
    """The vaults that the key reaches."""
    return _paged(f"{at}/vaults", limit=limit)


def guidance(at: str) -> Call[str]:
    """Instructions for agents that write the document themselves."""
    return _text(f"{at}/guidance", "*/*")


def list_keys(at: str, *, limit: int | None = None) -> Listing[types.Key, Page[types.Key]]:
    """The API keys, without their secrets."""
    return _paged(f"{at}/keys", limit=limit)


def create_key(
    at: str,
    name: str,
    role: Literal["reader", "proposer", "writer", "admin"],
    *,
    vaults: Sequence[str] | None = None,
    vault_prefix: str | None = None,
    speaks_for_others: bool | None = None,
    expires_at: Time | None = None,
) -> Call[types.NewKey]:
    """Create an API key. Its secret, `key`, is returned only once.

    Args:
        vaults: Only these vaults; without it and `vault_prefix` all of them.
        vault_prefix: Only the vaults whose ids begin like this.
        speaks_for_others: Whether its requests may name another `actor`.
        expires_at: When it stops working.
    """
    body = members(
        name=name,
        role=role,
        vaults=vaults,
        vault_prefix=vault_prefix,
        speaks_for_others=speaks_for_others,
        expires_at=expires_at,
    )
    return Call("POST", f"{at}/keys", body=body)


def get_key(at: str, key_id: str) -> Call[types.Key]:
    """An API key, without its secret."""
    return Call("GET", f"{at}/keys/{segment(key_id)}")


def rotate_key(at: str, key_id: str, *, grace_seconds: int | None = None) -> Call[types.NewKey]:
    """Give a key a new secret; the old one works for `grace_seconds` more."""
    return Call("POST", f"{at}/keys/{segment(key_id)}/rotate", {"grace_seconds": grace_seconds})


def revoke_key(at: str, key_id: str) -> Call[None]:
    """Revoke a key."""
    return _delete(f"{at}/keys/{segment(key_id)}")


# Of a vault.


def list_memories(
    at: str,
    *,
    prefix: str | None = None,
    sort: Literal["memory_id", "changed_at", "bytes"] | None = None,
    limit: int | None = None,
) -> Listing[types.MemoryEntry, Page[types.MemoryEntry]]:
    """The memories of the vault.

    Args:
        prefix: Only those whose ids begin like this.
        sort: By id; or the last changed, or the largest first.
    """
    return _paged(f"{at}/memories", prefix=prefix, sort=sort, limit=limit)


def usage(
    at: str, *, since: str | None = None, until: str | None = None, limit: int | None = None
) -> Listing[types.UsageOfDay, types.Usage]:
    """What models cost, by day and model; each page has the `totals`.

    Args:
        since: The first day, such as `2026-11-01`.
        until: The last day.
    """
    return _paged(f"{at}/usage", **{"from": since, "to": until, "limit": limit})


def run_memory_tool(
    at: str, command: Mapping[str, Any], *, root: str, **options: Unpack[WriteOptions]
) -> Call[types.MemoryToolAnswer]:
    """Execute a command of Anthropic's memory tool on the files of `root`."""
    return write("POST", f"{at}/memory-tool", command, options, {"root": root})


def list_files(at: str, *, root: str, limit: int | None = None) -> Listing[types.MemoryFile, Page[types.MemoryFile]]:
    """The memory tool's files of `root`, by path."""
    return _paged(f"{at}/memory-tool/files", root=root, limit=limit)


def put_file(
    at: str, text: str, *, root: str, path: str, **options: Unpack[ChangeOptions]
) -> Call[types.PutFileAnswer]:
    """Create a file of the memory tool, or a new version of it."""
    return write("PUT", f"{at}/memory-tool/files", text, options, {"root": root, "path": path})


def remove_file(at: str, *, root: str, path: str, if_match: str | None = None) -> Call[None]:
    """Remove a file from the memory tool's tree. Its memory stays."""
    call = write("DELETE", f"{at}/memory-tool/files", None, {"if_match": if_match}, {"root": root, "path": path})
    return replace(call, answers="none", writes=False)


# Of a vault or a memory.


def search(
    at: str,
    q: str,
    *,
    mode: Literal["text", "semantic", "hybrid"] | None = None,
    kind: Kind | None = None,
    status: Status | None = None,
    actor: str | None = None,
    since: Time | None = None,
    until: Time | None = None,
    min_score: float | None = None,
    consistent: bool | None = None,
    limit: int | None = None,
) -> Listing[types.SearchResult, types.SearchPage]:
    """Search documents and records, best first.

    Args:
        q: Words; `"a phrase"`, `-without`, `this or that`.
        mode: By words (`text`), by meaning, or by both; without it what the service can do.
        kind: Only records of this kind; without it documents too.
        status: Without it active records.
        min_score: Of a search by meaning: at least this similar.
        consistent: Wait until what was written before is searchable.
    """
    return _paged(
        f"{at}/search",
        q=q,
        mode=mode,
        kind=kind,
        status=status,
        actor=actor,
        since=since,
        until=until,
        min_score=min_score,
        consistent=consistent,
        limit=limit,
    )


def list_updates(at: str, *, limit: int | None = None) -> Listing[types.Run, Page[types.Run]]:
    """The memory's runs, newest first."""
    return _paged(f"{at}/updates", limit=limit)


def list_vault_updates(
    at: str, *, status: str | None = None, limit: int | None = None
) -> Listing[types.Run, Page[types.Run]]:
    """The vault's runs, newest first; with `status="proposed"` the proposals that wait for a decision."""
    return _paged(f"{at}/updates", status=status, limit=limit)


def list_items(
    at: str, *, category: str | None = None, limit: int | None = None
) -> Listing[types.PromptItem, Page[types.PromptItem]]:
    """The prompt items, by category."""
    return _paged(f"{at}/items", category=category, limit=limit)


def add_item(
    at: str,
    content: str,
    category: str,
    *,
    metadata: Mapping[str, Any] | None = None,
    expires_at: Time | None = None,
    **options: Unpack[WriteOptions],
) -> Call[types.PromptItem]:
    """Add a prompt item behind those of its category.

    Args:
        content: Its text. An empty one is a `ValueError`.
        category: Such as `rules`, which requires the role admin.
        metadata: Any JSON object.
        expires_at: From when on it is not shown.
    """
    body = members(content=_content(content), category=category, metadata=metadata, expires_at=expires_at)
    return write("POST", f"{at}/items", body, options)


def get_item(at: str, item_id: str) -> Call[types.PromptItem]:
    """A prompt item."""
    return Call("GET", f"{at}/items/{segment(item_id)}")


def replace_items(
    at: str, category: str, contents: Iterable[str | types.ItemOfCategory], **options: Unpack[WriteOptions]
) -> Call[types.ReplacedItems]:
    """Replace all items of a category at once, by texts or by objects with `content`, `metadata` and `expires_at`."""
    if isinstance(contents, str):
        raise TypeError("contents is a list of texts, not one text")
    items = [{"content": one} if isinstance(one, str) else one for one in contents]
    for item in items:
        _content(item["content"])
    return write("PUT", f"{at}/items/{segment(category)}", {"items": items}, options)


def remove_item(at: str, item_id: str) -> Call[None]:
    """Remove a prompt item."""
    return _delete(f"{at}/items/{segment(item_id)}")


def clear_items(at: str, category: str) -> Call[types.RemovedItems]:
    """Remove all items of a category."""
    return Call("DELETE", f"{at}/items", {"category": category})


def _content(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"content is a text, not {type(text).__name__}")
    if not text.strip():
        raise ValueError("content is empty: an item needs text")
    return text


# Of a memory: its document.


def get(
    at: str,
    *,
    section: str | None = None,
    as_of: Time | None = None,
    fresh: bool = False,
    if_none_match: str | None = None,
) -> Call[types.Context]:
    """Read the newest document; its text is `["context"]`.

    Args:
        section: Only this section: `progress`, `learnings`, `verbatim`, or the title or path of any heading.
        as_of: The version that was the newest at this time.
        fresh: Ask the database also where the service has the newest version in its cache.
        if_none_match: Raise `NotModifiedError` if this is still the newest version: its `context_id`; with
            `section` the `etag` of the section's response.
    """
    if if_none_match is not None and if_none_match != "*" and not set(';,"') & set(if_none_match.strip('"')):
        # As JSON a version has an entity tag of its own.
        if_none_match = f'"{if_none_match.strip(chr(34))};json"'
    call = write("GET", f"{at}/context", None, {"if_none_match": if_none_match}, {"section": section, "as_of": as_of})
    return replace(call, writes=False, headers={**call.headers, "Cache-Control": "no-cache" if fresh else None})


def put(
    at: str,
    document: str | Mapping[str, Any] | Sequence[Any],
    *,
    confirm: Literal["collapse"] | None = None,
    **options: Unpack[ChangeOptions],
) -> Call[types.PutAnswer]:
    """Put the whole document, which becomes a version unless it is the newest one already.

    Args:
        document: Text, stored byte for byte; an object is stored as JSON.
        confirm: `collapse`: also if it loses much of the document.
    """
    return write("PUT", f"{at}/context", document, options, {"confirm": confirm})


def delete(at: str, *, if_match: str | None = None) -> Call[None]:
    """Delete the memory with its history. Requires the role admin."""
    call = write("DELETE", at, None, {"if_match": if_match})
    return replace(call, answers="none", writes=False)


def info(at: str) -> Call[types.Memory]:
    """The memory's newest version, size and numbers of records."""
    return Call("GET", at)


def prompt(
    at: str,
    *,
    max_tokens: int | None = None,
    query: str | None = None,
    include: Names | None = None,
    exclude: Names | None = None,
    timezone: str | None = None,
    as_of: Time | None = None,
) -> Call[types.Prompt]:
    """The assembled prompt: its `text`, its tokens by part, and what the budget left out.

    Args:
        max_tokens: The budget; the least important parts are left out.
        query: The subject: records that share its words are left out last.
        include: Only these parts.
        exclude: Without these parts.
        timezone: An IANA name, for the date and time in the prompt.
        as_of: As it was at this time.
    """
    parts = {"max_tokens": max_tokens, "query": query, "include": include, "exclude": exclude}
    return Call("GET", f"{at}/prompt", {**parts, "timezone": timezone, "as_of": as_of})


def get_prompt_content(
    at: str,
    *,
    max_tokens: int | None = None,
    query: str | None = None,
    include: Names | None = None,
    exclude: Names | None = None,
    timezone: str | None = None,
) -> Call[str]:
    """The text of the assembled prompt, with the items of vault and memory; the arguments are those of `prompt`."""
    call = prompt(at, max_tokens=max_tokens, query=query, include=include, exclude=exclude, timezone=timezone)
    return Call("GET", call.path, call.query, answers="text", accept=TEXT)


def log(at: str, *, limit: int | None = None) -> Listing[types.LogEntry, Page[types.LogEntry]]:
    """What changed, in words, newest first."""
    return _paged(f"{at}/log", limit=limit)


def blame(at: str, *, ref: Ref | None = None) -> Call[types.Blame]:
    """Which version brought each line, who made it, and when."""
    return Call("GET", f"{at}/blame", {"ref": ref})


def sections(
    at: str, *, ref: Ref | None = None, limit: int | None = None
) -> Listing[types.Section, Page[types.Section]]:
    """The headings of the document."""
    return _paged(f"{at}/sections", ref=ref, limit=limit)


def list_versions(at: str, *, limit: int | None = None) -> Listing[types.Context, Page[types.Context]]:
    """The versions, newest first, without their texts."""
    return _paged(f"{at}/contexts", limit=limit)


def get_version(at: str, ref: Ref, *, section: str | None = None) -> Call[types.Context]:
    """A version by its number or `context_id`."""
    return Call("GET", f"{at}/contexts/{segment(ref)}", {"section": section})


def diff_versions(at: str, ref: Ref, *, base: Ref | None = None) -> Call[types.Diff]:
    """What a version changed, against the one before it or `base`: as text (`diff`) and by record."""
    return Call("GET", f"{at}/contexts/{segment(ref)}/diff", {"base": base})


def restore_version(
    at: str, ref: Ref, *, reason: str | None = None, **options: Unpack[ChangeOptions]
) -> Call[types.PutAnswer]:
    """Make the text of an earlier version the newest one again."""
    return write("POST", f"{at}/contexts/{segment(ref)}/restore", members(reason=reason), options)


def redact_version(at: str, ref: Ref, *, reason: str, **options: Unpack[ChangeOptions]) -> Call[types.Context]:
    """Remove the text of a version for good. Requires the role admin."""
    return write("POST", f"{at}/contexts/{segment(ref)}/redact", {"reason": reason}, options)


def list_records(
    at: str, *, kind: Kind | None = None, status: Status | None = None, limit: int | None = None
) -> Listing[types.MemoryRecord, Page[types.MemoryRecord]]:
    """The records: learnings (KL), snippets (VC), tasks (T), decisions (D).

    Args:
        kind: Only this kind.
        status: Without it the active ones.
    """
    return _paged(f"{at}/records", kind=kind, status=status, limit=limit)


def get_record(at: str, record_id: str, *, history: bool | None = None) -> Call[types.MemoryRecord]:
    """A record by its id, such as `KL-3`, with its reason and evidence; on request with its `history`."""
    return Call("GET", f"{at}/records/{segment(record_id)}", {"history": history})


# Of a memory: updates by models or by operations.


def update(
    at: str,
    task: str,
    messages: Iterable[object] = (),
    *,
    record: types.SessionRecord | None = None,
    mode: Literal["apply", "propose"] | None = None,
    dry_run: bool | None = None,
    roles: Sequence[str] | None = None,
    **options: Unpack[ChangeOptions],
) -> Call[types.UpdateAnswer]:
    """Update the document from what was done and said.

    Args:
        task: What was done.
        messages: The conversation in OpenAI's or Anthropic's format; objects of their SDKs are accepted.
        record: The task for the window, saved in the same version.
        mode: `propose`: make a proposal for `updates.approve`.
        dry_run: Save nothing, and return the result.
        roles: Only these of `progress`, `learnings`, `verbatim`.
    """
    body = members(task=task, messages=list(messages) or None, record=record, mode=mode, dry_run=dry_run, roles=roles)
    return replace(write("POST", f"{at}/update", body, options), slow=True)


def queue_update(
    at: str,
    task: str,
    messages: Iterable[object] = (),
    *,
    record: types.SessionRecord | None = None,
    **options: Unpack[ChangeOptions],
) -> Call[types.Run]:
    """Queue an update and return its run at once; `updates.wait` returns its outcome."""
    call: Call[Any] = update(at, task, messages, record=record, **options)
    return replace(call, slow=False, headers={**call.headers, "Prefer": "respond-async"})


def apply_operations(
    at: str,
    operations: Iterable[types.Operation] | str,
    *,
    partly: bool = False,
    dry_run: bool | None = None,
    mode: Literal["apply", "propose"] | None = None,
    **options: Unpack[ChangeOptions],
) -> Call[types.UpdateAnswer]:
    """Change single items."""
    body = {"text": operations} if isinstance(operations, str) else {"operations": list(operations)}
    query = {"dry_run": dry_run, "on_invalid": "drop" if partly else "fail", "mode": mode}
    return write("POST", f"{at}/operations", body, options, query)


def get_update(at: str, update_id: str) -> Call[types.Run]:
    """A run: its request, the models' answers and the outcome."""
    return Call("GET", f"{at}/updates/{segment(update_id)}")


def cancel_update(at: str, update_id: str) -> Call[types.Run]:
    """Cancel a run that is queued or running."""
    return Call("DELETE", f"{at}/updates/{segment(update_id)}")


def approve_update(
    at: str,
    update_id: str,
    *,
    operations: Sequence[int] | None = None,
    comment: str | None = None,
    **options: Unpack[ChangeOptions],
) -> Call[types.UpdateAnswer]:
    """Apply a proposal, or only its `operations` of these numbers."""
    body = members(operations=operations, comment=comment)
    return write("POST", f"{at}/updates/{segment(update_id)}/approve", body, options)


def reject_update(at: str, update_id: str, *, reason: str, **options: Unpack[ChangeOptions]) -> Call[types.Run]:
    """Reject a proposal."""
    return write("POST", f"{at}/updates/{segment(update_id)}/reject", {"reason": reason}, options)


# Of a memory: the window of tasks and decisions, and the handoff.


def get_window(at: str) -> Call[types.Window]:
    """Goal and blocker, the recent tasks and the decisions."""
    return Call("GET", f"{at}/window")


def window_text(at: str) -> Call[str]:
    """The window as Markdown."""
    return _text(f"{at}/window")


def record_task(
    at: str,
    intent: str,
    summary: str,
    *,
    task_id: str | None = None,
    outcome: Any = None,
    epic: str | None = None,
    **options: Unpack[ChangeOptions],
) -> Call[types.WindowAnswer]:
    """Record a task: what was to be done and what was done. A known `task_id` changes nothing."""
    body = members(intent=intent, summary=summary, task_id=task_id, outcome=outcome, epic=epic)
    return write("POST", f"{at}/tasks", body, options)


def record_decision(
    at: str,
    decision: str,
    *,
    reason: str | None = None,
    supersedes: str | None = None,
    **options: Unpack[ChangeOptions],
) -> Call[types.WindowAnswer]:
    """Record a decision; one that `supersedes` another archives that."""
    return write("POST", f"{at}/decisions", members(decision=decision, reason=reason, supersedes=supersedes), options)


def set_status(
    at: str,
    *,
    goal: str | NotGiven | None = NOT_GIVEN,
    blocker: str | NotGiven | None = NOT_GIVEN,
    **options: Unpack[ChangeOptions],
) -> Call[types.StatusAnswer]:
    """Set the goal and the blocker: `None` clears one, what is left out stays."""
    return write("PUT", f"{at}/status", nullable(goal=goal, blocker=blocker), options)


def import_window(
    at: str,
    *,
    status: Mapping[str, Any] | None = None,
    tasks: Sequence[Mapping[str, Any]] | None = None,
    decisions: Sequence[Mapping[str, Any]] | None = None,
    history: Sequence[Mapping[str, Any]] | None = None,
    **options: Unpack[ChangeOptions],
) -> Call[types.WindowImportAnswer]:
    """Import tasks, decisions and archived tasks (`history`) with their times."""
    body = members(status=status, tasks=tasks, decisions=decisions, history=history)
    return write("POST", f"{at}/window/import", body, options)


def window_history(at: str, *, limit: int | None = None) -> Listing[types.ArchivedTask, Page[types.ArchivedTask]]:
    """The archived tasks, newest first."""
    return _paged(f"{at}/archive/history", limit=limit)


def window_epics(
    at: str, *, by: Literal["week", "epic"] | None = None, limit: int | None = None
) -> Listing[types.Epic, Page[types.Epic]]:
    """The archived tasks by week or by epic."""
    return _paged(f"{at}/archive/epics", by=by, limit=limit)


def get_handoff(at: str, handoff_id: str | None = None) -> Call[types.Handoff]:
    """The newest handoff, or the one of this id: `preface`, `markdown` and its freshness."""
    return Call("GET", f"{at}/handoff" if handoff_id is None else f"{at}/handoffs/{segment(handoff_id)}")


def handoff_status(at: str) -> Call[types.HandoffStatus]:
    """Whether the newest handoff is fresh, and which of its lines are stale."""
    return Call("GET", f"{at}/handoff/status")


def list_handoffs(at: str, *, limit: int | None = None) -> Listing[types.HandoffEntry, Page[types.HandoffEntry]]:
    """The handoffs, newest first."""
    return _paged(f"{at}/handoffs", limit=limit)


def refresh_handoff(
    at: str,
    *,
    workspace: types.Workspace | None = None,
    window: str | None = None,
    force: bool | None = None,
    **options: Unpack[WriteOptions],
) -> Call[types.Handoff]:
    """Make a new handoff, unless the newest one is fresh.

    Args:
        workspace: Folder, branch, head and changed files of the working copy.
        window: How far back it looks, such as `PT6H`.
        force: Also if it is fresh.
    """
    call = write(
        "POST",
        f"{at}/handoff/refresh",
        members(workspace=workspace),
        options,
        {"window": window, "force": force},
    )
    return replace(call, slow=True)
