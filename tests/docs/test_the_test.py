"""Pages that are wrong, each in one way, and what has to be said of it: the test of the pages must be able to fail."""

from __future__ import annotations

import tempfile
from pathlib import Path

import links
import not_run
from blocks import read
from pages import Runner
from session import Failed

F = "```"
WRONG = {
    "a command fails": (
        f"{F}sh\ntrue\n{F}\n\n{F}sh\nworking-memory get --vault v --memory none\n{F}\n",
        ":5: the block ended with 4",
    ),
    "a request is refused": (
        f"{F}sh\ncurl -s http://127.0.0.1:8080/v1/vaults/v/memories/none/context\n{F}\n",
        ":1: the block ended with 22",
    ),
    "the end of a pipe hides a failure": (f"{F}sh\nfalse | cat\n{F}\n", ":1: the block ended with 1"),
    "an output differs": (
        f"{F}sh\necho one\n{F}\n{F}text output\ntwo\n{F}\n",
        ":4: the command before it says otherwise",
    ),
    "Python raises": (f"{F}python\nraise SystemExit(3)\n{F}\n", ":1: the block ended with 3"),
    "operations have a fault": (f"{F}dsl\nKEY_LEARNINGS:\n  ADD:\n    - no reason\n{F}\n", "missing_reason"),
    "JSON is none": (f"{F}json\n{{,}}\n{F}\n", ":1: "),
    "a language is unknown": (f"{F}cobol\nSTOP RUN.\n{F}\n", "nothing runs a block of the language 'cobol'"),
    "commands are hidden as text": (f"{F}text\nworking-memory get\n{F}\n", "mark it `sh`"),
}


def check(runner: Runner) -> list[str]:
    faults = []
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for what, (text, said) in WRONG.items():
            (root / "page.md").write_text(text)
            try:
                runner.run(read(root, "page.md"))
                faults.append(f"tests/docs: {what}, and nobody notices")
            except Failed as failed:
                if said not in str(failed):
                    faults.append(f"tests/docs: {what}, and it is said that {failed}")
        (root / "docs").mkdir()
        (root / "docs/SUMMARY.md").write_text("# Summary\n")
        (root / "docs/lost.md").write_text("# Lost\n")
        (root / "page.md").write_text("# One\n[a](#two) [b](none.md) [c](docs/lost.md#lost) `docs/none.md`\n")
        dead = links.of_pages(root, ["page.md"])
        if len(dead) != 4:
            faults.append(f"tests/docs: of four dead links these are found: {dead}")
    not_run.LINES["page.md"] = {"nowhere": "it is not there"}
    if not runner.unused():
        faults.append("tests/docs: an entry of not_run.py that fits nothing is not noticed")
    del not_run.LINES["page.md"]
    return faults
