"""External names as ids of memories, which allow few characters and have a maximum length."""

from __future__ import annotations

import hashlib
import re

LONGEST = 128
# A name that is too long keeps its beginning, so that it can be listed by prefix, and gets a digest to make it unique.
KEPT = 94
DIGEST = 32
CUT = re.compile(rf"@@[0-9a-f]{{{DIGEST}}}\Z")
UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
ESCAPED = re.compile(r"(?:@[0-9a-f]{2})+")


def escaped(text: str) -> str:
    """Letters, digits, `_` and `-` unchanged, every other byte as `@` and two digits."""
    return UNSAFE.sub(lambda found: "".join(f"@{byte:02x}" for byte in found[0].encode()), text)


def unescaped(text: str) -> str:
    """The inverse of `escaped`."""
    return ESCAPED.sub(lambda found: bytes.fromhex(found[0].replace("@", "")).decode(), text)


def fitted(name: str) -> str:
    """A name, shortened to the length of an id."""
    if len(name) <= LONGEST:
        return name
    return f"{name[:KEPT]}@@{hashlib.sha256(name.encode()).hexdigest()[:DIGEST]}"


def is_cut(memory_id: str) -> bool:
    """Whether an id was shortened, so that it does not contain the whole name."""
    return CUT.search(memory_id) is not None


def common(prefix: str) -> str:
    """The prefix of the ids of all names with this beginning."""
    return prefix[:KEPT]
