"""The tools that the benchmark needs, and the description of the machine."""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent


class Failed(Exception):
    """Why the benchmark ends; printed for the user."""


_NEEDED = {
    "cargo": "install Rust from https://rustup.rs",
    "wrk": "apt-get install wrk",
    "pgbench": "apt-get install postgresql",
    "psql": "apt-get install postgresql-client",
}


def check() -> None:
    """Reports everything that is missing, and how to install it, before anything is started."""
    missing = [f"{tool} is missing: {how}" for tool, how in _NEEDED.items() if shutil.which(tool) is None]
    if subprocess.run([sys.executable, "-c", "import venv, ensurepip"], capture_output=True).returncode != 0:
        missing.append("Python cannot make virtual environments: apt-get install python3-venv")
    if os.environ.get("DATABASE_URL"):
        missing.append(
            "DATABASE_URL is set. The benchmark fills and empties the database it measures, so it only uses a server"
            " of its own: run `env -u DATABASE_URL make bench`"
        )
    if missing:
        raise Failed("\n".join(missing))


def target_folder() -> Path:
    found = output("cargo", "metadata", "--format-version", "1", "--no-deps")
    return Path(re.search(r'"target_directory":"([^"]*)"', found).group(1))


def build() -> Path:
    """Builds all programs that are measured, as releases, and returns their paths."""
    # In one command, so that the library is built once.
    programs = ("--bin", "working-memory", "--example", "bare_handler", "--example", "scripted_model")
    run("cargo", "build", "--locked", "--release", "--quiet", *programs)
    return target_folder() / "release"


def peers_python(folder: Path) -> Path:
    """A Python with the peers, installed once and kept in the target folder."""
    wanted = (HERE / "peers" / "requirements.txt").read_text()
    installed = folder / "installed.txt"
    if not installed.exists() or installed.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        run(sys.executable, "-m", "venv", str(folder))
        run(str(folder / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", "-r",
            str(HERE / "peers" / "requirements.txt"))
        installed.write_text(wanted)
    return folder / "bin/python"


def run(*command: str) -> None:
    print("$", " ".join(command), file=sys.stderr, flush=True)
    if subprocess.run(command, cwd=PROJECT).returncode != 0:
        raise Failed(f"{' '.join(command)} failed")


def output(*command: str) -> str:
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout


def load_average() -> str:
    return " ".join(f"{load:.2f}" for load in os.getloadavg())


def machine(python: Path | None) -> list[str]:
    """The machine and the versions, one per line."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    wrk = subprocess.run(["wrk", "-v"], capture_output=True, text=True).stdout.split(" [")[0]
    lines = [
        f"{os.cpu_count()} cores of {cpu.group(1).strip() if cpu else platform.machine()},"
        f" {int(memory.group(1)) / 2**20:.0f} GiB of RAM, {platform.system()} {platform.release().split('-')[0]}",
        f"{output('rustc', '--version').split(' (')[0]}, {output('pgbench', '--version').split(' (Debian')[0].strip()},"
        f" {wrk.strip()}",
    ]
    if python:
        packages = dict(
            line.split("==") for line in output(str(python), "-m", "pip", "freeze").splitlines() if "==" in line
        )
        names = ("langgraph-checkpoint-postgres", "llama-index-storage-kvstore-postgres", "fastapi", "uvicorn", "psycopg", "asyncpg")
        lines.append(f"Python {platform.python_version()}, " + ", ".join(f"{name} {packages.get(name, '?')}" for name in names))
    return lines
