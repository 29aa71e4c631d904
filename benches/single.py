#!/usr/bin/env python3
"""Measures single requests, one at a time, and fails if a target is missed.

    python3 benches/single.py --program PROGRAM start|read|handoff|history

start: until `/readyz` is 200, with a new and an existing embedded database, and the memory when idle.
read: the instructions of a cached GetLatestContext, with its log line, under callgrind.
handoff: of a memory with 10,000 records, 200 of them changed in the window: made without a model, read fresh and stale.
history: reads of memories with 1 to 100,000 versions; the ratio of the most to the fewest is the median of the rounds.
"""

import json
import os
import re
import tempfile
import time

from harness import Database, Service, main, percentile, table, timed


def start(program):
    new, existing, idle = [], [], []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o711)
            settings = {"DATABASE_URL": None, "WORKING_MEMORY__DATABASE__DATA_DIR": f"{folder}/data"}
            with Service(program, **settings) as service:
                new.append(service.started)
            with Service(program, **settings) as service:
                existing.append(service.started)
                service.put("bench", "m", "a document")
                service.ask("GET", "/v1/vaults/bench/memories/m/context")
                time.sleep(2)
                idle.append(service.memory())
    rows = [("new database, ms", new, 5000), ("existing database, ms", existing, 2000), ("idle, MiB", idle, 60)]
    return table([(what, percentile(values), max(values), target) for what, values, target in rows])


def read(program):
    totals, fewer, more = [], 1_000, 3_000
    for reads in (fewer, more):
        with tempfile.TemporaryFile("w+") as log:
            with Service(program, log, ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]) as service:
                service.put("bench", "read", "# Notes\n" + "text " * 800)
                for _ in range(reads):
                    service.ask("GET", "/v1/vaults/bench/memories/read/context")
            log.seek(0)
            totals.append(int(re.search(r"Collected : (\d+)", log.read())[1]))
    count = (totals[1] - totals[0]) / (more - fewer)
    return table([("cached read, instructions", count, count, 36_000)])


def handoff(program):
    def document(first, end):
        lines = (f"- KL-{n} because it is so: what was learnt, number {n}\n" for n in range(first, end))
        return f"# Current Progress\n## In Progress\n- measuring\n\n# Key Learnings\n{''.join(lines)}"

    memory = "/v1/vaults/bench/memories/large"
    database = Database()
    with Service(program, WORKING_MEMORY__LIMITS__CONTEXT_BYTES="2000000") as service:
        service.put("bench", "large", document(1, 9_801))
        service.put("bench", "large", document(1, 2))
        old = "interval '9 days'"
        database.ask(f"UPDATE memory_contexts SET creation_time = creation_time - {old}")
        database.ask(f"UPDATE records SET created_at = created_at - {old}, ended_at = ended_at - {old}")
        database.ask(f"UPDATE record_changes SET at = at - {old}")
        database.ask(f"UPDATE memories SET created_at = created_at - {old}, changed_at = changed_at - {old}")
        service.put("bench", "large", document(9_801, 10_001))
        database.ask("VACUUM ANALYZE")
        made = [timed(lambda: service.ask("POST", f"{memory}/handoff/refresh?force=true")) for _ in range(100)]
        fresh = [timed(lambda: service.ask("GET", f"{memory}/handoff")) for _ in range(1_000)]
        service.put("bench", "large", document(9_801, 10_000))
        stale = [timed(lambda: service.ask("GET", f"{memory}/handoff")) for _ in range(1_000)]
    rows = [("made without a model, ms", made, 50), ("read when fresh, ms", fresh, 3), ("read when stale, ms", stale, 3)]
    return table([(what, percentile(values), percentile(values, 0.99), target) for what, values, target in rows])


VERSIONS = (1, 10, 100, 1_000, 10_000, 100_000)
# What is read, the fewest versions with which the response is as large as with more, and the allowed ratio.
READS = (
    ("GetLatestContext", "context", 1, 1.1),
    ("GetLatestContext, no-cache", "context", 1, 1.1),
    ("GetContext by version", "contexts/{version}", 1, 1.2),
    ("ListContexts, first page of 10", "contexts?limit=10", 10, 1.2),
    ("ListContexts, 5 in the middle", "contexts?limit=5&cursor={cursor}", 10, 1.2),
)


def cursor(service, memory, versions):
    """The cursor after half of the list; none if the list is that short."""
    page, found = max(1, min(versions // 2, 500)), ""
    for _ in range(versions // 2 // page):
        path = f"{memory}/contexts?limit={page}" + (f"&cursor={found}" if found else "")
        found = json.loads(service.ask("GET", path)[1])["next_cursor"]
    return found


def history(program, rounds=9, requests=100):
    database = Database()
    text = "# Notes\n" + "".join(f"{n:032x}\n" for n in range(120)) + "\n# Key Learnings\n- because it is so: versions are many\n"
    with Service(program) as service:
        for versions in VERSIONS:
            service.put("bench", f"of-{versions}", text)
            here = f"vault_id = 'bench' AND memory_id = 'of-{versions}'"
            if versions > 1:
                context = f"'of-{versions}-' || n"
                rows = f"generate_series(2, {versions})"
                database.copy("memory_contexts", rows, here, version="n", context_id=context)
                newest = f"head_version = {versions}, head_context_id = 'of-{versions}-{versions}'"
                database.ask(f"UPDATE memories SET {newest} WHERE {here}")
        database.ask("VACUUM ANALYZE")
    missed = []
    print("| versions | " + " | ".join(f"{count:,}" for count in VERSIONS) + " |\n|---|" + "---:|" * len(VERSIONS))
    # Another process, which has nothing of this in its cache.
    with Service(program) as service:
        memories = {versions: f"/v1/vaults/bench/memories/of-{versions}" for versions in VERSIONS}
        middles = {versions: cursor(service, memories[versions], versions) for versions in VERSIONS}
        for what, path, fewest, most in READS:
            headers = {"Cache-Control": "no-cache"} if "no-cache" in what else {}
            counts = [versions for versions in VERSIONS if versions >= fewest]
            medians, ratios = {versions: [] for versions in counts}, []
            for number in range(rounds):
                times = {versions: [] for versions in counts}
                for request in range(requests):
                    for versions in counts:
                        version = (number * requests + request) * 7919 % versions + 1
                        where = f"{memories[versions]}/{path.format(version=version, cursor=middles[versions])}"
                        times[versions].append(timed(lambda where=where: service.ask("GET", where, **headers)))
                for versions in counts:
                    medians[versions].append(percentile(times[versions]))
                ratios.append(medians[counts[-1]][-1] / medians[counts[0]][-1])
            values = [f"{percentile(medians[count]):.3f}" if count in medians else "" for count in VERSIONS]
            print(f"| {what} | {' | '.join(values)} |", flush=True)
            if percentile(ratios) > most:
                missed.append(f"{what}: {percentile(ratios):.2f}, at most {most}")
    return "; ".join(missed) or None


WHAT = {"start": start, "read": read, "handoff": handoff, "history": history}

if __name__ == "__main__":
    main(
        lambda arguments: WHAT[arguments.what](arguments.program),
        lambda parser: parser.add_argument("what", choices=list(WHAT)),
    )
