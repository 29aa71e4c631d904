"""A real service of the tests' own, with its own database."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0


def program() -> str:
    """The program under test."""
    given = os.environ.get("WORKING_MEMORY_BIN")
    if given:
        return given
    made = subprocess.run(["sh", "scripts/program.sh"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return made.stdout.strip()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Service:
    """A running service. It can be killed and started again on the same data."""

    def __init__(self, **settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="wm-python-"))
        self.folder.chmod(0o755)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.settings = settings
        self.process: subprocess.Popen[bytes] | None = None

    def environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("WORKING_MEMORY")
            and name not in ("DATABASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")
        }
        return inherited | {
            "WORKING_MEMORY__HTTP__BIND": f"127.0.0.1:{self.port}",
            "WORKING_MEMORY__DATABASE__DATA_DIR": str(self.folder / "data"),
            **self.settings,
        }

    def start(self) -> None:
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(
                [program(), "serve"], cwd=self.folder, env=self.environment(), stdout=log, stderr=log
            )
        until = time.monotonic() + PATIENCE
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the service did not start:\n" + (self.folder / "log.txt").read_text()[-3000:])
            time.sleep(0.05)

    def ready(self) -> bool:
        try:
            with urllib.request.urlopen(self.url + "/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def stop(self, *, kill: bool = False) -> None:
        if self.process is not None:
            self.process.kill() if kill else self.process.terminate()
            self.process.wait()
            self.process = None

    def command(self, *arguments: str) -> Any:
        """What a command of the program answers, on this service's database."""
        done = subprocess.run(
            [program(), *arguments, "--json"],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.loads(done.stdout)

    def __enter__(self) -> Service:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
