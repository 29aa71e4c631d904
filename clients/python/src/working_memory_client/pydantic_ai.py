"""Memory of Pydantic AI over the service: `pip install "working-memory-client[pydantic-ai]"`.

    store = WorkingMemoryStore(AsyncClient().vault("acme"))
    agent = Agent("anthropic:…", capabilities=[Memory(store)])

A file of the agent's notebook is a memory: every write is a version with its author.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from pydantic_ai_harness.memory import (
    MemoryConflictError,
    MemoryFile,
    MemoryMutation,
    MemoryOperation,
    MemoryOperationConflictError,
)

from . import _operations as api
from . import _pydantic_ai_files as files
from . import types
from ._call import Answer, Call, segment
from ._client import AsyncVault
from ._flow import Flow, Outcome, Together, unless_missing, value
from ._pydantic_ai_files import File
from .errors import PreconditionFailedError, is_missing

__all__ = ["WorkingMemoryStore"]

ROOT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
# How long the result of an operation is kept.
RECEIPTS = timedelta(hours=24)


@dataclass(frozen=True)
class _There:
    """The current state of a document: with or without a file in it, or no memory at all."""

    version: int
    context_id: str | None
    file: File | None


NOTHING = _There(0, None, None)


class WorkingMemoryStore:
    """A `MetadataMemoryStore` whose files are memories, with a history each.

    Args:
        vault: The vault of the files.
        root: The prefix of the memories' ids. Stores with different roots are independent.
    """

    def __init__(self, vault: AsyncVault, *, root: str = "notes") -> None:
        if not ROOT.fullmatch(root):
            raise ValueError(f"root is up to 32 letters, digits, `_` and `-`, not {root!r}")
        self._engine = vault._engine
        self._flows = _Flows(vault._at, root)

    def __repr__(self) -> str:
        """Does not show the content."""
        return f"WorkingMemoryStore({self._flows.vault!r}, root={self._flows.root!r})"

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """The file at a path, up to this many characters."""
        if max_chars <= 0:
            raise ValueError("max_chars must be positive")
        there = await self._engine.run(self._flows.there(path))
        if there.file is None:
            return None
        content = there.file.content
        return MemoryFile(
            content=content[:max_chars],
            version=str(there.version),
            operation_id=there.file.operation_id,
            truncated=len(content) > max_chars,
            metadata=there.file.metadata,
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """The result of an operation, if it was executed in the last 24 hours."""
        return await self._engine.run(self._flows.done(operation))

    async def write(
        self, path: str, content: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Creates or replaces a file, if its version is the expected one."""
        return await self._engine.run(self._flows.write(File(path, content), expected_version, operation))

    async def write_with_metadata(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        metadata: Mapping[str, str] | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Like `write`, with metadata about this write."""
        written = File(path, content, metadata=files.checked(metadata))
        return await self._engine.run(self._flows.write(written, expected_version, operation))

    async def delete(
        self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Deletes a file, if its version is the expected one. Its history stays in the service."""
        return await self._engine.run(self._flows.delete(path, expected_version, operation))

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """The first paths below a prefix, in order."""
        if limit <= 0:
            raise ValueError("limit must be positive")
        return (await self._engine.run(self._flows.paths(prefix)))[:limit]


class _Flows:
    """The store's logic, request by request."""

    def __init__(self, vault: str, root: str) -> None:
        self.vault = vault
        self.root = root

    def _at(self, memory_id: str) -> str:
        return f"{self.vault}/memories/{segment(memory_id)}"

    def there(self, path: str) -> Flow[_There]:
        newest = yield from unless_missing(api.get(self._at(files.memory_id(self.root, path)), fresh=True))
        if newest is None:
            return NOTHING
        read = newest.value
        return _There(read["version"], read["context_id"], files.file(read["context"], path))

    def write(self, wanted: File, expected: str | None, operation: MemoryOperation | None) -> Flow[MemoryMutation]:
        if operation is not None:
            wanted = replace(wanted, operation_id=operation.id, fingerprint=operation.fingerprint)
        return (yield from self._mutate(wanted.path, wanted.document(), expected, operation))

    def delete(self, path: str, expected: str | None, operation: MemoryOperation | None) -> Flow[MemoryMutation]:
        return (yield from self._mutate(path, files.DELETED, expected, operation))

    def _mutate(
        self, path: str, text: str, expected: str | None, operation: MemoryOperation | None
    ) -> Flow[MemoryMutation]:
        memory, deletes = files.memory_id(self.root, path), text == files.DELETED
        if operation is not None:
            before = yield from self.done(operation)
            if before is not None:
                return before
        there = yield from self.there(path)
        existed = there.file is not None
        if (str(there.version) if existed else None) != expected:
            raise MemoryConflictError(f"memory path {path!r} changed before it could be changed")
        if deletes and not existed:
            return MemoryMutation(version=None, replayed=False, existed=False)
        if operation is not None:
            # Recorded first: after a crash, the record and the version together show what was executed.
            yield self._note(operation, memory, there.version + 1, existed=existed, deletes=deletes)
        try:
            put: Answer[types.PutAnswer] = yield api.put(
                self._at(memory),
                text,
                confirm="collapse",
                if_match=there.context_id,
                if_none_match=None if there.context_id else "*",
            )
        except PreconditionFailedError as moved:
            raise MemoryConflictError(f"memory path {path!r} changed before it could be changed") from moved
        return MemoryMutation(version=None if deletes else str(put.value["version"]), replayed=False, existed=existed)

    def _note(
        self, operation: MemoryOperation, memory: str, version: int, *, existed: bool, deletes: bool
    ) -> Call[types.ReplacedItems]:
        place, category = files.receipt_places(self.root, operation.id)
        metadata = {"fingerprint": operation.fingerprint, "version": version, "existed": existed, "deletes": deletes}
        until = (datetime.now(timezone.utc) + RECEIPTS).isoformat()
        item: types.ItemOfCategory = {"content": memory, "metadata": metadata, "expires_at": until}
        return api.replace_items(self._at(place), category, [item])

    def done(self, operation: MemoryOperation) -> Flow[MemoryMutation | None]:
        """The recorded result of an operation, if the version that it announces is the operation's."""
        place, category = files.receipt_places(self.root, operation.id)
        notes: Answer[types.Page[types.PromptItem]] = yield api.list_items(self._at(place), category=category)
        if not notes.value["items"]:
            return None
        note: dict[str, Any] = notes.value["items"][0]["metadata"]
        memory = notes.value["items"][0]["content"]
        made = yield from unless_missing(api.get_version(self._at(memory), int(note["version"])))
        if made is None:
            return None
        written = files.file(made.value["context"])
        if not (note["deletes"] if written is None else written.operation_id == operation.id):
            return None
        if note["fingerprint"] != operation.fingerprint:
            raise MemoryOperationConflictError(f"operation id {operation.id!r} was reused with different arguments")
        version = None if note["deletes"] else str(note["version"])
        return MemoryMutation(version=version, replayed=True, existed=bool(note["existed"]))

    def paths(self, prefix: str) -> Flow[list[str]]:
        listing = api.list_memories(self.vault, prefix=files.listed(self.root, prefix), limit=500)
        found: list[str] = []
        while True:
            page: Answer[types.Page[types.MemoryEntry]] = yield listing
            unclear: list[str] = []
            for entry in page.value["items"]:
                path = files.path_of(self.root, entry["memory_id"])
                # Others may write files as long as the document of a deleted one.
                if path is None or entry["bytes"] == len(files.DELETED):
                    unclear.append(entry["memory_id"])
                elif entry["version"]:  # the records of operations are memories without a document
                    found.append(path)
            found += yield from self._paths_of(unclear)
            if page.value["next_cursor"] is None:
                return sorted(path for path in found if path.startswith(prefix))
            listing = listing.at(page.value["next_cursor"])

    def _paths_of(self, memories: list[str]) -> Flow[list[str]]:
        """The paths of those that are files, by their documents."""
        outcomes: list[Outcome] = yield Together([api.get(self._at(memory)) for memory in memories])
        found: list[str] = []
        for memory, outcome in zip(memories, outcomes, strict=True):
            if not is_missing(outcome):
                # A name that is too long for an id is in the document.
                file = files.file(value(outcome)["context"], files.path_of(self.root, memory))
                found += [file.path] if file is not None else []
        return found
