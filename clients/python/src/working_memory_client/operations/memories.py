"""Operations on memories.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .. import models
from .._call import Call, Listing, entity_tag


def list_memories(
    vault_id: str,
    *,
    prefix: str | None = None,
    sort: Literal["memory_id", "changed_at", "bytes"] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Listing[models.MemoryEntry, models.MemoryEntryList]:
    """List the memories of a vault.

    In the order of their ids' bytes, or as `sort` says: those that have a document, and those that have prompt items
    of their own and none yet. A vault that nothing was put into has none.

    Args:
        prefix: Only those whose id begins like this.
        sort: What they are sorted by.
    """
    return Listing(
        operation="ListMemories",
        method="GET",
        path="/v1/vaults/{}/memories",
        ids=(vault_id,),
        query={"prefix": prefix, "sort": sort, "limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def get_memory(vault_id: str, memory_id: str) -> Call[models.Memory]:
    """Read about a memory.

    Its newest version, its counters, and how many records it has. A memory is there if it has a document, or prompt
    items that have not expired; without a document it has the version 0.
    """
    return Call(
        operation="GetMemory",
        method="GET",
        path="/v1/vaults/{}/memories/{}",
        ids=(vault_id, memory_id),
        accept="application/json",
        answers="json",
    )


def delete_memory(
    vault_id: str, memory_id: str, *, if_match: str | None = None, if_none_match: str | None = None
) -> Call[None]:
    """Delete a memory.

    With its versions, records, runs and prompt items, for good. What is put under its id later is a new memory that
    begins at version 1. What can be deleted is what can be read and is listed, and one thing more: runs that failed
    to make a memory are deleted under its id, which `GET` of the memory and lists do not know. The preconditions are
    about the document: of a memory that has only prompt items `If-Match: *` does not hold, and `If-None-Match: *`
    does.
    """
    return Call(
        operation="DeleteMemory",
        method="DELETE",
        path="/v1/vaults/{}/memories/{}",
        ids=(vault_id, memory_id),
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        answers="none",
    )


def run_memory_tool(
    vault_id: str,
    command: Mapping[str, Any],
    *,
    root: str,
    actor: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.MemoryToolAnswer]:
    """Run a command of Anthropic's memory tool.

    Takes the `input` of a `tool_use` block as the model wrote it and answers with the `content` and `is_error` of the
    `tool_result`, in the words of the reference implementation. A file is a memory whose document is the file: every
    edit is a version with its actor, and all other routes read and change the same text. Whatever the object says is
    answered 200. A reader may `view`; edits need the role `writer`. Send the id of the `tool_use` block as
    `Idempotency-Key`, so that a command that is sent again is carried out once.

    Args:
        command:
        root: The tree of files that `/memories` is.
    """
    return Call(
        operation="RunMemoryTool",
        method="POST",
        path="/v1/vaults/{}/memory-tool",
        ids=(vault_id,),
        query={"root": root},
        headers={"X-Actor-Id": actor, "Idempotency-Key": idempotency_key},
        body=command,
        accept="application/json",
        answers="json",
    )


def list_memory_files(
    vault_id: str, *, root: str, limit: int | None = None, cursor: str | None = None
) -> Listing[models.MemoryFile, models.MemoryFileList]:
    """List the memory tool's files.

    All files of a root with the newest version of each, by path, without their texts: `GET M/context` has those. A
    root that never had a file has none.

    Args:
        root: The tree of files that `/memories` is.
    """
    return Listing(
        operation="ListMemoryFiles",
        method="GET",
        path="/v1/vaults/{}/memory-tool/files",
        ids=(vault_id,),
        query={"root": root, "limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def put_memory_file(
    vault_id: str,
    document: str,
    *,
    root: str,
    path: str,
    actor: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.PutFileAnswer]:
    """Put a file of the memory tool.

    Makes the file, or a new version of it with this text, byte for byte. `If-None-Match: *` makes only a file that is
    not there; `If-Match` with the file's entity tag (its `context_id` in double quotes) changes only what the client
    has seen. A file alone may be empty or blank.

    Args:
        document: The text, or the same as a JSON string.
        root: The tree of files that `/memories` is.
        path: Its path, as in `/memories/notes/tea.md`.
    """
    return Call(
        operation="PutMemoryFile",
        method="PUT",
        path="/v1/vaults/{}/memory-tool/files",
        ids=(vault_id,),
        query={"root": root, "path": path},
        headers={
            "X-Actor-Id": actor,
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Idempotency-Key": idempotency_key,
        },
        body=document,
        accept="application/json",
        answers="json",
    )


def unlink_memory_file(
    vault_id: str, *, root: str, path: str, if_match: str | None = None, if_none_match: str | None = None
) -> Call[None]:
    """Take a file out of the memory tool's tree.

    Its memory stays with all versions, readable by its id, as after the tool's `delete`. `If-Match` takes out only
    what the client has seen. A directory is no file: it is gone with the last file below it.

    Args:
        root: The tree of files that `/memories` is.
        path: Its path, as in `/memories/notes/tea.md`.
    """
    return Call(
        operation="UnlinkMemoryFile",
        method="DELETE",
        path="/v1/vaults/{}/memory-tool/files",
        ids=(vault_id,),
        query={"root": root, "path": path},
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        answers="none",
    )
