"""Measures reads with 1 to 100,000 versions of a memory: benches/history.rs, in a database of its own."""

import os
import re
import signal
import subprocess

from servers import Database
from tools import PROJECT, Failed

VERSIONS = (1, 10, 100, 1_000, 10_000, 100_000)


def measure(server: Database) -> dict[str, list[float | None]]:
    """The medians in milliseconds by kind of read, one for each of `VERSIONS`; none where it does not apply."""
    server.sql("CREATE DATABASE history")
    environment = os.environ | {"DATABASE_URL": server.url_of("history")}
    command = ["cargo", "bench", "--locked", "--quiet", "--bench", "history"]
    # In a session of its own, so that it can be ended with the service that it starts.
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=PROJECT, env=environment, start_new_session=True, **pipes)
    try:
        printed, errors = process.communicate()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            process.wait()
    rows = {}
    for line in printed.splitlines():
        # A name, a figure or a dash for each number of versions, and the ratio.
        found = re.fullmatch(r"(\S.*?)((?: +(?:[0-9.]+|-)){%d}) +[0-9.]+" % len(VERSIONS), line)
        if found:
            rows[found.group(1)] = [None if value == "-" else float(value) for value in found.group(2).split()]
    # It also fails if a target is missed; its table is complete then.
    if "GetLatestContext" not in rows:
        raise Failed(f"{' '.join(command)} failed: {printed}{errors}")
    return rows
