"""LangGraph's long-term memory over the service: `pip install "working-memory-client[langgraph]"`.

    store = WorkingMemoryStore(Client().vault("acme"))
    graph = builder.compile(store=store)

An item is a memory: its id is made of namespace and key, its document is the value as JSON, and every put is a version.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from . import _langgraph_items as items
from . import _operations as api
from . import types
from ._call import Answer, segment
from ._client import AsyncVault, Vault
from ._flow import Flow, Outcome, Together, value
from ._langgraph_items import Namespace, Stored
from .errors import is_missing

__all__ = ["WorkingMemoryStore"]

# How many documents a search reads concurrently.
AT_ONCE = 32
# The maximum length of the query of a search, in bytes.
LONGEST_QUERY = 1000
ROOT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")

Puts = dict[tuple[Namespace, str], PutOp]


class WorkingMemoryStore(BaseStore):
    """A `BaseStore` whose items are memories, with a history each.

    Args:
        vault: The vault of the items. Without `async_vault` the asynchronous methods use it in a thread.
        async_vault: The same vault for the asynchronous methods.
        root: The prefix of the memories' ids. Stores with different roots are independent.
        erase: Let `delete` delete the memory with its history, which requires a key of the role `admin`. Otherwise a
            deleted item is a version that marks the deletion, and its history stays.
    """

    supports_ttl = False

    def __init__(
        self,
        vault: Vault | None = None,
        *,
        async_vault: AsyncVault | None = None,
        root: str = "store",
        erase: bool = False,
    ) -> None:
        if not ROOT.fullmatch(root):
            raise ValueError(f"root is up to 32 letters, digits, `_` and `-`, not {root!r}")
        given = vault or async_vault
        if given is None:
            raise ValueError("give vault, async_vault or both")
        self._vault, self._async_vault = vault, async_vault
        self._flows = _Flows(given._at, root, erase)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Executes operations: reads first, then writes, of which only the last of each item counts."""
        if self._vault is None:
            raise RuntimeError("this store has no vault for methods that wait: give `vault`, or use those with an a")
        return self._vault._engine.run(self._flows.batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Like `batch`, asynchronously."""
        if self._async_vault is None:
            return await asyncio.to_thread(self.batch, list(ops))
        return await self._async_vault._engine.run(self._flows.batch(list(ops)))


class _Flows:
    """The store's logic, for both kinds of clients."""

    def __init__(self, vault: str, root: str, erase: bool) -> None:
        self.vault = vault
        self.root = root
        self.erase = erase

    def batch(self, ops: Sequence[Op]) -> Flow[list[Result]]:
        for op in ops:
            validate_op_namespace(op)
        results: list[Result] = [None] * len(ops)
        gets = [(number, op) for number, op in enumerate(ops) if isinstance(op, GetOp)]
        found = yield Together([self._read(op.namespace, op.key) for _, op in gets])
        for (number, _), outcome in zip(gets, found, strict=True):
            results[number] = _item(outcome)
        puts: Puts = {}
        for number, op in enumerate(ops):
            if isinstance(op, SearchOp):
                results[number] = yield from self._search(op)
            elif isinstance(op, ListNamespacesOp):
                results[number] = yield from self._namespaces(op)
            elif isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
            elif not isinstance(op, GetOp):
                raise ValueError(f"unknown operation: {type(op).__name__}")
        yield from self._write(puts)
        return results

    def _at(self, memory_id: str) -> str:
        return f"{self.vault}/memories/{segment(memory_id)}"

    def _read(self, namespace: Namespace, key: str) -> Any:
        return api.get(self._at(items.memory_id(self.root, namespace, key)))

    def _write(self, puts: Puts) -> Flow[None]:
        """Puts and deletes. Of two at once the later wins, as in every store; both are versions."""
        values = {name: None if op.value is None else items.plain(op.value) for name, op in puts.items()}
        if any(op.ttl is not None for op in puts.values()):
            raise NotImplementedError("items of this store do not expire: leave ttl out")
        there = yield Together([self._read(*name) for name in values])
        calls = [self._put(*name, values[name], outcome) for name, outcome in zip(values, there, strict=True)]
        outcomes = yield Together([call for call in calls if call is not None])
        for outcome in outcomes:
            if not is_missing(outcome):  # a missing memory counts as deleted
                value(outcome)

    def _put(self, namespace: Namespace, key: str, wanted: dict[str, Any] | None, there: Outcome) -> Any:
        """The call that sets an item to this value, if one is needed."""
        memory = items.memory_id(self.root, namespace, key)
        context: types.Context | None = None if is_missing(there) else value(there)
        before = items.stored(context) if context else None
        if context and before is None and context["context"].strip() != items.DELETED:
            raise ValueError(f"the memory {memory!r} is not an item of this store: choose another root")
        if wanted is None:
            if context is None or (before is None and not self.erase):
                return None
            if self.erase:
                return api.delete(self._at(memory))
            return api.put(self._at(memory), items.DELETED, confirm="collapse")
        text = Stored(namespace, key, before.created_at if before else items.now(), wanted).document()
        return api.put(self._at(memory), text, confirm="collapse")

    def _listed(self, prefix: Namespace) -> Flow[list[types.MemoryEntry]]:
        """The memories of all items below a namespace, as far as their ids show it."""
        start = items.listed(self.root, prefix) if prefix else f"{self.root}."
        listing = api.list_memories(self.vault, prefix=start, limit=500)
        found: list[types.MemoryEntry] = []
        while True:
            page: Answer[types.Page[types.MemoryEntry]] = yield listing
            for entry in page.value["items"]:
                namespace = items.namespace_of(self.root, entry["memory_id"])
                inside = namespace is None or namespace[: len(prefix)] == prefix
                if inside and entry["bytes"] > len(items.DELETED):
                    found.append(entry)
            if page.value["next_cursor"] is None:
                return found
            listing = listing.at(page.value["next_cursor"])

    def _search(self, op: SearchOp) -> Flow[list[SearchItem]]:
        entries = yield from self._listed(op.namespace_prefix)
        ranks: dict[str, float] = {}
        if op.query and entries:
            ranks = yield from self._ranks(op.query)
        entries.sort(key=lambda entry: entry["changed_at"], reverse=True)
        entries.sort(key=lambda entry: -ranks.get(entry["memory_id"], 0.0))
        found: list[SearchItem] = []
        skip = op.offset
        if not op.filter and not any(items.namespace_of(self.root, entry["memory_id"]) is None for entry in entries):
            entries, skip = entries[skip:], 0
        while entries and len(found) < skip + op.limit:
            count = AT_ONCE if op.filter else min(AT_ONCE, skip + op.limit - len(found))
            some, entries = entries[:count], entries[count:]
            outcomes = yield Together([api.get(self._at(one["memory_id"])) for one in some])
            for entry, outcome in zip(some, outcomes, strict=True):
                item = _item(outcome)
                if item is None or item.namespace[: len(op.namespace_prefix)] != op.namespace_prefix:
                    continue
                if items.passes(item.value, op.filter):
                    score = ranks.get(entry["memory_id"])
                    found.append(
                        SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)
                    )
        return found[skip : skip + op.limit]

    def _ranks(self, query: str) -> Flow[dict[str, float]]:
        """Scores documents for a query: by the number of its words they contain; none must contain all."""
        words: list[str] = []
        room = LONGEST_QUERY
        for word in re.findall(r"\w+", query)[:50]:
            size = len(word.encode()) + len('"" or ')
            if size <= room:
                words.append(word)
                room -= size
        wanted = " or ".join(f'"{word}"' for word in words)
        listing = api.search(self.vault, wanted, mode="text", consistent=True, limit=500)
        ranks: dict[str, float] = {}
        while words:
            page: Answer[types.SearchPage] = yield listing
            ranks |= {one["memory_id"]: one["rank"] for one in page.value["items"]}
            if page.value["next_cursor"] is None:
                break
            listing = listing.at(page.value["next_cursor"])
        return ranks

    def _namespaces(self, op: ListNamespacesOp) -> Flow[list[Namespace]]:
        entries = yield from self._listed(())
        known = [items.namespace_of(self.root, entry["memory_id"]) for entry in entries]
        found = {namespace for namespace in known if namespace is not None}
        cut = [entry["memory_id"] for entry, namespace in zip(entries, known, strict=True) if namespace is None]
        outcomes = yield Together([api.get(self._at(memory)) for memory in cut])
        found |= {item.namespace for item in map(_item, outcomes) if item is not None}
        fitting = {
            namespace[: op.max_depth]
            for namespace in found
            if all(items.matches(condition, namespace) for condition in op.match_conditions or ())
        }
        return sorted(fitting)[op.offset : op.offset + op.limit]


def _item(outcome: Outcome) -> Item | None:
    if is_missing(outcome):
        return None
    context = cast("types.Context", value(outcome))
    found = items.stored(context)
    return None if found is None else found.item(context)
