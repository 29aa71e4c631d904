"""How files of Pydantic AI's memory map to memories: names, and documents with a line about their last write."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _ids

SEGMENT = re.compile(r"[A-Za-z0-9_.-]{1,200}")
# The line that a write adds: a Markdown comment, which is not rendered.
# The line end behind it is left, so that a line of the content directly before it is found, too.
LINE = re.compile(r"\n<!-- working-memory-file: (\{.*\}) -->(?=\n)")
# The document of a deleted file: shorter than any other of the store, so that only those of its size must be read.
DELETED = "<!-- deleted -->\n"
LONGEST_METADATA = 4096


def memory_id(root: str, path: str) -> str:
    """The memory of a file: `notes.user-1:main:MEMORY.md`."""
    if not all(_is_segment(segment) for segment in path.split("/")):
        raise ValueError(f"invalid memory path: {path!r}")
    return _ids.fitted(f"{root}.{path.replace('/', ':')}")


def _is_segment(text: str) -> bool:
    return SEGMENT.fullmatch(text) is not None and ".." not in text and text != "."


def listed(root: str, prefix: str) -> str:
    """The prefix of the ids of all files below a prefix."""
    if prefix:
        memory_id(root, prefix.removesuffix("/"))
    return _ids.common(f"{root}.{prefix.replace('/', ':')}")


def path_of(root: str, memory: str) -> str | None:
    """The path of a file, if the id contains it."""
    return None if _ids.is_cut(memory) else memory.removeprefix(f"{root}.").replace(":", "/")


@dataclass(frozen=True)
class File:
    """A file, as stored in its document."""

    path: str
    content: str
    operation_id: str | None = None
    fingerprint: str | None = None
    metadata: Mapping[str, str] | None = None

    def document(self) -> str:
        """Its text: the content byte for byte, and the line."""
        members = {
            "path": self.path,
            "operation": self.operation_id,
            "fingerprint": self.fingerprint,
            "metadata": None if self.metadata is None else dict(self.metadata),
        }
        # The content of the line cannot end the comment.
        line = json.dumps({name: one for name, one in members.items() if one is not None}).replace(">", "\\u003e")
        return f"{self.content}\n<!-- working-memory-file: {line} -->\n"


def file(document: str, path: str | None = None) -> File | None:
    """The file of a document; None if it was deleted. A document written by other clients is a file, too."""
    if document == DELETED:
        return None
    found = None
    for found in LINE.finditer(document):  # noqa: B007  # the last one
        pass
    if found is None:
        return File(path or "", document)
    members = _members(found[1])
    # Text that was added after the line by other means is part of the content.
    content = document[: found.start()] + document[found.end() + 1 :]
    return File(
        str(members.get("path", path or "")),
        content,
        members.get("operation"),
        members.get("fingerprint"),
        members.get("metadata"),
    )


def _members(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def checked(metadata: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """Metadata as every store of the framework accepts them."""
    if not metadata:
        return None
    for name, value in metadata.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError("memory metadata keys and values must be strings")
        if "\0" in name or "\0" in value:
            raise ValueError("memory metadata keys and values must not contain NUL characters")
    size = len(json.dumps(dict(metadata), ensure_ascii=False, separators=(",", ":")))
    if size > LONGEST_METADATA:
        raise ValueError(f"memory metadata is {size} characters as JSON; the limit is {LONGEST_METADATA}")
    return metadata


def receipt_places(root: str, operation_id: str) -> tuple[str, str]:
    """The memory and the category under which an operation is recorded."""
    digest = hashlib.sha256(operation_id.encode()).hexdigest()
    return f"{root}.:receipts:{digest[:2]}", digest
