"""Measures reads with 1 to 100,000 versions of a memory, in a database of its own."""

import sys
from pathlib import Path

from servers import Database

# What measures single requests is in the parent folder.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from single import VERSIONS, history_of_reads

__all__ = ["VERSIONS", "measure"]


def measure(server: Database, program: Path) -> dict[str, list[float | None]]:
    """The medians in milliseconds by kind of read, one for each of `VERSIONS`; none where it does not apply."""
    server.sql("CREATE DATABASE history")
    return history_of_reads(str(program), server.url_of("history"))[0]
