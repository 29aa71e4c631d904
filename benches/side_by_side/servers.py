"""The processes that are measured. Each ends with its `with` block, or with this process, however that ends."""

import ctypes
import os
import re
import signal
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from tools import HERE, Failed

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1
_PATIENCE = 60


def _end_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def _process(command: list[str], patience: float = 40, **options) -> Iterator[subprocess.Popen]:
    """A process in a session of its own, so that a Ctrl-C at the terminal reaches it through this process, in order."""
    process = subprocess.Popen(command, start_new_session=True, preexec_fn=_end_with_parent, **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Database:
    """A PostgreSQL server that was started here; any other is rejected."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        # A marker that no other server can have: its data is in the folder of this run.
        lies_in = self.sql("SHOW data_directory")
        if not Path(lies_in).resolve().is_relative_to(folder.resolve()):
            raise Failed(f"the server's data lie in {lies_in}, not in {folder}: it is not the benchmark's own")

    def sql(self, statement: str, database: str | None = None) -> str:
        command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", self.url_of(database), "-f", "-"]
        done = subprocess.run(command, input=statement, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"psql: {done.stderr.strip()}")
        return done.stdout.strip()

    def url_of(self, database: str | None) -> str:
        return self.url if database is None else re.sub(r"/working_memory\?", f"/{database}?", self.url)


@contextmanager
def database(programs: Path, folder: Path) -> Iterator[Database]:
    """The embedded server of the service, durable, in `folder`."""
    # It runs until its input ends, which is when this process ends.
    command = [programs / "working-memory", "with-postgres", "--data-dir", folder / "data", "--"]
    command += ["sh", "-c", 'echo "$DATABASE_URL"; exec cat >/dev/null']
    with _process([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        if not url:
            raise Failed("the embedded PostgreSQL server does not start; its message stands above")
        yield Database(url, folder)
        process.stdin.close()
        process.wait(60)


class Service:
    """The service, as `working-memory serve` runs it: default configuration, log on, in a file."""

    def __init__(self, process: subprocess.Popen, url: str, log: Path) -> None:
        self.process, self.url, self.log = process, url, log

    def memory_mib(self, what: str) -> float:
        """`VmRSS`, the resident memory, or `VmHWM`, its maximum."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{what}:\s*(\d+) kB", status).group(1)) / 1024


@contextmanager
def service(programs: Path, folder: Path, server: Database, model_url: str | None) -> Iterator[Service]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WORKING_MEMORY")}
    environment |= {"DATABASE_URL": server.url, "WORKING_MEMORY__HTTP__BIND": "127.0.0.1:0"}
    if model_url:
        environment |= {
            "WORKING_MEMORY__LLM__PROVIDER": "openai",
            "WORKING_MEMORY__LLM__BASE_URL": model_url + "/v1",
            "WORKING_MEMORY__LLM__MODEL": "progress",
            "WORKING_MEMORY__LLM__ROLES__LEARNINGS__MODEL": "learnings",
            "WORKING_MEMORY__LLM__ROLES__VERBATIM__MODEL": "verbatim",
        }
    path = folder / "service.log"
    with path.open("ab") as log, _process(
        [str(programs / "working-memory"), "serve"], cwd=folder, env=environment, stdout=log, stderr=log
    ) as process:
        found = _wait(process, path, lambda: re.search(r'ready.*url="?(http://[0-9.:]+)', _plain(path.read_text())))
        yield Service(process, found.group(1), path)


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@contextmanager
def example(programs: Path, name: str, *arguments: str) -> Iterator[str]:
    """An example that listens on a free port and prints it; returns its URL."""
    command = [str(programs / "examples" / name), *arguments]
    with _process(command, stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        if not url:
            raise Failed(f"{name} does not start")
        yield url


@contextmanager
def peer(python: Path, name: str, server: Database, folder: Path, port: int) -> Iterator[str]:
    """A peer behind uvicorn with two workers, in a database of its own on the same server; returns its URL."""
    server.sql(f"CREATE DATABASE {name}")
    path = folder / f"{name}.log"
    command = [str(python), "-m", "uvicorn", f"{name}:app", "--workers", "2", "--port", str(port)]
    command += ["--no-access-log", "--log-level", "warning"]
    environment = os.environ | {"DATABASE_URL": server.url_of(name), "PYTHONDONTWRITEBYTECODE": "1"}
    made = subprocess.run([str(python), f"{name}.py"], cwd=HERE / "peers", env=environment, capture_output=True, text=True)
    if made.returncode != 0:
        raise Failed(f"{name} cannot make its tables:\n{made.stderr[-2000:]}")
    with path.open("ab") as log, _process(
        command, cwd=HERE / "peers", env=environment, stdout=log, stderr=log
    ) as process:
        url = f"http://127.0.0.1:{port}"
        _wait(process, path, lambda: _answers(url + "/healthz"))
        yield url


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def _wait(process: subprocess.Popen, log: Path, ready):
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        if found := ready():
            return found
        time.sleep(0.05)
    raise Failed(f"{process.args[0]} does not get ready:\n{_plain(log.read_text())[-2000:]}")
