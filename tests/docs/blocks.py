"""The fenced code blocks of a Markdown page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

OPENING = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*(.*)$")


@dataclass
class Block:
    """One fenced block: where it begins, what its fence says, and its text."""

    page: str
    line: int
    language: str
    words: list[str]
    text: str = ""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass
class Page:
    """A page: its blocks in order, and its text without them."""

    path: str
    blocks: list[Block] = field(default_factory=list)
    prose: list[tuple[int, str]] = field(default_factory=list)


def read(root: Path, path: str) -> Page:
    page, fence, lines = Page(path), "", []
    for number, line in enumerate((root / path).read_text().split("\n"), 1):
        opening = OPENING.match(line)
        if fence:
            if opening and opening[1].startswith(fence) and not opening[2]:
                page.blocks[-1].text = "".join(f"{one}\n" for one in lines)
                fence, lines = "", []
            else:
                lines.append(line)
        elif opening:
            fence = opening[1]
            language, *words = opening[2].split() or [""]
            page.blocks.append(Block(path, number, language, words))
        else:
            page.prose.append((number, line))
    if fence:
        raise SystemExit(f"{page.blocks[-1].place}: the block does not end")
    return page
