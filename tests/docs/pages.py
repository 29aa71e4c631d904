"""Runs the blocks of pages: what each is, whether it is run, and what it must be otherwise."""

from __future__ import annotations

import ast
import json
import re
import tempfile
import tomllib
from pathlib import Path

import not_run
from blocks import Block, Page
from session import Failed, Script
from stub import Models

SHOWN = {"text", "http", "markdown", ""}
COMMAND = re.compile(r"^(working-memory|curl|make|cargo|docker|kubectl|pip|npm) ", re.MULTILINE)


class Runner:
    """Runs pages with one program; counts what was run."""

    def __init__(self, root: Path, program: Path, models: Models) -> None:
        self.root, self.program, self.models = root, program, models
        self.used: set[tuple[str, str]] = set()
        self.ran = self.checked = self.left_out = 0

    def run(self, page: Page) -> None:
        with tempfile.TemporaryDirectory(prefix="working-memory-docs-") as name:
            folder = Path(name)
            folder.chmod(0o711)  # the database's own account has to get through
            script = self.script(page, folder)
            if script.steps or script.posts:
                script.run()
                self.ran += script.ran
        for block in page.blocks:
            self.look_at(block)

    def script(self, page: Page, folder: Path) -> Script:
        script = Script(self.root, self.program, self.models, folder)
        for block in page.blocks:
            if self.reason(block):
                self.left_out += 1
            elif is_run(block):
                script.step(block, self.without_lines(block))
            elif "output" in block.words:
                script.expect(block)
            elif block.language == "dsl" or (block.language == "json" and '"operations"' in block.text):
                script.posts.append(block)
        return script

    def reason(self, block: Block) -> str | None:
        for piece, reason in not_run.BLOCKS.get(block.page, {}).items():
            if piece in block.text:
                self.used.add((block.page, piece))
                return reason
        return None

    def without_lines(self, block: Block) -> str:
        lines = block.text.splitlines(keepends=True)
        for piece in not_run.LINES.get(block.page, {}):
            for number, line in enumerate(lines):
                if piece in line:
                    self.used.add((block.page, piece))
                    lines[number] = f": {len(line)} bytes are left out\n"
        return "".join(lines)

    def look_at(self, block: Block) -> None:
        """What is not run is at least what it says it is."""
        try:
            match block.language:
                case "json":
                    json.loads(block.text)
                case "toml":
                    tomllib.loads(block.text)
                case "python":
                    ast.parse(block.text)
                case "sh" | "dsl" | "yaml":
                    pass
                case language if language not in SHOWN:
                    raise Failed(f"{block.place}: nothing runs a block of the language {language!r}")
                case "text" if COMMAND.match(block.text) and "output" not in block.words and not self.reason(block):
                    raise Failed(f"{block.place}: commands are in a block that is not run: mark it `sh`")
        except (ValueError, SyntaxError) as error:
            raise Failed(f"{block.place}: {error}") from error
        self.checked += 1

    def unused(self) -> list[str]:
        listed = [
            (page, piece) for table in (not_run.LINES, not_run.BLOCKS) for page, all_ in table.items() for piece in all_
        ]
        return [
            f"tests/docs/not_run.py: nothing of {page} fits {piece!r}"
            for page, piece in listed
            if (page, piece) not in self.used
        ]


def is_run(block: Block) -> bool:
    """Programs, and what is in no language but begins with a command."""
    return block.language in ("sh", "python") or (not block.language and bool(COMMAND.match(block.text)))
