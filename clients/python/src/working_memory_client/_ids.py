"""Names of others as ids of memories, which have few letters and few places."""

from __future__ import annotations

import hashlib
import re

LONGEST = 128
# A name that is too long keeps its beginning, by which it is listed, and a digest, by which it is itself.
KEPT = 94
DIGEST = 32
CUT = re.compile(rf"@@[0-9a-f]{{{DIGEST}}}\Z")
UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
ESCAPED = re.compile(r"(?:@[0-9a-f]{2})+")


def escaped(text: str) -> str:
    """Letters, digits, `_` and `-` as they are, every other byte as `@` and two digits."""
    return UNSAFE.sub(lambda found: "".join(f"@{byte:02x}" for byte in found[0].encode()), text)


def unescaped(text: str) -> str:
    """What `escaped` was given."""
    return ESCAPED.sub(lambda found: bytes.fromhex(found[0].replace("@", "")).decode(), text)


def fitted(name: str) -> str:
    """A name that no id is too short for."""
    if len(name) <= LONGEST:
        return name
    return f"{name[:KEPT]}@@{hashlib.sha256(name.encode()).hexdigest()[:DIGEST]}"


def is_cut(memory_id: str) -> bool:
    """Whether an id tells less than its name did."""
    return CUT.search(memory_id) is not None


def common(prefix: str) -> str:
    """What the ids of all names with this beginning begin with."""
    return prefix[:KEPT]
