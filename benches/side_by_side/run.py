#!/usr/bin/env python3
"""`make bench`: the service beside PostgreSQL's pgbench, a bare HTTP handler and its peers, on one machine in one run.

    python3 benches/side_by_side/run.py --program PROGRAM [--seconds N] [--rounds N] [--only CELL …]

The examples `bare_handler` and `scripted_model` are built beside the program. Needs wrk and pgbench.
"""

import http.client
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

# The harness of the measurements is in the parent folder.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import documents
import harness
from documents import REVISION

HERE = Path(__file__).resolve().parent
# The load generators share the cores with what they measure.
CONNECTIONS, THREADS = 32, 2
# The revisions of a run of wrk: no two runs share any, so that every put is a change.
REVISIONS_OF_A_RUN = 10_000_000

# One kind of load. `place` is its address; `load` the requests to it, of pgbench a script.
Cell = namedtuple("Cell", "name title place load connections", defaults=(CONNECTIONS,))
CELLS = [
    Cell("pgbench-get", "pgbench, latest SELECT", "database", "latest.sql"),
    Cell("pgbench-put", "pgbench, one-statement write", "database", "write.sql"),
    Cell("bare", "bare axum handler, the same 4 KB", "bare", "get"),
    Cell("get", "GetLatestContext", "service", "get"),
    Cell("get-no-cache", "GetLatestContext, `Cache-Control: no-cache`", "service", "get-no-cache"),
    Cell("put", "PutContext", "service", "put"),
    Cell("update-1", "`/update`, models of 200 ms, 1 in flight", "service", "update", 1),
    Cell("update-64", "`/update`, models of 200 ms, 64 in flight", "service", "update", 64),
    Cell("langgraph-get", "LangGraph store + FastAPI, get", "langgraph_store", "get"),
    Cell("langgraph-put", "LangGraph store + FastAPI, put", "langgraph_store", "put"),
    Cell("llama-get", "LlamaIndex KV store + FastAPI, get", "llama_index_kvstore", "get"),
    Cell("llama-put", "LlamaIndex KV store + FastAPI, put", "llama_index_kvstore", "put"),
]
PEERS = ("langgraph_store", "llama_index_kvstore")

# Cell, those it is divided by, of which the fastest counts, and the least ratio.
RATIOS = [
    ("get", ["pgbench-get"], 1.3),
    ("get", ["bare"], 0.8),
    ("get-no-cache", ["pgbench-get"], 0.45),
    ("put", ["pgbench-put"], 1.0),
    ("get", ["langgraph-get", "llama-get"], 15),
    ("put", ["langgraph-put", "llama-put"], 2),
]
# Milliseconds that the median of `/update` may be above the median of its models.
UPDATE_ADDS_AT_MOST = {"update-1": 5.0, "update-64": 15.0}
MEMORY_MIB_AT_MOST = 80.0


class Bench:
    """The servers of a run, loaded and ready, and the requests to them."""

    def __init__(self, program, folder, cells, stack):
        self.folder, self.runs = folder, 0
        self.documents = documents.all_documents()
        self.database = harness.Database()
        stack.callback(self.database.close)
        (folder / "document.md").write_bytes(self.documents[0].text)
        examples = Path(program).parent / "examples"
        self.model = self._example(stack, examples / "scripted_model")
        self.log = stack.enter_context((folder / "service.log").open("ab"))
        models = harness.model_settings(f"{self.model}/v1")
        # As it runs by default, with its log.
        self.service = stack.enter_context(harness.Service(program, self.log, **models))
        self.urls = {"service": self.service.base}
        for name in PEERS:
            if any(cell.place == name for cell in cells):
                self.urls[name] = self._peer(stack, name)
        for name, url in self.urls.items():
            load(url, self.documents)
            say(f"loaded {len(self.documents):,} documents into {name}")
        self.urls["bare"] = self._example(stack, examples / "bare_handler", folder / "document.md")
        # The memories that pgbench writes: copies in vaults of their own, of which the service has read nothing.
        vault = "replace(vault_id, 'team-', 'pgbench-')"
        self.database.copy("memories", "(VALUES (1))", "true", vault_id=vault, indexed_version="head_version")
        self.database.copy("memory_contexts", "(VALUES (1))", "true", vault_id=vault)
        self.database.ask("VACUUM ANALYZE")
        for name, request in REQUESTS.items():
            self._write(name, map(request, self.documents))

    def _example(self, stack, *command):
        """Starts an example, which prints its address."""
        process = stack.enter_context(harness.running([*map(str, command)], stdout=subprocess.PIPE, text=True))
        return process.stdout.readline().strip()

    def _peer(self, stack, name):
        """Starts a peer behind uvicorn with two workers, in a database of its own on the same server."""
        python = peers_python()
        self.database.ask(f"CREATE DATABASE {name}")
        url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
        options = {"cwd": HERE / "peers", "env": {**os.environ, "DATABASE_URL": url, "PYTHONDONTWRITEBYTECODE": "1"}}
        subprocess.run([python, f"{name}.py"], check=True, **options)
        port = harness.free_port()
        command = [python, "-m", "uvicorn", f"{name}:app", "--workers", "2", "--port", str(port)]
        stack.enter_context(harness.running([*command, "--no-access-log", "--log-level", "warning"], **options))
        address = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/healthz", timeout=5)
                return address
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"{name} does not start")

    def _write(self, name, requests):
        """A file for wrk.lua."""
        with (self.folder / f"{name}.requests").open("wb") as file:
            for request in requests:
                file.write(b"%d %d\n%b" % (len(request), max(request.find(REVISION), 0), request))

    def measure(self, cell, warm_up, seconds):
        """The figures of a cell: per_second, p50_ms and p99_ms; of updates `added_ms`."""
        # Nothing of the cell before is left to do: all is indexed and written out, and the log is empty.
        self.database.caught_up()
        self.database.ask("CHECKPOINT")
        self.log.truncate(0)
        run = self._pgbench if cell.place == "database" else self._wrk
        run(cell, warm_up)
        versions = self._versions()
        self._model_ms()
        found = run(cell, seconds)
        made = self._versions() - versions
        if cell.load == "update":
            found["added_ms"] = found["p50_ms"] - self._model_ms()
        if cell.load.startswith("get") and found["bytes"] < documents.BYTES * found["answers"]:
            raise SystemExit(f"{cell.name}: the answers are too short")
        if cell.place == "service" and cell.load in ("put", "update") and made < found["answers"]:
            raise SystemExit(f"{cell.name}: {found['answers']} changes were answered, {made} versions were made")
        return found

    def _wrk(self, cell, seconds):
        self.runs += 1
        threads = min(THREADS, cell.connections)
        command = ["wrk", f"-t{threads}", f"-c{cell.connections}", f"-d{seconds}s", "--timeout", "10s", "-s", HERE / "wrk.lua"]
        command += [self.urls[cell.place], "--", str(self.runs * REVISIONS_OF_A_RUN), self.folder / f"{cell.load}.requests"]
        found = json.loads(output(*command).strip().splitlines()[-1])
        if any(found.pop("errors").values()) or not found["answers"]:
            raise SystemExit(f"{cell.name}: requests failed")
        return {**found, "per_second": found["answers"] / found["seconds"]}

    def _pgbench(self, cell, seconds):
        """The transactions' times are read from pgbench's own log."""
        command = ["pgbench", "-n", "-M", "prepared", "-c", str(CONNECTIONS), "-j", str(THREADS), "-T", str(seconds)]
        command += ["-f", HERE / cell.load, "--log", "--sampling-rate=0.05", f"--log-prefix={self.folder}/pgbench"]
        if cell.load == "write.sql":
            before, after = self.documents[0].text.decode().split(REVISION.decode())
            row = "SELECT log, array_to_string(line_origins, ',') FROM memory_contexts WHERE vault_id = 'team-000' LIMIT 1"
            log, origins = "\n".join(self.database.ask(row)).rsplit("|", 1)
            for name, value in (("before", before), ("after", after), ("log", log), ("origins", origins)):
                command += ["-D", f"{name}={value}"]
        done = output(*command, os.environ["DATABASE_URL"])
        if "number of failed transactions: 0 " not in done:
            raise SystemExit(f"{cell.name}: {done}")
        times = []
        for path in self.folder.glob("pgbench.*"):
            times += [int(line.split()[2]) / 1e3 for line in path.read_text().splitlines()]
            path.unlink()
        per_second = float(re.search(r"tps = ([0-9.]+)", done)[1])
        return {"per_second": per_second, "p50_ms": harness.percentile(times), "p99_ms": harness.percentile(times, 0.99)}

    def _versions(self):
        return int(self.database.ask("SELECT sum(head_version) FROM memories WHERE vault_id LIKE 'team-%'")[0])

    def _model_ms(self):
        """The median time of the models since the last call."""
        with urllib.request.urlopen(f"{self.model}/times") as answer:
            return json.load(answer)["p50_millis"] or 0.0


def request(method, document, path="context", body=b"", **headers):
    """The bytes of a request."""
    lines = [f"{method} {document.path}/{path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def update(document):
    messages = [
        {"role": "user", "content": "Please go on with the parser, and mind the tests."},
        {"role": "assistant", "content": "Done. The parser reads the header now; the tests pass."},
    ]
    body = json.dumps({"task": f"Revision {REVISION.decode()} of the work", "messages": messages}).encode()
    return request("POST", document, "update", body, Content_Type="application/json")


REQUESTS = {
    "get": lambda document: request("GET", document),
    "get-no-cache": lambda document: request("GET", document, Cache_Control="no-cache"),
    "put": lambda document: request("PUT", document, body=document.text, Content_Type="text/plain"),
    "update": update,
}


def load(url, all_documents, loaders=8):
    """Puts all documents, as any client would."""

    def some(number):
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        for document in all_documents[number::loaders]:
            connection.request("PUT", f"{document.path}/context", document.text, {"Content-Type": "text/plain"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status in (200, 201), (answer.status, url, document.path)

    with ThreadPoolExecutor(loaders) as pool:
        list(pool.map(some, range(loaders)))


def peers_python():
    return harness.python_with("bench-peers", *(HERE / "peers" / "requirements.txt").read_text().split())


def output(*command):
    done = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed: {done.stdout[-2000:]}")
    return done.stdout


def say(what):
    print(what, file=sys.stderr, flush=True)


def report(arguments, measured, memory):
    """Prints the figures, and returns what is missed."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    tools = [output("rustc", "--version"), output("pgbench", "--version"), platform.platform()]
    print(f"{os.cpu_count()} cores of {cpu[1] if cpu else platform.machine()}; {'; '.join(map(str.strip, tools))}.")
    print(
        f"10,000 memories of 4 KB in 100 vaults; {CONNECTIONS} connections unless stated; medians of {arguments.rounds} rounds of "
        f"{arguments.seconds} s each; load generators, service, peers and database share the cores.\n"
    )
    print("| | a second | p50, ms | p99, ms |\n|---|---:|---:|---:|")
    titles = {cell.name: cell.title for cell in CELLS}
    for name, found in measured.items():
        print(f"| {titles[name]} | {found['per_second']:,.0f} | {found['p50_ms']:.2f} | {found['p99_ms']:.2f} |")
    against = []
    for name, others, least in RATIOS:
        speeds = [measured[other]["per_second"] for other in others if other in measured]
        if name in measured and speeds:
            value = measured[name]["per_second"] / max(speeds)
            against.append((f"{name} ÷ {' or '.join(others)}", f"{value:.2f}", f"≥ {least}", value >= least))
    for name, most in UPDATE_ADDS_AT_MOST.items():
        if name in measured:
            value = measured[name]["added_ms"]
            against.append((f"{titles[name]}: above its models", f"{value:.1f} ms", f"≤ {most} ms", value <= most))
    against.append(("memory after the run", f"{memory:.0f} MiB", f"≤ {MEMORY_MIB_AT_MOST} MiB", memory <= MEMORY_MIB_AT_MOST))
    print("\n| | measured | target | |\n|---|---:|---:|---|")
    for title, value, target, met in against:
        print(f"| {title} | {value} | {target} | {'met' if met else '**missed**'} |")
    missed = [title for title, _, _, met in against if not met]
    return "missed: " + "; ".join(missed) if missed else None


def inner(arguments):
    cells = [cell for cell in CELLS if not arguments.only or cell.name in arguments.only]
    rounds = {cell.name: [] for cell in cells}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        bench = Bench(arguments.program, Path(folder), cells, stack)
        for number in range(arguments.rounds):
            # Each round starts with another cell, so that a disturbance does not affect one kind of load only.
            first = number * len(cells) // arguments.rounds
            for cell in cells[first:] + cells[:first]:
                found = bench.measure(cell, max(1, arguments.seconds // 4), arguments.seconds)
                rounds[cell.name].append(found)
                say(f"round {number + 1}, {cell.name}: {found['per_second']:,.0f}/s, p50 {found['p50_ms']:.3f} ms")
        memory = bench.service.memory()
    measured = {name: {key: statistics.median(one[key] for one in found) for key in found[0]} for name, found in rounds.items()}
    return report(arguments, measured, memory)


def options(parser):
    names = [cell.name for cell in CELLS]
    parser.add_argument("--only", nargs="+", metavar="CELL", choices=names, help="; ".join(names))
    parser.add_argument("--seconds", type=int, default=10, help="measured of each kind of load in each round")
    parser.add_argument("--rounds", type=int, default=3)


if __name__ == "__main__":
    if missing := [tool for tool in ("wrk", "pgbench", "psql") if not shutil.which(tool)]:
        sys.exit(f"{', '.join(missing)} missing: apt-get install wrk postgresql postgresql-client")
    harness.main(inner, options)
