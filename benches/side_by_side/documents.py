"""The documents that are loaded: 10,000 of 4 KB, Markdown as agents write it, deterministic."""

import random
from dataclasses import dataclass

VAULTS = 100
MEMORIES = 100
BYTES = 4096
# Occurs in every document once; a put writes another number there, so that each makes a new version.
REVISION = b"0000000000"

_PARTS = "parser router scheduler cache migration ledger importer session index queue gateway worker".split()
_VERBS = "wrote moved measured renamed split checked traced removed documented reviewed".split()
_THINGS = (
    "the retry budget|its time-out|the error path|a missing index|the second read|the lock order|the token limit"
    "|the page cursor|a stale head|the log line|the first deploy|the shutdown grace"
).split("|")
_REASONS = (
    "CI has no database|the pool starves under load|clients retry without a key|staging runs behind a pooler"
    "|the clock of one node is late|two writers met on one row|the vendor changed its limits"
    "|operators read logs, not code|the cold start took nine seconds|tabs matter in that file"
).split("|")
_INSIGHTS = (
    "commit the prepared query data|keep the transaction to two statements|name the constraint, not the column"
    "|read the version under the lock|never hold a connection while a model thinks|measure before and after"
    "|ask for the idempotency key|sort the batch by key|log the request once|stop with a grace of thirty seconds"
).split("|")


@dataclass(frozen=True)
class Document:
    path: str
    text: bytes


def all_documents() -> list[Document]:
    """Vault by vault, the same in every run."""
    return [
        Document(f"/v1/vaults/team-{vault:03}/memories/agent-{memory:03}", _text(random.Random(vault * MEMORIES + memory)))
        for vault in range(VAULTS)
        for memory in range(MEMORIES)
    ]


def _text(r: random.Random) -> bytes:
    part = r.choice(_PARTS)
    sections = [
        f"# Description\nThe `{part}` of project {r.randrange(10_000)}: {_sentence(r)} {_sentence(r)}\n",
        "# Current Progress\n## Completed\n"
        + "".join(f"- {r.choice(_VERBS).title()} {r.choice(_THINGS)} of the {r.choice(_PARTS)}\n" for _ in range(4))
        + f"## In Progress\n- Revision {REVISION.decode()} of the {part}\n## Remaining\n- Benchmarks of the {part}\n",
        "# Key Learnings\n"
        + "".join(
            f"- KL-{n} [{_time(r)}] because {r.choice(_REASONS)}: in the {r.choice(_PARTS)}, {r.choice(_INSIGHTS)}\n"
            for n in range(1, 9)
        ),
        "# Verbatim Context\n" + "".join(_snippet(r, n) for n in range(1, 4)),
        f"# Active Context\nGoal: ship the {part}\nBlocker: none\nUpdated: {_time(r)}\n",
        "# Recent Tasks\n"
        + "".join(f"- T-{n} [{_time(r)}] {r.choice(_VERBS).title()} {r.choice(_PARTS)}: {_sentence(r)}\n" for n in (3, 2, 1)),
        f"# Decisions\n- D-1 [{_time(r)}] because {r.choice(_REASONS)}: {r.choice(_INSIGHTS)}\n",
        "# Timeline\n",
    ]
    text = "\n".join(sections)
    while len(text) < BYTES:
        text += f"- {_time(r)[:10]}: {_sentence(r)}\n"
    return (text[: BYTES - 1] + "\n").encode()


def _sentence(r: random.Random) -> str:
    return (
        f"{r.choice(_VERBS)} {r.choice(_THINGS)} in `src/{r.choice(_PARTS)}/{r.choice(_PARTS)}.rs`"
        f" ({r.randrange(16**7):07x}), since {r.choice(_REASONS)}."
    )


def _snippet(r: random.Random, number: int) -> str:
    name = r.choice(_PARTS)
    return (
        f"- VC-{number} [{_time(r)}] because the next step edits it: {name} set-up {number} =>\n"
        f"  pub fn {name}_{r.randrange(1000)}(limit: usize) -> Result<(), Error> {{\n"
        f"  \tlet deadline = Duration::from_millis({r.randrange(10_000)});\n"
        f"  \tself.{r.choice(_PARTS)}.wait(limit, deadline)\n"
        "  }\n"
    )


def _time(r: random.Random) -> str:
    return f"2026-{r.randrange(1, 12):02}-{r.randrange(1, 29):02}T{r.randrange(24):02}:{r.randrange(60):02}:00Z"
