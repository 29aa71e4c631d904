#!/usr/bin/env python3
"""Measures whether requests take as long with a million memories as with ten thousand.

Starts `PROGRAM serve` on a durable PostgreSQL server of its own, writes one vault of 100 memories with 10 versions each through
the service, and copies its rows, in the database, to as many vaults as make the small size, and in a copy of the database the
large one: so all rows are those of the service. A service runs on each, and each kind of request is sent one at a time,
alternately to both, so that other load on the machine affects both. The requests are about random memories of ten
vaults, which are spread over all: the requested data is the same at both sizes, the rest is not. Models answer at
once. At the end a service with retention prunes one version of as many memories as the small size has. Prints the medians,
their ratio, and the memory of the services; fails if a ratio is over 1.3.

    python3 benches/scale/run.py --program PROGRAM [--small 10000] [--large 1000000] [--requests 400]
"""

import os
import random
import statistics
import subprocess
import sys
import time
import urllib.parse

# The harness of the measurements is in the parent folder.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

MEMORIES, VERSIONS = 100, 10
MOST = 1.3
# Vaults of the requests.
ASKED = 10
# Vaults per copying statement.
AT_ONCE = 50
COPIED = ("memories", "memory_contexts", "records", "record_changes", "search_entries", "events", "event_streams",
          "vault_storage")
WORDS = """parser tokens schema migration index deadlock retry timeout cache lease vault memory worker queue deploy rollback
cluster replica latency budget the keeps its place between two lines and the lexer drops spaces at the end of each of
them where a test holds it""".split()


def name(vault):
    return f"v{vault:06d}"


def document(chance, revision):
    lines = [" ".join(chance.choices(WORDS, k=10)) for _ in range(2)]
    return f"# Current Progress\n- Revision {revision}\n\n# Notes\n{lines[0]}.\n{lines[1]}.\n"


def answer(model, number):
    return {
        "progress": f"CURRENT_PROGRESS:\n  In Progress:\n    - Work on part {number}\n",
        "learnings": "KEY_LEARNINGS: NO CHANGE\n",
        "verbatim": "VERBATIM_CONTEXT: NO CHANGE\n",
    }[model]


def copy(database, first, end):
    """Copies the first vault to those from `first` to before `end`."""
    # The rows are consistent as they are.
    database.ask("SET session_replication_role = replica")
    vault = "'v' || lpad(n::text, 6, '0')"
    words = f"replace(words::text, '{name(0)}', {vault})::tsvector"
    for begin in range(first, end, AT_ONCE):
        rows = f"generate_series({begin}, {min(begin + AT_ONCE, end) - 1})"
        for table in COPIED:
            database.copy(table, rows, f"vault_id = '{name(0)}'", vault_id=vault, words=words)
    database.ask("SET session_replication_role = origin")
    database.ask("VACUUM ANALYZE")
    database.ask("CHECKPOINT")


def serving(arguments, models, url, **more):
    return harness.Service(arguments.program, DATABASE_URL=url, **models, **more)


class Side:
    """One size: its database, and the service on it."""

    def __init__(self, arguments, models, url, memories, chance):
        self.service, self.database = serving(arguments, models, url), harness.Database(url)
        self.vaults, self.asked, self.chance = memories // MEMORIES, min(ASKED, memories // MEMORIES), chance

    def place(self):
        chosen = self.chance.randrange(self.asked) * self.vaults // self.asked
        return f"/v1/vaults/{name(chosen)}", f"m{self.chance.randrange(MEMORIES)}"

    def get(self, **headers):
        vault, memory = self.place()
        return lambda: self.service.ask("GET", f"{vault}/memories/{memory}/context", **headers)

    def put(self):
        (vault, memory), text = self.place(), document(self.chance, self.chance.getrandbits(40))
        return lambda: self.service.ask("PUT", f"{vault}/memories/{memory}/context", text)

    def update(self):
        (vault, memory), part = self.place(), self.chance.randrange(10**6)
        body = {"task": f"Work on part {part}.", "messages": [{"role": "user", "content": f"Work on part {part}."}]}
        return lambda: self.service.ask("POST", f"{vault}/memories/{memory}/update", body)

    def page(self, path):
        vault, memory = self.place()
        words = "+".join(self.chance.sample(WORDS[:20], 2))
        where = path.format(vault=vault, memory=f"{vault}/memories/{memory}", words=words)
        headers = {"Accept": "application/json"}
        if "events" in path:
            headers["Last-Event-ID"] = "0"
        return lambda: self.service.ask("GET", where, **headers)

    def indexed(self):
        # A memory of a vault that is searched is indexed again without delay.
        for vault in range(self.asked):
            self.service.ask("GET", f"/v1/vaults/{name(vault * self.vaults // self.asked)}/search?q=parser")
        write = self.put()

        def until_indexed():
            write()
            self.database.caught_up()

        return until_indexed


def measure(sides, requests):
    """Medians in ms of both sizes, by kind of request."""
    kinds = [
        ("GetLatestContext, `no-cache`", lambda side: side.get(**{"Cache-Control": "no-cache"}), requests),
        ("GetLatestContext", Side.get, 5 * requests),
        ("PutContext", Side.put, requests),
        ("`/update`", Side.update, requests // 4),
        ("list of memories, 50", lambda side: side.page("{vault}/memories?limit=50"), requests),
        ("list of versions, 10", lambda side: side.page("{memory}/contexts?limit=10"), requests),
        ("search of a vault, two words", lambda side: side.page("{vault}/search?q={words}"), requests),
        ("list of vaults, 50", lambda side: side.page("/v1/vaults?limit=50"), requests // 4),
        ("events, first page of 50", lambda side: side.page("{vault}/events?limit=50"), requests),
        ("a put until it is indexed", Side.indexed, requests // 10),
    ]
    medians = {"start until ready": [side.service.started for side in sides]}
    for what, make, times in kinds:
        for side in sides:
            side.database.caught_up()
        took = [[], []]
        # The first request of a row reads from the disk, at any size: the first half counts as a warm-up.
        for number in range(2 * times):
            for side, times_of_side in zip(sides, took):
                ask = make(side)
                took_now = harness.timed(ask)
                if number >= times:
                    times_of_side.append(took_now)
        medians[what] = [statistics.median(times_of_side) for times_of_side in took]
    medians["memory of the service, MiB"] = [side.service.memory() for side in sides]
    return medians


def retention(arguments, models, url):
    """Ms per memory of a service that prunes one version of each, for as many memories at both sizes."""
    database = harness.Database(url)
    last = name(arguments.small // MEMORIES - 1)
    service = serving(arguments, models, url, WORKING_MEMORY__RETENTION__MAX_VERSIONS=str(VERSIONS - 1))
    began = time.monotonic()
    is_done = f"SELECT NOT EXISTS (SELECT FROM memory_contexts WHERE vault_id = '{last}' AND version = 1)"
    database.until(is_done, 1800, "retention")
    took = (time.monotonic() - began) * 1000 / arguments.small
    service.stop()
    database.close()
    return took


def inner(arguments):
    models = harness.models(answer)
    chance = random.Random(1)
    url = os.environ["DATABASE_URL"]
    parts = urllib.parse.urlsplit(url)
    large_url = urllib.parse.urlunsplit(parts._replace(path="/large"))
    service = serving(arguments, models, url)
    for memory in range(MEMORIES):
        for version in range(VERSIONS):
            service.put(name(0), f"m{memory}", document(chance, version))
    service.ask("GET", f"/v1/vaults/{name(0)}/search?q=parser&consistent=true")
    service.ask("GET", f"/v1/vaults/{name(0)}/events?limit=1", Accept="application/json", **{"Last-Event-ID": "0"})
    database = harness.Database(url)
    database.caught_up()
    service.stop()
    copy(database, 1, arguments.small // MEMORIES)
    database.close()
    subprocess.run(["createdb", f"--maintenance-db={url}", f"--template={parts.path[1:]}", "large"], check=True)
    database = harness.Database(large_url)
    began = time.monotonic()
    copy(database, arguments.small // MEMORIES, arguments.large // MEMORIES)
    size = int(database.ask("SELECT pg_database_size(current_database())")[0]) / 2**30
    print(f"{arguments.large:,} memories: {size:.2f} GiB, built in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    database.close()
    sizes = ((url, arguments.small), (large_url, arguments.large))
    sides = [Side(arguments, models, at, memories, chance) for at, memories in sizes]
    medians = measure(sides, arguments.requests)
    for side in sides:
        side.service.stop()
        side.database.close()
    medians["retention: one version, a memory"] = [retention(arguments, models, url) for url, _ in sizes]
    print(f"| p50, ms | {arguments.small:,} memories | {arguments.large:,} memories | ratio |\n|---|---:|---:|---:|")
    missed = []
    for what, (small, large) in medians.items():
        print(f"| {what} | {small:,.2f} | {large:,.2f} | {large / small:.2f} |")
        if large / small > MOST:
            missed.append(what)
    print(f"\n{VERSIONS} versions a memory, {MEMORIES} memories a vault; the database of the large size has {size:.2f} GiB")
    return "missed: " + "; ".join(missed) if missed else None


def options(parser):
    parser.add_argument("--small", type=int, default=10_000, help="memories to compare with")
    parser.add_argument("--large", type=int, default=1_000_000, help="memories; a million takes about 10 GB of disk")
    parser.add_argument("--requests", type=int, default=400, help="requests of the kinds that are asked most")


if __name__ == "__main__":
    harness.main(inner, options)
