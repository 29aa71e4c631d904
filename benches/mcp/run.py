"""Measures the cost of the Model Context Protocol beside the route that it calls, and 200 concurrent clients.

    make bench-mcp                       the program of target/release
    WORKING_MEMORY_BIN=… python3 benches/mcp/run.py

1. `memory_read` over /mcp, less the cost of a message that does nothing (`ping`), against the plain GET of the same
   document. All three are sent alternately over one connection each, so that other load affects all alike.
   Target: at most 1.5 times the GET.
2. 200 concurrent clients, each with a connection of its own: list the tools, then read and write. Target: the maximum
   resident memory of the service is under 96 MiB (its database has processes of its own).
"""

import asyncio
import http.client
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("WORKING_MEMORY_BIN", str(ROOT / "target/release/working-memory"))
ROUNDS, WARM_UP = 3_000, 300
CLIENTS, CALLS = 200, 20
MOST_OF_A_GET, MOST_MIB = 1.5, 96
MEMORY = "/v1/vaults/bench/memories/agent/context"
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
}


def message(method, params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def tool(name, **arguments):
    return message("tools/call", {"name": name, "arguments": {"vault": "bench", **arguments}})


PING = message("ping", {})
READ = tool("memory_read", memory="agent")


class Service:
    """The service with a database of its own, both removed after the block."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="wm-bench-mcp-")
        os.chmod(self.folder.name, 0o711)
        self.log = open(f"{self.folder.name}/log", "w+")
        environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        environment |= {
            "WORKING_MEMORY__HTTP__BIND": "127.0.0.1:0",
            "WORKING_MEMORY__HTTP__RATE_PER_ADDRESS": "0",
            "WORKING_MEMORY__LOG__FORMAT": "json",
            "WORKING_MEMORY__DATABASE__DATA_DIR": f"{self.folder.name}/data",
        }
        self.process = subprocess.Popen([PROGRAM, "serve"], env=environment, stderr=self.log)
        for _ in range(600):
            lines = pathlib.Path(self.log.name).read_text()
            for line in lines.splitlines():
                if '"ready"' in line and (found := re.search(r'"url":"http://([^"]+)"', line)):
                    self.host, self.port = found[1].split(":")
                    return self
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        sys.exit(f"the service does not start:\n{lines}")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.folder.cleanup()

    def connection(self):
        return http.client.HTTPConnection(self.host, int(self.port))

    def resident_mib(self):
        """The maximum resident memory."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def timed(connection, method, path, body, headers):
    begun = time.perf_counter()
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read()
    took = time.perf_counter() - begun
    if answer.status != 200:
        sys.exit(f"{method} {path}: {answer.status} {text[:500]!r}")
    return took


def costs(service, bytes_of_document):
    """Medians in microseconds: a message that does nothing, the tool, the route."""
    connection = service.connection()
    document = ("# Key Learnings\n" + "- a line of a document of an agent\n" * 10_000)[:bytes_of_document]
    connection.request("PUT", MEMORY, document, {"Content-Type": "text/plain"})
    connection.getresponse().read()
    ways = {
        "ping": (service.connection(), "POST", "/mcp", PING, HEADERS),
        "read": (service.connection(), "POST", "/mcp", READ, HEADERS),
        "get": (service.connection(), "GET", MEMORY, None, {}),
    }
    times = {name: [] for name in ways}
    for number in range(WARM_UP + ROUNDS):
        for name, way in ways.items():
            took = timed(*way)
            if number >= WARM_UP:
                times[name].append(took)
    return {name: statistics.median(values) * 1e6 for name, values in times.items()}


async def client(service, number):
    reader, writer = await asyncio.open_connection(service.host, int(service.port))
    head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())

    async def ask(body):
        data = body.encode()
        writer.write(f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        await writer.drain()
        status = int((await reader.readuntil(b"\r\n")).split()[1])
        length = 0
        while (line := await reader.readuntil(b"\r\n")) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        text = await reader.readexactly(length)
        # A 503 because the service is full is a valid response; a client then retries.
        return status, text

    async def until_done(body):
        while True:
            status, text = await ask(body)
            if status == 200:
                return json.loads(text)
            if status not in (429, 503):
                sys.exit(f"{status}: {text[:300]!r}")
            await asyncio.sleep(0.2)

    await until_done(message("tools/list", {}))
    memory = f"client-{number}"
    for call in range(CALLS):
        written = await until_done(tool("memory_write", memory=memory, text=f"# Description\ncall {call}\n" * 100))
        assert not written["result"]["isError"], written
        read = await until_done(tool("memory_read", memory=memory))
        assert not read["result"]["isError"], read
    writer.close()


async def many(service):
    begun = time.monotonic()
    await asyncio.gather(*(client(service, number) for number in range(CLIENTS)))
    return time.monotonic() - begun


missed = False
with Service() as service:
    took = asyncio.run(many(service))
    most = service.resident_mib()
    missed |= most >= MOST_MIB
    print(f"{CLIENTS} clients, {CALLS} writes and reads each, {took:.1f} s: {most:.1f} MiB resident at most (target under {MOST_MIB})")
with Service() as service:
    print("document   ping us   memory_read us   GET us   (read - ping) / GET")
    for size in [1_000, 10_000, 100_000]:
        of = costs(service, size)
        ratio = (of["read"] - of["ping"]) / of["get"]
        missed |= ratio > MOST_OF_A_GET
        print(f"{size:>8}  {of['ping']:>8.0f}  {of['read']:>15.0f}  {of['get']:>7.0f}   {ratio:.2f} (target {MOST_OF_A_GET})")
sys.exit(missed)
