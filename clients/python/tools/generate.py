"""Writes models/ and operations/ of the client from openapi.yaml.

python tools/generate.py            write them
python tools/generate.py --check    say which files differ, and exit with 1 if any does
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from openapi import models, operations
from openapi.document import Document

PACKAGE = Path(__file__).parents[1] / "src" / "working_memory_client"
DOCUMENT = Path(__file__).parents[3] / "openapi.yaml"


def write(folder: Path) -> list[Path]:
    """Writes everything below a folder, formatted, and returns the files relative to it."""
    document = Document(DOCUMENT)
    written = []
    for name, files in (("models", models.modules(document)), ("operations", operations.modules(document))):
        (folder / name).mkdir(exist_ok=True)
        for file, text in files.items():
            (folder / name / file).write_text(text)
            written.append(Path(name) / file)
    settings = ["--config", str(PACKAGE.parents[1] / "pyproject.toml"), "--no-cache", "--quiet"]
    paths = [str(folder / file) for file in written]
    for command in (["check", "--fix-only"], ["format"]):
        subprocess.run([sys.executable, "-m", "ruff", *command, *settings, *paths], check=True)
    return written


def differences() -> list[str]:
    """The files that are not what would be written."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files = write(folder)
        found = [str(file) for file in files if not _equal(folder / file, PACKAGE / file)]
        there = {
            file.relative_to(PACKAGE) for name in ("models", "operations") for file in (PACKAGE / name).glob("*.py")
        }
        return sorted(found + [str(file) for file in there - set(files)])


def _equal(one: Path, other: Path) -> bool:
    return other.exists() and one.read_text() == other.read_text()


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        stale = differences()
        sys.exit("\n".join([*stale, "run tools/generate.py"]) if stale else 0)
    write(PACKAGE)
