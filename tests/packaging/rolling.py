"""Two instances of one release replaced, one after the other, by those of the next, and back, while clients write: what was
acknowledged must be there, once and in its order, and no request may fail that is sent again as a client does.

    working-memory with-postgres -- python3 tests/packaging/rolling.py OLD NEW

OLD and NEW are programs. The way back is the one of docs/deploy.md: the newer program takes its migrations back first.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

WRITERS = 8
MEMORY = "/v1/vaults/rolling/memories/m{}"


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def ask(port, method, path, body=None, timeout=30, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class Instance:
    """One of two places behind the balancer, which is the list of those that are ready."""

    def __init__(self, folder, number):
        self.folder, self.number, self.port, self.process = folder, number, free_port(), None

    def start(self, program):
        environment = dict(os.environ, WORKING_MEMORY__HTTP__BIND=f"127.0.0.1:{self.port}")
        with open(f"{self.folder}/{self.number}.log", "ab") as log:
            self.process = subprocess.Popen([program, "serve"], env=environment, cwd=self.folder, stdout=log, stderr=log)
        for _ in range(600):
            if self.process.poll() is not None:
                break
            try:
                if ask(self.port, "GET", "/readyz", timeout=2)[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        with open(f"{self.folder}/{self.number}.log") as log:
            sys.exit(f"{program} does not get ready:\n{log.read()[-3000:]}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(60) != 0:
            sys.exit(f"an instance ended with {self.process.returncode}")


class Writer(threading.Thread):
    """Changes one memory, by puts and by operations of agents; each change under one key, sent until it is answered."""

    def __init__(self, ports, number):
        super().__init__(daemon=True)
        self.ports, self.path = ports, MEMORY.format(number)
        self.over, self.faults, self.versions, self.resent = threading.Event(), [], [], 0

    def run(self):
        number = 0
        while not self.over.is_set() and not self.faults:
            number += 1
            headers = {"Idempotency-Key": f"{self.path}-{number}"}
            if number % 4:
                change = "PUT", f"{self.path}/context", f"# Notes\nwrite {number}\n"
                headers["Content-Type"] = "text/plain"
            else:
                text = f"KEY_LEARNINGS:\n  ADD:\n    - because it was seen: write {number} of the writer\n"
                change = "POST", f"{self.path}/operations", text
                headers["Content-Type"] = "text/plain"
            self.send(number, *change, headers)

    def send(self, number, method, path, text, headers):
        for attempt in range(400):
            try:
                status, answer = ask(self.ports[(number + attempt) % 2], method, path, text.encode(), **headers)
            except (OSError, http.client.HTTPException):
                status, answer = 0, b""
            if status in (200, 201):
                self.versions.append((json.loads(answer)["version"], number))
                return
            if status not in (0, 408, 409, 429, 500, 502, 503, 504):
                self.faults.append(f"{method} {path}: {status} {answer.decode()}")
                return
            self.resent += 1
            time.sleep(0.05)
        self.faults.append(f"{method} {path} {number}: not answered in 400 attempts")


def main(old, new):
    def sql(statement):
        command = ["psql", os.environ["DATABASE_URL"], "--no-psqlrc", "-XAtc", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def migrate(program, *arguments):
        subprocess.run([program, "migrate", *arguments], check=True)
        return sql("SELECT max(version) FROM _sqlx_migrations")

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        before = migrate(old)
        instances = [Instance(folder, number) for number in (1, 2)]
        for instance in instances:
            instance.start(old)
        writers = [Writer([instance.port for instance in instances], number) for number in range(WRITERS)]
        for writer in writers:
            writer.start()

        def said(what):
            changes = sum(len(writer.versions) for writer in writers)
            print(f"{what}: {changes} changes so far", flush=True)
            time.sleep(2)

        def replace(program, what):
            for number, instance in enumerate(instances, 1):
                instance.stop()
                instance.start(program)
                said(f"instance {number} is {what}")

        said("both old")
        after = migrate(new)
        said(f"schema {before} became {after}")
        replace(new, "new")
        # Back: the newer program takes away what it added, and again what it wrote meanwhile is in the older form.
        migrate(new, "--down-to", before)
        said(f"schema {after} became {before}")
        replace(old, "old again")
        for writer in writers:
            writer.over.set()
        for writer in writers:
            writer.join(60)
        faults = [fault for writer in writers for fault in writer.faults]
        for number, writer in enumerate(writers):
            held = sql(
                "SELECT COALESCE(json_object_agg(version, context), '{}') FROM memory_contexts "
                f"WHERE vault_id = 'rolling' AND memory_id = 'm{number}'"
            )
            held = {int(version): text for version, text in json.loads(held).items()}
            if [version for version, _ in writer.versions] != sorted(held):
                faults.append(f"m{number}: acknowledged were {writer.versions}, there are {sorted(held)}")
            for version, change in writer.versions:
                text = held.get(version, "")
                if f"write {change}\n" not in text and f"write {change} of" not in text:
                    faults.append(f"m{number}: version {version} is not write {change}: {text!r}")
        for instance in instances:
            instance.stop()
        if faults:
            sys.exit("\n".join(faults))
        changes = sum(len(writer.versions) for writer in writers)
        resent = sum(writer.resent for writer in writers)
        print(f"{changes} changes, each there once; {resent} requests were sent again")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*(os.path.abspath(program) for program in sys.argv[1:]))
