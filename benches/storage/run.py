#!/usr/bin/env python3
"""Measures what a put and an update store: bytes by table, and bytes of write-ahead log (WAL).

Starts `PROGRAM serve` on a durable PostgreSQL server of its own, with models that answer at once and add an insight and a
snippet which the messages support, so that none is asked again. Each kind of write goes through the same memories in rotation.
Stored bytes are the growth of the tables
and their indexes, after VACUUM FULL. WAL is
the difference of `pg_current_wal_insert_lsn` until the search index has caught up, after a checkpoint and without another:
once with `full_page_writes`, where the first change of a page after a checkpoint logs the page, once without. Fails if a
target is missed.

    python3 benches/storage/run.py --program PROGRAM [--memories 50] [--rounds 20]
"""

import os
import random
import sys
import time

# The harness of the measurements is in the parent folder.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

VAULT = "bench"
KB = 1000
WORDS = """the of and to in that is was for on as with by at from it this an be are not which or have one had but all were
they their has been would who when there will more if no out so said what up its about into than them can only other new
some could time these two may then do first any my now such like our over man me even most made after also did many before
must through back years where much your way well down should because each just those people how too little state good very
make world still own see men work long get here between both life being under never day same another know while last might
us great old year off come since against go came right used take three parser tokens schema migration index deadlock retry
timeout cache lease vault memory worker queue deploy rollback cluster replica latency budget""".split()


def prose(chance, size):
    """Text of about this many bytes that compresses like real text."""
    lines, length = [], 0
    while length < size:
        line = " ".join(chance.choices(WORDS, k=chance.randint(8, 16)))
        line += f" {chance.randrange(10**6)} {chance.getrandbits(32):08x}."
        lines.append(line)
        length += len(line) + 1
    return lines


def document(chance, revision):
    """A document of 4 KB; a revision changes the progress."""
    body = "\n".join(prose(chance, 2_700))
    learnings = "\n".join(f"- KL-{n + 1} because it was seen: {line}" for n, line in enumerate(prose(chance, 900)))
    return (
        f"# Current Progress\n## In Progress\n- Revision {revision}\n\n# Notes\n{body}\n\n"
        f"# Key Learnings\n{learnings}\n"
    )


def messages(chance, size):
    lines = prose(chance, size)
    each = max(1, len(lines) // 10)
    parts = [lines[at : at + each] for at in range(0, len(lines), each)]
    return [{"role": ("user", "assistant")[n % 2], "content": "\n".join(part)} for n, part in enumerate(parts)]


def answer(model, number):
    """The answers of models, which are added to the memory."""
    return {
        "progress": f"CURRENT_PROGRESS:\n  In Progress:\n    - Work on part {number}\n",
        "learnings": f"KEY_LEARNINGS:\n  ADD:\n    - because it was measured: the insight {number}\n",
        "verbatim": f"VERBATIM_CONTEXT:\n  ADD:\n    - because it is next: snippet {number} => let x = {number};\n",
    }[model]


class Database(harness.Database):
    def tables(self):
        self.ask("VACUUM FULL")
        # Whole tables with their indexes and TOAST tables, without free space.
        rows = self.ask(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        return {name: int(size) for name, size in (row.split("|") for row in rows)}

    def wal(self):
        return int(self.ask("SELECT pg_current_wal_insert_lsn() - '0/0'")[0].split(".")[0])

    def pages(self, on):
        self.ask(f"ALTER SYSTEM SET full_page_writes = {'on' if on else 'off'}")
        self.ask("SELECT pg_reload_conf()")
        time.sleep(0.5)


def measure(database, rounds, memories, write):
    """Stored bytes by table and WAL bytes of one write, with and without full pages."""
    kept, wals = {}, []
    before = database.tables()
    writes = 0
    for pages in (True, False):
        database.pages(pages)
        database.ask("CHECKPOINT")
        began = database.wal()
        for number in range(rounds):
            for memory in range(memories):
                write(f"m{memory}", number + (rounds if pages else 0))
        database.caught_up()
        wals.append((database.wal() - began) / (rounds * memories))
        writes += rounds * memories
    after = database.tables()
    for name, size in after.items():
        kept[name] = (size - before.get(name, 0)) / writes
    return kept, wals


def inner(arguments):
    with harness.Service(arguments.program, **harness.models(answer)) as service:
        return run(arguments, service, Database())


def run(arguments, service, database):
    chance = random.Random(1)
    memories, rounds = arguments.memories, arguments.rounds

    def fresh():
        """Documents of 4 KB to start with: updates add to them."""
        for memory in range(memories):
            service.put(VAULT, f"m{memory}", document(random.Random(memory), -chance.randrange(10**6)))
        database.caught_up()

    def put(memory, number):
        service.put(VAULT, memory, document(random.Random(memory), f"{number} {chance.random()}"))

    long = {}

    def update(size):
        def write(memory, number):
            said = messages(chance, size)
            long.setdefault(size, []).append(sum(len(message["content"]) for message in said))
            said[-1]["content"] += f"\nThe insight {number} was measured, the snippet {number} is next:\nlet x = {number};"
            body = {"task": f"Work on part {number} of the parser.", "messages": said}
            service.ask("POST", f"/v1/vaults/{VAULT}/memories/{memory}/update", body)

        return write

    kinds = [
        ("put, 4 KB", put, rounds),
        ("update, 4 KB, messages of 400 bytes", update(400), max(1, rounds // 5)),
        ("update, 4 KB, messages of 20 KB", update(20 * KB), max(1, rounds // 5)),
    ]
    rows, missed = [], []
    for name, write, times in kinds:
        fresh()
        kept, (with_pages, without) = measure(database, times, memories, write)
        rows.append((name, kept, with_pages, without))
        print(f"measured: {name}", file=sys.stderr, flush=True)
    tables = sorted({table for _, kept, *_ in rows for table, size in kept.items() if size >= 20})
    print(f"{memories} memories; bytes a write\n")
    print("| | " + " | ".join(name for name, *_ in rows) + " |")
    print("|---|" + "---:|" * len(rows))
    for table in tables:
        print(f"| `{table}` | " + " | ".join(f"{kept.get(table, 0):,.0f}" for _, kept, *_ in rows) + " |")
    totals = [sum(kept.values()) for _, kept, *_ in rows]
    # Events are deleted after events.keep_hours.
    for_good = [total - kept.get("events", 0) for total, (_, kept, *_) in zip(totals, rows)]
    print("| kept for good: all but events | " + " | ".join(f"{total:,.0f}" for total in for_good) + " |")
    print("| kept, all tables | " + " | ".join(f"{total:,.0f}" for total in totals) + " |")
    print("| WAL | " + " | ".join(f"{without:,.0f}" for *_, without in rows) + " |")
    print("| WAL with `full_page_writes` | " + " | ".join(f"{pages:,.0f}" for *_, pages, _ in rows) + " |")
    said = sum(long[20 * KB]) / len(long[20 * KB])
    print()
    for what, measured, most in (
        ("WAL of a put, without whole pages", rows[0][3], 12 * KB),
        ("kept for good of an update of a 4 KB document", for_good[1], 9 * KB),
        ("kept for good of an update with 20 KB, of its messages", for_good[2] / said, 1.3),
    ):
        print(f"{what}: {measured:,.2f}, at most {most:,}")
        if measured > most:
            missed.append(what)
    if missed:
        return "missed: " + "; ".join(missed)
    return None


def options(parser):
    parser.add_argument("--memories", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=20)


if __name__ == "__main__":
    harness.main(inner, options)
