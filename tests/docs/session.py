"""One page's shell session, in a folder and against a service of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import not_run
from blocks import Block
from stub import Models

# A copy of what a checkout holds beside the sources, for commands that name its files.
COPIED = [
    "Makefile",
    ".env.example",
    "docker-compose.yml",
    "docs",
    "examples",
    "packaging",
    "scripts",
    "clients/python/src",
]
SERVES = re.compile(r"^(working-memory serve &).*$", re.MULTILINE)
READY = "for i in $(seq 600); do working-memory health >/dev/null 2>&1 && break; sleep 0.1; done; working-memory health >/dev/null"
# What differs from run to run.
VARIABLE = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\w+day, \d{4}-\d\d-\d\d \d\d:\d\d"), "<day and time>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
]


class Failed(Exception):
    """What is wrong with a page, in a sentence with its place."""


class Script:
    """The shell session of one page."""

    def __init__(self, root: Path, program: Path, models: Models, folder: Path) -> None:
        self.root, self.program, self.models, self.folder = root, program, models, folder
        self.ran = 0
        self.steps: list[tuple[Block, str]] = []
        self.outputs: list[tuple[int, Block]] = []
        self.posts: list[Block] = []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def step(self, block: Block, code: str) -> None:
        self.steps.append((block, code.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}")))

    def expect(self, block: Block) -> None:
        if not self.steps:
            raise Failed(f"{block.place}: an output stands before any command")
        self.outputs.append((len(self.steps) - 1, block))

    def run(self) -> None:
        environment = self.prepare()
        starts_itself = any(SERVES.search(code) for _, code in self.steps)
        service = None if starts_itself else self.serve(environment)
        try:
            if service:
                self.wait(service)
            self.run_steps(environment)
            for block in self.posts:
                self.post(block)
                self.ran += 1
        finally:
            if service:
                service.terminate()
                service.wait(30)

    def prepare(self) -> dict[str, str]:
        """A folder to work in, a home, and programs that fail where a person would see an error."""
        work, programs = self.folder / "work", self.folder / "bin"
        for name in COPIED:
            source, target = self.root / name, work / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        for name in ("home", "bin", "steps"):
            (self.folder / name).mkdir()
        subprocess.run(["git", "init", "--quiet", "work"], cwd=self.folder, check=True)
        (programs / "working-memory").symlink_to(self.program)
        curl = shutil.which("curl")
        (programs / "curl").write_text(f'#!/bin/sh\nexec {curl} --fail-with-body "$@"\n')
        (programs / "curl").chmod(0o755)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WORKING_MEMORY")}
        environment.pop("DATABASE_URL", None)
        return environment | {
            "HOME": str(self.folder / "home"),
            "PATH": ":".join(
                [str(programs), environment["PATH"], *(str(one) for one in Path("/usr/lib/postgresql").glob("*/bin"))]
            ),
            "PYTHONPATH": str(work / "clients/python/src"),
            "GIT_AUTHOR_NAME": "Ann",
            "GIT_AUTHOR_EMAIL": "ann@example.org",
            "GIT_COMMITTER_NAME": "Ann",
            "GIT_COMMITTER_EMAIL": "ann@example.org",
            "WORKING_MEMORY_URL": self.url,
            "WORKING_MEMORY__HTTP__BIND": f"127.0.0.1:{self.port}",
            "WORKING_MEMORY__LOG__FILTER": "warn",
            # That of a user; the tests may be root's, who has another.
            "WORKING_MEMORY__DATABASE__DATA_DIR": str(self.folder / "home/.local/share/working-memory"),
            **self.models.environment,
        }

    def serve(self, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        # The models of the examples are not the service's: without its own it takes the rules.
        own = {name: value for name, value in environment.items() if not name.startswith(("OPENAI", "ANTHROPIC"))}
        with (self.folder / "service.log").open("wb") as log:
            return subprocess.Popen(
                [str(self.program), "serve"], cwd=self.folder / "work", env=own, stdout=log, stderr=log
            )

    def wait(self, service: subprocess.Popen[bytes]) -> None:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{self.url}/readyz", timeout=2)
                return
            except OSError:
                if service.poll() is not None:
                    break
                time.sleep(0.1)
        raise Failed(f"the service did not start: {(self.folder / 'service.log').read_text()[-2000:]}")

    def run_steps(self, environment: dict[str, str]) -> None:
        if not self.steps:
            return
        steps = self.folder / "steps"
        driver = ["set -euo pipefail", not_run.BEFORE.get(self.steps[0][0].page, "")]
        for number, (block, code) in enumerate(self.steps):
            code = SERVES.sub(rf"env -u OPENAI_API_KEY -u ANTHROPIC_API_KEY \1\n{READY}", code)
            (steps / f"{number}.code").write_text(code)
            call = f"python {steps}/{number}.code" if block.language == "python" else f"source {steps}/{number}.code"
            driver.append(f"echo {number} >{steps}/at; {call} >{steps}/{number}.out")
        (steps / "driver.sh").write_text("\n".join(driver) + "\n")
        with (self.folder / "errors").open("w+b") as errors:
            shell = subprocess.Popen(
                ["bash", str(steps / "driver.sh")],
                cwd=self.folder / "work",
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                start_new_session=True,
            )
            try:
                code = shell.wait(300)
            except subprocess.TimeoutExpired:
                code = "no end within 300 seconds"
            finally:
                self.end(shell.pid)
            errors.seek(0)
            said = errors.read().decode(errors="replace")
        if code != 0 and not (steps / "at").exists():
            raise Failed(f"{self.steps[0][0].page}: what is done before its first block ended with {code}\n{said}")
        if code != 0:
            at = int((steps / "at").read_text())
            out = (steps / f"{at}.out").read_text(errors="replace")
            raise Failed(f"{self.steps[at][0].place}: the block ended with {code}\n{out[-2000:]}\n{said[-2000:]}")
        self.ran += len(self.steps)
        for number, block in self.outputs:
            output = (steps / f"{number}.out").read_text().replace(f"127.0.0.1:{self.port}", "127.0.0.1:8080")
            self.compare(block, output.replace(str(self.program), "/usr/local/bin/working-memory"))

    def end(self, group: int) -> None:
        """Ends what the page left running: its service, which ends its database."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(group, sign)
                for _ in range(300):
                    os.killpg(group, 0)
                    time.sleep(0.1)
            except ProcessLookupError:
                return

    def compare(self, block: Block, output: str) -> None:
        """A line `…` stands for any lines."""
        is_part = [re.escape(part.strip("\n")) for part in re.split(r"^…\n", fixed(block.text), flags=re.MULTILINE)]
        if not re.fullmatch(r"\n*" + r"(?:.*\n)*".join(part + r"\n*" for part in is_part), fixed(output)):
            raise Failed(f"{block.place}: the command before it says otherwise:\n{output}")
        self.ran += 1

    def post(self, block: Block) -> None:
        """Operations are read without a fault, but for records that this memory does not have."""
        kind = "application/json" if block.language == "json" else "text/plain"
        request = urllib.request.Request(
            f"{self.url}/v1/vaults/docs/memories/m/operations?dry_run=true", block.text.encode(), {"Content-Type": kind}
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            raise Failed(f"{block.place}: {error.read().decode()}") from error
        faults = [one for one in answer["rejected"] + answer["warnings"] if one["kind"] != "unknown_id"]
        if faults:
            raise Failed(f"{block.place}: {faults}")


def fixed(text: str) -> str:
    for pattern, name in VARIABLE:
        text = pattern.sub(name, text)
    return text.rstrip("\n") + "\n"
