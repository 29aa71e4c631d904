"""`make bench`: the service beside PostgreSQL, a bare HTTP handler and its peers, on one machine in one run.

    python3 benches/side_by_side/run.py [--seconds N] [--rounds N] [--only CELL …] [--quick]

Everything runs on a PostgreSQL server that is started for the run and removed afterwards.
"""

import argparse
import json
import signal
import socket
import statistics
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import documents
import history
import http_requests
import report
import servers
import tools
from cells import BARE, CELLS, PEERS, SERVICE, Cell
from load import Figure, Wrk, pgbench

_QUICK_SECONDS, _SECONDS, _ROUNDS = 1, 10, 3
# How long to wait until the service has indexed what a cell wrote, so that it does not affect the next cell.
_SETTLING_SECONDS = 120


class Bench:
    """The servers of a run, loaded and ready, and the requests to them."""

    def __init__(self, programs: Path, python: Path | None, folder: Path, cells: list[Cell], stack: ExitStack) -> None:
        self.folder, self.wrk = folder, Wrk()
        self.documents = documents.all_documents()
        self.database = stack.enter_context(servers.database(programs, folder))
        self.model = stack.enter_context(servers.example(programs, "scripted_model"))
        self.service = stack.enter_context(servers.service(programs, folder, self.database, self.model))
        (folder / "document.md").write_bytes(self.documents[0].text)
        self.urls = {
            SERVICE: self.service.url,
            BARE: stack.enter_context(servers.example(programs, "bare_handler", str(folder / "document.md"))),
        }
        for name in PEERS:
            if python and any(cell.place == name for cell in cells):
                peer = servers.peer(python, name, self.database, folder, _free_port())
                self.urls[name] = stack.enter_context(peer)
        self._load()
        self.files = self._write_requests()

    def _load(self) -> None:
        for name, url in self.urls.items():
            if name != BARE:
                began = time.monotonic()
                http_requests.load(url, self.documents)
                _say(f"loaded {len(self.documents):,} documents into {name} in {time.monotonic() - began:.0f} s")
        # The memories that pgbench writes: copies in vaults of their own, of which the service has read nothing.
        self.database.sql(
            """INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, counters, created_at, changed_at,
                                     indexed_version)
               SELECT replace(vault_id, 'team-', 'pgbench-'), memory_id, 1, head_context_id, counters, created_at, changed_at, 1
               FROM memories;
               INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                            source, bytes, log, line_origins)
               SELECT replace(vault_id, 'team-', 'pgbench-'), memory_id, context_id, actor_id, context, creation_time,
                      version, source, bytes, log, line_origins
               FROM memory_contexts"""
        )
        self.database.sql("VACUUM ANALYZE")

    def _write_requests(self) -> dict[str, Path]:
        made = {
            "get": map(http_requests.get, self.documents),
            "get-no-cache": (http_requests.get(document, Cache_Control="no-cache") for document in self.documents),
            "put": map(http_requests.put, self.documents),
            "update": map(http_requests.update, self.documents),
            "prompt": map(http_requests.prompt, self.documents),
            "search": http_requests.searches(sorted({document.vault for document in self.documents})),
        }
        return {name: http_requests.write(self.folder / f"{name}.requests", list(all)) for name, all in made.items()}

    def _write_conditional_requests(self) -> None:
        """The entity tags are the current ones."""
        rows = self.database.sql("SELECT vault_id, memory_id, head_context_id FROM memories WHERE vault_id LIKE 'team-%'")
        requests = [
            http_requests.get(documents.Document(vault, memory, b""), If_None_Match=f'"{context}"')
            for vault, memory, context in (row.split("|") for row in rows.splitlines())
        ]
        self.files["get-304"] = http_requests.write(self.folder / "get-304.requests", requests)

    def settle(self) -> None:
        """Waits until no work of the cell before is pending: all is indexed and written out, and the log is empty."""
        deadline = time.monotonic() + _SETTLING_SECONDS
        while self.database.sql("SELECT 1 FROM memories WHERE search_pending LIMIT 1"):
            if time.monotonic() > deadline:
                raise tools.Failed(f"the service has not indexed everything after {_SETTLING_SECONDS} s")
            time.sleep(0.1)
        self.database.sql("CHECKPOINT")
        with self.service.log.open("r+b") as log:
            log.truncate()

    def skipped(self, cell: Cell) -> str | None:
        """Why a cell cannot be measured."""
        if cell.name == "prompt":
            status = http_requests.status_of(self.service.url, http_requests.prompt(self.documents[0]))
            return None if status == 200 else f"the service answers {status}"
        return None

    def measure(self, cell: Cell, warm_up: float, seconds: float) -> dict:
        self.settle()
        if cell.script:
            self._pgbench(cell, warm_up)
            return vars(self._pgbench(cell, seconds))
        if cell.name == "get-304":
            self._write_conditional_requests()
        self._load_with(cell, warm_up)
        before = self._versions()
        self._times()
        figure = self._load_with(cell, seconds)
        found = vars(figure)
        if cell.name.startswith("update"):
            found |= {"added_ms": figure.p50_ms - self._times()}
        self._check(cell, figure, self._versions() - before)
        return found

    def _load_with(self, cell: Cell, seconds: float) -> Figure:
        files = [(self.files[name], share) for name, share in cell.requests]
        return self.wrk.run(self.urls[cell.place], files, seconds, cell.connections)

    def _pgbench(self, cell: Cell, seconds: float) -> Figure:
        before, after = self.documents[0].text.decode().split(documents.REVISION.decode())
        log, origins = self.database.sql(
            """SELECT log, array_to_string(line_origins, ',') FROM memory_contexts
               WHERE vault_id = 'team-000' ORDER BY version DESC LIMIT 1"""
        ).split("|")
        variables = {"before": before, "after": after, "log": log, "origins": origins}
        return pgbench(self.database.url, cell.script, seconds, variables if "put" in cell.name else {}, self.folder)

    def _versions(self) -> int:
        return int(self.database.sql("SELECT sum(head_version) FROM memories WHERE vault_id LIKE 'team-%'"))

    def _times(self) -> float:
        with urllib.request.urlopen(self.model + "/times") as answer:
            return json.load(answer)["p50_millis"] or 0.0

    def _check(self, cell: Cell, figure: Figure, versions: int) -> None:
        """Checks that the responses were those that the cell measures."""
        if cell.name == "get-304" and figure.bytes_per_answer > 1000:
            raise tools.Failed("304 was asked for, and texts were sent")
        reads_text = cell.requests[0][0] in ("get", "get-no-cache")
        if reads_text and not cell.writes and figure.bytes_per_answer < documents.BYTES:
            raise tools.Failed(f"{cell.name}: answers of {figure.bytes_per_answer:.0f} bytes are too short")
        written = figure.answers if cell.name == "put" or cell.name.startswith("update") else 0
        if cell.place == SERVICE and versions < written:
            raise tools.Failed(f"{cell.name}: {written} changes were answered, {versions} versions were made")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench ARGS='…'", description=__doc__.split("\n")[0])
    names = [cell.name for cell in CELLS] + ["history"]
    parser.add_argument("--only", nargs="+", metavar="CELL", choices=names, help="; ".join(names))
    parser.add_argument("--seconds", type=int, help=f"measured of each kind of load in each round ({_SECONDS})")
    parser.add_argument("--rounds", type=int, help=f"({_ROUNDS})")
    parser.add_argument("--quick", action="store_true", help="a smoke run: one round of a second each, no history")
    arguments = parser.parse_args()
    arguments.seconds = arguments.seconds or (_QUICK_SECONDS if arguments.quick else _SECONDS)
    arguments.rounds = arguments.rounds or (1 if arguments.quick else _ROUNDS)
    arguments.cells = [cell for cell in CELLS if not arguments.only or cell.name in arguments.only]
    arguments.history = "history" in (arguments.only or ()) or not (arguments.only or arguments.quick)
    return arguments


def _measure(arguments: argparse.Namespace, programs: Path, python: Path | None) -> report.Measured:
    measured = report.Measured(seconds=arguments.seconds, rounds=arguments.rounds, load_before=tools.load_average())
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wm-bench.")))
        # As root the server runs under another account, which must be able to reach its folder.
        folder.chmod(0o711)
        bench = Bench(programs, python, folder, arguments.cells, stack)
        cells = []
        for cell in arguments.cells:
            if why := bench.skipped(cell):
                measured.skipped[cell.name] = why
            else:
                cells.append(cell)
        rounds: dict[str, list[dict]] = {cell.name: [] for cell in cells}
        for number in range(arguments.rounds):
            # Each round starts with another cell, so that a disturbance does not affect one kind of load only.
            first = number * len(cells) // arguments.rounds
            for cell in cells[first:] + cells[:first]:
                found = bench.measure(cell, max(1, arguments.seconds // 4), arguments.seconds)
                rounds[cell.name].append(found)
                _say(f"round {number + 1}, {cell.name}: {found['per_second']:,.0f}/s, p50 {found['p50_ms']:.3f} ms")
        for name, found in rounds.items():
            measured.cells[name] = {key: statistics.median(one[key] for one in found) for key in found[0]}
        measured.memory_mib = bench.service.memory_mib("VmRSS")
        measured.most_memory_mib = bench.service.memory_mib("VmHWM")
        if arguments.history:
            _say("measuring memories of up to 100,000 versions")
            measured.history = history.measure(bench.database, programs / "working-memory")
    return measured


def _interrupted(*_) -> None:
    # Started processes are stopped on exit, which a second Ctrl-C does not interrupt.
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda *_: None)
    raise KeyboardInterrupt


def main() -> int:
    arguments = _arguments()
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, _interrupted)
    try:
        tools.check()
        programs = tools.build()
        peers = any(cell.place in PEERS for cell in arguments.cells)
        python = tools.peers_python(programs.parent / "bench-peers") if peers else None
        measured = _measure(arguments, programs, python)
        measured.machine = tools.machine(python)
        print(report.text(measured))
    except tools.Failed as error:
        _say(f"make bench: {error}")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
