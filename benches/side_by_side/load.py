"""Runs the load generators and parses their results."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from http_requests import REVISIONS_OF_A_RUN
from tools import HERE, Failed

CONNECTIONS = 32
# The same number for pgbench; on two cores both share them with what they measure.
THREADS = 2


@dataclass(frozen=True)
class Figure:
    per_second: float
    p50_ms: float
    p99_ms: float
    answers: int
    bytes_per_answer: float


class Wrk:
    """Counts the used revisions, so that every put is a change."""

    def __init__(self) -> None:
        self._runs = 0

    def run(self, url: str, files: list[tuple[Path, int]], seconds: float, connections: int = CONNECTIONS) -> Figure:
        self._runs += 1
        command = ["wrk", f"-t{min(THREADS, connections)}", f"-c{connections}", f"-d{seconds:.0f}s", "--timeout", "10s"]
        command += ["-s", str(HERE / "wrk.lua"), url, "--", str(self._runs * REVISIONS_OF_A_RUN)]
        for path, share in files:
            command += [str(path), str(share)]
        done = _run(command)
        found = json.loads(done.strip().splitlines()[-1])
        if any(found["errors"].values()) or found["requests"] == 0:
            raise Failed(f"{' '.join(command)}: {found['requests']} answers, errors: {found['errors']}")
        return Figure(
            found["requests"] / found["seconds"],
            found["p50_ms"],
            found["p99_ms"],
            found["requests"],
            found["bytes"] / found["requests"],
        )


def pgbench(url: str, script: str, seconds: float, variables: dict[str, str], log: Path) -> Figure:
    """One of the scripts; its transactions' times are read from pgbench's own log, in the folder `log`."""
    command = ["pgbench", "-n", "-M", "prepared", "-c", str(CONNECTIONS), "-j", str(THREADS), "-T", f"{seconds:.0f}"]
    command += ["-f", str(HERE / script), "--log", "--sampling-rate=0.05", f"--log-prefix={log}/pgbench"]
    for name, value in variables.items():
        command += ["-D", f"{name}={value}"]
    done = _run([*command, url])
    if "number of failed transactions: 0 " not in done:
        raise Failed(f"pgbench {script}: {done}")
    times = []
    for path in log.glob("pgbench.*"):
        times += [int(line.split()[2]) for line in path.read_text().splitlines()]
        path.unlink()
    times.sort()
    answers = int(re.search(r"actually processed: (\d+)", done).group(1))
    tps = float(re.search(r"tps = ([0-9.]+)", done).group(1))
    return Figure(tps, times[len(times) // 2] / 1e3, times[len(times) * 99 // 100] / 1e3, answers, 0)


def _run(command: list[str]) -> str:
    # In a session of its own: a Ctrl-C reaches it through this process.
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        done, _ = process.communicate()
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
    if process.returncode != 0:
        raise Failed(f"{command[0]} failed: {done[-2000:]}")
    return done
