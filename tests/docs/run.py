"""Runs every code block of README.md and docs, and follows every link.

run.py [PAGE …]     these pages only, such as docs/cli.md; WORKING_MEMORY_BIN names the program
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import links
import test_the_test
from blocks import read
from pages import Runner
from session import Failed
from stub import Models

ROOT = Path(__file__).resolve().parents[2]


def main(chosen: list[str]) -> int:
    of_docs = sorted(f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md") if file.name != "SUMMARY.md")
    pages = ["README.md", *of_docs]
    others = [
        "SECURITY.md",
        "clients/claude-code/README.md",
        "clients/python/README.md",
        "clients/typescript/README.md",
        "src/pipeline/prompts/README.md",
    ]
    faults = links.of_pages(ROOT, [*pages, "docs/SUMMARY.md", *others])
    runner = Runner(ROOT, Path(os.environ["WORKING_MEMORY_BIN"]).resolve(), Models())
    for page in chosen or pages:
        began = time.monotonic()
        try:
            runner.run(read(ROOT, page))
        except Failed as failed:
            faults.append(str(failed))
        print(f"{page}: {time.monotonic() - began:.1f} s", flush=True)
    if not chosen:
        faults += runner.unused()
        faults += test_the_test.check(Runner(ROOT, runner.program, runner.models))
    for fault in faults:
        print(f"FAILED {fault}", file=sys.stderr)
    print(f"{runner.checked} blocks: {runner.ran} run, {runner.left_out} left out with a reason")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
