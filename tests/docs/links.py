"""Links: of the pages as they stand in the repository, and of the site that is built of them."""

from __future__ import annotations

import re
import sys
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

from blocks import read

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
NAMED = re.compile(r"\bdocs/[\w/-]+\.(?:md|svg|yml|png)\b")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
ABSENT = {"data:", "http:", "https:", "mailto:"}


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors(root: Path, path: str) -> set[str]:
    found: set[str] = set()
    for _, line in read(root, path).prose:
        if heading := HEADING.match(line):
            name = base = slug(heading[1])
            number = 0
            while name in found:
                number += 1
                name = f"{base}-{number}"
            found.add(name)
    return found


def of_pages(root: Path, pages: list[str]) -> list[str]:
    faults = []
    for page in pages:
        for number, line in read(root, page).prose:
            for link in LINK.findall(line):
                if not link.startswith(tuple(ABSENT)):
                    target, _, anchor = urllib.parse.unquote(link).partition("#")
                    file = (root / page).parent / target if target else root / page
                    if not file.exists():
                        faults.append(f"{page}:{number}: nothing is at {link}")
                    elif (
                        anchor
                        and file.suffix == ".md"
                        and anchor not in anchors(root, str(file.resolve().relative_to(root)))
                    ):
                        faults.append(f"{page}:{number}: {link} names no heading")
            faults += [
                f"{page}:{number}: there is no {name}" for name in NAMED.findall(line) if not (root / name).exists()
            ]
    summary = (root / "docs/SUMMARY.md").read_text()
    faults += [
        f"docs/SUMMARY.md: {file.name} is missing"
        for file in sorted((root / "docs").glob("*.md"))
        if file.name != "SUMMARY.md" and f"({file.name})" not in summary
    ]
    return faults


class Html(HTMLParser):
    """The ids of a page, and where it leads."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.ids.add(value)
            elif name in ("href", "src") and value and not (tag == "base"):
                self.links.append(value)


def of_site(site: Path) -> list[str]:
    pages = {file.resolve(): Html(file) for file in site.rglob("*.html")}
    faults, count = [], 0
    for file, page in pages.items():
        if file.name in ("404.html", "toc.html", "print.html"):
            continue
        for link in page.links:
            if link.startswith(tuple(ABSENT)) or link.startswith("javascript:"):
                continue
            target, _, anchor = urllib.parse.unquote(link.partition("?")[0]).partition("#")
            where = (file.parent / target).resolve() if target else file
            count += 1
            if not where.exists():
                faults.append(f"{file.relative_to(site.resolve())}: nothing is at {link}")
            elif anchor and where in pages and anchor not in pages[where].ids:
                faults.append(f"{file.relative_to(site.resolve())}: {link} names nothing")
    if count < 100:
        faults.append(f"only {count} links were found: the site is not whole")
    print(f"{count} links of {len(pages)} pages of the site")
    return sorted(set(faults))


if __name__ == "__main__":
    wrong = of_site(Path(sys.argv[1]))
    sys.exit("\n".join(wrong) or 0)
