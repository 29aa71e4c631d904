"""Lays out what mdBook builds the site of: the pages in their places, the files they link to, and the summary."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from blocks import read
from links import ABSENT, LINK

ROOT = Path(__file__).resolve().parents[2]


def lay_out(target: Path) -> None:
    pages = target / "pages"
    summary = re.sub(
        r"\(([^)]+)\)", lambda link: f"({os.path.normpath('docs/' + link[1])})", (ROOT / "docs/SUMMARY.md").read_text()
    )
    chapters = re.findall(r"\(([^)]+\.md)\)", summary)
    pages.mkdir(parents=True)
    (pages / "SUMMARY.md").write_text(indexed(summary))
    shutil.copy(ROOT / "docs/book.toml", target / "book.toml")
    for chapter in chapters:
        copy(chapter, pages)
        for _, line in read(ROOT, chapter).prose:
            for link in LINK.findall(line):
                path = os.path.normpath(Path(chapter).parent / link.partition("#")[0])
                if not link.startswith((*ABSENT, "#")) and path not in chapters:
                    copy(path, pages)


def copy(path: str, pages: Path) -> None:
    source, to = ROOT / path, pages / path
    if source.is_dir():
        sys.exit(f"{path} is a folder, which a site cannot show: link to a file of it")
    to.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".md":
        to.with_name(to.name.replace("README.md", "index.md")).write_text(indexed(source.read_text()))
    else:
        shutil.copy(source, to)


def indexed(text: str) -> str:
    """A README is the first page of its folder."""
    return LINK.sub(lambda link: link[0].replace("README.md", "index.md"), text)


if __name__ == "__main__":
    lay_out(Path(sys.argv[1]))
