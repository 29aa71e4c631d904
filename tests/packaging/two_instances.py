"""packaging/compose for real, without containers: its balancer, its pooler and two instances with its settings, on this
machine, while commands are run beside them and one instance after the other is stopped, killed and started again. What
was acknowledged must be there, once, and no request may fail that is sent again as a client does.

Runs below `working-memory with-postgres`; HAProxy and PgBouncer have to be on the PATH.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "packaging/compose"
PROGRAM = os.environ["WORKING_MEMORY_BIN"]
DIRECT = os.environ["DATABASE_URL"]
SOCKET = urllib.parse.parse_qs(urllib.parse.urlparse(DIRECT).query)["host"][0]
PASSWORD = 'p@ss:w/o"rd#%'
WRITERS, WRITES = 8, 120
BESIDE = 240


def ports(number: int) -> list[int]:
    held = [socket.socket() for _ in range(number)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    found = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return found


class Setup:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.balancer, self.pooler, self.one, self.two = ports(4)
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *command: str, environment: dict[str, str] | None = None) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                command, cwd=self.folder, stdout=log, stderr=log, env=environment, stdin=subprocess.DEVNULL
            )

    def stop(self, name: str, sign: int = signal.SIGTERM) -> None:
        child = self.running.pop(name)
        child.send_signal(sign)
        child.wait(60)

    def start_pooler(self) -> None:
        users, settings = self.folder / "userlist.txt", self.folder / "pgbouncer.ini"
        doubled = PASSWORD.replace('"', '""')
        users.write_text(f'"working_memory" "{doubled}"\n')
        text = (COMPOSE / "pgbouncer.ini").read_text()
        for old, new in (
            ("host=postgres ", f"host={SOCKET} "),
            ("listen_addr = *", "listen_addr = 127.0.0.1"),
            ("listen_port = 6432", f"listen_port = {self.pooler}"),
            ("/etc/pgbouncer/userlist.txt", str(users)),
        ):
            assert old in text, old
            text = text.replace(old, new)
        settings.write_text(text)
        # It does not run as root; the account of the database's server may connect to it.
        account = ["-u", Path(SOCKET).owner()] if os.getuid() == 0 else []
        self.start("pooler", "pgbouncer", *account, str(settings))

    def start_balancer(self) -> None:
        text = (COMPOSE / "haproxy.cfg").read_text()
        places = (
            ("bind *:8080", f"bind 127.0.0.1:{self.balancer}"),
            ("one:8080 resolvers containers", f"127.0.0.1:{self.one}"),
            ("two:8080 resolvers containers", f"127.0.0.1:{self.two}"),
        )
        for old, new in places:
            assert old in text, old
            text = text.replace(old, new)
        (self.folder / "haproxy.cfg").write_text(text)
        self.start("balancer", "haproxy", "-db", "-f", "haproxy.cfg")

    def start_instance(self, name: str) -> None:
        """With the environment that the Compose file gives it, other places aside."""
        service = yaml.safe_load((COMPOSE / "docker-compose.yml").read_text())["services"][name]
        environment = {key: str(value) for key, value in service["environment"].items()}
        pooled = environment["DATABASE_URL"].replace("@pooler:6432", f"@127.0.0.1:{self.pooler}")
        assert (
            pooled != environment["DATABASE_URL"]
            and "@postgres:5432" in environment["WORKING_MEMORY__DATABASE__LISTEN_URL"]
        )
        environment |= {
            "DATABASE_URL": pooled,
            "WORKING_MEMORY__DATABASE__LISTEN_URL": DIRECT,
            "PGPASSWORD": PASSWORD,
            "WORKING_MEMORY__HTTP__BIND": f"127.0.0.1:{getattr(self, name)}",
            "PATH": os.environ["PATH"],
        }
        self.start(name, PROGRAM, "serve", environment=environment)

    def ask_beside(self, folder: Path) -> list[str]:
        """Commands at the pooler while it is busy: each finds out again what kind of pooler it is."""
        url = f"postgres://working_memory@127.0.0.1:{self.pooler}/working_memory"
        environment = {"PATH": os.environ["PATH"], "DATABASE_URL": url, "PGPASSWORD": PASSWORD}
        command = [PROGRAM, "keys", "list", "--json"]
        def ask(_: int) -> subprocess.CompletedProcess[str]:
            return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)

        with ThreadPoolExecutor(4) as side_by_side:
            asked = list(side_by_side.map(ask, range(BESIDE)))
        return [f"a command beside: {one.stderr}" for one in asked if one.returncode != 0]

    def logs(self) -> str:
        return "\n".join(f"{log.name}: {log.read_text()[-1500:]}" for log in self.folder.glob("*.log"))

    def wait(self, port: int, path: str = "/readyz") -> None:
        for _ in range(600):
            for name, child in self.running.items():
                if child.poll() is not None:
                    sys.exit(f"{name} ended with {child.returncode}\n{self.logs()}")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2)
                return
            except OSError:
                time.sleep(0.1)
        sys.exit(f"nothing is ready at port {port}\n{self.logs()}")


class Writer(threading.Thread):
    """Puts versions of one memory through the balancer; each under one key, sent until it is answered."""

    def __init__(self, url: str, key: str, number: int) -> None:
        super().__init__()
        self.url, self.key = f"{url}/v1/vaults/two/memories/m{number}/context", key
        self.faults: list[str] = []
        self.versions: list[int] = []
        self.resent = 0

    def run(self) -> None:
        for number in range(WRITES):
            headers = {
                "Authorization": f"Bearer {self.key}",
                "Content-Type": "text/plain",
                "Idempotency-Key": f"{self.url}-{number}",
            }
            for _ in range(200):
                request = urllib.request.Request(self.url, f"write {number}".encode(), headers, method="PUT")
                try:
                    with urllib.request.urlopen(request, timeout=30) as response:
                        self.versions.append(json.load(response)["version"])
                    break
                except urllib.error.HTTPError as error:
                    if error.code not in (408, 409, 429, 500, 502, 503, 504):
                        self.faults.append(f"{error.code} {error.read().decode()}")
                        break
                except (OSError, ValueError):
                    pass
                self.resent += 1
                time.sleep(0.05)
            else:
                self.faults.append(f"write {number} was not answered in 200 attempts")
            time.sleep(0.02)


def requests_of(port: int, key: str) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Authorization": f"Bearer {key}"})
    lines = urllib.request.urlopen(request, timeout=10).read().decode().splitlines()
    return sum(
        int(float(line.rsplit(" ", 1)[1]))
        for line in lines
        if line.startswith("http_requests_total") and "/context" in line
    )


def main(folder: Path) -> None:
    folder.chmod(0o755)
    setup = Setup(folder)
    own = {"PATH": os.environ["PATH"], "DATABASE_URL": DIRECT}
    try:
        subprocess.run([PROGRAM, "migrate"], env=own, cwd=folder, check=True)
        made = subprocess.run(
            [PROGRAM, "keys", "create", "--name", "root", "--role", "admin", "--json"],
            env=own,
            cwd=folder,
            check=True,
            capture_output=True,
        )
        key = json.loads(made.stdout)["key"]
        setup.start_pooler()
        for name in ("one", "two"):
            setup.start_instance(name)
            setup.wait(getattr(setup, name))
        setup.start_balancer()
        setup.wait(setup.balancer)
        writers = [Writer(f"http://127.0.0.1:{setup.balancer}", key, number) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        time.sleep(1)
        beside = setup.ask_beside(folder)
        shares = [requests_of(port, key) for port in (setup.one, setup.two)]
        for name, sign in (("one", signal.SIGTERM), ("two", signal.SIGKILL)):
            setup.stop(name, sign)
            time.sleep(0.7)
            setup.start_instance(name)
            setup.wait(getattr(setup, name))
            time.sleep(1.5)
        for writer in writers:
            writer.join()
        faults = beside + [fault for writer in writers for fault in writer.faults]
        if not all(shares):
            faults.append(f"the balancer sent {shares} requests to the two")
        for writer in writers:
            if writer.versions != list(range(1, WRITES + 1)):
                faults.append(f"the versions of {WRITES} writes are {writer.versions}")
        if faults:
            sys.exit("\n".join(faults))
        resent = sum(writer.resent for writer in writers)
        print(
            f"Two instances: {WRITERS * WRITES} writes, each there once, beside {BESIDE} commands; {resent} were sent again while one was stopped and one killed."
        )
    finally:
        for name in list(setup.running):
            setup.stop(name)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="working-memory-two-") as name:
        main(Path(name))
