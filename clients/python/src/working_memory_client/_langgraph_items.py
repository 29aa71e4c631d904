"""How items of a LangGraph store map to memories: names, documents, filters. Sends nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from langgraph.store.base import Item, MatchCondition

from . import _ids, types

Namespace = tuple[str, ...]

# The document of a deleted item: shorter than any other, so that the list of memories shows it by its size.
DELETED = "{}"


def memory_id(root: str, namespace: Namespace, key: str) -> str:
    """The memory of an item: `root.users.123:preferences`."""
    return _ids.fitted(f"{_path(root, namespace)}:{_ids.escaped(key)}")


def listed(root: str, prefix: Namespace) -> str:
    """The prefix of the ids of all items below a namespace."""
    return _ids.common(_path(root, prefix))


def _path(root: str, namespace: Namespace) -> str:
    # No label contains a full stop, so it is the separator.
    return ".".join([root, *map(_ids.escaped, namespace)])


def namespace_of(root: str, memory: str) -> Namespace | None:
    """The namespace of a memory, if its id contains it."""
    path, _, _ = memory.removeprefix(f"{root}.").partition(":")
    try:
        return None if _ids.is_cut(memory) else tuple(_ids.unescaped(label) for label in path.split("."))
    except UnicodeDecodeError:  # Of a memory that is no item.
        return None


@dataclass(frozen=True)
class Stored:
    """An item, as stored in its document."""

    namespace: Namespace
    key: str
    created_at: str
    value: dict[str, Any]

    def document(self) -> str:
        """Its text: JSON, one member per line."""
        members = {"namespace": list(self.namespace), "key": self.key, "created_at": self.created_at}
        text = json.dumps({**members, "value": self.value}, ensure_ascii=False, indent=2, allow_nan=False)
        try:
            text.encode()
        except UnicodeEncodeError:
            text = json.dumps({**members, "value": self.value}, indent=2)
        return text + "\n"

    def item(self, context: types.Context) -> Item:
        """The item of a version."""
        return Item(
            namespace=self.namespace,
            key=self.key,
            value=self.value,
            created_at=moment(self.created_at),
            updated_at=moment(context["creation_time"]),
        )


def stored(context: types.Context) -> Stored | None:
    """The item of a document; None if it was deleted, or is not an item."""
    try:
        found = json.loads(context["context"])
        return Stored(tuple(found["namespace"]), found["key"], found["created_at"], dict(found["value"]))
    except (ValueError, KeyError, TypeError):
        return None


def moment(text: str) -> datetime:
    """A time of the service."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def now() -> str:
    return datetime.now(timezone.utc).isoformat()


def plain(value: Any, where: str = "value") -> Any:
    """A copy of a value, which must be JSON without implicit conversions."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{where} has the key {key!r}: keys of JSON are strings")
        return {key: plain(one, f"{where}.{key}") for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one, f"{where}[{number}]") for number, one in enumerate(value)]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError(f"{where} is a {type(value).__name__}, which is not valid JSON")


def matches(condition: MatchCondition, namespace: Namespace) -> bool:
    """Whether a namespace matches a prefix or suffix condition; `*` stands for any label."""
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    if condition.match_type == "prefix":
        part = namespace[: len(path)]
    elif condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    else:
        raise ValueError(f"unknown match type {condition.match_type!r}")
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def passes(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value matches a filter."""
    return all(_agrees(value.get(key), one) for key, one in (wanted or {}).items())


def _agrees(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(key.startswith("$") for key in wanted):
            return all(_compare(value, operator, operand) for operator, operand in wanted.items())
        return isinstance(value, Mapping) and all(_agrees(value.get(key), one) for key, one in wanted.items())
    if isinstance(wanted, (list, tuple)):
        same = isinstance(value, (list, tuple)) and len(value) == len(wanted)
        return same and all(_agrees(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _compare(value: Any, operator: str, operand: Any) -> bool:
    if operator == "$eq":
        return bool(value == operand)
    if operator == "$ne":
        return bool(value != operand)
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"unsupported operator: {operator}")
    try:
        one, other = float(value), float(operand)
    except (TypeError, ValueError):
        return False
    return {"$gt": one > other, "$gte": one >= other, "$lt": one < other, "$lte": one <= other}[operator]
