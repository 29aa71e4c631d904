#!/usr/bin/env python3
"""Measures the memory of the service under attack, and whether other requests are answered meanwhile.

Starts `PROGRAM serve` on a PostgreSQL server of its own. Each attack is 60 bodies of a megabyte at once (`POST
.../operations?dry_run=true` and the like), or 120 clients that ask for a blame of nearly 9 MB and do not read it. Fails
if the resident memory exceeds 256 MiB, or a request of another vault fails.

    python3 benches/memory/run.py --program PROGRAM [--attack short letter ...]
"""

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

LIMIT = 256
BODY = 1_048_000
BODIES = 60
READERS = 120
ADD = b"KEY_LEARNINGS:\n  ADD:\n"


def filled(head, item):
    return head + item * ((BODY - len(head)) // len(item))


def numbered():
    items, size = [ADD], len(ADD)
    while size < BODY - 40:
        items.append(b"- because a: b%d\n" % len(items))
        size += len(items[-1])
    return b"".join(items)


def listed(before, value, count, behind):
    return before + b",".join([value] * count) + behind


MANY_IDS = b"- " + b",".join(b"KL-%d" % n for n in range(1, 100)) + b" because " + b"x" * 9000 + b"\n"
TEXTS = {
    "short": lambda: filled(ADD, b"    - short bullet\n"),
    "letter": lambda: filled(ADD, b"- a\n"),
    "good": numbered,
    "progress": lambda: filled(b"CURRENT_PROGRESS:\n  In Progress:\n", b"- a\n"),
    "archive": lambda: filled(b"KEY_LEARNINGS:\n  ARCHIVE:\n", MANY_IDS),
    "lines": lambda: filled(ADD, b"\n"),
}
JSON = {
    "json": lambda: listed(b'{"operations":[', b'{"op":"archive"}', 61_000, b"]}"),
    "bullets": lambda: listed(
        b'{"operations":[{"op":"rewrite_progress","completed":[', b'"a"', 200_000, b'],"in_progress":["b"]}]}'
    ),
    "messages": lambda: listed(b'{"task":"t","messages":[{"role":"user","content":[', b'{"a":1}', 49_000, b"]}]}"),
}


class Attacked:
    def __init__(self, port, process):
        self.port, self.process = port, process
        self.peak, self.stops, self.others = 0.0, False, []

    def resident(self):
        with open(f"/proc/{self.process}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))

    def watch(self):
        while not self.stops:
            self.peak = max(self.peak, self.resident())
            time.sleep(0.02)

    def ask(self, method, path, body=None, kind="text/plain"):
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, data=body, method=method, headers={"Content-Type": kind})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                answer.read()
                return answer.status
        except urllib.error.HTTPError as error:
            error.read()
            return error.code
        except OSError as error:
            return type(error).__name__

    def other(self):
        path = "/v1/vaults/other/memories/m/context"
        while not self.stops:
            self.others.append(self.ask("PUT", path, b"# D\n\n%d\n" % len(self.others)) in (200, 201))
            self.others.append(self.ask("GET", path) == 200)
            time.sleep(0.01)

    def bodies(self, name):
        body = (TEXTS.get(name) or JSON[name])()
        assert len(body) <= 1 << 20, len(body)
        kind = "text/plain" if name in TEXTS else "application/json"
        route = "update" if name == "messages" else "operations?dry_run=true"
        told = []

        def one(n):
            told.append(self.ask("POST", f"/v1/vaults/evil/memories/m{n}/{route}", body, kind))

        run([threading.Thread(target=one, args=(n,)) for n in range(BODIES)])
        return told

    def blame(self):
        document = b"# D\n" + b"a\n" * 51_000
        assert self.ask("PUT", "/v1/vaults/evil/memories/b/context", document) in (200, 201)
        told, readers = [], []
        for _ in range(READERS):
            reader = socket.create_connection(("127.0.0.1", self.port))
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.sendall(b"GET /v1/vaults/evil/memories/b/blame HTTP/1.1\r\nHost: localhost\r\n\r\n")
            readers.append(reader)
        time.sleep(8)
        for reader in readers:
            reader.settimeout(0.5)
            try:
                told.append(int(reader.recv(12)[9:]))
            except (OSError, ValueError) as error:
                told.append(type(error).__name__)
        return told


def run(threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def attack(port, process, name):
    attacked = Attacked(port, process)
    before = attacked.resident()
    watching = [threading.Thread(target=work) for work in (attacked.watch, attacked.other)]
    for thread in watching:
        thread.start()
    time.sleep(0.5)
    told = attacked.blame() if name == "blame" else attacked.bodies(name)
    attacked.stops = True
    for thread in watching:
        thread.join()
    failed = attacked.others.count(False)
    counts = ", ".join(f"{status}: {told.count(status)}" for status in sorted(set(told), key=str))
    served = f"{len(attacked.others) - failed} of {len(attacked.others)}"
    print(f"| {name} | {before:.0f} | {attacked.peak:.0f} | {counts} | {served} |", flush=True)
    return attacked.peak > LIMIT or failed > 0


def inner(arguments):
    port = random.randint(20_000, 39_999)
    environment = dict(os.environ, WORKING_MEMORY__HTTP__BIND=f"127.0.0.1:{port}", WORKING_MEMORY__LOG__FILTER="off")
    service = subprocess.Popen([arguments.program, "serve"], env=environment, cwd=tempfile.gettempdir())
    try:
        ready = Attacked(port, service.pid)
        while ready.ask("GET", "/readyz") != 200:
            time.sleep(0.1)
        print("| attack | before, MiB | most, MiB | answers | others served |\n|---|---:|---:|---|---:|")
        missed = [attack(port, service.pid, name) for name in arguments.attack]
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait()
    if any(missed):
        sys.exit(f"more than {LIMIT} MiB, or others were not served")


def main():
    every = [*TEXTS, *JSON, "blame"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--attack", nargs="+", default=every, choices=every)
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program)
    if arguments.inner:
        return inner(arguments)
    command = [arguments.program, "with-postgres", "--", sys.executable, os.path.abspath(__file__)]
    sys.exit(subprocess.run([*command, *sys.argv[1:], "--inner"]).returncode)


if __name__ == "__main__":
    main()
